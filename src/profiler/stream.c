/* A stream seals in slices, ten times a second, or when half of the memory is used. A summary is
 * written as a whole, less and less often, down to once in two seconds. */
#include "profiler/stream.h"

#include "base/error.h"
#include "base/thread.h"
#include "export/exporter.h"
#include "record/log.h"
#include "trace/perfetto.h"
#include "trace/seal.h"

#include <stdio.h>
#include <string.h>

#define SLICE_MS         100
#define LEAST_SLICE_MS   1 /* when memory runs short */
#define MOST_SNAPSHOT_MS 2000
#define PARTIAL          ".partial.pftrace"
#define FACTS_NS         UINT64_C(1000000000) /* facts are written at least this often */

/* Ticks beyond any record that exists when a slice is sealed. */
#define FAR_TICKS (UINT64_C(1) << 40)

struct tkt_stream {
    tkt_window *window;
    tkt_seal_places places;
    uint64_t facts_ns;    /* time at which facts were last written */
    uint64_t facts_bytes; /* size of the file then */
    uint32_t pause_ms;    /* before the next slice */
    bool is_summary;
    bool is_plain;  /* packets are not compressed */
    bool is_broken; /* the file cannot be written any more; set with stream_lock */
    tkt_thread thread;
    tkt_stream_file to;

    uint64_t end_ticks; /* stream_lock, as for the rest; 0: the recording goes on */
    tkt_all_steps all_steps;
    TKT_ARRAY_OF(tkt_step) steps; /* not yet written */
    uint64_t step_count;
};

/* One for all streams: the pool then has a single condition to wake. */
static tkt_mutex stream_lock = TKT_MUTEX_INIT;
static tkt_condition changed = TKT_CONDITION_INIT;

/* ---- Facts ----------------------------------------------------------------------------------- */

static void take_steps(tkt_stream *stream, takt_trace *trace)
{
    tkt_mutex_lock(&stream_lock);
    trace->all_steps = stream->all_steps;
    trace->facts.step_count = stream->step_count;
    tkt_mutex_unlock(&stream_lock);
}

/* Writes the steps that have ended by the end of the slice. */
static void write_steps(tkt_stream *stream, uint64_t until_ticks)
{
    const tkt_clock_fit *fit = tkt_window_fit(stream->window);
    size_t kept = 0;
    tkt_mutex_lock(&stream_lock);
    for (size_t i = 0; i < stream->steps.count; i++) {
        const tkt_step *step = &stream->steps.items[i];
        if (step->end_ns > until_ticks) {
            stream->steps.items[kept++] = *step;
            continue;
        }
        const tkt_step in_ns = {step->number, tkt_clock_ns(fit, step->begin_ns),
                                tkt_clock_ns(fit, step->end_ns)};
        tkt_perfetto_step(&stream->to.perfetto, &in_ns);
    }
    stream->steps.count = kept;
    tkt_mutex_unlock(&stream_lock);
    take_steps(stream, stream->to.trace);
}

static uint64_t file_bytes(const tkt_stream *stream)
{
    return stream->to.writer.total + stream->to.writer.used;
}

static void write_facts(tkt_stream *stream, bool is_urgent)
{
    uint64_t now = takt_now_ns();
    takt_facts *facts = &stream->to.trace->facts;
    facts->known_until_ns = facts->end_ns;
    if (!is_urgent && file_bytes(stream) == stream->facts_bytes &&
        now < stream->facts_ns + FACTS_NS)
        return;
    tkt_perfetto_facts(&stream->to.perfetto);
    stream->facts_ns = now;
    stream->facts_bytes = file_bytes(stream);
}

/* ---- Slices ---------------------------------------------------------------------------------- */

static takt_status seal_slice(tkt_stream *stream, uint64_t end_ticks, takt_trace **out)
{
    const tkt_seal_window request = {.begin_ticks = tkt_window_begin_ticks(stream->window),
                                     .end_ticks = end_ticks ? end_ticks : tkt_ticks() + FAR_TICKS,
                                     .fit = *tkt_window_fit(stream->window),
                                     .with_spans = true,
                                     .places = &stream->places};
    takt_trace *slice;
    takt_status status = tkt_seal(&request, &slice);
    if (status != TAKT_OK)
        return status;
    slice->facts.has_spans = false;   /* without activities of the host */
    status = tkt_trace_finish(slice); /* sorts arguments, async spans and events */
    if (status == TAKT_OK)
        *out = slice;
    else
        takt_trace_release(slice);
    return status;
}

/* Writes a slice. `end_ticks` is the end of the recording for the last one, otherwise 0. */
static void write_slice(tkt_stream *stream, uint64_t end_ticks)
{
    uint64_t position = tkt_store_position();
    takt_trace *slice;
    if (stream->to.writer.status != TAKT_OK)
        return;
    tkt_stream_take_devices(&stream->to, stream->window, false);
    if (seal_slice(stream, end_ticks, &slice) != TAKT_OK)
        return;
    uint64_t ticks = end_ticks ? end_ticks : stream->places.ticks;
    stream->to.trace->facts.end_ns = tkt_clock_ns(tkt_window_fit(stream->window), ticks);
    tkt_stream_write_host(&stream->to, slice, end_ticks != 0);
    write_steps(stream, ticks);
    memset(stream->to.trace->losses, 0, sizeof stream->to.trace->losses);
    tkt_window_progress(stream->window, slice, stream->to.trace);
    takt_trace_release(slice);
    tkt_stream_write_devices(&stream->to, stream->window, false);
    tkt_stream_write_phases(&stream->to, end_ticks != 0);
    write_facts(stream, end_ticks != 0);
    tkt_writer_flush(&stream->to.writer);
    if (stream->to.writer.status == TAKT_OK && tkt_window_is_full(stream->window))
        tkt_window_release(stream->window, stream->places.ticks, position);
}

/* Sets the use of the pool at which it wakes the stream: half of its limit or, beyond that, before
 * the rest is used up. */
static void watch_pool(const tkt_stream *stream)
{
    uint64_t used = tkt_pool_used_bytes(), limit = tkt_pool_limit_bytes();
    uint64_t at = limit / 2;
    if (at <= used)
        at = used + (limit > used ? (limit - used) / 4 : 0) + TKT_CHUNK_BYTES;
    tkt_pool_watch(stream->is_summary || at > limit ? NULL : &changed, at);
}

static bool wait_for_slice(tkt_stream *stream, uint64_t *end_ticks)
{
    if (stream->pause_ms == SLICE_MS)
        tkt_thread_pause_ms(LEAST_SLICE_MS);
    watch_pool(stream);
    tkt_mutex_lock(&stream_lock);
    if (!stream->end_ticks)
        tkt_condition_wait_for(&changed, &stream_lock, stream->pause_ms);
    *end_ticks = stream->end_ticks;
    tkt_mutex_unlock(&stream_lock);
    return *end_ticks == 0;
}

/* True once the file cannot be written: the stream then does nothing for the rest of the cycle. */
static bool is_broken(tkt_stream *stream)
{
    takt_error error;
    if (stream->to.writer.status == TAKT_OK || stream->is_broken)
        return stream->is_broken;
    tkt_file_why(&stream->to.file, &error);
    tkt_log(TAKT_LOG_ERROR, "cycle %u: streaming has stopped: %s", stream->to.trace->facts.cycle,
            error.message);
    tkt_mutex_lock(&stream_lock);
    stream->is_broken = true;
    stream->steps.count = 0;
    tkt_mutex_unlock(&stream_lock);
    return true;
}

static void *run_slices(void *argument)
{
    tkt_stream *stream = argument;
    uint64_t end_ticks;
    while (wait_for_slice(stream, &end_ticks) && !is_broken(stream))
        write_slice(stream, 0);
    write_slice(stream, end_ticks);
    is_broken(stream);
    tkt_pool_watch(NULL, 0);
    return NULL;
}

/* ---- Summaries ------------------------------------------------------------------------------- */

static void describe(const tkt_stream *stream, takt_trace *trace)
{
    const takt_trace *from = stream->to.trace;
    trace->name = tkt_trace_string_of(trace, tkt_trace_text(from, from->name));
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
}

/* A writer of whole packets to a file. */
static takt_status open_writer(const tkt_stream *stream, tkt_file *file, tkt_perfetto_pack *pack,
                               tkt_writer *writer)
{
    takt_sink sink = tkt_file_sink(file);
    takt_status status = TAKT_OK;
    if (!stream->is_plain)
        status = tkt_perfetto_pack_init(pack, sink, &sink);
    return status == TAKT_OK ? tkt_writer_init(writer, sink, 0) : status;
}

static takt_status write_to(const tkt_stream *stream, const takt_trace *trace, const char *path)
{
    tkt_file file;
    tkt_perfetto_pack pack = {.packer = NULL};
    tkt_writer writer;
    takt_error error;
    takt_status status = tkt_file_create(&file, path, &error);
    if (status != TAKT_OK)
        return status;
    status = open_writer(stream, &file, &pack, &writer);
    if (status == TAKT_OK) {
        status = tkt_perfetto_export(trace, &writer);
        takt_status written = tkt_writer_fini(&writer);
        status = status == TAKT_OK ? written : status;
    }
    tkt_perfetto_pack_fini(&pack);
    return tkt_file_close(&file, status, &error);
}

/* Copies the run so far, with the steps of this recording as a window. */
static takt_status take_run(tkt_stream *stream, takt_trace *trace)
{
    tkt_mutex_lock(&stream_lock);
    trace->run = tkt_run_copy(stream->to.trace->run);
    if (trace->run)
        tkt_run_add_window(trace->run, trace->facts.first_step, stream->step_count);
    tkt_mutex_unlock(&stream_lock);
    return trace->run ? TAKT_OK : TAKT_NO_MEMORY;
}

/* Writes a summary. The first of several failures in a row is logged. */
static void write_summary(tkt_stream *stream)
{
    takt_trace *trace;
    takt_status status = tkt_window_snapshot(stream->window, &trace);
    if (status == TAKT_BAD_STATE)
        return; /* the window has just ended */
    if (status == TAKT_OK) {
        describe(stream, trace);
        take_steps(stream, trace);
        status = take_run(stream, trace);
        if (status == TAKT_OK)
            status = tkt_trace_finish(trace);
        if (status == TAKT_OK)
            status = write_to(stream, trace, stream->to.file.path);
        if (status == TAKT_OK)
            status = tkt_file_follow(&stream->to.file, NULL);
        takt_trace_release(trace);
    }
    tkt_mutex_lock(&stream_lock);
    stream->is_broken = status != TAKT_OK;
    tkt_mutex_unlock(&stream_lock);
    if (status != TAKT_OK && stream->to.writer.status == TAKT_OK)
        tkt_log(TAKT_LOG_ERROR, "cannot write %s: %s", stream->to.file.path,
                takt_status_text(status));
    stream->to.writer.status = status;
}

static void *run_summaries(void *argument)
{
    tkt_stream *stream = argument;
    uint64_t end_ticks;
    write_summary(stream);
    while (wait_for_slice(stream, &end_ticks)) {
        write_summary(stream);
        stream->pause_ms *= 2;
        if (stream->pause_ms > MOST_SNAPSHOT_MS)
            stream->pause_ms = MOST_SNAPSHOT_MS;
    }
    return NULL;
}

/* ---- Starting -------------------------------------------------------------------------------- */

static takt_status create_trace(tkt_stream *stream, const tkt_saved_options *options,
                                const tkt_stream_cycle *cycle)
{
    const takt_profiler_options *given = &options->given;
    takt_status status = tkt_trace_create(&stream->to.trace);
    if (status == TAKT_OK)
        status = tkt_window_describe(stream->window, stream->to.trace);
    if (status != TAKT_OK)
        return status;
    takt_trace *trace = stream->to.trace;
    trace->name = tkt_trace_string_of(trace, given->name);
    trace->with_flops = given->with_flops;
    trace->device_peak = (takt_peak){given->peak_flops, given->peak_bandwidth};
    trace->host_peak = (takt_peak){given->host_peak_flops, given->host_peak_bandwidth};
    trace->stream = TKT_PF_STREAMED;
    if (tkt_wants_devices(given))
        trace->stream |= given->filter & TKT_PF_STREAM_FILTER;
    trace->facts.end_ns = trace->facts.known_until_ns = trace->facts.begin_ns;
    trace->facts.cycle = cycle->number;
    trace->facts.first_step = cycle->first_step;
    trace->facts.rank = given->rank;
    trace->facts.world_size = given->world_size;
    trace->facts.has_capture_range = given->nsight == TAKT_NSIGHT_CAPTURE_RANGE;
    trace->facts.is_partial = true;
    trace->facts.ending = TAKT_ENDING_KILLED; /* until the end says otherwise */
    trace->all_steps = *cycle->all_steps;
    trace->run = tkt_run_copy(cycle->run);
    stream->to.stacks.trace = trace;
    stream->to.memory_bytes = tkt_memory_now().current_bytes;
    trace->memory.window_peak_bytes = stream->to.memory_bytes;
    trace->memory.window_peak_ns = trace->facts.begin_ns;
    return trace->name == TKT_STRTAB_FULL || !trace->run ? TAKT_NO_MEMORY : TAKT_OK;
}

static takt_status open_file(tkt_stream *stream)
{
    takt_status status =
        open_writer(stream, &stream->to.file, &stream->to.pack, &stream->to.writer);
    if (status != TAKT_OK)
        return status;
    tkt_perfetto_open(&stream->to.perfetto, &stream->to.writer, stream->to.trace);
    tkt_writer_flush(&stream->to.writer); /* for a program that dies in the first slice */
    return stream->to.perfetto.status;
}

static takt_status open_stream(tkt_stream *stream, const tkt_saved_options *options,
                               const tkt_stream_cycle *cycle, takt_error *error)
{
    char path[4096];
    takt_status status = tkt_folder_create(options->directory, error);
    if (status != TAKT_OK)
        return status;
    int stem = snprintf(path, sizeof path - sizeof PARTIAL, "%s/%s.%u", options->directory,
                        options->file_name, cycle->number);
    if ((size_t)stem >= sizeof path - sizeof PARTIAL)
        return tkt_error_set(error, TAKT_IO_ERROR, "the path of its file is too long");
    memcpy(path + stem, PARTIAL, sizeof PARTIAL);
    status = tkt_file_claim(&stream->to.file, path, (size_t)stem, error);
    if (status == TAKT_OK)
        status = create_trace(stream, options, cycle);
    if (status == TAKT_OK && !stream->is_summary)
        status = open_file(stream);
    if (status == TAKT_OK)
        status = tkt_thread_start(&stream->thread, "takt-stream",
                                  stream->is_summary ? run_summaries : run_slices, stream);
    return status;
}

tkt_stream *tkt_stream_start(const tkt_saved_options *options, const tkt_stream_cycle *cycle,
                             tkt_window *window)
{
    takt_error error = {.message = "out of memory"};
    tkt_stream *stream = tkt_alloc_zeroed(sizeof *stream);
    if (stream) {
        stream->to.file.fd = -1;
        stream->window = window;
        stream->is_summary = options->given.mode == TAKT_MODE_SUMMARY;
        stream->is_plain = options->given.compress == TAKT_OFF;
        stream->pause_ms = SLICE_MS;
        stream->all_steps = *cycle->all_steps;
        stream->to.position = tkt_window_position(window);
        if (open_stream(stream, options, cycle, &error) == TAKT_OK)
            return stream;
    }
    tkt_log(TAKT_LOG_ERROR, "cycle %u is not streamed: %s", cycle->number, error.message);
    tkt_stream_destroy(stream, true);
    return NULL;
}

/* ---- While it goes on, and after ------------------------------------------------------------- */

void tkt_stream_step(tkt_stream *stream, const tkt_step *step)
{
    uint64_t duration_ns = tkt_clock_duration_ns(tkt_window_fit(stream->window)->ns_per_tick,
                                                 step->end_ns - step->begin_ns);
    tkt_mutex_lock(&stream_lock);
    tkt_all_steps_add(&stream->all_steps, duration_ns);
    stream->step_count++;
    if (stream->is_summary) /* otherwise the file has the steps */
        tkt_run_add(stream->to.trace->run, duration_ns);
    tkt_step *copy = stream->is_summary || stream->is_broken ? NULL : TKT_ARRAY_ADD(&stream->steps);
    if (copy)
        *copy = *step;
    tkt_mutex_unlock(&stream_lock);
}

void tkt_stream_end(tkt_stream *stream, uint64_t ticks)
{
    if (!stream)
        return;
    tkt_mutex_lock(&stream_lock);
    stream->end_ticks = ticks;
    tkt_condition_wake_all(&changed);
    tkt_mutex_unlock(&stream_lock);
}

void tkt_stream_stop(tkt_stream *stream)
{
    if (!stream)
        return;
    if (!stream->end_ticks)
        tkt_stream_end(stream, tkt_ticks());
    tkt_thread_join(stream->thread);
}

/* Writes the facts that are known only at the end. */
static void write_end(tkt_stream *stream, bool is_settled)
{
    takt_trace *trace = stream->to.trace;
    memset(trace->losses, 0, sizeof trace->losses);
    tkt_window_progress(stream->window, NULL, trace);
    tkt_stream_take_devices(&stream->to, stream->window, true);
    tkt_stream_write_devices(&stream->to, stream->window, true);
    tkt_stream_write_phases(&stream->to, true);
    trace->facts.ending = TAKT_ENDING_WHOLE;
    trace->stream |= is_settled ? TKT_PF_STREAM_SETTLED : 0;
    tkt_perfetto_facts(&stream->to.perfetto);
}

takt_status tkt_stream_read_back(tkt_stream *stream, uint64_t most_bytes, takt_trace **out,
                                 takt_error *error)
{
    bool is_settled;
    *out = NULL;
    takt_status status = tkt_window_settle(stream->window, &is_settled);
    if (status == TAKT_OK && stream->to.writer.status == TAKT_OK)
        write_end(stream, is_settled);
    tkt_perfetto_close(&stream->to.perfetto);
    stream->to.perfetto.writer = NULL;
    tkt_writer_flush(&stream->to.writer);
    if (status != TAKT_OK || file_bytes(stream) > most_bytes)
        return status;
    return takt_trace_open(stream->to.file.path, out, error);
}

bool tkt_stream_is_broken(const tkt_stream *stream)
{
    return stream && stream->is_broken;
}

const char *tkt_stream_path(const tkt_stream *stream)
{
    return stream->to.file.path;
}

void tkt_stream_destroy(tkt_stream *stream, bool remove_file)
{
    if (!stream)
        return;
    if (stream->to.perfetto.writer)
        tkt_perfetto_close(&stream->to.perfetto);
    tkt_writer_fini(&stream->to.writer);
    tkt_perfetto_pack_fini(&stream->to.pack);
    if (remove_file)
        tkt_file_discard(&stream->to.file);
    else
        tkt_file_close(&stream->to.file, TAKT_OK, NULL);
    tkt_stream_file_fini(&stream->to);
    TKT_ARRAY_FREE(&stream->places.logs);
    TKT_ARRAY_FREE(&stream->steps);
    tkt_free(stream);
}
