/* Texts for failures, and option structs that age. */
#include "base/error.h"

#include "base/line.h"

#include <stdarg.h>
#include <string.h>

/* No option struct of ours is near this size; a larger one is memory that was never initialised. */
#define LARGEST_OPTIONS ((size_t)64 << 10)

#define TEXT_OF(number)  TEXT_OF_(number)
#define TEXT_OF_(number) #number

const char *takt_status_text(takt_status status)
{
    static const char *const texts[] = {
#define STATUS_TEXT(code, text) [code] = text,
        TAKT_STATUS_LIST(STATUS_TEXT)
#undef STATUS_TEXT
    };
    return (unsigned)status < TAKT_STATUS_COUNT ? texts[status] : "unknown status";
}

const char *takt_version(void)
{
    return TEXT_OF(TAKT_VERSION_MAJOR) "." TEXT_OF(TAKT_VERSION_MINOR) "." TEXT_OF(
        TAKT_VERSION_PATCH);
}

takt_status tkt_error_set(takt_error *error, takt_status status, const char *format, ...)
{
    if (!error)
        return status;
    *error = (takt_error){.status = status};
    va_list arguments;
    va_start(arguments, format);
    tkt_line_format(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return status;
}

takt_status tkt_error_at(takt_error *error, takt_status status, uint32_t line, uint32_t column,
                         const char *format, ...)
{
    if (!error)
        return status;
    *error = (takt_error){.status = status, .line = line, .column = column};
    va_list arguments;
    va_start(arguments, format);
    tkt_line_format(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return status;
}

static bool is_zero(const unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (bytes[i])
            return false;
    }
    return true;
}

takt_status tkt_options_import(void *into, size_t size, const void *from)
{
    size_t given = size;
    if (from)
        memcpy(&given, from, sizeof given);
    if (given == 0)
        given = size;
    if (given < sizeof given || given > LARGEST_OPTIONS)
        return TAKT_BAD_ARGUMENT;
    if (given > size && !is_zero((const unsigned char *)from + size, given - size))
        return TAKT_BAD_ARGUMENT;
    memset(into, 0, size);
    if (from)
        memcpy(into, from, given < size ? given : size);
    memcpy(into, &size, sizeof size);
    return TAKT_OK;
}
