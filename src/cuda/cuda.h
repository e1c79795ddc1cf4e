/* Collecting what the process does with CUDA: the face of this folder. One thread of Takt's, the
 * collector, makes every call of CUPTI's that switches, flushes or synchronises; it starts with the
 * first wish in a program that uses CUDA. */
#ifndef TKT_CUDA_CUDA_H
#define TKT_CUDA_CUDA_H

#include "cuda/event.h"
#include "cuda/store.h"

#include <takt/base.h>

#include <stdbool.h>
#include <stdint.h>

/* ======== The end of a window ======== */

/* The end of a window: waiting for what it launched. */

typedef struct tkt_settling {
    bool     synchronize; /* wait for work that was launched; otherwise flush once */
    bool     must_force;  /* at the end of the time give up what is unfinished, whoever's it is */
    uint32_t timeout_ms;  /* to wait at most */
    /* True when nothing is missing any more. Called on this thread when something has arrived; NULL:
     * waits until devices have done all that they had been given. */
    bool (*is_complete)(void *user);
    /* True if nobody but the caller waits for unfinished work: then it is given up at the end of
     * the time, for the sake of what has finished. NULL: as must_force says. */
    bool (*may_force)(void *user);
    void *user;
} tkt_settling;

/* Brings the store up to date, on the calling thread with the collector's help. True: nothing is
 * missing, or what is has no activity. False: the time has passed, no device has got on for some
 * seconds, a device has failed, the process exits or CUPTI hangs: what is missing stays missing. */
bool tkt_cuda_settle(const tkt_settling *how);

/* ======== Whether devices are done ======== */

/* Whether devices have done what they had been given at some moment - asked, not waited for. */

#define TKT_IDLE_CONTEXTS 64u /* beyond these a context counts as idle */

/* An event in each live context, reached when all that the context had been given is done. */
typedef struct tkt_idle_mark {
    uint32_t count;
    struct {
        tkt_event_context context;
        void *event;
    } items[TKT_IDLE_CONTEXTS];
} tkt_idle_mark;

typedef enum tkt_idle_state {
    TKT_IDLE_NOT_YET,
    TKT_IDLE_DONE,
    TKT_IDLE_BROKEN /* a sticky error: what is unfinished will never finish */
} tkt_idle_state;

/* Marks this moment. Drivers before 12.5 cannot: there it waits until the devices are idle.
 * TKT_IDLE_NOT_YET: a stream is being captured, so nothing may be recorded; try again. */
tkt_idle_state tkt_idle_begin(const tkt_driver *driver, tkt_idle_mark *mark);

/* Looks whether it is reached. Contexts that are gone are done. */
tkt_idle_state tkt_idle_look(const tkt_driver *driver, tkt_idle_mark *mark);

/* ======== Collecting ======== */

typedef enum tkt_backend {
    TKT_BACKEND_NONE,   /* no CUDA in this program, or no driver or device */
    TKT_BACKEND_EVENTS, /* CUDA, but no CUPTI: what the program marks is timed with events */
    TKT_BACKEND_CUPTI
} tkt_backend;

/* What all windows want together. */
typedef struct tkt_cuda_wish {
    bool     is_on;
    bool     is_graph_whole; /* a graph launch is one activity; otherwise one for each node */
    bool     memory;         /* allocations and pools, also while it is not on: for their totals */
    uint32_t filter;         /* TAKT_TIMING_ bits */
    uint64_t max_bytes;      /* of decoded activities */
    uint64_t generation;     /* a wish that is older than the last one is ignored */
} tkt_cuda_wish;

/* A call of the program's into CUDA that launches, copies, allocates or waits, when it returns. */
typedef struct tkt_cuda_call {
    const char *name;        /* "cudaLaunchKernel"; static */
    uint64_t    begin_ticks;
    uint64_t    end_ticks;
    uint32_t    correlation;
    int32_t     result;      /* cudaError_t or CUresult */
    bool        is_driver;
    bool        is_capturing; /* a stream was being captured: it may have launched nothing */
    const void *caller;       /* where CUPTI, or the program, goes on */
} tkt_cuda_call;

/* Told on the thread that made the call; must not block nor call CUDA. Set once, before the first
 * wish. */
void tkt_cuda_on_call(void (*on_call)(const tkt_cuda_call *call));

/* Switches to this wish and waits until it holds, at most 5 s. Never fails: what could not be had
 * is in tkt_cuda_state(). Hold no lock. In a program that does not use CUDA it costs a look at the
 * loaded libraries. */
void tkt_cuda_want(const tkt_cuda_wish *wish);

/* Whether this process uses CUDA: libcuda or a libcudart is loaded, or the executable or one of its
 * libraries contains device code. */
bool tkt_cuda_is_used(void);

typedef struct tkt_cuda_status {
    tkt_backend backend;
    char text[64];     /* as reports tell it: "CUPTI 13.0 (130001)", "CUDA events", "none" */
    char reason[256];  /* why it is not CUPTI, and what to do; "" */
} tkt_cuda_status;
tkt_cuda_status tkt_cuda_status_now(void);

/* True when CUPTI may have given what graphs launched the ids of other calls, so that their scopes
 * may be wrong: see docs/cuda.md. */
bool tkt_cuda_are_graphs_unsure(void);

/* Highest correlation id that was given to on_call so far. */
uint32_t tkt_cuda_last_correlation(void);

/* Waits on the calling thread until all devices with a live context are idle; wakes none up. Not
 * while a stream is being captured, as far as that is known: TAKT_BAD_STATE then. */
takt_status tkt_cuda_synchronize(void);

/* Free and total bytes of a device's memory; false without a live context on it. */
bool tkt_cuda_memory(uint32_t device, uint64_t *free_bytes, uint64_t *total_bytes);

#endif
