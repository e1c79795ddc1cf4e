/* Text that comes from anywhere, made safe for where it goes; and fast decimal numbers. */
#ifndef TKT_BASE_TEXT_H
#define TKT_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decodes one character of UTF-8 (RFC 3629: no surrogates, no overlong forms, at most U+10FFFF).
 * Returns its length, 1 to 4, or 0 when the bytes at `text` are not valid. */
size_t tkt_utf8_length(const char *text, size_t size);

/* Copies text into `out` of `capacity` bytes as valid UTF-8, invalid bytes as U+FFFD, cut at a
 * character, NUL-terminated. Returns the length written. */
size_t tkt_utf8_clean(char *out, size_t capacity, const char *text, size_t size);

/* The same for people's terminals: what would drive them instead of being shown becomes '?': control
 * characters (C0, DEL, C1), overrides of the direction of writing, separators of lines. */
size_t tkt_printable(char *out, size_t capacity, const char *text, size_t size);

/* Columns that printable text takes: one per character, none for combining marks, two for wide
 * characters. */
size_t tkt_text_columns(const char *text);

/* The escaped inside of a JSON string (RFC 8259): quotes, backslashes, and all that tkt_printable()
 * replaces because it would drive a terminal, so that printing JSON is safe, too; invalid bytes as
 * U+FFFD. At most 6 bytes out for one in. Returns the end. */
char *tkt_json_escape(char *out, const char *text, size_t size);

/* Writes a decimal number without NUL and returns its end; at most 20 bytes. */
char *tkt_put_u64(char *out, uint64_t value);
char *tkt_put_i64(char *out, int64_t value);

/* Nanoseconds as microseconds with three decimals, "1234.567"; at most 24 bytes. */
char *tkt_put_us(char *out, uint64_t ns);

/* The smallest number of edits (insert, delete, replace) between two words; more than `limit` is
 * limit + 1. Unequal words of over 255 bytes count as that far apart. */
size_t tkt_edit_distance(const char *a, const char *b, size_t limit);

#endif
