/* Reading files piece by piece, packed or not. */
#include "base/file.h"

#include "base/alloc.h"
#include "base/error.h"

#include <string.h>
#include <unistd.h>

/* ======== Reading ======== */

/* Files are read piece by piece, and not mapped: if somebody truncates a mapped file, SIGBUS kills
 * the process that reads it.
 *
 * zlib unpacks packed files as they are read. Nothing is trusted: a megabyte of zeros packs into a
 * kilobyte, so the unpacked size is limited in proportion to the packed size. Several members in a
 * row are accepted, as in gzip. Bytes unpacked before the data ended or became invalid are kept,
 * because the trace of a program that died is still worth reading. */

#ifndef TAKT_NO_ZLIB
#include <zlib.h>
#endif

#define STEP_BYTES  ((size_t)256 << 10)
#define GZIP_WINDOW (15 + 16) /* a 32 KiB window, with gzip's header and trailer */

/* ---- Windows --------------------------------------------------------------------------------- */

static size_t left(const tkt_input_window *window)
{
    return (size_t)(window->end - window->at);
}

static bool stop(tkt_input *input, takt_status status)
{
    input->is_over = true;
    input->status = status;
    if (status == TAKT_NO_MEMORY)
        tkt_error_set(input->error, status, "%s: %s", input->name, takt_status_text(status));
    return false;
}

/* Makes room after the unread bytes; if there is none, moves them to the front of the buffer. The
 * buffer grows with the bytes received, not with the size requested: a packet may announce many
 * bytes that never come. */
static bool make_room(tkt_input *input, tkt_input_window *window)
{
    if (window->capacity && window->end < window->buffer + window->capacity)
        return true;
    size_t kept = left(window);
    size_t capacity = window->capacity ? window->capacity : input->step;
    if (kept)
        memmove(window->buffer, window->at, kept);
    if (kept > capacity / 2)
        capacity *= 2;
    if (capacity > window->capacity) {
        uint8_t *buffer = tkt_resize(window->buffer, capacity);
        if (!buffer)
            return stop(input, TAKT_NO_MEMORY);
        window->buffer = buffer;
        window->capacity = capacity;
    }
    window->at = window->buffer;
    window->end = window->buffer + kept;
    return true;
}

static size_t room_of(const tkt_input *input, const tkt_input_window *window)
{
    size_t room = (size_t)(window->buffer + window->capacity - window->end);
    return room < input->step ? room : input->step;
}

/* Reads a step into a window. Returns the number of bytes; 0 at the end, and after a failure. */
static size_t read_some(tkt_input *input, tkt_input_window *window)
{
    if (input->fd < 0 || !make_room(input, window))
        return 0;
    uint8_t *into = window->buffer + (window->end - window->buffer);
    size_t count = 0;
    takt_status status = tkt_file_read_some(input->fd, input->name, into, room_of(input, window),
                                            &count, input->error);
    if (status != TAKT_OK)
        stop(input, status);
    window->end += count;
    return count;
}

static bool read_plain(tkt_input *input)
{
    size_t count = read_some(input, &input->window);
    input->end_offset += count;
    return count > 0;
}

/* ---- Unpacking ------------------------------------------------------------------------------- */

static bool begins_member(const tkt_input_window *window)
{
    return left(window) >= 2 && window->at[0] == 0x1F && window->at[1] == 0x8B;
}

#ifdef TAKT_NO_ZLIB

static bool start_unpacking(tkt_input *input)
{
    tkt_error_set(input->error, TAKT_UNSUPPORTED,
                  "%s: packed with gzip, but this build of Takt has no zlib: unpack it with gunzip",
                  input->name);
    return stop(input, TAKT_UNSUPPORTED);
}

static bool unpack_some(tkt_input *input)
{
    (void)input;
    return false;
}

static void end_unpacking(tkt_input *input)
{
    (void)input;
}

#else

static bool start_unpacking(tkt_input *input)
{
    z_stream *stream = tkt_alloc_zeroed(sizeof *stream);
    if (!stream)
        return stop(input, TAKT_NO_MEMORY);
    stream->zalloc = tkt_zlib_alloc;
    stream->zfree = tkt_zlib_free;
    if (inflateInit2(stream, GZIP_WINDOW) != Z_OK) {
        tkt_free(stream);
        return stop(input, TAKT_NO_MEMORY);
    }
    input->packed = input->window;
    input->window = (tkt_input_window){0};
    input->end_offset = 0;
    input->unpacking = stream;
    return true;
}

/* Calls inflate once and updates the counts. Returns zlib's result. */
static int inflate_some(tkt_input *input)
{
    tkt_input_window *from = &input->packed;
    tkt_input_window *into = &input->window;
    z_stream *stream = input->unpacking;
    size_t size = left(from) < input->step ? left(from) : input->step;
    stream->next_in = (unsigned char *)(uintptr_t)from->at;
    stream->avail_in = (unsigned)size;
    stream->next_out = into->buffer + (into->end - into->buffer);
    stream->avail_out = (unsigned)room_of(input, into);
    int result = inflate(stream, Z_NO_FLUSH);
    input->packed_bytes += size - stream->avail_in;
    input->end_offset += (uint64_t)(stream->next_out - into->end);
    from->at = stream->next_in;
    into->end = stream->next_out;
    return result;
}

static bool refuse(tkt_input *input)
{
    tkt_error_set(input->error, TAKT_BAD_TRACE,
                  "%s: not a trace: it unpacks to more than %d times its size", input->name,
                  TKT_UNPACKED_RATIO);
    return stop(input, TAKT_BAD_TRACE);
}

/* Begins the next member; false if there is none. Ignores bytes after the last member, as gzip
 * does. */
static bool next_member(tkt_input *input)
{
    while (left(&input->packed) < 2 && read_some(input, &input->packed) > 0)
        ;
    return input->status == TAKT_OK && begins_member(&input->packed) &&
           inflateReset(input->unpacking) == Z_OK;
}

/* Unpacks a step. False when nothing comes after it. If the data end too early, zlib reports that
 * it cannot go on (Z_BUF_ERROR). */
static bool unpack_some(tkt_input *input)
{
    if (!make_room(input, &input->window))
        return false;
    if (left(&input->packed) == 0)
        read_some(input, &input->packed);
    if (input->status != TAKT_OK)
        return false;
    int result = inflate_some(input);
    if (tkt_is_bomb(input->packed_bytes, input->end_offset))
        return refuse(input);
    if (result == Z_OK)
        return true;
    if (result == Z_STREAM_END)
        return next_member(input);
    if (result == Z_MEM_ERROR)
        return stop(input, TAKT_NO_MEMORY);
    if (result == Z_DATA_ERROR)
        tkt_log(TAKT_LOG_WARNING, "%s: damaged at byte %llu; the rest is not read", input->name,
                (unsigned long long)input->packed_bytes);
    input->is_cut = true;
    return false;
}

static void end_unpacking(tkt_input *input)
{
    if (input->unpacking)
        inflateEnd(input->unpacking);
    tkt_free(input->unpacking);
}

#endif

/* ---- Public functions ------------------------------------------------------------------------ */

static takt_status start(tkt_input *input)
{
    tkt_input_need(input, 2);
    input->is_packed = begins_member(&input->window);
    if (input->is_packed) {
        input->is_over = false;
        start_unpacking(input);
    }
    takt_status status = input->status;
    if (status != TAKT_OK)
        tkt_input_close(input);
    return status;
}

takt_status tkt_input_open(tkt_input *input, const char *path, takt_error *error)
{
    *input = (tkt_input){.step = STEP_BYTES, .name = path, .error = error, .fd = -1};
    takt_status status = tkt_file_open(path, &input->fd, error);
    return status == TAKT_OK ? start(input) : status;
}

takt_status tkt_input_borrow(tkt_input *input, const uint8_t *bytes, size_t size, const char *name,
                             takt_error *error)
{
    *input = (tkt_input){.window = {bytes, size ? bytes + size : bytes, NULL, 0},
                         .end_offset = size,
                         .step = STEP_BYTES,
                         .name = name,
                         .error = error,
                         .fd = -1};
    return start(input);
}

void tkt_input_close(tkt_input *input)
{
    end_unpacking(input);
    tkt_free(input->packed.buffer);
    tkt_free(input->window.buffer);
    if (input->fd >= 0)
        close(input->fd);
    input->fd = -1;
}

bool tkt_input_fill(tkt_input *input, size_t size)
{
    while (left(&input->window) < size && !input->is_over)
        input->is_over = !(input->unpacking ? unpack_some(input) : read_plain(input));
    return left(&input->window) >= size;
}

uint64_t tkt_input_drain(tkt_input *input, bool *is_zero)
{
    uint64_t count = 0;
    *is_zero = true;
    while (tkt_input_need(input, 1)) {
        count += left(&input->window);
        while (input->window.at < input->window.end)
            *is_zero &= *input->window.at++ == 0;
    }
    return count;
}
