/* A fluid in a closed box, simulated by smoothed-particle hydrodynamics (SPH). SI units throughout.
 *
 * One corner of the box is the origin; gravity acts along -z. The fluid starts at rest as a column
 * in the corner at the origin, as wide as the box: a dam that has just broken.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SPH_FLUID_H
#define SPH_FLUID_H

#include "fluid_cuda.h"
#include "grid.h"
#include "medium.h"
#include "vec3.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Parameters of the simulation. Start from FLUID_SETUP_INIT. */
typedef struct fluid_setup {
    size_t particles;    /* approximate number; the fluid uses a nearby number that fills the column
                          * evenly */
    vec3   box;          /* m */
    vec3   column;       /* m; not larger than the box; column.y equals box.y */
    double rest_density; /* kg/m^3 */
    double gravity;      /* m/s^2, downwards */
    double viscosity;    /* Monaghan's alpha, dimensionless: 0.01 is noisy, 0.2 is syrup */
    double time_step;    /* in units of h / c, where h is half the support radius; at most 0.5 */
} fluid_setup;

#define FLUID_SETUP_INIT                                                                           \
    {                                                                                              \
        .particles = 4000, .box = {0.8, 0.2, 0.8}, .column = {0.32, 0.2, 0.5},                     \
        .rest_density = 1000.0, .gravity = 9.81, .viscosity = 0.05, .time_step = 0.4               \
    }

/* Conserved quantities at the last force evaluation.
 *
 * Momentum: pair forces are equal and opposite. The momentum of the fluid is therefore the impulse
 * of gravity and walls, up to rounding. This check finds any asymmetry between two particles, a
 * pair found from one side only, a lost particle, and a force that moves nothing.
 *
 * Energy: pressure and wall forces are the exact gradient of the internal energy. Kinetic +
 * potential + internal + dissipated energy is therefore constant, up to the integrator's error of
 * second order in the time step. This check finds errors that keep momentum: a wrong kernel,
 * equation of state or wall, a pair missed from both sides, a time step too long. */
typedef struct fluid_balance {
    double kinetic;        /* J */
    double potential;      /* J, from height above the floor and from the walls' springs */
    double internal;       /* J, from compression */
    double dissipated;     /* J, by viscosity since the start */
    double energy_start;   /* J, the sum of the energies at the start */
    double energy_error;   /* largest |energy - energy_start| / energy_start so far */
    vec3   momentum;       /* kg m/s */
    vec3   impulse;        /* N s, from gravity and walls since the start */
    double momentum_error; /* largest |momentum - impulse| / (mass x fall_speed) so far */
} fluid_balance;

typedef struct fluid {
    fluid_setup setup;
    size_t      count;          /* particles */
    size_t      steps;          /* taken so far */
    double      time_step;      /* s */
    double      spacing;        /* m, between particles at rest */
    double      sound_speed;    /* m/s */
    double      fall_speed;     /* m/s, after a fall from the column's top to the floor */
    medium      medium;
    grid        grid;
    fluid_cuda *device;         /* holds the particles; NULL: the arrays below do */
    vec3       *position;      /* [count] m, at steps x time_step */
    vec3       *velocity;      /* [count] m/s, half a time step earlier */
    double     *density;       /* [count] kg/m^3; this and all below: at the last force
                                * evaluation */
    double     *pressure_term; /* [count] pressure / density^2, m^5 / (kg s^2) */
    vec3       *acceleration;  /* [count] m/s^2, total */
    vec3       *viscous;       /* [count] m/s^2, from viscosity */
    vec3       *wall;          /* [count] m/s^2, from the walls */
    vec3       *scratch;       /* [count] temporary array for sorting */

    fluid_balance balance;
} fluid;

/* Makes a fluid. Returns NULL if memory is exhausted or the setup is not valid. The caller frees
 * the fluid with fluid_destroy(). */
fluid *fluid_create(const fluid_setup *setup);

/* Moves a fluid to the CUDA device, which then takes all steps. Call it before the first step.
 * Returns false if the device cannot be used; the fluid then stays on the host. */
bool fluid_move_to_device(fluid *f);

/* Frees a fluid; accepts NULL. */
void fluid_destroy(fluid *f);

/* Advances the fluid by one time step. The integrator is leapfrog: positions at whole steps,
 * velocities between them. Uses all OpenMP threads; the result is the same, bit for bit, for any
 * number of threads. Returns false if memory is exhausted; then the fluid can only be destroyed. */
bool fluid_step(fluid *f);

/* Returns a 64-bit FNV-1a hash over the bits of all positions and velocities, in storage order. */
uint64_t fluid_hash(const fluid *f);

#endif
