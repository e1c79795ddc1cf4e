/* A growable array of one type:
 *
 *     struct { TKT_ARRAY(tkt_step); } steps = {0};     or    TKT_ARRAY_OF(tkt_step) steps = {0};
 *     tkt_step *step = TKT_ARRAY_ADD(&steps);            NULL when there is no memory
 *     for (size_t i = 0; i < steps.count; i++) use(&steps.items[i]);
 *     TKT_ARRAY_FREE(&steps);
 *
 * Items move when it grows. */
#ifndef TKT_BASE_ARRAY_H
#define TKT_BASE_ARRAY_H

#include "base/alloc.h"

#include <stdbool.h>

#define TKT_ARRAY(type)                                                                            \
    type  *items;                                                                                  \
    size_t count;                                                                                  \
    size_t capacity
#define TKT_ARRAY_OF(type)                                                                         \
    struct {                                                                                       \
        TKT_ARRAY(type);                                                                           \
    }

/* Makes room for `count` items in all; grows by half at least. `items` points to the pointer. */
bool tkt_array_reserve(void *items, size_t *capacity, size_t count, size_t item_size);

#define TKT_ARRAY_RESERVE(array, count)                                                            \
    tkt_array_reserve(&(array)->items, &(array)->capacity, (count), sizeof *(array)->items)

/* A new item at the end, uninitialised. */
#define TKT_ARRAY_ADD(array)                                                                       \
    (((array)->count < (array)->capacity || TKT_ARRAY_RESERVE(array, (array)->count + 1))          \
         ? &(array)->items[(array)->count++]                                                       \
         : NULL)

#define TKT_ARRAY_FREE(array)                                                                      \
    (tkt_free((array)->items), (array)->items = NULL, (array)->count = (array)->capacity = 0)

#endif
