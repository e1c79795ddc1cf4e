/* Read-only access to what stands beside spans and activities in a trace: takt/trace.h. */
#include "trace/model.h"

size_t takt_trace_step_count(const takt_trace *trace)
{
    return trace->steps.count;
}

takt_status takt_trace_step(const takt_trace *trace, size_t index, takt_step_info *out)
{
    if (index >= trace->steps.count)
        return TAKT_BAD_ARGUMENT;
    const tkt_step *from = &trace->steps.items[index];
    *out = (takt_step_info){
        .number = from->number, .begin_ns = from->begin_ns, .end_ns = from->end_ns};
    return TAKT_OK;
}

size_t takt_trace_call_count(const takt_trace *trace)
{
    return trace->calls.count;
}

takt_status takt_trace_call(const takt_trace *trace, size_t index, takt_call_info *out)
{
    if (index >= trace->calls.count)
        return TAKT_BAD_ARGUMENT;
    const tkt_call_info *from = &trace->calls.items[index];
    *out = (takt_call_info){.track = from->track,
                            .span = from->span,
                            .correlation = from->correlation,
                            .result = from->result};
    return TAKT_OK;
}

size_t takt_trace_memory_count(const takt_trace *trace)
{
    return trace->memory_events.count;
}

takt_status takt_trace_memory(const takt_trace *trace, size_t index, takt_memory_info *out)
{
    if (index >= trace->memory_events.count)
        return TAKT_BAD_ARGUMENT;
    const tkt_memory_event *from = &trace->memory_events.items[index];
    *out = (takt_memory_info){.time_ns = from->time_ns,
                              .address = from->address,
                              .bytes = from->bytes,
                              .device = tkt_trace_text(trace, from->device),
                              .kind = from->kind & ~TKT_MEMORY_POOL,
                              .is_pool = (from->kind & TKT_MEMORY_POOL) != 0};
    if (from->track == TKT_NO_TRACK)
        return TAKT_OK;
    const tkt_track *track = &trace->tracks.items[from->track];
    out->thread = track->thread_id;
    if (from->span != TKT_NO_SPAN) {
        uint32_t site = tkt_span_site(&track->spans.items[from->span]);
        out->scope = tkt_trace_text(trace, trace->sites.items[site].name);
    }
    return TAKT_OK;
}

size_t takt_trace_mark_count(const takt_trace *trace)
{
    return trace->marks.count;
}

takt_status takt_trace_mark(const takt_trace *trace, size_t index, takt_mark_info *out)
{
    if (index >= trace->marks.count)
        return TAKT_BAD_ARGUMENT;
    const tkt_mark *from = &trace->marks.items[index];
    *out = (takt_mark_info){.name = tkt_trace_text(trace, trace->sites.items[from->site].name),
                            .time_ns = from->time_ns,
                            .track = from->track};
    return TAKT_OK;
}

size_t takt_trace_wait_count(const takt_trace *trace)
{
    return trace->waits.count;
}

takt_status takt_trace_wait(const takt_trace *trace, size_t index, takt_wait_info *out)
{
    if (index >= trace->waits.count)
        return TAKT_BAD_ARGUMENT;
    const tkt_wait *from = &trace->waits.items[index];
    *out = (takt_wait_info){.begin_ns = from->begin_ns,
                            .end_ns = from->end_ns,
                            .kind = from->kind <= TAKT_WAIT_CONTEXT ? (takt_wait_kind)from->kind
                                                                    : TAKT_WAIT_UNKNOWN,
                            .correlation = from->correlation,
                            .context = from->context,
                            .stream = from->stream};
    return TAKT_OK;
}
