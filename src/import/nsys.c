/* Opens the database, and reads tables by the columns that they have. */
#include "import/nsys.h"

#include "base/error.h"
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

static bool fail_of_sqlite(imp_nsys *nsys)
{
    int code = sqlite3_errcode(nsys->db);
    return code == SQLITE_NOMEM ? fail(nsys, TAKT_NO_MEMORY, takt_status_text(TAKT_NO_MEMORY))
                                : fail(nsys, TAKT_BAD_TRACE, sqlite3_errmsg(nsys->db));
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

static bool has_table(imp_nsys *nsys, const char *table)
{
    return has_row(nsys, "SELECT 1 FROM sqlite_master WHERE type IN ('table', 'view') AND name = ?",
                   table, NULL);
}

static bool has_column(imp_nsys *nsys, const char *table, const char *column)
{
    return has_row(nsys, "SELECT 1 FROM pragma_table_info(?) WHERE name = ?", table, column);
}

/* The query for the columns that the table has, and the others' fallbacks. The caller frees it with
 * sqlite3_free(); NULL after a failure. */
static char *query_of(imp_nsys *nsys, const imp_table *table)
{
    sqlite3_str *sql = sqlite3_str_new(nsys->db);
    sqlite3_str_appendall(sql, "SELECT ");
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
    sqlite3_str_appendf(sql, " FROM \"%w\"", table->name);
    char *text = sqlite3_str_finish(sql);
    if (!text)
        fail(nsys, TAKT_NO_MEMORY, takt_status_text(TAKT_NO_MEMORY));
    if (nsys->status == TAKT_OK)
        return text;
    sqlite3_free(text);
    return NULL;
}

static bool read_table(imp_nsys *nsys, const imp_table *table)
{
    sqlite3_stmt *row = NULL;
    if (!has_table(nsys, table->name))
        return nsys->status == TAKT_OK;
    char *sql = query_of(nsys, table);
    if (!sql)
        return false;
    int code = sqlite3_prepare_v2(nsys->db, sql, -1, &row, NULL);
    sqlite3_free(sql);
    while (code == SQLITE_OK || code == SQLITE_ROW) {
        code = sqlite3_step(row);
        if (code == SQLITE_ROW && !nsys->build.is_short)
            table->take(nsys, row);
        else if (code == SQLITE_ROW)
            code = SQLITE_NOMEM;
    }
    if (nsys->build.is_short)
        fail(nsys, TAKT_NO_MEMORY, takt_status_text(TAKT_NO_MEMORY));
    else if (code != SQLITE_DONE)
        fail_of_sqlite(nsys);
    sqlite3_finalize(row);
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

uint64_t imp_column_u64(sqlite3_stmt *row, int column)
{
    int64_t value = sqlite3_column_int64(row, column);
    return value > 0 ? (uint64_t)value : 0;
}

uint32_t imp_column_u32(sqlite3_stmt *row, int column)
{
    uint64_t value = imp_column_u64(row, column);
    return value <= UINT32_MAX ? (uint32_t)value : 0;
}

bool imp_nsys_times(imp_nsys *nsys, sqlite3_stmt *row, uint64_t *begin_ns, uint64_t *end_ns)
{
    int64_t begin = sqlite3_column_int64(row, 0), end = sqlite3_column_int64(row, 1);
    bool is_possible = begin >= 0 && end >= begin;
    nsys->build.trace->losses[TAKT_LOSS_CLOCK] += !is_possible;
    *begin_ns = (uint64_t)begin;
    *end_ns = (uint64_t)end;
    return is_possible;
}

imp_row *imp_nsys_row(imp_nsys *nsys, uint64_t global_thread)
{
    return imp_build_row(&nsys->build, global_thread, imp_nsys_process(global_thread),
                         (uint32_t)global_thread & 0xFFFFFFu);
}

/* ---- The whole ------------------------------------------------------------------------------- */

static bool read_all(imp_nsys *nsys)
{
    if (imp_build_init(&nsys->build) != TAKT_OK)
        return fail(nsys, TAKT_NO_MEMORY, takt_status_text(TAKT_NO_MEMORY));
    if (sqlite3_open_v2(nsys->path, &nsys->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) !=
        SQLITE_OK)
        return nsys->db ? fail_of_sqlite(nsys) : fail(nsys, TAKT_NO_MEMORY, "out of memory");
    if (!has_table(nsys, "StringIds"))
        return fail(nsys, TAKT_BAD_TRACE,
                    "an SQLite file that Nsight Systems did not write: it has no table StringIds. "
                    "Takt reads what `nsys export --type sqlite` writes, and of its own files "
                    "the .pftrace");
    return read_tables(nsys, imp_nsys_names, imp_nsys_name_count) &&
           read_tables(nsys, imp_nsys_host, imp_nsys_host_count) &&
           read_tables(nsys, imp_nsys_device, imp_nsys_device_count);
}

takt_status imp_nsys_read(const char *path, takt_trace **out, takt_error *error)
{
    imp_nsys nsys = {.path = path, .error = error};
    if (read_all(&nsys)) {
        nsys.build.trace->facts.realtime_offset_ns = nsys.real_ns;
        if (imp_build_finish(&nsys.build, tkt_base_name(path), "Nsight Systems (imported)", out) !=
            TAKT_OK)
            fail(&nsys, TAKT_NO_MEMORY, takt_status_text(TAKT_NO_MEMORY));
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
