/* The steps report: how long recorded steps and all steps took, how busy the recorded ones kept the
 * devices, and the slowest steps of the run. */
#include "report/show.h"

#include "summary/steps.h"

#include <stdio.h>
#include <string.h>

/* ---- Recorded steps, and all of them --------------------------------------------------------- */

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
    cells[FACTOR].d = figures->realtime_factor > 0 ? figures->realtime_factor : NAN;
    cells[DEVICE].u = TKT_NO_VALUE;
    cells[BUSY].d = NAN;
}

/* For recorded steps: the mean time of the activities launched in a step, and the share of the
 * steps' time in which a device was busy, as far as that is known, averaged over devices. */
static void fill_device_cells(tkt_cell *cells, const takt_trace *trace, const tkt_device_uses *uses)
{
    uint64_t busy_ns = 0, known_ns = 0, steps_ns = 0;
    bool are_known = true;
    if (tkt_trace_lacks_work(trace))
        return;
    for (size_t i = 0; i < trace->steps.count; i++)
        steps_ns += trace->steps.items[i].end_ns - trace->steps.items[i].begin_ns;
    for (size_t i = 0; i < uses->count; i++) {
        are_known &= uses->items[i].known_ns > 0;
        busy_ns += uses->items[i].step_busy_ns;
        known_ns += steps_ns - uses->items[i].step_unknown_ns;
    }
    cells[DEVICE].u = tkt_mean(uses->step_ns, uses->step_count);
    cells[BUSY].d = are_known && known_ns ? 100 * tkt_share(busy_ns, known_ns) : NAN;
}

takt_status tkt_show_steps_table(tkt_document *document, const tkt_device_uses *uses)
{
    if (document->sought)
        return TKT_SEEK(document, columns);
    const takt_trace *trace = document->trace;
    tkt_step_figures figures[2];
    tkt_steps_both(trace, &figures[0], &figures[1]);
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

/* ---- The whole run --------------------------------------------------------------------------- */

/* "slowest 417 (88.000ms, not recorded)"; older files do not know the number. */
#define SLOWEST_SIZE 112
static void write_slowest(char out[SLOWEST_SIZE], const takt_trace *trace, uint64_t max_ns)
{
    char time[TKT_VALUE_SIZE];
    const tkt_run_steps *run = trace->run;
    tkt_value_time(time, max_ns);
    if (!run || run->slowest_count == 0)
        snprintf(out, SLOWEST_SIZE, "slowest %s", time);
    else
        snprintf(out, SLOWEST_SIZE, "slowest %llu (%s%s)",
                 (unsigned long long)run->slowest[0].number, time,
                 tkt_run_is_recorded(run, run->slowest[0].number) == TKT_RUN_NOT_RECORDED
                     ? ", not recorded"
                     : "");
}

const char *tkt_run_line(char out[TKT_RUN_LINE], const takt_trace *trace)
{
    char total[TKT_VALUE_SIZE], median[TKT_VALUE_SIZE], slowest[SLOWEST_SIZE];
    tkt_step_figures all = tkt_steps_all(trace);
    tkt_value_time(total, trace->all_steps.stats.total_ns);
    tkt_value_time(median, all.median_ns);
    write_slowest(slowest, trace, all.max_ns);
    out[0] = '\0';
    if (all.count == 1)
        snprintf(out, TKT_RUN_LINE, "1 step, %s", total);
    else if (all.count > 1)
        snprintf(out, TKT_RUN_LINE, "%llu steps, %s, median %s, %s", (unsigned long long)all.count,
                 total, median, slowest);
    return out;
}

void tkt_show_run_facts(tkt_document *document)
{
    const takt_trace *trace = document->trace;
    const tkt_run_steps *run = trace->run;
    uint64_t recorded = 0;
    if (trace->all_steps.stats.count == 0)
        return;
    tkt_document_add_fact(document, "run_steps", NULL, TKT_CELL_COUNT,
                          (tkt_cell){.u = trace->all_steps.stats.count});
    tkt_document_add_fact(document, "run_ns", NULL, TKT_CELL_TIME,
                          (tkt_cell){.u = trace->all_steps.stats.total_ns});
    if (!run || run->slowest_count == 0)
        return;
    for (size_t i = 0; i < run->window_count; i++)
        recorded += run->windows[i].recorded;
    tkt_document_add_fact(document, "run_recorded_steps", NULL, TKT_CELL_COUNT,
                          (tkt_cell){.u = recorded});
    tkt_document_add_fact(document, "slowest_step", NULL, TKT_CELL_COUNT,
                          (tkt_cell){.u = run->slowest[0].number});
    tkt_document_add_fact(document, "slowest_step_ns", NULL, TKT_CELL_TIME,
                          (tkt_cell){.u = run->slowest[0].duration_ns});
}

enum {
    STEP,
    DURATION,
    TIMES_MEDIAN,
    RECORDED,
    SLOWEST_COLUMNS
};

static const tkt_column slowest_columns[SLOWEST_COLUMNS] = {
    [STEP] = {"Step", "step", TKT_CELL_COUNT, 0, false, 1},
    [DURATION] = {"Time", "duration_ns", TKT_CELL_TIME, 0, false, 1},
    [TIMES_MEDIAN] = {"Times median", "times_median", TKT_CELL_NUMBER, 2, false, 1},
    [RECORDED] = {"Recorded", "recorded", TKT_CELL_FACT, 1, true, 1},
};

static takt_status show_slowest(tkt_document *document, uint64_t median_ns)
{
    static const tkt_said words[] = {[TKT_RUN_NOT_RECORDED] = {"no", "false"},
                                     [TKT_RUN_RECORDED] = {"yes", "true"},
                                     [TKT_RUN_PERHAPS_RECORDED] = {"", "null"}};
    const tkt_run_steps *run = document->trace->run;
    if (!run || run->step_count <= TKT_RUN_SLOWEST)
        return TAKT_OK;
    tkt_table *table = tkt_document_add_table(document, "slowest", slowest_columns, SLOWEST_COLUMNS,
                                              run->slowest_count);
    if (!table)
        return TAKT_NO_MEMORY;
    table->heading = "Slowest steps of the run:";
    for (size_t i = 0; i < run->slowest_count; i++) {
        const tkt_run_step *step = &run->slowest[i];
        tkt_cell *row = tkt_table_add_row(table);
        row[STEP].u = step->number;
        row[DURATION].u = step->duration_ns;
        row[TIMES_MEDIAN].d = tkt_share(step->duration_ns, median_ns);
        row[RECORDED].said = &words[tkt_run_is_recorded(run, step->number)];
    }
    return TAKT_OK;
}

static void note_kept(tkt_document *document)
{
    const takt_trace *trace = document->trace;
    size_t count = trace->steps.count;
    if (count > 0 && trace->facts.step_count > count)
        tkt_document_add_note(document, "Recorded steps are %llu to %llu, of %llu.",
                              (unsigned long long)trace->steps.items[0].number,
                              (unsigned long long)trace->steps.items[count - 1].number,
                              (unsigned long long)trace->facts.step_count);
}

/* ---- The report ------------------------------------------------------------------------------ */

static takt_status show(tkt_document *document, const tkt_device_uses *uses)
{
    char line[TKT_RUN_LINE];
    takt_status status = tkt_show_steps_table(document, uses);
    if (status != TAKT_OK || document->tables[0].row_count == 0)
        return status;
    status = show_slowest(document, tkt_steps_all(document->trace).median_ns);
    if (status != TAKT_OK)
        return status;
    if (*tkt_run_line(line, document->trace))
        tkt_document_set_headline(document, "%s", line);
    tkt_show_run_facts(document);
    if (document->trace->all_steps.simulated_seconds > 0)
        tkt_document_add_fact(document, "simulated_seconds_per_step", "Simulated seconds per step",
                              TKT_CELL_NUMBER,
                              (tkt_cell){.d = document->trace->all_steps.simulated_seconds});
    note_kept(document);
    if (document->trace->all_steps.stats.count > 0)
        tkt_document_add_note(
            document, "All steps are those of the run up to the end of this recording%s%s.",
            tkt_steps_are_exact(document->trace) ? "" : "; their median and p99 are within 3.2 %",
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
    if (document->sought) {
        TKT_SEEK(document, slowest_columns);
        return tkt_show_steps_table(document, NULL);
    }
    (void)options;
    document->nothing = "No steps";
    tkt_device_uses uses = {0};
    takt_status status = tkt_device_uses_of(document->trace, &uses);
    if (status == TAKT_OK)
        status = show(document, &uses);
    TKT_ARRAY_FREE(&uses);
    return status;
}
