/* Takt's text in the program's standard output, and the link to a trace. */
#include "profiler/cycle.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/writer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>

/* ======== Printing ======== */

/* A stream whose reader is gone must not harm the program, neither by SIGPIPE now nor by text left
 * in the stream's buffer for exit(). */

/* Flushes the program's own text first; if that fails, it stays in the buffer. Afterwards the
 * buffer has only Takt's text, which is dropped on failure. */
static bool print_quietly(const char *text, size_t size)
{
    if (fflush(stdout) != 0)
        return false;
    bool had_failed = ferror(stdout);
    if (fwrite(text, 1, size, stdout) == size && fflush(stdout) == 0)
        return true;
    __fpurge(stdout);
    if (!had_failed)
        clearerr(stdout);
    return false;
}

static takt_status write_stdout(void *user, const void *data, size_t size)
{
    tkt_quiet quiet;
    (void)user;
    flockfile(stdout);
    tkt_quiet_begin(&quiet);
    bool is_written = print_quietly(data, size);
    tkt_quiet_end(&quiet, !is_written);
    funlockfile(stdout);
    return is_written ? TAKT_OK : TAKT_IO_ERROR;
}

takt_sink tkt_print_sink(void)
{
    return (takt_sink){write_stdout, NULL};
}

void tkt_print(const char *format, ...)
{
    char line[256], *longer = NULL;
    va_list arguments, again;
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
    va_end(again);
    if (size > 0)
        write_stdout(NULL, longer ? longer : line, (size_t)size);
    tkt_free(longer);
}

bool tkt_print_in_color(void)
{
    return tkt_terminal_width(1) > 0 && !tkt_environment("NO_COLOR");
}

uint32_t tkt_print_width(uint32_t given)
{
    return given ? given : tkt_terminal_width(1);
}

/* ======== Showing a trace ======== */

/* The command `takt` serves the trace, not this library: the host should neither open a port nor
 * wait for a browser. */

static bool begins_with(const char *text, const char *beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

void tkt_view_keep(char **viewable, const char *output, const char *path)
{
    bool is_perfetto = begins_with(output, "perfetto");
    if (!is_perfetto && (*viewable || !begins_with(output, "chrome")))
        return;
    size_t size = strlen(path) + 1;
    tkt_free(*viewable);
    *viewable = tkt_alloc(size);
    if (*viewable)
        memcpy(*viewable, path, size);
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
