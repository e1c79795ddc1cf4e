/* takt/scope.h - the header that simulators include everywhere: scopes, phases, marks, counters.
 *
 *     void step(void)
 *     {
 *         TAKT_FUNCTION();
 *         TAKT_PHASE("neighbours");
 *         ...
 *         TAKT_PHASE("forces");
 *         TAKT_COUNTER("contacts", contact_count);
 *         ...
 *     }
 *
 * While nothing records, a scope costs one relaxed load and a branch. While something records, it
 * costs two clock reads and one 16-byte record in a buffer of its thread; nothing here blocks,
 * logs or fails, and memory is allocated only for a thread's first event and for each new call
 * site, name, depth or chunk. What cannot be recorded is dropped, and counted in every report.
 *
 * All functions and macros may be used on any thread at any time, before main and after exit too,
 * and in signal handlers: what a handler records while it interrupts Takt itself is dropped and
 * counted. A handler ends what it begins, and does not leave by longjmp(). Names are copied when a
 * call site is first hit. NULL reads as "(null)". With TAKT_DISABLE defined every macro vanishes
 * after type checking.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TAKT_SCOPE_H
#define TAKT_SCOPE_H

#include <takt/base.h>
#ifdef __cplusplus
extern "C++" { /* whoever includes this header may stand inside extern "C" */
#include <type_traits>
}
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The inline part is an ABI. Its layouts are fixed, and the symbols carry the version. ---- */

typedef enum takt_site_kind {
    TAKT_SITE_SCOPE,
    TAKT_SITE_PHASE,
    TAKT_SITE_ACTIVITY, /* a scope that also counts as an activity of a device */
    TAKT_SITE_MARK,
    TAKT_SITE_COUNTER,
    TAKT_SITE_ARG,
    TAKT_SITE_CALL /* a call into a device's library; recorded by Takt itself */
} takt_site_kind;

/* Where the words of a fast path are or'ed together, the sign tells that one of them wants the
 * library to decide: a call site that is not known yet, a full stack, a thread that is busy. */
#define TAKT_SLOW 0x80000000u
#define TAKT_BUSY UINT64_C(0xFFFFFFFF80000000) /* TAKT_SLOW as one instruction can store it */

/* A place in the source. Static storage; the library fills `tag` at the first recorded hit. */
typedef struct takt_site {
    uint32_t    tag;  /* its id << 8 and flags; TAKT_SLOW until it has an id; atomic */
    uint8_t     kind; /* takt_site_kind */
    uint8_t     level;
    uint16_t    reserved;
    uint64_t    bits; /* which bits of the mask word switch it on; all until `tag` is known */
    const char *name;
    const char *category; /* NULL: the default category */
    const char *file;
    const char *function;
    const char *device; /* activities only, such as "cpu" */
    uint32_t    line;
    uint32_t    filter; /* of an activity: one TAKT_TIMING_ bit; of an end: its begin, or 0; atomic */
} takt_site;

/* One span as it is written when it ends. An id of 0xFFFF00 or more marks another kind of event,
 * see src/record/slot.h. */
typedef struct takt_record {
    uint64_t start; /* ticks */
    uint32_t ticks; /* duration */
    uint32_t tag;   /* as its frame's */
} takt_record;

/* One open scope of a thread. */
typedef struct takt_frame {
    uint64_t start; /* ticks */
    uint32_t tag;   /* call site id << 8 | depth, saturating at 255; TAKT_FRAME_PHASE for a phase */
    uint32_t depth; /* its index up to 254, then TAKT_SLOW | 255; constant */
} takt_frame;

#define TAKT_FRAME_PHASE 0x40000000u
#define TAKT_NO_SCOPE    TAKT_FRAME_PHASE /* the tag of what is below the first frame */

/* What a block keeps of the scope it opened. */
typedef struct takt_open {
    takt_frame *frame; /* NULL: not recorded */
    uint64_t    start; /* ticks; tells the frame from a later one in the same place */
} takt_open;

/* A thread's hot state: one cache line. Only its thread writes it; sealing reads it. */
typedef struct takt_thread_v1 {
    takt_record *cursor; /* the next free record */
    takt_record *limit;  /* equal to cursor: the library decides */
    takt_frame  *top;    /* the next free frame */
    void        *log;    /* struct tkt_thread_log */
    uint64_t     busy; /* 0, or TAKT_BUSY and bits of src/base/thread.h: the library decides */
    uint64_t     printing_timers;
    uint64_t     device_call; /* the call into a device library that it is in, see src/cuda */
} takt_thread_v1;

typedef struct takt_switch_v1 {
    uint64_t mask; /* bit category * 4 + level - 1 of what is recorded; 0: nothing is; see below */
} takt_switch_v1;

#if defined(__cplusplus)
static_assert(sizeof(takt_record) == 16, "the record is an ABI");
static_assert(sizeof(takt_frame) == 16, "the frame is an ABI");
static_assert(sizeof(takt_thread_v1) <= 64, "thread-local storage must fit the static surplus");
static_assert(sizeof(takt_site) == 64, "the site is an ABI");
#elif __STDC_VERSION__ >= 201112L
_Static_assert(sizeof(takt_record) == 16, "the record is an ABI");
_Static_assert(sizeof(takt_frame) == 16, "the frame is an ABI");
_Static_assert(sizeof(takt_thread_v1) <= 64, "thread-local storage must fit the static surplus");
_Static_assert(sizeof(takt_site) == 64, "the site is an ABI");
#endif

extern TAKT_API __thread takt_thread_v1 takt_thread_hot_v1
    __attribute__((tls_model("initial-exec")));
extern TAKT_API takt_switch_v1 takt_switch_hot_v1;

/* The library's half of the macros; not to be called by hand. */
TAKT_API takt_open takt_scope_begin_v1(takt_site *site);
TAKT_API void takt_scope_end_v1(takt_frame *frame, uint64_t start);
TAKT_API void takt_scope_end_inside_v1(takt_frame *frame, uint64_t start); /* after takt_enter() */
TAKT_API void takt_begin_v1(takt_site *site);
TAKT_API void takt_end_v1(takt_site *site);
TAKT_API void takt_phase_v1(takt_site *site);
TAKT_API void takt_mark_v1(takt_site *site);
TAKT_API void takt_counter_v1(takt_site *site, double value);
TAKT_API void takt_arg_int_v1(takt_site *site, int64_t value);
TAKT_API void takt_arg_uint_v1(takt_site *site, uint64_t value);
TAKT_API void takt_arg_double_v1(takt_site *site, double value);
TAKT_API void takt_arg_bool_v1(takt_site *site, bool value);
TAKT_API void takt_arg_string_v1(takt_site *site, const char *value);

/* ---- The interface -------------------------------------------------------------------------- */

/* Levels say how fine a scope is; a run records levels up to the configured one, by default 2. */
#define TAKT_LEVEL_COARSE 1
#define TAKT_LEVEL_NORMAL 2
#define TAKT_LEVEL_FINE   3
#define TAKT_LEVEL_DETAIL 4

/* A scope named at run time: begins it on this thread; the names are compared by content. */
TAKT_API void takt_begin(const char *name);

/* Ends the innermost scope that takt_begin() or TAKT_BEGIN() opened on this thread. */
TAKT_API void takt_end(void);

/* TAKT_MARK and TAKT_COUNTER with a name made at run time; several times dearer than the macros. */
TAKT_API void takt_mark(const char *name);
TAKT_API void takt_counter(const char *name, double value);

/* A name of run time that is looked up once, for many uses. It is copied, need not end with a NUL, and
 * stays for the life of the process; equal names are one. {0} reads as "(null)". Frozen. */
typedef struct takt_name {
    uint32_t id;
} takt_name;

/* Makes it from `size` bytes; {0} for NULL, without memory and in signal handlers. */
TAKT_API takt_name takt_name_make(const char *text, size_t size);

/* As takt_begin(), which takt_end() ends, takt_mark() and takt_counter(), at the macros' cost. */
TAKT_API void takt_begin_name(takt_name name);
TAKT_API void takt_mark_name(takt_name name);
TAKT_API void takt_counter_name(takt_name name, double value);

/* Names the calling thread in every later trace; the name is copied. */
TAKT_API void takt_thread_name(const char *name);

/* Declared work of the innermost open scope: floating-point operations done and bytes moved.
 * Several calls add up. */
TAKT_API void takt_work(double flops, double bytes);

/* A track is a row of its own for work that no thread's stack holds: tasks, fibers, requests.
 * Spans on one track may overlap. */
typedef uint32_t takt_track;
typedef uint64_t takt_span;

/* The track of that name, made at the first call; 0 when there is no memory. */
TAKT_API takt_track takt_track_named(const char *name);

/* Begins a span on a track; it may be ended on another thread. 0, which takt_span_end() ignores,
 * while nothing records. */
TAKT_API takt_span takt_span_begin(takt_track track, const char *name);
TAKT_API void takt_span_end(takt_span span);

/* A span whose times are known already, in takt_now_ns() nanoseconds. Spans with end before begin
 * are dropped and counted. */
TAKT_API void takt_span_at(takt_track track, const char *name, uint64_t begin_ns, uint64_t end_ns);

/* An arrow from the innermost open scope of one thread to that of another; the program chooses
 * the id, which pairs one begin with one end. */
TAKT_API void takt_flow_begin(uint64_t id);
TAKT_API void takt_flow_end(uint64_t id);

#ifdef __cplusplus
}
#endif

#define TAKT_JOIN_(a, b) a##b
#define TAKT_JOIN(a, b)  TAKT_JOIN_(a, b)

/* A macro's name is stored once, in static data, so the compiler must know it. C refuses any other
 * ("initializer element is not constant"); C++ would keep the name of the first call for ever.
 * TAKT_REQUIRE tells what to use instead; TAKT_CONSTINIT refuses what gets past it: text that the
 * compiler knows, in memory that does not stay, such as a const array on the stack. */
#ifdef __cplusplus
constexpr char takt_first_letter(const char *text)
{
    return text ? *text : '\0';
}
#define TAKT_IS_KNOWN(text)         __builtin_constant_p(takt_first_letter(text))
#define TAKT_REQUIRE(what, message) static_assert(what, message);
#if defined(__NVCC__) || defined(__EDG__) /* for these __func__ in a template is no constant */
#define TAKT_CONSTINIT
#elif __cpp_constinit >= 201907L
#define TAKT_CONSTINIT constinit
#elif defined(__clang__)
#define TAKT_CONSTINIT __attribute__((require_constant_initialization))
#elif __GNUC__ >= 10
#define TAKT_CONSTINIT __constinit
#else
#define TAKT_CONSTINIT
#endif
#else
#define TAKT_REQUIRE(what, message)
#define TAKT_CONSTINIT
#endif
#define TAKT_REQUIRE_NAME(name, instead)                                                           \
    TAKT_REQUIRE(TAKT_IS_KNOWN(name), "Takt: this name must be a literal or static constexpr. "    \
                 instead)
#define TAKT_REQUIRE_REST(category, level, device, filter)                                         \
    TAKT_REQUIRE(TAKT_IS_KNOWN(category) && TAKT_IS_KNOWN(device) &&                               \
                     __builtin_constant_p(TAKT_CAST(uint8_t, level)) &&                            \
                     __builtin_constant_p(TAKT_CAST(uint32_t, filter)),                            \
                 "Takt: category, level, device and filter must be constants")

#define TAKT_INSTEAD_SCOPE                                                                         \
    "For names made at run time use takt::Scope, or takt_begin() and takt_end()"
#define TAKT_INSTEAD_PHASE   "For names made at run time use takt_begin() and takt_end()"
#define TAKT_INSTEAD_END     "For names made at run time use takt_end()"
#define TAKT_INSTEAD_MARK    "For names made at run time use takt_mark()"
#define TAKT_INSTEAD_COUNTER "For names made at run time use takt_counter()"
#define TAKT_INSTEAD_ARG     "Text made at run time may be the value of TAKT_ARG, not its key"
#define TAKT_INSTEAD_STREAM                                                                        \
    "For names made at run time put takt::Scope, or takt_begin() and takt_end(), around it"

#ifndef TAKT_DISABLE

/* The mask bit that asks for totals of declared work only. */
#define TAKT_WORK_BIT (UINT64_C(1) << 63)

/* The mask bit of (default category, level). Other categories get theirs at the first hit. */
#define TAKT_DEFAULT_BIT(level) (UINT64_C(1) << ((level)-1))

#define TAKT_SITE_AS(kind, level, category, name, device, filter)                                  \
    {                                                                                              \
        TAKT_SLOW, TAKT_CAST(uint8_t, kind), TAKT_CAST(uint8_t, level), 0, ~UINT64_C(0),           \
            (name), /* a literal; for names made at run time use takt_begin() and the like */      \
            (category), __FILE__, __func__, (device), __LINE__, (filter)                           \
    }
#define TAKT_STATIC_SITE(variable, instead, kind, level, category, name, device, filter)           \
    TAKT_REQUIRE_NAME(name, instead)                                                               \
    TAKT_REQUIRE_REST(category, level, device, filter)                                             \
    TAKT_CONSTINIT static takt_site variable =                                                     \
        TAKT_SITE_AS(kind, level, category, name, device, filter)

#define TAKT_LIKELY(x)   __builtin_expect(!!(x), 1)
#define TAKT_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* Where compilers make more of it than it needs, the fast path is told in assembler. */
#if defined(__x86_64__) && defined(__GCC_ASM_FLAG_OUTPUTS__) && !defined(__CUDACC__)
#define TAKT_USE_FLAGS
#endif

/* The clock's ticks. Where the processor has no invariant counter the library keeps every fast
 * path shut and reads CLOCK_MONOTONIC instead. */
static inline __attribute__((always_inline)) uint64_t takt_ticks(void)
{
#if defined(__CUDA_ARCH__)
    return 0;
#elif defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#endif
}

/* False, and *ticks is not set, where more have passed than a record holds. */
static inline __attribute__((always_inline)) bool takt_ticks_since(const uint64_t *start,
                                                                   uint64_t *ticks)
{
#ifdef TAKT_USE_FLAGS
    typedef uint32_t __attribute__((may_alias)) half;
    const half *from = TAKT_CAST(const half *, TAKT_CAST(const void *, start));
    bool is_more;
    __asm__ volatile("rdtsc\n\tsubl %2, %%eax\n\tsbbl %3, %%edx"
                     : "=&a"(*ticks), "=@ccnz"(is_more)
                     : "m"(from[0]), "m"(from[1])
                     : "edx");
    return !is_more;
#else
    uint64_t passed = takt_ticks() - *start;
    *ticks = passed;
    return passed >> 32 == 0;
#endif
}

static inline __attribute__((always_inline)) bool takt_is_on(uint64_t bits)
{
    return (__atomic_load_n(&takt_switch_hot_v1.mask, __ATOMIC_RELAXED) & bits) != 0;
}

/* From here to takt_leave() a signal handler finds the thread busy, and records nothing: so it meets
 * no half of an event, and no reading of the clock that stands beside nothing yet. */
static inline __attribute__((always_inline)) void takt_enter(takt_thread_v1 *thread)
{
    thread->busy = TAKT_BUSY | 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static inline __attribute__((always_inline)) void takt_leave(takt_thread_v1 *thread)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    thread->busy = 0;
}

/* Whether this thread has a scope open. */
static inline __attribute__((always_inline)) bool takt_has_open(void)
{
    return takt_thread_hot_v1.top[-1].tag != TAKT_NO_SCOPE;
}

/* The tag of a record of `site` in `frame`; TAKT_SLOW in it: the library decides. */
static inline __attribute__((always_inline)) uint32_t
takt_tag(const takt_site *site, const takt_frame *frame, uint64_t busy)
{
    uint32_t tag = __atomic_load_n(&site->tag, __ATOMIC_RELAXED) | frame->depth;
    __asm__("" : "+r"(tag)); /* in this order compilers need no further register */
    return tag | TAKT_CAST(uint32_t, busy);
}

/* Opens a scope; its frame is NULL if it is not recorded. Frames are published with release stores
 * for the thread that seals, see src/record/log.h. */
static inline __attribute__((always_inline)) takt_open takt_scope_open(takt_site *site,
                                                                       uint64_t bits)
{
    takt_open open = {NULL, 0};
    if (!takt_is_on(bits))
        return open;
    takt_thread_v1 *thread = &takt_thread_hot_v1;
    uint64_t busy = thread->busy;
    takt_enter(thread);
    takt_frame *frame = thread->top; /* not before: a handler may have it moved */
    uint32_t tag = takt_tag(site, frame, busy);
    if (TAKT_UNLIKELY(tag & TAKT_SLOW)) {
        thread->busy = busy;
        return takt_scope_begin_v1(site);
    }
    open.frame = frame;
    __atomic_store_n(&frame->tag, tag, __ATOMIC_RELEASE);
    open.start = takt_ticks();
    __atomic_store_n(&frame->start, open.start, __ATOMIC_RELEASE);
    __atomic_store_n(&thread->top, frame + 1, __ATOMIC_RELEASE);
    takt_leave(thread);
    return open;
}

/* Closes the scope and writes its record. Anything unusual - an open phase, crossed scopes, a full
 * chunk, a span of over 2^32 ticks - is the library's. */
static inline __attribute__((always_inline)) void takt_scope_close(takt_open open)
{
    takt_frame *frame = open.frame;
    if (!frame)
        return;
    takt_thread_v1 *thread = &takt_thread_hot_v1;
    if (TAKT_LIKELY(thread->top == frame + 1 && frame->start == open.start)) {
        uint32_t tag = frame->tag;
        takt_enter(thread);
        takt_record *record = thread->cursor;
        uint64_t ticks;
        if (TAKT_LIKELY(record != thread->limit && takt_ticks_since(&frame->start, &ticks))) {
            record->start = open.start;
            record->ticks = TAKT_CAST(uint32_t, ticks);
            __atomic_signal_fence(__ATOMIC_RELEASE); /* the tag says that it is written */
            record->tag = tag;
            __atomic_store_n(&thread->cursor, record + 1, __ATOMIC_RELEASE);
            __atomic_store_n(&thread->top, frame, __ATOMIC_RELEASE);
            takt_leave(thread);
        } else {
            takt_scope_end_inside_v1(frame, open.start);
        }
    } else {
        takt_scope_end_v1(frame, open.start);
    }
}

/* Where a phase is open already, it ends and the next begins: one clock read, one record. */
static inline __attribute__((always_inline)) void takt_phase_next(takt_site *site, uint64_t bits)
{
    if (!takt_is_on(bits))
        return;
    takt_thread_v1 *thread = &takt_thread_hot_v1;
    takt_frame *frame = thread->top - 1;
    uint32_t ended = frame->tag;
    uint32_t tag = ended & TAKT_FRAME_PHASE ? takt_tag(site, frame, thread->busy) : TAKT_SLOW;
    if (TAKT_LIKELY(!(tag & TAKT_SLOW))) {
        takt_enter(thread);
        takt_record *record = thread->cursor;
        uint64_t ticks;
        if (TAKT_LIKELY(record != thread->limit && takt_ticks_since(&frame->start, &ticks))) {
            uint64_t start = frame->start;
            record->start = start;
            record->ticks = TAKT_CAST(uint32_t, ticks);
            __atomic_signal_fence(__ATOMIC_RELEASE);
            record->tag = ended;
            __atomic_store_n(&thread->cursor, record + 1, __ATOMIC_RELEASE);
            __atomic_store_n(&frame->tag, tag, __ATOMIC_RELEASE);
            __atomic_store_n(&frame->start, start + ticks, __ATOMIC_RELEASE);
            takt_leave(thread);
            return;
        }
        takt_leave(thread);
    }
    takt_phase_v1(site);
}

#ifdef __cplusplus
/* Closes its scope at the end of the block. */
struct takt_scope_guard {
    takt_open open;
    explicit takt_scope_guard(takt_open opened) : open(opened) {}
    takt_scope_guard(const takt_scope_guard &) = delete;
    takt_scope_guard &operator=(const takt_scope_guard &) = delete;
    ~takt_scope_guard() { takt_scope_close(open); }
};
#define TAKT_SCOPE_GUARD(variable, opened) takt_scope_guard variable(opened)
#else
static inline __attribute__((always_inline)) void takt_scope_leave(takt_open *open)
{
    takt_scope_close(*open);
}
#define TAKT_SCOPE_GUARD(variable, opened)                                                         \
    __attribute__((cleanup(takt_scope_leave), unused)) takt_open variable = (opened)
#endif

#define TAKT_SCOPE_AS(id, bits, kind, level, category, name, device, filter)                       \
    TAKT_STATIC_SITE(TAKT_JOIN(takt_site_, id), TAKT_INSTEAD_SCOPE, kind, level, category, name,   \
                     device, filter);                                                              \
    TAKT_SCOPE_GUARD(TAKT_JOIN(takt_scope_, id), takt_scope_open(&TAKT_JOIN(takt_site_, id), bits))

#define TAKT_SITE_HERE(instead, kind, name)                                                        \
    TAKT_STATIC_SITE(takt_site_here, instead, kind, TAKT_LEVEL_NORMAL, NULL, name, NULL, 0)

#define TAKT_SITE_DO(call, bits, kind, instead, name, ...)                                         \
    do {                                                                                           \
        TAKT_SITE_HERE(instead, kind, name);                                                       \
        if (TAKT_UNLIKELY(takt_is_on(bits)))                                                       \
            call(&takt_site_here __VA_ARGS__);                                                     \
    } while (0)

#define TAKT_NORMAL_BIT TAKT_DEFAULT_BIT(TAKT_LEVEL_NORMAL)
#define TAKT_COMMA      ,

/* A scope from here to the end of the block. `name` is a string literal, __func__, or in C++ any
 * text that is constexpr and stays: inside a function an array must be static constexpr. For names
 * made at run time there are takt_begin() and takt::Scope. Its category is the default one, its
 * level TAKT_LEVEL_NORMAL. */
#define TAKT_SCOPE(name) TAKT_SCOPE_COUNTED(__COUNTER__, name)
#define TAKT_SCOPE_COUNTED(id, name)                                                               \
    TAKT_SCOPE_AS(id, TAKT_NORMAL_BIT, TAKT_SITE_SCOPE, TAKT_LEVEL_NORMAL, NULL, name, NULL, 0)

/* The same, named after the function. */
#define TAKT_FUNCTION() TAKT_SCOPE(__func__)

/* The same with an end of its own, for begin and end macros that an engine has already: `scope` is a
 * new variable, which one TAKT_CLOSE must get on the same thread, before those of scopes around it. */
#define TAKT_OPEN(scope, name) TAKT_OPEN_COUNTED(__COUNTER__, scope, name)
#define TAKT_OPEN_COUNTED(id, scope, name)                                                         \
    TAKT_STATIC_SITE(TAKT_JOIN(takt_site_, id), TAKT_INSTEAD_SCOPE, TAKT_SITE_SCOPE,               \
                     TAKT_LEVEL_NORMAL, NULL, name, NULL, 0);                                      \
    const takt_open scope = takt_scope_open(&TAKT_JOIN(takt_site_, id), TAKT_NORMAL_BIT)
#define TAKT_CLOSE(scope) takt_scope_close(scope)

/* A scope with a category, which the configuration can switch off ("categories: {io: off}"), and a
 * level, 1 to 4. Fifteen categories can be told apart; later ones share the last. */
#define TAKT_SCOPE_IN(category, level, name)                                                       \
    TAKT_SCOPE_IN_COUNTED(__COUNTER__, category, level, name)
#define TAKT_SCOPE_IN_COUNTED(id, category, level, name)                                           \
    TAKT_SCOPE_AS(id, __atomic_load_n(&TAKT_JOIN(takt_site_, id).bits, __ATOMIC_RELAXED),          \
                  TAKT_SITE_SCOPE, level, category, name, NULL, 0)

/* Host work that counts as an activity, from here to the end of the block: `device` names who does
 * it, such as "cpu"; `filter` is one bit such as TAKT_TIMING_KERNEL of takt/activity.h. */
#define TAKT_ACTIVITY(device, filter, name) TAKT_ACTIVITY_COUNTED(__COUNTER__, device, filter, name)
#define TAKT_ACTIVITY_COUNTED(id, device, filter, name)                                            \
    TAKT_SCOPE_AS(id, TAKT_NORMAL_BIT, TAKT_SITE_ACTIVITY, TAKT_LEVEL_NORMAL, NULL, name, device,  \
                  filter)

/* A scope whose begin and end stand in different blocks. The names must match: an end without its
 * begin is counted, reported with its place, and ignored; scopes left open within are closed. */
#define TAKT_BEGIN(name)                                                                           \
    TAKT_SITE_DO(takt_begin_v1, TAKT_NORMAL_BIT, TAKT_SITE_SCOPE, TAKT_INSTEAD_SCOPE, name, )
#define TAKT_END(name)                                                                             \
    do {                                                                                           \
        TAKT_SITE_HERE(TAKT_INSTEAD_END, TAKT_SITE_SCOPE, name);                                   \
        if (TAKT_UNLIKELY(takt_is_on(TAKT_NORMAL_BIT) || takt_has_open()))                         \
            takt_end_v1(&takt_site_here);                                                          \
    } while (0)

/* Begins a phase of the enclosing scope. It ends where the next phase begins, with the scope, or
 * with the step (takt_profiler_step). */
#define TAKT_PHASE(name)                                                                           \
    do {                                                                                           \
        TAKT_SITE_HERE(TAKT_INSTEAD_PHASE, TAKT_SITE_PHASE, name);                                 \
        takt_phase_next(&takt_site_here, TAKT_NORMAL_BIT);                                         \
    } while (0)

/* A moment without duration. */
#define TAKT_MARK(name)                                                                            \
    TAKT_SITE_DO(takt_mark_v1, TAKT_NORMAL_BIT, TAKT_SITE_MARK, TAKT_INSTEAD_MARK, name, )

/* The value of a quantity from now on, as a double. */
#define TAKT_COUNTER(name, value)                                                                  \
    TAKT_SITE_DO(takt_counter_v1, TAKT_NORMAL_BIT, TAKT_SITE_COUNTER, TAKT_INSTEAD_COUNTER, name,  \
                 TAKT_COMMA TAKT_CAST(double, value))

#define TAKT_WORK(flops, bytes)                                                                    \
    do {                                                                                           \
        if (TAKT_UNLIKELY(takt_is_on(TAKT_NORMAL_BIT | TAKT_WORK_BIT)))                            \
            takt_work(TAKT_CAST(double, flops), TAKT_CAST(double, bytes));                         \
    } while (0)

/* A key and a value on the innermost open scope: any integer of up to 64 bits, enum, bool,
 * floating-point number (as the nearest double) or string (char *, copied). */
#ifdef __cplusplus
extern "C++" {
template <typename T> struct takt_is_number_ {
    static const bool value =
        std::is_floating_point<T>::value ||
        ((std::is_integral<T>::value || std::is_enum<T>::value) && sizeof(T) <= sizeof(uint64_t));
};
template <typename T, bool IsEnum = std::is_enum<T>::value> struct takt_integer_ {
    typedef T type;
};
template <typename T> struct takt_integer_<T, true> {
    typedef typename std::underlying_type<T>::type type;
};
inline void takt_arg(takt_site *site, bool value) { takt_arg_bool_v1(site, value); }
inline void takt_arg(takt_site *site, char *value) { takt_arg_string_v1(site, value); }
inline void takt_arg(takt_site *site, const char *value) { takt_arg_string_v1(site, value); }
template <typename T>
inline typename std::enable_if<takt_is_number_<T>::value>::type takt_arg(takt_site *site, T value)
{
    if (std::is_floating_point<T>::value)
        takt_arg_double_v1(site, TAKT_CAST(double, value));
    else if (std::is_signed<typename takt_integer_<T>::type>::value)
        takt_arg_int_v1(site, TAKT_CAST(int64_t, value));
    else
        takt_arg_uint_v1(site, TAKT_CAST(uint64_t, value));
}
template <typename T>
inline typename std::enable_if<!takt_is_number_<T>::value>::type takt_arg(takt_site *, T)
{
    static_assert(takt_is_number_<T>::value,
                  "Takt: TAKT_ARG takes a number of up to 64 bits, an enum, a bool or a char *");
}
}
#define TAKT_ARG(key, value)                                                                       \
    TAKT_SITE_DO(takt_arg, TAKT_NORMAL_BIT, TAKT_SITE_ARG, TAKT_INSTEAD_ARG, key, TAKT_COMMA(value))
#elif __STDC_VERSION__ >= 201112L
static inline void takt_arg_real(takt_site *site, long double value)
{
    takt_arg_double_v1(site, TAKT_CAST(double, value));
}
struct takt_number_bool_or_string {
    char unused;
};
void takt_arg_takes(takt_site *site, struct takt_number_bool_or_string value); /* nowhere */
#define TAKT_ARG_FUNCTION(value)                                                                   \
    _Generic((value), _Bool                                                                        \
             : takt_arg_bool_v1, float                                                             \
             : takt_arg_double_v1, double                                                          \
             : takt_arg_double_v1, char *                                                          \
             : takt_arg_string_v1, const char *                                                    \
             : takt_arg_string_v1, unsigned                                                        \
             : takt_arg_uint_v1, unsigned long                                                     \
             : takt_arg_uint_v1, unsigned long long                                                \
             : takt_arg_uint_v1, default                                                           \
             : TAKT_ARG_OTHER(value))
/* Bit-fields have types without a name, and so have some floating-point types as C knows them. */
#define TAKT_ARG_OTHER(value)                                                                      \
    __builtin_choose_expr(                                                                         \
        TAKT_ARG_HAS_CLASS_OF(0.0, value), takt_arg_real,                                          \
        __builtin_choose_expr(TAKT_ARG_HAS_CLASS_OF(0, value) &&                                   \
                                  sizeof(1 ? 0 : (value)) <= sizeof(uint64_t),                     \
                              takt_arg_int_v1, takt_arg_takes))
#define TAKT_ARG_HAS_CLASS_OF(sample, value)                                                       \
    (__builtin_classify_type(value) == __builtin_classify_type(sample))
#define TAKT_ARG(key, value)                                                                       \
    TAKT_SITE_DO(TAKT_ARG_FUNCTION(value), TAKT_NORMAL_BIT, TAKT_SITE_ARG, TAKT_INSTEAD_ARG, key,  \
                 TAKT_COMMA(value))
#else /* C99 has no _Generic: numbers only */
#define TAKT_ARG(key, value)                                                                       \
    TAKT_SITE_DO(takt_arg_double_v1, TAKT_NORMAL_BIT, TAKT_SITE_ARG, TAKT_INSTEAD_ARG, key,        \
                 TAKT_COMMA TAKT_CAST(double, value))
#endif

#else /* TAKT_DISABLE */

/* Arguments are still type-checked: sizeof does not evaluate its operand. */
static inline int takt_checked(const char *name)
{
    return name != NULL;
}
#define TAKT_NOTHING(instead, name, checked)                                                       \
    do {                                                                                           \
        TAKT_REQUIRE_NAME(name, instead)                                                           \
        (void)sizeof(takt_checked(name) + (checked));                                              \
    } while (0)
#define TAKT_SCOPE(name) TAKT_NOTHING(TAKT_INSTEAD_SCOPE, name, 0)
#define TAKT_FUNCTION()  ((void)0)
#define TAKT_OPEN(scope, name)                                                                     \
    TAKT_NOTHING(TAKT_INSTEAD_SCOPE, name, 0);                                                     \
    const bool scope = false
#define TAKT_CLOSE(scope) ((void)(scope))
#define TAKT_SCOPE_IN(category, level, name)                                                       \
    TAKT_NOTHING(TAKT_INSTEAD_SCOPE, name, takt_checked(category) + (level))
#define TAKT_ACTIVITY(device, filter, name)                                                        \
    TAKT_NOTHING(TAKT_INSTEAD_SCOPE, name, takt_checked(device) + TAKT_CAST(int, filter))
#define TAKT_BEGIN(name)          TAKT_NOTHING(TAKT_INSTEAD_SCOPE, name, 0)
#define TAKT_END(name)            TAKT_NOTHING(TAKT_INSTEAD_END, name, 0)
#define TAKT_PHASE(name)          TAKT_NOTHING(TAKT_INSTEAD_PHASE, name, 0)
#define TAKT_MARK(name)           TAKT_NOTHING(TAKT_INSTEAD_MARK, name, 0)
#define TAKT_COUNTER(name, value)                                                                  \
    TAKT_NOTHING(TAKT_INSTEAD_COUNTER, name, TAKT_CAST(double, value))
#define TAKT_ARG(key, value)      TAKT_NOTHING(TAKT_INSTEAD_ARG, key, sizeof(value))
#define TAKT_WORK(flops, bytes)                                                                    \
    ((void)sizeof(TAKT_CAST(double, flops) + TAKT_CAST(double, bytes)))

#endif
#endif
