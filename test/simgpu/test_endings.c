/* How programs end what they record of: contexts that are reset or destroyed, and processes that
 * fork before and after they use CUDA. The stand-in hangs where CUPTI does: in a call that a forked
 * child makes of a parent that used it. */
#include "simgpu/cudart.h"
#include "simgpu/driver.h"
#include "simgpu/machine.h"
#include "simgpu/profiled.h"
#include "support/test.h"
#include "support/emulated.h"
#include "support/skip.h"

#include <takt/takt.h>

#include <errno.h>
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static const char kernel, slow, faulty;

static void launch_one(const char *function)
{
    assert_int_equal(cudaLaunchKernel(function, (dim3){1, 1, 1}, (dim3){32, 1, 1}, NULL, 0, NULL),
                     0);
}

/* A device that has nothing else to do may fail before the call returns: false, and nobody knows
 * whether there is a launch. */
static bool launch_faulty(void)
{
    return cudaLaunchKernel(&faulty, (dim3){1, 1, 1}, (dim3){32, 1, 1}, NULL, 0, NULL) == 0;
}

static void launch(int count)
{
    for (int i = 0; i < count; i++)
        launch_one(&kernel);
}

static takt_profiler *start_in_process(bool in_foreground)
{
    takt_profiler *profiler = NULL;
    const takt_profiler_options options = {.struct_size = sizeof options,
                                           .on_trace = keep_trace,
                                           .background = in_foreground ? TAKT_OFF : TAKT_ON};
    takt_profiler_create(&options, &profiler);
    takt_profiler_start(profiler);
    return profiler;
}

static size_t stop_in_process(takt_profiler *profiler)
{
    takt_profiler_stop(profiler);
    takt_profiler_destroy(profiler);
    return last_trace ? takt_trace_count(last_trace, TAKT_TRACE_ACTIVITIES) : 0;
}

/* ---- Forks, which come first: the parent has not used CUDA ------------------------------------
 */

static int wait_for(pid_t child)
{
    int status;
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static int run_in_child(int (*run)(void))
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(600); /* ends a child that hangs */
        exit(run());
    }
    return wait_for(child);
}

static int use_cuda(void)
{
    takt_profiler *profiler = start_in_process(true);
    launch(3);
    cudaDeviceSynchronize();
    return stop_in_process(profiler) == 3 ? 0 : 1;
}

static int use_cuda_in_a_grandchild(void)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        exit(use_cuda());
    return wait_for(child);
}

static int use_cuda_as_a_daemon(void)
{
    int ends[2];
    char result = 1;
    if (pipe(ends) != 0)
        return 2;
    pid_t child = fork();
    if (child == 0) {
        if (daemon(1, 1) != 0)
            _exit(3);
        alarm(600);
        result = (char)use_cuda();
        _exit(write(ends[1], &result, 1) != 1);
    }
    close(ends[1]);
    wait_for(child);
    return read(ends[0], &result, 1) == 1 ? result : 4;
}

TEST(a_child_of_a_parent_without_cuda_records_it)
{
    assert_int_equal(run_in_child(use_cuda), 0);
    assert_int_equal(run_in_child(use_cuda_in_a_grandchild), 0);
    assert_int_equal(run_in_child(use_cuda_as_a_daemon), 0);
}

TEST(so_does_one_whose_parent_has_recorded_its_own_scopes)
{
    if (test_runner())
        SKIP_CASE("the emulator runs a thread of its own, as if the parent had others");
#ifdef __SANITIZE_THREAD__
    SKIP_CASE("ThreadSanitizer runs a thread of its own");
#endif
    takt_profiler *profiler;
    const takt_profiler_options options = {.struct_size = sizeof options,
                                           .activities = TAKT_ACTIVITIES_CPU,
                                           .on_trace = keep_trace,
                                           .background = TAKT_OFF};
    assert_int_equal(takt_profiler_create(&options, &profiler), TAKT_OK);
    assert_int_equal(takt_profiler_start(profiler), TAKT_OK);
    {
        TAKT_SCOPE("host");
    }
    assert_int_equal(stop_in_process(profiler), 0);
    assert_int_equal(run_in_child(use_cuda), 0);
}

static int record_without_cuda(void)
{
    takt_profiler *profiler = start_in_process(true);
    {
        TAKT_SCOPE("child");
    }
    return stop_in_process(profiler) == 0 && takt_trace_count(last_trace, TAKT_TRACE_TRACKS) > 0
               ? 0
               : 1;
}

/* CUDA cannot be used then, but the child ends, and has its scopes. */
TEST(a_child_of_a_parent_that_used_cuda_without_takt_records_its_scopes)
{
    launch(1);
    cudaDeviceSynchronize();
    assert_int_equal(run_in_child(record_without_cuda), 0);
}

/* ---- Resets ---------------------------------------------------------------------------------- */

#define LAUNCHES 4

static void reset_device(void)
{
    assert_int_equal(cudaDeviceReset(), 0);
}

static void reset_primary_context(void)
{
    assert_int_equal(cuDevicePrimaryCtxReset_v2(0), 0);
}

static CUcontext own_context;

static void destroy_context(void)
{
    assert_int_equal(cuCtxDestroy_v2(own_context), 0);
}

/* What was launched before is in the trace, and so is what is launched after. */
static void assert_reset_loses_nothing(void (*reset)(void))
{
    takt_profiler *profiler = start_in_process(true);
    launch(LAUNCHES);
    reset();
    launch(1);
    cudaDeviceSynchronize();
    assert_int_equal(stop_in_process(profiler), LAUNCHES + 1);
    for (int i = 0; i < TAKT_LOSS_COUNT; i++)
        assert_int_equal(takt_trace_loss(last_trace, (takt_loss)i), 0);
}

TEST(what_was_launched_before_a_reset_is_in_the_trace)
{
    assert_reset_loses_nothing(reset_device);
    assert_reset_loses_nothing(reset_primary_context);
    assert_int_equal(cuCtxCreate_v2(&own_context, 0, 0), 0);
    assert_reset_loses_nothing(destroy_context);
}

/* ---- Errors ---------------------------------------------------------------------------------- */

/* Somebody noticed the error. Who waits for a quiet device instead waits for longer than alarm() of
 * main() lets this program run: see be_patient(). */
static void assert_ended_by_error(size_t activities, uint64_t least, uint64_t most)
{
    assert_int_equal(takt_trace_count(last_trace, TAKT_TRACE_ACTIVITIES), activities);
    assert_in_range(loss(TAKT_LOSS_INCOMPLETE), least, most);
    reset_device();
}

/* Such as an illegal address. What had finished is in the trace, and nobody waits for the rest. */
TEST(an_error_of_the_device_ends_the_window_at_once)
{
    static const char *const scripts[] = {
        "kernel=1ms; error.faulty=700",
        "kernel=1ms; error.faulty=700; errors=everywhere",
        "kernel=1ms; error.faulty=719; fault=cuCtxRecordEvent=719; driver.version=12040",
    };
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        sim_script(scripts[i]);
        takt_profiler *profiler = start_in_process(true);
        launch(LAUNCHES);
        bool is_launched = launch_faulty();
        assert_int_not_equal(cudaDeviceSynchronize(), 0);
        stop_in_process(profiler);
        assert_ended_by_error(LAUNCHES, is_launched, 1);
    }
}

static void *stop_elsewhere(void *profiler)
{
    stop_in_process(profiler);
    return NULL;
}

/* The window's end marks the moment on the device. With a driver before 12.5 a thread waits for the
 * device instead: the stand-in then calls this in place of the C library's function. */
static atomic_bool is_marked;

__attribute__((visibility("default"))) int
clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left)
{
    atomic_store(&is_marked, true);
    return syscall(SYS_clock_nanosleep, clock, flags, time, left) == 0 ? 0 : errno;
}

static void note_mark(const sim_call *call)
{
    if (strcmp(call->function, "cuCtxRecordEvent") == 0)
        atomic_store(&is_marked, true);
}

static void *launch_slow(void *unused)
{
    launch_one(&slow);
    return unused;
}

/* The window's work is done by then, but its buffer also holds the next window's kernel that
 * fails. */
TEST(so_does_an_error_after_the_windows_work)
{
    pthread_t thread, other;
    sim_script("kernel=100ms; kernel.slow=400ms; error.faulty=700");
    takt_profiler *profiler = start_in_process(true), *next = start_in_process(true);
    launch(1);
    atomic_store(&is_marked, false);
    sim_before_return(note_mark);
    assert_int_equal(pthread_create(&thread, NULL, stop_elsewhere, profiler), 0);
    while (!atomic_load(&is_marked))
        usleep(1000);
    sim_before_return(NULL);
    assert_int_equal(pthread_create(&other, NULL, launch_slow, NULL), 0);
    pthread_join(other, NULL);
    launch_faulty();
    pthread_join(thread, NULL);
    assert_ended_by_error(1, 0, 0);
    stop_in_process(next);
    sim_script(NULL);
}

/* ---- Forks after CUDA ------------------------------------------------------------------------ */

static takt_profiler *of_parent;
static takt_timer timer_of_parent;

static int try_everything(void)
{
    takt_timing *timing = NULL;
    {
        TAKT_SCOPE("child");
    }
    if (takt_timing_begin(NULL, &timing) != TAKT_BAD_STATE)
        return 1;
    takt_timer_end(&timer_of_parent);
    takt_profiler_stop(of_parent);
    return 0;
}

static int do_nothing(void)
{
    return 0;
}

static int run_another_program(void)
{
    execl("/bin/sh", "sh", "-c", "exit 7", (char *)NULL);
    return 1;
}

static void *launch_meanwhile(void *is_over)
{
    while (!__atomic_load_n((bool *)is_over, __ATOMIC_RELAXED)) {
        TAKT_SCOPE("meanwhile");
        launch(1);
        usleep(200);
    }
    return NULL;
}

static void fork_in_all_ways(void)
{
    pid_t child;
    char *const arguments[] = {(char *)"sh", (char *)"-c", (char *)"exit 5", NULL};
    assert_int_equal(run_in_child(try_everything), 0);
    assert_int_equal(run_in_child(do_nothing), 0);
    assert_int_equal(run_in_child(run_another_program), 7);
    assert_int_equal(posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environ), 0);
    assert_int_equal(wait_for(child), 5);
    assert_int_equal(WEXITSTATUS(system("exit 6")), 6);
    child = vfork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", "exit 8", (char *)NULL);
        _exit(1);
    }
    assert_int_equal(wait_for(child), 8);
}

/* With threads that launch, a timer, and the threads of a profiler in the background. */
TEST(a_child_of_a_parent_with_cuda_is_silent_and_ends)
{
    pthread_t thread;
#ifdef __SANITIZE_ADDRESS__
    SKIP_CASE("AddressSanitizer's own allocator may be locked in the child");
#endif
    bool is_over = false;
    const takt_timer_options options = {
        .struct_size = sizeof options, .detailed = true, .silent = true, .filter = TAKT_TIMING_ALL};
    of_parent = start_in_process(false);
    takt_timer_begin(&timer_of_parent, "timer", &options);
    assert_int_equal(pthread_create(&thread, NULL, launch_meanwhile, &is_over), 0);
    fork_in_all_ways();
    __atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    takt_timer_end(&timer_of_parent);
    cudaDeviceSynchronize();
    assert_true(stop_in_process(of_parent) > 0);
    assert_int_equal(run_in_child(do_nothing), 0);
}

/* Nothing is recorded any more, but the thread that collects is still there. */
static int try_cuda_after_the_parent(void)
{
    takt_timing *timing = NULL;
    return takt_timing_begin(NULL, &timing) == TAKT_BAD_STATE ? 0 : 1;
}

TEST(nor_does_it_record_when_the_parent_has_ended)
{
    assert_int_equal(run_in_child(try_cuda_after_the_parent), 0);
}

int main(void)
{
    alarm(600);
    use_stand_in("kernel=1ms; cupti.reset_loses=1; cupti.flush_keeps=1");
    sim_register_kernel(&kernel, "kernel");
    sim_register_kernel(&slow, "slow");
    sim_register_kernel(&faulty, "faulty");
    int failed = run_all_tests(NULL, NULL);
    takt_trace_release(last_trace);
    return failed;
}
