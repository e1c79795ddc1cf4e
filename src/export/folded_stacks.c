/* Call stacks as folded stacks, as torch's export_stacks() has them: the program's functions, with
 * the time of the scopes that begin there, or with the time of what devices did for them.
 *
 * A span's time is its own: less that of the spans directly inside of it. Spans without a call
 * stack have none here. */
#include "export/exporter.h"
#include "export/folded_tree.h"
#include "summary/frame_text.h"

/* The path of a stack's functions; 0 stands for one that is not made yet. */
typedef struct stack_paths {
    tkt_folded tree;
    uint32_t *numbers; /* by stack */
} stack_paths;

/* Functions of one name are one. */
static uint32_t path_of(stack_paths *paths, uint32_t stack)
{
    const takt_trace *trace = paths->tree.trace;
    const tkt_stack *frames = &trace->stacks.items[stack];
    uint32_t path = paths->numbers[stack];
    if (path != TKT_FOLDED_ROOT)
        return path;
    for (uint32_t i = frames->frame_count; i-- > 0 && path != TKT_NO_NODE;) {
        const tkt_frame *frame = tkt_frame_at(trace, stack, i);
        uint32_t unknown = TKT_FOLDED_FRAME | (uint32_t)(frame - trace->frames.items);
        path = tkt_folded_child(&paths->tree, path, frame->function ? frame->function : unknown);
    }
    return paths->numbers[stack] = path;
}

static bool add(stack_paths *paths, uint32_t path, uint64_t ns)
{
    if (path != TKT_NO_NODE)
        paths->tree.paths.items[path].value += ns;
    return path != TKT_NO_NODE;
}

/* ---- Time of the host ------------------------------------------------------------------------ */

/* self[i]: time of span i without that of those directly inside. */
static void find_self_times(const tkt_track *track, uint64_t *self)
{
    for (size_t i = 0; i < track->spans.count; i++) {
        const tkt_span *span = &track->spans.items[i];
        self[i] = span->end_ns - span->begin_ns;
        if (span->parent != TKT_NO_SPAN)
            self[span->parent] -= self[i];
    }
}

/* A call into CUDA is a function below those of its stack. */
static takt_status add_track(stack_paths *paths, const tkt_track *track)
{
    uint64_t *self = tkt_alloc((track->spans.count + 1) * sizeof *self);
    bool is_ok = self != NULL;
    if (is_ok)
        find_self_times(track, self);
    for (size_t i = 0; i < track->stacks.count && is_ok; i++) {
        const tkt_span_stack *at = &track->stacks.items[i];
        const tkt_span *span = &track->spans.items[at->span];
        uint32_t name = paths->tree.trace->sites.items[tkt_span_site(span)].name;
        uint32_t path = path_of(paths, at->stack);
        if (path != TKT_NO_NODE && tkt_span_flags(span) & TAKT_SPAN_CALL)
            path = tkt_folded_child(&paths->tree, path, name);
        is_ok = add(paths, path, self[at->span]);
    }
    tkt_free(self);
    return is_ok ? TAKT_OK : TAKT_NO_MEMORY;
}

static takt_status add_host_times(stack_paths *paths)
{
    const takt_trace *trace = paths->tree.trace;
    takt_status status = TAKT_OK;
    for (size_t i = 0; i < trace->tracks.count && status == TAKT_OK; i++)
        if (trace->tracks.items[i].kind == TAKT_TRACK_THREAD)
            status = add_track(paths, &trace->tracks.items[i]);
    return status;
}

/* ---- Time of devices ------------------------------------------------------------------------- */

static size_t stack_of_span(const takt_trace *trace, uint32_t track, uint32_t span)
{
    return span == TKT_NO_SPAN ? TAKT_NO_STACK : takt_trace_span_stack(trace, track, span);
}

/* Where the call was made that launched it, otherwise where its scope begins. */
static size_t stack_of(const takt_trace *trace, const tkt_activity *did)
{
    size_t stack = TAKT_NO_STACK;
    if (did->call < trace->calls.count) {
        const tkt_call_info *call = &trace->calls.items[did->call];
        stack = stack_of_span(trace, call->track, call->span);
    }
    if (stack == TAKT_NO_STACK && did->track != TKT_NO_TRACK)
        stack = stack_of_span(trace, did->track, did->scope);
    return stack;
}

static takt_status add_device_times(stack_paths *paths)
{
    const takt_trace *trace = paths->tree.trace;
    for (size_t i = 0; i < trace->activities.count; i++) {
        const tkt_activity *did = &trace->activities.items[i];
        size_t stack = did->shape == TKT_NO_SHAPE ? TAKT_NO_STACK : stack_of(trace, did);
        if (stack == TAKT_NO_STACK)
            continue;
        uint32_t path = path_of(paths, (uint32_t)stack);
        if (path != TKT_NO_NODE)
            path = tkt_folded_child(&paths->tree, path, did->name);
        if (!add(paths, path, did->end_ns - did->begin_ns))
            return TAKT_NO_MEMORY;
    }
    return TAKT_OK;
}

/* ---- Files ----------------------------------------------------------------------------------- */

static takt_status write(const takt_trace *trace, tkt_writer *writer,
                         takt_status (*add_values)(stack_paths *))
{
    stack_paths paths;
    takt_status status = tkt_folded_init(&paths.tree, trace);
    paths.numbers = tkt_alloc_zeroed((trace->stacks.count + 1) * sizeof *paths.numbers);
    if (!paths.numbers)
        status = TAKT_NO_MEMORY;
    if (status == TAKT_OK)
        status = add_values(&paths);
    if (status == TAKT_OK)
        status = tkt_folded_write(&paths.tree, writer);
    tkt_folded_fini(&paths.tree);
    tkt_free(paths.numbers);
    return status;
}

static takt_status write_stacks(const takt_trace *trace, tkt_writer *writer)
{
    return write(trace, writer, add_host_times);
}

static takt_status write_devices(const takt_trace *trace, tkt_writer *writer)
{
    return write(trace, writer, add_device_times);
}

const tkt_exporter tkt_stacks_exporter = {
    .name = "stacks",
    .description = "folded stacks of the program's functions (with_stack)",
    .suffix = ".stacks.folded",
    .needs_spans = true,
    .write = write_stacks,
};

const tkt_exporter tkt_stacks_device_exporter = {
    .name = "stacks-device",
    .description = "the same with the time of kernels and copies",
    .suffix = ".stacks.device.folded",
    .needs_spans = true,
    .write = write_devices,
};
