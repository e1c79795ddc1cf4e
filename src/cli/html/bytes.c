/* Bytes that grow: columns and JSON on their way into the page. */
#include "cli/html/html.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

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

/* The length of the character at `text`, or 0 where the bytes are not UTF-8 (RFC 3629: no
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

/* Must this character be written by its number? Besides what JSON wants so, those that could end a
 * script block, begin a comment in it, or, as line separators, surprise a reader. */
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
