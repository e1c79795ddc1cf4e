/* How much memory of this process is resident, in bytes. */
#ifndef TEST_SUPPORT_RESIDENT_H
#define TEST_SUPPORT_RESIDENT_H

#include "support/test.h"

#include <stdio.h>
#include <unistd.h>

static inline size_t resident_bytes(void)
{
    unsigned long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lu %lu", &pages, &resident), 2);
    fclose(file);
    return resident * (size_t)sysconf(_SC_PAGESIZE);
}

#endif
