/* The parts of the stand-in libcupti. CUPTI is process-wide, and so is this: one lock, which is
 * never held while a function of the client's or of the simulator's is called. */
#ifndef SIMGPU_CUPTI_H
#define SIMGPU_CUPTI_H

#include "simgpu/cupti_abi.h"
#include "simgpu/sim.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#define SIMC_SUBSCRIBERS 2 /* as many as a sim_call has slots */
#define SIMC_CBIDS 1024u
#define SIMC_STACK 64

/* --- checks.c: options, faults, and what a client did that it must not do --------------------- */

typedef enum simc_stamps { SIMC_STAMPS_RIGHT, SIMC_STAMPS_ZERO, SIMC_STAMPS_REVERSED,
                           SIMC_STAMPS_ABSURD } simc_stamps;
typedef enum simc_completion { SIMC_COMPLETE_NORMALLY, SIMC_COMPLETE_NEVER, SIMC_COMPLETE_TWICE,
                               SIMC_COMPLETE_ON_THREAD, SIMC_COMPLETE_LATE,
                               SIMC_COMPLETE_AT_EXIT } simc_completion;
typedef enum simc_graph_ids { SIMC_IDS_RIGHT, SIMC_IDS_STALE, SIMC_IDS_SHIFTED } simc_graph_ids;
typedef enum simc_order { SIMC_ORDER_MIXED, SIMC_ORDER_CALLS, SIMC_ORDER_REVERSE } simc_order;

/* Which V1 functions are refused after cuptiSubscribe_v2, though it lets nobody else in. */
typedef enum simc_v2_family { SIMC_V2_MIXES, SIMC_V2_APART, SIMC_V2_KINDS } simc_v2_family;

/* Read from TAKT_SIM when the library is first used and at each subscription. */
typedef struct simc_options {
    uint32_t version;
    simc_stamps stamps;
    uint32_t stamps_every;
    uint32_t zero_graphs_after; /* records of graph nodes; UINT32_MAX: never */
    simc_completion completion;
    simc_order order;
    simc_graph_ids graph_ids; /* of graph launches since a kind was enabled again */
    uint32_t drop_every;
    uint32_t unknown_every;
    uint32_t corrupt_at; /* the n-th record; 0: none */
    bool is_cut;         /* corrupt by a cut buffer rather than by a wrong kind */
    bool no_callbacks;
    bool crash_on_null;
    bool wrong_context;
    bool reset_loses;    /* a context takes along what was not flushed */
    bool flush_keeps;    /* a flush leaves an unfinished buffer in use */
    uint32_t body_buffers; /* how many buffers, used in turn, have what devices launched; 0: those
                            * of the thread that launched the graph */
    uint32_t slow_request_us;
    uint32_t late_ms;
    uint32_t owner_from; /* the n-th subscription is refused, and all after it; 0: none */
    char owner[64];
    char hang[64];       /* function that does not return */
    uint32_t hang_at;
    simc_v2_family v2_family;
} simc_options;

extern simc_options simc_option;

/* What is reported at exit with "cupti.report". */
typedef struct simc_counts {
    atomic_ulong calls;
    atomic_ulong locks_held;     /* calls by a thread that held a mutex */
    atomic_ulong after_refusal;  /* calls after the subscription was refused */
    atomic_ulong in_child;       /* calls in a forked child */
    atomic_ulong forbidden;      /* flushes from callbacks that must not flush */
    atomic_ulong not_zeroed;     /* buffers that were said to be zeroed and were not */
    atomic_ulong unaligned;
    atomic_ulong slow_requests;
    atomic_ulong late_settings;  /* attributes or clock changed while kinds were enabled */
    atomic_ulong buffers_out;
    atomic_ulong buffers_back;
    atomic_ulong dropped;
    atomic_ulong flushes;
    atomic_ulong forced_flushes; /* of them */
} simc_counts;

extern simc_counts simc_count;

/* Every function begins with this: counts, checks, and returns the status it is to fail with. */
int32_t simc_enter(const char *function);
#define SIMC_ENTER(function) \
    do { \
        int32_t simc_status = simc_enter(#function); \
        if (simc_status != SIM_CUPTI_SUCCESS) \
            return simc_status; \
    } while (0)

/* Whether there is a driver with a device; without it most functions return 999. */
bool simc_has_driver(void);
#define SIMC_NEED_DRIVER() \
    do { \
        if (!simc_has_driver()) \
            return SIM_CUPTI_ERROR_UNKNOWN; \
    } while (0)

int32_t simc_fail(int32_t status); /* remembers it for cuptiGetLastError() */

/* What this thread is in: 0, SIM_DOMAIN_ of a callback, or SIMC_IN_BUFFER. */
enum { SIMC_IN_BUFFER = 100 };
extern _Thread_local int simc_inside;

extern atomic_bool simc_is_exiting;

/* --- layout.c: how long records are ----------------------------------------------------------- */

uint32_t simc_record_bytes(uint32_t kind); /* 0: not a kind */

/* --- sessions: what one client has enabled, and where its records go -------------------------- */

typedef struct simc_buffer {
    struct simc_buffer *next;
    uint8_t *data;
    size_t size;
    size_t used;
    size_t max_records;
    size_t records;
    uint32_t thread;  /* of those who write into it; 0: all */
    bool is_full;
    bool is_over; /* a flush has found it unfinished: later records go elsewhere */
    uint32_t pending; /* records that are not complete */
} simc_buffer;

/* A record whose end has not come, lying in a buffer with stamps of 0. */
typedef struct simc_pending {
    struct simc_pending *next;
    simc_buffer *buffer;
    size_t offset;
    uint64_t begin_ns;
    uint64_t end_ns;
    int32_t device; /* -1: stamps of the host */
} simc_pending;

typedef struct simc_session {
    _Atomic bool kinds[SIM_KIND_COUNT];
    _Atomic bool is_quiet[3][SIMC_CBIDS]; /* by domain: no API records for these */
    _Atomic bool was_enabled[SIM_KIND_COUNT];
    atomic_bool is_later;      /* a kind of device work was enabled again: a session after the first */
    atomic_uint graph_launch;  /* correlation id of the first session's last graph launch */
    /* Executable graphs by id that were made while graphs were traced as a whole. */
    atomic_bool whole_graphs[1 << 16];
    sim_request_fn request;
    sim_complete_fn complete;
    sim_request_v2_fn request_v2;
    sim_complete_v2_fn complete_v2;
    uint64_t attributes[SIM_ATTR_COUNT];
    bool has_attributes;
    simc_buffer *buffers; /* with the client's records, in no order */
    simc_pending *pending;
    size_t dropped;
} simc_session;

struct sim_subscriber {
    _Atomic bool is_used;
    bool is_v2;
    bool is_by_v2; /* cuptiSubscribe_v2 let it in */
    int index;
    sim_callback_fn callback;
    void *user;
    char name[64];
    _Atomic bool enabled[SIM_DOMAIN_COUNT][SIMC_CBIDS];
    simc_session session; /* of V2 clients */
};

extern pthread_mutex_t simc_lock;
extern struct sim_subscriber simc_subscribers[SIMC_SUBSCRIBERS];
extern simc_session simc_v1; /* of all V1 clients together */

/* Session n: 0 is V1's, then the subscribers'. */
#define SIMC_SESSIONS (1 + SIMC_SUBSCRIBERS)
simc_session *simc_session_at(int n);
bool simc_refuses_kinds(void);  /* cuptiActivityEnable is refused, by cupti.v2_family=kinds */
bool simc_is_v2(void);          /* V2 clients are here, so V1 functions are refused */
bool simc_is_subscribed(void);
bool simc_is_live(sim_subscriber_handle subscriber);
void simc_listen(void);         /* hear the simulator from now on */
void simc_unsubscribe_all(void);
void simc_state_event(uint32_t cbid, int32_t result, const char *message);
void simc_synchronized(const sim_record *record);

int32_t simc_enable(simc_session *session, uint32_t kind, bool dump);
int32_t simc_disable(simc_session *session, uint32_t kind);
int32_t simc_get_attribute(simc_session *session, uint32_t attribute, size_t *size, void *value);
int32_t simc_set_attribute(simc_session *session, uint32_t attribute, size_t *size, void *value);
int32_t simc_push_external(int session, uint32_t kind, uint64_t id);
int32_t simc_pop_external(int session, uint32_t kind, uint64_t *last);
/* The top of this thread's stack; false when it is empty. */
bool simc_external(int session, uint32_t kind, uint64_t *id);

extern atomic_bool simc_latency;     /* stamps of when a kernel was queued and submitted */
extern atomic_bool simc_event_times; /* device stamps of events */
extern atomic_uint simc_thread_id_type;

/* --- buffers.c -------------------------------------------------------------------------------- */

/* Whose buffers this thread writes to, if not its own; 0: its own. */
extern _Thread_local uint32_t simc_device_writer;

/* Appends records, one behind the other, that must stay together. `pending` tells when and with
 * which stamps the first one becomes complete; NULL: it is. Calls the client's functions: hold no
 * lock. */
void simc_write(simc_session *session, const void *records, size_t bytes, size_t count,
                const simc_pending *pending);
void simc_flush(bool is_forced);
void simc_lose_all(void); /* records that are in buffers and were not given back */
void simc_start_worker(void);
size_t simc_take_dropped(simc_session *session);

/* --- records.c -------------------------------------------------------------------------------- */

bool simc_is_device_work(uint32_t kind);
void simc_on_record(const sim_record *record);
void simc_on_api(const sim_call *call);
void simc_on_resource_record(const sim_resource *resource);
void simc_dump(simc_session *session, uint32_t kind);
/* Says that asking for a buffer took this time. */
void simc_overhead(simc_session *session, uint64_t begin_ns, uint64_t end_ns);
/* Puts the stamps of a time span into a record of any kind that has some. */
void simc_stamp(uint8_t *record, int32_t device, uint64_t begin_ns, uint64_t end_ns);

/* --- clock.c ---------------------------------------------------------------------------------- */

uint64_t simc_now(void);
uint64_t simc_time(int device, uint64_t time_ns);
bool simc_has_own_clock(void);
void simc_forget_clock(void);

#endif
