/* The report of calls into CUDA: how often, how long, how many failed. */
#include "report/show_named.h"

enum {
    WALL_SHARE = TKT_NAMED_COLUMNS,
    ERRORS,
    FIRST_ERROR,
    CALL_COLUMNS
};

static const tkt_column call_columns[CALL_COLUMNS] = {
    [TKT_NAMED_NAME] = {"Call", "name", TKT_CELL_TEXT, 0, true, 1},
    [TKT_NAMED_COUNT] = {"# of Calls", "count", TKT_CELL_COUNT, 3, false, 1},
    [TKT_NAMED_SHARE] = {"Total %", "total_percent", TKT_CELL_SHARE, 2, false, 1},
    [TKT_NAMED_TOTAL] = {"Total", "total_ns", TKT_CELL_TIME, 1, false, 1},
    [TKT_NAMED_AVERAGE] = {"Average", "avg_ns", TKT_CELL_TIME, 6, false, 1},
    [TKT_NAMED_MEDIAN] = {"Median", "median_ns", TKT_CELL_TIME, 8, false, 1},
    [TKT_NAMED_P99] = {"p99", "p99_ns", TKT_CELL_TIME, 9, false, 1},
    [TKT_NAMED_LEAST] = {"Min", "min_ns", TKT_CELL_TIME, 10, false, 1},
    [TKT_NAMED_MOST] = {"Max", "max_ns", TKT_CELL_TIME, 7, false, 1},
    [TKT_NAMED_DEVIATION] = {"StdDev", "stddev_ns", TKT_CELL_TIME, 11, false, 1},
    [WALL_SHARE] = {"Wall %", "wall_percent", TKT_CELL_SHARE, 5, false, 1},
    [ERRORS] = {"Errors", "errors", TKT_CELL_COUNT, 4, false, 1},
    [FIRST_ERROR] = {"First error", "first_error", TKT_CELL_COUNT, TKT_HIDDEN, false, 1},
};

static void fill_call(tkt_cell *row, const takt_facts *facts, const tkt_named *call)
{
    row[WALL_SHARE].d = tkt_share(call->stats.total_ns, tkt_wall_ns(facts));
    row[ERRORS].u = call->errors;
    row[FIRST_ERROR].u = call->first_error ? (uint32_t)call->first_error : TKT_NO_VALUE;
}

static takt_status show_calls(tkt_document *document, const tkt_nameds *nameds)
{
    tkt_table *table = tkt_named_table(document, call_columns, CALL_COLUMNS, nameds->count);
    if (!table)
        return TAKT_NO_MEMORY;
    bool has_errors = false;
    for (size_t i = 0; i < nameds->count; i++) {
        tkt_cell *row = tkt_named_row(table, document->trace, nameds, &nameds->items[i]);
        fill_call(row, &document->trace->facts, &nameds->items[i]);
        has_errors = has_errors || nameds->items[i].errors > 0;
    }
    if (!has_errors)
        table->columns[ERRORS].rank = TKT_HIDDEN;
    if (nameds->count > 0)
        tkt_document_add_note(document, "Median and p99 are within 3.2 %%.");
    return TAKT_OK;
}

takt_status tkt_show_api(tkt_document *document, const takt_report_options *options)
{
    (void)options;
    tkt_nameds nameds = {0};
    document->nothing = "No calls";
    takt_status status = tkt_calls_of(document->trace, &nameds);
    if (status == TAKT_OK)
        status = show_calls(document, &nameds);
    tkt_nameds_fini(&nameds);
    return status;
}
