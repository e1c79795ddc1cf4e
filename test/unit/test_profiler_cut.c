/* Scopes and tasks that begin before the recording or end after it, and paths beyond the memory of
 * a summary: it has the figures of a trace of the same run, however long that run is. */
#include "test_profiler.h"

#include "record/control.h"
#include "record/log.h"
#include "summary/tasks.h"
#include "trace/model.h"

#include <pthread.h>

static test_traces traces;

static takt_schedule schedule;

#define LONG_NS 1000000000 /* longer than a recording */

static int tear_down(void **state)
{
    schedule = (takt_schedule){0};
    release_traces(&traces);
    return end_test(state);
}

static takt_profiler *profiler;

/* Records two cycles of two steps, with two steps before each, or what `schedule` says. `run` takes
 * the steps. */
static void record(takt_mode mode, void (*run)(void))
{
    takt_schedule usual = {.wait = 2, .active = 2, .repeat = 2};
    takt_profiler_options options = options_for(&traces, schedule.active ? schedule : usual);
    options.mode = mode;
    options.background = TAKT_OFF;
    profiler = started(&options);
    run();
    assert_int_equal(takt_profiler_stop(profiler), TAKT_OK);
    takt_profiler_destroy(profiler);
    pass_ns(2 * LONG_NS); /* past all that was recorded */
}

static void step(void)
{
    takt_profiler_step(profiler);
}

/* ---- Trees ----------------------------------------------------------------------------------- */

static const char *name_of(const takt_trace *trace, const tkt_node *node)
{
    return tkt_trace_text(trace, trace->sites.items[node->site].name);
}

/* The child of that name, or 0. */
static uint32_t child_of(const takt_trace *trace, const tkt_fold *fold, uint32_t parent,
                         const char *name)
{
    for (uint32_t i = 1; i < fold->count; i++)
        if (fold->items[i].parent == parent && strcmp(name_of(trace, &fold->items[i]), name) == 0)
            return i;
    return 0;
}

static void same_node(const char *path, const tkt_node *got, const tkt_node *want)
{
    if (got->stats.count != want->stats.count || got->stats.total_ns != want->stats.total_ns ||
        got->stats.self_ns != want->stats.self_ns)
        fail_msg("%s: count %llu, total %llu, self %llu instead of %llu, %llu, %llu", path,
                 (unsigned long long)got->stats.count, (unsigned long long)got->stats.total_ns,
                 (unsigned long long)got->stats.self_ns, (unsigned long long)want->stats.count,
                 (unsigned long long)want->stats.total_ns, (unsigned long long)want->stats.self_ns);
    assert_int_equal(got->stats.min_ns, want->stats.min_ns);
    assert_int_equal(got->stats.max_ns, want->stats.max_ns);
    assert_true(got->flops == want->flops && got->bytes == want->bytes);
    for (int percent = 0; percent <= 100; percent += 10)
        assert_int_equal(tkt_stats_quantile(&got->stats, got->histogram, percent / 100.0),
                         tkt_stats_quantile(&want->stats, want->histogram, percent / 100.0));
}

/* Compares the subtrees below node `x` of the summary and node `y` of the trace. */
static size_t same_below(const takt_trace *summary, uint32_t x, const takt_trace *trace, uint32_t y,
                         const char *path)
{
    const tkt_fold *got = tkt_trace_fold(summary), *want = tkt_trace_fold(trace);
    size_t count = 0;
    char longer[200];
    for (uint32_t i = 1; i < want->count; i++) {
        if (want->items[i].parent != y)
            continue;
        snprintf(longer, sizeof longer, "%s/%s", path, name_of(trace, &want->items[i]));
        uint32_t same = child_of(summary, got, x, name_of(trace, &want->items[i]));
        if (!same)
            fail_msg("the summary lacks %s", longer);
        same_node(longer, &got->items[same], &want->items[i]);
        count += 1 + same_below(summary, same, trace, i, longer);
    }
    return count;
}

/* Runs in both modes, and compares all cycles. */
static void same_trees(void (*run)(void))
{
    record(TAKT_MODE_TRACE, run);
    size_t cycles = traces.count;
    record(TAKT_MODE_SUMMARY, run);
    assert_true(cycles > 0 && traces.count == 2 * cycles);
    for (size_t i = 0; i < cycles; i++) {
        const takt_trace *trace = traces.items[i], *summary = traces.items[cycles + i];
        size_t paths = same_below(summary, 0, trace, 0, "");
        assert_int_equal(tkt_trace_fold(summary)->count, 1 + paths);
        const takt_facts *got = takt_trace_facts(summary), *want = takt_trace_facts(trace);
        assert_int_equal(got->begun_before, want->begun_before);
        assert_int_equal(got->unfinished, want->unfinished);
    }
}

static const tkt_node *node_at(const takt_trace *trace, const char *const *path)
{
    const tkt_fold *fold = tkt_trace_fold(trace);
    uint32_t node = 0;
    for (; *path; path++) {
        node = child_of(trace, fold, node, *path);
        if (!node)
            fail_msg("there is no %s", *path);
    }
    return &fold->items[node];
}

#define AT(trace, ...) node_at(trace, (const char *const[]){__VA_ARGS__, NULL})

/* ---- Scopes ---------------------------------------------------------------------------------- */

/* Many more spans than a chunk holds. */
static void work(unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++) {
        TAKT_SCOPE("work");
        pass_ns(2 + i % 3);
        takt_begin(i % 4 ? "often" : "seldom");
        TAKT_WORK(3, 4);
        pass_ns(5 * (i % 4));
        takt_end();
        if (i % 700 == 0)
            TAKT_COUNTER("round", i);
    }
}

static void end_two_that_began_before(void)
{
    TAKT_BEGIN("outer");
    TAKT_BEGIN("inner");
    step();
    step();
    work(2000);
    TAKT_END("inner");
    pass_ns(7);
    work(1500);
    TAKT_END("outer");
    pass_ns(9);
    work(1500);
    step();
    step();
    step();
    step();
    work(1000);
    step();
    step();
}

TEST(a_scope_that_began_while_nothing_recorded_is_not_recorded)
{
    same_trees(end_two_that_began_before);
    const takt_trace *summary = traces.items[2];
    assert_int_equal(AT(summary, "work")->stats.count, 5000);
    assert_int_equal(child_of(summary, tkt_trace_fold(summary), 0, "outer"), 0);
    assert_int_equal(takt_trace_facts(summary)->begun_before, 0);
    assert_int_equal(summary->losses[TAKT_LOSS_MISMATCH], 0);
}

/* One scope is open from the first step on, one from the first cycle to the second. */
static void leave_scopes_open(void)
{
    TAKT_SCOPE("run");
    step();
    step();
    work(1500);
    step();
    TAKT_BEGIN("over both");
    work(1500);
    step();
    step();
    step();
    work(1500);
    TAKT_END("over both");
    work(100);
    step();
    TAKT_BEGIN("ends later");
    work(1500);
    step();
    step();
    TAKT_END("ends later");
}

TEST(scopes_that_windows_cut_count_in_each)
{
    same_trees(leave_scopes_open);
}

/* Cycles without a wait. Declares work in a scope that is open around their steps and has no other
 * scopes inside. */
static void declare_work_between_steps(void)
{
    TAKT_SCOPE("run");
    for (int i = 0; i < 8; i++) {
        TAKT_WORK(10, 1);
        pass_ns(5);
        step();
    }
    TAKT_WORK(10, 1);
}

TEST(work_counts_in_the_cycle_in_which_it_was_declared)
{
    schedule = (takt_schedule){.active = 2, .repeat = 4};
    same_trees(declare_work_between_steps);
    assert_int_equal(traces.count, 8);
    for (size_t i = 0; i < traces.count; i++)
        assert_true(AT(traces.items[i], "run")->flops == 20);
}

/* ---- Several threads in a log ---------------------------------------------------------------- */

static void *work_on_thread(void *argument)
{
    (void)argument;
    work(900);
    return NULL;
}

static pthread_barrier_t meeting;

static void *end_late_on_thread(void *argument)
{
    (void)argument;
    TAKT_BEGIN("begun before");
    pthread_barrier_wait(&meeting);
    pthread_barrier_wait(&meeting);
    work(900);
    {
        TAKT_SCOPE("its own");
        work(300);
    }
    TAKT_END("begun before");
    work(500);
    return NULL;
}

/* The second thread has its first event when the first has ended, and gets its log. */
static void take_over_a_log(void)
{
    pthread_t first, second;
    pthread_barrier_init(&meeting, NULL, 2);
    assert_int_equal(pthread_create(&second, NULL, end_late_on_thread, NULL), 0);
    pthread_barrier_wait(&meeting);
    step();
    step();
    assert_int_equal(pthread_create(&first, NULL, work_on_thread, NULL), 0);
    pthread_join(first, NULL);
    pthread_barrier_wait(&meeting);
    pthread_join(second, NULL);
    pthread_barrier_destroy(&meeting);
    step();
    step();
    step();
    step();
    step();
    step();
}

TEST(threads_that_share_a_log_keep_their_time)
{
    same_trees(take_over_a_log);
    assert_int_equal(AT(traces.items[2], "work")->stats.count, 900 + 900 + 500);
    assert_int_equal(AT(traces.items[2], "its own", "work")->stats.count, 300);
}

/* ---- Tasks ----------------------------------------------------------------------------------- */

static const tkt_named *task_named(const takt_trace *trace, const tkt_task_list *tasks,
                                   const char *name)
{
    for (size_t i = 0; i < tasks->times.count; i++)
        if (strcmp(tkt_trace_text(trace, tasks->times.items[i].name), name) == 0)
            return &tasks->times.items[i];
    fail_msg("there is no task %s", name);
    return NULL;
}

static void same_tasks_of(const takt_trace *summary, const takt_trace *trace)
{
    tkt_task_list got = {0}, want = {0};
    assert_int_equal(tkt_tasks_of(trace, &want), TAKT_OK);
    assert_int_equal(tkt_tasks_of(summary, &got), TAKT_OK);
    assert_int_equal(got.times.count, want.times.count);
    for (size_t i = 0; i < want.times.count; i++) {
        const tkt_named *expected = &want.times.items[i];
        const char *name = tkt_trace_text(trace, expected->name);
        const tkt_stats *stats = &task_named(summary, &got, name)->stats;
        if (stats->total_ns != expected->stats.total_ns || stats->count != expected->stats.count)
            fail_msg("%s: %llu tasks of %llu ns instead of %llu of %llu", name,
                     (unsigned long long)stats->count, (unsigned long long)stats->total_ns,
                     (unsigned long long)expected->stats.count,
                     (unsigned long long)expected->stats.total_ns);
        assert_int_equal(stats->min_ns, expected->stats.min_ns);
        assert_int_equal(stats->max_ns, expected->stats.max_ns);
    }
    tkt_tasks_fini(&got);
    tkt_tasks_fini(&want);
}

/* Runs in both modes, and compares the first cycles. */
static void same_tasks(void (*run)(void))
{
    record(TAKT_MODE_TRACE, run);
    size_t cycles = traces.count;
    record(TAKT_MODE_SUMMARY, run);
    same_tasks_of(traces.items[cycles], traces.items[0]);
    const takt_facts *got = takt_trace_facts(traces.items[cycles]);
    const takt_facts *want = takt_trace_facts(traces.items[0]);
    assert_int_equal(got->begun_before, want->begun_before);
    assert_int_equal(got->unfinished, want->unfinished);
}

/* Announced before they begin or end. Some have ended when the next chunk is folded, some when the
 * recording ends, some have not begun then. */
static void announce_tasks(void)
{
    takt_track track = takt_track_named("plan");
    takt_span open = takt_span_begin(track, "not recorded");
    step();
    step();
    takt_span_end(open);
    open = takt_span_begin(track, "open");
    uint64_t start_ns = read_test_clock();
    for (uint64_t i = 0; i < 60; i++) {
        takt_span_at(track, "long", start_ns - 10, start_ns + 1000 * i);
        takt_span_at(track, "short", start_ns + 1000 * i, start_ns + 1000 * i + 30);
        takt_span_at(track, "endless", read_test_clock(), read_test_clock() + LONG_NS);
        work(100);
    }
    step();
    step();
    pass_ns(100000);
    takt_span_end(open);
    step();
    step();
    step();
    step();
}

TEST(tasks_that_end_after_the_recording_are_cut)
{
    same_tasks(announce_tasks);
}

/* Within the first cycle and beyond it. The second cycle begins 200 ns after the first. */
static void announce_beyond(void)
{
    takt_track track = takt_track_named("plan");
    step();
    step();
    uint64_t start_ns = read_test_clock();
    takt_span_at(track, "to the next", start_ns + 10, start_ns + 1350);
    takt_span_at(track, "over the next", start_ns, start_ns + 10000);
    takt_span_at(track, "to the wait", start_ns, start_ns + 1100);
    takt_span_at(track, "to the begin", start_ns, start_ns + 1200);
    takt_span_at(track, "to the end", start_ns, start_ns + 1000);
    pass_ns(1000);
    step();
    step();
    pass_ns(200);
    step();
    step();
    pass_ns(500);
    step();
    step();
}

static void assert_task(const takt_trace *trace, const char *name, uint64_t ns)
{
    tkt_task_list tasks = {0};
    assert_int_equal(tkt_tasks_of(trace, &tasks), TAKT_OK);
    assert_int_equal(task_named(trace, &tasks, name)->stats.count, 1);
    assert_int_equal(task_named(trace, &tasks, name)->stats.total_ns, ns);
    tkt_tasks_fini(&tasks);
}

TEST(tasks_that_end_in_a_later_cycle_are_in_both)
{
    static const takt_mode modes[] = {TAKT_MODE_TRACE, TAKT_MODE_SUMMARY, TAKT_MODE_BOTH};
    for (size_t i = 0; i < 3; i++) {
        record(modes[i], announce_beyond);
        assert_int_equal(traces.count, 2);
        assert_task(traces.items[0], "to the next", 990);
        assert_task(traces.items[0], "over the next", 1000);
        assert_task(traces.items[0], "to the end", 1000);
        assert_int_equal(takt_trace_facts(traces.items[0])->begun_before, 0);
        assert_int_equal(takt_trace_facts(traces.items[0])->unfinished, 4);
        assert_task(traces.items[1], "to the next", 150);
        assert_task(traces.items[1], "over the next", 500);
        assert_int_equal(takt_trace_facts(traces.items[1])->begun_before, 2);
        assert_int_equal(takt_trace_facts(traces.items[1])->unfinished, 1);
        release_traces(&traces);
    }
}

/* As many as a log keeps; the first have ended when there is no room for more. */
static void announce_many(void)
{
    takt_track track = takt_track_named("plan");
    step();
    step();
    for (uint64_t i = 0; i < 3 * TKT_FOLD_MAX_AHEAD; i++) {
        takt_span_at(track, "soon", read_test_clock(), read_test_clock() + 100);
        pass_ns(1);
    }
    pass_ns(100);
    for (uint64_t i = 0; i < TKT_FOLD_MAX_AHEAD; i++) {
        takt_span_at(track, "late", read_test_clock(), read_test_clock() + 100000);
        pass_ns(1);
    }
    step();
    step();
    step();
    step();
    step();
    step();
}

TEST(tasks_that_have_ended_make_room_for_others)
{
    same_tasks(announce_many);
    assert_int_equal(takt_trace_loss(traces.items[2], TAKT_LOSS_NO_MEMORY), 0);
}

static void announce_too_many(void)
{
    takt_track track = takt_track_named("plan");
    step();
    step();
    for (uint64_t i = 0; i < TKT_FOLD_MAX_AHEAD + 3000; i++)
        takt_span_at(track, "late", read_test_clock(), read_test_clock() + LONG_NS);
    step();
    step();
    step();
    step();
    step();
    step();
}

/* Those of the last chunk need no room. */
TEST(tasks_without_room_are_counted)
{
    tkt_task_list tasks = {0};
    record(TAKT_MODE_SUMMARY, announce_too_many);
    uint64_t lost = takt_trace_loss(traces.items[0], TAKT_LOSS_NO_MEMORY);
    assert_in_range(lost, 3000 - TKT_CHUNK_SLOTS / 2, 3000);
    assert_int_equal(tkt_tasks_of(traces.items[0], &tasks), TAKT_OK);
    assert_int_equal(task_named(traces.items[0], &tasks, "late")->stats.count,
                     TKT_FOLD_MAX_AHEAD + 3000 - lost);
    tkt_tasks_fini(&tasks);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

enum {
    MANY_PATHS = 4000
};

/* Three times, so that each path needs a histogram. */
static void call_many_paths(void)
{
    step();
    step();
    for (unsigned i = 0; i < 3 * MANY_PATHS; i++) {
        char name[32];
        snprintf(name, sizeof name, "path %u", i % MANY_PATHS);
        takt_begin(name);
        pass_ns(1 + i % 1000);
        takt_end();
    }
    step();
    step();
    step();
    step();
    step();
    step();
}

/* The limit is 16 MiB, of which histograms have half. */
TEST(paths_without_room_for_histograms_are_counted)
{
    takt_profiler_options options =
        options_for(&traces, (takt_schedule){.wait = 2, .active = 2, .repeat = 1});
    options.mode = TAKT_MODE_SUMMARY;
    options.background = TAKT_OFF;
    options.max_memory_bytes = 16u << 20;
    profiler = started(&options);
    call_many_paths();
    assert_int_equal(takt_profiler_stop(profiler), TAKT_OK);
    takt_profiler_destroy(profiler);
    const tkt_fold *fold = tkt_trace_fold(traces.items[0]);
    uint64_t unknown = 0, total_ns = 0;
    for (size_t i = 1; i < fold->count; i++) {
        unknown += fold->items[i].histogram == NULL;
        total_ns += fold->items[i].stats.total_ns;
    }
    assert_int_equal(fold->count, 1 + MANY_PATHS);
    assert_int_equal(total_ns, 3 * MANY_PATHS / 1000 * (1000 * 1001 / 2));
    assert_in_range(unknown, MANY_PATHS / 8, MANY_PATHS / 2);
    assert_int_equal(takt_trace_loss(traces.items[0], TAKT_LOSS_NO_PERCENTILES), 3 * unknown);
    assert_int_equal(takt_trace_loss(traces.items[0], TAKT_LOSS_TOO_MANY_PATHS), 0);
}

TEST_MAIN_EACH(begin_test, tear_down)
