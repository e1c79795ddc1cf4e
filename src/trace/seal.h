/* Logs become a trace. */
#ifndef TKT_TRACE_SEAL_H
#define TKT_TRACE_SEAL_H

#include "base/clock.h"
#include "base/containers.h"
#include "trace/devices.h"
#include "trace/model.h"

#include <takt/scope.h>

/* ======== Sealing ======== */

/* Makes a trace from the logs of all threads. */

/* Up to where the logs have been sealed in slices. Slices go by what is published, not by times: a
 * thread may be suspended between reading its clock and publishing the event. Starts as {0}. */
typedef struct tkt_seal_place {
    const takt_record *slots; /* of the log's last chunk then; NULL: of none */
    uint64_t           begun_ticks;
    uint32_t           count;
} tkt_seal_place;

typedef struct tkt_seal_places {
    TKT_ARRAY_OF(tkt_seal_place) logs; /* by number */
    uint64_t ticks; /* when the last slice was made: chunks that were full before are not needed */
} tkt_seal_places;

/* The window to seal. Spans that reach over its ends are cut there and marked. */
typedef struct tkt_seal_window {
    uint64_t      begin_ticks;
    uint64_t      end_ticks;
    uint32_t      last_correlation; /* ids of later calls than the window's are kept up to this one */
    tkt_clock_fit fit;
    bool          with_spans; /* the full form */
    tkt_seal_places *places;  /* a slice: what came since the last one, and what is open; moved on
                               * when all went well. NULL: everything */
    bool          with_fold;  /* the folded form, from: */
    const tkt_fold *folds;    /* what tkt_log_fold_take() gave of each log */
    size_t        fold_count;
    const tkt_device_fold *device_fold; /* with it; NULL: none */
    const struct tkt_seal_source *source; /* of trace/recovery.h; NULL: this process */
} tkt_seal_window;

/* A trace with everything that the logs hold of the window; the caller adds what it knows of the
 * run - name, steps, losses, memory totals - and calls tkt_trace_finish(). TAKT_NO_MEMORY. */
takt_status tkt_seal(const tkt_seal_window *window, takt_trace **out);

/* ======== Spans on tracks of their own ======== */

/* Spans on tracks of their own. They stand whole in the log of the thread that ended them; those
 * that have not ended are asked for when all logs have been read. */

struct tkt_sealing;

/* Takes a TKT_SLOT_TASK or TKT_SLOT_SPAN_AT; tkt_trace_finish() will put the spans in order. */
void tkt_async_add(struct tkt_sealing *sealing, const takt_record *slot);

/* Adds the spans that are open. */
void tkt_async_add_open(struct tkt_sealing *sealing);

#endif
