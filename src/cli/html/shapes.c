/* What activities have in common: thousands of launches of a kernel differ in their times only. */
#include "cli/html/html.h"

#include <takt/activity.h>

#include <string.h>

/* Without padding, since shapes are told apart by their bytes. */
typedef struct shape {
    const char *name;
    const char *full_name;
    double occupancy;
    uint64_t bytes;
    uint64_t graph_node;
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t cluster[3];
    uint32_t filter;
    uint32_t registers;
    uint32_t static_shared_bytes;
    uint32_t dynamic_shared_bytes;
    uint32_t local_bytes;
    uint32_t copy_kind;
    uint32_t source_memory;
    uint32_t target_memory;
    uint32_t graph;
    uint32_t graph_node_count;
    uint32_t reserved; /* 0 */
} shape;

_Static_assert(sizeof(shape) == 3 * 8 + 2 * 8 + 20 * 4, "a shape has padding");

uint32_t html_shape(html_writer *writer, const takt_activity *activity)
{
    shape key = {.name = activity->name,
                 .full_name = activity->full_name,
                 .occupancy = activity->occupancy,
                 .bytes = activity->bytes,
                 .graph_node = activity->graph_node,
                 .filter = activity->filter,
                 .registers = activity->registers,
                 .static_shared_bytes = activity->static_shared_bytes,
                 .dynamic_shared_bytes = activity->dynamic_shared_bytes,
                 .local_bytes = activity->local_bytes,
                 .copy_kind = activity->copy_kind,
                 .source_memory = activity->source_memory,
                 .target_memory = activity->target_memory,
                 .graph = activity->graph,
                 .graph_node_count = activity->graph_node_count};
    memcpy(key.grid, activity->grid, sizeof key.grid);
    memcpy(key.block, activity->block, sizeof key.block);
    memcpy(key.cluster, activity->cluster, sizeof key.cluster);
    return html_set_add(&writer->shapes, &key, sizeof key);
}

static void put_number(html_bytes *out, const char *key, uint64_t number)
{
    if (number)
        html_print(out, ",\"%s\":%llu", key, (unsigned long long)number);
}

static void put_size(html_bytes *out, const char *key, const uint32_t size[3])
{
    if (size[0])
        html_print(out, ",\"%s\":[%u,%u,%u]", key, size[0], size[1], size[2]);
}

void html_put_shape(html_bytes *out, const html_set *shapes, uint32_t index)
{
    size_t size;
    shape at;

    memcpy(&at, html_set_at(shapes, index, &size), sizeof at);
    html_print(out, "{\"name\":");
    html_put_json(out, at.name, strlen(at.name));
    put_number(out, "filter", at.filter);
    if (at.full_name[0]) {
        html_print(out, ",\"full_name\":");
        html_put_json(out, at.full_name, strlen(at.full_name));
    }
    put_size(out, "grid", at.grid);
    put_size(out, "block", at.block);
    put_size(out, "cluster", at.cluster);
    put_number(out, "registers", at.registers);
    put_number(out, "static_shared_bytes", at.static_shared_bytes);
    put_number(out, "dynamic_shared_bytes", at.dynamic_shared_bytes);
    put_number(out, "local_bytes", at.local_bytes);
    if (at.occupancy > 0)
        html_print(out, ",\"occupancy\":%.4g", at.occupancy);
    put_number(out, "bytes", at.bytes);
    put_number(out, "copy_kind", at.copy_kind);
    put_number(out, "source_memory", at.source_memory);
    put_number(out, "target_memory", at.target_memory);
    put_number(out, "graph", at.graph);
    put_number(out, "graph_node", at.graph_node);
    put_number(out, "graph_node_count", at.graph_node_count);
    html_print(out, "}");
}
