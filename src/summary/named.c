/* Durations by name: of kernels, and of calls. Also what kernel names reveal. */
#include "summary/named.h"

#include "summary/device.h"
#include "summary/scopes.h"

#include <string.h>

/* ======== By name ======== */

/* The folded form holds durations and histograms by call path; they are added up by name. */

tkt_named *tkt_named_find(tkt_named_list *names, uint32_t name, uint32_t part)
{
    uint64_t *place = tkt_map_put(&names->index, (uint64_t)name << 32 | part);
    if (!place || *place)
        return place ? &names->items[*place - 1] : NULL;
    tkt_histogram *histogram = NULL;
    if (names->count < TKT_NAMED_HISTOGRAMS) {
        histogram = tkt_arena_alloc(&names->histograms, sizeof *histogram);
        if (!histogram)
            return NULL;
        *histogram = (tkt_histogram){{0}};
    }
    tkt_named *named = TKT_ARRAY_ADD(names);
    if (!named)
        return NULL;
    *named = (tkt_named){.name = name, .shape = TKT_NO_SHAPE, .histogram = histogram};
    tkt_stats_init(&named->stats);
    *place = names->count;
    return named;
}

void tkt_named_add(tkt_named_list *names, tkt_named *named, uint64_t duration_ns)
{
    names->total_ns += duration_ns;
    tkt_stats_add(&named->stats, duration_ns);
    if (named->histogram)
        tkt_histogram_add(named->histogram, named->stats.count, duration_ns);
}

void tkt_named_add_piece(tkt_named_list *names, tkt_named *named, uint64_t duration_ns)
{
    names->total_ns += duration_ns;
    tkt_stats_add_piece(&named->stats, duration_ns);
}

void tkt_named_add_stats(tkt_named_list *names, tkt_named *named, const tkt_stats *stats,
                         const tkt_histogram *histogram)
{
    tkt_stats_merge(&named->stats, stats);
    names->total_ns += stats->total_ns;
    if (named->histogram && tkt_stats_are_known(stats, histogram))
        tkt_histogram_add_stats(named->histogram,
                                tkt_stats_whole(&named->stats) - tkt_stats_whole(stats), stats,
                                histogram);
    else
        named->histogram = NULL;
}

/* Adds statistics to the entry of a name. False without memory. */
static bool add_stats_of(tkt_named_list *names, uint32_t name, const tkt_stats *stats,
                         const tkt_histogram *histogram)
{
    tkt_named *named = tkt_named_find(names, name, TKT_NO_SHAPE);
    if (!named)
        return false;
    tkt_named_add_stats(names, named, stats, histogram);
    return true;
}

static bool note_error(const takt_trace *trace, const tkt_call_info *call, tkt_named_list *names)
{
    const tkt_span *span = &trace->tracks.items[call->track].spans.items[call->span];
    uint32_t name = tkt_span_name(trace, span);
    tkt_named *named = tkt_named_find(names, name, TKT_NO_SHAPE);
    if (!named)
        return false;
    if (named->first_error == 0 || span->begin_ns < named->first_error_ns) {
        named->first_error_ns = span->begin_ns;
        named->first_error = call->result;
    }
    return true;
}

static bool add_call(const takt_trace *trace, const tkt_node *node, tkt_named_list *names)
{
    uint32_t name = trace->sites.items[node->site].name;
    if (!add_stats_of(names, name, &node->stats, node->histogram))
        return false;
    tkt_named_find(names, name, TKT_NO_SHAPE)->errors += node->errors;
    return true;
}

takt_status tkt_calls_of(const takt_trace *trace, tkt_named_list *out)
{
    const tkt_fold *fold = tkt_trace_fold(trace);
    bool is_added = fold != NULL;
    for (size_t i = 1; is_added && i < fold->count; i++) {
        const tkt_node *node = &fold->items[i];
        if (node->stats.count > 0 && tkt_site_is_call(trace, node->site))
            is_added = add_call(trace, node, out);
    }
    for (size_t i = 0; is_added && i < trace->calls.count; i++) {
        if (trace->calls.items[i].result != 0)
            is_added = note_error(trace, &trace->calls.items[i], out);
    }
    return is_added ? TAKT_OK : TAKT_NO_MEMORY;
}

void tkt_named_fini(tkt_named_list *names)
{
    TKT_ARRAY_FREE(names);
    tkt_map_fini(&names->index);
    tkt_arena_fini(&names->histograms);
    *names = (tkt_named_list){0};
}

/* ======== Kernels ======== */

/* Kernels by short name, full name or launch. Times by short name come from the folded form, so a
 * summary has them too. Shapes and all other groupings come from the list of activities. */

#define KERNELS (TAKT_TIMING_KERNEL | TAKT_TIMING_BUILTIN)

typedef struct grouping {
    const takt_trace *trace;
    tkt_named_list *names;
    tkt_kernel_key key;
    uint32_t *launches; /* by shape: the first shape that differs only in the graph */
    uint32_t *noted;    /* by shape: the kernel name it was last noted for, + 1 */
} grouping;

/* ---- Differences between launches ------------------------------------------------------------ */

static uint32_t differences_of_names(const takt_trace *trace, uint32_t a, uint32_t b)
{
    if (a == b)
        return 0;
    bool is_tensor = tkt_uses_tensor_cores(tkt_trace_text(trace, a));
    return TKT_VARIES_NAME |
           (is_tensor != tkt_uses_tensor_cores(tkt_trace_text(trace, b)) ? TKT_VARIES_TENSOR : 0);
}

static uint32_t differences(const takt_trace *trace, const tkt_shape *a, const tkt_shape *b)
{
    return (memcmp(a->grid, b->grid, sizeof a->grid) ? TKT_VARIES_GRID : 0) |
           (memcmp(a->block, b->block, sizeof a->block) ? TKT_VARIES_BLOCK : 0) |
           (memcmp(a->cluster, b->cluster, sizeof a->cluster) ? TKT_VARIES_CLUSTER : 0) |
           (a->registers != b->registers ? TKT_VARIES_REGISTERS : 0) |
           (a->static_shared_bytes != b->static_shared_bytes ? TKT_VARIES_STATIC : 0) |
           (a->dynamic_shared_bytes != b->dynamic_shared_bytes ? TKT_VARIES_DYNAMIC : 0) |
           (a->local_bytes != b->local_bytes ? TKT_VARIES_LOCAL : 0) |
           (a->occupancy != b->occupancy || a->limiter != b->limiter ? TKT_VARIES_OCCUPANCY : 0) |
           differences_of_names(trace, a->name, b->name);
}

static void note_shape(const takt_trace *trace, tkt_named *named, uint32_t shape)
{
    if (shape == named->shape)
        return;
    if (named->shape == TKT_NO_SHAPE)
        named->shape = shape;
    else
        named->varies |=
            differences(trace, &trace->shapes.items[named->shape], &trace->shapes.items[shape]);
}

/* Returns the shape without its graph. Each node of a graph has its own shape, even if the launches
 * are equal. */
static tkt_shape launch_of(const takt_trace *trace, uint32_t shape)
{
    tkt_shape launch = trace->shapes.items[shape];
    launch.graph = 0;
    launch.graph_node = 0;
    return launch;
}

static bool find_launch(grouping *g, tkt_map *seen, uint32_t shape)
{
    tkt_shape launch = launch_of(g->trace, shape);
    uint64_t *first = tkt_map_put(seen, tkt_hash_bytes(&launch, sizeof launch));
    if (!first)
        return false;
    if (*first == 0)
        *first = shape + UINT64_C(1);
    tkt_shape like = launch_of(g->trace, (uint32_t)(*first - 1));
    bool is_alike = memcmp(&like, &launch, sizeof launch) == 0; /* false: the hashes collide */
    g->launches[shape] = is_alike ? (uint32_t)(*first - 1) : shape;
    return true;
}

static takt_status find_launches(grouping *g)
{
    tkt_map seen = {0};
    size_t count = g->trace->shapes.count;
    g->launches = tkt_alloc((count + 1) * sizeof *g->launches);
    bool is_found = g->launches != NULL;
    for (uint32_t i = 0; is_found && i < count; i++)
        is_found = find_launch(g, &seen, i);
    tkt_map_fini(&seen);
    return is_found ? TAKT_OK : TAKT_NO_MEMORY;
}

/* ---- Grouping -------------------------------------------------------------------------------- */

static uint32_t part_of(const grouping *g, uint32_t shape)
{
    if (shape == TKT_NO_SHAPE || g->key == TKT_BY_NAME)
        return TKT_NO_SHAPE;
    return g->key == TKT_BY_LAUNCH ? g->launches[shape] : g->trace->shapes.items[shape].name;
}

static bool add_activity(grouping *g, const tkt_activity *activity)
{
    uint32_t shape = activity->shape;
    bool is_noted = shape != TKT_NO_SHAPE && g->noted[shape] == activity->name + 1;
    if (is_noted && g->key == TKT_BY_NAME)
        return true;
    tkt_named *named = tkt_named_find(g->names, activity->name, part_of(g, shape));
    if (!named)
        return false;
    if (!is_noted && shape != TKT_NO_SHAPE) {
        note_shape(g->trace, named, shape);
        g->noted[shape] = activity->name + 1;
    }
    if (g->key == TKT_BY_NAME)
        return true;
    tkt_named_add(g->names, named, activity->end_ns - activity->begin_ns);
    return true;
}

static takt_status add_all(grouping *g)
{
    const takt_trace *trace = g->trace;
    bool is_added = true;
    for (size_t i = 0; g->key == TKT_BY_NAME && is_added && i < trace->node_activities.count; i++) {
        const tkt_node_activity *sum = &trace->node_activities.items[i];
        if (sum->filter & KERNELS)
            is_added = add_stats_of(g->names, sum->name, &sum->stats, sum->histogram);
    }
    size_t count = tkt_device_activity_count(trace);
    for (size_t i = 0; is_added && i < count; i++) {
        if (trace->activities.items[i].filter & KERNELS)
            is_added = add_activity(g, &trace->activities.items[i]);
    }
    return is_added ? TAKT_OK : TAKT_NO_MEMORY;
}

takt_status tkt_kernels_of(const takt_trace *trace, tkt_kernel_key key, tkt_named_list *out)
{
    grouping g = {.trace = trace, .names = out, .key = key};
    if (key != TKT_BY_NAME && !trace->facts.has_spans)
        return TAKT_NO_SPANS;
    takt_status status = tkt_trace_fold(trace) ? TAKT_OK : TAKT_NO_MEMORY;
    g.noted = tkt_alloc_zeroed((trace->shapes.count + 1) * sizeof *g.noted);
    if (!g.noted)
        status = TAKT_NO_MEMORY;
    if (status == TAKT_OK && key == TKT_BY_LAUNCH)
        status = find_launches(&g);
    if (status == TAKT_OK)
        status = add_all(&g);
    tkt_free(g.noted);
    tkt_free(g.launches);
    return status;
}

takt_status tkt_top_kernel(const takt_trace *trace, uint32_t device, uint32_t *name,
                           uint64_t *total_ns)
{
    uint64_t *sums = tkt_alloc_zeroed(trace->strings.count * sizeof *sums);
    *name = 0;
    *total_ns = 0;
    for (size_t i = 0; sums && i < trace->node_activities.count; i++) {
        const tkt_node_activity *sum = &trace->node_activities.items[i];
        if (sum->device != device || !(sum->filter & KERNELS))
            continue;
        sums[sum->name] += sum->stats.total_ns;
        if (sums[sum->name] <= *total_ns)
            continue;
        *name = sum->name;
        *total_ns = sums[sum->name];
    }
    tkt_free(sums);
    return sums ? TAKT_OK : TAKT_NO_MEMORY;
}

/* ======== Names of kernels ======== */

/* Libraries name kernels after their function, and Nsight Compute selects kernels by name. Names
 * come from any compiler or library; a name that cannot be parsed is left alone. */

/* These are instructions of Volta (884), Turing (1688, 8816), Ampere and Ada (16816, 16832) and
 * Hopper (gmma) as named in cuBLAS, cuDNN and CUTLASS. xprof looks only for 884, 1688, hmma and
 * xmma. But Warp, Triton and others put hashes into names, which may contain the bare digits. */
bool tkt_uses_tensor_cores(const char *name)
{
    static const char *const signs[] = {
        "h884",  "s884",   "d884gemm", "h1688", "s1688", "h16816", "s16816",
        "i8816", "i16832", "hmma",     "xmma",  "wmma",  "gmma",   "tensorop",
    };
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        if (strstr(name, signs[i]))
            return true;
    }
    return false;
}
