/* All memory of the library comes from here, so that hosts can supply theirs (takt_set_allocator)
 * and tests can make the n-th allocation fail. A size of 0 counts as 1, so NULL from any function
 * always means that there is no memory. Any thread. */
#ifndef TKT_BASE_ALLOC_H
#define TKT_BASE_ALLOC_H

#include <stddef.h>
#include <stdint.h>

void *tkt_alloc(size_t size);
void *tkt_alloc_zeroed(size_t size);

/* Zeroed memory from the kernel. For a thread of Takt's that the program does not expect: it may fork
 * while that thread is in the program's allocator, whose locks the child would then wait for. */
void *tkt_alloc_mapped(size_t size);

void *tkt_resize(void *pointer, size_t size);
void tkt_free(void *pointer);
void *tkt_copy(const void *data, size_t size);
char *tkt_copy_string(const char *text); /* NULL stays NULL */

/* For tests: from now on `after` allocations succeed, then `failures` fail, then all succeed again.
 * UINT64_MAX failures: all fail from then on. */
void tkt_alloc_fail(uint64_t after, uint64_t failures);

/* ======== For zlib ======== */

/* Lets zlib use Takt's allocator: pass these as `zalloc` and `zfree`. */

static inline __attribute__((unused)) void *tkt_zlib_alloc(void *user, unsigned count, unsigned size)
{
    (void)user;
    return tkt_alloc((size_t)count * size);
}

static inline __attribute__((unused)) void tkt_zlib_free(void *user, void *pointer)
{
    (void)user;
    tkt_free(pointer);
}

#endif
