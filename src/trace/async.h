/* Spans on tracks of their own. They stand whole in the log of the thread that ended them; those
 * that have not ended are asked for when all logs have been read. */
#ifndef TKT_TRACE_ASYNC_H
#define TKT_TRACE_ASYNC_H

#include "base/containers.h"

#include <takt/scope.h>

struct tkt_sealing;

/* Takes a TKT_SLOT_TASK or TKT_SLOT_SPAN_AT; tkt_trace_finish() will put the spans in order. */
void tkt_async_add(struct tkt_sealing *sealing, const takt_record *slot);

/* Adds the spans that are open. */
void tkt_async_add_open(struct tkt_sealing *sealing);

#endif
