/* What reporting memory costs while nothing records: a pair of takt_memory_freed() and
 * takt_memory_allocated(), beyond a loop that makes the same addresses. They come in turn where few
 * blocks live, and at random where many do, so that the processor cannot have their slots ready. */
#include "bench.h"

#include <pthread.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

enum {
    FEW = 16,
    MANY = 100000
};

static uint64_t random_state = 1;

/* The addresses of a thread's blocks, which are never looked at. */
static inline const void *address_of(uint64_t thread, uint64_t block)
{
    return (const void *)(uintptr_t)((UINT64_C(0x7f00) + thread) << 32 | block * 64);
}

static inline uint64_t next_of_many(uint64_t *random)
{
    *random = *random * UINT64_C(6364136223846793005) + 1442695040888963407; /* Knuth's MMIX */
    return (*random >> 32) % MANY;
}

static NOINLINE void run_few(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        takt_memory_freed(address_of(0, i % FEW));
        takt_memory_allocated(address_of(0, i % FEW), 64);
    }
}

static NOINLINE void run_many(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        const void *address = address_of(0, next_of_many(&random_state));
        takt_memory_freed(address);
        takt_memory_allocated(address, 64);
    }
}

static NOINLINE void run_no_few(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        __asm__ volatile("" ::"r"(address_of(0, i % FEW)) : "memory");
}

static NOINLINE void run_no_many(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        __asm__ volatile("" ::"r"(address_of(0, next_of_many(&random_state))) : "memory");
}

static void allocate(uint64_t thread, uint64_t blocks)
{
    for (uint64_t i = 0; i < blocks; i++)
        takt_memory_allocated(address_of(thread, i), 64);
}

static void release(uint64_t thread, uint64_t blocks)
{
    for (uint64_t i = 0; i < blocks; i++)
        takt_memory_freed(address_of(thread, i));
}

static void tell(const char *name, const bench_loop *loop, const bench_loop *base, double max_ns)
{
    bench_time time = bench_measure_above(loop, base);
    bench_tell((bench_figure){
        .name = name, .value = time.ns, .unit = "ns", .floor = time.floor_ns, .max_value = max_ns});
}

/* ---- Beside another thread, which does the same with blocks of its own ----------------------- */

typedef struct rival {
    pthread_t thread;
    pthread_barrier_t begun;
    uint64_t blocks;
    bool is_over; /* atomic */
} rival;

static void *compete(void *argument)
{
    rival *r = argument;
    uint64_t random = 2;
    bench_pin(1);
    allocate(1, r->blocks);
    pthread_barrier_wait(&r->begun);
    for (uint64_t i = 0; !__atomic_load_n(&r->is_over, __ATOMIC_RELAXED); i++) {
        const void *address = address_of(1, r->blocks == FEW ? i % FEW : next_of_many(&random));
        takt_memory_freed(address);
        takt_memory_allocated(address, 64);
    }
    release(1, r->blocks);
    return NULL;
}

static void tell_beside(const char *name, const bench_loop *loop, const bench_loop *base,
                        uint64_t blocks)
{
    rival other = {.blocks = blocks};
    if (sysconf(_SC_NPROCESSORS_ONLN) < 2) {
        bench_tell_missing(name, "this machine has one core");
        return;
    }
    pthread_barrier_init(&other.begun, NULL, 2);
    if (pthread_create(&other.thread, NULL, compete, &other) == 0) {
        pthread_barrier_wait(&other.begun);
        tell(name, loop, base, 0);
        __atomic_store_n(&other.is_over, true, __ATOMIC_RELAXED);
        pthread_join(other.thread, NULL);
    }
    pthread_barrier_destroy(&other.begun);
}

/* The last one leaves totals off for the rest of the process. */
void bench_hooks(void)
{
    static const bench_loop few = {.run = run_few}, many = {.run = run_many};
    static const bench_loop no_few = {.run = run_no_few}, no_many = {.run = run_no_many};
    allocate(0, FEW);
    takt_memory_allocated(&few, 4096); /* a peak that the pairs do not reach */
    takt_memory_freed(&few);
    tell("memory_pair_16", &few, &no_few, 12);
    tell_beside("memory_pair_16_2threads", &few, &no_few, FEW);
    release(0, FEW);
    allocate(0, MANY);
    tell("memory_pair_100000", &many, &no_many, 0);
    tell_beside("memory_pair_100000_2thr", &many, &no_many, MANY);
    release(0, MANY);
    takt_memory_keep_totals(false);
    tell("memory_pair_off", &few, &no_few, 1);
}
