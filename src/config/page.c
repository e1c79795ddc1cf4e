/* The schema for documents and editors. Only the command needs it: libtakt.so is without it. */
#include "base/text.h"
#include "base/writer.h"
#include "config/config.h"
#include "config/schema.h"

#include <takt/config.h>

#include <assert.h>
#include <string.h>

/* ======== docs/config.md ======== */

/* docs/config.md: the schema as the page that describes it, for `takt config markdown`. Only the
 * command needs it, so libtakt.so is without it. */

static const char introduction[] =
    "# Configuration\n"
    "\n"
    "<!-- Written by tkt_config_markdown() from the table in src/config/schema.c. Its test,\n"
    "     test/unit/test_config_document.c, says how to write it anew. -->\n"
    "\n"
    "A program that calls `takt_config_create()` or `takt_config_load()` takes its profiling\n"
    "options from\n"
    "\n"
    "1. the defaults below,\n"
    "2. a YAML file: the one that the program loads, or the one that `TAKT_CONFIG` names,\n"
    "3. `TAKT_OPTIONS`, such as `TAKT_OPTIONS=\"profiling.wait=3 profiling.active=1\"`,\n"
    "4. its command line, if it calls `takt_config_args()`: `--profiling.wait 3`.\n"
    "\n"
    "A later one overrides an earlier one. In set-uid programs the environment is ignored.\n"
    "\n"
    "```yaml\n"
    "profiling:\n"
    "  wait: 3\n"
    "  warmup: 1\n"
    "  active: 3\n"
    "reports: [summary, scopes]\n"
    "output:\n"
    "  directory: runs/{name}/{time}\n"
    "  traces: [perfetto, chrome.gz]\n"
    "```\n"
    "\n"
    "`takt config check FILE` prints what a file means, step by step; `takt config explain`\n"
    "prints a file with every key.\n"
    "\n"
    "## When profiling is on\n"
    "\n"
    "Profiling is on when there is a `profiling` section in the file, anything in\n"
    "`TAKT_OPTIONS`, or an argument of Takt's, and `enabled` is not false. `profiling: true`\n"
    "and `profiling: false` are short for a section with `enabled` alone. A section without a\n"
    "value, as when all its keys are commented out, is as if it were not there. On the\n"
    "command line any option of Takt's turns profiling on, even if the file says `enabled:\n"
    "false`; `--no-profiling` turns it off. `takt_config_set()` asks for nothing, unless it\n"
    "sets `profiling.enabled`.\n"
    "\n"
    "## Keys\n";

static const char closing[] =
    "\n"
    "## Values\n"
    "\n"
    "- True and false are also yes and no, on and off.\n"
    "- Whole numbers are decimal, without leading zeros.\n"
    "- Sizes are whole numbers with a unit: `B`, `KiB`, `MiB`, `GiB`, `TiB`, or `K`, `M`,\n"
    "  `G`, `T` for short, which are powers of 1024; `KB`, `MB`, `GB`, `TB` are powers of\n"
    "  1000. Without a unit they are bytes.\n"
    "- Lists are YAML lists. In `TAKT_OPTIONS`, on the command line and in a plain YAML text\n"
    "  commas separate their items: `--reports scopes,tree`. A list replaces the one before\n"
    "  it. No item may stand twice; there are at most 64, of at most 255 bytes.\n"
    "- Categories are a YAML mapping, `categories: {io: off}`; elsewhere\n"
    "  `profiling.categories=io:off,mpi:on`.\n"
    "- In `TAKT_OPTIONS` blanks separate, and single or double quotes keep them.\n"
    "\n"
    "What asks for something that this version of Takt does not do is valid, so that one file\n"
    "serves several versions; a warning in the log says so.\n"
    "\n"
    "## The schedule\n"
    "\n"
    "Each step of the program is skipped, waited through, warmed up or recorded. What\n"
    "`repeat` means depends on `repeat_mode`:\n"
    "\n"
    "| | `cycles` | `additional` |\n"
    "|---|---|---|\n"
    "| a cycle is | wait, warmup, active | warmup, active; one wait comes before the first |\n"
    "| cycles | `repeat` | `repeat` + 1 |\n"
    "| `repeat: 0` | for ever | one cycle |\n"
    "| steps needed | skip_first + repeat (wait + warmup + active) | skip_first + wait + "
    "(repeat + 1) (warmup + active) |\n"
    "| with the defaults | 7 | 11 |\n"
    "\n"
    "A `skip_first_wait` that is not 0 takes the first wait away.\n"
    "\n"
    "## The file\n"
    "\n"
    "The file may be the program's own. Sections that are not Takt's are skipped, whatever\n"
    "they contain; only a name within two letters of one of Takt's is taken for a\n"
    "misspelling, so a program with a section `exports` or `ports` keeps Takt's sections in a\n"
    "file of their own. In Takt's sections unknown keys, keys that stand twice, anchors,\n"
    "aliases and tags are errors. A file is one document of at most 1 MiB of UTF-8, nested at\n"
    "most 32 deep, with at most 65536 values and brackets and at most 32 tag directives.\n"
    "\n"
    "A wrong file gives one error with the place, and nothing is half set:\n"
    "\n"
    "    profile.yaml:3:5: unknown key 'profiling.warmpu'; did you mean 'warmup'?\n"
    "    profile.yaml:4:9: profiling.level: expected a whole number from 1 to 4, got 'three'\n"
    "\n"
    "## The command line\n"
    "\n"
    "Every key is an option: `--SECTION.KEY VALUE` or `--SECTION.KEY=VALUE`, with dashes for\n"
    "underscores. Keys that are true or false take no separate value:\n"
    "`--profiling.record-shapes`, `--profiling.no-record-shapes`. A value that begins with\n"
    "`--` needs the `=`. `takt_config_args()` takes these options out of `argc` and `argv`\n"
    "and leaves the others, and all behind `--`, alone; `takt_config_help()` prints them.\n";

static void put_key_row(tkt_writer *writer, const tkt_config_key *key)
{
    char expects[128];
    tkt_config_expects(key, expects, sizeof expects);
    tkt_writer_format(writer, "| `%s` | `", tkt_config_leaf(key));
    tkt_config_put_default(writer, key);
    tkt_writer_format(writer, "` | %s | %s |\n", expects, key->meaning);
}

static void put_key_table(tkt_writer *writer, const char *section)
{
    tkt_writer_format(
        writer, "\n### %s\n\n| key | default | takes | meaning |\n|---|---|---|---|\n", section);
    for (size_t i = 0; i < TKT_CONFIG_ID_COUNT; i++) {
        if (tkt_config_is_in(&tkt_config_keys[i], section))
            put_key_row(writer, &tkt_config_keys[i]);
    }
}

static void put_name_list(tkt_writer *writer, const char *title, const char *(*name_at)(size_t))
{
    tkt_writer_format(writer, "\n%s: ", title);
    for (size_t i = 0; name_at(i); i++)
        tkt_writer_format(writer, "%s`%s`", i > 0 ? ", " : "", name_at(i));
    tkt_writer_text(writer, ".\n");
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
    put_name_list(&writer, "Reports", tkt_config_report_name);
    put_name_list(&writer, "Trace formats", tkt_config_trace_name);
    tkt_writer_text(&writer, closing);
    return tkt_writer_fini(&writer);
}

/* ======== JSON ======== */

/* The schema as JSON, for editors and scripts. */

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
