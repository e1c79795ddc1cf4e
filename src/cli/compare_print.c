/* Prints a comparison as tables, with notes below them. */
#include "base/alloc.h"
#include "cli/cli.h"
#include "cli/compare.h"
#include "trace/model.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEFAULT_ROWS = 40
};

/* ---- The facts ---- */

static const tkt_column fact_columns[] = {{"", "name", TKT_CELL_TEXT, 0, true, 1},
                                          {"A", "a", TKT_CELL_FACT, 0, true, 1},
                                          {"B", "b", TKT_CELL_FACT, 0, true, 1},
                                          {"", "differs", TKT_CELL_FACT, 0, true, 1}};

static const tkt_said differs[] = {{"", "false"}, {"differs", "true"}};

/* The row with the number of runs appears only if a side has several. */
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
    SELF_PERCENT,
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
    MEAN_LOW,
    MEAN_HIGH,
    MEAN_CHANCE,
    VERDICT,
    COLUMNS
};

static const tkt_column columns[COLUMNS] = {
    [NAME] = {"Name", "name", TKT_CELL_TEXT, 0, true, 1},
    [KIND] = {"Kind", "kind", TKT_CELL_TEXT, 8, true, 1},
    [CALLS_A] = {"Calls A", "calls_a", TKT_CELL_COUNT, 7, false, 1},
    [CALLS_B] = {"Calls B", "calls_b", TKT_CELL_COUNT, 7, false, 1},
    [TOTAL_A] = {"Total A", "total_a_ns", TKT_CELL_LENGTH, TKT_HIDDEN, false, 1},
    [TOTAL_B] = {"Total B", "total_b_ns", TKT_CELL_LENGTH, TKT_HIDDEN, false, 1},
    [SELF_A] = {"A", "self_a_ns", TKT_CELL_LENGTH, 2, false, 1},
    [SELF_B] = {"B", "self_b_ns", TKT_CELL_LENGTH, 2, false, 1},
    [SELF_CHANGE] = {"Change", "self_change_ns", TKT_CELL_SHIFT, 0, false, 1},
    [SELF_PERCENT] = {"Change %", "self_change_percent", TKT_CELL_GROWTH, 1, false, 1},
    [MEAN_A] = {"Mean A", "mean_a_ns", TKT_CELL_LENGTH, TKT_HIDDEN, false, 1},
    [MEAN_B] = {"Mean B", "mean_b_ns", TKT_CELL_LENGTH, TKT_HIDDEN, false, 1},
    [CALL_A] = {"Call A", "call_a_ns", TKT_CELL_LENGTH, TKT_HIDDEN, false, 1},
    [CALL_B] = {"Call B", "call_b_ns", TKT_CELL_LENGTH, TKT_HIDDEN, false, 1},
    [CHANGE] = {"Call change", "change_ns", TKT_CELL_SHIFT, 6, false, 1},
    [CHANGE_PERCENT] = {"Call change %", "change_percent", TKT_CELL_GROWTH, 3, false, 1},
    [LOW] = {"Low", "change_low_ns", TKT_CELL_SHIFT, TKT_HIDDEN, false, 1},
    [HIGH] = {"High", "change_high_ns", TKT_CELL_SHIFT, TKT_HIDDEN, false, 1},
    [BAND] = {"95 % band", NULL, TKT_CELL_TEXT, 4, true, 1},
    [CHANCE] = {"p", "p", TKT_CELL_CHANCE, 5, false, 1},
    [MEAN_CHANGE] = {"Mean change", "mean_change_ns", TKT_CELL_SHIFT, TKT_HIDDEN, false, 1},
    [MEAN_PERCENT] = {"Mean %", "mean_change_percent", TKT_CELL_GROWTH, TKT_HIDDEN, false, 1},
    [MEAN_LOW] = {"Mean low", "mean_low_ns", TKT_CELL_SHIFT, TKT_HIDDEN, false, 1},
    [MEAN_HIGH] = {"Mean high", "mean_high_ns", TKT_CELL_SHIFT, TKT_HIDDEN, false, 1},
    [MEAN_CHANCE] = {"Mean p", "mean_p", TKT_CELL_CHANCE, TKT_HIDDEN, false, 1},
    [VERDICT] = {"Calls are", "verdict", TKT_CELL_TEXT, 0, true, 1},
};

/* Formats the band relative to A's call, such as "-1.20% .. +3.40%". */
static const char *band_of(tkt_document *document, const cli_row *row)
{
    char low[TKT_VALUE_SIZE], high[TKT_VALUE_SIZE], band[2 * TKT_VALUE_SIZE + 4];

    if (isnan(row->noise.low_ns) || !(row->base_ns > 0))
        return "";
    tkt_value_text(low, TKT_CELL_GROWTH,
                   (tkt_cell){.d = cli_percent(row->noise.low_ns, row->base_ns)});
    tkt_value_text(high, TKT_CELL_GROWTH,
                   (tkt_cell){.d = cli_percent(row->noise.high_ns, row->base_ns)});
    int size = snprintf(band, sizeof band, "%s .. %s", low, high);
    return tkt_document_copy(document, band, (size_t)size);
}

/* If a side lacks a row, its calls and totals are 0 there, and its times per call are unknown. */
static void fill_part(tkt_cell *cells, const cli_row *row, int side, double scale)
{
    const cli_part *part = &row->parts[side];

    cells[CALLS_A + side].u = part->calls;
    cells[TOTAL_A + side].d = part->total_ns * scale;
    cells[SELF_A + side].d = part->self_ns * scale;
    cells[MEAN_A + side].d = part->mean_ns;
    cells[CALL_A + side].d = cli_row_call_ns(row, side);
}

static void add_row(tkt_document *document, tkt_table *table, const cli_comparison *comparison,
                    const cli_row *row)
{
    tkt_cell *cells = tkt_table_add_row(table);

    cells[NAME].text = row->name;
    cells[KIND].text = cli_row_kind_name(row->kind);
    fill_part(cells, row, CLI_A, cli_row_scale(comparison, row, CLI_A));
    fill_part(cells, row, CLI_B, cli_row_scale(comparison, row, CLI_B));
    cells[SELF_CHANGE].d = row->self_change_ns;
    cells[SELF_PERCENT].d = cli_percent(row->self_change_ns, cells[SELF_A].d);
    cells[CHANGE].d = row->change_ns;
    cells[CHANGE_PERCENT].d = cli_percent(row->change_ns, row->base_ns);
    cells[LOW].d = row->noise.low_ns;
    cells[HIGH].d = row->noise.high_ns;
    cells[BAND].text = band_of(document, row);
    cells[CHANCE].d = row->noise.p;
    cells[MEAN_CHANGE].d = row->mean_change_ns;
    cells[MEAN_PERCENT].d = cli_percent(row->mean_change_ns, row->parts[CLI_A].mean_ns);
    cells[MEAN_LOW].d = row->mean_noise.low_ns;
    cells[MEAN_HIGH].d = row->mean_noise.high_ns;
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

/* If a scope has a second row of kind cuda, or the name of the row of steps, the column of kinds
 * must stay visible. */
static void keep_kinds(tkt_table *table, const cli_comparison *comparison)
{
    for (size_t i = 0; i < comparison->rows.count; i++) {
        const cli_row *row = &comparison->rows.items[i];
        if (row->kind == CLI_ROW_CUDA ||
            (row->kind == CLI_ROW_SCOPE && strcmp(row->name, "step") == 0))
            table->columns[KIND].rank = 0;
    }
}

/* The row in question comes first, then losses, then gains, each by size. */
static int by_damage(const void *left, const void *right)
{
    const cli_row *a = *(const cli_row *const *)left, *b = *(const cli_row *const *)right;
    double sizes[] = {fabs(a->self_change_ns), fabs(b->self_change_ns)};

    if (a->is_primary != b->is_primary)
        return a->is_primary ? -1 : 1;
    if ((a->self_change_ns > 0) != (b->self_change_ns > 0))
        return a->self_change_ns > 0 ? -1 : 1;
    if (sizes[0] != sizes[1])
        return sizes[0] > sizes[1] ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* The meaning of the columns, in a line above them. */
static const char *heading_of(const cli_comparison *comparison)
{
    if (comparison->is_per_step)
        return "Self time of a step, largest loss first. Calls are judged with scopes inside.";
    return comparison->sides[CLI_A].runs > 1 || comparison->sides[CLI_B].runs > 1
               ? "Self time of a run, largest loss first. Calls are judged with scopes inside."
               : "Self time, largest loss first. Calls are judged with scopes inside.";
}

static void add_rows(tkt_document *document, const cli_comparison *comparison)
{
    size_t count = comparison->rows.count;
    tkt_table *table = tkt_document_add_table(document, "rows", columns, COLUMNS, count);
    const char **colors = tkt_alloc((count + 1) * sizeof *colors);
    const cli_row **rows = malloc((count + 1) * sizeof *rows);

    if (!table || !colors || !rows) {
        tkt_free(colors);
        free(rows);
        document->status = TAKT_NO_MEMORY;
        return;
    }
    for (size_t i = 0; i < count; i++)
        rows[i] = &comparison->rows.items[i];
    qsort(rows, count, sizeof *rows, by_damage);
    for (size_t i = 0; i < count; i++) {
        add_row(document, table, comparison, rows[i]);
        colors[i] = color_of(rows[i]->verdict);
    }
    free(rows);
    keep_kinds(table, comparison);
    table->heading = heading_of(comparison);
    table->colors = colors;
    table->default_rows = DEFAULT_ROWS;
}

static int tell_columns(const tkt_document *document, const char *sort, const cli_syntax *syntax)
{
    char keys[512];
    return cli_usage_error(syntax, "--sort: there is no column \"%s\"; the columns are %s", sort,
                           tkt_table_keys(&document->tables[0], keys, sizeof keys));
}

int cli_compare_print(const cli_comparison *comparison, const takt_report_options *options,
                      const takt_sink *sink, const cli_syntax *syntax)
{
    cli_fact facts[CLI_FACTS];
    tkt_said said[CLI_FACTS][CLI_BOTH];
    tkt_document document;
    int result = CLI_OK;

    tkt_document_init(&document, syntax->verb, NULL);
    cli_facts_of(comparison, facts);
    cli_compare_headline(comparison, &document);
    add_rows(&document, comparison);
    add_facts(&document, comparison, facts, said);
    cli_compare_notes(comparison, &document);
    takt_status status = tkt_document_print(&document, options, sink);
    if (status == TAKT_BAD_ARGUMENT)
        result = tell_columns(&document, options->sort, syntax);
    else if (status != TAKT_OK && status != TAKT_IO_ERROR)
        result = cli_error("%s", takt_status_text(status));
    tkt_document_fini(&document);
    return result;
}

/* ======== Notes ======== */

/* The notes below the tables: warnings, and the meaning of the numbers. */

static void note_totals(const cli_comparison *c, tkt_document *out)
{
    const cli_side *a = &c->sides[CLI_A], *b = &c->sides[CLI_B];

    if (a->runs > 1 || b->runs > 1)
        tkt_document_explain(out, "calls_a", "Calls are those of all runs.");
    for (size_t i = 0; i < c->rows.count; i++)
        if (c->rows.items[i].kind == CLI_ROW_CUDA) {
            tkt_document_add_note(
                out, "Rows of kind cuda are what devices did for a scope: the sum of the "
                     "activities that a call launched, scopes inside included; self, those "
                     "outside of these. It is the time of the activities' rows, so do not add the "
                     "two up.");
            return;
        }
}

static void note_calls(const cli_comparison *c, tkt_document *out)
{
    const cli_side *a = &c->sides[CLI_A], *b = &c->sides[CLI_B];
    char advice[160];

    tkt_document_add_note(
        out,
        "Careful: these verdicts compare recordings, not programs: runs of one program also "
        "differ, by more than their calls show. %s.",
        cli_runs_advice(c, advice, sizeof advice));
    if (a->runs > 1 || b->runs > 1)
        tkt_document_add_note(
            out,
            "With so few runs, the calls of a side are compared as if they came from one run.");
    if (!a->facts.has_spans || !b->facts.has_spans)
        tkt_document_add_note(
            out, "Without spans, single calls are unknown: the mean call replaces them, and the "
                 "size of the noise is unknown.");
    tkt_document_explain(
        out, "change_percent",
        "Call change %%: the median of all differences between a call of B and one of A "
        "(Hodges-Lehmann), in percent of A's median call; band: its 95 %% confidence interval; p: "
        "Mann-Whitney U test.");
}

/* Traces list so many steps only. */
static void note_steps(const cli_comparison *c, tkt_document *out)
{
    uint64_t summed = c->sides[CLI_A].summed_steps + c->sides[CLI_B].summed_steps;
    if (summed > 0)
        tkt_document_add_note(
            out, "%" PRIu64 " steps are known by their sum: mean steps are compared.", summed);
}

static void note_runs(const cli_comparison *c, tkt_document *out)
{
    const cli_side *a = &c->sides[CLI_A], *b = &c->sides[CLI_B];

    tkt_document_add_note(out, "Runs are compared, %zu of A and %zu of B%s.", a->runs, b->runs,
                          c->is_by_turns ? ", which took turns: each with its neighbours" : "");
    tkt_document_explain(
        out, "change_percent",
        "Call change %%: of a run's median call%s; of all runs, the mean without the smallest and "
        "the largest fifth. Band: its 95 %% confidence interval; p: permutation test.",
        a->facts.has_spans && b->facts.has_spans ? "" : ", or mean one in traces without spans");
}

/* Says which rows the comparison is about, and whether p values of the others are adjusted. */
static void note_tests(const cli_comparison *c, tkt_document *out)
{
    if (c->has_changed)
        tkt_document_add_note(
            out, "Steps, or without them the wall time, are the question. They changed, and the "
                 "rows below them say where: each p stands for itself.");
    else if (c->tests > 0)
        tkt_document_add_note(
            out,
            "Steps, or without them the wall time, are the question. No change of them is proved, "
            "so the p of other rows are adjusted for %zu of them (Holm).",
            c->tests);
    for (size_t i = 0; i < c->rows.count; i++)
        if (c->rows.items[i].verdict == CLI_UNKNOWN && c->rows.items[i].noise.own_p < CLI_ALPHA) {
            tkt_document_add_note(out,
                                  "Unknown: among so many rows, so few runs prove no change of "
                                  "one, however large. Ask for the row by name, as takt check "
                                  "--scope does, or compare more runs.");
            break;
        }
}

/* The table shows the typical call's band; the mean call's may be the reason of a verdict. */
static void note_means(const cli_comparison *c, tkt_document *out)
{
    for (size_t i = 0; i < c->rows.count; i++) {
        const cli_row *row = &c->rows.items[i];
        if ((row->verdict == CLI_NOISE || row->verdict == CLI_UNKNOWN) &&
            cli_band_is_within(&c->options, &row->noise, row->base_ns)) {
            tkt_document_add_note(out, "Noise or unknown beside a narrow band: a change of the "
                                       "mean call is not excluded (--json has its band).");
            return;
        }
    }
}

void cli_compare_notes(const cli_comparison *comparison, tkt_document *out)
{
    double absolute_ns = comparison->options.absolute_ns;
    cli_obstacles obstacles, cautions;
    char absolute[64];

    cli_obstacles_of(comparison, false, &obstacles);
    cli_cautions_of(comparison, &cautions);
    for (size_t i = 0; i < obstacles.count; i++)
        tkt_document_add_note(out, "Careful: %s.", obstacles.items[i].text);
    for (size_t i = 0; i < cautions.count; i++)
        tkt_document_add_note(out, "Careful: %s.", cautions.items[i].text);
    note_totals(comparison, out);
    note_steps(comparison, out);
    (comparison->is_by_run ? note_runs : note_calls)(comparison, out);
    note_tests(comparison, out);
    note_means(comparison, out);
    tkt_document_add_note(out, "Slower, faster: p below 0.05 and a change of more than %g %%%s%s.",
                          100 * comparison->options.limit, absolute_ns > 0 ? " and " : "",
                          absolute_ns > 0 ? cli_time_text(absolute, sizeof absolute, absolute_ns)
                                          : "");
}
