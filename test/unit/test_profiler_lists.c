/* The tables of a summary's counters, tasks and threads: those of a trace of the same run, and of
 * the summary's own file, however many names and threads the run had. */
#include "test_profiler_lists.h"

#include "trace/model.h"
#include "summary/scopes.h"

#include "support/test.h"

#include <pthread.h>

/* ---- None ------------------------------------------------------------------------------------ */

static void do_nothing(void)
{
    pass_ns(1000);
}

static void enter_a_scope(void)
{
    TAKT_SCOPE("scope");
    pass_ns(1000);
}

TEST(a_summary_without_any_has_empty_tables)
{
    const takt_trace *trace = record(TAKT_MODE_TRACE, do_nothing);
    const takt_trace *summary = record(TAKT_MODE_SUMMARY, do_nothing);
    same_tables(trace, summary);
    has_text(summary, "counters", "No counters");
    has_text(summary, "tasks", "No tasks");
    has_text(summary, "threads", "No threads");
    is_like_its_file(summary);
}

TEST(a_summary_of_scopes_has_no_tasks_and_counters)
{
    const takt_trace *trace = record(TAKT_MODE_TRACE, enter_a_scope);
    const takt_trace *summary = record(TAKT_MODE_SUMMARY, enter_a_scope);
    same_tables(trace, summary);
    is_like_its_file(summary);
}

static void sample_and_run_a_task(void)
{
    takt_counter("level", 3);
    takt_span_end(takt_span_begin(takt_track_named("disk"), "read"));
}

/* The file has tasks before counters. */
TEST(a_summary_that_is_cut_has_rows_up_to_there)
{
    const takt_trace *summary = record(TAKT_MODE_SUMMARY, sample_and_run_a_task);
    memory_sink file = write_trace(summary);
    bool has_only_tasks = false;
    for (size_t size = file.size; size-- > file.size / 2;) {
        takt_trace *cut = read_bytes(file.data, size);
        if (cut->fold.has_lists)
            has_only_tasks |= rows_of(cut, "tasks", "read,disk,1,") == 1 &&
                              rows_of(cut, "counters", "level,") == 0;
        takt_trace_release(cut);
    }
    assert_true(has_only_tasks);
    tkt_free(file.data);
}

/* ---- Many names ------------------------------------------------------------------------------ */

static void sample_by_name(unsigned number)
{
    char name[32];
    snprintf(name, sizeof name, "counter %04u", number);
    takt_counter(name, number);
    pass_ns(3);
}

/* The first names come first, and last as well. One is that of names without room. */
static void use_many_counters(void)
{
    takt_counter("(more names)", 7);
    for (unsigned i = 0; i < 3 * TKT_FOLD_MAX_NAMES; i++)
        sample_by_name(i);
    for (unsigned i = 0; i < 10; i++)
        sample_by_name(i);
}

TEST(counters_beyond_the_limit_are_one_row_also_of_a_file)
{
    const takt_trace *summary = record(TAKT_MODE_SUMMARY, use_many_counters);
    assert_int_equal(rows_of(summary, "counters", "counter "), TKT_FOLD_MAX_NAMES - 1);
    assert_int_equal(rows_of(summary, "counters", "counter 0009,2,9,9,"), 1);
    assert_int_equal(rows_of(summary, "counters", "(more names),2050,7,"), 1);
    assert_int_equal(rows_of(summary, "counters", "(more names)"), 1);
    assert_int_equal(takt_trace_loss(summary, TAKT_LOSS_MORE_NAMES), 2049);
    is_like_its_file(summary);
}

static void *use_later_counters(void *argument)
{
    for (unsigned i = 4000; i < 4005; i++)
        sample_by_name(i);
    return argument;
}

static void use_many_counters_on_threads(void)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, use_later_counters, NULL), 0);
    pthread_join(thread, NULL);
    use_many_counters();
}

TEST(the_limit_holds_for_all_threads)
{
    const takt_trace *summary = record(TAKT_MODE_SUMMARY, use_many_counters_on_threads);
    assert_int_equal(rows_of(summary, "counters", "counter "), TKT_FOLD_MAX_NAMES);
    assert_int_equal(rows_of(summary, "counters", "(more names)"), 1);
    assert_int_equal(takt_trace_loss(summary, TAKT_LOSS_MORE_NAMES), 2049 + 4);
    is_like_its_file(summary);
}

static void run_task(const char *track, const char *kind, unsigned number)
{
    char name[32];
    snprintf(name, sizeof name, "%s %u", kind, number);
    takt_span span = takt_span_begin(takt_track_named(track), name);
    pass_ns(5 + number % 3);
    takt_span_end(span);
}

static void run_many_tasks(void)
{
    for (unsigned i = 0; i < 2 * TKT_FOLD_MAX_NAMES; i++)
        run_task(i % 4 ? "disk" : "net", "block", i);
    run_task("disk", "block", 1);
}

TEST(tasks_beyond_the_limit_stay_on_their_tracks)
{
    const takt_trace *summary = record(TAKT_MODE_SUMMARY, run_many_tasks);
    assert_int_equal(rows_of(summary, "tasks", "block "), TKT_FOLD_MAX_NAMES);
    assert_int_equal(rows_of(summary, "tasks", "block 1,disk,2,"), 1);
    assert_int_equal(rows_of(summary, "tasks", "(more names),disk,"), 1);
    assert_int_equal(rows_of(summary, "tasks", "(more names),net,"), 1);
    assert_int_equal(rows_of(summary, "tasks", "(more names)"), 2);
    assert_int_equal(takt_trace_loss(summary, TAKT_LOSS_MORE_NAMES), TKT_FOLD_MAX_NAMES);
    is_like_its_file(summary);
}

/* 64 of the tracks have a row: the disk, and 63 of the 128 others. */
static void use_many_tracks(void)
{
    for (unsigned i = 0; i < 2 * TKT_FOLD_MAX_NAMES; i++)
        run_task("disk", "block", i);
    for (unsigned round = 0; round < 2; round++)
        for (unsigned i = 0; i < 128; i++) {
            char track[32];
            snprintf(track, sizeof track, "track %u", i);
            run_task(track, "task", i);
        }
}

TEST(tasks_of_tracks_beyond_the_limit_are_one_row)
{
    const takt_trace *summary = record(TAKT_MODE_SUMMARY, use_many_tracks);
    assert_int_equal(rows_of(summary, "tasks", "block "), TKT_FOLD_MAX_NAMES);
    assert_int_equal(rows_of(summary, "tasks", "(more names),track "), TKT_FOLD_MORE_TRACKS - 1);
    assert_int_equal(rows_of(summary, "tasks", "(more names),disk,1024,"), 1);
    assert_int_equal(rows_of(summary, "tasks", "(more names),,130,"), 1);
    assert_int_equal(takt_trace_loss(summary, TAKT_LOSS_MORE_NAMES), TKT_FOLD_MAX_NAMES + 256);
    is_like_its_file(summary);
}

/* ---- Many threads ---------------------------------------------------------------------------- */

static void on_thread(void *(*run)(void *), uintptr_t number)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, run, (void *)number), 0);
    pthread_join(thread, NULL);
}

/* Threads with one kind of event each, with none, and with only a name or a task. */
static void *do_one_thing(void *argument)
{
    uintptr_t number = (uintptr_t)argument;
    char name[16];
    snprintf(name, sizeof name, "worker %u", (unsigned)number);
    takt_thread_name(name);
    pass_ns(10);
    if (number == 0)
        takt_counter("level", 3);
    if (number == 1)
        takt_mark("here");
    if (number == 2)
        takt_flow_begin(77);
    if (number == 3)
        takt_flow_end(77);
    if (number == 4)
        takt_span_end(takt_span_begin(takt_track_named("disk"), "read"));
    if (number == 5)
        enter_a_scope();
    return NULL;
}

static void run_threads_with_one_event(void)
{
    for (uintptr_t i = 0; i < 8; i++)
        on_thread(do_one_thing, i);
}

/* Ids of threads differ between runs. */
TEST(threads_without_scopes_are_listed)
{
    const takt_trace *trace = record(TAKT_MODE_TRACE, run_threads_with_one_event);
    const takt_trace *summary = record(TAKT_MODE_SUMMARY, run_threads_with_one_event);
    static const bool is_listed[8] = {true, true, true, true, false, true, false, false};
    for (int i = 0; i < 8; i++) {
        char row[16];
        snprintf(row, sizeof row, "worker %d,", i);
        assert_int_equal(rows_of(trace, "threads", row), is_listed[i]);
        assert_int_equal(rows_of(summary, "threads", row), is_listed[i]);
    }
    assert_int_equal(takt_trace_loss(summary, TAKT_LOSS_MORE_THREADS), 0);
    is_like_its_file(summary);
}

/* Enters as many scopes as leave room for five threads. */
static void *fill_list(void *argument)
{
    for (unsigned i = 0; i + 6 < TKT_FOLD_MAX_PARTS; i++) {
        char name[32];
        snprintf(name, sizeof name, "scope %u", i);
        takt_begin(name);
        pass_ns(1);
        takt_end();
    }
    return argument;
}

static void *sample_once(void *argument)
{
    takt_counter("level", (double)(uintptr_t)argument);
    return NULL;
}

static void *enter_two(void *argument)
{
    takt_begin("shared");
    takt_begin("of workers");
    pass_ns((uintptr_t)argument);
    takt_end();
    takt_end();
    return NULL;
}

static void enter_alone(void)
{
    TAKT_SCOPE("shared");
    TAKT_SCOPE("of main");
    TAKT_SCOPE("scope 0");
    pass_ns(3);
}

/* Two threads enter scopes and are listed, as are three with a sample. Three are not. */
static void run_more_threads(void)
{
    enter_alone();
    on_thread(fill_list, 0);
    for (uintptr_t i = 0; i < 6; i++)
        on_thread(i < 5 ? sample_once : enter_two, i + 1);
    on_thread(sample_once, 7);
}

TEST(threads_beyond_the_limit_are_counted)
{
    const takt_trace *summary = record(TAKT_MODE_SUMMARY, run_more_threads);
    assert_int_equal(takt_trace_loss(summary, TAKT_LOSS_MORE_THREADS), 2);
    assert_int_equal(rows_of(summary, "threads", "thread "), 6);
    assert_int_equal(rows_of(summary, "threads", "main,"), 1);
    assert_int_equal(rows_of(summary, "threads", "(more threads),,2,"), 1);
    has_text(summary, "threads", "no room to list 2 more threads: the last row stands for all");
    has_text(summary, "threads", "; more threads 2;");
    is_like_its_file(summary);
}

static uint32_t threads_of(const tkt_scopes *scopes, const char *name)
{
    for (size_t i = 0; i < scopes->count; i++)
        if (strcmp(scopes->items[i].name, name) == 0)
            return scopes->items[i].threads;
    fail_msg("there is no scope %s", name);
    return 0;
}

TEST(scopes_of_listed_threads_keep_their_columns)
{
    tkt_scopes scopes = {0};
    const takt_trace *summary = record(TAKT_MODE_SUMMARY, run_more_threads);
    assert_int_equal(tkt_scopes_by_name(summary, false, &scopes), TAKT_OK);
    assert_int_equal(threads_of(&scopes, "scope 0"), 2);
    assert_int_equal(threads_of(&scopes, "scope 9"), 1);
    assert_int_equal(threads_of(&scopes, "of main"), 1);
    assert_int_equal(threads_of(&scopes, "of workers"), 0);
    assert_int_equal(threads_of(&scopes, "shared"), 0);
    tkt_scopes_fini(&scopes);
    has_text(summary, "scopes", "scopes that they entered have no columns of threads");
}

/* ---- Threads that wait ----------------------------------------------------------------------- */

static void spend(const char *name, uint64_t ns)
{
    takt_begin(name);
    pass_ns(ns);
    takt_end();
}

static void *serve(void *has_job)
{
    spend("wait for work", 1000);
    if (has_job)
        spend("job", 900);
    return NULL;
}

/* Main waits for a worker that works, or that waits too. */
static void wait_for_a_worker(bool works)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, serve, works ? &thread : NULL), 0);
    pthread_join(thread, NULL);
    spend("wait for the worker", 1200);
    spend("output", 600);
}

static void wait_for_a_working_thread(void)
{
    wait_for_a_worker(true);
}

static void wait_for_an_idle_thread(void)
{
    wait_for_a_worker(false);
}

TEST(no_wait_is_the_headline_of_a_summary)
{
    const takt_trace *summary = record(TAKT_MODE_SUMMARY, wait_for_a_working_thread);
    has_text(summary, "summary", "No scope stands out beside waits: job takes most");
    summary = record(TAKT_MODE_SUMMARY, wait_for_an_idle_thread);
    has_text(summary, "summary", "No scope stands out beside waits: output takes most");
}

/* ---- A time line that lacks scopes ----------------------------------------------------------- */

static void run_much(void)
{
    for (int i = 0; i < 20000; i++) {
        TAKT_SCOPE("step");
        pass_ns(10);
        TAKT_COUNTER("level", i % 2);
        takt_span_end(takt_span_begin(takt_track_named("disk"), "read"));
    }
}

/* The summary beside it lacks nothing, so what it knows is taken from there. */
TEST(tables_of_both_are_those_of_the_summary_if_the_time_line_lacks_scopes)
{
    const takt_trace *both = record_in(TAKT_MODE_BOTH, 64 << 10, run_much);
    assert_true(both->losses[TAKT_LOSS_BUFFER_FULL] > 1000);
    assert_int_equal(rows_of(both, "tasks", "read,disk,20000,"), 1);
    assert_int_equal(rows_of(both, "counters", "level,20000,"), 1);
    const takt_trace *summary = record(TAKT_MODE_SUMMARY, run_much);
    same_tables(both, summary);
    has_text(both, "threads", "regions are unknown");
}

/* Nobody knows what share of the wall time a thread worked, nor how long a value held. */
TEST(shares_of_a_time_line_that_lacks_scopes_are_unknown)
{
    const takt_trace *trace = record_in(TAKT_MODE_TRACE, 64 << 10, run_much);
    assert_true(trace->losses[TAKT_LOSS_BUFFER_FULL] > 1000);
    lacks_text(trace, "threads", "In scopes %");
    has_text(trace, "threads", "regions are unknown");
    assert_int_equal(rows_of(trace, "counters", "level,"), 1);
}

TEST_MAIN_EACH(begin_test, tear_down)
