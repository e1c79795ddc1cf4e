/* A block of the page: bytes through gzip, which the browser unpacks by itself, through base64,
 * whose letters mean nothing to HTML. Written as it comes, so that a large trace needs no memory.
 */
#include "cli/html/html.h"

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

enum {
    LEVEL = 1,                  /* the fastest: columns of varints are small already */
    GZIP_WINDOW = 15 + 16,      /* a 32 KiB window, with gzip's header and trailer */
    MOST_MEMORY = 9,            /* of zlib's memLevel */
    OUT_BYTES = 3 * (16 << 10), /* base64 wants multiples of three */
    PIECE_BYTES = 1 << 30
};

struct html_packed {
    FILE *file;
    z_stream stream;
    bool has_failed;
    unsigned char out[OUT_BYTES];
};

html_packed *html_packed_begin(FILE *file)
{
    html_packed *packed = calloc(1, sizeof *packed);
    if (!packed)
        return NULL;
    packed->file = file;
    packed->stream.next_out = packed->out;
    packed->stream.avail_out = OUT_BYTES;
    if (deflateInit2(&packed->stream, LEVEL, Z_DEFLATED, GZIP_WINDOW, MOST_MEMORY,
                     Z_DEFAULT_STRATEGY) == Z_OK)
        return packed;
    free(packed);
    return NULL;
}

/* Writes what is packed as base64 (RFC 4648); only the last piece may need padding. */
static void write_out(html_packed *packed)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    static const unsigned char zeros[2];
    char text[OUT_BYTES / 3 * 4];
    size_t size = OUT_BYTES - packed->stream.avail_out, used = 0;

    for (size_t i = 0; i < 2 && size + i < OUT_BYTES; i++)
        packed->out[size + i] = zeros[i];
    for (size_t i = 0; i < size; i += 3) {
        const unsigned char *from = packed->out + i;
        text[used++] = letters[from[0] >> 2];
        text[used++] = letters[(from[0] << 4 | from[1] >> 4) & 63];
        text[used++] = i + 1 < size ? letters[(from[1] << 2 | from[2] >> 6) & 63] : '=';
        text[used++] = i + 2 < size ? letters[from[2] & 63] : '=';
    }
    packed->has_failed |= fwrite(text, 1, used, packed->file) != used;
    packed->stream.next_out = packed->out;
    packed->stream.avail_out = OUT_BYTES;
}

static void deflate_all(html_packed *packed, int flush)
{
    int result;
    do {
        result = deflate(&packed->stream, flush);
        packed->has_failed |= result == Z_STREAM_ERROR;
        if (packed->stream.avail_out == 0)
            write_out(packed);
    } while (!packed->has_failed &&
             (flush == Z_FINISH ? result != Z_STREAM_END : packed->stream.avail_in > 0));
}

void html_packed_write(html_packed *packed, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    while (size > 0 && !packed->has_failed) {
        unsigned piece = size < PIECE_BYTES ? (unsigned)size : (unsigned)PIECE_BYTES;
        packed->stream.next_in = (unsigned char *)(uintptr_t)bytes;
        packed->stream.avail_in = piece;
        deflate_all(packed, Z_NO_FLUSH);
        bytes += piece;
        size -= piece;
    }
}

void html_packed_column(html_packed *packed, html_bytes *column)
{
    size_t size = column->used;
    const unsigned char head[4] = {size & 0xff, size >> 8 & 0xff, size >> 16 & 0xff,
                                   size >> 24 & 0xff};

    packed->has_failed |= column->has_failed || size > UINT32_MAX;
    html_packed_write(packed, head, sizeof head);
    html_packed_write(packed, column->data, size);
    column->used = 0;
}

bool html_packed_end(html_packed *packed)
{
    packed->stream.avail_in = 0;
    deflate_all(packed, Z_FINISH);
    write_out(packed);
    bool is_done = !packed->has_failed;
    deflateEnd(&packed->stream);
    free(packed);
    return is_done;
}
