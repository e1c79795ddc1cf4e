/* Events other than scopes: marks, counters, arguments, declared work, names of threads, flows, and
 * calls into CUDA. */
#include "base/clock.h"
#include "base/own.h"
#include "record/control.h"
#include "record/fast.h"
#include "record/log.h"
#include "record/scope.h"
#include "record/site.h"
#include "record/slot.h"

#include <string.h>

/* ======== Events ======== */

/* Writes one slot. */
static void put(tkt_thread_log *log, tkt_slot_kind kind, uint64_t start, uint32_t ticks)
{
    takt_record *slot = tkt_log_reserve(log, 1);
    if (slot)
        tkt_write_one(log->thread, slot, kind, start, ticks);
}

/* Writes one slot and one that belongs to it. */
static void put_two(tkt_thread_log *log, tkt_slot_kind kind, uint64_t start, uint32_t ticks,
                    uint64_t more_start)
{
    takt_record *slot = tkt_log_reserve(log, 2);
    if (slot)
        tkt_write_two(log->thread, slot, kind, start, ticks, more_start);
}

/* ---- Marks and counters ---------------------------------------------------------------------- */

static TKT_APART void mark_slow(takt_site *site)
{
    tkt_thread_log *log = tkt_log_enter();
    if (!log)
        return;
    uint32_t id = tkt_log_site(log, site);
    if (id)
        put(log, TKT_SLOT_MARK, tkt_ticks(), id);
    tkt_log_leave(log);
}

void takt_mark_v1(takt_site *site)
{
    takt_thread_v1 *thread = &takt_thread_hot_v1;
    uint32_t tag = __atomic_load_n(&site->tag, __ATOMIC_RELAXED);
    takt_record *slot;
    if (tag != TAKT_SLOW && tkt_enter_to_write(thread, 1, &slot)) {
        tkt_write_one(thread, slot, TKT_SLOT_MARK, takt_ticks(), tag >> 8);
        takt_leave(thread);
    } else {
        mark_slow(site);
    }
}

static TKT_APART void counter_slow(takt_site *site, double value)
{
    tkt_thread_log *log = tkt_log_enter();
    if (!log)
        return;
    uint32_t id = tkt_log_site(log, site);
    if (id)
        put_two(log, TKT_SLOT_COUNTER, tkt_ticks(), id, tkt_slot_bits(value));
    tkt_log_leave(log);
}

void takt_counter_v1(takt_site *site, double value)
{
    takt_thread_v1 *thread = &takt_thread_hot_v1;
    uint32_t tag = __atomic_load_n(&site->tag, __ATOMIC_RELAXED);
    takt_record *slot;
    if (tag != TAKT_SLOW && tkt_enter_to_write(thread, 2, &slot)) {
        tkt_write_two(thread, slot, TKT_SLOT_COUNTER, takt_ticks(), tag >> 8, tkt_slot_bits(value));
        takt_leave(thread);
    } else {
        counter_slow(site, value);
    }
}

/* A mark or counter with a name from takt_name_make(). */
static TKT_APART void named_slow(takt_name name, takt_site_kind kind, double value)
{
    tkt_thread_log *log = tkt_log_enter();
    if (!log)
        return;
    uint32_t id = name.id ? tkt_site_twin(name.id, kind) : tkt_name_site(log, NULL, kind);
    if (id && kind == TAKT_SITE_MARK)
        put(log, TKT_SLOT_MARK, tkt_ticks(), id);
    else if (id)
        put_two(log, TKT_SLOT_COUNTER, tkt_ticks(), id, tkt_slot_bits(value));
    tkt_log_leave(log);
}

void takt_mark_name(takt_name name)
{
    takt_thread_v1 *thread = &takt_thread_hot_v1;
    takt_record *slot;
    if (!takt_is_on(TAKT_NORMAL_BIT))
        return;
    uint32_t id = name.id ? tkt_site_known_twin(name.id, TAKT_SITE_MARK) : 0;
    if (id && tkt_enter_to_write(thread, 1, &slot)) {
        tkt_write_one(thread, slot, TKT_SLOT_MARK, takt_ticks(), id);
        takt_leave(thread);
    } else {
        named_slow(name, TAKT_SITE_MARK, 0);
    }
}

void takt_counter_name(takt_name name, double value)
{
    takt_thread_v1 *thread = &takt_thread_hot_v1;
    takt_record *slot;
    if (!takt_is_on(TAKT_NORMAL_BIT))
        return;
    uint32_t id = name.id ? tkt_site_known_twin(name.id, TAKT_SITE_COUNTER) : 0;
    if (id && tkt_enter_to_write(thread, 2, &slot)) {
        tkt_write_two(thread, slot, TKT_SLOT_COUNTER, takt_ticks(), id, tkt_slot_bits(value));
        takt_leave(thread);
    } else {
        named_slow(name, TAKT_SITE_COUNTER, value);
    }
}

void takt_mark(const char *name)
{
    tkt_thread_log *log = takt_is_on(TAKT_NORMAL_BIT) ? tkt_log_enter() : NULL;
    if (!log)
        return;
    uint32_t id = tkt_name_site(log, name, TAKT_SITE_MARK);
    if (id)
        put(log, TKT_SLOT_MARK, tkt_ticks(), id);
    tkt_log_leave(log);
}

void takt_counter(const char *name, double value)
{
    tkt_thread_log *log = takt_is_on(TAKT_NORMAL_BIT) ? tkt_log_enter() : NULL;
    if (!log)
        return;
    uint32_t id = tkt_name_site(log, name, TAKT_SITE_COUNTER);
    if (id)
        put_two(log, TKT_SLOT_COUNTER, tkt_ticks(), id, tkt_slot_bits(value));
    tkt_log_leave(log);
}

/* ---- Arguments and work: they belong to the innermost open scope ----------------------------- */

/* They have no time: see tkt_boundary. */

/* False for events of a scope that is not recorded: see takt_scope_hide_v1(). */
static inline bool has_owner(const takt_thread_v1 *thread)
{
    return takt_has_open() && !(thread->top->depth & TAKT_FRAME_HIDES);
}

/* The same as tkt_enter_to_write(), for a thread with an open scope, which has a log. False also if
 * it came by a boundary. */
static inline bool enter_to_add(takt_thread_v1 *thread, size_t count, takt_record **slot)
{
    const tkt_thread_log *log = thread->log;
    return log->boundary == tkt_record_boundary() && tkt_enter_to_write(thread, count, slot);
}

/* Returns room for `count` slots, behind the number of the last boundary. */
static takt_record *reserve_to_add(tkt_thread_log *log, uint32_t count)
{
    uint64_t boundary = tkt_record_boundary();
    bool is_new = log->boundary != boundary;
    takt_record *slot = tkt_log_reserve(log, count + is_new);
    if (!slot || !is_new)
        return slot;
    log->boundary = boundary;
    tkt_write_one(log->thread, slot, TKT_SLOT_BOUNDARY, boundary, 0);
    return slot + 1;
}

static void add(tkt_thread_log *log, tkt_slot_kind kind, uint64_t bits, uint32_t key)
{
    takt_record *slot = reserve_to_add(log, 1);
    if (slot)
        tkt_write_one(log->thread, slot, kind, bits, key);
}

static TKT_APART void argument_slow(takt_site *key, tkt_slot_kind kind, uint64_t bits)
{
    tkt_thread_log *log = tkt_log_enter();
    if (!log)
        return;
    uint32_t id = tkt_log_site(log, key);
    if (id && has_owner(log->thread))
        add(log, kind, bits, id);
    tkt_log_leave(log);
}

static inline void put_argument(takt_site *key, tkt_slot_kind kind, uint64_t bits)
{
    takt_thread_v1 *thread = &takt_thread_hot_v1;
    uint32_t tag = __atomic_load_n(&key->tag, __ATOMIC_RELAXED);
    if (!tkt_record_has(TKT_ARGUMENTS))
        return;
    takt_record *slot;
    if (tag != TAKT_SLOW && has_owner(thread) && enter_to_add(thread, 1, &slot)) {
        tkt_write_one(thread, slot, kind, bits, tag >> 8);
        takt_leave(thread);
    } else {
        argument_slow(key, kind, bits);
    }
}

void takt_arg_int_v1(takt_site *site, int64_t value)
{
    put_argument(site, TKT_SLOT_ARG_INT, (uint64_t)value);
}

void takt_arg_uint_v1(takt_site *site, uint64_t value)
{
    put_argument(site, TKT_SLOT_ARG_UINT, value);
}

void takt_arg_double_v1(takt_site *site, double value)
{
    put_argument(site, TKT_SLOT_ARG_DOUBLE, tkt_slot_bits(value));
}

void takt_arg_bool_v1(takt_site *site, bool value)
{
    put_argument(site, TKT_SLOT_ARG_BOOL, value);
}

static TKT_APART void text_slow(takt_site *key, const char *value)
{
    tkt_thread_log *log = tkt_log_enter();
    if (!log)
        return;
    uint32_t id = tkt_log_site(log, key);
    if (id && has_owner(log->thread))
        add(log, TKT_SLOT_ARG_STRING, tkt_text_of_value(log, value), id);
    tkt_log_leave(log);
}

void takt_arg_string_v1(takt_site *site, const char *value)
{
    takt_thread_v1 *thread = &takt_thread_hot_v1;
    uint32_t tag = __atomic_load_n(&site->tag, __ATOMIC_RELAXED);
    uint32_t text = 0;
    if (!tkt_record_has(TKT_ARGUMENTS))
        return;
    takt_record *slot;
    if (tag != TAKT_SLOW && value && has_owner(thread) && enter_to_add(thread, 1, &slot)) {
        text = tkt_text_recent(thread->log, value);
        if (text)
            tkt_write_one(thread, slot, TKT_SLOT_ARG_STRING, text, tag >> 8);
        takt_leave(thread);
    }
    if (!text)
        text_slow(site, value);
}

/* Adds to a sum that only its thread writes, and that others may read at any time. */
static void add_double(double *sum, double value)
{
    double now;
    __atomic_load(sum, &now, __ATOMIC_RELAXED);
    now += value;
    __atomic_store(sum, &now, __ATOMIC_RELAXED);
}

static void add_work(tkt_thread_log *log, double flops, double bytes)
{
    TKT_OWN_WORK;
    add_double(&log->flops, flops);
    add_double(&log->bytes, bytes);
}

static void write_work(tkt_thread_log *log, double flops, double bytes)
{
    takt_record *slot = reserve_to_add(log, 2);
    if (slot)
        tkt_write_two(log->thread, slot, TKT_SLOT_WORK, tkt_slot_bits(flops), 0,
                      tkt_slot_bits(bytes));
}

static TKT_APART void work_slow(double flops, double bytes)
{
    tkt_thread_log *log = tkt_log_enter();
    if (!log)
        return;
    if (takt_is_on(TAKT_WORK_BIT))
        add_work(log, flops, bytes);
    if (takt_is_on(TAKT_NORMAL_BIT) && has_owner(log->thread))
        write_work(log, flops, bytes);
    tkt_log_leave(log);
}

void takt_work(double flops, double bytes)
{
    takt_thread_v1 *thread = &takt_thread_hot_v1;
    takt_record *slot;
    if (!takt_is_on(TAKT_NORMAL_BIT | TAKT_WORK_BIT))
        return;
    if (!takt_is_on(TAKT_WORK_BIT) && has_owner(thread) && enter_to_add(thread, 2, &slot)) {
        tkt_write_two(thread, slot, TKT_SLOT_WORK, tkt_slot_bits(flops), 0, tkt_slot_bits(bytes));
        takt_leave(thread);
    } else {
        work_slow(flops, bytes);
    }
}

/* ---- Threads --------------------------------------------------------------------------------- */

void takt_thread_name(const char *name)
{
    tkt_thread_log *log = tkt_log_enter();
    if (!log)
        return;
    log->mark.name = tkt_text_intern(name);
    put(log, TKT_SLOT_NAME, 0, log->mark.name);
    tkt_log_leave(log);
}

/* ---- Flows ----------------------------------------------------------------------------------- */

static void put_flow(tkt_slot_kind kind, uint64_t id)
{
    if (!takt_is_on(TAKT_NORMAL_BIT))
        return;
    tkt_thread_log *log = tkt_log_enter();
    if (!log)
        return;
    if (!(log->thread->top->depth & TAKT_FRAME_HIDES))
        put_two(log, kind, tkt_ticks(), 0, id);
    tkt_log_leave(log);
}

void takt_flow_begin(uint64_t id)
{
    put_flow(TKT_SLOT_FLOW_BEGIN, id);
}

void takt_flow_end(uint64_t id)
{
    put_flow(TKT_SLOT_FLOW_END, id);
}

/* ======== Calls into CUDA ======== */

/* A call is written like a scope that has ended: its notes first, then its span. All slots are
 * reserved together, so that neither a reader nor a full log separates them.
 *
 * The caller's names are static texts, so a site is found by the address of its name, in a table
 * that only grows. */

#define NAMES 512u /* a power of two; about a hundred names are recorded */

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

/* Registering takes a lock. It happens once for each name, unless the table is full. */
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
        /* acquire and release: who sees the id finds the site */
        uint32_t site = __atomic_load_n(&entry->site, __ATOMIC_ACQUIRE);
        if (site == 0) {
            site = register_call(call);
            __atomic_store_n(&entry->site, site, __ATOMIC_RELEASE);
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
    if (stack) /* with the depth that the span would have while open */
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
