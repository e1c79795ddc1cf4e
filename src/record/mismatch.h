/* Begins and ends that do not fit together, counted by cause and place so that they can be reported
 * later: the recording path itself never prints. */
#ifndef TKT_RECORD_MISMATCH_H
#define TKT_RECORD_MISMATCH_H

#include <stdint.h>

typedef enum tkt_mismatch {
    TKT_END_WITHOUT_BEGIN,
    TKT_CLOSED_BY_ANOTHER, /* the scope was open when an outer one ended */
    TKT_OPEN_AT_EXIT,      /* when its thread ended */
    TKT_TOO_DEEP
} tkt_mismatch;

/* `site` 0: takt_end() without a scope. */
void tkt_mismatch_count(tkt_mismatch cause, uint32_t site);

/* Logs one warning for each place and cause that is new or has grown since the last call. */
void tkt_mismatch_report(void);

#endif
