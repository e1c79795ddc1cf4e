/* A program and a plugin that are both linked with the static library have two copies of Takt that
 * know nothing of each other: a profiler of one records no scope of the other. Symbols cannot tell,
 * since static copies export none. So each copy has an ELF note, which the loader maps, and the
 * notes of all loaded files are read here. Where symbols of one copy are exported, the dynamic
 * linker lets the others use them: these work with one state, to which all their notes point. */
#include "base/instances.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>

enum {
    MOST = 16
};

typedef struct search {
    const char **names;
    size_t size;
    size_t count;
    const void *states[MOST]; /* of those counted */
} search;

static size_t padded(size_t size, size_t align)
{
    return (size + align - 1) & ~(align - 1);
}

/* Takt's note among those in `bytes`, or NULL. */
static const tkt_note *find_note(const char *bytes, size_t size, size_t align)
{
    const tkt_note ours = {sizeof ours.name, sizeof ours.offset, 1, "Takt", 0};
    for (size_t at = 0; at + sizeof ours <= size;) {
        uint32_t sizes[2]; /* notes of others may be aligned to four bytes */
        memcpy(sizes, bytes + at, sizeof sizes);
        if (memcmp(bytes + at, &ours, offsetof(tkt_note, offset)) == 0)
            return (const void *)(bytes + at);
        at += padded(padded(offsetof(tkt_note, name) + sizes[0], align) + sizes[1], align);
    }
    return NULL;
}

static const void *state_of(const tkt_note *note)
{
    return *(const void *const *)((const char *)&note->offset + note->offset);
}

/* Copies that share their state are one. */
static bool is_counted(const search *s, const tkt_note *note)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->states[i] == state_of(note))
            return true;
    return false;
}

static int look(struct dl_phdr_info *file, size_t size, void *user)
{
    search *s = user;
    (void)size;
    for (size_t i = 0; i < file->dlpi_phnum && s->count < MOST; i++) {
        const ElfW(Phdr) *part = &file->dlpi_phdr[i];
        if (part->p_type != PT_NOTE)
            continue;
        const tkt_note *note = find_note((const char *)(file->dlpi_addr + part->p_vaddr),
                                         part->p_memsz, part->p_align < 8 ? 4 : 8);
        if (!note || is_counted(s, note))
            continue;
        if (s->count < s->size)
            s->names[s->count] = file->dlpi_name ? file->dlpi_name : "";
        s->states[s->count++] = state_of(note);
    }
    return 0;
}

size_t tkt_instances(const char **names, size_t size)
{
    search s = {.names = names, .size = size};
    dl_iterate_phdr(look, &s);
    return s.count;
}
