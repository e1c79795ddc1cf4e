/* The report of kernels: how often, how long, how they were launched, and how to look further. */
#include "report/ncu.h"
#include "report/show_named.h"

#include "base/text.h"
#include "summary/kernel_name.h"

#include <string.h>

enum {
    FULL_NAME = TKT_NAMED_COLUMNS,
    GRID,
    BLOCK,
    CLUSTER,
    REGISTERS,
    STATIC,
    DYNAMIC,
    LOCAL,
    TENSOR,
    OCCUPANCY,
    LIMIT,
    KERNEL_COLUMNS
};

static const tkt_column kernel_columns[KERNEL_COLUMNS] = {
    [TKT_NAMED_NAME] = {"Kernel Name", "name", TKT_CELL_TEXT, 0, true, 1},
    [TKT_NAMED_COUNT] = {"Occurrences", "count", TKT_CELL_COUNT, 5, false, 1},
    [TKT_NAMED_SHARE] = {"Total %", "total_percent", TKT_CELL_SHARE, 4, false, 1},
    [TKT_NAMED_TOTAL] = {"Total", "total_ns", TKT_CELL_TIME, 1, false, 1},
    [TKT_NAMED_AVERAGE] = {"Average", "avg_ns", TKT_CELL_TIME, 7, false, 1},
    [TKT_NAMED_MEDIAN] = {"Median", "median_ns", TKT_CELL_TIME, 10, false, 1},
    [TKT_NAMED_P99] = {"p99", "p99_ns", TKT_CELL_TIME, TKT_HIDDEN, false, 1},
    [TKT_NAMED_LEAST] = {"Min", "min_ns", TKT_CELL_TIME, 12, false, 1},
    [TKT_NAMED_MOST] = {"Max", "max_ns", TKT_CELL_TIME, 9, false, 1},
    [TKT_NAMED_DEVIATION] = {"StdDev", "stddev_ns", TKT_CELL_TIME, 19, false, 1},
    [FULL_NAME] = {"Full Name", "full_name", TKT_CELL_TEXT, TKT_HIDDEN, true, 1},
    [GRID] = {"Grid Dim", "grid", TKT_CELL_TEXT, 8, false, 1},
    [BLOCK] = {"Block Dim", "block", TKT_CELL_TEXT, 8, false, 1},
    [CLUSTER] = {"Cluster Dim", "cluster", TKT_CELL_TEXT, 15, false, 1},
    [REGISTERS] = {"Regs", "registers", TKT_CELL_COUNT, 11, false, 1},
    [STATIC] = {"Static Shmem", "static_shared_bytes", TKT_CELL_BYTES, 14, false, 1},
    [DYNAMIC] = {"Dynamic Shmem", "dynamic_shared_bytes", TKT_CELL_BYTES, 13, false, 1},
    [LOCAL] = {"Local Mem", "local_bytes", TKT_CELL_BYTES, 18, false, 1},
    [TENSOR] = {"TensorCore by name", "tensor_core_by_name", TKT_CELL_TEXT, 17, false, 1},
    [OCCUPANCY] = {"Occupancy %", "occupancy_percent", TKT_CELL_PERCENT, 6, false, 1},
    [LIMIT] = {"Limited by", "limited_by", TKT_CELL_TEXT, 16, true, 1},
};

/* "64,2,1" */
static const char *dimensions(tkt_document *document, const uint32_t dims[3])
{
    char text[40];
    char *end = tkt_put_u64(text, dims[0]);
    for (size_t i = 1; i < 3; i++) {
        *end++ = ',';
        end = tkt_put_u64(end, dims[i]);
    }
    return tkt_document_copy(document, text, (size_t)(end - text));
}

static bool has_cluster(const tkt_shape *shape)
{
    return (shape->cluster[0] | shape->cluster[1] | shape->cluster[2]) != 0;
}

/* What launches differ in reads "varies", numbers of it are empty. */
static void fill_shape(tkt_cell *row, tkt_document *document, const tkt_named *named)
{
    static const char *const limits[] = {NULL, "warps", "registers", "shared memory", "blocks"};
    static const tkt_shape none = {0};
    bool is_known = named->shape != TKT_NO_SHAPE;
    const tkt_shape *shape = is_known ? &document->trace->shapes.items[named->shape] : &none;
    uint32_t hidden = is_known ? named->varies : UINT32_MAX;
    const char *unknown = is_known ? "varies" : NULL;
    row[GRID].text = hidden & TKT_VARIES_GRID ? unknown : dimensions(document, shape->grid);
    row[BLOCK].text = hidden & TKT_VARIES_BLOCK ? unknown : dimensions(document, shape->block);
    row[CLUSTER].text = hidden & TKT_VARIES_CLUSTER ? unknown
                        : has_cluster(shape)        ? dimensions(document, shape->cluster)
                                                    : NULL;
    row[REGISTERS].u = hidden & TKT_VARIES_REGISTERS ? TKT_NO_VALUE : shape->registers;
    row[STATIC].u = hidden & TKT_VARIES_STATIC ? TKT_NO_VALUE : shape->static_shared_bytes;
    row[DYNAMIC].u = hidden & TKT_VARIES_DYNAMIC ? TKT_NO_VALUE : shape->dynamic_shared_bytes;
    row[LOCAL].u = hidden & TKT_VARIES_LOCAL ? TKT_NO_VALUE : shape->local_bytes;
    bool has_occupancy = !(hidden & TKT_VARIES_OCCUPANCY) && shape->occupancy > 0;
    row[OCCUPANCY].d = has_occupancy ? shape->occupancy / 100.0 : NAN;
    row[LIMIT].text = has_occupancy && shape->limiter < sizeof limits / sizeof *limits
                          ? limits[shape->limiter]
                          : NULL;
}

/* Of a kernel that was seen, the whole name is known even where its launches are not. */
static void fill_names(tkt_cell *row, const takt_trace *trace, const tkt_named *named,
                       bool full_names)
{
    uint32_t string = named->shape != TKT_NO_SHAPE ? trace->shapes.items[named->shape].name : 0;
    const char *name = string ? tkt_trace_text(trace, string) : NULL;
    bool varies = (named->varies & TKT_VARIES_NAME) != 0;
    row[FULL_NAME].text = varies ? NULL : name;
    row[TENSOR].text = named->varies & TKT_VARIES_TENSOR ? "varies"
                       : !name                           ? NULL
                       : tkt_uses_tensor_cores(name)     ? "yes"
                                                         : "no";
    if (full_names && row[FULL_NAME].text)
        row[TKT_NAMED_NAME].text = row[FULL_NAME].text;
}

static bool says_nothing(size_t column, tkt_cell cell)
{
    switch (column) {
    case CLUSTER:
        return !cell.text;
    case TENSOR:
        return !cell.text || strcmp(cell.text, "no") == 0;
    case STATIC:
    case DYNAMIC:
    case LOCAL:
        return cell.u == 0 || cell.u == TKT_NO_VALUE;
    default:
        return false;
    }
}

/* Columns that say nothing of any kernel take no room from others; CSV and JSON keep them. */
static void hide_empty_columns(tkt_table *table)
{
    for (size_t column = CLUSTER; column < table->column_count; column++) {
        bool is_empty = true;
        for (size_t i = 0; is_empty && i < table->row_count; i++)
            is_empty = says_nothing(column, table->cells[i * table->column_count + column]);
        if (is_empty && table->row_count > 0)
            table->columns[column].rank = TKT_HIDDEN;
    }
}

static bool differs(const tkt_table *table, size_t column)
{
    for (size_t i = 1; i < table->row_count; i++) {
        const tkt_cell *cell = &table->cells[i * table->column_count + column];
        if (tkt_value_compare(table->columns[column].type, cell[0], table->cells[column]) != 0)
            return true;
    }
    return false;
}

/* By launch, what kernels are launched with tells two rows of one name apart, and stays longest. */
static void keep_shapes(tkt_table *table)
{
    for (size_t column = GRID; column <= LOCAL; column++) {
        if (table->columns[column].rank != TKT_HIDDEN && differs(table, column))
            table->columns[column].rank = column <= BLOCK ? 2 : 3;
    }
}

static takt_status show_kernels(tkt_document *document, const tkt_nameds *nameds,
                                tkt_kernel_key key, bool full_names)
{
    const takt_trace *trace = document->trace;
    bool has_shapes = trace->facts.has_spans;
    tkt_table *table = tkt_named_table(
        document, kernel_columns, has_shapes ? KERNEL_COLUMNS : TKT_NAMED_COLUMNS, nameds->count);
    if (!table)
        return TAKT_NO_MEMORY;
    for (size_t i = 0; i < nameds->count; i++) {
        tkt_cell *row = tkt_named_row(table, trace, nameds, &nameds->items[i]);
        if (!has_shapes)
            continue;
        fill_shape(row, document, &nameds->items[i]);
        fill_names(row, trace, &nameds->items[i], full_names);
    }
    if (has_shapes)
        hide_empty_columns(table);
    if (has_shapes && key == TKT_BY_LAUNCH)
        keep_shapes(table);
    if (nameds->count > 0) {
        tkt_document_add_note(document, "The median is within 3.2 %%.");
        tkt_add_ncu_notes(document, nameds);
    }
    return TAKT_OK;
}

takt_status tkt_show_kernels(tkt_document *document, const takt_report_options *options)
{
    tkt_nameds nameds = {0};
    bool full_names = options->full_names && document->trace->facts.has_spans;
    tkt_kernel_key key = options->by_arguments ? TKT_BY_LAUNCH
                         : full_names          ? TKT_BY_FULL_NAME
                                               : TKT_BY_NAME;
    document->nothing = "No kernels";
    takt_status status = tkt_kernels_of(document->trace, key, &nameds);
    if (status == TAKT_OK)
        status = show_kernels(document, &nameds, key, full_names);
    tkt_nameds_fini(&nameds);
    return status;
}
