/* Folding a log's slots into its call tree while the program runs. */
#ifndef TKT_RECORD_ONLINE_H
#define TKT_RECORD_ONLINE_H

#include "record/log.h"

/* Folds what stands between the first unfolded slot and `cursor`, after which `frames` were open;
 * the caller holds the log's lock. With `until_ticks` spans are cut off there and the open scopes
 * count as calls up to there; with 0 they are left for later. */
takt_status tkt_online_fold(tkt_thread_log *log, const takt_record *cursor,
                            const takt_frame *frames, uint32_t frame_count, uint64_t until_ticks);

/* The same for a window that is not this process's: from those ticks on. */
takt_status tkt_online_fold_from(tkt_thread_log *log, const takt_record *cursor,
                                 const takt_frame *frames, uint32_t frame_count,
                                 uint64_t from_ticks, uint64_t until_ticks, uint64_t ns_per_tick);

#endif
