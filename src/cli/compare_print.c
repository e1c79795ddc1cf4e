/* A comparison as tables: what the two traces are, then a row for each name. */
#include "cli/compare_print.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEFAULT_ROWS = 40,
    NOTE = 512,
    VALUE = 64
};

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
    MEAN_CHANCE,
    VERDICT,
    COLUMNS
};

static const cli_column columns[COLUMNS] = {
    [NAME] = {"Name", "name", CLI_CELL_TEXT, 0},
    [KIND] = {"Kind", "kind", CLI_CELL_TEXT, 8},
    [CALLS_A] = {"Calls A", "calls_a", CLI_CELL_COUNT, 7},
    [CALLS_B] = {"Calls B", "calls_b", CLI_CELL_COUNT, 7},
    [TOTAL_A] = {"Total A", "total_a_ns", CLI_CELL_TIME, CLI_HIDDEN},
    [TOTAL_B] = {"Total B", "total_b_ns", CLI_CELL_TIME, CLI_HIDDEN},
    [SELF_A] = {"Self A", "self_a_ns", CLI_CELL_TIME, 6},
    [SELF_B] = {"Self B", "self_b_ns", CLI_CELL_TIME, 6},
    [SELF_CHANGE] = {"Self change", "self_change_ns", CLI_CELL_CHANGE, 1},
    [MEAN_A] = {"Mean A", "mean_a_ns", CLI_CELL_TIME, CLI_HIDDEN},
    [MEAN_B] = {"Mean B", "mean_b_ns", CLI_CELL_TIME, CLI_HIDDEN},
    [CALL_A] = {"Call A", "call_a_ns", CLI_CELL_TIME, 5},
    [CALL_B] = {"Call B", "call_b_ns", CLI_CELL_TIME, 5},
    [CHANGE] = {"Change", "change_ns", CLI_CELL_CHANGE, 3},
    [CHANGE_PERCENT] = {"Change %", "change_percent", CLI_CELL_PERCENT, 0},
    [LOW] = {"Low", "change_low_ns", CLI_CELL_CHANGE, CLI_HIDDEN},
    [HIGH] = {"High", "change_high_ns", CLI_CELL_CHANGE, CLI_HIDDEN},
    [BAND] = {"95 % band", "", CLI_CELL_TEXT, CLI_SHOWN_ONLY + 2},
    [CHANCE] = {"p", "p", CLI_CELL_CHANCE, 4},
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
    cells[CHANCE].number = row->noise.rank_p;
    cells[MEAN_CHANCE].number = row->noise.mean_p;
    cells[VERDICT].text = cli_verdict_name(row->verdict);
}

static const char *color_of(cli_verdict verdict)
{
    switch (verdict) {
    case CLI_SLOWER:
    case CLI_TAIL_SLOWER:
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

static bool make_rows(const cli_comparison *comparison, char (*bands)[VALUE], cli_table *out)
{
    if (!cli_table_init(out, "rows", columns, COLUMNS, comparison->rows.count))
        return false;
    out->colors = calloc(out->row_count + 1, sizeof *out->colors);
    for (size_t i = 0; i < out->row_count; i++) {
        const cli_row *row = &comparison->rows.items[i];
        fill_row(out->cells + i * COLUMNS, comparison, row, bands[i]);
        if (out->colors)
            out->colors[i] = color_of(row->verdict);
    }
    return true;
}

/* ---- Notes ---- */

enum {
    MOST_NOTES = 24
};

typedef struct notes {
    char texts[MOST_NOTES][NOTE];
    const char *list[MOST_NOTES + 1];
    size_t count;
} notes;

__attribute__((format(printf, 2, 3))) static void note(notes *n, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(n->texts[n->count], NOTE, format, list);
    va_end(list);
    n->list[n->count] = n->texts[n->count];
    n->count++;
}

static void write_notes(const cli_comparison *comparison, notes *out)
{
    const cli_side *a = &comparison->sides[CLI_A], *b = &comparison->sides[CLI_B];
    double absolute_ns = comparison->options.absolute_ns;
    cli_obstacles obstacles;
    char absolute[VALUE];

    cli_obstacles_of(comparison, &obstacles);
    for (size_t i = 0; i < obstacles.count; i++)
        note(out, "Careful: %s.", obstacles.texts[i]);
    if (comparison->is_per_step)
        note(out,
             "Self times and totals are those of a step: A has %" PRIu64 ", B %" PRIu64
             " of them. Calls are those of the recording.",
             a->facts.step_count, b->facts.step_count);
    if (!a->facts.has_spans || !b->facts.has_spans)
        note(out, "Without spans single calls are not known: there a call is the mean one, and how "
                  "large the noise is nobody can tell.");
    note(
        out,
        "Call: the median one. Change: Hodges-Lehmann shift, the median of all differences between "
        "a call of B and one of A; band: its 95 %% confidence interval; p: Mann-Whitney U test, "
        "adjusted for %zu rows (Holm).",
        comparison->tests);
    note(out,
         "Slower, faster: p below 0.05 and a change of more than %g %%%s%s. Calls of one recording "
         "are not independent, so record more than once before trusting a small change.",
         100 * comparison->options.limit, absolute_ns > 0 ? " and " : "",
         absolute_ns > 0 ? cli_time_text(absolute, sizeof absolute, absolute_ns) : "");
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
    cli_fact_texts texts[CLI_BOTH];
    notes lines = {.count = 0};
    takt_status status = TAKT_NO_MEMORY;

    if (cli_compare_facts(comparison, texts, &document->above) &&
        make_rows(comparison, bands, &document->main))
        status = cli_table_arrange(&document->main,
                                   options->sort ? options->sort : columns[SELF_CHANGE].key,
                                   options->rows ? options->rows : DEFAULT_ROWS);
    if (status == TAKT_BAD_ARGUMENT)
        return tell_columns(syntax, options->sort);
    if (status != TAKT_OK)
        return cli_error("%s", takt_status_text(status));
    write_notes(comparison, &lines);
    document->notes = lines.list;
    cli_document_print(document, options);
    return CLI_OK;
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
