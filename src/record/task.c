/* A span on a track may end on another thread, windows later. To spare readers joining two halves,
 * open spans are kept in maps, and the end writes the whole span into the log of the thread that
 * ends it. There are several maps, each with its own lock, so threads seldom meet. */
#include "record/scope.h"

#include "base/clock.h"
#include "base/containers.h"
#include "base/thread.h"
#include "record/control.h"
#include "record/log.h"
#include "record/mapping.h"
#include "record/site.h"
#include "record/slot.h"

#define SHARDS 8u

/* The most open spans. The memory of a program that never ends them must not grow for ever. */
#define MOST_OPEN (1u << 20)

typedef struct shard {
    tkt_mutex lock;
    tkt_map indices; /* span id -> index in open + 1 */
    TKT_ARRAY_OF(tkt_task) open;
    TKT_ARRAY_OF(uint32_t) free; /* unused indices in `open`; their site is 0 */
} shard;

static shard shards[SHARDS] = {
#define SHARD                                                                                      \
    {                                                                                              \
        .lock = TKT_MUTEX_INIT                                                                     \
    }
    SHARD, SHARD, SHARD, SHARD, SHARD, SHARD, SHARD, SHARD,
#undef SHARD
};
static uint64_t last_id;

/* With the lock: true if the shard has reached its limit. */
static bool has_no_place(const shard *s)
{
    return s->free.count == 0 && s->open.count >= MOST_OPEN / SHARDS;
}

/* With the lock: returns a place for one more; NULL when there is none. */
static tkt_task *take_place(shard *s, uint64_t *index)
{
    if (has_no_place(s))
        return NULL;
    if (s->free.count > 0) {
        *index = (uint64_t)s->free.items[--s->free.count] + 1;
        return &s->open.items[*index - 1];
    }
    /* reserves room to give the place back, so that giving back cannot fail */
    if (!TKT_ARRAY_RESERVE(&s->free, s->open.count + 1))
        return NULL;
    tkt_task *task = TKT_ARRAY_ADD(&s->open);
    *index = s->open.count;
    return task;
}

/* True if the limit left no place, and not a lack of memory. */
static bool is_at_limit(uint64_t id)
{
    shard *s = &shards[id % SHARDS];
    uint64_t was = tkt_busy_lock(&s->lock);
    bool is_full = has_no_place(s);
    tkt_busy_unlock(&s->lock, was);
    return is_full;
}

static bool remember(uint64_t id, tkt_task task)
{
    shard *s = &shards[id % SHARDS];
    uint64_t was = tkt_busy_lock(&s->lock);
    uint64_t *place = tkt_map_put(&s->indices, id);
    tkt_task *open = place ? take_place(s, place) : NULL;
    if (open) {
        *open = task;
        tkt_mapping_set_task((*place - 1) * SHARDS + id % SHARDS, &task);
    } else if (place)
        tkt_map_remove(&s->indices, id);
    tkt_busy_unlock(&s->lock, was);
    return open != NULL;
}

static bool forget(uint64_t id, tkt_task *task)
{
    shard *s = &shards[id % SHARDS];
    uint64_t was = tkt_busy_lock(&s->lock);
    const uint64_t *place = tkt_map_get(&s->indices, id);
    bool is_open = place != NULL;
    if (is_open) {
        uint32_t index = (uint32_t)(*place - 1);
        *task = s->open.items[index];
        s->open.items[index].site = 0;
        tkt_mapping_set_task((uint64_t)index * SHARDS + id % SHARDS, NULL);
        s->free.items[s->free.count++] = index;
        tkt_map_remove(&s->indices, id);
    }
    tkt_busy_unlock(&s->lock, was);
    return is_open;
}

__attribute__((cold)) void tkt_task_visit(void (*visit)(void *user, const tkt_task *task),
                                          void *user)
{
    for (uint32_t i = 0; i < SHARDS; i++) {
        shard *s = &shards[i];
        uint64_t was = tkt_busy_lock(&s->lock);
        for (size_t k = 0; k < s->open.count; k++)
            if (s->open.items[k].site != 0)
                visit(user, &s->open.items[k]);
        tkt_busy_unlock(&s->lock, was);
    }
}

/* ---- In a summary ---------------------------------------------------------------------------- */

typedef struct open_tasks {
    tkt_fold *fold;
    tkt_fold_begin from;
    uint64_t until_ticks;
} open_tasks;

static void fold_open_task(void *user, const tkt_task *task)
{
    const open_tasks *open = user;
    uint64_t begin = task->begin_ticks < open->from.ticks ? open->from.ticks : task->begin_ticks;
    if (begin > open->until_ticks)
        return;
    open->fold->begun_before += task->begin_ticks < open->from.ticks;
    open->fold->unfinished++;
    tkt_fold_task(open->fold, task->site, task->track,
                  tkt_clock_duration_ns(open->from.ns_per_tick, open->until_ticks - begin), true);
}

__attribute__((cold)) void tkt_fold_open_tasks(tkt_fold *fold, uint64_t until_ticks)
{
    open_tasks open = {fold, tkt_fold_begin_now(), until_ticks};
    tkt_task_visit(fold_open_task, &open);
}

takt_track takt_track_named(const char *name)
{
    return tkt_log_is_refused() ? 0 : tkt_text_intern(name);
}

takt_track takt_track_of(takt_name name)
{
    if (tkt_log_is_refused())
        return 0;
    return name.id ? tkt_site_get(name.id)->name_id : tkt_text_intern(NULL);
}

static takt_span begin_span(tkt_thread_log *log, takt_track track, uint32_t site)
{
    uint64_t id = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);
    if (remember(id, (tkt_task){tkt_ticks(), site, track}))
        return id;
    tkt_log_lose(log, is_at_limit(id) ? TAKT_LOSS_TOO_DEEP : TAKT_LOSS_NO_MEMORY);
    return 0;
}

takt_span takt_span_begin(takt_track track, const char *name)
{
    tkt_thread_log *log = takt_is_on(TAKT_NORMAL_BIT) ? tkt_log_enter() : NULL;
    if (!log)
        return 0;
    uint32_t site = tkt_name_site(log, name, TAKT_SITE_SCOPE);
    takt_span span = site ? begin_span(log, track, site) : 0;
    tkt_log_leave(log);
    return span;
}

takt_span takt_span_begin_name(takt_track track, takt_name name)
{
    if (!name.id)
        return takt_span_begin(track, NULL);
    tkt_thread_log *log = takt_is_on(TAKT_NORMAL_BIT) ? tkt_log_enter() : NULL;
    if (!log)
        return 0;
    takt_span span = begin_span(log, track, name.id);
    tkt_log_leave(log);
    return span;
}

/* Writes a whole span: TKT_SLOT_TASK in ticks, or TKT_SLOT_SPAN_AT in nanoseconds. */
static void put_span(tkt_thread_log *log, tkt_slot_kind kind, const tkt_task *task, uint64_t begin,
                     uint64_t end)
{
    takt_record *slot = tkt_log_reserve(log, 2);
    if (!slot)
        return;
    tkt_slot_write(slot, (takt_record){begin, task->site, tkt_slot_tag(kind, 0)});
    tkt_slot_write(slot + 1, (takt_record){end, task->track, tkt_slot_tag(TKT_SLOT_MORE, 0)});
    tkt_log_publish(log, slot + 2);
}

void takt_span_end(takt_span span)
{
    tkt_task task;
    uint64_t now = tkt_ticks();
    tkt_thread_log *log = span ? tkt_log_enter() : NULL;
    if (!log)
        return;
    if (forget(span, &task))
        put_span(log, TKT_SLOT_TASK, &task, task.begin_ticks, now);
    else
        tkt_log_lose(log, TAKT_LOSS_UNMATCHED_SPAN);
    tkt_log_leave(log);
}

void takt_frame_next_v1(takt_frame_begin *begin, const char *name)
{
    uint64_t now = takt_is_on(TAKT_NORMAL_BIT) ? takt_now_ns() : 0;
    uint64_t was = __atomic_exchange_n(&begin->ns, now, __ATOMIC_RELAXED);
    if (was != 0 && now != 0)
        takt_span_at(takt_track_named(name), name, was, now);
}

void takt_span_at(takt_track track, const char *name, uint64_t begin_ns, uint64_t end_ns)
{
    tkt_thread_log *log = takt_is_on(TAKT_NORMAL_BIT) ? tkt_log_enter() : NULL;
    if (!log)
        return;
    const tkt_task task = {.site = tkt_name_site(log, name, TAKT_SITE_SCOPE), .track = track};
    if (end_ns < begin_ns)
        tkt_log_lose(log, TAKT_LOSS_CLOCK);
    else if (task.site)
        put_span(log, TKT_SLOT_SPAN_AT, &task, begin_ns, end_ns);
    tkt_log_leave(log);
}

__attribute__((cold)) void tkt_task_free_all(void)
{
    for (uint32_t i = 0; i < SHARDS; i++) {
        tkt_map_fini(&shards[i].indices);
        TKT_ARRAY_FREE(&shards[i].open);
        TKT_ARRAY_FREE(&shards[i].free);
    }
}
