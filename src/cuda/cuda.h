/* Collecting the process's CUDA activities: the interface of this folder. One thread, the
 * collector, makes every call that switches, flushes or synchronises CUPTI. It starts with the
 * first request in a program that uses CUDA. */
#ifndef TKT_CUDA_CUDA_H
#define TKT_CUDA_CUDA_H

#include "cuda/store.h"

#include <takt/base.h>

#include <stdbool.h>
#include <stdint.h>

/* ======== Limits of time ======== */

/* Scales the times after which Takt gives up on CUPTI, the driver or a device. Programs have 100.
 * Tests in which something hangs set it to less and need not wait for seconds. Other tests set it
 * to more: then no limit passes on a busy machine. Set it before the first request. */
extern uint32_t tkt_cuda_patience_percent;

static inline uint32_t tkt_patience_ms(uint32_t ms)
{
    return (uint32_t)((uint64_t)ms * tkt_cuda_patience_percent / 100);
}

/* ======== The end of a window ======== */

/* Waiting for the work that a window launched. */

typedef enum tkt_completeness {
    TKT_LACKING,      /* a launch has no activity */
    TKT_LACKS_GRAPHS, /* all others have theirs, and one of a graph may lack some or all */
    TKT_COMPLETE
} tkt_completeness;

typedef struct tkt_settling {
    bool     synchronize; /* wait for launched work; otherwise flush once */
    bool     must_force;  /* after the timeout discard unfinished records, whoever they belong to */
    bool     wants_rest;  /* wait for records of memory and bodies of graphs, too: nobody knows how
                           * many there will be, so this lasts for a short time after the others */
    uint32_t timeout_ms;  /* longest wait */
    /* Called on this thread whenever records have arrived. NULL: waits until the devices have done
     * all work given to them so far. */
    tkt_completeness (*is_complete)(void *user);
    /* True if only the caller waits for unfinished work. With this, or must_force, a forced flush
     * follows the timeout: it discards unfinished records, in order to get the finished ones. */
    bool (*may_force)(void *user);
    void *user;
} tkt_settling;

/* Brings the store up to date, on the calling thread with the collector's help. True: no activity
 * is missing, or the missing ones do not exist. False: the timeout has passed, no device made
 * progress for some seconds, a device has failed, the process exits or CUPTI hangs; missing
 * activities stay missing. */
bool tkt_cuda_settle(const tkt_settling *how);

/* ======== Collecting ======== */

typedef enum tkt_backend {
    TKT_BACKEND_NONE,   /* the program does not use CUDA, or there is no driver or device */
    TKT_BACKEND_EVENTS, /* CUDA without CUPTI: events time the launches that the program marks */
    TKT_BACKEND_CUPTI
} tkt_backend;

/* What all open windows request together. */
typedef struct tkt_cuda_wish {
    bool     is_on;
    bool     is_graph_whole; /* one activity per graph launch; otherwise one per node */
    bool     memory;         /* allocations and pools; while !is_on, for their totals only */
    uint32_t filter;         /* TAKT_TIMING_ bits */
    uint64_t max_bytes;      /* memory for decoded activities and CUPTI's buffers */
    uint64_t generation;     /* the collector ignores a request older than its current one */
} tkt_cuda_wish;

/* A finished call of the program into CUDA that launches, copies, allocates or waits. */
typedef struct tkt_cuda_call {
    const char *name;        /* "cudaLaunchKernel"; static */
    uint64_t    begin_ticks;
    uint64_t    end_ticks;
    uint32_t    correlation;
    int32_t     result;      /* cudaError_t or CUresult */
    bool        is_driver;
    bool        is_capturing; /* a stream was being captured, or the call was empty: it may have
                               * launched nothing */
    const void *caller;       /* return address of the callback, or of the program's mark */
} tkt_cuda_call;

/* Sets the function that is called for each such call, on the thread that made it. The function
 * must not block nor call CUDA. Set it once, before the first request. */
void tkt_cuda_on_call(void (*on_call)(const tkt_cuda_call *call));

/* Switches to this request and waits until it takes effect, 5 s at most. Never fails:
 * tkt_cuda_status_now() reports what could not be collected. Hold no lock. In a program that does
 * not use CUDA this only checks the list of loaded libraries. */
void tkt_cuda_want(const tkt_cuda_wish *wish);

/* For a profiler that waits: initialises CUPTI, before the program instantiates graphs that a later
 * window records, and gives it back at once if possible. Does nothing until the program has
 * initialised the driver, which is not Takt's to do, and returns false: ask again later. Waits for
 * 5 s at most. Hold no lock. */
bool tkt_cuda_look_ahead(void);

/* True if this process uses CUDA: libcuda or libcudart is loaded, or the executable or one of its
 * libraries contains device code. */
bool tkt_cuda_is_used(void);

/* True if a context is alive: then there may be work for a device. */
bool tkt_cuda_has_context(void);

typedef struct tkt_cuda_status {
    tkt_backend backend;
    char text[64];     /* for reports: "CUPTI 13.0 (130001)", "CUDA events", "none" */
    char reason[256];  /* why CUPTI is not in use, and what to do; "" if it is */
} tkt_cuda_status;
tkt_cuda_status tkt_cuda_status_now(void);

/* How many executable graphs the program has launched while calls were recorded. One at the address
 * of an earlier one may not count, and of thousands the last do not. */
uint32_t tkt_cuda_launched_graphs(void);

/* True if CUPTI may have given activities of graphs the ids of other calls. Their scopes may then
 * be wrong: see docs/cuda.md. */
bool tkt_cuda_are_graphs_unsure(void);

/* The highest correlation id so far. Ids wrap around, the number of the call goes on: its low 32
 * bits are the id. */
uint32_t tkt_cuda_last_correlation(void);
uint64_t tkt_cuda_last_call(void);

/* The same at the end of a window. Threads may have got an id from CUDA before but begin their call
 * afterwards: of the calls that do, tkt_cuda_is_late() knows the latest 64. */
uint64_t tkt_cuda_end_calls(void);
bool tkt_cuda_is_late(uint32_t correlation);

/* Waits on the calling thread until all devices with a live context are idle; initialises none.
 * Returns TAKT_BAD_STATE, without waiting for all, while a stream is known to be captured. */
takt_status tkt_cuda_synchronize(void);

/* Tell another tool where to record, with cuProfilerStart() and cuProfilerStop(): Nsight Systems
 * with -c cudaProfilerApi, Nsight Compute with --profile-from-start off. Both first wait for the
 * devices: work of before stays outside, and work of the range is complete. Ranges that overlap
 * become one. tkt_cuda_range_begin() returns false if no context accepted the call; the range then
 * is not begun and must not be ended. Any thread; hold no lock. */
bool tkt_cuda_range_begin(void);
void tkt_cuda_range_end(void);

/* Free and total bytes of a device's memory; false without a live context on it. */
bool tkt_cuda_memory(uint32_t device, uint64_t *free_bytes, uint64_t *total_bytes);

#endif
