/* Any bytes as a packed file. The same bytes are unpacked by zlib itself, in one call a member;
 * what comes out has to be the same whatever the size of the pieces. What unpacks to a trace has to
 * read as the same trace as its plain bytes do.
 *
 * Hardly any random bytes are gzip, so other bytes are packed here: the first ones say in members
 * of which size, and whether the file is then cut, and where it is changed. */
#include "base/alloc.h"
#include "base/file.h"
#include "base/writer.h"
#include "export/exporter.h"
#include "support/memory_sink.h"
#include "trace/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define MOST_UNPACKED ((size_t)1 << 18)

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check_that(bool is_true, const char *what)
{
    if (!is_true) {
        fprintf(stderr, "not true: %s\n", what);
        abort();
    }
}

#define check(what) check_that(what, #what)

/* ---- Making a file --------------------------------------------------------------------------- */

static void pack_member(memory_sink *into, const uint8_t *bytes, size_t size, int level)
{
    tkt_gzip *gzip;
    takt_sink sink;
    check(tkt_gzip_create(memory_sink_of(into), level, &gzip, &sink) == TAKT_OK);
    check(sink.write(sink.user, bytes, size) == TAKT_OK);
    check(tkt_gzip_finish(gzip) == TAKT_OK);
}

enum {
    HEAD = 4
};

static memory_sink make_file(const uint8_t *bytes, size_t size)
{
    memory_sink file = {0};
    if (size < HEAD || (bytes[0] == 0x1F && bytes[1] == 0x8B)) {
        check(memory_sink_write(&file, bytes, size) == TAKT_OK);
        return file;
    }
    size_t member = bytes[1] ? (size_t)bytes[1] * 16 : SIZE_MAX;
    for (size_t at = HEAD, piece; at < size; at += piece) {
        piece = size - at < member ? size - at : member;
        pack_member(&file, bytes + at, piece, bytes[0] % 10);
    }
    if (bytes[2])
        file.size = file.size * bytes[2] / 256;
    if (bytes[3] && file.size)
        file.data[file.size * bytes[3] / 256] ^= (char)(1 << bytes[0] % 8);
    return file;
}

/* ---- What zlib makes of it ------------------------------------------------------------------- */

typedef struct unpacked {
    uint8_t *data;
    size_t size;
    bool is_cut;
} unpacked;

static bool begins_member(const z_stream *stream)
{
    return stream->avail_in >= 2 && stream->next_in[0] == 0x1F && stream->next_in[1] == 0x8B;
}

static unpacked unpack_with_zlib(const memory_sink *file)
{
    unpacked out = {malloc(MOST_UNPACKED), 0, false};
    z_stream stream = {0};
    check(out.data && inflateInit2(&stream, 31) == Z_OK);
    stream.next_in = (uint8_t *)file->data;
    stream.avail_in = (unsigned)file->size;
    stream.next_out = out.data;
    stream.avail_out = MOST_UNPACKED;
    int result;
    while ((result = inflate(&stream, Z_NO_FLUSH)) == Z_STREAM_END && begins_member(&stream))
        inflateReset(&stream);
    out.is_cut = result != Z_STREAM_END;
    out.size = (size_t)(stream.next_out - out.data);
    inflateEnd(&stream);
    return out;
}

/* ---- What Takt makes of it ------------------------------------------------------------------- */

static void is_unpacked_alike(const memory_sink *file, const unpacked *expected, size_t step)
{
    tkt_input input;
    size_t at = 0;
    check(tkt_input_borrow(&input, (uint8_t *)file->data, file->size, "fuzz", NULL) == TAKT_OK);
    check(input.is_packed);
    input.step = step;
    for (size_t wanted = 1; tkt_input_left(&input) || tkt_input_need(&input, 1); wanted += 5) {
        tkt_input_need(&input, wanted);
        size_t got = tkt_input_left(&input);
        check(tkt_input_offset(&input, input.window.at) == at && got <= expected->size - at);
        check(memcmp(input.window.at, expected->data + at, got) == 0);
        input.window.at += got;
        at += got;
    }
    check(input.status == TAKT_OK && at == expected->size && input.is_cut == expected->is_cut);
    tkt_input_close(&input);
}

static memory_sink written(const takt_trace *trace)
{
    memory_sink file = {0};
    tkt_writer writer;
    check(tkt_writer_init(&writer, memory_sink_of(&file), 4096) == TAKT_OK);
    check(tkt_perfetto_export(trace, &writer) == TAKT_OK);
    check(tkt_writer_fini(&writer) == TAKT_OK);
    return file;
}

/* A damaged end is a loss of its own, so the texts are compared of whole ones only. */
static void is_same_trace(const memory_sink *file, const unpacked *plain, size_t step)
{
    takt_trace *one = NULL, *other = NULL;
    tkt_input input;
    takt_error error = {0};
    check(tkt_input_borrow(&input, (uint8_t *)file->data, file->size, "fuzz", &error) == TAKT_OK);
    input.step = step;
    takt_status status = tkt_trace_read_input(&input, NULL, &one);
    tkt_input_close(&input);
    check(status == tkt_trace_read(plain->data, plain->size, "plain", &other, NULL));
    check(status == TAKT_OK || (status == TAKT_BAD_TRACE && error.message[0]));
    if (status == TAKT_OK && !plain->is_cut) {
        memory_sink first = written(one), second = written(other);
        check(first.size == second.size && memcmp(first.data, second.data, first.size) == 0);
        tkt_free(first.data);
        tkt_free(second.data);
    }
    takt_trace_release(one);
    takt_trace_release(other);
}

static bool is_packed(const void *bytes, size_t size)
{
    return size > 2 && memcmp(bytes, "\x1F\x8B", 2) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    memory_sink file = make_file(bytes, size);
    if (is_packed(file.data, file.size)) {
        unpacked plain = unpack_with_zlib(&file);
        if (plain.size < MOST_UNPACKED) {
            is_unpacked_alike(&file, &plain, 1 + size % 7);
            is_unpacked_alike(&file, &plain, 4096);
            if (!is_packed(plain.data, plain.size)) /* twice is not read: plain, it is once */
                is_same_trace(&file, &plain, 1 + size % 61);
        }
        free(plain.data);
    }
    tkt_free(file.data);
    return 0;
}
