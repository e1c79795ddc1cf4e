/* Scopes that begin and end in different places: TAKT_BEGIN and TAKT_END, which belong together by
 * their name, and takt_begin() and takt_end(), which belong together like parentheses. */
#include "record/frames.h"
#include "record/scope.h"
#include "record/site.h"

/* True for frames that TAKT_BEGIN opened: an END closes them, leaving the block does not. */
static bool is_pair(const takt_frame *frame)
{
    return (frame->tag & TKT_FRAME_PAIR) != 0;
}

static void begin_site(tkt_thread_log *log, uint32_t id, const void *caller)
{
    if (id && !tkt_scope_push(log, id, TKT_FRAME_PAIR, caller))
        log->unpushed++;
}

/* Ends the innermost scope if TAKT_BEGIN opened it, the fast path can end it, and it is of the site
 * in `tag` (0: any). */
static inline bool end_innermost_pair(takt_thread_v1 *thread, uint32_t tag)
{
    takt_record *slot;
    if (!tkt_enter_to_write(thread, 1, &slot))
        return false;
    takt_frame *frame = thread->top - 1;
    uint64_t ticks = 0;
    bool is_match = tag ? (tag ^ frame->tag) < TKT_DEEP /* only the depth differs */
                        : is_pair(frame) && frame->depth < TKT_DEEP;
    is_match = is_match && takt_ticks_since(&frame->start, &ticks);
    if (is_match)
        tkt_pop_plain(thread, slot, frame, frame->start, ticks);
    takt_leave(thread);
    return is_match;
}

static TKT_APART void begin_site_slow(takt_site *site, const void *caller)
{
    tkt_thread_log *log = tkt_log_enter();
    if (!log)
        return;
    begin_site(log, tkt_log_site(log, site), caller);
    tkt_log_leave(log);
}

void takt_begin_v1(takt_site *site)
{
    takt_thread_v1 *thread = &takt_thread_hot_v1;
    if (!tkt_push(thread, __atomic_load_n(&site->tag, __ATOMIC_RELAXED), TKT_FRAME_PAIR))
        begin_site_slow(site, TKT_CALLER);
}

/* The depth of the innermost open scope with that name, or TKT_MAX_DEPTH. */
static uint32_t find_open(const tkt_thread_log *log, uint32_t name_id)
{
    for (uint32_t depth = tkt_log_depth(log); depth-- > 0;) {
        const takt_frame *frame = &log->frames[depth];
        if (!tkt_frame_is_phase(frame) && tkt_site_get(tkt_frame_site(frame))->name_id == name_id)
            return depth;
    }
    return TKT_MAX_DEPTH;
}

/* For an end that fits nothing on the stack. Its begin may have come before the recording, so the
 * first such end of a site is no mistake, unless a scope has begun since: returns true for it. */
static bool may_have_begun_before(tkt_thread_log *log, uint32_t id)
{
    uint32_t depth = tkt_log_depth(log);
    while (depth > 0 && tkt_frame_is_phase(&log->frames[depth - 1]))
        depth--;
    if (depth > 0 && !tkt_began_before_recording(&log->frames[depth - 1]))
        return false;
    uint32_t epoch = __atomic_load_n(&tkt_record_control.epoch, __ATOMIC_RELAXED);
    uint64_t *seen = tkt_map_put(&log->unmatched_ends, id);
    if (!seen || *seen == epoch)
        return false;
    *seen = epoch;
    return true;
}

static void end_unmatched(tkt_thread_log *log, uint32_t id)
{
    if (log->unpushed > 0) {
        log->unpushed--;
    } else if (takt_is_on(TAKT_NORMAL_BIT) && !may_have_begun_before(log, id)) {
        tkt_log_lose(log, TAKT_LOSS_MISMATCH);
        tkt_mismatch_count(TKT_END_WITHOUT_BEGIN, id);
    }
}

/* An end keeps the site and flags of its begin's frame, to recognise the next one. */
static void remember_begin(takt_site *end, const takt_frame *frame)
{
    if (is_pair(frame))
        __atomic_store_n(&end->filter, frame->tag & ~0xFFu, __ATOMIC_RELAXED);
}

static TKT_APART void end_site_slow(takt_site *site)
{
    tkt_thread_log *log = tkt_log_enter_for_end();
    if (!log)
        return;
    uint64_t now = tkt_ticks();
    uint32_t id = tkt_log_site(log, site);
    uint32_t depth = TKT_MAX_DEPTH;
    if (id && log->unpushed == 0)
        depth = find_open(log, tkt_site_get(id)->name_id);
    if (depth < TKT_MAX_DEPTH) {
        remember_begin(site, &log->frames[depth]);
        tkt_scope_close_at(log, depth, now);
    } else if (id) {
        end_unmatched(log, id);
    }
    tkt_log_leave(log);
}

void takt_end_v1(takt_site *site)
{
    uint32_t begin = __atomic_load_n(&site->filter, __ATOMIC_RELAXED);
    if (begin == 0 || !end_innermost_pair(&takt_thread_hot_v1, begin))
        end_site_slow(site);
}

/* Opens a scope if the thread has used the name recently. False if it takes the slow path. */
static inline bool begin_name_fast(takt_thread_v1 *thread, const char *name, uint32_t flag)
{
    if (!name || thread->busy)
        return false;
    takt_enter(thread);
    uint32_t id = tkt_name_at(thread->log, name, TAKT_SITE_SCOPE);
    if (!id)
        id = tkt_name_recent(thread->log, name, TAKT_SITE_SCOPE);
    bool is_open = id && tkt_push_inside(thread, id << 8, flag);
    takt_leave(thread);
    return is_open;
}

static TKT_APART void begin_name_slow(const char *name, const void *caller)
{
    tkt_thread_log *log = tkt_log_enter();
    if (!log)
        return;
    begin_site(log, tkt_name_site(log, name, TAKT_SITE_SCOPE), caller);
    tkt_log_leave(log);
}

/* Nothing is recorded, but scopes of an earlier recording are open: without this, the end of the
 * scope that is skipped here would close one of them. Until then, all events call the library. */
static void skip_begin(void)
{
    tkt_thread_log *log = takt_has_open() ? tkt_log_enter() : NULL;
    if (!log)
        return;
    uint32_t depth = tkt_log_depth(log);
    tkt_skipped *last = log->skipped_count ? &log->skipped[log->skipped_count - 1] : NULL;
    if (last && last->depth == depth)
        last->begins++;
    else if (depth > 0 && log->skipped_count < TKT_SKIPPED)
        log->skipped[log->skipped_count++] = (tkt_skipped){depth, 1};
    tkt_log_leave(log);
}

/* True for the end of a scope that was skipped; `open` scopes are open up to the innermost pair. */
static bool ends_skipped(tkt_thread_log *log, uint32_t open)
{
    tkt_skipped *last = log->skipped_count ? &log->skipped[log->skipped_count - 1] : NULL;
    if (!last || open > last->depth)
        return false;
    log->skipped_count -= --last->begins == 0;
    return true;
}

void takt_begin(const char *name)
{
    if (!takt_is_on(TAKT_NORMAL_BIT))
        skip_begin();
    else if (!begin_name_fast(&takt_thread_hot_v1, name, TKT_FRAME_PAIR))
        begin_name_slow(name, TKT_CALLER);
}

/* What a fast path has just opened. */
static takt_open innermost(const takt_thread_v1 *thread)
{
    takt_frame *frame = thread->top - 1;
    return (takt_open){frame, frame->start};
}

takt_open takt_scope_named_v1(const char *name)
{
    if (takt_is_on(TAKT_NORMAL_BIT) && begin_name_fast(&takt_thread_hot_v1, name, 0))
        return innermost(&takt_thread_hot_v1);
    return tkt_scope_open_named(name, TKT_CALLER);
}

takt_open takt_scope_made_v1(takt_name name)
{
    if (!takt_is_on(TAKT_NORMAL_BIT))
        return takt_not_opened();
    if (name.id && tkt_push(&takt_thread_hot_v1, name.id << 8, 0))
        return innermost(&takt_thread_hot_v1);
    return tkt_scope_open_made(name.id, TKT_CALLER);
}

static TKT_APART void begin_made_slow(uint32_t site, const void *caller)
{
    tkt_thread_log *log = tkt_log_enter();
    if (!log)
        return;
    begin_site(log, site ? site : tkt_name_site(log, NULL, TAKT_SITE_SCOPE), caller);
    tkt_log_leave(log);
}

void takt_begin_name(takt_name name)
{
    if (!takt_is_on(TAKT_NORMAL_BIT)) {
        skip_begin();
        return;
    }
    uint32_t tag = name.id ? name.id << 8 : TAKT_SLOW;
    if (!tkt_push(&takt_thread_hot_v1, tag, TKT_FRAME_PAIR))
        begin_made_slow(name.id, TKT_CALLER);
}

static TKT_APART void end_pair_slow(void)
{
    tkt_thread_log *log = tkt_log_enter_for_end();
    if (!log)
        return;
    uint64_t now = tkt_ticks();
    uint32_t depth = tkt_log_depth(log);
    while (depth > 0 && !is_pair(&log->frames[depth - 1]))
        depth--;
    if (!ends_skipped(log, depth)) {
        if (log->unpushed > 0 || depth == 0)
            end_unmatched(log, 0);
        else
            tkt_scope_close_at(log, depth - 1, now);
    }
    tkt_log_leave(log);
}

void takt_end(void)
{
    bool is_ended = end_innermost_pair(&takt_thread_hot_v1, 0);
    if (!is_ended && (takt_is_on(TAKT_NORMAL_BIT) || takt_has_open()))
        end_pair_slow();
}
