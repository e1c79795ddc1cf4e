/* Threads, parts of regions, scopes over threads, tasks and counters: by hand, and against slow
 * computations that share nothing with the fast ones. */
#include "support/test.h"
#include "support/report_traces.h"

#include "summary/counters.h"
#include "summary/scopes.h"
#include "summary/tasks.h"
#include "summary/threads.h"

#include <float.h>
#include <math.h>

#define MS 1000000

/* ---- A parallel region ---- */

/* Two steps of 10 ms. In "forces", from 1 to 7 ms, main and two workers run "pairs" for 2, 3 and
 * 5 ms, and the workers "sort" for half a millisecond, at first while main is in its "pairs",
 * within which it is in "cell". One of them then waits. A third thread polls at times that fit into
 * no scope of main; it waits in a wait, and at once at a barrier. */
static void add_region(takt_trace *trace, uint32_t number)
{
    uint64_t t = 1 * MS + number * 10 * MS;
    uint32_t pairs = build_site(trace, "pairs"), sort = build_site(trace, "sort");
    uint32_t step = build_span(trace, 1, build_site(trace, "step"), TKT_NO_SPAN, t, t + 10 * MS);
    uint32_t forces = build_span(trace, 1, build_site(trace, "forces"), step, t + MS, t + 7 * MS);
    uint32_t own = build_span(trace, 1, pairs, forces, t + MS, t + 3 * MS);
    build_span(trace, 1, build_site(trace, "cell"), own, t + MS, t + 2 * MS);
    build_call(trace, 1, "cudaStreamSynchronize", forces, t + 6 * MS, t + 7 * MS);

    build_span(trace, 2, sort, TKT_NO_SPAN, t + MS, t + MS + MS / 2);
    build_span(trace, 2, pairs, TKT_NO_SPAN, t + 2 * MS, t + 7 * MS);
    uint32_t first = build_span(trace, 0, pairs, TKT_NO_SPAN, t + 2 * MS, t + 5 * MS);
    build_span(trace, 0, pairs, first, t + 2 * MS, t + 3 * MS);
    build_span(trace, 0, sort, TKT_NO_SPAN, t + 5 * MS, t + 5 * MS + MS / 2);
    build_span(trace, 0, build_site(trace, "wait for main"), TKT_NO_SPAN, t + 6 * MS, t + 7 * MS);

    uint32_t poll =
        build_span(trace, 3, build_site(trace, "poll"), TKT_NO_SPAN, t + 9 * MS, t + 12 * MS);
    uint32_t wait =
        build_span(trace, 3, build_site(trace, "Wait for data"), poll, t + 9 * MS, t + 10 * MS);
    build_span(trace, 3, build_site(trace, "wait"), wait, t + 9 * MS, t + 10 * MS);
    build_span(trace, 3, build_site(trace, "MPI_Barrier"), poll, t + 10 * MS, t + 10 * MS + 1000);
}

static takt_trace *build_region(void)
{
    takt_trace *trace = build_begin(26 * MS);
    build_track(trace, NULL);
    build_track(trace, NULL);
    build_track(trace, "solver 2");
    build_track(trace, "poller");
    trace->facts.process_id = trace->tracks.items[1].thread_id;
    for (uint32_t i = 0; i < 2; i++)
        add_region(trace, i);
    build_end(trace);
    return trace;
}

static void assert_thread(const json_t *row, const char *name, double scopes_ms, double waited_us,
                          const char *wait)
{
    assert_text(row, "thread", name);
    assert_value(row, "scope_time_ns", scopes_ms * MS);
    assert_value(row, "scope_time_percent", scopes_ms * 4); /* of 25 ms */
    assert_value(row, "waited_ns", waited_us * 1000);
    assert_value(row, "waited_percent", waited_us / 250);
    assert_text(row, "waited_in", wait);
}

TEST(threads_by_hand)
{
    takt_trace *trace = build_region();
    json_t *json = report_json(trace, "threads", NULL);
    assert_int_equal(row_count(json), 4);
    assert_thread(row_at(json, 0), "main", 20, 2000, "cudaStreamSynchronize");
    assert_thread(row_at(json, 1), "thread 100", 9, 2000, "wait for main");
    assert_thread(row_at(json, 2), "solver 2", 11, 0, NULL);
    assert_thread(row_at(json, 3), "poller", 6, 2002, "Wait for data");
    assert_value(row_at(json, 0), "thread_id", 101);
    assert_value(row_at(json, 0), "spans", 10);
    json_decref(json);
    takt_trace_release(trace);
}

static void assert_part(const json_t *row, const char *name, double threads, double calls,
                        double min_ms, double mean_ms, double max_ms)
{
    assert_text(row, "region", "forces");
    assert_text(row, "name", name);
    assert_value(row, "threads", threads);
    assert_value(row, "calls", calls);
    assert_value(row, "total_ns", mean_ms * threads * MS);
    assert_value(row, "min_ns", min_ms * MS);
    assert_near(number(row, "mean_ns"), mean_ms * MS, 0.5);
    assert_value(row, "max_ns", max_ms * MS);
    assert_value(row, "mean_percent", 100 * mean_ms / 12); /* forces: 12 ms */
    assert_value(row, "imbalance", max_ms / mean_ms);
}

TEST(workers_run_parts_of_the_scope_that_main_is_in)
{
    takt_trace *trace = build_region();
    json_t *json = report_json(trace, "threads", NULL);
    const json_t *parts = table_of(json, "regions");
    assert_int_equal(row_count(parts), 2);
    assert_part(row_at(parts, 0), "pairs", 3, 6, 4, 20.0 / 3, 10);
    assert_part(row_at(parts, 1), "sort", 2, 4, 1, 1, 1);
    json_decref(json);
    takt_trace_release(trace);
}

TEST(names_are_read_as_words)
{
    static const char *const waits[] = {
        "wait",           "waitForWorkers", "MPI_Wait",          "MPI_Waitall",   "MPI_Barrier",
        "GPUWait",        "__kmpc_barrier", "pthread_cond_wait", "wait for main", "barrier",
        "thread barrier", "idle",           "idle loop",         "worker idle",   "nanosleep",
        "busy-wait 2",    "taskwait",
    };
    static const char *const works[] = {
        "contact_barrier_energy",
        "potential_barrier",
        "solveNoWait",
        "awaited_flux",
        "weight",
        "ParallelCopy_nowait",
        "no_wait",
        "don't wait",
        "await",
        "wait_free_push",
        "sleep_islands",
        "update idle rpm",
        "barrier term",
        "",
        "gridLevel",
    };
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
        if (!tkt_span_waits(waits[i], "", false))
            fail_msg("%s is no wait", waits[i]);
    for (size_t i = 0; i < sizeof works / sizeof *works; i++)
        if (tkt_span_waits(works[i], "", false))
            fail_msg("%s is a wait", works[i]);
    assert_true(tkt_span_waits("halo", "wait", false));
    assert_true(tkt_span_waits("cudaStreamSynchronize", "cuda_runtime", true));
    assert_false(tkt_span_waits("cudaStreamWaitEvent", "cuda_runtime", true));
}

/* Whether main waits yet when a worker begins is chance: the region is the scope around the wait.
 */
TEST(scopes_that_wait_are_no_regions)
{
    takt_trace *trace = build_begin(26 * MS);
    uint32_t main = build_track(trace, NULL), worker = build_track(trace, NULL);
    uint32_t pairs = build_site(trace, "pairs");
    trace->facts.process_id = trace->tracks.items[main].thread_id;
    for (uint64_t i = 0; i < 2; i++) {
        uint64_t t = (1 + i * 10) * MS;
        uint32_t forces =
            build_span(trace, main, build_site(trace, "forces"), TKT_NO_SPAN, t, t + 6 * MS);
        build_span(trace, main, build_site(trace, "wait for workers"), forces, t + MS + i * MS,
                   t + 6 * MS);
        build_span(trace, worker, pairs, TKT_NO_SPAN, t + MS + MS / 2, t + 5 * MS);
    }
    build_end(trace);
    json_t *json = report_json(trace, "threads", NULL);
    const json_t *parts = table_of(json, "regions");
    assert_int_equal(row_count(parts), 1);
    assert_part(row_at(parts, 0), "pairs", 1, 2, 7, 7, 7);
    json_decref(json);
    takt_trace_release(trace);
}

/* A program that makes two threads in each step has two at once, however many it had. The first one
 * of a step begins when that of the step before ends. */
TEST(threads_that_follow_each_other_count_as_one)
{
    const uint64_t steps = 4;
    takt_trace *trace = build_begin(26 * MS);
    uint32_t main = build_track(trace, NULL);
    uint32_t pairs = build_site(trace, "pairs");
    trace->facts.process_id = trace->tracks.items[main].thread_id;
    for (uint64_t i = 0; i < steps; i++) {
        uint64_t t = (1 + i * 4) * MS;
        build_span(trace, main, build_site(trace, "forces"), TKT_NO_SPAN, t, t + 4 * MS);
        build_span(trace, build_track(trace, NULL), pairs, TKT_NO_SPAN, t, t + 4 * MS);
        build_span(trace, build_track(trace, NULL), pairs, TKT_NO_SPAN, t + MS, t + 2 * MS);
    }
    build_end(trace);
    json_t *json = report_json(trace, "threads", NULL);
    const json_t *parts = table_of(json, "regions");
    assert_int_equal(row_count(json), 1 + 2 * steps);
    assert_int_equal(row_count(parts), 1);
    assert_value(row_at(parts, 0), "threads", 2);
    assert_value(row_at(parts, 0), "calls", 2 * steps);
    assert_value(row_at(parts, 0), "total_ns", 5 * steps * MS);
    assert_value(row_at(parts, 0), "min_ns", steps * MS);
    assert_value(row_at(parts, 0), "max_ns", 4 * steps * MS);
    assert_value(row_at(parts, 0), "mean_percent", 62.5);
    json_decref(json);
    takt_trace_release(trace);
}

TEST(without_a_main_thread_there_are_no_regions)
{
    takt_trace *trace = build_region();
    trace->facts.process_id = 1;
    json_t *json = report_json(trace, "threads", NULL);
    assert_int_equal(row_count(json), 4);
    assert_text(row_at(json, 0), "thread", "thread 100");
    assert_int_equal(row_count(table_of(json, "regions")), 0);
    json_decref(json);
    takt_trace_release(trace);
}

TEST(scopes_are_spread_over_threads)
{
    takt_trace *trace = build_region();
    json_t *json = report_json(trace, "scopes", NULL);
    const json_t *pairs = row_of(json, "name", "pairs");
    assert_value(pairs, "threads", 3);
    assert_value(pairs, "thread_min_ns", 4 * MS);
    assert_near(number(pairs, "thread_mean_ns"), 20e6 / 3, 0.5);
    assert_value(pairs, "thread_max_ns", 10 * MS);
    assert_value(pairs, "thread_imbalance", 1.5);
    const json_t *step = row_of(json, "name", "step");
    assert_value(step, "threads", 1);
    assert_value(step, "thread_min_ns", NAN);
    assert_value(step, "thread_imbalance", NAN);
    json_decref(json);
    takt_trace_release(trace);
}

TEST(scopes_of_one_thread_have_no_columns_of_threads)
{
    takt_trace *trace = build_begin(3 * MS);
    uint32_t track = build_track(trace, "main");
    build_span(trace, track, build_site(trace, "step"), TKT_NO_SPAN, MS, 2 * MS);
    build_end(trace);
    json_t *json = report_json(trace, "scopes", NULL);
    assert_null(json_object_get(row_at(json, 0), "threads"));
    json_decref(json);
    takt_trace_release(trace);
}

/* ---- Against slow computations ---- */

static const char *span_name(const takt_trace *trace, const tkt_span *span)
{
    return tkt_trace_text(trace, trace->sites.items[tkt_span_site(span)].name);
}

static bool is_inside_its_like(const takt_trace *trace, const tkt_spans *spans, size_t i)
{
    const tkt_span *span = &spans->items[i];
    for (uint32_t up = span->parent; up != TKT_NO_SPAN; up = spans->items[up].parent) {
        if (strcmp(span_name(trace, &spans->items[up]), span_name(trace, span)) == 0)
            return true;
    }
    return false;
}

static uint64_t slow_total(const takt_trace *trace, size_t track, const char *name, size_t *calls)
{
    const tkt_spans *spans = &trace->tracks.items[track].spans;
    uint64_t total_ns = 0;
    *calls = 0;
    for (size_t i = 0; i < spans->count; i++) {
        const tkt_span *span = &spans->items[i];
        if (strcmp(span_name(trace, span), name) != 0)
            continue;
        ++*calls;
        if (!is_inside_its_like(trace, spans, i))
            total_ns += span->end_ns - span->begin_ns;
    }
    return total_ns;
}

TEST(spreads_are_those_of_a_slow_computation)
{
    for (uint64_t seed = 1; seed <= 8; seed++) {
        takt_trace *trace = build_launches(seed);
        tkt_scopes scopes = {0};
        assert_int_equal(tkt_scopes_by_name(trace, seed % 2, &scopes), TAKT_OK);
        assert_true(scopes.count > 3);
        for (size_t i = 0; i < scopes.count; i++) {
            const tkt_scope_total *scope = &scopes.items[i];
            uint64_t least = UINT64_MAX, most = 0, sum = 0;
            uint32_t threads = 0;
            for (size_t t = 0; t < trace->tracks.count && scope->kind != TKT_KIND_ACTIVITY; t++) {
                size_t calls;
                uint64_t ns = slow_total(trace, t, scope->name, &calls);
                if (calls == 0)
                    continue;
                threads++;
                sum += ns;
                least = ns < least ? ns : least;
                most = ns > most ? ns : most;
            }
            assert_int_equal(scope->threads, threads);
            assert_int_equal(scope->thread_sum_ns, sum);
            assert_int_equal(scope->thread_max_ns, most);
            if (threads > 0)
                assert_int_equal(scope->thread_min_ns, least);
            if (threads > 0)
                assert_int_equal(scope->total_ns, sum);
        }
        tkt_scopes_fini(&scopes);
        takt_trace_release(trace);
    }
}

/* ---- Tasks ---- */

static takt_trace *build_tasks(uint64_t seed)
{
    takt_trace *trace = build_begin(100000000);
    for (uint32_t t = 0; t < 2; t++) {
        uint32_t track =
            tkt_trace_add_track(trace, TAKT_TRACK_ASYNC, build_string(trace, t ? "io" : "jobs"), 0);
        for (uint32_t i = 0; i < 300; i++) {
            uint32_t site = build_site(trace, build_random(&seed) % 3 ? "read" : "write");
            uint64_t begin_ns = 1000000 + build_random(&seed) % 20000;
            build_span(trace, track, site, TKT_NO_SPAN, begin_ns,
                       begin_ns + build_random(&seed) % 1000);
        }
    }
    build_end(trace);
    return trace;
}

static bool is_task(const takt_trace *trace, const tkt_span *span, const char *name)
{
    return strcmp(span_name(trace, span), name) == 0;
}

/* A task runs from its begin to before its end; the greatest number is reached at some begin. */
static uint64_t slow_at_once(const takt_trace *trace, const tkt_spans *spans, const char *name)
{
    uint64_t most = 0;
    for (size_t i = 0; i < spans->count; i++) {
        uint64_t now_ns = spans->items[i].begin_ns, running = 0;
        for (size_t k = 0; k < spans->count; k++) {
            const tkt_span *span = &spans->items[k];
            running +=
                is_task(trace, span, name) && span->begin_ns <= now_ns && span->end_ns > now_ns;
        }
        most = running > most ? running : most;
    }
    return most;
}

TEST(tasks_are_those_of_a_slow_computation)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        takt_trace *trace = build_tasks(seed);
        json_t *json = report_json(trace, "tasks", NULL);
        assert_int_equal(row_count(json), 4);
        for (size_t i = 0; i < 4; i++) {
            const json_t *row = row_at(json, i);
            const char *name = json_string_value(json_object_get(row, "task"));
            const char *track = json_string_value(json_object_get(row, "track"));
            const tkt_track *of = &trace->tracks.items[strcmp(track, "io") == 0];
            uint64_t count = 0, total = 0, least = UINT64_MAX, most = 0;
            for (size_t s = 0; s < of->spans.count; s++) {
                const tkt_span *span = &of->spans.items[s];
                uint64_t ns = span->end_ns - span->begin_ns;
                if (!is_task(trace, span, name))
                    continue;
                count++;
                total += ns;
                least = ns < least ? ns : least;
                most = ns > most ? ns : most;
            }
            assert_value(row, "count", (double)count);
            assert_value(row, "total_ns", (double)total);
            assert_near(number(row, "mean_ns"), (double)total / (double)count, 0.5);
            assert_value(row, "min_ns", (double)least);
            assert_value(row, "max_ns", (double)most);
            assert_value(row, "at_once", (double)slow_at_once(trace, &of->spans, name));
            if (count < 100)
                assert_value(row, "p99_ns", NAN);
            else
                assert_true(number(row, "p99_ns") > number(row, "median_ns"));
        }
        json_decref(json);
        takt_trace_release(trace);
    }
}

TEST(tasks_are_no_scopes)
{
    takt_trace *trace = build_tasks(1);
    takt_report_options by_arguments = {.by_arguments = true};
    json_t *json = report_json(trace, "scopes", &by_arguments);
    assert_int_equal(row_count(json), 0);
    json_decref(json);
    takt_trace_release(trace);
}

/* ---- Counters ---- */

TEST(counters_by_hand)
{
    takt_trace *trace = build_begin(11 * MS);
    static const double level[] = {4, 2, 8};
    for (uint64_t i = 0; i < 3; i++)
        build_counter(trace, "level", (2 + 3 * i) * MS, level[i]);
    build_counter(trace, "once", 3 * MS, -7);
    build_counter(trace, "broken", 3 * MS, NAN);
    build_counter(trace, "broken", 4 * MS, 1);
    build_counter(trace, "broken", 5 * MS, INFINITY);
    build_counter(trace, "lost", 2 * MS, 4);
    build_counter(trace, "lost", 4 * MS, NAN); /* the last one of its step */
    build_counter(trace, "lost", 6 * MS, 10);
    for (uint64_t i = 0; i < 5; i++)
        build_step(trace, i, (1 + 2 * i) * MS, (3 + 2 * i) * MS);
    build_end(trace);
    json_t *json = report_json(trace, "counters", NULL);

    const json_t *row = row_of(json, "counter", "level");
    assert_value(row, "samples", 3);
    assert_value(row, "first", 4);
    assert_value(row, "last", 8);
    assert_value(row, "min", 2);
    assert_value(row, "max", 8);
    assert_value(row, "mean", (3 * 4 + 3 * 2 + 3 * 8) / 9.0);
    assert_value(row, "change_per_step", (0 - 2 + 6 + 0) / 4.0); /* the first step has no value */

    row = row_of(json, "counter", "once");
    assert_value(row, "mean", -7);
    assert_value(row, "change_per_step", 0);
    row = row_of(json, "counter", "broken");
    assert_value(row, "samples", 3);
    assert_value(row, "first", NAN);
    assert_value(row, "mean", 1);
    assert_value(row, "max", 1);
    assert_value(row_of(json, "counter", "lost"), "change_per_step", (0 + 6 + 0 + 0) / 4.0);
    json_decref(json);
    takt_trace_release(trace);
}

/* The figures of a counter with these values, each of which holds for a millisecond. Steps lead
 * from one to the next. */
static tkt_counter_figures figures_of(const double *values, size_t count)
{
    takt_trace *trace = build_begin((1 + count) * MS);
    tkt_counter_list counters = {0};
    for (size_t i = 0; i < count; i++) {
        build_counter(trace, "size", (1 + i) * MS, values[i]);
        if (i + 1 < count)
            build_step(trace, i, (1 + i) * MS + MS / 2, (2 + i) * MS + MS / 2);
    }
    build_end(trace);
    assert_int_equal(tkt_counters_of(trace, &counters), TAKT_OK);
    tkt_counter_figures figures = counters.items[0];
    TKT_ARRAY_FREE(&counters);
    takt_trace_release(trace);
    return figures;
}

/* The sums of these are beyond doubles, as is one of the changes; a long double has room for them.
 */
TEST(means_of_large_and_tiny_values_are_as_exact_as_others)
{
    static const double values[][4] = {{1e300, 1e300, 1e300, 1e300},
                                       {DBL_MAX, DBL_MAX, DBL_MAX, DBL_MAX},
                                       {DBL_MAX, -DBL_MAX, DBL_MAX, 0},
                                       {1e308, 3, 1e308, 1.5e308},
                                       {-1.7e308, -1.6e308, -1.7e308, -1e300},
                                       {1e-300, 2e-300, 4e-300, 1e-300},
                                       {DBL_TRUE_MIN, DBL_TRUE_MIN, DBL_TRUE_MIN, DBL_TRUE_MIN},
                                       {0.1, 0.2, 0.1, 0.4}};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        const double *v = values[i];
        tkt_counter_figures figures = figures_of(v, 4);
        long double mean = ((long double)v[0] + v[1] + v[2] + v[3]) / 4;
        long double change = ((long double)v[3] - v[0]) / 3;
        assert_true(figures.mean >= figures.min && figures.mean <= figures.max);
        assert_true(fabsl(figures.mean - mean) <= 4 * DBL_EPSILON * fabsl(mean) + DBL_TRUE_MIN);
        assert_true(fabsl(figures.change - change) <=
                    4 * DBL_EPSILON * (fabsl(v[0]) + fabsl(v[3])) + 4 * DBL_TRUE_MIN);
    }
}

/* No double is as large as the mean change: there is none. */
TEST(a_change_beyond_doubles_is_none)
{
    takt_trace *trace = build_begin(4 * MS);
    build_counter(trace, "size", 1 * MS, -DBL_MAX);
    build_counter(trace, "size", 2 * MS, DBL_MAX);
    build_step(trace, 0, 1 * MS, 3 * MS);
    build_end(trace);
    json_t *json = report_json(trace, "counters", NULL);
    assert_value(row_of(json, "counter", "size"), "change_per_step", NAN);
    json_decref(json);
    takt_trace_release(trace);
}

/* Adds up the value at each nanosecond. */
TEST(means_of_counters_are_those_of_a_slow_computation)
{
    uint64_t random = 5;
    for (int round = 0; round < 5; round++) {
        takt_trace *trace = build_begin(1003000);
        double values[3000], sum = 0;
        uint64_t first = 3000, samples = 0;
        for (uint64_t at = 0; at < 3000; at++) {
            bool is_sample = build_random(&random) % 50 == 0;
            values[at] = at > first ? values[at - 1] : 0;
            if (is_sample) {
                values[at] = build_random(&random) % 100;
                build_counter(trace, "level", 1000000 + at, values[at]);
                first = at < first ? at : first;
                samples++;
            }
            sum += values[at];
        }
        build_end(trace);
        tkt_counter_list counters = {0};
        assert_int_equal(tkt_counters_of(trace, &counters), TAKT_OK);
        assert_int_equal(counters.count, 1);
        assert_int_equal(counters.items[0].samples, samples);
        assert_near(counters.items[0].mean, sum / (double)(3000 - first), 1e-9);
        TKT_ARRAY_FREE(&counters);
        takt_trace_release(trace);
    }
}

/* ---- Summaries ---- */

TEST(summaries_do_not_know)
{
    takt_trace *full = build_fluid(), *trace = build_folded(full);
    static const char *const reports[] = {"threads", "tasks", "counters"};
    for (size_t i = 0; i < 3; i++) {
        memory_sink memory = {0};
        takt_sink sink = memory_sink_of(&memory);
        assert_int_equal(takt_report(trace, reports[i], NULL, &sink), TAKT_NO_SPANS);
    }
    json_t *json = report_json(trace, "scopes", NULL);
    assert_null(json_object_get(row_at(json, 0), "threads"));
    json_decref(json);
    takt_trace_release(trace);
    takt_trace_release(full);
}

TEST_MAIN(NULL, NULL)
