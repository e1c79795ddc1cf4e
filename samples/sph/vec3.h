/* Three-vectors, passed by value.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SPH_VEC3_H
#define SPH_VEC3_H

typedef struct vec3 {
    double x, y, z;
} vec3;

static inline vec3 vec3_add(vec3 a, vec3 b)
{
    return (vec3){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline vec3 vec3_sub(vec3 a, vec3 b)
{
    return (vec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline vec3 vec3_scale(double s, vec3 a)
{
    return (vec3){s * a.x, s * a.y, s * a.z};
}

/* Returns a + s b. */
static inline vec3 vec3_add_scaled(vec3 a, double s, vec3 b)
{
    return (vec3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

static inline double vec3_dot(vec3 a, vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

#endif
