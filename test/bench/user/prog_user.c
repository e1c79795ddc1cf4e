/* What a scope costs a program as it uses Takt: a profiler's window is open, the buffers are such
 * as they come from the system, and around each scope some two hundred instructions of work are
 * done. It is linked with libtakt.so and with libtakt.a; takt-bench runs both, in as many threads
 * as told. Prints ns a scope and, as the floor, what two clock reads cost at the same place. */
#include <takt/takt.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BATCHES     201
#define BATCH       5000
#define MOST_LOOPS  3
#define MOST_THREAD 64

typedef struct result {
    double ns[MOST_LOOPS]; /* of each loop, a repetition */
} result;

static pthread_barrier_t together;

/* Four generators at once (xorshift, Marsaglia 2003), so that the processor has no room between the
 * instructions in which a scope's would cost nothing. */
static inline __attribute__((always_inline)) uint64_t work(uint64_t value)
{
    uint64_t x[4] = {value | 1, value | 2, value | 4, value | 8};
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 4; k++) {
            x[k] ^= x[k] << 13;
            x[k] ^= x[k] >> 7;
            x[k] ^= x[k] << 17;
        }
    return x[0] ^ x[1] ^ x[2] ^ x[3];
}

static __attribute__((noinline)) uint64_t work_alone(uint64_t value)
{
    for (int i = 0; i < BATCH; i++)
        value = work(value);
    return value;
}

static __attribute__((noinline)) uint64_t work_in_reads(uint64_t value)
{
    for (int i = 0; i < BATCH; i++) {
        uint64_t begin = takt_ticks();
        value = work(value);
        value += takt_ticks() - begin;
    }
    return value;
}

static __attribute__((noinline)) uint64_t work_in_scope(uint64_t value)
{
    for (int i = 0; i < BATCH; i++) {
        TAKT_SCOPE("work");
        value = work(value);
    }
    return value;
}

static uint64_t (*const loops[MOST_LOOPS])(uint64_t) = {work_alone, work_in_reads, work_in_scope};

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int compare(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The loops by turns, so that a machine that changes its pace changes it for all of them. */
static void *measure(void *user)
{
    static __thread double times[MOST_LOOPS][BATCHES];
    result *out = user;
    volatile uint64_t value = 1;
    pthread_barrier_wait(&together);
    for (int i = 0; i < BATCHES; i++)
        for (int k = 0; k < MOST_LOOPS; k++) {
            double begin = seconds();
            value = loops[k](value);
            times[k][i] = (seconds() - begin) * 1e9 / BATCH;
        }
    for (int k = 0; k < MOST_LOOPS; k++) {
        qsort(times[k], BATCHES, sizeof times[k][0], compare);
        out->ns[k] = times[k][BATCHES / 2];
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 1;
    pthread_t threads[MOST_THREAD];
    result results[MOST_THREAD];
    takt_profiler *profiler;
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    if (count < 1 || count > MOST_THREAD || takt_profiler_create(&options, &profiler) != TAKT_OK ||
        takt_profiler_start(profiler) != TAKT_OK)
        return 1;
    pthread_barrier_init(&together, NULL, (unsigned)count);
    for (int i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, measure, &results[i]) != 0)
            return 1;
    double scope_ns = 0, floor_ns = 0; /* of the slowest thread */
    for (int i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
        double ns = results[i].ns[2] - results[i].ns[0];
        if (ns > scope_ns) {
            scope_ns = ns;
            floor_ns = results[i].ns[1] - results[i].ns[0];
        }
    }
    takt_profiler_stop(profiler);
    uint64_t expected = (uint64_t)count * BATCH * BATCHES;
    bool is_whole = takt_trace_facts(takt_profiler_trace(profiler))->span_count == expected;
    takt_profiler_destroy(profiler);
    printf("%f %f\n", scope_ns, floor_ns);
    return is_whole ? 0 : 1;
}
