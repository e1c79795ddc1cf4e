/* takt export: trace files rendered for other tools. All outputs are planned before the first is
 * written, so that a wrong command line destroys nothing. */
#include "cli/cli.h"

#include <takt/export.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    PATH_SIZE = 4096
};

typedef enum export_option {
    OPTION_OUT,
    OPTION_GZIP,
    OPTION_MAX_SIZE,
    OPTION_COUNT
} export_option;

static const cli_option common_options[OPTION_COUNT] = {
    [OPTION_OUT] = {'o', "output", "OUT", "the file to write, or a folder that exists"},
    [OPTION_GZIP] = {'z', "gzip", NULL, "compresses; so does a name that ends in .gz"},
    [OPTION_MAX_SIZE] = {0, "max-size", "SIZE",
                         "chrome: after, say, 200MiB goes on in a next file"},
};

/* How files of a format are called; others end in their format's name. */
static const struct {
    const char *format;
    const char *ending;
} endings[] = {{"perfetto", ".pftrace"},
               {"speedscope", ".speedscope.json"},
               {"chrome", ".json"},
               {"folded", ".folded"}};

enum {
    ENDING_COUNT = sizeof endings / sizeof *endings
};

typedef struct export_request {
    cli_choice choice;  /* of formats */
    const char *output; /* NULL: beside each file */
    takt_export_options export_options;
} export_request;

/* One file to write. */
typedef struct export_job {
    const char *file;
    const char *format;
    char output[PATH_SIZE];
} export_job;

static void fill_syntax(export_request *request)
{
    request->choice.syntax = (cli_syntax){
        .verb = "export",
        .usage = "--FORMAT... [-o OUT] FILE...",
        .text = "Writes traces for other tools; without -o beside each FILE, under its name. A\n"
                "format may be left out where OUT's name tells it (.json, .folded, .pftrace).\n\n"
                "  takt export --chrome run.pftrace                writes run.json\n"
                "  takt export --chrome -o trace.json.gz run.pftrace",
    };
    cli_choice_offer(&request->choice, takt_export_name, takt_export_description, common_options,
                     OPTION_COUNT);
}

/* ---- The command line ---- */

/* A size such as 500000, 64k or 1.5GiB; letters mean powers of 1024. */
static bool parse_size(const char *text, uint64_t *out)
{
    static const char letters[] = "kmgt";
    char *end;
    double size = strtod(text, &end);

    if (end == text || !(size > 0) || size > 1e15)
        return false;
    const char *letter = *end ? strchr(letters, *end | 0x20) : NULL;
    if (letter) {
        for (const char *at = letters; at <= letter; at++)
            size *= 1024.0;
        end++;
    }
    if (*end && strcmp(end, "B") != 0 && !(letter && strcmp(end, "iB") == 0))
        return false;
    if (!(size >= 1) || size > 9e18)
        return false;
    *out = (uint64_t)size;
    return true;
}

static int take_option(void *user, int option, const char *value)
{
    export_request *request = user;
    switch (option) {
    case OPTION_OUT:
        if (request->output)
            return cli_usage_error(&request->choice.syntax, "--output stands twice");
        if (strcmp(value, "-") == 0)
            return cli_usage_error(&request->choice.syntax,
                                   "standard output (-) is not supported: name a file");
        request->output = value;
        break;
    case OPTION_GZIP:
        request->export_options.gzip = true;
        break;
    default:
        if (!parse_size(value, &request->export_options.max_bytes))
            return cli_usage_error(&request->choice.syntax,
                                   "--max-size: \"%s\" is no size such as 200MiB", value);
    }
    return CLI_OK;
}

static bool ends_with(const char *text, size_t length, const char *ending)
{
    size_t size = strlen(ending);
    return length > size && strncmp(text + length - size, ending, size) == 0;
}

/* The length of a path without ".gz". */
static size_t bare_length(const char *path)
{
    size_t length = strlen(path);
    return ends_with(path, length, ".gz") ? length - 3 : length;
}

static const char *format_of_name(const char *path)
{
    for (size_t i = 0; i < ENDING_COUNT; i++)
        if (ends_with(path, bare_length(path), endings[i].ending))
            return endings[i].format;
    return NULL;
}

static int check_request(export_request *request)
{
    const char *guess = request->output ? format_of_name(request->output) : NULL;
    if (request->choice.wanted_count == 0 && guess)
        cli_choice_want(&request->choice, guess);
    if (request->choice.wanted_count == 0)
        return cli_usage_error(&request->choice.syntax, "which format? for example --%s",
                               request->choice.name_count > 1 ? request->choice.options[1].name
                                                              : "chrome");
    return CLI_NO_ITEM;
}

/* Returns CLI_NO_ITEM when all is read, otherwise the exit status. */
static int parse(export_request *request, int argc, char **argv)
{
    int result = cli_choice_parse(&request->choice, argc, argv, take_option, request);
    return result == CLI_NO_ITEM ? check_request(request) : result;
}

/* ---- The plan ---- */

static bool is_folder(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat first, second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

/* FOLDER/NAME.ending[.gz], where FILE is .../NAME.pftrace[.gz]. */
static bool name_output(const export_request *request, const char *folder, export_job *job)
{
    const char *base = strrchr(job->file, '/');
    const char *name = folder ? (base ? base + 1 : job->file) : job->file;
    size_t length = bare_length(name);
    const char *ending = NULL;

    if (ends_with(name, length, ".pftrace"))
        length -= strlen(".pftrace");
    for (size_t i = 0; i < ENDING_COUNT; i++)
        if (strcmp(job->format, endings[i].format) == 0)
            ending = endings[i].ending;
    int size = snprintf(job->output, sizeof job->output, "%s%s%.*s%s%s%s", folder ? folder : "",
                        folder ? "/" : "", (int)length, name, ending ? "" : ".",
                        ending ? ending : job->format, request->export_options.gzip ? ".gz" : "");
    return size >= 0 && (size_t)size < sizeof job->output;
}

static int plan_job(const export_request *request, export_job *job)
{
    const char *output = request->output;
    bool is_one = request->choice.file_count * request->choice.wanted_count == 1;
    bool fits = true;

    if (!output || is_folder(output))
        fits = name_output(request, output, job);
    else if (!is_one)
        return cli_usage_error(&request->choice.syntax,
                               "-o %s is no folder, and there is more than one file to write",
                               output);
    else
        fits = snprintf(job->output, sizeof job->output, "%s", output) < (int)sizeof job->output;
    if (!fits)
        return cli_usage_error(&request->choice.syntax, "the name of the output is too long");
    if (is_same_file(job->file, job->output))
        return cli_usage_error(&request->choice.syntax,
                               "%s would be written over itself: name another file with -o",
                               job->file);
    return CLI_OK;
}

static int plan(const export_request *request, export_job *jobs)
{
    for (size_t i = 0; i < request->choice.file_count * request->choice.wanted_count; i++) {
        jobs[i].file = request->choice.files[i / request->choice.wanted_count];
        jobs[i].format = request->choice.wanted[i % request->choice.wanted_count];
        int status = plan_job(request, &jobs[i]);
        if (status != CLI_OK)
            return status;
        for (size_t k = 0; k < i; k++)
            if (strcmp(jobs[k].output, jobs[i].output) == 0)
                return cli_usage_error(&request->choice.syntax,
                                       "%s and %s would both be written to %s", jobs[k].file,
                                       jobs[i].file, jobs[i].output);
    }
    return CLI_OK;
}

/* ---- The work ---- */

/* The library's remarks, such as that a file is full and in which one the trace goes on. */
static void tell_remark(takt_log_level level, const char *line, void *user)
{
    char clean[1024];
    (void)user;
    fprintf(level == TAKT_LOG_INFO ? stdout : stderr, "%s\n", cli_clean(clean, sizeof clean, line));
}

static int write_job(const export_request *request, const takt_trace *trace, const export_job *job)
{
    takt_error error = {.status = TAKT_OK};
    char size[32], clean[512];
    struct stat facts;

    cli_progress *progress = cli_progress_begin("writing", job->output);
    takt_status status =
        takt_export_file(trace, job->format, job->output, &request->export_options, &error);
    cli_progress_end(progress);
    if (status == TAKT_NO_SPANS)
        return cli_error("%s: %s needs spans, and this trace holds only a summary (it was recorded "
                         "with mode: summary)",
                         job->file, job->format);
    if (status != TAKT_OK)
        return cli_error("%s", error.message[0] ? error.message : takt_status_text(status));
    printf("wrote %s", cli_clean(clean, sizeof clean, job->output));
    if (stat(job->output, &facts) == 0)
        printf(" (%s)", cli_bytes_text(size, sizeof size, (uint64_t)facts.st_size));
    putchar('\n');
    return CLI_OK;
}

static int write_all(const export_request *request, const export_job *jobs)
{
    int result = CLI_OK;

    for (size_t i = 0; i < request->choice.file_count; i++) {
        takt_trace *trace = cli_open_trace(request->choice.files[i]);
        if (!trace) {
            result = CLI_FAILED;
            continue;
        }
        for (size_t k = 0; k < request->choice.wanted_count; k++)
            if (write_job(request, trace, &jobs[i * request->choice.wanted_count + k]) != CLI_OK)
                result = CLI_FAILED;
        takt_trace_release(trace);
    }
    return result;
}

static int plan_and_write(const export_request *request)
{
    export_job *jobs =
        calloc(request->choice.file_count * request->choice.wanted_count, sizeof *jobs);
    if (!jobs)
        return cli_error("%s", takt_status_text(TAKT_NO_MEMORY));
    int result = plan(request, jobs);
    if (result == CLI_OK)
        result = write_all(request, jobs);
    free(jobs);
    return result;
}

int cli_export(int argc, char **argv)
{
    export_request request = {0};

    fill_syntax(&request);
    int result = parse(&request, argc, argv);
    if (result == CLI_NO_ITEM) {
        takt_set_log(tell_remark, NULL);
        result = plan_and_write(&request);
    }
    free(request.choice.files);
    return result;
}
