/* Reads a configuration from YAML, and goes on after an error, to tell all of them at once. */
#include "config/yaml_reader.h"

#include "base/error.h"
#include "base/text.h"

#ifdef TAKT_NO_YAML

takt_status tkt_config_read_yaml(tkt_config_state *state, const char *text, size_t size,
                                 const char *name, tkt_config_errors *errors)
{
    (void)state;
    (void)text;
    (void)size;
    return tkt_error_set(&errors->items[0].error, TAKT_UNSUPPORTED,
                         "%s: this build of Takt has no libyaml and reads no configuration files",
                         name);
}

#else

#include <stdio.h>
#include <string.h>

#define SECTION_COUNT   3
#define NO_BREAK_SPACE  "\xC2\xA0"
#define BYTE_ORDER_MARK "\xEF\xBB\xBF"

typedef struct yaml_file {
    tkt_yaml_reader reader;
    uint32_t key_lines[TKT_CONFIG_ID_COUNT]; /* the line of each key; 0: not seen yet */
    uint32_t section_lines[SECTION_COUNT];
    struct {
        uint32_t line, column; /* 0: there is none */
        char name[TKT_CONFIG_QUOTED];
    } meant; /* the first section that has another name, but reads like profiling */
} yaml_file;

/* ---- Values ---------------------------------------------------------------------------------- */

static bool refuse_value(tkt_yaml_reader *reader, const tkt_config_key *key)
{
    char expected[160];
    tkt_config_expects(key, expected, sizeof expected);
    return tkt_yaml_refuse(reader, key->name, expected);
}

/* Reports a problem with its place. */
static bool refuse_problem(tkt_yaml_reader *reader, const tkt_config_key *key, uint32_t line,
                           uint32_t column, const tkt_config_problem *problem)
{
    if (problem->status == TAKT_NO_MEMORY)
        return tkt_yaml_no_memory(reader);
    return tkt_yaml_fail_at(reader, line, column, "%s: %s", key->name, problem->text);
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
static bool read_options(tkt_yaml_reader *reader, const tkt_config_key *key, char *item,
                         size_t size)
{
    if (reader->event.type != YAML_MAPPING_START_EVENT || !tkt_yaml_is_plain(reader))
        return tkt_yaml_is_null(reader) ||
               tkt_yaml_refuse(reader, key->name, "options of a report, such as {rows: 20}");
    while (tkt_yaml_advance(reader) && reader->event.type != YAML_MAPPING_END_EVENT) {
        const char *name = tkt_yaml_text(reader);
        if (!name || !append_word(item, size, " ", name))
            return tkt_yaml_refuse(reader, key->name, "the name of an option");
        if (!tkt_yaml_advance(reader))
            return false;
        const char *value = tkt_yaml_text(reader);
        if (!value || !append_word(item, size, "=", value))
            return tkt_yaml_refuse(reader, key->name, "the value of an option");
    }
    return !reader->is_broken;
}

/* Reads a report with options, such as {kernels: {rows: 20}}, as "kernels rows=20". */
static bool read_request(tkt_yaml_reader *reader, const tkt_config_key *key, char *item,
                         size_t size)
{
    if (!tkt_yaml_advance(reader))
        return false;
    const char *name = tkt_yaml_text(reader);
    item[0] = '\0';
    if (!name || !append_word(item, size, "", name))
        return tkt_yaml_refuse(reader, key->name, "a report");
    if (!tkt_yaml_advance(reader) || !read_options(reader, key, item, size) ||
        !tkt_yaml_advance(reader))
        return false;
    return reader->event.type == YAML_MAPPING_END_EVENT ||
           tkt_yaml_refuse(reader, key->name, "one report in each item");
}

static bool read_item(tkt_yaml_reader *reader, const tkt_config_key *key, tkt_config_value *value)
{
    tkt_config_problem problem;
    char request[TKT_CONFIG_ITEM_BYTES + 1];
    uint32_t line = tkt_yaml_line(reader);
    uint32_t column = tkt_yaml_column(reader);
    bool is_request = tkt_config_id_of(key) == TKT_CONFIG_REPORTS && tkt_yaml_is_plain(reader) &&
                      reader->event.type == YAML_MAPPING_START_EVENT;
    if (is_request && !read_request(reader, key, request, sizeof request))
        return false;
    const char *item = is_request ? request : tkt_yaml_text(reader);
    if (!item)
        return refuse_value(reader, key);
    return tkt_config_value_add(key, item, NULL, &reader->state->memory, value, &problem) ||
           refuse_problem(reader, key, line, column, &problem);
}

/* Reads "io: off", from the name on. */
static bool read_switch(tkt_yaml_reader *reader, const tkt_config_key *key, tkt_config_value *value)
{
    tkt_config_problem problem;
    const char *text = tkt_yaml_text(reader);
    uint32_t line = tkt_yaml_line(reader);
    uint32_t column = tkt_yaml_column(reader);
    if (!text) {
        refuse_value(reader, key);
        return tkt_yaml_skip(reader) && tkt_yaml_advance(reader) && tkt_yaml_skip(reader);
    }
    const char *name = tkt_arena_copy(&reader->state->memory, text, strlen(text));
    if (!name)
        return tkt_yaml_no_memory(reader);
    if (!tkt_yaml_advance(reader))
        return false;
    const char *state = tkt_yaml_text(reader);
    bool is_on;
    if (!state || !tkt_text_switch(state, &is_on))
        return refuse_value(reader, key);
    return tkt_config_value_add(key, name, state, &reader->state->memory, value, &problem) ||
           refuse_problem(reader, key, line, column, &problem);
}

/* Reads a list, or a mapping of switches, into the key's value. */
static bool read_collection(tkt_yaml_reader *reader, const tkt_config_key *key)
{
    tkt_config_value value = {0};
    tkt_config_problem problem;
    uint32_t line = tkt_yaml_line(reader);
    uint32_t column = tkt_yaml_column(reader);
    uint32_t depth = reader->depth;
    size_t errors = reader->errors->count;
    bool is_mapping = reader->event.type == YAML_MAPPING_START_EVENT;
    while (tkt_yaml_advance(reader) && reader->depth >= depth) {
        if (!(is_mapping ? read_switch : read_item)(reader, key, &value) &&
            !tkt_yaml_leave(reader, depth))
            return false;
    }
    if (reader->is_broken || reader->errors->count > errors)
        return false;
    if (!tkt_config_value_check(key, &value, &problem))
        return refuse_problem(reader, key, line, column, &problem);
    reader->state->values[tkt_config_id_of(key)] = value;
    return true;
}

static bool read_value(tkt_yaml_reader *reader, const tkt_config_key *key)
{
    tkt_config_problem problem;
    bool is_list = key->type == TKT_CONFIG_TYPE_LIST || key->type == TKT_CONFIG_TYPE_CHOICES;
    yaml_event_type_t collection = is_list ? YAML_SEQUENCE_START_EVENT : YAML_MAPPING_START_EVENT;
    bool takes_collection = is_list || key->type == TKT_CONFIG_TYPE_SWITCHES;
    if (takes_collection && tkt_yaml_is_plain(reader) && reader->event.type == collection)
        return read_collection(reader, key);
    const char *text = tkt_yaml_text(reader);
    if (!text)
        return refuse_value(reader, key);
    return tkt_config_state_set(reader->state, key, text, &problem) ||
           refuse_problem(reader, key, tkt_yaml_line(reader), tkt_yaml_column(reader), &problem);
}

/* ---- Sections -------------------------------------------------------------------------------- */

/* Suggests a key: "warmup" for "profiling.warmpu", but a key of another section with its full
 * name. */
static bool fail_unknown(tkt_yaml_reader *reader, const char *section, const char *full)
{
    char quoted[TKT_CONFIG_QUOTED];
    const tkt_config_key *near = tkt_config_suggest(full);
    const char *shown = NULL;
    if (near)
        shown = tkt_config_is_in(near, section) ? tkt_config_leaf(near) : near->name;
    return tkt_yaml_fail(reader, "unknown key %s%s%s%s", tkt_config_quote(quoted, full),
                         shown ? "; did you mean '" : "", shown ? shown : "", shown ? "'?" : "");
}

/* Notes the current line for a name, and tells it if the name appeared before. */
static void note_once(tkt_yaml_reader *reader, uint32_t *line, const char *name)
{
    if (*line > 0)
        tkt_yaml_fail(reader, "'%s' appears twice, first on line %u: remove one", name, *line);
    else
        *line = tkt_yaml_line(reader);
}

/* Returns the key that the current event names; NULL after telling why there is none. */
static const tkt_config_key *read_key(tkt_yaml_reader *reader, const char *section)
{
    char full[TKT_CONFIG_QUOTED + 16];
    const char *name = tkt_yaml_is_plain(reader) ? tkt_yaml_scalar(reader) : NULL;
    if (!name) {
        tkt_yaml_refuse(reader, section, "the name of a key");
        return NULL;
    }
    snprintf(full, sizeof full, "%s.%s", section, name);
    const tkt_config_key *key = tkt_config_find(full);
    if (!key)
        fail_unknown(reader, section, full);
    return key;
}

/* Reads a section's keys. An error in one value does not stop it. */
static bool read_keys(yaml_file *file, const char *section)
{
    tkt_yaml_reader *reader = &file->reader;
    uint32_t depth = reader->depth;
    while (tkt_yaml_advance(reader) && reader->depth >= depth) {
        const tkt_config_key *key = read_key(reader, section);
        if (key)
            note_once(reader, &file->key_lines[tkt_config_id_of(key)], key->name);
        if (!tkt_yaml_skip(reader) || !tkt_yaml_advance(reader))
            return false;
        if (key ? !read_value(reader, key) && !tkt_yaml_leave(reader, depth)
                : !tkt_yaml_skip(reader))
            return false;
    }
    return !reader->is_broken;
}

/* Tells that a section has no keys. A text often is one key whose colon YAML does not see. */
static bool refuse_section(tkt_yaml_reader *reader, const char *section)
{
    char full[TKT_CONFIG_QUOTED];
    const char *text = tkt_yaml_text(reader);
    size_t length = text ? strcspn(text, ":= ") : 0;
    if (reader->event.type == YAML_SEQUENCE_START_EVENT && tkt_yaml_is_plain(reader))
        return tkt_yaml_fail(
            reader, "%s: expected keys with values below it, got a list: leave out '-' and '[ ]'",
            section);
    snprintf(full, sizeof full, "%s.%.*s", section, (int)length, text ? text : "");
    if (!tkt_config_find(full))
        return tkt_yaml_refuse(reader, section, "keys with values below it");
    const char *value = text + length + strspn(text + length, ":= ");
    size_t size = strcspn(value, " ");
    return tkt_yaml_fail(reader, "%s: write '%.*s: %.*s', with a colon and a blank", section,
                         (int)length, text, (int)(size < 32 ? size : 32), value);
}

/* Reads a section's value. An empty section, such as one whose keys are all commented out, counts
 * as absent. */
static bool read_section(yaml_file *file, const char *section)
{
    tkt_yaml_reader *reader = &file->reader;
    bool is_profiling = strcmp(section, "profiling") == 0;
    bool is_on;
    if (tkt_yaml_is_plain(reader) && tkt_yaml_is_null(reader))
        return true;
    if (strcmp(section, "reports") == 0)
        return read_value(reader, &tkt_config_keys[TKT_CONFIG_REPORTS]);
    reader->state->is_asked = reader->state->is_asked || is_profiling;
    if (tkt_yaml_is_plain(reader) && reader->event.type == YAML_MAPPING_START_EVENT)
        return read_keys(file, section);
    const char *text = is_profiling ? tkt_yaml_text(reader) : NULL;
    if (!text || !tkt_text_switch(text, &is_on))
        return refuse_section(reader, section);
    reader->state->values[TKT_CONFIG_ENABLED].number = is_on;
    return true;
}

/* Returns the section that a top-level key names, or surely means: then it tells so. Returns -1 for
 * other keys. */
static int find_section(tkt_yaml_reader *reader, const char *name)
{
    char quoted[TKT_CONFIG_QUOTED];
    const char *near = strchr(name, '.') ? NULL : tkt_config_near_section(name);
    for (int i = 0; i < SECTION_COUNT; i++) {
        const char *section = tkt_config_sections[i];
        if (strcmp(name, section) == 0) {
            if (!tkt_yaml_is_plain(reader))
                tkt_yaml_refuse(reader, section, "a section's plain name");
            return i;
        }
        if (section == near) {
            tkt_yaml_fail(reader, "unknown section %s; did you mean '%s'?",
                          tkt_config_quote(quoted, name), near);
            return tkt_edit_distance(name, near, 1) == 1 ? i : -1; /* or it means something else */
        }
    }
    return -1;
}

/* Tells that "profiling.wait: 3" at the top level is wrong, and a key that a web page has indented
 * with no-break spaces. They would otherwise be skipped unnoticed. */
static void tell_misplaced(tkt_yaml_reader *reader, const char *name)
{
    char quoted[TKT_CONFIG_QUOTED];
    if (strncmp(name, NO_BREAK_SPACE, strlen(NO_BREAK_SPACE)) == 0)
        tkt_yaml_fail(reader, "a no-break space, as web pages have it: replace it by a blank");
    for (size_t i = 0; i < SECTION_COUNT; i++) {
        const char *section = tkt_config_sections[i];
        size_t length = strlen(section);
        if (strncmp(name, section, length) == 0 && name[length] == '.')
            tkt_yaml_fail(reader, "unknown section %s; write '%s:' and the key below it",
                          tkt_config_quote(quoted, name), section);
    }
}

/* Reads the value of a section that is not Takt's. *is_meant: it is a switch or, for the most part,
 * keys of profiling. */
static bool read_alike(tkt_yaml_reader *reader, bool *is_meant)
{
    char full[TKT_CONFIG_QUOTED + 16];
    uint32_t depth = reader->depth;
    int known = 0, others = 0;
    const char *text = tkt_yaml_text(reader);
    bool is_switch = text && tkt_text_switch(text, is_meant);
    if (reader->event.type != YAML_MAPPING_START_EVENT) {
        *is_meant = is_switch;
        return tkt_yaml_skip(reader);
    }
    while (tkt_yaml_advance(reader) && reader->depth >= depth) {
        const char *name = tkt_yaml_scalar(reader);
        snprintf(full, sizeof full, "profiling.%s", name ? name : "");
        *(tkt_config_find(full) ? &known : &others) += 1;
        if (!tkt_yaml_skip(reader) || !tkt_yaml_advance(reader) || !tkt_yaml_skip(reader))
            return false;
    }
    *is_meant = known > others;
    return !reader->is_broken;
}

/* Skips a section that is not Takt's. Notes one such as "profile" if its value reads like Takt's,
 * too: a program may have its own. */
static bool skip_section(yaml_file *file, const char *name)
{
    tkt_yaml_reader *reader = &file->reader;
    uint32_t line = tkt_yaml_line(reader), column = tkt_yaml_column(reader);
    char quoted[TKT_CONFIG_QUOTED];
    bool is_meant = false;
    bool is_alike = tkt_config_is_like_profiling(name) && file->meant.line == 0;
    tkt_config_quote(quoted, name);
    if (!tkt_yaml_advance(reader))
        return false;
    if (!is_alike)
        return tkt_yaml_skip(reader);
    bool is_read = read_alike(reader, &is_meant);
    if (is_meant) {
        file->meant.line = line;
        file->meant.column = column;
        memcpy(file->meant.name, quoted, sizeof quoted);
    }
    return is_read;
}

static bool read_top_level_key(yaml_file *file)
{
    tkt_yaml_reader *reader = &file->reader;
    const char *name = tkt_yaml_scalar(reader);
    uint32_t depth = reader->depth;
    if (!name)
        return tkt_yaml_skip(reader) && tkt_yaml_advance(reader) && tkt_yaml_skip(reader);
    int section = find_section(reader, name);
    if (section < 0) {
        tell_misplaced(reader, name);
        if (!tkt_config_state_skip(reader->state, name, reader->event.data.scalar.length,
                                   tkt_yaml_line(reader)))
            return tkt_yaml_no_memory(reader);
        return skip_section(file, name);
    }
    note_once(reader, &file->section_lines[section], tkt_config_sections[section]);
    return tkt_yaml_advance(reader) &&
           (read_section(file, tkt_config_sections[section]) || tkt_yaml_leave(reader, depth));
}

/* ---- The file -------------------------------------------------------------------------------- */

static bool read_root(yaml_file *file)
{
    tkt_yaml_reader *reader = &file->reader;
    if (tkt_yaml_is_null(reader))
        return true;
    if (reader->event.type != YAML_MAPPING_START_EVENT) {
        tkt_yaml_refuse(reader, "the file", "sections such as 'profiling:'");
        return tkt_yaml_skip(reader);
    }
    while (tkt_yaml_advance(reader) && reader->event.type != YAML_MAPPING_END_EVENT) {
        if (!read_top_level_key(file))
            return false;
    }
    if (file->meant.line > 0 && file->section_lines[0] == 0)
        tkt_yaml_fail_at(reader, file->meant.line, file->meant.column,
                         "unknown section %s; did you mean '%s'?", file->meant.name,
                         tkt_config_sections[0]);
    return !reader->is_broken;
}

static bool read_stream(yaml_file *file)
{
    tkt_yaml_reader *reader = &file->reader;
    if (!tkt_yaml_advance(reader) || !tkt_yaml_advance(reader))
        return false;
    if (reader->event.type == YAML_STREAM_END_EVENT)
        return true;
    if (!tkt_yaml_advance(reader) || !read_root(file) || !tkt_yaml_advance(reader) ||
        !tkt_yaml_advance(reader))
        return false;
    if (reader->event.type != YAML_STREAM_END_EVENT)
        return tkt_yaml_fail(reader, "expected one document, got a second one: remove this line");
    return true;
}

/* Refuses texts that would take libyaml too long before its first event: it compares tag directives
 * with each other, and 1 MiB of them takes 6.6 s. */
static const char *refuse_text(const char *text, size_t size)
{
    static const char directive[] = "%TAG";
    const char *at = text;
    const char *end = text + size;
    if (size > TKT_CONFIG_BYTES_MAX)
        return "larger than the limit of 1 MiB (1048576 bytes)";
    for (size_t count = 0; count <= TKT_CONFIG_DIRECTIVES_MAX; count++) {
        at = memmem(at, (size_t)(end - at), directive, sizeof directive - 1);
        if (!at)
            return NULL;
        at++;
    }
    return "more tag directives (%TAG) than the limit of 32";
}

_Static_assert(TKT_CONFIG_BYTES_MAX == 1048576 && TKT_CONFIG_DIRECTIVES_MAX == 32,
               "the messages name the limits");

/* Keeps the end of a long path, which has the file's own name. */
static void set_name(tkt_yaml_reader *reader, const char *name)
{
    size_t length = strlen(name);
    const char *end = length > TKT_YAML_NAME_SHOWN ? name + length - TKT_YAML_NAME_SHOWN : name;
    while ((*end & 0xC0) == 0x80)
        end++;
    snprintf(reader->name, sizeof reader->name, "%s", end > name ? "..." : "");
    size_t used = strlen(reader->name);
    tkt_printable(reader->name + used, sizeof reader->name - used, end, strlen(end));
    reader->text.name = reader->name;
}

takt_status tkt_config_read_yaml(tkt_config_state *state, const char *text, size_t size,
                                 const char *name, tkt_config_errors *errors)
{
    if (size >= 3 && memcmp(text, BYTE_ORDER_MARK, 3) == 0) { /* libyaml counts it as a column */
        text += 3;
        size -= 3;
    }
    yaml_file file = {.reader = {.state = state, .text = {text, size, NULL}, .errors = errors}};
    tkt_yaml_reader *reader = &file.reader;
    const char *why = refuse_text(text, size);
    set_name(reader, name);
    if (why)
        return tkt_error_set(&errors->items[0].error, TAKT_BAD_CONFIG, "%s: %s", reader->name, why);
    if (!yaml_parser_initialize(&reader->parser))
        return TAKT_NO_MEMORY;
    /* In other encodings refuse_text() would not see the directives. */
    yaml_parser_set_encoding(&reader->parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&reader->parser, (const unsigned char *)text, size);
    read_stream(&file);
    yaml_event_delete(&reader->event);
    yaml_parser_delete(&reader->parser);
    if (reader->has_no_memory)
        return TAKT_NO_MEMORY;
    return errors->count > 0 ? TAKT_BAD_CONFIG : TAKT_OK;
}

#endif
