/* takt/timer.h - ScopedTimer and timed blocks: times printed where they are taken.
 *
 *     {
 *         TAKT_TIMER("Demo");            // at the end of the block: Demo took 0.52 ms
 *         ...
 *     }
 *
 * Timers work whether or not a profiler is active, on any thread.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TAKT_TIMER_H
#define TAKT_TIMER_H

#include <takt/activity.h>
#include <takt/scope.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Durations that a timer appends to, over many uses of it. Start from {0}; free `ms` through
 * takt_samples_free(). Use it from one thread at a time. */
typedef struct takt_samples {
    double *ms;
    size_t  count;
    size_t  capacity;
} takt_samples;

/* Frees `ms`; the list is {0} again. */
TAKT_API void takt_samples_free(takt_samples *samples);

/* Replaces the tables of a timer with a filter. `results` has ended and is borrowed until the
 * function returns; `indent` stands before each line of a nested timer. */
typedef void (*takt_timing_report)(const takt_timing *results, const char *indent, void *user);

/* How a timer works; zero is the default of all but the size. */
typedef struct takt_timer_options {
    size_t             struct_size; /* sizeof(takt_timer_options); the macros set it */
    bool               inactive;    /* does nothing at all */
    bool               silent;      /* prints nothing */
    bool               detailed;    /* prints the tree of the scopes inside */
    bool               synchronize; /* waits for all CUDA devices in use before it begins and before
                                     * it ends; without it, it may end before what it launched */
    bool               nvtx;        /* shows the timer in NVTX tools as a start/end range */
    uint32_t           filter;      /* TAKT_TIMING_ bits: lists activities, which are waited for
                                     * after the clock was read */
    const char        *color;       /* of the NVTX range: a name such as "yellow", or "#rrggbb" */
    takt_timing_report report;      /* instead of the three tables */
    void              *user;        /* of `report` */
    double            *elapsed_ms;  /* receives the duration in milliseconds */
    takt_samples      *samples;     /* the duration is appended */
    const char        *extra;       /* appended to the printed line; copied at the end */
} takt_timer_options;

/* A running timer: what the library keeps of it, with room for later versions. */
typedef struct takt_timer {
    uint64_t reserved[32];
} takt_timer;

/* Begins a timer; `options` may be NULL. `name` must stay valid until its end. On entry, in this
 * order: synchronise, begin collecting, begin the NVTX range, read the clock. Returns whether it
 * runs: not if timers are switched off or this one is inactive; nor, with an error in the log, if
 * struct_size is 0 or otherwise wrong, or options are set that this version does not know. */
TAKT_API bool takt_timer_begin(takt_timer *timer, const char *name,
                               const takt_timer_options *options);

/* Ends it on the thread that began it and returns the milliseconds between; 0 for an inactive one.
 * In this order: synchronise, read the clock, end the NVTX range, end collecting, print. */
TAKT_API double takt_timer_end(takt_timer *timer);

/* Switches all timers that begin from now on; they are on at first. Any thread. */
TAKT_API void takt_timers_enable(bool enable);

/* What a timed block took. Times are nanoseconds per repetition. */
typedef struct takt_timed {
    size_t   struct_size; /* how much of it the library has filled */
    uint64_t count;       /* repetitions measured */
    double   mean_ns, median_ns, min_ns, max_ns, stddev_ns; /* stddev: of the sample, n - 1 */
    double   flops_per_second; /* declared work by `work_ns`; 0 without, NaN if it is 0 */
    double   bytes_per_second;
    uint64_t peak_bytes; /* host memory that the program reports, see takt/memory.h; 0: not known */
    uint64_t current_bytes;

    /* Of CUDA devices; 0 without. Device time of a repetition: the sum of the activities that it
     * has launched, on all threads, whenever they ran. */
    uint64_t device_activities; /* of all repetitions that count */
    double   device_mean_ns, device_median_ns, device_min_ns, device_max_ns, device_stddev_ns;
    double   loading_ns; /* compiling and loading device code, warm-up included */
    uint64_t device_peak_bytes; /* allocated on all devices together since Takt began to collect: */
    uint64_t device_current_bytes; /* the sum of each one's peak while it ran; and at the end */

    /* What rates divide by: where kernels or graphs ran, their time, as in the report "ops", or of
     * bytes alone that of copies and sets; otherwise the host's, mean_ns. 0 when Takt lost any of
     * the devices' activities. */
    double work_ns;
    bool   is_device_work; /* work_ns is time of devices */
} takt_timed;

typedef struct takt_timed_options {
    size_t   struct_size; /* sizeof(takt_timed_options); the macro sets it */
    uint32_t repeat;      /* repetitions that count; default 1 */
    uint32_t warmup;      /* repetitions before them that do not; default 0 */
    uint32_t activities;  /* TAKT_ACTIVITIES_CPU leaves CUDA alone: launches cost what they cost
                           * without Takt, and rates divide by the host's time, so use it with
                           * `synchronize`; 0: all */
    bool     synchronize; /* wait for all CUDA devices in use at the end of each repetition; without
                           * it, the host's times are those of launching */
} takt_timed_options;

/* The loop behind TAKT_TIMED: what the library keeps of it, with room for later versions. */
typedef struct takt_timed_loop {
    uint64_t reserved[16];
} takt_timed_loop;

/* Before the first round; before each round and after the last, false when there is none left; at
 * the end, also after a `break`: fills *result from the rounds that were completed, as far as
 * `result_size`, the caller's sizeof(takt_timed), goes. `result` and `options` may be NULL. With a
 * wrong struct_size, or options that this version does not know, an error is logged, and the block
 * runs as without options. */
TAKT_API takt_timed_loop takt_timed_begin(takt_timed *result, size_t result_size,
                                          const takt_timed_options *options);
TAKT_API bool takt_timed_next(takt_timed_loop *loop);
TAKT_API void takt_timed_end(takt_timed_loop *loop);

/* Prints the result to standard output, a value a line; one that no block has filled is refused
 * with an error in the log. */
TAKT_API void takt_timed_print(const takt_timed *result);

/* ---- The library's half of the macros ------------------------------------------------------- */

/* Not 0: takt_timers_enable() has switched timers off. Atomic. */
extern TAKT_API uint32_t takt_timers_off_v1;

static inline bool takt_timers_are_on(void)
{
    return __atomic_load_n(&takt_timers_off_v1, __ATOMIC_RELAXED) == 0;
}

/* The timer, or NULL if it does not run. The options are taken by value, and copied only for the
 * call: so the compiler builds none of them for a timer that is inactive. */
static inline __attribute__((always_inline)) takt_timer *
takt_timer_start(takt_timer *timer, const char *name, takt_timer_options options)
{
    if (options.inactive)
        return NULL;
    takt_timer_options all = options;
    return takt_timer_begin(timer, name, &all) ? timer : NULL;
}

static inline __attribute__((always_inline)) double takt_timer_stop(takt_timer *timer)
{
    return timer ? takt_timer_end(timer) : 0;
}

#ifdef __cplusplus
}
#endif

#define TAKT_ID(prefix)  TAKT_JOIN(prefix, __COUNTER__)
#define TAKT_SIZE_OF(type) .struct_size = sizeof(type)

#ifndef TAKT_DISABLE
#ifndef __cplusplus

static inline __attribute__((always_inline)) void takt_timer_leave(takt_timer **timer)
{
    takt_timer_stop(*timer);
}

/* Times from here to the end of the block: TAKT_TIMER("Demo"), or with options by name:
 * TAKT_TIMER("Demo", .synchronize = true). While timers are switched off, neither name nor options
 * are evaluated. In C++ the options are those of takt::ScopedTimer. */
#define TAKT_TIMER(...)                                                                            \
    TAKT_TIMER_AS(__attribute__((cleanup(takt_timer_leave), unused)), TAKT_ID(takt_timer_),        \
                  __VA_ARGS__, TAKT_SIZE_OF(takt_timer_options))

/* The pair, for blocks that do not nest in the source; `timer` is a new variable. */
#define TAKT_TIMER_BEGIN(timer, ...)                                                               \
    TAKT_TIMER_AS(, timer, __VA_ARGS__, TAKT_SIZE_OF(takt_timer_options))
#define TAKT_TIMER_END(timer) takt_timer_stop(timer)

#define TAKT_TIMER_AS(how, variable, name, ...)                                                    \
    takt_timer TAKT_JOIN(variable, _room);                                                         \
    how takt_timer *variable =                                                                     \
        takt_timers_are_on() ? takt_timer_start(&TAKT_JOIN(variable, _room), name,                 \
                                                (takt_timer_options){__VA_ARGS__})                 \
                             : NULL

/* Runs the block that follows `warmup + repeat` times and fills *result:
 * TAKT_TIMED(&result, .repeat = 100, .warmup = 1) { step(); }  `break` ends it early. */
#define TAKT_TIMED(...)                                                                            \
    TAKT_TIMED_VARIABLE(TAKT_ID(takt_timed_), __VA_ARGS__, TAKT_SIZE_OF(takt_timed_options))
#define TAKT_TIMED_VARIABLE(variable, result, ...)                                                 \
    for (__attribute__((cleanup(takt_timed_end))) takt_timed_loop variable =                       \
             takt_timed_begin(result, sizeof(takt_timed), &(takt_timed_options){__VA_ARGS__});     \
         takt_timed_next(&variable);)
#endif

#else /* TAKT_DISABLE: blocks still run, once; nothing is measured */
#ifndef __cplusplus
#define TAKT_TIMER(...) TAKT_TIMER_CHECKED(__VA_ARGS__, TAKT_SIZE_OF(takt_timer_options))
#define TAKT_TIMER_CHECKED(name, ...)                                                              \
    ((void)sizeof(takt_checked(name)), (void)sizeof((takt_timer_options){__VA_ARGS__}))
#define TAKT_TIMER_BEGIN(timer, ...)                                                               \
    TAKT_TIMER_CHECKED(__VA_ARGS__, TAKT_SIZE_OF(takt_timer_options))
#define TAKT_TIMER_END(timer) takt_checked(NULL) /* 0 */
#define TAKT_TIMED(...)                                                                            \
    TAKT_TIMED_ONCE(TAKT_ID(takt_timed_), __VA_ARGS__, TAKT_SIZE_OF(takt_timed_options))
#define TAKT_TIMED_ONCE(variable, result, ...)                                                     \
    for (takt_timed *variable = (result);                                                          \
         variable && sizeof((takt_timed_options){__VA_ARGS__}); variable = NULL)
#endif
#endif
#endif
