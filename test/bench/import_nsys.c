/* Files of Nsight Systems', as `nsys export --type sqlite` writes their tables and columns. */
#include "import.h"

#include "import/nsys.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef TKT_HAVE_SQLITE

static const char tables[] =
    "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN;"
    "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
    "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, rangeId INTEGER,"
    " category INTEGER, color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER,"
    " textId INTEGER, domainId INTEGER, uint64Value INTEGER, int64Value INTEGER, doubleValue REAL,"
    " uint32Value INTEGER, int32Value INTEGER, floatValue REAL, jsonTextId INTEGER,"
    " jsonText TEXT, binaryData TEXT);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER,"
    " globalTid INTEGER, correlationId INTEGER, nameId INTEGER, returnValue INTEGER,"
    " callchainId INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER,"
    " contextId INTEGER, greenContextId INTEGER, streamId INTEGER, correlationId INTEGER,"
    " globalPid INTEGER, demangledName INTEGER, shortName INTEGER, mangledName INTEGER,"
    " launchType INTEGER, cacheConfig INTEGER, registersPerThread INTEGER, gridX INTEGER,"
    " gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER,"
    " staticSharedMemory INTEGER, dynamicSharedMemory INTEGER, localMemoryPerThread INTEGER,"
    " localMemoryTotal INTEGER, gridId INTEGER, sharedMemoryExecuted INTEGER,"
    " graphNodeId INTEGER, sharedMemoryLimitConfig INTEGER);";

/* Each row from its number, ?1; ?2 names and ?3 threads. */
static const char *const rows[] = {
    "INSERT INTO NVTX_EVENTS (start, end, eventType, globalTid, textId, domainId) VALUES"
    " (1000000000 + ?1 * 50000, 1000040000 + ?1 * 50000, 59,"
    " 0x1000064000000 + 100 + ?1 % ?3, 10 + ?1 % ?2, 0)",
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1000010000 + ?1 * 50000,"
    " 1000015000 + ?1 * 50000, 0, 0x1000064000000 + 100 + ?1 % ?3, 1 + ?1, 1, 0, ?2)",
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1000020000 + ?1 * 50000,"
    " 1000045000 + ?1 * 50000, 0, 1, NULL, 7, 1 + ?1, 0x1000064000000, 2, 2, 2, 0, 0, 32,"
    " 1 + ?1 % 64, 1, 1, 128, 1, 1, 0, 0, 0, 0, ?1, ?2, 0, ?3)",
};

static const char *const columns[] = {
    "SELECT start, end, eventType, globalTid, text, textId, domainId, category FROM NVTX_EVENTS",
    "SELECT start, end, globalTid, correlationId, nameId, returnValue"
    " FROM CUPTI_ACTIVITY_KIND_RUNTIME",
    "SELECT start, end, deviceId, contextId, streamId, correlationId, globalPid, demangledName,"
    " shortName, gridX, gridY, gridZ, blockX, blockY, blockZ, registersPerThread,"
    " staticSharedMemory, dynamicSharedMemory, localMemoryPerThread, graphNodeId"
    " FROM CUPTI_ACTIVITY_KIND_KERNEL",
};

static void insert(sqlite3 *db, const char *sql, uint64_t count, const import_plan *plan)
{
    sqlite3_stmt *row = NULL;
    sqlite3_prepare_v2(db, sql, -1, &row, NULL);
    for (uint64_t i = 0; i < count; i++) {
        sqlite3_bind_int64(row, 1, (int64_t)i);
        sqlite3_bind_int64(row, 2, (int64_t)plan->names);
        sqlite3_bind_int64(row, 3, (int64_t)plan->threads);
        sqlite3_step(row);
        sqlite3_reset(row);
    }
    sqlite3_finalize(row);
}

static bool fill(const char *path, const import_plan *plan)
{
    sqlite3 *db = NULL;
    bool is_open = sqlite3_open(path, &db) == SQLITE_OK &&
                   sqlite3_exec(db, tables, NULL, NULL, NULL) == SQLITE_OK;
    if (is_open) {
        sqlite3_exec(db,
                     "INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel_v7000'),"
                     " (2, 'void at::native::vectorized_add<4, float>(int, float*)')",
                     NULL, NULL, NULL);
        insert(db, "INSERT INTO StringIds VALUES (10 + ?1, 'aten::op_' || ?1)", plan->names, plan);
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            insert(db, rows[i], plan->events / 3, plan);
    }
    bool is_good = is_open && sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK;
    sqlite3_close(db);
    return is_good;
}

bool import_nsys_make(const import_plan *plan, import_nsys *out)
{
    struct stat status;
    snprintf(out->path, sizeof out->path, "/tmp/takt-bench-nsys-XXXXXX");
    int fd = mkstemp(out->path);
    if (fd < 0)
        return false;
    bool is_good = fill(out->path, plan) && fstat(fd, &status) == 0;
    close(fd);
    if (is_good)
        out->bytes = (double)status.st_size;
    else
        import_nsys_free(out);
    return is_good;
}

double import_nsys_floor(const import_nsys *file)
{
    sqlite3 *db = NULL;
    double begin = bench_cpu_seconds();
    sqlite3_open_v2(file->path, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        sqlite3_stmt *query = NULL;
        sqlite3_prepare_v2(db, columns[i], -1, &query, NULL);
        while (sqlite3_step(query) == SQLITE_ROW)
            continue;
        sqlite3_finalize(query);
    }
    sqlite3_close(db);
    return bench_cpu_seconds() - begin;
}

void import_nsys_free(import_nsys *file)
{
    unlink(file->path);
}

#else

bool import_nsys_make(const import_plan *plan, import_nsys *out)
{
    (void)plan;
    (void)out;
    return false;
}

double import_nsys_floor(const import_nsys *file)
{
    (void)file;
    return NAN;
}

void import_nsys_free(import_nsys *file)
{
    (void)file;
}

#endif

takt_status import_nsys_read(const void *file, takt_trace **out)
{
    return imp_nsys_read(((const import_nsys *)file)->path, out, NULL);
}
