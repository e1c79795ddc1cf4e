/* takt/timer.h - ScopedTimer and timed blocks: measure a block and print the time at once.
 *
 *     {
 *         TAKT_TIMER("Demo");            // at the end of the block: Demo took 0.52 ms
 *         ...
 *     }
 *
 * Timers work with and without an active profiler, on any thread.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TAKT_TIMER_H
#define TAKT_TIMER_H

#include <takt/activity.h>
#include <takt/scope.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A list of durations to which a timer appends; one list may serve many timers. Start from {0}. The
 * caller frees `ms` with takt_samples_free(). Use a list from one thread at a time. */
typedef struct takt_samples {
    double *ms;
    size_t  count;
    size_t  capacity;
} takt_samples;

/* Frees `ms` and resets the list to {0}. */
TAKT_API void takt_samples_free(takt_samples *samples);

/* Called instead of printing the tables of a timer with a filter. `results` has ended and is
 * borrowed until the function returns. `indent` is the text that begins each line of a nested
 * timer. */
typedef void (*takt_timing_report)(const takt_timing *results, const char *indent, void *user);

/* Options of a timer; zero is the default of every field but struct_size. */
typedef struct takt_timer_options {
    size_t             struct_size; /* sizeof(takt_timer_options); set by the macros */
    bool               inactive;    /* the timer does nothing */
    bool               silent;      /* prints nothing; `report` is called all the same */
    bool               detailed;    /* prints the tree of the scopes inside the timer; what the first
                                     * tree of the process says below its table holds for all */
    bool               synchronize; /* waits for all CUDA devices in use before the timer begins and
                                     * before it ends; without this option the timer may end before
                                     * work that it launched */
    bool               nvtx;        /* shows the timer in NVTX tools as a start/end range */
    uint32_t           filter;      /* TAKT_TIMING_ bits: lists these activities; the timer waits
                                     * for them after it reads the clock */
    const char        *color;       /* color of the NVTX range: a name such as "yellow", or
                                     * "#rrggbb" */
    takt_timing_report report;      /* called instead of printing the three tables */
    void              *user;        /* passed to `report` */
    double            *elapsed_ms;  /* receives the duration, in milliseconds */
    takt_samples      *samples;     /* list to which the duration is appended, unless there is no
                                     * memory */
    const char        *extra;       /* appended to the printed line; read when the timer ends */

    /* More about the NVTX range; the texts are read when the timer begins. */
    const char        *domain;      /* NULL: NVTX's default domain, which most programs use */
    const char        *category;    /* NULL: none */
    int64_t            payload;     /* a number that tools show beside the name, such as a step's */
    bool               has_payload; /* false: no payload */

    takt_graph         graph;       /* how graphs appear among the activities of `filter` */
} takt_timer_options;

/* State of a running timer, with room for later versions. The caller provides the memory. */
typedef struct takt_timer {
    uint64_t reserved[32];
} takt_timer;

/* Begins a timer. `name` must stay valid until the timer ends; `options` may be NULL. Order of
 * actions: synchronise, begin collecting, begin the NVTX range, read the clock. Returns true if the
 * timer runs. A timer does not run if timers are switched off or `inactive` is set. Nor does it run
 * with a wrong struct_size or with options unknown to this version; then the log has an error. */
TAKT_API bool takt_timer_begin(takt_timer *timer, const char *name,
                               const takt_timer_options *options);

/* Ends the timer on the thread that began it, and returns the milliseconds since the begin; 0 if
 * the timer does not run. Order of actions: synchronise, read the clock, end the NVTX range, end
 * collecting, print. */
TAKT_API double takt_timer_end(takt_timer *timer);

/* Switches all timers that begin from now on; initially timers are on. Any thread. */
TAKT_API void takt_timers_enable(bool enable);

/* Result of a timed block. Times are nanoseconds per repetition. */
typedef struct takt_timed {
    size_t   struct_size; /* bytes of this struct that the library has filled */
    uint64_t count;       /* repetitions measured */
    double   mean_ns, median_ns, min_ns, max_ns, stddev_ns; /* stddev: of the sample, n - 1 */
    double   flops_per_second; /* declared work divided by `work_ns`; 0 without work, NaN if work_ns
                                * is 0 */
    double   bytes_per_second;
    uint64_t peak_bytes; /* most host memory that the program held while the block ran, as reported
                          * (takt/memory.h); 0: unknown */
    uint64_t current_bytes; /* at the end */

    /* CUDA devices; 0 without devices. The device time of a repetition is the sum of all activities
     * that it launched, on any thread; it does not matter when they ran. */
    uint64_t device_activities; /* in all repetitions that count */
    double   device_mean_ns, device_median_ns, device_min_ns, device_max_ns, device_stddev_ns;
    double   loading_ns; /* compiling and loading device code, also during warm-up */
    uint64_t device_peak_bytes; /* sum of each device's peak while the block ran; counts memory
                                 * allocated since Takt began to collect */
    uint64_t device_current_bytes; /* the same memory, at the end */

    /* The time that rates divide by. If kernels or graphs ran: their device time, as in the report
     * "ops". Else, if the block declared only bytes: the device time of copies and sets. Else:
     * mean_ns of the host. 0 when Takt lost activities of devices. */
    double work_ns;
    bool   is_device_work; /* true: work_ns is device time */

    double compile_ns; /* the part of loading_ns in which the driver compiled PTX */

    /* The declared work compared with a peak. The peak is that of the options; otherwise that of
     * the devices that computed, from their attributes and without tensor cores, in single
     * precision, or in double precision for "fp64". 0 if the options name another precision, if
     * there is no peak, or if the devices' peaks differ. */
    double flops;         /* declared, per repetition */
    double peak_flops;    /* per second */
    double utilization;   /* flops_per_second / peak_flops. Above 1 if the block declares too much
                           * work, or uses tensor cores */
    char   precision[16]; /* of work and peak, from the options; "" if they name none */

    /* Memory of the devices in use, at the end of the block and summed over them; 0: unknown. */
    double   device_peak_at_ns;     /* time of device_peak_bytes since the block began; with several
                                     * devices, that of the one with the largest peak */
    uint64_t device_free_bytes;     /* the driver's value, for all processes */
    uint64_t device_capacity_bytes;
    uint64_t device_reserved_bytes; /* by CUDA's memory pools */
    double   device_fragmentation;  /* part of the reserved bytes that no allocation uses, from 0 to
                                     * 1. The driver does not tell how the free memory outside of
                                     * pools is split up */
    char     name[48]; /* from the options, or else "FILE:LINE" of the block; "": unknown */
} takt_timed;

typedef struct takt_timed_options {
    size_t   struct_size; /* sizeof(takt_timed_options); set by the macro */
    uint32_t repeat;      /* repetitions to measure; default 1 */
    uint32_t warmup;      /* repetitions before them that do not count; default 0 */
    uint32_t activities;  /* TAKT_ACTIVITIES_ bits; 0: all. TAKT_ACTIVITIES_CPU alone does not
                           * observe CUDA, so launches cost no more than without Takt. Rates then
                           * divide by host time */
    bool     synchronize; /* wait for all CUDA devices before the first repetition and at the end of
                           * each. Repetitions that call CUDA do so by default: see
                           * `no_synchronize` */

    const char *reports;    /* names of reports, such as "kernels, ops", printed for the repetitions
                             * that count when the block ends; see takt/report.h. Records scopes of
                             * level normal. Valid until the block ends. NULL: none */
    const char *precision;  /* of the declared work and of `peak_flops`, such as "fp64" or "bf16".
                             * When the block ends, at most 15 bytes of it are copied to the result.
                             * May be NULL */
    double      peak_flops; /* floating-point operations per second that the device, or the host,
                             * can do in this precision; 0: see takt_timed */
    bool        no_synchronize; /* do not wait: host times of repetitions with CUDA then only cover
                                 * the launches. Programs compiled before this field existed, and
                                 * callers that give no options, do not wait either */
    const char *name;  /* of the block, for takt_timed_print(); at most 47 bytes of it are copied to
                        * the result. NULL: its place */
    const char *place; /* "PATH:LINE"; TAKT_TIMED sets it. NULL: none */
} takt_timed_options;

/* State of the loop behind TAKT_TIMED, with room for later versions. */
typedef struct takt_timed_loop {
    uint64_t reserved[16];
} takt_timed_loop;

/* The three calls of a timed loop. Call takt_timed_begin() before the first round. Call
 * takt_timed_next() before each round and after the last; it returns false when no round is left.
 * Call takt_timed_end() last, also after a `break`: it fills *result from the completed rounds, up
 * to `result_size` bytes, the caller's sizeof(takt_timed). `result` and `options` may be NULL. With
 * a wrong struct_size or unknown options, the library logs an error and ignores the options. All
 * three on one thread. */
TAKT_API takt_timed_loop takt_timed_begin(takt_timed *result, size_t result_size,
                                          const takt_timed_options *options);
TAKT_API bool takt_timed_next(takt_timed_loop *loop);
TAKT_API void takt_timed_end(takt_timed_loop *loop);

/* Prints the result to standard output, one value per line. If no block has filled *result, the
 * library logs an error and prints nothing. */
TAKT_API void takt_timed_print(const takt_timed *result);

/* ---- Implementation of the macros ----------------------------------------------------------- */

/* Not 0: timers are switched off, see takt_timers_enable(). Atomic. */
extern TAKT_DATA uint32_t takt_timers_off_v1;

#ifdef __cplusplus
}
#endif

TAKT_INLINES_BEGIN

TAKT_INLINE bool takt_timers_are_on(void)
{
#ifdef __CUDA_ARCH__
    return true; /* and the call of takt_timer_begin() then does not link */
#else
    return __atomic_load_n(&takt_timers_off_v1, __ATOMIC_RELAXED) == 0;
#endif
}

/* Returns the timer, or NULL if it does not run. Taking the options by value, and copying them only
 * for the call, lets the compiler build no options at all for an inactive timer. */
TAKT_INLINE takt_timer *
takt_timer_start(takt_timer *timer, const char *name, takt_timer_options options)
{
    if (options.inactive)
        return TAKT_NULL;
    takt_timer_options all = options;
    return takt_timer_begin(timer, name, &all) ? timer : TAKT_NULL;
}

TAKT_INLINE double takt_timer_stop(takt_timer *timer)
{
    return timer ? takt_timer_end(timer) : 0;
}

#define TAKT_ID(prefix)  TAKT_JOIN(prefix, __COUNTER__)
#define TAKT_SIZE_OF(type) .struct_size = sizeof(type)
#define TAKT_TIMED_PLACE(line)  TAKT_TIMED_PLACE_(line)
#define TAKT_TIMED_PLACE_(line) __FILE__ ":" #line

#ifndef __cplusplus

#if TAKT_IS_OFF /* blocks still run once; nothing is measured */
TAKT_INLINE double takt_timer_never(double milliseconds)
{
    return milliseconds;
}
TAKT_INLINE bool takt_timed_never(takt_timed *result)
{
    takt_timed none = {0};
    if (result)
        *result = none;
    return true;
}
#define TAKT_TIMER_GUARD       __attribute__((__unused__))
#define TAKT_TIMER_IS_ON       0
#define TAKT_TIMER_STOP(timer) takt_timer_never(0 ? takt_timer_stop(timer) : 0.0)
#define TAKT_TIMED_VARIABLE(variable, result, ...)                                                 \
    for (bool variable =                                                                           \
             0 ? takt_timed_next((takt_timed_loop[]){takt_timed_begin(                             \
                     result, sizeof(takt_timed), &(takt_timed_options){__VA_ARGS__})})             \
               : takt_timed_never(result);                                                         \
         variable; variable = false)
#else
TAKT_INLINE void takt_timer_leave(takt_timer **timer)
{
    takt_timer_stop(*timer);
}
#define TAKT_TIMER_GUARD       __attribute__((__cleanup__(takt_timer_leave), __unused__))
#define TAKT_TIMER_IS_ON       takt_timers_are_on()
#define TAKT_TIMER_STOP(timer) takt_timer_stop(timer)
#define TAKT_TIMED_VARIABLE(variable, result, ...)                                                 \
    for (__attribute__((__cleanup__(takt_timed_end))) takt_timed_loop variable =                   \
             takt_timed_begin(result, sizeof(takt_timed), &(takt_timed_options){__VA_ARGS__});     \
         takt_timed_next(&variable);)
#endif

/* Times the rest of the block: TAKT_TIMER("Demo"), or with options by name: TAKT_TIMER("Demo",
 * .synchronize = true). While timers are switched off, neither name nor options are evaluated. In
 * C++ the options are takt::ScopedTimer::Options, and are evaluated. */
#define TAKT_TIMER(...)                                                                            \
    TAKT_QUIET_BEGIN                                                                               \
    TAKT_TIMER_AS(TAKT_TIMER_GUARD, TAKT_ID(takt_timer_), __VA_ARGS__,                             \
                  TAKT_SIZE_OF(takt_timer_options))                                                \
    TAKT_QUIET_END

/* A pair, for code that does not nest in the source. TAKT_TIMER_BEGIN declares the variable
 * `timer`. */
#define TAKT_TIMER_BEGIN(timer, ...)                                                               \
    TAKT_TIMER_AS(, timer, __VA_ARGS__, TAKT_SIZE_OF(takt_timer_options))
#define TAKT_TIMER_END(timer) TAKT_TIMER_STOP(timer)

#define TAKT_TIMER_AS(how, variable, name, ...)                                                    \
    takt_timer TAKT_JOIN(variable, _room);                                                         \
    takt_timer *variable how =                                                                     \
        TAKT_TIMER_IS_ON ? takt_timer_start(&TAKT_JOIN(variable, _room), name,                 \
                                                (takt_timer_options){__VA_ARGS__})                 \
                             : NULL

/* Runs the block that follows `warmup + repeat` times and fills *result. `break` ends the loop
 * early.
 *
 *     TAKT_TIMED(&result, .repeat = 100, .warmup = 1) { step(); } */
#define TAKT_TIMED(...)                                                                            \
    TAKT_QUIET_BEGIN                                                                               \
    TAKT_TIMED_VARIABLE(TAKT_ID(takt_timed_), __VA_ARGS__, .place = TAKT_TIMED_PLACE(__LINE__),    \
                        TAKT_SIZE_OF(takt_timed_options))                                          \
    TAKT_QUIET_END
#endif

TAKT_INLINES_END

/* C++ has takt::timed(). */
#ifdef __cplusplus
#define TAKT_TIMED(...)                                                                            \
    static_assert(false, "TAKT_TIMED is for C: use takt::timed() of takt.hpp");                    \
    if (true)
#endif
#endif
