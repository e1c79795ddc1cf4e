/* gzip, checked against zlib's one-call functions, which share nothing with ours but zlib. */
#include "base/writer.h"

#include "base/alloc.h"
#include "base/file.h"
#include "support/test.h"
#include "support/memory_sink.h"

#include <stdlib.h>
#include <string.h>

#include "support/gzip_bytes.h"

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

TEST(what_is_packed_in_pieces_unpacks_to_the_same)
{
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

TEST(packing_the_same_twice_gives_the_same_bytes)
{
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

TEST(the_first_failure_below_is_returned_and_ends_it)
{
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

TEST(packing_without_memory_says_so)
{
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

/* 33 MiB, more than any file may unpack to by itself, of which 200 kB do not shrink: a hundredfold.
 * After them a few bytes are not too many. */
TEST(all_blocks_together_are_held_against_what_they_unpack_to)
{
    bytes plain = {calloc(1, 33 << 20), 33 << 20};
    bytes noise = sample(300000);
    tkt_packer *packer;
    tkt_unpacker *unpacker;
    memcpy(plain.data, noise.data, noise.size);
    assert_int_equal(tkt_packer_create(&packer), TAKT_OK);
    assert_int_equal(tkt_unpacker_create(&unpacker), TAKT_OK);
    for (; plain.size > 1; plain.size = plain.size > 100 ? 100 : 1) {
        const uint8_t *back;
        size_t packed_size, size;
        const void *packed = tkt_packer_run(packer, plain.data, plain.size, &packed_size);
        assert_int_equal(tkt_unpacker_run(unpacker, packed, packed_size, &back, &size), TAKT_OK);
        assert_int_equal(size, plain.size);
        assert_memory_equal(back, plain.data, size);
    }
    tkt_packer_destroy(packer);
    tkt_unpacker_destroy(unpacker);
    free(noise.data);
    free(plain.data);
}

TEST(bad_arguments_are_refused_and_null_is_finished)
{
    tkt_gzip *gzip;
    takt_sink sink;
    assert_int_equal(tkt_gzip_create((takt_sink){0}, 1, &gzip, &sink), TAKT_BAD_ARGUMENT);
    assert_int_equal(tkt_gzip_finish(NULL), TAKT_OK);
}

TEST_MAIN(NULL, NULL)
