/* A sealed trace as a Perfetto file, track after track.
 *
 * The spans of a thread stand in preorder, so a stack of those that are open says where each one
 * ends; what else happened on the thread - marks, counters, flows, memory events - is merged in by
 * time. The order of packets keeps what times alone do not tell: which of two spans that begin at
 * the same moment is the outer one, and which span an event at a border belongs to. */
#include "export/exporter.h"
#include "export/perfetto.h"

/* The numbers of a list's events, track by track: those of track t are items[first[t]] up to
 * items[first[t + 1]]. Both are NULL for an empty list. */
typedef struct by_track {
    uint32_t *items;
    uint32_t *first;
} by_track;

typedef enum list {
    MARKS,
    COUNTERS,
    FLOWS,
    MEMORY,
    LISTS
} list;

/* Where the walk over one track's events is in a list. */
typedef struct event_cursor {
    const uint32_t *at;
    const uint32_t *end;
} event_cursor;

typedef struct open_span {
    uint64_t end_ns;
    uint32_t index;
} open_span;

typedef struct export
{
    const takt_trace *trace;
    tkt_perfetto file;
    by_track lists[LISTS];
    uint64_t *memory_after; /* bytes allocated after each memory event */

    /* the track being written */
    const tkt_track *track;
    uint32_t row;
    TKT_ARRAY_OF(open_span) stack;
    event_cursor cursors[LISTS];
    list next_list;         /* that has the track's next event; LISTS: there is none */
    uint64_t next_event_ns; /* UINT64_MAX then */
    size_t arg;             /* the next ones to be written */
    size_t work;
    uint32_t next_extra; /* the next span with arguments or work */
}
export;

/* ---- Events by track ---------------------------------------------------------------------------
 */

#define ANY_SPAN (TKT_NO_SPAN - 1) /* the event belongs to a track only */

/* What an event of a list has in common with those of the others. */
typedef struct event {
    uint64_t time_ns;
    uint32_t track;
    uint32_t span; /* of flows and memory events */
} event;

static size_t list_size(const takt_trace *trace, list kind)
{
    const size_t sizes[] = {trace->marks.count, trace->counters.count, trace->flows.count,
                            trace->memory_events.count};
    return sizes[kind];
}

static event event_at(const takt_trace *trace, list kind, size_t index)
{
    switch (kind) {
    case MARKS: {
        const tkt_mark *mark = &trace->marks.items[index];
        return (event){mark->time_ns, mark->track, ANY_SPAN};
    }
    case COUNTERS: {
        const tkt_counter *counter = &trace->counters.items[index];
        return (event){counter->time_ns, counter->track, ANY_SPAN};
    }
    case FLOWS: {
        const tkt_flow *flow = &trace->flows.items[index];
        return (event){flow->time_ns, flow->track, flow->span};
    }
    default: {
        const tkt_memory_event *memory = &trace->memory_events.items[index];
        return (event){memory->time_ns, memory->track, memory->span};
    }
    }
}

/* A counting sort, which keeps each track's events in their order. */
static bool split_list(const takt_trace *trace, list kind, by_track *out)
{
    size_t count = list_size(trace, kind);
    if (count == 0)
        return true;
    size_t tracks = trace->tracks.count;
    out->first = tkt_alloc_zeroed((tracks + 2) * sizeof *out->first);
    out->items = tkt_alloc(count * sizeof *out->items);
    if (!out->first || !out->items)
        return false;
    uint32_t *ends = out->first + 1; /* becomes the ends as it is filled */
    for (size_t i = 0; i < count; i++)
        ends[event_at(trace, kind, i).track + 1]++;
    for (size_t i = 1; i <= tracks; i++)
        ends[i] += ends[i - 1];
    for (size_t i = 0; i < count; i++)
        out->items[ends[event_at(trace, kind, i).track]++] = (uint32_t)i;
    return true;
}

/* Memory events are in the order of time, tracks are written one after the other. */
static bool sum_memory(export *e)
{
    const takt_trace *trace = e->trace;
    if (trace->memory_events.count == 0)
        return true;
    e->memory_after = tkt_alloc(trace->memory_events.count * sizeof *e->memory_after);
    if (!e->memory_after)
        return false;
    uint64_t bytes = trace->memory.window_begin_bytes;
    for (size_t i = 0; i < trace->memory_events.count; i++)
        e->memory_after[i] = bytes += (uint64_t)trace->memory_events.items[i].bytes;
    return true;
}

static bool split_lists(export *e)
{
    bool is_ok = sum_memory(e);
    for (list kind = 0; kind < LISTS && is_ok; kind++)
        is_ok = split_list(e->trace, kind, &e->lists[kind]);
    return is_ok;
}

/* ---- Events of one track -----------------------------------------------------------------------
 */

static void look_ahead(export *e)
{
    e->next_list = LISTS;
    e->next_event_ns = UINT64_MAX;
    for (list kind = 0; kind < LISTS; kind++) {
        if (e->cursors[kind].at == e->cursors[kind].end)
            continue;
        uint64_t time_ns = event_at(e->trace, kind, *e->cursors[kind].at).time_ns;
        if (e->next_list == LISTS || time_ns < e->next_event_ns) {
            e->next_list = kind;
            e->next_event_ns = time_ns;
        }
    }
}

static void start_events(export *e, uint32_t track)
{
    for (list kind = 0; kind < LISTS; kind++) {
        const by_track *events = &e->lists[kind];
        e->cursors[kind] = (event_cursor){NULL, NULL};
        if (events->items)
            e->cursors[kind] = (event_cursor){events->items + events->first[track],
                                              events->items + events->first[track + 1]};
    }
    look_ahead(e);
}

static uint32_t innermost(const export *e)
{
    return e->stack.count ? e->stack.items[e->stack.count - 1].index : TKT_NO_SPAN;
}

static void write_event(export *e)
{
    const takt_trace *trace = e->trace;
    uint32_t index = *e->cursors[e->next_list].at++;
    uint32_t span = event_at(trace, e->next_list, index).span;
    bool is_late = e->next_event_ns < e->file.rows.items[e->row].last_ns;
    if (span != ANY_SPAN && (is_late || span != innermost(e)))
        tkt_perfetto_owner(&e->file, e->row, span);
    switch (e->next_list) {
    case MARKS:
        tkt_perfetto_mark(&e->file, e->row, trace->marks.items[index].site,
                          trace->marks.items[index].time_ns);
        break;
    case COUNTERS:
        tkt_perfetto_counter(&e->file, e->row, &trace->counters.items[index]);
        break;
    case FLOWS:
        tkt_perfetto_flow(&e->file, e->row, &trace->flows.items[index]);
        break;
    default:
        tkt_perfetto_memory(&e->file, e->row, &trace->memory_events.items[index],
                            e->memory_after[index]);
    }
    look_ahead(e);
}

/* Writes the events before `time_ns`, at which a span begins or ends; and of those at that moment
 * the ones that belong to the span that is innermost now. The others wait for theirs. */
static void write_events(export *e, uint64_t time_ns)
{
    while (e->next_list != LISTS && e->next_event_ns <= time_ns) {
        if (e->next_event_ns == time_ns) {
            event next = event_at(e->trace, e->next_list, *e->cursors[e->next_list].at);
            if (next.span != ANY_SPAN && next.span != innermost(e))
                return;
        }
        write_event(e);
    }
}

/* ---- Spans -------------------------------------------------------------------------------------
 */

static void look_for_extra(export *e)
{
    e->next_extra = UINT32_MAX;
    if (e->arg < e->track->args.count)
        e->next_extra = e->track->args.items[e->arg].span;
    if (e->work < e->track->works.count && e->track->works.items[e->work].span < e->next_extra)
        e->next_extra = e->track->works.items[e->work].span;
}

static void write_extra(export *e, uint32_t index)
{
    const tkt_args *args = &e->track->args;
    for (; e->arg < args->count && args->items[e->arg].span == index; e->arg++)
        tkt_perfetto_arg(&e->file, e->row, &args->items[e->arg]);
    const tkt_works *works = &e->track->works;
    for (; e->work < works->count && works->items[e->work].span == index; e->work++)
        tkt_perfetto_work(&e->file, e->row, &works->items[e->work]);
    look_for_extra(e);
}

static void write_begin(export *e, uint32_t index)
{
    const tkt_span *span = &e->track->spans.items[index];
    uint32_t flags = tkt_span_flags(span);
    if (flags & (TAKT_SPAN_BEGUN_BEFORE | TAKT_SPAN_UNFINISHED))
        tkt_perfetto_flags(&e->file, e->row, flags);
    if (index == e->next_extra)
        write_extra(e, index);
    tkt_perfetto_begin(&e->file, e->row, tkt_span_site(span), span->begin_ns);
}

/* Ends what is not above `parent`. */
static void write_ends(export *e, uint32_t parent)
{
    while (e->stack.count) {
        const open_span *top = &e->stack.items[e->stack.count - 1];
        if (top->index == parent)
            return;
        if (e->next_event_ns <= top->end_ns)
            write_events(e, top->end_ns);
        tkt_perfetto_end(&e->file, e->row, top->end_ns);
        e->stack.count--;
    }
}

static bool write_thread(export *e)
{
    e->stack.count = 0;
    for (uint32_t i = 0; i < e->track->spans.count; i++) {
        const tkt_span *span = &e->track->spans.items[i];
        write_ends(e, span->parent);
        if (e->next_event_ns <= span->begin_ns)
            write_events(e, span->begin_ns);
        write_begin(e, i);
        open_span *top = TKT_ARRAY_ADD(&e->stack);
        if (!top)
            return false;
        *top = (open_span){span->end_ns, i};
    }
    write_ends(e, TKT_NO_SPAN);
    return true;
}

/* Spans that overlap are spread over lanes; each is written whole. */
static void write_async(export *e, uint32_t number)
{
    uint32_t first = e->row;
    for (uint32_t i = 0; i < e->track->spans.count; i++) {
        const tkt_span *span = &e->track->spans.items[i];
        e->row = tkt_perfetto_lane_for(&e->file, number, span->begin_ns, span->end_ns);
        write_begin(e, i);
        tkt_perfetto_end(&e->file, e->row, span->end_ns);
    }
    e->row = first;
}

static takt_status write_track(export *e, uint32_t number)
{
    e->row = tkt_perfetto_track(&e->file, number);
    e->track = &e->trace->tracks.items[number];
    e->arg = e->work = 0;
    look_for_extra(e);
    start_events(e, number);
    if (e->track->kind == TAKT_TRACK_ASYNC)
        write_async(e, number);
    else if (!write_thread(e))
        return TAKT_NO_MEMORY;
    while (e->next_list != LISTS)
        write_event(e);
    return e->file.status;
}

/* ---- The whole trace ---------------------------------------------------------------------------
 */

static takt_status write_tracks(export *e)
{
    takt_status status = split_lists(e) ? e->file.status : TAKT_NO_MEMORY;
    for (size_t i = 0; i < e->trace->steps.count; i++)
        tkt_perfetto_step(&e->file, &e->trace->steps.items[i]);
    for (uint32_t i = 0; i < e->trace->tracks.count && status == TAKT_OK; i++)
        status = write_track(e, i);
    return status;
}

static void fini(export *e)
{
    for (list kind = 0; kind < LISTS; kind++) {
        tkt_free(e->lists[kind].items);
        tkt_free(e->lists[kind].first);
    }
    tkt_free(e->memory_after);
    TKT_ARRAY_FREE(&e->stack);
}

/* The folded form when it is more than the spans tell: there are none, or some were lost. */
static const tkt_fold *given_fold(const takt_trace *trace)
{
    tkt_mutex *lock = (tkt_mutex *)&trace->fold_lock;
    tkt_mutex_lock(lock);
    bool is_given = trace->fold.items && !trace->fold_is_derived;
    tkt_mutex_unlock(lock);
    return is_given ? &trace->fold : NULL;
}

takt_status tkt_perfetto_export(const takt_trace *trace, tkt_writer *writer)
{
    export e = {.trace = trace};
    tkt_perfetto_open(&e.file, writer, trace);
    const tkt_fold *fold = given_fold(trace);
    if (fold)
        tkt_perfetto_fold(&e.file, fold);
    takt_status status = write_tracks(&e);
    fini(&e);
    takt_status closed = tkt_perfetto_close(&e.file);
    return status != TAKT_OK ? status : closed;
}

const tkt_exporter tkt_perfetto_exporter = {
    .name = "perfetto",
    .description = "Takt's own file, for ui.perfetto.dev and takt report",
    .suffix = ".pftrace",
    .write = tkt_perfetto_export,
};
