/* Writing files. A file is written next to its final place under a temporary name, and renamed when
 * it is complete. So a reader finds the previous file or none, never half of one, even after the
 * program died. Anything but a regular file (/dev/null, a pipe, a terminal) is written directly,
 * because a rename would replace it.
 *
 * Names that Takt has made up are claimed: an empty file is created under the name with O_EXCL, and
 * the complete file is renamed over it. (RENAME_NOREPLACE would do that in one step, but NFS and
 * other file systems do not have it.) */
#include "base/file.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"
#include "base/writer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEMPORARY_ATTEMPTS 100
/* The part of the target's name that goes into the temporary one, which must fit NAME_MAX. */
#define TEMPORARY_NAME_BYTES 200

const char *tkt_file_reason(int number, char out[TKT_FILE_REASON_BYTES])
{
    if (number == TKT_FILE_CLOSED)
        return "the program has closed its file descriptor";
    if (number == TKT_FILE_NOT_WHOLE)
        return "the complete file could not be written";
    return strerror_r(number, out, TKT_FILE_REASON_BYTES);
}

takt_status tkt_file_fail(takt_error *error, const char *verb, const char *path, int number)
{
    char text[TKT_FILE_REASON_BYTES];
    if (number == ENOMEM)
        return tkt_error_set(error, TAKT_NO_MEMORY, "cannot %s %s: out of memory", verb, path);
    return tkt_error_set(error, TAKT_IO_ERROR, "cannot %s %s: %s", verb, path,
                         tkt_file_reason(number, text));
}

int tkt_above_standard_streams(int fd)
{
    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    int higher = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    int number = errno;
    close(fd);
    errno = number;
    return higher;
}

int tkt_file_open_with(const char *path, int flags)
{
    int fd;
    do
        fd = open(path, flags | O_CLOEXEC | O_NOCTTY, TKT_FILE_MODE);
    while (fd < 0 && errno == EINTR);
    return tkt_above_standard_streams(fd);
}

/* Waits until a descriptor that the host made non-blocking accepts bytes again. */
static bool wait_writable(int fd)
{
    struct pollfd wait = {.fd = fd, .events = POLLOUT};
    return poll(&wait, 1, -1) >= 0 || errno == EINTR;
}

/* May raise SIGPIPE or SIGXFSZ. Returns 0 or the errno. */
static int write_loudly(int fd, const char *data, size_t size)
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

static int write_all(int fd, const char *data, size_t size)
{
    tkt_quiet quiet;
    tkt_quiet_begin(&quiet);
    int number = write_loudly(fd, data, size);
    tkt_quiet_end(&quiet, number != 0);
    return number;
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
    int folder_bytes = (int)(tkt_base_name(path) - path);
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

/* ---- Opening --------------------------------------------------------------------------------- */

/* Stores an open descriptor, or takes -1 and errno. Returns 0 or the errno. */
static int take_descriptor(tkt_file *file, int fd)
{
    struct stat facts;
    if (fd < 0)
        return errno;
    if (fstat(fd, &facts) != 0) {
        int number = errno;
        close(fd);
        return number;
    }
    file->fd = fd;
    file->device = facts.st_dev;
    file->inode = facts.st_ino;
    return 0;
}

/* Creates a new file. Returns 0 or the errno; after a failure there is no file. */
static int take_new(tkt_file *file, const char *path)
{
    int fd = tkt_file_open_with(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
    int number = take_descriptor(file, fd);
    if (fd >= 0 && number != 0)
        unlink(path);
    return number;
}

static bool is_same(const tkt_file *file, const struct stat *facts)
{
    return facts->st_dev == file->device && facts->st_ino == file->inode;
}

/* True while the descriptor refers to the file that Takt opened. */
static bool is_ours(const tkt_file *file)
{
    struct stat facts;
    return fstat(file->fd, &facts) == 0 && is_same(file, &facts);
}

/* True for "4711.tmp" and "4711.2.tmp" if there is no process 4711. */
static bool is_of_dead(const char *rest)
{
    static const char digits[] = "0123456789";
    size_t size = strspn(rest, digits);
    const char *end = rest + size;
    size_t attempt = *end == '.' ? strspn(end + 1, digits) : 0;
    end += attempt ? attempt + 1 : 0;
    return size > 0 && size < 10 && strcmp(end, ".tmp") == 0 &&
           kill((pid_t)strtol(rest, NULL, 10), 0) != 0 && errno == ESRCH;
}

/* The number may be that of a process on another machine, but then the file is locked. */
static void remove_unlocked(int folder, const char *name)
{
    int fd = openat(folder, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        unlinkat(folder, name, 0);
    close(fd);
}

static DIR *open_folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = tkt_copy_string(slash ? path : "./");
    if (!folder)
        return NULL;
    *(strrchr(folder, '/') + 1) = '\0';
    DIR *opened = opendir(folder);
    tkt_free(folder);
    return opened;
}

/* Removes the temporary files of processes that died while they wrote this file. */
static void remove_leftovers(const char *path)
{
    char begin[TEMPORARY_NAME_BYTES + 3];
    const struct dirent *entry;
    DIR *folder = open_folder_of(path);
    if (!folder)
        return;
    snprintf(begin, sizeof begin, ".%.*s.", TEMPORARY_NAME_BYTES, tkt_base_name(path));
    size_t size = strlen(begin);
    while ((entry = readdir(folder)) != NULL)
        if (strncmp(entry->d_name, begin, size) == 0 && is_of_dead(entry->d_name + size))
            remove_unlocked(dirfd(folder), entry->d_name);
    closedir(folder);
}

/* Opens a new file next to the target, and locks it. Returns 0 or the errno. */
static int open_temporary(tkt_file *file)
{
    int number = EEXIST;
    remove_leftovers(file->path);
    for (int attempt = 0; attempt < TEMPORARY_ATTEMPTS && number == EEXIST; attempt++) {
        file->temporary = temporary_name(file->path, attempt);
        if (!file->temporary)
            return ENOMEM;
        number = take_new(file, file->temporary);
        if (number == 0) {
            flock(file->fd, LOCK_EX | LOCK_NB);
            return 0;
        }
        tkt_free(file->temporary);
        file->temporary = NULL;
    }
    return number;
}

/* The real path of the file. Links are followed, so that the rename replaces a link's target.
 * (Otherwise root would replace "/dev/stdout".) */
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
    return take_descriptor(file, tkt_file_open_with(file->path, O_WRONLY));
}

static void forget(tkt_file *file)
{
    tkt_free(file->path);
    tkt_free(file->temporary);
    tkt_free(file->wish);
    *file = (tkt_file){.fd = -1};
}

/* The result of a function that opens a file; `number` is 0 or an errno. */
static takt_status opened(tkt_file *file, const char *path, int number, takt_error *error)
{
    if (number == 0)
        return TAKT_OK;
    forget(file);
    file->error_number = number;
    return tkt_file_fail(error, "write", path, number);
}

takt_status tkt_file_create(tkt_file *file, const char *path, takt_error *error)
{
    *file = (tkt_file){.fd = -1};
    file->path = target_of(path);
    return opened(file, path, file->path ? open_target(file) : ENOMEM, error);
}

/* ---- Names that Takt makes up ---------------------------------------------------------------- */

/* Puts the number into the path. Returns 0 or the errno. */
static int number_path(tkt_file *file)
{
    char number[16] = "";
    size_t size = strlen(file->wish) + sizeof number;
    char *path = tkt_alloc(size);
    if (!path)
        return ENOMEM;
    if (file->number > 1)
        snprintf(number, sizeof number, "-%u", file->number);
    snprintf(path, size, "%.*s%s%s", (int)file->stem, file->wish, number, file->wish + file->stem);
    tkt_free(file->path);
    file->path = path;
    return 0;
}

/* Creates an empty file at the path. Returns 0 or the errno. */
static int claim_path(tkt_file *file)
{
    return take_new(file, file->path);
}

/* Only checks; claim_path() follows when the file is complete. */
static int look_at_path(tkt_file *file)
{
    struct stat facts;
    return lstat(file->path, &facts) == 0 ? EEXIST : 0;
}

/* Finds the first number, from the current one on, whose path `try_path` accepts. Returns 0 or the
 * errno. */
static int find_free(tkt_file *file, int (*try_path)(tkt_file *file))
{
    int number = EEXIST;
    for (; file->number <= TKT_MOST_OF_A_NAME; file->number++) {
        number = number_path(file);
        if (number == 0)
            number = try_path(file);
        if (number != EEXIST)
            break;
    }
    return number;
}

static int find_first(tkt_file *file, const char *path, size_t stem, unsigned number,
                      int (*try_path)(tkt_file *file))
{
    *file = (tkt_file){.fd = -1, .stem = stem, .number = number, .wish = tkt_copy_string(path)};
    return file->wish ? find_free(file, try_path) : ENOMEM;
}

takt_status tkt_file_create_new(tkt_file *file, const char *path, size_t stem, unsigned number,
                                takt_error *error)
{
    int status = find_first(file, path, stem, number, look_at_path);
    return opened(file, path, status ? status : open_temporary(file), error);
}

takt_status tkt_file_claim(tkt_file *file, const char *path, size_t stem, takt_error *error)
{
    return opened(file, path, find_first(file, path, stem, 1, claim_path), error);
}

takt_status tkt_file_follow(tkt_file *file, takt_error *error)
{
    tkt_file complete = *file;
    int number = take_descriptor(&complete, tkt_file_open_with(file->path, O_WRONLY | O_NOFOLLOW));
    if (number)
        return tkt_file_fail(error, "write", file->path, number);
    if (is_ours(file))
        close(file->fd);
    *file = complete;
    return TAKT_OK;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static takt_status write_to_file(void *user, const void *data, size_t size)
{
    tkt_file *file = user;
    int number = is_ours(file) ? write_all(file->fd, data, size) : TKT_FILE_CLOSED;
    if (number == 0)
        return TAKT_OK;
    if (file->error_number == 0)
        file->error_number = number;
    return TAKT_IO_ERROR;
}

takt_sink tkt_file_sink(tkt_file *file)
{
    return (takt_sink){write_to_file, file};
}

bool tkt_file_is_there(const tkt_file *file)
{
    struct stat facts;
    return stat(file->path, &facts) == 0 && is_same(file, &facts);
}

takt_status tkt_file_why(const tkt_file *file, takt_error *error)
{
    return tkt_file_fail(error, "write", file->path, file->error_number);
}

void tkt_file_patch(const tkt_file *file, uint64_t offset, uint8_t byte)
{
    struct stat facts;
    int fd = tkt_file_open_with(file->path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return;
    if (fstat(fd, &facts) == 0 && is_same(file, &facts) && (uint64_t)facts.st_size > offset)
        while (pwrite(fd, &byte, 1, (off_t)offset) < 0 && errno == EINTR)
            continue;
    close(fd);
}

/* ---- Closing --------------------------------------------------------------------------------- */

/* Removes `name`, unless it belongs to another file by now. */
static void remove_name(const tkt_file *file, const char *name)
{
    struct stat facts;
    takt_error error;
    bool is_there = lstat(name, &facts) == 0;
    if (is_there ? !is_same(file, &facts) || unlink(name) == 0 : errno == ENOENT)
        return;
    tkt_file_fail(&error, "remove", name, errno);
    tkt_log(TAKT_LOG_WARNING, "%s", error.message);
}

/* Some file systems report a full disk only at close(). EINTR closes the descriptor all the same.
 * Returns 0 or the errno. */
static int close_descriptor(tkt_file *file)
{
    int fd = file->fd;
    bool is_closed = !is_ours(file) || close(fd) == 0 || errno == EINTR;
    file->fd = -1;
    return is_closed ? 0 : errno;
}

/* Renames the complete file to its path. Returns 0 or the errno. */
static int settle(tkt_file *file)
{
    if (!file->temporary)
        return 0;
    if (!file->wish)
        return rename(file->temporary, file->path) == 0 ? 0 : errno;
    tkt_file claim = *file;
    int number = find_free(&claim, claim_path);
    file->path = claim.path;
    file->number = claim.number;
    if (number)
        return number;
    close_descriptor(&claim);
    if (rename(file->temporary, file->path) == 0)
        return 0;
    number = errno;
    remove_name(&claim, claim.path);
    return number;
}

takt_status tkt_file_finish(tkt_file *file, takt_status status, takt_error *error)
{
    if (file->fd < 0)
        return status;
    int number = close_descriptor(file);
    if (file->error_number)
        number = file->error_number;
    if (status == TAKT_OK && number == 0)
        number = settle(file);
    file->error_number = number;
    if ((status != TAKT_OK || number) && file->temporary)
        remove_name(file, file->temporary);
    return number ? tkt_file_fail(error, "write", file->path, number) : status;
}

takt_status tkt_file_close(tkt_file *file, takt_status status, takt_error *error)
{
    status = tkt_file_finish(file, status, error);
    forget(file);
    return status;
}

void tkt_file_discard(tkt_file *file)
{
    if (file->fd < 0)
        return;
    close_descriptor(file);
    remove_name(file, file->temporary ? file->temporary : file->path);
    forget(file);
}
