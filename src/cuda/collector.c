/* The collector, one thread per process. Other threads leave it a request or a ticket and wait for
 * a bounded time: if CUPTI or the driver hangs, only the collector hangs with it. While a window is
 * open it flushes every FLUSH_MS, since CUPTI by itself gives back only full buffers.
 *
 * A thread that needs all work up to now takes a ticket. The collector marks the moment on the
 * devices. At each flush it looks whether the devices have reached the mark, and whether the
 * buffers that CUPTI held by then are back. It never waits for a device.
 *
 * At exit the collector settles once more, while the driver still works, and makes no call after
 * that. A forked child has no collector and collects nothing. */
#include "cuda/collector.h"

#include "base/error.h"
#include "base/own.h"
#include "base/thread.h"
#include "cuda/event.h"
#include "cuda/cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLUSH_MS   150
#define SWITCH_MS  5000u /* the first enabling takes CUPTI seconds in large programs */
#define FLUSHED_MS 5000u /* a flush that takes longer hangs */
#define EXIT_MS    1000u
#define MOMENTS    4u /* waited for at once */

uint32_t tkt_cuda_patience_percent = 100;

static struct {
    tkt_mutex lock;
    tkt_condition wake; /* wakes the collector */
    tkt_condition done; /* wakes the threads that wait for it */
    tkt_thread thread;
    bool is_running;
    bool is_over;    /* the process exits, or is a forked child */
    bool is_stuck;   /* a thread's wait has timed out, and the collector has not come back since */
    bool is_handled; /* the handlers for fork and exit are registered */
    tkt_cuda_wish wish;
    uint64_t wished; /* number of the latest request */
    uint64_t held;   /* number of the request in effect */
    uint64_t asked;  /* number of the latest request for a flush */
    uint64_t answered;
    uint64_t turns;   /* counts what the collector did */
    uint64_t tickets; /* number of the latest ticket */
    uint64_t settled; /* the latest ticket whose moment has passed */
    uint64_t broken;  /* the latest ticket whose moment will never come */
    bool is_busy;     /* a device has not reached a moment's mark */
    bool is_forced;   /* the next flush discards unfinished records */
    bool is_ahead;    /* the next turn looks ahead, see tkt_cuda_look_ahead() */
    tkt_cuda_status status;
} collector = {
    .lock = TKT_MUTEX_INIT,
    .wake = TKT_CONDITION_INIT,
    .done = TKT_CONDITION_INIT,
    .status = {.text = "none"},
};

/* A moment that tickets wait for. */
typedef struct moment {
    uint64_t ticket; /* its latest ticket */
    bool is_marked;
    bool is_idle;     /* the devices have reached the mark */
    uint64_t buffers; /* handed to CUPTI before they were seen to have */
    tkt_idle_mark mark;
} moment;

/* The rest belongs to the collector's thread. */
static bool was_tried; /* connecting has succeeded, or failed for good */
static moment moments[MOMENTS];
static uint32_t moment_count;
static uint64_t last_ticket; /* the latest ticket that has a moment */
static uint64_t flushed_ns;  /* time of the last flush */

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
    /* A program that can do without a GPU gets no warning where there is none. */
    if (is_new && backend == TKT_BACKEND_NONE)
        tkt_log(TAKT_LOG_INFO, "no GPU activities: %s", reason);
    else if (is_new && backend == TKT_BACKEND_EVENTS)
        tkt_log(TAKT_LOG_WARNING,
                "%s; CUDA events take over, but time only launches marked with TAKT_LAUNCH",
                reason);
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
        tkt_marks_retire();
        set_status(TKT_BACKEND_CUPTI, "");
        return;
    }
    /* Without a GPU, CUPTI answers no more than "unknown error". */
    bool has_no_gpu =
        !is_initialized && (result == TKT_CUPTI_UNKNOWN || result == TKT_CUPTI_NOT_INITIALIZED);
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
    uint64_t max_bytes = store->max_bytes;
    tkt_mutex_unlock(&store->lock);
    tkt_buffers_limit(max_bytes);
    if (wish->is_on && !was_tried)
        connect();
    if (backend_now() == TKT_BACKEND_CUPTI && !tkt_tracing_switch(wish, reason))
        set_status(TKT_BACKEND_EVENTS, reason);
    if (!tkt_marks_switch(wish->is_on && backend_now() == TKT_BACKEND_EVENTS))
        set_status(TKT_BACKEND_NONE, "there is no memory to time marked launches");
}

static void look_ahead(const tkt_cuda_wish *wish)
{
    const tkt_driver *driver = tkt_driver_get();
    if (wish->is_on || was_tried || !driver || tkt_tracing_touch(driver))
        return;
    connect();
    apply(wish);
}

/* Devices become visible once the program has initialised the driver. Before records are decoded, since
 * shapes of kernels get their occupancy from them. */
static void find_devices(void)
{
    tkt_store *store = tkt_store_get();
    const tkt_driver *driver = tkt_driver_get();
    static bool are_found;
    if (!are_found && driver)
        are_found = tkt_driver_read_devices(driver, store) == TKT_CUDA_SUCCESS;
}

static void flush(const tkt_cuda_wish *wish, bool is_forced)
{
    tkt_backend backend = backend_now();
    flushed_ns = takt_now_ns();
    if (backend != TKT_BACKEND_NONE)
        find_devices();
    if (backend == TKT_BACKEND_CUPTI)
        tkt_tracing_flush(wish, is_forced);
    else if (backend == TKT_BACKEND_EVENTS)
        tkt_marks_resolve();
}

/* Takes what is done, without a flush. */
static void drain(const tkt_cuda_wish *wish)
{
    tkt_backend backend = backend_now();
    if (backend != TKT_BACKEND_NONE)
        find_devices();
    if (backend == TKT_BACKEND_CUPTI)
        tkt_tracing_drain(wish);
    else if (backend == TKT_BACKEND_EVENTS)
        tkt_marks_resolve();
}

/* ---- Moments --------------------------------------------------------------------------------- */

static void add_moment(uint64_t tickets)
{
    if (tickets == last_ticket || moment_count == MOMENTS)
        return; /* these tickets share a moment once there is room */
    moments[moment_count++] = (moment){.ticket = last_ticket = tickets};
}

/* Returns TKT_IDLE_DONE once the devices have done the work before the moment and CUPTI has given
 * back its records. Sets the mark first if a capture has prevented that so far. */
static tkt_idle_state look_at(const tkt_driver *driver, moment *m, bool *is_busy)
{
    tkt_idle_state idle;
    if (backend_now() != TKT_BACKEND_CUPTI) /* nobody tells of captures, which a mark would spoil */
        return tkt_marks_resolve() > 0 ? TKT_IDLE_NOT_YET : TKT_IDLE_DONE;
    if (!m->is_marked) {
        idle = tkt_idle_begin(driver, &m->mark);
        m->is_marked = idle != TKT_IDLE_NOT_YET;
        if (idle == TKT_IDLE_DONE && (m->mark.count || m->mark.is_waiting))
            return TKT_IDLE_NOT_YET;
    } else { /* also when idle: a device that fails then will not finish later work */
        idle = tkt_idle_look(driver, &m->mark);
        *is_busy |= idle == TKT_IDLE_NOT_YET;
    }
    if (idle != TKT_IDLE_DONE)
        return idle;
    if (!m->is_idle)
        m->buffers = tkt_buffers_count();
    m->is_idle = true;
    return tkt_buffers_are_back(m->buffers) ? TKT_IDLE_DONE : TKT_IDLE_NOT_YET;
}

/* The tickets that a look at the moments has decided; 0: none. */
typedef struct passed_moments {
    uint64_t settled;
    uint64_t broken;
    bool is_busy; /* a device has not reached a mark */
} passed_moments;

/* A later moment that has passed decides all earlier ones. */
static void look_at_moments(passed_moments *passed)
{
    const tkt_driver *driver = moment_count ? tkt_driver_get() : NULL;
    uint32_t over = 0;
    passed->is_busy = false;
    for (uint32_t i = 0; i < moment_count; i++) {
        tkt_idle_state idle =
            driver ? look_at(driver, &moments[i], &passed->is_busy) : TKT_IDLE_DONE;
        if (idle == TKT_IDLE_NOT_YET)
            continue;
        *(idle == TKT_IDLE_DONE ? &passed->settled : &passed->broken) = moments[i].ticket;
        over = i + 1;
    }
    moment_count -= over;
    memmove(moments, moments + over, moment_count * sizeof *moments);
}

/* ---- Turns ----------------------------------------------------------------------------------- */

typedef struct collector_turn {
    tkt_cuda_wish wish;
    uint64_t wished;
    uint64_t asked;
    uint64_t tickets;
    bool is_switch;
    bool is_forced;
    bool is_ahead;
    bool must_flush;
} collector_turn;

/* With the lock. Waits until there is something to do, and returns it. A flush is also due while
 * full buffers keep coming: those of quiet threads come with a flush only. */
static collector_turn next_turn(void)
{
    if (collector.wished == collector.held && collector.asked == collector.answered) {
        if (collector.wish.is_on)
            tkt_condition_wait_for(&collector.wake, &collector.lock, FLUSH_MS);
        else
            tkt_condition_wait(&collector.wake, &collector.lock);
    }
    bool is_tick =
        collector.wish.is_on && takt_now_ns() - flushed_ns >= FLUSH_MS * UINT64_C(1000000);
    collector_turn turn = {
        .wish = collector.wish,
        .wished = collector.wished,
        .asked = collector.asked,
        .tickets = collector.tickets,
        .is_switch = collector.wished != collector.held,
        .is_forced = collector.is_forced,
        .is_ahead = collector.is_ahead,
    };
    turn.must_flush = is_tick || turn.is_switch || turn.asked != collector.answered;
    collector.is_forced = collector.is_ahead = false;
    return turn;
}

/* Marks a moment before the flush: an idle device then settles with this flush. */
static passed_moments take_turn(const collector_turn *turn)
{
    if (turn->is_switch)
        apply(&turn->wish);
    if (turn->is_ahead)
        look_ahead(&turn->wish);
    passed_moments passed = {0};
    add_moment(turn->tickets);
    if (turn->must_flush) {
        look_at_moments(&passed);
        flush(&turn->wish, turn->is_forced);
    } else {
        drain(&turn->wish);
    }
    look_at_moments(&passed);
    return passed;
}

static void *collect(void *unused)
{
    TKT_OWN_WORK;
    (void)unused;
    tkt_mutex_lock(&collector.lock);
    while (!collector.is_over) {
        collector_turn turn = next_turn();
        if (collector.is_over)
            break;
        tkt_mutex_unlock(&collector.lock);
        passed_moments passed = take_turn(&turn);
        tkt_mutex_lock(&collector.lock);
        collector.held = turn.wished;
        collector.answered = turn.asked;
        collector.turns++;
        if (passed.settled)
            collector.settled = passed.settled;
        if (passed.broken)
            collector.broken = passed.broken;
        collector.is_busy = passed.is_busy;
        collector.is_stuck = false;
        tkt_condition_wake_all(&collector.done);
    }
    tkt_mutex_unlock(&collector.lock);
    return NULL;
}

/* With the lock. Does not wait for a collector that is known to hang. */
static bool wait_for(const uint64_t *counter, uint64_t value, uint32_t timeout_ms)
{
    tkt_condition_wake_all(&collector.wake);
    while (*counter < value && !collector.is_over && !collector.is_stuck)
        collector.is_stuck =
            !tkt_condition_wait_for(&collector.done, &collector.lock, timeout_ms) &&
            *counter < value;
    return *counter >= value;
}

/* For the child: the thread that held the locks does not exist there. */
static void leave_in_child(void)
{
    tkt_mutex_init(&collector.lock);
    tkt_mutex_init(&tkt_store_get()->lock);
    collector.wake = collector.done = (tkt_condition)TKT_CONDITION_INIT;
    collector.is_running = false;
    collector.is_over = true;
    collector.status = (tkt_cuda_status){
        .text = "none", .reason = "the process was forked off from one that records CUDA"};
    tkt_buffers_forget();
    tkt_cuda_on_call(NULL);
    tkt_driver_forget();
    tkt_marks_forget();
}

static void leave_at_exit(void)
{
    if (tkt_thread_is_interrupted())
        return;
    tkt_cuda_settle(&(tkt_settling){
        .synchronize = true, .must_force = true, .timeout_ms = tkt_patience_ms(EXIT_MS)});
    tkt_mutex_lock(&collector.lock);
    bool is_last = collector.is_running && !collector.is_over && !collector.is_stuck;
    collector.is_over = true;
    tkt_condition_wake_all(&collector.wake);
    tkt_mutex_unlock(&collector.lock);
    if (is_last)
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
    if (!collector.is_over && (collector.is_running || (is_used && start()))) {
        bool was_stuck = collector.is_stuck;
        bool is_newest = wish->generation >= collector.wish.generation;
        if (is_newest) {
            collector.wish = *wish;
            collector.wished++;
        }
        /* An older wish, overtaken by another thread's, is in the newer one: it waits for that. */
        wait_for(&collector.held, collector.wished, tkt_patience_ms(SWITCH_MS));
        hangs = collector.is_stuck && !was_stuck;
    }
    tkt_mutex_unlock(&collector.lock);
    if (hangs)
        tkt_log(
            TAKT_LOG_WARNING,
            "CUPTI or the driver has not answered for %u s: GPU activities will be missing; try "
            "another release of CUPTI (TAKT_CUPTI_LIBRARY)",
            tkt_patience_ms(SWITCH_MS) / 1000);
}

bool tkt_cuda_look_ahead(void)
{
    int count;
    const tkt_driver *driver = tkt_cuda_is_used() ? tkt_driver_get() : NULL;
    if (!driver || driver->device_count(&count) == TKT_CUDA_NOT_INITIALIZED)
        return false;
    tkt_mutex_lock(&collector.lock);
    if (!collector.is_over && start()) {
        collector.is_ahead = true;
        wait_for(&collector.answered, ++collector.asked, tkt_patience_ms(SWITCH_MS));
    }
    tkt_mutex_unlock(&collector.lock);
    return true;
}

/* ---- For settle.c ---------------------------------------------------------------------------- */

bool tkt_collector_is_collecting(void)
{
    tkt_mutex_lock(&collector.lock);
    bool is_collecting = collector.is_running && !collector.is_over && collector.wish.is_on;
    tkt_mutex_unlock(&collector.lock);
    return is_collecting;
}

uint64_t tkt_collector_ticket(void)
{
    tkt_mutex_lock(&collector.lock);
    uint64_t ticket = ++collector.tickets;
    tkt_mutex_unlock(&collector.lock);
    return ticket;
}

bool tkt_collector_flush(bool is_forced)
{
    tkt_mutex_lock(&collector.lock);
    collector.is_forced |= is_forced;
    bool is_answered =
        wait_for(&collector.answered, ++collector.asked, tkt_patience_ms(FLUSHED_MS));
    tkt_mutex_unlock(&collector.lock);
    return is_answered;
}

tkt_collector_view tkt_collector_look(uint64_t ticket)
{
    tkt_mutex_lock(&collector.lock);
    tkt_collector_view view = {
        .turns = collector.turns,
        .is_settled = collector.settled >= ticket,
        .is_broken = collector.broken >= ticket,
        .is_busy = collector.is_busy,
        .is_gone = collector.is_over || collector.is_stuck,
    };
    tkt_mutex_unlock(&collector.lock);
    return view;
}

void tkt_collector_wait(uint64_t turns, uint32_t timeout_ms)
{
    tkt_mutex_lock(&collector.lock);
    while (collector.turns == turns && !collector.is_over &&
           tkt_condition_wait_for(&collector.done, &collector.lock, timeout_ms))
        ;
    tkt_mutex_unlock(&collector.lock);
}
