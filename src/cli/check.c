/* takt check: fails where a trace is slower than another, for continuous integration. It fails
 * closed: what cannot be compared does not pass. */
#include "cli/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHECK_AGAINST = CLI_COMPARE_COUNT,
    CHECK_SCOPE,
    CHECK_ALLOW_DIFFERENT,
    CHECK_JSON,
    CHECK_COUNT
};

static const cli_option own_options[] = {
    {0, "against", "A", "the base: a trace of the version to compare with"},
    {0, "scope", "NAME", "only this scope, kernel or \"step\"; may be repeated"},
    {0, "allow-different", NULL, "traces may differ in device, backend, mode, losses"},
    {0, "json", NULL, "as JSON"},
};

/* ---- Judging ---- */

static bool is_name_of(const char *name, const cli_row *row)
{
    return strcmp(name, row->name) == 0 || strcmp(name, row->name + row->leaf) == 0;
}

static bool is_wanted(const cli_check_request *request, const cli_row *row)
{
    bool is_wanted = request->name_count == 0;
    for (size_t i = 0; i < request->name_count; i++)
        is_wanted |= is_name_of(request->names[i], row);
    return is_wanted;
}

/* Above the limits by what is known, which is not enough to tell it from noise. */
static bool is_undecided(const cli_check_request *request, const cli_row *row)
{
    return row->verdict == CLI_UNKNOWN && row->change_ns > 0 &&
           cli_is_above_limits(&request->options, row->change_ns, row->base_ns);
}

/* Undecided rows fail where somebody asked for them, and where nothing can ever be decided. */
static bool is_offender(const cli_check_request *request, const cli_row *row)
{
    switch (row->verdict) {
    case CLI_SLOWER:
    case CLI_TAIL_SLOWER:
    case CLI_MORE_CALLS:
        return true;
    case CLI_GONE:
        return !request->allow_different;
    case CLI_UNKNOWN:
        return is_undecided(request, row) && (request->name_count > 0 || !cli_row_has_samples(row));
    default:
        return false;
    }
}

static void look_for_names(const cli_check_request *request, const cli_comparison *comparison,
                           cli_check_result *result)
{
    for (size_t i = 0; i < request->name_count; i++) {
        bool is_there = false;
        for (size_t row = 0; row < comparison->rows.count; row++)
            is_there |= is_name_of(request->names[i], &comparison->rows.items[row]);
        if (!is_there)
            cli_obstacles_add(&result->obstacles, CLI_FACTS, "neither trace has a row \"%s\"",
                              request->names[i]);
    }
}

static void judge(const cli_check_request *request, const cli_comparison *comparison,
                  cli_check_result *result)
{
    bool has_spans =
        comparison->sides[CLI_A].facts.has_spans && comparison->sides[CLI_B].facts.has_spans;

    cli_obstacles_of(comparison, &result->obstacles);
    if (request->allow_different)
        result->obstacles.count = 0;
    for (size_t i = 0; i < comparison->rows.count; i++) {
        const cli_row *row = &comparison->rows.items[i];
        if (!is_wanted(request, row))
            continue;
        result->compared++;
        result->decided += !isnan(row->noise.low_ns);
        if (is_offender(request, row))
            result->offenders[result->offender_count++] = i;
        else
            result->undecided += is_undecided(request, row);
    }
    look_for_names(request, comparison, result);
    if (result->compared == 0)
        cli_obstacles_add(&result->obstacles, CLI_FACTS, "there is nothing to compare");
    else if (result->decided == 0 && (has_spans || comparison->is_by_run))
        cli_obstacles_add(&result->obstacles, CLI_FACTS,
                          "no row has enough %s to tell a change from noise",
                          comparison->is_by_run ? "runs" : "calls");
}

cli_check_outcome cli_check_outcome_of(const cli_check_result *result)
{
    return result->obstacles.count > 0  ? CLI_CHECK_NOT_COMPARABLE
           : result->offender_count > 0 ? CLI_CHECK_FAILED
                                        : CLI_CHECK_PASSED;
}

/* A regression alone is 1, so that a script can tell it from a check that could not be made. */
static int check(const cli_check_request *request)
{
    static const int statuses[] = {[CLI_CHECK_PASSED] = CLI_OK,
                                   [CLI_CHECK_FAILED] = CLI_FAILED,
                                   [CLI_CHECK_NOT_COMPARABLE] = CLI_USAGE};
    cli_comparison comparison;
    cli_check_result result = {.compared = 0};
    int status = CLI_USAGE;

    if (cli_compare(&request->operands, &request->options, &comparison) == CLI_OK) {
        result.offenders = calloc(comparison.rows.count + 1, sizeof *result.offenders);
        if (!result.offenders)
            cli_error("%s", takt_status_text(TAKT_NO_MEMORY));
    }
    if (result.offenders) {
        judge(request, &comparison, &result);
        cli_check_print(request, &comparison, &result);
        status = statuses[cli_check_outcome_of(&result)];
    }
    free(result.offenders);
    cli_comparison_free(&comparison);
    return status;
}

/* ---- The command line ---- */

static void put_first(cli_operands *operands, const char *path)
{
    memmove(operands->items + 1, operands->items, operands->count * sizeof *operands->items);
    operands->items[0] = path;
    operands->count++;
    operands->first_of_b++;
}

/* Without --to there is one of B. */
static int settle(cli_check_request *request, const cli_syntax *syntax)
{
    cli_operands *operands = &request->operands;

    if (!request->has_base)
        return cli_usage_error(syntax, "against which trace? --against A");
    if (operands->has_to)
        return CLI_NO_ITEM;
    if (operands->count < CLI_BOTH)
        return cli_usage_error(syntax, "which trace? name B");
    if (operands->count > CLI_BOTH)
        return cli_usage_error(
            syntax, "expected one trace to check, not \"%s\" too; with more, --to begins B's",
            operands->items[CLI_BOTH]);
    operands->first_of_b = 1;
    return CLI_NO_ITEM;
}

static int take(cli_check_request *request, const cli_syntax *syntax, int option, const char *value)
{
    cli_operands *operands = &request->operands;

    switch (option) {
    case CLI_ERROR:
        return CLI_USAGE;
    case CLI_OPERAND:
        operands->items[operands->count++] = value;
        return CLI_OK;
    case CHECK_AGAINST:
        if (request->has_base)
            return cli_usage_error(syntax, "--against stands twice");
        request->has_base = true;
        put_first(operands, value);
        return CLI_OK;
    case CLI_COMPARE_TO:
        return cli_operands_to(operands, syntax, value);
    case CHECK_SCOPE:
        request->names[request->name_count++] = value;
        return CLI_OK;
    case CHECK_ALLOW_DIFFERENT:
        request->allow_different = true;
        return CLI_OK;
    case CHECK_JSON:
        request->json = true;
        return CLI_OK;
    default:
        return cli_compare_take(&request->options, syntax, option, value);
    }
}

/* Returns CLI_NO_ITEM when all is read, otherwise the exit status. */
static int parse(cli_check_request *request, const cli_syntax *syntax, int argc, char **argv)
{
    cli_args args = cli_args_of(syntax, argc, argv);
    const char *value = NULL;
    int item, status = CLI_OK;

    while (status == CLI_OK && (item = cli_args_next(&args, &value)) != CLI_NO_ITEM) {
        if (item == CLI_HELP)
            return CLI_OK;
        status = take(request, syntax, item, value);
    }
    return status == CLI_OK ? settle(request, syntax) : status;
}

int cli_check(int argc, char **argv)
{
    cli_option options[CHECK_COUNT];
    cli_syntax syntax = {
        .verb = "check",
        .usage = "--against A [OPTIONS] B | --against A... --to B...",
        .text = "Fails where trace B is slower than trace A: where a typical call's change, its\n"
                "tail's or the number of calls is above both limits, and beyond the noise as\n"
                "takt diff computes it. Traces that cannot be compared fairly fail, too: other\n"
                "devices, backends or modes, lost events. Each may be several runs, in a\n"
                "folder or a list; from three on each side on, runs are compared.\n\n"
                "  takt check --against base.pftrace --limit 5% --absolute 1us new.pftrace\n"
                "  takt check --against base.pftrace --scope step --scope forces new.pftrace\n"
                "  takt check --against base/*.pftrace --to new/*.pftrace\n\n"
                "The exit status is 0 if B passed, 1 if it is slower, and 2 if that cannot be\n"
                "told: traces that cannot be compared or read, a wrong question. Without limits\n"
                "they are 5% and 1us.",
        .options = options,
        .option_count = CHECK_COUNT};
    cli_check_request request = {.options = {.limit = 0.05, .absolute_ns = 1000}};

    memcpy(options, cli_compare_option_list, sizeof cli_compare_option_list);
    memcpy(options + CLI_COMPARE_COUNT, own_options, sizeof own_options);
    request.names = calloc((size_t)argc, sizeof *request.names);
    request.operands.items = calloc((size_t)argc, sizeof *request.operands.items);
    int result = CLI_USAGE;
    if (request.names && request.operands.items)
        result = parse(&request, &syntax, argc, argv);
    else
        cli_error("%s", takt_status_text(TAKT_NO_MEMORY));
    if (result == CLI_NO_ITEM)
        result = check(&request);
    free(request.operands.items);
    free(request.names);
    return result;
}
