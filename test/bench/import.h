/* Files of other profilers for the group `import`. */
#ifndef BENCH_IMPORT_H
#define BENCH_IMPORT_H

#include "bench.h"

/* How much there is in a file: operators that launch a kernel each, three events together. */
typedef struct import_plan {
    uint64_t events;
    uint64_t names; /* of operators */
    uint64_t threads;
} import_plan;

/* A file of Nsight Systems'. */
typedef struct import_nsys {
    char path[64];
    double bytes;
} import_nsys;

/* False without SQLite or memory. The caller frees the file. */
bool import_nsys_make(const import_plan *plan, import_nsys *out);
void import_nsys_free(import_nsys *file);

/* Reads it; `file` is an import_nsys. */
takt_status import_nsys_read(const void *file, takt_trace **out);

/* The floor: how many seconds of the processor SQLite takes to step through the same columns. */
double import_nsys_floor(const import_nsys *file);

#endif
