/* The work of devices in a stream. It comes out of the store later than the calls that launched it,
 * and in no order. A batch is sorted; an activity that arrives after later work of its stream gets
 * a lane of its own. The reader finds calls by correlation id, so nothing has to wait for them.
 *
 * A graph launch that is combined from nodes waits until no node has arrived for a while, and no
 * body is held that may be its; very many wait less long. */
#include "profiler/stream.h"

#include "cuda/timers.h"
#include "profiler/session.h"
#include "trace/devices.h"
#include "trace/order.h"

#include <stddef.h>

#define GRAPH_QUIET_NS UINT64_C(3000000000)
#define GRAPH_MOST_NS  UINT64_C(13000000000) /* while bodies are held */
#define GRAPH_LEAST_NS UINT64_C(1000000000)  /* if very many launches wait */
#define MOST_GRAPHS    (1u << 16)
#define MOST_SHAPES    4096u

typedef struct taking {
    tkt_stream_file *to;
    tkt_stream_batch *batch;
    const tkt_window *window;
    tkt_store *store;
    tkt_clock_map map;
    tkt_records records;        /* of events */
    uint32_t first_correlation; /* as in tkt_join */
    uint32_t last_correlation;
    uint64_t until_ns; /* end of the recording; far away before that */
    uint32_t *shapes;  /* index in the store -> index in the trace + 1 */
    bool has_news;     /* about devices */
} taking;

static bool is_in_window(const taking *t, uint64_t time_ns)
{
    return time_ns >= t->to->trace->facts.begin_ns && time_ns <= t->until_ns;
}

static bool is_ours(const taking *t, const tkt_stored_activity *from)
{
    if (from->correlation != 0 && !tkt_is_later_call(from->correlation, t->first_correlation))
        return false; /* the work of an earlier window goes on */
    if (from->correlation == 0 || t->last_correlation == TKT_NO_CALL_HEARD)
        return is_in_window(t, tkt_clock_map_ns(&t->map, from->begin));
    return tkt_is_call_until(from->correlation, t->last_correlation);
}

/* ---- From the store's terms to the file's ---------------------------------------------------- */

static uint32_t string_of(const taking *t, uint32_t string)
{
    if (string >= t->store->strings.count)
        return 0;
    const tkt_string *text = &t->store->strings.items[string];
    return tkt_stream_string(t->to, text->bytes, text->size);
}

static uint32_t label_of(const taking *t, uint32_t ordinal)
{
    return ordinal < t->store->devices.count ? string_of(t, t->store->devices.items[ordinal].label)
                                             : 0;
}

/* Returns the trace's index of a shape, adding it if it is new. Its strings must be the trace's. */
static uint32_t keep_shape(tkt_stream_file *to, const tkt_shape *shape)
{
    uint64_t hash = tkt_hash_bytes(shape, sizeof *shape);
    for (;; hash++) {
        uint64_t *index = tkt_map_put(&to->shapes, hash);
        if (!index)
            return TKT_NO_SHAPE;
        if (*index && memcmp(&to->trace->shapes.items[*index - 1], shape, sizeof *shape) != 0)
            continue;
        if (*index)
            return (uint32_t)*index - 1;
        tkt_shape *added = TKT_ARRAY_ADD(&to->trace->shapes);
        if (!added) {
            tkt_map_remove(&to->shapes, hash);
            return TKT_NO_SHAPE;
        }
        *added = *shape;
        *index = to->trace->shapes.count;
        return (uint32_t)*index - 1;
    }
}

static uint32_t shape_of(taking *t, uint32_t index)
{
    if (t->shapes[index] == 0) {
        tkt_shape shape = t->store->shapes.items[index];
        shape.name = string_of(t, shape.name);
        shape.label = string_of(t, shape.label);
        t->shapes[index] = keep_shape(t->to, &shape) + 1;
    }
    return t->shapes[index] - 1;
}

static tkt_earlier earlier_of(const taking *t)
{
    return (tkt_earlier){&t->map, t->first_correlation, t->to->trace->facts.begin_ns, t->until_ns};
}

/* Copies devices. Their labels may come first, and other properties later. At the end of the
 * recording, work for earlier launches may turn out to go on beyond it. */
static void copy_devices(taking *t)
{
    takt_trace *trace = t->to->trace;
    for (size_t i = 0; i < t->store->devices.count; i++) {
        tkt_device device = t->store->devices.items[i];
        device.label = string_of(t, device.label);
        device.name = string_of(t, device.name);
        if (i == trace->devices.count) {
            tkt_device *added = TKT_ARRAY_ADD(&trace->devices);
            if (!added)
                return;
            *added = (tkt_device){0};
        }
        const tkt_earlier window = earlier_of(t);
        uint64_t watched_ns = tkt_watched_until_ns(&device, &window);
        uint64_t until_ns = trace->devices.items[i].earlier_until_ns;
        until_ns = until_ns > watched_ns ? until_ns : watched_ns;
        device.first_correlation = 0;
        device.earlier_until_ns = until_ns < t->until_ns ? until_ns : t->until_ns;
        t->has_news |= memcmp(&trace->devices.items[i], &device, sizeof device) != 0;
        trace->devices.items[i] = device;
    }
}

/* ---- Out of the store ------------------------------------------------------------------------ */

static void add_activity(taking *t, const tkt_stored_activity *from, uint32_t shape)
{
    tkt_activity *to = shape == TKT_NO_SHAPE ? NULL : TKT_ARRAY_ADD(&t->batch->activities);
    if (!to) {
        t->to->lost[TAKT_LOSS_DEVICE_DROPPED]++;
        return;
    }
    tkt_activity_set(to, from, tkt_clock_map_ns(&t->map, from->begin),
                     &t->to->trace->shapes.items[shape], shape, label_of(t, from->device));
}

static void add_node(taking *t, const tkt_stored_activity *from)
{
    tkt_graph_launch *launch = tkt_graphs_add(&t->to->graphs, t->store, from);
    if (launch)
        launch->owner = takt_now_ns();
    else
        t->to->lost[TAKT_LOSS_DEVICE_DROPPED]++;
}

/* Adds a body to its graph's launch, unless that is written. */
static void extend(taking *t, const tkt_stored_activity *body)
{
    tkt_graph_launch *launch = tkt_graphs_extend(&t->to->graphs, body);
    if (launch)
        launch->owner = takt_now_ns();
    else
        t->to->lost[TAKT_LOSS_INCOMPLETE]++;
}

static void note_earlier(taking *t, const tkt_stored_activity *from)
{
    const tkt_earlier window = earlier_of(t);
    t->has_news |= tkt_note_earlier(t->to->trace, from, &window);
}

/* A body of a known launch is a part of it. */
static void settle_body(void *user, const tkt_stored_activity *body)
{
    taking *t = user;
    const tkt_wish *wish = &t->window->wish;
    bool is_part = body->correlation && wish->whole_graphs, has_shape = body->shape != TKT_NO_SHAPE;
    uint32_t filter = has_shape ? t->to->trace->shapes.items[body->shape].filter : UINT32_MAX;
    if (!is_part && !(filter & wish->devices))
        return;
    if (!is_ours(t, body))
        note_earlier(t, body);
    else if (is_part)
        extend(t, body);
    else
        add_activity(t, body, body->shape);
}

static void take_activity(taking *t, const tkt_stored_activity *from)
{
    const tkt_wish *wish = &t->window->wish;
    bool is_body = tkt_is_body(from), is_part = from->graph && wish->whole_graphs;
    if (!is_part && !(t->store->shapes.items[from->shape].filter & wish->devices))
        return;
    if (!is_body && !is_ours(t, from)) {
        note_earlier(t, from);
    } else if (tkt_stored_loss(from)) {
        t->to->lost[tkt_stored_loss(from)]++;
    } else if (is_body) {
        tkt_stored_activity body = *from;
        body.shape = shape_of(t, from->shape);
        tkt_bodies_hold(&t->to->bodies, &body, settle_body, t);
    } else if (is_part) {
        add_node(t, from);
    } else {
        add_activity(t, from, shape_of(t, from->shape));
    }
}

static void take_each(taking *t, bool are_bodies)
{
    for (const tkt_store_chunk *chunk = t->store->first; chunk; chunk = chunk->next) {
        uint64_t at = t->to->position > chunk->first ? t->to->position - chunk->first : 0;
        for (; at < chunk->count; at++)
            if (tkt_is_body(&chunk->items[at]) == are_bodies)
                take_activity(t, &chunk->items[at]);
    }
}

/* Bodies come last: their launches are known then. */
static void take_activities(taking *t, bool is_last)
{
    if (t->store->has_nodes)
        tkt_bodies_note(&t->to->bodies, t->store, t->to->position);
    take_each(t, false);
    if (t->store->bodies)
        take_each(t, true);
    t->to->position = t->store->next_sequence;
    tkt_bodies_settle(&t->to->bodies, is_last, settle_body, t);
}

static void take_graphs(taking *t, bool is_last)
{
    tkt_graphs *graphs = &t->to->graphs;
    uint64_t now = takt_now_ns();
    uint64_t quiet_ns = t->to->bodies.held.count ? GRAPH_MOST_NS : GRAPH_QUIET_NS;
    size_t count = 0;
    if (graphs->items.count > MOST_GRAPHS) {
        quiet_ns = GRAPH_LEAST_NS;
        tkt_bodies_settle(&t->to->bodies, true, settle_body, t);
    }
    const tkt_graph_launch *items = graphs->items.items;
    while (count < graphs->items.count && (is_last || items[count].owner + quiet_ns <= now))
        count++;
    tkt_graphs_name(graphs, count, t->store);
    for (size_t i = 0; i < count; i++)
        add_activity(t, &items[i].whole,
                     tkt_graph_shape(graphs, t->store, t->to->trace, &items[i]));
    tkt_graphs_drop(graphs, count);
}

/* These three lists have the newest records last. */
#define TAKE_NEW(t, array, take)                                                                   \
    do {                                                                                           \
        size_t first_ = (array)->count;                                                            \
        while (first_ > 0 && (array)->items[first_ - 1].sequence >= (t)->to->sequence)             \
            first_--;                                                                              \
        for (; first_ < (array)->count; first_++)                                                  \
            take(t, &(array)->items[first_]);                                                      \
    } while (0)

static void take_wait(taking *t, const tkt_stored_wait *from)
{
    uint64_t begin_ns = tkt_clock_map_ns(&t->map, from->begin);
    tkt_wait *to = is_in_window(t, begin_ns) ? TKT_ARRAY_ADD(&t->batch->waits) : NULL;
    if (to)
        *to = tkt_wait_of(from, begin_ns, &t->records);
}

static void take_overhead(taking *t, const tkt_stored_overhead *from)
{
    uint64_t begin_ns = tkt_clock_map_ns(&t->map, from->begin);
    tkt_overhead *to = is_in_window(t, begin_ns) ? TKT_ARRAY_ADD(&t->batch->overheads) : NULL;
    if (to)
        *to = tkt_overhead_of(from, begin_ns);
}

static void take_memory_event(taking *t, const tkt_stored_memory *from)
{
    uint64_t time_ns = tkt_clock_map_ns(&t->map, from->time);
    tkt_memory_event *to = is_in_window(t, time_ns) ? TKT_ARRAY_ADD(&t->batch->memory) : NULL;
    if (!to)
        return;
    *to = tkt_memory_event_of(from, time_ns, label_of(t, from->device));
    to->span = from->correlation; /* until its row is known */
}

/* With the store's lock: takes all new records. */
static takt_status take_all(taking *t, bool is_last)
{
    takt_status status = tkt_clock_map_make(&t->store->clock, &t->window->fit, &t->map);
    if (status != TAKT_OK)
        return status;
    t->shapes = tkt_alloc_zeroed((t->store->shapes.count + 1) * sizeof *t->shapes);
    if (!t->shapes || tkt_records_init(&t->records, t->store) != TAKT_OK)
        return TAKT_NO_MEMORY;
    copy_devices(t);
    take_activities(t, is_last);
    take_graphs(t, is_last);
    if (t->has_news)
        tkt_perfetto_devices(&t->to->perfetto);
    TAKE_NEW(t, &t->store->waits, take_wait);
    TAKE_NEW(t, &t->store->overheads, take_overhead);
    TAKE_NEW(t, &t->store->memory, take_memory_event);
    t->to->sequence = t->store->next_other;
    return TAKT_OK;
}

void tkt_stream_take_devices(tkt_stream_file *to, const tkt_window *window, bool is_last)
{
    taking t = {.to = to,
                .batch = &to->batch,
                .window = window,
                .store = tkt_store_get(),
                .first_correlation = tkt_devices_first_correlation(&window->devices),
                .last_correlation = tkt_devices_last_correlation(&window->devices),
                .until_ns = is_last ? to->trace->facts.end_ns : UINT64_MAX};
    if (!window->devices.is_on)
        return;
    tkt_mutex_lock(&t.store->lock);
    if (take_all(&t, is_last) == TAKT_OK) {
        to->batch.clock_uncertainty_ns = t.map.uncertainty_ns;
        to->batch.was_clock_set = t.map.was_set;
    }
    tkt_mutex_unlock(&t.store->lock);
    tkt_free(t.shapes);
    tkt_clock_map_fini(&t.map);
    tkt_records_fini(&t.records);
}

/* ---- Into the file --------------------------------------------------------------------------- */

/* A program whose launches never look the same makes shapes without end. No activity refers to them
 * once the batch is written; one that comes back is written again. */
static void forget_shapes(tkt_stream_file *to)
{
    takt_trace *trace = to->trace;
    if (trace->shapes.count < MOST_SHAPES)
        return;
    tkt_shape *before = trace->shapes.items;
    trace->shapes.items = NULL;
    trace->shapes.count = trace->shapes.capacity = 0;
    tkt_perfetto_forget_shapes(&to->perfetto);
    tkt_map_fini(&to->shapes);
    tkt_map_fini(&to->graphs.shapes);
    for (size_t i = 0; i < to->bodies.held.count; i++) {
        uint32_t *shape = &to->bodies.held.items[i].activity.shape;
        *shape = *shape == TKT_NO_SHAPE ? TKT_NO_SHAPE : keep_shape(to, &before[*shape]);
    }
    tkt_free(before);
}

/* Sorts by begin, then by stream. */
static void write_activities(tkt_stream_file *to)
{
    tkt_stream_batch *b = &to->batch;
    for (size_t i = 0; i < b->activities.count; i++)
        b->activities.items[i].reserved =
            tkt_perfetto_stream_of(&to->perfetto, &b->activities.items[i]);
    tkt_order_by_time(TKT_ORDER_ITEMS(&b->activities, offsetof(tkt_activity, reserved)));
    for (size_t i = 0; i < b->activities.count; i++)
        tkt_perfetto_activity(&to->perfetto, b->activities.items[i].reserved,
                              &b->activities.items[i]);
    b->activities.count = 0;
    forget_shapes(to);
}

static uint64_t *memory_of(tkt_stream_file *to, const tkt_memory_event *event, uint64_t begin_bytes)
{
    for (size_t i = 0; i < to->memories.count; i++)
        if (to->memories.items[i].device == event->device &&
            to->memories.items[i].kind == event->kind)
            return &to->memories.items[i].bytes;
    tkt_stream_memory *added = TKT_ARRAY_ADD(&to->memories);
    if (!added)
        return NULL;
    *added = (tkt_stream_memory){event->device, event->kind,
                                 event->kind == TAKT_MEMORY_DEVICE ? begin_bytes : 0};
    return &added->bytes;
}

/* Returns the entry for an event's device; NULL for host memory. The bytes allocated before the
 * recording are read at the device's first event: later the store may have forgotten them. */
static tkt_device_memory *window_memory(tkt_stream_file *to, const tkt_window *window,
                                        const tkt_memory_event *event, uint64_t *begin)
{
    *begin = 0;
    if (event->device == 0 || (event->kind & ~TKT_MEMORY_POOL) == TAKT_MEMORY_PINNED)
        return NULL;
    for (size_t i = 0; i < to->window_memory.count; i++) {
        *begin = to->begin_bytes.items[i];
        if (to->window_memory.items[i].device == event->device)
            return &to->window_memory.items[i];
    }
    size_t count = to->window_memory.count;
    bool has_room = TKT_ARRAY_RESERVE(&to->begin_bytes, count + 1);
    tkt_device_memory *added = has_room ? TKT_ARRAY_ADD(&to->window_memory) : NULL;
    if (!added)
        return NULL;
    *begin = tkt_devices_begin_bytes(&window->fit, to->trace, event->device);
    to->begin_bytes.items[count] = *begin;
    *added = (tkt_device_memory){.device = event->device};
    return added;
}

/* Returns the row of the calling thread, if the call was recent. */
static uint32_t row_of(tkt_stream_file *to, uint32_t correlation)
{
    const tkt_stream_call *call = &to->calls[correlation % TKT_STREAM_CALLS];
    if (correlation && call->correlation == correlation)
        return call->row;
    return tkt_perfetto_events_row(&to->perfetto);
}

static void write_memory(tkt_stream_file *to, const tkt_window *window)
{
    tkt_stream_batch *b = &to->batch;
    tkt_order_by_time(TKT_ORDER_ITEMS(&b->memory, offsetof(tkt_memory_event, track)));
    for (size_t i = 0; i < b->memory.count; i++) {
        const tkt_memory_event *event = &b->memory.items[i];
        uint64_t begin;
        tkt_device_memory *memory = window_memory(to, window, event, &begin);
        uint64_t *bytes = memory_of(to, event, begin);
        if (memory)
            tkt_device_memory_add(memory, event);
        if (!bytes)
            continue;
        *bytes += (uint64_t)event->bytes;
        tkt_perfetto_memory(&to->perfetto, row_of(to, event->span), event, *bytes);
    }
    b->memory.count = 0;
}

/* ---- Facts ----------------------------------------------------------------------------------- */

static void update_memory(tkt_stream_file *to, const tkt_window *window, bool is_last)
{
    takt_trace *trace = to->trace;
    trace->device_memory.count = 0;
    for (size_t i = 0; i < to->window_memory.count; i++) {
        tkt_device_memory *memory = TKT_ARRAY_ADD(&trace->device_memory);
        if (!memory)
            return;
        *memory = to->window_memory.items[i];
        tkt_devices_fill_memory(&window->fit, trace, to->begin_bytes.items[i], memory);
        if (is_last)
            tkt_devices_ask_memory(trace, memory);
    }
}

static void update_facts(tkt_stream_file *to, const tkt_window *window, bool is_last)
{
    takt_facts *facts = &to->trace->facts;
    facts->device_uncertainty_ns = to->batch.clock_uncertainty_ns;
    facts->device_uncertainty_is_least = to->batch.was_clock_set;
    tkt_devices_losses(&window->devices, to->trace->losses);
    update_memory(to, window, is_last);
}

void tkt_stream_write_devices(tkt_stream_file *to, const tkt_window *window, bool is_last)
{
    tkt_stream_batch *b = &to->batch;
    if (!window->devices.is_on)
        return;
    write_activities(to);
    for (size_t i = 0; i < b->waits.count; i++)
        tkt_perfetto_wait(&to->perfetto, &b->waits.items[i]);
    for (size_t i = 0; i < b->overheads.count; i++)
        tkt_perfetto_overhead(&to->perfetto, &b->overheads.items[i]);
    b->waits.count = b->overheads.count = 0;
    write_memory(to, window);
    update_facts(to, window, is_last);
}

/* ---- Timers inside kernels ------------------------------------------------------------------- */

/* Their kernels may come later: the reader finds them. */
void tkt_stream_write_phases(tkt_stream_file *to, bool is_last)
{
    takt_trace *trace = to->trace;
    const tkt_phase_window window = {.begin_ns = trace->facts.begin_ns,
                                     .end_ns = is_last ? trace->facts.end_ns : UINT64_MAX,
                                     .seen = &to->phase_batches};
    uint64_t others[TAKT_LOSS_COUNT];
    memcpy(others, trace->losses, sizeof others);
    memset(trace->losses, 0, sizeof trace->losses);
    tkt_timers_settle(0);
    if (tkt_phases_fill(trace, &window) != TAKT_OK)
        to->lost[TAKT_LOSS_PHASE_BLOCKS]++;
    tkt_perfetto_blocks(&to->perfetto);
    trace->phase_segments.count = trace->phase_records.count = 0;
    for (int i = 0; i < TAKT_LOSS_COUNT; i++) {
        to->lost[i] += trace->losses[i];
        trace->losses[i] = others[i] + to->lost[i];
    }
}
