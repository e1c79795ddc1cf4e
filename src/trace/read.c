/* Opens a file and reads its packets. The reader trusts nothing in the file, and its memory is
 * bounded by the size of the file. It accepts a file that ends too early, up to the cut. It refuses
 * a malformed file with the place of the fault. */
#include "trace/read.h"

#include "base/error.h"
#include "base/own.h"
#include "trace/devices.h"

#include <string.h>

/* The largest packet; the reader needs all of a packet in memory. Takt's own packets have some
 * hundred bytes plus the program's texts. */
#define PACKET_BYTES ((size_t)64 << 20)

/* Every file of this format begins with this packet, which contains only the format number. */
static const uint8_t head[] = {0x0A, 5, 0xA2, 0x7E, 2, TKT_PF_TAKT_FORMAT << 3, TKT_PF_FORMAT};
_Static_assert(TKT_PF_PACKET_TAKT == 2020, "the bytes A2 7E are its tag");

static bool bad_at(tkt_read *read, uint64_t offset, const char *problem)
{
    read->status = tkt_error_set(read->input->error, TAKT_BAD_TRACE, "%s: byte %llu: %s",
                                 read->input->name, (unsigned long long)offset, problem);
    return false;
}

bool tkt_read_bad(tkt_read *read, const uint8_t *at, const char *problem)
{
    return bad_at(read, tkt_input_offset(read->input, read->packed ? read->packed : at), problem);
}

bool tkt_read_no_memory(tkt_read *read)
{
    read->status = tkt_error_set(read->input->error, TAKT_NO_MEMORY, "%s: %s", read->input->name,
                                 takt_status_text(TAKT_NO_MEMORY));
    return false;
}

bool tkt_read_done(tkt_read *read, const tkt_pb_reader *message)
{
    return !message->is_bad || tkt_read_bad(read, message->at, "a field is malformed");
}

/* Takt's texts are C strings, so a text ends at its first NUL. */
bool tkt_read_text(tkt_read *read, const tkt_pb_field *field, uint32_t *string)
{
    if (field->wire != TKT_PB_BYTES)
        return tkt_read_bad(read, field->bytes, "a text field contains a number");
    const char *text = (const char *)field->bytes;
    *string = tkt_trace_string(read->trace, text, strnlen(text, (size_t)field->value));
    return *string != TKT_STRTAB_FULL || tkt_read_no_memory(read);
}

/* ---- Open spans at the end of the file ------------------------------------------------------- */

/* The end for spans that are still open; 0: each span ends with the last event of its row. In a
 * complete file, or a stream that broke off, open spans end with the recording. A cut export states
 * the end of the recording but lacks the row's later events: the span may have ended earlier. */
static uint64_t end_of_open_spans(tkt_read *read)
{
    takt_facts *facts = &read->trace->facts;
    bool is_cut_export =
        facts->end_ns && !read->is_complete && !read->are_facts_late && !read->trace->stream;
    if (is_cut_export)
        return 0;
    if (!read->is_complete && read->latest_ns > facts->end_ns)
        facts->end_ns = read->latest_ns;
    if (facts->end_ns < facts->begin_ns)
        facts->end_ns = facts->begin_ns;
    return facts->end_ns;
}

static void close_spans(tkt_read *read, tkt_read_row *row, uint64_t recording_end_ns)
{
    tkt_spans *spans = &read->trace->tracks.items[row->track].spans;
    for (size_t i = 0; i < row->open.count; i++) {
        tkt_span *span = &spans->items[row->open.items[i]];
        uint64_t end_ns = recording_end_ns ? recording_end_ns : row->latest_ns;
        span->end_ns = end_ns > span->begin_ns ? end_ns : span->begin_ns;
        span->site_flags |= TAKT_SPAN_UNFINISHED;
    }
    row->open.count = 0;
}

static void close_rows(tkt_read *read)
{
    uint64_t end_ns = end_of_open_spans(read);
    for (size_t i = 0; i < read->rows.count; i++) {
        tkt_read_row *row = &read->rows.items[i];
        if (row->open.count && tkt_read_is_device_row(row))
            tkt_read_close_device_row(read, row);
        else if (row->open.count)
            close_spans(read, row, end_ns);
    }
    if (read->has_step)
        read->trace->steps.count--;
}

/* ---- The spans of events --------------------------------------------------------------------- */

/* Finds the span of an event that was written late. Clears a span that is not in the file, for
 * example because it comes after the cut. */
static void settle_span(const takt_trace *trace, uint32_t track, uint64_t time_ns, uint32_t *span)
{
    const tkt_track *on = &trace->tracks.items[track];
    if (*span == TKT_READ_SPAN_BY_TIME)
        *span = tkt_span_at(on, time_ns);
    else if (*span >= on->spans.count)
        *span = TKT_NO_SPAN;
}

static void settle_events(takt_trace *trace)
{
    for (size_t i = 0; i < trace->flows.count; i++) {
        tkt_flow *flow = &trace->flows.items[i];
        settle_span(trace, flow->track, flow->time_ns, &flow->span);
    }
    for (size_t i = 0; i < trace->memory_events.count; i++) {
        tkt_memory_event *event = &trace->memory_events.items[i];
        if (event->track != TKT_NO_TRACK)
            settle_span(trace, event->track, event->time_ns, &event->span);
    }
}

static void free_read(tkt_read *read)
{
    for (size_t i = 0; i < read->rows.count; i++)
        TKT_ARRAY_FREE(&read->rows.items[i].open);
    TKT_ARRAY_FREE(&read->rows);
    TKT_ARRAY_FREE(&read->sites);
    TKT_ARRAY_FREE(&read->keys);
    TKT_ARRAY_FREE(&read->phases);
    tkt_map_fini(&read->counters);
    tkt_map_fini(&read->memories);
    tkt_unpacker_destroy(read->unpacker);
}

/* ---- Packets --------------------------------------------------------------------------------- */

/* Treats the rest of the file as a cut packet, and returns false. If the rest has at least `size`
 * bytes, the packet is not cut but malformed: sets the error to `problem`. A rest of zeros
 * is always a cut: a crash of the machine leaves them in a file that was being written. */
static bool end_at_cut(tkt_read *read, uint64_t size, const char *problem, uint64_t *cut_bytes)
{
    uint64_t offset = tkt_input_offset(read->input, read->input->window.at);
    bool is_zero;
    *cut_bytes = tkt_input_drain(read->input, &is_zero);
    if (!is_zero && *cut_bytes >= size)
        bad_at(read, offset, problem);
    return false;
}

/* Loads the next packet into the window; false at the end of the file, a cut, or an error. */
static bool next_packet(tkt_read *read, tkt_pb_field *packet, uint64_t *cut_bytes)
{
    tkt_input *input = read->input;
    tkt_input_need(input, 1 + TKT_PB_VARINT_MAX);
    if (tkt_input_left(input) == 0)
        return false;
    const uint8_t *begin = input->window.at;
    if (*begin != head[0])
        return end_at_cut(read, 0, "not a trace packet", cut_bytes);
    const uint8_t *at = tkt_pb_get_varint(begin + 1, input->window.end, &packet->value);
    if (!at)
        return end_at_cut(read, 1 + TKT_PB_VARINT_MAX, "a packet's size is malformed", cut_bytes);
    size_t size = (size_t)(at - begin) + (size_t)packet->value;
    if (packet->value > PACKET_BYTES)
        return end_at_cut(read, packet->value, "a packet is too large", cut_bytes);
    if (!tkt_input_need(input, size))
        return end_at_cut(read, size, "", cut_bytes);
    input->window.at += size;
    packet->bytes = input->window.at - packet->value;
    return true;
}

/* Reads packets up to the end of the file or the cut. *cut_bytes is the number of bytes after the
 * cut. */
static bool read_packets(tkt_read *read, uint64_t *cut_bytes)
{
    tkt_pb_field packet = {.number = TKT_PF_TRACE_PACKET, .wire = TKT_PB_BYTES};
    while (!read->is_complete && next_packet(read, &packet, cut_bytes)) {
        if (!tkt_read_packet(read, &packet, read->input->window.end))
            return false;
    }
    if (read->is_complete && tkt_input_need(read->input, 1))
        return tkt_read_bad(read, read->input->window.at,
                            "data follows after the end of the trace");
    if (read->status == TAKT_OK)
        read->status = read->input->status;
    return read->status == TAKT_OK;
}

/* True if the file begins like a trace. *is_whole: all of its head is in the file. */
static bool check_head(tkt_read *read, bool *is_whole)
{
    tkt_input *input = read->input;
    *is_whole = tkt_input_need(input, sizeof head);
    read->status = input->status;
    const uint8_t *bytes = input->window.at;
    size_t size = *is_whole ? sizeof head : tkt_input_left(input);
    if (read->status != TAKT_OK)
        return false;
    if (size == 0) {
        read->status = tkt_error_set(
            input->error, TAKT_BAD_TRACE, "%s: %s", input->name,
            input->is_packed ? "the gzip data is damaged or cut off: nothing could be unpacked"
                             : "the file is empty");
        return false;
    }
    if (memcmp(bytes, head, size) == 0)
        return true;
    if (*is_whole && memcmp(bytes, head, sizeof head - 1) == 0) {
        read->status = tkt_error_set(input->error, TAKT_BAD_TRACE,
                                     "%s: a later version of Takt wrote it in format %u, this "
                                     "version reads format %u: update Takt",
                                     input->name, bytes[sizeof head - 1], TKT_PF_FORMAT);
        return false;
    }
    if (bytes[0] == '{') /* usually Takt's own Chrome or speedscope file */
        return tkt_read_bad(read, bytes,
                            "JSON, not a trace that Takt wrote: open the .pftrace file instead");
    return tkt_read_bad(read, bytes, "not a trace that Takt wrote");
}

/* ---- Streams --------------------------------------------------------------------------------- */

/* Marks launches without activities. Counts them as a loss, except for activities that are already
 * counted as dropped. */
static takt_status mark_missing(takt_trace *trace, uint32_t filter, bool is_settled)
{
    takt_loss loss = is_settled ? TAKT_LOSS_NO_ACTIVITY : TAKT_LOSS_INCOMPLETE;
    uint64_t missing = 0, dropped = trace->losses[TAKT_LOSS_DEVICE_DROPPED];
    uint8_t *launches = tkt_calls_that_launch(trace, filter);
    if (!launches)
        return TAKT_NO_MEMORY;
    for (size_t i = 0; i < trace->activities.count; i++) {
        uint32_t call = trace->activities.items[i].call;
        if (call != TKT_NO_CALL)
            launches[call] = TKT_LAUNCHES_NOTHING;
        else
            trace->losses[TAKT_LOSS_UNATTRIBUTED]++;
    }
    bool are_graphs_sure = is_settled && trace->losses[TAKT_LOSS_UNATTRIBUTED] == 0;
    for (uint32_t i = 0; i < trace->calls.count; i++) {
        if (!tkt_call_lacks(trace, i, launches[i], are_graphs_sure))
            continue;
        tkt_span_mark(tkt_call_span(trace, i), TAKT_SPAN_NO_ACTIVITY);
        missing++;
    }
    trace->losses[loss] += missing > dropped ? missing - dropped : 0;
    tkt_free(launches);
    return TAKT_OK;
}

/* Bounds the error of device clocks, as the join does for other traces. The facts have the
 * uncertainty that the writer found from the host's clocks; is_least says that a clock was set
 * during the recording. */
static takt_status bound_clocks(takt_trace *trace)
{
    takt_facts *facts = &trace->facts;
    tkt_call_index index;
    tkt_waits none = {0};
    tkt_skew skew = {.host_ns = facts->device_uncertainty_ns,
                     .uncertainty_ns = facts->device_uncertainty_ns,
                     .is_movable = !facts->device_uncertainty_is_least};
    takt_status status = tkt_call_index_init(&index, trace);
    if (status != TAKT_OK)
        return status;
    status = tkt_skew_correct(trace, 0, &index, &none, &skew);
    tkt_call_index_fini(&index);
    facts->device_uncertainty_ns = skew.uncertainty_ns;
    facts->device_uncertainty_is_least = skew.is_least;
    facts->device_shift_ns = (double)skew.shift_ns;
    return status;
}

/* Records of memory arrive late if CUPTI still holds their buffer, so a stream's peaks may be too
 * high. Here the events are in order. */
static void find_peaks(takt_trace *trace)
{
    for (size_t i = 0; i < trace->device_memory.count; i++) {
        tkt_device_memory *memory = &trace->device_memory.items[i], found = {0};
        for (size_t k = 0; k < trace->memory_events.count; k++) {
            const tkt_memory_event *event = &trace->memory_events.items[k];
            if (event->device == memory->device && !tkt_memory_is_host(event))
                tkt_device_memory_add(&found, event);
        }
        memory->totals.window_peak_ns = found.totals.window_peak_ns;
        memory->totals.window_peak_bytes =
            memory->totals.window_begin_bytes + found.totals.window_peak_bytes;
    }
}

static takt_status finish_stream(takt_trace *trace)
{
    bool is_settled = (trace->stream & TKT_PF_STREAM_SETTLED) != 0;
    uint32_t filter = trace->stream & TKT_PF_STREAM_FILTER;
    if (filter == 0 || trace->calls.count == 0)
        return TAKT_OK;
    takt_status status = mark_missing(trace, filter, is_settled);
    if (status == TAKT_OK && trace->activities.count && trace->facts.device_uncertainty_ns > 0)
        status = bound_clocks(trace);
    return status;
}

/* True if the file has its last packet, and as many spans as it states. A hole, or a part of
 * another file, leaves the end in place; so does damage to a compressed file, of which only the
 * checksum at its end tells. */
static bool is_whole(const tkt_read *read, const takt_facts *stated)
{
    return read->is_complete && !read->input->is_cut &&
           (stated->span_count == 0 || stated->span_count == read->trace->facts.span_count);
}

/* Sets the ending, and compares the counts with those that the file states. */
static void set_ending(tkt_read *read, const takt_facts *stated)
{
    takt_facts *facts = &read->trace->facts;
    if (facts->ending == TAKT_ENDING_KILLED && read->trace->stopped_by)
        facts->ending = TAKT_ENDING_STOPPED;
    if (facts->ending != TAKT_ENDING_WHOLE || is_whole(read, stated))
        return;
    facts->ending = TAKT_ENDING_CUT;
    facts->known_until_ns = read->has_facts ? facts->end_ns : 0;
    if (stated->span_count > facts->span_count)
        facts->missing_spans = stated->span_count - facts->span_count;
    if (stated->activity_count > facts->activity_count)
        facts->missing_activities = stated->activity_count - facts->activity_count;
}

/* True if the file ends before its head, which has the facts: there is nothing to show. */
static bool has_nothing(const tkt_read *read)
{
    return !read->has_facts && !read->is_complete && read->trace->tracks.count == 0 &&
           read->trace->activities.count == 0;
}

static takt_status finish(tkt_read *read, uint64_t cut_bytes)
{
    takt_trace *trace = read->trace;
    if (has_nothing(read))
        return read->status = tkt_error_set(
                   read->input->error, TAKT_BAD_TRACE,
                   "%s: the file is cut before the end of its head: nothing in it can be read",
                   read->input->name);
    if (!read->has_facts)
        trace->facts.has_spans = true;
    close_rows(read);
    settle_events(trace);
    tkt_read_complete_run(trace);
    /* A cut in a compressed file leaves no bytes to count. */
    if (cut_bytes == 0 && read->input->is_cut)
        cut_bytes = 1;
    trace->losses[TAKT_LOSS_CUT] += cut_bytes;
    const takt_facts stated = trace->facts;
    if (tkt_trace_link(trace) != TAKT_OK || finish_stream(trace) != TAKT_OK ||
        tkt_trace_finish(trace) != TAKT_OK)
        tkt_read_no_memory(read);
    else
        set_ending(read, &stated);
    if (trace->stream && trace->facts.has_spans) {
        find_peaks(trace);
        tkt_memory_raise_peak(trace);
    }
    trace->stream = 0; /* from now on a trace like any other */
    return read->status;
}

takt_status tkt_trace_read_input(tkt_input *input, const char *host_devices, takt_trace **out)
{
    tkt_read read = {.input = input};
    bool is_whole;
    if (!check_head(&read, &is_whole))
        return read.status;
    if (tkt_trace_create(&read.trace) != TAKT_OK) {
        tkt_read_no_memory(&read);
        return read.status;
    }
    read.trace->host_devices = host_devices;
    uint64_t cut_bytes = is_whole ? 0 : tkt_input_left(input);
    input->window.at += is_whole ? sizeof head : 0;
    if (!is_whole || read_packets(&read, &cut_bytes))
        finish(&read, cut_bytes);
    free_read(&read);
    if (read.status != TAKT_OK)
        takt_trace_release(read.trace);
    else
        *out = read.trace;
    return read.status;
}

/* ---- Files ----------------------------------------------------------------------------------- */

takt_status tkt_trace_read(const uint8_t *bytes, size_t size, const char *name, takt_trace **out,
                           takt_error *error)
{
    tkt_input input;
    takt_status status = tkt_input_borrow(&input, bytes, size, name, error);
    if (status != TAKT_OK)
        return status;
    status = tkt_trace_read_input(&input, NULL, out);
    tkt_input_close(&input);
    return status;
}

takt_status takt_trace_open(const char *path, takt_trace **out, takt_error *error)
{
    TKT_OWN_WORK;
    if (!path || !out)
        return tkt_error_set(error, TAKT_BAD_ARGUMENT, "takt_trace_open: path or out is NULL");
    tkt_input input;
    takt_status status = tkt_input_open(&input, path, error);
    if (status != TAKT_OK)
        return status;
    status = tkt_trace_read_input(&input, NULL, out);
    tkt_input_close(&input);
    return status;
}
