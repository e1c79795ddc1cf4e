/* Spans on tracks of their own: their begins and ends may stand in the logs of different threads,
 * and are brought together when all logs have been read. */
#ifndef TKT_TRACE_ASYNC_H
#define TKT_TRACE_ASYNC_H

#include "base/array.h"
#include "base/hash.h"

#include <takt/base.h>
#include <takt/scope.h>

typedef struct tkt_async_begin {
    uint64_t begin_ns;
    uint64_t end_ns; /* 0: not known */
    uint32_t site;  /* recorded id */
    uint32_t track; /* text id of its name */
} tkt_async_begin;

typedef struct tkt_async_end {
    uint64_t time_ns;
    uint64_t span;
} tkt_async_end;

typedef struct tkt_async_spans {
    TKT_ARRAY_OF(tkt_async_begin) begins;
    TKT_ARRAY_OF(tkt_async_end) ends;
    tkt_map by_id; /* span id -> index in begins + 1 */
} tkt_async_spans;

struct tkt_sealing;

/* Takes a TKT_SLOT_SPAN_BEGIN, _END or _AT. */
void tkt_async_add(struct tkt_sealing *sealing, const takt_record *slot);

/* Makes the tracks and their spans. */
void tkt_async_finish(struct tkt_sealing *sealing);

void tkt_async_fini(tkt_async_spans *async);

#endif
