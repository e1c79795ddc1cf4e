/* takt_report() itself: names, options, failures, empty traces, and that a folded trace prints the
 * text of the full one. */
#include "support/test.h"
#include "support/report_traces.h"
#include "support/skip.h"
#include "support/trace_build.h"
#include "report/show.h"
#include "summary/named.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

static takt_status eat(void *user, const void *data, size_t size)
{
    (void)data;
    *(size_t *)user += size;
    return TAKT_OK;
}

/* Into memory that is there already. */
static takt_status keep(void *user, const void *data, size_t size)
{
    tkt_writer *into = user;
    assert_true(into->used + size < into->capacity);
    memcpy(into->buffer + into->used, data, size);
    into->used += size;
    return TAKT_OK;
}

static takt_status refuse(void *user, const void *data, size_t size)
{
    (void)user;
    (void)data;
    (void)size;
    return TAKT_IO_ERROR;
}

/* The status, having asserted that a failure wrote nothing. */
static takt_status call(const takt_trace *trace, const char *name,
                        const takt_report_options *options)
{
    size_t bytes = 0;
    takt_report_options room;
    takt_sink sink = {eat, &bytes};
    takt_status status = takt_report(trace, name, sized(options, &room), &sink);
    assert_int_equal(status == TAKT_OK, bytes > 0);
    return status;
}

TEST(every_report_has_a_name)
{
    size_t count = 0;
    for (; takt_report_name(count); count++)
        continue;
    assert_true(count >= 12);
    assert_null(takt_report_name(SIZE_MAX));
}

/* Each column that a report shows of a trace is one that it can have, by its key and its title. */
static void assert_columns_are_sought(const takt_trace *trace)
{
    static const struct {
        const char *name;
        tkt_show_function show;
    } reports[] = {
#define SHOWN(name, when, description) {#name, tkt_show_##name},
        TKT_REPORTS(SHOWN)
#undef SHOWN
    };
    const takt_report_options options = {
        .by_arguments = true, .by_stack = 2, .with_flops = true, .all = true, .full_names = true};
    for (size_t i = 0; i < sizeof reports / sizeof *reports; i++) {
        tkt_document document;
        tkt_document_init(&document, reports[i].name, trace);
        assert_int_equal(reports[i].show(&document, &options), TAKT_OK);
        for (size_t t = 0; t < document.table_count; t++)
            for (size_t c = 0; c < document.tables[t].column_count; c++) {
                const tkt_column *column = &document.tables[t].columns[c];
                if (!column->key)
                    continue;
                assert_string_equal(tkt_report_column(reports[i].name, column->key), column->key);
                assert_non_null(tkt_report_column(reports[i].name, column->title));
            }
        assert_null(tkt_report_column(reports[i].name, "no such column"));
        tkt_document_fini(&document);
    }
}

TEST(reports_know_the_columns_that_they_can_have)
{
    takt_trace *(*const makers[])(void) = {build_fluid, build_cuda};
    for (size_t i = 0; i < 2; i++) {
        takt_trace *trace = makers[i]();
        assert_columns_are_sought(trace);
        takt_trace_release(trace);
    }
    takt_trace *trace = build_launches(1);
    assert_columns_are_sought(trace);
    takt_trace_release(trace);
    assert_null(tkt_report_column("scopes", "grid"));
    assert_null(tkt_report_column("kernels", "self_cpu_ns"));
    assert_string_equal(tkt_report_column("scopes", "total_gflops"), "flops");
}

TEST(wrong_calls_are_refused)
{
    takt_trace *trace = build_fluid();
    size_t bytes = 0;
    takt_sink sink = {eat, &bytes};
    assert_int_equal(call(trace, "kernel", NULL), TAKT_NOT_FOUND);
    assert_int_equal(call(trace, "", NULL), TAKT_NOT_FOUND);
    assert_int_equal(call(trace, NULL, NULL), TAKT_BAD_ARGUMENT);
    assert_int_equal(takt_report(NULL, "scopes", NULL, &sink), TAKT_BAD_ARGUMENT);
    assert_int_equal(takt_report(trace, "scopes", NULL, NULL), TAKT_BAD_ARGUMENT);
    assert_int_equal(call(trace, "scopes", &(takt_report_options){.rows = -2}), TAKT_BAD_ARGUMENT);
    assert_int_equal(call(trace, "scopes", &(takt_report_options){.format = (takt_format)9}),
                     TAKT_BAD_ARGUMENT);
    for (size_t i = 0; takt_report_name(i); i++)
        assert_int_equal(call(trace, takt_report_name(i), &(takt_report_options){.sort = "colour"}),
                         TAKT_BAD_ARGUMENT);
    assert_int_equal(bytes, 0);
    takt_trace_release(trace);
}

TEST(older_and_newer_options_are_read)
{
    takt_trace *trace = build_fluid();
    struct {
        takt_report_options options;
        uint64_t more;
    } newer = {.options = {.struct_size = sizeof newer}};
    assert_int_equal(call(trace, "scopes", &newer.options), TAKT_OK);
    newer.more = 1;
    assert_int_equal(call(trace, "scopes", &newer.options), TAKT_BAD_ARGUMENT);
    takt_report_options older = {.struct_size = offsetof(takt_report_options, color)};
    older.full_names = true; /* behind what this caller knows of */
    char *a = report_of(trace, "scopes", &older);
    char *b = report_of(trace, "scopes", NULL);
    assert_string_equal(a, b);
    tkt_free(a);
    tkt_free(b);
    takt_trace_release(trace);
}

static void cut_provenance(char *text)
{
    static const char *const begins[] = {"backend none; ", "\"provenance\": "};
    for (size_t i = 0; i < 2; i++) {
        char *begin = strstr(text, begins[i]);
        if (begin)
            *begin = '\0';
    }
}

/* "timeline" and arguments need spans; all else prints the same text from either form, but what was
 * cut off at the begin and end of the recording. */
/* Only spans tell how scopes are spread over threads. */
TEST(scopes_of_folded_traces_lack_only_threads)
{
    static const char *const lacking[] = {"threads", "thread_min_ns", "thread_mean_ns",
                                          "thread_max_ns", "thread_imbalance"};
    takt_trace *full = build_fluid();
    full->memory_events.count = 0; /* a summary knows no single one */
    takt_trace *folded = build_folded(full);
    json_t *a = report_json(full, "scopes", NULL), *b = report_json(folded, "scopes", NULL);
    assert_int_equal(row_count(a), row_count(b));
    for (size_t i = 0; i < row_count(a); i++) {
        json_t *row = json_copy((json_t *)(uintptr_t)row_at(a, i));
        for (size_t k = 0; k < sizeof lacking / sizeof *lacking; k++)
            assert_int_equal(json_object_del(row, lacking[k]), 0);
        assert_true(json_equal(row, row_at(b, i)));
        json_decref(row);
    }
    json_decref(a);
    json_decref(b);
    takt_trace_release(full);
    takt_trace_release(folded);
}

TEST(folded_traces_print_the_same)
{
    static const char *const same[] = {"summary", "tree", "activities", "devices", "steps"};
    takt_trace *full = build_fluid();
    full->memory_events.count = 0; /* a summary knows no single one */
    full->facts.process_id = 0;    /* and the builder's folds know no main thread */
    takt_trace *folded = build_folded(full);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        for (int format = TAKT_FORMAT_TEXT; format <= TAKT_FORMAT_MARKDOWN; format++) {
            takt_report_options options = {.format = (takt_format)format, .with_flops = true};
            char *a = report_of(full, same[i], &options);
            char *b = report_of(folded, same[i], &options);
            cut_provenance(a);
            cut_provenance(b);
            assert_string_equal(a, b);
            tkt_free(a);
            tkt_free(b);
        }
    }
    assert_int_equal(call(folded, "timeline", NULL), TAKT_NO_SPANS);
    assert_int_equal(call(folded, "scopes", &(takt_report_options){.by_arguments = true}),
                     TAKT_NO_SPANS);
    char *memory = report_of(folded, "memory", NULL);
    assert_non_null(strstr(memory, "since start"));
    assert_null(strstr(memory, "Largest"));
    assert_non_null(strstr(memory, "Only full traces contain"));
    tkt_free(memory);
    takt_trace_release(full);
    takt_trace_release(folded);
}

TEST(recovered_summaries_know_of_no_cut_spans)
{
    takt_trace *full = build_fluid();
    takt_trace *folded = build_folded(full);
    char *text = report_of(full, "scopes", NULL);
    assert_non_null(strstr(text, "; begun before 1; unfinished 1"));
    tkt_free(text);
    text = report_of(folded, "scopes", NULL);
    assert_null(strstr(text, "begun before"));
    tkt_free(text);
    folded->memory = (tkt_memory_totals){0};
    text = report_of(folded, "memory", NULL);
    assert_non_null(strstr(text, "A recovered summary has no memory\n"));
    tkt_free(text);
    memset(&full->memory, 0, sizeof full->memory);
    text = report_of(full, "memory", NULL);
    assert_non_null(strstr(text, "The file has no totals of memory."));
    tkt_free(text);
    text = report_of(folded, "scopes", &(takt_report_options){.format = TAKT_FORMAT_JSON});
    assert_non_null(strstr(text, "\"begun_before\": null, \"unfinished\": null,"));
    tkt_free(text);
    takt_trace_release(full);
    takt_trace_release(folded);
}

TEST(printing_twice_gives_the_same_text)
{
    takt_trace *trace = build_fluid();
    takt_trace *again = build_fluid();
    for (size_t i = 0; takt_report_name(i); i++) {
        char *a = report_of(trace, takt_report_name(i), NULL);
        char *b = report_of(again, takt_report_name(i), NULL);
        char *c = report_of(trace, takt_report_name(i), NULL);
        assert_string_equal(a, b);
        assert_string_equal(a, c);
        tkt_free(a);
        tkt_free(b);
        tkt_free(c);
    }
    takt_trace_release(trace);
    takt_trace_release(again);
}

TEST(empty_traces_print)
{
    takt_trace *trace = build_begin(2000000);
    build_end(trace);
    for (size_t i = 0; takt_report_name(i); i++) {
        for (int format = TAKT_FORMAT_TEXT; format <= TAKT_FORMAT_MARKDOWN; format++) {
            takt_report_options options = {.format = (takt_format)format, .color = true};
            char *text = report_of(trace, takt_report_name(i), &options);
            assert_null(strstr(text, " nan"));
            if (format != TAKT_FORMAT_CSV)
                assert_non_null(strstr(text, "backend"));
            tkt_free(text);
        }
    }
    static const char *const nothing[][2] = {{"scopes", "No scopes\n"},
                                             {"tree", "No scopes\n"},
                                             {"timeline", "No activity\n"},
                                             {"steps", "No steps\n"},
                                             {"memory", "No memory reported\n"}};
    for (size_t i = 0; i < 5; i++) {
        char *text = report_of(trace, nothing[i][0], NULL);
        assert_ptr_equal(strstr(text, nothing[i][1]), text);
        tkt_free(text);
    }
    takt_trace_release(trace);
}

TEST(reports_of_nothing_explain_nothing)
{
    static const char *const reports[] = {"kernels", "api", "ops", "launches", "gaps"};
    takt_trace *trace = build_begin(2000000);
    build_end(trace);
    for (size_t i = 0; i < sizeof reports / sizeof *reports; i++) {
        takt_report_options options = {.format = TAKT_FORMAT_JSON};
        char *text = report_of(trace, reports[i], &options);
        assert_non_null(strstr(text, "\"notes\": []"));
        tkt_free(text);
    }
    takt_trace_release(trace);
}

/* However little room there is: the columns that stay take it. */
TEST(the_narrowest_text_has_all_rows)
{
    takt_trace *trace = build_fluid();
    for (uint32_t width = 1; width <= 60; width += 19) {
        char *text = report_of(trace, "scopes", &(takt_report_options){.width = width});
        assert_non_null(strstr(text, "density"));
        assert_non_null(strstr(text, "pressure"));
        tkt_free(text);
    }
    takt_trace_release(trace);
}

/* Of 12, by self time. */
TEST(the_summary_has_the_ten_hottest_scopes)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"};
    takt_trace *trace = build_begin(2000000);
    build_track(trace, "main");
    for (uint64_t i = 0; i < 12; i++)
        build_span(trace, 0, build_site(trace, names[i]), TKT_NO_SPAN, 1000000 + 1000 * i,
                   1000000 + 1000 * i + 500 + i);
    build_end(trace);
    char *text =
        report_of(trace, "summary", &(takt_report_options){.format = TAKT_FORMAT_MARKDOWN});
    const char *before = text;
    for (size_t i = 12; i-- > 2;) {
        char row[8];
        snprintf(row, sizeof row, "\n| %s |", names[i]);
        const char *at = strstr(text, row);
        assert_true(at && at >= before);
        before = at;
    }
    assert_null(strstr(text, "\n| a |"));
    assert_null(strstr(text, "\n| b |"));
    assert_non_null(strstr(text, "\n10 of 12 rows shown\n"));
    tkt_free(text);
    takt_trace_release(trace);
}

TEST(one_unfinished_span_is_one_row)
{
    takt_trace *trace = build_begin(3000000);
    build_track(trace, "main");
    build_span(trace, 0, build_site(trace, "step"), TKT_NO_SPAN, 1000000, 3000000);
    trace->tracks.items[0].spans.items[0].site_flags |=
        TAKT_SPAN_UNFINISHED | TAKT_SPAN_BEGUN_BEFORE;
    build_end(trace);
    char *text = report_of(trace, "scopes", &(takt_report_options){.width = 160});
    assert_non_null(strstr(text, "step     100.00%   2.000ms      100.00%    2.000ms"
                                 "                         1    1\n"));
    assert_non_null(strstr(text, "Self CPU time total: 2.000ms\n"));
    assert_non_null(strstr(text, "; begun before 1; unfinished 1"));
    tkt_free(text);
    takt_trace_release(trace);
}

TEST(calls_without_duration_have_no_share)
{
    takt_trace *trace = build_begin(3000000);
    build_track(trace, "main");
    build_span(trace, 0, build_site(trace, "step"), TKT_NO_SPAN, 1000000, 1000000);
    build_end(trace);
    char *text = report_of(trace, "scopes", &(takt_report_options){.width = 160});
    assert_non_null(strstr(text, "step         NaN   0.000us"));
    tkt_free(text);
    text = report_of(trace, "scopes", &(takt_report_options){.format = TAKT_FORMAT_JSON});
    assert_non_null(strstr(text, "\"self_cpu_percent\": null"));
    tkt_free(text);
    takt_trace_release(trace);
}

TEST(declared_work_shows_where_it_was_recorded_or_asked_for)
{
    takt_trace *trace = build_fluid();
    char *text = report_of(trace, "scopes", NULL);
    assert_null(strstr(text, "FLOPs"));
    tkt_free(text);
    trace->with_flops = true;
    text = report_of(trace, "scopes", NULL);
    assert_non_null(strstr(text, "Total MFLOPs"));
    tkt_free(text);
    text = report_of(trace, "scopes", &(takt_report_options){.format = TAKT_FORMAT_JSON});
    assert_non_null(strstr(text, "\"flops\": 9000000}"));
    tkt_free(text);
    takt_trace_release(trace);
}

/* The column's title has the unit of its greatest value. */
TEST(declared_work_has_the_unit_of_the_most)
{
    static const struct {
        double flops;
        const char *title, *most, *least;
    } cases[] = {{0, " Total FLOPs ", "", ""},
                 {999, " Total FLOPs ", " 999.000 ", " 0.999 "},
                 {1e3, " Total KFLOPs ", " 1.000 ", " 0.001000 "},
                 {2.5e6, " Total MFLOPs ", " 2.500 ", " 0.002500 "},
                 {3e9, " Total GFLOPs ", " 3.000 ", " 0.003000 "},
                 {4e12, " Total TFLOPs ", " 4.000 ", " 0.004000 "},
                 {5e15, " Total PFLOPs ", " 5.000 ", " 0.005000 "},
                 {6e18, " Total PFLOPs ", " 6000.0 ", " 6.000 "}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        takt_trace *trace = build_begin(2000000);
        build_track(trace, "main");
        for (uint32_t k = 0; k < 2; k++) {
            build_span(trace, 0, build_site(trace, k ? "less" : "most"), TKT_NO_SPAN,
                       1000000 + k * 100, 1000050 + k * 100);
            tkt_work *work = TKT_ARRAY_ADD(&trace->tracks.items[0].works);
            *work = (tkt_work){k, k ? cases[i].flops / 1000 : cases[i].flops, 0};
        }
        build_end(trace);
        const takt_report_options options = {.with_flops = true, .width = 300};
        char *text = report_of(trace, "scopes", &options);
        for (char *at = text; *at; at++) /* the column may be the last */
            *at = *at == '\n' ? ' ' : *at;
        assert_non_null(strstr(text, cases[i].title));
        assert_non_null(strstr(text, cases[i].most));
        assert_non_null(strstr(text, cases[i].least));
        tkt_free(text);
        /* Where room is short, a column of nothing is the first to go. */
        text = report_of(trace, "scopes", &(takt_report_options){.with_flops = true, .width = 80});
        assert_int_equal(strstr(text, "FLOPs") < strstr(text, "not shown: "), cases[i].flops > 0);
        assert_int_equal(strstr(text, "not shown: Total FLOPs;") != NULL, cases[i].flops == 0);
        tkt_free(text);
        takt_trace_release(trace);
    }
}

TEST(the_sinks_failure_is_returned)
{
    takt_trace *trace = build_fluid();
    takt_sink sink = {refuse, NULL};
    for (size_t i = 0; takt_report_name(i); i++)
        assert_int_equal(takt_report(trace, takt_report_name(i), NULL, &sink), TAKT_IO_ERROR);
    takt_trace_release(trace);
}

/* Every allocation of every report fails once: all or nothing is written, nothing is lost. The
 * fold is made anew each time. */
TEST(without_memory_nothing_is_written)
{
    for (size_t i = 0; takt_report_name(i); i++) {
        takt_status status = TAKT_NO_MEMORY;
        for (uint64_t after = 0; status != TAKT_OK; after++) {
            takt_trace *trace = build_fluid();
            takt_report_options options = {.struct_size = sizeof options,
                                           .color = after % 2,
                                           .by_arguments = after % 3 == 0,
                                           .sort = NULL};
            size_t bytes = 0;
            takt_sink sink = {eat, &bytes};
            tkt_alloc_fail(after, UINT64_MAX);
            status = takt_report(trace, takt_report_name(i), &options, &sink);
            tkt_alloc_fail(0, 0);
            assert_true(status == TAKT_OK || (status == TAKT_NO_MEMORY && bytes == 0));
            takt_trace_release(trace);
        }
    }
}

/* One allocation fails and later ones succeed: the failure is not forgotten. */
TEST(one_failed_allocation_is_enough)
{
    takt_trace *whole = build_fluid();
    for (size_t i = 0; takt_report_name(i); i++) {
        takt_report_options options = {
            .struct_size = sizeof options, .by_arguments = true, .format = TAKT_FORMAT_JSON};
        char *expected = report_of(whole, takt_report_name(i), &options);
        takt_status status = TAKT_NO_MEMORY;
        for (uint64_t after = 0; status != TAKT_OK; after++) {
            takt_trace *trace = build_fluid();
            assert_non_null(tkt_trace_fold(trace));
            char text[1 << 16] = "";
            tkt_writer into = {.buffer = text, .capacity = sizeof text};
            takt_sink sink = {keep, &into};
            tkt_alloc_fail(after, 1);
            status = takt_report(trace, takt_report_name(i), &options, &sink);
            tkt_alloc_fail(0, 0);
            assert_string_equal(text, status == TAKT_OK ? expected : "");
            takt_trace_release(trace);
        }
        tkt_free(expected);
    }
    takt_trace_release(whole);
}

/* A terminal of 133 columns, or -1; *master reads what is written to it. */
static int open_terminal(int *master)
{
    const struct winsize size = {.ws_col = 133};
    struct termios raw;
    *master = posix_openpt(O_RDWR | O_NOCTTY);
    if (*master < 0 || grantpt(*master) != 0 || unlockpt(*master) != 0)
        return -1;
    int terminal = open(ptsname(*master), O_RDWR | O_NOCTTY);
    assert_int_equal(tcgetattr(terminal, &raw), 0);
    cfmakeraw(&raw);
    assert_int_equal(tcsetattr(terminal, TCSANOW, &raw), 0);
    assert_int_equal(ioctl(*master, TIOCSWINSZ, &size), 0);
    return terminal;
}

/* What has been written there is the report in that width. */
static void assert_width(const takt_trace *trace, int fd, unsigned width)
{
    char text[4096];
    ssize_t size = read(fd, text, sizeof text - 1);
    assert_true(size > 0);
    text[size] = '\0';
    char *expected = report_of(trace, "kernels", &(takt_report_options){.width = width});
    assert_string_equal(text, expected);
    tkt_free(expected);
}

/* Where the report goes there; otherwise 160 columns, whatever the terminal beside it is like. */
TEST(a_terminal_that_is_written_to_has_its_width)
{
    takt_trace *trace = build_begin(2000000);
    build_activity(trace, "cuda:0", "kernel density", TAKT_TIMING_KERNEL, 1000000, 1000100,
                   TKT_NO_TRACK, TKT_NO_SPAN);
    build_end(trace);
    int master;
    int terminal = open_terminal(&master);
    if (terminal < 0)
        SKIP_CASE("no pseudo-terminals (/dev/pts)");
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
        int pipe_ends[2];
        assert_int_equal(pipe(pipe_ends), 0);
        takt_sink sink = takt_sink_fd(fd);
        takt_sink elsewhere = takt_sink_fd(pipe_ends[1]);
        fflush(NULL);
        int before = dup(fd);
        dup2(terminal, fd);
        takt_status status = takt_report(trace, "kernels", NULL, &sink);
        takt_status status_elsewhere = takt_report(trace, "kernels", NULL, &elsewhere);
        dup2(before, fd);
        close(before);
        assert_int_equal(status, TAKT_OK);
        assert_int_equal(status_elsewhere, TAKT_OK);
        assert_width(trace, master, 133);
        assert_width(trace, pipe_ends[0], 160);
        close(pipe_ends[0]);
        close(pipe_ends[1]);
    }
    close(terminal);
    close(master);
    takt_trace_release(trace);
}

/* ---- Too much -------------------------------------------------------------------------------- */

TEST(arguments_that_are_cut_end_in_dots)
{
    char value[2000];
    takt_trace *trace = make_trace();
    uint32_t track = make_thread(trace, "main", 1), site = make_site(trace, "s", TAKT_SITE_SCOPE);
    for (uint32_t i = 0; i < 2; i++) {
        memset(value, 'x', sizeof value);
        value[i ? 1023 - 4 : sizeof value - 1] = '\0'; /* behind "key=" */
        uint32_t span =
            make_span(trace, track, site, TKT_NO_SPAN, BEGIN_NS + 20 * i, BEGIN_NS + 20 * i + 9);
        make_arg(trace, track, span, "key", TKT_ARG_STRING, text(trace, value));
    }
    assert_int_equal(tkt_trace_finish(trace), TAKT_OK);
    json_t *json = report_json(trace, "scopes", &(takt_report_options){.by_arguments = true});
    int cut = 0;
    for (size_t i = 0; i < 2; i++) {
        const char *shown = json_string_value(json_object_get(row_at(json, i), "arguments"));
        assert_int_equal(strlen(shown), 1023);
        cut += strcmp(shown + 1020, "...") == 0;
    }
    assert_int_equal(cut, 1);
    json_decref(json);
    takt_trace_release(trace);
}

TEST(names_without_a_median_are_told)
{
    char name[32];
    takt_trace *trace = make_trace();
    uint32_t track = tkt_trace_add_track(trace, TAKT_TRACK_ASYNC, text(trace, "track"), 0);
    for (uint32_t i = 0; i < 3 * (TKT_NAMED_HISTOGRAMS + 1); i++) {
        snprintf(name, sizeof name, "task %u", i / 3);
        make_span(trace, track, make_site(trace, name, TAKT_SITE_SCOPE), TKT_NO_SPAN,
                  BEGIN_NS + 20 * i, BEGIN_NS + 20 * i + 1 + i % 3);
    }
    assert_int_equal(tkt_trace_finish(trace), TAKT_OK);
    char *told = report_of(trace, "tasks", &(takt_report_options){.rows = -1, .width = 300});
    assert_non_null(strstr(told, "Medians and p99 are those of the first 4096 names of 4097; "
                                 "further ones have none."));
    tkt_free(told);
    takt_trace_release(trace);
}

TEST_MAIN(NULL, NULL)
