/* What takt/compat/tracy.h has one of for the whole program, and its texts without a NUL. */
#include "record/log.h"

#include "base/text.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define MOST_FRAMES 16
#define MOST_BYTES  256 /* of a text, with its NUL */

/* The frames between FrameMarkStart and FrameMarkEnd, which may be in different libraries: equal
 * names need not have one address. */
typedef struct frame {
    _Atomic uint32_t name; /* takt_name.id; 0: free; TAKEN: being changed */
    takt_span span;
} frame;

#define TAKEN UINT32_MAX

static frame frames[MOST_FRAMES];

/* Copies `text` and appends a NUL; longer text is cut. */
static const char *copy_text(char *copy, const char *text, size_t bytes)
{
    memcpy(copy, text, bytes < MOST_BYTES ? bytes : MOST_BYTES);
    tkt_text_end(copy, MOST_BYTES, bytes);
    return copy;
}

void takt_tracy_mark_v1(const char *text, size_t bytes)
{
    char copy[MOST_BYTES];
    takt_mark(copy_text(copy, text, bytes));
}

void takt_tracy_arg_v1(takt_site *key, const char *text, size_t bytes)
{
    char copy[MOST_BYTES];
    takt_arg_string_v1(key, copy_text(copy, text, bytes));
}

/* Takes a place of that name for the caller, or returns NULL. */
static frame *take(uint32_t name)
{
    for (size_t i = 0; i < MOST_FRAMES; i++) {
        uint32_t found = name;
        if (atomic_compare_exchange_strong(&frames[i].name, &found, TAKEN))
            return &frames[i];
    }
    return NULL;
}

void takt_tracy_frame_begin_v1(const char *name)
{
    uint32_t id = takt_name_make(name, strlen(name)).id;
    frame *at = id ? take(0) : NULL;
    if (id && !at && takt_is_on(TAKT_NORMAL_BIT))
        tkt_log_lose(takt_thread_hot_v1.log, TAKT_LOSS_TOO_DEEP);
    if (!at)
        return;
    at->span = takt_span_begin(takt_track_named("frames"), name);
    atomic_store(&at->name, id);
}

void takt_tracy_frame_end_v1(const char *name)
{
    uint32_t id = takt_name_make(name, strlen(name)).id;
    frame *at = id ? take(id) : NULL;
    if (!at)
        return;
    takt_span_end(at->span);
    atomic_store(&at->name, 0);
}

/* While nothing was recorded on this thread, it has no log, and no fiber either. */
void takt_tracy_fiber_v1(const char *name)
{
    tkt_thread_log *log = takt_thread_hot_v1.log;
    if (log) {
        takt_span_end(log->fiber);
        log->fiber = 0;
    }
    takt_span entered = name ? takt_span_begin(takt_track_named(name), name) : 0;
    log = takt_thread_hot_v1.log;
    if (entered && log)
        log->fiber = entered;
}

void takt_tracy_lock_name_v1(takt_tracy_lock *lock, const char *name, size_t bytes)
{
    char wait[9 + MOST_BYTES] = "wait for ";
    char *own = wait + 9;
    lock->track = takt_track_named(copy_text(own, name, bytes));
    lock->wait = takt_name_make(wait, 9 + strlen(own));
}

takt_tracy_lock *takt_tracy_lock_make_v1(const char *name)
{
    takt_tracy_lock *lock = calloc(1, sizeof *lock);
    if (lock)
        takt_tracy_lock_name_v1(lock, name, strlen(name));
    return lock;
}
