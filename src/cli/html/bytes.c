/* Buffers and compressed blocks for the page. */
#include "cli/cli.h"
#include "cli/html/html.h"

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* ======== Growing bytes ======== */

/* Growing buffers for columns and JSON. */

static bool reserve(html_bytes *bytes, size_t size)
{
    if (bytes->capacity - bytes->used >= size && bytes->data)
        return true;
    size_t capacity = bytes->capacity + bytes->capacity / 2 + size + 256;
    uint8_t *data = bytes->has_failed ? NULL : realloc(bytes->data, capacity);
    bytes->has_failed = !data;
    if (!data)
        return false;
    bytes->data = data;
    bytes->capacity = capacity;
    return true;
}

void html_put(html_bytes *bytes, const void *data, size_t size)
{
    if (size == 0 || !reserve(bytes, size))
        return;
    memcpy(bytes->data + bytes->used, data, size);
    bytes->used += size;
}

static takt_status put(void *user, const void *data, size_t size)
{
    html_put(user, data, size);
    return TAKT_OK;
}

takt_sink html_sink(html_bytes *bytes)
{
    return (takt_sink){put, bytes};
}

void html_put_varint(html_bytes *bytes, uint64_t value)
{
    if (!reserve(bytes, 10))
        return;
    for (; value >= 0x80; value >>= 7)
        bytes->data[bytes->used++] = (uint8_t)(value | 0x80);
    bytes->data[bytes->used++] = (uint8_t)value;
}

void html_put_zigzag(html_bytes *bytes, int64_t value)
{
    html_put_varint(bytes, (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0));
}

void html_print(html_bytes *bytes, const char *format, ...)
{
    char text[512];
    va_list list;

    va_start(list, format);
    int size = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (size >= 0 && (size_t)size < sizeof text)
        html_put(bytes, text, (size_t)size);
    else
        bytes->has_failed = true;
}

/* Returns the length of the character at `text`; 0 if the bytes are not UTF-8 as in RFC 3629 (no
 * surrogates, no overlong forms, at most U+10FFFF). */
static size_t character_length(const uint8_t *text, size_t size)
{
    if (text[0] < 0x80)
        return 1;
    size_t length = text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : 2;
    if (text[0] < 0xc2 || text[0] > 0xf4 || length > size)
        return 0;
    if ((text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xed && text[1] > 0x9f) ||
        (text[0] == 0xf0 && text[1] < 0x90) || (text[0] == 0xf4 && text[1] > 0x8f))
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    return length;
}

/* True if the character must be written as \uXXXX: where JSON requires it, where it could end a
 * script element or begin a comment in it, and for the line separators U+2028 and U+2029. */
static bool is_escaped(const uint8_t *text, size_t length)
{
    if (length == 1)
        return text[0] < 0x20 || strchr("\"\\<>&\x7f", text[0]) != NULL;
    return length == 3 && text[0] == 0xe2 && text[1] == 0x80 && (text[2] | 1) == 0xa9;
}

void html_put_json(html_bytes *bytes, const char *text, size_t size)
{
    const uint8_t *at = (const uint8_t *)text, *end = at + size, *plain = at;

    html_put(bytes, "\"", 1);
    while (at < end) {
        size_t length = character_length(at, (size_t)(end - at));
        if (length && !is_escaped(at, length)) {
            at += length;
            continue;
        }
        html_put(bytes, plain, (size_t)(at - plain));
        unsigned number = !length ? 0xfffdu : length == 1 ? *at : 0x2000u + (at[2] & 0x3fu);
        html_print(bytes, "\\u%04x", number);
        at += length ? length : 1;
        plain = at;
    }
    html_put(bytes, plain, (size_t)(end - plain));
    html_put(bytes, "\"", 1);
}

/* ======== Blocks ======== */

/* A block of the page: gzip, which browsers can decompress, then base64, whose letters have no
 * meaning in HTML. The block is written in pieces, so that a large trace needs little memory. Many
 * columns are several blocks, which browsers can unpack at once. */

enum {
    LEVEL = 1,                  /* the fastest; columns of varints are small already */
    GZIP_WINDOW = 15 + 16,      /* a 32 KiB window; adds gzip's header and trailer */
    MOST_MEMORY = 9,            /* zlib's memLevel */
    OUT_BYTES = 3 * (16 << 10), /* a multiple of three, for base64 */
    PIECE_BYTES = 1 << 30,
    BLOCK_BYTES = 1 << 20 /* of columns, uncompressed, after which a new block begins */
};

struct html_packed {
    FILE *file;
    const char *id, *suffix;
    unsigned number; /* of the block */
    z_stream stream;
    bool has_failed;
    unsigned char out[OUT_BYTES];
};

static void begin_block(html_packed *packed)
{
    fprintf(packed->file, "<script type=\"text/plain\" id=\"%s%s", packed->id, packed->suffix);
    if (++packed->number > 1)
        fprintf(packed->file, "-%u", packed->number);
    fputs("\">", packed->file);
    packed->stream.next_out = packed->out;
    packed->stream.avail_out = OUT_BYTES;
}

html_packed *html_packed_begin(FILE *file, const char *id, const char *suffix)
{
    html_packed *packed = calloc(1, sizeof *packed);
    if (!packed)
        return NULL;
    packed->file = file;
    packed->id = id;
    packed->suffix = suffix;
    if (deflateInit2(&packed->stream, LEVEL, Z_DEFLATED, GZIP_WINDOW, MOST_MEMORY,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
        free(packed);
        return NULL;
    }
    begin_block(packed);
    return packed;
}

/* Writes the compressed bytes as base64 (RFC 4648). Only the last piece may need padding. */
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

static void end_block(html_packed *packed)
{
    packed->stream.avail_in = 0;
    deflate_all(packed, Z_FINISH);
    write_out(packed);
    fputs("</script>\n", packed->file);
}

void html_packed_column(html_packed *packed, html_bytes *column)
{
    size_t size = column->used;
    const unsigned char head[4] = {size & 0xff, size >> 8 & 0xff, size >> 16 & 0xff,
                                   size >> 24 & 0xff};

    packed->has_failed |= column->has_failed || size > UINT32_MAX;
    if (packed->stream.total_in >= BLOCK_BYTES) {
        end_block(packed);
        deflateReset(&packed->stream);
        begin_block(packed);
    }
    html_packed_write(packed, head, sizeof head);
    html_packed_write(packed, column->data, size);
    column->used = 0;
}

bool html_packed_end(html_packed *packed)
{
    end_block(packed);
    bool is_done = !packed->has_failed;
    deflateEnd(&packed->stream);
    free(packed);
    return is_done;
}
