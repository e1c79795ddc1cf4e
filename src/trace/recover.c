/* takt_trace_recover(): makes a trace from the file of a crash-safe recording. It uses the same
 * sealing as the logs of this process. */
#include "base/error.h"
#include "base/file.h"
#include "base/own.h"
#include "record/control.h"
#include "trace/devices.h"
#include "trace/recovery.h"
#include "trace/seal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The cycles to recover: all that were not saved, from the first to the last. */
typedef struct cycles {
    tkt_mapping_window first;
    tkt_mapping_window last;
    uint32_t count;
    uint64_t end_ticks; /* UINT64_MAX: a cycle was still recording */
} cycles;

/* ---- The head -------------------------------------------------------------------------------- */

static bool fits(const tkt_recovery *r, const tkt_mapping_part *part, size_t item_bytes)
{
    return part->item_bytes == item_bytes && part->at % 8 == 0 && part->at <= r->size &&
           part->count <= (r->size - part->at) / item_bytes;
}

static takt_status check_head(tkt_recovery *r, const char *path, takt_error *error)
{
    tkt_mapping_head *head = &r->head;
    if (r->size < sizeof *head)
        return tkt_error_set(error, TAKT_BAD_TRACE,
                             "%s: not a crash-safe recording of Takt (NAME.PID.crash)", path);
    memcpy(head, r->bytes, sizeof *head);
    if (head->magic == 0 && head->version == TKT_MAPPING_VERSION)
        return tkt_error_set(
            error, TAKT_NOT_FOUND,
            "%s: nothing to recover: the program ended before it recorded anything", path);
    if (head->magic == __builtin_bswap64(TKT_MAPPING_MAGIC))
        return tkt_error_set(error, TAKT_UNSUPPORTED,
                             "%s: a machine with another byte order recorded it: recover it there",
                             path);
    if (head->magic != TKT_MAPPING_MAGIC)
        return tkt_error_set(error, TAKT_BAD_TRACE,
                             "%s: not a crash-safe recording of Takt (NAME.PID.crash)", path);
    if (head->version != TKT_MAPPING_VERSION || head->head_bytes != sizeof *head ||
        head->slot_bytes != sizeof(takt_record) || head->frame_bytes != sizeof(takt_frame) ||
        head->max_depth != TKT_MAX_DEPTH)
        return tkt_error_set(error, TAKT_UNSUPPORTED,
                             "%s: its layout has version %u, but Takt %s reads version %u: "
                             "recover it with the version of takt that recorded it",
                             path, head->version, takt_version(), TKT_MAPPING_VERSION);
    if (!fits(r, &head->windows, sizeof(tkt_mapping_window)) ||
        !fits(r, &head->tasks, sizeof(tkt_task)) ||
        !fits(r, &head->steps, sizeof(tkt_mapping_step)) ||
        !fits(r, &head->logs, sizeof(tkt_mapping_log)) || !fits(r, &head->names, 1) ||
        !fits(r, &head->chunks, sizeof(tkt_chunk)) ||
        !fits(r, &head->devices, sizeof(tkt_store_chunk)) ||
        !fits(r, &head->run, sizeof(tkt_kept_run)))
        return tkt_error_set(error, TAKT_BAD_TRACE, "%s: the file is cut off or damaged", path);
    return TAKT_OK;
}

static cycles find_windows(const tkt_recovery *r)
{
    cycles found = {.count = 0};
    for (uint32_t i = 0; i < r->head.windows.count; i++) {
        const tkt_mapping_window *window = tkt_recovery_item(r, &r->head.windows, i);
        if (window->state == TKT_MAPPING_NO_WINDOW)
            continue;
        uint64_t end = window->state == TKT_MAPPING_ENDED ? window->end_ticks : UINT64_MAX;
        if (found.count == 0 || window->begin_ticks < found.first.begin_ticks)
            found.first = *window;
        if (found.count == 0 || window->begin_ticks > found.last.begin_ticks)
            found.last = *window;
        if (end > found.end_ticks)
            found.end_ticks = end;
        found.count++;
    }
    return found;
}

/* ---- Times ----------------------------------------------------------------------------------- */

#define MOST_NS          (UINT64_C(1) << 62) /* since the machine started: 146 years */
#define MOST_NS_PER_TICK (UINT64_C(1) << 42) /* 1 us */
#define MOST_TICKS       (UINT64_C(1) << 62)

/* True if a real clock can have shown the cycle's times. */
static bool is_timed(const tkt_mapping_window *window, uint64_t begin_ticks)
{
    const tkt_clock_fit *fit = &window->fit;
    if (fit->ns_per_tick == 0 || fit->ns_per_tick > MOST_NS_PER_TICK || fit->base_ns > MOST_NS ||
        fit->base_ticks > MOST_TICKS || begin_ticks > MOST_TICKS ||
        !(fit->uncertainty_ns >= 0 && fit->uncertainty_ns <= (double)MOST_NS))
        return false;
    tkt_int128 since = (tkt_int128)begin_ticks - fit->base_ticks;
    return since * (tkt_int128)fit->ns_per_tick >= -((tkt_int128)fit->base_ns << 32);
}

/* The largest plausible ticks. A damaged slot may contain any number. */
static uint64_t last_possible(const tkt_clock_fit *fit)
{
    tkt_int128 most = ((tkt_int128)(MOST_NS - fit->base_ns) << 32) / (tkt_int128)fit->ns_per_tick;
    return fit->base_ticks + (most > MOST_TICKS ? MOST_TICKS : (uint64_t)most);
}

/* The end of the recording, in ticks. */
static uint64_t find_end(const tkt_recovery *r, const cycles *from)
{
    uint64_t end = from->end_ticks < r->last_ticks ? from->end_ticks : r->last_ticks;
    uint64_t last = last_possible(&from->last.fit);
    return end < last ? end : last;
}

/* ---- Contents -------------------------------------------------------------------------------- */

static void read_tasks(tkt_recovery *r)
{
    for (uint32_t i = 0; i < r->head.tasks.count; i++) {
        const tkt_task *task = tkt_recovery_item(r, &r->head.tasks, i);
        tkt_task *copy = task->site ? TKT_ARRAY_ADD(&r->source.tasks) : NULL;
        if (copy)
            *copy = *task;
        else if (task->site)
            r->is_short = true;
        if (copy)
            tkt_recovery_saw(r, copy->begin_ticks);
    }
}

static int compare_steps(const void *a, const void *b)
{
    const tkt_step *x = a, *y = b;
    return x->begin_ns < y->begin_ns ? -1 : x->begin_ns > y->begin_ns;
}

/* The recorded steps that later ones have overwritten, which the first cycle had. */
static uint64_t missing_steps(const tkt_recovery *r, const takt_trace *trace)
{
    uint64_t kept = r->head.steps.count, first = trace->facts.first_step;
    uint64_t listed = trace->steps.count ? trace->steps.items[0].number : first;
    uint64_t gone = r->head.next_step > kept ? r->head.next_step - kept : 0;
    uint64_t before = listed > first ? listed - first : 0;
    return before < gone ? before : gone;
}

/* Adds the steps that ended in the window, sorted by begin, and their statistics. */
static takt_status read_steps(const tkt_recovery *r, const tkt_seal_window *window,
                              takt_trace *trace)
{
    for (uint32_t i = 0; i < r->head.steps.count; i++) {
        const tkt_mapping_step *from = tkt_recovery_item(r, &r->head.steps, i);
        if (from->number == 0 || from->end_ticks < from->begin_ticks ||
            from->end_ticks < window->begin_ticks || from->end_ticks > window->end_ticks)
            continue;
        const tkt_step in_ns = {from->number - 1, tkt_clock_ns(&window->fit, from->begin_ticks),
                                tkt_clock_ns(&window->fit, from->end_ticks)};
        if (in_ns.begin_ns > in_ns.end_ns) /* damaged: no clock shows these times */
            continue;
        tkt_step *step = TKT_ARRAY_ADD(&trace->steps);
        if (!step)
            return TAKT_NO_MEMORY;
        *step = in_ns;
    }
    if (trace->steps.count)
        qsort(trace->steps.items, trace->steps.count, sizeof *trace->steps.items, compare_steps);
    for (size_t i = 0; i < trace->steps.count; i++) {
        const tkt_step *step = &trace->steps.items[i];
        tkt_all_steps_add(&trace->all_steps, NULL, step->end_ns - step->begin_ns);
    }
    uint64_t missing = missing_steps(r, trace);
    trace->losses[TAKT_LOSS_MORE_STEPS] += missing;
    trace->facts.step_count = trace->steps.count + missing;
    return TAKT_OK;
}

/* True if a program can have left this run. */
static bool is_run(const tkt_kept_run *kept)
{
    const tkt_run_steps *steps = &kept->steps;
    return steps->shift < 64 && steps->step_count >> steps->shift <= TKT_RUN_PARTS &&
           tkt_run_part_count(steps) <= TKT_RUN_PARTS && steps->slowest_count <= TKT_RUN_SLOWEST &&
           steps->window_count <= TKT_RUN_WINDOWS &&
           kept->all_steps.stats.count == steps->step_count;
}

/* Adds the steps of the whole run, if the file has those of the last cycle's run. The program may
 * have died before the run got the last step, or the last cycle's window. */
static takt_status read_run(const tkt_recovery *r, const cycles *from, takt_trace *trace)
{
    const tkt_mapping_part *part = &r->head.run;
    if (from->last.run == 0 || r->head.whole_run == 0 || r->head.whole_run > part->count)
        return TAKT_OK;
    const tkt_kept_run *kept = tkt_recovery_item(r, part, r->head.whole_run - 1);
    if (kept->number != from->last.run || !is_run(kept))
        return TAKT_OK;
    tkt_run_steps *run = trace->run = tkt_run_copy(&kept->steps);
    if (!run)
        return TAKT_NO_MEMORY;
    trace->all_steps = kept->all_steps;
    tkt_trace_complete_run(trace, true);
    uint64_t first = from->last.first_step;
    bool has_window = run->window_count && run->windows[run->window_count - 1].last >= first;
    if (!has_window && run->step_count > first)
        tkt_run_add_window(run, first, run->step_count - first);
    return TAKT_OK;
}

static void see_steps(tkt_recovery *r)
{
    for (uint32_t i = 0; i < r->head.steps.count; i++) {
        const tkt_mapping_step *step = tkt_recovery_item(r, &r->head.steps, i);
        if (step->number)
            tkt_recovery_saw(r, step->end_ticks);
    }
}

static void fill_losses(const tkt_recovery *r, const cycles *from, takt_trace *trace)
{
    for (int i = 0; i < TAKT_LOSS_COUNT; i++) {
        uint64_t count = r->head.losses[i];
        for (uint32_t k = 0; k < r->head.logs.count; k++) {
            const tkt_mapping_log *log = tkt_recovery_item(r, &r->head.logs, k);
            count += log->losses[i];
        }
        trace->losses[i] += count > from->first.losses[i] ? count - from->first.losses[i] : 0;
    }
}

/* The sums of what devices did are not in the file, so a summary says that it lacks them. */
static uint32_t add_backend(const cycles *from, bool has_spans, takt_trace *trace)
{
    char text[TKT_BACKEND_SIZE + 32];
    const char *kept = from->last.backend;
    if (!kept[0] || strcmp(kept, "none") == 0)
        return tkt_trace_string_of(trace, "none");
    snprintf(text, sizeof text, "%.*s%s", (int)TKT_BACKEND_SIZE, kept,
             has_spans ? "" : TKT_BACKEND_WITHOUT "activities");
    return tkt_trace_string_of(trace, text);
}

static takt_status fill_facts(const tkt_recovery *r, const cycles *from,
                              const tkt_seal_window *window, takt_trace *trace)
{
    char clock[sizeof r->head.clock + 1] = "";
    memcpy(clock, r->head.clock, sizeof r->head.clock);
    trace->name = tkt_trace_string(trace, r->run.bytes ? r->run.bytes : "", r->run.size);
    trace->backend = add_backend(from, window->with_spans, trace);
    trace->clock = tkt_trace_string_of(trace, clock);
    if (trace->name == TKT_STRTAB_FULL || trace->backend == TKT_STRTAB_FULL ||
        trace->clock == TKT_STRTAB_FULL)
        return TAKT_NO_MEMORY;
    const tkt_mapping_window *first = &from->first;
    trace->with_flops = first->with_flops != 0;
    trace->is_recovered = true;
    trace->device_peak = (takt_peak){first->peaks[0], first->peaks[1]};
    trace->host_peak = (takt_peak){first->peaks[2], first->peaks[3]};
    takt_facts *facts = &trace->facts;
    facts->begin_ns = tkt_clock_ns(&window->fit, window->begin_ticks);
    facts->end_ns = tkt_clock_ns(&window->fit, window->end_ticks);
    facts->realtime_offset_ns = from->last.realtime_offset_ns;
    facts->process_id = r->head.process_id;
    facts->cycle = first->cycle;
    facts->first_step = first->first_step;
    facts->rank = from->last.rank;
    facts->world_size = from->last.world_size;
    facts->is_partial = true;
    if (from->end_ticks == UINT64_MAX)
        facts->ending = TAKT_ENDING_KILLED;
    facts->known_until_ns = facts->end_ns;
    facts->has_spans = window->with_spans;
    facts->clock_resolution_ns = tkt_clock_resolution_ns(&window->fit);
    facts->clock_uncertainty_ns = window->fit.uncertainty_ns;
    trace->memory.window_begin_bytes = first->memory_bytes;
    fill_losses(r, from, trace);
    takt_status status = read_steps(r, window, trace);
    return status == TAKT_OK ? read_run(r, from, trace) : status;
}

/* Joins calls and activities, and marks launches whose activities are missing. */
static takt_status join_devices(const tkt_recovery *r, const tkt_seal_window *window,
                                const cycles *from, takt_trace *trace)
{
    tkt_joined joined = {.missing = 0};
    const tkt_join how = {.first_correlation = from->first.first_correlation,
                          .last_correlation = TKT_ANY_LATER_CALL,
                          .filter = from->last.devices,
                          .whole_graphs = from->last.whole_graphs != 0,
                          .begin_ticks = window->begin_ticks,
                          .end_ticks = window->end_ticks,
                          .fit = window->fit};
    takt_status status = tkt_trace_join(trace, r->store, &how, &joined);
    takt_facts *facts = &trace->facts;
    trace->losses[TAKT_LOSS_INCOMPLETE] +=
        joined.missing + joined.missing_marks + joined.missing_nodes + joined.incomplete;
    trace->losses[TAKT_LOSS_BAD_TIME] += joined.bad_time;
    facts->device_uncertainty_ns = joined.skew.uncertainty_ns;
    facts->device_uncertainty_is_least = joined.skew.is_least;
    facts->device_shift_ns = (double)joined.skew.shift_ns;
    return status;
}

static takt_status make_trace(tkt_recovery *r, const cycles *from, takt_trace **out)
{
    tkt_recover_names(r);
    tkt_recover_logs(r);
    tkt_recover_activities(r);
    read_tasks(r);
    see_steps(r);
    if (r->is_short)
        return TAKT_NO_MEMORY;
    tkt_recovery_saw(r, from->last.begin_ticks);
    uint64_t end = find_end(r, from);
    if (end < from->first.begin_ticks)
        return TAKT_BAD_TRACE;
    bool has_spans = (from->last.modes & TKT_KEEP) != 0;
    if (!has_spans)
        tkt_recover_folds(r, &from->last, end);
    if (r->is_short)
        return TAKT_NO_MEMORY;
    const tkt_seal_window window = {
        .begin_ticks = from->first.begin_ticks,
        .end_ticks = end,
        .last_correlation = TKT_ANY_LATER_CALL,
        .fit = from->last.fit,
        .with_spans = has_spans,
        .with_fold = !has_spans,
        .folds = r->source.folds.items,
        .fold_count = r->source.folds.count,
        .source = &r->source,
    };
    takt_trace *trace;
    takt_status status = tkt_seal(&window, &trace);
    if (status != TAKT_OK)
        return status;
    status = fill_facts(r, from, &window, trace);
    if (status == TAKT_OK && has_spans && (trace->calls.count || r->store->first))
        status = join_devices(r, &window, from, trace);
    if (status == TAKT_OK)
        status = tkt_trace_finish(trace);
    if (status == TAKT_OK)
        *out = trace;
    else
        takt_trace_release(trace);
    return status;
}

static void warn(const tkt_recovery *r, const char *path)
{
    if (r->head.chunks_lost || r->head.logs_lost)
        tkt_log(TAKT_LOG_WARNING,
                "%s: open scopes of %lu threads and events of %lu chunks are missing: "
                "the file had no room for so many threads",
                path, (unsigned long)r->head.logs_lost, (unsigned long)r->head.chunks_lost);
    if (r->head.folds_lost)
        tkt_log(TAKT_LOG_WARNING, "%s: parts of the summary are missing: raise max_memory", path);
    if (r->head.names_lost)
        tkt_log(TAKT_LOG_WARNING, "%s: %lu names are missing: the file had no room for them", path,
                (unsigned long)r->head.names_lost);
}

static void free_recovery(tkt_recovery *r)
{
    for (size_t i = 0; i < r->source.views.count; i++)
        TKT_ARRAY_FREE(&r->source.views.items[i].parts);
    for (size_t i = 0; i < r->source.folds.count; i++)
        tkt_fold_fini(&r->source.folds.items[i]);
    TKT_ARRAY_FREE(&r->source.folds);
    TKT_ARRAY_FREE(&r->source.views);
    TKT_ARRAY_FREE(&r->logs);
    TKT_ARRAY_FREE(&r->source.sites);
    TKT_ARRAY_FREE(&r->source.texts);
    TKT_ARRAY_FREE(&r->source.values);
    TKT_ARRAY_FREE(&r->source.stacks);
    TKT_ARRAY_FREE(&r->source.tasks);
    TKT_ARRAY_FREE(&r->store_strings);
    if (r->store)
        tkt_store_fini(r->store);
    tkt_free(r->store);
    tkt_arena_fini(&r->memory);
}

static takt_status recover_into(tkt_recovery *r, const char *path, takt_trace **out,
                                takt_error *error)
{
    takt_status status = check_head(r, path, error);
    if (status != TAKT_OK)
        return status;
    cycles found = find_windows(r);
    if (found.count == 0)
        return tkt_error_set(error, TAKT_NOT_FOUND,
                             "%s: nothing to recover: no recording was open or unsaved "
                             "when the program ended",
                             path);
    status = is_timed(&found.last, found.first.begin_ticks) ? make_trace(r, &found, out)
                                                            : TAKT_BAD_TRACE;
    if (status == TAKT_BAD_TRACE)
        return tkt_error_set(error, status, "%s: the file is damaged: it contains impossible times",
                             path);
    if (status != TAKT_OK)
        return tkt_error_set(error, status, "%s: %s", path, takt_status_text(status));
    warn(r, path);
    return TAKT_OK;
}

takt_status tkt_recover(const uint8_t *bytes, size_t size, const char *name, takt_trace **out,
                        takt_error *error)
{
    tkt_recovery r = {.bytes = bytes, .size = size};
    takt_status status = recover_into(&r, name, out, error);
    free_recovery(&r);
    return status;
}

takt_status takt_trace_recover(const char *path, takt_trace **out, takt_error *error)
{
    TKT_OWN_WORK;
    char *bytes; /* a copy: another process may cut the file during recovery */
    size_t size;
    if (!path || !out)
        return tkt_error_set(error, TAKT_BAD_ARGUMENT, "takt_trace_recover: path or out is NULL");
    takt_status status = tkt_file_read_regular(path, &bytes, &size, error);
    if (status != TAKT_OK)
        return status;
    status = tkt_recover((uint8_t *)bytes, size, path, out, error);
    tkt_free(bytes);
    return status;
}
