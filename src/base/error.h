/* Failures in words, log lines, and structs of callers that were compiled with older or newer
 * headers. */
#ifndef TKT_BASE_ERROR_H
#define TKT_BASE_ERROR_H

#include <takt/base.h>

#include <stdarg.h>
#include <stddef.h>

/* ======== Failures and growing structs ======== */

/* Errors with a place and a reason, log lines, and structs of callers that were compiled with older
 * or newer headers. */

#define TKT_PRINTF(text, arguments) __attribute__((format(printf, text, arguments)))

/* Fills *error, which may be NULL, and returns `status`. The message is cut to fit, at a character,
 * and control characters in it become '?'. */
takt_status tkt_error_set(takt_error *error, takt_status status, const char *format, ...)
    TKT_PRINTF(3, 4);

/* The same with a place in a text. */
takt_status tkt_error_at(takt_error *error, takt_status status, uint32_t line, uint32_t column,
                         const char *format, ...) TKT_PRINTF(5, 6);

/* Says one line to the log hook, see takt_set_log(). */
void tkt_log(takt_log_level level, const char *format, ...) TKT_PRINTF(2, 3);

/* Reads a caller's option struct of `given` bytes into ours of `size`: a shorter one is padded with
 * zeros, a longer one is accepted while the bytes that we do not know are zero. `from` NULL means all
 * zero. The first member of such a struct is its size_t struct_size, which ours gets as `size`.
 * TAKT_BAD_ARGUMENT otherwise, and for a size that cannot be, such as 0; *into stays as it was. */
takt_status tkt_options_import(void *into, size_t size, const void *from);

/* The same for options that start from `init`, the name of their macro; failures are logged. */
takt_status tkt_options_read(void *into, size_t size, const void *from, const char *init);

/* Copies our struct of `size` bytes to a caller's of `out_size`: as much as fits, and zeros behind
 * it. Returns TAKT_OK. */
takt_status tkt_fill(void *out, size_t out_size, const void *own, size_t size);

/* ======== One line ======== */

/* One line of text from a format and foreign strings. */

/* Formats into `out` of `capacity` bytes, cut at a character, with control characters and bytes
 * that are no UTF-8 made harmless. Returns the length. */
size_t tkt_line_format(char *out, size_t capacity, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));

#endif
