/* Messages carry file names, keys and kernel names, that is, anything. */
#include "base/line.h"

#include "base/text.h"

#include <stdio.h>

/* More than any caller's room, so that what vsnprintf cuts in the middle of a character is cut once
 * more, between characters. */
#define LONGEST_LINE 1280

size_t tkt_line_format(char *out, size_t capacity, const char *format, va_list arguments)
{
    char raw[LONGEST_LINE];
    int length = vsnprintf(raw, sizeof raw, format, arguments);
    size_t size = length < 0 ? 0 : (size_t)length;
    if (size >= sizeof raw)
        size = sizeof raw - 1;
    return tkt_printable(out, capacity, raw, size);
}
