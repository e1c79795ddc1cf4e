/* The rows of a comparison, found by their names while millions of spans are walked. */
#include "cli/compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *cli_row_kind_name(cli_row_kind kind)
{
    static const char *const names[] = {"step", "scope", "call", "task", "activity", "cuda", "run"};
    return names[kind];
}

const char *cli_verdict_name(cli_verdict verdict)
{
    static const char *const names[] = {[CLI_SAME] = "same",
                                        [CLI_NOISE] = "noise",
                                        [CLI_UNKNOWN] = "unknown",
                                        [CLI_FASTER] = "faster",
                                        [CLI_SLOWER] = "slower",
                                        [CLI_TAIL_FASTER] = "tail faster",
                                        [CLI_TAIL_SLOWER] = "tail slower",
                                        [CLI_FASTER_TAIL_SLOWER] = "faster, tail slower",
                                        [CLI_SLOWER_TAIL_FASTER] = "slower, tail faster",
                                        [CLI_FEWER_CALLS] = "fewer calls",
                                        [CLI_MORE_CALLS] = "more calls",
                                        [CLI_NEW] = "new",
                                        [CLI_GONE] = "gone"};
    return names[verdict];
}

bool cli_row_has_name(const cli_row *row, const char *name)
{
    return strcmp(name, row->name) == 0 || strcmp(name, row->name + row->leaf) == 0;
}

/* FNV-1a. */
static size_t hash_of(cli_row_kind kind, uint32_t above, const char *name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ (uint64_t)kind ^ (uint64_t)above << 8;
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    return (size_t)(hash ^ hash >> 32);
}

static bool is_row(const cli_row *row, cli_row_kind kind, uint32_t above, const char *name)
{
    return row->kind == kind && row->above == above && strcmp(row->name + row->leaf, name) == 0;
}

/* The slot of a row, or the empty one where it belongs. */
static uint32_t *slot_of(const cli_rows *rows, cli_row_kind kind, uint32_t above, const char *name)
{
    size_t i = hash_of(kind, above, name);
    for (;; i++) {
        uint32_t *slot = &rows->slots[i % rows->slot_count];
        if (*slot == 0 || is_row(&rows->items[*slot - 1], kind, above, name))
            return slot;
    }
}

/* Room for twice as many rows; at most half of the slots are in use. */
static bool grow(cli_rows *rows)
{
    size_t capacity = rows->capacity ? 2 * rows->capacity : 64;
    cli_row *items = realloc(rows->items, capacity * sizeof *items);
    if (!items)
        return false;
    rows->items = items;
    uint32_t *slots = calloc(2 * capacity, sizeof *slots);
    if (!slots)
        return false;
    free(rows->slots);
    rows->slots = slots;
    rows->slot_count = 2 * capacity;
    rows->capacity = capacity;
    for (size_t i = 0; i < rows->count; i++) {
        const cli_row *row = &rows->items[i];
        *slot_of(rows, row->kind, row->above, row->name + row->leaf) = (uint32_t)i + 1;
    }
    return true;
}

static char *name_of(const cli_rows *rows, uint32_t above, const char *name, size_t *leaf)
{
    const char *path = above == CLI_NO_ROW ? "" : rows->items[above].name;
    const char *between = above == CLI_NO_ROW ? "" : " > ";
    *leaf = strlen(path) + strlen(between);
    size_t size = *leaf + strlen(name) + 1;
    char *copy = malloc(size);
    if (copy)
        snprintf(copy, size, "%s%s%s", path, between, name);
    return copy;
}

uint32_t cli_rows_find(cli_rows *rows, cli_row_kind kind, uint32_t above, const char *name)
{
    if (rows->count == rows->capacity && !grow(rows))
        return CLI_NO_ROW;
    uint32_t *slot = slot_of(rows, kind, above, name);
    if (*slot)
        return *slot - 1;
    cli_row *row = &rows->items[rows->count];
    *row = (cli_row){.kind = kind, .above = above};
    row->name = name_of(rows, above, name, &row->leaf);
    if (!row->name)
        return CLI_NO_ROW;
    *slot = (uint32_t)++rows->count;
    return *slot - 1;
}

static void free_part(cli_part *part)
{
    cli_samples_free(&part->samples);
    cli_values_free(&part->means);
    cli_values_free(&part->medians);
}

void cli_rows_free(cli_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        free(rows->items[i].name);
        free_part(&rows->items[i].parts[CLI_A]);
        free_part(&rows->items[i].parts[CLI_B]);
    }
    free(rows->items);
    free(rows->slots);
    *rows = (cli_rows){0};
}
