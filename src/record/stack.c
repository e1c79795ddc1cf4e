/* Most stacks have been seen before, by the same thread at the same place. So each thread remembers
 * its last stacks by caller and stack pointer, and checks whether their return addresses are still
 * where they were. That takes a few nanoseconds; walking a stack takes a microsecond or two. Only
 * stacks that are new to the thread are walked and looked up in the shared table, under a lock.
 * Only stacks that are new to the process are copied. */
#include "record/site.h"

#include "base/containers.h"
#include "base/dynlib.h"
#include "base/thread.h"
#include "record/control.h"
#include "record/mapping.h"
#include "record/slot.h"

#include <string.h>

#define MAX_BYTES (UINT64_C(32) << 20) /* of stacks in all */
#define MEMORIES  64u                  /* stacks that a thread remembers; a power of two */

/* A stack that a thread remembers. */
typedef struct memory {
    const void *caller;
    uintptr_t frame; /* of tkt_stack_here(): stands for the stack pointer */
    uint32_t number;
    uint32_t count;
    uintptr_t lowest, highest; /* of the places of its return addresses */
    tkt_return returns[TKT_STACK_FRAMES];
} memory;

struct tkt_stack_memory {
    uint64_t thread; /* serial number of the one whose stack the next two are */
    uintptr_t begin, end;
    memory items[MEMORIES];
};

static tkt_mutex stacks_lock = TKT_MUTEX_INIT;
static tkt_arena stacks_memory;
static tkt_map numbers; /* hash -> number */
static TKT_ARRAY_OF(tkt_call_stack *) stacks;

static uint64_t hash_of(const memory *seen)
{
    uint64_t hash = seen->count;
    for (uint32_t i = 0; i < seen->count; i++)
        hash = tkt_hash_u64(hash + seen->returns[i].address);
    return hash;
}

static bool is_equal(const tkt_call_stack *stack, const memory *seen)
{
    if (stack->count != seen->count)
        return false;
    for (uint32_t i = 0; i < seen->count; i++)
        if (stack->addresses[i] != seen->returns[i].address)
            return false;
    return true;
}

/* With the lock. */
static uint32_t add(const memory *seen, const tkt_stack_place *places)
{
    tkt_call_stack *stack = NULL;
    size_t bytes = sizeof *stack + seen->count * sizeof *stack->addresses;
    size_t places_bytes = seen->count * sizeof *places;
    if (stacks_memory.total_bytes + bytes + places_bytes > MAX_BYTES)
        return 0;
    stack = tkt_arena_alloc(&stacks_memory, bytes);
    tkt_stack_place *copy = tkt_arena_alloc(&stacks_memory, places_bytes);
    tkt_call_stack **item = stack && copy ? TKT_ARRAY_ADD(&stacks) : NULL;
    if (!item)
        return 0;
    *item = stack;
    *stack = (tkt_call_stack){(uint32_t)stacks.count, seen->count, copy};
    for (uint32_t i = 0; i < seen->count; i++)
        stack->addresses[i] = seen->returns[i].address;
    memcpy(copy, places, places_bytes);
    tkt_mapping_add_stack(stack);
    return stack->number;
}

/* Finds a stack, or adds it if `places` is given. Returns its number; 0: not found, or no room.
 * Different stacks of equal hash take the next free key. */
static uint32_t find_stack(const memory *seen, const tkt_stack_place *places)
{
    uint32_t found = 0;
    uint64_t was = tkt_busy_lock(&stacks_lock);
    for (uint64_t key = hash_of(seen);; key++) {
        const uint64_t *known = tkt_map_get(&numbers, key);
        if (known && !is_equal(stacks.items[*known - 1], seen))
            continue;
        if (known) {
            found = (uint32_t)*known;
            break;
        }
        uint64_t *number = places ? tkt_map_put(&numbers, key) : NULL;
        found = number ? add(seen, places) : 0;
        if (found)
            *number = found;
        else if (number)
            tkt_map_remove(&numbers, key);
        break;
    }
    tkt_busy_unlock(&stacks_lock, was);
    return found;
}

static void place(void *user, uint32_t index, tkt_code_place place)
{
    tkt_stack_place *places = user;
    places[index] = (tkt_stack_place){tkt_text_intern(place.object), place.base};
}

/* Locates the objects without the lock: the loader has its own lock, and may hold it while it runs
 * a plugin's constructors, which may have scopes. */
static uint32_t find_or_add(const memory *seen)
{
    uint32_t number = find_stack(seen, NULL);
    if (number != 0)
        return number;
    uintptr_t addresses[TKT_STACK_FRAMES];
    tkt_stack_place places[TKT_STACK_FRAMES] = {{0, 0}};
    for (uint32_t i = 0; i < seen->count; i++)
        addresses[i] = seen->returns[i].address;
    tkt_objects_locate(addresses, seen->count, place, places);
    return find_stack(seen, places);
}

static memory *memory_for(tkt_thread_log *log, const void *caller, uintptr_t frame)
{
    struct tkt_stack_memory *known = log->stacks;
    if (!known)
        known = log->stacks = tkt_alloc_zeroed(sizeof *known);
    if (known && known->thread != log->mark.serial) {
        known->thread = log->mark.serial;
        tkt_thread_stack(&known->begin, &known->end);
    }
    uint64_t hash = tkt_hash_u64((uintptr_t)caller ^ frame << 16);
    return known ? &known->items[hash & (MEMORIES - 1)] : NULL;
}

/* Returns up to where the stack above `frame` can be read. A coroutine's stack may end anywhere, so
 * only the rest of the frame's page is sure to be there. */
static uintptr_t end_of_stack(const struct tkt_stack_memory *known, uintptr_t frame)
{
    enum {
        LEAST_PAGE = 4096
    };
    bool is_own = frame - known->begin < known->end - known->begin;
    return is_own ? known->end : (frame | (LEAST_PAGE - 1)) + 1;
}

static bool is_same(const tkt_thread_log *log, const memory *seen, const void *caller,
                    uintptr_t frame)
{
    return seen->caller == caller && seen->frame == frame && seen->number != 0 &&
           seen->lowest >= frame && seen->highest < end_of_stack(log->stacks, frame) &&
           tkt_unwind_is_same(seen->returns, seen->count);
}

static void walk(memory *seen, const void *caller, uintptr_t frame)
{
    *seen = (memory){.caller = caller, .frame = frame, .lowest = UINTPTR_MAX};
    seen->count = tkt_unwind(caller, seen->returns, TKT_STACK_FRAMES);
    for (uint32_t i = 0; i < seen->count; i++) {
        uintptr_t at = (uintptr_t)seen->returns[i].slot;
        seen->lowest = at < seen->lowest ? at : seen->lowest;
        seen->highest = at > seen->highest ? at : seen->highest;
    }
    seen->number = seen->count ? find_or_add(seen) : 0;
}

__attribute__((noinline)) uint32_t tkt_stack_here(tkt_thread_log *log, const void *caller)
{
    bool is_kept = tkt_record_has(TKT_KEEP); /* false: a warm-up, in which all is found once */
    if (!caller || !tkt_record_has(TKT_STACKS))
        return 0;
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    memory *seen = memory_for(log, caller, frame);
    if (seen && !is_same(log, seen, caller, frame))
        walk(seen, caller, frame);
    if (is_kept && (!seen || seen->number == 0))
        tkt_log_lose(log, TAKT_LOSS_NO_STACK);
    return is_kept && seen ? seen->number : 0;
}

void tkt_stack_write(tkt_thread_log *log, uint32_t stack, uint64_t begin_ticks)
{
    takt_record *slot = stack ? tkt_log_reserve(log, 1) : NULL;
    if (!slot)
        return;
    tkt_slot_write(
        slot, (takt_record){begin_ticks, stack, tkt_slot_tag(TKT_SLOT_STACK, tkt_log_depth(log))});
    tkt_log_publish(log, slot + 1);
}

const tkt_call_stack *tkt_stack_get(uint32_t number)
{
    uint64_t was = tkt_busy_lock(&stacks_lock);
    const tkt_call_stack *stack =
        number && number <= stacks.count ? stacks.items[number - 1] : NULL;
    tkt_busy_unlock(&stacks_lock, was);
    return stack;
}

__attribute__((cold)) void tkt_stack_visit(void (*visit)(const tkt_call_stack *stack))
{
    uint64_t was = tkt_busy_lock(&stacks_lock);
    for (size_t i = 0; i < stacks.count; i++)
        visit(stacks.items[i]);
    tkt_busy_unlock(&stacks_lock, was);
}

void tkt_stack_free_all(void)
{
    tkt_map_fini(&numbers);
    TKT_ARRAY_FREE(&stacks);
    tkt_arena_fini(&stacks_memory);
}
