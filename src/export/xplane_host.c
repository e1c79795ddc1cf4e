/* Lines of threads and async tracks in an XSpace file: an event for each span.
 *
 * XProf sorts begins and ends of a line by time, and loses a span that ends when its parent does.
 * Takt's nanoseconds leave room for an order: a span ends at least one picosecond before its
 * parent. */
#include "export/xplane.h"
#include "summary/owners.h"

#include <inttypes.h>
#include <stdio.h>

/* Where the walk through a track is: the next items to write. */
typedef struct walk {
    tkt_xplane *x;
    const tkt_track *track;
    uint32_t number;
    size_t span;
    size_t arg;
    size_t work;
    size_t stack;
    size_t call; /* of all tracks */
    size_t step;
    uint64_t taken_until_ns; /* end of the last span that belongs to a step */
} walk;

/* ---- Times ----------------------------------------------------------------------------------- */

/* Begin and end of a span, between those of its parent. */
static bool place(tkt_xplane *x, const tkt_span *span, uint32_t index, uint64_t *begin_ps,
                  uint64_t *end_ps)
{
    while (x->open.count && x->open.items[x->open.count - 1] != span->parent)
        x->open.count--;
    size_t depth = x->open.count;
    *begin_ps = tkt_xplane_ps(x, span->begin_ns);
    *end_ps = tkt_xplane_ps(x, span->end_ns);
    if (depth && *end_ps >= x->ends.items[depth - 1])
        *end_ps = x->ends.items[depth - 1] - 1;
    if (depth && *begin_ps > *end_ps)
        *begin_ps = *end_ps;
    x->ends.count = depth;
    uint32_t *open = TKT_ARRAY_ADD(&x->open);
    uint64_t *end = open ? TKT_ARRAY_ADD(&x->ends) : NULL;
    if (!end)
        return false;
    *open = index;
    *end = *end_ps > *begin_ps ? *end_ps : *end_ps + 1; /* no room inside */
    return true;
}

/* ---- Stats ----------------------------------------------------------------------------------- */

/* True if the event already has the key: a later value would hide the first one. */
static bool is_again(walk *at, uint32_t key)
{
    uint64_t span = ((uint64_t)at->number << 32 | at->span) + 1;
    bool is_again = at->x->arg_spans[key] == span;
    at->x->arg_spans[key] = span;
    return is_again;
}

/* Keys of the program must not have a meaning for XProf. */
static void put_arg(walk *at, const tkt_arg *arg)
{
    tkt_xplane *x = at->x;
    const char *key = tkt_trace_text(x->trace, arg->key);
    char name[256];
    if (is_again(at, arg->key))
        return;
    int size = snprintf(name, sizeof name, "arg %s", key);
    tkt_xstat stat = tkt_xplane_text(x, name, size < 256 ? (size_t)size : sizeof name - 1);
    switch (arg->type) {
    case TKT_ARG_UINT:
        tkt_xplane_stat(x, stat, TKT_XVALUE_UINT, arg->value.u);
        break;
    case TKT_ARG_DOUBLE:
        tkt_xplane_stat_double(x, stat, arg->value.d);
        break;
    case TKT_ARG_STRING:
        tkt_xplane_stat_text(x, stat, tkt_trace_text(x->trace, arg->value.string));
        break;
    default:
        tkt_xplane_stat(x, stat, TKT_XVALUE_INT,
                        arg->type == TKT_ARG_BOOL ? arg->value.b : (uint64_t)arg->value.i);
    }
}

static void put_call(walk *at)
{
    tkt_xplane *x = at->x;
    const tkt_call_info *calls = x->trace->calls.items;
    while (at->call < x->trace->calls.count && calls[at->call].track == at->number &&
           calls[at->call].span < at->span)
        at->call++;
    if (at->call == x->trace->calls.count || calls[at->call].track != at->number ||
        calls[at->call].span != at->span)
        return;
    const tkt_call_info *call = &calls[at->call];
    uint32_t device = x->call_devices[at->call];
    uint64_t link = tkt_xplane_link((uint32_t)at->call, call->correlation);
    if (call->correlation || device)
        tkt_xplane_stat(x, TKT_XSTAT_CORRELATION, TKT_XVALUE_UINT, link);
    if (device) {
        tkt_xplane_stat(x, TKT_XSTAT_FLOW, TKT_XVALUE_UINT, tkt_xplane_flow(TKT_XFLOW_OUT, link));
        tkt_xplane_stat(x, TKT_XSTAT_DEVICE, TKT_XVALUE_INT, device - 1);
    }
    if (call->result)
        tkt_xplane_stat(x, TKT_XSTAT_RESULT, TKT_XVALUE_INT, (uint64_t)(int64_t)call->result);
}

#define STACK_BYTES 4096

static void put_stack(tkt_xplane *x, uint32_t number)
{
    const tkt_stack *stack = &x->trace->stacks.items[number];
    char text[STACK_BYTES];
    size_t size = 0;
    uint32_t i = 0;
    text[0] = 0;
    for (; i < stack->frame_count && size + 512 < sizeof text; i++) {
        if (i)
            text[size++] = '\n';
        tkt_frame_place(text + size, 500, x->trace, tkt_frame_at(x->trace, number, i));
        size += strlen(text + size);
    }
    if (i < stack->frame_count)
        memcpy(text + size, "\n...", sizeof "\n...");
    tkt_xplane_stat_text(x, TKT_XSTAT_SOURCE_STACK, text);
}

/* A span belongs to a step if it lies inside, and no span around it does. */
static void put_step(walk *at, const tkt_span *span)
{
    const takt_trace *trace = at->x->trace;
    if (span->begin_ns < at->taken_until_ns)
        return;
    while (at->step < trace->steps.count && trace->steps.items[at->step].end_ns <= span->begin_ns)
        at->step++;
    if (at->step == trace->steps.count)
        return;
    const tkt_step *step = &trace->steps.items[at->step];
    if (span->begin_ns < step->begin_ns || span->end_ns > step->end_ns)
        return;
    at->taken_until_ns = span->end_ns;
    tkt_xplane_stat(at->x, TKT_XSTAT_CONSUMER_TYPE, TKT_XVALUE_INT, 0);
    tkt_xplane_stat(at->x, TKT_XSTAT_CONSUMER, TKT_XVALUE_UINT, step->number);
}

static void put_flags(tkt_xplane *x, uint32_t flags)
{
    if (flags & TAKT_SPAN_BEGUN_BEFORE)
        tkt_xplane_stat(x, TKT_XSTAT_BEGUN_BEFORE, TKT_XVALUE_INT, 1);
    if (flags & TAKT_SPAN_UNFINISHED)
        tkt_xplane_stat(x, TKT_XSTAT_UNFINISHED, TKT_XVALUE_INT, 1);
}

static void put_stats(walk *at, const tkt_span *span)
{
    const tkt_track *track = at->track;
    tkt_xplane *x = at->x;
    put_step(at, span);
    for (; at->arg < track->args.count && track->args.items[at->arg].span <= at->span; at->arg++)
        if (track->args.items[at->arg].span == at->span)
            put_arg(at, &track->args.items[at->arg]);
    for (; at->work < track->works.count && track->works.items[at->work].span <= at->span;
         at->work++)
        if (track->works.items[at->work].span == at->span) {
            tkt_xplane_stat_double(x, TKT_XSTAT_FLOPS, track->works.items[at->work].flops);
            tkt_xplane_stat_double(x, TKT_XSTAT_BYTES, track->works.items[at->work].bytes);
        }
    for (; at->stack < track->stacks.count && track->stacks.items[at->stack].span <= at->span;
         at->stack++)
        if (track->stacks.items[at->stack].span == at->span)
            put_stack(x, track->stacks.items[at->stack].stack);
    if (tkt_span_is_call(span))
        put_call(at);
    put_flags(x, tkt_span_flags(span));
}

/* ---- Lines ----------------------------------------------------------------------------------- */

/* The id of a span's name, found while counting. */
static uint32_t name_of(walk *at, const tkt_span *span)
{
    tkt_xplane *x = at->x;
    uint32_t *names = x->span_names + x->first[at->number];
    if (!x->is_counting)
        return names[at->span];
    const uint32_t site = tkt_span_site(span);
    if (tkt_span_is_call(span)) {
        names[at->span] = tkt_xplane_plain_name(x, "", x->trace->sites.items[site].name, site);
    } else {
        uint32_t parent = tkt_scope_of(at->track, span->parent);
        names[at->span] = tkt_xplane_path(x, parent == TKT_NO_SPAN ? 0 : names[parent], site);
    }
    return names[at->span];
}

static void put_span(walk *at)
{
    const tkt_span *span = &at->track->spans.items[at->span];
    uint64_t begin_ps, end_ps;
    if (!place(at->x, span, (uint32_t)at->span, &begin_ps, &end_ps)) {
        at->x->status = TAKT_NO_MEMORY;
        return;
    }
    put_stats(at, span);
    tkt_xplane_event(at->x, name_of(at, span), begin_ps, end_ps - begin_ps);
}

static void begin_line(tkt_xplane *x, const tkt_track *track, uint32_t lane)
{
    char text[200], number[24] = "", suffix[24] = "";
    const char *name = tkt_trace_text(x->trace, track->name);
    if (track->thread_id)
        snprintf(number, sizeof number, " %" PRIu32, track->thread_id);
    if (lane)
        snprintf(suffix, sizeof suffix, " (%" PRIu32 ")", lane + 1);
    if (track->kind == TAKT_TRACK_ASYNC)
        snprintf(text, sizeof text, "%.150s%s", *name ? name : "track", suffix);
    else
        snprintf(text, sizeof text, *name ? "thread%s (%.150s)" : "thread%s", number, name);
    x->open.count = x->ends.count = 0;
    tkt_xplane_begin_line(x, text);
}

static void thread_line(walk *at)
{
    if (!at->track->spans.count)
        return;
    begin_line(at->x, at->track, 0);
    for (at->span = 0; at->span < at->track->spans.count && at->x->status == TAKT_OK; at->span++)
        put_span(at);
    tkt_xplane_end_line(at->x);
}

/* The track's items are sorted by span, and so are the spans of each lane. */
static void async_line(walk *at, const tkt_xline *line)
{
    const tkt_xlines *lines = &at->x->async[at->number];
    size_t call = at->call;
    at->arg = at->work = at->stack = at->step = 0;
    at->taken_until_ns = 0;
    begin_line(at->x, at->track, line->lane);
    for (size_t i = 0; i < line->count && at->x->status == TAKT_OK; i++) {
        at->span = lines->order[line->first + i];
        put_span(at);
    }
    tkt_xplane_end_line(at->x);
    at->call = call;
}

void tkt_xplane_host_lines(tkt_xplane *x)
{
    size_t call = 0;
    memset(x->arg_spans, 0, x->trace->strings.count * sizeof *x->arg_spans);
    for (uint32_t i = 0; i < x->trace->tracks.count && x->status == TAKT_OK; i++) {
        walk at = {.x = x, .track = &x->trace->tracks.items[i], .number = i, .call = call};
        if (at.track->kind == TAKT_TRACK_THREAD)
            thread_line(&at);
        else
            for (size_t k = 0; k < x->async[i].count; k++)
                async_line(&at, &x->async[i].items[k]);
        for (call = at.call;
             call < x->trace->calls.count && x->trace->calls.items[call].track <= i;)
            call++;
    }
}

/* ---- Preparing ------------------------------------------------------------------------------- */

static tkt_xslice span_at(const void *user, size_t index)
{
    const tkt_span *span = &((const tkt_track *)user)->spans.items[index];
    return (tkt_xslice){span->begin_ns, span->end_ns, 0};
}

takt_status tkt_xplane_host_init(tkt_xplane *x)
{
    const takt_trace *trace = x->trace;
    takt_status status = tkt_xnames_init(&x->host);
    size_t strings = trace->strings.count, spans = 0;
    x->recent = tkt_alloc_zeroed(strings * sizeof *x->recent);
    x->arg_spans = tkt_alloc_zeroed(strings * sizeof *x->arg_spans);
    x->first = tkt_alloc_zeroed((trace->tracks.count + 1) * sizeof *x->first);
    x->async = tkt_alloc_zeroed((trace->tracks.count + 1) * sizeof *x->async);
    if (!x->recent || !x->arg_spans || !x->first || !x->async)
        return TAKT_NO_MEMORY;
    for (size_t i = 0; i < trace->tracks.count && status == TAKT_OK; i++) {
        const tkt_track *track = &trace->tracks.items[i];
        x->first[i] = spans;
        spans += track->spans.count;
        if (track->kind == TAKT_TRACK_ASYNC)
            status = tkt_xlines_make(&x->async[i], track->spans.count, span_at, track);
    }
    x->span_names = tkt_alloc((spans + 1) * sizeof *x->span_names);
    return status == TAKT_OK && !x->span_names ? TAKT_NO_MEMORY : status;
}

void tkt_xplane_host_fini(tkt_xplane *x)
{
    for (size_t i = 0; x->async && i < x->trace->tracks.count; i++)
        tkt_xlines_fini(&x->async[i]);
    tkt_free(x->async);
    tkt_free(x->recent);
    tkt_free(x->arg_spans);
    tkt_free(x->first);
    tkt_free(x->span_names);
    tkt_map_fini(&x->paths);
    TKT_ARRAY_FREE(&x->open);
    TKT_ARRAY_FREE(&x->ends);
    tkt_xnames_fini(&x->host);
}
