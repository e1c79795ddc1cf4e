/* The schema as JSON, for editors and scripts. */
#include "base/text.h"
#include "base/writer.h"
#include "config/schema.h"
#include "config/value.h"
#include "config/document.h"

#include <takt/config.h>

#include <assert.h>
#include <string.h>

#define LONGEST 512 /* text of the schema */

static void put_member(tkt_writer *writer, const char *name, const char *text)
{
    char escaped[6 * LONGEST];
    size_t size = strlen(text);
    assert(size <= LONGEST);
    char *end = tkt_json_escape(escaped, text, size);
    tkt_writer_format(writer, "\"%s\": \"%.*s\"", name, (int)(end - escaped), escaped);
}

static void put_key(tkt_writer *writer, const tkt_config_key *key)
{
    char expects[128];
    tkt_config_expects(key, expects, sizeof expects);
    tkt_writer_text(writer, "{");
    put_member(writer, "key", key->name);
    tkt_writer_text(writer, ", ");
    put_member(writer, "default", key->initial);
    tkt_writer_text(writer, ", ");
    put_member(writer, "takes", expects);
    tkt_writer_text(writer, ", ");
    put_member(writer, "meaning", key->meaning);
    tkt_writer_text(writer, "}");
}

takt_status tkt_config_json(const takt_sink *sink)
{
    tkt_writer writer;
    if (!sink || !sink->write)
        return TAKT_BAD_ARGUMENT;
    takt_status status = tkt_writer_init(&writer, *sink, 4096);
    if (status != TAKT_OK)
        return status;
    for (size_t i = 0; i < TKT_CONFIG_ID_COUNT; i++) {
        tkt_writer_text(&writer, i ? ",\n  " : "[\n  ");
        put_key(&writer, &tkt_config_keys[i]);
    }
    tkt_writer_text(&writer, "\n]\n");
    return tkt_writer_fini(&writer);
}
