/* Scopes as folded stacks: paths of scopes with the time spent in the last one itself, or with the
 * time of what devices did for it, whose name is the last one then.
 *
 * The tree of the trace has one node for each call site. Here those of one name are one. */
#include "export/exporter.h"
#include "export/folded_tree.h"

/* Self times are sums modulo 2^64, and less than nothing where a scope that was never closed has
 * children that were. */
static uint64_t self_time(const tkt_node *node)
{
    return (int64_t)node->stats.self_ns > 0 ? node->stats.self_ns : 0;
}

/* numbers[n] becomes the path of node n. */
static takt_status add_nodes(tkt_folded *folded, const tkt_fold *fold, uint32_t *numbers)
{
    const takt_trace *trace = folded->trace;
    numbers[0] = TKT_FOLDED_ROOT;
    for (size_t i = 1; i < fold->count; i++) {
        uint32_t site = fold->items[i].site;
        uint32_t name = site == TKT_SITE_OTHER ? TKT_FOLDED_OTHER : trace->sites.items[site].name;
        numbers[i] = tkt_folded_child(folded, numbers[fold->items[i].parent], name);
        if (numbers[i] == TKT_NO_NODE)
            return TAKT_NO_MEMORY;
    }
    return TAKT_OK;
}

static takt_status add_self_times(tkt_folded *folded, const tkt_fold *fold, const uint32_t *numbers)
{
    for (size_t i = 1; i < fold->count; i++)
        folded->paths.items[numbers[i]].value += self_time(&fold->items[i]);
    return TAKT_OK;
}

static takt_status add_device_times(tkt_folded *folded, const tkt_fold *fold,
                                    const uint32_t *numbers)
{
    (void)fold;
    for (size_t i = 0; i < folded->trace->node_activities.count; i++) {
        const tkt_node_activity *did = &folded->trace->node_activities.items[i];
        uint32_t path = tkt_folded_child(folded, numbers[did->node], did->name);
        if (path == TKT_NO_NODE)
            return TAKT_NO_MEMORY;
        folded->paths.items[path].value += did->stats.total_ns;
    }
    return TAKT_OK;
}

static takt_status write(const takt_trace *trace, tkt_writer *writer,
                         takt_status (*add_values)(tkt_folded *, const tkt_fold *,
                                                   const uint32_t *))
{
    const tkt_fold *fold = tkt_trace_fold(trace);
    uint32_t *numbers = fold ? tkt_alloc((fold->count + 1) * sizeof *numbers) : NULL;
    if (!numbers)
        return TAKT_NO_MEMORY;
    tkt_folded folded;
    takt_status status = tkt_folded_init(&folded, trace);
    if (status == TAKT_OK)
        status = add_nodes(&folded, fold, numbers);
    if (status == TAKT_OK)
        status = add_values(&folded, fold, numbers);
    if (status == TAKT_OK)
        status = tkt_folded_write(&folded, writer);
    tkt_folded_fini(&folded);
    tkt_free(numbers);
    return status;
}

static takt_status write_folded(const takt_trace *trace, tkt_writer *writer)
{
    return write(trace, writer, add_self_times);
}

static takt_status write_devices(const takt_trace *trace, tkt_writer *writer)
{
    return write(trace, writer, add_device_times);
}

const tkt_exporter tkt_folded_exporter = {
    .name = "folded",
    .description = "folded stacks for flame graphs: flamegraph.pl, speedscope, inferno",
    .suffix = ".folded",
    .write = write_folded,
};

const tkt_exporter tkt_folded_device_exporter = {
    .name = "folded-device",
    .description = "the same with the time of kernels and copies",
    .suffix = ".device.folded",
    .write = write_devices,
};
