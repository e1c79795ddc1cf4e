/* Shared libraries at run time. The loader does not map section headers, so has_section() reads
 * them from the files of loaded objects. It does not map the files: if somebody replaces an object
 * in place meanwhile, as a careless installer does, that must not kill the program. */
#include "base/dynlib.h"

#include "base/file.h"
#include "base/text.h"

#include <dlfcn.h>
#include <elf.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LONGEST_SECTION 32 /* bytes of a name to compare; more than any prefix has */

void *tkt_library_loaded(const char *name)
{
    return dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
}

void *tkt_library_open(const char *name)
{
    return dlopen(name, RTLD_LAZY | RTLD_NODELETE);
}

const char *tkt_library_error(void)
{
    const char *text = dlerror();
    return text ? text : "";
}

void *tkt_library_symbol(void *library, const char *name)
{
    return dlsym(library, name);
}

void tkt_library_path(const void *address, char *out, size_t size)
{
    Dl_info info;
    if (dladdr(address, &info) && info.dli_fname)
        snprintf(out, size, "%s", info.dli_fname);
}

void tkt_library_pin(const void *address)
{
    Dl_info info;
    if (dladdr(address, &info) && info.dli_fname)
        dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

static int read_added(struct dl_phdr_info *info, size_t size, void *added)
{
    (void)size;
    *(uint64_t *)added = info->dlpi_adds;
    return 1;
}

uint64_t tkt_objects_added(void)
{
    uint64_t added = 0;
    dl_iterate_phdr(read_added, &added);
    return added;
}

static bool begins_with_one(const char *text, const char *end, const char *const *prefixes)
{
    for (; *prefixes; prefixes++) {
        size_t size = strlen(*prefixes);
        if ((size_t)(end - text) >= size && memcmp(text, *prefixes, size) == 0)
            return true;
    }
    return false;
}

static bool read_at(int fd, uint64_t offset, void *into, size_t size)
{
    return offset <= INT64_MAX && pread(fd, into, size, (off_t)offset) == (ssize_t)size;
}

static bool read_section(int fd, const ElfW(Ehdr) * head, uint64_t number, ElfW(Shdr) * section)
{
    return number <= UINT32_MAX &&
           read_at(fd, head->e_shoff + number * sizeof *section, section, sizeof *section);
}

/* Reads the header, the number of sections, and the section that holds their names. Numbers that do
 * not fit the header's 16 bits are in the first section. */
static bool read_head(int fd, ElfW(Ehdr) * head, uint64_t *count, ElfW(Shdr) * names)
{
    ElfW(Shdr) first;
    if (!read_at(fd, 0, head, sizeof *head) || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
        head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_shoff > INT64_MAX ||
        !read_section(fd, head, 0, &first))
        return false;
    *count = head->e_shnum ? head->e_shnum : first.sh_size;
    uint64_t strings = head->e_shstrndx == SHN_XINDEX ? first.sh_link : head->e_shstrndx;
    return strings < *count && read_section(fd, head, strings, names);
}

/* A file may be truncated, made by anybody, or change meanwhile: a failed read ends the search. */
static bool has_section(int fd, const char *const *wanted)
{
    ElfW(Ehdr) head;
    ElfW(Shdr) names, section;
    uint64_t count;
    if (!read_head(fd, &head, &count, &names))
        return false;
    for (uint64_t i = 0; i < count && read_section(fd, &head, i, &section); i++) {
        char name[LONGEST_SECTION];
        uint64_t left = section.sh_name < names.sh_size ? names.sh_size - section.sh_name : 0;
        size_t size = left < sizeof name ? (size_t)left : sizeof name;
        if (size && read_at(fd, names.sh_offset + section.sh_name, name, size) &&
            begins_with_one(name, name + size, wanted))
            return true;
    }
    return false;
}

static bool is_named(const struct dl_phdr_info *info, const char *const *names)
{
    const char *name = tkt_base_name(info->dlpi_name);
    return begins_with_one(name, name + strlen(name), names);
}

static int has_name(struct dl_phdr_info *info, size_t size, void *names)
{
    (void)size;
    return is_named(info, names);
}

typedef struct path_search {
    const char *names[2];
    uint32_t index;
    char *out;
    size_t size;
    bool is_found;
} path_search;

static int copy_path(struct dl_phdr_info *info, size_t size, void *user)
{
    (void)size;
    path_search *search = user;
    if (!is_named(info, search->names) || search->index-- > 0)
        return 0;
    search->is_found =
        (size_t)snprintf(search->out, search->size, "%s", info->dlpi_name) < search->size;
    return 1;
}

bool tkt_objects_path(const char *name, uint32_t index, char *out, size_t size)
{
    path_search search = {{name, NULL}, index, out, size, false};
    dl_iterate_phdr(copy_path, &search);
    return search.is_found;
}

/* The executable has no name here. The kernel's own object has no folder, and no file. */
static int has_one_of(struct dl_phdr_info *info, size_t size, void *sections)
{
    (void)size;
    int fd;
    const char *path = info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe";
    if (!strchr(path, '/') || tkt_file_open(path, &fd, NULL) != TAKT_OK)
        return 0;
    int found = has_section(fd, sections);
    close(fd);
    return found;
}

typedef struct code_search {
    const uintptr_t *addresses;
    uint32_t count;
    void (*found)(void *user, uint32_t index, tkt_code_place place);
    void *user;
    char program[PATH_MAX];
} code_search;

static bool has_code(const struct dl_phdr_info *info, uintptr_t address)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && address - info->dlpi_addr - part->p_vaddr < part->p_memsz)
            return true;
    }
    return false;
}

static int locate(struct dl_phdr_info *info, size_t size, void *user)
{
    (void)size;
    code_search *search = user;
    const tkt_code_place place = {info->dlpi_name[0] ? info->dlpi_name : search->program,
                                  info->dlpi_addr};
    for (uint32_t i = 0; i < search->count; i++)
        if (has_code(info, search->addresses[i]))
            search->found(search->user, i, place);
    return 0;
}

void tkt_objects_locate(const uintptr_t *addresses, uint32_t count,
                        void (*found)(void *user, uint32_t index, tkt_code_place place), void *user)
{
    code_search search = {addresses, count, found, user, ""};
    ssize_t size = readlink("/proc/self/exe", search.program, sizeof search.program - 1);
    if (size > 0)
        search.program[size] = '\0';
    dl_iterate_phdr(locate, &search);
}

const char *tkt_exported_function(uintptr_t address, uintptr_t base)
{
    Dl_info info;
    struct link_map *object = NULL;
    if (!dladdr1((const void *)address, &info, (void **)&object, RTLD_DL_LINKMAP))
        return NULL;
    return object && object->l_addr == base ? info.dli_sname : NULL;
}

/* Checks names first, since that needs no file. */
bool tkt_objects_have(const char *const *names, const char *const *sections)
{
    return dl_iterate_phdr(has_name, (void *)names) == 1 ||
           dl_iterate_phdr(has_one_of, (void *)sections) == 1;
}
