/* A call is written like a scope that has ended: its notes first, then its span. All in one
 * reservation, so that no reader and no full log parts them.
 *
 * Names are static texts of the caller's, so a site is found by the address of its name, in a table
 * that is only ever added to. */
#include "record/call.h"

#include "record/control.h"
#include "record/log.h"
#include "record/site.h"
#include "record/slot.h"
#include "record/stack.h"

#define NAMES 512u /* a power of two; the names that are recorded are about a hundred */

typedef struct known_name {
    const char *name; /* atomic; NULL: free */
    uint32_t site;    /* atomic; 0 for a moment after the name was set */
} known_name;

static known_name known[NAMES];

static uint32_t register_call(const tkt_call *call)
{
    takt_site site = {.kind = TAKT_SITE_CALL,
                      .level = TAKT_LEVEL_NORMAL,
                      .name = call->name,
                      .category = call->category};
    return tkt_site_register(&site);
}

/* Registering takes a lock; it happens once for each name, unless the table is full. */
static uint32_t site_of(const tkt_call *call)
{
    uintptr_t hash = (uintptr_t)call->name * 0x9E3779B1u >> 8;
    for (uint32_t i = 0; i < NAMES; i++) {
        known_name *entry = &known[(hash + i) % NAMES];
        const char *name = __atomic_load_n(&entry->name, __ATOMIC_RELAXED);
        if (!name &&
            !__atomic_compare_exchange_n(&entry->name, &name, call->name, false, __ATOMIC_RELAXED,
                                         __ATOMIC_RELAXED) &&
            name != call->name)
            continue;
        if (name && name != call->name)
            continue;
        uint32_t site = __atomic_load_n(&entry->site, __ATOMIC_RELAXED);
        if (site == 0) {
            site = register_call(call);
            __atomic_store_n(&entry->site, site, __ATOMIC_RELAXED);
        }
        return site;
    }
    return register_call(call);
}

static void write_call(tkt_thread_log *log, const tkt_call *call, uint32_t site)
{
    uint32_t depth = tkt_log_depth(log);
    uint64_t ticks = call->end_ticks - call->begin_ticks;
    bool is_plain = depth < TKT_DEEP && ticks >> 32 == 0;
    uint32_t stack = tkt_stack_here(log, call->caller);
    takt_record *slot = tkt_log_reserve(log, (is_plain ? 2 : 3) + (stack != 0));
    if (!slot)
        return;
    if (stack) /* as if the span were open */
        tkt_slot_write(slot++, (takt_record){call->begin_ticks, stack,
                                             tkt_slot_tag(TKT_SLOT_STACK, depth + 1)});
    uint64_t facts = (uint64_t)(uint32_t)call->result << 32 | call->correlation;
    uint32_t where = depth | (call->is_capturing ? TKT_SLOT_CAPTURING : 0);
    tkt_slot_write(slot++, (takt_record){facts, where, tkt_slot_tag(TKT_SLOT_CALL, depth)});
    if (is_plain) {
        tkt_slot_write(slot++,
                       (takt_record){call->begin_ticks, (uint32_t)ticks, site << 8 | depth});
    } else {
        tkt_slot_write(slot++,
                       (takt_record){call->begin_ticks, site, tkt_slot_tag(TKT_SLOT_SPAN, depth)});
        tkt_slot_write(slot++,
                       (takt_record){call->end_ticks, depth, tkt_slot_tag(TKT_SLOT_MORE, depth)});
    }
    tkt_log_publish(log, slot);
}

void tkt_record_call(const tkt_call *call)
{
    if (!tkt_record_has(TKT_KEEP | TKT_FOLD))
        return;
    tkt_thread_log *log = tkt_log_enter();
    if (!log)
        return;
    uint32_t site = site_of(call);
    if (site == 0)
        tkt_log_lose(log, TAKT_LOSS_TOO_MANY_SITES);
    else if (call->end_ticks < call->begin_ticks)
        tkt_log_lose(log, TAKT_LOSS_CLOCK);
    else
        write_call(log, call, site);
    tkt_log_leave(log);
}
