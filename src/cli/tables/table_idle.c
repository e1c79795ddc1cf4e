/* Tables of times in which devices were idle. summary/gaps.h finds them, as for the reports. A
 * trace without spans has no rows here. */
#include "cli/tables/tables.h"
#include "summary/device.h"
#include "summary/gaps.h"

/* ======== Idle times ======== */

static const table_column idle_columns[] = {{"kind", "TEXT"},
                                            {"device", "TEXT"},
                                            {"context", "INTEGER"},
                                            {"stream", "INTEGER"},
                                            {"before", "INTEGER REFERENCES activities"},
                                            {"after", "INTEGER REFERENCES activities"},
                                            {"is_late", "INTEGER"},
                                            {"rest", "TEXT"},
                                            {"begin_ns", "INTEGER"},
                                            {"end_ns", "INTEGER"},
                                            {"host_until_ns", "INTEGER"}};

/* Rows from the callbacks of one pass. */
typedef struct idle_rows {
    const takt_trace *trace;
    table_row *row;
    bool is_stopped; /* a row was not accepted */
} idle_rows;

static void put_row_of(table_row *row, const takt_trace *trace, const tkt_idle *idle)
{
    table_put_text(row, idle->is_device ? "device" : "stream");
    table_put_text(row, tkt_trace_text(trace, idle->device));
    table_put_known(row, idle->context);
    if (idle->is_device)
        table_put_null(row);
    else
        table_put_uint(row, idle->stream);
}

/* Puts the id of an activity, which is its index + 1. */
static void put_activity(table_row *row, uint32_t activity)
{
    table_put_known(row, activity == UINT32_MAX ? 0 : (uint64_t)activity + 1);
}

static void put_idle_time(void *user, const tkt_idle_time *time)
{
    static const char *const causes[TKT_IDLE_CAUSES] = {
        [TKT_IDLE_HOST] = "host late", [TKT_IDLE_WAIT] = "waited", [TKT_IDLE_SHORT] = "short",
        [TKT_IDLE_GRAPH] = "graph",    [TKT_IDLE_EDGE] = "edge",   [TKT_IDLE_OTHER] = "other"};
    idle_rows *to = user;
    if (to->is_stopped)
        return;
    put_row_of(to->row, to->trace, time->idle);
    put_activity(to->row, time->gap->before);
    put_activity(to->row, time->gap->after);
    table_put_int(to->row, time->is_late);
    table_put_text(to->row, causes[time->rest]);
    table_put_uint(to->row, time->gap->begin_ns);
    table_put_uint(to->row, time->gap->end_ns);
    table_put_uint(to->row, time->host_until_ns);
    to->is_stopped = !table_row_end(to->row);
}

static bool pass(const takt_trace *trace, const tkt_gaps_wish *wish)
{
    tkt_gaps gaps = {0};
    takt_status status = tkt_gaps_of(trace, wish, &gaps);
    tkt_gaps_fini(&gaps);
    return status == TAKT_OK || status == TAKT_NO_SPANS;
}

static bool fill_idle_times(const table_source *source, table_row *row)
{
    idle_rows to = {.trace = source->trace, .row = row};
    return pass(source->trace, &(tkt_gaps_wish){.each = put_idle_time, .user = &to}) &&
           !to.is_stopped;
}

const table table_idle_times = TABLE_OF("idle_times", idle_columns, fill_idle_times);

/* ======== Host activity during idle times ======== */

static const table_column scope_columns[] = {{"device", "TEXT"},        {"begin_ns", "INTEGER"},
                                             {"scope", "TEXT"},         {"is_unknown", "INTEGER"},
                                             {"idle_ns", "INTEGER"},    {"host_late_ns", "INTEGER"},
                                             {"in_calls_ns", "INTEGER"}};

/* The parts of one idle time, by scope. */
typedef struct idle_parts {
    idle_rows to;
    uint64_t begin_ns;
    TKT_ARRAY(tkt_idle_scope);
} idle_parts;

static void put_parts(idle_parts *p)
{
    for (size_t i = 0; i < p->count && !p->to.is_stopped; i++) {
        const tkt_idle_scope *part = &p->items[i];
        table_row *row = p->to.row;
        table_put_text(row, tkt_trace_text(p->to.trace, part->device));
        table_put_uint(row, p->begin_ns);
        table_put_text(row, part->name ? tkt_trace_text(p->to.trace, part->name) : NULL);
        table_put_int(row, part->is_unknown);
        table_put_uint(row, part->idle_ns);
        table_put_uint(row, part->host_ns);
        table_put_uint(row, part->call_ns);
        p->to.is_stopped = !table_row_end(row);
    }
    p->count = 0;
}

/* Starts an idle time. Its parts follow, so the parts of the previous one are complete. */
static void begin_parts(void *user, const tkt_idle_time *time)
{
    idle_parts *p = user;
    if (!time->idle->is_device)
        return;
    put_parts(p);
    p->begin_ns = time->gap->begin_ns;
}

static void add_part(void *user, const tkt_idle_scope *part)
{
    idle_parts *p = user;
    for (size_t i = 0; i < p->count; i++) {
        tkt_idle_scope *known = &p->items[i];
        if (known->name != part->name || known->is_unknown != part->is_unknown)
            continue;
        known->idle_ns += part->idle_ns;
        known->host_ns += part->host_ns;
        known->call_ns += part->call_ns;
        return;
    }
    tkt_idle_scope *added = TKT_ARRAY_ADD(p);
    if (added)
        *added = *part;
    p->to.is_stopped |= !added;
}

static bool fill_idle_in_scopes(const table_source *source, table_row *row)
{
    idle_parts p = {.to = {.trace = source->trace, .row = row}};
    const tkt_gaps_wish wish = {.each = begin_parts, .stay = add_part, .user = &p};
    bool is_good = pass(source->trace, &wish);
    if (is_good)
        put_parts(&p);
    TKT_ARRAY_FREE(&p);
    return is_good && !p.to.is_stopped;
}

const table table_idle_in_scopes = TABLE_OF("idle_in_scopes", scope_columns, fill_idle_in_scopes);

/* ======== What is known ======== */

static const table_column known_columns[] = {{"kind", "TEXT"},        {"device", "TEXT"},
                                             {"context", "INTEGER"},  {"stream", "INTEGER"},
                                             {"known_ns", "INTEGER"}, {"wall_ns", "INTEGER"}};

static bool fill_known_times(const table_source *source, table_row *row)
{
    const tkt_gaps *gaps;
    takt_status status = tkt_trace_gaps(source->trace, &gaps);
    bool is_good = status == TAKT_OK;
    for (size_t i = 0; is_good && i < gaps->idles.count; i++) {
        put_row_of(row, source->trace, &gaps->idles.items[i]);
        table_put_uint(row, gaps->idles.items[i].known_ns);
        table_put_uint(row, gaps->wall_ns);
        is_good = table_row_end(row);
    }
    return is_good || status == TAKT_NO_SPANS;
}

const table table_known_times = TABLE_OF("known_times", known_columns, fill_known_times);

/* ======== Steps ======== */

static const table_column step_columns[] = {
    {"device", "TEXT"}, {"busy_ns", "INTEGER"}, {"unknown_ns", "INTEGER"}};

static bool fill_busy_in_steps(const table_source *source, table_row *row)
{
    const takt_trace *trace = source->trace;
    tkt_device_uses uses = {0};
    if (!trace->facts.has_spans || trace->steps.count == 0)
        return true;
    bool is_good = tkt_device_uses_of(trace, &uses) == TAKT_OK;
    for (size_t i = 0; is_good && i < uses.count; i++) {
        table_put_text(row, tkt_trace_text(trace, uses.items[i].device));
        if (uses.items[i].known_ns)
            table_put_uint(row, uses.items[i].step_busy_ns);
        else
            table_put_null(row);
        table_put_uint(row, uses.items[i].step_unknown_ns);
        is_good = table_row_end(row);
    }
    TKT_ARRAY_FREE(&uses);
    return is_good;
}

const table table_busy_in_steps = TABLE_OF("busy_in_steps", step_columns, fill_busy_in_steps);
