/* A comparison as tables: what the traces are, then a row for each name. */
#include "cli/compare_print.h"

#include "base/alloc.h"
#include "cli/cli.h"

#include <math.h>
#include <stdio.h>

enum {
    DEFAULT_ROWS = 40
};

/* ---- The facts ---- */

static const tkt_column fact_columns[] = {{"", "name", TKT_CELL_TEXT, 0, true, 1},
                                          {"A", "a", TKT_CELL_FACT, 0, true, 1},
                                          {"B", "b", TKT_CELL_FACT, 0, true, 1},
                                          {"", "differs", TKT_CELL_FACT, 0, true, 1}};

static const tkt_said differs[] = {{"", "false"}, {"differs", "true"}};

/* How many runs there are is only said where there are several. */
static void add_facts(tkt_document *document, const cli_comparison *comparison,
                      const cli_fact facts[CLI_FACTS], tkt_said said[CLI_FACTS][CLI_BOTH])
{
    bool has_runs = comparison->sides[CLI_A].runs > 1 || comparison->sides[CLI_B].runs > 1;
    tkt_table *table = tkt_document_add_table(document, "traces", fact_columns, 4,
                                              has_runs ? CLI_FACTS : CLI_FACTS - 1);
    for (int i = 0; table && i < CLI_FACTS; i++) {
        if (i == CLI_FACT_RUNS && !has_runs)
            continue;
        tkt_cell *cells = tkt_table_add_row(table);
        cells[0].text = facts[i].name;
        for (int side = CLI_A; side < CLI_BOTH; side++) {
            said[i][side] = (tkt_said){facts[i].texts[side], facts[i].data[side]};
            cells[1 + side].said = &said[i][side];
        }
        cells[3].said = &differs[facts[i].differs];
    }
    if (table)
        table->is_head = true;
}

/* ---- The rows ---- */

enum {
    NAME,
    KIND,
    CALLS_A,
    CALLS_B,
    TOTAL_A,
    TOTAL_B,
    SELF_A,
    SELF_B,
    SELF_CHANGE,
    MEAN_A,
    MEAN_B,
    CALL_A,
    CALL_B,
    CHANGE,
    CHANGE_PERCENT,
    LOW,
    HIGH,
    BAND,
    CHANCE,
    MEAN_CHANGE,
    MEAN_PERCENT,
    MEAN_CHANCE,
    VERDICT,
    COLUMNS
};

static const tkt_column columns[COLUMNS] = {
    [NAME] = {"Name", "name", TKT_CELL_TEXT, 0, true, 1},
    [KIND] = {"Kind", "kind", TKT_CELL_TEXT, 8, true, 1},
    [CALLS_A] = {"Calls A", "calls_a", TKT_CELL_COUNT, 5, false, 1},
    [CALLS_B] = {"Calls B", "calls_b", TKT_CELL_COUNT, 5, false, 1},
    [TOTAL_A] = {"Total A", "total_a_ns", TKT_CELL_LENGTH, TKT_HIDDEN, false, 1},
    [TOTAL_B] = {"Total B", "total_b_ns", TKT_CELL_LENGTH, TKT_HIDDEN, false, 1},
    [SELF_A] = {"Self A", "self_a_ns", TKT_CELL_LENGTH, 7, false, 1},
    [SELF_B] = {"Self B", "self_b_ns", TKT_CELL_LENGTH, 7, false, 1},
    [SELF_CHANGE] = {"Self change", "self_change_ns", TKT_CELL_SHIFT, 1, false, 1},
    [MEAN_A] = {"Mean A", "mean_a_ns", TKT_CELL_LENGTH, TKT_HIDDEN, false, 1},
    [MEAN_B] = {"Mean B", "mean_b_ns", TKT_CELL_LENGTH, TKT_HIDDEN, false, 1},
    [CALL_A] = {"Call A", "call_a_ns", TKT_CELL_LENGTH, 6, false, 1},
    [CALL_B] = {"Call B", "call_b_ns", TKT_CELL_LENGTH, 6, false, 1},
    [CHANGE] = {"Change", "change_ns", TKT_CELL_SHIFT, 4, false, 1},
    [CHANGE_PERCENT] = {"Change %", "change_percent", TKT_CELL_GROWTH, 0, false, 1},
    [LOW] = {"Low", "change_low_ns", TKT_CELL_SHIFT, TKT_HIDDEN, false, 1},
    [HIGH] = {"High", "change_high_ns", TKT_CELL_SHIFT, TKT_HIDDEN, false, 1},
    [BAND] = {"95 % band", NULL, TKT_CELL_TEXT, 2, true, 1},
    [CHANCE] = {"p", "p", TKT_CELL_CHANCE, 3, false, 1},
    [MEAN_CHANGE] = {"Mean change", "mean_change_ns", TKT_CELL_SHIFT, TKT_HIDDEN, false, 1},
    [MEAN_PERCENT] = {"Mean %", "mean_change_percent", TKT_CELL_GROWTH, 0, false, 1},
    [MEAN_CHANCE] = {"Mean p", "mean_p", TKT_CELL_CHANCE, TKT_HIDDEN, false, 1},
    [VERDICT] = {"Verdict", "verdict", TKT_CELL_TEXT, 0, true, 1},
};

static double percent(double change, double base)
{
    return base > 0 ? 100 * change / base : NAN;
}

/* "-1.20% .. +3.40%", of the base. */
static const char *band_of(tkt_document *document, const cli_row *row)
{
    char low[TKT_VALUE_SIZE], high[TKT_VALUE_SIZE], band[2 * TKT_VALUE_SIZE + 4];

    if (isnan(row->noise.low_ns) || !(row->base_ns > 0))
        return "";
    tkt_value_text(low, TKT_CELL_GROWTH, (tkt_cell){.d = percent(row->noise.low_ns, row->base_ns)});
    tkt_value_text(high, TKT_CELL_GROWTH,
                   (tkt_cell){.d = percent(row->noise.high_ns, row->base_ns)});
    int size = snprintf(band, sizeof band, "%s .. %s", low, high);
    return tkt_document_copy(document, band, (size_t)size);
}

/* Totals of what a trace does not have are 0 there; times of its calls are not known. */
static void fill_part(tkt_cell *cells, const cli_row *row, int side, double scale)
{
    const cli_part *part = &row->parts[side];

    cells[CALLS_A + side].u = part->calls;
    cells[TOTAL_A + side].d = part->total_ns * scale;
    cells[SELF_A + side].d = part->self_ns * scale;
    cells[MEAN_A + side].d = part->mean_ns;
    cells[CALL_A + side].d = cli_row_has_samples(row) ? part->median_ns : part->mean_ns;
}

static void add_row(tkt_document *document, tkt_table *table, const cli_comparison *comparison,
                    const cli_row *row)
{
    tkt_cell *cells = tkt_table_add_row(table);

    cells[NAME].text = row->name;
    cells[KIND].text = cli_row_kind_name(row->kind);
    fill_part(cells, row, CLI_A, comparison->scale[CLI_A]);
    fill_part(cells, row, CLI_B, comparison->scale[CLI_B]);
    cells[SELF_CHANGE].d = row->self_change_ns;
    cells[CHANGE].d = row->change_ns;
    cells[CHANGE_PERCENT].d = percent(row->change_ns, row->base_ns);
    cells[LOW].d = row->noise.low_ns;
    cells[HIGH].d = row->noise.high_ns;
    cells[BAND].text = band_of(document, row);
    cells[CHANCE].d = row->noise.p;
    cells[MEAN_CHANGE].d = row->mean_change_ns;
    cells[MEAN_PERCENT].d = percent(row->mean_change_ns, row->parts[CLI_A].mean_ns);
    cells[MEAN_CHANCE].d = row->mean_noise.p;
    cells[VERDICT].text = cli_verdict_name(row->verdict);
}

static const char *color_of(cli_verdict verdict)
{
    switch (verdict) {
    case CLI_SLOWER:
    case CLI_TAIL_SLOWER:
    case CLI_FASTER_TAIL_SLOWER:
    case CLI_SLOWER_TAIL_FASTER:
    case CLI_MORE_CALLS:
        return "\033[1;31m";
    case CLI_FASTER:
    case CLI_TAIL_FASTER:
    case CLI_FEWER_CALLS:
        return "\033[32m";
    default:
        return NULL;
    }
}

/* A scope may have two rows; then the kind tells which is which, and stays. */
static void keep_kinds(tkt_table *table, const cli_comparison *comparison)
{
    for (size_t i = 0; i < comparison->rows.count; i++)
        if (comparison->rows.items[i].kind == CLI_ROW_CUDA)
            table->columns[KIND].rank = 0;
}

static void add_rows(tkt_document *document, const cli_comparison *comparison)
{
    size_t count = comparison->rows.count;
    tkt_table *table = tkt_document_add_table(document, "rows", columns, COLUMNS, count);
    const char **colors = tkt_alloc((count + 1) * sizeof *colors);

    if (!table || !colors) {
        tkt_free(colors);
        document->status = TAKT_NO_MEMORY;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        add_row(document, table, comparison, &comparison->rows.items[i]);
        colors[i] = color_of(comparison->rows.items[i].verdict);
    }
    keep_kinds(table, comparison);
    table->colors = colors;
    table->sort = SELF_CHANGE;
    table->default_rows = DEFAULT_ROWS;
}

static int tell_columns(const tkt_document *document, const char *sort, const cli_syntax *syntax)
{
    char keys[512];
    return cli_usage_error(syntax, "--sort: there is no column \"%s\"; there are %s", sort,
                           tkt_table_keys(&document->tables[0], keys, sizeof keys));
}

int cli_compare_print(const cli_comparison *comparison, const takt_report_options *options,
                      const cli_syntax *syntax)
{
    cli_fact facts[CLI_FACTS];
    tkt_said said[CLI_FACTS][CLI_BOTH];
    tkt_document document;
    takt_sink sink = cli_stdout_sink();
    int result = CLI_OK;

    tkt_document_init(&document, syntax->verb, NULL);
    cli_facts_of(comparison, facts);
    add_rows(&document, comparison);
    add_facts(&document, comparison, facts, said);
    cli_compare_notes(comparison, &document);
    takt_status status = document.status;
    if (status == TAKT_OK)
        status = tkt_document_print(&document, options, &sink);
    if (status == TAKT_BAD_ARGUMENT)
        result = tell_columns(&document, options->sort, syntax);
    else if (status != TAKT_OK && status != TAKT_IO_ERROR) /* that cli_finish() tells */
        result = cli_error("%s", takt_status_text(status));
    tkt_document_fini(&document);
    return result;
}
