/* Three-vectors, passed by value. SPH_INLINE functions run on the host. If nvcc compiles them, they
 * also run on the device.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SPH_VEC3_H
#define SPH_VEC3_H

#ifdef __CUDACC__
#define SPH_INLINE static __host__ __device__ inline
#else
#define SPH_INLINE static inline
#endif

typedef struct vec3 {
    double x, y, z;
} vec3;

SPH_INLINE vec3 vec3_add(vec3 a, vec3 b)
{
    vec3 result = {a.x + b.x, a.y + b.y, a.z + b.z};
    return result;
}

SPH_INLINE vec3 vec3_sub(vec3 a, vec3 b)
{
    vec3 result = {a.x - b.x, a.y - b.y, a.z - b.z};
    return result;
}

SPH_INLINE vec3 vec3_scale(double s, vec3 a)
{
    vec3 result = {s * a.x, s * a.y, s * a.z};
    return result;
}

/* Returns a + s b. */
SPH_INLINE vec3 vec3_add_scaled(vec3 a, double s, vec3 b)
{
    vec3 result = {a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
    return result;
}

SPH_INLINE double vec3_dot(vec3 a, vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

#endif
