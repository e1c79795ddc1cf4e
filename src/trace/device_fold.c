/* Adds up device activities while the program runs. The logs supply calls with their paths, the
 * store supplies activities. A ring keeps the latest calls by correlation id; this bounds memory.
 * Activities that arrive before their calls wait in a list, which is bounded too.
 *
 * Launches of graphs that are combined from nodes are added up at the end, or when too many of them
 * are kept.
 *
 * Texts of the store keep their addresses for the life of the process. */
#include "trace/devices.h"

#include "record/site.h"

#include <string.h>

#define RECENT_CALLS (1u << 18) /* a power of two */
#define MOST_WAITING (1u << 16)
#define MOST_GRAPHS  (1u << 16) /* launches that are combined at a time */
#define NO_LOG       UINT32_MAX

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

typedef struct sum {
    uint32_t log; /* of the path; NO_LOG: none */
    uint32_t node;
    uint32_t device;
    uint32_t label;
    uint32_t filter;
    const char *device_text;
    const char *label_text;
    tkt_stats stats;
    tkt_histogram *histogram;
} sum;

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
    uint64_t latest_own;     /* and that of the window's own; as far as it has arrived */
    tkt_graphs graphs;   /* owner of a launch: (log + 1) << 32 | node, or 0 while unknown */
    size_t owned_graphs; /* launches at the front that have owners */
    tkt_bodies bodies;   /* a held one has its label as shape and its filter as context */
    uint32_t last_correlation; /* of the latest update */
    recent_call *recent; /* ring, indexed by the lowest bits of the correlation id */
    TKT_ARRAY_OF(work) waiting;
    TKT_ARRAY_OF(sum) sums;
    tkt_map index;      /* hash of a sum's key -> index + 1 */
    tkt_fold durations; /* only its histograms */
    tkt_map launched;   /* site of a call -> tkt_launched_by() of its name + 1 */
    tkt_fold_losses losses;
    uint64_t displaced; /* launches that the ring forgot while their activities were missing */
};

takt_status tkt_device_fold_create(uint64_t position, uint32_t first_correlation, uint32_t filter,
                                   tkt_device_fold **out)
{
    tkt_device_fold *sums = tkt_alloc_zeroed(sizeof *sums);
    recent_call *recent = tkt_alloc_zeroed(RECENT_CALLS * sizeof *recent);
    if (!sums || !recent) {
        tkt_free(sums);
        tkt_free(recent);
        return TAKT_NO_MEMORY;
    }
    sums->position = position;
    sums->first_correlation = first_correlation;
    sums->filter = filter;
    sums->recent = recent;
    sums->durations.is_live = true;
    *out = sums;
    return TAKT_OK;
}

void tkt_device_fold_destroy(tkt_device_fold *sums)
{
    if (!sums)
        return;
    tkt_free(sums->recent);
    tkt_graphs_fini(&sums->graphs);
    tkt_bodies_fini(&sums->bodies);
    TKT_ARRAY_FREE(&sums->waiting);
    TKT_ARRAY_FREE(&sums->sums);
    tkt_map_fini(&sums->index);
    tkt_map_fini(&sums->launched);
    tkt_fold_fini(&sums->durations);
    tkt_free(sums);
}

/* tkt_launched_by() for a call at this site; 0 for site 0. */
static uint32_t launched_at(tkt_device_fold *sums, uint32_t site)
{
    uint64_t *known = site ? tkt_map_put(&sums->launched, site) : NULL;
    if (!known)
        return 0;
    if (*known == 0)
        *known = 1 + (uint64_t)tkt_launched_by(tkt_site_get(site)->name.bytes);
    return (uint32_t)(*known - 1);
}

static void count_missing(tkt_device_fold *sums, uint8_t launches, uint64_t more)
{
    if (launches == TKT_LAUNCHES_WORK)
        sums->losses.missing += more;
    else if (launches == TKT_LAUNCHES_MARK)
        sums->losses.missing_marks += more;
}

void tkt_device_fold_whole_graphs(tkt_device_fold *sums)
{
    sums->whole_graphs = true;
}

void tkt_device_fold_bound(tkt_device_fold *sums, const tkt_clock_fit *fit, uint64_t begin_ns,
                           uint64_t end_ns)
{
    sums->fit = *fit;
    sums->begin_ns = begin_ns;
    sums->end_ns = end_ns;
}

bool tkt_device_fold_has_graphs(const tkt_device_fold *sums)
{
    return sums->has_graphs;
}

/* A call that a later call displaces from the ring stays counted as missing: its activities can no
 * longer be recognised, and arrive without a call. */
void tkt_device_fold_calls(tkt_device_fold *sums, uint32_t log, const tkt_folded_calls *calls)
{
    for (size_t i = 0; i < calls->count; i++) {
        const tkt_folded_call *call = &calls->items[i];
        if (!tkt_is_later_call(call->correlation, sums->first_correlation))
            continue;
        if (call->correlation - sums->first_correlation > TKT_CALLS_BACK)
            sums->first_correlation = call->correlation - TKT_CALLS_BACK;
        uint32_t launched = launched_at(sums, call->site);
        sums->has_graphs |= (launched & TAKT_TIMING_GRAPH) != 0;
        uint8_t missing = tkt_must_launch(launched, sums->filter);
        count_missing(sums, missing, 1);
        recent_call *place = &sums->recent[call->correlation % RECENT_CALLS];
        sums->displaced += place->missing == TKT_LAUNCHES_WORK;
        *place = (recent_call){call->correlation, log, call->node, missing,
                               !call->site || launched & TAKT_TIMING_GRAPH};
    }
}

/* ---- Sums ------------------------------------------------------------------------------------ */

static sum *add_sum(tkt_device_fold *sums, const tkt_store *store, const sum *key)
{
    sum *added = TKT_ARRAY_ADD(&sums->sums);
    if (!added)
        return NULL;
    *added = *key;
    added->histogram = NULL;
    added->label_text = tkt_strtab_text(&store->strings, key->label);
    added->device_text = tkt_strtab_text(&store->strings, store->devices.items[key->device].label);
    tkt_stats_init(&added->stats);
    return added;
}

static bool is_same(const sum *a, const sum *b)
{
    return a->log == b->log && a->node == b->node && a->device == b->device &&
           a->label == b->label && a->filter == b->filter;
}

static sum *find_sum(tkt_device_fold *sums, const tkt_store *store, const sum *key)
{
    uint64_t hash = tkt_hash_u64((uint64_t)key->log << 32 | key->node) +
                    ((uint64_t)key->device << 32 | key->label);
    for (;; hash++) {
        uint64_t *place = tkt_map_put(&sums->index, hash);
        if (!place)
            return NULL;
        if (*place == 0) {
            sum *added = add_sum(sums, store, key);
            if (added)
                *place = sums->sums.count;
            else
                tkt_map_remove(&sums->index, hash);
            return added;
        }
        if (is_same(&sums->sums.items[*place - 1], key))
            return &sums->sums.items[*place - 1];
    }
}

/* `call` is NULL if the path is not known. */
static void add_work(tkt_device_fold *sums, const tkt_store *store, const work *from,
                     const recent_call *call)
{
    if (from->loss) {
        ++*(from->loss == TAKT_LOSS_INCOMPLETE ? &sums->losses.incomplete : &sums->losses.bad_time);
        return;
    }
    if (from->filter == 0) /* an entry of the store that says: this launch has no activity */
        return;
    const sum key = {.log = call ? call->log : NO_LOG,
                     .node = call ? call->node : 0,
                     .device = from->device,
                     .label = from->label,
                     .filter = from->filter};
    sum *to = find_sum(sums, store, &key);
    sums->losses.unattributed += call == NULL;
    sums->losses.no_memory += to == NULL;
    if (!to)
        return;
    tkt_fold_count(&sums->durations, &to->stats, &to->histogram, from->duration_ns);
}

/* ---- Activities that arrive ------------------------------------------------------------------ */

static recent_call *find_call(const tkt_device_fold *sums, uint32_t correlation)
{
    recent_call *call = &sums->recent[correlation % RECENT_CALLS];
    return correlation && call->correlation == correlation ? call : NULL;
}

/* Some releases of CUPTI give the activities of graphs the ids of other calls. So a call that
 * launches no graph cannot be the call of such an activity. */
static bool is_believed(const recent_call *call, bool is_of_graph)
{
    return !is_of_graph || call->launches_graph;
}

static void note_arrival(tkt_device_fold *sums, recent_call *call)
{
    count_missing(sums, call->missing, (uint64_t)-1);
    call->missing = TKT_LAUNCHES_NOTHING;
}

void tkt_device_fold_forget(tkt_device_fold *sums, uint32_t last_correlation, uint32_t newest)
{
    uint32_t count = tkt_is_call_until(newest, last_correlation) ? 0 : newest - last_correlation;
    for (uint32_t i = 1; i <= count && i <= RECENT_CALLS; i++) {
        recent_call *call = find_call(sums, last_correlation + i);
        if (call)
            note_arrival(sums, call);
    }
}

static void add_called(tkt_device_fold *sums, const tkt_store *store, const work *from,
                       recent_call *call)
{
    bool is_match = is_believed(call, from->is_of_graph);
    if (is_match)
        note_arrival(sums, call);
    add_work(sums, store, from, is_match ? call : NULL);
}

static void give_up_waiting(tkt_device_fold *sums, const tkt_store *store)
{
    for (size_t i = 0; i < sums->waiting.count; i++)
        add_work(sums, store, &sums->waiting.items[i], NULL);
    sums->waiting.count = 0;
}

static void add_or_wait(tkt_device_fold *sums, const tkt_store *store, const work *from)
{
    recent_call *call = find_call(sums, from->correlation);
    if (call) {
        add_called(sums, store, from, call);
        return;
    }
    if (sums->waiting.count == MOST_WAITING)
        give_up_waiting(sums, store);
    work *place = TKT_ARRAY_ADD(&sums->waiting);
    if (place)
        *place = *from;
    else
        add_work(sums, store, from, NULL);
}

/* ---- Launches of graphs ---------------------------------------------------------------------- */

static void add_graph(tkt_device_fold *sums, tkt_store *store, const tkt_graph_launch *launch)
{
    char text[TKT_GRAPH_LABEL_BYTES];
    const recent_call call = {.log = (uint32_t)(launch->owner >> 32) - 1,
                              .node = (uint32_t)launch->owner & INT32_MAX};
    const work whole = {.duration_ns = launch->whole.end - launch->whole.begin,
                        .device = launch->whole.device,
                        .label = tkt_store_string(store, tkt_launch_label(text, launch)),
                        .filter = TAKT_TIMING_GRAPH};
    if (whole.label == TKT_STRTAB_FULL)
        sums->losses.no_memory++;
    else
        add_work(sums, store, &whole, launch->owner ? &call : NULL);
}

static void add_graphs(tkt_device_fold *sums, tkt_store *store, size_t count)
{
    for (size_t i = 0; i < count; i++)
        add_graph(sums, store, &sums->graphs.items.items[i]);
    tkt_graphs_drop(&sums->graphs, count);
    sums->owned_graphs -= sums->owned_graphs < count ? sums->owned_graphs : count;
}

/* Sets the owners of launches while the ring still has their calls. */
static void find_owners(tkt_device_fold *sums)
{
    bool are_all_owned = true;
    for (size_t i = sums->owned_graphs; i < sums->graphs.items.count; i++) {
        tkt_graph_launch *launch = &sums->graphs.items.items[i];
        recent_call *call = launch->owner ? NULL : find_call(sums, launch->whole.correlation);
        if (call && is_believed(call, true)) {
            note_arrival(sums, call);
            launch->owner = ((uint64_t)call->log + 1) << 32 | call->node;
        }
        are_all_owned = are_all_owned && launch->owner;
        sums->owned_graphs = are_all_owned ? i + 1 : sums->owned_graphs;
    }
}

/* ---- Activities ------------------------------------------------------------------------------ */

static bool is_part_of_whole(const tkt_device_fold *sums, const tkt_stored_activity *from)
{
    return from->graph && from->correlation && sums->whole_graphs;
}

static bool is_within(const tkt_device_fold *sums, const tkt_stored_activity *from)
{
    return tkt_is_call_within(from->correlation, sums->first_correlation, sums->last_correlation);
}

static void note_begin(tkt_device_fold *sums, const tkt_stored_activity *from)
{
    bool is_earlier = !tkt_is_later_call(from->correlation, sums->first_correlation);
    uint64_t *latest = is_earlier ? &sums->latest_earlier : &sums->latest_own;
    if ((is_earlier || is_within(sums, from)) && from->begin > *latest)
        *latest = from->begin;
}

static void add_single(tkt_device_fold *sums, const tkt_store *store,
                       const tkt_stored_activity *from, uint32_t label, uint32_t filter,
                       bool is_of_graph)
{
    if (filter && !(filter & sums->filter) && !is_part_of_whole(sums, from))
        return;
    add_or_wait(sums, store,
                &(work){from->end ? from->end - from->begin : 0, tkt_stored_loss(from),
                        from->correlation, from->device, label, filter, is_of_graph});
}

/* ---- Bodies ---------------------------------------------------------------------------------- */

typedef struct settling_bodies {
    tkt_device_fold *sums;
    tkt_store *store;
} settling_bodies;

/* As in devices.c: a body of an unknown launch belongs to the window whose work begins around it. */
static bool is_in_work(const settling_bodies *s, const tkt_stored_activity *body)
{
    const tkt_device_fold *sums = s->sums;
    tkt_clock_map map;
    if (tkt_clock_map_make(&s->store->clock, &sums->fit, &map) != TAKT_OK)
        return false;
    uint64_t begin_ns = tkt_clock_map_ns(&map, body->begin);
    tkt_clock_map_fini(&map);
    bool has_begun = begin_ns > sums->begin_ns && body->begin > sums->latest_earlier;
    return has_begun &&
           (!sums->end_ns || begin_ns <= sums->end_ns || body->begin <= sums->latest_own);
}

static void add_body(void *user, const tkt_stored_activity *body)
{
    const settling_bodies *s = user;
    if (body->correlation)
        note_begin(s->sums, body);
    bool is_ours = body->correlation ? is_within(s->sums, body) : is_in_work(s, body);
    if (!is_ours)
        return;
    if (is_part_of_whole(s->sums, body))
        s->sums->losses.incomplete += !tkt_graphs_extend(&s->sums->graphs, body);
    else
        add_single(s->sums, s->store, body, body->shape, body->context, true);
}

static void settle_bodies(tkt_device_fold *sums, tkt_store *store, bool is_all)
{
    tkt_bodies_settle(&sums->bodies, is_all, add_body, &(settling_bodies){sums, store});
}

/* ---- Updates --------------------------------------------------------------------------------- */

static void add_node(tkt_device_fold *sums, tkt_store *store, const tkt_stored_activity *from)
{
    if (sums->graphs.items.count == MOST_GRAPHS) {
        settle_bodies(sums, store, true);
        find_owners(sums);
        add_graphs(sums, store, MOST_GRAPHS / 2);
    }
    sums->losses.no_memory += !tkt_graphs_add(&sums->graphs, from);
}

static void hold_body(tkt_device_fold *sums, tkt_store *store, const tkt_stored_activity *from,
                      const tkt_shape *shape)
{
    tkt_stored_activity body = *from;
    body.shape = shape->label;
    body.context = shape->filter;
    tkt_bodies_hold(&sums->bodies, &body, add_body, &(settling_bodies){sums, store});
}

static void take_activity(tkt_device_fold *sums, tkt_store *store, const tkt_stored_activity *from)
{
    const tkt_shape *shape = &store->shapes.items[from->shape];
    if (tkt_is_body(from))
        return;
    note_begin(sums, from);
    if (!is_within(sums, from))
        return;
    if (is_part_of_whole(sums, from) && from->end)
        add_node(sums, store, from);
    else
        add_single(sums, store, from, shape->label, shape->filter, from->graph || shape->graph);
}

/* After all others: the launches of bodies are known then. */
static void take_body(tkt_device_fold *sums, tkt_store *store, const tkt_stored_activity *from)
{
    if (!tkt_is_body(from))
        return;
    if (from->end)
        hold_body(sums, store, from, &store->shapes.items[from->shape]);
    else
        sums->losses.incomplete++;
}

static void take_each(tkt_device_fold *sums, tkt_store *store,
                      void (*take)(tkt_device_fold *, tkt_store *, const tkt_stored_activity *))
{
    for (const tkt_store_chunk *chunk = store->first; chunk; chunk = chunk->next) {
        uint64_t at = sums->position > chunk->first ? sums->position - chunk->first : 0;
        for (; at < chunk->count; at++)
            take(sums, store, &chunk->items[at]);
    }
}

/* Adds up activities that waited and whose calls have arrived meanwhile. */
static void retry(tkt_device_fold *sums, const tkt_store *store)
{
    size_t kept = 0;
    for (size_t i = 0; i < sums->waiting.count; i++) {
        const work waiting = sums->waiting.items[i];
        recent_call *call = find_call(sums, waiting.correlation);
        if (call)
            add_called(sums, store, &waiting, call);
        else
            sums->waiting.items[kept++] = waiting;
    }
    sums->waiting.count = kept;
}

uint64_t tkt_device_fold_update(tkt_device_fold *sums, tkt_store *store, uint32_t last_correlation)
{
    tkt_mutex_lock(&store->lock);
    retry(sums, store);
    sums->last_correlation = last_correlation;
    if (store->has_nodes)
        tkt_bodies_note(&sums->bodies, store, sums->position);
    take_each(sums, store, take_activity);
    if (store->bodies)
        take_each(sums, store, take_body);
    settle_bodies(sums, store, false);
    sums->position = store->next_sequence;
    find_owners(sums);
    tkt_mutex_unlock(&store->lock);
    return sums->position;
}

void tkt_device_fold_finish(tkt_device_fold *sums, tkt_store *store)
{
    tkt_mutex_lock(&store->lock);
    settle_bodies(sums, store, true);
    give_up_waiting(sums, store);
    find_owners(sums);
    add_graphs(sums, store, sums->graphs.items.count);
    tkt_mutex_unlock(&store->lock);
}

/* An activity without a call is that of a launch which the ring forgot: it is not missing. */
tkt_fold_losses tkt_device_fold_losses(const tkt_device_fold *sums)
{
    tkt_fold_losses losses = sums->losses;
    uint64_t arrived =
        losses.unattributed < sums->displaced ? losses.unattributed : sums->displaced;
    losses.missing -= arrived < losses.missing ? arrived : losses.missing;
    return losses;
}

/* ---- Into a trace ---------------------------------------------------------------------------- */

static bool add_to_trace(tkt_node_activities *list, const sum *from, uint32_t node)
{
    takt_trace *trace = list->trace;
    const tkt_node_activity key = {.node = node == TKT_NO_NODE ? 0 : node,
                                   .name = tkt_trace_string_of(trace, from->label_text),
                                   .device = tkt_trace_string_of(trace, from->device_text),
                                   .filter = from->filter};
    if (key.name == TKT_STRTAB_FULL || key.device == TKT_STRTAB_FULL)
        return false;
    size_t index = tkt_node_activity_index(list, &key);
    if (index == SIZE_MAX)
        return false;
    tkt_node_activity *to = &trace->node_activities.items[index];
    tkt_fold_add_stats(&trace->fold, &to->stats, &to->histogram, &from->stats, from->histogram);
    return true;
}

takt_status tkt_device_fold_into(const tkt_device_fold *sums, const uint32_t *const *nodes,
                                 size_t log_count, takt_trace *trace)
{
    tkt_node_activities list = {.trace = trace};
    bool is_ok = true;
    for (size_t i = 0; i < sums->sums.count && is_ok; i++) {
        const sum *from = &sums->sums.items[i];
        bool is_known = from->log < log_count && nodes[from->log];
        is_ok = add_to_trace(&list, from, is_known ? nodes[from->log][from->node] : 0);
    }
    tkt_map_fini(&list.index);
    tkt_node_activities_sort(trace);
    return is_ok ? TAKT_OK : TAKT_NO_MEMORY;
}
