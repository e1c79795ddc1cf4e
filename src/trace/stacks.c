/* Call stacks of a trace: stores equal stacks once, and converts recorded stacks. */
#include "trace/seal.h"

#include "base/dynlib.h"
#include "base/text.h"
#include "cuda/kernel.h"
#include "record/site.h"
#include "trace/recovery.h"

#include <string.h>

/* ======== Adding stacks ======== */

uint32_t tkt_stacks_frame(tkt_stacks *known, const tkt_frame *frame)
{
    takt_trace *trace = known->trace;
    uint64_t hash = tkt_hash_bytes(frame, sizeof *frame);
    uint64_t *place =
        tkt_map_find(&known->frames, hash, trace->frames.items, sizeof *frame, NULL, frame);
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
    const uint32_t *of_trace;
    const uint32_t *frames;
    uint32_t count;
} frame_list;

static bool is_equal_stack(const void *item, const void *wanted)
{
    const tkt_stack *stack = item;
    const frame_list *list = wanted;
    return stack->frame_count == list->count &&
           memcmp(list->of_trace + stack->first_frame, list->frames,
                  list->count * sizeof *list->frames) == 0;
}

uint32_t tkt_stacks_add(tkt_stacks *known, const uint32_t *frames, uint32_t count)
{
    takt_trace *trace = known->trace;
    const frame_list list = {trace->stack_frames.items, frames, count};
    uint64_t hash = tkt_hash_bytes(frames, count * sizeof *frames);
    uint64_t *place = tkt_map_find(&known->stacks, hash, trace->stacks.items,
                                   sizeof *trace->stacks.items, is_equal_stack, &list);
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
    /* Compilers name the parts of a function "forces.cold", "forces.part.0". */
    char name[1024], whole[1024];
    size_t size = strcspn(symbol, ".");
    if (size > 0 && symbol[size] && size < sizeof whole) {
        memcpy(whole, symbol, size);
        whole[size] = '\0';
        symbol = whole;
    }
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

/* ======== Recorded stacks ======== */

/* Converts recorded call stacks: addresses become offsets in modules, and exported functions get
 * their names. Finding a name searches a module's symbols, so sealing does this, once for each
 * stack of a window, and recording does not. */

/* True for a module of the device's library. The stack of a launch begins inside these modules, but
 * users want to see their caller. */
static bool is_device_library(const tkt_sealing *sealing, uint32_t object)
{
    static const char *const names[] = {"libcupti.", "libcuda.", "libcudart."};
    const char *path = tkt_sealing_text_bytes(sealing, object).bytes;
    const char *name = tkt_base_name(path);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* The first frame of the program: the one after the outermost frame of the device's library. Frames
 * of other modules may lie between those of the library. */
static uint32_t first_of_call(const tkt_sealing *sealing, const tkt_call_stack *stack)
{
    for (uint32_t i = stack->count; i-- > 0;)
        if (is_device_library(sealing, stack->places[i].object))
            return i + 1;
    return 0;
}

/* A return address points behind the call. The address minus one lies in the call instruction, and
 * so in the right source line. */
static uint32_t add_frame(tkt_sealing *sealing, const tkt_call_stack *stack, uint32_t index)
{
    uintptr_t address = stack->addresses[index] - 1;
    const tkt_stack_place *place = &stack->places[index];
    const char *function = NULL;
    if (!sealing->window->source) /* a recovered process's modules are not loaded here */
        function = tkt_exported_function(address, place->base);
    tkt_frame frame = {.offset = address - place->base};
    frame.module = tkt_sealing_text(sealing, place->object);
    if (function)
        frame.function = tkt_stacks_function(&sealing->known_stacks, function);
    if (frame.function == TKT_STRTAB_FULL)
        return UINT32_MAX;
    return tkt_stacks_frame(&sealing->known_stacks, &frame);
}

static uint32_t add_stack(tkt_sealing *sealing, const tkt_call_stack *stack, bool is_call)
{
    uint32_t frames[TKT_STACK_FRAMES];
    uint32_t first = is_call ? first_of_call(sealing, stack) : 0;
    for (uint32_t i = first; i < stack->count; i++) {
        frames[i - first] = add_frame(sealing, stack, i);
        if (frames[i - first] == UINT32_MAX)
            return UINT32_MAX;
    }
    return tkt_stacks_add(&sealing->known_stacks, frames, stack->count - first);
}

uint32_t tkt_sealing_stack(tkt_sealing *sealing, uint32_t number, bool is_call)
{
    uint64_t *known = tkt_map_put(&sealing->stacks, (uint64_t)number << 1 | is_call);
    if (!known)
        return UINT32_MAX;
    if (*known == 0) {
        const tkt_seal_source *source = sealing->window->source;
        uint32_t stack = add_stack(
            sealing, source ? source->stacks.items[number] : tkt_stack_get(number), is_call);
        if (stack == UINT32_MAX)
            return stack;
        *known = (uint64_t)stack + 1; /* still valid: add_stack() does not touch this map */
    }
    return (uint32_t)*known - 1;
}
