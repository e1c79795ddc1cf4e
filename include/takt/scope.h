/* takt/scope.h - the header that simulators include everywhere: scopes, phases, marks, counters.
 *
 *     void step(void)
 *     {
 *         TAKT_FUNCTION();
 *         TAKT_PHASE("neighbours");
 *         ...
 *         TAKT_PHASE("forces");
 *         TAKT_COUNTER("contacts", contact_count);
 *         ...
 *     }
 *
 * Names are string literals, __func__, or in C++ any text that is constexpr and stays (inside a
 * function an array must be static constexpr). Names made at run time go to the functions below.
 *
 * While nothing records, a scope costs one relaxed load and a branch. While something records, it
 * costs two clock reads and one 16-byte record in a buffer of its thread. Nothing here blocks, logs
 * or fails. What cannot be recorded is dropped, and counted in every report.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TAKT_SCOPE_H
#define TAKT_SCOPE_H

#include <takt/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A scope from here to the end of the block. The second has the name of the function, in C++ with
 * its class and namespaces: "physics::World::step". __PRETTY_FUNCTION__ as a name reads the same. */
#define TAKT_SCOPE(name) TAKT_BLOCK(TAKT_SITE_SCOPE, name, NULL, 0)
#define TAKT_FUNCTION()  TAKT_SCOPE(TAKT_FUNCTION_NAME)

/* Begins a phase of the scope around it. It ends where the next phase begins, with the scope, or
 * with the step (takt_profiler_step). */
#define TAKT_PHASE(name) TAKT_DO_PHASE(name)

/* A moment without duration; and the value of a quantity from now on, as a double. */
#define TAKT_MARK(name)           TAKT_DO_MARK(name)
#define TAKT_COUNTER(name, value) TAKT_DO_COUNTER(name, value)

/* A key and a value of the innermost open scope: any integer of up to 64 bits, enum, bool,
 * floating-point number (as the nearest double) or string (char *, copied). */
#define TAKT_ARG(key, value) TAKT_DO_ARG(key, value)

/* Declared work of the innermost open scope: floating-point operations done and bytes moved.
 * Several add up. */
#define TAKT_WORK(flops, bytes) TAKT_DO_WORK(flops, bytes)

/* A scope whose begin and end stand in different blocks of one thread. The names must match: an end
 * without its begin is counted, reported with its place, and ignored; scopes left open within are
 * closed. */
#define TAKT_BEGIN(name) TAKT_DO_BEGIN(name)
#define TAKT_END(name)   TAKT_DO_END(name)

/* A scope named at run time: the text is copied. takt_end() ends the innermost scope that
 * takt_begin() or TAKT_BEGIN() opened on this thread. */
TAKT_API void takt_begin(const char *name);
TAKT_API void takt_end(void);

/* ---- That is enough to start. The rest is for special places. ----------------------------------
 *
 * All functions and macros may be used on any thread at any time, before main and after exit too,
 * and in signal handlers: what a handler records while it interrupts Takt itself is dropped and
 * counted. A handler ends what it begins, and does not leave by longjmp(). NULL reads as "(null)".
 * Memory is allocated only for a thread's first event and for each new call site, name, depth or
 * chunk. With TAKT_DISABLE defined every macro vanishes after type checking. */

/* Marks where a loop comes round that is not the profiler's step, such as "render" beside physics:
 * from one mark to the next is a span on a track of that name. One place has one name. */
#define TAKT_FRAME(name) TAKT_DO_FRAME(name)

/* Levels say how fine a scope is; a run records levels up to the configured one, by default 2. */
#define TAKT_LEVEL_COARSE 1
#define TAKT_LEVEL_NORMAL 2
#define TAKT_LEVEL_FINE   3
#define TAKT_LEVEL_DETAIL 4

/* TAKT_SCOPE with a category, which the configuration can switch off ("categories: {io: off}"), and
 * a level; the others have the default category and TAKT_LEVEL_NORMAL. Fifteen categories can be
 * told apart; later ones share the last. */
#define TAKT_SCOPE_IN(category, level, name) TAKT_BLOCK_IN(category, level, name)

/* TAKT_SCOPE that the page of `takt report --html` shows in this color: 0xRRGGBB, a constant. With 0
 * the page chooses one by the name, as for all other scopes. */
#define TAKT_SCOPE_COLOR(color, name) TAKT_BLOCK(TAKT_SITE_SCOPE, name, NULL, TAKT_COLOR(color))

/* Host work that counts as an activity, from here to the end of the block: `device` names who does
 * it, such as "cpu"; `filter` is one bit such as TAKT_TIMING_KERNEL of takt/activity.h. */
#define TAKT_ACTIVITY(device, filter, name) TAKT_BLOCK(TAKT_SITE_ACTIVITY, name, device, filter)

/* TAKT_SCOPE with an end of its own, for begin and end macros that an engine has already: `scope` is a
 * new variable, which one TAKT_CLOSE must get on the same thread, before those of scopes around it. */
#define TAKT_OPEN(scope, name) TAKT_DO_OPEN(scope, name)
#define TAKT_CLOSE(scope)      TAKT_DO_CLOSE(scope)

/* TAKT_MARK and TAKT_COUNTER with a name made at run time; several times dearer than the macros. */
TAKT_API void takt_mark(const char *name);
TAKT_API void takt_counter(const char *name, double value);

/* A name of run time that is looked up once, for many uses. It is copied, need not end with a NUL, and
 * stays for the life of the process; equal names are one. {0} reads as "(null)". Frozen. */
typedef struct takt_name {
    uint32_t id;
} takt_name;

/* Makes it from `size` bytes; {0} for NULL, without memory and in signal handlers. */
TAKT_API takt_name takt_name_make(const char *text, size_t size);

/* As takt_begin(), which takt_end() ends, takt_mark() and takt_counter(), at the macros' cost. */
TAKT_API void takt_begin_name(takt_name name);
TAKT_API void takt_mark_name(takt_name name);
TAKT_API void takt_counter_name(takt_name name, double value);

/* Names the calling thread in every later trace; the name is copied. */
TAKT_API void takt_thread_name(const char *name);

/* TAKT_WORK as a function. */
TAKT_API void takt_work(double flops, double bytes);

/* A track is a row of its own for work that no thread's stack holds: tasks, fibers, requests.
 * Spans on one track may overlap. */
typedef uint32_t takt_track;
typedef uint64_t takt_span;

/* The track of that name, made at the first call; 0 when there is no memory. */
TAKT_API takt_track takt_track_named(const char *name);
TAKT_API takt_track takt_track_of(takt_name name);

/* Begins a span on a track; it may be ended on another thread. 0, which takt_span_end() ignores,
 * while nothing records. */
TAKT_API takt_span takt_span_begin(takt_track track, const char *name);
TAKT_API takt_span takt_span_begin_name(takt_track track, takt_name name);
TAKT_API void takt_span_end(takt_span span);

/* A span whose times are known already, in takt_now_ns() nanoseconds. Spans with end before begin
 * are dropped and counted. */
TAKT_API void takt_span_at(takt_track track, const char *name, uint64_t begin_ns, uint64_t end_ns);

/* An arrow from the innermost open scope of one thread to that of another; the program chooses
 * the id, which pairs one begin with one end. */
TAKT_API void takt_flow_begin(uint64_t id);
TAKT_API void takt_flow_end(uint64_t id);

#ifdef __cplusplus
}
#endif

/* ---- What the macros are made of ------------------------------------------------------------- */

#include <takt/detail/layout.h>
#ifdef TAKT_DISABLE
#include <takt/detail/disabled.h>
#else
#include <takt/detail/arg.h>
#include <takt/detail/macros.h>
#endif

#endif
