/* A program that knows nothing of configuration; check_environment.sh gives it some.
 *
 *     prog_environment [STEPS [exit | start | twice | stop | never | timer | heard | child]]
 *
 * exit: leaves through exit() in the middle of a step; start: calls takt_profiler_start() first;
 * twice: and once more; stop: calls takt_profiler_stop() at the end, and once again. The others
 * start no profiler: never; timer: has a timer; heard: hears Takt's log; child: forks a child that
 * exits, and then itself leaves by _exit(). */
#include <takt/takt.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static double simulate(double x)
{
    TAKT_SCOPE("step");
    {
        TAKT_SCOPE("forces");
        x = x * 1.5 + 1;
    }
    TAKT_ACTIVITY("cpu", TAKT_TIMING_KERNEL, "density");
    return x * 0.5;
}

static void hear(takt_log_level level, const char *line, void *user)
{
    (void)user;
    printf("heard %d: %s\n", level, line);
}

static void start_nothing(const char *what, double x)
{
    if (strcmp(what, "heard") == 0)
        takt_set_log(hear, NULL);
    if (strcmp(what, "timer") == 0) {
        TAKT_TIMER("timer", .silent = true);
        simulate(x);
    }
    if (strcmp(what, "child") != 0)
        return;
    if (fork() == 0)
        exit(0);
    wait(NULL);
    _exit(0);
}

int main(int argc, char **argv)
{
    int steps = argc > 1 ? atoi(argv[1]) : 10;
    const char *what = argc > 2 ? argv[2] : "";
    double x = 0;
    if (strcmp(what, "start") == 0 && takt_profiler_start(NULL) != TAKT_OK)
        return 1;
    if (strcmp(what, "twice") == 0 &&
        (takt_profiler_start(NULL) != TAKT_OK || takt_profiler_start(NULL) != TAKT_BAD_STATE ||
         takt_profiler_start(NULL) != TAKT_BAD_STATE))
        return 1;
    if (strcmp(what, "never") == 0 || strcmp(what, "timer") == 0 || strcmp(what, "heard") == 0 ||
        strcmp(what, "child") == 0) {
        start_nothing(what, x);
        return 0;
    }
    for (int i = 0; i < steps; i++) {
        x = simulate(x);
        if (takt_profiler_step(NULL) != TAKT_OK)
            return 2;
    }
    if (strcmp(what, "stop") == 0) {
        takt_profiler_stop(NULL);
        takt_profiler_stop(NULL);
        printf("has trace: %d\n", takt_profiler_trace(NULL) != NULL);
    }
    printf("x = %.17g\n", x);
    if (strcmp(what, "exit") == 0)
        exit(3);
    return 0;
}
