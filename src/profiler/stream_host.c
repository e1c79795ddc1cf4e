/* The work of threads in a slice. A span that was open in the previous slice has its begin in the
 * file already; a span that is still open gets its end from a later slice. Each row of the file is
 * therefore in order and well nested wherever the file is cut off.
 *
 * Where records were dropped, a span that is open in the file may be missing. It is then ended at
 * the row's latest time, and marked as unfinished. */
#include "profiler/stream.h"

#include "trace/devices.h"

#include <stdlib.h>
#include <string.h>

/* ---- From a slice's names to the file's ------------------------------------------------------ */

uint32_t tkt_stream_string(tkt_stream_file *to, const char *bytes, size_t size)
{
    uint32_t string = tkt_trace_string(to->trace, bytes, size);
    if (string != TKT_STRTAB_FULL)
        return string;
    tkt_perfetto_no_memory(&to->perfetto);
    return 0;
}

static uint32_t string_of(tkt_stream_file *to, const takt_trace *slice, uint32_t string)
{
    const tkt_string *from = &slice->strings.items[string];
    return tkt_stream_string(to, from->bytes, from->size);
}

static uint32_t find_site(tkt_stream_file *to, const takt_trace *slice, uint32_t index)
{
    tkt_trace_site site = slice->sites.items[index];
    site.name = string_of(to, slice, site.name);
    site.category = string_of(to, slice, site.category);
    site.file = string_of(to, slice, site.file);
    site.function = string_of(to, slice, site.function);
    site.device = string_of(to, slice, site.device);
    uint32_t mine = tkt_trace_site_index(to->trace, &site);
    if (mine != UINT32_MAX)
        return mine;
    tkt_perfetto_no_memory(&to->perfetto);
    return 0;
}

static uint32_t site_of(tkt_stream_file *to, const takt_trace *slice, uint32_t index)
{
    if (index >= to->slice_sites.count)
        return find_site(to, slice, index);
    uint32_t *known = &to->slice_sites.items[index];
    if (*known == 0)
        *known = find_site(to, slice, index) + 1;
    return *known - 1;
}

/* Forgets the sites of the previous slice. Without memory, each site is looked up every time. */
static void forget_sites(tkt_stream_file *to, const takt_trace *slice)
{
    to->slice_sites.count = 0;
    if (!TKT_ARRAY_RESERVE(&to->slice_sites, slice->sites.count))
        return;
    to->slice_sites.count = slice->sites.count;
    memset(to->slice_sites.items, 0, slice->sites.count * sizeof *to->slice_sites.items);
}

/* Returns the file's number of a call stack; UINT32_MAX without memory. */
static uint32_t stack_of(tkt_stream_file *to, const takt_trace *slice, uint32_t index)
{
    const tkt_stack *stack = &slice->stacks.items[index];
    uint32_t *frames = tkt_alloc((stack->frame_count + 1) * sizeof *frames);
    if (!frames)
        return UINT32_MAX;
    bool is_ok = true;
    for (uint32_t i = 0; i < stack->frame_count && is_ok; i++) {
        tkt_frame frame = slice->frames.items[slice->stack_frames.items[stack->first_frame + i]];
        frame.module = string_of(to, slice, frame.module);
        frame.function = string_of(to, slice, frame.function);
        frame.file = string_of(to, slice, frame.file);
        frames[i] = tkt_stacks_frame(&to->stacks, &frame);
        is_ok = frames[i] != UINT32_MAX;
    }
    uint32_t number = is_ok ? tkt_stacks_add(&to->stacks, frames, stack->frame_count) : UINT32_MAX;
    tkt_free(frames);
    return number;
}

/* A thread may get its name at any time. */
static void name_track(tkt_stream_file *to, uint32_t index, uint32_t name)
{
    tkt_track *track = &to->trace->tracks.items[index];
    if (track->name == name)
        return;
    track->name = name;
    tkt_perfetto_rename(&to->perfetto, index);
}

/* Returns the state of the row for a slice's track; NULL without memory. */
static tkt_stream_row *state_of(tkt_stream_file *to, const takt_trace *slice,
                                const tkt_track *track)
{
    uint32_t name = string_of(to, slice, track->name);
    uint64_t key = track->serial ? track->serial : ~(uint64_t)name;
    uint64_t *index = tkt_map_put(&to->rows, key);
    if (!index)
        return NULL;
    if (*index == 0) {
        uint32_t mine = tkt_trace_add_track(to->trace, track->kind, name, track->thread_id);
        tkt_stream_row *state = mine == TKT_NO_TRACK ? NULL : TKT_ARRAY_ADD(&to->states);
        if (!state) {
            tkt_map_remove(&to->rows, key);
            return NULL;
        }
        *state = (tkt_stream_row){.track = mine};
        *index = to->states.count;
        tkt_perfetto_track(&to->perfetto, mine);
    }
    tkt_stream_row *state = &to->states.items[*index - 1];
    name_track(to, state->track, name);
    return state;
}

/* ---- A slice of a track ---------------------------------------------------------------------- */

/* A walk over one track: spans in preorder, with a stack of open ones. */
typedef struct walk {
    tkt_stream_file *to;
    const takt_trace *slice;
    const tkt_track *track;
    tkt_stream_row *state;
    uint32_t number; /* index of the slice's track */
    uint32_t row;
    uint32_t known; /* number of first spans whose begin is in the file; each is the parent of the
                     * next */
    size_t arg;     /* this and the next three: the next ones to write */
    size_t work;
    size_t stack;
    size_t call;
    TKT_ARRAY_OF(uint32_t) open; /* spans of the slice, outermost first */
} walk;

static uint64_t not_before(tkt_stream_row *state, uint64_t time_ns)
{
    if (time_ns > state->last_ns)
        state->last_ns = time_ns;
    return state->last_ns;
}

/* Writes late arguments and work of the innermost open slice. */
static void write_late(walk *w)
{
    tkt_stream_row *state = w->state;
    uint32_t depth = (uint32_t)state->open.count - 1;
    size_t kept = 0;
    for (size_t i = 0; i < state->late.count; i++) {
        const tkt_late_note *note = &state->late.items[i];
        if (note->depth < depth)
            state->late.items[kept++] = *note;
        else if (note->is_work)
            tkt_perfetto_work(&w->to->perfetto, w->row, &note->work);
        else
            tkt_perfetto_arg(&w->to->perfetto, w->row, &note->arg);
    }
    state->late.count = kept;
}

static void end_slice(walk *w, uint64_t end_ns)
{
    write_late(w);
    tkt_perfetto_end(&w->to->perfetto, w->row, not_before(w->state, end_ns));
    w->state->open.count--;
}

/* Leaves the innermost span, and ends its slice if the span has ended. */
static void leave(walk *w)
{
    const tkt_span *span = &w->track->spans.items[w->open.items[--w->open.count]];
    if (!(tkt_span_flags(span) & TAKT_SPAN_UNFINISHED))
        end_slice(w, span->end_ns);
}

static void keep_late(walk *w, const tkt_arg *arg, const tkt_work *work)
{
    tkt_late_note *note = TKT_ARRAY_ADD(&w->state->late);
    if (!note) {
        tkt_perfetto_no_memory(&w->to->perfetto);
        return;
    }
    *note = (tkt_late_note){.depth = (uint32_t)w->open.count, .is_work = work != NULL};
    if (work) {
        note->work = *work;
        return;
    }
    note->arg = *arg;
    if (arg->type == TKT_ARG_STRING)
        note->arg.value.string = string_of(w->to, w->slice, arg->value.string);
}

static void write_arg(walk *w, const tkt_arg *from, bool is_known)
{
    tkt_arg arg = *from;
    arg.key = string_of(w->to, w->slice, arg.key);
    if (is_known)
        keep_late(w, &arg, NULL);
    else if (arg.type == TKT_ARG_STRING)
        tkt_perfetto_text_arg(&w->to->perfetto, w->row, arg.key,
                              tkt_trace_text(w->slice, arg.value.string));
    else
        tkt_perfetto_arg(&w->to->perfetto, w->row, &arg);
}

static void write_call(walk *w, const tkt_call_info *call, uint32_t site)
{
    const char *name = tkt_trace_text(w->to->trace, w->to->trace->sites.items[site].name);
    bool has_work = call->result == 0 && tkt_launched_by(name) != 0;
    tkt_perfetto_call(&w->to->perfetto, w->row, call, has_work);
    w->to->calls[call->correlation % TKT_STREAM_CALLS] =
        (tkt_stream_call){call->correlation, w->row};
}

static void annotate(walk *w, uint32_t index, bool is_known, uint32_t site)
{
    const tkt_track *track = w->track;
    for (; w->arg < track->args.count && track->args.items[w->arg].span <= index; w->arg++)
        if (track->args.items[w->arg].span == index)
            write_arg(w, &track->args.items[w->arg], is_known);
    for (; w->work < track->works.count && track->works.items[w->work].span <= index; w->work++) {
        const tkt_work *work = &track->works.items[w->work];
        if (work->span == index && is_known)
            keep_late(w, NULL, work);
        else if (work->span == index)
            tkt_perfetto_work(&w->to->perfetto, w->row, work);
    }
    for (; w->stack < track->stacks.count && track->stacks.items[w->stack].span <= index;
         w->stack++) {
        if (track->stacks.items[w->stack].span != index || is_known)
            continue;
        uint32_t stack = stack_of(w->to, w->slice, track->stacks.items[w->stack].stack);
        tkt_perfetto_stacks(&w->to->perfetto);
        if (stack != UINT32_MAX)
            tkt_perfetto_stack(&w->to->perfetto, w->row, stack);
        else
            tkt_perfetto_no_memory(&w->to->perfetto);
    }
    for (; w->call < w->slice->calls.count; w->call++) {
        const tkt_call_info *call = &w->slice->calls.items[w->call];
        if (call->track > w->number || (call->track == w->number && call->span > index))
            break;
        if (call->track == w->number && call->span == index && !is_known)
            write_call(w, call, site);
    }
}

static void begin_slice(walk *w, const tkt_span *span, uint32_t site)
{
    tkt_perfetto_flags(&w->to->perfetto, w->row,
                       tkt_span_flags(span) & (TAKT_SPAN_BEGUN_BEFORE | TAKT_SPAN_CAPTURING));
    tkt_perfetto_begin(&w->to->perfetto, w->row, site, not_before(w->state, span->begin_ns));
    w->state->open.items[w->state->open.count++] = (tkt_open_slice){span->begin_ns, site};
}

/* False without memory. */
static bool write_span(walk *w, uint32_t index)
{
    const tkt_span *span = &w->track->spans.items[index];
    while (w->open.count > 0 && w->open.items[w->open.count - 1] != span->parent)
        leave(w);
    if (!TKT_ARRAY_RESERVE(&w->state->open, w->state->open.count + 1) ||
        !TKT_ARRAY_RESERVE(&w->open, w->open.count + 1))
        return false;
    bool is_known = index < w->known;
    uint32_t site = site_of(w->to, w->slice, tkt_span_site(span));
    annotate(w, index, is_known, site);
    if (!is_known)
        begin_slice(w, span, site);
    w->open.items[w->open.count++] = index;
    return true;
}

/* Returns how many slices that are open in the file are the track's first spans. */
static uint32_t count_known(walk *w)
{
    const tkt_spans *spans = &w->track->spans;
    uint32_t known = 0;
    for (; known < spans->count && known < w->state->open.count; known++) {
        const tkt_span *span = &spans->items[known];
        const tkt_open_slice *open = &w->state->open.items[known];
        if (span->parent != (known ? known - 1 : TKT_NO_SPAN) || span->begin_ns != open->begin_ns ||
            site_of(w->to, w->slice, tkt_span_site(span)) != open->site)
            break;
    }
    return known;
}

static void write_thread(walk *w)
{
    w->known = count_known(w);
    while (w->state->open.count > w->known) {
        tkt_perfetto_flags(&w->to->perfetto, w->row, TAKT_SPAN_UNFINISHED);
        end_slice(w, w->state->last_ns);
    }
    bool is_ok = true;
    for (uint32_t i = 0; i < w->track->spans.count && is_ok; i++)
        is_ok = write_span(w, i);
    if (!is_ok)
        tkt_perfetto_no_memory(&w->to->perfetto);
    while (w->open.count > 0 && is_ok)
        leave(w);
    TKT_ARRAY_FREE(&w->open);
    if (w->state->open.count == 0) /* the thread may have ended */
        TKT_ARRAY_FREE(&w->state->open);
}

/* ---- A slice of an async track --------------------------------------------------------------- */

/* A span that is still open is begun in the file, on a lane that it keeps, and ended by a later
 * slice. The record of its end has no number of the span, but begin and site tell which it is:
 * equal ones are the same to a reader. If the record was dropped, no slice has the span any more.
 * It may also be under way when a slice is sealed, so some slices are waited for. */

#define MOST_MISSES 100u

/* Returns the number of the span of this begin and site among the first `known` open ones that no
 * span of the slice has taken yet; `known` if there is none. Spans are asked for by begin; *from
 * starts at 0. */
static size_t find_open(const tkt_stream_row *state, size_t known, size_t *from, uint64_t begin_ns,
                        uint32_t site)
{
    const tkt_open_task *tasks = state->tasks.items;
    while (*from < known && tasks[*from].begin_ns < begin_ns)
        ++*from;
    for (size_t i = *from; i < known && tasks[i].begin_ns == begin_ns; i++)
        if (tasks[i].site == site && tasks[i].misses > 0 && tasks[i].misses != TKT_TASK_ENDED)
            return i;
    return known;
}

static void end_task(walk *w, tkt_open_task *task, uint64_t end_ns, uint32_t flags)
{
    tkt_perfetto_flags(&w->to->perfetto, task->row, flags & TAKT_SPAN_UNFINISHED);
    tkt_perfetto_end(&w->to->perfetto, task->row, end_ns);
    tkt_perfetto_free_lane(&w->to->perfetto, w->state->track, task->lane, end_ns);
    task->misses = TKT_TASK_ENDED;
}

/* Begins a span in the file; also ends it, if it is no longer open. */
static void write_task(walk *w, const tkt_span *span, uint32_t site, bool is_open)
{
    tkt_open_task task = {.begin_ns = span->begin_ns, .site = site};
    tkt_open_task *added = is_open ? TKT_ARRAY_ADD(&w->state->tasks) : &task;
    if (!added) {
        tkt_perfetto_no_memory(&w->to->perfetto);
        return;
    }
    task.row =
        tkt_perfetto_hold_lane(&w->to->perfetto, w->state->track, span->begin_ns, &task.lane);
    tkt_perfetto_flags(&w->to->perfetto, task.row, tkt_span_flags(span) & TAKT_SPAN_BEGUN_BEFORE);
    tkt_perfetto_begin(&w->to->perfetto, task.row, site, span->begin_ns);
    *added = task;
    if (!is_open)
        end_task(w, added, span->end_ns, tkt_span_flags(span));
}

static int by_begin(const void *a, const void *b)
{
    const tkt_open_task *left = a, *right = b;
    return (left->begin_ns > right->begin_ns) - (left->begin_ns < right->begin_ns);
}

/* Forgets the spans that have ended, and ends those whose records were dropped. */
static void keep_open(walk *w)
{
    tkt_stream_row *state = w->state;
    size_t kept = 0;
    for (size_t i = 0; i < state->tasks.count; i++) {
        tkt_open_task *task = &state->tasks.items[i];
        if (task->misses != TKT_TASK_ENDED && task->misses > MOST_MISSES)
            end_task(w, task, w->to->trace->facts.end_ns, TAKT_SPAN_UNFINISHED);
        if (task->misses != TKT_TASK_ENDED)
            state->tasks.items[kept++] = *task;
    }
    state->tasks.count = kept;
    if (kept > 1)
        qsort(state->tasks.items, kept, sizeof *state->tasks.items, by_begin);
}

static void write_async(walk *w, bool is_last)
{
    tkt_stream_row *state = w->state;
    size_t known = state->tasks.count, from = 0;
    for (size_t i = 0; i < known; i++)
        state->tasks.items[i].misses++;
    for (size_t i = 0; i < w->track->spans.count; i++) {
        const tkt_span *span = &w->track->spans.items[i];
        bool is_open = !is_last && (tkt_span_flags(span) & TAKT_SPAN_UNFINISHED);
        uint32_t site = site_of(w->to, w->slice, tkt_span_site(span));
        size_t open = find_open(state, known, &from, span->begin_ns, site);
        if (open == known)
            write_task(w, span, site, is_open);
        else if (is_open)
            state->tasks.items[open].misses = 0;
        else
            end_task(w, &state->tasks.items[open], span->end_ns, tkt_span_flags(span));
    }
    keep_open(w);
}

static void write_track(tkt_stream_file *to, const takt_trace *slice, uint32_t number, bool is_last)
{
    walk w = {.to = to, .slice = slice, .track = &slice->tracks.items[number], .number = number};
    w.state = state_of(to, slice, w.track);
    if (!w.state) {
        tkt_perfetto_no_memory(&to->perfetto);
        return;
    }
    w.row = tkt_perfetto_track(&to->perfetto, w.state->track);
    if (w.track->kind == TAKT_TRACK_THREAD)
        write_thread(&w);
    else
        write_async(&w, is_last);
}

/* ---- Marks, counters, memory ----------------------------------------------------------------- */

/* Returns the row of a slice's track, which write_track() has opened. */
static uint32_t row_of(tkt_stream_file *to, const takt_trace *slice, uint32_t track)
{
    const tkt_stream_row *state = state_of(to, slice, &slice->tracks.items[track]);
    return tkt_perfetto_track(&to->perfetto, state ? state->track : 0);
}

static void write_marks_and_counters(tkt_stream_file *to, const takt_trace *slice)
{
    for (size_t i = 0; i < slice->marks.count; i++) {
        const tkt_mark *mark = &slice->marks.items[i];
        tkt_perfetto_mark(&to->perfetto, row_of(to, slice, mark->track),
                          site_of(to, slice, mark->site), mark->time_ns);
    }
    for (size_t i = 0; i < slice->counters.count; i++) {
        tkt_counter counter = slice->counters.items[i];
        counter.name = string_of(to, slice, counter.name);
        tkt_perfetto_counter(&to->perfetto, row_of(to, slice, counter.track), &counter);
    }
}

static void write_memory(tkt_stream_file *to, const takt_trace *slice)
{
    tkt_memory_totals *totals = &to->trace->memory;
    for (size_t i = 0; i < slice->memory_events.count; i++) {
        const tkt_memory_event *event = &slice->memory_events.items[i];
        to->memory_bytes += (uint64_t)event->bytes;
        if ((int64_t)to->memory_bytes > (int64_t)totals->window_peak_bytes) {
            totals->window_peak_bytes = to->memory_bytes;
            totals->window_peak_ns = event->time_ns;
        }
        tkt_perfetto_memory(&to->perfetto, row_of(to, slice, event->track), event,
                            to->memory_bytes);
    }
}

void tkt_stream_write_host(tkt_stream_file *to, const takt_trace *slice, bool is_last)
{
    forget_sites(to, slice);
    for (uint32_t i = 0; i < slice->tracks.count; i++)
        write_track(to, slice, i, is_last);
    write_marks_and_counters(to, slice);
    for (size_t i = 0; i < slice->flows.count; i++)
        tkt_perfetto_flow(&to->perfetto, row_of(to, slice, slice->flows.items[i].track),
                          &slice->flows.items[i]);
    write_memory(to, slice);
}

void tkt_stream_file_fini(tkt_stream_file *to)
{
    for (size_t i = 0; i < to->states.count; i++) {
        TKT_ARRAY_FREE(&to->states.items[i].open);
        TKT_ARRAY_FREE(&to->states.items[i].late);
        TKT_ARRAY_FREE(&to->states.items[i].tasks);
    }
    TKT_ARRAY_FREE(&to->states);
    TKT_ARRAY_FREE(&to->slice_sites);
    TKT_ARRAY_FREE(&to->memories);
    TKT_ARRAY_FREE(&to->window_memory);
    TKT_ARRAY_FREE(&to->begin_bytes);
    TKT_ARRAY_FREE(&to->batch.activities);
    TKT_ARRAY_FREE(&to->batch.waits);
    TKT_ARRAY_FREE(&to->batch.overheads);
    TKT_ARRAY_FREE(&to->batch.memory);
    tkt_graphs_fini(&to->graphs);
    tkt_bodies_fini(&to->bodies);
    tkt_map_fini(&to->rows);
    tkt_map_fini(&to->shapes);
    tkt_stacks_fini(&to->stacks);
    takt_trace_release(to->trace);
}
