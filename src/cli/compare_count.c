/* Counts a trace into the rows of a comparison. */
#include "cli/compare.h"
#include "summary/scopes.h"
#include "summary/tasks.h"
#include "summary/threads.h"

#include <stdlib.h>
#include <string.h>

/* ======== Device time of scopes ======== */

/* By track and span: the total duration of the activities launched directly in the span. */
typedef struct cli_launched {
    uint64_t **tracks; /* NULL: no launches on this track */
    size_t count;
} cli_launched;

/* An activity counts for the scope that launched it, whenever it ran, and for all enclosing scopes.
 * So a call's device time is the sum of the activities launched between its begin and end. The
 * durations are first stored at the launching span, and passed to its parent when the span
 * closes. */

static bool make_room(cli_launched *launched, const takt_trace *trace, size_t track)
{
    if (!launched->tracks) {
        launched->count = trace->tracks.count;
        launched->tracks = calloc(launched->count + 1, sizeof *launched->tracks);
        if (!launched->tracks)
            return false;
    }
    if (launched->tracks[track])
        return true;
    size_t spans = trace->tracks.items[track].spans.count;
    launched->tracks[track] = calloc(spans + 1, sizeof **launched->tracks);
    return launched->tracks[track] != NULL;
}

/* Adds an activity of a device, unless its launch is unknown. False: no memory. */
static bool launched_add(cli_launched *launched, const takt_trace *trace,
                         const tkt_activity *activity)
{
    if (activity->track == TKT_NO_TRACK || activity->scope == TKT_NO_SPAN)
        return true;
    if (!make_room(launched, trace, activity->track))
        return false;
    launched->tracks[activity->track][activity->scope] += activity->end_ns - activity->begin_ns;
    return true;
}

static uint64_t cli_launched_ns(const cli_launched *launched, size_t track, size_t span)
{
    return launched->tracks && launched->tracks[track] ? launched->tracks[track][span] : 0;
}

static void launched_free(cli_launched *launched)
{
    for (size_t i = 0; i < launched->count; i++)
        free(launched->tracks[i]);
    free(launched->tracks);
}

/* Call after the walk. Calls of a scope that launched nothing become calls of 0 ns in the scope's
 * row of kind cuda. False: no memory. */
static bool launched_add_idle_calls(cli_comparison *comparison, int side)
{
    cli_rows *rows = &comparison->rows;
    for (size_t i = 0; i < rows->count; i++) {
        const cli_row *row = &rows->items[i];
        if (row->kind != CLI_ROW_CUDA || row->parts[side].total_ns <= row->parts[side].noted_ns)
            continue; /* no launches for this scope in this trace */
        uint32_t of = cli_rows_find(rows, CLI_ROW_SCOPE, row->above, row->name + row->leaf);
        if (of == CLI_NO_ROW)
            return false;
        cli_part *part = &rows->items[i].parts[side]; /* the list may have moved */
        const cli_part *scope = &rows->items[of].parts[side];
        size_t samples = part->noted_samples + scope->samples.count - scope->noted_samples;
        part->calls += scope->calls - scope->noted_calls;
        while (part->samples.count < samples)
            if (!cli_samples_add(&part->samples, 0))
                return false;
    }
    return true;
}

/* ======== Traces with spans ======== */

/* Makes one pass over the activities, and one over the spans in preorder. There may be tens of
 * millions, so it reads the model's arrays: the public functions would fill in facts that nobody
 * asks for. */

enum {
    REMEMBERED = 1024 /* size of the cache of row lookups */
};

typedef struct remembered {
    const char *name;
    uint32_t above;
    cli_row_kind kind;
    uint32_t row;
} remembered;

typedef struct open_span {
    uint32_t span;
    uint32_t row; /* row of this span, or of the scope that it counts as part of; CLI_NO_ROW:
                   * none */
    bool is_counted_in;
    bool is_whole;
    uint64_t launched_ns; /* device time so far */
} open_span;

typedef struct walk {
    cli_comparison *comparison;
    int side;
    const takt_trace *trace;
    size_t track;
    bool *is_wait; /* by site */
    cli_launched launched;
    remembered names[REMEMBERED]; /* a cache indexed by the name's address; a trace stores each name
                                   * once */
    open_span *stack;
    size_t depth;
    size_t stack_capacity;
    uint32_t *open; /* per row: the number of its spans on the stack */
    size_t open_capacity;
} walk;

static uint32_t find_row(walk *w, cli_row_kind kind, uint32_t above, const char *name)
{
    size_t place = ((uintptr_t)name >> 3 ^ (uintptr_t)above * 61 ^ (uintptr_t)kind) % REMEMBERED;
    remembered *last = &w->names[place];
    if (last->name != name || last->above != above || last->kind != kind) {
        uint32_t row = cli_rows_find(&w->comparison->rows, kind, above, name);
        if (row == CLI_NO_ROW)
            return row;
        *last = (remembered){name, above, kind, row};
    }
    return last->row;
}

static cli_part *part_of(walk *w, uint32_t row)
{
    return &w->comparison->rows.items[row].parts[w->side];
}

/* Adds a call to a row whose calls have no parent, such as activities. */
static bool add_alone(walk *w, cli_row_kind kind, const char *name, uint64_t ns, bool is_whole)
{
    uint32_t row = find_row(w, kind, CLI_NO_ROW, name);
    if (row == CLI_NO_ROW)
        return false;
    cli_part *part = part_of(w, row);
    part->calls++;
    part->total_ns += (double)ns;
    part->self_ns += (double)ns;
    return !is_whole || cli_samples_add(&part->samples, ns);
}

/* ---- Spans that nest ---- */

static bool reserve(walk *w)
{
    if (w->depth == w->stack_capacity) {
        size_t capacity = w->stack_capacity ? 2 * w->stack_capacity : 64;
        open_span *stack = realloc(w->stack, capacity * sizeof *stack);
        if (!stack)
            return false;
        w->stack = stack;
        w->stack_capacity = capacity;
    }
    if (w->comparison->rows.capacity > w->open_capacity) {
        size_t capacity = w->comparison->rows.capacity;
        uint32_t *open = realloc(w->open, capacity * sizeof *open);
        if (!open)
            return false;
        memset(open + w->open_capacity, 0, (capacity - w->open_capacity) * sizeof *open);
        w->open = open;
        w->open_capacity = capacity;
    }
    return true;
}

/* Adds a closed scope with device time to its row of kind cuda. */
static bool count_cuda(walk *w, const open_span *scope)
{
    const cli_row *row = &w->comparison->rows.items[scope->row];
    uint32_t own = find_row(w, CLI_ROW_CUDA, row->above, row->name + row->leaf);
    if (own == CLI_NO_ROW)
        return false;
    cli_part *part = part_of(w, own);
    part->self_ns += (double)cli_launched_ns(&w->launched, w->track, scope->span);
    part->total_ns += w->open[scope->row] == 0 ? (double)scope->launched_ns : 0;
    return !scope->is_whole || cli_samples_add(&part->samples, scope->launched_ns);
}

static bool close_span(walk *w)
{
    const open_span *top = &w->stack[--w->depth];

    if (!top->is_counted_in)
        w->open[top->row]--;
    if (top->launched_ns == 0)
        return true;
    if (w->depth > 0)
        w->stack[w->depth - 1].launched_ns += top->launched_ns;
    bool is_scope =
        !top->is_counted_in && w->comparison->rows.items[top->row].kind == CLI_ROW_SCOPE;
    return !is_scope || count_cuda(w, top);
}

static bool close_until(walk *w, uint32_t parent)
{
    while (w->depth > 0 && w->stack[w->depth - 1].span != parent)
        if (!close_span(w))
            return false;
    return true;
}

/* `above` is the row of the enclosing span. */
static bool count_span(walk *w, const tkt_span *span, uint32_t row, uint32_t above)
{
    uint64_t ns = span->end_ns - span->begin_ns;
    cli_part *part = part_of(w, row);

    part->calls++;
    part->self_ns += (double)ns;
    part->total_ns += w->open[row]++ == 0 ? (double)ns : 0;
    if (above != CLI_NO_ROW)
        part_of(w, above)->self_ns -= (double)ns;
    return tkt_span_is_piece(span) || cli_samples_add(&part->samples, ns);
}

static const char *name_of(const walk *w, const tkt_span *span)
{
    return tkt_trace_text(w->trace, tkt_span_name(w->trace, span));
}

static bool add_span(walk *w, const tkt_span *span, uint32_t number)
{
    bool is_call = tkt_span_is_call(span);
    bool is_counted_in = is_call && !w->comparison->options.all;
    if (!close_until(w, span->parent))
        return false;
    uint32_t above = w->depth ? w->stack[w->depth - 1].row : CLI_NO_ROW;
    uint32_t row = above;

    if (!is_counted_in) {
        row = find_row(w, is_call ? CLI_ROW_CALL : CLI_ROW_SCOPE,
                       w->comparison->options.by_path ? above : CLI_NO_ROW, name_of(w, span));
        if (row == CLI_NO_ROW)
            return false;
        w->comparison->rows.items[row].is_wait |= !is_call && w->is_wait[tkt_span_site(span)];
    }
    if (!reserve(w) || (!is_counted_in && !count_span(w, span, row, above)))
        return false;
    w->stack[w->depth++] = (open_span){number, row, is_counted_in, !tkt_span_is_piece(span),
                                       cli_launched_ns(&w->launched, w->track, number)};
    return true;
}

static bool walk_track(walk *w, size_t number)
{
    const tkt_track *track = &w->trace->tracks.items[number];

    w->track = number;
    for (uint32_t i = 0; i < track->spans.count; i++) {
        const tkt_span *span = &track->spans.items[i];
        if (track->kind == TAKT_TRACK_THREAD
                ? !add_span(w, span, i)
                : !add_alone(w, CLI_ROW_TASK, name_of(w, span), span->end_ns - span->begin_ns,
                             !tkt_span_is_piece(span)))
            return false;
    }
    return close_until(w, TKT_NO_SPAN);
}

/* ---- Activities ---- */

static bool walk_activities(walk *w)
{
    const takt_trace *trace = w->trace;
    uint32_t device = 0; /* of the previous activity; 0, "", is none */
    bool counts = false;

    for (size_t i = 0; i < trace->activities.count; i++) {
        const tkt_activity *activity = &trace->activities.items[i];
        if (activity->device != device) {
            device = activity->device;
            counts = strncmp(tkt_trace_text(trace, device), CLI_CUDA, strlen(CLI_CUDA)) == 0;
        }
        if (counts && (!launched_add(&w->launched, trace, activity) ||
                       !add_alone(w, CLI_ROW_ACTIVITY, tkt_trace_text(trace, activity->name),
                                  activity->end_ns - activity->begin_ns, true)))
            return false;
    }
    return true;
}

takt_status cli_compare_whole(cli_comparison *comparison, int side, const takt_trace *trace)
{
    walk w = {.comparison = comparison, .side = side, .trace = trace};
    const takt_facts *facts = takt_trace_facts(trace);
    return add_alone(&w, CLI_ROW_RUN, "wall time", facts->end_ns - facts->begin_ns, true)
               ? TAKT_OK
               : TAKT_NO_MEMORY;
}

takt_status cli_compare_spans(cli_comparison *comparison, int side, const takt_trace *trace)
{
    walk w = {.comparison = comparison, .side = side, .trace = trace};
    bool has_memory = walk_activities(&w);

    w.is_wait = malloc(trace->sites.count * sizeof *w.is_wait);
    has_memory = has_memory && w.is_wait;
    for (uint32_t i = 0; has_memory && i < trace->sites.count; i++)
        w.is_wait[i] = tkt_site_waits(trace, i);
    for (size_t i = 0; has_memory && i < trace->tracks.count; i++)
        has_memory = walk_track(&w, i);
    has_memory = has_memory && launched_add_idle_calls(comparison, side);
    launched_free(&w.launched);
    free(w.stack);
    free(w.open);
    free(w.is_wait);
    return has_memory ? TAKT_OK : TAKT_NO_MEMORY;
}

/* ======== Traces without spans ======== */

/* Takes totals per scope from a trace without spans, where single calls are unknown. */

static bool add_row(cli_comparison *comparison, int side, cli_row_kind kind,
                    const tkt_scope_total *scope, uint64_t total_ns, uint64_t self_ns,
                    uint64_t whole_ns)
{
    uint32_t row = cli_rows_find(&comparison->rows, kind, CLI_NO_ROW, scope->name);
    if (row == CLI_NO_ROW)
        return false;
    cli_part *part = &comparison->rows.items[row].parts[side];
    comparison->rows.items[row].is_wait |= kind == CLI_ROW_SCOPE && scope->is_wait;
    part->calls += scope->calls;
    part->total_ns += (double)total_ns;
    part->self_ns += (double)self_ns;
    part->whole_ns += (double)whole_ns;
    part->whole_calls += scope->calls - scope->pieces;
    return true;
}

static bool add_activity(cli_comparison *comparison, int side, const tkt_scope_total *scope)
{
    return add_row(comparison, side, CLI_ROW_ACTIVITY, scope, scope->device_self_ns,
                   scope->device_self_ns, scope->device_self_ns);
}

/* A scope that launched activities gets a second row, of kind cuda. */
static bool add_scope(cli_comparison *comparison, int side, const tkt_scope_total *scope)
{
    bool is_call = scope->kind == TKT_KIND_CALL;
    bool has_launched = !is_call && scope->device_total_ns > 0;
    tkt_scope_total cuda = *scope;
    cuda.pieces = 0;
    return add_row(comparison, side, is_call ? CLI_ROW_CALL : CLI_ROW_SCOPE, scope, scope->total_ns,
                   scope->self_ns, scope->whole_ns) &&
           (!has_launched || add_row(comparison, side, CLI_ROW_CUDA, &cuda, scope->device_total_ns,
                                     scope->device_self_ns, scope->device_sum_ns));
}

/* Adds the rows of devices, or those of the host. A scope's time excludes its calls if `all` is
 * set, and activities are listed only then. So the caller needs two passes. */
static takt_status add_rows(cli_comparison *comparison, int side, const takt_trace *trace, bool all,
                            bool devices)
{
    tkt_scopes scopes = {0};
    takt_status status = tkt_scopes_by_name(trace, all, &scopes);
    for (size_t i = 0; i < scopes.count && status == TAKT_OK; i++) {
        const tkt_scope_total *scope = &scopes.items[i];
        if ((scope->kind == TKT_KIND_ACTIVITY) == devices &&
            !(devices ? add_activity : add_scope)(comparison, side, scope))
            status = TAKT_NO_MEMORY;
    }
    tkt_scopes_fini(&scopes);
    return status;
}

/* A crash-safe summary that was recovered does not know its tasks. */
static takt_status add_tasks(cli_comparison *comparison, int side, const takt_trace *trace)
{
    tkt_task_list tasks = {0};
    takt_status status = tkt_tasks_of(trace, &tasks);
    for (size_t i = 0; i < tasks.times.count && status == TAKT_OK; i++) {
        const tkt_named *task = &tasks.times.items[i];
        const tkt_scope_total total = {.name = tkt_trace_text(trace, task->name),
                                       .calls = task->stats.count,
                                       .pieces = task->stats.pieces};
        uint64_t ns = task->stats.total_ns;
        if (!add_row(comparison, side, CLI_ROW_TASK, &total, ns, ns, ns - task->stats.pieces_ns))
            status = TAKT_NO_MEMORY;
    }
    tkt_tasks_fini(&tasks);
    return status == TAKT_NO_SPANS ? TAKT_OK : status;
}

takt_status cli_compare_folded(cli_comparison *comparison, int side, const takt_trace *trace)
{
    takt_status status = add_rows(comparison, side, trace, comparison->options.all, false);
    if (status == TAKT_OK)
        status = add_rows(comparison, side, trace, true, true);
    return status == TAKT_OK ? add_tasks(comparison, side, trace) : status;
}
