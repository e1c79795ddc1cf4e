/* Writes a sealed trace as a Perfetto file, track by track.
 *
 * Spans of a thread are in preorder, so a stack of open spans tells where each one ends. Marks,
 * counters, flows and memory events of the thread are merged in by time. The order of packets also
 * keeps information that times lack: which of two spans with the same begin is the outer one. */
#define TKT_ARRAY_INLINE
#include "export/exporter.h"
#include "export/perfetto.h"
#include "trace/order.h"

/* Indices of a list's events, grouped by track: track t has items[first[t]] up to items[first[t +
 * 1]]. Events without a track come last. Both are NULL for an empty list. */
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

/* Position in a list while walking through one track's events. */
typedef struct event_cursor {
    const uint32_t *at;
    const uint32_t *end;
} event_cursor;

typedef struct open_span {
    uint64_t end_ns;
    uint32_t index;
} open_span;

typedef struct walk {
    const takt_trace *trace;
    tkt_perfetto file;
    by_track lists[LISTS];
    uint64_t *memory_after; /* bytes allocated after each memory event */
    uint8_t *has_work;      /* by call: true if it launched activities */

    /* the current track: */
    const tkt_track *track;
    uint32_t number;
    uint32_t row;
    TKT_ARRAY_OF(open_span) stack;
    event_cursor cursors[LISTS];
    list next_list;         /* the list with the track's next event; LISTS: no more events */
    uint64_t next_event_ns; /* time of that event, or UINT64_MAX */
    size_t arg;             /* indices of the next items to write */
    size_t work;
    size_t call;
    size_t call_stack;
    uint32_t next_extra; /* the next span that has arguments, work or a call stack, or that is a
                          * call */
} walk;

/* ---- Events by track ------------------------------------------------------------------------- */

#define ANY_SPAN (TKT_NO_SPAN - 1) /* the event belongs to a track, not to a span */

/* The fields that events of all lists have in common. */
typedef struct event {
    uint64_t time_ns;
    uint32_t track;
    uint32_t span; /* only for flows and memory events */
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

static size_t place_of(const takt_trace *trace, list kind, size_t index)
{
    uint32_t track = event_at(trace, kind, index).track;
    return track == TKT_NO_TRACK ? trace->tracks.count : track;
}

/* A counting sort, which keeps the order of each track's events. */
static bool split_list(const takt_trace *trace, list kind, by_track *out)
{
    size_t count = list_size(trace, kind);
    if (count == 0)
        return true;
    size_t tracks = trace->tracks.count + 1;
    out->first = tkt_alloc_zeroed((tracks + 2) * sizeof *out->first);
    out->items = tkt_alloc(count * sizeof *out->items);
    if (!out->first || !out->items)
        return false;
    uint32_t *ends = out->first + 1; /* contains the ends when the items are filled */
    for (size_t i = 0; i < count; i++)
        ends[place_of(trace, kind, i) + 1]++;
    for (size_t i = 1; i <= tracks; i++)
        ends[i] += ends[i - 1];
    for (size_t i = 0; i < count; i++)
        out->items[ends[place_of(trace, kind, i)]++] = (uint32_t)i;
    return true;
}

static bool note_work(walk *w)
{
    const takt_trace *trace = w->trace;
    w->has_work = tkt_alloc_zeroed(trace->calls.count + 1);
    size_t count = tkt_device_activity_count(trace);
    for (size_t i = 0; w->has_work && i < count; i++)
        if (trace->activities.items[i].call < trace->calls.count)
            w->has_work[trace->activities.items[i].call] = 1;
    return w->has_work != NULL;
}

static bool split_lists(walk *w)
{
    bool is_ok = tkt_perfetto_memory_after(w->trace, &w->memory_after) && note_work(w);
    for (list kind = 0; kind < LISTS && is_ok; kind++)
        is_ok = split_list(w->trace, kind, &w->lists[kind]);
    return is_ok;
}

/* ---- Events of one track --------------------------------------------------------------------- */

static void look_ahead(walk *w)
{
    w->next_list = LISTS;
    w->next_event_ns = UINT64_MAX;
    for (list kind = 0; kind < LISTS; kind++) {
        if (w->cursors[kind].at == w->cursors[kind].end)
            continue;
        uint64_t time_ns = event_at(w->trace, kind, *w->cursors[kind].at).time_ns;
        if (w->next_list == LISTS || time_ns < w->next_event_ns) {
            w->next_list = kind;
            w->next_event_ns = time_ns;
        }
    }
}

static void start_events(walk *w, uint32_t track)
{
    for (list kind = 0; kind < LISTS; kind++) {
        const by_track *events = &w->lists[kind];
        w->cursors[kind] = (event_cursor){NULL, NULL};
        if (events->items)
            w->cursors[kind] = (event_cursor){events->items + events->first[track],
                                              events->items + events->first[track + 1]};
    }
    look_ahead(w);
}

static uint32_t innermost(const walk *w)
{
    return w->stack.count ? w->stack.items[w->stack.count - 1].index : TKT_NO_SPAN;
}

static void write_event(walk *w)
{
    const takt_trace *trace = w->trace;
    uint32_t index = *w->cursors[w->next_list].at++;
    uint32_t span = event_at(trace, w->next_list, index).span;
    if (span != ANY_SPAN && span != innermost(w))
        tkt_perfetto_owner(&w->file, w->row, span);
    switch (w->next_list) {
    case MARKS:
        tkt_perfetto_mark(&w->file, w->row, trace->marks.items[index].site,
                          trace->marks.items[index].time_ns);
        break;
    case COUNTERS:
        tkt_perfetto_counter(&w->file, w->row, &trace->counters.items[index]);
        break;
    case FLOWS:
        tkt_perfetto_flow(&w->file, w->row, &trace->flows.items[index]);
        break;
    default:
        tkt_perfetto_memory(&w->file, w->row, &trace->memory_events.items[index],
                            w->memory_after[index]);
    }
    look_ahead(w);
}

/* Writes the events up to the begin or end of a span. An event at exactly that time may belong to
 * another span than the innermost one; then write_event() says so. */
static void write_events(walk *w, uint64_t time_ns)
{
    while (w->next_list != LISTS && w->next_event_ns <= time_ns)
        write_event(w);
}

/* ---- Spans ----------------------------------------------------------------------------------- */

static const tkt_call_info *next_call(const walk *w)
{
    if (w->call == w->trace->calls.count || w->trace->calls.items[w->call].track != w->number)
        return NULL;
    return &w->trace->calls.items[w->call];
}

static void look_for_extra(walk *w)
{
    w->next_extra = UINT32_MAX;
    if (w->arg < w->track->args.count)
        w->next_extra = w->track->args.items[w->arg].span;
    if (w->work < w->track->works.count && w->track->works.items[w->work].span < w->next_extra)
        w->next_extra = w->track->works.items[w->work].span;
    if (w->call_stack < w->track->stacks.count &&
        w->track->stacks.items[w->call_stack].span < w->next_extra)
        w->next_extra = w->track->stacks.items[w->call_stack].span;
    const tkt_call_info *call = next_call(w);
    if (call && call->span < w->next_extra)
        w->next_extra = call->span;
}

static void write_extra(walk *w, uint32_t index)
{
    const tkt_args *args = &w->track->args;
    for (; w->arg < args->count && args->items[w->arg].span == index; w->arg++)
        tkt_perfetto_arg(&w->file, w->row, &args->items[w->arg]);
    const tkt_works *works = &w->track->works;
    for (; w->work < works->count && works->items[w->work].span == index; w->work++)
        tkt_perfetto_work(&w->file, w->row, &works->items[w->work]);
    if (w->call_stack < w->track->stacks.count &&
        w->track->stacks.items[w->call_stack].span == index)
        tkt_perfetto_stack(&w->file, w->row, w->track->stacks.items[w->call_stack++].stack);
    const tkt_call_info *call = next_call(w);
    if (call && call->span == index) {
        tkt_perfetto_call(&w->file, w->row, call, w->has_work[w->call]);
        w->call++;
    }
    look_for_extra(w);
}

static void write_begin(walk *w, uint32_t index)
{
    const tkt_span *span = &w->track->spans.items[index];
    uint32_t flags = tkt_span_flags(span);
    if (flags & (TAKT_SPAN_BEGUN_BEFORE | TAKT_SPAN_UNFINISHED | TAKT_SPAN_NO_ACTIVITY))
        tkt_perfetto_flags(&w->file, w->row, flags);
    if (index == w->next_extra)
        write_extra(w, index);
    tkt_perfetto_begin(&w->file, w->row, tkt_span_site(span), span->begin_ns);
}

/* Ends all open spans above `parent` on the stack. */
static void write_ends(walk *w, uint32_t parent)
{
    while (w->stack.count) {
        const open_span *top = &w->stack.items[w->stack.count - 1];
        if (top->index == parent)
            return;
        if (w->next_event_ns <= top->end_ns)
            write_events(w, top->end_ns);
        tkt_perfetto_end(&w->file, w->row, top->end_ns);
        w->stack.count--;
    }
}

static bool write_thread(walk *w)
{
    w->stack.count = 0;
    for (uint32_t i = 0; i < w->track->spans.count; i++) {
        const tkt_span *span = &w->track->spans.items[i];
        write_ends(w, span->parent);
        if (w->next_event_ns <= span->begin_ns)
            write_events(w, span->begin_ns);
        write_begin(w, i);
        open_span *top = TKT_ARRAY_ADD(&w->stack);
        if (!top)
            return false;
        *top = (open_span){span->end_ns, i};
    }
    write_ends(w, TKT_NO_SPAN);
    return true;
}

/* Overlapping spans go to different lanes. Each is written as a whole. */
static void write_async(walk *w, uint32_t number)
{
    uint32_t first = w->row;
    for (uint32_t i = 0; i < w->track->spans.count; i++) {
        const tkt_span *span = &w->track->spans.items[i];
        w->row = tkt_perfetto_lane_for(&w->file, number, span->begin_ns, span->end_ns);
        write_begin(w, i);
        tkt_perfetto_end(&w->file, w->row, span->end_ns);
    }
    w->row = first;
}

static takt_status write_track(walk *w, uint32_t number)
{
    w->row = tkt_perfetto_track(&w->file, number);
    w->number = number;
    w->track = &w->trace->tracks.items[number];
    w->arg = w->work = w->call_stack = 0;
    while (w->call < w->trace->calls.count && w->trace->calls.items[w->call].track < number)
        w->call++;
    look_for_extra(w);
    start_events(w, number);
    if (w->track->kind == TAKT_TRACK_ASYNC)
        write_async(w, number);
    else if (!write_thread(w))
        return TAKT_NO_MEMORY;
    write_events(w, UINT64_MAX);
    return w->file.status;
}

/* ---- Devices --------------------------------------------------------------------------------- */

typedef struct works {
    uint32_t *order; /* indices of activities, by stream */
    uint32_t *ends;  /* by stream: its end in `order` */
    size_t count;
} works;

/* True if the activity has a shape, as all activities from a store or a file do. */
static bool is_written(const takt_trace *trace, const tkt_activity *activity)
{
    return activity->shape < trace->shapes.count;
}

/* Sorts activities by stream, again by counting. */
static bool split_works(walk *w, works *out)
{
    const takt_trace *trace = w->trace;
    size_t count = tkt_device_activity_count(trace);
    uint32_t *streams = tkt_alloc((count + 1) * sizeof *streams);
    out->order = tkt_alloc((count + 1) * sizeof *out->order);
    for (size_t i = 0; streams && i < count; i++)
        if (is_written(trace, &trace->activities.items[i]))
            streams[i] = tkt_perfetto_stream_of(&w->file, &trace->activities.items[i]);
    size_t stream_count = w->file.stream_rows.count;
    out->ends = tkt_alloc_zeroed((stream_count + 2) * sizeof *out->ends);
    bool is_ok = streams && out->order && out->ends && w->file.status == TAKT_OK;
    for (size_t i = 0; i < count && is_ok; i++)
        if (is_written(trace, &trace->activities.items[i]))
            out->ends[streams[i] + 1]++;
    for (size_t i = 1; i <= stream_count && is_ok; i++)
        out->ends[i] += out->ends[i - 1];
    for (size_t i = 0; i < count && is_ok; i++)
        if (is_written(trace, &trace->activities.items[i]))
            out->order[out->ends[streams[i]]++] = (uint32_t)i;
    tkt_free(streams);
    return is_ok;
}

static takt_status write_stream(walk *w, uint32_t stream, const uint32_t *order, size_t count)
{
    const tkt_activity *activities = w->trace->activities.items;
    uint64_t *begins = tkt_alloc((count + 1) * sizeof *begins);
    if (!begins)
        return TAKT_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        begins[i] = activities[order[i]].begin_ns;
    uint32_t *places;
    takt_status status =
        tkt_order_find(&(tkt_order_items){begins, count, sizeof *begins, 0}, &places);
    tkt_free(begins);
    for (size_t i = 0; i < count && status == TAKT_OK; i++)
        tkt_perfetto_activity(&w->file, stream, &activities[order[places ? places[i] : i]]);
    tkt_free(places);
    return status;
}

static takt_status write_devices(walk *w)
{
    works all = {0};
    tkt_perfetto_devices(&w->file);
    takt_status status = split_works(w, &all) ? TAKT_OK : TAKT_NO_MEMORY;
    for (uint32_t i = 0, first = 0; i < w->file.stream_rows.count && status == TAKT_OK; i++) {
        status = write_stream(w, i, all.order + first, all.ends[i] - first);
        first = all.ends[i];
    }
    tkt_free(all.order);
    tkt_free(all.ends);
    for (size_t i = 0; i < w->trace->waits.count; i++)
        tkt_perfetto_wait(&w->file, &w->trace->waits.items[i]);
    for (size_t i = 0; i < w->trace->overheads.count; i++)
        tkt_perfetto_overhead(&w->file, &w->trace->overheads.items[i]);
    if (status == TAKT_OK)
        tkt_perfetto_phases(&w->file);
    return status;
}

/* Writes the events without a known thread. */
static void write_rest(walk *w)
{
    start_events(w, (uint32_t)w->trace->tracks.count);
    if (w->next_list == LISTS)
        return;
    w->row = tkt_perfetto_events_row(&w->file);
    w->stack.count = 0;
    write_events(w, UINT64_MAX);
}

/* ---- The whole trace ------------------------------------------------------------------------- */

static takt_status write_tracks(walk *w)
{
    takt_status status = split_lists(w) ? w->file.status : TAKT_NO_MEMORY;
    tkt_perfetto_stacks(&w->file);
    for (size_t i = 0; i < w->trace->steps.count; i++)
        tkt_perfetto_step(&w->file, &w->trace->steps.items[i]);
    for (uint32_t i = 0; i < w->trace->tracks.count && status == TAKT_OK; i++)
        status = write_track(w, i);
    if (status == TAKT_OK)
        write_rest(w);
    return status == TAKT_OK ? write_devices(w) : status;
}

static void fini(walk *w)
{
    for (list kind = 0; kind < LISTS; kind++) {
        tkt_free(w->lists[kind].items);
        tkt_free(w->lists[kind].first);
    }
    tkt_free(w->memory_after);
    tkt_free(w->has_work);
    TKT_ARRAY_FREE(&w->stack);
}

/* Writes the folded form if it cannot be derived from spans and activities, because there are none
 * or some were lost. */
static void write_fold(walk *w)
{
    const takt_trace *trace = w->trace;
    tkt_mutex *lock = (tkt_mutex *)&trace->fold_lock;
    tkt_mutex_lock(lock);
    bool has_fold = tkt_trace_has_summary(trace);
    bool has_activities = trace->node_activities.count && !trace->node_activities_are_derived;
    tkt_mutex_unlock(lock);
    if (has_fold)
        tkt_perfetto_fold(&w->file, &trace->fold);
    if (has_fold && has_activities)
        tkt_perfetto_node_activities(&w->file);
}

takt_status tkt_perfetto_export(const takt_trace *trace, tkt_writer *writer)
{
    walk w = {.trace = trace};
    tkt_perfetto_open(&w.file, writer, trace);
    takt_status status = w.file.status;
    if (status == TAKT_OK)
        write_fold(&w);
    if (status == TAKT_OK)
        status = write_tracks(&w);
    fini(&w);
    takt_status closed = tkt_perfetto_close(&w.file);
    return status != TAKT_OK ? status : closed;
}

const tkt_exporter tkt_perfetto_exporter = {
    .name = "perfetto",
    .suffix = ".pftrace",
    .packs_packets = true,
    .write = tkt_perfetto_export,
};
