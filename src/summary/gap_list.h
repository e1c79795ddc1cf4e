/* The longest of many gaps. */
#ifndef TKT_SUMMARY_GAP_LIST_H
#define TKT_SUMMARY_GAP_LIST_H

#include "summary/gaps.h"

typedef struct tkt_longest {
    TKT_ARRAY(tkt_gap);
    size_t   wanted;
    uint64_t least_ns; /* as many as are wanted are so long; 0 until there are twice as many */
} tkt_longest; /* starts as {.wanted = ...} */

/* False without memory. */
bool tkt_longest_add(tkt_longest *longest, const tkt_gap *gap);

/* Puts those that are wanted in order, the longest first, and forgets the others. */
void tkt_longest_sort(tkt_longest *longest);

/* Fills the names of gaps. TAKT_NO_MEMORY. */
takt_status tkt_gaps_name(const takt_trace *trace, tkt_gap *gaps, size_t count);

#endif
