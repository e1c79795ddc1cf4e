/* takt/scope.h - instrumentation for simulators: scopes, phases, marks and counters. Include this
 * header wherever you instrument code.
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
 * A name is a string literal or __func__. In C++ a name may also be any constexpr text with static
 * storage; inside a function, declare such an array static constexpr. For names made at run time
 * use the functions below.
 *
 * While nothing records, a scope costs one relaxed load and a branch. While something records, a
 * scope costs two clock reads and one 16-byte record in its thread's buffer. Nothing here blocks,
 * logs or fails. Takt drops an event that it cannot record, and every report counts the dropped
 * events.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TAKT_SCOPE_H
#define TAKT_SCOPE_H

#include <takt/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Opens a scope that ends with the block. TAKT_FUNCTION names the scope after the function; in C++
 * with class and namespaces: "physics::World::step". __PRETTY_FUNCTION__ as a name gives the same
 * name. */
#define TAKT_SCOPE(name) TAKT_BLOCK(TAKT_SITE_SCOPE, name, TAKT_NULL, 0)
#define TAKT_FUNCTION()  TAKT_SCOPE(TAKT_FUNCTION_NAME)

/* Begins a phase of the enclosing scope. The phase ends when the next phase begins, when the scope
 * ends, or when the step ends (takt_profiler_step). If the scope itself is not recorded, as when
 * the recording began inside it, its end does not end the phase. Then the phase goes on, with what
 * follows inside it, until the thread's next phase outside of scopes, the thread's next step, or
 * until it has left the scopes that later end in this phase. */
#define TAKT_PHASE(name) TAKT_DO_PHASE(name)

/* TAKT_MARK records a moment without duration. TAKT_COUNTER records the value that a quantity has
 * from now on; the value is converted to double. */
#define TAKT_MARK(name)         TAKT_DO_MARK(name)
#define TAKT_COUNTER(name, ...) TAKT_DO_COUNTER(name, TAKT_TO(double, __VA_ARGS__))

/* Attaches a key and a value to the innermost open scope of this thread. The value is an integer of
 * up to 64 bits, an enum, a bool, a floating-point number (stored as double) or a char *
 * (copied). */
#define TAKT_ARG(key, ...) TAKT_DO_ARG(key, __VA_ARGS__)

/* Declares work done in the innermost open scope: floating-point operations and bytes moved.
 * Several declarations add up. */
#define TAKT_WORK(flops, bytes) TAKT_DO_WORK(flops, bytes)

/* A scope that begins and ends in different blocks of one thread. Both macros take the same name.
 * Takt ignores an end without a begin, counts it, and logs where it is. It does not count the first
 * one of a place while no scope is open that began in the recording: its begin may have come
 * before. An end also closes all scopes that were left open inside its own. */
#define TAKT_BEGIN(name) TAKT_DO_BEGIN(name)
#define TAKT_END(name)   TAKT_DO_END(name)

/* Opens a scope whose name is made at run time; the text is copied. takt_end() ends the innermost
 * scope that takt_begin() or TAKT_BEGIN() opened on this thread. */
TAKT_API void takt_begin(const char *name);
TAKT_API void takt_end(void);

/* ---- Enough to start. The rest is for special cases. --------------------------------------------
 *
 * All functions and macros may be used on any thread at any time, also before main, after exit and
 * in signal handlers. If a handler interrupts Takt itself, Takt drops and counts the handler's
 * events. A handler must end what it begins and must not leave by longjmp(). With call stacks
 * (profiling.with_stack) it needs 8 KiB of stack for Takt. A NULL name reads as "(null)". Takt
 * allocates memory only for a thread's first event and for each new call site, name, depth or
 * chunk. With TAKT_DISABLE defined, every macro still type-checks its arguments and then
 * disappears. */

/* Marks one round of a loop other than the profiler's step loop, such as "render" beside physics.
 * The time between two marks becomes a span on a track of that name if the second one is recorded;
 * the first may lie in the schedule's wait. Use each name in one place only. */
#define TAKT_FRAME(name) TAKT_DO_FRAME(name)

/* Levels say how fine a scope is. A run records levels up to the configured one; the default is
 * 2. */
#define TAKT_LEVEL_COARSE 1
#define TAKT_LEVEL_NORMAL 2
#define TAKT_LEVEL_FINE   3
#define TAKT_LEVEL_DETAIL 4

/* TAKT_SCOPE with a category and a level. The configuration can switch a category off ("categories:
 * {io: off}"). All other macros, and functions, use the default category and TAKT_LEVEL_NORMAL: at
 * level 1 a recorded scope lacks its arguments and work. Takt distinguishes fifteen categories; all
 * later ones share the last. */
#define TAKT_SCOPE_IN(category, level, name) TAKT_BLOCK_IN(category, level, name)

/* TAKT_SCOPE with a color, a constant 0xRRGGBB, for the page of `takt report --html`. With 0 the
 * page derives the color from the name, as for all other scopes. */
#define TAKT_SCOPE_COLOR(color, name)                                                              \
    TAKT_BLOCK(TAKT_SITE_SCOPE, name, TAKT_NULL, TAKT_COLOR(color))

/* Host work that counts as an activity until the end of the block. `device` names who does the
 * work, such as "cpu". `filter` is one bit, such as TAKT_TIMING_KERNEL of takt/activity.h. */
#define TAKT_ACTIVITY(device, filter, name) TAKT_BLOCK(TAKT_SITE_ACTIVITY, name, device, filter)

/* TAKT_SCOPE with an explicit end, for an engine that already has begin and end macros. TAKT_OPEN
 * declares the variable `scope`. Close it with one TAKT_CLOSE on the same thread, before the scopes
 * around it. */
#define TAKT_OPEN(scope, name) TAKT_DO_OPEN(scope, name)
#define TAKT_CLOSE(scope)      TAKT_DO_CLOSE(scope)

/* TAKT_MARK and TAKT_COUNTER with a name made at run time; the text is copied. They cost several
 * times as much as the macros. */
TAKT_API void takt_mark(const char *name);
TAKT_API void takt_counter(const char *name, double value);

/* A name made at run time, for repeated use without a lookup each time. It lives as long as the
 * process. Equal texts give equal names. {0} reads as "(null)". Frozen. */
typedef struct takt_name {
    uint32_t id;
} takt_name;

/* Makes a name from `size` bytes, which are copied and need no NUL. Returns {0} if `text` is NULL,
 * if memory is exhausted, or in a signal handler. */
TAKT_API takt_name takt_name_make(const char *text, size_t size);

/* The same as takt_begin(), takt_mark() and takt_counter(), at the cost of the macros. End the
 * scope with takt_end(). */
TAKT_API void takt_begin_name(takt_name name);
TAKT_API void takt_mark_name(takt_name name);
TAKT_API void takt_counter_name(takt_name name, double value);

/* Names the calling thread in every later trace. The text is copied. */
TAKT_API void takt_thread_name(const char *name);

/* The same as TAKT_WORK, as a function. */
TAKT_API void takt_work(double flops, double bytes);

/* A track is a separate row for work that belongs to no thread's stack: tasks, fibers, requests.
 * Spans on one track may overlap. */
typedef uint32_t takt_track;
typedef uint64_t takt_span;

/* Returns the track of that name, and makes it on the first call. Returns 0 if memory is
 * exhausted. */
TAKT_API takt_track takt_track_named(const char *name);
TAKT_API takt_track takt_track_of(takt_name name);

/* Begins a span on a track; any thread may end it. Returns 0 while nothing records or when the span
 * cannot be kept; takt_span_end() ignores 0. */
TAKT_API takt_span takt_span_begin(takt_track track, const char *name);
TAKT_API takt_span takt_span_begin_name(takt_track track, takt_name name);
TAKT_API void takt_span_end(takt_span span);

/* Records a span with known times, in nanoseconds of takt_now_ns(). Takt drops and counts a span
 * that ends before it begins. */
TAKT_API void takt_span_at(takt_track track, const char *name, uint64_t begin_ns, uint64_t end_ns);

/* Draws an arrow from the innermost open scope of one thread to that of another. The program
 * chooses `id`; one id pairs one begin with one end. A half without the other draws nothing. */
TAKT_API void takt_flow_begin(uint64_t id);
TAKT_API void takt_flow_end(uint64_t id);

#ifdef __cplusplus
}
#endif

/* ---- Implementation of the macros ------------------------------------------------------------ */

#include <takt/detail/arg.h>
#include <takt/detail/macros.h>

#endif
