/* The stepping profiler: its functions and the clock of steps. The schedule gives the action of
 * each step; what has to be done between two of them is in transitions.c. A step boundary without a
 * change reads the clock once and adds to a histogram. */
#include "base/error.h"
#include "base/own.h"
#include "cuda/cuda.h"
#include "cuda/timers.h"
#include "profiler/transitions.h"
#include "record/keeper.h"
#include "record/mapping.h"
#include "record/scope.h"
#include "record/slot.h"

#include <stdio.h>

/* ---- One thread at a time -------------------------------------------------------------------- */

/* exit() may be called while another thread steps: then only one of the two may enter. Inside
 * on_trace the same thread may enter again. */
static inline bool take(takt_profiler *profiler, uintptr_t *before)
{
    uintptr_t me = (uintptr_t)&takt_thread_hot_v1;
    *before = 0;
    /* acquire: pairs with the release in leave() */
    return __atomic_compare_exchange_n(&profiler->user, before, me, false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED) ||
           *before == me;
}

/* False in a signal handler that interrupted Takt, too. */
static inline bool enter(takt_profiler *profiler, uintptr_t *before)
{
    return !tkt_thread_is_interrupted() && take(profiler, before);
}

static void leave(takt_profiler *profiler, uintptr_t before)
{
    /* release: pairs with the acquire in enter() */
    __atomic_store_n(&profiler->user, before, __ATOMIC_RELEASE);
}

/* ---- Steps ----------------------------------------------------------------------------------- */

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

/* If the options request it, waits for the work that a step has launched before the step ends. */
static void synchronize(const takt_profiler *profiler)
{
    if (profiler->options.given.synchronize)
        tkt_cuda_synchronize();
}

static void add_step_to_cycle(takt_profiler *profiler, uint64_t now)
{
    tkt_cycle *cycle = profiler->cycle;
    cycle->step_count++;
    const tkt_step step = {profiler->step, profiler->step_begin, now};
    if (cycle->mapped)
        tkt_mapping_add_step(profiler->step, profiler->step_begin, now);
    if (cycle->stream)
        tkt_stream_step(cycle->stream, &step, profiler->all_steps.simulated_seconds);
    tkt_blocks *steps = &cycle->steps;
    /* a flight recorder keeps the latest steps */
    if (steps->bytes == TKT_MOST_STEPS * sizeof step &&
        profiler->options.given.mode == TAKT_MODE_FLIGHT)
        cycle->steps_beyond += tkt_blocks_drop(steps) / sizeof step;
    bool has_room = steps->bytes < TKT_MOST_STEPS * sizeof step;
    tkt_step *kept = has_room ? tkt_blocks_add(steps, sizeof step) : NULL;
    if (kept)
        *kept = step;
    cycle->steps_lost += has_room && !kept;
    cycle->steps_beyond += !has_room;
}

static void end_step(takt_profiler *profiler, uint64_t now)
{
    uint64_t ticks = now - profiler->step_begin;
    uint64_t duration_ns = tkt_clock_duration_ns(profiler->fit.ns_per_tick, ticks);
    tkt_all_steps_add(&profiler->all_steps, &profiler->run, duration_ns);
    tkt_new_steps_add(&profiler->new_steps, duration_ns);
    if (profiler->options.given.crash_safe)
        tkt_keeping_change_run(
            &profiler->options,
            &(tkt_run_change){.kind = TKT_RUN_STEP,
                              .duration_ns = duration_ns,
                              .simulated_seconds = profiler->all_steps.simulated_seconds});
    if (profiler->cycle)
        add_step_to_cycle(profiler, now);
}

static void adopt(takt_profiler *profiler, tkt_cycle *cycle)
{
    if (cycle->trace) {
        cycle->earlier = profiler->last;
        profiler->last = (takt_trace *)takt_trace_retain(cycle->trace);
    }
    if (cycle->viewable) {
        char *before = profiler->viewable;
        profiler->viewable = cycle->viewable;
        cycle->viewable = before; /* the worker frees it */
    }
}

__attribute__((cold)) static void hand_over(takt_profiler *profiler, tkt_cycle *cycle)
{
    tkt_cycle *before = profiler->delivered; /* on_trace may stop the profiler */
    cycle->next = before;
    profiler->delivered = cycle;
    profiler->delivered_at = (uintptr_t)__builtin_frame_address(0);
    profiler->is_away = true;
    tkt_cycle_deliver(cycle);
    profiler->is_away = before != NULL;
    profiler->delivered = before;
    tkt_profiler_note(profiler, cycle->status);
    tkt_worker_recycle(&profiler->worker, cycle); /* which takes its time */
}

/* Delivers the cycles that the worker has finished. True if there was any. */
__attribute__((cold)) static bool deliver(takt_profiler *profiler)
{
    TKT_UNCANCELLED;
    TKT_OWN_WORK;
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

#define FIRST_STEPS 64u

/* The program may make its graphs while the profiler waits. Asks until the program has initialised
 * the driver: at each of the first steps, later at one in so many. */
static void look_ahead(takt_profiler *profiler)
{
    if (profiler->step > FIRST_STEPS && profiler->step % FIRST_STEPS)
        return;
    profiler->must_look_ahead = profiler->action == TAKT_ACTION_NONE && !tkt_cuda_look_ahead();
}

static takt_status begin(takt_profiler *profiler)
{
    tkt_options_hold_directory(&profiler->options);
    __atomic_store_n(&profiler->was_started, true, __ATOMIC_RELAXED);
    if (profiler->options.given.crash_safe) {
        takt_status status = tkt_keeping_start(&profiler->options);
        if (status != TAKT_OK)
            return status;
    }
    tkt_record_run(true); /* or a forked child would count on, into the same files */
    tkt_keeper_begin();
    tkt_profiler_ready_memory(profiler);
    tkt_exit_count_unsaved(1);
    profiler->is_running = true;
    profiler->is_saved = false;
    profiler->status = TAKT_OK;
    profiler->step = 0;
    profiler->cycles_saved = profiler->cycles_missed = 0;
    profiler->fit = tkt_clock_fit_now();
    double simulated_seconds = profiler->all_steps.simulated_seconds;
    profiler->all_steps = (tkt_all_steps){.simulated_seconds = simulated_seconds};
    tkt_stats_init(&profiler->all_steps.stats);
    tkt_run_clear(&profiler->run);
    profiler->new_steps = (tkt_new_steps){.begin_run = true};
    tkt_keeping_change_run(
        &profiler->options,
        &(tkt_run_change){.kind = TKT_RUN_BEGINS, .simulated_seconds = simulated_seconds});
    profiler->action = TKT_STOPPED;
    tkt_profiler_go_to(profiler, takt_schedule_action(&profiler->options.given.schedule, 0), 0);
    profiler->must_look_ahead = tkt_wants_devices(&profiler->options.given);
    if (profiler->must_look_ahead)
        look_ahead(profiler);
    synchronize(profiler);
    begin_range(profiler);
    profiler->step_begin = tkt_ticks();
    return TAKT_OK;
}

__attribute__((cold)) static void warn_once(bool *was_told, const char *text)
{
    if (!__atomic_exchange_n(was_told, true, __ATOMIC_RELAXED))
        tkt_log(TAKT_LOG_WARNING, "%s", text);
}

/* Cold: the file is compiled for speed, but this for size. */
__attribute__((cold)) takt_status takt_profiler_start(takt_profiler *profiler)
{
    TKT_OWN_WORK;
    TKT_UNCANCELLED;
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
    if (was_running)
        warn_once(&profiler->was_started_twice,
                  "takt_profiler_start() was called while this profiler runs: it goes on as it "
                  "was; call takt_profiler_stop() first");
    if (!was_running && status != TAKT_OK)
        tkt_exit_forget(profiler);
    return status;
}

static void step(takt_profiler *profiler)
{
    if (tkt_timers_exist())
        tkt_timers_step();
    synchronize(profiler);
    takt_action next = takt_schedule_action(&profiler->options.given.schedule, profiler->step + 1);
    uint32_t changes = tkt_transition(profiler->action, next);
    if ((changes & TKT_DO_SAVE) && profiler->cycle)
        tkt_window_end_soon(profiler->window);
    uint64_t now = tkt_scope_end_phase();
    end_range(profiler);
    end_step(profiler, now);
    profiler->step++;
    if (changes)
        tkt_profiler_go_to(profiler, next, now);
    else
        profiler->action = next;
    if (profiler->must_look_ahead)
        look_ahead(profiler);
    bool is_any = profiler->kept || tkt_worker_has_done(&profiler->worker);
    bool was_delivered = is_any && deliver(profiler);
    begin_range(profiler);
    profiler->step_begin = changes || was_delivered ? tkt_ticks() : now;
}

takt_status takt_profiler_step(takt_profiler *profiler)
{
    uintptr_t before;
    if (!profiler && !(profiler = tkt_environment_profiler()))
        return TAKT_OK;
    bool was_started = __atomic_load_n(&profiler->was_started, __ATOMIC_RELAXED);
    if (!was_started && profiler == tkt_environment_profiler())
        return takt_profiler_start(profiler);
    if (tkt_process_is_disabled())
        return TAKT_BAD_STATE;
    if (!enter(profiler, &before)) {
        warn_once(&profiler->was_refused,
                  "takt_profiler_step() was called while another thread was in this profiler: the "
                  "step does not count; call it from one thread");
        return TAKT_BAD_STATE;
    }
    bool is_running = profiler->is_running && !profiler->is_saved;
    if (is_running)
        step(profiler);
    leave(profiler, before);
    if (!was_started)
        warn_once(&profiler->was_early, "takt_profiler_step() was called before "
                                        "takt_profiler_start(): the step does not count");
    return is_running ? TAKT_OK : TAKT_BAD_STATE;
}

/* Tells how many cycles are missing, and warns a program that ends before its schedule does. */
static void check_end(const takt_profiler *profiler)
{
    uint32_t missed = profiler->cycles_missed;
    if (missed > 1)
        tkt_log(TAKT_LOG_ERROR, "%u of %u cycles were not recorded", missed,
                missed + profiler->cycles_saved);
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
    tkt_window_end_soon(profiler->cycle ? profiler->window : NULL);
    uint64_t now = tkt_scope_end_phase();
    end_range(profiler);
    tkt_profiler_go_to(profiler, TKT_STOPPED, now);
    check_end(profiler);
    profiler->is_away = true;
    tkt_worker_wait(&profiler->worker);
    profiler->is_away = profiler->delivered != NULL;
    tkt_blocks_fini(&profiler->new_steps.durations);
    tkt_exit_count_unsaved(-1);
    tkt_keeper_end();
    tkt_windows_keep_no_more();
    tkt_keeping_end_run(&profiler->options);
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

__attribute__((cold)) takt_status takt_profiler_stop(takt_profiler *profiler)
{
    TKT_OWN_WORK;
    TKT_UNCANCELLED;
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
        tkt_worker_end(&profiler->worker);
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
    bool is_entered = take(profiler, &before);
    *is_inside = is_entered && before != 0;
    return is_entered;
}

__attribute__((cold)) void tkt_profiler_save_at_exit(takt_profiler *profiler, bool is_inside)
{
    if (is_inside && !profiler->is_away) {
        profiler->is_running = false; /* for destructors that stop it */
        tkt_exit_tell_lost();
        return;
    }
    if (!profiler->is_running && !is_inside)
        return;
    if (profiler->is_running)
        save_all(profiler);
    else /* stop waits or delivers */
        tkt_worker_wait(&profiler->worker);
    profiler->is_saved = true;
    if (profiler->delivered)
        tkt_cycle_print(profiler->delivered);
    if (profiler->options.given.on_trace)
        print_and_keep(profiler);
    else
        deliver(profiler);
    view(profiler);
    /* The thread's code goes with the plugin. Not at exit: exit() may run on the last thread, and
     * the worker, ending, may take itself for that. */
    if (tkt_is_unloading())
        tkt_worker_end(&profiler->worker);
}

/* ---- Making and freeing ---------------------------------------------------------------------- */

__attribute__((cold)) takt_status takt_profiler_create(const takt_profiler_options *options,
                                                       takt_profiler **out)
{
    TKT_OWN_WORK;
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

/* True if on_trace has ended by a jump or an exception: the frame of its caller is gone, where one
 * further out is active. */
static bool has_jumped_out(const takt_profiler *profiler, uintptr_t active)
{
    uintptr_t begin, end;
    tkt_thread_stack(&begin, &end);
    return begin <= profiler->delivered_at && active < end && active > profiler->delivered_at;
}

/* Locks other threads out for good. False, and logs why, while the profiler is in use. */
static bool take_to_destroy(takt_profiler *profiler, uintptr_t frame)
{
    uintptr_t before;
    bool is_entered = tkt_process_is_disabled() || enter(profiler, &before);
    bool is_delivering = is_entered && profiler->delivered && !profiler->is_saved &&
                         !has_jumped_out(profiler, frame);
    if (!is_entered || is_delivering)
        tkt_log(TAKT_LOG_ERROR,
                "takt_profiler_destroy() was called %s: the profiler is not freed, and goes on",
                is_delivering ? "inside its on_trace" : "while another thread was in the profiler");
    return is_entered && !is_delivering;
}

/* Cycles whose on_trace has jumped out. Saved at exit, they may still be with the program. */
static void destroy_delivered(takt_profiler *profiler)
{
    while (profiler->delivered && !profiler->is_saved) {
        tkt_cycle *cycle = profiler->delivered;
        profiler->delivered = cycle->next;
        tkt_cycle_destroy(cycle);
    }
}

__attribute__((cold)) void takt_profiler_destroy(takt_profiler *profiler)
{
    TKT_OWN_WORK;
    TKT_UNCANCELLED;
    if (!profiler || !take_to_destroy(profiler, (uintptr_t)__builtin_frame_address(0)))
        return;
    if (profiler->is_running)
        takt_profiler_stop(profiler);
    destroy_delivered(profiler);
    tkt_exit_forget(profiler);
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
    if (!tkt_is_finite(seconds) || (int64_t)tkt_slot_bits(seconds) <= 0) /* compares no NaN */
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
