/* takt diff: compares two traces, name by name: what became slower, and is it noise. */
#include "cli/compare.h"
#include "cli/compare_print.h"
#include "cli/show.h"

#include <string.h>

typedef struct diff_request {
    cli_show show;
    cli_compare_options options;
    const char *paths[CLI_BOTH];
    int path_count;
} diff_request;

static const char text[] =
    "Compares trace B with trace A, name by name: scopes, activities of devices and\n"
    "steps. Rows are sorted by how much they change the sum of all self times.\n\n"
    "A call's change is the Hodges-Lehmann shift, the median of all differences\n"
    "between a call of B and one of A, with its 95 % confidence interval; p is that\n"
    "of the Mann-Whitney U test (two-sided, with ties), adjusted for the number of\n"
    "rows (Holm). Slower and faster are changes above the limits with p below 0.05;\n"
    "where not the typical call, but the mean one changed (Welch's test, from 30\n"
    "calls on), it is the tail.\n\n"
    "  takt diff before.pftrace after.pftrace\n"
    "  takt diff --limit 3% --absolute 1us --json before.pftrace after.pftrace";

static int take_operand(diff_request *request, const cli_syntax *syntax, const char *path)
{
    if (request->path_count == CLI_BOTH)
        return cli_usage_error(syntax, "expected two traces, A and B, not \"%s\" too", path);
    request->paths[request->path_count++] = path;
    return CLI_OK;
}

/* Returns CLI_NO_ITEM when all is read, otherwise the exit status. */
static int parse(diff_request *request, const cli_syntax *syntax, int argc, char **argv)
{
    cli_args args = cli_args_of(syntax, argc, argv);
    const char *value = NULL;
    int item, status = CLI_OK;

    while (status == CLI_OK && (item = cli_args_next(&args, &value)) != CLI_NO_ITEM) {
        if (item == CLI_HELP)
            return CLI_OK;
        if (item == CLI_ERROR)
            return CLI_USAGE;
        if (item == CLI_OPERAND)
            status = take_operand(request, syntax, value);
        else if (item < CLI_COMPARE_COUNT)
            status = cli_compare_take(&request->options, syntax, item, value);
        else
            status = cli_show_take(&request->show, syntax, item - CLI_COMPARE_COUNT, value);
    }
    if (status != CLI_OK)
        return status;
    if (request->path_count != CLI_BOTH)
        return cli_usage_error(syntax, "which traces? name A, the base, and B");
    return CLI_NO_ITEM;
}

static int compare(const diff_request *request, const cli_syntax *syntax)
{
    cli_comparison comparison;
    int result = cli_compare(request->paths, &request->options, &comparison);

    if (result == CLI_OK)
        result = cli_compare_print(&comparison, &request->show.options, syntax);
    cli_comparison_free(&comparison);
    return result;
}

int cli_diff(int argc, char **argv)
{
    cli_option options[CLI_COMPARE_COUNT + CLI_SHOW_COUNT];
    cli_syntax syntax = {.verb = "diff",
                         .usage = "[OPTIONS] A B",
                         .text = text,
                         .options = options,
                         .option_count = CLI_COMPARE_COUNT + CLI_SHOW_COUNT};
    diff_request request = {.options = {.limit = 0.01}};

    memcpy(options, cli_compare_option_list, sizeof cli_compare_option_list);
    memcpy(options + CLI_COMPARE_COUNT, cli_show_options, sizeof cli_show_options);
    int result = parse(&request, &syntax, argc, argv);
    if (result != CLI_NO_ITEM)
        return result;
    cli_show_settle(&request.show);
    return compare(&request, &syntax);
}
