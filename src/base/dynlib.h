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

/* ======== Other copies of Takt ======== */

/* Other copies of Takt in this process. */

/* An ELF note, as the loader maps it. From `offset` itself it is that far to a pointer to what the
 * copy works with: a variable that another copy may stand in for, when the dynamic linker has bound
 * both to one. A pointer in the note would have to be relocated, and all around it be writable. */
typedef struct tkt_note {
    uint32_t name_size, content_size, type;
    char     name[12];
    int64_t  offset;
} tkt_note;

/* Marks the file that it is linked into; stands once, where nobody who records can do without. In
 * assembly, since no compiler writes the distance between two sections. */
#define TKT_MARK_INSTANCE(variable)                                                                \
    extern const void *const tkt_instance_state;                                                   \
    __attribute__((visibility("hidden"), used)) const void *const tkt_instance_state =             \
        &(variable);                                                                               \
    __asm__(".pushsection .note.takt, \"a\", %note\n"                                              \
            ".balign 8\n"                                                                          \
            ".long 12, 8, 1\n"                                                                     \
            ".ascii \"Takt\\0\\0\\0\\0\\0\\0\\0\\0\"\n"                                             \
            ".quad tkt_instance_state - .\n"                                                       \
            ".popsection")

/* How many copies of Takt are at work in this process. The names of their files, "" for the program
 * itself, go to `names` as far as they fit; they are good until such a file is unloaded. */
size_t tkt_instances(const char **names, size_t size);

/* ======== Call stacks ======== */

/* Call stacks of the calling thread. The compiler's unwinder walks them, by the tables that
 * exceptions use too, so that it needs no frame pointers; what it costs, about 100 ns a frame, is
 * saved where a stack is the same as last time: see tkt_unwind_is_same(). */

/* A return address, and where on the stack it was found; `slot` is NULL where that is not known: on
 * aarch64, in a function compiled with -fomit-frame-pointer. */
typedef struct tkt_return {
    uintptr_t        address;
    const uintptr_t *slot;
} tkt_return;

/* Finds the unwinder, at the first call; false where there is none. Not on a hot path. */
bool tkt_unwind_load(void);

/* The return addresses from `caller` outwards, innermost first, at most `most` of them; their
 * number, which is 0 where `caller` is not found on the stack. tkt_unwind_load() was true. */
uint32_t tkt_unwind(const void *caller, tkt_return *out, uint32_t most);

/* Whether the same return addresses stand where they were found. If they do, with the same caller
 * and the same stack pointer as then, it is the same stack: where a function's frame ends depends
 * on the place in it that is returned to, so the second address follows from the first, and so on. */
bool tkt_unwind_is_same(const tkt_return *returns, uint32_t count);

#endif
