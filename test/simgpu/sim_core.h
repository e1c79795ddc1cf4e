/* The objects of the simulator, for its own files. One lock guards them all; it is never held while
 * the sink or a function of the program's is called. */
#ifndef SIM_CORE_H
#define SIM_CORE_H

#include "machine.h"

#include <pthread.h>

#define SIM_NO_STREAM 0xFFFFFFFFu
#define SIM_NULL_STREAM_ID 7u

/* How long a listed option says that something takes, or `otherwise`: the entry for this device if
 * there is one, the last that fits. A list is used in turn. With the lock. */
uint64_t sim_option_duration(const char *group, const char *name, int device, uint64_t otherwise);

/* A number of an option that may be given for one device: "clock.drift@1". */
int64_t sim_option_on(const char *name, int device, int64_t otherwise);

/* A number for a kernel: "registers.PATTERN". */
int64_t sim_option_of_kernel(const char *group, const char *kernel, int64_t otherwise);

void sim_wait_until(uint64_t time_ns);

/* A device's error, which stays until the device is reset: from this time on, nothing that is
 * unfinished finishes, and waits end at once. */
void sim_break(uint64_t time_ns, int status);
void sim_mend(void);

/* The status with which calls of `function` now fail because of such an error, or 0. What asks the
 * driver alone, and what ends the error, does not fail. */
int sim_error(const char *function);

/* Whether a handle is one of these objects, and alive. With the lock. */
typedef enum sim_object {
    SIM_A_CONTEXT = 1,
    SIM_A_STREAM,
    SIM_AN_EVENT,
    SIM_A_GRAPH,
    SIM_A_NODE,
    SIM_AN_EXEC,
    SIM_A_POOL
} sim_object;
bool sim_is(const void *handle, sim_object object);
void sim_born(void *handle, sim_object object);
void sim_died(const void *handle);
void sim_each(sim_object object, void (*visit)(void *handle, void *data), void *data);

void sim_lock(void);
void sim_unlock(void);

/* Memory that is there or the process is not. */
void *sim_new(size_t bytes);
void *sim_grow(void *items, size_t count, size_t item_bytes); /* room for one more than count */

/* What the sink is to hear when the call ends, or at sim_tell(). Fills in correlation and thread.
 * With or without the lock. */
void sim_add_record(const sim_record *record);
void sim_add_resource(const sim_resource *resource);
void sim_tell(void); /* now; without the lock */

struct sim_context {
    uint32_t id;
    uint32_t device;
    bool     is_primary;
    bool     is_profiled; /* between cuProfilerStart() and cuProfilerStop() */
    uint32_t next_stream_id;
    uint64_t ready_ns; /* of streams that are gone */
    sim_stream *legacy;
    sim_stream **streams; /* all */
    size_t   stream_count;
};

typedef struct sim_capture {
    uint64_t    id;
    sim_graph  *graph;
    sim_stream *origin;
    int         mode;
    uint32_t    thread;
    bool        is_invalid;
} sim_capture;

struct sim_stream {
    sim_context *context;
    uint32_t id;
    uint32_t thread; /* of a thread's default stream */
    unsigned flags;  /* 1: non-blocking */
    int      priority;
    bool     is_default;
    uint64_t ready_ns;
    sim_capture *capture;
    sim_node **last; /* while capturing: what the next work depends on */
    size_t   last_count;
};

struct sim_event {
    uint32_t id;
    sim_context *context;
    unsigned flags; /* 1 blocking, 2 no timing */
    bool     is_recorded;
    bool     is_captured; /* last recorded in a capture */
    uint64_t time_ns;
    uint64_t sync_id; /* of the last record; 0: never recorded */
    uint64_t capture; /* id of the capture */
    sim_node **last;
    size_t   last_count;
};

struct sim_node {
    uint64_t id;
    sim_graph *graph; /* NULL: of an executable graph */
    sim_node *original;
    sim_work work;
    size_t   arg_count; /* copied arguments of a kernel */
    sim_node **after;
    size_t   after_count;
    size_t   order; /* while sorting: position + 1 */
    uint32_t lane;  /* of executable graphs: which of their streams */
    bool     is_by_device; /* of executable graphs: in the body of a condition */
    uint64_t end_ns;
};

struct sim_graph {
    uint32_t id;
    bool     is_child; /* owned by a node */
    sim_node **nodes;
    size_t   node_count;
};

struct sim_exec {
    uint32_t id;
    sim_node **nodes; /* in an order that keeps to the edges */
    size_t   node_count;
    uint32_t *stream_ids; /* of lanes; the first is the launch's stream */
    uint32_t lane_count;
    uint64_t ready_ns;
};

struct sim_function {
    char *name;
    bool is_loaded;
    void (*work)(const sim_work *launch);
    const size_t *arg_bytes;
    size_t arg_count;
};

typedef struct sim_engine {
    uint64_t ready_ns;
} sim_engine;

struct sim_pool {
    uint32_t device;
    bool     is_default;
    sim_pool_facts facts;
};

typedef struct sim_device {
    sim_device_info info;
    sim_engine   copy_in;  /* host to device */
    sim_engine   copy_out; /* device to host, and to other devices */
    sim_context *primary;
    unsigned     primary_users;
    sim_pool    *default_pool;
    sim_pool    *pool;
    uint64_t     used_bytes;
} sim_device;

/* What a thread is in the middle of. */
typedef struct sim_thread {
    uint32_t     id;
    sim_context *contexts[16];
    size_t       context_count;
    sim_call    *call;
    int          capture_mode; /* 0: as if it were not for this thread */
} sim_thread;
sim_thread *sim_this_thread(void);
sim_context *sim_context_here(void); /* sim_context_get() with the lock */

sim_device *sim_device_of(int device); /* NULL: no such device */

/* The stream of a handle, or NULL; default streams of the current context are made when they are
 * first asked for. With the lock. */
sim_stream *sim_stream_resolve(sim_stream *stream);
uint64_t sim_stream_ready(const sim_stream *stream);
void sim_stream_kill(sim_stream *stream);
uint64_t sim_context_ready(const sim_context *context);

/* Plans work and says what follows; with the lock. Returns its end. */
typedef struct sim_place {
    const sim_stream *stream;
    uint32_t stream_id;
    uint32_t graph;
    uint64_t graph_node;
    bool     is_by_device;
    uint64_t earliest_ns;
} sim_place;
uint64_t sim_plan(const sim_work *work, const sim_place *place, uint64_t *begin_ns);
void sim_do(const sim_work *work); /* without the lock */
int sim_work_check(const sim_work *work); /* with the lock */

/* Capture, with the lock. */
int sim_capture_add(sim_stream *stream, const sim_work *work, sim_node **out);
/* Refuses what must not be done while a capture could depend on it, and invalidates that one.
 * context: of a wait for all of it; NULL: of something else that is unsafe. */
int sim_capture_refuse(const sim_context *context);
int sim_capture_refuse_on(sim_stream *stream); /* a wait or query on this stream */
int sim_capture_implicit(const sim_stream *stream); /* use of the legacy stream */
int sim_capture_wait(sim_stream *stream, sim_event *event, unsigned flags);
void sim_capture_record(sim_stream *stream, sim_event *event);
sim_node *sim_node_add(sim_graph *graph, sim_node *const *after, size_t count,
                       const sim_work *work);

const sim_allocation *sim_allocation_find(const void *memory); /* with the lock */
void sim_pools_rest(uint32_t device); /* with the lock: a wait has given back what is free */
void sim_memory_forget(const sim_context *context);
void sim_wait_record(uint32_t type, uint64_t begin_ns, uint32_t context, uint32_t stream,
                     uint32_t event, uint64_t sync_id);

#endif
