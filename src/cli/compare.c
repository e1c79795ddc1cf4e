/* Comparing two traces: one is read, counted and released before the other, so that only one of
 * them is in memory; the durations of their calls stay. */
#include "cli/compare.h"

static takt_status add_trace(cli_comparison *comparison, int side, const char *path,
                             const takt_trace *trace)
{
    if (!cli_side_of(path, trace, &comparison->sides[side]))
        return TAKT_NO_MEMORY;
    takt_status status = cli_compare_steps(comparison, side, trace);
    if (status != TAKT_OK)
        return status;
    return takt_trace_facts(trace)->has_spans ? cli_compare_spans(comparison, side, trace)
                                              : cli_compare_folded(comparison, side, trace);
}

static int read_side(cli_comparison *comparison, int side, const char *path)
{
    takt_trace *trace = cli_open_trace(path);
    if (!trace)
        return CLI_FAILED;
    cli_progress *progress = cli_progress_begin("counting", path);
    takt_status status = add_trace(comparison, side, path, trace);
    takt_trace_release(trace);
    cli_progress_end(progress);
    return status == TAKT_OK ? CLI_OK : cli_error("%s: %s", path, takt_status_text(status));
}

/* Totals of recordings with unlike numbers of steps tell nothing: then they are those of a step. */
static void set_scale(cli_comparison *comparison)
{
    uint64_t a = comparison->sides[CLI_A].facts.step_count;
    uint64_t b = comparison->sides[CLI_B].facts.step_count;

    comparison->is_per_step = a > 0 && b > 0 && a != b;
    comparison->scale[CLI_A] = comparison->is_per_step ? 1 / (double)a : 1;
    comparison->scale[CLI_B] = comparison->is_per_step ? 1 / (double)b : 1;
}

int cli_compare(const char *const paths[CLI_BOTH], const cli_compare_options *options,
                cli_comparison *out)
{
    *out = (cli_comparison){.options = *options};
    if (read_side(out, CLI_A, paths[CLI_A]) != CLI_OK ||
        read_side(out, CLI_B, paths[CLI_B]) != CLI_OK)
        return CLI_FAILED;
    set_scale(out);
    cli_progress *progress = cli_progress_begin("comparing with", paths[CLI_B]);
    takt_status status = cli_compare_judge(out);
    cli_progress_end(progress);
    return status == TAKT_OK ? CLI_OK : cli_error("%s", takt_status_text(status));
}

void cli_comparison_free(cli_comparison *comparison)
{
    cli_side_free(&comparison->sides[CLI_A]);
    cli_side_free(&comparison->sides[CLI_B]);
    cli_rows_free(&comparison->rows);
}
