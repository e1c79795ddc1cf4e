/* The counters of `make coverage` are written by exit(). Whoever ends a process otherwise asks for
 * that first; in other builds nothing happens. */
#ifndef TEST_COUNTERS_H
#define TEST_COUNTERS_H

void __gcov_dump(void) __attribute__((weak));

static inline void write_counters(void)
{
    if (__gcov_dump)
        __gcov_dump();
}

#endif
