/* The counters report: figures of each counter. */
#include "report/show.h"

#include "summary/counters.h"

enum {
    COUNTER,
    SAMPLES,
    FIRST,
    LAST,
    LEAST,
    MEAN,
    MOST,
    PER_STEP,
    COLUMNS
};

static const tkt_column columns[COLUMNS] = {
    [COUNTER] = {"Counter", "counter", TKT_CELL_TEXT, 0, true, 1},
    [SAMPLES] = {"Samples", "samples", TKT_CELL_COUNT, 3, false, 1},
    [FIRST] = {"First", "first", TKT_CELL_NUMBER, 4, false, 1},
    [LAST] = {"Last", "last", TKT_CELL_NUMBER, 4, false, 1},
    [LEAST] = {"Min", "min", TKT_CELL_NUMBER, 2, false, 1},
    [MEAN] = {"Mean", "mean", TKT_CELL_NUMBER, 0, false, 1},
    [MOST] = {"Max", "max", TKT_CELL_NUMBER, 1, false, 1},
    [PER_STEP] = {"Change per step", "change_per_step", TKT_CELL_NUMBER, 2, false, 1},
};

static bool has_mixed(const tkt_counter_list *counters)
{
    for (size_t i = 0; i < counters->count; i++)
        if (counters->items[i].is_mixed)
            return true;
    return false;
}

static takt_status show(tkt_document *document, const tkt_counter_list *counters)
{
    tkt_table *table =
        tkt_document_add_table(document, "counters", columns, COLUMNS, counters->count);
    if (!table)
        return TAKT_NO_MEMORY;
    table->weight = TKT_NO_COLUMN;
    table->sort = TKT_NO_COLUMN;
    table->default_rows = 100;
    for (size_t i = 0; i < counters->count; i++) {
        const tkt_counter_figures *figures = &counters->items[i];
        tkt_cell *row = tkt_table_add_row(table);
        row[COUNTER].text = tkt_trace_text(document->trace, figures->name);
        row[SAMPLES].u = figures->samples;
        row[FIRST].d = figures->first;
        row[LAST].d = figures->last;
        row[LEAST].d = figures->min;
        row[MEAN].d = figures->mean;
        row[MOST].d = figures->max;
        row[PER_STEP].d = figures->change;
    }
    if (counters->count == 0)
        return TAKT_OK;
    tkt_document_add_note(document, "The mean weights each value by the time that it held, until "
                                    "the next sample or the end of the recording.");
    if (has_mixed(counters))
        tkt_document_add_note(document,
                              "A summary does not know the mean of what threads set by turns; "
                              "mode: trace does.");
    if (!document->trace->facts.has_spans)
        tkt_table_hide_empty(table, PER_STEP);
    tkt_document_explain(document, "change_per_step",
                         "Change per step is the value at the end of a step less that at its "
                         "begin, averaged over the recorded steps.");
    return TAKT_OK;
}

takt_status tkt_show_counters(tkt_document *document, const takt_report_options *options)
{
    if (document->sought)
        return TKT_SEEK(document, columns);
    tkt_counter_list counters = {0};
    (void)options;
    document->nothing = "No counters";
    takt_status status = tkt_counters_of(document->trace, &counters);
    if (status == TAKT_OK)
        status = show(document, &counters);
    TKT_ARRAY_FREE(&counters);
    return status;
}
