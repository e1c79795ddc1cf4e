/* What a fold keeps besides the tree: figures of counters' samples, times of tasks, and what each
 * thread ran of the nodes. */
#include "record/fold.h"

#include "base/own.h"

#include <float.h>
#include <math.h>

/* ======== Names ======== */

static uint64_t key_of(uint32_t name, uint32_t track)
{
    return (uint64_t)track << 32 | name;
}

/* The entry of `more_name` on a track, or on none if the limit is reached. */
static uint64_t *find_more(const tkt_fold *fold, tkt_fold_index *index, uint32_t *track)
{
    uint64_t *known = tkt_map_get(&index->entries, key_of(fold->more_name, *track));
    if (known)
        return known;
    if (index->more >= TKT_FOLD_MORE_TRACKS)
        *track = 0;
    size_t before = index->entries.count;
    uint64_t *place = tkt_map_put(&index->entries, key_of(fold->more_name, *track));
    index->more += (uint32_t)(index->entries.count - before);
    return place;
}

/* Points to the index + 1 of the name's entry, which is 0 if the entry is new. NULL without memory.
 * Changes name and track if the limit is reached, and counts `events` that lose their names. */
static uint64_t *find_entry(tkt_fold *fold, tkt_fold_index *index, uint32_t *name, uint32_t *track,
                            uint64_t events)
{
    uint64_t *known = tkt_map_get(&index->entries, key_of(*name, *track));
    if (known)
        return known;
    if (*name != fold->more_name && index->entries.count - index->more < TKT_FOLD_MAX_NAMES)
        return tkt_map_put(&index->entries, key_of(*name, *track));
    if (*name != fold->more_name)
        fold->unnamed_count += events;
    *name = fold->more_name;
    return find_more(fold, index, track);
}

/* ======== Counters ======== */

void tkt_weighted_add(tkt_weighted *sums, double value, double weight)
{
    if (fabs(value) < 0x1p512)
        sums->sum += value * weight;
    else
        sums->large += value * 0x1p-64 * weight;
    sums->weight += weight;
}

double tkt_weighted_mean(const tkt_weighted *sums)
{
    static const double most = DBL_MAX * 0x1p-64;
    if (!(sums->weight > 0))
        return NAN;
    double large = fmax(-most, fmin(sums->large / sums->weight, most)); /* rounding may exceed it */
    return sums->sum / sums->weight + large * 0x1p64;
}

/* A value that held until the next sample. */
static void hold(tkt_folded_counter *counter, double value, uint64_t from, uint64_t until)
{
    if (!tkt_is_finite(value) || until <= from)
        return;
    tkt_weighted_add(&counter->held, value, (double)(until - from));
}

static void widen(tkt_folded_counter *counter, double value)
{
    if (!tkt_is_finite(value))
        return;
    counter->min = fmin(counter->min, value);
    counter->max = fmax(counter->max, value);
}

/* The counter of this name, added without samples if it is new. NULL without memory. */
static tkt_folded_counter *find_counter(tkt_fold *fold, uint32_t name, uint64_t samples)
{
    uint32_t track = 0;
    uint64_t *place = find_entry(fold, &fold->counter_index, &name, &track, samples);
    if (place && *place > 0)
        return &fold->counters.items[*place - 1];
    tkt_folded_counter *counter = place ? TKT_ARRAY_ADD(&fold->counters) : NULL;
    if (!counter)
        return NULL;
    *counter = (tkt_folded_counter){
        .name = name, .is_mixed = name == fold->more_name, .min = NAN, .max = NAN};
    *place = fold->counters.count;
    return counter;
}

void tkt_fold_sample(tkt_fold *fold, uint32_t name, uint64_t time, double value)
{
    tkt_folded_counter *counter = find_counter(fold, name, 1);
    if (!counter) {
        fold->lost_count++;
        return;
    }
    if (counter->walk == fold->walk) {
        hold(counter, value, time, counter->next_time);
    } else {
        counter->walk = fold->walk;
        counter->before = counter->samples > 0 ? counter->last : NAN;
        counter->before_time = counter->last_time;
        counter->last = value;
        counter->last_time = time;
    }
    counter->next = value;
    counter->next_time = time;
    counter->samples++;
    widen(counter, value);
}

void tkt_fold_end_samples(tkt_fold *fold)
{
    for (size_t i = 0; i < fold->counters.count; i++) {
        tkt_folded_counter *counter = &fold->counters.items[i];
        if (counter->walk != fold->walk)
            continue;
        hold(counter, counter->before, counter->before_time, counter->next_time);
        if (counter->before_time > 0)
            continue;
        counter->first = counter->next;
        counter->first_time = counter->next_time;
    }
}

/* Joins the first and last samples, and the time between. At equal times, `from` counts as being
 * behind. */
static void join(tkt_folded_counter *into, const tkt_folded_counter *from)
{
    bool is_after = from->first_time >= into->last_time;
    bool is_before = !is_after && from->last_time <= into->first_time;
    if (is_after)
        hold(into, into->last, into->last_time, from->first_time);
    if (is_before)
        hold(into, from->last, from->last_time, into->first_time);
    into->is_mixed |= !is_after && !is_before;
    if (is_before || from->first_time < into->first_time) {
        into->first = from->first;
        into->first_time = from->first_time;
    }
    if (is_after || from->last_time > into->last_time) {
        into->last = from->last;
        into->last_time = from->last_time;
    }
}

bool tkt_fold_add_counter(tkt_fold *fold, const tkt_folded_counter *from)
{
    tkt_folded_counter *into = find_counter(fold, from->name, from->samples);
    if (!into)
        return false;
    into->is_mixed |= from->is_mixed;
    if (into->samples == 0) {
        const tkt_folded_counter found = *into;
        *into = *from;
        into->name = found.name;
        into->is_mixed = found.is_mixed;
        into->walk = 0;
        return true;
    }
    into->samples += from->samples;
    into->held.sum += from->held.sum;
    into->held.large += from->held.large;
    into->held.weight += from->held.weight;
    widen(into, from->min);
    widen(into, from->max);
    join(into, from);
    return true;
}

/* ======== Tasks ======== */

/* The tasks of this name and track, added without times if they are new. NULL without memory. */
static tkt_folded_task *find_task(tkt_fold *fold, uint32_t name, uint32_t track, uint64_t count)
{
    uint64_t *place = find_entry(fold, &fold->task_index, &name, &track, count);
    if (place && *place > 0)
        return &fold->tasks.items[*place - 1];
    tkt_folded_task *task = place ? TKT_ARRAY_ADD(&fold->tasks) : NULL;
    if (!task)
        return NULL;
    *task = (tkt_folded_task){.name = name, .track = track};
    tkt_stats_init(&task->stats);
    *place = fold->tasks.count;
    return task;
}

void tkt_fold_task(tkt_fold *fold, uint32_t site, uint32_t track, uint64_t duration_ns,
                   bool is_piece)
{
    tkt_folded_task *task = find_task(fold, site, track, 1);
    if (!task) {
        fold->lost_count++;
        return;
    }
    if (is_piece)
        tkt_stats_add_piece(&task->stats, duration_ns);
    else
        tkt_fold_count(fold, &task->stats, &task->histogram, duration_ns);
}

bool tkt_fold_add_task(tkt_fold *fold, const tkt_folded_task *from)
{
    tkt_folded_task *into = find_task(fold, from->name, from->track, from->stats.count);
    if (!into)
        return false;
    tkt_fold_add_stats(fold, &into->stats, &into->histogram, &from->stats, from->histogram);
    return true;
}

void tkt_fold_task_within(tkt_fold *fold, const tkt_timed_task *task, uint64_t from_ns,
                          uint64_t until_ns)
{
    uint64_t begin_ns = task->begin_ns < from_ns ? from_ns : task->begin_ns;
    uint64_t end_ns = task->end_ns > until_ns ? until_ns : task->end_ns;
    bool is_begun_before = task->begin_ns < from_ns;
    if (end_ns < begin_ns || (is_begun_before && end_ns == from_ns)) /* outside */
        return;
    bool is_unfinished = task->end_ns > until_ns;
    fold->begun_before += is_begun_before;
    fold->unfinished += is_unfinished;
    tkt_fold_task(fold, task->name, task->track, end_ns - begin_ns,
                  is_begun_before || is_unfinished);
}

/* Adds the tasks that wait no longer. */
static void add_ended(tkt_fold *fold, uint64_t from_ns, uint64_t now_ns)
{
    size_t kept = 0;
    for (size_t i = 0; i < fold->ahead.count; i++) {
        const tkt_timed_task task = fold->ahead.items[i];
        if (task.end_ns > now_ns)
            fold->ahead.items[kept++] = task;
        else
            tkt_fold_task_within(fold, &task, from_ns, now_ns);
    }
    fold->ahead.count = kept;
}

/* False without room. */
static bool keep(tkt_fold *fold, const tkt_timed_task *task)
{
    tkt_timed_task *kept =
        fold->ahead.count < TKT_FOLD_MAX_AHEAD ? TKT_ARRAY_ADD(&fold->ahead) : NULL;
    if (kept)
        *kept = *task;
    return kept != NULL;
}

void tkt_fold_task_so_far(tkt_fold *fold, const tkt_timed_task *task, uint64_t from_ns,
                          uint64_t now_ns)
{
    if (task->end_ns <= now_ns) {
        tkt_fold_task_within(fold, task, from_ns, now_ns);
        return;
    }
    if (fold->ahead.count == TKT_FOLD_MAX_AHEAD)
        add_ended(fold, from_ns, now_ns);
    fold->lost_count += !keep(fold, task);
}

void tkt_fold_task_at_end(tkt_fold *fold, const tkt_timed_task *task, uint64_t from_ns,
                          uint64_t until_ns)
{
    tkt_fold_task_within(fold, task, from_ns, until_ns);
    if (task->end_ns > until_ns)
        fold->lost_later += !keep(fold, task);
}

void tkt_fold_end_tasks(tkt_fold *fold, uint64_t from_ns, uint64_t until_ns)
{
    add_ended(fold, from_ns, until_ns);
    for (size_t i = 0; i < fold->ahead.count; i++)
        tkt_fold_task_within(fold, &fold->ahead.items[i], from_ns, until_ns);
}

void tkt_fold_hand_on(tkt_fold *from, tkt_fold *to)
{
    __typeof__(to->ahead) room = to->ahead;
    to->ahead = from->ahead;
    from->ahead = room;
    to->lost_count = from->lost_later;
    from->lost_later = 0;
}

/* ======== Threads ======== */

/* What the thread ran of a node. */
static tkt_thread_node part_of(const tkt_fold *fold, size_t node)
{
    const tkt_stats *stats = &fold->items[node].stats;
    const tkt_thread_node before =
        node < fold->before.count ? fold->before.items[node] : (tkt_thread_node){0};
    return (tkt_thread_node){node, stats->count - before.count, stats->total_ns - before.total_ns};
}

static bool has_events(const tkt_fold *fold)
{
    bool has_any = fold->thread_has_events;
    for (size_t i = 1; i < fold->count && !has_any; i++)
        has_any = part_of(fold, i).count > 0;
    return has_any && fold->thread.serial > 0;
}

static bool add_parts(tkt_fold *fold)
{
    for (size_t i = 1; i < fold->count; i++) {
        const tkt_thread_node part = part_of(fold, i);
        tkt_thread_node *added = part.count > 0 ? TKT_ARRAY_ADD(&fold->parts) : NULL;
        if (added)
            *added = part;
        else if (part.count > 0)
            return false;
    }
    return true;
}

static void keep_before(tkt_fold *fold)
{
    fold->lists_no_threads |= !TKT_ARRAY_RESERVE(&fold->before, fold->count);
    if (fold->lists_no_threads)
        return;
    for (size_t i = 0; i < fold->count; i++)
        fold->before.items[i] =
            (tkt_thread_node){i, fold->items[i].stats.count, fold->items[i].stats.total_ns};
    fold->before.count = fold->count;
}

void tkt_fold_end_thread(tkt_fold *fold)
{
    size_t first = fold->parts.count;
    bool has_room = !fold->lists_no_threads && first + fold->threads.count < TKT_FOLD_MAX_PARTS;
    bool is_wanted = has_events(fold);
    tkt_folded_thread *thread =
        is_wanted && has_room && add_parts(fold) ? TKT_ARRAY_ADD(&fold->threads) : NULL;
    if (thread) {
        *thread = (tkt_folded_thread){fold->thread.name, fold->thread.thread_id, fold->parts.count};
    } else {
        fold->parts.count = first;
        fold->unlisted_threads += is_wanted;
    }
    fold->thread_has_events = false;
    keep_before(fold);
}
