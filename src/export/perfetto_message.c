/* Nested messages carry their size in front. It is put there when the message is complete, by
 * moving what it contains: these messages are small and rare. */
#include "export/perfetto_message.h"

#include "base/text.h"
#include "trace/protobuf.h"

#include <string.h>

/* Room for `size` bytes at the end, or NULL. */
static char *reserve(tkt_message *message, size_t size)
{
    if (!message->is_short && !TKT_ARRAY_RESERVE(message, message->count + size))
        message->is_short = true;
    return message->is_short ? NULL : message->items + message->count;
}

static void commit(tkt_message *message, const char *end)
{
    message->count = (size_t)(end - message->items);
}

void tkt_message_uint(tkt_message *message, uint32_t field, uint64_t value)
{
    char *out = reserve(message, 2 * TKT_PB_VARINT_MAX);
    if (out)
        commit(message, tkt_pb_put_uint(out, field, value));
}

void tkt_message_int(tkt_message *message, uint32_t field, int64_t value)
{
    tkt_message_uint(message, field, (uint64_t)value);
}

void tkt_message_fixed64(tkt_message *message, uint32_t field, uint64_t value)
{
    char *out = reserve(message, TKT_PB_VARINT_MAX + sizeof value);
    if (out)
        commit(message, tkt_pb_put_fixed64(out, field, value));
}

void tkt_message_double(tkt_message *message, uint32_t field, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    tkt_message_fixed64(message, field, bits);
}

void tkt_message_varint(tkt_message *message, uint64_t value)
{
    char *out = reserve(message, TKT_PB_VARINT_MAX);
    if (out)
        commit(message, tkt_pb_put_varint(out, value));
}

void tkt_message_text(tkt_message *message, uint32_t field, const char *bytes, size_t size)
{
    size_t mark = tkt_message_begin(message, field);
    size_t capacity = 3 * size + 1; /* U+FFFD has three bytes */
    char *out = reserve(message, capacity);
    if (out)
        commit(message, out + tkt_utf8_clean(out, capacity, bytes, size));
    tkt_message_end(message, mark);
}

void tkt_message_string(tkt_message *message, uint32_t field, const char *text)
{
    tkt_message_text(message, field, text, strlen(text));
}

void tkt_message_append(tkt_message *message, const tkt_message *fields)
{
    message->is_short |= fields->is_short;
    char *out = fields->count ? reserve(message, fields->count) : NULL;
    if (!out)
        return;
    memcpy(out, fields->items, fields->count);
    commit(message, out + fields->count);
}

size_t tkt_message_begin(tkt_message *message, uint32_t field)
{
    char *out = reserve(message, TKT_PB_VARINT_MAX);
    if (out)
        commit(message, tkt_pb_put_tag(out, field, TKT_PB_BYTES));
    return message->count;
}

void tkt_message_end(tkt_message *message, size_t mark)
{
    if (!reserve(message, TKT_PB_VARINT_MAX))
        return;
    char *content = message->items + mark;
    size_t size = message->count - mark;
    size_t shift = tkt_pb_varint_size(size);
    memmove(content + shift, content, size);
    tkt_pb_put_varint(content, size);
    message->count += shift;
}

void tkt_message_uint_if(tkt_message *message, uint32_t field, uint64_t value)
{
    if (value)
        tkt_message_uint(message, field, value);
}

void tkt_message_double_if(tkt_message *message, uint32_t field, double value)
{
    if (value != 0)
        tkt_message_double(message, field, value);
}

void tkt_message_string_if(tkt_message *message, uint32_t field, const char *text)
{
    if (text[0])
        tkt_message_string(message, field, text);
}
