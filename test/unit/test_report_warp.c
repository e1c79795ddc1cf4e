/* Warp's three tables, to the character as its documentation shows them. */
#include "support/test.h"
#include "support/report_build.h"

#include "report/text.h"

#define RULE "----------------+---------+------------------------\n"

static const char timeline[] = "CUDA timeline:\n" RULE "Time            | Device  | Activity\n" RULE
                               "    0.021504 ms | cuda:0  | memset\n"
                               "    0.163840 ms | cuda:0  | forward kernel inc_loop\n"
                               "    0.306176 ms | cuda:0  | forward kernel inc_loop\n"
                               "    0.451584 ms | cuda:0  | forward kernel inc_loop\n"
                               "    2.455520 ms | cuda:0  | memcpy DtoH\n"
                               "    0.051200 ms | cuda:1  | memset\n"
                               "    0.374784 ms | cuda:1  | forward kernel inc_loop\n"
                               "    0.707584 ms | cuda:1  | forward kernel inc_loop\n"
                               "    1.042432 ms | cuda:1  | forward kernel inc_loop\n"
                               "    2.136096 ms | cuda:1  | memcpy DtoH\n";

static const char activities[] =
    "CUDA activity summary:\n" RULE "Total time      | Count   | Activity\n" RULE
    "    0.072704 ms |       2 | memset\n"
    "    3.046400 ms |       6 | forward kernel inc_loop\n"
    "    4.591616 ms |       2 | memcpy DtoH\n";

static const char devices[] =
    "CUDA device summary:\n" RULE "Total time      | Count   | Device\n" RULE
    "    3.398624 ms |       5 | cuda:0\n"
    "    4.312096 ms |       5 | cuda:1\n";

static const struct {
    const char *device;
    const char *name;
    uint64_t ns;
} work[] = {
    {"cuda:0", "memset", 21504},
    {"cuda:0", "forward kernel inc_loop", 163840},
    {"cuda:0", "forward kernel inc_loop", 306176},
    {"cuda:0", "forward kernel inc_loop", 451584},
    {"cuda:0", "memcpy DtoH", 2455520},
    {"cuda:1", "memset", 51200},
    {"cuda:1", "forward kernel inc_loop", 374784},
    {"cuda:1", "forward kernel inc_loop", 707584},
    {"cuda:1", "forward kernel inc_loop", 1042432},
    {"cuda:1", "memcpy DtoH", 2136096},
};

#define WORK_COUNT (sizeof work / sizeof *work)

/* The second device began first: issue order is not the order of begin. */
static takt_trace *build_demo(void)
{
    takt_trace *trace = build_begin(9000000);
    for (size_t i = 0; i < WORK_COUNT; i++) {
        uint64_t begin_ns = i < 5 ? 5000000 + i : 1000000 + i;
        build_activity(trace, work[i].device, work[i].name, TAKT_TIMING_KERNEL, begin_ns,
                       begin_ns + work[i].ns, TKT_NO_TRACK, TKT_NO_SPAN);
    }
    build_end(trace);
    return trace;
}

/* The table, an empty line, the provenance. */
static void assert_report(const takt_trace *trace, const char *name, const char *table)
{
    char *text = report_of(trace, name, NULL);
    assert_true(strlen(text) > strlen(table));
    assert_memory_equal(text, table, strlen(table));
    assert_ptr_equal(strstr(text + strlen(table), "\nbackend none; "), text + strlen(table));
    tkt_free(text);
}

TEST(reports_are_warps_tables)
{
    takt_trace *trace = build_demo();
    assert_report(trace, "timeline", timeline);
    assert_report(trace, "activities", activities);
    assert_report(trace, "devices", devices);
    takt_trace_release(trace);
}

static char *printed(const char *indent, size_t count)
{
    takt_activity list[WORK_COUNT] = {{0}};
    for (size_t i = 0; i < count; i++) {
        list[i].device = work[i].device;
        list[i].name = work[i].name;
        list[i].elapsed_ms = (double)work[i].ns / 1e6;
    }
    memory_sink memory = {0};
    takt_sink sink = memory_sink_of(&memory);
    assert_int_equal(tkt_warp_print(list, count, indent, &sink), TAKT_OK);
    assert_int_equal(sink.write(sink.user, "", 1), TAKT_OK);
    return memory.data;
}

TEST(printing_gives_the_three_tables)
{
    char expected[4096];
    strcpy(expected, timeline);
    strcat(strcat(expected, "\n"), activities);
    strcat(strcat(expected, "\n"), devices);
    char *text = printed("", WORK_COUNT);
    assert_string_equal(text, expected);
    tkt_free(text);
    text = printed(NULL, WORK_COUNT);
    assert_string_equal(text, expected);
    tkt_free(text);
}

TEST(every_line_is_indented)
{
    char *plain = printed("", WORK_COUNT);
    char *text = printed("    ", WORK_COUNT);
    const char *from = plain;
    for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
        size_t size = strcspn(from, "\n");
        if (size > 0) {
            assert_memory_equal(line, "    ", 4);
            line += 4;
        }
        assert_memory_equal(line, from, size + 1);
        from += size + 1;
    }
    assert_string_equal(from, "");
    tkt_free(plain);
    tkt_free(text);
    text = printed("  ", 0);
    assert_string_equal(text, "  No activity\n");
    tkt_free(text);
}

TEST(without_activity_there_is_one_line)
{
    takt_trace *trace = build_begin(2000000);
    build_end(trace);
    static const char *const names[] = {"timeline", "activities", "devices"};
    for (size_t i = 0; i < 3; i++)
        assert_report(trace, names[i], "No activity\n");
    takt_trace_release(trace);
}

TEST(the_heading_says_cuda_only_if_all_are)
{
    takt_trace *trace = build_begin(9000000);
    build_track(trace, "main");
    build_span(trace, 0, build_site_of(trace, "density", TAKT_SITE_ACTIVITY, "cpu"), TKT_NO_SPAN,
               1000000, 1000000 + 749950);
    build_activity(trace, "cuda:0", "memset", TAKT_TIMING_MEMSET, 2000000, 2000001, TKT_NO_TRACK,
                   TKT_NO_SPAN);
    build_end(trace);
    assert_report(trace, "timeline",
                  "Timeline:\n" RULE "Time            | Device  | Activity\n" RULE
                  "    0.000001 ms | cuda:0  | memset\n"
                  "    0.749950 ms | cpu     | kernel density\n");
    assert_report(trace, "activities",
                  "Activity summary:\n" RULE "Total time      | Count   | Activity\n" RULE
                  "    0.000001 ms |       1 | memset\n"
                  "    0.749950 ms |       1 | kernel density\n");
    assert_report(trace, "devices",
                  "Device summary:\n" RULE "Total time      | Count   | Device\n" RULE
                  "    0.000001 ms |       1 | cuda:0\n"
                  "    0.749950 ms |       1 | cpu\n");
    takt_trace_release(trace);
}

TEST(large_times_and_long_names_keep_their_row)
{
    takt_trace *trace = build_begin(9000000);
    build_activity(trace, "accelerator:12", "kernel with a name of some length", TAKT_TIMING_KERNEL,
                   0, UINT64_C(86400000000000), TKT_NO_TRACK, TKT_NO_SPAN);
    build_end(trace);
    takt_report_options options = {.width = 60};
    char *text = report_of(trace, "timeline", &options);
    assert_non_null(
        strstr(text, "\n86400000.000000 ms | accelerator:12 | kernel with a name of ...\n"));
    tkt_free(text);
    options.full_names = true;
    text = report_of(trace, "timeline", &options);
    assert_non_null(strstr(text, "| kernel with a name of some length\n"));
    tkt_free(text);
    takt_trace_release(trace);
}

/* The limit of 1000 rows says itself; sorting looks at all rows. */
TEST(the_timeline_is_limited_unless_asked)
{
    takt_trace *trace = build_begin(9000000);
    for (uint64_t i = 0; i < 1500; i++)
        build_activity(trace, "cuda:0", "kernel x", TAKT_TIMING_KERNEL, 1000000 + i,
                       1000000 + i + i + 1, TKT_NO_TRACK, TKT_NO_SPAN);
    build_end(trace);
    char *text = report_of(trace, "timeline", NULL);
    assert_non_null(strstr(text, "\n1000 of 1500 rows shown\n"));
    assert_null(strstr(text, "    0.001001 ms"));
    tkt_free(text);
    text = report_of(trace, "timeline", &(takt_report_options){.rows = -1});
    assert_non_null(strstr(text, "\n    0.001500 ms"));
    assert_null(strstr(text, "rows shown"));
    tkt_free(text);
    text = report_of(trace, "timeline", &(takt_report_options){.sort = "time_ns", .rows = 1});
    assert_non_null(strstr(text, "\n    0.001500 ms"));
    assert_non_null(strstr(text, "\n1 of 1500 rows shown\n"));
    tkt_free(text);
    takt_trace_release(trace);
}

static takt_status refuse(void *user, const void *data, size_t size)
{
    (void)user;
    (void)data;
    (void)size;
    return TAKT_IO_ERROR;
}

TEST(failures_are_returned)
{
    takt_activity one = {.device = "cpu", .name = "x", .elapsed_ms = 1};
    takt_sink sink = {refuse, NULL};
    assert_int_equal(tkt_warp_print(&one, 1, "", &sink), TAKT_IO_ERROR);
    takt_status status = TAKT_NO_MEMORY;
    for (uint64_t after = 0; status != TAKT_OK; after++) {
        memory_sink memory = {0};
        sink = memory_sink_of(&memory);
        tkt_alloc_fail(after, UINT64_MAX);
        status = tkt_warp_print(&one, 1, "", &sink);
        tkt_alloc_fail(0, 0);
        assert_true(status == TAKT_OK || status == TAKT_NO_MEMORY);
        tkt_free(memory.data);
    }
}

TEST_MAIN(NULL, NULL)
