/* Renderers for machines and documents: CSV, JSON, Markdown. */
#include "base/text.h"
#include "report/show.h"
#include "report/table.h"

#include <string.h>

/* ======== CSV ======== */

/* CSV (RFC 4180): a header with the columns' keys, raw values, lines ending in CR LF. It contains
 * only tables, which every reader can import. An empty line precedes each further table of a
 * report. Facts of a page come first, as a table of their own. */

static void put_csv_end(tkt_writer *writer)
{
    tkt_writer_text(writer, "\r\n");
}

/* Doubles quotes. A text may have megabytes, so it is processed in pieces. */
static void put_csv_quoted(tkt_writer *writer, const char *text)
{
    size_t size = strlen(text);
    for (size_t piece; (piece = tkt_text_piece(text, size)) > 0; size -= piece) {
        const char *end = text + piece;
        while (text < end) {
            const char *quote = memchr(text, '"', (size_t)(end - text));
            const char *stop = quote ? quote + 1 : end;
            tkt_put_printable(writer, text, (size_t)(stop - text));
            tkt_writer_text(writer, quote ? "\"" : "");
            text = stop;
        }
    }
}

/* Control characters are replaced, so line breaks need no quotes. */
static void put_csv_text(tkt_writer *writer, const char *text)
{
    bool is_quoted = strpbrk(text, "\",");
    const char *quote = is_quoted ? "\"" : "";
    tkt_writer_text(writer, quote);
    if (tkt_is_formula(text))
        tkt_writer_text(writer, "'");
    if (is_quoted)
        put_csv_quoted(writer, text);
    else
        tkt_put_printable(writer, text, strlen(text));
    tkt_writer_text(writer, quote);
}

static void put_csv_value(tkt_writer *writer, tkt_cell_type type, tkt_cell cell)
{
    char raw[TKT_VALUE_SIZE];
    size_t size = tkt_value_raw(raw, type, cell);
    const char *words = tkt_value_words(type, cell);
    if (words && size == 0)
        put_csv_text(writer, words);
    else
        tkt_writer_put(writer, raw, size);
}

static void put_csv_facts(const tkt_document *document, tkt_writer *writer)
{
    tkt_writer_text(writer, "fact,value\r\n");
    for (size_t i = 0; i < document->facts.count; i++) {
        const tkt_fact *fact = &document->facts.items[i];
        tkt_writer_format(writer, "%s,", fact->key);
        put_csv_value(writer, fact->type, fact->value);
        put_csv_end(writer);
    }
    put_csv_end(writer);
}

static void put_csv_table(const tkt_table *table, tkt_writer *writer)
{
    const char *between = "";
    for (size_t i = 0; i < table->column_count; i++) {
        if (!table->columns[i].key)
            continue;
        tkt_writer_format(writer, "%s%s", between, table->columns[i].key);
        between = ",";
    }
    put_csv_end(writer);
    for (size_t row = 0; row < table->shown; row++) {
        const tkt_cell *cells = tkt_table_row(table, row);
        between = "";
        for (size_t i = 0; i < table->column_count; i++) {
            if (!table->columns[i].key)
                continue;
            tkt_writer_text(writer, between);
            between = ",";
            put_csv_value(writer, table->columns[i].type, cells[i]);
        }
        put_csv_end(writer);
    }
}

void tkt_render_csv(const tkt_document *document, tkt_writer *writer)
{
    if (document->is_page)
        put_csv_facts(document, writer);
    for (size_t i = 0; i < document->table_count; i++) {
        if (document->tables[i].is_head)
            continue;
        if (i > 0)
            put_csv_end(writer);
        put_csv_table(&document->tables[i], writer);
    }
}

/* ======== JSON ======== */

/* JSON (RFC 8259), one object for a report:
 *
 *     {"report": "scopes",
 *      "headline": "...",                               the answer in one sentence; some reports
 *      "columns": ["name", "self_cpu_percent", "self_cpu_ns", ...],
 *      "titles": ["Name", "Self CPU %", ...],           the columns' titles in text
 *      "rows": [{"name": "step", "self_cpu_percent": 12.5, "self_cpu_ns": 1234, ...}, ...],
 *      "row_count": 12,                  number of rows, shown or not
 *      "tables": {"jumps": {"heading": "Largest ...", "columns": ..., ...}},
 *      "facts": {"self_cpu_total_ns": 9876},
 *      "notes": ["..."],
 *      "provenance": {"backend": "none", ..., "losses": {"dropped": 0, ...}}}
 *
 * Times are integers in ns, shares are percent, missing values are null. */

static void put_json_value(tkt_writer *writer, tkt_cell_type type, tkt_cell cell)
{
    char raw[TKT_VALUE_SIZE];
    const char *words = tkt_value_is_none(type, cell) ? NULL : tkt_value_words(type, cell);
    size_t size = tkt_value_raw(raw, type, cell);
    if (words && size == 0)
        tkt_put_json(writer, words);
    else
        tkt_writer_text(writer, size ? raw : "null");
}

static void put_json_row(const tkt_table *table, const tkt_cell *cells, tkt_writer *writer)
{
    const char *between = "{";
    for (size_t i = 0; i < table->column_count; i++) {
        if (!table->columns[i].key)
            continue;
        tkt_writer_format(writer, "%s\"%s\": ", between, table->columns[i].key);
        between = ", ";
        put_json_value(writer, table->columns[i].type, cells[i]);
    }
    tkt_writer_text(writer, "}");
}

static void put_json_names(const tkt_table *table, const char *between, bool titles,
                           tkt_writer *writer)
{
    for (size_t i = 0; i < table->column_count; i++) {
        const tkt_column *column = &table->columns[i];
        if (!column->key)
            continue;
        tkt_writer_format(writer, "%s\"%s\"", between, titles ? column->title : column->key);
        between = ", ";
    }
}

/* Writes the members of a table, without braces. */
static void put_json_table(const tkt_table *table, tkt_writer *writer)
{
    put_json_names(table, "\"columns\": [", false, writer);
    put_json_names(table, "],\n \"titles\": [", true, writer);
    tkt_writer_text(writer, "],\n \"rows\": [");
    for (size_t i = 0; i < table->shown; i++) {
        tkt_writer_text(writer, i ? ",\n  " : "\n  ");
        put_json_row(table, tkt_table_row(table, i), writer);
    }
    tkt_writer_format(writer, "],\n \"row_count\": %zu", table->all_rows);
}

static void put_json_further_tables(const tkt_document *document, tkt_writer *writer)
{
    tkt_writer_text(writer, ",\n \"tables\": {");
    for (size_t i = 1; i < document->table_count; i++) {
        tkt_writer_format(writer, "%s\"%s\": {", i > 1 ? ",\n " : "", document->tables[i].key);
        if (document->tables[i].heading) {
            tkt_writer_text(writer, "\"heading\": ");
            tkt_put_json(writer, document->tables[i].heading);
            tkt_writer_text(writer, ",\n ");
        }
        put_json_table(&document->tables[i], writer);
        tkt_writer_text(writer, "}");
    }
    tkt_writer_text(writer, "}");
}

static void put_json_facts(const tkt_document *document, tkt_writer *writer)
{
    tkt_writer_text(writer, ",\n \"facts\": {");
    for (size_t i = 0; i < document->facts.count; i++) {
        const tkt_fact *fact = &document->facts.items[i];
        tkt_writer_format(writer, "%s\"%s\": ", i ? ", " : "", fact->key);
        put_json_value(writer, fact->type, fact->value);
    }
    tkt_writer_text(writer, "}");
}

static void put_json_notes(const tkt_document *document, tkt_writer *writer)
{
    tkt_writer_text(writer, ",\n \"notes\": [");
    for (size_t i = 0; i < document->notes.count; i++) {
        tkt_writer_text(writer, i ? ", " : "");
        tkt_put_json(writer, document->notes.items[i].text);
    }
    tkt_writer_text(writer, "]");
}

void tkt_render_json(const tkt_document *document, tkt_writer *writer)
{
    tkt_writer_format(writer, "{\"report\": \"%s\",\n ", document->name);
    if (document->headline) {
        tkt_writer_text(writer, "\"headline\": ");
        tkt_put_json(writer, document->headline);
        tkt_writer_text(writer, ",\n ");
    }
    put_json_table(&document->tables[0], writer);
    if (document->table_count > 1)
        put_json_further_tables(document, writer);
    put_json_facts(document, writer);
    put_json_notes(document, writer);
    if (document->trace) {
        tkt_writer_text(writer, ",\n \"provenance\": ");
        tkt_put_provenance_json(writer, document->trace);
    }
    tkt_writer_text(writer, "}\n");
}

/* ======== Markdown ======== */

/* GitHub's Markdown. Names are arbitrary, so all special characters are escaped: a pipe would start
 * a new column, and the <4> of a template would disappear as an HTML tag. */

#define MOST_INDENT 20 /* levels of a tree */

static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (unsigned char)c > 127;
}

/* Underscores inside a word, as in compute_forces, have no special meaning. */
static bool needs_escape(char before, char c, char after)
{
    if (c == '_')
        return !is_word(before) || !is_word(after);
    return c != '\0' && strchr("|\\`*<>[]&~", c) != NULL;
}

static void put_markdown_text(tkt_writer *writer, const char *text)
{
    size_t size = strlen(text);
    char before = ' ';
    while (size > 0) {
        size_t plain = tkt_text_piece(text, size);
        for (size_t i = 0; i < plain; i++) {
            if (needs_escape(i ? text[i - 1] : before, text[i], text[i + 1]))
                plain = i;
        }
        tkt_put_printable(writer, text, plain);
        before = plain ? text[plain - 1] : before;
        text += plain;
        size -= plain;
        if (size > 0 && needs_escape(before, text[0], text[1])) {
            tkt_writer_format(writer, "\\%c", text[0]);
            before = *text++;
            size--;
        }
    }
}

static void put_markdown_cell(tkt_writer *writer, const tkt_table *table, size_t row, size_t number)
{
    const tkt_cell *cell = &tkt_table_row(table, row)[number];
    char value[TKT_VALUE_SIZE];
    const char *words = tkt_value_words(table->columns[number].type, *cell);
    if (!words) {
        tkt_column_text(value, &table->columns[number], *cell);
        tkt_writer_text(writer, value);
        return;
    }
    /* Markdown drops leading blanks of a cell, but not these. */
    uint32_t depth = table->places && number == 0 ? table->places[table->order[row]].depth : 0;
    for (uint32_t i = 0; i < depth && i < MOST_INDENT; i++)
        tkt_writer_text(writer, "&nbsp;&nbsp;");
    put_markdown_text(writer, words);
}

static bool is_shown(const tkt_column *column)
{
    return column->rank != TKT_HIDDEN;
}

static void put_markdown_table(const tkt_table *table, tkt_writer *writer)
{
    for (size_t i = 0; i < table->column_count; i++) {
        if (is_shown(&table->columns[i]))
            tkt_writer_format(writer, "| %s ", table->columns[i].title);
    }
    tkt_writer_text(writer, "|\n");
    for (size_t i = 0; i < table->column_count; i++) {
        if (is_shown(&table->columns[i]))
            tkt_writer_text(writer, tkt_column_is_text(&table->columns[i]) ? "| :-- " : "| --: ");
    }
    tkt_writer_text(writer, "|\n");
    for (size_t row = 0; row < table->shown; row++) {
        for (size_t i = 0; i < table->column_count; i++) {
            if (!is_shown(&table->columns[i]))
                continue;
            tkt_writer_text(writer, "| ");
            put_markdown_cell(writer, table, row, i);
            tkt_writer_text(writer, " ");
        }
        tkt_writer_text(writer, "|\n");
    }
    tkt_writer_text(writer, "\n");
    if (table->shown < table->all_rows)
        tkt_writer_format(writer, "%zu of %zu rows shown\n\n", table->shown, table->all_rows);
}

static void put_markdown_tables(const tkt_document *document, bool heads, tkt_writer *writer)
{
    for (size_t i = 0; i < document->table_count; i++) {
        const tkt_table *table = &document->tables[i];
        if (table->is_head != heads || table->is_raw ||
            (table->is_hidden_empty && table->all_rows == 0))
            continue;
        if (table->heading)
            tkt_writer_format(writer, "**%s**\n\n", table->heading);
        put_markdown_table(table, writer);
    }
}

static void put_markdown_facts(const tkt_document *document, tkt_writer *writer)
{
    char value[TKT_VALUE_SIZE];
    for (size_t i = 0; i < document->facts.count; i++) {
        const tkt_fact *fact = &document->facts.items[i];
        if (!fact->label)
            continue;
        tkt_writer_format(writer, "- %s: ", fact->label);
        if (fact->type == TKT_CELL_TEXT) {
            put_markdown_text(writer, fact->value.text);
        } else {
            tkt_value_text(value, fact->type, fact->value);
            tkt_writer_text(writer, value);
        }
        tkt_writer_text(writer, "\n");
    }
    if (document->facts.count > 0)
        tkt_writer_text(writer, "\n");
}

static void put_markdown_notes(const tkt_document *document, tkt_writer *writer)
{
    for (size_t i = 0; i < document->notes.count; i++) {
        tkt_writer_text(writer, "- ");
        put_markdown_text(writer, document->notes.items[i].text);
        tkt_writer_text(writer, "\n");
    }
    if (document->notes.count > 0)
        tkt_writer_text(writer, "\n");
}

void tkt_render_markdown(const tkt_document *document, tkt_writer *writer)
{
    char ending[TKT_ENDING_SIZE];
    if (document->trace && *tkt_ending_text(ending, document->trace)) {
        tkt_writer_text(writer, "> ");
        put_markdown_text(writer, ending);
        tkt_writer_text(writer, "\n\n");
    }
    if (document->headline) {
        tkt_writer_text(writer, "**");
        put_markdown_text(writer, document->headline);
        tkt_writer_text(writer, "**\n\n");
    }
    if (document->subline) {
        put_markdown_text(writer, document->subline);
        tkt_writer_text(writer, "\n\n");
    }
    if (document->is_page)
        put_markdown_facts(document, writer);
    put_markdown_tables(document, true, writer);
    put_markdown_tables(document, false, writer);
    if (!document->is_page)
        put_markdown_facts(document, writer);
    put_markdown_notes(document, writer);
    if (document->trace && document->part == TKT_ALL)
        tkt_put_provenance(writer, document->trace, SIZE_MAX);
}
