/* Files that verbs write: their names, that none is written over what it is made from, and streams
 * into the library's files, which appear when they are complete. */
#include "cli/cli.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool cli_is_folder(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

bool cli_is_same_file(const char *a, const char *b)
{
    struct stat first, second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

bool cli_settle_output(char *path, size_t size)
{
    char real[PATH_MAX];
    struct stat facts;
    bool is_link = lstat(path, &facts) == 0 && S_ISLNK(facts.st_mode);

    if (stat(path, &facts) != 0)
        return true;
    if (is_link && (!realpath(path, real) || strlen(real) >= size))
        return false;
    if (is_link)
        strcpy(path, real);
    return S_ISREG(facts.st_mode);
}

static size_t length_without(const char *path, size_t length, const char *ending)
{
    size_t size = strlen(ending);
    return length > size && strncmp(path + length - size, ending, size) == 0 ? length - size
                                                                             : length;
}

bool cli_name_output(char *out, size_t size, const char *folder, const char *file,
                     const char *ending)
{
    const char *base = strrchr(file, '/');
    const char *name = folder && base ? base + 1 : file;
    size_t length = length_without(name, strlen(name), ".gz");

    length = length_without(name, length, ".pftrace");
    int used = snprintf(out, size, "%s%s%.*s%s", folder ? folder : "", folder ? "/" : "",
                        (int)length, name, ending);
    return used >= 0 && (size_t)used < size;
}

static ssize_t write_cookie(void *cookie, const char *data, size_t size)
{
    takt_sink sink = tkt_file_sink(cookie);
    return sink.write(sink.user, data, size) == TAKT_OK ? (ssize_t)size : 0;
}

FILE *cli_file_stream(tkt_file *file)
{
    FILE *stream = fopencookie(file, "w", (cookie_io_functions_t){.write = write_cookie});
    if (stream)
        setvbuf(stream, NULL, _IOFBF, (size_t)1 << 16);
    return stream;
}

bool cli_stream_close(FILE *stream)
{
    bool is_good = !ferror(stream);
    return fclose(stream) == 0 && is_good;
}

int cli_file_close(tkt_file *file, takt_status status)
{
    char path[PATH_MAX];
    takt_error error = {.message = ""};

    snprintf(path, sizeof path, "%s", file->path);
    status = tkt_file_close(file, status, &error);
    if (status == TAKT_OK)
        return CLI_OK;
    if (error.message[0])
        return cli_error("%s", error.message);
    return cli_error("%s: %s", path, takt_status_text(status));
}

void cli_tell_written(const char *path)
{
    char size[32], clean[512];
    struct stat facts;

    printf("wrote %s", cli_clean(clean, sizeof clean, path));
    if (stat(path, &facts) == 0 && !S_ISDIR(facts.st_mode))
        printf(" (%s)", cli_bytes_text(size, sizeof size, (uint64_t)facts.st_size));
    putchar('\n');
}
