/* Call stacks of the calling thread. The compiler's unwinder walks them, by the tables that
 * exceptions use too, so that it needs no frame pointers; what it costs, about 100 ns a frame, is
 * saved where a stack is the same as last time: see tkt_unwind_is_same(). */
#ifndef TKT_BASE_UNWIND_H
#define TKT_BASE_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

/* A return address, and where on the stack it was found; `slot` is NULL where that is not known: on
 * aarch64, in a function compiled with -fomit-frame-pointer. */
typedef struct tkt_return {
    uintptr_t        address;
    const uintptr_t *slot;
} tkt_return;

/* Finds the unwinder, at the first call; false where there is none. Not on a hot path. */
bool tkt_unwind_load(void);

/* The return addresses from `caller` outwards, innermost first, at most `most` of them; their
 * number, which is 0 where `caller` is not found on the stack. tkt_unwind_load() was true. */
uint32_t tkt_unwind(const void *caller, tkt_return *out, uint32_t most);

/* Whether the same return addresses stand where they were found. If they do, with the same caller
 * and the same stack pointer as then, it is the same stack: where a function's frame ends depends
 * on the place in it that is returned to, so the second address follows from the first, and so on. */
bool tkt_unwind_is_same(const tkt_return *returns, uint32_t count);

#endif
