/* Neighbour search in linear time, with the same result on every run.
 *
 * A counting sort keeps particles sorted by cell, x running fastest. The sort is stable and serial,
 * so the place of a particle depends only on the positions. Three cells in a row are one run of
 * consecutive particles; a neighbourhood is nine such runs, read in order. The lists are built once
 * a step, because the density and force loops both walk them. They hold only a sixth of the
 * particles in the runs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "grid.h"

#include <takt/takt.h>

#include "parallel.h"

#include <stdlib.h>

/* A particle inside the fluid has about 60 neighbours; the rest is slack. */
enum {
    INITIAL_CAPACITY = 96
};

static void size_axis(grid *g, int axis, double length)
{
    double cells = length / g->reach;
    g->cells[axis] = cells >= 1.0 ? (int)cells : 1;
    g->cells_per_metre[axis] = g->cells[axis] / length;
}

bool grid_init(grid *g, vec3 size, double reach, size_t count)
{
    *g = (grid){.reach = reach, .count = count, .capacity = INITIAL_CAPACITY};
    size_axis(g, 0, size.x);
    size_axis(g, 1, size.y);
    size_axis(g, 2, size.z);
    g->cell_count = (size_t)g->cells[0] * (size_t)g->cells[1] * (size_t)g->cells[2];

    g->first = calloc(g->cell_count + 1, sizeof *g->first);
    g->order = calloc(count, sizeof *g->order);
    g->cell_of = calloc(count, sizeof *g->cell_of);
    g->neighbour_count = calloc(count, sizeof *g->neighbour_count);
    g->neighbours = calloc(count, g->capacity * sizeof *g->neighbours);
    return g->first && g->order && g->cell_of && g->neighbour_count && g->neighbours;
}

void grid_fini(grid *g)
{
    free(g->first);
    free(g->order);
    free(g->cell_of);
    free(g->neighbour_count);
    free(g->neighbours);
}

/* Stores the begin of cell c in first[c]: counts the particles of each cell, then sums the
 * counts. */
static void count_cells(grid *g, const vec3 *position)
{
    for (size_t c = 0; c <= g->cell_count; c++)
        g->first[c] = 0;
    for (size_t i = 0; i < g->count; i++) {
        size_t c = grid_cell_of(g, position[i]);
        g->cell_of[i] = (uint32_t)c;
        g->first[c]++;
    }
    uint32_t before = 0;
    for (size_t c = 0; c <= g->cell_count; c++) {
        uint32_t here = g->first[c];
        g->first[c] = before;
        before += here;
    }
}

void grid_sort(grid *g, const vec3 *position)
{
    TAKT_FUNCTION();
    count_cells(g, position);
    for (size_t i = 0; i < g->count; i++)
        g->order[g->first[g->cell_of[i]]++] = (uint32_t)i;

    /* Each entry now points to the end of its cell, where the next cell begins. */
    for (size_t c = g->cell_count; c > 0; c--)
        g->first[c] = g->first[c - 1];
    g->first[0] = 0;
    TAKT_ARG("cells", g->cell_count);
}

/* Appends the particles of [begin, end) within reach of p. Particles that do not fit overwrite the
 * last place, and counting goes on, so the caller learns the required capacity. The loop has no
 * branch: one candidate in six is a neighbour, which no processor can predict. */
static uint32_t scan_run(const grid *g, const vec3 *position, vec3 p, uint32_t begin, uint32_t end,
                         uint32_t *list, uint32_t found)
{
    const double reach_squared = g->reach * g->reach;
    const uint32_t last = (uint32_t)g->capacity - 1;
    for (uint32_t j = begin; j < end; j++) {
        vec3 r = vec3_sub(p, position[j]);
        list[found < last ? found : last] = j;
        found += vec3_dot(r, r) < reach_squared;
    }
    return found;
}

static void list_neighbours_of(grid *g, const vec3 *position, size_t i)
{
    vec3 p = position[i];
    cell_range cells = grid_cells_around(g, p);
    uint32_t *list = g->neighbours + i * g->capacity;
    uint32_t found = 0;

    for (int z = cells.first[2]; z <= cells.last[2]; z++) {
        for (int y = cells.first[1]; y <= cells.last[1]; y++) {
            uint32_t begin = g->first[grid_cell_index(g, cells.first[0], y, z)];
            uint32_t end = g->first[grid_cell_index(g, cells.last[0], y, z) + 1];
            found = scan_run(g, position, p, begin, end, list, found);
        }
    }
    g->neighbour_count[i] = found;
}

static void list_all_neighbours(grid *g, const vec3 *position)
{
    TAKT_ACTIVITY("cpu", TAKT_TIMING_KERNEL, "neighbour lists");

    PARALLEL_FOR
    for (size_t i = 0; i < g->count; i++)
        list_neighbours_of(g, position, i);
}

/* Sums the list lengths into pair_count and returns the longest. */
static size_t measure_lists(grid *g)
{
    size_t longest = 0;
    g->pair_count = 0;
    for (size_t i = 0; i < g->count; i++) {
        g->pair_count += g->neighbour_count[i];
        if (g->neighbour_count[i] > longest)
            longest = g->neighbour_count[i];
    }
    return longest;
}

static bool grow_lists(grid *g, size_t longest)
{
    size_t capacity = longest + longest / 4 + 1;
    uint32_t *larger = calloc(g->count, capacity * sizeof *larger);
    if (!larger)
        return false;
    free(g->neighbours);
    g->neighbours = larger;
    g->capacity = capacity;
    return true;
}

bool grid_find_neighbours(grid *g, const vec3 *position)
{
    list_all_neighbours(g, position);
    size_t longest = measure_lists(g);
    if (longest >= g->capacity) {
        if (!grow_lists(g, longest))
            return false;
        list_all_neighbours(g, position);
    }
    TAKT_ARG("pairs", g->pair_count);
    return true;
}
