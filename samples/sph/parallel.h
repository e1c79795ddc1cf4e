/* Parallel loops where the compiler has OpenMP, plain loops where it has not.
 *
 * The static schedule is for speed only. Results do not depend on it, nor on the number of threads:
 * each iteration writes its own element and gathers what it needs in a fixed order, and every sum
 * over particles is taken by one thread.
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
