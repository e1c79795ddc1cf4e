/* takt export: converts traces for other tools. It plans all outputs before it writes the first
 * one, so that a wrong command line destroys nothing. */
#include "cli/cli.h"

#include "base/text.h"
#include "cli/tables/tables.h"
#include "export/exporter.h"

#include <stdbool.h>
#include <takt/export.h>
#include <stdlib.h>
#include <string.h>

/* ======== Planning the outputs ======== */

enum {
    EXPORT_PATH_SIZE = 4096
};

typedef struct export_request {
    cli_choice choice;  /* the choice of formats */
    cli_files files;    /* a folder's trace instead of the folder */
    const char *output; /* NULL: next to each trace */
    takt_export_options export_options;
    bool per_device;
    bool is_json;
} export_request;

/* One file to write. */
typedef struct export_job {
    const char *file;
    const char *format;
    char output[EXPORT_PATH_SIZE];
} export_job;

/* No output may be written twice, or over its own trace. */

/* File name endings of the formats. The first ending of a format is the default. */
static const struct {
    const char *format;
    const char *ending;
} endings[] = {{"perfetto", ".pftrace"},
               {"speedscope", ".speedscope.json"},
               {"chrome", ".json"},
               {"xplane", ".xplane.pb"},
               {"stacks-device", ".stacks.device.folded"},
               {"folded-device", ".device.folded"},
               {"stacks", ".stacks.folded"},
               {"folded", ".folded"},
               {"sqlite", ".db"},
               {"sqlite", ".sqlite"},
               {"csv", "-csv"}};

enum {
    ENDING_COUNT = sizeof endings / sizeof *endings
};

/* Returns the length of a path without ".gz". */
static size_t bare_length(const char *path)
{
    size_t length = strlen(path);
    return tkt_has_ending(path, length, ".gz") ? length - 3 : length;
}

static bool export_is_packed(const char *path)
{
    return bare_length(path) < strlen(path);
}

/* Guesses the format from a file name; NULL if no ending matches. */
static const char *export_format_of(const char *path)
{
    for (size_t i = 0; i < ENDING_COUNT; i++)
        if (tkt_has_ending(path, bare_length(path), endings[i].ending))
            return endings[i].format;
    return NULL;
}

static const char *ending_of(const char *format)
{
    for (size_t i = 0; i < ENDING_COUNT; i++)
        if (strcmp(format, endings[i].format) == 0)
            return endings[i].ending;
    return format;
}

/* Makes FOLDER/NAME.ending[.gz] from a trace .../NAME.pftrace[.gz]. */
static bool name_output(const export_request *request, const char *folder, export_job *job)
{
    char ending[64];
    snprintf(ending, sizeof ending, "%s%s", ending_of(job->format),
             request->export_options.gzip ? ".gz" : "");
    return cli_name_output(job->output, sizeof job->output, folder, job->file, ending);
}

/* Chooses the output of one job. For CSV, -o names the output folder itself. */
static int plan_job(const export_request *request, export_job *job)
{
    const char *output = request->output;
    bool is_one = request->files.count * request->choice.wanted_count == 1;
    bool is_folder = output && tkt_folder_exists(output);
    bool fits = true;

    if (!output || (is_folder && strcmp(job->format, "csv") != 0))
        fits = name_output(request, output, job);
    else if (!is_folder && !is_one)
        return cli_usage_error(
            &request->choice.syntax,
            "-o %s is not a folder, but there are several files to write: create the folder first",
            output);
    else
        fits = snprintf(job->output, sizeof job->output, "%s", output) < (int)sizeof job->output;
    if (!fits)
        return cli_usage_error(&request->choice.syntax,
                               "the name of the output is too long: name a shorter one with -o");
    if (strcmp(job->format, "sqlite") == 0 && !cli_settle_output(job->output, sizeof job->output))
        return cli_usage_error(&request->choice.syntax,
                               "-o %s is not a regular file: name another file", job->output);
    if (cli_is_same_file(job->file, job->output))
        return cli_usage_error(&request->choice.syntax,
                               "the output would overwrite %s itself: name another file with -o",
                               job->file);
    return CLI_OK;
}

/* Fills the jobs: one per file and format; the formats of a file are adjacent. Returns CLI_OK, or
 * CLI_USAGE after reporting the error. */
static int export_plan(const export_request *request, export_job *jobs)
{
    for (size_t i = 0; i < request->files.count * request->choice.wanted_count; i++) {
        jobs[i].file = request->files.paths[i / request->choice.wanted_count];
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

/* ======== The verb ======== */

typedef enum export_option {
    OPTION_OUT,
    OPTION_GZIP,
    OPTION_PLAIN,
    OPTION_MAX_SIZE,
    OPTION_PER_DEVICE,
    OPTION_NO_WAITS,
    OPTION_JSON,
    OPTION_COUNT
} export_option;

static const cli_option common_options[OPTION_COUNT] = {
    [OPTION_OUT] = {'o', "output", "OUT", "the file to write, or a folder that exists"},
    [OPTION_GZIP] = {'z', "gzip", NULL, "compresses; so does a name that ends in .gz"},
    [OPTION_PLAIN] = {0, "plain", NULL, "perfetto: leaves packets uncompressed"},
    [OPTION_MAX_SIZE] = {0, "max-size", "SIZE",
                         "chrome: after, say, 200MiB goes on in a next file"},
    [OPTION_PER_DEVICE] = {0, "per-device", NULL,
                           "chrome: a file for each device, with .cuda0 in its name"},
    [OPTION_NO_WAITS] = {0, "no-waits", NULL, "chrome: without waits for devices (cuda_sync)"},
    [OPTION_JSON] = {0, "json", NULL, "lists the files written as JSON; not a format"},
};

/* The library's formats come first, then those that only the command has. */
static size_t library_formats(void)
{
    size_t count = 0;
    while (takt_export_name(count))
        count++;
    return count;
}

static const char *format_name(size_t index)
{
    size_t count = library_formats();
    return index < count ? takt_export_name(index) : table_format_name(index - count);
}

static const char *format_description(size_t index)
{
#define DESCRIPTION(word, name, description) description,
    static const char *const descriptions[] = {TKT_FORMATS(DESCRIPTION)};
#undef DESCRIPTION
    size_t count = library_formats();
    return index < count ? descriptions[index] : table_format_description(index - count);
}

static void fill_syntax(export_request *request)
{
    request->choice.syntax = (cli_syntax){
        .verb = "export",
        .usage = "--FORMAT... [-o OUT] FILE...",
        .text = "Writes traces for other tools; without -o beside each FILE, under its name. A\n"
                "format may be left out where OUT's name tells it (.json, .folded, .db).\n\n"
                "  takt export --chrome run.pftrace                writes run.json\n"
                "  takt export --chrome -o trace.json.gz run.pftrace\n"
                "  takt export --csv -o tables run.pftrace         fills the folder tables",
    };
    cli_choice_offer(&request->choice, format_name, format_description, common_options,
                     OPTION_COUNT);
}

/* ---- The command line ---- */

/* Parses a size such as 500000, 64k or 1.5GiB. Letters stand for powers of 1024. */
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
            return cli_usage_error(&request->choice.syntax, "--output is given twice");
        if (strcmp(value, "-") == 0)
            return cli_usage_error(&request->choice.syntax,
                                   "standard output (-) is not supported: name a file");
        request->output = value;
        break;
    case OPTION_GZIP:
        request->export_options.gzip = true;
        break;
    case OPTION_PLAIN:
        request->export_options.plain = true;
        break;
    case OPTION_PER_DEVICE:
        request->per_device = true;
        break;
    case OPTION_NO_WAITS:
        request->export_options.no_waits = true;
        break;
    case OPTION_JSON:
        request->is_json = true;
        break;
    default:
        if (!parse_size(value, &request->export_options.max_bytes))
            return cli_usage_error(&request->choice.syntax,
                                   "--max-size \"%s\": expected a size such as 200MiB", value);
    }
    return CLI_OK;
}

/* False, after reporting the error, for an option that no wanted format knows. */
static bool check_use(const export_request *request, bool is_given, export_option option,
                      const char *format)
{
    for (size_t i = 0; i < request->choice.wanted_count; i++)
        is_given &= strcmp(request->choice.wanted[i], format) != 0;
    if (is_given)
        cli_usage_error(&request->choice.syntax, "--%s has no effect without --%s",
                        common_options[option].name, format);
    return !is_given;
}

static int check_request(export_request *request)
{
    const char *guess = request->output ? export_format_of(request->output) : NULL;
    if (request->choice.wanted_count == 0 && guess)
        cli_choice_want(&request->choice, guess);
    if (request->choice.wanted_count == 0)
        return cli_usage_error(
            &request->choice.syntax, "no format given: name one, for example --%s",
            request->choice.name_count > 1 ? request->choice.options[1].name : "chrome");
    const takt_export_options *options = &request->export_options;
    if (!check_use(request, options->plain, OPTION_PLAIN, "perfetto") ||
        !check_use(request, options->max_bytes, OPTION_MAX_SIZE, "chrome") ||
        !check_use(request, request->per_device, OPTION_PER_DEVICE, "chrome") ||
        !check_use(request, options->no_waits, OPTION_NO_WAITS, "chrome"))
        return CLI_USAGE;
    bool is_packed = options->gzip || (request->output && export_is_packed(request->output));
    for (size_t i = 0; is_packed && i < request->choice.wanted_count; i++)
        if (table_is_format(request->choice.wanted[i]) ||
            strcmp(request->choice.wanted[i], "xplane") == 0)
            return cli_usage_error(&request->choice.syntax, "--%s cannot be compressed with gzip",
                                   request->choice.wanted[i]);
    return CLI_NO_ITEM;
}

/* Returns CLI_NO_ITEM if the command line is valid, otherwise the exit status. */
static int parse(export_request *request, int argc, char **argv)
{
    int result = cli_choice_parse(&request->choice, argc, argv, take_option, request);
    if (result == CLI_NO_ITEM)
        result = check_request(request);
    for (size_t i = 0; i < request->choice.file_count && result == CLI_NO_ITEM; i++)
        if (cli_files_add_one(&request->files, request->choice.files[i]) != CLI_OK)
            result = CLI_FAILED;
    return result;
}

/* ---- Writing ---- */

/* Prints the library's messages, for example when a file is full and the trace continues in the
 * next one. */
static void tell_remark(takt_log_level level, const char *line, void *user)
{
    const export_request *request = user;
    char clean[1024];
    bool is_text = level == TAKT_LOG_INFO && !request->is_json;
    fprintf(is_text ? stdout : stderr, "%s\n", cli_clean(clean, sizeof clean, line));
}

static int write_tables(const takt_trace *trace, const export_job *job)
{
    char clean[512];
    int status = table_export(trace, job->format, job->output);
    if (status == CLI_OK && !takt_trace_facts(trace)->has_spans)
        fprintf(
            stderr,
            "takt: %s: holds only a summary (it was recorded with mode: summary), so the tables "
            "of spans, calls and activities are empty\n",
            cli_clean(clean, sizeof clean, job->file));
    return status;
}

static takt_status note_bytes(void *user, const void *data, size_t size)
{
    bool *has_bytes = user;
    (void)data;
    *has_bytes = *has_bytes || size > 0;
    return TAKT_OK;
}

/* Explains why a flame graph of this trace would be an empty file; NULL if it has content. Files of
 * other formats are never empty. */
static const char *lack_of(const takt_trace *trace, const char *format)
{
    bool is_of_stacks = strncmp(format, "stacks", 6) == 0;
    bool has_bytes = false;
    const takt_sink sink = {note_bytes, &has_bytes};
    if (!is_of_stacks && strncmp(format, "folded", 6) != 0)
        return NULL;
    if (is_of_stacks && takt_trace_count(trace, TAKT_TRACE_STACKS) == 0)
        return "no call stacks were recorded (profiling.with_stack)";
    if (takt_export(trace, format, &sink) != TAKT_OK || has_bytes)
        return NULL;
    return strstr(format, "device") ? "no activities of devices were recorded"
                                    : "no scopes were recorded";
}

/* "run.cuda1.json" for "run.json" and cuda:1. False if the name is too long. */
static bool name_of_device(char out[EXPORT_PATH_SIZE], const char *path, const char *device)
{
    size_t size = bare_length(path);
    size_t stem = tkt_has_ending(path, size, ".json") ? size - strlen(".json") : size;
    char plain[64];
    size_t used = 0;
    for (; *device && used + 1 < sizeof plain; device++)
        if (*device != ':' && *device != '/')
            plain[used++] = *device;
    plain[used] = 0;
    return snprintf(out, EXPORT_PATH_SIZE, "%.*s.%s%s", (int)stem, path, plain, path + stem) <
           EXPORT_PATH_SIZE;
}

static int write_format(const takt_trace *trace, const export_job *job,
                        const takt_export_options *options)
{
    takt_error error = {.status = TAKT_OK};
    const char *lack = lack_of(trace, job->format);
    if (lack)
        return cli_error("%s: %s", job->file, lack);
    takt_status status = takt_export_file(trace, job->format, job->output, options, &error);
    if (status == TAKT_NO_SPANS)
        return cli_error("%s: %s needs spans, and this trace holds only a summary "
                         "(it was recorded "
                         "with mode: summary)",
                         job->file, job->format);
    if (status != TAKT_OK)
        return cli_error("%s", error.message[0] ? error.message : takt_status_text(status));
    return CLI_OK;
}

static int write_output(const takt_trace *trace, const export_job *job,
                        const takt_export_options *options)
{
    cli_progress *progress = cli_progress_begin("writing", job->output);
    int status =
        table_is_format(job->format) ? write_tables(trace, job) : write_format(trace, job, options);
    cli_progress_end(progress);
    if (status == CLI_OK)
        cli_tell_written(job->output);
    return status;
}

/* With --per-device, a trace without devices becomes one file. */
static int write_job(const export_request *request, const takt_trace *trace, const export_job *job)
{
    takt_export_options options = request->export_options;
    bool is_per_device = request->per_device && strcmp(job->format, "chrome") == 0;
    takt_device_info device;
    int status = CLI_OK;
    size_t i = 0;
    for (; is_per_device && status == CLI_OK && takt_trace_device(trace, i, &device) == TAKT_OK;
         i++) {
        export_job part = *job;
        options.device = device.device;
        if (!name_of_device(part.output, job->output, device.device))
            return cli_error("%s", takt_status_text(TAKT_BAD_ARGUMENT));
        status = write_output(trace, &part, &options);
    }
    return i ? status : write_output(trace, job, &options);
}

static int write_all(const export_request *request, const export_job *jobs)
{
    int result = CLI_OK;

    for (size_t i = 0; i < request->files.count; i++) {
        takt_trace *trace = cli_open_trace(request->files.paths[i]);
        if (!trace) {
            result = CLI_FAILED;
            continue;
        }
        cli_name_frames(trace);
        for (size_t k = 0; k < request->choice.wanted_count; k++)
            if (write_job(request, trace, &jobs[i * request->choice.wanted_count + k]) != CLI_OK)
                result = CLI_FAILED;
        takt_trace_release(trace);
    }
    return result;
}

static int plan_and_write(const export_request *request)
{
    export_job *jobs = calloc(request->files.count * request->choice.wanted_count, sizeof *jobs);
    if (!jobs)
        return cli_error("%s", takt_status_text(TAKT_NO_MEMORY));
    int result = export_plan(request, jobs);
    bool is_json = result == CLI_OK && request->is_json;
    if (is_json)
        cli_written_begin_json();
    if (result == CLI_OK)
        result = write_all(request, jobs);
    if (is_json)
        cli_written_end_json();
    free(jobs);
    return result;
}

int cli_export(int argc, char **argv)
{
    export_request request = {.export_options = TAKT_EXPORT_OPTIONS_INIT};

    fill_syntax(&request);
    int result = parse(&request, argc, argv);
    if (result == CLI_NO_ITEM) {
        takt_set_log(tell_remark, &request);
        result = plan_and_write(&request);
    }
    cli_files_free(&request.files);
    free(request.choice.files);
    return result;
}
