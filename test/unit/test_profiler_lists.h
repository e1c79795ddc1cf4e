/* For tests of a summary's tables: recordings, and what the reports of counters, tasks and threads
 * say of them. */
#ifndef TEST_PROFILER_LISTS_H
#define TEST_PROFILER_LISTS_H

#include "test_profiler.h"

#include "support/memory_sink.h"
#include "support/trace_build.h"

static test_traces traces;
static takt_profiler *profiler;

static inline int tear_down(void **state)
{
    release_traces(&traces);
    return end_test(state);
}

static const char *const lists[] = {"counters", "tasks", "threads"};

enum {
    LISTS = sizeof lists / sizeof *lists
};

/* A recording of what `run` does in so much memory (0: plenty), which prints the three reports on
 * standard output. */
static inline const takt_trace *record_in(takt_mode mode, uint64_t bytes, void (*run)(void))
{
    takt_profiler_options options = options_for(&traces, (takt_schedule){.active = 1, .repeat = 1});
    options.mode = mode;
    options.max_memory_bytes = bytes;
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

static inline const takt_trace *record(takt_mode mode, void (*run)(void))
{
    return record_in(mode, 0, run);
}

/* The report as CSV, which tkt_free() frees: all rows and columns, no notes. */
static inline char *csv_of(const takt_trace *trace, const char *report)
{
    memory_sink memory = {0};
    takt_sink sink = memory_sink_of(&memory);
    const takt_report_options options = {
        .struct_size = sizeof options, .format = TAKT_FORMAT_CSV, .rows = -1};
    assert_int_equal(takt_report(trace, report, &options, &sink), TAKT_OK);
    assert_int_equal(sink.write(sink.user, "", 1), TAKT_OK);
    return memory.data;
}

static inline char *text_of(const takt_trace *trace, const char *report)
{
    memory_sink memory = {0};
    takt_sink sink = memory_sink_of(&memory);
    const takt_report_options options = {.struct_size = sizeof options, .rows = -1, .width = 200};
    assert_int_equal(takt_report(trace, report, &options, &sink), TAKT_OK);
    assert_int_equal(sink.write(sink.user, "", 1), TAKT_OK);
    return memory.data;
}

static inline void has_text(const takt_trace *trace, const char *report, const char *part)
{
    char *text = text_of(trace, report);
    if (!strstr(text, part))
        fail_msg("%s lacks \"%s\":\n%s", report, part, text);
    tkt_free(text);
}

static inline void lacks_text(const takt_trace *trace, const char *report, const char *part)
{
    char *text = text_of(trace, report);
    if (strstr(text, part))
        fail_msg("%s has \"%s\":\n%s", report, part, text);
    tkt_free(text);
}

static inline void same_table(const takt_trace *a, const takt_trace *b, const char *report)
{
    char *of_a = csv_of(a, report), *of_b = csv_of(b, report);
    assert_string_equal(of_a, of_b);
    tkt_free(of_a);
    tkt_free(of_b);
}

static inline void same_tables(const takt_trace *a, const takt_trace *b)
{
    for (size_t i = 0; i < LISTS; i++)
        same_table(a, b, lists[i]);
}

/* A file has the same tables and notes, and the same losses. */
static inline void is_like_its_file(const takt_trace *summary)
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

/* How many rows of the report begin with these cells. */
static inline size_t rows_of(const takt_trace *trace, const char *report, const char *begin)
{
    size_t count = 0;
    char *text = csv_of(trace, report);
    for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        count += strncmp(line, begin, strlen(begin)) == 0;
    tkt_free(text);
    return count;
}

#endif
