/* The floor of what moves much data: copying as many bytes, and reading from as many places, on
 * this machine and at this time. A budget that is a ratio to it holds on slower memory, too. Each
 * figure has a floor of its own, since other machines of the same host come and go. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

#define BYTES  ((size_t)64 << 20) /* far more than a cache holds */
#define LINE   64u
#define READS  (UINT64_C(1) << 20)
#define ROUNDS 5

static char *take_memory(void)
{
    char *memory = malloc(BYTES);
    if (memory)
        memset(memory, 1, BYTES);
    return memory;
}

/* ns a byte. With `is_fresh`, into memory that the kernel hands out for it, in small pages. */
static double measure_copy(bool is_fresh)
{
    double ns[ROUNDS];
    char *from = take_memory(), *to = is_fresh ? NULL : take_memory();
    bool is_measured = from && (to || is_fresh);
    for (int i = 0; is_measured && i < ROUNDS; i++) {
        double begin = bench_cpu_seconds();
        char *into = is_fresh ? malloc(BYTES) : to;
        is_measured = into != NULL;
        if (is_measured)
            memcpy(into, from, BYTES);
        BENCH_BARRIER();
        ns[i] = (bench_cpu_seconds() - begin) * 1e9 / (double)BYTES;
        if (is_fresh)
            free(into);
    }
    free(from);
    free(to);
    return is_measured ? bench_median(ns, ROUNDS) : 0;
}

/* All lines in one cycle, in an order that no prefetcher knows: the multiplier and the increment
 * make a generator of full period (Hull and Dobell, 1962). */
static void link_lines(char *memory)
{
    const uint64_t count = BYTES / LINE;
    uint64_t at = 0;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t next = (at * 1664525 + 1013904223) % count;
        memcpy(memory + at * LINE, &next, sizeof next);
        at = next;
    }
}

static double measure_reads(void)
{
    double ns[ROUNDS];
    char *memory = take_memory();
    if (!memory)
        return 0;
    link_lines(memory);
    volatile uint64_t at = 0;
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t line = at;
        double begin = bench_cpu_seconds();
        for (uint64_t k = 0; k < READS; k++)
            memcpy(&line, memory + line * LINE, sizeof line);
        ns[i] = (bench_cpu_seconds() - begin) * 1e9 / (double)READS;
        at = line;
    }
    free(memory);
    return bench_median(ns, ROUNDS);
}

double bench_floor_ns(double bytes, double reads)
{
    return bytes * measure_copy(false) + (reads > 0 ? reads * measure_reads() : 0);
}

double bench_fresh_floor_ns(double bytes)
{
    return bytes * measure_copy(true);
}
