/* takt/base.h - basics for every other Takt header: version, status codes and errors. A host
 * program can also set hooks here to supply memory, receive log lines and receive bytes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TAKT_BASE_H
#define TAKT_BASE_H

#if !defined(__linux__) || !(defined(__x86_64__) || defined(__aarch64__)) || defined(__ILP32__)
#error "Takt runs on Linux, on x86-64 and aarch64, with 64 bits"
#endif
#if !defined(__GNUC__) && !defined(__clang__)
#error "Takt needs gcc 9 or clang 10, or later"
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TAKT_VERSION_MAJOR 0
#define TAKT_VERSION_MINOR 1
#define TAKT_VERSION_PATCH 0

/* The soname's number, as in libtakt.so.0. A release that breaks programs raises this number; all
 * other releases only add. A program runs with the library it was compiled for, and with later
 * libraries of the same number. Each symbol carries the release that added it (TAKT_0.1). If a
 * program calls a function that an older library lacks, the loader names it and does not start the
 * program. */
#define TAKT_ABI 0

/* Functions of the library. For compilers of CUDA they are functions of both sides, of which the
 * device's has no body: a kernel that calls one does not link ("Unresolved extern function
 * 'takt_begin'"). As functions of the host alone they would be a warning of nvcc's, and the kernel
 * would lose its code. */
#define TAKT_DATA __attribute__((__visibility__("default")))
#if defined(__NVCC__) && defined(__CUDACC__)
#define TAKT_HOST_DEVICE __host__ __device__
#elif defined(__clang__) && defined(__CUDA__)
#define TAKT_HOST_DEVICE __attribute__((host)) __attribute__((device))
#else
#define TAKT_HOST_DEVICE
#endif
#define TAKT_API TAKT_DATA TAKT_HOST_DEVICE

/* Functions in these headers. Programs inline them, do not export them, and do not instrument them
 * (-finstrument-functions, -pg). TAKT_INLINES is around those of C++: their names have the release
 * in them, since parts of one program may have been compiled with headers of different releases. */
#ifdef __cplusplus
#define TAKT_HOST_INLINE                                                                           \
    __attribute__((__always_inline__, __visibility__("hidden"), __no_instrument_function__)) inline
#define TAKT_INLINE TAKT_HOST_INLINE TAKT_HOST_DEVICE
#define TAKT_INLINES_BEGIN                                                                         \
    extern "C++" {                                                                                 \
    inline namespace TAKT_INLINES_OF(TAKT_VERSION_MAJOR, TAKT_VERSION_MINOR)                       \
    {
#define TAKT_INLINES_END                                                                           \
    }                                                                                              \
    }
#elif defined(__clang__) /* which warns of static functions in the program's own inline functions */
#define TAKT_INLINE                                                                                \
    extern inline                                                                                  \
        __attribute__((__always_inline__, __gnu_inline__, __no_instrument_function__))
#define TAKT_INLINES_BEGIN
#define TAKT_INLINES_END
#else
#define TAKT_INLINE static inline __attribute__((__always_inline__, __no_instrument_function__))
#define TAKT_INLINES_BEGIN
#define TAKT_INLINES_END
#endif
#define TAKT_INLINES_OF(major, minor)  TAKT_INLINES_OF_(major, minor)
#define TAKT_INLINES_OF_(major, minor) takt_##major##_##minor

/* 1: macros check their arguments and do nothing. So it is in device code, which has no buffers. */
#if defined(TAKT_DISABLE) || defined(__CUDA_ARCH__)
#define TAKT_IS_OFF 1
#else
#define TAKT_IS_OFF 0
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Every status with its text. The enum and takt_status_text() are both made from this list. */
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
    X(TAKT_NOT_READY, "not done yet")                                                              \
    X(TAKT_INCOMPLETE, "some of it was lost")

typedef enum takt_status {
#define TAKT_STATUS_ENUM(code, text) code,
    TAKT_STATUS_LIST(TAKT_STATUS_ENUM)
#undef TAKT_STATUS_ENUM
    TAKT_STATUS_COUNT
} takt_status;

#ifdef __cplusplus
#define TAKT_ASSERT(what, message) static_assert(what, message)
#else /* C99 has it as an extension */
#define TAKT_ASSERT(what, message) __extension__ _Static_assert(what, message)
#endif

/* Program and library share structs and enums, so both are compiled with the usual layouts. */
struct takt_usual_layout {
    char   first;
    double second;
};
TAKT_ASSERT(sizeof(struct takt_usual_layout) == 16,
            "Takt's structs cannot be packed: compile without -fpack-struct");
TAKT_ASSERT(sizeof(takt_status) == sizeof(int),
            "Takt's enums cannot be short: compile without -fshort-enums");

/* Returns a short English text for a status: static, never NULL. Any thread. */
TAKT_API const char *takt_status_text(takt_status status);

/* Returns the version of the running library, such as "0.1.0"; static. Compare it with
 * TAKT_VERSION, the version of the headers: if strcmp() finds a difference, the program was
 * compiled for another release. Any thread. */
TAKT_API const char *takt_version(void);
#define TAKT_VERSION TAKT_DOTTED(TAKT_VERSION_MAJOR, TAKT_VERSION_MINOR, TAKT_VERSION_PATCH)
#define TAKT_DOTTED(major, minor, patch)  TAKT_DOTTED_(major, minor, patch)
#define TAKT_DOTTED_(major, minor, patch) #major "." #minor "." #patch

/* ---- Structs ---------------------------------------------------------------------------------
 *
 * A later release may add fields at the end of a struct. Programs need not be compiled again:
 *
 * - Options begin with struct_size. Start from TAKT_..._OPTIONS_INIT, which sets it; the library
 *   refuses 0. The library reads 0 for fields that an older program lacks. Fields that only a newer
 *   program has must be 0; otherwise the call fails with TAKT_BAD_ARGUMENT and logs the reason.
 * - Functions that fill a caller's struct are TAKT_SIZED: inline, and they pass the program's
 *   sizeof. The library writes no more bytes than that, and zeroes fields it does not know.
 * - The library lends some structs by pointer, such as takt_facts. These may be longer than the
 *   program knows. With an older library they are shorter: before you read a new field, check
 *   takt_version().
 * - A struct whose comment says "Frozen" never changes. Only frozen structs are nested in other
 *   structs, stand in arrays, or are returned by value from functions of the library. */

/* Zeroes an options struct of `size` bytes and stores `size` in its struct_size, as the INIT macros
 * do. For bindings in other languages. Any thread. */
TAKT_API void takt_options_init(void *options, size_t size);

/* The place and the reason of a failure, for files that people write. The caller owns the struct
 * and may pass NULL instead. Functions write it on failure only. Frozen. */
typedef struct takt_error {
    takt_status status;
    uint32_t    line;         /* 1-based; 0 if the failure has no place in a text */
    uint32_t    column;       /* 1-based, in characters */
    char        message[240]; /* one line without a newline: "profile.yaml:3:5: unknown key ..." */
} takt_error;

/* The host's memory functions. `resize` works like realloc(): a NULL pointer allocates; size 0
 * frees and returns NULL. It returns NULL when memory is exhausted. It must return memory aligned
 * for any type, must not call other parts of Takt, and may be called from any thread. `resize` may
 * contain scopes and report allocations: Takt ignores both while `resize` runs for Takt. While a
 * thread records an event, Takt maps memory from the operating system instead, because the event
 * may come from a signal handler; and so does the thread that makes memory for events ready, because
 * the program may fork meanwhile. Frozen. */
typedef struct takt_allocator {
    void *(*resize)(void *user, void *pointer, size_t size);
    void *user;
} takt_allocator;

/* Makes the library allocate with `allocator`; NULL restores the C library's functions. Call it
 * before any other function of Takt. TAKT_BAD_STATE once the library has allocated;
 * TAKT_BAD_ARGUMENT without `resize`. The struct is copied; `user` must stay valid. */
TAKT_API takt_status takt_set_allocator(const takt_allocator *allocator);

typedef enum takt_log_level {
    TAKT_LOG_ERROR,   /* something the program asked for is lost */
    TAKT_LOG_WARNING, /* something is probably not as intended */
    TAKT_LOG_INFO     /* progress: stages and saved files */
} takt_log_level;

/* Receives one log line without newline. Takt calls it on the thread that logs, without holding any
 * of Takt's locks, so the function may call Takt. */
typedef void (*takt_log_function)(takt_log_level level, const char *line, void *user);

/* Sends log lines to `function` instead of standard error; takt_set_print() does so with what timers
 * and reports print to standard output. NULL restores the default, which prints
 * errors and warnings as "takt: ...". With TAKT_LOG=info in the environment the default prints
 * progress too; with TAKT_LOG=off it prints nothing. Any thread. Another thread may still be inside
 * the previous function when this call returns. */
TAKT_API void takt_set_log(takt_log_function function, void *user);

/* Receives bytes. `write` returns TAKT_OK after taking all of them; any other status becomes the
 * result of the report or export. After a failure `write` is not called again. Frozen. */
typedef struct takt_sink {
    takt_status (*write)(void *user, const void *data, size_t size);
    void *user;
} takt_sink;

/* Returns a sink that writes to a file descriptor. The caller keeps the descriptor and closes it.
 * Any thread. */
TAKT_API takt_sink takt_sink_fd(int fd);

/* Sends what Takt prints to standard output to `sink`: lines and tables of timers, timings and timed
 * blocks, and reports with output.reports "stdout". Messages go to takt_set_log(). The sink is
 * called without any of Takt's locks, by each thread that prints; it must stay valid until another
 * one is set and no thread prints. NULL restores standard output. Any thread. */
TAKT_API void takt_set_print(const takt_sink *sink);

/* Returns the current time in nanoseconds of CLOCK_MONOTONIC's time line, as do all times in Takt.
 * Takt reads the processor's invariant time-stamp counter if there is one. Any thread. */
TAKT_API uint64_t takt_now_ns(void);

#ifdef __cplusplus
}
#endif

/* ---- How TAKT_SIZED functions and options work ----------------------------------------------- */

#ifdef __cplusplus
#define TAKT_SIZED TAKT_INLINE
#else
#define TAKT_SIZED /* may be called by pointer */ \
    static inline __attribute__((__no_instrument_function__))
#endif

/* A cast and a null pointer that C++ compilers do not warn about. */
#ifdef __cplusplus
#define TAKT_CAST(type, value) static_cast<type>(value)
#define TAKT_NULL              nullptr
#else
#define TAKT_CAST(type, value) ((type)(value))
#define TAKT_NULL              NULL
#endif

/* Defines an inline function that was declared with TAKT_SIZED; it calls the library's NAME_v1. */
#define TAKT_PASS_SIZE(name, out_type, parameters, ...)                                            \
    TAKT_API takt_status name##_v1(TAKT_EACH parameters, out_type *out, size_t size);              \
    TAKT_SIZED takt_status name(TAKT_EACH parameters, out_type *out)                               \
    {                                                                                              \
        return name##_v1(__VA_ARGS__, out, sizeof *out);                                           \
    }
#define TAKT_EACH(...) __VA_ARGS__

/* Options with every field 0 except struct_size. */
#ifdef __cplusplus
TAKT_INLINES_BEGIN
template <typename Options> TAKT_INLINE Options takt_options_of()
{
    Options options;
    takt_options_init(&options, sizeof options);
    return options;
}
TAKT_INLINES_END
#define TAKT_OPTIONS_INIT(type) takt_options_of<type>()
#else
#define TAKT_OPTIONS_INIT(type) ((type){.struct_size = sizeof(type)})
#endif
#endif
