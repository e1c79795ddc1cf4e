/* Reports as JSON (RFC 8259), one object:
 *
 *     {"report": "scopes",
 *      "columns": ["name", "self_cpu_percent", "self_cpu_ns", ...],
 *      "titles": ["Name", "Self CPU %", ...],           of the columns, as the text has them
 *      "rows": [{"name": "step", "self_cpu_percent": 12.5, "self_cpu_ns": 1234, ...}, ...],
 *      "row_count": 12,                  rows that there are, shown or not
 *      "tables": {"jumps": {"heading": "Largest ...", "columns": ..., ...}},
 *      "facts": {"self_cpu_total_ns": 9876},
 *      "notes": ["..."],
 *      "provenance": {"backend": "none", ..., "losses": {"dropped": 0, ...}}}
 *
 * Times are integers in ns, shares are percent, values that there are none of are null. */
#include "report/provenance.h"
#include "report/table.h"

static void put_value(tkt_writer *writer, tkt_cell_type type, tkt_cell cell)
{
    char raw[TKT_VALUE_SIZE];
    const char *words = tkt_value_is_none(type, cell) ? NULL : tkt_value_words(type, cell);
    size_t size = tkt_value_raw(raw, type, cell);
    if (words && size == 0)
        tkt_put_json(writer, words);
    else
        tkt_writer_text(writer, size ? raw : "null");
}

static void put_row(const tkt_table *table, const tkt_cell *cells, tkt_writer *writer)
{
    const char *between = "{";
    for (size_t i = 0; i < table->column_count; i++) {
        if (!table->columns[i].key)
            continue;
        tkt_writer_format(writer, "%s\"%s\": ", between, table->columns[i].key);
        between = ", ";
        put_value(writer, table->columns[i].type, cells[i]);
    }
    tkt_writer_text(writer, "}");
}

static void put_names(const tkt_table *table, const char *between, bool titles, tkt_writer *writer)
{
    for (size_t i = 0; i < table->column_count; i++) {
        const tkt_column *column = &table->columns[i];
        if (!column->key)
            continue;
        tkt_writer_format(writer, "%s\"%s\"", between, titles ? column->title : column->key);
        between = ", ";
    }
}

/* The members of a table, without the braces around them. */
static void put_table(const tkt_table *table, tkt_writer *writer)
{
    put_names(table, "\"columns\": [", false, writer);
    put_names(table, "],\n \"titles\": [", true, writer);
    tkt_writer_text(writer, "],\n \"rows\": [");
    for (size_t i = 0; i < table->shown; i++) {
        tkt_writer_text(writer, i ? ",\n  " : "\n  ");
        put_row(table, tkt_table_row(table, i), writer);
    }
    tkt_writer_format(writer, "],\n \"row_count\": %zu", table->all_rows);
}

static void put_further_tables(const tkt_document *document, tkt_writer *writer)
{
    tkt_writer_text(writer, ",\n \"tables\": {");
    for (size_t i = 1; i < document->table_count; i++) {
        tkt_writer_format(writer, "%s\"%s\": {", i > 1 ? ",\n " : "", document->tables[i].key);
        if (document->tables[i].heading) {
            tkt_writer_text(writer, "\"heading\": ");
            tkt_put_json(writer, document->tables[i].heading);
            tkt_writer_text(writer, ",\n ");
        }
        put_table(&document->tables[i], writer);
        tkt_writer_text(writer, "}");
    }
    tkt_writer_text(writer, "}");
}

static void put_facts(const tkt_document *document, tkt_writer *writer)
{
    tkt_writer_text(writer, ",\n \"facts\": {");
    for (size_t i = 0; i < document->facts.count; i++) {
        const tkt_fact *fact = &document->facts.items[i];
        tkt_writer_format(writer, "%s\"%s\": ", i ? ", " : "", fact->key);
        put_value(writer, fact->type, fact->value);
    }
    tkt_writer_text(writer, "}");
}

static void put_notes(const tkt_document *document, tkt_writer *writer)
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
    put_table(&document->tables[0], writer);
    if (document->table_count > 1)
        put_further_tables(document, writer);
    put_facts(document, writer);
    put_notes(document, writer);
    if (document->trace) {
        tkt_writer_text(writer, ",\n \"provenance\": ");
        tkt_put_provenance_json(writer, document->trace);
    }
    tkt_writer_text(writer, "}\n");
}
