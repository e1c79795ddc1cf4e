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

#define TAKT_SITE_AS(kind, level, category, name, device, filter)                                  \
    {                                                                                              \
        TAKT_SLOW, TAKT_CAST(uint8_t, kind), TAKT_CAST(uint8_t, level), 0, ~UINT64_C(0),           \
            (name), /* a literal; for names made at run time use takt_begin() and the like */      \
            (category), __FILE__, TAKT_FUNCTION_NAME, (device), __LINE__, (filter)                 \
    }
#define TAKT_STATIC_SITE(variable, instead, kind, level, category, name, device, filter)           \
    TAKT_REQUIRE_NAME(name, instead)                                                               \
    TAKT_REQUIRE_REST(category, level, device, filter)                                             \
    TAKT_CONSTINIT static takt_site variable =                                                     \
        TAKT_SITE_AS(kind, level, category, name, device, filter)

/* The scope of a block, with default category and level; and with a given category and level. */
#define TAKT_BLOCK(kind, name, device, filter)                                                     \
    TAKT_BLOCK_COUNTED(__COUNTER__, kind, name, device, filter)
#define TAKT_BLOCK_COUNTED(id, kind, name, device, filter)                                         \
    TAKT_SCOPE_AS(id, TAKT_NORMAL_BIT, kind, TAKT_LEVEL_NORMAL, NULL, name, device, filter)
#define TAKT_BLOCK_IN(category, level, name)                                                       \
    TAKT_BLOCK_IN_COUNTED(__COUNTER__, category, level, name)
#define TAKT_BLOCK_IN_COUNTED(id, category, level, name)                                           \
    TAKT_SCOPE_AS(id, __atomic_load_n(&TAKT_JOIN(takt_site_, id).bits, __ATOMIC_RELAXED),          \
                  TAKT_SITE_SCOPE, level, category, name, NULL, 0)
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

/* The current frame of a TAKT_FRAME. */
typedef struct TAKT_HIDDEN_TYPE takt_frame_begin {
    uint64_t ns; /* atomic; 0: not recorded */
} takt_frame_begin;

/* Ends the current frame of TAKT_FRAME and begins the next one. */
static inline void takt_frame_next(takt_frame_begin *begin, const char *name)
{
    uint64_t now = takt_is_on(TAKT_NORMAL_BIT) ? takt_now_ns() : 0;
    uint64_t was = __atomic_exchange_n(&begin->ns, now, __ATOMIC_RELAXED);
    if (was != 0 && now != 0)
        takt_span_at(takt_track_named(name), name, was, now);
}

#define TAKT_DO_OPEN(scope, name) TAKT_DO_OPEN_COUNTED(__COUNTER__, scope, name)
#define TAKT_DO_OPEN_COUNTED(id, scope, name)                                                      \
    TAKT_STATIC_SITE(TAKT_JOIN(takt_site_, id), TAKT_INSTEAD_SCOPE, TAKT_SITE_SCOPE,               \
                     TAKT_LEVEL_NORMAL, NULL, name, NULL, 0);                                      \
    const takt_open scope = takt_scope_open(&TAKT_JOIN(takt_site_, id), TAKT_NORMAL_BIT)
#define TAKT_DO_CLOSE(scope) takt_scope_close(scope)

#define TAKT_DO_BEGIN(name)                                                                        \
    TAKT_SITE_DO(takt_begin_v1, TAKT_NORMAL_BIT, TAKT_SITE_SCOPE, TAKT_INSTEAD_SCOPE, name, )
#define TAKT_DO_END(name)                                                                          \
    do {                                                                                           \
        TAKT_SITE_HERE(TAKT_INSTEAD_END, TAKT_SITE_SCOPE, name);                                   \
        if (TAKT_UNLIKELY(takt_is_on(TAKT_NORMAL_BIT) || takt_has_open()))                         \
            takt_end_v1(&takt_site_here);                                                          \
    } while (0)
#define TAKT_DO_PHASE(name)                                                                        \
    do {                                                                                           \
        TAKT_SITE_HERE(TAKT_INSTEAD_PHASE, TAKT_SITE_PHASE, name);                                 \
        takt_phase_next(&takt_site_here, TAKT_NORMAL_BIT);                                         \
    } while (0)
#define TAKT_DO_MARK(name)                                                                         \
    TAKT_SITE_DO(takt_mark_v1, TAKT_NORMAL_BIT, TAKT_SITE_MARK, TAKT_INSTEAD_MARK, name, )
#define TAKT_DO_COUNTER(name, value)                                                               \
    TAKT_SITE_DO(takt_counter_v1, TAKT_NORMAL_BIT, TAKT_SITE_COUNTER, TAKT_INSTEAD_COUNTER, name,  \
                 TAKT_COMMA TAKT_CAST(double, value))
#define TAKT_DO_FRAME(name)                                                                        \
    do {                                                                                           \
        TAKT_CONSTINIT static takt_frame_begin takt_frame_here = {0};                              \
        TAKT_REQUIRE_NAME(name, TAKT_INSTEAD_FRAME)                                                \
        takt_frame_next(&takt_frame_here, name);                                                   \
    } while (0)
#define TAKT_DO_WORK(flops, bytes)                                                                 \
    do {                                                                                           \
        if (TAKT_UNLIKELY(takt_is_on(TAKT_NORMAL_BIT | TAKT_WORK_BIT)))                            \
            takt_work(TAKT_CAST(double, flops), TAKT_CAST(double, bytes));                         \
    } while (0)

#endif
