/* The store of decoded activities: bounds, chunks that come and go, and what is forgotten when. */
#include "cuda/collector.h"

#include "base/thread.h"
#include "cuda/store.h"

#include "support/test.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES sizeof(tkt_store_chunk)

static int empty_store(void **state)
{
    tkt_store *store = tkt_store_get();
    tkt_store_fini(store);
    assert_int_equal(tkt_store_init(store), TAKT_OK);
    *state = store;
    return 0;
}

/* Activities with correlation ids that count from the store's position. */
static void add(tkt_store *store, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        tkt_stored_activity activity = {.correlation = (uint32_t)store->next_sequence};
        assert_true(tkt_store_add(store, &activity));
    }
}

/* All that is there, from the oldest on, is as it was added. Returns how much it is. */
static size_t check(const tkt_store *store)
{
    size_t count = 0;
    const tkt_store_chunk *last = NULL;
    for (const tkt_store_chunk *chunk = store->first; chunk; chunk = chunk->next) {
        for (uint32_t i = 0; i < chunk->count; i++)
            assert_int_equal(chunk->items[i].correlation, (uint32_t)(chunk->first + i));
        count += chunk->count;
        last = chunk;
    }
    assert_ptr_equal(last, store->last);
    return count;
}

TEST(positions_count_what_has_arrived)
{
    tkt_store *store = *state;
    assert_int_equal(tkt_store_position(), 0);
    add(store, TKT_STORE_CHUNK + 5);
    assert_int_equal(tkt_store_position(), TKT_STORE_CHUNK + 5);
    assert_int_equal(check(store), TKT_STORE_CHUNK + 5);
    assert_int_equal(store->used_bytes, 2 * CHUNK_BYTES);
}

TEST(releases_what_fills_chunks)
{
    tkt_store *store = *state;
    add(store, 3 * TKT_STORE_CHUNK + 10);
    tkt_store_release(TKT_STORE_CHUNK - 1, 0);
    assert_int_equal(check(store), 3 * TKT_STORE_CHUNK + 10);
    tkt_store_release(2 * TKT_STORE_CHUNK, 0);
    assert_int_equal(check(store), TKT_STORE_CHUNK + 10);
    assert_int_equal(store->first->first, 2 * TKT_STORE_CHUNK);
    assert_non_null(store->spare);
    assert_int_equal(store->used_bytes, 3 * CHUNK_BYTES); /* one of them is the spare */
    add(store, TKT_STORE_CHUNK);
    assert_null(store->spare);
    assert_int_equal(store->used_bytes, 3 * CHUNK_BYTES);
    assert_int_equal(check(store), 2 * TKT_STORE_CHUNK + 10);
}

TEST(releases_a_chunk_that_is_not_full)
{
    tkt_store *store = *state;
    add(store, 10);
    tkt_store_release(tkt_store_position(), 0);
    assert_null(store->first);
    assert_int_equal(tkt_store_position(), 10);
    add(store, 3);
    assert_int_equal(store->first->first, 10);
    assert_int_equal(check(store), 3);
}

TEST(refuses_and_counts_when_full)
{
    tkt_store *store = *state;
    const tkt_stored_activity activity = {.correlation = 1};
    const tkt_stored_memory memory = {.time = 1, .kind = TAKT_MEMORY_PINNED};
    const tkt_stored_wait wait = {.begin = 1};
    const tkt_stored_overhead overhead = {.begin = 1};
    const tkt_shape shape = {.bytes = 1};
    store->max_bytes = CHUNK_BYTES + sizeof memory + sizeof wait - 1;
    add(store, TKT_STORE_CHUNK);
    assert_false(tkt_store_add(store, &activity));
    assert_int_equal(store->losses.store_full, 1);
    assert_true(tkt_store_add_memory(store, &memory));
    assert_false(tkt_store_add_wait(store, &wait));
    assert_false(tkt_store_add_overhead(store, &overhead) &&
                 tkt_store_add_overhead(store, &overhead));
    assert_int_equal(tkt_store_shape(store, &shape), UINT32_MAX);
    assert_int_equal(tkt_store_string(store, "a text that is far longer than what is left there"),
                     TKT_STRTAB_FULL);
    assert_true(store->used_bytes <= store->max_bytes);
    assert_true(store->losses.store_full + store->losses.others_full >= 3);
    assert_int_equal(check(store), TKT_STORE_CHUNK);
}

/* All of it belongs to the call that the program made. */
TEST(an_inner_calls_work_is_that_of_the_call_around_it)
{
    enum {
        OUTER = 80000,
        INNER = 80001
    };
    tkt_store *store = *state;
    tkt_alias_add(INNER, OUTER);
    assert_true(tkt_store_add(store, &(tkt_stored_activity){.correlation = INNER}));
    assert_true(tkt_store_add_memory(store, &(tkt_stored_memory){.correlation = INNER}));
    assert_true(tkt_store_add_wait(store, &(tkt_stored_wait){.correlation = INNER}));
    assert_true(tkt_store_add_record(store, &(tkt_stored_record){.correlation = INNER}));
    assert_int_equal(store->first->items[0].correlation, OUTER);
    assert_int_equal(store->memory.items[0].correlation, OUTER);
    assert_int_equal(store->waits.items[0].correlation, OUTER);
    assert_int_equal(store->records.items[0].correlation, OUTER);
}

TEST(a_ring_lets_the_oldest_go)
{
    tkt_store *store = *state;
    store->max_bytes = 2 * CHUNK_BYTES;
    add(store, 2 * TKT_STORE_CHUNK);
    tkt_store_ring(TKT_STORE_CHUNK);
    add(store, TKT_STORE_CHUNK);
    assert_int_equal(store->losses.overwritten, TKT_STORE_CHUNK);
    assert_int_equal(check(store), 2 * TKT_STORE_CHUNK);
    const tkt_stored_activity activity = {.correlation = 1};
    assert_false(tkt_store_add(store, &activity)); /* the next oldest is still wanted */
}

TEST(a_ring_lets_the_older_half_of_waits_go)
{
    tkt_store *store = *state;
    tkt_stored_wait wait = {0};
    store->max_bytes = 5 * sizeof wait;
    for (wait.begin = 0; wait.begin < 5; wait.begin++)
        assert_true(tkt_store_add_wait(store, &wait));
    assert_false(tkt_store_add_wait(store, &wait));
    assert_int_equal(store->losses.others_full, 1);
    tkt_store_ring(UINT64_MAX);
    assert_true(tkt_store_add_wait(store, &wait));
    assert_int_equal(store->losses.overwritten, 3);
    assert_int_equal(store->waits.count, 3);
    assert_int_equal(store->used_bytes, 3 * sizeof wait);
    for (uint64_t i = 0; i < 3; i++)
        assert_int_equal(store->waits.items[i].begin, 3 + i);
}

/* Summaries go on for days. */
TEST(for_summaries_little_is_kept_beside_activities)
{
    tkt_store *store = *state;
    const tkt_stored_overhead flushing = {.begin = 1, .end = 2, .kind = 2u << 16},
                              loading = {.begin = 3, .end = 4, .kind = 5u << 16};
    const tkt_stored_memory memory = {.bytes = 1};
    store->max_bytes = 2 * (CHUNK_BYTES + sizeof loading);
    tkt_store_sum(true);
    assert_true(tkt_store_add_wait(store, &(tkt_stored_wait){.begin = 1, .end = 2}));
    assert_true(tkt_store_add_record(store, &(tkt_stored_record){.correlation = 1}));
    assert_true(tkt_store_add_overhead(store, &flushing));
    assert_int_equal(store->used_bytes, 0);
    assert_true(tkt_store_add_overhead(store, &loading));
    assert_int_equal(store->overheads.count, 1);
    while (tkt_store_add_memory(store, &memory))
        ;
    assert_int_equal(store->losses.others_full, 1);
    assert_in_range(store->memory.count * sizeof memory, CHUNK_BYTES - sizeof memory,
                    CHUNK_BYTES + sizeof loading);
    add(store, TKT_STORE_CHUNK);
    tkt_store_sum(false);
    store->max_bytes = 3 * CHUNK_BYTES;
    assert_true(tkt_store_add_wait(store, &(tkt_stored_wait){.begin = 1, .end = 2}));
    assert_int_equal(store->waits.count, 1);
}

/* A window with spans has had all; the summary keeps what it would have taken. */
TEST(a_summary_lets_go_of_what_only_a_window_wanted)
{
    tkt_store *store = *state;
    const tkt_stored_overhead flushing = {.begin = 1, .end = 2, .kind = 2u << 16},
                              loading = {.begin = 3, .end = 4, .kind = 5u << 16};
    assert_true(tkt_store_add_overhead(store, &flushing));
    assert_true(tkt_store_add_overhead(store, &loading));
    assert_true(tkt_store_add_wait(store, &(tkt_stored_wait){.begin = 1, .end = 2}));
    tkt_store_sum(true);
    tkt_store_release(0, 0);
    assert_int_equal(store->waits.count, 0);
    assert_int_equal(store->overheads.count, 1);
    assert_int_equal(store->overheads.items[0].kind, loading.kind);
    assert_int_equal(store->used_bytes, sizeof loading);
}

/* The kernels that a program launches late are in its flight recorder, too: names and shapes get
 * their room from the oldest records, whatever these are. */
TEST(a_full_ring_has_room_for_new_shapes_and_texts)
{
    tkt_store *store = *state;
    store->max_bytes = 3 * CHUNK_BYTES;
    tkt_store_ring(UINT64_MAX);
    tkt_stored_overhead overhead = {.begin = 1, .end = 2};
    add(store, 2 * TKT_STORE_CHUNK + 1);
    for (size_t i = 0; i < 2 * CHUNK_BYTES / sizeof overhead; i++)
        assert_true(tkt_store_add_overhead(store, &overhead));
    store->max_bytes = store->used_bytes;
    tkt_shape shape = {.bytes = 1};
    assert_int_equal(tkt_store_shape(store, &shape), 0);
    store->max_bytes = store->used_bytes;
    assert_int_not_equal(tkt_store_string(store, "late"), TKT_STRTAB_FULL);
    store->max_bytes = store->used_bytes;
    assert_non_null(tkt_store_add_name(store));
    assert_int_equal(store->losses.store_full + store->losses.others_full, 0);
    assert_true(store->losses.overwritten > 0);
}

/* Waits fill the memory before the first kernel, and kernels before the first wait. */
TEST(in_a_full_ring_every_kind_has_room)
{
    tkt_store *store = *state;
    store->max_bytes = 3 * CHUNK_BYTES;
    tkt_store_ring(UINT64_MAX);
    tkt_stored_wait wait = {.end = 1};
    for (size_t i = 0; i < 4 * CHUNK_BYTES / sizeof wait; i++)
        assert_true(tkt_store_add_wait(store, &wait));
    add(store, 10 * TKT_STORE_CHUNK);
    assert_in_range(check(store), TKT_STORE_CHUNK, 2 * TKT_STORE_CHUNK);
}

/* As in tkt_decode: each activity has a shape of its own. */
TEST(a_ring_forgets_the_shapes_of_what_it_forgot)
{
    tkt_store *store = *state;
    store->max_bytes = 8 * CHUNK_BYTES;
    tkt_store_ring(UINT64_MAX);
    for (uint32_t i = 0; i < 40 * TKT_STORE_CHUNK; i++) {
        tkt_shape shape = {.bytes = i};
        tkt_stored_activity activity = {.correlation = i, .shape = tkt_store_shape(store, &shape)};
        assert_true(activity.shape != UINT32_MAX && tkt_store_add(store, &activity));
        assert_in_range(store->used_bytes, 0, store->max_bytes);
    }
    assert_int_equal(store->losses.store_full, 0);
    assert_in_range(check(store), TKT_STORE_CHUNK, 8 * TKT_STORE_CHUNK);
    for (const tkt_store_chunk *chunk = store->first; chunk; chunk = chunk->next)
        for (uint32_t i = 0; i < chunk->count; i++)
            assert_int_equal(store->shapes.items[chunk->items[i].shape].bytes,
                             chunk->items[i].correlation);
}

TEST(late_graphs_share_a_label)
{
    char label[TKT_GRAPH_LABEL_BYTES];
    assert_string_equal(tkt_graph_label(label, TKT_MOST_GRAPHS - 1, ""), "graph 4095");
    assert_string_equal(tkt_graph_label(label, TKT_MOST_GRAPHS, ""), "graph 4096+");
    assert_string_equal(tkt_graph_label(label, UINT32_MAX, " from nodes"),
                        "graph 4096+ from nodes");
}

TEST(without_memory_activities_are_counted)
{
    tkt_store *store = *state;
    const tkt_stored_activity activity = {.correlation = 1};
    tkt_alloc_fail(0, UINT64_MAX);
    assert_false(tkt_store_add(store, &activity));
    assert_null(tkt_store_device(store, 0));
    tkt_alloc_fail(0, 0);
    assert_int_equal(store->losses.store_full, 1);
    assert_true(store->used_bytes < CHUNK_BYTES);
    assert_true(tkt_store_add(store, &activity));
}

TEST(equal_shapes_are_one)
{
    tkt_store *store = *state;
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < 1000; i++) {
            const tkt_shape shape = {.bytes = i / 2, .grid = {i % 2, 1, 1}};
            assert_int_equal(tkt_store_shape(store, &shape), i);
        }
    }
    assert_int_equal(store->shapes.count, 1000);
    assert_int_equal(store->shapes.items[500].bytes, 250);
}

/* Another shape sits where this one's hash leads: the next number is tried. */
TEST(shapes_with_equal_hashes_are_told_apart)
{
    tkt_store *store = *state;
    const tkt_shape shapes[2] = {{.bytes = 1}, {.bytes = 2}};
    assert_int_equal(tkt_store_shape(store, &shapes[0]), 0);
    uint64_t hash = tkt_hash_bytes(&shapes[1], sizeof shapes[1]);
    *tkt_map_put(&store->shape_index, hash) = 1;
    assert_int_equal(tkt_store_shape(store, &shapes[1]), 1);
    assert_int_equal(tkt_store_shape(store, &shapes[1]), 1);
    assert_int_equal(*tkt_map_get(&store->shape_index, hash + 1), 2);
}

TEST(shapes_go_with_the_last_activity)
{
    tkt_store *store = *state;
    const tkt_shape shape = {.bytes = 7};
    assert_int_equal(tkt_store_shape(store, &shape), 0);
    add(store, 1);
    tkt_store_release(0, 0);
    assert_int_equal(store->shapes.count, 1);
    tkt_store_release(1, 0);
    assert_int_equal(store->shapes.count, 0);
    assert_int_equal(store->used_bytes, CHUNK_BYTES);
    assert_int_equal(tkt_store_shape(store, &shape), 0);
}

TEST(devices_have_labels)
{
    tkt_store *store = *state;
    const tkt_device *device = tkt_store_device(store, 2);
    assert_non_null(device);
    assert_int_equal(store->devices.count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        char label[16] = "cuda:0";
        label[5] = (char)('0' + i);
        assert_int_equal(store->devices.items[i].ordinal, i);
        assert_string_equal(tkt_strtab_text(&store->strings, store->devices.items[i].label), label);
    }
    assert_ptr_equal(tkt_store_device(store, 2), device);
    assert_null(tkt_store_device(store, TKT_STORE_DEVICES));
    assert_null(tkt_store_device(store, UINT32_MAX));
}

/* Takt's clock and CUPTI's, 1000 apart; the events at CUPTI's 100 * i + 1000. */
static void add_events(tkt_store *store)
{
    for (uint64_t i = 0; i < 10; i++) {
        const tkt_clock_pair pair = {.ticks = 100 * i, .cupti_ns = 100 * i + 1000 + i * i * 1000};
        const tkt_stored_memory memory = {.time = pair.cupti_ns, .kind = TAKT_MEMORY_PINNED};
        const tkt_stored_wait wait = {.begin = 1, .end = pair.cupti_ns};
        const tkt_stored_overhead overhead = {.begin = 1, .end = pair.cupti_ns};
        assert_true(tkt_cuda_clock_add(&store->clock, &pair));
        assert_true(tkt_store_add_memory(store, &memory));
        assert_true(tkt_store_add_wait(store, &wait));
        assert_true(tkt_store_add_overhead(store, &overhead));
    }
}

TEST(forgets_events_by_time)
{
    tkt_store *store = *state;
    add_events(store);
    uint64_t used = store->used_bytes;
    tkt_store_release(0, 450);
    assert_int_equal(store->clock.pairs.count, 6); /* those of 400 to 900 */
    assert_int_equal(store->memory.count, 6);
    assert_int_equal(store->waits.count, 6);
    assert_int_equal(store->overheads.count, 6);
    assert_int_equal(store->memory.items[0].time, 1400 + 16000);
    assert_int_equal(store->memory.items[5].time, 1900 + 81000);
    assert_int_equal(
        used - store->used_bytes,
        4 * (sizeof(tkt_stored_memory) + sizeof(tkt_stored_wait) + sizeof(tkt_stored_overhead)));
    tkt_store_release(0, 2000);
    assert_int_equal(store->clock.pairs.count, 1);
    assert_int_equal(store->memory.count, 1);
}

TEST(forgets_nothing_before_the_first_pair)
{
    tkt_store *store = *state;
    const tkt_stored_memory memory = {.time = 5, .kind = TAKT_MEMORY_PINNED};
    const tkt_clock_pair pair = {.ticks = 100, .cupti_ns = 1000};
    assert_true(tkt_store_add_memory(store, &memory));
    tkt_store_release(0, 1000);
    assert_int_equal(store->memory.count, 1);
    assert_true(tkt_cuda_clock_add(&store->clock, &pair));
    tkt_store_release(0, 99);
    assert_int_equal(store->memory.count, 1);
    tkt_store_release(0, 100);
    assert_int_equal(store->memory.count, 0);
}

/* What happened after the clock was set back has earlier stamps, and is not old. */
TEST(keeps_what_happened_after_a_clock_was_set_back)
{
    tkt_store *store = *state;
    const tkt_clock_pair pairs[] = {{.ticks = 100, .cupti_ns = 9000},
                                    {.ticks = 200, .cupti_ns = 50}};
    const tkt_stored_memory memory = {.time = 60, .kind = TAKT_MEMORY_PINNED};
    assert_true(tkt_cuda_clock_add(&store->clock, &pairs[0]));
    assert_true(tkt_cuda_clock_add(&store->clock, &pairs[1]));
    assert_true(tkt_store_add_memory(store, &memory));
    tkt_store_release(0, 150);
    assert_int_equal(store->memory.count, 1);
}

/* The decoder adds; two others look and let go, as sessions do. */

#define ADDED (40 * TKT_STORE_CHUNK)

static void *add_many(void *user)
{
    tkt_store *store = user;
    for (size_t i = 0; i < ADDED; i++) {
        const tkt_shape shape = {.bytes = i % 100};
        tkt_mutex_lock(&store->lock);
        tkt_stored_activity activity = {.correlation = (uint32_t)store->next_sequence,
                                        .shape = tkt_store_shape(store, &shape)};
        assert_true(activity.shape < 100 && tkt_store_add(store, &activity));
        tkt_mutex_unlock(&store->lock);
    }
    return NULL;
}

static void *follow(void *user)
{
    tkt_store *store = user;
    for (uint64_t position = 0; position < ADDED;) {
        position = tkt_store_position();
        tkt_mutex_lock(&store->lock);
        check(store);
        tkt_mutex_unlock(&store->lock);
        tkt_store_release(position, 0);
    }
    return NULL;
}

TEST(several_threads_share_it)
{
    tkt_store *store = *state;
    tkt_thread threads[3];
    assert_int_equal(tkt_thread_start(&threads[0], "add", add_many, store), TAKT_OK);
    for (int i = 1; i < 3; i++)
        assert_int_equal(tkt_thread_start(&threads[i], "follow", follow, store), TAKT_OK);
    for (int i = 0; i < 3; i++)
        tkt_thread_join(threads[i]);
    assert_int_equal(tkt_store_position(), ADDED);
    assert_int_equal(store->losses.store_full, 0);
}

static void allocate(tkt_store *store, uint64_t time, uint64_t address, int64_t bytes)
{
    const tkt_stored_memory memory = {
        .time = time, .address = address, .bytes = bytes, .kind = TAKT_MEMORY_DEVICE};
    assert_true(tkt_store_add_memory(store, &memory));
}

/* A program that goes on while its recording is sealed changes nothing of what that says. */
TEST(totals_leave_out_what_came_later)
{
    tkt_store *store = *state;
    const tkt_clock_fit fit = {0};
    tkt_stored_totals totals;
    allocate(store, 10, 1, 100);
    allocate(store, 20, 2, 30);
    allocate(store, 30, 1, -100);
    allocate(store, 40, 3, 500);
    assert_true(tkt_store_totals(0, &fit, 15, 30, &totals));
    assert_int_equal(totals.current_bytes, 30);
    assert_int_equal(totals.peak_bytes, 130);
    assert_int_equal(totals.peak_time, 20);
    assert_int_equal(totals.allocations, 2);
    assert_int_equal(totals.frees, 1);
    assert_int_equal(totals.begin_bytes, 100);
    assert_true(tkt_store_totals(0, &fit, 35, UINT64_MAX, &totals));
    assert_int_equal(totals.current_bytes, 530);
    assert_int_equal(totals.peak_bytes, 530);
    assert_int_equal(totals.allocations, 3);
    assert_int_equal(totals.begin_bytes, 30);
}

TEST_MAIN_EACH(empty_store, NULL)
