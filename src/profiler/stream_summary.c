/* The stream of a summary: a small file that is replaced as a whole, less and less often, down to
 * once in two seconds. */
#include "profiler/stream.h"

#include "base/error.h"
#include "export/exporter.h"

#include <errno.h>
#include <string.h>

#define MOST_PAUSES  20   /* of a stream of spans: the longest pause */
#define TAKE_MS      200  /* the longest time until steps are taken */
#define STEPS_PER_MS 100u /* the pause for many steps, which take time to write */

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
    trace->losses[TAKT_LOSS_MORE_STEPS] = from->facts.step_count - from->steps.count;
    return TAKT_OK;
}

static takt_status fill(tkt_stream *stream, takt_trace *trace)
{
    const takt_trace *from = stream->to.trace;
    trace->facts.cycle = from->facts.cycle;
    trace->facts.first_step = from->facts.first_step;
    trace->facts.is_partial = true;
    trace->facts.ending = TAKT_ENDING_KILLED;
    trace->facts.known_until_ns = trace->facts.end_ns;
    takt_status status = tkt_options_describe(stream->options, trace);
    if (status == TAKT_OK)
        status = fill_steps(stream, trace);
    return status == TAKT_OK ? tkt_trace_finish(trace) : status;
}

/* ---- The file -------------------------------------------------------------------------------- */

/* Why a snapshot could not be written. */
typedef struct failure {
    int reason; /* for tkt_file_reason() */
    takt_error error;
} failure;

static takt_status write_trace(const tkt_stream *stream, const takt_trace *trace, tkt_file *file)
{
    tkt_perfetto_pack pack = {.packer = NULL};
    tkt_writer writer;
    takt_status status = tkt_stream_open_writer(stream, file, &pack, &writer);
    if (status == TAKT_OK) {
        status = tkt_perfetto_export(trace, &writer);
        takt_status written = tkt_writer_fini(&writer);
        status = status == TAKT_OK ? written : status;
    }
    tkt_perfetto_pack_fini(&pack);
    return status;
}

/* Writes the trace to a file of its own that then takes the place of the stream's file. */
static takt_status replace_file(tkt_stream *stream, const takt_trace *trace, failure *why)
{
    tkt_file file;
    takt_status status = tkt_file_create(&file, stream->to.file.path, &why->error);
    if (status == TAKT_OK) {
        status = write_trace(stream, trace, &file);
        if (status == TAKT_OK && !tkt_file_is_there(&stream->to.file))
            status = tkt_error_set(&why->error, TAKT_IO_ERROR, TKT_STREAM_REMOVED " %s",
                                   stream->to.file.path);
        status = tkt_file_finish(&file, status, &why->error);
    }
    if (file.error_number)
        why->reason = file.error_number;
    tkt_file_close(&file, status, NULL);
    return status == TAKT_OK ? tkt_file_follow(&stream->to.file, &why->error) : status;
}

/* Takes a new name if the file is not there, as somebody has removed it or it could not be written.
 * Another program may have the old name by now. */
static takt_status find_file(tkt_stream *stream, failure *why)
{
    tkt_file *file = &stream->to.file;
    if (file->fd >= 0 && tkt_file_is_there(file))
        return TAKT_OK;
    tkt_file_close(file, TAKT_OK, NULL);
    takt_status status = tkt_stream_claim(stream, &why->error);
    if (status != TAKT_OK)
        why->reason = file->error_number;
    return status;
}

static takt_status write_snapshot(tkt_stream *stream, takt_trace *trace, failure *why)
{
    takt_status status = fill(stream, trace);
    if (status == TAKT_OK)
        status = find_file(stream, why);
    return status == TAKT_OK ? replace_file(stream, trace, why) : status;
}

/* Logs the first of several failures in a row. */
static void note_failure(tkt_stream *stream, takt_status status, const failure *why)
{
    if (!stream->is_broken)
        tkt_log(TAKT_LOG_ERROR, "cycle %u: the summary so far is not saved: %s",
                stream->to.trace->facts.cycle,
                why->error.message[0] ? why->error.message : takt_status_text(status));
    tkt_stream_break(stream, why->reason);
}

static void write_summary(tkt_stream *stream)
{
    failure why = {.reason = ENOMEM};
    takt_trace *trace;
    takt_status status = tkt_window_snapshot(stream->window, &trace);
    if (status == TAKT_BAD_STATE)
        return; /* the window has just ended */
    if (status == TAKT_OK) {
        status = write_snapshot(stream, trace, &why);
        takt_trace_release(trace);
    }
    if (status != TAKT_OK)
        note_failure(stream, status, &why);
    else if (stream->is_broken)
        tkt_stream_mend(stream);
}

/* ---- The thread ------------------------------------------------------------------------------ */

/* Sets the pause before the next snapshot. */
static void set_pause(tkt_stream *stream)
{
    uint32_t least_ms = (uint32_t)(stream->to.trace->steps.count / STEPS_PER_MS);
    uint32_t most_ms = MOST_PAUSES * tkt_stream_pause_ms;
    stream->pause_ms = stream->pause_ms * 2 < most_ms ? stream->pause_ms * 2 : most_ms;
    if (least_ms > stream->pause_ms)
        stream->pause_ms = least_ms;
}

/* Waits for the next snapshot. Fast steps must not pile up meanwhile. False at the end. */
static bool wait_for_next(tkt_stream *stream, uint64_t *end_ticks)
{
    uint32_t pause_ms = stream->pause_ms, left_ms = pause_ms;
    bool goes_on = true;
    while (goes_on && left_ms > 0) {
        stream->pause_ms = left_ms < TAKE_MS ? left_ms : TAKE_MS;
        left_ms -= stream->pause_ms;
        goes_on = tkt_stream_wait(stream, end_ticks);
        tkt_stream_take_steps(stream, takt_now_ns());
    }
    stream->pause_ms = pause_ms;
    return goes_on;
}

void *tkt_stream_run_summaries(void *argument)
{
    tkt_stream *stream = argument;
    uint64_t end_ticks;
    write_summary(stream);
    while (wait_for_next(stream, &end_ticks)) {
        write_summary(stream);
        set_pause(stream);
    }
    return NULL;
}
