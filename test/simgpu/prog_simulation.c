/* A simulation on the stand-ins that steps the environment's profiler, and ends in the way that its
 * argument says. check_programs.sh looks at what Takt makes of it. Each of the STEPS steps launches
 * two kernels in the scope "forces" and copies once in "output". */
#include "simgpu/launching.h"
#include "support/counters.h"

#include <takt/takt.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define STEPS 12

static CUcontext context;
static CUfunction kernel;
static CUdeviceptr memory;

static void prepare(void)
{
    CUmodule module;
    begin_cuda(&context, &module);
    check(cuModuleGetFunction(&kernel, module, "advance"));
    check(cuMemAlloc_v2(&memory, 4096));
}

static void launch(void)
{
    check(cuLaunchKernel(kernel, 8, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL));
}

static void step(void)
{
    char out[64];
    {
        TAKT_SCOPE("forces");
        launch();
        launch();
    }
    TAKT_SCOPE("output");
    check(cuMemcpyDtoH_v2(out, memory, sizeof out));
}

static void *launch_for_ever(void *unused)
{
    (void)unused;
    check(cuCtxSetCurrent(context));
    for (;;)
        launch();
    return NULL;
}

/* The child goes on stepping; it has no CUDA. */
static void fork_a_child(void)
{
    pid_t child = fork();
    int status;
    if (child == 0) {
        for (int i = 0; i < 3; i++) {
            TAKT_SCOPE("child");
            takt_profiler_step(NULL);
        }
        takt_timing *timing;
        if (takt_timing_begin(NULL, &timing) == TAKT_OK)
            takt_timing_free(timing);
        exit(0);
    }
    if (waitpid(child, &status, 0) != child || status != 0)
        printf("the child fails: %d\n", status);
}

int main(int argc, char **argv)
{
    const char *end = argc > 1 ? argv[1] : "return";
    pthread_t thread;
    prepare();
    takt_profiler_start(NULL);
    for (int i = 0; i < STEPS; i++) {
        if (i == 5 && strcmp(end, "fork") == 0)
            fork_a_child();
        if (i == 11 && strstr(end, "launching"))
            pthread_create(&thread, NULL, launch_for_ever, NULL);
        step();
        takt_profiler_step(NULL);
    }
    printf("%d steps\n", STEPS);
    fflush(stdout);
    if (strcmp(end, "_exit") == 0) {
        write_counters();
        _exit(0);
    }
    if (strcmp(end, "stop") == 0)
        takt_profiler_stop(NULL);
    if (strstr(end, "kill")) {
        const char *is_written = getenv("TEST_AWAIT"); /* a command that says so */
        while (is_written && system(is_written) != 0)
            usleep(50000);
        write_counters();
        kill(getpid(), SIGKILL);
    }
    return 0;
}
