/* Brings the store up to date as the end of a window does, but for whatever devices were given. */
#ifndef TEST_SETTLE_H
#define TEST_SETTLE_H

#include "cuda/cuda.h"

/* So that no limit of Takt's passes on a busy machine. */
static inline void be_patient(void)
{
    tkt_cuda_patience_percent = 20000;
}

/* For tests in which CUPTI or the device hangs: a second instead of five. */
static inline void be_impatient(void)
{
    tkt_cuda_patience_percent = 20;
}

static inline bool settle_devices(bool synchronize)
{
    return tkt_cuda_settle(&(tkt_settling){.synchronize = synchronize, .timeout_ms = UINT32_MAX});
}

#endif
