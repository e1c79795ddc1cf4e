/* What is recorded at the moment, and begins and ends that do not fit together. */
#ifndef TKT_RECORD_CONTROL_H
#define TKT_RECORD_CONTROL_H

#include "base/clock.h"
#include "base/thread.h"

#include <takt/scope.h>

#include <stdint.h>

/* ======== What is recorded ======== */

/* What is recorded at the moment: the union of what the open windows wish, set by the session. */

#define TKT_KEEP      0x01u /* chunks are kept until they are released */
#define TKT_FOLD      0x02u /* full chunks are folded into the log's call tree */
#define TKT_RING      0x04u /* with TKT_KEEP: when memory is used up, the oldest chunk goes */
#define TKT_ARGUMENTS 0x08u
#define TKT_MEMORY    0x10u
#define TKT_STACKS    0x20u /* scopes take the slow path; with TKT_KEEP their stacks are recorded */

typedef struct tkt_control {
    uint32_t      modes; /* atomic; TKT_ bits */
    uint32_t      epoch; /* atomic; counts how often recording was switched on */
    uint64_t      began_ticks; /* atomic; when it was last switched on */
    uint64_t      ring_until_ticks; /* atomic; with TKT_RING: older chunks may go, others stay */
    uint64_t      settled_ticks;   /* atomic; what came before is one window's or another's by now */
    uint64_t      fold_from_ticks; /* atomic; spans are folded from here on */
    uint64_t      fold_ns_per_tick; /* atomic; see tkt_clock_fit */
    uint32_t      running; /* atomic; profilers between start and stop */
} tkt_control;

extern tkt_control tkt_record_control;

static inline bool tkt_record_has(uint32_t mode)
{
    return (__atomic_load_n(&tkt_record_control.modes, __ATOMIC_RELAXED) & mode) != 0;
}

/* Whoever takes a lock of recording's asks for this first: in a child, no other thread is there to
 * give it back. */
void tkt_record_watch_forks(void);

/* Frees what recording has when the plugin that Takt is part of is closed. */
void tkt_record_watch_unload(void);

/* A profiler runs from now on, or does no more: children that are forked meanwhile record nothing,
 * as those that are forked while anything is recorded. */
void tkt_record_run(bool is_running);

/* A window begins or ends then, or is read up to then: events of before are not dropped any more, as
 * the window that loses them might not count them. */
void tkt_record_settle(uint64_t ticks);

/* Records what `mask` says (0: nothing) in the given modes. One thread at a time. */
void tkt_record_set(uint32_t modes, uint64_t mask);

/* ======== Begins and ends that do not fit ======== */

/* Begins and ends that do not fit together, counted by cause and place so that they can be reported
 * later: the recording path itself never prints. */

typedef enum tkt_mismatch {
    TKT_END_WITHOUT_BEGIN,
    TKT_CLOSED_BY_ANOTHER, /* the scope was open when an outer one ended */
    TKT_OPEN_AT_EXIT,      /* when its thread ended */
    TKT_TOO_DEEP
} tkt_mismatch;

/* `site` 0: takt_end() without a scope. */
void tkt_mismatch_count(tkt_mismatch cause, uint32_t site);

/* Logs one warning for each place and cause that is new or has grown since the last call. */
void tkt_mismatch_report(void);

#endif
