/* Packing with zlib: a stream as gzip, or blocks of memory one by one. */
#include "base/writer.h"

#include "base/alloc.h"
#include "base/file.h"

#include <stdbool.h>

/* Traces shrink to a tenth, and to a hundredth if their times repeat; deflate can reach a
 * thousandth. Up to UNPACKED_BYTES any ratio is accepted. */
#define UNPACKED_BYTES ((uint64_t)32 << 20)

bool tkt_is_bomb(uint64_t packed_bytes, uint64_t unpacked_bytes)
{
    return unpacked_bytes > UNPACKED_BYTES && unpacked_bytes / TKT_UNPACKED_RATIO > packed_bytes;
}

#ifndef TAKT_NO_ZLIB

#include <limits.h>
#include <zlib.h>

#define ZLIB_WINDOW   15        /* a 32 KiB window, with zlib's header and trailer */
#define GZIP_WINDOW   (15 + 16) /* the same with gzip's */
#define MOST_MEMORY   9         /* zlib's memLevel: 256 KiB, and the fastest for large files */
#define OUT_BYTES     ((size_t)64 << 10)
#define FASTEST_LEVEL 1

/* For blocks of 256 KiB with the packets of a stepping program. Level 1 makes them a tenth larger
 * and is no faster, level 3 makes them a tenth smaller at three quarters of the speed. zlib's usual
 * memory (8) stays in the processor's cache and is a tenth faster than 9. */
#define BLOCK_LEVEL  2
#define BLOCK_MEMORY 8

/* ---- A stream: gzip -------------------------------------------------------------------------- */

struct tkt_gzip {
    z_stream stream;
    takt_sink into;
    takt_status status;
    unsigned char out[OUT_BYTES];
};

static unsigned as_uint(size_t size)
{
    return size < UINT_MAX ? (unsigned)size : UINT_MAX;
}

/* Runs deflate until it needs more input or, with Z_FINISH, has written everything. */
static void deflate_some(tkt_gzip *gzip, int flush)
{
    int result = Z_OK;
    do {
        gzip->stream.next_out = gzip->out;
        gzip->stream.avail_out = OUT_BYTES;
        result = deflate(&gzip->stream, flush);
        size_t size = OUT_BYTES - gzip->stream.avail_out;
        if (size)
            gzip->status = gzip->into.write(gzip->into.user, gzip->out, size);
    } while (gzip->status == TAKT_OK && result == Z_OK && gzip->stream.avail_out == 0);
}

static takt_status write_packed(void *user, const void *data, size_t size)
{
    tkt_gzip *gzip = user;
    const unsigned char *bytes = data;
    while (size > 0 && gzip->status == TAKT_OK) {
        unsigned piece = as_uint(size);
        gzip->stream.next_in = (unsigned char *)(uintptr_t)bytes;
        gzip->stream.avail_in = piece;
        deflate_some(gzip, Z_NO_FLUSH);
        bytes += piece;
        size -= piece;
    }
    return gzip->status;
}

takt_status tkt_gzip_create(takt_sink into, int level, tkt_gzip **out, takt_sink *sink)
{
    if (!into.write)
        return TAKT_BAD_ARGUMENT;
    tkt_gzip *gzip = tkt_alloc(sizeof *gzip);
    if (!gzip)
        return TAKT_NO_MEMORY;
    gzip->stream = (z_stream){.zalloc = tkt_zlib_alloc, .zfree = tkt_zlib_free};
    gzip->into = into;
    gzip->status = TAKT_OK;
    if (level < 1 || level > 9)
        level = FASTEST_LEVEL;
    if (deflateInit2(&gzip->stream, level, Z_DEFLATED, GZIP_WINDOW, MOST_MEMORY,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
        tkt_free(gzip);
        return TAKT_NO_MEMORY;
    }
    *out = gzip;
    *sink = (takt_sink){write_packed, gzip};
    return TAKT_OK;
}

takt_status tkt_gzip_finish(tkt_gzip *gzip)
{
    if (!gzip)
        return TAKT_OK;
    if (gzip->status == TAKT_OK) {
        gzip->stream.avail_in = 0;
        deflate_some(gzip, Z_FINISH);
    }
    takt_status status = gzip->status;
    deflateEnd(&gzip->stream);
    tkt_free(gzip);
    return status;
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

struct tkt_packer {
    z_stream stream;
    unsigned char *out;
    size_t capacity;
};

takt_status tkt_packer_create(tkt_packer **out)
{
    tkt_packer *packer = tkt_alloc_zeroed(sizeof *packer);
    if (!packer)
        return TAKT_NO_MEMORY;
    packer->stream = (z_stream){.zalloc = tkt_zlib_alloc, .zfree = tkt_zlib_free};
    if (deflateInit2(&packer->stream, BLOCK_LEVEL, Z_DEFLATED, ZLIB_WINDOW, BLOCK_MEMORY,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
        tkt_free(packer);
        return TAKT_NO_MEMORY;
    }
    *out = packer;
    return TAKT_OK;
}

static bool reserve(unsigned char **buffer, size_t *capacity, size_t size)
{
    if (size <= *capacity)
        return true;
    unsigned char *larger = tkt_resize(*buffer, size);
    if (larger) {
        *buffer = larger;
        *capacity = size;
    }
    return larger != NULL;
}

const void *tkt_packer_run(tkt_packer *packer, const void *data, size_t size, size_t *packed)
{
    z_stream *stream = &packer->stream;
    size_t bound = deflateBound(stream, size);
    if (bound > UINT_MAX || !reserve(&packer->out, &packer->capacity, bound))
        return NULL;
    stream->next_in = (unsigned char *)(uintptr_t)data;
    stream->avail_in = (unsigned)size;
    stream->next_out = packer->out;
    stream->avail_out = (unsigned)bound;
    bool is_done = deflate(stream, Z_FINISH) == Z_STREAM_END;
    *packed = bound - stream->avail_out;
    return deflateReset(stream) == Z_OK && is_done ? packer->out : NULL;
}

void tkt_packer_destroy(tkt_packer *packer)
{
    if (!packer)
        return;
    deflateEnd(&packer->stream);
    tkt_free(packer->out);
    tkt_free(packer);
}

struct tkt_unpacker {
    z_stream stream;
    uint64_t packed_bytes; /* so far */
    uint64_t unpacked_bytes;
    unsigned char *out;
    size_t capacity;
};

takt_status tkt_unpacker_create(tkt_unpacker **out)
{
    tkt_unpacker *unpacker = tkt_alloc_zeroed(sizeof *unpacker);
    if (!unpacker)
        return TAKT_NO_MEMORY;
    unpacker->stream = (z_stream){.zalloc = tkt_zlib_alloc, .zfree = tkt_zlib_free};
    if (inflateInit2(&unpacker->stream, ZLIB_WINDOW) != Z_OK) {
        tkt_free(unpacker);
        return TAKT_NO_MEMORY;
    }
    *out = unpacker;
    return TAKT_OK;
}

/* Makes room for more of a block. The room grows with what was unpacked. */
static takt_status grow(tkt_unpacker *unpacker, size_t used)
{
    size_t size = used ? 2 * used : 4 * OUT_BYTES;
    if (tkt_is_bomb(unpacker->packed_bytes, unpacker->unpacked_bytes + used))
        return TAKT_BAD_TRACE;
    return reserve(&unpacker->out, &unpacker->capacity, size) ? TAKT_OK : TAKT_NO_MEMORY;
}

/* Returns TAKT_OK at the end of the block. */
static takt_status inflate_all(tkt_unpacker *unpacker, size_t *used)
{
    z_stream *stream = &unpacker->stream;
    int result = Z_OK;
    for (*used = 0; result == Z_OK; *used = (size_t)(stream->next_out - unpacker->out)) {
        if (*used == unpacker->capacity) {
            takt_status status = grow(unpacker, *used);
            if (status != TAKT_OK)
                return status;
        }
        stream->next_out = unpacker->out + *used;
        stream->avail_out = as_uint(unpacker->capacity - *used);
        result = inflate(stream, Z_NO_FLUSH);
    }
    if (result == Z_MEM_ERROR)
        return TAKT_NO_MEMORY;
    return result == Z_STREAM_END ? TAKT_OK : TAKT_BAD_TRACE;
}

takt_status tkt_unpacker_run(tkt_unpacker *unpacker, const void *data, size_t size,
                             const uint8_t **out, size_t *out_size)
{
    unpacker->stream.next_in = (unsigned char *)(uintptr_t)data;
    unpacker->stream.avail_in = as_uint(size);
    unpacker->packed_bytes += size;
    takt_status status = inflate_all(unpacker, out_size);
    unpacker->unpacked_bytes += *out_size;
    *out = unpacker->out;
    inflateReset(&unpacker->stream);
    if (status == TAKT_OK && tkt_is_bomb(unpacker->packed_bytes, unpacker->unpacked_bytes))
        return TAKT_BAD_TRACE;
    return status;
}

void tkt_unpacker_destroy(tkt_unpacker *unpacker)
{
    if (!unpacker)
        return;
    inflateEnd(&unpacker->stream);
    tkt_free(unpacker->out);
    tkt_free(unpacker);
}

#else

takt_status tkt_gzip_create(takt_sink into, int level, tkt_gzip **out, takt_sink *sink)
{
    (void)level;
    *out = NULL;
    *sink = into;
    return TAKT_UNSUPPORTED;
}

takt_status tkt_gzip_finish(tkt_gzip *gzip)
{
    (void)gzip;
    return TAKT_OK;
}

takt_status tkt_packer_create(tkt_packer **out)
{
    (void)out;
    return TAKT_UNSUPPORTED;
}

const void *tkt_packer_run(tkt_packer *packer, const void *data, size_t size, size_t *packed)
{
    (void)packer;
    (void)size;
    (void)packed;
    return data;
}

void tkt_packer_destroy(tkt_packer *packer)
{
    (void)packer;
}

takt_status tkt_unpacker_create(tkt_unpacker **out)
{
    (void)out;
    return TAKT_UNSUPPORTED;
}

takt_status tkt_unpacker_run(tkt_unpacker *unpacker, const void *data, size_t size,
                             const uint8_t **out, size_t *out_size)
{
    (void)unpacker;
    *out = data;
    *out_size = size;
    return TAKT_UNSUPPORTED;
}

void tkt_unpacker_destroy(tkt_unpacker *unpacker)
{
    (void)unpacker;
}

#endif
