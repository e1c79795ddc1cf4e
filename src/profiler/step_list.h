/* The steps of a cycle, in blocks of the recorder's memory, which is touched before it is needed:
 * an array would be copied by the step that has no room in it. */
#ifndef TKT_PROFILER_STEP_LIST_H
#define TKT_PROFILER_STEP_LIST_H

#include "record/log.h"
#include "trace/model.h"

#define TKT_BLOCK_STEPS                                                                            \
    ((TKT_CHUNK_SLOTS * sizeof(takt_record) - 2 * sizeof(void *)) / sizeof(tkt_step))

typedef struct tkt_step_block {
    struct tkt_step_block *next;
    uint32_t               count;
    tkt_step               steps[TKT_BLOCK_STEPS];
} tkt_step_block;

typedef struct tkt_step_list { /* starts as {0} */
    tkt_step_block *first;     /* the oldest */
    tkt_step_block *last;
    size_t          count; /* of steps */
} tkt_step_list;

/* NULL without memory. */
tkt_step *tkt_step_list_add(tkt_step_list *list);

/* Forgets the oldest block of a list that is not empty. Returns how many steps that were. */
uint32_t tkt_step_list_drop(tkt_step_list *list);

void tkt_step_list_fini(tkt_step_list *list);

#endif
