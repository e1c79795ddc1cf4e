/* The library's half of scopes and phases: first hits, phases that end with their scope, crossed
 * scopes, full chunks, long and deep spans, and clocks that the header cannot read. */
#undef TAKT_COLD
#define TAKT_COLD /* what is cold in a program's code is not to be compiled for size here */

#include "record/scope.h"

#include "base/clock.h"
#include "record/frames.h"
#include "record/site.h"

/* The start that a block stores for a scope too deep for the fast path. No clock returns it, so the
 * end of the scope calls the library. */
#define DEEP_START UINT64_MAX

static void store_top(tkt_thread_log *log, takt_frame *top)
{
    /* release: pairs with the acquire in copy_frames() of log_read.c */
    __atomic_store_n(&log->thread->top, top, __ATOMIC_RELEASE);
}

/* Ends the scope inside frame `depth` that is not recorded, see takt_scope_hide_v1(). */
static void unhide(tkt_thread_log *log, uint32_t depth)
{
    log->frames[depth + 1].depth &= ~TAKT_FRAME_HIDES;
    if (depth < TKT_DEEP)
        log->frames[depth].depth &= ~TAKT_SLOW;
}

/* The same if the program left it by a jump, and the scope around it has ended. */
static void forget_hidden(tkt_thread_log *log, uint32_t depth)
{
    if (!(log->frames[depth + 1].depth & TAKT_FRAME_HIDES))
        return;
    tkt_log_lose(log, TAKT_LOSS_MISMATCH);
    unhide(log, depth);
}

/* The frame of a scope without a record has changed: see log.h. */
static void end_unwritten(tkt_thread_log *log)
{
    if (log->unwritten % 2)
        __atomic_store_n(&log->unwritten, log->unwritten + 1, __ATOMIC_RELEASE);
}

/* Removes the frames from `depth` on. So the stack is not full, and BEGINs that found it full need
 * no END any more. */
static void pop(tkt_thread_log *log, uint32_t depth)
{
    store_top(log, &log->frames[depth]);
    end_unwritten(log);
    forget_hidden(log, depth);
    log->unpushed = 0;
    if (depth < log->stray)
        log->stray = 0;
    while (log->skipped_count > 0 && log->skipped[log->skipped_count - 1].depth > depth)
        log->skipped_count--;
}

/* Writes the frame at `depth` as a span up to `end`. Does not pop it. Without room for that
 * end_unwritten() has to be called once the frame has changed. */
static void write_span(tkt_thread_log *log, uint32_t depth, uint64_t end)
{
    const takt_frame *frame = &log->frames[depth];
    uint64_t begin = frame->start;
    if (end < begin) {
        tkt_log_lose(log, TAKT_LOSS_CLOCK);
        end = begin;
    }
    bool is_plain = depth < TKT_DEEP && (end - begin) >> 32 == 0;
    takt_record *slot = tkt_log_reserve(log, is_plain ? 1 : 2);
    if (!slot) {
        tkt_log_lose_end(log, depth, end);
        __atomic_store_n(&log->unwritten, log->unwritten + 1, __ATOMIC_RELAXED);
        return;
    }
    if (is_plain) {
        tkt_slot_write(slot, (takt_record){begin, (uint32_t)(end - begin), frame->tag});
        tkt_log_publish(log, slot + 1);
        return;
    }
    tkt_slot_write(slot,
                   (takt_record){begin, tkt_frame_site(frame), tkt_slot_tag(TKT_SLOT_SPAN, depth)});
    tkt_slot_write(slot + 1, (takt_record){end, depth, tkt_slot_tag(TKT_SLOT_MORE, depth)});
    tkt_log_publish(log, slot + 2);
}

/* A block whose scope is closed here still has its start, and recognises its frame by it. So no
 * later scope may begin in the same frame in the same tick of a coarse counter. */
static void let_tick_pass(uint64_t start)
{
    while (tkt_clock_is_inline() && takt_ticks() == start)
        continue;
}

void tkt_scope_unwind(tkt_thread_log *log, uint32_t depth, uint64_t now, tkt_mismatch cause)
{
    for (uint32_t top = tkt_log_depth(log); top-- > depth;) {
        const takt_frame *frame = &log->frames[top];
        if (!tkt_frame_is_phase(frame)) {
            tkt_log_lose(log, TAKT_LOSS_MISMATCH);
            tkt_mismatch_count(cause, tkt_frame_site(frame));
            let_tick_pass(frame->start);
        }
        write_span(log, top, now);
        pop(log, top);
    }
}

/* ---- Stray phases ---------------------------------------------------------------------------- */

/* If the recording begins inside a scope, nothing ends the last phase of that scope: its end tells
 * nothing. All that the thread does later would be inside the phase. But when the program comes by
 * again, a recorded scope ends in the same phase. So the older one is a stray, unless the scope
 * around it was recorded too, as in a recursion. */

static bool is_same_site(const takt_frame *a, const takt_frame *b)
{
    return ((a->tag ^ b->tag) & ~TAKT_FRAME_HIDES) <= 0xFFu; /* only the depth differs */
}

/* True if the phase may be the same as one of the two outermost frames. False most times. */
static inline bool may_have_stray(const takt_thread_v1 *thread, const takt_frame *phase)
{
    if ((phase->tag & 0xFFu) < 2)
        return false;
    const takt_frame *frames = ((const tkt_thread_log *)thread->log)->frames;
    return is_same_site(&frames[0], phase) || is_same_site(&frames[1], phase);
}

/* The scope at `depth` ends, and may end in a phase. Notes if that tells of a stray. From then on
 * all events call the library, so that the stray ends as soon as nothing is open inside it. */
static void find_stray(tkt_thread_log *log, uint32_t depth)
{
    const takt_frame *frames = log->frames, *phase = &frames[depth + 1];
    if (phase >= log->thread->top || !tkt_frame_is_phase(phase))
        return;
    for (uint32_t i = 0; i < 2 && i < depth; i++)
        if (is_same_site(&frames[i], phase) && (i == 0 || tkt_began_before_recording(&frames[0])))
            log->stray = i + 1;
}

static void end_stray(tkt_thread_log *log, uint64_t now)
{
    if (log->stray && tkt_log_depth(log) == log->stray)
        tkt_scope_unwind(log, log->stray - 1, now, TKT_CLOSED_BY_ANOTHER);
}

void tkt_scope_close_at(tkt_thread_log *log, uint32_t depth, uint64_t now)
{
    find_stray(log, depth);
    tkt_scope_unwind(log, depth + 1, now, TKT_CLOSED_BY_ANOTHER);
    write_span(log, depth, now);
    pop(log, depth);
    end_stray(log, now);
}

takt_frame *tkt_scope_push(tkt_thread_log *log, uint32_t site, uint32_t flag, const void *caller)
{
    takt_frame *frame = log->thread->top;
    uint32_t depth = tkt_log_depth(log);
    if (depth == TKT_MAX_DEPTH) {
        tkt_log_lose(log, TAKT_LOSS_TOO_DEEP);
        tkt_mismatch_count(TKT_TOO_DEEP, site);
        return NULL;
    }
    forget_hidden(log, depth);
    uint32_t stack = tkt_stack_here(log, caller);
    if (depth >= TKT_DEEP) {
        depth = TKT_DEEP;
        frame[1].depth = TAKT_SLOW | TKT_DEEP; /* create_frames() has set the first one */
    }
    __atomic_store_n(&frame->tag, site << 8 | flag | depth, __ATOMIC_RELEASE);
    __atomic_store_n(&frame->start, tkt_ticks(), __ATOMIC_RELEASE);
    store_top(log, frame + 1);
    tkt_stack_write(log, stack, frame->start);
    return frame;
}

static bool is_on(const takt_site *site)
{
    return takt_is_on(__atomic_load_n(&site->bits, __ATOMIC_RELAXED));
}

static takt_open open_of(const tkt_thread_log *log, takt_frame *frame)
{
    if (!frame)
        return (takt_open){NULL, 0};
    bool is_deep = frame - log->frames >= (ptrdiff_t)TKT_DEEP;
    return (takt_open){frame, is_deep ? DEEP_START : frame->start};
}

/* Opens a scope of a site, 0 for none, and leaves the log. */
static inline takt_open open_and_leave(tkt_thread_log *log, uint32_t id, const void *caller)
{
    takt_open open = takt_not_opened();
    if (id)
        open = open_of(log, tkt_scope_push(log, id, 0, caller));
    tkt_log_leave(log);
    return open;
}

takt_open takt_scope_begin_v1(takt_site *site)
{
    tkt_thread_log *log = tkt_log_enter();
    if (!log)
        return takt_not_opened();
    uint32_t id = tkt_log_site(log, site);
    bool is_hidden = id && !is_on(site); /* its bits were not known until now */
    takt_open open = open_and_leave(log, is_hidden ? 0 : id, TKT_CALLER);
    return is_hidden ? takt_scope_hide_v1() : open;
}

/* Functions that end a scope read the clock after they have entered the log. Otherwise a signal
 * handler could record spans between the two, which would end after the scope that they are in. */
static void end_slow(takt_frame *frame, uint64_t start)
{
    tkt_thread_log *log = tkt_log_enter_for_end();
    if (!log)
        return;
    uint64_t now = tkt_ticks();
    bool is_open = frame >= log->frames && frame < log->thread->top &&
                   (start == DEEP_START || frame->start == start);
    if (is_open) /* otherwise it is another thread's, or the end of an outer scope closed it */
        tkt_scope_close_at(log, (uint32_t)(frame - log->frames), now);
    tkt_log_leave(log);
}

/* Ends a scope together with the phase in it. False if that takes the slow path. */
static bool end_with_phase(takt_thread_v1 *thread, takt_frame *frame, uint64_t start)
{
    takt_frame *phase = frame + 1;
    if (phase + 1 != thread->top || !tkt_frame_is_phase(phase) || frame->start != start ||
        phase->depth >= TKT_DEEP)
        return false;
    takt_record *slot;
    if (!tkt_enter_to_write(thread, 2, &slot))
        return false;
    uint64_t ticks;
    bool is_plain = takt_ticks_since(&frame->start, &ticks) && !may_have_stray(thread, phase);
    if (is_plain) {
        uint64_t phase_start = phase->start;
        tkt_pop_plain(thread, slot, phase, phase_start, ticks - (phase_start - start));
        tkt_pop_plain(thread, slot + 1, frame, start, ticks);
    }
    takt_leave(thread);
    return is_plain;
}

/* Ends a scope while call stacks are recorded. They shut the fast paths, so that begins call the
 * library, but an end needs no stack. False if it takes the slow path. */
static bool end_beside_stacks(takt_thread_v1 *thread, takt_frame *frame, uint64_t start)
{
    tkt_thread_log *log = thread->log;
    uint64_t busy = thread->busy;
    if (!tkt_record_has(TKT_STACKS) || (busy & ~(TAKT_BUSY | TKT_BUSY_SHUT)) ||
        thread->top != frame + 1 || frame->start != start || !tkt_clock_is_inline() ||
        tkt_log_is_watched(log))
        return false;
    takt_enter(thread);
    bool has_room = !log->gap_ticks && thread->cursor != log->chunk_end;
    uint64_t ticks = 0;
    bool is_plain = has_room && takt_ticks_since(&frame->start, &ticks);
    if (is_plain) {
        tkt_pop_plain(thread, thread->cursor, frame, start, ticks);
        tkt_log_shut_fast_paths(log);
    }
    tkt_busy_end(busy);
    return is_plain;
}

static TKT_APART void end_otherwise(takt_frame *frame, uint64_t start)
{
    if (!end_beside_stacks(&takt_thread_hot_v1, frame, start))
        end_slow(frame, start);
}

void takt_scope_end_v1(takt_frame *frame, uint64_t start)
{
    if (!end_with_phase(&takt_thread_hot_v1, frame, start))
        end_otherwise(frame, start);
}

/* The header has entered, and found that there is no room or that the span is too long. */
void takt_scope_end_inside_v1(takt_frame *frame, uint64_t start)
{
    const tkt_thread_log *log = takt_thread_hot_v1.log;
    tkt_busy_end(log->busy_at_rest);
    takt_scope_end_v1(frame, start);
}

/* ---- Scopes that are not recorded -------------------------------------------------------------
 */

/* Added to the address of a frame by a scope inside another one that is not recorded: it only ends
 * its phases. */
#define INSIDE 1u

/* While anything is recorded, a scope that is not, for its level or category, says so at the place
 * of the frame that it does not have: what the program says of it is not said of the scope around
 * it, and its phases end with it. Meanwhile what begins in the frame around it calls the library: a
 * phase is inside of this scope, and a scope tells that a jump has left this one. */
takt_open takt_scope_hide_v1(void)
{
    takt_thread_v1 *thread = &takt_thread_hot_v1;
    tkt_thread_log *log = thread->log;
    takt_frame *frame = thread->top;
    if (!log || (thread->busy & TKT_BUSY_INSIDE) || tkt_log_depth(log) == TKT_MAX_DEPTH)
        return takt_not_opened();
    if (frame->depth & TAKT_FRAME_HIDES)
        return (takt_open){NULL, (uint64_t)(uintptr_t)frame + INSIDE};
    frame->depth |= TAKT_FRAME_HIDES;
    if (frame > log->frames)
        frame[-1].depth |= TAKT_SLOW;
    return (takt_open){NULL, (uint64_t)(uintptr_t)frame};
}

/* Ends the phases of the scope. */
static void end_inside(takt_frame *frame)
{
    tkt_thread_log *log = tkt_log_enter_for_end();
    if (!log)
        return;
    tkt_scope_unwind(log, (uint32_t)(frame - log->frames), tkt_ticks(), TKT_CLOSED_BY_ANOTHER);
    tkt_log_leave(log);
}

void takt_scope_unhide_v1(uint64_t address)
{
    takt_thread_v1 *thread = &takt_thread_hot_v1;
    tkt_thread_log *log = thread->log;
    takt_frame *frame = (takt_frame *)(uintptr_t)(address & ~(uint64_t)INSIDE);
    if (!log || frame < log->frames || frame >= log->frames + TKT_MAX_DEPTH)
        return; /* another thread's */
    if (frame < thread->top)
        end_inside(frame);
    if (address & INSIDE)
        return;
    if (frame > log->frames)
        unhide(log, (uint32_t)(frame - log->frames) - 1);
    else
        frame->depth &= ~TAKT_FRAME_HIDES;
}

static takt_open hidden_or_none(void)
{
    return takt_is_on(TAKT_SCOPES_BIT) ? takt_scope_hide_v1() : takt_not_opened();
}

takt_open tkt_scope_open_named(const char *name, const void *caller)
{
    if (!takt_is_on(TAKT_NORMAL_BIT))
        return hidden_or_none();
    tkt_thread_log *log = tkt_log_enter();
    if (!log)
        return takt_not_opened();
    return open_and_leave(log, tkt_name_site(log, name, TAKT_SITE_SCOPE), caller);
}

takt_open tkt_scope_open_made(uint32_t site, const void *caller)
{
    tkt_thread_log *log = tkt_log_enter();
    if (!log)
        return takt_not_opened();
    return open_and_leave(log, site ? site : tkt_name_site(log, NULL, TAKT_SITE_SCOPE), caller);
}

/* ---- Phases ---------------------------------------------------------------------------------- */

static TKT_APART void phase_slow(takt_site *site, const void *caller)
{
    tkt_thread_log *log = tkt_log_enter();
    if (!log)
        return;
    uint32_t id = tkt_log_site(log, site);
    uint32_t depth = tkt_log_depth(log);
    bool is_first =
        log->frames[depth].depth & TAKT_FRAME_HIDES; /* of a scope that is not recorded */
    if (id && depth > 0 && !is_first && tkt_frame_is_phase(&log->frames[depth - 1])) {
        log->stray = depth == log->stray ? 0 : log->stray;
        uint32_t stack = tkt_stack_here(log, caller);
        uint64_t now = tkt_ticks();
        takt_frame *frame = &log->frames[depth - 1];
        write_span(log, depth - 1, now);
        uint32_t under = frame->tag & 0xFFu;
        __atomic_store_n(&frame->tag, id << 8 | TAKT_FRAME_PHASE | under, __ATOMIC_RELEASE);
        __atomic_store_n(&frame->start, now, __ATOMIC_RELEASE);
        end_unwritten(log);
        tkt_stack_write(log, stack, now);
    } else if (id) {
        tkt_scope_push(log, id, TAKT_FRAME_PHASE, caller);
    }
    tkt_log_leave(log);
}

/* For the first phase of a scope. From one phase to the next, the macro goes on itself. */
void takt_phase_v1(takt_site *site)
{
    takt_thread_v1 *thread = &takt_thread_hot_v1;
    uint32_t tag = __atomic_load_n(&site->tag, __ATOMIC_RELAXED);
    if (tkt_frame_is_phase(thread->top - 1) || !tkt_push(thread, tag, 0))
        phase_slow(site, TKT_CALLER);
}

uint64_t tkt_scope_end_phase(void)
{
    bool is_open = takt_has_open() && tkt_frame_is_phase(takt_thread_hot_v1.top - 1);
    tkt_thread_log *log = is_open ? tkt_log_enter_for_end() : NULL;
    uint64_t now = tkt_ticks();
    if (!log)
        return now;
    tkt_scope_unwind(log, tkt_log_depth(log) - 1, now, TKT_CLOSED_BY_ANOTHER);
    tkt_log_leave(log);
    return now;
}
