/* The schema as docs/config.md, and as JSON for editors and scripts. Only the command needs this
 * file, so libtakt.so does not contain it. */
#include "base/text.h"
#include "base/writer.h"
#include "config/config.h"
#include "config/schema.h"

#include <takt/config.h>

#include <assert.h>
#include <string.h>

/* ======== docs/config.md ======== */

/* docs/config.md: the page that describes the schema, for `takt config markdown`. */

static const char introduction[] =
    "# Configuration\n"
    "\n"
    "<!-- Written by tkt_config_markdown() from the table in src/config/keys.h. Its test,\n"
    "     test/unit/test_config_document.c, says how to write it anew. -->\n"
    "\n"
    "A program that calls `takt_profiler_start(NULL)`, `takt_config_create()` or\n"
    "`takt_config_load()` takes its options from these sources. A later one wins:\n"
    "\n"
    "1. the defaults below,\n"
    "2. a YAML file: the one the program loads, or `TAKT_CONFIG` names,\n"
    "3. `TAKT_OPTIONS=\"profiling.wait=3 profiling.active=1\"`,\n"
    "4. the [command line](#the-command-line), if the program calls `takt_config_args()`.\n"
    "\n"
    "Set-uid programs ignore the environment.\n"
    "\n"
    "```yaml\n"
    "profiling:\n"
    "  wait: 3\n"
    "  warmup: 1\n"
    "  active: 3\n"
    "reports: [summary, scopes]\n"
    "output:\n"
    "  directory: runs/{name}/{time}\n"
    "  traces: [perfetto]\n"
    "```\n"
    "\n"
    "`takt config check FILE` prints what a file means, step by step, or all its errors with\n"
    "their lines; `takt config explain` prints a file with every key.\n"
    "\n"
    "## When profiling is on\n"
    "\n"
    "Profiling is on if the file has a `profiling` section with a value, `TAKT_OPTIONS` is\n"
    "not empty, or an argument is Takt's, unless `enabled` is false.\n"
    "\n"
    "- `profiling: true` and `profiling: false` set `enabled` alone.\n"
    "- Any option of Takt's on the command line overrides `enabled: false` in the file;\n"
    "  `--no-profiling` turns profiling off.\n"
    "- `takt_config_set()` turns profiling on only by `profiling.enabled`.\n"
    "\n"
    "## Keys\n";

static const char closing[] =
    "\n"
    "[concepts.md](concepts.md#the-schedule) explains the schedule, [reports.md](reports.md) the\n"
    "reports, [viewing.md](viewing.md#which-file-for-which-tool) the formats.\n"
    "\n"
    "## Values\n"
    "\n"
    "| kind | form |\n"
    "|---|---|\n"
    "| true, false | also yes and no, on and off |\n"
    "| whole numbers | decimal, without leading zeros; 0 to 4294967295 unless stated otherwise |\n"
    "| sizes | a whole number, optionally with a unit. `B`, `KiB`, `MiB`, `GiB`, `TiB`, `K`, "
    "`M`, `G`, `T` are powers of 1024; `KB`, `MB`, `GB`, `TB` powers of 1000 |\n"
    "| rates | an amount per second, such as '67.5 T'; at most 1000 P |\n"
    "| lists | YAML lists; elsewhere commas: `--reports scopes,tree`. A list replaces the "
    "earlier one. At most 64 different items of at most 255 bytes |\n"
    "| categories | `categories: {io: off}` in YAML, elsewhere "
    "`profiling.categories=io:off,mpi:on` |\n"
    "\n"
    "In `TAKT_OPTIONS` blanks separate options; quotes keep blanks.\n"
    "\n"
    "## The file\n"
    "\n"
    "The file may be your program's own: Takt skips other sections, unless their names are\n"
    "within two letters of Takt's, such as `exports`. Without a `profiling` section, a section\n"
    "`profile` or `profiler` is an error if it is true or false or mostly has keys of\n"
    "`profiling`. In Takt's sections, unknown keys, duplicate keys, anchors, aliases and tags\n"
    "are errors. Limits: one document, 1 MiB of UTF-8, 32 levels, 65536 values and brackets,\n"
    "32 tag directives.\n"
    "\n"
    "A wrong file sets nothing. Takt names each error with its place:\n"
    "\n"
    "    profile.yaml:3:5: unknown key 'profiling.warmpu'; did you mean 'warmup'?\n"
    "    profile.yaml:4:9: profiling.level: expected a whole number from 1 to 4, got 'three'\n"
    "\n"
    "## The command line\n"
    "\n"
    "Every key is an option, with dashes for underscores: `--profiling.wait 3` or\n"
    "`--profiling.wait=3`. True-or-false keys take no separate value:\n"
    "`--profiling.record-shapes`, `--profiling.no-record-shapes`. A value that begins with `--`\n"
    "needs the `=`. `takt_config_args()` removes these options from `argc` and `argv`, and stops\n"
    "at `--`; `takt_config_help()` prints them.\n";

static void put_size(tkt_writer *writer, uint64_t bytes)
{
    char text[32];
    tkt_config_format_bytes(text, sizeof text, bytes);
    tkt_writer_text(writer, text);
}

/* Writes the values that a key accepts, unless its default shows them. Shorter than in messages,
 * since the page's section Values explains the types. */
static void put_taken(tkt_writer *writer, const tkt_config_key *key)
{
    char expects[128];
    switch (key->type) {
    case TKT_CONFIG_TYPE_SWITCH:
    case TKT_CONFIG_TYPE_SWITCHES:
        return;
    case TKT_CONFIG_TYPE_COUNT:
        if (key->max < UINT32_MAX)
            tkt_writer_format(writer, " (%llu to %llu)", (unsigned long long)key->min,
                              (unsigned long long)key->max);
        return;
    case TKT_CONFIG_TYPE_BYTES:
        tkt_writer_text(writer, " (");
        put_size(writer, key->min);
        tkt_writer_text(writer, " to ");
        put_size(writer, key->max);
        tkt_writer_text(writer, ")");
        return;
    case TKT_CONFIG_TYPE_RATE:
        tkt_writer_text(writer, " (a rate)");
        return;
    default:
        tkt_config_expects(key, expects, sizeof expects);
        tkt_writer_format(writer, " (%s)", expects);
    }
}

static void put_key_row(tkt_writer *writer, const tkt_config_key *key)
{
    tkt_writer_format(writer, "| `%s` | `", tkt_config_leaf(key));
    tkt_config_put_default(writer, key);
    tkt_writer_text(writer, "`");
    put_taken(writer, key);
    tkt_writer_format(writer, " | %s |\n", key->meaning);
}

static void put_key_table(tkt_writer *writer, const char *section)
{
    tkt_writer_format(writer, "\n### %s\n\n| key | default (takes) | meaning |\n|---|---|---|\n",
                      section);
    for (size_t i = 0; i < TKT_CONFIG_ID_COUNT; i++) {
        if (tkt_config_is_in(&tkt_config_keys[i], section))
            put_key_row(writer, &tkt_config_keys[i]);
    }
}

takt_status tkt_config_markdown(const takt_sink *sink)
{
    tkt_writer writer;
    if (!sink || !sink->write)
        return TAKT_BAD_ARGUMENT;
    takt_status status = tkt_writer_init(&writer, *sink, 4096);
    if (status != TAKT_OK)
        return status;
    tkt_writer_text(&writer, introduction);
    for (size_t i = 0; tkt_config_sections[i]; i++)
        put_key_table(&writer, tkt_config_sections[i]);
    tkt_writer_text(&writer, closing);
    return tkt_writer_fini(&writer);
}

/* ======== JSON ======== */

#define LONGEST 512 /* longest text of the schema */

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
