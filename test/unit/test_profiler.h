/* What tests of the profiler share: a clock that the test drives, and what the library says, prints
 * and delivers. */
#ifndef TEST_PROFILER_H
#define TEST_PROFILER_H

#include "base/clock.h"
#include "base/lock.h"
#include "base/thread.h"

#include <takt/takt.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/test.h"

/* ---- Time: ticks are nanoseconds, and pass when the test says so ----------------------------- */

static uint64_t test_clock_ns = 1000000;

static inline uint64_t read_test_clock(void)
{
    return __atomic_load_n(&test_clock_ns, __ATOMIC_RELAXED);
}

static inline void pass_ns(uint64_t ns)
{
    __atomic_fetch_add(&test_clock_ns, ns, __ATOMIC_RELAXED);
}

/* ---- Log lines ------------------------------------------------------------------------------- */

enum { TEST_MAX_LINES = 200 };

typedef struct test_line {
    takt_log_level level;
    char           text[600];
} test_line;

static tkt_mutex test_log_lock = TKT_MUTEX_INIT;
static test_line test_lines[TEST_MAX_LINES]; /* lock */
static size_t test_line_count;               /* lock */

static inline void keep_line(takt_log_level level, const char *line, void *user)
{
    (void)user;
    tkt_mutex_lock(&test_log_lock);
    if (test_line_count < TEST_MAX_LINES) {
        test_line *kept = &test_lines[test_line_count++];
        kept->level = level;
        snprintf(kept->text, sizeof kept->text, "%s", line);
    }
    tkt_mutex_unlock(&test_log_lock);
}

static inline void forget_lines(void)
{
    test_line_count = 0;
}

/* How many lines of that level, or of any for -1, hold `part`. */
static inline size_t count_lines(int level, const char *part)
{
    size_t count = 0;
    for (size_t i = 0; i < test_line_count; i++)
        count += (level < 0 || (int)test_lines[i].level == level) &&
                 strstr(test_lines[i].text, part) != NULL;
    return count;
}

/* All lines of that level, each with a newline; static storage. */
static inline const char *lines_of(takt_log_level level)
{
    static char all[TEST_MAX_LINES * sizeof test_lines[0].text];
    size_t used = 0;
    all[0] = '\0';
    for (size_t i = 0; i < test_line_count; i++)
        if (test_lines[i].level == level)
            used += (size_t)snprintf(all + used, sizeof all - used, "%s\n", test_lines[i].text);
    return all;
}

/* ---- Fixtures: the test's clock, and log lines that are kept ---------------------------------- */

static inline int begin_test(void **state)
{
    (void)state;
    tkt_clock_fake(read_test_clock);
    takt_set_log(keep_line, NULL);
    forget_lines();
    return 0;
}

static inline int end_test(void **state)
{
    (void)state;
    takt_set_log(NULL, NULL);
    tkt_clock_fake(NULL);
    return 0;
}

/* ---- Standard output ------------------------------------------------------------------------- */

static int test_real_stdout = -1;
static FILE *test_stdout;

static inline void capture_stdout(void)
{
    fflush(stdout);
    test_stdout = tmpfile();
    assert_non_null(test_stdout);
    test_real_stdout = dup(STDOUT_FILENO);
    dup2(fileno(test_stdout), STDOUT_FILENO);
}

/* What was printed since; static storage. */
static inline const char *captured_stdout(void)
{
    static char text[64 * 1024];
    fflush(stdout);
    dup2(test_real_stdout, STDOUT_FILENO);
    close(test_real_stdout);
    rewind(test_stdout);
    text[fread(text, 1, sizeof text - 1, test_stdout)] = '\0';
    fclose(test_stdout);
    return text;
}

/* ---- Traces ---------------------------------------------------------------------------------- */

enum { TEST_MAX_TRACES = 32 };

/* What on_trace was given. */
typedef struct test_traces {
    const takt_trace *items[TEST_MAX_TRACES];
    size_t            count;
    const char       *inside; /* what the program calls at the moment */
    const char       *arrived_in[TEST_MAX_TRACES];
    uint32_t          threads[TEST_MAX_TRACES];
} test_traces;

static inline void keep_trace(const takt_trace *trace, void *user)
{
    test_traces *traces = user;
    if (traces->count == TEST_MAX_TRACES)
        return;
    traces->arrived_in[traces->count] = traces->inside;
    traces->threads[traces->count] = tkt_thread_id();
    traces->items[traces->count++] = takt_trace_retain(trace);
}

static inline void release_traces(test_traces *traces)
{
    for (size_t i = 0; i < traces->count; i++)
        takt_trace_release(traces->items[i]);
    *traces = (test_traces){0};
}

/* Options that deliver to `traces`. */
static inline takt_profiler_options options_for(test_traces *traces, takt_schedule schedule)
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    options.schedule = schedule;
    options.on_trace = keep_trace;
    options.user = traces;
    options.name = "test";
    return options;
}

static inline takt_profiler *started(const takt_profiler_options *options)
{
    takt_profiler *profiler = NULL;
    assert_int_equal(takt_profiler_create(options, &profiler), TAKT_OK);
    assert_int_equal(takt_profiler_start(profiler), TAKT_OK);
    return profiler;
}

/* How many spans of that name the trace has. */
static inline size_t count_spans(const takt_trace *trace, const char *name)
{
    size_t found = 0;
    for (size_t t = 0; t < takt_trace_count(trace, TAKT_TRACE_TRACKS); t++) {
        takt_track_info track;
        takt_trace_track(trace, t, &track);
        for (size_t i = 0; i < track.span_count; i++) {
            takt_span_info span;
            takt_trace_span(trace, t, i, &span);
            found += strcmp(span.name, name) == 0;
        }
    }
    return found;
}

#endif
