/* The tables of a summary's counters, tasks and threads: those of a trace of the same run, and of
 * the summary's own file, however many names and threads the run had. */
#include "test_profiler.h"

#include "record/fold.h"
#include "summary/scopes.h"
#include "trace/model.h"

#include "support/memory_sink.h"
#include "support/test.h"
#include "support/trace_build.h"

#include <math.h>
#include <pthread.h>

static test_traces traces;
static takt_profiler *profiler;

static int tear_down(void **state)
{
    release_traces(&traces);
    return end_test(state);
}

static const char *const lists[] = {"counters", "tasks", "threads"};

enum {
    LISTS = sizeof lists / sizeof *lists
};

/* A recording of what `run` does, which prints the three reports on standard output. */
static const takt_trace *record(takt_mode mode, void (*run)(void))
{
    takt_profiler_options options = options_for(&traces, (takt_schedule){.active = 1, .repeat = 1});
    options.mode = mode;
    options.background = TAKT_OFF;
    options.reports = lists;
    options.report_count = LISTS;
    pass_ns(10); /* past the last recording */
    capture_stdout();
    profiler = started(&options);
    run();
    takt_profiler_step(profiler);
    takt_status status = takt_profiler_stop(profiler);
    takt_profiler_destroy(profiler);
    captured_stdout();
    assert_int_equal(status, TAKT_OK);
    assert_string_equal(lines_of(TAKT_LOG_WARNING), "");
    return traces.items[traces.count - 1];
}

/* The report as CSV, which tkt_free() frees: all rows and columns, no notes. */
static char *csv_of(const takt_trace *trace, const char *report)
{
    memory_sink memory = {0};
    takt_sink sink = memory_sink_of(&memory);
    const takt_report_options options = {
        .struct_size = sizeof options, .format = TAKT_FORMAT_CSV, .rows = -1};
    assert_int_equal(takt_report(trace, report, &options, &sink), TAKT_OK);
    assert_int_equal(sink.write(sink.user, "", 1), TAKT_OK);
    return memory.data;
}

static char *text_of(const takt_trace *trace, const char *report)
{
    memory_sink memory = {0};
    takt_sink sink = memory_sink_of(&memory);
    const takt_report_options options = {.struct_size = sizeof options, .rows = -1, .width = 200};
    assert_int_equal(takt_report(trace, report, &options, &sink), TAKT_OK);
    assert_int_equal(sink.write(sink.user, "", 1), TAKT_OK);
    return memory.data;
}

static void has_text(const takt_trace *trace, const char *report, const char *part)
{
    char *text = text_of(trace, report);
    if (!strstr(text, part))
        fail_msg("%s lacks \"%s\":\n%s", report, part, text);
    tkt_free(text);
}

static void lacks_text(const takt_trace *trace, const char *report, const char *part)
{
    char *text = text_of(trace, report);
    if (strstr(text, part))
        fail_msg("%s has \"%s\":\n%s", report, part, text);
    tkt_free(text);
}

static void same_table(const takt_trace *a, const takt_trace *b, const char *report)
{
    char *of_a = csv_of(a, report), *of_b = csv_of(b, report);
    assert_string_equal(of_a, of_b);
    tkt_free(of_a);
    tkt_free(of_b);
}

static void same_tables(const takt_trace *a, const takt_trace *b)
{
    for (size_t i = 0; i < LISTS; i++)
        same_table(a, b, lists[i]);
}

/* A file has the same tables and notes, and the same losses. */
static void is_like_its_file(const takt_trace *summary)
{
    takt_trace *back = write_and_read(summary);
    same_tables(summary, back);
    for (size_t i = 0; i < LISTS; i++) {
        char *live = text_of(summary, lists[i]), *read = text_of(back, lists[i]);
        assert_string_equal(read, live);
        tkt_free(live);
        tkt_free(read);
    }
    for (int i = 0; i < TAKT_LOSS_COUNT; i++)
        assert_int_equal(takt_trace_loss(back, (takt_loss)i),
                         takt_trace_loss(summary, (takt_loss)i));
    takt_trace_release(back);
}

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

/* ---- Many names ------------------------------------------------------------------------------ */

/* How many rows of the report begin with these cells. */
static size_t rows_of(const takt_trace *trace, const char *report, const char *begin)
{
    size_t count = 0;
    char *text = csv_of(trace, report);
    for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        count += strncmp(line, begin, strlen(begin)) == 0;
    tkt_free(text);
    return count;
}

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

/* ---- Means of counters ----------------------------------------------------------------------- */

static void push(double size)
{
    pass_ns(3);
    TAKT_COUNTER("size", size);
}

static void pop(double size)
{
    pass_ns(5);
    TAKT_COUNTER("size", size);
}

/* One thread samples at two places, by turns; values that are not finite; one that held no time. */
static void sample_at_two_places(void)
{
    for (int i = 0; i < 2000; i++) {
        push(i % 11);
        push(i % 7);
        pop(i % 5);
    }
    takt_counter("far", -INFINITY);
    pass_ns(4);
    takt_counter("far", 2);
    pass_ns(4);
    takt_counter("far", 6);
    pass_ns(8);
    takt_counter("far", INFINITY);
    pass_ns(8);
    takt_counter("never", NAN);
    pass_ns(1);
    takt_counter("at the end", 5);
}

TEST(places_of_one_thread_share_a_mean)
{
    const takt_trace *trace = record(TAKT_MODE_TRACE, sample_at_two_places);
    const takt_trace *summary = record(TAKT_MODE_SUMMARY, sample_at_two_places);
    assert_int_equal(rows_of(summary, "counters", "size,6000,0,"), 1);
    assert_int_equal(rows_of(summary, "counters", "far,4,"), 1);
    same_table(trace, summary, "counters");
    lacks_text(summary, "counters", "by turns");
    lacks_text(summary, "counters", "Change per step");
    has_text(trace, "counters", "Change per step");
    is_like_its_file(summary);
}

enum {
    IN_A_ROW = 5
};

static pthread_mutex_t turn_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t next_turn = PTHREAD_COND_INITIALIZER;
static unsigned turn;   /* lock */
static unsigned rounds; /* each thread has as many turns */
static unsigned order[IN_A_ROW] = {3, 0, 4, 2,
                                   1}; /* of the threads, which appear as 0, 1, 2, ... */

static void take_turn(unsigned number, unsigned of, void (*then)(unsigned number))
{
    pthread_mutex_lock(&turn_lock);
    while (turn != of)
        pthread_cond_wait(&next_turn, &turn_lock);
    then(number);
    turn++;
    pthread_cond_broadcast(&next_turn);
    pthread_mutex_unlock(&turn_lock);
}

static void sample_ten(unsigned number)
{
    for (unsigned i = 0; i < 10; i++)
        push(number * 100 + i);
}

static void appear(unsigned number)
{
    (void)number;
    takt_mark("appears");
}

/* A thread gets its log when it appears; it samples when it is its turn. */
static void *sample_by_turns(void *argument)
{
    unsigned number = (unsigned)(uintptr_t)argument;
    take_turn(number, number, appear);
    for (unsigned round = 0; round < rounds; round++)
        take_turn(number, IN_A_ROW * (1 + round) + order[number], sample_ten);
    return NULL;
}

static void sample_on_threads(void)
{
    pthread_t threads[IN_A_ROW];
    turn = 0;
    for (uintptr_t i = 0; i < IN_A_ROW; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, sample_by_turns, (void *)i), 0);
    for (unsigned i = 0; i < IN_A_ROW; i++)
        pthread_join(threads[i], NULL);
}

TEST(threads_that_sample_one_after_another_share_a_mean)
{
    rounds = 1;
    const takt_trace *trace = record(TAKT_MODE_TRACE, sample_on_threads);
    const takt_trace *summary = record(TAKT_MODE_SUMMARY, sample_on_threads);
    assert_int_equal(rows_of(summary, "counters", "size,50,100,"), 1);
    same_table(trace, summary, "counters");
    lacks_text(summary, "counters", "by turns");
    is_like_its_file(summary);
}

TEST(a_mean_that_is_not_known_is_told)
{
    rounds = 2;
    const takt_trace *summary = record(TAKT_MODE_SUMMARY, sample_on_threads);
    assert_int_equal(rows_of(summary, "counters", "size,100,100,209,0,,409,"), 1);
    has_text(summary, "counters", "does not know the mean of what threads set by turns");
    is_like_its_file(summary);
}

TEST_MAIN_EACH(begin_test, tear_down)
