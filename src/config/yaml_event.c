/* Steps through libyaml's events, within limits.
 *
 * libyaml's tree loader is quadratic in anchors, and its parser is quadratic in flow nesting: 100
 * KB of '[' take it half a minute (measured with 0.2.5). Takt therefore limits the depth while
 * parsing, which stops that after 33 events. */
#include "config/yaml_reader.h"

#ifndef TAKT_NO_YAML

#include "base/text.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- Errors ---------------------------------------------------------------------------------- */

static void add(tkt_yaml_reader *reader, uint32_t line, uint32_t column, const char *format,
                va_list arguments) __attribute__((format(printf, 4, 0)));

static void add(tkt_yaml_reader *reader, uint32_t line, uint32_t column, const char *format,
                va_list arguments)
{
    tkt_config_errors_add(reader->errors, &reader->text, line, column, format, arguments);
    reader->told_until = reader->event.end_mark;
    reader->told_count = reader->errors->count;
}

bool tkt_yaml_fail_at(tkt_yaml_reader *reader, uint32_t line, uint32_t column, const char *format,
                      ...)
{
    va_list arguments;
    va_start(arguments, format);
    add(reader, line, column, format, arguments);
    va_end(arguments);
    return false;
}

bool tkt_yaml_fail(tkt_yaml_reader *reader, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add(reader, tkt_yaml_line(reader), tkt_yaml_column(reader), format, arguments);
    va_end(arguments);
    return false;
}

bool tkt_yaml_break(tkt_yaml_reader *reader, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add(reader, tkt_yaml_line(reader), tkt_yaml_column(reader), format, arguments);
    va_end(arguments);
    reader->is_broken = true;
    return false;
}

bool tkt_yaml_no_memory(tkt_yaml_reader *reader)
{
    reader->is_broken = reader->has_no_memory = true;
    return false;
}

uint32_t tkt_yaml_line(const tkt_yaml_reader *reader)
{
    return (uint32_t)reader->event.start_mark.line + 1;
}

uint32_t tkt_yaml_column(const tkt_yaml_reader *reader)
{
    return (uint32_t)reader->event.start_mark.column + 1;
}

/* ---- Events ---------------------------------------------------------------------------------- */

bool tkt_yaml_advance(tkt_yaml_reader *reader)
{
    if (reader->is_broken)
        return false;
    yaml_event_delete(&reader->event);
    if (!yaml_parser_parse(&reader->parser, &reader->event)) {
        reader->is_broken = true;
        tkt_yaml_tell_syntax(reader);
        return false;
    }
    if (++reader->event_count > TKT_CONFIG_EVENTS_MAX)
        return tkt_yaml_break(reader, "more values and brackets than the limit of %d",
                              TKT_CONFIG_EVENTS_MAX);
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
        return tkt_yaml_break(reader, "nested deeper than the limit of %d levels",
                              TKT_CONFIG_DEPTH_MAX);
    return true;
}

bool tkt_yaml_leave(tkt_yaml_reader *reader, uint32_t depth)
{
    while (!reader->is_broken && reader->depth > depth)
        tkt_yaml_advance(reader);
    return !reader->is_broken;
}

bool tkt_yaml_skip(tkt_yaml_reader *reader)
{
    bool is_open = reader->event.type == YAML_SEQUENCE_START_EVENT ||
                   reader->event.type == YAML_MAPPING_START_EVENT;
    return tkt_yaml_leave(reader, reader->depth - is_open);
}

const char *tkt_yaml_scalar(const tkt_yaml_reader *reader)
{
    const yaml_event_t *event = &reader->event;
    if (event->type != YAML_SCALAR_EVENT)
        return NULL;
    const char *text = (const char *)event->data.scalar.value;
    return strlen(text) == event->data.scalar.length ? text : NULL;
}

bool tkt_yaml_is_null(const tkt_yaml_reader *reader)
{
    const char *text = tkt_yaml_scalar(reader);
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

bool tkt_yaml_is_plain(const tkt_yaml_reader *reader)
{
    const char *tag;
    return reader->event.type != YAML_ALIAS_EVENT && !anchor_of(&reader->event, &tag) && !tag;
}

const char *tkt_yaml_text(const tkt_yaml_reader *reader)
{
    bool is_text = tkt_yaml_is_plain(reader) && !tkt_yaml_is_null(reader);
    return is_text ? tkt_yaml_scalar(reader) : NULL;
}

/* ---- What was found instead ------------------------------------------------------------------ */

#define GOT_SIZE (TKT_CONFIG_QUOTED + 64)

/* Describes an alias, an anchor or a tag; people who do not know these meant a text. */
static void describe_mark(char out[GOT_SIZE], const char *what, char sign, const char *name)
{
    char quoted[TKT_CONFIG_QUOTED];
    snprintf(out, GOT_SIZE, "the %s %s; a text that begins with '%c' needs quotes", what,
             tkt_config_quote(quoted, name), sign);
}

/* Describes the current event, to follow "got". */
static const char *describe_event(const tkt_yaml_reader *reader, char out[GOT_SIZE])
{
    char quoted[TKT_CONFIG_QUOTED];
    const yaml_event_t *event = &reader->event;
    const char *tag;
    const char *anchor = anchor_of(event, &tag);
    const char *text = tkt_yaml_scalar(reader);
    if (event->type == YAML_ALIAS_EVENT)
        describe_mark(out, "alias", '*', (const char *)event->data.alias.anchor);
    else if (anchor)
        describe_mark(out, "anchor", '&', anchor);
    else if (tag)
        describe_mark(out, "tag", '!', tag);
    else if (event->type == YAML_SEQUENCE_START_EVENT)
        snprintf(out, GOT_SIZE, "a list");
    else if (event->type == YAML_MAPPING_START_EVENT)
        snprintf(out, GOT_SIZE, "keys with values");
    else if (tkt_yaml_is_null(reader))
        snprintf(out, GOT_SIZE, "nothing");
    else
        snprintf(out, GOT_SIZE, "%s",
                 text ? tkt_config_quote(quoted, text) : "a text with a NUL in it");
    return out;
}

bool tkt_yaml_refuse(tkt_yaml_reader *reader, const char *subject, const char *expected)
{
    char got[GOT_SIZE];
    return tkt_yaml_fail(reader, "%s: expected %s, got %s", subject, expected,
                         describe_event(reader, got));
}

#endif
