/* Other copies of Takt in this process. */
#ifndef TKT_BASE_INSTANCES_H
#define TKT_BASE_INSTANCES_H

#include <stddef.h>
#include <stdint.h>

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

#endif
