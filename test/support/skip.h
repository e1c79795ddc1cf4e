/* Cases that a machine cannot run. */
#ifndef TKT_TEST_SKIP_H
#define TKT_TEST_SKIP_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* Leaves a case of cmocka's out and says why: run-tests.sh shows and counts these lines. */
#define SKIP_CASE(why)                                                                             \
    do {                                                                                           \
        printf("case left out: %s: %s\n", __func__, why);                                          \
        fflush(stdout);                                                                            \
        skip();                                                                                    \
    } while (0)

/* True if scripts of test/support can run: needs python3, and TAKT_ROOT, which run-tests.sh sets. */
static inline bool can_run_scripts(void)
{
    return getenv("TAKT_ROOT") && system("command -v python3 >/dev/null") == 0;
}

#endif
