/* The lock, memory, and which handles are alive. Programs hand in handles that were never born or
 * have died, so these are looked up and never believed. */
#include "sim_core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void sim_lock(void)
{
    pthread_mutex_lock(&lock);
}
void sim_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

static void *checked(void *memory)
{
    if (!memory) {
        fputs("simgpu: out of memory\n", stderr);
        abort();
    }
    return memory;
}

void *sim_new(size_t bytes)
{
    return checked(calloc(1, bytes ? bytes : 1));
}

void *sim_grow(void *items, size_t count, size_t item_bytes)
{
    if (count & (count - 1))
        return items; /* room doubles at the powers of two */
    return checked(realloc(items, (count ? 2 * count : 1) * item_bytes));
}

typedef struct sim_living {
    const void *handle; /* NULL: free; DEAD: was used */
    sim_object object;
} sim_living;

#define DEAD ((const void *)(uintptr_t)1)

static sim_living *table;
static size_t table_size; /* a power of two */
static size_t table_used; /* with the dead */

static size_t place_of(const void *handle)
{
    return (size_t)(((uintptr_t)handle >> 4) * 0x9E3779B97F4A7C15u >> 20);
}

static sim_living *lookup(const void *handle)
{
    if (!table_size || (uintptr_t)handle < 4096)
        return NULL;
    for (size_t i = place_of(handle);; i++) {
        sim_living *living = &table[i & (table_size - 1)];
        if (!living->handle)
            return NULL;
        if (living->handle == handle)
            return living;
    }
}

static void insert(const void *handle, sim_object object)
{
    size_t i = place_of(handle);
    while (table[i & (table_size - 1)].handle)
        i++;
    table[i & (table_size - 1)] = (sim_living){.handle = handle, .object = object};
    table_used++;
}

static void rehash(void)
{
    sim_living *old = table;
    size_t old_size = table_size;
    size_t alive = 0;
    for (size_t i = 0; i < old_size; i++)
        alive += old[i].handle && old[i].handle != DEAD;
    table_size = 64;
    while (table_size < 4 * alive)
        table_size *= 2;
    table = sim_new(table_size * sizeof *table);
    table_used = 0;
    for (size_t i = 0; i < old_size; i++) {
        if (old[i].handle && old[i].handle != DEAD)
            insert(old[i].handle, old[i].object);
    }
    free(old);
}

bool sim_is(const void *handle, sim_object object)
{
    const sim_living *living = lookup(handle);
    return living && living->object == object;
}

void sim_born(void *handle, sim_object object)
{
    if (2 * (table_used + 1) > table_size)
        rehash();
    insert(handle, object);
}

void sim_died(const void *handle)
{
    sim_living *living = lookup(handle);
    if (living)
        living->handle = DEAD;
}

void sim_each(sim_object object, void (*visit)(void *handle, void *data), void *data)
{
    for (size_t i = 0; i < table_size; i++) {
        if (table[i].handle && table[i].handle != DEAD && table[i].object == object)
            visit((void *)(uintptr_t)table[i].handle, data);
    }
}
