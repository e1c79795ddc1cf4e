/* Folded stacks, the input of flame graphs: a line for each path, with its names, outermost first,
 * and its own value.
 *
 *     step;forces;neighbours 1234567
 *
 * This is the format of Brendan Gregg's flamegraph.pl, also used by speedscope and torch's
 * export_stacks(). Values are whole nanoseconds: the tools sum integers of any unit, and
 * microseconds would lose the short scopes that flame graphs are meant to add up. Paths without a
 * value are left out. Characters that would end a name or a line become '_', as in torch. Siblings
 * are sorted by name, so equal programs give equal files. */
#include "base/containers.h"
#include "base/text.h"
#include "export/exporter.h"
#include "summary/scopes.h"

#include <stdlib.h>
#include <string.h>

/* ======== The tree ======== */

#define ROOT          0u
#define OTHER_PATHS   UINT32_MAX  /* paths beyond the limit */
#define DEEP_PATHS    (UINT32_MAX - 1) /* where a path begins anew that has MOST_NAMES */
#define UNNAMED_FRAME 0x80000000u /* plus the number of a frame whose function is unknown */

typedef struct folded_path {
    uint64_t value;
    size_t text_begin; /* where its name begins in the current path's text */
    uint32_t name;
    uint32_t parent;
    uint32_t depth;       /* 0: the root */
    uint32_t next;        /* next sibling, sorted by name */
    uint32_t first_child; /* first child, sorted by name */
} folded_path;

typedef struct tkt_folded {
    const takt_trace *trace;
    tkt_map numbers;                 /* parent << 32 | name -> path */
    TKT_ARRAY_OF(folded_path) paths; /* path 0 is the root */
    TKT_ARRAY_OF(char) text;         /* names of the current path */
} tkt_folded;

#define NAME_BYTES 1024 /* limit for a frame's name */
#define MOST_NAMES                                                                                 \
    256 /* of a line; a long recursion would otherwise fill the square of its depth */

static takt_status folded_init(tkt_folded *folded, const takt_trace *trace)
{
    *folded = (tkt_folded){.trace = trace};
    folded_path *root = TKT_ARRAY_ADD(&folded->paths);
    if (!root)
        return TAKT_NO_MEMORY;
    *root = (folded_path){0};
    return TAKT_OK;
}

static void folded_fini(tkt_folded *folded)
{
    tkt_map_fini(&folded->numbers);
    TKT_ARRAY_FREE(&folded->paths);
    TKT_ARRAY_FREE(&folded->text);
}

/* Returns the child of `parent` with this name, created if it is new. `name` is a string's id, or
 * one of the constants above. TKT_NO_NODE without memory. */
static uint32_t folded_child(tkt_folded *folded, uint32_t parent, uint32_t name)
{
    if (folded->paths.items[parent].depth == MOST_NAMES)
        parent = folded_child(folded, ROOT, DEEP_PATHS);
    if (parent == TKT_NO_NODE)
        return TKT_NO_NODE;
    uint64_t *place = tkt_map_put(&folded->numbers, (uint64_t)parent << 32 | name);
    if (!place)
        return TKT_NO_NODE;
    if (*place)
        return (uint32_t)*place;
    folded_path *added = TKT_ARRAY_ADD(&folded->paths);
    if (!added)
        return TKT_NO_NODE;
    *added = (folded_path){
        .name = name, .parent = parent, .depth = folded->paths.items[parent].depth + 1};
    *place = folded->paths.count - 1;
    return (uint32_t)*place;
}

/* `buffer` has NAME_BYTES. */
static tkt_string name_of(const takt_trace *trace, uint32_t name, char *buffer)
{
    if (name == OTHER_PATHS)
        return (tkt_string){TKT_OTHER_NAME, strlen(TKT_OTHER_NAME)};
    if (name == DEEP_PATHS)
        return (tkt_string){"...", 3};
    if (!(name & UNNAMED_FRAME))
        return trace->strings.items[name];
    const tkt_frame *frame = &trace->frames.items[name & ~UNNAMED_FRAME];
    tkt_frame_function(buffer, NAME_BYTES, trace, frame);
    return (tkt_string){buffer, strlen(buffer)};
}

/* ---- Sorting by name ------------------------------------------------------------------------- */

typedef struct place {
    const takt_trace *trace;
    uint32_t name;
    uint32_t parent;
    uint32_t number;
} place;

static int by_parent_and_name(const void *a, const void *b)
{
    char buffers[2][NAME_BYTES];
    const place *x = a;
    const place *y = b;
    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    tkt_string p = name_of(x->trace, x->name, buffers[0]);
    tkt_string q = name_of(y->trace, y->name, buffers[1]);
    int order = memcmp(p.bytes, q.bytes, p.size < q.size ? p.size : q.size);
    if (order)
        return order;
    return p.size < q.size ? -1 : p.size > q.size;
}

static takt_status link_children(tkt_folded *folded)
{
    folded_path *paths = folded->paths.items;
    size_t count = folded->paths.count;
    place *places = tkt_alloc(count * sizeof *places);
    if (!places)
        return TAKT_NO_MEMORY;
    for (uint32_t i = 1; i < count; i++)
        places[i] = (place){folded->trace, paths[i].name, paths[i].parent, i};
    qsort(places + 1, count - 1, sizeof *places, by_parent_and_name);
    for (size_t i = count; --i > 0;) {
        folded_path *parent = &paths[places[i].parent];
        paths[places[i].number].next = parent->first_child;
        parent->first_child = places[i].number;
    }
    tkt_free(places);
    return TAKT_OK;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

static bool append_name(tkt_folded *folded, folded_path *at)
{
    char buffer[NAME_BYTES];
    tkt_string name = name_of(folded->trace, at->name, buffer);
    size_t capacity = name.size * 3 + 2; /* each invalid byte becomes three bytes */
    at->text_begin = folded->text.count;
    if (!TKT_ARRAY_RESERVE(&folded->text, folded->text.count + capacity + 1))
        return false;
    if (folded->text.count)
        folded->text.items[folded->text.count++] = ';';
    char *begin = folded->text.items + folded->text.count;
    size_t size = tkt_utf8_clean(begin, capacity, name.bytes, name.size);
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)begin[i];
        if (c <= ' ' || c == ';' || c == 0x7F)
            begin[i] = '_';
    }
    if (!size)
        begin[size++] = '_';
    folded->text.count += size;
    return true;
}

static void put_line(const tkt_folded *folded, uint64_t value, tkt_writer *writer)
{
    if (!value)
        return;
    tkt_writer_put(writer, folded->text.items, folded->text.count);
    char *out = tkt_writer_reserve(writer, 22);
    *out++ = ' ';
    out = tkt_put_u64(out, value);
    *out++ = '\n';
    tkt_writer_commit(writer, out);
}

/* Returns the next path after `at` and its descendants, or ROOT at the end. Cuts the text back to
 * where the next path's name begins. */
static uint32_t next_path(tkt_folded *folded, uint32_t at)
{
    const folded_path *paths = folded->paths.items;
    while (at != ROOT) {
        folded->text.count = paths[at].text_begin;
        if (paths[at].next != ROOT)
            return paths[at].next;
        at = paths[at].parent;
    }
    return ROOT;
}

static takt_status folded_write(tkt_folded *folded, tkt_writer *writer)
{
    takt_status status = link_children(folded);
    if (status != TAKT_OK)
        return status;
    folded_path *paths = folded->paths.items;
    uint32_t at = paths[ROOT].first_child;
    while (at != ROOT && writer->status == TAKT_OK) {
        if (!append_name(folded, &paths[at]))
            return TAKT_NO_MEMORY;
        put_line(folded, paths[at].value, writer);
        uint32_t child = paths[at].first_child;
        at = child != ROOT ? child : next_path(folded, at);
    }
    return TAKT_OK;
}

/* ======== Scopes ======== */

/* Scopes as folded stacks: the value of a path is the time of its last scope itself. For devices,
 * the last name is an activity and the value its time.
 *
 * The trace's tree has a node for each call site; here, sites with the same name share a path. */

/* What Takt records is never negative, but a file may have any number. */
static uint64_t self_time(const tkt_node *node)
{
    return (int64_t)node->stats.self_ns > 0 ? node->stats.self_ns : 0;
}

/* Adds all nodes; numbers[n] becomes the path of node n. */
static takt_status add_nodes(tkt_folded *folded, const tkt_fold *fold, uint32_t *numbers)
{
    const takt_trace *trace = folded->trace;
    numbers[0] = ROOT;
    for (size_t i = 1; i < fold->count; i++) {
        uint32_t site = fold->items[i].site;
        uint32_t name = site == TKT_SITE_OTHER ? OTHER_PATHS : trace->sites.items[site].name;
        numbers[i] = folded_child(folded, numbers[fold->items[i].parent], name);
        if (numbers[i] == TKT_NO_NODE)
            return TAKT_NO_MEMORY;
    }
    return TAKT_OK;
}

static takt_status add_self_times(tkt_folded *folded, const tkt_fold *fold, const uint32_t *numbers)
{
    for (size_t i = 1; i < fold->count; i++)
        folded->paths.items[numbers[i]].value += self_time(&fold->items[i]);
    return TAKT_OK;
}

static takt_status add_device_times(tkt_folded *folded, const tkt_fold *fold,
                                    const uint32_t *numbers)
{
    (void)fold;
    for (size_t i = 0; i < folded->trace->node_activities.count; i++) {
        const tkt_node_activity *activity = &folded->trace->node_activities.items[i];
        uint32_t path = folded_child(folded, numbers[activity->node], activity->name);
        if (path == TKT_NO_NODE)
            return TAKT_NO_MEMORY;
        folded->paths.items[path].value += activity->stats.total_ns;
    }
    return TAKT_OK;
}

static takt_status write_scopes(const takt_trace *trace, tkt_writer *writer,
                                takt_status (*add_values)(tkt_folded *, const tkt_fold *,
                                                          const uint32_t *))
{
    const tkt_fold *fold = tkt_trace_fold(trace);
    uint32_t *numbers = fold ? tkt_alloc((fold->count + 1) * sizeof *numbers) : NULL;
    if (!numbers)
        return TAKT_NO_MEMORY;
    tkt_folded folded;
    takt_status status = folded_init(&folded, trace);
    if (status == TAKT_OK)
        status = add_nodes(&folded, fold, numbers);
    if (status == TAKT_OK)
        status = add_values(&folded, fold, numbers);
    if (status == TAKT_OK)
        status = folded_write(&folded, writer);
    folded_fini(&folded);
    tkt_free(numbers);
    return status;
}

static takt_status write_folded(const takt_trace *trace, tkt_writer *writer)
{
    return write_scopes(trace, writer, add_self_times);
}

static takt_status write_devices(const takt_trace *trace, tkt_writer *writer)
{
    return write_scopes(trace, writer, add_device_times);
}

const tkt_exporter tkt_folded_exporter = {
    .name = "folded",
    .suffix = ".folded",
    .write = write_folded,
};

const tkt_exporter tkt_folded_device_exporter = {
    .name = "folded-device",
    .suffix = ".device.folded",
    .write = write_devices,
};

/* ======== Call stacks ======== */

/* Call stacks as folded stacks, like torch's export_stacks(): the program's functions, with the
 * time of the scopes that begin in them, or of the activities that these scopes launched.
 *
 * A span's time excludes the spans directly inside it. Spans without a call stack are left out. */

/* Paths of the functions of call stacks; 0: not created yet. */
typedef struct stack_paths {
    tkt_folded tree;
    uint32_t *numbers; /* by stack */
} stack_paths;

/* Returns the path of a stack's functions, which are identified by name. */
static uint32_t path_of(stack_paths *paths, uint32_t stack)
{
    const takt_trace *trace = paths->tree.trace;
    const tkt_stack *frames = &trace->stacks.items[stack];
    uint32_t path = paths->numbers[stack];
    if (path != ROOT)
        return path;
    for (uint32_t i = frames->frame_count; i-- > 0 && path != TKT_NO_NODE;) {
        const tkt_frame *frame = tkt_frame_at(trace, stack, i);
        uint32_t unknown = UNNAMED_FRAME | (uint32_t)(frame - trace->frames.items);
        path = folded_child(&paths->tree, path, frame->function ? frame->function : unknown);
    }
    return paths->numbers[stack] = path;
}

static bool add_value(stack_paths *paths, uint32_t path, uint64_t ns)
{
    if (path != TKT_NO_NODE)
        paths->tree.paths.items[path].value += ns;
    return path != TKT_NO_NODE;
}

/* ---- Time of the host ------------------------------------------------------------------------ */

/* Sets self[i] to the time of span i without the spans directly inside it. */
static void find_self_times(const tkt_track *track, uint64_t *self)
{
    for (size_t i = 0; i < track->spans.count; i++) {
        const tkt_span *span = &track->spans.items[i];
        self[i] = span->end_ns - span->begin_ns;
        if (span->parent != TKT_NO_SPAN)
            self[span->parent] -= self[i];
    }
}

/* A call into CUDA becomes a function called by the innermost one of its stack. */
static takt_status add_track(stack_paths *paths, const tkt_track *track)
{
    uint64_t *self = tkt_alloc((track->spans.count + 1) * sizeof *self);
    bool is_ok = self != NULL;
    if (is_ok)
        find_self_times(track, self);
    for (size_t i = 0; i < track->stacks.count && is_ok; i++) {
        const tkt_span_stack *at = &track->stacks.items[i];
        const tkt_span *span = &track->spans.items[at->span];
        uint32_t name = tkt_span_name(paths->tree.trace, span);
        uint32_t path = path_of(paths, at->stack);
        if (path != TKT_NO_NODE && tkt_span_is_call(span))
            path = folded_child(&paths->tree, path, name);
        is_ok = add_value(paths, path, self[at->span]);
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

/* The stack of the call that launched the activity, or else the stack of its scope. */
static size_t stack_of(const takt_trace *trace, const tkt_activity *activity)
{
    size_t stack = TAKT_NO_STACK;
    if (activity->call < trace->calls.count) {
        const tkt_call_info *call = &trace->calls.items[activity->call];
        stack = stack_of_span(trace, call->track, call->span);
    }
    if (stack == TAKT_NO_STACK && activity->track != TKT_NO_TRACK)
        stack = stack_of_span(trace, activity->track, activity->scope);
    return stack;
}

static takt_status add_device_stacks(stack_paths *paths)
{
    const takt_trace *trace = paths->tree.trace;
    for (size_t i = 0; i < trace->activities.count; i++) {
        const tkt_activity *activity = &trace->activities.items[i];
        size_t stack = activity->shape == TKT_NO_SHAPE ? TAKT_NO_STACK : stack_of(trace, activity);
        if (stack == TAKT_NO_STACK)
            continue;
        uint32_t path = path_of(paths, (uint32_t)stack);
        if (path != TKT_NO_NODE)
            path = folded_child(&paths->tree, path, activity->name);
        if (!add_value(paths, path, activity->end_ns - activity->begin_ns))
            return TAKT_NO_MEMORY;
    }
    return TAKT_OK;
}

/* ---- Files ----------------------------------------------------------------------------------- */

static takt_status write_paths(const takt_trace *trace, tkt_writer *writer,
                               takt_status (*add_values)(stack_paths *))
{
    stack_paths paths;
    takt_status status = folded_init(&paths.tree, trace);
    paths.numbers = tkt_alloc_zeroed((trace->stacks.count + 1) * sizeof *paths.numbers);
    if (!paths.numbers)
        status = TAKT_NO_MEMORY;
    if (status == TAKT_OK)
        status = add_values(&paths);
    if (status == TAKT_OK)
        status = folded_write(&paths.tree, writer);
    folded_fini(&paths.tree);
    tkt_free(paths.numbers);
    return status;
}

static takt_status write_stacks(const takt_trace *trace, tkt_writer *writer)
{
    return write_paths(trace, writer, add_host_times);
}

static takt_status write_device_stacks(const takt_trace *trace, tkt_writer *writer)
{
    return write_paths(trace, writer, add_device_stacks);
}

const tkt_exporter tkt_stacks_exporter = {
    .name = "stacks",
    .suffix = ".stacks.folded",
    .needs_spans = true,
    .write = write_stacks,
};

const tkt_exporter tkt_stacks_device_exporter = {
    .name = "stacks-device",
    .suffix = ".stacks.device.folded",
    .needs_spans = true,
    .write = write_device_stacks,
};
