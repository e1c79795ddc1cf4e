/* A comparison as tables: what the traces are, then a row for each name. */
#include "cli/compare_print.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEFAULT_ROWS = 40,
    VALUE = 64
};

/* ---- The facts ---- */

static const cli_column fact_columns[] = {{"", "name", CLI_CELL_TEXT, 0},
                                          {"A", "a", CLI_CELL_TEXT, 0},
                                          {"B", "b", CLI_CELL_TEXT, 0},
                                          {"", "differs", CLI_CELL_TEXT, 0}};

/* How many runs there are is only said where there are several. */
static bool make_facts(const cli_comparison *comparison, const cli_fact facts[CLI_FACTS],
                       cli_table *out)
{
    bool has_runs = comparison->sides[CLI_A].runs > 1 || comparison->sides[CLI_B].runs > 1;
    if (!cli_table_init(out, "traces", fact_columns, 4, has_runs ? CLI_FACTS : CLI_FACTS - 1))
        return false;
    cli_cell *cells = out->cells;
    for (int i = 0; i < CLI_FACTS; i++) {
        if (i == CLI_FACT_RUNS && !has_runs)
            continue;
        *cells++ = (cli_cell){.text = facts[i].name};
        *cells++ = (cli_cell){.text = facts[i].texts[CLI_A], .data = facts[i].data[CLI_A]};
        *cells++ = (cli_cell){.text = facts[i].texts[CLI_B], .data = facts[i].data[CLI_B]};
        *cells++ = (cli_cell){.text = facts[i].differs ? "differs" : "",
                              .data = facts[i].differs ? "true" : "false"};
    }
    return true;
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

static const cli_column columns[COLUMNS] = {
    [NAME] = {"Name", "name", CLI_CELL_TEXT, 0},
    [KIND] = {"Kind", "kind", CLI_CELL_TEXT, 8},
    [CALLS_A] = {"Calls A", "calls_a", CLI_CELL_COUNT, 5},
    [CALLS_B] = {"Calls B", "calls_b", CLI_CELL_COUNT, 5},
    [TOTAL_A] = {"Total A", "total_a_ns", CLI_CELL_TIME, CLI_HIDDEN},
    [TOTAL_B] = {"Total B", "total_b_ns", CLI_CELL_TIME, CLI_HIDDEN},
    [SELF_A] = {"Self A", "self_a_ns", CLI_CELL_TIME, 7},
    [SELF_B] = {"Self B", "self_b_ns", CLI_CELL_TIME, 7},
    [SELF_CHANGE] = {"Self change", "self_change_ns", CLI_CELL_CHANGE, 1},
    [MEAN_A] = {"Mean A", "mean_a_ns", CLI_CELL_TIME, CLI_HIDDEN},
    [MEAN_B] = {"Mean B", "mean_b_ns", CLI_CELL_TIME, CLI_HIDDEN},
    [CALL_A] = {"Call A", "call_a_ns", CLI_CELL_TIME, 6},
    [CALL_B] = {"Call B", "call_b_ns", CLI_CELL_TIME, 6},
    [CHANGE] = {"Change", "change_ns", CLI_CELL_CHANGE, 4},
    [CHANGE_PERCENT] = {"Change %", "change_percent", CLI_CELL_PERCENT, 0},
    [LOW] = {"Low", "change_low_ns", CLI_CELL_CHANGE, CLI_HIDDEN},
    [HIGH] = {"High", "change_high_ns", CLI_CELL_CHANGE, CLI_HIDDEN},
    [BAND] = {"95 % band", "", CLI_CELL_TEXT, CLI_SHOWN_ONLY + 2},
    [CHANCE] = {"p", "p", CLI_CELL_CHANCE, 3},
    [MEAN_CHANGE] = {"Mean change", "mean_change_ns", CLI_CELL_CHANGE, CLI_HIDDEN},
    [MEAN_PERCENT] = {"Mean %", "mean_change_percent", CLI_CELL_PERCENT, 0},
    [MEAN_CHANCE] = {"Mean p", "mean_p", CLI_CELL_CHANCE, CLI_HIDDEN},
    [VERDICT] = {"Verdict", "verdict", CLI_CELL_TEXT, 0},
};

static double percent(double change, double base)
{
    return base > 0 ? 100 * change / base : NAN;
}

/* "-1.20% .. +3.40%", of the base. */
static const char *band_of(char out[VALUE], const cli_row *row)
{
    char low[24], high[24];

    if (isnan(row->noise.low_ns) || !(row->base_ns > 0))
        return "";
    snprintf(
        out, VALUE, "%s .. %s",
        cli_cell_shown(low, sizeof low, CLI_CELL_PERCENT, percent(row->noise.low_ns, row->base_ns)),
        cli_cell_shown(high, sizeof high, CLI_CELL_PERCENT,
                       percent(row->noise.high_ns, row->base_ns)));
    return out;
}

/* Totals of what a trace does not have are 0 there; times of its calls are not known. */
static void fill_part(cli_cell *cells, const cli_row *row, int side, double scale)
{
    const cli_part *part = &row->parts[side];

    cells[CALLS_A + side].number = (double)part->calls;
    cells[TOTAL_A + side].number = part->total_ns * scale;
    cells[SELF_A + side].number = part->self_ns * scale;
    cells[MEAN_A + side].number = part->mean_ns;
    cells[CALL_A + side].number = cli_row_has_samples(row) ? part->median_ns : part->mean_ns;
}

static void fill_row(cli_cell *cells, const cli_comparison *comparison, const cli_row *row,
                     char band[VALUE])
{
    cells[NAME].text = row->name;
    cells[KIND].text = cli_row_kind_name(row->kind);
    fill_part(cells, row, CLI_A, comparison->scale[CLI_A]);
    fill_part(cells, row, CLI_B, comparison->scale[CLI_B]);
    cells[SELF_CHANGE].number = row->self_change_ns;
    cells[CHANGE].number = row->change_ns;
    cells[CHANGE_PERCENT].number = percent(row->change_ns, row->base_ns);
    cells[LOW].number = row->noise.low_ns;
    cells[HIGH].number = row->noise.high_ns;
    cells[BAND].text = band_of(band, row);
    cells[CHANCE].number = row->noise.p;
    cells[MEAN_CHANGE].number = row->mean_change_ns;
    cells[MEAN_PERCENT].number = percent(row->mean_change_ns, row->parts[CLI_A].mean_ns);
    cells[MEAN_CHANCE].number = row->mean_noise.p;
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
static void choose_columns(const cli_comparison *comparison, cli_column own[COLUMNS])
{
    memcpy(own, columns, sizeof columns);
    for (size_t i = 0; i < comparison->rows.count; i++)
        if (comparison->rows.items[i].kind == CLI_ROW_CUDA)
            own[KIND].rank = 0;
}

static bool make_rows(const cli_comparison *comparison, cli_column own[COLUMNS],
                      char (*bands)[VALUE], cli_table *out)
{
    choose_columns(comparison, own);
    if (!cli_table_init(out, "rows", own, COLUMNS, comparison->rows.count))
        return false;
    out->colors = calloc(out->row_count + 1, sizeof *out->colors);
    if (!out->colors)
        return false;
    for (size_t i = 0; i < out->row_count; i++) {
        const cli_row *row = &comparison->rows.items[i];
        fill_row(out->cells + i * COLUMNS, comparison, row, bands[i]);
        out->colors[i] = color_of(row->verdict);
    }
    return true;
}

static int tell_columns(const cli_syntax *syntax, const char *sort)
{
    char names[512] = "";
    for (size_t i = 0, used = 0; i < COLUMNS; i++)
        if (columns[i].key[0])
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? "," : "",
                                     columns[i].key);
    return cli_usage_error(syntax, "--sort: there is no column \"%s\"; there are %s", sort, names);
}

static int print(const cli_comparison *comparison, cli_document *document, char (*bands)[VALUE],
                 const takt_report_options *options, const cli_syntax *syntax)
{
    cli_fact facts[CLI_FACTS];
    cli_column own[COLUMNS];
    cli_notes notes;
    takt_status status = TAKT_NO_MEMORY;

    cli_facts_of(comparison, facts);
    if (make_facts(comparison, facts, &document->above) &&
        make_rows(comparison, own, bands, &document->main))
        status = cli_table_arrange(&document->main,
                                   options->sort ? options->sort : columns[SELF_CHANGE].key,
                                   options->rows ? options->rows : DEFAULT_ROWS);
    if (status == TAKT_BAD_ARGUMENT)
        return tell_columns(syntax, options->sort);
    if (status == TAKT_OK) {
        cli_compare_notes(comparison, &notes);
        document->notes = notes.list;
        status = cli_document_print(document, options);
    }
    return status == TAKT_OK ? CLI_OK : cli_error("%s", takt_status_text(status));
}

int cli_compare_print(const cli_comparison *comparison, const takt_report_options *options,
                      const cli_syntax *syntax)
{
    cli_document document = {.name = syntax->verb};
    char(*bands)[VALUE] = calloc(comparison->rows.count + 1, sizeof *bands);
    int result = bands ? print(comparison, &document, bands, options, syntax)
                       : cli_error("%s", takt_status_text(TAKT_NO_MEMORY));

    cli_table_free(&document.above);
    cli_table_free(&document.main);
    free(bands);
    return result;
}
