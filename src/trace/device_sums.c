/* Durations of device activities, added up by call path, device and label. Texts of the store keep
 * their addresses for the life of the process. */
#include "trace/devices.h"

void tkt_device_sums_fini(tkt_device_sums *sums)
{
    TKT_ARRAY_FREE(&sums->items);
    tkt_map_fini(&sums->index);
    tkt_fold_fini(&sums->histograms);
}

static tkt_device_sum *add_sum(tkt_device_sums *sums, const tkt_store *store,
                               const tkt_device_sum_key *key)
{
    tkt_device_sum *added = TKT_ARRAY_ADD(&sums->items);
    if (!added)
        return NULL;
    *added = (tkt_device_sum){
        .key = *key,
        .label = tkt_strtab_text(&store->strings, key->label),
        .device = tkt_strtab_text(&store->strings, store->devices.items[key->device].label)};
    tkt_stats_init(&added->stats);
    return added;
}

static bool is_same(const tkt_device_sum_key *a, const tkt_device_sum_key *b)
{
    return a->log == b->log && a->node == b->node && a->device == b->device &&
           a->label == b->label && a->filter == b->filter;
}

static tkt_device_sum *find_sum(tkt_device_sums *sums, const tkt_store *store,
                                const tkt_device_sum_key *key)
{
    uint64_t hash = tkt_hash_u64((uint64_t)key->log << 32 | key->node) +
                    ((uint64_t)key->device << 32 | key->label);
    for (;; hash++) {
        uint64_t *place = tkt_map_put(&sums->index, hash);
        if (!place)
            return NULL;
        if (*place == 0) {
            tkt_device_sum *added = add_sum(sums, store, key);
            if (added)
                *place = sums->items.count;
            else
                tkt_map_remove(&sums->index, hash);
            return added;
        }
        if (is_same(&sums->items.items[*place - 1].key, key))
            return &sums->items.items[*place - 1];
    }
}

bool tkt_device_sums_add(tkt_device_sums *sums, const tkt_store *store,
                         const tkt_device_sum_key *key, uint64_t duration_ns)
{
    tkt_device_sum *to = find_sum(sums, store, key);
    if (to)
        tkt_fold_count(&sums->histograms, &to->stats, &to->histogram, duration_ns);
    return to != NULL;
}

/* ---- Into a trace ---------------------------------------------------------------------------- */

static bool add_to_trace(tkt_node_activities *list, const tkt_device_sum *from, uint32_t node)
{
    takt_trace *trace = list->trace;
    const tkt_node_activity key = {.node = node == TKT_NO_NODE ? 0 : node,
                                   .name = tkt_trace_string_of(trace, from->label),
                                   .device = tkt_trace_string_of(trace, from->device),
                                   .filter = from->key.filter};
    if (key.name == TKT_STRTAB_FULL || key.device == TKT_STRTAB_FULL)
        return false;
    size_t index = tkt_node_activity_index(list, &key);
    if (index == SIZE_MAX)
        return false;
    tkt_node_activity *to = &trace->node_activities.items[index];
    tkt_fold_add_stats(&trace->fold, &to->stats, &to->histogram, &from->stats, from->histogram);
    return true;
}

takt_status tkt_device_sums_into(const tkt_device_sums *sums, const uint32_t *const *nodes,
                                 size_t log_count, takt_trace *trace)
{
    tkt_node_activities list = {.trace = trace};
    bool is_ok = true;
    for (size_t i = 0; i < sums->items.count && is_ok; i++) {
        const tkt_device_sum *from = &sums->items.items[i];
        bool is_known = from->key.log < log_count && nodes[from->key.log];
        is_ok = add_to_trace(&list, from, is_known ? nodes[from->key.log][from->key.node] : 0);
    }
    tkt_map_fini(&list.index);
    tkt_node_activities_sort(trace);
    return is_ok ? TAKT_OK : TAKT_NO_MEMORY;
}
