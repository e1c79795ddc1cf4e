/* Each node of the call tree has an owner: the operation to which its time and its launches belong.
 * The owner is the innermost node around it that declares work, or is an activity of the host.
 * Inside of declared work only copies and sets are operations of their own, as on devices. Parents
 * have smaller numbers, so one pass finds all owners. */
#include "summary/ops.h"

#include "base/own.h"
#include "summary/device.h"
#include "summary/scopes.h"

#include <math.h>

#define COPIES (TAKT_TIMING_MEMCPY | TAKT_TIMING_MEMSET)

typedef struct adding {
    const takt_trace *trace;
    const tkt_fold *fold;
    tkt_ops *ops;
    uint32_t *owner;   /* by node: number of the owning node; 0: none */
    uint64_t *self_ns; /* by owner: self time of the nodes it owns */
    bool *launches;    /* by owner: true if it launches kernels or graphs */
} adding;

/* ---- Owners ---------------------------------------------------------------------------------- */

static bool has_work(const tkt_node *node)
{
    return node->flops > 0 || node->bytes > 0;
}

/* True if the node is an operation within `above`, the owner of its parent. */
static bool is_operation(const adding *a, const tkt_node *node, uint32_t above)
{
    const tkt_trace_site *site = &a->trace->sites.items[node->site];
    bool is_activity = site->kind == TAKT_SITE_ACTIVITY;
    return has_work(node) || (is_activity && ((site->filter & COPIES) || above == 0 ||
                                              !has_work(&a->fold->items[above])));
}

/* False for a call outside of scopes, also if nested in another call: no scope gets its time. */
static bool is_in_scope(const adding *a, uint32_t node)
{
    while (node != 0 && tkt_site_is_call(a->trace, a->fold->items[node].site))
        node = a->fold->items[node].parent;
    return node != 0;
}

static void find_owners(adding *a)
{
    for (uint32_t i = 1; i < a->fold->count; i++) {
        const tkt_node *node = &a->fold->items[i];
        uint32_t above = a->owner[node->parent];
        a->owner[i] = is_operation(a, node, above) ? i : above;
        a->self_ns[a->owner[i]] += node->stats.self_ns;
        if (is_in_scope(a, i))
            a->ops->host_ns += node->stats.self_ns;
    }
}

/* ---- Operations ------------------------------------------------------------------------------ */

static tkt_op *find_op(tkt_ops *ops, uint32_t string, const char *name, uint32_t type,
                       bool on_device)
{
    uint64_t key = (uint64_t)string << 32 | type << 1 | on_device;
    uint64_t *place = tkt_map_put(&ops->index, key);
    if (!place || *place)
        return place ? &ops->items[*place - 1] : NULL;
    tkt_op *op = TKT_ARRAY_ADD(ops);
    if (!op)
        return NULL;
    *op = (tkt_op){.name = name, .type = type, .on_device = on_device};
    *place = ops->count;
    return op;
}

static tkt_op *find_node(adding *a, const tkt_node *node, bool on_device)
{
    const tkt_trace_site *site = &a->trace->sites.items[node->site];
    uint32_t type = site->kind == TAKT_SITE_ACTIVITY ? site->filter : 0;
    return find_op(a->ops, site->name, tkt_node_name(a->trace, node), type, on_device);
}

/* A rate is compared with one peak. Devices with different peaks get none. */
static void note_peak(tkt_op *op, takt_peak peak)
{
    if (op->has_peak && (peak.flops != op->peak.flops || peak.bandwidth != op->peak.bandwidth))
        peak = (takt_peak){0, 0};
    op->peak = peak;
    op->has_peak = true;
}

static bool add_node_activity(adding *a, const tkt_node_activity *activity)
{
    uint32_t owner = activity->node < a->fold->count ? a->owner[activity->node] : 0;
    bool is_owned = owner != 0 && !(activity->filter & COPIES);
    tkt_op *op = is_owned
                     ? find_node(a, &a->fold->items[owner], true)
                     : find_op(a->ops, activity->name, tkt_trace_text(a->trace, activity->name),
                               activity->filter, true);
    if (!op)
        return false;
    if (is_owned)
        a->launches[owner] = true;
    else
        op->count += activity->stats.count;
    op->self_ns += activity->stats.total_ns;
    a->ops->device_ns += activity->stats.total_ns;
    note_peak(op, tkt_peak_of(a->trace, activity->device));
    return true;
}

/* Adds a scope's own work and time. The time of its launches has been added before. */
static bool add_node(adding *a, uint32_t number)
{
    const tkt_node *node = &a->fold->items[number];
    bool on_device = a->launches[number];
    tkt_op *op = find_node(a, node, on_device);
    if (!op)
        return false;
    op->count += node->stats.count;
    op->flops += node->flops;
    op->bytes += node->bytes;
    a->ops->flops += node->flops;
    a->ops->device_flops += on_device ? node->flops : 0;
    if (!on_device) {
        op->self_ns += a->self_ns[number];
        note_peak(op, tkt_peak_of(a->trace, 0));
    }
    return true;
}

/* True for copies of devices. Copies of the host have only the size that they declare. */
static bool is_copy(const tkt_op *op)
{
    return op->on_device && (op->type & COPIES) != 0;
}

static bool add_size(adding *a, const tkt_activity *activity)
{
    tkt_op *op = find_op(a->ops, activity->name, tkt_trace_text(a->trace, activity->name),
                         activity->filter, true);
    if (!op)
        return false;
    const tkt_shape *shape = &a->trace->shapes.items[activity->shape];
    bool is_within = activity->filter == TAKT_TIMING_MEMSET || shape->copy_kind == TAKT_COPY_DTOD;
    double times = activity->filter == TAKT_TIMING_MEMSET ? 1 : 2;
    op->sized++;
    op->bytes += (double)shape->bytes;
    op->memory_bytes += is_within ? times * (double)shape->bytes : NAN;
    return true;
}

static bool add_sizes(adding *a)
{
    bool is_added = true;
    size_t count = tkt_device_activity_count(a->trace);
    for (size_t i = 0; is_added && i < count; i++) {
        const tkt_activity *activity = &a->trace->activities.items[i];
        if ((activity->filter & COPIES) && activity->shape != TKT_NO_SHAPE)
            is_added = add_size(a, activity);
    }
    for (size_t i = 0; i < a->ops->count; i++) {
        tkt_op *op = &a->ops->items[i];
        if (!is_copy(op))
            op->memory_bytes = op->bytes;
        else if (op->sized != op->count)
            op->bytes = op->memory_bytes = NAN;
    }
    return is_added;
}

static bool is_used(const takt_trace *trace, uint32_t device)
{
    for (size_t i = 0; i < trace->node_activities.count; i++) {
        if (trace->node_activities.items[i].device == device)
            return true;
    }
    return false;
}

static double peak_flops_of_devices(const takt_trace *trace)
{
    double sum = 0;
    for (size_t i = 0; i < trace->devices.count; i++) {
        uint32_t device = trace->devices.items[i].label;
        double flops = is_used(trace, device) ? tkt_peak_of(trace, device).flops : NAN;
        sum += isnan(flops) ? 0 : flops > 0 ? flops : NAN;
    }
    return sum > 0 ? sum : 0;
}

static bool add_all(adding *a)
{
    const takt_trace *trace = a->trace;
    bool is_added = true;
    find_owners(a);
    a->ops->device_peak_flops = peak_flops_of_devices(trace);
    for (size_t i = 0; is_added && i < trace->node_activities.count; i++)
        is_added = add_node_activity(a, &trace->node_activities.items[i]);
    for (uint32_t i = 1; is_added && i < a->fold->count; i++)
        is_added = a->owner[i] != i || add_node(a, i);
    return is_added && add_sizes(a);
}

takt_status tkt_ops_of(const takt_trace *trace, tkt_ops *out)
{
    adding a = {.trace = trace, .fold = tkt_trace_fold(trace), .ops = out};
    size_t count = a.fold ? a.fold->count : 0;
    a.owner = tkt_alloc_zeroed((count + 1) * sizeof *a.owner);
    a.self_ns = tkt_alloc_zeroed((count + 1) * sizeof *a.self_ns);
    a.launches = tkt_alloc_zeroed((count + 1) * sizeof *a.launches);
    bool is_added = a.fold && a.owner && a.self_ns && a.launches && add_all(&a);
    tkt_free(a.owner);
    tkt_free(a.self_ns);
    tkt_free(a.launches);
    return is_added ? TAKT_OK : TAKT_NO_MEMORY;
}

void tkt_ops_fini(tkt_ops *ops)
{
    TKT_ARRAY_FREE(ops);
    tkt_map_fini(&ops->index);
    *ops = (tkt_ops){0};
}

/* ---- Rates ----------------------------------------------------------------------------------- */

/* NaN: unknown, or no double is so large. */
static double over(double work, double whole)
{
    double rate = work > 0 && whole > 0 ? work / whole : NAN;
    return tkt_is_finite(rate) ? rate : NAN;
}

tkt_op_rates tkt_op_rates_of(const tkt_op *op)
{
    double seconds = (double)op->self_ns / 1e9;
    tkt_op_rates rates = {.flops = over(op->flops, seconds), .bytes = over(op->bytes, seconds)};
    rates.flops_share = over(rates.flops, op->peak.flops);
    rates.memory_share = over(over(op->memory_bytes, seconds), op->peak.bandwidth);
    /* If there is no work of a kind, its share is 0, even without a known peak. */
    double compute = op->flops > 0 ? rates.flops_share : 0;
    double memory = op->memory_bytes == 0 ? 0 : rates.memory_share;
    if (compute > memory)
        rates.bound = TKT_BOUND_COMPUTE;
    else if (memory >= compute && memory > 0)
        rates.bound = TKT_BOUND_MEMORY;
    return rates;
}
