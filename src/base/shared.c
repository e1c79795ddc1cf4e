#include "base/shared.h"

#include "base/error.h"
#include "base/file.h"
#include "base/quiet.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOST_OF_A_NAME 10000u
#define FILE_MODE      0664

/* Opens the first of PATH, PATH-2, PATH-3 that is not there yet. Returns 0 or the errno. */
static int open_first(const char *path, const char *ending, char *name, size_t size, int *fd)
{
    char suffix[16] = "";
    for (unsigned i = 2; i <= MOST_OF_A_NAME; i++) {
        if ((size_t)snprintf(name, size, "%s%s%s", path, suffix, ending) >= size)
            return ENAMETOOLONG;
        *fd = tkt_above_standard_streams(
            open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, FILE_MODE));
        if (*fd >= 0)
            return 0;
        if (errno == EINTR)
            continue;
        if (errno != EEXIST)
            return errno;
        snprintf(suffix, sizeof suffix, "-%u", i);
    }
    return EEXIST;
}

/* Reserves the blocks; beyond `ulimit -f` that raises SIGXFSZ, as a write does. Returns 0 or the
 * errno. */
static int reserve(int fd, size_t bytes)
{
    int number;
    tkt_quiet quiet;
    tkt_quiet_begin(&quiet);
    do
        number = posix_fallocate(fd, 0, (off_t)bytes);
    while (number == EINTR);
    tkt_quiet_end(&quiet, number != 0);
    return number;
}

takt_status tkt_shared_create(const char *path, const char *ending, size_t bytes, char *name,
                              size_t name_size, void **memory, takt_error *error)
{
    int fd;
    int number = open_first(path, ending, name, name_size, &fd);
    if (number == 0) {
        void *mapped = MAP_FAILED;
        number = reserve(fd, bytes);
        if (number == 0) {
            mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
            number = mapped == MAP_FAILED ? errno : 0;
        }
        close(fd);
        if (number)
            unlink(name);
        else
            *memory = mapped;
    }
    char text[128];
    if (number)
        return tkt_error_set(error, TAKT_IO_ERROR, "cannot reserve %zu MiB for %s: %s",
                             (bytes >> 20) + 1, name, strerror_r(number, text, sizeof text));
    return TAKT_OK;
}

void tkt_shared_remove(const char *name)
{
    char text[128];
    if (unlink(name) != 0 && errno != ENOENT)
        tkt_log(TAKT_LOG_WARNING, "cannot remove %s: %s", name,
                strerror_r(errno, text, sizeof text));
}

void tkt_shared_unmap(void *memory, size_t bytes)
{
    munmap(memory, bytes);
}
