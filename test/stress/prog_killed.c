/* Records with output.stream until it is killed, or exits after STEPS without stopping the
 * profiler. Two threads; says on standard output how many steps are behind it, a line a step.
 *
 *     prog_killed DIRECTORY [STEPS] */
#include <takt/takt.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void wait_ms(unsigned ms)
{
    uint64_t end = takt_now_ns() + (uint64_t)ms * 1000000;
    while (takt_now_ns() < end)
        continue;
}

static bool is_beside; /* atomic */

static void *record_beside(void *unused)
{
    takt_thread_name("beside");
    for (bool is_first = true;; is_first = false) {
        if (!is_first) /* a scope has ended */
            __atomic_store_n(&is_beside, true, __ATOMIC_RELAXED);
        TAKT_SCOPE("beside");
        TAKT_ARG("text", "a value");
        TAKT_COUNTER("counter", 1);
        wait_ms(1);
    }
    return unused;
}

int main(int argc, char **argv)
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt_profiler *profiler = NULL;
    pthread_t thread;
    options.name = "killed";
    options.directory = argc > 1 ? argv[1] : ".";
    options.stream = true;
    options.schedule = (takt_schedule){.active = 1000000};
    if (takt_profiler_create(&options, &profiler) != TAKT_OK ||
        takt_profiler_start(profiler) != TAKT_OK ||
        pthread_create(&thread, NULL, record_beside, NULL) != 0)
        return 1;
    unsigned steps = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
    TAKT_SCOPE("never finished");
    while (!__atomic_load_n(&is_beside, __ATOMIC_RELAXED))
        wait_ms(1);
    for (unsigned step = 1; steps == 0 || step <= steps; step++) {
        TAKT_SCOPE("step");
        for (int i = 0; i < 100; i++) {
            TAKT_SCOPE("work");
        }
        wait_ms(2);
        takt_profiler_step(profiler);
        printf("%u\n", step);
        fflush(stdout);
    }
    exit(0);
}
