/* A program that knows nothing of configuration; check_environment.sh gives it some.
 *
 *     prog_environment [STEPS [exit | start | stop]]
 *
 * exit: leaves through exit() in the middle of a step; start: calls takt_profiler_start() first;
 * stop: calls takt_profiler_stop() at the end, and once again. */
#include <takt/takt.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

int main(int argc, char **argv)
{
    int steps = argc > 1 ? atoi(argv[1]) : 10;
    const char *what = argc > 2 ? argv[2] : "";
    double x = 0;
    if (strcmp(what, "start") == 0 && takt_profiler_start(NULL) != TAKT_OK)
        return 1;
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
