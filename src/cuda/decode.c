/* From records to activities. CUPTI writes its records one after another, each with the size that
 * its version gives this kind; a table has the sizes. Fields never move: each is read at its old
 * offset, and is 0 in records that end before it.
 *
 * Launches of a kernel share a shape. The shape is nearly always among the last few of this kernel,
 * which takes one comparison instead of a search. The address of its name identifies the kernel.
 * The text is compared too, because a module may be unloaded and another name loaded at its
 * address. */
#include "cuda/cupti.h"

#include "base/alloc.h"
#include "base/error.h"
#include "cuda/kinds.h"
#include "cuda/kernel.h"

#include <takt/trace.h>

#include <stdio.h>
#include <string.h>

/* Stamps further than this from all readings of the clock are invalid. */
#define FAR_NS (UINT64_C(86400) * 1000000000)

/* Keys of names other than kernels': small numbers, which are no addresses. */
enum {
    KEY_MEMCPY = 1, /* plus the copy kind */
    KEY_MEMSET = 32,
    KEY_UNNAMED /* a kernel without a name */
};

/* Key of a kernel's name by its string id; no address either. */
#define KEY_TEXT (UINT64_C(1) << 63)

typedef struct decoder {
    tkt_store *store;
    uint64_t earliest;
    uint64_t latest;
    bool has_zero_nodes;
} decoder;

/* A record of at least WHOLE bytes; shorter ones are padded with zeroes. */
typedef const uint8_t *record;

/* No field of any kind lies beyond this. */
#define WHOLE 192
_Static_assert(TKT_AT_KERNEL_CLUSTER_Z + 4 <= WHOLE, "kernels have fields behind");
_Static_assert(TKT_AT_DEVICE_IS_VISIBLE + 1 <= WHOLE, "devices have fields behind");

static uint64_t get64(record at, size_t offset)
{
    uint64_t value; /* both of Takt's architectures are little-endian, as CUDA is */
    memcpy(&value, at + offset, sizeof value);
    return value;
}

static uint32_t get32(record at, size_t offset)
{
    uint32_t value;
    memcpy(&value, at + offset, sizeof value);
    return value;
}

static uint16_t get16(record at, size_t offset)
{
    uint16_t value;
    memcpy(&value, at + offset, sizeof value);
    return value;
}

static const char *get_text(record at, size_t offset)
{
    const char *text;
    memcpy(&text, at + offset, sizeof text);
    return text;
}

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

static bool is_time(decoder *d, uint64_t time)
{
    bool is_near = time >= d->earliest && time <= d->latest;
    d->store->losses.bad_time += !is_near;
    return is_near;
}

/* True for plausible times. */
static bool is_period(const decoder *d, uint64_t begin, uint64_t end)
{
    return end >= begin && begin >= d->earliest && end <= d->latest;
}

/* The same for records other than activities; counts implausible times. */
static bool is_good_period(decoder *d, uint64_t begin, uint64_t end)
{
    bool is_good = is_period(d, begin, end);
    d->store->losses.bad_time += !is_good;
    return is_good;
}

/* Marks an activity without usable times as lost. It stays in the store: its launch waits for it,
 * and a window counts it. Stamps of 0 usually mean that a forced flush discarded the unfinished
 * activity. In a buffer that CUPTI gave back as complete, a graph's node has them when CUPTI has
 * lost its times. */
static void judge_times(decoder *d, tkt_stored_activity *activity)
{
    bool is_zero_node = activity->end == 0 && activity->graph && !d->store->is_forced_flush;
    d->has_zero_nodes |= is_zero_node;
    if (activity->end == 0 && !is_zero_node)
        tkt_stored_lose(activity, TAKT_LOSS_INCOMPLETE);
    else if (is_zero_node || !is_period(d, activity->begin, activity->end))
        tkt_stored_lose(activity, TAKT_LOSS_BAD_TIME);
}

static bool is_device(decoder *d, uint32_t ordinal)
{
    if (ordinal < d->store->devices.count || tkt_store_device(d->store, ordinal))
        return true;
    if (ordinal < TKT_STORE_DEVICES)
        d->store->losses.store_full++;
    else
        d->store->losses.unknown++;
    return false;
}

/* ---- Names ----------------------------------------------------------------------------------- */

/* Adds a name with this label; NULL without room. */
static tkt_stored_name *add_name(tkt_store *store, const char *name, const char *label,
                                 uint32_t filter)
{
    uint32_t name_id = tkt_store_string(store, name);
    uint32_t label_id = tkt_store_string(store, label);
    if (name_id == TKT_STRTAB_FULL || label_id == TKT_STRTAB_FULL)
        return NULL;
    tkt_stored_name *added = tkt_store_add_name(store);
    if (!added)
        return NULL;
    added->text = NULL;
    added->name = name_id;
    added->label = label_id;
    added->filter = filter;
    return added;
}

static tkt_stored_name *name_at(tkt_store *store, uint64_t key)
{
    const uint64_t *index = tkt_map_get(&store->name_index, key);
    return index ? &store->names.items[*index - 1] : NULL;
}

/* Files a name under a key. `name` may be NULL. */
static tkt_stored_name *enter(tkt_store *store, uint64_t key, tkt_stored_name *name)
{
    uint64_t *index = name ? tkt_map_put(&store->name_index, key) : NULL;
    if (!index)
        return NULL;
    *index = (uint64_t)(name - store->names.items) + 1;
    return name;
}

/* Adds a kernel with this name, whose string id is `text_id`. */
static tkt_stored_name *add_kernel(tkt_store *store, const char *text, uint32_t text_id)
{
    char label[512];
    char *demangled = tkt_name_demangle(text);
    if (!demangled)
        return NULL;
    uint32_t filter = tkt_name_classify(demangled, label, sizeof label);
    tkt_stored_name *name = add_name(store, demangled, label, filter);
    if (name)
        name->text = tkt_strtab_text(&store->strings, text_id);
    tkt_free(demangled);
    return name;
}

/* Equal names from different modules are one name: programs may load and unload modules for
 * ever. */
static tkt_stored_name *find_kernel(tkt_store *store, const char *text)
{
    uint32_t text_id = tkt_store_string(store, text);
    if (text_id == TKT_STRTAB_FULL)
        return NULL;
    tkt_stored_name *name = name_at(store, KEY_TEXT | text_id);
    return name ? name : enter(store, KEY_TEXT | text_id, add_kernel(store, text, text_id));
}

static tkt_stored_name *other_name(tkt_store *store, uint64_t key, const char *text,
                                   uint32_t filter)
{
    char label[32];
    tkt_stored_name *name = name_at(store, key);
    if (name)
        return name;
    tkt_activity_label(label, sizeof label, filter, text);
    return enter(store, key, add_name(store, "", label, filter));
}

static tkt_stored_name *kernel_name(tkt_store *store, const char *text)
{
    uint64_t key = (uintptr_t)text;
    if (!text)
        return other_name(store, KEY_UNNAMED, "(unnamed)", TAKT_TIMING_KERNEL);
    tkt_stored_name *name = name_at(store, key);
    if (name && strcmp(name->text, text) == 0)
        return name;
    return enter(store, key, find_kernel(store, text));
}

static tkt_stored_name *copy_name(tkt_store *store, uint8_t kind)
{
    const char *way = tkt_copy_name(kind);
    return other_name(store, KEY_MEMCPY + (*way ? kind : 0), way, TAKT_TIMING_MEMCPY);
}

static tkt_stored_name *set_name(tkt_store *store)
{
    return other_name(store, KEY_MEMSET, "", TAKT_TIMING_MEMSET);
}

/* ---- Activities ------------------------------------------------------------------------------ */

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

/* Adds an activity that is complete except for its shape. */
static void add_activity(decoder *d, tkt_stored_name *name, tkt_shape *shape,
                         tkt_stored_activity *activity)
{
    if (!name) {
        d->store->losses.store_full++;
        return;
    }
    judge_times(d, activity);
    if (name->filter & d->store->left_out)
        return;
    activity->shape = shape_of(d->store, name, shape, activity->device);
    if (activity->shape != UINT32_MAX)
        tkt_store_add(d->store, activity);
}

static void get_vector(record at, size_t offset, uint32_t out[3])
{
    for (size_t i = 0; i < 3; i++)
        out[i] = get32(at, offset + 4 * i);
}

static void decode_kernel(decoder *d, record at)
{
    tkt_stored_activity activity = {
        .begin = get64(at, TKT_AT_KERNEL_START),
        .end = get64(at, TKT_AT_KERNEL_END),
        .correlation = get32(at, TKT_AT_KERNEL_CORRELATION),
        .device = get32(at, TKT_AT_KERNEL_DEVICE),
        .context = get32(at, TKT_AT_KERNEL_CONTEXT),
        .stream = get32(at, TKT_AT_KERNEL_STREAM),
        .graph = get32(at, TKT_AT_KERNEL_GRAPH),
    };
    if (!is_device(d, activity.device))
        return;
    tkt_shape shape = {
        .graph_node = get64(at, TKT_AT_KERNEL_GRAPH_NODE),
        .graph = activity.graph,
        .static_shared_bytes = get32(at, TKT_AT_KERNEL_STATIC_SHARED),
        .dynamic_shared_bytes = get32(at, TKT_AT_KERNEL_DYNAMIC_SHARED),
        .local_bytes = get32(at, TKT_AT_KERNEL_LOCAL),
        .registers = get16(at, TKT_AT_KERNEL_REGISTERS),
    };
    get_vector(at, TKT_AT_KERNEL_GRID_X, shape.grid);
    get_vector(at, TKT_AT_KERNEL_BLOCK_X, shape.block);
    get_vector(at, TKT_AT_KERNEL_CLUSTER_X, shape.cluster);
    add_activity(d, kernel_name(d->store, get_text(at, TKT_AT_KERNEL_NAME)), &shape, &activity);
}

/* The records of both kinds of copies begin alike. */
static void decode_copy(decoder *d, record at, bool is_peer)
{
    tkt_stored_activity activity = {
        .begin = get64(at, TKT_AT_MEMCPY_START),
        .end = get64(at, TKT_AT_MEMCPY_END),
        .correlation = get32(at, is_peer ? TKT_AT_MEMCPY2_CORRELATION : TKT_AT_MEMCPY_CORRELATION),
        .device = get32(at, TKT_AT_MEMCPY_DEVICE),
        .context = get32(at, TKT_AT_MEMCPY_CONTEXT),
        .stream = get32(at, TKT_AT_MEMCPY_STREAM),
        .graph = get32(at, is_peer ? TKT_AT_MEMCPY2_GRAPH : TKT_AT_MEMCPY_GRAPH),
    };
    if (!is_device(d, activity.device))
        return;
    tkt_shape shape = {
        .bytes = get64(at, TKT_AT_MEMCPY_BYTES),
        .graph_node = get64(at, is_peer ? TKT_AT_MEMCPY2_GRAPH_NODE : TKT_AT_MEMCPY_GRAPH_NODE),
        .graph = activity.graph,
        .copy_kind = at[TKT_AT_MEMCPY_COPY_KIND],
        .source = at[TKT_AT_MEMCPY_SOURCE],
        .target = at[TKT_AT_MEMCPY_TARGET],
    };
    add_activity(d, copy_name(d->store, shape.copy_kind), &shape, &activity);
}

static void decode_set(decoder *d, record at)
{
    tkt_stored_activity activity = {
        .begin = get64(at, TKT_AT_MEMSET_START),
        .end = get64(at, TKT_AT_MEMSET_END),
        .correlation = get32(at, TKT_AT_MEMSET_CORRELATION),
        .device = get32(at, TKT_AT_MEMSET_DEVICE),
        .context = get32(at, TKT_AT_MEMSET_CONTEXT),
        .stream = get32(at, TKT_AT_MEMSET_STREAM),
        .graph = get32(at, TKT_AT_MEMSET_GRAPH),
    };
    if (!is_device(d, activity.device))
        return;
    tkt_shape shape = {
        .bytes = get64(at, TKT_AT_MEMSET_BYTES),
        .graph_node = get64(at, TKT_AT_MEMSET_GRAPH_NODE),
        .graph = activity.graph,
        .target = (uint8_t)get16(at, TKT_AT_MEMSET_TARGET),
    };
    add_activity(d, set_name(d->store), &shape, &activity);
}

static void decode_graph(decoder *d, record at)
{
    char label[32];
    tkt_stored_activity activity = {
        .begin = get64(at, TKT_AT_GRAPH_START),
        .end = get64(at, TKT_AT_GRAPH_END),
        .correlation = get32(at, TKT_AT_GRAPH_CORRELATION),
        .device = get32(at, TKT_AT_GRAPH_DEVICE),
        .context = get32(at, TKT_AT_GRAPH_CONTEXT),
        .stream = get32(at, TKT_AT_GRAPH_STREAM),
    };
    if (!is_device(d, activity.device) || (d->store->left_out & TAKT_TIMING_GRAPH))
        return;
    tkt_shape shape = {.graph = get32(at, TKT_AT_GRAPH_GRAPH), .filter = TAKT_TIMING_GRAPH};
    snprintf(label, sizeof label, "graph %u", shape.graph);
    shape.label = tkt_store_string(d->store, label);
    if (shape.label != TKT_STRTAB_FULL)
        activity.shape = tkt_store_shape(d->store, &shape);
    judge_times(d, &activity);
    if (shape.label == TKT_STRTAB_FULL)
        d->store->losses.store_full++;
    else if (activity.shape != UINT32_MAX)
        tkt_store_add(d->store, &activity);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* A pool has grown or shrunk by the difference from its last reported size. */
static void note_pool(tkt_store *store, tkt_stored_memory event, uint64_t pool, uint64_t size)
{
    uint64_t *known = tkt_map_put(&store->pools, pool);
    if (!known)
        return;
    event.bytes = (int64_t)(size - *known);
    event.address = pool;
    event.kind = TAKT_MEMORY_DEVICE;
    event.is_pool = 1;
    event.is_from_pool = 0;
    *known = size;
    if (!size)
        tkt_map_remove(&store->pools, pool);
    if (event.bytes)
        tkt_store_add_memory(store, &event);
}

static void decode_memory(decoder *d, record at)
{
    uint32_t operation = get32(at, TKT_AT_MEMORY_OPERATION);
    int64_t bytes = (int64_t)get64(at, TKT_AT_MEMORY_BYTES);
    tkt_stored_memory event = {
        .time = get64(at, TKT_AT_MEMORY_TIME),
        .address = get64(at, TKT_AT_MEMORY_ADDRESS),
        .bytes = operation == TKT_MEMORY_RELEASE ? -bytes : bytes,
        .correlation = get32(at, TKT_AT_MEMORY_CORRELATION),
        .device = get32(at, TKT_AT_MEMORY_DEVICE),
        .kind = get32(at, TKT_AT_MEMORY_MEMORY_KIND),
        .is_from_pool = get32(at, TKT_AT_MEMORY_POOL_TYPE) == TKT_POOL_LOCAL,
    };
    bool is_known = operation == TKT_MEMORY_ALLOCATION || operation == TKT_MEMORY_RELEASE;
    if (!is_known || bytes < 0)
        d->store->losses.unknown++;
    else if (is_time(d, event.time) && is_device(d, event.device) &&
             tkt_store_add_memory(d->store, &event) && event.is_from_pool)
        note_pool(d->store, event, get64(at, TKT_AT_MEMORY_POOL_ADDRESS),
                  get64(at, TKT_AT_MEMORY_POOL_SIZE));
}

static void decode_pool(decoder *d, record at)
{
    tkt_stored_memory event = {
        .time = get64(at, TKT_AT_POOL_TIME),
        .correlation = get32(at, TKT_AT_POOL_CORRELATION),
        .device = get32(at, TKT_AT_POOL_DEVICE),
    };
    bool is_gone = get32(at, TKT_AT_POOL_OPERATION) == TKT_POOL_DESTROYED;
    /* Records of allocations come in other buffers, perhaps before that of the pool's creation,
     * which has a size of 0. */
    if (get32(at, TKT_AT_POOL_OPERATION) == TKT_POOL_CREATED &&
        tkt_map_get(&d->store->pools, get64(at, TKT_AT_POOL_ADDRESS)))
        return;
    if (get32(at, TKT_AT_POOL_TYPE) == TKT_POOL_LOCAL && is_time(d, event.time) &&
        is_device(d, event.device))
        note_pool(d->store, event, get64(at, TKT_AT_POOL_ADDRESS),
                  is_gone ? 0 : get64(at, TKT_AT_POOL_SIZE));
}

/* ---- Other records --------------------------------------------------------------------------- */

static void decode_wait(decoder *d, record at)
{
    tkt_stored_wait wait = {
        .begin = get64(at, TKT_AT_SYNC_START),
        .end = get64(at, TKT_AT_SYNC_END),
        .correlation = get32(at, TKT_AT_SYNC_CORRELATION),
        .context = get32(at, TKT_AT_SYNC_CONTEXT),
        .stream = get32(at, TKT_AT_SYNC_STREAM),
        .kind = get32(at, TKT_AT_SYNC_TYPE),
    };
    if (wait.kind == TAKT_WAIT_EVENT || wait.kind == TAKT_WAIT_STREAM_EVENT) {
        wait.event = get32(at, TKT_AT_SYNC_EVENT);
        wait.sync_id = get64(at, TKT_AT_SYNC_SYNC_ID);
    }
    if (is_good_period(d, wait.begin, wait.end))
        tkt_store_add_wait(d->store, &wait);
}

/* CUPTI before 12.8 gives no sync id: 0. */
static void decode_event(decoder *d, record at)
{
    tkt_store_add_record(d->store, &(tkt_stored_record){
                                       .sync_id = get64(at, TKT_AT_EVENT_SYNC_ID),
                                       .correlation = get32(at, TKT_AT_EVENT_CORRELATION),
                                       .context = get32(at, TKT_AT_EVENT_CONTEXT),
                                       .stream = get32(at, TKT_AT_EVENT_STREAM),
                                       .event = get32(at, TKT_AT_EVENT_EVENT),
                                   });
}

static void decode_overhead(decoder *d, record at)
{
    bool is_thread = get32(at, TKT_AT_OVERHEAD_OBJECT_KIND) == TKT_OBJECT_THREAD;
    tkt_stored_overhead overhead = {
        .begin = get64(at, TKT_AT_OVERHEAD_START),
        .end = get64(at, TKT_AT_OVERHEAD_END),
        .kind = get32(at, TKT_AT_OVERHEAD_OVERHEAD_KIND),
        .thread = is_thread ? get32(at, TKT_AT_OVERHEAD_THREAD) : 0,
    };
    if (is_good_period(d, overhead.begin, overhead.end))
        tkt_store_add_overhead(d->store, &overhead);
}

/* Stored among the overheads: it is time on the host, as the driver's compiler is. */
static void decode_jit(decoder *d, record at)
{
    bool is_nvvm = get32(at, TKT_AT_JIT_ENTRY) == TKT_JIT_NVVM;
    tkt_stored_overhead overhead = {
        .begin = get64(at, TKT_AT_JIT_START),
        .end = get64(at, TKT_AT_JIT_END),
        .kind = TKT_OVERHEAD_JIT | (is_nvvm ? TKT_OVERHEAD_JIT_NVVM : 0) |
                (get32(at, TKT_AT_JIT_OPERATION) & 15),
        .thread = get32(at, TKT_AT_JIT_THREAD),
    };
    if (is_good_period(d, overhead.begin, overhead.end))
        tkt_store_add_overhead(d->store, &overhead);
}

static void fill(uint32_t *field, uint32_t value)
{
    if (!*field)
        *field = value;
}

/* Fills in what the driver has not told, as for recordings. CUPTI hands over the name's memory to
 * the reader of the record; Takt does not free it: there is one for each device and process, and in
 * recordings it points elsewhere. */
static void decode_device(decoder *d, record at)
{
    bool is_hidden = !at[TKT_AT_DEVICE_IS_VISIBLE];
    uint32_t ordinal = get32(at, TKT_AT_DEVICE_ID);
    if (is_hidden || !is_device(d, ordinal))
        return;
    tkt_device *device = &d->store->devices.items[ordinal];
    const char *name = get_text(at, TKT_AT_DEVICE_NAME);
    uint32_t name_id = name ? tkt_store_string(d->store, name) : TKT_STRTAB_FULL;
    uint32_t warp_size = get32(at, TKT_AT_DEVICE_WARP_SIZE);
    fill(&device->name, name_id == TKT_STRTAB_FULL ? 0 : name_id);
    fill(&device->major, get32(at, TKT_AT_DEVICE_MAJOR));
    fill(&device->minor, get32(at, TKT_AT_DEVICE_MINOR));
    fill(&device->multiprocessors, get32(at, TKT_AT_DEVICE_MULTIPROCESSORS));
    fill(&device->warp_size, warp_size);
    fill(&device->max_threads_per_block, get32(at, TKT_AT_DEVICE_BLOCK_THREADS));
    fill(&device->max_threads_per_multiprocessor, get32(at, TKT_AT_DEVICE_MAX_WARPS) * warp_size);
    fill(&device->max_blocks_per_multiprocessor, get32(at, TKT_AT_DEVICE_MAX_BLOCKS));
    fill(&device->registers_per_block, get32(at, TKT_AT_DEVICE_BLOCK_REGISTERS));
    fill(&device->registers_per_multiprocessor, get32(at, TKT_AT_DEVICE_REGISTERS));
    fill(&device->shared_per_block, get32(at, TKT_AT_DEVICE_BLOCK_SHARED));
    fill(&device->shared_per_multiprocessor, get32(at, TKT_AT_DEVICE_SHARED));
    /* CUDA C++ Programming Guide: from capability 8.0 on, the system takes 1 KiB of each block. */
    fill(&device->reserved_shared_per_block, device->major >= 8 ? 1024 : 0);
    fill(&device->clock_khz, get32(at, TKT_AT_DEVICE_CLOCK));
    if (!device->memory_bytes)
        device->memory_bytes = get64(at, TKT_AT_DEVICE_MEMORY_BYTES);
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

static void decode(decoder *d, uint32_t kind, record at)
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
        decode_memory(d, at);
        break;
    case TKT_KIND_MEMORY_POOL:
        decode_pool(d, at);
        break;
    case TKT_KIND_SYNCHRONIZATION:
        decode_wait(d, at);
        break;
    case TKT_KIND_CUDA_EVENT:
        decode_event(d, at);
        break;
    case TKT_KIND_OVERHEAD:
        decode_overhead(d, at);
        break;
    case TKT_KIND_JIT:
        decode_jit(d, at);
        break;
    case TKT_KIND_DEVICE:
        decode_device(d, at);
        break;
    default:
        break; /* a known kind that Takt does not need */
    }
}

/* Sets the range of plausible times: near the clock's readings, or any time before the first
 * reading. */
static decoder begin(tkt_store *store)
{
    decoder d = {.store = store, .earliest = 1, .latest = UINT64_MAX};
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

static void decode_padded(decoder *d, uint32_t kind, const uint8_t *bytes, size_t size)
{
    uint8_t whole[WHOLE];
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
    decoder d = begin(store);
    while ((bytes = tkt_record_next(sizes, buffer, valid_bytes, &at, &kind)) != NULL) {
        size_t size = sizes->bytes[kind];
        if (size < least_bytes(kind))
            store->losses.unknown++;
        else if (size < WHOLE)
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
