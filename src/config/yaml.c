/* Reads YAML, event by event.
 *
 * libyaml's tree loader is quadratic in anchors, and its parser is quadratic in flow nesting: 100
 * KB of '[' take it half a minute (measured with 0.2.5). Takt therefore limits the depth while
 * parsing, which stops that after 33 events. libyaml compares tag directives with each other before
 * its first event: 1 MiB of them takes 6.6 s. Takt therefore counts them before it starts libyaml.
 *
 * The current event stays in the reader until advance() fetches the next one. A function that reads
 * a node starts at the node's first event and ends at its last. All return false once an error has
 * been set. */
#include "config/state.h"

#include "base/error.h"
#include "base/text.h"

#ifdef TAKT_NO_YAML

takt_status tkt_config_read_yaml(tkt_config_state *state, const char *text, size_t size,
                                 const char *name, takt_error *error)
{
    (void)state;
    (void)text;
    (void)size;
    return tkt_error_set(error, TAKT_UNSUPPORTED,
                         "%s: this build of Takt has no libyaml and reads no configuration files",
                         name);
}

#else

#include <yaml.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define SECTION_COUNT 3
#define NAME_SHOWN    64 /* bytes of the file's name in messages */

typedef struct yaml_reader {
    yaml_parser_t parser;
    yaml_event_t event;
    tkt_config_state *state;
    const char *text;
    size_t size;
    takt_error *error;
    takt_status status; /* the first failure */
    char name[NAME_SHOWN + 8];
    uint32_t event_count;
    uint32_t depth;
    uint32_t key_lines[TKT_CONFIG_ID_COUNT]; /* the line of each key; 0: not seen yet */
    uint32_t section_lines[SECTION_COUNT];
} yaml_reader;

/* ---- Errors ---------------------------------------------------------------------------------- */

static bool fail_at(yaml_reader *reader, uint32_t line, uint32_t column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static bool fail_at(yaml_reader *reader, uint32_t line, uint32_t column, const char *format, ...)
{
    char text[sizeof((takt_error *)0)->message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    reader->status = tkt_error_at(reader->error, TAKT_BAD_CONFIG, line, column, "%s:%u:%u: %s",
                                  reader->name, line, column, text);
    return false;
}

/* Reports an error without a place in the file. */
static bool fail_file(yaml_reader *reader, const char *why)
{
    reader->status = tkt_error_set(reader->error, TAKT_BAD_CONFIG, "%s: %s", reader->name, why);
    return false;
}

static bool no_memory(yaml_reader *reader)
{
    reader->status = TAKT_NO_MEMORY;
    return false;
}

static uint32_t line_of(const yaml_reader *reader)
{
    return (uint32_t)reader->event.start_mark.line + 1;
}

static uint32_t column_of(const yaml_reader *reader)
{
    return (uint32_t)reader->event.start_mark.column + 1;
}

/* Keeps the end of a long path, which has the file's own name. */
static void set_name(yaml_reader *reader, const char *name)
{
    size_t length = strlen(name);
    const char *end = length > NAME_SHOWN ? name + length - NAME_SHOWN : name;
    while ((*end & 0xC0) == 0x80)
        end++;
    snprintf(reader->name, sizeof reader->name, "%s", end > name ? "..." : "");
    size_t used = strlen(reader->name);
    tkt_printable(reader->name + used, sizeof reader->name - used, end, strlen(end));
}

/* Reports a wrong encoding. libyaml gives its place only as an offset. */
static bool fail_encoding(yaml_reader *reader)
{
    uint32_t line = 1;
    uint32_t column = 1;
    for (size_t i = 0; i < reader->parser.problem_offset && i < reader->size; i++) {
        bool is_break = reader->text[i] == '\n';
        line += is_break;
        column = is_break ? 1 : column + ((reader->text[i] & 0xC0) != 0x80);
    }
    return fail_at(reader, line, column, "expected UTF-8 text: %s", reader->parser.problem);
}

static bool fail_syntax(yaml_reader *reader)
{
    const yaml_parser_t *parser = &reader->parser;
    if (parser->error == YAML_MEMORY_ERROR)
        return no_memory(reader);
    if (parser->error == YAML_READER_ERROR)
        return fail_encoding(reader);
    return fail_at(reader, (uint32_t)parser->problem_mark.line + 1,
                   (uint32_t)parser->problem_mark.column + 1, "not YAML: %s%s%s", parser->problem,
                   parser->context ? " " : "", parser->context ? parser->context : "");
}

/* ---- Events ---------------------------------------------------------------------------------- */

static bool advance(yaml_reader *reader)
{
    yaml_event_delete(&reader->event);
    if (!yaml_parser_parse(&reader->parser, &reader->event))
        return fail_syntax(reader);
    if (++reader->event_count > TKT_CONFIG_EVENTS_MAX)
        return fail_at(reader, line_of(reader), column_of(reader),
                       "more values and brackets than the limit of %d", TKT_CONFIG_EVENTS_MAX);
    switch (reader->event.type) {
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT:
        reader->depth++;
        break;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        reader->depth--;
        break;
    default:
        break;
    }
    if (reader->depth > TKT_CONFIG_DEPTH_MAX)
        return fail_at(reader, line_of(reader), column_of(reader),
                       "nested deeper than the limit of %d levels", TKT_CONFIG_DEPTH_MAX);
    return true;
}

static bool skip_node(yaml_reader *reader)
{
    bool is_open = reader->event.type == YAML_SEQUENCE_START_EVENT ||
                   reader->event.type == YAML_MAPPING_START_EVENT;
    uint32_t outside = reader->depth - is_open;
    while (reader->depth > outside) {
        if (!advance(reader))
            return false;
    }
    return true;
}

/* Returns the text of a scalar; NULL if the current event is none, or contains a NUL. */
static const char *scalar(const yaml_reader *reader)
{
    const yaml_event_t *event = &reader->event;
    if (event->type != YAML_SCALAR_EVENT)
        return NULL;
    const char *text = (const char *)event->data.scalar.value;
    return strlen(text) == event->data.scalar.length ? text : NULL;
}

/* True for YAML's null: nothing at all, ~ or null, without quotes. */
static bool is_null(const yaml_reader *reader)
{
    const char *text = scalar(reader);
    return text && reader->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
           (*text == '\0' || strcmp(text, "~") == 0 || strcasecmp(text, "null") == 0);
}

/* Returns the anchor of an event, and its tag in *tag; both may be NULL. */
static const char *anchor_of(const yaml_event_t *event, const char **tag)
{
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        *tag = (const char *)event->data.scalar.tag;
        return (const char *)event->data.scalar.anchor;
    case YAML_SEQUENCE_START_EVENT:
        *tag = (const char *)event->data.sequence_start.tag;
        return (const char *)event->data.sequence_start.anchor;
    case YAML_MAPPING_START_EVENT:
        *tag = (const char *)event->data.mapping_start.tag;
        return (const char *)event->data.mapping_start.anchor;
    default:
        *tag = NULL;
        return NULL;
    }
}

/* True if the current event has neither anchor nor tag and is no alias. */
static bool is_plain(const yaml_reader *reader)
{
    const char *tag;
    return reader->event.type != YAML_ALIAS_EVENT && !anchor_of(&reader->event, &tag) && !tag;
}

#define GOT_SIZE (TKT_CONFIG_QUOTED + 16)

/* Describes the current event, to follow "got". */
static const char *describe_event(const yaml_reader *reader, char out[GOT_SIZE])
{
    char quoted[TKT_CONFIG_QUOTED];
    const yaml_event_t *event = &reader->event;
    const char *tag;
    const char *anchor = anchor_of(event, &tag);
    if (event->type == YAML_ALIAS_EVENT)
        snprintf(out, GOT_SIZE, "the alias %s",
                 tkt_config_quote(quoted, (const char *)event->data.alias.anchor));
    else if (anchor)
        snprintf(out, GOT_SIZE, "the anchor %s", tkt_config_quote(quoted, anchor));
    else if (tag)
        snprintf(out, GOT_SIZE, "the tag %s", tkt_config_quote(quoted, tag));
    else if (event->type == YAML_SEQUENCE_START_EVENT)
        snprintf(out, GOT_SIZE, "a list");
    else if (event->type == YAML_MAPPING_START_EVENT)
        snprintf(out, GOT_SIZE, "a mapping");
    else if (is_null(reader))
        snprintf(out, GOT_SIZE, "nothing");
    else if (!scalar(reader))
        snprintf(out, GOT_SIZE, "a text with a NUL in it");
    else
        snprintf(out, GOT_SIZE, "%s", tkt_config_quote(quoted, scalar(reader)));
    return out;
}

static bool refuse_event(yaml_reader *reader, const char *subject, const char *expected)
{
    char text[GOT_SIZE];
    return fail_at(reader, line_of(reader), column_of(reader), "%s: expected %s, got %s", subject,
                   expected, describe_event(reader, text));
}

/* ---- Values ---------------------------------------------------------------------------------- */

static bool refuse_value(yaml_reader *reader, const tkt_config_key *key)
{
    char expected[128];
    tkt_config_expects(key, expected, sizeof expected);
    return refuse_event(reader, key->name, expected);
}

/* Reports a problem with its place. */
static bool refuse_problem(yaml_reader *reader, const tkt_config_key *key, uint32_t line,
                           uint32_t column, const tkt_config_problem *problem)
{
    if (problem->status == TAKT_NO_MEMORY)
        return no_memory(reader);
    return fail_at(reader, line, column, "%s: %s", key->name, problem->text);
}

/* Returns the current event as the text of a key, a value or an item; NULL if it is none of
 * these. */
static const char *plain_text(const yaml_reader *reader)
{
    return is_plain(reader) && !is_null(reader) ? scalar(reader) : NULL;
}

/* Appends a word to an item. Blanks inside become '_', since blanks separate words. False if the
 * word does not fit. */
static bool append_word(char *item, size_t size, const char *before, const char *word)
{
    size_t used = strlen(item);
    int length = snprintf(item + used, size - used, "%s%s", before, word);
    for (char *at = item + used + strlen(before); length >= 0 && *at; at++)
        *at = *at == ' ' ? '_' : *at;
    return length >= 0 && (size_t)length < size - used;
}

/* Reads the options {rows: 20, sort: total} behind a report's name. */
static bool read_options(yaml_reader *reader, const tkt_config_key *key, char *item, size_t size)
{
    if (reader->event.type != YAML_MAPPING_START_EVENT || !is_plain(reader))
        return is_null(reader) || refuse_event(reader, key->name, "options of a report");
    while (advance(reader) && reader->event.type != YAML_MAPPING_END_EVENT) {
        const char *name = plain_text(reader);
        if (!name || !append_word(item, size, " ", name))
            return refuse_event(reader, key->name, "the name of an option");
        if (!advance(reader))
            return false;
        const char *value = plain_text(reader);
        if (!value || !append_word(item, size, "=", value))
            return refuse_event(reader, key->name, "the value of an option");
    }
    return reader->status == TAKT_OK;
}

/* Reads a report with options, such as {kernels: {rows: 20}}, as "kernels rows=20". */
static bool read_request(yaml_reader *reader, const tkt_config_key *key, char *item, size_t size)
{
    if (!advance(reader))
        return false;
    const char *name = plain_text(reader);
    item[0] = '\0';
    if (!name || !append_word(item, size, "", name))
        return refuse_event(reader, key->name, "a report");
    if (!advance(reader) || !read_options(reader, key, item, size) || !advance(reader))
        return false;
    return reader->event.type == YAML_MAPPING_END_EVENT ||
           refuse_event(reader, key->name, "one report in each item");
}

static bool read_items(yaml_reader *reader, const tkt_config_key *key, tkt_config_value *value)
{
    tkt_config_problem problem;
    char request[TKT_CONFIG_ITEM_BYTES + 1];
    while (advance(reader) && reader->event.type != YAML_SEQUENCE_END_EVENT) {
        uint32_t line = line_of(reader);
        uint32_t column = column_of(reader);
        bool is_request = tkt_config_id_of(key) == TKT_CONFIG_REPORTS && is_plain(reader) &&
                          reader->event.type == YAML_MAPPING_START_EVENT;
        if (is_request && !read_request(reader, key, request, sizeof request))
            return false;
        const char *item = is_request ? request : plain_text(reader);
        if (!item)
            return refuse_value(reader, key);
        if (!tkt_config_value_add(key, item, NULL, &reader->state->memory, value, &problem))
            return refuse_problem(reader, key, line, column, &problem);
    }
    return reader->status == TAKT_OK;
}

static bool read_switches(yaml_reader *reader, const tkt_config_key *key, tkt_config_value *value)
{
    tkt_config_problem problem;
    while (advance(reader) && reader->event.type != YAML_MAPPING_END_EVENT) {
        const char *text = plain_text(reader);
        if (!text)
            return refuse_value(reader, key);
        uint32_t line = line_of(reader);
        uint32_t column = column_of(reader);
        const char *name = tkt_arena_copy(&reader->state->memory, text, strlen(text));
        if (!name)
            return no_memory(reader);
        if (!advance(reader))
            return false;
        const char *state = plain_text(reader);
        bool is_on;
        if (!state || !tkt_text_switch(state, &is_on))
            return refuse_value(reader, key);
        if (!tkt_config_value_add(key, name, state, &reader->state->memory, value, &problem))
            return refuse_problem(reader, key, line, column, &problem);
    }
    return reader->status == TAKT_OK;
}

/* Reads a sequence or a mapping into the key's value. */
static bool read_collection(yaml_reader *reader, const tkt_config_key *key)
{
    tkt_config_value value = {0};
    tkt_config_problem problem;
    uint32_t line = line_of(reader);
    uint32_t column = column_of(reader);
    bool is_mapping = reader->event.type == YAML_MAPPING_START_EVENT;
    if (!(is_mapping ? read_switches(reader, key, &value) : read_items(reader, key, &value)))
        return false;
    if (!tkt_config_value_check(key, &value, &problem))
        return refuse_problem(reader, key, line, column, &problem);
    reader->state->values[tkt_config_id_of(key)] = value;
    return true;
}

static bool read_value(yaml_reader *reader, const tkt_config_key *key)
{
    tkt_config_problem problem;
    bool is_list = key->type == TKT_CONFIG_TYPE_LIST || key->type == TKT_CONFIG_TYPE_CHOICES;
    yaml_event_type_t collection = is_list ? YAML_SEQUENCE_START_EVENT : YAML_MAPPING_START_EVENT;
    bool takes_collection = is_list || key->type == TKT_CONFIG_TYPE_SWITCHES;
    if (takes_collection && is_plain(reader) && reader->event.type == collection)
        return read_collection(reader, key);
    const char *text = plain_text(reader);
    if (!text)
        return refuse_value(reader, key);
    if (!tkt_config_state_set(reader->state, key, text, &problem))
        return refuse_problem(reader, key, line_of(reader), column_of(reader), &problem);
    return true;
}

/* ---- Sections -------------------------------------------------------------------------------- */

/* Suggests a key: "warmup" for "profiling.warmpu", but a key of another section with its full
 * name. */
static bool fail_unknown(yaml_reader *reader, const char *section, const char *full)
{
    char quoted[TKT_CONFIG_QUOTED];
    const tkt_config_key *near = tkt_config_suggest(full);
    const char *shown = NULL;
    if (near)
        shown = tkt_config_is_in(near, section) ? tkt_config_leaf(near) : near->name;
    return fail_at(reader, line_of(reader), column_of(reader), "unknown key %s%s%s%s",
                   tkt_config_quote(quoted, full), shown ? "; did you mean '" : "",
                   shown ? shown : "", shown ? "'?" : "");
}

/* Notes the current line for a name; fails if the name appeared before. */
static bool note_once(yaml_reader *reader, uint32_t *line, const char *name)
{
    if (*line > 0)
        return fail_at(reader, line_of(reader), column_of(reader),
                       "'%s' appears twice, first on line %u", name, *line);
    *line = line_of(reader);
    return true;
}

static bool read_keys(yaml_reader *reader, const char *section)
{
    char full[TKT_CONFIG_QUOTED + 16];
    while (advance(reader) && reader->event.type != YAML_MAPPING_END_EVENT) {
        const char *name = is_plain(reader) ? scalar(reader) : NULL;
        if (!name)
            return refuse_event(reader, section, "the name of a key");
        snprintf(full, sizeof full, "%s.%s", section, name);
        const tkt_config_key *key = tkt_config_find(full);
        if (!key)
            return fail_unknown(reader, section, full);
        if (!note_once(reader, &reader->key_lines[tkt_config_id_of(key)], key->name) ||
            !advance(reader) || !read_value(reader, key))
            return false;
    }
    return reader->status == TAKT_OK;
}

/* Reads a section's value. An empty section, such as one whose keys are all commented out, counts
 * as absent. */
static bool read_section(yaml_reader *reader, const char *section)
{
    bool is_profiling = strcmp(section, "profiling") == 0;
    bool is_on;
    if (is_plain(reader) && is_null(reader))
        return true;
    if (strcmp(section, "reports") == 0)
        return read_value(reader, &tkt_config_keys[TKT_CONFIG_REPORTS]);
    reader->state->is_asked = reader->state->is_asked || is_profiling;
    if (is_plain(reader) && reader->event.type == YAML_MAPPING_START_EVENT)
        return read_keys(reader, section);
    const char *text = is_profiling ? plain_text(reader) : NULL;
    if (!text || !tkt_text_switch(text, &is_on))
        return refuse_event(reader, section, "keys and their values");
    reader->state->values[TKT_CONFIG_ENABLED].number = is_on;
    return true;
}

static bool skip_section(yaml_reader *reader, const char *name, size_t size)
{
    uint32_t line = line_of(reader);
    const char *near = tkt_config_near_section(name);
    char quoted[TKT_CONFIG_QUOTED];
    if (near)
        return fail_at(reader, line, column_of(reader), "unknown section %s; did you mean '%s'?",
                       tkt_config_quote(quoted, name), near);
    if (!tkt_config_state_skip(reader->state, name, size, line))
        return no_memory(reader);
    return advance(reader) && skip_node(reader);
}

/* Refuses "profiling.wait: 3" at the top level, which would otherwise be skipped unnoticed. */
static bool fail_dotted(yaml_reader *reader, const char *name, const char *section)
{
    char quoted[TKT_CONFIG_QUOTED];
    return fail_at(reader, line_of(reader), column_of(reader),
                   "unknown section %s; write '%s:' and the key below it",
                   tkt_config_quote(quoted, name), section);
}

static bool read_top_level_key(yaml_reader *reader)
{
    const char *name = scalar(reader);
    if (!name)
        return skip_node(reader) && advance(reader) && skip_node(reader);
    for (size_t i = 0; i < SECTION_COUNT; i++) {
        const char *section = tkt_config_sections[i];
        size_t length = strlen(section);
        if (strncmp(name, section, length) != 0)
            continue;
        if (name[length] == '.')
            return fail_dotted(reader, name, section);
        if (name[length] != '\0')
            continue;
        if (!is_plain(reader))
            return refuse_event(reader, section, "a section's plain name");
        return note_once(reader, &reader->section_lines[i], section) && advance(reader) &&
               read_section(reader, section);
    }
    return skip_section(reader, name, reader->event.data.scalar.length);
}

/* ---- The file -------------------------------------------------------------------------------- */

static bool read_root(yaml_reader *reader)
{
    if (is_null(reader))
        return true;
    if (reader->event.type != YAML_MAPPING_START_EVENT)
        return refuse_event(reader, "the file", "sections such as 'profiling:'");
    while (advance(reader) && reader->event.type != YAML_MAPPING_END_EVENT) {
        if (!read_top_level_key(reader))
            return false;
    }
    return reader->status == TAKT_OK;
}

static bool read_stream(yaml_reader *reader)
{
    if (!advance(reader) || !advance(reader))
        return false;
    if (reader->event.type == YAML_STREAM_END_EVENT)
        return true;
    if (!advance(reader) || !read_root(reader) || !advance(reader) || !advance(reader))
        return false;
    if (reader->event.type != YAML_STREAM_END_EVENT)
        return fail_at(reader, line_of(reader), column_of(reader),
                       "expected one document, got a second one");
    return true;
}

/* Refuses texts that would take libyaml too long before its first event. */
static bool check_text(yaml_reader *reader)
{
    static const char directive[] = "%TAG";
    const char *at = reader->text;
    const char *end = at + reader->size;
    if (reader->size > TKT_CONFIG_BYTES_MAX)
        return fail_file(reader, "larger than the limit of 1 MiB (1048576 bytes)");
    for (size_t count = 0; count <= TKT_CONFIG_DIRECTIVES_MAX; count++) {
        at = memmem(at, (size_t)(end - at), directive, sizeof directive - 1);
        if (!at)
            return true;
        at++;
    }
    return fail_file(reader, "more tag directives (%TAG) than the limit of 32");
}

_Static_assert(TKT_CONFIG_BYTES_MAX == 1048576 && TKT_CONFIG_DIRECTIVES_MAX == 32,
               "the messages name the limits");

takt_status tkt_config_read_yaml(tkt_config_state *state, const char *text, size_t size,
                                 const char *name, takt_error *error)
{
    yaml_reader reader = {.state = state, .text = text, .size = size, .error = error};
    set_name(&reader, name);
    if (!check_text(&reader))
        return reader.status;
    if (!yaml_parser_initialize(&reader.parser))
        return TAKT_NO_MEMORY;
    /* In other encodings check_text() would not see the directives. */
    yaml_parser_set_encoding(&reader.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&reader.parser, (const unsigned char *)text, size);
    read_stream(&reader);
    yaml_event_delete(&reader.event);
    yaml_parser_delete(&reader.parser);
    return reader.status;
}

#endif
