/* What the library knows of itself and of its clock. */
#include "base/clock.h"
#include "nvtx/nvtx.h"

#include <takt/system.h>

takt_system_info takt_system(void)
{
    tkt_clock_fit fit = tkt_clock_fit_now();
    return (takt_system_info){.clock = tkt_clock_name(),
                              .clock_resolution_ns = tkt_clock_resolution_ns(&fit),
                              .has_nvtx = tkt_nvtx_is_built()};
}
