/* CUDA events: the pool of events, and the backend that uses them where CUPTI is missing.
 *
 * A mark is a pair of events on a stream. The thread that marks records both, and reports the
 * launch to tkt_cuda_on_call()'s function. The collector turns finished pairs into activities of
 * the store. The pair gives the duration. The anchor of its context gives the position in time: an
 * anchor is an event whose time on Takt's clock is known to within a bracket. */
#ifndef TKT_CUDA_EVENT_H
#define TKT_CUDA_EVENT_H

#include "base/clock.h"
#include "cuda/clock.h"
#include "cuda/driver.h"

#include <takt/event.h>

/* Marks that may be open or unfinished at once; further ones count as dropped. */
#define TKT_MARKS 16384u

/* A context. `key` distinguishes it from a later context at the same address. */
typedef struct tkt_event_context {
    void *handle; /* CUcontext */
    uint64_t key;
} tkt_event_context;

/* Translates a CUresult to TAKT_OK, TAKT_NOT_READY, TAKT_NO_MEMORY or TAKT_BAD_STATE. */
takt_status tkt_event_status(int result);

/* Returns the context of a stream; for the default stream the current context. False if there is
 * none. */
bool tkt_event_context_of(const tkt_driver *driver, void *stream, tkt_event_context *out);

/* Makes the context current, until context_pop(). False if it is gone, also if another one has its
 * address. */
bool tkt_event_context_push(const tkt_driver *driver, const tkt_event_context *context);

/* Says whether work given to the stream now becomes part of a graph. */
typedef enum tkt_capture {
    TKT_CAPTURE_NO,
    TKT_CAPTURE_YES,
    TKT_CAPTURE_FORBIDS /* the legacy stream, while another stream is captured */
} tkt_capture;
tkt_capture tkt_event_capture(const tkt_driver *driver, void *stream);

/* Returns a new CUevent of this context; NULL if CUDA fails or there is no memory. */
void *tkt_event_new(const tkt_driver *driver, const tkt_event_context *context, bool is_timed);

/* Returns an event from the context's pool, or a new one. */
void *tkt_event_take(const tkt_driver *driver, const tkt_event_context *context, bool is_timed);

/* Gives an event back to the pool; NULL is ignored. */
void tkt_event_give(const tkt_driver *driver, uint64_t context_key, bool is_timed, void *event);

/* Tells the nanoseconds from one event to another; negative if `end` came first. Returns a
 * CUresult: TKT_CUDA_NOT_READY if one of them is not done yet. */
int tkt_event_between(const tkt_driver *driver, void *begin, void *end, int64_t *ns);

/* A context's position in time; starts as {0}. */
typedef struct tkt_anchor {
    void *stream;      /* CUstream, Takt's own */
    void *event;       /* CUevent; NULL: no anchor yet */
    uint64_t ns;       /* the event's time, on the time line of takt_now_ns() */
    uint64_t tried_ns; /* last renewal, or attempt at one */
} tkt_anchor;

/* True when it is time to renew the anchor. */
bool tkt_anchor_is_due(const tkt_anchor *anchor, const tkt_clock_fit *fit);

/* Renews the anchor of the current context, and returns a pair of clock readings. False if the
 * device was too busy; the old anchor stays valid. */
bool tkt_anchor_renew(const tkt_driver *driver, const tkt_event_context *context,
                      const tkt_clock_fit *fit, tkt_anchor *anchor, tkt_clock_pair *pair);

/* ======== Marks ======== */

/* A context that has had marks. */
typedef struct tkt_marked_context {
    tkt_event_context context;
    uint32_t device;
    tkt_anchor anchor; /* only the collector uses it */
} tkt_marked_context;

/* Returns the context's index; UINT32_MAX without memory. */
uint32_t tkt_marks_context(const tkt_driver *driver, const tkt_event_context *context);

/* A copy of the context with this index; and a new anchor for it. */
tkt_marked_context tkt_marks_context_at(uint32_t index);
void tkt_marks_set_anchor(uint32_t index, const tkt_anchor *anchor);

/* Returns the number of a context's stream; 0 without memory. */
uint32_t tkt_marks_stream(uint64_t context_key, const void *stream);

/* Returns the label of a call site, a string of the store; TKT_STRTAB_FULL without room. */
uint32_t tkt_marks_label(const takt_site *site, uint32_t filter);

/* For a forked child: its locks are free. */
void tkt_marks_forget_numbers(void);

/* Switches the timing of marks on or off. Called by the collector; false without memory. */
bool tkt_marks_switch(bool is_on);

/* Puts finished marks into the store, adds a note for each mark that is given up, and renews
 * anchors when due. Waits for a device some milliseconds at most. Returns the number of unfinished
 * marks. Hold no lock. */
size_t tkt_marks_resolve(void);

/* Hands over to CUPTI. Stores finished marks; unfinished ones count as failed, because CUPTI
 * numbers launches itself and would reuse their ids. The collector calls this before a window with
 * CUPTI begins. */
void tkt_marks_retire(void);

/* For a forked child: marks nothing any more. */
void tkt_marks_forget(void);

#endif
