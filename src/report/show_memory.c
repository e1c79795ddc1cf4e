/* The memory report: host allocations as reported by the program, device allocations as reported by
 * CUDA, the largest allocations, memory left allocated by scopes, and copies. */
#include "report/show.h"

#include "cuda/kinds.h"
#include "summary/activities.h"
#include "summary/memory.h"
#include "summary/scopes.h"

#define USUAL_JUMPS 10
#define MOST_JUMPS  1000 /* upper limit for the option `rows` */

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
    HOST_COLUMNS,
    FREE = HOST_COLUMNS,
    CAPACITY,
    POOLS,
    FRAGMENTATION,
    COLUMNS
};

static const tkt_column columns[COLUMNS] = {
    [DEVICE] = {"Device", "device", TKT_CELL_TEXT, 11, true, 1},
    [PERIOD] = {"Period", "period", TKT_CELL_TEXT, 0, true, 1},
    [PEAK] = {"Peak", "peak_bytes", TKT_CELL_BYTES, 0, false, 1},
    [PEAK_AT] = {"Peak at", "peak_at_ns", TKT_CELL_OFFSET, 7, false, 1},
    [CURRENT] = {"At the end", "current_bytes", TKT_CELL_BYTES, 1, false, 1},
    [CHANGE] = {"Change", "change_bytes", TKT_CELL_CHANGE, 5, false, 1},
    [ALLOCATIONS] = {"Allocations", "allocations", TKT_CELL_COUNT, 2, false, 1},
    [FREES] = {"Frees", "frees", TKT_CELL_COUNT, 3, false, 1},
    [UNMATCHED] = {"Unmatched", "unmatched_frees", TKT_CELL_COUNT, 9, false, 1},
    [FREE] = {"Free", "free_bytes", TKT_CELL_BYTES, 6, false, 1},
    [CAPACITY] = {"Capacity", "capacity_bytes", TKT_CELL_BYTES, 8, false, 1},
    [POOLS] = {"In pools", "pool_bytes", TKT_CELL_BYTES, 10, false, 1},
    [FRAGMENTATION] = {"Fragmentation %", "fragmentation_percent", TKT_CELL_PERCENT, 4, false, 1},
};

static bool is_reported(const tkt_memory_totals *memory)
{
    return memory->allocations > 0 || memory->frees > 0 || memory->peak_bytes > 0 ||
           memory->window_allocations > 0;
}

/* Converts a time of the trace to one relative to the begin of the recording. A peak since the
 * program's start may be before: then it has none. 0 is no time. */
static int64_t offset_of(const takt_trace *trace, uint64_t time_ns)
{
    uint64_t begin_ns = trace->facts.begin_ns;
    return time_ns && time_ns >= begin_ns ? (int64_t)(time_ns - begin_ns) : TKT_NO_SIGNED;
}

static bool is_peak_before(const takt_trace *trace, const tkt_memory_totals *memory)
{
    return !memory->is_of_recording && memory->peak_bytes > 0 && memory->peak_ns > 0 &&
           memory->peak_ns < trace->facts.begin_ns;
}

static void note_peaks_before(tkt_document *document)
{
    const takt_trace *trace = document->trace;
    bool is_before = is_peak_before(trace, &trace->memory);
    for (size_t i = 0; i < trace->device_memory.count; i++)
        is_before |= is_peak_before(trace, &trace->device_memory.items[i].totals);
    if (is_before)
        tkt_document_explain(document, "peak_at_ns",
                             "A peak since start without a time was before the recording.");
}

static void fill_row(tkt_cell *row, const takt_trace *trace, const char *device,
                     const tkt_memory_totals *memory, bool is_window)
{
    row[DEVICE].text = device;
    row[PERIOD].text = is_window ? "recording" : "since start";
    row[PEAK].u = is_window ? memory->window_peak_bytes : memory->peak_bytes;
    row[PEAK_AT].i = offset_of(trace, is_window ? memory->window_peak_ns : memory->peak_ns);
    row[CURRENT].u = memory->current_bytes;
    row[CHANGE].i = (int64_t)(memory->current_bytes - (is_window ? memory->window_begin_bytes : 0));
    row[ALLOCATIONS].u = is_window ? memory->window_allocations : memory->allocations;
    row[FREES].u = is_window ? memory->window_frees : memory->frees;
    row[UNMATCHED].u = is_window ? TKT_NO_VALUE : memory->unmatched_frees;
}

static uint64_t known(uint64_t bytes)
{
    return bytes ? bytes : TKT_NO_VALUE;
}

/* Fills the device's state at the end of the recording. Fragmentation covers only the part that is
 * visible from outside: memory in pools that no allocation uses. */
static void fill_device_cells(tkt_cell *row, const tkt_device_memory *memory)
{
    bool is_plausible = memory->pool_used_bytes <= memory->pool_bytes; /* false: a damaged file */
    uint64_t unused = is_plausible ? memory->pool_bytes - memory->pool_used_bytes : 0;
    row[FREE].u = memory->capacity_bytes ? memory->free_bytes : TKT_NO_VALUE;
    row[CAPACITY].u = known(memory->capacity_bytes);
    row[POOLS].u = known(memory->pool_bytes);
    row[FRAGMENTATION].d = 100 * tkt_share(unused, memory->pool_bytes);
}

static void add_rows(tkt_table *table, const takt_trace *trace, const char *device,
                     const tkt_memory_totals *memory, const tkt_device_memory *of_device)
{
    static const tkt_device_memory unknown = {0};
    for (int i = 0; i < (memory->is_of_recording ? 1 : 2); i++) {
        tkt_cell *row = tkt_table_add_row(table);
        fill_row(row, trace, device, memory, i == 0);
        if (table->column_count > HOST_COLUMNS)
            fill_device_cells(row, of_device && i == 0 ? of_device : &unknown);
    }
}

static takt_status show_totals(tkt_document *document)
{
    const takt_trace *trace = document->trace;
    size_t devices = trace->device_memory.count;
    bool has_host = is_reported(&trace->memory);
    tkt_table *table =
        tkt_document_add_table(document, "memory", columns, devices ? COLUMNS : HOST_COLUMNS,
                               2 * (devices + (has_host ? 1 : 0)));
    if (!table)
        return TAKT_NO_MEMORY;
    table->is_hidden_empty = true;
    if (devices > 0)
        table->columns[DEVICE].rank = 0;
    if (has_host)
        add_rows(table, trace, "host", &trace->memory, NULL);
    for (size_t i = 0; i < devices; i++) {
        const tkt_device_memory *device = &trace->device_memory.items[i];
        add_rows(table, trace, tkt_trace_text(trace, device->device), &device->totals, device);
    }
    return TAKT_OK;
}

enum {
    BYTES,
    TIMES,
    FIRST,
    SCOPE,
    THREAD,
    HOST_JUMP_COLUMNS,
    PLACE = HOST_JUMP_COLUMNS,
    JUMP_COLUMNS
};

static const tkt_column jump_columns[JUMP_COLUMNS] = {
    [BYTES] = {"Size", "bytes", TKT_CELL_BYTES, 0, false, 1},
    [TIMES] = {"Times", "times", TKT_CELL_COUNT, 3, false, 1},
    [FIRST] = {"First at", "first_at_ns", TKT_CELL_OFFSET, 4, false, 1},
    [SCOPE] = {"Scope", "scope", TKT_CELL_TEXT, 0, true, 1},
    [THREAD] = {"Thread", "thread", TKT_CELL_TEXT, 2, true, 1},
    [PLACE] = {"Device", "device", TKT_CELL_TEXT, 1, true, 1},
};

/* "cuda:0", "host", or "host, pinned". */
static const char *place_of(const takt_trace *trace, const tkt_memory_jump *jump)
{
    if (jump->is_pinned)
        return "host, pinned";
    return jump->device ? tkt_trace_text(trace, jump->device) : "host";
}

/* True if some of the memory was reported by CUDA. */
static bool is_of_cuda(const takt_trace *trace, const tkt_memory_jumps *jumps)
{
    bool is = trace->device_memory.count > 0;
    for (size_t i = 0; i < jumps->count; i++)
        is = is || jumps->items[i].is_pinned;
    return is;
}

static takt_status add_jumps(tkt_document *document, const tkt_memory_jumps *jumps)
{
    const takt_trace *trace = document->trace;
    bool has_devices = is_of_cuda(trace, jumps);
    tkt_table *table =
        tkt_document_add_table(document, "jumps", jump_columns,
                               has_devices ? JUMP_COLUMNS : HOST_JUMP_COLUMNS, jumps->count);
    if (!table)
        return TAKT_NO_MEMORY;
    table->heading = "Largest allocations:";
    for (size_t i = 0; i < jumps->count; i++) {
        const tkt_memory_jump *jump = &jumps->items[i];
        tkt_cell *row = tkt_table_add_row(table);
        row[BYTES].u = jump->bytes;
        row[TIMES].u = tkt_trace_lacks_spans(trace) ? TKT_NO_VALUE : jump->count;
        row[FIRST].i = offset_of(trace, jump->first_ns);
        row[SCOPE].text = jump->site ? jump->scope : NULL;
        row[THREAD].text = jump->thread;
        if (has_devices)
            row[PLACE].text = place_of(trace, jump);
    }
    return TAKT_OK;
}

static takt_status show_jumps(tkt_document *document, const takt_report_options *options)
{
    size_t most = options->rows == 0 ? USUAL_JUMPS : MOST_JUMPS;
    if (options->rows > 0 && options->rows < MOST_JUMPS)
        most = (size_t)options->rows;
    tkt_memory_jumps jumps = {0};
    takt_status status = tkt_memory_jumps_of(document->trace, most + 1, &jumps);
    bool has_more = jumps.count > most;
    jumps.count -= has_more;
    if (status == TAKT_OK && jumps.count > 0)
        status = add_jumps(document, &jumps);
    if (has_more)
        tkt_document_add_note(document, "Further allocations are smaller.");
    TKT_ARRAY_FREE(&jumps);
    return status;
}

enum {
    ALLOCATOR,
    HOST,
    HOST_SELF,
    CUDA,
    CUDA_SELF,
    NET_COLUMNS
};

static const tkt_column net_columns[NET_COLUMNS] = {
    [ALLOCATOR] = {"Scope", "scope", TKT_CELL_TEXT, 0, true, 1},
    [HOST] = {"CPU Mem", "cpu_memory_bytes", TKT_CELL_CHANGE, 1, false, 1},
    [HOST_SELF] = {"Self CPU Mem", "self_cpu_memory_bytes", TKT_CELL_CHANGE, 3, false, 1},
    [CUDA] = {"CUDA Mem", "cuda_memory_bytes", TKT_CELL_CHANGE, 0, false, 1},
    [CUDA_SELF] = {"Self CUDA Mem", "self_cuda_memory_bytes", TKT_CELL_CHANGE, 2, false, 1},
};

/* Selects columns of the host, of devices, or both, depending on the recorded events. */
static size_t choose_nets(const tkt_scopes *scopes, tkt_column chosen[NET_COLUMNS],
                          uint8_t from[NET_COLUMNS])
{
    size_t count = 0;
    for (uint8_t i = 0; i < NET_COLUMNS; i++) {
        bool is_host = i == HOST || i == HOST_SELF;
        if (i != ALLOCATOR && !(is_host ? scopes->has_host_memory : scopes->has_device_memory))
            continue;
        from[count] = i;
        chosen[count++] = net_columns[i];
    }
    return count;
}

static takt_status add_nets(tkt_document *document, const tkt_scopes *scopes)
{
    tkt_column chosen[NET_COLUMNS];
    uint8_t from[NET_COLUMNS];
    size_t count = choose_nets(scopes, chosen, from);
    tkt_table *table =
        tkt_document_add_table(document, "scopes", chosen, count, count > 1 ? scopes->count : 0);
    if (!table)
        return TAKT_NO_MEMORY;
    table->heading = "Allocated less freed, by scope:";
    if (count > 1) /* sort by device memory if both are shown */
        table->sort = count == NET_COLUMNS ? CUDA : 1;
    table->is_hidden_empty = true;
    for (size_t i = 0; i < scopes->count && count > 1; i++) {
        const tkt_scope_total *scope = &scopes->items[i];
        tkt_cell cells[NET_COLUMNS];
        if (!(scope->host_bytes | scope->host_self_bytes | scope->device_bytes |
              scope->device_self_bytes))
            continue;
        cells[ALLOCATOR].text = scope->name;
        cells[HOST].i = scope->host_bytes;
        cells[HOST_SELF].i = scope->host_self_bytes;
        cells[CUDA].i = scope->device_bytes;
        cells[CUDA_SELF].i = scope->device_self_bytes;
        tkt_table_add_chosen(table, cells, from);
    }
    return TAKT_OK;
}

static takt_status show_nets(tkt_document *document)
{
    tkt_scopes scopes = {0};
    takt_status status = tkt_scopes_memory(document->trace, &scopes);
    if (status == TAKT_OK)
        status = add_nets(document, &scopes);
    tkt_scopes_fini(&scopes);
    return status;
}

enum {
    COPY,
    SOURCE,
    TARGET,
    COPY_COUNT,
    COPY_BYTES,
    COPY_AVERAGE,
    COPY_LEAST,
    COPY_MOST,
    COPY_TIME,
    COPY_RATE,
    COPY_COLUMNS
};

static const tkt_column copy_columns[COPY_COLUMNS] = {
    [COPY] = {"Copies", "copy", TKT_CELL_TEXT, 0, true, 1},
    [SOURCE] = {"From", "from", TKT_CELL_TEXT, 0, true, 1},
    [TARGET] = {"To", "to", TKT_CELL_TEXT, 0, true, 1},
    [COPY_COUNT] = {"Count", "count", TKT_CELL_COUNT, 1, false, 1},
    [COPY_BYTES] = {"Bytes", "bytes", TKT_CELL_BYTES, 0, false, 1},
    [COPY_AVERAGE] = {"Average", "avg_bytes", TKT_CELL_BYTES, 4, false, 1},
    [COPY_LEAST] = {"Least", "min_bytes", TKT_CELL_BYTES, 5, false, 1},
    [COPY_MOST] = {"Most", "max_bytes", TKT_CELL_BYTES, 5, false, 1},
    [COPY_TIME] = {"Time", "time_ns", TKT_CELL_TIME, 3, false, 1},
    [COPY_RATE] = {"GB/s", "gb_per_second", TKT_CELL_NUMBER, 2, false, 1},
};

static takt_status add_copies(tkt_document *document, const tkt_copies *copies)
{
    tkt_table *table =
        tkt_document_add_table(document, "copies", copy_columns, COPY_COLUMNS, copies->count);
    if (!table)
        return TAKT_NO_MEMORY;
    table->heading = "Copies:";
    table->sort = COPY_TIME;
    for (size_t i = 0; i < copies->count; i++) {
        const tkt_copy_total *copy = &copies->items[i];
        tkt_cell *row = tkt_table_add_row(table);
        row[COPY].text = tkt_trace_text(document->trace, copy->name);
        row[SOURCE].text = tkt_memory_name(copy->source, "unknown");
        row[TARGET].text = tkt_memory_name(copy->target, "unknown");
        row[COPY_COUNT].u = copy->count;
        row[COPY_BYTES].u = copy->bytes;
        row[COPY_AVERAGE].u = tkt_mean(copy->bytes, copy->count);
        row[COPY_LEAST].u = copy->min_bytes;
        row[COPY_MOST].u = copy->max_bytes;
        row[COPY_TIME].u = copy->time_ns;
        row[COPY_RATE].d = tkt_share(copy->bytes, copy->time_ns);
    }
    return TAKT_OK;
}

static takt_status show_copies(tkt_document *document)
{
    tkt_copies copies = {0};
    takt_status status = tkt_copies_of(document->trace, &copies);
    if (status == TAKT_OK && copies.count > 0)
        status = add_copies(document, &copies);
    TKT_ARRAY_FREE(&copies);
    return status;
}

static void note_unknown_totals(tkt_document *document)
{
    if (document->trace->memory.is_of_recording)
        tkt_document_add_note(document, "Host memory since start is unknown: the program kept no "
                                        "totals, so only allocations during the recording count.");
}

takt_status tkt_show_memory(tkt_document *document, const takt_report_options *options)
{
    if (document->sought) {
        TKT_SEEK(document, columns);
        TKT_SEEK(document, jump_columns);
        TKT_SEEK(document, net_columns);
        return TKT_SEEK(document, copy_columns);
    }
    bool is_recovered = !tkt_trace_knows_cuts(document->trace);
    document->nothing = is_recovered ? "A recovered summary has no memory" : "No memory reported";
    takt_status status = show_totals(document);
    note_peaks_before(document);
    bool has_totals = status == TAKT_OK && document->tables[0].row_count > 0;
    bool has_events = document->trace->memory_events.count > 0;
    if (!document->trace->facts.has_spans) {
        if (has_totals)
            tkt_document_add_note(document, "Only full traces contain the largest allocations.");
        if (has_totals)
            note_unknown_totals(document);
        if (tkt_has_device_activities(document->trace))
            tkt_document_add_note(document, "Only full traces contain copies.");
        return status;
    }
    if (has_events && status == TAKT_OK)
        status = show_jumps(document, options);
    if (has_events && status == TAKT_OK)
        status = show_nets(document);
    if (status == TAKT_OK)
        status = show_copies(document);
    if (has_events && tkt_trace_lacks_spans(document->trace))
        tkt_document_add_note(document, "Events were lost: what scopes allocated is not known, and "
                                        "larger allocations may be missing.");
    if (has_events && !has_totals)
        tkt_document_add_note(document, "The file has no totals of memory.");
    if (has_totals || has_events)
        tkt_document_add_note(document, "Times count from the begin of the recording.");
    if (has_totals)
        note_unknown_totals(document);
    if (document->trace->device_memory.count > 0)
        tkt_document_add_note(document,
                              "Device memory counts allocations since collection began; "
                              "fragmentation is the share of pools that no allocation uses.");
    return status;
}
