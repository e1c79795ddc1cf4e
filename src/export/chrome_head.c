/* Head and end of a Chrome file, its rows, and the texts of its sites. */
#include "export/chrome.h"

/* ======== The head ======== */

/* Kineto's header, the metadata rows that name processes and threads, and the end of the file.
 *
 * Each key is on a line of its own, with a blank after the colon, because Holistic Trace Analysis
 * finds the rank line by line with the regular expression "rank":\s+(\d+). The last event is always
 * Kineto's "Record Window End", so all other events can end with a comma. */

#define WINDOW_CAT "Trace" /* Holistic Trace Analysis drops it, TensorBoard hides it */

static void put_key(tkt_writer *writer, const char *key)
{
    tkt_writer_text(writer, ",\"");
    tkt_writer_text(writer, key);
    tkt_writer_text(writer, "\": ");
}

static void put_count(tkt_writer *writer, const char *key, uint64_t value)
{
    put_key(writer, key);
    tkt_chrome_put_u64(writer, value);
}

static void put_losses(tkt_chrome *chrome)
{
    put_key(chrome->writer, "losses");
    for (int i = 0; i < TAKT_LOSS_COUNT; i++) {
        tkt_writer_format(chrome->writer, "%s\"%s\": ", i ? ", " : "{",
                          takt_loss_name((takt_loss)i));
        tkt_chrome_put_u64(chrome->writer, chrome->trace->losses[i]);
    }
    tkt_writer_text(chrome->writer, "}");
}

/* The steps of the run, recorded or not, so that Takt reads them back. The histogram is a list of
 * buckets and their counts. */
static void put_all_steps(tkt_chrome *chrome)
{
    const tkt_all_steps *steps = &chrome->trace->all_steps;
    tkt_writer *writer = chrome->writer;
    const char *comma = "";
    if (steps->stats.count == 0 && steps->simulated_seconds == 0)
        return;
    put_key(writer, "all_steps");
    tkt_writer_text(writer, "{\"simulated_seconds\": ");
    tkt_chrome_put_double(writer, steps->simulated_seconds);
    put_count(writer, "count", steps->stats.count);
    put_count(writer, "total_ns", steps->stats.total_ns);
    put_count(writer, "min_ns", steps->stats.min_ns);
    put_count(writer, "max_ns", steps->stats.max_ns);
    put_key(writer, "sum_squares");
    tkt_chrome_put_double(writer, steps->stats.sum_squares);
    put_key(writer, "histogram");
    tkt_writer_text(writer, "[");
    for (uint32_t i = 0; i < TKT_HISTOGRAM_BUCKETS; i++) {
        if (steps->histogram.buckets[i] == 0)
            continue;
        tkt_writer_format(writer, "%s%u,%u", comma, i, steps->histogram.buckets[i]);
        comma = ",";
    }
    tkt_writer_text(writer, "]}");
}

/* Facts for people and scripts; viewers do not show them. */
static void put_provenance(tkt_chrome *chrome)
{
    const takt_trace *trace = chrome->trace;
    const takt_facts *facts = &trace->facts;
    tkt_writer *writer = chrome->writer;
    tkt_writer_text(writer, "\"takt\": {\"version\": \"");
    tkt_writer_text(writer, takt_version());
    tkt_writer_text(writer, "\"");
    put_key(writer, "run");
    tkt_chrome_put_string(chrome, trace->name);
    put_key(writer, "backend");
    tkt_chrome_put_string(chrome, trace->backend);
    put_key(writer, "clock");
    tkt_chrome_put_string(chrome, trace->clock);
    put_key(writer, "clock_resolution_ns");
    tkt_chrome_put_double(writer, facts->clock_resolution_ns);
    put_key(writer, "clock_uncertainty_ns");
    tkt_chrome_put_double(writer, facts->clock_uncertainty_ns);
    put_key(writer, "device_resolution_ns");
    tkt_chrome_put_double(writer, facts->device_resolution_ns);
    put_key(writer, "device_uncertainty_ns");
    tkt_chrome_put_double(writer, facts->device_uncertainty_ns);
    put_key(writer, "device_uncertainty_is_least");
    tkt_writer_text(writer, facts->device_uncertainty_is_least ? "true" : "false");
    put_key(writer, "device_shift_ns");
    tkt_chrome_put_double(writer, facts->device_shift_ns);
    put_key(writer, "cost_ns");
    tkt_chrome_put_double(writer, facts->cost_ns);
    put_key(writer, "cost_longest_ns");
    tkt_chrome_put_double(writer, facts->cost_longest_ns);
    put_count(writer, "process_rank", facts->rank);
    put_count(writer, "processes", facts->world_size);
    put_count(writer, "cycle", facts->cycle);
    if (facts->process_key)
        put_count(writer, "process_key", facts->process_key);
    put_count(writer, "first_step", facts->first_step);
    put_count(writer, "steps", facts->step_count);
    put_all_steps(chrome);
    put_key(writer, "partial");
    tkt_writer_text(writer, facts->is_partial ? "true" : "false");
    put_count(writer, "begun_before", facts->begun_before);
    put_count(writer, "unfinished", facts->unfinished);
    put_losses(chrome);
    put_count(writer, "part", chrome->part);
    tkt_writer_text(writer, "},\n");
}

/* Writes {"ph":"M","name":"...","pid":1,"tid":2,"args":{"key":   and the caller adds the value. */
static void begin_metadata(tkt_chrome *chrome, const char *name, uint32_t pid, uint32_t tid,
                           const char *key)
{
    tkt_writer_format(chrome->writer,
                      "{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%u,\"tid\":%u,\"args\":{\"%s\":", name,
                      pid, tid, key);
}

static void end_metadata(tkt_chrome *chrome)
{
    tkt_writer_text(chrome->writer, "}},\n");
}

/* Viewers show labels next to the process' name, where nobody can miss losses. */
static void put_label(tkt_chrome *chrome)
{
    char rank[64];
    tkt_writer_text(chrome->writer, "\"CPU");
    if (tkt_trace_rank_text(rank, sizeof rank, &chrome->trace->facts))
        tkt_writer_format(chrome->writer, ", %s", rank);
    const char *separator = "; lost: ";
    for (int i = 0; i < TAKT_LOSS_COUNT; i++) {
        uint64_t count = chrome->trace->losses[i];
        if (!count)
            continue;
        tkt_writer_format(chrome->writer, "%s%s ", separator, takt_loss_name((takt_loss)i));
        tkt_chrome_put_u64(chrome->writer, count);
        separator = ", ";
    }
    tkt_writer_text(chrome->writer, "\"");
}

static void put_process_name(tkt_chrome *chrome, uint32_t pid)
{
    begin_metadata(chrome, "process_name", pid, 0, "name");
    tkt_chrome_put_string(chrome, chrome->trace->name);
    end_metadata(chrome);
    begin_metadata(chrome, "process_labels", pid, 0, "labels");
}

static void put_process_order(tkt_chrome *chrome, uint32_t pid, uint64_t order)
{
    end_metadata(chrome);
    begin_metadata(chrome, "process_sort_index", pid, 0, "sort_index");
    tkt_chrome_put_u64(chrome->writer, order);
    end_metadata(chrome);
}

static void put_process(tkt_chrome *chrome)
{
    uint32_t pid = chrome->pid;
    put_process_name(chrome, pid);
    put_label(chrome);
    put_process_order(chrome, pid, pid);
}

/* Kineto's number, which sorts devices below all processes. */
#define DEVICE_ORDER 5000000u

void tkt_chrome_announce_device(tkt_chrome *chrome, tkt_chrome_device *device)
{
    if (device->part == chrome->part)
        return;
    device->part = chrome->part;
    put_process_name(chrome, device->pid);
    tkt_writer_format(chrome->writer, "\"GPU %u\"", device->pid);
    put_process_order(chrome, device->pid, DEVICE_ORDER + device->pid);
}

/* Kineto's marks for the recorded window; "g" draws a line across all rows. */
static void put_window_mark(tkt_chrome *chrome, const char *name, uint64_t time_ns)
{
    tkt_writer_format(chrome->writer,
                      "{\"ph\":\"i\",\"s\":\"g\",\"cat\":\"" WINDOW_CAT
                      "\",\"name\":\"%s\",\"pid\":%u,\"tid\":%u,\"ts\":",
                      name, chrome->pid, chrome->steps_row.tid);
    tkt_chrome_put_ts(chrome, time_ns);
}

/* Viewers need a number. If the world size is unknown, it is at least rank + 1. Holistic Trace
 * Analysis takes one file a rank, so a file of one device is a rank of its own. */
static void put_rank(tkt_chrome *chrome)
{
    const takt_trace *trace = chrome->trace;
    const takt_facts *facts = &trace->facts;
    uint64_t rank = facts->rank;
    uint64_t size = facts->world_size ? facts->world_size : rank + 1;
    if (chrome->only) {
        const tkt_device *only = tkt_device_facts(trace, chrome->only);
        rank = rank * trace->devices.count + (size_t)(only - trace->devices.items);
        size *= trace->devices.count;
    }
    tkt_writer_format(chrome->writer,
                      "\"distributedInfo\": {\"backend\": \"none\", \"rank\": %llu, "
                      "\"world_size\": %llu},\n",
                      (unsigned long long)rank, (unsigned long long)size);
}

void tkt_chrome_begin_file(tkt_chrome *chrome)
{
    tkt_writer *writer = chrome->writer;
    tkt_writer_text(writer, "{\n\"schemaVersion\": 1,\n\"deviceProperties\": [");
    tkt_chrome_device_properties(chrome);
    tkt_writer_text(writer, "],\n");
    put_rank(chrome);
    put_provenance(chrome);
    /* For "ns" chrome://tracing warns that the clock is too coarse. */
    tkt_writer_text(writer, "\"displayTimeUnit\": \"ms\",\n\"baseTimeNanoseconds\": ");
    tkt_chrome_put_i64(writer, chrome->base_ns);
    tkt_writer_text(writer, ",\n\"traceEvents\": [\n");
    put_process(chrome);
    tkt_chrome_announce(chrome, &chrome->steps_row);
    put_window_mark(chrome, "Iteration Start: Takt", chrome->window_ns);
    tkt_writer_text(writer, "},\n");
}

void tkt_chrome_end_file(tkt_chrome *chrome, uint64_t end_ns, bool is_last)
{
    tkt_writer *writer = chrome->writer;
    put_window_mark(chrome, "Record Window End", end_ns);
    tkt_writer_text(writer, "}\n],\n\"traceName\": \"");
    const tkt_string *name = &chrome->trace->strings.items[chrome->trace->name];
    tkt_chrome_put_text(writer, name->bytes, name->size);
    tkt_writer_format(writer, ".%u\"", chrome->trace->facts.cycle);
    if (!is_last)
        tkt_writer_format(writer, ",\n\"takt_next_part\": %u", chrome->part + 1);
    tkt_writer_text(writer, "\n}\n");
}

static void put_row_name(tkt_chrome *chrome, const tkt_chrome_row *row)
{
    tkt_writer *writer = chrome->writer;
    const tkt_string *name = &chrome->trace->strings.items[row->name];
    tkt_writer_text(writer, "\"");
    if (row->title)
        tkt_writer_text(writer, row->title);
    else if (row->stream)
        tkt_writer_format(writer, "stream %u", row->stream);
    else if (row->thread_id)
        tkt_writer_format(writer, name->size ? "thread %u (" : "thread %u", row->thread_id);
    else if (!name->size)
        tkt_writer_text(writer, row->order < 0 ? "steps" : "track");
    tkt_chrome_put_text(writer, name->bytes, name->size);
    if (row->thread_id && name->size)
        tkt_writer_text(writer, ")");
    if (row->lane)
        tkt_writer_format(writer, " (%u)", row->lane + 1);
    tkt_writer_text(writer, "\"");
}

void tkt_chrome_announce_slow(tkt_chrome *chrome, tkt_chrome_row *row)
{
    row->part = chrome->part;
    begin_metadata(chrome, "thread_name", row->pid, row->tid, "name");
    put_row_name(chrome, row);
    end_metadata(chrome);
    begin_metadata(chrome, "thread_sort_index", row->pid, row->tid, "sort_index");
    tkt_chrome_put_i64(chrome->writer, row->order);
    end_metadata(chrome);
}

/* ======== Rows ======== */

/* Rows for slices that may overlap, and the spans of async tracks. */

void tkt_chrome_row_init(tkt_chrome_row *row, uint32_t pid, uint32_t tid, int32_t order)
{
    *row = (tkt_chrome_row){.pid = pid, .tid = tid, .order = order};
    char *end = tkt_put_u64(row->text, tid);
    memcpy(end, ",\"ts\":", 6);
    row->text_size = (uint32_t)(end + 6 - row->text);
}

static bool add_lane(tkt_chrome *chrome, tkt_chrome_lanes *lanes)
{
    uint32_t lane = (uint32_t)lanes->rows.count;
    tkt_chrome_row *row = TKT_ARRAY_ADD(&lanes->rows);
    if (!row)
        return false;
    uint32_t tid = lane == 0 && lanes->tid ? lanes->tid : chrome->next_row_id++;
    tkt_chrome_row_init(row, lanes->pid, tid, chrome->next_order++);
    row->name = lanes->name;
    row->title = lanes->title;
    row->stream = lanes->stream;
    row->lane = lane;
    return true;
}

tkt_chrome_row *tkt_chrome_find_row(tkt_chrome *chrome, tkt_chrome_lanes *lanes, uint64_t begin_ns,
                                    uint64_t end_ns)
{
    uint32_t lane = tkt_lanes_take(&lanes->lanes, begin_ns, end_ns);
    if (lane == UINT32_MAX || (lane == lanes->rows.count && !add_lane(chrome, lanes))) {
        chrome->status = TAKT_NO_MEMORY;
        return NULL;
    }
    tkt_chrome_row *row = &lanes->rows.items[lane];
    tkt_chrome_announce(chrome, row);
    return row;
}

void tkt_chrome_lanes_fini(tkt_chrome_lanes *lanes)
{
    TKT_ARRAY_FREE(&lanes->rows);
    tkt_lanes_fini(&lanes->lanes);
}

void tkt_chrome_async_spans(tkt_chrome *chrome, uint32_t track, uint64_t last_ns)
{
    const tkt_spans *spans = &chrome->trace->tracks.items[track].spans;
    tkt_chrome_track *at = &chrome->tracks[track];
    while (at->span < spans->count && spans->items[at->span].begin_ns <= last_ns) {
        const tkt_span *span = &spans->items[at->span];
        if (!tkt_chrome_fits(chrome))
            return;
        tkt_chrome_row *row = tkt_chrome_find_row(chrome, &at->lanes, span->begin_ns, span->end_ns);
        if (!row)
            return;
        tkt_chrome_async_span(chrome, track, row);
    }
}

/* ======== Sites ======== */

/* The texts that all spans of a call site share, created with its first span.
 *
 *     {"ph":"X","cat":"cpu_op","name":"density","pid":7,"tid":      before the row's id
 *     ,"args":{"file":"sph.c:80","category":"physics"}},            after the duration */

static char *put(char *out, const char *text)
{
    size_t size = strlen(text);
    memcpy(out, text, size);
    return out + size;
}

static char *put_escaped(char *out, const takt_trace *trace, uint32_t string)
{
    const tkt_string *text = &trace->strings.items[string];
    return tkt_json_escape(out, text->bytes, text->size);
}

static size_t escaped_bytes(const takt_trace *trace, uint32_t string)
{
    return trace->strings.items[string].size * 6;
}

static char *put_head(char *out, const tkt_chrome *chrome, const tkt_trace_site *site,
                      bool is_async)
{
    const takt_trace *trace = chrome->trace;
    out = put(out, "{\"ph\":\"X\",\"cat\":\"");
    if (site->kind == TAKT_SITE_CALL && site->category)
        out = put_escaped(out, trace, site->category); /* Kineto's cuda_runtime or cuda_driver */
    else
        out = put(out, is_async ? TKT_CHROME_CAT_ASYNC : TKT_CHROME_CAT_SCOPE);
    out = put(out, "\",\"name\":\"");
    out = put_escaped(out, trace, site->name);
    out = put(out, "\",\"pid\":");
    out = tkt_put_u64(out, chrome->pid);
    return put(out, ",\"tid\":");
}

/* Writes "key":" with a comma in front unless it is the first pair. */
static char *put_pair(char *out, const char *begin, const char *key)
{
    out = put(out, out == begin ? "\"" : ",\"");
    out = put(out, key);
    return put(out, "\":\"");
}

/* Writes the arguments that all spans of a site share: its place and kind. */
static char *put_site_args(char *out, const takt_trace *trace, const tkt_trace_site *site)
{
    const char *begin = out;
    if (site->file) {
        const tkt_string *path = &trace->strings.items[site->file];
        const char *name = tkt_base_name(path->bytes);
        out = put_pair(out, begin, "file");
        out = tkt_json_escape(out, name, strlen(name));
        *out++ = ':';
        out = put(tkt_put_u64(out, site->line), "\"");
    }
    if (site->category && site->kind != TAKT_SITE_CALL) {
        out = put_escaped(put_pair(out, begin, "category"), trace, site->category);
        out = put(out, "\"");
    }
    if (site->kind == TAKT_SITE_ACTIVITY) {
        out = put_escaped(put_pair(out, begin, "device"), trace, site->device);
        out = put(out, "\"");
        char kind[32];
        out = put(put_pair(out, begin, "activity"),
                  tkt_activity_label(kind, sizeof kind, site->filter, ""));
        out = put(out, "\"");
    }
    return out;
}

static char *put_tail(char *out, const takt_trace *trace, const tkt_trace_site *site,
                      size_t *args_size)
{
    char *begin = out;
    char *args = put(out, ",\"args\":{");
    out = put_site_args(args, trace, site);
    *args_size = 0;
    if (out == args)
        return put(begin, "},\n");
    *args_size = (size_t)(out - begin);
    return put(out, "}},\n");
}

bool tkt_chrome_make_site(tkt_chrome *chrome, uint32_t number, bool is_async)
{
    const takt_trace *trace = chrome->trace;
    const tkt_trace_site *site = &trace->sites.items[number];
    size_t bytes = 512 + escaped_bytes(trace, site->name) + escaped_bytes(trace, site->file) +
                   escaped_bytes(trace, site->category) + escaped_bytes(trace, site->device);
    char *text = tkt_alloc_zeroed(bytes);
    if (!text)
        return false;

    tkt_chrome_site *made = &chrome->sites[2 * (size_t)number + is_async];
    char *tail = put_head(text, chrome, site, is_async);
    char *end = put_tail(tail, trace, site, &made->args_size);
    size_t kept = (size_t)(end - text) + TKT_CHROME_STRIDE;
    made->head_size = (size_t)(tail - text);
    made->tail_size = (size_t)(end - tail);
    made->head = tkt_arena_copy(&chrome->texts, text, kept);
    made->tail = made->head ? made->head + made->head_size : NULL;
    tkt_free(text);
    return made->head != NULL;
}
