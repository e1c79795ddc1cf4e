/* Recovers the recording of a process that died: reads the file of record/mapping.h into the
 * structures that sealing uses. Recovery trusts nothing in the file. */
#ifndef TKT_TRACE_RECOVERY_H
#define TKT_TRACE_RECOVERY_H

#include "base/containers.h"
#include "cuda/store.h"
#include "record/mapping.h"
#include "trace/model.h"

/* The steps of a run, as the file has them. */
typedef struct tkt_kept_run {
    uint64_t      number; /* of the run, in this file; from 1 */
    tkt_all_steps all_steps;
    tkt_run_steps steps;
} tkt_kept_run;

/* The registries and logs of the process that died. For the running process, tkt_seal() reads the
 * registries themselves. */
typedef struct tkt_seal_source {
    TKT_ARRAY_OF(tkt_site) sites; /* by id; a site without a name is not in the file */
    TKT_ARRAY_OF(tkt_text) texts;  /* by id */
    TKT_ARRAY_OF(tkt_text) values; /* of the last generation, by TKT_VALUE_INDEX() */
    uint32_t generation;           /* the id of one of these values */
    TKT_ARRAY_OF(tkt_call_stack *) stacks; /* by number; NULL: not in the file */
    TKT_ARRAY_OF(tkt_log_view) views;
    TKT_ARRAY_OF(tkt_task) tasks; /* open ones */
    TKT_ARRAY_OF(tkt_fold) folds; /* of the views, in summary mode */
} tkt_seal_source;

/* A log whose chunks have been copied. */
typedef struct tkt_recovered_log {
    uint32_t   number;
    tkt_chunk *first; /* linked by `next`, oldest first; `count` slots each */
} tkt_recovered_log;

typedef struct tkt_recovery {
    const uint8_t   *bytes; /* borrowed */
    size_t           size;
    tkt_mapping_head head;
    tkt_text         run; /* the run's name */
    tkt_arena        memory;
    tkt_seal_source  source;
    TKT_ARRAY_OF(tkt_recovered_log) logs; /* of the views */
    tkt_store       *store; /* of devices' activities; NULL: none */
    TKT_ARRAY_OF(uint32_t) store_strings; /* ids in the file -> the store's */
    uint64_t         last_ticks; /* the latest time in the file */
    bool             is_short;   /* out of memory */
} tkt_recovery;

/* Item `index` of a part of the file. The head must have been checked. */
static inline const void *tkt_recovery_item(const tkt_recovery *r, const tkt_mapping_part *part,
                                            uint64_t index)
{
    return r->bytes + part->at + index * part->item_bytes;
}

static inline void tkt_recovery_saw(tkt_recovery *r, uint64_t ticks)
{
    if (ticks > r->last_ticks)
        r->last_ticks = ticks;
}

/* takt_trace_recover() for the bytes of a file. Messages call the file `name`. */
takt_status tkt_recover(const uint8_t *bytes, size_t size, const char *name, takt_trace **out,
                        takt_error *error);

/* recover_parts.c: fills sites, texts, stacks and the run's name. */
void tkt_recover_names(tkt_recovery *r);

/* recover_log.c: fills the views: the chunks of each log up to the last committed slot, and the
 * open scopes. */
void tkt_recover_logs(tkt_recovery *r);

/* recover_parts.c: fill the store. The first reads one note about devices, shapes and the like; the
 * second reads the activities, after all notes. */
void tkt_recover_note(tkt_recovery *r, const tkt_mapping_note *note, const char *data);
void tkt_recover_activities(tkt_recovery *r);

/* recover_parts.c: fills the folds, with open scopes up to `until_ticks`. Call after
 * tkt_recover_logs(). */
void tkt_recover_folds(tkt_recovery *r, const tkt_mapping_window *window, uint64_t until_ticks);

#endif
