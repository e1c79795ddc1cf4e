/* JSON for speedscope.app, a viewer that draws flame graphs in order of time. The schema is
 * https://www.speedscope.app/file-format-schema.json. Profiles are of type "evented": frames open
 * (O) and close (C) on a row, in order of time, the innermost first. Each thread has a profile.
 * Streams of devices and async tracks have one for each lane, on which nothing overlaps. Times are
 * ns since the earliest event, which JavaScript's numbers represent exactly.
 *
 * A frame is a site or the name of an activity. Frames are numbered in order of appearance, so a
 * trace and its file, whose sites have other numbers, give the same output. */
#include "export/chrome.h"
#include "export/exporter.h"
#include "summary/device.h"

typedef struct slice {
    uint64_t begin_ns;
    uint64_t end_ns;
    uint32_t frame;
} slice;

typedef TKT_ARRAY_OF(slice) slices;

typedef struct frame_source {
    uint32_t name; /* string */
    uint32_t site; /* or 0: an activity of a device */
} frame_source;

/* Slices that may overlap, divided into lanes. */
typedef struct row {
    tkt_lanes lanes;
    TKT_ARRAY_OF(slices) on; /* by lane */
} row;

typedef struct speedscope {
    const takt_trace *trace;
    tkt_writer *writer;
    takt_status status;
    uint64_t base_ns;
    uint64_t now_ns;           /* time of the last event */
    const char *profile_comma; /* text to write before the next profile */
    const char *event_comma;
    uint32_t *of_site; /* frame + 1; 0: none yet */
    uint32_t *of_name; /* by string: frame + 1 of an activity's name; 0: none yet */
    TKT_ARRAY_OF(frame_source) frames;
    tkt_streams streams;
    TKT_ARRAY_OF(row) rows; /* by stream */
} speedscope;

/* ---- Frames ---------------------------------------------------------------------------------- */

static uint32_t frame_of(speedscope *out, uint32_t *known, frame_source source)
{
    if (*known == 0) {
        frame_source *place = TKT_ARRAY_ADD(&out->frames);
        if (!place) {
            out->status = TAKT_NO_MEMORY;
            return 0;
        }
        *place = source;
        *known = (uint32_t)out->frames.count;
    }
    return *known - 1;
}

static uint32_t frame_of_span(speedscope *out, const tkt_span *span)
{
    uint32_t site = tkt_span_site(span);
    return frame_of(out, &out->of_site[site],
                    (frame_source){out->trace->sites.items[site].name, site});
}

/* ---- Profiles -------------------------------------------------------------------------------- */

static void put_string(speedscope *out, uint32_t string)
{
    const tkt_string *text = &out->trace->strings.items[string];
    tkt_chrome_put_text(out->writer, text->bytes, text->size);
}

/* Writes the begin of a profile; the caller writes the name. */
static void begin_profile(speedscope *out)
{
    tkt_writer_text(out->writer, out->profile_comma);
    tkt_writer_text(out->writer, "{\"type\":\"evented\",\"unit\":\"nanoseconds\",\"name\":\"");
    out->profile_comma = ",\n";
    out->event_comma = "";
    out->now_ns = out->base_ns;
}

static void begin_events(speedscope *out)
{
    tkt_writer_text(out->writer, "\",\"events\":[\n");
}

static void end_profile(speedscope *out)
{
    uint64_t end_ns = out->trace->facts.end_ns;
    tkt_writer_text(out->writer, "],\"startValue\":0,\"endValue\":");
    tkt_chrome_put_u64(out->writer, (out->now_ns > end_ns ? out->now_ns : end_ns) - out->base_ns);
    tkt_writer_text(out->writer, "}");
}

/* Times never decrease, even if the trace came from a damaged file. */
static void put_event(speedscope *out, const char *head, uint32_t frame, uint64_t time_ns)
{
    out->now_ns = time_ns > out->now_ns ? time_ns : out->now_ns;
    tkt_writer_text(out->writer, out->event_comma);
    tkt_writer_text(out->writer, head);
    tkt_chrome_put_u64(out->writer, frame);
    tkt_writer_text(out->writer, ",\"at\":");
    tkt_chrome_put_u64(out->writer, out->now_ns - out->base_ns);
    out->event_comma = "},\n";
}

static void put_open(speedscope *out, uint32_t frame, uint64_t time_ns)
{
    put_event(out, "{\"type\":\"O\",\"frame\":", frame, time_ns);
}

static void put_close(speedscope *out, uint32_t frame, uint64_t time_ns)
{
    put_event(out, "{\"type\":\"C\",\"frame\":", frame, time_ns);
}

static void end_events(speedscope *out)
{
    tkt_writer_text(out->writer, *out->event_comma ? "}\n" : "");
    end_profile(out);
}

/* ---- Threads --------------------------------------------------------------------------------- */

/* Closes the open spans inside `until`. */
static void close_spans(speedscope *out, const tkt_spans *spans, uint32_t open, uint32_t until)
{
    for (; open != until && open != TKT_NO_SPAN; open = spans->items[open].parent)
        put_close(out, frame_of_span(out, &spans->items[open]), spans->items[open].end_ns);
}

static void put_thread(speedscope *out, const tkt_track *track)
{
    const tkt_spans *spans = &track->spans;
    uint32_t open = TKT_NO_SPAN;
    begin_profile(out);
    tkt_writer_format(out->writer, track->name ? "thread %u (" : "thread %u", track->thread_id);
    put_string(out, track->name);
    tkt_writer_text(out->writer, track->name ? ")" : "");
    begin_events(out);
    for (uint32_t i = 0; i < spans->count; i++) {
        close_spans(out, spans, open, spans->items[i].parent);
        put_open(out, frame_of_span(out, &spans->items[i]), spans->items[i].begin_ns);
        open = i;
    }
    close_spans(out, spans, open, TKT_NO_SPAN);
    end_events(out);
}

/* ---- Rows with overlapping slices ------------------------------------------------------------ */

static bool add_slice(row *to, slice added)
{
    uint32_t lane = tkt_lanes_take(&to->lanes, added.begin_ns, added.end_ns);
    if (lane == to->on.count) {
        slices *first = TKT_ARRAY_ADD(&to->on);
        if (!first)
            return false;
        *first = (slices){0};
    }
    slice *place = lane < to->on.count ? TKT_ARRAY_ADD(&to->on.items[lane]) : NULL;
    if (place)
        *place = added;
    return place != NULL;
}

static void put_slices(speedscope *out, const slices *lane)
{
    for (size_t i = 0; i < lane->count; i++) {
        put_open(out, lane->items[i].frame, lane->items[i].begin_ns);
        put_close(out, lane->items[i].frame, lane->items[i].end_ns);
    }
}

/* `name` is the row's name; if `stream` is not NULL, it is the device's. */
static void put_row(speedscope *out, const row *from, uint32_t name, const tkt_stream_key *stream)
{
    for (size_t lane = 0; lane < from->on.count; lane++) {
        begin_profile(out);
        put_string(out, name);
        if (stream)
            tkt_writer_format(out->writer, " stream %u", stream->stream);
        if (lane)
            tkt_writer_format(out->writer, " (%zu)", lane + 1);
        begin_events(out);
        put_slices(out, &from->on.items[lane]);
        end_events(out);
    }
}

static void row_fini(row *from)
{
    for (size_t i = 0; i < from->on.count; i++)
        TKT_ARRAY_FREE(&from->on.items[i]);
    TKT_ARRAY_FREE(&from->on);
    tkt_lanes_fini(&from->lanes);
}

static void put_async(speedscope *out, const tkt_track *track)
{
    row lanes = {0};
    for (size_t i = 0; i < track->spans.count; i++) {
        const tkt_span *span = &track->spans.items[i];
        if (!add_slice(&lanes, (slice){span->begin_ns, span->end_ns, frame_of_span(out, span)}))
            out->status = TAKT_NO_MEMORY;
    }
    put_row(out, &lanes, track->name, NULL);
    row_fini(&lanes);
}

/* ---- Devices --------------------------------------------------------------------------------- */

static row *row_of(speedscope *out, const tkt_activity *activity)
{
    uint32_t number = tkt_stream_number(&out->streams, activity);
    row *added = number == out->rows.count ? TKT_ARRAY_ADD(&out->rows) : NULL;
    if (added)
        *added = (row){0};
    return number < out->rows.count ? &out->rows.items[number] : NULL;
}

static void add_activity(void *user, const tkt_activity *activity)
{
    speedscope *out = user;
    row *on = row_of(out, activity);
    uint32_t number =
        frame_of(out, &out->of_name[activity->name], (frame_source){activity->name, 0});
    if (!on || !add_slice(on, (slice){activity->begin_ns, activity->end_ns, number}))
        out->status = TAKT_NO_MEMORY;
}

static void put_devices(speedscope *out)
{
    takt_status status = tkt_device_visit(out->trace, add_activity, out);
    out->status = status == TAKT_OK ? out->status : status;
    for (size_t i = 0; i < out->rows.count; i++) {
        const tkt_stream_key *stream = &out->streams.keys.items[i];
        put_row(out, &out->rows.items[i], stream->device, stream);
    }
}

/* ---- The file -------------------------------------------------------------------------------- */

static void put_frame(speedscope *out, const frame_source *from)
{
    const tkt_trace_site *site = &out->trace->sites.items[from->site];
    tkt_writer_text(out->writer, "{\"name\":\"");
    put_string(out, from->name);
    if (site->file) {
        tkt_writer_text(out->writer, "\",\"file\":\"");
        put_string(out, site->file);
        tkt_writer_format(out->writer, "\",\"line\":%u}", site->line);
    } else {
        tkt_writer_text(out->writer, "\"}");
    }
}

static void put_frames(speedscope *out)
{
    for (size_t i = 0; i < out->frames.count; i++) {
        tkt_writer_text(out->writer, i ? ",\n" : "");
        put_frame(out, &out->frames.items[i]);
    }
}

/* Threads come first, because the viewer opens the first profile. */
static void put_tracks(speedscope *out, bool is_async)
{
    const takt_trace *trace = out->trace;
    for (size_t i = 0; i < trace->tracks.count && out->status == TAKT_OK; i++) {
        const tkt_track *track = &trace->tracks.items[i];
        if ((track->kind == TAKT_TRACK_ASYNC) != is_async || track->spans.count == 0)
            continue;
        if (is_async)
            put_async(out, track);
        else
            put_thread(out, track);
    }
}

static void put_document(speedscope *out)
{
    const takt_trace *trace = out->trace;
    tkt_writer_format(out->writer,
                      "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
                      "\"exporter\":\"takt %s\",\n\"name\":\"",
                      takt_version());
    put_string(out, trace->name);
    tkt_writer_text(out->writer, "\",\n\"activeProfileIndex\":0,\n\"profiles\":[\n");
    put_tracks(out, false);
    put_tracks(out, true);
    put_devices(out);
    tkt_writer_text(out->writer, "],\n\"shared\":{\"frames\":[\n");
    put_frames(out);
    tkt_writer_text(out->writer, "\n]}}\n");
}

static takt_status write_speedscope(const takt_trace *trace, tkt_writer *writer)
{
    speedscope out = {.trace = trace,
                      .writer = writer,
                      .base_ns = tkt_earliest_ns(trace),
                      .profile_comma = "",
                      .of_site = tkt_alloc_zeroed(trace->sites.count * sizeof *out.of_site),
                      .of_name = tkt_alloc_zeroed(trace->strings.count * sizeof *out.of_name)};
    if (out.of_site && out.of_name)
        put_document(&out);
    else
        out.status = TAKT_NO_MEMORY;
    for (size_t i = 0; i < out.rows.count; i++)
        row_fini(&out.rows.items[i]);
    TKT_ARRAY_FREE(&out.rows);
    TKT_ARRAY_FREE(&out.frames);
    tkt_streams_fini(&out.streams);
    tkt_free(out.of_site);
    tkt_free(out.of_name);
    return out.status;
}

const tkt_exporter tkt_speedscope_exporter = {
    .name = "speedscope",
    .suffix = ".speedscope.json",
    .needs_spans = true,
    .write = write_speedscope,
};
