/* A span on a track may end on another thread, windows later. To spare readers joining two halves,
 * open spans are kept in lists, and the end writes the whole span into the log of the thread that
 * ends it. There are several lists, each with its own lock, so threads seldom meet. A span's number
 * tells its list and its place there, and how often that place was used before. */
#include "record/scope.h"

#include "base/clock.h"
#include "base/containers.h"
#include "base/lock.h"
#include "record/control.h"
#include "record/log.h"
#include "record/mapping.h"
#include "record/site.h"
#include "record/slot.h"

#define SHARDS 8u

/* The most open spans: those of a program that never ends them take a quarter of max_memory. */
#define MOST_OPEN (1u << 20)

typedef struct place {
    tkt_task task; /* site 0: free */
    uint32_t use;  /* counts from 1 on */
    uint32_t next; /* of a free place: the next one's index + 1 */
} place;

typedef struct shard {
    tkt_mutex lock;
    uint32_t free; /* the first free place's index + 1 */
    TKT_ARRAY_OF(place) places;
} shard;

static shard shards[SHARDS] = {
#define SHARD                                                                                      \
    {                                                                                              \
        .lock = TKT_MUTEX_INIT                                                                     \
    }
    SHARD, SHARD, SHARD, SHARD, SHARD, SHARD, SHARD, SHARD,
#undef SHARD
};
static uint32_t last_shard;

/* With the lock: returns a place for one more; NULL, and the loss, when there is none. */
static place *take_place(shard *s, takt_loss *loss)
{
    if (s->free > 0) {
        place *taken = &s->places.items[s->free - 1];
        s->free = taken->next;
        return taken;
    }
    uint64_t room = tkt_pool_limit_bytes() / 4 / sizeof(place);
    bool is_full = s->places.count >= (room < MOST_OPEN ? room : MOST_OPEN) / SHARDS;
    *loss = is_full ? TAKT_LOSS_OPEN_SPANS : TAKT_LOSS_NO_MEMORY;
    place *added = is_full ? NULL : TKT_ARRAY_ADD(&s->places);
    if (added)
        added->use = 0;
    return added;
}

/* Returns the span's number; 0, and the loss, when there is no place. */
static takt_span remember(tkt_task task, takt_loss *loss)
{
    uint32_t number = __atomic_add_fetch(&last_shard, 1, __ATOMIC_RELAXED) % SHARDS;
    shard *s = &shards[number];
    takt_span span = 0;
    uint64_t was = tkt_busy_lock(&s->lock);
    place *taken = take_place(s, loss);
    if (taken) {
        uint64_t at = (uint64_t)(taken - s->places.items) * SHARDS + number;
        taken->task = task;
        if (++taken->use == 0)
            taken->use = 1; /* a number is never 0 */
        tkt_mapping_set_task(at, &task);
        span = (uint64_t)taken->use << 32 | at;
    }
    tkt_busy_unlock(&s->lock, was);
    return span;
}

static bool forget(takt_span span, tkt_task *task)
{
    uint32_t at = (uint32_t)span, index = at / SHARDS;
    shard *s = &shards[at % SHARDS];
    uint64_t was = tkt_busy_lock(&s->lock);
    place *taken = index < s->places.count ? &s->places.items[index] : NULL;
    bool is_open = taken && taken->use == span >> 32 && taken->task.site != 0;
    if (is_open) {
        *task = taken->task;
        taken->task.site = 0;
        taken->next = s->free;
        s->free = index + 1;
        tkt_mapping_set_task(at, NULL);
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
        for (size_t k = 0; k < s->places.count; k++)
            if (s->places.items[k].task.site != 0)
                visit(user, &s->places.items[k].task);
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
    takt_loss loss;
    takt_span span = remember((tkt_task){tkt_ticks(), site, track}, &loss);
    if (!span)
        tkt_log_lose(log, loss);
    return span;
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

/* A recording may begin within a frame, so the time is noted while a profiler waits, too. */
void takt_frame_next_v1(takt_frame_begin *begin, const char *name)
{
    bool may_be_recorded = takt_is_on(TAKT_NORMAL_BIT) || tkt_record_is_running();
    uint64_t now = may_be_recorded ? takt_now_ns() : 0;
    uint64_t was = __atomic_exchange_n(&begin->ns, now, __ATOMIC_RELAXED);
    if (was != 0 && now != 0 && takt_is_on(TAKT_NORMAL_BIT))
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
    if (end_ns > __atomic_load_n(&log->ahead_ns, __ATOMIC_RELAXED))
        __atomic_store_n(&log->ahead_ns, end_ns, __ATOMIC_RELAXED);
    tkt_log_leave(log);
}

__attribute__((cold)) void tkt_task_free_all(void)
{
    for (uint32_t i = 0; i < SHARDS; i++) {
        TKT_ARRAY_FREE(&shards[i].places);
        shards[i].free = 0;
    }
}
