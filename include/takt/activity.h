/* takt/activity.h - activities: what devices and marked host loops did, one by one.
 *
 *     takt_timing *timing;
 *     takt_timing_begin(NULL, &timing);
 *     simulate();
 *     takt_timing_end(timing);
 *     takt_timing_print(timing, "");
 *     takt_timing_free(timing);
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TAKT_ACTIVITY_H
#define TAKT_ACTIVITY_H

#include <takt/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Which kinds of activity are meant; the values are those of NVIDIA Warp. */
#define TAKT_TIMING_KERNEL  0x1u /* kernels of the program; marked host loops */
#define TAKT_TIMING_BUILTIN 0x2u /* kernels of libraries */
#define TAKT_TIMING_MEMCPY  0x4u
#define TAKT_TIMING_MEMSET  0x8u
#define TAKT_TIMING_GRAPH   0x10u
#define TAKT_TIMING_ALL     0xFFFFFFFFu

/* One activity. Reached through pointers only, because it grows at its end. Everything it points
 * to belongs to the trace or timing that it was taken from. */
typedef struct takt_activity {
    const char *device; /* "cpu", "cuda:0" */
    const char *name;   /* as tables print it: "kernel density", "memcpy HtoD" */
    uint32_t    filter; /* one TAKT_TIMING_ bit */
    uint32_t    thread; /* operating system's id of the thread that launched or ran it */
    double      elapsed_ms;
    uint64_t    begin_ns; /* takt_now_ns() time line */
    uint64_t    end_ns;
    const char *scope; /* the scope that launched it; NULL: none was open */
} takt_activity;

typedef struct takt_timing takt_timing;

/* How to collect. A zero field means the default. */
typedef struct takt_timing_options {
    size_t   struct_size; /* 0 or sizeof(takt_timing_options) */
    uint32_t filter;      /* TAKT_TIMING_ bits; default TAKT_TIMING_ALL */
    bool     no_synchronize; /* do not wait for devices at the end */
} takt_timing_options;

/* Starts collecting every activity of the process that matches, on all threads, whoever else
 * collects at the same time. `options` may be NULL. The caller frees with takt_timing_free().
 * Any thread. TAKT_NO_MEMORY, TAKT_BAD_ARGUMENT. */
TAKT_API takt_status takt_timing_begin(const takt_timing_options *options, takt_timing **out);

/* Stops collecting. The activities are in issue order and valid until takt_timing_free(). Any
 * thread, once. TAKT_BAD_STATE when it has ended already. */
TAKT_API takt_status takt_timing_end(takt_timing *timing);

/* How many activities there are; 0 before the end. */
TAKT_API size_t takt_timing_count(const takt_timing *timing);

/* The one at `index`, or NULL past the end. */
TAKT_API const takt_activity *takt_timing_at(const takt_timing *timing, size_t index);

/* Prints timeline, activity summary and device summary to standard output, or "No activity"; each
 * line begins with `indent`, which may be NULL. */
TAKT_API void takt_timing_print(const takt_timing *timing, const char *indent);

/* Frees it; ends it first if need be. NULL is ignored. */
TAKT_API void takt_timing_free(takt_timing *timing);

#ifdef __cplusplus
}
#endif
#endif
