/* The report on operations: how fast work was done, where, and what limited it. */
#include "report/show.h"

#include "summary/ops.h"

enum {
    NAME,
    TYPE,
    WHERE,
    COUNT,
    SELF,
    AVERAGE,
    DEVICE_SHARE,
    HOST_SHARE,
    FLOPS,
    BYTES,
    BANDWIDTH,
    MEMORY_PEAK,
    MEMORY_PEAK_UNCAPPED,
    RATE,
    FLOPS_PEAK,
    FLOPS_PEAK_UNCAPPED,
    BOUND,
    COLUMNS
};

static const tkt_column op_columns[COLUMNS] = {
    [NAME] = {"Operation", "operation", TKT_CELL_TEXT, 0, true, 1},
    [TYPE] = {"Type", "type", TKT_CELL_TEXT, 6, true, 1},
    [WHERE] = {"Host/Device", "where", TKT_CELL_TEXT, 1, true, 1},
    [COUNT] = {"Occurrences", "count", TKT_CELL_COUNT, 3, false, 1},
    [SELF] = {"Total Self-Time", "self_time_ns", TKT_CELL_TIME, 0, false, 1},
    [AVERAGE] = {"Avg Self-Time", "avg_self_time_ns", TKT_CELL_TIME, 9, false, 1},
    [DEVICE_SHARE] = {"Device %", "device_percent", TKT_CELL_PERCENT, 4, false, 1},
    [HOST_SHARE] = {"Host %", "host_percent", TKT_CELL_PERCENT, 5, false, 1},
    [FLOPS] = {"FLOPs", "flops", TKT_CELL_NUMBER, TKT_HIDDEN, false, 1},
    [BYTES] = {"Bytes", "bytes", TKT_CELL_NUMBER, TKT_HIDDEN, false, 1},
    [BANDWIDTH] = {"BW GB/s", "bytes_per_second", TKT_CELL_NUMBER, 2, false, TKT_BILLIONS},
    [MEMORY_PEAK] = {"% peak BW", "memory_peak_percent", TKT_CELL_PERCENT, 7, false, 1},
    [MEMORY_PEAK_UNCAPPED] = {"Uncapped BW", "memory_peak_uncapped_percent", TKT_CELL_PERCENT, 10,
                              false, 1},
    [RATE] = {"GFLOP/s", "flops_per_second", TKT_CELL_NUMBER, 2, false, TKT_BILLIONS},
    [FLOPS_PEAK] = {"% peak FLOP/s", "flops_peak_percent", TKT_CELL_PERCENT, 7, false, 1},
    [FLOPS_PEAK_UNCAPPED] = {"Uncapped FLOP/s", "flops_peak_uncapped_percent", TKT_CELL_PERCENT, 10,
                             false, 1},
    [BOUND] = {"Bound By", "bound_by", TKT_CELL_TEXT, 8, true, 1},
};

static const char *type_text(uint32_t type)
{
    switch (type) {
    case 0:
        return "scope";
    case TAKT_TIMING_BUILTIN:
        return "builtin";
    case TAKT_TIMING_MEMCPY:
        return "memcpy";
    case TAKT_TIMING_MEMSET:
        return "memset";
    case TAKT_TIMING_GRAPH:
        return "graph";
    default:
        return "kernel";
    }
}

static double capped(double share)
{
    return share > 1 ? 1 : share;
}

/* Without all that devices did for a scope, the rate of the scope's work is unknown. */
static void fill_rates(tkt_cell *row, const tkt_op *op, bool has_all)
{
    static const char *const bounds[] = {NULL, "compute", "memory"};
    tkt_op part = *op;
    if (op->on_device && op->type == 0 && !has_all)
        part.self_ns = 0;
    tkt_op_rates rates = tkt_op_rates_of(&part);
    row[FLOPS].d = op->flops > 0 ? op->flops : NAN;
    row[BYTES].d = op->bytes > 0 ? op->bytes : NAN;
    row[BANDWIDTH].d = rates.bytes;
    row[MEMORY_PEAK].d = 100 * capped(rates.memory_share);
    row[MEMORY_PEAK_UNCAPPED].d = 100 * rates.memory_share;
    row[RATE].d = rates.flops;
    row[FLOPS_PEAK].d = 100 * capped(rates.flops_share);
    row[FLOPS_PEAK_UNCAPPED].d = 100 * rates.flops_share;
    row[BOUND].text = bounds[rates.bound];
}

static void fill_row(tkt_cell *row, const tkt_ops *ops, const tkt_op *op, bool has_all)
{
    row[NAME].text = op->name;
    row[TYPE].text = type_text(op->type);
    row[WHERE].text = op->on_device ? "device" : "host";
    row[COUNT].u = op->count;
    row[SELF].u = op->self_ns;
    row[AVERAGE].u = tkt_mean(op->self_ns, op->count);
    row[DEVICE_SHARE].d = op->on_device ? 100 * tkt_share(op->self_ns, ops->device_ns) : NAN;
    row[HOST_SHARE].d = op->on_device ? NAN : 100 * tkt_share(op->self_ns, ops->host_ns);
    fill_rates(row, op, has_all);
}

static bool is_empty(const tkt_table *table, size_t column)
{
    for (size_t i = 0; i < table->row_count; i++) {
        const tkt_cell *row = table->cells + i * table->column_count;
        if (column == BOUND ? row[column].text != NULL : !isnan(row[column].d))
            return false;
    }
    return true;
}

static bool is_exceeded(const tkt_table *table, size_t column)
{
    for (size_t i = 0; i < table->row_count; i++) {
        if (table->cells[i * table->column_count + column].d > 100)
            return true;
    }
    return false;
}

/* Text shows only columns with values, and uncapped percentages only if one exceeds 100 %. */
static void hide_columns(tkt_table *table)
{
    static const uint8_t uncapped[] = {MEMORY_PEAK_UNCAPPED, FLOPS_PEAK_UNCAPPED};
    for (size_t i = DEVICE_SHARE; i < COLUMNS; i++) {
        if (is_empty(table, i))
            table->columns[i].rank = TKT_HIDDEN;
    }
    for (size_t i = 0; i < 2; i++) {
        if (!is_exceeded(table, uncapped[i]))
            table->columns[uncapped[i]].rank = TKT_HIDDEN;
    }
}

static takt_status show(tkt_document *document, const tkt_ops *ops)
{
    tkt_table *table = tkt_document_add_table(document, "ops", op_columns, COLUMNS, ops->count);
    if (!table)
        return TAKT_NO_MEMORY;
    table->weight = SELF;
    table->sort = SELF;
    table->default_rows = 100;
    for (size_t i = 0; i < ops->count; i++) {
        if (ops->items[i].count > 0 || ops->items[i].self_ns > 0)
            fill_row(tkt_table_add_row(table), ops, &ops->items[i],
                     !tkt_trace_lacks_work(document->trace));
    }
    if (table->row_count > 0)
        hide_columns(table);
    return TAKT_OK;
}

/* Compares the declared work of devices with the peak of all devices over the wall time. */
static void add_flops(tkt_document *document, const tkt_ops *ops)
{
    double most = ops->device_peak_flops * (double)tkt_wall_ns(&document->trace->facts) / 1e9;
    bool is_known = most > 0 && !tkt_trace_lacks_work(document->trace);
    double share = is_known ? ops->device_flops / most : NAN;
    tkt_document_add_fact(document, "flops", NULL, TKT_CELL_NUMBER, (tkt_cell){.d = ops->flops});
    tkt_document_add_fact(document, "device_flops", NULL, TKT_CELL_NUMBER,
                          (tkt_cell){.d = ops->device_flops});
    tkt_document_add_fact(document, "device_peak_percent", NULL, TKT_CELL_PERCENT,
                          (tkt_cell){.d = 100 * capped(share)});
    tkt_document_add_fact(document, "device_peak_uncapped_percent", NULL, TKT_CELL_PERCENT,
                          (tkt_cell){.d = 100 * share});
    if (!(share > 0))
        return;
    char percent[TKT_VALUE_SIZE];
    tkt_value_text(percent, TKT_CELL_SHARE, (tkt_cell){.d = share});
    tkt_document_add_note(
        document, "Declared work of devices is %s of their peak over the wall time.", percent);
}

static bool has_scopes(const tkt_ops *ops)
{
    for (size_t i = 0; i < ops->count; i++)
        if (ops->items[i].type == 0)
            return true;
    return false;
}

static void add_notes(tkt_document *document, const tkt_ops *ops)
{
    const takt_facts *facts = &document->trace->facts;
    tkt_document_add_note(
        document, "Rates divide by the self-time: the time of kernels launched in a scope with "
                  "declared work, or the time of the scope itself if it launches none.");
    if (has_scopes(ops) && facts->begun_before + facts->unfinished > 0)
        tkt_document_add_note(
            document, "Rates of few calls may be wrong: calls that the recording's ends cut have "
                      "all the work that they declared in it, and part of their time.");
    if (ops->flops > 0)
        add_flops(document, ops);
}

takt_status tkt_show_ops(tkt_document *document, const takt_report_options *options)
{
    if (document->sought)
        return TKT_SEEK(document, op_columns);
    (void)options;
    tkt_ops ops = {0};
    document->nothing = "No operations";
    takt_status status = tkt_ops_of(document->trace, &ops);
    if (status == TAKT_OK)
        status = show(document, &ops);
    if (status == TAKT_OK && document->tables[0].row_count > 0)
        add_notes(document, &ops);
    tkt_ops_fini(&ops);
    return status;
}
