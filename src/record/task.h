/* Spans on tracks of their own that have begun and not ended. */
#ifndef TKT_RECORD_TASK_H
#define TKT_RECORD_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct tkt_task {
    uint64_t begin_ticks;
    uint32_t site;
    uint32_t track; /* text id of its name */
} tkt_task;

/* Calls `visit` for every open one, with a lock held: it must not begin or end any. */
void tkt_task_visit(void (*visit)(void *user, const tkt_task *task), void *user);

/* Forgets all, when nobody begins or ends any more. */
void tkt_task_free_all(void);

#endif
