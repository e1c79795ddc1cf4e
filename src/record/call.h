/* Calls into a device's library, recorded as spans of the calling thread. */
#ifndef TKT_RECORD_CALL_H
#define TKT_RECORD_CALL_H

#include <stdbool.h>
#include <stdint.h>

typedef struct tkt_call {
    const char *name; /* static: becomes a site of kind TAKT_SITE_CALL */
    const char *category; /* "cuda_runtime", "cuda_driver"; static */
    uint64_t    begin_ticks;
    uint64_t    end_ticks;
    uint32_t    correlation; /* 0: none */
    int32_t     result; /* 0: success */
    bool        is_capturing; /* a stream was being captured: it may have launched nothing */
    const void *caller;       /* where the device's library goes on, see tkt_stack_here() */
} tkt_call;

/* Records a call that has returned, as a child of the innermost open scope of this thread. */
void tkt_record_call(const tkt_call *call);

/* False for the site of a call that is known to launch no graph. */
bool tkt_call_may_launch_graph(uint32_t site);

#endif
