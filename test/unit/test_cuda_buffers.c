/* The pool of buffers that CUPTI fills. The cases share the process's one pool and leave it with
 * all buffers at home. A request tells by how long the last one of its thread was ago how large the
 * buffer is to be. */
#include "cuda/collector.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/thread.h"

#include "support/test.h"

#include <stdatomic.h>
#include <string.h>

#define THREADS 4
#define ROUNDS  2000
#define MANY    64
#define LIMIT   ((uint64_t)1 << 20)

static tkt_record_sizes sizes;

static size_t drained_bytes[MANY];
static const uint8_t *drained[MANY];
static size_t drained_count;

static void note(const void *buffer, size_t valid_bytes)
{
    drained[drained_count] = buffer;
    drained_bytes[drained_count++] = valid_bytes;
}

static void drain(void)
{
    drained_count = 0;
    tkt_buffers_drain(note);
}

typedef struct taken_buffer {
    uint8_t *bytes;
    size_t size;
    size_t records;
} taken_buffer;

static taken_buffer take(void)
{
    taken_buffer taken = {(uint8_t *)&sizes, 1, 1};
    tkt_buffers_request(&taken.bytes, &taken.size, &taken.records);
    return taken;
}

static void give(uint8_t *bytes, size_t valid_bytes)
{
    tkt_buffers_complete(NULL, 0, bytes, 1, valid_bytes);
}

static void give_all(const taken_buffer *buffers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        give(buffers[i].bytes, 0);
    drain();
    assert_int_equal(drained_count, count);
}

/* Time 0 is that of no request: this thread stays unknown, and so do those whose addresses collide
 * with its own. */
static uint64_t read_zero(void)
{
    return 0;
}

TEST(no_buffer_is_handed_out_before_there_is_room)
{
    tkt_clock_fake(read_zero);
    assert_null(take().bytes);
    assert_true(tkt_buffers_setup(&sizes, true));
    assert_null(take().bytes);
    assert_int_equal(tkt_buffers_take_losses().refused, 2);
    tkt_buffers_limit(LIMIT);
    taken_buffer first = take();
    tkt_clock_fake(NULL);
    assert_non_null(first.bytes);
    give_all(&first, 1);
}

/* Requests follow each other at once, however busy the machine is. */
static uint64_t read_next(void)
{
    static uint64_t ns;
    return ++ns;
}

static void *take_first_ones(void *argument)
{
    taken_buffer *taken = argument;
    for (size_t i = 0; i < 6; i++)
        taken[i] = take();
    return NULL;
}

/* Of a thread that was never heard of. */
TEST(buffers_grow_with_what_a_thread_fills)
{
    taken_buffer taken[6];
    tkt_thread thread;
    tkt_clock_fake(read_next);
    assert_int_equal(tkt_thread_start(&thread, "taker", take_first_ones, taken), TAKT_OK);
    tkt_thread_join(thread);
    tkt_clock_fake(NULL);
    assert_int_equal(taken[0].records, 5);
    assert_int_equal(taken[0].size, TKT_BUFFER_LEAST_BYTES);
    assert_int_equal(taken[1].records, 0);
    assert_int_equal(taken[1].size, TKT_BUFFER_LEAST_BYTES);
    assert_int_equal(taken[2].size, 4 * TKT_BUFFER_LEAST_BYTES);
    for (size_t i = 3; i < 6; i++)
        assert_int_equal(taken[i].size, TKT_BUFFER_MOST_BYTES);
    give_all(taken, 6);
}

static uint64_t pausing_ns = 1000000000;

static uint64_t read_pausing(void)
{
    return pausing_ns;
}

/* Each pause makes the next one smaller by two sizes at least. */
TEST(a_thread_that_waits_long_gets_buffers_of_two_records)
{
    tkt_clock_fake(read_pausing);
    taken_buffer taken = take();
    for (int i = 0; i < 2; i++) {
        give_all(&taken, 1);
        pausing_ns += 250000000;
        taken = take();
    }
    tkt_clock_fake(NULL);
    assert_int_equal(taken.records, 2);
    give_all(&taken, 1);
}

TEST(buffers_come_back_in_order_and_are_zeroed)
{
    uint8_t *first = take().bytes;
    uint8_t *second = take().bytes;
    memset(first, 0xAB, 100);
    memset(second, 0xCD, 200);
    give(second, 200);
    give(first, 100);
    drain();
    assert_int_equal(drained_count, 2);
    assert_ptr_equal(drained[0], second);
    assert_int_equal(drained_bytes[0], 200);
    assert_ptr_equal(drained[1], first);
    assert_int_equal(drained_bytes[1], 100);
    for (size_t i = 0; i < 256; i++) {
        assert_int_equal(first[i], 0);
        assert_int_equal(second[i], 0);
    }
}

TEST(more_valid_bytes_than_there_are_are_not_believed)
{
    taken_buffer taken = take();
    give(taken.bytes, SIZE_MAX);
    drain();
    assert_int_equal(drained_bytes[0], taken.size);
}

TEST(buffers_that_were_not_handed_out_are_counted)
{
    uint8_t stranger[16];
    uint8_t *bytes = take().bytes;
    tkt_buffers_take_losses();
    give(bytes, 8);
    give(bytes, 8);
    give(stranger, sizeof stranger);
    give(NULL, 8);
    drain();
    assert_int_equal(drained_count, 1);
    give(bytes, 8);
    drain();
    assert_int_equal(drained_count, 0);
    assert_int_equal(tkt_buffers_take_losses().foreign, 4);
    assert_int_equal(tkt_buffers_take_losses().foreign, 0);
}

TEST(all_are_back_when_the_oldest_is_back_and_drained)
{
    uint64_t before = tkt_buffers_count();
    uint8_t *first = take().bytes, *second = take().bytes;
    assert_int_equal(tkt_buffers_count(), before + 2);
    assert_true(tkt_buffers_are_back(before));
    assert_false(tkt_buffers_are_back(before + 1));
    give(second, 0);
    assert_false(tkt_buffers_are_back(before + 1));
    give(first, 0);
    assert_false(tkt_buffers_are_back(before + 1));
    drain();
    assert_true(tkt_buffers_are_back(before + 2));
}

static void ignore(const void *buffer, size_t valid_bytes)
{
    (void)buffer;
    (void)valid_bytes;
}

/* Until there is less room than the smallest takes. */
TEST(requests_are_refused_only_when_the_limit_is_used_up)
{
    static taken_buffer taken[LIMIT / TKT_BUFFER_LEAST_BYTES + 1];
    size_t count = 0, bytes = 0;
    tkt_buffers_take_losses();
    tkt_buffers_trim(0);
    while ((taken[count] = take()).bytes)
        bytes += taken[count++].size;
    assert_int_equal(tkt_buffers_take_losses().refused, 1);
    assert_in_range(LIMIT - bytes, 0, TKT_BUFFER_LEAST_BYTES - 1);
    assert_in_range(tkt_buffers_bytes(), bytes, LIMIT);
    for (size_t i = 0; i < count; i++)
        give(taken[i].bytes, 0);
    tkt_buffers_drain(ignore);
    tkt_buffers_trim(0);
    assert_int_equal(tkt_buffers_bytes(), 0);
    tkt_alloc_fail(0, UINT64_MAX);
    assert_null(take().bytes);
    tkt_alloc_fail(0, 0);
    assert_int_equal(tkt_buffers_bytes(), 0); /* without memory the limit is not used up */
    assert_int_equal(tkt_buffers_take_losses().refused, 1);
}

static _Atomic(uint64_t) threads_done, taken, given_bytes;
static uint64_t used_buffers, used_bytes;

static void check_and_add(const void *buffer, size_t valid_bytes)
{
    uint64_t words[2];
    memcpy(words, buffer, sizeof words);
    assert_int_equal(words[0], valid_bytes); /* nobody wrote to it but who had it */
    assert_int_equal(words[1], ~valid_bytes);
    used_buffers++;
    used_bytes += valid_bytes;
}

static void *take_and_give(void *argument)
{
    size_t valid_bytes = 16 + 8 * (size_t)(uintptr_t)argument;
    for (int i = 0; i < ROUNDS; i++) {
        uint8_t *buffer;
        size_t bytes, records;
        tkt_buffers_request(&buffer, &bytes, &records);
        if (!buffer)
            continue;
        uint64_t words[2] = {valid_bytes, ~valid_bytes};
        uint64_t before;
        memcpy(&before, buffer, sizeof before);
        assert_int_equal(before, 0);
        memcpy(buffer, words, sizeof words);
        atomic_fetch_add(&taken, 1);
        atomic_fetch_add(&given_bytes, valid_bytes);
        give(buffer, valid_bytes);
    }
    atomic_fetch_add(&threads_done, 1);
    return NULL;
}

TEST(threads_never_share_a_buffer)
{
    tkt_thread threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(tkt_thread_start(&threads[i], "taker", take_and_give, (void *)i), TAKT_OK);
    while (atomic_load(&threads_done) < THREADS)
        tkt_buffers_drain(check_and_add);
    for (int i = 0; i < THREADS; i++)
        tkt_thread_join(threads[i]);
    tkt_buffers_drain(check_and_add);
    assert_int_equal(used_buffers, atomic_load(&taken));
    assert_int_equal(used_bytes, atomic_load(&given_bytes));
    assert_int_equal(tkt_buffers_take_losses().foreign, 0);
}

/* Last, since it stays so. */
TEST(who_cannot_be_refused_gets_a_buffer_that_is_thrown_away)
{
    size_t bytes, records;
    tkt_buffers_trim(0);
    tkt_buffers_limit(0);
    sizes.bytes[TKT_KIND_MEMSET] = 88;
    sizes.bytes[TKT_KIND_MEMCPY] = 96;
    assert_true(tkt_buffers_setup(&sizes, false));
    uint8_t *emergencies[64];
    size_t different = 0;
    for (size_t i = 0; i < 64; i++) {
        tkt_buffers_request(&emergencies[i], &bytes, &records);
        assert_non_null(emergencies[i]);
        assert_in_range(bytes, TKT_BUFFER_LEAST_BYTES, TKT_BUFFER_MOST_BYTES);
        size_t earlier = 0;
        while (earlier < i && emergencies[earlier] != emergencies[i])
            earlier++;
        assert_true(earlier == i || i >= 16); /* as long as there are others */
        different += earlier == i;
    }
    assert_int_equal(different, 16);
    uint8_t *buffer = emergencies[0];
    buffer[0] = buffer[88] = TKT_KIND_MEMSET;
    buffer[176] = TKT_KIND_MEMCPY;
    give(buffer, 272);
    give(buffer, 4096); /* it was handed out four times: the same records again */
    give(buffer, 88);
    assert_int_equal(buffer[0], TKT_KIND_MEMSET);
    give(buffer, 88);
    assert_int_equal(buffer[0], 0);
    give(buffer, 88); /* once too often */
    drain();
    assert_int_equal(drained_count, 0);
    tkt_buffer_losses losses = tkt_buffers_take_losses();
    assert_int_equal(losses.records, 3 + 3 + 1 + 1);
    assert_int_equal(losses.foreign, 0);
    give(buffer + 8, 8);
    assert_int_equal(tkt_buffers_take_losses().foreign, 1);
}

TEST_MAIN(NULL, NULL)
