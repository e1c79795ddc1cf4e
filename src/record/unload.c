/* A plugin that brings its own Takt is closed: what recording has is freed, and the C library
 * forgets the code that it would call when threads end. Threads that go on have no part in it any
 * more. */
#include "record/address.h"
#include "record/control.h"
#include "record/log.h"
#include "record/mapping.h"
#include "record/pool.h"
#include "record/site.h"
#include "record/stack.h"
#include "record/task.h"

static void unload(void)
{
    tkt_thread_exits_forget();
    __atomic_store_n(&takt_switch_hot_v1.mask, 0, __ATOMIC_RELAXED);
    if (__atomic_load_n(&tkt_record_control.modes, __ATOMIC_RELAXED) ||
        __atomic_load_n(&tkt_record_control.running, __ATOMIC_RELAXED))
        return; /* somebody has forgotten a profiler, whose threads look at all that */
    tkt_log_free_all();
    tkt_pool_free_all();
    tkt_site_free_all();
    tkt_stack_free_all();
    tkt_task_free_all();
    tkt_address_forget_all();
    tkt_mapping_free();
    tkt_process_unmark();
}

void tkt_record_watch_unload(void)
{
    tkt_at_unload(unload);
}
