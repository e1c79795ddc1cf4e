/* What the models share. Each is a few lines of Takt's protocols between threads, with the orders that
 * the sources have; -DWEAK_... makes one of them weaker, and GenMC then has to find what goes wrong. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

void __VERIFIER_assume(bool);
#define assume(condition) __VERIFIER_assume(condition)

#define store(object, value, order) atomic_store_explicit(object, value, memory_order_##order)
#define load(object, order)         atomic_load_explicit(object, memory_order_##order)
