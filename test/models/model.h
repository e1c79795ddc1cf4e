/* What the models share. Each is a few lines of Takt's protocols between threads, with the orders that
 * the sources have. With -DWEAKER=n the order number n of a model is weaker, and something must go
 * wrong: a model in which nothing can go wrong says nothing. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#ifndef WEAKER
#define WEAKER 0
#endif

void __VERIFIER_assume(bool); /* GenMC leaves out executions in which it is false */

#define store(object, value, order) atomic_store_explicit(object, value, memory_order_##order)
#define load(object, order)         atomic_load_explicit(object, memory_order_##order)

/* The order of a store, number n of the model. */
#define RELEASE(n) (WEAKER == (n) ? memory_order_relaxed : memory_order_release)

static inline void run_both(void *(*first)(void *), void *(*second)(void *))
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, first, NULL);
    pthread_create(&threads[1], NULL, second, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
}
