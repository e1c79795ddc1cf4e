/* Names of kernels: demangled, shortened for tables, told apart into the program's own and
 * libraries', and given labels of the program's own. */
#ifndef TKT_CUDA_NAMES_H
#define TKT_CUDA_NAMES_H

#include <takt/base.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The demangled name in memory of tkt_alloc(); a copy where it cannot be demangled; NULL without
 * memory. */
char *tkt_name_demangle(const char *mangled);

/* Writes the name as tables show it - no return type, no parameters, template arguments as "<...>"
 * - cut to fit. Returns out. */
char *tkt_name_shorten(char *out, size_t size, const char *demangled);

/* Whether the kernel belongs to a library. */
bool tkt_name_is_builtin(const char *demangled);

/* Adds a pattern (POSIX extended regular expression, on the demangled name) for kernels that are
 * builtin, and one whose matches are called `label`; "\\1" in it is the first group. Any thread. */
takt_status tkt_name_add_builtin(const char *pattern);
takt_status tkt_name_add_label(const char *pattern, const char *label);

/* What tables print for a kernel - its label, "kernel NAME" or "builtin kernel NAME" - and its
 * TAKT_TIMING_ bit. */
uint32_t tkt_name_classify(const char *demangled, char *label, size_t size);

#endif
