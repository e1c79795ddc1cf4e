/* The gaps report: how busy devices and their streams were, why they were idle, the longest gaps,
 * and what the host did meanwhile. */
#include "report/show.h"

#include "summary/device.h"
#include "summary/gaps.h"

#include <string.h>

#define USUAL_GAPS 10

enum {
    DEVICE,
    STREAM,
    COUNT,
    BUSY,
    BUSY_SHARE,
    KNOWN,
    IDLE,
    GAPS,
    CAUSES,
    CONTEXT = CAUSES + TKT_IDLE_CAUSES,
    LATE,
    COLUMNS
};

static const tkt_column columns[COLUMNS] = {
    [DEVICE] = {"Device", "device", TKT_CELL_TEXT, 0, true, 1},
    [STREAM] = {"Stream", "stream", TKT_CELL_COUNT, 0, false, 1},
    [COUNT] = {"Activities", "activities", TKT_CELL_COUNT, 4, false, 1},
    [BUSY] = {"Busy", "busy_ns", TKT_CELL_TIME, 10, false, 1},
    [BUSY_SHARE] = {"Busy %", "busy_percent", TKT_CELL_PERCENT, 0, false, 1},
    [KNOWN] = {"Known %", "known_percent", TKT_CELL_PERCENT, 0, false, 1},
    [IDLE] = {"Idle", "idle_ns", TKT_CELL_TIME, 1, false, 1},
    [GAPS] = {"Gaps", "gaps", TKT_CELL_COUNT, 2, false, 1},
    [CAUSES + TKT_IDLE_HOST] = {"Host late", "host_late_ns", TKT_CELL_TIME, 3, false, 1},
    [CAUSES + TKT_IDLE_WAIT] = {"Waited", "waited_ns", TKT_CELL_TIME, 5, false, 1},
    [CAUSES + TKT_IDLE_SHORT] = {"Short", "short_ns", TKT_CELL_TIME, 6, false, 1},
    [CAUSES + TKT_IDLE_GRAPH] = {"In graphs", "graph_ns", TKT_CELL_TIME, 9, false, 1},
    [CAUSES + TKT_IDLE_EDGE] = {"Edges", "edge_ns", TKT_CELL_TIME, 7, false, 1},
    [CAUSES + TKT_IDLE_OTHER] = {"Other", "other_ns", TKT_CELL_TIME, 8, false, 1},
    [CONTEXT] = {"Context", "context", TKT_CELL_COUNT, TKT_HIDDEN, false, 1},
    [LATE] = {"Late", "late", TKT_CELL_COUNT, TKT_HIDDEN, false, 1},
};

uint64_t tkt_if_known(const tkt_idle *idle, uint64_t value)
{
    return idle && idle->known_ns ? value : TKT_NO_VALUE;
}

double tkt_known_cell(const tkt_gaps *gaps, const tkt_idle *idle)
{
    return idle->known_ns < gaps->wall_ns ? 100 * tkt_share(idle->known_ns, gaps->wall_ns) : NAN;
}

static void fill_row(tkt_cell *row, const takt_trace *trace, const tkt_gaps *gaps,
                     const tkt_idle *idle)
{
    row[DEVICE].text = tkt_trace_text(trace, idle->device);
    row[STREAM].u = idle->is_device ? TKT_NO_VALUE : idle->stream;
    row[CONTEXT].u = idle->is_device ? TKT_NO_VALUE : idle->context;
    row[COUNT].u = idle->count;
    row[BUSY_SHARE].d = idle->known_ns ? 100 * tkt_share(idle->busy_ns, idle->known_ns) : NAN;
    row[KNOWN].d = tkt_known_cell(gaps, idle);
    row[BUSY].u = tkt_if_known(idle, idle->busy_ns);
    row[IDLE].u = tkt_if_known(idle, idle->idle_ns);
    row[GAPS].u = tkt_if_known(idle, idle->gaps);
    for (int i = 0; i < TKT_IDLE_CAUSES; i++)
        row[CAUSES + i].u = tkt_if_known(idle, idle->cause_ns[i]);
    row[LATE].u = tkt_if_known(idle, idle->late);
}

static bool add_rows(tkt_document *document, const tkt_gaps *gaps)
{
    tkt_table *table =
        tkt_document_add_table(document, "gaps", columns, COLUMNS, gaps->idles.count);
    for (size_t i = 0; table && i < gaps->idles.count; i++)
        fill_row(tkt_table_add_row(table), document->trace, gaps, &gaps->idles.items[i]);
    if (table)
        tkt_table_hide_empty(table, KNOWN);
    return table != NULL;
}

/* ---- Longest gaps ---------------------------------------------------------------------------- */

enum {
    LENGTH,
    BEGIN,
    WHERE,
    ON,
    CAUSE,
    SCOPE,
    BEFORE,
    AFTER,
    GAP_COLUMNS
};

static const tkt_column gap_columns[GAP_COLUMNS] = {
    [LENGTH] = {"Gap", "gap_ns", TKT_CELL_TIME, 0, false, 1},
    [BEGIN] = {"Begin", "begin_ns", TKT_CELL_OFFSET, 1, false, 1},
    [WHERE] = {"Device", "device", TKT_CELL_TEXT, 0, true, 1},
    [ON] = {"Stream", "stream", TKT_CELL_COUNT, TKT_HIDDEN, false, 1},
    [CAUSE] = {"Cause", "cause", TKT_CELL_TEXT, 0, true, 1},
    [SCOPE] = {"Host was in", "scope", TKT_CELL_TEXT, 0, true, 1},
    [BEFORE] = {"Preceded by", "before", TKT_CELL_TEXT, 3, true, 1},
    [AFTER] = {"Followed by", "after", TKT_CELL_TEXT, 2, true, 1},
};

static const char *activity_name(const takt_trace *trace, uint32_t activity)
{
    if (activity == UINT32_MAX)
        return NULL;
    return tkt_trace_text(trace, trace->activities.items[activity].name);
}

static void fill_gap(tkt_cell *row, const takt_trace *trace, const tkt_gaps *gaps,
                     const tkt_gap *gap)
{
    static const char *const causes[TKT_IDLE_CAUSES] = {
        [TKT_IDLE_HOST] = "host late", [TKT_IDLE_WAIT] = "waited", [TKT_IDLE_SHORT] = "short",
        [TKT_IDLE_GRAPH] = "graph",    [TKT_IDLE_EDGE] = "edge",   [TKT_IDLE_OTHER] = "other"};
    const tkt_idle *idle = &gaps->idles.items[gap->idle];
    row[LENGTH].u = gap->end_ns - gap->begin_ns;
    row[BEGIN].i = (int64_t)(gap->begin_ns - trace->facts.begin_ns);
    row[WHERE].text = tkt_trace_text(trace, idle->device);
    row[ON].u = idle->is_device ? TKT_NO_VALUE : idle->stream;
    row[CAUSE].text = causes[gap->cause];
    row[SCOPE].text = gap->name ? tkt_trace_text(trace, gap->name) : NULL;
    row[BEFORE].text = activity_name(trace, gap->before);
    row[AFTER].text = activity_name(trace, gap->after);
}

/* Adds a table of the `most` longest gaps. */
static takt_status add_gaps(tkt_document *document, const char *key, const char *heading,
                            const tkt_gaps *gaps, const tkt_gap_list *list, size_t most)
{
    size_t count = list->count < most ? list->count : most;
    tkt_table *table = tkt_document_add_table(document, key, gap_columns, GAP_COLUMNS, count);
    tkt_gap *named = tkt_alloc((count + 1) * sizeof *named);
    takt_status status = table && named ? TAKT_OK : TAKT_NO_MEMORY;
    if (status == TAKT_OK) {
        if (count > 0)
            memcpy(named, list->items, count * sizeof *named);
        status = tkt_gaps_name(document->trace, named, count);
    }
    if (status == TAKT_OK) {
        for (size_t i = 0; i < count; i++)
            fill_gap(tkt_table_add_row(table), document->trace, gaps, &named[i]);
        table->heading = heading;
        table->is_hidden_empty = true;
        table->all_rows = list->count;
    }
    tkt_free(named);
    return status;
}

/* ---- By scope -------------------------------------------------------------------------------- */

enum {
    HOST_IN,
    OF,
    IDLE_TIME,
    IDLE_SHARE,
    HOST_LATE,
    IN_CALLS,
    SCOPE_COLUMNS
};

static const tkt_column scope_columns[SCOPE_COLUMNS] = {
    [HOST_IN] = {"Host was in", "scope", TKT_CELL_TEXT, 0, true, 1},
    [OF] = {"Device", "device", TKT_CELL_TEXT, 0, true, 1},
    [IDLE_TIME] = {"Idle", "idle_ns", TKT_CELL_TIME, 0, false, 1},
    [IDLE_SHARE] = {"Idle %", "idle_percent", TKT_CELL_SHARE, 0, false, 1},
    [HOST_LATE] = {"Host late", "host_late_ns", TKT_CELL_TIME, 1, false, 1},
    [IN_CALLS] = {"In calls", "in_calls_ns", TKT_CELL_TIME, 2, false, 1},
};

static const char *scope_name(const takt_trace *trace, const tkt_idle_scope *scope)
{
    if (scope->is_unknown)
        return "(thread not known)";
    return scope->name ? tkt_trace_text(trace, scope->name) : "(outside of scopes)";
}

/* Idle time of the device whose rows start at `first`: the sum of these rows. */
static uint64_t idle_of(const tkt_gaps *gaps, size_t first)
{
    uint64_t idle_ns = 0;
    uint32_t device = gaps->scopes.items[first].device;
    for (size_t i = first; i < gaps->scopes.count && gaps->scopes.items[i].device == device; i++)
        idle_ns += gaps->scopes.items[i].idle_ns;
    return idle_ns;
}

static bool add_scopes(tkt_document *document, const tkt_gaps *gaps)
{
    tkt_table *table = tkt_document_add_table(document, "scopes", scope_columns, SCOPE_COLUMNS,
                                              gaps->scopes.count);
    if (!table)
        return false;
    table->heading = "Idle time of devices by what the host did:";
    table->is_hidden_empty = true;
    table->weight = table->sort = IDLE_TIME;
    table->default_rows = 20;
    uint64_t idle_ns = 0;
    for (size_t i = 0; i < gaps->scopes.count; i++) {
        const tkt_idle_scope *scope = &gaps->scopes.items[i];
        if (i == 0 || scope->device != scope[-1].device)
            idle_ns = idle_of(gaps, i);
        tkt_cell *row = tkt_table_add_row(table);
        row[HOST_IN].text = scope_name(document->trace, scope);
        row[OF].text = tkt_trace_text(document->trace, scope->device);
        row[IDLE_TIME].u = scope->idle_ns;
        row[IDLE_SHARE].d = tkt_share(scope->idle_ns, idle_ns);
        row[HOST_LATE].u = scope->host_ns;
        row[IN_CALLS].u = scope->call_ns;
    }
    return true;
}

void tkt_show_device_uncertainty(tkt_document *document)
{
    char text[TKT_VALUE_SIZE];
    double uncertainty_ns = document->trace->facts.device_uncertainty_ns;
    tkt_value_fixed(text, uncertainty_ns, 1);
    bool is_least = document->trace->facts.device_uncertainty_is_least;
    if (uncertainty_ns > 0)
        tkt_document_add_note(document,
                              "Times of host and devices are comparable to within %s ns%s.", text,
                              is_least ? " or more" : "");
    else
        tkt_document_add_note(document,
                              "The uncertainty between times of host and devices is unknown.");
}

/* ---- The report ------------------------------------------------------------------------------ */

static void add_notes(tkt_document *document)
{
    tkt_document_explain(
        document, "known_percent",
        "Known: the part of the recording in which it is known when this was busy. "
        "From the launch of its first activity on it was, at least with that.");
    if (!tkt_device_idle_is_known(document->trace))
        return;
    tkt_document_add_note(
        document,
        "A row without a stream is the whole device, idle while none of its "
        "streams ran. Host late: the next work was launched after the previous one had ended.");
    tkt_document_explain(document, "waited_ns",
                         "Waited: launched in time, but waited for an event or another stream.");
    tkt_document_explain(document, "short_ns",
                         "Short: less than %d us between work launched in time.",
                         TKT_SHORT_GAP_NS / 1000);
    tkt_document_explain(
        document, "edge_ns",
        "Edges: before the first activity of a device that was watched already, and "
        "after the last.");
    tkt_document_add_note(document,
                          "Host was in: the scope of the thread that launched the next activity; "
                          "after the last activity, of the thread that launched that one.");
    tkt_show_device_uncertainty(document);
    tkt_document_add_fact(document, "short_gap_ns", NULL, TKT_CELL_TIME,
                          (tkt_cell){.u = TKT_SHORT_GAP_NS});
}

static size_t wanted_gaps(const takt_report_options *options)
{
    if (options->rows == 0)
        return USUAL_GAPS;
    return options->rows < 0 ? TKT_MOST_GAPS : (size_t)options->rows;
}

static takt_status show(tkt_document *document, const tkt_gaps *gaps, size_t most)
{
    if (!add_rows(document, gaps))
        return TAKT_NO_MEMORY;
    takt_status status =
        add_gaps(document, "longest", "Longest gaps of devices:", gaps, &gaps->device_gaps, most);
    if (status == TAKT_OK && !add_scopes(document, gaps))
        status = TAKT_NO_MEMORY;
    if (status == TAKT_OK)
        status = add_gaps(document, "stream_gaps", "Longest gaps of streams:", gaps,
                          &gaps->stream_gaps, most);
    if (status != TAKT_OK)
        return status;
    document->tables[document->table_count - 1].is_raw = true;
    if (gaps->idles.count > 0)
        add_notes(document);
    return TAKT_OK;
}

takt_status tkt_show_gaps(tkt_document *document, const takt_report_options *options)
{
    if (document->sought) {
        TKT_SEEK(document, columns);
        TKT_SEEK(document, gap_columns);
        return TKT_SEEK(document, scope_columns);
    }
    const tkt_gaps *gaps;
    document->nothing = "No activity of a device";
    takt_status status = tkt_trace_gaps(document->trace, &gaps);
    return status == TAKT_OK ? show(document, gaps, wanted_gaps(options)) : status;
}
