/* Builds a trace from the events of another profiler's file, which come in any order. The reader of
 * each format calls the functions below, then imp_build_finish(), which nests the spans of each
 * thread, joins calls and activities, and finishes the trace.
 *
 * Nothing here fails but for want of memory, which imp_build_finish() reports: functions that
 * return an index may return one that is not valid then, and the others ignore it. */
#ifndef TKT_IMPORT_BUILD_H
#define TKT_IMPORT_BUILD_H

#include "base/containers.h"
#include "base/error.h"
#include "trace/model.h"

#include <takt/trace.h>

#define IMP_NOTHING UINT32_MAX

/* ======== Rows ======== */

/* The events of one thread of one process. */
typedef struct imp_row {
    uint64_t key;
    uint32_t track;   /* IMP_NOTHING until it has a span */
    uint32_t process; /* number of its process */
    uint32_t name;    /* string; 0: none */
    uint32_t thread_id;
    bool is_main;                /* the thread with the process's number */
    TKT_ARRAY_OF(uint32_t) open; /* spans that have begun and not ended */
} imp_row;

typedef struct imp_process {
    uint32_t id;   /* the system's number */
    uint32_t name; /* string, where the file has a text instead of a number; 0: none */
    bool is_rank;  /* its name is a rank's */
    bool is_device;   /* the file has a device's events under a process of its own */
    bool is_gpu;      /* a device with streams of kernels and copies */
    uint32_t ordinal; /* of a GPU; IMP_NOTHING: its threads are the devices */
} imp_process;

/* ======== Building ======== */

typedef struct imp_memory {
    uint64_t time_ns;
    int64_t bytes;
    int64_t total_bytes; /* allocated after it; -1: unknown */
    uint32_t device;     /* string; 0: the host */
    uint32_t reserved;
} imp_memory;

typedef struct imp_grid {
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t process; /* number of the call's; IMP_NOTHING: calls of several have this id */
} imp_grid;

/* What a span shows. Strings of the trace; 0: none. */
typedef struct imp_what {
    uint32_t name;
    uint32_t category;
    uint32_t file;
    uint32_t line;
    uint32_t filter; /* of a host activity: one TAKT_TIMING_ bit */
    uint32_t device; /* of a host activity */
    takt_site_kind kind;
} imp_what;

typedef struct imp_caller {
    uint32_t process;
    uint32_t operator_id; /* as in imp_call */
} imp_caller;

/* A device of one of several ranks. */
typedef struct imp_rank_device {
    uint32_t process; /* number of the rank's */
    uint32_t number;  /* as the rank counts */
    uint32_t ordinal; /* as the trace counts */
} imp_rank_device;

#define IMP_RECENT 256u

typedef struct imp_build {
    takt_trace *trace;
    bool is_short; /* of memory */
    struct {
        imp_what what;
        uint32_t site;
    } recent[IMP_RECENT]; /* sites found lately, by a hash; 0: none */
    TKT_ARRAY_OF(imp_row) rows;
    tkt_map row_index; /* key -> number + 1 */
    TKT_ARRAY_OF(imp_process) processes;
    tkt_map process_index;                 /* key -> number + 1 */
    uint64_t last_row_key;                 /* of the row that was asked for last, */
    uint32_t last_row;                     /* and its number + 1; 0: none yet */
    uint64_t last_process_key;             /* of the process that was asked for last, */
    uint32_t last_process;                 /* and its number + 1; 0: none yet */
    TKT_ARRAY_OF(imp_caller) callers;      /* by call */
    tkt_map track_index;                   /* string -> async track + 1 */
    tkt_map shape_index;                   /* hash -> shape + 1 */
    tkt_map kernel_labels;                 /* full name -> TAKT_TIMING_ bit << 32 | label */
    TKT_ARRAY_OF(imp_memory) memory;       /* allocations, with what the file says of them */
    tkt_map grid_index;                    /* correlation -> index into `grids` + 1 */
    TKT_ARRAY_OF(imp_rank_device) rank_devices;
    tkt_map large_streams;                 /* a stream's number beyond 32 bits -> here */
    TKT_ARRAY_OF(imp_grid) grids;          /* that calls have, for kernels that have none */
    uint32_t python;                       /* string: category of Python functions; 0: none */
    uint32_t step_process;                 /* number of the process that marked steps + 1; 0: none */
    bool has_all_steps;                    /* trace->all_steps are complete */
    bool has_own_times;                    /* Takt recorded them, and has judged them */
    char note[200];                        /* what was left out, for the user; or "" */
    uint64_t first_ns;                     /* of all events; judged activities come last */
    uint64_t last_ns;
} imp_build;

takt_status imp_build_init(imp_build *build);

/* Completes the trace and gives it to *out. `backend` says who recorded it. Call it once, then only
 * imp_build_fini(). TAKT_NO_MEMORY. */
takt_status imp_build_finish(imp_build *build, const char *name, const char *backend,
                             takt_trace **out);
void imp_build_fini(imp_build *build);

/* A string of the trace. */
uint32_t imp_build_string(imp_build *build, const char *bytes, size_t size);

/* Adds to the note. */
void imp_build_note(imp_build *build, const char *format, ...) TKT_PRINTF(2, 3);

/* Makes the recording as long as this, for an event that is not added. */
void imp_build_extend(imp_build *build, uint64_t begin_ns, uint64_t end_ns);

/* The number of the process with this key, added with the system's number if it is new.
 * IMP_NOTHING without memory. */
uint32_t imp_build_process(imp_build *build, uint64_t key, uint32_t id);

/* The row with this key, which the caller makes from process and thread, added to the process of
 * this number if it is new. Valid until the next call. NULL without memory. */
imp_row *imp_build_row(imp_build *build, uint64_t key, uint32_t process, uint32_t thread_id);

/* ======== Host ======== */

/* The end of a span that has not ended yet. */
#define IMP_OPEN UINT64_MAX

/* Adds a span to a thread; returns its number on the row's track. */
uint32_t imp_build_span(imp_build *build, imp_row *row, const imp_what *what, uint64_t begin_ns,
                        uint64_t end_ns);

/* Adds a span to the track of this name, on which spans may overlap. Returns the track. */
uint32_t imp_build_async(imp_build *build, uint32_t track_name, const imp_what *what,
                         uint64_t begin_ns, uint64_t end_ns);

/* Begins and ends spans whose ends are events of their own. imp_build_end() returns false if no
 * span is open. */
void imp_build_begin(imp_build *build, imp_row *row, const imp_what *what, uint64_t begin_ns);
bool imp_build_end(imp_build *build, imp_row *row, uint64_t end_ns);

/* Adds an argument to a span of a track; its key and value are complete but for the span. */
void imp_build_arg(imp_build *build, uint32_t track, uint32_t span, const tkt_arg *arg);

typedef struct imp_call {
    uint32_t correlation; /* counts in the row's process; 0: none */
    uint32_t operator_id; /* number that the file gives the operator; 0: none */
    int32_t result;
} imp_call;

/* Describes a span of kind TAKT_SITE_CALL. */
void imp_build_call(imp_build *build, const imp_row *row, uint32_t span, const imp_call *call);

void imp_build_mark(imp_build *build, imp_row *row, const imp_what *what, uint64_t time_ns);
void imp_build_counter(imp_build *build, imp_row *row, uint32_t name, uint64_t time_ns,
                       double value);

/* One end of an arrow between threads. */
void imp_build_flow(imp_build *build, imp_row *row, uint64_t id, bool is_end, uint64_t time_ns);

/* Adds a step. `process` is the number of the process that marked it: where several do, those of the
 * first one count, as each numbers its own. */
void imp_build_step(imp_build *build, uint32_t process, uint64_t number, uint64_t begin_ns,
                    uint64_t end_ns);

/* ======== Devices ======== */

/* The device with this number, added with its label if it is new; NULL without memory, and from
 * TKT_MOST_DEVICES on. Valid until the next call. */
tkt_device *imp_build_device(imp_build *build, uint64_t ordinal);

/* The ordinal of a rank's device: the rank's own number if no other rank has it, or else the first one
 * that is free. `process`: the rank's, or IMP_NOTHING in files of one rank. IMP_NOTHING: there are too
 * many devices, or no memory. */
uint32_t imp_build_ordinal(imp_build *build, uint32_t process, uint32_t number);

/* False for what a device did at no time, which is counted as a loss. */
bool imp_build_has_time(imp_build *build, uint64_t begin_ns, uint64_t end_ns);

/* Adds an activity, whose times imp_build_finish() judges. Its shape is filled in but for the label; `shape->name` is a kernel's full
 * name. `process` is the number of the process that launched it, or IMP_NOTHING. */
typedef struct imp_work {
    uint64_t begin_ns;
    uint64_t end_ns;
    uint32_t device; /* ordinal */
    uint32_t context;
    uint32_t stream;
    uint32_t correlation;
    uint32_t operator_id; /* as in imp_call; leads to the call if there is no correlation */
    uint32_t process;
    tkt_shape shape;
} imp_work;

void imp_build_work(imp_build *build, const imp_work *work);

/* The number of a stream that has this one in the file: the same up to IMP_LARGE_STREAM. Handles, which
 * may need 64 bits, count from there. */
#define IMP_LARGE_STREAM 1000000u
uint32_t imp_build_stream(imp_build *build, uint64_t number);

/* Fills in what follows from the compute capability of one of NVIDIA's devices, unless it is known. */
void imp_build_capability(tkt_device *device);

/* Adds a wait; its call is found by correlation and process. */
void imp_build_wait(imp_build *build, const tkt_wait *wait, uint32_t process);
void imp_build_overhead(imp_build *build, const char *name, uint32_t thread, uint64_t begin_ns,
                        uint64_t end_ns);

/* Says which grid a call launched. If calls of two processes have this id, none of theirs counts.
 */
void imp_build_grid(imp_build *build, uint32_t correlation, const imp_grid *grid);

/* Adds an allocation or a free. `device` of `memory` is a label, or 0 for the host. */
void imp_build_memory(imp_build *build, imp_row *row, const imp_memory *memory, uint64_t address);

/* ======== Finishing ======== */

/* Parts of imp_build_finish(). TAKT_NO_MEMORY. */

/* Gives the devices of ranks the names and properties of those with the rank's numbers. */
takt_status imp_finish_devices(imp_build *build);

/* Leaves out activities whose times cannot be. */
takt_status imp_finish_times(imp_build *build);

/* Gives kernels without a grid that of their call, and kernels without an occupancy that which
 * follows from their device: the file may tell both behind the kernel. */
takt_status imp_finish_kernels(imp_build *build);

/* Finds the calls of activities, and makes their ids unique. */
takt_status imp_finish_calls(imp_build *build);

/* Adds up the allocations. */
takt_status imp_finish_memory(imp_build *build);

/* Puts the spans of all threads in order and finds their parents. Of spans that cross, one moves to
 * a track of its own and is counted as a loss. */
takt_status imp_nest(imp_build *build);

/* Adds waits of the main thread for the engine of torch.autograd, before imp_nest(). TAKT_NO_MEMORY
 * (build_waits.c). */
takt_status imp_add_waits(imp_build *build);

#endif
