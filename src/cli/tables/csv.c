/* Tables as a folder of CSV files (RFC 4180): a header with the columns' names, CR LF behind each
 * line, an empty field where there is no value. Texts are as they were recorded, in quotes where
 * they hold a comma, a quote or a line break.
 *
 * Spreadsheets take a text for a formula that begins with one of = + - @, a tab or a carriage
 * return, and run it. Names come from whoever wrote the program, so such a text gets an apostrophe
 * in front, as OWASP advises ("CSV Injection"). */
#include "cli/cli.h"
#include "cli/tables/tables.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define UNFINISHED ".tmp"

enum {
    PATH_SIZE = 4096
};

static void put_text(FILE *file, const char *text)
{
    bool is_formula = *text && strchr("=+-@\t\r", *text);
    bool is_quoted = strpbrk(text, "\",\r\n") != NULL;
    if (is_quoted)
        putc('"', file);
    if (is_formula)
        putc('\'', file);
    if (is_quoted) {
        for (; *text; text++) {
            if (*text == '"')
                putc('"', file);
            putc(*text, file);
        }
        putc('"', file);
    } else {
        fputs(text, file);
    }
}

/* The fewest digits that give the same double again. */
static void put_real(FILE *file, double value)
{
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (isnan(value) || strtod(text, NULL) == value)
            break;
    }
    fputs(text, file);
}

static void put_value(FILE *file, const table_value *value)
{
    switch (value->kind) {
    case TABLE_NULL:
        break;
    case TABLE_INT:
        fprintf(file, "%" PRId64, value->i);
        break;
    case TABLE_UINT:
        fprintf(file, "%" PRIu64, value->u);
        break;
    case TABLE_REAL:
        put_real(file, value->d);
        break;
    case TABLE_TEXT:
        put_text(file, value->text);
    }
}

static bool put_row(void *user, const table_row *row)
{
    FILE *file = user;
    for (size_t i = 0; i < row->count; i++) {
        if (i > 0)
            putc(',', file);
        put_value(file, &row->values[i]);
    }
    fputs("\r\n", file);
    return !ferror(file);
}

static bool put_table(FILE *file, const table_source *source, const table *from)
{
    table_row row = {.take = put_row, .user = file};
    for (size_t i = 0; i < from->column_count; i++)
        table_put_text(&row, from->columns[i].name);
    return table_row_end(&row) && from->fill(source, &row);
}

static bool name_file(char *path, const table *of, const char *folder, const char *ending)
{
    if (snprintf(path, PATH_SIZE, "%s/%s.csv%s", folder, of->name, ending) < PATH_SIZE)
        return true;
    cli_error("%s: the name is too long", folder);
    return false;
}

static bool write_table(const table_source *source, const table *from, const char *folder)
{
    char path[PATH_SIZE];
    if (!name_file(path, from, folder, UNFINISHED))
        return false;
    FILE *file = fopen(path, "w");
    bool is_good = file && put_table(file, source, from);
    if (file)
        is_good = fclose(file) == 0 && is_good;
    if (!is_good)
        cli_error("%s: %s", path, strerror(errno));
    return is_good;
}

/* Gives the first `count` tables their names, or takes them away. */
static bool settle_tables(const char *folder, size_t count, bool is_good)
{
    for (size_t i = 0; i < count; i++) {
        char path[PATH_SIZE], unfinished[PATH_SIZE];
        if (!name_file(path, table_at(i), folder, "") ||
            !name_file(unfinished, table_at(i), folder, UNFINISHED))
            return false;
        if (is_good && rename(unfinished, path) != 0)
            is_good = cli_error("%s: %s", path, strerror(errno)) == CLI_OK;
        if (!is_good)
            unlink(unfinished);
    }
    return is_good;
}

/* All tables are written under other names first: a folder has those of one trace, or none. */
int table_write_csv(const table_source *source, const char *folder)
{
    const table *from;
    bool is_good = true, is_new = !cli_is_folder(folder);
    size_t count = 0;

    if (is_new && mkdir(folder, 0777) != 0)
        return cli_error("%s: %s", folder, strerror(errno == EEXIST ? ENOTDIR : errno));
    for (; is_good && (from = table_at(count)); count++)
        is_good = write_table(source, from, folder);
    is_good = settle_tables(folder, count, is_good);
    if (!is_good && is_new)
        rmdir(folder);
    return is_good ? CLI_OK : CLI_FAILED;
}
