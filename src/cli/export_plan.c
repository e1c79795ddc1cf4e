/* Which files are written, and that none of them is written twice or over its own trace. */
#include "cli/export.h"

#include <string.h>

/* How files of a format are called; the first ending of a format is what it writes. */
static const struct {
    const char *format;
    const char *ending;
} endings[] = {{"perfetto", ".pftrace"},
               {"speedscope", ".speedscope.json"},
               {"chrome", ".json"},
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

bool cli_export_is_packed(const char *path)
{
    return bare_length(path) < strlen(path);
}

const char *cli_export_format_of(const char *path)
{
    for (size_t i = 0; i < ENDING_COUNT; i++)
        if (ends_with(path, bare_length(path), endings[i].ending))
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

/* FOLDER/NAME.ending[.gz], where FILE is .../NAME.pftrace[.gz]. */
static bool name_output(const export_request *request, const char *folder, export_job *job)
{
    char ending[64];
    snprintf(ending, sizeof ending, "%s%s", ending_of(job->format),
             request->export_options.gzip ? ".gz" : "");
    return cli_name_output(job->output, sizeof job->output, folder, job->file, ending);
}

/* A folder of CSV files is OUT itself. */
static int plan_job(const export_request *request, export_job *job)
{
    const char *output = request->output;
    bool is_one = request->choice.file_count * request->choice.wanted_count == 1;
    bool is_folder = output && cli_is_folder(output);
    bool fits = true;

    if (!output || (is_folder && strcmp(job->format, "csv") != 0))
        fits = name_output(request, output, job);
    else if (!is_folder && !is_one)
        return cli_usage_error(&request->choice.syntax,
                               "-o %s is no folder, and there is more than one file to write",
                               output);
    else
        fits = snprintf(job->output, sizeof job->output, "%s", output) < (int)sizeof job->output;
    if (!fits)
        return cli_usage_error(&request->choice.syntax, "the name of the output is too long");
    if (strcmp(job->format, "sqlite") == 0 && !cli_settle_output(job->output, sizeof job->output))
        return cli_usage_error(&request->choice.syntax, "-o %s is no file that could be replaced",
                               job->output);
    if (cli_is_same_file(job->file, job->output))
        return cli_usage_error(&request->choice.syntax,
                               "%s would be written over itself: name another file with -o",
                               job->file);
    return CLI_OK;
}

int cli_export_plan(const export_request *request, export_job *jobs)
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
