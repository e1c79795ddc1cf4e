/* A stream of spans seals in slices, ten times a second, or when half of the memory is used; and
 * what both kinds of streams share: their steps, their beginning and end. */
#include "profiler/stream.h"

#include "base/error.h"
#include "base/own.h"
#include "base/text.h"
#include "record/log.h"
#include "trace/perfetto.h"
#include "trace/seal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define LEAST_SLICE_MS 1 /* when memory runs short */
#define PARTIAL        ".partial.pftrace"
#define FACTS_NS       UINT64_C(1000000000) /* facts are written at least this often */

uint32_t tkt_stream_pause_ms = 100;

/* Ticks beyond any record that exists when a slice is sealed. */
#define FAR_TICKS (UINT64_C(1) << 40)

/* One for all streams: the pool then has a single condition to wake. */
static tkt_mutex stream_lock = TKT_MUTEX_INIT;
static tkt_condition changed = TKT_CONDITION_INIT;

/* ---- Steps ----------------------------------------------------------------------------------- */

/* Writes a step, or keeps it for the next snapshot of a summary. */
static void add_step(tkt_stream *stream, const tkt_step *in_ticks)
{
    const tkt_clock_fit *fit = tkt_window_fit(stream->window);
    takt_trace *trace = stream->to.trace;
    uint64_t duration_ns =
        tkt_clock_duration_ns(fit->ns_per_tick, in_ticks->end_ns - in_ticks->begin_ns);
    const tkt_step step = {in_ticks->number, tkt_clock_ns(fit, in_ticks->begin_ns),
                           tkt_clock_ns(fit, in_ticks->end_ns)};
    /* Without memory steps are missing. */
    bool continues_run = stream->is_summary && step.number == trace->run->step_count;
    tkt_all_steps_add(&trace->all_steps, continues_run ? trace->run : NULL, duration_ns);
    trace->facts.step_count++;
    if (!stream->is_summary) {
        tkt_perfetto_step(&stream->to.perfetto, &step);
        return;
    }
    tkt_step *kept = trace->steps.count < TKT_MOST_STEPS ? TKT_ARRAY_ADD(&trace->steps) : NULL;
    if (kept)
        *kept = step;
}

/* Moves the steps away from the lock, under which the program waits. Without memory they wait. */
static void fetch_steps(tkt_stream *stream)
{
    tkt_mutex_lock(&stream_lock);
    stream->to.trace->all_steps.simulated_seconds = stream->simulated_seconds;
    size_t count = stream->steps.count;
    if (count && TKT_ARRAY_RESERVE(&stream->fetched, stream->fetched.count + count)) {
        memcpy(stream->fetched.items + stream->fetched.count, stream->steps.items,
               count * sizeof *stream->steps.items);
        stream->fetched.count += count;
        stream->steps.count = 0;
    }
    tkt_mutex_unlock(&stream_lock);
}

void tkt_stream_take_steps(tkt_stream *stream, uint64_t until_ns)
{
    const tkt_clock_fit *fit = tkt_window_fit(stream->window);
    size_t left = 0;
    fetch_steps(stream);
    for (size_t i = 0; i < stream->fetched.count; i++) {
        const tkt_step *step = &stream->fetched.items[i];
        if (tkt_clock_ns(fit, step->end_ns) > until_ns)
            stream->fetched.items[left++] = *step;
        else
            add_step(stream, step);
    }
    stream->fetched.count = left;
}

/* ---- Facts ----------------------------------------------------------------------------------- */

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
    tkt_seal_window request = tkt_window_bounds(stream->window, end_ticks != 0);
    request.end_ticks = end_ticks ? end_ticks : tkt_ticks() + FAR_TICKS;
    request.with_spans = true;
    request.places = &stream->places;
    takt_trace *slice;
    takt_status status = tkt_seal(&request, &slice);
    if (status != TAKT_OK)
        return status;
    slice->facts.has_spans = false;   /* without activities of the host */
    status = tkt_trace_finish(slice); /* sorts arguments, async spans and events */
    if (status == TAKT_OK) {
        *out = slice;
    } else { /* its events cannot be read again */
        takt_trace_release(slice);
        tkt_perfetto_no_memory(&stream->to.perfetto);
    }
    return status;
}

static bool can_write(const tkt_stream *stream)
{
    return stream->to.writer.status == TAKT_OK && stream->to.perfetto.status == TAKT_OK;
}

/* Writes a slice. Its steps come last: a file that ends within it has what belongs to the steps
 * that it has. `end_ticks` is the end of the recording for the last one, otherwise 0. */
static void write_slice(tkt_stream *stream, uint64_t end_ticks)
{
    uint64_t position = tkt_store_position();
    takt_trace *slice;
    if (!can_write(stream))
        return;
    tkt_stream_take_devices(&stream->to, stream->window, false);
    if (seal_slice(stream, end_ticks, &slice) != TAKT_OK) {
        if (end_ticks) /* there is no next time */
            tkt_perfetto_no_memory(&stream->to.perfetto);
        return;
    }
    uint64_t ticks = end_ticks ? end_ticks : stream->places.ticks;
    stream->to.trace->facts.end_ns = tkt_clock_ns(tkt_window_fit(stream->window), ticks);
    tkt_stream_write_host(&stream->to, slice, end_ticks != 0);
    memset(stream->to.trace->losses, 0, sizeof stream->to.trace->losses);
    tkt_window_progress(stream->window, slice, stream->to.trace);
    takt_trace_release(slice);
    tkt_stream_write_devices(&stream->to, stream->window, false);
    tkt_stream_write_phases(&stream->to, end_ticks != 0);
    tkt_stream_take_steps(stream, stream->to.trace->facts.end_ns);
    write_facts(stream, end_ticks != 0);
    tkt_writer_flush(&stream->to.writer);
    if (can_write(stream) && tkt_window_is_full(stream->window))
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

bool tkt_stream_wait(tkt_stream *stream, uint64_t *end_ticks)
{
    if (stream->pause_ms == tkt_stream_pause_ms)
        tkt_thread_pause_ms(LEAST_SLICE_MS);
    watch_pool(stream);
    tkt_mutex_lock(&stream_lock);
    if (!stream->end_ticks)
        tkt_condition_wait_for(&changed, &stream_lock, stream->pause_ms);
    *end_ticks = stream->end_ticks;
    tkt_mutex_unlock(&stream_lock);
    return *end_ticks == 0;
}

/* Notes in the file why it is not written on. An empty file has no place for that: removes it. */
static void mark(tkt_stream *stream, int reason)
{
    tkt_file *file = &stream->to.file;
    if (file->fd < 0)
        return;
    if (tkt_file_bytes(file->path) > TKT_PF_STOPPED_OFFSET)
        tkt_file_patch(file, TKT_PF_STOPPED_OFFSET, (uint8_t)reason);
    else
        tkt_file_discard(file);
}

void tkt_stream_break(tkt_stream *stream, int reason)
{
    tkt_mutex_lock(&stream_lock);
    stream->is_broken = true;
    if (!stream->is_summary)
        stream->steps.count = 0;
    tkt_mutex_unlock(&stream_lock);
    if (reason)
        mark(stream, reason);
}

void tkt_stream_mend(tkt_stream *stream)
{
    tkt_mutex_lock(&stream_lock);
    stream->is_broken = false;
    tkt_mutex_unlock(&stream_lock);
}

/* True once the file cannot be written: the stream then does nothing for the rest of the cycle. */
static bool is_broken(tkt_stream *stream)
{
    takt_error error;
    if (can_write(stream) || stream->is_broken)
        return stream->is_broken;
    int reason = stream->to.file.error_number ? stream->to.file.error_number : ENOMEM;
    tkt_file_fail(&error, "write", stream->to.file.path, reason);
    tkt_log(TAKT_LOG_ERROR, "cycle %u: streaming has stopped: %s", stream->to.trace->facts.cycle,
            error.message);
    tkt_stream_break(stream, reason);
    stream->to.writer.status = TAKT_IO_ERROR; /* the file gets no end */
    return true;
}

/* True once somebody has removed the file. Slices would free the memory of what they write, and
 * nobody could read the file. */
static bool is_removed(tkt_stream *stream)
{
    if (tkt_file_is_there(&stream->to.file))
        return false;
    tkt_log(TAKT_LOG_ERROR, "cycle %u: streaming has stopped: " TKT_STREAM_REMOVED " %s",
            stream->to.trace->facts.cycle, stream->to.file.path);
    tkt_stream_break(stream, 0);
    return true;
}

static void *run_slices(void *argument)
{
    tkt_stream *stream = argument;
    uint64_t end_ticks;
    while (tkt_stream_wait(stream, &end_ticks) && !is_broken(stream) && !is_removed(stream))
        write_slice(stream, 0);
    if (!stream->is_broken)
        write_slice(stream, end_ticks);
    is_broken(stream);
    tkt_pool_watch(NULL, 0);
    return NULL;
}

/* ---- Starting -------------------------------------------------------------------------------- */

static takt_status create_trace(tkt_stream *stream, const tkt_stream_cycle *cycle)
{
    const takt_profiler_options *given = &stream->options->given;
    takt_status status = tkt_trace_create(&stream->to.trace);
    if (status == TAKT_OK)
        status = tkt_window_describe(stream->window, stream->to.trace);
    if (status == TAKT_OK)
        status = tkt_options_describe(stream->options, stream->to.trace);
    if (status != TAKT_OK)
        return status;
    takt_trace *trace = stream->to.trace;
    trace->stream = TKT_PF_STREAMED;
    if (tkt_wants_devices(given))
        trace->stream |= given->filter & TKT_PF_STREAM_FILTER;
    trace->facts.end_ns = trace->facts.known_until_ns = trace->facts.begin_ns;
    trace->facts.cycle = cycle->number;
    trace->facts.first_step = cycle->first_step;
    trace->facts.is_partial = true;
    trace->facts.ending = TAKT_ENDING_KILLED; /* until the end says otherwise */
    trace->all_steps = *cycle->all_steps;
    trace->run = tkt_run_copy(cycle->run);
    stream->to.stacks.trace = trace;
    stream->to.memory_bytes = tkt_memory_now().current_bytes;
    trace->memory.window_peak_bytes = stream->to.memory_bytes;
    trace->memory.window_peak_ns = trace->facts.begin_ns;
    return trace->run ? TAKT_OK : TAKT_NO_MEMORY;
}

takt_status tkt_stream_open_writer(const tkt_stream *stream, tkt_file *file,
                                   tkt_perfetto_pack *pack, tkt_writer *writer)
{
    takt_sink sink = tkt_file_sink(file);
    takt_status status = TAKT_OK;
    if (!stream->is_plain)
        status = tkt_perfetto_pack_init(pack, sink, &sink);
    return status == TAKT_OK ? tkt_writer_init(writer, sink, 0) : status;
}

static takt_status open_file(tkt_stream *stream, takt_error *error)
{
    takt_status status =
        tkt_stream_open_writer(stream, &stream->to.file, &stream->to.pack, &stream->to.writer);
    if (status != TAKT_OK)
        return status;
    tkt_perfetto_open(&stream->to.perfetto, &stream->to.writer, stream->to.trace);
    tkt_writer_flush(&stream->to.writer); /* for a program that dies in the first slice */
    if (stream->to.writer.status == TAKT_IO_ERROR)
        return tkt_file_why(&stream->to.file, error);
    return stream->to.perfetto.status;
}

takt_status tkt_stream_claim(tkt_stream *stream, takt_error *error)
{
    takt_status status = tkt_folder_create(stream->options->directory, error);
    return status == TAKT_OK ? tkt_file_claim(&stream->to.file, stream->path, stream->stem, error)
                             : status;
}

static takt_status name_file(tkt_stream *stream, const tkt_stream_cycle *cycle, takt_error *error)
{
    const tkt_saved_options *options = stream->options;
    char path[4096];
    int stem = snprintf(path, sizeof path - sizeof PARTIAL, "%s/%s.%u", options->directory,
                        options->file_name, cycle->number);
    if ((size_t)stem >= sizeof path - sizeof PARTIAL)
        return tkt_error_set(error, TAKT_IO_ERROR, "the path of its file is too long");
    memcpy(path + stem, PARTIAL, sizeof PARTIAL);
    stream->path = tkt_copy_string(path);
    stream->stem = (size_t)stem;
    return stream->path ? TAKT_OK : TAKT_NO_MEMORY;
}

static void say_not_streamed(unsigned cycle, const takt_error *error)
{
    tkt_log(TAKT_LOG_ERROR, "cycle %u is not streamed: %s", cycle, error->message);
}

static void *open_and_run(void *argument)
{
    TKT_OWN_WORK;
    tkt_stream *stream = argument;
    takt_error error = {.message = "out of memory"};
    takt_status status = tkt_stream_claim(stream, &error);
    if (status == TAKT_OK && !stream->is_summary)
        status = open_file(stream, &error);
    stream->is_open = status == TAKT_OK;
    if (stream->is_open)
        return stream->is_summary ? tkt_stream_run_summaries(stream) : run_slices(stream);
    tkt_file_discard(&stream->to.file);
    tkt_stream_break(stream, 0);
    say_not_streamed(stream->to.trace->facts.cycle, &error);
    return NULL;
}

static takt_status open_stream(tkt_stream *stream, const tkt_stream_cycle *cycle, takt_error *error)
{
    takt_status status = name_file(stream, cycle, error);
    if (status == TAKT_OK)
        status = create_trace(stream, cycle);
    if (status == TAKT_OK)
        status = tkt_thread_start(&stream->thread, "takt-stream", open_and_run, stream);
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
        stream->options = options;
        stream->is_summary = options->given.mode == TAKT_MODE_SUMMARY;
        stream->is_plain = options->given.compress == TAKT_OFF;
        stream->pause_ms = tkt_stream_pause_ms;
        stream->simulated_seconds = cycle->all_steps->simulated_seconds;
        stream->to.position = tkt_window_position(window);
        if (open_stream(stream, cycle, &error) == TAKT_OK)
            return stream;
    }
    say_not_streamed(cycle->number, &error);
    tkt_stream_destroy(stream, true);
    return NULL;
}

/* ---- While it goes on, and after ------------------------------------------------------------- */

void tkt_stream_step(tkt_stream *stream, const tkt_step *step, double simulated_seconds)
{
    TKT_OWN_WORK;
    tkt_mutex_lock(&stream_lock);
    stream->simulated_seconds = simulated_seconds;
    tkt_step *copy =
        stream->is_broken && !stream->is_summary ? NULL : TKT_ARRAY_ADD(&stream->steps);
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

bool tkt_stream_was_opened(const tkt_stream *stream)
{
    return stream->is_open;
}

/* Writes the sums of the whole recording, if they were made beside the spans. */
static void write_sums(tkt_stream *stream)
{
    takt_trace *trace = stream->to.trace;
    if (tkt_window_seal_sums(stream->window, trace) != TAKT_OK)
        tkt_perfetto_no_memory(&stream->to.perfetto);
    tkt_trace_add_fold_losses(trace);
    if (!trace->fold.items)
        return;
    tkt_perfetto_fold(&stream->to.perfetto, &trace->fold);
    tkt_perfetto_node_activities(&stream->to.perfetto);
}

/* Writes the sums, and the facts that are known only at the end. */
static void write_end(tkt_stream *stream, bool is_settled, bool is_partial)
{
    takt_trace *trace = stream->to.trace;
    memset(trace->losses, 0, sizeof trace->losses);
    tkt_window_progress(stream->window, NULL, trace);
    tkt_stream_take_devices(&stream->to, stream->window, true);
    tkt_stream_write_devices(&stream->to, stream->window, true);
    tkt_stream_write_phases(&stream->to, true);
    write_sums(stream);
    if (can_write(stream))
        trace->facts.ending = TAKT_ENDING_WHOLE;
    trace->facts.is_partial = is_partial;
    trace->stream |= is_settled ? TKT_PF_STREAM_SETTLED : 0;
    tkt_perfetto_facts(&stream->to.perfetto);
}

takt_status tkt_stream_read_back(tkt_stream *stream, bool is_partial, uint64_t most_bytes,
                                 takt_trace **out, takt_error *error)
{
    bool is_settled;
    *out = NULL;
    takt_status status = tkt_window_settle(stream->window, &is_settled);
    if (status == TAKT_OK && !stream->is_broken)
        write_end(stream, is_settled, is_partial);
    tkt_perfetto_close(&stream->to.perfetto);
    stream->to.perfetto.writer = NULL;
    tkt_writer_flush(&stream->to.writer);
    is_broken(stream);
    if (status == TAKT_OK && !tkt_file_is_there(&stream->to.file))
        return tkt_error_set(error, TAKT_IO_ERROR, TKT_STREAM_REMOVED " %s", stream->to.file.path);
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
    if (remove_file) {
        tkt_file_discard(&stream->to.file);
    } else {
        if (!stream->is_broken)
            mark(stream, TKT_FILE_NOT_WHOLE);
        tkt_file_close(&stream->to.file, TAKT_OK, NULL);
    }
    tkt_free(stream->path);
    tkt_stream_file_fini(&stream->to);
    TKT_ARRAY_FREE(&stream->places.logs);
    TKT_ARRAY_FREE(&stream->steps);
    TKT_ARRAY_FREE(&stream->fetched);
    tkt_free(stream);
}
