/* takt/detail/disabled.h - expansions of the macros of takt/scope.h with TAKT_DISABLE.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TAKT_DETAIL_DISABLED_H
#define TAKT_DETAIL_DISABLED_H

#include <takt/detail/site.h>

/* sizeof type-checks the arguments without evaluating them. */
static inline int takt_checked(const char *name)
{
    return name != NULL;
}
#define TAKT_NOTHING(instead, name, checked)                                                       \
    do {                                                                                           \
        TAKT_REQUIRE_NAME(name, instead)                                                           \
        (void)sizeof(takt_checked(name) + (checked));                                              \
    } while (0)
#define TAKT_BLOCK(kind, name, device, filter)                                                     \
    TAKT_NOTHING(TAKT_INSTEAD_SCOPE, name, takt_checked(device) + TAKT_CAST(int, filter))
#define TAKT_BLOCK_IN(category, level, name)                                                       \
    TAKT_NOTHING(TAKT_INSTEAD_SCOPE, name, takt_checked(category) + (level))
#define TAKT_DO_OPEN(scope, name)                                                                  \
    TAKT_NOTHING(TAKT_INSTEAD_SCOPE, name, 0);                                                     \
    const bool scope = false
#define TAKT_DO_CLOSE(scope) ((void)(scope))
#define TAKT_DO_BEGIN(name)  TAKT_NOTHING(TAKT_INSTEAD_SCOPE, name, 0)
#define TAKT_DO_END(name)    TAKT_NOTHING(TAKT_INSTEAD_END, name, 0)
#define TAKT_DO_PHASE(name)  TAKT_NOTHING(TAKT_INSTEAD_PHASE, name, 0)
#define TAKT_DO_MARK(name)   TAKT_NOTHING(TAKT_INSTEAD_MARK, name, 0)
#define TAKT_DO_FRAME(name)  TAKT_NOTHING(TAKT_INSTEAD_FRAME, name, 0)
#define TAKT_DO_COUNTER(name, value)                                                               \
    TAKT_NOTHING(TAKT_INSTEAD_COUNTER, name, TAKT_CAST(double, value))
#define TAKT_DO_ARG(key, value) TAKT_NOTHING(TAKT_INSTEAD_ARG, key, sizeof(value))
#define TAKT_DO_WORK(flops, bytes)                                                                 \
    ((void)sizeof(TAKT_CAST(double, flops) + TAKT_CAST(double, bytes)))

#endif
