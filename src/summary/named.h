/* Durations by name: of kernels, and of calls into devices' libraries. */
#ifndef TKT_SUMMARY_NAMED_H
#define TKT_SUMMARY_NAMED_H

#include "trace/model.h"

#include <stdbool.h>
#include <stddef.h>

/* In which fields launches of one kernel differ. */
enum {
    TKT_VARIES_GRID = 1,
    TKT_VARIES_BLOCK = 2,
    TKT_VARIES_REGISTERS = 4,
    TKT_VARIES_STATIC = 8,
    TKT_VARIES_DYNAMIC = 16,
    TKT_VARIES_OCCUPANCY = 32,
    TKT_VARIES_CLUSTER = 64,
    TKT_VARIES_LOCAL = 128,
    TKT_VARIES_NAME = 256,  /* the whole name: template arguments, parameters */
    TKT_VARIES_TENSOR = 512 /* tkt_uses_tensor_cores() of it */
};

typedef struct tkt_named {
    uint32_t       name;   /* string */
    uint32_t       shape;  /* of one launch, or TKT_NO_SHAPE */
    uint32_t       varies; /* TKT_VARIES_ */
    tkt_stats      stats;
    tkt_histogram *histogram; /* NULL beyond the first few thousand */
    uint64_t       errors;         /* calls that did not return success */
    uint64_t       first_error_ns; /* when the first of them began, and what it returned; */
    int32_t        first_error;    /* 0 where that is not known */
} tkt_named;

typedef struct tkt_named_list {
    TKT_ARRAY(tkt_named); /* in the order in which they were first seen */
    tkt_map   index;
    tkt_arena histograms;
    uint64_t  total_ns;
} tkt_named_list; /* starts as {0} */

typedef enum tkt_kernel_key {
    TKT_BY_NAME,      /* as tables print it: template arguments shortened */
    TKT_BY_FULL_NAME, /* with template arguments and parameters */
    TKT_BY_LAUNCH     /* and all that is known of a launch, whichever graph made it */
} tkt_kernel_key;

/* Kernels of devices. By name from the folded form, shapes from the list of activities; otherwise
 * all from the list: TAKT_NO_SPANS where there is none. TAKT_NO_MEMORY. */
takt_status tkt_kernels_of(const takt_trace *trace, tkt_kernel_key key, tkt_named_list *out);

/* Calls into devices' libraries, from the folded form; which error was the first is known where
 * spans are kept. TAKT_NO_MEMORY. */
takt_status tkt_calls_of(const takt_trace *trace, tkt_named_list *out);

void tkt_nameds_fini(tkt_named_list *nameds); /* also of a zeroed one, or after a failure */

/* The entry of a name, and of a part of what it stands for; made if it is new. NULL without memory.
 * Valid until the next one is made. */
tkt_named *tkt_nameds_find(tkt_named_list *nameds, uint32_t name, uint32_t part);

/* Adds durations that have been added up; `histogram` NULL: not known. False without memory. */
bool tkt_nameds_merge(tkt_named_list *nameds, uint32_t name, const tkt_stats *stats,
                      const tkt_histogram *histogram);

/* ======== Names of kernels ======== */

/* What the names of kernels tell. */

/* Whether a kernel's name says that it computes on tensor cores: libraries write the instruction's
 * shape or name into it, "ampere_fp16_s16816gemm_...", "sm80_xmma_...", "cutlass_80_tensorop_...".
 * A kernel of the program's own may use them without its name saying so. */
bool tkt_uses_tensor_cores(const char *name);

/* Where in a demangled name the function's own one is, without return type, namespaces, template
 * arguments and parameters; its length, 0 where there is none that is an identifier. */
size_t tkt_kernel_base_name(const char *demangled, const char **base);

#endif
