/* A scope in a program that works: between two scopes the whole first-level data cache is replaced,
 * and with it what recording touches. One scope at a time is timed, against two clock reads at the
 * same place.
 *
 * The counter may move in strides (of 10 ns on recent AMD processors), which a median of single
 * times would repeat. Their mean resolves it; the slowest tenth, where something interrupted, is
 * left out. */
#include "bench.h"

#include "record/control.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAIRS      20001
#define LINE_BYTES 64

static __attribute__((noinline)) void run_scope(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        TAKT_SCOPE("cold");
        BENCH_BARRIER();
    }
}

/* Memory whose pages are large where the system has any: with small ones a run's figure would
 * depend on where its pages lie in the caches, and differ from the next one's by half. */
static char *take_memory(size_t bytes)
{
    const size_t page_bytes = (size_t)2 << 20;
    char *memory = aligned_alloc(page_bytes, (bytes + page_bytes - 1) / page_bytes * page_bytes);
    if (memory) {
        madvise(memory, bytes, MADV_HUGEPAGE);
        memset(memory, 1, bytes);
    }
    return memory;
}

/* Reads and writes every line of twice the cache. */
static void evict(volatile char *memory, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += LINE_BYTES)
        memory[i]++;
}

static double time_once(const bench_loop *loop)
{
    uint64_t begin = bench_ticks_ordered();
    loop->run(1);
    return (double)(bench_ticks_ordered() - begin) * bench_ns_per_tick();
}

static double mean_of_fastest(double *values)
{
    const size_t count = PAIRS * 9 / 10;
    double sum = 0;
    bench_median(values, PAIRS); /* sorts */
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum / (double)count;
}

static void measure(const char *name, char *memory, size_t bytes, double max_value)
{
    static double scope_ns[PAIRS], floor_ns[PAIRS], empty_ns[PAIRS];
    const bench_loop scope = {.run = run_scope};
    bench_record_begin(TKT_KEEP);
    run_scope(1);
    for (size_t i = 0; i < PAIRS; i++) {
        evict(memory, bytes);
        scope_ns[i] = time_once(&scope);
        evict(memory, bytes);
        floor_ns[i] = time_once(&bench_floor);
        evict(memory, bytes);
        empty_ns[i] = time_once(&bench_empty);
        if (i % BENCH_BATCH == 0)
            bench_release();
    }
    bench_record_end();
    double floor = mean_of_fastest(floor_ns);
    double above = mean_of_fastest(scope_ns) - floor;
    floor -= mean_of_fastest(empty_ns);
    bench_tell((bench_figure){
        .name = name, .value = above, .unit = "ns", .floor = floor, .max_value = max_value});
}

void bench_cold(void)
{
    const size_t far_bytes = (size_t)4 << 20;
    long first_level = sysconf(_SC_LEVEL1_DCACHE_SIZE);
    size_t near_bytes = 2 * (size_t)(first_level > 0 ? first_level : 48 << 10);
    char *memory = take_memory(far_bytes);
    if (!memory)
        return;
    measure("scope_cold", memory, near_bytes, 10);
    measure("scope_cold_4mib", memory, far_bytes, 0);
    free(memory);
}
