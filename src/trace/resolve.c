/* Replaces the frames of a trace by resolved ones: one frame becomes a function and the functions
 * that were inlined into it at that place. */
#include "trace/resolve.h"

#include "trace/seal.h"

#include <string.h>

#define MOST_INLINED 32u

typedef struct resolution {
    takt_trace old; /* only the old frames, stack_frames and stacks */
    tkt_stacks known;
    TKT_ARRAY_OF(uint32_t) numbers; /* new frames, grouped by old frame */
    uint32_t *first;                /* old frame -> its group in `numbers`; one more for the end */
} resolution;

static void move_stacks(takt_trace *from, takt_trace *to)
{
    memcpy(&to->frames, &from->frames, sizeof to->frames);
    memcpy(&to->stack_frames, &from->stack_frames, sizeof to->stack_frames);
    memcpy(&to->stacks, &from->stacks, sizeof to->stacks);
    memset(&from->frames, 0, sizeof from->frames);
    memset(&from->stack_frames, 0, sizeof from->stack_frames);
    memset(&from->stacks, 0, sizeof from->stacks);
}

static void free_stacks(takt_trace *trace)
{
    TKT_ARRAY_FREE(&trace->frames);
    TKT_ARRAY_FREE(&trace->stack_frames);
    TKT_ARRAY_FREE(&trace->stacks);
}

static bool add_number(resolution *r, const tkt_frame *frame)
{
    uint32_t number = tkt_stacks_frame(&r->known, frame);
    uint32_t *added = number == UINT32_MAX ? NULL : TKT_ARRAY_ADD(&r->numbers);
    if (added)
        *added = number;
    return added != NULL;
}

static bool add_named(resolution *r, const tkt_frame *old, const takt_frame_info *named)
{
    takt_trace *trace = r->known.trace;
    tkt_frame frame = {.offset = old->offset, .module = old->module, .line = named->line};
    frame.is_inline = named->is_inline;
    if (named->function && *named->function)
        frame.function = tkt_stacks_function(&r->known, named->function);
    if (named->file && *named->file)
        frame.file = tkt_trace_string_of(trace, named->file);
    return frame.function != TKT_STRTAB_FULL && frame.file != TKT_STRTAB_FULL &&
           add_number(r, &frame);
}

static bool resolve_frame(resolution *r, const tkt_frame *old, tkt_frame_resolver resolve,
                          void *user)
{
    takt_trace *trace = r->known.trace;
    takt_frame_info named[MOST_INLINED];
    takt_frame_info info = {.function = tkt_trace_text(trace, old->function),
                            .module = tkt_trace_text(trace, old->module),
                            .offset = old->offset,
                            .file = tkt_trace_text(trace, old->file),
                            .line = old->line,
                            .is_inline = old->is_inline != 0};
    memset(named, 0, sizeof named);
    size_t count = resolve(user, &info, named, MOST_INLINED);
    bool is_ok = count > 0 || add_number(r, old);
    for (size_t i = 0; i < count && i < MOST_INLINED && is_ok; i++)
        is_ok = add_named(r, old, &named[i]);
    return is_ok;
}

static bool resolve_frames(resolution *r, tkt_frame_resolver resolve, void *user)
{
    size_t count = r->old.frames.count;
    r->first = tkt_alloc((count + 1) * sizeof *r->first);
    bool is_ok = r->first != NULL;
    for (size_t i = 0; i < count && is_ok; i++) {
        r->first[i] = (uint32_t)r->numbers.count;
        is_ok = resolve_frame(r, &r->old.frames.items[i], resolve, user);
    }
    if (is_ok)
        r->first[count] = (uint32_t)r->numbers.count;
    return is_ok;
}

/* Needs no search for an equal stack: frames keep their offsets, so different stacks stay
 * different. */
static bool add_stack(resolution *r, const tkt_stack *old)
{
    takt_trace *trace = r->known.trace;
    tkt_stack *stack = TKT_ARRAY_ADD(&trace->stacks);
    if (!stack)
        return false;
    *stack = (tkt_stack){(uint32_t)trace->stack_frames.count, 0};
    for (uint32_t i = 0; i < old->frame_count; i++) {
        uint32_t frame = r->old.stack_frames.items[old->first_frame + i];
        for (uint32_t n = r->first[frame]; n < r->first[frame + 1]; n++) {
            uint32_t *added = TKT_ARRAY_ADD(&trace->stack_frames);
            if (!added)
                return false;
            *added = r->numbers.items[n];
            stack->frame_count++;
        }
    }
    return true;
}

static bool add_stacks(resolution *r)
{
    bool is_ok = true;
    for (size_t i = 0; i < r->old.stacks.count && is_ok; i++)
        is_ok = add_stack(r, &r->old.stacks.items[i]);
    return is_ok;
}

takt_status tkt_trace_resolve(takt_trace *trace, tkt_frame_resolver resolve, void *user)
{
    if (!trace || !resolve)
        return TAKT_BAD_ARGUMENT;
    resolution r = {.known = {.trace = trace}};
    move_stacks(trace, &r.old);
    bool is_ok = resolve_frames(&r, resolve, user) && add_stacks(&r);
    if (!is_ok) {
        free_stacks(trace);
        move_stacks(&r.old, trace);
    }
    free_stacks(&r.old);
    tkt_stacks_fini(&r.known);
    TKT_ARRAY_FREE(&r.numbers);
    tkt_free(r.first);
    return is_ok ? TAKT_OK : TAKT_NO_MEMORY;
}
