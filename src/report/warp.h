/* Warp's three tables, in its form: timeline, activity summary, device summary. */
#ifndef TKT_REPORT_WARP_H
#define TKT_REPORT_WARP_H

#include "report/table.h"

#include <takt/activity.h>

/* Prints the three tables of a list of activities in issue order, or "No activity"; each line that
 * is not empty begins with `indent`, NULL being none. Returns what the sink returned, or
 * TAKT_NO_MEMORY. For takt_timing_print(). */
takt_status tkt_warp_print(const takt_activity *activities, size_t count, const char *indent,
                           const takt_sink *sink);

/* One table of a document: heading, header, rows. */
void tkt_render_warp(const tkt_table *table, const tkt_layout *layout, tkt_writer *writer);

#endif
