/* Numbers for the streams that a trace has activities on. */
#ifndef TKT_EXPORT_STREAMS_H
#define TKT_EXPORT_STREAMS_H

#include "trace/model.h"

typedef struct tkt_stream_key {
    uint32_t device; /* string */
    uint32_t context;
    uint32_t stream;
} tkt_stream_key;

typedef struct tkt_streams {
    TKT_ARRAY_OF(tkt_stream_key) keys; /* by number, in the order of their first activities */
    tkt_map index;                     /* hash -> number + 1 */
} tkt_streams; /* starts as {0} */

/* The number of the stream that an activity is on; UINT32_MAX without memory. */
uint32_t tkt_stream_number(tkt_streams *streams, const tkt_activity *activity);

void tkt_streams_fini(tkt_streams *streams);

#endif
