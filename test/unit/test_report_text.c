/* Tables as text: the golden files, the width, colours, hostile and long names. */
#include "support/test.h"
#include "support/emulated.h"
#include "support/report_traces.h"

TEST(reports_equal_their_golden_files)
{
    takt_trace *trace = build_fluid();
    for (size_t i = 0; takt_report_name(i); i++) {
        takt_report_options options = {0};
        assert_golden(trace, takt_report_name(i), takt_report_name(i), &options);
    }
    takt_report_options options = {.by_arguments = true, .with_flops = true};
    assert_golden(trace, "scopes", "scopes_arguments", &options);
    options = (takt_report_options){.sort = "self_cpu_ns", .rows = 3};
    assert_golden(trace, "scopes", "scopes_rows", &options);
    options = (takt_report_options){.rows = 4};
    assert_golden(trace, "tree", "tree_rows", &options);
    takt_trace_release(trace);
}

TEST(no_line_is_longer_than_the_width)
{
    takt_trace *trace = build_fluid();
    for (size_t i = 0; takt_report_name(i); i++) {
        for (uint32_t width = 60; width <= 200; width++) {
            takt_report_options options = {
                .width = width, .by_arguments = true, .with_flops = true};
            char *text = report_of(trace, takt_report_name(i), &options);
            assert_true(longest_line(text) <= width);
            tkt_free(text);
        }
    }
    takt_trace_release(trace);
}

/* Names that differ at their ends, in their middles, and not at all but for case; and one that is
 * like no other, which is cut at its end. */
TEST(long_names_that_begin_alike_are_told_apart)
{
    static const char *const names[] = {
        "physics::solver::constraints::ContactConstraint::warmStartVelocity",
        "physics::solver::constraints::ContactConstraint::solveVelocity",
        "physics::solver::constraints::HingeConstraint::solveVelocity",
        "physics::solver::constraints::\xC3\xA4\xC3\xB6\xC3\xBC\xC3\xA4\xC3\xB6\xC3\xBC::solve",
        "render::pipeline::forward::ShadowMapPass::recordCommandBuffers",
    };
    const size_t count = sizeof names / sizeof *names;
    takt_trace *trace = build_begin(1000000);
    uint32_t track = build_track(trace, "main");
    for (size_t i = 0; i < count; i++)
        build_span(trace, track, build_site(trace, names[i]), TKT_NO_SPAN, 1000 * i, 1000 * i + 10);
    assert_int_equal(tkt_trace_finish(trace), TAKT_OK);
    for (uint32_t width = 60; width <= 100; width += 5) {
        takt_report_options options = {.width = width};
        char *text = report_of(trace, "scopes", &options), *rest = text;
        assert_true(longest_line(text) <= width);
        char rows[5][128];
        size_t found = 0;
        for (char *line; (line = strtok_r(rest, "\n", &rest)) != NULL;) {
            if (strncmp(line, "physics", 7) != 0 && strncmp(line, "render", 6) != 0)
                continue;
            assert_in_range(found, 0, count - 1);
            snprintf(rows[found], sizeof rows[found], "%.*s", (int)(strstr(line, "  ") - line),
                     line);
            for (size_t i = 0; i < found; i++)
                assert_string_not_equal(rows[i], rows[found]);
            if (*line == 'r')
                assert_memory_equal(line, "render::pipeline::", 18);
            found++;
        }
        assert_int_equal(found, count);
        tkt_free(text);
    }
    takt_trace_release(trace);
}

TEST(no_line_ends_with_a_blank)
{
    takt_trace *trace = build_fluid();
    for (size_t i = 0; takt_report_name(i); i++) {
        char *text = report_of(trace, takt_report_name(i), NULL);
        assert_null(strstr(text, " \n"));
        tkt_free(text);
    }
    takt_trace_release(trace);
}

/* What a terminal must not get: escapes, other control characters, bytes that are no UTF-8. */
TEST(names_cannot_reach_the_terminal)
{
    takt_trace *trace = build_fluid();
    for (int format = TAKT_FORMAT_TEXT; format <= TAKT_FORMAT_MARKDOWN; format++) {
        for (size_t i = 0; takt_report_name(i); i++) {
            takt_report_options options = {.format = (takt_format)format, .full_names = true};
            char *text = report_of(trace, takt_report_name(i), &options);
            assert_null(strchr(text, '\x1B'));
            size_t size = strlen(text);
            for (size_t at = 0; at < size;) {
                size_t length = tkt_utf8_length(text + at, size - at);
                assert_int_not_equal(length, 0);
                bool is_line_end =
                    text[at] == '\n' || (format == TAKT_FORMAT_CSV && text[at] == '\r');
                assert_true((unsigned char)text[at] >= 0x20 || is_line_end);
                at += length;
            }
            tkt_free(text);
        }
    }
    takt_trace_release(trace);
}

TEST(wide_terminals_and_full_names_show_whole_names)
{
    takt_trace *trace = build_fluid();
    takt_report_options options = {.width = 500};
    char *text = report_of(trace, "scopes", &options);
    assert_null(strstr(text, FLUID_TEMPLATE));
    tkt_free(text);
    options = (takt_report_options){.width = 80, .full_names = true};
    static const char *const reports[] = {"scopes", "tree", "memory", "summary"};
    for (size_t i = 0; i < 4; i++) {
        text = report_of(trace, reports[i], &options);
        assert_non_null(strstr(text, FLUID_TEMPLATE));
        tkt_free(text);
    }
    text = report_of(trace, "scopes", &options);
    assert_non_null(strstr(text, "CPU time avg"));
    tkt_free(text);
    takt_trace_release(trace);
}

/* Twenty scopes of 1 to 20 us: numpy.percentile of these gives 18.1 and 15.25. */
static takt_trace *build_ramp(void)
{
    takt_trace *trace = build_begin(2000000);
    build_track(trace, "main");
    for (uint64_t i = 1; i <= 20; i++) {
        char name[16];
        snprintf(name, sizeof name, "s%02u.", (unsigned)i);
        build_span(trace, 0, build_site(trace, name), TKT_NO_SPAN, 1000000 + i * 30000,
                   1000000 + i * 30000 + i * 1000);
    }
    build_end(trace);
    return trace;
}

TEST(slow_rows_are_coloured_by_percentile)
{
    takt_trace *trace = build_ramp();
    takt_report_options options = {.width = 100, .color = true};
    char *text = report_of(trace, "scopes", &options);
    char *plain = report_of(trace, "scopes", &(takt_report_options){.width = 100});
    assert_null(strchr(plain, '\x1B'));
    for (unsigned i = 1; i <= 20; i++) {
        char name[16];
        snprintf(name, sizeof name, "s%02u.", i);
        const char *line = strstr(text, name);
        while (line > text && line[-1] != '\n')
            line--;
        const char *expected = i >= 19 ? "\x1B[1;31m" : i >= 16 ? "\x1B[33m" : "s";
        assert_memory_equal(line, expected, strlen(expected));
        const char *end = strchr(line, '\n');
        assert_int_equal(memcmp(end - 4, "\x1B[0m", 4) == 0, i >= 16);
    }
    tkt_free(text);
    tkt_free(plain);
    takt_trace_release(trace);
}

TEST(equal_rows_are_not_coloured)
{
    takt_trace *trace = build_begin(2000000);
    build_track(trace, "main");
    build_span(trace, 0, build_site(trace, "a"), TKT_NO_SPAN, 1000000, 1000100);
    build_span(trace, 0, build_site(trace, "b"), TKT_NO_SPAN, 1000100, 1000200);
    build_end(trace);
    takt_report_options options = {.width = 100, .color = true};
    char *text = report_of(trace, "scopes", &options);
    assert_null(strchr(text, '\x1B'));
    tkt_free(text);
    takt_trace_release(trace);
}

/* 5000 scopes deep: lines are as long as others, and short names stay whole. */
TEST(deep_recursion_fits_too)
{
    static const char *const names[] = {"descend", FLUID_TEMPLATE};
    for (size_t n = 0; n < 2; n++) {
        takt_trace *trace = build_begin(2000000);
        build_track(trace, "main");
        uint32_t site = build_site(trace, names[n]);
        uint32_t parent = TKT_NO_SPAN;
        for (uint64_t i = 0; i < 5000; i++)
            parent = build_span(trace, 0, site, parent, 1000000 + i, 1100000 - i);
        build_end(trace);
        takt_report_options options = {.width = 80, .rows = -1};
        char *text = report_of(trace, "tree", &options);
        assert_true(longest_line(text) <= 80);
        size_t rows = 0;
        for (const char *at = text; (at = strstr(at, n ? "void tree" : "descend ")); at++)
            rows++;
        assert_int_equal(rows, 5000);
        tkt_free(text);
        takt_trace_release(trace);
    }
}

/* Also where the name is half of the column's width, which is odd. */
TEST(each_level_is_indented_by_two)
{
    static const char *const names[] = {"step", "memory", "outer", "inner"};
    takt_trace *trace = build_begin(2000000);
    build_track(trace, "main");
    uint32_t parent = TKT_NO_SPAN;
    for (uint64_t i = 0; i < 4; i++)
        parent =
            build_span(trace, 0, build_site(trace, names[i]), parent, 1000000 + i, 1100000 - i);
    build_end(trace);
    char *text = report_of(trace, "tree", NULL);
    assert_non_null(strstr(text, "\nstep       "));
    assert_non_null(strstr(text, "\n  memory   "));
    assert_non_null(strstr(text, "\n    outer  "));
    assert_non_null(strstr(text, "\n      inner  "));
    tkt_free(text);
    takt_trace_release(trace);
}

TEST(names_of_megabytes_pass)
{
    size_t size = (test_runner() ? 1 : 2) << 20; /* an emulator takes minutes */
    char *name = malloc(size + 1);
    memset(name, '"', size);
    name[size] = '\0';
    takt_trace *trace = build_begin(2000000);
    build_track(trace, "main");
    build_span(trace, 0, build_site_of(trace, name, TAKT_SITE_ACTIVITY, "cpu"), TKT_NO_SPAN,
               1000000, 1000100);
    build_end(trace);
    for (int format = TAKT_FORMAT_TEXT; format <= TAKT_FORMAT_MARKDOWN; format++) {
        for (size_t i = 0; takt_report_name(i); i++) {
            takt_report_options options = {.width = 80, .format = (takt_format)format};
            char *text = report_of(trace, takt_report_name(i), &options);
            if (format == TAKT_FORMAT_TEXT)
                assert_true(strlen(text) < 10000);
            tkt_free(text);
        }
    }
    takt_trace_release(trace);
    free(name);
}

TEST_MAIN(NULL, NULL)
