/* takt/event.h - CUDA events: times of what the program marks on a stream, without CUPTI.
 *
 *     takt_event *begin, *end;
 *     double ms;
 *     takt_event_create(&begin);
 *     takt_event_create(&end);
 *     takt_event_record(begin, stream);
 *     step<<<grid, block, 0, stream>>>(...);
 *     takt_event_record(end, stream);
 *     takt_event_elapsed_ms(begin, end, &ms);      // waits for `end`
 *
 * A stream is a cudaStream_t or a CUstream, passed as it is; NULL is the default stream. No CUDA
 * header is needed. Recorded while a stream is captured, an event becomes a node of the graph, and is
 * valid again after every launch of it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TAKT_EVENT_H
#define TAKT_EVENT_H

#include <takt/activity.h>
#include <takt/scope.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An event of the context that is current when it is first recorded. */
typedef struct takt_event takt_event;

/* Makes an event with timing; it comes from a pool, to which takt_event_destroy() gives it back. Any
 * thread. TAKT_NO_MEMORY; TAKT_UNSUPPORTED where there is no CUDA. */
TAKT_API takt_status takt_event_create(takt_event **out);

/* Records it on `stream` of the current context. TAKT_BAD_STATE when CUDA refuses. */
TAKT_API takt_status takt_event_record(takt_event *event, void *stream);

/* Whether the work before it is done: TAKT_OK, or TAKT_NOT_READY. */
TAKT_API takt_status takt_event_query(takt_event *event);

/* Waits until it is. */
TAKT_API takt_status takt_event_synchronize(takt_event *event);

/* Milliseconds between two events, with a resolution of about half a microsecond; waits for `end`.
 * The second form does not wait: TAKT_NOT_READY. */
TAKT_API takt_status takt_event_elapsed_ms(takt_event *begin, takt_event *end, double *ms);
TAKT_API takt_status takt_event_elapsed_now_ms(takt_event *begin, takt_event *end, double *ms);

/* Gives it back. NULL is ignored. */
TAKT_API void takt_event_destroy(takt_event *event);

#ifdef __cplusplus
}
#endif
#endif
