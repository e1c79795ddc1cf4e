/* Ranges for tools that listen to NVTX, such as Nsight Systems.
 *
 * Ranges go to NVTX's default domain, like those of Warp and most programs, so a tool shows them in
 * one row with the program's own. Without a tool a range costs about a nanosecond.
 *
 * NVTX is a set of headers in the CUDA toolkit. If the library is built without them, ranges do
 * nothing. */
#ifndef TKT_NVTX_NVTX_H
#define TKT_NVTX_NVTX_H

#include <takt/base.h>

/* Begins a range that may end on another thread and overlap others. Pass the result to
 * tkt_nvtx_range_end(). `name` is borrowed; NULL reads as "(null)". `color` is as in
 * tkt_nvtx_color(); an unknown one gives the default, and one warning per process. */
uint64_t tkt_nvtx_range_start(const char *name, const char *color);
void tkt_nvtx_range_end(uint64_t range);

/* True if the library was built with NVTX, so that ranges do anything. */
bool tkt_nvtx_is_built(void);

/* The colour 0xFFrrggbb of a name such as "yellow", or of "#rrggbb"; case does not matter. NULL is
 * the default, Warp's "rapids". False, with the default colour, for anything else. */
bool tkt_nvtx_color(const char *color, uint32_t *argb);

#endif
