/* The scopes report: torch's key averages, with its column names. */
#include "report/show.h"

#include "base/own.h"
#include "base/text.h"
#include "summary/scopes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* All columns, in torch's order. */
enum {
    NAME,
    SELF_SHARE,
    SELF,
    TOTAL_SHARE,
    TOTAL,
    AVERAGE,
    DEVICE_SELF,
    DEVICE_SELF_SHARE,
    DEVICE_TOTAL,
    DEVICE_AVERAGE,
    DEVICE_BUSY,
    HOST_BYTES,
    HOST_SELF_BYTES,
    DEVICE_BYTES,
    DEVICE_SELF_BYTES,
    CALLS,
    PIECES,
    LEAST,
    MOST,
    THREADS,
    THREAD_LEAST,
    THREAD_MEAN,
    THREAD_MOST,
    IMBALANCE,
    ARGUMENTS,
    STACK,
    FLOPS,
    KIND,
    COLUMNS
};

static const tkt_column all_columns[COLUMNS] = {
    [NAME] = {"Name", "name", TKT_CELL_TEXT, 0, false, 1},
    [SELF_SHARE] = {"Self CPU %", "self_cpu_percent", TKT_CELL_SHARE, 4, false, 1},
    [SELF] = {"Self CPU", "self_cpu_ns", TKT_CELL_TIME, 8, false, 1},
    [TOTAL_SHARE] = {"CPU total %", "cpu_total_percent", TKT_CELL_SHARE, 6, false, 1},
    [TOTAL] = {"CPU total", "cpu_total_ns", TKT_CELL_TIME, 1, false, 1},
    [AVERAGE] = {"CPU time avg", "cpu_time_avg_ns", TKT_CELL_TIME, 13, false, 1},
    [DEVICE_SELF] = {"Self CUDA", "self_cuda_ns", TKT_CELL_TIME, 9, false, 1},
    [DEVICE_SELF_SHARE] = {"Self CUDA %", "self_cuda_percent", TKT_CELL_SHARE, 5, false, 1},
    [DEVICE_TOTAL] = {"CUDA total", "cuda_total_ns", TKT_CELL_TIME, 2, false, 1},
    [DEVICE_AVERAGE] = {"CUDA time avg", "cuda_time_avg_ns", TKT_CELL_TIME, 14, false, 1},
    [DEVICE_BUSY] = {"CUDA busy", "cuda_busy_ns", TKT_CELL_TIME, 15, false, 1},
    [HOST_BYTES] = {"CPU Mem", "cpu_memory_bytes", TKT_CELL_CHANGE, 11, false, 1},
    [HOST_SELF_BYTES] = {"Self CPU Mem", "self_cpu_memory_bytes", TKT_CELL_CHANGE, 17, false, 1},
    [DEVICE_BYTES] = {"CUDA Mem", "cuda_memory_bytes", TKT_CELL_CHANGE, 10, false, 1},
    [DEVICE_SELF_BYTES] = {"Self CUDA Mem", "self_cuda_memory_bytes", TKT_CELL_CHANGE, 16, false,
                           1},
    [CALLS] = {"# of Calls", "calls", TKT_CELL_COUNT, 3, false, 1},
    [PIECES] = {"Cut", "pieces", TKT_CELL_COUNT, 16, false, 1},
    [LEAST] = {"CPU time min", "cpu_time_min_ns", TKT_CELL_TIME, TKT_HIDDEN, false, 1},
    [MOST] = {"CPU time max", "cpu_time_max_ns", TKT_CELL_TIME, TKT_HIDDEN, false, 1},
    [THREADS] = {"Threads", "threads", TKT_CELL_COUNT, 12, false, 1},
    [THREAD_LEAST] = {"Thread min", "thread_min_ns", TKT_CELL_TIME, 18, false, 1},
    [THREAD_MEAN] = {"Thread mean", "thread_mean_ns", TKT_CELL_TIME, 18, false, 1},
    [THREAD_MOST] = {"Thread max", "thread_max_ns", TKT_CELL_TIME, 18, false, 1},
    [IMBALANCE] = {"Max/mean", "thread_imbalance", TKT_CELL_NUMBER, 12, false, 1},
    [ARGUMENTS] = {"Input Shapes", "arguments", TKT_CELL_TEXT, 0, false, 1},
    [STACK] = {"Source Location", "stack", TKT_CELL_TEXT, 0, false, 1},
    [FLOPS] = {"Total FLOPs", "flops", TKT_CELL_NUMBER, 7, false, 1},
    [KIND] = {"Kind", "kind", TKT_CELL_TEXT, TKT_HIDDEN, true, 1},
};

/* By unit. */
static const tkt_column flops_columns[] = {
    {"Total FLOPs", "flops", TKT_CELL_NUMBER, 7, false, 1},
    {"Total KFLOPs", "flops", TKT_CELL_NUMBER, 7, false, 2},
    {"Total MFLOPs", "flops", TKT_CELL_NUMBER, 7, false, 3},
    {"Total GFLOPs", "flops", TKT_CELL_NUMBER, 7, false, 4},
    {"Total TFLOPs", "flops", TKT_CELL_NUMBER, 7, false, 5},
    {"Total PFLOPs", "flops", TKT_CELL_NUMBER, 7, false, 6},
};

/* Like torch, choose one unit for the whole column, by its largest value; the title names it. */
static void set_flops_unit(tkt_column *column, const tkt_scopes *scopes)
{
    double greatest = 0;
    for (size_t i = 0; i < scopes->count; i++)
        if (tkt_is_finite(scopes->items[i].flops))
            greatest = fmax(greatest, scopes->items[i].flops);
    size_t unit = 0;
    for (double least = 1000;
         unit + 1 < sizeof flops_columns / sizeof *flops_columns && greatest >= least;)
        unit++, least *= 1000;
    *column = flops_columns[unit];
    if (!(greatest > 0)) /* no scope declared any: dropped first */
        column->rank = 19;
}

static size_t put_argument(char *out, size_t size, const takt_trace *trace, const tkt_arg *arg)
{
    char number[TKT_VALUE_SIZE];
    const char *value = number;
    switch (arg->type) {
    case TKT_ARG_INT:
        *tkt_put_i64(number, arg->value.i) = '\0';
        break;
    case TKT_ARG_UINT:
        *tkt_put_u64(number, arg->value.u) = '\0';
        break;
    case TKT_ARG_DOUBLE:
        *tkt_put_real(number, arg->value.d, TKT_DOUBLE_DIGITS) = '\0';
        break;
    case TKT_ARG_BOOL:
        value = arg->value.b ? "true" : "false";
        break;
    case TKT_ARG_STRING:
        value = tkt_trace_text(trace, arg->value.string);
        break;
    }
    int length = snprintf(out, size, "%s=%s", tkt_trace_text(trace, arg->key), value);
    return length < 0 ? 0 : (size_t)length;
}

/* "cells=100, mode=fast"; longer text ends in dots. */
static const char *arguments_of(tkt_document *document, const tkt_scope_total *scope)
{
    char text[1024] = "";
    size_t used = 0;
    for (uint32_t i = 0; i < scope->arg_count && used < sizeof text; i++) {
        const tkt_track *track = &document->trace->tracks.items[scope->track];
        if (i > 0)
            used += (size_t)snprintf(text + used, sizeof text - used, ", ");
        if (used < sizeof text)
            used += put_argument(text + used, sizeof text - used, document->trace,
                                 &track->args.items[scope->first_arg + i]);
    }
    tkt_text_end(text, sizeof text, used);
    return tkt_document_copy(document, text, strlen(text));
}

/* "forces.c(42): pairs <- step.c(10): step": the innermost frames, each followed by its caller. */
static const char *stack_of(tkt_document *document, const tkt_scope_total *scope, uint32_t frames)
{
    uint32_t stack = scope->kind == TKT_KIND_ACTIVITY ? TKT_NO_GROUP : scope->stack;
    char text[2048] = "";
    size_t used = 0;
    if (stack >= document->trace->stacks.count)
        return "";
    uint32_t count = document->trace->stacks.items[stack].frame_count, i = 0;
    count = count < frames ? count : frames;
    for (; i < count && used < sizeof text - 8; i++) {
        if (i > 0)
            used += (size_t)snprintf(text + used, sizeof text - used, " <- ");
        tkt_frame_place(text + used, sizeof text - used, document->trace,
                        tkt_frame_at(document->trace, stack, i));
        used += strlen(text + used);
    }
    tkt_text_end(text, used + 1, i < count || used + 1 == sizeof text ? sizeof text : used);
    return tkt_document_copy(document, text, strlen(text));
}

static void fill_device_cells(tkt_cell *cells, const tkt_scopes *scopes,
                              const tkt_scope_total *scope)
{
    bool is_activity = scope->kind == TKT_KIND_ACTIVITY;
    cells[DEVICE_SELF].u = scope->device_self_ns;
    cells[DEVICE_SELF_SHARE].d = tkt_share(scope->device_self_ns, scopes->device_ns);
    cells[DEVICE_TOTAL].u = scope->device_total_ns;
    cells[DEVICE_AVERAGE].u =
        tkt_mean(is_activity ? scope->device_total_ns : scope->device_sum_ns, scope->calls);
    cells[DEVICE_BUSY].u = is_activity ? TKT_NO_VALUE : scope->device_busy_ns;
    cells[HOST_BYTES].i = is_activity ? TKT_NO_SIGNED : scope->host_bytes;
    cells[HOST_SELF_BYTES].i = is_activity ? TKT_NO_SIGNED : scope->host_self_bytes;
    cells[DEVICE_BYTES].i = is_activity ? TKT_NO_SIGNED : scope->device_bytes;
    cells[DEVICE_SELF_BYTES].i = is_activity ? TKT_NO_SIGNED : scope->device_self_bytes;
}

/* How even a scope's time is says something only of several threads. */
static void fill_thread_cells(tkt_cell *cells, const tkt_scope_total *scope)
{
    bool is_shared = scope->threads > 1;
    cells[THREADS].u = scope->threads ? scope->threads : TKT_NO_VALUE;
    cells[THREAD_LEAST].u = is_shared ? scope->thread_min_ns : TKT_NO_VALUE;
    cells[THREAD_MEAN].u =
        is_shared ? tkt_mean(scope->thread_sum_ns, scope->threads) : TKT_NO_VALUE;
    cells[THREAD_MOST].u = is_shared ? scope->thread_max_ns : TKT_NO_VALUE;
    cells[IMBALANCE].d =
        is_shared ? tkt_imbalance(scope->thread_max_ns, scope->thread_sum_ns, scope->threads) : NAN;
}

/* Fills all cells except arguments and stack, even if their columns are not shown. */
static void fill_cells(tkt_cell *cells, const tkt_scopes *scopes, const tkt_scope_total *scope)
{
    static const char *const kinds[] = {"scope", "call", "activity"};
    bool is_activity = scope->kind == TKT_KIND_ACTIVITY;
    cells[NAME].text = scope->name;
    cells[SELF_SHARE].d = tkt_share(scope->self_ns, scopes->self_ns);
    cells[SELF].u = scope->self_ns;
    cells[TOTAL_SHARE].d = tkt_share(scope->total_ns, scopes->self_ns);
    cells[TOTAL].u = scope->total_ns;
    cells[AVERAGE].u =
        is_activity ? tkt_mean(scope->total_ns, scope->calls) : tkt_scope_mean_ns(scope);
    cells[CALLS].u = scope->calls;
    cells[PIECES].u = scope->pieces ? scope->pieces : TKT_NO_VALUE;
    cells[LEAST].u = is_activity ? TKT_NO_VALUE : scope->min_ns;
    cells[MOST].u = is_activity || scope->min_ns == TKT_NO_VALUE ? TKT_NO_VALUE : scope->max_ns;
    cells[FLOPS].d = scope->flops > 0 ? scope->flops : NAN;
    cells[KIND].text = kinds[scope->kind];
    fill_device_cells(cells, scopes, scope);
    fill_thread_cells(cells, scope);
}

static bool has_threads(const tkt_scopes *scopes)
{
    for (size_t i = 0; i < scopes->count; i++) {
        if (scopes->items[i].threads > 1)
            return true;
    }
    return false;
}

static bool has_pieces(const tkt_scopes *scopes)
{
    for (size_t i = 0; i < scopes->count; i++)
        if (scopes->items[i].pieces > 0)
            return true;
    return false;
}

static bool is_wanted(size_t column, const tkt_document *document, const tkt_scopes *scopes,
                      const takt_report_options *options)
{
    switch (column) {
    case DEVICE_BUSY:
        return scopes->has_device && document->trace->facts.has_spans;
    case DEVICE_SELF:
    case DEVICE_SELF_SHARE:
    case DEVICE_TOTAL:
    case DEVICE_AVERAGE:
        return scopes->has_device;
    case HOST_BYTES:
    case HOST_SELF_BYTES:
        return scopes->has_host_memory;
    case DEVICE_BYTES:
    case DEVICE_SELF_BYTES:
        return scopes->has_device_memory;
    case THREADS:
    case THREAD_LEAST:
    case THREAD_MEAN:
    case THREAD_MOST:
    case IMBALANCE:
        return has_threads(scopes);
    case PIECES:
        return has_pieces(scopes);
    case ARGUMENTS:
        return options->by_arguments;
    case STACK:
        return options->by_stack > 0;
    case FLOPS:
        return options->with_flops || document->trace->with_flops;
    case KIND:
        return options->all;
    default:
        return true;
    }
}

/* Creates the table. from[i] is the number in all_columns of the table's column i. */
static tkt_table *make_table(tkt_document *document, const tkt_scopes *scopes,
                             const takt_report_options *options, uint8_t from[COLUMNS])
{
    tkt_column columns[COLUMNS];
    size_t count = 0;
    size_t sort = 0;
    for (uint8_t i = 0; i < COLUMNS; i++) {
        if (!is_wanted(i, document, scopes, options))
            continue;
        from[count] = i;
        columns[count] = all_columns[i];
        if (i == FLOPS)
            set_flops_unit(&columns[count], scopes);
        if (i == TOTAL || (i == DEVICE_TOTAL && options->all))
            sort = count;
        count++;
    }
    tkt_table *table = tkt_document_add_table(document, "scopes", columns, count, scopes->count);
    if (!table)
        return NULL;
    table->weight = TOTAL;
    table->shade = SELF;
    table->sort = sort;
    table->default_rows = 100;
    return table;
}

static takt_status show(tkt_document *document, const tkt_scopes *scopes,
                        const takt_report_options *options)
{
    uint8_t from[COLUMNS];
    tkt_table *table = make_table(document, scopes, options, from);
    if (!table)
        return TAKT_NO_MEMORY;
    for (size_t i = 0; i < scopes->count; i++) {
        tkt_cell cells[COLUMNS];
        fill_cells(cells, scopes, &scopes->items[i]);
        if (scopes->items[i].kind != TKT_KIND_ACTIVITY && tkt_trace_lacks_work(document->trace))
            cells[DEVICE_AVERAGE].u = TKT_NO_VALUE; /* some calls lack their activities */
        if (options->by_arguments)
            cells[ARGUMENTS].text = arguments_of(document, &scopes->items[i]);
        if (options->by_stack)
            cells[STACK].text = stack_of(document, &scopes->items[i], options->by_stack);
        tkt_table_add_chosen(table, cells, from);
    }
    return TAKT_OK;
}

static void add_device_facts(tkt_document *document, const tkt_scopes *scopes)
{
    uint64_t outside_ns = scopes->device_ns;
    for (size_t i = 0; i < scopes->count; i++) {
        if (scopes->items[i].kind == TKT_KIND_SCOPE)
            outside_ns -= scopes->items[i].device_self_ns;
    }
    tkt_document_add_fact(document, "self_cuda_total_ns", "Self CUDA time total", TKT_CELL_TIME,
                          (tkt_cell){.u = scopes->device_ns});
    if (outside_ns > 0)
        tkt_document_add_fact(document, "cuda_in_no_scope_ns", "CUDA time in no scope",
                              TKT_CELL_TIME, (tkt_cell){.u = outside_ns});
    tkt_document_add_note(
        document, "CUDA times are sums over the activities that a scope launched; their "
                  "percentages are of the self CUDA time total, which counts each activity once.");
    if (document->trace->facts.has_spans)
        tkt_document_explain(document, "cuda_busy_ns", "CUDA busy is the time in which any ran.");
}

takt_status tkt_show_scopes(tkt_document *document, const takt_report_options *options)
{
    if (document->sought) {
        TKT_SEEK(document, all_columns);
        return TKT_SEEK(document, flops_columns);
    }
    const takt_trace *trace = document->trace;
    tkt_scopes scopes = {0};
    document->nothing = "No scopes";
    takt_status status = options->by_arguments || options->by_stack
                             ? tkt_scopes_by_stack(trace, options->all, options->by_stack,
                                                   options->by_arguments, &scopes)
                             : tkt_scopes_by_name(trace, options->all, &scopes);
    if (status != TAKT_OK)
        return status;
    status = show(document, &scopes, options);
    tkt_document_add_fact(document, "self_cpu_total_ns", "Self CPU time total", TKT_CELL_TIME,
                          (tkt_cell){.u = scopes.self_ns});
    tkt_document_add_note(document, "Percentages are of the self CPU time total. Self CPU is CPU "
                                    "total less direct children; a recursive scope's CPU total "
                                    "counts outermost calls.");
    tkt_explain_pieces(document, has_pieces(&scopes));
    tkt_note_other_paths(document);
    tkt_note_mixed_times(document);
    tkt_note_more_threads(document, "scopes that they entered have no columns of threads");
    if (scopes.has_device)
        add_device_facts(document, &scopes);
    if (scopes.has_device && options->all)
        tkt_document_add_note(document, "Calls are scopes of their own here. The time of kernels "
                                        "and copies is also in the scopes that launched them.");
    if (has_threads(&scopes))
        tkt_document_explain(document, "thread_imbalance",
                             "Max/mean compares the CPU total of the busiest thread with the mean "
                             "over the threads that called the scope: 1 is even.");
    tkt_scopes_fini(&scopes);
    return status;
}
