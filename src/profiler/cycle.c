/* Cycles of a profiler, and the thread that seals and saves them. */
#include "profiler/cycle.h"

#include "base/error.h"
#include "base/file.h"
#include "base/lock.h"
#include "base/own.h"
#include "base/thread.h"
#include "base/writer.h"
#include "report/request.h"
#include "report/show.h"

#include <takt/export.h>
#include <takt/report.h>

#include <stdio.h>
#include <string.h>

/* ======== Cycles ======== */

void tkt_cycle_note(tkt_cycle *cycle, takt_status status)
{
    if (cycle->status == TAKT_OK)
        cycle->status = status;
}

/* ---- Sealing --------------------------------------------------------------------------------- */

static takt_status fill_steps(tkt_cycle *cycle, takt_trace *trace)
{
    const tkt_clock_fit *fit = tkt_window_fit(cycle->window);
    size_t count = cycle->steps.bytes / sizeof(tkt_step);
    if (!TKT_ARRAY_RESERVE(&trace->steps, count))
        return TAKT_NO_MEMORY;
    trace->losses[TAKT_LOSS_MORE_STEPS] += cycle->steps_beyond;
    tkt_blocks_take(&cycle->steps, trace->steps.items, cycle->steps.bytes);
    for (trace->steps.count = 0; trace->steps.count < count; trace->steps.count++) {
        tkt_step *step = &trace->steps.items[trace->steps.count];
        step->begin_ns = tkt_clock_ns(fit, step->begin_ns);
        step->end_ns = tkt_clock_ns(fit, step->end_ns);
    }
    return TAKT_OK;
}

static takt_status fill_run(tkt_cycle *cycle, takt_trace *trace)
{
    const tkt_run_so_far *so_far = cycle->so_far;
    trace->all_steps = so_far->all_steps;
    tkt_free(trace->run);
    trace->run = so_far->is_known ? tkt_run_copy(&so_far->run) : NULL;
    if (!trace->run)
        tkt_cycle_note(cycle, TAKT_NO_MEMORY);
    trace->facts.cycle = cycle->number;
    trace->facts.is_partial = cycle->is_partial;
    trace->facts.first_step = cycle->first_step;
    trace->facts.step_count = cycle->step_count;
    trace->losses[TAKT_LOSS_NO_MEMORY] += cycle->steps_lost;
    return tkt_options_describe(cycle->options, trace);
}

/* Drops activities of devices that the filter excludes. */
static void filter_activities(takt_trace *trace, uint32_t filter)
{
    size_t count = 0;
    for (size_t i = 0; i < trace->activities.count; i++)
        if (trace->activities.items[i].filter & filter)
            trace->activities.items[count++] = trace->activities.items[i];
    trace->activities.count = count;
}

/* Opens the stream's file as the trace: written records were released, so only the file has them
 * all. */
static takt_status read_back(tkt_cycle *cycle, takt_trace **out)
{
    takt_error error = {.status = TAKT_OK};
    takt_trace *trace = NULL;
    takt_status status = tkt_stream_read_back(
        cycle->stream, cycle->is_partial, cycle->options->given.max_trace_bytes, &trace, &error);
    if (status == TAKT_OK && !trace)
        tkt_log(TAKT_LOG_WARNING,
                "cycle %u is in %s, which is larger than output.max_trace_size: read it with takt; "
                "there are no reports and no other traces",
                cycle->number, tkt_stream_path(cycle->stream));
    if (status != TAKT_OK && error.status != TAKT_OK)
        tkt_log(TAKT_LOG_ERROR, "cycle %u: %s", cycle->number, error.message);
    if (status == TAKT_OK && trace)
        status = fill_run(cycle, trace);
    if (status == TAKT_OK && trace)
        status = tkt_window_fill_phases(cycle->window, trace);
    if (status == TAKT_OK)
        *out = trace;
    else
        takt_trace_release(trace);
    return status;
}

static takt_status seal(tkt_cycle *cycle, takt_trace **out)
{
    takt_trace *trace;
    takt_status status = tkt_window_seal(cycle->window, &trace);
    if (status != TAKT_OK)
        return status;
    status = fill_run(cycle, trace);
    if (status == TAKT_OK)
        status = fill_steps(cycle, trace);
    filter_activities(trace, cycle->options->given.filter);
    if (status == TAKT_OK)
        status = tkt_trace_finish(trace);
    if (status != TAKT_OK) {
        takt_trace_release(trace);
        return status;
    }
    *out = trace;
    return TAKT_OK;
}

/* ---- Files ----------------------------------------------------------------------------------- */

static bool export_one(tkt_cycle *cycle, const char *output)
{
    const takt_profiler_options *options = &cycle->options->given;
    const takt_export_options how = {.struct_size = sizeof how,
                                     .max_bytes = options->max_trace_bytes,
                                     .plain = options->compress == TAKT_OFF,
                                     .files = &cycle->file_count};
    char path[4096];
    takt_error error;
    takt_status status = takt_export_output(cycle->trace, output, options->directory, &how, path,
                                            sizeof path, &error);
    if (status == TAKT_OK) {
        tkt_log(TAKT_LOG_INFO, "saved %s", path);
        tkt_view_keep(&cycle->viewable, output, path);
        if (!cycle->first_file)
            cycle->first_file = tkt_copy_string(path);
    } else {
        tkt_log(TAKT_LOG_ERROR, "cycle %u: no %s trace: %s", cycle->number, output, error.message);
    }
    tkt_cycle_note(cycle, status);
    return status == TAKT_OK;
}

/* True for "xplane" beside "tensorboard", which writes the same file. */
static bool is_written_twice(const takt_profiler_options *options, const char *output)
{
    bool has_tensorboard = false;
    for (size_t i = 0; i < options->trace_count; i++)
        has_tensorboard |= strcmp(options->traces[i], "tensorboard") == 0;
    return has_tensorboard && strcmp(output, "xplane") == 0;
}

/* What has become of the files; that of Perfetto replaces the stream's file. */
typedef struct written {
    bool is_lost; /* files were wanted, and none is there */
    bool tried_perfetto;
    bool saved_perfetto;
} written;

static written export_all(tkt_cycle *cycle)
{
    const takt_profiler_options *options = &cycle->options->given;
    written files = {.is_lost = options->trace_count > 0};
    for (size_t i = 0; i < options->trace_count; i++) {
        if (is_written_twice(options, options->traces[i]))
            continue;
        bool is_perfetto = strncmp(options->traces[i], "perfetto", 8) == 0;
        bool is_saved = export_one(cycle, options->traces[i]);
        files.is_lost &= !is_saved;
        files.tried_perfetto |= is_perfetto;
        files.saved_perfetto |= is_perfetto && is_saved;
    }
    return files;
}

/* Replaces the file of the stream by the complete file. */
static void replace_stream(tkt_cycle *cycle, const written *files)
{
    bool is_saved = files->saved_perfetto;
    if (cycle->stream && !files->tried_perfetto)
        is_saved = export_one(cycle, "perfetto");
    tkt_stream_destroy(cycle->stream, is_saved);
    cycle->stream = NULL;
}

/* True if no file has the cycle. */
static bool write_files(tkt_cycle *cycle)
{
    written files = export_all(cycle);
    bool is_lost = files.is_lost && !cycle->stream;
    replace_stream(cycle, &files);
    return is_lost;
}

static void close_window(tkt_cycle *cycle)
{
    tkt_keeping_done(cycle);
    tkt_window_close(cycle->window);
    cycle->window = NULL;
}

/* Seals the cycle and writes its files. Failures are logged. Runs on any thread; hold no lock. */
static void seal_and_write(tkt_worker *worker, tkt_cycle *cycle)
{
    tkt_run_so_far_advance(&worker->so_far, cycle);
    cycle->so_far = &worker->so_far;
    tkt_stream_stop(cycle->stream);
    if (cycle->stream && !tkt_stream_was_opened(cycle->stream)) {
        tkt_stream_destroy(cycle->stream, true);
        cycle->stream = NULL;
        tkt_cycle_note(cycle, TAKT_IO_ERROR);
    }
    bool was_released = cycle->stream && tkt_window_was_released(cycle->window);
    takt_status status =
        was_released ? read_back(cycle, &cycle->trace) : seal(cycle, &cycle->trace);
    if (tkt_stream_is_broken(cycle->stream))
        tkt_cycle_note(cycle, TAKT_IO_ERROR);
    if (!cycle->mapped || status != TAKT_OK)
        close_window(cycle);
    tkt_cycle_note(cycle, status);
    if (status != TAKT_OK) {
        tkt_log(TAKT_LOG_ERROR, "cycle %u is lost: %s", cycle->number, takt_status_text(status));
        return;
    }
    bool is_lost = cycle->trace && write_files(cycle);
    if (cycle->options->given.announce && cycle->options->given.rank == 0)
        cycle->announcement = tkt_announcement_of(cycle);
    if (cycle->mapped && is_lost)
        tkt_keeping_hold(cycle);
    if (cycle->mapped) /* until now the crash-safe file had the cycle */
        close_window(cycle);
}

/* ---- Delivery -------------------------------------------------------------------------------- */

/* True for reports that this trace has; the default list includes `kernels`. */
static bool is_printed(const tkt_cycle *cycle, const char *name)
{
    return !tkt_report_is_of_cuda(name) ||
           strcmp(takt_trace_facts(cycle->trace)->backend, "none") != 0;
}

/* Sets the options that all reports of the cycle share; `how` may have others. */
static void share_options(const tkt_cycle *cycle, const tkt_report_output *out,
                          takt_report_options *how)
{
    const takt_profiler_options *options = &cycle->options->given;
    how->struct_size = sizeof *how;
    how->color = out->color;
    how->with_flops |= options->with_flops;
    if (how->width == 0)
        how->width = options->width ? options->width : out->width;
    how->width_key = "output.width: ";
}

static void note_report(tkt_cycle *cycle, const char *name, takt_status status)
{
    takt_error error;
    if (status != TAKT_OK)
        tkt_log(TAKT_LOG_WARNING, "cycle %u: no report '%s': %s", cycle->number, name,
                tkt_report_place_why(cycle->reports, status, &error));
    tkt_cycle_note(cycle, status);
}

static void print_report(tkt_cycle *cycle, const char *text, const tkt_report_output *out)
{
    char why[TKT_REQUEST_WHY];
    tkt_report_request request;
    if (!tkt_report_request_read(&request, text, why) || !is_printed(cycle, request.name))
        return;
    share_options(cycle, out, &request.options);
    takt_status status = tkt_report_part(cycle->trace, request.name, TKT_NO_PROVENANCE,
                                         &request.options, &out->sink);
    if (status == TAKT_BAD_ARGUMENT) {
        request.options.sort = NULL; /* a column that the trace lacks, such as CUDA total */
        status = tkt_report_part(cycle->trace, request.name, TKT_NO_PROVENANCE, &request.options,
                                 &out->sink);
    }
    if (status == TAKT_OK)
        status = out->sink.write(out->sink.user, "\n", 1);
    note_report(cycle, request.name, status);
}

/* Prints the provenance line behind the last report. */
static void end_reports(tkt_cycle *cycle, const tkt_report_output *out)
{
    takt_report_options how = TAKT_REPORT_OPTIONS_INIT;
    share_options(cycle, out, &how);
    takt_status status = tkt_report_end(cycle->trace, &how, &out->sink);
    if (status == TAKT_OK)
        status = out->sink.write(out->sink.user, "\n", 1);
    tkt_cycle_note(cycle, status);
}

/* A report is handed to a stream at once, so that nobody prints in the midst of it; a very long one
 * in pieces. */
#define MOST_GATHERED ((size_t)4 << 20)

/* A report that failed does not stop the next one. */
static takt_status take_status(tkt_writer *writer)
{
    takt_status status = writer->status;
    writer->status = TAKT_OK;
    return status;
}

static takt_status gather(void *user, const void *data, size_t size)
{
    tkt_writer_put(user, data, size);
    return take_status(user);
}

static takt_status hand_on(tkt_writer *gathered)
{
    tkt_writer_flush(gathered);
    return take_status(gathered);
}

/* Tables of all ranks in one log could not be read: of a job, rank 0 prints. Its size may be
 * unknown. */
static bool is_left_to_rank_0(const takt_profiler_options *options)
{
    return options->rank > 0 && tkt_reports_are_printed(options);
}

static void tell_rank(const takt_profiler_options *options, bool is_printed, const takt_sink *to)
{
    char line[160];
    int size = snprintf(line, sizeof line, "rank %u of %u%s\n", options->rank, options->world_size,
                        is_printed ? "; of all: takt report FOLDER, or output.reports: FILE" : "");
    to->write(to->user, line, (size_t)size);
}

static void print_reports(tkt_cycle *cycle)
{
    const takt_profiler_options *options = &cycle->options->given;
    tkt_report_output out;
    tkt_writer gathered = {0};
    if (options->report_count == 0)
        return;
    if (is_left_to_rank_0(options)) {
        tkt_log(TAKT_LOG_INFO,
                "rank %u: rank 0 prints reports; output.reports: FILE has each rank's",
                options->rank);
        return;
    }
    takt_status status = tkt_report_place_open(cycle->reports, cycle->options, &out);
    tkt_cycle_note(cycle, status);
    if (status != TAKT_OK)
        return;
    bool is_printed = tkt_reports_are_printed(options);
    tkt_report_output to = out;
    if (is_printed && tkt_writer_init(&gathered, out.sink, MOST_GATHERED) == TAKT_OK)
        to.sink = (takt_sink){gather, &gathered};
    take_status(&gathered); /* without memory, reports go to the stream as they come */
    if (options->world_size > 1)
        tell_rank(options, is_printed, &to.sink);
    for (size_t i = 0; i < options->report_count; i++) {
        print_report(cycle, options->reports[i], &to);
        note_report(cycle, options->reports[i], hand_on(&gathered));
    }
    end_reports(cycle, &to);
    tkt_cycle_note(cycle, hand_on(&gathered));
    tkt_writer_fini(&gathered);
}

void tkt_cycle_print(tkt_cycle *cycle)
{
    if (!cycle->trace || cycle->is_printed)
        return;
    cycle->is_printed = true;
    print_reports(cycle);
    if (cycle->announcement)
        tkt_tell("%s", cycle->announcement);
}

void tkt_cycle_deliver(tkt_cycle *cycle)
{
    const takt_profiler_options *options = &cycle->options->given;
    if (cycle->trace && options->on_trace) {
        TKT_PROGRAMS_WORK;
        options->on_trace(cycle->trace, options->user);
    }
    tkt_cycle_print(cycle);
}

/* Frees what it has. */
static void empty(tkt_cycle *cycle)
{
    tkt_stream_destroy(cycle->stream, false);
    close_window(cycle);
    takt_trace_release(cycle->trace);
    takt_trace_release(cycle->earlier);
    tkt_blocks_fini(&cycle->steps);
    tkt_blocks_fini(&cycle->new_steps.durations);
    tkt_blocks_fini(&cycle->run);
    tkt_free(cycle->viewable);
    tkt_free(cycle->first_file);
    tkt_free(cycle->announcement);
    *cycle = (tkt_cycle){0};
}

void tkt_cycle_destroy(tkt_cycle *cycle)
{
    if (!cycle)
        return;
    empty(cycle);
    tkt_free(cycle);
}

/* ======== The background thread ======== */

static void append(tkt_cycle **list, tkt_cycle *cycle)
{
    while (*list)
        list = &(*list)->next;
    cycle->next = NULL;
    *list = cycle;
}

static tkt_cycle *take_first(tkt_cycle **list)
{
    tkt_cycle *cycle = *list;
    if (cycle)
        *list = cycle->next;
    return cycle;
}

void tkt_worker_init(tkt_worker *worker)
{
    worker->lock = (tkt_mutex)TKT_MUTEX_INIT;
    worker->changed = (tkt_condition)TKT_CONDITION_INIT;
}

static void finish(tkt_worker *worker, tkt_cycle *cycle)
{
    append(&worker->done, cycle);
    worker->open--;
    /* release: pairs with the acquire in tkt_worker_take() */
    __atomic_store_n(&worker->has_done, true, __ATOMIC_RELEASE);
    tkt_condition_wake_all(&worker->changed);
}

static void destroy_all(tkt_cycle *cycle)
{
    while (cycle) {
        tkt_cycle *next = cycle->next;
        tkt_cycle_destroy(cycle);
        cycle = next;
    }
}

/* Without the lock. */
static void recycle(tkt_worker *worker, tkt_cycle *cycle)
{
    empty(cycle);
    tkt_mutex_lock(&worker->lock);
    cycle->next = worker->spares;
    worker->spares = cycle;
    tkt_mutex_unlock(&worker->lock);
}

/* With the lock, which it gives back meanwhile. */
static void recycle_spent(tkt_worker *worker)
{
    tkt_cycle *spent = worker->spent;
    if (!spent)
        return;
    worker->spent = NULL;
    tkt_mutex_unlock(&worker->lock);
    while (spent) {
        tkt_cycle *next = spent->next;
        recycle(worker, spent);
        spent = next;
    }
    tkt_mutex_lock(&worker->lock);
}

/* While something is recorded the thread looks for cycles by itself: waking it may cost the thread that
 * steps 20 us, the rest of a step from window to window 3. */
#define LOOK_MS 10u
#define IDLE_MS 500u

/* With the lock, which it gives back meanwhile: waits for work. A program whose main() ends by
 * pthread_exit() ends with its last thread, so then the worker may not stay for ever: false. */
static bool wait_for_work(tkt_worker *worker)
{
    for (uint32_t ms = 0; ms < IDLE_MS;) {
        uint64_t recorded = __atomic_load_n(&takt_switch_hot_v1.mask, __ATOMIC_RELAXED);
        uint32_t pause_ms = recorded ? LOOK_MS : IDLE_MS;
        worker->is_looking = recorded != 0;
        bool is_woken = tkt_condition_wait_for(&worker->changed, &worker->lock, pause_ms);
        worker->is_looking = false;
        if (is_woken || worker->waiting || worker->spent)
            return true;
        ms += pause_ms;
    }
    return !tkt_main_has_ended();
}

static void *run(void *argument)
{
    TKT_OWN_WORK;
    tkt_worker *worker = argument;
    tkt_mutex_lock(&worker->lock);
    for (;;) {
        tkt_cycle *cycle = take_first(&worker->waiting);
        if (cycle) {
            tkt_mutex_unlock(&worker->lock);
            seal_and_write(worker, cycle);
            tkt_mutex_lock(&worker->lock);
            finish(worker, cycle);
            continue;
        }
        recycle_spent(worker);
        if (worker->waiting)
            continue;
        if (worker->is_ended || !wait_for_work(worker))
            break;
    }
    worker->is_idle = true;
    tkt_mutex_unlock(&worker->lock);
    return NULL;
}

static void join(tkt_worker *worker)
{
    if (worker->has_thread)
        tkt_thread_join(worker->thread);
    worker->has_thread = worker->is_idle = worker->is_ended = false;
}

/* With the lock, which a thread that is idle needs no more. False if no thread can be started. */
static bool start(tkt_worker *worker)
{
    if (worker->is_idle)
        join(worker);
    if (!worker->has_thread)
        worker->has_thread = tkt_thread_start(&worker->thread, "takt", run, worker) == TAKT_OK;
    return worker->has_thread;
}

void tkt_worker_submit(tkt_worker *worker, tkt_cycle *cycle, bool in_foreground)
{
    tkt_mutex_lock(&worker->lock);
    worker->open++;
    bool is_for_thread = !in_foreground && start(worker);
    bool is_seen = worker->is_looking && worker->open < TKT_MOST_CYCLES / 4;
    if (is_for_thread) {
        append(&worker->waiting, cycle);
    } else {
        tkt_mutex_unlock(&worker->lock);
        seal_and_write(worker, cycle);
        tkt_mutex_lock(&worker->lock);
        finish(worker, cycle);
    }
    tkt_mutex_unlock(&worker->lock);
    if (is_for_thread && !is_seen) /* not with the lock, which it would wait for */
        tkt_condition_wake_all(&worker->changed);
}

void tkt_worker_recycle(tkt_worker *worker, tkt_cycle *cycle)
{
    tkt_mutex_lock(&worker->lock);
    bool has_thread = worker->has_thread && !worker->is_idle;
    if (has_thread)
        append(&worker->spent, cycle);
    tkt_mutex_unlock(&worker->lock);
    if (!has_thread)
        recycle(worker, cycle);
}

tkt_cycle *tkt_worker_new_cycle(tkt_worker *worker)
{
    tkt_mutex_lock(&worker->lock);
    tkt_cycle *cycle = take_first(&worker->spares);
    tkt_mutex_unlock(&worker->lock);
    if (!cycle)
        return tkt_alloc_zeroed(sizeof *cycle);
    cycle->next = NULL;
    return cycle;
}

#define READY (TKT_MOST_CYCLES + 3) /* the one that records, the next, one that is delivered */

static uint32_t count_spares(tkt_worker *worker)
{
    uint32_t count = 0;
    tkt_mutex_lock(&worker->lock);
    for (const tkt_cycle *cycle = worker->spares; cycle; cycle = cycle->next)
        count++;
    tkt_mutex_unlock(&worker->lock);
    return count;
}

void tkt_worker_prepare(tkt_worker *worker, bool in_foreground)
{
    tkt_mutex_lock(&worker->lock);
    if (!in_foreground)
        start(worker);
    tkt_mutex_unlock(&worker->lock);
    for (uint32_t i = count_spares(worker); i < READY; i++) {
        tkt_cycle *cycle = tkt_alloc(sizeof *cycle);
        if (!cycle)
            return;
        *cycle = (tkt_cycle){0};
        recycle(worker, cycle);
    }
}

bool tkt_worker_is_behind(tkt_worker *worker, uint32_t more)
{
    tkt_mutex_lock(&worker->lock);
    bool is_behind = worker->open + more >= TKT_MOST_CYCLES;
    tkt_mutex_unlock(&worker->lock);
    return is_behind;
}

tkt_cycle *tkt_worker_take(tkt_worker *worker)
{
    if (!tkt_worker_has_done(worker))
        return NULL;
    tkt_mutex_lock(&worker->lock);
    tkt_cycle *cycle = take_first(&worker->done);
    if (!worker->done)
        __atomic_store_n(&worker->has_done, false, __ATOMIC_RELAXED);
    tkt_mutex_unlock(&worker->lock);
    return cycle;
}

void tkt_worker_wait(tkt_worker *worker)
{
    tkt_condition_wake_all(&worker->changed); /* it need not look */
    tkt_mutex_lock(&worker->lock);
    while (worker->open > 0)
        tkt_condition_wait(&worker->changed, &worker->lock);
    tkt_mutex_unlock(&worker->lock);
}

void tkt_worker_end(tkt_worker *worker)
{
    tkt_mutex_lock(&worker->lock);
    worker->is_ended = true;
    tkt_condition_wake_all(&worker->changed);
    tkt_mutex_unlock(&worker->lock);
    join(worker);
}

void tkt_worker_fini(tkt_worker *worker)
{
    if (tkt_process_is_disabled()) /* a forked child has no such thread */
        return;
    tkt_worker_end(worker);
    destroy_all(worker->done);
    destroy_all(worker->spent);
    destroy_all(worker->spares);
}
