/* Facts about the process and its surroundings. */
#include "base/file.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define WIDTH_OF_SILENT_TERMINALS 80

static pthread_once_t host_once = PTHREAD_ONCE_INIT;
static char host_name[256];

/* Asked once: the name ends up in file names, which must not change during a run. */
static void ask_host_name(void)
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

const char *tkt_host_name(void)
{
    pthread_once(&host_once, ask_host_name);
    return host_name;
}

uint32_t tkt_process_id(void)
{
    return (uint32_t)getpid();
}

uint32_t tkt_parent_id(void)
{
    return (uint32_t)getppid();
}

/* The program begins without the signals that the calling thread has blocked, as from a shell. */
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
        return ENOENT; /* where it is set, in a set-uid program it is somebody else's */
    int status = spawn(&child, arguments);
    /* A host that waits for any child may be first: then there is none any more. */
    while (status == 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        continue;
    return status;
}

uint32_t tkt_terminal_width(int fd)
{
    struct winsize window;
    if (ioctl(fd, TIOCGWINSZ, &window) != 0)
        return 0;
    /* Serial lines and fresh pseudo-terminals do not know their size. */
    return window.ws_col ? window.ws_col : WIDTH_OF_SILENT_TERMINALS;
}
