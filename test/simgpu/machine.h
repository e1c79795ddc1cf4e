/* What the faces of the simulator, libcuda and libcudart, ask it to do. Statuses are the driver's
 * numbers, which are the runtime's as well. Handles of the program are pointers to these
 * objects. */
#ifndef SIM_MACHINE_H
#define SIM_MACHINE_H

#include "sim.h"
#include "sim_calls.h"

enum {
    SIM_OK = 0,
    SIM_INVALID_VALUE = 1,
    SIM_UPDATE_FAILED = 910,
    SIM_OUT_OF_MEMORY = 2,
    SIM_NOT_INITIALIZED = 3,
    SIM_NO_DEVICE = 100,
    SIM_INVALID_DEVICE = 101,
    SIM_INVALID_CONTEXT = 201,
    SIM_INVALID_HANDLE = 400,
    SIM_NOT_FOUND = 500,
    SIM_NOT_READY = 600,
    SIM_NOT_SUPPORTED = 801,
    SIM_CAPTURE_UNSUPPORTED = 900,
    SIM_CAPTURE_INVALIDATED = 901,
    SIM_CAPTURE_MERGE = 902,
    SIM_CAPTURE_UNMATCHED = 903,
    SIM_CAPTURE_UNJOINED = 904,
    SIM_CAPTURE_ISOLATION = 905,
    SIM_CAPTURE_IMPLICIT = 906,
    SIM_CAPTURED_EVENT = 907,
    SIM_CAPTURE_WRONG_THREAD = 908
};

typedef struct sim_context sim_context;
typedef struct sim_stream sim_stream;
typedef struct sim_event sim_event;
typedef struct sim_graph sim_graph;
typedef struct sim_node sim_node;
typedef struct sim_exec sim_exec;
typedef struct sim_pool sim_pool;
typedef struct sim_function sim_function;

/* The default streams, as handles; so is NULL. */
#define SIM_LEGACY     ((sim_stream *)(uintptr_t)1)
#define SIM_PER_THREAD ((sim_stream *)(uintptr_t)2)

/* Calls: tells the sink. Entering returns the status that a script wants, or SIM_OK; leaving
 * delivers what the call has caused and returns `status`. */
SIM_API int sim_enter(sim_call *call, sim_function_id function, const void *params);
SIM_API int sim_enter_launch(sim_call *call, sim_function_id function, const void *params,
                             const sim_function *kernel);
SIM_API int sim_leave(sim_call *call, int status);

/* Sets what a thread does when a call has delivered what it caused, before it tells the sink that
 * it returns; NULL: nothing. */
SIM_API void sim_before_return(void (*act)(const sim_call *call));

/* cuInit(): loads CUDA_INJECTION64_PATH the first time. SIM_NO_DEVICE without devices. */
SIM_API int sim_initialise(void);

/* Contexts. Each thread has a stack of current ones. */
SIM_API int sim_context_create(int device, sim_context **out);
SIM_API int sim_context_destroy(sim_context *context);
SIM_API sim_context *sim_context_get(void);
SIM_API int sim_context_set(sim_context *context);
SIM_API int sim_context_push(sim_context *context);
SIM_API int sim_context_pop(sim_context **out);
SIM_API int sim_context_device(sim_context *context, int *device); /* NULL: the current one */
SIM_API int sim_context_synchronize(sim_context *context);
SIM_API int sim_primary_retain(int device, sim_context **out);
SIM_API int sim_primary_release(int device);
SIM_API int sim_primary_reset(int device);
SIM_API int sim_primary_is_active(int device, bool *is_active);

/* Streams and events; flags are CUDA's. */
SIM_API int sim_stream_create(unsigned flags, int priority, sim_stream **out);
SIM_API int sim_stream_destroy(sim_stream *stream);
SIM_API int sim_stream_synchronize(sim_stream *stream);
SIM_API int sim_stream_query(sim_stream *stream);
SIM_API int sim_stream_wait(sim_stream *stream, sim_event *event, unsigned flags);
SIM_API int sim_stream_context(sim_stream *stream, sim_context **out);
SIM_API int sim_event_create(unsigned flags, sim_event **out);
SIM_API int sim_event_destroy(sim_event *event);
SIM_API int sim_event_record(sim_event *event, sim_stream *stream, unsigned flags);
SIM_API int sim_event_record_context(sim_event *event, sim_context *context);
SIM_API int sim_event_query(sim_event *event);
SIM_API int sim_event_synchronize(sim_event *event);
SIM_API int sim_event_elapsed(float *ms, sim_event *begin, sim_event *end);

/* cuProfilerStart() and cuProfilerStop() in the current context. */
SIM_API int sim_profiling_switch(bool is_on);

/* Capture; modes are CUDA's: 0 global, 1 of the thread, 2 relaxed. */
typedef struct sim_capture_state {
    int       status; /* 0 none, 1 active, 2 invalidated */
    uint64_t  id;
    sim_graph *graph;
    sim_node *const *nodes; /* what the next work of the stream depends on */
    size_t    node_count;
} sim_capture_state;
SIM_API int sim_capture_begin(sim_stream *stream, int mode);
SIM_API int sim_capture_begin_in(sim_stream *stream, sim_graph *graph, sim_node *const *after,
                                 size_t after_count, int mode);
SIM_API int sim_capture_end(sim_stream *stream, sim_graph **out);
SIM_API int sim_capture_look(sim_stream *stream, sim_capture_state *out);
SIM_API int sim_capture_mode(int *mode); /* exchanges */

/* Work: what a stream or a node of a graph does. */
typedef enum sim_work_type { /* as CUgraphNodeType */
    SIM_WORK_KERNEL = 0,
    SIM_WORK_COPY = 1,
    SIM_WORK_SET = 2,
    SIM_WORK_HOST = 3,
    SIM_WORK_GRAPH = 4,
    SIM_WORK_EMPTY = 5,
    SIM_WORK_WAIT = 6,
    SIM_WORK_RECORD = 7,
    SIM_WORK_ALLOCATE = 10,
    SIM_WORK_FREE = 11,
    SIM_WORK_CONDITION = 13
} sim_work_type;

enum { /* as cudaMemcpyKind */
    SIM_HOST_TO_HOST,
    SIM_HOST_TO_DEVICE,
    SIM_DEVICE_TO_HOST,
    SIM_DEVICE_TO_DEVICE,
    SIM_BY_ADDRESS
};

typedef struct sim_work {
    sim_work_type type;
    bool          is_async;
    uint32_t      rounds; /* of a condition: how often its body runs */
    union {
        struct {
            sim_function *function;
            uint32_t grid[3];
            uint32_t block[3];
            uint32_t cluster[3]; /* 0: none */
            uint32_t dynamic_shared_bytes;
            bool     is_cooperative;
            void   **args;
        } kernel;
        struct { /* rows of `bytes` */
            void       *target;
            const void *source;
            size_t      bytes;
            size_t      rows;
            size_t      target_pitch;
            size_t      source_pitch;
            int         direction;
        } copy;
        struct {
            void    *target;
            uint32_t value;
            uint32_t element_bytes; /* 1, 2 or 4 */
            size_t   count;
        } set;
        struct {
            void (*call)(void *data);
            void *data;
        } host;
        sim_event *event;
        sim_graph *graph; /* a child, or the body of a condition */
        void      *memory;
    } is;
} sim_work;

/* Gives the stream work, or its capture a node. Waits for the end unless is_async. */
SIM_API int sim_submit(sim_stream *stream, const sim_work *work);

/* Kernels, by mangled name; the same for the same name, and for ever. NULL name: NULL. */
SIM_API sim_function *sim_function_of(const char *name);
SIM_API const char *sim_function_name(const sim_function *function);

typedef struct sim_function_facts {
    uint32_t registers;
    uint32_t static_shared_bytes;
    uint32_t local_bytes;
} sim_function_facts;
SIM_API void sim_function_look(const sim_function *function, sim_function_facts *out);

/* What launching the kernel does: called with the launch's arguments on the thread that launches.
 * Arguments are copied into graphs if their sizes are known; `sizes` must live for ever. */
SIM_API void sim_kernel_work(const char *name, void (*work)(const sim_work *launch),
                             const size_t *sizes, size_t count);

/* Graphs. */
SIM_API int sim_graph_create(sim_graph **out);
SIM_API int sim_graph_clone(sim_graph *graph, sim_graph **out);
SIM_API int sim_graph_destroy(sim_graph *graph);
SIM_API int sim_graph_add(sim_graph *graph, sim_node *const *after, size_t after_count,
                          const sim_work *work, sim_node **out);
SIM_API int sim_graph_connect(sim_graph *graph, sim_node *const *from, sim_node *const *to,
                              size_t count);
/* Of a condition: the array of one body that CUDA owns, which is empty at first. */
SIM_API sim_graph **sim_node_bodies(sim_node *node);
/* As cudaGraphGetNodes(): nodes NULL asks for the count. */
SIM_API int sim_graph_list(sim_graph *graph, bool roots_only, sim_node **nodes, size_t *count);
SIM_API int sim_node_type(sim_node *node, int *type);
SIM_API int sim_graph_instantiate(sim_graph *graph, sim_exec **out);
/* The exec takes over the graph's nodes; SIM_UPDATE_FAILED if it has others in number or kind. */
SIM_API int sim_exec_update(sim_exec *exec, sim_graph *graph);
SIM_API int sim_graph_launch(sim_exec *exec, sim_stream *stream);
SIM_API int sim_exec_destroy(sim_exec *exec);

/* Memory; kinds as CUpti_ActivityMemoryKind. */
enum {
    SIM_PAGEABLE = 1,
    SIM_PINNED = 2,
    SIM_DEVICE = 3,
    SIM_MANAGED = 5
};
typedef struct sim_allocation {
    char    *begin;
    size_t   bytes;
    int      kind;
    uint32_t device;
    sim_context *context;
    sim_pool *pool;
    bool     is_registered; /* the program's own memory */
} sim_allocation;
SIM_API int sim_allocate(int kind, size_t bytes, void **out);
SIM_API int sim_register(void *memory, size_t bytes);
SIM_API int sim_free(void *memory, bool is_host);
SIM_API int sim_allocate_async(sim_pool *pool, size_t bytes, sim_stream *stream, void **out);
SIM_API int sim_free_async(void *memory, sim_stream *stream);
SIM_API bool sim_allocation_of(const void *memory, sim_allocation *out);
SIM_API int sim_memory_info(size_t *free_bytes, size_t *total_bytes);

typedef struct sim_pool_facts {
    uint64_t threshold;
    uint64_t reserved;
    uint64_t reserved_high;
    uint64_t used;
    uint64_t used_high;
} sim_pool_facts;
SIM_API int sim_pool_default(int device, sim_pool **out);
SIM_API int sim_pool_current(int device, sim_pool **out);
SIM_API int sim_pool_choose(int device, sim_pool *pool);
SIM_API int sim_pool_create(int device, sim_pool **out);
SIM_API int sim_pool_destroy(sim_pool *pool);
SIM_API int sim_pool_trim(sim_pool *pool, size_t keep_bytes);
SIM_API int sim_pool_threshold(sim_pool *pool, uint64_t bytes);
SIM_API int sim_pool_look(sim_pool *pool, sim_pool_facts *out);

/* For the faces: arguments of eight bytes each, as generated_cuda_meta.h and
 * generated_cuda_runtime_api_meta.h have them one behind the other. */
#define WORD(argument)  ((uint64_t)(uintptr_t)(argument))
#define WORDS(...)      ((const uint64_t[]){__VA_ARGS__})

#endif
