/* gzip through zlib, as a sink. Reading it is a matter of base/input.h. */
#include "base/writer.h"

#ifndef TAKT_NO_ZLIB

#include "base/alloc.h"
#include "base/zlib_memory.h"

#include <limits.h>
#include <stdbool.h>
#include <zlib.h>

#define GZIP_WINDOW   (15 + 16) /* a 32 KiB window, with gzip's header and trailer */
#define MOST_MEMORY   9         /* of zlib's memLevel: 256 KiB, and the fastest */
#define OUT_BYTES     ((size_t)64 << 10)
#define FASTEST_LEVEL 1

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

/* Runs deflate until it wants more input or, with Z_FINISH, has nothing left to say. */
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

#endif
