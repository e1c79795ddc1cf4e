/* Threads. The library's own threads must be invisible to the host. They block all signals, because
 * the host's signal handlers expect the host's threads. They inherit neither a real-time policy nor
 * a thread's CPU, because they would then stall the thread that they work for. */
#include "base/thread.h"

#include "base/sanitizers.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define NAME_BYTES 16 /* the kernel's TASK_COMM_LEN */

typedef void (*exit_handler)(void *value);

static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t exit_key;
static bool has_exit_key;
static _Atomic(exit_handler) at_exit;

int tkt_cancel_disable(void)
{
    int state;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    return state;
}

void tkt_cancel_restore(int *state)
{
    pthread_setcancelstate(*state, state);
}

static cpu_set_t cpus; /* of the process: programs pin their threads later than this is loaded */
static bool knows_cpus;

__attribute__((constructor)) static void learn_cpus(void)
{
    knows_cpus = sched_getaffinity(getpid(), sizeof cpus, &cpus) == 0;
}

bool tkt_thread_is_realtime(void)
{
    int policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
    return policy == SCHED_FIFO || policy == SCHED_RR || policy == SCHED_DEADLINE;
}

/* The stack is at least that large: programs with many threads choose a small default. */
#define LEAST_STACK ((size_t)512 << 10)

static void make_humble(pthread_attr_t *how)
{
    size_t stack = 0;
    if (pthread_attr_getstacksize(how, &stack) == 0 && stack < LEAST_STACK)
        pthread_attr_setstacksize(how, LEAST_STACK);
    if (tkt_thread_is_realtime()) {
        pthread_attr_setinheritsched(how, PTHREAD_EXPLICIT_SCHED);
        pthread_attr_setschedpolicy(how, SCHED_OTHER);
        pthread_attr_setschedparam(how, &(struct sched_param){0});
    }
    if (knows_cpus)
        pthread_attr_setaffinity_np(how, sizeof cpus, &cpus);
}

/* Where the attributes are refused, as after the process has lost these CPUs, it does without. */
static int create(pthread_t *started, void *(*run)(void *), void *argument)
{
    pthread_attr_t how;
    int failure = pthread_attr_init(&how);
    if (!failure) {
        make_humble(&how);
        failure = pthread_create(started, &how, run, argument);
        pthread_attr_destroy(&how);
    }
    return failure ? pthread_create(started, NULL, run, argument) : 0;
}

takt_status tkt_thread_start(tkt_thread *thread, const char *name, void *(*run)(void *),
                             void *argument)
{
    sigset_t all, before;
    sigfillset(&all);
    /* A new thread inherits the mask, so the mask applies from its first moment. */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t started;
    int failure = create(&started, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failure)
        return TAKT_NO_MEMORY;
    char short_name[NAME_BYTES];
    snprintf(short_name, sizeof short_name, "%s", name);
    pthread_setname_np(started, short_name);
    *thread = started;
    return TAKT_OK;
}

/* A joined thread has ended, but the kernel may list it for a moment. */
static bool has_joined; /* atomic */

void tkt_thread_join(tkt_thread thread)
{
    pthread_join(thread, NULL);
    __atomic_store_n(&has_joined, true, __ATOMIC_RELAXED);
}

void tkt_thread_detach(tkt_thread thread)
{
    pthread_detach(thread);
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

void tkt_thread_stack(uintptr_t *begin, uintptr_t *end)
{
    pthread_attr_t how;
    void *stack = NULL;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &how) == 0) {
        pthread_attr_getstack(&how, &stack, &size);
        pthread_attr_destroy(&how);
    }
    *begin = (uintptr_t)stack;
    *end = *begin + size;
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

void tkt_thread_exits_forget(void)
{
    if (has_exit_key)
        pthread_key_delete(exit_key);
    has_exit_key = false;
}

bool tkt_thread_is_gone(uint32_t id)
{
    return syscall(SYS_tgkill, getpid(), (pid_t)id, 0) != 0 && errno == ESRCH;
}

void tkt_thread_copy(void *out, const void *from, size_t size)
{
    const uint64_t *words = from;
    for (size_t i = 0; i < size / sizeof *words; i++)
        ((uint64_t *)out)[i] = __atomic_load_n(&words[i], __ATOMIC_ACQUIRE);
}

/* The kernel checks whether the memory exists. If it refuses the call, the memory is read directly:
 * only that of a thread that ended unnoticed may be gone. */
bool tkt_thread_peek(void *out, const void *from, size_t size)
{
    struct iovec to = {out, size}, at = {(void *)(uintptr_t)from, size};
    int before = errno;
    ssize_t count = process_vm_readv(getpid(), &to, 1, &at, 1, 0);
    bool is_refused = count < 0 && errno != EFAULT;
    errno = before;
    if (!is_refused) {
#ifndef TKT_THREAD_SANITIZER /* it does not understand fences */
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
#endif
        return count == (ssize_t)size;
    }
    tkt_thread_copy(out, from, size);
    return true;
}

void tkt_at_fork(void (*child)(void))
{
    tkt_around_fork(NULL, NULL, child);
}

void tkt_around_fork(void (*before)(void), void (*parent)(void), void (*child)(void))
{
    pthread_atfork(before, parent, child);
}

/* How many threads the process has, the ended main() included; 0: unknown. */
static uint64_t count_threads(void)
{
    struct stat tasks; /* two links are the folder's own, the others are threads */
    return stat("/proc/self/task", &tasks) == 0 ? tasks.st_nlink - 2 : 0;
}

/* The process's state is that of the thread that ran main(). */
bool tkt_main_has_ended(void)
{
    char text[128] = "";
    int file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    ssize_t size = file >= 0 ? read(file, text, sizeof text - 1) : -1;
    if (file >= 0)
        close(file);
    const char *name_end = size > 0 ? strrchr(text, ')') : NULL;
    return name_end && strncmp(name_end, ") Z", 3) == 0;
}

bool tkt_thread_is_last(void)
{
    return tkt_main_has_ended() && count_threads() == 2;
}

#define MOST_LOOKS 20 /* after a join, half of them a millisecond apart */

bool tkt_thread_is_only(void)
{
    bool is_only = count_threads() == 1;
    bool may_linger = __atomic_exchange_n(&has_joined, false, __ATOMIC_RELAXED);
    for (int i = 0; may_linger && !is_only && i < MOST_LOOKS; i++) {
        tkt_thread_pause_ms(i < 10 ? 0 : 1);
        is_only = count_threads() == 1;
    }
    return is_only;
}

/* ---- Forked children ------------------------------------------------------------------------- */

bool tkt_process_disabled;

void tkt_process_disable(void)
{
    __atomic_store_n(&tkt_process_disabled, true, __ATOMIC_RELAXED);
}

const volatile uint8_t *tkt_process_marked;

static uint8_t *mark;

/* fork() has run its handlers in this child. They disable it if need be; the mark must not. */
static void mark_child(void)
{
    *mark = 1;
}

static void make_mark(void)
{
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return;
    *page = 1;
    if (madvise(page, size, MADV_WIPEONFORK) != 0) { /* Linux before 4.14 */
        munmap(page, size);
        return;
    }
    mark = page;
    tkt_at_fork(mark_child);
    /* release: pairs with the acquire in tkt_process_is_disabled() */
    __atomic_store_n(&tkt_process_marked, page, __ATOMIC_RELEASE);
}

void tkt_process_mark(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_mark);
}

void tkt_process_unmark(void)
{
    __atomic_store_n(&tkt_process_marked, NULL, __ATOMIC_RELAXED);
    if (mark)
        munmap(mark, (size_t)sysconf(_SC_PAGESIZE));
}

/* ---- Unloading ------------------------------------------------------------------------------- */

/* The destructor below runs when a plugin is closed, and at exit. note_exit() is registered for an
 * address that belongs to no loaded object. By the C++ ABI, it therefore runs at exit only, and
 * before any destructor. */
int __cxa_atexit(void (*function)(void *), void *argument, void *object);
void __cxa_finalize(void *object);

static void (*unload_handler)(void);
static bool is_exiting, is_unloading;

bool tkt_is_unloading(void)
{
    return is_unloading;
}

static void note_exit(void *unused)
{
    (void)unused;
    is_exiting = true;
}

void tkt_at_unload(void (*handler)(void))
{
    if (__cxa_atexit(note_exit, NULL, &is_exiting) == 0)
        unload_handler = handler;
}

__attribute__((destructor)) static void unload(void)
{
    bool is_exit = is_exiting;
    if (!unload_handler)
        return;
    __cxa_finalize(&is_exiting); /* runs note_exit() once more, and forgets it */
    is_unloading = !is_exit;
    if (is_unloading)
        unload_handler();
}
