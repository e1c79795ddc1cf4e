/* The scopes report: torch's key averages, with its column names. */
#include "report/show.h"

#include "base/text.h"
#include "summary/scopes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    NAME,
    SELF_SHARE,
    SELF,
    TOTAL_SHARE,
    TOTAL,
    AVERAGE,
    CALLS,
    LEAST,
    MOST,
    FIXED_COLUMNS
};

static const tkt_column fixed_columns[FIXED_COLUMNS] = {
    [NAME] = {"Name", "name", TKT_CELL_TEXT, 0, false, 1},
    [SELF_SHARE] = {"Self CPU %", "self_cpu_percent", TKT_CELL_SHARE, 4, false, 1},
    [SELF] = {"Self CPU", "self_cpu_ns", TKT_CELL_TIME, 1, false, 1},
    [TOTAL_SHARE] = {"CPU total %", "cpu_total_percent", TKT_CELL_SHARE, 6, false, 1},
    [TOTAL] = {"CPU total", "cpu_total_ns", TKT_CELL_TIME, 2, false, 1},
    [AVERAGE] = {"CPU time avg", "cpu_time_avg_ns", TKT_CELL_TIME, 7, false, 1},
    [CALLS] = {"# of Calls", "calls", TKT_CELL_COUNT, 3, false, 1},
    [LEAST] = {"CPU time min", "cpu_time_min_ns", TKT_CELL_TIME, TKT_HIDDEN, false, 1},
    [MOST] = {"CPU time max", "cpu_time_max_ns", TKT_CELL_TIME, TKT_HIDDEN, false, 1},
};

/* torch scales the column, not the cells: its title says the unit of the greatest value. */
typedef struct flops_scale {
    const char *title;
    double unit;
} flops_scale;

static flops_scale scale_of(const tkt_scopes *scopes)
{
    static const flops_scale scales[] = {
        {"Total FLOPs", 1},    {"Total KFLOPs", 1e3},  {"Total MFLOPs", 1e6},
        {"Total GFLOPs", 1e9}, {"Total TFLOPs", 1e12}, {"Total PFLOPs", 1e15},
    };
    double greatest = 0;
    for (size_t i = 0; i < scopes->count; i++)
        greatest = fmax(greatest, scopes->items[i].flops);
    size_t scale = 0;
    while (scale + 1 < sizeof scales / sizeof *scales && greatest >= scales[scale + 1].unit)
        scale++;
    return scales[scale];
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
        if (!tkt_value_raw(number, TKT_CELL_NUMBER, (tkt_cell){.d = arg->value.d}))
            value = isnan(arg->value.d) ? "nan" : arg->value.d > 0 ? "inf" : "-inf";
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

/* "cells=100, mode=fast"; what is longer than the buffer is cut. */
static const char *arguments_of(tkt_document *document, const tkt_scope_total *scope)
{
    char text[1024] = "";
    size_t used = 0;
    for (uint32_t i = 0; i < scope->arg_count && used < sizeof text - 3; i++) {
        const tkt_track *track = &document->trace->tracks.items[scope->track];
        if (i > 0)
            used += (size_t)snprintf(text + used, sizeof text - used, ", ");
        used += put_argument(text + used, sizeof text - used, document->trace,
                             &track->args.items[scope->first_arg + i]);
    }
    return tkt_document_copy(document, text, strlen(text));
}

static void fill_row(tkt_cell *row, const tkt_scopes *scopes, const tkt_scope_total *scope)
{
    row[NAME].text = scope->name;
    row[SELF_SHARE].d = tkt_share(scope->self_ns, scopes->self_ns);
    row[SELF].u = scope->self_ns;
    row[TOTAL_SHARE].d = tkt_share(scope->total_ns, scopes->self_ns);
    row[TOTAL].u = scope->total_ns;
    row[AVERAGE].u = tkt_mean(scope->total_ns, scope->calls);
    row[CALLS].u = scope->calls;
    row[LEAST].u = scope->min_ns;
    row[MOST].u = scope->max_ns;
}

static takt_status show(tkt_document *document, const tkt_scopes *scopes, bool with_arguments,
                        bool with_flops)
{
    tkt_column columns[FIXED_COLUMNS + 2];
    size_t count = FIXED_COLUMNS;
    memcpy(columns, fixed_columns, sizeof fixed_columns);
    flops_scale scale = scale_of(scopes);
    size_t arguments = with_arguments ? count++ : 0;
    size_t flops = with_flops ? count++ : 0;
    if (with_arguments)
        columns[arguments] = (tkt_column){"Input Shapes", "arguments", TKT_CELL_TEXT, 0, false, 1};
    if (with_flops)
        columns[flops] = (tkt_column){scale.title, "flops", TKT_CELL_NUMBER, 5, false, scale.unit};

    tkt_table *table = tkt_document_add_table(document, "scopes", columns, count, scopes->count);
    if (!table)
        return TAKT_NO_MEMORY;
    table->min_width = 12;
    table->weight = TOTAL;
    table->sort = TOTAL;
    table->default_rows = 100;
    for (size_t i = 0; i < scopes->count; i++) {
        tkt_cell *row = tkt_table_add_row(table);
        fill_row(row, scopes, &scopes->items[i]);
        if (with_arguments)
            row[arguments].text = arguments_of(document, &scopes->items[i]);
        if (with_flops)
            row[flops].d = scopes->items[i].flops > 0 ? scopes->items[i].flops : NAN;
    }
    return TAKT_OK;
}

takt_status tkt_show_scopes(tkt_document *document, const takt_report_options *options)
{
    const takt_trace *trace = document->trace;
    tkt_scopes scopes = {0};
    document->nothing = "No scopes";
    takt_status status = options->by_arguments ? tkt_scopes_by_arguments(trace, &scopes)
                                               : tkt_scopes_by_name(trace, &scopes);
    if (status != TAKT_OK)
        return status;
    status =
        show(document, &scopes, options->by_arguments, options->with_flops || trace->with_flops);
    tkt_document_add_fact(document, "self_cpu_total_ns", "Self CPU time total", TKT_CELL_TIME,
                          (tkt_cell){.u = scopes.self_ns});
    tkt_document_add_note(document, "Percentages are of the self CPU time total. Self CPU is CPU "
                                    "total less direct children; a recursive scope's CPU total "
                                    "counts outermost calls.");
    tkt_scopes_fini(&scopes);
    return status;
}
