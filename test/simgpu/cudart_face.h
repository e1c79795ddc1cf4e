/* What the files of the libcudart stand-in share. As the real one it does its work through libcuda,
 * whose calls then have the correlation id of the runtime's. */
#ifndef SIM_CUDART_FACE_H
#define SIM_CUDART_FACE_H

#include "cudart.h"
#include "driver.h"
#include "machine.h"

/* A function of the runtime's: tells the sink, makes sure of the driver and of a current context,
 * and does `operation` unless a script wants otherwise. */
#define RUNTIME(function, operation, params)                                                       \
    RUNTIME_WITH(function, runtime_context(), operation, params, NULL)

/* The same for those that need no context, and for those that launch a kernel. */
#define RUNTIME_BARE(function, operation, params)                                                  \
    RUNTIME_WITH(function, runtime_init(), operation, params, NULL)
#define RUNTIME_LAUNCH(function, operation, params, kernel)                                        \
    RUNTIME_WITH(function, runtime_context(), operation, params, kernel)

#define RUNTIME_WITH(function, prepared, operation, params, kernel)                                \
    do {                                                                                           \
        sim_call call_;                                                                            \
        int status_ = sim_enter_launch(&call_, SIM_##function, params, kernel);                    \
        if (!status_)                                                                              \
            status_ = (prepared);                                                                  \
        if (!status_)                                                                              \
            status_ = (int)(operation);                                                            \
        return runtime_leave(&call_, status_);                                                     \
    } while (0)

/* A whole function that does nothing but RUNTIME: its name, its parameters, the operation, and the
 * arguments as the sink sees them. */
#define RUNTIME_FUNCTION(name, parameters, operation, params)                                      \
    CUDART name parameters                                                                         \
    {                                                                                              \
        RUNTIME(name, operation, params);                                                          \
    }

/* 0, or why the runtime cannot be used. */
int runtime_init(void);
int runtime_context(void);

/* Ends the call and remembers an error for cudaGetLastError(). */
cudaError_t runtime_leave(sim_call *call, int status);

/* The kernel of a host function, or of its handle; NULL: not registered. */
sim_function *runtime_kernel(const void *function);

/* Where a variable of the device lives; NULL: not registered. */
void *runtime_symbol(const void *symbol, size_t bytes, size_t offset);

#define STREAM(handle) ((sim_stream *)(handle))

/* For functions whose NULL is the thread's own default stream. */
static inline cudaStream_t of_thread(cudaStream_t stream)
{
    return stream ? stream : cudaStreamPerThread;
}

static inline CUdeviceptr address(const void *memory) { return (CUdeviceptr)(size_t)memory; }

#endif
