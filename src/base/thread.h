/* What Takt needs of threads; the one place that knows pthreads. */
#ifndef TKT_BASE_THREAD_H
#define TKT_BASE_THREAD_H

#include <takt/base.h>

#include <pthread.h>

typedef pthread_mutex_t tkt_mutex;
#define TKT_MUTEX_INIT PTHREAD_MUTEX_INITIALIZER
static inline void tkt_mutex_init(tkt_mutex *mutex) { pthread_mutex_init(mutex, NULL); }
static inline void tkt_mutex_fini(tkt_mutex *mutex) { pthread_mutex_destroy(mutex); }
static inline void tkt_mutex_lock(tkt_mutex *mutex) { pthread_mutex_lock(mutex); }
static inline bool tkt_mutex_try(tkt_mutex *mutex) { return pthread_mutex_trylock(mutex) == 0; }
static inline void tkt_mutex_unlock(tkt_mutex *mutex) { pthread_mutex_unlock(mutex); }

typedef pthread_cond_t tkt_condition;
#define TKT_CONDITION_INIT PTHREAD_COND_INITIALIZER
static inline void tkt_condition_wait(tkt_condition *condition, tkt_mutex *mutex)
{
    pthread_cond_wait(condition, mutex);
}
static inline void tkt_condition_wake_all(tkt_condition *condition)
{
    pthread_cond_broadcast(condition);
}
/* False when `timeout_ms` passed first. */
bool tkt_condition_wait_for(tkt_condition *condition, tkt_mutex *mutex, uint32_t timeout_ms);

typedef pthread_t tkt_thread;
/* Starts a thread of the library's, with all signals blocked and `name` for debuggers. */
takt_status tkt_thread_start(tkt_thread *thread, const char *name, void *(*run)(void *),
                             void *argument);
void tkt_thread_join(tkt_thread thread);

/* Lets other threads run for so long; 0: once. */
void tkt_thread_pause_ms(uint32_t ms);

/* The operating system's id of the calling thread. */
uint32_t tkt_thread_id(void);

/* Its name as the operating system has it, at most 15 bytes. */
void tkt_thread_os_name(char name[16]);

/* Calls `handler` with `value` on the calling thread when it ends. One handler in a process; a
 * further call on the same thread replaces the value; NULL takes it back. */
takt_status tkt_thread_at_exit(void (*handler)(void *value), void *value);

/* Calls `child` in the child after fork(), and `before` in the parent ahead of it (NULL: nothing),
 * from now on. */
void tkt_at_fork(void (*child)(void));
void tkt_around_fork(void (*before)(void), void (*child)(void));

/* Whether the process has no other thread. Asks the operating system; false where it does not
 * say. */
bool tkt_thread_is_only(void);

#endif
