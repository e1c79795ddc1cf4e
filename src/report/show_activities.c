/* Warp's three tables as reports: timeline, activities, devices. */
#include "report/show.h"

#include "summary/activities.h"

#define TIMELINE_ROWS   1000
#define ACTIVITIES_ROWS 1000

enum {
    TIME,
    DEVICE,
    ACTIVITY,
    BEGIN,
    THREAD,
    SCOPE,
    HOST_COLUMNS,
    STREAM = HOST_COLUMNS,
    CORRELATION,
    LAUNCH,
    BYTES,
    TIMELINE_COLUMNS
};

static const tkt_column timeline_columns[TIMELINE_COLUMNS] = {
    [TIME] = {"Time", "time_ns", TKT_CELL_TIME, 0, false, 1},
    [DEVICE] = {"Device", "device", TKT_CELL_TEXT, 0, true, 1},
    [ACTIVITY] = {"Activity", "activity", TKT_CELL_TEXT, 0, true, 1},
    [BEGIN] = {"Begin", "begin_ns", TKT_CELL_OFFSET, TKT_HIDDEN, false, 1},
    [THREAD] = {"Thread", "thread", TKT_CELL_COUNT, TKT_HIDDEN, false, 1},
    [SCOPE] = {"Scope", "scope", TKT_CELL_TEXT, TKT_HIDDEN, true, 1},
    [STREAM] = {"Stream", "stream", TKT_CELL_COUNT, TKT_HIDDEN, false, 1},
    [CORRELATION] = {"Correlation", "correlation", TKT_CELL_COUNT, TKT_HIDDEN, false, 1},
    [LAUNCH] = {"Launch", "launch", TKT_CELL_TEXT, TKT_HIDDEN, true, 1},
    [BYTES] = {"Bytes", "bytes", TKT_CELL_BYTES, TKT_HIDDEN, false, 1},
};

static const char *scope_of(const takt_trace *trace, const tkt_activity *activity)
{
    if (activity->track == TKT_NO_TRACK || activity->scope == TKT_NO_SPAN)
        return NULL;
    const tkt_span *span = &trace->tracks.items[activity->track].spans.items[activity->scope];
    return tkt_trace_text(trace, tkt_span_name(trace, span));
}

static void fill_timeline_row(tkt_cell *row, const takt_trace *trace, const tkt_activity *activity)
{
    row[TIME].u = activity->end_ns - activity->begin_ns;
    row[DEVICE].text = tkt_trace_text(trace, activity->device);
    row[ACTIVITY].text = tkt_trace_text(trace, activity->name);
    row[BEGIN].i = (int64_t)(activity->begin_ns - trace->facts.begin_ns);
    row[THREAD].u = activity->track == TKT_NO_TRACK
                        ? TKT_NO_VALUE
                        : trace->tracks.items[activity->track].thread_id;
    row[SCOPE].text = scope_of(trace, activity);
}

static const char *launch_of(const takt_trace *trace, const tkt_activity *activity)
{
    if (activity->call == TKT_NO_CALL)
        return NULL;
    const tkt_call_info *call = &trace->calls.items[activity->call];
    const tkt_span *span = &trace->tracks.items[call->track].spans.items[call->span];
    return tkt_trace_text(trace, tkt_span_name(trace, span));
}

static void fill_device_cells(tkt_cell *row, const takt_trace *trace, const tkt_activity *activity)
{
    bool is_device = activity->span == TKT_NO_SPAN;
    uint64_t bytes =
        activity->shape == TKT_NO_SHAPE ? 0 : trace->shapes.items[activity->shape].bytes;
    row[STREAM].u = is_device ? activity->stream : TKT_NO_VALUE;
    row[CORRELATION].u = activity->correlation ? activity->correlation : TKT_NO_VALUE;
    row[LAUNCH].text = launch_of(trace, activity);
    row[BYTES].u = bytes ? bytes : TKT_NO_VALUE;
}

/* Without sorting, build only the rows to be shown: there may be millions. */
static size_t timeline_rows(const takt_trace *trace, const takt_report_options *options)
{
    size_t count = trace->activities.count;
    size_t limit = options->rows == 0 ? TIMELINE_ROWS : (size_t)options->rows;
    return options->sort || options->rows < 0 || limit > count ? count : limit;
}

takt_status tkt_show_timeline(tkt_document *document, const takt_report_options *options)
{
    if (document->sought)
        return TKT_SEEK(document, timeline_columns);
    const takt_trace *trace = document->trace;
    if (!trace->facts.has_spans)
        return TAKT_NO_SPANS;
    bool are_cuda;
    takt_status status = tkt_activities_are_cuda(trace, &are_cuda);
    if (status != TAKT_OK)
        return status;
    size_t rows = timeline_rows(trace, options);
    bool has_devices = tkt_device_activity_count(trace) > 0;
    size_t columns = has_devices ? TIMELINE_COLUMNS : HOST_COLUMNS;
    tkt_table *table =
        tkt_document_add_table(document, "timeline", timeline_columns, columns, rows);
    if (!table)
        return TAKT_NO_MEMORY;
    document->nothing = "No activity";
    table->heading = are_cuda ? "CUDA timeline:" : "Timeline:";
    table->style = TKT_STYLE_WARP;
    table->default_rows = TIMELINE_ROWS;
    table->all_rows = trace->activities.count;
    for (size_t i = 0; i < rows; i++) {
        tkt_cell *row = tkt_table_add_row(table);
        fill_timeline_row(row, trace, &trace->activities.items[i]);
        if (has_devices)
            fill_device_cells(row, trace, &trace->activities.items[i]);
    }
    return TAKT_OK;
}

enum {
    TOTAL_TIME,
    COUNT,
    NAME,
    TOTALS_COLUMNS
};

static const tkt_column activities_columns[TOTALS_COLUMNS] = {
    [TOTAL_TIME] = {"Total time", "total_time_ns", TKT_CELL_TIME, 0, false, 1},
    [COUNT] = {"Count", "count", TKT_CELL_COUNT, 0, false, 1},
    [NAME] = {"Activity", "activity", TKT_CELL_TEXT, 0, true, 1},
};

static const tkt_column devices_columns[TOTALS_COLUMNS] = {
    [TOTAL_TIME] = {"Total time", "total_time_ns", TKT_CELL_TIME, 0, false, 1},
    [COUNT] = {"Count", "count", TKT_CELL_COUNT, 0, false, 1},
    [NAME] = {"Device", "device", TKT_CELL_TEXT, 0, true, 1},
};

static size_t used_count(const tkt_activity_totals *totals)
{
    size_t count = 0;
    for (size_t i = 0; i < totals->count; i++)
        count += totals->items[i].count > 0;
    return count;
}

static takt_status show_totals(tkt_document *document, const tkt_column *columns,
                               const tkt_activity_totals *totals)
{
    tkt_table *table = tkt_document_add_table(document, document->name, columns, TOTALS_COLUMNS,
                                              used_count(totals));
    if (!table)
        return TAKT_NO_MEMORY;
    document->nothing = "No activity";
    table->style = TKT_STYLE_WARP;
    table->default_rows = ACTIVITIES_ROWS;
    for (uint32_t i = 0; i < totals->count; i++) {
        if (totals->items[i].count == 0)
            continue;
        const tkt_string *name = &totals->names.items[i];
        tkt_cell *row = tkt_table_add_row(table);
        row[TOTAL_TIME].u = totals->items[i].total_ns;
        row[COUNT].u = totals->items[i].count;
        row[NAME].text = tkt_document_copy(document, name->bytes, name->size);
    }
    return TAKT_OK;
}

static takt_status show_by(tkt_document *document, tkt_activity_key key, const tkt_column *columns,
                           const char *cuda_heading, const char *heading)
{
    tkt_activity_totals totals;
    takt_status status = tkt_activities_total(document->trace, key, &totals);
    if (status != TAKT_OK)
        return status;
    bool are_cuda = false;
    status = show_totals(document, columns, &totals);
    if (status == TAKT_OK)
        status = tkt_activities_are_cuda(document->trace, &are_cuda);
    if (status == TAKT_OK)
        document->tables[0].heading = are_cuda ? cuda_heading : heading;
    tkt_activity_totals_fini(&totals);
    return status;
}

takt_status tkt_show_activities(tkt_document *document, const takt_report_options *options)
{
    if (document->sought)
        return TKT_SEEK(document, activities_columns);
    (void)options;
    return show_by(document, TKT_BY_ACTIVITY, activities_columns,
                   "CUDA activity summary:", "Activity summary:");
}

takt_status tkt_show_devices(tkt_document *document, const takt_report_options *options)
{
    if (document->sought)
        return TKT_SEEK(document, devices_columns);
    (void)options;
    return show_by(document, TKT_BY_DEVICE, devices_columns,
                   "CUDA device summary:", "Device summary:");
}
