/* Tables about all steps of the run, recorded or not. */
#include "cli/tables/tables.h"
#include "trace/model.h"

static const table_column part_columns[] = {{"first_step", "INTEGER PRIMARY KEY"},
                                            {"steps", "INTEGER"},
                                            {"total_ns", "INTEGER"},
                                            {"min_ns", "INTEGER"},
                                            {"max_ns", "INTEGER"}};

static bool fill_parts(const table_source *source, table_row *row)
{
    const tkt_run_steps *run = source->trace->run;
    for (size_t i = 0; run && i < tkt_run_part_count(run); i++) {
        tkt_run_part part = tkt_run_part_at(run, i);
        table_put_uint(row, part.first);
        table_put_uint(row, part.count);
        table_put_uint(row, part.total_ns);
        table_put_uint(row, part.min_ns);
        table_put_uint(row, part.max_ns);
        if (!table_row_end(row))
            return false;
    }
    return true;
}

const table table_run_steps = TABLE_OF("run_steps", part_columns, fill_parts);

static const table_column window_columns[] = {
    {"first_step", "INTEGER PRIMARY KEY"}, {"last_step", "INTEGER"}, {"recorded", "INTEGER"}};

static bool fill_windows(const table_source *source, table_row *row)
{
    const tkt_run_steps *run = source->trace->run;
    for (size_t i = 0; run && i < run->window_count; i++) {
        table_put_uint(row, run->windows[i].first);
        table_put_uint(row, run->windows[i].last);
        table_put_uint(row, run->windows[i].recorded);
        if (!table_row_end(row))
            return false;
    }
    return true;
}

const table table_run_windows = TABLE_OF("run_windows", window_columns, fill_windows);

static const table_column slowest_columns[] = {
    {"step", "INTEGER"}, {"duration_ns", "INTEGER"}, {"recorded", "INTEGER"}};

static bool fill_slowest(const table_source *source, table_row *row)
{
    const tkt_run_steps *run = source->trace->run;
    for (size_t i = 0; run && i < run->slowest_count; i++) {
        const tkt_run_step *step = &run->slowest[i];
        tkt_run_recorded recorded = tkt_run_is_recorded(run, step->number);
        table_put_uint(row, step->number);
        table_put_uint(row, step->duration_ns);
        if (recorded == TKT_RUN_PERHAPS_RECORDED)
            table_put_null(row);
        else
            table_put_uint(row, recorded == TKT_RUN_RECORDED);
        if (!table_row_end(row))
            return false;
    }
    return true;
}

const table table_slowest_steps = TABLE_OF("slowest_steps", slowest_columns, fill_slowest);
