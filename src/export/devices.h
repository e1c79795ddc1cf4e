/* Shared by exporters: the earliest time, devices, names of CUPTI's numbers, bytes in use, lanes
 * for overlapping slices, numbers of streams. */
#ifndef TKT_EXPORT_DEVICES_H
#define TKT_EXPORT_DEVICES_H

#include "base/containers.h"
#include "trace/model.h"

#include <stdint.h>

/* ======== Names ======== */

/* Names for CUPTI's numbers. */

const char *tkt_memory_kind_name(uint32_t kind); /* takt_memory_kind: "Pageable" */
const char *tkt_limiter_name(uint32_t limiter);  /* takt_occupancy_limit: "registers"; or "" */
const char *tkt_wait_name(uint32_t kind);        /* tkt_wait: "Stream Sync" */

/* In Chrome files a device's ordinal, below the first number, stands where a process's id does. A
 * program with such an id gets the second number more: Linux gives processes lower ones. */
#define TKT_CHROME_ORDINALS  64u
#define TKT_CHROME_FREE_PIDS (1u << 22)

/* The key in a Chrome slice's args of a stream's own number, where "stream" has another one. */
#define TKT_CHROME_STREAM_NUMBER "stream number"

/* Keys in a Chrome slice's args that Takt writes or readers know. A program's own key of that name
 * gets a number, so that the importer can tell them apart. */
#define TKT_CHROME_TAKEN_KEYS                                                                      \
    "file", "category", "device", "activity", "flops", "bytes", "stream", "correlation",           \
        "External id", "external id", "begun before", "unfinished", "result", "Call stack"

/* ======== Devices and times ======== */

/* What is known of the device with this label, a string. NULL: nothing. */
const tkt_device *tkt_device_facts(const takt_trace *trace, uint32_t label);

/* Its ordinal: N of "cuda:N" if nothing is known of it. */
uint32_t tkt_device_ordinal(const takt_trace *trace, uint32_t label);

/* Returns the time of the earliest event. Clocks of devices may put one before the recording. */
uint64_t tkt_earliest_ns(const takt_trace *trace);

/* ======== Memory ======== */

#define TKT_ALL_MEMORY UINT32_MAX /* as a kind: all but pools */

/* Bytes in use of one kind of memory. A program may report any size, so sums wrap around, as the
 * recorder's do. */
typedef struct tkt_memory_bytes {
    uint32_t device; /* string; 0: the host */
    uint32_t kind;
    uint64_t bytes;
} tkt_memory_bytes;

typedef TKT_ARRAY_OF(tkt_memory_bytes) tkt_memory_sums; /* starts as {0} */

/* Returns the sum to which events of this kind are added, one after the other. It starts with what
 * was in use when the recording began. NULL without memory. */
uint64_t *tkt_memory_sum(tkt_memory_sums *sums, const takt_trace *trace, uint32_t device,
                         uint32_t kind);

/* ======== Lanes ======== */

/* Rows for slices that may overlap. Slices on one row of a viewer must nest, and a slice that
 * merely lies within the time of another must not look like its child. So each slice gets a lane of
 * its own while it runs: the lowest one that is free at its begin. */

typedef struct tkt_lanes {
    tkt_heap busy; /* lanes in use, sorted by end */
    tkt_heap free; /* free lanes, sorted by number */
    uint32_t count;
} tkt_lanes; /* starts as {0} */

/* Returns the lane of a slice. Slices must arrive sorted by begin. UINT32_MAX without memory. Takes
 * O(n log(lanes)) for n slices. */
uint32_t tkt_lanes_take(tkt_lanes *lanes, uint64_t begin_ns, uint64_t end_ns);

/* The same for a slice whose end is not known yet: it has the lane until it is freed, which is false
 * without memory. */
uint32_t tkt_lanes_hold(tkt_lanes *lanes, uint64_t begin_ns);
bool tkt_lanes_free(tkt_lanes *lanes, uint32_t lane, uint64_t end_ns);

void tkt_lanes_fini(tkt_lanes *lanes);

/* ======== Phases inside kernels ======== */

/* What timers inside kernels recorded, as slices that nest: a block, and the phases in it. */

typedef struct tkt_phase_slice {
    uint64_t begin_ns;
    uint64_t end_ns;
    uint32_t name;   /* string */
    uint32_t parent; /* index; UINT32_MAX for the block */
    const tkt_phase_record *record; /* NULL for the block */
} tkt_phase_slice;

typedef TKT_ARRAY_OF(tkt_phase_slice) tkt_phase_slices; /* starts as {0}, ends with
                                                         * TKT_ARRAY_FREE */

/* Replaces the slices by those of a segment, the block first and outer ones before inner ones. They
 * are cut so that they nest. None if the clock rate is unknown. TAKT_NO_MEMORY. */
takt_status tkt_phase_slices_of(const takt_trace *trace, const tkt_phase_segment *segment,
                                tkt_phase_slices *out);

/* The SMs on which blocks ran, in the order of their first blocks. */
typedef struct tkt_sm_key {
    uint32_t device; /* string */
    uint32_t sm;
} tkt_sm_key;

typedef struct tkt_sms {
    TKT_ARRAY_OF(tkt_sm_key) keys; /* by number */
    tkt_map index;                 /* device, SM -> number + 1 */
} tkt_sms; /* starts as {0} */

/* Returns the number of the segment's SM. UINT32_MAX without memory. */
uint32_t tkt_sm_number(tkt_sms *sms, const tkt_phase_segment *segment);

void tkt_sms_fini(tkt_sms *sms);

/* ======== Streams ======== */

/* Numbers the streams on which a trace has activities. */

typedef struct tkt_stream_key {
    uint32_t device; /* string */
    uint32_t context;
    uint32_t stream;
} tkt_stream_key;

typedef struct tkt_streams {
    TKT_ARRAY_OF(tkt_stream_key) keys; /* by number, in order of their first activities */
    tkt_map index;                     /* hash -> number + 1 */
} tkt_streams; /* starts as {0} */

/* Returns the number of an activity's stream. UINT32_MAX without memory. */
uint32_t tkt_stream_number(tkt_streams *streams, const tkt_activity *activity);

void tkt_streams_fini(tkt_streams *streams);

#endif
