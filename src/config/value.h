/* What the files share that read values; see schema.h. */
#ifndef TKT_CONFIG_VALUE_H
#define TKT_CONFIG_VALUE_H

#include "config/schema.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Reading (value.c, value_list.c) ---- */

/* Finds a word in a list that ends with NULL. */
bool tkt_config_read_word(const char *const *words, const char *text, uint64_t *out);

/* Reads choices, names or switches from one text. */
bool tkt_config_parse_list(const tkt_config_key *key, const char *text, tkt_arena *memory,
                           tkt_config_value *out, tkt_config_problem *problem);

/* ---- Refusing (value_expect.c) ---- */

/* Fill *problem, and return false. */
bool tkt_config_refuse_text(tkt_config_problem *problem, const tkt_config_key *key,
                            const char *text);
bool tkt_config_refuse_length(tkt_config_problem *problem, size_t max, size_t length);
bool tkt_config_no_memory(tkt_config_problem *problem);

/* Appends "trace, summary, both or flight" to a text of `capacity` bytes. */
void tkt_config_append_words(char *out, size_t capacity, const char *const *words);

/* Writes what to do about a wrong text, to follow it: "; did you mean 'trace'?", or nothing. */
#define TKT_CONFIG_ADVICE 64
void tkt_config_advise(const tkt_config_key *key, const char *text, char *out, size_t capacity);

#endif
