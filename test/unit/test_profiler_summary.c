/* What a summary keeps besides the tree: its figures are those of a trace of the same run. */
#include "test_profiler.h"

#include "record/control.h"
#include "record/log.h"
#include "summary/counters.h"
#include "summary/scopes.h"
#include "summary/tasks.h"
#include "summary/threads.h"
#include "trace/model.h"

#include "support/test.h"
#include "support/windows.h"

#include <math.h>
#include <pthread.h>

static test_traces traces;

static int tear_down(void **state)
{
    release_traces(&traces);
    return end_test(state);
}

static takt_profiler *profiler;
static takt_span never[2]; /* tasks that end after the recording */

/* Records a run of three steps after one that is not recorded. `run` takes the steps. */
static const takt_trace *record(takt_mode mode, void (*run)(void))
{
    takt_profiler_options options =
        options_for(&traces, (takt_schedule){.wait = 1, .active = 3, .repeat = 1});
    options.mode = mode;
    options.background = TAKT_OFF;
    profiler = started(&options);
    run();
    assert_int_equal(takt_profiler_stop(profiler), TAKT_OK);
    takt_profiler_destroy(profiler);
    for (int i = 0; i < 2; i++)
        takt_span_end(never[i]);
    pass_ns(5000); /* past all that was recorded */
    never[0] = never[1] = 0;
    return traces.items[traces.count - 1];
}

/* ---- Many threads ---------------------------------------------------------------------------- */

enum {
    THREADS = 64
};

static pthread_barrier_t all_are_there;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t next_turn = PTHREAD_COND_INITIALIZER;
static unsigned turn; /* lock */
static void (*part_of_thread)(unsigned thread);

static void *run_thread(void *argument)
{
    unsigned number = (unsigned)(uintptr_t)argument;
    pthread_barrier_wait(&all_are_there);
    for (unsigned i = 0; i < 3; i++) {
        pthread_mutex_lock(&lock);
        while (turn != i * THREADS + number)
            pthread_cond_wait(&next_turn, &lock);
        part_of_thread(number);
        turn++;
        pthread_cond_broadcast(&next_turn);
        pthread_mutex_unlock(&lock);
    }
    pthread_barrier_wait(&all_are_there);
    return NULL;
}

/* Runs the part three times on each of 64 threads that live at the same time. They take turns, so
 * that all runs are alike. */
static void run_threads(void (*part)(unsigned thread))
{
    pthread_t threads[THREADS];
    part_of_thread = part;
    turn = 0;
    pthread_barrier_init(&all_are_there, NULL, THREADS);
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_thread, (void *)i), 0);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&all_are_there);
}

/* ---- Counters -------------------------------------------------------------------------------- */

/* Samples of several chunks: irregular ones, one that is not a number, one in the last step. */
static void count(void)
{
    takt_profiler_step(profiler);
    for (unsigned i = 0; i < 3000; i++) {
        TAKT_COUNTER("load", (i * i) % 17 - 4.5);
        pass_ns(1 + i % 7);
        if (i % 100 == 0)
            TAKT_COUNTER("odd", i == 500 ? NAN : i);
        if (i % 1000 == 999)
            takt_profiler_step(profiler);
        if (i == 2500)
            TAKT_COUNTER("once", 8);
    }
}

static void same_figures(void (*run)(void), size_t count, bool has_means)
{
    tkt_counter_list of_trace = {0}, of_summary = {0};
    const takt_trace *trace = record(TAKT_MODE_TRACE, run);
    assert_int_equal(tkt_counters_of(trace, &of_trace), TAKT_OK);
    const takt_trace *summary = record(TAKT_MODE_SUMMARY, run);
    assert_int_equal(tkt_counters_of(summary, &of_summary), TAKT_OK);
    assert_int_equal(of_trace.count, count);
    assert_int_equal(of_summary.count, count);
    for (size_t i = 0; i < count; i++) {
        const tkt_counter_figures *want = &of_trace.items[i], *got = &of_summary.items[i];
        assert_string_equal(tkt_trace_text(summary, got->name), tkt_trace_text(trace, want->name));
        assert_int_equal(got->samples, want->samples);
        assert_true(got->first == want->first && got->last == want->last);
        assert_true(got->min == want->min && got->max == want->max);
        assert_true(has_means ? fabs(got->mean - want->mean) < 1e-9 : isnan(got->mean));
        assert_true(isnan(got->change));
    }
    TKT_ARRAY_FREE(&of_trace);
    TKT_ARRAY_FREE(&of_summary);
}

TEST(a_summary_has_the_figures_of_counters)
{
    same_figures(count, 3, true);
}

static unsigned samples_so_far;

static void count_on_thread(unsigned thread)
{
    (void)thread;
    for (int i = 0; i < 20; i++) {
        pass_ns(3);
        TAKT_COUNTER("shared", (samples_so_far++ * 7919) % 1009);
    }
}

static void count_on_threads(void)
{
    takt_profiler_step(profiler);
    samples_so_far = 0;
    run_threads(count_on_thread);
}

TEST(threads_share_a_counter)
{
    same_figures(count_on_threads, 1, false);
}

/* More counters than a summary keeps. */
static void count_by_many_names(void)
{
    takt_profiler_step(profiler);
    for (unsigned i = 0; i < 5 * TKT_FOLD_MAX_NAMES; i++) {
        char name[32];
        snprintf(name, sizeof name, "counter %u", i % (3 * TKT_FOLD_MAX_NAMES));
        takt_counter(name, i);
        pass_ns(1);
    }
}

TEST(names_of_counters_without_end_share_one)
{
    tkt_counter_list counters = {0};
    const takt_trace *summary = record(TAKT_MODE_SUMMARY, count_by_many_names);
    assert_int_equal(tkt_counters_of(summary, &counters), TAKT_OK);
    assert_int_equal(counters.count, TKT_FOLD_MAX_NAMES + 1);
    const tkt_counter_figures *more = counters.items;
    while (strcmp(tkt_trace_text(summary, more->name), "(more names)") != 0)
        more++;
    assert_int_equal(more->samples, 3 * TKT_FOLD_MAX_NAMES);
    assert_true(more->max == 5 * TKT_FOLD_MAX_NAMES - 1 && isnan(more->mean));
    assert_int_equal(takt_trace_loss(summary, TAKT_LOSS_MORE_NAMES), 3 * TKT_FOLD_MAX_NAMES);
    TKT_ARRAY_FREE(&counters);
}

/* Values 1 and 3 at `first` and `last`. */
static tkt_folded_counter pair(uint64_t first, uint64_t last)
{
    return (tkt_folded_counter){.name = 7,
                                .held = {.sum = (double)(last - first),
                                         .large = 2 * (double)(last - first),
                                         .weight = (double)(last - first)},
                                .samples = 2,
                                .first_time = first,
                                .last_time = last,
                                .first = 1,
                                .last = 3,
                                .min = 1,
                                .max = 3};
}

TEST(samples_of_threads_are_joined_and_by_turns_their_mean_is_unknown)
{
    tkt_fold fold = {0};
    const tkt_folded_counter *sum;
    tkt_folded_counter parts[] = {pair(30, 40), pair(50, 60), pair(10, 20), pair(15, 35)};
    for (size_t i = 0; i < 3; i++)
        assert_true(tkt_fold_add_counter(&fold, &parts[i]));
    sum = fold.counters.items;
    assert_int_equal(fold.counters.count, 1);
    assert_int_equal(sum->samples, 6);
    assert_int_equal(sum->first_time, 10);
    assert_int_equal(sum->last_time, 60);
    assert_false(sum->is_mixed);
    assert_true(sum->held.weight == 50 && sum->held.sum == 3 * 10 + 2 * 3 * 10);
    assert_true(sum->held.large == 3 * 2 * 10);
    assert_true(tkt_fold_add_counter(&fold, &parts[3]));
    assert_true(fold.counters.items[0].is_mixed);
    tkt_fold_fini(&fold);
}

/* ---- Tasks ----------------------------------------------------------------------------------- */

static const tkt_named *task_of(const takt_trace *trace, const tkt_task_list *tasks,
                                const char *name, const char *track)
{
    for (size_t i = 0; i < tasks->times.count; i++) {
        const tkt_named *task = &tasks->times.items[i];
        if (strcmp(tkt_trace_text(trace, task->name), name) == 0 &&
            strcmp(tkt_trace_text(trace, task->shape), track) == 0)
            return task;
    }
    fail_msg("there is no task %s on %s", name, track);
    return NULL;
}

/* Median and p99 come from the histograms. */
static void same_tasks_of(const takt_trace *trace, const takt_trace *summary, size_t count)
{
    tkt_task_list of_trace = {0}, of_summary = {0};
    assert_int_equal(tkt_tasks_of(trace, &of_trace), TAKT_OK);
    assert_int_equal(tkt_tasks_of(summary, &of_summary), TAKT_OK);
    assert_int_equal(of_trace.times.count, count);
    assert_int_equal(of_summary.times.count, count);
    assert_int_equal(of_summary.at_once.count, 0);
    for (size_t i = 0; i < count; i++) {
        const tkt_named *want = &of_trace.times.items[i];
        const tkt_named *got = task_of(summary, &of_summary, tkt_trace_text(trace, want->name),
                                       tkt_trace_text(trace, want->shape));
        assert_int_equal(got->stats.count, want->stats.count);
        assert_int_equal(got->stats.total_ns, want->stats.total_ns);
        assert_int_equal(got->stats.min_ns, want->stats.min_ns);
        assert_int_equal(got->stats.max_ns, want->stats.max_ns);
        assert_memory_equal(got->histogram, want->histogram, sizeof *want->histogram);
    }
    tkt_tasks_fini(&of_trace);
    tkt_tasks_fini(&of_summary);
}

/* Tasks of several chunks, and some that the window cuts: with given times around its begin and
 * end, and open ones. */
static void run_tasks(void)
{
    takt_track disk = takt_track_named("disk"), net = takt_track_named("net");
    uint64_t before_ns = read_test_clock();
    pass_ns(50);
    takt_span_end(takt_span_begin(disk, "not recorded"));
    takt_profiler_step(profiler);
    takt_span_at(net, "given", before_ns, before_ns + 10);
    takt_span_at(net, "given", before_ns, read_test_clock() + 10);
    for (unsigned i = 0; i < 2000; i++) {
        char name[32];
        snprintf(name, sizeof name, "block %u", i % 5);
        takt_span outer = takt_span_begin(i % 2 ? disk : net, name);
        takt_span inner = takt_span_begin(disk, "part");
        pass_ns(1 + i * i % 997);
        takt_span_end(outer);
        pass_ns(i % 3);
        takt_span_end(inner);
        if (i == 500 || i == 1500)
            never[i / 1000] = takt_span_begin(net, "never");
    }
    takt_span_at(net, "given", read_test_clock() - 5, read_test_clock() + 1000);
}

TEST(a_summary_has_the_figures_of_tasks)
{
    const takt_trace *trace = record(TAKT_MODE_TRACE, run_tasks);
    const takt_trace *summary = record(TAKT_MODE_SUMMARY, run_tasks);
    same_tasks_of(trace, summary, 13);
}

static takt_span left_open[THREADS];

/* Ends what another thread began. */
static void run_task_of_thread(unsigned thread)
{
    char name[32];
    pass_ns(1 + thread);
    unsigned other = (thread + 1) % THREADS;
    takt_span_end(left_open[other]);
    snprintf(name, sizeof name, "task %u", thread % 7);
    left_open[other] = takt_span_begin(takt_track_named(thread % 3 ? "pool" : "queue"), name);
    pass_ns(thread);
    takt_span_end(left_open[other]);
    left_open[other] = 0;
}

static void run_tasks_on_threads(void)
{
    takt_profiler_step(profiler);
    for (unsigned i = 0; i < THREADS; i++)
        left_open[i] = takt_span_begin(takt_track_named("main"), "handed over");
    run_threads(run_task_of_thread);
}

TEST(threads_end_tasks_of_others)
{
    const takt_trace *trace = record(TAKT_MODE_TRACE, run_tasks_on_threads);
    const takt_trace *summary = record(TAKT_MODE_SUMMARY, run_tasks_on_threads);
    same_tasks_of(trace, summary, 15);
}

/* More names than a summary keeps, and more tracks. */
static void run_tasks_by_many_names(void)
{
    takt_profiler_step(profiler);
    for (unsigned i = 0; i < 5 * TKT_FOLD_MAX_NAMES; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s %u", i % 2 ? "task" : "track", i);
        takt_span span =
            takt_span_begin(takt_track_named(i % 2 ? "track" : name), i % 2 ? name : "task");
        pass_ns(10);
        takt_span_end(span);
    }
}

TEST(names_of_tasks_without_end_share_one)
{
    tkt_task_list tasks = {0};
    const takt_trace *summary = record(TAKT_MODE_SUMMARY, run_tasks_by_many_names);
    assert_int_equal(tkt_tasks_of(summary, &tasks), TAKT_OK);
    assert_int_equal(tasks.times.count, TKT_FOLD_MAX_NAMES + TKT_FOLD_MORE_TRACKS + 1);
    const tkt_named *more = task_of(summary, &tasks, "(more names)", "track");
    assert_int_equal(more->stats.count, 2 * TKT_FOLD_MAX_NAMES);
    more = task_of(summary, &tasks, "(more names)", "");
    assert_int_equal(more->stats.count, 2 * TKT_FOLD_MAX_NAMES - TKT_FOLD_MORE_TRACKS + 1);
    assert_int_equal(more->stats.total_ns, 10 * more->stats.count);
    assert_int_equal(takt_trace_loss(summary, TAKT_LOSS_MORE_NAMES), 4 * TKT_FOLD_MAX_NAMES);
    tkt_tasks_fini(&tasks);
}

/* ---- Threads --------------------------------------------------------------------------------- */

static const tkt_thread_time *thread_of(const takt_trace *trace, const tkt_threads *threads,
                                        const char *name)
{
    for (size_t i = 0; i < threads->count; i++) {
        if (threads->items[i].number != TKT_NO_TRACK &&
            strcmp(tkt_trace_text(trace, threads->items[i].name), name) == 0)
            return &threads->items[i];
    }
    fail_msg("there is no thread %s", name);
    return NULL;
}

static void same_threads_of(const takt_trace *trace, const takt_trace *summary, size_t count)
{
    tkt_threads of_trace = {0}, of_summary = {0};
    assert_int_equal(tkt_threads_of(trace, &of_trace), TAKT_OK);
    assert_int_equal(tkt_threads_of(summary, &of_summary), TAKT_OK);
    assert_int_equal(of_trace.count, count);
    assert_int_equal(of_summary.count, count);
    for (size_t i = 0; i < count; i++) {
        const tkt_thread_time *want = &of_trace.items[i];
        const tkt_thread_time *got =
            thread_of(summary, &of_summary, tkt_trace_text(trace, want->name));
        assert_int_equal(got->is_main, want->is_main);
        assert_int_equal(got->spans, want->spans);
        assert_int_equal(got->scope_ns, want->scope_ns);
        assert_int_equal(got->wait_ns, want->wait_ns);
        assert_string_equal(tkt_trace_text(summary, got->wait_name),
                            tkt_trace_text(trace, want->wait_name));
    }
    tkt_threads_fini(&of_trace);
    tkt_threads_fini(&of_summary);
}

static const tkt_scope_total *scope_of(const tkt_scopes *scopes, const char *name)
{
    for (size_t i = 0; i < scopes->count; i++)
        if (strcmp(scopes->items[i].name, name) == 0)
            return &scopes->items[i];
    fail_msg("there is no scope %s", name);
    return NULL;
}

/* How evenly threads shared each scope. */
static void same_spread(const takt_trace *trace, const takt_trace *summary)
{
    tkt_scopes of_trace = {0}, of_summary = {0};
    assert_int_equal(tkt_scopes_by_name(trace, false, &of_trace), TAKT_OK);
    assert_int_equal(tkt_scopes_by_name(summary, false, &of_summary), TAKT_OK);
    assert_int_equal(of_summary.count, of_trace.count);
    for (size_t i = 0; i < of_trace.count; i++) {
        const tkt_scope_total *want = &of_trace.items[i];
        const tkt_scope_total *got = scope_of(&of_summary, want->name);
        assert_int_equal(got->threads, want->threads);
        assert_int_equal(got->thread_min_ns, want->thread_min_ns);
        assert_int_equal(got->thread_max_ns, want->thread_max_ns);
        assert_int_equal(got->thread_sum_ns, want->thread_sum_ns);
    }
    tkt_scopes_fini(&of_trace);
    tkt_scopes_fini(&of_summary);
}

/* Scopes in scopes, and waits in waits. */
static void work(unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++) {
        TAKT_SCOPE("work");
        pass_ns(2 + i % 3);
        takt_begin(i % 4 ? "wait for a lock" : "await an answer");
        pass_ns(3 * (i % 4));
        {
            TAKT_SCOPE("wait again");
            TAKT_SCOPE("work"); /* inside of itself */
            pass_ns(1);
        }
        takt_end();
    }
}

static void *run_short_thread(void *argument)
{
    unsigned number = (unsigned)(uintptr_t)argument;
    char name[16];
    snprintf(name, sizeof name, "early %u", number);
    takt_thread_name(name);
    work(number);
    snprintf(name, sizeof name, "short %u", number);
    takt_thread_name(name);
    work(1);
    return NULL;
}

/* A thread that ends gives its log to the next one. Some fill several chunks, some only a part. */
static void run_short_threads(void)
{
    takt_begin("whole");
    takt_profiler_step(profiler);
    for (uintptr_t i = 0; i < 40; i++) {
        pthread_t thread;
        uintptr_t number = i % 5 == 4 ? 400 + i : i;
        assert_int_equal(pthread_create(&thread, NULL, run_short_thread, (void *)number), 0);
        pthread_join(thread, NULL);
        work(3);
    }
    pass_ns(7);
    takt_profiler_step(profiler);
    takt_end();
    takt_begin("whole"); /* is open at the end */
    pass_ns(11);
}

TEST(a_summary_has_each_thread_of_a_log)
{
    const takt_trace *trace = record(TAKT_MODE_TRACE, run_short_threads);
    takt_end();
    const takt_trace *summary = record(TAKT_MODE_SUMMARY, run_short_threads);
    takt_end();
    same_threads_of(trace, summary, 41);
    same_spread(trace, summary);
}

static void work_on_thread(unsigned thread)
{
    char name[16];
    snprintf(name, sizeof name, "thread %u", thread);
    takt_thread_name(name);
    work(thread * 5);
}

static void work_on_threads(void)
{
    takt_profiler_step(profiler);
    run_threads(work_on_thread);
    work(10);
}

TEST(a_summary_has_64_threads)
{
    const takt_trace *trace = record(TAKT_MODE_TRACE, work_on_threads);
    const takt_trace *summary = record(TAKT_MODE_SUMMARY, work_on_threads);
    same_threads_of(trace, summary, THREADS); /* the first one works 0 rounds; main is another */
    same_spread(trace, summary);
}

/* More paths than a fold lists for its threads. */
static void *run_many_scopes(void *argument)
{
    char name[32];
    for (unsigned i = 0; i < TKT_FOLD_MAX_PARTS / 2 + 1; i++) {
        snprintf(name, sizeof name, "scope %u", i);
        takt_begin(name);
        pass_ns(1);
        takt_end();
    }
    return argument;
}

static void run_too_many_scopes(void)
{
    takt_profiler_step(profiler);
    for (int i = 0; i < 5; i++) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, run_many_scopes, NULL), 0);
        pthread_join(thread, NULL);
    }
}

TEST(threads_beyond_the_limit_share_a_row)
{
    tkt_threads threads = {0};
    const takt_trace *summary = record(TAKT_MODE_SUMMARY, run_too_many_scopes);
    assert_int_equal(tkt_threads_of(summary, &threads), TAKT_OK);
    assert_int_equal(threads.count, 3);
    assert_int_equal(threads.items[2].number, TKT_NO_TRACK);
    assert_int_equal(threads.items[2].spans, 3 * (TKT_FOLD_MAX_PARTS / 2 + 1));
    assert_int_equal(threads.items[2].scope_ns, 3 * (TKT_FOLD_MAX_PARTS / 2 + 1));
    assert_int_equal(threads.items[0].spans, TKT_FOLD_MAX_PARTS / 2 + 1);
    tkt_threads_fini(&threads);
}

/* ---- While the recording goes on ------------------------------------------------------------- */

static takt_trace *snapshot(tkt_window *window)
{
    takt_trace *trace;
    assert_int_equal(tkt_window_snapshot(window, &trace), TAKT_OK);
    assert_int_equal(tkt_trace_finish(trace), TAKT_OK);
    return trace;
}

/* The tasks "request" and the main thread's scopes. */
static void has_figures(takt_trace *trace, uint64_t tasks, uint64_t tasks_ns, uint64_t spans,
                        uint64_t scope_ns)
{
    tkt_task_list list = {0};
    tkt_threads threads = {0};
    assert_int_equal(tkt_tasks_of(trace, &list), TAKT_OK);
    assert_int_equal(list.times.count, 1);
    assert_int_equal(list.times.items[0].stats.count, tasks);
    assert_int_equal(list.times.items[0].stats.total_ns, tasks_ns);
    assert_int_equal(tkt_threads_of(trace, &threads), TAKT_OK);
    assert_int_equal(threads.count, 1);
    assert_int_equal(threads.items[0].spans, spans);
    assert_int_equal(threads.items[0].scope_ns, scope_ns);
    tkt_tasks_fini(&list);
    tkt_threads_fini(&threads);
    takt_trace_release(trace);
}

/* Whenever a thread folds a chunk, it looks up the path of its open scopes once more. */
TEST(calls_of_other_paths_are_counted_once)
{
    const tkt_wish wish = {.modes = TKT_FOLD, .mask = TAKT_NORMAL_BIT};
    tkt_window *window = window_with(&wish);
    tkt_fold_limit(1u << 20);
    for (unsigned i = 0; i < 8000; i++) {
        char name[32];
        snprintf(name, sizeof name, "run timestep %u", i);
        takt_begin("step");
        takt_begin(name);
        for (int k = 0; k < 10; k++) {
            TAKT_SCOPE("inner");
            pass_ns(1);
        }
        takt_end();
        takt_end();
    }
    tkt_window_end(window, tkt_ticks());
    takt_trace *trace = seal_window(window);
    uint64_t count = 0;
    for (size_t i = 1; i < trace->fold.count; i++)
        if (trace->fold.items[i].site == TKT_SITE_OTHER)
            count += trace->fold.items[i].stats.count;
    assert_true(count > 10000);
    assert_int_equal(takt_trace_loss(trace, TAKT_LOSS_TOO_MANY_PATHS), count);
    takt_trace_release(trace);
    tkt_fold_limit(UINT64_C(64) << 20);
}

/* The first task begins before the recording. */
TEST(a_snapshot_counts_what_is_open_as_ended)
{
    const tkt_wish keep = {.modes = TKT_KEEP, .mask = TAKT_NORMAL_BIT};
    const tkt_wish wish = {.modes = TKT_FOLD, .mask = TAKT_NORMAL_BIT};
    tkt_window *other = window_with(&keep);
    takt_track track = takt_track_named("queue");
    takt_span first = takt_span_begin(track, "request");
    pass_ns(1000);
    tkt_window *window = window_with(&wish);
    takt_begin("serve");
    pass_ns(10);
    takt_span second = takt_span_begin(track, "request");
    pass_ns(5);
    has_figures(snapshot(window), 2, 15 + 5, 1, 15);
    takt_span_end(first);
    pass_ns(2);
    takt_end();
    has_figures(snapshot(window), 2, 15 + 7, 1, 17);
    takt_span_end(second);
    has_figures(snapshot(window), 2, 15 + 7, 1, 17);
    takt_begin("serve");
    takt_span third = takt_span_begin(track, "request");
    pass_ns(4);
    tkt_window_end(window, tkt_ticks());
    takt_span_end(third);
    takt_end();
    has_figures(seal_window(window), 3, 15 + 7 + 4, 2, 21);
    takt_trace_release(end_and_seal(other));
}

/* ---- Folding --------------------------------------------------------------------------------- */

/* Slots of the calling thread that are not folded yet. */
static size_t unfolded(void)
{
    const tkt_thread_log *log = takt_thread_hot_v1.log;
    assert_ptr_equal(log->unfolded, log->tail);
    return (size_t)(takt_thread_hot_v1.cursor - log->tail->slots) - log->unfolded_slot;
}

TEST(a_thread_folds_little_at_once)
{
    const tkt_wish wish = {.modes = TKT_FOLD, .mask = TAKT_NORMAL_BIT};
    tkt_window *window = window_with(&wish);
    size_t most = 0;
    for (int i = 0; i < 4000; i++) {
        {
            TAKT_SCOPE("small");
        }
        most = i > 1000 && unfolded() > most ? unfolded() : most;
    }
    assert_in_range(most, 100, 127);
    tkt_window_end(window, tkt_ticks());
    takt_trace_release(seal_window(window));
}

/* The second thread has the log of the first. A round of work is four scopes. */
TEST(a_snapshot_has_each_thread_of_a_log)
{
    const tkt_wish wish = {.modes = TKT_FOLD, .mask = TAKT_NORMAL_BIT};
    tkt_window *window = window_with(&wish);
    for (uintptr_t i = 1; i <= 2; i++) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, run_short_thread, (void *)i), 0);
        pthread_join(thread, NULL);
    }
    takt_trace *trace = snapshot(window);
    tkt_threads threads = {0};
    assert_int_equal(tkt_threads_of(trace, &threads), TAKT_OK);
    assert_int_equal(thread_of(trace, &threads, "short 1")->spans, 4 * (1 + 1));
    assert_int_equal(thread_of(trace, &threads, "short 2")->spans, 4 * (2 + 1));
    tkt_threads_fini(&threads);
    takt_trace_release(trace);
    takt_trace_release(end_and_seal(window));
}

TEST_MAIN_EACH(begin_test, tear_down)
