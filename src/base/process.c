/* The process's surroundings: its name, host and rank, and other copies of Takt in it. */
#include "base/file.h"
#include "base/dynlib.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ======== The process ======== */
#define WIDTH_OF_SILENT_TERMINALS 80

static pthread_once_t host_once = PTHREAD_ONCE_INIT;
static char host_name[256];

/* Reads the name once: it goes into file names, which must not change during a run. */
static void read_host_name(void)
{
    if (gethostname(host_name, sizeof host_name - 1) != 0 || !host_name[0]) {
        const char unknown[] = "localhost";
        for (size_t i = 0; i < sizeof unknown; i++)
            host_name[i] = unknown[i];
    }
}

const char *tkt_environment(const char *name)
{
    const char *value = secure_getenv(name);
    return value && *value ? value : NULL;
}

const char *tkt_program_name(void)
{
    const char *name = program_invocation_short_name;
    return name && name[0] ? name : "program";
}

/* The kernel names the first thread after the file that it executes: under an emulator, or a loader
 * that is called with the program, that is their file. */
bool tkt_is_first_thread_name(const char *name)
{
    char first[16] = "";
    int file = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    ssize_t size = read(file, first, sizeof first);
    close(file);
    return size > 0 && strlen(name) == (size_t)size - 1 &&
           memcmp(first, name, (size_t)size - 1) == 0;
}

const char *tkt_host_name(void)
{
    pthread_once(&host_once, read_host_name);
    return host_name;
}

static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static uint64_t process_key;

static void make_key(void)
{
    struct timespec now;
    if (getrandom(&process_key, sizeof process_key, GRND_NONBLOCK) != sizeof process_key) {
        clock_gettime(CLOCK_REALTIME, &now);
        process_key =
            ((uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec) * 0x9E3779B97F4A7C15u;
    }
    process_key = process_key >> 11 | 1;
}

uint64_t tkt_process_key(void)
{
    pthread_once(&key_once, make_key);
    return process_key;
}

uint32_t tkt_process_id(void)
{
    return (uint32_t)getpid();
}

uint32_t tkt_parent_id(void)
{
    return (uint32_t)getppid();
}

/* Starts the program with no signal blocked, as a shell does, whatever the calling thread
 * blocks. */
static int spawn(pid_t *child, char *const arguments[])
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;

    int status = posix_spawn_file_actions_init(&actions);
    if (status != 0)
        return status;
    status = posix_spawnattr_init(&attributes);
    if (status == 0) {
        sigemptyset(&none);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
        status = posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
        if (status == 0)
            status = posix_spawnp(child, arguments[0], &actions, &attributes, arguments, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return status;
}

int tkt_run_program(char *const arguments[])
{
    pid_t child;
    if (!tkt_environment("PATH"))
        return ENOENT; /* in a set-uid program, PATH is somebody else's choice */
    int status = spawn(&child, arguments);
    /* The host may reap our child with wait(-1) before we do; then waitpid() fails with ECHILD. */
    while (status == 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        continue;
    return status;
}

/* The terminal that a launcher gives to the ranks of a job is its own: what they print may end up
 * in a log, side by side. */
static bool is_of_launcher(void)
{
    uint32_t rank, size;
    tkt_rank(&rank, &size);
    return size > 1;
}

uint32_t tkt_terminal_width(int fd)
{
    struct winsize window;
    if (is_of_launcher() || ioctl(fd, TIOCGWINSZ, &window) != 0)
        return 0;
    /* Serial lines and new pseudo-terminals do not know their size. */
    return window.ws_col ? window.ws_col : WIDTH_OF_SILENT_TERMINALS;
}

bool tkt_terminal_has_color(int fd)
{
    const char *terminal = tkt_environment("TERM");
    bool is_dumb = terminal && strcmp(terminal, "dumb") == 0;
    return tkt_terminal_width(fd) > 0 && !is_dumb && !tkt_environment("NO_COLOR");
}

/* ======== Ranks ======== */

/* The rank of this process, which MPI's launchers, Slurm and torchrun put into the environment of
 * the processes that they start. Takt is not linked with any of them, and a program may be profiled
 * before it calls MPI_Init(). */

typedef struct launcher {
    const char *rank;
    const char *size;
} launcher;

/* The first complete entry counts. Launchers that run inside others come first: mpirun may run in a
 * Slurm job, and torchrun under either. */
static const launcher launchers[] = {
    {"RANK", "WORLD_SIZE"},                           /* torchrun */
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, /* Open MPI */
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},   /* MVAPICH2 */
    {"PMI_RANK", "PMI_SIZE"},                         /* MPICH, Intel MPI, Cray MPICH */
    {"PMIX_RANK", "PMIX_SIZE"},                       /* prun, which has no variable for the size */
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
    {"SLURM_PROCID", "SLURM_NTASKS"},
};

#define LAUNCHER_COUNT (sizeof launchers / sizeof *launchers)

static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint32_t the_rank, the_size;

/* Reads a decimal number; false if the variable holds anything else. */
static bool read_number(const char *name, uint32_t *out)
{
    const char *text = tkt_environment(name);
    char *end;
    if (!text || *text < '0' || *text > '9')
        return false;
    unsigned long long number = strtoull(text, &end, 10);
    *out = (uint32_t)number;
    return *end == '\0' && number < UINT32_MAX;
}

static bool read_launcher(const launcher *from, bool needs_size)
{
    uint32_t rank, size = 0;
    if (!read_number(from->rank, &rank))
        return false;
    bool has_size = read_number(from->size, &size) && rank < size;
    if (needs_size && !has_size)
        return false;
    the_rank = rank;
    the_size = has_size ? size : 0;
    return true;
}

static void read_rank(void)
{
    bool is_found = false;
    for (size_t i = 0; i < LAUNCHER_COUNT && !is_found; i++)
        is_found = read_launcher(&launchers[i], true);
    for (size_t i = 0; i < LAUNCHER_COUNT && !is_found; i++)
        is_found = read_launcher(&launchers[i], false);
}

void tkt_rank(uint32_t *rank, uint32_t *size)
{
    pthread_once(&once, read_rank);
    *rank = the_rank;
    *size = the_size;
}

void tkt_rank_text(char text[TKT_RANK_BYTES], uint32_t rank, uint32_t size)
{
    text[0] = '\0';
    if (size > 1 || rank > 0)
        snprintf(text, TKT_RANK_BYTES, ".rank%u", rank);
}

/* What tells the launch of a job from all others, on each of its nodes: of Open MPI and prun, of
 * HPE's PALS, of Flux, of Slurm. */
static const char *const job_ids[][2] = {{"PMIX_NAMESPACE", ""},
                                         {"PALS_APID", ""},
                                         {"FLUX_JOB_ID", ""},
                                         {"SLURM_JOB_ID", "SLURM_STEP_ID"}};

bool tkt_job_id(char id[TKT_JOB_ID_BYTES])
{
    for (size_t i = 0; i < sizeof job_ids / sizeof *job_ids; i++) {
        const char *job = tkt_environment(job_ids[i][0]);
        const char *step = *job_ids[i][1] ? tkt_environment(job_ids[i][1]) : "";
        if (!job || !*job || !step)
            continue;
        snprintf(id, TKT_JOB_ID_BYTES, "%s%s%s", job, *step ? "." : "", step);
        for (char *slash; (slash = strchr(id, '/')) != NULL;)
            *slash = '_';
        return true;
    }
    return false;
}

/* An ancestor that began earlier is a shell or the like, from which many jobs may come. */
#define LONGEST_LAUNCH_S 60

/* Reads a process's parent, and when it began, in seconds since the machine did; false if /proc
 * does not tell. Source: proc(5), /proc/pid/stat: fields 4 and 22; the second is a name in
 * brackets. */
static bool read_begin(int process, int *parent, int64_t *seconds)
{
    char path[32], text[1024];
    size_t size = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", process);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    takt_status status = tkt_file_read_some(fd, path, text, sizeof text - 1, &size, NULL);
    close(fd);
    text[size] = '\0';
    const char *at = status == TAKT_OK ? strrchr(text, ')') : NULL;
    if (!at || sscanf(at, ") %*c %d", parent) != 1)
        return false;
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    uint64_t ticks = at ? strtoull(at, NULL, 10) : 0;
    *seconds = (int64_t)(ticks / (uint64_t)sysconf(_SC_CLK_TCK));
    return true;
}

int64_t tkt_job_time(void)
{
    struct timespec now, since_boot;
    int64_t own, began, before;
    int parent;
    clock_gettime(CLOCK_REALTIME, &now);
    clock_gettime(CLOCK_BOOTTIME, &since_boot);
    if (!read_begin(getpid(), &parent, &own))
        return now.tv_sec;
    began = own;
    while (read_begin(parent, &parent, &before) && own - before <= LONGEST_LAUNCH_S)
        began = before;
    /* Whole seconds since the machine began are the same for all ranks. So is the machine's begin,
     * if it is rounded. */
    int64_t boot_ns =
        (now.tv_sec - since_boot.tv_sec) * INT64_C(1000000000) + now.tv_nsec - since_boot.tv_nsec;
    return (boot_ns + 500000000) / 1000000000 + began;
}

/* ======== Other copies of Takt ======== */

/* A program and a plugin that are both linked with the static library contain two copies of Takt,
 * which know nothing of each other: a profiler of one records no scope of the other. Symbols cannot
 * reveal this, since static copies export none. So each copy has an ELF note, which the loader
 * maps, and tkt_instances() reads the notes of all loaded files.
 *
 * If a copy exports its symbols, the dynamic linker binds the other copies to them. These copies
 * share one state, and all their notes point to it. */

enum {
    MOST = 16
};

typedef struct search {
    const char **names;
    size_t size;
    size_t count;
    const void *states[MOST]; /* of the copies counted so far */
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
        uint32_t sizes[2]; /* other notes may be aligned to only four bytes */
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

/* True if a copy with the same state is counted already: the two are one. */
static bool is_counted(const search *s, const tkt_note *note)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->states[i] == state_of(note))
            return true;
    return false;
}

static int add_copies(struct dl_phdr_info *file, size_t size, void *user)
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
    dl_iterate_phdr(add_copies, &s);
    return s.count;
}
