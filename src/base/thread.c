/* Threads as Takt needs them. The library's own threads must be invisible to the host: they take
 * none of its signals, whose handlers expect the host's threads. */
#include "base/thread.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NAME_BYTES 16 /* of the kernel: TASK_COMM_LEN */

typedef void (*exit_handler)(void *value);

static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t exit_key;
static bool has_exit_key;
static _Atomic(exit_handler) at_exit;

bool tkt_condition_wait_for(tkt_condition *condition, tkt_mutex *mutex, uint32_t timeout_ms)
{
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += timeout_ms / 1000;
    end.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
    if (end.tv_nsec >= 1000000000) {
        end.tv_sec++;
        end.tv_nsec -= 1000000000;
    }
    /* Not pthread_cond_timedwait: it follows the wall clock, which people set. */
    return pthread_cond_clockwait(condition, mutex, CLOCK_MONOTONIC, &end) == 0;
}

takt_status tkt_thread_start(tkt_thread *thread, const char *name, void *(*run)(void *),
                             void *argument)
{
    sigset_t all, before;
    sigfillset(&all);
    /* A new thread inherits the mask: set before it starts, there is no moment without it. */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t started;
    int failure = pthread_create(&started, NULL, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failure)
        return TAKT_NO_MEMORY;
    char short_name[NAME_BYTES];
    snprintf(short_name, sizeof short_name, "%s", name);
    pthread_setname_np(started, short_name);
    *thread = started;
    return TAKT_OK;
}

void tkt_thread_join(tkt_thread thread)
{
    pthread_join(thread, NULL);
}

void tkt_thread_pause_ms(uint32_t ms)
{
    struct timespec time = {ms / 1000, (long)(ms % 1000) * 1000000};
    if (ms)
        nanosleep(&time, NULL);
    else
        sched_yield();
}

uint32_t tkt_thread_id(void)
{
    return (uint32_t)syscall(SYS_gettid);
}

void tkt_thread_os_name(char name[16])
{
    name[0] = 0;
    prctl(PR_GET_NAME, name, 0, 0, 0);
    name[NAME_BYTES - 1] = 0;
}

static void run_exit_handler(void *value)
{
    /* acquire: pairs with the release in tkt_thread_at_exit() */
    exit_handler handler = atomic_load_explicit(&at_exit, memory_order_acquire);
    if (handler)
        handler(value);
}

static void create_key(void)
{
    has_exit_key = pthread_key_create(&exit_key, run_exit_handler) == 0;
}

takt_status tkt_thread_at_exit(void (*handler)(void *value), void *value)
{
    pthread_once(&key_once, create_key);
    if (!has_exit_key)
        return TAKT_NO_MEMORY;
    if (handler) {
        /* release: pairs with the acquire in run_exit_handler() */
        atomic_store_explicit(&at_exit, handler, memory_order_release);
    } else {
        value = NULL;
    }
    return pthread_setspecific(exit_key, value) == 0 ? TAKT_OK : TAKT_NO_MEMORY;
}

void tkt_at_fork(void (*child)(void))
{
    tkt_around_fork(NULL, child);
}

void tkt_around_fork(void (*before)(void), void (*child)(void))
{
    pthread_atfork(before, NULL, child);
}

bool tkt_thread_is_only(void)
{
    struct stat tasks; /* two links are the folder's own, the others its threads */
    return stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink == 3;
}
