/* takt_timing: collecting activities between two calls. */
#include "test_profiler.h"
#include "support/test.h"

#include <pthread.h>

#define MS 1000000u

static void density(void)
{
    TAKT_ACTIVITY("cpu", TAKT_TIMING_KERNEL, "density");
    pass_ns(MS);
}

static void halo(void)
{
    TAKT_ACTIVITY("nic", TAKT_TIMING_MEMCPY, "halo");
    pass_ns(MS / 2);
}

static takt_timing *begin(uint32_t filter)
{
    const takt_timing_options options = {.struct_size = sizeof options, .filter = filter};
    takt_timing *timing = NULL;
    assert_int_equal(takt_timing_begin(&options, &timing), TAKT_OK);
    return timing;
}

TEST(what_happens_between_begin_and_end_is_listed_in_order)
{
    takt_timing *timing;
    density();
    pass_ns(1);
    assert_int_equal(takt_timing_begin(NULL, &timing), TAKT_OK);
    {
        TAKT_SCOPE("solve");
        density();
    }
    uint64_t halo_begin_ns = takt_now_ns();
    halo();
    pass_ns(1);
    assert_int_equal(takt_timing_end(timing), TAKT_OK);
    density();
    assert_int_equal(takt_timing_count(timing), 2);
    const takt_activity *first = takt_timing_at(timing, 0), *second = takt_timing_at(timing, 1);
    assert_string_equal(first->name, "kernel density");
    assert_string_equal(first->device, "cpu");
    assert_string_equal(first->scope, "solve");
    assert_int_equal(first->filter, TAKT_TIMING_KERNEL);
    assert_int_equal(first->thread, tkt_thread_id());
    assert_true(first->elapsed_ms == 1);
    assert_string_equal(second->name, "memcpy halo");
    assert_string_equal(second->device, "nic");
    assert_null(second->scope);
    assert_int_equal(second->begin_ns, halo_begin_ns);
    assert_int_equal(second->end_ns, halo_begin_ns + MS / 2);
    takt_timing_free(timing);
}

TEST(there_is_nothing_before_the_end_and_behind_the_last)
{
    takt_timing *timing = begin(0);
    density();
    pass_ns(1);
    assert_int_equal(takt_timing_count(timing), 0);
    assert_null(takt_timing_at(timing, 0));
    assert_int_equal(takt_timing_end(timing), TAKT_OK);
    assert_non_null(takt_timing_at(timing, 0));
    assert_null(takt_timing_at(timing, 1));
    assert_null(takt_timing_at(timing, SIZE_MAX));
    takt_timing_free(timing);
    assert_int_equal(takt_timing_count(NULL), 0);
    assert_null(takt_timing_at(NULL, 0));
}

TEST(an_end_without_begin_is_refused)
{
    takt_timing *timing = begin(0);
    assert_int_equal(takt_timing_end(timing), TAKT_OK);
    assert_int_equal(takt_timing_end(timing), TAKT_BAD_STATE);
    assert_int_equal(takt_timing_end(NULL), TAKT_BAD_STATE);
    takt_timing_free(timing);
}

TEST(free_before_the_end_ends_it)
{
    takt_timing *timing = begin(0);
    density();
    takt_timing_free(timing);
    assert_false(takt_is_on(~UINT64_C(0)));
    takt_timing_free(NULL);
}

TEST(bad_arguments_are_refused)
{
    struct {
        takt_timing_options known;
        uint64_t unknown;
    } newer = {.known = {.struct_size = sizeof newer}, .unknown = 1};
    takt_timing *timing = NULL;
    assert_int_equal(takt_timing_begin(NULL, NULL), TAKT_BAD_ARGUMENT);
    assert_int_equal(takt_timing_begin(&newer.known, &timing), TAKT_BAD_ARGUMENT);
    assert_null(timing);
    assert_false(takt_is_on(~UINT64_C(0)));
}

TEST(timings_nest_and_cross)
{
    takt_timing *outer = begin(TAKT_TIMING_ALL);
    density();
    pass_ns(1);
    takt_timing *inner = begin(TAKT_TIMING_KERNEL);
    density();
    halo();
    pass_ns(1);
    assert_int_equal(takt_timing_end(outer), TAKT_OK);
    density();
    pass_ns(1);
    assert_int_equal(takt_timing_end(inner), TAKT_OK);
    assert_int_equal(takt_timing_count(outer), 3);
    assert_int_equal(takt_timing_count(inner), 2);
    takt_timing_free(outer);
    assert_string_equal(takt_timing_at(inner, 1)->name, "kernel density");
    takt_timing_free(inner);
}

TEST(the_printed_tables_are_indented)
{
    takt_timing *timing = begin(0), *empty = begin(TAKT_TIMING_GRAPH);
    density();
    halo();
    pass_ns(1);
    takt_timing_end(timing);
    takt_timing_end(empty);
    capture_stdout();
    takt_timing_print(timing, "  ");
    takt_timing_print(empty, NULL);
    takt_timing_print(NULL, "");
#define RULE "  ----------------+---------+------------------------\n"
    assert_string_equal(captured_stdout(),
                        "  Timeline:\n" RULE "  Time            | Device  | Activity\n" RULE
                        "      1.000000 ms | cpu     | kernel density\n"
                        "      0.500000 ms | nic     | memcpy halo\n"
                        "\n  Activity summary:\n" RULE
                        "  Total time      | Count   | Activity\n" RULE
                        "      1.000000 ms |       1 | kernel density\n"
                        "      0.500000 ms |       1 | memcpy halo\n"
                        "\n  Device summary:\n" RULE "  Total time      | Count   | Device\n" RULE
                        "      1.000000 ms |       1 | cpu\n"
                        "      0.500000 ms |       1 | nic\n"
                        "No activity\n");
    takt_timing_free(timing);
    takt_timing_free(empty);
}

/* ---- Threads --------------------------------------------------------------------------------- */

enum {
    THREADS = 4,
    ROUNDS = 50,
    EACH = 20
};

/* Each collects its own and, now and then, its neighbours' activities. */
static void *collect(void *argument)
{
    size_t *least = argument;
    *least = SIZE_MAX;
    for (int round = 0; round < ROUNDS; round++) {
        takt_timing *timing;
        if (takt_timing_begin(NULL, &timing) != TAKT_OK)
            return NULL;
        for (int i = 0; i < EACH; i++)
            density();
        pass_ns(1);
        if (takt_timing_end(timing) != TAKT_OK)
            *least = 0;
        size_t mine = 0;
        for (size_t i = 0; i < takt_timing_count(timing); i++)
            mine += takt_timing_at(timing, i)->thread == tkt_thread_id();
        *least = mine < *least ? mine : *least;
        takt_timing_free(timing);
    }
    return NULL;
}

TEST(many_threads_collect_at_once)
{
    pthread_t threads[THREADS];
    size_t least[THREADS];
    takt_timing *all = begin(0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, collect, &least[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pass_ns(1);
    assert_int_equal(takt_timing_end(all), TAKT_OK);
    assert_int_equal(takt_timing_count(all), THREADS * ROUNDS * EACH);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(least[i], EACH);
    takt_timing_free(all);
}

static void *end_it(void *timing)
{
    return takt_timing_end(timing) == TAKT_OK ? timing : NULL;
}

TEST(another_thread_may_end_it)
{
    pthread_t thread;
    void *result;
    takt_timing *timing = begin(0);
    density();
    pass_ns(1);
    assert_int_equal(pthread_create(&thread, NULL, end_it, timing), 0);
    pthread_join(thread, &result);
    assert_ptr_equal(result, timing);
    assert_int_equal(takt_timing_count(timing), 1);
    takt_timing_free(timing);
}

TEST_MAIN_EACH(begin_test, end_test)
