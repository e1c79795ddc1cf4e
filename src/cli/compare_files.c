/* Which traces the sides of a comparison are. */
#include "cli/compare.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cli_operands_to(cli_operands *operands, const cli_syntax *syntax, const char *path)
{
    if (operands->has_to)
        return cli_usage_error(syntax, "--to stands twice");
    operands->has_to = true;
    operands->first_of_b = operands->count;
    operands->items[operands->count++] = path;
    return CLI_OK;
}

/* ---- Folders ---- */

static bool ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text), size = strlen(ending);
    return length > size && strcmp(text + length - size, ending) == 0;
}

static int is_trace(const struct dirent *entry)
{
    return entry->d_name[0] != '.' &&
           (ends_with(entry->d_name, ".pftrace") || ends_with(entry->d_name, ".pftrace.gz"));
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* Adds FOLDER/NAME; without a folder, the name. */
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
             *folder && !ends_with(folder, "/") ? "/" : "", name);
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

int cli_files_of(const cli_operands *operands, int side, cli_files *out)
{
    size_t i = side == CLI_A ? 0 : operands->first_of_b;
    size_t end = side == CLI_A ? operands->first_of_b : operands->count;
    int status = CLI_OK;

    *out = (cli_files){0};
    for (; i < end && status == CLI_OK; i++)
        status = cli_is_folder(operands->items[i]) ? add_folder(out, operands->items[i])
                                                   : add_path(out, "", operands->items[i]);
    return status;
}

void cli_files_free(cli_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        free(files->paths[i]);
    free(files->paths);
    *files = (cli_files){0};
}
