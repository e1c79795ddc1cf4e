/* Takt's text in the program's standard output and in other places, the line about files, and the
 * link to a trace. */
#include "profiler/cycle.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/own.h"
#include "base/text.h"
#include "base/writer.h"
#include "report/table.h"

#include <locale.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>

/* ======== Printing ======== */

/* A stream whose reader is gone must not harm the program, neither by SIGPIPE now nor by text left
 * in the stream's buffer for exit(). */

/* Flushes the program's own text first; if that fails, it stays in the buffer. Afterwards the
 * buffer has only Takt's text, which is dropped on failure. */
static bool print_quietly(FILE *stream, const char *text, size_t size)
{
    if (fflush(stream) != 0)
        return false;
    bool had_failed = ferror(stream);
    if (fwrite(text, 1, size, stream) == size && fflush(stream) == 0)
        return true;
    __fpurge(stream);
    if (!had_failed)
        clearerr(stream);
    return false;
}

/* The sink's `user` is the stream. */
static takt_status write_stream(void *user, const void *data, size_t size)
{
    tkt_quiet quiet;
    FILE *stream = user;
    TKT_UNCANCELLED; /* whoever prints next would wait for the stream's lock */
    TKT_OWN_WORK; /* the stream may take its buffer */
    flockfile(stream);
    tkt_quiet_begin(&quiet);
    bool is_written = print_quietly(stream, data, size);
    tkt_quiet_end(&quiet, !is_written);
    funlockfile(stream);
    return is_written ? TAKT_OK : TAKT_IO_ERROR;
}

static const takt_sink *the_sink; /* atomic; the program's: NULL: standard output */

void takt_set_print(const takt_sink *sink)
{
    /* release: pairs with the acquire in programs_sink() */
    __atomic_store_n(&the_sink, sink && sink->write ? sink : NULL, __ATOMIC_RELEASE);
}

static const takt_sink *programs_sink(void)
{
    return __atomic_load_n(&the_sink, __ATOMIC_ACQUIRE);
}

static takt_status write_printed(void *user, const void *data, size_t size)
{
    const takt_sink *sink = programs_sink();
    (void)user;
    if (!sink)
        return write_stream(stdout, data, size);
    TKT_PROGRAMS_WORK;
    return sink->write(sink->user, data, size);
}

takt_sink tkt_print_sink(void)
{
    return (takt_sink){write_printed, NULL};
}

static locale_t plain; /* of numbers with a point; 0 without memory: the program's stays */

static void make_plain(void)
{
    plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
}

void tkt_print(const char *format, ...)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    char line[256], *longer = NULL;
    va_list arguments, again;
    pthread_once(&once, make_plain);
    locale_t before = uselocale(plain);
    va_start(arguments, format);
    va_copy(again, arguments);
    int size = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (size >= (int)sizeof line) {
        longer = tkt_alloc((size_t)size + 1);
        if (longer)
            vsnprintf(longer, (size_t)size + 1, format, again);
        else
            size = (int)sizeof line - 1;
    }
    uselocale(before);
    va_end(again);
    if (size > 0)
        write_printed(NULL, longer ? longer : line, (size_t)size);
    tkt_free(longer);
}

uint32_t tkt_print_width(uint32_t given)
{
    return given || programs_sink() ? given : tkt_terminal_width(1);
}

/* ======== The place of reports ======== */

static bool is_stream(const char *place)
{
    return strcmp(place, "stdout") == 0 || strcmp(place, "stderr") == 0;
}

bool tkt_reports_are_printed(const takt_profiler_options *options)
{
    return is_stream(options->report_file);
}

bool tkt_reports_need_folder(const tkt_saved_options *options)
{
    const char *file = options->given.report_file;
    return options->given.report_count > 0 && !is_stream(file) && *file != '/';
}

/* Returns the path as it is typed in the directory in which the program was started. */
static const char *shown_path(const tkt_saved_options *options, const char *path)
{
    size_t from = options->shown_from;
    bool is_below = from > 1 && strlen(path) > from && path[from - 1] == '/' &&
                    strncmp(path, options->directory, from - 1) == 0;
    return is_below ? path + from : path;
}

/* Writes the path of the file, with the rank before its ending. Returns the size of the part that
 * "-2" follows if the name is taken; 0 if the path is too long. */
static size_t report_path(char *out, size_t size, const tkt_saved_options *options)
{
    char rank[TKT_RANK_BYTES];
    const char *file = options->given.report_file;
    const char *slash = strrchr(file, '/'), *dot = strrchr(slash ? slash + 1 : file, '.');
    int stem = (int)(dot && dot > file && dot[-1] != '/' ? (size_t)(dot - file) : strlen(file));
    bool is_below = *file != '/';
    tkt_rank_text(rank, options->given.rank, options->given.world_size);
    int base = snprintf(out, size, "%s%s%.*s%s", is_below ? options->directory : "",
                        is_below ? "/" : "", stem, file, rank);
    if ((size_t)base >= size || (size_t)base + strlen(file + stem) >= size)
        return 0;
    strcpy(out + base, file + stem);
    return (size_t)base;
}

static takt_status create_report_file(tkt_file *file, const tkt_saved_options *options,
                                      takt_error *error)
{
    char path[4096], folder[4096];
    const char *typed = options->given.report_file;
    if (*typed == '/' && tkt_file_is_device(typed))
        return tkt_file_create(file, typed, error);
    size_t stem = report_path(path, sizeof path, options);
    if (stem == 0)
        return tkt_error_set(error, TAKT_IO_ERROR, "the path of the file is too long");
    if (tkt_folder_exists(path) || path[strlen(path) - 1] == '/')
        return tkt_error_set(error, TAKT_IO_ERROR, "%s is a folder: name a file in it", typed);
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
    takt_status status = *folder ? tkt_folder_create(folder, error) : TAKT_OK;
    return status == TAKT_OK ? tkt_file_claim(file, path, stem, error) : status;
}

takt_status tkt_report_place_open(tkt_report_place *place, const tkt_saved_options *options,
                                  tkt_report_output *out)
{
    takt_error error;
    const char *name = options->given.report_file;
    if (is_stream(name)) {
        bool is_error = strcmp(name, "stderr") == 0;
        int fd = is_error ? 2 : 1;
        bool is_programs = !is_error && programs_sink();
        *out = (tkt_report_output){is_error ? (takt_sink){write_stream, stderr} : tkt_print_sink(),
                                   is_programs ? 0 : tkt_terminal_width(fd),
                                   !is_programs && tkt_terminal_has_color(fd)};
        return TAKT_OK;
    }
    if (place->has_failed)
        return TAKT_IO_ERROR;
    if (place->is_open && !tkt_file_is_there(&place->file))
        tkt_report_place_close(place);
    if (!place->is_open && create_report_file(&place->file, options, &error) != TAKT_OK) {
        tkt_log(TAKT_LOG_ERROR, "output.reports: %s", error.message);
        place->has_failed = true;
        return TAKT_IO_ERROR;
    }
    if (!place->is_open && options->given.announce && options->given.rank == 0)
        tkt_tell("reports go to %s", shown_path(options, place->file.path));
    place->is_open = true;
    *out = (tkt_report_output){.sink = tkt_file_sink(&place->file)};
    return TAKT_OK;
}

const char *tkt_report_place_why(const tkt_report_place *place, takt_status status,
                                 takt_error *error)
{
    if (status != TAKT_IO_ERROR)
        return takt_status_text(status);
    if (!place->is_open)
        return "the stream cannot be written";
    tkt_file_why(&place->file, error);
    return error->message;
}

void tkt_report_place_close(tkt_report_place *place)
{
    takt_error error;
    if (place->is_open && tkt_file_close(&place->file, TAKT_OK, &error) != TAKT_OK)
        tkt_log(TAKT_LOG_ERROR, "output.reports: %s", error.message);
    place->is_open = false;
}

/* ======== The line about files ======== */

#define LONGEST_TYPED 400 /* a line of the log has space for the path twice */

/* True for names that a shell takes as they are. */
static bool is_plain_word(const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c > 127;
        if (!is_letter && !(c >= '0' && c <= '9') && !strchr("._-/+:@%,=", c))
            return false;
    }
    return true;
}

char *tkt_announcement_of(const tkt_cycle *cycle)
{
    const char *file = cycle->viewable ? cycle->viewable : cycle->first_file;
    if (!file)
        return NULL;
    const char *path = shown_path(cycle->options, file);
    const char *quote = is_plain_word(path) ? "" : "'";
    bool has_spans = takt_trace_facts(cycle->trace)->has_spans;
    char bytes[TKT_VALUE_SIZE], more[32] = "", next[LONGEST_TYPED + 40] = "", line[1024];
    tkt_value_text(bytes, TKT_CELL_BYTES, (tkt_cell){.u = tkt_file_bytes(file)});
    if (cycle->file_count > 1)
        snprintf(more, sizeof more, " and %u more", cycle->file_count - 1);
    if (cycle->viewable && !cycle->options->given.view && strlen(path) <= LONGEST_TYPED &&
        !strchr(path, '\''))
        snprintf(next, sizeof next, "; %s it: takt %s %s%s%s", has_spans ? "open" : "print",
                 has_spans ? "view" : "report", quote, path, quote);
    snprintf(line, sizeof line, "wrote %s (%s)%s%s", path, bytes, more, next);
    return tkt_copy_string(line);
}

/* ======== Showing a trace ======== */

/* The command `takt` serves the trace, not this library: the host should neither open a port nor
 * wait for a browser. */

void tkt_view_keep(char **viewable, const char *output, const char *path)
{
    bool is_perfetto = tkt_begins_with(output, "perfetto");
    if (!is_perfetto && (*viewable || !tkt_begins_with(output, "chrome")))
        return;
    tkt_free(*viewable);
    *viewable = tkt_copy_string(path);
}

void tkt_view(const char *path)
{
    if (!path) {
        tkt_log(TAKT_LOG_WARNING, "output.view: no perfetto or chrome trace was saved");
        return;
    }
    char program[] = "takt", verb[] = "view", background[] = "--background", end[] = "--";
    char *arguments[] = {program, verb, background, end, (char *)path, NULL};
    int status = tkt_run_program(arguments);
    if (status != 0)
        tkt_log(TAKT_LOG_WARNING, "output.view: cannot run takt from PATH: %s; type: takt view %s",
                strerror(status), path);
}
