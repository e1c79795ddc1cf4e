/* What the groups of `make bench` share: how something is timed, and how a figure is told.
 *
 * A figure is the median of many short batches, taken in several rounds. Before and after every
 * round two clock reads, the floor of any scope, are measured in the same way; the lower of the two
 * is that round's floor. The round told is the one with the median ratio to its floor, so that a
 * machine that changes its pace, or is busy with something else, moves figure and floor together.
 * Everything runs on one core, except where two threads are measured. */
#ifndef BENCH_H
#define BENCH_H

#include "record/log.h"

#include <takt/takt.h>

#include <math.h>

/* Repetitions of a batch: exactly two chunks of records, so that each batch has the same work. */
#define BENCH_BATCH ((uint64_t)2 * TKT_CHUNK_SLOTS)

/* The compiler may neither drop nor move memory accesses over this. */
#define BENCH_BARRIER() __asm__ volatile("" ::: "memory")

/* Timing. */

typedef struct bench_loop {
    void   (*run)(uint64_t count); /* does it `count` times; not to be inlined */
    void   (*between)(void);       /* between two batches, not timed; may be NULL */
    uint64_t count;                /* a batch; 0: BENCH_BATCH */
} bench_loop;

typedef struct bench_time {
    double ns; /* per repetition */
    double floor_ns;
} bench_time;

/* The median batch of `loop` on the calling thread, ns per repetition; one round, no floor. */
double bench_round(const bench_loop *loop);

bench_time bench_measure(const bench_loop *loop);

/* How long one repetition takes beyond `base`, which is measured beside it: for what costs less
 * than a clock read. */
bench_time bench_measure_above(const bench_loop *loop, const bench_loop *base);

/* The loops that others are compared with: nothing, and two clock reads. */
extern const bench_loop bench_empty, bench_floor;

/* The clock, with all instructions before it completed; and what a tick is. */
uint64_t bench_ticks_ordered(void);
double bench_ns_per_tick(void);
double bench_seconds(void); /* CLOCK_MONOTONIC */

/* The processor's time that this process has used: for what takes long and waits for nothing, so
 * that a busy machine does not count. */
double bench_cpu_seconds(void);

/* The floor of what moves data: to copy so many bytes and to read from so many places, each named by
 * the one before, where no cache holds any of it. */
double bench_floor_ns(double bytes, double reads);

/* The same for copying to memory that the kernel hands out for it: on a virtual machine that can
 * take twenty times as long. */
double bench_fresh_floor_ns(double bytes);

void bench_pin(int core);

double bench_median(double *values, size_t count); /* sorts them */

/* Telling. */

/* A figure: value, and where it applies the floor and the ratio to it. At most one of the limits is
 * set; it decides between "ok" and "MISSED". */
typedef struct bench_figure {
    const char *name;
    double      value;
    const char *unit;
    double      floor;     /* 0: none */
    double      max_ratio; /* budget: value / floor at most */
    double      max_value; /* budget: value at most */
    double      min_value; /* budget: value at least */
} bench_figure;

void bench_tell(bench_figure figure);

/* Says why a figure is missing. */
void bench_tell_missing(const char *name, const char *why);

/* Prints machine, compiler and clock. */
void bench_tell_machine(void);

/* Writes all figures told so far as a JSON list; false, and a line on standard error, if that
 * fails. */
bool bench_write_json(const char *path);

/* Recording, for groups that measure it. */

/* Records in these modes of record/control.h until bench_record_end(), which forgets all of it. */
void bench_record_begin(uint32_t modes);
void bench_record_end(void);

/* Gives the calling thread's full chunks back. */
void bench_release(void);

/* A trace such as a simulator makes. */

/* A sealed trace of at least `spans` spans: steps of six phases with nine kernels each, which are
 * activities of device "cpu"; and, where `activities` is more than these, activities of a device
 * that the phases launch, up to so many in all. The caller releases it. NULL without memory. */
takt_trace *bench_trace(uint64_t spans, uint64_t activities);

/* The same for a stepping program of eight scopes, whose clock counts in `tick_ns`. */
takt_trace *bench_stepping(uint64_t spans, uint64_t tick_ns);

/* A sealed trace of at least `activities` activities of two devices, launched by as many calls of
 * four threads: kernels, graphs, copies and sets, with waits, memory, arguments, work and stacks.
 * The same. */
takt_trace *bench_launches_trace(uint64_t activities);

/* Memory, as the library's allocator sees it. */

/* Counts from now on; call it before anything else of the library. */
void bench_memory_begin(void);
uint64_t bench_memory_now(void);
uint64_t bench_memory_peak(void); /* since the last reset */
void bench_memory_reset_peak(void);

/* The groups. */

void bench_scopes(void);
void bench_stacks(void);
void bench_buffers(void);
void bench_events(void);
void bench_cost(void);
void bench_cost_places(void); /* in group "cost", too */

/* What recording `run` takes beyond `without`, which is not recorded, as a multiple of
 * takt_facts.cost_ns; the middle one of some rounds. NaN without memory. */
double bench_cost_in_estimates(void (*run)(void), void (*without)(void));
void bench_threads(void);
void bench_users(void);
void bench_cold(void);
void bench_hooks(void);
void bench_step(void);
void bench_export(void);
void bench_reports(void);
void bench_seal(void);
void bench_library(void);
void bench_cuda(void);
void bench_attribute(void);
void bench_page(void);
void bench_compare(void);
void bench_tables(void);
void bench_import(void);
void bench_peers(void);

#endif
