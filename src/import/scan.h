/* A scanner for the JSON that profilers write, which is often not quite JSON: trailing commas, NaN,
 * unknown escapes, quotes inside of names. It reads an object into a flat list of its members and
 * copies nothing: all texts are slices of the caller's bytes. Nested values stay unread slices,
 * which can be scanned in turn. */
#ifndef TKT_IMPORT_SCAN_H
#define TKT_IMPORT_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef enum imp_kind {
    IMP_NONE, /* there is no such member */
    IMP_STRING,
    IMP_OBJECT,
    IMP_ARRAY,
    IMP_WORD /* a number, true, false, null, NaN */
} imp_kind;

/* A value as it stands in the file: a string without its quotes, everything else whole. */
typedef struct imp_value {
    const uint8_t *bytes;
    size_t size;
    imp_kind kind;
    bool is_escaped; /* a string with backslashes */
} imp_value;

typedef struct imp_member {
    imp_value key;
    imp_value value;
} imp_member;

#define IMP_MOST_MEMBERS 64u /* of an object; further ones are left out */

typedef struct imp_object {
    uint32_t count;
    imp_member members[IMP_MOST_MEMBERS];
} imp_object;

typedef enum imp_result {
    IMP_DONE,
    IMP_MORE, /* the bytes end within the value */
    IMP_BAD
} imp_result;

/* How to find the end of a string that is a value. Loose reading is for what strict reading refuses:
 * of valid JSON, it may take several strings of an array for one. */
typedef enum imp_quotes {
    IMP_QUOTES_STRICT, /* at the next quote, on the same line */
    IMP_QUOTES_LOOSE   /* at the next quote that is followed by what may follow a value: the end of
                        * the object, or a comma and another member */
} imp_quotes;

/* Reads the members of an object from behind its opening brace. `*at` moves behind the closing
 * brace, or to the fault. Takes O(size), whatever the nesting. */
imp_result imp_scan_object(const uint8_t **at, const uint8_t *end, imp_quotes quotes,
                           imp_object *out);

/* Reads an event, whose quotes are strict. If its "args" are an object, `*args` gets their members on
 * the way and `*args_begin` the place of their brace, otherwise NULL. */
imp_result imp_scan_event(const uint8_t **at, const uint8_t *end, imp_object *out,
                          imp_object *args, const uint8_t **args_begin);

/* Reads the members of a value that has been read: strictly, or else loosely. False if it is no
 * object, or does not end; `out` has the members before the fault. */
bool imp_scan_inside(const imp_value *value, imp_object *out);

/* Reads one value. */
imp_result imp_scan_value(const uint8_t **at, const uint8_t *end, imp_quotes quotes,
                          imp_value *out);

/* Reads a key and its colon. Keys have no quotes in them. */
imp_result imp_scan_key(const uint8_t **at, const uint8_t *end, imp_value *out);

/* The first byte from `at` on that is not white space, or `end`. */
const uint8_t *imp_skip_space(const uint8_t *at, const uint8_t *end);

/* Whether the value's bytes are these. Inlined, so that the length of a constant text is one. */
static inline bool imp_is(const imp_value *value, const char *text)
{
    size_t size = strlen(text);
    return value->size == size && memcmp(value->bytes, text, size) == 0;
}

/* The value of the first member with this key; of kind IMP_NONE if there is none. */
static inline const imp_value *imp_find(const imp_object *object, const char *key)
{
    static const imp_value none;
    for (uint32_t i = 0; i < object->count; i++) {
        if (imp_is(&object->members[i].key, key))
            return &object->members[i].value;
    }
    return &none;
}

/* ======== Values ======== */

/* Copies a string without its escapes to `out`, which has room for `value->size` bytes, and returns
 * the length. A backslash before a character that needs none stays, as in "C:\Users". Half of a
 * surrogate pair becomes U+FFFD; NUL too. */
size_t imp_unescape(const imp_value *string, char *out);

/* All three also read numbers in strings. False if the value is no such number. */
bool imp_integer(const imp_value *value, int64_t *out);
bool imp_real(const imp_value *value, double *out);

/* A decimal number of microseconds as nanoseconds, exactly; further digits are rounded, half up.
 * False for negative and impossible times, too. */
bool imp_time(const imp_value *value, int64_t *ns);

/* The number in "ProfilerStep#7", torch's name for a step. */
bool imp_step_number(const char *name, size_t size, uint64_t *out);

/* Reads an array of up to `most` whole numbers; returns their count. */
size_t imp_integers(const imp_value *array, int64_t *out, size_t most);

#endif
