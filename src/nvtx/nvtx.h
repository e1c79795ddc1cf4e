/* Ranges for tools that listen to NVTX, such as Nsight Systems.
 *
 * Unless a range names a domain, it goes to NVTX's default domain, like those of Warp and most
 * programs, so a tool shows it in one row with the program's own. Without a tool a range of the
 * default domain costs about a nanosecond.
 *
 * NVTX is a set of headers in the CUDA toolkit. If the library is built without them, ranges do
 * nothing. */
#ifndef TKT_NVTX_NVTX_H
#define TKT_NVTX_NVTX_H

#include <takt/base.h>

/* The texts are borrowed for the call. */
typedef struct tkt_nvtx_range {
    const char *name;     /* NULL reads as "(null)" */
    const char *color;    /* as in tkt_nvtx_color(); an unknown one gives the default, and one
                           * warning per process */
    const char *domain;   /* NULL: the default domain */
    const char *category; /* NULL: none */
    int64_t     payload;
    bool        has_payload;
} tkt_nvtx_range;

/* A range that has begun. */
typedef struct tkt_nvtx_open {
    void    *domain;
    uint64_t id;
} tkt_nvtx_open;

/* Begins a range that may end on another thread and overlap others. The first 15 domains, and the
 * first 64 categories in all, get their names; further ones go to the default domain and to no
 * category. */
tkt_nvtx_open tkt_nvtx_range_start(const tkt_nvtx_range *range);
void tkt_nvtx_range_end(tkt_nvtx_open range);

/* True if the library was built with NVTX, so that ranges do anything. */
bool tkt_nvtx_is_built(void);

/* The colour 0xFFrrggbb of a name such as "yellow", or of "#rrggbb"; case does not matter. NULL is
 * the default, Warp's "rapids". False, with the default colour, for anything else. */
bool tkt_nvtx_color(const char *color, uint32_t *argb);

#endif
