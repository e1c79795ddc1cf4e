/* Rows, spans and events of the host; the facts of the finished trace. */
#include "import/build.h"

#include "export/devices.h"
#include "trace/devices.h"
#include "trace/order.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- Beginning ------------------------------------------------------------------------------- */

takt_status imp_build_init(imp_build *build)
{
    *build = (imp_build){.first_ns = UINT64_MAX};
    takt_status status = tkt_trace_create(&build->trace);
    if (status != TAKT_OK)
        return status;
    takt_facts *facts = &build->trace->facts;
    facts->clock_resolution_ns = facts->clock_uncertainty_ns = NAN; /* unknown */
    facts->device_resolution_ns = facts->device_uncertainty_ns = NAN;
    facts->cost_ns = NAN;
    return TAKT_OK;
}

void imp_build_fini(imp_build *build)
{
    for (size_t i = 0; i < build->rows.count; i++)
        TKT_ARRAY_FREE(&build->rows.items[i].open);
    TKT_ARRAY_FREE(&build->rows);
    TKT_ARRAY_FREE(&build->processes);
    TKT_ARRAY_FREE(&build->callers);
    TKT_ARRAY_FREE(&build->rank_devices);
    tkt_map_fini(&build->row_index);
    tkt_map_fini(&build->process_index);
    tkt_map_fini(&build->track_index);
    tkt_map_fini(&build->shape_index);
    tkt_map_fini(&build->kernel_labels);
    TKT_ARRAY_FREE(&build->memory);
    tkt_map_fini(&build->grid_index);
    tkt_map_fini(&build->large_streams);
    TKT_ARRAY_FREE(&build->grids);
    if (build->trace)
        takt_trace_release(build->trace);
}

uint32_t imp_build_string(imp_build *build, const char *bytes, size_t size)
{
    uint32_t string = tkt_trace_string(build->trace, bytes, strnlen(bytes, size));
    build->is_short |= string == TKT_STRTAB_FULL;
    return string == TKT_STRTAB_FULL ? 0 : string;
}

void imp_build_note(imp_build *build, const char *format, ...)
{
    size_t size = strlen(build->note);
    size_t head =
        (size_t)snprintf(build->note + size, sizeof build->note - size, "%s", size ? "; " : "");
    va_list arguments;
    va_start(arguments, format);
    if (size + head < sizeof build->note)
        vsnprintf(build->note + size + head, sizeof build->note - size - head, format, arguments);
    va_end(arguments);
}

void imp_build_extend(imp_build *build, uint64_t begin_ns, uint64_t end_ns)
{
    if (begin_ns < build->first_ns)
        build->first_ns = begin_ns;
    if (end_ns != IMP_OPEN && end_ns > build->last_ns)
        build->last_ns = end_ns;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

uint32_t imp_build_process(imp_build *build, uint64_t key, uint32_t id)
{
    if (build->last_process && build->last_process_key == key)
        return build->last_process - 1;
    uint64_t *number = tkt_map_put(&build->process_index, key);
    if (number && !*number) {
        imp_process *added = TKT_ARRAY_ADD(&build->processes);
        if (added)
            *added = (imp_process){.id = id};
        *number = added ? build->processes.count : 0;
    }
    build->is_short |= !number || !*number;
    if (build->is_short)
        return IMP_NOTHING;
    build->last_process_key = key;
    build->last_process = (uint32_t)*number;
    return build->last_process - 1;
}

imp_row *imp_build_row(imp_build *build, uint64_t key, uint32_t process, uint32_t thread_id)
{
    if (build->last_row && build->last_row_key == key)
        return &build->rows.items[build->last_row - 1];
    uint64_t *number = process == IMP_NOTHING ? NULL : tkt_map_put(&build->row_index, key);
    if (number && *number) {
        build->last_row_key = key;
        build->last_row = (uint32_t)*number;
        return &build->rows.items[*number - 1];
    }
    imp_row *row = number ? TKT_ARRAY_ADD(&build->rows) : NULL;
    build->is_short |= !row;
    if (!row)
        return NULL;
    *number = build->rows.count;
    *row = (imp_row){.key = key,
                     .track = IMP_NOTHING,
                     .process = process,
                     .thread_id = thread_id,
                     .is_main = thread_id && thread_id == build->processes.items[process].id};
    return row;
}

static uint32_t track_of(imp_build *build, imp_row *row)
{
    if (row->track == IMP_NOTHING)
        row->track = tkt_trace_add_track(build->trace, TAKT_TRACK_THREAD, 0, row->thread_id);
    build->is_short |= row->track == TKT_NO_TRACK;
    return row->track;
}

/* ---- Spans ----------------------------------------------------------------------------------- */

/* A trace has room for 2^24 sites; names beyond that share the first one, which has no name. */
static uint32_t find_site(imp_build *build, const imp_what *what)
{
    takt_trace *trace = build->trace;
    tkt_trace_site site = {.name =
                               what->name ? what->name : imp_build_string(build, "(unnamed)", 9),
                           .category = what->category,
                           .file = what->file,
                           .line = what->line,
                           .filter = what->filter,
                           .device = what->device,
                           .kind = (uint8_t)what->kind};
    uint32_t index = tkt_trace_site_index(trace, &site);
    if (index != UINT32_MAX)
        return index;
    trace->losses[TAKT_LOSS_MORE_NAMES]++;
    build->is_short |= trace->sites.count < (1u << 24) - 1;
    return 0;
}

static uint32_t site_of(imp_build *build, const imp_what *what)
{
    size_t place = (what->name * 31 + what->line * 7 + what->category) % IMP_RECENT;
    if (!build->recent[place].site || memcmp(&build->recent[place].what, what, sizeof *what) != 0) {
        build->recent[place].what = *what;
        build->recent[place].site = find_site(build, what);
    }
    return build->recent[place].site;
}

/* `parent` has the span's number in the file until imp_nest() finds the parent. */
static uint32_t add_span(imp_build *build, uint32_t track, const imp_what *what, uint64_t begin_ns,
                         uint64_t end_ns)
{
    if (track == TKT_NO_TRACK)
        return IMP_NOTHING;
    uint32_t site = site_of(build, what);
    tkt_spans *spans = &build->trace->tracks.items[track].spans;
    bool is_thread = build->trace->tracks.items[track].kind == TAKT_TRACK_THREAD;
    tkt_span *span = spans->count < TKT_NO_SPAN ? TKT_ARRAY_ADD(spans) : NULL;
    build->is_short |= !span;
    if (!span)
        return IMP_NOTHING;
    uint32_t number = (uint32_t)spans->count - 1;
    *span = (tkt_span){begin_ns, end_ns, site << 8, is_thread ? number : TKT_NO_SPAN};
    imp_build_extend(build, begin_ns, end_ns);
    return number;
}

uint32_t imp_build_span(imp_build *build, imp_row *row, const imp_what *what, uint64_t begin_ns,
                        uint64_t end_ns)
{
    return row ? add_span(build, track_of(build, row), what, begin_ns, end_ns) : IMP_NOTHING;
}

uint32_t imp_build_async(imp_build *build, uint32_t track_name, const imp_what *what,
                         uint64_t begin_ns, uint64_t end_ns)
{
    uint64_t *track = tkt_map_put(&build->track_index, track_name);
    if (track && !*track) {
        uint32_t added = tkt_trace_add_track(build->trace, TAKT_TRACK_ASYNC, track_name, 0);
        *track = added == TKT_NO_TRACK ? 0 : added + 1;
    }
    build->is_short |= !track || !*track;
    if (build->is_short)
        return IMP_NOTHING;
    add_span(build, (uint32_t)*track - 1, what, begin_ns, end_ns);
    return (uint32_t)*track - 1;
}

void imp_build_begin(imp_build *build, imp_row *row, const imp_what *what, uint64_t begin_ns)
{
    uint32_t span = imp_build_span(build, row, what, begin_ns, IMP_OPEN);
    uint32_t *open = span == IMP_NOTHING ? NULL : TKT_ARRAY_ADD(&row->open);
    build->is_short |= !open;
    if (open)
        *open = span;
}

bool imp_build_end(imp_build *build, imp_row *row, uint64_t end_ns)
{
    if (!row || row->open.count == 0)
        return false;
    uint32_t number = row->open.items[--row->open.count];
    tkt_span *span = &build->trace->tracks.items[row->track].spans.items[number];
    span->end_ns = end_ns > span->begin_ns ? end_ns : span->begin_ns;
    build->trace->losses[TAKT_LOSS_CLOCK] += end_ns < span->begin_ns;
    imp_build_extend(build, span->begin_ns, span->end_ns);
    return true;
}

void imp_build_arg(imp_build *build, uint32_t track, uint32_t span, const tkt_arg *arg)
{
    if (track == IMP_NOTHING || span == IMP_NOTHING)
        return;
    tkt_arg *added = TKT_ARRAY_ADD(&build->trace->tracks.items[track].args);
    build->is_short |= !added;
    if (!added)
        return;
    *added = *arg;
    added->span = span;
}

/* ---- Other events of the host ---------------------------------------------------------------- */

void imp_build_mark(imp_build *build, imp_row *row, const imp_what *what, uint64_t time_ns)
{
    uint32_t track = row ? track_of(build, row) : TKT_NO_TRACK;
    tkt_mark *mark = track == TKT_NO_TRACK ? NULL : TKT_ARRAY_ADD(&build->trace->marks);
    build->is_short |= !mark;
    if (mark)
        *mark = (tkt_mark){time_ns, track, site_of(build, what)};
    imp_build_extend(build, time_ns, time_ns);
}

void imp_build_counter(imp_build *build, imp_row *row, uint32_t name, uint64_t time_ns,
                       double value)
{
    uint32_t track = row ? track_of(build, row) : TKT_NO_TRACK;
    tkt_counter *counter = track == TKT_NO_TRACK ? NULL : TKT_ARRAY_ADD(&build->trace->counters);
    build->is_short |= !counter;
    if (counter)
        *counter = (tkt_counter){time_ns, value, name, track};
    imp_build_extend(build, time_ns, time_ns);
}

void imp_build_flow(imp_build *build, imp_row *row, uint64_t id, bool is_end, uint64_t time_ns)
{
    uint32_t track = row ? track_of(build, row) : TKT_NO_TRACK;
    tkt_flow *flow = track == TKT_NO_TRACK ? NULL : TKT_ARRAY_ADD(&build->trace->flows);
    build->is_short |= !flow;
    if (flow)
        *flow = (tkt_flow){time_ns, id, track, TKT_NO_SPAN, is_end};
    imp_build_extend(build, time_ns, time_ns);
}

void imp_build_step(imp_build *build, uint32_t process, uint64_t number, uint64_t begin_ns,
                    uint64_t end_ns)
{
    if (build->step_process && build->step_process != process + 1)
        return;
    build->step_process = process + 1;
    tkt_step *step = TKT_ARRAY_ADD(&build->trace->steps);
    build->is_short |= !step;
    if (step)
        *step = (tkt_step){number, begin_ns, end_ns};
    imp_build_extend(build, begin_ns, end_ns);
}

/* ---- Finishing ------------------------------------------------------------------------------- */

/* Spans that never end last until the end of the file. */
static void close_spans(imp_build *build)
{
    for (size_t i = 0; i < build->rows.count; i++) {
        imp_row *row = &build->rows.items[i];
        for (size_t k = 0; k < row->open.count; k++) {
            tkt_span *span =
                &build->trace->tracks.items[row->track].spans.items[row->open.items[k]];
            span->end_ns = build->last_ns > span->begin_ns ? build->last_ns : span->begin_ns;
            tkt_span_mark(span, TAKT_SPAN_UNFINISHED);
        }
    }
}

/* With several processes, a thread's name tells which it belongs to. */
static uint32_t track_name(imp_build *build, const imp_row *row, bool are_several)
{
    char text[256];
    const imp_process *process = &build->processes.items[row->process];
    const char *name = row->name ? tkt_trace_text(build->trace, row->name) : "";
    if (!name[0] && row->is_main)
        name = "main";
    const char *comma = name[0] ? ", " : "";
    if (!are_several)
        snprintf(text, sizeof text, "%.200s", name);
    else if (process->name)
        snprintf(text, sizeof text, "%.120s%s%s %.100s", name, comma,
                 process->is_rank ? "rank" : "process",
                 tkt_trace_text(build->trace, process->name));
    else
        snprintf(text, sizeof text, "%.200s%sprocess %u", name, comma, process->id);
    return imp_build_string(build, text, strlen(text));
}

static void name_tracks(imp_build *build)
{
    bool are_several = false;
    uint32_t first = IMP_NOTHING; /* process */
    for (size_t i = 0; i < build->rows.count; i++) {
        const imp_row *row = &build->rows.items[i];
        if (row->track == IMP_NOTHING)
            continue;
        are_several |= first != IMP_NOTHING && row->process != first;
        first = first == IMP_NOTHING ? row->process : first;
    }
    if (first != IMP_NOTHING) {
        uint32_t id = build->processes.items[first].id;
        bool is_moved = id - TKT_CHROME_FREE_PIDS < TKT_CHROME_ORDINALS;
        build->trace->facts.process_id = is_moved ? id - TKT_CHROME_FREE_PIDS : id;
    }
    for (size_t i = 0; i < build->rows.count; i++) {
        const imp_row *row = &build->rows.items[i];
        if (row->track != IMP_NOTHING)
            build->trace->tracks.items[row->track].name = track_name(build, row, are_several);
    }
}

static takt_status finish_steps(imp_build *build)
{
    takt_trace *trace = build->trace;
    takt_status status = tkt_order_by_time(
        &(tkt_order_items){trace->steps.items, trace->steps.count, sizeof *trace->steps.items, 0});
    for (size_t i = 0; i < trace->steps.count && !build->has_all_steps; i++) {
        const tkt_step *step = &trace->steps.items[i];
        tkt_all_steps_add(&trace->all_steps, NULL, step->end_ns - step->begin_ns);
    }
    return status;
}

static void set_facts(imp_build *build, const char *name, const char *backend)
{
    takt_trace *trace = build->trace;
    takt_facts *facts = &trace->facts;
    trace->name = imp_build_string(build, name, strlen(name));
    trace->backend = imp_build_string(build, backend, strlen(backend));
    facts->has_spans = true;
    facts->begin_ns = build->first_ns == UINT64_MAX ? 0 : build->first_ns;
    facts->end_ns = build->last_ns > facts->begin_ns ? build->last_ns : facts->begin_ns;
}

static void count_unattributed(takt_trace *trace)
{
    for (size_t i = 0; i < trace->activities.count; i++)
        trace->losses[TAKT_LOSS_UNATTRIBUTED] += trace->activities.items[i].call == TKT_NO_CALL;
}

takt_status imp_build_finish(imp_build *build, const char *name, const char *backend,
                             takt_trace **out)
{
    takt_trace *trace = build->trace;
    takt_status status = build->is_short ? TAKT_NO_MEMORY : imp_finish_times(build);
    if (status == TAKT_OK)
        status = imp_finish_devices(build);
    close_spans(build);
    name_tracks(build);
    set_facts(build, name, backend);
    if (status == TAKT_OK)
        status = build->is_short ? TAKT_NO_MEMORY : imp_add_waits(build);
    if (status == TAKT_OK)
        status = imp_nest(build);
    if (status == TAKT_OK)
        status = imp_finish_memory(build);
    if (status == TAKT_OK)
        status = imp_finish_kernels(build);
    if (status == TAKT_OK)
        status = imp_finish_calls(build);
    if (status == TAKT_OK)
        status = finish_steps(build);
    if (status == TAKT_OK)
        status = tkt_trace_link(trace);
    if (status == TAKT_OK)
        count_unattributed(trace);
    if (status == TAKT_OK)
        status = tkt_trace_finish(trace);
    if (status != TAKT_OK)
        return status;
    build->trace = NULL;
    *out = trace;
    return TAKT_OK;
}
