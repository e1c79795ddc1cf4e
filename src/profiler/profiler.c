/* The stepping profiler. The schedule gives the action of each step, and the table of transitions
 * the work between two steps; this file does the work. A step boundary without a change reads the
 * clock once and adds to a histogram. */
#include "base/error.h"
#include "base/thread.h"
#include "cuda/timers.h"
#include "cuda/cuda.h"
#include "nvtx/nvtx.h"
#include "profiler/options.h"
#include "profiler/compile.h"
#include "profiler/cycle.h"
#include "record/mapping.h"
#include "record/log.h"
#include "record/scope.h"
#include "record/site.h"

#include <math.h>
#include <stdio.h>

#define MAX_STEPS       (UINT32_C(1) << 20) /* kept singly in a cycle; the histogram counts all */
#define LONGEST_WAIT_MS 10000u              /* exit() waits for a thread inside step or stop */
#define WARM_BYTES      (UINT64_C(8) << 20) /* touched early, so that recording does not fault */

struct takt_profiler {
    tkt_saved_options options;
    tkt_worker worker;
    tkt_report_place reports;
    bool is_running;
    bool was_started;
    uint64_t step;
    takt_action action;
    uint64_t step_begin; /* ticks */
    tkt_clock_fit fit;
    bool holds_memory;
    bool is_captured; /* another tool was told to record these steps */
    bool has_range;   /* `range` is the NVTX range of the current step */
    tkt_nvtx_open range;
    tkt_window *window;    /* of the warm-up or the recording */
    tkt_cycle *cycle;      /* the cycle being recorded */
    uint32_t cycles_begun; /* in all runs: the number in file names */
    uint32_t cycles_saved;
    tkt_all_steps all_steps;
    takt_trace *last;
    char *viewable;     /* the latest file that a browser can show; NULL */
    takt_status status; /* first failure since the start; stop returns it */
    uintptr_t user;     /* atomic; the thread inside start, step or stop; 0: none */
    bool was_refused;   /* atomic; a second thread's step was refused, and the log says so */
    bool is_saved;      /* saved at exit, before stop was called */
    tkt_cycle *kept;    /* oldest first; saved at exit, and on_trace not called yet */
};

/* ---- One thread at a time -------------------------------------------------------------------- */

/* exit() may be called while another thread steps: then only one of the two may enter. Inside
 * on_trace the same thread may enter again. */
static bool enter(takt_profiler *profiler, uintptr_t *before)
{
    uintptr_t me = (uintptr_t)&takt_thread_hot_v1;
    *before = 0;
    /* acquire: pairs with the release in leave() */
    return __atomic_compare_exchange_n(&profiler->user, before, me, false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED) ||
           *before == me;
}

static void leave(takt_profiler *profiler, uintptr_t before)
{
    /* release: pairs with the acquire in enter() */
    __atomic_store_n(&profiler->user, before, __ATOMIC_RELEASE);
}

static void note(takt_profiler *profiler, takt_status status)
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
                     .whole_graphs = options->graph == TAKT_GRAPH_LAUNCH,
                     .device_wait_ms = options->device_wait_ms};
    if (options->activities & TAKT_ACTIVITIES_CPU)
        wish.mask = tkt_site_mask(options->level, options->categories, options->category_count);
    return wish;
}

/* ---- Transitions ----------------------------------------------------------------------------- */

/* Warms up, keeping nothing: call sites get ids, threads their logs, memory its pages, and CUPTI is
 * switched on. */
static void prepare(takt_profiler *profiler)
{
    tkt_wish wish = wish_of(profiler);
    wish.modes &= TKT_STACKS; /* TKT_STACKS alone keeps no stacks, but takes threads off the fast
                               * path */
    tkt_pool_limit(wish.max_bytes);
    tkt_pool_prefault(WARM_BYTES);
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

static void start(takt_profiler *profiler)
{
    tkt_window *warm = profiler->window;
    tkt_wish wish = wish_of(profiler);
    tkt_cycle *cycle = tkt_alloc_zeroed(sizeof *cycle);
    takt_status status = cycle ? tkt_window_open(&wish, &profiler->window) : TAKT_NO_MEMORY;
    tkt_window_close(warm);
    if (status != TAKT_OK) {
        profiler->window = NULL;
        tkt_free(cycle);
        note(profiler, status);
        tkt_log(TAKT_LOG_ERROR, "cycle %u is not recorded: %s", profiler->cycles_begun++,
                status == TAKT_BAD_STATE ? "another profiler records a summary"
                                         : takt_status_text(status));
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
    if (streams || profiler->options.given.trace_count > 0 ||
        tkt_reports_need_folder(&profiler->options))
        tkt_options_claim_directory(&profiler->options);
    if (streams)
        cycle->stream = tkt_stream_start(
            &profiler->options,
            &(tkt_stream_cycle){cycle->number, cycle->first_step, &profiler->all_steps},
            profiler->window);
    if (streams && !cycle->stream)
        tkt_cycle_note(cycle, TAKT_IO_ERROR);
    announce(profiler);
}

static void discard(takt_profiler *profiler)
{
    if (profiler->cycle) {
        note(profiler, profiler->cycle->status);
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

/* Hands the recording to the worker. A cycle that stop() cuts off is partial even in its last step,
 * which has not ended. */
static void save(takt_profiler *profiler, takt_action next, uint64_t now)
{
    tkt_cycle *cycle = profiler->cycle;
    if (!cycle)
        return;
    const takt_profiler_options *given = &profiler->options.given;
    tkt_compile_collect(given->compile_traces, given->compile_trace_count, cycle->begun_ns);
    tkt_stream_end(cycle->stream, now);
    tkt_window_end(profiler->window, now);
    tkt_keeping_end(cycle, now);
    cycle->window = profiler->window;
    cycle->all_steps = profiler->all_steps;
    cycle->is_partial = next == TKT_STOPPED && profiler->options.given.schedule.active != 0;
    profiler->window = NULL;
    profiler->cycle = NULL;
    profiler->cycles_saved += !cycle->is_partial;
    tkt_worker_submit(&profiler->worker, cycle, profiler->options.given.background == TAKT_OFF);
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

static void begin_range(takt_profiler *profiler)
{
    char name[32];
    bool is_recorded =
        profiler->action == TAKT_ACTION_RECORD || profiler->action == TAKT_ACTION_RECORD_AND_SAVE;
    if (profiler->options.given.nsight != TAKT_NSIGHT_CAPTURE_RANGE || !is_recorded)
        return;
    snprintf(name, sizeof name, "step %lu", (unsigned long)profiler->step);
    profiler->range = tkt_nvtx_range_start(&(tkt_nvtx_range){.name = name,
                                                             .domain = "takt",
                                                             .category = "step",
                                                             .payload = (int64_t)profiler->step,
                                                             .has_payload = true});
    profiler->has_range = true;
}

static void end_range(takt_profiler *profiler)
{
    if (profiler->has_range)
        tkt_nvtx_range_end(profiler->range);
    profiler->has_range = false;
}

/* ---- From one step to the next --------------------------------------------------------------- */

static bool is_over(const takt_profiler *profiler, takt_action action)
{
    uint64_t needed = takt_schedule_steps_needed(&profiler->options.given.schedule);
    return action == TKT_STOPPED || (needed && profiler->step >= needed);
}

static void go_to(takt_profiler *profiler, takt_action to, uint64_t now)
{
    uint32_t work = tkt_transition(profiler->action, to);
    if (work & TKT_DO_WARN)
        tkt_log(TAKT_LOG_WARNING, "step %lu: the schedule ends a recording without saving it",
                (unsigned long)profiler->step);
    if (work & (TKT_DO_SAVE | TKT_DO_DISCARD))
        end_capture(profiler);
    if (work & TKT_DO_SAVE)
        save(profiler, to, now);
    if (work & TKT_DO_DISCARD)
        discard(profiler);
    if (work & TKT_DO_PREPARE) {
        hold_memory(profiler, true);
        prepare(profiler);
    }
    if (work & TKT_DO_START) {
        start(profiler);
        begin_capture(profiler);
    } else if (work & TKT_DO_PREPARE) {
        tkt_log(TAKT_LOG_INFO, "warmup");
    }
    if (is_over(profiler, to))
        hold_memory(profiler, false);
    profiler->action = to;
}

/* If the options request it, waits for the work that a step has launched before the step ends. */
static void synchronize(const takt_profiler *profiler)
{
    if (profiler->options.given.synchronize)
        tkt_cuda_synchronize();
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static void add_step_to_cycle(takt_profiler *profiler, uint64_t now)
{
    tkt_cycle *cycle = profiler->cycle;
    cycle->step_count++;
    const tkt_step step = {profiler->step, profiler->step_begin, now};
    if (cycle->mapped)
        tkt_mapping_add_step(profiler->step, profiler->step_begin, now);
    if (cycle->stream)
        tkt_stream_step(cycle->stream, &step);
    bool has_room = cycle->steps.count < MAX_STEPS;
    tkt_step *kept = has_room ? TKT_ARRAY_ADD(&cycle->steps) : NULL;
    if (kept)
        *kept = step;
    cycle->steps_lost += has_room && !kept;
}

static void end_step(takt_profiler *profiler, uint64_t now)
{
    uint64_t ticks = now - profiler->step_begin;
    uint64_t duration_ns = tkt_clock_duration_ns(profiler->fit.ns_per_tick, ticks);
    tkt_all_steps_add(&profiler->all_steps, duration_ns);
    if (profiler->cycle)
        add_step_to_cycle(profiler, now);
}

static void adopt(takt_profiler *profiler, tkt_cycle *cycle)
{
    if (cycle->trace) {
        takt_trace_release(profiler->last);
        profiler->last = (takt_trace *)takt_trace_retain(cycle->trace);
    }
    if (cycle->viewable) {
        tkt_free(profiler->viewable);
        profiler->viewable = cycle->viewable;
        cycle->viewable = NULL;
    }
}

static void hand_over(takt_profiler *profiler, tkt_cycle *cycle)
{
    tkt_cycle_deliver(cycle);
    note(profiler, cycle->status);
    tkt_cycle_destroy(cycle);
}

/* Delivers the cycles that the worker has finished. True if there was any. */
static bool deliver(takt_profiler *profiler)
{
    bool was_any = false;
    for (tkt_cycle *cycle; (cycle = profiler->kept) != NULL;) {
        profiler->kept = cycle->next;
        hand_over(profiler, cycle);
    }
    for (tkt_cycle *cycle; (cycle = tkt_worker_take(&profiler->worker)) != NULL;) {
        was_any = true;
        adopt(profiler, cycle);
        hand_over(profiler, cycle);
    }
    return was_any;
}

/* Prints the cycles that the worker has finished, and keeps them for on_trace. */
static void print_and_keep(takt_profiler *profiler)
{
    tkt_cycle **end = &profiler->kept;
    while (*end)
        end = &(*end)->next;
    for (tkt_cycle *cycle; (cycle = tkt_worker_take(&profiler->worker)) != NULL;) {
        adopt(profiler, cycle);
        tkt_cycle_print(cycle);
        cycle->next = NULL;
        *end = cycle;
        end = &cycle->next;
    }
}

/* ---- The public functions -------------------------------------------------------------------- */

static takt_status begin(takt_profiler *profiler)
{
    tkt_options_hold_directory(&profiler->options);
    profiler->was_started = true;
    if (profiler->options.given.crash_safe) {
        takt_status status = tkt_keeping_start(&profiler->options);
        if (status != TAKT_OK)
            return status;
    }
    tkt_record_run(true); /* or a forked child would count on, into the same files */
    profiler->is_running = true;
    profiler->is_saved = false;
    profiler->status = TAKT_OK;
    profiler->step = 0;
    profiler->cycles_saved = 0;
    profiler->fit = tkt_clock_fit_now();
    double simulated_seconds = profiler->all_steps.simulated_seconds;
    profiler->all_steps = (tkt_all_steps){.simulated_seconds = simulated_seconds};
    tkt_stats_init(&profiler->all_steps.stats);
    profiler->action = TKT_STOPPED;
    go_to(profiler, takt_schedule_action(&profiler->options.given.schedule, 0), 0);
    synchronize(profiler);
    begin_range(profiler);
    profiler->step_begin = tkt_ticks();
    return TAKT_OK;
}

takt_status takt_profiler_start(takt_profiler *profiler)
{
    uintptr_t before;
    if (!profiler && !(profiler = tkt_environment_profiler()))
        return tkt_environment_status();
    if (tkt_process_is_disabled())
        return TAKT_BAD_STATE;
    tkt_exit_watch(profiler);
    if (!enter(profiler, &before))
        return TAKT_BAD_STATE;
    bool was_running = profiler->is_running;
    takt_status status = was_running ? TAKT_BAD_STATE : begin(profiler);
    leave(profiler, before);
    if (!was_running && status != TAKT_OK)
        tkt_exit_forget(profiler);
    return status;
}

static void step(takt_profiler *profiler)
{
    tkt_timers_step();
    synchronize(profiler);
    uint64_t now = tkt_scope_end_phase();
    end_range(profiler);
    end_step(profiler, now);
    profiler->step++;
    takt_action next = takt_schedule_action(&profiler->options.given.schedule, profiler->step);
    bool changes = tkt_transition(profiler->action, next) != 0;
    if (changes)
        go_to(profiler, next, now);
    else
        profiler->action = next;
    bool was_delivered = deliver(profiler);
    begin_range(profiler);
    profiler->step_begin = changes || was_delivered ? tkt_ticks() : now;
}

static void warn_refused(takt_profiler *profiler)
{
    if (!__atomic_exchange_n(&profiler->was_refused, true, __ATOMIC_RELAXED))
        tkt_log(TAKT_LOG_WARNING,
                "takt_profiler_step() was called while another thread was in this "
                "profiler: the step does not count; call it from one thread");
}

takt_status takt_profiler_step(takt_profiler *profiler)
{
    uintptr_t before;
    if (!profiler && !(profiler = tkt_environment_profiler()))
        return TAKT_OK;
    if (!profiler->was_started && profiler == tkt_environment_profiler())
        return takt_profiler_start(profiler);
    if (tkt_process_is_disabled())
        return TAKT_BAD_STATE;
    if (!enter(profiler, &before)) {
        warn_refused(profiler);
        return TAKT_BAD_STATE;
    }
    bool is_running = profiler->is_running && !profiler->is_saved;
    if (is_running)
        step(profiler);
    leave(profiler, before);
    return is_running ? TAKT_OK : TAKT_BAD_STATE;
}

/* Warns a program that ends before its schedule does. */
static void check_end(const takt_profiler *profiler)
{
    const takt_schedule *schedule = &profiler->options.given.schedule;
    uint64_t needed = takt_schedule_steps_needed(schedule);
    if (profiler->step >= needed)
        return;
    uint64_t missing = needed - profiler->step;
    uint64_t cycles = schedule->repeat;
    if (schedule->repeat_mode == TAKT_REPEAT_ADDITIONAL)
        cycles++;
    tkt_log(TAKT_LOG_WARNING, "%u of %lu cycle%s recorded; %lu more step%s needed%s",
            profiler->cycles_saved, (unsigned long)cycles, cycles == 1 ? "" : "s",
            (unsigned long)missing, missing == 1 ? "" : "s",
            profiler->step == 0 ? ": takt_profiler_step() was never called" : "");
}

/* Ends the recording and waits until its files are written. */
static void save_all(takt_profiler *profiler)
{
    if (profiler->is_saved)
        return;
    tkt_record_run(false);
    tkt_timers_step();
    synchronize(profiler);
    uint64_t now = tkt_scope_end_phase();
    end_range(profiler);
    go_to(profiler, TKT_STOPPED, now);
    check_end(profiler);
    tkt_worker_wait(&profiler->worker);
}

static void view(const takt_profiler *profiler)
{
    if (profiler->options.given.view)
        tkt_view(profiler->viewable);
}

void tkt_profiler_tell_child(void)
{
    tkt_log(TAKT_LOG_ERROR,
            "this process was forked while Takt recorded: its events are not saved");
}

takt_status takt_profiler_stop(takt_profiler *profiler)
{
    uintptr_t before;
    if (!profiler && !(profiler = tkt_environment_profiler()))
        return tkt_environment_status();
    if (tkt_process_is_disabled()) {
        if (profiler->is_running)
            tkt_profiler_tell_child();
        profiler->is_running = false;
        return TAKT_BAD_STATE;
    }
    if (!enter(profiler, &before))
        return TAKT_BAD_STATE;
    takt_status status = TAKT_BAD_STATE;
    if (profiler->is_running) {
        profiler->is_running = false;
        save_all(profiler);
        deliver(profiler);
        if (!profiler->is_saved)
            view(profiler);
        status = profiler->status;
    }
    leave(profiler, before);
    tkt_exit_forget(profiler);
    return status;
}

/* ---- The program's end ----------------------------------------------------------------------- */

bool tkt_profiler_take_at_exit(takt_profiler *profiler, bool *is_inside)
{
    uintptr_t before;
    for (uint32_t ms = 0; !enter(profiler, &before); ms++) {
        if (ms == LONGEST_WAIT_MS) {
            tkt_log(TAKT_LOG_ERROR, "the program ends while another thread is inside a "
                                    "function of its profiler: the recording is lost");
            return false;
        }
        tkt_thread_pause_ms(1);
    }
    *is_inside = before != 0;
    return true;
}

void tkt_profiler_save_at_exit(takt_profiler *profiler, bool is_inside)
{
    if (!profiler->is_running)
        return;
    if (is_inside) {
        tkt_worker_wait(&profiler->worker);
        return;
    }
    save_all(profiler);
    profiler->is_saved = true;
    if (profiler->options.given.on_trace)
        print_and_keep(profiler);
    else
        deliver(profiler);
    view(profiler);
}

/* ---- Making and freeing ---------------------------------------------------------------------- */

takt_status takt_profiler_create(const takt_profiler_options *options, takt_profiler **out)
{
    if (!options || !out)
        return TAKT_BAD_ARGUMENT;
    takt_profiler *profiler = tkt_alloc_zeroed(sizeof *profiler);
    if (!profiler)
        return TAKT_NO_MEMORY;
    takt_status status = tkt_options_save(&profiler->options, options);
    if (status != TAKT_OK) {
        tkt_free(profiler);
        return status;
    }
    tkt_worker_init(&profiler->worker);
    *out = profiler;
    return TAKT_OK;
}

void takt_profiler_destroy(takt_profiler *profiler)
{
    uintptr_t before;
    if (!profiler)
        return;
    if (profiler->is_running)
        takt_profiler_stop(profiler);
    tkt_exit_forget(profiler);
    if (!tkt_process_is_disabled() && !enter(profiler, &before))
        return; /* exit() uses it on another thread */
    tkt_worker_fini(&profiler->worker);
    takt_trace_release(profiler->last);
    tkt_report_place_close(&profiler->reports);
    tkt_free(profiler->viewable);
    tkt_options_fini(&profiler->options);
    tkt_free(profiler);
}

takt_status takt_profiler_step_time(takt_profiler *profiler, double seconds)
{
    if (!profiler && !(profiler = tkt_environment_profiler()))
        return TAKT_OK;
    if (!(seconds > 0 && seconds < INFINITY))
        return TAKT_BAD_ARGUMENT;
    profiler->all_steps.simulated_seconds = seconds;
    return TAKT_OK;
}

static const takt_profiler *or_environment(const takt_profiler *profiler)
{
    return profiler ? profiler : tkt_environment_profiler();
}

const takt_trace *takt_profiler_trace(const takt_profiler *profiler)
{
    profiler = or_environment(profiler);
    return profiler ? profiler->last : NULL;
}

uint64_t takt_profiler_step_number(const takt_profiler *profiler)
{
    profiler = or_environment(profiler);
    return profiler ? profiler->step : 0;
}

takt_action takt_profiler_action(const takt_profiler *profiler)
{
    profiler = or_environment(profiler);
    return profiler && profiler->is_running ? profiler->action : TAKT_ACTION_NONE;
}
