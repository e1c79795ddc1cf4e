/* Values of keys: read from text, copied, written as text. */
#ifndef TKT_CONFIG_VALUE_H
#define TKT_CONFIG_VALUE_H

#include "config/schema.h"

#include "base/containers.h"

#include <takt/profiler.h>

/* One value. What it points to lies in an arena. */
typedef struct tkt_config_value {
    uint64_t              number; /* switch: 0 or 1; choice: index; choices: bits */
    const char           *text;
    takt_category_switch *items; /* of lists too: names, all of them on */
    size_t                count;
} tkt_config_value;

/* Why something is not a value: "expected true or false, got '7'". */
typedef struct tkt_config_problem {
    takt_status status;
    char        text[200];
} tkt_config_problem;

/* Reads a value. Lists are separated by commas, switches look like "io:off, mpi:on". `out` is
 * untouched on failure, which *problem explains. */
bool tkt_config_value_parse(const tkt_config_key *key, const char *text, tkt_arena *memory,
                            tkt_config_value *out, tkt_config_problem *problem);

/* The same one item at a time, for choices, lists and switches: start with {0}, add, then check
 * that there are enough. `state` is the switch's on or off, NULL for the other types. */
bool tkt_config_value_add(const tkt_config_key *key, const char *item, const char *state,
                          tkt_arena *memory, tkt_config_value *value, tkt_config_problem *problem);
bool tkt_config_value_check(const tkt_config_key *key, const tkt_config_value *value,
                            tkt_config_problem *problem);

/* Copies it into `memory`; false without memory. */
bool tkt_config_value_copy(const tkt_config_value *from, tkt_arena *memory, tkt_config_value *out);

bool tkt_config_value_equal(const tkt_config_key *key, const tkt_config_value *a,
                            const tkt_config_value *b);

/* What the key takes, to stand after "expected": "a whole number from 0 to 4294967295". */
void tkt_config_expects(const tkt_config_key *key, char *out, size_t capacity);

/* Fills *problem with "expected ..., got GOT", and returns false. */
bool tkt_config_refuse(tkt_config_problem *problem, const tkt_config_key *key, const char *got);

/* Any text in quotes for a message: printable, and the beginning of a long one. */
#define TKT_CONFIG_QUOTED 48
const char *tkt_config_quote(char out[TKT_CONFIG_QUOTED], const char *text);

/* A size with the largest unit that divides it, "256 MiB"; at most 32 bytes. */
void tkt_config_format_bytes(char *out, size_t capacity, uint64_t bytes);

/* true and yes and on, false and no and off, in any case. */
bool tkt_config_read_switch(const char *text, bool *out);

#endif
