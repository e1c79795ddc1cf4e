/* The launches report: how long calls took, how long work queued and ran, and which launches a
 * device waited for. */
#include "report/show.h"

#include "base/text.h"
#include "summary/device.h"
#include "summary/launches.h"

enum {
    NAME,
    COUNT,
    QUEUED,
    LATE,
    LATE_SHARE,
    WAITED,
    TIMES
};

enum { /* columns for each of TKT_LAUNCH_TIMES */
    AVERAGE,
    MEDIAN,
    LEAST,
    MOST,
    DEVIATION,
    FIGURES
};

enum {
    CALL = TIMES + TKT_LAUNCH_TIMES * FIGURES,
    COLUMNS
};

#define FIGURES_OF(time, title, key, average, median)                                              \
    [TIMES + (time)*FIGURES +                                                                      \
        AVERAGE] = {title " Avg", key "_avg_ns", TKT_CELL_TIME, average, false, 1},                \
        [TIMES + (time)*FIGURES +                                                                  \
            MEDIAN] = {title " Med", key "_median_ns", TKT_CELL_TIME, median, false, 1},           \
        [TIMES + (time)*FIGURES +                                                                  \
            LEAST] = {title " Min", key "_min_ns", TKT_CELL_TIME, 14, false, 1},                   \
        [TIMES + (time)*FIGURES +                                                                  \
            MOST] = {title " Max", key "_max_ns", TKT_CELL_TIME, 13, false, 1},                    \
        [TIMES + (time)*FIGURES +                                                                  \
            DEVIATION] = {title " StdDev", key "_stddev_ns", TKT_CELL_TIME, TKT_HIDDEN, false, 1}

static const tkt_column columns[COLUMNS] = {
    [NAME] = {"Launched", "name", TKT_CELL_TEXT, 0, true, 1},
    [COUNT] = {"Count", "count", TKT_CELL_COUNT, 3, false, 1},
    [QUEUED] = {"QCount", "queue_count", TKT_CELL_COUNT, 8, false, 1},
    [LATE] = {"Not hidden", "not_hidden", TKT_CELL_COUNT, 4, false, 1},
    [LATE_SHARE] = {"Not hidden %", "not_hidden_percent", TKT_CELL_PERCENT, 1, false, 1},
    [WAITED] = {"Waited", "waited_ns", TKT_CELL_TIME, 2, false, 1},
    FIGURES_OF(TKT_LAUNCH_CALL, "API", "api", 5, 10),
    FIGURES_OF(TKT_LAUNCH_QUEUE, "Queue", "queue", 6, 10),
    FIGURES_OF(TKT_LAUNCH_WORK, "Kernel", "kernel", 7, 11),
    FIGURES_OF(TKT_LAUNCH_TOTAL, "Total", "total", 9, 12),
    [CALL] = {"Call", "launch", TKT_CELL_TEXT, 15, true, 1},
};

static void fill_times(tkt_cell *row, const tkt_launch_stats *times)
{
    tkt_show_durations(&row[AVERAGE], &times->stats, times->histogram);
    row[LEAST] = row[LEAST + 1]; /* where the p99 was: this table has none */
    row[MOST] = row[MOST + 1];
    row[DEVIATION].u = tkt_deviation_cell(times->stats.count, tkt_stats_stddev(&times->stats));
}

static const char *name_of(tkt_document *document, const tkt_launch *launch)
{
    char text[32] = "graph ";
    if (!launch->graph)
        return tkt_trace_text(document->trace, launch->name);
    const char *end = tkt_put_u64(text + 6, launch->graph);
    return tkt_document_copy(document, text, (size_t)(end - text));
}

static void fill_row(tkt_cell *row, tkt_document *document, const tkt_launch *launch)
{
    uint64_t count = launch->times[TKT_LAUNCH_CALL].stats.count;
    row[NAME].text = name_of(document, launch);
    row[COUNT].u = count;
    row[QUEUED].u = launch->times[TKT_LAUNCH_QUEUE].stats.count;
    bool is_known = tkt_device_idle_is_known(document->trace);
    row[LATE].u = is_known ? launch->late : TKT_NO_VALUE;
    row[LATE_SHARE].d = is_known ? 100 * tkt_share(launch->late, count) : NAN;
    row[WAITED].u = is_known ? launch->waited_ns : TKT_NO_VALUE;
    for (int i = 0; i < TKT_LAUNCH_TIMES; i++)
        fill_times(&row[TIMES + i * FIGURES], &launch->times[i]);
    row[CALL].text = launch->call ? tkt_trace_text(document->trace, launch->call) : "varies";
}

/* What devices waited for. */
static void add_waits(tkt_document *document, const tkt_launches *launches)
{
    tkt_document_add_fact(document, "not_hidden", "Launches not hidden", TKT_CELL_COUNT,
                          (tkt_cell){.u = launches->late});
    tkt_document_add_fact(document, "not_hidden_percent", NULL, TKT_CELL_SHARE,
                          (tkt_cell){.d = tkt_share(launches->late, launches->launched)});
    tkt_document_add_fact(document, "waited_ns", "Devices waited for launches", TKT_CELL_TIME,
                          (tkt_cell){.u = launches->waited_ns});
}

static void add_facts(tkt_document *document, const tkt_launches *launches)
{
    tkt_document_add_fact(document, "launches", "Launches", TKT_CELL_COUNT,
                          (tkt_cell){.u = launches->launched});
    if (tkt_device_idle_is_known(document->trace))
        add_waits(document, launches);
    if (launches->unattributed > 0)
        tkt_document_add_fact(document, "unattributed", "Activities whose launch is unknown",
                              TKT_CELL_COUNT, (tkt_cell){.u = launches->unattributed});
}

static bool has_graphs(const tkt_launches *launches)
{
    for (size_t i = 0; i < launches->count; i++) {
        if (launches->items[i].graph)
            return true;
    }
    return false;
}

static void add_notes(tkt_document *document, const tkt_launches *launches)
{
    tkt_document_add_note(document,
                          "Not hidden: the device ran out of work on all of its streams before the "
                          "call returned; Waited is how long it was idle because of that.");
    tkt_document_explain(document, "api_avg_ns", "API is the time of the call.");
    tkt_document_explain(document, "queue_avg_ns",
                         "Queue is the time from the end of the call to the begin of the work, "
                         "unless that was earlier.");
    tkt_document_explain(document, "total_avg_ns",
                         "Total is the time from the begin of the call to the end of the work.");
    tkt_document_explain(document, "api_median_ns", "Medians are within 3.2 %%.");
    tkt_note_more_medians(document, launches->count, TKT_LAUNCH_HISTOGRAMS);
    if (has_graphs(launches))
        tkt_document_add_note(document, "The nodes of a graph are one launch, from the begin of "
                                        "the first to the end of the last.");
    tkt_show_device_uncertainty(document);
}

static takt_status show(tkt_document *document, const tkt_launches *launches)
{
    tkt_table *table =
        tkt_document_add_table(document, "launches", columns, COLUMNS, launches->count);
    if (!table)
        return TAKT_NO_MEMORY;
    table->weight = WAITED;
    table->sort = WAITED;
    table->default_rows = 100;
    for (size_t i = 0; i < launches->count; i++)
        fill_row(tkt_table_add_row(table), document, &launches->items[i]);
    if (launches->count == 0)
        return TAKT_OK;
    add_facts(document, launches);
    add_notes(document, launches);
    return TAKT_OK;
}

/* ---- Launches without an activity ------------------------------------------------------------ */

enum {
    SCOPE,
    LOST_CALL,
    LOST_COUNT,
    LOST_COLUMNS
};

static const tkt_column lost_columns[LOST_COLUMNS] = {
    [SCOPE] = {"Scope", "scope", TKT_CELL_TEXT, 0, true, 1},
    [LOST_CALL] = {"Call", "launch", TKT_CELL_TEXT, 1, true, 1},
    [LOST_COUNT] = {"Count", "count", TKT_CELL_COUNT, 0, false, 1},
};

static takt_status show_missing(tkt_document *document, const tkt_missings *missings)
{
    if (missings->count == 0)
        return TAKT_OK;
    tkt_table *table =
        tkt_document_add_table(document, "missing", lost_columns, LOST_COLUMNS, missings->count);
    if (!table)
        return TAKT_NO_MEMORY;
    document->tables[0].is_hidden_empty = true;
    table->heading = "Launches without an activity:";
    table->weight = table->sort = LOST_COUNT;
    table->default_rows = 100;
    for (size_t i = 0; i < missings->count; i++) {
        const tkt_missing *missing = &missings->items[i];
        tkt_cell *row = tkt_table_add_row(table);
        row[SCOPE].text = tkt_missing_scopes(document->trace, missing, &document->texts);
        row[LOST_CALL].text = tkt_missing_call(document->trace, missing);
        row[LOST_COUNT].u = missing->count;
        if (!row[SCOPE].text)
            return TAKT_NO_MEMORY;
    }
    tkt_document_add_note(document,
                          "Without an activity: the work had not finished in time, or its record "
                          "was lost. Increase profiling.device_wait_ms or max_memory.");
    return TAKT_OK;
}

/* ---- The report ------------------------------------------------------------------------------ */

takt_status tkt_show_launches(tkt_document *document, const takt_report_options *options)
{
    if (document->sought) {
        TKT_SEEK(document, columns);
        return TKT_SEEK(document, lost_columns);
    }
    (void)options;
    tkt_launches launches = {0};
    document->nothing = "No launches";
    takt_status status = tkt_launches_of(document->trace, &launches);
    if (status == TAKT_OK)
        status = show(document, &launches);
    tkt_launches_fini(&launches);
    tkt_missings missings = {0};
    if (status == TAKT_OK)
        status = tkt_missings_of(document->trace, &missings);
    if (status == TAKT_OK)
        status = show_missing(document, &missings);
    tkt_missings_fini(&missings);
    return status;
}
