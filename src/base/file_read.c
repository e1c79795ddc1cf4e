/* Reading whole files. */
#include "base/file.h"

#include "base/alloc.h"
#include "base/containers.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_READ_BYTES ((size_t)64 << 10)

static ssize_t read_retrying(int fd, char *into, size_t size)
{
    ssize_t count;
    do
        count = read(fd, into, size);
    while (count < 0 && errno == EINTR);
    return count;
}

static bool is_pipe(int fd)
{
    struct stat facts;
    return fstat(fd, &facts) == 0 && S_ISFIFO(facts.st_mode);
}

/* A pipe that somebody writes to, or a terminal: who named it wants what will come. */
static bool wait_readable(int fd)
{
    struct pollfd wanted = {.fd = fd, .events = POLLIN};
    return (is_pipe(fd) || isatty(fd)) && (poll(&wanted, 1, -1) >= 0 || errno == EINTR);
}

typedef struct content {
    TKT_ARRAY(char);
} content;

/* The first capacity: two bytes more than the file has. One is for the NUL; with the other, the
 * read loop sees the end without growing. Pipes and /proc report size 0. */
static size_t first_capacity(int fd, size_t limit)
{
    struct stat facts;
    size_t size = FIRST_READ_BYTES;
    if (fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size > 0)
        size = (size_t)facts.st_size;
    return (size < limit ? size : limit) + 2;
}

/* Reads to the end, or to one byte past the limit. Returns 0 or the errno, of them EPIPE where
 * nobody has written, and EAGAIN of a device that may have nothing for ever. */
static int read_all(int fd, size_t limit, content *data)
{
    size_t room = first_capacity(fd, limit);
    while (data->count <= limit) {
        if (!TKT_ARRAY_RESERVE(data, room))
            return ENOMEM;
        ssize_t count =
            read_retrying(fd, data->items + data->count, data->capacity - data->count - 1);
        int number = count < 0 ? errno : 0;
        if (number == EAGAIN && wait_readable(fd))
            continue;
        if (number != 0)
            return number;
        if (count == 0)
            return data->count == 0 && is_pipe(fd) ? EPIPE : 0;
        data->count += (size_t)count;
        if (data->count + 1 == data->capacity)
            room = data->capacity + 1;
    }
    return EFBIG;
}

/* Reads the whole file, and closes the descriptor. */
static takt_status read_and_close(int fd, const char *path, size_t limit, char **data, size_t *size,
                                  takt_error *error)
{
    if (limit > SSIZE_MAX / 2)
        limit = SSIZE_MAX / 2;
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
    if (number == EFBIG)
        return tkt_error_set(error, TAKT_IO_ERROR, "cannot read %s: it has more than %zu bytes",
                             path, limit);
    if (number == EPIPE)
        return tkt_error_set(error, TAKT_IO_ERROR,
                             "cannot read %s: the pipe is empty, and nobody writes to it", path);
    return tkt_file_fail(error, "read", path, number);
}

takt_status tkt_file_read(const char *path, size_t limit, char **data, size_t *size,
                          takt_error *error)
{
    int fd = tkt_file_open_with(path, O_RDONLY | O_NONBLOCK); /* a FIFO would wait for a writer */
    if (fd < 0)
        return tkt_file_fail(error, "read", path, errno);
    return read_and_close(fd, path, limit, data, size, error);
}

takt_status tkt_file_read_regular(const char *path, char **data, size_t *size, takt_error *error)
{
    int fd;
    takt_status status = tkt_file_open(path, &fd, error);
    if (status != TAKT_OK)
        return status;
    return read_and_close(fd, path, SIZE_MAX, data, size, error);
}

takt_status tkt_file_open(const char *path, int *fd, takt_error *error)
{
    struct stat facts;
    if (stat(path, &facts) == 0 && !S_ISREG(facts.st_mode))
        return tkt_error_set(error, TAKT_IO_ERROR, "cannot read %s: it is not a regular file",
                             path);
    /* Non-blocking, in case the path has become a pipe meanwhile. */
    int opened = tkt_file_open_with(path, O_RDONLY | O_NONBLOCK);
    if (opened < 0)
        return tkt_file_fail(error, "read", path, errno);
    *fd = opened;
    return TAKT_OK;
}

takt_status tkt_file_read_some(int fd, const char *path, void *into, size_t size, size_t *got,
                               takt_error *error)
{
    ssize_t result = read_retrying(fd, into, size);
    if (result < 0)
        return tkt_file_fail(error, "read", path, errno);
    *got = (size_t)result;
    return TAKT_OK;
}
