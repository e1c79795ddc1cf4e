/* Preloaded into a program: the N-th allocation or system call fails, once or for good.
 *
 *     TAKT_FAULT=malloc:17          the 17th allocation
 *     TAKT_FAULT=write:3+           the third write and every later one
 *     TAKT_FAULT_COUNT=FILE         how many there were, a line for each kind; nothing fails
 *     TAKT_FAULT_ONLY=libtakt:libz  counts the calls of these libraries alone
 *
 * Only what the program and its libraries call is seen, not what the C library does within itself.
 * Errors are those that a full disk or a full table gives; standard error can always be written. In
 * programs with AddressSanitizer what does not fail goes on to the sanitizer; those need
 * ASAN_OPTIONS=verify_asan_link_order=0. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

/* kind, the error it fails with */
#define KINDS(X)                                                                                   \
    X(malloc, ENOMEM)                                                                              \
    X(open, EMFILE)                                                                                \
    X(read, EIO)                                                                                   \
    X(write, ENOSPC)                                                                               \
    X(rename, EIO)                                                                                 \
    X(mmap, ENOMEM)                                                                                \
    X(ftruncate, EFBIG)                                                                            \
    X(fsync, EIO)                                                                                  \
    X(close, EIO)                                                                                  \
    X(unlink, EIO)                                                                                 \
    X(stat, EIO)                                                                                   \
    X(mkdir, ENOSPC)                                                                               \
    X(fallocate, ENOSPC)                                                                           \
    X(symlink, EPERM)                                                                              \
    X(populate, EFAULT)                                                                            \
    X(thread, EAGAIN)

typedef enum kind {
#define ENUM(name, number) KIND_##name,
    KINDS(ENUM) KINDS_COUNT
} kind;

static const struct {
    const char *name;
    int number;
} kinds[] = {
#define ROW(name, number) {#name, number},
    KINDS(ROW)};

static unsigned long counts[KINDS_COUNT]; /* atomic */
static unsigned long fail_at;             /* 0: none */
static kind failing;
static int is_for_good;
static int is_ready;

/* Where the code is of the libraries whose calls count; none: everybody's do. */
static struct {
    uintptr_t begin, end;
} counted[8];
static int counted_count;

static int is_counted(const void *caller)
{
    for (int i = 0; i < counted_count; i++) {
        if ((uintptr_t)caller >= counted[i].begin && (uintptr_t)caller < counted[i].end)
            return 1;
    }
    return counted_count == 0;
}

static int fails(kind which, const void *caller)
{
    if (!is_ready || !is_counted(caller))
        return 0;
    unsigned long number = __atomic_add_fetch(&counts[which], 1, __ATOMIC_RELAXED);
    if (fail_at == 0 || which != failing || number < fail_at || (number > fail_at && !is_for_good))
        return 0;
    errno = kinds[which].number;
    return 1;
}

static void tell_counts(void)
{
    const char *path = getenv("TAKT_FAULT_COUNT");
    is_ready = 0;
    FILE *file = path ? fopen(path, "w") : NULL;
    for (int i = 0; file && i < KINDS_COUNT; i++)
        fprintf(file, "%s %lu\n", kinds[i].name, counts[i]);
    if (file)
        fclose(file);
}

/* True if one of the names that `list` has, with colons between them, is in the path. */
static int is_named(const char *list, const char *path)
{
    for (size_t size; *list; list += size + (list[size] == ':')) {
        size = strcspn(list, ":");
        if (size && memmem(path, strlen(path), list, size))
            return 1;
    }
    return 0;
}

static int find_code(struct dl_phdr_info *object, size_t size, void *list)
{
    (void)size;
    for (int i = 0; i < object->dlpi_phnum && is_named(list, object->dlpi_name); i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X) || counted_count == 8)
            continue;
        counted[counted_count].begin = object->dlpi_addr + part->p_vaddr;
        counted[counted_count].end = counted[counted_count].begin + part->p_memsz;
        counted_count++;
    }
    return 0;
}

__attribute__((constructor)) static void begin(void)
{
    char *only = getenv("TAKT_FAULT_ONLY");
    if (only)
        dl_iterate_phdr(find_code, only);
    const char *wish = getenv("TAKT_FAULT");
    for (int i = 0; wish && i < KINDS_COUNT; i++) {
        size_t size = strlen(kinds[i].name);
        if (strncmp(wish, kinds[i].name, size) != 0 || wish[size] != ':')
            continue;
        char *end;
        failing = (kind)i;
        fail_at = strtoul(wish + size + 1, &end, 10);
        is_for_good = *end == '+';
    }
    if (getenv("TAKT_FAULT_COUNT"))
        atexit(tell_counts);
    is_ready = 1;
}

#define FAILS(name) fails(KIND_##name, __builtin_return_address(0))
/* The function of that name that is called where this library is not there. */
#define NEXT(name)                                                                                 \
    (__extension__({                                                                               \
        static __typeof__(&name) next;                                                             \
        if (!next)                                                                                 \
            next = (__typeof__(&name))dlsym(RTLD_NEXT, #name);                                     \
        next;                                                                                      \
    }))

/* ---- Memory ---------------------------------------------------------------------------------- */

void *malloc(size_t size)
{
    return FAILS(malloc) ? NULL : NEXT(malloc)(size);
}

void *calloc(size_t count, size_t size)
{
    return FAILS(malloc) ? NULL : NEXT(calloc)(count, size);
}

void *realloc(void *pointer, size_t size)
{
    return FAILS(malloc) ? NULL : NEXT(realloc)(pointer, size);
}

/* ---- System calls ---- */

static mode_t mode_of(int flags, va_list list)
{
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;
}

#define OPEN(name)                                                                                 \
    int name(const char *path, int flags, ...)                                                     \
    {                                                                                              \
        va_list list;                                                                              \
        va_start(list, flags);                                                                     \
        mode_t mode = mode_of(flags, list);                                                        \
        va_end(list);                                                                              \
        return FAILS(open) ? -1 : NEXT(name)(path, flags, mode);                                   \
    }
OPEN(open)
OPEN(open64)

int openat(int folder, const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    mode_t mode = mode_of(flags, list);
    va_end(list);
    return FAILS(open) ? -1 : NEXT(openat)(folder, path, flags, mode);
}

FILE *fopen(const char *path, const char *mode)
{
    return FAILS(open) ? NULL : NEXT(fopen)(path, mode);
}

ssize_t read(int fd, void *data, size_t size)
{
    return FAILS(read) ? -1 : NEXT(read)(fd, data, size);
}

ssize_t pread(int fd, void *data, size_t size, off_t at)
{
    return FAILS(read) ? -1 : NEXT(pread)(fd, data, size, at);
}

ssize_t write(int fd, const void *data, size_t size)
{
    return fd != STDERR_FILENO && FAILS(write) ? -1 : NEXT(write)(fd, data, size);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at)
{
    return FAILS(write) ? -1 : NEXT(pwrite)(fd, data, size, at);
}

size_t fwrite(const void *data, size_t size, size_t count, FILE *file)
{
    if (file == stderr || !FAILS(write))
        return NEXT(fwrite)(data, size, count, file);
    file->_flags |= 0x20; /* glibc's mark of ferror() */
    return 0;
}

int fflush(FILE *file)
{
    return file != stderr && FAILS(write) ? EOF : NEXT(fflush)(file);
}

int rename(const char *from, const char *to)
{
    return FAILS(rename) ? -1 : NEXT(rename)(from, to);
}

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t at)
{
    return FAILS(mmap) ? MAP_FAILED : NEXT(mmap)(address, size, protection, flags, fd, at);
}

void *mremap(void *old, size_t old_size, size_t size, int flags, ...)
{
    return FAILS(mmap) ? MAP_FAILED : NEXT(mremap)(old, old_size, size, flags);
}

int ftruncate(int fd, off_t size)
{
    return FAILS(ftruncate) ? -1 : NEXT(ftruncate)(fd, size);
}

int symlink(const char *target, const char *name)
{
    return FAILS(symlink) ? -1 : NEXT(symlink)(target, name);
}

/* Advice about memory that gives it, and not the question whether the kernel knows this. */
int madvise(void *address, size_t size, int advice)
{
    int gives = size && advice == 23; /* MADV_POPULATE_WRITE */
    return gives && FAILS(populate) ? -1 : NEXT(madvise)(address, size, advice);
}

int fsync(int fd)
{
    return FAILS(fsync) ? -1 : NEXT(fsync)(fd);
}

int fdatasync(int fd)
{
    return FAILS(fsync) ? -1 : NEXT(fdatasync)(fd);
}

int close(int fd)
{
    int result = NEXT(close)(fd);
    return FAILS(close) ? -1 : result;
}

int unlink(const char *path)
{
    return FAILS(unlink) ? -1 : NEXT(unlink)(path);
}

int stat(const char *path, struct stat *out)
{
    return FAILS(stat) ? -1 : NEXT(stat)(path, out);
}

int lstat(const char *path, struct stat *out)
{
    return FAILS(stat) ? -1 : NEXT(lstat)(path, out);
}

int fstat(int fd, struct stat *out)
{
    return FAILS(stat) ? -1 : NEXT(fstat)(fd, out);
}

int mkdir(const char *path, mode_t mode)
{
    return FAILS(mkdir) ? -1 : NEXT(mkdir)(path, mode);
}

int posix_fallocate(int fd, off_t at, off_t size)
{
    return FAILS(fallocate) ? ENOSPC : NEXT(posix_fallocate)(fd, at, size);
}

int pthread_create(pthread_t *out, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *argument)
{
    return FAILS(thread) ? EAGAIN : NEXT(pthread_create)(out, attributes, run, argument);
}
