/* The tree report: where time goes, by call path. */
#include "report/show.h"

#include "summary/scopes.h"

enum {
    NAME,
    DEPTH,
    CALLS,
    PIECES,
    TOTAL_SHARE,
    TOTAL,
    SELF_SHARE,
    SELF,
    AVERAGE,
    MEDIAN,
    P99,
    LEAST,
    MOST,
    DEVIATION,
    HOST_COLUMNS,
    DEVICE_TOTAL = HOST_COLUMNS,
    DEVICE_TOTAL_SHARE,
    DEVICE_SELF,
    COLUMNS
};

static const tkt_column columns[COLUMNS] = {
    [NAME] = {"Scope", "name", TKT_CELL_TEXT, 0, true, 1},
    [DEPTH] = {"Depth", "depth", TKT_CELL_COUNT, TKT_HIDDEN, false, 1},
    [CALLS] = {"# of Calls", "calls", TKT_CELL_COUNT, 4, false, 1},
    [PIECES] = {"Cut", "pieces", TKT_CELL_COUNT, 15, false, 1},
    [TOTAL_SHARE] = {"CPU total %", "cpu_total_percent", TKT_CELL_SHARE, 3, false, 1},
    [TOTAL] = {"CPU total", "cpu_total_ns", TKT_CELL_TIME, 1, false, 1},
    [SELF_SHARE] = {"Self CPU %", "self_cpu_percent", TKT_CELL_SHARE, 6, false, 1},
    [SELF] = {"Self CPU", "self_cpu_ns", TKT_CELL_TIME, 7, false, 1},
    [AVERAGE] = {"Average", "cpu_time_avg_ns", TKT_CELL_TIME, 9, false, 1},
    [MEDIAN] = {"Median", "cpu_time_median_ns", TKT_CELL_TIME, 11, false, 1},
    [P99] = {"p99", "cpu_time_p99_ns", TKT_CELL_TIME, 12, false, 1},
    [LEAST] = {"Min", "cpu_time_min_ns", TKT_CELL_TIME, 13, false, 1},
    [MOST] = {"Max", "cpu_time_max_ns", TKT_CELL_TIME, 10, false, 1},
    [DEVIATION] = {"StdDev", "cpu_time_stddev_ns", TKT_CELL_TIME, 14, false, 1},
    [DEVICE_TOTAL] = {"CUDA total", "cuda_total_ns", TKT_CELL_TIME, 2, false, 1},
    [DEVICE_TOTAL_SHARE] = {"CUDA total %", "cuda_total_percent", TKT_CELL_SHARE, 5, false, 1},
    [DEVICE_SELF] = {"Self CUDA", "self_cuda_ns", TKT_CELL_TIME, 8, false, 1},
};

static void fill_row(tkt_cell *row, const tkt_tree *tree, const tkt_path *path)
{
    const tkt_stats *stats = &path->node->stats;
    row[NAME].text = path->name;
    row[DEPTH].u = path->depth;
    row[CALLS].u = stats->count;
    row[PIECES].u = stats->pieces ? stats->pieces : TKT_NO_VALUE;
    row[TOTAL_SHARE].d = tkt_share(stats->total_ns, tree->self_ns);
    row[TOTAL].u = stats->total_ns;
    row[SELF_SHARE].d = tkt_share(path->self_ns, tree->self_ns);
    row[SELF].u = path->self_ns;
    tkt_show_durations(&row[AVERAGE], stats, path->node->histogram);
    row[DEVIATION].u = tkt_deviation_cell(tkt_stats_whole(stats), tkt_stats_stddev(stats));
    if (!tree->has_device)
        return;
    row[DEVICE_TOTAL].u = path->device.total_ns;
    row[DEVICE_TOTAL_SHARE].d = tkt_share(path->device.total_ns, tree->device_ns);
    row[DEVICE_SELF].u = path->device.self_ns;
}

static takt_status show(tkt_document *document, const tkt_tree *tree)
{
    size_t count = tree->has_device ? COLUMNS : HOST_COLUMNS;
    tkt_table *table = tkt_document_add_table(document, "tree", columns, count, tree->count);
    if (!table || !tkt_table_make_tree(table))
        return TAKT_NO_MEMORY;
    table->weight = TOTAL;
    table->shade = SELF;
    table->sort = TOTAL;
    table->default_rows = 100;
    for (size_t i = 0; i < tree->count; i++) {
        const tkt_path *path = &tree->items[i];
        table->places[i] = (tkt_row_place){path->parent, path->depth};
        fill_row(tkt_table_add_row(table), tree, path);
    }
    tkt_table_hide_empty(table, P99);
    tkt_table_hide_empty(table, PIECES);
    return TAKT_OK;
}

void tkt_explain_pieces(tkt_document *document, bool has_some)
{
    if (has_some)
        tkt_document_explain(
            document, "pieces",
            "Cut: calls that began before the recording or ended after it; how long a "
            "call takes is told by the others.");
}

void tkt_note_other_paths(tkt_document *document)
{
    const tkt_fold *fold = tkt_trace_fold(document->trace);
    if (fold && fold->other_count > 0)
        tkt_document_add_note(document,
                              "%s stands for %llu calls of paths beyond the first %u: use fewer "
                              "names made at run time.",
                              TKT_OTHER_NAME, (unsigned long long)fold->other_count,
                              TKT_FOLD_MAX_NODES);
}

static bool has_pieces(const tkt_tree *tree)
{
    for (size_t i = 0; i < tree->count; i++)
        if (tree->items[i].node->stats.pieces > 0)
            return true;
    return false;
}

takt_status tkt_show_tree(tkt_document *document, const takt_report_options *options)
{
    if (document->sought)
        return TKT_SEEK(document, columns);
    tkt_tree tree = {0};
    document->nothing = "No scopes";
    takt_status status = tkt_tree_of(document->trace, options->all, &tree);
    if (status != TAKT_OK)
        return status;
    status = show(document, &tree);
    tkt_document_add_fact(document, "self_cpu_total_ns", "Self CPU time total", TKT_CELL_TIME,
                          (tkt_cell){.u = tree.self_ns});
    tkt_document_add_note(document, "Percentages are of the self CPU time total.");
    tkt_explain_pieces(document, has_pieces(&tree));
    tkt_note_other_paths(document);
    tkt_document_explain(document, "cpu_time_median_ns", "Median and p99 are within 3.2 %%.");
    if (tree.has_device) {
        tkt_document_add_fact(document, "self_cuda_total_ns", "Self CUDA time total", TKT_CELL_TIME,
                              (tkt_cell){.u = tree.device_ns});
        tkt_document_explain(document, "cuda_total_percent",
                             "CUDA percentages are of the self CUDA time total.");
    }
    tkt_tree_fini(&tree);
    return status;
}
