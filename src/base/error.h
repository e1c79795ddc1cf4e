/* Errors with a place and a reason, log lines, and option structs of callers that were compiled
 * with older or newer headers. */
#ifndef TKT_BASE_ERROR_H
#define TKT_BASE_ERROR_H

#include <takt/base.h>

#include <stdarg.h>
#include <stddef.h>

/* ======== Errors and growing structs ======== */
#define TKT_PRINTF(text, arguments) __attribute__((format(printf, text, arguments)))

/* Fills *error, which may be NULL, and returns `status`. Cuts the message to fit, between
 * characters, and replaces control characters by '?'. */
takt_status tkt_error_set(takt_error *error, takt_status status, const char *format, ...)
    TKT_PRINTF(3, 4);

/* The same with a line and column of a text. */
takt_status tkt_error_at(takt_error *error, takt_status status, uint32_t line, uint32_t column,
                         const char *format, ...) TKT_PRINTF(5, 6);

/* Passes one line to the log hook, see takt_set_log(). */
void tkt_log(takt_log_level level, const char *format, ...) TKT_PRINTF(2, 3);

/* The same for a line that the user has asked for: without a hook it goes to standard error unless
 * TAKT_LOG is off. A hook gets it as TAKT_LOG_INFO. */
void tkt_tell(const char *format, ...) TKT_PRINTF(1, 2);

/* Call this once the process uses Takt, or has told why its options ask for nothing. Otherwise it
 * logs at its end that TAKT_OPTIONS or TAKT_CONFIG is set and nothing was profiled. */
void tkt_options_heeded(void);

/* Reads a caller's option struct into ours of `size` bytes. The first member of such a struct is
 * its size_t struct_size; ours becomes `size`. A shorter struct is padded with zeros; a longer one
 * is accepted if the bytes that we do not know are zero. `from` NULL means all zero. Otherwise, and
 * for an impossible size such as 0, returns TAKT_BAD_ARGUMENT and leaves *into alone. */
takt_status tkt_options_import(void *into, size_t size, const void *from);

/* The same for options that the macro named `init` initialises; logs failures. */
takt_status tkt_options_read(void *into, size_t size, const void *from, const char *init);

/* Copies our struct of `size` bytes to a caller's of `out_size` bytes: as much as fits, then zeros.
 * Returns TAKT_OK. */
takt_status tkt_fill(void *out, size_t out_size, const void *own, size_t size);

/* ======== One line ======== */

/* One line of text from a format and untrusted strings. */

/* Formats into `out` of `capacity` bytes, without the middle of a longer text, cut between
 * characters, with control characters and invalid UTF-8 made harmless. Returns the length. */
size_t tkt_line_format(char *out, size_t capacity, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));

#endif
