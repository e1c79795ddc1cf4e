/* A report before rendering: a document of tables, facts about the whole, and notes. A report's
 * function builds the document, tkt_document_arrange() sorts and limits its tables, and one of four
 * renderers writes it. */
#ifndef TKT_REPORT_TABLE_H
#define TKT_REPORT_TABLE_H

#include "base/containers.h"
#include "base/writer.h"

#include <takt/report.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ======== Values ======== */

/* Formats the values of tables: as text for people, and raw for machines. Nothing here depends on
 * the locale, because a trace must give the same bytes in every program. */

typedef enum tkt_cell_type {
    TKT_CELL_TEXT,   /* text: borrowed from the trace or the document */
    TKT_CELL_COUNT,  /* u */
    TKT_CELL_TIME,   /* u, ns: "1.234ms" */
    TKT_CELL_OFFSET, /* i, ns since the begin of the recording; may be negative */
    TKT_CELL_BYTES,  /* u: "1.50 MiB" */
    TKT_CELL_CHANGE, /* i, bytes, positive or negative */
    TKT_CELL_SHARE,  /* d, 1 is 100 %: "12.34%"; no value: "NaN", as in torch. Raw: percent */
    TKT_CELL_PERCENT, /* d, percent: "12.34%" */
    TKT_CELL_NUMBER, /* d */
    TKT_CELL_LENGTH, /* d, ns with fractions: "1.234ms" */
    TKT_CELL_SHIFT,  /* d, ns, with sign: "+1.234ms" */
    TKT_CELL_GROWTH, /* d, percent, with sign: "+1.23%" */
    TKT_CELL_CHANCE, /* d, a p-value: "0.0123", "<0.0001" */
    TKT_CELL_FACT    /* said: text for people, raw value for CSV and JSON */
} tkt_cell_type;

/* A value that people read as "1.234 s" or "yes" and machines as 1234000000 or true. */
typedef struct tkt_said {
    const char *text;
    const char *raw; /* a JSON number or truth value, shorter than TKT_VALUE_SIZE; "": the text
                      * itself */
} tkt_said;

typedef union tkt_cell {
    const char     *text;
    uint64_t        u;
    int64_t         i;
    double          d;
    const tkt_said *said; /* never NULL */
} tkt_cell;

/* The missing value of a u or an i. A missing text is NULL, a missing d is NaN. People see an empty
 * cell. */
#define TKT_NO_VALUE  UINT64_MAX
#define TKT_NO_SIGNED INT64_MIN

/* Buffer size for every value except texts. */
#define TKT_VALUE_SIZE 48

/* Formats a value for people, with unit and NUL. Returns the length. Not for texts. */
size_t tkt_value_text(char *out, tkt_cell_type type, tkt_cell cell);

static inline size_t tkt_value_time(char *out, uint64_t ns)
{
    return tkt_value_text(out, TKT_CELL_TIME, (tkt_cell){.u = ns});
}

/* Formats a value for machines: integers in ns or bytes, doubles that read back equal. Empty if the
 * value is missing, and for a fact without a raw value. Not for texts. */
size_t tkt_value_raw(char *out, tkt_cell_type type, tkt_cell cell);

/* Formats a number with this many decimals, at most 6. Returns the length. */
size_t tkt_value_fixed(char *out, double value, unsigned decimals);

/* Formats a number of ns with this many decimals, a larger one in us, ms or s with one. */
void tkt_value_precision(char out[TKT_VALUE_SIZE], double ns, unsigned decimals);

bool tkt_value_is_none(tkt_cell_type type, tkt_cell cell);

/* Negative, 0 or positive for a < b, a == b, a > b. Shifts and growths are compared by size,
 * without their sign. Neither value may be missing. */
int tkt_value_compare(tkt_cell_type type, tkt_cell a, tkt_cell b);

/* The words of a text or fact, "" if there are none. NULL for any other type. */
const char *tkt_value_words(tkt_cell_type type, tkt_cell cell);

/* These compute values of cells. */

/* part / whole, or NaN if the whole is 0. */
double tkt_share(uint64_t part, uint64_t whole);

/* The p99 of `count` values. With fewer than these none is shown, since it would be about the
 * maximum. */
#define TKT_P99_LEAST 100
uint64_t tkt_p99_cell(uint64_t count, uint64_t p99_ns);

/* The standard deviation; none for a single value. Values in a file may be wrong. */
uint64_t tkt_deviation_cell(uint64_t count, double deviation);

/* The rounded mean; 0 if count is 0. */
uint64_t tkt_mean(uint64_t total, uint64_t count);

/* The largest of `count` values by their mean; NaN if there is none. */
double tkt_imbalance(uint64_t most, uint64_t sum, uint64_t count);

/* Columns that a text takes on a terminal. Stops counting beyond `most`. */
size_t tkt_text_width(const char *text, size_t most);

/* Copies a name for a sentence; a long one is cut between two characters and ends in "...". Returns
 * out. */
#define TKT_NAME_SIZE 64
const char *tkt_text_name(char out[TKT_NAME_SIZE], const char *name);

/* These write a text: made safe for terminals; as a quoted JSON string; cut to `width` columns,
 * with or without "..." at the end. tkt_put_cut() and tkt_put_columns() return the columns
 * written. */
void tkt_put_printable(tkt_writer *writer, const char *text, size_t size);
void tkt_put_json(tkt_writer *writer, const char *text);
size_t tkt_put_cut(tkt_writer *writer, const char *text, size_t width);
size_t tkt_put_columns(tkt_writer *writer, const char *text, size_t width);
void tkt_put_repeated(tkt_writer *writer, char byte, size_t count);

/* Returns the size of a first piece of the text, which ends between two characters. The piece fits
 * into TKT_PIECE_SIZE bytes even if escaping makes it six times longer. 0 at the end of the
 * text. */
#define TKT_PIECE_SIZE 1024
size_t tkt_text_piece(const char *text, size_t size);

/* ======== Tables ======== */

#define TKT_MAX_COLUMNS 32
#define TKT_MAX_TABLES  5
#define TKT_NO_COLUMN   SIZE_MAX
#define TKT_NO_ROW_ABOVE UINT32_MAX

typedef struct tkt_column {
    const char *title; /* in text and Markdown */
    const char *key;   /* in JSON and CSV; NULL: only for people */
    uint8_t     type;  /* tkt_cell_type */
    /* If the line is too short, columns with the greatest rank are dropped first. Columns of rank 0
     * always stay. Percentages, counts and columns that distinguish rows have small ranks.
     * TKT_HIDDEN: only in CSV and JSON. */
    uint8_t rank;
    bool    is_left; /* aligned left */
    uint8_t unit;    /* people see numbers in this unit: 1 as they are, 2 thousands, 3 millions ... */
} tkt_column;

#define TKT_HIDDEN 255

#define TKT_BILLIONS 4 /* a `unit` */

typedef enum tkt_table_style {
    TKT_STYLE_TORCH, /* columns between dashed lines */
    TKT_STYLE_WARP   /* three columns separated by |: a time, a device or count, a name */
} tkt_table_style;

/* Position of a row in a tree. */
typedef struct tkt_row_place {
    uint32_t parent; /* number of an earlier row, or TKT_NO_ROW_ABOVE */
    uint32_t depth;
} tkt_row_place;

typedef struct tkt_table {
    const char     *key;     /* name in JSON, except for the first table */
    const char     *heading; /* the line above the table; NULL: none */
    tkt_table_style style;
    bool            is_hidden_empty; /* if empty, text and Markdown leave it out */
    bool            is_raw;          /* left out in text and Markdown */
    bool            is_head;         /* shown in full above the other tables; not in CSV */
    size_t          weight;       /* this column, of unsigned numbers, decides which rows of a tree
                                   * stay, and colours rows unless `shade` does */
    size_t          shade;        /* this column colours rows, if it is not TKT_NO_COLUMN */
    size_t          sort;         /* default sort column; TKT_NO_COLUMN: keep the order of
                                   * building */
    size_t          default_rows; /* SIZE_MAX: all */
    tkt_column      columns[TKT_MAX_COLUMNS];
    size_t          column_count;
    tkt_cell       *cells; /* row by row */
    tkt_row_place  *places; /* of a tree's rows, otherwise NULL */
    size_t          row_count;
    size_t          row_capacity;
    size_t          all_rows; /* rows in all, if a report builds only some; 0: those it builds */
    uint32_t       *order;    /* numbers of the rows to show, set by tkt_document_arrange() */
    size_t          shown;
    const char    **colors; /* by row: start of an escape sequence, or NULL for none; freed with the
                             * document. NULL: colours follow `weight` */
} tkt_table;

/* A figure about the whole recording, shown next to the tables. */
typedef struct tkt_fact {
    const char   *key;
    const char   *label; /* NULL: only for machines */
    tkt_cell_type type;
    tkt_cell      value;
} tkt_fact;

/* A sentence about the whole, or about the column with the key `column`. Text shows it only if it
 * has the column. */
typedef struct tkt_table_note {
    const char *text;
    const char *column;
    bool        is_command; /* a shell command, to be pasted */
} tkt_table_note;

/* How much of a document text and Markdown show. */
typedef enum tkt_part {
    TKT_ALL,
    TKT_NO_PROVENANCE, /* since more tables follow */
    TKT_TABLES_ALONE   /* without facts and notes, too; only text */
} tkt_part;

typedef struct tkt_document {
    const char       *name;
    const takt_trace *trace;   /* source of the provenance line; NULL: no such line */
    const char       *headline; /* the answer in one sentence, above everything; NULL: none */
    const char       *subline; /* a sentence below the headline, for people only; NULL: none */
    const char       *nothing; /* text to print if all tables are empty; NULL: print empty tables */
    tkt_part          part;
    bool              is_page; /* print facts above the tables instead of below, one per line */
    tkt_table         tables[TKT_MAX_TABLES];
    size_t            table_count;
    TKT_ARRAY_OF(tkt_fact) facts;
    TKT_ARRAY_OF(tkt_table_note) notes; /* below the tables */
    const char *notes_heading; /* print the notes as a list under this heading; NULL: as plain
                                * sentences */
    tkt_arena   texts;
    takt_status status; /* the first failure to add a table, fact, note or text */
    const char *sought; /* only tell if a table can have this column; NULL: show the report */
    const char *found;  /* the column's key; NULL: no table can have it */
} tkt_document;

void tkt_document_init(tkt_document *document, const char *name, const takt_trace *trace);
void tkt_document_fini(tkt_document *document);

/* Adds a table with space for `rows`; copies the columns. NULL without memory, which sets the
 * document's status. At most TKT_MAX_TABLES. */
tkt_table *tkt_document_add_table(tkt_document *document, const char *key,
                                  const tkt_column *columns, size_t column_count, size_t rows);

/* For a column that is sought: looks for it by its key or title. Returns TAKT_OK. */
takt_status tkt_document_seek(tkt_document *document, const tkt_column *columns, size_t count);
#define TKT_SEEK(document, columns)                                                                \
    tkt_document_seek((document), (columns), sizeof(columns) / sizeof *(columns))

void tkt_document_add_fact(tkt_document *document, const char *key, const char *label,
                           tkt_cell_type type, tkt_cell value);
void tkt_document_set_headline(tkt_document *document, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void tkt_document_add_note(tkt_document *document, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Like tkt_document_add_note(), but a shell command. */
void tkt_document_add_command(tkt_document *document, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Like tkt_document_add_note(), about the column with this key. */
void tkt_document_explain(tkt_document *document, const char *column, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Copies a text; the document owns the copy. "" without memory. */
const char *tkt_document_copy(tkt_document *document, const char *text, size_t size);

/* Makes the table a tree by allocating `places`; the builder fills one for each row. False without
 * memory. */
bool tkt_table_make_tree(tkt_table *table);

/* Adds a row with uninitialised cells. There must be space for it. */
tkt_cell *tkt_table_add_row(tkt_table *table);

/* Shows the column only in CSV and JSON if all of its cells are empty. Call it after the last row. */
void tkt_table_hide_empty(tkt_table *table, size_t column);

/* Adds a row that takes only some of `cells`: its column i is cells[from[i]]. */
void tkt_table_add_chosen(tkt_table *table, const tkt_cell *cells, const uint8_t *from);

static inline const tkt_cell *tkt_table_row(const tkt_table *of, size_t shown)
{
    return of->cells + of->order[shown] * of->column_count;
}

static inline bool tkt_column_is_text(const tkt_column *column)
{
    return column->type == TKT_CELL_TEXT || column->type == TKT_CELL_FACT;
}

/* Formats a value other than a text for people; returns its length. */
size_t tkt_column_text(char *out, const tkt_column *column, tkt_cell cell);

/* Sorts and limits every table. TAKT_BAD_ARGUMENT if no table has the column `sort`. */
takt_status tkt_document_arrange(tkt_document *document, const char *sort, int64_t rows);

/* Writes the keys of the columns, "name,calls,...", cut to fit. Returns `out`. */
const char *tkt_table_keys(const tkt_table *table, char *out, size_t size);

/* Layout of the text. */
typedef struct tkt_layout {
    size_t width;
    bool   color;
    bool   full_names;
    const char *width_key; /* as in takt_report_options; not NULL */
} tkt_layout;

/* Arranges the document and writes it in the format of the options. Fails with document->status if
 * that is not TAKT_OK. Writes nothing if it fails for any reason but the sink. */
takt_status tkt_document_print(tkt_document *document, const takt_report_options *options,
                               const takt_sink *sink);

void tkt_render_text(const tkt_document *document, const tkt_layout *layout, tkt_writer *writer);
void tkt_render_csv(const tkt_document *document, tkt_writer *writer);
void tkt_render_json(const tkt_document *document, tkt_writer *writer);
void tkt_render_markdown(const tkt_document *document, tkt_writer *writer);

#endif
