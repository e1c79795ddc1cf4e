/* The memory report: what the program says of its host allocations, and the largest jumps. */
#include "report/show.h"

#include "summary/memory.h"

#define USUAL_JUMPS 10
#define MOST_JUMPS  1000 /* however many are asked for */

enum {
    DEVICE,
    PERIOD,
    PEAK,
    PEAK_AT,
    CURRENT,
    CHANGE,
    ALLOCATIONS,
    FREES,
    UNMATCHED,
    COLUMNS
};

static const tkt_column columns[COLUMNS] = {
    [DEVICE] = {"Device", "device", TKT_CELL_TEXT, 7, true, 1},
    [PERIOD] = {"Period", "period", TKT_CELL_TEXT, 0, true, 1},
    [PEAK] = {"Peak", "peak_bytes", TKT_CELL_BYTES, 0, false, 1},
    [PEAK_AT] = {"Peak at", "peak_at_ns", TKT_CELL_OFFSET, 5, false, 1},
    [CURRENT] = {"At the end", "current_bytes", TKT_CELL_BYTES, 1, false, 1},
    [CHANGE] = {"Change", "change_bytes", TKT_CELL_CHANGE, 4, false, 1},
    [ALLOCATIONS] = {"Allocations", "allocations", TKT_CELL_COUNT, 2, false, 1},
    [FREES] = {"Frees", "frees", TKT_CELL_COUNT, 3, false, 1},
    [UNMATCHED] = {"Unmatched", "unmatched_frees", TKT_CELL_COUNT, 6, false, 1},
};

static bool is_reported(const tkt_memory_totals *memory)
{
    return memory->allocations > 0 || memory->frees > 0 || memory->peak_bytes > 0 ||
           memory->window_allocations > 0;
}

/* A time of the trace as one since the recording began; 0 is no time. */
static int64_t offset_of(const takt_trace *trace, uint64_t time_ns)
{
    return time_ns ? (int64_t)(time_ns - trace->facts.begin_ns) : TKT_NO_SIGNED;
}

static takt_status show_totals(tkt_document *document)
{
    const takt_trace *trace = document->trace;
    const tkt_memory_totals *memory = &trace->memory;
    tkt_table *table =
        tkt_document_add_table(document, "memory", columns, COLUMNS, is_reported(memory) ? 2 : 0);
    if (!table)
        return TAKT_NO_MEMORY;
    if (!is_reported(memory))
        return TAKT_OK;
    tkt_cell *window = tkt_table_add_row(table);
    window[DEVICE].text = "host";
    window[PERIOD].text = "recording";
    window[PEAK].u = memory->window_peak_bytes;
    window[PEAK_AT].i = offset_of(trace, memory->window_peak_ns);
    window[CURRENT].u = memory->current_bytes;
    window[CHANGE].i = (int64_t)(memory->current_bytes - memory->window_begin_bytes);
    window[ALLOCATIONS].u = memory->window_allocations;
    window[FREES].u = memory->window_frees;
    window[UNMATCHED].u = TKT_NO_VALUE;

    tkt_cell *program = tkt_table_add_row(table);
    program[DEVICE].text = "host";
    program[PERIOD].text = "since start";
    program[PEAK].u = memory->peak_bytes;
    program[PEAK_AT].i = offset_of(trace, memory->peak_ns);
    program[CURRENT].u = memory->current_bytes;
    program[CHANGE].i = (int64_t)memory->current_bytes;
    program[ALLOCATIONS].u = memory->allocations;
    program[FREES].u = memory->frees;
    program[UNMATCHED].u = memory->unmatched_frees;
    return TAKT_OK;
}

enum {
    BYTES,
    TIMES,
    FIRST,
    SCOPE,
    THREAD,
    JUMP_COLUMNS
};

static const tkt_column jump_columns[JUMP_COLUMNS] = {
    [BYTES] = {"Size", "bytes", TKT_CELL_BYTES, 0, false, 1},
    [TIMES] = {"Times", "times", TKT_CELL_COUNT, 2, false, 1},
    [FIRST] = {"First at", "first_at_ns", TKT_CELL_OFFSET, 3, false, 1},
    [SCOPE] = {"Scope", "scope", TKT_CELL_TEXT, 0, true, 1},
    [THREAD] = {"Thread", "thread", TKT_CELL_TEXT, 1, true, 1},
};

static takt_status show_jumps(tkt_document *document, const tkt_memory_jumps *jumps)
{
    const takt_trace *trace = document->trace;
    tkt_table *table =
        tkt_document_add_table(document, "jumps", jump_columns, JUMP_COLUMNS, jumps->count);
    if (!table)
        return TAKT_NO_MEMORY;
    table->heading = "Largest allocations:";
    for (size_t i = 0; i < jumps->count; i++) {
        const tkt_memory_jump *jump = &jumps->items[i];
        tkt_cell *row = tkt_table_add_row(table);
        row[BYTES].u = jump->bytes;
        row[TIMES].u = jump->count;
        row[FIRST].i = offset_of(trace, jump->first_ns);
        row[SCOPE].text = jump->site ? jump->scope : NULL;
        row[THREAD].text = jump->thread;
    }
    return TAKT_OK;
}

takt_status tkt_show_memory(tkt_document *document, const takt_report_options *options)
{
    document->nothing = "No memory reported";
    takt_status status = show_totals(document);
    if (status != TAKT_OK || document->tables[0].row_count == 0)
        return status;
    size_t most = options->rows == 0 ? USUAL_JUMPS : MOST_JUMPS;
    if (options->rows > 0 && options->rows < MOST_JUMPS)
        most = (size_t)options->rows;
    tkt_memory_jumps jumps = {0};
    status = tkt_memory_jumps_of(document->trace, most, &jumps);
    if (status == TAKT_NO_SPANS) {
        tkt_document_add_note(document, "The largest allocations are known of full traces only.");
        return TAKT_OK;
    }
    if (status == TAKT_OK && jumps.count > 0)
        status = show_jumps(document, &jumps);
    TKT_ARRAY_FREE(&jumps);
    tkt_document_add_note(document, "Times count from the begin of the recording.");
    return status;
}
