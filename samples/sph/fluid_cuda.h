/* The fluid's steps on a CUDA device, with the physics of medium.h and one thread per particle. A
 * build without CUDA has no device.
 *
 * Functions launch their work and return at once. They remember an error, which
 * fluid_cuda_is_fine() reports.
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

/* fluid_cuda_exists() is true if there is a device. fluid_cuda_computes() is true if its kernels
 * compute results; kernels of simulated devices do not. */
bool fluid_cuda_exists(void);
bool fluid_cuda_computes(void);

/* Makes particles at rest at `position`, with the cells of `grid`. The caller frees the result with
 * fluid_cuda_destroy(). Returns NULL if memory is exhausted or, after printing the error, if CUDA
 * fails. */
fluid_cuda *fluid_cuda_create(const medium *m, const grid *g, const vec3 *position);

/* Frees everything; accepts NULL. */
void fluid_cuda_destroy(fluid_cuda *d);

/* Sorts particles by cell; they keep their order within a cell. */
void fluid_cuda_sort(fluid_cuda *d);
void fluid_cuda_density(fluid_cuda *d);
void fluid_cuda_forces(fluid_cuda *d);

/* Waits for the device and returns the sums. */
fluid_sums fluid_cuda_sums(fluid_cuda *d, double to_now);

/* Advances velocities by `kick` seconds, then positions by `time_step` seconds. */
void fluid_cuda_move(fluid_cuda *d, double kick, double time_step);

/* Copies positions and velocities to the host. */
void fluid_cuda_read(fluid_cuda *d, vec3 *position, vec3 *velocity);

/* False after the first error, which was already printed. */
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
