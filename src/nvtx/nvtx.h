/* Ranges for tools that listen to NVTX, such as Nsight Systems.
 *
 * They go to NVTX's default domain, as Warp's and most programs' do, so that a tool shows them on
 * one row with the program's own. Without a tool a range costs about a nanosecond.
 *
 * NVTX is a set of headers. Where the CUDA toolkit that has them is missing when the library is
 * built, ranges do nothing. */
#ifndef TKT_NVTX_NVTX_H
#define TKT_NVTX_NVTX_H

#include <takt/base.h>

/* Begins a range that may end on another thread and overlap others; the result is for
 * tkt_nvtx_range_end(). `name` is borrowed, NULL reads as "(null)"; `color` as tkt_nvtx_color()
 * takes it, and where it is unknown the default and, once in a process's life, a warning. */
uint64_t tkt_nvtx_range_start(const char *name, const char *color);
void tkt_nvtx_range_end(uint64_t range);

/* Whether ranges do anything. */
bool tkt_nvtx_is_built(void);

/* The colour 0xFFrrggbb of a name such as "yellow" or of "#rrggbb", in either case; NULL is the
 * default, which is Warp's, "rapids". False, with the default colour, for anything else. */
bool tkt_nvtx_color(const char *color, uint32_t *argb);

#endif
