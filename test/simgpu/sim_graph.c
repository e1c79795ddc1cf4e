/* Graphs: nodes and edges, made executable and launched. An executable graph has clones of the
 * nodes in an order that keeps to the edges, with child graphs put in place. */
#include "sim_core.h"

#include <stdlib.h>
#include <string.h>

static uint32_t last_graph_id;
static uint32_t last_exec_id;
static uint64_t last_node_id;

static sim_node **copy_nodes(sim_node *const *nodes, size_t count)
{
    sim_node **copy = sim_new(count * sizeof *copy);
    if (count)
        memcpy(copy, nodes, count * sizeof *copy);
    return copy;
}

/* Arguments are copied where their sizes are known, and left out where not. */
static void **copy_args(const sim_work *work)
{
    const sim_function *function = work->is.kernel.function;
    if (!work->is.kernel.args || !function->arg_count)
        return NULL;
    void **args = sim_new(function->arg_count * sizeof *args);
    for (size_t i = 0; i < function->arg_count; i++) {
        args[i] = sim_new(function->arg_bytes[i]);
        memcpy(args[i], work->is.kernel.args[i], function->arg_bytes[i]);
    }
    return args;
}

static bool has_graph(const sim_work *work)
{
    return work->type == SIM_WORK_GRAPH || work->type == SIM_WORK_CONDITION;
}

static sim_node *make_node(const sim_work *work)
{
    sim_node *node = sim_new(sizeof *node);
    node->id = ++last_node_id;
    node->work = *work;
    node->work.is_async = true;
    if (work->type == SIM_WORK_KERNEL)
        node->work.is.kernel.args = copy_args(work);
    if (work->type == SIM_WORK_KERNEL && node->work.is.kernel.args)
        node->arg_count = work->is.kernel.function->arg_count;
    sim_born(node, SIM_A_NODE);
    return node;
}

static void free_node(sim_node *node)
{
    void **args = node->work.type == SIM_WORK_KERNEL ? node->work.is.kernel.args : NULL;
    for (size_t i = 0; i < node->arg_count; i++)
        free(args[i]);
    free(args);
    sim_died(node);
    free(node->after);
    free(node);
}

static sim_graph *make_graph(void)
{
    sim_graph *graph = sim_new(sizeof *graph);
    graph->id = ++last_graph_id;
    sim_born(graph, SIM_A_GRAPH);
    return graph;
}

static void free_graph(sim_graph *graph)
{
    for (size_t i = 0; i < graph->node_count; i++) {
        if (has_graph(&graph->nodes[i]->work))
            free_graph(graph->nodes[i]->work.is.graph);
        free_node(graph->nodes[i]);
    }
    sim_died(graph);
    free(graph->nodes);
    free(graph);
}

static void put(sim_graph *graph, sim_node *node)
{
    node->graph = graph;
    graph->nodes = sim_grow(graph->nodes, graph->node_count, sizeof *graph->nodes);
    graph->nodes[graph->node_count++] = node;
}

static size_t index_of(sim_node *const *nodes, size_t count, const sim_node *node)
{
    size_t i = 0;
    while (i < count && nodes[i] != node)
        i++;
    return i;
}

/* The clone's edges lead to the clones of the nodes that the original's lead to. */
static sim_graph *clone_graph(const sim_graph *graph)
{
    sim_graph *clone = make_graph();
    for (size_t i = 0; i < graph->node_count; i++) {
        sim_work work = graph->nodes[i]->work;
        if (has_graph(&work)) {
            work.is.graph = clone_graph(work.is.graph);
            work.is.graph->is_child = true;
        }
        put(clone, make_node(&work));
        clone->nodes[i]->original = graph->nodes[i];
    }
    for (size_t i = 0; i < graph->node_count; i++) {
        const sim_node *node = graph->nodes[i];
        clone->nodes[i]->after = copy_nodes(node->after, node->after_count);
        clone->nodes[i]->after_count = node->after_count;
        for (size_t k = 0; k < node->after_count; k++)
            clone->nodes[i]->after[k] =
                clone->nodes[index_of(graph->nodes, graph->node_count, node->after[k])];
    }
    return clone;
}

static void tell_graph(sim_resource_kind kind, sim_graph *graph, sim_graph *original)
{
    sim_add_resource(&(sim_resource){.kind = kind, .graph = graph, .original_graph = original});
}

sim_node *sim_node_add(sim_graph *graph, sim_node *const *after, size_t count, const sim_work *work)
{
    sim_work own = *work;
    if (own.type == SIM_WORK_GRAPH)
        own.is.graph = clone_graph(own.is.graph);
    if (own.type == SIM_WORK_CONDITION)
        own.is.graph = make_graph();
    if (has_graph(&own))
        own.is.graph->is_child = true;
    sim_node *node = make_node(&own);
    node->after = copy_nodes(after, count);
    node->after_count = count;
    put(graph, node);
    sim_add_resource(&(sim_resource){.kind = SIM_GRAPH_NODE_CREATED,
                                     .context = sim_context_here(),
                                     .graph = graph,
                                     .node = node,
                                     .dependency = count ? after[0] : NULL,
                                     .node_type = (uint32_t)own.type});
    return node;
}

int sim_graph_create(sim_graph **out)
{
    sim_lock();
    *out = make_graph();
    tell_graph(SIM_GRAPH_CREATED, *out, NULL);
    sim_unlock();
    return SIM_OK;
}

int sim_graph_clone(sim_graph *graph, sim_graph **out)
{
    sim_lock();
    bool is_alive = sim_is(graph, SIM_A_GRAPH);
    if (is_alive) {
        *out = clone_graph(graph);
        tell_graph(SIM_GRAPH_CLONED, *out, graph);
    }
    sim_unlock();
    return is_alive ? SIM_OK : SIM_INVALID_VALUE;
}

int sim_graph_destroy(sim_graph *graph)
{
    sim_lock();
    bool is_ours = sim_is(graph, SIM_A_GRAPH) && !graph->is_child;
    if (is_ours)
        tell_graph(SIM_GRAPH_DESTROY_STARTING, graph, NULL);
    sim_unlock();
    if (!is_ours)
        return SIM_INVALID_VALUE;
    sim_tell();
    sim_lock();
    free_graph(graph);
    sim_unlock();
    return SIM_OK;
}

static bool are_nodes_of(const sim_graph *graph, sim_node *const *nodes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!sim_is(nodes[i], SIM_A_NODE) || nodes[i]->graph != graph)
            return false;
    }
    return true;
}

int sim_graph_add(sim_graph *graph, sim_node *const *after, size_t after_count,
                  const sim_work *work, sim_node **out)
{
    sim_lock();
    int status = sim_is(graph, SIM_A_GRAPH) && are_nodes_of(graph, after, after_count)
                     ? sim_work_check(work)
                     : SIM_INVALID_VALUE;
    if (!status && work->type == SIM_WORK_GRAPH && !sim_is(work->is.graph, SIM_A_GRAPH))
        status = SIM_INVALID_VALUE;
    if (!status)
        *out = sim_node_add(graph, after, after_count, work);
    sim_unlock();
    return status;
}

sim_graph **sim_node_bodies(sim_node *node)
{
    return &node->work.is.graph;
}

static void add_after(sim_node *node, sim_node *before)
{
    sim_node **after = sim_new((node->after_count + 1) * sizeof *after);
    if (node->after_count)
        memcpy(after, node->after, node->after_count * sizeof *after);
    after[node->after_count++] = before;
    free(node->after);
    node->after = after;
}

int sim_graph_connect(sim_graph *graph, sim_node *const *from, sim_node *const *to, size_t count)
{
    sim_lock();
    bool is_right = sim_is(graph, SIM_A_GRAPH) && are_nodes_of(graph, from, count) &&
                    are_nodes_of(graph, to, count);
    for (size_t i = 0; is_right && i < count; i++) {
        add_after(to[i], from[i]);
    }
    sim_unlock();
    return is_right ? SIM_OK : SIM_INVALID_VALUE;
}

int sim_graph_list(sim_graph *graph, bool roots_only, sim_node **nodes, size_t *count)
{
    sim_lock();
    bool is_alive = sim_is(graph, SIM_A_GRAPH);
    size_t found = 0;
    for (size_t i = 0; is_alive && i < graph->node_count; i++) {
        if (roots_only && graph->nodes[i]->after_count)
            continue;
        if (nodes && found < *count)
            nodes[found] = graph->nodes[i];
        found++;
    }
    if (is_alive && (!nodes || found < *count))
        *count = found;
    sim_unlock();
    return is_alive ? SIM_OK : SIM_INVALID_VALUE;
}

int sim_node_type(sim_node *node, int *type)
{
    sim_lock();
    bool is_alive = sim_is(node, SIM_A_NODE);
    if (is_alive)
        *type = (int)node->work.type;
    sim_unlock();
    return is_alive ? SIM_OK : SIM_INVALID_VALUE;
}

/* Instantiating ------------------------------------------------------------------------------- */

/* Adds clones of the graph's nodes behind `roots`, and puts `join` behind all of them; false on a
 * cycle. A node's `order` is the place of its clone in exec->nodes + 1, and 0 before it has one. */
static bool flatten(sim_exec *exec, const sim_graph *graph, sim_node *const *roots,
                    size_t root_count, sim_node *join);

static void add_to_exec(sim_exec *exec, sim_node *node)
{
    exec->nodes = sim_grow(exec->nodes, exec->node_count, sizeof *exec->nodes);
    exec->nodes[exec->node_count++] = node;
}

static bool is_ready(const sim_node *node)
{
    for (size_t i = 0; i < node->after_count; i++) {
        if (!node->after[i]->order)
            return false;
    }
    return !node->order;
}

/* The nodes of a child graph, or those of a body as often as it runs, with the ids of the first. */
static bool place_inner(sim_exec *exec, const sim_work *work, sim_node *join)
{
    bool is_right = true, is_body = work->type == SIM_WORK_CONDITION;
    size_t first = exec->node_count;
    for (uint32_t round = 0; is_right && round < (is_body ? work->rounds : 1); round++) {
        size_t begin = exec->node_count, count = join->after_count;
        sim_node **before = copy_nodes(join->after, count);
        is_right = flatten(exec, work->is.graph, before, count, join);
        free(before);
        for (size_t i = begin; is_body && i < exec->node_count; i++) {
            exec->nodes[i]->id = exec->nodes[first + i - begin]->id;
            exec->nodes[i]->is_by_device = true;
        }
    }
    return is_right;
}

/* A child graph and a condition become their nodes and an empty node behind them all. */
static bool place(sim_exec *exec, sim_node *node, sim_node *const *roots, size_t root_count)
{
    sim_work work = node->work;
    if (has_graph(&work))
        work = (sim_work){.type = SIM_WORK_EMPTY};
    sim_node *clone = make_node(&work);
    clone->original = node;
    for (size_t i = 0; i < node->after_count; i++)
        add_after(clone, exec->nodes[node->after[i]->order - 1]);
    for (size_t i = 0; !node->after_count && i < root_count; i++)
        add_after(clone, roots[i]);
    bool is_right = !has_graph(&node->work) || place_inner(exec, &node->work, clone);
    add_to_exec(exec, clone);
    node->order = exec->node_count;
    return is_right;
}

static bool flatten(sim_exec *exec, const sim_graph *graph, sim_node *const *roots,
                    size_t root_count, sim_node *join)
{
    size_t first = exec->node_count;
    size_t placed = 0;
    for (size_t i = 0; i < graph->node_count; i++)
        graph->nodes[i]->order = 0;
    for (bool is_moving = true; is_moving && placed < graph->node_count;) {
        is_moving = false;
        for (size_t i = 0; i < graph->node_count; i++) {
            if (!is_ready(graph->nodes[i]))
                continue;
            if (!place(exec, graph->nodes[i], roots, root_count))
                return false;
            placed++;
            is_moving = true;
        }
    }
    for (size_t i = first; join && i < exec->node_count; i++)
        add_after(join, exec->nodes[i]);
    return placed == graph->node_count;
}

/* A node goes on in the stream of the first node it depends on, unless another already does. */
static void assign_lanes(sim_exec *exec, sim_context *context)
{
    bool *is_continued = sim_new(exec->node_count * sizeof *is_continued);
    bool is_begun = false;
    exec->lane_count = 1;
    for (size_t i = 0; i < exec->node_count; i++) {
        sim_node *node = exec->nodes[i];
        node->order = i + 1;
        size_t before = node->after_count ? node->after[0]->order - 1 : 0;
        if (node->after_count && !is_continued[before]) {
            is_continued[before] = true;
            node->lane = exec->nodes[before]->lane;
        } else if (!node->after_count && !is_begun) {
            is_begun = true;
        } else {
            node->lane = exec->lane_count++;
        }
    }
    exec->stream_ids = sim_new(exec->lane_count * sizeof *exec->stream_ids);
    for (uint32_t i = 1; i < exec->lane_count && context; i++)
        exec->stream_ids[i] = context->next_stream_id++;
    free(is_continued);
}

static void free_exec(sim_exec *exec)
{
    for (size_t i = 0; i < exec->node_count; i++)
        free_node(exec->nodes[i]);
    sim_died(exec);
    free(exec->nodes);
    free(exec->stream_ids);
    free(exec);
}

static void tell_exec(sim_exec *exec, sim_graph *graph)
{
    sim_context *context = sim_context_here();
    for (size_t i = 0; i < exec->node_count; i++)
        sim_add_resource(&(sim_resource){.kind = SIM_GRAPH_NODE_CLONED,
                                         .context = context,
                                         .graph = graph,
                                         .original_graph = graph,
                                         .node = exec->nodes[i],
                                         .original_node = exec->nodes[i]->original,
                                         .node_type = (uint32_t)exec->nodes[i]->work.type});
    sim_add_resource(&(sim_resource){
        .kind = SIM_GRAPH_EXEC_CREATED, .context = context, .graph = graph, .graph_exec = exec});
}

int sim_graph_instantiate(sim_graph *graph, sim_exec **out)
{
    sim_lock();
    int status = sim_is(graph, SIM_A_GRAPH) ? SIM_OK : SIM_INVALID_VALUE;
    if (!status) {
        sim_exec *exec = sim_new(sizeof *exec);
        exec->id = ++last_exec_id;
        sim_born(exec, SIM_AN_EXEC);
        if (flatten(exec, graph, NULL, 0, NULL)) {
            assign_lanes(exec, sim_context_here());
            tell_exec(exec, graph);
            *out = exec;
        } else {
            free_exec(exec);
            status = SIM_INVALID_VALUE;
        }
    }
    sim_unlock();
    return status;
}

static bool has_same_kinds(const sim_exec *a, const sim_exec *b)
{
    bool are_same = a->node_count == b->node_count;
    for (size_t i = 0; are_same && i < a->node_count; i++)
        are_same = a->nodes[i]->work.type == b->nodes[i]->work.type &&
                   a->nodes[i]->after_count == b->nodes[i]->after_count;
    return are_same;
}

int sim_exec_update(sim_exec *exec, sim_graph *graph)
{
    sim_lock();
    bool are_there = sim_is(exec, SIM_AN_EXEC) && sim_is(graph, SIM_A_GRAPH);
    int status = are_there ? SIM_OK : SIM_INVALID_VALUE;
    if (!status) {
        sim_exec *from = sim_new(sizeof *from);
        sim_born(from, SIM_AN_EXEC);
        if (flatten(from, graph, NULL, 0, NULL) && has_same_kinds(exec, from)) {
            sim_exec before = *exec;
            assign_lanes(from, sim_context_here());
            exec->nodes = from->nodes;
            exec->stream_ids = from->stream_ids;
            exec->lane_count = from->lane_count;
            from->nodes = before.nodes;
            from->stream_ids = before.stream_ids;
        } else {
            status = SIM_UPDATE_FAILED;
        }
        free_exec(from);
    }
    sim_unlock();
    return status;
}

int sim_exec_destroy(sim_exec *exec)
{
    sim_lock();
    bool is_alive = sim_is(exec, SIM_AN_EXEC);
    if (is_alive)
        sim_add_resource(
            &(sim_resource){.kind = SIM_GRAPH_EXEC_DESTROY_STARTING, .graph_exec = exec});
    sim_unlock();
    if (!is_alive)
        return SIM_INVALID_VALUE;
    sim_tell();
    sim_lock();
    free_exec(exec);
    sim_unlock();
    return SIM_OK;
}

/* Launching ----------------------------------------------------------------------------------- */

static void plan_launch(sim_exec *exec, sim_stream *stream)
{
    uint64_t latency_ns = (uint64_t)sim_option_number("latency", 1000);
    uint64_t gap_ns = (uint64_t)sim_option_number("graph.gap", 0);
    uint64_t start_ns = sim_device_time_ns() + latency_ns;
    uint64_t ready_ns = sim_stream_ready(stream);
    start_ns = ready_ns > start_ns ? ready_ns : start_ns;
    start_ns = exec->ready_ns > start_ns ? exec->ready_ns : start_ns;
    sim_record whole = {.kind = SIM_GRAPH,
                        .begin_ns = UINT64_MAX,
                        .end_ns = start_ns,
                        .device = stream->context->device,
                        .context = stream->context->id,
                        .stream = stream->id,
                        .graph = exec->id,
                        .is_async = true};
    exec->stream_ids[0] = stream->id;
    for (size_t i = 0; i < exec->node_count; i++) {
        sim_node *node = exec->nodes[i];
        sim_place where = {.stream = stream,
                           .stream_id = exec->stream_ids[node->lane],
                           .graph = exec->id,
                           .graph_node = node->id,
                           .is_by_device = node->is_by_device,
                           .earliest_ns = start_ns};
        for (size_t k = 0; k < node->after_count; k++) {
            uint64_t end_ns = node->after[k]->end_ns + gap_ns;
            where.earliest_ns = end_ns > where.earliest_ns ? end_ns : where.earliest_ns;
        }
        uint64_t begin_ns;
        node->end_ns = sim_plan(&node->work, &where, &begin_ns);
        whole.begin_ns = begin_ns < whole.begin_ns ? begin_ns : whole.begin_ns;
        whole.end_ns = node->end_ns > whole.end_ns ? node->end_ns : whole.end_ns;
    }
    if (whole.begin_ns > whole.end_ns)
        whole.begin_ns = start_ns;
    sim_add_record(&whole);
    stream->ready_ns = exec->ready_ns = whole.end_ns;
}

int sim_graph_launch(sim_exec *exec, sim_stream *handle)
{
    sim_lock();
    sim_stream *stream = sim_stream_resolve(handle);
    int status =
        stream && sim_is(exec, SIM_AN_EXEC) ? sim_capture_implicit(stream) : SIM_INVALID_HANDLE;
    if (!status && stream->capture) /* capturing a launch needs the graph, which is not kept */
        status = sim_capture_refuse_on(stream);
    if (!status)
        plan_launch(exec, stream);
    sim_unlock();
    for (size_t i = 0; !status && i < exec->node_count; i++)
        sim_do(&exec->nodes[i]->work);
    return status;
}

/* What the sink asks for --------------------------------------------------------------------- */

uint32_t sim_graph_id(void *graph)
{
    sim_lock();
    uint32_t id = sim_is(graph, SIM_A_GRAPH) ? ((sim_graph *)graph)->id : 0;
    sim_unlock();
    return id;
}

uint32_t sim_graph_exec_id(void *graph_exec)
{
    sim_lock();
    uint32_t id = sim_is(graph_exec, SIM_AN_EXEC) ? ((sim_exec *)graph_exec)->id : 0;
    sim_unlock();
    return id;
}

uint64_t sim_graph_node_id(void *node)
{
    sim_lock();
    uint64_t id = sim_is(node, SIM_A_NODE) ? ((sim_node *)node)->id : 0;
    sim_unlock();
    return id;
}
