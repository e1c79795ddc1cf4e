/* takt report --html: writes a page for each trace, next to it or at the place given with -o. */
#include "cli/cli.h"
#include "cli/html/html.h"

/* ======== The verb ======== */

int html_name_page(const cli_syntax *syntax, const char *file, const char *ending,
                   const char *output, char out[HTML_PATH_SIZE])
{
    bool is_folder = output && tkt_folder_exists(output);
    bool fits = !output || is_folder
                    ? cli_name_output(out, HTML_PATH_SIZE, is_folder ? output : NULL, file, ending)
                    : snprintf(out, HTML_PATH_SIZE, "%s", output) < HTML_PATH_SIZE;
    if (!fits)
        return cli_usage_error(syntax,
                               "the name of the output is too long: name a shorter one with -o");
    if (!cli_settle_output(out, HTML_PATH_SIZE))
        return cli_usage_error(syntax, "-o %s is not a regular file: name another file", out);
    return CLI_OK;
}

int html_spare_trace(const cli_syntax *syntax, const char *file, const char *page)
{
    if (cli_is_same_file(file, page))
        return cli_usage_error(
            syntax, "the output would overwrite %s itself: name another file with -o", file);
    return CLI_OK;
}

static int name_page(const cli_syntax *syntax, const char *file, const char *output,
                     char out[HTML_PATH_SIZE])
{
    int status = html_name_page(syntax, file, ".html", output, out);
    return status == CLI_OK ? html_spare_trace(syntax, file, out) : status;
}

static int write_page(const char *file, const char *path)
{
    takt_trace *trace = cli_open_trace(file);
    if (!trace)
        return CLI_FAILED;
    cli_name_frames(trace);
    cli_progress *progress = cli_progress_begin("writing", path);
    int status = cli_html_write(&(html_content){.a = {trace, file}}, path);
    cli_progress_end(progress);
    takt_trace_release(trace);
    if (status == CLI_OK)
        cli_tell_written(path);
    return status;
}

int cli_report_html(const cli_syntax *syntax, char **files, size_t count, const char *output)
{
    char path[HTML_PATH_SIZE];
    int result = CLI_OK, status;

    if (output && count > 1 && !tkt_folder_exists(output))
        return cli_usage_error(
            syntax,
            "-o %s is not a folder, but there are several files to write: create the folder first",
            output);
    for (size_t i = 0; i < count; i++)
        if ((status = name_page(syntax, files[i], output, path)) != CLI_OK)
            return status;
    for (size_t i = 0; i < count; i++) {
        name_page(syntax, files[i], output, path);
        status = write_page(files[i], path);
        result = status > result ? status : result;
    }
    return result;
}

/* ======== Embedded parts ======== */

/* The parts of the page around the blocks, which assemble.sh makes at build time. */

CLI_EMBED(html_head_bytes, TKT_HTML_HEAD);
CLI_EMBED(html_tail_bytes, TKT_HTML_TAIL);

html_asset html_head(void)
{
    return (html_asset){html_head_bytes, (size_t)(html_head_bytes_end - html_head_bytes)};
}

html_asset html_tail(void)
{
    return (html_asset){html_tail_bytes, (size_t)(html_tail_bytes_end - html_tail_bytes)};
}
