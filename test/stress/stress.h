/* What a stress test runs with. */
#ifndef TKT_TEST_STRESS_H
#define TKT_TEST_STRESS_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STRESS_IS_SANITIZED 1
#else
#define STRESS_IS_SANITIZED 0
#endif

#endif
