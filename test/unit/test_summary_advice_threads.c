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

/* For 1 ms main waits, and polls meanwhile in a scope of the same name; a job takes 0.3 ms. Counted
 * for both, it would be more than half. */
TEST(a_wait_inside_a_wait_counts_once)
{
    takt_trace *trace = build_begin(2 * MS);
    uint32_t main = build_track(trace, "main"), worker = build_track(trace, "worker");
    uint32_t site = build_site(trace, "wait for jobs");
    uint32_t wait = build_span(trace, main, site, TKT_NO_SPAN, MS, 2 * MS);
    build_span(trace, main, site, wait, MS + 1, 2 * MS - 1);
    build_span(trace, worker, build_site(trace, "job"), TKT_NO_SPAN, MS + 100000, MS + 400000);
    build_end(trace);
    assert_headline(trace, "The bottleneck is wait for jobs: 76.92% of the self CPU time, 1.000ms "
                           "in 2 calls.");
    takt_trace_release(trace);
}

/* ---- What others work meanwhile, against a slow computation ---- */

static uint64_t overlap_ns(const tkt_span *a, const tkt_span *b)
{
    uint64_t begin = a->begin_ns > b->begin_ns ? a->begin_ns : b->begin_ns;
    uint64_t end = a->end_ns < b->end_ns ? a->end_ns : b->end_ns;
    return end > begin ? end - begin : 0;
}

/* What threads but the first work during the span. */
static uint64_t slow_others_ns(const takt_trace *trace, const tkt_span *wait)
{
    uint64_t sum_ns = 0;
    for (size_t i = 1; i < trace->tracks.count; i++) {
        const tkt_spans *spans = &trace->tracks.items[i].spans;
        for (size_t k = 0; k < spans->count; k++)
            if (spans->items[k].parent == TKT_NO_SPAN &&
                strcmp(tkt_trace_text(trace, tkt_span_name(trace, &spans->items[k])), "job") == 0)
                sum_ns += overlap_ns(wait, &spans->items[k]);
    }
    return sum_ns;
}

/* Main waits in the open or inside its own work; three workers work and idle. */
static takt_trace *build_random_waits(uint64_t *random)
{
    takt_trace *trace = build_begin(2 * MS);
    uint32_t wait = build_site(trace, "wait"), job = build_site(trace, "job");
    uint32_t idle = build_site(trace, "idle");
    for (uint32_t track = 0; track < 4; track++) {
        build_track(trace, NULL);
        for (uint64_t ns = MS; ns < 2 * MS;) {
            uint64_t end_ns = ns + build_random(random) % 50000;
            bool is_open = build_random(random) % 2 == 0;
            uint32_t site = !is_open ? job : track ? idle : wait;
            uint32_t span = build_span(trace, track, site, TKT_NO_SPAN, ns, end_ns);
            if (!is_open)
                build_span(trace, track, track ? job : wait, span, ns, end_ns - (end_ns - ns) / 3);
            ns = end_ns + build_random(random) % 20000;
        }
    }
    build_end(trace);
    return trace;
}

TEST(waits_are_those_of_a_slow_computation)
{
    uint64_t random = 1;
    for (int round = 0; round < 50; round++) {
        takt_trace *trace = build_random_waits(&random);
        const tkt_spans *spans = &trace->tracks.items[0].spans;
        uint64_t expected_ns = 0;
        tkt_scopes scopes;
        assert_int_equal(tkt_scopes_sums(trace, &scopes), TAKT_OK);
        for (size_t i = 0; i < spans->count; i++)
            if (strcmp(tkt_trace_text(trace, tkt_span_name(trace, &spans->items[i])), "wait") == 0)
                expected_ns += slow_others_ns(trace, &spans->items[i]);
        for (size_t i = 0; i < scopes.count; i++)
            assert_int_equal(scopes.items[i].others_ns,
                             strcmp(scopes.items[i].name, "wait") == 0 ? expected_ns : 0);
        tkt_scopes_fini(&scopes);
        takt_trace_release(trace);
    }
}

/* ---- Summaries ------------------------------------------------------------------------------- */

/* Adds what the thread that is listed next spent in a scope or call below the root. */
static void fold_part(takt_trace *trace, uint32_t site, uint64_t ns)
{
    uint32_t node = tkt_fold_child(&trace->fold, 0, site);
    tkt_stats_add(&trace->fold.items[node].stats, ns);
    tkt_thread_node *part = TKT_ARRAY_ADD(&trace->fold.parts);
    *part = (tkt_thread_node){node, 1, ns};
}

static void fold_thread(takt_trace *trace, uint32_t thread_id)
{
    tkt_folded_thread *thread = TKT_ARRAY_ADD(&trace->fold.threads);
    *thread = (tkt_folded_thread){0, thread_id, trace->fold.parts.count};
}

/* Main waits for input. A worker waits for the device from no scope; if it also works, that counts
 * whole. */
TEST(waits_outside_scopes_take_nothing_from_work)
{
    for (uint64_t work_ns = 0; work_ns <= 5 * MS; work_ns += 5 * MS) {
        takt_trace *trace = build_begin(11 * MS);
        trace->facts.has_spans = false;
        trace->facts.process_id = 100;
        assert_int_equal(tkt_fold_init(&trace->fold), TAKT_OK);
        trace->fold.has_lists = true;
        fold_part(trace, build_site(trace, "wait for input"), 8 * MS);
        fold_part(trace, build_site(trace, "read"), 1 * MS);
        fold_thread(trace, 100);
        uint32_t wait = build_site_of(trace, "cudaDeviceSynchronize", TAKT_SITE_CALL, NULL);
        fold_part(trace, wait, MS / 2);
        if (work_ns > 0)
            fold_part(trace, build_site(trace, "solve"), work_ns);
        fold_thread(trace, 101);
        build_end(trace);
        tkt_scopes scopes = {0};
        assert_int_equal(tkt_scopes_memory(trace, &scopes), TAKT_OK);
        for (size_t i = 0; i < scopes.count; i++)
            if (strcmp(scopes.items[i].name, "wait for input") == 0)
                assert_int_equal(scopes.items[i].others_ns, work_ns);
        assert_string_equal(tkt_hottest_scope(trace, &scopes).scope->name,
                            work_ns > 0 ? "solve" : "wait for input");
        tkt_scopes_fini(&scopes);
        takt_trace_release(trace);
    }
}

TEST_MAIN(NULL, NULL)
