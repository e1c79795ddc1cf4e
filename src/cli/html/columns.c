/* Columns of the page, but those of activities: streams.c. */
#include "cli/html/html.h"

#include <takt/activity.h>

#include <stdlib.h>
#include <string.h>

/* ======== Spans ======== */

/* Columns of spans: those of threads, which nest, and of tracks of their own, which may overlap. */

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
    html_bytes open; /* size_t: the spans around the present one, outermost first */
    html_lanes lanes;
    uint64_t last_ns;
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

/* How many spans are around it. Parents stand before their children, so that the open ones are
 * known; those that this span is not in have ended. */
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

    html_put_varint(&columns[BEGIN], span->begin_ns - to->last_ns);
    html_put_varint(&columns[DURATION], span->end_ns - span->begin_ns);
    html_put_varint(&columns[SITE], html_site(to->writer, span));
    html_put_varint(&columns[DEPTH], depth);
    html_put_varint(&columns[FLAGS], span->flags);
    html_put_varint(&columns[ARGS], html_args_text(to->writer, &to->args, number, index));
    html_put_varint(&columns[STACK], stack == TAKT_NO_STACK ? 0 : stack + 1);
    to->last_ns = span->begin_ns;
    track->rows = depth + 1 > track->rows ? depth + 1 : track->rows;
    track->count++;
}

/* Where each span went, which activities ask for; only where not all are there. */
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
    to->last_ns = to->writer->origin_ns;
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

/* Columns of what is neither span nor activity: marks, waits, steps. */

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

/* Columns of values over time: counters, and memory by device and kind. They come mixed, in the
 * order of their time, and are told apart by their names' addresses. */

static html_series *find(html_series_list *list, const char *name, uint32_t kind, bool is_pool)
{
    for (size_t i = list->count; i-- > 0;) {
        html_series *series = &list->items[i];
        if (series->name == name && series->kind == kind && series->is_pool == is_pool)
            return series;
    }
    return NULL;
}

/* NULL where there is no memory for a further one. */
static html_series *series_of(html_writer *writer, html_series_list *list, html_series like)
{
    html_series *series = find(list, like.name, like.kind, like.is_pool);
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

/* ======== What is left out ======== */

/* What a page leaves out of a trace that is too large for a browser: the shortest events. A span's
 * parents are at least as long as it is, so that hardly anything that is shown hangs in the air.
 * Durations are counted in buckets, sixteen for each power of two; of the bucket in which the room
 * ends, every n-th is kept, so that what is left is spread over the whole recording. */

enum {
    BITS = 4,
    BUCKETS = (64 - BITS + 1) << BITS
};

static unsigned bucket_of(uint64_t duration)
{
    if (duration < 1u << BITS)
        return (unsigned)duration;
    unsigned shift = 63 - BITS - (unsigned)__builtin_clzll(duration);
    return (shift << BITS) + (unsigned)(duration >> shift);
}

/* The smallest duration of a bucket. */
static uint64_t bucket_begin(unsigned bucket)
{
    if (bucket < 2u << BITS)
        return bucket;
    unsigned shift = (bucket >> BITS) - 1;
    return (uint64_t)((bucket & ((1u << BITS) - 1)) | 1u << BITS) << shift;
}

bool html_is_of_device(const takt_activity *activity)
{
    return activity->correlation != 0 || activity->context != 0;
}

static uint64_t count_spans(const takt_trace *trace, uint64_t *counts)
{
    takt_track_info track;
    takt_span_info span;
    uint64_t total = 0;

    for (size_t i = 0; takt_trace_track(trace, i, &track) == TAKT_OK;
         i++, total += track.span_count)
        for (size_t k = 0; counts && takt_trace_span(trace, i, k, &span) == TAKT_OK; k++)
            counts[bucket_of(span.end_ns - span.begin_ns)]++;
    return total;
}

static uint64_t count_activities(const takt_trace *trace, uint64_t *counts)
{
    takt_activity activity;
    uint64_t total = 0;

    for (size_t i = 0; takt_trace_activity(trace, i, &activity) == TAKT_OK; i++)
        if (html_is_of_device(&activity)) {
            total++;
            if (counts)
                counts[bucket_of(activity.end_ns - activity.begin_ns)]++;
        }
    return total;
}

html_limit html_limit_of(const takt_trace *trace, uint64_t most)
{
    static const html_limit no_limit;
    uint64_t counts[BUCKETS] = {0}, kept = 0, total;
    unsigned bucket = BUCKETS - 1;

    total = count_spans(trace, NULL) + count_activities(trace, NULL);
    if (total <= most)
        return no_limit;
    count_spans(trace, counts);
    count_activities(trace, counts);
    for (; kept + counts[bucket] <= most; bucket--)
        kept += counts[bucket];
    uint64_t room = most - kept;
    uint64_t every = room ? (counts[bucket] + room - 1) / room : counts[bucket] + 1;
    kept += counts[bucket] / every;
    return (html_limit){.hidden = total - kept,
                        .below_ns = bucket_begin(bucket),
                        .upto_ns = bucket_begin(bucket + 1),
                        .every = every};
}

bool html_limit_keeps(html_limit *limit, uint64_t duration_ns)
{
    if (duration_ns >= limit->upto_ns)
        return true;
    if (duration_ns < limit->below_ns)
        return false;
    return ++limit->seen % limit->every == 0;
}
