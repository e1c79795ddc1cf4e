/* Tables as GitHub's Markdown. Names are arbitrary, so every character with a meaning is escaped:
 * a pipe would begin a new column, and the <4> of a template would vanish as an HTML tag. */
#include "report/provenance.h"
#include "report/table.h"

#include <string.h>

#define MOST_INDENT 20 /* levels */

static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (unsigned char)c > 127;
}

/* Underscores within a word, as in compute_forces, mean nothing. */
static bool needs_escape(char before, char c, char after)
{
    if (c == '_')
        return !is_word(before) || !is_word(after);
    return c != '\0' && strchr("|\\`*<>[]&~", c) != NULL;
}

static void put_text(tkt_writer *writer, const char *text)
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

static void put_cell(tkt_writer *writer, const tkt_table *table, size_t row, size_t number)
{
    const tkt_cell *cell = &tkt_table_row(table, row)[number];
    char value[TKT_VALUE_SIZE];
    const char *words = tkt_value_words(table->columns[number].type, *cell);
    if (!words) {
        tkt_column_text(value, &table->columns[number], *cell);
        tkt_writer_text(writer, value);
        return;
    }
    /* Blanks at the beginning of a cell are lost; these are not. */
    uint32_t depth = table->places && number == 0 ? table->places[table->order[row]].depth : 0;
    for (uint32_t i = 0; i < depth && i < MOST_INDENT; i++)
        tkt_writer_text(writer, "&nbsp;&nbsp;");
    put_text(writer, words);
}

static bool is_shown(const tkt_column *column)
{
    return column->rank != TKT_HIDDEN;
}

static void put_table(const tkt_table *table, tkt_writer *writer)
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
            put_cell(writer, table, row, i);
            tkt_writer_text(writer, " ");
        }
        tkt_writer_text(writer, "|\n");
    }
    tkt_writer_text(writer, "\n");
    if (table->shown < table->all_rows)
        tkt_writer_format(writer, "%zu of %zu rows shown\n\n", table->shown, table->all_rows);
}

static void put_tables(const tkt_document *document, bool heads, tkt_writer *writer)
{
    for (size_t i = 0; i < document->table_count; i++) {
        const tkt_table *table = &document->tables[i];
        if (table->is_head != heads || table->is_raw ||
            (table->is_hidden_empty && table->all_rows == 0))
            continue;
        if (table->heading)
            tkt_writer_format(writer, "**%s**\n\n", table->heading);
        put_table(table, writer);
    }
}

static void put_facts(const tkt_document *document, tkt_writer *writer)
{
    char value[TKT_VALUE_SIZE];
    for (size_t i = 0; i < document->facts.count; i++) {
        const tkt_fact *fact = &document->facts.items[i];
        if (!fact->label)
            continue;
        tkt_writer_format(writer, "- %s: ", fact->label);
        if (fact->type == TKT_CELL_TEXT) {
            put_text(writer, fact->value.text);
        } else {
            tkt_value_text(value, fact->type, fact->value);
            tkt_writer_text(writer, value);
        }
        tkt_writer_text(writer, "\n");
    }
    if (document->facts.count > 0)
        tkt_writer_text(writer, "\n");
}

static void put_notes(const tkt_document *document, tkt_writer *writer)
{
    for (size_t i = 0; i < document->notes.count; i++) {
        tkt_writer_text(writer, "- ");
        put_text(writer, document->notes.items[i].text);
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
        put_text(writer, ending);
        tkt_writer_text(writer, "\n\n");
    }
    if (document->is_page)
        put_facts(document, writer);
    put_tables(document, true, writer);
    put_tables(document, false, writer);
    if (!document->is_page)
        put_facts(document, writer);
    put_notes(document, writer);
    if (document->trace)
        tkt_put_provenance(writer, document->trace, SIZE_MAX);
}
