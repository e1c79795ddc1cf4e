/* Everything that is recorded beside scopes: marks, counters, arguments, declared work, names of
 * threads, and flows. */
#include "base/clock.h"
#include "record/control.h"
#include "record/log.h"
#include "record/site.h"
#include "record/slot.h"

#include <string.h>

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint32_t tag(const tkt_thread_log *log, tkt_slot_kind kind)
{
    return tkt_slot_tag(kind, tkt_log_depth(log));
}

/* Writes one slot. */
static void put(tkt_thread_log *log, tkt_slot_kind kind, uint64_t start, uint32_t ticks)
{
    takt_record *slot = tkt_log_reserve(log, 1);
    if (!slot)
        return;
    tkt_slot_write(slot, (takt_record){start, ticks, tag(log, kind)});
    tkt_log_publish(log, slot + 1);
}

/* Writes one slot and one that belongs to it. */
static void put_two(tkt_thread_log *log, tkt_slot_kind kind, uint64_t start, uint32_t ticks,
                    uint64_t more_start, uint32_t more_ticks)
{
    takt_record *slot = tkt_log_reserve(log, 2);
    if (!slot)
        return;
    tkt_slot_write(slot, (takt_record){start, ticks, tag(log, kind)});
    tkt_slot_write(slot + 1, (takt_record){more_start, more_ticks, tag(log, TKT_SLOT_MORE)});
    tkt_log_publish(log, slot + 2);
}

void takt_mark_v1(takt_site *site)
{
    tkt_thread_log *log = tkt_log_enter();
    if (!log)
        return;
    uint32_t id = tkt_log_site(log, site);
    if (id)
        put(log, TKT_SLOT_MARK, tkt_ticks(), id);
    tkt_log_leave(log);
}

void takt_counter_v1(takt_site *site, double value)
{
    tkt_thread_log *log = tkt_log_enter();
    if (!log)
        return;
    uint32_t id = tkt_log_site(log, site);
    if (id)
        put_two(log, TKT_SLOT_COUNTER, tkt_ticks(), id, bits_of(value), 0);
    tkt_log_leave(log);
}

/* The site of a name of run time; 0, and the loss is counted, when there is none left. */
static uint32_t named(tkt_thread_log *log, const char *name, takt_site_kind kind)
{
    uint32_t id = tkt_site_named(name, kind);
    if (!id)
        tkt_log_lose(log, TAKT_LOSS_TOO_MANY_SITES);
    return id;
}

void takt_mark(const char *name)
{
    tkt_thread_log *log = takt_is_on(TAKT_NORMAL_BIT) ? tkt_log_enter() : NULL;
    if (!log)
        return;
    uint32_t id = named(log, name, TAKT_SITE_MARK);
    if (id)
        put(log, TKT_SLOT_MARK, tkt_ticks(), id);
    tkt_log_leave(log);
}

void takt_counter(const char *name, double value)
{
    tkt_thread_log *log = takt_is_on(TAKT_NORMAL_BIT) ? tkt_log_enter() : NULL;
    if (!log)
        return;
    uint32_t id = named(log, name, TAKT_SITE_COUNTER);
    if (id)
        put_two(log, TKT_SLOT_COUNTER, tkt_ticks(), id, bits_of(value), 0);
    tkt_log_leave(log);
}

/* ---- Arguments and work: they belong to the innermost open scope ----------------------------- */

static void put_argument(takt_site *key, tkt_slot_kind kind, uint64_t bits)
{
    if (!tkt_record_has(TKT_ARGUMENTS))
        return;
    tkt_thread_log *log = tkt_log_enter();
    if (!log)
        return;
    uint32_t id = tkt_log_site(log, key);
    if (id && tkt_log_depth(log) > 0)
        put(log, kind, bits, id);
    tkt_log_leave(log);
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
    put_argument(site, TKT_SLOT_ARG_DOUBLE, bits_of(value));
}

void takt_arg_bool_v1(takt_site *site, bool value)
{
    put_argument(site, TKT_SLOT_ARG_BOOL, value);
}

void takt_arg_string_v1(takt_site *site, const char *value)
{
    if (tkt_record_has(TKT_ARGUMENTS) && !tkt_log_refuses())
        put_argument(site, TKT_SLOT_ARG_STRING, tkt_text_intern_value(value));
}

/* Sums that only their thread writes, for whoever reads them at any time. */
static void add_double(double *sum, double value)
{
    double now;
    __atomic_load(sum, &now, __ATOMIC_RELAXED);
    now += value;
    __atomic_store(sum, &now, __ATOMIC_RELAXED);
}

void takt_work(double flops, double bytes)
{
    if (!takt_is_on(TAKT_NORMAL_BIT | TAKT_WORK_BIT))
        return;
    tkt_thread_log *log = tkt_log_enter();
    if (!log)
        return;
    add_double(&log->flops, flops);
    add_double(&log->bytes, bytes);
    if (takt_is_on(TAKT_NORMAL_BIT) && tkt_log_depth(log) > 0)
        put_two(log, TKT_SLOT_WORK, bits_of(flops), 0, bits_of(bytes), 0);
    tkt_log_leave(log);
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
    put_two(log, kind, tkt_ticks(), 0, id, 0);
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
