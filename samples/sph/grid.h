/* Finds each particle's neighbours: a grid of cells, a counting sort, and neighbour lists.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SPH_GRID_H
#define SPH_GRID_H

#include "vec3.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A grid over a box with one corner at the origin. Its cells are at least `reach` wide, so that all
 * neighbours of a particle lie in its own cell and the 26 around it. Positions outside the box are
 * taken into the outermost cells; neighbours are still found. */
typedef struct grid {
    double    reach;              /* m */
    double    cells_per_metre[3]; /* x, y, z */
    int       cells[3];           /* x, y, z */
    size_t    cell_count;
    size_t    count;           /* particles */
    uint32_t *first;           /* [cell_count + 1] first particle of each cell, once sorted */
    uint32_t *order;           /* [count] the particle that goes to each place when sorting */
    uint32_t *cell_of;         /* [count] scratch of the sort */
    uint32_t *neighbours;      /* [count][capacity] */
    uint32_t *neighbour_count; /* [count] */
    size_t    capacity;        /* places per particle in `neighbours`; grows when it must */
    size_t    pair_count;      /* sum of neighbour_count: pairs twice, and each particle itself */
} grid;

/* Prepares a grid for `count` particles, fewer than UINT32_MAX, in a box of `size` metres. False
 * when memory is short; grid_fini() is due in either case. */
bool grid_init(grid *g, vec3 size, double reach, size_t count);

/* Frees what grid_init() took. */
void grid_fini(grid *g);

/* Fills `order` so that cells follow each other and the particles of one cell stay in the order
 * they had. The caller then moves its arrays: new[k] = old[order[k]]. */
void grid_sort(grid *g, const vec3 *position);

/* Lists for each particle the particles within `reach`, itself among them, in ascending order.
 * `position` must have been moved as grid_sort() said. False when memory is short. */
bool grid_find_neighbours(grid *g, const vec3 *position);

static inline const uint32_t *grid_neighbours(const grid *g, size_t i)
{
    return g->neighbours + i * g->capacity;
}

SPH_INLINE int grid_cell_along(const grid *g, int axis, double x)
{
    double cell = x * g->cells_per_metre[axis];
    if (!(cell > 0.0)) /* also where x is not a number, which no int can hold */
        return 0;
    if (cell >= g->cells[axis])
        return g->cells[axis] - 1;
    return (int)cell;
}

SPH_INLINE size_t grid_cell_index(const grid *g, int x, int y, int z)
{
    return ((size_t)z * (size_t)g->cells[1] + (size_t)y) * (size_t)g->cells[0] + (size_t)x;
}

SPH_INLINE size_t grid_cell_of(const grid *g, vec3 p)
{
    return grid_cell_index(g, grid_cell_along(g, 0, p.x), grid_cell_along(g, 1, p.y),
                           grid_cell_along(g, 2, p.z));
}

/* The cells around a place, along x, y and z. */
typedef struct cell_range {
    int first[3];
    int last[3];
} cell_range;

SPH_INLINE cell_range grid_cells_around(const grid *g, vec3 p)
{
    const double place[3] = {p.x, p.y, p.z};
    cell_range range;
    for (int axis = 0; axis < 3; axis++) {
        int cell = grid_cell_along(g, axis, place[axis]);
        range.first[axis] = cell > 0 ? cell - 1 : 0;
        range.last[axis] = cell + 1 < g->cells[axis] ? cell + 1 : cell;
    }
    return range;
}

#endif
