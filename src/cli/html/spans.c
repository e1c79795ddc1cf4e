/* Columns of spans: those of threads, which nest, and of tracks of their own, which may overlap. */
#include "cli/html/html.h"

#include <stdlib.h>

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
