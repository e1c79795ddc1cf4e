/* libyaml's events, one at a time: what the files share that read YAML.
 *
 * The current event stays in the reader until tkt_yaml_advance() fetches the next one. A function
 * that reads a node starts at the node's first event and ends at its last. Functions that return
 * bool return false after an error, which they have told. Unless the reader is broken then, reading
 * continues behind the node with tkt_yaml_leave(). */
#ifndef TKT_CONFIG_YAML_READER_H
#define TKT_CONFIG_YAML_READER_H

#include "config/errors.h"
#include "config/state.h"

#ifndef TAKT_NO_YAML

#include <yaml.h>

#include <stdbool.h>
#include <stdint.h>

#define TKT_YAML_NAME_SHOWN 64 /* bytes of the file's name in messages */

typedef struct tkt_yaml_reader {
    yaml_parser_t      parser;
    yaml_event_t       event;
    tkt_config_state  *state;
    tkt_config_text    text;
    tkt_config_errors *errors;
    bool               is_broken; /* the rest of the file cannot be read */
    bool               has_no_memory;
    char               name[TKT_YAML_NAME_SHOWN + 8];
    uint32_t           event_count;
    uint32_t           depth;      /* open lists and mappings */
    yaml_mark_t        told_until; /* the end of the event during which the last error was told */
    size_t             told_count; /* number of errors then */
} tkt_yaml_reader;

/* ---- Errors ---- */

/* Tells an error at a place, or at the current event. Returns false. */
bool tkt_yaml_fail_at(tkt_yaml_reader *reader, uint32_t line, uint32_t column, const char *format,
                      ...) __attribute__((format(printf, 4, 5)));
bool tkt_yaml_fail(tkt_yaml_reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Tells an error behind which nothing can be read. Returns false. */
bool tkt_yaml_break(tkt_yaml_reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool tkt_yaml_no_memory(tkt_yaml_reader *reader);

/* Tells that the current event is not what is expected at this place. Returns false. */
bool tkt_yaml_refuse(tkt_yaml_reader *reader, const char *subject, const char *expected);

/* Tells libyaml's error (yaml_syntax.c). */
void tkt_yaml_tell_syntax(tkt_yaml_reader *reader);

/* ---- Events ---- */

bool tkt_yaml_advance(tkt_yaml_reader *reader);

/* Advances to the last event of the current node. */
bool tkt_yaml_skip(tkt_yaml_reader *reader);

/* After an error in a node at this depth: advances to its last event. False if that is impossible. */
bool tkt_yaml_leave(tkt_yaml_reader *reader, uint32_t depth);

/* The place of the current event, counted from 1. */
uint32_t tkt_yaml_line(const tkt_yaml_reader *reader);
uint32_t tkt_yaml_column(const tkt_yaml_reader *reader);

/* Returns the text of a scalar; NULL if the current event is none, or contains a NUL. */
const char *tkt_yaml_scalar(const tkt_yaml_reader *reader);

/* True for YAML's null: nothing at all, ~ or null, without quotes. */
bool tkt_yaml_is_null(const tkt_yaml_reader *reader);

/* True if the current event has neither anchor nor tag and is no alias. */
bool tkt_yaml_is_plain(const tkt_yaml_reader *reader);

/* Returns the current event as the text of a key, a value or an item; NULL if it is none. */
const char *tkt_yaml_text(const tkt_yaml_reader *reader);

#endif
#endif
