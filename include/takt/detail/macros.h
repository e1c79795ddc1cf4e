/* takt/detail/macros.h - expansions of the macros of takt/scope.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TAKT_DETAIL_MACROS_H
#define TAKT_DETAIL_MACROS_H

#include <takt/detail/fast.h>
#include <takt/detail/site.h>

/* The mask bit of recordings that want only totals of declared work. */
#define TAKT_WORK_BIT (UINT64_C(1) << 63)

/* The mask bit of (default category, level). A site of another category gets its bit at its first
 * hit. */
#define TAKT_DEFAULT_BIT(level) (UINT64_C(1) << ((level)-1))
#define TAKT_NORMAL_BIT         TAKT_DEFAULT_BIT(TAKT_LEVEL_NORMAL)
#define TAKT_COMMA              ,

#ifdef __cplusplus
extern "C" {
#endif
/* For guards whose names are made at run time: frame NULL while nothing records. */
TAKT_API takt_open takt_scope_named_v1(const char *name);
TAKT_API takt_open takt_scope_made_v1(takt_name name);

/* For takt/compat/tracy.h. Frozen. */
typedef struct takt_tracy_lock {
    takt_name  wait;
    takt_track track;
    takt_span  held;
} takt_tracy_lock;

/* Texts need no NUL. One instance of frames and fibers for the whole program: of frames by their
 * name, of fibers by thread. NULL: the thread leaves its fiber. */
TAKT_API void takt_tracy_mark_v1(const char *text, size_t bytes);
TAKT_API void takt_tracy_arg_v1(takt_site *key, const char *text, size_t bytes);
TAKT_API void takt_tracy_frame_begin_v1(const char *name);
TAKT_API void takt_tracy_frame_end_v1(const char *name);
TAKT_API void takt_tracy_fiber_v1(const char *name);
TAKT_API void takt_tracy_lock_name_v1(takt_tracy_lock *lock, const char *name, size_t bytes);

/* Returns NULL if memory is exhausted. The C lock macros accept NULL. Freed with free(). */
TAKT_API takt_tracy_lock *takt_tracy_lock_make_v1(const char *name);
#ifdef __cplusplus
}
#endif

/* ---- On and off ------------------------------------------------------------------------------ */

/* Off, the code is the same, in branches that are never taken: so it is checked as ever, and
 * compilers remove it at every level. Guards are of a type of their own, since other files of the
 * program may have them on. */
TAKT_INLINES_BEGIN

TAKT_INLINE takt_open takt_not_opened(void)
{
    takt_open none = {TAKT_NULL, 0};
    return none;
}

#if TAKT_IS_OFF

#define TAKT_DO_IF(what, call)  ((void)(false && ((call), true))) /* nvcc -G calls in others */
#define TAKT_WHEN(bits)         0
#define TAKT_OPENED(site, bits) (TAKT_DO_IF(0, takt_scope_begin_v1(site)), takt_not_opened())
#define TAKT_OPENED_IN(site)    TAKT_OPENED(site, 0)
#define TAKT_NAMED(name)        (TAKT_DO_IF(0, takt_scope_named_v1(name)), takt_not_opened())
#define TAKT_CLOSED(opened)                                                                        \
    TAKT_DO_IF(0, takt_scope_end_v1((opened).frame, (opened).start))
#define TAKT_PHASED(site) TAKT_DO_IF(0, takt_phase_v1(site))
#ifdef __cplusplus
struct takt_no_guard {
    TAKT_INLINE explicit takt_no_guard(takt_open) {}
    takt_no_guard(const takt_no_guard &) = delete;
    takt_no_guard &operator=(const takt_no_guard &) = delete;
    TAKT_INLINE ~takt_no_guard() {}
};
#define TAKT_GUARD(variable, opened) takt_no_guard variable(opened)
#else
#define TAKT_GUARD(variable, opened) takt_open variable __attribute__((__unused__)) = (opened)
#endif

#else

#define TAKT_WHEN(bits)        TAKT_UNLIKELY(takt_is_on(bits))
#define TAKT_DO_IF(what, call)                                                                     \
    do {                                                                                           \
        if (what)                                                                                  \
            call;                                                                                  \
    } while (0)
#if defined(__NVCC__) || defined(__EDG__) /* a site stores its names there: see site.h */
#define TAKT_ANY                ~UINT64_C(0)
#define TAKT_OPENED(site, bits)                                                                    \
    (TAKT_WHEN((bits) | TAKT_SCOPES_BIT) ? takt_scope_open(site, bits) : takt_not_opened())
#define TAKT_OPENED_IN(site)    (TAKT_WHEN(TAKT_ANY) ? takt_scope_open_in(site) : takt_not_opened())
#define TAKT_PHASED(site)                                                                          \
    (TAKT_WHEN(TAKT_NORMAL_BIT) ? takt_phase_next(site, TAKT_NORMAL_BIT) : (void)0)
#else
#define TAKT_OPENED(site, bits) takt_scope_open(site, bits)
#define TAKT_OPENED_IN(site)    takt_scope_open_in(site)
#define TAKT_PHASED(site)       takt_phase_next(site, TAKT_NORMAL_BIT)
#endif
#define TAKT_NAMED(name)             takt_scope_named_v1(name)
#define TAKT_CLOSED(opened)          takt_scope_close(opened)
#define TAKT_GUARD(variable, opened) TAKT_SCOPE_GUARD(variable, opened)

#endif

/* ---- Blocks ---------------------------------------------------------------------------------- */

#define TAKT_BLOCK(kind, name, device, filter)                                                     \
    TAKT_QUIET_BEGIN                                                                               \
    TAKT_GUARD(TAKT_JOIN(takt_scope_, __COUNTER__),                                                \
               TAKT_OPENED(TAKT_SITE(takt_scope_at_, TAKT_INSTEAD_SCOPE, kind, TAKT_LEVEL_NORMAL,  \
                                     TAKT_NULL, name, device, filter),                             \
                           TAKT_NORMAL_BIT))                                                       \
    TAKT_QUIET_END
#define TAKT_BLOCK_IN(category, level, name)                                                       \
    TAKT_QUIET_BEGIN                                                                               \
    TAKT_GUARD(TAKT_JOIN(takt_scope_, __COUNTER__),                                                \
               TAKT_OPENED_IN(TAKT_SITE(takt_scope_in_at_, TAKT_INSTEAD_SCOPE, TAKT_SITE_SCOPE,    \
                                        level, category, name, TAKT_NULL, 0)))                     \
    TAKT_QUIET_END

#define TAKT_DO_OPEN(scope, name)                                                                  \
    TAKT_QUIET_BEGIN                                                                               \
    const takt_open scope = TAKT_OPENED(                                                           \
        TAKT_SITE_HERE(takt_open_at_, TAKT_INSTEAD_SCOPE, TAKT_SITE_SCOPE, name), TAKT_NORMAL_BIT) \
    TAKT_QUIET_END
#define TAKT_DO_CLOSE(scope) TAKT_CLOSED(scope)

/* ---- Events ---------------------------------------------------------------------------------- */

#define TAKT_SITE_DO(call, bits, place, kind, instead, name, ...)                                  \
    TAKT_QUIET_BEGIN                                                                               \
    TAKT_DO_IF(TAKT_WHEN(bits), call(TAKT_SITE_HERE(place, instead, kind, name) __VA_ARGS__))      \
    TAKT_QUIET_END

#define TAKT_DO_BEGIN(name)                                                                        \
    TAKT_SITE_DO(takt_begin_v1, TAKT_NORMAL_BIT, takt_begin_at_, TAKT_SITE_SCOPE,                  \
                 TAKT_INSTEAD_SCOPE, name, )
#define TAKT_DO_END(name)                                                                          \
    TAKT_QUIET_BEGIN                                                                               \
    TAKT_DO_IF(                                                                                    \
        TAKT_WHEN(TAKT_NORMAL_BIT) || takt_has_open(),                                             \
        takt_end_v1(TAKT_SITE_HERE(takt_end_at_, TAKT_INSTEAD_END, TAKT_SITE_SCOPE, name)))        \
    TAKT_QUIET_END
#define TAKT_DO_PHASE(name)                                                                        \
    TAKT_QUIET_BEGIN                                                                               \
    TAKT_PHASED(TAKT_SITE_HERE(takt_phase_at_, TAKT_INSTEAD_PHASE, TAKT_SITE_PHASE, name))         \
    TAKT_QUIET_END
#define TAKT_DO_MARK(name)                                                                         \
    TAKT_SITE_DO(takt_mark_v1, TAKT_NORMAL_BIT, takt_mark_at_, TAKT_SITE_MARK, TAKT_INSTEAD_MARK,  \
                 name, )
#define TAKT_DO_COUNTER(name, value)                                                               \
    TAKT_SITE_DO(takt_counter_v1, TAKT_NORMAL_BIT, takt_counter_at_, TAKT_SITE_COUNTER,            \
                 TAKT_INSTEAD_COUNTER, name, TAKT_COMMA value)
#define TAKT_DO_WORK(flops, bytes)                                                                 \
    TAKT_DO_IF(TAKT_WHEN(TAKT_NORMAL_BIT | TAKT_WORK_BIT),                                         \
               takt_work(TAKT_TO(double, flops), TAKT_TO(double, bytes)))

/* ---- Frames ---------------------------------------------------------------------------------- */

#define TAKT_FRAME_HERE TAKT_JOIN(takt_frame_at_, TAKT_JOIN(TAKT_SITE_BY, __LINE__))
#define TAKT_DO_FRAME(name)                                                                        \
    do {                                                                                           \
        TAKT_REQUIRE_NAME(name, TAKT_INSTEAD_FRAME)                                                \
        TAKT_QUIET_BEGIN                                                                           \
        TAKT_CONSTINIT static takt_frame_begin TAKT_FRAME_HERE = {0};                              \
        TAKT_QUIET_END                                                                             \
        TAKT_DO_IF(true, takt_frame_next_v1(&TAKT_FRAME_HERE, name));                              \
    } while (0)

TAKT_INLINES_END

#endif
