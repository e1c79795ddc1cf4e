/* Recognises whose file it is. */
#include "import/import.h"

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "import/json.h"
#include "import/nsys.h"
#include "trace/read.h"

#include <string.h>

static bool begins_with(tkt_input *input, const char *head)
{
    size_t size = strlen(head);
    return tkt_input_need(input, size) && memcmp(input->window.at, head, size) == 0;
}

/* JSON may begin with white space, or with the mark of UTF-8. */
static bool is_json(tkt_input *input)
{
    tkt_input_need(input, 64);
    const uint8_t *at = input->window.at;
    if (begins_with(input, "\xEF\xBB\xBF"))
        at += 3;
    at = imp_skip_space(at, input->window.end);
    return at < input->window.end && (*at == '{' || *at == '[');
}

static takt_status read_json(tkt_input *input, const char *path, takt_trace **out,
                             takt_error *error)
{
    tkt_input again;
    bool is_takt = false;
    takt_status status = imp_json_read(input, &is_takt, out);
    if (status != TAKT_OK || !is_takt)
        return status;
    status = tkt_input_open(&again, path, error);
    if (status != TAKT_OK)
        return status;
    status = imp_json_read(&again, &is_takt, out);
    tkt_input_close(&again);
    return status;
}

/* What else files are packed with; of these, Takt unpacks none. */
static bool is_packed(tkt_input *input)
{
    static const char *const heads[] = {"\xFD\067zXZ", "\x28\xB5\x2F\xFD", "BZh", "PK\003\004",
                                        "7z\xBC\xAF"};
    bool is = false;
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        is |= begins_with(input, heads[i]);
    return is;
}

static takt_status read_input(tkt_input *input, const char *path, const char *host_devices,
                              takt_trace **out, takt_error *error)
{
    if (is_json(input))
        return read_json(input, path, out, error);
    if (begins_with(input, "\xFF\xFE") || begins_with(input, "\xFE\xFF"))
        return tkt_error_set(error, TAKT_BAD_TRACE,
                             "%s: text in UTF-16: save it as UTF-8, which JSON is in", path);
    if (is_packed(input))
        return tkt_error_set(error, TAKT_BAD_TRACE,
                             "%s: packed, and not with gzip: unpack it first", path);
    size_t size = strlen(path);
    if (begins_with(input, "TAKTSAFE") || tkt_has_ending(path, size, ".crash"))
        return tkt_error_set(
            error, TAKT_BAD_TRACE,
            "%s: the file of a crash-safe recording: takt recover makes a trace of it", path);
    if (tkt_has_ending(path, size, ".nsys-rep") || tkt_has_ending(path, size, ".qdrep"))
        return tkt_error_set(error, TAKT_BAD_TRACE,
                             "%s: only Nsight Systems itself reads this: nsys export --type sqlite "
                             "makes a file for Takt of it",
                             path);
    return tkt_trace_read_input(input, host_devices, out);
}

takt_status imp_open(const char *path, const char *host_devices, takt_trace **out,
                     takt_error *error)
{
    tkt_input input;
    takt_status status = tkt_input_open(&input, path, error);
    if (status != TAKT_OK)
        return status;
    bool is_database = begins_with(&input, "SQLite format 3");
    if (is_database && input.is_packed)
        status = tkt_error_set(error, TAKT_BAD_TRACE,
                               "%s: an SQLite file packed with gzip: unpack it first", path);
    else if (!is_database)
        status = read_input(&input, path, host_devices, out, error);
    tkt_input_close(&input);
    return is_database && status == TAKT_OK ? imp_nsys_read(path, out, error) : status;
}
