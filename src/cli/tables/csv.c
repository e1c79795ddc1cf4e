/* Writes tables as a folder of CSV files (RFC 4180): a header with column names, CR LF at the end
 * of each line, and an empty field for null. Text is unchanged, in quotes if it contains a comma, a
 * quote or a line break.
 *
 * Spreadsheets run a text as a formula if it begins with one of = + - @, a tab or a carriage
 * return. Names come from the recorded program, so such a text gets an apostrophe in front, as
 * OWASP recommends ("CSV Injection"). */
#include "base/text.h"
#include "base/writer.h"
#include "cli/cli.h"
#include "cli/tables/tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PATH_SIZE = 4096,
    MOST_TABLES = 64,
    PLAIN_TEXTS = 256,
    SHORT_BYTES = 128,
    NUMBER_BYTES = 40,
    ROW_BYTES = TABLE_MOST_COLUMNS * (SHORT_BYTES + 1) + 2 /* of numbers and short texts */
};

/* Texts that are written as they are, by address: texts belong to the trace or are constant, and
 * most of them are written many times. */
typedef struct plain_text {
    const char *text;
    size_t size; /* at most SHORT_BYTES */
} plain_text;

typedef struct csv {
    tkt_writer *out;
    plain_text plain[PLAIN_TEXTS];
} csv;

static void put_char(tkt_writer *out, char c)
{
    char *at = tkt_writer_reserve(out, 1);
    *at = c;
    tkt_writer_commit(out, at + 1);
}

/* Writes a text with its quotes doubled. */
static void put_quoted(tkt_writer *out, const char *text)
{
    for (const char *quote; (quote = strchr(text, '"')); text = quote + 1) {
        tkt_writer_put(out, text, (size_t)(quote - text) + 1);
        put_char(out, '"');
    }
    tkt_writer_text(out, text);
}

static bool needs_quotes(const char *text)
{
    return strpbrk(text, "\",\r\n") != NULL;
}

static void put_any_text(tkt_writer *out, const char *text)
{
    bool is_quoted = needs_quotes(text);
    if (is_quoted)
        put_char(out, '"');
    if (tkt_is_formula(text))
        put_char(out, '\'');
    if (is_quoted)
        put_quoted(out, text);
    else
        tkt_writer_text(out, text);
    if (is_quoted)
        put_char(out, '"');
}

static char *put_text(csv *to, char *at, const char *text)
{
    plain_text *plain = &to->plain[((uintptr_t)text * 31 >> 3) % PLAIN_TEXTS];
    if (plain->text != text) {
        size_t size = strlen(text);
        if (size > SHORT_BYTES || tkt_is_formula(text) || needs_quotes(text)) {
            tkt_writer_commit(to->out, at);
            put_any_text(to->out, text);
            return tkt_writer_reserve(to->out, ROW_BYTES);
        }
        *plain = (plain_text){text, size};
    }
    memcpy(at, text, plain->size);
    return at + plain->size;
}

static char *put_value(csv *to, char *at, const table_value *value)
{
    switch (value->kind) {
    case TABLE_NULL:
        return at;
    case TABLE_INT:
        return tkt_put_i64(at, value->i);
    case TABLE_UINT:
        return tkt_put_u64(at, value->u);
    case TABLE_REAL:
        return tkt_put_double(at, value->d, TKT_DOUBLE_DIGITS);
    case TABLE_TEXT:
        break;
    }
    return put_text(to, at, value->text);
}

static bool put_row(void *user, const table_row *row)
{
    csv *to = user;
    char *at = tkt_writer_reserve(to->out, ROW_BYTES);
    for (size_t i = 0; i < row->count; i++) {
        if (i > 0)
            *at++ = ',';
        at = put_value(to, at, &row->values[i]);
    }
    *at++ = '\r';
    *at++ = '\n';
    tkt_writer_commit(to->out, at);
    return to->out->status == TAKT_OK;
}

static bool put_table(tkt_writer *out, const table_source *source, const table *from)
{
    csv to = {.out = out};
    table_row row = {.take = put_row, .user = &to};
    for (size_t i = 0; i < from->column_count; i++)
        table_put_text(&row, from->columns[i].name);
    return table_row_end(&row) && from->fill(source, &row);
}

static bool create_file(tkt_file *file, const table *of, const char *folder)
{
    char path[PATH_SIZE];
    takt_error error;
    if (snprintf(path, PATH_SIZE, "%s/%s.csv", folder, of->name) >= PATH_SIZE) {
        cli_error("%s: the name is too long", folder);
        return false;
    }
    if (tkt_file_create(file, path, &error) == TAKT_OK)
        return true;
    cli_error("%s", error.message);
    return false;
}

/* The file stays open, under its temporary name, until all files are complete. */
static bool write_table(const table_source *source, const table *from, tkt_file *file)
{
    takt_error error;
    tkt_writer out;
    bool is_good = tkt_writer_init(&out, tkt_file_sink(file), 0) == TAKT_OK;
    if (is_good) {
        is_good = put_table(&out, source, from);
        is_good = tkt_writer_fini(&out) == TAKT_OK && is_good;
    }
    if (is_good)
        return true;
    if (file->error_number) {
        tkt_file_why(file, &error);
        cli_error("%s", error.message);
    } else {
        cli_error("%s: %s", file->path, takt_status_text(TAKT_NO_MEMORY));
    }
    return false;
}

/* Renames all files to their final names, or discards them. */
static bool settle_tables(tkt_file *files, size_t count, bool is_good)
{
    for (size_t i = 0; i < count; i++) {
        if (is_good)
            is_good = cli_file_close(&files[i], TAKT_OK) == CLI_OK;
        else
            tkt_file_discard(&files[i]);
    }
    return is_good;
}

static bool write_tables(const table_source *source, const char *folder)
{
    tkt_file files[MOST_TABLES];
    const table *from;
    bool is_good = true;
    size_t count = 0;
    while (is_good && (from = table_at(count))) {
        is_good = count < MOST_TABLES && create_file(&files[count], from, folder);
        count += is_good;
        is_good = is_good && write_table(source, from, &files[count - 1]);
    }
    return settle_tables(files, count, is_good);
}

/* A folder gets all tables of a trace, or none. */
int table_write_csv(const table_source *source, const char *folder)
{
    bool is_new = !tkt_folder_exists(folder);
    if (is_new && mkdir(folder, 0775) != 0)
        return cli_error("cannot write %s: %s", folder,
                         strerror(errno == EEXIST ? ENOTDIR : errno));
    bool is_good = write_tables(source, folder);
    if (!is_good && is_new)
        rmdir(folder);
    return is_good ? CLI_OK : CLI_FAILED;
}
