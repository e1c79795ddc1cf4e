/* The exporters by name, and takt/export.h on top of them. */
#include <takt/export.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "export/output.h"
#include "trace/model.h"

#include <stdio.h>

#define EXPORTER(word, name) &tkt_##word##_exporter,

static const tkt_exporter *const exporters[] = {TKT_FORMATS(EXPORTER)};

#define EXPORTER_COUNT (sizeof exporters / sizeof *exporters)

/* Longer names are cut: file names end at 255 bytes, and suffixes want their share. */
#define RUN_NAME_BYTES 128

static const tkt_exporter *find_exporter(const char *name, size_t size)
{
    for (size_t i = 0; i < EXPORTER_COUNT; i++) {
        if (strlen(exporters[i]->name) == size && memcmp(exporters[i]->name, name, size) == 0)
            return exporters[i];
    }
    return NULL;
}

const char *takt_export_name(size_t index)
{
    return index < EXPORTER_COUNT ? exporters[index]->name : NULL;
}

const char *tkt_export_description(size_t index)
{
    return index < EXPORTER_COUNT ? exporters[index]->description : NULL;
}

takt_status takt_export(const takt_trace *trace, const char *format, const takt_sink *sink)
{
    if (!trace || !format || !sink || !sink->write)
        return TAKT_BAD_ARGUMENT;
    const tkt_exporter *exporter = find_exporter(format, strlen(format));
    if (!exporter)
        return TAKT_NOT_FOUND;
    if (exporter->needs_spans && !trace->facts.has_spans)
        return TAKT_NO_SPANS;
    tkt_writer writer;
    takt_status status = tkt_writer_init(&writer, *sink, 0);
    if (status != TAKT_OK)
        return status;
    status = exporter->write(trace, &writer);
    takt_status written = tkt_writer_fini(&writer);
    return status == TAKT_OK ? written : status;
}

static takt_status bad_argument(takt_error *error, const char *what)
{
    return tkt_error_set(error, TAKT_BAD_ARGUMENT, "%s", what);
}

static takt_status unknown_format(takt_error *error, const char *name, const char *more)
{
    char known[120] = "";
    size_t size = 0;
    for (size_t i = 0; takt_export_name(i) && size < sizeof known; i++)
        size += (size_t)snprintf(known + size, sizeof known - size, "%s%s", i ? ", " : "",
                                 takt_export_name(i));
    return tkt_error_set(error, TAKT_NOT_FOUND, "there is no format \"%.40s\"; there are %s%s",
                         name, known, more);
}

/* Options as given, or their defaults. */
static takt_status import_options(const takt_export_options *options, tkt_output *output,
                                  takt_error *error)
{
    takt_export_options known;
    takt_status status =
        tkt_options_read(&known, sizeof known, options, "TAKT_EXPORT_OPTIONS_INIT");
    if (status != TAKT_OK)
        return bad_argument(error, "the options are not from TAKT_EXPORT_OPTIONS_INIT, or ask for "
                                   "what this version does not have");
    output->is_gzip = known.gzip;
    output->max_bytes = known.max_bytes;
    return TAKT_OK;
}

static bool ends_with(const char *text, size_t size, const char *end)
{
    size_t end_size = strlen(end);
    return size >= end_size && memcmp(text + size - end_size, end, end_size) == 0;
}

/* Where the number of a further file goes: before the dot of "a.trace.json.gz"'s ".json". */
static size_t stem_of(const char *path)
{
    size_t size = strlen(path);
    size -= ends_with(path, size, ".gz") ? strlen(".gz") : 0;
    size -= ends_with(path, size, ".json") ? strlen(".json") : 0;
    return size;
}

/* Takes the path over, which may be NULL for want of memory. */
static takt_status name_file(tkt_output *output, char *path)
{
    output->count = 1;
    output->names[0].path = path;
    output->names[0].stem = path ? stem_of(path) : 0;
    return path ? TAKT_OK : TAKT_NO_MEMORY;
}

takt_status takt_export_file(const takt_trace *trace, const char *format, const char *path,
                             const takt_export_options *options, takt_error *error)
{
    if (!trace || !format || !path || !*path)
        return bad_argument(error, "takt_export_file needs a trace, a format and a path");
    tkt_output output = {.exporter = find_exporter(format, strlen(format))};
    if (!output.exporter)
        return unknown_format(error, format, "");
    takt_status status = import_options(options, &output, error);
    if (status != TAKT_OK)
        return status;
    output.is_gzip |= ends_with(path, strlen(path), ".gz");
    status = tkt_output_check(&output, trace, error);
    if (status != TAKT_OK)
        return status;
    status = name_file(&output, tkt_copy_string(path));
    if (status == TAKT_OK)
        status = tkt_output_write(&output, trace, NULL, 0, error);
    else
        tkt_error_set(error, status, "%s: %s", path, takt_status_text(status));
    tkt_output_fini(&output);
    return status;
}

/* The run's name as a part of a file name: no folders, no hidden files, nothing that a shell or a
 * terminal would take for something else. */
static void plain_run_name(char out[RUN_NAME_BYTES + 1], const takt_trace *trace)
{
    size_t used = tkt_utf8_clean(out, RUN_NAME_BYTES + 1, tkt_trace_text(trace, trace->name),
                                 trace->strings.items[trace->name].size);
    for (size_t i = 0; i < used; i++) {
        char c = out[i];
        bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                        (c >= '0' && c <= '9') || c == '_' || c == '-' || (c == '.' && i) ||
                        (unsigned char)c >= 0x80;
        if (!is_plain)
            out[i] = '_';
    }
    if (!used)
        snprintf(out, RUN_NAME_BYTES + 1, "trace");
}

/* DIRECTORY/NAME[.rankRANK].CYCLE.SUFFIX[.gz] */
static takt_status name_output(const takt_trace *trace, const char *directory, tkt_output *output)
{
    char run[RUN_NAME_BYTES + 1], rank[TKT_RANK_BYTES];
    const takt_facts *facts = &trace->facts;
    plain_run_name(run, trace);
    tkt_rank_text(rank, facts->rank, facts->world_size);
    char *base = tkt_output_join(directory, "%s%s.%u", run, rank, facts->cycle);
    if (!base)
        return TAKT_NO_MEMORY;
    takt_status status =
        name_file(output, tkt_output_join("", "%s%s%s", base, output->exporter->suffix,
                                          output->is_gzip ? ".gz" : ""));
    output->names[0].base = strlen(base);
    tkt_free(base);
    return status;
}

static takt_status choose_exporter(const char *name, tkt_output *output, takt_error *error)
{
    size_t size = strlen(name);
    if (ends_with(name, size, ".gz")) {
        output->is_gzip = true;
        size -= strlen(".gz");
    }
    output->exporter = find_exporter(name, size);
    if (output->exporter)
        return TAKT_OK;
    return unknown_format(error, name, ", each also with .gz, and tensorboard");
}

bool tkt_output_is_known(const char *name, takt_error *error)
{
    tkt_output output = {0};
    return strcmp(name, "tensorboard") == 0 || choose_exporter(name, &output, error) == TAKT_OK;
}

static takt_status choose_output(const takt_trace *trace, const char *name, const char *directory,
                                 tkt_output *output, takt_error *error)
{
    bool is_tensorboard = strcmp(name, "tensorboard") == 0;
    takt_status status = choose_exporter(is_tensorboard ? "chrome.gz" : name, output, error);
    if (status == TAKT_OK)
        status = tkt_output_check(output, trace, error);
    if (status != TAKT_OK)
        return status;
    if (is_tensorboard)
        return tkt_tensorboard_names(trace, directory, output, error);
    status = tkt_folder_create(directory, error);
    return status == TAKT_OK ? name_output(trace, directory, output) : status;
}

takt_status takt_export_output(const takt_trace *trace, const char *output, const char *directory,
                               const takt_export_options *options, char *path, size_t path_size,
                               takt_error *error)
{
    if (!trace || !output || !directory)
        return bad_argument(error, "takt_export_output needs a trace, an output and a directory");
    directory = *directory ? directory : ".";
    tkt_output chosen = {0};
    takt_status status = import_options(options, &chosen, error);
    if (status == TAKT_OK) {
        status = choose_output(trace, output, directory, &chosen, error);
        if (status == TAKT_OK)
            status = tkt_output_write(&chosen, trace, path, path_size, error);
    }
    if (status == TAKT_NO_MEMORY)
        tkt_error_set(error, status, "%s: %s", output, takt_status_text(status));
    tkt_output_fini(&chosen);
    return status;
}
