/* A thread that opens and closes scopes (include/takt/detail/fast.h, src/record/scope.c), and a
 * reader that wants the picture of one moment (src/record/log_moment.c).
 *
 * Scope 1 is open throughout. The thread opens scope 2 within it, closes it, and opens scope 3 in
 * its place. With ONE_TICK, scope 2 ends, and scope 3 begins, in the tick in which scope 2 began.
 * With LOST, scope 2 finds no room for its record.
 *
 * The picture must have each scope once at most, with its own begin, and none after one that is
 * missing. */
#include "model.h"

enum {
    DEPTHS = 2,
    TRIES = 2
};

#ifdef ONE_TICK
static const int start_of[] = {0, 1, 5, 5}, end_of[] = {0, 9, 5, 5};
#else
static const int start_of[] = {0, 1, 5, 8}, end_of[] = {0, 9, 6, 9};
#endif

/* The thread's frames and hot state, and the slots of its log: plain, so that races show. */
static atomic_int frame_tag[DEPTHS], frame_start[DEPTHS], cursor, top, busy, unwritten;
static struct record {
    int tag, start, end, depth;
} records[2];

/* In the sources only the end of a scope leaves with release. Behind it, x86-64 and ARMv8 order any
 * later store of the thread to the same word (in ARMv8's model "po; [L]; coi"), and so did C11.
 * RC11 follows C++20, which does not. */
static void leave(void)
{
    atomic_store_explicit(&busy, 0, RELEASE(6));
}

static void open_scope(int scope, int depth)
{
    store(&busy, 1, relaxed);
    atomic_store_explicit(&frame_tag[depth], scope, RELEASE(1));
    atomic_store_explicit(&frame_start[depth], start_of[scope], RELEASE(2));
    atomic_store_explicit(&top, depth + 1, RELEASE(3));
    leave();
}

static void write_record(int scope, int depth)
{
    int at = load(&cursor, relaxed);
    records[at] = (struct record){scope, start_of[scope], end_of[scope], depth};
    atomic_store_explicit(&cursor, at + 1, RELEASE(4));
}

static void close_scope(int scope, int depth)
{
    store(&busy, 1, relaxed);
#ifdef LOST
    (void)scope;
    store(&unwritten, 1, relaxed);
    store(&top, depth, release);
    atomic_store_explicit(&unwritten, 2, RELEASE(7));
#else
    write_record(scope, depth);
    atomic_store_explicit(&top, depth, RELEASE(5));
#endif
    leave();
}

static void *run_thread(void *unused)
{
#ifndef OPEN_BEFORE
    open_scope(2, 1);
#endif
    close_scope(2, 1);
    open_scope(3, 1);
    return unused;
}

/* ---- The reader ------------------------------------------------------------------------------ */

typedef struct picture {
    int tag[DEPTHS], start[DEPTHS], depth;
    int cursor;
} picture;

static void copy_frames(picture *seen)
{
    seen->depth = load(&top, acquire);
    for (int i = 0; i < seen->depth; i++) {
        seen->start[i] = load(&frame_start[i], acquire);
        seen->tag[i] = load(&frame_tag[i], acquire);
    }
}

typedef enum top_frame {
    IS_OPEN,
    IS_CLOSED,
    IS_EITHER
} top_frame;

static top_frame look_at_top(const picture *seen)
{
    if (seen->depth == 0 || seen->cursor == 0)
        return IS_OPEN;
    const struct record *last = &records[seen->cursor - 1];
    if (last->depth != seen->depth - 1 || last->start != seen->start[seen->depth - 1])
        return IS_OPEN;
    return last->start < last->end ? IS_CLOSED : IS_EITHER;
}

/* The records since the picture's cursor say how far to go back. */
static void cut_back(picture *seen, int until)
{
    int least = DEPTHS + 1;
    for (int i = seen->cursor; i < until; i++)
        if (records[i].depth <= seen->depth && records[i].depth <= least) {
            least = records[i].depth;
            seen->cursor = i + 1;
        }
    if (least < seen->depth)
        seen->depth = least;
}

static bool take_picture(picture *seen)
{
    int outside_at = -1;
    for (int tries = 0; tries < TRIES; tries++) {
        int changes = load(&unwritten, acquire);
        seen->cursor = load(&cursor, acquire);
        copy_frames(seen);
        int after = load(&cursor, acquire);
        bool is_inside = load(&busy, acquire);
        if (changes % 2 || load(&unwritten, relaxed) != changes)
            continue;
        top_frame what = look_at_top(seen);
        seen->depth -= what == IS_CLOSED;
        if (after != seen->cursor) {
            cut_back(seen, after);
            return true;
        }
        if (what != IS_EITHER || outside_at == seen->cursor)
            return true;
        outside_at = is_inside ? -1 : seen->cursor;
    }
    return false;
}

static void *run_reader(void *unused)
{
    picture seen;
    int times[] = {0, 0, 0, 0};
    __VERIFIER_assume(take_picture(&seen));
    for (int i = 0; i < seen.cursor; i++)
        times[records[i].tag]++;
    for (int i = 0; i < seen.depth; i++) {
        assert(seen.start[i] == start_of[seen.tag[i]]);
        times[seen.tag[i]]++;
    }
    assert(times[1] == 1 && times[2] <= 1 && times[3] <= 1);
#ifndef LOST
    assert(times[2] >= times[3]);
#ifdef OPEN_BEFORE
    assert(times[2] == 1);
#endif
#endif
    return unused;
}

int main(void)
{
    store(&frame_tag[0], 1, relaxed);
    store(&frame_start[0], start_of[1], relaxed);
    store(&top, 1, relaxed);
#ifdef OPEN_BEFORE
    store(&frame_tag[1], 2, relaxed);
    store(&frame_start[1], start_of[2], relaxed);
    store(&top, 2, relaxed);
#endif
    run_both(run_thread, run_reader);
    return 0;
}
