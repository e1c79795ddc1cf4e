/* What is computed once for several tables: the ids of spans, their paths and their own times. */
#include "cli/tables/tables.h"

#include <stdlib.h>

static bool find_first(table_source *source)
{
    size_t count = takt_trace_count(source->trace, TAKT_TRACE_TRACKS), spans = 0;
    source->first = calloc(count + 1, sizeof *source->first);
    for (size_t i = 0; source->first && i < count; i++) {
        takt_track_info track;
        takt_trace_track(source->trace, i, &track);
        source->first[i] = spans;
        spans += track.span_count;
    }
    if (source->first)
        source->first[count] = spans;
    source->path = calloc(spans + 1, sizeof *source->path);
    source->self_ns = calloc(spans + 1, sizeof *source->self_ns);
    return source->first && source->path && source->self_ns;
}

/* A scope within a call, as in a callback, is no part of the scope that makes the call either. */
static void take_from_caller(table_source *source, size_t track, size_t parent, int64_t ns)
{
    takt_span_info call;
    while (parent != TAKT_NO_PARENT) {
        takt_trace_span(source->trace, track, parent, &call);
        if (!(call.flags & TAKT_SPAN_CALL)) {
            source->self_ns[source->first[track] + parent] -= ns;
            return;
        }
        parent = call.parent;
    }
}

static bool take_span(table_source *source, size_t track, size_t number, const takt_span_info *span,
                      takt_track_kind kind)
{
    size_t first = source->first[track];
    int64_t ns = (int64_t)(span->end_ns - span->begin_ns);
    size_t at = first + number, parent = first + span->parent;
    uint32_t above = 0;
    source->self_ns[at] = ns;
    if (kind == TAKT_TRACK_ASYNC)
        return true;
    if (span->parent != TAKT_NO_PARENT) {
        above = source->path[parent];
        bool is_call = (span->flags & TAKT_SPAN_CALL) != 0;
        bool is_in_call = source->paths.items[above].is_call;
        if (!is_call || is_in_call)
            source->self_ns[parent] -= ns;
        if (!is_call && is_in_call)
            take_from_caller(source, track, span->parent, ns);
    }
    source->path[at] = table_path_of(&source->paths, above, span);
    return source->path[at] != 0;
}

static bool take_track(table_source *source, size_t number)
{
    takt_track_info track;
    takt_span_info span;
    takt_trace_track(source->trace, number, &track);
    for (size_t i = 0; i < track.span_count; i++) {
        takt_trace_span(source->trace, number, i, &span);
        if (!take_span(source, number, i, &span, track.kind))
            return false;
    }
    return true;
}

takt_status table_source_init(table_source *source, const takt_trace *trace)
{
    *source = (table_source){.trace = trace};
    bool is_good = find_first(source);
    for (size_t i = 0; is_good && i < takt_trace_count(trace, TAKT_TRACE_TRACKS); i++)
        is_good = take_track(source, i);
    if (is_good)
        return TAKT_OK;
    table_source_fini(source);
    return TAKT_NO_MEMORY;
}

void table_source_fini(table_source *source)
{
    free(source->first);
    free(source->path);
    free(source->self_ns);
    table_paths_fini(&source->paths);
    *source = (table_source){0};
}
