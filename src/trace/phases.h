/* What timers inside kernels recorded, as a part of the trace. The blocks of several launches run at
 * once, and a launch may have several kernels, so which one a block belongs to is found
 * afterwards. */
#ifndef TKT_TRACE_PHASES_H
#define TKT_TRACE_PHASES_H

#include <takt/trace.h>

#include <stdint.h>

#define TKT_NO_ACTIVITY UINT32_MAX

/* Which launch a segment belongs to. */
typedef enum tkt_phase_launch {
    TKT_LAUNCH_KNOWN,     /* or host code ran, which has none */
    TKT_LAUNCH_UNCERTAIN, /* one of several */
    TKT_LAUNCH_NONE       /* none that was recorded */
} tkt_phase_launch;

/* What one block (or warp, or sampled thread) of one kernel launch recorded with timers inside the
 * kernel. Durations come from the cycle counter of its SM; counters of different SMs are not
 * comparable. */
typedef struct tkt_phase_segment {
    uint64_t begin_ns;     /* when it attached to the timers */
    uint32_t timers;       /* string: name of the timers object */
    uint32_t activity;     /* the kernel's, or TKT_NO_ACTIVITY */
    uint32_t correlation;  /* of the launch; 0: unknown */
    uint32_t device;       /* string */
    uint32_t block;
    uint32_t lane;         /* warp or thread of the block */
    uint32_t sm;
    uint32_t first_record; /* in phase_records */
    uint32_t record_count;
    uint32_t lost_records;
    uint32_t kernel_name;  /* string; 0: unknown */
    uint32_t launch;       /* tkt_phase_launch */
    double   ns_per_cycle; /* 0: unknown */
} tkt_phase_segment;

/* One run of a phase. Records of a segment may nest. */
typedef struct tkt_phase_record {
    uint64_t start_cycles; /* since the segment's attach */
    uint64_t cycles;
    uint32_t name; /* string */
    uint32_t iteration;
} tkt_phase_record;

/* Part of tkt_trace_finish(): sorts phase_segments and phase_records, and finds the segments'
 * activities by correlation. Drops records that are not in the array. */
takt_status tkt_phases_finish(takt_trace *trace);

/* The end of the segment's last record, in cycles since its attach. */
uint64_t tkt_phase_extent(const takt_trace *trace, const tkt_phase_segment *segment);

/* The records of a segment; NULL if it has none. */
tkt_phase_record *tkt_phase_records(const takt_trace *trace, const tkt_phase_segment *segment);

/* The end of a record in cycles; UINT64_MAX if it is greater. */
static inline uint64_t tkt_phase_end(const tkt_phase_record *record)
{
    uint64_t end = record->start_cycles + record->cycles;
    return end < record->cycles ? UINT64_MAX : end;
}

#endif
