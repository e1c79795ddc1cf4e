/* The pool of buffers that CUPTI fills. The cases share the process's one pool and leave it with
 * all buffers at home. */
#include "cuda/buffers.h"

#include "base/thread.h"

#include <stdatomic.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define THREADS 4
#define ROUNDS  2000

static tkt_record_sizes sizes;

static size_t drained_bytes[TKT_MAX_BUFFERS];
static const uint8_t *drained[TKT_MAX_BUFFERS];
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

static uint8_t *take(size_t expected_bytes)
{
    uint8_t *buffer = (uint8_t *)&sizes;
    size_t bytes = 1, records = 1;
    tkt_buffers_request(&buffer, &bytes, &records);
    assert_int_equal(bytes, expected_bytes);
    assert_int_equal(records, 0);
    return buffer;
}

static void give(uint8_t *buffer, size_t valid_bytes)
{
    tkt_buffers_complete(NULL, 0, buffer, TKT_BUFFER_BYTES, valid_bytes);
}

static void no_buffer_is_handed_out_before_there_is_one(void **state)
{
    (void)state;
    assert_null(take(0));
    assert_true(tkt_buffers_setup(&sizes, true));
    assert_false(tkt_buffers_grow(0));
    assert_true(tkt_buffers_grow(4));
    uint8_t *buffers[4];
    for (int i = 0; i < 4; i++) {
        buffers[i] = take(TKT_BUFFER_BYTES);
        for (int j = 0; j < i; j++)
            assert_ptr_not_equal(buffers[i], buffers[j]);
    }
    assert_null(take(0));
    for (int i = 0; i < 4; i++)
        give(buffers[i], 0);
    drain();
    assert_int_equal(drained_count, 4);
}

static void buffers_come_back_in_order_and_are_zeroed(void **state)
{
    (void)state;
    uint8_t *first = take(TKT_BUFFER_BYTES);
    uint8_t *second = take(TKT_BUFFER_BYTES);
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

static void more_valid_bytes_than_there_are_are_not_believed(void **state)
{
    (void)state;
    give(take(TKT_BUFFER_BYTES), SIZE_MAX);
    drain();
    assert_int_equal(drained_bytes[0], TKT_BUFFER_BYTES);
}

static void buffers_that_were_not_handed_out_are_counted(void **state)
{
    (void)state;
    uint8_t stranger[16];
    uint8_t *buffer = take(TKT_BUFFER_BYTES);
    tkt_buffers_take_losses();
    give(buffer, 8);
    give(buffer, 8);
    give(stranger, sizeof stranger);
    give(NULL, 8);
    drain();
    assert_int_equal(drained_count, 1);
    give(buffer, 8);
    drain();
    assert_int_equal(drained_count, 0);
    assert_int_equal(tkt_buffers_take_losses().foreign, 4);
    assert_int_equal(tkt_buffers_take_losses().foreign, 0);
}

static size_t take_all(uint8_t *buffers[TKT_MAX_BUFFERS])
{
    size_t count = 0, bytes, records;
    for (;;) {
        tkt_buffers_request(&buffers[count], &bytes, &records);
        if (!buffers[count])
            return count;
        count++;
    }
}

static void the_pool_doubles_when_it_was_empty_up_to_its_limit(void **state)
{
    (void)state;
    static uint8_t *buffers[TKT_MAX_BUFFERS + 1];
    tkt_buffers_grow(24);
    size_t before = take_all(buffers);
    for (size_t i = 0; i < before; i++)
        give(buffers[i], 0);
    drain();
    tkt_buffers_grow(24);
    size_t after = take_all(buffers);
    assert_int_equal(after, before * 2 < 24 ? before * 2 : 24);
    for (size_t i = 0; i < after; i++)
        give(buffers[i], 0);
    drain();
    tkt_buffers_grow(24);
    assert_int_equal(take_all(buffers), 24);
    for (size_t i = 0; i < 24; i++)
        give(buffers[i], 0);
    drain();
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

static void threads_never_share_a_buffer(void **state)
{
    (void)state;
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
static void who_cannot_be_refused_gets_a_buffer_that_is_thrown_away(void **state)
{
    (void)state;
    static uint8_t *buffers[TKT_MAX_BUFFERS + 1];
    size_t count = take_all(buffers), bytes, records;
    sizes.bytes[TKT_KIND_MEMSET] = 88;
    sizes.bytes[TKT_KIND_MEMCPY] = 96;
    assert_true(tkt_buffers_setup(&sizes, false));
    uint8_t *emergencies[64];
    size_t different = 0;
    for (size_t i = 0; i < 64; i++) {
        tkt_buffers_request(&emergencies[i], &bytes, &records);
        assert_non_null(emergencies[i]);
        assert_in_range(bytes, 4096, TKT_BUFFER_BYTES);
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
    for (size_t i = 0; i < count; i++)
        give(buffers[i], 0);
    drain();
    assert_int_equal(drained_count, count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_buffer_is_handed_out_before_there_is_one),
        cmocka_unit_test(buffers_come_back_in_order_and_are_zeroed),
        cmocka_unit_test(more_valid_bytes_than_there_are_are_not_believed),
        cmocka_unit_test(buffers_that_were_not_handed_out_are_counted),
        cmocka_unit_test(the_pool_doubles_when_it_was_empty_up_to_its_limit),
        cmocka_unit_test(threads_never_share_a_buffer),
        cmocka_unit_test(who_cannot_be_refused_gets_a_buffer_that_is_thrown_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
