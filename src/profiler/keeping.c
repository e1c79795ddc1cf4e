/* Crash-safe profilers: the file that events are kept in, its entry for each cycle, and its chunks
 * for activities of devices. */
#include "profiler/cycle.h"

#include "base/error.h"
#include "base/file.h"
#include "cuda/cuda.h"
#include "cuda/store.h"
#include "profiler/session.h"
#include "record/mapping.h"
#include "trace/recovery.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MOST_HELD 4u

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
    else if (device_chunks_used < device_chunk_count &&
             tkt_mapping_ready(device_chunks + device_chunks_used, sizeof *chunk))
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
    if (kind == TKT_KEEP_ANEW && tkt_mapping())
        tkt_mapping()->numbering = number; /* counts even if there is no room for the note */
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

/* ---- The run --------------------------------------------------------------------------------- */

static const tkt_saved_options *run_owner; /* atomic; of the profiler whose run the file has */
static uint32_t run_number;                /* only the owner uses it */

/* True if the file has the run of this profiler. */
static bool owns_run(const tkt_saved_options *options)
{
    return __atomic_load_n(&run_owner, __ATOMIC_ACQUIRE) == options;
}

/* True if the file has that of another one: there is one file, and steps of both would mix in it.
 */
static bool is_taken_from(const tkt_saved_options *options)
{
    const tkt_saved_options *owner = __atomic_load_n(&run_owner, __ATOMIC_ACQUIRE);
    return owner && owner != options;
}

static bool claim_run(const tkt_saved_options *options)
{
    const tkt_saved_options *none = NULL;
    /* acquire: pairs with the release in tkt_keeping_end_run() */
    return __atomic_compare_exchange_n(&run_owner, &none, options, false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}

static void change(tkt_kept_run *run, const tkt_run_change *change)
{
    switch (change->kind) {
    case TKT_RUN_BEGINS:
        run->number = run_number;
        run->all_steps = (tkt_all_steps){.simulated_seconds = change->simulated_seconds};
        tkt_stats_init(&run->all_steps.stats);
        tkt_run_clear(&run->steps);
        break;
    case TKT_RUN_STEP:
        run->all_steps.simulated_seconds = change->simulated_seconds;
        tkt_all_steps_add(&run->all_steps, &run->steps, change->duration_ns);
        break;
    case TKT_RUN_WINDOW:
        tkt_run_add_window(&run->steps, change->first, change->count);
        break;
    }
}

void tkt_keeping_change_run(const tkt_saved_options *options, const tkt_run_change *how)
{
    if (!options->given.crash_safe || !tkt_mapping())
        return;
    if (how->kind == TKT_RUN_BEGINS && owns_run(options))
        run_number++;
    for (uint32_t copy = 0; copy < 2 && owns_run(options); copy++) {
        change(tkt_mapping_run(copy), how);
        tkt_mapping_run_is_whole(copy);
    }
}

void tkt_keeping_end_run(const tkt_saved_options *options)
{
    if (owns_run(options))
        __atomic_store_n(&run_owner, NULL, __ATOMIC_RELEASE);
}

/* ---- The file -------------------------------------------------------------------------------- */

static takt_status make_file(tkt_saved_options *options, takt_error *error)
{
    char path[4096];
    tkt_options_claim_directory(options);
    takt_status status = tkt_folder_create(options->directory, error);
    if (status != TAKT_OK)
        return status;
    snprintf(path, sizeof path, "%s/%s.%u", options->directory, options->file_name,
             tkt_process_id());
    const tkt_mapping_part devices = devices_wanted(&options->given);
    return tkt_mapping_create(path, options->given.max_memory_bytes, &devices, sizeof(tkt_kept_run),
                              options->given.name, error);
}

takt_status tkt_keeping_start(tkt_saved_options *options)
{
    takt_error error = {.message = "out of memory"};
    if (!claim_run(options)) {
        tkt_log(TAKT_LOG_WARNING,
                "profiler: output.crash_safe has no effect on %s: another profiler of this process "
                "has the file",
                options->file_name);
        return TAKT_OK;
    }
    takt_status status = make_file(options, &error);
    if (status == TAKT_OK) {
        keep_devices();
        return TAKT_OK;
    }
    tkt_keeping_end_run(options);
    bool lacks_room = strstr(error.message, strerror(ENOSPC)) != NULL;
    tkt_log(TAKT_LOG_ERROR,
            "profiler: nothing is recorded, since the file for output.crash_safe cannot be "
            "made: %s; set output.directory to %s",
            error.message,
            lacks_room ? "a disk with room, or lower profiling.max_memory"
                       : "a folder where it can be");
    return status;
}

/* ---- Cycles ---------------------------------------------------------------------------------- */

_Static_assert(TKT_MAPPING_WINDOWS > TKT_MOST_CYCLES + MOST_HELD, "each cycle has a place");

/* A cycle that is not saved, and whose program goes on. */
typedef struct held_cycle {
    tkt_window *window;
    uint32_t number;
    uint32_t mapped; /* its number in the file */
} held_cycle;

typedef struct held_cycles {
    held_cycle items[MOST_HELD];
    uint32_t count;
} held_cycles;

static tkt_mutex held_lock = TKT_MUTEX_INIT;
static held_cycles held; /* held_lock */

void tkt_keeping_hold(tkt_cycle *cycle)
{
    tkt_mutex_lock(&held_lock);
    bool has_room = held.count < MOST_HELD;
    if (has_room)
        held.items[held.count++] = (held_cycle){cycle->window, cycle->number, cycle->mapped - 1};
    tkt_mutex_unlock(&held_lock);
    if (!has_room)
        return;
    cycle->window = NULL;
    cycle->mapped = 0;
    tkt_log(TAKT_LOG_WARNING,
            "cycle %u stays in the crash-safe file until another one begins: once the program has "
            "ended, takt recover %s",
            cycle->number, tkt_mapping_path());
}

/* The memory of held cycles is needed. Logs without the lock: the program's function may call Takt.
 */
static void let_go(void)
{
    tkt_mutex_lock(&held_lock);
    const held_cycles gone = held;
    held.count = 0;
    tkt_mutex_unlock(&held_lock);
    for (uint32_t i = 0; i < gone.count; i++) {
        tkt_mapping_close_window(gone.items[i].mapped);
        tkt_window_close(gone.items[i].window);
        tkt_log(TAKT_LOG_WARNING, "cycle %u is no longer in the crash-safe file: it was not saved",
                gone.items[i].number);
    }
}

void tkt_keeping_begin(tkt_cycle *cycle, const tkt_window *window)
{
    const takt_profiler_options *options = &cycle->options->given;
    if (!options->crash_safe || is_taken_from(cycle->options))
        return;
    let_go();
    tkt_mapping_window kept = {
        .cycle = cycle->number,
        .modes = window->wish.modes,
        .with_flops = options->with_flops,
        .rank = options->rank,
        .world_size = options->world_size,
        .run = owns_run(cycle->options) ? run_number : 0,
        .devices = window->wish.devices,
        .first_correlation = tkt_devices_first_correlation(&window->devices),
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
    if (window->devices.is_on) {
        const tkt_cuda_status devices = tkt_cuda_status_now();
        tkt_window_backend(window, &devices, kept.backend);
    }
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
