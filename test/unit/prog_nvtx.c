/* Emits every kind of range; check_nvtx.sh compares what a tool hears. */
#include "nvtx/nvtx.h"

#include <takt/profiler.h>
#include <takt/timer.h>

#include <stdio.h>

static void print_line(takt_log_level level, const char *line, void *user)
{
    (void)user;
    fprintf(stderr, "log %d: %s\n", (int)level, line);
}

static void emit(const char *name, const char *color)
{
    tkt_nvtx_range_end(tkt_nvtx_range_start(&(tkt_nvtx_range){.name = name, .color = color}));
}

static void emit_ranges(void)
{
    tkt_nvtx_open first =
        tkt_nvtx_range_start(&(tkt_nvtx_range){.name = "first", .color = "yellow"});
    tkt_nvtx_open second =
        tkt_nvtx_range_start(&(tkt_nvtx_range){.name = "second", .color = "#102030"});
    tkt_nvtx_range_end(first);
    tkt_nvtx_range_end(second);
    emit(NULL, NULL);
}

static void emit_unknown_colors(void)
{
    emit("odd", "octarine");
    emit("odder", "infra-black");
}

static void emit_timers(void)
{
    {
        TAKT_TIMER("timer", .silent = true, .nvtx = true, .color = "red");
    }
    for (int i = 0; i < 2; i++) {
        TAKT_TIMER("write", .silent = true, .nvtx = true, .domain = "sph", .category = "io",
                   .payload = i - 1, .has_payload = true);
    }
    TAKT_TIMER("read", .silent = true, .nvtx = true, .category = "io");
}

/* Step 1 of three is recorded. */
static void emit_steps(void)
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt_profiler *profiler;
    options.schedule = (takt_schedule){.wait = 1, .active = 1, .repeat = 1};
    options.nsight = TAKT_NSIGHT_CAPTURE_RANGE;
    if (takt_profiler_create(&options, &profiler) != TAKT_OK)
        return;
    takt_profiler_start(profiler);
    for (int i = 0; i < 3; i++)
        takt_profiler_step(profiler);
    takt_profiler_stop(profiler);
    takt_profiler_destroy(profiler);
}

/* More names than there is room for: the last domain is the default one, with a category. */
static void emit_many(void)
{
    char name[8];
    for (int i = 0; i < 16; i++) {
        snprintf(name, sizeof name, "d%d", i);
        const tkt_nvtx_range range = {.name = "many", .domain = name, .category = "io"};
        tkt_nvtx_range_end(tkt_nvtx_range_start(&range));
    }
}

int main(void)
{
    takt_set_log(print_line, NULL);
    emit_ranges();
    emit_unknown_colors();
    emit_timers();
    emit_steps();
    emit_many();
    return 0;
}
