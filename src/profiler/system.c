/* What the library knows of itself and of its clock. */
#include "base/clock.h"
#include "base/error.h"
#include "nvtx/nvtx.h"

#include <takt/system.h>

void takt_system_v1(takt_system_info *out, size_t size)
{
    tkt_clock_fit fit = tkt_clock_fit_now();
    takt_system_info info = {.clock = tkt_clock_name(),
                             .clock_resolution_ns = tkt_clock_resolution_ns(&fit),
                             .has_nvtx = tkt_nvtx_is_built()};
    tkt_fill(out, size, &info, sizeof info);
}
