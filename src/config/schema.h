/* The keys of the configuration as a table; keys.h has its rows. */
#ifndef TKT_CONFIG_SCHEMA_H
#define TKT_CONFIG_SCHEMA_H

#include "base/containers.h"
#include "config/keys.h"

#include <takt/profiler.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum tkt_config_type {
    TKT_CONFIG_TYPE_SWITCH,  /* true or false */
    TKT_CONFIG_TYPE_COUNT,   /* a whole number */
    TKT_CONFIG_TYPE_BYTES,   /* a size such as 256 MiB */
    TKT_CONFIG_TYPE_RATE,    /* so much a second, such as 67.5 T */
    TKT_CONFIG_TYPE_TEXT,    /* any text that `accepts` takes */
    TKT_CONFIG_TYPE_CHOICE,  /* one of `words` */
    TKT_CONFIG_TYPE_CHOICES, /* some of `words` */
    TKT_CONFIG_TYPE_LIST,    /* texts that `accepts` takes */
    TKT_CONFIG_TYPE_SWITCHES /* names, each on or off */
} tkt_config_type;

/* Indices of tkt_config_keys: TKT_CONFIG_WAIT and so on. */
#define TKT_CONFIG_ID(id, name, takes, goes, meaning) TKT_CONFIG_##id,
typedef enum tkt_config_id { TKT_CONFIG_KEYS(TKT_CONFIG_ID) TKT_CONFIG_ID_COUNT } tkt_config_id;

/* What a value becomes in takt_profiler_options. */
typedef enum tkt_config_field {
    TKT_CONFIG_BY_CODE, /* nothing by itself */
    TKT_CONFIG_INTO_BOOL,
    TKT_CONFIG_INTO_U32,
    TKT_CONFIG_INTO_U64,
    TKT_CONFIG_INTO_DOUBLE,
    TKT_CONFIG_INTO_TEXT,
    TKT_CONFIG_INTO_CHOICE /* a takt_choice */
} tkt_config_field;

#define TKT_CONFIG_ITEMS_MAX  64  /* of one list */
#define TKT_CONFIG_ITEM_BYTES 255 /* of one of its items */

typedef struct tkt_config_key {
    const char     *name; /* "profiling.wait"; "reports" is section and key in one */
    tkt_config_type type;
    const char     *initial; /* the default, written as TAKT_OPTIONS takes it */

    /* Smallest and largest value; of a text its length in bytes, of a list its number of items. */
    uint64_t min;
    uint64_t max;

    const char *const *words; /* choices: value or bit i is words[i]; ends with NULL */
    bool (*accepts)(const char *text);
    const char *expects; /* texts and lists: what an item is, after "expected" */
    const char *meaning; /* for people; a sentence or two */

    size_t           place; /* of its field, in bytes */
    tkt_config_field field;
} tkt_config_key;

extern const tkt_config_key tkt_config_keys[TKT_CONFIG_ID_COUNT];

/* The top-level sections of a file that are Takt's; ends with NULL. */
extern const char *const tkt_config_sections[];

/* The key of that full name, or NULL; "profiling" alone is short for profiling.enabled. */
const tkt_config_key *tkt_config_find(const char *name);

static inline tkt_config_id tkt_config_id_of(const tkt_config_key *key)
{
    return (tkt_config_id)(key - tkt_config_keys);
}

/* The part behind the dot, or the whole name. */
const char *tkt_config_leaf(const tkt_config_key *key);

/* Whether the key stands in that section, as "profiling.wait" does in "profiling". */
bool tkt_config_is_in(const tkt_config_key *key, const char *section);

/* The key that `name` was probably meant to be, or NULL. Only the part behind the dot counts, so a
 * key that stands in the wrong section is found too. */
const tkt_config_key *tkt_config_suggest(const char *name);

/* The word of `words`, which ends with NULL, that `word` was probably meant to be, or NULL. */
const char *tkt_config_nearest(const char *word, const char *const *words);

/* The section that a top-level name differs from by one or two letters, or NULL. */
const char *tkt_config_near_section(const char *name);

/* ======== Values ======== */

/* Values of keys: read from text, copied, written as text. */

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
