/* A program's begin and end: the profiler that the environment requests, and saving at exit(). */
#include "profiler/options.h"

#include "base/alloc.h"
#include "base/containers.h"
#include "base/error.h"
#include "base/file.h"
#include "base/lock.h"
#include "base/thread.h"
#include "config/config.h"
#include "record/control.h"

#include <takt/config.h>

#include <pthread.h>
#include <stdlib.h>

/* ======== At exit ======== */

/* exit() runs handlers in reverse order of registration. The first handler is registered when a
 * profiler starts. A second one is registered when a profiler has switched CUPTI on: it runs before
 * CUDA shuts down. */

static tkt_mutex lock = TKT_MUTEX_INIT;
static struct {
    TKT_ARRAY(takt_profiler *);
} running;                 /* lock */
static uint32_t recorders; /* atomic; count of `running`, for forked children */
static uint32_t recording_process;
static uint32_t unsaved; /* atomic; profilers whose recording would be lost */

/* Warns in a forked child, which must not take the lock. A child rightly saves nothing, except one
 * that continues in its parent's place, as after daemon(). */
static void warn_child(void)
{
    if (__atomic_load_n(&recorders, __ATOMIC_RELAXED) > 0 && tkt_parent_id() != recording_process)
        tkt_profiler_tell_child();
}

static void count_recorders(void)
{
    if (running.count == 0)
        TKT_ARRAY_FREE(&running);
    __atomic_store_n(&recorders, (uint32_t)running.count, __ATOMIC_RELAXED);
}

#define LONGEST_WAIT_MS 10000u /* exit() waits for a thread inside step or stop */

/* Takes the latest running profiler out of the list, NULL if there is none. False if another thread
 * is inside it and `gives_up` is not set. A profiler taken here cannot be destroyed meanwhile. */
static bool try_last(takt_profiler **taken, bool *is_inside, bool gives_up)
{
    tkt_mutex_lock(&lock);
    takt_profiler *last = running.count ? running.items[running.count - 1] : NULL;
    bool is_taken = last && tkt_profiler_take_at_exit(last, is_inside);
    running.count -= is_taken || (last && gives_up);
    count_recorders();
    tkt_mutex_unlock(&lock);
    *taken = is_taken ? last : NULL;
    return is_taken || !last;
}

/* Returns the latest running profiler, NULL if none is left. Waits, logs and saves without the
 * lock: these may call the program. */
static takt_profiler *take_last(bool *is_inside)
{
    takt_profiler *taken;
    for (uint32_t ms = 0; !try_last(&taken, is_inside, ms == LONGEST_WAIT_MS); ms++) {
        if (ms < LONGEST_WAIT_MS) {
            tkt_thread_pause_ms(1);
            continue;
        }
        tkt_log(TAKT_LOG_ERROR, "the program ends while another thread is inside a function of its "
                                "profiler: the recording is lost");
        ms = 0;
    }
    return taken;
}

void tkt_exit_count_unsaved(int32_t change)
{
    __atomic_add_fetch(&unsaved, (uint32_t)change, __ATOMIC_RELAXED);
}

void tkt_exit_tell_lost(void)
{
    static bool is_told;
    if (!is_told && __atomic_load_n(&unsaved, __ATOMIC_RELAXED) > 0)
        tkt_log(TAKT_LOG_ERROR,
                "exit() was called in a signal handler that interrupted Takt: the recording is "
                "lost; set a flag there and exit from the main loop, or set output.crash_safe");
    is_told = true;
}

static void save_all(void)
{
    if (tkt_process_is_disabled()) {
        warn_child();
        return;
    }
    if (tkt_thread_is_interrupted()) {
        tkt_exit_tell_lost();
        return;
    }
    bool is_inside;
    for (takt_profiler *profiler; (profiler = take_last(&is_inside)) != NULL;)
        tkt_profiler_save_at_exit(profiler, is_inside);
}

static void save_at_exit_once(bool *is_done)
{
    if (!__atomic_exchange_n(is_done, true, __ATOMIC_RELAXED))
        atexit(save_all);
}

static bool is_watched(const takt_profiler *profiler)
{
    for (size_t i = 0; i < running.count; i++)
        if (running.items[i] == profiler)
            return true;
    return false;
}

void tkt_exit_watch(takt_profiler *profiler)
{
    static bool is_done;
    tkt_options_heeded();
    save_at_exit_once(&is_done);
    tkt_mutex_lock(&lock);
    takt_profiler **added = is_watched(profiler) ? NULL : TKT_ARRAY_ADD(&running);
    if (added)
        *added = profiler;
    recording_process = tkt_process_id();
    count_recorders();
    tkt_mutex_unlock(&lock);
}

void tkt_exit_save_earlier(void)
{
    static bool is_done;
    save_at_exit_once(&is_done);
}

void tkt_exit_forget(takt_profiler *profiler)
{
    if (tkt_process_is_disabled())
        return;
    tkt_mutex_lock(&lock);
    for (size_t i = running.count; i > 0; i--)
        if (running.items[i - 1] == profiler)
            running.items[i - 1] = running.items[--running.count];
    count_recorders();
    tkt_mutex_unlock(&lock);
}

/* ======== The profiler of the environment ======== */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static takt_profiler *the_profiler;
static takt_status the_status;
static tkt_config_errors *the_errors; /* atomic; until they are logged */

static takt_status create(void)
{
    takt_config *config;
    if (!tkt_environment("TAKT_CONFIG") && !tkt_environment("TAKT_OPTIONS"))
        return TAKT_OK;
    tkt_config_errors *errors = tkt_alloc_zeroed(sizeof *errors);
    if (!errors)
        return TAKT_NO_MEMORY;
    takt_status status = tkt_config_load(NULL, &config, errors);
    if (status != TAKT_OK) {
        the_errors = errors;
        return status;
    }
    tkt_free(errors);
    if (takt_config_enabled(config)) {
        takt_profiler_options options;
        takt_config_options(config, &options);
        status = takt_profiler_create(&options, &the_profiler);
    }
    takt_config_destroy(config);
    return status;
}

static void create_once(void)
{
    the_status = create();
    if (the_status != TAKT_OK)
        tkt_options_heeded(); /* the log has the reason */
}

/* Logs after `once`, since the program's log function may call Takt. */
__attribute__((noinline, cold)) static void log_errors(void)
{
    tkt_config_errors *errors = __atomic_exchange_n(&the_errors, NULL, __ATOMIC_ACQUIRE);
    if (!errors)
        return;
    tkt_log(TAKT_LOG_ERROR, "%s; nothing is profiled", errors->items[0].error.message);
    tkt_config_errors_log(errors, 1);
    tkt_free(errors);
}

takt_profiler *tkt_environment_profiler(void)
{
    pthread_once(&once, create_once);
    if (__atomic_load_n(&the_errors, __ATOMIC_RELAXED))
        log_errors();
    return the_profiler;
}

takt_status tkt_environment_status(void)
{
    tkt_environment_profiler();
    return the_status;
}
