/* Read-only access to a trace for programs, as takt/trace.h declares it. */
#include "base/error.h"
#include "trace/model.h"

#include <stdio.h>
#include <string.h>

const takt_facts *takt_trace_facts(const takt_trace *trace)
{
    return &trace->facts;
}

bool tkt_trace_rank_text(char *text, size_t size, const takt_facts *facts)
{
    bool is_known = tkt_has_rank(facts);
    if (!is_known)
        *text = '\0';
    else if (facts->world_size > 1)
        snprintf(text, size, "rank %u of %u", facts->rank, facts->world_size);
    else
        snprintf(text, size, "rank %u", facts->rank);
    return is_known;
}

uint64_t takt_trace_loss(const takt_trace *trace, takt_loss loss)
{
    return (unsigned)loss < TAKT_LOSS_COUNT ? trace->losses[loss] : 0;
}

const char *takt_loss_name(takt_loss loss)
{
    static const char *const names[] = {
#define LOSS_NAME(code, name, text) name,
        TAKT_LOSS_LIST(LOSS_NAME)
#undef LOSS_NAME
    };
    return (unsigned)loss < TAKT_LOSS_COUNT ? names[loss] : NULL;
}

const char *takt_loss_text(takt_loss loss)
{
    static const char *const texts[] = {
#define LOSS_TEXT(code, name, text) text,
        TAKT_LOSS_LIST(LOSS_TEXT)
#undef LOSS_TEXT
    };
    return (unsigned)loss < TAKT_LOSS_COUNT ? texts[loss] : NULL;
}

takt_status takt_trace_track_v1(const takt_trace *trace, size_t track, takt_track_info *out,
                                size_t size)
{
    if (track >= trace->tracks.count)
        return TAKT_BAD_ARGUMENT;
    const tkt_track *from = &trace->tracks.items[track];
    takt_track_info info = {.kind = from->kind,
                            .name = tkt_trace_text(trace, from->name),
                            .thread_id = from->thread_id,
                            .span_count = from->spans.count};
    return tkt_fill(out, size, &info, sizeof info);
}

takt_status takt_trace_span_v1(const takt_trace *trace, size_t track, size_t span,
                               takt_span_info *out, size_t size)
{
    if (track >= trace->tracks.count || span >= trace->tracks.items[track].spans.count)
        return TAKT_BAD_ARGUMENT;
    const tkt_span *from = &trace->tracks.items[track].spans.items[span];
    const tkt_trace_site *site = &trace->sites.items[tkt_span_site(from)];
    takt_span_info info = {.name = tkt_trace_text(trace, site->name),
                           .category = tkt_trace_text(trace, site->category),
                           .file = tkt_trace_text(trace, site->file),
                           .line = site->line,
                           .flags = tkt_span_flags(from),
                           .begin_ns = from->begin_ns,
                           .end_ns = from->end_ns,
                           .parent = from->parent == TKT_NO_SPAN ? TAKT_NO_PARENT : from->parent,
                           .device = "",
                           .filter = 0};
    if (site->kind == TAKT_SITE_ACTIVITY) {
        info.device = tkt_trace_text(trace, site->device);
        info.filter = site->filter;
    }
    info.color = tkt_site_color(site);
    return tkt_fill(out, size, &info, sizeof info);
}

static const char *scope_of(const takt_trace *trace, const tkt_activity *activity)
{
    if (activity->track == TKT_NO_TRACK || activity->scope == TKT_NO_SPAN)
        return NULL;
    const tkt_span *span = &trace->tracks.items[activity->track].spans.items[activity->scope];
    return tkt_trace_text(trace, tkt_span_name(trace, span));
}

static void fill_call(const takt_trace *trace, const tkt_activity *from, takt_activity *out)
{
    if (from->call >= trace->calls.count)
        return;
    const tkt_call_info *call = &trace->calls.items[from->call];
    const tkt_span *span = &trace->tracks.items[call->track].spans.items[call->span];
    out->launch_span = call->span;
    out->launch = tkt_trace_text(trace, tkt_span_name(trace, span));
    out->launch_begin_ns = span->begin_ns;
    out->launch_end_ns = span->end_ns;
}

static void fill_shape(const takt_trace *trace, const tkt_activity *from, takt_activity *out)
{
    if (from->shape >= trace->shapes.count)
        return;
    const tkt_shape *shape = &trace->shapes.items[from->shape];
    out->full_name = tkt_trace_text(trace, shape->name);
    out->bytes = shape->bytes;
    out->copy_kind = shape->copy_kind;
    out->source_memory = shape->source;
    out->target_memory = shape->target;
    memcpy(out->grid, shape->grid, sizeof out->grid);
    memcpy(out->block, shape->block, sizeof out->block);
    memcpy(out->cluster, shape->cluster, sizeof out->cluster);
    out->registers = shape->registers;
    out->static_shared_bytes = shape->static_shared_bytes;
    out->dynamic_shared_bytes = shape->dynamic_shared_bytes;
    out->local_bytes = shape->local_bytes;
    out->occupancy = shape->occupancy / 10000.0;
    out->occupancy_limit = shape->limiter <= TAKT_LIMIT_BLOCKS ? shape->limiter : 0;
    out->graph = shape->graph;
    out->graph_node = shape->graph_node;
    out->graph_node_count = shape->graph_node_count;
}

takt_status takt_trace_activity_v1(const takt_trace *trace, size_t index, takt_activity *out,
                                   size_t size)
{
    if (index >= trace->activities.count)
        return TAKT_BAD_ARGUMENT;
    const tkt_activity *from = &trace->activities.items[index];
    bool is_on_track = from->track != TKT_NO_TRACK;
    takt_activity info = {.device = tkt_trace_text(trace, from->device),
                          .name = tkt_trace_text(trace, from->name),
                          .filter = from->filter,
                          .thread = is_on_track ? trace->tracks.items[from->track].thread_id : 0,
                          .elapsed_ms = (double)(from->end_ns - from->begin_ns) * 1e-6,
                          .begin_ns = from->begin_ns,
                          .end_ns = from->end_ns,
                          .scope = scope_of(trace, from),
                          .stream = from->stream,
                          .context = from->context,
                          .correlation = from->correlation,
                          .full_name = "",
                          .launch = "",
                          .track = is_on_track ? from->track : SIZE_MAX,
                          .scope_span = from->scope == TKT_NO_SPAN ? SIZE_MAX : from->scope,
                          .launch_span = SIZE_MAX};
    fill_call(trace, from, &info);
    fill_shape(trace, from, &info);
    return tkt_fill(out, size, &info, sizeof info);
}

takt_status takt_trace_device_v1(const takt_trace *trace, size_t index, takt_device_info *out,
                                 size_t size)
{
    if (index >= trace->devices.count)
        return TAKT_BAD_ARGUMENT;
    const tkt_device *from = &trace->devices.items[index];
    takt_device_info info = {.device = tkt_trace_text(trace, from->label),
                             .name = tkt_trace_text(trace, from->name),
                             .compute_major = from->major,
                             .compute_minor = from->minor,
                             .multiprocessors = from->multiprocessors,
                             .memory_bytes = from->memory_bytes};
    return tkt_fill(out, size, &info, sizeof info);
}

takt_status takt_trace_counter_v1(const takt_trace *trace, size_t index, takt_counter_info *out,
                                  size_t size)
{
    if (index >= trace->counters.count)
        return TAKT_BAD_ARGUMENT;
    const tkt_counter *from = &trace->counters.items[index];
    takt_counter_info info = {
        .name = tkt_trace_text(trace, from->name), .time_ns = from->time_ns, .value = from->value};
    return tkt_fill(out, size, &info, sizeof info);
}

/* ======== Arguments, work and stacks of spans ======== */

/* These lists are sorted by span, so a binary search finds the entries of a span. */

/* The first of `count` items whose span is at least `span`. An item has `size` bytes and begins
 * with its span's number, a uint32_t. */
static size_t first_of(const void *items, size_t count, size_t size, size_t span)
{
    size_t first = 0;
    while (first < count) {
        size_t middle = first + (count - first) / 2;
        const uint32_t *number = (const void *)((const char *)items + middle * size);
        if (*number < span)
            first = middle + 1;
        else
            count = middle;
    }
    return first;
}

static const tkt_track *track_of(const takt_trace *trace, size_t track, size_t span)
{
    if (track >= trace->tracks.count || span >= trace->tracks.items[track].spans.count)
        return NULL;
    return &trace->tracks.items[track];
}

static size_t first_arg(const tkt_args *args, size_t span)
{
    return first_of(args->items, args->count, sizeof *args->items, span);
}

size_t takt_trace_arg_count(const takt_trace *trace, size_t track, size_t span)
{
    const tkt_track *on = track_of(trace, track, span);
    return on ? first_arg(&on->args, span + 1) - first_arg(&on->args, span) : 0;
}

static void fill_value(const takt_trace *trace, const tkt_arg *from, takt_arg_info *out)
{
    switch (from->type) {
    case TKT_ARG_INT:
        out->i = from->value.i;
        break;
    case TKT_ARG_UINT:
        out->u = from->value.u;
        break;
    case TKT_ARG_DOUBLE:
        out->d = from->value.d;
        break;
    case TKT_ARG_BOOL:
        out->i = from->value.b;
        break;
    case TKT_ARG_STRING:
        out->text = tkt_trace_text(trace, from->value.string);
        break;
    }
}

takt_status takt_trace_arg_v1(const takt_trace *trace, size_t track, size_t span, size_t index,
                              takt_arg_info *out, size_t size)
{
    if (index >= takt_trace_arg_count(trace, track, span))
        return TAKT_BAD_ARGUMENT;
    const tkt_args *args = &trace->tracks.items[track].args;
    const tkt_arg *from = &args->items[first_arg(args, span) + index];
    takt_arg_info info = {
        .key = tkt_trace_text(trace, from->key), .kind = (takt_arg_kind)from->type, .text = ""};
    fill_value(trace, from, &info);
    return tkt_fill(out, size, &info, sizeof info);
}

takt_status takt_trace_work(const takt_trace *trace, size_t track, size_t span, double *flops,
                            double *bytes)
{
    const tkt_track *on = track_of(trace, track, span);
    if (!on)
        return TAKT_BAD_ARGUMENT;
    size_t at = first_of(on->works.items, on->works.count, sizeof *on->works.items, span);
    bool is_declared = at < on->works.count && on->works.items[at].span == span;
    *flops = is_declared ? on->works.items[at].flops : 0;
    *bytes = is_declared ? on->works.items[at].bytes : 0;
    return TAKT_OK;
}

size_t takt_trace_frame_count(const takt_trace *trace, size_t stack)
{
    return stack < trace->stacks.count ? trace->stacks.items[stack].frame_count : 0;
}

takt_status takt_trace_frame_v1(const takt_trace *trace, size_t stack, size_t frame,
                                takt_frame_info *out, size_t size)
{
    if (frame >= takt_trace_frame_count(trace, stack))
        return TAKT_BAD_ARGUMENT;
    size_t at = trace->stacks.items[stack].first_frame + frame;
    const tkt_frame *from = &trace->frames.items[trace->stack_frames.items[at]];
    takt_frame_info info = {.function = tkt_trace_text(trace, from->function),
                            .module = tkt_trace_text(trace, from->module),
                            .offset = from->offset,
                            .file = tkt_trace_text(trace, from->file),
                            .line = from->line,
                            .is_inline = from->is_inline != 0};
    return tkt_fill(out, size, &info, sizeof info);
}

size_t takt_trace_span_stack(const takt_trace *trace, size_t track, size_t span)
{
    const tkt_track *on = track_of(trace, track, span);
    if (!on)
        return TAKT_NO_STACK;
    size_t at = first_of(on->stacks.items, on->stacks.count, sizeof *on->stacks.items, span);
    bool has_stack = at < on->stacks.count && on->stacks.items[at].span == span;
    return has_stack ? on->stacks.items[at].stack : TAKT_NO_STACK;
}
