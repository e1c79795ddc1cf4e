/* What a device could do at most. */
#ifndef TKT_SUMMARY_PEAK_H
#define TKT_SUMMARY_PEAK_H

#include "trace/model.h"

/* Of a device's string ("cuda:0"), or 0: the host. What the program or its configuration says goes
 * before what the device's attributes tell, which of the host is nothing:
 *
 *     flops     = multiprocessors x FP32 lanes of each x 2 x clock: fused multiply-adds, each of
 *                 which is two operations, without tensor cores. Lanes by compute capability: CUDA
 *                 C++ Programming Guide, throughput of 32-bit floating-point instructions
 *     bandwidth = 2 x memory clock x bus width / 8: double data rate, as NVIDIA's deviceQuery and
 *                 "How to Implement Performance Metrics in CUDA C/C++" have it
 *
 * What is not known is 0. */
tkt_peak tkt_peak_of(const takt_trace *trace, uint32_t device);

#endif
