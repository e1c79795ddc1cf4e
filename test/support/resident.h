/* How much memory of this process is resident, in bytes. */
#ifndef TEST_SUPPORT_RESIDENT_H
#define TEST_SUPPORT_RESIDENT_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline size_t resident_bytes(void)
{
    unsigned long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%lu %lu", &pages, &resident) != 2) {
        perror("/proc/self/statm");
        exit(EXIT_FAILURE);
    }
    fclose(file);
    return resident * (size_t)sysconf(_SC_PAGESIZE);
}

#endif
