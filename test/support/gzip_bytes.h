/* Bytes to be packed with gzip, and zlib's own functions to do and undo it. */
#ifndef TEST_SUPPORT_GZIP_BYTES_H
#define TEST_SUPPORT_GZIP_BYTES_H

#include "support/test.h"

#include <stdlib.h>
#include <zlib.h>

typedef struct bytes {
    unsigned char *data;
    size_t size;
} bytes;

/* Text that compresses, with parts that do not. */
static inline bytes sample(size_t size)
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

static inline bytes pack_with_zlib(bytes plain)
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

static inline bytes unpack_with_zlib(const char *data, size_t size, size_t plain_size)
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

#endif
