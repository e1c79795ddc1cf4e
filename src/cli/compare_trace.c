/* What a trace with spans says of the rows of a comparison: one walk over its spans in preorder,
 * and one over its activities. */
#include "cli/compare_cuda.h"

#include <stdlib.h>
#include <string.h>

enum {
    REMEMBERED = 1024 /* names that were looked up lately */
};

typedef struct remembered {
    const char *name;
    uint32_t above;
    cli_row_kind kind;
    uint32_t row;
} remembered;

typedef struct open_span {
    size_t span;
    uint32_t row; /* of it, or of what it is counted in; CLI_NO_ROW: none */
    bool is_counted_in;
    bool is_whole;
    uint64_t launched_ns; /* what devices did for it until now */
} open_span;

typedef struct walk {
    cli_comparison *comparison;
    int side;
    const takt_trace *trace;
    size_t track;
    cli_launched launched;
    remembered names[REMEMBERED]; /* by the address of the name, which a trace holds once */
    open_span *stack;
    size_t depth;
    size_t stack_capacity;
    uint32_t *open; /* for each row: how many spans of it are on the stack */
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

/* A call that does not overlap with others of its row. */
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

/* `scope` has closed, and devices did something for it. */
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

static bool close_until(walk *w, size_t parent)
{
    while (w->depth > 0 && w->stack[w->depth - 1].span != parent)
        if (!close_span(w))
            return false;
    return true;
}

static bool is_whole(const takt_span_info *span)
{
    return !(span->flags & (TAKT_SPAN_BEGUN_BEFORE | TAKT_SPAN_UNFINISHED));
}

/* `above` is the row of what it is in. */
static bool count_span(walk *w, const takt_span_info *span, uint32_t row, uint32_t above)
{
    uint64_t ns = span->end_ns - span->begin_ns;
    cli_part *part = part_of(w, row);

    part->calls++;
    part->self_ns += (double)ns;
    part->total_ns += w->open[row]++ == 0 ? (double)ns : 0;
    if (above != CLI_NO_ROW)
        part_of(w, above)->self_ns -= (double)ns;
    return !is_whole(span) || cli_samples_add(&part->samples, ns);
}

static bool add_span(walk *w, const takt_span_info *span, size_t number)
{
    bool is_call = span->flags & TAKT_SPAN_CALL;
    bool is_counted_in = is_call && !w->comparison->options.all;
    if (!close_until(w, span->parent))
        return false;
    uint32_t above = w->depth ? w->stack[w->depth - 1].row : CLI_NO_ROW;
    uint32_t row = above;

    if (!is_counted_in) {
        row = find_row(w, is_call ? CLI_ROW_CALL : CLI_ROW_SCOPE,
                       w->comparison->options.by_path ? above : CLI_NO_ROW, span->name);
        if (row == CLI_NO_ROW)
            return false;
    }
    if (!reserve(w) || (!is_counted_in && !count_span(w, span, row, above)))
        return false;
    w->stack[w->depth++] = (open_span){number, row, is_counted_in, is_whole(span),
                                       cli_launched_ns(&w->launched, w->track, number)};
    return true;
}

static bool walk_track(walk *w, size_t number)
{
    takt_track_info track;
    takt_span_info span;

    if (takt_trace_track(w->trace, number, &track) != TAKT_OK)
        return true;
    w->track = number;
    for (size_t i = 0; i < track.span_count; i++) {
        if (takt_trace_span(w->trace, number, i, &span) != TAKT_OK)
            continue;
        if (track.kind == TAKT_TRACK_THREAD
                ? !add_span(w, &span, i)
                : !add_alone(w, CLI_ROW_TASK, span.name, span.end_ns - span.begin_ns,
                             is_whole(&span)))
            return false;
    }
    return close_until(w, TAKT_NO_PARENT);
}

/* ---- The rest ---- */

/* Marked loops of the host are scopes already; the program named their devices as it liked. */
static bool is_of_device(const takt_activity *activity)
{
    return strncmp(activity->device, "cuda:", strlen("cuda:")) == 0;
}

static bool walk_activities(walk *w)
{
    size_t count = takt_trace_count(w->trace, TAKT_TRACE_ACTIVITIES);
    takt_activity activity;

    for (size_t i = 0; i < count; i++) {
        if (takt_trace_activity(w->trace, i, &activity) != TAKT_OK || !is_of_device(&activity))
            continue;
        if (!cli_launched_add(&w->launched, w->trace, &activity) ||
            !add_alone(w, CLI_ROW_ACTIVITY, activity.name, activity.end_ns - activity.begin_ns,
                       true))
            return false;
    }
    return true;
}

static bool walk_steps(walk *w)
{
    takt_step_info step;
    for (size_t i = 0; takt_trace_step(w->trace, i, &step) == TAKT_OK; i++)
        if (!add_alone(w, CLI_ROW_STEP, "step", step.end_ns - step.begin_ns, true))
            return false;
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

takt_status cli_compare_steps(cli_comparison *comparison, int side, const takt_trace *trace)
{
    walk w = {.comparison = comparison, .side = side, .trace = trace};
    return walk_steps(&w) ? TAKT_OK : TAKT_NO_MEMORY;
}

takt_status cli_compare_spans(cli_comparison *comparison, int side, const takt_trace *trace)
{
    walk w = {.comparison = comparison, .side = side, .trace = trace};
    size_t tracks = takt_trace_count(trace, TAKT_TRACE_TRACKS);
    bool has_memory = walk_activities(&w);

    for (size_t i = 0; has_memory && i < tracks; i++)
        has_memory = walk_track(&w, i);
    has_memory = has_memory && cli_launched_add_idle_calls(comparison, side);
    cli_launched_free(&w.launched);
    free(w.stack);
    free(w.open);
    return has_memory ? TAKT_OK : TAKT_NO_MEMORY;
}
