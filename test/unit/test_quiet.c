/* What recording does not do to the threads that record, once they have recorded something: no page
 * fault and no system call inside a window, however much is recorded. The kernel counts both. The
 * thread that keeps memory ready gets the time it needs between two rounds. And a step that ends
 * one window and begins the next asks nobody for memory. */
#include "base/alloc.h"
#include "base/thread.h"
#include "profiler/transitions.h"
#include "record/log.h"

#include "support/emulated.h"
#include "support/skip.h"
#include "support/test.h"

#include <takt/takt.h>

#include <linux/prctl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef PR_SET_SYSCALL_USER_DISPATCH /* Linux 5.11 */
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define PR_SYS_DISPATCH_OFF          0
#define PR_SYS_DISPATCH_ON           1
#endif

enum {
    ROUNDS = 40,
    SCOPES = 100000, /* of a round: 2 MB */
    MOST_JOINED = 4, /* faults, since the kernel may join small pages to a large one */
    LEAST_READY = 5 << 20
};

/* ---- System calls ---------------------------------------------------------------------------- */

#define ALLOWED 0
#define TRAPPED 1

static volatile char selector;
static volatile long calls, first_call, other_calls; /* the last: see on_call() */
static bool may_ask_for_threads;                     /* a summary, which reads them */

/* Counts the call, and lets it and those that follow run. Between windows Takt may wake its thread,
 * last of all. */
__attribute__((unused)) static void on_call(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    selector = ALLOWED;
    if (calls++ == 0)
        first_call = info->si_syscall;
    bool asks = info->si_syscall == SYS_tgkill || info->si_syscall == SYS_getpid;
    other_calls += info->si_syscall != SYS_futex && !(asks && may_ask_for_threads);
#ifdef __x86_64__
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] -= 2; /* the instruction once more */
#else
    (void)context;
#endif
}

/* False if this kernel or machine cannot trap the calls of a thread. */
static bool can_trap(void)
{
#ifdef __x86_64__
    struct sigaction action = {.sa_sigaction = on_call, .sa_flags = SA_SIGINFO};
    sigaction(SIGSYS, &action, NULL);
    return prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0, &selector) == 0;
#else
    return false;
#endif
}

/* False where the kernel takes pages away to see who uses them. */
static bool are_faults_ours(void)
{
    char text[8] = "";
    FILE *file = fopen("/proc/sys/kernel/numa_balancing", "r");
    bool is_read = file && fgets(text, sizeof text, file);
    if (file)
        fclose(file);
    return !is_read || text[0] == '0';
}

static long faults_of_this_thread(void)
{
    struct rusage now;
    getrusage(RUSAGE_THREAD, &now);
    return now.ru_minflt + now.ru_majflt;
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

static bool may_be_at_limit; /* a flight, which takes its own memory again */

static bool is_at_limit(void)
{
    return may_be_at_limit && tkt_pool_total_bytes() >= tkt_pool_limit_bytes();
}

/* Until what the last round has used up is there again, and no more is made. */
static void wait_for_memory(void)
{
    uint64_t before;
    do {
        before = tkt_pool_ready_bytes();
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    } while (tkt_pool_ready_bytes() != before || (before < LEAST_READY && !is_at_limit()));
}

static __attribute__((noinline)) void record(void)
{
    for (int i = 0; i < SCOPES / 4; i++) {
        TAKT_SCOPE("around");
        {
            TAKT_SCOPE("within");
            TAKT_COUNTER("a counter", i);
        }
        TAKT_SCOPE("beside");
    }
}

static bool is_window_quiet(const char *what, takt_profiler *profiler)
{
    (void)profiler;
    bool is_trapping = can_trap();
    long faults = 0;
    record(); /* sites get their numbers, and stacks their pages */
    for (int round = 0; round < ROUNDS; round++) {
        wait_for_memory();
        long before = faults_of_this_thread();
        selector = is_trapping ? TRAPPED : ALLOWED;
        record();
        selector = ALLOWED;
        faults += faults_of_this_thread() - before;
    }
    if (!are_faults_ours())
        faults = 0;
    if (is_trapping)
        prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF, 0, 0, 0);
    bool has_faults = faults > MOST_JOINED;
    if (has_faults || calls)
        fprintf(stderr, "%s: %ld page faults, %ld system calls, the first of number %ld\n", what,
                faults, calls, first_call);
    return !has_faults && !calls;
}

/* ---- Between two windows --------------------------------------------------------------------- */

enum {
    CYCLES = 30,
    PATHS = 40,
    CYCLE_STEPS = 3
};

static long allocations;
static __thread bool is_counted; /* the calls of this thread are, at the moment */
static bool has_surprised; /* atomic; a thread called that a program that forks does not expect */

static void *count_and_resize(void *user, void *pointer, size_t size)
{
    (void)user;
    char name[16];
    allocations += is_counted;
    tkt_thread_os_name(name);
    if (strcmp(name, "takt-memory") == 0)
        __atomic_store_n(&has_surprised, true, __ATOMIC_RELAXED);
    if (size)
        return realloc(pointer, size);
    free(pointer);
    return NULL;
}

/* Until the worker has sealed all cycles, and has their memory back. */
static void wait_for_worker(takt_profiler *profiler)
{
    bool is_busy = true;
    while (is_busy) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        tkt_mutex_lock(&profiler->worker.lock);
        is_busy = profiler->worker.open > 0 || profiler->worker.spent;
        tkt_mutex_unlock(&profiler->worker.lock);
    }
}

/* As many paths. */
static void nest(int depth)
{
    TAKT_SCOPE("nested");
    if (depth > 1)
        nest(depth - 1);
}

static long unwoken; /* cycles that the worker finds when it looks, as it does while it can see that
                      * something is recorded */

/* Of a cycle, the last of which ends it. */
static void make_steps(takt_profiler *profiler, bool is_trapping, long *faults)
{
    uint32_t wakes = 0;
    for (int i = 0; i < CYCLE_STEPS; i++) {
        if (i + 1 == CYCLE_STEPS)
            wait_for_worker(profiler);
        wakes = __atomic_load_n(&profiler->worker.changed.sequence, __ATOMIC_RELAXED);
        long before = faults_of_this_thread();
        is_counted = true;
        selector = is_trapping ? TRAPPED : ALLOWED;
        TAKT_SCOPE("in a cycle");
        nest(PATHS);
        nest(PATHS);
        takt_profiler_step(profiler);
        selector = ALLOWED;
        is_counted = false;
        *faults += faults_of_this_thread() - before;
    }
    unwoken += __atomic_load_n(&profiler->worker.changed.sequence, __ATOMIC_RELAXED) == wakes;
}

static bool may_end; /* atomic */

static void *record_beside(void *unused)
{
    (void)unused;
    while (!__atomic_load_n(&may_end, __ATOMIC_RELAXED)) {
        TAKT_SCOPE("beside it");
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return NULL;
}

/* A thread of a pool without work. */
static void *record_once(void *unused)
{
    (void)unused;
    {
        TAKT_SCOPE("beside it");
    }
    while (!__atomic_load_n(&may_end, __ATOMIC_RELAXED))
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return NULL;
}

/* True once a summary knows that the threads of all logs will tell when they end, which takes a
 * second: until then it has the kernel copy their state. */
static bool are_known(void)
{
    bool are_known = true;
    for (tkt_thread_log *log = tkt_log_first(); log && may_ask_for_threads;
         log = tkt_log_next(log)) {
        tkt_mutex_lock(&log->lock);
        bool is_old = log->proof.is_grown && __atomic_load_n(&log->youth, __ATOMIC_RELAXED) == 0;
        are_known &= is_old || !log->thread || log->thread == &takt_thread_hot_v1;
        tkt_mutex_unlock(&log->lock);
    }
    return are_known;
}

static bool is_boundary_quiet(const char *what, takt_profiler *profiler)
{
    pthread_t beside[2];
    long faults = 0;
    wait_for_memory();
    may_ask_for_threads = profiler->options.given.mode == TAKT_MODE_SUMMARY;
    pthread_create(&beside[0], NULL, record_beside, NULL);
    pthread_create(&beside[1], NULL, may_ask_for_threads ? record_beside : record_once, NULL);
    for (int i = 0; i < 3 || !are_known(); i++)
        make_steps(profiler, false, &faults);
    faults = 0; /* code that runs first has no pages */
    if (may_ask_for_threads)
        allocations = 0; /* the first trees are the memory of later ones */
    unwoken = 0;
    bool is_trapping = can_trap();
    for (int i = 0; i < CYCLES; i++)
        make_steps(profiler, is_trapping, &faults);
    if (is_trapping)
        prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF, 0, 0, 0);
    __atomic_store_n(&may_end, true, __ATOMIC_RELAXED);
    pthread_join(beside[0], NULL);
    pthread_join(beside[1], NULL);
    if (!are_faults_ours())
        faults = 0;
    bool is_quiet =
        allocations == 0 && faults <= MOST_JOINED && other_calls == 0 && unwoken > CYCLES / 2;
    if (!is_quiet)
        fprintf(stderr,
                "%s: %ld allocations, %ld page faults, %ld other system calls in steps, the "
                "first call of number %ld; %ld cycles woke nobody\n",
                what, allocations, faults, other_calls, first_call, unwoken);
    return is_quiet;
}

/* ---- New threads ----------------------------------------------------------------------------- */

enum {
    NEW_THREADS = 7 /* with the one that steps so many logs wait at least */
};

static void *record_first(void *all)
{
    {
        TAKT_SCOPE("first");
    }
    pthread_barrier_wait(all);
    return NULL;
}

static bool have_new_threads_logs(const char *what, takt_profiler *profiler)
{
    pthread_t threads[NEW_THREADS];
    pthread_barrier_t all;
    uint64_t losses[TAKT_LOSS_COUNT];
    uint32_t before = tkt_log_count();
    (void)profiler;
    tkt_alloc_fail(0, UINT64_MAX); /* logs wait for them */
    {
        TAKT_SCOPE("first");
    }
    pthread_barrier_init(&all, NULL, NEW_THREADS);
    for (int i = 0; i < NEW_THREADS; i++)
        pthread_create(&threads[i], NULL, record_first, &all);
    for (int i = 0; i < NEW_THREADS; i++)
        pthread_join(threads[i], NULL);
    tkt_alloc_fail(0, 0);
    uint32_t used = tkt_log_count() - before;
    tkt_log_losses(losses);
    if (losses[TAKT_LOSS_NO_MEMORY] || used != NEW_THREADS + 1)
        fprintf(stderr, "%s: %u logs are used\n", what, used);
    return losses[TAKT_LOSS_NO_MEMORY] == 0 && used == NEW_THREADS + 1;
}

/* ---- Modes ----------------------------------------------------------------------------------- */

/* In a process of its own, whose memory nobody has used before. */
static void check_mode(const char *what, takt_profiler_options options,
                       bool (*is_right)(const char *what, takt_profiler *profiler))
{
    int status;
    if (test_runner())
        SKIP_CASE("the kernel counts what the emulator does, too");
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        takt_profiler *profiler;
        may_be_at_limit = options.mode == TAKT_MODE_FLIGHT;
        options.struct_size = sizeof options;
        options.activities = TAKT_ACTIVITIES_CPU;
        bool is_quiet =
            takt_set_allocator(&(takt_allocator){.resize = count_and_resize}) == TAKT_OK &&
            takt_profiler_create(&options, &profiler) == TAKT_OK &&
            takt_profiler_start(profiler) == TAKT_OK && is_right(what, profiler) &&
            takt_profiler_stop(profiler) == TAKT_OK;
        exit(!is_quiet ||
             has_surprised); /* which removes the crash-safe file, as _exit() does not */
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void check_window(const char *what, takt_profiler_options options)
{
    check_mode(what, options, is_window_quiet);
}

static void check_boundary(const char *what, takt_profiler_options options)
{
    options.schedule.active = CYCLE_STEPS;
    check_mode(what, options, is_boundary_quiet);
}

TEST(a_trace)
{
    check_window("trace", (takt_profiler_options){.mode = TAKT_MODE_TRACE});
}

TEST(a_summary)
{
    check_window("summary", (takt_profiler_options){.mode = TAKT_MODE_SUMMARY});
}

TEST(a_flight)
{
    check_window("flight",
                 (takt_profiler_options){.mode = TAKT_MODE_FLIGHT, .max_memory_bytes = 32 << 20});
}

TEST(a_summary_and_a_trace)
{
    check_window("both", (takt_profiler_options){.mode = TAKT_MODE_BOTH});
}

static const char *const perfetto[] = {"perfetto"};
static char folder[] = "/tmp/takt-quiet-XXXXXX";

TEST(a_stream)
{
    check_window("stream", (takt_profiler_options){.mode = TAKT_MODE_TRACE,
                                                   .stream = true,
                                                   .directory = folder,
                                                   .traces = perfetto,
                                                   .trace_count = 1});
}

TEST(a_crash_safe_trace)
{
    check_window("crash-safe", (takt_profiler_options){.mode = TAKT_MODE_TRACE,
                                                       .crash_safe = true,
                                                       .directory = folder,
                                                       .traces = perfetto,
                                                       .trace_count = 1});
}

TEST(a_cycle_after_a_cycle)
{
    check_boundary("cycles", (takt_profiler_options){.mode = TAKT_MODE_TRACE});
}

TEST(a_summary_after_a_summary)
{
    check_boundary("summaries", (takt_profiler_options){.mode = TAKT_MODE_SUMMARY});
}

TEST(a_crash_safe_cycle_after_a_cycle)
{
    check_boundary("crash-safe cycles", (takt_profiler_options){.mode = TAKT_MODE_TRACE,
                                                                .crash_safe = true,
                                                                .directory = folder,
                                                                .traces = perfetto,
                                                                .trace_count = 1});
}

TEST(new_threads)
{
    check_mode("new threads", (takt_profiler_options){0}, have_new_threads_logs);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

TEST_MAIN(make_folder, remove_folder)
