/* Errors, log lines, and structs that grow without breaking old programs. */
#include "base/error.h"

#include "base/file.h"
#include "base/lock.h"
#include "base/own.h"
#include "base/text.h"
#include "base/thread.h"
#include "base/writer.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ======== Errors and growing structs ======== */

/* No option struct of ours is near this size; a larger one was never initialised. */
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
        tkt_log(TAKT_LOG_ERROR,
                "invalid options: struct_size is %zu; initialise the struct with %s", given, init);
    else
        tkt_log(TAKT_LOG_ERROR,
                "options from newer headers (%s) set a field that libtakt %s does not have: leave "
                "the field out, or update libtakt",
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

/* ======== Log lines ======== */

/* The hook and its user pointer belong together, so they are copied under a lock. The hook itself
 * runs without the lock: it may log, set another hook or take the host's locks. A replaced hook may
 * still be running, or about to run, when takt_set_log() returns. */

#define PREFIX      "takt: "
#define PREFIX_SIZE (sizeof PREFIX - 1)

typedef struct log_hook {
    takt_log_function function; /* NULL: standard error */
    void *user;
} log_hook;

/* The levels that go to standard error. */
enum {
    VERBOSITY_UNKNOWN,
    VERBOSITY_OFF,
    VERBOSITY_WARNINGS,
    VERBOSITY_ALL
};

static tkt_mutex hook_lock = TKT_MUTEX_INIT;
static log_hook hook; /* guarded by hook_lock */
static atomic_int verbosity;

static int read_verbosity(void)
{
    const char *value = tkt_environment("TAKT_LOG");
    if (value && strcmp(value, "off") == 0)
        return VERBOSITY_OFF;
    return value && strcmp(value, "info") == 0 ? VERBOSITY_ALL : VERBOSITY_WARNINGS;
}

/* Reads the environment once: getenv() is unsafe while another thread of the host calls setenv(),
 * and the first line usually comes early. Relaxed: the value orders nothing else. */
static bool goes_to_stderr(takt_log_level level)
{
    int now = atomic_load_explicit(&verbosity, memory_order_relaxed);
    if (now == VERBOSITY_UNKNOWN) {
        now = read_verbosity();
        atomic_store_explicit(&verbosity, now, memory_order_relaxed);
    }
    return now == VERBOSITY_ALL || (now == VERBOSITY_WARNINGS && level != TAKT_LOG_INFO);
}

/* A forked child has a copy of the lock. The thread that forks holds it during fork(), so no other
 * thread does. */
static void lock_hook(void)
{
    tkt_mutex_lock(&hook_lock);
}

static void unlock_hook(void)
{
    tkt_mutex_unlock(&hook_lock);
}

static void watch_forks(void)
{
    tkt_around_fork(lock_hook, unlock_hook, unlock_hook);
}

/* Takes the lock. False in a disabled child that was forked while the lock was held. */
static bool take_lock(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (tkt_process_is_disabled())
        return tkt_mutex_try(&hook_lock);
    pthread_once(&once, watch_forks);
    tkt_mutex_lock(&hook_lock);
    return true;
}

static log_hook current_hook(void)
{
    log_hook current = {NULL, NULL};
    if (take_lock()) {
        current = hook;
        tkt_mutex_unlock(&hook_lock);
    }
    return current;
}

/* One write, so that lines of several threads and processes do not mix. */
static void print(char *text, size_t size)
{
    tkt_quiet quiet;
    text[size] = '\n';
    tkt_quiet_begin(&quiet);
    ssize_t put = write(STDERR_FILENO, text, size + 1);
    tkt_quiet_end(&quiet, put < 0); /* a failure cannot be reported anywhere */
}

/* `level` chooses whether standard error gets the line; a hook gets it as `told`. */
static void put_line(takt_log_level level, takt_log_level told, const char *format,
                     va_list arguments) __attribute__((format(printf, 3, 0)));

static void put_line(takt_log_level level, takt_log_level told, const char *format,
                     va_list arguments)
{
    log_hook to = current_hook();
    if (!to.function && !goes_to_stderr(level))
        return;
    int number = errno; /* the host may be about to read it */
    char text[1024] = PREFIX;
    char *line = text + PREFIX_SIZE;
    size_t size = tkt_line_format(line, sizeof text - PREFIX_SIZE, format, arguments);
    if (to.function) {
        TKT_PROGRAMS_WORK;
        to.function(told, line, to.user);
    } else {
        print(text, PREFIX_SIZE + size);
    }
    errno = number;
}

void tkt_log(takt_log_level level, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    put_line(level, level, format, arguments);
    va_end(arguments);
}

void tkt_tell(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    put_line(TAKT_LOG_WARNING, TAKT_LOG_INFO, format, arguments);
    va_end(arguments);
}

/* ======== Options that nobody heeds ======== */

/* A program that never starts a profiler ignores TAKT_OPTIONS and TAKT_CONFIG. Its user is told at
 * exit: on standard error by a destructor, which also runs in programs that call none of Takt's
 * functions. A hook hears it earlier, from a handler of exit() that its takt_set_log() registered,
 * because the hook's data may be gone when the destructor runs. */

static atomic_bool are_heeded;
static uint32_t loaded_in; /* the process: its forked children say nothing */

void tkt_options_heeded(void)
{
    atomic_store_explicit(&are_heeded, true, memory_order_relaxed); /* orders nothing else */
}

static void tell_unheeded(void)
{
    const char *name = tkt_environment("TAKT_OPTIONS") ? "TAKT_OPTIONS" : "TAKT_CONFIG";
    if (!tkt_environment(name) || tkt_thread_is_interrupted() || tkt_process_id() != loaded_in ||
        atomic_exchange_explicit(&are_heeded, true, memory_order_relaxed))
        return;
    tkt_log(TAKT_LOG_WARNING,
            "%s is set, but this program started no profiler: nothing was profiled; "
            "takt_profiler_start(NULL) or takt_profiler_step(NULL) starts one",
            name);
}

__attribute__((constructor)) static void note_process(void)
{
    loaded_in = tkt_process_id();
}

__attribute__((destructor)) static void tell_at_end(void)
{
    if (!current_hook().function)
        tell_unheeded();
}

static void tell_hook_at_exit(void)
{
    if (current_hook().function)
        tell_unheeded();
}

void takt_set_log(takt_log_function function, void *user)
{
    static atomic_bool is_registered;
    if (function && !atomic_exchange_explicit(&is_registered, true, memory_order_relaxed))
        atexit(tell_hook_at_exit);
    if (!take_lock())
        return;
    hook = (log_hook){function, user};
    tkt_mutex_unlock(&hook_lock);
}

/* ======== One line ======== */

/* Messages contain file names, keys and kernel names, so they may contain any bytes. */

/* Longer than any caller's buffer, and than a path and what is said of it. */
#define LONGEST_LINE 5120

/* The begin says what happened to what, the end why, and what helps: a path in between loses its
 * middle. */
static size_t cut_middle(char *out, size_t capacity, const char *text, size_t size)
{
    static const char dots[] = "...";
    size_t used = tkt_printable(out, capacity / 3, text, size);
    size_t from = size - (capacity - used - sizeof dots);
    while (from < size && ((unsigned char)text[from] & 0xC0u) == 0x80)
        from++;
    memcpy(out + used, dots, sizeof dots);
    used += sizeof dots - 1;
    return used + tkt_printable(out + used, capacity - used, text + from, size - from);
}

size_t tkt_line_format(char *out, size_t capacity, const char *format, va_list arguments)
{
    char raw[LONGEST_LINE];
    int length = vsnprintf(raw, sizeof raw, format, arguments);
    size_t size = length < 0 ? 0 : (size_t)length;
    if (size >= sizeof raw)
        size = sizeof raw - 1;
    return size < capacity ? tkt_printable(out, capacity, raw, size)
                           : cut_middle(out, capacity, raw, size);
}
