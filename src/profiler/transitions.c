/* The work between two steps: windows are opened and closed, cycles begun, saved and thrown away,
 * and other tools told. The table of schedule.c says which of it a change of action needs. */
#include "profiler/transitions.h"

#include "base/error.h"
#include "base/own.h"
#include "cuda/cuda.h"
#include "profiler/compile.h"
#include "record/log.h"
#include "record/site.h"

#define WARM_BYTES (UINT64_C(8) << 20) /* of memory for records, at once */

void tkt_profiler_note(takt_profiler *profiler, takt_status status)
{
    if (profiler->status == TAKT_OK)
        profiler->status = status;
}

/* ---- Modes and requests ---------------------------------------------------------------------- */

static uint32_t modes_of(const takt_profiler_options *options)
{
    uint32_t modes = 0;
    if (options->mode != TAKT_MODE_SUMMARY)
        modes |= TKT_KEEP;
    if (options->mode == TAKT_MODE_SUMMARY || options->mode == TAKT_MODE_BOTH)
        modes |= TKT_FOLD;
    if (options->mode == TAKT_MODE_FLIGHT)
        modes |= TKT_RING;
    if (options->record_shapes == TAKT_ON)
        modes |= TKT_ARGUMENTS;
    if (options->profile_memory == TAKT_ON)
        modes |= TKT_MEMORY;
    if (options->with_stack && (modes & TKT_KEEP))
        modes |= TKT_STACKS;
    return modes;
}

static tkt_wish wish_of(const takt_profiler *profiler)
{
    const takt_profiler_options *options = &profiler->options.given;
    tkt_wish wish = {.modes = modes_of(options),
                     .max_bytes = options->max_memory_bytes,
                     .devices = tkt_wants_devices(options) ? options->filter : 0,
                     .left_out = ~options->filter,
                     .whole_graphs = options->graph == TAKT_GRAPH_LAUNCH,
                     .device_wait_ms = options->device_wait_ms};
    if (options->activities & TAKT_ACTIVITIES_CPU)
        wish.mask = tkt_site_mask(options->level, options->categories, options->category_count);
    return wish;
}

/* ---- Transitions ----------------------------------------------------------------------------- */

void tkt_profiler_ready_memory(takt_profiler *profiler)
{
    const takt_profiler_options *given = &profiler->options.given;
    tkt_pool_prefault(given->max_memory_bytes < WARM_BYTES ? given->max_memory_bytes : WARM_BYTES);
    tkt_windows_keep();
    tkt_log_keep_spares();
    if (given->schedule.active > 0) /* one cycle may follow another */
        tkt_worker_prepare(&profiler->worker, given->background == TAKT_OFF);
}

/* Warms up, keeping nothing: call sites get ids, threads their logs, call stacks are found, and CUPTI
 * is switched on. */
static void prepare(takt_profiler *profiler)
{
    tkt_wish wish = wish_of(profiler);
    wish.modes &= TKT_STACKS; /* TKT_STACKS alone keeps no stacks, but takes threads off the fast
                               * path */
    if (tkt_window_open(&wish, &profiler->window) != TAKT_OK)
        profiler->window = NULL; /* the recording will report why it cannot begin */
    tkt_exit_save_earlier();
}

static void announce(const takt_profiler *profiler)
{
    const takt_schedule *schedule = &profiler->options.given.schedule;
    if (schedule->active == 0)
        tkt_log(TAKT_LOG_INFO, "recording until stop");
    else
        tkt_log(TAKT_LOG_INFO, "recording %u step%s", schedule->active,
                schedule->active == 1 ? "" : "s");
}

/* Says it once aloud: the next cycles are likely to be missed for the same reason. */
static void miss(takt_profiler *profiler, takt_status status, bool is_behind)
{
    tkt_profiler_note(profiler, status);
    tkt_log(profiler->cycles_missed++ ? TAKT_LOG_INFO : TAKT_LOG_ERROR,
            "cycle %u is not recorded: %s", profiler->cycles_begun++,
            is_behind                  ? "too many earlier ones wait to be saved"
            : status == TAKT_BAD_STATE ? "another profiler records a summary"
                                       : takt_status_text(status));
}

static void claim_directory(takt_profiler *profiler)
{
    const takt_profiler_options *given = &profiler->options.given;
    if (given->stream || given->trace_count > 0 || tkt_reports_need_folder(&profiler->options))
        tkt_options_claim_directory(&profiler->options);
}

/* `unsaved`: cycles that the worker does not have yet. */
static void start(takt_profiler *profiler, uint32_t unsaved)
{
    tkt_window *warm = profiler->window;
    tkt_wish wish = wish_of(profiler);
    bool is_behind = tkt_worker_is_behind(&profiler->worker, unsaved);
    tkt_cycle *cycle = is_behind ? NULL : tkt_worker_new_cycle(&profiler->worker);
    claim_directory(profiler); /* not inside the recording: file systems may be slow */
    takt_status status = cycle ? tkt_window_open(&wish, &profiler->window) : TAKT_NO_MEMORY;
    tkt_window_close(warm);
    if (status != TAKT_OK) {
        profiler->window = NULL;
        if (cycle)
            tkt_worker_recycle(&profiler->worker, cycle);
        miss(profiler, status, is_behind);
        return;
    }
    cycle->options = &profiler->options;
    cycle->reports = &profiler->reports;
    cycle->number = profiler->cycles_begun++;
    cycle->first_step = profiler->step;
    cycle->begun_ns = takt_now_ns();
    profiler->cycle = cycle;
    tkt_keeping_begin(cycle, profiler->window);
    bool streams = profiler->options.given.stream;
    if (streams)
        cycle->stream = tkt_stream_start(&profiler->options,
                                         &(tkt_stream_cycle){cycle->number, cycle->first_step,
                                                             &profiler->all_steps, &profiler->run},
                                         profiler->window);
    if (streams && !cycle->stream)
        tkt_cycle_note(cycle, TAKT_IO_ERROR);
    announce(profiler);
}

static void discard(takt_profiler *profiler)
{
    if (profiler->cycle) {
        tkt_profiler_note(profiler, profiler->cycle->status);
        tkt_stream_stop(profiler->cycle->stream);
        tkt_stream_destroy(profiler->cycle->stream, true);
        profiler->cycle->stream = NULL;
        tkt_keeping_done(profiler->cycle);
    }
    tkt_window_close(profiler->window);
    tkt_cycle_destroy(profiler->cycle);
    profiler->window = NULL;
    profiler->cycle = NULL;
}

/* Ends the recording, and returns the cycle for the worker; NULL if there is none. A cycle that stop()
 * cuts off is partial even in its last step, which has not ended. */
static tkt_cycle *save(takt_profiler *profiler, takt_action next, uint64_t now)
{
    tkt_cycle *cycle = profiler->cycle;
    if (!cycle)
        return NULL;
    const takt_profiler_options *given = &profiler->options.given;
    tkt_compile_collect(given->compile_traces, given->compile_trace_count, cycle->begun_ns);
    tkt_window_end(profiler->window, now);
    tkt_stream_end(cycle->stream, now); /* its last slice needs to know where the window ends */
    tkt_keeping_end(cycle, now);
    cycle->window = profiler->window;
    tkt_run_add_window(&profiler->run, cycle->first_step, cycle->step_count);
    tkt_keeping_change_run(&profiler->options, &(tkt_run_change){.kind = TKT_RUN_WINDOW,
                                                                 .first = cycle->first_step,
                                                                 .count = cycle->step_count});
    tkt_cycle_keep_run(cycle, &profiler->new_steps, &profiler->all_steps, &profiler->run);
    cycle->is_partial = next == TKT_STOPPED && profiler->options.given.schedule.active != 0;
    profiler->window = NULL;
    profiler->cycle = NULL;
    profiler->cycles_saved += !cycle->is_partial;
    return cycle;
}

/* From the profiler's first window to its last one, allocations on devices are collected between
 * windows too. */
static void hold_memory(takt_profiler *profiler, bool is_held)
{
    const takt_profiler_options *options = &profiler->options.given;
    if (options->profile_memory == TAKT_OFF || !tkt_wants_devices(options) ||
        profiler->holds_memory == is_held)
        return;
    profiler->holds_memory = is_held;
    tkt_session_hold_memory(is_held);
}

/* ---- Nsight ---------------------------------------------------------------------------------- */

/* Tells another tool to record what follows; see TAKT_NSIGHT_CAPTURE_RANGE. */
static void begin_capture(takt_profiler *profiler)
{
    static bool has_warned; /* atomic */
    if (profiler->options.given.nsight != TAKT_NSIGHT_CAPTURE_RANGE)
        return;
    profiler->is_captured = tkt_cuda_range_begin();
    /* relaxed: it only lets one caller through */
    if (!profiler->is_captured && !__atomic_exchange_n(&has_warned, true, __ATOMIC_RELAXED))
        tkt_log(TAKT_LOG_WARNING,
                "nsight: capture_range: step %lu is not in Nsight's recording, since the program "
                "has no CUDA context yet: use CUDA before the first recorded step",
                (unsigned long)profiler->step);
}

static void end_capture(takt_profiler *profiler)
{
    if (profiler->is_captured)
        tkt_cuda_range_end();
    profiler->is_captured = false;
}

/* ---- From one step to the next --------------------------------------------------------------- */

static bool is_over(const takt_profiler *profiler, takt_action action)
{
    uint64_t needed = takt_schedule_steps_needed(&profiler->options.given.schedule);
    return action == TKT_STOPPED || (needed && profiler->step >= needed);
}

void tkt_profiler_go_to(takt_profiler *profiler, takt_action to, uint64_t now)
{
    TKT_UNCANCELLED;
    TKT_OWN_WORK;
    uint32_t work = tkt_transition(profiler->action, to);
    if ((work & TKT_DO_SAVE) && (work & TKT_DO_START)) /* what has recorded is warm */
        work &= ~(uint32_t)TKT_DO_PREPARE;
    if (work & TKT_DO_WARN)
        tkt_log(TAKT_LOG_WARNING, "step %lu: the schedule ends a recording without saving it",
                (unsigned long)profiler->step);
    if (work & (TKT_DO_SAVE | TKT_DO_DISCARD))
        end_capture(profiler);
    bool in_foreground = profiler->options.given.background == TAKT_OFF;
    tkt_cycle *saved = work & TKT_DO_SAVE ? save(profiler, to, now) : NULL;
    if (saved && in_foreground)
        tkt_worker_submit(&profiler->worker, saved, true);
    if (work & TKT_DO_DISCARD)
        discard(profiler);
    if (work & TKT_DO_PREPARE) {
        hold_memory(profiler, true);
        prepare(profiler);
    }
    if (work & TKT_DO_START) {
        start(profiler, saved && !in_foreground);
        begin_capture(profiler);
    } else if (work & TKT_DO_PREPARE) {
        tkt_log(TAKT_LOG_INFO, "warmup");
    }
    if (saved && !in_foreground) /* now: if no window were open meanwhile, CUPTI would be switched off */
        tkt_worker_submit(&profiler->worker, saved, false);
    if (is_over(profiler, to))
        hold_memory(profiler, false);
    profiler->action = to;
}
