/* Whether the program uses CUDA, and what is asked of the driver directly. */
#include "cuda/cuda.h"

#include "base/dynlib.h"
#include "base/thread.h"
#include "cuda/driver.h"

#include <stdatomic.h>

/* Programs with the runtime linked in load libcuda at their first call of it only. Their device
 * code gives them away before: nvcc and clang put it into sections of these names. */
static bool look_at_process(void)
{
    static const char *const names[] = {"libcuda.so", "libcudart.so", NULL};
    static const char *const sections[] = {".nv_fatbin", ".nvFatBinSegment", NULL};
    /* Not by dlopen() with RTLD_NOLOAD: that looks for the file in all folders. */
    return tkt_objects_have(names, sections);
}

bool tkt_cuda_is_used(void)
{
    static _Atomic(uint64_t) looked_at; /* objects that had been loaded then; UINT64_MAX: used */
    if (tkt_process_is_disabled())      /* looking at them takes a lock of the C library's */
        return false;
    /* Relaxed: it stands for itself. */
    uint64_t seen = atomic_load_explicit(&looked_at, memory_order_relaxed);
    if (seen == UINT64_MAX)
        return true;
    uint64_t now = tkt_objects_added();
    if (now == seen)
        return false;
    bool is_used = look_at_process();
    atomic_store_explicit(&looked_at, is_used ? UINT64_MAX : now, memory_order_relaxed);
    return is_used;
}

takt_status tkt_cuda_synchronize(void)
{
    const tkt_driver *driver = tkt_cuda_is_used() ? tkt_driver_get() : NULL;
    if (!driver)
        return TAKT_OK;
    return tkt_driver_synchronize(driver) ? TAKT_OK : TAKT_BAD_STATE;
}

bool tkt_cuda_memory(uint32_t device, uint64_t *free_bytes, uint64_t *total_bytes)
{
    const tkt_driver *driver = tkt_cuda_is_used() ? tkt_driver_get() : NULL;
    return driver && tkt_driver_memory(driver, device, free_bytes, total_bytes);
}
