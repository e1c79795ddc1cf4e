/* The summary: the bottleneck in one sentence, the main figures of a recording, and advice. */
#include "report/show.h"
#include "summary/activities.h"
#include "summary/steps.h"

#include <string.h>

#define TOP_SCOPES     10
#define TOP_ACTIVITIES 5

enum {
    NAME,
    SELF_SHARE,
    SELF,
    TOTAL,
    AVERAGE,
    CALLS,
    HOST_COLUMNS,
    CUDA_SELF = HOST_COLUMNS,
    CUDA_TOTAL,
    SCOPES_COLUMNS
};

static const tkt_column scopes_columns[SCOPES_COLUMNS] = {
    [NAME] = {"Scope", "name", TKT_CELL_TEXT, 0, true, 1},
    [SELF_SHARE] = {"Self CPU %", "self_cpu_percent", TKT_CELL_SHARE, 2, false, 1},
    [SELF] = {"Self CPU", "self_cpu_ns", TKT_CELL_TIME, 1, false, 1},
    [TOTAL] = {"CPU total", "cpu_total_ns", TKT_CELL_TIME, 5, false, 1},
    [AVERAGE] = {"CPU time avg", "cpu_time_avg_ns", TKT_CELL_TIME, 7, false, 1},
    [CALLS] = {"# of Calls", "calls", TKT_CELL_COUNT, 3, false, 1},
    [CUDA_SELF] = {"Self CUDA", "self_cuda_ns", TKT_CELL_TIME, 6, false, 1},
    [CUDA_TOTAL] = {"CUDA total", "cuda_total_ns", TKT_CELL_TIME, 4, false, 1},
};

static takt_status show_scopes(tkt_document *document, const tkt_scopes *scopes)
{
    size_t columns = scopes->has_device ? SCOPES_COLUMNS : HOST_COLUMNS;
    tkt_table *table =
        tkt_document_add_table(document, "scopes", scopes_columns, columns, scopes->count);
    if (!table)
        return TAKT_NO_MEMORY;
    table->weight = table->sort = SELF;
    table->default_rows = TOP_SCOPES;
    for (size_t i = 0; i < scopes->count; i++) {
        const tkt_scope_total *scope = &scopes->items[i];
        tkt_cell *row = tkt_table_add_row(table);
        row[NAME].text = scope->name;
        row[SELF_SHARE].d = tkt_share(scope->self_ns, scopes->self_ns);
        row[SELF].u = scope->self_ns;
        row[TOTAL].u = scope->total_ns;
        row[AVERAGE].u = tkt_scope_mean_ns(scope);
        row[CALLS].u = scope->calls;
        if (!scopes->has_device)
            continue;
        row[CUDA_SELF].u = scope->device_self_ns;
        row[CUDA_TOTAL].u = scope->device_total_ns;
    }
    return TAKT_OK;
}

enum {
    ACTIVITY,
    TIME,
    TIME_AVERAGE,
    COUNT,
    ACTIVITIES_COLUMNS
};

static const tkt_column activities_columns[ACTIVITIES_COLUMNS] = {
    [ACTIVITY] = {"Activity", "activity", TKT_CELL_TEXT, 0, true, 1},
    [TIME] = {"Total time", "total_time_ns", TKT_CELL_TIME, 0, false, 1},
    [TIME_AVERAGE] = {"Average", "time_avg_ns", TKT_CELL_TIME, 2, false, 1},
    [COUNT] = {"Count", "count", TKT_CELL_COUNT, 1, false, 1},
};

static takt_status fill_activities(tkt_document *document, const tkt_activity_totals *totals,
                                   uint64_t *count)
{
    size_t rows = 0;
    for (size_t i = 0; i < totals->count; i++) {
        rows += totals->items[i].count > 0;
        *count += totals->items[i].count;
    }
    if (rows == 0)
        return TAKT_OK;
    tkt_table *table = tkt_document_add_table(document, "activities", activities_columns,
                                              ACTIVITIES_COLUMNS, rows);
    if (!table)
        return TAKT_NO_MEMORY;
    table->weight = TIME;
    table->sort = TIME;
    table->default_rows = TOP_ACTIVITIES;
    for (size_t i = 0; i < totals->count; i++) {
        const tkt_activity_total *total = &totals->items[i];
        const tkt_string *name = &totals->names.items[i];
        if (total->count == 0)
            continue;
        tkt_cell *row = tkt_table_add_row(table);
        row[ACTIVITY].text = tkt_document_copy(document, name->bytes, name->size);
        row[TIME].u = total->total_ns;
        row[TIME_AVERAGE].u = tkt_mean(total->total_ns, total->count);
        row[COUNT].u = total->count;
    }
    return TAKT_OK;
}

static takt_status show_activities(tkt_document *document, uint64_t *count)
{
    tkt_activity_totals totals;
    takt_status status = tkt_activities_total(document->trace, TKT_BY_ACTIVITY, &totals);
    if (status != TAKT_OK)
        return status;
    status = fill_activities(document, &totals, count);
    tkt_activity_totals_fini(&totals);
    return status;
}

enum {
    DEVICE,
    BUSY_SHARE,
    KNOWN,
    BUSY,
    IDLE,
    HOST_LATE,
    LATE,
    DEVICE_TIME,
    DEVICE_COUNT,
    DEVICE_COLUMNS
};

static const tkt_column device_columns[DEVICE_COLUMNS] = {
    [DEVICE] = {"Device", "device", TKT_CELL_TEXT, 0, true, 1},
    [BUSY_SHARE] = {"Busy %", "busy_percent", TKT_CELL_PERCENT, 0, false, 1},
    [KNOWN] = {"Known %", "known_percent", TKT_CELL_PERCENT, 2, false, 1},
    [BUSY] = {"Busy", "busy_ns", TKT_CELL_TIME, 5, false, 1},
    [IDLE] = {"Idle", "idle_ns", TKT_CELL_TIME, 6, false, 1},
    [HOST_LATE] = {"Host late", "idle_host_ns", TKT_CELL_TIME, 4, false, 1},
    [LATE] = {"Launches late", "late", TKT_CELL_COUNT, 3, false, 1},
    [DEVICE_TIME] = {"Total time", "total_time_ns", TKT_CELL_TIME, 1, false, 1},
    [DEVICE_COUNT] = {"Count", "count", TKT_CELL_COUNT, 2, false, 1},
};

/* Times are unknown without spans. */
static takt_status show_devices(tkt_document *document, const tkt_advice_basis *basis)
{
    const tkt_device_uses *uses = basis->uses;
    if (uses->count == 0)
        return TAKT_OK;
    tkt_table *table =
        tkt_document_add_table(document, "devices", device_columns, DEVICE_COLUMNS, uses->count);
    if (!table)
        return TAKT_NO_MEMORY;
    for (size_t i = 0; i < uses->count; i++) {
        const tkt_device_use *use = &uses->items[i];
        const tkt_idle *idle = tkt_idle_of(basis->gaps, use->device);
        tkt_cell *row = tkt_table_add_row(table);
        row[DEVICE].text = tkt_trace_text(document->trace, use->device);
        row[KNOWN].d = idle ? tkt_known_cell(basis->gaps, idle) : NAN;
        row[BUSY].u = tkt_if_known(idle, use->busy_ns);
        row[BUSY_SHARE].d = use->known_ns ? 100 * tkt_share(use->busy_ns, use->known_ns) : NAN;
        row[IDLE].u = tkt_if_known(idle, idle ? idle->idle_ns : 0);
        row[HOST_LATE].u = tkt_if_known(idle, idle ? idle->cause_ns[TKT_IDLE_HOST] : 0);
        row[LATE].u = tkt_if_known(idle, idle ? idle->late : 0);
        row[DEVICE_TIME].u = use->total_ns;
        row[DEVICE_COUNT].u = use->count;
    }
    tkt_table_hide_empty(table, KNOWN);
    return TAKT_OK;
}

/* The figures people look for first. They cover all steps, since a rate over a few recorded steps
 * says little. */
static void add_step_facts(tkt_document *document)
{
    tkt_step_figures steps = tkt_steps_all(document->trace);
    const char *rate = "Steps per second, all";
    if (steps.count == 0) {
        steps = tkt_steps_recorded(document->trace);
        rate = "Steps per second";
    }
    if (steps.count == 0)
        return;
    tkt_document_add_fact(document, "steps_per_second", rate, TKT_CELL_NUMBER,
                          (tkt_cell){.d = steps.steps_per_second});
    tkt_document_add_fact(document, "step_median_ns", "Step time, median", TKT_CELL_TIME,
                          (tkt_cell){.u = steps.median_ns});
    if (steps.count >= TKT_P99_LEAST)
        tkt_document_add_fact(document, "step_p99_ns", "Step time, p99", TKT_CELL_TIME,
                              (tkt_cell){.u = steps.p99_ns});
    if (steps.realtime_factor > 0)
        tkt_document_add_fact(document, "realtime_factor", "Real-time factor", TKT_CELL_NUMBER,
                              (tkt_cell){.d = steps.realtime_factor});
}

static uint64_t count_calls(const tkt_scopes *scopes)
{
    uint64_t count = 0;
    for (size_t i = 0; i < scopes->count; i++)
        count += scopes->items[i].calls;
    return count;
}

static void add_memory_facts(tkt_document *document)
{
    const tkt_memory_totals *memory = &document->trace->memory;
    if (memory->allocations == 0 && memory->peak_bytes == 0)
        return;
    tkt_document_add_fact(document, "memory_peak_bytes", "Host memory, peak", TKT_CELL_BYTES,
                          (tkt_cell){.u = memory->window_peak_bytes});
    tkt_document_add_fact(document, "memory_current_bytes", "Host memory, at the end",
                          TKT_CELL_BYTES, (tkt_cell){.u = memory->current_bytes});
    tkt_document_add_fact(
        document, "memory_change_bytes", "Host memory, change", TKT_CELL_CHANGE,
        (tkt_cell){.i = (int64_t)(memory->current_bytes - memory->window_begin_bytes)});
}

static void add_device_facts(tkt_document *document, const tkt_device_uses *uses,
                             const tkt_copying *copying)
{
    if (uses->count > 0)
        tkt_document_add_fact(document, "self_cuda_total_ns", "Self CUDA time total", TKT_CELL_TIME,
                              (tkt_cell){.u = uses->total_ns});
    if (copying->count > 0)
        tkt_document_add_fact(document, "copied_bytes", "Copied", TKT_CELL_BYTES,
                              (tkt_cell){.u = copying->bytes});
}

static void add_facts(tkt_document *document, const tkt_scopes *scopes, uint64_t activities)
{
    const takt_trace *trace = document->trace;
    const takt_facts *facts = &trace->facts;
    uint64_t wall_ns = tkt_wall_ns(facts);
    tkt_document_add_fact(document, "name", "Run", TKT_CELL_TEXT,
                          (tkt_cell){.text = tkt_trace_text(trace, trace->name)});
    tkt_show_run_facts(document);
    tkt_document_add_fact(document, "cycle", "Cycle", TKT_CELL_COUNT,
                          (tkt_cell){.u = facts->cycle});
    tkt_document_add_fact(document, "wall_ns", "Wall time", TKT_CELL_TIME,
                          (tkt_cell){.u = wall_ns});
    add_step_facts(document);
    tkt_document_add_fact(document, "self_cpu_total_ns", "Self CPU time total", TKT_CELL_TIME,
                          (tkt_cell){.u = scopes->self_ns});
    if (!tkt_trace_lacks_time(trace))
        tkt_document_add_fact(document, "self_cpu_per_wall", "Self CPU per wall time",
                              TKT_CELL_NUMBER,
                              (tkt_cell){.d = tkt_share(scopes->self_ns, wall_ns)});
    tkt_document_add_fact(document, "calls", "Calls of scopes", TKT_CELL_COUNT,
                          (tkt_cell){.u = count_calls(scopes)});
    tkt_document_add_fact(document, "activities", "Activities", TKT_CELL_COUNT,
                          (tkt_cell){.u = activities});
    if (facts->step_count > 0)
        tkt_document_add_fact(document, "first_step", "First recorded step", TKT_CELL_COUNT,
                              (tkt_cell){.u = facts->first_step});
    add_memory_facts(document);
}

static takt_status show(tkt_document *document, const tkt_advice_basis *basis)
{
    uint64_t activities = 0;
    takt_status status = show_scopes(document, basis->scopes);
    if (status == TAKT_OK)
        status = show_activities(document, &activities);
    if (status == TAKT_OK)
        status = show_devices(document, basis);
    char line[TKT_RUN_LINE];
    if (*tkt_run_line(line, document->trace))
        document->subline = tkt_document_copy(document, line, strlen(line));
    bool has_steps = document->trace->steps.count > 0 || document->trace->all_steps.stats.count > 0;
    if (status == TAKT_OK && has_steps)
        status = tkt_show_steps_table(document, basis->uses);
    add_facts(document, basis->scopes, activities);
    add_device_facts(document, basis->uses, &basis->gaps->copying);
    return status == TAKT_OK ? tkt_show_advice(document, basis) : status;
}

/* Computes everything that the page and its advice need. */
static takt_status find_basis(const takt_trace *trace, tkt_scopes *scopes, tkt_device_uses *uses,
                              const tkt_gaps **gaps, tkt_named_list *kernels, tkt_phases *phases)
{
    takt_status status = trace->memory_events.count > 0 ? tkt_scopes_memory(trace, scopes)
                                                        : tkt_scopes_sums(trace, scopes);
    if (status == TAKT_OK && trace->facts.has_spans)
        status = tkt_trace_gaps(trace, gaps);
    if (status == TAKT_OK)
        status = tkt_device_uses_of(trace, uses);
    if (status == TAKT_OK)
        status = tkt_kernels_of(trace, TKT_BY_NAME, kernels);
    if (status == TAKT_OK)
        status = tkt_phases_of(trace, phases);
    return status;
}

takt_status tkt_show_summary(tkt_document *document, const takt_report_options *options)
{
    if (document->sought) {
        TKT_SEEK(document, scopes_columns);
        TKT_SEEK(document, activities_columns);
        TKT_SEEK(document, device_columns);
        tkt_show_steps_table(document, NULL);
        return tkt_show_advice(document, NULL);
    }
    (void)options;
    static const tkt_gaps none;
    const tkt_gaps *gaps = &none;
    tkt_scopes scopes = {0};
    tkt_device_uses uses = {0};
    tkt_named_list kernels = {0};
    tkt_phases phases = {0};
    document->is_page = true;
    document->nothing = "No scopes";
    takt_status status = find_basis(document->trace, &scopes, &uses, &gaps, &kernels, &phases);
    if (status == TAKT_OK)
        status = show(document, &(tkt_advice_basis){&scopes, &uses, gaps, &kernels, &phases});
    tkt_phases_fini(&phases);
    tkt_named_fini(&kernels);
    TKT_ARRAY_FREE(&uses);
    tkt_scopes_fini(&scopes);
    return status;
}
