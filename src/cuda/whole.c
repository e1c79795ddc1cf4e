/* Whole launches of graphs. CUPTI 13.0 crashes in the launch of a graph that was instantiated
 * before GRAPH_TRACE was enabled (docs/cuda.md). So the graphs that are instantiated while it is
 * enabled are remembered, and before the first launch of another one it is disabled for good: CUPTI
 * then records nodes, which Takt combines.
 *
 * GRAPH_TRACE counts as wanted from before it is enabled until after it is disabled, and as enabled
 * only in between: a launch or an instantiation meanwhile is taken for a dangerous one. No lock is
 * held while CUPTI is called. */
#include "cuda/collector.h"

#include "base/containers.h"
#include "base/error.h"
#include "base/lock.h"

#include <stdatomic.h>

static struct {
    _Atomic(bool) is_wanted;
    _Atomic(bool) is_enabled;
    _Atomic(bool) is_over;    /* a dangerous graph is about to be launched */
    _Atomic(bool) is_off;     /* and GRAPH_TRACE has been disabled */
    int (*disable)(int kind); /* set before is_wanted */
    tkt_mutex lock;
    tkt_map graphs; /* handles of executable graphs that may be launched */
} whole = {.lock = TKT_MUTEX_INIT};

bool tkt_whole_is_over(void)
{
    return atomic_load(&whole.is_over);
}

/* The callbacks stay enabled: a handle may be used again. Without them no graph is known. */
int tkt_whole_enable(const tkt_cupti *cupti)
{
    if (tkt_whole_is_over())
        return TKT_CUPTI_NOT_SUPPORTED;
    for (uint32_t id = TKT_GRAPH_EXEC_CREATED; id <= TKT_GRAPH_EXEC_DESTROY_STARTING; id++)
        cupti->enable_callback(1, cupti->subscriber, TKT_DOMAIN_RESOURCE, id);
    whole.disable = cupti->disable;
    atomic_store(&whole.is_wanted, true);
    int result = cupti->enable(TKT_KIND_GRAPH_TRACE);
    atomic_store(&whole.is_enabled, result == TKT_CUPTI_SUCCESS);
    if (tkt_whole_is_over())
        cupti->disable(TKT_KIND_GRAPH_TRACE);
    return result;
}

void tkt_whole_disable(const tkt_cupti *cupti)
{
    atomic_store(&whole.is_enabled, false);
    cupti->disable(TKT_KIND_GRAPH_TRACE);
    atomic_store(&whole.is_wanted, false);
}

void tkt_whole_forget(void)
{
    atomic_store(&whole.is_enabled, false);
    atomic_store(&whole.is_wanted, false);
    tkt_mutex_lock(&whole.lock);
    tkt_map_fini(&whole.graphs);
    tkt_mutex_unlock(&whole.lock);
}

/* A graph for which there is no memory counts as dangerous. */
void tkt_whole_made(const void *graph)
{
    if (!atomic_load(&whole.is_enabled))
        return;
    tkt_mutex_lock(&whole.lock);
    tkt_map_put(&whole.graphs, (uintptr_t)graph);
    tkt_mutex_unlock(&whole.lock);
}

void tkt_whole_destroyed(const void *graph)
{
    tkt_mutex_lock(&whole.lock);
    tkt_map_remove(&whole.graphs, (uintptr_t)graph);
    tkt_mutex_unlock(&whole.lock);
}

void tkt_whole_launched(const void *graph)
{
    if (!atomic_load(&whole.is_wanted) || atomic_load(&whole.is_off))
        return;
    tkt_mutex_lock(&whole.lock);
    bool is_known = tkt_map_get(&whole.graphs, (uintptr_t)graph) != NULL;
    tkt_mutex_unlock(&whole.lock);
    if (is_known)
        return;
    bool was_over = atomic_exchange(&whole.is_over, true);
    whole.disable(TKT_KIND_GRAPH_TRACE); /* each of several threads, and none before it is off */
    atomic_store(&whole.is_off, true);
    if (!was_over)
        tkt_log(TAKT_LOG_WARNING,
                "launches of graphs are recorded node by node and then combined: a graph was "
                "instantiated while launches were not recorded as a whole, such as before the first "
                "warm-up, and CUPTI may crash if it records its launches so");
}
