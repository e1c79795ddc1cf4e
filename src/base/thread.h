/* Threads, locks, fork and unloading. Only this file's implementation knows pthreads' details. */
#ifndef TKT_BASE_THREAD_H
#define TKT_BASE_THREAD_H

#include <takt/base.h>
#include <takt/scope.h>

#include <pthread.h>

typedef pthread_mutex_t tkt_mutex;
#define TKT_MUTEX_INIT PTHREAD_MUTEX_INITIALIZER
static inline void tkt_mutex_init(tkt_mutex *mutex) { pthread_mutex_init(mutex, NULL); }
static inline void tkt_mutex_fini(tkt_mutex *mutex) { pthread_mutex_destroy(mutex); }
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
#define TKT_BUSY_ASYNC 32u /* only in what locking returns */
static inline uint64_t tkt_busy_lock(tkt_mutex *mutex)
{
    int type;
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
    uint64_t was = tkt_busy_begin();
    takt_thread_hot_v1.busy |= TKT_BUSY_LOCKED;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    pthread_mutex_lock(mutex);
    return was | (type == PTHREAD_CANCEL_ASYNCHRONOUS ? TKT_BUSY_ASYNC : 0);
}
static inline void tkt_busy_unlock(tkt_mutex *mutex, uint64_t was)
{
    pthread_mutex_unlock(mutex);
    tkt_busy_end(was & ~(uint64_t)TKT_BUSY_ASYNC);
    if (was & TKT_BUSY_ASYNC)
        pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &(int){0});
}

/* True if the calling thread holds a lock of Takt's or of the allocator. If the program runs on the
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

typedef pthread_cond_t tkt_condition;
#define TKT_CONDITION_INIT PTHREAD_COND_INITIALIZER
void tkt_condition_wait(tkt_condition *condition, tkt_mutex *mutex);
static inline void tkt_condition_wake_all(tkt_condition *condition)
{
    pthread_cond_broadcast(condition);
}
/* False when `timeout_ms` have passed without a wake-up. */
bool tkt_condition_wait_for(tkt_condition *condition, tkt_mutex *mutex, uint32_t timeout_ms);

/* Until the end of its block, nobody cancels the calling thread: that would leave locks held. */
#define TKT_UNCANCELLED                                                                            \
    __attribute__((cleanup(tkt_cancel_restore), unused)) int cancel_state = tkt_cancel_disable()
int tkt_cancel_disable(void);
void tkt_cancel_restore(int *state);

typedef pthread_t tkt_thread;
/* Starts a library thread with all signals blocked, and `name` for debuggers. */
takt_status tkt_thread_start(tkt_thread *thread, const char *name, void *(*run)(void *),
                             void *argument);
void tkt_thread_join(tkt_thread thread);
void tkt_thread_detach(tkt_thread thread); /* nobody will join it */

/* True if the calling thread has a policy of real time. */
bool tkt_thread_is_realtime(void);

/* Lets other threads run for `ms` milliseconds; 0: yields once. */
void tkt_thread_pause_ms(uint32_t ms);

/* The operating system's id of the calling thread. */
uint32_t tkt_thread_id(void);

/* The bounds of the calling thread's stack; 0 if they are unknown. Its coroutines have others. */
void tkt_thread_stack(uintptr_t *begin, uintptr_t *end);

/* The calling thread's name in the operating system, at most 15 bytes. */
void tkt_thread_os_name(char name[16]);

/* Calls `handler` with `value` when the calling thread ends. There is one handler in a process. A
 * further call on the same thread replaces the value; NULL cancels the call. */
takt_status tkt_thread_at_exit(void (*handler)(void *value), void *value);

/* Removes the handler, for all threads and for good. */
void tkt_thread_exits_forget(void);

/* True if the thread with that id of this process has ended. */
bool tkt_thread_is_gone(uint32_t id);

/* Copies aligned words of another thread, which may have ended: false when its memory is gone.
 * Later reads of those words are not older than the copy. */
bool tkt_thread_peek(void *out, const void *from, size_t size);

/* Calls `handler` when this library is unloaded, or the plugin that contains it. Does not call it
 * when the process exits, since other threads may go on then. One handler in a process. */
void tkt_at_unload(void (*handler)(void));

/* True after that handler, while the plugin's functions of atexit() run. */
bool tkt_is_unloading(void);

/* A forked child has copies of locks that other threads of the parent may hold, Takt's and the C
 * library's. Takt is therefore disabled in it: it does nothing there, and takes no lock. Handlers
 * of tkt_at_fork() call tkt_process_disable(). After tkt_process_mark(), children forked without
 * handlers, by _Fork() or the bare system call, are disabled, too. */
void tkt_process_disable(void);
void tkt_process_mark(void);
void tkt_process_unmark(void);
extern bool tkt_process_disabled; /* atomic */
extern const volatile uint8_t *tkt_process_marked; /* NULL: not marked; *: 0 in a child */
static inline bool tkt_process_is_disabled(void)
{
    const volatile uint8_t *mark = __atomic_load_n(&tkt_process_marked, __ATOMIC_ACQUIRE);
    return (mark && *mark == 0) || __atomic_load_n(&tkt_process_disabled, __ATOMIC_RELAXED);
}

/* From now on, fork() calls `child` in the child, and `before` and `parent` in the parent (NULL:
 * nothing). */
void tkt_at_fork(void (*child)(void));
void tkt_around_fork(void (*before)(void), void (*parent)(void), void (*child)(void));

/* True if main() has ended by pthread_exit(): then the process ends with its last thread. False if
 * that is unknown. */
bool tkt_main_has_ended(void);

/* True if, moreover, the calling thread is the last one. */
bool tkt_thread_is_last(void);

/* True if the process has no other thread, according to the operating system. False if that is
 * unknown. */
bool tkt_thread_is_only(void);

#endif
