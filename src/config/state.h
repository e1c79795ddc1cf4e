/* All values of a configuration. Changes go to a copy, which replaces the original once all of them
 * are accepted. A failure therefore changes nothing. */
#ifndef TKT_CONFIG_STATE_H
#define TKT_CONFIG_STATE_H

#include "config/errors.h"
#include "config/schema.h"

#include <takt/config.h>

/* Limits of a file. libyaml takes quadratic time for deep nesting and for many tag directives, so
 * Takt refuses such files early. */
#define TKT_CONFIG_BYTES_MAX      (1024 * 1024)
#define TKT_CONFIG_DEPTH_MAX      32
#define TKT_CONFIG_EVENTS_MAX     65536
#define TKT_CONFIG_DIRECTIVES_MAX 32

#define TKT_CONFIG_SKIPPED_MAX 64 /* sections remembered for takt_config_describe() */

/* A section of a file that does not belong to Takt. */
typedef struct tkt_config_section {
    const char *name;
    uint32_t    line;
} tkt_config_section;

typedef struct tkt_config_state {
    tkt_arena             memory; /* for everything below */
    tkt_config_value      values[TKT_CONFIG_ID_COUNT];
    bool                  is_asked; /* a profiling section, an option or an argument asks for
                                     * profiling */
    bool                  has_skipped_more; /* more sections than fit into `skipped` */
    size_t                skipped_count;
    tkt_config_section    skipped[TKT_CONFIG_SKIPPED_MAX];
    takt_profiler_options options;
} tkt_config_state;

_Static_assert(TKT_CONFIG_ID_COUNT <= 64, "a bit for every key");

struct takt_config {
    tkt_config_state *state;
};

/* Copies `from`, or makes the defaults if it is NULL. NULL without memory. */
tkt_config_state *tkt_config_state_create(const tkt_config_state *from);
void tkt_config_state_destroy(tkt_config_state *state);

/* Sets one value from text. */
bool tkt_config_state_set(tkt_config_state *state, const tkt_config_key *key, const char *text,
                          tkt_config_problem *problem);

/* Remembers a skipped section; false without memory. */
bool tkt_config_state_skip(tkt_config_state *state, const char *name, size_t size, uint32_t line);

/* Tells what a skipped section most likely was meant to be, in a file that asks for no profiling: a
 * key without its section, or a section's name. False if that is unknown. */
#define TKT_CONFIG_HINT 160
bool tkt_config_hint(const tkt_config_section *skipped, char out[TKT_CONFIG_HINT]);

/* Read the sources, and add all their errors to `errors`. On failure `state` has some of the changes
 * and must be destroyed. TAKT_NO_MEMORY adds no error. */
takt_status tkt_config_read_yaml(tkt_config_state *state, const char *text, size_t size,
                                 const char *name, tkt_config_errors *errors);
takt_status tkt_config_read_options(tkt_config_state *state, const char *text,
                                    tkt_config_errors *errors);
takt_status tkt_config_read_args(tkt_config_state *state, int argc, char *const *argv,
                                 tkt_config_errors *errors);

/* Removes from argc and argv the arguments that tkt_config_read_args() has read. */
void tkt_config_drop_args(int *argc, char **argv);

/* Makes state->options from the values; TAKT_NO_MEMORY. */
takt_status tkt_config_build_options(tkt_config_state *state);

#endif
