/* Locks and conditions. */
#include "base/lock.h"

#include "base/thread.h"

#include "support/emulated.h"
#include "support/skip.h"
#include "support/test.h"

#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- Locks ----------------------------------------------------------------------------------- */

TEST(trying_a_held_mutex_fails_and_does_not_wait)
{
    tkt_mutex lock;
    tkt_mutex_init(&lock);
    assert_true(tkt_mutex_try(&lock));
    assert_false(tkt_mutex_try(&lock));
    tkt_mutex_unlock(&lock);
    assert_true(tkt_mutex_try(&lock));
    tkt_mutex_unlock(&lock);
}

/* A lock, and a thread that takes it. */
typedef struct contended {
    tkt_mutex lock;
    uint64_t count; /* lock */
    uint32_t holder;
    bool is_held; /* atomic */
} contended;

#define THREADS 4
#define ROUNDS  20000

static void *count_up(void *argument)
{
    contended *mine = argument;
    for (int i = 0; i < ROUNDS; i++) {
        tkt_mutex_lock(&mine->lock);
        mine->count++;
        if (i % 64 == 0)
            sched_yield(); /* so that others wait for it */
        tkt_mutex_unlock(&mine->lock);
    }
    return NULL;
}

TEST(one_thread_at_a_time_holds_a_lock)
{
    contended mine = {.lock = TKT_MUTEX_INIT};
    tkt_thread threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(tkt_thread_start(&threads[i], "counts", count_up, &mine), TAKT_OK);
    for (int i = 0; i < THREADS; i++)
        tkt_thread_join(threads[i]);
    assert_int_equal(mine.count, THREADS * ROUNDS);
    assert_int_equal(mine.lock.owner, 0);
}

static void wait_until_another_waits(const tkt_mutex *lock)
{
    while (!(__atomic_load_n(&lock->owner, __ATOMIC_RELAXED) & FUTEX_WAITERS))
        tkt_thread_pause_ms(1);
}

/* How urgent the kernel takes the calling thread to be, which differs from what it asked for while
 * others lend it their priority; less is more urgent. */
static int priority_of_thread(void)
{
    char text[512] = "";
    int priority = 0;
    FILE *file = fopen("/proc/thread-self/stat", "r");
    assert_non_null(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    const char *state = strrchr(text, ')');
    assert_non_null(state);
    assert_int_equal(sscanf(state,
                            ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d "
                            "%d",
                            &priority),
                     1);
    return priority;
}

typedef struct lent {
    tkt_mutex lock;
    bool is_held; /* atomic */
    int before, meanwhile, after;
} lent;

/* Runs as a thread of little priority. */
static void *hold_until_another_waits(void *argument)
{
    lent *mine = argument;
    setpriority(PRIO_PROCESS, tkt_thread_id(), 10);
    tkt_mutex_lock(&mine->lock);
    mine->before = priority_of_thread();
    __atomic_store_n(&mine->is_held, true, __ATOMIC_RELEASE);
    wait_until_another_waits(&mine->lock);
    mine->meanwhile = priority_of_thread();
    tkt_mutex_unlock(&mine->lock);
    mine->after = priority_of_thread();
    return NULL;
}

TEST(who_waits_lends_its_priority_to_the_holder)
{
    lent mine = {.lock = TKT_MUTEX_INIT};
    tkt_thread thread;
    if (test_runner())
        SKIP_CASE("the kernel sees the emulator's threads");
    int own = priority_of_thread();
    assert_int_equal(tkt_thread_start(&thread, "holds", hold_until_another_waits, &mine), TAKT_OK);
    while (!__atomic_load_n(&mine.is_held, __ATOMIC_ACQUIRE))
        sched_yield();
    tkt_mutex_lock(&mine.lock);
    tkt_mutex_unlock(&mine.lock);
    tkt_thread_join(thread);
    assert_true(mine.before > own);
    assert_int_equal(mine.meanwhile, own);
    assert_int_equal(mine.after, mine.before);
}

static void *take_once_held(void *argument)
{
    contended *mine = argument;
    while (!__atomic_load_n(&mine->is_held, __ATOMIC_ACQUIRE))
        tkt_thread_pause_ms(1);
    tkt_mutex_lock(&mine->lock);
    mine->count++;
    tkt_mutex_unlock(&mine->lock);
    return NULL;
}

/* False where a checker or an emulator makes it fork(). */
static bool does_vfork_share_memory(void)
{
    static volatile bool is_shared;
    pid_t child = vfork();
    if (child == 0) {
        is_shared = true;
        _exit(0);
    }
    waitpid(child, NULL, 0);
    return is_shared;
}

/* The kernel does not let the child give back what its parent's id holds. */
TEST(a_child_of_vfork_gives_back_a_lock_that_another_thread_waits_for)
{
    static contended mine = {.lock = TKT_MUTEX_INIT};
    tkt_thread thread;
    int status;
    if (!does_vfork_share_memory())
        SKIP_CASE("vfork() is fork() here");
    assert_int_equal(tkt_thread_start(&thread, "waits", take_once_held, &mine), TAKT_OK);
    tkt_mutex_lock(&mine.lock); /* so that this thread knows its id */
    tkt_mutex_unlock(&mine.lock);
    pid_t child = vfork();
    if (child == 0) {
        tkt_mutex_lock(&mine.lock);
        __atomic_store_n(&mine.is_held, true, __ATOMIC_RELEASE);
        wait_until_another_waits(&mine.lock);
        tkt_mutex_unlock(&mine.lock);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    tkt_thread_join(thread);
    assert_int_equal(mine.count, 1);
    assert_int_equal(mine.lock.owner, 0);
}

static void *note_holder(void *argument)
{
    contended *mine = argument;
    tkt_mutex_lock(&mine->lock);
    mine->holder = mine->lock.owner;
    tkt_mutex_unlock(&mine->lock);
    return NULL;
}

static void *lock_in_child_first(void *argument)
{
    contended *mine = argument;
    pid_t child = vfork();
    if (child == 0) {
        note_holder(mine);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    note_holder(mine);
    mine->count = tkt_thread_id();
    return NULL;
}

TEST(a_child_of_vfork_leaves_no_id_of_its_own_behind)
{
    static contended mine = {.lock = TKT_MUTEX_INIT};
    tkt_thread thread;
    assert_int_equal(tkt_thread_start(&thread, "vforks", lock_in_child_first, &mine), TAKT_OK);
    tkt_thread_join(thread);
    assert_int_equal(mine.holder, mine.count);
}

/* Else a waiter would lend its priority to a thread of the parent, or wait for it for ever. */
TEST(a_forked_child_holds_locks_under_its_own_id)
{
    contended mine = {.lock = TKT_MUTEX_INIT};
    int status;
    note_holder(&mine);
    assert_int_equal(mine.holder, getpid());
    pid_t child = fork();
    if (child == 0) {
        note_holder(&mine);
        _exit(mine.holder != (uint32_t)getpid());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* ---- Conditions ------------------------------------------------------------------------------ */

typedef struct waiting {
    tkt_mutex lock;
    tkt_condition changed;
    bool may_end; /* lock */
} waiting;

TEST(a_wait_ends_when_its_time_has_passed)
{
    static const uint32_t timeouts_ms[] = {0, 1, 999};
    tkt_mutex lock = TKT_MUTEX_INIT;
    tkt_condition never = TKT_CONDITION_INIT;
    for (size_t i = 0; i < 3; i++) {
        struct timespec begin, end;
        tkt_mutex_lock(&lock);
        clock_gettime(CLOCK_MONOTONIC, &begin);
        bool is_woken = true;
        /* A wake-up without reason is no failure, but rare. */
        for (int attempt = 0; is_woken && attempt < 10; attempt++)
            is_woken = tkt_condition_wait_for(&never, &lock, timeouts_ms[i]);
        clock_gettime(CLOCK_MONOTONIC, &end);
        tkt_mutex_unlock(&lock);
        int64_t waited_ns =
            (end.tv_sec - begin.tv_sec) * INT64_C(1000000000) + end.tv_nsec - begin.tv_nsec;
        assert_false(is_woken);
        assert_true(waited_ns >= timeouts_ms[i] * INT64_C(1000000));
    }
}

static void *wake(void *argument)
{
    waiting *other = argument;
    tkt_mutex_lock(&other->lock);
    other->may_end = true;
    tkt_condition_wake_all(&other->changed);
    tkt_mutex_unlock(&other->lock);
    return NULL;
}

static void ignore(int signal)
{
    (void)signal;
}

TEST(signals_do_not_end_a_wait)
{
    tkt_mutex lock = TKT_MUTEX_INIT;
    tkt_condition never = TKT_CONDITION_INIT;
    const struct itimerval often = {{0, 5000}, {0, 5000}}, off = {{0, 0}, {0, 0}};
    signal(SIGALRM, ignore);
    setitimer(ITIMER_REAL, &often, NULL);
    tkt_mutex_lock(&lock);
    assert_false(tkt_condition_wait_for(&never, &lock, 200));
    tkt_mutex_unlock(&lock);
    setitimer(ITIMER_REAL, &off, NULL);
}

TEST(a_wait_ends_when_it_is_woken)
{
    waiting mine = {.lock = TKT_MUTEX_INIT, .changed = TKT_CONDITION_INIT};
    tkt_thread thread;
    bool is_woken = true;
    tkt_mutex_lock(&mine.lock);
    assert_int_equal(tkt_thread_start(&thread, "wakes", wake, &mine), TAKT_OK);
    while (!mine.may_end && is_woken)
        is_woken = tkt_condition_wait_for(&mine.changed, &mine.lock, 600000);
    tkt_mutex_unlock(&mine.lock);
    assert_true(is_woken);
    tkt_thread_join(thread);
}

TEST_MAIN(NULL, NULL)
