/* The physics of one particle and of one pair, for host and devices. fluid.c explains the formulas.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SPH_MEDIUM_H
#define SPH_MEDIUM_H

#include "kernel.h"
#include "vec3.h"

/* Floating-point operations of one pair, counted in the source. An addition, multiplication,
 * division or square root is one operation. */
enum {
    DISTANCE_FLOPS = 8,
    DENSITY_PAIR_FLOPS = DISTANCE_FLOPS + KERNEL_VALUE_FLOPS + 1,
    FORCE_PAIR_FLOPS = DISTANCE_FLOPS + KERNEL_SLOPE_FLOPS + 29
};

/* The material of particles and walls. */
typedef struct medium {
    kernel smoothing;
    vec3   box;            /* m */
    double rest_density;   /* kg/m^3 */
    double gravity;        /* m/s^2 */
    double stiffness;      /* Pa, in Tait's equation */
    double drag;           /* m^2/s, see viscous_pull() */
    double mass;           /* kg, of each particle */
    double wall_density;   /* kg/m^3, of the fluid that the walls stand for */
    double wall_stiffness; /* 1/s^2, of the springs behind the walls, per mass */
} medium;

/* Returns the pressure, in Pa: 0 below the rest density. Tension instead would make particles
 * clump. The energy below is clipped in the same way, so energy still balances. The price: half the
 * kernel is empty at a free surface, so the topmost layers close up. Fluid at rest stands two
 * thirds of a spacing too low. Tait's exponent for water is 7; these functions spell its powers
 * out. */
SPH_INLINE double pressure_at(const medium *m, double density)
{
    double s = density / m->rest_density;
    if (!(s > 1.0))
        return 0.0;
    double s2 = s * s;

    return m->stiffness * (s2 * s2 * s2 * s - 1.0);
}

/* Returns the internal energy in J/kg: the integral of p / rho^2 from the rest density. */
SPH_INLINE double internal_energy_at(const medium *m, double density)
{
    double s = density / m->rest_density;
    if (!(s > 1.0))
        return 0.0;
    double s2 = s * s;
    double integral = s2 * s2 * s2 / 6.0 + 1.0 / s - 7.0 / 6.0;

    return m->stiffness / m->rest_density * integral;
}

/* Returns the part of a kernel at x that lies between two parallel walls, and its derivative. */
SPH_INLINE double open_between(const kernel *k, double x, double length, double *derivative)
{
    *derivative = kernel_over_plane(k, x) - kernel_over_plane(k, length - x);
    return 1.0 - kernel_beyond_plane(k, x) - kernel_beyond_plane(k, length - x);
}

/* Returns the part of a kernel at p that lies behind the walls, and its gradient. The product is
 * exact for one wall. In edges and corners it treats the kernel as separable, which Wendland's
 * kernel nearly is. The gradient is the exact one of this formula, so energy is still conserved. */
SPH_INLINE double wall_fill(const medium *m, vec3 p, vec3 *gradient)
{
    vec3 d;
    double x = open_between(&m->smoothing, p.x, m->box.x, &d.x);
    double y = open_between(&m->smoothing, p.y, m->box.y, &d.y);
    double z = open_between(&m->smoothing, p.z, m->box.z, &d.z);

    gradient->x = -d.x * y * z;
    gradient->y = -d.y * x * z;
    gradient->z = -d.z * x * y;
    return 1.0 - x * y * z;
}

/* Returns the distance, in m, from x back into the box along one axis. */
SPH_INLINE double way_back(double x, double length)
{
    if (x < 0.0)
        return -x;
    return x > length ? length - x : 0.0;
}

SPH_INLINE vec3 way_into_box(const medium *m, vec3 p)
{
    vec3 way = {way_back(p.x, m->box.x), way_back(p.y, m->box.y), way_back(p.z, m->box.z)};
    return way;
}

/* Returns the potential energy in J/kg: height, and the springs behind the walls. */
SPH_INLINE double potential_energy_at(const medium *m, vec3 p)
{
    vec3 back = way_into_box(m, p);

    return m->gravity * p.z + 0.5 * m->wall_stiffness * vec3_dot(back, back);
}

SPH_INLINE vec3 wall_acceleration_at(const medium *m, vec3 p, double pressure_term)
{
    vec3 gradient;
    wall_fill(m, p, &gradient);
    vec3 pressure = vec3_scale(-pressure_term * m->wall_density, gradient);

    return vec3_add_scaled(pressure, m->wall_stiffness, way_into_box(m, p));
}

/* Returns the density of a particle at p whose neighbours' kernels sum up to `sum`. */
SPH_INLINE double density_at(const medium *m, vec3 p, double sum)
{
    vec3 gradient;
    return m->mass * sum + m->wall_density * wall_fill(m, p, &gradient);
}

/* The data of a particle that its neighbours need. */
typedef struct particle {
    vec3   position;
    vec3   velocity;
    double density;
    double pressure_term;
} particle;

/* Adds the acceleration of i by j. If i and j change places, every factor except r stays the same,
 * bit for bit. So j gives to i exactly what i takes from j. */
SPH_INLINE void add_pair(const medium *m, const particle *i, const particle *j, vec3 *pressure,
                         vec3 *viscous)
{
    const double soften = 0.0025 * m->smoothing.radius * m->smoothing.radius; /* 0.01 h^2, m^2 */
    vec3 r = vec3_sub(i->position, j->position);
    double r_squared = vec3_dot(r, r);
    double slope = m->mass * kernel_slope(&m->smoothing, r_squared);
    double approach = vec3_dot(r, vec3_sub(i->velocity, j->velocity));
    double density = i->density + j->density;
    double push = -slope * (i->pressure_term + j->pressure_term);
    double pull = slope * m->drag * approach / (density * (r_squared + soften));

    *pressure = vec3_add_scaled(*pressure, push, r);
    *viscous = vec3_add_scaled(*viscous, pull, r);
}

/* Sums over all particles, at the time of the positions. */
typedef struct fluid_sums {
    double kinetic; /* J; the next two as well */
    double potential;
    double internal;
    double power;    /* W, from viscosity */
    vec3   momentum; /* kg m/s */
    vec3   force;    /* N, from the walls */
} fluid_sums;

/* Adds a particle whose velocity is `to_now` seconds behind its position. */
SPH_INLINE void add_to_sums(const medium *m, fluid_sums *sums, const particle *p, double to_now,
                            vec3 acceleration, vec3 viscous, vec3 wall)
{
    vec3 v = vec3_add_scaled(p->velocity, to_now, acceleration);
    sums->kinetic += 0.5 * m->mass * vec3_dot(v, v);
    sums->potential += m->mass * potential_energy_at(m, p->position);
    sums->internal += m->mass * internal_energy_at(m, p->density);
    sums->power += m->mass * vec3_dot(viscous, v);
    sums->momentum = vec3_add_scaled(sums->momentum, m->mass, v);
    sums->force = vec3_add_scaled(sums->force, m->mass, wall);
}

#endif
