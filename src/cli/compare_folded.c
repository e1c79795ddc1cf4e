/* What a trace without spans says of the rows of a comparison. The folded form is reached through
 * the report `scopes`, whose CSV names its columns; single calls are not known from it. */
#include "cli/compare.h"

#include <takt/report.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_FIELDS = 64
};

typedef struct text {
    char *bytes;
    size_t count;
    size_t capacity;
} text;

static takt_status append(void *user, const void *data, size_t size)
{
    text *t = user;
    if (t->count + size + 1 > t->capacity) {
        size_t capacity = 2 * (t->count + size + 1);
        char *bytes = realloc(t->bytes, capacity);
        if (!bytes)
            return TAKT_NO_MEMORY;
        t->bytes = bytes;
        t->capacity = capacity;
    }
    memcpy(t->bytes + t->count, data, size);
    t->count += size;
    t->bytes[t->count] = '\0';
    return TAKT_OK;
}

/* Splits a line of CSV (RFC 4180) where it stands; Takt writes no line breaks into fields. Returns
 * the next line, NULL at the end. */
static char *split_line(char *line, char *fields[MOST_FIELDS])
{
    size_t count = 0;
    char *to = line;

    memset(fields, 0, MOST_FIELDS * sizeof *fields);
    for (bool is_quoted = false;; line++) {
        if (!fields[count])
            fields[count] = to;
        bool is_end = *line == '\0' || (!is_quoted && *line == '\r');
        if (is_end || (!is_quoted && *line == ',')) {
            bool is_last = is_end || count + 1 == MOST_FIELDS;
            char *next = *line == '\r' && line[1] == '\n' ? line + 2 : NULL;
            *to++ = '\0';
            count++;
            if (is_last)
                return next && *next ? next : NULL;
        } else if (*line != '"' || (is_quoted && line[1] == '"' && line++)) {
            *to++ = *line;
        } else {
            is_quoted = !is_quoted;
        }
    }
}

/* Where the columns that count here stand. */
typedef struct columns {
    int name, kind, calls, total, self, cuda_total, cuda_self;
} columns;

static int column_named(char *const *titles, const char *name)
{
    for (int i = 0; i < MOST_FIELDS && titles[i]; i++)
        if (strcmp(titles[i], name) == 0)
            return i;
    return -1;
}

static double number(char *const *fields, int column)
{
    return column < 0 || !fields[column] ? 0 : strtod(fields[column], NULL);
}

/* `total` and `self` are the columns of its times. */
static bool add_row(cli_comparison *comparison, int side, cli_row_kind kind, const columns *at,
                    int total, int self, char *const *fields)
{
    uint32_t row = cli_rows_find(&comparison->rows, kind, CLI_NO_ROW, fields[at->name]);
    if (row == CLI_NO_ROW)
        return false;
    cli_part *part = &comparison->rows.items[row].parts[side];
    part->calls += (uint64_t)number(fields, at->calls);
    part->total_ns += number(fields, total);
    part->self_ns += number(fields, self);
    return true;
}

/* The rows of a line: a scope that launched something has a second one, of devices. */
static bool add_line(cli_comparison *comparison, int side, cli_row_kind kind, const columns *at,
                     char *const *fields)
{
    if (kind == CLI_ROW_ACTIVITY)
        return add_row(comparison, side, kind, at, at->cuda_self, at->cuda_self, fields);
    bool has_launched = kind == CLI_ROW_SCOPE && number(fields, at->cuda_total) > 0;
    return add_row(comparison, side, kind, at, at->total, at->self, fields) &&
           (!has_launched ||
            add_row(comparison, side, CLI_ROW_CUDA, at, at->cuda_total, at->cuda_self, fields));
}

static cli_row_kind kind_of(const char *name)
{
    return strcmp(name, "activity") == 0 ? CLI_ROW_ACTIVITY
           : strcmp(name, "call") == 0   ? CLI_ROW_CALL
                                         : CLI_ROW_SCOPE;
}

/* Takes the rows of devices, or those of the host. With `all` a scope's calls are not part of it,
 * and only then the report lists activities: so it is read twice. */
static takt_status add_table(cli_comparison *comparison, int side, const takt_trace *trace,
                             bool all, bool devices)
{
    text table = {0};
    char *fields[MOST_FIELDS];
    takt_sink sink = {.write = append, .user = &table};
    takt_report_options options = {
        .struct_size = sizeof options, .format = TAKT_FORMAT_CSV, .rows = -1, .all = all};
    takt_status status = takt_report(trace, "scopes", &options, &sink);

    char *line = status == TAKT_OK ? split_line(table.bytes, fields) : NULL;
    columns at = {.name = column_named(fields, "name"),
                  .kind = column_named(fields, "kind"),
                  .calls = column_named(fields, "calls"),
                  .total = column_named(fields, "cpu_total_ns"),
                  .self = column_named(fields, "self_cpu_ns"),
                  .cuda_total = column_named(fields, "cuda_total_ns"),
                  .cuda_self = column_named(fields, "self_cuda_ns")};
    while (line && status == TAKT_OK) {
        line = split_line(line, fields);
        cli_row_kind kind = at.kind < 0 ? CLI_ROW_SCOPE : kind_of(fields[at.kind]);
        if ((kind == CLI_ROW_ACTIVITY) == devices && !add_line(comparison, side, kind, &at, fields))
            status = TAKT_NO_MEMORY;
    }
    free(table.bytes);
    return status;
}

takt_status cli_compare_folded(cli_comparison *comparison, int side, const takt_trace *trace)
{
    takt_status status = add_table(comparison, side, trace, comparison->options.all, false);
    return status == TAKT_OK ? add_table(comparison, side, trace, true, true) : status;
}
