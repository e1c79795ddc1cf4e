/* Writes a trace as Chrome JSON: decides the order of events and where a new file begins.
 *
 * Events are written in windows of time, and within a window row by row. A full file is closed
 * wherever that happens, even inside a window. So each file covers one stretch of time for all
 * rows, inexact by one window. A span is in the file in which it begins. Without a size limit there
 * is only one window, which is fastest.
 *
 * Times count from the begin of a week. Traces of several processes and cycles therefore line up
 * when they are opened together. Readers parse times as doubles of microseconds, which within a
 * week still resolve nanoseconds (chrome_event.c says how durations add up as doubles). Kineto
 * counts from the begin of a quarter of a year and loses nanoseconds from its 51st day on. It is
 * the week of the earliest event, since Perfetto drops events before zero. */
#include "export/chrome.h"

#include "base/alloc.h"
#include "export/exporter.h"

/* ======== The format ======== */

#define INTERVAL_NS (INT64_C(7) * 24 * 3600 * 1000000000)

/* Spans of the longest track in one window. */
#define WINDOW_SPANS 16384

/* Space for one event of the fast path, or for a row's metadata and a common event; and for the end
 * of the file. */
#define EVENT_BYTES 2048
#define END_BYTES   1024

static uint64_t bytes_written(const tkt_chrome *chrome)
{
    return chrome->writer->total + chrome->writer->used;
}

static void begin_part(tkt_chrome *chrome)
{
    chrome->part++;
    chrome->part_begin = bytes_written(chrome);
    chrome->part_limit = UINT64_MAX;
    if (chrome->choice.max_bytes) {
        uint64_t bytes = chrome->choice.max_bytes;
        bytes = bytes < TKT_CHROME_MIN_BYTES ? TKT_CHROME_MIN_BYTES : bytes;
        chrome->part_limit = chrome->part_begin + bytes - EVENT_BYTES - END_BYTES;
    }
    tkt_chrome_begin_file(chrome);
    chrome->head_bytes = bytes_written(chrome);
}

static void next_part(tkt_chrome *chrome)
{
    tkt_chrome_end_file(chrome, chrome->window_last_ns, false);
    chrome->status = chrome->choice.next(chrome->choice.user, chrome->part + 1, chrome->writer);
    if (chrome->status == TAKT_OK)
        begin_part(chrome);
}

bool tkt_chrome_fits_slow(tkt_chrome *chrome)
{
    /* A file that contains only its head accepts an event of any size. Otherwise new files would
     * begin endlessly. */
    if (chrome->status == TAKT_OK && bytes_written(chrome) > chrome->head_bytes)
        next_part(chrome);
    return chrome->status == TAKT_OK;
}

static void write_window(tkt_chrome *chrome, uint64_t last_ns)
{
    const takt_trace *trace = chrome->trace;
    tkt_chrome_steps(chrome, last_ns);
    for (uint32_t i = 0; i < trace->tracks.count; i++) {
        if (trace->tracks.items[i].kind == TAKT_TRACK_THREAD)
            tkt_chrome_thread_spans(chrome, i, last_ns);
        else
            tkt_chrome_async_spans(chrome, i, last_ns);
    }
    tkt_chrome_device_works(chrome, last_ns);
    tkt_chrome_marks(chrome, last_ns);
    tkt_chrome_counters(chrome, last_ns);
    tkt_chrome_flows(chrome, last_ns);
    tkt_chrome_memory(chrome, last_ns);
    if (!chrome->choice.no_waits)
        tkt_chrome_waits(chrome, last_ns);
    tkt_chrome_overheads(chrome, last_ns);
    tkt_chrome_phases(chrome, last_ns);
}

/* Windows are measured in spans of this track. */
static const tkt_track *longest_track(const takt_trace *trace)
{
    const tkt_track *longest = NULL;
    for (size_t i = 0; i < trace->tracks.count; i++) {
        const tkt_track *track = &trace->tracks.items[i];
        if (!longest || track->spans.count > longest->spans.count)
            longest = track;
    }
    return longest;
}

static bool goes_on(const tkt_chrome *chrome)
{
    return chrome->status == TAKT_OK && chrome->writer->status == TAKT_OK;
}

static void write_windows(tkt_chrome *chrome)
{
    const tkt_track *track = longest_track(chrome->trace);
    size_t count = chrome->choice.max_bytes && track ? track->spans.count : 0;
    for (size_t i = WINDOW_SPANS; i < count && goes_on(chrome); i += WINDOW_SPANS) {
        uint64_t next_ns = track->spans.items[i].begin_ns;
        if (next_ns <= chrome->window_ns)
            continue;
        chrome->window_last_ns = next_ns;
        write_window(chrome, next_ns - 1);
        chrome->window_ns = next_ns;
    }
    chrome->window_last_ns = chrome->trace->facts.end_ns;
    if (goes_on(chrome))
        write_window(chrome, UINT64_MAX);
}

static void set_times(tkt_chrome *chrome)
{
    int64_t offset = chrome->trace->facts.realtime_offset_ns;
    chrome->window_ns = tkt_earliest_ns(chrome->trace);
    int64_t first = 0;
    if (__builtin_add_overflow(chrome->window_ns, offset, &first) ||
        first < INT64_MIN + INTERVAL_NS)
        first = 0; /* absurd times: any base will do */
    int64_t interval = first / INTERVAL_NS - (first < 0);
    chrome->base_ns = interval * INTERVAL_NS;
    chrome->shift_ns = (uint64_t)offset - (uint64_t)chrome->base_ns;
}

/* Operating systems reuse thread ids, but two rows cannot have the same id. */
static takt_status set_thread_row(tkt_chrome *chrome, uint32_t number, tkt_map *used)
{
    const tkt_track *track = &chrome->trace->tracks.items[number];
    uint64_t *is_used = tkt_map_put(used, track->thread_id);
    if (!is_used)
        return TAKT_NO_MEMORY;
    bool is_own = !*is_used && track->thread_id && track->thread_id < TKT_CHROME_FIRST_ROW_ID;
    *is_used = 1;
    tkt_chrome_row *row = &chrome->tracks[number].row;
    tkt_chrome_row_init(row, chrome->pid, is_own ? track->thread_id : chrome->next_row_id++,
                        chrome->next_order++);
    row->name = track->name;
    row->thread_id = track->thread_id;
    return TAKT_OK;
}

static takt_status set_rows(tkt_chrome *chrome)
{
    const takt_trace *trace = chrome->trace;
    tkt_map used = {0};
    takt_status status = TAKT_OK;
    uint32_t pid = chrome->pid;
    tkt_chrome_row_init(&chrome->steps_row, pid, chrome->next_row_id++, -1);
    chrome->overheads = (tkt_chrome_lanes){.title = "CUPTI overhead", .pid = pid};
    for (uint32_t i = 0; i < trace->tracks.count && status == TAKT_OK; i++) {
        chrome->tracks[i].lanes.name = trace->tracks.items[i].name;
        chrome->tracks[i].lanes.pid = pid;
        if (trace->tracks.items[i].kind == TAKT_TRACK_THREAD)
            status = set_thread_row(chrome, i, &used);
    }
    tkt_map_fini(&used);
    return status;
}

uint32_t tkt_chrome_tid(const tkt_chrome *chrome, uint32_t track)
{
    if (track >= chrome->trace->tracks.count || !chrome->tracks[track].row.tid)
        return chrome->steps_row.tid;
    return chrome->tracks[track].row.tid;
}

/* Allocates one item more, so NULL always means that memory ran out. */
static void *items(size_t count, size_t size)
{
    return tkt_alloc_zeroed((count + 1) * size);
}

/* Viewers know a device by its ordinal, which stands where a program's process id does. In a
 * container the program may have that id, too: it then gets one that Linux gives to no process. */
static uint32_t pid_of(const takt_trace *trace)
{
    uint32_t pid = trace->facts.process_id;
    bool is_alone =
        trace->devices.count + trace->activities.count + trace->device_memory.count == 0;
    return pid < TKT_CHROME_ORDINALS && !is_alone ? TKT_CHROME_FREE_PIDS + pid : pid;
}

static takt_status init(tkt_chrome *chrome)
{
    const takt_trace *trace = chrome->trace;
    chrome->pid = pid_of(trace);
    chrome->sites = items(trace->sites.count * 2, sizeof *chrome->sites);
    chrome->tracks = items(trace->tracks.count, sizeof *chrome->tracks);
    chrome->keys = items(trace->strings.count, sizeof *chrome->keys);
    if (!chrome->sites || !chrome->tracks || !chrome->keys)
        return TAKT_NO_MEMORY;
    for (size_t i = trace->calls.count; i-- > 0;)
        chrome->tracks[trace->calls.items[i].track].call = i;
    takt_status status = tkt_chrome_find_works(chrome);
    if (status == TAKT_OK)
        status = tkt_chrome_find_launchers(chrome);
    if (status == TAKT_OK)
        status = set_rows(chrome);
    return status;
}

static void fini(tkt_chrome *chrome)
{
    for (size_t i = 0; chrome->tracks && i < chrome->trace->tracks.count; i++)
        tkt_chrome_lanes_fini(&chrome->tracks[i].lanes);
    tkt_chrome_devices_fini(chrome);
    tkt_chrome_phases_fini(chrome);
    tkt_free(chrome->sites);
    tkt_free(chrome->tracks);
    tkt_free(chrome->keys);
    tkt_arena_fini(&chrome->texts);
}

static takt_status choose_device(tkt_chrome *chrome)
{
    const char *label = chrome->choice.device;
    if (!label)
        return TAKT_OK;
    chrome->only = tkt_strtab_find(&chrome->trace->strings, label, strlen(label));
    return tkt_device_facts(chrome->trace, chrome->only) ? TAKT_OK : TAKT_NOT_FOUND;
}

static takt_status write_choice(const takt_trace *trace, tkt_writer *writer,
                                const tkt_export_choice *choice)
{
    tkt_chrome chrome = {.trace = trace,
                         .writer = writer,
                         .choice = *choice,
                         .next_row_id = TKT_CHROME_FIRST_ROW_ID,
                         .second = UINT64_MAX};
    chrome.status = choose_device(&chrome);
    if (chrome.status == TAKT_OK)
        chrome.status = init(&chrome);
    if (chrome.status == TAKT_OK) {
        set_times(&chrome);
        begin_part(&chrome);
        write_windows(&chrome);
    }
    if (goes_on(&chrome))
        tkt_chrome_end_file(&chrome, trace->facts.end_ns, true);
    fini(&chrome);
    return chrome.status;
}

static takt_status write_whole(const takt_trace *trace, tkt_writer *writer)
{
    return write_choice(trace, writer, &(tkt_export_choice){0});
}

const tkt_exporter tkt_chrome_exporter = {
    .name = "chrome",
    .suffix = ".trace.json",
    .needs_spans = true,
    .write = write_whole,
    .write_choice = write_choice,
};
