/* The CUDA driver, as far as Takt calls it: devices, existing contexts, and their memory. Takt
 * never initialises the driver here: before the program has done so there is nothing to query. */
#ifndef TKT_CUDA_DRIVER_H
#define TKT_CUDA_DRIVER_H

#include "cuda/abi.h"
#include "cuda/store.h"

/* The driver's functions, which return a CUresult. Optional ones may be NULL. */
typedef struct tkt_driver {
#define TKT_DRIVER_MEMBER(member, symbol, is_required, parameters) int(*member) parameters;
    TKT_DRIVER_FUNCTION_LIST(TKT_DRIVER_MEMBER)
#undef TKT_DRIVER_MEMBER
} tkt_driver;

/* Returns the driver, loading it if needed; NULL where there is none. Call it only in programs that
 * use CUDA: see tkt_cuda_is_used(). Any thread. */
const tkt_driver *tkt_driver_get(void);

/* Makes tkt_driver_get() return NULL from now on: a forked child cannot call the driver. */
void tkt_driver_forget(void);

/* In a thread's device_call while Takt itself calls the driver there. The id of the program's call
 * around it stays below. */
#define TKT_OWN_CALL (UINT64_C(1) << 63)

/* Enclose calls of Takt's own on a thread of the program. Callbacks do not report such calls, and
 * the calls are allowed while another thread captures a stream. */
typedef struct tkt_driver_call {
    uint64_t outer_call;
    int      capture_mode; /* the thread's mode before; -1: unknown */
} tkt_driver_call;
tkt_driver_call tkt_driver_begin(const tkt_driver *driver);
void tkt_driver_end(const tkt_driver *driver, tkt_driver_call call);

/* Puts the devices into the store. Before the program initialises the driver there are none.
 * Returns the driver's status. */
int tkt_driver_read_devices(const tkt_driver *driver, tkt_store *store);

/* Gives the driver's handle of a device. False past the last one, without asking the driver: tools
 * that watch it would report an error of the program's. */
bool tkt_driver_device(const tkt_driver *driver, uint32_t ordinal, int *handle);

/* Reads the properties of a device, except its name; `device` is the driver's handle. */
void tkt_driver_read_device(const tkt_driver *driver, int device, tkt_device *out);

/* Records contexts that callbacks report: `old` is NULL for one that was created, `new` for one
 * that is about to be destroyed. Then this waits, for a second at most, until no other thread is in
 * tkt_driver_visit(), which may use it. Takt finds primary contexts without them. */
void tkt_driver_replace_context(void *old, void *new);

/* True for a status after which the process cannot use CUDA any more. */
bool tkt_driver_is_sticky(int status);

/* Calls `visit` for each live context, with the context current, until `visit` returns true. A
 * primary context may be visited twice. False if a context could not be visited because of a sticky
 * error. */
typedef bool (*tkt_context_visitor)(const tkt_driver *driver, void *user);
bool tkt_driver_visit(const tkt_driver *driver, tkt_context_visitor visit, void *user);

/* True if a stream of the current context that waits for the legacy stream is being captured.
 * Asking does no harm, and needs no callbacks. */
bool tkt_driver_is_capture_near(const tkt_driver *driver);

/* Waits for all live contexts. False if some were skipped because a stream is being captured. */
bool tkt_driver_synchronize(const tkt_driver *driver);

/* Calls cuProfilerStart() or cuProfilerStop() in all live contexts. False if none accepted it. */
bool tkt_driver_profiling(const tkt_driver *driver, bool is_on);

/* See tkt_cuda_memory(). */
bool tkt_driver_memory(const tkt_driver *driver, uint32_t device, uint64_t *free_bytes,
                       uint64_t *total_bytes);

#endif
