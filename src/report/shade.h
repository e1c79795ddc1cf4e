/* Which rows of a table are coloured: those above the 90th percentile of the table's weight red and
 * bold, those above the 75th yellow. */
#ifndef TKT_REPORT_SHADE_H
#define TKT_REPORT_SHADE_H

#include "report/table.h"

#define TKT_SHADE_END "\033[0m"

typedef struct tkt_shades {
    double red; /* weights above */
    double yellow;
} tkt_shades;

/* Of all rows, shown or not. Without memory nothing is coloured. */
tkt_shades tkt_shades_of(const tkt_table *table, const tkt_layout *layout);

/* The escape sequence that begins the row's colour, or NULL. */
const char *tkt_shade_of(const tkt_shades *shades, const tkt_table *table, size_t shown);

#endif
