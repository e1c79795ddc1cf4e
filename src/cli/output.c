/* The command's output: standard output, messages, files, and a progress line. */
#include "base/file.h"
#include "base/text.h"
#include "cli/cli.h"
#include "import/import.h"
#include "report/table.h"
#include "trace/model.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ======== Standard output ======== */

/* Text and JSON on standard output, messages on standard error, and numbers in readable form. A
 * failed write to standard output is reported once, at the end. */

/* errno of the first failed write to standard output; errno itself changes until the end. */
static int output_errno;

const char *cli_clean(char *out, size_t size, const char *text)
{
    tkt_printable(out, size, text, strlen(text));
    return out;
}

void cli_put_json_text(const char *text)
{
    char escaped[TKT_PIECE_SIZE];
    size_t size = text ? strlen(text) : 0;

    fputs(text ? "\"" : "null", stdout);
    for (size_t piece; (piece = tkt_text_piece(text, size)) > 0; size -= piece, text += piece)
        fwrite(escaped, 1, (size_t)(tkt_json_escape(escaped, text, piece) - escaped), stdout);
    fputs(text ? "\"" : "", stdout);
}

void cli_put_number(double number, const char *none)
{
    char digits[TKT_VALUE_SIZE];
    size_t size = tkt_value_raw(digits, TKT_CELL_NUMBER, (tkt_cell){.d = number});
    fputs(size ? digits : none, stdout);
}

int cli_error(const char *format, ...)
{
    char message[1024], clean[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    /* If both streams go to the same place, earlier output comes before the message. */
    fflush(stdout);
    fprintf(stderr, "takt: %s\n", cli_clean(clean, sizeof clean, message));
    return CLI_FAILED;
}

static takt_status write_stdout(void *user, const void *data, size_t size)
{
    (void)user;
    if (fwrite(data, 1, size, stdout) == size)
        return TAKT_OK;
    if (!output_errno)
        output_errno = errno;
    return TAKT_IO_ERROR;
}

takt_sink cli_stdout_sink(void)
{
    return (takt_sink){.write = write_stdout};
}

bool cli_is_incomplete;

bool cli_flush(void)
{
    bool is_whole = fflush(stdout) == 0;
    if (!is_whole && !output_errno)
        output_errno = errno;
    return is_whole && !ferror(stdout);
}

int cli_finish(int status)
{
    if (status == CLI_OK && cli_is_incomplete)
        status = CLI_INCOMPLETE;
    if (cli_flush() && !output_errno) /* an earlier flush may have failed */
        return status;
    /* `takt report FILE | head` ends without a message, even if the caller ignores SIGPIPE. */
    if (output_errno != EPIPE)
        fprintf(stderr, "takt: standard output: %s\n", strerror(output_errno ? output_errno : EIO));
    return status == CLI_OK || status == CLI_INCOMPLETE ? CLI_FAILED : status;
}

const char *cli_count_text(char *out, size_t size, uint64_t count)
{
    char digits[32];
    size_t length = (size_t)snprintf(digits, sizeof digits, "%llu", (unsigned long long)count);
    size_t used = 0;

    for (size_t i = 0; i < length && used + 2 < size; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            out[used++] = ',';
        out[used++] = digits[i];
    }
    out[used] = '\0';
    return out;
}

const char *cli_time_text(char *out, size_t size, double ns)
{
    if (isnan(ns))
        snprintf(out, size, "unknown");
    else if (fabs(ns) < 1e3)
        snprintf(out, size, "%.3g ns", ns);
    else if (fabs(ns) < 1e6)
        snprintf(out, size, "%.3f us", ns / 1e3);
    else if (fabs(ns) < 1e9)
        snprintf(out, size, "%.3f ms", ns / 1e6);
    else
        snprintf(out, size, "%.3f s", ns / 1e9);
    return out;
}

/* ======== Files ======== */

/* Names of output files, and streams into the library's files, which get their final name only when
 * they are complete. */

bool cli_is_same_file(const char *a, const char *b)
{
    struct stat first, second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

bool cli_settle_output(char *path, size_t size)
{
    char real[PATH_MAX];
    struct stat facts;
    bool is_link = lstat(path, &facts) == 0 && S_ISLNK(facts.st_mode);

    if (stat(path, &facts) != 0)
        return true;
    if (is_link && (!realpath(path, real) || strlen(real) >= size))
        return false;
    if (is_link)
        strcpy(path, real);
    return S_ISREG(facts.st_mode);
}

static size_t length_without(const char *path, size_t length, const char *ending)
{
    return tkt_has_ending(path, length, ending) ? length - strlen(ending) : length;
}

bool cli_name_output(char *out, size_t size, const char *folder, const char *file,
                     const char *ending)
{
    const char *base = strrchr(file, '/');
    const char *name = folder && base ? base + 1 : file;
    size_t length = length_without(name, strlen(name), ".gz");

    length = length_without(name, length, ".pftrace");
    int used = snprintf(out, size, "%s%s%.*s%s", folder ? folder : "", folder ? "/" : "",
                        (int)length, name, ending);
    return used >= 0 && (size_t)used < size;
}

static ssize_t write_cookie(void *cookie, const char *data, size_t size)
{
    takt_sink sink = tkt_file_sink(cookie);
    return sink.write(sink.user, data, size) == TAKT_OK ? (ssize_t)size : 0;
}

FILE *cli_file_stream(tkt_file *file)
{
    FILE *stream = fopencookie(file, "w", (cookie_io_functions_t){.write = write_cookie});
    if (stream)
        setvbuf(stream, NULL, _IOFBF, (size_t)1 << 16);
    return stream;
}

bool cli_stream_close(FILE *stream)
{
    bool is_good = !ferror(stream);
    return fclose(stream) == 0 && is_good;
}

int cli_file_close(tkt_file *file, takt_status status)
{
    char path[PATH_MAX];
    takt_error error = {.message = ""};

    snprintf(path, sizeof path, "%s", file->path);
    status = tkt_file_close(file, status, &error);
    if (status == TAKT_OK)
        return CLI_OK;
    if (error.message[0])
        return cli_error("%s", error.message);
    return cli_error("%s: %s", path, takt_status_text(status));
}

/* Number of files in the JSON array; negative: there is none. */
static int written_count = -1;

void cli_written_begin_json(void)
{
    written_count = 0;
}

void cli_written_end_json(void)
{
    fputs(written_count > 0 ? "\n]\n" : "[]\n", stdout);
    written_count = -1;
}

/* False for a folder, which has no size. */
static bool size_of(const char *path, uint64_t *bytes)
{
    struct stat facts;
    if (stat(path, &facts) != 0 || S_ISDIR(facts.st_mode))
        return false;
    *bytes = (uint64_t)facts.st_size;
    return true;
}

static void put_written(const char *path)
{
    uint64_t bytes;
    fputs(written_count++ ? ",\n  {\"file\": " : "[\n  {\"file\": ", stdout);
    cli_put_json_text(path);
    if (size_of(path, &bytes))
        printf(", \"bytes\": %llu}", (unsigned long long)bytes);
    else
        fputs(", \"bytes\": null}", stdout);
}

void cli_tell_written(const char *path)
{
    char size[TKT_VALUE_SIZE], clean[512];
    uint64_t bytes;

    if (written_count >= 0) {
        put_written(path);
        return;
    }
    printf("wrote %s", cli_clean(clean, sizeof clean, path));
    if (size_of(path, &bytes) && tkt_value_text(size, TKT_CELL_BYTES, (tkt_cell){.u = bytes}))
        printf(" (%s)", size);
    putchar('\n');
}

/* ======== Progress ======== */

/* A progress line on the terminal while a large file is read or written. A separate thread prints
 * it, because the library reports no progress. Short work shows no line. */

enum {
    FIRST_SECONDS = 1 /* no line before this time */
};

struct cli_progress {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool is_ended; /* protected by `lock` */
    char what[64];
    char name[192];
};

static void *show(void *user)
{
    cli_progress *progress = user;
    struct timespec next;
    int seconds = FIRST_SECONDS;

    clock_gettime(CLOCK_MONOTONIC, &next);
    next.tv_sec += FIRST_SECONDS;
    pthread_mutex_lock(&progress->lock);
    while (!progress->is_ended) {
        if (pthread_cond_timedwait(&progress->ended, &progress->lock, &next) == 0)
            continue;
        fprintf(stderr, "\rtakt: %s %s, %d s", progress->what, progress->name, seconds++);
        next.tv_sec++;
    }
    if (seconds > FIRST_SECONDS)
        fputs("\r\033[K", stderr); /* clears the line */
    pthread_mutex_unlock(&progress->lock);
    return NULL;
}

static bool init_condition(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0)
        return false;
    bool is_done = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
                   pthread_cond_init(condition, &attributes) == 0;
    pthread_condattr_destroy(&attributes);
    return is_done;
}

/* Also returns NULL after any failure: a missing progress line is not worth an error. */
cli_progress *cli_progress_begin(const char *what, const char *name)
{
    if (!isatty(STDERR_FILENO))
        return NULL;
    cli_progress *progress = calloc(1, sizeof *progress);
    if (!progress)
        return NULL;
    cli_clean(progress->what, sizeof progress->what, what);
    cli_clean(progress->name, sizeof progress->name, name);
    pthread_mutex_init(&progress->lock, NULL);
    if (!init_condition(&progress->ended)) {
        free(progress);
        return NULL;
    }
    if (pthread_create(&progress->thread, NULL, show, progress) != 0) {
        pthread_cond_destroy(&progress->ended);
        free(progress);
        return NULL;
    }
    return progress;
}

void cli_progress_end(cli_progress *progress)
{
    if (!progress)
        return;
    pthread_mutex_lock(&progress->lock);
    progress->is_ended = true;
    pthread_cond_signal(&progress->ended);
    pthread_mutex_unlock(&progress->lock);
    pthread_join(progress->thread, NULL);
    pthread_cond_destroy(&progress->ended);
    pthread_mutex_destroy(&progress->lock);
    free(progress);
}

/* Reports an incomplete trace in one line, for every verb, and makes the exit status show it. */
static void note_ending(const char *path, const takt_trace *trace)
{
    char reason[TKT_FILE_REASON_BYTES];
    switch (takt_trace_facts(trace)->ending) {
    case TAKT_ENDING_WHOLE:
        return;
    case TAKT_ENDING_KILLED:
        cli_error("%s is incomplete: its program was killed, or it still runs", path);
        break;
    case TAKT_ENDING_CUT:
        cli_error("%s is incomplete: the file is cut", path);
        break;
    case TAKT_ENDING_STOPPED:
        cli_error("%s is incomplete: writing stopped: %s", path,
                  tkt_file_reason((int)trace->stopped_by, reason));
        break;
    }
    cli_is_incomplete = true;
}

takt_trace *cli_open_trace(const char *path)
{
    return cli_open_trace_of(path, NULL);
}

takt_trace *cli_open_trace_of(const char *path, const char *host_devices)
{
    takt_trace *trace = NULL;
    takt_error error = {.status = TAKT_OK};

    cli_progress *progress = cli_progress_begin("reading", path);
    takt_status status = imp_open(path, host_devices, &trace, &error);
    cli_progress_end(progress);
    if (status == TAKT_OK) {
        if (error.message[0])
            cli_error("%s", error.message);
        note_ending(path, trace);
        return trace;
    }
    cli_error("%s", error.message[0] ? error.message : takt_status_text(status));
    return NULL;
}
