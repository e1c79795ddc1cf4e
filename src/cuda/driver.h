/* The CUDA driver, as far as Takt calls it: devices, contexts that live already, their memory. It
 * is never initialised here: before the program has done that there is nothing to ask. */
#ifndef TKT_CUDA_DRIVER_H
#define TKT_CUDA_DRIVER_H

#include "cuda/abi.h"
#include "cuda/store.h"

/* Functions that are not required may be NULL. All return a CUresult. */
typedef struct tkt_driver {
#define TKT_DRIVER_MEMBER(member, symbol, is_required, parameters) int(*member) parameters;
    TKT_DRIVER_FUNCTION_LIST(TKT_DRIVER_MEMBER)
#undef TKT_DRIVER_MEMBER
} tkt_driver;

/* The driver, loaded if need be; NULL where there is none. For programs that use CUDA: see
 * tkt_cuda_is_used(). Any thread. */
const tkt_driver *tkt_driver_get(void);

/* From now on there is none: in a forked child the driver is in no state to be called. */
void tkt_driver_forget(void);

/* Around calls of Takt's own on a thread of the program's: callbacks do not report them, and they
 * are allowed while another thread captures a stream. */
typedef struct tkt_driver_call {
    uint64_t outer_call;
    int      capture_mode; /* of the thread, before; -1: not known */
} tkt_driver_call;
tkt_driver_call tkt_driver_begin(const tkt_driver *driver);
void tkt_driver_end(const tkt_driver *driver, tkt_driver_call call);

/* Puts the devices into the store, once; until the driver is initialised there are none. Returns
 * the driver's status. */
int tkt_driver_read_devices(const tkt_driver *driver, tkt_store *store);

/* What the driver knows of a device, but its name; `device` is the driver's handle. */
void tkt_driver_read_device(const tkt_driver *driver, int device, tkt_device *out);

/* Contexts that callbacks tell of. Primary ones are found without. */
void tkt_driver_context_created(void *context);
void tkt_driver_context_destroyed(void *context);

/* Calls `visit` for each live context, with the context current; true ends the walk, and is
 * returned. A primary context may be visited twice. */
typedef bool (*tkt_context_visitor)(const tkt_driver *driver, void *user);
bool tkt_driver_visit(const tkt_driver *driver, tkt_context_visitor visit, void *user);

/* Waits for all live contexts. False: not for all, since a stream is being captured. */
bool tkt_driver_synchronize(const tkt_driver *driver);

/* See tkt_cuda_memory(). */
bool tkt_driver_memory(const tkt_driver *driver, uint32_t device, uint64_t *free_bytes,
                       uint64_t *total_bytes);

#endif
