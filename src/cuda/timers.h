/* Timers inside kernels: what takt/device.h promises, and the records that were read, which sealing
 * puts into traces. Records of kernels that run as host code take the same way. */
#ifndef TKT_CUDA_TIMERS_H
#define TKT_CUDA_TIMERS_H

#include "base/containers.h"
#include "cuda/event.h"

#include <takt/device.h>

/* Reads that may be under way at once. */
#define TKT_TIMER_READS 2u

/* A copy to the host. `memory` is pinned, and as long as the pool. */
typedef struct tkt_timer_read {
    void *memory;
    void *event; /* CUevent; done when the copy is */
    uint64_t begin_ns;
    uint64_t heard; /* tkt_calls_heard() when the program asked for it */
} tkt_timer_read;

struct takt_device_timers {
    takt_device_timers *next;
    uint64_t id;         /* 1 for the first in the process */
    uint32_t references; /* atomic: one of the program, one of each batch and collector */
    bool is_enabled;     /* atomic */
    bool is_reading;     /* atomic; taken by the thread that begins and collects reads */
    bool is_over;        /* atomic; for good */
    takt_device_timers_options options; /* with defaults; `name` is ours */
    char **phases;
    uint32_t phase_count;
    uint32_t ordinal; /* of the device */
    size_t bytes;     /* of the pool */
    tkt_event_context context;
    takt_device_pool *pool;  /* on the device, or in the host's memory */
    double ns_per_cycle;     /* of the device: its nominal clock rate; host: see timers_read.c */
    uint64_t created_ns;     /* host: two readings of both clocks give the rate */
    uint64_t created_ticks;
    uint64_t seen;           /* tickets that reads have found so far */
    uint64_t heard;          /* tkt_calls_heard() at the latest read that made a batch */
    bool     has_said_lost;
    uint32_t begun_reads;    /* atomic, as the next one; their difference is the reads under way */
    uint32_t finished_reads;
    tkt_timer_read reads[TKT_TIMER_READS];
    struct tkt_phase_batch *latest; /* batch_lock; NULL: none yet */
};

/* The records of one lane of one launch. */
typedef struct tkt_phase_lane {
    takt_device_segment head;
    uint64_t view_ns;      /* when the view was made; 0: no longer known */
    uint64_t after;        /* tkt_calls_heard() before its launch; 0: not known */
    uint32_t correlation;  /* of the view's first launch; 0: not known */
    uint32_t first_record; /* of the batch */
    uint32_t record_count;
} tkt_phase_lane;

/* The result of one read. */
typedef struct tkt_phase_batch {
    struct tkt_phase_batch *next;
    takt_device_timers *timers; /* names and device; kept after destroy */
    uint32_t references;        /* batch_lock */
    uint64_t number;            /* in order of the list, from 1 */
    uint64_t read_ns;           /* when the program asked for the read */
    uint64_t done_ns;           /* when it was found done: all lanes had begun */
    uint64_t heard;             /* tkt_calls_heard() after all launches; 0: not known */
    double ns_per_cycle;
    uint64_t lost_lanes;
    uint64_t lost_phases; /* of the lanes below */
    tkt_map  of_block;    /* batch_lock: lane + 1, for the program's arrays; empty until one is asked
                           * for */
    TKT_ARRAY_OF(tkt_phase_lane) lanes; /* in order of tickets */
    TKT_ARRAY_OF(takt_device_record) records;
} tkt_phase_batch;

static inline uint64_t tkt_record_cycles(const takt_device_record *record)
{
    uint64_t end = record->start >> 56 << 40 | (uint64_t)(record->rest & 0xFFu) << 32 | record->end;
    return (end - record->start) & ((UINT64_C(1) << 48) - 1);
}

/* Cycles from the lane's begin to the record's; 0 for one before it, which is not possible. */
static inline uint64_t tkt_record_start(const takt_device_record *record, uint64_t lane_clock)
{
    int64_t start = (int64_t)((record->start - lane_clock) << 8) >> 8;
    return start > 0 ? (uint64_t)start : 0;
}

/* True if the kernel has written the record. */
static inline bool tkt_record_is_written(const takt_device_record *record)
{
    return (record->rest >> 8 & 0xFFu) != 0;
}

/* Number of its phase; UINT32_MAX for one out of range, also of a record that is not one. */
static inline uint32_t tkt_record_phase(const takt_device_record *record, uint32_t phase_count)
{
    uint32_t phase = (record->rest >> 8 & 0xFFu) - 1;
    return phase < phase_count ? phase : UINT32_MAX;
}

static inline uint32_t tkt_record_iteration(const takt_device_record *record)
{
    return record->rest >> 16;
}

/* Calls `visit` with the latest read that has lanes, under the lock that guards its of_block.
 * TAKT_NOT_READY: there is none; TAKT_BAD_STATE. */
takt_status tkt_timers_visit_latest(takt_device_timers *timers,
                                    takt_status (*visit)(tkt_phase_batch *latest, void *user),
                                    void *user);

/* Sets whether some window records, and whether one still needs batches: also ended windows that
 * are not closed do. */
void tkt_timers_record(bool is_recording, bool is_needed);

/* For tkt_timers_exist(). */
extern takt_device_timers *tkt_timers_all;

/* relaxed: most programs have no timers, and their steps take no lock to learn it */
static inline bool tkt_timers_exist(void)
{
    return __atomic_load_n(&tkt_timers_all, __ATOMIC_RELAXED) != NULL;
}

/* A step: reads the timers that ask for it, and collects finished reads. */
void tkt_timers_step(void);

/* Collects finished reads; waits at most this long for the others. */
void tkt_timers_settle(uint32_t timeout_ms);

/* Calls `visit` once with the list of batches, oldest first; NULL: there are none. It must not call
 * the driver or the program. */
void tkt_timers_visit(void (*visit)(const tkt_phase_batch *first, void *user), void *user);

/* Frees batches that were done before this time. */
void tkt_timers_release(uint64_t before_ns);

/* Tells that this thread has launched: its latest view gets the id. Called for each call that is
 * reported; `correlation` 0 for one that a graph captured. */
void tkt_timers_launched(const char *call, uint32_t correlation);

/* ---- Between timers.c and timers_read.c ------------------------------------------------------ */

/* A moment in the order of calls: the id of the latest call that was reported, and a higher bit. 0
 * if no window records, since calls are not reported then, and before the first call. */
uint64_t tkt_calls_heard(void);

/* Sets when the view was made (view_ns, after), and its first launch. */
void tkt_view_launch(uint32_t view, tkt_phase_lane *lane);

/* Whether a window records now. */
bool tkt_timers_are_recording(void);

/* Takes or drops a reference. The last one frees the timers. */
void tkt_timers_hold(takt_device_timers *timers);
void tkt_timers_drop(takt_device_timers *timers);

/* Returns the timers with the next higher id, with a reference; NULL at the end. Drops `last`. */
takt_device_timers *tkt_timers_next(takt_device_timers *last);

/* Waits for the reads under way, and collects them. From now on nobody begins or collects one. */
void tkt_timers_end_reads(takt_device_timers *timers);

/* Forgets the latest batch. */
void tkt_timers_forget_latest(takt_device_timers *timers);

#endif
