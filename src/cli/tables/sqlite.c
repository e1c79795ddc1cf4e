/* Writes tables to an SQLite file, with indexes, and with the reports as views. One transaction
 * without a journal writes everything: after a failure the temporary file is discarded. */
#include "cli/cli.h"
#include "cli/tables/tables.h"
#include "trace/model.h"

#include <takt/report.h>

#include <string.h>

#ifdef TKT_HAVE_SQLITE

#include <sqlite3.h>
#include <stdlib.h>

CLI_EMBED(table_views_sql, "src/cli/tables/views.sql");
CLI_EMBED(table_views_threads_sql, "src/cli/tables/views_threads.sql");
CLI_EMBED(table_views_devices_sql, "src/cli/tables/views_devices.sql");
CLI_EMBED(table_views_gaps_sql, "src/cli/tables/views_gaps.sql");
CLI_EMBED(table_views_phases_sql, "src/cli/tables/views_phases.sql");
CLI_EMBED(table_replacements_sql, "src/cli/tables/replacements.sql");

/* Values are exact. Integers beyond SQLite's range become text. */
static void bind(sqlite3_stmt *insert, int column, const table_value *value)
{
    char digits[24];
    switch (value->kind) {
    case TABLE_NULL:
        sqlite3_bind_null(insert, column);
        break;
    case TABLE_INT:
        sqlite3_bind_int64(insert, column, value->i);
        break;
    case TABLE_UINT:
        if (value->u <= INT64_MAX) {
            sqlite3_bind_int64(insert, column, (sqlite3_int64)value->u);
            break;
        }
        snprintf(digits, sizeof digits, "%llu", (unsigned long long)value->u);
        sqlite3_bind_text(insert, column, digits, -1, SQLITE_TRANSIENT);
        break;
    case TABLE_REAL:
        sqlite3_bind_double(insert, column, value->d);
        break;
    case TABLE_TEXT:
        sqlite3_bind_text(insert, column, value->text, -1, SQLITE_STATIC);
    }
}

enum {
    MOST_ROWS = 32 /* that one statement inserts */
};

/* Inserts several rows by one statement, because each run of a statement costs SQLite about as much
 * as half a row. A value stays bound until another takes its place: most columns of a row have the
 * same value as in the row MOST_ROWS before it. */
typedef struct insertion {
    sqlite3_stmt *statement;
    size_t first;                                     /* column that is bound first */
    size_t rows;                                      /* of a full statement */
    size_t row;                                       /* that is bound next */
    table_value bound[MOST_ROWS][TABLE_MOST_COLUMNS]; /* all NULL at first */
} insertion;

/* Texts belong to the trace or are constant. So the same address means an equal text, and a bound
 * text stays valid. */
static bool is_bound(const table_value *a, const table_value *b)
{
    if (a->kind != b->kind || a->kind == TABLE_REAL)
        return false;
    if (a->kind == TABLE_TEXT)
        return a->text == b->text;
    return a->kind == TABLE_NULL || a->u == b->u;
}

static bool run(sqlite3_stmt *statement)
{
    return sqlite3_step(statement) == SQLITE_DONE && sqlite3_reset(statement) == SQLITE_OK;
}

static bool insert_row(void *user, const table_row *row)
{
    insertion *to = user;
    table_value *bound = to->bound[to->row];
    int parameter = (int)(to->row * (row->count - to->first)) + 1;
    for (size_t i = to->first; i < row->count; i++, parameter++)
        if (!is_bound(&bound[i], &row->values[i])) {
            bind(to->statement, parameter, &row->values[i]);
            bound[i] = row->values[i];
        }
    to->row = (to->row + 1) % to->rows;
    return to->row > 0 || run(to->statement);
}

static bool execute(sqlite3 *db, const char *sql)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;
}

static bool create_table(sqlite3 *db, const table *from)
{
    sqlite3_str *sql = sqlite3_str_new(db);
    sqlite3_str_appendf(sql, "CREATE TABLE %s (", from->name);
    for (size_t i = 0; i < from->column_count; i++)
        sqlite3_str_appendf(sql, "%s\"%s\" %s", i ? ", " : "", from->columns[i].name,
                            from->columns[i].type);
    sqlite3_str_appendall(sql, ")");
    char *text = sqlite3_str_finish(sql);
    bool is_good = text && execute(db, text);
    sqlite3_free(text);
    return is_good;
}

/* Ids count from 1, in the order of the rows. SQLite counts the same way where the id is NULL, and
 * then it appends the row without a search for its place. */
static bool counts_rows(const table *into)
{
    return strcmp(into->columns[0].name, "id") == 0 &&
           strcmp(into->columns[0].type, "INTEGER PRIMARY KEY") == 0;
}

static sqlite3_stmt *prepare_insert(sqlite3 *db, const table *into, size_t rows)
{
    sqlite3_stmt *insert = NULL;
    sqlite3_str *sql = sqlite3_str_new(db);
    sqlite3_str_appendf(sql, "INSERT INTO %s VALUES ", into->name);
    for (size_t row = 0; row < rows; row++) {
        sqlite3_str_appendf(sql, "%s(%s", row ? "," : "", counts_rows(into) ? "NULL" : "?");
        for (size_t i = 1; i < into->column_count; i++)
            sqlite3_str_appendall(sql, ",?");
        sqlite3_str_appendall(sql, ")");
    }
    char *text = sqlite3_str_finish(sql);
    if (text)
        sqlite3_prepare_v2(db, text, -1, &insert, NULL);
    sqlite3_free(text);
    return insert;
}

/* Inserts the rows that did not fill a statement. */
static bool insert_rest(sqlite3 *db, const table *into, insertion *from)
{
    if (from->row == 0)
        return true;
    sqlite3_stmt *insert = prepare_insert(db, into, from->row);
    int parameter = 1;
    for (size_t row = 0; insert && row < from->row; row++)
        for (size_t i = from->first; i < into->column_count; i++)
            bind(insert, parameter++, &from->bound[row][i]);
    bool is_good = insert && run(insert);
    return sqlite3_finalize(insert) == SQLITE_OK && is_good;
}

static bool insert_rows(sqlite3 *db, const table_source *source, const table *from, insertion *to)
{
    size_t most = (size_t)sqlite3_limit(db, SQLITE_LIMIT_VARIABLE_NUMBER, -1) / from->column_count;
    to->first = counts_rows(from);
    to->rows = most < MOST_ROWS ? most : MOST_ROWS;
    to->statement = prepare_insert(db, from, to->rows);
    table_row row = {.take = insert_row, .user = to};
    bool is_good = to->statement && from->fill(source, &row) && insert_rest(db, from, to);
    return sqlite3_finalize(to->statement) == SQLITE_OK && is_good;
}

static bool write_table(sqlite3 *db, const table_source *source, const table *from)
{
    insertion *to = calloc(1, sizeof *to);
    bool is_good = to && create_table(db, from) && insert_rows(db, source, from, to);
    free(to);
    return is_good;
}

/* ---- Reports of traces that lack events ---- */

/* Sums of the events that are left would be wrong. Reports know that: they leave such figures out,
 * or take them from a summary. So their rows replace the views. */

static takt_status append(void *user, const void *data, size_t size)
{
    sqlite3_str_append(user, data, (int)size);
    return sqlite3_str_errcode(user) == SQLITE_OK ? TAKT_OK : TAKT_NO_MEMORY;
}

/* Adds the report as JSON to `report_text`. A report that this trace does not have keeps its view.
 */
static bool keep_report(sqlite3 *db, const takt_trace *trace, const char *name)
{
    takt_report_options how = TAKT_REPORT_OPTIONS_INIT;
    sqlite3_str *text = sqlite3_str_new(db);
    const takt_sink sink = {append, text};
    sqlite3_stmt *insert = NULL;
    how.format = TAKT_FORMAT_JSON;
    how.rows = -1;
    how.with_flops = true;
    takt_status status = takt_report(trace, name, &how, &sink);
    bool is_good = sqlite3_prepare_v2(db, "INSERT INTO temp.report_text VALUES (?, ?)", -1, &insert,
                                      NULL) == SQLITE_OK;
    int size = sqlite3_str_length(text);
    char *json = sqlite3_str_finish(text);
    if (is_good && status == TAKT_OK) {
        sqlite3_bind_text(insert, 1, name, -1, SQLITE_STATIC);
        sqlite3_bind_text(insert, 2, json, size, SQLITE_STATIC);
        is_good = run(insert);
    }
    is_good &= sqlite3_finalize(insert) == SQLITE_OK;
    sqlite3_free(json);
    return is_good && (status == TAKT_OK || status == TAKT_NO_SPANS);
}

static bool replace_views(sqlite3 *db, const takt_trace *trace)
{
    sqlite3_stmt *select = NULL;
    char *statements = NULL;
    bool is_good = execute(db, "CREATE TEMP TABLE report_text (report TEXT, text TEXT)");
    const char *name;
    for (size_t i = 0; is_good && (name = takt_report_name(i)); i++)
        if (strcmp(name, "timeline") != 0) /* sums up nothing */
            is_good = keep_report(db, trace, name);
    if (is_good && sqlite3_prepare_v2(db, table_replacements_sql, -1, &select, NULL) == SQLITE_OK &&
        sqlite3_step(select) == SQLITE_ROW)
        statements = sqlite3_mprintf("%s", sqlite3_column_text(select, 0));
    sqlite3_finalize(select); /* while it runs, no view can be dropped */
    is_good = statements && execute(db, statements);
    sqlite3_free(statements);
    return is_good;
}

static bool lacks_events(const takt_trace *trace)
{
    return !trace->facts.has_spans || tkt_trace_lacks_spans(trace) || tkt_trace_lacks_work(trace);
}

/* Nobody else uses the file yet. With 16 KiB pages and a cache of 256 MiB, SQLite rarely has to
 * read written pages again when it builds the indexes. */
static const char settings[] = "PRAGMA page_size = 16384; PRAGMA cache_size = -262144;"
                               "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
                               "PRAGMA locking_mode = EXCLUSIVE; PRAGMA temp_store = MEMORY; BEGIN";

static bool write_all(sqlite3 *db, const table_source *source)
{
    const table *from;
    bool is_good = execute(db, settings);
    for (size_t i = 0; is_good && (from = table_at(i)); i++)
        is_good = write_table(db, source, from);
    return is_good && execute(db, table_views_sql) && execute(db, table_views_threads_sql) &&
           execute(db, table_views_devices_sql) && execute(db, table_views_gaps_sql) &&
           execute(db, table_views_phases_sql) &&
           (!lacks_events(source->trace) || replace_views(db, source->trace)) &&
           execute(db, "COMMIT");
}

static bool write_file(const table_source *source, const char *name, const char *path)
{
    sqlite3 *db = NULL;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    bool is_good =
        sqlite3_open_v2(name, &db, flags, "unix-none") == SQLITE_OK && write_all(db, source);
    if (!is_good)
        cli_error("%s: %s", path, db ? sqlite3_errmsg(db) : takt_status_text(TAKT_NO_MEMORY));
    return sqlite3_close(db) == SQLITE_OK && is_good;
}

/* Whoever opens the new database would apply a log that the old one has left. */
static bool has_log(const char *path)
{
    static const char *const endings[] = {"-wal", "-journal"};
    char name[4096];
    for (int i = 0; i < 2; i++) {
        snprintf(name, sizeof name, "%s%s", path, endings[i]);
        if (tkt_file_bytes(name) > 0) {
            cli_error(
                "%s is not replaced: %s belongs to it, and would damage the new one. Close the "
                "program that has it open, or name another file",
                path, name);
            return true;
        }
    }
    return false;
}

/* SQLite opens the temporary file itself, by name, and without locks: on NFS the file's own would
 * stop it. */
int table_write_sqlite(const table_source *source, const char *path)
{
    tkt_file file;
    takt_error error;
    if (has_log(path))
        return CLI_FAILED;
    if (tkt_file_create(&file, path, &error) != TAKT_OK)
        return cli_error("%s", error.message);
    if (file.temporary && write_file(source, file.temporary, path))
        return cli_file_close(&file, TAKT_OK);
    tkt_file_discard(&file);
    return CLI_FAILED;
}

#else

int table_write_sqlite(const table_source *source, const char *path)
{
    (void)source;
    return cli_error("%s: this takt was built without SQLite: install libsqlite3-dev and build it "
                     "again, or use --csv",
                     path);
}

#endif

/* ======== The formats ======== */

/* The formats of `takt export` that consist of tables. */

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
