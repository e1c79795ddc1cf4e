/* Errors of a configuration file. The first ones are kept with their line of the file, because the
 * file's text is gone, or has changed, when somebody reads them. */
#include "config/errors.h"

#include "base/error.h"
#include "base/text.h"
#include "config/schema.h"

#include <stdio.h>
#include <string.h>

#define BEFORE_CARET 48 /* bytes of a long line that are shown before the error */

size_t tkt_config_errors_kept(const tkt_config_errors *errors)
{
    return errors->count < TKT_CONFIG_ERRORS_MAX ? errors->count : TKT_CONFIG_ERRORS_MAX;
}

void tkt_config_errors_log(const tkt_config_errors *errors, size_t first)
{
    size_t kept = tkt_config_errors_kept(errors);
    for (size_t i = first; i < kept; i++)
        tkt_log(TAKT_LOG_ERROR, "%s", errors->items[i].error.message);
    if (errors->count > kept)
        tkt_log(TAKT_LOG_ERROR, "and %zu more errors", errors->count - kept);
}

const char *tkt_config_line(const tkt_config_text *text, uint32_t line, const char **end)
{
    const char *at = text->bytes;
    const char *last = at + text->size;
    while (line > 1 && at < last) {
        const char *newline = memchr(at, '\n', (size_t)(last - at));
        at = newline ? newline + 1 : last;
        line--;
    }
    const char *newline = memchr(at, '\n', (size_t)(last - at));
    *end = newline ? newline : last;
    if (*end > at && (*end)[-1] == '\r')
        (*end)--;
    return at;
}

const char *tkt_config_column(const char *begin, const char *end, uint32_t column)
{
    while (column > 1 && begin < end) {
        size_t length = tkt_utf8_length(begin, (size_t)(end - begin));
        begin += length > 0 ? length : 1;
        column--;
    }
    return begin;
}

/* Copies a part of a line for a terminal; tabs become blanks. */
static void copy_part(char *out, size_t capacity, const char *begin, const char *end)
{
    char part[TKT_CONFIG_SHOWN];
    size_t size = (size_t)(end - begin);
    if (size > sizeof part)
        size = sizeof part;
    memcpy(part, begin, size);
    for (size_t i = 0; i < size; i++)
        part[i] = part[i] == '\t' ? ' ' : part[i];
    tkt_printable(out, capacity, part, size);
}

/* Keeps the line of an error; a long one loses its begin and end. */
static void show_line(tkt_config_fault *fault, const tkt_config_text *text)
{
    const char *end;
    const char *begin = tkt_config_line(text, fault->error.line, &end);
    const char *at = tkt_config_column(begin, end, fault->error.column);
    if (at - begin > BEFORE_CARET) {
        begin = at - BEFORE_CARET;
        while (begin < at && (*begin & 0xC0) == 0x80)
            begin++;
    }
    copy_part(fault->shown, sizeof fault->shown, begin, at);
    fault->caret = (uint32_t)tkt_text_columns(fault->shown);
    copy_part(fault->shown, sizeof fault->shown, begin, end);
}

void tkt_config_errors_add(tkt_config_errors *errors, const tkt_config_text *text, uint32_t line,
                           uint32_t column, const char *format, va_list arguments)
{
    char why[sizeof((takt_error *)0)->message];
    if (errors->count++ >= TKT_CONFIG_ERRORS_MAX)
        return;
    tkt_config_fault *fault = &errors->items[errors->count - 1];
    vsnprintf(why, sizeof why, format, arguments);
    tkt_error_at(&fault->error, TAKT_BAD_CONFIG, line, column, "%s:%u:%u: %s", text->name, line,
                 column, why);
    show_line(fault, text);
}

void tkt_config_errors_add_plain(tkt_config_errors *errors, const takt_error *error)
{
    if (errors->count++ < TKT_CONFIG_ERRORS_MAX)
        errors->items[errors->count - 1].error = *error;
}

takt_status tkt_config_unknown(takt_error *error, const char *what, const char *given,
                               const char *meant)
{
    char quoted[TKT_CONFIG_QUOTED];
    return tkt_error_set(error, TAKT_BAD_CONFIG, "%s %s%s%s%s", what,
                         tkt_config_quote(quoted, given), meant ? "; did you mean '" : "",
                         meant ? meant : "", meant ? "'?" : "");
}

void tkt_config_errors_cut(tkt_config_errors *errors, uint32_t line, uint32_t column)
{
    while (errors->count > 0 && errors->count <= TKT_CONFIG_ERRORS_MAX) {
        const takt_error *last = &errors->items[errors->count - 1].error;
        if (last->line < line || (last->line == line && last->column < column))
            return;
        errors->count--;
    }
}
