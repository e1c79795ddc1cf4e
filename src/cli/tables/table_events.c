/* Counters and marks. */
#include "cli/tables/tables.h"

static const table_column counter_columns[] = {
    {"name", "TEXT"}, {"time_ns", "INTEGER"}, {"value", "REAL"}};

static bool fill_counters(const table_source *source, table_row *row)
{
    takt_counter_info counter;
    for (size_t i = 0; takt_trace_counter(source->trace, i, &counter) == TAKT_OK; i++) {
        table_put_text(row, counter.name);
        table_put_uint(row, counter.time_ns);
        table_put_real(row, counter.value);
        if (!table_row_end(row))
            return false;
    }
    return true;
}

const table table_counters = TABLE_OF("counters", counter_columns, fill_counters);

static const table_column mark_columns[] = {
    {"name", "TEXT"}, {"time_ns", "INTEGER"}, {"track", "INTEGER REFERENCES tracks"}};

static bool fill_marks(const table_source *source, table_row *row)
{
    takt_mark_info mark;
    for (size_t i = 0; takt_trace_mark(source->trace, i, &mark) == TAKT_OK; i++) {
        table_put_text(row, mark.name);
        table_put_uint(row, mark.time_ns);
        table_put_track(row, mark.track);
        if (!table_row_end(row))
            return false;
    }
    return true;
}

const table table_marks = TABLE_OF("marks", mark_columns, fill_marks);
