/* Buffered output, and writing without signals. */
#include "base/writer.h"

#include "base/alloc.h"
#include "base/own.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

/* ======== Writing ======== */

#define DEFAULT_CAPACITY ((size_t)256 << 10)

static void hand_over(tkt_writer *writer, const void *data, size_t size)
{
    if (writer->status != TAKT_OK || size == 0)
        return;
    TKT_PROGRAMS_WORK;
    writer->status = writer->sink.write(writer->sink.user, data, size);
    if (writer->status == TAKT_OK)
        writer->total += size;
}

takt_status tkt_writer_init(tkt_writer *writer, takt_sink sink, size_t capacity)
{
    *writer = (tkt_writer){.sink = sink, .capacity = capacity ? capacity : DEFAULT_CAPACITY};
    if (!sink.write)
        return writer->status = TAKT_BAD_ARGUMENT;
    writer->buffer = tkt_alloc(writer->capacity);
    if (!writer->buffer)
        writer->status = TAKT_NO_MEMORY;
    return writer->status;
}

takt_status tkt_writer_fini(tkt_writer *writer)
{
    tkt_writer_flush(writer);
    tkt_free(writer->buffer);
    writer->buffer = NULL;
    writer->capacity = 0;
    return writer->status;
}

void tkt_writer_flush(tkt_writer *writer)
{
    hand_over(writer, writer->buffer, writer->used);
    writer->used = 0;
}

void tkt_writer_put(tkt_writer *writer, const void *data, size_t size)
{
    if (size > writer->capacity - writer->used)
        tkt_writer_flush(writer);
    if (size > writer->capacity) {
        hand_over(writer, data, size);
        return;
    }
    if (size)
        memcpy(writer->buffer + writer->used, data, size);
    writer->used += size;
}

void tkt_writer_string(tkt_writer *writer, const char *text)
{
    tkt_writer_put(writer, text, strlen(text));
}

void tkt_writer_put_both(tkt_writer *writer, const void *first, size_t first_size,
                         const void *second, size_t second_size)
{
    size_t size = first_size + second_size;
    if (size > writer->capacity - writer->used)
        tkt_writer_flush(writer);
    if (size > writer->capacity) {
        char *larger = tkt_resize(writer->buffer, size);
        if (!larger) {
            writer->status = writer->status == TAKT_OK ? TAKT_NO_MEMORY : writer->status;
            return;
        }
        writer->buffer = larger;
        writer->capacity = size;
    }
    tkt_writer_put(writer, first, first_size);
    tkt_writer_put(writer, second, second_size);
}

/* Formats text that was too long for the rest of the buffer. */
static void format_again(tkt_writer *writer, size_t size, const char *format, va_list arguments)
{
    tkt_writer_flush(writer);
    if (size < writer->capacity) {
        vsnprintf(writer->buffer, writer->capacity, format, arguments);
        writer->used = size;
        return;
    }
    char *text = tkt_alloc(size + 1);
    if (text) {
        vsnprintf(text, size + 1, format, arguments);
        tkt_writer_put(writer, text, size);
        tkt_free(text);
    } else if (writer->status == TAKT_OK) {
        writer->status = TAKT_NO_MEMORY;
    }
}

void tkt_writer_format(tkt_writer *writer, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    size_t room = writer->capacity - writer->used;
    int length = vsnprintf(writer->buffer + writer->used, room, format, arguments);
    size_t size = length < 0 ? 0 : (size_t)length;
    if (size < room)
        writer->used += size;
    else
        format_again(writer, size, format, again);
    va_end(again);
    va_end(arguments);
}

/* ======== Signals ======== */

/* Blocking SIGPIPE alone only delays it. The kernel sends both signals to the thread that writes,
 * where they stay pending until the thread unblocks them. So Takt removes them first, unless they
 * were pending before: then they are the host's. */

static const int signals[] = {SIGPIPE, SIGXFSZ};

#define SIGNAL_COUNT (sizeof signals / sizeof *signals)

void tkt_quiet_begin(tkt_quiet *quiet)
{
    sigset_t pending, both;
    sigemptyset(&both);
    sigemptyset(&quiet->raised);
    sigpending(&pending);
    for (size_t i = 0; i < SIGNAL_COUNT; i++) {
        sigaddset(&both, signals[i]);
        if (!sigismember(&pending, signals[i]))
            sigaddset(&quiet->raised, signals[i]);
    }
    pthread_sigmask(SIG_BLOCK, &both, &quiet->mask);
}

void tkt_quiet_end(const tkt_quiet *quiet, bool has_failed)
{
    static const struct timespec at_once = {0, 0};
    int number = errno;
    while (has_failed && (sigtimedwait(&quiet->raised, NULL, &at_once) >= 0 || errno == EINTR))
        continue;
    pthread_sigmask(SIG_SETMASK, &quiet->mask, NULL);
    errno = number;
}
