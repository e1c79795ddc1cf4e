/* Decides whether a comparison passes. The check is about one time only: that of a step, or that of
 * the rows named with --scope. Other rows that became slower only show where a change comes
 * from. */
#include "base/text.h"
#include "cli/check.h"

#include <math.h>
#include <stdlib.h>

static bool is_above(const cli_check_request *request, double change, double base)
{
    return change > 0 && cli_is_above_limits(&request->options, change, base);
}

/* True for steps and the whole recording, where users wait for the sum. */
static bool is_whole(const cli_row *row)
{
    return row->kind == CLI_ROW_STEP || row->kind == CLI_ROW_RUN;
}

/* True if the measured change is for the worse, whether or not it is beyond the noise. */
static bool looks_worse(const cli_check_request *request, const cli_comparison *comparison,
                        const cli_row *row)
{
    bool is_longer = is_above(request, row->mean_change_ns, row->parts[CLI_A].mean_ns);

    if (row->verdict == CLI_UNKNOWN)
        return is_longer || is_above(request, row->change_ns, row->base_ns);
    if (is_whole(row) && !comparison->is_by_run && is_longer)
        return true;
    return cli_is_slower(row->verdict) ||
           (row->verdict == CLI_MORE_CALLS && request->options.name_count > 0);
}

/* True if the change is larger than `run_noise`, by which runs of one program may differ. False if
 * single calls are known but too few: calls may differ by more than runs. */
static bool is_beyond_run_noise(const cli_check_request *request, const cli_row *row)
{
    double mean_ns = row->parts[CLI_A].mean_ns;

    if (row->verdict == CLI_UNKNOWN && !is_whole(row) && cli_row_has_samples(row))
        return false;
    return row->change_ns > request->run_noise * row->base_ns ||
           row->mean_change_ns > request->run_noise * mean_ns;
}

static bool is_decided(const cli_check_request *request, const cli_comparison *comparison,
                       const cli_row *row)
{
    if (row->verdict == CLI_MORE_CALLS)
        return true; /* an exact count, without noise */
    if (comparison->is_by_run)
        return row->verdict != CLI_UNKNOWN;
    return is_beyond_run_noise(request, row);
}

static void take_row(const cli_check_request *request, const cli_comparison *comparison, size_t i,
                     cli_check_result *out)
{
    const cli_row *row = &comparison->rows.items[i];
    bool is_asked = row->is_primary;
    bool is_gone = row->verdict == CLI_GONE && row->kind != CLI_ROW_RUN &&
                   !request->allow_different && (is_asked || request->options.name_count == 0);
    bool is_empty = row->kind == CLI_ROW_RUN && row->parts[CLI_A].total_ns <= 0 &&
                    row->parts[CLI_B].total_ns <= 0;

    out->asked += is_asked && !is_empty;
    out->decided += is_asked && !isnan(row->noise.low_ns);
    if (is_gone)
        out->offenders[out->offender_count++] = i;
    else if (!is_asked && (cli_is_slower(row->verdict) || row->verdict == CLI_MORE_CALLS))
        out->below[out->below_count++] = i;
    else if (is_asked && looks_worse(request, comparison, row) &&
             is_decided(request, comparison, row))
        out->offenders[out->offender_count++] = i;
    else if (is_asked && looks_worse(request, comparison, row))
        out->open[out->open_count++] = i;
}

static void add_unknown(const cli_comparison *comparison, const char *name, cli_obstacles *out)
{
    const char **names = calloc(comparison->rows.count + 1, sizeof *names);
    for (size_t i = 0; names && i < comparison->rows.count; i++)
        names[i] = comparison->rows.items[i].name + comparison->rows.items[i].leaf;
    const char *near = names ? tkt_nearest_word(name, names) : NULL;
    cli_obstacles_add(out, CLI_FACTS, "neither trace has a row \"%.80s\"%s%.80s%s", name,
                      near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    free(names);
}

static void look_for_names(const cli_check_request *request, const cli_comparison *comparison,
                           cli_check_result *out)
{
    for (size_t i = 0; i < request->options.name_count; i++) {
        bool is_there = false;
        for (size_t row = 0; row < comparison->rows.count; row++)
            is_there |= cli_row_has_name(&comparison->rows.items[row], request->options.names[i]);
        if (!is_there)
            add_unknown(comparison, request->options.names[i], &out->obstacles);
    }
}

/* Reports that there is nothing to compare, or that no row has enough samples for a band. */
static void look_for_bands(const cli_check_request *request, const cli_comparison *comparison,
                           cli_check_result *out)
{
    const cli_side *sides = comparison->sides;
    bool has_spans = sides[CLI_A].facts.has_spans && sides[CLI_B].facts.has_spans;
    bool can_have = comparison->is_by_run || (has_spans && request->options.name_count > 0);

    if (out->asked == 0)
        cli_obstacles_add(&out->obstacles, CLI_FACTS, "there is nothing to compare");
    else if (out->decided == 0 && can_have && out->offender_count == 0)
        cli_obstacles_add(&out->obstacles, CLI_FACTS, "no row has %s to tell a change from noise",
                          comparison->steps.are_unequal ? "equal steps"
                          : comparison->is_by_run       ? "enough runs"
                                                        : "enough calls");
}

takt_status cli_check_judge(const cli_check_request *request, const cli_comparison *comparison,
                            cli_check_result *out)
{
    size_t rows = comparison->rows.count + 1;

    *out = (cli_check_result){.offenders = calloc(rows, sizeof *out->offenders),
                              .open = calloc(rows, sizeof *out->open),
                              .below = calloc(rows, sizeof *out->below)};
    if (!out->offenders || !out->open || !out->below)
        return TAKT_NO_MEMORY;
    cli_obstacles_of(comparison, request->allow_different, &out->obstacles);
    for (size_t i = 0; i < comparison->rows.count; i++)
        take_row(request, comparison, i, out);
    look_for_names(request, comparison, out);
    look_for_bands(request, comparison, out);
    return TAKT_OK;
}

void cli_check_result_free(cli_check_result *result)
{
    free(result->offenders);
    free(result->open);
    free(result->below);
}

cli_check_outcome cli_check_outcome_of(const cli_check_result *result)
{
    return result->obstacles.count > 0  ? CLI_CHECK_NOT_COMPARABLE
           : result->offender_count > 0 ? CLI_CHECK_FAILED
           : result->open_count > 0     ? CLI_CHECK_UNDECIDED
                                        : CLI_CHECK_PASSED;
}
