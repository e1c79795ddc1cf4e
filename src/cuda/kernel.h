/* Kernels: what they are called, and how well they fill a multiprocessor. */
#ifndef TKT_CUDA_KERNEL_H
#define TKT_CUDA_KERNEL_H

#include "cuda/store.h"

#include <takt/base.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ======== Names ======== */

/* Names of kernels: demangled, shortened for tables, told apart into the program's own and
 * libraries', and given labels of the program's own. */

/* Finds what demangles, which takes the loader's lock and may load a library: to be called before
 * others are taken. Any thread; from the second time on it does nothing. */
void tkt_names_prepare(void);

/* The demangled name in memory of tkt_alloc(); a copy where it cannot be demangled; NULL without
 * memory. */
char *tkt_name_demangle(const char *mangled);

/* Writes the name as tables show it - no return type, no parameters, template arguments as "<...>"
 * - cut to fit. Returns out. */
char *tkt_name_shorten(char *out, size_t size, const char *demangled);

/* What tables print for a kernel - its label, "kernel NAME" or "builtin kernel NAME" - and its
 * TAKT_TIMING_ bit. The program's rules, takt_kernel_label() and takt_kernel_builtin(), come first.
 * Any thread. */
uint32_t tkt_name_classify(const char *demangled, char *label, size_t size);

/* ======== Occupancy ======== */

/* Theoretical occupancy of a kernel: how many of a multiprocessor's warps its blocks can fill. */

/* Fills occupancy and limiter of the shape from the rest of it; leaves them 0 for devices whose
 * rules are not known. */
void tkt_occupancy_fill(tkt_shape *shape, const tkt_device *device);

#endif
