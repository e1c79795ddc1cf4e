/* Building documents. What is small and may fail for want of memory leaves the failure in the
 * document's status, so that a report's function reads as a list of what it shows. */
#include "report/table.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void tkt_document_init(tkt_document *document, const char *name, const takt_trace *trace)
{
    *document = (tkt_document){.name = name, .trace = trace, .status = TAKT_OK};
}

void tkt_document_fini(tkt_document *document)
{
    for (size_t i = 0; i < document->table_count; i++) {
        tkt_free(document->tables[i].cells);
        tkt_free(document->tables[i].places);
        tkt_free(document->tables[i].order);
        tkt_free(document->tables[i].colors);
    }
    TKT_ARRAY_FREE(&document->facts);
    TKT_ARRAY_FREE(&document->notes);
    tkt_arena_fini(&document->texts);
}

tkt_table *tkt_document_add_table(tkt_document *document, const char *key,
                                  const tkt_column *columns, size_t column_count, size_t rows)
{
    assert(document->table_count < TKT_MAX_TABLES && column_count <= TKT_MAX_COLUMNS);
    tkt_cell *cells = tkt_alloc((rows * column_count + 1) * sizeof *cells);
    if (!cells) {
        document->status = TAKT_NO_MEMORY;
        return NULL;
    }
    tkt_table *table = &document->tables[document->table_count++];
    *table = (tkt_table){.key = key,
                         .weight = TKT_NO_COLUMN,
                         .sort = TKT_NO_COLUMN,
                         .default_rows = SIZE_MAX,
                         .column_count = column_count,
                         .cells = cells,
                         .row_capacity = rows,
                         .all_rows = rows};
    memcpy(table->columns, columns, column_count * sizeof *columns);
    return table;
}

bool tkt_table_make_tree(tkt_table *table)
{
    table->places = tkt_alloc((table->row_capacity + 1) * sizeof *table->places);
    return table->places != NULL;
}

tkt_cell *tkt_table_add_row(tkt_table *table)
{
    assert(table->row_count < table->row_capacity);
    return table->cells + table->row_count++ * table->column_count;
}

void tkt_table_add_chosen(tkt_table *table, const tkt_cell *cells, const uint8_t *from)
{
    tkt_cell *row = tkt_table_add_row(table);
    for (size_t i = 0; i < table->column_count; i++)
        row[i] = cells[from[i]];
}

void tkt_document_add_fact(tkt_document *document, const char *key, const char *label,
                           tkt_cell_type type, tkt_cell value)
{
    tkt_fact *fact = TKT_ARRAY_ADD(&document->facts);
    if (fact)
        *fact = (tkt_fact){key, label, type, value};
    else
        document->status = TAKT_NO_MEMORY;
}

const char *tkt_document_copy(tkt_document *document, const char *text, size_t size)
{
    const char *copy = tkt_arena_copy(&document->texts, text, size);
    if (!copy)
        document->status = TAKT_NO_MEMORY;
    return copy ? copy : "";
}

static void add_note(tkt_document *document, const char *column, const char *format,
                     va_list arguments)
{
    char text[1024];
    vsnprintf(text, sizeof text, format, arguments);

    tkt_table_note *note = TKT_ARRAY_ADD(&document->notes);
    if (note)
        *note = (tkt_table_note){tkt_document_copy(document, text, strlen(text)), column};
    else
        document->status = TAKT_NO_MEMORY;
}

void tkt_document_add_note(tkt_document *document, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_note(document, NULL, format, arguments);
    va_end(arguments);
}

void tkt_document_explain(tkt_document *document, const char *column, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_note(document, column, format, arguments);
    va_end(arguments);
}

const char *tkt_table_keys(const tkt_table *table, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < table->column_count && used < size; i++) {
        if (table->columns[i].key)
            used += (size_t)snprintf(out + used, size - used, "%s%s", used ? "," : "",
                                     table->columns[i].key);
    }
    return out;
}
