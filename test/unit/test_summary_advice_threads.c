/* Advice about threads, and waits for them: who counts, and for how long. */
#include "test_advice.h"
#include "support/test.h"

#define MS 1000000u

/* A worker walks a tree for 4 ms of 4: walk, visit, walk, visit, walk. Main walks for 1 ms. */
TEST(indirect_recursion_counts_once)
{
    takt_trace *trace = build_begin(5 * MS);
    uint32_t main = build_track(trace, "main"), worker = build_track(trace, "worker");
    uint32_t walk = build_site(trace, "walk"), visit = build_site(trace, "visit");
    uint32_t span = TKT_NO_SPAN;
    for (uint32_t i = 0; i < 5; i++)
        span = build_span(trace, worker, i % 2 ? visit : walk, span, 1 * MS + i, 5 * MS - i);
    for (uint32_t i = 0; i < 3; i++)
        build_span(trace, main, walk, TKT_NO_SPAN, (1 + i) * MS, (1 + i) * MS + MS / 3);
    advised a = advise(trace);
    const tkt_advice *advice = find(&a, TKT_ADVICE_THREADS);
    assert_non_null(advice);
    assert_string_equal(advice->name, "walk");
    assert_int_equal(advice->time_ns, 4 * MS);
    takt_trace_release(trace);
}

/* Main has a scope once, for 4 ms; the other thread `calls` times, for 1 ms in all. */
static bool is_uneven(uint32_t calls)
{
    takt_trace *trace = build_begin(6 * MS);
    uint32_t main = build_track(trace, "main"), other = build_track(trace, "other");
    uint32_t tile = build_site(trace, "tile");
    build_span(trace, main, tile, TKT_NO_SPAN, MS, 5 * MS);
    for (uint32_t i = 0; i < calls; i++)
        build_span(trace, other, tile, TKT_NO_SPAN, MS + i * MS / calls, MS + (i + 1) * MS / calls);
    advised a = advise(trace);
    bool is = find(&a, TKT_ADVICE_THREADS) != NULL;
    takt_trace_release(trace);
    return is;
}

TEST(threads_share_what_one_has_at_most_twice_as_often)
{
    assert_true(is_uneven(1) && is_uneven(2));
    assert_false(is_uneven(3));
}

/* Each of 30 steps makes three threads anew, which run a tile each; then main works alone. */
TEST(threads_made_anew_count_as_those_that_run_at_once)
{
    takt_trace *trace = build_begin(0);
    uint32_t main = build_track(trace, "main");
    uint32_t tile = build_site(trace, "tile"), rebuild = build_site(trace, "rebuild");
    uint64_t ns = MS;
    trace->facts.process_id = trace->tracks.items[main].thread_id;
    for (int i = 0; i < 30; i++, ns += MS) {
        for (int k = 0; k < 3; k++)
            build_span(trace, build_track(trace, NULL), tile, TKT_NO_SPAN, ns, ns + MS / 2);
        build_span(trace, main, rebuild, TKT_NO_SPAN, ns + MS / 2, ns + MS);
    }
    trace->facts.end_ns = ns;
    advised a = advise(trace);
    assert_said(trace, a.count,
                "Of 4 threads only one was in scopes for 50.00% of the wall time, 15.000ms, mostly in "
                "rebuild, 15.000ms: if the others had no work there, make that parallel. See takt report --threads.");
    takt_trace_release(trace);
}

/* While main is in "rebuild", which it alone has, the other thread is in "backward" of its own. */
TEST(what_two_threads_do_at_once_is_not_serial)
{
    takt_trace *trace = build_begin(650 * MS);
    uint32_t main = build_track(trace, "main"), other = build_track(trace, "other");
    uint32_t shared = build_site(trace, "tile"), rebuild = build_site(trace, "rebuild");
    uint32_t backward = build_site(trace, "backward");
    uint64_t t = trace->facts.begin_ns;
    build_span(trace, main, shared, TKT_NO_SPAN, t, t + 20 * MS);
    build_span(trace, other, shared, TKT_NO_SPAN, t, t + 20 * MS);
    build_span(trace, main, rebuild, TKT_NO_SPAN, t + 30 * MS, t + 450 * MS);
    build_span(trace, other, backward, TKT_NO_SPAN, t + 21 * MS, t + 460 * MS);
    build_end(trace);
    advised a = advise(trace);
    for (size_t i = 0; i < a.count; i++)
        assert_int_not_equal(a.items[i].kind, TKT_ADVICE_SERIAL);
    takt_trace_release(trace);
}

/* Main waits for each item in a scope of its own, ten times as long as the worker's job. */
TEST(many_names_of_waits_are_not_the_headline)
{
    takt_trace *trace = build_begin(3 * MS);
    uint32_t main = build_track(trace, "main"), worker = build_track(trace, "worker");
    trace->facts.process_id = trace->tracks.items[main].thread_id;
    for (uint64_t i = 0, ns = MS; i < 2000; i++, ns += 1000) {
        char name[32];
        snprintf(name, sizeof name, "wait for item %u", (unsigned)i);
        build_span(trace, main, build_site(trace, name), TKT_NO_SPAN, ns, ns + 1000);
        snprintf(name, sizeof name, "job %u", (unsigned)i);
        build_span(trace, worker, build_site(trace, name), TKT_NO_SPAN, ns + 100, ns + 700 + i % 2);
    }
    build_end(trace);
    assert_headline(trace, "No scope stands out beside waits: job 1 takes most, 0.02% of the self "
                           "CPU time.");
    takt_trace_release(trace);
}

/* Whoever waits, and for whatever: one thread for a disk, or several for each other. */
TEST(waits_are_no_bottleneck)
{
    for (uint32_t threads = 1; threads <= 3; threads++) {
        takt_trace *trace = build_begin(11 * MS);
        for (uint32_t i = 0; i < threads; i++) {
            uint32_t track = build_track(trace, NULL);
            build_span(trace, track, build_site(trace, "wait for input"), TKT_NO_SPAN, MS, 9 * MS);
            build_span(trace, track, build_site(trace, "read"), TKT_NO_SPAN, 9 * MS, 11 * MS);
        }
        build_end(trace);
        assert_headline(trace, "No scope stands out beside waits: read takes most, 20.00% of the self "
                               "CPU time.");
        takt_trace_release(trace);
    }
}

TEST_MAIN(NULL, NULL)
