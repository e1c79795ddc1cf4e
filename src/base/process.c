/* Facts about the process and its surroundings. */
#include "base/file.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/ioctl.h>
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
    return secure_getenv(name);
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

uint32_t tkt_terminal_width(int fd)
{
    struct winsize window;
    if (ioctl(fd, TIOCGWINSZ, &window) != 0)
        return 0;
    /* Serial lines and fresh pseudo-terminals do not know their size. */
    return window.ws_col ? window.ws_col : WIDTH_OF_SILENT_TERMINALS;
}
