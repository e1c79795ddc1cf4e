/* takt diff: compares two traces, or several runs of two versions, name by name. It shows what
 * became slower, and whether the change is more than noise. */
#include "cli/compare.h"
#include "cli/cli.h"
#include "cli/html/diff_html.h"

#include <stdlib.h>
#include <string.h>

typedef struct diff_request {
    cli_show show;
    cli_compare_options options;
    cli_operands operands;
    bool is_html;
    const char *output; /* with --html; NULL: next to B */
} diff_request;

/* Options of its own. They follow those of comparisons and of tables. */
enum {
    OPTION_HTML = CLI_COMPARE_COUNT + CLI_SHOW_COUNT,
    OPTION_OUT,
    OPTION_COUNT
};

static const cli_option own_options[] = {
    {0, "html", NULL, "writes a page: the changes, a flame graph of them, both timelines"},
    {'o', "output", "OUT", "html: the file to write, or a folder that exists"},
};

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
    "  takt diff before/*.pftrace --to after/*.pftrace\n"
    "  takt diff --html before.pftrace after.pftrace          writes after.diff.html";

static int take_item(diff_request *request, const cli_syntax *syntax, int item, const char *value)
{
    cli_operands *operands = &request->operands;

    if (item == CLI_ERROR)
        return CLI_USAGE;
    if (item == CLI_COMPARE_TO)
        return cli_operands_to(operands, syntax, value);
    if (item == CLI_OPERAND)
        operands->items[operands->count++] = value;
    else if (item == OPTION_HTML)
        request->is_html = true;
    else if (item == OPTION_OUT)
        request->output = value;
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

static int check_html(const diff_request *request, const cli_syntax *syntax)
{
    if (!request->is_html && request->output)
        return cli_usage_error(syntax, "-o needs --html: tables go to standard output");
    if (request->is_html && request->show.options.format != TAKT_FORMAT_TEXT)
        return cli_usage_error(syntax, "--html is a format: leave out the other one");
    return CLI_OK;
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
    if (status == CLI_OK)
        status = check_html(request, syntax);
    return status == CLI_OK ? settle(&request->operands, syntax) : status;
}

/* `page`: where to write one; NULL: prints tables. */
static int compare(const diff_request *request, const cli_syntax *syntax, const char *page)
{
    cli_comparison comparison;
    cli_compare_options options = request->options;
    const takt_sink sink = cli_stdout_sink();

    options.keeps_trace = page != NULL;
    int result = cli_compare(&request->operands, &options, &comparison);
    if (result == CLI_OK)
        result = page ? html_write_diff(&comparison, syntax, page)
                      : cli_compare_print(&comparison, &request->show.options, &sink, syntax);
    cli_comparison_free(&comparison);
    return result;
}

static int write_page(const diff_request *request, const cli_syntax *syntax)
{
    char page[HTML_PATH_SIZE];
    int result = html_name_diff(&request->operands, syntax, request->output, page);

    return result == CLI_OK ? compare(request, syntax, page) : result;
}

int cli_diff(int argc, char **argv)
{
    cli_option options[OPTION_COUNT];
    cli_syntax syntax = {.verb = "diff",
                         .usage = "[OPTIONS] A B | A... --to B...",
                         .text = text,
                         .options = options,
                         .option_count = OPTION_COUNT};
    diff_request request = {.options = {.limit = 0.01}};

    memcpy(options, cli_compare_option_list, sizeof cli_compare_option_list);
    memcpy(options + CLI_COMPARE_COUNT, cli_show_options, sizeof cli_show_options);
    memcpy(options + OPTION_HTML, own_options, sizeof own_options);
    request.operands.items = calloc((size_t)argc, sizeof *request.operands.items);
    if (!request.operands.items)
        return cli_error("%s", takt_status_text(TAKT_NO_MEMORY));
    int result = parse(&request, &syntax, argc, argv);
    if (result == CLI_NO_ITEM) {
        cli_show_settle(&request.show);
        result = request.is_html ? write_page(&request, &syntax) : compare(&request, &syntax, NULL);
    }
    free(request.operands.items);
    return result;
}
