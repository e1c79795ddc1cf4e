/* Growth of arrays. The pointer to the items is reached through memcpy, because it is a pointer to
 * some type that is not known here, and C forbids to write it as a void pointer. */
#include "base/array.h"

#include <stdint.h>
#include <string.h>

#define SMALLEST_CAPACITY 8

static size_t grown(size_t capacity, size_t count)
{
    size_t half_more = capacity + capacity / 2;
    if (half_more < SMALLEST_CAPACITY)
        half_more = SMALLEST_CAPACITY;
    return count > half_more ? count : half_more;
}

bool tkt_array_reserve(void *items, size_t *capacity, size_t count, size_t item_size)
{
    if (count <= *capacity)
        return true;
    size_t wanted = grown(*capacity, count);
    if (wanted > SIZE_MAX / 2 / item_size)
        return false;
    void *old;
    memcpy(&old, items, sizeof old);
    void *moved = tkt_resize(old, wanted * item_size);
    if (!moved)
        return false;
    memcpy(items, &moved, sizeof moved);
    *capacity = wanted;
    return true;
}
