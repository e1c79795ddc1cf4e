/* Loops over the macros of takt/device.cuh in host code: `count` scopes, or phases that follow one
 * another. */
#ifndef BENCH_DEVICE_H
#define BENCH_DEVICE_H

#include <takt/device.h>

#ifdef __cplusplus
extern "C" {
#endif

void bench_device_scopes(takt_device_view view, uint64_t count);
void bench_device_phases(takt_device_view view, uint64_t count);

#ifdef __cplusplus
}
#endif

#endif
