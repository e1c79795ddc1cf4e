/* What the store knows of device memory since collection began, and how it makes room as a ring. */
#include "cuda/store.h"

#include "support/test.h"

#include <string.h>

static tkt_store store;

static int set_up(void **state)
{
    (void)state;
    return tkt_store_init(&store) == TAKT_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    tkt_store_fini(&store);
    return 0;
}

static void move(uint64_t time, uint64_t address, int64_t bytes, uint32_t device)
{
    const tkt_stored_memory memory = {
        .time = time,
        .address = address,
        .bytes = bytes,
        .device = device,
        .kind = TAKT_MEMORY_DEVICE,
    };
    assert_true(tkt_store_add_memory(&store, &memory));
}

static const tkt_stored_totals *totals_now(uint32_t device)
{
    tkt_store_sum_up(&store);
    assert_true(device < store.totals.count);
    return &store.totals.items[device];
}

TEST(totals_say_what_is_allocated_and_when_it_was_most)
{
    move(10, 0x100, 300, 1);
    move(20, 0x200, 500, 1);
    move(30, 0x100, -300, 1);
    move(40, 0x300, 250, 1);
    const tkt_stored_totals *totals = totals_now(1);
    assert_int_equal(totals->current_bytes, 750);
    assert_int_equal(totals->peak_bytes, 800);
    assert_int_equal(totals->peak_time, 20);
    assert_int_equal(totals->allocations, 3);
    assert_int_equal(totals->frees, 1);
    assert_int_equal(totals_now(0)->allocations, 0);
}

TEST(a_free_of_what_was_there_before_is_unmatched)
{
    move(10, 0x900, -4096, 0);
    move(20, 0x100, 8, 0);
    assert_int_equal(totals_now(0)->unmatched_frees, 1);
    assert_int_equal(totals_now(0)->frees, 0);
    assert_int_equal(totals_now(0)->current_bytes, 8);
}

/* Any device may be current when memory is freed. */
TEST(a_free_counts_where_the_memory_was)
{
    move(10, 0x1000, 64 << 20, 0);
    move(11, 0x2000, 1 << 20, 1);
    move(12, 0x1000, -(64 << 20), 1);
    assert_int_equal(totals_now(0)->current_bytes, 0);
    assert_int_equal(totals_now(1)->current_bytes, 1 << 20);
}

TEST(an_address_that_comes_again_was_freed_meanwhile)
{
    move(10, 0x100, 100, 0);
    move(20, 0x100, 40, 0);
    assert_int_equal(totals_now(0)->current_bytes, 40);
    move(30, 0x100, -40, 0);
    assert_int_equal(totals_now(0)->current_bytes, 0);
    assert_int_equal(totals_now(0)->peak_bytes, 100);
}

TEST(events_count_in_the_order_of_their_times)
{
    move(30, 0x100, -100, 0);
    move(20, 0x200, 50, 0);
    move(40, 0x100, 70, 0);
    move(10, 0x100, 100, 0);
    assert_int_equal(totals_now(0)->current_bytes, 120);
    assert_int_equal(totals_now(0)->peak_bytes, 150);
    assert_int_equal(totals_now(0)->peak_time, 20);
    assert_int_equal(totals_now(0)->unmatched_frees, 0);
}

/* Of one moment, in either order. */
TEST(what_is_freed_at_once_was_allocated_first)
{
    move(10, 0x100, -100, 0);
    move(10, 0x100, 100, 0);
    assert_int_equal(totals_now(0)->current_bytes, 0);
    move(20, 0x200, 50, 0);
    move(20, 0x200, -50, 0);
    assert_int_equal(totals_now(0)->current_bytes, 0);
    assert_int_equal(totals_now(0)->peak_bytes, 100);
    assert_int_equal(totals_now(0)->unmatched_frees, 0);
}

TEST(the_older_half_counts_when_there_are_too_many)
{
    const tkt_stored_memory late = {
        .time = 1000000, .address = 1, .bytes = 1, .kind = TAKT_MEMORY_DEVICE};
    assert_true(tkt_store_add_memory(&store, &late));
    for (uint64_t i = 2; i <= 32768; i++)
        move(i, i, 1, 0);
    assert_int_equal(store.totals.items[0].allocations, 16384);
    assert_int_equal(store.unsummed.count, 16384);
    assert_int_equal(totals_now(0)->current_bytes, 32768);
    assert_int_equal(totals_now(0)->peak_time, 1000000);
}

TEST(memory_of_the_host_is_no_devices)
{
    const tkt_stored_memory pinned = {.bytes = 64, .kind = TAKT_MEMORY_PINNED};
    assert_true(tkt_store_add_memory(&store, &pinned));
    tkt_store_sum_up(&store);
    assert_int_equal(store.totals.count, 0);
    assert_int_equal(store.memory.count, 1);
}

TEST(pools_count_apart)
{
    const tkt_stored_memory pool = {.address = 1, .bytes = 1 << 20, .is_pool = 1};
    assert_true(tkt_store_add_memory(&store, &pool));
    assert_int_equal(totals_now(0)->pool_bytes, 1 << 20);
    assert_int_equal(totals_now(0)->current_bytes, 0);
}

TEST(what_is_allocated_in_pools_counts_in_both)
{
    tkt_stored_memory memory = {
        .time = 1, .address = 1, .bytes = 300, .kind = TAKT_MEMORY_DEVICE, .is_from_pool = 1};
    assert_true(tkt_store_add_memory(&store, &memory));
    move(2, 0x200, 500, 0);
    memory = (tkt_stored_memory){
        .time = 3, .address = 2, .bytes = 20, .kind = TAKT_MEMORY_DEVICE, .is_from_pool = 1};
    assert_true(tkt_store_add_memory(&store, &memory));
    assert_int_equal(totals_now(0)->pool_used_bytes, 320);
    assert_int_equal(totals_now(0)->current_bytes, 820);
    memory.time = 4;
    memory.bytes = -20;
    assert_true(tkt_store_add_memory(&store, &memory));
    assert_int_equal(totals_now(0)->pool_used_bytes, 300);
    assert_int_equal(totals_now(0)->current_bytes, 800);
}

TEST(totals_go_on_where_there_is_no_room_for_events)
{
    const tkt_stored_memory memory = {.address = 1, .bytes = 10, .kind = TAKT_MEMORY_DEVICE};
    store.max_bytes = 0;
    assert_false(tkt_store_add_memory(&store, &memory));
    assert_int_equal(totals_now(0)->current_bytes, 10);
    assert_int_equal(store.losses.others_full, 1);
}

TEST(without_a_window_only_totals_are_kept)
{
    store.has_no_window = true;
    move(10, 0x100, 300, 0);
    assert_int_equal(store.memory.count, 0);
    assert_int_equal(totals_now(0)->current_bytes, 300);
    store.has_no_window = false;
    move(20, 0x200, 40, 0);
    assert_int_equal(store.memory.count, 1);
    assert_int_equal(totals_now(0)->current_bytes, 340);
}

TEST(what_is_forgotten_counts_no_more)
{
    move(10, 0x100, 300, 0);
    move(20, 0x200, 500, 0);
    (void)totals_now(0);
    move(30, 0x300, 700, 0);
    tkt_store_forget_memory(&store);
    move(40, 0x200, -500, 0);
    move(50, 0x400, 20, 0);
    assert_int_equal(totals_now(0)->current_bytes, 20);
    assert_int_equal(totals_now(0)->peak_bytes, 20);
    assert_int_equal(totals_now(0)->unmatched_frees, 1);
}

static uint64_t add_activities(uint64_t count)
{
    uint64_t added = 0;
    for (uint64_t i = 0; i < count; i++) {
        const tkt_stored_activity activity = {.begin = i};
        added += tkt_store_add(&store, &activity);
    }
    return added;
}

TEST(without_room_the_newest_is_refused)
{
    store.max_bytes = 2 * sizeof(tkt_store_chunk);
    assert_int_equal(add_activities(3 * TKT_STORE_CHUNK), 2 * TKT_STORE_CHUNK);
    assert_int_equal(store.losses.store_full, TKT_STORE_CHUNK);
    assert_int_equal(store.first->first, 0);
}

TEST(a_ring_lets_the_oldest_go_up_to_its_position)
{
    store.max_bytes = 2 * sizeof(tkt_store_chunk);
    store.ring_until = 2 * TKT_STORE_CHUNK;
    assert_int_equal(add_activities(3 * TKT_STORE_CHUNK), 3 * TKT_STORE_CHUNK);
    assert_int_equal(store.losses.overwritten, TKT_STORE_CHUNK);
    assert_int_equal(store.first->first, TKT_STORE_CHUNK);
    assert_int_equal(add_activities(2 * TKT_STORE_CHUNK), TKT_STORE_CHUNK);
    assert_int_equal(store.losses.overwritten, 2 * TKT_STORE_CHUNK);
    assert_int_equal(store.losses.store_full, TKT_STORE_CHUNK);
    assert_int_equal(store.first->first, 2 * TKT_STORE_CHUNK);
    assert_int_equal(store.next_sequence, 4 * TKT_STORE_CHUNK);
}

TEST_MAIN_EACH(set_up, tear_down)
