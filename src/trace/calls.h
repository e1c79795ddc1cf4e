/* Finding calls by their correlation ids. */
#ifndef TKT_TRACE_CALLS_H
#define TKT_TRACE_CALLS_H

#include "trace/model.h"

/* Ids count up, so their lowest bits spread them evenly over a table of lists. A list is followed
 * so far at most, and so are calls inside calls: a file that is made to be slow must not have its
 * way. */
#define TKT_MOST_EQUAL_CALLS 64

typedef struct tkt_call_index {
    const tkt_call_info *calls;
    uint32_t *first; /* by the lowest bits: a call + 1 */
    uint32_t *next;  /* by call: the next one + 1 */
    uint32_t  mask;
} tkt_call_index;

takt_status tkt_call_index_init(tkt_call_index *index, const takt_trace *trace);
void tkt_call_index_fini(tkt_call_index *index); /* also of a zeroed one */

/* The first call of that id, or TKT_NO_CALL. */
static inline uint32_t tkt_call_find(const tkt_call_index *index, uint32_t correlation)
{
    uint32_t call = index->first[correlation & index->mask];
    for (int i = 0; call && correlation && i < TKT_MOST_EQUAL_CALLS; i++) {
        if (index->calls[call - 1].correlation == correlation)
            return call - 1;
        call = index->next[call - 1];
    }
    return TKT_NO_CALL;
}

static inline tkt_span *tkt_call_span(const takt_trace *trace, uint32_t call)
{
    const tkt_call_info *info = &trace->calls.items[call];
    return &trace->tracks.items[info->track].spans.items[info->span];
}

/* The innermost span around a call's that is no call itself, or TKT_NO_SPAN. */
static inline uint32_t tkt_call_scope(const takt_trace *trace, uint32_t call)
{
    const tkt_call_info *info = &trace->calls.items[call];
    const tkt_span *spans = trace->tracks.items[info->track].spans.items;
    uint32_t span = spans[info->span].parent;
    for (int i = 0; i < TKT_MOST_EQUAL_CALLS && span != TKT_NO_SPAN; i++) {
        if (!(tkt_span_flags(&spans[span]) & TAKT_SPAN_CALL))
            return span;
        span = spans[span].parent;
    }
    return TKT_NO_SPAN;
}

/* True for the id of a call that began after the window: other threads go on launching while it
 * ends. */
bool tkt_call_is_late(const takt_trace *trace, uint32_t correlation);

/* What a call of this name launches, as TAKT_TIMING_ bits: any of them; 0: nothing. A mark, which
 * times what the program says without CUPTI, has always an activity. */
#define TKT_LAUNCHED_MARK UINT32_MAX
uint32_t tkt_launched_by(const char *name);

/* True for cudaGraphLaunch and its variants. */
bool tkt_call_launches_graph(const takt_trace *trace, uint32_t call);

/* Gives an activity what its call, or the lack of one, implies. */
void tkt_call_attribute(const takt_trace *trace, uint32_t call, tkt_activity *activity);

/* Puts activities from `first` on, which have their calls, in the order of issue. */
takt_status tkt_calls_order(takt_trace *trace, size_t first);

#endif
