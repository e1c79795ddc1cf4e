/* Scopes by name and recorded arguments or call stacks, and the names of stack frames. */
#define TKT_ARRAY_INLINE /* for each span */
#include "summary/device.h"

#include "base/text.h"
#include "summary/owners.h"
#include "summary/scopes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ======== Groups ======== */

/* Scopes by name and arguments or call stacks, computed from the spans.
 *
 * Spans of a track are in preorder, and arguments in the order of their spans. One pass with a
 * stack of open spans is enough. A hash of name, stack and arguments finds the group. Since hashes
 * may collide, the call is then compared with the group's first call. */

typedef struct open_span {
    uint32_t span;
    uint32_t group; /* the span's group; of a hidden call: its scope's; or TKT_NO_GROUP */
} open_span;

/* An argument as it is compared. */
typedef struct value {
    uint32_t key;
    uint32_t type; /* tkt_arg_type */
    uint64_t bits;
} value;

typedef struct grouping {
    const takt_trace *trace;
    tkt_scopes *scopes;
    bool all;
    bool by_arguments;
    uint32_t by_stack; /* number of frames */
    uint32_t *of_span; /* group by span, track after track; TKT_NO_GROUP for hidden calls */
    size_t *first;     /* by track: index of its first span */
    tkt_map by_hash;   /* hash -> index + 1 */
    TKT_ARRAY_OF(uint32_t) names; /* by group: its name's string */
    TKT_ARRAY_OF(uint32_t) open;  /* by group: number of its spans on the stack */
    TKT_ARRAY_OF(open_span) stack;
    TKT_ARRAY_OF(value) values;       /* of the call that is added */
    TKT_ARRAY_OF(value) known;        /* of the groups' first calls; by group from */
    TKT_ARRAY_OF(size_t) first_known; /* this index on */
} grouping;

/* One span, and the number of arguments recorded on it. */
typedef struct call {
    const tkt_span *span;
    uint32_t number;
    uint32_t track;
    uint32_t first_arg;
    uint32_t arg_count;
    uint32_t name;
    uint32_t kind;  /* tkt_scope_kind */
    uint32_t stack; /* or TKT_NO_GROUP */
} call;

/* ---- Arguments ------------------------------------------------------------------------------- */

/* Numbers that reports show alike are one value, whatever type the program gave them: a whole
 * number below 0 is a TKT_ARG_INT, another one a TKT_ARG_UINT. */
static value number_value(double number)
{
    value found = {.type = TKT_ARG_DOUBLE};
    if (isnan(number))
        return found;
    if (fabs(number) < 0x1p63 && number == floor(number)) {
        found.type = number < 0 ? TKT_ARG_INT : TKT_ARG_UINT;
        found.bits = (uint64_t)(int64_t)number;
        return found;
    }
    number = tkt_real_shown(number);
    memcpy(&found.bits, &number, sizeof number);
    return found;
}

static value value_of(const tkt_arg *arg)
{
    value found = {.type = arg->type};
    switch (arg->type) {
    case TKT_ARG_INT:
        found.type = arg->value.i < 0 ? TKT_ARG_INT : TKT_ARG_UINT;
        found.bits = (uint64_t)arg->value.i;
        break;
    case TKT_ARG_UINT:
        found.bits = arg->value.u;
        break;
    case TKT_ARG_BOOL:
        found.bits = arg->value.b;
        break;
    case TKT_ARG_STRING:
        found.bits = arg->value.string;
        break;
    case TKT_ARG_DOUBLE:
        found = number_value(arg->value.d);
    }
    found.key = arg->key;
    return found;
}

static int compare_values(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(value));
}

/* Sets g->values to the call's arguments. A program may give them in any order, so they are sorted.
 * False without memory. */
static bool read_values(grouping *g, const call *c)
{
    const tkt_arg *args = g->trace->tracks.items[c->track].args.items; /* NULL: there are none */
    g->values.count = 0;
    for (uint32_t i = 0; i < c->arg_count; i++) {
        value *added = TKT_ARRAY_ADD(&g->values);
        if (!added)
            return false;
        *added = value_of(&args[c->first_arg + i]);
    }
    if (c->arg_count > 1)
        qsort(g->values.items, c->arg_count, sizeof(value), compare_values);
    return true;
}

/* ---- Calls ----------------------------------------------------------------------------------- */

/* How many frames of a stack are compared. */
static uint32_t frames_of(const grouping *g, uint32_t stack)
{
    if (stack == TKT_NO_GROUP)
        return 0;
    uint32_t count = g->trace->stacks.items[stack].frame_count;
    return count < g->by_stack ? count : g->by_stack;
}

/* The part of a frame that people see: function and line. If the function is unknown, each address
 * counts as a different place. */
static tkt_frame visible(const tkt_frame *frame)
{
    tkt_frame seen = *frame;
    if (frame->function)
        seen.offset = 0;
    return seen;
}

static bool is_same_stack(const grouping *g, uint32_t a, uint32_t b)
{
    uint32_t count = frames_of(g, a);
    if (frames_of(g, b) != count)
        return false;
    for (uint32_t i = 0; i < count && a != b; i++) {
        tkt_frame x = visible(tkt_frame_at(g->trace, a, i));
        tkt_frame y = visible(tkt_frame_at(g->trace, b, i));
        if (memcmp(&x, &y, sizeof x) != 0)
            return false;
    }
    return true;
}

static uint64_t hash_call(const grouping *g, const call *c)
{
    uint64_t hash = tkt_hash_u64(c->name);
    for (uint32_t i = 0; i < frames_of(g, c->stack); i++) {
        tkt_frame frame = visible(tkt_frame_at(g->trace, c->stack, i));
        hash = tkt_hash_u64(hash ^ tkt_hash_bytes(&frame, sizeof frame));
    }
    if (c->arg_count)
        hash = tkt_hash_u64(hash ^ tkt_hash_bytes(g->values.items, c->arg_count * sizeof(value)));
    return hash;
}

static bool is_same(const grouping *g, size_t group, const call *c)
{
    const tkt_scope_total *total = &g->scopes->items[group];
    if (g->names.items[group] != c->name || total->kind != c->kind ||
        total->arg_count != c->arg_count || !is_same_stack(g, total->stack, c->stack))
        return false;
    return c->arg_count == 0 || memcmp(g->known.items + g->first_known.items[group],
                                       g->values.items, c->arg_count * sizeof(value)) == 0;
}

static tkt_scope_total *add_group(grouping *g, const call *c)
{
    tkt_scope_total *total = TKT_ARRAY_ADD(g->scopes);
    uint32_t *name = TKT_ARRAY_ADD(&g->names);
    uint32_t *open = TKT_ARRAY_ADD(&g->open);
    size_t *first_known = TKT_ARRAY_ADD(&g->first_known);
    if (!total || !name || !open || !first_known ||
        !TKT_ARRAY_RESERVE(&g->known, g->known.count + c->arg_count))
        return NULL;
    *first_known = g->known.count;
    for (uint32_t i = 0; i < c->arg_count; i++)
        g->known.items[g->known.count++] = g->values.items[i];
    *total = (tkt_scope_total){.name = tkt_trace_text(g->trace, c->name),
                               .min_ns = UINT64_MAX,
                               .track = c->track,
                               .first_arg = c->first_arg,
                               .arg_count = c->arg_count,
                               .kind = c->kind,
                               .stack = c->stack};
    *name = c->name;
    *open = 0;
    return total;
}

static tkt_scope_total *find_group(grouping *g, const call *c)
{
    for (uint64_t hash = hash_call(g, c);; hash = tkt_hash_u64(hash + 1)) {
        uint64_t *place = tkt_map_put(&g->by_hash, hash);
        if (!place)
            return NULL;
        if (*place && is_same(g, *place - 1, c))
            return &g->scopes->items[*place - 1];
        if (*place)
            continue;
        tkt_scope_total *total = add_group(g, c);
        *place = g->scopes->count;
        return total;
    }
}

/* Pops spans until the top of the stack is `parent`, or the stack is empty. Returns the group of
 * the span on top, or TKT_NO_GROUP. */
static uint32_t close_until(grouping *g, uint32_t parent)
{
    while (g->stack.count > 0) {
        const open_span *top = &g->stack.items[g->stack.count - 1];
        if (top->span == parent)
            return top->group;
        if (top->group != TKT_NO_GROUP)
            g->open.items[top->group]--;
        g->stack.count--;
    }
    return TKT_NO_GROUP;
}

static takt_status push(grouping *g, uint32_t span, uint32_t group)
{
    open_span *top = TKT_ARRAY_ADD(&g->stack);
    if (!top)
        return TAKT_NO_MEMORY;
    *top = (open_span){span, group};
    if (group != TKT_NO_GROUP)
        g->open.items[group]++;
    return TAKT_OK;
}

static takt_status add_call(grouping *g, const call *c, const tkt_work *work)
{
    uint32_t parent = close_until(g, c->span->parent);
    if (c->kind == TKT_KIND_CALL && !g->all)
        return push(g, c->number, parent);
    tkt_scope_total *total = read_values(g, c) ? find_group(g, c) : NULL;
    if (!total)
        return TAKT_NO_MEMORY;
    uint64_t duration_ns = c->span->end_ns - c->span->begin_ns;
    if (parent != TKT_NO_GROUP)
        g->scopes->items[parent].self_ns -= duration_ns;
    else
        g->scopes->self_ns += duration_ns;

    uint32_t group = (uint32_t)(total - g->scopes->items);
    if (g->of_span)
        g->of_span[g->first[c->track] + c->number] = group;
    total->calls++;
    total->total_ns += g->open.items[group] == 0 ? duration_ns : 0;
    total->self_ns += duration_ns;
    if (tkt_span_is_piece(c->span)) {
        total->pieces++;
    } else {
        total->whole_ns += duration_ns;
        total->min_ns = duration_ns < total->min_ns ? duration_ns : total->min_ns;
        total->max_ns = duration_ns > total->max_ns ? duration_ns : total->max_ns;
    }
    total->flops += work ? work->flops : 0;
    total->bytes += work ? work->bytes : 0;
    return push(g, c->number, group);
}

/* Adds the spans of a track. The first one has no parent, so adding it pops what the previous track
 * has left on the stack. */
static takt_status add_track(grouping *g, uint32_t number)
{
    const tkt_track *track = &g->trace->tracks.items[number];
    size_t arg = 0;
    size_t work = 0;
    size_t stack = 0;
    for (uint32_t i = 0; i < track->spans.count; i++) {
        const tkt_span *span = &track->spans.items[i];
        call c = {.span = span,
                  .number = i,
                  .track = number,
                  .first_arg = (uint32_t)arg,
                  .stack = TKT_NO_GROUP};
        while (arg < track->args.count && track->args.items[arg].span == i)
            arg++;
        c.arg_count = g->by_arguments ? (uint32_t)arg - c.first_arg : 0;
        if (stack < track->stacks.count && track->stacks.items[stack].span == i)
            c.stack = track->stacks.items[stack++].stack;
        c.name = tkt_span_name(g->trace, span);
        if (tkt_site_is_call(g->trace, tkt_span_site(span)))
            c.kind = TKT_KIND_CALL;
        bool has_work = work < track->works.count && track->works.items[work].span == i;
        takt_status status = add_call(g, &c, has_work ? &track->works.items[work++] : NULL);
        if (status != TAKT_OK)
            return status;
    }
    return TAKT_OK;
}

/* Allocates the array of groups by span, if there are events to add to them. */
static takt_status make_span_groups(grouping *g)
{
    const takt_trace *trace = g->trace;
    size_t count = 0;
    if (trace->memory_events.count == 0 && tkt_device_activity_count(trace) == 0)
        return TAKT_OK;
    g->first = tkt_alloc(trace->tracks.count * sizeof *g->first + 1);
    for (size_t i = 0; g->first && i < trace->tracks.count; i++) {
        g->first[i] = count;
        count += trace->tracks.items[i].spans.count;
    }
    g->of_span = g->first ? tkt_alloc(count * sizeof *g->of_span + 1) : NULL;
    if (!g->of_span)
        return TAKT_NO_MEMORY;
    memset(g->of_span, 0xFF, count * sizeof *g->of_span);
    return TAKT_OK;
}

static takt_status group_by_arguments(grouping *g)
{
    const takt_trace *trace = g->trace;
    takt_status status = make_span_groups(g);
    for (uint32_t i = 0; i < trace->tracks.count && status == TAKT_OK; i++) {
        if (trace->tracks.items[i].kind == TAKT_TRACK_THREAD)
            status = add_track(g, i);
    }
    if (status == TAKT_OK && g->of_span)
        status = tkt_scopes_add_events(trace, &(tkt_groups){g->of_span, g->first}, true, g->scopes);
    g->scopes->has_device = tkt_has_device_activities(trace);
    if (status == TAKT_OK && g->all)
        status = tkt_scopes_add_activities(trace, g->scopes);
    return status;
}

takt_status tkt_scopes_by_stack(const takt_trace *trace, bool all, uint32_t frames,
                                bool by_arguments, tkt_scopes *out)
{
    if (!trace->facts.has_spans)
        return TAKT_NO_SPANS;
    tkt_scopes scopes = {0};
    grouping g = {.trace = trace,
                  .scopes = &scopes,
                  .all = all,
                  .by_arguments = by_arguments,
                  .by_stack = frames};
    takt_status status = group_by_arguments(&g);
    tkt_map_fini(&g.by_hash);
    TKT_ARRAY_FREE(&g.names);
    TKT_ARRAY_FREE(&g.open);
    TKT_ARRAY_FREE(&g.stack);
    TKT_ARRAY_FREE(&g.values);
    TKT_ARRAY_FREE(&g.known);
    TKT_ARRAY_FREE(&g.first_known);
    tkt_free(g.of_span);
    tkt_free(g.first);
    if (status != TAKT_OK) {
        tkt_scopes_fini(&scopes);
        return status;
    }
    *out = scopes;
    return TAKT_OK;
}

/* ======== Frames ======== */

char *tkt_frame_function(char *out, size_t size, const takt_trace *trace, const tkt_frame *frame)
{
    const char *module = tkt_base_name(tkt_trace_text(trace, frame->module));
    if (frame->function)
        snprintf(out, size, "%s", tkt_trace_text(trace, frame->function));
    else
        snprintf(out, size, "%s+0x%llx", *module ? module : "?", (unsigned long long)frame->offset);
    return out;
}

char *tkt_frame_place(char *out, size_t size, const takt_trace *trace, const tkt_frame *frame)
{
    if (!frame->file)
        return tkt_frame_function(out, size, trace, frame);
    const char *file = tkt_base_name(tkt_trace_text(trace, frame->file));
    int used = snprintf(out, size, "%s(%u): ", file, frame->line);
    if ((size_t)used < size)
        tkt_frame_function(out + used, size - (size_t)used, trace, frame);
    return out;
}
