/* The schema for people: command-line help, and a complete YAML file with comments. */
#include "config/config.h"

#include "config/state.h"

#include "base/own.h"
#include "base/writer.h"

#include <stdio.h>
#include <string.h>

#define LINE_WIDTH 96

/* ---- Parts ----------------------------------------------------------------------------------- */

/* Writes text in lines broken at blanks; every line begins with `indent`. */
static void put_wrapped(tkt_writer *writer, const char *indent, const char *text)
{
    size_t room = LINE_WIDTH - strlen(indent);
    while (*text != '\0') {
        size_t length = strlen(text);
        if (length > room) {
            length = room;
            while (length > 0 && text[length] != ' ')
                length--;
        }
        if (length == 0)
            length = strcspn(text, " ");
        tkt_writer_format(writer, "%s%.*s\n", indent, (int)length, text);
        text += length;
        text += strspn(text, " ");
    }
}

void tkt_config_put_default(tkt_writer *writer, const tkt_config_key *key)
{
    switch (key->type) {
    case TKT_CONFIG_TYPE_CHOICES:
    case TKT_CONFIG_TYPE_LIST:
        tkt_writer_format(writer, "[%s]", key->initial);
        break;
    case TKT_CONFIG_TYPE_SWITCHES:
        tkt_writer_format(writer, "{%s}", key->initial);
        break;
    default:
        tkt_writer_text(writer, *key->initial != '\0' ? key->initial : "\"\"");
        break;
    }
}

static void format_details(const tkt_config_key *key, char *out, size_t capacity)
{
    char expects[128];
    tkt_config_expects(key, expects, sizeof expects);
    snprintf(out, capacity, "Takes %s.", expects);
}

/* ---- Command-line help ---- */

/* Writes "--profiling.[no-]record-shapes" or "--profiling.wait N". */
static void put_option(tkt_writer *writer, const tkt_config_key *key)
{
    static const char *const operands[] = {
        [TKT_CONFIG_TYPE_COUNT] = " N",     [TKT_CONFIG_TYPE_BYTES] = " SIZE",
        [TKT_CONFIG_TYPE_RATE] = " RATE",   [TKT_CONFIG_TYPE_TEXT] = " TEXT",
        [TKT_CONFIG_TYPE_CHOICE] = " WORD", [TKT_CONFIG_TYPE_CHOICES] = " A,B,C",
        [TKT_CONFIG_TYPE_LIST] = " A,B,C",  [TKT_CONFIG_TYPE_SWITCHES] = " A:on,B:off",
    };
    const char *leaf = tkt_config_leaf(key);
    tkt_writer_format(writer, "  --%.*s%s", (int)(leaf - key->name), key->name,
                      key->type == TKT_CONFIG_TYPE_SWITCH ? "[no-]" : "");
    for (; *leaf != '\0'; leaf++)
        tkt_writer_format(writer, "%c", *leaf == '_' ? '-' : *leaf);
    tkt_writer_format(writer, "%s\n",
                      key->type == TKT_CONFIG_TYPE_SWITCH ? "" : operands[key->type]);
}

takt_status takt_config_help(const takt_sink *sink)
{
    TKT_OWN_WORK;
    tkt_writer writer;
    char details[200];
    if (!sink || !sink->write)
        return TAKT_BAD_ARGUMENT;
    takt_status status = tkt_writer_init(&writer, *sink, 4096);
    if (status != TAKT_OK)
        return status;
    tkt_writer_text(&writer, "Profiling (each of these options turns it on):\n"
                             "  --profiling\n      With the defaults.\n"
                             "  --no-profiling\n      Not at all, whatever the file says.\n");
    for (size_t i = 0; i < TKT_CONFIG_ID_COUNT; i++) {
        const tkt_config_key *key = &tkt_config_keys[i];
        if (i == TKT_CONFIG_ENABLED)
            continue;
        put_option(&writer, key);
        put_wrapped(&writer, "      ", key->meaning);
        format_details(key, details, sizeof details);
        put_wrapped(&writer, "      ", details);
        tkt_writer_format(&writer, "      Default: %s.\n",
                          *key->initial != '\0' ? key->initial : "empty");
    }
    return tkt_writer_fini(&writer);
}

/* ---- A complete YAML file -------------------------------------------------------------------- */

/* True for "reports", which is both section and key. */
static bool is_key(const char *section)
{
    const tkt_config_key *key = tkt_config_find(section);
    return key && strcmp(key->name, section) == 0;
}

static void explain_key(tkt_writer *writer, const tkt_config_key *key)
{
    char details[200];
    bool is_section = !strchr(key->name, '.');
    const char *comment = is_section ? "# " : "  # ";
    tkt_writer_text(writer, "\n");
    put_wrapped(writer, comment, key->meaning);
    format_details(key, details, sizeof details);
    put_wrapped(writer, comment, details);
    tkt_writer_format(writer, "%s%s: ", is_section ? "" : "  ", tkt_config_leaf(key));
    tkt_config_put_default(writer, key);
    tkt_writer_text(writer, "\n");
}

takt_status tkt_config_explain(const takt_sink *sink)
{
    tkt_writer writer;
    if (!sink || !sink->write)
        return TAKT_BAD_ARGUMENT;
    takt_status status = tkt_writer_init(&writer, *sink, 4096);
    if (status != TAKT_OK)
        return status;
    tkt_writer_text(&writer,
                    "# Every key of Takt's configuration with its default. Keys may be left "
                    "out; sections of other\n# programs may stand beside these.\n");
    for (size_t s = 0; tkt_config_sections[s]; s++) {
        if (!is_key(tkt_config_sections[s]))
            tkt_writer_format(&writer, "\n%s:", tkt_config_sections[s]);
        for (size_t i = 0; i < TKT_CONFIG_ID_COUNT; i++) {
            if (tkt_config_is_in(&tkt_config_keys[i], tkt_config_sections[s]))
                explain_key(&writer, &tkt_config_keys[i]);
        }
    }
    return tkt_writer_fini(&writer);
}
