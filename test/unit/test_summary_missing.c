/* Launches without an activity by the scopes that made them, counted by hand. */
#include "support/test.h"
#include "support/report_traces.h"

#include "summary/launches.h"

static void lose(takt_trace *trace, uint32_t track, const char *name, uint32_t parent)
{
    uint32_t call = build_call(trace, track, name, parent, 1000000, 1000000);
    trace->tracks.items[track].spans.items[trace->calls.items[call].span].site_flags |=
        TAKT_SPAN_CALL | TAKT_SPAN_NO_ACTIVITY;
}

static uint32_t enter(takt_trace *trace, uint32_t track, const char *name, uint32_t parent)
{
    return build_span(trace, track, build_site(trace, name), parent, 1000000, 2000000);
}

/* A scope of a library, "forces" inside "step", is one on both threads; "forces" elsewhere is
 * another. What a callback launches inside of a call stands in the scopes around that call. */
static takt_trace *build_lost(void)
{
    takt_trace *trace = build_begin(2000000);
    trace->backend = build_string(trace, "CUPTI 13.0 (130001)");
    build_track(trace, "main");
    build_track(trace, "worker");
    uint32_t step = enter(trace, 0, "step", TKT_NO_SPAN);
    uint32_t forces = enter(trace, 0, "forces", step);
    lose(trace, 0, "cudaLaunchKernel", forces);
    lose(trace, 0, "cudaGraphLaunch", forces);
    lose(trace, 0, "cudaLaunchKernel", step);
    uint32_t around = build_call(trace, 0, "cudaLaunchHostFunc", step, 1000000, 1000000);
    uint32_t call = (uint32_t)trace->calls.items[around].span;
    trace->tracks.items[0].spans.items[call].site_flags |= TAKT_SPAN_CALL;
    lose(trace, 0, "cudaLaunchKernel", call);
    lose(trace, 0, "cudaLaunchKernel", TKT_NO_SPAN);
    step = enter(trace, 1, "step", TKT_NO_SPAN);
    forces = enter(trace, 1, "forces", step);
    lose(trace, 1, "cudaLaunchKernel", forces);
    lose(trace, 1, "cudaLaunchKernel", forces);
    lose(trace, 1, "cudaLaunchKernel", enter(trace, 1, "forces", TKT_NO_SPAN));
    trace->losses[TAKT_LOSS_INCOMPLETE] = 8;
    return trace;
}

static void assert_missing(const takt_trace *trace, const tkt_missing *missing, const char *scopes,
                           const char *call, uint64_t count)
{
    tkt_arena texts = {0};
    assert_string_equal(tkt_missing_scopes(trace, missing, &texts), scopes);
    assert_string_equal(tkt_missing_call(trace, missing), call);
    assert_int_equal(missing->count, count);
    tkt_arena_fini(&texts);
}

TEST(paths_and_calls_are_told_apart)
{
    takt_trace *trace = build_lost();
    tkt_missings found = {0};
    build_end(trace);
    assert_int_equal(tkt_missings_of(trace, &found), TAKT_OK);
    assert_int_equal(found.count, 5);
    assert_missing(trace, &found.items[0], "step > forces", "cudaLaunchKernel", 3);
    assert_missing(trace, &found.items[1], "step > forces", "cudaGraphLaunch", 1);
    assert_missing(trace, &found.items[2], "step", "cudaLaunchKernel", 2);
    assert_missing(trace, &found.items[3], "(outside of scopes)", "cudaLaunchKernel", 1);
    assert_missing(trace, &found.items[4], "forces", "cudaLaunchKernel", 1);
    tkt_missings_fini(&found);
    takt_trace_release(trace);
}

/* Of scopes in each other the 63 innermost are told: a made-up file takes no longer. */
static void check_path(int scopes, const char *begin)
{
    takt_trace *trace = build_begin(2000000);
    uint32_t top = TKT_NO_SPAN;
    build_track(trace, "main");
    for (int i = 0; i < scopes; i++)
        top = enter(trace, 0, i == scopes - 1 ? "inner" : "s", top);
    lose(trace, 0, "cudaLaunchKernel", top);
    build_end(trace);
    tkt_missings found = {0};
    tkt_arena texts = {0};
    assert_int_equal(tkt_missings_of(trace, &found), TAKT_OK);
    const char *text = tkt_missing_scopes(trace, &found.items[0], &texts);
    assert_int_equal(strlen(text), strlen(begin) + 62 * strlen("s > ") + strlen("inner"));
    assert_memory_equal(text, begin, strlen(begin));
    assert_string_equal(text + strlen(begin) + 61 * strlen("s > "), "s > inner");
    tkt_arena_fini(&texts);
    tkt_missings_fini(&found);
    takt_trace_release(trace);
}

TEST(deep_paths_are_cut)
{
    check_path(63, "");
    check_path(64, "... > ");
    check_path(100, "... > ");
}

/* All formats; a report of nothing else, and beside a launch of which all is known. */
TEST(the_report_has_a_table_of_them)
{
    takt_trace *trace = build_lost();
    uint32_t call = build_call(trace, 1, "cudaLaunchKernel", TKT_NO_SPAN, 1000000, 1001000);
    build_launched(trace, call, "cuda:0", "kernel a", TAKT_TIMING_KERNEL, 1002000, 1012000);
    build_end(trace);
    takt_report_options options = {.struct_size = sizeof options};
    assert_golden(trace, "launches", "launches_missing", &options);
    json_t *json = report_json(trace, "launches", NULL);
    const json_t *table = table_of(json, "missing");
    assert_value(row_of(table, "scope", "step"), "count", 2);
    assert_text(row_of(table, "scope", "step"), "launch", "cudaLaunchKernel");
    json_decref(json);
    takt_trace_release(trace);
}

TEST(nothing_but_lost_launches)
{
    takt_trace *trace = build_begin(2000000);
    build_track(trace, "main");
    lose(trace, 0, "cudaLaunchKernel", TKT_NO_SPAN);
    build_end(trace);
    static const takt_format formats[] = {TAKT_FORMAT_TEXT, TAKT_FORMAT_MARKDOWN, TAKT_FORMAT_CSV,
                                          TAKT_FORMAT_JSON};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        takt_report_options options = {.struct_size = sizeof options, .format = formats[i]};
        char *text = report_of(trace, "launches", &options);
        assert_non_null(strstr(text, "(outside of scopes)"));
        assert_null(strstr(text, "No launches"));
        tkt_free(text);
    }
    takt_trace_release(trace);
}

TEST_MAIN(NULL, NULL)
