/* CUDA events: pooled, and the backend that times what the program marks where there is no CUPTI.
 *
 * A mark is a pair of events on a stream. The thread that marks records them and gives the launch
 * to tkt_cuda_on_call()'s hook; the collector turns pairs that are done into activities of the
 * store. Durations are the pair's own. Where a pair lies in time is told by its context's anchor:
 * an event whose time on Takt's clock is known to within a bracket. */
#ifndef TKT_CUDA_EVENT_H
#define TKT_CUDA_EVENT_H

#include "base/clock.h"
#include "cuda/clock.h"
#include "cuda/driver.h"

#include <takt/event.h>

/* Marks that are under way or not done yet; what comes on top is counted as dropped. */
#define TKT_MARKS 4096u

/* A context, and what tells it from a later one at the same address. */
typedef struct tkt_event_context {
    void *handle; /* CUcontext */
    uint64_t key;
} tkt_event_context;

/* TAKT_OK, TAKT_NOT_READY, TAKT_NO_MEMORY or TAKT_BAD_STATE for a CUresult. */
takt_status tkt_event_status(int result);

/* The context of a stream, or the current one for the default stream. False: there is none. */
bool tkt_event_context_of(const tkt_driver *driver, void *stream, tkt_event_context *out);

/* Whether what is recorded on the stream now becomes part of a graph. */
typedef enum tkt_capture {
    TKT_CAPTURE_NO,
    TKT_CAPTURE_YES,
    TKT_CAPTURE_FORBIDS /* the legacy stream, while another one is captured */
} tkt_capture;
tkt_capture tkt_event_capture(const tkt_driver *driver, void *stream);

/* A CUevent of this context, which was never recorded; NULL where CUDA or memory refuses. */
void *tkt_event_new(const tkt_driver *driver, const tkt_event_context *context, bool is_timed);

/* The same from the context's pool, if that has one. */
void *tkt_event_take(const tkt_driver *driver, const tkt_event_context *context, bool is_timed);

/* Gives it back; NULL is ignored. */
void tkt_event_give(const tkt_driver *driver, uint64_t context_key, bool is_timed, void *event);

/* Nanoseconds from one event to another that are both done; negative if it was earlier. False:
 * CUDA does not tell. */
bool tkt_event_between(const tkt_driver *driver, void *begin, void *end, int64_t *ns);

/* What is known of a context's place in time; starts as {0}. */
typedef struct tkt_anchor {
    void *stream;      /* CUstream, Takt's own */
    void *event;       /* CUevent; NULL: not known yet */
    uint64_t ns;       /* its time, of the takt_now_ns() time line */
    uint64_t tried_ns; /* when it was renewed, or could not be */
} tkt_anchor;

/* Whether it is time for a new one. */
bool tkt_anchor_is_due(const tkt_anchor *anchor, const tkt_clock_fit *fit);

/* Renews it, with its context current, and tells the clocks. False: not now, the old one holds. */
bool tkt_anchor_renew(const tkt_driver *driver, const tkt_event_context *context,
                      const tkt_clock_fit *fit, tkt_anchor *anchor, tkt_clock_pair *pair);

/* The backend, by the collector: whether marks are timed from now on; false without memory. */
bool tkt_marks_switch(bool is_on);

/* Puts what is done into the store, with a note of those that are given up, and anchors contexts
 * anew from time to time. Never waits for the device longer than some milliseconds. Returns how
 * many marks are not done yet. Hold no lock. */
size_t tkt_marks_resolve(void);

/* CUPTI takes over. Stores what is done; marks that are not done by now count as failed, because
 * CUPTI numbers launches on its own and theirs would be mistaken for later ones. By the collector,
 * before a window with CUPTI begins. */
void tkt_marks_retire(void);

/* In a forked child nothing is marked any more. */
void tkt_marks_forget(void);

#endif
