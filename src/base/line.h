/* One line of text from a format and foreign strings. */
#ifndef TKT_BASE_LINE_H
#define TKT_BASE_LINE_H

#include <stdarg.h>
#include <stddef.h>

/* Formats into `out` of `capacity` bytes, cut at a character, with control characters and bytes
 * that are no UTF-8 made harmless. Returns the length. */
size_t tkt_line_format(char *out, size_t capacity, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));

#endif
