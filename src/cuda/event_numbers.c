/* Numbers the contexts and streams of marks in the order of their first marks, and makes labels. */
#include "cuda/event.h"

#include "base/containers.h"
#include "base/lock.h"
#include "cuda/store.h"

#include <stdio.h>

static tkt_mutex numbers_lock = TKT_MUTEX_INIT; /* never held across a call into the driver */
static TKT_ARRAY_OF(tkt_marked_context) contexts;
static tkt_map stream_numbers;
static tkt_map labels; /* call site and filter -> string of the store */

void tkt_marks_forget_numbers(void)
{
    tkt_mutex_init(&numbers_lock);
}

/* ---- Contexts -------------------------------------------------------------------------------- */

static uint32_t index_of_context(const tkt_event_context *context)
{
    for (uint32_t i = 0; i < contexts.count; i++)
        if (contexts.items[i].context.key == context->key)
            return i;
    return UINT32_MAX;
}

static uint32_t device_of(const tkt_driver *driver, void *context)
{
    void *previous;
    int device = 0;
    if (driver->context_push(context) != TKT_CUDA_SUCCESS)
        return 0;
    driver->context_device(&device);
    driver->context_pop(&previous);
    return (uint32_t)device;
}

uint32_t tkt_marks_context(const tkt_driver *driver, const tkt_event_context *context)
{
    tkt_mutex_lock(&numbers_lock);
    uint32_t index = index_of_context(context);
    tkt_mutex_unlock(&numbers_lock);
    if (index != UINT32_MAX)
        return index;
    uint32_t device = device_of(driver, context->handle);
    tkt_mutex_lock(&numbers_lock);
    index = index_of_context(context);
    tkt_marked_context *added = index == UINT32_MAX ? TKT_ARRAY_ADD(&contexts) : NULL;
    if (added) {
        *added = (tkt_marked_context){.context = *context, .device = device};
        index = (uint32_t)contexts.count - 1;
    }
    tkt_mutex_unlock(&numbers_lock);
    return index;
}

tkt_marked_context tkt_marks_context_at(uint32_t index)
{
    tkt_mutex_lock(&numbers_lock);
    tkt_marked_context known = contexts.items[index];
    tkt_mutex_unlock(&numbers_lock);
    return known;
}

void tkt_marks_set_anchor(uint32_t index, const tkt_anchor *anchor)
{
    tkt_mutex_lock(&numbers_lock);
    contexts.items[index].anchor = *anchor;
    tkt_mutex_unlock(&numbers_lock);
}

/* ---- Streams --------------------------------------------------------------------------------- */

uint32_t tkt_marks_stream(uint64_t context_key, const void *stream)
{
    tkt_mutex_lock(&numbers_lock);
    uint64_t *number = tkt_map_put(&stream_numbers, tkt_hash_u64(context_key) ^ (uintptr_t)stream);
    if (number && *number == 0)
        *number = stream_numbers.count;
    uint32_t result = number ? (uint32_t)*number : 0;
    tkt_mutex_unlock(&numbers_lock);
    return result;
}

/* ---- Labels ---------------------------------------------------------------------------------- */

static uint32_t make_label(const takt_site *site, uint32_t filter)
{
    char label[512];
    tkt_store *store = tkt_store_get();
    if (filter)
        tkt_activity_label(label, sizeof label, filter, site->name ? site->name : "(null)");
    else
        snprintf(label, sizeof label, "stream scope %s", site->name ? site->name : "(null)");
    tkt_mutex_lock(&store->lock);
    uint32_t id = tkt_store_string(store, label);
    tkt_mutex_unlock(&store->lock);
    return id;
}

uint32_t tkt_marks_label(const takt_site *site, uint32_t filter)
{
    uint64_t key = (uint64_t)__atomic_load_n(&site->tag, __ATOMIC_RELAXED) << 32 | filter;
    tkt_mutex_lock(&numbers_lock);
    uint64_t *known = tkt_map_get(&labels, key);
    uint32_t label = known ? (uint32_t)*known : TKT_STRTAB_FULL;
    tkt_mutex_unlock(&numbers_lock);
    if (known)
        return label;
    label = make_label(site, filter);
    tkt_mutex_lock(&numbers_lock);
    known = label == TKT_STRTAB_FULL ? NULL : tkt_map_put(&labels, key);
    if (known)
        *known = label;
    tkt_mutex_unlock(&numbers_lock);
    return label;
}
