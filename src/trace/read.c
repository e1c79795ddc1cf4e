/* Opening a file and walking over its packets. The bytes may come from anywhere: nothing is
 * believed, and what is kept in memory is bounded by what is in the file. A file that ends too
 * early is read as far as it goes; one that makes no sense is refused with the place. */
#include "trace/devices.h"
#include "trace/read.h"

#include "base/error.h"
#include "base/file.h"
#include "base/writer.h"

#include <string.h>

/* Our files shrink to a third, at most to a fiftieth; deflate can do a thousandth. Up to the first
 * limit any ratio is believed. */
#define UNPACKED_BYTES ((size_t)256 << 20)
#define UNPACKED_RATIO 64

/* What every file of this format begins with: the packet that holds nothing but the format. */
static const uint8_t head[] = {0x0A, 5, 0xA2, 0x7E, 2, TKT_PF_TAKT_FORMAT << 3, TKT_PF_FORMAT};
_Static_assert(TKT_PF_PACKET_TAKT == 2020, "the bytes A2 7E are its tag");

bool tkt_read_bad(tkt_read *read, const uint8_t *at, const char *what)
{
    read->status = tkt_error_set(read->error, TAKT_BAD_TRACE, "%s: byte %llu: %s", read->name,
                                 (unsigned long long)(at - read->bytes), what);
    return false;
}

bool tkt_read_no_memory(tkt_read *read)
{
    read->status = tkt_error_set(read->error, TAKT_NO_MEMORY, "%s: %s", read->name,
                                 takt_status_text(TAKT_NO_MEMORY));
    return false;
}

bool tkt_read_done(tkt_read *read, const tkt_pb_reader *message)
{
    return !message->is_bad || tkt_read_bad(read, message->at, "a field is malformed");
}

/* Takt's texts are C strings, so what follows a NUL would be invisible. */
bool tkt_read_text(tkt_read *read, const tkt_pb_field *field, uint32_t *string)
{
    if (field->wire != TKT_PB_BYTES)
        return tkt_read_bad(read, field->bytes, "a text is a number");
    const char *text = (const char *)field->bytes;
    *string = tkt_trace_string(read->trace, text, strnlen(text, (size_t)field->value));
    return *string != TKT_STRTAB_FULL || tkt_read_no_memory(read);
}

/* ---- What is left open when the file ends ---------------------------------------------------- */

/* Where spans end that never did; 0: each with its row. Those of a recording, or of a stream that
 * broke off, end with it. A file that was written afterwards and is cut tells the end of the
 * recording but not what the row did until then, of which only the last moment is certain. */
static uint64_t end_of_open_spans(tkt_read *read)
{
    takt_facts *facts = &read->trace->facts;
    bool is_cut_export = facts->end_ns && !read->is_complete && !read->are_facts_late;
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

/* ---- The spans that events belong to --------------------------------------------------------- */

/* So many spans that have ended are passed on the way up: a stack is not deeper, and a file made to
 * be slow must not have its way. */
#define MOST_ENDED 10000

/* The innermost span at a time: the last one that had begun, or the first of those around it that
 * had not ended. */
static uint32_t span_at(const tkt_track *track, uint64_t time_ns)
{
    const tkt_spans *spans = &track->spans;
    size_t low = 0;
    size_t high = track->kind == TAKT_TRACK_THREAD ? spans->count : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (spans->items[middle].begin_ns <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    uint32_t span = low ? (uint32_t)low - 1 : TKT_NO_SPAN;
    for (int up = 0; up < MOST_ENDED && span != TKT_NO_SPAN; up++) {
        if (spans->items[span].end_ns >= time_ns)
            return span;
        span = spans->items[span].parent;
    }
    return TKT_NO_SPAN;
}

/* Events may also name a span that is behind the cut, or nowhere. */
static void settle_span(const takt_trace *trace, uint32_t track, uint64_t time_ns, uint32_t *span)
{
    const tkt_track *on = &trace->tracks.items[track];
    if (*span == TKT_READ_SPAN_BY_TIME)
        *span = span_at(on, time_ns);
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
    tkt_map_fini(&read->counters);
    tkt_map_fini(&read->memories);
}

/* ---- Packets --------------------------------------------------------------------------------- */

static bool is_zero(const uint8_t *at, const uint8_t *end)
{
    while (at < end && *at == 0)
        at++;
    return at == end;
}

/* Reads packets up to the end, or to where the last one is cut; *cut_bytes is what is left there. A
 * tail of zeros is what a crash of the machine leaves of a file that was being written. */
static bool read_packets(tkt_read *read, const uint8_t *at, const uint8_t *end, size_t *cut_bytes)
{
    while (at < end && !read->is_complete) {
        *cut_bytes = (size_t)(end - at);
        if (*at != head[0])
            return is_zero(at, end) || tkt_read_bad(read, at, "not a trace packet");
        tkt_pb_field packet = {.number = TKT_PF_TRACE_PACKET, .wire = TKT_PB_BYTES};
        const uint8_t *next = tkt_pb_get_varint(at + 1, end, &packet.value);
        if (!next && end - at > TKT_PB_VARINT_MAX)
            return tkt_read_bad(read, at, "a packet's size is malformed");
        if (!next || packet.value > (size_t)(end - next))
            return true;
        packet.bytes = next;
        if (!tkt_read_packet(read, &packet))
            return false;
        at = next + packet.value;
        *cut_bytes = 0;
    }
    return at == end || tkt_read_bad(read, at, "more follows after the trace's end");
}

static bool check_head(tkt_read *read, size_t size)
{
    size_t known = size < sizeof head ? size : sizeof head;
    if (size == 0) {
        read->status =
            tkt_error_set(read->error, TAKT_BAD_TRACE, "%s: the file is empty", read->name);
        return false;
    }
    if (memcmp(read->bytes, head, known) == 0)
        return true;
    if (known == sizeof head && memcmp(read->bytes, head, sizeof head - 1) == 0) {
        read->status = tkt_error_set(
            read->error, TAKT_BAD_TRACE,
            "%s: written in format %u by a later version of Takt; this one reads format %u",
            read->name, read->bytes[sizeof head - 1], TKT_PF_FORMAT);
        return false;
    }
    if (read->bytes[0] == '{') /* most often Takt's own Chrome or speedscope file */
        return tkt_read_bad(read, read->bytes,
                            "not a trace that Takt wrote but JSON: name the .pftrace instead");
    return tkt_read_bad(read, read->bytes, "not a trace that Takt wrote");
}

static takt_status finish(tkt_read *read, size_t cut_bytes, bool was_unpacked_cut)
{
    takt_trace *trace = read->trace;
    if (!read->has_facts)
        trace->facts.has_spans = true;
    close_rows(read);
    settle_events(trace);
    /* A cut between two packets, or in the packed file, leaves no bytes to count. */
    if (cut_bytes == 0 && (!read->is_complete || was_unpacked_cut))
        cut_bytes = 1;
    trace->facts.losses[TAKT_LOSS_CUT] += cut_bytes;
    if (tkt_trace_link(trace) != TAKT_OK || tkt_trace_finish(trace) != TAKT_OK)
        tkt_read_no_memory(read);
    return read->status;
}

static takt_status read_all(const uint8_t *bytes, size_t size, bool was_unpacked_cut,
                            const char *name, takt_trace **out, takt_error *error)
{
    tkt_read read = {.name = name, .bytes = bytes, .error = error};
    if (!check_head(&read, size))
        return read.status;
    if (tkt_trace_create(&read.trace) != TAKT_OK) {
        tkt_read_no_memory(&read);
        return read.status;
    }
    size_t cut_bytes = size < sizeof head ? size : 0;
    const uint8_t *end = bytes + size;
    if (size < sizeof head || read_packets(&read, bytes + sizeof head, end, &cut_bytes))
        finish(&read, cut_bytes, was_unpacked_cut);
    free_read(&read);
    if (read.status != TAKT_OK)
        takt_trace_release(read.trace);
    else
        *out = read.trace;
    return read.status;
}

/* ---- Files ----------------------------------------------------------------------------------- */

static bool is_packed(const uint8_t *bytes, size_t size)
{
    return size >= 2 && bytes[0] == 0x1F && bytes[1] == 0x8B;
}

static takt_status read_packed(const uint8_t *bytes, size_t size, const char *name,
                               takt_trace **out, takt_error *error)
{
    size_t limit = size > UNPACKED_BYTES / UNPACKED_RATIO ? size * UNPACKED_RATIO : UNPACKED_BYTES;
    char *unpacked;
    size_t unpacked_size;
    bool is_cut;
    takt_status status = tkt_gzip_read(bytes, size, limit, &unpacked, &unpacked_size, &is_cut);
    if (status == TAKT_BAD_TRACE)
        return tkt_error_set(
            error, status, "%s: unpacks to more than %zu bytes, which no trace does", name, limit);
    if (status != TAKT_OK)
        return tkt_error_set(error, status, "%s: %s", name, takt_status_text(status));
    if (unpacked_size == 0)
        status = tkt_error_set(error, TAKT_BAD_TRACE, "%s: nothing can be unpacked", name);
    else
        status = read_all((const uint8_t *)unpacked, unpacked_size, is_cut, name, out, error);
    tkt_free(unpacked);
    return status;
}

takt_status tkt_trace_read(const uint8_t *bytes, size_t size, const char *name, takt_trace **out,
                           takt_error *error)
{
    if (is_packed(bytes, size))
        return read_packed(bytes, size, name, out, error);
    return read_all(bytes, size, false, name, out, error);
}

takt_status takt_trace_open(const char *path, takt_trace **out, takt_error *error)
{
    if (!path || !out)
        return tkt_error_set(error, TAKT_BAD_ARGUMENT, "takt_trace_open: no path or no result");
    const uint8_t *bytes;
    size_t size;
    takt_status status = tkt_file_map(path, &bytes, &size, error);
    if (status != TAKT_OK)
        return status;
    status = tkt_trace_read(bytes, size, path, out, error);
    tkt_file_unmap(bytes, size);
    return status;
}
