/* Tables as CSV (RFC 4180): a header of the columns' keys, raw values, lines that end with CR LF.
 * It holds tables and nothing else, so that every reader takes it; a further table of the same
 * report follows after an empty line. Facts of a page come first, as a table of their own. */
#include "report/table.h"

#include <string.h>

static void put_end(tkt_writer *writer)
{
    tkt_writer_text(writer, "\r\n");
}

/* Quotes are doubled. A text may have megabytes, so it is looked at piece by piece. */
static void put_quoted(tkt_writer *writer, const char *text)
{
    size_t size = strlen(text);
    tkt_writer_text(writer, "\"");
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
    tkt_writer_text(writer, "\"");
}

/* Control characters become harmless, so line breaks need no quotes. */
static void put_text(tkt_writer *writer, const char *text)
{
    if (strpbrk(text, "\","))
        put_quoted(writer, text);
    else
        tkt_put_printable(writer, text, strlen(text));
}

static void put_value(tkt_writer *writer, tkt_cell_type type, tkt_cell cell)
{
    char raw[TKT_VALUE_SIZE];
    size_t size = tkt_value_raw(raw, type, cell);
    const char *words = tkt_value_words(type, cell);
    if (words && size == 0)
        put_text(writer, words);
    else
        tkt_writer_put(writer, raw, size);
}

static void put_facts(const tkt_document *document, tkt_writer *writer)
{
    tkt_writer_text(writer, "fact,value\r\n");
    for (size_t i = 0; i < document->facts.count; i++) {
        const tkt_fact *fact = &document->facts.items[i];
        tkt_writer_format(writer, "%s,", fact->key);
        put_value(writer, fact->type, fact->value);
        put_end(writer);
    }
    put_end(writer);
}

static void put_table(const tkt_table *table, tkt_writer *writer)
{
    const char *between = "";
    for (size_t i = 0; i < table->column_count; i++) {
        if (!table->columns[i].key)
            continue;
        tkt_writer_format(writer, "%s%s", between, table->columns[i].key);
        between = ",";
    }
    put_end(writer);
    for (size_t row = 0; row < table->shown; row++) {
        const tkt_cell *cells = tkt_table_row(table, row);
        between = "";
        for (size_t i = 0; i < table->column_count; i++) {
            if (!table->columns[i].key)
                continue;
            tkt_writer_text(writer, between);
            between = ",";
            put_value(writer, table->columns[i].type, cells[i]);
        }
        put_end(writer);
    }
}

void tkt_render_csv(const tkt_document *document, tkt_writer *writer)
{
    if (document->is_page)
        put_facts(document, writer);
    for (size_t i = 0; i < document->table_count; i++) {
        if (document->tables[i].is_head)
            continue;
        if (i > 0)
            put_end(writer);
        put_table(&document->tables[i], writer);
    }
}
