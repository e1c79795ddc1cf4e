/* Two threads that record at once, each on a core of its own. What they share - the pool, the list
 * of logs, the mask - must not slow them down: the slower one is told, against what one thread
 * alone pays in the same round. */
#include "bench.h"

#include "record/control.h"

#include <pthread.h>
#include <unistd.h>

#define ROUNDS 15

static __attribute__((noinline)) void run_scope(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        TAKT_SCOPE("scope of two threads");
        BENCH_BARRIER();
    }
}

static const bench_loop scope_loop = {.run = run_scope, .between = bench_release};
static pthread_barrier_t barrier;
static double other_ns[ROUNDS];

/* The second thread: one round each time the first one is at the barrier. */
static void *other_thread(void *unused)
{
    (void)unused;
    bench_pin(1);
    run_scope(1);
    for (size_t i = 0; i < ROUNDS; i++) {
        pthread_barrier_wait(&barrier);
        other_ns[i] = bench_round(&scope_loop);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

typedef struct two_threads {
    double ns;       /* the slower one's */
    double alone_ns; /* one thread in the same round */
    double floor_ns;
} two_threads;

static two_threads measure_round(size_t round)
{
    two_threads times = {.floor_ns = bench_round(&bench_floor),
                         .alone_ns = bench_round(&scope_loop)};
    pthread_barrier_wait(&barrier);
    double ns = bench_round(&scope_loop);
    pthread_barrier_wait(&barrier);
    times.ns = fmax(ns, other_ns[round]);
    times.floor_ns = fmin(times.floor_ns, bench_round(&bench_floor));
    times.alone_ns = fmin(times.alone_ns, bench_round(&scope_loop));
    return times;
}

static void tell(const two_threads rounds[ROUNDS])
{
    double ns[ROUNDS];
    double to_alone[ROUNDS];
    double floor_ns[ROUNDS];
    for (size_t i = 0; i < ROUNDS; i++) {
        ns[i] = rounds[i].ns;
        to_alone[i] = rounds[i].ns / rounds[i].alone_ns;
        floor_ns[i] = rounds[i].floor_ns;
    }
    bench_tell((bench_figure){.name = "scope_trace_2threads",
                              .value = bench_median(ns, ROUNDS),
                              .unit = "ns",
                              .floor = bench_median(floor_ns, ROUNDS)});
    bench_tell((bench_figure){.name = "2threads_to_1thread",
                              .value = bench_median(to_alone, ROUNDS),
                              .unit = "x",
                              .max_value = 1.05});
}

void bench_threads(void)
{
    pthread_t other;
    two_threads rounds[ROUNDS];
    if (sysconf(_SC_NPROCESSORS_ONLN) < 2) {
        bench_tell_missing("scope_trace_2threads", "this machine has one core");
        return;
    }
    bench_record_begin(TKT_KEEP);
    pthread_barrier_init(&barrier, NULL, 2);
    if (pthread_create(&other, NULL, other_thread, NULL) == 0) {
        for (size_t i = 0; i < ROUNDS; i++)
            rounds[i] = measure_round(i);
        pthread_join(other, NULL);
        tell(rounds);
    }
    pthread_barrier_destroy(&barrier);
    bench_record_end();
}
