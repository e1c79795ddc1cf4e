/* Tables that the command computes itself, printed as the library prints its reports: the same
 * layout, units and JSON. */
#ifndef TAKT_CLI_TABLE_H
#define TAKT_CLI_TABLE_H

#include <takt/report.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef enum cli_cell_type {
    CLI_CELL_TEXT,
    CLI_CELL_COUNT,
    CLI_CELL_TIME,    /* ns: "1.234ms" */
    CLI_CELL_CHANGE,  /* ns more or less: "+1.234ms" */
    CLI_CELL_PERCENT, /* more or less: "+1.23%" */
    CLI_CELL_CHANCE   /* a p value: "0.0123", "<0.0001" */
} cli_cell_type;

/* NULL and NaN: there is none. */
typedef struct cli_cell {
    const char *text; /* borrowed */
    double      number;
    const char *data; /* a text's value in JSON, such as 12 or true; NULL, "": it is the text */
} cli_cell;

enum {
    CLI_MOST_COLUMNS = 24,
    CLI_HIDDEN = 255,  /* a rank: only in JSON and CSV */
    CLI_SHOWN_ONLY = 128 /* added to a rank: only in text and Markdown */
};

typedef struct cli_column {
    const char   *title;
    const char   *key; /* as JSON and CSV spell it */
    cli_cell_type type;
    unsigned      rank; /* where the width is short, those of the greatest go first; 0 stays */
} cli_column;

typedef struct cli_table {
    const char       *key;     /* JSON's name of a further table */
    const cli_column *columns;
    size_t            column_count;
    cli_cell         *cells; /* row by row; the owner frees them */
    size_t            row_count;
    const char      **colors; /* of rows: an escape sequence or NULL; NULL: none at all */
    size_t           *order;  /* rows to show; NULL: all, as they are */
    size_t            shown;
} cli_table;

/* The main table, another one above it, and sentences below. */
typedef struct cli_document {
    const char        *name;  /* "diff" */
    cli_table          main;
    cli_table          above;
    const char *const *notes; /* up to NULL */
} cli_document;

/* Room for `rows`. False: no memory. */
bool cli_table_init(cli_table *table, const char *key, const cli_column *columns,
                    size_t column_count, size_t rows);
void cli_table_free(cli_table *table);

/* Sorts by the column of that key, "-key": ascending; changes by their size. Keeps at most `rows` of them; -1: all.
 * TAKT_BAD_ARGUMENT: there is no such column; TAKT_NO_MEMORY. */
takt_status cli_table_arrange(cli_table *table, const char *sort, int64_t rows);

/* Prints to standard output; nothing, if there is no memory. */
takt_status cli_document_print(const cli_document *document, const takt_report_options *options);

/* ---- Between the renderers ---- */

/* A number as people see it, "" where there is none. Returns `out`. */
const char *cli_cell_shown(char *out, size_t size, cli_cell_type type, double number);

static inline const cli_cell *cli_table_row(const cli_table *table, size_t shown)
{
    return table->cells + (table->order ? table->order[shown] : shown) * table->column_count;
}

/* `none` where there is no number; a text quoted and escaped, or null. */
void cli_put_number(double number, const char *none);
void cli_put_json_text(const char *text);

/* `text` has room for any one text of the document. */
void cli_render_text(const cli_document *document, const takt_report_options *options, char *text,
                     size_t size);
void cli_render_markdown(const cli_document *document, char *text, size_t size);
void cli_render_csv(const cli_document *document, char *text, size_t size);
void cli_render_json(const cli_document *document);

#endif
