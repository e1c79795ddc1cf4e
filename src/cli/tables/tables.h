/* A trace as tables of rows, for tools that ask questions of their own: SQLite files and folders of
 * CSV hold the same ones. A table is described once: its columns, and who fills them. */
#ifndef TAKT_CLI_TABLES_H
#define TAKT_CLI_TABLES_H

#include <takt/trace.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TABLES_FORMAT = 1, /* grows when a table or column changes its meaning or goes away */
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
        const char *text; /* the trace's, or constant */
    };
} table_value;

/* A row that is being filled, column by column, and who takes it when it is full. */
typedef struct table_row {
    table_value values[TABLE_MOST_COLUMNS];
    size_t      count;
    bool      (*take)(void *user, const struct table_row *row); /* false: it could not */
    void       *user;
} table_row;

void table_put_null(table_row *row);
void table_put_int(table_row *row, int64_t value);
void table_put_uint(table_row *row, uint64_t value);
void table_put_real(table_row *row, double value);
void table_put_text(table_row *row, const char *text); /* NULL: none */

/* The same, where 0 or "" mean that there is none, or that it is not known. */
void table_put_known(table_row *row, uint64_t value);
void table_put_known_real(table_row *row, double value);
void table_put_known_text(table_row *row, const char *text);

/* Three columns: begin, end and how long. */
void table_put_times(table_row *row, uint64_t begin_ns, uint64_t end_ns);

/* Hands the row over and empties it. False when it could not be taken: fill no more. */
bool table_row_end(table_row *row);

/* ---- Names (names.c) ---- */

/* The name of a kind that counts from 0, or NULL. */
#define TABLE_NAME_OF(names, kind) ((kind) < sizeof(names) / sizeof *(names) ? (names)[kind] : NULL)

/* Of a TAKT_TIMING_ bit; NULL: it is none. */
const char *table_activity_kind(uint32_t filter);

/* ---- What tables are made of (source.c) ---- */

/* A call path: a scope, below the path of the scope that it was opened in. */
typedef struct table_path {
    const char *name;
    const char *category;
    const char *file;
    uint32_t    line;
    uint32_t    filter; /* of a host activity: one TAKT_TIMING_ bit; otherwise 0 */
    uint32_t    parent; /* number of a path; 0: none */
    uint32_t    depth;  /* 0: opened outside of any other */
    bool        is_call;
    bool        is_recursive; /* inside a scope of the same name */
} table_path;

/* Paths are numbered from 1 as they come; item 0 is none. */
typedef struct table_paths {
    table_path *items;
    size_t      count;
    size_t      capacity;
    uint32_t   *slots; /* numbers by hash; a power of two of them */
    size_t      slot_count;
} table_paths; /* starts as {0} */

/* The number of the path of a span below the path `parent`; 0 without memory. */
uint32_t table_path_of(table_paths *paths, uint32_t parent, const takt_span_info *span);
void table_paths_fini(table_paths *paths);

/* Spans of all tracks are numbered from 0, track by track; their ids from 1. */
typedef struct table_source {
    const takt_trace *trace;
    size_t           *first;   /* by track: the number of its first span; then how many there are */
    uint32_t         *path;    /* by span: 0 on async tracks */
    int64_t          *self_ns; /* by span: less direct children, but with calls into devices'
                                * libraries, as the report "scopes" has it */
    table_paths       paths;
} table_source;

takt_status table_source_init(table_source *source, const takt_trace *trace);
void table_source_fini(table_source *source); /* also after a failure */

/* Puts the id of a span; NULL where it is none: SIZE_MAX. */
void table_put_span(table_row *row, const table_source *source, size_t track, size_t span);

/* Puts the id of a track, from 1; NULL where it is none: SIZE_MAX. */
void table_put_track(table_row *row, size_t track);

/* ---- Tables (source.c; table_*.c fill them) ---- */

typedef struct table_column {
    const char *name;
    const char *type; /* SQLite's: INTEGER, REAL, TEXT, or "" for whatever comes */
} table_column;

typedef struct table {
    const char         *name;
    const table_column *columns;
    size_t              column_count;
    bool (*fill)(const table_source *source, table_row *row); /* false: a row was not taken */
} table;

#define TABLE_OF(name, columns, fill) {name, columns, sizeof(columns) / sizeof *(columns), fill}

extern const table table_facts, table_losses, table_devices, table_tracks, table_steps; /* _facts */
extern const table table_spans, table_path_list, table_args, table_frames;              /* _spans */
extern const table table_api, table_activities, table_waits;                          /* _devices */
extern const table table_memory, table_memory_totals;                                   /* _memory */
extern const table table_idle_times, table_idle_in_scopes, table_busy_in_steps;         /* _idle */
extern const table table_counters, table_marks;                                        /* _events */

/* In the order in which they are written; NULL past the end. */
const table *table_at(size_t index);

/* ---- Formats (formats.c) ---- */

/* Names and one-line descriptions; NULL past the end. */
const char *table_format_name(size_t index);
const char *table_format_description(size_t index);
bool table_is_format(const char *name);

/* Writes a trace as `path`. Failures are told. CLI_OK or CLI_FAILED. */
int table_export(const takt_trace *trace, const char *format, const char *path);

/* ---- Files ---- */

/* sqlite.c: writes the file under a temporary name beside it, then renames. Failures are told.
 * CLI_OK or CLI_FAILED. */
int table_write_sqlite(const table_source *source, const char *path);

/* csv.c: writes NAME.csv for each table into the folder, which is made if need be; the same. */
int table_write_csv(const table_source *source, const char *folder);

#endif
