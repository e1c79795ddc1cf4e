/* What the command prints: standard output through one buffer whose failure is noticed, messages on
 * standard error, and numbers as people read them. */
#include "cli/cli.h"

#include "base/text.h"
#include "report/value.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

/* Why standard output failed first; errno is gone when everything has been tried. */
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
    /* What has been printed so far comes first where both go to one place. */
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

const char *cli_ending_name(const takt_facts *facts)
{
    static const char *const names[] = {"whole", "killed", "cut"};
    return names[facts->ending];
}

int cli_finish(int status)
{
    if (status == CLI_OK && cli_is_incomplete)
        status = CLI_INCOMPLETE;
    bool is_whole = fflush(stdout) == 0;
    if (!is_whole && !output_errno)
        output_errno = errno;
    if (is_whole && !ferror(stdout))
        return status;
    /* `takt report FILE | head` ends quietly, also where the caller has SIGPIPE ignored. */
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

const char *cli_bytes_text(char *out, size_t size, uint64_t bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double amount = (double)bytes;
    size_t unit = 0;

    for (; amount >= 1024.0 && unit < 4; unit++)
        amount /= 1024.0;
    snprintf(out, size, unit ? "%.2f %s" : "%.0f %s", amount, units[unit]);
    return out;
}

const char *cli_time_text(char *out, size_t size, double ns)
{
    if (ns < 1e3)
        snprintf(out, size, "%.3g ns", ns);
    else if (ns < 1e6)
        snprintf(out, size, "%.3f us", ns / 1e3);
    else if (ns < 1e9)
        snprintf(out, size, "%.3f ms", ns / 1e6);
    else
        snprintf(out, size, "%.3f s", ns / 1e9);
    return out;
}
