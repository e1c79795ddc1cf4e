/* How often and how long each scope ran, by name (torch's key averages) and by call path, and what
 * devices did for it. Also the names of stack frames. */
#ifndef TKT_SUMMARY_SCOPES_H
#define TKT_SUMMARY_SCOPES_H

#include "summary/device.h"
#include "trace/model.h"

#define TKT_NO_GROUP UINT32_MAX

typedef enum tkt_scope_kind { TKT_KIND_SCOPE, TKT_KIND_CALL, TKT_KIND_ACTIVITY } tkt_scope_kind;

/* All calls of one name, or of one name with the same arguments or call stack. */
typedef struct tkt_scope_total {
    const char *name; /* borrowed from the trace */
    uint64_t    calls;
    uint64_t    total_ns; /* of outermost calls: a recursive call is part of its caller's time */
    uint64_t    self_ns;  /* of all calls: total time less direct children */
    uint64_t    min_ns; /* of whole calls, as the next two; UINT64_MAX: there is none */
    uint64_t    max_ns;
    uint64_t    whole_ns; /* sum of all, recursive ones included */
    uint64_t    pieces;   /* of `calls`: those that the window has cut */
    double      flops; /* declared work */
    double      bytes;
    uint32_t    track; /* by arguments: this call's track; its arguments start at
                        * args.items[first_arg]. By name: of the thread with thread_max_ns (in a
                        * summary its number in the list), unless `threads` is 0 */
    uint32_t    first_arg;
    uint32_t    arg_count;
    uint32_t    kind;           /* tkt_scope_kind */
    uint32_t    stack;          /* by stack: that of one call; TKT_NO_GROUP: none */
    uint64_t    device_self_ns; /* sum of the activities launched directly in it; overlaps count
                                 * twice */
    uint64_t    device_total_ns; /* sum of the activities launched in it and in inner scopes */
    uint64_t    device_sum_ns; /* the same, in which the activities of recursive calls count for each */
    uint64_t    device_busy_ns;  /* time in which any of these ran; 0 unless has_spans */
    uint64_t    waits;           /* calls directly in it that only wait for devices; counted by
                                  * name, without `all` */
    uint64_t    waiting_ns;      /* the time of these calls, a part of self_ns */
    int64_t     host_self_bytes; /* allocated less freed directly in it */
    int64_t     host_bytes;
    int64_t     device_self_bytes;
    int64_t     device_bytes;
    uint64_t thread_min_ns; /* total time of one thread, over those that called it; this and the
                             * next eight: by name */
    uint64_t    thread_max_ns;
    uint64_t    thread_sum_ns;
    uint64_t    thread_min_calls;
    uint64_t    thread_max_calls;
    uint64_t main_ns;    /* total time on the main thread */
    uint32_t    threads; /* number of threads that called it */
    uint32_t    site;    /* one of its sites, or TKT_SITE_OTHER */
    bool is_wait;        /* by name: tkt_site_waits() of one of its sites */
} tkt_scope_total;

typedef struct tkt_scopes {
    TKT_ARRAY(tkt_scope_total); /* in order of first appearance */
    uint64_t self_ns;    /* sum over all scopes; percentages refer to it */
    uint64_t device_ns;  /* sum over all activities of devices */
    bool     has_device; /* there are activities of devices */
    bool     has_host_memory;   /* there are events of host memory, pinned memory included */
    bool     has_device_memory; /* there are events of device memory */
} tkt_scopes; /* starts as {0} */

/* Fills `out` by name, from the folded form. Without `all`, the time of calls into devices'
 * libraries belongs to the calling scope. With `all`, these calls and the activities of devices
 * have rows of their own. TAKT_NO_MEMORY. */
takt_status tkt_scopes_by_name(const takt_trace *trace, bool all, tkt_scopes *out);

/* Like tkt_scopes_by_name(), without busy times and without `all`. */
takt_status tkt_scopes_memory(const takt_trace *trace, tkt_scopes *out);

/* Like tkt_scopes_memory(), without bytes of memory; reads no single activity or event. With one
 * thread both leave out the times by thread. */
takt_status tkt_scopes_sums(const takt_trace *trace, tkt_scopes *out);

/* Fills `out` by name, the `frames` innermost frames of call stacks (0: without them) and, if
 * by_arguments, recorded arguments. TAKT_NO_SPANS, TAKT_NO_MEMORY. */
takt_status tkt_scopes_by_stack(const takt_trace *trace, bool all, uint32_t frames,
                                bool by_arguments, tkt_scopes *out);

/* True if several threads have scopes. */
bool tkt_has_threads(const takt_trace *trace);

/* True if scopes are missing, of some threads more than of others: their times are not of the same
 * stretch, and cannot be compared. */
bool tkt_scopes_mix_times(const takt_trace *trace);

/* The mean time of a call; TKT_NO_VALUE of table.h without a whole one. */
uint64_t tkt_scope_mean_ns(const tkt_scope_total *scope);

void tkt_scopes_fini(tkt_scopes *scopes); /* accepts a zeroed struct */

static inline bool tkt_site_is_call(const takt_trace *trace, uint32_t site)
{
    return trace->sites.items[site].kind == TAKT_SITE_CALL;
}

/* A key that sites of one name share: scopes one, and calls another. */
static inline uint64_t tkt_site_name_key(const takt_trace *trace, uint32_t site)
{
    return (uint64_t)trace->sites.items[site].name * 2 + tkt_site_is_call(trace, site);
}

/* ======== By path ======== */

/* Self and total times by call path: the folded form as a list. */

#define TKT_NO_ROW UINT32_MAX

typedef struct tkt_path {
    const tkt_node *node;   /* borrowed from the trace */
    const char     *name;   /* borrowed from the trace */
    uint64_t        self_ns; /* includes hidden calls into devices' libraries */
    tkt_node_device device;  /* activities launched in it */
    uint32_t        parent; /* index of the parent's row, which comes earlier, or TKT_NO_ROW */
    uint32_t        depth;  /* 0: not inside any other scope */
} tkt_path;

typedef struct tkt_tree {
    TKT_ARRAY(tkt_path); /* parents before children */
    uint64_t self_ns;    /* sum over all paths; percentages refer to it */
    uint64_t device_ns;  /* sum over all activities of devices */
    bool     has_device; /* there are activities of devices */
} tkt_tree; /* starts as {0} */

/* Lists all paths that were called, and the paths leading to them. Calls into devices' libraries
 * are listed only with `all`. TAKT_NO_MEMORY. */
takt_status tkt_tree_of(const takt_trace *trace, bool all, tkt_tree *out);

void tkt_tree_fini(tkt_tree *tree); /* accepts a zeroed struct */

/* ======== Frames ======== */

/* The function's name, or "libforces.so+0x1a2b" if unknown; cut to fit. Returns out. */
char *tkt_frame_function(char *out, size_t size, const takt_trace *trace, const tkt_frame *frame);

/* The same with the source line, if known: "forces.c(42): compute_forces", the style of torch. */
char *tkt_frame_place(char *out, size_t size, const takt_trace *trace, const tkt_frame *frame);

/* The frame with this distance from the innermost frame of the stack. */
static inline const tkt_frame *tkt_frame_at(const takt_trace *trace, uint32_t stack,
                                            uint32_t index)
{
    size_t first = trace->stacks.items[stack].first_frame;
    return &trace->frames.items[trace->stack_frames.items[first + index]];
}

#endif
