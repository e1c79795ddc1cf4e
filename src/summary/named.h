/* Durations by name: of kernels, and of calls into devices' libraries. Also what kernel names
 * reveal. */
#ifndef TKT_SUMMARY_NAMED_H
#define TKT_SUMMARY_NAMED_H

#include "trace/model.h"

#include <stdbool.h>
#include <stddef.h>

/* The fields in which launches of one kernel differ. */
enum {
    TKT_VARIES_GRID = 1,
    TKT_VARIES_BLOCK = 2,
    TKT_VARIES_REGISTERS = 4,
    TKT_VARIES_STATIC = 8,
    TKT_VARIES_DYNAMIC = 16,
    TKT_VARIES_OCCUPANCY = 32,
    TKT_VARIES_CLUSTER = 64,
    TKT_VARIES_LOCAL = 128,
    TKT_VARIES_NAME = 256,  /* the full name: template arguments, parameters */
    TKT_VARIES_TENSOR = 512 /* the value of tkt_uses_tensor_cores() for the name */
};

/* Names of a list whose percentiles are known: they take 2.7 KiB each. */
#define TKT_NAMED_HISTOGRAMS 4096u

typedef struct tkt_named {
    uint32_t       name;   /* string */
    uint32_t       shape;  /* of one of the launches, or TKT_NO_SHAPE */
    uint32_t       varies; /* TKT_VARIES_ bits */
    tkt_stats      stats;
    tkt_histogram *histogram; /* NULL beyond the first TKT_NAMED_HISTOGRAMS, or if it is unknown */
    uint64_t       errors;         /* calls that did not return success */
    uint64_t       first_error_ns; /* begin of the first such call */
    int32_t        first_error;    /* its result; 0 if unknown */
} tkt_named;

typedef struct tkt_named_list {
    TKT_ARRAY(tkt_named); /* in order of first appearance */
    tkt_map   index;
    tkt_arena histograms;
    uint64_t  total_ns;
} tkt_named_list; /* starts as {0} */

typedef enum tkt_kernel_key {
    TKT_BY_NAME,      /* the name that tables print: template arguments shortened */
    TKT_BY_FULL_NAME, /* with template arguments and parameters */
    TKT_BY_LAUNCH     /* full name and all known fields of a launch, except for its graph */
} tkt_kernel_key;

/* Fills `out` with the kernels of devices. TKT_BY_NAME takes times from the folded form and shapes
 * from the list of activities. The other keys need the list: TAKT_NO_SPANS if there is none.
 * TAKT_NO_MEMORY. */
takt_status tkt_kernels_of(const takt_trace *trace, tkt_kernel_key key, tkt_named_list *out);

/* Finds the kernel, by name, with the most time on the device with this string. *name is 0 if none
 * ran there. Call tkt_trace_fold() first. TAKT_NO_MEMORY. */
takt_status tkt_top_kernel(const takt_trace *trace, uint32_t device, uint32_t *name,
                           uint64_t *total_ns);

/* Fills `out` with the calls into devices' libraries, from the folded form. The first error is
 * known only if spans are kept. TAKT_NO_MEMORY. */
takt_status tkt_calls_of(const takt_trace *trace, tkt_named_list *out);

/* Accepts a zeroed struct. Call it after a failure, too. */
void tkt_named_fini(tkt_named_list *names);

/* Returns the entry of a name and part (TKT_NO_SHAPE: the whole name), created if it is new. Valid
 * until the next entry is created. NULL without memory. */
tkt_named *tkt_named_find(tkt_named_list *names, uint32_t name, uint32_t part);

/* Adds one duration to an entry of the list, or the piece of one that the window has cut. */
void tkt_named_add(tkt_named_list *names, tkt_named *named, uint64_t duration_ns);
void tkt_named_add_piece(tkt_named_list *names, tkt_named *named, uint64_t duration_ns);

/* Adds statistics to an entry of the list. If their histogram is needed and NULL, that of the entry
 * becomes unknown. */
void tkt_named_add_stats(tkt_named_list *names, tkt_named *named, const tkt_stats *stats,
                         const tkt_histogram *histogram);

/* ======== Names of kernels ======== */

/* True if a kernel's name says that it computes on tensor cores. Libraries put the instruction's
 * shape or name into kernel names: "ampere_fp16_s16816gemm_...", "sm80_xmma_...",
 * "cutlass_80_tensorop_...". A program's own kernel may use tensor cores without saying so. */
bool tkt_uses_tensor_cores(const char *name);

#endif
