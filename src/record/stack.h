/* The call stacks at which scopes begin and calls are made. Equal ones are one for the life of the
 * process, so that an event says its stack's number; what they hold is copied, because a plugin's
 * code may be gone when its spans are looked at. */
#ifndef TKT_RECORD_STACK_H
#define TKT_RECORD_STACK_H

#include "record/log.h"

#define TKT_STACK_FRAMES 128u /* what lies further out is left out */

typedef struct tkt_stack_place {
    uint32_t  object; /* text id of its path; 0: in none that is known */
    uintptr_t base;
} tkt_stack_place;

/* A call stack, innermost first. */
typedef struct tkt_call_stack {
    uint32_t  number;
    uint32_t  count;
    tkt_stack_place *places; /* of the addresses */
    uintptr_t addresses[];   /* that are returned to */
} tkt_call_stack;

/* The number of the stack that the calling thread has from `caller` outwards: the return address of
 * the function that the program called, so that none of Takt's own frames are in it. 0 while no
 * stacks are recorded, and, counted as a loss, where there is no room for it. */
uint32_t tkt_stack_here(tkt_thread_log *log, const void *caller);

/* Writes which stack the innermost open scope has, which began at `begin_ticks`. */
void tkt_stack_write(tkt_thread_log *log, uint32_t stack, uint64_t begin_ticks);

/* Forgets all, when nobody records or looks any more. */
void tkt_stack_free_all(void);

/* The stack of that number, which stays. Any thread. */
const tkt_call_stack *tkt_stack_get(uint32_t number);

/* Calls it for every stack that is known, with a lock held. */
void tkt_stack_visit(void (*visit)(const tkt_call_stack *stack));

#endif
