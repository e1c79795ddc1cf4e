/* What people are told: which CUPTI it is, and what its results mean for them. CUPTI's own texts
 * name the constant at best. */
#include "cuda/cupti.h"

#include <stdio.h>
#include <string.h>

/* Versions before 13 count: the release of each, from 18 on. 25 was never seen. */
static const char old_releases[][5] = {"11.8", "12.0", "12.2", "12.3", "12.4", "12.5",
                                       "12.6", "12.7", "12.8", "12.9", "12.9"};

int tkt_cupti_release(uint32_t version)
{
    uint32_t old = version - TKT_CUPTI_11_8;
    uint32_t last = sizeof old_releases / sizeof *old_releases - 1;
    if (version >= TKT_CUPTI_13_0)
        return (int)(version / 10000 * 1000 + version / 100 % 100 * 10);
    if (version < TKT_CUPTI_11_8)
        return 0;
    const char *text = old_releases[old < last ? old : last];
    return (text[0] - '0') * 10000 + (text[1] - '0') * 1000 + (text[3] - '0') * 10;
}

void tkt_cupti_describe(char *out, size_t size, uint32_t version)
{
    uint32_t old = version - TKT_CUPTI_11_8;
    if (version >= TKT_CUPTI_13_0)
        snprintf(out, size, "CUPTI %u.%u (%u)", version / 10000, version / 100 % 100, version);
    else if (old < sizeof old_releases / sizeof *old_releases)
        snprintf(out, size, "CUPTI %s (%u)", old_releases[old], version);
    else
        snprintf(out, size, "CUPTI (%u)", version);
}

static const struct {
    uint16_t result;
    char text[126];
} texts[] = {
    {TKT_CUPTI_OUT_OF_MEMORY, "there is not enough memory for it"},
    {TKT_CUPTI_NOT_COMPATIBLE, "another tool uses it in a way that excludes this one"},
    {TKT_CUPTI_NOT_INITIALIZED,
     "the driver is too old for this libcupti: update the driver, or use the libcupti of its CUDA "
     "version"},
    {TKT_CUPTI_DISABLED, "another tool has disabled it"},
    {TKT_CUPTI_VIRTUALIZED, "the virtual machine's GPU does not support it"},
    {TKT_CUPTI_INSUFFICIENT_PRIVILEGES,
     "the driver forbids it to users: see developer.nvidia.com/ERR_NVGPUCTRPERM"},
    {TKT_CUPTI_VIRTUALIZED_PRIVILEGES, "the hypervisor forbids it to this virtual machine"},
    {TKT_CUPTI_CONFIDENTIAL,
     "confidential computing forbids it: only its devtools mode can be profiled"},
    {TKT_CUPTI_CMP_DEVICE, "mining processors (CMP) do not support it"},
    {TKT_CUPTI_MIG_DEVICE, "GPU instances (MIG) do not support it"},
    {TKT_CUPTI_SLI_DEVICE, "GPUs coupled by SLI do not support it"},
    {TKT_CUPTI_WSL_DEVICE, "Windows' subsystem for Linux does not support it on this GPU"},
    {TKT_CUPTI_UNKNOWN, "there is no driver or GPU that it can use"},
};

void tkt_cupti_explain(char reason[TKT_REASON_BYTES], int result, const char *other)
{
    if (result == TKT_CUPTI_TAKEN) {
        snprintf(
            reason, TKT_REASON_BYTES,
            "another profiler (%s) uses CUPTI already, which serves one at a time: run without "
            "it",
            other && *other ? other : "Nsight, compute-sanitizer, cuda-gdb or PyTorch's, perhaps");
        return;
    }
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (texts[i].result == result) {
            snprintf(reason, TKT_REASON_BYTES, "CUPTI cannot be used (%d): %s", result,
                     texts[i].text);
            return;
        }
    }
    snprintf(reason, TKT_REASON_BYTES, "CUPTI cannot be used: it failed with %d", result);
}
