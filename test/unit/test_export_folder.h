/* A folder of a test's own, and what is in it. */
#ifndef TEST_EXPORT_FOLDER_H
#define TEST_EXPORT_FOLDER_H

#include "base/file.h"

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Made anew; static storage. */
static inline const char *make_folder(void)
{
    static char path[512];
    const char *parent = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/takt-test-XXXXXX", parent ? parent : "/tmp");
    return mkdtemp(path);
}

static inline int remove_one(const char *path, const struct stat *facts, int type, struct FTW *at)
{
    (void)facts;
    (void)type;
    (void)at;
    return remove(path);
}

static inline void remove_folder(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* "FOLDER/NAME", in one of four buffers. */
static inline const char *in_folder(const char *folder, const char *name)
{
    static char paths[4][2048];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

/* How many entries a folder has, hidden ones too. */
static inline size_t count_entries(const char *folder)
{
    size_t count = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir)) != NULL;)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    if (dir)
        closedir(dir);
    return count;
}

static inline bool exists(const char *folder, const char *name)
{
    return access(in_folder(folder, name), F_OK) == 0;
}

/* NUL-terminated; the caller frees it with tkt_free. */
static inline char *read_whole(const char *folder, const char *name, size_t *size)
{
    char *data = NULL;
    takt_error error;
    if (tkt_file_read(in_folder(folder, name), SIZE_MAX / 4, &data, size, &error) != TAKT_OK)
        fail_msg("%s", error.message);
    return data;
}

#endif
