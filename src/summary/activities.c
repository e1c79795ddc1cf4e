/* Sums over activities and over copies. */
#include "summary/activities.h"

#include "summary/device.h"

/* ======== Activities ======== */

/* Activities of the host are nodes of the call tree, so both forms of a trace have them. Activities
 * of devices are in the list of activities and in node_activities, which refer to nodes. */

takt_status tkt_activity_totals_init(tkt_activity_totals *totals)
{
    *totals = (tkt_activity_totals){0};
    takt_status status = tkt_strtab_init(&totals->names);
    if (status != TAKT_OK)
        tkt_activity_totals_fini(totals);
    return status;
}

void tkt_activity_totals_fini(tkt_activity_totals *totals)
{
    TKT_ARRAY_FREE(totals);
    tkt_strtab_fini(&totals->names);
    *totals = (tkt_activity_totals){0};
}

/* Returns the id of a name and makes sure that it has an entry. TKT_STRTAB_FULL without memory. */
static uint32_t number_of(tkt_activity_totals *totals, const char *name)
{
    uint32_t number = tkt_strtab_intern_text(&totals->names, name);
    while (number != TKT_STRTAB_FULL && totals->count <= number) {
        tkt_activity_total *total = TKT_ARRAY_ADD(totals);
        if (!total)
            return TKT_STRTAB_FULL;
        *total = (tkt_activity_total){0};
    }
    return number;
}

takt_status tkt_activity_totals_add(tkt_activity_totals *totals, const char *name, uint64_t count,
                                    uint64_t total_ns)
{
    uint32_t number = number_of(totals, name);
    if (number == TKT_STRTAB_FULL)
        return TAKT_NO_MEMORY;
    totals->items[number].count += count;
    totals->items[number].total_ns += total_ns;
    return TAKT_OK;
}

static takt_status add_label(tkt_activity_totals *totals, uint32_t filter, const char *name,
                             const tkt_stats *stats)
{
    size_t size = strlen(name) + 64; /* space for the prefix: "builtin kernel " and the like */
    char *label = tkt_alloc(size);
    if (!label)
        return TAKT_NO_MEMORY;
    takt_status status = tkt_activity_totals_add(
        totals, tkt_activity_label(label, size, filter, name), stats->count, stats->total_ns);
    tkt_free(label);
    return status;
}

static takt_status add_host(const takt_trace *trace, const tkt_fold *fold, tkt_activity_key key,
                            tkt_activity_totals *totals)
{
    for (size_t i = 1; i < fold->count; i++) {
        const tkt_node *node = &fold->items[i];
        const tkt_trace_site *site = &trace->sites.items[node->site];
        if (site->kind != TAKT_SITE_ACTIVITY || node->stats.count == 0)
            continue;
        takt_status status =
            key == TKT_BY_DEVICE
                ? tkt_activity_totals_add(totals, tkt_trace_text(trace, site->device),
                                          node->stats.count, node->stats.total_ns)
                : add_label(totals, site->filter, tkt_trace_text(trace, site->name), &node->stats);
        if (status != TAKT_OK)
            return status;
    }
    return TAKT_OK;
}

/* Adds to the entry of a string of the trace. There may be millions of activities: looking up the
 * string's id in `numbers` avoids hashing its text each time. False without memory. */
static bool add_string(const takt_trace *trace, tkt_map *numbers, uint32_t string, uint64_t count,
                       uint64_t total_ns, tkt_activity_totals *totals)
{
    uint64_t *number = tkt_map_put(numbers, string); /* id of the name + 1 */
    if (number && *number == 0)
        *number = (uint64_t)number_of(totals, tkt_trace_text(trace, string)) + 1;
    if (!number || *number > TKT_STRTAB_FULL)
        return false;
    totals->items[*number - 1].count += count;
    totals->items[*number - 1].total_ns += total_ns;
    return true;
}

static bool add_listed(const takt_trace *trace, tkt_activity_key key, tkt_map *numbers,
                       tkt_activity_totals *totals)
{
    bool is_added = true;
    size_t count = tkt_device_activity_count(trace);
    for (size_t i = 0; i < count && is_added; i++) {
        const tkt_activity *a = &trace->activities.items[i];
        is_added = add_string(trace, numbers, key == TKT_BY_DEVICE ? a->device : a->name, 1,
                              a->end_ns - a->begin_ns, totals);
    }
    return is_added;
}

static bool add_folded(const takt_trace *trace, tkt_activity_key key, tkt_map *numbers,
                       tkt_activity_totals *totals)
{
    bool is_added = true;
    for (size_t i = 0; i < trace->node_activities.count && is_added; i++) {
        const tkt_node_activity *a = &trace->node_activities.items[i];
        is_added = add_string(trace, numbers, key == TKT_BY_DEVICE ? a->device : a->name,
                              a->stats.count, a->stats.total_ns, totals);
    }
    return is_added;
}

/* If node_activities was derived from the list, use it: it is short, and keeps names in order of
 * first appearance. If it was added up while recording, it may contain activities that the list
 * lost, so read the list. */
static takt_status add_devices(const takt_trace *trace, tkt_activity_key key,
                               tkt_activity_totals *totals)
{
    tkt_map numbers = {0};
    bool is_listed = trace->facts.has_spans && !trace->node_activities_are_derived;
    bool is_added = is_listed ? add_listed(trace, key, &numbers, totals)
                              : add_folded(trace, key, &numbers, totals);
    tkt_map_fini(&numbers);
    return is_added ? TAKT_OK : TAKT_NO_MEMORY;
}

takt_status tkt_activities_total(const takt_trace *trace, tkt_activity_key key,
                                 tkt_activity_totals *out)
{
    const tkt_fold *fold = tkt_trace_fold(trace);
    if (!fold)
        return TAKT_NO_MEMORY;
    tkt_activity_totals totals;
    takt_status status = tkt_activity_totals_init(&totals);
    if (status == TAKT_OK)
        status = add_devices(trace, key, &totals);
    if (status == TAKT_OK)
        status = add_host(trace, fold, key, &totals);
    if (status != TAKT_OK) {
        tkt_activity_totals_fini(&totals);
        return status;
    }
    *out = totals;
    return TAKT_OK;
}

takt_status tkt_activities_are_cuda(const takt_trace *trace, bool *out)
{
    tkt_activity_totals totals;
    takt_status status = tkt_activities_total(trace, TKT_BY_DEVICE, &totals);
    if (status != TAKT_OK)
        return status;
    uint64_t cuda = 0;
    uint64_t all = 0;
    for (uint32_t i = 0; i < totals.count; i++) {
        uint64_t count = totals.items[i].count;
        cuda += tkt_device_is_cuda(tkt_strtab_text(&totals.names, i)) ? count : 0;
        all += count;
    }
    tkt_activity_totals_fini(&totals);
    *out = all > 0 && cuda == all;
    return TAKT_OK;
}

/* ======== Copies ======== */

/* There are few kinds of copies, so a linear search is enough. It tries the kind of the last copy
 * first, which usually matches. */

static tkt_copy_total *find_copy(tkt_copies *copies, size_t *last, const tkt_copy_total *kind)
{
    for (size_t i = 0; i <= copies->count; i++) {
        size_t at = i == 0 ? *last : i - 1;
        if (at >= copies->count)
            continue;
        tkt_copy_total *total = &copies->items[at];
        if (total->name != kind->name || total->source != kind->source ||
            total->target != kind->target)
            continue;
        *last = at;
        return total;
    }
    tkt_copy_total *total = TKT_ARRAY_ADD(copies);
    if (total)
        *total = *kind;
    return total;
}

takt_status tkt_copies_of(const takt_trace *trace, tkt_copies *out)
{
    tkt_copies copies = {0};
    size_t last = 0;
    size_t count = tkt_device_activity_count(trace);
    for (size_t i = 0; i < count; i++) {
        const tkt_activity *activity = &trace->activities.items[i];
        if (activity->filter != TAKT_TIMING_MEMCPY || activity->shape == TKT_NO_SHAPE)
            continue;
        const tkt_shape *shape = &trace->shapes.items[activity->shape];
        tkt_copy_total *total = find_copy(&copies, &last,
                                          &(tkt_copy_total){.name = activity->name,
                                                            .source = shape->source,
                                                            .target = shape->target,
                                                            .min_bytes = UINT64_MAX});
        if (!total) {
            TKT_ARRAY_FREE(&copies);
            return TAKT_NO_MEMORY;
        }
        total->count++;
        total->bytes += shape->bytes;
        total->min_bytes = shape->bytes < total->min_bytes ? shape->bytes : total->min_bytes;
        total->max_bytes = shape->bytes > total->max_bytes ? shape->bytes : total->max_bytes;
        total->time_ns += activity->end_ns - activity->begin_ns;
    }
    *out = copies;
    return TAKT_OK;
}
