/* Tables of timers inside kernels: blocks, and the phases in them; and of compilations. */
#include "cli/tables/tables.h"
#include "cuda/kinds.h"
#include "trace/model.h"

#include <string.h>

/* ---- Inside kernels -------------------------------------------------------------------------- */

static const table_column block_columns[] = {{"id", "INTEGER PRIMARY KEY"},
                                             {"kernel", "TEXT"},
                                             {"timers", "TEXT"},
                                             {"device", "TEXT"},
                                             {"correlation", "INTEGER"},
                                             {"activity", "INTEGER REFERENCES activities"},
                                             {"block", "INTEGER"},
                                             {"lane", "INTEGER"},
                                             {"sm", "INTEGER"},
                                             {"begin_ns", "INTEGER"},
                                             {"cycles", "INTEGER"},
                                             {"ns_per_cycle", "REAL"},
                                             {"lost_records", "INTEGER"},
                                             {"launch", "TEXT"}};

/* NULL for host code, which has no launch. */
static const char *launch_of(const tkt_phase_segment *segment)
{
    static const char *const states[] = {"known", "uncertain", "not recorded"};
    bool has_none = segment->launch == TKT_LAUNCH_KNOWN && !segment->correlation;
    return has_none ? NULL : TABLE_NAME_OF(states, segment->launch);
}

static bool fill_blocks(const table_source *source, table_row *row)
{
    const takt_trace *trace = source->trace;
    for (size_t i = 0; i < trace->phase_segments.count; i++) {
        const tkt_phase_segment *segment = &trace->phase_segments.items[i];
        uint32_t kernel = segment->kernel_name ? segment->kernel_name : segment->timers;
        bool has_activity = segment->activity != TKT_NO_ACTIVITY;
        table_put_uint(row, i + 1);
        table_put_text(row, tkt_trace_text(trace, kernel));
        table_put_text(row, tkt_trace_text(trace, segment->timers));
        table_put_text(row, tkt_trace_text(trace, segment->device));
        table_put_known(row, segment->correlation);
        table_put_known(row, has_activity ? (uint64_t)segment->activity + 1 : 0);
        table_put_uint(row, segment->block);
        table_put_uint(row, segment->lane);
        table_put_uint(row, segment->sm);
        table_put_uint(row, segment->begin_ns);
        table_put_uint(row, tkt_phase_extent(trace, segment));
        table_put_known_real(row, segment->ns_per_cycle);
        table_put_uint(row, segment->lost_records);
        table_put_text(row, launch_of(segment));
        if (!table_row_end(row))
            return false;
    }
    return true;
}

const table table_blocks = TABLE_OF("blocks", block_columns, fill_blocks);

static const table_column phase_columns[] = {{"id", "INTEGER PRIMARY KEY"},
                                             {"block", "INTEGER REFERENCES blocks"},
                                             {"name", "TEXT"},
                                             {"iteration", "INTEGER"},
                                             {"start_cycles", "INTEGER"},
                                             {"cycles", "INTEGER"},
                                             {"parent", "INTEGER REFERENCES phases"},
                                             {"is_recursive", "INTEGER"}};

/* Enclosing phases that are searched for one of the same name. No program nests deeper; the limit
 * keeps crafted files from making the export slow. */
#define MOST_DEPTH 1000

/* Returns the phase around record `index`,
 * which is the innermost one that has not ended. UINT32_MAX: none. */
static uint32_t parent_of(const tkt_phase_record *records, const uint32_t *parents, uint32_t index)
{
    uint32_t parent = index ? index - 1 : UINT32_MAX;
    while (parent != UINT32_MAX && tkt_phase_end(&records[parent]) <= records[index].start_cycles)
        parent = parents[parent];
    return parent;
}

static bool is_recursive(const tkt_phase_record *records, const uint32_t *parents, uint32_t index)
{
    uint32_t at = parents[index];
    for (int i = 0; i < MOST_DEPTH && at != UINT32_MAX; i++, at = parents[at])
        if (records[at].name == records[index].name)
            return true;
    return false;
}

static bool fill_segment(const table_source *source, size_t number, uint32_t *parents,
                         table_row *row)
{
    const tkt_phase_segment *segment = &source->trace->phase_segments.items[number];
    const tkt_phase_record *records = tkt_phase_records(source->trace, segment);
    for (uint32_t i = 0; i < segment->record_count; i++) {
        parents[i] = parent_of(records, parents, i);
        table_put_uint(row, (uint64_t)segment->first_record + i + 1);
        table_put_uint(row, number + 1);
        table_put_text(row, tkt_trace_text(source->trace, records[i].name));
        table_put_uint(row, records[i].iteration);
        table_put_uint(row, records[i].start_cycles);
        table_put_uint(row, records[i].cycles);
        table_put_known(
            row, parents[i] == UINT32_MAX ? 0 : (uint64_t)segment->first_record + parents[i] + 1);
        table_put_uint(row, is_recursive(records, parents, i));
        if (!table_row_end(row))
            return false;
    }
    return true;
}

static bool fill_phases(const table_source *source, table_row *row)
{
    uint32_t *parents = tkt_alloc((source->trace->phase_records.count + 1) * sizeof *parents);
    bool is_good = parents != NULL;
    for (size_t i = 0; i < source->trace->phase_segments.count && is_good; i++)
        is_good = fill_segment(source, i, parents, row);
    tkt_free(parents);
    return is_good;
}

const table table_phases = TABLE_OF("phases", phase_columns, fill_phases);

/* ---- Compilations ---------------------------------------------------------------------------- */

static const table_column compile_columns[] = {{"unit", "TEXT"},       {"phase", "TEXT"},
                                               {"self_ns", "INTEGER"}, {"total_ns", "INTEGER"},
                                               {"count", "INTEGER"},   {"max_ns", "INTEGER"}};

static bool fill_compile(const table_source *source, table_row *row)
{
    const char *name = source->compile_phases;
    for (size_t i = 0; i < source->compiles.phases.count; i++, name += strlen(name) + 1) {
        const tkt_compile_phase *phase = &source->compiles.phases.items[i];
        table_put_text(row, phase->unit);
        table_put_text(row, name);
        table_put_uint(row, phase->self_ns);
        table_put_uint(row, phase->total_ns);
        table_put_uint(row, phase->count);
        table_put_uint(row, phase->max_ns);
        if (!table_row_end(row))
            return false;
    }
    return true;
}

const table table_compile = TABLE_OF("compile", compile_columns, fill_compile);

static const table_column loading_columns[] = {{"loading", "TEXT"},
                                               {"source", "TEXT"},
                                               {"total_ns", "INTEGER"},
                                               {"count", "INTEGER"},
                                               {"max_ns", "INTEGER"}};

static bool fill_loading(const table_source *source, table_row *row)
{
    for (size_t i = 0; i < source->compiles.loadings.count; i++) {
        const tkt_loading *loading = &source->compiles.loadings.items[i];
        table_put_text(row, loading->call ? loading->call : tkt_overhead_name(loading->kind));
        table_put_text(row, loading->call ? "call" : "CUPTI");
        table_put_uint(row, loading->total_ns);
        table_put_uint(row, loading->count);
        table_put_uint(row, loading->max_ns);
        if (!table_row_end(row))
            return false;
    }
    return true;
}

const table table_compile_loading = TABLE_OF("compile_loading", loading_columns, fill_loading);
