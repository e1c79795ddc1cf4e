/* gzip through zlib, as a sink and as a reader of what others wrote. The reader trusts nothing: it
 * stops at a limit (a megabyte of zeros packs into a kilobyte), takes several members in a row as
 * gzip does, and keeps what came out before the data ended or went wrong, because a trace of a
 * program that died is still worth reading. */
#include "base/writer.h"

#include "base/alloc.h"
#include "base/array.h"

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

static void *zlib_alloc(void *user, unsigned count, unsigned size)
{
    (void)user;
    return tkt_alloc((size_t)count * size);
}

static void zlib_free(void *user, void *pointer)
{
    (void)user;
    tkt_free(pointer);
}

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
    gzip->stream = (z_stream){.zalloc = zlib_alloc, .zfree = zlib_free};
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

typedef struct unpacking {
    z_stream stream;
    const uint8_t *packed;
    size_t packed_size;
    size_t limit;
    TKT_ARRAY(char);
} unpacking;

static bool begins_member(const uint8_t *bytes, size_t size)
{
    return size >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

/* One byte more than the limit may come out, so that going past it can be seen; and one more is
 * kept for the NUL. */
static bool make_room(unpacking *job)
{
    size_t most = job->limit + 2;
    if (job->capacity - job->count >= 2 || job->capacity >= most)
        return true;
    size_t wanted = job->capacity ? job->capacity * 2 : OUT_BYTES;
    if (wanted > most)
        wanted = most;
    return TKT_ARRAY_RESERVE(job, wanted);
}

/* One call of inflate, with its bookkeeping; returns zlib's result. */
static int inflate_some(unpacking *job)
{
    size_t room = job->capacity - job->count - 1;
    size_t allowed = job->limit + 1 - job->count;
    unsigned out = as_uint(room < allowed ? room : allowed);
    unsigned in = as_uint(job->packed_size);
    job->stream.next_in = (unsigned char *)(uintptr_t)job->packed;
    job->stream.avail_in = in;
    job->stream.next_out = (unsigned char *)job->items + job->count;
    job->stream.avail_out = out;
    int result = inflate(&job->stream, Z_NO_FLUSH);
    job->packed += in - job->stream.avail_in;
    job->packed_size -= in - job->stream.avail_in;
    job->count += out - job->stream.avail_out;
    return result;
}

/* Unpacks all members. Bytes behind the last one are ignored, as gzip does. */
static takt_status unpack(unpacking *job, bool *is_cut)
{
    for (;;) {
        if (!make_room(job))
            return TAKT_NO_MEMORY;
        int result = inflate_some(job);
        if (job->count > job->limit)
            return TAKT_BAD_TRACE;
        if (result == Z_MEM_ERROR)
            return TAKT_NO_MEMORY;
        if (result == Z_STREAM_END) {
            if (!begins_member(job->packed, job->packed_size))
                return TAKT_OK;
            inflateReset(&job->stream);
        } else if (result != Z_OK || (job->packed_size == 0 && job->stream.avail_out > 0)) {
            *is_cut = true;
            return TAKT_OK;
        }
    }
}

takt_status tkt_gzip_read(const uint8_t *packed, size_t packed_size, size_t limit, char **data,
                          size_t *size, bool *is_cut)
{
    if (!begins_member(packed, packed_size))
        return TAKT_BAD_TRACE;
    unpacking job = {
        .stream = {.zalloc = zlib_alloc, .zfree = zlib_free},
        .packed = packed,
        .packed_size = packed_size,
        .limit = limit < SIZE_MAX / 4 ? limit : SIZE_MAX / 4,
    };
    if (inflateInit2(&job.stream, GZIP_WINDOW) != Z_OK)
        return TAKT_NO_MEMORY;
    bool was_cut = false;
    takt_status status = unpack(&job, &was_cut);
    inflateEnd(&job.stream);
    if (status != TAKT_OK) {
        TKT_ARRAY_FREE(&job);
        return status;
    }
    job.items[job.count] = 0;
    *data = job.items;
    *size = job.count;
    *is_cut = was_cut;
    return TAKT_OK;
}
