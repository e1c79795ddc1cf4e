/* Times by name, as the reports of kernels and of calls show them. */
#include "report/show_named.h"

tkt_table *tkt_named_table(tkt_document *document, const tkt_column *columns, size_t column_count,
                           size_t rows)
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

static uint64_t quantile(const tkt_named *named, double q)
{
    return named->histogram ? tkt_stats_quantile(&named->stats, named->histogram, q) : TKT_NO_VALUE;
}

tkt_cell *tkt_named_row(tkt_table *table, const takt_trace *trace, const tkt_nameds *nameds,
                        const tkt_named *named)
{
    tkt_cell *row = tkt_table_add_row(table);
    const tkt_stats *stats = &named->stats;
    row[TKT_NAMED_NAME].text = tkt_trace_text(trace, named->name);
    row[TKT_NAMED_COUNT].u = stats->count;
    row[TKT_NAMED_SHARE].d = tkt_share(stats->total_ns, nameds->total_ns);
    row[TKT_NAMED_TOTAL].u = stats->total_ns;
    row[TKT_NAMED_AVERAGE].u = tkt_mean(stats->total_ns, stats->count);
    row[TKT_NAMED_MEDIAN].u = quantile(named, 0.5);
    row[TKT_NAMED_P99].u = quantile(named, 0.99);
    row[TKT_NAMED_LEAST].u = stats->min_ns;
    row[TKT_NAMED_MOST].u = stats->max_ns;
    double deviation = tkt_stats_stddev(stats); /* a file may say anything */
    row[TKT_NAMED_DEVIATION].u =
        stats->count > 1 && deviation < 1e19 ? (uint64_t)(deviation + 0.5) : TKT_NO_VALUE;
    return row;
}
