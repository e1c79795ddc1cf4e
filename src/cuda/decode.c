/* From records to activities. CUPTI writes its records one after another, each with the size that
 * its version gives this kind; a table has the sizes. Fields never move: each is read at its old
 * offset, and is 0 in records that end before it.
 *
 * Launches of a kernel share a shape. The shape is nearly always among the last few of this kernel,
 * which takes one comparison instead of a search. */
#include "cuda/decode.h"

#include "base/error.h"
#include "cuda/cupti.h"
#include "cuda/kernel.h"

#include <takt/trace.h>

#include <stdio.h>
#include <string.h>

/* Stamps further than this from all readings of the clock are invalid. */
#define FAR_NS (UINT64_C(86400) * 1000000000)

const uint8_t *tkt_record_next(const tkt_record_sizes *sizes, const uint8_t *buffer,
                               size_t valid_bytes, size_t *at, uint32_t *kind)
{
    size_t left = valid_bytes - *at;
    if (left < sizeof *kind)
        return NULL;
    const uint8_t *bytes = buffer + *at;
    memcpy(kind, bytes, sizeof *kind);
    size_t size = *kind < TKT_CUPTI_KINDS ? sizes->bytes[*kind] : 0;
    if (size < sizeof *kind || size > left)
        return NULL;
    *at += size;
    return bytes;
}

/* Marks an activity without usable times as lost. It stays in the store: its launch waits for it,
 * and a window counts it. Stamps of 0 usually mean that a forced flush discarded the unfinished
 * activity. In a buffer that CUPTI gave back as complete, a graph's node has them when CUPTI has
 * lost its times. */
static void judge_times(tkt_decoder *d, tkt_stored_activity *activity)
{
    bool is_zero_node = activity->end == 0 && activity->graph && !d->store->is_forced_flush;
    d->has_zero_nodes |= is_zero_node;
    if (activity->end == 0 && !is_zero_node)
        tkt_stored_lose(activity, TAKT_LOSS_INCOMPLETE);
    else if (is_zero_node || !tkt_is_period(d, activity->begin, activity->end))
        tkt_stored_lose(activity, TAKT_LOSS_BAD_TIME);
}

bool tkt_decode_is_new_device(tkt_decoder *d, uint32_t ordinal)
{
    if (tkt_store_device(d->store, ordinal))
        return true;
    if (ordinal < TKT_STORE_DEVICES)
        d->store->losses.store_full++;
    else
        d->store->losses.unknown++;
    return false;
}

/* Programs that keep making graphs keep making shapes. Before shapes fill the store, new ones lose
 * their graph and node numbers, so that they become equal. */
static void limit_shapes(const tkt_store *store, tkt_shape *shape)
{
    if (shape->graph && store->shapes.count * sizeof *shape > store->max_bytes / 4) {
        shape->graph = 0;
        shape->graph_node = 0;
    }
}

/* Returns the slot for a recent shape, chosen by the properties in which launches of one name
 * differ. */
static tkt_recent_shape *recent_of(tkt_stored_name *name, const tkt_shape *shape, uint32_t device)
{
    uint32_t differing = (uint32_t)shape->bytes ^ shape->grid[0] ^ device;
    return &name->recent[(differing * UINT32_C(2654435769)) >> 30];
}

/* Completes a shape, and returns its index; UINT32_MAX without room. */
static uint32_t shape_of(tkt_store *store, tkt_stored_name *name, tkt_shape *shape, uint32_t device)
{
    tkt_recent_shape *recent = recent_of(name, shape, device);
    shape->name = name->name;
    shape->label = name->label;
    shape->filter = name->filter;
    if (recent->index != UINT32_MAX && recent->device == device &&
        memcmp(&recent->shape, shape, sizeof *shape) == 0)
        return recent->index;
    recent->shape = *shape;
    recent->device = device;
    limit_shapes(store, shape);
    if (shape->block[0])
        tkt_occupancy_fill(shape, &store->devices.items[device]);
    return recent->index = tkt_store_shape(store, shape);
}

/* CUPTI hands over full buffers in any order, so later launches may come first. */
static void note_first(tkt_device *device, uint32_t correlation)
{
    if (correlation &&
        (!device->first_correlation || (int32_t)(correlation - device->first_correlation) < 0))
        device->first_correlation = correlation;
}

/* Adds an activity that is complete except for its shape. */
static void add_activity(tkt_decoder *d, tkt_stored_name *name, tkt_shape *shape,
                         tkt_stored_activity *activity)
{
    if (!name) {
        d->store->losses.store_full++;
        return;
    }
    judge_times(d, activity);
    if (name->filter & d->store->left_out)
        return;
    if (__atomic_load_n(&d->store->is_summed, __ATOMIC_RELAXED))
        memset(shape, 0, sizeof *shape);
    activity->shape = shape_of(d->store, name, shape, activity->device);
    if (activity->shape == UINT32_MAX)
        return;
    note_first(&d->store->devices.items[activity->device], activity->correlation);
    if (d->store->durations)
        tkt_durations_add(d->store->durations, activity->end - activity->begin);
    tkt_store_add(d->store, activity);
}

static void get_vector(tkt_record at, size_t offset, uint32_t out[3])
{
    for (size_t i = 0; i < 3; i++)
        out[i] = tkt_get32(at, offset + 4 * i);
}

static void decode_kernel(tkt_decoder *d, tkt_record at)
{
    tkt_stored_activity activity = {
        .begin = tkt_get64(at, TKT_AT_KERNEL_START),
        .end = tkt_get64(at, TKT_AT_KERNEL_END),
        .correlation = tkt_get32(at, TKT_AT_KERNEL_CORRELATION),
        .device = tkt_get32(at, TKT_AT_KERNEL_DEVICE),
        .context = tkt_get32(at, TKT_AT_KERNEL_CONTEXT),
        .stream = tkt_get32(at, TKT_AT_KERNEL_STREAM),
        .graph = tkt_get32(at, TKT_AT_KERNEL_GRAPH),
    };
    if (!tkt_decode_is_device(d, activity.device))
        return;
    tkt_shape shape = {
        .graph_node = tkt_get64(at, TKT_AT_KERNEL_GRAPH_NODE),
        .graph = activity.graph,
        .static_shared_bytes = tkt_get32(at, TKT_AT_KERNEL_STATIC_SHARED),
        .dynamic_shared_bytes = tkt_get32(at, TKT_AT_KERNEL_DYNAMIC_SHARED),
        .local_bytes = tkt_get32(at, TKT_AT_KERNEL_LOCAL),
        .registers = tkt_get16(at, TKT_AT_KERNEL_REGISTERS),
    };
    get_vector(at, TKT_AT_KERNEL_GRID_X, shape.grid);
    get_vector(at, TKT_AT_KERNEL_BLOCK_X, shape.block);
    get_vector(at, TKT_AT_KERNEL_CLUSTER_X, shape.cluster);
    add_activity(d, tkt_decode_kernel_name(d->store, tkt_get_text(at, TKT_AT_KERNEL_NAME)), &shape,
                 &activity);
}

/* The records of both kinds of copies begin alike. */
static void decode_copy(tkt_decoder *d, tkt_record at, bool is_peer)
{
    tkt_stored_activity activity = {
        .begin = tkt_get64(at, TKT_AT_MEMCPY_START),
        .end = tkt_get64(at, TKT_AT_MEMCPY_END),
        .correlation =
            tkt_get32(at, is_peer ? TKT_AT_MEMCPY2_CORRELATION : TKT_AT_MEMCPY_CORRELATION),
        .device = tkt_get32(at, TKT_AT_MEMCPY_DEVICE),
        .context = tkt_get32(at, TKT_AT_MEMCPY_CONTEXT),
        .stream = tkt_get32(at, TKT_AT_MEMCPY_STREAM),
        .graph = tkt_get32(at, is_peer ? TKT_AT_MEMCPY2_GRAPH : TKT_AT_MEMCPY_GRAPH),
    };
    if (!tkt_decode_is_device(d, activity.device))
        return;
    tkt_shape shape = {
        .bytes = tkt_get64(at, TKT_AT_MEMCPY_BYTES),
        .graph_node = tkt_get64(at, is_peer ? TKT_AT_MEMCPY2_GRAPH_NODE : TKT_AT_MEMCPY_GRAPH_NODE),
        .graph = activity.graph,
        .copy_kind = at[TKT_AT_MEMCPY_COPY_KIND],
        .source = at[TKT_AT_MEMCPY_SOURCE],
        .target = at[TKT_AT_MEMCPY_TARGET],
    };
    add_activity(d, tkt_decode_copy_name(d->store, shape.copy_kind), &shape, &activity);
}

static void decode_set(tkt_decoder *d, tkt_record at)
{
    tkt_stored_activity activity = {
        .begin = tkt_get64(at, TKT_AT_MEMSET_START),
        .end = tkt_get64(at, TKT_AT_MEMSET_END),
        .correlation = tkt_get32(at, TKT_AT_MEMSET_CORRELATION),
        .device = tkt_get32(at, TKT_AT_MEMSET_DEVICE),
        .context = tkt_get32(at, TKT_AT_MEMSET_CONTEXT),
        .stream = tkt_get32(at, TKT_AT_MEMSET_STREAM),
        .graph = tkt_get32(at, TKT_AT_MEMSET_GRAPH),
    };
    if (!tkt_decode_is_device(d, activity.device))
        return;
    tkt_shape shape = {
        .bytes = tkt_get64(at, TKT_AT_MEMSET_BYTES),
        .graph_node = tkt_get64(at, TKT_AT_MEMSET_GRAPH_NODE),
        .graph = activity.graph,
        .target = (uint8_t)tkt_get16(at, TKT_AT_MEMSET_TARGET),
    };
    add_activity(d, tkt_decode_set_name(d->store), &shape, &activity);
}

static void decode_graph(tkt_decoder *d, tkt_record at)
{
    char label[TKT_GRAPH_LABEL_BYTES];
    tkt_stored_activity activity = {
        .begin = tkt_get64(at, TKT_AT_GRAPH_START),
        .end = tkt_get64(at, TKT_AT_GRAPH_END),
        .correlation = tkt_get32(at, TKT_AT_GRAPH_CORRELATION),
        .device = tkt_get32(at, TKT_AT_GRAPH_DEVICE),
        .context = tkt_get32(at, TKT_AT_GRAPH_CONTEXT),
        .stream = tkt_get32(at, TKT_AT_GRAPH_STREAM),
    };
    if (activity.device == INT32_MAX) { /* begins on the host */
        activity.device = tkt_get32(at, TKT_AT_GRAPH_END_DEVICE);
        activity.context = tkt_get32(at, TKT_AT_GRAPH_END_CONTEXT);
    }
    if (!tkt_decode_is_device(d, activity.device) || (d->store->left_out & TAKT_TIMING_GRAPH))
        return;
    tkt_shape shape = {.graph = tkt_get32(at, TKT_AT_GRAPH_GRAPH), .filter = TAKT_TIMING_GRAPH};
    shape.label = tkt_store_string(d->store, tkt_graph_label(label, shape.graph, ""));
    if (shape.label != TKT_STRTAB_FULL)
        activity.shape = tkt_store_shape(d->store, &shape);
    judge_times(d, &activity);
    if (shape.label == TKT_STRTAB_FULL)
        d->store->losses.store_full++;
    else if (activity.shape != UINT32_MAX)
        tkt_store_add(d->store, &activity);
}

/* Returns the size of the oldest layout that Takt reads, that of CUPTI 11. */
static size_t least_bytes(uint32_t kind)
{
    switch (kind) {
    case TKT_KIND_KERNEL:
    case TKT_KIND_CONCURRENT_KERNEL:
        return TKT_AT_KERNEL_SHARED_EXECUTED + 4;
    case TKT_KIND_MEMCPY:
        return TKT_AT_MEMCPY_CORRELATION + 4;
    case TKT_KIND_MEMCPY2:
        return TKT_AT_MEMCPY2_CORRELATION + 4;
    case TKT_KIND_MEMSET:
        return TKT_AT_MEMSET_TARGET + 2;
    case TKT_KIND_GRAPH_TRACE:
        return TKT_AT_GRAPH_STREAM + 4;
    case TKT_KIND_MEMORY2:
        return TKT_AT_MEMORY_STREAM + 4;
    case TKT_KIND_MEMORY_POOL:
        return TKT_AT_POOL_TIME + 8;
    case TKT_KIND_SYNCHRONIZATION:
        return TKT_AT_SYNC_STREAM + 4;
    case TKT_KIND_CUDA_EVENT:
        return TKT_AT_EVENT_EVENT + 4;
    case TKT_KIND_OVERHEAD:
        return TKT_AT_OVERHEAD_END + 8;
    case TKT_KIND_JIT:
        return TKT_AT_JIT_END + 8;
    case TKT_KIND_DEVICE:
        return TKT_AT_DEVICE_IS_VISIBLE + 1;
    default:
        return 0;
    }
}

/* Between windows only the totals of memory are needed; some releases record the rest all the
 * same. */
static bool is_wanted(const tkt_store *store, uint32_t kind)
{
    return !store->has_no_window || kind == TKT_KIND_MEMORY2 || kind == TKT_KIND_MEMORY_POOL ||
           kind == TKT_KIND_DEVICE;
}

static void decode(tkt_decoder *d, uint32_t kind, tkt_record at)
{
    if (!is_wanted(d->store, kind))
        return;
    switch (kind) {
    case TKT_KIND_KERNEL:
    case TKT_KIND_CONCURRENT_KERNEL:
        decode_kernel(d, at);
        break;
    case TKT_KIND_MEMCPY:
        decode_copy(d, at, false);
        break;
    case TKT_KIND_MEMCPY2:
        decode_copy(d, at, true);
        break;
    case TKT_KIND_MEMSET:
        decode_set(d, at);
        break;
    case TKT_KIND_GRAPH_TRACE:
        decode_graph(d, at);
        break;
    case TKT_KIND_MEMORY2:
        tkt_decode_memory(d, at);
        break;
    case TKT_KIND_MEMORY_POOL:
        tkt_decode_pool(d, at);
        break;
    case TKT_KIND_SYNCHRONIZATION:
        tkt_decode_wait(d, at);
        break;
    case TKT_KIND_CUDA_EVENT:
        tkt_decode_event(d, at);
        break;
    case TKT_KIND_OVERHEAD:
        tkt_decode_overhead(d, at);
        break;
    case TKT_KIND_JIT:
        tkt_decode_jit(d, at);
        break;
    case TKT_KIND_DEVICE:
        tkt_decode_device(d, at);
        break;
    default:
        break; /* a known kind that Takt does not need */
    }
}

/* Sets the range of plausible times: near the clock's readings, or any time before the first
 * reading. */
static tkt_decoder begin(tkt_store *store)
{
    tkt_decoder d = {.store = store, .earliest = 1, .latest = UINT64_MAX};
    uint64_t first = UINT64_MAX;
    uint64_t last = 0;
    for (size_t i = 0; i < store->clock.pairs.count; i++) {
        uint64_t time = store->clock.pairs.items[i].cupti_ns;
        first = time < first ? time : first;
        last = time > last ? time : last;
    }
    if (last) {
        d.earliest = first > FAR_NS ? first - FAR_NS : 1;
        d.latest = last + FAR_NS;
    }
    return d;
}

static void decode_padded(tkt_decoder *d, uint32_t kind, const uint8_t *bytes, size_t size)
{
    uint8_t whole[TKT_WHOLE_RECORD];
    memcpy(whole, bytes, size);
    memset(whole + size, 0, sizeof whole - size);
    decode(d, kind, whole);
}

static void say_zero_nodes(void)
{
    tkt_log(TAKT_LOG_WARNING,
            "CUPTI gives nodes of graphs without times, as 13.0 does after some 25 million nodes; "
            "they count as \"bad time\": record for a shorter time, set graph: launch, or use a "
            "newer CUPTI");
}

void tkt_decode(tkt_store *store, const tkt_record_sizes *sizes, const void *buffer,
                size_t valid_bytes)
{
    const uint8_t *bytes;
    uint32_t kind;
    size_t at = 0;
    tkt_names_prepare(); /* not under the lock: a thread that loads a library may wait for the
                          * store */
    tkt_mutex_lock(&store->lock);
    tkt_decoder d = begin(store);
    while ((bytes = tkt_record_next(sizes, buffer, valid_bytes, &at, &kind)) != NULL) {
        size_t size = sizes->bytes[kind];
        if (size < least_bytes(kind))
            store->losses.unknown++;
        else if (size < TKT_WHOLE_RECORD)
            decode_padded(&d, kind, bytes, size);
        else
            decode(&d, kind, bytes);
    }
    store->losses.unknown += at < valid_bytes;
    bool is_new = d.has_zero_nodes && !store->has_said_zero_nodes;
    store->has_said_zero_nodes |= is_new;
    tkt_mutex_unlock(&store->lock);
    if (is_new)
        say_zero_nodes();
}
