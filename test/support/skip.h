/* Cases that a machine cannot run. */
#ifndef TKT_TEST_SKIP_H
#define TKT_TEST_SKIP_H

#include <stdio.h>

/* Leaves a case of cmocka's out and says why: run-tests.sh shows and counts these lines. */
#define SKIP_CASE(why)                                                                             \
    do {                                                                                           \
        printf("case left out: %s: %s\n", __func__, why);                                          \
        fflush(stdout);                                                                            \
        skip();                                                                                    \
    } while (0)

#endif
