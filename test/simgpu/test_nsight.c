/* The capture range of Nsight's tools: they hear of exactly the steps that Takt records. The
 * stand-in counts cuProfilerStart() and cuProfilerStop(), and knows which launch is between them.
 * check_backends.sh runs this also while another tool holds CUPTI, and without it. */
#include "simgpu/driver.h"
#include "simgpu/profiled.h"
#include "simgpu/sim.h"

#include "cuda/cuda.h"
#include "support/lost.h"
#include "support/test.h"

#include <takt/config.h>
#include <takt/takt.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static CUcontext contexts[2];
static CUmodule module;

static int set_up_devices(void **state)
{
    (void)state;
    use_devices("devices=2", contexts, 2, &module);
    return 0;
}

static const char *script(const char *more)
{
    static char text[200];
    const char *owner = getenv("TEST_OTHER_TOOL") ? "; cupti.owner=Nsight Systems" : "";
    snprintf(text, sizeof text, "%s%s", more, owner);
    return text;
}

static void launch(void)
{
    CUfunction function;
    check(cuModuleGetFunction(&function, module, "k"));
    check(cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL));
}

static bool is_idle(void)
{
    return cuStreamQuery(NULL) == 0;
}

static sim_profiling before;

static uint32_t starts(void)
{
    return sim_profiling_now().starts - before.starts;
}

static uint32_t stops(void)
{
    return sim_profiling_now().stops - before.stops;
}

static int begin_test(void **state)
{
    (void)state;
    sim_script(script(""));
    before = sim_profiling_now();
    return 0;
}

static const takt_profiler_options captured = {.nsight = TAKT_NSIGHT_CAPTURE_RANGE,
                                               .background = TAKT_OFF};

static takt_profiler *start_captured(takt_schedule schedule)
{
    takt_profiler_options options = captured;
    options.schedule = schedule;
    return start_profiler(options);
}

static void step(takt_profiler *profiler)
{
    assert_int_equal(takt_profiler_step(profiler), TAKT_OK);
}

/* Two cycles of wait 1, warmup 1, active 2: steps 2, 3, 6 and 7. */
TEST_WITH(the_range_is_exactly_the_recorded_steps, begin_test, NULL)
{
    takt_profiler *profiler =
        start_captured((takt_schedule){.wait = 1, .warmup = 1, .active = 2, .repeat = 2});
    for (int i = 0; i < 10; i++) {
        bool is_recorded = i == 2 || i == 3 || i == 6 || i == 7;
        assert_int_equal(sim_profiling_now().is_on, is_recorded);
        launch();
        step(profiler);
    }
    assert_false(sim_profiling_now().is_on);
    assert_true(starts() > 0 && starts() == stops());
    assert_true(takt_trace_facts(takt_profiler_trace(profiler))->has_capture_range);
    stop_profiler(profiler);
    assert_true(starts() == stops());
}

static int let_go(void **state)
{
    (void)state;
    sim_hold(false);
    return 0;
}

/* Nothing that an earlier step launched runs in the range, and what it launched is over. */
TEST_WITH(the_range_begins_and_ends_idle, begin_test, let_go)
{
    sim_script(script("kernel=20ms"));
    takt_profiler *profiler =
        start_captured((takt_schedule){.warmup = 1, .active = 1, .repeat = 1});
    sim_hold(true); /* devices stand still but for what is waited for */
    launch();
    assert_false(is_idle());
    step(profiler);
    assert_true(is_idle() && sim_profiling_now().is_on);
    launch();
    step(profiler);
    assert_true(is_idle() && !sim_profiling_now().is_on);
    sim_hold(false);
    stop_profiler(profiler);
}

TEST_WITH(every_device_is_in_the_range, begin_test, NULL)
{
    takt_profiler *profiler = start_captured((takt_schedule){.active = 0});
    for (int i = 0; i < 2; i++) {
        check(cuCtxSetCurrent(contexts[i]));
        assert_true(sim_profiling_now().is_on);
    }
    stop_profiler(profiler);
    for (int i = 2; i-- > 0;) {
        check(cuCtxSetCurrent(contexts[i]));
        assert_false(sim_profiling_now().is_on);
    }
}

/* A step without a schedule's end: the destructor stops. */
TEST_WITH(a_profiler_that_is_destroyed_ends_its_range, begin_test, NULL)
{
    takt_profiler *profiler = start_captured((takt_schedule){.active = 5, .repeat = 1});
    assert_true(sim_profiling_now().is_on);
    takt_profiler_destroy(profiler);
    assert_false(sim_profiling_now().is_on);
}

/* The first to begin starts, the last to end stops. */
TEST_WITH(ranges_that_overlap_become_one, begin_test, NULL)
{
    takt_profiler *first = start_captured((takt_schedule){.active = 0});
    uint32_t once = starts();
    takt_profiler *second = start_captured((takt_schedule){.active = 0});
    assert_int_equal(starts(), once);
    stop_profiler(first);
    assert_int_equal(stops(), 0);
    assert_true(sim_profiling_now().is_on);
    stop_profiler(second);
    assert_false(sim_profiling_now().is_on);
    assert_int_equal(stops(), once);
}

static void *begin_and_end(void *unused)
{
    for (int i = 0; i < 200; i++) {
        if (!tkt_cuda_range_begin())
            return unused;
        tkt_cuda_range_end();
    }
    return NULL;
}

TEST_WITH(threads_leave_the_range_as_they_found_it, begin_test, NULL)
{
    pthread_t threads[8];
    char failed;
    for (int i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, begin_and_end, &failed), 0);
    for (int i = 0; i < 8; i++) {
        void *result;
        assert_int_equal(pthread_join(threads[i], &result), 0);
        assert_null(result);
    }
    assert_false(sim_profiling_now().is_on);
    assert_true(starts() > 0 && starts() == stops());
}

TEST_WITH(without_the_option_nothing_is_called, begin_test, NULL)
{
    takt_profiler_options options = captured;
    options.nsight = TAKT_NSIGHT_OFF;
    takt_profiler *profiler = start_profiler(options);
    launch();
    stop_profiler(profiler);
    assert_int_equal(starts() + stops(), 0);
    assert_false(takt_trace_facts(last_trace)->has_capture_range);
}

static char log_text[400];
static int log_lines;

static void note_log(takt_log_level level, const char *line, void *user)
{
    (void)user;
    if (level == TAKT_LOG_INFO || !strstr(line, "nsight"))
        return;
    snprintf(log_text, sizeof log_text, "%s", line);
    log_lines++;
}

/* The driver refuses: as where no context is alive yet. Each profiler goes on, the log says it
 * once, and nothing is stopped that was not started. */
TEST_WITH(a_range_that_cannot_begin_is_told_once, begin_test, NULL)
{
    takt_set_log(note_log, NULL);
    sim_script(script("fault=cuProfilerStart=201"));
    for (int i = 0; i < 2; i++) {
        takt_profiler *profiler = start_captured((takt_schedule){.active = 0});
        launch();
        stop_profiler(profiler);
    }
    takt_set_log(NULL, NULL);
    assert_int_equal(starts() + stops(), 0);
    assert_int_equal(log_lines, 1);
    assert_non_null(strstr(log_text, "step 0 is not in Nsight's recording"));
    sim_script(script(""));
    takt_profiler *profiler = start_captured((takt_schedule){.active = 0});
    assert_true(sim_profiling_now().is_on);
    stop_profiler(profiler);
}

TEST_MAIN(set_up_devices, NULL)
