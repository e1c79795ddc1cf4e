/* Removes a crash-safe file: what its link leads to, too. */
#ifndef REMOVE_FILE_H
#define REMOVE_FILE_H

#include <unistd.h>

static inline void remove_file(const char *name)
{
    char target[512];
    ssize_t length = readlink(name, target, sizeof target - 1);
    if (length > 0) {
        target[length] = 0;
        unlink(target);
    }
    unlink(name);
}

#endif
