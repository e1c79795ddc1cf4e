/* Spans on tracks of their own. They are sorted by begin and may overlap. A heap for each entry
 * holds the ends of its spans that still run; its greatest size is the number at once. */
#include "summary/tasks.h"

/* The entry of a task's name on a track, which has a number and a name. NULL without memory. */
static tkt_named *find(tkt_task_list *tasks, uint32_t name, uint32_t track, uint32_t track_name)
{
    tkt_named *named = tkt_named_find(&tasks->times, name, track);
    if (named)
        named->shape = track_name;
    return named;
}

/* By entry: the ends of running spans. */
typedef TKT_ARRAY_OF(tkt_heap) heap_list;

/* True if there is a heap for each entry. */
static bool add_heaps(tkt_task_list *tasks, heap_list *running)
{
    while (running->count < tasks->times.count) {
        tkt_heap *heap = TKT_ARRAY_ADD(running);
        uint64_t *at_once = heap ? TKT_ARRAY_ADD(&tasks->at_once) : NULL;
        if (heap)
            *heap = (tkt_heap){0};
        if (!at_once)
            return false;
        *at_once = 0;
    }
    return true;
}

static bool add_task(tkt_task_list *tasks, heap_list *running, tkt_named *named,
                     const tkt_span *span)
{
    if (!named || !add_heaps(tasks, running))
        return false;
    uint64_t ns = span->end_ns - span->begin_ns;
    (tkt_span_is_piece(span) ? tkt_named_add_piece : tkt_named_add)(&tasks->times, named, ns);

    size_t entry = (size_t)(named - tasks->times.items);
    tkt_heap *heap = &running->items[entry];
    while (heap->count > 0 && heap->items[0].key <= span->begin_ns)
        tkt_heap_take(heap);
    if (!tkt_heap_add(heap, span->end_ns, 0))
        return false;
    if (heap->count > tasks->at_once.items[entry])
        tasks->at_once.items[entry] = heap->count;
    return true;
}

static takt_status add_folded(const takt_trace *trace, tkt_task_list *out)
{
    if (!trace->fold.has_lists)
        return TAKT_NO_SPANS;
    for (size_t i = 0; i < trace->fold.tasks.count; i++) {
        const tkt_folded_task *task = &trace->fold.tasks.items[i];
        tkt_named *named = find(out, task->name, task->track, task->track);
        if (!named)
            return TAKT_NO_MEMORY;
        tkt_named_add_stats(&out->times, named, &task->stats, task->histogram);
    }
    return TAKT_OK;
}

takt_status tkt_tasks_of(const takt_trace *trace, tkt_task_list *out)
{
    heap_list running = {0};
    bool has_memory = true;
    if (tkt_trace_prefers_lists(trace))
        return add_folded(trace, out);
    for (uint32_t i = 0; i < trace->tracks.count; i++) {
        const tkt_track *track = &trace->tracks.items[i];
        if (track->kind != TAKT_TRACK_ASYNC)
            continue;
        for (size_t s = 0; s < track->spans.count && has_memory; s++) {
            const tkt_span *span = &track->spans.items[s];
            uint32_t name = tkt_span_name(trace, span);
            has_memory = add_task(out, &running, find(out, name, i, track->name), span);
        }
    }
    for (size_t i = 0; i < running.count; i++)
        TKT_ARRAY_FREE(&running.items[i]);
    TKT_ARRAY_FREE(&running);
    return has_memory ? TAKT_OK : TAKT_NO_MEMORY;
}

void tkt_tasks_fini(tkt_task_list *tasks)
{
    tkt_named_fini(&tasks->times);
    TKT_ARRAY_FREE(&tasks->at_once);
}
