/* Shared libraries: opening them, asking about loaded ones, other copies of Takt, and call
 * stacks. */
#ifndef TKT_BASE_DYNLIB_H
#define TKT_BASE_DYNLIB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns a handle of the library of this name or path, or NULL. The first function finds only
 * libraries that are already loaded, the second one also loads them. Nobody closes the handle. */
void *tkt_library_loaded(const char *name);
void *tkt_library_open(const char *name);

/* Why this thread's last tkt_library_open() returned NULL; borrowed until its next one. */
const char *tkt_library_error(void);

/* The address of a symbol, or NULL. */
void *tkt_library_symbol(void *library, const char *name);

/* Writes the path of the object that contains `address`, cut at `size`. Without such an object,
 * `out` stays as it is. */
void tkt_library_path(const void *address, char *out, size_t size);

/* Keeps the object that contains `address` loaded until the process ends, because someone holds a
 * pointer to its code. */
void tkt_library_pin(const void *address);

/* The object that contains a piece of code, and its base: memory address minus address in the
 * file. */
typedef struct tkt_code_place {
    const char *object; /* path; borrowed for the call */
    uintptr_t   base;
} tkt_code_place;

/* Calls `found` with the index and place of each of the `count` addresses that lies in an object.
 * No object can be unloaded meanwhile. */
void tkt_objects_locate(const uintptr_t *addresses, uint32_t count,
                        void (*found)(void *user, uint32_t index, tkt_code_place place),
                        void *user);

/* The exported function that contains `address`, in the object with that `base`. NULL if the object
 * exports none there, or is no longer loaded. */
const char *tkt_exported_function(uintptr_t address, uintptr_t base);

/* A number that grows whenever an object is loaded. */
uint64_t tkt_objects_added(void);

/* True if a loaded object, including the executable, has a file name that begins with one of
 * `names`, or a section whose name begins with one of `sections`. Both lists end with NULL. */
bool tkt_objects_have(const char *const *names, const char *const *sections);

/* Writes the path of the `index`-th loaded object, from 0, whose file name begins with `name`.
 * False when there is none, or its path does not fit. */
bool tkt_objects_path(const char *name, uint32_t index, char *out, size_t size);

/* ======== Other copies of Takt ======== */

/* Each copy of Takt in the process carries an ELF note. */

/* The note as the loader maps it. `offset` is the distance from that field itself to a pointer,
 * which points to a function of the copy's. The dynamic linker may have bound the functions of two
 * copies to one; then both are one copy. It is no variable: a program that exports only parts of
 * Takt shares its variables with libtakt.so, which has functions of its own. The note itself holds
 * no pointer: the loader would have to relocate it, so the memory around it would have to be
 * writable. */
typedef struct tkt_note {
    uint32_t name_size, content_size, type;
    char     name[12];
    int64_t  offset;
} tkt_note;

/* Marks the file that it is linked into as a copy. Use it once, in a file that every recording
 * program links. It is assembly, since no compiler emits the distance between two sections. */
#define TKT_MARK_INSTANCE(function)                                                                \
    extern void (*const tkt_instance_state)(void);                                                 \
    __attribute__((visibility("hidden"), used)) void (*const tkt_instance_state)(void) =           \
        (void (*)(void))(function);                                                                \
    __asm__(".pushsection .note.takt, \"a\", %note\n"                                              \
            ".balign 8\n"                                                                          \
            ".long 12, 8, 1\n"                                                                     \
            ".ascii \"Takt\\0\\0\\0\\0\\0\\0\\0\\0\"\n"                                            \
            ".quad tkt_instance_state - .\n"                                                       \
            ".popsection")

/* The number of separate copies of Takt in this process. Writes the names of their files, "" for
 * the program itself, to `names` as far as they fit. A name is valid until its file is unloaded. */
size_t tkt_instances(const char **names, size_t size);

/* ======== Call stacks ======== */

/* Call stacks of the calling thread. The compiler's unwinder walks them with the same tables that
 * exceptions use, so it needs no frame pointers. That takes about 100 ns a frame; where a stack is
 * the same as last time, tkt_unwind_is_same() saves it. */

/* A return address, and the place on the stack where it was found. `slot` is NULL if that is
 * unknown: on aarch64, in a function compiled with -fomit-frame-pointer. */
typedef struct tkt_return {
    uintptr_t        address;
    const uintptr_t *slot;
} tkt_return;

/* Finds the unwinder at the first call; false if there is none. Not for a hot path. */
bool tkt_unwind_load(void);

/* Writes at most `most` return addresses from `caller` outwards, innermost first. Returns their
 * number; 0 if `caller` is not on the stack. Call it only after tkt_unwind_load() returned true. */
uint32_t tkt_unwind(const void *caller, tkt_return *out, uint32_t most);

/* True if the return addresses are still at the places where they were found. With the same caller
 * and the same stack pointer, the stack is then the same: the place that a function returns to
 * determines where its caller's frame ends, so each address determines where the next one is. False
 * if a place is unknown. The others must still be memory. */
bool tkt_unwind_is_same(const tkt_return *returns, uint32_t count);

#endif
