/* takt check: for continuous integration, fails if a program became slower than another version. If
 * the traces cannot be compared, the check does not pass. */
#include "cli/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHECK_AGAINST = CLI_COMPARE_COUNT,
    CHECK_SCOPE,
    CHECK_RUNS,
    CHECK_BASE,
    CHECK_NEW,
    CHECK_KEEP,
    CHECK_RUN_NOISE,
    CHECK_ACCEPT_UNDECIDED,
    CHECK_ALLOW_DIFFERENT,
    CHECK_JSON,
    CHECK_COUNT
};

enum {
    MOST_RUNS = 1000
};

static const cli_option own_options[] = {
    {0, "against", "A", "the base: a trace of the version to compare with"},
    {0, "scope", "NAME", "ask about this scope or kernel, not about steps; may be repeated"},
    {0, "runs", "N", "run both commands N times, by turns, and compare their traces"},
    {0, "base", "COMMAND", "with --runs: the command of the base, as a shell takes it"},
    {0, "new", "COMMAND", "with --runs: the command to check"},
    {0, "keep", "FOLDER", "with --runs: keep the traces in FOLDER/base and FOLDER/new"},
    {0, "run-noise", "P%", "too few runs: what two of them may differ by; 200%"},
    {0, "accept-undecided", NULL, "too few runs to tell: exit with 0 and not with 3"},
    {0, "allow-different", NULL, "traces may differ in device, backend, mode, losses"},
    {0, "json", NULL, "as JSON"},
};

/* Only a regression returns 1. So a script can tell a regression from a check that could not be
 * made, and from a check that needs more runs. */
static int status_of(const cli_check_request *request, cli_check_outcome outcome)
{
    static const int statuses[] = {[CLI_CHECK_PASSED] = CLI_OK,
                                   [CLI_CHECK_FAILED] = CLI_FAILED,
                                   [CLI_CHECK_NOT_COMPARABLE] = CLI_USAGE,
                                   [CLI_CHECK_UNDECIDED] = CLI_UNDECIDED};

    if (outcome == CLI_CHECK_UNDECIDED && request->accept_undecided)
        return CLI_OK;
    return statuses[outcome];
}

static int check(cli_check_request *request)
{
    cli_comparison comparison;
    cli_check_result result = {.asked = 0};
    int status = CLI_USAGE;

    if (cli_compare(&request->operands, &request->options, &comparison) == CLI_OK) {
        if (cli_check_judge(request, &comparison, &result) != TAKT_OK) {
            cli_error("%s", takt_status_text(TAKT_NO_MEMORY));
        } else {
            cli_check_print(request, &comparison, &result);
            if (cli_flush()) /* 1 would say that B is slower */
                status = status_of(request, cli_check_outcome_of(&result));
        }
    }
    cli_check_result_free(&result);
    cli_comparison_free(&comparison);
    return status;
}

/* Runs both commands, then compares the two folders of traces. */
static int run_and_check(cli_check_request *request)
{
    cli_check_folders folders;
    int status = CLI_USAGE;

    request->runs.has_rank = request->options.has_rank;
    request->runs.rank = request->options.rank;
    request->options.has_rank = false; /* the kept traces have names of their own */
    if (cli_check_run(&request->runs, &folders) == CLI_OK) {
        request->operands.items[0] = folders.sides[CLI_A];
        request->operands.items[1] = folders.sides[CLI_B];
        request->operands.count = CLI_BOTH;
        request->operands.first_of_b = 1;
        status = check(request);
    }
    cli_check_folders_free(&folders);
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

static int settle_runs(const cli_check_request *request, const cli_syntax *syntax)
{
    const cli_check_runs *runs = &request->runs;

    if (request->has_base || request->operands.count > 0)
        return cli_usage_error(syntax,
                               "--runs records its own traces: leave out --against and files");
    if (!runs->commands[CLI_A] || !runs->commands[CLI_B])
        return cli_usage_error(syntax, "--runs: name both commands, --base COMMAND --new COMMAND");
    return CLI_NO_ITEM;
}

/* Checks for contradictions. Without --to, exactly one trace belongs to B. */
static int settle(cli_check_request *request, const cli_syntax *syntax)
{
    cli_operands *operands = &request->operands;
    const cli_check_runs *runs = &request->runs;

    if (runs->count > 0)
        return settle_runs(request, syntax);
    if (runs->commands[CLI_A] || runs->commands[CLI_B] || runs->keep)
        return cli_usage_error(syntax, "--base, --new and --keep need --runs N");
    if (!request->has_base)
        return cli_usage_error(syntax, "no base given: name it with --against A");
    if (operands->has_to)
        return CLI_NO_ITEM;
    if (operands->count < CLI_BOTH)
        return cli_usage_error(syntax, "no trace to check: name B");
    if (operands->count > CLI_BOTH)
        return cli_usage_error(
            syntax, "unexpected trace \"%s\": name one trace to check, or put --to before several",
            operands->items[CLI_BOTH]);
    operands->first_of_b = 1;
    return CLI_NO_ITEM;
}

static int take_run_option(cli_check_request *request, const cli_syntax *syntax, int option,
                           const char *value)
{
    cli_check_runs *runs = &request->runs;

    switch (option) {
    case CHECK_RUNS:
        if (!cli_parse_count(value, MOST_RUNS, &runs->count))
            return cli_usage_error(syntax, "--runs \"%s\": expected a number from 1 to %d", value,
                                   MOST_RUNS);
        break;
    case CHECK_BASE:
        runs->commands[CLI_A] = value;
        break;
    case CHECK_NEW:
        runs->commands[CLI_B] = value;
        break;
    case CHECK_KEEP:
        runs->keep = value;
        break;
    }
    return CLI_OK;
}

static int take_item(cli_check_request *request, const cli_syntax *syntax, int option,
                     const char *value)
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
            return cli_usage_error(syntax, "--against is given twice");
        request->has_base = true;
        put_first(operands, value);
        return CLI_OK;
    case CLI_COMPARE_TO:
        return cli_operands_to(operands, syntax, value);
    case CHECK_SCOPE:
        request->options.names[request->options.name_count++] = value;
        return CLI_OK;
    case CHECK_RUNS:
    case CHECK_BASE:
    case CHECK_NEW:
    case CHECK_KEEP:
        return take_run_option(request, syntax, option, value);
    case CHECK_RUN_NOISE:
        if (cli_parse_percent(value, &request->run_noise))
            return CLI_OK;
        return cli_usage_error(syntax, "--run-noise \"%s\": expected percent, such as 10%%", value);
    case CHECK_ACCEPT_UNDECIDED:
        request->accept_undecided = true;
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

/* Returns CLI_NO_ITEM if the command line is valid, otherwise the exit status. */
static int parse(cli_check_request *request, const cli_syntax *syntax, int argc, char **argv)
{
    cli_args args = cli_args_of(syntax, argc, argv);
    const char *value = NULL;
    int item, status = CLI_OK;

    while (status == CLI_OK && (item = cli_args_next(&args, &value)) != CLI_NO_ITEM) {
        if (item == CLI_HELP)
            return CLI_OK;
        status = take_item(request, syntax, item, value);
    }
    return status == CLI_OK ? settle(request, syntax) : status;
}

int cli_check(int argc, char **argv)
{
    cli_option options[CHECK_COUNT];
    cli_syntax syntax = {
        .verb = "check",
        .usage = "--against A B | --against A... --to B... | --runs N ...",
        .text = "Fails where B is slower than A: where a step takes longer by more than both\n"
                "limits and by more than chance, the typical one or the mean one. With --scope\n"
                "that row is asked about instead. Each side should be five runs or more, in a\n"
                "folder or a list; with --runs they are made here. Traces that cannot be\n"
                "compared fairly fail, too: other devices, backends or modes, lost events.\n\n"
                "  takt check --runs 10 --base './old args' --new './new args'\n"
                "  takt check --against runs/base --limit 5% --absolute 1us runs/new\n"
                "  takt check --against base/*.pftrace --to new/*.pftrace\n"
                "  takt check --against base.pftrace --scope forces new.pftrace\n\n"
                "The exit status is 0 if B passed, 1 if it is slower, 2 if that cannot be told:\n"
                "traces that cannot be compared or read, a command that fails, a wrong question;\n"
                "and 3 if B looks slower, but there are too few runs to tell that from what runs\n"
                "of one program differ by. Without limits they are 5% and 1us.",
        .options = options,
        .option_count = CHECK_COUNT};
    cli_check_request request = {.options = {.limit = 0.05, .absolute_ns = 1000}, .run_noise = 2};

    memcpy(options, cli_compare_option_list, sizeof cli_compare_option_list);
    memcpy(options + CLI_COMPARE_COUNT, own_options, sizeof own_options);
    request.options.names = calloc((size_t)argc, sizeof *request.options.names);
    request.operands.items = calloc((size_t)argc + CLI_BOTH, sizeof *request.operands.items);
    int result = CLI_USAGE;
    if (request.options.names && request.operands.items)
        result = parse(&request, &syntax, argc, argv);
    else
        cli_error("%s", takt_status_text(TAKT_NO_MEMORY));
    if (result == CLI_NO_ITEM)
        result = (request.runs.count > 0 ? run_and_check : check)(&request);
    free(request.operands.items);
    free(request.options.names);
    return result;
}
