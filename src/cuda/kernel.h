/* Kernels: their names, and how well they fill a multiprocessor. */
#ifndef TKT_CUDA_KERNEL_H
#define TKT_CUDA_KERNEL_H

#include "cuda/store.h"

#include <takt/base.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ======== Names ======== */

/* Kernel names: demangled, shortened for tables, sorted into the program's own and libraries', and
 * replaced by the program's labels. */

/* Finds the demangler. This takes the loader's lock and may load a library, so call it before
 * taking other locks. Any thread; later calls do nothing. */
void tkt_names_prepare(void);

/* Returns the demangled name, or a copy of a name that cannot be demangled. The caller frees it
 * with tkt_free(). NULL without memory. */
char *tkt_name_demangle(const char *mangled);

/* Writes the name as tables show it, cut to fit: no return type, no parameters, template arguments
 * as "<...>". Returns out. */
char *tkt_name_shorten(char *out, size_t size, const char *demangled);

/* Finds the function's own name in a demangled name, without return type, namespaces, template
 * arguments and parameters. Returns its length; 0 if no identifier is found. */
size_t tkt_name_base(const char *demangled, const char **base);

/* Writes a kernel's label for tables ("kernel NAME", "builtin kernel NAME", or the program's own)
 * and returns its TAKT_TIMING_ bit. The program's rules, takt_kernel_label() and
 * takt_kernel_builtin(), come first. Any thread. */
uint32_t tkt_name_classify(const char *demangled, char *label, size_t size);

/* ======== Occupancy ======== */

/* Theoretical occupancy: the share of a multiprocessor's warps that a kernel's blocks can fill. */

/* Computes occupancy and limiter from the rest of the shape. Leaves both 0 for devices with unknown
 * rules. */
void tkt_occupancy_fill(tkt_shape *shape, const tkt_device *device);

#endif
