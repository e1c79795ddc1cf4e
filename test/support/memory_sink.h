/* A sink into memory: starts as {0}; the owner frees `data` with tkt_free(). And one that forgets
 * what it gets. */
#ifndef TEST_MEMORY_SINK_H
#define TEST_MEMORY_SINK_H

#include "base/containers.h"

#include <takt/base.h>

#include <string.h>

typedef struct memory_sink {
    char *data;
    size_t size;
    size_t capacity;
} memory_sink;

static inline takt_status memory_sink_write(void *user, const void *data, size_t size)
{
    memory_sink *memory = user;
    if (!tkt_array_reserve(&memory->data, &memory->capacity, memory->size + size, 1))
        return TAKT_NO_MEMORY;
    if (size) /* there may be no memory yet */
        memcpy(memory->data + memory->size, data, size);
    memory->size += size;
    return TAKT_OK;
}

static inline takt_sink memory_sink_of(memory_sink *memory)
{
    return (takt_sink){memory_sink_write, memory};
}

static inline takt_status discard(void *user, const void *data, size_t size)
{
    (void)user;
    (void)data;
    (void)size;
    return TAKT_OK;
}

#endif
