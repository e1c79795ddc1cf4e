/* Tables on terminals: what the parts of the text renderer share. */
#ifndef TKT_REPORT_TEXT_H
#define TKT_REPORT_TEXT_H

#include "report/table.h"

#include <takt/activity.h>

/* ======== Fitting ======== */

/* Which columns of a table fit on a line, and how wide each of them is. */

#define TKT_COLUMN_GAP 2 /* columns of the terminal between columns of the table */

typedef struct tkt_fit {
    size_t columns[TKT_MAX_COLUMNS]; /* those that are shown */
    size_t count;
    size_t widths[TKT_MAX_COLUMNS]; /* by column of the table */
    size_t needed; /* the least width at which no column is left out */
} tkt_fit;

void tkt_fit_table(const tkt_table *table, const tkt_layout *layout, tkt_fit *fit);

/* How far a tree's row is indented in a first column of that width: at most half of it, unless its
 * text leaves more. */
size_t tkt_fit_indent(const tkt_table *table, size_t shown, size_t width);

/* ======== Names that begin alike ======== */

/* Where long names of a column are cut, so that no two of them look the same. */

/* For each row that is shown 0, or the byte from which its text in that column is shown again behind
 * its beginning and dots: there it differs from another row's, which begins alike. NULL where no row
 * has such a place, and without memory. The caller frees it with tkt_free(). */
uint32_t *tkt_apart(const tkt_table *table, const tkt_fit *fit, size_t column);

/* Writes the beginning of the text, dots, and what follows from that byte, in `width` columns. */
void tkt_put_apart(tkt_writer *writer, const char *text, uint32_t from, size_t width);

/* ======== Colours of rows ======== */

/* Which rows of a table are coloured: those above the 90th percentile of the table's weight red and
 * bold, those above the 75th yellow. */

#define TKT_SHADE_END "\033[0m"

typedef struct tkt_shades {
    double red; /* weights above */
    double yellow;
} tkt_shades;

/* Of all rows, shown or not. Without memory nothing is coloured. */
tkt_shades tkt_shades_of(const tkt_table *table, const tkt_layout *layout);

/* The escape sequence that begins the row's colour, or NULL. */
const char *tkt_shade_of(const tkt_shades *shades, const tkt_table *table, size_t shown);

/* ======== Warp's tables ======== */

/* Warp's three tables, in its form: timeline, activity summary, device summary. */

/* Prints the three tables of a list of activities in issue order, or "No activity"; each line that
 * is not empty begins with `indent`, NULL being none. Returns what the sink returned, or
 * TAKT_NO_MEMORY. For takt_timing_print(). */
takt_status tkt_warp_print(const takt_activity *activities, size_t count, const char *indent,
                           const takt_sink *sink);

/* One table of a document: heading, header, rows. */
void tkt_render_warp(const tkt_table *table, const tkt_layout *layout, tkt_writer *writer);

#endif
