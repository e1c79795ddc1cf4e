/* Perfetto files of compressed packets: they read as the plain ones do, cut at any byte, and
 * damaged. */
#include "support/sanitized.h"
#include "support/test.h"
#include "support/trace_build.h"

#include "base/alloc.h"
#include "export/perfetto.h"

#include <zlib.h>

static takt_trace *finished(takt_trace *trace)
{
    assert_int_equal(tkt_trace_finish(trace), TAKT_OK);
    return trace;
}

/* A trace as a file has it by default. `capacity` of the writer: 0 for the usual one. */
static memory_sink write_packed(const takt_trace *trace, size_t capacity)
{
    memory_sink file = {0};
    tkt_perfetto_pack pack;
    takt_sink sink;
    tkt_writer writer;
    assert_int_equal(tkt_perfetto_pack_init(&pack, memory_sink_of(&file), &sink), TAKT_OK);
    assert_int_equal(tkt_writer_init(&writer, sink, capacity), TAKT_OK);
    assert_int_equal(tkt_perfetto_export(trace, &writer), TAKT_OK);
    assert_int_equal(tkt_writer_fini(&writer), TAKT_OK);
    tkt_perfetto_pack_fini(&pack);
    return file;
}

/* Appends the packets of a file, and those in compressed packets, to `plain`. */
static void unpack_all(const memory_sink *file, memory_sink *plain)
{
    tkt_pb_reader packets = tkt_pb_read((const uint8_t *)file->data, file->size);
    takt_sink into = memory_sink_of(plain);
    const uint8_t *begin = packets.at;
    for (tkt_pb_field packet; tkt_pb_next(&packets, &packet); begin = packets.at) {
        tkt_pb_reader fields = tkt_pb_inside(&packet);
        tkt_pb_field field = {.number = 0};
        assert_true(tkt_pb_next(&fields, &field));
        if (field.number != 50) {
            assert_int_equal(into.write(into.user, begin, (size_t)(packets.at - begin)), TAKT_OK);
            continue;
        }
        assert_ptr_equal(fields.at, fields.end); /* nothing else is in the packet */
        assert_true(packet.value < 512 << 10);   /* trace_packet.proto asks for that */
        uLongf size = 32 << 20;
        void *bytes = malloc(size);
        assert_int_equal(uncompress(bytes, &size, field.bytes, (uLong)field.value), Z_OK);
        assert_int_equal(into.write(into.user, bytes, size), TAKT_OK);
        free(bytes);
    }
    assert_false(packets.is_bad);
}

/* zlib's own function unpacks each packet by itself, to the bytes of the plain file. */
TEST(packets_unpack_to_the_plain_file)
{
    takt_trace *trace = finished(random_trace(3, 3, FEWER(8000, 20000)));
    memory_sink plain = write_trace(trace), packed = write_packed(trace, 0), unpacked = {0};
    assert_true(packed.size < plain.size);
    unpack_all(&packed, &unpacked);
    assert_int_equal(unpacked.size, plain.size);
    assert_memory_equal(unpacked.data, plain.data, plain.size);
    takt_trace *back = read_bytes(packed.data, packed.size);
    same_trace(trace, back);
    takt_trace_release(back);
    takt_trace_release(trace);
    tkt_free(plain.data);
    tkt_free(packed.data);
    tkt_free(unpacked.data);
}

/* A packet that is larger than the writer's buffer stays whole, too. */
TEST(a_long_text_is_in_one_packet)
{
    size_t size = 700000;
    takt_trace *trace = make_trace();
    uint32_t track = make_thread(trace, "main", 1);
    uint32_t site = make_site(trace, "solve", TAKT_SITE_SCOPE);
    uint32_t span = make_span(trace, track, site, TKT_NO_SPAN, BEGIN_NS, BEGIN_NS + 9);
    char *long_text = malloc(size + 1);
    memset(long_text, 'x', size);
    long_text[size] = 0;
    make_arg(trace, track, span, "text", TKT_ARG_STRING, text(trace, long_text));
    free(long_text);
    make_span(trace, track, site, TKT_NO_SPAN, BEGIN_NS + 10, BEGIN_NS + 19);
    memory_sink plain = write_trace(finished(trace)), packed = write_packed(trace, 0);
    memory_sink unpacked = {0};
    unpack_all(&packed, &unpacked);
    assert_int_equal(unpacked.size, plain.size);
    takt_trace *back = read_bytes(packed.data, packed.size);
    same_trace(trace, back);
    takt_trace_release(back);
    takt_trace_release(trace);
    tkt_free(plain.data);
    tkt_free(packed.data);
    tkt_free(unpacked.data);
}

static takt_status try_bytes(const void *bytes, size_t size, takt_trace **out, takt_error *error)
{
    uint8_t *exact = malloc(size ? size : 1);
    memcpy(exact, bytes, size);
    *out = NULL;
    takt_status status = tkt_trace_read(exact, size, "file", out, error);
    free(exact);
    return status;
}

/* The packets before the cut are all there, as in the file of a program that was killed. */
TEST(a_cut_loses_the_last_packet_only)
{
    takt_trace *trace = finished(random_trace(11, 1, 60));
    memory_sink packed = write_packed(trace, 1024);
    size_t most = 0;
    bool has_head = false;
    for (size_t size = 8; size < packed.size; size += FEWER(17, 5)) {
        takt_trace *cut;
        takt_error error = {0};
        takt_status status = try_bytes(packed.data, size, &cut, &error);
        if (!has_head && status == TAKT_BAD_TRACE) /* the head is in the first packet */
            continue;
        has_head = true;
        assert_int_equal(status, TAKT_OK);
        size_t spans = takt_trace_facts(cut)->span_count;
        assert_true(spans >= most && takt_trace_facts(cut)->ending == TAKT_ENDING_CUT);
        most = spans;
        takt_trace_release(cut);
    }
    assert_true(most > 50);
    takt_trace_release(trace);
    tkt_free(packed.data);
}

TEST(damage_is_found)
{
    takt_trace *trace = finished(random_trace(5, 1, 40));
    memory_sink packed = write_packed(trace, 1024);
    size_t refused = 0, tried = 0;
    for (size_t i = 60; i < packed.size; i += FEWER(37, 11), tried++) {
        takt_trace *damaged;
        takt_error error = {0};
        packed.data[i] ^= 0x55;
        if (try_bytes(packed.data, packed.size, &damaged, &error) != TAKT_OK) {
            assert_int_equal(error.status, TAKT_BAD_TRACE);
            refused++;
        }
        takt_trace_release(damaged);
        packed.data[i] ^= 0x55;
    }
    assert_true(refused > tried / 2); /* each packet ends with a checksum */
    takt_trace_release(trace);
    tkt_free(packed.data);
}

/* A file of the first packet and a compressed one, as small as zlib makes it. */
static memory_sink file_of(const char *content, size_t size)
{
    memory_sink file = {0};
    tkt_message packet = {0};
    takt_sink into = memory_sink_of(&file);
    uLongf packed = compressBound(size);
    void *bytes = malloc(packed);
    assert_int_equal(compress2(bytes, &packed, (const Bytef *)content, size, 9), Z_OK);
    size_t outer = tkt_message_begin(&packet, 1), inner = tkt_message_begin(&packet, 50);
    for (size_t i = 0; i < packed; i++)
        tkt_message_varint(&packet, 0);
    memcpy(packet.items + inner, bytes, packed);
    tkt_message_end(&packet, inner);
    tkt_message_end(&packet, outer);
    assert_int_equal(into.write(into.user, "\x0A\x05\xA2\x7E\x02\x08\x01", 7), TAKT_OK);
    assert_int_equal(into.write(into.user, packet.items, packet.count), TAKT_OK);
    TKT_ARRAY_FREE(&packet);
    free(bytes);
    return file;
}

static void is_bad(const memory_sink *file, const char *why)
{
    takt_trace *trace;
    takt_error error = {0};
    assert_int_equal(try_bytes(file->data, file->size, &trace, &error), TAKT_BAD_TRACE);
    if (!strstr(error.message, why))
        fail_msg("\"%s\" does not say \"%s\"", error.message, why);
}

TEST(what_no_writer_writes_is_refused)
{
    size_t size = 40 << 20;
    char *zeros = calloc(1, size);
    memory_sink bomb = file_of(zeros, size);
    assert_true(bomb.size < 50000);
    is_bad(&bomb, "a compressed packet is damaged");
    memory_sink no_packets = file_of(zeros, 100);
    is_bad(&no_packets, "a field is malformed");
    memory_sink nested = file_of(bomb.data + 7, bomb.size - 7);
    is_bad(&nested, "a compressed packet holds another one");
    free(zeros);
    tkt_free(bomb.data);
    tkt_free(no_packets.data);
    tkt_free(nested.data);
}

TEST(without_memory_both_sides_say_so)
{
    takt_trace *trace = finished(random_trace(5, 1, 30));
    memory_sink packed = write_packed(trace, 0);
    takt_status status = TAKT_NO_MEMORY;
    uint64_t tries = 0;
    for (; status != TAKT_OK && tries < 10000; tries++) {
        takt_trace *back;
        takt_error error = {0};
        tkt_alloc_fail(tries, UINT64_MAX);
        status = try_bytes(packed.data, packed.size, &back, &error);
        tkt_alloc_fail(0, 0);
        assert_true(status == TAKT_OK || status == TAKT_NO_MEMORY);
        takt_trace_release(back);
    }
    assert_true(tries > 10 && tries < 10000);
    takt_sink sink;
    tkt_perfetto_pack pack;
    memory_sink file = {0};
    for (tries = 0; tries < 4; tries++) {
        tkt_alloc_fail(tries, UINT64_MAX);
        status = tkt_perfetto_pack_init(&pack, memory_sink_of(&file), &sink);
        tkt_alloc_fail(0, 0);
        assert_int_equal(status, TAKT_NO_MEMORY);
        tkt_perfetto_pack_fini(&pack);
    }
    takt_trace_release(trace);
    tkt_free(packed.data);
}

TEST_MAIN(NULL, NULL)
