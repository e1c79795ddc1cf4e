/* Finds the calls of activities and the records that waits are for, and sorts activities by the
 * order in which they were launched. */
#include "trace/devices.h"

#include "trace/order.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(tkt_activity) <= 64, "there may be tens of millions");

takt_status tkt_call_index_init(tkt_call_index *index, const takt_trace *trace)
{
    size_t count = trace->calls.count, size = 1;
    while (size < count)
        size *= 2;
    *index = (tkt_call_index){.calls = trace->calls.items, .mask = (uint32_t)(size - 1)};
    index->first = tkt_alloc_zeroed(size * sizeof *index->first);
    index->next = tkt_alloc((count + 1) * sizeof *index->next);
    if (!index->first || !index->next) {
        tkt_call_index_fini(index);
        return TAKT_NO_MEMORY;
    }
    for (size_t i = count; i-- > 0;) {
        uint32_t *first = &index->first[trace->calls.items[i].correlation & index->mask];
        index->next[i] = *first;
        *first = (uint32_t)i + 1;
    }
    return TAKT_OK;
}

void tkt_call_index_fini(tkt_call_index *index)
{
    tkt_free(index->first);
    tkt_free(index->next);
    *index = (tkt_call_index){0};
}

bool tkt_call_is_late(const takt_trace *trace, uint32_t correlation)
{
    for (size_t i = 0; i < trace->late_calls.count; i++) {
        if (trace->late_calls.items[i] == correlation)
            return true;
    }
    return false;
}

uint32_t tkt_launched_by(const char *name)
{
    if (strncmp(name, "TAKT_", 5) == 0)
        return TKT_LAUNCHED_MARK;
    if (strstr(name, "GraphLaunch"))
        return TAKT_TIMING_KERNEL | TAKT_TIMING_BUILTIN | TAKT_TIMING_MEMCPY | TAKT_TIMING_MEMSET |
               TAKT_TIMING_GRAPH;
    if (strstr(name, "Graph") || strstr(name, "HostFunc"))
        return 0;
    if (strstr(name, "Launch"))
        return TAKT_TIMING_KERNEL | TAKT_TIMING_BUILTIN;
    if (strstr(name, "Memcpy"))
        return TAKT_TIMING_MEMCPY;
    return strstr(name, "Memset") ? TAKT_TIMING_MEMSET : 0;
}

uint8_t tkt_must_launch(uint32_t launched, uint32_t filter)
{
    const uint32_t kernels = TAKT_TIMING_KERNEL | TAKT_TIMING_BUILTIN;
    if (launched == TKT_LAUNCHED_MARK)
        return TKT_LAUNCHES_MARK;
    if (!(launched & filter))
        return TKT_LAUNCHES_NOTHING;
    bool is_whole = (filter & TAKT_TIMING_GRAPH) && !(filter & kernels);
    bool has_all = !(launched & ~filter & ~TAKT_TIMING_GRAPH);
    return !(launched & TAKT_TIMING_GRAPH) || is_whole || has_all ? TKT_LAUNCHES_WORK
                                                                  : TKT_LAUNCHES_PERHAPS;
}

bool tkt_call_waits(const char *name)
{
    return strstr(name, "Synchronize") != NULL;
}

bool tkt_call_changes_memory(const char *name)
{
    static const char *const begins[] = {"cudaMalloc", "cudaFree",  "cudaHostAlloc",
                                         "cuMemAlloc", "cuMemFree", "cuMemHostAlloc"};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (strncmp(name, begins[i], strlen(begins[i])) == 0)
            return true;
    return false;
}

bool tkt_call_allocates(const char *name)
{
    return tkt_call_changes_memory(name) && !strstr(name, "Async");
}

bool tkt_call_loads(const char *name)
{
    return strstr(name, "ModuleLoad") || strstr(name, "LibraryLoad") || strstr(name, "LinkAdd") ||
           strstr(name, "LinkComplete");
}

takt_status tkt_calls_visit(const takt_trace *trace, bool (*test)(const char *name),
                            bool (*visit)(void *user, uint32_t call), void *user)
{
    bool *passes = tkt_alloc(trace->sites.count * sizeof *passes);
    bool is_visited = passes != NULL, is_any = false;
    for (size_t i = 0; passes && i < trace->sites.count; i++) {
        passes[i] = test(tkt_trace_text(trace, trace->sites.items[i].name));
        is_any = is_any || passes[i];
    }
    for (uint32_t i = 0; is_any && is_visited && i < trace->calls.count; i++)
        if (passes[tkt_span_site(tkt_call_span(trace, i))])
            is_visited = visit(user, i);
    tkt_free(passes);
    return is_visited ? TAKT_OK : TAKT_NO_MEMORY;
}

bool tkt_call_launches_graph(const takt_trace *trace, uint32_t call)
{
    const tkt_trace_site *site = &trace->sites.items[tkt_span_site(tkt_call_span(trace, call))];
    uint32_t launched = tkt_launched_by(tkt_trace_text(trace, site->name));
    return launched != TKT_LAUNCHED_MARK && (launched & TAKT_TIMING_GRAPH);
}

void tkt_call_attribute(const takt_trace *trace, uint32_t call, tkt_activity *activity)
{
    bool is_known = call != TKT_NO_CALL;
    activity->call = call;
    activity->track = is_known ? trace->calls.items[call].track : TKT_NO_TRACK;
    activity->scope = is_known ? tkt_call_scope(trace, call) : TKT_NO_SPAN;
    activity->span = TKT_NO_SPAN;
}

void tkt_waits_attribute(takt_trace *trace, size_t first, const tkt_call_index *index)
{
    for (size_t i = first; i < trace->waits.count; i++) {
        tkt_wait *wait = &trace->waits.items[i];
        uint32_t call = tkt_call_find(index, wait->correlation);
        wait->call_number = call == TKT_NO_CALL ? 0 : call + 1;
    }
}

/* ---- Records of events ----------------------------------------------------------------------- */

static int compare_records(const void *a, const void *b)
{
    const tkt_stored_record *x = a, *y = b;
    if (x->event != y->event)
        return x->event < y->event ? -1 : 1;
    return x->correlation == y->correlation                    ? 0
           : tkt_is_later_call(x->correlation, y->correlation) ? 1
                                                               : -1;
}

takt_status tkt_records_init(tkt_records *records, const tkt_store *store)
{
    size_t count = store->waits.count ? store->records.count : 0;
    *records = (tkt_records){.items = tkt_alloc((count + 1) * sizeof *records->items)};
    if (!records->items)
        return TAKT_NO_MEMORY;
    records->count = count;
    if (count) {
        memcpy(records->items, store->records.items, count * sizeof *records->items);
        qsort(records->items, count, sizeof *records->items, compare_records);
    }
    return TAKT_OK;
}

void tkt_records_fini(tkt_records *records)
{
    tkt_free(records->items);
    *records = (tkt_records){0};
}

/* The number of records of lower events, or of this one and before the wait. */
static size_t count_before(const tkt_records *records, const tkt_stored_wait *wait)
{
    tkt_stored_record key = {.event = wait->event, .correlation = wait->correlation};
    size_t from = 0, to = records->count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (compare_records(&records->items[middle], &key) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* Numbers of events count per context. */
static bool is_for(const tkt_stored_wait *wait, const tkt_stored_record *record)
{
    if (wait->sync_id && record->sync_id)
        return wait->sync_id == record->sync_id;
    return wait->context == record->context;
}

/* Threads may record and wait at once: with a sync id, the record may have the higher
 * correlation. */
const tkt_stored_record *tkt_records_find(const tkt_records *records, const tkt_stored_wait *wait)
{
    size_t before = wait->event ? count_before(records, wait) : 0;
    const tkt_stored_record *items = records->items;
    for (size_t i = before; wait->event && i-- > 0 && items[i].event == wait->event;)
        if (is_for(wait, &items[i]))
            return &items[i];
    for (size_t i = before; wait->sync_id && i < records->count && items[i].event == wait->event;
         i++)
        if (items[i].sync_id == wait->sync_id)
            return &items[i];
    return NULL;
}

tkt_wait tkt_wait_of(const tkt_stored_wait *from, uint64_t begin_ns, const tkt_records *records)
{
    const tkt_stored_record *record = tkt_records_find(records, from);
    return (tkt_wait){.begin_ns = begin_ns,
                      .end_ns = begin_ns + (from->end - from->begin),
                      .correlation = from->correlation,
                      .context = from->context,
                      .stream = from->stream,
                      .kind = from->kind,
                      .event = from->event,
                      .record_correlation = record ? record->correlation : 0,
                      .record_stream = record ? record->stream : 0};
}

/* ---- The order of issue ---------------------------------------------------------------------- */

static tkt_order_key key_of(const takt_trace *trace, size_t first, size_t index)
{
    const tkt_activity *activity = &trace->activities.items[first + index];
    bool is_known = activity->call != TKT_NO_CALL;
    return (tkt_order_key){.time_ns = is_known ? tkt_call_span(trace, activity->call)->begin_ns
                                               : activity->begin_ns,
                           .group = activity->correlation,
                           .index = (uint32_t)index};
}

/* True for the activities of one stream, and for those of a file that were never out of order. */
static bool are_ordered(const takt_trace *trace, size_t first)
{
    tkt_order_key last = {0};
    for (size_t i = 0; first + i < trace->activities.count; i++) {
        tkt_order_key key = key_of(trace, first, i);
        if (key.time_ns < last.time_ns || (key.time_ns == last.time_ns && key.group < last.group))
            return false;
        last = key;
    }
    return true;
}

/* *places is NULL if the activities are in order. */
static takt_status find_order(const takt_trace *trace, size_t first, uint32_t **places)
{
    size_t count = trace->activities.count - first;
    if (are_ordered(trace, first))
        return TAKT_OK;
    tkt_order_key *keys = tkt_alloc((count + 1) * sizeof *keys);
    if (!keys)
        return TAKT_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        keys[i] = key_of(trace, first, i);
    takt_status status = tkt_order_keys(keys, count, places);
    tkt_free(keys);
    return status;
}

static bool are_siblings(const tkt_activity *a, const tkt_activity *b)
{
    return a->correlation == b->correlation && a->call == b->call &&
           (a->call != TKT_NO_CALL || a->begin_ns == b->begin_ns);
}

/* Sorts the activities of one call (a graph has many) by their own begin, then by stream. Uses
 * `reserved` for the sort's second key. */
static takt_status order_siblings(tkt_activity *first, size_t count)
{
    for (size_t i = 0; i < count; i++)
        first[i].reserved = first[i].context << 16 ^ first[i].stream;
    takt_status status = tkt_order_by_time(
        &(tkt_order_items){first, count, sizeof *first, offsetof(tkt_activity, reserved)});
    for (size_t i = 0; i < count; i++)
        first[i].reserved = 0;
    return status;
}

takt_status tkt_calls_order(takt_trace *trace, size_t first)
{
    uint32_t *places = NULL;
    tkt_activity *items = trace->activities.items;
    size_t count = trace->activities.count;
    if (first == count)
        return TAKT_OK;
    takt_status status = find_order(trace, first, &places);
    if (status == TAKT_OK && places)
        status = tkt_order_apply(&(tkt_order_items){items + first, count - first, sizeof *items, 0},
                                 places);
    tkt_free(places);
    for (size_t i = first, end; i < count && status == TAKT_OK; i = end) {
        for (end = i + 1; end < count && are_siblings(&items[i], &items[end]);)
            end++;
        if (end > i + 1)
            status = order_siblings(items + i, end - i);
    }
    return status;
}

static uint64_t place_of(const tkt_call_info *call)
{
    return (uint64_t)call->track << 32 | call->span;
}

/* Sorts calls by track and span. In files that were written while recording, the calls of several
 * threads alternate. */
static takt_status order_calls(takt_trace *trace)
{
    size_t count = trace->calls.count, at = 1;
    const tkt_call_info *calls = trace->calls.items;
    while (at < count && place_of(&calls[at - 1]) <= place_of(&calls[at]))
        at++;
    if (at >= count)
        return TAKT_OK;
    uint64_t *keys = tkt_alloc(count * sizeof *keys);
    if (!keys)
        return TAKT_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        keys[i] = place_of(&calls[i]);
    uint32_t *places;
    takt_status status = tkt_order_find(&(tkt_order_items){keys, count, sizeof *keys, 0}, &places);
    if (status == TAKT_OK && places)
        status = tkt_order_apply(TKT_ORDER_ITEMS(&trace->calls, 0), places);
    tkt_free(places);
    tkt_free(keys);
    return status;
}

takt_status tkt_trace_link(takt_trace *trace)
{
    tkt_call_index index;
    takt_status status = order_calls(trace);
    if (status == TAKT_OK)
        status = tkt_call_index_init(&index, trace);
    if (status != TAKT_OK)
        return status;
    for (size_t i = 0; i < trace->activities.count; i++) {
        tkt_activity *activity = &trace->activities.items[i];
        tkt_call_attribute(trace, tkt_call_find(&index, activity->correlation), activity);
    }
    tkt_waits_attribute(trace, 0, &index);
    tkt_call_index_fini(&index);
    return tkt_calls_order(trace, 0);
}
