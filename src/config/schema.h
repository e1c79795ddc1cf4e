/* The keys of the configuration as a table; keys.h has its rows. */
#ifndef TKT_CONFIG_SCHEMA_H
#define TKT_CONFIG_SCHEMA_H

#include "config/keys.h"

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

#endif
