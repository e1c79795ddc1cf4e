/* A pool of threads that works in rounds: main works too, and the workers wait for it in a scope.
 * Each round is a step, with a counter, and with requests on a track that overlap.
 *
 *     prog_threads FOLDER THREADS
 *
 * writes FOLDER/pool.0.pftrace and FOLDER/pool.0.trace.json. */
#include <takt/takt.h>

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    ROUNDS = 6,
    MOST_THREADS = 64
};

static pthread_barrier_t begun, ended;
static int threads;

static void work(uint32_t amount)
{
    volatile uint32_t sum = 0;
    for (uint32_t i = 0; i < amount * 100; i++)
        sum += i;
}

static void run_jobs(int thread)
{
    for (int job = thread; job < 3 * threads; job += threads) {
        TAKT_SCOPE("job");
        work((uint32_t)(job % 7) + 1);
        if (job % 3 == 0) {
            TAKT_SCOPE("inner");
            work(1);
        }
    }
}

static void wait_for_round(void)
{
    TAKT_SCOPE("wait for work");
    pthread_barrier_wait(&begun);
}

static void *run_worker(void *user)
{
    int number = (int)(intptr_t)user;
    char name[32];
    snprintf(name, sizeof name, "worker %d", number);
    if (number % 2)
        takt_thread_name(name);
    for (int round = 0; round < ROUNDS; round++) {
        wait_for_round();
        run_jobs(number);
        pthread_barrier_wait(&ended);
    }
    return NULL;
}

static void run_round(int round)
{
    takt_span requests[4];
    TAKT_SCOPE("round");
    for (int i = 0; i < 4; i++)
        requests[i] = takt_span_begin(takt_track_named(i % 2 ? "disk" : "net"), "request");
    {
        TAKT_SCOPE("jobs");
        pthread_barrier_wait(&begun);
        run_jobs(0);
        pthread_barrier_wait(&ended);
    }
    for (int i = 0; i < 4; i++)
        takt_span_end(requests[i]);
    TAKT_COUNTER("rounds", round + 1);
    TAKT_COUNTER("load", 100.0 / (round + 1));
    work(20);
    TAKT_COUNTER("load", 1.5 * round);
}

static takt_profiler *start(const char *folder)
{
    static const char *const traces[] = {"perfetto", "chrome"};
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt_profiler *profiler;

    options.name = "pool";
    options.directory = folder;
    options.traces = traces;
    options.trace_count = 2;
    if (takt_profiler_create(&options, &profiler) != TAKT_OK ||
        takt_profiler_start(profiler) != TAKT_OK)
        exit(1);
    return profiler;
}

int main(int argc, char **argv)
{
    pthread_t workers[MOST_THREADS];

    threads = argc > 2 ? atoi(argv[2]) : 0;
    if (threads < 2 || threads > MOST_THREADS)
        return 2;
    pthread_barrier_init(&begun, NULL, (unsigned)threads);
    pthread_barrier_init(&ended, NULL, (unsigned)threads);
    takt_profiler *profiler = start(argv[1]);
    for (int i = 1; i < threads; i++)
        if (pthread_create(&workers[i], NULL, run_worker, (void *)(intptr_t)i) != 0)
            return 1;
    for (int round = 0; round < ROUNDS; round++) {
        run_round(round);
        takt_profiler_step(profiler);
    }
    for (int i = 1; i < threads; i++)
        pthread_join(workers[i], NULL);
    takt_profiler_stop(profiler);
    takt_profiler_destroy(profiler);
    return 0;
}
