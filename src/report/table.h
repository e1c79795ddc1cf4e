/* What a report is before it is rendered: tables, facts about the whole, notes. A report's function
 * builds a document, arrange() sorts and limits its tables, and one of the renderers writes it. */
#ifndef TKT_REPORT_TABLE_H
#define TKT_REPORT_TABLE_H

#include "base/containers.h"
#include "base/writer.h"

#include <takt/report.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ======== Values ======== */

/* Values of tables as text: for people, and raw for machines. Nothing here depends on the locale,
 * since the same trace must give the same bytes in every program. */

typedef enum tkt_cell_type {
    TKT_CELL_TEXT,   /* text: borrowed from the trace or the document */
    TKT_CELL_COUNT,  /* u */
    TKT_CELL_TIME,   /* u, ns: "1.234ms" */
    TKT_CELL_OFFSET, /* i, ns from the begin of the recording, which may be negative */
    TKT_CELL_BYTES,  /* u: "1.50 MiB" */
    TKT_CELL_CHANGE, /* i, bytes more or less */
    TKT_CELL_SHARE,  /* d, of 1: "12.34%", none: "NaN", as torch has it; raw in percent */
    TKT_CELL_PERCENT, /* d, of 100: "12.34%" */
    TKT_CELL_NUMBER, /* d */
    TKT_CELL_LENGTH, /* d, ns with fractions: "1.234ms" */
    TKT_CELL_SHIFT,  /* d, ns more or less: "+1.234ms" */
    TKT_CELL_GROWTH, /* d, of 100, more or less: "+1.23%" */
    TKT_CELL_CHANCE, /* d, a p value: "0.0123", "<0.0001" */
    TKT_CELL_FACT    /* fact: a text, and what stands for it in CSV and JSON */
} tkt_cell_type;

/* What people read as "1.234 s" or "yes", and machines as 1234000000 or true. */
typedef struct tkt_said {
    const char *text;
    const char *raw; /* a number or truth value as JSON has it, shorter than TKT_VALUE_SIZE; "":
                      * the text itself */
} tkt_said;

typedef union tkt_cell {
    const char     *text;
    uint64_t        u;
    int64_t         i;
    double          d;
    const tkt_said *said; /* never NULL */
} tkt_cell;

/* A u or i that there is none of; the same for text is NULL, for a d NaN. Shown as nothing. */
#define TKT_NO_VALUE  UINT64_MAX
#define TKT_NO_SIGNED INT64_MIN

/* Room for any value but texts. */
#define TKT_VALUE_SIZE 48

/* For people, with unit; NUL-terminated. Returns the length. Not for texts. */
size_t tkt_value_text(char *out, tkt_cell_type type, tkt_cell cell);

/* For machines: integers in ns and bytes, doubles so that they read back equal; empty where there
 * is no value, and where the words are it. Not for texts. */
size_t tkt_value_raw(char *out, tkt_cell_type type, tkt_cell cell);

/* A number with so many decimals, at most 6. */
size_t tkt_value_fixed(char *out, double value, unsigned decimals);

bool tkt_value_is_none(tkt_cell_type type, tkt_cell cell);

/* Negative, 0, positive, as a < b, a == b, a > b. Of shifts and growths the size counts, whichever
 * way they go. Both have a value. */
int tkt_value_compare(tkt_cell_type type, tkt_cell a, tkt_cell b);

/* What a text or fact says to people, "" where there is none; NULL of any other value. */
const char *tkt_value_words(tkt_cell_type type, tkt_cell cell);

/* Columns of a text on a terminal; counting stops beyond `most`. */
size_t tkt_text_width(const char *text, size_t most);

/* Texts into a writer: made safe for terminals; as the quoted string of JSON; cut to `width`
 * columns with "..." at the end, or plainly, returning the columns written. */
void tkt_put_printable(tkt_writer *writer, const char *text, size_t size);
void tkt_put_json(tkt_writer *writer, const char *text);
size_t tkt_put_cut(tkt_writer *writer, const char *text, size_t width);
size_t tkt_put_columns(tkt_writer *writer, const char *text, size_t width);
void tkt_put_repeated(tkt_writer *writer, char byte, size_t count);

/* The number of bytes of a first piece of the text that ends between two characters and is small
 * enough for a buffer of TKT_PIECE_SIZE even when it grows sixfold. 0 at its end. */
#define TKT_PIECE_SIZE 1024
size_t tkt_text_piece(const char *text, size_t size);

/* The bytes of its first character; 1 where they are no character. `size` is not 0. */
size_t tkt_text_character(const char *text, size_t size);

/* ======== Tables ======== */

#define TKT_MAX_COLUMNS 32
#define TKT_MAX_TABLES  4
#define TKT_NO_COLUMN   SIZE_MAX
#define TKT_NO_ROW_ABOVE UINT32_MAX

typedef struct tkt_column {
    const char   *title; /* as text and Markdown print it */
    const char   *key;   /* as JSON and CSV spell it; NULL: only for people */
    tkt_cell_type type;
    /* Where the width is short, columns go in the order of their rank, the greatest first; rank 0
     * stays. Percentages, counts and what tells two rows apart have small ones. TKT_HIDDEN: only
     * in CSV and JSON. */
    uint8_t rank;
    bool    is_left; /* aligned left */
    double  unit;    /* of numbers: people see them divided by this */
} tkt_column;

#define TKT_HIDDEN 255

typedef enum tkt_table_style {
    TKT_STYLE_TORCH, /* columns between dashed lines */
    TKT_STYLE_WARP   /* three columns with | between them: a time, a device or count, a name */
} tkt_table_style;

/* Where a row of a tree hangs. */
typedef struct tkt_row_place {
    uint32_t parent; /* a smaller row's number, or TKT_NO_ROW_ABOVE */
    uint32_t depth;
} tkt_row_place;

typedef struct tkt_table {
    const char     *key;     /* JSON's name of a further table */
    const char     *heading; /* above it in text; NULL: none */
    tkt_table_style style;
    bool            is_hidden_empty; /* not in text without rows, beside tables with some */
    bool            is_raw;          /* only in CSV and JSON */
    bool            is_head;         /* what the others are of: whole, above them, not in CSV */
    size_t          weight;       /* column that colours rows and decides which of a tree stay */
    size_t          sort;         /* default column, TKT_NO_COLUMN: as built */
    size_t          default_rows; /* SIZE_MAX: all */
    tkt_column      columns[TKT_MAX_COLUMNS];
    size_t          column_count;
    tkt_cell       *cells; /* row by row */
    tkt_row_place  *places; /* of a tree, otherwise NULL */
    size_t          row_count;
    size_t          row_capacity;
    size_t          all_rows; /* with those that were not even built */
    uint32_t       *order;    /* after arranging: the rows to show */
    size_t          shown;
    const char    **colors; /* of rows, where `weight` does not tell: begins of escape sequences,
                             * NULL for none; freed with the document. NULL: by weight */
} tkt_table;

/* A figure about the whole, beside the tables. */
typedef struct tkt_fact {
    const char   *key;
    const char   *label;
    tkt_cell_type type;
    tkt_cell      value;
} tkt_fact;

/* Sentences about the whole, or about the column with that key: text without it lacks them too. */
typedef struct tkt_table_note {
    const char *text;
    const char *column;
} tkt_table_note;

typedef struct tkt_document {
    const char       *name;
    const takt_trace *trace;   /* NULL: none that a last line could tell of */
    const char       *nothing; /* text instead of empty tables; NULL: print them empty */
    bool              is_page; /* facts stand above the tables, one a line, not below */
    tkt_table         tables[TKT_MAX_TABLES];
    size_t            table_count;
    TKT_ARRAY_OF(tkt_fact) facts;
    TKT_ARRAY_OF(tkt_table_note) notes; /* below the tables */
    const char *notes_heading; /* the notes are a list under it; NULL: plain sentences */
    tkt_arena   texts;
    takt_status status; /* the first failure to add a fact, note or text */
} tkt_document;

void tkt_document_init(tkt_document *document, const char *name, const takt_trace *trace);
void tkt_document_fini(tkt_document *document);

/* A new table with room for `rows`; its columns are copied. NULL when there is no memory, which the
 * document's status then says. At most TKT_MAX_TABLES. */
tkt_table *tkt_document_add_table(tkt_document *document, const char *key,
                                  const tkt_column *columns, size_t column_count, size_t rows);

void tkt_document_add_fact(tkt_document *document, const char *key, const char *label,
                           tkt_cell_type type, tkt_cell value);
void tkt_document_add_note(tkt_document *document, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same, of a column, by its key. */
void tkt_document_explain(tkt_document *document, const char *column, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A text that lives as long as the document; "" when there is no memory. */
const char *tkt_document_copy(tkt_document *document, const char *text, size_t size);

/* Makes the table a tree: its rows get places, of which the builder fills as many as rows. */
bool tkt_table_make_tree(tkt_table *table);

/* The next row, its cells uninitialised. There must be room. */
tkt_cell *tkt_table_add_row(tkt_table *table);

/* The next row, of those of `cells` that are its columns: column i is cells[from[i]]. */
void tkt_table_add_chosen(tkt_table *table, const tkt_cell *cells, const uint8_t *from);

static inline const tkt_cell *tkt_table_row(const tkt_table *table, size_t shown)
{
    return table->cells + table->order[shown] * table->column_count;
}

static inline bool tkt_column_is_text(const tkt_column *column)
{
    return column->type == TKT_CELL_TEXT || column->type == TKT_CELL_FACT;
}

/* A value without words, as people see it; returns its length. */
static inline size_t tkt_column_text(char *out, const tkt_column *column, tkt_cell cell)
{
    if (column->type == TKT_CELL_NUMBER)
        cell.d /= column->unit;
    return tkt_value_text(out, column->type, cell);
}

/* Sorts and limits every table. TAKT_BAD_ARGUMENT when none has the column `sort`. */
takt_status tkt_document_arrange(tkt_document *document, const char *sort, int64_t rows);

/* The keys of the columns, "name,calls,..."; cut where there is no room. Returns `out`. */
const char *tkt_table_keys(const tkt_table *table, char *out, size_t size);

/* How the text is laid out. */
typedef struct tkt_layout {
    size_t width;
    bool   color;
    bool   full_names;
    const char *width_key; /* as in takt_report_options; not NULL */
} tkt_layout;

/* Arranges the document and writes it in the format of the options: nothing is written where it
 * fails for another reason than the sink. */
takt_status tkt_document_print(tkt_document *document, const takt_report_options *options,
                               const takt_sink *sink);

void tkt_render_text(const tkt_document *document, const tkt_layout *layout, tkt_writer *writer);
void tkt_render_csv(const tkt_document *document, tkt_writer *writer);
void tkt_render_json(const tkt_document *document, tkt_writer *writer);
void tkt_render_markdown(const tkt_document *document, tkt_writer *writer);

#endif
