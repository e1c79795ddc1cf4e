/* A table by the lowest bits of the inner id, each entry one word. It takes no memory where ids do
 * not differ, since nobody touches it. An id is forgotten when so many more have been given that
 * its place is taken: an activity that is still to come is then in no scope, and counted as that.
 */
#include "cuda/alias.h"

#include <stdatomic.h>
#include <stdbool.h>

#define ALIASES (1u << 18) /* as many as calls that summary mode remembers */

static _Atomic(uint64_t) aliases[ALIASES]; /* inner << 32 | outer */
static _Atomic(bool) is_used;

/* The activity comes through CUPTI's buffers, which order what was written here before. */
void tkt_alias_add(uint32_t inner, uint32_t outer)
{
    uint64_t alias = (uint64_t)inner << 32 | outer;
    atomic_store_explicit(&aliases[inner % ALIASES], alias, memory_order_relaxed);
    if (!atomic_load_explicit(&is_used, memory_order_relaxed))
        atomic_store_explicit(&is_used, true, memory_order_relaxed);
}

uint32_t tkt_alias_outer(uint32_t correlation)
{
    if (!atomic_load_explicit(&is_used, memory_order_relaxed))
        return correlation;
    uint64_t alias = atomic_load_explicit(&aliases[correlation % ALIASES], memory_order_relaxed);
    return alias >> 32 == correlation ? (uint32_t)alias : correlation;
}
