/* Texts for failures, and structs that grow while programs stay as they are: takt/base.h. */
#include "base/error.h"

#include "base/line.h"

#include <stdarg.h>
#include <string.h>

/* No option struct of ours is near this size; a larger one is memory that was never initialised. */
#define LARGEST_OPTIONS ((size_t)64 << 10)

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
    return TAKT_VERSION;
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

takt_status tkt_options_read(void *into, size_t size, const void *from, const char *init)
{
    size_t given = size;
    if (from)
        memcpy(&given, from, sizeof given);
    takt_status status = tkt_options_import(into, size, from);
    if (status == TAKT_OK)
        return status;
    if (given < sizeof given || given > LARGEST_OPTIONS)
        tkt_log(TAKT_LOG_ERROR, "options of %zu bytes are none: start from %s", given, init);
    else
        tkt_log(TAKT_LOG_ERROR,
                "options from the %s of newer headers ask for what this library, %s, does not "
                "have: leave it out, or update libtakt",
                init, takt_version());
    return status;
}

void takt_options_init(void *options, size_t size)
{
    memset(options, 0, size);
    memcpy(options, &size, size < sizeof size ? size : sizeof size);
}

takt_status tkt_fill(void *out, size_t out_size, const void *own, size_t size)
{
    size_t common = size < out_size ? size : out_size;
    memcpy(out, own, common);
    memset((char *)out + common, 0, out_size - common);
    return TAKT_OK;
}
