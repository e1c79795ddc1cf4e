/* What the simulator of launches.c consists of: names and numbers, before anything runs. */
#ifndef BENCH_LAUNCHES_H
#define BENCH_LAUNCHES_H

#include "trace/devices.h"

#define THREADS 4u
#define DEVICES 3u
#define PHASES  6u
#define KERNELS 6u /* a phase */
#define GRIDS   4u /* that a kernel is launched with */
#define NODES   8u /* of the graph */
#define PLACES  9u /* in a scope that have stacks, itself included */

/* Scopes; the phases come first. */
enum {
    SOLVE = PHASES,
    EXCHANGE,
    STEP,
    SCOPES
};

/* Streams of a thread. */
enum {
    COMPUTE,
    COPIES,
    STREAMS
};

enum {
    TO_HOST,
    TO_DEVICE,
    SET,
    TRANSFERS
};

/* Calls, in the order of their names. */
enum {
    LAUNCH,
    LAUNCH_GRAPH,
    COPY,
    FILL,
    RECORD_EVENT,
    WAIT_EVENT,
    SYNCHRONIZE,
    ALLOCATE,
    FREE,
    CALLS
};

typedef struct launches_builder {
    takt_trace *trace;
    uint32_t scope_sites[SCOPES];
    uint32_t call_sites[CALLS];
    uint32_t kernels[PHASES][KERNELS][GRIDS]; /* shapes */
    uint32_t nodes[NODES];
    uint32_t transfers[TRANSFERS];
    uint32_t devices[DEVICES];
    uint32_t argument; /* key of the one that scopes have */
} launches_builder;

/* Adds them to the trace; false without memory. */
bool bench_launches_prepare(launches_builder *b);

#endif
