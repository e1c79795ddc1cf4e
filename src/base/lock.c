/* Locks that lend priority, by the kernel's futexes of that kind: the lock's word has the holder's
 * thread id, with a bit if threads wait for it. Without them only who takes and gives the lock
 * touches it; with them the kernel hands it over, and runs the holder meanwhile as the most urgent
 * of them would. See futex(2), "Priority-inheritance futexes". */
#include "base/lock.h"

#include "base/thread.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The kernel's calls, which leave the host's errno alone; 0 or the error. */
static int futex(uint32_t *word, int operation, uint32_t value, const struct timespec *time)
{
    int before = errno;
    long result = syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, time, NULL,
                          FUTEX_BITSET_MATCH_ANY);
    int failure = result < 0 ? errno : 0;
    errno = before;
    return failure;
}

/* Not nanosleep(), where a thread may be cancelled. */
static void pause_ms(void)
{
    static uint32_t nobody_wakes;
    futex(&nobody_wakes, FUTEX_WAIT, 0, &(struct timespec){.tv_nsec = 1000000});
}

/* ---- Who holds a lock ------------------------------------------------------------------------ */

static __thread uint32_t own_id; /* 0: not asked yet */
static pid_t process;

static void forget_own_id(void)
{
    own_id = 0;
    process = getpid();
}

__attribute__((constructor)) static void watch_forks(void)
{
    process = getpid();
    tkt_at_fork(forget_own_id);
}

/* A child of vfork() has its parent's thread-local memory, so it may not leave its id there. */
static __attribute__((noinline)) uint32_t ask_for_id(void)
{
    uint32_t id = tkt_thread_id();
    if (getpid() == process)
        own_id = id;
    return id;
}

static inline uint32_t id_of_thread(void)
{
    return __builtin_expect(own_id != 0, 1) ? own_id : ask_for_id();
}

/* ---- The lock -------------------------------------------------------------------------------- */

static inline bool take(tkt_mutex *mutex)
{
    uint32_t nobody = 0;
    /* acquire: pairs with the releases in give() */
    return __atomic_compare_exchange_n(&mutex->owner, &nobody, id_of_thread(), false,
                                       __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* The time ends the wait for a lock that its holder could only give back without the kernel. */
static int wait_in_kernel(tkt_mutex *mutex)
{
    struct timespec end; /* such a wait follows the wall clock */
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec++;
    return futex(&mutex->owner, FUTEX_LOCK_PI, 0, &end);
}

static __attribute__((noinline)) void wait_and_take(tkt_mutex *mutex)
{
    int failure;
    do {
        failure = wait_in_kernel(mutex);
        if (failure && failure != EAGAIN && failure != ETIMEDOUT) /* such as ENOSYS in a sandbox */
            pause_ms();
    } while (failure && !take(mutex));
    (void)__atomic_load_n(&mutex->owner, __ATOMIC_ACQUIRE); /* see give_to_waiter() */
}

/* The kernel refuses if a child of vfork() took the lock under its parent's id. */
static __attribute__((noinline)) void give_to_waiter(tkt_mutex *mutex)
{
    __atomic_fetch_or(&mutex->owner, 0, __ATOMIC_RELEASE); /* the kernel's is unknown to checkers */
    if (futex(&mutex->owner, FUTEX_UNLOCK_PI, 0, NULL) != 0)
        __atomic_store_n(&mutex->owner, 0, __ATOMIC_RELEASE);
}

static inline void give(tkt_mutex *mutex)
{
    uint32_t mine = id_of_thread();
    if (__builtin_expect(!__atomic_compare_exchange_n(&mutex->owner, &mine, 0, false,
                                                      __ATOMIC_RELEASE, __ATOMIC_RELAXED),
                         0))
        give_to_waiter(mutex);
}

static inline void lock(tkt_mutex *mutex)
{
    if (__builtin_expect(!take(mutex), 0))
        wait_and_take(mutex);
}

/* ---- With cancellation put off --------------------------------------------------------------- */

__thread uint32_t tkt_locks_held;

/* Both: see tkt_busy_lock(). */
void tkt_lock_begins(void)
{
    int type = PTHREAD_CANCEL_DEFERRED, state = PTHREAD_CANCEL_DISABLE;
    if (tkt_locks_held == 0) {
        pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
        tkt_locks_held = (type == PTHREAD_CANCEL_ASYNCHRONOUS ? TKT_LOCKS_ASYNC : 0) |
                         (state == PTHREAD_CANCEL_ENABLE ? TKT_LOCKS_MAY_CANCEL : 0);
    }
    tkt_locks_held++;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

void tkt_lock_ends(void)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    uint32_t before = --tkt_locks_held;
    if (before & TKT_LOCKS_COUNT)
        return;
    tkt_locks_held = 0;
    if (before & TKT_LOCKS_MAY_CANCEL)
        pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &(int){0});
    if (before & TKT_LOCKS_ASYNC)
        pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &(int){0});
}

void tkt_mutex_lock(tkt_mutex *mutex)
{
    tkt_lock_begins();
    lock(mutex);
}

bool tkt_mutex_try(tkt_mutex *mutex)
{
    tkt_lock_begins();
    bool is_locked = take(mutex);
    if (!is_locked)
        tkt_lock_ends();
    return is_locked;
}

void tkt_mutex_unlock(tkt_mutex *mutex)
{
    give(mutex);
    tkt_lock_ends();
}

uint64_t tkt_busy_lock(tkt_mutex *mutex)
{
    int type;
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
    uint64_t was = tkt_busy_begin();
    takt_thread_hot_v1.busy |= TKT_BUSY_LOCKED;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    lock(mutex);
    return was | (type == PTHREAD_CANCEL_ASYNCHRONOUS ? TKT_BUSY_ASYNC : 0);
}

void tkt_busy_unlock(tkt_mutex *mutex, uint64_t was)
{
    give(mutex);
    tkt_busy_end(was & ~(uint64_t)TKT_BUSY_ASYNC);
    if (was & TKT_BUSY_ASYNC)
        pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &(int){0});
}

/* ---- For a few instructions ------------------------------------------------------------------ */

static void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    __asm__ volatile("yield" ::: "memory");
#endif
}

/* The holder may have been suspended. A waiter of higher priority that spins or yields for ever
 * would keep the holder from running, so in the end it sleeps. */
__attribute__((noinline)) void tkt_spin_wait(tkt_spin *spin)
{
    enum {
        RELAXED = 100,
        YIELDED = 200
    };
    for (unsigned i = 0; __atomic_load_n(spin, __ATOMIC_RELAXED) != 0 ||
                         __atomic_exchange_n(spin, 1, __ATOMIC_ACQUIRE) != 0;
         i++) {
        if (i < RELAXED)
            relax();
        else if (i < YIELDED)
            tkt_thread_pause_ms(0);
        else
            pause_ms();
    }
}

/* ---- Conditions ------------------------------------------------------------------------------ */

/* While it waits, the thread holds no lock. Returns 0 or the error. */
static int wait_for_change(tkt_condition *condition, tkt_mutex *mutex, const struct timespec *end)
{
    int failure;
    __atomic_add_fetch(&condition->waiting, 1, __ATOMIC_RELAXED);
    uint32_t seen = __atomic_load_n(&condition->sequence, __ATOMIC_RELAXED);
    give(mutex);
    tkt_locks_held--;
    do
        failure = futex(&condition->sequence, FUTEX_WAIT_BITSET, seen, end);
    while (failure == EINTR);
    tkt_locks_held++;
    lock(mutex);
    __atomic_sub_fetch(&condition->waiting, 1, __ATOMIC_RELAXED);
    return failure;
}

void tkt_condition_wait(tkt_condition *condition, tkt_mutex *mutex)
{
    wait_for_change(condition, mutex, NULL);
}

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
    return wait_for_change(condition, mutex, &end) != ETIMEDOUT;
}

void tkt_condition_wake_all(tkt_condition *condition)
{
    if (__atomic_load_n(&condition->waiting, __ATOMIC_RELAXED) == 0)
        return;
    __atomic_add_fetch(&condition->sequence, 1, __ATOMIC_RELAXED);
    futex(&condition->sequence, FUTEX_WAKE, INT32_MAX, NULL);
}
