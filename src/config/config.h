/* The names that reports and output.traces take. */
#ifndef TKT_CONFIG_CONFIG_H
#define TKT_CONFIG_CONFIG_H

#include "base/writer.h"
#include "config/schema.h"

#include <takt/base.h>

#include <stdbool.h>
#include <stddef.h>

/* ======== Names ======== */

bool tkt_config_is_report(const char *name);
bool tkt_config_is_trace(const char *name);

/* Each name once: index counts from 0, NULL is past the end. */
const char *tkt_config_report_name(size_t index);
const char *tkt_config_trace_name(size_t index);

/* ======== Texts for people ======== */

/* What the texts for people share. */

/* Writes the key's default as YAML has it. */
void tkt_config_put_default(tkt_writer *writer, const tkt_config_key *key);

/* Writes all keys as YAML; and as an array of objects with key, default (as TAKT_OPTIONS takes it),
 * takes and meaning. */
takt_status tkt_config_explain(const takt_sink *sink);
takt_status tkt_config_json(const takt_sink *sink);

/* ======== The page ======== */

/* docs/config.md, for the command and tests: libtakt.so is without it. */

/* Writes the page; TAKT_BAD_ARGUMENT, TAKT_NO_MEMORY, or what the sink returned. */
takt_status tkt_config_markdown(const takt_sink *sink);

#endif
