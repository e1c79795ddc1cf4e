/* Buffered output to a sink. A format reserves room, writes with plain stores and commits. The
 * writer keeps the status of the first failed write, and discards everything after it. */
#ifndef TKT_BASE_WRITER_H
#define TKT_BASE_WRITER_H

#include <takt/base.h>

#include <signal.h>
#include <stdbool.h>
#include <string.h>

typedef struct tkt_writer {
    char       *buffer;
    size_t      used;
    size_t      capacity;
    uint64_t    total; /* bytes handed to the sink so far */
    takt_sink   sink;
    takt_status status;
} tkt_writer;

/* `capacity` 0: 256 KiB. */
takt_status tkt_writer_init(tkt_writer *writer, takt_sink sink, size_t capacity);

/* Flushes and frees; returns the first failure. */
takt_status tkt_writer_fini(tkt_writer *writer);

void tkt_writer_flush(tkt_writer *writer);

/* Returns room for `size` bytes, at most half of the capacity; never NULL. */
static inline char *tkt_writer_reserve(tkt_writer *writer, size_t size)
{
    if (__builtin_expect(writer->capacity - writer->used < size, 0))
        tkt_writer_flush(writer);
    return writer->buffer + writer->used;
}

/* Commits everything up to `end`, which lies in the reserved room. */
static inline void tkt_writer_commit(tkt_writer *writer, const char *end)
{
    writer->used = (size_t)(end - writer->buffer);
}

/* Writes any number of bytes. */
void tkt_writer_put(tkt_writer *writer, const void *data, size_t size);

/* Writes two pieces that the sink gets together. */
void tkt_writer_put_both(tkt_writer *writer, const void *first, size_t first_size,
                         const void *second, size_t second_size);

/* Writes a string. Compilers know the length of a constant; where code is compiled for size, a
 * function measures it all the same. */
void tkt_writer_string(tkt_writer *writer, const char *text);
#ifdef __OPTIMIZE_SIZE__
#define tkt_writer_text tkt_writer_string
#else
static inline void tkt_writer_text(tkt_writer *writer, const char *text)
{
    tkt_writer_put(writer, text, strlen(text));
}
#endif

void tkt_writer_format(tkt_writer *writer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A sink that compresses with gzip into another sink. Levels are zlib's, 1 (fast) to 9 (small); any
 * other number means 1. */
typedef struct tkt_gzip tkt_gzip;
takt_status tkt_gzip_create(takt_sink into, int level, tkt_gzip **out, takt_sink *sink);
takt_status tkt_gzip_finish(tkt_gzip *gzip); /* writes the end and frees; ignores NULL */

/* Packs blocks of memory, each by itself, in zlib's format (RFC 1950): what Perfetto calls
 * compressed packets. TAKT_UNSUPPORTED in a build without zlib. */
typedef struct tkt_packer tkt_packer;
takt_status tkt_packer_create(tkt_packer **out);
void tkt_packer_destroy(tkt_packer *packer); /* ignores NULL */

/* Returns the packed block, valid until the next call; NULL without memory. */
const void *tkt_packer_run(tkt_packer *packer, const void *data, size_t size, size_t *packed);

/* ======== Signals ======== */

/* Between begin and end, a write of this thread to a closed pipe or beyond `ulimit -f` fails with
 * EPIPE or EFBIG, and raises neither SIGPIPE nor SIGXFSZ. Otherwise a host without handlers for
 * them would die inside Takt. The host's handlers and masks stay as they are. A pair costs three
 * system calls, so use one for a whole buffer. */
typedef struct tkt_quiet {
    sigset_t mask;   /* the thread's mask before */
    sigset_t raised; /* those of the two signals that were not pending before */
} tkt_quiet;

void tkt_quiet_begin(tkt_quiet *quiet);

/* `has_failed`: a write has failed, so it may have raised a signal. Keeps errno. */
void tkt_quiet_end(const tkt_quiet *quiet, bool has_failed);

#endif
