/* What a test needs to know when an emulator runs it, as in `make check-aarch64`: its command is in
 * TEST_RUNNER then. */
#ifndef TKT_TEST_EMULATED_H
#define TKT_TEST_EMULATED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

static inline const char *test_runner(void)
{
    const char *runner = getenv("TEST_RUNNER");
    return runner && *runner ? runner : NULL;
}

/* Runs this program anew in this process, with an argument. The kernel cannot start a program of
 * another processor by itself. */
_Noreturn static inline void run_again(const char *argument)
{
    char self[4096];
    ssize_t size = readlink("/proc/self/exe", self, sizeof self - 1);
    self[size > 0 ? size : 0] = '\0';
    const char *runner = test_runner();
    if (runner)
        execlp(runner, runner, self, argument, (char *)NULL);
    else
        execl(self, self, argument, (char *)NULL);
    _exit(127);
}

#endif
