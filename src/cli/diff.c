/* takt diff: compares two traces, or several runs of two versions, name by name. It shows what
 * became slower, and whether the change is more than noise. */
#include "cli/compare.h"
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

typedef struct diff_request {
    cli_show show;
    cli_compare_options options;
    cli_operands operands;
} diff_request;

static const char text[] =
    "Says in one sentence whether trace B is slower than trace A, and where. Compares\n"
    "them name by name: steps, scopes, what devices did for them, and activities of\n"
    "devices. Losses come first, then gains. A side may be several runs: a folder of\n"
    "traces, or a list, with --to between the two.\n\n"
    "Two questions are answered for each row: did the typical call change, and did\n"
    "the mean one, and with it the sum? Slower and faster are changes of the first\n"
    "above the limits with p below 0.05; tail slower and faster are those of the\n"
    "second. With enough runs, five a side, they are permutation tests over runs;\n"
    "otherwise they tell recordings apart, not programs, by their calls (Mann-Whitney\n"
    "U test, Hodges-Lehmann shift; Welch's test of the means).\n\n"
    "  takt diff before.pftrace after.pftrace\n"
    "  takt diff --limit 3% --absolute 1us --json before.pftrace after.pftrace\n"
    "  takt diff before/*.pftrace --to after/*.pftrace";

static int take_item(diff_request *request, const cli_syntax *syntax, int item, const char *value)
{
    cli_operands *operands = &request->operands;

    if (item == CLI_ERROR)
        return CLI_USAGE;
    if (item == CLI_COMPARE_TO)
        return cli_operands_to(operands, syntax, value);
    if (item == CLI_OPERAND)
        operands->items[operands->count++] = value;
    else if (item < CLI_COMPARE_COUNT)
        return cli_compare_take(&request->options, syntax, item, value);
    else
        return cli_show_take(&request->show, syntax, item - CLI_COMPARE_COUNT, value);
    return CLI_OK;
}

/* Without --to, the command line must name exactly two traces. */
static int settle(cli_operands *operands, const cli_syntax *syntax)
{
    if (operands->has_to && operands->first_of_b == 0)
        return cli_usage_error(syntax, "--to: name the traces of A before it");
    if (operands->has_to)
        return CLI_NO_ITEM;
    if (operands->count < CLI_BOTH)
        return cli_usage_error(syntax, "two traces are needed: name A, the base, and B");
    if (operands->count > CLI_BOTH)
        return cli_usage_error(
            syntax,
            "unexpected trace \"%s\": name two traces, A and B, or put --to before B's traces",
            operands->items[CLI_BOTH]);
    operands->first_of_b = 1;
    return CLI_NO_ITEM;
}

/* Returns CLI_NO_ITEM if the command line is valid, otherwise the exit status. */
static int parse(diff_request *request, const cli_syntax *syntax, int argc, char **argv)
{
    cli_args args = cli_args_of(syntax, argc, argv);
    const char *value = NULL;
    int item, status = CLI_OK;

    while (status == CLI_OK && (item = cli_args_next(&args, &value)) != CLI_NO_ITEM) {
        if (item == CLI_HELP)
            return CLI_OK;
        status = take_item(request, syntax, item, value);
    }
    return status == CLI_OK ? settle(&request->operands, syntax) : status;
}

static int compare(const diff_request *request, const cli_syntax *syntax)
{
    cli_comparison comparison;
    int result = cli_compare(&request->operands, &request->options, &comparison);

    if (result == CLI_OK)
        result = cli_compare_print(&comparison, &request->show.options, syntax);
    cli_comparison_free(&comparison);
    return result;
}

int cli_diff(int argc, char **argv)
{
    cli_option options[CLI_COMPARE_COUNT + CLI_SHOW_COUNT];
    cli_syntax syntax = {.verb = "diff",
                         .usage = "[OPTIONS] A B | A... --to B...",
                         .text = text,
                         .options = options,
                         .option_count = CLI_COMPARE_COUNT + CLI_SHOW_COUNT};
    diff_request request = {.options = {.limit = 0.01}};

    memcpy(options, cli_compare_option_list, sizeof cli_compare_option_list);
    memcpy(options + CLI_COMPARE_COUNT, cli_show_options, sizeof cli_show_options);
    request.operands.items = calloc((size_t)argc, sizeof *request.operands.items);
    if (!request.operands.items)
        return cli_error("%s", takt_status_text(TAKT_NO_MEMORY));
    int result = parse(&request, &syntax, argc, argv);
    if (result == CLI_NO_ITEM) {
        cli_show_settle(&request.show);
        result = compare(&request, &syntax);
    }
    free(request.operands.items);
    return result;
}
