/* Shared libraries that are found at run time, and a look at what the process has loaded. */
#ifndef TKT_BASE_DYNLIB_H
#define TKT_BASE_DYNLIB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A handle of the library of this name or path, or NULL: one that is loaded already; any. It is
 * never closed. */
void *tkt_library_loaded(const char *name);
void *tkt_library_open(const char *name);

/* Why the last tkt_library_open() of this thread returned NULL; borrowed until the next one. */
const char *tkt_library_error(void);

/* The address of a symbol, or NULL. */
void *tkt_library_symbol(void *library, const char *name);

/* The path of the object in which `address` lies, cut at `size`; out is left alone without one. */
void tkt_library_path(const void *address, char *out, size_t size);

/* Keeps the object in which `address` lies loaded until the process ends: something has been told
 * to call it. */
void tkt_library_pin(const void *address);

/* Where code is: in which object, and what is added to the addresses that stand in its file. */
typedef struct tkt_code_place {
    const char *object; /* path; borrowed for the call */
    uintptr_t   base;
} tkt_code_place;

/* Calls `found` for each of `count` addresses, by its index, that lies in an object; none can be
 * unloaded meanwhile. */
void tkt_objects_locate(const uintptr_t *addresses, uint32_t count,
                        void (*found)(void *user, uint32_t index, tkt_code_place place),
                        void *user);

/* The function around `address` that the object with that `base` exports, or NULL: it exports none
 * there, or is no longer loaded. */
const char *tkt_exported_function(uintptr_t address, uintptr_t base);

/* Grows whenever an object is loaded. */
uint64_t tkt_objects_added(void);

/* Whether an object is loaded, the executable included, whose file name begins with one of `names`,
 * or which has a section whose name begins with one of `sections`; lists that NULL ends. */
bool tkt_objects_have(const char *const *names, const char *const *sections);

/* The path of a loaded object whose file name begins with `name`: the first of them for `index` 0,
 * and so on. False when there is none, or its path does not fit. */
bool tkt_objects_path(const char *name, uint32_t index, char *out, size_t size);

#endif
