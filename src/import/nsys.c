/* Opens the database, and reads tables by the columns that they have. */
#include "import/nsys.h"

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

#ifdef TKT_HAVE_SQLITE

/* ---- Errors ---------------------------------------------------------------------------------- */

static bool fail(imp_nsys *nsys, takt_status status, const char *problem)
{
    if (nsys->status == TAKT_OK)
        nsys->status = tkt_error_set(nsys->error, status, "%s: %s", nsys->path, problem);
    return false;
}

static bool fail_without_memory(imp_nsys *nsys)
{
    return fail(nsys, TAKT_NO_MEMORY, takt_status_text(TAKT_NO_MEMORY));
}

/* What SQLite's code means for a file of Nsight Systems'. */
static const char *meaning_of(int code)
{
    switch (code) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return "the file is damaged or cut off";
    case SQLITE_INTERRUPT: /* by count_work() */
    case SQLITE_TOOBIG:    /* longer than the file */
        return "the file is damaged, or not of Nsight Systems: it asks for more work than its size "
               "explains";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_READONLY: /* there is a journal */
        return "another program is writing the file, or was stopped before it was done";
    default:
        return "SQLite cannot read the file";
    }
}

static bool fail_of_sqlite(imp_nsys *nsys)
{
    char text[512];
    int code = sqlite3_errcode(nsys->db) & 0xFF;
    if (code == SQLITE_NOMEM)
        return fail_without_memory(nsys);
    snprintf(text, sizeof text, "%s (%.200s%s%s). Export it again: nsys export --type sqlite",
             meaning_of(code), sqlite3_errmsg(nsys->db), nsys->table ? ", table " : "",
             nsys->table ? nsys->table->name : "");
    return fail(nsys, TAKT_BAD_TRACE, text);
}

static bool fail_of_column(imp_nsys *nsys, const imp_table *table, const imp_column *column)
{
    char text[256];
    snprintf(text, sizeof text,
             "the table %s has no column %s, so its rows mean nothing: this release of Nsight "
             "Systems is not known",
             table->name, column->name);
    return fail(nsys, TAKT_BAD_TRACE, text);
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static bool has_row(imp_nsys *nsys, const char *sql, const char *a, const char *b)
{
    sqlite3_stmt *query = NULL;
    if (sqlite3_prepare_v2(nsys->db, sql, -1, &query, NULL) != SQLITE_OK)
        return fail_of_sqlite(nsys);
    sqlite3_bind_text(query, 1, a, -1, SQLITE_STATIC);
    if (b)
        sqlite3_bind_text(query, 2, b, -1, SQLITE_STATIC);
    bool result = sqlite3_step(query) == SQLITE_ROW;
    sqlite3_finalize(query);
    return result;
}

/* Views and virtual tables are programs of the file's: those are not run. */
static bool has_table(imp_nsys *nsys, const char *table)
{
    char text[160];
    if (!has_row(nsys, "SELECT 1 FROM sqlite_master WHERE type <> 'index' AND name = ?", table,
                 NULL))
        return false;
    if (has_row(nsys,
                "SELECT 1 FROM sqlite_master WHERE type = 'table' AND rootpage > 0 AND name = ?",
                table, NULL))
        return true;
    snprintf(
        text, sizeof text,
        "%s is a view or a virtual table, which Nsight Systems does not write, and Takt does not "
        "run",
        table);
    return fail(nsys, TAKT_BAD_TRACE, text);
}

static bool has_column(imp_nsys *nsys, const char *table, const char *column)
{
    return has_row(nsys, "SELECT 1 FROM pragma_table_info(?) WHERE name = ?", table, column);
}

/* Rows come as the arguments of an aggregate, which SQLite calls within its loop over the table:
 * with sqlite3_step() and sqlite3_column_int64(), reading the same values takes 1.6 times as long.
 */
#define TAKE "takt_take"

/* The query for the columns that the table has, and the others' fallbacks. The caller frees it with
 * sqlite3_free(); NULL after a failure. */
static char *query_of(imp_nsys *nsys, const imp_table *table)
{
    sqlite3_str *sql = sqlite3_str_new(nsys->db);
    sqlite3_str_appendall(sql, "SELECT " TAKE "(");
    for (size_t i = 0; i < table->column_count; i++) {
        const imp_column *column = &table->columns[i];
        bool is_there = has_column(nsys, table->name, column->name);
        if (!is_there && !column->fallback)
            fail_of_column(nsys, table, column);
        sqlite3_str_appendall(sql, i ? ", " : "");
        if (is_there)
            sqlite3_str_appendf(sql, "\"%w\"", column->name);
        else
            sqlite3_str_appendall(sql, column->fallback ? column->fallback : "NULL");
    }
    sqlite3_str_appendf(sql, ") FROM \"%w\"", table->name);
    if (table->condition)
        sqlite3_str_appendf(sql, " WHERE %s", table->condition);
    char *text = sqlite3_str_finish(sql);
    if (!text)
        fail_without_memory(nsys);
    if (nsys->status == TAKT_OK)
        return text;
    sqlite3_free(text);
    return NULL;
}

static void take_row(sqlite3_context *context, int count, sqlite3_value **row)
{
    imp_nsys *nsys = sqlite3_user_data(context);
    if ((size_t)count != nsys->table->column_count)
        return;
    nsys->table->take(nsys, row);
    nsys->rows++;
    if (nsys->build.is_short)
        sqlite3_result_error_nomem(context);
}

static void end_rows(sqlite3_context *context)
{
    (void)context;
}

static bool read_table(imp_nsys *nsys, const imp_table *table)
{
    sqlite3_stmt *query = NULL;
    nsys->table = table;
    if (!has_table(nsys, table->name))
        return nsys->status == TAKT_OK;
    char *sql = query_of(nsys, table);
    if (!sql)
        return false;
    int code = sqlite3_prepare_v2(nsys->db, sql, -1, &query, NULL);
    sqlite3_free(sql);
    while (code == SQLITE_OK || code == SQLITE_ROW)
        code = sqlite3_step(query);
    if (code != SQLITE_DONE)
        fail_of_sqlite(nsys);
    sqlite3_finalize(query);
    return nsys->status == TAKT_OK;
}

static bool read_tables(imp_nsys *nsys, const imp_table *tables, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!read_table(nsys, &tables[i]))
            return false;
    return true;
}

/* ---- Values ---------------------------------------------------------------------------------- */

uint32_t imp_nsys_string(const imp_nsys *nsys, int64_t id)
{
    const uint64_t *string = tkt_map_get(&nsys->strings, (uint64_t)id);
    return string ? (uint32_t)*string : 0;
}

uint64_t imp_column_u64(sqlite3_value **row, int column)
{
    int64_t value = sqlite3_value_int64(row[column]);
    return value > 0 ? (uint64_t)value : 0;
}

uint32_t imp_column_u32(sqlite3_value **row, int column)
{
    uint64_t value = imp_column_u64(row, column);
    return value <= UINT32_MAX ? (uint32_t)value : 0;
}

bool imp_nsys_time(imp_nsys *nsys, sqlite3_value **row, int column, uint64_t *ns)
{
    bool is_number = sqlite3_value_type(row[column]) == SQLITE_INTEGER ||
                     sqlite3_value_numeric_type(row[column]) == SQLITE_INTEGER;
    int64_t time = sqlite3_value_int64(row[column]);
    *ns = (uint64_t)time;
    if (is_number && time >= 0)
        return true;
    nsys->build.trace->losses[is_number ? nsys->table->bad_time : TAKT_LOSS_SKIPPED_EVENTS]++;
    return false;
}

bool imp_nsys_times(imp_nsys *nsys, sqlite3_value **row, uint64_t *begin_ns, uint64_t *end_ns)
{
    if (!imp_nsys_time(nsys, row, 0, begin_ns) || !imp_nsys_time(nsys, row, 1, end_ns))
        return false;
    if (*end_ns >= *begin_ns)
        return true;
    nsys->build.trace->losses[nsys->table->bad_time]++;
    return false;
}

uint32_t imp_nsys_process(imp_nsys *nsys, uint64_t global)
{
    /* The bits above the process's tell its machine. */
    return imp_build_process(&nsys->build, global >> 24, (uint32_t)(global >> 24) & 0xFFFFFFu);
}

imp_row *imp_nsys_row(imp_nsys *nsys, uint64_t global_thread)
{
    return imp_build_row(&nsys->build, global_thread, imp_nsys_process(nsys, global_thread),
                         (uint32_t)global_thread & 0xFFFFFFu);
}

/* ---- The whole ------------------------------------------------------------------------------- */

#define OPERATIONS    100000     /* of SQLite, between two calls of count_work() */
#define LONGEST_VALUE 1000000000 /* SQLite's own limit */

/* Stops SQLite where a damaged file would keep it busy for ever. A row of 40 columns takes 100
 * operations, and at least 40 bytes. */
static int count_work(void *user)
{
    imp_nsys *nsys = user;
    return nsys->work_left-- == 0;
}

#ifdef SQLITE_DIRECTONLY
#define FUNCTION_FLAGS (SQLITE_UTF8 | SQLITE_DIRECTONLY)
#else
#define FUNCTION_FLAGS SQLITE_UTF8
#endif

/* The file may come from anybody: nothing that it defines is run, and no value is longer than it.
 */
static void distrust(imp_nsys *nsys)
{
    uint64_t bytes = tkt_file_bytes(nsys->path);
#ifdef SQLITE_DBCONFIG_TRUSTED_SCHEMA /* since 3.31; what has_table() refuses is enough without */
    sqlite3_db_config(nsys->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(nsys->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(nsys->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
#endif
    if (bytes < LONGEST_VALUE)
        sqlite3_limit(nsys->db, SQLITE_LIMIT_LENGTH, bytes < (1 << 20) ? 1 << 20 : (int)bytes);
    nsys->work_left = 50 + bytes / (OPERATIONS / 32);
    sqlite3_progress_handler(nsys->db, OPERATIONS, count_work, nsys);
}

static bool open_database(imp_nsys *nsys)
{
    int code =
        sqlite3_open_v2(nsys->path, &nsys->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);
    if (code == SQLITE_OK)
        distrust(nsys);
    if (code == SQLITE_OK)
        code = sqlite3_create_function(nsys->db, TAKE, -1, FUNCTION_FLAGS, nsys, NULL, take_row,
                                       end_rows);
    if (code == SQLITE_OK)
        return true;
    return nsys->db ? fail_of_sqlite(nsys) : fail_without_memory(nsys);
}

static bool read_all(imp_nsys *nsys)
{
    if (imp_build_init(&nsys->build) != TAKT_OK)
        return fail_without_memory(nsys);
    if (!open_database(nsys))
        return false;
    if (!has_table(nsys, "StringIds"))
        return fail(nsys, TAKT_BAD_TRACE,
                    "an SQLite file that Nsight Systems did not write: it has no table StringIds. "
                    "Takt reads what `nsys export --type sqlite` writes, and of its own files "
                    "the .pftrace");
    if (!read_tables(nsys, imp_nsys_names, imp_nsys_name_count))
        return false;
    nsys->rows = 0;
    return read_tables(nsys, imp_nsys_host, imp_nsys_host_count) &&
           read_tables(nsys, imp_nsys_device, imp_nsys_device_count);
}

/* Tells of tables that a newer release may have instead of this one: NVTX_EVENTS_V2. */
static bool note_other_table(imp_nsys *nsys, const imp_table *table)
{
    static const char sql[] = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND "
                              "name GLOB ? || '_*'";
    sqlite3_stmt *query = NULL;
    if (sqlite3_prepare_v2(nsys->db, sql, -1, &query, NULL) != SQLITE_OK)
        return fail_of_sqlite(nsys);
    sqlite3_bind_text(query, 1, table->name, -1, SQLITE_STATIC);
    if (sqlite3_step(query) == SQLITE_ROW)
        imp_build_note(&nsys->build, "left out the table %.60s, which is not known",
                       (const char *)sqlite3_column_text(query, 0));
    sqlite3_finalize(query);
    return true;
}

/* Says what one may look for in vain. */
static bool note_missing(imp_nsys *nsys)
{
    for (size_t i = 0; i < imp_nsys_host_count; i++)
        if (!note_other_table(nsys, &imp_nsys_host[i]))
            return false;
    for (size_t i = 0; i < imp_nsys_device_count; i++)
        if (!note_other_table(nsys, &imp_nsys_device[i]))
            return false;
    if (nsys->free_ranges && !nsys->nested_ranges && nsys->build.trace->activities.count)
        imp_build_note(&nsys->build, "ranges that begin and end by id have no kernels: only those "
                                     "that are pushed and popped do");
    return nsys->rows || nsys->build.note[0] ||
           fail(nsys, TAKT_BAD_TRACE,
                "there are no events of NVTX or CUDA: record with nsys profile --trace=cuda,nvtx");
}

takt_status imp_nsys_read(const char *path, takt_trace **out, takt_error *error)
{
    imp_nsys nsys = {.path = path, .error = error};
    if (read_all(&nsys) && note_missing(&nsys)) {
        nsys.build.trace->facts.realtime_offset_ns = nsys.real_ns;
        if (imp_build_finish(&nsys.build, tkt_base_name(path), "Nsight Systems (imported)", out) !=
            TAKT_OK)
            fail_without_memory(&nsys);
        else if (nsys.build.note[0])
            tkt_error_set(error, TAKT_OK, "%s: %s", path, nsys.build.note);
    }
    tkt_map_fini(&nsys.strings);
    tkt_map_fini(&nsys.calls);
    tkt_map_fini(&nsys.domains);
    tkt_map_fini(&nsys.categories);
    imp_build_fini(&nsys.build);
    sqlite3_close(nsys.db);
    return nsys.status;
}

#else

takt_status imp_nsys_read(const char *path, takt_trace **out, takt_error *error)
{
    (void)out;
    return tkt_error_set(error, TAKT_UNSUPPORTED,
                         "%s: this takt was built without SQLite, which Nsight Systems' files need",
                         path);
}

#endif
