/* Where libcupti is looked for, and which one is taken. */
#ifndef TKT_CUDA_FIND_H
#define TKT_CUDA_FIND_H

#include <takt/system.h>

enum {
    TKT_MAX_PLACES = 64 /* places that a search looks into; further ones are left out */
};

/* A search and what it found, place by place. */
typedef struct tkt_cupti_search {
    takt_cuda_place places[TKT_MAX_PLACES];
    int             newer[TKT_MAX_PLACES]; /* its release, if too new and not tried; 0 */
    uint32_t        count;
    int             driver_release; /* of cuDriverGetVersion(): 12040 for 12.4 */
    void           *library;        /* NULL: none was found */
} tkt_cupti_search;

/* Looks for libcupti and loads it. No other is loaded, unless it turns out to be unusable. One that
 * is newer than the driver's release (0: not known) is taken only where no older one is found. */
void tkt_cupti_find(tkt_cupti_search *search, int driver_release);

#endif
