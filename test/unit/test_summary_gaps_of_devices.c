/* The rows of many streams, and the gaps that a trace keeps. */
#include "support/report_traces.h"

#include "summary/device.h"
#include "summary/gaps.h"

/* Reports that read gaps and busy times get one result. */
static void the_pass_is_made_once(void **state)
{
    (void)state;
    takt_trace *trace = build_launches(3);
    const tkt_gaps *first = NULL;
    const tkt_gaps *second = NULL;
    tkt_device_uses uses;
    assert_int_equal(tkt_trace_gaps(trace, &first), TAKT_OK);
    tkt_alloc_fail(0, UINT64_MAX); /* a second pass would need memory */
    assert_int_equal(tkt_trace_gaps(trace, &second), TAKT_OK);
    tkt_alloc_fail(0, 0);
    assert_ptr_equal(first, second);
    assert_int_equal(tkt_device_uses_of(trace, &uses), TAKT_OK);
    assert_true(uses.count > 0 && uses.step_ns == first->step_ns);
    TKT_ARRAY_FREE(&uses);
    takt_trace_release(trace);
}

/* Without memory the trace keeps nothing, and the next call tries again. */
static void a_pass_that_failed_is_made_again(void **state)
{
    (void)state;
    takt_trace *trace = build_launches(3);
    takt_status status = TAKT_NO_MEMORY;
    uint64_t failed = 0;
    for (uint64_t after = 0; status != TAKT_OK; after++) {
        const tkt_gaps *gaps = NULL;
        tkt_alloc_fail(after, UINT64_MAX);
        status = tkt_trace_gaps(trace, &gaps);
        tkt_alloc_fail(0, 0);
        assert_true(status == TAKT_OK ? gaps != NULL : status == TAKT_NO_MEMORY);
        failed += status != TAKT_OK;
    }
    assert_true(failed > 3);
    takt_trace_release(trace);
}

/* More streams than are remembered, in turns, so that each is looked up again. */
static void many_streams_have_a_row_each(void **state)
{
    (void)state;
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

#define US(us) (UINT64_C(1000000) + UINT64_C(1000) * (us))

static uint64_t listed_unseen(const tkt_gaps *gaps)
{
    uint64_t sum_ns = 0;
    for (size_t i = 0; i < gaps->unseen.count; i++)
        sum_ns += gaps->unseen.items[i].end_ns - gaps->unseen.items[i].begin_ns;
    return sum_ns;
}

/* Short kernels on stream 7. On stream 8 one is launched at 60 us and begins at 500: nobody knows
 * what that stream did meanwhile, unless the device was watched before. */
static void a_device_is_not_idle_while_a_stream_may_have_work(void **state)
{
    (void)state;
    static const struct {
        uint32_t stream;
        uint64_t launched_us, begin_us, end_us;
    } works[] = {{7, 20, 40, 50}, {7, 130, 140, 150}, {8, 60, 500, 520}, {7, 530, 540, 550}};
    for (int is_watched = 0; is_watched < 2; is_watched++) {
        takt_trace *trace = build_begin(US(1000));
        build_track(trace, "main");
        build_step(trace, 0, US(100), US(200));
        for (size_t i = 0; i < 4; i++) {
            uint64_t at = US(works[i].launched_us);
            uint32_t call = build_call(trace, 0, "cudaLaunchKernel", TKT_NO_SPAN, at, at + 1);
            tkt_activity *activity =
                build_launched(trace, call, "cuda:0", "kernel a", TAKT_TIMING_KERNEL,
                               US(works[i].begin_us), US(works[i].end_us));
            activity->stream = works[i].stream;
        }
        trace->devices.items[0].earlier_until_ns = is_watched ? US(0) : 0;
        build_end(trace);
        tkt_gaps gaps = {0};
        assert_int_equal(tkt_gaps_of(trace, &(tkt_gaps_wish){0}, &gaps), TAKT_OK);
        const tkt_idle *device = tkt_idle_of(&gaps, trace->devices.items[0].label);
        assert_int_equal(device->busy_ns, 1000 * (is_watched ? 50 : 70));
        assert_int_equal(device->idle_ns, 1000 * (is_watched ? 950 : 10 + 20 + 450));
        assert_int_equal(device->known_ns, device->busy_ns + device->idle_ns);
        assert_int_equal(device->unseen_ns, 1000 * (is_watched ? 0 : 80 + 350));
        assert_int_equal(listed_unseen(&gaps), device->unseen_ns);
        assert_int_equal(device->step_busy_ns, 10000);
        assert_int_equal(device->step_unknown_ns, 1000 * (is_watched ? 0 : 40 + 50));
        tkt_gaps_fini(&gaps);
        takt_trace_release(trace);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_pass_is_made_once),
        cmocka_unit_test(a_pass_that_failed_is_made_again),
        cmocka_unit_test(many_streams_have_a_row_each),
        cmocka_unit_test(a_device_is_not_idle_while_a_stream_may_have_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
