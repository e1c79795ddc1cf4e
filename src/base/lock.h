/* Locks and conditions. A thread that waits for a lock lends its priority to the holder, so that a
 * loop of real time never waits for threads that have nothing to do with Takt.
 *
 * Not pthread's: its locks that lend priority end a process in which a child of vfork(), which runs
 * in its parent's memory under another id, gives one back that others wait for. */
#ifndef TKT_BASE_LOCK_H
#define TKT_BASE_LOCK_H

#include <takt/base.h>
#include <takt/scope.h>

/* The kernel's id of the thread that has the lock, with the kernel's bits; 0: nobody has. */
typedef struct tkt_mutex {
    uint32_t owner;
} tkt_mutex;
#define TKT_MUTEX_INIT                                                                             \
    {                                                                                              \
        0                                                                                          \
    }
static inline void tkt_mutex_init(tkt_mutex *mutex) { *mutex = (tkt_mutex)TKT_MUTEX_INIT; }
void tkt_mutex_lock(tkt_mutex *mutex);
bool tkt_mutex_try(tkt_mutex *mutex);
void tkt_mutex_unlock(tkt_mutex *mutex);

/* The locks that the calling thread holds or waits for, the allocator's included; without those of
 * tkt_busy_lock(). Meanwhile nobody cancels it: it would never give them back. */
extern __thread uint32_t tkt_locks_held;
#define TKT_LOCKS_ASYNC      0x80000000u /* bits of it: how the thread could be cancelled before */
#define TKT_LOCKS_MAY_CANCEL 0x40000000u
#define TKT_LOCKS_COUNT      0x3fffffffu
void tkt_lock_begins(void);
void tkt_lock_ends(void);

/* The bits of a thread's `busy`, together with TAKT_BUSY. While it is not 0, the header's fast
 * paths call the library. */
#define TKT_BUSY_INSIDE 1u /* between two consistent states: a signal handler may not record */
#define TKT_BUSY_HOST   2u /* in the host's allocator: events are ignored */
#define TKT_BUSY_ENDING 4u /* the thread has begun to end; it may record, but may end unnoticed */
#define TKT_BUSY_SHUT   8u /* every event calls the library: see record/log.h */
#define TKT_BUSY_LOCKED 16u /* between tkt_busy_lock() and tkt_busy_unlock() */
#define TKT_BUSY_ASYNC  32u /* only in what tkt_busy_lock() returns */

static inline uint64_t tkt_busy_begin(void)
{
    takt_thread_v1 *thread = &takt_thread_hot_v1;
    uint64_t was = thread->busy;
    thread->busy = was | TAKT_BUSY | TKT_BUSY_INSIDE;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return was;
}
static inline void tkt_busy_end(uint64_t was)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    takt_thread_hot_v1.busy = was;
}

/* For locks that recording takes, too. The holder is busy, so no signal handler on the same thread
 * waits for the lock, and nobody cancels it: it calls nothing that is a cancellation point, and the
 * type keeps glibc 2.36 from cancelling it at any instruction. The state would not: a cancellation
 * that was sent before comes all the same. Pass what locking returned to unlocking. */
uint64_t tkt_busy_lock(tkt_mutex *mutex);
void tkt_busy_unlock(tkt_mutex *mutex, uint64_t was);

/* True if the calling thread holds a lock of Takt or of the allocator. If the program runs on the
 * thread, it has interrupted Takt in a signal handler or the allocator, and may take no lock. */
static inline bool tkt_thread_is_interrupted(void)
{
    return (tkt_locks_held & TKT_LOCKS_COUNT) || (takt_thread_hot_v1.busy & TKT_BUSY_LOCKED);
}

/* A lock for a few instructions: one atomic operation instead of a mutex's two calls. The holder
 * must be busy, and may neither wait nor call the program's code. Starts as 0. */
typedef uint32_t tkt_spin;
void tkt_spin_wait(tkt_spin *spin); /* waits for the lock, and takes it */
static inline void tkt_spin_lock(tkt_spin *spin)
{
    if (__builtin_expect(__atomic_exchange_n(spin, 1, __ATOMIC_ACQUIRE) != 0, 0))
        tkt_spin_wait(spin);
}
static inline void tkt_spin_unlock(tkt_spin *spin)
{
    __atomic_store_n(spin, 0, __ATOMIC_RELEASE); /* pairs with the acquire in tkt_spin_lock() */
}

/* Waking calls the system only if a thread waits, so that threads that record may wake others. A
 * thread may wake up without reason. Without the mutex, a wake-up reaches all threads that began to
 * wait before the mutex was last given back. */
typedef struct tkt_condition {
    uint32_t sequence; /* of wake-ups */
    uint32_t waiting;  /* threads */
} tkt_condition;
#define TKT_CONDITION_INIT                                                                         \
    {                                                                                              \
        0, 0                                                                                       \
    }
void tkt_condition_wait(tkt_condition *condition, tkt_mutex *mutex);
void tkt_condition_wake_all(tkt_condition *condition);

/* False when `timeout_ms` have passed without a wake-up. */
bool tkt_condition_wait_for(tkt_condition *condition, tkt_mutex *mutex, uint32_t timeout_ms);

#endif
