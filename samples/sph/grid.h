/* Finds the neighbours of each particle: a grid of cells, a counting sort, and neighbour lists.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SPH_GRID_H
#define SPH_GRID_H

#include "vec3.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A grid over a box with one corner at the origin. Cells are at least `reach` wide, so all
 * neighbours of a particle are in its own cell and the 26 around it. A particle outside the box
 * belongs to the nearest outermost cell; its neighbours are still found. */
typedef struct grid {
    double    reach;              /* m */
    double    cells_per_metre[3]; /* x, y, z */
    int       cells[3];           /* x, y, z */
    size_t    cell_count;
    size_t    count;           /* particles */
    uint32_t *first;           /* [cell_count + 1] first particle of each cell, once sorted */
    uint32_t *order;           /* [count] index of the particle that moves to each place when
                                * sorting */
    uint32_t *cell_of;         /* [count] temporary array of the sort */
    uint32_t *neighbours;      /* [count][capacity] */
    uint32_t *neighbour_count; /* [count] */
    size_t    capacity;        /* places per particle in `neighbours`; grows on demand */
    size_t    pair_count;      /* sum of neighbour_count: pairs twice, and each particle itself */
} grid;

/* Prepares a grid for `count` particles, fewer than UINT32_MAX, in a box of `size` metres. Returns
 * false if memory is exhausted. Call grid_fini() in both cases. */
bool grid_init(grid *g, vec3 size, double reach, size_t count);

/* Frees the arrays of a grid. */
void grid_fini(grid *g);

/* Fills `order` so that particles are grouped by cell, and keep their order within a cell. The
 * caller then moves its arrays: new[k] = old[order[k]]. */
void grid_sort(grid *g, const vec3 *position);

/* Lists for each particle all particles within `reach`, including itself, in ascending order.
 * `position` must already be sorted as grid_sort() describes. Returns false if memory is
 * exhausted. */
bool grid_find_neighbours(grid *g, const vec3 *position);

static inline const uint32_t *grid_neighbours(const grid *g, size_t i)
{
    return g->neighbours + i * g->capacity;
}

SPH_INLINE int grid_cell_along(const grid *g, int axis, double x)
{
    double cell = x * g->cells_per_metre[axis];
    if (!(cell > 0.0)) /* also if x is NaN, which has no int value */
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

/* Range of cells around a point, along x, y and z. */
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
