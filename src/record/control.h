/* The modes of recording, and mismatched begins and ends. */
#ifndef TKT_RECORD_CONTROL_H
#define TKT_RECORD_CONTROL_H

#include "base/clock.h"

#include <takt/scope.h>

#include <stdint.h>

/* ======== Modes of recording ======== */

/* The modes of the moment: the union of the modes that open windows request. The session sets
 * them. */

#define TKT_KEEP      0x01u /* chunks stay until they are released */
#define TKT_FOLD      0x02u /* full chunks are folded into the log's call tree */
#define TKT_RING      0x04u /* with TKT_KEEP: without free memory, reuse the oldest chunk */
#define TKT_ARGUMENTS 0x08u
#define TKT_MEMORY    0x10u
#define TKT_STACKS    0x20u /* scopes take the slow path; with TKT_KEEP their stacks are recorded */

/* Of the chunks, unless a profiler says otherwise. */
#define TKT_DEFAULT_MAX_BYTES (UINT64_C(256) << 20)

#define TKT_PLACES 8u /* windows at once whose losses are told apart */

/* Lost events that are no loss of a window. */
typedef struct tkt_excused {
    uint64_t dropped;      /* older than the window, */
    uint64_t dropped_read; /* or read by its stream */
    uint64_t overwritten;  /* by the flight recorder; the same */
    uint64_t overwritten_read;
    uint64_t folded;      /* dropped after they were folded: no loss of a window that keeps none */
} tkt_excused;

#define TKT_FOLD_NOTHING 1u /* as fold_until_ticks: the window has not begun, */
#define TKT_FOLD_LATER   2u /* or is about to end, and the last folds know when */

typedef struct tkt_control {
    uint32_t      modes; /* atomic; TKT_ bits */
    uint32_t      epoch; /* atomic; counts how often recording was switched on */
    uint64_t      began_ticks; /* atomic; when it was last switched on */
    uint64_t      ring_until_ticks; /* atomic; with TKT_RING: chunks full before it are reused */
    uint64_t      boundary;         /* atomic; number of the last one */
    uint64_t      settled_ticks;    /* atomic; see tkt_record_settle() */
    uint64_t      open_ticks[TKT_PLACES]; /* atomic; see tkt_record_open() */
    tkt_excused   excused[TKT_PLACES];    /* atomic; by window, but for `folded` */
    uint64_t      longest_ticks[TKT_PLACES]; /* atomic; see tkt_record_note_own() */
    uint64_t      folded;           /* atomic; of all windows */
    uint64_t      fold_from_ticks;  /* atomic; spans are folded from here on */
    uint64_t      fold_from_ns;     /* atomic; the same in ns */
    uint64_t      fold_until_ticks; /* atomic; up to here; 0: it goes on */
    uint64_t      fold_ns_per_tick; /* atomic; see tkt_clock_fit */
    uint32_t      running; /* atomic; profilers between start and stop */
} tkt_control;

extern tkt_control tkt_record_control;

static inline bool tkt_record_has(uint32_t mode)
{
    return (__atomic_load_n(&tkt_record_control.modes, __ATOMIC_RELAXED) & mode) != 0;
}

/* Installs the fork handlers. Call it before you take a lock of the recorder: in a forked child,
 * the thread that held the lock does not exist. */
void tkt_record_watch_forks(void);

/* Frees the recorder's memory when the plugin that contains Takt is unloaded. */
void tkt_record_watch_unload(void);

/* A profiler starts or stops running. Children forked while one runs, or while anything is
 * recorded, record nothing. */
void tkt_record_run(bool is_running);

static inline bool tkt_record_is_running(void)
{
    return __atomic_load_n(&tkt_record_control.running, __ATOMIC_RELAXED) != 0;
}

/* From now on no events before `ticks` are dropped: a window ended then, and would miss the count of
 * the loss. Once it is closed, this goes back to the latest such moment of the others. One thread at
 * a time. */
void tkt_record_settle(uint64_t ticks);

/* A moment at which a window begins or ends. Arguments and declared work have no time: the first of a
 * thread behind a boundary follows a slot with its number, so that no thread is asked at the boundary
 * how far it has written. */
typedef struct tkt_boundary {
    uint64_t number; /* from 1 on; 0: none */
    uint64_t ticks;
} tkt_boundary;

/* Sets a boundary. One thread at a time. */
tkt_boundary tkt_record_bound(void);

static inline uint64_t tkt_record_boundary(void)
{
    return __atomic_load_n(&tkt_record_control.boundary, __ATOMIC_RELAXED);
}

/* Lost events may be older than a window that goes on. The control counts them at the number that
 * this returns; it is TKT_PLACES for one window too many. One thread at a time. */
uint32_t tkt_record_open(uint64_t ticks);
void tkt_record_move(uint32_t number, uint64_t ticks); /* the window begins later */
void tkt_record_close(uint32_t number);
tkt_excused tkt_record_excused(uint32_t number);

/* A thread of the program was in the library from `begin_ticks` until now, for what takes longer than
 * an event. The second function tells how long it took at most in that window. */
void tkt_record_note_own(uint64_t begin_ticks);
uint64_t tkt_record_longest(uint32_t number);

/* Records the sites in `mask` (0: nothing) in the given modes. One thread at a time. */
void tkt_record_set(uint32_t modes, uint64_t mask);

/* ======== Mismatched begins and ends ======== */

/* Counts of begins and ends that do not fit together, by cause and site. They are reported later,
 * since the recording path itself never prints. */

typedef enum tkt_mismatch {
    TKT_END_WITHOUT_BEGIN,
    TKT_CLOSED_BY_ANOTHER, /* the scope was still open when an outer one ended */
    TKT_OPEN_AT_EXIT,      /* ... when its thread ended */
    TKT_TOO_DEEP
} tkt_mismatch;

/* `site` 0: takt_end() without an open scope. */
void tkt_mismatch_count(tkt_mismatch cause, uint32_t site);

/* Logs one warning for each site and cause whose count has grown since the last call. */
void tkt_mismatch_report(void);

#endif
