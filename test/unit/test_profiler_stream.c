/* What becomes of a stream whose file cannot be written: the program goes on, one line says why,
 * the file says so too, and empty files are not left. */
#include "test_profiler_folder.h"

#include "base/alloc.h"
#include "profiler/stream.h"
#include "record/log.h"
#include "trace/model.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* ---- A disk that is full from some size on ----------------------------------------------------
 */

static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static int free_files(void **state)
{
    limit_files(RLIM_INFINITY);
    return tear_down(state);
}

static unsigned refusals; /* atomic; how often a file would have become too large */

/* Takes the place of the C library's function. */
ssize_t write(int fd, const void *data, size_t size)
{
    ssize_t written = syscall(SYS_write, fd, data, size);
    if (written < 0 && errno == EFBIG)
        __atomic_fetch_add(&refusals, 1, __ATOMIC_RELAXED);
    return written;
}

static void wait_for_refusals(unsigned count)
{
    unsigned before = __atomic_load_n(&refusals, __ATOMIC_RELAXED);
    while (__atomic_load_n(&refusals, __ATOMIC_RELAXED) - before < count)
        tkt_thread_pause_ms(1);
}

/* ---- Streams --------------------------------------------------------------------------------- */

static takt_profiler_options streamed(takt_mode mode, takt_schedule schedule)
{
    static const char *const formats[] = {"perfetto"};
    takt_profiler_options options = options_for(&traces, schedule);
    options.directory = folder;
    options.traces = formats;
    options.trace_count = 1;
    options.stream = true;
    options.mode = mode;
    tkt_stream_pause_ms = 1;
    return options;
}

/* So many scopes that a file of the trace grows by some kilobytes. */
static void step(takt_profiler *profiler, int scopes)
{
    for (int i = 0; i < scopes; i++) {
        TAKT_SCOPE("work");
        TAKT_ARG("number", rand());
    }
    pass_ns(1000000);
    assert_int_equal(takt_profiler_step(profiler), TAKT_OK);
}

static size_t count_told(const char *part)
{
    tkt_mutex_lock(&test_log_lock);
    size_t count = count_lines(TAKT_LOG_ERROR, part);
    tkt_mutex_unlock(&test_log_lock);
    return count;
}

static void wait_until_told(const char *part)
{
    while (count_told(part) == 0)
        tkt_thread_pause_ms(1);
}

static void step_until_told(takt_profiler *profiler, const char *part)
{
    while (count_told(part) == 0) {
        step(profiler, 100);
        tkt_thread_pause_ms(1);
    }
}

static size_t partial_bytes(void)
{
    return (size_t)tkt_file_bytes(in_folder(folder, "test.0.partial.pftrace"));
}

static void step_until_written(takt_profiler *profiler, size_t bytes)
{
    while (partial_bytes() < bytes) {
        step(profiler, 100);
        tkt_thread_pause_ms(1);
    }
}

static takt_status stop(takt_profiler *profiler)
{
    takt_status status = takt_profiler_stop(profiler);
    takt_profiler_destroy(profiler);
    return status;
}

/* The caller releases it. */
static takt_trace *assert_stopped(const char *name, int reason)
{
    takt_trace *trace;
    assert_int_equal(takt_trace_open(in_folder(folder, name), &trace, NULL), TAKT_OK);
    assert_int_equal(trace->facts.ending, TAKT_ENDING_STOPPED);
    assert_int_equal(trace->stopped_by, reason);
    return trace;
}

static void assert_no_empty_files(void)
{
    DIR *files = opendir(folder);
    struct stat facts;
    assert_non_null(files);
    for (struct dirent *file; (file = readdir(files)) != NULL;)
        assert_true(stat(in_folder(folder, file->d_name), &facts) == 0 && facts.st_size > 0);
    closedir(files);
}

/* ---- A stream of spans ----------------------------------------------------------------------- */

TEST(a_stream_that_cannot_be_written_on_says_why)
{
    takt_profiler_options options = streamed(TAKT_MODE_TRACE, (takt_schedule){.active = 1000000});
    takt_profiler *profiler = started(&options);
    step_until_written(profiler, 2000);
    limit_files(16384);
    step_until_told(profiler, "cycle 0: streaming has stopped: cannot write ");
    step(profiler, 10000); /* the complete file would be larger, too */
    assert_int_equal(stop(profiler), TAKT_IO_ERROR);
    assert_int_equal(count_lines(TAKT_LOG_ERROR, "test.0.partial.pftrace: File too large"), 1);
    assert_int_equal(count_lines(TAKT_LOG_ERROR, "cycle 0: no perfetto trace: cannot write "), 1);
    assert_int_equal(count_lines(TAKT_LOG_ERROR, ""), 2);
    takt_trace_release(assert_stopped("test.0.partial.pftrace", EFBIG));
    assert_int_equal(count_entries(folder), 1);
}

/* A trace that is read back and written again keeps the reason. */
TEST(the_reason_stays_in_other_files_of_the_trace)
{
    takt_profiler_options options = streamed(TAKT_MODE_TRACE, (takt_schedule){.active = 1000000});
    options.max_memory_bytes = 1 << 20;
    takt_profiler *profiler = started(&options);
    step_until_written(profiler, 2000);
    while (partial_bytes() < 300000) { /* of more spans than the memory holds */
        step(profiler, 10000);
        tkt_thread_pause_ms(1);
    }
    limit_files(partial_bytes());
    step_until_told(profiler, "cycle 0: streaming has stopped: cannot write ");
    limit_files(RLIM_INFINITY);
    assert_int_equal(stop(profiler), TAKT_IO_ERROR);
    takt_trace *trace = assert_stopped("test.0.pftrace", EFBIG);
    assert_true(trace->facts.span_count > 0);
    takt_trace_release(trace);
    assert_int_equal(count_entries(folder), 1);
}

/* A window and its stream, which is stopped. */
typedef struct streaming {
    tkt_saved_options options;
    tkt_window *window;
    tkt_run_steps run;
    tkt_stream *stream;
} streaming;

static void start_streaming(streaming *s)
{
    const takt_profiler_options given = streamed(TAKT_MODE_TRACE, (takt_schedule){.active = 1});
    const tkt_wish wish = {.modes = TKT_KEEP, .mask = TAKT_NORMAL_BIT};
    const tkt_all_steps all_steps = {.simulated_seconds = 0};
    const tkt_stream_cycle cycle = {.all_steps = &all_steps, .run = &s->run};
    *s = (streaming){.window = NULL};
    assert_int_equal(tkt_options_save(&s->options, &given), TAKT_OK);
    assert_int_equal(tkt_window_open(&wish, &s->window), TAKT_OK);
    s->stream = tkt_stream_start(&s->options, &cycle, s->window);
    assert_non_null(s->stream);
}

static void end_streaming(streaming *s)
{
    pass_ns(1000);
    tkt_window_end(s->window, tkt_ticks());
    tkt_stream_stop(s->stream);
}

static void free_streaming(streaming *s)
{
    tkt_stream_destroy(s->stream, false);
    tkt_window_close(s->window);
    tkt_options_fini(&s->options);
}

TEST(a_stream_that_cannot_be_ended_says_so)
{
    streaming s;
    takt_trace *trace = NULL;
    takt_error error;
    start_streaming(&s);
    end_streaming(&s);
    assert_false(tkt_stream_is_broken(s.stream));
    limit_files(partial_bytes());
    assert_int_equal(tkt_stream_read_back(s.stream, false, 0, &trace, &error), TAKT_OK);
    limit_files(RLIM_INFINITY);
    assert_null(trace);
    assert_true(tkt_stream_is_broken(s.stream));
    assert_int_equal(count_told("cycle 0: streaming has stopped: cannot write "), 1);
    free_streaming(&s);
    takt_trace_release(assert_stopped("test.0.partial.pftrace", EFBIG));
}

/* A file that is too large to be read back is completed all the same. */
TEST(a_large_stream_is_partial_only_if_its_cycle_is_cut_off)
{
    for (int is_partial = 0; is_partial < 2; is_partial++) {
        streaming s;
        takt_trace *trace = NULL;
        takt_error error;
        start_streaming(&s);
        end_streaming(&s);
        assert_int_equal(tkt_stream_read_back(s.stream, is_partial, 0, &trace, &error), TAKT_OK);
        assert_null(trace);
        assert_int_equal(takt_trace_open(tkt_stream_path(s.stream), &trace, &error), TAKT_OK);
        assert_int_equal(takt_trace_facts(trace)->ending, TAKT_ENDING_WHOLE);
        assert_int_equal(takt_trace_facts(trace)->is_partial, is_partial);
        takt_trace_release(trace);
        free_streaming(&s);
    }
}

/* The calls of "work" in the trace's tree. */
static uint64_t calls_in_tree(const takt_trace *trace)
{
    takt_node_info node = {.name = ""};
    for (size_t i = 0; strcmp(node.name, "work") != 0; i++)
        assert_int_equal(takt_trace_node(trace, i, &node), TAKT_OK);
    return node.durations.count;
}

TEST(a_stream_of_both_has_the_sums_of_what_was_dropped)
{
    takt_profiler_options options = streamed(TAKT_MODE_BOTH, (takt_schedule){.active = 1000000});
    options.max_memory_bytes = 64 << 10;
    takt_profiler *profiler = started(&options);
    step_until_written(profiler, 2000);
    for (int i = 0; i < 20; i++) { /* more than the memory holds */
        step(profiler, 10000);
        tkt_thread_pause_ms(1);
    }
    assert_int_equal(stop(profiler), TAKT_OK);
    takt_trace *trace;
    assert_int_equal(takt_trace_open(in_folder(folder, "test.0.pftrace"), &trace, NULL), TAKT_OK);
    assert_true(calls_in_tree(trace) > count_spans(trace, "work"));
    assert_int_equal(calls_in_tree(trace), calls_in_tree(traces.items[0]));
    takt_trace_release(trace);
}

/* Without scopes, whose end may be dropped. */
static uint64_t count_open_tasks(const takt_trace *trace)
{
    uint64_t count = 0;
    takt_track_info track;
    takt_span_info span;
    for (size_t t = 0; takt_trace_track(trace, t, &track) == TAKT_OK; t++)
        for (size_t i = 0; takt_trace_span(trace, t, i, &span) == TAKT_OK; i++)
            count += track.kind != TAKT_TRACK_THREAD && (span.flags & TAKT_SPAN_UNFINISHED);
    return count;
}

/* Waits until the file that is being written has three tasks, so many of them unfinished. */
static void wait_for_open_tasks(takt_profiler *profiler, uint64_t count)
{
    bool are_there = false;
    while (!are_there) {
        takt_trace *trace = NULL;
        step(profiler, 100);
        tkt_thread_pause_ms(1);
        are_there =
            takt_trace_open(in_folder(folder, "test.0.partial.pftrace"), &trace, NULL) == TAKT_OK &&
            count_spans(trace, "task") == 2 && count_spans(trace, "other") == 1 &&
            count_open_tasks(trace) == count;
        takt_trace_release(trace);
    }
}

/* What a killed program leaves has its open tasks; a task that ends later ends once. */
TEST(a_stream_has_tasks_that_are_open)
{
    takt_profiler_options options = streamed(TAKT_MODE_TRACE, (takt_schedule){.active = 1000000});
    options.max_memory_bytes = 64 << 10; /* so that the whole trace is that of the file */
    takt_profiler *profiler = started(&options);
    takt_track track = takt_track_named("jobs");
    uint64_t begin_ns = read_test_clock();
    takt_span first = takt_span_begin(track, "task"), second = takt_span_begin(track, "task");
    takt_span third = takt_span_begin(track, "other");
    wait_for_open_tasks(profiler, 3);
    takt_span_end(first);
    uint64_t first_ns = read_test_clock() - begin_ns;
    wait_for_open_tasks(profiler, 2);
    takt_span_end(third);
    takt_span_end(takt_span_begin(track, "short"));
    wait_for_open_tasks(profiler, 1);
    for (int i = 0; i < 20; i++) { /* more than the memory holds */
        step(profiler, 10000);
        tkt_thread_pause_ms(1);
    }
    assert_int_equal(stop(profiler), TAKT_OK);
    takt_span_end(second);
    const takt_trace *trace = traces.items[0];
    takt_span_info span;
    assert_int_equal(count_spans(trace, "task"), 2);
    assert_int_equal(count_spans(trace, "other"), 1);
    assert_int_equal(count_spans(trace, "short"), 1);
    assert_int_equal(count_open_tasks(trace), 1);
    size_t ended = 0;
    for (size_t t = 0; t < takt_trace_count(trace, TAKT_TRACE_TRACKS); t++)
        for (size_t i = 0; takt_trace_span(trace, t, i, &span) == TAKT_OK; i++)
            ended += strcmp(span.name, "task") == 0 && span.end_ns - span.begin_ns == first_ns;
    assert_int_equal(ended, 1);
}

/* Records in little memory, and waits for the stream, so that nothing is dropped. One allocation
 * fails. */
static takt_status record_with_a_failure(uint64_t after, int steps, int scopes)
{
    takt_profiler_options options = streamed(TAKT_MODE_TRACE, (takt_schedule){.active = 1000000});
    options.max_memory_bytes = 64 << 10;
    takt_profiler *profiler = started(&options);
    tkt_alloc_fail(after, 1);
    for (int i = 0; i < steps; i++) {
        for (int k = 0; k < scopes; k++) {
            TAKT_SCOPE("outer");
            TAKT_SCOPE("work");
            pass_ns(10);
        }
        takt_profiler_step(profiler);
        while (tkt_pool_used_bytes() > tkt_pool_limit_bytes() / 2 && count_told("") == 0) {
            pass_ns(10);
            tkt_thread_pause_ms(1);
        }
    }
    tkt_alloc_fail(0, 0);
    return stop(profiler);
}

TEST(a_stream_that_lacks_memory_says_what_it_lacks)
{
    for (uint64_t after = 0; after < 150; after++) {
        takt_status status = record_with_a_failure(after, 10, 400);
        uint64_t lost = 0;
        const takt_trace *trace = traces.count ? traces.items[0] : NULL;
        for (int i = 0; trace && i < TAKT_LOSS_COUNT; i++)
            lost += takt_trace_loss(trace, (takt_loss)i);
        if (trace && status == TAKT_OK && lost == 0)
            assert_int_equal(count_spans(trace, "work"), 10 * 400);
        release_traces(&traces);
        forget_lines();
    }
}

TEST(a_stream_that_cannot_begin_leaves_no_file)
{
    takt_profiler_options options = streamed(TAKT_MODE_TRACE, (takt_schedule){.active = 10});
    limit_files(1);
    takt_profiler *profiler = started(&options);
    wait_until_told("cycle 0 is not streamed: cannot write ");
    assert_int_equal(count_lines(TAKT_LOG_ERROR, "test.0.partial.pftrace: File too large"), 1);
    assert_int_equal(count_entries(folder), 0);
    assert_int_equal(stop(profiler), TAKT_IO_ERROR);
    assert_int_equal(count_entries(folder), 0);
}

TEST(the_next_cycle_is_streamed_again)
{
    takt_profiler_options options = streamed(TAKT_MODE_TRACE, (takt_schedule){.active = 2});
    limit_files(1);
    takt_profiler *profiler = started(&options);
    wait_until_told("cycle 0 is not streamed");
    step(profiler, 10);
    limit_files(RLIM_INFINITY);
    step(profiler, 10); /* the next cycle begins */
    while (!exists(folder, "test.1.partial.pftrace"))
        tkt_thread_pause_ms(1);
    step(profiler, 10);
    step(profiler, 10);
    assert_int_equal(stop(profiler), TAKT_IO_ERROR);
    assert_true(exists(folder, "test.1.pftrace"));
    assert_false(exists(folder, "test.1.partial.pftrace"));
    assert_int_equal(count_lines(TAKT_LOG_ERROR, "cycle 1"), 0);
    assert_no_empty_files();
}

/* The stream is written to its end, but the complete file is not. */
TEST(a_stream_without_its_complete_file_says_so)
{
    takt_profiler_options options = streamed(TAKT_MODE_TRACE, (takt_schedule){.active = 1000000});
    takt_profiler *profiler = started(&options);
    for (int i = 0; i < 3; i++)
        step(profiler, 100);
    for (int i = 1; i <= 10000; i++) { /* more names are not tried */
        char name[64];
        snprintf(name, sizeof name, i == 1 ? "test.0.pftrace" : "test.0-%d.pftrace", i);
        assert_int_equal(symlink("nothing", in_folder(folder, name)), 0);
    }
    assert_int_equal(stop(profiler), TAKT_IO_ERROR);
    assert_int_equal(count_lines(TAKT_LOG_ERROR, ""), 1);
    takt_trace *trace = assert_stopped("test.0.partial.pftrace", TKT_FILE_NOT_WHOLE);
    assert_int_equal(trace->steps.count, 3);
    takt_trace_release(trace);
}

/* ---- A stream of a summary ------------------------------------------------------------------- */

TEST(a_summary_that_cannot_be_written_is_tried_again)
{
    takt_profiler_options options = streamed(TAKT_MODE_SUMMARY, (takt_schedule){.active = 1000000});
    limit_files(1);
    takt_profiler *profiler = started(&options);
    step_until_told(profiler, "cycle 0: the summary so far is not saved: cannot write ");
    wait_for_refusals(4); /* further snapshots fail, and are not told */
    limit_files(RLIM_INFINITY);
    step_until_written(profiler, 100);
    assert_int_equal(count_told(""), 1);
    assert_int_equal(count_told("test.0.partial.pftrace: File too large"), 1);
    assert_int_equal(stop(profiler), TAKT_OK);
    assert_int_equal(count_entries(folder), 1);
}

TEST(a_summary_that_cannot_be_written_leaves_no_empty_file)
{
    takt_profiler_options options = streamed(TAKT_MODE_SUMMARY, (takt_schedule){.active = 1000000});
    limit_files(1);
    takt_profiler *profiler = started(&options);
    step_until_told(profiler, "cycle 0: the summary so far is not saved: cannot write ");
    while (count_entries(folder) > 0) /* it is removed after the line */
        tkt_thread_pause_ms(1);
    assert_int_equal(stop(profiler), TAKT_IO_ERROR);
    assert_int_equal(count_entries(folder), 0);
}

TEST(a_summary_that_is_not_replaced_any_more_says_why)
{
    takt_profiler_options options = streamed(TAKT_MODE_SUMMARY, (takt_schedule){.active = 1000000});
    takt_profiler *profiler = started(&options);
    step_until_written(profiler, 100);
    limit_files(100);
    step_until_told(profiler, "cycle 0: the summary so far is not saved: cannot write ");
    assert_int_equal(stop(profiler), TAKT_IO_ERROR);
    takt_trace_release(assert_stopped("test.0.partial.pftrace", EFBIG));
    assert_int_equal(count_entries(folder), 1);
}

/* ---- Names ----------------------------------------------------------------------------------- */

static bool find_partial(char *name, size_t size)
{
    bool is_found = false;
    DIR *files = opendir(folder);
    assert_non_null(files);
    for (struct dirent *file; (file = readdir(files)) != NULL;)
        if (strstr(file->d_name, ".0.partial.pftrace")) {
            snprintf(name, size, "%s", file->d_name);
            is_found = true;
        }
    closedir(files);
    return is_found;
}

/* The stream's file is named as the complete file is, whatever the run's name. */
TEST(long_and_strange_names_are_those_of_the_complete_file)
{
    char wide[2 * 120 + 1] = "", long_name[300];
    for (int i = 0; i < 120; i++)
        strcat(wide, "\u00fc");
    memset(long_name, 'x', sizeof long_name);
    long_name[sizeof long_name - 1] = '\0';
    const char *const names[] = {wide, long_name, ".hidden", "a b/c", "-x", "\xff"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char partial[600] = "";
        takt_profiler_options options = streamed(TAKT_MODE_TRACE, (takt_schedule){.active = 10});
        options.name = names[i];
        takt_profiler *profiler = started(&options);
        while (!find_partial(partial, sizeof partial)) /* the stream's thread makes it */
            tkt_thread_pause_ms(1);
        assert_true(partial[0] != '.');
        step(profiler, 10);
        assert_int_equal(stop(profiler), TAKT_OK);
        strcpy(strstr(partial, ".partial"), ".pftrace");
        assert_true(exists(folder, partial));
        assert_int_equal(count_entries(folder), i + 1);
    }
}

/* ---- What others do to the file -------------------------------------------------------------- */

TEST(a_summary_that_somebody_has_removed_is_written_again)
{
    takt_profiler_options options = streamed(TAKT_MODE_SUMMARY, (takt_schedule){.active = 1000000});
    takt_profiler *profiler = started(&options);
    step_until_written(profiler, 100);
    assert_int_equal(remove(in_folder(folder, "test.0.partial.pftrace")), 0);
    step_until_written(profiler, 100);
    assert_int_equal(stop(profiler), TAKT_OK);
    assert_int_equal(count_entries(folder), 1);
}

TEST(a_summary_whose_folder_somebody_has_removed_is_written_again)
{
    takt_profiler_options options = streamed(TAKT_MODE_SUMMARY, (takt_schedule){.active = 1000000});
    takt_profiler *profiler = started(&options);
    step_until_written(profiler, 100);
    remove_folder(folder);
    step_until_written(profiler, 100);
    assert_int_equal(stop(profiler), TAKT_OK);
    assert_int_equal(count_entries(folder), 1);
}

/* What is in memory is not freed for a file that nobody can read: the complete file has it. */
TEST(a_stream_whose_file_somebody_has_removed_stops)
{
    takt_profiler_options options = streamed(TAKT_MODE_TRACE, (takt_schedule){.active = 1000000});
    takt_profiler *profiler = started(&options);
    step_until_written(profiler, 2000);
    assert_int_equal(remove(in_folder(folder, "test.0.partial.pftrace")), 0);
    step_until_told(profiler, "cycle 0: streaming has stopped: somebody has removed or replaced ");
    step(profiler, 100);
    uint64_t steps = takt_profiler_step_number(profiler);
    assert_int_equal(stop(profiler), TAKT_IO_ERROR);
    assert_int_equal(count_lines(TAKT_LOG_ERROR, ""), 1);
    takt_trace *trace;
    assert_int_equal(takt_trace_open(in_folder(folder, "test.0.pftrace"), &trace, NULL), TAKT_OK);
    assert_int_equal(count_spans(trace, "work"), 100 * steps);
    takt_trace_release(trace);
    assert_int_equal(count_entries(folder), 1);
}

/* Another program writes its own file under the name. */
static void place_other_file(void)
{
    FILE *file = fopen(in_folder(folder, "other"), "w");
    assert_non_null(file);
    fputs("precious", file);
    fclose(file);
    assert_int_equal(
        rename(in_folder(folder, "other"), in_folder(folder, "test.0.partial.pftrace")), 0);
}

static bool other_file_is_there(void)
{
    char text[16] = "";
    FILE *file = fopen(in_folder(folder, "test.0.partial.pftrace"), "r");
    assert_non_null(file);
    bool is_read = fgets(text, sizeof text, file) != NULL;
    fclose(file);
    return is_read && strcmp(text, "precious") == 0;
}

/* Unless a snapshot takes its place in that moment: then it is placed again. */
TEST(the_file_of_another_in_its_place_is_left_alone)
{
    takt_profiler_options options = streamed(TAKT_MODE_SUMMARY, (takt_schedule){.active = 1000000});
    takt_profiler *profiler = started(&options);
    step_until_written(profiler, 100);
    while (!exists(folder, "test.0-2.partial.pftrace")) {
        if (!other_file_is_there())
            place_other_file();
        step(profiler, 10);
        tkt_thread_pause_ms(1);
    }
    assert_int_equal(stop(profiler), TAKT_OK);
    assert_true(other_file_is_there());
    assert_int_equal(count_entries(folder), 2);
}

TEST_MAIN_EACH(set_up, free_files)
