/* The steps report: how long steps took, those that were recorded and all of the run. */
#include "report/show.h"

#include "summary/steps.h"

#include <string.h>

enum {
    STEPS,
    COUNT,
    MEAN,
    MEDIAN,
    P99,
    MOST,
    LEAST,
    RATE,
    FACTOR,
    COLUMNS
};

static const tkt_column columns[COLUMNS] = {
    [STEPS] = {"Steps", "steps", TKT_CELL_TEXT, 0, true, 1},
    [COUNT] = {"Count", "count", TKT_CELL_COUNT, 0, false, 1},
    [MEAN] = {"Mean", "mean_ns", TKT_CELL_TIME, 1, false, 1},
    [MEDIAN] = {"Median", "median_ns", TKT_CELL_TIME, 5, false, 1},
    [P99] = {"p99", "p99_ns", TKT_CELL_TIME, 4, false, 1},
    [MOST] = {"Max", "max_ns", TKT_CELL_TIME, 6, false, 1},
    [LEAST] = {"Min", "min_ns", TKT_CELL_TIME, 7, false, 1},
    [RATE] = {"Steps/s", "steps_per_second", TKT_CELL_NUMBER, 2, false, 1},
    [FACTOR] = {"Real-time", "realtime_factor", TKT_CELL_NUMBER, 3, false, 1},
};

static void fill_row(tkt_table *table, const char *name, const tkt_step_figures *figures)
{
    tkt_cell *row = tkt_table_add_row(table);
    bool has_rate = figures->steps_per_second > 0;
    row[STEPS].text = name;
    row[COUNT].u = figures->count;
    row[MEAN].u = figures->mean_ns;
    row[MEDIAN].u = figures->median_ns;
    row[P99].u = figures->p99_ns;
    row[MOST].u = figures->max_ns;
    row[LEAST].u = figures->min_ns;
    row[RATE].d = has_rate ? figures->steps_per_second : NAN;
    if (table->column_count > FACTOR)
        row[FACTOR].d = has_rate ? figures->realtime_factor : NAN;
}

takt_status tkt_show_steps_table(tkt_document *document)
{
    const takt_trace *trace = document->trace;
    tkt_step_figures recorded = tkt_steps_recorded(trace);
    tkt_step_figures all = tkt_steps_all(trace);
    bool is_declared = trace->all_steps.simulated_seconds > 0;
    size_t rows = (size_t)(recorded.count > 0) + (all.count > 0);
    tkt_table *table =
        tkt_document_add_table(document, "steps", columns, is_declared ? COLUMNS : FACTOR, rows);
    if (!table)
        return TAKT_NO_MEMORY;
    if (recorded.count > 0)
        fill_row(table, "recorded", &recorded);
    if (all.count > 0)
        fill_row(table, "all", &all);
    return TAKT_OK;
}

takt_status tkt_show_steps(tkt_document *document, const takt_report_options *options)
{
    (void)options;
    document->nothing = "No steps";
    takt_status status = tkt_show_steps_table(document);
    if (status != TAKT_OK || document->tables[0].row_count == 0)
        return status;
    if (document->trace->all_steps.simulated_seconds > 0)
        tkt_document_add_fact(document, "simulated_seconds_per_step", "Simulated seconds per step",
                              TKT_CELL_NUMBER,
                              (tkt_cell){.d = document->trace->all_steps.simulated_seconds});
    if (document->trace->all_steps.stats.count > 0)
        tkt_document_add_note(document, "Median and p99 of all steps are within 3.2 %%; real-time "
                                        "is simulated time by wall time.");
    return TAKT_OK;
}
