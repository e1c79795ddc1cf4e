/* One span for each call of the program's into CUDA, whatever ids the calls within it have, and
 * each activity in the scope that launched it. A call whose end nobody heard of hides no other. */
#include "simgpu/cudart.h"
#include "simgpu/driver.h"
#include "simgpu/sim.h"
#include "simgpu/profiled.h"
#include "support/test.h"

#include <takt/takt.h>

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#define THREADS 4
#define EACH    50 /* launches of a thread */

static const char kernel_of_stub, kernel_of_config, kernel_of_graph, kernel_of_thread;
static CUfunction kernel_of_driver;
static cudaGraphExec_t graph;
static cudaStream_t stream;
static void *memory;

static void launch_stub(const void *kernel)
{
    cudaKernel_t handle;
    check(__cudaGetKernel(&handle, kernel));
    check(__cudaLaunchKernel(handle, (dim3){1, 1, 1}, (dim3){32, 1, 1}, NULL, 0, NULL));
}

static void launch_config(void)
{
    const cudaLaunchConfig_t config = {.gridDim = {1, 1, 1}, .blockDim = {32, 1, 1}};
    check(cudaLaunchKernelExC(&config, &kernel_of_config, NULL));
}

static void make_graph(void)
{
    cudaGraph_t captured;
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < 2; i++)
        check(
            cudaLaunchKernel(&kernel_of_graph, (dim3){1, 1, 1}, (dim3){32, 1, 1}, NULL, 0, stream));
    check(cudaStreamEndCapture(stream, &captured));
    check(cudaGraphInstantiate(&graph, captured, 0));
}

static int set_up_device(void **state)
{
    CUmodule module;
    (void)state;
    use_stand_in("kernel=1us; memcpy=1us");
    sim_register_kernel(&kernel_of_stub, "stub");
    sim_register_kernel(&kernel_of_config, "config");
    sim_register_kernel(&kernel_of_graph, "graph");
    sim_register_kernel(&kernel_of_thread, "thread");
    check(cudaStreamCreate(&stream));
    check(cudaMalloc(&memory, 64));
    check(cuModuleLoadData(&module, "none"));
    check(cuModuleGetFunction(&kernel_of_driver, module, "driver"));
    make_graph();
    return 0;
}

/* ---- A window -------------------------------------------------------------------------------- */

static takt_profiler *start_in_foreground(void)
{
    return start_profiler((takt_profiler_options){.background = TAKT_OFF});
}

static void stop_without_loss(takt_profiler *profiler)
{
    stop_profiler(profiler);
    for (int i = 0; i < TAKT_LOSS_COUNT; i++)
        assert_int_equal(loss((takt_loss)i), 0);
}

static size_t calls_named(const char *name)
{
    size_t count = 0;
    for (size_t i = 0; i < takt_trace_count(last_trace, TAKT_TRACE_CALLS); i++) {
        takt_call_info call;
        takt_span_info span;
        assert_int_equal(takt_trace_call(last_trace, i, &call), TAKT_OK);
        assert_int_equal(takt_trace_span(last_trace, call.track, call.span, &span), TAKT_OK);
        count += strcmp(span.name, name) == 0;
    }
    return count;
}

/* Work is launched in the scope that is named like it, by this call. */
static size_t work_of(const char *scope, const char *launch)
{
    size_t count = 0;
    for (size_t i = 0; i < takt_trace_count(last_trace, TAKT_TRACE_ACTIVITIES); i++) {
        takt_activity activity;
        assert_int_equal(takt_trace_activity(last_trace, i, &activity), TAKT_OK);
        count += activity.scope && strcmp(activity.scope, scope) == 0 &&
                 strcmp(activity.launch, launch) == 0 && strstr(activity.name, scope);
    }
    return count;
}

static void *launch_many(void *unused)
{
    (void)unused;
    TAKT_SCOPE("thread");
    for (int i = 0; i < EACH; i++)
        launch_stub(&kernel_of_thread);
    return NULL;
}

/* ---- Ids ------------------------------------------------------------------------------------- */

static void launch_in_all_ways(void)
{
    TAKT_BEGIN("stub");
    for (int i = 0; i < 5; i++)
        launch_stub(&kernel_of_stub);
    TAKT_END("stub");
    TAKT_BEGIN("config");
    for (int i = 0; i < 4; i++)
        launch_config();
    TAKT_END("config");
    TAKT_BEGIN("driver");
    for (int i = 0; i < 3; i++)
        check(cuLaunchKernel(kernel_of_driver, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
    TAKT_END("driver");
    TAKT_BEGIN("graph");
    for (int i = 0; i < 2; i++)
        check(cudaGraphLaunch(graph, stream));
    TAKT_END("graph");
    char bytes[64];
    TAKT_BEGIN("memcpy");
    check(cudaMemcpy(bytes, memory, sizeof bytes, cudaMemcpyDeviceToHost));
    TAKT_END("memcpy");
}

static void run_threads(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, launch_many, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void assert_one_span_for_each_call(const char *options)
{
    sim_script(options);
    takt_profiler *profiler = start_in_foreground();
    launch_in_all_ways();
    run_threads();
    check(cudaDeviceSynchronize());
    stop_without_loss(profiler);
    assert_int_equal(calls_named("cudaLaunchKernel"), 5 + THREADS * EACH);
    assert_int_equal(takt_trace_count(last_trace, TAKT_TRACE_CALLS),
                     5 + THREADS * EACH + 4 + 3 + 2 + 1 + 1);
    assert_int_equal(work_of("stub", "cudaLaunchKernel"), 5);
    assert_int_equal(work_of("thread", "cudaLaunchKernel"), THREADS * EACH);
    assert_int_equal(work_of("config", "cudaLaunchKernelExC"), 4);
    assert_int_equal(work_of("driver", "cuLaunchKernel"), 3);
    assert_int_equal(work_of("graph", "cudaGraphLaunch"), 2 * 2);
    assert_int_equal(work_of("memcpy", "cudaMemcpy"), 1);
    assert_int_equal(takt_trace_count(last_trace, TAKT_TRACE_ACTIVITIES),
                     5 + THREADS * EACH + 4 + 3 + 4 + 1);
}

TEST(ids_are_shared)
{
    assert_one_span_for_each_call("driver.ids=shared");
    assert_one_span_for_each_call("driver.ids=shared; launch.nested=1");
}

TEST(work_has_the_outermost_calls_id)
{
    assert_one_span_for_each_call("driver.ids=outer");
    assert_one_span_for_each_call("driver.ids=outer; launch.nested=1");
}

TEST(work_has_the_innermost_calls_id)
{
    assert_one_span_for_each_call("driver.ids=inner");
    assert_one_span_for_each_call("driver.ids=inner; launch.nested=1");
}

/* What lies within the library of CUDA is left out. */
TEST(the_stack_of_a_call_begins_in_the_program)
{
    takt_call_info call;
    takt_frame_info frame;
    takt_profiler *profiler =
        start_profiler((takt_profiler_options){.background = TAKT_OFF, .with_stack = true});
    launch_stub(&kernel_of_stub);
    stop_without_loss(profiler);
    assert_int_equal(takt_trace_count(last_trace, TAKT_TRACE_CALLS), 1);
    assert_int_equal(takt_trace_call(last_trace, 0, &call), TAKT_OK);
    size_t stack = takt_trace_span_stack(last_trace, call.track, call.span);
    assert_true(stack != TAKT_NO_STACK);
    assert_int_equal(takt_trace_frame(last_trace, stack, 0, &frame), TAKT_OK);
    assert_non_null(strstr(frame.module, "/test_calls"));
}

/* ---- Lost ends ------------------------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int place;

static void go_to(int next)
{
    pthread_mutex_lock(&lock);
    place = next;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void wait_for(int expected)
{
    pthread_mutex_lock(&lock);
    while (place < expected)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

/* Within the call: a host function is called where it is launched. */
static void wait_within_a_call(void *unused)
{
    (void)unused;
    go_to(1);
    wait_for(2);
}

static void *lose_the_end_of_a_call(void *graph_that_waits)
{
    check(cudaGraphLaunch(graph_that_waits, stream));
    go_to(3);
    wait_for(4);
    launch_many(NULL);
    go_to(5);
    wait_for(6);
    make_graph();
    return NULL;
}

static cudaGraphExec_t make_graph_that_waits(void)
{
    cudaGraph_t captured;
    cudaGraphExec_t exec;
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    check(cudaLaunchHostFunc(stream, wait_within_a_call, NULL));
    check(cudaStreamEndCapture(stream, &captured));
    check(cudaGraphInstantiate(&exec, captured, 0));
    return exec;
}

/* The window ends while a thread is inside a call, whose end is then not told. */
TEST(a_call_without_end_hides_no_other)
{
    const char *const ids[] = {"driver.ids=shared", "driver.ids=outer", "driver.ids=inner"};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        sim_script(ids[i]);
        place = 0;
        takt_profiler *profiler = start_in_foreground();
        pthread_t thread;
        assert_int_equal(
            pthread_create(&thread, NULL, lose_the_end_of_a_call, make_graph_that_waits()), 0);
        wait_for(1);
        stop_without_loss(profiler);
        go_to(2);
        wait_for(3);
        profiler = start_in_foreground();
        go_to(4);
        wait_for(5);
        check(cudaDeviceSynchronize());
        stop_without_loss(profiler);
        assert_int_equal(calls_named("cudaLaunchKernel"), EACH);
        assert_int_equal(work_of("thread", "cudaLaunchKernel"), EACH);
        go_to(6);
        pthread_join(thread, NULL);
    }
}

int main(void)
{
    alarm(600);
    int failed = run_all_tests(set_up_device, NULL);
    takt_trace_release(last_trace);
    return failed;
}
