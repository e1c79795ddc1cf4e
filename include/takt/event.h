/* takt/event.h - CUDA events: times of what the program marks on a stream, with or without CUPTI.
 *
 *     takt_event *begin, *end;
 *     double ms;
 *     takt_event_create(TAKT_EVENT_TIMED, &begin);
 *     takt_event_create(TAKT_EVENT_TIMED, &end);
 *     takt_event_record(begin, stream);
 *     step<<<grid, block, 0, stream>>>(...);
 *     takt_event_record(end, stream);
 *     takt_event_elapsed_ms(begin, end, &ms);      // waits for `end`
 *
 * A stream is a cudaStream_t or a CUstream, passed as it is; NULL is the default stream, the legacy
 * one. No CUDA header is needed. Recorded while a stream is captured, an event becomes a node of
 * the graph, and is valid again after every launch of it: keep it for as long as the graph is
 * launched.
 *
 * Two macros mark what is timed while Takt records:
 *
 *     TAKT_STREAM_SCOPE(stream, "step");           // until the end of the block
 *     TAKT_LAUNCH(stream, TAKT_TIMING_KERNEL, "density") {
 *         density<<<grid, block, 0, stream>>>(...);
 *     }
 *
 * With CUPTI both are scopes and nothing more, since CUPTI sees what is launched inside. Without it
 * each is a scope and an activity: the time between two events on the stream. Where marks lie
 * within each other on one stream the inner ones count and the outer one is a scope only, so that
 * no time is counted twice. What is captured into a graph is not timed by them: mark the graph's
 * launch.
 *
 * All functions: any thread, not in signal handlers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TAKT_EVENT_H
#define TAKT_EVENT_H

#include <takt/activity.h>
#include <takt/scope.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An event of the context of the stream on which it is first recorded. */
typedef struct takt_event takt_event;

typedef enum takt_event_kind {
    TAKT_EVENT_TIMED,
    TAKT_EVENT_UNTIMED /* cheaper, and only good for waiting */
} takt_event_kind;

/* Makes an event. What it holds of CUDA comes from a pool, to which takt_event_destroy() gives it
 * back. TAKT_NO_MEMORY; TAKT_UNSUPPORTED where there is no CUDA. */
TAKT_API takt_status takt_event_create(takt_event_kind kind, takt_event **out);

/* Records it on `stream`; recorded again, it forgets the first time. One event is recorded by one
 * thread at a time. TAKT_BAD_STATE when CUDA refuses, such as on the stream of another context or
 * in a thread without a current context for NULL; TAKT_NO_MEMORY. */
TAKT_API takt_status takt_event_record(takt_event *event, void *stream);

/* Whether the work before it is done: TAKT_OK, or TAKT_NOT_READY. Here and below TAKT_BAD_STATE
 * means that it was not recorded, or that CUDA refuses, as it does for events whose graph is still
 * to be launched. */
TAKT_API takt_status takt_event_query(takt_event *event);

/* Waits until it is done. */
TAKT_API takt_status takt_event_synchronize(takt_event *event);

/* Milliseconds between two events; waits for both. CUDA's own resolution is about half a
 * microsecond and seven digits, so over more than four seconds the digits are what is lost
 * first. */
TAKT_API takt_status takt_event_elapsed_ms(takt_event *begin, takt_event *end, double *ms);

/* The same without waiting: TAKT_NOT_READY. */
TAKT_API takt_status takt_event_elapsed_now_ms(takt_event *begin, takt_event *end, double *ms);

/* Gives it back; it need not be done. NULL is ignored. */
TAKT_API void takt_event_destroy(takt_event *event);

/* The library's half of the macros; not to be called by hand. `name` is copied. */
TAKT_API void *takt_stream_begin_v1(void *stream, uint32_t filter, const takt_site *site);
TAKT_API void takt_stream_end_v1(void *mark);

/* What the macros keep of a mark. */
typedef struct takt_stream_mark {
    takt_open scope;
    void     *mark; /* NULL: the scope is all there is */
    bool      is_done;
} takt_stream_mark;

#ifdef __cplusplus
}
#endif

#ifndef TAKT_DISABLE

/* The scope is opened first and closed last: the activity belongs to it. */
static inline takt_stream_mark takt_stream_open(takt_site *site, uint32_t filter, void *stream)
{
    takt_stream_mark mark = {takt_scope_open(site, TAKT_NORMAL_BIT), NULL, false};
    if (TAKT_UNLIKELY(mark.scope.frame != NULL))
        mark.mark = takt_stream_begin_v1(stream, filter, site);
    return mark;
}

static inline void takt_stream_close(takt_stream_mark *mark)
{
    if (TAKT_UNLIKELY(mark->mark != NULL))
        takt_stream_end_v1(mark->mark);
    takt_scope_close(mark->scope);
}

#define TAKT_STREAM_SITE(name)                                                                     \
    (__extension__({                                                                               \
        TAKT_SITE_HERE(TAKT_INSTEAD_STREAM, TAKT_SITE_SCOPE, name);                                \
        &takt_site_here;                                                                           \
    }))

#ifdef __cplusplus
struct takt_stream_guard {
    takt_stream_mark mark;
    explicit takt_stream_guard(takt_stream_mark opened) : mark(opened) {}
    takt_stream_guard(const takt_stream_guard &) = delete;
    takt_stream_guard &operator=(const takt_stream_guard &) = delete;
    ~takt_stream_guard() { takt_stream_close(&mark); }
};
#define TAKT_STREAM_GUARD(variable, opened) takt_stream_guard variable(opened)
#define TAKT_STREAM_DONE(variable)          (variable).mark.is_done
#else
#define TAKT_STREAM_GUARD(variable, opened)                                                        \
    __attribute__((cleanup(takt_stream_close), unused)) takt_stream_mark variable = (opened)
#define TAKT_STREAM_DONE(variable) (variable).is_done
#endif

/* A scope from here to the end of the block, and the device's time between both ends on `stream`.
 * `name` is a string literal. */
#define TAKT_STREAM_SCOPE(stream, name)                                                            \
    TAKT_STREAM_GUARD(TAKT_JOIN(takt_stream_, __COUNTER__),                                        \
                      takt_stream_open(TAKT_STREAM_SITE(name), 0, stream))

/* Around one launch, copy or set on `stream`: TAKT_LAUNCH(stream, filter, "name") { ... }. `filter`
 * is one TAKT_TIMING_ bit and becomes part of what tables print: "kernel density", "memcpy HtoD".
 * The block runs once; `break` leaves it. */
#define TAKT_LAUNCH(stream, filter, name)                                                          \
    TAKT_LAUNCH_AS(TAKT_JOIN(takt_launch_, __COUNTER__), stream, filter, name)
#define TAKT_LAUNCH_AS(variable, stream, filter, name)                                             \
    for (TAKT_STREAM_GUARD(variable, takt_stream_open(TAKT_STREAM_SITE(name), filter, stream));    \
         !TAKT_STREAM_DONE(variable); TAKT_STREAM_DONE(variable) = true)

#else /* TAKT_DISABLE: blocks still run, once; nothing is timed */

static inline int takt_stream_checked(void *stream, uint32_t filter, const char *name)
{
    return stream != NULL && filter != 0 && name != NULL;
}
#define TAKT_STREAM_SCOPE(stream, name) ((void)sizeof(takt_stream_checked(stream, 0, name)))
#define TAKT_LAUNCH(stream, filter, name)                                                          \
    TAKT_LAUNCH_AS(TAKT_JOIN(takt_launch_, __COUNTER__), stream, filter, name)
#define TAKT_LAUNCH_AS(variable, stream, filter, name)                                             \
    for (bool variable = sizeof(takt_stream_checked(stream, filter, name)) != 0; variable;         \
         variable = false)

#endif
#endif
