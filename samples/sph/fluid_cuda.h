/* The fluid's steps on a CUDA device: the physics of medium.h, one thread a particle. In a build
 * without CUDA there is no device.
 *
 * Functions that work launch it and return; an error is remembered, and told by
 * fluid_cuda_is_fine().
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SPH_FLUID_CUDA_H
#define SPH_FLUID_CUDA_H

#include "grid.h"
#include "medium.h"

#include <stdbool.h>

typedef struct fluid_cuda fluid_cuda;

#ifdef SPH_CUDA
#ifdef __cplusplus
extern "C" {
#endif

/* Whether there is a device; and whether its kernels do something, which those of simulated devices
 * do not. */
bool fluid_cuda_exists(void);
bool fluid_cuda_computes(void);

/* Particles at rest at these positions; the cells are those of `grid`. NULL after a line that says
 * why. */
fluid_cuda *fluid_cuda_create(const medium *m, const grid *g, const vec3 *position);

/* Accepts NULL. */
void fluid_cuda_destroy(fluid_cuda *d);

/* Sorts particles by cell, those of one cell staying in their order. */
void fluid_cuda_sort(fluid_cuda *d);
void fluid_cuda_density(fluid_cuda *d);
void fluid_cuda_forces(fluid_cuda *d);

/* Waits for the device. */
fluid_sums fluid_cuda_sums(fluid_cuda *d, double to_now);

/* Velocities by `kick` seconds, positions by `time_step`. */
void fluid_cuda_move(fluid_cuda *d, double kick, double time_step);

/* Copies the state to the host. */
void fluid_cuda_read(fluid_cuda *d, vec3 *position, vec3 *velocity);

/* False after the first error, which was printed. */
bool fluid_cuda_is_fine(const fluid_cuda *d);

#ifdef __cplusplus
}
#endif

#else /* without CUDA */

static inline bool fluid_cuda_exists(void) { return false; }
static inline bool fluid_cuda_computes(void) { return false; }
static inline fluid_cuda *fluid_cuda_create(const medium *m, const grid *g, const vec3 *position)
{
    (void)m, (void)g, (void)position;
    return NULL;
}
static inline void fluid_cuda_destroy(fluid_cuda *d) { (void)d; }
static inline void fluid_cuda_sort(fluid_cuda *d) { (void)d; }
static inline void fluid_cuda_density(fluid_cuda *d) { (void)d; }
static inline void fluid_cuda_forces(fluid_cuda *d) { (void)d; }
static inline fluid_sums fluid_cuda_sums(fluid_cuda *d, double to_now)
{
    (void)d, (void)to_now;
    return (fluid_sums){0};
}
static inline void fluid_cuda_move(fluid_cuda *d, double kick, double time_step)
{
    (void)d, (void)kick, (void)time_step;
}
static inline void fluid_cuda_read(fluid_cuda *d, vec3 *position, vec3 *velocity)
{
    (void)d, (void)position, (void)velocity;
}
static inline bool fluid_cuda_is_fine(const fluid_cuda *d) { return d == NULL; }

#endif
#endif
