#include "cli/tables/tables.h"

#include <assert.h>

static table_value *next(table_row *row, table_kind kind)
{
    assert(row->count < TABLE_MOST_COLUMNS);
    table_value *value = &row->values[row->count++];
    value->kind = kind;
    return value;
}

void table_put_null(table_row *row)
{
    next(row, TABLE_NULL);
}

void table_put_int(table_row *row, int64_t value)
{
    next(row, TABLE_INT)->i = value;
}

void table_put_uint(table_row *row, uint64_t value)
{
    next(row, TABLE_UINT)->u = value;
}

void table_put_real(table_row *row, double value)
{
    next(row, TABLE_REAL)->d = value;
}

void table_put_text(table_row *row, const char *text)
{
    next(row, text ? TABLE_TEXT : TABLE_NULL)->text = text;
}

void table_put_known(table_row *row, uint64_t value)
{
    next(row, value ? TABLE_UINT : TABLE_NULL)->u = value;
}

void table_put_known_real(table_row *row, double value)
{
    next(row, value != 0 ? TABLE_REAL : TABLE_NULL)->d = value;
}

void table_put_known_text(table_row *row, const char *text)
{
    table_put_text(row, text && *text ? text : NULL);
}

void table_put_times(table_row *row, uint64_t begin_ns, uint64_t end_ns)
{
    table_put_uint(row, begin_ns);
    table_put_uint(row, end_ns);
    table_put_uint(row, end_ns - begin_ns);
}

void table_put_track(table_row *row, size_t track)
{
    table_put_known(row, track == SIZE_MAX ? 0 : track + 1);
}

void table_put_span(table_row *row, const table_source *source, size_t track, size_t span)
{
    bool is_none = track == SIZE_MAX || span == SIZE_MAX;
    table_put_known(row, is_none ? 0 : source->first[track] + span + 1);
}

bool table_row_end(table_row *row)
{
    bool is_taken = row->take(row->user, row);
    row->count = 0;
    return is_taken;
}
