/* What the files of the libcuda stand-in share. */
#ifndef SIM_CUDA_FACE_H
#define SIM_CUDA_FACE_H

#include "driver.h"
#include "machine.h"

/* A function of the driver's: tells the sink, and does `operation` unless a script wants otherwise
 * or the driver was never initialised. Its arguments follow as the sink is to see them. */
#define DRIVER(function, operation, params) DRIVER_LAUNCH(function, operation, params, NULL)

/* A whole function that does nothing but DRIVER: its name, its parameters, the operation, and the
 * arguments as the sink sees them. */
#define DRIVER_FUNCTION(name, parameters, operation, params)                                       \
    CUAPI name parameters                                                                          \
    {                                                                                              \
        DRIVER(name, operation, params);                                                           \
    }

/* The same for those that launch a kernel. */
#define DRIVER_LAUNCH(function, operation, params, kernel)                                         \
    do {                                                                                           \
        sim_call call_;                                                                            \
        int status_ = sim_enter_launch(&call_, SIM_##function, params, kernel);                    \
        if (!status_)                                                                              \
            status_ = sim_is_initialised() ? (operation) : SIM_NOT_INITIALIZED;                    \
        return sim_leave(&call_, status_);                                                         \
    } while (0)

#define STREAM(handle) ((sim_stream *)(handle))

/* For functions whose NULL is the thread's own default stream. */
static inline CUstream of_thread(CUstream stream)
{
    return stream ? stream : (CUstream)SIM_PER_THREAD;
}

static inline void *pointer(CUdeviceptr memory) { return (void *)(uintptr_t)memory; }

#endif
