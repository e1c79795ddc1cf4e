/* What the texts for people share. */
#ifndef TKT_CONFIG_DOCUMENT_H
#define TKT_CONFIG_DOCUMENT_H

#include "base/writer.h"
#include "config/schema.h"

/* Writes the key's default as YAML has it. */
void tkt_config_put_default(tkt_writer *writer, const tkt_config_key *key);

/* Writes all keys as YAML; and as an array of objects with key, default (as TAKT_OPTIONS takes it),
 * takes and meaning. */
takt_status tkt_config_explain(const takt_sink *sink);
takt_status tkt_config_json(const takt_sink *sink);

#endif
