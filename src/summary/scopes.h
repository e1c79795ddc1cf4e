/* How often and how long each scope ran, whatever called it, and what devices did for it: torch's
 * key averages. */
#ifndef TKT_SUMMARY_SCOPES_H
#define TKT_SUMMARY_SCOPES_H

#include "summary/device.h"
#include "trace/model.h"

#define TKT_NO_GROUP UINT32_MAX

typedef enum tkt_scope_kind { TKT_KIND_SCOPE, TKT_KIND_CALL, TKT_KIND_ACTIVITY } tkt_scope_kind;

/* All calls of one name, or of one name with the same arguments. */
typedef struct tkt_scope_total {
    const char *name; /* the trace's */
    uint64_t    calls;
    uint64_t    total_ns; /* of outermost calls: a recursive one is part of its caller's */
    uint64_t    self_ns;  /* of all calls: total less direct children */
    uint64_t    min_ns;
    uint64_t    max_ns;
    double      flops; /* declared work */
    double      bytes;
    uint32_t    track; /* by arguments: where one such call's stand, args.items[first_arg] on */
    uint32_t    first_arg;
    uint32_t    arg_count;
    uint32_t    kind;           /* tkt_scope_kind */
    uint32_t    stack;          /* by stack: one such call's; TKT_NO_GROUP: it has none */
    uint64_t    device_self_ns; /* of activities that calls directly in it launched; a sum: those */
    uint64_t    device_total_ns; /* that overlap count fully. The total: in scopes inside, too */
    uint64_t    device_busy_ns;  /* while any of these ran; only where has_spans */
    uint64_t    waits;           /* calls directly in it that do nothing but wait for devices, and */
    uint64_t    waiting_ns;      /* their times, a part of self_ns; not with `all` */
    int64_t     host_self_bytes; /* allocated less freed; the same again */
    int64_t     host_bytes;
    int64_t     device_self_bytes;
    int64_t     device_bytes;
} tkt_scope_total;

typedef struct tkt_scopes {
    TKT_ARRAY(tkt_scope_total); /* in the order in which they were first seen */
    uint64_t self_ns;    /* of all: what percentages refer to */
    uint64_t device_ns;  /* of all activities of devices, each once */
    bool     has_device; /* there are such activities */
    bool     has_host_memory;   /* there are events of the host's memory, pinned memory with it, */
    bool     has_device_memory; /* and of devices' */
} tkt_scopes; /* starts as {0} */

/* By name, from the folded form. Calls into devices' libraries are no rows, their time belongs to
 * the scope that makes them; with `all` they are, and so are the activities of devices.
 * TAKT_NO_MEMORY. */
takt_status tkt_scopes_by_name(const takt_trace *trace, bool all, tkt_scopes *out);

/* The same without busy times, */
takt_status tkt_scopes_memory(const takt_trace *trace, tkt_scopes *out);

/* and without memory, too: no single activity or event is looked at. */
takt_status tkt_scopes_sums(const takt_trace *trace, tkt_scopes *out);

/* By name and recorded arguments. TAKT_NO_SPANS, TAKT_NO_MEMORY. */
takt_status tkt_scopes_by_arguments(const takt_trace *trace, bool all, tkt_scopes *out);

/* By name, the `frames` innermost frames of call stacks, and, if wanted, arguments. The same. */
takt_status tkt_scopes_by_stack(const takt_trace *trace, bool all, uint32_t frames,
                                bool by_arguments, tkt_scopes *out);

void tkt_scopes_fini(tkt_scopes *scopes); /* also of a zeroed one */

static inline bool tkt_site_is_call(const takt_trace *trace, uint32_t site)
{
    return trace->sites.items[site].kind == TAKT_SITE_CALL;
}

/* ======== By path ======== */

/* Where time goes, by call path: the folded form as a list. */

#define TKT_NO_ROW UINT32_MAX

typedef struct tkt_path {
    const tkt_node *node;   /* the trace's */
    const char     *name;   /* the trace's */
    uint64_t        self_ns; /* with the calls into devices' libraries that are no paths */
    tkt_node_device device;  /* activities that it launched: itself; and inside */
    uint32_t        parent; /* its index, smaller than this one's, or TKT_NO_ROW */
    uint32_t        depth;  /* 0: opened outside of any other */
} tkt_path;

typedef struct tkt_tree {
    TKT_ARRAY(tkt_path); /* in the order in which they were first seen */
    uint64_t self_ns;    /* of all: what percentages refer to */
    uint64_t device_ns;  /* of all activities of devices, each once */
    bool     has_device; /* there are such activities */
} tkt_tree; /* starts as {0} */

/* All paths that were called, or lead to one that was; calls into devices' libraries are paths only
 * with `all`. TAKT_NO_MEMORY. */
takt_status tkt_tree_of(const takt_trace *trace, bool all, tkt_tree *out);

void tkt_tree_fini(tkt_tree *tree); /* also of a zeroed one */

/* ======== Frames ======== */

/* What a frame of a call stack is called. */

/* The function, or "libforces.so+0x1a2b" where its name is not known; cut to fit. Returns out. */
char *tkt_frame_function(char *out, size_t size, const takt_trace *trace, const tkt_frame *frame);

/* The same with its place, if that is known: "forces.c(42): compute_forces", as torch has it. */
char *tkt_frame_place(char *out, size_t size, const takt_trace *trace, const tkt_frame *frame);

/* The frame at that distance from the innermost one of a stack. */
static inline const tkt_frame *tkt_frame_at(const takt_trace *trace, uint32_t stack,
                                            uint32_t index)
{
    size_t first = trace->stacks.items[stack].first_frame;
    return &trace->frames.items[trace->stack_frames.items[first + index]];
}

#endif
