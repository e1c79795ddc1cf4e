/* Activities by name and by device, against the list of activities. */
#include "support/test.h"
#include "support/report_build.h"

#include "summary/activities.h"

static void count_in_list(const takt_trace *trace, const char *name, bool by_device,
                          tkt_activity_total *out)
{
    *out = (tkt_activity_total){0};
    for (size_t i = 0; i < trace->activities.count; i++) {
        const tkt_activity *activity = &trace->activities.items[i];
        uint32_t string = by_device ? activity->device : activity->name;
        if (strcmp(tkt_trace_text(trace, string), name) != 0)
            continue;
        out->count++;
        out->total_ns += activity->end_ns - activity->begin_ns;
    }
}

static bool are_cuda(const takt_trace *trace)
{
    bool result;
    assert_int_equal(tkt_activities_are_cuda(trace, &result), TAKT_OK);
    return result;
}

static void assert_like_list(const takt_trace *trace, tkt_activity_key key, size_t names)
{
    tkt_activity_totals totals;
    assert_int_equal(tkt_activities_total(trace, key, &totals), TAKT_OK);
    size_t used = 0;
    uint64_t count = 0;
    for (uint32_t i = 0; i < totals.count; i++) {
        tkt_activity_total expected;
        count_in_list(trace, tkt_strtab_text(&totals.names, i), key == TKT_BY_DEVICE, &expected);
        assert_int_equal(totals.items[i].count, expected.count);
        assert_int_equal(totals.items[i].total_ns, expected.total_ns);
        used += expected.count > 0;
        count += expected.count;
    }
    assert_int_equal(used, names);
    assert_int_equal(count, trace->activities.count);
    tkt_activity_totals_fini(&totals);
}

TEST(host_activities_add_up_as_in_the_list)
{
    takt_trace *trace = build_mixed(3);
    assert_true(trace->activities.count > 100);
    assert_like_list(trace, TKT_BY_ACTIVITY, 2);
    assert_like_list(trace, TKT_BY_DEVICE, 1);
    assert_false(are_cuda(trace));
    takt_trace_release(trace);
}

static void build_device_work(takt_trace *trace)
{
    uint64_t at = 1000000;
    for (uint64_t i = 0; i < 60; i++, at += 100)
        build_activity(trace, i % 2 ? "cuda:0" : "cuda:1", i % 3 ? "kernel x" : "memset",
                       i % 3 ? TAKT_TIMING_KERNEL : TAKT_TIMING_MEMSET, at, at + 10 + i,
                       TKT_NO_TRACK, TKT_NO_SPAN);
}

TEST(device_activities_add_up_in_issue_order)
{
    takt_trace *trace = build_begin(2000000);
    build_device_work(trace);
    build_end(trace);
    assert_like_list(trace, TKT_BY_ACTIVITY, 2);
    assert_like_list(trace, TKT_BY_DEVICE, 2);
    assert_true(are_cuda(trace));
    tkt_activity_totals totals;
    assert_int_equal(tkt_activities_total(trace, TKT_BY_ACTIVITY, &totals), TAKT_OK);
    assert_string_equal(tkt_strtab_text(&totals.names, 1), "memset");
    assert_string_equal(tkt_strtab_text(&totals.names, 2), "kernel x");
    tkt_activity_totals_fini(&totals);
    takt_trace_release(trace);
}

TEST(host_and_device_come_together)
{
    takt_trace *trace = build_begin(2000000);
    uint32_t track = build_track(trace, "main");
    uint32_t site = build_site_of(trace, "x", TAKT_SITE_ACTIVITY, "cpu");
    build_span(trace, track, site, TKT_NO_SPAN, 1000000, 1000100);
    build_device_work(trace);
    build_end(trace);
    assert_int_equal(trace->activities.count, 61);
    assert_like_list(trace, TKT_BY_ACTIVITY, 2); /* "kernel x" of both */
    assert_like_list(trace, TKT_BY_DEVICE, 3);
    assert_false(are_cuda(trace));
    takt_trace_release(trace);
}

TEST(folded_traces_give_the_same_totals)
{
    takt_trace *full = build_mixed(9);
    takt_trace *folded = build_folded(full);
    assert_int_equal(folded->activities.count, 0);
    for (int key = TKT_BY_ACTIVITY; key <= TKT_BY_DEVICE; key++) {
        tkt_activity_totals a;
        tkt_activity_totals b;
        assert_int_equal(tkt_activities_total(full, (tkt_activity_key)key, &a), TAKT_OK);
        assert_int_equal(tkt_activities_total(folded, (tkt_activity_key)key, &b), TAKT_OK);
        assert_int_equal(a.count, b.count);
        assert_memory_equal(a.items, b.items, a.count * sizeof *a.items);
        tkt_activity_totals_fini(&a);
        tkt_activity_totals_fini(&b);
    }
    takt_trace_release(full);
    takt_trace_release(folded);
}

/* What was added up while recording may know of activities that are in no list. */
TEST(a_list_counts_before_sums_of_the_recording)
{
    takt_trace *trace = build_begin(2000000);
    build_device_work(trace);
    build_end(trace);
    assert_non_null(tkt_trace_fold(trace));
    trace->node_activities.items[0].stats.count += 7;
    trace->node_activities_are_derived = false;
    assert_like_list(trace, TKT_BY_ACTIVITY, 2);
    assert_like_list(trace, TKT_BY_DEVICE, 2);
    takt_trace_release(trace);
}

TEST(nothing_is_not_cuda)
{
    takt_trace *trace = build_begin(2000000);
    build_end(trace);
    assert_false(are_cuda(trace));
    assert_false(tkt_device_is_cuda("cpu"));
    assert_false(tkt_device_is_cuda("cuda"));
    assert_true(tkt_device_is_cuda("cuda:0"));
    takt_trace_release(trace);
}

TEST(without_memory_nothing_is_left_behind)
{
    takt_trace *trace = build_begin(2000000);
    uint32_t track = build_track(trace, "main");
    uint32_t site = build_site_of(trace, "x", TAKT_SITE_ACTIVITY, "cpu");
    build_span(trace, track, site, TKT_NO_SPAN, 1000000, 1000100);
    build_device_work(trace);
    build_end(trace);
    assert_non_null(tkt_trace_fold(trace));
    for (int key = TKT_BY_ACTIVITY; key <= TKT_BY_DEVICE; key++) {
        takt_status status = TAKT_NO_MEMORY;
        for (uint64_t after = 0; status != TAKT_OK; after++) {
            tkt_activity_totals totals = {0};
            tkt_alloc_fail(after, UINT64_MAX);
            status = tkt_activities_total(trace, (tkt_activity_key)key, &totals);
            tkt_alloc_fail(0, 0);
            assert_true(status == TAKT_OK || status == TAKT_NO_MEMORY);
            tkt_activity_totals_fini(&totals);
        }
    }
    takt_trace_release(trace);
}

TEST_MAIN(NULL, NULL)
