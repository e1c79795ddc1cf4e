/* The parts of the Protocol Buffers wire format that Perfetto traces need: varints, fixed64 and
 * length-delimited fields. Writers rely on the caller to reserve space; readers trust nothing.
 * Encoding: https://protobuf.dev/programming-guides/encoding/ */
#ifndef TKT_TRACE_PROTOBUF_H
#define TKT_TRACE_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef enum tkt_pb_wire {
    TKT_PB_VARINT = 0,
    TKT_PB_FIXED64 = 1,
    TKT_PB_BYTES = 2,
    TKT_PB_FIXED32 = 5
} tkt_pb_wire;

#define TKT_PB_VARINT_MAX 10 /* bytes of the longest varint */

static inline char *tkt_pb_put_varint(char *out, uint64_t value)
{
    while (value >= 0x80) {
        *out++ = (char)(value | 0x80);
        value >>= 7;
    }
    *out++ = (char)value;
    return out;
}

static inline char *tkt_pb_put_tag(char *out, uint32_t field, tkt_pb_wire wire)
{
    return tkt_pb_put_varint(out, field << 3 | (uint32_t)wire);
}

static inline char *tkt_pb_put_uint(char *out, uint32_t field, uint64_t value)
{
    return tkt_pb_put_varint(tkt_pb_put_tag(out, field, TKT_PB_VARINT), value);
}

/* The format is little-endian, and so are both supported platforms. */
static inline char *tkt_pb_put_fixed64(char *out, uint32_t field, uint64_t value)
{
    out = tkt_pb_put_tag(out, field, TKT_PB_FIXED64);
    memcpy(out, &value, sizeof value);
    return out + sizeof value;
}

static inline size_t tkt_pb_varint_size(uint64_t value)
{
    size_t size = 1;
    while (value >>= 7)
        size++;
    return size;
}

/* The unread rest of a message. */
typedef struct tkt_pb_reader {
    const uint8_t *at;
    const uint8_t *end;
    bool           is_bad; /* the field at `at` is malformed */
} tkt_pb_reader;

typedef struct tkt_pb_field {
    uint32_t       number;
    tkt_pb_wire    wire;
    uint64_t       value; /* of VARINT, FIXED64, FIXED32; for BYTES their number */
    const uint8_t *bytes; /* the content of BYTES; otherwise the position of the value */
} tkt_pb_field;

static inline tkt_pb_reader tkt_pb_read(const uint8_t *bytes, size_t size)
{
    return (tkt_pb_reader){bytes, bytes + size, false};
}

static inline tkt_pb_reader tkt_pb_inside(const tkt_pb_field *field)
{
    return tkt_pb_read(field->bytes, (size_t)field->value);
}

/* Reads the varint at `at` and returns its end; NULL if it goes past `end` or has more than ten
 * bytes. Discards bits above the 64th, as other readers do. */
static inline const uint8_t *tkt_pb_get_varint(const uint8_t *at, const uint8_t *end,
                                               uint64_t *value)
{
    if (at < end && *at < 0x80) {
        *value = *at;
        return at + 1;
    }
    uint64_t result = 0;
    for (unsigned shift = 0; at < end && shift < 7 * TKT_PB_VARINT_MAX; shift += 7) {
        uint8_t byte = *at++;
        result |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80) {
            *value = result;
            return at;
        }
    }
    return NULL;
}

/* Reads the value after a tag and returns its end; NULL if the value is malformed. */
static inline const uint8_t *tkt_pb_get_value(const uint8_t *at, const uint8_t *end,
                                              tkt_pb_field *field)
{
    size_t left = (size_t)(end - at);
    field->bytes = at;
    switch (field->wire) {
    case TKT_PB_VARINT:
        return tkt_pb_get_varint(at, end, &field->value);
    case TKT_PB_FIXED64:
    case TKT_PB_FIXED32: {
        size_t size = field->wire == TKT_PB_FIXED64 ? 8 : 4;
        field->value = 0;
        if (left < size)
            return NULL;
        memcpy(&field->value, at, size);
        return at + size;
    }
    case TKT_PB_BYTES:
        at = tkt_pb_get_varint(at, end, &field->value);
        if (!at || field->value > (size_t)(end - at))
            return NULL;
        field->bytes = at;
        return at + field->value;
    default:
        return NULL;
    }
}

/* Reads the next field. False at the end of the message, and at a malformed field, which sets
 * `is_bad`. */
bool tkt_pb_next(tkt_pb_reader *reader, tkt_pb_field *field);

static inline double tkt_pb_double(const tkt_pb_field *field)
{
    double value;
    memcpy(&value, &field->value, sizeof value);
    return value;
}

#endif
