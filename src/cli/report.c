/* takt report: prints tables computed from traces, with the same text as the program itself. The
 * library lists the reports; each becomes an option. */
#include "cli/html/html.h"
#include "cli/cli.h"
#include "cli/ranks.h"
#include "report/show.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_FRAMES = 128
};

/* The options of tables and of reports. They follow the options that name reports. */
typedef enum report_option {
    OPTION_BY_ARGUMENTS = CLI_SHOW_COUNT,
    OPTION_BY_STACK,
    OPTION_FLOPS,
    OPTION_ALL,
    OPTION_HTML,
    OPTION_OUT,
    OPTION_COUNT
} report_option;

static const char *report_description(size_t index)
{
#define DESCRIPTION(name, when, description) description,
    static const char *const descriptions[] = {TKT_REPORTS(DESCRIPTION)};
#undef DESCRIPTION
    return descriptions[index];
}

static const cli_option own_options[] = {
    {0, "by-arguments", NULL, "scopes: a row for each set of arguments"},
    {0, "by-stack", "N", "scopes: a row for each set of N innermost stack frames"},
    {0, "flops", NULL, "scopes: with the FLOPs column"},
    {0, "all", NULL, "scopes, tree: CUDA calls too; scopes: kernels, copies"},
    {0, "html", NULL, "writes a page of all reports and the timeline, FILE's name.html"},
    {'o', "output", "OUT", "html: the file to write, or a folder that exists"},
};

typedef struct report_request {
    cli_choice choice; /* the choice of reports */
    cli_show show;
    cli_files files;
    bool has_folder; /* some reports then add up all files */
    bool is_html;
    const char *output; /* with --html; NULL: next to each trace */
} report_request;

static void fill_syntax(report_request *request)
{
    cli_option options[OPTION_COUNT];

    memcpy(options, cli_show_options, sizeof cli_show_options);
    memcpy(options + CLI_SHOW_COUNT, own_options, sizeof own_options);
    request->choice.syntax = (cli_syntax){
        .verb = "report",
        .usage = "[--REPORT...] [OPTIONS] FILE...",
        .text = "Prints tables computed from trace files (.pftrace, .pftrace.gz); without a\n"
                "report's name, the summary. Several reports and files may be named. A folder\n"
                "stands for its traces: scopes (the report without a name), threads and tasks\n"
                "are those of all ranks. Also reads torch.profiler's JSON and Nsight Systems'\n"
                "SQLite; in a folder without Takt's traces, *.pt.trace.json(.gz) and *.sqlite.\n\n"
                "  takt report run.pftrace\n"
                "  takt report --scopes --rows 10 run.pftrace\n"
                "  takt report --html run.pftrace                  writes run.html\n"
                "  takt report runs                                scopes over the ranks of a job",
    };
    cli_choice_offer(&request->choice, takt_report_name, report_description, options, OPTION_COUNT);
}

static int take_frames(report_request *request, const char *value)
{
    char *end;
    long frames = strtol(value, &end, 10);
    if (end == value || *end || frames < 1 || frames > MOST_FRAMES)
        return cli_usage_error(&request->choice.syntax,
                               "--by-stack \"%s\": expected a number of frames, from 1 to %d",
                               value, MOST_FRAMES);
    request->show.options.by_stack = (uint32_t)frames;
    return CLI_OK;
}

static int take_option(void *user, int option, const char *value)
{
    report_request *request = user;
    takt_report_options *options = &request->show.options;

    switch (option) {
    case OPTION_BY_ARGUMENTS:
        options->by_arguments = true;
        return CLI_OK;
    case OPTION_BY_STACK:
        return take_frames(request, value);
    case OPTION_FLOPS:
        options->with_flops = true;
        return CLI_OK;
    case OPTION_ALL:
        options->all = true;
        return CLI_OK;
    case OPTION_HTML:
        request->is_html = true;
        return CLI_OK;
    case OPTION_OUT:
        request->output = value;
        return CLI_OK;
    default:
        return cli_show_take(&request->show, &request->choice.syntax, option, value);
    }
}

/* True for the report that adds up the files instead of printing a table of each. */
static bool is_over_files(const report_request *request, const char *report)
{
    return request->has_folder && cli_ranks_have(report);
}

/* Refuses options that choose tables together with --html, because the page has all tables. */
static int check_html(const report_request *request)
{
    const cli_syntax *syntax = &request->choice.syntax;
    if (!request->is_html && request->output)
        return cli_usage_error(syntax, "-o needs --html: tables go to standard output");
    if (request->is_html && request->choice.wanted_count > 0)
        return cli_usage_error(syntax, "--html has all reports: leave out --%s",
                               request->choice.wanted[0]);
    if (request->is_html && request->show.options.format != TAKT_FORMAT_TEXT)
        return cli_usage_error(syntax, "--html is a format: leave out the other one");
    return CLI_NO_ITEM;
}

/* Refuses options of single scopes with a folder, whose scopes are added up by name. */
static int check_folder(const report_request *request)
{
    const takt_report_options *options = &request->show.options;
    const char *option = options->by_arguments ? "by-arguments"
                         : options->by_stack   ? "by-stack"
                         : options->with_flops ? "flops"
                         : options->all        ? "all"
                                               : NULL;
    for (size_t i = 0; i < request->choice.wanted_count; i++) {
        if (option && request->has_folder && strcmp(request->choice.wanted[i], "scopes") == 0)
            return cli_usage_error(&request->choice.syntax,
                                   "--%s: scopes of a folder are added up by name; name its files "
                                   "instead",
                                   option);
    }
    return CLI_NO_ITEM;
}

/* Lists the traces in the folders that were named. */
static int find_files(report_request *request)
{
    int result = CLI_OK;
    for (size_t i = 0; i < request->choice.file_count && result == CLI_OK; i++) {
        request->has_folder |= tkt_folder_exists(request->choice.files[i]);
        result = cli_files_add(&request->files, request->choice.files[i]);
    }
    return result == CLI_OK ? CLI_NO_ITEM : result;
}

/* Returns CLI_NO_ITEM if the command line is valid, otherwise the exit status. */
static int parse(report_request *request, int argc, char **argv)
{
    int result = cli_choice_parse(&request->choice, argc, argv, take_option, request);
    if (result == CLI_NO_ITEM)
        result = check_html(request);
    if (result == CLI_NO_ITEM)
        result = find_files(request);
    if (result == CLI_NO_ITEM && request->choice.wanted_count == 0)
        cli_choice_want(&request->choice, request->has_folder ? "scopes" : "summary");
    if (result == CLI_NO_ITEM && !request->is_html)
        result = check_folder(request);
    return result;
}

static size_t table_count(const report_request *request)
{
    size_t count = 0;
    for (size_t i = 0; i < request->choice.wanted_count; i++)
        count += is_over_files(request, request->choice.wanted[i]) ? 1 : request->files.count;
    return count;
}

/* Prints the text between two tables and, in text and Markdown, the name of a new file. */
static void print_separator(const report_request *request, bool is_first, const char *new_file)
{
    char clean[512];
    takt_format format = request->show.options.format;

    if (format == TAKT_FORMAT_JSON && table_count(request) > 1)
        fputs(is_first ? "[\n" : ",\n", stdout);
    else if (format != TAKT_FORMAT_JSON && !is_first)
        putchar('\n');
    if (!new_file || request->files.count == 1)
        return;
    if (format == TAKT_FORMAT_TEXT)
        printf("==> %s <==\n", cli_clean(clean, sizeof clean, new_file));
    else if (format == TAKT_FORMAT_MARKDOWN)
        printf("## %s\n\n", cli_clean(clean, sizeof clean, new_file));
}

/* The first line of some output; in CSV, the column names. */
typedef struct first_line {
    char text[1024];
    size_t used;
    bool is_whole;
} first_line;

static takt_status keep_first_line(void *user, const void *data, size_t size)
{
    first_line *line = user;
    const char *bytes = data;
    for (size_t i = 0; i < size && !line->is_whole; i++) {
        line->is_whole = bytes[i] == '\r' || bytes[i] == '\n' || line->used + 2 > sizeof line->text;
        if (!line->is_whole)
            line->text[line->used++] = bytes[i];
    }
    return TAKT_OK;
}

/* Where a table comes from: a trace, or all files. */
typedef struct table_source {
    const char *name; /* the file's; NULL: all files */
    const takt_trace *trace;
    const cli_ranks *ranks;
} table_source;

/* `is_part`: one of several tables of a trace, which end with one line on its provenance. */
static takt_status show_table(const table_source *from, const char *report, bool is_part,
                              const takt_report_options *options, const takt_sink *sink)
{
    if (!from->trace)
        return cli_ranks_show(from->ranks, report, options, sink);
    return is_part ? tkt_report_part(from->trace, report, TKT_NO_PROVENANCE, options, sink)
                   : takt_report(from->trace, report, options, sink);
}

static int tell_columns(const report_request *request, const table_source *from, const char *report)
{
    first_line columns = {.used = 0};
    takt_sink sink = {.write = keep_first_line, .user = &columns};
    takt_report_options options = {
        .struct_size = sizeof options, .format = TAKT_FORMAT_CSV, .rows = 1};

    show_table(from, report, false, &options, &sink);
    return cli_usage_error(&request->choice.syntax, "--sort: %s has no column \"%s\"; it has %s",
                           report, request->show.options.sort, columns.text);
}

/* True for reports that a summary has, unless it was recovered. */
static bool is_of_summaries(const char *report)
{
    return strcmp(report, "counters") == 0 || strcmp(report, "tasks") == 0 ||
           strcmp(report, "threads") == 0;
}

static int tell_failure(const report_request *request, takt_status status, const table_source *from,
                        const char *report)
{
    if (status == TAKT_NO_SPANS && is_of_summaries(report))
        return cli_error("%s: no %s: of this summary only scopes are known, since it was recovered "
                         "from a crash-safe file",
                         from->name, report);
    if (status == TAKT_NO_SPANS)
        return cli_error("%s: %s needs spans, and this trace holds only a summary (it was recorded "
                         "with mode: summary)",
                         from->name, report);
    if (status == TAKT_BAD_ARGUMENT && request->show.options.sort)
        return tell_columns(request, from, report);
    return cli_error("%s%s%s: %s", from->name ? from->name : "", from->name ? ": " : "", report,
                     takt_status_text(status));
}

/* A sink that prints the separator before the first byte of a table. A table that fails prints
 * nothing, and so no separator. */
typedef struct table_sink {
    const report_request *request;
    const char *new_file; /* NULL after it was printed */
    bool *is_first;
    bool has_begun;
    cli_progress *progress; /* ends when the table begins */
} table_sink;

static void end_progress(table_sink *table)
{
    cli_progress_end(table->progress);
    table->progress = NULL;
}

static takt_status write_table(void *user, const void *data, size_t size)
{
    table_sink *table = user;
    end_progress(table);
    if (!table->has_begun) {
        print_separator(table->request, *table->is_first, table->new_file);
        table->has_begun = true;
        table->new_file = NULL;
        *table->is_first = false;
    }
    takt_sink out = cli_stdout_sink();
    return out.write(out.user, data, size);
}

static size_t count_tables(const report_request *request, const table_source *from)
{
    size_t count = 0;
    for (size_t i = 0; i < request->choice.wanted_count; i++)
        count += is_over_files(request, request->choice.wanted[i]) == (from->ranks != NULL);
    return count;
}

/* Prints the reports of one source. */
static int print_tables(const report_request *request, const table_source *from, bool *is_first)
{
    int result = CLI_OK;
    table_sink table = {.request = request, .new_file = from->name, .is_first = is_first};
    takt_sink sink = {.write = write_table, .user = &table};
    const takt_report_options *options = &request->show.options;
    bool is_part = from->trace && count_tables(request, from) > 1, has_printed = false;

    for (size_t i = 0; i < request->choice.wanted_count && result != CLI_USAGE; i++) {
        const char *report = request->choice.wanted[i];
        if (is_over_files(request, report) != (from->ranks != NULL))
            continue;
        table.has_begun = false;
        table.progress = cli_progress_begin("computing", report);
        takt_status status = show_table(from, report, is_part, options, &sink);
        end_progress(&table);
        if (status == TAKT_IO_ERROR)
            break; /* cli_finish() reports the reason */
        if (status != TAKT_OK)
            result = tell_failure(request, status, from, report);
        has_printed |= status == TAKT_OK;
    }
    table.has_begun = false;
    takt_status end =
        is_part && has_printed ? tkt_report_end(from->trace, options, &sink) : TAKT_OK;
    if (end == TAKT_NO_MEMORY && result == CLI_OK)
        result = cli_error("%s", takt_status_text(end));
    return result;
}

static int print_file(const report_request *request, const char *file, bool *is_first)
{
    takt_trace *trace = cli_open_trace(file);
    if (!trace)
        return CLI_FAILED;
    if (request->show.options.by_stack)
        cli_name_frames(trace);
    int result = print_tables(request, &(table_source){file, trace, NULL}, is_first);
    takt_trace_release(trace);
    return result;
}

static int print_over_files(const report_request *request, bool *is_first)
{
    cli_ranks ranks;
    const cli_choice *choice = &request->choice;
    int result = cli_ranks_read(&request->files, choice->wanted, choice->wanted_count, &ranks);
    if (ranks.files_read > 0) {
        int status = print_tables(request, &(table_source){NULL, NULL, &ranks}, is_first);
        result = status > result ? status : result;
    }
    cli_ranks_free(&ranks);
    return result;
}

static int print_all(const report_request *request)
{
    const cli_choice *choice = &request->choice;
    bool is_first = true, has_over_files = false, has_others = false;
    int result = CLI_OK;

    for (size_t i = 0; i < choice->wanted_count; i++) {
        bool is_over = is_over_files(request, choice->wanted[i]);
        has_over_files |= is_over;
        has_others |= !is_over;
    }
    if (has_over_files)
        result = print_over_files(request, &is_first);
    for (size_t i = 0;
         has_others && i < request->files.count && result != CLI_USAGE && !ferror(stdout); i++) {
        int status = print_file(request, request->files.paths[i], &is_first);
        result = status > result ? status : result;
    }
    if (request->show.options.format == TAKT_FORMAT_JSON && table_count(request) > 1)
        fputs(is_first ? "[]\n" : "]\n", stdout);
    return result;
}

int cli_report(int argc, char **argv)
{
    report_request request = {.show.options = TAKT_REPORT_OPTIONS_INIT};

    fill_syntax(&request);
    int result = parse(&request, argc, argv);
    if (result == CLI_NO_ITEM && request.is_html) {
        result = cli_report_html(&request.choice.syntax, request.files.paths, request.files.count,
                                 request.output);
    } else if (result == CLI_NO_ITEM) {
        cli_show_settle(&request.show);
        result = print_all(&request);
    }
    cli_files_free(&request.files);
    free(request.choice.files);
    return result;
}
