/* Loading a configuration with all its errors, the configuration as texts for people, and the valid
 * names of reports and trace formats. */
#ifndef TKT_CONFIG_CONFIG_H
#define TKT_CONFIG_CONFIG_H

#include "base/writer.h"
#include "config/errors.h"
#include "config/schema.h"

#include <takt/config.h>

#include <stdbool.h>
#include <stddef.h>

/* ======== Loading ======== */

/* Works like takt_config_load(), or takt_config_create() if `path` is NULL, but keeps the errors
 * instead of logging them. *errors starts as {0}; on failure it has at least one. */
takt_status tkt_config_load(const char *path, takt_config **out, tkt_config_errors *errors);

/* ======== Names ======== */

bool tkt_config_is_report(const char *name);
bool tkt_config_is_trace(const char *name);

/* Return each name once: index counts from 0, NULL past the end. */
const char *tkt_config_report_name(size_t index);
const char *tkt_config_trace_name(size_t index);

/* ======== Texts for people ======== */

/* Writes the key's default in YAML. */
void tkt_config_put_default(tkt_writer *writer, const tkt_config_key *key);

/* Write all keys: as YAML, or as a JSON array of objects. An object has key, default (as in
 * TAKT_OPTIONS), takes and meaning. */
takt_status tkt_config_explain(const takt_sink *sink);
takt_status tkt_config_json(const takt_sink *sink);

/* ======== docs/config.md ======== */

/* Writes docs/config.md, for the command and tests; libtakt.so does not contain it.
 * TAKT_BAD_ARGUMENT, TAKT_NO_MEMORY, or the sink's failure. */
takt_status tkt_config_markdown(const takt_sink *sink);

#endif
