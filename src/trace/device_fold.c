/* Adds up device activities while the program runs. The logs supply calls with their paths, the
 * store supplies activities. A ring keeps the latest calls by correlation id; this bounds memory.
 * Activities that arrive before their calls wait in a list, which is bounded too.
 *
 * Launches of graphs that are combined from nodes are added up at the end, or when too many of them
 * are kept. */
#include "trace/devices.h"

#include "record/site.h"

#include <string.h>

#define RECENT_CALLS (1u << 18) /* a power of two */
#define MOST_WAITING (1u << 16)
#define MOST_GRAPHS  (1u << 16) /* launches that are combined at a time */

typedef struct recent_call {
    uint32_t correlation; /* 0: none */
    uint32_t log;
    uint32_t node;
    uint8_t missing;     /* TKT_LAUNCHES_; TKT_LAUNCHES_NOTHING once an activity has arrived */
    bool launches_graph; /* true also if unknown */
} recent_call;

/* The facts of an activity that the sums need. */
typedef struct work {
    uint64_t duration_ns;
    uint32_t loss; /* as in the store */
    uint32_t correlation;
    uint32_t device; /* ordinal */
    uint32_t label;  /* string of the store */
    uint32_t filter;
    bool is_of_graph;
} work;

struct tkt_device_fold {
    uint64_t position;
    uint32_t first_correlation;
    uint32_t filter;
    bool whole_graphs;
    bool has_graphs;   /* a call launched one */
    tkt_clock_fit fit; /* this and the next two: see tkt_device_fold_bound() */
    uint64_t begin_ns;
    uint64_t end_ns;
    uint64_t latest_earlier; /* CUPTI's time at which the latest work of earlier calls began, */
    uint64_t own_until;      /* until when the window's own ran, */
    uint64_t first_later;    /* and when the first of later calls began; as far as it has arrived */
    tkt_graphs graphs;       /* owner of a launch: (log + 1) << 32 | node, or 0 while unknown */
    size_t owned_graphs;     /* launches at the front that have owners */
    tkt_bodies bodies;       /* a held one has its label as shape and its filter as context */
    uint32_t last_correlation; /* of the latest update */
    recent_call *recent;       /* ring, indexed by the lowest bits of the correlation id */
    TKT_ARRAY_OF(work) waiting;
    tkt_device_sums durations;
    tkt_map launched; /* site of a call -> tkt_launched_by() of its name + 1 */
    tkt_fold_losses losses;
    uint64_t displaced; /* launches that the ring forgot while their activities were missing */
    bool (*is_late)(uint32_t correlation); /* NULL until the end */
};

takt_status tkt_device_fold_create(uint64_t position, uint32_t first_correlation, uint32_t filter,
                                   tkt_device_fold **out)
{
    tkt_device_fold *fold = tkt_alloc_zeroed(sizeof *fold);
    recent_call *recent = tkt_alloc_zeroed(RECENT_CALLS * sizeof *recent);
    if (!fold || !recent) {
        tkt_free(fold);
        tkt_free(recent);
        return TAKT_NO_MEMORY;
    }
    fold->position = position;
    fold->first_correlation = first_correlation;
    fold->filter = filter;
    fold->recent = recent;
    fold->durations.histograms.is_live = true;
    *out = fold;
    return TAKT_OK;
}

void tkt_device_fold_destroy(tkt_device_fold *fold)
{
    if (!fold)
        return;
    tkt_free(fold->recent);
    tkt_graphs_fini(&fold->graphs);
    tkt_bodies_fini(&fold->bodies);
    TKT_ARRAY_FREE(&fold->waiting);
    tkt_device_sums_fini(&fold->durations);
    tkt_map_fini(&fold->launched);
    tkt_free(fold);
}

/* tkt_launched_by() for a call at this site; 0 for site 0. */
static uint32_t launched_at(tkt_device_fold *fold, uint32_t site)
{
    uint64_t *known = site ? tkt_map_put(&fold->launched, site) : NULL;
    if (!known)
        return 0;
    if (*known == 0)
        *known = 1 + (uint64_t)tkt_launched_by(tkt_site_get(site)->name.bytes);
    return (uint32_t)(*known - 1);
}

static void count_missing(tkt_device_fold *fold, uint8_t launches, bool is_graph, uint64_t more)
{
    if (launches == TKT_LAUNCHES_WORK)
        *(is_graph ? &fold->losses.missing_graphs : &fold->losses.missing) += more;
    else if (launches == TKT_LAUNCHES_MARK)
        fold->losses.missing_marks += more;
    else if (launches == TKT_LAUNCHES_PERHAPS)
        fold->losses.silent += more;
}

void tkt_device_fold_whole_graphs(tkt_device_fold *fold)
{
    fold->whole_graphs = true;
}

void tkt_device_fold_bound(tkt_device_fold *fold, const tkt_clock_fit *fit, uint64_t begin_ns,
                           uint64_t end_ns)
{
    fold->fit = *fit;
    fold->begin_ns = begin_ns;
    fold->end_ns = end_ns;
}

bool tkt_device_fold_has_graphs(const tkt_device_fold *fold)
{
    return fold->has_graphs;
}

/* A call that was under way may have been folded already. A call that a later one displaces from
 * the ring stays counted as missing: its activities can no longer be recognised, and arrive without
 * a call. */
void tkt_device_fold_calls(tkt_device_fold *fold, uint32_t log, const tkt_folded_calls *calls)
{
    for (size_t i = 0; i < calls->count; i++) {
        const tkt_folded_call *call = &calls->items[i];
        recent_call *place = &fold->recent[call->correlation % RECENT_CALLS];
        if (!tkt_is_later_call(call->correlation, fold->first_correlation) ||
            place->correlation == call->correlation)
            continue;
        if (call->correlation - fold->first_correlation > TKT_CALLS_BACK)
            fold->first_correlation = call->correlation - TKT_CALLS_BACK;
        uint32_t launched = launched_at(fold, call->site);
        fold->has_graphs |= (launched & TAKT_TIMING_GRAPH) != 0;
        uint8_t missing = tkt_must_launch(launched, fold->filter);
        count_missing(fold, missing, (launched & TAKT_TIMING_GRAPH) != 0, 1);
        fold->displaced += place->missing == TKT_LAUNCHES_WORK;
        fold->losses.silent -= place->missing == TKT_LAUNCHES_PERHAPS;
        *place = (recent_call){call->correlation, log, call->node, missing,
                               !call->site || launched & TAKT_TIMING_GRAPH};
    }
}

/* ---- Sums ------------------------------------------------------------------------------------ */

/* `call` is NULL if the path is not known. */
static void add_work(tkt_device_fold *fold, const tkt_store *store, const work *from,
                     const recent_call *call)
{
    if (from->loss) {
        ++*(from->loss == TAKT_LOSS_INCOMPLETE ? &fold->losses.incomplete : &fold->losses.bad_time);
        return;
    }
    if (from->filter == 0) /* an entry of the store that says: this launch has no activity */
        return;
    if (!call && fold->is_late && fold->is_late(from->correlation))
        return;
    const tkt_device_sum_key key = {.log = call ? call->log : TKT_NO_LOG,
                                    .node = call ? call->node : 0,
                                    .device = from->device,
                                    .label = from->label,
                                    .filter = from->filter};
    fold->losses.unattributed += call == NULL;
    fold->losses.no_memory +=
        !tkt_device_sums_add(&fold->durations, store, &key, from->duration_ns);
}

/* ---- Activities that arrive ------------------------------------------------------------------ */

static recent_call *find_call(const tkt_device_fold *fold, uint32_t correlation)
{
    recent_call *call = &fold->recent[correlation % RECENT_CALLS];
    return correlation && call->correlation == correlation ? call : NULL;
}

/* Some releases of CUPTI give the activities of graphs the ids of other calls. So a call that
 * launches no graph cannot be the call of such an activity. */
static bool is_believed(const recent_call *call, bool is_of_graph)
{
    return !is_of_graph || call->launches_graph;
}

static void note_arrival(tkt_device_fold *fold, recent_call *call)
{
    count_missing(fold, call->missing, call->launches_graph, (uint64_t)-1);
    call->missing = TKT_LAUNCHES_NOTHING;
}

void tkt_device_fold_forget(tkt_device_fold *fold, uint32_t last_correlation, uint32_t newest)
{
    uint32_t count = tkt_is_call_until(newest, last_correlation) ? 0 : newest - last_correlation;
    for (uint32_t i = 1; i <= count && i <= RECENT_CALLS; i++) {
        recent_call *call = find_call(fold, last_correlation + i);
        if (call)
            note_arrival(fold, call);
    }
}

static void add_called(tkt_device_fold *fold, const tkt_store *store, const work *from,
                       recent_call *call)
{
    bool is_match = is_believed(call, from->is_of_graph);
    if (is_match)
        note_arrival(fold, call);
    add_work(fold, store, from, is_match ? call : NULL);
}

static void give_up_waiting(tkt_device_fold *fold, const tkt_store *store)
{
    for (size_t i = 0; i < fold->waiting.count; i++)
        add_work(fold, store, &fold->waiting.items[i], NULL);
    fold->waiting.count = 0;
}

static void add_or_wait(tkt_device_fold *fold, const tkt_store *store, const work *from)
{
    recent_call *call = find_call(fold, from->correlation);
    if (call) {
        add_called(fold, store, from, call);
        return;
    }
    if (fold->waiting.count == MOST_WAITING)
        give_up_waiting(fold, store);
    work *place = TKT_ARRAY_ADD(&fold->waiting);
    if (place)
        *place = *from;
    else
        add_work(fold, store, from, NULL);
}

/* ---- Launches of graphs ---------------------------------------------------------------------- */

static void add_graph(tkt_device_fold *fold, tkt_store *store, const tkt_graph_launch *launch)
{
    char text[TKT_GRAPH_LABEL_BYTES];
    const recent_call call = {.log = (uint32_t)(launch->owner >> 32) - 1,
                              .node = (uint32_t)launch->owner & INT32_MAX};
    const work whole = {.duration_ns = launch->whole.end - launch->whole.begin,
                        .correlation = launch->whole.correlation,
                        .device = launch->whole.device,
                        .label = tkt_store_string(store, tkt_launch_label(text, store, launch)),
                        .filter = TAKT_TIMING_GRAPH};
    if (whole.label == TKT_STRTAB_FULL)
        fold->losses.no_memory++;
    else
        add_work(fold, store, &whole, launch->owner ? &call : NULL);
}

static void add_graphs(tkt_device_fold *fold, tkt_store *store, size_t count)
{
    tkt_graphs_name(&fold->graphs, count, store);
    for (size_t i = 0; i < count; i++)
        add_graph(fold, store, &fold->graphs.items.items[i]);
    tkt_graphs_drop(&fold->graphs, count);
    fold->owned_graphs -= fold->owned_graphs < count ? fold->owned_graphs : count;
}

/* Sets the owners of launches while the ring still has their calls. */
static void find_owners(tkt_device_fold *fold)
{
    bool are_all_owned = true;
    for (size_t i = fold->owned_graphs; i < fold->graphs.items.count; i++) {
        tkt_graph_launch *launch = &fold->graphs.items.items[i];
        recent_call *call = launch->owner ? NULL : find_call(fold, launch->whole.correlation);
        if (call && is_believed(call, true)) {
            note_arrival(fold, call);
            launch->owner = ((uint64_t)call->log + 1) << 32 | call->node;
        }
        are_all_owned = are_all_owned && launch->owner;
        fold->owned_graphs = are_all_owned ? i + 1 : fold->owned_graphs;
    }
}

/* ---- Activities ------------------------------------------------------------------------------ */

static bool is_part_of_whole(const tkt_device_fold *fold, const tkt_stored_activity *from)
{
    return from->graph && from->correlation && fold->whole_graphs;
}

static bool is_within(const tkt_device_fold *fold, const tkt_stored_activity *from)
{
    return tkt_is_call_within(from->correlation, fold->first_correlation, fold->last_correlation);
}

static void note_times(tkt_device_fold *fold, const tkt_stored_activity *from)
{
    bool is_earlier = !tkt_is_later_call(from->correlation, fold->first_correlation);
    if (is_earlier && from->begin > fold->latest_earlier)
        fold->latest_earlier = from->begin;
    else if (is_within(fold, from) && from->end > fold->own_until)
        fold->own_until = from->end;
    else if (!is_earlier && !is_within(fold, from) && from->end &&
             (!fold->first_later || from->begin < fold->first_later))
        fold->first_later = from->begin;
}

static void add_single(tkt_device_fold *fold, const tkt_store *store,
                       const tkt_stored_activity *from, uint32_t label, uint32_t filter,
                       bool is_of_graph)
{
    if (filter && !(filter & fold->filter) && !is_part_of_whole(fold, from))
        return;
    add_or_wait(fold, store,
                &(work){from->end ? from->end - from->begin : 0, tkt_stored_loss(from),
                        from->correlation, from->device, label, filter, is_of_graph});
}

/* ---- Bodies ---------------------------------------------------------------------------------- */

typedef struct settling_bodies {
    tkt_device_fold *fold;
    tkt_store *store;
} settling_bodies;

/* As in devices.c: a body of an unknown launch belongs to the window whose work runs around it. */
static bool is_in_work(const settling_bodies *s, const tkt_stored_activity *body)
{
    const tkt_device_fold *fold = s->fold;
    tkt_clock_map map;
    if (tkt_clock_map_make(&s->store->clock, &fold->fit, &map) != TAKT_OK)
        return false;
    uint64_t begin_ns = tkt_clock_map_ns(&map, body->begin);
    tkt_clock_map_fini(&map);
    bool has_begun = begin_ns > fold->begin_ns && body->begin > fold->latest_earlier;
    bool has_later = fold->first_later && body->begin >= fold->first_later;
    return has_begun && (!fold->end_ns || begin_ns <= fold->end_ns ||
                         (body->begin <= fold->own_until && !has_later));
}

static void add_body(void *user, const tkt_stored_activity *body)
{
    const settling_bodies *s = user;
    if (body->correlation)
        note_times(s->fold, body);
    bool is_ours = body->correlation ? is_within(s->fold, body) : is_in_work(s, body);
    if (!is_ours)
        return;
    if (is_part_of_whole(s->fold, body))
        s->fold->losses.incomplete += !tkt_graphs_extend(&s->fold->graphs, body);
    else
        add_single(s->fold, s->store, body, body->shape, body->context, true);
}

static void settle_bodies(tkt_device_fold *fold, tkt_store *store, bool is_all)
{
    tkt_bodies_settle(&fold->bodies, is_all, add_body, &(settling_bodies){fold, store});
}

/* ---- Updates --------------------------------------------------------------------------------- */

static void add_node(tkt_device_fold *fold, tkt_store *store, const tkt_stored_activity *from)
{
    if (fold->graphs.items.count == MOST_GRAPHS) {
        settle_bodies(fold, store, true);
        find_owners(fold);
        add_graphs(fold, store, MOST_GRAPHS / 2);
    }
    fold->losses.no_memory += !tkt_graphs_add(&fold->graphs, store, from);
}

static void hold_body(tkt_device_fold *fold, tkt_store *store, const tkt_stored_activity *from,
                      const tkt_shape *shape)
{
    tkt_stored_activity body = *from;
    body.shape = shape->label;
    body.context = shape->filter;
    tkt_bodies_hold(&fold->bodies, &body, add_body, &(settling_bodies){fold, store});
}

static void take_activity(tkt_device_fold *fold, tkt_store *store, const tkt_stored_activity *from)
{
    const tkt_shape *shape = &store->shapes.items[from->shape];
    if (tkt_is_body(from))
        return;
    note_times(fold, from);
    if (!is_within(fold, from))
        return;
    if (is_part_of_whole(fold, from) && from->end)
        add_node(fold, store, from);
    else
        add_single(fold, store, from, shape->label, shape->filter, from->graph || shape->graph);
}

/* After all others: the launches of bodies are known then. */
static void take_body(tkt_device_fold *fold, tkt_store *store, const tkt_stored_activity *from)
{
    if (!tkt_is_body(from))
        return;
    if (from->end)
        hold_body(fold, store, from, &store->shapes.items[from->shape]);
    else
        fold->losses.incomplete++;
}

static void take_each(tkt_device_fold *fold, tkt_store *store,
                      void (*take)(tkt_device_fold *, tkt_store *, const tkt_stored_activity *))
{
    for (const tkt_store_chunk *chunk = store->first; chunk; chunk = chunk->next) {
        uint64_t at = fold->position > chunk->first ? fold->position - chunk->first : 0;
        for (; at < chunk->count; at++)
            take(fold, store, &chunk->items[at]);
    }
}

/* Adds up activities that waited and whose calls have arrived meanwhile. */
static void retry(tkt_device_fold *fold, const tkt_store *store)
{
    size_t kept = 0;
    for (size_t i = 0; i < fold->waiting.count; i++) {
        const work waiting = fold->waiting.items[i];
        recent_call *call = find_call(fold, waiting.correlation);
        if (call)
            add_called(fold, store, &waiting, call);
        else
            fold->waiting.items[kept++] = waiting;
    }
    fold->waiting.count = kept;
}

uint64_t tkt_device_fold_update(tkt_device_fold *fold, tkt_store *store, uint32_t last_correlation)
{
    tkt_mutex_lock(&store->lock);
    retry(fold, store);
    fold->last_correlation = last_correlation;
    if (store->has_nodes)
        tkt_bodies_note(&fold->bodies, store, fold->position);
    take_each(fold, store, take_activity);
    if (store->bodies)
        take_each(fold, store, take_body);
    settle_bodies(fold, store, false);
    fold->position = store->next_sequence;
    find_owners(fold);
    tkt_mutex_unlock(&store->lock);
    return fold->position;
}

void tkt_device_fold_finish(tkt_device_fold *fold, tkt_store *store,
                            bool (*is_late)(uint32_t correlation))
{
    tkt_mutex_lock(&store->lock);
    fold->is_late = is_late;
    settle_bodies(fold, store, true);
    give_up_waiting(fold, store);
    find_owners(fold);
    add_graphs(fold, store, fold->graphs.items.count);
    tkt_mutex_unlock(&store->lock);
}

/* An activity without a call is that of a launch which the ring forgot: it is not missing. */
tkt_fold_losses tkt_device_fold_losses(const tkt_device_fold *fold)
{
    tkt_fold_losses losses = fold->losses;
    uint64_t arrived =
        losses.unattributed < fold->displaced ? losses.unattributed : fold->displaced;
    uint64_t others = arrived < losses.missing ? arrived : losses.missing;
    losses.missing -= others;
    arrived -= others;
    losses.missing_graphs -= arrived < losses.missing_graphs ? arrived : losses.missing_graphs;
    return losses;
}

takt_status tkt_device_fold_into(const tkt_device_fold *fold, const uint32_t *const *nodes,
                                 size_t log_count, takt_trace *trace)
{
    return tkt_device_sums_into(&fold->durations, nodes, log_count, trace);
}
