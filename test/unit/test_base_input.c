/* Reading in pieces, from files and memory, packed and plain. What zlib packs in one call has to
 * come out again, whatever the size of the pieces. */
#include "base/file.h"

#include "base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/test.h"
#include "support/gzip_bytes.h"

#define FILE_NAME "takt-test-input"

static void write_file(bytes content)
{
    FILE *file = fopen(FILE_NAME, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(content.data, 1, content.size, file), content.size);
    fclose(file);
}

static int remove_file(void **state)
{
    (void)state;
    return remove(FILE_NAME);
}

/* Takes all bytes out, so many at a time as `noise` says, and closes it. */
static bytes take_all(tkt_input *input, uint32_t noise, size_t capacity)
{
    bytes taken = {malloc(capacity + 1), 0};
    for (bool is_more = true; is_more;) {
        noise = noise * 1664525 + 1013904223;
        size_t wanted = noise >> 8 & 1 ? noise >> 24 : noise >> 15;
        is_more = tkt_input_need(input, wanted);
        size_t got = is_more ? wanted : tkt_input_left(input);
        assert_int_equal(tkt_input_offset(input, input->window.at), taken.size);
        assert_true(taken.size + got <= capacity);
        if (got)
            memcpy(taken.data + taken.size, input->window.at, got);
        input->window.at += got;
        taken.size += got;
    }
    assert_int_equal(input->status, TAKT_OK);
    tkt_input_close(input);
    return taken;
}

static void is_same_and_free(bytes got, bytes expected)
{
    assert_int_equal(got.size, expected.size);
    if (got.size)
        assert_memory_equal(got.data, expected.data, got.size);
    free(got.data);
}

static const size_t steps[] = {256 << 10, 1, 2, 7, 4096};

/* Unpacks in pieces of several sizes, which have to make the same of it; returns one of them. */
static bytes unpack(const unsigned char *packed, size_t size, bool *is_cut)
{
    bytes first = {0};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        tkt_input input;
        assert_int_equal(tkt_input_borrow(&input, packed, size, "bytes", NULL), TAKT_OK);
        assert_true(input.is_packed);
        input.step = steps[i];
        bytes all = take_all(&input, (uint32_t)i, 2 << 20);
        if (i == 0) {
            first = all;
            *is_cut = input.is_cut;
        } else {
            is_same_and_free(all, first);
            assert_int_equal(input.is_cut, *is_cut);
        }
    }
    return first;
}

TEST_WITH(a_file_is_read_in_pieces, NULL, remove_file)
{
    static const size_t sizes[] = {0, 1, 2, 3, 262143, 262144, 262145, 1000003};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
            tkt_input input;
            bytes content = sample(sizes[i]);
            write_file(content);
            assert_int_equal(tkt_input_open(&input, FILE_NAME, NULL), TAKT_OK);
            assert_false(input.is_packed);
            input.step = steps[s] > 1 || sizes[i] < 1000 ? steps[s] : 64;
            is_same_and_free(take_all(&input, (uint32_t)i, 2 << 20), content);
            assert_int_equal(tkt_input_borrow(&input, content.data, content.size, "", NULL),
                             TAKT_OK);
            is_same_and_free(take_all(&input, (uint32_t)i, 2 << 20), content);
            free(content.data);
        }
    }
}

TEST_WITH(a_packed_file_is_unpacked_in_pieces, NULL, remove_file)
{
    bytes content = sample(1000003);
    bytes packed = pack_with_zlib(content);
    write_file(packed);
    for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
        tkt_input input;
        assert_int_equal(tkt_input_open(&input, FILE_NAME, NULL), TAKT_OK);
        input.step = steps[s];
        is_same_and_free(take_all(&input, 1, 2 << 20), content);
        assert_false(input.is_cut);
    }
    free(packed.data);
    free(content.data);
}

TEST_WITH(a_file_that_becomes_shorter_ends_there, NULL, remove_file)
{
    tkt_input input;
    bytes content = sample(1000003);
    write_file(content);
    assert_int_equal(tkt_input_open(&input, FILE_NAME, NULL), TAKT_OK);
    assert_int_equal(truncate(FILE_NAME, 300000), 0);
    content.size = 300000;
    is_same_and_free(take_all(&input, 1, 2 << 20), content);
    free(content.data);
}

TEST_WITH(draining_counts_and_looks_for_zeros, NULL, remove_file)
{
    bytes zeros = {calloc(1, 700000), 700000};
    for (size_t other = 0; other < 2; other++) {
        tkt_input input;
        bool is_zero;
        zeros.data[699999] = (unsigned char)other;
        write_file(zeros);
        assert_int_equal(tkt_input_open(&input, FILE_NAME, NULL), TAKT_OK);
        input.window.at += 2;
        assert_int_equal(tkt_input_drain(&input, &is_zero), 699998);
        assert_int_equal(is_zero, other == 0);
        tkt_input_close(&input);
    }
    free(zeros.data);
}

TEST(what_zlib_packed_is_read)
{
    static const size_t sizes[] = {0, 1, 65535, 65536, 65537, 1000003};
    for (size_t i = 0; i < 6; i++) {
        bool is_cut = true;
        bytes plain = sample(sizes[i]);
        bytes packed = pack_with_zlib(plain);
        bytes back = unpack(packed.data, packed.size, &is_cut);
        assert_false(is_cut);
        assert_int_equal(back.size, plain.size);
        if (plain.size)
            assert_memory_equal(back.data, plain.data, plain.size);
        free(back.data);
        free(packed.data);
        free(plain.data);
    }
}

TEST(several_members_in_a_row_are_read_as_one)
{
    bool is_cut = true;
    bytes plain = sample(70000);
    bytes packed = pack_with_zlib(plain);
    unsigned char *three = malloc(packed.size * 3 + 5);
    for (size_t i = 0; i < 3; i++)
        memcpy(three + i * packed.size, packed.data, packed.size);
    memcpy(three + packed.size * 3, "\0\0\0\0\0", 5); /* padding, which gzip ignores too */
    bytes back = unpack(three, packed.size * 3 + 5, &is_cut);
    assert_false(is_cut);
    assert_int_equal(back.size, plain.size * 3);
    for (size_t i = 0; i < 3; i++)
        assert_memory_equal(back.data + i * plain.size, plain.data, plain.size);
    free(back.data);
    free(three);
    free(packed.data);
    free(plain.data);
}

TEST(a_cut_keeps_a_beginning_and_is_flagged)
{
    bytes plain = sample(3000);
    bytes packed = pack_with_zlib(plain);
    size_t longest = 0;
    for (size_t size = 2; size < packed.size; size++) {
        bool is_cut = false;
        bytes back = unpack(packed.data, size, &is_cut);
        assert_true(is_cut);
        assert_true(back.size <= plain.size);
        if (back.size)
            assert_memory_equal(back.data, plain.data, back.size);
        longest = back.size;
        free(back.data);
    }
    assert_int_equal(longest, plain.size); /* only the checksum's end was missing */
    free(packed.data);
    free(plain.data);
}

TEST(damage_keeps_what_came_before_it_and_is_flagged)
{
    bytes plain = sample(300000);
    bytes packed = pack_with_zlib(plain);
    bool is_cut = false;
    memset(packed.data + packed.size / 2, 0xFF, 16);
    bytes back = unpack(packed.data, packed.size, &is_cut);
    assert_true(is_cut);
    assert_in_range(back.size, 1, plain.size);
    assert_memory_equal(back.data, plain.data, back.size < 40000 ? back.size : 40000);
    free(back.data);
    free(packed.data);
    free(plain.data);
}

static void keep_line(takt_log_level level, const char *line, void *user)
{
    assert_int_equal(level, TAKT_LOG_WARNING);
    snprintf(user, 100, "%s", line);
}

/* A header of ten bytes, then a block of the kind that there is not, and more. */
TEST(a_warning_tells_where_damage_begins)
{
    static const uint8_t packed[40] = {0x1F, 0x8B, 8, [9] = 3, [10] = 7};
    tkt_input input;
    bool is_zero;
    char line[100] = "";
    takt_set_log(keep_line, line);
    assert_int_equal(tkt_input_borrow(&input, packed, sizeof packed, "bytes", NULL), TAKT_OK);
    assert_int_equal(tkt_input_drain(&input, &is_zero), 0);
    assert_true(input.is_cut);
    tkt_input_close(&input);
    takt_set_log(NULL, NULL);
    assert_string_equal(line, "bytes: damaged at byte 11; the rest is not read");
}

TEST(a_wrong_checksum_is_flagged)
{
    bytes plain = sample(1000);
    bytes packed = pack_with_zlib(plain);
    bool is_cut = false;
    packed.data[packed.size - 8] ^= 1;
    bytes back = unpack(packed.data, packed.size, &is_cut);
    assert_true(is_cut);
    assert_int_equal(back.size, plain.size);
    free(back.data);
    free(packed.data);
    free(plain.data);
}

/* What is not there, and what the first read finds out to be no file at all. */
TEST_WITH(what_cannot_be_read_is_told, NULL, remove_file)
{
    tkt_input input;
    takt_error error;
    assert_int_equal(tkt_input_open(&input, "no/file", &error), TAKT_IO_ERROR);
    assert_string_equal(error.message, "cannot read no/file: No such file or directory");
    write_file((bytes){(unsigned char *)"x", 1});
    assert_int_equal(tkt_input_open(&input, FILE_NAME, &error), TAKT_OK);
    close(input.fd);
    assert_false(tkt_input_need(&input, 2) && input.status == TAKT_OK);
    tkt_input_close(&input);
}

TEST(other_bytes_are_plain)
{
    static const char *const texts[] = {"", "\x1f", "{\"traceEvents\":[]}", "\x1f\x8a", "PK"};
    for (size_t i = 0; i < 5; i++) {
        tkt_input input;
        bytes content = {(unsigned char *)(uintptr_t)texts[i], strlen(texts[i])};
        assert_int_equal(tkt_input_borrow(&input, content.data, content.size, "", NULL), TAKT_OK);
        assert_false(input.is_packed);
        is_same_and_free(take_all(&input, 1, 100), content);
    }
}

TEST(reading_without_memory_says_so)
{
    bytes content = sample(300000);
    bytes packed = pack_with_zlib(content);
    takt_status status = TAKT_NO_MEMORY;
    for (uint64_t after = 0; status != TAKT_OK; after++) {
        tkt_input input;
        takt_error error = {0};
        bool is_zero;
        tkt_alloc_fail(after, 1);
        status = tkt_input_borrow(&input, packed.data, packed.size, "bytes", &error);
        if (status == TAKT_OK) {
            uint64_t size = tkt_input_drain(&input, &is_zero);
            status = input.status;
            assert_true(status != TAKT_OK || size == content.size);
            tkt_input_close(&input);
        }
        tkt_alloc_fail(0, 0);
        if (status != TAKT_OK)
            assert_string_equal(error.message, "bytes: out of memory");
        assert_true(after < 50);
    }
    free(packed.data);
    free(content.data);
}

int main(void)
{
    const char *folder = getenv("TMPDIR");
    if (chdir(folder ? folder : "/tmp") != 0)
        return 1;
    return run_all_tests(NULL, NULL);
}
