/* Device clocks that are off: what is printed covers how far, and nothing happens before its cause.
 * The script says how far each clock is off; when a kernel really began is known from when it was
 * launched, since its stream was empty. */
#include "simgpu/driver.h"
#include "simgpu/sim.h"
#include "simgpu/profiled.h"

#include "trace/devices.h"
#include "trace/model.h"

#include "support/test.h"

#include <takt/takt.h>

#include <stdio.h>
#include <stdlib.h>

#define US(n)    ((n)*UINT64_C(1000))
#define KERNEL   US(20)
#define LATENCY  US(1)
#define LAUNCHES 40  /* on each device */
#define SLACK_NS 500 /* what the host's own clocks and the stand-in's rounding may be off */

static CUcontext contexts[2];
static CUfunction kernel;

static int set_up_device(void **state)
{
    CUmodule module;
    (void)state;
    use_devices("devices=2; kernel=20us; latency=1us", contexts, 2, &module);
    check(cuModuleGetFunction(&kernel, module, "k"));
    return 0;
}

static void spin_until(uint64_t ns)
{
    while (takt_now_ns() < ns)
        ;
}

/* ---- A recording ----------------------------------------------------------------------------- */

typedef enum waiting {
    WAIT_AT_ONCE,
    WAIT_LATE,
    WAIT_NEVER
} waiting;

/* What is known of each device besides what Takt says: the host's clock before and after each
 * launch. */
static struct {
    uint64_t before_ns[2][LAUNCHES];
    uint64_t after_ns[2][LAUNCHES];
} truth;

static void launch(int device, int number)
{
    check(cuCtxSetCurrent(contexts[device]));
    truth.before_ns[device][number] = takt_now_ns();
    check(cuLaunchKernel(kernel, 16, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL));
    truth.after_ns[device][number] = takt_now_ns();
}

static void let_run(int device, int number, waiting how)
{
    spin_until(truth.after_ns[device][number] + KERNEL + LATENCY +
               (how == WAIT_LATE ? US(1000) : US(5)));
    if (how != WAIT_NEVER)
        check(cuCtxSynchronize());
}

/* Both devices in turns. */
static const takt_facts *record(const char *script, waiting how)
{
    takt_profiler *profiler;
    takt_profiler_options options = {
        .struct_size = sizeof options, .on_trace = keep_trace, .background = TAKT_OFF};
    sim_script(script);
    assert_int_equal(takt_profiler_create(&options, &profiler), TAKT_OK);
    assert_int_equal(takt_profiler_start(profiler), TAKT_OK);
    for (int i = 0; i < LAUNCHES; i++) {
        for (int device = 0; device < 2; device++) {
            launch(device, i);
            if (how == WAIT_AT_ONCE)
                check(cuCtxSynchronize());
            else
                let_run(device, i, how);
        }
    }
    assert_int_equal(takt_profiler_stop(profiler), TAKT_OK);
    takt_profiler_destroy(profiler);
    assert_int_equal(takt_trace_count(last_trace, TAKT_TRACE_ACTIVITIES), 2 * LAUNCHES);
    return takt_trace_facts(last_trace);
}

/* ---- What must hold -------------------------------------------------------------------------- */

/* The least by which the times of a device may be off, if off by the same all the time. */
static double least_error(int device)
{
    int64_t low = INT64_MIN, high = INT64_MAX;
    for (int i = 0; i < LAUNCHES; i++) {
        const tkt_activity *k = &last_trace->activities.items[2 * i + device];
        int64_t most = (int64_t)(k->begin_ns - truth.before_ns[device][i] - LATENCY);
        int64_t least = (int64_t)(k->begin_ns - truth.after_ns[device][i] - LATENCY);
        low = least > low ? least : low;
        high = most < high ? most : high;
    }
    assert_true(low <= high + SLACK_NS);
    return low > 0 ? (double)low : high < 0 ? (double)-high : 0;
}

/* What is printed covers what the times are off after Takt has moved them. */
static void assert_covered(void)
{
    const takt_facts *facts = takt_trace_facts(last_trace);
    for (int device = 0; device < 2; device++)
        if (least_error(device) > facts->device_uncertainty_ns + SLACK_NS)
            fail_msg("cuda:%d is off by %.0f ns or more, with %.0f ns printed", device,
                     least_error(device), facts->device_uncertainty_ns);
}

/* The same for the device that was moved the furthest, and was off by `offset_ns`. */
static void assert_covers(double offset_ns)
{
    const takt_facts *facts = takt_trace_facts(last_trace);
    double left_ns = offset_ns + facts->device_shift_ns;
    if (left_ns > facts->device_uncertainty_ns + SLACK_NS ||
        -left_ns > facts->device_uncertainty_ns + SLACK_NS)
        fail_msg("off by %.0f ns, moved by %.0f ns, with %.0f ns printed", offset_ns,
                 facts->device_shift_ns, facts->device_uncertainty_ns);
    assert_covered();
}

static void assert_nothing_precedes_its_launch(void)
{
    for (size_t i = 0; i < last_trace->activities.count; i++) {
        const tkt_activity *k = &last_trace->activities.items[i];
        assert_int_not_equal(k->call, TKT_NO_CALL);
        assert_true(k->begin_ns >= tkt_call_span(last_trace, k->call)->begin_ns);
        assert_int_equal(k->end_ns - k->begin_ns, KERNEL);
    }
}

/* Kernels and waits take turns. */
static void assert_nothing_follows_its_wait(void)
{
    size_t waits = 0;
    for (uint32_t i = 0; i < last_trace->calls.count; i++) {
        const tkt_span *span = tkt_call_span(last_trace, i);
        const tkt_trace_site *site = &last_trace->sites.items[tkt_span_site(span)];
        if (strcmp(tkt_trace_text(last_trace, site->name), "cuCtxSynchronize") != 0)
            continue;
        assert_true(waits < last_trace->activities.count);
        assert_true(last_trace->activities.items[waits].end_ns <= span->end_ns);
        waits++;
    }
    assert_int_equal(waits, 2 * LAUNCHES);
}

/* ---- Tests ----------------------------------------------------------------------------------- */

TEST(a_small_error_is_covered)
{
    static const struct {
        const char *script;
        double offset_ns;
    } clocks[] = {{"clock.offset=5us", 5000}, {"clock.offset=-5us", -5000}, {"", 0}};
    for (size_t i = 0; i < 3; i++) {
        const takt_facts *facts = record(clocks[i].script, WAIT_AT_ONCE);
        assert_false(facts->device_uncertainty_is_least);
        assert_covers(clocks[i].offset_ns);
        assert_nothing_precedes_its_launch();
        assert_nothing_follows_its_wait();
    }
}

TEST(a_clock_that_is_early_is_moved)
{
    const takt_facts *facts = record("clock.offset=-500us", WAIT_AT_ONCE);
    assert_true(facts->device_shift_ns > 0 && facts->device_shift_ns <= 500000 + SLACK_NS);
    assert_covers(-500000);
    assert_nothing_precedes_its_launch();
}

TEST(a_clock_that_is_late_is_moved)
{
    const takt_facts *facts = record("clock.offset=3ms", WAIT_AT_ONCE);
    assert_true(facts->device_shift_ns < 0 && facts->device_shift_ns >= -3000000 - SLACK_NS);
    assert_covers(3000000);
    assert_nothing_follows_its_wait();
}

TEST(each_device_is_moved_on_its_own)
{
    const takt_facts *facts = record("clock.offset@0=-500us; clock.offset@1=3ms", WAIT_AT_ONCE);
    assert_true(facts->device_shift_ns < 0);
    assert_covers(3000000);
    assert_nothing_precedes_its_launch();
    assert_nothing_follows_its_wait();
}

/* True if each activity is as near to its launch as is said. */
static bool is_covered(const takt_facts *facts)
{
    for (size_t k = 0; k < last_trace->activities.count; k++) {
        const tkt_activity *activity = &last_trace->activities.items[k];
        int device = (int)k % 2, number = (int)k / 2;
        double most_ns =
            (double)(int64_t)(activity->begin_ns - truth.before_ns[device][number] - LATENCY);
        double least_ns =
            (double)(int64_t)(activity->begin_ns - truth.after_ns[device][number] - LATENCY);
        if (least_ns > facts->device_uncertainty_ns + SLACK_NS ||
            most_ns < -facts->device_uncertainty_ns - SLACK_NS)
            return false;
    }
    return true;
}

/* 50 us off, and 0.2 us more with each millisecond. Durations stay the device's. What bounds the
 * error are waits, and those of a program that is interrupted bound less: it is tried again. */
TEST(a_clock_that_drifts_is_covered)
{
    static const char *const scripts[] = {
        "clock.offset@0=-50us; clock.drift@0=-200000; clock.offset@1=50us; clock.drift@1=200000",
        "clock.offset=50us; clock.drift@0=-200000; clock.drift@1=200000"};
    for (size_t i = 0; i < 2; i++) {
        while (!is_covered(record(scripts[i], WAIT_AT_ONCE)))
            ;
    }
}

/* Kernels that nobody waits for closely tell less of how late their clock is. No wait is close
 * while the machine is busy. */
TEST(close_waits_tell_more)
{
    double late_ns = record("", WAIT_LATE)->device_uncertainty_ns;
    assert_true(late_ns >= US(1000) - SLACK_NS);
    while (record("", WAIT_AT_ONCE)->device_uncertainty_ns >= US(1000) - SLACK_NS)
        ;
}

/* Only Takt waits, at the end; or nobody, and then nothing shows how late the clocks are. */
TEST(without_waits_it_is_said)
{
    static const char *const scripts[] = {"clock.offset=-500us", "clock.offset=5us"};
    for (size_t i = 0; i < 2; i++) {
        const takt_facts *facts = record(scripts[i], WAIT_NEVER);
        assert_nothing_precedes_its_launch();
        if (!facts->device_uncertainty_is_least)
            assert_covers(i == 0 ? -500000 : 5000);
    }
}

static int use_no_script(void **state)
{
    (void)state;
    sim_script("");
    return 0;
}

TEST_MAIN(set_up_device, use_no_script)
