/* A fluid in a closed box by smoothed-particle hydrodynamics (SPH). SI units throughout.
 *
 * The box has one corner at the origin and gravity along -z. The fluid starts at rest as a column
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

/* What to simulate. Start from FLUID_SETUP_INIT. */
typedef struct fluid_setup {
    size_t particles;    /* wanted; the fluid takes a number near it that fills the column evenly */
    vec3   box;          /* m */
    vec3   column;       /* m; no larger than the box; column.y is box.y */
    double rest_density; /* kg/m^3 */
    double gravity;      /* m/s^2, downwards */
    double viscosity;    /* Monaghan's alpha, without unit: 0.01 is noisy, 0.2 is syrup */
    double time_step;    /* in units of h / c, h being half the support radius; at most 0.5 */
} fluid_setup;

#define FLUID_SETUP_INIT                                                                           \
    {                                                                                              \
        .particles = 4000, .box = {0.8, 0.2, 0.8}, .column = {0.32, 0.2, 0.5},                     \
        .rest_density = 1000.0, .gravity = 9.81, .viscosity = 0.05, .time_step = 0.4               \
    }

/* What must balance, as of the last force evaluation.
 *
 * Momentum: pair forces are equal and opposite, so the fluid's momentum is the impulse that gravity
 * and the walls gave it. Only rounding may differ. This notices any asymmetry between two
 * particles, a pair found from one side only, a particle lost, a force that moves nothing.
 *
 * Energy: pressure and wall forces are the exact gradient of the internal energy, so kinetic +
 * potential + internal energy + what viscosity took is constant, up to the integrator's error of
 * second order in the time step. This notices what momentum cannot: a wrong kernel, equation of
 * state or wall, a pair that both sides miss, a time step too long. */
typedef struct fluid_balance {
    double kinetic;        /* J */
    double potential;      /* J, of height above the floor and of the walls' springs */
    double internal;       /* J, of compression */
    double dissipated;     /* J, by viscosity since the start */
    double energy_start;   /* J, the sum of the energies at the start */
    double energy_error;   /* largest |energy - energy_start| / energy_start so far */
    vec3   momentum;       /* kg m/s */
    vec3   impulse;        /* N s, of gravity and walls since the start */
    double momentum_error; /* largest |momentum - impulse| / (mass x fall_speed) so far */
} fluid_balance;

typedef struct fluid {
    fluid_setup setup;
    size_t      count;          /* particles */
    size_t      steps;          /* taken so far */
    double      time_step;      /* s */
    double      spacing;        /* m, between particles at rest */
    double      sound_speed;    /* m/s */
    double      fall_speed;     /* m/s, from the column's top to the floor */
    medium      medium;
    grid        grid;
    fluid_cuda *device;         /* where the particles are, or NULL: here */
    vec3       *position;      /* [count] m, at steps x time_step */
    vec3       *velocity;      /* [count] m/s, half a time step earlier */
    double     *density;       /* [count] kg/m^3, at the last force evaluation, as all below */
    double     *pressure_term; /* [count] pressure / density^2, m^5 / (kg s^2) */
    vec3       *acceleration;  /* [count] m/s^2, by everything */
    vec3       *viscous;       /* [count] m/s^2, the part of viscosity */
    vec3       *wall;          /* [count] m/s^2, the part of the walls */
    vec3       *scratch;       /* [count] where arrays go while they are sorted */

    fluid_balance balance;
} fluid;

/* Makes the fluid of `setup`. NULL when memory is short or the setup makes no sense. The caller
 * releases it with fluid_destroy(). */
fluid *fluid_create(const fluid_setup *setup);

/* Moves a fluid that has not taken a step to the CUDA device, where all further steps are taken. False
 * if that cannot be had: the fluid stays. */
bool fluid_move_to_device(fluid *f);

/* Accepts NULL. */
void fluid_destroy(fluid *f);

/* Advances by one time step: leapfrog, positions at whole steps and velocities between them. Uses
 * all OpenMP threads; the result is the same, bit for bit, for any number of them. False when
 * memory is short: the fluid can then only be destroyed. */
bool fluid_step(fluid *f);

/* A 64-bit hash (FNV-1a) over the bits of all positions and velocities, in storage order. */
uint64_t fluid_hash(const fluid *f);

#endif
