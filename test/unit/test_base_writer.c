/* The buffered writer and the memory sink. */
#include "base/writer.h"

#include "base/alloc.h"

#include "support/test.h"

#include <stdio.h>
#include <string.h>

/* Remembers what it got and fails when it is told to. */
typedef struct sink_log {
    char bytes[4000];
    size_t size;
    unsigned calls;
    unsigned fail_at_call; /* from 1; 0: never */
} sink_log;

static takt_status take(void *user, const void *data, size_t size)
{
    sink_log *log = user;
    if (++log->calls == log->fail_at_call)
        return TAKT_UNSUPPORTED;
    assert_true(log->size + size <= sizeof log->bytes);
    memcpy(log->bytes + log->size, data, size);
    log->size += size;
    return TAKT_OK;
}

static tkt_writer writer_to(sink_log *log, size_t capacity)
{
    tkt_writer writer;
    assert_int_equal(tkt_writer_init(&writer, (takt_sink){take, log}, capacity), TAKT_OK);
    return writer;
}

TEST(pieces_of_any_size_come_out_in_order)
{
    static char expected[4000];
    for (size_t i = 0; i < sizeof expected; i++)
        expected[i] = (char)(i * 7 + i / 256);
    for (size_t capacity = 1; capacity < 70; capacity++) {
        sink_log log = {.calls = 0};
        tkt_writer writer = writer_to(&log, capacity);
        size_t done = 0;
        for (size_t size = 0; done + size <= 3000; size = (size * 5 + 3) % 101) {
            tkt_writer_put(&writer, expected + done, size);
            done += size;
        }
        assert_int_equal(tkt_writer_fini(&writer), TAKT_OK);
        assert_int_equal(log.size, done);
        assert_int_equal(writer.total, done);
        assert_memory_equal(log.bytes, expected, done);
    }
}

TEST(small_pieces_reach_the_sink_together)
{
    sink_log log = {.calls = 0};
    tkt_writer writer = writer_to(&log, 100);
    for (int i = 0; i < 10; i++)
        tkt_writer_text(&writer, "0123456789");
    assert_int_equal(log.calls, 0);
    tkt_writer_text(&writer, "x");
    assert_int_equal(log.calls, 1);
    assert_int_equal(log.size, 100);
    assert_int_equal(writer.total, 100);
    tkt_writer_fini(&writer);
    assert_int_equal(log.calls, 2);
    assert_int_equal(log.size, 101);
}

TEST(a_piece_larger_than_the_buffer_goes_straight_through)
{
    static const char large[1000] = "large";
    sink_log log = {.calls = 0};
    tkt_writer writer = writer_to(&log, 16);
    tkt_writer_text(&writer, "before ");
    tkt_writer_put(&writer, large, sizeof large);
    assert_int_equal(log.calls, 2);
    assert_int_equal(log.size, 7 + sizeof large);
    tkt_writer_text(&writer, " after");
    tkt_writer_fini(&writer);
    assert_memory_equal(log.bytes, "before large", 12);
    assert_memory_equal(log.bytes + 7 + sizeof large, " after", 6);
}

TEST(reserved_room_is_there_at_every_fill_level)
{
    sink_log log = {.calls = 0};
    tkt_writer writer = writer_to(&log, 32);
    size_t done = 0;
    for (size_t size = 0; size <= 16; size++) {
        char *room = tkt_writer_reserve(&writer, size);
        assert_true(room >= writer.buffer && room + size <= writer.buffer + writer.capacity);
        memset(room, 'a' + (int)size, size);
        tkt_writer_commit(&writer, room + size);
        done += size;
    }
    tkt_writer_fini(&writer);
    assert_int_equal(log.size, done);
    const char *at = log.bytes;
    for (size_t size = 0; size <= 16; size++) {
        for (size_t i = 0; i < size; i++)
            assert_int_equal(*at++, 'a' + (int)size);
    }
}

TEST(the_first_failure_stays_and_ends_the_writing)
{
    sink_log log = {.fail_at_call = 2};
    tkt_writer writer = writer_to(&log, 8);
    for (int i = 0; i < 10; i++)
        tkt_writer_text(&writer, "12345678");
    assert_int_equal(writer.status, TAKT_UNSUPPORTED);
    tkt_writer_text(&writer, "something larger than the buffer");
    tkt_writer_format(&writer, "%s", "something else larger than the buffer");
    assert_int_equal(tkt_writer_fini(&writer), TAKT_UNSUPPORTED);
    assert_int_equal(log.calls, 2);
    assert_int_equal(log.size, 8);
    assert_int_equal(writer.total, 8);
}

TEST(a_failure_of_the_last_flush_is_returned)
{
    sink_log log = {.fail_at_call = 1};
    tkt_writer writer = writer_to(&log, 8);
    tkt_writer_text(&writer, "x");
    assert_int_equal(tkt_writer_fini(&writer), TAKT_UNSUPPORTED);
}

TEST(nothing_written_is_nothing_sunk)
{
    sink_log log = {.calls = 0};
    tkt_writer writer = writer_to(&log, 8);
    tkt_writer_flush(&writer);
    tkt_writer_put(&writer, NULL, 0);
    tkt_writer_format(&writer, "%s", "");
    assert_int_equal(tkt_writer_fini(&writer), TAKT_OK);
    assert_int_equal(log.calls, 0);
}

/* Every length around the room that is left and the whole capacity. */
TEST(formatted_text_is_whole_whatever_room_is_left)
{
    for (size_t used = 0; used <= 32; used++) {
        for (int width = 0; width < 100; width++) {
            sink_log log = {.calls = 0};
            char expected[200];
            tkt_writer writer = writer_to(&log, 32);
            for (size_t i = 0; i < used; i++)
                tkt_writer_text(&writer, "-");
            tkt_writer_format(&writer, "%*d", width, 7);
            tkt_writer_text(&writer, "|");
            int size = snprintf(expected, sizeof expected, "%.*s%*d|", (int)used,
                                "---------------------------------", width, 7);
            assert_int_equal(tkt_writer_fini(&writer), TAKT_OK);
            assert_int_equal(log.size, size);
            assert_memory_equal(log.bytes, expected, (size_t)size);
        }
    }
}

TEST(without_memory_the_writer_says_so)
{
    sink_log log = {.calls = 0};
    tkt_writer writer;
    tkt_alloc_fail(0, 1);
    assert_int_equal(tkt_writer_init(&writer, (takt_sink){take, &log}, 0), TAKT_NO_MEMORY);
    assert_int_equal(tkt_writer_fini(&writer), TAKT_NO_MEMORY);
    writer = writer_to(&log, 4);
    tkt_alloc_fail(0, 1);
    tkt_writer_format(&writer, "%d", 1234567);
    tkt_writer_text(&writer, "x");
    assert_int_equal(tkt_writer_fini(&writer), TAKT_NO_MEMORY);
    assert_int_equal(log.calls, 0);
}

TEST(a_sink_that_cannot_write_is_refused)
{
    tkt_writer writer;
    assert_int_equal(tkt_writer_init(&writer, (takt_sink){0}, 0), TAKT_BAD_ARGUMENT);
    assert_int_equal(tkt_writer_fini(&writer), TAKT_BAD_ARGUMENT);
}

TEST(the_default_buffer_has_256_kib)
{
    sink_log log = {.calls = 0};
    tkt_writer writer = writer_to(&log, 0);
    assert_int_equal(writer.capacity, 256 << 10);
    tkt_writer_fini(&writer);
}

TEST_MAIN(NULL, NULL)
