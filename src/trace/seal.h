/* Makes a trace from the logs of all threads. */
#ifndef TKT_TRACE_SEAL_H
#define TKT_TRACE_SEAL_H

#include "base/clock.h"
#include "trace/devices.h"
#include "trace/model.h"

/* The window to seal. Spans that reach over its ends are cut there and marked. */
typedef struct tkt_seal_window {
    uint64_t      begin_ticks;
    uint64_t      end_ticks;
    uint32_t      last_correlation; /* ids of later calls than the window's are kept up to this one */
    tkt_clock_fit fit;
    bool          with_spans; /* the full form */
    bool          with_fold;  /* the folded form, from: */
    const tkt_fold *folds;    /* what tkt_log_fold_take() gave of each log */
    size_t        fold_count;
    const tkt_device_fold *device_fold; /* with it; NULL: none */
} tkt_seal_window;

/* A trace with everything that the logs hold of the window; the caller adds what it knows of the
 * run - name, steps, losses, memory totals - and calls tkt_trace_finish(). TAKT_NO_MEMORY. */
takt_status tkt_seal(const tkt_seal_window *window, takt_trace **out);

#endif
