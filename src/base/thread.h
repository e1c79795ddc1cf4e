/* Threads, fork and unloading. Only this file's implementation knows pthreads' details. */
#ifndef TKT_BASE_THREAD_H
#define TKT_BASE_THREAD_H

#include <takt/base.h>
#include <takt/scope.h>

#include <pthread.h>

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

/* The same for a thread whose memory is surely there. */
void tkt_thread_copy(void *out, const void *from, size_t size);

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
