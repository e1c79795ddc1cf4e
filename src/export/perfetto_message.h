/* Building protobuf messages whose size is not known beforehand: the rare ones, with texts and
 * messages inside messages. Memory is kept from one message to the next. */
#ifndef TKT_EXPORT_PERFETTO_MESSAGE_H
#define TKT_EXPORT_PERFETTO_MESSAGE_H

#include "base/containers.h"

#include <stdint.h>

typedef struct tkt_message {
    TKT_ARRAY(char);
    bool is_short; /* memory ran out; what follows is thrown away */
} tkt_message; /* starts as {0}, ends with TKT_ARRAY_FREE */

static inline void tkt_message_clear(tkt_message *message) { message->count = 0; }

void tkt_message_uint(tkt_message *message, uint32_t field, uint64_t value);
void tkt_message_int(tkt_message *message, uint32_t field, int64_t value);
void tkt_message_double(tkt_message *message, uint32_t field, double value);
void tkt_message_fixed64(tkt_message *message, uint32_t field, uint64_t value);
void tkt_message_varint(tkt_message *message, uint64_t value); /* inside a packed field */

/* Bytes that are text, with invalid UTF-8 replaced: Perfetto's fields of type string. */
void tkt_message_text(tkt_message *message, uint32_t field, const char *bytes, size_t size);
void tkt_message_string(tkt_message *message, uint32_t field, const char *text);

/* Another message, as it is. */
void tkt_message_append(tkt_message *message, const tkt_message *fields);

/* A message within a message; `mark` is what begin returned. */
size_t tkt_message_begin(tkt_message *message, uint32_t field);
void tkt_message_end(tkt_message *message, size_t mark);

/* The same fields, left out where they are zero or empty, which is what reading gives then. */
void tkt_message_uint_if(tkt_message *message, uint32_t field, uint64_t value);
void tkt_message_double_if(tkt_message *message, uint32_t field, double value);
void tkt_message_string_if(tkt_message *message, uint32_t field, const char *text);

#endif
