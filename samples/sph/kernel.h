/* The smoothing kernel: Wendland's C2 function in three dimensions, with s = r / H and the support
 * radius H,
 *
 *     W(r) = 21 / (2 pi H^3) (1 - s)^4 (1 + 4 s)      for s < 1, and 0 beyond
 *
 * (Wendland 1995). It keeps particles from pairing, which the cubic spline does not (Dehnen and Aly
 * 2012). Its integral over a half-space has a closed form, which the walls need: a flat wall stands
 * for fluid that fills everything behind the wall.
 *
 * The pair functions require r^2 < H^2. They do not test it, because neighbour lists already did.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SPH_KERNEL_H
#define SPH_KERNEL_H

#include "vec3.h"

#include <math.h>

/* Floating-point operations of one call; a square root counts as one. */
enum {
    KERNEL_VALUE_FLOPS = 9,
    KERNEL_SLOPE_FLOPS = 6
};

typedef struct kernel {
    double radius;         /* H, m: particles farther apart do not interact */
    double inverse_radius; /* 1 / H, 1/m */
    double value_scale;    /* 21 / (2 pi H^3), 1/m^3 */
    double slope_scale;    /* 20 value_scale / H^2, 1/m^5 */
} kernel;

static inline kernel kernel_of_radius(double radius)
{
    const double pi = 3.14159265358979323846;
    kernel k;
    k.radius = radius;
    k.inverse_radius = 1.0 / radius;
    k.value_scale = 21.0 / (2.0 * pi * radius * radius * radius);
    k.slope_scale = 20.0 * k.value_scale / (radius * radius);
    return k;
}

/* Returns W, in 1/m^3. */
SPH_INLINE double kernel_value(const kernel *k, double r_squared)
{
    double s = sqrt(r_squared) * k->inverse_radius;
    double t = 1.0 - s;
    double t2 = t * t;

    return k->value_scale * (t2 * t2) * (1.0 + 4.0 * s);
}

/* Returns the factor g <= 0, in 1/m^5, of grad W = g (x_i - x_j). The formula has no division by r,
 * so two particles in one place are no special case. */
SPH_INLINE double kernel_slope(const kernel *k, double r_squared)
{
    double t = 1.0 - sqrt(r_squared) * k->inverse_radius;

    return -k->slope_scale * (t * t * t);
}

/* Returns the kernel's integral over a plane at distance d from its centre, in 1/m. */
SPH_INLINE double kernel_over_plane(const kernel *k, double d)
{
    double u = 1.0 - fabs(d) * k->inverse_radius;
    if (!(u > 0.0))
        return 0.0;
    double u2 = u * u;

    return 21.0 * k->inverse_radius * (u2 * u2 * u) * (1.0 - 3.0 / 2.0 * u + 4.0 / 7.0 * u2);
}

/* Returns the kernel's integral over the half-space that begins at signed distance d from its
 * centre: 0 far from a wall, 1/2 on the wall, 1 deep behind it. The derivative by d is
 * -kernel_over_plane(). */
SPH_INLINE double kernel_beyond_plane(const kernel *k, double d)
{
    double u = 1.0 - fabs(d) * k->inverse_radius;
    if (!(u > 0.0))
        return d > 0.0 ? 0.0 : 1.0;
    double u2 = u * u;
    double beyond = (u2 * u2 * u2) * (7.0 / 2.0 - 9.0 / 2.0 * u + 3.0 / 2.0 * u2);

    return d > 0.0 ? beyond : 1.0 - beyond;
}

#endif
