/* Untrusted text made safe for output, and fast decimal numbers. */
#ifndef TKT_BASE_TEXT_H
#define TKT_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decodes one character of UTF-8 (RFC 3629: no surrogates, no overlong forms, at most U+10FFFF).
 * Returns its length, 1 to 4, or 0 when the bytes at `text` are not valid. */
size_t tkt_utf8_length(const char *text, size_t size);

/* Copies text into `out` of `capacity` bytes as valid UTF-8, with U+FFFD for invalid bytes, cut
 * between characters, NUL-terminated. Returns the length. */
size_t tkt_utf8_clean(char *out, size_t capacity, const char *text, size_t size);

/* The same for a terminal. Characters that would control the terminal become '?': control
 * characters (C0, DEL, C1), overrides of the writing direction, line separators. */
size_t tkt_printable(char *out, size_t capacity, const char *text, size_t size);

/* True for valid UTF-8 that tkt_printable() would not change: such text may go into file names, tables
 * and log lines. */
bool tkt_is_printable(const char *text);

/* Ends a text of `length` bytes, of which `out` has as many as fit into `capacity`: in dots if it is
 * cut, and not within a UTF-8 character. */
void tkt_text_end(char *out, size_t capacity, size_t length);

/* The number of columns of printable text: one per character, none for combining marks, two for
 * wide characters. */
size_t tkt_text_columns(const char *text);

/* Escapes the inside of a JSON string (RFC 8259): quotes, backslashes, and all characters that
 * tkt_printable() replaces, so that printing JSON is safe, too. Invalid bytes become U+FFFD. Writes
 * at most 6 bytes for one. Returns the end. */
char *tkt_json_escape(char *out, const char *text, size_t size);

/* Writes a decimal number without NUL and returns its end; at most 20 bytes. */
char *tkt_put_u64(char *out, uint64_t value);
char *tkt_put_i64(char *out, int64_t value);

/* The digits of 00 to 99. */
extern const char tkt_two_digits[];

/* Nanoseconds as microseconds with three decimals, "1234.567"; at most 24 bytes. */
char *tkt_put_us(char *out, uint64_t ns);

/* The fewest digits from `least` on that read back as the same double: "0.1", "1e+30", "nan",
 * "inf". Numbers of up to `least` digits have no exponent. With a point in every locale; without
 * NUL. Returns the end. */
#define TKT_DOUBLE_BYTES  24 /* at most */
#define TKT_DOUBLE_DIGITS 15
char *tkt_put_double(char *out, double value, int least);

/* For people, of a number that may have been a float: if it is the value of one and has more than
 * TKT_DOUBLE_DIGITS digits, the fewest that read back as the same float: "0.1" for 0.1f. */
char *tkt_put_real(char *out, double value, int least);

/* The number that tkt_put_real() shows. */
double tkt_real_shown(double value);

/* The part of a path behind the last '/'. */
const char *tkt_base_name(const char *path);

/* True if spreadsheets would take the text for a formula (OWASP, "CSV Injection"): CSV files have an
 * apostrophe before it. */
bool tkt_is_formula(const char *text);

bool tkt_begins_with(const char *text, const char *beginning);

/* True for a name of `size` bytes that ends so and has more before it. */
bool tkt_has_ending(const char *name, size_t size, const char *ending);

/* Reads true, false, yes, no, on or off, in any case. False for other words. */
bool tkt_text_switch(const char *text, bool *out);

/* The smallest number of edits (insert, delete, replace) between two words, or `limit` + 1 if it is
 * more than `limit`. Unequal words of over 255 bytes give `limit` + 1, too. */
size_t tkt_edit_distance(const char *a, const char *b, size_t limit);

/* Returns the word of `words` (ends with NULL) that `word` probably means, a misspelling or the
 * beginning of it, or NULL. */
const char *tkt_nearest_word(const char *word, const char *const *words);

#endif
