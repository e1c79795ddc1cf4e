/* Threads that all begin the process's first timing at once: CUPTI is on before any of them goes
 * on. Nothing else may record before, so this is a program of its own. */
#include "simgpu/driver.h"
#include "simgpu/profiled.h"

#include "support/test.h"

#include <takt/takt.h>

#include <pthread.h>

enum {
    THREADS = 8
};

static CUcontext context;
static CUmodule module;
static pthread_barrier_t start;

static int set_up_device(void **state)
{
    (void)state;
    use_devices("devices=1; kernel=20us", &context, 1, &module);
    return 0;
}

static void *time_a_launch(void *found)
{
    takt_timing *timing = NULL;
    CUfunction function;
    CUstream stream;
    bool is_ready = cuCtxSetCurrent(context) == 0 && cuStreamCreate(&stream, 0) == 0 &&
                    cuModuleGetFunction(&function, module, "k") == 0;
    pthread_barrier_wait(&start);
    if (!is_ready || takt_timing_begin(NULL, &timing) != TAKT_OK)
        return NULL;
    cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, stream, NULL, NULL);
    takt_timing_end(timing);
    *(size_t *)found = takt_timing_count(timing);
    takt_timing_free(timing);
    return NULL;
}

TEST(each_of_the_first_timings_has_its_launch)
{
    pthread_t threads[THREADS];
    size_t found[THREADS] = {0};
    pthread_barrier_init(&start, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, time_a_launch, &found[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        assert_true(found[i] >= 1); /* also what others launched meanwhile */
    pthread_barrier_destroy(&start);
}

TEST_MAIN(set_up_device, NULL)
