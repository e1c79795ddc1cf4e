/* takt/system.h - what Takt can record on this machine. `takt doctor` prints the same facts.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TAKT_SYSTEM_H
#define TAKT_SYSTEM_H

#include <takt/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The clock of takt_now_ns(), and how the library was built. */
typedef struct takt_system_info {
    const char *clock;               /* "tsc", "cntvct" or "monotonic"; static */
    double      clock_resolution_ns; /* duration of one tick */
    bool        has_nvtx;            /* timers are visible in NVTX tools */
} takt_system_info;

/* Returns facts on clock and build. Takes 2 ms if the process has not used Takt's clock before. Any
 * thread. */
TAKT_SIZED takt_system_info takt_system(void);

/* CUDA as this process finds it. Unknown fields are 0 or "". */
typedef struct takt_cuda_info {
    uint32_t driver_version;   /* newest CUDA version of the driver: 13000 for 13.0; 0: no driver */
    int32_t  driver_status;    /* CUresult of cuInit() */
    uint32_t device_count;
    uint32_t cupti_version;    /* result of cuptiGetVersion() */
    char     cupti_name[64];   /* "CUPTI 13.0 (130001)" */
    bool     has_cupti;        /* CUPTI can be used: Takt sees all device work */
    char     driver_path[256]; /* of libcuda */
    char     cupti_path[256];
    char     problem[256];     /* why CUPTI cannot be used and what to do, without full stop; "" if
                                * it can */
} takt_cuda_info;

/* Loads and initialises the driver, looks for CUPTI, and subscribes to CUPTI for a moment as a
 * recording would. Call it only in a process that neither uses CUDA nor records: otherwise Takt
 * itself may already hold CUPTI. Never fails: `problem` has the reason. One thread at a time. */
TAKT_SIZED takt_cuda_info takt_cuda(void);

/* A place where the last takt_cuda() looked for CUPTI. */
typedef struct takt_cuda_place {
    char path[512];    /* file, folder, or the library name passed to the system's loader */
    char finding[128]; /* "taken", "not there", "newer than the driver (13 > 12.4)" */
} takt_cuda_place;

/* Fills *out with place `index`, counted from 0 in search order. TAKT_NOT_FOUND past the end. One
 * thread at a time. */
TAKT_SIZED takt_status takt_cuda_searched(uint32_t index, takt_cuda_place *out);

typedef struct takt_cuda_device_info {
    char     name[128];
    uint32_t compute_major; /* compute capability */
    uint32_t compute_minor;
    uint32_t multiprocessors;
    uint64_t memory_bytes;
} takt_cuda_device_info;

/* Fills *out with device `index` of takt_cuda(), counted from 0. TAKT_NOT_FOUND past the end. */
TAKT_SIZED takt_status takt_cuda_device(uint32_t index, takt_cuda_device_info *out);

/* ---- Implementation of TAKT_SIZED functions -------------------------------------------------- */

TAKT_PASS_SIZE(takt_cuda_searched, takt_cuda_place, (uint32_t index), index)
TAKT_PASS_SIZE(takt_cuda_device, takt_cuda_device_info, (uint32_t index), index)

TAKT_API void takt_system_v1(takt_system_info *out, size_t size);
TAKT_SIZED takt_system_info takt_system(void)
{
    takt_system_info info;
    takt_system_v1(&info, sizeof info);
    return info;
}

TAKT_API void takt_cuda_v1(takt_cuda_info *out, size_t size);
TAKT_SIZED takt_cuda_info takt_cuda(void)
{
    takt_cuda_info info;
    takt_cuda_v1(&info, sizeof info);
    return info;
}

#ifdef __cplusplus
}
#endif
#endif
