/* The stream of a summary: a small file that is replaced as a whole, less and less often, down to
 * once in two seconds. */
#include "profiler/stream.h"

#include "base/error.h"
#include "export/exporter.h"

#include <string.h>

#define MOST_PAUSE_MS 2000
#define LEAST_PAUSES  20u /* a pause is at least so many times as long as writing took */

/* ---- The trace ------------------------------------------------------------------------------- */

/* Copies what is known of the run, and the steps up to the end of the snapshot. */
static takt_status fill_steps(tkt_stream *stream, takt_trace *trace)
{
    const takt_trace *from = stream->to.trace;
    tkt_stream_take_steps(stream, trace->facts.end_ns);
    trace->all_steps = from->all_steps;
    trace->facts.step_count = from->facts.step_count;
    trace->run = tkt_run_copy(from->run);
    if (!trace->run || !TKT_ARRAY_RESERVE(&trace->steps, from->steps.count))
        return TAKT_NO_MEMORY;
    tkt_run_add_window(trace->run, trace->facts.first_step, trace->facts.step_count);
    if (from->steps.count)
        memcpy(trace->steps.items, from->steps.items, from->steps.count * sizeof(tkt_step));
    trace->steps.count = from->steps.count;
    return TAKT_OK;
}

static takt_status fill(tkt_stream *stream, takt_trace *trace)
{
    const takt_trace *from = stream->to.trace;
    uint32_t name = tkt_trace_string_of(trace, tkt_trace_text(from, from->name));
    if (name == TKT_STRTAB_FULL)
        return TAKT_NO_MEMORY;
    trace->name = name;
    trace->with_flops = from->with_flops;
    trace->device_peak = from->device_peak;
    trace->host_peak = from->host_peak;
    trace->facts.cycle = from->facts.cycle;
    trace->facts.first_step = from->facts.first_step;
    trace->facts.rank = from->facts.rank;
    trace->facts.world_size = from->facts.world_size;
    trace->facts.has_capture_range = from->facts.has_capture_range;
    trace->facts.is_partial = true;
    trace->facts.ending = TAKT_ENDING_KILLED;
    trace->facts.known_until_ns = trace->facts.end_ns;
    takt_status status = fill_steps(stream, trace);
    return status == TAKT_OK ? tkt_trace_finish(trace) : status;
}

/* ---- The file -------------------------------------------------------------------------------- */

static takt_status write_to(const tkt_stream *stream, const takt_trace *trace, const char *path,
                            takt_error *error)
{
    tkt_file file;
    tkt_perfetto_pack pack = {.packer = NULL};
    tkt_writer writer;
    takt_status status = tkt_file_create(&file, path, error);
    if (status != TAKT_OK)
        return status;
    status = tkt_stream_open_writer(stream, &file, &pack, &writer);
    if (status == TAKT_OK) {
        status = tkt_perfetto_export(trace, &writer);
        takt_status written = tkt_writer_fini(&writer);
        status = status == TAKT_OK ? written : status;
    }
    tkt_perfetto_pack_fini(&pack);
    return tkt_file_close(&file, status, error);
}

/* Replaces the file. */
static takt_status replace(tkt_stream *stream, takt_trace *trace, takt_error *error)
{
    takt_status status = fill(stream, trace);
    if (status == TAKT_OK)
        status = write_to(stream, trace, stream->to.file.path, error);
    return status == TAKT_OK ? tkt_file_follow(&stream->to.file, error) : status;
}

/* Logs the first of several failures in a row. */
static void note_result(tkt_stream *stream, takt_status status, const takt_error *error)
{
    if (status != TAKT_OK && !stream->is_broken)
        tkt_log(TAKT_LOG_ERROR, "cycle %u: the summary so far is not saved: %s",
                stream->to.trace->facts.cycle,
                error->message[0] ? error->message : takt_status_text(status));
    tkt_stream_set_broken(stream, status != TAKT_OK);
}

static void write_summary(tkt_stream *stream)
{
    takt_error error = {.status = TAKT_OK};
    takt_trace *trace;
    takt_status status = tkt_window_snapshot(stream->window, &trace);
    if (status == TAKT_BAD_STATE)
        return; /* the window has just ended */
    if (status == TAKT_OK) {
        status = replace(stream, trace, &error);
        takt_trace_release(trace);
    }
    note_result(stream, status, &error);
}

/* ---- The thread ------------------------------------------------------------------------------ */

/* Sets the pause before the next snapshot. */
static void set_pause(tkt_stream *stream, uint64_t took_ns)
{
    uint64_t least_ms = took_ns * LEAST_PAUSES / 1000000;
    stream->pause_ms = stream->pause_ms * 2 < MOST_PAUSE_MS ? stream->pause_ms * 2 : MOST_PAUSE_MS;
    if (least_ms > stream->pause_ms)
        stream->pause_ms = least_ms < UINT32_MAX ? (uint32_t)least_ms : UINT32_MAX;
}

void *tkt_stream_run_summaries(void *argument)
{
    tkt_stream *stream = argument;
    uint64_t end_ticks;
    write_summary(stream);
    while (tkt_stream_wait(stream, &end_ticks)) {
        uint64_t begin_ns = takt_now_ns();
        write_summary(stream);
        set_pause(stream, takt_now_ns() - begin_ns);
    }
    return NULL;
}
