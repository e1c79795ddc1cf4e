/* Reading and writing files. A file is written beside its final place under a name of its own and
 * renamed when it is complete: who reads a trace while it is written, or after the program died,
 * finds the previous one or none, never half of one. What is not a regular file (/dev/null, a pipe,
 * a terminal) is written directly, because a rename would replace it. */
#include "base/file.h"

#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_READ_BYTES   ((size_t)64 << 10)
#define TEMPORARY_ATTEMPTS 100
/* So much of the target's name is kept in the temporary one, which must fit NAME_MAX with them. */
#define TEMPORARY_NAME_BYTES 200

static takt_status fail(takt_error *error, const char *verb, const char *path, int number)
{
    char text[128];
    return tkt_error_set(error, TAKT_IO_ERROR, "cannot %s %s: %s", verb, path,
                         strerror_r(number, text, sizeof text));
}

static int open_retrying(const char *path, int flags, mode_t mode)
{
    int fd;
    do
        fd = open(path, flags | O_CLOEXEC | O_NOCTTY, mode);
    while (fd < 0 && errno == EINTR);
    return fd;
}

static ssize_t read_retrying(int fd, char *into, size_t size)
{
    ssize_t got;
    do
        got = read(fd, into, size);
    while (got < 0 && errno == EINTR);
    return got;
}

typedef struct content {
    TKT_ARRAY(char);
} content;

/* How much to make room for: one byte more than the file has, so that its end is seen without
 * growing once more. Pipes and /proc say 0. */
static size_t first_capacity(int fd, size_t limit)
{
    struct stat facts;
    size_t size = FIRST_READ_BYTES;
    if (fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size > 0)
        size = (size_t)facts.st_size;
    return (size < limit ? size : limit) + 2;
}

/* Reads to the end, or to one byte past the limit. Returns 0 or the errno. */
static int read_all(int fd, size_t limit, content *data)
{
    size_t room = first_capacity(fd, limit);
    while (data->count <= limit) {
        if (!TKT_ARRAY_RESERVE(data, room))
            return ENOMEM;
        ssize_t got =
            read_retrying(fd, data->items + data->count, data->capacity - data->count - 1);
        if (got < 0)
            return errno;
        if (got == 0)
            return 0;
        data->count += (size_t)got;
        if (data->count + 1 == data->capacity)
            room = data->capacity + 1;
    }
    return EFBIG;
}

takt_status tkt_file_read(const char *path, size_t limit, char **data, size_t *size,
                          takt_error *error)
{
    if (limit > SSIZE_MAX / 2)
        limit = SSIZE_MAX / 2;
    int fd = open_retrying(path, O_RDONLY, 0);
    if (fd < 0)
        return fail(error, "read", path, errno);
    content read = {0};
    int number = read_all(fd, limit, &read);
    close(fd);
    if (number == 0) {
        read.items[read.count] = 0;
        *data = read.items;
        *size = read.count;
        return TAKT_OK;
    }
    TKT_ARRAY_FREE(&read);
    if (number == ENOMEM)
        return tkt_error_set(error, TAKT_NO_MEMORY, "cannot read %s: out of memory", path);
    if (number == EFBIG)
        return tkt_error_set(error, TAKT_IO_ERROR, "cannot read %s: it has more than %zu bytes",
                             path, limit);
    return fail(error, "read", path, number);
}

/* Returns 0 or the errno. */
static int map_fd(int fd, const uint8_t **data, size_t *size)
{
    struct stat facts;
    if (fstat(fd, &facts) != 0)
        return errno;
    void *mapped = NULL;
    if (facts.st_size > 0)
        mapped = mmap(NULL, (size_t)facts.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (mapped == MAP_FAILED)
        return errno;
    *data = mapped;
    *size = (size_t)facts.st_size;
    return 0;
}

takt_status tkt_file_map(const char *path, const uint8_t **data, size_t *size, takt_error *error)
{
    struct stat facts;
    if (stat(path, &facts) == 0 && !S_ISREG(facts.st_mode))
        return tkt_error_set(error, TAKT_IO_ERROR, "cannot read %s: it is not a regular file",
                             path);
    /* Non-blocking, in case that it has become a pipe meanwhile. */
    int fd = open_retrying(path, O_RDONLY | O_NONBLOCK, 0);
    if (fd < 0)
        return fail(error, "read", path, errno);
    int number = map_fd(fd, data, size);
    close(fd);
    return number ? fail(error, "read", path, number) : TAKT_OK;
}

void tkt_file_unmap(const uint8_t *data, size_t size)
{
    if (data)
        munmap((void *)(uintptr_t)data, size);
}

/* Waits until a descriptor that the host made non-blocking takes bytes again. */
static bool wait_writable(int fd)
{
    struct pollfd wait = {.fd = fd, .events = POLLOUT};
    return poll(&wait, 1, -1) >= 0 || errno == EINTR;
}

/* Returns 0 or the errno. */
static int write_all(int fd, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t put = write(fd, data, size);
        if (put > 0) {
            data += put;
            size -= (size_t)put;
        } else if (put < 0 && errno == EAGAIN) {
            if (!wait_writable(fd))
                return errno;
        } else if (put < 0 && errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

static takt_status write_to_fd(void *user, const void *data, size_t size)
{
    return write_all((int)(intptr_t)user, data, size) == 0 ? TAKT_OK : TAKT_IO_ERROR;
}

takt_sink takt_sink_fd(int fd)
{
    return (takt_sink){write_to_fd, (void *)(intptr_t)fd};
}

/* "runs/x.json" becomes "runs/.x.json.4711.tmp"; further attempts get a number. */
static char *temporary_name(const char *path, int attempt)
{
    const char *slash = strrchr(path, '/');
    int folder_bytes = slash ? (int)(slash + 1 - path) : 0;
    char number[16] = "";
    if (attempt > 0)
        snprintf(number, sizeof number, ".%d", attempt);
    size_t capacity = (size_t)folder_bytes + TEMPORARY_NAME_BYTES + 64;
    char *name = tkt_alloc(capacity);
    if (name)
        snprintf(name, capacity, "%.*s.%.*s.%u%s.tmp", folder_bytes, path, TEMPORARY_NAME_BYTES,
                 path + folder_bytes, tkt_process_id(), number);
    return name;
}

/* Opens a new file beside the target. Returns 0 or the errno. */
static int open_temporary(tkt_file *file)
{
    for (int attempt = 0; attempt < TEMPORARY_ATTEMPTS; attempt++) {
        file->temporary = temporary_name(file->path, attempt);
        if (!file->temporary)
            return ENOMEM;
        file->fd = open_retrying(file->temporary, O_WRONLY | O_CREAT | O_EXCL, 0666);
        if (file->fd >= 0)
            return 0;
        int number = errno;
        tkt_free(file->temporary);
        file->temporary = NULL;
        if (number != EEXIST)
            return number;
    }
    return EEXIST;
}

/* Where the file really is: a link is followed, so that the rename replaces what it points to.
 * (As root, "/dev/stdout" would be replaced otherwise.) */
static char *target_of(const char *path)
{
    struct stat facts;
    char resolved[PATH_MAX];
    if (lstat(path, &facts) == 0 && S_ISLNK(facts.st_mode) && realpath(path, resolved))
        return tkt_copy_string(resolved);
    return tkt_copy_string(path);
}

/* Returns 0 or the errno. */
static int open_target(tkt_file *file)
{
    struct stat facts;
    if (stat(file->path, &facts) != 0 || S_ISREG(facts.st_mode))
        return open_temporary(file);
    file->fd = open_retrying(file->path, O_WRONLY, 0);
    return file->fd < 0 ? errno : 0;
}

static void forget(tkt_file *file)
{
    tkt_free(file->path);
    tkt_free(file->temporary);
    *file = (tkt_file){.fd = -1};
}

takt_status tkt_file_create(tkt_file *file, const char *path, takt_error *error)
{
    *file = (tkt_file){.fd = -1};
    file->path = target_of(path);
    int number = file->path ? open_target(file) : ENOMEM;
    if (number == 0)
        return TAKT_OK;
    forget(file);
    if (number == ENOMEM)
        return tkt_error_set(error, TAKT_NO_MEMORY, "cannot write %s: out of memory", path);
    return fail(error, "write", path, number);
}

takt_status tkt_file_create_open(tkt_file *file, const char *path, takt_error *error)
{
    *file = (tkt_file){.fd = -1};
    file->path = tkt_copy_string(path);
    if (!file->path)
        return tkt_error_set(error, TAKT_NO_MEMORY, "cannot write %s: out of memory", path);
    file->fd = open_retrying(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    int number = errno;
    if (file->fd >= 0)
        return TAKT_OK;
    forget(file);
    return fail(error, "write", path, number);
}

static takt_status write_to_file(void *user, const void *data, size_t size)
{
    tkt_file *file = user;
    int number = write_all(file->fd, data, size);
    if (number == 0)
        return TAKT_OK;
    file->error_number = number;
    return TAKT_IO_ERROR;
}

takt_sink tkt_file_sink(tkt_file *file)
{
    return (takt_sink){write_to_file, file};
}

takt_status tkt_file_close(tkt_file *file, takt_status status, takt_error *error)
{
    if (file->fd < 0)
        return status;
    int number = file->error_number;
    /* Some file systems report a full disk only now. EINTR has closed it all the same. */
    if (close(file->fd) != 0 && number == 0 && errno != EINTR)
        number = errno;
    bool is_good = status == TAKT_OK && number == 0;
    if (is_good && file->temporary && rename(file->temporary, file->path) != 0) {
        number = errno;
        is_good = false;
    }
    if (!is_good && file->temporary)
        unlink(file->temporary);
    if (number)
        status = fail(error, "write", file->path, number);
    forget(file);
    return status;
}

void tkt_file_discard(tkt_file *file)
{
    if (file->fd < 0)
        return;
    close(file->fd);
    unlink(file->temporary ? file->temporary : file->path);
    forget(file);
}
