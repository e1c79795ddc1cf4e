/* The reports of kernels and of calls into CUDA: how often, how long, and how they were launched.
 */
#include "report/show.h"

#include "base/text.h"
#include "summary/named.h"

#include <string.h>

enum {
    NAME,
    COUNT,
    SHARE,
    TOTAL,
    AVERAGE,
    MEDIAN,
    LEAST,
    MOST,
    DEVIATION,
    PLAIN_COLUMNS,
    GRID = PLAIN_COLUMNS,
    BLOCK,
    REGISTERS,
    STATIC,
    DYNAMIC,
    OCCUPANCY,
    LIMIT,
    COLUMNS
};

static const tkt_column kernel_columns[COLUMNS] = {
    [NAME] = {"Kernel Name", "name", TKT_CELL_TEXT, 0, true, 1},
    [COUNT] = {"Occurrences", "count", TKT_CELL_COUNT, 2, false, 1},
    [SHARE] = {"Total %", "total_percent", TKT_CELL_SHARE, 3, false, 1},
    [TOTAL] = {"Total", "total_ns", TKT_CELL_TIME, 0, false, 1},
    [AVERAGE] = {"Average", "avg_ns", TKT_CELL_TIME, 1, false, 1},
    [MEDIAN] = {"Median", "median_ns", TKT_CELL_TIME, 5, false, 1},
    [LEAST] = {"Min", "min_ns", TKT_CELL_TIME, 5, false, 1},
    [MOST] = {"Max", "max_ns", TKT_CELL_TIME, 4, false, 1},
    [DEVIATION] = {"StdDev", "stddev_ns", TKT_CELL_TIME, 8, false, 1},
    [GRID] = {"Grid Dim", "grid", TKT_CELL_TEXT, 5, false, 1},
    [BLOCK] = {"Block Dim", "block", TKT_CELL_TEXT, 5, false, 1},
    [REGISTERS] = {"Regs", "registers", TKT_CELL_COUNT, 6, false, 1},
    [STATIC] = {"Static Shmem", "static_shared_bytes", TKT_CELL_BYTES, 8, false, 1},
    [DYNAMIC] = {"Dynamic Shmem", "dynamic_shared_bytes", TKT_CELL_BYTES, 8, false, 1},
    [OCCUPANCY] = {"Occupancy %", "occupancy_percent", TKT_CELL_NUMBER, 5, false, 1},
    [LIMIT] = {"Limited by", "limited_by", TKT_CELL_TEXT, 7, true, 1},
};

static void fill_times(tkt_cell *row, const takt_trace *trace, const tkt_nameds *nameds,
                       const tkt_named *named)
{
    const tkt_stats *stats = &named->stats;
    row[NAME].text = tkt_trace_text(trace, named->name);
    row[COUNT].u = stats->count;
    row[SHARE].d = tkt_share(stats->total_ns, nameds->total_ns);
    row[TOTAL].u = stats->total_ns;
    row[AVERAGE].u = tkt_mean(stats->total_ns, stats->count);
    row[MEDIAN].u =
        named->histogram ? tkt_stats_quantile(stats, named->histogram, 0.5) : TKT_NO_VALUE;
    row[LEAST].u = stats->min_ns;
    row[MOST].u = stats->max_ns;
    double deviation = tkt_stats_stddev(stats); /* a file may say anything */
    row[DEVIATION].u =
        stats->count > 1 && deviation < 1e19 ? (uint64_t)(deviation + 0.5) : TKT_NO_VALUE;
}

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
    row[REGISTERS].u = hidden & TKT_VARIES_REGISTERS ? TKT_NO_VALUE : shape->registers;
    row[STATIC].u = hidden & TKT_VARIES_STATIC ? TKT_NO_VALUE : shape->static_shared_bytes;
    row[DYNAMIC].u = hidden & TKT_VARIES_DYNAMIC ? TKT_NO_VALUE : shape->dynamic_shared_bytes;
    bool has_occupancy = !(hidden & TKT_VARIES_OCCUPANCY) && shape->occupancy > 0;
    row[OCCUPANCY].d = has_occupancy ? shape->occupancy / 100.0 : NAN;
    row[LIMIT].text = has_occupancy && shape->limiter < sizeof limits / sizeof *limits
                          ? limits[shape->limiter]
                          : NULL;
}

static takt_status show(tkt_document *document, const tkt_nameds *nameds, size_t column_count)
{
    tkt_table *table = tkt_document_add_table(document, document->name, kernel_columns,
                                              column_count, nameds->count);
    if (!table)
        return TAKT_NO_MEMORY;
    table->weight = TOTAL;
    table->sort = TOTAL;
    table->default_rows = 100;
    for (size_t i = 0; i < nameds->count; i++) {
        tkt_cell *row = tkt_table_add_row(table);
        fill_times(row, document->trace, nameds, &nameds->items[i]);
        if (column_count > PLAIN_COLUMNS)
            fill_shape(row, document, &nameds->items[i]);
    }
    if (nameds->count > 0)
        tkt_document_add_note(document, "The median is within 3.2 %%.");
    return TAKT_OK;
}

takt_status tkt_show_kernels(tkt_document *document, const takt_report_options *options)
{
    tkt_nameds nameds = {0};
    document->nothing = "No kernels";
    takt_status status = tkt_kernels_of(document->trace, options->by_arguments, &nameds);
    bool has_shapes = document->trace->facts.has_spans;
    if (status == TAKT_OK)
        status = show(document, &nameds, has_shapes ? COLUMNS : PLAIN_COLUMNS);
    tkt_nameds_fini(&nameds);
    return status;
}

takt_status tkt_show_api(tkt_document *document, const takt_report_options *options)
{
    (void)options;
    tkt_nameds nameds = {0};
    document->nothing = "No calls";
    takt_status status = tkt_calls_of(document->trace, &nameds);
    if (status == TAKT_OK)
        status = show(document, &nameds, PLAIN_COLUMNS);
    if (status == TAKT_OK) {
        document->tables[0].columns[NAME].title = "Call";
        document->tables[0].columns[COUNT].title = "# of Calls";
    }
    tkt_nameds_fini(&nameds);
    return status;
}
