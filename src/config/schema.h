/* The keys of the configuration as a table, and their values. keys.h has the rows. */
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
    TKT_CONFIG_TYPE_RATE,    /* an amount per second, such as 67.5 T */
    TKT_CONFIG_TYPE_TEXT,    /* any text that `accepts` allows */
    TKT_CONFIG_TYPE_CHOICE,  /* one of `words` */
    TKT_CONFIG_TYPE_CHOICES, /* some of `words` */
    TKT_CONFIG_TYPE_LIST,    /* texts that `accepts` allows */
    TKT_CONFIG_TYPE_SWITCHES /* names, each on or off */
} tkt_config_type;

/* Indices of tkt_config_keys: TKT_CONFIG_WAIT and so on. */
#define TKT_CONFIG_ID(id, name, takes, goes, meaning) TKT_CONFIG_##id,
typedef enum tkt_config_id { TKT_CONFIG_KEYS(TKT_CONFIG_ID) TKT_CONFIG_ID_COUNT } tkt_config_id;

/* The field of takt_profiler_options that a value sets. */
typedef enum tkt_config_field {
    TKT_CONFIG_BY_CODE, /* none: code handles the key */
    TKT_CONFIG_INTO_BOOL,
    TKT_CONFIG_INTO_U32,
    TKT_CONFIG_INTO_U64,
    TKT_CONFIG_INTO_DOUBLE,
    TKT_CONFIG_INTO_TEXT,
    TKT_CONFIG_INTO_CHOICE /* a takt_choice */
} tkt_config_field;

#define TKT_CONFIG_ITEMS_MAX  64  /* in one list */
#define TKT_CONFIG_ITEM_BYTES 255 /* longest item of a list */

typedef struct tkt_config_key {
    const char     *name; /* "profiling.wait"; "reports" is both section and key */
    tkt_config_type type;
    const char     *initial; /* the default, as written in TAKT_OPTIONS */

    /* Smallest and largest value; for texts the length in bytes, for lists the number of items. */
    uint64_t min;
    uint64_t max;

    const char *const *words; /* choices: index or bit i means words[i]; ends with NULL */
    bool (*accepts)(const char *text);
    const char *expects; /* texts and lists: the description of an item, after "expected" */
    const char *meaning; /* for people; a sentence or two */

    size_t           place; /* offset of the field, in bytes */
    tkt_config_field field;
} tkt_config_key;

extern const tkt_config_key tkt_config_keys[TKT_CONFIG_ID_COUNT];

/* Takt's top-level sections of a file; ends with NULL. */
extern const char *const tkt_config_sections[];

/* Returns the key with this full name, or NULL; "profiling" alone means profiling.enabled. */
const tkt_config_key *tkt_config_find(const char *name);

static inline tkt_config_id tkt_config_id_of(const tkt_config_key *key)
{
    return (tkt_config_id)(key - tkt_config_keys);
}

/* Returns the part after the dot, or the whole name. */
const char *tkt_config_leaf(const tkt_config_key *key);

/* True if the key belongs to the section, as "profiling.wait" to "profiling". */
bool tkt_config_is_in(const tkt_config_key *key, const char *section);

/* Returns the key that `name` probably means, or NULL. Compares only the part after the dot, so it
 * also finds keys in the wrong section. */
const tkt_config_key *tkt_config_suggest(const char *name);

/* Returns the section whose name differs from `name` by at most two letters, or NULL. */
const char *tkt_config_near_section(const char *name);

/* True for names such as "profile" and "Profiler", which may also be the program's own. */
bool tkt_config_is_like_profiling(const char *name);

/* ======== Values ======== */

/* Values of keys: reading them from text, copying, writing them as text. */

/* One value. Its text and items live in an arena. */
typedef struct tkt_config_value {
    uint64_t              number; /* switch: 0 or 1; choice: index; choices: bits */
    const char           *text;
    takt_category_switch *items; /* lists and switches: names; those of a list are all on */
    size_t                count;
} tkt_config_value;

/* The reason why a text is not a valid value: "expected true or false, got '7'". */
typedef struct tkt_config_problem {
    takt_status status;
    char        text[200];
} tkt_config_problem;

/* Reads a value. Commas separate the items of a list; switches look like "io:off, mpi:on". On
 * failure *problem gives the reason, and `out` is unchanged. */
bool tkt_config_value_parse(const tkt_config_key *key, const char *text, tkt_arena *memory,
                            tkt_config_value *out, tkt_config_problem *problem);

/* Read choices, lists and switches item by item: start with {0}, add items, then check their
 * number. `state` is the switch's on or off; NULL for the other types. */
bool tkt_config_value_add(const tkt_config_key *key, const char *item, const char *state,
                          tkt_arena *memory, tkt_config_value *value, tkt_config_problem *problem);
bool tkt_config_value_check(const tkt_config_key *key, const tkt_config_value *value,
                            tkt_config_problem *problem);

/* Copies a value into `memory`; false without memory. */
bool tkt_config_value_copy(const tkt_config_value *from, tkt_arena *memory, tkt_config_value *out);

bool tkt_config_value_equal(const tkt_config_key *key, const tkt_config_value *a,
                            const tkt_config_value *b);

/* Writes the values that the key accepts, to follow "expected": "a whole number from 0 to
 * 4294967295". */
void tkt_config_expects(const tkt_config_key *key, char *out, size_t capacity);

/* Braces may appear anywhere in a path, but {word} must be a known placeholder. Returns the first
 * one that is not; NULL: none. */
const char *tkt_config_unknown_placeholder(const char *text);

/* Sets *problem to "expected ..., got GOT", and returns false. */
bool tkt_config_refuse(tkt_config_problem *problem, const tkt_config_key *key, const char *got);

/* Writes any text in quotes for a message: printable, and cut if it is long. Returns out. */
#define TKT_CONFIG_QUOTED 48
const char *tkt_config_quote(char out[TKT_CONFIG_QUOTED], const char *text);

/* Writes a size with the largest unit that divides it, "256 MiB"; at most 32 bytes. */
void tkt_config_format_bytes(char *out, size_t capacity, uint64_t bytes);

#endif
