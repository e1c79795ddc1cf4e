/* The tables of a summary's counters, tasks and threads: those of a trace of the same run, and of
 * the summary's own file, however many names and threads the run had. */
#include "test_profiler.h"

#include "record/fold.h"
#include "report/show.h"
#include "trace/model.h"

#include "support/memory_sink.h"
#include "support/test.h"
#include "support/trace_build.h"

#include <pthread.h>

static test_traces traces;
static takt_profiler *profiler;

static int tear_down(void **state)
{
    release_traces(&traces);
    return end_test(state);
}

static const char *const lists[] = {"counters", "tasks", "threads"};

enum { LISTS = sizeof lists / sizeof *lists };

/* A recording of what `run` does, which prints the three reports on standard output. */
static const takt_trace *record(takt_mode mode, void (*run)(void))
{
    takt_profiler_options options = options_for(&traces, (takt_schedule){.active = 1, .repeat = 1});
    options.mode = mode;
    options.background = TAKT_OFF;
    options.reports = lists;
    options.report_count = LISTS;
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

static void same_tables(const takt_trace *a, const takt_trace *b)
{
    for (size_t i = 0; i < LISTS; i++) {
        char *of_a = csv_of(a, lists[i]), *of_b = csv_of(b, lists[i]);
        assert_string_equal(of_a, of_b);
        tkt_free(of_a);
        tkt_free(of_b);
    }
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

TEST_MAIN_EACH(begin_test, tear_down)
