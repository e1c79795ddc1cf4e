/* gzip, checked against zlib's one-call functions, which share nothing with ours but zlib. */
#include "base/writer.h"

#include "base/alloc.h"
#include "support/memory_sink.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define LIMIT ((size_t)64 << 20)

typedef struct bytes {
    unsigned char *data;
    size_t size;
} bytes;

/* Text that compresses, with parts that do not. */
static bytes sample(size_t size)
{
    bytes made = {malloc(size + 1), size};
    uint32_t noise = 1;
    for (size_t i = 0; i < size; i++) {
        noise = noise * 1664525 + 1013904223;
        char letter = "kernel "[i % 7];
        made.data[i] = i / 50000 % 2 ? (unsigned char)(noise >> 24) : (unsigned char)letter;
    }
    return made;
}

static bytes pack_with_zlib(bytes plain)
{
    z_stream stream = {0};
    bytes packed = {malloc(plain.size + 1000), 0};
    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = plain.data;
    stream.avail_in = (unsigned)plain.size;
    stream.next_out = packed.data;
    stream.avail_out = (unsigned)plain.size + 1000;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    packed.size = stream.total_out;
    deflateEnd(&stream);
    return packed;
}

static bytes unpack_with_zlib(const char *data, size_t size, size_t plain_size)
{
    z_stream stream = {0};
    bytes plain = {malloc(plain_size + 1), 0};
    assert_int_equal(inflateInit2(&stream, 31), Z_OK);
    stream.next_in = (unsigned char *)(uintptr_t)data;
    stream.avail_in = (unsigned)size;
    stream.next_out = plain.data;
    stream.avail_out = (unsigned)plain_size + 1;
    assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
    assert_int_equal(stream.avail_in, 0);
    plain.size = stream.total_out;
    inflateEnd(&stream);
    return plain;
}

/* Packs through the sink in pieces; returns the status of the end. */
static takt_status pack(bytes plain, size_t piece, int level, takt_sink into)
{
    tkt_gzip *gzip;
    takt_sink sink;
    takt_status status = tkt_gzip_create(into, level, &gzip, &sink);
    if (status != TAKT_OK)
        return status;
    for (size_t at = 0; at < plain.size && status == TAKT_OK; at += piece) {
        size_t left = plain.size - at;
        status = sink.write(sink.user, plain.data + at, left < piece ? left : piece);
    }
    takt_status end = tkt_gzip_finish(gzip);
    assert_true(status == TAKT_OK || status == end);
    return end;
}

static void what_is_packed_in_pieces_unpacks_to_the_same(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 1000, 65536, 1000003};
    static const size_t pieces[] = {7, 65536, 2000000};
    for (size_t i = 0; i < 5; i++) {
        bytes plain = sample(sizes[i]);
        for (size_t j = i == 4; j < 3; j++) {
            for (int level = 0; level <= 9; level += 3) {
                memory_sink memory = {0};
                takt_sink into = memory_sink_of(&memory);
                assert_int_equal(pack(plain, pieces[j], level, into), TAKT_OK);
                bytes back = unpack_with_zlib(memory.data, memory.size, plain.size);
                assert_int_equal(back.size, plain.size);
                if (plain.size)
                    assert_memory_equal(back.data, plain.data, plain.size);
                free(back.data);
                tkt_free(memory.data);
            }
        }
        free(plain.data);
    }
}

static void packing_the_same_twice_gives_the_same_bytes(void **state)
{
    (void)state;
    bytes plain = sample(100000);
    memory_sink first = {0}, second = {0};
    assert_int_equal(pack(plain, 999, 1, memory_sink_of(&first)), TAKT_OK);
    assert_int_equal(pack(plain, 999, 1, memory_sink_of(&second)), TAKT_OK);
    assert_int_equal(first.size, second.size);
    assert_memory_equal(first.data, second.data, first.size);
    tkt_free(first.data);
    tkt_free(second.data);
    free(plain.data);
}

/* A sink that fails at its n-th call and must not be called after. */
typedef struct failing {
    int calls_left;
    int late_calls;
} failing;

static takt_status fail_at_last(void *user, const void *data, size_t size)
{
    failing *mine = user;
    (void)data, (void)size;
    mine->late_calls += mine->calls_left <= 0;
    return --mine->calls_left > 0 ? TAKT_OK : TAKT_IO_ERROR;
}

static void the_first_failure_below_is_returned_and_ends_it(void **state)
{
    (void)state;
    bytes plain = sample(400000);
    for (int calls = 1; calls < 4; calls++) {
        failing below = {.calls_left = calls};
        assert_int_equal(pack(plain, 10000, 1, (takt_sink){fail_at_last, &below}), TAKT_IO_ERROR);
        assert_int_equal(below.late_calls, 0);
        below = (failing){.calls_left = calls};
        assert_int_equal(pack(plain, plain.size, 1, (takt_sink){fail_at_last, &below}),
                         TAKT_IO_ERROR);
        assert_int_equal(below.late_calls, 0);
    }
    free(plain.data);
}

static void packing_without_memory_says_so(void **state)
{
    (void)state;
    bytes plain = sample(1000);
    memory_sink memory = {0};
    takt_status status = TAKT_NO_MEMORY;
    for (uint64_t after = 0; status != TAKT_OK; after++) {
        memory.size = 0;
        tkt_alloc_fail(after, 1);
        status = pack(plain, 1000, 1, memory_sink_of(&memory));
        tkt_alloc_fail(0, 0);
        assert_true(status == TAKT_OK || status == TAKT_NO_MEMORY);
        assert_true(after < 50);
    }
    tkt_free(memory.data);
    free(plain.data);
}

static void bad_arguments_are_refused_and_null_is_finished(void **state)
{
    (void)state;
    tkt_gzip *gzip;
    takt_sink sink;
    assert_int_equal(tkt_gzip_create((takt_sink){0}, 1, &gzip, &sink), TAKT_BAD_ARGUMENT);
    assert_int_equal(tkt_gzip_finish(NULL), TAKT_OK);
}

/* Reads and expects success. */
static bytes unpack(const unsigned char *packed, size_t size, size_t limit, bool *is_cut)
{
    char *data = NULL;
    bytes plain = {0};
    assert_int_equal(tkt_gzip_read(packed, size, limit, &data, &plain.size, is_cut), TAKT_OK);
    plain.data = (unsigned char *)data;
    assert_non_null(data);
    assert_int_equal(data[plain.size], 0);
    return plain;
}

static void what_zlib_packed_is_read(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 65535, 65536, 65537, 1000003};
    for (size_t i = 0; i < 6; i++) {
        bool is_cut = true;
        bytes plain = sample(sizes[i]);
        bytes packed = pack_with_zlib(plain);
        bytes back = unpack(packed.data, packed.size, LIMIT, &is_cut);
        assert_false(is_cut);
        assert_int_equal(back.size, plain.size);
        if (plain.size)
            assert_memory_equal(back.data, plain.data, plain.size);
        tkt_free(back.data);
        free(packed.data);
        free(plain.data);
    }
}

static void several_members_in_a_row_are_read_as_one(void **state)
{
    (void)state;
    bool is_cut = true;
    bytes plain = sample(70000);
    bytes packed = pack_with_zlib(plain);
    unsigned char *three = malloc(packed.size * 3 + 5);
    for (size_t i = 0; i < 3; i++)
        memcpy(three + i * packed.size, packed.data, packed.size);
    memcpy(three + packed.size * 3, "\0\0\0\0\0", 5); /* padding, which gzip ignores too */
    bytes back = unpack(three, packed.size * 3 + 5, LIMIT, &is_cut);
    assert_false(is_cut);
    assert_int_equal(back.size, plain.size * 3);
    for (size_t i = 0; i < 3; i++)
        assert_memory_equal(back.data + i * plain.size, plain.data, plain.size);
    tkt_free(back.data);
    free(three);
    free(packed.data);
    free(plain.data);
}

static void a_cut_keeps_a_beginning_and_is_flagged(void **state)
{
    (void)state;
    bytes plain = sample(3000);
    bytes packed = pack_with_zlib(plain);
    size_t longest = 0;
    for (size_t size = 2; size < packed.size; size++) {
        bool is_cut = false;
        bytes back = unpack(packed.data, size, LIMIT, &is_cut);
        assert_true(is_cut);
        assert_true(back.size <= plain.size);
        if (back.size)
            assert_memory_equal(back.data, plain.data, back.size);
        longest = back.size;
        tkt_free(back.data);
    }
    assert_int_equal(longest, plain.size); /* only the checksum's end was missing */
    free(packed.data);
    free(plain.data);
}

static void damage_keeps_what_came_before_it_and_is_flagged(void **state)
{
    (void)state;
    bytes plain = sample(300000);
    bytes packed = pack_with_zlib(plain);
    bool is_cut = false;
    memset(packed.data + packed.size / 2, 0xFF, 16);
    bytes back = unpack(packed.data, packed.size, LIMIT, &is_cut);
    assert_true(is_cut);
    assert_in_range(back.size, 1, plain.size);
    assert_memory_equal(back.data, plain.data, back.size < 40000 ? back.size : 40000);
    tkt_free(back.data);
    free(packed.data);
    free(plain.data);
}

static void a_wrong_checksum_is_flagged(void **state)
{
    (void)state;
    bytes plain = sample(1000);
    bytes packed = pack_with_zlib(plain);
    bool is_cut = false;
    packed.data[packed.size - 8] ^= 1;
    bytes back = unpack(packed.data, packed.size, LIMIT, &is_cut);
    assert_true(is_cut);
    assert_int_equal(back.size, plain.size);
    tkt_free(back.data);
    free(packed.data);
    free(plain.data);
}

static void exactly_the_limit_may_come_out_and_one_more_byte_may_not(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 1000, 65534, 65535, 65536, 65537, 500000};
    for (size_t i = 0; i < 7; i++) {
        bytes plain = sample(sizes[i]);
        bytes packed = pack_with_zlib(plain);
        bool is_cut = true;
        bytes back = unpack(packed.data, packed.size, sizes[i], &is_cut);
        assert_false(is_cut);
        assert_int_equal(back.size, sizes[i]);
        tkt_free(back.data);
        char *data = NULL;
        size_t size = 7;
        assert_int_equal(
            tkt_gzip_read(packed.data, packed.size, sizes[i] - 1, &data, &size, &is_cut),
            TAKT_BAD_TRACE);
        assert_null(data);
        assert_int_equal(size, 7);
        free(packed.data);
        free(plain.data);
    }
}

/* 100 MB of zeros in 100 KB: refused before much memory is used, which the failing allocations
 * behind the first few prove. */
static void a_bomb_is_refused_early(void **state)
{
    (void)state;
    bytes zeros = {calloc(1, 100000000), 100000000};
    bytes packed = pack_with_zlib(zeros);
    char *data = NULL;
    size_t size;
    bool is_cut;
    assert_true(packed.size < 200000);
    tkt_alloc_fail(2 + 6, UINT64_MAX); /* zlib's two, then 64 KiB doubling to 1 MiB and the NUL */
    takt_status status = tkt_gzip_read(packed.data, packed.size, 1 << 20, &data, &size, &is_cut);
    tkt_alloc_fail(0, 0);
    assert_int_equal(status, TAKT_BAD_TRACE);
    assert_null(data);
    free(packed.data);
    free(zeros.data);
}

static void other_bytes_are_no_gzip(void **state)
{
    (void)state;
    char *data = NULL;
    size_t size;
    bool is_cut;
    static const char *const texts[] = {"", "\x1f", "{\"traceEvents\":[]}", "\x1f\x8a", "PK"};
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(tkt_gzip_read((const uint8_t *)texts[i], strlen(texts[i]), LIMIT, &data,
                                       &size, &is_cut),
                         TAKT_BAD_TRACE);
    assert_int_equal(tkt_gzip_read(NULL, 0, LIMIT, &data, &size, &is_cut), TAKT_BAD_TRACE);
    assert_null(data);
}

static void reading_without_memory_says_so(void **state)
{
    (void)state;
    bytes plain = sample(300000);
    bytes packed = pack_with_zlib(plain);
    takt_status status = TAKT_NO_MEMORY;
    for (uint64_t after = 0; status != TAKT_OK; after++) {
        char *data = NULL;
        size_t size;
        bool is_cut;
        tkt_alloc_fail(after, 1);
        status = tkt_gzip_read(packed.data, packed.size, LIMIT, &data, &size, &is_cut);
        tkt_alloc_fail(0, 0);
        assert_true(status == TAKT_NO_MEMORY ? data == NULL : size == plain.size && !is_cut);
        tkt_free(data);
        assert_true(after < 50);
    }
    free(packed.data);
    free(plain.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_packed_in_pieces_unpacks_to_the_same),
        cmocka_unit_test(packing_the_same_twice_gives_the_same_bytes),
        cmocka_unit_test(the_first_failure_below_is_returned_and_ends_it),
        cmocka_unit_test(packing_without_memory_says_so),
        cmocka_unit_test(bad_arguments_are_refused_and_null_is_finished),
        cmocka_unit_test(what_zlib_packed_is_read),
        cmocka_unit_test(several_members_in_a_row_are_read_as_one),
        cmocka_unit_test(a_cut_keeps_a_beginning_and_is_flagged),
        cmocka_unit_test(damage_keeps_what_came_before_it_and_is_flagged),
        cmocka_unit_test(a_wrong_checksum_is_flagged),
        cmocka_unit_test(exactly_the_limit_may_come_out_and_one_more_byte_may_not),
        cmocka_unit_test(a_bomb_is_refused_early),
        cmocka_unit_test(other_bytes_are_no_gzip),
        cmocka_unit_test(reading_without_memory_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
