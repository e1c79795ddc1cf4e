/* Mapped files.
 *
 * Pages of a mapped file on a disk are written back, and the first store to each one after that
 * waits for the file system: for seconds, where the disk is slow and somebody syncs it. Nobody
 * writes pages of /dev/shm back. A file there survives the process, but neither the machine nor the
 * container: a program that is the first process of a container takes /dev/shm with it, and its
 * file lies on the disk. */
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "base/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#define MEMORY_FOLDER "/dev/shm"
#define PRIVATE       0600 /* all users see that folder */

#ifndef MADV_POPULATE_WRITE /* Linux 5.14 */
#define MADV_POPULATE_WRITE 23
#endif

/* ---- Names ----------------------------------------------------------------------------------- */

/* What is created: a file, whose descriptor is returned, or a link to a file. -1 with errno. */
static int create_one(const char *name, const char *linked, mode_t mode)
{
    if (linked)
        return symlink(linked, name);
    return tkt_above_standard_streams(
        open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, mode));
}

/* Creates the first of PATH, PATH-2, PATH-3 that does not exist, each with the ending. Returns 0 or
 * the errno. */
static int create_first(const char *path, const char *ending, const char *linked, mode_t mode,
                        char *name, size_t size, int *fd)
{
    char suffix[16] = "";
    for (unsigned i = 2; i <= TKT_MOST_OF_A_NAME; i++) {
        if ((size_t)snprintf(name, size, "%s%s%s", path, suffix, ending) >= size)
            return ENAMETOOLONG;
        *fd = create_one(name, linked, mode);
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

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Gives the whole file its size, and its blocks where a part cannot get them later. Beyond
 * `ulimit -f` that raises SIGXFSZ, as a write does. Returns 0 or the errno. */
static int set_size(int fd, size_t bytes, bool is_reserved)
{
    int number;
    tkt_quiet quiet;
    tkt_quiet_begin(&quiet);
    do {
        if (is_reserved)
            number = posix_fallocate(fd, 0, (off_t)bytes);
        else
            number = ftruncate(fd, (off_t)bytes) == 0 ? 0 : errno;
    } while (number == EINTR);
    tkt_quiet_end(&quiet, number != 0);
    return number;
}

/* True if the process has locked memory, and then perhaps all that is to come. */
static bool locks_memory(void)
{
    char line[128];
    unsigned long kib = 0;
    FILE *status = fopen("/proc/self/status", "re");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "VmLck: %lu", &kib) == 1)
            break;
    if (status)
        fclose(status);
    return kib > 0;
}

/* Maps the file so that it gets pages as they are used, also where all memory to come is locked: at
 * first nobody may use them, since the kernel would make all of them at once. Returns 0 or the
 * errno. */
static int map_file(int fd, size_t bytes, void **at)
{
    *at = mmap(NULL, bytes, PROT_NONE, MAP_SHARED, fd, 0);
    if (*at == MAP_FAILED)
        return errno;
    if (locks_memory() && mlock2(*at, bytes, MLOCK_ONFAULT) != 0)
        munlock(*at, bytes);
    if (mprotect(*at, bytes, PROT_READ | PROT_WRITE) == 0)
        return 0;
    int number = errno;
    munmap(*at, bytes);
    return number;
}

/* Returns 0 or the errno. */
static int create_file(const char *path, const char *ending, size_t bytes, mode_t mode, char *name,
                       size_t size, tkt_shared *made)
{
    int fd;
    int number = create_first(path, ending, NULL, mode, name, size, &fd);
    if (number)
        return number;
    number = set_size(fd, bytes, made->is_reserved);
    if (number == 0)
        number = map_file(fd, bytes, &made->at);
    close(fd);
    if (number)
        unlink(name);
    return number;
}

/* True if the kernel can give memory to a part of a mapping, and says so where there is none. */
static bool can_populate(void)
{
    return madvise(NULL, 0, MADV_POPULATE_WRITE) == 0;
}

static bool is_memory(const char *folder)
{
    struct statfs about;
    return statfs(folder, &about) == 0 && about.f_type == TMPFS_MAGIC;
}

/* Whether half of the memory stays free: a program that dies again and again leaves a file each
 * time, which the disk has from then on. */
static bool has_room(const char *folder, size_t bytes)
{
    struct statfs about;
    if (statfs(folder, &about) != 0 || about.f_blocks == 0)
        return true; /* there is no limit, or the file cannot be made, which says why */
    uint64_t free_blocks = about.f_bavail, blocks = bytes / (uint64_t)about.f_bsize + 1;
    return free_blocks >= blocks && free_blocks - blocks >= about.f_blocks / 2;
}

/* ---- Both ------------------------------------------------------------------------------------ */

/* A file in /dev/shm, and a link to it. Returns 0 or the errno. */
static int create_linked(const char *path, const char *ending, size_t bytes, tkt_shared *made)
{
    char in_memory[256];
    int unused;
    int length = snprintf(in_memory, sizeof in_memory, MEMORY_FOLDER "/%s", tkt_base_name(path));
    if (length >= (int)sizeof in_memory)
        return ENAMETOOLONG;
    if (!has_room(MEMORY_FOLDER, bytes))
        return ENOSPC;
    int number =
        create_file(in_memory, ending, bytes, PRIVATE, made->memory, sizeof made->memory, made);
    if (number)
        return number;
    number = create_first(path, ending, made->memory, 0, made->name, sizeof made->name, &unused);
    if (number) {
        unlink(made->memory);
        munmap(made->at, bytes);
    }
    return number;
}

/* Returns 0, or the errno, which is told. */
static int create_in_memory(const char *folder, const char *path, const char *ending, size_t bytes,
                            tkt_shared *made)
{
    char text[128];
    bool is_first = tkt_process_id() == 1;
    int number = is_first ? EPERM : create_linked(path, ending, bytes, made);
    if (number == 0)
        return 0;
    const char *why = strerror_r(number, text, sizeof text);
    if (is_first)
        why = "it goes with this container's first process";
    else if (number == ENOSPC)
        why = "more than half of it would be used; do programs that died have recordings there?";
    tkt_log(
        TAKT_LOG_WARNING,
        "crash_safe: the disk of %s keeps the events, and a scope may wait for it: %s cannot have "
        "%zu MiB: %s",
        folder, MEMORY_FOLDER, (bytes >> 20) + 1, why);
    return number;
}

takt_status tkt_shared_create(const char *path, const char *ending, size_t bytes, tkt_shared *made,
                              takt_error *error)
{
    char folder[4096], text[128];
    int length = (int)(tkt_base_name(path) - path);
    snprintf(folder, sizeof folder, "%.*s", length ? length : 1, length ? path : ".");
    *made = (tkt_shared){.is_reserved = !can_populate()};
    if (!is_memory(folder)) {
        if (create_in_memory(folder, path, ending, bytes, made) == 0)
            return TAKT_OK;
        *made = (tkt_shared){.is_reserved = true};
    }
    int number =
        create_file(path, ending, bytes, TKT_FILE_MODE, made->name, sizeof made->name, made);
    if (number == 0)
        return TAKT_OK;
    return tkt_error_set(error, TAKT_IO_ERROR, "cannot reserve %zu MiB for %s: %s",
                         (bytes >> 20) + 1, made->name, strerror_r(number, text, sizeof text));
}

bool tkt_shared_ready(const tkt_shared *shared, void *at, size_t bytes)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t before = (uintptr_t)at % page;
    int status;
    if (shared->is_reserved)
        return true;
    do
        status = madvise((char *)at - before, bytes + before, MADV_POPULATE_WRITE);
    while (status != 0 && (errno == EINTR || errno == EAGAIN));
    return status == 0;
}

/* False if it is still there, which is told. */
static bool remove_one(const char *name)
{
    char text[128];
    if (unlink(name) == 0 || errno == ENOENT)
        return true;
    tkt_log(TAKT_LOG_WARNING, "cannot remove %s: %s", name, strerror_r(errno, text, sizeof text));
    return false;
}

/* The link goes last: who finds it finds the memory. */
void tkt_shared_remove(const tkt_shared *shared)
{
    if (!shared->memory[0] || remove_one(shared->memory))
        remove_one(shared->name);
}

void tkt_shared_unmap(const tkt_shared *shared, size_t bytes)
{
    munmap(shared->at, bytes);
}
