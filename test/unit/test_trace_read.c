/* Files that are cut, damaged, packed, foreign or of another time. */
#include "support/sanitized.h"
#include "support/test.h"
#include "support/trace_build.h"

#include "base/alloc.h"
#include "export/perfetto.h"

#include <unistd.h>

typedef struct outcome {
    takt_status status;
    takt_trace *trace;
    takt_error error;
} outcome;

static outcome try_bytes(const void *bytes, size_t size)
{
    outcome out = {0};
    /* A copy of its own shows reads past the end to the sanitizer. */
    uint8_t *copy = malloc(size + 1);
    memcpy(copy, bytes, size);
    uint8_t *exact = malloc(size ? size : 1);
    memcpy(exact, copy, size);
    free(copy);
    out.status = tkt_trace_read(exact, size, "file", &out.trace, &out.error);
    free(exact);
    return out;
}

static void is_bad(const void *bytes, size_t size, const char *why)
{
    outcome out = try_bytes(bytes, size);
    assert_int_equal(out.status, TAKT_BAD_TRACE);
    assert_null(out.trace);
    assert_int_equal(out.error.status, TAKT_BAD_TRACE);
    if (!strstr(out.error.message, why))
        fail_msg("\"%s\" does not say \"%s\"", out.error.message, why);
    assert_true(strncmp(out.error.message, "file: ", 6) == 0);
}

static takt_trace *finished(takt_trace *trace)
{
    assert_int_equal(tkt_trace_finish(trace), TAKT_OK);
    return trace;
}

/* ---- Cuts ------------------------------------------------------------------------------------ */

static size_t total_spans(const takt_trace *trace)
{
    size_t count = 0;
    for (size_t i = 0; i < trace->tracks.count; i++)
        count += trace->tracks.items[i].spans.count;
    return count;
}

/* Every span of a cut file is one of the whole file; only its end may be missing. */
static void is_beginning_of(const takt_trace *cut, const takt_trace *whole)
{
    assert_true(cut->tracks.count <= whole->tracks.count);
    for (size_t t = 0; t < cut->tracks.count; t++) {
        const tkt_spans *part = &cut->tracks.items[t].spans;
        const tkt_spans *all = &whole->tracks.items[t].spans;
        assert_true(part->count <= all->count);
        for (size_t i = 0; i < part->count; i++) {
            assert_int_equal(part->items[i].begin_ns, all->items[i].begin_ns);
            assert_int_equal(part->items[i].parent, all->items[i].parent);
            same_site(cut, whole, tkt_span_site(&part->items[i]), tkt_span_site(&all->items[i]));
            bool is_open = part->items[i].site_flags & TAKT_SPAN_UNFINISHED;
            assert_true(is_open || part->items[i].end_ns == all->items[i].end_ns);
            assert_true(part->items[i].end_ns >= part->items[i].begin_ns);
        }
    }
}

/* Where packets end: the sizes at which nothing but whole packets is left. */
static size_t last_packet_end(const uint8_t *bytes, size_t size)
{
    size_t at = 0;
    while (at < size) {
        uint64_t length;
        const uint8_t *content = tkt_pb_get_varint(bytes + at + 1, bytes + size, &length);
        if (!content || length > (size_t)(bytes + size - content))
            return at;
        at = (size_t)(content - bytes) + length;
    }
    return at;
}

/* Once its head is there. */
TEST(a_file_cut_anywhere_is_read_up_to_there)
{
    takt_trace *whole = finished(whole_trace());
    memory_sink file = write_trace(whole);
    const uint8_t *bytes = (const uint8_t *)file.data;
    size_t before = 0;
    bool has_head = false;
    for (size_t size = 1; size < file.size; size++) {
        outcome out = try_bytes(bytes, size);
        has_head = has_head || out.status == TAKT_OK;
        if (!has_head) {
            assert_int_equal(out.status, TAKT_BAD_TRACE);
            assert_non_null(strstr(out.error.message, "cut before the end of its head"));
            continue;
        }
        assert_int_equal(out.status, TAKT_OK);
        size_t left = size - last_packet_end(bytes, size);
        assert_int_equal(out.trace->losses[TAKT_LOSS_CUT], left);
        assert_int_equal(out.trace->facts.ending, TAKT_ENDING_CUT);
        assert_int_equal(out.trace->facts.end_ns, END_NS);
        assert_int_equal(out.trace->facts.known_until_ns, END_NS);
        assert_int_equal(out.trace->facts.missing_spans,
                         total_spans(whole) - total_spans(out.trace));
        assert_int_equal(out.trace->facts.missing_activities,
                         whole->activities.count - out.trace->activities.count);
        is_beginning_of(out.trace, whole);
        assert_true(total_spans(out.trace) >= before);
        assert_int_equal(out.trace->facts.span_count, total_spans(out.trace));
        before = total_spans(out.trace);
        takt_trace_release(out.trace);
    }
    assert_int_equal(before, total_spans(whole));
    tkt_free(file.data);
    takt_trace_release(whole);
}

/* The end of the recording is known, but not what the cut track did until then. */
TEST(a_cut_span_ends_with_what_is_left_of_its_track)
{
    takt_trace *trace = make_trace();
    uint32_t site = make_site(trace, "x", TAKT_SITE_SCOPE);
    make_span(trace, make_thread(trace, "a", 1), site, TKT_NO_SPAN, BEGIN_NS, END_NS);
    uint32_t second = make_thread(trace, "b", 2);
    uint32_t outer = make_span(trace, second, site, TKT_NO_SPAN, BEGIN_NS, END_NS);
    make_span(trace, second, site, outer, BEGIN_NS + 10, BEGIN_NS + 20);
    memory_sink file = write_trace(finished(trace));
    size_t size = last_packet_end((const uint8_t *)file.data, file.size - 1); /* without the end */
    size = last_packet_end((const uint8_t *)file.data, size - 1); /* and without outer's end */
    takt_trace *cut = read_bytes(file.data, size);
    assert_int_equal(cut->tracks.items[0].spans.items[0].end_ns, END_NS);
    assert_int_equal(cut->tracks.items[1].spans.items[0].end_ns, BEGIN_NS + 20);
    assert_int_equal(cut->tracks.items[1].spans.items[1].end_ns, BEGIN_NS + 20);
    assert_int_equal(cut->facts.unfinished, 1);
    assert_int_equal(cut->facts.end_ns, END_NS);
    takt_trace_release(cut);
    takt_trace_release(trace);
    tkt_free(file.data);
}

TEST(zeros_behind_a_cut_belong_to_it)
{
    takt_trace *trace = finished(whole_trace());
    memory_sink file = write_trace(trace);
    size_t size = last_packet_end((const uint8_t *)file.data, file.size - 1);
    memset(file.data + size, 0, file.size - size);
    takt_trace *cut = read_bytes(file.data, file.size);
    assert_int_equal(cut->losses[TAKT_LOSS_CUT], file.size - size);
    takt_trace_release(cut);
    takt_trace_release(trace);
    tkt_free(file.data);
}

TEST(a_cut_is_still_told_when_it_is_written_again)
{
    takt_trace *trace = finished(whole_trace());
    memory_sink file = write_trace(trace);
    takt_trace *cut = read_bytes(file.data, file.size - 1);
    takt_trace *again = write_and_read(cut);
    assert_true(cut->losses[TAKT_LOSS_CUT] > 0);
    same_trace(cut, again);
    takt_trace_release(again);
    takt_trace_release(cut);
    takt_trace_release(trace);
    tkt_free(file.data);
}

/* ---- Damage ---------------------------------------------------------------------------------- */

/* Whatever one bit does, the file is read or refused with a reason, and what is read can be used.
 */
TEST(any_flipped_bit_is_survived)
{
    takt_trace *trace = whole_trace();
    trace->facts.has_spans = true;
    memory_sink file = write_trace(finished(trace));
    const size_t stride = FEWER(7, 3); /* each byte and each place in a byte is among them */
    size_t refused = 0;
    for (size_t bit = 0; bit < 8 * file.size; bit += stride) {
        file.data[bit / 8] ^= (char)(1 << bit % 8);
        outcome out = try_bytes(file.data, file.size);
        if (out.status == TAKT_OK) {
            assert_non_null(tkt_trace_fold(out.trace));
            memory_sink again = write_trace(out.trace);
            tkt_free(again.data);
        } else {
            assert_int_equal(out.status, TAKT_BAD_TRACE);
            assert_true(strlen(out.error.message) > 10);
            refused++;
        }
        takt_trace_release(out.trace);
        file.data[bit / 8] ^= (char)(1 << bit % 8);
    }
    assert_true(refused > file.size / stride);
    takt_trace_release(trace);
    tkt_free(file.data);
}

/* A packet of the given fields, in a file that has a head and a row. */
static void is_refused(const tkt_message *fields, const char *why)
{
    takt_trace *trace = make_trace();
    make_span(trace, make_thread(trace, "main", 1), make_site(trace, "x", TAKT_SITE_SCOPE),
              TKT_NO_SPAN, BEGIN_NS, END_NS);
    memory_sink file = write_trace(finished(trace));
    tkt_message bytes = {0};
    size_t size = last_packet_end((const uint8_t *)file.data, file.size - 1);
    for (size_t i = 0; i < size; i++)
        ADD(&bytes, file.data[i]);
    size_t mark = tkt_message_begin(&bytes, TKT_PF_TRACE_PACKET);
    tkt_message_uint(&bytes, TKT_PF_PACKET_TIMESTAMP, 1);
    tkt_message_uint(&bytes, TKT_PF_PACKET_SEQUENCE, 2);
    tkt_message_append(&bytes, fields);
    tkt_message_end(&bytes, mark);
    is_bad(bytes.items, bytes.count, why);
    TKT_ARRAY_FREE(&bytes);
    takt_trace_release(trace);
    tkt_free(file.data);
}

static size_t event_of(tkt_message *message, uint32_t type)
{
    tkt_message_clear(message);
    size_t mark = tkt_message_begin(message, TKT_PF_PACKET_TRACK_EVENT);
    tkt_message_uint(message, TKT_PF_EVENT_TYPE, type);
    return mark;
}

TEST(events_that_make_no_sense_are_refused)
{
    tkt_message m = {0};
    size_t event = event_of(&m, TKT_PF_SLICE_BEGIN);
    tkt_message_uint(&m, TKT_PF_EVENT_NAME_IID, 2);
    tkt_message_end(&m, event);
    is_refused(&m, "an event's site is unknown");

    tkt_message_end(&m, event_of(&m, TKT_PF_SLICE_BEGIN));
    is_refused(&m, "an event's site is unknown");

    event = event_of(&m, TKT_PF_INSTANT);
    tkt_message_uint(&m, TKT_PF_EVENT_NAME_IID, 2);
    tkt_message_end(&m, event);
    is_refused(&m, "an event's site is unknown");

    event = event_of(&m, TKT_PF_SLICE_BEGIN);
    tkt_message_uint(&m, TKT_PF_EVENT_NAME_IID, 1);
    size_t annotation = tkt_message_begin(&m, TKT_PF_EVENT_ANNOTATIONS);
    tkt_message_uint(&m, TKT_PF_ANNOTATION_NAME_IID, TKT_PF_KEY_FIRST);
    tkt_message_end(&m, annotation);
    tkt_message_end(&m, event);
    is_refused(&m, "an argument's key is unknown");

    event = event_of(&m, TKT_PF_SLICE_END);
    tkt_message_varint(&m, 7); /* a field 0 with a wire type that does not exist */
    tkt_message_end(&m, event);
    is_refused(&m, "a field is malformed");
    TKT_ARRAY_FREE(&m);
}

/* One field of Takt's message, which holds the given fields. */
static void takt_is_refused(uint32_t field, const tkt_message *fields, const char *why)
{
    tkt_message m = {0};
    size_t takt = tkt_message_begin(&m, TKT_PF_PACKET_TAKT);
    size_t mark = tkt_message_begin(&m, field);
    tkt_message_append(&m, fields);
    tkt_message_end(&m, mark);
    tkt_message_end(&m, takt);
    is_refused(&m, why);
    TKT_ARRAY_FREE(&m);
}

/* The first of two equal nodes is fine. */
static void node_is_refused_twice(const tkt_message *node)
{
    tkt_message m = {0};
    size_t takt = tkt_message_begin(&m, TKT_PF_PACKET_TAKT);
    for (int i = 0; i < 2; i++) {
        size_t mark = tkt_message_begin(&m, TKT_PF_TAKT_NODES);
        tkt_message_append(&m, node);
        tkt_message_end(&m, mark);
    }
    tkt_message_end(&m, takt);
    is_refused(&m, "a node of the call tree occurs twice");
    TKT_ARRAY_FREE(&m);
}

TEST(descriptions_that_make_no_sense_are_refused)
{
    tkt_message m = {0};
    tkt_message_uint(&m, TKT_PF_SITE_IID, UINT64_C(1) << 40); /* no table may become that large */
    takt_is_refused(TKT_PF_TAKT_SITES, &m, "a site's number");
    takt_is_refused(TKT_PF_TAKT_KEYS, &m, "a key's number");

    tkt_message_clear(&m);
    tkt_message_uint(&m, TKT_PF_SITE_NAME, 5);
    takt_is_refused(TKT_PF_TAKT_SITES, &m, "a text field contains a number");

    tkt_message_clear(&m);
    tkt_message_uint(&m, TKT_PF_TAKT_TRACK_KIND, TKT_PF_TRACK_OF_THREAD);
    tkt_message_uint(&m, TKT_PF_TAKT_TRACK_INDEX, 1);
    takt_is_refused(TKT_PF_TAKT_TRACK, &m, "a sequence is described twice");

    tkt_message_clear(&m);
    tkt_message_uint(&m, TKT_PF_NODE_SITE, 2);
    takt_is_refused(TKT_PF_TAKT_NODES, &m, "a node's parent or site is unknown");
    tkt_message_clear(&m);
    tkt_message_uint(&m, TKT_PF_NODE_PARENT, 7);
    takt_is_refused(TKT_PF_TAKT_NODES, &m, "a node's parent or site is unknown");

    tkt_message_clear(&m);
    tkt_message_uint(&m, TKT_PF_NODE_SITE, 1);
    node_is_refused_twice(&m);

    tkt_message_clear(&m);
    size_t stats = tkt_message_begin(&m, TKT_PF_NODE_STATS);
    tkt_message_uint(&m, TKT_PF_STATS_COUNT, 1);
    size_t histogram = tkt_message_begin(&m, TKT_PF_STATS_HISTOGRAM);
    tkt_message_varint(&m, TKT_HISTOGRAM_BUCKETS);
    tkt_message_varint(&m, 1);
    tkt_message_end(&m, histogram);
    tkt_message_end(&m, stats);
    takt_is_refused(TKT_PF_TAKT_NODES, &m, "a histogram is malformed");

    tkt_message_clear(&m);
    tkt_message_uint(&m, TKT_PF_FACTS_BEGIN_NS, 2);
    tkt_message_uint(&m, TKT_PF_FACTS_END_NS, 1);
    takt_is_refused(TKT_PF_TAKT_FACTS, &m, "ends before it begins");
    TKT_ARRAY_FREE(&m);
}

/* Lists of devices are searched from end to end, so a file must not make them long. */
TEST(more_devices_than_there_can_be_are_refused)
{
    tkt_message m = {0};
    size_t takt = tkt_message_begin(&m, TKT_PF_PACKET_TAKT);
    for (unsigned i = 0; i <= TKT_MOST_DEVICES; i++) {
        char label[16];
        snprintf(label, sizeof label, "cuda:%u", i);
        size_t device = tkt_message_begin(&m, TKT_PF_TAKT_DEVICES);
        tkt_message_uint_if(&m, 1, i); /* ordinal */
        tkt_message_string(&m, 2, label);
        tkt_message_end(&m, device);
    }
    tkt_message_end(&m, takt);
    is_refused(&m, "too many devices");
    TKT_ARRAY_FREE(&m);
}

/* Two calls of 110 ns in all. */
static uint64_t read_pieces(uint64_t pieces, uint64_t pieces_ns)
{
    takt_trace *trace = random_trace(5, 2, 30);
    assert_int_equal(tkt_fold_init(&trace->fold), TAKT_OK);
    uint32_t node = tkt_fold_child(&trace->fold, 0, 1);
    for (int i = 0; i < 2; i++)
        tkt_fold_add(&trace->fold, node, 55);
    trace->fold.items[node].stats.pieces = pieces;
    trace->fold.items[node].stats.pieces_ns = pieces_ns;
    takt_trace *back = write_and_read(finished(trace));
    uint64_t read = back->fold.items[node].stats.pieces;
    assert_int_equal(back->fold.items[node].stats.pieces_ns, read ? pieces_ns : 0);
    takt_trace_release(back);
    takt_trace_release(trace);
    return read;
}

TEST(more_pieces_than_calls_or_time_are_none)
{
    assert_int_equal(read_pieces(2, 110), 2);
    assert_int_equal(read_pieces(3, 110), 0);
    assert_int_equal(read_pieces(2, 111), 0);
}

/* A bool has one byte, and any number but 0 is true. */
TEST(a_flag_with_a_large_number_is_true)
{
    tkt_message m = {0};
    size_t packet = tkt_message_begin(&m, TKT_PF_TRACE_PACKET);
    size_t takt = tkt_message_begin(&m, TKT_PF_PACKET_TAKT);
    tkt_message_uint(&m, TKT_PF_TAKT_FORMAT, TKT_PF_FORMAT);
    tkt_message_end(&m, takt);
    tkt_message_end(&m, packet);
    packet = tkt_message_begin(&m, TKT_PF_TRACE_PACKET);
    takt = tkt_message_begin(&m, TKT_PF_PACKET_TAKT);
    size_t facts = tkt_message_begin(&m, TKT_PF_TAKT_FACTS);
    tkt_message_uint(&m, 9, 256); /* is_partial */
    tkt_message_end(&m, facts);
    tkt_message_end(&m, takt);
    tkt_message_end(&m, packet);
    takt_trace *trace = read_bytes(m.items, m.count);
    assert_true(trace->facts.is_partial);
    takt_trace_release(trace);
    TKT_ARRAY_FREE(&m);
}

/* ---- Files of others ------------------------------------------------------------------------- */

TEST(foreign_files_are_refused)
{
    is_bad("", 0, "the file is empty");
    is_bad("hello, world\n", 13, "byte 0: not a trace that Takt wrote");
    is_bad("\x7F"
           "ELF\x02\x01\x01",
           8, "not a trace that Takt wrote");
    is_bad("{\"traceEvents\": []}", 19,
           "byte 0: JSON, not a trace that Takt wrote: open the .pftrace file instead");
    is_bad("\x0A\x06\x50\x01\x58\x02\x60\x03", 8, "not a trace that Takt wrote"); /* Perfetto's */
    is_bad("\x0A\x05\xA2\x7E\x02\x08\x02", 7, "a later version of Takt wrote it in format 2");
    is_bad("\x0A\x05\xA2\x7E\x02\x08\x01\xFF", 8, "byte 7: not a trace packet");
    is_bad("\x0A\x05\xA2\x7E\x02\x08\x01\x0A\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01\x01",
           21, "byte 7: a packet's size is malformed");
    is_bad("\x1F\x8B not gzip", 11, "nothing could be unpacked");

    takt_trace *trace = NULL;
    takt_error error;
    assert_int_equal(takt_trace_open("/nowhere/x.pftrace", &trace, &error), TAKT_IO_ERROR);
    assert_non_null(strstr(error.message, "/nowhere/x.pftrace"));
    assert_int_equal(takt_trace_open("/", &trace, NULL), TAKT_IO_ERROR);
    assert_int_equal(takt_trace_open(NULL, &trace, &error), TAKT_BAD_ARGUMENT);
    assert_null(trace);
}

TEST(two_traces_in_a_file_are_refused)
{
    takt_trace *trace = finished(whole_trace());
    memory_sink file = write_trace(trace);
    char *twice = malloc(2 * file.size);
    memcpy(twice, file.data, file.size);
    memcpy(twice + file.size, file.data, file.size);
    is_bad(twice, 2 * file.size, "data follows after the end of the trace");
    size_t cut = last_packet_end((const uint8_t *)file.data, file.size - 1);
    memcpy(twice + cut, file.data, file.size);
    is_bad(twice, cut + file.size, "a second trace begins");
    free(twice);
    takt_trace_release(trace);
    tkt_free(file.data);
}

/* Copies a message with an unknown field of each type at its end, perhaps one at its front, and the
 * same in the messages that its fields of number `inside` are. */
static void stuff(tkt_message *out, const uint8_t *bytes, size_t size, const uint32_t *inside,
                  bool at_front)
{
    tkt_pb_reader message = tkt_pb_read(bytes, size);
    tkt_pb_field field;
    if (at_front)
        tkt_message_uint(out, 900, 12345);
    for (const uint8_t *from = message.at; tkt_pb_next(&message, &field); from = message.at) {
        if (*inside && field.number == *inside) {
            size_t mark = tkt_message_begin(out, field.number);
            stuff(out, field.bytes, field.value, inside + 1, at_front);
            tkt_message_end(out, mark);
        } else {
            for (; from < message.at; from++)
                ADD(out, (char)*from);
        }
    }
    tkt_message_fixed64(out, 901, 1);
    tkt_message_string(out, 902, "unknown");
    ADD(out, (char)0xBD); /* field 903, a fixed32 */
    ADD(out, (char)0x38);
    for (int i = 0; i < 4; i++)
        ADD(out, 1);
}

/* Packets look strange to the reader's short cuts then, so both of its ways are compared, too. */
TEST(unknown_fields_are_skipped)
{
    static const uint32_t events[] = {TKT_PF_PACKET_TRACK_EVENT, TKT_PF_EVENT_ANNOTATIONS, 0};
    static const uint32_t takt[] = {TKT_PF_PACKET_TAKT, TKT_PF_TAKT_FACTS, TKT_PF_FACTS_LOSSES, 0};
    static const uint32_t sites[] = {TKT_PF_PACKET_TAKT, TKT_PF_TAKT_SITES, 0};
    static const uint32_t nodes[] = {TKT_PF_PACKET_TAKT, TKT_PF_TAKT_NODES, TKT_PF_NODE_STATS, 0};
    static const uint32_t *const ways[] = {events, takt, sites, nodes};
    takt_trace *trace = random_trace(3, 3, 200);
    make_facts(trace);
    assert_int_equal(tkt_fold_init(&trace->fold), TAKT_OK);
    tkt_fold_add(&trace->fold, tkt_fold_child(&trace->fold, 0, 1), 55);
    memory_sink file = write_trace(finished(trace));
    for (size_t way = 0; way < 2 * sizeof ways / sizeof *ways; way++) {
        tkt_message stuffed = {0};
        for (size_t i = 0; i < 7; i++)
            ADD(&stuffed, file.data[i]);
        tkt_pb_reader all = tkt_pb_read((const uint8_t *)file.data + 7, file.size - 7);
        tkt_pb_field packet;
        while (tkt_pb_next(&all, &packet)) {
            size_t mark = tkt_message_begin(&stuffed, TKT_PF_TRACE_PACKET);
            stuff(&stuffed, packet.bytes, packet.value, ways[way / 2], way % 2);
            tkt_message_end(&stuffed, mark);
        }
        takt_trace *back = read_bytes(stuffed.items, stuffed.count);
        same_trace(trace, back);
        takt_trace_release(back);
        TKT_ARRAY_FREE(&stuffed);
    }
    takt_trace_release(trace);
    tkt_free(file.data);
}

/* Copies a packet with its fields in the order of their numbers, as other writers put them. */
static void copy_sorted(tkt_message *out, const tkt_pb_field *packet)
{
    uint32_t above = 0;
    tkt_pb_field field;
    for (;;) {
        uint32_t least = UINT32_MAX;
        tkt_pb_reader fields = tkt_pb_inside(packet);
        while (tkt_pb_next(&fields, &field))
            least = field.number > above && field.number < least ? field.number : least;
        if (least == UINT32_MAX)
            return;
        fields = tkt_pb_inside(packet);
        for (const uint8_t *from = fields.at; tkt_pb_next(&fields, &field); from = fields.at) {
            for (; field.number == least && from < fields.at; from++)
                ADD(out, (char)*from);
        }
        above = least;
    }
}

TEST(the_order_of_fields_does_not_matter)
{
    takt_trace *trace = random_trace(3, 3, 200);
    trace->facts.begin_ns += 1000; /* some events are before it, with another clock */
    memory_sink file = write_trace(finished(trace));
    tkt_message sorted = {0};
    tkt_pb_reader all = tkt_pb_read((const uint8_t *)file.data, file.size);
    tkt_pb_field packet;
    while (tkt_pb_next(&all, &packet)) {
        size_t mark = tkt_message_begin(&sorted, TKT_PF_TRACE_PACKET);
        copy_sorted(&sorted, &packet);
        tkt_message_end(&sorted, mark);
    }
    assert_int_equal(sorted.count, file.size);
    assert_memory_not_equal(sorted.items, file.data, file.size);
    takt_trace *back = read_bytes(sorted.items, sorted.count);
    same_trace(trace, back);
    takt_trace_release(back);
    TKT_ARRAY_FREE(&sorted);
    takt_trace_release(trace);
    tkt_free(file.data);
}

/* Takt's texts are C strings. */
TEST(a_text_ends_at_a_nul)
{
    takt_trace *trace = finished(whole_trace());
    memory_sink file = write_trace(trace);
    size_t replaced = 0;
    for (size_t i = 0; i + 4 < file.size; i++) {
        if (memcmp(file.data + i, "step", 4) == 0) {
            file.data[i + 2] = 0;
            replaced++;
        }
    }
    assert_true(replaced > 2);
    takt_trace *back = read_bytes(file.data, file.size);
    takt_span_info span;
    assert_int_equal(takt_trace_span(back, 0, 0, &span), TAKT_OK);
    assert_string_equal(span.name, "st");
    takt_trace *again = write_and_read(back);
    same_trace(back, again);
    for (size_t i = 0; i < back->strings.count; i++)
        assert_int_equal(strlen(back->strings.items[i].bytes), back->strings.items[i].size);
    takt_trace_release(again);
    takt_trace_release(back);
    takt_trace_release(trace);
    tkt_free(file.data);
}

/* ---- Packed files and real ones -------------------------------------------------------------- */

static memory_sink pack(const memory_sink *file)
{
    memory_sink packed = {0};
    tkt_gzip *gzip;
    takt_sink sink;
    assert_int_equal(tkt_gzip_create(memory_sink_of(&packed), 6, &gzip, &sink), TAKT_OK);
    assert_int_equal(sink.write(sink.user, file->data, file->size), TAKT_OK);
    assert_int_equal(tkt_gzip_finish(gzip), TAKT_OK);
    return packed;
}

TEST(a_packed_file_is_read_and_may_be_cut)
{
    takt_trace *trace = finished(random_trace(11, 2, 100));
    memory_sink file = write_trace(trace);
    memory_sink packed = pack(&file);
    assert_true(packed.size < file.size);
    takt_trace *back = read_bytes(packed.data, packed.size);
    same_trace(trace, back);
    takt_trace_release(back);
    for (size_t size = 300; size < packed.size; size += 7) {
        outcome out = try_bytes(packed.data, size);
        if (out.status == TAKT_BAD_TRACE) /* not even the head came out */
            continue;
        assert_int_equal(out.status, TAKT_OK);
        is_beginning_of(out.trace, trace);
        assert_true(out.trace->losses[TAKT_LOSS_CUT] > 0);
        takt_trace_release(out.trace);
    }
    tkt_free(packed.data);
    tkt_free(file.data);
    takt_trace_release(trace);
}

/* 40 KiB that become 40 MiB. */
TEST(a_file_that_unpacks_without_end_is_refused)
{
    size_t piece = 1 << 20;
    char *zeros = calloc(1, piece);
    memory_sink packed = {0};
    tkt_gzip *gzip;
    takt_sink sink;
    assert_int_equal(tkt_gzip_create(memory_sink_of(&packed), 9, &gzip, &sink), TAKT_OK);
    assert_int_equal(sink.write(sink.user, "\x0A\x05\xA2\x7E\x02\x08\x01", 7), TAKT_OK);
    for (int i = 0; i < 40; i++)
        assert_int_equal(sink.write(sink.user, zeros, piece), TAKT_OK);
    assert_int_equal(tkt_gzip_finish(gzip), TAKT_OK);
    is_bad(packed.data, packed.size, "unpacks to more than");
    free(zeros);
    tkt_free(packed.data);
}

TEST(a_file_is_opened_by_its_path)
{
    char path[] = "/tmp/takt-test-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    takt_trace *trace = finished(whole_trace());
    memory_sink file = write_trace(trace);
    takt_sink sink = takt_sink_fd(fd);
    assert_int_equal(sink.write(sink.user, file.data, file.size), TAKT_OK);
    close(fd);
    takt_trace *back = NULL;
    assert_int_equal(takt_trace_open(path, &back, NULL), TAKT_OK);
    unlink(path);
    same_trace(trace, back);
    assert_ptr_equal(takt_trace_retain(back), back);
    takt_trace_release(back);
    assert_string_equal(takt_trace_facts(back)->name, "sph");
    takt_trace_release(back);
    takt_trace_release(trace);
    tkt_free(file.data);
}

TEST(without_memory_reading_says_so)
{
    takt_trace *trace = random_trace(5, 2, 30);
    assert_int_equal(tkt_fold_init(&trace->fold), TAKT_OK);
    tkt_fold_add(&trace->fold, tkt_fold_child(&trace->fold, 0, 1), 55);
    memory_sink file = write_trace(finished(trace));
    takt_status status = TAKT_NO_MEMORY;
    uint64_t tries = 0;
    for (; status != TAKT_OK && tries < 10000; tries++) {
        takt_trace *back = NULL;
        takt_error error = {0};
        tkt_alloc_fail(tries, UINT64_MAX);
        status = tkt_trace_read((const uint8_t *)file.data, file.size, "file", &back, &error);
        tkt_alloc_fail(0, 0);
        if (status != TAKT_OK) {
            assert_int_equal(status, TAKT_NO_MEMORY);
            assert_string_equal(error.message, "file: out of memory");
        }
        takt_trace_release(back);
    }
    assert_true(tries > 30 && tries < 10000);
    takt_trace_release(trace);
    tkt_free(file.data);
}

/* ---- Activities of the host ------------------------------------------------------------------ */

static void make_activity(takt_trace *trace, uint32_t thread, const char *device)
{
    const tkt_trace_site site = {.name = text(trace, "loop"),
                                 .device = text(trace, device),
                                 .filter = TAKT_TIMING_KERNEL,
                                 .kind = TAKT_SITE_ACTIVITY};
    make_span(trace, thread, tkt_trace_site_index(trace, &site), TKT_NO_SPAN, BEGIN_NS, END_NS);
}

TEST(activities_of_the_host_are_only_counted_if_nobody_asks_for_their_device)
{
    takt_trace *trace = make_trace(), *back = NULL;
    tkt_input input;
    make_facts(trace);
    make_activity(trace, make_thread(trace, "one", 1), "cpu");
    make_activity(trace, make_thread(trace, "two", 2), "cuda:x");
    memory_sink file = write_trace(finished(trace));

    assert_int_equal(tkt_input_borrow(&input, (const uint8_t *)file.data, file.size, "file", NULL),
                     TAKT_OK);
    assert_int_equal(tkt_trace_read_input(&input, "cuda:", &back), TAKT_OK);
    assert_int_equal(back->activities.count, 1);
    assert_string_equal(tkt_trace_text(back, back->activities.items[0].device), "cuda:x");
    assert_int_equal(takt_trace_facts(back)->activity_count, 2);
    assert_int_equal(takt_trace_facts(back)->ending, TAKT_ENDING_WHOLE);
    tkt_input_close(&input);
    takt_trace_release(back);
    takt_trace_release(trace);
    tkt_free(file.data);
}

TEST_MAIN(NULL, NULL)
