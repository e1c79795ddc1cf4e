/* The list of tables, how rows are filled, and data that several tables need. */
#include "cli/tables/tables.h"
#include "summary/threads.h"
#include "trace/model.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ======== Spans ======== */

/* Span ids, paths and self times, computed once for several tables. */

static bool find_first(table_source *source)
{
    size_t count = takt_trace_count(source->trace, TAKT_TRACE_TRACKS), spans = 0;
    source->first = calloc(count + 1, sizeof *source->first);
    for (size_t i = 0; source->first && i < count; i++) {
        takt_track_info track;
        takt_trace_track(source->trace, i, &track);
        source->first[i] = spans;
        spans += track.span_count;
    }
    if (source->first)
        source->first[count] = spans;
    source->path = calloc(spans + 1, sizeof *source->path);
    source->self_ns = calloc(spans + 1, sizeof *source->self_ns);
    return source->first && source->path && source->self_ns;
}

/* Subtracts a scope inside a call, for example in a callback, from the scope that made the call. */
static void take_from_caller(table_source *source, size_t track, size_t parent, int64_t ns)
{
    takt_span_info call;
    while (parent != TAKT_NO_PARENT) {
        takt_trace_span(source->trace, track, parent, &call);
        if (!(call.flags & TAKT_SPAN_CALL)) {
            source->self_ns[source->first[track] + parent] -= ns;
            return;
        }
        parent = call.parent;
    }
}

static bool take_span(table_source *source, size_t track, size_t number, const takt_span_info *span,
                      takt_track_kind kind)
{
    size_t first = source->first[track];
    int64_t ns = (int64_t)(span->end_ns - span->begin_ns);
    size_t at = first + number, parent = first + span->parent;
    uint32_t above = 0;
    source->self_ns[at] = ns;
    if (kind == TAKT_TRACK_ASYNC)
        return true;
    if (span->parent != TAKT_NO_PARENT) {
        above = source->path[parent];
        bool is_call = (span->flags & TAKT_SPAN_CALL) != 0;
        bool is_in_call = source->paths.items[above].is_call;
        if (!is_call || is_in_call)
            source->self_ns[parent] -= ns;
        if (!is_call && is_in_call)
            take_from_caller(source, track, span->parent, ns);
    }
    source->path[at] = table_path_of(&source->paths, above, span);
    return source->path[at] != 0;
}

static bool take_track(table_source *source, size_t number)
{
    takt_track_info track;
    takt_span_info span;
    takt_trace_track(source->trace, number, &track);
    for (size_t i = 0; i < track.span_count; i++) {
        takt_trace_span(source->trace, number, i, &span);
        if (!take_span(source, number, i, &span, track.kind))
            return false;
    }
    return true;
}

/* Copies the names of phases, which end somewhere within the names of spans. */
static bool find_compiles(table_source *source)
{
    const tkt_compiles *found = &source->compiles;
    size_t bytes = 1;
    if (tkt_compiles_of(source->trace, &source->compiles) == TAKT_NO_MEMORY)
        return false;
    for (size_t i = 0; i < found->phases.count; i++)
        bytes += found->phases.items[i].phase_size + 1;
    char *name = source->compile_phases = calloc(bytes, 1);
    for (size_t i = 0; name && i < found->phases.count; i++) {
        const tkt_compile_phase *phase = &found->phases.items[i];
        memcpy(name, phase->phase, phase->phase_size);
        name += phase->phase_size + 1;
    }
    return name != NULL;
}

takt_status table_source_init(table_source *source, const takt_trace *trace)
{
    *source = (table_source){.trace = trace};
    bool is_good = find_first(source) && find_compiles(source);
    for (size_t i = 0; is_good && i < takt_trace_count(trace, TAKT_TRACE_TRACKS); i++)
        is_good = take_track(source, i);
    if (is_good)
        return TAKT_OK;
    table_source_fini(source);
    return TAKT_NO_MEMORY;
}

void table_source_fini(table_source *source)
{
    free(source->first);
    free(source->path);
    free(source->self_ns);
    free(source->compile_phases);
    tkt_compiles_fini(&source->compiles);
    table_paths_fini(&source->paths);
    *source = (table_source){0};
}

/* ======== Call paths ======== */

/* Numbers call paths, in a hash table with open addressing. Texts are compared by address, because
 * a trace stores each text once. */

static size_t hash_of(uint32_t parent, const char *name, const char *file, uint32_t line)
{
    uint64_t hash = (uint64_t)parent << 32 | line;
    hash = (hash ^ (uintptr_t)name) * UINT64_C(0x9E3779B97F4A7C15);
    hash = (hash ^ hash >> 32 ^ (uintptr_t)file) * UINT64_C(0x9E3779B97F4A7C15);
    return (size_t)(hash ^ hash >> 29);
}

static bool is_path(const table_path *path, uint32_t parent, const takt_span_info *span)
{
    return path->parent == parent && path->line == span->line && path->name == span->name &&
           path->file == span->file && path->category == span->category &&
           path->filter == span->filter;
}

static bool grow_slots(table_paths *paths)
{
    size_t count = paths->slot_count ? paths->slot_count * 2 : 64;
    uint32_t *slots = calloc(count, sizeof *slots);
    if (!slots)
        return false;
    for (uint32_t i = 1; i < paths->count; i++) {
        const table_path *path = &paths->items[i];
        size_t at = hash_of(path->parent, path->name, path->file, path->line);
        while (slots[at & (count - 1)])
            at++;
        slots[at & (count - 1)] = i;
    }
    free(paths->slots);
    paths->slots = slots;
    paths->slot_count = count;
    return true;
}

static bool reserve(table_paths *paths)
{
    if (paths->count * 2 >= paths->slot_count && !grow_slots(paths))
        return false;
    if (paths->count + 1 < paths->capacity)
        return true;
    size_t capacity = paths->capacity ? paths->capacity * 2 : 64;
    table_path *items = realloc(paths->items, capacity * sizeof *items);
    if (!items)
        return false;
    paths->items = items;
    paths->capacity = capacity;
    if (!paths->count)
        paths->items[paths->count++] = (table_path){.name = ""};
    return true;
}

static bool is_inside(const table_paths *paths, uint32_t path, const char *name)
{
    for (; path; path = paths->items[path].parent)
        if (strcmp(paths->items[path].name, name) == 0)
            return true;
    return false;
}

static uint32_t add(table_paths *paths, uint32_t parent, const takt_span_info *span)
{
    paths->items[paths->count] = (table_path){
        .name = span->name,
        .category = span->category,
        .file = span->file,
        .line = span->line,
        .parent = parent,
        .filter = span->filter,
        .depth = parent ? paths->items[parent].depth + 1 : 0,
        .is_call = (span->flags & TAKT_SPAN_CALL) != 0,
        .is_recursive = is_inside(paths, parent, span->name),
        .is_wait = tkt_span_waits(span->name, span->category, span->flags & TAKT_SPAN_CALL),
    };
    return (uint32_t)paths->count++;
}

uint32_t table_path_of(table_paths *paths, uint32_t parent, const takt_span_info *span)
{
    if (!reserve(paths))
        return 0;
    size_t at = hash_of(parent, span->name, span->file, span->line);
    uint32_t *slot;
    for (; *(slot = &paths->slots[at & (paths->slot_count - 1)]); at++)
        if (is_path(&paths->items[*slot], parent, span))
            return *slot;
    return *slot = add(paths, parent, span);
}

void table_paths_fini(table_paths *paths)
{
    free(paths->items);
    free(paths->slots);
    *paths = (table_paths){0};
}

/* ======== Rows ======== */

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

/* Steps follow each other without overlap, so their ends are sorted, too. */
void table_put_step(table_row *row, const table_source *source, uint64_t time_ns)
{
    const tkt_step *steps = source->trace->steps.items;
    size_t count = source->trace->steps.count, at = row->step;
    while (at > 0 && steps[at - 1].end_ns > time_ns)
        at--;
    while (at < count && steps[at].end_ns <= time_ns)
        at++;
    row->step = at;
    if (at < count && steps[at].begin_ns <= time_ns)
        table_put_uint(row, steps[at].number);
    else
        table_put_null(row);
}

bool table_row_end(table_row *row)
{
    bool is_taken = row->take(row->user, row);
    row->count = 0;
    return is_taken;
}

/* ======== The tables ======== */

const table *table_at(size_t index)
{
    static const table *const all[] = {
        &table_facts,          &table_losses,        &table_devices,       &table_tracks,
        &table_steps,          &table_spans,         &table_path_list,     &table_args,
        &table_frames,         &table_api,           &table_activities,    &table_waits,
        &table_overheads,      &table_memory,        &table_memory_totals, &table_counters,
        &table_marks,          &table_flows,         &table_idle_times,    &table_idle_in_scopes,
        &table_known_times,    &table_busy_in_steps, &table_run_steps,     &table_run_windows,
        &table_slowest_steps,  &table_blocks,        &table_phases,        &table_compile,
        &table_compile_loading};
    return index < sizeof all / sizeof *all ? all[index] : NULL;
}

/* ======== Names of kinds ======== */

/* Names of kinds in tables, the same as in reports. */

const char *table_activity_kind(uint32_t filter)
{
    switch (filter) {
    case TAKT_TIMING_KERNEL:
        return "kernel";
    case TAKT_TIMING_BUILTIN:
        return "builtin";
    case TAKT_TIMING_MEMCPY:
        return "memcpy";
    case TAKT_TIMING_MEMSET:
        return "memset";
    default:
        return filter == TAKT_TIMING_GRAPH ? "graph" : NULL;
    }
}
