/* The join: converts a window's part of the store into the trace.
 *
 * The join holds the store's lock while it converts activities, each directly into its place in the
 * trace. Sorting, and all other work that needs only the trace, comes later. The join converts a
 * string or shape when the first activity uses it: a trace must not contain those of another
 * window. */
#include "trace/devices.h"

#include "trace/order.h"

#include <stddef.h>
#include <string.h>

typedef struct join {
    takt_trace *trace;
    tkt_store *store;
    const tkt_join *what;
    tkt_joined joined;
    tkt_clock_map map;
    tkt_call_index index;
    uint64_t begin_ns; /* of the window */
    uint64_t end_ns;
    uint64_t work_begin_ns; /* see find_work(); 0: not known yet, as the next one */
    uint64_t work_end_ns;
    uint32_t *strings;   /* string of the store -> of the trace + 1; 0: not converted yet */
    uint32_t *shapes;    /* shape of the store -> of the trace + 1; 0: not converted yet */
    uint8_t *launches;   /* by call: TKT_LAUNCHES_; cleared when an activity is found */
    uint32_t *nodes;     /* by call: nodes that have arrived of the graph that it launched */
    uint32_t *graphs_of; /* by call: the graph that it launched; 0: none */
    tkt_records records; /* of events */
    tkt_waits later;     /* waits after the window's end */
    tkt_graphs graphs;   /* launches combined from nodes */
    tkt_bodies bodies;
    tkt_stored_activity body; /* the latest one, with the id of its launch */
    bool is_short;            /* out of memory */
    bool is_cupti; /* false: the uncertainty of Takt's clock covers the devices' times too */
} join;

static bool is_in_window(const join *j, uint64_t begin_ns)
{
    return begin_ns >= j->begin_ns && begin_ns <= j->end_ns;
}

/* Finds when the latest work of calls before the window began, until when the window's own ran, and
 * when the first of later calls began. */
__attribute__((cold)) static void find_work(join *j)
{
    uint64_t latest_before = 0, until = 0, first_later = UINT64_MAX;
    for (const tkt_store_chunk *chunk = j->store->first; chunk; chunk = chunk->next) {
        for (uint32_t i = 0; i < chunk->count; i++) {
            const tkt_stored_activity *item = &chunk->items[i];
            if (item->correlation == 0 || item->end == 0)
                continue;
            if (!tkt_is_call_until(item->correlation, j->what->last_correlation))
                first_later = item->begin < first_later ? item->begin : first_later;
            else if (tkt_is_later_call(item->correlation, j->what->first_correlation))
                until = item->end > until ? item->end : until;
            else if (item->begin > latest_before)
                latest_before = item->begin;
        }
    }
    until = until < first_later ? until : first_later;
    until = until ? tkt_clock_map_ns(&j->map, until) : 0;
    latest_before = latest_before ? tkt_clock_map_ns(&j->map, latest_before) : 0;
    j->work_begin_ns = latest_before > j->begin_ns ? latest_before : j->begin_ns;
    j->work_end_ns = until > j->end_ns ? until : j->end_ns;
}

/* A body whose launch is not known belongs to the window whose work runs around it. The end of
 * earlier work tells nothing: a kernel from before the window may run as long as the program. */
static bool is_in_work(join *j, uint64_t begin_ns)
{
    if (j->work_end_ns == 0)
        find_work(j);
    return begin_ns > j->work_begin_ns && begin_ns <= j->work_end_ns;
}

/* An id is used before its call reads the clock: a call that begins after the window may have an id
 * of the window. Until it returns, it is not in the list of late calls. */
static bool is_late(const join *j, uint32_t id, uint64_t position)
{
    return (j->what->known_until && position >= j->what->known_until) ||
           tkt_call_is_late(j->trace, id);
}

static bool is_ours(join *j, uint32_t call, const tkt_stored_activity *from, uint64_t position)
{
    uint32_t id = from->correlation;
    if (call != TKT_NO_CALL)
        return !(tkt_span_flags(tkt_call_span(j->trace, call)) & TAKT_SPAN_BEGUN_BEFORE);
    if (id == 0)
        return is_in_work(j, tkt_clock_map_ns(&j->map, from->begin));
    if (!tkt_is_later_call(id, j->what->first_correlation))
        return false; /* the work of an earlier window goes on */
    if (j->what->last_correlation == TKT_NO_CALL_HEARD)
        return is_in_window(j, tkt_clock_map_ns(&j->map, from->begin));
    return tkt_is_call_until(id, j->what->last_correlation) && !is_late(j, id, position);
}

/* ---- From the store's terms to the trace's --------------------------------------------------- */

static uint32_t string_of(join *j, uint32_t string)
{
    if (string >= j->store->strings.count)
        return 0;
    uint32_t *known = &j->strings[string];
    if (*known == 0) {
        const tkt_string *text = &j->store->strings.items[string];
        uint32_t id = tkt_trace_string(j->trace, text->bytes, text->size);
        j->is_short |= id == TKT_STRTAB_FULL;
        *known = id == TKT_STRTAB_FULL ? 1 : id + 1;
    }
    return *known - 1;
}

static uint32_t shape_of(join *j, uint32_t index)
{
    uint32_t *known = &j->shapes[index];
    if (*known)
        return *known - 1;
    tkt_shape *shape = TKT_ARRAY_ADD(&j->trace->shapes);
    if (!shape) {
        j->is_short = true;
        return TKT_NO_SHAPE;
    }
    *shape = j->store->shapes.items[index];
    shape->name = string_of(j, shape->name);
    shape->label = string_of(j, shape->label);
    *known = (uint32_t)j->trace->shapes.count;
    return *known - 1;
}

static tkt_earlier earlier_of(const join *j)
{
    return (tkt_earlier){&j->map, j->what->first_correlation, j->begin_ns, j->end_ns};
}

uint64_t tkt_watched_until_ns(const tkt_device *stored, const tkt_earlier *window)
{
    bool is_watched = stored->first_correlation &&
                      !tkt_is_later_call(stored->first_correlation, window->last_call);
    return is_watched ? window->begin_ns : 0;
}

__attribute__((cold)) static void copy_devices(join *j)
{
    const tkt_earlier window = earlier_of(j);
    for (size_t i = 0; i < j->store->devices.count; i++) {
        tkt_device *device = TKT_ARRAY_ADD(&j->trace->devices);
        if (!device) {
            j->is_short = true;
            return;
        }
        *device = j->store->devices.items[i];
        device->earlier_until_ns = tkt_watched_until_ns(device, &window);
        device->first_correlation = 0;
        device->label = string_of(j, device->label);
        device->name = string_of(j, device->name);
    }
}

/* The label of a device. The decoder has added every device that occurs. */
static uint32_t label_of(const join *j, uint32_t ordinal)
{
    return ordinal < j->trace->devices.count ? j->trace->devices.items[ordinal].label : 0;
}

/* ---- Activities ------------------------------------------------------------------------------ */

static void count_lost(join *j, const tkt_stored_activity *from, uint32_t call)
{
    if (tkt_stored_loss(from) == TAKT_LOSS_INCOMPLETE)
        j->joined.incomplete++;
    else
        j->joined.bad_time++;
    if (call != TKT_NO_CALL)
        tkt_span_mark(tkt_call_span(j->trace, call), TAKT_SPAN_NO_ACTIVITY);
}

/* The decoder has checked the times it read, but a recovered recording may contain any times. */
static bool is_time(uint64_t begin_ns, uint64_t end_ns)
{
    return begin_ns <= end_ns && end_ns <= INT64_MAX;
}

static void add_activity(join *j, const tkt_stored_activity *from, uint32_t index, uint32_t call)
{
    uint64_t begin_ns = tkt_clock_map_ns(&j->map, from->begin);
    uint64_t end_ns = begin_ns + (from->end - from->begin);
    if (!is_time(begin_ns, end_ns)) {
        count_lost(j, from, call);
        return;
    }
    tkt_activity *to = index == TKT_NO_SHAPE ? NULL : TKT_ARRAY_ADD(&j->trace->activities);
    if (!to) {
        j->is_short = true;
        return;
    }
    tkt_activity_set(to, from, begin_ns, &j->trace->shapes.items[index], index,
                     label_of(j, from->device));
    tkt_call_attribute(j->trace, call, to);
    j->joined.unattributed += call == TKT_NO_CALL;
}

static uint32_t call_of(const join *j, const tkt_stored_activity *from)
{
    return tkt_call_of_stored(&j->index, j->trace, j->store, from);
}

/* A host that launches ahead has work of earlier launches at the begin of each window. It belongs
 * to none of the window's scopes and steps, but without it a busy device would look idle. Streams
 * execute in order, so what begins after the window's end kept the device busy, too. */
bool tkt_note_earlier(takt_trace *trace, const tkt_stored_activity *from, const tkt_earlier *window)
{
    uint64_t begin_ns = tkt_clock_map_ns(window->map, from->begin);
    uint64_t end_ns = begin_ns + (from->end - from->begin);
    if (from->correlation == 0 || tkt_is_later_call(from->correlation, window->last_call) ||
        tkt_stored_loss(from) || from->device >= trace->devices.count ||
        !is_time(begin_ns, end_ns) || end_ns <= window->begin_ns)
        return false;
    tkt_device *device = &trace->devices.items[from->device];
    end_ns = end_ns < window->end_ns ? end_ns : window->end_ns;
    if (end_ns <= device->earlier_until_ns)
        return false;
    device->earlier_until_ns = end_ns;
    return true;
}

static void join_activity(join *j, const tkt_stored_activity *from, uint64_t position)
{
    uint32_t call = call_of(j, from);
    if (call != TKT_NO_CALL)
        j->launches[call] = TKT_LAUNCHES_NOTHING;
    bool is_node = from->graph && from->correlation && j->what->whole_graphs;
    if (!is_node && !(j->store->shapes.items[from->shape].filter & j->what->filter))
        return;
    if (!is_ours(j, call, from, position)) {
        const tkt_earlier window = earlier_of(j);
        tkt_note_earlier(j->trace, from, &window);
        return;
    }
    if (from->graph && call != TKT_NO_CALL && from != &j->body) {
        j->graphs_of[call] = from->graph;
        j->nodes[call]++;
    }
    if (tkt_stored_loss(from))
        count_lost(j, from, call);
    else if (is_node)
        j->is_short |= !tkt_graphs_add(&j->graphs, j->store, from);
    else
        add_activity(j, from, shape_of(j, from->shape), call);
}

__attribute__((cold)) static void join_graphs(join *j)
{
    tkt_graphs_name(&j->graphs, j->graphs.items.count, j->store);
    for (size_t i = 0; i < j->graphs.items.count && !j->is_short; i++) {
        const tkt_graph_launch *launch = &j->graphs.items.items[i];
        add_activity(j, &launch->whole, tkt_graph_shape(&j->graphs, j->store, j->trace, launch),
                     call_of(j, &launch->whole));
    }
}

/* Reserves space for every activity the window may contain, to avoid moving them later. */
static void make_room(join *j)
{
    uint64_t first = j->store->first ? j->store->first->first : j->store->next_sequence;
    uint64_t begin = j->what->position > first ? j->what->position : first;
    uint64_t count = j->store->next_sequence > begin ? j->store->next_sequence - begin : 0;
    j->is_short |= !TKT_ARRAY_RESERVE(&j->trace->activities, j->trace->activities.count + count);
}

__attribute__((cold)) static const tkt_stored_activity *own_body(join *j,
                                                                 const tkt_stored_activity *body)
{
    j->body = *body;
    tkt_bodies_own(&j->bodies, &j->body);
    return &j->body;
}

__attribute__((hot, noinline)) static void join_activities(join *j)
{
    const tkt_store_chunk *chunk = j->store->first;
    make_room(j);
    if (j->store->bodies && j->what->filter)
        tkt_bodies_note(&j->bodies, j->store, 0);
    for (; chunk && !j->is_short; chunk = chunk->next) {
        uint64_t skipped = j->what->position > chunk->first ? j->what->position - chunk->first : 0;
        for (uint64_t i = skipped; i < chunk->count; i++) {
            const tkt_stored_activity *item = &chunk->items[i];
            join_activity(j, tkt_is_body(item) ? own_body(j, item) : item, chunk->first + i);
        }
    }
}

/* ---- Waits, overheads and memory ------------------------------------------------------------- */

/* Waits after the window's end do not belong to it, but bound the ends of its activities. */
__attribute__((cold)) static void copy_waits(join *j)
{
    for (size_t i = 0; i < j->store->waits.count; i++) {
        const tkt_stored_wait *from = &j->store->waits.items[i];
        uint64_t begin_ns = tkt_clock_map_ns(&j->map, from->begin);
        if (begin_ns < j->begin_ns)
            continue;
        tkt_wait *to =
            begin_ns <= j->end_ns ? TKT_ARRAY_ADD(&j->trace->waits) : TKT_ARRAY_ADD(&j->later);
        if (to)
            *to = tkt_wait_of(from, begin_ns, &j->records);
        else
            j->is_short = true;
    }
    tkt_waits_attribute(j->trace, 0, &j->index);
}

__attribute__((cold)) static void copy_overheads(join *j)
{
    for (size_t i = 0; i < j->store->overheads.count; i++) {
        const tkt_stored_overhead *from = &j->store->overheads.items[i];
        uint64_t begin_ns = tkt_clock_map_ns(&j->map, from->begin);
        tkt_overhead *to = is_in_window(j, begin_ns) ? TKT_ARRAY_ADD(&j->trace->overheads) : NULL;
        if (to)
            *to = tkt_overhead_of(from, begin_ns);
        else
            j->is_short |= is_in_window(j, begin_ns);
    }
}

static void copy_memory_event(join *j, const tkt_stored_memory *from, uint64_t time_ns)
{
    tkt_memory_event *to = TKT_ARRAY_ADD(&j->trace->memory_events);
    if (!to) {
        j->is_short = true;
        return;
    }
    uint32_t call = tkt_call_find(&j->index, from->correlation);
    *to = tkt_memory_event_of(from, time_ns, label_of(j, from->device));
    if (call != TKT_NO_CALL) {
        to->track = j->trace->calls.items[call].track;
        to->span = tkt_call_scope(j->trace, call);
    }
}

__attribute__((cold)) static void copy_memory(join *j)
{
    for (size_t i = 0; i < j->store->memory.count && !j->is_short; i++) {
        const tkt_stored_memory *from = &j->store->memory.items[i];
        uint64_t time_ns = tkt_clock_map_ns(&j->map, from->time);
        if (is_in_window(j, time_ns))
            copy_memory_event(j, from, time_ns);
    }
}

/* ---- Launches without an activity ------------------------------------------------------------ */

__attribute__((cold)) static void count_missing(join *j)
{
    bool are_graphs_sure = j->what->is_settled && j->joined.unattributed == 0;
    for (uint32_t i = 0; i < j->trace->calls.count; i++) {
        if (!tkt_call_lacks(j->trace, i, j->launches[i], are_graphs_sure))
            continue;
        (*(j->launches[i] == TKT_LAUNCHES_MARK ? &j->joined.missing_marks : &j->joined.missing))++;
        tkt_span_mark(tkt_call_span(j->trace, i), TAKT_SPAN_NO_ACTIVITY);
    }
}

/* ---- The join -------------------------------------------------------------------------------- */

/* The caller holds the store's lock. */
static takt_status join_all(join *j)
{
    takt_status status = tkt_clock_map_make(&j->store->clock, &j->what->fit, &j->map);
    if (status != TAKT_OK)
        return status;
    j->strings = tkt_alloc_zeroed((j->store->strings.count + 1) * sizeof *j->strings);
    j->shapes = tkt_alloc_zeroed((j->store->shapes.count + 1) * sizeof *j->shapes);
    if (!j->strings || !j->shapes || tkt_records_init(&j->records, j->store) != TAKT_OK)
        return TAKT_NO_MEMORY;
    copy_devices(j);
    join_activities(j);
    join_graphs(j);
    copy_waits(j);
    copy_overheads(j);
    copy_memory(j);
    j->joined.skew.host_ns = j->joined.skew.uncertainty_ns = j->map.uncertainty_ns;
    j->joined.skew.is_movable = !j->map.was_set;
    j->is_cupti = j->store->clock.is_cupti;
    return j->is_short ? TAKT_NO_MEMORY : TAKT_OK;
}

static takt_status join_locked(join *j)
{
    tkt_mutex_lock(&j->store->lock);
    takt_status status = join_all(j);
    tkt_mutex_unlock(&j->store->lock);
    tkt_clock_map_fini(&j->map);
    tkt_records_fini(&j->records);
    return status;
}

takt_status tkt_trace_join(takt_trace *trace, tkt_store *store, const tkt_join *what,
                           tkt_joined *out)
{
    join j = {.trace = trace, .store = store, .what = what};
    j.begin_ns = tkt_clock_ns(&what->fit, what->begin_ticks);
    j.end_ns = tkt_clock_ns(&what->fit, what->end_ticks);
    size_t before = trace->activities.count;
    j.launches = tkt_calls_that_launch(trace, what->filter);
    j.nodes = tkt_alloc_zeroed((trace->calls.count + 1) * sizeof *j.nodes);
    j.graphs_of = tkt_alloc_zeroed((trace->calls.count + 1) * sizeof *j.graphs_of);
    bool has_memory = j.launches && j.nodes && j.graphs_of;
    takt_status status = has_memory ? tkt_call_index_init(&j.index, trace) : TAKT_NO_MEMORY;
    if (status == TAKT_OK)
        status = join_locked(&j);
    if (status == TAKT_OK)
        status = tkt_calls_order(trace, before);
    if (status == TAKT_OK && j.is_cupti)
        status = tkt_skew_correct(trace, before, &j.index, &j.later, &j.joined.skew);
    if (status == TAKT_OK)
        status = tkt_device_memory_fill(trace);
    TKT_ARRAY_FREE(&j.later);
    tkt_call_index_fini(&j.index);
    tkt_graphs_fini(&j.graphs);
    tkt_bodies_fini(&j.bodies);
    tkt_free(j.strings);
    tkt_free(j.shapes);
    if (status == TAKT_OK) {
        count_missing(&j);
        status =
            tkt_missing_nodes(j.graphs_of, j.nodes, trace->calls.count, &j.joined.missing_nodes);
    }
    tkt_free(j.launches);
    tkt_free(j.nodes);
    tkt_free(j.graphs_of);
    if (status != TAKT_OK)
        return status;
    j.joined.activities = trace->activities.count - before;
    trace->losses[TAKT_LOSS_UNATTRIBUTED] += j.joined.unattributed;
    *out = j.joined;
    return TAKT_OK;
}
