/* Builds tables, and selects and sorts their rows before rendering. */
#include "report/table.h"

#include <assert.h>
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ======== Building ======== */

/* Building documents. Small additions that run out of memory set the document's status, so a
 * report's function does not have to check each of them. */

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

size_t tkt_column_text(char *out, const tkt_column *column, tkt_cell cell)
{
    static const double units[] = {1, 1e3, 1e6, 1e9, 1e12, 1e15};
    if (column->type == TKT_CELL_NUMBER)
        cell.d /= units[column->unit - 1];
    return tkt_value_text(out, column->type, cell);
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
                         .shade = TKT_NO_COLUMN,
                         .sort = TKT_NO_COLUMN,
                         .default_rows = SIZE_MAX,
                         .column_count = column_count,
                         .cells = cells,
                         .row_capacity = rows};
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

void tkt_table_hide_empty(tkt_table *table, size_t column)
{
    tkt_cell_type type = table->columns[column].type;
    for (size_t i = 0; i < table->row_count; i++)
        if (!tkt_value_is_none(type, table->cells[i * table->column_count + column]))
            return;
    table->columns[column].rank = TKT_HIDDEN;
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

static void add_note(tkt_document *document, const char *column, bool is_command,
                     const char *format, va_list arguments)
{
    char text[1024];
    vsnprintf(text, sizeof text, format, arguments);

    tkt_table_note *note = TKT_ARRAY_ADD(&document->notes);
    if (note)
        *note =
            (tkt_table_note){tkt_document_copy(document, text, strlen(text)), column, is_command};
    else
        document->status = TAKT_NO_MEMORY;
}

void tkt_document_set_headline(tkt_document *document, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    document->headline = tkt_document_copy(document, text, strlen(text));
}

void tkt_document_add_note(tkt_document *document, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_note(document, NULL, false, format, arguments);
    va_end(arguments);
}

void tkt_document_add_command(tkt_document *document, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_note(document, NULL, true, format, arguments);
    va_end(arguments);
}

void tkt_document_explain(tkt_document *document, const char *column, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_note(document, column, false, format, arguments);
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

/* ======== Selecting and sorting rows ======== */

/* Rows are sorted by a merge sort of their numbers. It is stable, so equal rows keep their order,
 * and it uses memory from the host's allocator. A tree is sorted among the children of each row. If
 * a tree has too many rows, those with the least weight are dropped; no row outweighs its
 * parent. */

typedef struct sorting {
    const tkt_table *table;
    size_t column;
    bool is_ascending;
} sorting;

/* Missing values come last in both directions. */
static bool comes_before(const sorting *by, uint32_t a, uint32_t b)
{
    const tkt_table *table = by->table;
    tkt_cell_type type = table->columns[by->column].type;
    tkt_cell first = table->cells[a * table->column_count + by->column];
    tkt_cell second = table->cells[b * table->column_count + by->column];
    bool no_first = tkt_value_is_none(type, first), no_second = tkt_value_is_none(type, second);
    if (no_first || no_second)
        return no_second && !no_first;
    int order = tkt_value_compare(type, first, second);
    return by->is_ascending ? order < 0 : order > 0;
}

static void merge(const sorting *by, const uint32_t *from, size_t middle, size_t count,
                  uint32_t *into)
{
    size_t left = 0;
    size_t right = middle;
    for (size_t i = 0; i < count; i++) {
        bool takes_right =
            left == middle || (right < count && comes_before(by, from[right], from[left]));
        into[i] = takes_right ? from[right++] : from[left++];
    }
}

/* Sorts row numbers; `spare` has the same size. */
static void sort_rows(const sorting *by, uint32_t *rows, uint32_t *spare, size_t count)
{
    for (size_t run = 1; run < count; run *= 2) {
        for (size_t begin = 0; begin < count; begin += 2 * run) {
            size_t size = count - begin < 2 * run ? count - begin : 2 * run;
            size_t middle = size < run ? size : run;
            merge(by, rows + begin, middle, size, spare + begin);
        }
        memcpy(rows, spare, count * sizeof *rows);
    }
}

/* Keeps the `limit` rows with the greatest weight whose parents are kept too, in order of their
 * numbers. */
static void prune_tree(tkt_table *table, size_t limit, uint32_t *spare)
{
    if (limit >= table->shown)
        return;
    sorting by = {table, table->weight, false};
    sort_rows(&by, table->order, spare, table->shown);
    memset(spare, 0, table->shown * sizeof *spare);
    for (size_t i = 0; i < limit; i++)
        spare[table->order[i]] = 1;
    table->shown = 0;
    for (uint32_t row = 0; row < table->row_count; row++) {
        uint32_t parent = table->places[row].parent;
        spare[row] = spare[row] && (parent == TKT_NO_ROW_ABOVE || spare[parent]);
        if (spare[row])
            table->order[table->shown++] = row;
    }
}

/* Puts sorted rows into preorder. `links` has space for two numbers per row and two more. */
static void hang_tree(tkt_table *table, uint32_t *links)
{
    uint32_t top = (uint32_t)table->row_count;
    uint32_t *first_child = links;
    uint32_t *next_sibling = links + top + 1;
    memset(links, 0xFF, 2 * ((size_t)top + 1) * sizeof *links);
    for (size_t i = table->shown; i-- > 0;) {
        uint32_t row = table->order[i];
        uint32_t parent = table->places[row].parent;
        uint32_t *list = &first_child[parent == TKT_NO_ROW_ABOVE ? top : parent];
        next_sibling[row] = *list;
        *list = row;
    }
    size_t count = 0;
    uint32_t row = first_child[top];
    while (row != TKT_NO_ROW_ABOVE) {
        table->order[count++] = row;
        uint32_t next = first_child[row];
        while (next == TKT_NO_ROW_ABOVE && row != TKT_NO_ROW_ABOVE) {
            next = next_sibling[row];
            row = table->places[row].parent;
        }
        row = next;
    }
}

static takt_status arrange(tkt_table *table, const sorting *by, size_t limit)
{
    size_t count = table->row_count;
    if (table->all_rows < count)
        table->all_rows = count;
    table->order = tkt_alloc((count + 1) * sizeof *table->order);
    uint32_t *spare = tkt_alloc(2 * (count + 1) * sizeof *spare);
    if (!table->order || !spare) {
        tkt_free(spare);
        return TAKT_NO_MEMORY;
    }
    for (size_t i = 0; i < count; i++)
        table->order[i] = (uint32_t)i;
    table->shown = count;
    if (table->places)
        prune_tree(table, limit, spare);
    if (by->column != TKT_NO_COLUMN)
        sort_rows(by, table->order, spare, table->shown);
    if (table->places)
        hang_tree(table, spare);
    else if (limit < count)
        table->shown = limit;
    tkt_free(spare);
    return TAKT_OK;
}

/* True if the texts are equal but for case, and '_' in place of a blank. */
static bool is_same_title(const char *title, const char *name)
{
    for (; *title && *name; title++, name++) {
        char a = *title == ' ' ? '_' : *title, b = *name == ' ' ? '_' : *name;
        if (tolower((unsigned char)a) != tolower((unsigned char)b))
            return false;
    }
    return *title == *name;
}

/* Returns the column with this key or title. */
static size_t find_column(const tkt_column *columns, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        const tkt_column *column = &columns[i];
        if (column->key && (strcmp(column->key, name) == 0 || is_same_title(column->title, name)))
            return i;
    }
    return TKT_NO_COLUMN;
}

takt_status tkt_document_seek(tkt_document *document, const tkt_column *columns, size_t count)
{
    size_t column = find_column(columns, count, document->sought);
    if (column != TKT_NO_COLUMN)
        document->found = columns[column].key;
    return TAKT_OK;
}

static size_t row_limit(const tkt_table *table, int64_t rows)
{
    if (table->is_head)
        return SIZE_MAX;
    if (rows == 0)
        return table->default_rows;
    return rows < 0 ? SIZE_MAX : (size_t)rows;
}

takt_status tkt_document_arrange(tkt_document *document, const char *sort, int64_t rows)
{
    bool is_ascending = sort && *sort == '-';
    const char *name = is_ascending ? sort + 1 : sort;
    bool is_known = !sort;
    takt_status status = TAKT_OK;
    for (size_t i = 0; i < document->table_count && status == TAKT_OK; i++) {
        tkt_table *table = &document->tables[i];
        sorting by = {table, table->sort, false};
        size_t column = sort && !table->is_head
                            ? find_column(table->columns, table->column_count, name)
                            : TKT_NO_COLUMN;
        if (column != TKT_NO_COLUMN) {
            by = (sorting){table, column, is_ascending};
            is_known = true;
        }
        status = arrange(table, &by, row_limit(table, rows));
    }
    if (status == TAKT_OK && !is_known)
        return TAKT_BAD_ARGUMENT;
    return status;
}
