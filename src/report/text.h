/* The parts of the text renderer: fitting, cutting and colouring tables, and Warp's tables. */
#ifndef TKT_REPORT_TEXT_H
#define TKT_REPORT_TEXT_H

#include "report/table.h"

#include <takt/activity.h>

/* ======== Fitting ======== */

/* Chooses the columns of a table that fit on a line, and their widths. */

#define TKT_COLUMN_GAP 2 /* columns of the terminal between two columns of the table */

typedef struct tkt_fit {
    size_t columns[TKT_MAX_COLUMNS]; /* the columns to show */
    size_t count;
    size_t widths[TKT_MAX_COLUMNS]; /* by column of the table */
    size_t needed; /* the smallest width that shows all columns */
} tkt_fit;

void tkt_fit_table(const tkt_table *table, const tkt_layout *layout, tkt_fit *fit);

/* Columns by which a row of a tree is indented, in a first column of this width. At most half of
 * the width, unless the row's text leaves more space. */
size_t tkt_fit_indent(const tkt_table *table, size_t shown, size_t width);

/* ======== Names with the same beginning ======== */

/* Cuts long names in the middle if cutting them at the end would make them look the same. */

/* Returns an entry for each row shown. 0: the text is cut at its end. Otherwise the text is shown
 * as its beginning, dots, and the rest from this byte on, where it differs from another row with
 * the same beginning. NULL if no row needs this, or without memory. The caller frees it with
 * tkt_free(). */
uint32_t *tkt_apart(const tkt_table *table, const tkt_fit *fit, size_t column);

/* Writes the beginning of the text, dots, and the text from byte `from` on, in `width` columns. */
void tkt_put_apart(tkt_writer *writer, const char *text, uint32_t from, size_t width);

/* ======== Colours of rows ======== */

/* Rows with a weight above the table's 90th percentile are red and bold, above the 75th yellow. */

#define TKT_SHADE_END "\033[0m"

typedef struct tkt_shades {
    double red; /* for weights above this */
    double yellow;
} tkt_shades;

/* Computes the limits from all rows, shown or not. Without memory no row is coloured. */
tkt_shades tkt_shades_of(const tkt_table *table, const tkt_layout *layout);

/* The escape sequence that begins the row's colour, or NULL. */
const char *tkt_shade_of(const tkt_shades *shades, const tkt_table *table, size_t shown);

/* ======== Warp's tables ======== */

/* Warp's three tables, in Warp's format: timeline, activity summary, device summary. */

/* Prints the three tables of a list of activities in issue order, or "No activity". Each non-empty
 * line starts with `indent`; NULL: none. Returns the sink's status, or TAKT_NO_MEMORY. Used by
 * takt_timing_print(). */
takt_status tkt_warp_print(const takt_activity *activities, size_t count, const char *indent,
                           const takt_sink *sink);

/* Writes one table of a document: heading, header, rows. */
void tkt_render_warp(const tkt_table *table, const tkt_layout *layout, tkt_writer *writer);

#endif
