/* zlib's memory comes from Takt's allocator: pass the two as `zalloc` and `zfree`. */
#ifndef TKT_BASE_ZLIB_MEMORY_H
#define TKT_BASE_ZLIB_MEMORY_H

#include "base/alloc.h"

static inline void *tkt_zlib_alloc(void *user, unsigned count, unsigned size)
{
    (void)user;
    return tkt_alloc((size_t)count * size);
}

static inline void tkt_zlib_free(void *user, void *pointer)
{
    (void)user;
    tkt_free(pointer);
}

#endif
