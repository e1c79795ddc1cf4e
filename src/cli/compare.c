/* Comparing traces: one is read, counted and released before the next, so that only one of them is
 * in memory; the durations of their calls stay, or what is known of each run. */
#include "cli/compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static takt_status add_trace(cli_comparison *comparison, int side, const takt_trace *trace)
{
    if (!cli_side_add(&comparison->sides[side], trace))
        return TAKT_NO_MEMORY;
    takt_status status = takt_trace_facts(trace)->step_count > 0
                             ? cli_compare_steps(comparison, side, trace)
                             : cli_compare_whole(comparison, side, trace);
    if (status != TAKT_OK)
        return status;
    status = takt_trace_facts(trace)->has_spans ? cli_compare_spans(comparison, side, trace)
                                                : cli_compare_folded(comparison, side, trace);
    return status == TAKT_OK ? cli_compare_end_run(comparison, side, trace) : status;
}

static int read_run(cli_comparison *comparison, int side, const char *path)
{
    takt_trace *trace = cli_open_trace(path);
    if (!trace)
        return CLI_FAILED;
    cli_progress *progress = cli_progress_begin("counting", path);
    takt_status status = add_trace(comparison, side, trace);
    takt_trace_release(trace);
    cli_progress_end(progress);
    return status == TAKT_OK ? CLI_OK : cli_error("%s: %s", path, takt_status_text(status));
}

static int read_side(cli_comparison *comparison, int side)
{
    const cli_files *files = &comparison->sides[side].files;
    int status = CLI_OK;

    for (size_t i = 0; i < files->count && status == CLI_OK; i++)
        status = read_run(comparison, side, files->paths[i]);
    return status;
}

/* "base.pftrace"; "base.pftrace and 2 more". */
static char *label_of(const char *first, size_t operands)
{
    size_t size = strlen(first) + sizeof " and 18446744073709551615 more";
    char *label = malloc(size);

    if (label && operands == 1)
        snprintf(label, size, "%s", first);
    else if (label)
        snprintf(label, size, "%s and %zu more", first, operands - 1);
    return label;
}

static int find_files(cli_comparison *comparison, const cli_operands *operands, int side)
{
    size_t of_a = operands->first_of_b;
    cli_side *to = &comparison->sides[side];

    to->label = label_of(operands->items[side == CLI_A ? 0 : of_a],
                         side == CLI_A ? of_a : operands->count - of_a);
    if (!to->label)
        return cli_error("%s", takt_status_text(TAKT_NO_MEMORY));
    return cli_files_of(operands, side, &to->files);
}

/* Totals are those of a run. If runs have unlike numbers of steps that tells nothing: then they are
 * those of a step. */
static void set_scale(cli_comparison *comparison)
{
    const cli_side *a = &comparison->sides[CLI_A], *b = &comparison->sides[CLI_B];
    uint64_t steps_a = a->facts.step_count, steps_b = b->facts.step_count;

    comparison->is_per_step = steps_a > 0 && steps_b > 0 && steps_a * b->runs != steps_b * a->runs;
    comparison->scale[CLI_A] = 1 / (double)(comparison->is_per_step ? steps_a : a->runs);
    comparison->scale[CLI_B] = 1 / (double)(comparison->is_per_step ? steps_b : b->runs);
}

int cli_compare(const cli_operands *operands, const cli_compare_options *options,
                cli_comparison *out)
{
    const cli_side *a = &out->sides[CLI_A], *b = &out->sides[CLI_B];

    *out = (cli_comparison){.options = *options};
    if (find_files(out, operands, CLI_A) != CLI_OK || find_files(out, operands, CLI_B) != CLI_OK)
        return CLI_FAILED;
    out->is_by_run = cli_runs_suffice(a->files.count, b->files.count);
    if (read_side(out, CLI_A) != CLI_OK || read_side(out, CLI_B) != CLI_OK)
        return CLI_FAILED;
    set_scale(out);
    cli_progress *progress = cli_progress_begin("comparing with", b->label);
    takt_status status = cli_compare_judge(out);
    cli_progress_end(progress);
    return status == TAKT_OK ? CLI_OK : cli_error("%s", takt_status_text(status));
}

const char *cli_runs_advice(const cli_comparison *comparison, char *out, size_t size)
{
    size_t a = comparison->sides[CLI_A].runs, b = comparison->sides[CLI_B].runs, least = 1;

    while (!cli_runs_suffice(least, least))
        least++;
    snprintf(out, size, "A has %zu run%s and B %zu: record %d of each, or %zu at least", a,
             a == 1 ? "" : "s", b, CLI_WANTED_RUNS, least);
    return out;
}

void cli_comparison_free(cli_comparison *comparison)
{
    cli_side_free(&comparison->sides[CLI_A]);
    cli_side_free(&comparison->sides[CLI_B]);
    cli_rows_free(&comparison->rows);
}
