/* takt/base.h - what every other header of Takt needs: version, status codes, errors, and the
 * hooks through which a host program supplies memory, takes log lines and receives bytes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TAKT_BASE_H
#define TAKT_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if !defined(__linux__) || !(defined(__x86_64__) || defined(__aarch64__))
#error "Takt runs on Linux, on x86-64 and aarch64"
#endif
#if !defined(__GNUC__) && !defined(__clang__)
#error "Takt needs gcc 9 or clang 10, or later"
#endif

#define TAKT_VERSION_MAJOR 0
#define TAKT_VERSION_MINOR 1
#define TAKT_VERSION_PATCH 0

/* The number in libtakt.so.0, the soname. A release that breaks programs raises it; other releases
 * only add. So a program runs with the library that it was compiled for, and with later ones of the
 * same number. Each symbol carries the release that brought it (TAKT_0.1): where a program calls a
 * function that an older library lacks, the loader says so and does not start it. */
#define TAKT_ABI 0

#define TAKT_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/* Every status with its text; the enum and takt_status_text() are made from this one list. */
#define TAKT_STATUS_LIST(X)                                                                        \
    X(TAKT_OK, "ok")                                                                               \
    X(TAKT_BAD_ARGUMENT, "an argument is not valid")                                               \
    X(TAKT_BAD_STATE, "the call does not fit the object's state")                                  \
    X(TAKT_NO_MEMORY, "out of memory")                                                             \
    X(TAKT_IO_ERROR, "reading or writing failed")                                                  \
    X(TAKT_BAD_CONFIG, "the configuration is not valid")                                           \
    X(TAKT_BAD_TRACE, "the file is not a trace that Takt can read")                                \
    X(TAKT_NOT_FOUND, "there is nothing of that name")                                             \
    X(TAKT_NO_SPANS, "the trace holds no spans, only a summary")                                   \
    X(TAKT_UNSUPPORTED, "not supported here")                                                      \
    X(TAKT_NOT_READY, "not done yet")

typedef enum takt_status {
#define TAKT_STATUS_ENUM(code, text) code,
    TAKT_STATUS_LIST(TAKT_STATUS_ENUM)
#undef TAKT_STATUS_ENUM
    TAKT_STATUS_COUNT
} takt_status;

/* A short English text for a status; never NULL, static. Any thread. */
TAKT_API const char *takt_status_text(takt_status status);

/* "0.1.0": the version of the library that runs. The headers' is TAKT_VERSION: where strcmp() finds
 * a difference, the program was compiled for another release. Static. Any thread. */
TAKT_API const char *takt_version(void);
#define TAKT_VERSION TAKT_DOTTED(TAKT_VERSION_MAJOR, TAKT_VERSION_MINOR, TAKT_VERSION_PATCH)
#define TAKT_DOTTED(major, minor, patch)  TAKT_DOTTED_(major, minor, patch)
#define TAKT_DOTTED_(major, minor, patch) #major "." #minor "." #patch

/* ---- Structs ---------------------------------------------------------------------------------
 *
 * A later release may add fields at the end of a struct. Programs need not be compiled again:
 *
 * - Options begin with struct_size. Start from TAKT_..._OPTIONS_INIT, which sets it; 0 is refused.
 *   The library reads fields that an older program lacks as 0. It accepts fields that a newer
 *   program has while they are 0; otherwise the call fails with TAKT_BAD_ARGUMENT, and the log says
 *   why.
 * - Functions that fill a struct of the caller's are TAKT_SIZED: they are inline and pass the
 *   program's sizeof. The library writes no more than that, and zeroes fields that it does not have.
 * - Structs that the library lends by pointer, such as takt_facts, may be longer than the program
 *   knows. An older library's are shorter: read a new field only if takt_version() has it.
 * - A struct whose comment says "Frozen" never changes. Only such structs are part of others, stand
 *   in arrays, or are returned by the library. */

/* Clears the `size` bytes of an options struct and writes `size` in front, as the INIT macros do:
 * for other languages. Any thread. */
TAKT_API void takt_options_init(void *options, size_t size);

/* Where a failure was found and why, for files that people write. The caller provides it and may
 * pass NULL instead. It is written on failure only. Frozen. */
typedef struct takt_error {
    takt_status status;
    uint32_t    line;         /* 1-based; 0 where the failure has no place in a text */
    uint32_t    column;       /* 1-based, in characters */
    char        message[240]; /* one line without a newline: "profile.yaml:3:5: unknown key ..." */
} takt_error;

/* The host's memory. `resize` works as realloc does: pointer NULL allocates, size 0 frees and
 * returns NULL; it returns NULL when there is no memory. It may be called from any thread and must
 * return memory aligned for any type. It may be instrumented: what it records while it works for
 * Takt is ignored, scopes and reported allocations alike. It must not call other parts of Takt.
 * What a thread needs in the middle of recording an event is mapped by the operating system instead,
 * because the event may be a signal handler's. Frozen. */
typedef struct takt_allocator {
    void *(*resize)(void *user, void *pointer, size_t size);
    void *user;
} takt_allocator;

/* Uses `allocator` for every allocation of the library from now on; NULL restores the C library's.
 * Call it before any other function of Takt: TAKT_BAD_STATE once the library has allocated. */
TAKT_API takt_status takt_set_allocator(const takt_allocator *allocator);

typedef enum takt_log_level {
    TAKT_LOG_ERROR,   /* something asked for is lost */
    TAKT_LOG_WARNING, /* something is not as it was probably meant */
    TAKT_LOG_INFO     /* stages and saved files */
} takt_log_level;

/* Takes one line without newline. Runs on the thread that has something to say, never with a lock
 * of Takt's held; it may call Takt. */
typedef void (*takt_log_function)(takt_log_level level, const char *line, void *user);

/* Sends log lines to `function` and no longer to standard error; NULL restores the default, which
 * prints errors and warnings as "takt: ..." and, with TAKT_LOG=info in the environment, stages too;
 * TAKT_LOG=off silences it. Any thread. */
TAKT_API void takt_set_log(takt_log_function function, void *user);

/* Takes bytes. `write` returns TAKT_OK when it has taken all of them, otherwise the status that the
 * caller of the report or exporter gets; it is not called again after a failure. Frozen. */
typedef struct takt_sink {
    takt_status (*write)(void *user, const void *data, size_t size);
    void *user;
} takt_sink;

/* A sink that writes to a file descriptor, which stays the caller's. Any thread. */
TAKT_API takt_sink takt_sink_fd(int fd);

/* The clock of all of Takt's times: nanoseconds of CLOCK_MONOTONIC's time line, read from the
 * processor's invariant time-stamp counter where there is one. Any thread. */
TAKT_API uint64_t takt_now_ns(void);

#ifdef __cplusplus
}
#endif

/* ---- What the rules for structs are made of -------------------------------------------------- */

#define TAKT_SIZED static inline

/* What programs compile has no cast that C++ calls old. */
#ifdef __cplusplus
#define TAKT_CAST(type, value) static_cast<type>(value)
#else
#define TAKT_CAST(type, value) ((type)(value))
#endif

/* Defines a function that was declared with TAKT_SIZED, around the library's, NAME_v1. */
#define TAKT_PASS_SIZE(name, out_type, parameters, ...)                                            \
    TAKT_API takt_status name##_v1(TAKT_EACH parameters, out_type *out, size_t size);              \
    TAKT_SIZED takt_status name(TAKT_EACH parameters, out_type *out)                               \
    {                                                                                              \
        return name##_v1(__VA_ARGS__, out, sizeof *out);                                           \
    }
#define TAKT_EACH(...) __VA_ARGS__

/* Options that ask for nothing yet. The function is static because parts of one program may have
 * been compiled with headers of different releases. */
#ifdef __cplusplus
extern "C++" {
template <typename Options> static inline Options takt_options_of()
{
    Options options;
    takt_options_init(&options, sizeof options);
    return options;
}
}
#define TAKT_OPTIONS_INIT(type) takt_options_of<type>()
#else
#define TAKT_OPTIONS_INIT(type) ((type){.struct_size = sizeof(type)})
#endif
#endif
