/* Makes the folded form of a trace from the folds of logs. */
#include "trace/seal.h"

#include "trace/recovery.h"

#include <stdlib.h>

/* Adds the fold of a log, whose sites are recorded ids. Sets nodes[n] to the trace's node for node
 * n of the log's fold. */
static takt_status add_fold(tkt_sealing *sealing, const tkt_fold *fold, uint32_t *nodes)
{
    uint32_t most = 0;
    for (size_t i = 1; i < fold->count; i++)
        if (fold->items[i].site > most)
            most = fold->items[i].site;
    uint32_t *sites = tkt_alloc_zeroed(((size_t)most + 1) * sizeof *sites);
    if (!sites)
        return TAKT_NO_MEMORY;
    for (size_t i = 1; i < fold->count; i++)
        if (fold->items[i].site != TKT_SITE_OTHER)
            sites[fold->items[i].site] = tkt_sealing_site(sealing, fold->items[i].site);
    takt_status status = tkt_fold_merge(&sealing->trace->fold, fold, sites, nodes);
    tkt_free(sites);
    return sealing->is_out_of_memory ? TAKT_NO_MEMORY : status;
}

/* The string of a site's name. */
static uint32_t name_of(tkt_sealing *sealing, uint32_t site)
{
    if (site == TKT_MORE_NAMES)
        return sealing->trace->fold.more_name;
    uint32_t index = tkt_sealing_site(sealing, site); /* may move the trace's sites */
    return sealing->trace->sites.items[index].name;
}

/* The counter of a log's fold as one of the trace. */
static tkt_folded_counter sealed_counter(tkt_sealing *sealing, const tkt_folded_counter *from)
{
    tkt_folded_counter counter = *from;
    double ns_per_tick = tkt_clock_resolution_ns(&sealing->window->fit);
    counter.name = from->name == TKT_MORE_NAMES ? sealing->trace->fold.more_name
                                                : tkt_sealing_text(sealing, from->name);
    counter.first_time = tkt_sealing_ns(sealing, from->first_time);
    counter.last_time = tkt_sealing_ns(sealing, from->last_time);
    counter.held.sum *= ns_per_tick;
    counter.held.large *= ns_per_tick;
    counter.held.weight *= ns_per_tick;
    return counter;
}

static int by_first(const void *a, const void *b)
{
    const tkt_folded_counter *x = a, *y = b;
    if (x->first_time != y->first_time)
        return x->first_time < y->first_time ? -1 : 1;
    return (x->last_time > y->last_time) - (x->last_time < y->last_time);
}

/* Adds the counters of all logs in the order of their first samples. So are then the counters of
 * the trace. */
static takt_status add_counters(tkt_sealing *sealing)
{
    const tkt_seal_window *window = sealing->window;
    TKT_ARRAY_OF(tkt_folded_counter) all = {0};
    size_t count = 0;
    for (size_t i = 0; i < window->fold_count; i++)
        count += window->folds[i].counters.count;
    bool has_memory = TKT_ARRAY_RESERVE(&all, count);
    for (size_t i = 0; has_memory && i < window->fold_count; i++)
        for (size_t k = 0; k < window->folds[i].counters.count; k++)
            all.items[all.count++] = sealed_counter(sealing, &window->folds[i].counters.items[k]);
    if (all.count > 1)
        qsort(all.items, all.count, sizeof *all.items, by_first);
    for (size_t i = 0; has_memory && i < all.count; i++)
        has_memory = tkt_fold_add_counter(&sealing->trace->fold, &all.items[i]);
    TKT_ARRAY_FREE(&all);
    return has_memory ? TAKT_OK : TAKT_NO_MEMORY;
}

/* Adds the tasks of a log's fold. */
static takt_status add_tasks(tkt_sealing *sealing, const tkt_fold *fold)
{
    for (size_t i = 0; i < fold->tasks.count; i++) {
        tkt_folded_task task = fold->tasks.items[i];
        task.name = name_of(sealing, task.name);
        task.track = tkt_sealing_text(sealing, task.track);
        if (!tkt_fold_add_task(&sealing->trace->fold, &task))
            return TAKT_NO_MEMORY;
    }
    return TAKT_OK;
}

/* Adds the threads of a log's fold. Parts of nodes that the trace has no room for are left out. */
static takt_status add_threads(tkt_sealing *sealing, const tkt_fold *fold, const uint32_t *nodes)
{
    tkt_fold *into = &sealing->trace->fold;
    size_t part = 0;
    if (!TKT_ARRAY_RESERVE(&into->threads, into->threads.count + fold->threads.count) ||
        !TKT_ARRAY_RESERVE(&into->parts, into->parts.count + fold->parts.count))
        return TAKT_NO_MEMORY;
    for (size_t i = 0; i < fold->threads.count; i++) {
        tkt_folded_thread thread = fold->threads.items[i];
        for (; part < thread.end; part++) {
            tkt_thread_node mine = fold->parts.items[part];
            mine.node = nodes[mine.node];
            if (mine.node != TKT_NO_NODE)
                into->parts.items[into->parts.count++] = mine;
        }
        thread.name = thread.name ? tkt_sealing_text(sealing, thread.name) : 0;
        thread.end = into->parts.count;
        into->threads.items[into->threads.count++] = thread;
    }
    return TAKT_OK;
}

/* Adds what a log's fold has besides the tree and counters. */
static takt_status add_lists(tkt_sealing *sealing, const tkt_fold *fold, const uint32_t *nodes)
{
    takt_status status = add_tasks(sealing, fold);
    return status == TAKT_OK ? add_threads(sealing, fold, nodes) : status;
}

/* Sets nodes[log][n] to the trace's node for node n of the log's fold. Device activities need this
 * table. */
static takt_status add_all_folds(tkt_sealing *sealing, uint32_t **nodes)
{
    const tkt_seal_window *window = sealing->window;
    takt_status status = tkt_trace_begin_fold(sealing->trace);
    sealing->trace->fold.has_lists = !window->source; /* a crash-safe file lacks the lists */
    for (size_t i = 0; i < window->fold_count && status == TAKT_OK; i++) {
        const tkt_fold *fold = &window->folds[i];
        if (fold->count == 0)
            continue;
        uint32_t *mine = tkt_alloc(fold->count * sizeof *mine);
        tkt_free(nodes[fold->log]);
        nodes[fold->log] = mine;
        status = mine ? add_fold(sealing, fold, mine) : TAKT_NO_MEMORY;
        if (status == TAKT_OK && !window->source)
            status = add_lists(sealing, fold, mine);
    }
    return status == TAKT_OK && !window->source ? add_counters(sealing) : status;
}

takt_status tkt_seal_folds(tkt_sealing *sealing)
{
    const tkt_seal_window *window = sealing->window;
    size_t logs = 0;
    for (size_t i = 0; i < window->fold_count; i++)
        if (window->folds[i].log >= logs)
            logs = (size_t)window->folds[i].log + 1;
    uint32_t **nodes = tkt_alloc_zeroed((logs + 1) * sizeof *nodes);
    takt_status status = nodes ? add_all_folds(sealing, nodes) : TAKT_NO_MEMORY;
    if (status == TAKT_OK && window->device_fold)
        status = tkt_device_fold_into(window->device_fold, (const uint32_t *const *)nodes, logs,
                                      sealing->trace);
    for (size_t i = 0; nodes && i < logs; i++)
        tkt_free(nodes[i]);
    tkt_free(nodes);
    sealing->trace->facts.begun_before = sealing->trace->fold.begun_before;
    sealing->trace->facts.unfinished = sealing->trace->fold.unfinished;
    tkt_fold_find_self(&sealing->trace->fold);
    tkt_fold_find_others(&sealing->trace->fold);
    return status;
}

takt_status tkt_seal_sums(const tkt_seal_window *window, takt_trace *trace)
{
    tkt_sealing sealing = {.window = window, .trace = trace};
    takt_status status = tkt_seal_folds(&sealing);
    TKT_ARRAY_FREE(&sealing.sites);
    return sealing.is_out_of_memory ? TAKT_NO_MEMORY : status;
}
