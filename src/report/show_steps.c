/* The steps report: how long recorded steps and all steps took, and how busy the recorded ones kept
 * the devices. */
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
    DEVICE,
    BUSY,
    COLUMNS
};

static const tkt_column columns[COLUMNS] = {
    [STEPS] = {"Steps", "steps", TKT_CELL_TEXT, 0, true, 1},
    [COUNT] = {"Count", "count", TKT_CELL_COUNT, 0, false, 1},
    [MEAN] = {"Mean", "mean_ns", TKT_CELL_TIME, 1, false, 1},
    [MEDIAN] = {"Median", "median_ns", TKT_CELL_TIME, 6, false, 1},
    [P99] = {"p99", "p99_ns", TKT_CELL_TIME, 4, false, 1},
    [MOST] = {"Max", "max_ns", TKT_CELL_TIME, 8, false, 1},
    [LEAST] = {"Min", "min_ns", TKT_CELL_TIME, 9, false, 1},
    [RATE] = {"Steps/s", "steps_per_second", TKT_CELL_NUMBER, 3, false, 1},
    [FACTOR] = {"Real-time", "realtime_factor", TKT_CELL_NUMBER, 5, false, 1},
    [DEVICE] = {"CUDA time", "cuda_time_ns", TKT_CELL_TIME, 7, false, 1},
    [BUSY] = {"CUDA busy %", "cuda_busy_percent", TKT_CELL_PERCENT, 2, false, 1},
};

static bool is_wanted(size_t column, const takt_trace *trace, const tkt_device_uses *uses)
{
    if (column == FACTOR)
        return trace->all_steps.simulated_seconds > 0;
    if (column == BUSY)
        return uses->count > 0 && trace->facts.has_spans;
    return column != DEVICE || uses->count > 0;
}

static void fill_cells(tkt_cell *cells, const char *name, const tkt_step_figures *figures)
{
    bool has_rate = figures->steps_per_second > 0;
    cells[STEPS].text = name;
    cells[COUNT].u = figures->count;
    cells[MEAN].u = figures->mean_ns;
    cells[MEDIAN].u = figures->median_ns;
    cells[P99].u = tkt_p99_cell(figures->count, figures->p99_ns);
    cells[MOST].u = figures->max_ns;
    cells[LEAST].u = figures->min_ns;
    cells[RATE].d = has_rate ? figures->steps_per_second : NAN;
    cells[FACTOR].d = has_rate ? figures->realtime_factor : NAN;
    cells[DEVICE].u = TKT_NO_VALUE;
    cells[BUSY].d = NAN;
}

/* For recorded steps: the mean time of the activities launched in a step, and the share of the
 * steps' time in which a device was busy, averaged over devices. */
static void fill_device_cells(tkt_cell *cells, const takt_trace *trace, const tkt_device_uses *uses)
{
    uint64_t busy_ns = 0;
    uint64_t steps_ns = 0;
    for (size_t i = 0; i < uses->count; i++)
        busy_ns += uses->items[i].step_busy_ns;
    for (size_t i = 0; i < trace->steps.count; i++)
        steps_ns += trace->steps.items[i].end_ns - trace->steps.items[i].begin_ns;
    cells[DEVICE].u = tkt_mean(uses->step_ns, trace->steps.count);
    cells[BUSY].d = 100 * tkt_share(busy_ns, steps_ns * uses->count);
}

takt_status tkt_show_steps_table(tkt_document *document, const tkt_device_uses *uses)
{
    const takt_trace *trace = document->trace;
    const tkt_step_figures figures[] = {tkt_steps_recorded(trace), tkt_steps_all(trace)};
    static const char *const names[] = {"recorded", "all"};
    tkt_column wanted[COLUMNS];
    uint8_t from[COLUMNS];
    size_t count = 0;
    for (uint8_t i = 0; i < COLUMNS; i++) {
        if (is_wanted(i, trace, uses)) {
            from[count] = i;
            wanted[count++] = columns[i];
        }
    }
    size_t rows = (size_t)(figures[0].count > 0) + (figures[1].count > 0);
    tkt_table *table = tkt_document_add_table(document, "steps", wanted, count, rows);
    if (!table)
        return TAKT_NO_MEMORY;
    for (size_t i = 0; i < 2; i++) {
        if (figures[i].count == 0)
            continue;
        tkt_cell cells[COLUMNS];
        fill_cells(cells, names[i], &figures[i]);
        if (i == 0)
            fill_device_cells(cells, trace, uses);
        tkt_table_add_chosen(table, cells, from);
    }
    tkt_table_hide_empty(table, P99);
    return TAKT_OK;
}

static takt_status show(tkt_document *document, const tkt_device_uses *uses)
{
    takt_status status = tkt_show_steps_table(document, uses);
    if (status != TAKT_OK || document->tables[0].row_count == 0)
        return status;
    if (document->trace->all_steps.simulated_seconds > 0)
        tkt_document_add_fact(document, "simulated_seconds_per_step", "Simulated seconds per step",
                              TKT_CELL_NUMBER,
                              (tkt_cell){.d = document->trace->all_steps.simulated_seconds});
    if (document->trace->all_steps.stats.count > 0)
        tkt_document_add_note(document,
                              "All steps are those of the run up to the end of this recording; "
                              "their median and p99 are within 3.2 %%%s.",
                              document->trace->all_steps.simulated_seconds > 0
                                  ? "; real-time is simulated time by wall time"
                                  : "");
    if (uses->count > 0)
        tkt_document_explain(document, "cuda_time_ns",
                             "CUDA time is the mean time of the activities that a step launched.");
    if (uses->count > 0 && document->trace->facts.has_spans)
        tkt_document_explain(document, "cuda_busy_percent",
                             "CUDA busy is the share of steps' time in which a device ran "
                             "anything.");
    return TAKT_OK;
}

takt_status tkt_show_steps(tkt_document *document, const takt_report_options *options)
{
    (void)options;
    document->nothing = "No steps";
    tkt_device_uses uses = {0};
    takt_status status = tkt_device_uses_of(document->trace, &uses);
    if (status == TAKT_OK)
        status = show(document, &uses);
    TKT_ARRAY_FREE(&uses);
    return status;
}
