/* Crash-safe profilers: the file that events are kept in, its entry for each cycle, and its chunks
 * for activities of devices. */
#include "profiler/cycle.h"

#include "base/error.h"
#include "base/file.h"
#include "cuda/cuda.h"
#include "cuda/store.h"
#include "profiler/session.h"
#include "record/mapping.h"

#include <stdio.h>
#include <string.h>

/* ---- Activities of devices ------------------------------------------------------------------- */

/* The file's chunks for cuda/store.c; guarded by the store's lock. */
static tkt_store_chunk *device_chunks;
static uint32_t device_chunk_count;
static uint32_t device_chunks_used; /* highest number so far */
static tkt_store_chunk *free_device_chunks;

static tkt_store_chunk *take_device_chunk(void)
{
    tkt_store_chunk *chunk = free_device_chunks;
    if (chunk)
        free_device_chunks = chunk->next;
    else if (device_chunks_used < device_chunk_count)
        chunk = device_chunks + device_chunks_used++;
    return chunk;
}

static bool give_device_chunk(tkt_store_chunk *chunk)
{
    if (chunk < device_chunks || chunk >= device_chunks + device_chunk_count)
        return false;
    chunk->next = free_device_chunks;
    free_device_chunks = chunk;
    return true;
}

static void note(tkt_keeper_note kind, uint32_t number, const void *data, size_t size)
{
    tkt_mapping_add_note(kind, number, data, size);
}

/* Gives the store its chunks in the file, once. */
static void keep_devices(void)
{
    static const tkt_store_keeper keeper = {take_device_chunk, give_device_chunk, note};
    if (device_chunks)
        return;
    device_chunks = tkt_mapping_devices(&device_chunk_count);
    tkt_store_keep(&keeper);
}

/* Returns the chunks to reserve: as many as max_memory allows, in programs that use CUDA. */
static tkt_mapping_part devices_wanted(const takt_profiler_options *options)
{
    bool are_used = tkt_wants_devices(options) && tkt_cuda_is_used();
    uint64_t count = are_used ? options->max_memory_bytes / sizeof(tkt_store_chunk) + 2 : 0;
    return (tkt_mapping_part){0, sizeof(tkt_store_chunk), (uint32_t)count};
}

/* ---- The file -------------------------------------------------------------------------------- */

takt_status tkt_keeping_start(tkt_saved_options *options)
{
    takt_error error = {.message = "out of memory"};
    char path[4096];
    tkt_options_claim_directory(options);
    takt_status status = tkt_folder_create(options->directory, &error);
    if (status == TAKT_OK) {
        snprintf(path, sizeof path, "%s/%s.%u", options->directory, options->file_name,
                 tkt_process_id());
        const tkt_mapping_part devices = devices_wanted(&options->given);
        status = tkt_mapping_create(path, options->given.max_memory_bytes, &devices,
                                    options->given.name, &error);
    }
    if (status != TAKT_OK)
        tkt_log(TAKT_LOG_ERROR,
                "profiler: nothing is recorded, since the file for output.crash_safe cannot be "
                "made: %s; set output.directory to a disk with room, or lower "
                "profiling.max_memory",
                error.message);
    else
        keep_devices();
    return status;
}

void tkt_keeping_begin(tkt_cycle *cycle, const tkt_window *window)
{
    const takt_profiler_options *options = &cycle->options->given;
    if (!options->crash_safe)
        return;
    tkt_mapping_window kept = {
        .cycle = cycle->number,
        .modes = window->wish.modes,
        .with_flops = options->with_flops,
        .rank = options->rank,
        .world_size = options->world_size,
        .devices = window->wish.devices,
        .first_correlation = window->devices.first_correlation,
        .whole_graphs = window->wish.whole_graphs,
        .begin_ticks = window->begin_ticks,
        .fit = window->fit,
        .realtime_offset_ns = tkt_clock_realtime_offset_ns(),
        .first_step = cycle->first_step,
        .fold_from_ticks = __atomic_load_n(&tkt_record_control.fold_from_ticks, __ATOMIC_RELAXED),
        .memory_bytes = window->memory_before.current_bytes,
        .peaks = {options->peak_flops, options->peak_bandwidth, options->host_peak_flops,
                  options->host_peak_bandwidth},
    };
    if (window->devices.is_on)
        snprintf(kept.backend, sizeof kept.backend, "%s", tkt_cuda_status_now().text);
    memcpy(kept.losses, window->losses_before, sizeof window->losses_before);
    cycle->mapped = tkt_mapping_begin_window(&kept) + 1;
}

void tkt_keeping_end(const tkt_cycle *cycle, uint64_t end_ticks)
{
    if (cycle->mapped)
        tkt_mapping_end_window(cycle->mapped - 1, end_ticks);
}

void tkt_keeping_done(tkt_cycle *cycle)
{
    if (cycle->mapped)
        tkt_mapping_close_window(cycle->mapped - 1);
    cycle->mapped = 0;
}
