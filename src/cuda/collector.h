/* The collector and the parts that serve it. The collector is the one thread that switches and
 * flushes CUPTI. CUPTI itself calls back on the program's threads: for buffers, and for calls into
 * CUDA. */
#ifndef TKT_CUDA_COLLECTOR_H
#define TKT_CUDA_COLLECTOR_H

#include "cuda/cuda.h"
#include "cuda/cupti.h"
#include "cuda/event.h"

#include <stdbool.h>
#include <stdint.h>

/* ======== The thread ======== */

/* How other threads wake the collector, and wait for it. */

/* Wakes the collector to decode a full buffer. Takes no lock, so any thread may call it, also
 * inside a callback. */
void tkt_collector_nudge(void);

/* Registers an exit handler that stops collecting. Handlers run in reverse order, so this one runs
 * before every handler registered so far, the driver's among them. */
void tkt_collector_leave_at_exit(void);

/* ---- For settle.c ---------------------------------------------------------------------------- */

/* True while the collector runs and a window is open. Otherwise there is nothing to settle. */
bool tkt_collector_is_collecting(void);

/* Returns a ticket for this moment. The ticket is settled once the devices have done all work given
 * to them before it, and the records of that work have arrived. The next flush marks the moment. */
uint64_t tkt_collector_ticket(void);

/* Makes the collector flush CUPTI and decode the buffers that come back. A forced flush discards
 * unfinished records for good. False if the collector hangs or the process exits. */
bool tkt_collector_flush(bool is_forced);

typedef struct tkt_collector_view {
    uint64_t turns; /* counts flushes, and wake-ups by full buffers */
    bool     is_settled;
    bool     is_broken; /* a device has a sticky error: unfinished work will never finish */
    bool     is_busy;   /* a device is known to be at work */
    bool     is_gone;   /* the collector hangs, or the process exits */
} tkt_collector_view;
tkt_collector_view tkt_collector_look(uint64_t ticket);

/* Waits for a turn later than `turns`, at most this long. */
void tkt_collector_wait(uint64_t turns, uint32_t timeout_ms);

/* ======== Switching and flushing ======== */

/* The CUPTI session. Only the collector calls these functions: they are not thread-safe, and the
 * caller must hold no lock that a callback of CUPTI takes. */

/* Subscribes to CUPTI and prepares buffers; nothing is collected yet. On failure returns false with
 * the reason, and sets `result` to CUPTI's CUptiResult, or to 0 if another step failed. */
bool tkt_tracing_open(const tkt_driver *driver, int *result, char reason[TKT_REASON_BYTES]);

/* Subscribes to CUPTI and gives it back at once: of graphs that a program instantiates before the
 * first subscription, CUPTI never records more than one repetition of a loop's body. False if it
 * must not be given back, because only the first session is right; then nothing was done. */
bool tkt_tracing_touch(const tkt_driver *driver);

/* Switches CUPTI to this request. False with the reason if CUPTI can collect nothing; the session
 * is then closed again. If CUPTI refuses some kinds only, logs that once and collects the rest. */
bool tkt_tracing_switch(const tkt_cuda_wish *wish, char reason[TKT_REASON_BYTES]);

/* Flushes CUPTI and brings the store up to date. CUPTI gives back the complete buffers, or with
 * is_forced all of them: their unfinished records are then lost for good. */
void tkt_tracing_flush(const tkt_cuda_wish *wish, bool is_forced);

/* Decodes the buffers that came back without a flush. */
void tkt_tracing_drain(const tkt_cuda_wish *wish);

/* The version of the loaded CUPTI. */
uint32_t tkt_tracing_version(void);

/* ======== Buffers ======== */

/* The buffers that CUPTI fills. CUPTI requests one on the program's threads and gives it back on
 * any thread; the collector alone decodes, zeroes and recycles them.
 *
 * The size of a buffer decides how long a record waits. CUPTI gives a buffer back when all its
 * records are complete and either the buffer is full or somebody flushes; a forced flush discards
 * unfinished records. On a device that is never idle, a thread's current buffer always holds an
 * unfinished record. With 13.0 Update 1 a flush ends it, and a later one gives it back; with releases
 * that go on with it, only full buffers come back. Each thread therefore gets buffers that it fills
 * in a few hundredths of a second: for one record where it launches rarely, for some hundreds where
 * it launches all the time. */

#define TKT_BUFFER_LEAST_BYTES ((size_t)4 << 10)
#define TKT_BUFFER_MOST_BYTES  ((size_t)64 << 10)

/* CUPTI calls these two: see tkt_cupti_requested and tkt_cupti_completed. */
void tkt_buffers_request(uint8_t **buffer, size_t *bytes, size_t *max_records);
void tkt_buffers_complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
                          size_t valid_bytes);

/* The collector calls the rest. */

/* Call before the first request. `sizes` are the sizes of records, borrowed for the life of the
 * process; `may_refuse` is true if CUPTI accepts that a request is refused. If it does not, the
 * pool has a few emergency buffers for when it is exhausted; their records are thrown away. False
 * without memory. */
bool tkt_buffers_setup(const tkt_record_sizes *sizes, bool may_refuse);

/* Limits the bytes of all buffers together. Requests are refused only beyond this limit, or without
 * memory. */
void tkt_buffers_limit(uint64_t bytes);

/* Bytes of all buffers, whether CUPTI, the collector or the pool has them. */
uint64_t tkt_buffers_bytes(void);

/* Passes each buffer that has come back to `use`, in the order of their return. */
void tkt_buffers_drain(void (*use)(const void *buffer, size_t valid_bytes));

/* Frees unused buffers beyond this many bytes. */
void tkt_buffers_trim(uint64_t idle_bytes);

/* Losses since the previous call of tkt_buffers_take_losses(). */
typedef struct tkt_buffer_losses {
    uint64_t records; /* thrown away */
    uint64_t foreign; /* buffers that CUPTI gave back but never got */
    uint64_t refused; /* requests */
} tkt_buffer_losses;
tkt_buffer_losses tkt_buffers_take_losses(void);

/* tkt_buffers_count() returns how many buffers were handed out so far. tkt_buffers_are_back() is
 * true when the first `count` of them have all come back and been drained. */
uint64_t tkt_buffers_count(void);
bool tkt_buffers_are_back(uint64_t count);

/* For a forked child: makes a new lock, since the thread that held it may not exist there. */
void tkt_buffers_forget(void);

/* ======== Calls ======== */

/* CUPTI's callbacks: the program's calls into CUDA, and the creation and destruction of
 * contexts. */

/* The callback to subscribe with. */
void tkt_callback(void *user, int domain, uint32_t id, const void *data);

/* The kind of a call. It is stored in the byte before the call's name. */
typedef enum tkt_call_class {
    TKT_CLASS_NONE,
    TKT_CLASS_WORK,      /* launches, copies, sets, allocates, frees, waits, records an event */
    TKT_CLASS_GRAPH,     /* launches a graph; otherwise like TKT_CLASS_WORK */
    TKT_CLASS_GRAPH_OWN, /* the same, and without a stream on the thread's own */
    TKT_CLASS_END,       /* destroys a context; also recorded like TKT_CLASS_WORK */
    TKT_CLASS_STREAM_END,
    TKT_CLASS_CAPTURE_BEGIN,
    TKT_CLASS_CAPTURE_END,
    TKT_CLASS_MARK /* Takt's own call, made for its correlation id */
} tkt_call_class;

typedef struct tkt_api_domain {
    const char **names; /* by id; NULL: not needed */
    uint32_t     count;
} tkt_api_domain;

extern tkt_api_domain tkt_api_domains[TKT_DOMAIN_RUNTIME + 1];

static inline const char *tkt_callback_name_of(int domain, uint32_t id)
{
    return id < tkt_api_domains[domain].count ? tkt_api_domains[domain].names[id] : NULL;
}

static inline bool tkt_call_is_recorded(const char *name)
{
    return name[-1] >= TKT_CLASS_WORK && name[-1] <= TKT_CLASS_END;
}

/* Asks CUPTI for the names of all its callbacks and keeps the relevant ones. Call once, before
 * subscribing. Returns a CUptiResult: fails without memory, or if CUPTI names no callback at
 * all. */
int tkt_callback_setup(const tkt_cupti *cupti);

/* tkt_callback_watch() enables callbacks for contexts and captures, as long as the subscription
 * lasts. tkt_callback_switch_calls() enables or disables those for recorded calls; `is_any` is set
 * to true if CUPTI switched at least one. Both return the first failure, a CUptiResult. */
int tkt_callback_watch(const tkt_cupti *cupti);
int tkt_callback_switch_calls(const tkt_cupti *cupti, bool is_on, bool *is_any);

/* Calls that are under way are not reported: their EXIT may be lost. */
void tkt_callback_void_calls(void);

/* While paused, calls are not reported; only their ids are remembered. For releases of CUPTI that
 * must not be switched off. Any thread. */
void tkt_callback_pause(bool pause);

/* Writes the function's usual name, at most `size` bytes: "cudaLaunchKernel" for
 * "__cudaLaunchKernel_ptsz_v13000". */
void tkt_callback_name(char *out, size_t size, const char *symbol);

/* Passes a call to the function set by tkt_cuda_on_call(), on the thread that made the call. */
void tkt_callback_report(const tkt_cuda_call *call);

/* Sets the highest id so far, for a backend that numbers calls itself from now on. */
void tkt_callback_continue_from(uint32_t correlation);

/* ======== Whole launches of graphs ======== */

/* Of GRAPH_TRACE, which must not be enabled or disabled in another way. Enabling returns a
 * CUptiResult: TKT_CUPTI_NOT_SUPPORTED once a dangerous graph was launched, which
 * tkt_whole_is_over() tells. */
int tkt_whole_enable(const tkt_cupti *cupti);
void tkt_whole_disable(const tkt_cupti *cupti);
bool tkt_whole_is_over(void);

/* For the end of a subscription, which disables all kinds: forgets the graphs. */
void tkt_whole_forget(void);

/* Announce that an executable graph was made, is about to be destroyed, or launched. Any thread. */
void tkt_whole_made(const void *graph);
void tkt_whole_destroyed(const void *graph);
void tkt_whole_launched(const void *graph);

/* ======== Ids of inner calls ======== */

/* Inner correlation ids of a recorded call. A call of the runtime contains calls of the driver,
 * which are not recorded. With some releases of CUPTI the inner calls have ids of their own, and
 * the activities that they launch carry these. The store replaces such an id by the recorded
 * call's. */

/* Notes that the call `inner` runs inside the call `outer`. Any thread; call before `inner`
 * launches. */
void tkt_alias_add(uint32_t inner, uint32_t outer);

/* Returns the id of the recorded call: `correlation` itself, unless it belongs to an inner call. */
uint32_t tkt_alias_outer(uint32_t correlation);

/* ======== Captures ======== */

/* Keeps stream captures and Takt's waiting for devices apart: waiting for a context while one of
 * its streams is captured would invalidate the capture. */

/* Announces a capture on the calling thread. While another thread waits for devices, waits for that
 * to end, two seconds at most. */
void tkt_capture_begin(void);

/* Announces that a capture has ended, or could not begin. */
void tkt_capture_end(void);

/* The number of captures known to be under way. */
uint32_t tkt_capture_count(void);

/* tkt_capture_doubt() announces that captures may be under way that began before the callbacks. For
 * 10 s tkt_capture_is_doubtful() is true. Meanwhile, and while a capture is known, tkt_capture_find()
 * is to be called with the stream of each launch, or NULL: it returns true if the stream is being
 * captured, or may be, since it is not known and another one is. */
void tkt_capture_doubt(void);
bool tkt_capture_is_doubtful(void);
bool tkt_capture_find(void *stream);

/* tkt_capture_hold() delays new captures until tkt_capture_release(), while the caller waits for a
 * device. It returns false while a capture is under way; the caller must not release then.
 * tkt_capture_delay() does not look at captures under way. */
bool tkt_capture_hold(void);
void tkt_capture_delay(void);
void tkt_capture_release(void);

/* ======== Streams of graphs ======== */

/* Announce that a graph is launched on a stream, NULL being the context's or the calling thread's
 * own default stream, and that a stream is about to be destroyed. Any thread. */
void tkt_graph_stream_used(void *context, void *stream, bool is_of_thread);
void tkt_graph_stream_ends(const void *stream);

/* Forgets all, before they are destroyed with their context, or unseen. */
void tkt_graph_streams_forget(void);

/* True if these streams have done all work given to them; false also where that cannot be asked.
 * Any thread; hold no lock. */
bool tkt_graph_streams_are_done(const tkt_driver *driver);

/* ======== Whether devices are done ======== */

/* Asks, without waiting, whether devices have done all work given to them up to some moment. */

#define TKT_IDLE_CONTEXTS 64u /* further contexts count as idle */

/* An event recorded behind all work that a context had been given. */
typedef struct tkt_idle_event {
    tkt_event_context context;
    void *event; /* NULL: it is done */
} tkt_idle_event;

/* One event in each live context. */
typedef struct tkt_idle_mark {
    uint32_t count;
    bool is_waiting; /* with a driver before 12.5: a thread waits for the contexts */
    tkt_idle_event items[TKT_IDLE_CONTEXTS];
} tkt_idle_mark;

typedef enum tkt_idle_state {
    TKT_IDLE_NOT_YET,
    TKT_IDLE_DONE,
    TKT_IDLE_BROKEN /* a sticky error: unfinished work will never finish */
} tkt_idle_state;

/* Records the events for this moment; drivers before 12.5 cannot, so a thread begins to wait.
 * TKT_IDLE_NOT_YET: a stream is being captured, so no event may be recorded, or the thread waits
 * for an earlier moment; try again. */
tkt_idle_state tkt_idle_begin(const tkt_driver *driver, tkt_idle_mark *mark);

/* Looks whether the devices have reached the mark, and also afterwards whether one has failed since.
 * Destroyed contexts count as done. */
tkt_idle_state tkt_idle_look(const tkt_driver *driver, tkt_idle_mark *mark);

#endif
