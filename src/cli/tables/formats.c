/* The formats that are made of tables, for `takt export`. */
#include "cli/tables/tables.h"

#include "cli/cli.h"

#include <string.h>

static const struct format {
    const char *name;
    const char *description;
    int (*write)(const table_source *source, const char *path);
} formats[] = {
    {"sqlite", "an SQLite database: all events as tables, reports as views", table_write_sqlite},
    {"csv", "a folder of CSV files, one for each table", table_write_csv},
};

enum {
    FORMAT_COUNT = sizeof formats / sizeof *formats
};

const char *table_format_name(size_t index)
{
    return index < FORMAT_COUNT ? formats[index].name : NULL;
}

const char *table_format_description(size_t index)
{
    return index < FORMAT_COUNT ? formats[index].description : NULL;
}

bool table_is_format(const char *name)
{
    for (size_t i = 0; i < FORMAT_COUNT; i++)
        if (strcmp(formats[i].name, name) == 0)
            return true;
    return false;
}

int table_export(const takt_trace *trace, const char *format, const char *path)
{
    table_source source;
    int status = CLI_FAILED;
    if (table_source_init(&source, trace) != TAKT_OK)
        return cli_error("%s: %s", path, takt_status_text(TAKT_NO_MEMORY));
    for (size_t i = 0; i < FORMAT_COUNT; i++)
        if (strcmp(formats[i].name, format) == 0)
            status = formats[i].write(&source, path);
    table_source_fini(&source);
    return status;
}
