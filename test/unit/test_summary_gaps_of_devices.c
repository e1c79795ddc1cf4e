/* Gaps without streams: rows of devices, late launches and scopes are as with them. */
#include "support/test.h"
#include "support/report_traces.h"

#include "summary/gaps.h"

typedef struct late {
    const tkt_activity *last;
    uint64_t count;
    uint64_t waited_ns;
} late;

static void count_late(void *user, const tkt_activity *activity, uint64_t waited_ns)
{
    late *sum = user;
    sum->last = activity;
    sum->count++;
    sum->waited_ns += waited_ns;
}

static void assert_same_rows(const tkt_gaps *all, const tkt_gaps *devices)
{
    size_t seen = 0;
    for (size_t i = 0; i < all->idles.count; i++) {
        const tkt_idle *wanted = &all->idles.items[i];
        if (!wanted->is_device)
            continue;
        assert_true(seen < devices->idles.count);
        const tkt_idle *row = &devices->idles.items[seen++];
        assert_true(row->is_device);
        assert_int_equal(row->device, wanted->device);
        assert_int_equal(row->count, wanted->count);
        assert_int_equal(row->busy_ns, wanted->busy_ns);
        assert_int_equal(row->idle_ns, wanted->idle_ns);
        assert_int_equal(row->gaps, wanted->gaps);
        assert_int_equal(row->late, wanted->late);
        assert_int_equal(row->cause_ns[TKT_IDLE_HOST], wanted->cause_ns[TKT_IDLE_HOST]);
    }
    assert_int_equal(seen, devices->idles.count);
    assert_true(seen > 1 && seen < all->idles.count);
}

TEST(without_streams_the_rest_is_the_same)
{
    for (uint64_t seed = 0; seed < 12; seed++) {
        takt_trace *trace = build_launches(seed);
        late heard[2];
        tkt_gaps gaps[2];
        for (int i = 0; i < 2; i++) {
            const tkt_gaps_wish wish = {
                .scopes = true, .devices_only = i == 1, .late = count_late, .user = &heard[i]};
            heard[i] = (late){0};
            gaps[i] = (tkt_gaps){0};
            assert_int_equal(tkt_gaps_of(trace, &wish, &gaps[i]), TAKT_OK);
        }
        assert_same_rows(&gaps[0], &gaps[1]);
        assert_int_equal(heard[0].count, heard[1].count);
        assert_int_equal(heard[0].waited_ns, heard[1].waited_ns);
        assert_ptr_equal(heard[0].last, heard[1].last);
        assert_int_equal(gaps[0].scopes.count, gaps[1].scopes.count);
        assert_memory_equal(gaps[0].scopes.items, gaps[1].scopes.items,
                            gaps[0].scopes.count * sizeof *gaps[0].scopes.items);
        tkt_gaps_fini(&gaps[0]);
        tkt_gaps_fini(&gaps[1]);
        takt_trace_release(trace);
    }
}

/* More streams than are remembered, in turns, so that each is looked up again. */
TEST(many_streams_have_a_row_each)
{
    takt_trace *trace = build_begin(2000000);
    for (uint32_t i = 0; i < 2000; i++) {
        uint64_t begin_ns = 1000000 + i * UINT64_C(100);
        build_activity(trace, i % 2 ? "cuda:1" : "cuda:0", "kernel x", TAKT_TIMING_KERNEL, begin_ns,
                       begin_ns + 40, TKT_NO_TRACK, TKT_NO_SPAN);
        tkt_activity *activity = &trace->activities.items[i];
        activity->stream = i % 200;
        activity->context = 1 + i % 2;
    }
    build_end(trace);
    tkt_gaps gaps = {0};
    assert_int_equal(tkt_gaps_of(trace, &(tkt_gaps_wish){0}, &gaps), TAKT_OK);
    assert_int_equal(gaps.idles.count, 2 + 200);
    for (size_t i = 0; i < gaps.idles.count; i++) {
        const tkt_idle *row = &gaps.idles.items[i];
        assert_int_equal(row->count, row->is_device ? 1000 : 10);
        assert_int_equal(row->busy_ns, 40 * row->count);
    }
    tkt_gaps_fini(&gaps);
    takt_trace_release(trace);
}

TEST_MAIN(NULL, NULL)
