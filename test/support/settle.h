/* Brings the store up to date as the end of a window does, but for whatever devices were given. */
#ifndef TEST_SETTLE_H
#define TEST_SETTLE_H

#include "cuda/cuda.h"

static inline bool settle_devices(bool synchronize, uint32_t timeout_ms)
{
    return tkt_cuda_settle(&(tkt_settling){.synchronize = synchronize, .timeout_ms = timeout_ms});
}

#endif
