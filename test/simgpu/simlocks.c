/* libsimlocks.so, to be preloaded: counts the mutexes that each thread holds, so that the stand-in
 * libcupti can tell when it is called with one. The real library calls back into its client from
 * many functions; a client that holds a lock then waits for itself, on some days. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#define SHOWN __attribute__((visibility("default")))

SHOWN unsigned simlocks_held(void);
SHOWN void *simlocks_where(void);

typedef int (*lock_fn)(pthread_mutex_t *mutex);
typedef int (*timed_fn)(pthread_mutex_t *mutex, const struct timespec *until);

static _Thread_local struct {
    unsigned count;
    void *where; /* the first of them was locked here */
} held __attribute__((tls_model("initial-exec")));

/* Never while the lock that dlsym() takes is held by this thread: the first call of a thread is its
 * own. */
static void *next_of(void **cache, const char *name)
{
    void *next = __atomic_load_n(cache, __ATOMIC_ACQUIRE);
    if (!next) {
        next = dlsym(RTLD_NEXT, name);
        __atomic_store_n(cache, next, __ATOMIC_RELEASE);
    }
    return next;
}

#define NEXT(type, name)                                                                           \
    static void *cached;                                                                           \
    union {                                                                                        \
        void *object;                                                                              \
        type function;                                                                             \
    } next = {next_of(&cached, name)}

static int took(int status, void *where)
{
    if (status == 0 && held.count++ == 0)
        held.where = where;
    return status;
}

unsigned simlocks_held(void)
{
    return held.count;
}

void *simlocks_where(void)
{
    return held.where;
}

SHOWN int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    NEXT(lock_fn, "pthread_mutex_lock");
    return took(next.function(mutex), __builtin_return_address(0));
}

SHOWN int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    NEXT(lock_fn, "pthread_mutex_trylock");
    return took(next.function(mutex), __builtin_return_address(0));
}

SHOWN int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until)
{
    NEXT(timed_fn, "pthread_mutex_timedlock");
    return took(next.function(mutex, until), __builtin_return_address(0));
}

SHOWN int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    NEXT(lock_fn, "pthread_mutex_unlock");
    int status = next.function(mutex);
    if (status == 0 && held.count)
        held.count--;
    return status;
}
