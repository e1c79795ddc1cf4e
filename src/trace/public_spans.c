/* Read-only access to what stands beside a span: its arguments, work and stack. They are in the
 * order of their spans, so that a span's are found by halving. */
#include "trace/model.h"

#include "base/error.h"

/* The first of `count` items of `size` bytes, which begin with their span's number, whose span is
 * not smaller. */
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
