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

/* First under another name, so that what has this one is whole. */
static bool write_table(const table_source *source, const table *from, const char *folder)
{
    char path[PATH_SIZE], temporary[PATH_SIZE + 8];
    if (snprintf(path, sizeof path, "%s/%s.csv", folder, from->name) >= PATH_SIZE) {
        cli_error("%s: the name is too long", folder);
        return false;
    }
    snprintf(temporary, sizeof temporary, "%s.tmp", path);
    FILE *file = fopen(temporary, "w");
    if (!file) {
        cli_error("%s: %s", path, strerror(errno));
        return false;
    }
    bool is_good = put_table(file, source, from);
    is_good = fclose(file) == 0 && is_good && rename(temporary, path) == 0;
    if (!is_good) {
        cli_error("%s: %s", path, strerror(errno));
        unlink(temporary);
    }
    return is_good;
}

int table_write_csv(const table_source *source, const char *folder)
{
    const table *from;
    if (!cli_is_folder(folder) && mkdir(folder, 0777) != 0)
        return cli_error("%s: %s", folder, strerror(errno));
    for (size_t i = 0; (from = table_at(i)); i++)
        if (!write_table(source, from, folder))
            return CLI_FAILED;
    return CLI_OK;
}
