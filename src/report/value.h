/* Values of tables as text: for people, and raw for machines. Nothing here depends on the locale,
 * since the same trace must give the same bytes in every program. */
#ifndef TKT_REPORT_VALUE_H
#define TKT_REPORT_VALUE_H

#include "base/writer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
