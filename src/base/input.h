/* The bytes of a file, or of memory, through a window that moves over them; unpacked where they are
 * packed with gzip. Memory is bounded by the largest piece that somebody needs in one place, not by
 * the file. A file that is cut while it is read ends there. */
#ifndef TKT_BASE_INPUT_H
#define TKT_BASE_INPUT_H

#include <takt/base.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that are there to be read; borrowed memory while `capacity` is 0. */
typedef struct tkt_input_window {
    const uint8_t *at;
    const uint8_t *end;
    uint8_t       *buffer;
    size_t         capacity;
} tkt_input_window;

typedef struct tkt_input {
    tkt_input_window  window;
    uint64_t    end_offset; /* of the window's end in the (unpacked) bytes */
    size_t      step;       /* bytes that are read or unpacked at a time; tests make it small */
    bool        is_packed;
    bool        is_cut;     /* packed data that ends too early or is damaged */
    takt_status status;     /* why there is no more, TAKT_OK at the end */
    const char *name;       /* for messages; borrowed */
    takt_error *error;      /* may be NULL */
    bool        is_over;    /* nothing comes after the window */
    int         fd;         /* -1: none */
    tkt_input_window  packed;     /* of the file's own bytes, if they are packed */
    uint64_t    packed_bytes; /* that have been unpacked */
    struct z_stream_s *unpacking;
} tkt_input;

/* Opens a file. What is not a regular one is refused: a pipe would be waited for until somebody
 * writes into it. After a failure there is nothing to close. */
takt_status tkt_input_open(tkt_input *input, const char *path, takt_error *error);

/* The same for bytes in memory, which stay the caller's. */
takt_status tkt_input_borrow(tkt_input *input, const uint8_t *bytes, size_t size, const char *name,
                             takt_error *error);

void tkt_input_close(tkt_input *input);

/* Makes the window `size` bytes long if there are so many; false if not, with a status where that
 * is not because of the end. What was in the window may have moved. */
bool tkt_input_fill(tkt_input *input, size_t size);

static inline size_t tkt_input_left(const tkt_input *input)
{
    return (size_t)(input->window.end - input->window.at);
}

static inline bool tkt_input_need(tkt_input *input, size_t size)
{
    return __builtin_expect(tkt_input_left(input) >= size, 1) || tkt_input_fill(input, size);
}

/* Reads to the end; returns how many bytes there were, and whether all of them are zero. */
uint64_t tkt_input_drain(tkt_input *input, bool *is_zero);

/* The offset of a place in the window. */
static inline uint64_t tkt_input_offset(const tkt_input *input, const uint8_t *at)
{
    return input->end_offset - (uint64_t)(input->window.end - at);
}

#endif
