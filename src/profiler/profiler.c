/* The stepping profiler. What each step is comes from the schedule, what happens between two steps
 * from the table of transitions; here is only the doing. A step boundary at which nothing changes
 * reads the clock once and adds to a histogram. */
#include "base/error.h"
#include "cuda/cuda.h"
#include "profiler/environment.h"
#include "profiler/transition.h"
#include "profiler/view.h"
#include "profiler/worker.h"
#include "record/pool.h"
#include "record/scope.h"
#include "record/site.h"

#include <math.h>

#define MAX_STEPS  (UINT32_C(1) << 20) /* kept one by one of a cycle; all count in the histogram */
#define WARM_BYTES (UINT64_C(8) << 20) /* touched before recording, so that it does not fault */

struct takt_profiler {
    tkt_saved_options options;
    tkt_worker worker;
    bool is_running;
    bool was_started;
    uint64_t step;
    takt_action action;
    uint64_t step_begin; /* ticks */
    tkt_clock_fit fit;
    bool holds_memory;
    tkt_window *window;    /* of the warm-up or the recording */
    tkt_cycle *cycle;      /* being recorded */
    uint32_t cycles_begun; /* in all runs: files are named after it */
    uint32_t cycles_saved;
    tkt_all_steps all_steps;
    takt_trace *last;
    char *viewable; /* the last file that a browser can show; NULL */
};

/* ---- What is recorded ------------------------------------------------------------------------ */

static uint32_t modes_of(const takt_profiler_options *options)
{
    uint32_t modes = 0;
    if (options->mode != TAKT_MODE_SUMMARY)
        modes |= TKT_KEEP;
    if (options->mode == TAKT_MODE_SUMMARY || options->mode == TAKT_MODE_BOTH)
        modes |= TKT_FOLD;
    if (options->mode == TAKT_MODE_FLIGHT)
        modes |= TKT_RING;
    if (!options->no_arguments)
        modes |= TKT_ARGUMENTS;
    if (!options->no_memory)
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
                     .devices = options->no_devices ? 0 : options->filter,
                     .whole_graphs = options->whole_graphs,
                     .device_wait_ms = options->device_wait_ms};
    if (!options->no_host)
        wish.mask = tkt_site_mask(options->level, options->categories, options->category_count);
    return wish;
}

/* ---- Transitions ----------------------------------------------------------------------------- */

/* Warming up: call sites get their ids, threads their logs, memory its pages, and CUPTI is on;
 * nothing is kept. */
static void prepare(takt_profiler *profiler)
{
    tkt_wish wish = wish_of(profiler);
    wish.modes &= TKT_STACKS; /* alone it keeps none, but takes threads off the fast path */
    tkt_pool_limit(wish.max_bytes);
    tkt_pool_prefault(WARM_BYTES);
    if (tkt_window_open(&wish, &profiler->window) != TAKT_OK)
        profiler->window = NULL; /* the recording will say why it cannot begin */
    tkt_environment_stop_earlier(profiler);
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
        tkt_log(TAKT_LOG_ERROR, "cycle %u is not recorded: %s", profiler->cycles_begun++,
                status == TAKT_BAD_STATE ? "another profiler makes a summary"
                                         : takt_status_text(status));
        return;
    }
    cycle->options = &profiler->options;
    cycle->number = profiler->cycles_begun++;
    cycle->first_step = profiler->step;
    profiler->cycle = cycle;
    bool streams =
        profiler->options.given.stream && profiler->options.given.mode != TAKT_MODE_SUMMARY;
    if (streams || profiler->options.given.trace_count > 0)
        tkt_options_claim_directory(&profiler->options);
    if (streams)
        cycle->stream = tkt_stream_start(&profiler->options, cycle->number, profiler->window);
    announce(profiler);
}

static void discard(takt_profiler *profiler)
{
    if (profiler->cycle) {
        tkt_stream_stop(profiler->cycle->stream);
        tkt_stream_destroy(profiler->cycle->stream, true);
        profiler->cycle->stream = NULL;
    }
    tkt_window_close(profiler->window);
    tkt_cycle_destroy(profiler->cycle);
    profiler->window = NULL;
    profiler->cycle = NULL;
}

/* Hands the recording to the worker. What stop() cuts off is partial, be it in the last step: that
 * one has not ended. */
static void save(takt_profiler *profiler, takt_action next, uint64_t now)
{
    tkt_cycle *cycle = profiler->cycle;
    if (!cycle)
        return;
    tkt_window_end(profiler->window, now);
    cycle->window = profiler->window;
    cycle->all_steps = profiler->all_steps;
    cycle->is_partial = next == TKT_STOPPED && profiler->options.given.schedule.active != 0;
    profiler->window = NULL;
    profiler->cycle = NULL;
    profiler->cycles_saved += !cycle->is_partial;
    tkt_worker_submit(&profiler->worker, cycle, profiler->options.given.foreground);
}

/* From the profiler's first window to its last one, what is allocated on devices between them is
 * heard of, too. */
static void hold_memory(takt_profiler *profiler, bool is_held)
{
    const takt_profiler_options *options = &profiler->options.given;
    if (options->no_memory || options->no_devices || profiler->holds_memory == is_held)
        return;
    profiler->holds_memory = is_held;
    tkt_session_hold_memory(is_held);
}

static bool is_over(const takt_profiler *profiler, takt_action action)
{
    uint64_t needed = takt_schedule_steps_needed(&profiler->options.given.schedule);
    return action == TKT_STOPPED || (needed && profiler->step >= needed);
}

static void go_to(takt_profiler *profiler, takt_action to, uint64_t now)
{
    uint32_t what = tkt_transition(profiler->action, to);
    if (what & TKT_DO_WARN)
        tkt_log(TAKT_LOG_WARNING, "step %lu: the schedule ends a recording without saving it",
                (unsigned long)profiler->step);
    if (what & TKT_DO_SAVE)
        save(profiler, to, now);
    if (what & TKT_DO_DISCARD)
        discard(profiler);
    if (what & TKT_DO_PREPARE) {
        hold_memory(profiler, true);
        prepare(profiler);
    }
    if (what & TKT_DO_START)
        start(profiler);
    else if (what & TKT_DO_PREPARE)
        tkt_log(TAKT_LOG_INFO, "warmup");
    if (is_over(profiler, to))
        hold_memory(profiler, false);
    profiler->action = to;
}

/* Where a step ends and the next begins, in ticks. */
static uint64_t read_boundary(const takt_profiler *profiler)
{
    if (profiler->options.given.synchronize)
        tkt_cuda_synchronize();
    return tkt_ticks();
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static void add_step_to_cycle(takt_profiler *profiler, uint64_t now)
{
    tkt_cycle *cycle = profiler->cycle;
    cycle->step_count++;
    tkt_step *step = cycle->steps.count < MAX_STEPS ? TKT_ARRAY_ADD(&cycle->steps) : NULL;
    if (!step)
        return;
    *step = (tkt_step){profiler->step, profiler->step_begin, now};
    if (cycle->stream)
        tkt_stream_step(cycle->stream, step);
}

static void end_step(takt_profiler *profiler, uint64_t now)
{
    uint64_t ticks = now - profiler->step_begin;
    uint64_t duration_ns = tkt_clock_duration_ns(profiler->fit.ns_per_tick, ticks);
    tkt_stats_add(&profiler->all_steps.stats, duration_ns);
    tkt_histogram_add(&profiler->all_steps.histogram, duration_ns);
    if (profiler->cycle)
        add_step_to_cycle(profiler, now);
}

/* Gives the program what the worker has finished; says whether there was anything. */
static bool deliver(takt_profiler *profiler)
{
    bool was_any = false;
    for (tkt_cycle *cycle; (cycle = tkt_worker_take(&profiler->worker)) != NULL;) {
        was_any = true;
        if (cycle->trace) {
            takt_trace_release(profiler->last);
            profiler->last = (takt_trace *)takt_trace_retain(cycle->trace);
        }
        if (cycle->viewable) {
            tkt_free(profiler->viewable);
            profiler->viewable = cycle->viewable;
            cycle->viewable = NULL;
        }
        tkt_cycle_deliver(cycle);
        tkt_cycle_destroy(cycle);
    }
    return was_any;
}

takt_status takt_profiler_start(takt_profiler *profiler)
{
    if (!profiler && !(profiler = tkt_environment_profiler()))
        return TAKT_OK;
    if (profiler->is_running || tkt_record_is_disabled())
        return TAKT_BAD_STATE;
    tkt_record_run(true); /* a child would go on counting, and write into the same files */
    profiler->is_running = profiler->was_started = true;
    profiler->step = 0;
    profiler->cycles_saved = 0;
    profiler->fit = tkt_clock_fit_now();
    double simulated_seconds = profiler->all_steps.simulated_seconds;
    profiler->all_steps = (tkt_all_steps){.simulated_seconds = simulated_seconds};
    tkt_stats_init(&profiler->all_steps.stats);
    profiler->action = TKT_STOPPED;
    go_to(profiler, takt_schedule_action(&profiler->options.given.schedule, 0), 0);
    profiler->step_begin = read_boundary(profiler);
    return TAKT_OK;
}

takt_status takt_profiler_step(takt_profiler *profiler)
{
    if (!profiler && !(profiler = tkt_environment_profiler()))
        return TAKT_OK;
    if (!profiler->was_started && profiler == tkt_environment_profiler())
        return takt_profiler_start(profiler);
    if (!profiler->is_running || tkt_record_is_disabled())
        return TAKT_BAD_STATE;
    uint64_t now = read_boundary(profiler);
    tkt_scope_end_phase(now);
    end_step(profiler, now);
    profiler->step++;
    takt_action next = takt_schedule_action(&profiler->options.given.schedule, profiler->step);
    bool changes = tkt_transition(profiler->action, next) != 0;
    go_to(profiler, next, now);
    bool was_delivered = deliver(profiler);
    profiler->step_begin = changes || was_delivered ? tkt_ticks() : now;
    return TAKT_OK;
}

/* Tells a program that ends before its schedule does. */
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

takt_status takt_profiler_stop(takt_profiler *profiler)
{
    if (!profiler && !(profiler = tkt_environment_profiler()))
        return TAKT_OK;
    if (!profiler->is_running)
        return TAKT_BAD_STATE;
    profiler->is_running = false;
    if (tkt_record_is_disabled())
        return TAKT_OK;
    tkt_record_run(false);
    uint64_t now = read_boundary(profiler);
    tkt_scope_end_phase(now);
    go_to(profiler, TKT_STOPPED, now);
    check_end(profiler);
    tkt_worker_wait(&profiler->worker);
    deliver(profiler);
    if (profiler->options.given.view)
        tkt_view(profiler->viewable);
    return TAKT_OK;
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
    if (!profiler)
        return;
    if (profiler->is_running)
        takt_profiler_stop(profiler);
    tkt_worker_fini(&profiler->worker);
    takt_trace_release(profiler->last);
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
    return profiler && profiler->is_running ? profiler->action : TAKT_NONE;
}
