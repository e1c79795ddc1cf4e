/* The table of exporters, and writing their files. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/own.h"
#include "base/text.h"
#include "export/exporter.h"
#include "export/perfetto.h"
#include "export/tensorboard.h"
#include "trace/model.h"

#include <takt/export.h>

#include <stdarg.h>
#include <stdio.h>

/* ======== Exporters ======== */

/* The exporters by name, and the functions of takt/export.h. */

#define EXPORTER(word, name, description) &tkt_##word##_exporter,

static const tkt_exporter *const exporters[] = {TKT_FORMATS(EXPORTER)};

#define EXPORTER_COUNT (sizeof exporters / sizeof *exporters)

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

takt_status takt_export(const takt_trace *trace, const char *format, const takt_sink *sink)
{
    TKT_OWN_WORK;
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

static takt_status check_gzip(const tkt_output *output, takt_error *error)
{
    const tkt_exporter *exporter = output->exporter;
    if (!output->is_gzip || !exporter->no_gzip)
        return TAKT_OK;
    return tkt_error_set(error, TAKT_NOT_FOUND, "%s cannot be compressed, since %s", exporter->name,
                         exporter->no_gzip);
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
    output->is_plain = known.plain;
    output->max_bytes = known.max_bytes;
    output->device = known.device;
    output->no_waits = known.no_waits;
    output->files = known.files;
    return TAKT_OK;
}

/* Returns the position for the number of a further file: before ".json" in "a.trace.json.gz". */
static size_t stem_of(const char *path)
{
    size_t size = strlen(path);
    size -= tkt_has_ending(path, size, ".gz") ? strlen(".gz") : 0;
    size -= tkt_has_ending(path, size, ".json") ? strlen(".json") : 0;
    return size;
}

/* Takes ownership of the path. NULL means that memory ran out. */
static takt_status name_file(tkt_output *output, char *path)
{
    output->name.path = path;
    output->name.stem = path ? stem_of(path) : 0;
    return path ? TAKT_OK : TAKT_NO_MEMORY;
}

takt_status takt_export_file(const takt_trace *trace, const char *format, const char *path,
                             const takt_export_options *options, takt_error *error)
{
    TKT_OWN_WORK;
    if (!trace || !format || !path || !*path)
        return bad_argument(error, "takt_export_file needs a trace, a format and a path");
    tkt_output output = {.exporter = find_exporter(format, strlen(format))};
    if (!output.exporter)
        return unknown_format(error, format, "");
    takt_status status = import_options(options, &output, error);
    if (status != TAKT_OK)
        return status;
    output.is_gzip |= tkt_has_ending(path, strlen(path), ".gz");
    status = check_gzip(&output, error);
    if (status == TAKT_OK)
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

void tkt_output_run(const char *name, char out[TKT_RUN_BYTES])
{
    size_t used = tkt_utf8_clean(out, TKT_RUN_BYTES, name, strlen(name));
    for (size_t i = 0; i < used; i++) {
        char c = out[i];
        bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                        (c >= '0' && c <= '9') || c == '_' || c == '-' || (c == '.' && i) ||
                        (unsigned char)c >= 0x80;
        if (!is_plain)
            out[i] = '_';
    }
    if (!used)
        snprintf(out, TKT_RUN_BYTES, "trace");
}

/* DIRECTORY/NAME[.rankRANK].CYCLE.SUFFIX[.gz] */
static takt_status name_output(const takt_trace *trace, const char *directory, tkt_output *output)
{
    char run[TKT_RUN_BYTES], rank[TKT_RANK_BYTES];
    const takt_facts *facts = &trace->facts;
    tkt_output_run(tkt_trace_text(trace, trace->name), run);
    tkt_rank_text(rank, facts->rank, facts->world_size);
    char *base = tkt_output_join(directory, "%s%s.%u", run, rank, facts->cycle);
    if (!base)
        return TAKT_NO_MEMORY;
    takt_status status =
        name_file(output, tkt_output_join("", "%s%s%s", base, output->exporter->suffix,
                                          output->is_gzip ? ".gz" : ""));
    output->name.base = strlen(base);
    tkt_free(base);
    return status;
}

#define TENSORBOARD "tensorboard" /* two outputs at once */

static takt_status choose_exporter(const char *name, tkt_output *output, takt_error *error)
{
    size_t size = strlen(name);
    if (tkt_has_ending(name, size, ".gz")) {
        output->is_gzip = true;
        size -= strlen(".gz");
    }
    output->exporter = find_exporter(name, size);
    if (output->exporter)
        return check_gzip(output, error);
    return unknown_format(error, name, ", all but xplane also with .gz, or tensorboard");
}

bool tkt_output_is_known(const char *name, takt_error *error)
{
    tkt_output output = {0};
    return strcmp(name, TENSORBOARD) == 0 || choose_exporter(name, &output, error) == TAKT_OK;
}

static takt_status set_output_name(const takt_trace *trace, bool is_torch, const char *directory,
                                   tkt_output *output, takt_error *error)
{
    if (is_torch)
        return tkt_torch_name(trace, directory, output, error);
    if (output->exporter->name_file)
        return output->exporter->name_file(trace, directory, output, error);
    takt_status status = tkt_folder_create(directory, error);
    return status == TAKT_OK ? name_output(trace, directory, output) : status;
}

/* `is_torch`: Chrome JSON under the name that torch's plugin looks for. */
static takt_status write_output(const takt_trace *trace, const char *name, bool is_torch,
                                const char *directory, const tkt_output *options, char *path,
                                size_t path_size, takt_error *error)
{
    tkt_output output = *options;
    takt_status status = choose_exporter(name, &output, error);
    if (status == TAKT_OK)
        status = tkt_output_check(&output, trace, error);
    if (status == TAKT_OK)
        status = set_output_name(trace, is_torch, directory, &output, error);
    if (status == TAKT_OK)
        status = tkt_output_write(&output, trace, path, path_size, error);
    if (status != TAKT_OK && output.exporter && output.exporter->remove_folders)
        output.exporter->remove_folders(directory, output.name.path);
    if (status == TAKT_NO_MEMORY)
        tkt_error_set(error, status, "%s: %s", name, takt_status_text(status));
    tkt_output_fini(&output);
    return status;
}

takt_status takt_export_output(const takt_trace *trace, const char *output, const char *directory,
                               const takt_export_options *options, char *path, size_t path_size,
                               takt_error *error)
{
    TKT_OWN_WORK;
    if (!trace || !output || !directory)
        return bad_argument(error, "takt_export_output needs a trace, an output and a directory");
    directory = *directory ? directory : ".";
    tkt_output known = {0};
    takt_status status = import_options(options, &known, error);
    if (status != TAKT_OK)
        return status;
    if (strcmp(output, TENSORBOARD) != 0)
        return write_output(trace, output, false, directory, &known, path, path_size, error);
    status = write_output(trace, "chrome.gz", true, directory, &known, path, path_size, error);
    known.is_gzip = false;
    if (status == TAKT_OK)
        status = write_output(trace, "xplane", false, directory, &known, NULL, 0, error);
    return status;
}

/* ======== Files ======== */

/* Writes a trace to a file through a writer:
 *
 *     exporter -> writer -> [gzip, or packets of a Perfetto file] -> file
 *
 * When the file reaches its size limit, the exporter switches to the next one while it runs. */

/* Level 2 makes files 1.2 times as large as level 6, but is four to five times as fast. Level 1
 * makes them another 5 % larger and is hardly faster. */
#define GZIP_LEVEL 2

/* The open file. */
typedef struct target {
    const tkt_output *output;
    tkt_file file;
    unsigned number; /* added to a name that was taken */
    bool is_open;
    char *first;  /* path of the first file, once it is complete */
    char *second; /* paths of further files, once they are open; NULL: none */
    char *last;
    tkt_gzip *gzip;
    tkt_perfetto_pack pack;
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
    tkt_free(output->name.path);
    output->name.path = NULL;
}

static takt_status open_file(target *to, uint32_t part)
{
    const tkt_output_name *name = &to->output->name;
    char *path = path_of(name, part);
    if (!path)
        return TAKT_NO_MEMORY;
    takt_status status =
        name->base ? tkt_file_create_new(&to->file, path, name->base, to->number, &to->error)
                   : tkt_file_create(&to->file, path, &to->error);
    to->is_open = status == TAKT_OK;
    tkt_free(path);
    return status;
}

/* Closes the open file. It is kept only if it was written without error. */
static takt_status close_file(target *to, takt_status status)
{
    takt_error error = {0};
    takt_status packed = tkt_gzip_finish(to->gzip);
    to->gzip = NULL;
    tkt_perfetto_pack_fini(&to->pack);
    status = status == TAKT_OK ? packed : status;
    if (!to->is_open)
        return status;
    status = tkt_file_finish(&to->file, status, &error);
    if (to->error.status == TAKT_OK)
        to->error = error;
    to->number = to->file.number;
    if (status == TAKT_OK && to->output->files)
        ++*to->output->files;
    if (status == TAKT_OK && !to->first) {
        to->first = to->file.path;
        to->file.path = NULL;
    }
    to->is_open = false;
    return tkt_file_close(&to->file, status, NULL);
}

static takt_status open_target(target *to, uint32_t part, takt_sink *sink)
{
    takt_status status = open_file(to, part);
    if (status != TAKT_OK)
        return status;
    *sink = tkt_file_sink(&to->file);
    if (to->output->is_gzip)
        return tkt_gzip_create(*sink, GZIP_LEVEL, &to->gzip, sink);
    if (to->output->exporter->packs_packets && !to->output->is_plain)
        return tkt_perfetto_pack_init(&to->pack, *sink, sink);
    return TAKT_OK;
}

/* Closes the open file and opens the next one. */
static takt_status change_files(target *to, uint32_t part, takt_sink *sink)
{
    takt_status status = close_file(to, TAKT_OK);
    if (status == TAKT_OK)
        status = open_target(to, part, sink);
    if (status != TAKT_OK)
        return status;
    char **place = to->second ? &to->last : &to->second;
    tkt_free(*place);
    *place = tkt_copy_string(to->file.path);
    return TAKT_OK;
}

static void say_parts(const target *to)
{
    if (to->first && to->second)
        tkt_log(TAKT_LOG_INFO,
                "%s has reached its limit of %llu bytes, the trace continues in %s%s%s", to->first,
                (unsigned long long)to->output->max_bytes, to->second, to->last ? " to " : "",
                to->last ? to->last : "");
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
    if (!output->exporter->write_choice)
        return output->exporter->write(trace, writer);
    tkt_export_choice choice = {.max_bytes = output->max_bytes,
                                .next = next_target,
                                .user = to,
                                .device = output->device,
                                .no_waits = output->no_waits};
    return output->exporter->write_choice(trace, writer, &choice);
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
    return close_file(to, status);
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
    target to = {.output = output, .number = 1};
    takt_status status = write_all(&to, trace);
    if (status == TAKT_OK && path && path_size)
        snprintf(path, path_size, "%s", to.first ? to.first : "");
    if (status == TAKT_OK)
        say_parts(&to);
    tkt_free(to.first);
    tkt_free(to.second);
    tkt_free(to.last);
    if (status == TAKT_OK)
        return TAKT_OK;
    if (to.error.status == TAKT_OK)
        tkt_error_set(&to.error, status, "%s: %s", output->name.path, takt_status_text(status));
    if (error)
        *error = to.error;
    return status;
}
