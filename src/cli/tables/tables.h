/* A trace as tables of rows, for tools that run their own queries. SQLite files and folders of CSV
 * files hold the same tables. Each table is described once: its columns, and the function that
 * fills it. */
#ifndef TAKT_CLI_TABLES_H
#define TAKT_CLI_TABLES_H

#include "summary/compile.h"

#include <takt/trace.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TABLES_FORMAT = 1, /* increased when a table or column changes its meaning or is removed */
    TABLE_MOST_COLUMNS = 48
};

/* ---- Rows (source.c) ---- */

typedef enum table_kind { TABLE_NULL, TABLE_INT, TABLE_UINT, TABLE_REAL, TABLE_TEXT } table_kind;

typedef struct table_value {
    table_kind kind;
    union {
        int64_t     i;
        uint64_t    u;
        double      d;
        const char *text; /* owned by the trace, or constant */
    };
} table_value;

/* A row under construction, and the function that receives each finished row. */
typedef struct table_row {
    table_value values[TABLE_MOST_COLUMNS];
    size_t      count;
    size_t      step; /* where table_put_step() goes on */
    bool      (*take)(void *user, const struct table_row *row); /* false: it failed */
    void       *user;
} table_row;

void table_put_null(table_row *row);
void table_put_int(table_row *row, int64_t value);
void table_put_uint(table_row *row, uint64_t value);
void table_put_real(table_row *row, double value);
void table_put_text(table_row *row, const char *text); /* NULL becomes a null value */

/* The same, but 0 or "" (none, or unknown) becomes a null value. */
void table_put_known(table_row *row, uint64_t value);
void table_put_known_real(table_row *row, double value);
void table_put_known_text(table_row *row, const char *text);

/* Puts three columns: begin, end and duration. */
void table_put_times(table_row *row, uint64_t begin_ns, uint64_t end_ns);

/* Hands the row over and empties it. False after a failure: stop filling. */
bool table_row_end(table_row *row);

/* ---- Names (source.c) ---- */

/* The name of a kind that counts from 0; NULL if the array has none. */
#define TABLE_NAME_OF(names, kind) ((kind) < sizeof(names) / sizeof *(names) ? (names)[kind] : NULL)

/* Returns the name of a TAKT_TIMING_ bit; NULL if it is not an activity's. */
const char *table_activity_kind(uint32_t filter);

/* ---- Data that several tables need (source.c) ---- */

/* A call path: a scope below the path of the scope that encloses it. */
typedef struct table_path {
    const char *name;
    const char *category;
    const char *file;
    uint32_t    line;
    uint32_t    filter; /* for a host activity one TAKT_TIMING_ bit, otherwise 0 */
    uint32_t    parent; /* number of the enclosing path; 0: none */
    uint32_t    depth;  /* 0: outermost */
    bool        is_call;
    bool        is_recursive; /* inside a scope of the same name */
    bool        is_wait; /* tkt_span_waits() */
} table_path;

/* Paths are numbered from 1 in order of first use; item 0 is unused. */
typedef struct table_paths {
    table_path *items;
    size_t      count;
    size_t      capacity;
    uint32_t   *slots; /* path number by hash, 0: free; the size is a power of two */
    size_t      slot_count;
} table_paths; /* start as {0} */

/* Returns the path number of a span below path `parent`; 0: no memory. */
uint32_t table_path_of(table_paths *paths, uint32_t parent, const takt_span_info *span);
void table_paths_fini(table_paths *paths);

/* Spans of all tracks are numbered from 0, track by track. Their ids in tables start at 1. */
typedef struct table_source {
    const takt_trace *trace;
    size_t           *first;   /* by track: number of its first span; the last item is the number of
                                * all spans */
    uint32_t         *path;    /* by span: its path; 0 on async tracks */
    int64_t          *self_ns; /* by span: its time without direct children; calls into device
                                * libraries count as own time, as in the report "scopes" */
    table_paths       paths;
    tkt_compiles      compiles;
    char             *compile_phases; /* their names, one after the other, each with its NUL */
} table_source;

takt_status table_source_init(table_source *source, const takt_trace *trace);
void table_source_fini(table_source *source); /* also allowed after a failure */

/* Puts the id of a span; null if `track` or `span` is SIZE_MAX. */
void table_put_span(table_row *row, const table_source *source, size_t track, size_t span);

/* Puts the id of a track, which is its index + 1; null for SIZE_MAX. */
void table_put_track(table_row *row, size_t track);

/* Puts the number of the step that runs at a time; null for none. Rows are mostly in order of time,
 * so the search goes on from the last row's step. */
void table_put_step(table_row *row, const table_source *source, uint64_t time_ns);

/* ---- Tables (source.c; table_*.c fill them) ---- */

typedef struct table_column {
    const char *name;
    const char *type; /* SQLite's: INTEGER, REAL, TEXT, or "" for any type */
} table_column;

typedef struct table {
    const char         *name;
    const table_column *columns;
    size_t              column_count;
    bool (*fill)(const table_source *source, table_row *row); /* false: a row was not accepted */
} table;

#define TABLE_OF(name, columns, fill) {name, columns, sizeof(columns) / sizeof *(columns), fill}

/* table_host.c */
extern const table table_facts, table_losses, table_devices, table_tracks, table_steps;
extern const table table_spans, table_path_list, table_args, table_frames;
/* table_run.c */
extern const table table_run_steps, table_run_windows, table_slowest_steps;
/* table_devices.c */
extern const table table_api, table_activities, table_waits, table_overheads;
extern const table table_memory, table_memory_totals;
/* table_phases.c */
extern const table table_blocks, table_phases, table_compile, table_compile_loading;
/* table_idle.c */
extern const table table_idle_times, table_idle_in_scopes, table_known_times, table_busy_in_steps;
/* table_host.c */
extern const table table_counters, table_marks, table_flows;

/* Tables in the order in which they are written; NULL past the end. */
const table *table_at(size_t index);

/* ---- Formats (sqlite.c) ---- */

/* Names and one-line descriptions; NULL past the end. */
const char *table_format_name(size_t index);
const char *table_format_description(size_t index);
bool table_is_format(const char *name);

/* Writes a trace to `path`. Returns CLI_OK, or CLI_FAILED after reporting the error. */
int table_export(const takt_trace *trace, const char *format, const char *path);

/* ---- Files ---- */

/* sqlite.c: writes a temporary file next to `path`, then renames it. Returns CLI_OK, or CLI_FAILED
 * after reporting the error. */
int table_write_sqlite(const table_source *source, const char *path);

/* csv.c: writes NAME.csv for each table into the folder and creates the folder if necessary.
 * Returns the same. */
int table_write_csv(const table_source *source, const char *folder);

#endif
