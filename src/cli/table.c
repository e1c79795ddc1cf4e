/* Tables of the command: rows in order, and values as people read them. */
#include "cli/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    NUMBER = 48 /* bytes of a number as it is shown */
};

bool cli_table_init(cli_table *table, const char *key, const cli_column *columns,
                    size_t column_count, size_t rows)
{
    *table = (cli_table){.key = key,
                         .columns = columns,
                         .column_count = column_count,
                         .row_count = rows,
                         .shown = rows};
    table->cells = calloc(rows * column_count + 1, sizeof *table->cells);
    return table->cells != NULL;
}

void cli_table_free(cli_table *table)
{
    free(table->cells);
    free(table->colors);
    free(table->order);
    *table = (cli_table){0};
}

/* ---- Order ---- */

typedef struct sort_key {
    const char *text;
    double number;
    bool is_text;
    bool is_ascending;
    size_t row;
} sort_key;

static bool is_none(const sort_key *key)
{
    return key->is_text ? !key->text : isnan(key->number);
}

/* Of a change its size counts, whichever way it goes. */
static double weight_of(const cli_column *column, cli_cell cell)
{
    bool is_change = column->type == CLI_CELL_CHANGE || column->type == CLI_CELL_PERCENT;
    return is_change ? fabs(cell.number) : cell.number;
}

/* What has no value comes last; equal rows stay in their order. */
static int compare_keys(const void *first, const void *second)
{
    const sort_key *a = first, *b = second;
    int order = is_none(a) - is_none(b);

    if (order == 0 && !is_none(a)) {
        order = a->is_text ? strcmp(a->text, b->text)
                           : (a->number > b->number) - (a->number < b->number);
        order = a->is_ascending ? order : -order;
    }
    return order ? order : (a->row > b->row) - (a->row < b->row);
}

static takt_status sort_rows(cli_table *table, size_t column, bool is_ascending)
{
    sort_key *keys = malloc((table->row_count + 1) * sizeof *keys);
    if (!keys)
        return TAKT_NO_MEMORY;
    for (size_t i = 0; i < table->row_count; i++) {
        cli_cell cell = table->cells[i * table->column_count + column];
        keys[i] = (sort_key){.text = cell.text,
                             .number = weight_of(&table->columns[column], cell),
                             .is_text = table->columns[column].type == CLI_CELL_TEXT,
                             .is_ascending = is_ascending,
                             .row = i};
    }
    qsort(keys, table->row_count, sizeof *keys, compare_keys);
    for (size_t i = 0; i < table->row_count; i++)
        table->order[i] = keys[i].row;
    free(keys);
    return TAKT_OK;
}

takt_status cli_table_arrange(cli_table *table, const char *sort, int64_t rows)
{
    bool is_ascending = sort[0] == '-';
    size_t column = 0;

    while (column < table->column_count &&
           (table->columns[column].rank == CLI_SHOWN_ONLY ||
            strcmp(table->columns[column].key, sort + is_ascending) != 0))
        column++;
    if (column == table->column_count)
        return TAKT_BAD_ARGUMENT;
    table->order = malloc((table->row_count + 1) * sizeof *table->order);
    if (!table->order)
        return TAKT_NO_MEMORY;
    if (rows >= 0 && (uint64_t)rows < table->row_count)
        table->shown = (size_t)rows;
    return sort_rows(table, column, is_ascending);
}

/* ---- Values ---- */

/* torch's units: us below 1 ms, ms below 1 s, three decimals. */
static void show_time(char *out, size_t size, double ns, const char *sign)
{
    double length = fabs(ns);
    const char *unit = length < 1e6 ? "us" : length < 1e9 ? "ms" : "s";
    double divisor = length < 1e6 ? 1e3 : length < 1e9 ? 1e6 : 1e9;
    snprintf(out, size, "%s%.3f%s", sign, ns / divisor, unit);
}

const char *cli_cell_shown(char *out, size_t size, cli_cell_type type, double number)
{
    const char *sign = number > 0 ? "+" : "";

    out[0] = '\0';
    if (isnan(number))
        return out;
    switch (type) {
    case CLI_CELL_TEXT:
        break;
    case CLI_CELL_COUNT:
        snprintf(out, size, "%.0f", number);
        break;
    case CLI_CELL_TIME:
        show_time(out, size, number, "");
        break;
    case CLI_CELL_CHANGE:
        show_time(out, size, number, sign);
        break;
    case CLI_CELL_PERCENT:
        snprintf(out, size, "%s%.2f%%", sign, number);
        break;
    case CLI_CELL_CHANCE:
        snprintf(out, size, number < 0.0001 ? "<0.0001" : "%.4f", number);
        break;
    }
    return out;
}

/* The bytes of the longest text of a table, its end included, or `least`. */
static size_t longest_of(const cli_table *table, size_t least)
{
    size_t longest = least;
    for (size_t i = 0; i < table->row_count * table->column_count; i++) {
        size_t size = table->cells[i].text ? strlen(table->cells[i].text) + 1 : 0;
        longest = size > longest ? size : longest;
    }
    return longest;
}

static size_t room_for_texts(const cli_document *document)
{
    size_t size = longest_of(&document->main, longest_of(&document->above, NUMBER));
    for (size_t i = 0; document->notes[i]; i++) {
        size_t own = strlen(document->notes[i]) + 1;
        size = own > size ? own : size;
    }
    return size;
}

takt_status cli_document_print(const cli_document *document, const takt_report_options *options)
{
    size_t size = room_for_texts(document);
    char *text = malloc(size);
    if (!text)
        return TAKT_NO_MEMORY;
    switch (options->format) {
    case TAKT_FORMAT_TEXT:
        cli_render_text(document, options, text, size);
        break;
    case TAKT_FORMAT_CSV:
        cli_render_csv(document, text, size);
        break;
    case TAKT_FORMAT_JSON:
        cli_render_json(document);
        break;
    case TAKT_FORMAT_MARKDOWN:
        cli_render_markdown(document, text, size);
        break;
    }
    free(text);
    return TAKT_OK;
}
