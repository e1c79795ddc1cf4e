/* All columns of the page except those of activities, which streams.c writes. */
#include "cli/html/html.h"

#include <stdlib.h>
#include <string.h>

/* ======== Spans ======== */

/* Columns of spans. Spans of threads nest; spans of async tracks may overlap. */

enum {
    BEGIN,
    DURATION,
    SITE,
    DEPTH,
    FLAGS,
    ARGS,
    STACK,
    COLUMNS
};

typedef struct span_writer {
    html_writer *writer;
    html_packed *out;
    html_bytes columns[COLUMNS];
    html_args args;
    html_bytes open; /* array of size_t: the enclosing spans, outermost first */
    html_lanes lanes;
    uint64_t last_end_ns;
} span_writer;

uint32_t html_lane(html_lanes *lanes, uint64_t begin_ns, uint64_t end_ns)
{
    uint32_t lane = 0;
    while (lane < lanes->count && lanes->end_ns[lane] > begin_ns)
        lane++;
    if (lane == HTML_MOST_LANES)
        lane--;
    else if (lane == lanes->count)
        lanes->count++;
    lanes->end_ns[lane] = end_ns;
    return lane;
}

/* Returns the number of enclosing spans. A parent comes before its children, so `open` holds the
 * candidates; those that do not enclose this span have ended. */
static uint32_t depth_of(html_bytes *open, size_t index, size_t parent)
{
    size_t *spans = (void *)open->data, count = open->used / sizeof index;
    while (count > 0 && spans[count - 1] != parent)
        count--;
    open->used = count * sizeof index;
    html_put(open, &index, sizeof index);
    return (uint32_t)count;
}

static void put_span(span_writer *to, html_track *track, const takt_span_info *span, size_t number,
                     size_t index, uint32_t depth)
{
    html_bytes *columns = to->columns;
    size_t stack = takt_trace_span_stack(to->writer->trace, number, index);

    html_put_zigzag(&columns[BEGIN], (int64_t)(span->begin_ns - to->last_end_ns));
    html_put_varint(&columns[DURATION], span->end_ns - span->begin_ns);
    html_put_varint(&columns[SITE], html_site(to->writer, span));
    html_put_varint(&columns[DEPTH], depth);
    html_put_varint(&columns[FLAGS], span->flags);
    html_put_varint(&columns[ARGS], html_args_text(to->writer, &to->args, number, index));
    html_put_varint(&columns[STACK], stack == TAKT_NO_STACK ? 0 : stack + 1);
    to->last_end_ns = span->end_ns;
    track->rows = depth + 1 > track->rows ? depth + 1 : track->rows;
    track->count++;
}

/* Allocates the indices of spans in the page, which activities refer to. NULL if no event is
 * hidden: the indices are then the same as in the trace. */
static uint32_t *places_for(html_writer *writer, size_t span_count)
{
    if (!writer->limit.hidden || span_count == 0)
        return NULL;
    uint32_t *places = calloc(span_count, sizeof *places);
    writer->has_failed |= !places;
    return places;
}

static void write_track(span_writer *to, size_t number)
{
    html_track *track = &to->writer->tracks[number];
    takt_track_info info;
    takt_span_info span;

    if (takt_trace_track(to->writer->trace, number, &info) != TAKT_OK)
        return;
    *track = (html_track){.kind = info.kind == TAKT_TRACK_ASYNC ? "async" : "thread",
                          .name = info.name,
                          .group = "host",
                          .thread = info.thread_id,
                          .places = places_for(to->writer, info.span_count)};
    to->last_end_ns = to->writer->origin_ns;
    to->open.used = 0;
    to->lanes.count = 0;
    for (size_t i = 0; takt_trace_span(to->writer->trace, number, i, &span) == TAKT_OK; i++) {
        bool is_kept = html_limit_keeps(&to->writer->limit, span.end_ns - span.begin_ns);
        uint32_t depth = info.kind == TAKT_TRACK_THREAD ? depth_of(&to->open, i, span.parent)
                         : is_kept ? html_lane(&to->lanes, span.begin_ns, span.end_ns)
                                   : 0;
        if (is_kept)
            put_span(to, track, &span, number, i, depth);
        else
            track->hidden++;
        if (track->places && is_kept)
            track->places[i] = (uint32_t)track->count;
    }
    for (size_t i = 0; i < COLUMNS; i++)
        html_packed_column(to->out, &to->columns[i]);
}

void html_write_spans(html_writer *writer, html_packed *out)
{
    span_writer to = {.writer = writer, .out = out};

    for (size_t i = 0; i < writer->host_count; i++)
        write_track(&to, i);
    writer->has_failed |= to.args.text.has_failed || to.open.has_failed;
    for (size_t i = 0; i < COLUMNS; i++)
        free(to.columns[i].data);
    free(to.args.text.data);
    free(to.open.data);
}

/* ======== Marks, waits, steps ======== */

/* Columns of events that are neither spans nor activities. */

enum {
    MOST_COLUMNS = 5
};

typedef struct columns {
    html_bytes of[MOST_COLUMNS];
    uint64_t last_ns;
} columns;

static void put_time(columns *to, uint64_t time_ns)
{
    html_put_varint(&to->of[0], time_ns - to->last_ns);
    to->last_ns = time_ns;
}

static void write_out(columns *from, size_t count, html_packed *out)
{
    for (size_t i = 0; i < count; i++) {
        html_packed_column(out, &from->of[i]);
        free(from->of[i].data);
    }
}

static void write_marks(html_writer *writer, html_packed *out)
{
    columns to = {.last_ns = writer->origin_ns};
    takt_mark_info mark;

    for (size_t i = 0; takt_trace_mark(writer->trace, i, &mark) == TAKT_OK; i++) {
        put_time(&to, mark.time_ns);
        html_put_varint(&to.of[1], html_text(writer, mark.name));
        html_put_varint(&to.of[2], mark.track);
    }
    write_out(&to, 3, out);
}

static void write_waits(html_writer *writer, html_packed *out)
{
    columns to = {.last_ns = writer->origin_ns};
    takt_wait_info wait;

    for (size_t i = 0; takt_trace_wait(writer->trace, i, &wait) == TAKT_OK; i++) {
        put_time(&to, wait.begin_ns);
        html_put_varint(&to.of[1], wait.end_ns - wait.begin_ns);
        html_put_varint(&to.of[2], wait.kind);
        html_put_varint(&to.of[3], wait.context);
        html_put_varint(&to.of[4], wait.stream == UINT32_MAX ? 0 : (uint64_t)wait.stream + 1);
    }
    write_out(&to, 5, out);
}

static void write_steps(html_writer *writer, html_packed *out)
{
    columns to = {.last_ns = writer->origin_ns};
    takt_step_info step;
    uint64_t last = 0;

    for (size_t i = 0; takt_trace_step(writer->trace, i, &step) == TAKT_OK; i++) {
        put_time(&to, step.begin_ns);
        html_put_varint(&to.of[1], step.end_ns - step.begin_ns);
        html_put_varint(&to.of[2], step.number - last);
        last = step.number;
    }
    write_out(&to, 3, out);
}

void html_write_events(html_writer *writer, html_packed *out)
{
    html_write_counters(writer, out);
    html_write_memory(writer, out);
    write_marks(writer, out);
    write_waits(writer, out);
    write_steps(writer, out);
}

/* ======== Values over time ======== */

/* Columns of counters, and of memory by device and kind. Samples of all series are mixed, in order
 * of time. A series is found by the address of its name. */

static html_series *find_series(html_series_list *list, const char *name, uint32_t kind,
                                bool is_pool)
{
    for (size_t i = list->count; i-- > 0;) {
        html_series *series = &list->items[i];
        if (series->name == name && series->kind == kind && series->is_pool == is_pool)
            return series;
    }
    return NULL;
}

/* Returns a series and adds it if it is missing. NULL: no memory. */
static html_series *series_of(html_writer *writer, html_series_list *list, html_series like)
{
    html_series *series = find_series(list, like.name, like.kind, like.is_pool);
    if (series)
        return series;
    series = realloc(list->items, (list->count + 1) * sizeof *series);
    writer->has_failed |= !series;
    if (!series)
        return NULL;
    list->items = series;
    series[list->count] = like;
    series[list->count].last_ns = writer->origin_ns;
    return &series[list->count++];
}

static void put_moment(html_series *series, uint64_t time_ns)
{
    html_put_varint(&series->times, time_ns - series->last_ns);
    series->last_ns = time_ns;
    series->count++;
}

static void write_all(html_series_list *list, html_packed *out)
{
    for (size_t i = 0; i < list->count; i++) {
        html_packed_column(out, &list->items[i].times);
        html_packed_column(out, &list->items[i].values);
    }
}

static void put_double(html_bytes *out, double value)
{
    uint64_t bits;
    unsigned char bytes[8];
    memcpy(&bits, &value, sizeof bits);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(bits >> 8 * i);
    html_put(out, bytes, sizeof bytes);
}

void html_write_counters(html_writer *writer, html_packed *out)
{
    takt_counter_info counter;

    for (size_t i = 0; takt_trace_counter(writer->trace, i, &counter) == TAKT_OK; i++) {
        html_series *series =
            series_of(writer, &writer->counters, (html_series){.name = counter.name});
        if (!series)
            return;
        put_moment(series, counter.time_ns);
        put_double(&series->values, counter.value);
    }
    write_all(&writer->counters, out);
}

void html_write_memory(html_writer *writer, html_packed *out)
{
    takt_memory_info memory;

    for (size_t i = 0; takt_trace_memory(writer->trace, i, &memory) == TAKT_OK; i++) {
        html_series *series = series_of(
            writer, &writer->memory,
            (html_series){.name = memory.device, .kind = memory.kind, .is_pool = memory.is_pool});
        if (!series)
            return;
        put_moment(series, memory.time_ns);
        html_put_zigzag(&series->values, memory.bytes);
    }
    write_all(&writer->memory, out);
}

void html_series_free(html_series_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->items[i].times.data);
        free(list->items[i].values.data);
    }
    free(list->items);
}
