/* Any bytes as a file of Nsight Systems': as the database, or as a recipe for one that SQLite
 * accepts: tables and columns that may be missing, and values of any type. The file is refused with
 * one line that says why, or becomes a trace, as in fuzz_import.c. */
#include "import/nsys.h"
#include "support/judge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#ifdef TKT_HAVE_SQLITE

/* ---- Recipes --------------------------------------------------------------------------------- */

typedef struct recipe {
    const uint8_t *at, *end;
} recipe;

/* 0 where the recipe ends. */
static uint8_t next(recipe *from)
{
    return from->at < from->end ? *from->at++ : 0;
}

static int64_t next_int64(recipe *from)
{
    uint64_t value = 0;
    for (int i = 0; i < 8; i++)
        value = value << 8 | next(from);
    return (int64_t)value;
}

#define WORK "start,end,deviceId,contextId,streamId,correlationId,globalPid,"

static const struct table {
    const char *name;
    const char *columns;
} tables[] = {
    {"StringIds", "id,value"},
    {"TARGET_INFO_SESSION_START_TIME", "utcEpochNs"},
    {"ThreadNames", "nameId,priority,globalTid"},
    {"TARGET_INFO_GPU", "id,cuDevice,name,computeMajor,computeMinor,smCount,totalMemory,"
                        "threadsPerWarp,maxBlocksPerSm,maxWarpsPerSm,maxRegistersPerSm,"
                        "maxShmemPerSm,maxThreadsPerBlock"},
    {"NVTX_EVENTS", "start,end,eventType,globalTid,text,textId,domainId,category"},
    {"CUPTI_ACTIVITY_KIND_RUNTIME", "start,end,globalTid,correlationId,nameId,returnValue"},
    {"CUPTI_ACTIVITY_KIND_KERNEL",
     WORK "demangledName,shortName,gridX,gridY,gridZ,blockX,blockY,blockZ,registersPerThread,"
          "staticSharedMemory,dynamicSharedMemory,localMemoryPerThread,graphNodeId"},
    {"CUPTI_ACTIVITY_KIND_MEMCPY", WORK "bytes,copyKind,srcKind,dstKind,graphNodeId"},
    {"CUPTI_ACTIVITY_KIND_MEMSET", WORK "bytes,memKind,graphNodeId"},
    {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", WORK "graphExecId,graphId"},
    {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", WORK "syncType,eventId"},
};

/* Mostly small numbers, so that ids and times meet. */
static void bind(sqlite3_stmt *row, int column, recipe *from)
{
    static const int64_t odd[] = {-1, INT64_MAX, INT64_MIN, UINT32_MAX, 59, 60, 75, 33};
    static const char *const texts[] = {"",
                                        "aten::mm, seq = 5, op_id = 2, sizes = [[1, 2]]",
                                        ", seq = ",
                                        "ProfilerStep#7",
                                        "cudaLaunchKernel_v7000",
                                        "7",
                                        "kernel(int)",
                                        "\xFF\xFE"};
    uint8_t kind = next(from);
    switch (kind % 16) {
    case 0:
        sqlite3_bind_null(row, column);
        break;
    case 1:
        sqlite3_bind_int64(row, column, next_int64(from));
        break;
    case 2:
        sqlite3_bind_int64(row, column, odd[kind / 16 % 8]);
        break;
    case 3:
        sqlite3_bind_text(row, column, texts[kind / 16 % 8], -1, SQLITE_STATIC);
        break;
    case 4:
        sqlite3_bind_double(row, column, (double)next_int64(from));
        break;
    case 5:
        sqlite3_bind_blob(row, column, from->at, (int)(from->end - from->at) / 8, SQLITE_STATIC);
        break;
    default:
        sqlite3_bind_int64(row, column, kind < 128 ? kind : next(from) * 256 + next(from));
    }
}

/* Runs a statement for each of `rows` rows; one without values for none. */
static void run(sqlite3 *db, const char *sql, recipe *from, int rows)
{
    sqlite3_stmt *row = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &row, NULL) != SQLITE_OK)
        return;
    for (int i = 0; i < rows; i++) {
        for (int k = 1; k <= sqlite3_bind_parameter_count(row); k++)
            bind(row, k, from);
        sqlite3_step(row);
        sqlite3_reset(row);
    }
    sqlite3_finalize(row);
}

/* Makes a table of the columns that are not left out. */
static void make_table(sqlite3 *db, const struct table *table, recipe *from)
{
    static const char *const types[] = {"INTEGER", "TEXT", "", "REAL"};
    char create[1024], insert[1024], columns[512];
    uint8_t choice = next(from);
    uint32_t left_out = choice & 8 ? (uint32_t)next(from) << 8 | next(from) : 0;
    int created = snprintf(create, sizeof create, "CREATE TABLE %s(odd", table->name);
    int inserted = snprintf(insert, sizeof insert, "INSERT INTO %s VALUES(0", table->name);
    char *rest = columns;
    snprintf(columns, sizeof columns, "%s", table->columns);
    if (choice % 8 == 7)
        return;
    for (char *name; (name = strsep(&rest, ",")); left_out >>= 1) {
        if (left_out & 1)
            continue;
        created += snprintf(create + created, sizeof create - (size_t)created, ", %s %s", name,
                            types[choice / 64]);
        inserted += snprintf(insert + inserted, sizeof insert - (size_t)inserted, ", ?");
    }
    snprintf(create + created, sizeof create - (size_t)created, ")");
    snprintf(insert + inserted, sizeof insert - (size_t)inserted, ")");
    run(db, create, from, 1);
    run(db, insert, from, next(from) % 16);
}

static void make_database(const char *file, recipe from)
{
    sqlite3 *db;
    judge(sqlite3_open(file, &db) == SQLITE_OK);
    judge(sqlite3_exec(
              db,
              "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA page_size = 512; BEGIN",
              NULL, NULL, NULL) == SQLITE_OK);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        make_table(db, &tables[i], &from);
    judge(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK);
    sqlite3_close(db);
}

/* ---- The target ------------------------------------------------------------------------------ */

static char path[] = "/tmp/takt-fuzz-nsys-XXXXXX";

static void remove_file(void)
{
    unlink(path);
}

/* A file with a name: SQLite would look for the one behind /proc/self/fd. */
static int make_file(void)
{
    int file = mkstemp(path);
    judge(file >= 0 && atexit(remove_file) == 0);
    return file;
}

/* One in so many traces, since judging takes much longer than reading. */
#define FULLY_JUDGED 16

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const char head[] = "SQLite format 3";
    static int file = -1;
    takt_trace *trace = NULL;
    takt_error error = {0};
    if (file < 0)
        file = make_file();
    judge(ftruncate(file, 0) == 0);
    if (size < sizeof head || memcmp(bytes, head, sizeof head - 1) != 0)
        make_database(path, (recipe){bytes, bytes + size});
    else
        judge(pwrite(file, bytes, size, 0) == (ssize_t)size);
    takt_status status = imp_nsys_read(path, &trace, &error);
    if (trace && size % FULLY_JUDGED)
        takt_trace_release(trace);
    else
        judge_opened(status, trace, &error, size);
    return 0;
}

#else

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    (void)bytes;
    (void)size;
    return 0;
}

#endif
