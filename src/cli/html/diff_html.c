/* takt diff --html: two runs on one page. A side of several runs has one of them on the page: the
 * run in the middle, by the length of its steps. The comparison is of all runs. */
#include "cli/html/diff_html.h"

#include "cli/cli.h"
#include "cli/html/html.h"

#include <stdlib.h>

/* ======== The name ======== */

/* The page of a folder is FOLDER/diff.html, that of NAME.pftrace NAME.diff.html. */
static int name_page(const cli_syntax *syntax, const char *b, const char *output,
                     char out[HTML_PATH_SIZE])
{
    char inside[HTML_PATH_SIZE];

    if (!tkt_folder_exists(b))
        return html_name_page(syntax, b, ".diff.html", output, out);
    if (snprintf(inside, sizeof inside, "%s/diff", b) >= (int)sizeof inside)
        return cli_usage_error(syntax, "the name of the output is too long: name one with -o");
    return html_name_page(syntax, inside, ".html", output, out);
}

int html_name_diff(const cli_operands *operands, const cli_syntax *syntax, const char *output,
                   char out[HTML_PATH_SIZE])
{
    int status = name_page(syntax, operands->items[operands->first_of_b], output, out);

    for (int side = CLI_A; side < CLI_BOTH && status == CLI_OK; side++) {
        cli_files files;
        status = cli_files_of(operands, side, &files);
        for (size_t i = 0; i < files.count && status == CLI_OK; i++)
            status = html_spare_trace(syntax, files.paths[i], out);
        cli_files_free(&files);
    }
    return status;
}

/* ======== The page ======== */

/* Returns the index of the run whose length is the median of all lengths. */
static size_t middle_run(const cli_values *lengths)
{
    for (size_t i = 0; i < lengths->count; i++) {
        size_t shorter = 0;
        for (size_t j = 0; j < lengths->count; j++) {
            double difference_ns = lengths->items[j].ns - lengths->items[i].ns;
            shorter += difference_ns < 0 || (difference_ns == 0 && j < i);
        }
        if (shorter == (lengths->count - 1) / 2)
            return i;
    }
    return 0;
}

/* Returns the run of a side that the page shows, which the side then owns. Its trace is NULL after
 * a failure, which has been reported. */
static html_run run_of(cli_side *side)
{
    const char *file = side->files.paths[middle_run(&side->lengths)];

    if (!side->trace)
        side->trace = cli_open_trace(file);
    if (side->trace)
        cli_name_frames(side->trace);
    return (html_run){side->trace, file};
}

static int write_page(cli_comparison *comparison, const html_bytes *json, const char *path)
{
    html_content content = {.comparison = json};

    content.a = run_of(&comparison->sides[CLI_A]);
    if (content.a.trace)
        content.b = run_of(&comparison->sides[CLI_B]);
    if (!content.b.trace)
        return CLI_FAILED;
    cli_progress *progress = cli_progress_begin("writing", path);
    int status = cli_html_write(&content, path);
    cli_progress_end(progress);
    if (status == CLI_OK)
        cli_tell_written(path);
    return status;
}

int html_write_diff(cli_comparison *comparison, const cli_syntax *syntax, const char *path)
{
    const takt_report_options options = {
        .struct_size = sizeof options, .format = TAKT_FORMAT_JSON, .rows = HTML_TABLE_ROWS};
    html_bytes json = {.used = 0};
    const takt_sink sink = html_sink(&json);
    int status = cli_compare_print(comparison, &options, &sink, syntax);

    if (status == CLI_OK)
        status = write_page(comparison, &json, path);
    free(json.data);
    return status;
}
