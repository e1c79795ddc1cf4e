/* Compilations: phases by unit, and the loading of device code. */
#ifndef TKT_SUMMARY_COMPILE_H
#define TKT_SUMMARY_COMPILE_H

#include "trace/model.h"

/* The phases of one name in the compilations of one unit. Texts are borrowed from the trace. */
typedef struct tkt_compile_phase {
    const char *unit;
    const char *phase; /* not terminated */
    size_t phase_size;
    uint64_t count;
    uint64_t total_ns; /* a phase within a phase of the same name does not count again */
    uint64_t self_ns;  /* without the phases within */
    uint64_t max_ns;
} tkt_compile_phase;

/* Loading or compiling at run time, by kind. */
typedef struct tkt_loading {
    const char *call; /* of the program; NULL: CUPTI reported it */
    uint32_t kind;    /* of the tkt_overhead that CUPTI reported */
    uint64_t count;
    uint64_t total_ns;
    uint64_t max_ns;
} tkt_loading;

typedef struct tkt_compiles {
    TKT_ARRAY_OF(tkt_compile_phase) phases; /* unit after unit */
    TKT_ARRAY_OF(tkt_loading) loadings;     /* in order of first appearance */
    uint64_t self_ns;                       /* of all phases: the work of all compilations */
} tkt_compiles;                             /* starts as {0} */

/* Fills `out`. TAKT_NO_SPANS, TAKT_NO_MEMORY. The caller calls tkt_compiles_fini(), also after a
 * failure. */
takt_status tkt_compiles_of(const takt_trace *trace, tkt_compiles *out);
void tkt_compiles_fini(tkt_compiles *compiles);

#endif
