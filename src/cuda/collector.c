/* The collector, one thread in a process. Others leave it a wish or a question and wait, for a
 * bounded time: if CUPTI or the driver hangs, only this thread hangs with it. While something is
 * collected it flushes every FLUSH_MS, since CUPTI by itself gives back only what is full.
 *
 * A process that exits asks it for one last flush while the driver is still there, and has it make
 * no call after that. A forked child has no collector and no CUDA: there it is over, too. */
#include "cuda/collector.h"

#include "base/error.h"
#include "cuda/buffers.h"
#include "cuda/callback.h"
#include "cuda/event.h"
#include "cuda/tracing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLUSH_MS  150
#define SWITCH_MS 5000 /* CUPTI's first enabling takes seconds in large programs */
#define EXIT_MS   1000
#define RESET_MS  1000
#define LATE_MS   200 /* that CUPTI's own thread may take to hand over what is full */

static struct {
    tkt_mutex lock;
    tkt_condition wake; /* the collector */
    tkt_condition done; /* who waits for it */
    tkt_thread thread;
    bool is_running;
    bool is_over;    /* the process exits, or was forked off */
    bool is_stuck;   /* somebody waited in vain, and it has not come back since */
    bool is_handled; /* fork */
    tkt_cuda_wish wish;
    uint64_t wished; /* counts wishes */
    uint64_t held;   /* the one that holds */
    uint64_t asked;  /* counts questions */
    uint64_t answered;
    bool synchronize; /* before the next answer */
    bool is_late; /* the last answer was given without waiting for all, or without all buffers */
    tkt_cuda_status status;
} collector = {
    .lock = TKT_MUTEX_INIT,
    .wake = TKT_CONDITION_INIT,
    .done = TKT_CONDITION_INIT,
    .status = {.text = "none"},
};

/* The collector's own. */
static bool was_tried; /* and in vain, once and for all */

void tkt_collector_nudge(void)
{
    tkt_condition_wake_all(&collector.wake);
}

tkt_cuda_status tkt_cuda_status_now(void)
{
    tkt_mutex_lock(&collector.lock);
    tkt_cuda_status status = collector.status;
    tkt_mutex_unlock(&collector.lock);
    return status;
}

static tkt_backend backend_now(void)
{
    return tkt_cuda_status_now().backend;
}

static void set_status(tkt_backend backend, const char *reason)
{
    tkt_cuda_status status = {.backend = backend};
    if (backend == TKT_BACKEND_CUPTI)
        tkt_cupti_describe(status.text, sizeof status.text, tkt_tracing_version());
    else
        snprintf(status.text, sizeof status.text, "%s",
                 backend == TKT_BACKEND_EVENTS ? "CUDA events" : "none");
    snprintf(status.reason, sizeof status.reason, "%s", reason);
    tkt_mutex_lock(&collector.lock);
    bool is_new = strcmp(collector.status.reason, reason) != 0;
    collector.status = status;
    tkt_mutex_unlock(&collector.lock);
    /* A program that can do without a GPU is not to be warned where there is none. */
    if (is_new && backend == TKT_BACKEND_NONE)
        tkt_log(TAKT_LOG_INFO, "no GPU activities: %s", reason);
    else if (is_new && backend == TKT_BACKEND_EVENTS)
        tkt_log(TAKT_LOG_WARNING,
                "%s; CUDA events take over, for what the program marks with TAKT_LAUNCH", reason);
}

static void connect(void)
{
    char reason[TKT_REASON_BYTES];
    const tkt_driver *driver = tkt_driver_get();
    was_tried = true;
    if (!driver) {
        set_status(TKT_BACKEND_NONE, "there is no NVIDIA driver (libcuda.so.1)");
        return;
    }
    int result, status = tkt_driver_read_devices(driver, tkt_store_get());
    bool is_initialized = status != TKT_CUDA_NOT_INITIALIZED;
    if (status != TKT_CUDA_SUCCESS && is_initialized) {
        snprintf(reason, sizeof reason, "the driver finds no GPU that it can use (%d)", status);
        set_status(TKT_BACKEND_NONE, reason);
        return;
    }
    if (tkt_tracing_open(driver, &result, reason)) {
        set_status(TKT_BACKEND_CUPTI, "");
        return;
    }
    /* Without a GPU CUPTI knows nothing better to say. */
    bool has_no_gpu = result == TKT_CUPTI_UNKNOWN && !is_initialized;
    was_tried = result != TKT_CUPTI_TAKEN && !has_no_gpu;
    set_status(has_no_gpu ? TKT_BACKEND_NONE : TKT_BACKEND_EVENTS, reason);
}

static void apply(const tkt_cuda_wish *wish)
{
    char reason[TKT_REASON_BYTES];
    tkt_store *store = tkt_store_get();
    tkt_mutex_lock(&store->lock);
    if (wish->max_bytes)
        store->max_bytes = wish->max_bytes;
    store->has_no_window = !wish->is_on;
    tkt_mutex_unlock(&store->lock);
    if (wish->is_on && !was_tried)
        connect();
    if (backend_now() == TKT_BACKEND_CUPTI && !tkt_tracing_switch(wish, reason))
        set_status(TKT_BACKEND_EVENTS, reason);
    tkt_marks_switch(wish->is_on && backend_now() == TKT_BACKEND_EVENTS);
}

/* Devices are there once the program has initialised the driver. */
static void find_devices(void)
{
    tkt_store *store = tkt_store_get();
    const tkt_driver *driver = tkt_driver_get();
    static bool are_found;
    if (!are_found && driver)
        are_found = tkt_driver_read_devices(driver, store) == TKT_CUDA_SUCCESS;
}

static void flush(const tkt_cuda_wish *wish)
{
    tkt_backend backend = backend_now();
    if (backend == TKT_BACKEND_CUPTI)
        tkt_tracing_flush(wish);
    else if (backend == TKT_BACKEND_EVENTS)
        tkt_marks_resolve();
    if (backend != TKT_BACKEND_NONE)
        find_devices();
}

typedef struct collector_turn {
    tkt_cuda_wish wish;
    uint64_t wished;
    uint64_t asked;
    bool is_switch;
    bool synchronize;
    bool is_question;
    bool must_flush;
} collector_turn;

/* With the lock. What there is to do, after waiting for it. */
static collector_turn next_turn(void)
{
    bool is_tick = false;
    if (collector.wished == collector.held && collector.asked == collector.answered) {
        if (collector.wish.is_on)
            is_tick = !tkt_condition_wait_for(&collector.wake, &collector.lock, FLUSH_MS);
        else
            tkt_condition_wait(&collector.wake, &collector.lock);
    }
    collector_turn turn = {
        .wish = collector.wish,
        .wished = collector.wished,
        .asked = collector.asked,
        .is_switch = collector.wished != collector.held,
        .synchronize = collector.synchronize,
    };
    turn.is_question = turn.asked != collector.answered;
    turn.must_flush = is_tick || turn.is_switch;
    collector.synchronize = false;
    return turn;
}

/* A flush does not return what CUPTI's own thread is just about to hand over. Waits for that, but
 * not for long: a buffer may also stay away because work goes on that is recorded in it. False: not
 * all came. */
static bool flush_all(const tkt_cuda_wish *wish)
{
    bool is_late;
    tkt_buffers_begin_era();
    flush(wish);
    for (int i = 0;
         (is_late = backend_now() == TKT_BACKEND_CUPTI && tkt_buffers_are_late()) && i < LATE_MS;
         i++) {
        tkt_mutex_lock(&collector.lock);
        tkt_condition_wait_for(&collector.wake, &collector.lock, 1);
        tkt_mutex_unlock(&collector.lock);
        flush(wish);
    }
    return !is_late;
}

static void answer(const collector_turn *turn)
{
    const tkt_driver *driver = turn->synchronize ? tkt_driver_get() : NULL;
    bool are_idle = !driver || tkt_driver_synchronize(driver);
    bool has_all = flush_all(&turn->wish);
    tkt_mutex_lock(&collector.lock);
    collector.is_late = !are_idle || !has_all;
    tkt_mutex_unlock(&collector.lock);
}

static void take_turn(const collector_turn *turn)
{
    if (turn->is_switch)
        apply(&turn->wish);
    if (turn->is_question)
        answer(turn);
    else if (turn->must_flush)
        flush(&turn->wish);
    else if (backend_now() == TKT_BACKEND_CUPTI)
        tkt_tracing_drain(&turn->wish);
}

static void *collect(void *unused)
{
    (void)unused;
    tkt_mutex_lock(&collector.lock);
    while (!collector.is_over) {
        collector_turn turn = next_turn();
        if (collector.is_over)
            break;
        tkt_mutex_unlock(&collector.lock);
        take_turn(&turn);
        tkt_mutex_lock(&collector.lock);
        collector.held = turn.wished;
        collector.answered = turn.asked;
        collector.is_stuck = false;
        tkt_condition_wake_all(&collector.done);
    }
    tkt_mutex_unlock(&collector.lock);
    return NULL;
}

/* With the lock. Nobody waits for a collector that is known to hang. */
static bool wait_for(const uint64_t *counter, uint64_t value, uint32_t timeout_ms)
{
    tkt_condition_wake_all(&collector.wake);
    while (*counter < value && !collector.is_over && !collector.is_stuck)
        collector.is_stuck =
            !tkt_condition_wait_for(&collector.done, &collector.lock, timeout_ms) &&
            *counter < value;
    return *counter >= value;
}

/* The thread that held the locks is not in the child. */
static void leave_in_child(void)
{
    tkt_mutex_init(&collector.lock);
    tkt_mutex_init(&tkt_store_get()->lock);
    collector.wake = collector.done = (tkt_condition)TKT_CONDITION_INIT;
    collector.is_running = false;
    collector.is_over = true;
    collector.status = (tkt_cuda_status){
        .text = "none", .reason = "the process was forked off from one that records CUDA"};
    tkt_callback_forget();
    tkt_driver_forget();
    tkt_marks_forget();
}

static void leave_at_exit(void)
{
    tkt_mutex_lock(&collector.lock);
    bool is_last = collector.is_running && !collector.is_over;
    bool has_answered = is_last && wait_for(&collector.answered, ++collector.asked, EXIT_MS);
    collector.is_over = true;
    tkt_condition_wake_all(&collector.wake);
    tkt_mutex_unlock(&collector.lock);
    if (has_answered)
        tkt_thread_join(collector.thread);
}

void tkt_collector_leave_at_exit(void)
{
    atexit(leave_at_exit);
}

/* With the lock. */
static bool start(void)
{
    if (!collector.is_handled) {
        collector.is_handled = true;
        tkt_at_fork(leave_in_child);
        tkt_collector_leave_at_exit();
    }
    if (!collector.is_running)
        collector.is_running =
            tkt_thread_start(&collector.thread, "takt-cuda", collect, NULL) == TAKT_OK;
    return collector.is_running;
}

void tkt_cuda_want(const tkt_cuda_wish *wish)
{
    bool is_used = wish->is_on && tkt_cuda_is_used(), hangs = false;
    tkt_mutex_lock(&collector.lock);
    if (wish->generation >= collector.wish.generation && !collector.is_over &&
        (collector.is_running || (is_used && start()))) {
        bool was_stuck = collector.is_stuck;
        collector.wish = *wish;
        wait_for(&collector.held, ++collector.wished, SWITCH_MS);
        hangs = collector.is_stuck && !was_stuck;
    }
    tkt_mutex_unlock(&collector.lock);
    if (hangs)
        tkt_log(
            TAKT_LOG_WARNING,
            "CUPTI or the driver has not answered for %d s: GPU activities will be missing; try "
            "another release of CUPTI (TAKT_CUPTI_LIBRARY)",
            SWITCH_MS / 1000);
}

bool tkt_cuda_settle(bool synchronize, uint32_t timeout_ms)
{
    bool is_settled = true;
    tkt_mutex_lock(&collector.lock);
    if (collector.is_running) {
        collector.synchronize |= synchronize;
        is_settled =
            wait_for(&collector.answered, ++collector.asked, timeout_ms) && !collector.is_late;
    }
    tkt_mutex_unlock(&collector.lock);
    return is_settled;
}

void tkt_collector_flush_before_reset(void)
{
    tkt_mutex_lock(&collector.lock);
    if (collector.is_running && collector.wish.is_on) {
        collector.synchronize = true;
        wait_for(&collector.answered, ++collector.asked, RESET_MS);
    }
    tkt_mutex_unlock(&collector.lock);
}
