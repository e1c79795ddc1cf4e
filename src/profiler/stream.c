/* A stream is sealing in slices. Ten times a second the time since the last slice is sealed like a
 * window of its own: spans that reach over its ends come back marked. A span that was begun before
 * has its begin in the file already, one that is unfinished gets its end from a later slice. So
 * each row of the file is in order and nests, at whatever moment it is cut off.
 *
 * A thread may read its clock for an end, be suspended, and publish the span when the slice is
 * already sealed: to the stream it looks open for ever. When it is no longer among the spans that a
 * slice begins with, it is ended where the slice begins. */
#include "profiler/stream.h"

#include "base/error.h"
#include "base/file.h"
#include "base/thread.h"
#include "export/perfetto.h"
#include "trace/seal.h"

#include <stdio.h>

#define SLICE_MS 100

/* A row of the file that belongs to a thread or async track. */
typedef struct row_state {
    uint32_t track;      /* of the stream's trace */
    uint32_t open_count; /* slices begun and not ended */
} row_state;

struct tkt_stream {
    const tkt_window *window;
    tkt_file file;
    tkt_writer writer;
    tkt_perfetto perfetto;
    takt_trace *trace; /* names, sites and tracks so far; no spans */
    tkt_map rows;      /* thread's serial, or ~name of an async track -> index in states + 1 */
    TKT_ARRAY_OF(row_state) states;
    uint64_t sealed_ticks; /* the end of the last slice */
    uint64_t memory_bytes; /* allocated then */

    tkt_thread thread;
    tkt_mutex lock;
    tkt_condition changed;
    bool is_ended;                /* lock */
    TKT_ARRAY_OF(tkt_step) steps; /* lock; not yet written */
};

/* ---- From a slice's names to the stream's ---------------------------------------------------- */

static uint32_t string_of(tkt_stream *stream, const takt_trace *slice, uint32_t string)
{
    const tkt_string *from = &slice->strings.items[string];
    uint32_t to = tkt_trace_string(stream->trace, from->bytes, from->size);
    return to == TKT_STRTAB_FULL ? 0 : to;
}

static uint32_t site_of(tkt_stream *stream, const takt_trace *slice, uint32_t index)
{
    tkt_trace_site site = slice->sites.items[index];
    site.name = string_of(stream, slice, site.name);
    site.category = string_of(stream, slice, site.category);
    site.file = string_of(stream, slice, site.file);
    site.function = string_of(stream, slice, site.function);
    site.device = string_of(stream, slice, site.device);
    uint32_t to = tkt_trace_site_index(stream->trace, &site);
    return to == UINT32_MAX ? 0 : to;
}

/* What is known of the row of a slice's track; NULL when there is no memory. */
static row_state *state_of(tkt_stream *stream, const takt_trace *slice, const tkt_track *track)
{
    uint32_t name = string_of(stream, slice, track->name);
    uint64_t key = track->serial ? track->serial : ~(uint64_t)name;
    uint64_t *index = tkt_map_put(&stream->rows, key);
    if (!index)
        return NULL;
    if (*index == 0) {
        uint32_t mine = tkt_trace_add_track(stream->trace, track->kind, name, track->thread_id);
        row_state *state = mine == TKT_NO_TRACK ? NULL : TKT_ARRAY_ADD(&stream->states);
        if (!state) {
            tkt_map_remove(&stream->rows, key);
            return NULL;
        }
        *state = (row_state){.track = mine};
        *index = stream->states.count;
    }
    return &stream->states.items[*index - 1];
}

/* ---- A slice of a track ---------------------------------------------------------------------- */

/* The walk over one track: spans in preorder, with a stack of those that are open. */
typedef struct walk {
    tkt_stream *stream;
    const takt_trace *slice;
    const tkt_track *track;
    row_state *state;
    uint32_t row;
    size_t arg; /* the next argument and work to be written */
    size_t work;
    TKT_ARRAY_OF(uint32_t) open; /* spans of the slice, outermost first */
} walk;

/* Ends the innermost open span, if it has ended. */
static void end_innermost(walk *w)
{
    const tkt_span *span = &w->track->spans.items[w->open.items[--w->open.count]];
    if (tkt_span_flags(span) & TAKT_SPAN_UNFINISHED)
        return;
    tkt_perfetto_end(&w->stream->perfetto, w->row, span->end_ns);
    w->state->open_count--;
}

static void annotate(walk *w, uint32_t span)
{
    const tkt_args *args = &w->track->args;
    for (; w->arg < args->count && args->items[w->arg].span <= span; w->arg++) {
        tkt_arg arg = args->items[w->arg];
        arg.key = string_of(w->stream, w->slice, arg.key);
        if (arg.type == TKT_ARG_STRING)
            arg.value.string = string_of(w->stream, w->slice, arg.value.string);
        if (arg.span == span)
            tkt_perfetto_arg(&w->stream->perfetto, w->row, &arg);
    }
    const tkt_works *works = &w->track->works;
    for (; w->work < works->count && works->items[w->work].span <= span; w->work++)
        if (works->items[w->work].span == span)
            tkt_perfetto_work(&w->stream->perfetto, w->row, &works->items[w->work]);
}

static void begin_span(walk *w, uint32_t index)
{
    const tkt_span *span = &w->track->spans.items[index];
    while (w->open.count > 0 && w->open.items[w->open.count - 1] != span->parent)
        end_innermost(w);
    bool is_known =
        tkt_span_flags(span) & TAKT_SPAN_BEGUN_BEFORE && w->open.count < w->state->open_count;
    if (!is_known) {
        annotate(w, index);
        tkt_perfetto_begin(&w->stream->perfetto, w->row,
                           site_of(w->stream, w->slice, tkt_span_site(span)), span->begin_ns);
        w->state->open_count++;
    }
    uint32_t *open = TKT_ARRAY_ADD(&w->open);
    if (open)
        *open = index;
}

/* Ends what the file holds as open and the slice no longer does. */
static void end_lost(walk *w, uint64_t begin_ns)
{
    uint32_t kept = 0;
    const tkt_spans *spans = &w->track->spans;
    while (kept < spans->count && (tkt_span_flags(&spans->items[kept]) & TAKT_SPAN_BEGUN_BEFORE) &&
           spans->items[kept].parent == (kept ? kept - 1 : TKT_NO_SPAN))
        kept++;
    for (; w->state->open_count > kept; w->state->open_count--)
        tkt_perfetto_end(&w->stream->perfetto, w->row, begin_ns);
}

static void write_thread(walk *w)
{
    end_lost(w, w->slice->facts.begin_ns);
    for (uint32_t i = 0; i < w->track->spans.count; i++)
        begin_span(w, i);
    while (w->open.count > 0)
        end_innermost(w);
    TKT_ARRAY_FREE(&w->open);
}

/* Spans of an async track are written whole, in the slice in which they end. */
static void write_async(walk *w)
{
    for (size_t i = 0; i < w->track->spans.count; i++) {
        const tkt_span *span = &w->track->spans.items[i];
        if (tkt_span_flags(span) & TAKT_SPAN_UNFINISHED)
            continue;
        uint32_t row = tkt_perfetto_lane_for(&w->stream->perfetto, w->state->track, span->begin_ns,
                                             span->end_ns);
        uint32_t site = site_of(w->stream, w->slice, tkt_span_site(span));
        tkt_perfetto_begin(&w->stream->perfetto, row, site, span->begin_ns);
        tkt_perfetto_end(&w->stream->perfetto, row, span->end_ns);
    }
}

static void write_track(tkt_stream *stream, const takt_trace *slice, const tkt_track *track)
{
    walk w = {.stream = stream, .slice = slice, .track = track};
    w.state = state_of(stream, slice, track);
    if (!w.state)
        return;
    w.row = tkt_perfetto_track(&stream->perfetto, w.state->track);
    if (track->kind == TAKT_TRACK_THREAD)
        write_thread(&w);
    else
        write_async(&w);
}

/* ---- What is beside the spans ---------------------------------------------------------------- */

/* The row of a track of the slice, which write_track() has opened. */
static uint32_t row_of(tkt_stream *stream, const takt_trace *slice, uint32_t track)
{
    row_state *state = state_of(stream, slice, &slice->tracks.items[track]);
    return tkt_perfetto_track(&stream->perfetto, state ? state->track : 0);
}

static void write_marks_and_counters(tkt_stream *stream, const takt_trace *slice)
{
    for (size_t i = 0; i < slice->marks.count; i++) {
        const tkt_mark *mark = &slice->marks.items[i];
        tkt_perfetto_mark(&stream->perfetto, row_of(stream, slice, mark->track),
                          site_of(stream, slice, mark->site), mark->time_ns);
    }
    for (size_t i = 0; i < slice->counters.count; i++) {
        tkt_counter counter = slice->counters.items[i];
        counter.name = string_of(stream, slice, counter.name);
        tkt_perfetto_counter(&stream->perfetto, row_of(stream, slice, counter.track), &counter);
    }
}

static void write_flows_and_memory(tkt_stream *stream, const takt_trace *slice)
{
    for (size_t i = 0; i < slice->flows.count; i++)
        tkt_perfetto_flow(&stream->perfetto, row_of(stream, slice, slice->flows.items[i].track),
                          &slice->flows.items[i]);
    for (size_t i = 0; i < slice->memory_events.count; i++) {
        const tkt_memory_event *event = &slice->memory_events.items[i];
        stream->memory_bytes += (uint64_t)event->bytes;
        tkt_perfetto_memory(&stream->perfetto, row_of(stream, slice, event->track), event,
                            stream->memory_bytes);
    }
}

static void write_steps(tkt_stream *stream)
{
    const tkt_clock_fit *fit = tkt_window_fit(stream->window);
    tkt_mutex_lock(&stream->lock);
    for (size_t i = 0; i < stream->steps.count; i++) {
        const tkt_step *step = &stream->steps.items[i];
        const tkt_step in_ns = {step->number, tkt_clock_ns(fit, step->begin_ns),
                                tkt_clock_ns(fit, step->end_ns)};
        tkt_perfetto_step(&stream->perfetto, &in_ns);
    }
    stream->steps.count = 0;
    tkt_mutex_unlock(&stream->lock);
}

/* ---- Slices ---------------------------------------------------------------------------------- */

static void write_slice(tkt_stream *stream)
{
    const tkt_seal_window what = {.begin_ticks = stream->sealed_ticks + 1,
                                  .end_ticks = tkt_ticks(),
                                  .fit = *tkt_window_fit(stream->window),
                                  .with_spans = true};
    takt_trace *slice;
    if (tkt_seal(&what, &slice) != TAKT_OK)
        return;
    if (tkt_trace_finish(slice) != TAKT_OK) { /* puts arguments, async spans, events in order */
        takt_trace_release(slice);
        return;
    }
    slice->facts.begin_ns = tkt_clock_ns(&what.fit, what.begin_ticks);
    for (size_t i = 0; i < slice->tracks.count; i++)
        write_track(stream, slice, &slice->tracks.items[i]);
    write_marks_and_counters(stream, slice);
    write_flows_and_memory(stream, slice);
    write_steps(stream);
    takt_trace_release(slice);
    stream->sealed_ticks = what.end_ticks;
    stream->trace->facts.end_ns = tkt_clock_ns(&what.fit, what.end_ticks);
    tkt_perfetto_facts(&stream->perfetto);
    tkt_writer_flush(&stream->writer);
}

static bool wait_for_slice(tkt_stream *stream)
{
    tkt_mutex_lock(&stream->lock);
    if (!stream->is_ended)
        tkt_condition_wait_for(&stream->changed, &stream->lock, SLICE_MS);
    bool is_ended = stream->is_ended;
    tkt_mutex_unlock(&stream->lock);
    return !is_ended;
}

static void *run(void *argument)
{
    tkt_stream *stream = argument;
    while (wait_for_slice(stream))
        write_slice(stream);
    return NULL;
}

/* ---- Starting and stopping ------------------------------------------------------------------- */

static takt_status create_trace(tkt_stream *stream, const tkt_saved_options *options,
                                uint32_t cycle)
{
    takt_status status = tkt_trace_create(&stream->trace);
    if (status != TAKT_OK)
        return status;
    status = tkt_window_describe(stream->window, stream->trace);
    if (status != TAKT_OK)
        return status;
    stream->trace->facts.end_ns = stream->trace->facts.begin_ns;
    stream->trace->facts.cycle = cycle;
    stream->trace->facts.is_partial = true;
    stream->trace->name = tkt_trace_string_of(stream->trace, options->given.name);
    return stream->trace->name == TKT_STRTAB_FULL ? TAKT_NO_MEMORY : TAKT_OK;
}

static takt_status open_file(tkt_stream *stream, const tkt_saved_options *options, uint32_t cycle,
                             takt_error *error)
{
    char path[4096];
    takt_status status = tkt_folder_create(options->directory, error);
    if (status != TAKT_OK)
        return status;
    snprintf(path, sizeof path, "%s/%s.%u.partial.pftrace", options->directory, options->file_name,
             cycle);
    status = tkt_file_create_open(&stream->file, path, error);
    if (status == TAKT_OK)
        status = tkt_writer_init(&stream->writer, tkt_file_sink(&stream->file), 0);
    if (status == TAKT_OK)
        status = create_trace(stream, options, cycle);
    return status;
}

tkt_stream *tkt_stream_start(const tkt_saved_options *options, uint32_t cycle,
                             const tkt_window *window)
{
    takt_error error = {.message = "out of memory"};
    tkt_stream *stream = tkt_alloc_zeroed(sizeof *stream);
    if (!stream) {
        tkt_log(TAKT_LOG_ERROR, "cycle %u is not streamed: %s", cycle, error.message);
        return NULL;
    }
    stream->file.fd = -1;
    stream->window = window;
    stream->sealed_ticks = tkt_window_begin_ticks(window) - 1;
    stream->memory_bytes = tkt_memory_now().current_bytes;
    tkt_mutex_init(&stream->lock);
    stream->changed = (tkt_condition)TKT_CONDITION_INIT;
    takt_status status = open_file(stream, options, cycle, &error);
    if (status == TAKT_OK) {
        tkt_perfetto_open(&stream->perfetto, &stream->writer, stream->trace);
        status = stream->perfetto.status;
    }
    if (status == TAKT_OK)
        status = tkt_thread_start(&stream->thread, "takt-stream", run, stream);
    if (status == TAKT_OK)
        return stream;
    tkt_log(TAKT_LOG_ERROR, "cycle %u is not streamed: %s", cycle, error.message);
    tkt_stream_destroy(stream, true);
    return NULL;
}

void tkt_stream_step(tkt_stream *stream, const tkt_step *step)
{
    tkt_mutex_lock(&stream->lock);
    tkt_step *copy = TKT_ARRAY_ADD(&stream->steps);
    if (copy)
        *copy = *step;
    tkt_mutex_unlock(&stream->lock);
}

void tkt_stream_stop(tkt_stream *stream)
{
    if (!stream)
        return;
    tkt_mutex_lock(&stream->lock);
    stream->is_ended = true;
    tkt_condition_wake_all(&stream->changed);
    tkt_mutex_unlock(&stream->lock);
    tkt_thread_join(stream->thread);
}

void tkt_stream_destroy(tkt_stream *stream, bool remove_file)
{
    if (!stream)
        return;
    if (stream->perfetto.writer)
        tkt_perfetto_close(&stream->perfetto);
    tkt_writer_fini(&stream->writer);
    if (remove_file)
        tkt_file_discard(&stream->file);
    else
        tkt_file_close(&stream->file, TAKT_OK, NULL);
    takt_trace_release(stream->trace);
    tkt_map_fini(&stream->rows);
    TKT_ARRAY_FREE(&stream->states);
    TKT_ARRAY_FREE(&stream->steps);
    tkt_mutex_fini(&stream->lock);
    tkt_free(stream);
}
