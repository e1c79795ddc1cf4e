/* A program that uses CUDA and is profiled by Takt, to be run under faults.
 * What it computes goes to standard output and must be the same whatever
 * happens to CUPTI; what Takt says goes to standard error, and what it has
 * found as lines that begin with "#".
 *
 *     prog_faults [without] [second] [fork] [_exit] [exit] [capture] [reset]
 * [twice] [impatient]
 *
 *     without   runs without Takt
 *     second    another tool subscribes to CUPTI between two recordings
 *     fork      forks while it is recorded; the child records nothing, and ends
 *     _exit     ends with _exit(), recording
 *     exit      ends with exit(), recording, while a thread still launches
 *     capture   begins and ends a recording while a stream is being captured
 *     reset     resets the device while it is recorded
 *     twice     is recorded two times
 *     impatient Takt gives up after a second where it would after five */
#include "simgpu/cudart.h"
#include "simgpu/cupti_client.h"
#include "support/counters.h"
#include "support/settle.h"

#include <takt/takt.h>

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT 1024

static const char density, forces; /* addresses that stand for kernels */
static char **words;

static int has(const char *word)
{
    for (char **at = words; *at; at++) {
        if (!strcmp(*at, word))
            return 1;
    }
    return 0;
}

/* --- what the program computes
 * ------------------------------------------------------------------ */

static void check(const char *what, int status)
{
    if (status)
        printf("%s: %d\n", what, status);
}
#define CUDA(call) check(#call, (int)(call))

static void launch(const void *kernel, cudaStream_t stream)
{
    void *arguments[] = {NULL};
    check("launch",
          (int)cudaLaunchKernel(kernel, (dim3){4, 1, 1}, (dim3){128, 1, 1}, arguments, 0, stream));
}

static void capture(cudaStream_t stream)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    takt_timing *timing = NULL;
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    launch(&density, stream);
    if (!has("without"))
        takt_timing_begin(NULL, &timing);
    launch(&forces, stream);
    if (timing) {
        takt_timing_end(timing); /* which is not to synchronise now */
        takt_timing_free(timing);
    }
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    CUDA(cudaGraphLaunch(exec, stream));
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(graph));
}

static void compute(unsigned seed)
{
    TAKT_SCOPE("compute");
    unsigned char *host = NULL;
    void *memory = NULL;
    cudaStream_t stream;
    unsigned sum = 0;
    CUDA(cudaMallocHost((void **)&host, COUNT));
    if (!host)
        return; /* there is no device */
    CUDA(cudaMalloc(&memory, COUNT));
    CUDA(cudaStreamCreate(&stream));
    for (unsigned i = 0; i < COUNT; i++)
        host[i] = (unsigned char)(i * seed);
    CUDA(cudaMemcpyAsync(memory, host, COUNT, cudaMemcpyHostToDevice, stream));
    for (int i = 0; i < 10; i++) {
        launch(&density, stream);
        launch(&forces, NULL);
    }
    CUDA(cudaMemsetAsync(memory, (int)seed, COUNT / 2, stream));
    if (has("capture"))
        capture(stream);
    CUDA(cudaMemcpyAsync(host, memory, COUNT, cudaMemcpyDeviceToHost, stream));
    CUDA(cudaStreamSynchronize(stream));
    for (unsigned i = 0; i < COUNT; i++)
        sum = sum * 31 + host[i];
    printf("sum %u\n", sum);
    CUDA(cudaStreamDestroy(stream));
    CUDA(cudaFree(memory));
    CUDA(cudaFreeHost(host));
}

static void *launch_on(void *argument)
{
    (void)argument;
    for (;;)
        (void)cudaLaunchKernel(&forces, (dim3){1, 1, 1}, (dim3){32, 1, 1}, NULL, 0, NULL);
    return NULL;
}

static void fork_child(void)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        TAKT_SCOPE("child");
        takt_timing *timing = NULL;
        if (!has("without") && takt_timing_begin(NULL, &timing) == TAKT_OK)
            takt_timing_end(timing);
        takt_timing_free(timing);
        exit(7);
    }
    int status = 0;
    waitpid(child, &status, 0);
    printf("child ended with %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

/* Another tool, which leaves if it may come at all. */
static void subscribe_other(void)
{
    cupti_client cupti;
    sim_subscriber_handle subscriber = NULL;
    if (!cupti_client_open(&cupti, "libcupti.so.13") &&
        !cupti_client_open(&cupti, "libcupti.so.12"))
        return;
    int32_t status = cupti.cuptiSubscribe(&subscriber, (sim_callback_fn)0, NULL);
    printf("# another tool: %d\n", (int)status);
}

/* --- what Takt finds
 * ----------------------------------------------------------------------------
 */

static void on_trace(const takt_trace *trace, void *user)
{
    (void)user;
    const takt_facts *facts = takt_trace_facts(trace);
    unsigned long named = 0, within = 0;
    size_t count = takt_trace_count(trace, TAKT_TRACE_ACTIVITIES);
    for (size_t i = 0; i < count; i++) {
        takt_activity activity;
        takt_trace_activity(trace, i, &activity);
        named += strstr(activity.name, "kernel density") || strstr(activity.name, "kernel forces");
        within += activity.scope && !strcmp(activity.scope, "compute");
    }
    printf("# backend %s\n# activities %zu, kernels %lu, in compute %lu\n", facts->backend, count,
           named, within);
    for (int i = 0; i < TAKT_LOSS_COUNT; i++) {
        if (takt_trace_loss(trace, (takt_loss)i))
            printf("# %s %llu\n", takt_loss_name((takt_loss)i),
                   (unsigned long long)takt_trace_loss(trace, (takt_loss)i));
    }
}

static takt_profiler *begin(void)
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt_profiler *profiler = NULL;
    options.on_trace = on_trace;
    if (has("without") || takt_profiler_create(&options, &profiler) != TAKT_OK)
        return NULL;
    takt_profiler_start(profiler);
    return profiler;
}

static void end(takt_profiler *profiler)
{
    if (!profiler)
        return;
    takt_profiler_stop(profiler);
    takt_profiler_destroy(profiler);
}

int main(int argc, char **argv)
{
    (void)argc;
    words = argv + 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (has("impatient"))
        be_impatient();
    sim_register_kernel(&density, "_Z7densityPfi");
    sim_register_kernel(&forces, "_Z6forcesPf");
    CUDA(cudaFree(NULL));
    takt_profiler *profiler = begin();
    compute(3);
    if (has("fork"))
        fork_child();
    if (has("reset"))
        CUDA(cudaDeviceReset());
    if (has("second"))
        subscribe_other();
    if (has("twice") || has("reset")) {
        end(profiler);
        profiler = begin();
        compute(5);
    }
    if (has("_exit")) {
        write_counters();
        _exit(5);
    }
    if (has("exit")) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, launch_on, NULL))
            return 1;
        usleep(20000);
        exit(6);
    }
    end(profiler);
    return 0;
}
