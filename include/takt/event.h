/* takt/event.h - CUDA events: measures the time between two points on a stream, with or without
 * CUPTI.
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
 * Pass a cudaStream_t or a CUstream as it is; NULL is the legacy default stream. No CUDA header is
 * needed. An event that is recorded during stream capture becomes a node of the graph. Every launch
 * of the graph records that event again, so keep the event as long as you launch the graph.
 *
 * Two macros time device work while Takt records:
 *
 *     TAKT_STREAM_SCOPE(stream, "step");           // until the end of the block
 *     TAKT_LAUNCH(stream, TAKT_TIMING_KERNEL, "density") {
 *         density<<<grid, block, 0, stream>>>(...);
 *     }
 *
 * With CUPTI both macros are plain scopes, because CUPTI sees the launches inside. Without CUPTI
 * each macro is a scope and an activity: the time between two events on the stream. If such macros
 * nest on one stream, only the inner ones become activities, so that no time counts twice. The
 * macros do not time work that is captured into a graph: put them around the launch of the graph.
 *
 * Call these functions on any thread, but not in signal handlers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TAKT_EVENT_H
#define TAKT_EVENT_H

#include <takt/activity.h>
#include <takt/scope.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An event. It belongs to the CUDA context of the stream on which it is first recorded. */
typedef struct takt_event takt_event;

typedef enum takt_event_kind {
    TAKT_EVENT_TIMED,
    TAKT_EVENT_UNTIMED /* cheaper; can only be waited for */
} takt_event_kind;

/* Makes an event. The caller frees it with takt_event_destroy(), which returns the underlying CUDA
 * event to a pool. TAKT_NO_MEMORY; TAKT_UNSUPPORTED if the process has no CUDA. */
TAKT_API takt_status takt_event_create(takt_event_kind kind, takt_event **out);

/* Records the event on `stream`. Recording it again replaces the earlier time. Only one thread at a
 * time may record one event. TAKT_BAD_STATE if CUDA refuses: for example on a stream of another
 * context, or for NULL in a thread without a current context. TAKT_NO_MEMORY. This function and the
 * ones below return TAKT_UNSUPPORTED in a forked child of a process that used CUDA. */
TAKT_API takt_status takt_event_record(takt_event *event, void *stream);

/* Returns TAKT_OK if all work before the event is done, otherwise TAKT_NOT_READY. This function and
 * the ones below return TAKT_BAD_STATE if the event was never recorded or if CUDA refuses. CUDA
 * refuses events of a graph that has not been launched yet. */
TAKT_API takt_status takt_event_query(takt_event *event);

/* Waits until all work before the event is done. */
TAKT_API takt_status takt_event_synchronize(takt_event *event);

/* Waits for both events and stores the milliseconds between them in *ms. CUDA returns seven digits
 * at a resolution of about half a microsecond. For times over four seconds the digits become the
 * limit. */
TAKT_API takt_status takt_event_elapsed_ms(takt_event *begin, takt_event *end, double *ms);

/* The same without waiting: TAKT_NOT_READY if an event is not done. */
TAKT_API takt_status takt_event_elapsed_now_ms(takt_event *begin, takt_event *end, double *ms);

/* Frees the event, which need not be done. NULL is ignored. */
TAKT_API void takt_event_destroy(takt_event *event);

/* Called by the macros, not by programs. `name` of the site is copied. */
TAKT_API void *takt_stream_begin_v1(void *stream, uint32_t filter, const takt_site *site);
TAKT_API void takt_stream_end_v1(void *mark);

/* State of one TAKT_STREAM_SCOPE or TAKT_LAUNCH. */
typedef struct takt_stream_mark {
    takt_open scope;
    void *mark; /* NULL: only the scope is recorded */
    bool is_done;
} takt_stream_mark;

#ifdef __cplusplus
}
#endif

TAKT_INLINES_BEGIN

#if TAKT_IS_OFF

TAKT_INLINE takt_stream_mark takt_stream_not_opened(void)
{
    takt_stream_mark none = {takt_not_opened(), TAKT_NULL, false};
    return none;
}
#define TAKT_STREAM_OPENED(site, filter, stream)                                                   \
    (TAKT_DO_IF(0, takt_stream_begin_v1(stream, filter, site)), takt_stream_not_opened())
#ifdef __cplusplus
struct takt_no_stream_guard {
    takt_stream_mark mark;
    TAKT_INLINE explicit takt_no_stream_guard(takt_stream_mark opened) : mark(opened) {}
    takt_no_stream_guard(const takt_no_stream_guard &) = delete;
    takt_no_stream_guard &operator=(const takt_no_stream_guard &) = delete;
    TAKT_INLINE ~takt_no_stream_guard() {}
};
#define TAKT_STREAM_GUARD(variable, opened) takt_no_stream_guard variable(opened)
#else
#define TAKT_STREAM_GUARD(variable, opened)                                                        \
    takt_stream_mark variable __attribute__((__unused__)) = (opened)
#endif

#else

/* Opens the scope first and closes it last, so that the activity belongs to the scope. */
TAKT_INLINE takt_stream_mark takt_stream_open(takt_site *site, uint32_t filter, void *stream)
{
    takt_stream_mark mark = {takt_scope_open(site, TAKT_NORMAL_BIT), TAKT_NULL, false};
    if (TAKT_UNLIKELY(mark.scope.frame != TAKT_NULL))
        mark.mark = takt_stream_begin_v1(stream, filter, site);
    return mark;
}

TAKT_INLINE void takt_stream_close(takt_stream_mark *mark)
{
    if (TAKT_UNLIKELY(mark->mark != TAKT_NULL))
        takt_stream_end_v1(mark->mark);
    takt_scope_close(mark->scope);
}

#if defined(__NVCC__) || defined(__EDG__)
TAKT_INLINE takt_stream_mark takt_stream_not_opened(void)
{
    takt_stream_mark none = {takt_not_opened(), TAKT_NULL, false};
    return none;
}
#define TAKT_STREAM_OPENED(site, filter, stream)                                                   \
    (TAKT_WHEN(TAKT_NORMAL_BIT | TAKT_SCOPES_BIT) ? takt_stream_open(site, filter, stream)         \
                                                  : takt_stream_not_opened())
#else
#define TAKT_STREAM_OPENED(site, filter, stream) takt_stream_open(site, filter, stream)
#endif
#ifdef __cplusplus
struct takt_stream_guard {
    takt_stream_mark mark;
    TAKT_INLINE explicit takt_stream_guard(takt_stream_mark opened) : mark(opened) {}
    takt_stream_guard(const takt_stream_guard &) = delete;
    takt_stream_guard &operator=(const takt_stream_guard &) = delete;
    TAKT_INLINE ~takt_stream_guard() { takt_stream_close(&mark); }
};
#define TAKT_STREAM_GUARD(variable, opened) takt_stream_guard variable(opened)
#else
#define TAKT_STREAM_GUARD(variable, opened)                                                        \
    takt_stream_mark variable __attribute__((__cleanup__(takt_stream_close), __unused__)) = (opened)
#endif

#endif

TAKT_INLINES_END

#ifdef __cplusplus
#define TAKT_STREAM_DONE(variable) (variable).mark.is_done
#else
#define TAKT_STREAM_DONE(variable) (variable).is_done
#endif
#define TAKT_STREAM_AS(variable, place, stream, filter, name)                                      \
    TAKT_STREAM_GUARD(variable, TAKT_STREAM_OPENED(TAKT_SITE_HERE(place, TAKT_INSTEAD_STREAM,      \
                                                                  TAKT_SITE_SCOPE, name),          \
                                                   filter, stream))

/* Opens a scope that ends with the block, and times the device on `stream` between both ends.
 * `name` is a string literal. */
#define TAKT_STREAM_SCOPE(stream, name)                                                            \
    TAKT_QUIET_BEGIN                                                                               \
    TAKT_STREAM_AS(TAKT_JOIN(takt_stream_, __COUNTER__), takt_stream_at_, stream, 0, name)         \
    TAKT_QUIET_END

/* Times one launch, copy or set on `stream`: TAKT_LAUNCH(stream, filter, "name") { ... }. `filter`
 * is one TAKT_TIMING_ bit. It becomes part of the name in tables: "kernel density", "memcpy HtoD".
 * The block runs once; `break` leaves it. */
#define TAKT_LAUNCH(stream, filter, name)                                                          \
    TAKT_QUIET_BEGIN                                                                               \
    TAKT_LAUNCH_AS(TAKT_JOIN(takt_launch_, __COUNTER__), stream, filter, name)                     \
    TAKT_QUIET_END
#define TAKT_LAUNCH_AS(variable, stream, filter, name)                                             \
    for (TAKT_STREAM_AS(variable, takt_launch_at_, stream, filter, name);                          \
         !TAKT_STREAM_DONE(variable); TAKT_STREAM_DONE(variable) = true)
#endif
