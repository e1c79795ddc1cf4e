/* The tasks report: spans on tracks of their own, by track and name. */
#include "report/show.h"

#include "summary/tasks.h"

enum {
    TASK,
    TRACK,
    COUNT,
    TOTAL,
    MEAN,
    MEDIAN,
    P99,
    LEAST,
    MOST,
    AT_ONCE,
    COLUMNS
};

static const tkt_column columns[COLUMNS] = {
    [TASK] = {"Task", "task", TKT_CELL_TEXT, 0, true, 1},
    [TRACK] = {"Track", "track", TKT_CELL_TEXT, 1, true, 1},
    [COUNT] = {"Count", "count", TKT_CELL_COUNT, 1, false, 1},
    [TOTAL] = {"Total", "total_ns", TKT_CELL_TIME, 0, false, 1},
    [MEAN] = {"Mean", "mean_ns", TKT_CELL_TIME, 2, false, 1},
    [MEDIAN] = {"Median", "median_ns", TKT_CELL_TIME, 4, false, 1},
    [P99] = {"p99", "p99_ns", TKT_CELL_TIME, 5, false, 1},
    [LEAST] = {"Min", "min_ns", TKT_CELL_TIME, 7, false, 1},
    [MOST] = {"Max", "max_ns", TKT_CELL_TIME, 6, false, 1},
    [AT_ONCE] = {"At once", "at_once", TKT_CELL_COUNT, 3, false, 1},
};

static void fill_row(tkt_cell *row, const takt_trace *trace, const tkt_named *task,
                     uint64_t at_once)
{
    const tkt_stats *stats = &task->stats;
    row[TASK].text = tkt_trace_text(trace, task->name);
    row[TRACK].text = tkt_trace_text(trace, task->shape);
    row[COUNT].u = stats->count;
    row[TOTAL].u = stats->total_ns;
    tkt_show_durations(&row[MEAN], stats, task->histogram);
    row[AT_ONCE].u = at_once;
}

static takt_status show(tkt_document *document, const tkt_task_list *tasks)
{
    tkt_table *table =
        tkt_document_add_table(document, "tasks", columns, COLUMNS, tasks->times.count);
    if (!table)
        return TAKT_NO_MEMORY;
    table->weight = table->sort = TOTAL;
    table->default_rows = 100;
    for (size_t i = 0; i < tasks->times.count; i++)
        fill_row(tkt_table_add_row(table), document->trace, &tasks->times.items[i],
                 tasks->at_once.count > 0 ? tasks->at_once.items[i] : TKT_NO_VALUE);
    if (table->row_count == 0)
        return TAKT_OK;
    tkt_document_add_note(document, "Tasks are spans on tracks of their own; they may overlap.");
    tkt_table_hide_empty(table, AT_ONCE);
    tkt_document_explain(document, "at_once",
                         "At once is the greatest number that ran at the same time.");
    tkt_document_explain(document, "median_ns",
                         "Median and p99 are within 3.2 %%; p99 needs %d tasks.", TKT_P99_LEAST);
    tkt_note_more_medians(document, tasks->times.count, TKT_NAMED_HISTOGRAMS);
    return TAKT_OK;
}

takt_status tkt_show_tasks(tkt_document *document, const takt_report_options *options)
{
    if (document->sought)
        return TKT_SEEK(document, columns);
    tkt_task_list tasks = {0};
    (void)options;
    document->nothing = "No tasks";
    takt_status status = tkt_tasks_of(document->trace, &tasks);
    if (status == TAKT_OK)
        status = show(document, &tasks);
    tkt_tasks_fini(&tasks);
    return status;
}
