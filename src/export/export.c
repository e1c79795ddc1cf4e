/* The table of exporters, and writing their files. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "export/chrome.h"
#include "export/exporter.h"
#include "trace/model.h"

#include <takt/export.h>

#include <stdarg.h>
#include <stdio.h>

/* ======== Exporters ======== */

/* The exporters by name, and the functions of takt/export.h. */

#define EXPORTER(word, name) &tkt_##word##_exporter,

static const tkt_exporter *const exporters[] = {TKT_FORMATS(EXPORTER)};

#define EXPORTER_COUNT (sizeof exporters / sizeof *exporters)

/* Longer names are cut: file names have at most 255 bytes, including suffixes. */
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

static takt_status bad_argument(takt_error *error, const char *reason)
{
    return tkt_error_set(error, TAKT_BAD_ARGUMENT, "%s", reason);
}

static takt_status unknown_format(takt_error *error, const char *name, const char *more)
{
    char known[120] = "";
    size_t size = 0;
    for (size_t i = 0; takt_export_name(i) && size < sizeof known; i++)
        size += (size_t)snprintf(known + size, sizeof known - size, "%s%s", i ? ", " : "",
                                 takt_export_name(i));
    return tkt_error_set(error, TAKT_NOT_FOUND, "unknown format \"%.40s\"; use %s%s", name, known,
                         more);
}

/* Reads the options, or sets the defaults if they are NULL. */
static takt_status import_options(const takt_export_options *options, tkt_output *output,
                                  takt_error *error)
{
    takt_export_options known;
    takt_status status =
        tkt_options_read(&known, sizeof known, options, "TAKT_EXPORT_OPTIONS_INIT");
    if (status != TAKT_OK)
        return bad_argument(error, "the export options do not start from TAKT_EXPORT_OPTIONS_INIT, "
                                   "or use a field that this version lacks");
    output->is_gzip = known.gzip;
    output->max_bytes = known.max_bytes;
    output->device = known.device;
    output->no_waits = known.no_waits;
    return TAKT_OK;
}

static bool ends_with(const char *text, size_t size, const char *end)
{
    size_t end_size = strlen(end);
    return size >= end_size && memcmp(text + size - end_size, end, end_size) == 0;
}

/* Returns the position for the number of a further file: before ".json" in "a.trace.json.gz". */
static size_t stem_of(const char *path)
{
    size_t size = strlen(path);
    size -= ends_with(path, size, ".gz") ? strlen(".gz") : 0;
    size -= ends_with(path, size, ".json") ? strlen(".json") : 0;
    return size;
}

/* Takes ownership of the path. NULL means that memory ran out. */
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

/* Makes the run's name safe for a file name: no folders, no hidden files, and no characters with a
 * meaning for shells or terminals. */
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
    return unknown_format(error, name, ", each also with .gz, or tensorboard");
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

/* ======== Files ======== */

/* Writes a trace to files through one writer:
 *
 *     exporter -> writer -> [gzip] -> tee -> one or two files
 *
 * TensorBoard's two plugins need the same bytes under different names; rendering and packing them
 * once is cheaper. When a file reaches its size limit, the exporter switches to the next files
 * while it runs. */

/* Level 2 makes files 1.2 times as large as level 6, but is four to five times as fast. Level 1
 * makes them another 5 % larger and is hardly faster. */
#define GZIP_LEVEL 2

/* The open files. */
typedef struct target {
    const tkt_output *output;
    tkt_file files[TKT_OUTPUT_PATHS];
    unsigned numbers[TKT_OUTPUT_PATHS]; /* added to names that were taken */
    size_t open_count;
    char *first; /* path of the first file, once it is complete */
    tkt_gzip *gzip;
    takt_error error; /* the first error */
} target;

char *tkt_output_join(const char *folder, const char *format, ...)
{
    va_list arguments;
    va_list again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int size = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);

    size_t folder_size = strlen(folder);
    char *path = size < 0 ? NULL : tkt_alloc(folder_size + (size_t)size + 2);
    if (path) {
        memcpy(path, folder, folder_size);
        if (folder_size && folder[folder_size - 1] != '/')
            path[folder_size++] = '/';
        vsnprintf(path + folder_size, (size_t)size + 1, format, again);
    }
    va_end(again);
    return path;
}

/* Returns the path of file number `part`, counted from 1. The caller frees it with tkt_free(). */
static char *path_of(const tkt_output_name *name, uint32_t part)
{
    if (!name->first_number && part == 1)
        return tkt_output_join("", "%s", name->path);
    uint64_t number = name->first_number ? name->first_number + part - 1 : part;
    return tkt_output_join("", "%.*s.%llu%s", (int)name->stem, name->path,
                           (unsigned long long)number, name->path + name->stem);
}

void tkt_output_fini(tkt_output *output)
{
    for (size_t i = 0; i < TKT_OUTPUT_PATHS; i++) {
        tkt_free(output->names[i].path);
        output->names[i].path = NULL;
    }
}

static takt_status write_to_all(void *user, const void *data, size_t size)
{
    target *to = user;
    takt_status status = TAKT_OK;
    for (size_t i = 0; i < to->open_count && status == TAKT_OK; i++) {
        takt_sink sink = tkt_file_sink(&to->files[i]);
        status = sink.write(sink.user, data, size);
    }
    return status;
}

static takt_status open_file(target *to, size_t index, uint32_t part)
{
    const tkt_output_name *name = &to->output->names[index];
    tkt_file *file = &to->files[index];
    char *path = path_of(name, part);
    if (!path)
        return TAKT_NO_MEMORY;
    takt_status status =
        name->base ? tkt_file_create_new(file, path, name->base, to->numbers[index], &to->error)
                   : tkt_file_create(file, path, &to->error);
    tkt_free(path);
    return status;
}

static takt_status open_files(target *to, uint32_t part)
{
    for (to->open_count = 0; to->open_count < to->output->count; to->open_count++) {
        takt_status status = open_file(to, to->open_count, part);
        if (status != TAKT_OK)
            return status;
    }
    return TAKT_OK;
}

static takt_status close_file(target *to, size_t index, takt_status status)
{
    tkt_file *file = &to->files[index];
    takt_error error = {0};
    status = tkt_file_finish(file, status, &error);
    if (to->error.status == TAKT_OK)
        to->error = error;
    to->numbers[index] = file->number;
    if (status == TAKT_OK && !to->first) {
        to->first = file->path;
        file->path = NULL;
    }
    return tkt_file_close(file, status, NULL);
}

/* Closes the open files. They are kept only if all of them were written without error. */
static takt_status close_files(target *to, takt_status status)
{
    takt_status packed = tkt_gzip_finish(to->gzip);
    to->gzip = NULL;
    status = status == TAKT_OK ? packed : status;
    for (size_t i = 0; i < to->open_count; i++)
        status = close_file(to, i, status);
    to->open_count = 0;
    return status;
}

static takt_status open_target(target *to, uint32_t part, takt_sink *sink)
{
    takt_sink all = {write_to_all, to};
    takt_status status = open_files(to, part);
    if (status == TAKT_OK && to->output->is_gzip)
        status = tkt_gzip_create(all, GZIP_LEVEL, &to->gzip, sink);
    else
        *sink = all;
    return status;
}

static void log_next_file(const target *to, size_t index, const char *full)
{
    tkt_log(TAKT_LOG_INFO, "%s has reached its limit of %llu bytes, the trace continues in %s",
            full, (unsigned long long)to->output->max_bytes, to->files[index].path);
}

/* Closes the open files and opens the next ones. */
static takt_status change_files(target *to, uint32_t part, takt_sink *sink)
{
    char *full[TKT_OUTPUT_PATHS] = {0};
    size_t count = to->open_count;
    for (size_t i = 0; i < count; i++)
        full[i] = tkt_copy_string(to->files[i].path);
    takt_status status = close_files(to, TAKT_OK);
    if (status == TAKT_OK)
        status = open_target(to, part, sink);
    for (size_t i = 0; i < count; i++) {
        if (status == TAKT_OK && full[i])
            log_next_file(to, i, full[i]);
        tkt_free(full[i]);
    }
    return status;
}

static takt_status next_target(void *user, uint32_t part, tkt_writer *writer)
{
    tkt_writer_flush(writer);
    if (writer->status != TAKT_OK)
        return writer->status;
    return change_files(user, part, &writer->sink);
}

static takt_status export_to(target *to, const takt_trace *trace, tkt_writer *writer)
{
    const tkt_output *output = to->output;
    if (output->exporter != &tkt_chrome_exporter)
        return output->exporter->write(trace, writer);
    tkt_chrome_choice choice = {.max_bytes = output->max_bytes,
                                .next = next_target,
                                .user = to,
                                .device = output->device,
                                .no_waits = output->no_waits};
    return tkt_chrome_export(trace, writer, &choice);
}

static takt_status write_all(target *to, const takt_trace *trace)
{
    takt_sink sink;
    tkt_writer writer;
    takt_status status = open_target(to, 1, &sink);
    if (status == TAKT_OK)
        status = tkt_writer_init(&writer, sink, 0);
    if (status == TAKT_OK) {
        status = export_to(to, trace, &writer);
        takt_status written = tkt_writer_fini(&writer);
        status = status == TAKT_OK ? written : status;
    }
    return close_files(to, status);
}

takt_status tkt_output_check(const tkt_output *output, const takt_trace *trace, takt_error *error)
{
    if (!output->exporter->needs_spans || trace->facts.has_spans)
        return TAKT_OK;
    return tkt_error_set(error, TAKT_NO_SPANS, "%s: %s", output->exporter->name,
                         takt_status_text(TAKT_NO_SPANS));
}

takt_status tkt_output_write(const tkt_output *output, const takt_trace *trace, char *path,
                             size_t path_size, takt_error *error)
{
    target to = {.output = output, .numbers = {1, 1}};
    takt_status status = write_all(&to, trace);
    if (status == TAKT_OK && path && path_size)
        snprintf(path, path_size, "%s", to.first ? to.first : "");
    tkt_free(to.first);
    if (status == TAKT_OK)
        return TAKT_OK;
    if (to.error.status == TAKT_OK)
        tkt_error_set(&to.error, status, "%s: %s", output->names[0].path, takt_status_text(status));
    if (error)
        *error = to.error;
    return status;
}
