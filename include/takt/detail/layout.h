/* takt/detail/layout.h - data that programs and library share: call sites, a thread's hot state and
 * records; and the functions that the macros call. All of it is an ABI: the layouts are fixed, and
 * the symbols carry a version.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TAKT_DETAIL_LAYOUT_H
#define TAKT_DETAIL_LAYOUT_H

#include <takt/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum takt_site_kind {
    TAKT_SITE_SCOPE,
    TAKT_SITE_PHASE,
    TAKT_SITE_ACTIVITY, /* a scope that also counts as an activity */
    TAKT_SITE_MARK,
    TAKT_SITE_COUNTER,
    TAKT_SITE_ARG,
    TAKT_SITE_CALL /* a call into a device's library; recorded by Takt itself */
} takt_site_kind;

/* A fast path combines several words with `or`. If the sign bit is set, at least one word requires
 * the library: an unknown call site, a full stack, or a busy thread. */
#define TAKT_SLOW 0x80000000u
#define TAKT_BUSY UINT64_C(0xFFFFFFFF80000000) /* TAKT_SLOW as one instruction can store it */

/* In C++, statics of inline functions are shared by all libraries that have the function, and g++
 * marks them so that dlclose() unloads none of these libraries. A type that is hidden keeps them in
 * their own library. */
#ifdef __cplusplus
#define TAKT_HIDDEN_TYPE __attribute__((__visibility__("hidden")))
#else
#define TAKT_HIDDEN_TYPE
#endif

/* A call site. It has static storage; the library fills `tag` at the first recorded hit. */
typedef struct TAKT_HIDDEN_TYPE takt_site {
    uint32_t    tag;  /* id << 8 and flags; TAKT_SLOW until the site has an id; atomic */
    uint8_t     kind; /* takt_site_kind */
    uint8_t     level;
    uint16_t    reserved;
    uint64_t    bits; /* mask bits that switch the site on; all bits until `tag` is set */
    const char *name;
    const char *category; /* NULL: the default category */
    const char *file;
    const char *function; /* TAKT_FUNCTION_NAME */
    const char *device; /* activities only: such as "cpu" */
    uint32_t    line;
    uint32_t    filter; /* an activity: one TAKT_TIMING_ bit. A scope: TAKT_COLOR(), or 0. An end:
                         * tag of its last begin, or 0; atomic */
} takt_site;

/* The color of a site as opaque 0xAARRGGBB; 0: no color. */
#define TAKT_COLOR(rgb) ((rgb) != 0 ? (rgb) | 0xFF000000u : 0u)

/* One span, written when it ends. An id of 0xFFFF00 or more marks another kind of event, see
 * src/record/slot.h. */
typedef struct takt_record {
    uint64_t start; /* ticks */
    uint32_t ticks; /* duration */
    uint32_t tag;   /* the tag of its frame */
} takt_record;

/* One open scope of a thread. */
typedef struct takt_frame {
    uint64_t start; /* ticks */
    uint32_t tag;   /* call site id << 8 | depth, saturating at 255; TAKT_FRAME_PHASE for a phase */
    uint32_t depth; /* index of the frame up to 254, then TAKT_SLOW | 255; and TAKT_FRAME_HIDES */
} takt_frame;

#define TAKT_FRAME_PHASE 0x40000000u
#define TAKT_FRAME_HIDES 0x20000000u /* in `depth` of the next free frame: a scope that is not recorded
                                      * is open, to which events belong; tags may have it, too */
#define TAKT_NO_SCOPE    TAKT_FRAME_PHASE /* tag of the guard below the first frame */

/* The current frame of a TAKT_FRAME. */
typedef struct TAKT_HIDDEN_TYPE takt_frame_begin {
    uint64_t ns; /* atomic; when the last one was; 0: no profiler ran then */
} takt_frame_begin;

/* State that a block keeps of its scope. */
typedef struct takt_open {
    takt_frame *frame; /* NULL: not recorded */
    uint64_t    start; /* ticks; distinguishes the frame from a later one in the same place. Without a
                        * frame: address of the one that has TAKT_FRAME_HIDES, or 0 */
} takt_open;

/* A thread's hot state, in one cache line. Only its thread writes it; sealing reads it. */
typedef struct takt_thread_v1 {
    takt_record *cursor; /* the next free record */
    takt_record *limit;  /* if equal to cursor, the library decides */
    takt_frame  *top;    /* the next free frame */
    void        *log;    /* struct tkt_thread_log */
    uint64_t     busy; /* 0, or TAKT_BUSY and bits of src/base/thread.h: the library decides */
    uint64_t     printing_timers;
    uint64_t     device_call; /* the current call into a device's library, see src/cuda */
} takt_thread_v1;

typedef struct takt_switch_v1 {
    uint64_t mask; /* the recorded kinds, one bit each: bit category * 4 + level - 1, and
                    * TAKT_WORK_BIT; TAKT_SCOPES_BIT with any of the first; 0: nothing records */
} takt_switch_v1;
#define TAKT_SCOPES_BIT (UINT64_C(1) << 62)

TAKT_ASSERT(sizeof(takt_record) == 16, "the record is an ABI");
TAKT_ASSERT(sizeof(takt_frame) == 16, "the frame is an ABI");
TAKT_ASSERT(sizeof(takt_thread_v1) <= 64, "thread-local storage must fit the static surplus");
TAKT_ASSERT(sizeof(takt_site) == 64, "the site is an ABI");

extern TAKT_DATA __thread takt_thread_v1 takt_thread_hot_v1
    __attribute__((__tls_model__("initial-exec")));
extern TAKT_DATA takt_switch_v1 takt_switch_hot_v1;

/* Called by the macros, not by programs. Cold: once for a site, or for a chunk. */
#ifndef TAKT_COLD
#define TAKT_COLD __attribute__((__cold__))
#endif
TAKT_API TAKT_COLD takt_open takt_scope_begin_v1(takt_site *site);
TAKT_API TAKT_COLD takt_open takt_scope_hide_v1(void); /* of a scope that is not recorded */
TAKT_API TAKT_COLD void takt_scope_unhide_v1(uint64_t frame);
TAKT_API void takt_scope_end_v1(takt_frame *frame, uint64_t start); /* also of each phase */
TAKT_API TAKT_COLD void takt_scope_end_inside_v1(takt_frame *frame,
                                                 uint64_t start); /* after takt_enter() */
TAKT_API void takt_frame_next_v1(takt_frame_begin *begin, const char *name);
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

#ifdef __cplusplus
}
#endif

#endif
