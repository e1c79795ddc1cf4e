/* A program that has libcudart loaded and no driver: prog_driverless LIBCUDART [late]. Prints what
 * Takt found to have measured devices. A late one loads it while it is recorded, twice. */
#include <takt/takt.h>

#include <dlfcn.h>
#include <stdio.h>

static void on_trace(const takt_trace *trace, void *user)
{
    (void)user;
    printf("backend %s\n", takt_trace_facts(trace)->backend);
}

int main(int argc, char **argv)
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt_profiler *profiler = NULL;
    bool is_late = argc > 2;
    options.on_trace = on_trace;
    if (argc < 2 || (!is_late && !dlopen(argv[1], RTLD_NOW)) ||
        takt_profiler_create(&options, &profiler) != TAKT_OK)
        return 1;
    for (int i = 0; i <= is_late; i++) {
        takt_profiler_start(profiler);
        TAKT_MARK("here");
        if (is_late && !dlopen(argv[1], RTLD_NOW))
            return 1;
        takt_profiler_stop(profiler);
    }
    takt_profiler_destroy(profiler);
    return 0;
}
