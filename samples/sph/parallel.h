/* Parallel loops with OpenMP, plain loops if the compiler has no OpenMP.
 *
 * The static schedule is for speed only. Results depend neither on the schedule nor on the number
 * of threads: each iteration writes its own element and reads its inputs in a fixed order. One
 * thread computes every sum over particles.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SPH_PARALLEL_H
#define SPH_PARALLEL_H

#ifdef _OPENMP
#define PARALLEL_FOR _Pragma("omp parallel for schedule(static)")
#else
#define PARALLEL_FOR
#endif

#endif
