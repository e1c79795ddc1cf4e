/* The report of gaps: what its rows say, how many there are. What gaps are, test_summary_gaps.c
 * follows. Times are in us from the begin of the recording where they are written as US(). */
#include "support/test.h"
#include "support/report_traces.h"

#define US(us) (UINT64_C(1000000) + (uint64_t)(us)*1000)

/* A kernel on stream 7, and the call that launches it. */
static void launch(takt_trace *trace, uint32_t scope, uint64_t call, const char *name,
                   uint64_t begin, uint64_t end)
{
    uint32_t number =
        build_call(trace, 0, "cudaLaunchKernel", scope, US(call), US(call) + UINT64_C(10000));
    trace->tracks.items[0].spans.items[trace->calls.items[number].span].site_flags |=
        TAKT_SPAN_CALL;
    build_launched(trace, number, "cuda:0", name, TAKT_TIMING_KERNEL, US(begin), US(end))->context =
        1;
}

/* Of 1 ms the device works for 80 and for 800 us. Before the first kernel it idles for 20 us, then
 * for 100, of which the second kernel's launch takes the first 20; 15 of these are step's. */
static takt_trace *build_gap(void)
{
    takt_trace *trace = build_begin(US(1000));
    build_track(trace, "main");
    launch(trace, TKT_NO_SPAN, 0, "kernel a", 20, 100);
    uint32_t step = build_span(trace, 0, build_site(trace, "step"), TKT_NO_SPAN, US(105), US(300));
    launch(trace, step, 110, "kernel b", 200, 1000);
    build_end(trace);
    return trace;
}

TEST(rows_say_how_busy_a_device_was_and_why_not)
{
    takt_trace *trace = build_gap();
    json_t *json = report_json(trace, "gaps", NULL);
    assert_int_equal(row_count(json), 2);
    for (size_t i = 0; i < 2; i++) {
        const json_t *row = row_at(json, i); /* the device, its stream */
        assert_text(row, "device", "cuda:0");
        assert_value(row, "stream", i ? 7 : NAN);
        assert_value(row, "context", i ? 1 : NAN);
        assert_value(row, "activities", 2);
        assert_value(row, "busy_ns", 880000);
        assert_value(row, "busy_percent", 88);
        assert_value(row, "idle_ns", 120000);
        assert_value(row, "gaps", 1);
        assert_value(row, "late", 1);
        assert_value(row, "host_late_ns", 20000);
        assert_value(row, "edge_ns", 20000);
        assert_value(row, "other_ns", 80000);
        assert_value(row, "waited_ns", 0);
        assert_value(row, "short_ns", 0);
        assert_value(row, "graph_ns", 0);
    }
    json_decref(json);
    takt_trace_release(trace);
}

/* Nobody knows what the device did before the first kernel that is left. */
TEST(a_flight_recorder_knows_devices_since_its_first_activity)
{
    takt_trace *trace = build_gap();
    trace->losses[TAKT_LOSS_OVERWRITTEN] = 5;
    json_t *json = report_json(trace, "gaps", NULL);
    for (size_t i = 0; i < 2; i++) {
        assert_value(row_at(json, i), "busy_ns", 880000);
        assert_value(row_at(json, i), "busy_percent", 100.0 * 880 / 980);
        assert_value(row_at(json, i), "edge_ns", 0);
    }
    json_decref(json);
    json = report_json(trace, "summary", NULL);
    takt_trace_release(trace);
    assert_value(row_at(table_of(json, "devices"), 0), "busy_percent", 100.0 * 880 / 980);
    json_decref(json);
}

/* Nor what it did after the last one for which there was room. */
TEST(a_full_recording_knows_devices_until_its_last_activity)
{
    takt_trace *trace = build_begin(US(1000));
    build_track(trace, "main");
    launch(trace, TKT_NO_SPAN, 0, "kernel a", 20, 100);
    launch(trace, TKT_NO_SPAN, 90, "kernel b", 120, 200);
    build_end(trace);
    trace->losses[TAKT_LOSS_DEVICE_DROPPED] = 5;
    json_t *json = report_json(trace, "gaps", NULL);
    assert_value(row_at(json, 0), "busy_percent", 80);
    assert_value(row_at(json, 0), "edge_ns", 20000);
    json_decref(json);
    takt_trace_release(trace);
}

/* The device works for earlier launches only, for 400 us. */
TEST(a_recording_may_have_no_work_of_its_own)
{
    takt_trace *trace = build_begin(US(1000));
    build_track(trace, "main");
    *TKT_ARRAY_ADD(&trace->devices) =
        (tkt_device){.label = tkt_trace_string_of(trace, "cuda:0"), .earlier_until_ns = US(400)};
    build_end(trace);
    json_t *json = report_json(trace, "gaps", NULL);
    assert_value(row_at(json, 0), "idle_ns", 600000);
    json_decref(json);
    takt_trace_release(trace);
}

TEST(rows_say_what_is_around_a_gap)
{
    static const char *const tables[] = {"longest", "stream_gaps"};
    takt_trace *trace = build_gap();
    json_t *json = report_json(trace, "gaps", NULL);
    for (size_t i = 0; i < 2; i++) {
        const json_t *table = table_of(json, tables[i]);
        assert_int_equal(row_count(table), 2);
        const json_t *row = row_at(table, 0);
        assert_value(row, "gap_ns", 100000);
        assert_value(row, "begin_ns", 100000);
        assert_text(row, "device", "cuda:0");
        assert_value(row, "stream", i ? 7 : NAN);
        assert_text(row, "cause", "other"); /* 80 us of it */
        assert_text(row, "scope", "step");
        assert_text(row, "before", "kernel a");
        assert_text(row, "after", "kernel b");
        row = row_at(table, 1);
        assert_value(row, "gap_ns", 20000);
        assert_value(row, "begin_ns", 0);
        assert_text(row, "cause", "edge");
        assert_text(row, "scope", NULL);
        assert_text(row, "before", NULL);
        assert_text(row, "after", "kernel a");
    }
    json_decref(json);
    takt_trace_release(trace);
}

/* Of nobody's: a device that idles for 400 us, of which nobody knows what launched its work. */
TEST(rows_say_what_the_host_did)
{
    takt_trace *trace = build_gap();
    build_activity(trace, "cuda:1", "kernel lost", TAKT_TIMING_KERNEL, US(0), US(600), TKT_NO_TRACK,
                   TKT_NO_SPAN);
    json_t *json = report_json(trace, "gaps", NULL);
    const json_t *scopes = table_of(json, "scopes");
    assert_int_equal(row_count(scopes), 3);
    const json_t *row = row_of(scopes, "scope", "step");
    assert_text(row, "device", "cuda:0");
    assert_value(row, "idle_ns", 95000);
    assert_value(row, "idle_percent", 100 * 95 / 120.0);
    assert_value(row, "host_late_ns", 15000);
    assert_value(row, "in_calls_ns", 10000);
    row = row_of(scopes, "scope", "(outside of scopes)");
    assert_value(row, "idle_ns", 25000);
    assert_value(row, "idle_percent", 100 * 25 / 120.0);
    assert_value(row, "host_late_ns", 5000);
    assert_value(row, "in_calls_ns", 10000);
    row = row_of(scopes, "scope", "(thread not known)");
    assert_text(row, "device", "cuda:1");
    assert_value(row, "idle_ns", 400000);
    assert_value(row, "idle_percent", 100);
    json_decref(json);
    takt_trace_release(trace);
}

TEST(the_number_of_all_gaps_is_told)
{
    takt_trace *trace = build_begin(US(1000));
    for (uint64_t i = 0; i < 30; i++)
        build_activity(trace, "cuda:0", "kernel a", TAKT_TIMING_KERNEL, US(20 * i),
                       US(20 * i) + 10000, TKT_NO_TRACK, TKT_NO_SPAN);
    build_end(trace);
    json_t *json = report_json(trace, "gaps", NULL);
    assert_int_equal(row_count(table_of(json, "longest")), 10);
    assert_value(table_of(json, "longest"), "row_count", 30); /* 29, and the last edge */
    assert_value(table_of(json, "stream_gaps"), "row_count", 30);
    json_decref(json);
    char *text = report_of(trace, "gaps", NULL);
    assert_non_null(strstr(text, "\n10 of 30 rows shown\n"));
    tkt_free(text);
    takt_trace_release(trace);
}

TEST(as_many_gaps_as_are_asked_for)
{
    enum {
        GAPS = 1002
    };
    static const struct {
        int64_t rows;
        size_t shown;
    } cases[] = {{0, 10}, {1, 1}, {11, 11}, {999, 999}, {1000, 1000}, {1001, 1000}, {-1, 1000}};
    takt_trace *trace = build_begin(US(20 * (GAPS + 1)));
    for (uint64_t i = 0; i <= GAPS; i++)
        build_activity(trace, "cuda:0", "kernel a", TAKT_TIMING_KERNEL, US(20 * i),
                       US(20 * i) + 10000 + i, TKT_NO_TRACK, TKT_NO_SPAN);
    build_end(trace);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *json = report_json(trace, "gaps", &(takt_report_options){.rows = cases[i].rows});
        const json_t *longest = table_of(json, "longest");
        assert_int_equal(row_count(longest), cases[i].shown);
        assert_value(longest, "row_count", 1000);
        for (size_t k = 0; k < cases[i].shown; k++)
            assert_value(row_at(longest, k), "gap_ns", 10000 - (double)k);
        json_decref(json);
    }
    takt_trace_release(trace);
}

TEST_MAIN(NULL, NULL)
