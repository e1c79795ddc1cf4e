/* The reports on kernels and on calls into CUDA: times by name. */
#include "base/text.h"
#include "cuda/kernel.h"
#include "summary/named.h"
#include "report/show.h"
#include "report/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ======== Commands for Nsight Compute ======== */

/* Suggests commands that profile the longest kernels with Nsight Compute. By default, ncu compares
 * -k with the function's own name, without namespaces, template arguments and parameters (option
 * --kernel-name-base function). A regular expression may match any part of the name, so it is
 * anchored here. Only identifiers are suggested: they need no escaping in a regular expression, a
 * shell or a file name. */

#define KERNELS_SHOWN 3
#define LONGEST_NAME  256u
#define LAUNCHES      5   /* enough to compare launches; ncu replays each dozens of times */
#define LONGEST_FILE  100 /* of the name that becomes a file's */

/* The full name if it is known. Otherwise the label that tables print, without its prefix; "" if it
 * has none. */
static const char *name_of(const takt_trace *trace, const tkt_named *kernel)
{
    static const char *const prefixes[] = {"kernel ", "builtin kernel "};
    if (kernel->shape != TKT_NO_SHAPE && trace->shapes.items[kernel->shape].name)
        return tkt_trace_text(trace, trace->shapes.items[kernel->shape].name);
    const char *label = tkt_trace_text(trace, kernel->name);
    for (size_t i = 0; i < 2; i++) {
        if (strncmp(label, prefixes[i], strlen(prefixes[i])) == 0)
            return label + strlen(prefixes[i]);
    }
    return "";
}

typedef struct base_name {
    const char *text;
    size_t size; /* 0: no usable name */
} base_name;

static base_name base_of(const takt_trace *trace, const tkt_named *kernel)
{
    base_name base;
    base.size = tkt_name_base(name_of(trace, kernel), &base.text);
    if (base.size > LONGEST_NAME)
        base.size = 0;
    return base;
}

static bool is_among(base_name name, const base_name *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (names[i].size == name.size && memcmp(names[i].text, name.text, name.size) == 0)
            return true;
    return false;
}

/* Returns the name of the kernel with the largest total, except for those in `shown`. Rows that
 * differ only in launch shape or template arguments have the same name and share a command. */
static base_name longest(const takt_trace *trace, const tkt_named_list *kernels,
                         const base_name *shown, size_t count)
{
    base_name found = {NULL, 0};
    uint64_t most_ns = 0;
    for (size_t i = 0; i < kernels->count; i++) {
        uint64_t total_ns = kernels->items[i].stats.total_ns;
        base_name name = base_of(trace, &kernels->items[i]);
        if (name.size == 0 || is_among(name, shown, count))
            continue;
        if (found.size == 0 || total_ns > most_ns) {
            found = name;
            most_ns = total_ns;
        }
    }
    return found;
}

/* Returns how many launches of the kernel come before the first recorded step, if every step
 * launches it as often as the recorded ones do. */
static uint64_t launches_before(const takt_trace *trace, const tkt_named_list *kernels,
                                base_name name)
{
    uint64_t count = 0;
    for (size_t i = 0; i < kernels->count; i++) {
        if (is_among(base_of(trace, &kernels->items[i]), &name, 1))
            count += kernels->items[i].stats.count;
    }
    const takt_facts *facts = &trace->facts;
    double before = facts->step_count
                        ? (double)facts->first_step * (double)count / (double)facts->step_count
                        : 0;
    return before < 1e15 ? (uint64_t)(before + 0.5) : 0; /* numbers in a file may be wrong */
}

/* Selects the launches that Takt has recorded: by the capture range, where Takt gives one, or by
 * skipping the launches before them. */
static const char *range_of(const takt_trace *trace, const tkt_named_list *kernels, base_name name,
                            char text[40])
{
    uint64_t skipped = launches_before(trace, kernels, name);
    if (trace->facts.has_capture_range)
        return "--profile-from-start off ";
    if (skipped == 0)
        return "";
    snprintf(text, 40, "-s %" PRIu64 " ", skipped);
    return text;
}

/* Adds notes on how to profile the longest kernels: a sentence, and a shell command for each.
 * Nothing if no kernel has a usable name. */
static void add_ncu_notes(tkt_document *document, const tkt_named_list *kernels)
{
    base_name shown[KERNELS_SHOWN];
    char text[40];
    for (size_t i = 0; i < KERNELS_SHOWN; i++) {
        shown[i] = longest(document->trace, kernels, shown, i);
        int size = (int)shown[i].size;
        if (size == 0)
            return;
        if (i == 0)
            tkt_document_add_note(document, "To examine the longest kernels with Nsight Compute:");
        tkt_document_add_command(
            document,
            "ncu %s-k 'regex:^%.*s$' -c %d --set full --import-source yes -f -o "
            "%.*s --open-in-ui PROGRAM",
            range_of(document->trace, kernels, shown[i], text), size, shown[i].text, LAUNCHES,
            size < LONGEST_FILE ? size : LONGEST_FILE, shown[i].text);
    }
}

/* ======== Common columns ======== */

/* The reports `kernels` and `api` start with these. */
enum {
    TKT_NAMED_NAME,
    TKT_NAMED_COUNT,
    TKT_NAMED_SHARE,
    TKT_NAMED_TOTAL,
    TKT_NAMED_AVERAGE,
    TKT_NAMED_MEDIAN,
    TKT_NAMED_P99,
    TKT_NAMED_LEAST,
    TKT_NAMED_MOST,
    TKT_NAMED_DEVIATION,
    TKT_NAMED_COLUMNS
};

/* Adds a table whose first columns are the common ones. NULL without memory. */
static tkt_table *named_table(tkt_document *document, const tkt_column *columns,
                              size_t column_count, size_t rows)
{
    tkt_table *table =
        tkt_document_add_table(document, document->name, columns, column_count, rows);
    if (!table)
        return NULL;
    table->weight = TKT_NAMED_TOTAL;
    table->sort = TKT_NAMED_TOTAL;
    table->default_rows = 100;
    return table;
}

void tkt_show_durations(tkt_cell *cells, const tkt_stats *stats, const tkt_histogram *histogram)
{
    uint64_t count = tkt_stats_whole(stats);
    if (count == 0) {
        for (int i = 0; i < 5; i++)
            cells[i].u = TKT_NO_VALUE;
        return;
    }
    cells[0].u = tkt_mean(stats->total_ns - stats->pieces_ns, count);
    cells[1].u = tkt_stats_median(stats, histogram);
    cells[2].u = tkt_p99_cell(count, tkt_stats_quantile(stats, histogram, 0.99));
    cells[3].u = stats->min_ns;
    cells[4].u = stats->max_ns;
}

void tkt_note_more_medians(tkt_document *document, size_t names, size_t most)
{
    if (names > most)
        tkt_document_add_note(document,
                              "Medians and p99 are those of the first %zu names of %zu; further "
                              "ones have none.",
                              most, names);
}

/* Adds a row and fills the common columns. */
static tkt_cell *named_row(tkt_table *table, const takt_trace *trace, const tkt_named_list *names,
                           const tkt_named *named)
{
    tkt_cell *row = tkt_table_add_row(table);
    const tkt_stats *stats = &named->stats;
    row[TKT_NAMED_NAME].text = tkt_trace_text(trace, named->name);
    row[TKT_NAMED_COUNT].u = stats->count;
    row[TKT_NAMED_SHARE].d = tkt_share(stats->total_ns, names->total_ns);
    row[TKT_NAMED_TOTAL].u = stats->total_ns;
    tkt_show_durations(&row[TKT_NAMED_AVERAGE], stats, named->histogram);
    row[TKT_NAMED_DEVIATION].u = tkt_deviation_cell(stats->count, tkt_stats_stddev(stats));
    return row;
}

/* ======== Kernels ======== */

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

/* "64,2,1"; NULL if they are unknown. */
static const char *dimensions(tkt_document *document, const uint32_t dims[3])
{
    char text[40];
    if (!(dims[0] | dims[1] | dims[2]))
        return NULL;
    char *end = tkt_put_u64(text, dims[0]);
    for (size_t i = 1; i < 3; i++) {
        *end++ = ',';
        end = tkt_put_u64(end, dims[i]);
    }
    return tkt_document_copy(document, text, (size_t)(end - text));
}

/* Every kernel has registers, so none means that the trace tells no resources. */
static uint64_t resource(const tkt_shape *shape, uint32_t hidden, uint32_t field, uint64_t value)
{
    bool is_known = !(hidden & field) && (shape->registers || value);
    return is_known ? value : TKT_NO_VALUE;
}

/* If launches differ in a field, a text cell says "varies" and a number cell is empty. */
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
    row[CLUSTER].text =
        hidden & TKT_VARIES_CLUSTER ? unknown : dimensions(document, shape->cluster);
    row[REGISTERS].u = resource(shape, hidden, TKT_VARIES_REGISTERS, shape->registers);
    row[STATIC].u = resource(shape, hidden, TKT_VARIES_STATIC, shape->static_shared_bytes);
    row[DYNAMIC].u = resource(shape, hidden, TKT_VARIES_DYNAMIC, shape->dynamic_shared_bytes);
    row[LOCAL].u = resource(shape, hidden, TKT_VARIES_LOCAL, shape->local_bytes);
    bool has_occupancy = !(hidden & TKT_VARIES_OCCUPANCY) && shape->occupancy > 0;
    row[OCCUPANCY].d = has_occupancy ? shape->occupancy / 100.0 : NAN;
    row[LIMIT].text = has_occupancy && shape->limiter < sizeof limits / sizeof *limits
                          ? limits[shape->limiter]
                          : NULL;
}

/* Fills the full name, known from the shape of one launch; empty if the launches' names differ. */
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

/* Hides columns that are empty for all kernels. CSV and JSON keep them. */
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

/* If kernels are grouped by launch, columns of the shape distinguish rows with the same name: give
 * them small ranks so that they stay longest. */
static void keep_shapes(tkt_table *table)
{
    for (size_t column = GRID; column <= LOCAL; column++) {
        if (table->columns[column].rank != TKT_HIDDEN && differs(table, column))
            table->columns[column].rank = column <= BLOCK ? 2 : 3;
    }
}

static takt_status show_kernels(tkt_document *document, const tkt_named_list *names,
                                tkt_kernel_key key, bool full_names)
{
    const takt_trace *trace = document->trace;
    bool has_shapes = trace->facts.has_spans;
    tkt_table *table = named_table(document, kernel_columns,
                                   has_shapes ? KERNEL_COLUMNS : TKT_NAMED_COLUMNS, names->count);
    if (!table)
        return TAKT_NO_MEMORY;
    for (size_t i = 0; i < names->count; i++) {
        tkt_cell *row = named_row(table, trace, names, &names->items[i]);
        if (!has_shapes)
            continue;
        fill_shape(row, document, &names->items[i]);
        fill_names(row, trace, &names->items[i], full_names);
    }
    if (has_shapes)
        hide_empty_columns(table);
    if (has_shapes && key == TKT_BY_LAUNCH)
        keep_shapes(table);
    if (names->count > 0) {
        tkt_document_add_note(document, "The median is within 3.2 %%.");
        tkt_note_more_medians(document, names->count, TKT_NAMED_HISTOGRAMS);
        add_ncu_notes(document, names);
    }
    return TAKT_OK;
}

takt_status tkt_show_kernels(tkt_document *document, const takt_report_options *options)
{
    if (document->sought)
        return TKT_SEEK(document, kernel_columns);
    tkt_named_list names = {0};
    bool full_names = options->full_names && document->trace->facts.has_spans;
    tkt_kernel_key key = options->by_arguments ? TKT_BY_LAUNCH
                         : full_names          ? TKT_BY_FULL_NAME
                                               : TKT_BY_NAME;
    document->nothing = "No kernels";
    takt_status status = tkt_kernels_of(document->trace, key, &names);
    if (status == TAKT_OK)
        status = show_kernels(document, &names, key, full_names);
    tkt_named_fini(&names);
    return status;
}

/* ======== Calls into CUDA ======== */

/* Calls into CUDA: how often, how long, how many failed. */

enum {
    WALL_SHARE = TKT_NAMED_COLUMNS,
    ERRORS,
    FIRST_ERROR,
    CALL_COLUMNS
};

static const tkt_column call_columns[CALL_COLUMNS] = {
    [TKT_NAMED_NAME] = {"Call", "name", TKT_CELL_TEXT, 0, true, 1},
    [TKT_NAMED_COUNT] = {"# of Calls", "count", TKT_CELL_COUNT, 3, false, 1},
    [TKT_NAMED_SHARE] = {"Total %", "total_percent", TKT_CELL_SHARE, 2, false, 1},
    [TKT_NAMED_TOTAL] = {"Total", "total_ns", TKT_CELL_TIME, 1, false, 1},
    [TKT_NAMED_AVERAGE] = {"Average", "avg_ns", TKT_CELL_TIME, 6, false, 1},
    [TKT_NAMED_MEDIAN] = {"Median", "median_ns", TKT_CELL_TIME, 8, false, 1},
    [TKT_NAMED_P99] = {"p99", "p99_ns", TKT_CELL_TIME, 9, false, 1},
    [TKT_NAMED_LEAST] = {"Min", "min_ns", TKT_CELL_TIME, 10, false, 1},
    [TKT_NAMED_MOST] = {"Max", "max_ns", TKT_CELL_TIME, 7, false, 1},
    [TKT_NAMED_DEVIATION] = {"StdDev", "stddev_ns", TKT_CELL_TIME, 11, false, 1},
    [WALL_SHARE] = {"Wall %", "wall_percent", TKT_CELL_SHARE, 5, false, 1},
    [ERRORS] = {"Errors", "errors", TKT_CELL_COUNT, 4, false, 1},
    [FIRST_ERROR] = {"First error", "first_error", TKT_CELL_COUNT, TKT_HIDDEN, false, 1},
};

static void fill_call(tkt_cell *row, const takt_trace *trace, const tkt_named *call)
{
    row[WALL_SHARE].d = tkt_share(call->stats.total_ns, tkt_known_wall_ns(trace));
    row[ERRORS].u = call->errors;
    row[FIRST_ERROR].u = call->first_error ? (uint32_t)call->first_error : TKT_NO_VALUE;
}

static takt_status show_calls(tkt_document *document, const tkt_named_list *names)
{
    tkt_table *table = named_table(document, call_columns, CALL_COLUMNS, names->count);
    if (!table)
        return TAKT_NO_MEMORY;
    bool has_errors = false;
    for (size_t i = 0; i < names->count; i++) {
        tkt_cell *row = named_row(table, document->trace, names, &names->items[i]);
        fill_call(row, document->trace, &names->items[i]);
        has_errors = has_errors || names->items[i].errors > 0;
    }
    if (!has_errors)
        table->columns[ERRORS].rank = TKT_HIDDEN;
    tkt_table_hide_empty(table, TKT_NAMED_P99);
    if (names->count > 0)
        tkt_document_add_note(document, "Median and p99 are within 3.2 %%.");
    tkt_note_more_medians(document, names->count, TKT_NAMED_HISTOGRAMS);
    return TAKT_OK;
}

takt_status tkt_show_api(tkt_document *document, const takt_report_options *options)
{
    if (document->sought)
        return TKT_SEEK(document, call_columns);
    (void)options;
    tkt_named_list names = {0};
    document->nothing = "No calls";
    takt_status status = tkt_calls_of(document->trace, &names);
    if (status == TAKT_OK)
        status = show_calls(document, &names);
    tkt_named_fini(&names);
    return status;
}
