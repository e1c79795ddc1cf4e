/* Loads CUDA while a profiler records, as a plugin does, and makes a context or none (argument
 * "loads"). Prints each recording's losses; check_late_cuda.sh gives it the stand-in. */
#include <takt/takt.h>

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static void say(const takt_trace *trace, void *user)
{
    (void)user;
    for (int i = 0; i < TAKT_LOSS_COUNT; i++)
        if (takt_trace_loss(trace, (takt_loss)i))
            printf("%s %lu, ", takt_loss_name((takt_loss)i),
                   (unsigned long)takt_trace_loss(trace, (takt_loss)i));
    puts(takt_trace_facts(trace)->backend);
}

static int load(int makes_context)
{
    void *context, *library = dlopen("libcuda.so.1", RTLD_NOW);
    int (*init)(unsigned), (*retain)(void **, int);
    if (!library)
        return 1;
    *(void **)&init = dlsym(library, "cuInit");
    *(void **)&retain = dlsym(library, "cuDevicePrimaryCtxRetain");
    return makes_context && (init(0) != 0 || retain(&context, 0) != 0);
}

int main(int argc, char **argv)
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt_profiler *profiler;
    takt_timing *timing;
    options.on_trace = say;
    options.background = TAKT_OFF;
    if (takt_profiler_create(&options, &profiler) != TAKT_OK ||
        takt_profiler_start(profiler) != TAKT_OK || takt_timing_begin(NULL, &timing) != TAKT_OK ||
        load(argc == 1 || strcmp(argv[1], "loads") != 0) != 0)
        return 1;
    takt_timing_end(timing);
    printf("a timed block lost %lu\n", (unsigned long)takt_timing_lost(timing));
    takt_timing_free(timing);
    takt_profiler_stop(profiler);
    takt_profiler_start(profiler);
    takt_profiler_stop(profiler);
    takt_profiler_destroy(profiler);
    return 0;
}
