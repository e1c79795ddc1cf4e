/* Call paths by number, in a hash table with open addressing. Texts are compared as pointers: a
 * trace has each text once. */
#include "cli/tables/tables.h"

#include <stdlib.h>
#include <string.h>

static size_t hash_of(uint32_t parent, const char *name, const char *file, uint32_t line)
{
    uint64_t hash = (uint64_t)parent << 32 | line;
    hash = (hash ^ (uintptr_t)name) * UINT64_C(0x9E3779B97F4A7C15);
    hash = (hash ^ hash >> 32 ^ (uintptr_t)file) * UINT64_C(0x9E3779B97F4A7C15);
    return (size_t)(hash ^ hash >> 29);
}

static bool is_path(const table_path *path, uint32_t parent, const takt_span_info *span)
{
    return path->parent == parent && path->line == span->line && path->name == span->name &&
           path->file == span->file && path->category == span->category &&
           path->filter == span->filter;
}

static bool grow_slots(table_paths *paths)
{
    size_t count = paths->slot_count ? paths->slot_count * 2 : 64;
    uint32_t *slots = calloc(count, sizeof *slots);
    if (!slots)
        return false;
    for (uint32_t i = 1; i < paths->count; i++) {
        const table_path *path = &paths->items[i];
        size_t at = hash_of(path->parent, path->name, path->file, path->line);
        while (slots[at & (count - 1)])
            at++;
        slots[at & (count - 1)] = i;
    }
    free(paths->slots);
    paths->slots = slots;
    paths->slot_count = count;
    return true;
}

static bool reserve(table_paths *paths)
{
    if (paths->count * 2 >= paths->slot_count && !grow_slots(paths))
        return false;
    if (paths->count + 1 < paths->capacity)
        return true;
    size_t capacity = paths->capacity ? paths->capacity * 2 : 64;
    table_path *items = realloc(paths->items, capacity * sizeof *items);
    if (!items)
        return false;
    paths->items = items;
    paths->capacity = capacity;
    if (!paths->count)
        paths->items[paths->count++] = (table_path){.name = ""};
    return true;
}

static bool is_inside(const table_paths *paths, uint32_t path, const char *name)
{
    for (; path; path = paths->items[path].parent)
        if (strcmp(paths->items[path].name, name) == 0)
            return true;
    return false;
}

static uint32_t add(table_paths *paths, uint32_t parent, const takt_span_info *span)
{
    paths->items[paths->count] = (table_path){
        .name = span->name,
        .category = span->category,
        .file = span->file,
        .line = span->line,
        .parent = parent,
        .filter = span->filter,
        .depth = parent ? paths->items[parent].depth + 1 : 0,
        .is_call = (span->flags & TAKT_SPAN_CALL) != 0,
        .is_recursive = is_inside(paths, parent, span->name),
    };
    return (uint32_t)paths->count++;
}

uint32_t table_path_of(table_paths *paths, uint32_t parent, const takt_span_info *span)
{
    if (!reserve(paths))
        return 0;
    size_t at = hash_of(parent, span->name, span->file, span->line);
    uint32_t *slot;
    for (; *(slot = &paths->slots[at & (paths->slot_count - 1)]); at++)
        if (is_path(&paths->items[*slot], parent, span))
            return *slot;
    return *slot = add(paths, parent, span);
}

void table_paths_fini(table_paths *paths)
{
    free(paths->items);
    free(paths->slots);
    *paths = (table_paths){0};
}
