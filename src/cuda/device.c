/* Queries to the driver, and the memory allocated on devices. */
#include "base/dynlib.h"
#include "base/lock.h"
#include "base/thread.h"
#include "cuda/cuda.h"
#include "cuda/driver.h"
#include "cuda/kernel.h"
#include "cuda/store.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ======== The driver ======== */

/* Whether the program uses CUDA, and direct queries to the driver. */

/* True if the loaded objects show that the process uses CUDA. Programs with a static runtime load
 * libcuda only at their first call. Their device code shows earlier: nvcc and clang put it into
 * sections of these names. */
static bool look_at_process(void)
{
    static const char *const names[] = {"libcuda.so", "libcudart.so", NULL};
    static const char *const sections[] = {".nv_fatbin", ".nvFatBinSegment", NULL};
    /* Not with dlopen() and RTLD_NOLOAD, which searches all folders for the file. */
    return tkt_objects_have(names, sections);
}

bool tkt_cuda_is_used(void)
{
    static _Atomic(uint64_t) looked_at; /* number of objects loaded at the last look; UINT64_MAX:
                                         * CUDA is used */
    if (tkt_process_is_disabled())      /* the look takes a lock of the C library */
        return false;
    /* relaxed: the number publishes no other data */
    uint64_t seen = atomic_load_explicit(&looked_at, memory_order_relaxed);
    if (seen == UINT64_MAX)
        return true;
    uint64_t now = tkt_objects_added();
    if (now == seen)
        return false;
    bool is_used = look_at_process();
    atomic_store_explicit(&looked_at, is_used ? UINT64_MAX : now, memory_order_relaxed);
    return is_used;
}

takt_status tkt_cuda_synchronize(void)
{
    const tkt_driver *driver = tkt_cuda_is_used() ? tkt_driver_get() : NULL;
    if (!driver)
        return TAKT_OK;
    return tkt_driver_synchronize(driver) ? TAKT_OK : TAKT_BAD_STATE;
}

bool tkt_cuda_memory(uint32_t device, uint64_t *free_bytes, uint64_t *total_bytes)
{
    const tkt_driver *driver = tkt_cuda_is_used() ? tkt_driver_get() : NULL;
    return driver && tkt_driver_memory(driver, device, free_bytes, total_bytes);
}

/* ---- The range that another tool records ----------------------------------------------------- */

/* A thread that finds another one switching leaves the rest to it: no lock is held while calling
 * the driver, and the last call made is the right one. */
static struct {
    tkt_mutex lock;
    uint32_t ranges; /* begun and not ended */
    bool is_on;
    bool is_switching;
} profiling = {.lock = TKT_MUTEX_INIT};

static bool switch_profiling(bool is_on)
{
    const tkt_driver *driver = tkt_cuda_is_used() ? tkt_driver_get() : NULL;
    if (!driver)
        return false;
    tkt_driver_synchronize(driver);
    return tkt_driver_profiling(driver, is_on);
}

/* With the lock, which it releases in between. False if a range could not be begun. */
static bool follow_ranges(void)
{
    while (!profiling.is_switching && profiling.is_on != (profiling.ranges > 0)) {
        bool is_on = !profiling.is_on;
        profiling.is_switching = true;
        tkt_mutex_unlock(&profiling.lock);
        bool is_done = switch_profiling(is_on);
        tkt_mutex_lock(&profiling.lock);
        profiling.is_switching = false;
        if (is_on && !is_done)
            return false;
        profiling.is_on = is_on;
    }
    return true;
}

bool tkt_cuda_range_begin(void)
{
    tkt_mutex_lock(&profiling.lock);
    profiling.ranges++;
    bool is_begun = follow_ranges();
    if (!is_begun)
        profiling.ranges--;
    tkt_mutex_unlock(&profiling.lock);
    return is_begun;
}

void tkt_cuda_range_end(void)
{
    tkt_mutex_lock(&profiling.lock);
    profiling.ranges--;
    follow_ranges();
    tkt_mutex_unlock(&profiling.lock);
}

/* ---- Devices' memory ------------------------------------------------------------------------- */

/* How much memory is allocated on each device. A free counts only if its allocation was seen: frees
 * of older memory must not make the sums negative.
 *
 * Events arrive in any order, a free perhaps before its allocation. They are therefore added up as
 * late as possible: when a caller asks for totals or, once there are too many, the older half. */

#define MOST_UNSUMMED 32768u

static bool is_on_device(const tkt_stored_memory *memory)
{
    return memory->kind != TAKT_MEMORY_PINNED && memory->kind != TAKT_MEMORY_PAGEABLE &&
           memory->device < TKT_STORE_DEVICES;
}

/* Returns the totals of a device, adding them if needed; NULL without memory. */
static tkt_stored_totals *totals_of(tkt_store *store, uint32_t device)
{
    while (store->totals.count <= device) {
        tkt_stored_totals *added = TKT_ARRAY_ADD(&store->totals);
        if (!added)
            return NULL;
        *added = (tkt_stored_totals){0};
    }
    return &store->totals.items[device];
}

#define BYTES_MASK ((UINT64_C(1) << 48) - 1)

static void add_allocation(tkt_store *store, tkt_stored_totals *totals,
                           const tkt_stored_memory *memory)
{
    uint64_t *place = tkt_map_put(&store->allocated, memory->address);
    totals->allocations++;
    if (!place)
        return; /* the free will count as unmatched */
    uint64_t bytes = (uint64_t)memory->bytes & BYTES_MASK, before = *place & BYTES_MASK;
    totals->current_bytes += bytes - before;
    if (memory->is_from_pool)
        totals->pool_used_bytes += bytes - before;
    *place = (uint64_t)memory->device << 48 | bytes;
    if (totals->current_bytes > totals->peak_bytes) {
        totals->peak_bytes = totals->current_bytes;
        totals->peak_time = memory->time;
    }
}

/* Whatever device is current may free the memory of another: that one has it no more. */
static void add_free(tkt_store *store, tkt_stored_totals *totals, const tkt_stored_memory *memory)
{
    const uint64_t *place = tkt_map_get(&store->allocated, memory->address);
    if (!place) {
        totals->unmatched_frees++;
        return;
    }
    uint64_t bytes = *place & BYTES_MASK;
    totals->frees++;
    totals = &store->totals.items[*place >> 48];
    totals->current_bytes -= bytes;
    if (memory->is_from_pool)
        totals->pool_used_bytes -= bytes;
    tkt_map_remove(&store->allocated, memory->address);
}

static void add(tkt_store *store, const tkt_stored_memory *memory)
{
    tkt_stored_totals *totals = totals_of(store, memory->device);
    if (!totals)
        return;
    if (memory->is_pool)
        totals->pool_bytes += (uint64_t)memory->bytes;
    else if (memory->bytes > 0)
        add_allocation(store, totals, memory);
    else
        add_free(store, totals, memory);
}

static int by_time(const void *a, const void *b)
{
    const tkt_stored_memory *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->bytes < y->bytes) - (x->bytes > y->bytes); /* an allocation before its free */
}

static void sort_events(tkt_store *store)
{
    if (store->unsummed.count > 0)
        qsort(store->unsummed.items, store->unsummed.count, sizeof *store->unsummed.items, by_time);
}

/* Adds the first `count` of the sorted events to the totals. */
static void sum_up(tkt_store *store, size_t count)
{
    tkt_stored_memory *events = store->unsummed.items;
    if (count == 0)
        return;
    for (size_t i = 0; i < count; i++)
        add(store, &events[i]);
    if (events[count - 1].time > store->summed_until)
        store->summed_until = events[count - 1].time;
    store->unsummed.count -= count;
    memmove(events, events + count, store->unsummed.count * sizeof *events);
}

void tkt_store_sum_up(tkt_store *store)
{
    sort_events(store);
    sum_up(store, store->unsummed.count);
}

/* Adds up events until `until_ns`. */
static void sum_up_until(tkt_store *store, const tkt_clock_map *map, uint64_t until_ns)
{
    size_t count = 0;
    sort_events(store);
    while (count < store->unsummed.count &&
           tkt_clock_map_ns(map, store->unsummed.items[count].time) <= until_ns)
        count++;
    sum_up(store, count);
}

void tkt_store_total(tkt_store *store, const tkt_stored_memory *memory)
{
    if (!is_on_device(memory))
        return;
    tkt_stored_memory *added = TKT_ARRAY_ADD(&store->unsummed);
    if (added)
        *added = *memory;
    else
        add(store, memory);
    if (store->unsummed.count < MOST_UNSUMMED)
        return;
    sort_events(store);
    sum_up(store, MOST_UNSUMMED / 2);
}

void tkt_store_forget_memory(tkt_store *store)
{
    tkt_mutex_lock(&store->lock);
    TKT_ARRAY_FREE(&store->unsummed);
    TKT_ARRAY_FREE(&store->totals);
    tkt_map_fini(&store->allocated);
    tkt_map_fini(&store->pools);
    tkt_map_fini(&store->pool_times);
    store->summed_until = 0;
    tkt_mutex_unlock(&store->lock);
}

/* Computes the sums at `begin_ns` by subtracting all later changes. */
static void go_back(const tkt_store *store, const tkt_clock_map *map, uint32_t device,
                    uint64_t begin_ns, tkt_stored_totals *totals)
{
    totals->begin_bytes = totals->current_bytes;
    totals->begin_pool_bytes = totals->pool_bytes;
    totals->begin_pool_used_bytes = totals->pool_used_bytes;
    for (size_t i = 0; i < store->memory.count; i++) {
        const tkt_stored_memory *memory = &store->memory.items[i];
        if (memory->device != device || !is_on_device(memory) ||
            memory->time > store->summed_until || tkt_clock_map_ns(map, memory->time) < begin_ns)
            continue;
        uint64_t *bytes = memory->is_pool ? &totals->begin_pool_bytes : &totals->begin_bytes;
        *bytes -= (uint64_t)memory->bytes;
        if (memory->is_from_pool)
            totals->begin_pool_used_bytes -= (uint64_t)memory->bytes;
    }
}

bool tkt_store_totals(uint32_t device, const tkt_clock_fit *fit, uint64_t begin_ns,
                      uint64_t until_ns, tkt_stored_totals *out)
{
    tkt_clock_map map;
    bool is_known = false;
    tkt_store *store = tkt_store_get();
    tkt_mutex_lock(&store->lock);
    if (tkt_clock_map_make(&store->clock, fit, &map) == TAKT_OK) {
        sum_up_until(store, &map, until_ns);
        is_known = device < store->totals.count;
        if (is_known) {
            *out = store->totals.items[device];
            go_back(store, &map, device, begin_ns, out);
            if (out->peak_time)
                out->peak_time = tkt_clock_map_ns(&map, out->peak_time);
        }
        tkt_clock_map_fini(&map);
    }
    tkt_mutex_unlock(&store->lock);
    return is_known;
}
