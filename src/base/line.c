/* Messages carry file names, keys and kernel names, that is, anything. */
#include "base/line.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

#define LONGEST_LINE 1024

/* Where vsnprintf cut in the middle of a character, its beginning goes too. */
static size_t without_cut_character(const char *text, size_t size)
{
    size_t begin = size;
    while (begin > 0 && size - begin < 3 && (text[begin - 1] & 0xC0) == 0x80)
        begin--;
    if (begin == 0 || (text[begin - 1] & 0xC0) != 0xC0)
        return size;
    begin--;
    return tkt_utf8_length(text + begin, size - begin) == size - begin ? size : begin;
}

size_t tkt_line_format(char *out, size_t capacity, const char *format, va_list arguments)
{
    char raw[LONGEST_LINE];
    int length = vsnprintf(raw, sizeof raw, format, arguments);
    size_t size = length < 0 ? 0 : (size_t)length;
    if (size >= sizeof raw)
        size = without_cut_character(raw, sizeof raw - 1);
    return tkt_printable(out, capacity, raw, size);
}
