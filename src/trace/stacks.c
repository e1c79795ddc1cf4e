#include "trace/stacks.h"

#include "cuda/names.h"

#include <string.h>

/* A place in a map for `hash` or a key behind it that is free, or whose item is `is_equal`. */
typedef bool (*is_equal_function)(const takt_trace *trace, size_t index, const void *wanted);

static uint64_t *find(tkt_map *map, uint64_t hash, const takt_trace *trace,
                      is_equal_function is_equal, const void *wanted)
{
    for (;; hash++) {
        uint64_t *place = tkt_map_put(map, hash);
        if (!place || *place == 0 || is_equal(trace, *place - 1, wanted))
            return place;
    }
}

static bool is_equal_frame(const takt_trace *trace, size_t index, const void *wanted)
{
    return memcmp(&trace->frames.items[index], wanted, sizeof(tkt_frame)) == 0;
}

uint32_t tkt_stacks_frame(tkt_stacks *known, const tkt_frame *frame)
{
    takt_trace *trace = known->trace;
    uint64_t hash = tkt_hash_bytes(frame, sizeof *frame);
    uint64_t *place = find(&known->frames, hash, trace, is_equal_frame, frame);
    if (place && *place)
        return (uint32_t)*place - 1;
    tkt_frame *added = place ? TKT_ARRAY_ADD(&trace->frames) : NULL;
    if (!added)
        return UINT32_MAX;
    *added = *frame;
    *place = trace->frames.count;
    return (uint32_t)*place - 1;
}

typedef struct frame_list {
    const uint32_t *frames;
    uint32_t count;
} frame_list;

static bool is_equal_stack(const takt_trace *trace, size_t index, const void *wanted)
{
    const tkt_stack *stack = &trace->stacks.items[index];
    const frame_list *list = wanted;
    return stack->frame_count == list->count &&
           memcmp(trace->stack_frames.items + stack->first_frame, list->frames,
                  list->count * sizeof *list->frames) == 0;
}

uint32_t tkt_stacks_add(tkt_stacks *known, const uint32_t *frames, uint32_t count)
{
    takt_trace *trace = known->trace;
    const frame_list list = {frames, count};
    uint64_t hash = tkt_hash_bytes(frames, count * sizeof *frames);
    uint64_t *place = find(&known->stacks, hash, trace, is_equal_stack, &list);
    if (place && *place)
        return (uint32_t)*place - 1;
    size_t first = trace->stack_frames.count;
    if (!place || !TKT_ARRAY_RESERVE(&trace->stack_frames, first + count))
        return UINT32_MAX;
    tkt_stack *added = TKT_ARRAY_ADD(&trace->stacks);
    if (!added)
        return UINT32_MAX;
    *added = (tkt_stack){(uint32_t)first, count};
    for (uint32_t i = 0; i < count; i++)
        trace->stack_frames.items[first + i] = frames[i];
    trace->stack_frames.count += count;
    *place = trace->stacks.count;
    return (uint32_t)*place - 1;
}

uint32_t tkt_stacks_function(tkt_stacks *known, const char *symbol)
{
    char name[1024];
    char *demangled = tkt_name_demangle(symbol);
    if (!demangled)
        return TKT_STRTAB_FULL;
    tkt_name_shorten(name, sizeof name, demangled);
    tkt_free(demangled);
    return tkt_trace_string_of(known->trace, name);
}

void tkt_stacks_fini(tkt_stacks *known)
{
    tkt_map_fini(&known->frames);
    tkt_map_fini(&known->stacks);
}
