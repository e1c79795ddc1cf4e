/* Memory: allocations and frees one by one, and totals. */
#include "cli/tables/tables.h"

#include "cuda/kinds.h"

static const table_column memory_columns[] = {{"time_ns", "INTEGER"},
                                              {"device", "TEXT"},
                                              {"kind", "TEXT"},
                                              {"is_pool", "INTEGER"},
                                              {"address", "INTEGER"},
                                              {"bytes", "INTEGER"},
                                              {"scope", "TEXT"},
                                              {"thread", "INTEGER"},
                                              {"track", "INTEGER REFERENCES tracks"},
                                              {"span", "INTEGER REFERENCES spans"}};

static const char *device_name(const char *device)
{
    return *device ? device : "host";
}

static bool fill_memory(const table_source *source, table_row *row)
{
    takt_memory_info memory;
    for (size_t i = 0; takt_trace_memory(source->trace, i, &memory) == TAKT_OK; i++) {
        table_put_uint(row, memory.time_ns);
        table_put_text(row, device_name(memory.device));
        table_put_known_text(row, tkt_memory_name(memory.kind, NULL));
        table_put_uint(row, memory.is_pool);
        table_put_uint(row, memory.address);
        table_put_int(row, memory.bytes);
        table_put_text(row, memory.scope);
        table_put_known(row, memory.thread);
        table_put_track(row, memory.track);
        table_put_span(row, source, memory.track, memory.span);
        if (!table_row_end(row))
            return false;
    }
    return true;
}

const table table_memory = TABLE_OF("memory", memory_columns, fill_memory);

static const table_column total_columns[] = {{"device", "TEXT"},
                                             {"period", "TEXT"},
                                             {"begin_bytes", "INTEGER"},
                                             {"peak_bytes", "INTEGER"},
                                             {"peak_ns", "INTEGER"},
                                             {"current_bytes", "INTEGER"},
                                             {"allocations", "INTEGER"},
                                             {"frees", "INTEGER"},
                                             {"unmatched_frees", "INTEGER"},
                                             {"free_bytes", "INTEGER"},
                                             {"capacity_bytes", "INTEGER"},
                                             {"pool_bytes", "INTEGER"},
                                             {"pool_used_bytes", "INTEGER"}};

/* How a device stands at the end of the recording, which is told once. */
static void put_device(const takt_memory_totals *totals, table_row *row)
{
    bool is_told = totals->capacity_bytes > 0;
    if (is_told)
        table_put_uint(row, totals->free_bytes);
    else
        table_put_null(row);
    table_put_known(row, totals->capacity_bytes);
    table_put_known(row, totals->pool_bytes);
    table_put_known(row, totals->pool_bytes ? totals->pool_used_bytes : 0);
}

static bool put_period(const takt_memory_totals *totals, const takt_memory_period *period,
                       table_row *row)
{
    static const takt_memory_totals unknown = {.device = ""};
    bool is_recording = period == &totals->recording;
    table_put_text(row, device_name(totals->device));
    table_put_text(row, is_recording ? "recording" : "since start");
    table_put_uint(row, period->begin_bytes);
    table_put_uint(row, period->peak_bytes);
    table_put_known(row, period->peak_ns);
    table_put_uint(row, totals->current_bytes);
    table_put_uint(row, period->allocations);
    table_put_uint(row, period->frees);
    if (is_recording)
        table_put_null(row);
    else
        table_put_uint(row, period->unmatched_frees);
    put_device(is_recording ? totals : &unknown, row);
    return table_row_end(row);
}

/* A program that reports no memory has no row of the host. */
static bool is_reported(const takt_memory_totals *totals)
{
    const takt_memory_period *period = &totals->since_start;
    return *totals->device || period->allocations > 0 || period->frees > 0 ||
           period->peak_bytes > 0 || totals->recording.allocations > 0;
}

static bool fill_totals(const table_source *source, table_row *row)
{
    takt_memory_totals totals;
    for (size_t i = 0; takt_trace_memory_totals(source->trace, i, &totals) == TAKT_OK; i++)
        if (is_reported(&totals) &&
            !(put_period(&totals, &totals.recording, row) &&
              (totals.is_of_recording || put_period(&totals, &totals.since_start, row))))
            return false;
    return true;
}

const table table_memory_totals = TABLE_OF("memory_totals", total_columns, fill_totals);
