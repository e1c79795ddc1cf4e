/* Reads the SQLite files that `nsys export --type sqlite` writes. Nsight Systems adds and drops
 * tables and columns from release to release; a file has a table only if it has rows of it. */
#ifndef TKT_IMPORT_NSYS_H
#define TKT_IMPORT_NSYS_H

#include "import/build.h"

#include <takt/trace.h>

/* Reads the file. Fails as takt_trace_open() does. */
takt_status imp_nsys_read(const char *path, takt_trace **out, takt_error *error);

#ifdef TKT_HAVE_SQLITE

#include <sqlite3.h>

typedef struct imp_nsys {
    sqlite3 *db;
    const struct imp_table *table; /* being read */
    const char *path;
    takt_error *error;
    takt_status status;
    imp_build build;
    tkt_map strings;    /* id in the file -> string of the trace */
    tkt_map calls;      /* id of a name -> category << 32 | name, strings of the trace */
    tkt_map domains;    /* process and NVTX domain -> string */
    tkt_map categories; /* process, domain and category -> string */
    uint64_t work_left; /* see count_work() */
    int64_t real_ns;    /* CLOCK_REALTIME of time 0 */
    uint64_t rows;          /* read of tables of events */
    uint64_t nested_ranges; /* of NVTX, pushed and popped */
    uint64_t free_ranges;   /* of NVTX, begun and ended by id */
} imp_nsys;

/* A column to read. Without a fallback the table cannot be read without it. */
typedef struct imp_column {
    const char *name;
    const char *fallback; /* SQL; NULL: the column is needed */
} imp_column;

/* A table to read: each row goes to `take`, with the columns in this order. */
typedef struct imp_table {
    const char *name;
    const char *condition; /* SQL; NULL: all rows */
    const imp_column *columns;
    size_t column_count;
    void (*take)(imp_nsys *nsys, sqlite3_value **row);
    takt_loss bad_time; /* of rows whose times cannot be */
} imp_table;

#define IMP_ROWS(name, condition, columns, take, bad_time)                                         \
    {                                                                                              \
        name, condition, columns, sizeof(columns) / sizeof *(columns), take, bad_time              \
    }
#define IMP_TABLE(name, columns, take)  IMP_ROWS(name, NULL, columns, take, TAKT_LOSS_CLOCK)
#define IMP_DEVICE(name, columns, take) IMP_ROWS(name, NULL, columns, take, TAKT_LOSS_BAD_TIME)

/* The tables: names and processes first, since the others refer to them. */
extern const imp_table imp_nsys_names[];
extern const size_t imp_nsys_name_count;
extern const imp_table imp_nsys_host[];
extern const size_t imp_nsys_host_count;
extern const imp_table imp_nsys_device[];
extern const size_t imp_nsys_device_count;

/* The trace's string for one of the file's; 0 if the file lacks it. */
uint32_t imp_nsys_string(const imp_nsys *nsys, int64_t id);

/* A column as a number that fits; 0 for NULL and negative numbers. */
uint64_t imp_column_u64(sqlite3_value **row, int column);
uint32_t imp_column_u32(sqlite3_value **row, int column);

/* Reads a time, or a begin and an end. False for times that cannot be: a loss. */
bool imp_nsys_time(imp_nsys *nsys, sqlite3_value **row, int column, uint64_t *ns);
bool imp_nsys_times(imp_nsys *nsys, sqlite3_value **row, uint64_t *begin_ns, uint64_t *end_ns);

/* The number of the process in one of the file's global ids of threads and processes. */
uint32_t imp_nsys_process(imp_nsys *nsys, uint64_t global);

/* The row of a thread, by its global id. */
imp_row *imp_nsys_row(imp_nsys *nsys, uint64_t global_thread);

#endif
#endif
