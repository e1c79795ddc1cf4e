/* A profiler that waits initialises CUPTI once the program has initialised the driver, for graphs
 * that it makes meanwhile, and gives it back to other tools; from releases of which only the first
 * session is right it keeps it. */
#include "simgpu/driver.h"
#include "simgpu/profiled.h"

#include "support/skip.h"
#include "support/test.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define TAKEN 39 /* CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED */

static CUmodule module;

static int set_up(void **state)
{
    CUcontext context;
    (void)state;
    if (getenv("TEST_LATE_DRIVER"))
        use_stand_in("cupti.version=130101");
    else
        use_devices(getenv("TEST_ONE_SESSION") ? "cupti.version=130001" : "cupti.version=130101",
                    &context, 1, &module);
    return 0;
}

/* NULL if nobody has loaded CUPTI. */
static void find_function(void *function, const char *name)
{
    void *library = dlopen(getenv("TAKT_CUPTI_LIBRARY"), RTLD_NOW | RTLD_NOLOAD);
    *(void **)function = library ? dlsym(library, name) : NULL;
}

static void hear_nothing(void)
{
}

/* What another tool gets that wants CUPTI now: its status; -1 if nobody has loaded CUPTI. */
static int take_cupti(void)
{
    void *subscriber;
    int (*subscribe)(void **, void (*)(void), void *);
    int (*unsubscribe)(void *);
    find_function(&subscribe, "cuptiSubscribe");
    find_function(&unsubscribe, "cuptiUnsubscribe");
    int status = subscribe ? subscribe(&subscriber, hear_nothing, NULL) : -1;
    if (status == 0)
        assert_int_equal(unsubscribe(subscriber), 0);
    return status;
}

static takt_profiler *start_waiting(uint32_t activities)
{
    return start_profiler(
        (takt_profiler_options){.schedule = {.wait = 2, .warmup = 1, .active = 1, .repeat = 1},
                                .activities = activities,
                                .background = TAKT_OFF});
}

static void launch(void)
{
    CUfunction function;
    check(cuModuleGetFunction(&function, module, "k"));
    check(cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL));
}

static void step(takt_profiler *profiler)
{
    launch();
    assert_int_equal(takt_profiler_step(profiler), TAKT_OK);
}

TEST(without_activities_of_devices_cupti_is_left_alone)
{
    takt_profiler *profiler = start_waiting(TAKT_ACTIVITIES_CPU);
    assert_int_equal(take_cupti(), -1);
    takt_profiler_destroy(profiler);
}

TEST(a_waiting_profiler_initialises_cupti)
{
    takt_profiler *profiler = start_waiting(0);
    assert_int_equal(take_cupti(), getenv("TEST_ONE_SESSION") ? TAKEN : 0);
    for (int i = 0; i < 4; i++)
        step(profiler);
    stop_profiler(profiler);
    assert_int_equal(takt_trace_count(last_trace, TAKT_TRACE_ACTIVITIES), 1);
    for (int i = 0; i < TAKT_LOSS_COUNT; i++)
        assert_int_equal(loss((takt_loss)i), 0);
}

static int wait_for_child(pid_t child)
{
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

/* Runs this program anew with that variable. */
static void run_with(const char *variable)
{
    pid_t child = fork();
    if (child == 0) {
        setenv(variable, "1", 1);
        execl("/proc/self/exe", "test_waiting", (char *)NULL);
        _exit(127);
    }
    assert_int_equal(wait_for_child(child), 0);
}

TEST(of_releases_with_one_session_it_stays_the_first)
{
    run_with("TEST_ONE_SESSION");
}

TEST(the_driver_is_the_programs_to_initialise)
{
#ifdef __SANITIZE_THREAD__
    SKIP_CASE("ThreadSanitizer runs a thread of its own, so that children do not record");
#endif
    run_with("TEST_LATE_DRIVER");
}

/* In the process of the test before. */
TEST(until_the_driver_is_initialised_cupti_is_left_alone_and_children_record)
{
    CUcontext context;
    takt_profiler *profiler = start_waiting(0);
    assert_int_equal(take_cupti(), -1);
    assert_int_equal(takt_profiler_step(profiler), TAKT_OK);
    assert_int_equal(take_cupti(), -1);
    takt_profiler_destroy(profiler);
    pid_t child = fork();
    if (child == 0) {
        profiler = start_profiler((takt_profiler_options){.background = TAKT_OFF});
        check(cuInit(0));
        check(cuDevicePrimaryCtxRetain(&context, 0));
        check(cuCtxSetCurrent(context));
        check(cuModuleLoadData(&module, "none"));
        launch();
        stop_profiler(profiler);
        exit(takt_trace_count(last_trace, TAKT_TRACE_ACTIVITIES) == 1 ? 0 : 1);
    }
    assert_int_equal(wait_for_child(child), 0);
    profiler = start_waiting(0);
    assert_int_equal(take_cupti(), -1);
    check(cuInit(0));
    assert_int_equal(takt_profiler_step(profiler), TAKT_OK);
    assert_int_equal(take_cupti(), 0);
    takt_profiler_destroy(profiler);
}

/* Each in a process of its own: the stand-in has one release at a time, and one driver. */
int main(void)
{
    if (getenv("TEST_LATE_DRIVER"))
        cmocka_set_test_filter("until_*");
    else if (getenv("TEST_ONE_SESSION"))
        cmocka_set_test_filter("*cupti");
    else
        cmocka_set_skip_filter("until_*");
    return run_all_tests(set_up, NULL);
}
