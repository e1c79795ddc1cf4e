/* Explains what is not YAML. libyaml says what its grammar lacks at some place ("did not find
 * expected key"); the writer of the file wants to know which character to change. So each of
 * libyaml's messages has a function here that looks at the text around that place. */
#include "config/yaml_reader.h"

#ifndef TAKT_NO_YAML

#include "base/text.h"

#include <stdio.h>
#include <string.h>

/* The explanation, and the place that it is about. */
typedef struct finding {
    uint32_t line;
    uint32_t column;
    char text[200];
} finding;

/* One line of the file, without its newline. */
typedef struct text_line {
    uint32_t number;
    uint32_t indent; /* blanks and tabs at its begin */
    const char *begin;
    const char *first; /* behind the indentation */
    const char *end;   /* without blanks at the end and a comment */
} text_line;

/* ---- Lines ----------------------------------------------------------------------------------- */

/* Returns the end of the text before a comment, without blanks. */
static const char *end_of_text(const char *begin, const char *end)
{
    for (const char *at = begin; at < end; at++) {
        if (*at == '#' && (at == begin || at[-1] == ' ' || at[-1] == '\t'))
            end = at;
    }
    while (end > begin && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
        end--;
    return end;
}

/* Returns the line from `begin` to `end`. */
static text_line line_of(uint32_t number, const char *begin, const char *end)
{
    text_line line = {.number = number, .begin = begin};
    line.first = begin;
    while (line.first < end && (*line.first == ' ' || *line.first == '\t'))
        line.first++;
    line.indent = (uint32_t)(line.first - begin);
    line.end = end_of_text(line.first, end);
    return line;
}

/* Returns a line; line 0 is empty. */
static text_line line_at(const tkt_yaml_reader *reader, uint32_t number)
{
    const char *end;
    const char *begin = tkt_config_line(&reader->text, number, &end);
    return line_of(number, begin, number > 0 ? end : begin);
}

static bool has_text(const text_line *line)
{
    return line->first < line->end;
}

/* Returns the nearest line above that has text; its number is 0 if there is none. */
static text_line line_above(const tkt_yaml_reader *reader, const text_line *below)
{
    text_line line = *below;
    do {
        const char *end = line.begin;
        if (end == reader->text.bytes)
            return line_at(reader, 0);
        end--; /* the newline */
        const char *newline = memrchr(reader->text.bytes, '\n', (size_t)(end - reader->text.bytes));
        line = line_of(line.number - 1, newline ? newline + 1 : reader->text.bytes, end);
    } while (!has_text(&line));
    return line;
}

/* Returns the character at a place of libyaml's; NUL at the end of the line. */
static char character_at(const tkt_yaml_reader *reader, const yaml_mark_t *mark)
{
    const char *end;
    const char *begin = tkt_config_line(&reader->text, (uint32_t)mark->line + 1, &end);
    const char *at = tkt_config_column(begin, end, (uint32_t)mark->column + 1);
    return at < end ? *at : '\0';
}

static bool place(finding *out, uint32_t line, uint32_t column)
{
    out->line = line;
    out->column = column;
    return true;
}

static bool place_mark(finding *out, const yaml_mark_t *mark)
{
    return place(out, (uint32_t)mark->line + 1, (uint32_t)mark->column + 1);
}

/* ---- Keys and colons ------------------------------------------------------------------------- */

static size_t word_length(const text_line *line)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    size_t length = 0;
    while (line->first + length < line->end && strchr(letters, line->first[length]))
        length++;
    return length;
}

/* Writes "KEY: VALUE" for a line whose value begins at `value`. */
static void spell_pair(char *out, size_t capacity, const text_line *line, size_t key_length,
                       const char *value)
{
    char quoted[TKT_CONFIG_QUOTED];
    char pair[TKT_CONFIG_QUOTED];
    snprintf(pair, sizeof pair, "%.*s:%s%.*s", (int)key_length, line->first,
             value < line->end ? " " : "", (int)(line->end - value), value);
    snprintf(out, capacity, "write %s", tkt_config_quote(quoted, pair));
}

/* Explains a line that should be "KEY: VALUE" and has no ": ". False if it has one, or begins with
 * no word. */
static bool explain_pair(const text_line *line, finding *out)
{
    char advice[80];
    size_t length = word_length(line);
    const char *sign = line->first + length;
    while (sign < line->end && *sign == ' ')
        sign++;
    char got = sign < line->end ? *sign : '\0';
    const char *value = got == ':' || got == '=' ? sign + 1 : sign;
    if (length == 0 || (got == ':' && (value == line->end || *value == ' ')))
        return false;
    while (value < line->end && *value == ' ')
        value++;
    spell_pair(advice, sizeof advice, line, length, value);
    const char *what = got == ':'   ? "the colon needs a blank behind it"
                       : got == '=' ? "expected a colon, got '='"
                                    : "the colon behind the key is missing";
    snprintf(out->text, sizeof out->text, "%s: %s", what, advice);
    const char *at = got == ':' ? sign + 1 : got == '=' ? sign : line->first + length;
    return place(out, line->number, line->indent + (uint32_t)(at - line->first) + 1);
}

/* Explains a line that begins in another column than the line above. */
static bool explain_indent(const text_line *line, const text_line *above, finding *out)
{
    if (!has_text(above) || above->indent == line->indent)
        return false;
    snprintf(out->text, sizeof out->text,
             "wrong indentation: this begins in column %u, line %u in column %u; begin keys of one "
             "section in the same column",
             line->indent + 1, above->number, above->indent + 1);
    return place(out, line->number, line->indent + 1);
}

/* A colon where none may be: an earlier one in the line, or something wrong in the line above. */
static bool explain_colon(const tkt_yaml_reader *reader, finding *out)
{
    text_line line = line_at(reader, (uint32_t)reader->parser.problem_mark.line + 1);
    text_line above = line_above(reader, &line);
    const char *colon =
        tkt_config_column(line.begin, line.end, (uint32_t)reader->parser.problem_mark.column + 1);
    size_t before = (size_t)(colon - line.first);
    if (has_text(&above) && strncmp(above.first, "<<<<<<<", 7) == 0) {
        snprintf(out->text, sizeof out->text,
                 "a conflict that git has marked: keep one version, and no marks");
        return place(out, above.number, 1);
    }
    if (memmem(line.first, before, ": ", 2)) {
        snprintf(out->text, sizeof out->text,
                 "a second ': ' in the line: put a text that contains it in quotes");
        return place_mark(out, &reader->parser.problem_mark);
    }
    if (has_text(&above) && above.indent <= line.indent && explain_pair(&above, out))
        return true;
    return explain_indent(&line, &above, out);
}

static bool is_item(const text_line *line)
{
    return has_text(line) && *line->first == '-' &&
           (line->first + 1 == line->end || line->first[1] == ' ');
}

/* A line without a colon among keys. libyaml tells its begin as context. */
static bool explain_no_colon(const tkt_yaml_reader *reader, finding *out)
{
    text_line line = line_at(reader, (uint32_t)reader->parser.context_mark.line + 1);
    text_line above = line_above(reader, &line);
    if (is_item(&above) && !is_item(&line)) {
        snprintf(out->text, sizeof out->text,
                 "expected another item of the list: begin it with '- '");
        return place(out, line.number, line.indent + 1);
    }
    return explain_pair(&line, out);
}

/* Something else than a key, where libyaml expects the next one. */
static bool explain_no_key(const tkt_yaml_reader *reader, finding *out)
{
    const yaml_mark_t *mark = &reader->parser.problem_mark;
    text_line line = line_at(reader, (uint32_t)mark->line + 1);
    text_line above = line_above(reader, &line);
    char got = character_at(reader, mark);
    place_mark(out, mark);
    if (got == ']' || got == '}') {
        snprintf(out->text, sizeof out->text, "'%c' closes nothing: leave it out", got);
        return true;
    }
    if (mark->column > line.indent) {
        const char *colon = memmem(line.first, (size_t)(line.end - line.first), ": ", 2);
        snprintf(out->text, sizeof out->text,
                 "text behind a closing quote or bracket: put the whole value in quotes");
        return !colon || place(out, line.number, line.indent + (uint32_t)(colon - line.first) + 3);
    }
    if (is_item(&line) && !is_item(&above)) {
        snprintf(out->text, sizeof out->text, "expected a key, got '- ': leave out the '- '");
        return true;
    }
    return explain_indent(&line, &above, out);
}

/* Returns the first line of the file that has text. */
static text_line first_line(const tkt_yaml_reader *reader)
{
    text_line line = line_at(reader, 0);
    const char *last = reader->text.bytes + reader->text.size;
    for (const char *at = reader->text.bytes; at < last && !has_text(&line);) {
        const char *newline = memchr(at, '\n', (size_t)(last - at));
        const char *end = newline ? newline : last;
        line = line_of(line.number + 1, at, end);
        at = end < last ? end + 1 : last;
    }
    return line;
}

/* Text behind the end of the file's only mapping. */
static bool explain_document(const tkt_yaml_reader *reader, finding *out)
{
    const yaml_mark_t *mark = &reader->parser.problem_mark;
    text_line line = line_at(reader, (uint32_t)mark->line + 1);
    text_line first = first_line(reader);
    place_mark(out, mark);
    if (has_text(&first) && *first.first == '[') {
        snprintf(out->text, sizeof out->text,
                 "a section is written 'profiling:', and its keys indented below it");
        return place(out, first.number, first.indent + 1);
    }
    if (has_text(&first) && first.indent > line.indent)
        return explain_indent(&line, &first, out);
    snprintf(out->text, sizeof out->text, "nothing may follow here: the sections ended before");
    return true;
}

/* ---- Quotes and brackets --------------------------------------------------------------------- */

static bool explain_quote(const tkt_yaml_reader *reader, finding *out)
{
    char quote = character_at(reader, &reader->parser.context_mark);
    snprintf(out->text, sizeof out->text,
             "this quote is not closed: write another %c behind the text", quote);
    return (quote == '"' || quote == '\'') && place_mark(out, &reader->parser.context_mark);
}

/* libyaml's place is at the backslash, or a little behind it. */
static bool explain_escape(const tkt_yaml_reader *reader, finding *out)
{
    yaml_mark_t mark = reader->parser.problem_mark;
    while (mark.column > 0 && character_at(reader, &mark) != '\\')
        mark.column--;
    snprintf(out->text, sizeof out->text,
             "'\\' has a meaning between double quotes: use single quotes, or write '\\\\'");
    return place_mark(out, &mark);
}

static bool explain_bracket(const tkt_yaml_reader *reader, finding *out)
{
    const yaml_parser_t *parser = &reader->parser;
    char open = character_at(reader, &parser->context_mark);
    char close = open == '[' ? ']' : '}';
    char got = character_at(reader, &parser->problem_mark);
    if (open != '[' && open != '{')
        return false;
    if (got == ']' || got == '}') {
        snprintf(out->text, sizeof out->text, "'%c' is closed by '%c': write '%c'", open, got,
                 close);
        return place_mark(out, &parser->problem_mark);
    }
    if (parser->problem_mark.line == parser->context_mark.line) {
        snprintf(out->text, sizeof out->text, "a comma or '%c' is missing before this", close);
        return place_mark(out, &parser->problem_mark);
    }
    snprintf(out->text, sizeof out->text,
             "'%c' is not closed: write '%c' behind the last item, or the comma that is missing "
             "before line %u",
             open, close, (uint32_t)parser->problem_mark.line + 1);
    return place_mark(out, &parser->context_mark);
}

/* ---- Single characters ----------------------------------------------------------------------- */

static bool explain_tab(const tkt_yaml_reader *reader, finding *out)
{
    text_line line = line_at(reader, (uint32_t)reader->parser.problem_mark.line + 1);
    const char *tab = memchr(line.begin, '\t', (size_t)(line.first - line.begin));
    if (!tab)
        return false;
    snprintf(out->text, sizeof out->text,
             "a tab: YAML is indented with blanks only; replace the tab by blanks");
    return place(out, line.number, (uint32_t)(tab - line.begin) + 1);
}

/* A text that begins with a character of YAML's own, at this place. */
static bool explain_sign(const tkt_yaml_reader *reader, const yaml_mark_t *mark, finding *out)
{
    snprintf(out->text, sizeof out->text, "a text that begins with '%c' needs quotes",
             character_at(reader, mark));
    return place_mark(out, mark);
}

static bool explain_start(const tkt_yaml_reader *reader, finding *out)
{
    return explain_tab(reader, out) || explain_sign(reader, &reader->parser.problem_mark, out);
}

static bool explain_mark(const tkt_yaml_reader *reader, finding *out)
{
    return explain_sign(reader, &reader->parser.context_mark, out);
}

static bool explain_item(const tkt_yaml_reader *reader, finding *out)
{
    snprintf(out->text, sizeof out->text,
             "a list with '- ' begins on the line below its key; in one line write [a, b]");
    return place_mark(out, &reader->parser.problem_mark);
}

static bool explain_block(const tkt_yaml_reader *reader, finding *out)
{
    snprintf(out->text, sizeof out->text,
             "a text that begins with '%c' needs quotes; YAML's block texts begin on the next line",
             character_at(reader, &reader->parser.context_mark));
    return place_mark(out, &reader->parser.context_mark);
}

/* ---- All of them ----------------------------------------------------------------------------- */

/* How libyaml's messages begin (0.1.4 to 0.2.5). */
static const struct {
    const char *problem;
    bool (*explain)(const tkt_yaml_reader *reader, finding *out);
} explanations[] = {
    {"found a tab character", explain_tab},
    {"found character that cannot start any token", explain_start},
    {"found unexpected end of stream", explain_quote},
    {"found unexpected document indicator", explain_quote},
    {"found unknown escape character", explain_escape},
    {"did not find expected hexdecimal number", explain_escape},
    {"did not find expected ',' or", explain_bracket},
    {"block sequence entries are not allowed", explain_item},
    {"mapping values are not allowed", explain_colon},
    {"could not find expected ':'", explain_no_colon},
    {"did not find expected key", explain_no_key},
    {"did not find expected '-' indicator", explain_no_key},
    {"did not find expected <document start>", explain_document},
    {"did not find expected comment or line break", explain_block},
    {"did not find expected alphabetic or numeric character", explain_mark},
};

/* Counts from the start: libyaml gives the place of a wrong encoding only as an offset. */
static void tell_encoding(tkt_yaml_reader *reader)
{
    uint32_t line = 1;
    uint32_t column = 1;
    const char *text = reader->text.bytes;
    for (size_t i = 0; i < reader->parser.problem_offset && i < reader->text.size; i++) {
        bool is_break = text[i] == '\n';
        line += is_break;
        column = is_break ? 1 : column + ((text[i] & 0xC0) != 0x80);
    }
    tkt_yaml_fail_at(reader, line, column, "expected UTF-8 text: %s", reader->parser.problem);
}

/* Removes errors that follow from this one: those behind it, since a list that is not closed
 * swallows the next section, and one about a text that reaches over it. */
static void tell(tkt_yaml_reader *reader, const finding *found)
{
    const yaml_mark_t *end = &reader->told_until;
    bool is_over = end->line + 1 > found->line ||
                   (end->line + 1 == found->line && end->column + 1 >= found->column);
    tkt_config_errors_cut(reader->errors, found->line, found->column);
    if (is_over && reader->errors->count == reader->told_count && reader->told_count > 0)
        reader->errors->count--;
    tkt_yaml_fail_at(reader, found->line, found->column, "%s", found->text);
}

void tkt_yaml_tell_syntax(tkt_yaml_reader *reader)
{
    const yaml_parser_t *parser = &reader->parser;
    finding found = {.line = 0};
    if (parser->error == YAML_MEMORY_ERROR) {
        tkt_yaml_no_memory(reader);
        return;
    }
    if (parser->error == YAML_READER_ERROR) {
        tell_encoding(reader);
        return;
    }
    for (size_t i = 0; i < sizeof explanations / sizeof *explanations; i++) {
        const char *problem = explanations[i].problem;
        if (strncmp(parser->problem, problem, strlen(problem)) == 0 &&
            explanations[i].explain(reader, &found)) {
            tell(reader, &found);
            return;
        }
    }
    place_mark(&found, &parser->problem_mark);
    snprintf(found.text, sizeof found.text, "this is not YAML: %s%s%s", parser->problem,
             parser->context ? " " : "", parser->context ? parser->context : "");
    tell(reader, &found);
}

#endif
