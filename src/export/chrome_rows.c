/* Rows for what may overlap: spans of async tracks, and activities of devices.
 *
 * Slices on one row of a viewer have to nest; Perfetto drops those that overlap partly. Spans of
 * such tracks know nothing of each other, so that even one inside the other's time must not be
 * drawn as its child. Each therefore gets a row on which nothing else is going on: the uppermost
 * that is free when it begins. Two heaps, of the busy rows by end and of the free ones by number,
 * make that n log(rows) for n spans in the order of their begin. */
#include "export/chrome_file.h"

#include <stdlib.h>

void tkt_chrome_row_init(tkt_chrome_row *row, uint32_t tid, uint32_t name, int32_t order)
{
    *row = (tkt_chrome_row){.tid = tid, .name = name, .order = order};
    char *end = tkt_put_u64(row->text, tid);
    memcpy(end, ",\"ts\":", 6);
    row->text_size = (uint32_t)(end + 6 - row->text);
}

static bool push_free(tkt_chrome_lanes *lanes, uint32_t lane)
{
    uint32_t *place = TKT_ARRAY_ADD(&lanes->free);
    if (!place)
        return false;
    uint32_t *heap = lanes->free.items;
    size_t at = lanes->free.count - 1;
    for (; at && heap[(at - 1) / 2] > lane; at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = lane;
    return true;
}

static uint32_t pop_free(tkt_chrome_lanes *lanes)
{
    uint32_t *heap = lanes->free.items;
    uint32_t least = heap[0];
    uint32_t last = heap[--lanes->free.count];
    size_t count = lanes->free.count;
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        child += child + 1 < count && heap[child + 1] < heap[child];
        if (last <= heap[child])
            break;
        heap[at] = heap[child];
    }
    heap[at] = last;
    return least;
}

static bool push_busy(tkt_chrome_lanes *lanes, struct tkt_chrome_busy busy)
{
    struct tkt_chrome_busy *place = TKT_ARRAY_ADD(&lanes->busy);
    if (!place)
        return false;
    struct tkt_chrome_busy *heap = lanes->busy.items;
    size_t at = lanes->busy.count - 1;
    for (; at && heap[(at - 1) / 2].end_ns > busy.end_ns; at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = busy;
    return true;
}

static struct tkt_chrome_busy pop_busy(tkt_chrome_lanes *lanes)
{
    struct tkt_chrome_busy *heap = lanes->busy.items;
    struct tkt_chrome_busy least = heap[0];
    struct tkt_chrome_busy last = heap[--lanes->busy.count];
    size_t count = lanes->busy.count;
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        child += child + 1 < count && heap[child + 1].end_ns < heap[child].end_ns;
        if (last.end_ns <= heap[child].end_ns)
            break;
        heap[at] = heap[child];
    }
    heap[at] = last;
    return least;
}

static bool add_lane(tkt_chrome *chrome, tkt_chrome_lanes *lanes)
{
    uint32_t lane = (uint32_t)lanes->rows.count;
    tkt_chrome_row *row = TKT_ARRAY_ADD(&lanes->rows);
    if (!row)
        return false;
    tkt_chrome_row_init(row, chrome->next_row_id++, lanes->name, chrome->next_order++);
    row->lane = lane;
    return push_free(lanes, lane);
}

/* The row for a span, announced; NULL when there is no memory. */
static tkt_chrome_row *find_row(tkt_chrome *chrome, tkt_chrome_lanes *lanes, uint64_t begin_ns,
                                uint64_t end_ns)
{
    bool has_memory = true;
    while (lanes->busy.count && lanes->busy.items[0].end_ns <= begin_ns && has_memory)
        has_memory = push_free(lanes, pop_busy(lanes).lane);
    if (!lanes->free.count && has_memory)
        has_memory = add_lane(chrome, lanes);
    if (has_memory) {
        uint32_t lane = pop_free(lanes);
        tkt_chrome_row *row = &lanes->rows.items[lane];
        if (push_busy(lanes, (struct tkt_chrome_busy){end_ns, lane})) {
            tkt_chrome_announce(chrome, row);
            return row;
        }
    }
    chrome->status = TAKT_NO_MEMORY;
    return NULL;
}

void tkt_chrome_lanes_fini(tkt_chrome_lanes *lanes)
{
    TKT_ARRAY_FREE(&lanes->rows);
    TKT_ARRAY_FREE(&lanes->busy);
    TKT_ARRAY_FREE(&lanes->free);
}

void tkt_chrome_async_spans(tkt_chrome *chrome, uint32_t track, uint64_t last_ns)
{
    const tkt_spans *spans = &chrome->trace->tracks.items[track].spans;
    tkt_chrome_track *at = &chrome->tracks[track];
    while (at->span < spans->count && spans->items[at->span].begin_ns <= last_ns) {
        const tkt_span *span = &spans->items[at->span];
        if (!tkt_chrome_fits(chrome))
            return;
        tkt_chrome_row *row = find_row(chrome, &at->lanes, span->begin_ns, span->end_ns);
        if (!row)
            return;
        tkt_chrome_async_span(chrome, track, row);
    }
}

static tkt_chrome_device *find_device(tkt_chrome *chrome, uint32_t name)
{
    for (size_t i = 0; i < chrome->devices.count; i++) {
        if (chrome->devices.items[i].name == name)
            return &chrome->devices.items[i];
    }
    tkt_chrome_device *device = TKT_ARRAY_ADD(&chrome->devices);
    if (device)
        *device = (tkt_chrome_device){.name = name, .lanes.name = name};
    return device;
}

static int by_begin(const void *a, const void *b)
{
    const tkt_chrome_work *x = a;
    const tkt_chrome_work *y = b;
    if (x->begin_ns != y->begin_ns)
        return x->begin_ns < y->begin_ns ? -1 : 1;
    return x->activity < y->activity ? -1 : x->activity > y->activity;
}

takt_status tkt_chrome_find_works(tkt_chrome *chrome)
{
    const takt_trace *trace = chrome->trace;
    for (size_t i = 0; i < trace->activities.count; i++) {
        const tkt_activity *activity = &trace->activities.items[i];
        if (activity->span != TKT_NO_SPAN)
            continue;
        tkt_chrome_work *work = TKT_ARRAY_ADD(&chrome->works);
        if (!work)
            return TAKT_NO_MEMORY;
        *work = (tkt_chrome_work){activity->begin_ns, i};
    }
    if (chrome->works.count)
        qsort(chrome->works.items, chrome->works.count, sizeof *chrome->works.items, by_begin);
    return TAKT_OK;
}

/* Kineto's categories. */
static const char *work_category(uint32_t filter)
{
    switch (filter) {
    case TAKT_TIMING_MEMCPY:
        return "gpu_memcpy";
    case TAKT_TIMING_MEMSET:
        return "gpu_memset";
    default:
        return "kernel";
    }
}

static void put_work(tkt_chrome *chrome, const tkt_activity *activity, const tkt_chrome_row *row)
{
    tkt_writer *writer = chrome->writer;
    tkt_writer_format(writer,
                      "{\"ph\":\"X\",\"cat\":\"%s\",\"name\":", work_category(activity->filter));
    tkt_chrome_put_string(chrome, activity->name);
    tkt_writer_format(writer, ",\"pid\":%u,\"tid\":", chrome->trace->facts.process_id);
    tkt_writer_put(writer, row->text, row->text_size);
    tkt_chrome_put_ts(chrome, activity->begin_ns);
    tkt_writer_text(writer, ",\"dur\":");
    tkt_chrome_put_us(writer, activity->end_ns - activity->begin_ns);
    tkt_writer_text(writer, ",\"args\":{\"device\":");
    tkt_chrome_put_string(chrome, activity->device);
    tkt_writer_text(writer, "}},\n");
}

void tkt_chrome_device_works(tkt_chrome *chrome, uint64_t last_ns)
{
    for (; chrome->work < chrome->works.count; chrome->work++) {
        const tkt_chrome_work *work = &chrome->works.items[chrome->work];
        const tkt_activity *activity = &chrome->trace->activities.items[work->activity];
        if (work->begin_ns > last_ns || !tkt_chrome_fits(chrome))
            return;
        tkt_chrome_device *device = find_device(chrome, activity->device);
        if (!device) {
            chrome->status = TAKT_NO_MEMORY;
            return;
        }
        tkt_chrome_row *row =
            find_row(chrome, &device->lanes, activity->begin_ns, activity->end_ns);
        if (!row)
            return;
        put_work(chrome, activity, row);
    }
}
