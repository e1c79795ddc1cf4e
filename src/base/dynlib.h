/* Shared libraries that are found at run time, and a look at what the process has loaded. */
#ifndef TKT_BASE_DYNLIB_H
#define TKT_BASE_DYNLIB_H

#include <stdbool.h>
#include <stdint.h>

/* A handle of the library of this name or path, or NULL: one that is loaded already; any. It is
 * never closed. */
void *tkt_library_loaded(const char *name);
void *tkt_library_open(const char *name);

/* The address of a symbol, or NULL. */
void *tkt_library_symbol(void *library, const char *name);

/* Keeps the object in which `address` lies loaded until the process ends: something has been told
 * to call it. */
void tkt_library_pin(const void *address);

/* Grows whenever an object is loaded. */
uint64_t tkt_objects_added(void);

/* Whether an object is loaded, the executable included, whose file name begins with one of `names`,
 * or which has a section whose name begins with one of `sections`; lists that NULL ends. */
bool tkt_objects_have(const char *const *names, const char *const *sections);

#endif
