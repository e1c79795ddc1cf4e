/* Folders. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Creates folders, which other processes may create at the same time, and finds files in them. */

#define FOLDER_MODE 0775

bool tkt_folder_exists(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

/* Returns 0 or the errno. */
static int create_one(const char *path)
{
    if (tkt_folder_exists(path) || mkdir(path, FOLDER_MODE) == 0)
        return 0;
    int number = errno;
    return number == EEXIST && tkt_folder_exists(path) ? 0 : number;
}

/* Creates the parents of `path`, which is unchanged afterwards. Returns 0 or the errno. */
static int create_above(char *path)
{
    int number = 0;
    for (char *at = path; *at && number == 0; at++) {
        if (*at != '/' || at == path)
            continue;
        *at = 0;
        number = create_one(path);
        *at = '/';
    }
    return number;
}

static takt_status creation_status(int number, const char *path, takt_error *error)
{
    char text[128];
    if (number == 0)
        return TAKT_OK;
    if (number == ENOMEM)
        return tkt_error_set(error, TAKT_NO_MEMORY, "cannot create folder %s: out of memory", path);
    return tkt_error_set(error, TAKT_IO_ERROR, "cannot create folder %s: %s", path,
                         strerror_r(number, text, sizeof text));
}

bool tkt_file_resolve(const char *path, char *out, size_t size)
{
    char found[PATH_MAX];
    return realpath(path, found) && (size_t)snprintf(out, size, "%s", found) < size;
}

takt_status tkt_folder_create_private(char *name, size_t size, takt_error *error)
{
    const char *place = tkt_environment("TMPDIR");
    int length = snprintf(name, size, "%s/takt-XXXXXX", place ? place : "/tmp");
    if (length > 0 && (size_t)length < size && mkdtemp(name))
        return TAKT_OK;
    return creation_status((size_t)length < size ? errno : ENAMETOOLONG, name, error);
}

void tkt_folder_remove_with(const char *folder, const char *file)
{
    unlink(file);
    tkt_folder_remove(folder);
}

void tkt_folder_remove(const char *path)
{
    rmdir(path);
}

bool tkt_file_is_device(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISCHR(facts.st_mode);
}

uint64_t tkt_file_bytes(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 ? (uint64_t)facts.st_size : 0;
}

bool tkt_file_date(const char *path, uint64_t *date_ns)
{
    struct stat facts;
    if (stat(path, &facts) != 0 || facts.st_mtim.tv_sec < 0)
        return false;
    *date_ns = (uint64_t)facts.st_mtim.tv_sec * 1000000000u + (uint64_t)facts.st_mtim.tv_nsec;
    return true;
}

bool tkt_folder_now(char *out, size_t size)
{
    return getcwd(out, size) && out[0] == '/'; /* outside the root it begins otherwise */
}

void tkt_file_match(const char *pattern, void (*found)(void *user, const char *path), void *user)
{
    glob_t matches;
    if (glob(pattern, GLOB_NOCHECK | GLOB_NOESCAPE, NULL, &matches) != 0)
        return;
    for (size_t i = matches.gl_pathc; i > 0; i--)
        found(user, matches.gl_pathv[i - 1]);
    globfree(&matches);
}

takt_status tkt_folder_create(const char *path, takt_error *error)
{
    char *copy = tkt_copy_string(path);
    int number = copy ? create_above(copy) : ENOMEM;
    if (number == 0)
        number = create_one(copy);
    tkt_free(copy);
    return creation_status(number, path, error);
}

/* True if the folder has a file whose name begins and ends so. */
static bool has_file(const char *path, const char *begin, const char *ending)
{
    size_t size = strlen(ending);
    bool has = false;
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && !has && (entry = readdir(folder));) {
        size_t length = strlen(entry->d_name);
        has = length >= size && strcmp(entry->d_name + length - size, ending) == 0 &&
              strncmp(entry->d_name, begin, strlen(begin)) == 0;
    }
    if (folder)
        closedir(folder);
    return has;
}

bool tkt_folder_has(const char *path, const char *ending)
{
    return has_file(path, "", ending);
}

/* Creates the first of PATH, PATH-2, PATH-3 that does not exist, or takes one that others have made
 * for `own` as well. Returns 0 or the errno. */
static int create_first(const char *path, const char *own, char *name, size_t size)
{
    char suffix[16] = "";
    for (unsigned i = 2; i <= TKT_MOST_OF_A_NAME; i++) {
        if ((size_t)snprintf(name, size, "%s%s", path, suffix) >= size)
            return ENAMETOOLONG;
        if (mkdir(name, FOLDER_MODE) == 0)
            return 0;
        if (errno == EEXIST && own && tkt_folder_exists(name) && !has_file(name, own, ""))
            return 0;
        if (errno != EEXIST)
            return errno;
        snprintf(suffix, sizeof suffix, "-%u", i);
    }
    return EEXIST;
}

takt_status tkt_folder_create_new(const char *path, const char *own, char *name, size_t size,
                                  takt_error *error)
{
    char *copy = tkt_copy_string(path);
    for (size_t end = copy ? strlen(copy) : 0; end > 1 && copy[end - 1] == '/'; end--)
        copy[end - 1] = 0;
    int number = copy ? create_above(copy) : ENOMEM;
    if (number == 0)
        number = create_first(copy, own, name, size);
    tkt_free(copy);
    return creation_status(number, path, error);
}

/* Gives the folder that the link names. A link that is too old goes: ids may come again. */
static bool follow(const char *link, int64_t since_s, char *name, size_t size)
{
    struct stat facts;
    size_t above = (size_t)(tkt_base_name(link) - link);
    if (lstat(link, &facts) != 0 || above + 1 >= size)
        return false;
    memcpy(name, link, above);
    ssize_t length = readlink(link, name + above, size - above - 1);
    name[length > 0 ? above + (size_t)length : 0] = '\0';
    bool is_valid = length > 0 && facts.st_mtime >= since_s && tkt_folder_exists(name);
    if (!is_valid)
        unlink(link);
    return is_valid;
}

takt_status tkt_folder_meet(const char *path, const char *id, int64_t since_s, char *name,
                            size_t size)
{
    char link[4096];
    int above = (int)(tkt_base_name(path) - path);
    if (snprintf(link, sizeof link, "%.*s.takt-%s", above, path, id) >= (int)sizeof link)
        return TAKT_IO_ERROR;
    for (int turn = 0; turn < 3 && !follow(link, since_s, name, size); turn++) {
        takt_status status = tkt_folder_create_new(path, NULL, name, size, NULL);
        if (status != TAKT_OK || symlink(tkt_base_name(name), link) == 0)
            return status;
        bool was_first = errno != EEXIST; /* no links in this file system */
        tkt_folder_remove(name);
        if (was_first)
            return TAKT_IO_ERROR;
    }
    return TAKT_OK;
}
