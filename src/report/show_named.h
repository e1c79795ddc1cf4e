/* What the reports of kernels and of calls have in common: times by name. */
#ifndef TKT_REPORT_SHOW_NAMED_H
#define TKT_REPORT_SHOW_NAMED_H

#include "report/show.h"
#include "summary/named.h"

/* The first columns of both. */
enum {
    TKT_NAMED_NAME,
    TKT_NAMED_COUNT,
    TKT_NAMED_SHARE,
    TKT_NAMED_TOTAL,
    TKT_NAMED_AVERAGE,
    TKT_NAMED_MEDIAN,
    TKT_NAMED_P99,
    TKT_NAMED_LEAST,
    TKT_NAMED_MOST,
    TKT_NAMED_DEVIATION,
    TKT_NAMED_COLUMNS
};

/* A table of so many columns, of which the first are those. NULL without memory. */
tkt_table *tkt_named_table(tkt_document *document, const tkt_column *columns, size_t column_count,
                           size_t rows);

/* The next row, those columns filled. */
tkt_cell *tkt_named_row(tkt_table *table, const takt_trace *trace, const tkt_nameds *nameds,
                        const tkt_named *named);

#endif
