/* Theoretical occupancy of a kernel: how many of a multiprocessor's warps its blocks can fill. */
#ifndef TKT_CUDA_OCCUPANCY_H
#define TKT_CUDA_OCCUPANCY_H

#include "cuda/device.h"
#include "cuda/shape.h"

/* Fills occupancy and limiter of the shape from the rest of it; leaves them 0 for devices whose
 * rules are not known. */
void tkt_occupancy_fill(tkt_shape *shape, const tkt_device *device);

#endif
