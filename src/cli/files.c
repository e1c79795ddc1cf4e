/* The traces that a command line names: files, and folders of them. */
#include "cli/cli.h"

#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int is_trace(const struct dirent *entry)
{
    const char *name = entry->d_name;
    size_t size = strlen(name);
    return name[0] != '.' &&
           (tkt_has_ending(name, size, ".pftrace") || tkt_has_ending(name, size, ".pftrace.gz"));
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* Adds FOLDER/NAME, or just NAME if `folder` is "". */
static int add_path(cli_files *files, const char *folder, const char *name)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char **paths = realloc(files->paths, (files->count + 1) * sizeof *paths);

    if (paths) {
        files->paths = paths;
        paths[files->count] = malloc(size);
    }
    if (!paths || !paths[files->count])
        return cli_error("%s", takt_status_text(TAKT_NO_MEMORY));
    snprintf(paths[files->count++], size, "%s%s%s", folder,
             *folder && !tkt_has_ending(folder, strlen(folder), "/") ? "/" : "", name);
    return CLI_OK;
}

static int add_folder(cli_files *files, const char *folder)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, is_trace, by_name);
    int status = CLI_OK;

    if (count < 0)
        return cli_error("%s: %s", folder, strerror(errno));
    if (count == 0)
        status = cli_error("%s: there are no traces (.pftrace) in this folder", folder);
    for (int i = 0; i < count; i++) {
        if (status == CLI_OK)
            status = add_path(files, folder, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return status;
}

int cli_files_add(cli_files *files, const char *path)
{
    return cli_is_folder(path) ? add_folder(files, path) : add_path(files, "", path);
}

void cli_files_free(cli_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        free(files->paths[i]);
    free(files->paths);
    *files = (cli_files){0};
}
