/* Which columns of a table fit on a line, and how wide each of them is. */
#ifndef TKT_REPORT_FIT_H
#define TKT_REPORT_FIT_H

#include "report/table.h"

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

#endif
