/* The simulated machine under the stand-ins: devices, contexts, streams, events, graphs and memory
 * on virtual time. It is libtaktsim.so; libcudart, libcuda and libcupti of this folder are thin
 * faces over it and keep no state of their own, so that they agree with one another as the real
 * ones do.
 *
 * Time. A launch computes at once when the work will begin and end on its device, in nanoseconds of
 * sim_time_ns(), which is CLOCK_MONOTONIC. Nothing runs in the background: synchronising sleeps
 * until that time has come. CUPTI's clock, and each device's idea of it, are views of this time
 * line: sim_now_ns() and sim_stamp_ns().
 *
 * The sink is what listens: libcupti. It is called on the thread of the program's call, without any
 * lock of the simulator's, so it may call everything here. */
#ifndef SIM_H
#define SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_API __attribute__((visibility("default")))

#define SIM_MAX_DEVICES 16

/* Options ------------------------------------------------------------------------------------- */

/* The value of an option in TAKT_SIM or the file TAKT_SIM_SCRIPT, or NULL. The last one counts.
 * Names that begin with "cupti." are libcupti's; the README lists the others. */
SIM_API const char *sim_option(const char *name);

/* The same as a number, with the units ns us ms s KiB MiB GiB; `otherwise` without it. */
SIM_API int64_t sim_option_number(const char *name, int64_t otherwise);

/* Another one after each sim_script(). */
SIM_API const void *sim_current_script(void);

/* The status that this call of `function` is to fail with, or 0. Counts the call: "fault=F@3=2" is
 * for the third call, "fault=F@3+=2" from the third on, "fault=F=2" for all. The simulator asks
 * for each function of the runtime and the driver itself; libcupti asks for its own. */
SIM_API int sim_fault(const char *function);

/* Reads these options (as TAKT_SIM writes them) on top of the environment's, for tests in one
 * process; NULL goes back to the environment alone. Counts of faults begin anew. Aborts with a
 * message on an option that does not exist. */
SIM_API void sim_script(const char *text);

/* Time ---------------------------------------------------------------------------------------- */

/* The time line of records: CLOCK_MONOTONIC. */
SIM_API uint64_t sim_time_ns(void);

/* While held, time stands still for devices but for what is waited for: work is queued at the time
 * at which holding began, however long the host takes. For tests of order and of scripted
 * durations. */
SIM_API void sim_hold(bool is_held);

/* Now, for devices: sim_time_ns(), unless they are held. */
SIM_API uint64_t sim_device_time_ns(void);

/* CUPTI's clock now: CLOCK_REALTIME with the steps of "clock.step". */
SIM_API uint64_t sim_now_ns(void);

/* What CUPTI would stamp on a record for a time of this time line: CUPTI's clock then, with the
 * offset and drift that the conversion of the device's clock leaves ("clock.offset@N",
 * "clock.drift@N"). device < 0: a time of the host. */
SIM_API uint64_t sim_stamp_ns(int device, uint64_t time_ns);

/* What a tool hears that records only where the program says so (cuProfilerStart, cuProfilerStop):
 * how many calls of each there were, in all contexts, and whether the current context is in a range
 * of its. */
typedef struct sim_profiling {
    uint32_t starts;
    uint32_t stops;
    bool     is_on;
} sim_profiling;
SIM_API sim_profiling sim_profiling_now(void);

/* Calls --------------------------------------------------------------------------------------- */

typedef enum sim_domain {
    SIM_DRIVER = 1, /* as CUPTI_CB_DOMAIN_DRIVER_API */
    SIM_RUNTIME = 2
} sim_domain;

/* A call of the program's. The same object is given on entering and on leaving. */
typedef struct sim_call {
    sim_domain  domain;
    uint32_t    cbid;
    const char *function;    /* "cudaLaunchKernel", without version */
    const void *params;      /* as generated_cuda*_meta.h lays them out; may be NULL */
    uint32_t    correlation; /* a call inside another has that one's; see "driver.ids" */
    uint32_t    thread;      /* gettid() */
    void       *context;     /* handle of the current context, NULL before there is one */
    uint32_t    context_id;
    const char *kernel;      /* of launches: mangled name, valid for ever; otherwise NULL */
    uint64_t    begin_ns;    /* sim_time_ns() on entering */
    uint64_t    end_ns;      /* on leaving */
    int         result;      /* on leaving */
    uint64_t    slot[2];     /* for the sink: 0 on entering, as it was left on leaving */
    struct sim_call *outer;  /* the call that this one was made in, or NULL */
} sim_call;

/* The whole name of a simulated function by its callback id, "cudaLaunchKernel_v7000", or NULL. */
SIM_API const char *sim_callback_name(sim_domain domain, uint32_t cbid);

/* Records ------------------------------------------------------------------------------------- */

typedef enum sim_kind {
    SIM_KERNEL,
    SIM_MEMCPY,      /* also between devices: copy_kind 10 */
    SIM_MEMSET,
    SIM_GRAPH,       /* a whole graph launch, given besides the records of its nodes */
    SIM_MEMORY,      /* an allocation (operation 1) or a free (2) */
    SIM_POOL,        /* a pool created 1, destroyed 2, trimmed 3 */
    SIM_SYNC,        /* a wait: sync_type */
    SIM_OVERHEAD,
    SIM_CUDA_EVENT   /* an event was recorded */
} sim_kind;

/* Given when the call is made. What it describes may not have begun yet: it is complete as soon as
 * sim_time_ns() >= end_ns. Fields that do not apply are 0. */
typedef struct sim_record {
    sim_kind kind;
    uint64_t begin_ns; /* of sim_time_ns(); of memory and pools the time of the operation */
    uint64_t end_ns;
    uint32_t correlation;
    uint32_t device;
    uint32_t context;
    uint32_t stream;
    uint32_t thread;        /* of the call */
    uint32_t graph;         /* id of the executable graph */
    uint64_t graph_node;    /* id of its node */
    bool     is_async;
    /* kernels */
    const char *name;       /* mangled, valid for ever */
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t cluster[3];
    uint32_t static_shared_bytes;
    uint32_t dynamic_shared_bytes;
    uint32_t local_bytes;   /* per thread */
    uint16_t registers;
    uint8_t  launch_type;   /* 0 regular, 1 cooperative */
    uint64_t grid_id;
    /* copies and sets */
    uint64_t bytes;         /* also of memory */
    uint8_t  copy_kind;     /* as CUpti_ActivityMemcpyKind */
    uint8_t  source_kind;   /* as CUpti_ActivityMemoryKind, also of memory */
    uint8_t  target_kind;   /* of memsets the memory's */
    uint32_t value;
    uint32_t source_device; /* of copies between devices */
    uint32_t source_context;
    uint32_t target_device;
    uint32_t target_context;
    /* memory and pools */
    uint32_t operation;
    uint64_t address;
    uint64_t pool_address;  /* 0: no pool */
    uint64_t pool_size;     /* reserved */
    uint64_t pool_used;
    uint64_t pool_threshold;
    /* waits (0xFFFFFFFF: does not apply) and events */
    uint32_t sync_type;     /* 1 event, 2 stream waits for event, 3 stream, 4 context */
    uint32_t event;
    uint64_t sync_id; /* of an event's record, and of waits for it */
    int      result;
    bool     is_by_device; /* in the body of a condition */
    /* overhead */
    uint32_t overhead_kind; /* as CUpti_ActivityOverheadKind */
} sim_record;

/* Resources ----------------------------------------------------------------------------------- */

typedef enum sim_resource_kind {
    SIM_INIT_FINISHED,
    SIM_CONTEXT_CREATED,
    SIM_CONTEXT_DESTROY_STARTING,
    SIM_STREAM_CREATED,
    SIM_STREAM_DESTROY_STARTING,
    SIM_GRAPH_CREATED,
    SIM_GRAPH_CLONED,
    SIM_GRAPH_DESTROY_STARTING,
    SIM_GRAPH_NODE_CREATED,
    SIM_GRAPH_NODE_CLONED,
    SIM_GRAPH_EXEC_CREATED,
    SIM_GRAPH_EXEC_DESTROY_STARTING
} sim_resource_kind;

/* Handles are those that the program sees; NULL does not apply. */
typedef struct sim_resource {
    sim_resource_kind kind;
    void    *context;
    void    *stream;
    void    *graph;
    void    *original_graph; /* of clones */
    void    *node;
    void    *original_node;
    void    *dependency;
    void    *graph_exec;
    uint32_t node_type;      /* as CUgraphNodeType */
    uint32_t correlation;    /* of the call that did it */
} sim_resource;

/* The sink ------------------------------------------------------------------------------------ */

/* All on the program's thread; a NULL function is not called. */
typedef struct sim_sink {
    void (*on_enter)(sim_call *call);
    void (*on_exit)(sim_call *call);
    void (*on_record)(const sim_record *record); /* before on_exit of the call that made it */
    void (*on_resource)(const sim_resource *resource);
} sim_sink;

/* Sets the one sink; NULL takes it away. The object must live for ever. */
SIM_API void sim_set_sink(const sim_sink *sink);

/* State ---------------------------------------------------------------------------------------- */

/* Everything CUPTI and the driver tell about a device. */
typedef struct sim_device_info {
    char     name[64]; /* "Takt simulated GPU 0" */
    uint8_t  uuid[16];
    uint32_t major;
    uint32_t minor;
    uint32_t multiprocessors;
    uint32_t warp_size;
    uint32_t max_threads_per_block;
    uint32_t max_threads_per_multiprocessor;
    uint32_t max_blocks_per_multiprocessor;
    uint32_t registers_per_block;
    uint32_t registers_per_multiprocessor;
    uint32_t shared_per_block;
    uint32_t shared_per_block_optin;
    uint32_t shared_per_multiprocessor;
    uint32_t reserved_shared_per_block;
    uint32_t constant_bytes;
    uint32_t l2_bytes;
    uint32_t clock_khz;
    uint32_t memory_clock_khz;
    uint32_t memory_bus_bits;
    uint32_t copy_engines;
    uint32_t max_block[3];
    uint32_t max_grid[3];
    uint64_t memory_bytes;
    uint64_t memory_bandwidth_kb; /* per second */
    char     pci_bus_id[16];
} sim_device_info;

/* Whether cuInit() has succeeded in this process. */
SIM_API bool sim_is_initialised(void);
SIM_API int sim_device_count(void);
SIM_API const sim_device_info *sim_device_info_of(int device); /* NULL: no such device */

typedef struct sim_context_info {
    void    *handle;
    uint32_t id;     /* from 1 */
    uint32_t device;
    uint32_t null_stream_id; /* 7 */
} sim_context_info;

typedef struct sim_stream_info {
    void    *handle; /* NULL: the default stream */
    void    *context;
    uint32_t context_id;
    uint32_t id;
    int32_t  priority;
    bool     is_default;
    bool     is_non_blocking;
    bool     is_per_thread;
} sim_stream_info;

/* Calls back for everything that lives, without a lock. */
SIM_API void sim_each_context(void (*visit)(const sim_context_info *context, void *data),
                              void *data);
SIM_API void sim_each_stream(void (*visit)(const sim_stream_info *stream, void *data), void *data);

/* The current context of the thread, or NULL. */
SIM_API void *sim_current_context(void);

/* False for handles that are not alive. context NULL: the current one; stream NULL, 1 and 2: the
 * default streams. */
SIM_API bool sim_context_of(void *context, sim_context_info *out);
SIM_API bool sim_stream_of(void *context, void *stream, bool per_thread, sim_stream_info *out);

/* 0 for handles that are not alive. Ids count from 1 and are never used again. */
SIM_API uint32_t sim_graph_id(void *graph);
SIM_API uint32_t sim_graph_exec_id(void *graph_exec);
SIM_API uint64_t sim_graph_node_id(void *node); /* also of nodes of executable graphs */

/* The call that this thread is in, innermost, or NULL. */
SIM_API sim_call *sim_current_call(void);

#endif
