/* A scope as programs pay for it: see test/bench/user/prog_user.c, which is run here. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>

#define RUNS 9

static bool run(const char *program, int threads, bench_time *time)
{
    const char *build = getenv("TAKT_BUILD");
    char command[4200];
    snprintf(command, sizeof command, "'%s/test/bench/user/%s' %d", build ? build : "build",
             program, threads);
    fflush(stdout);
    FILE *pipe = popen(command, "r");
    if (!pipe)
        return false;
    bool is_read = fscanf(pipe, "%lf %lf", &time->ns, &time->floor_ns) == 2;
    return pclose(pipe) == 0 && is_read;
}

static int compare_ratios(const void *a, const void *b)
{
    const bench_time *x = a, *y = b;
    double difference = x->ns / x->floor_ns - y->ns / y->floor_ns;
    return (difference > 0) - (difference < 0);
}

void bench_users(void)
{
    static const struct {
        const char *name;
        const char *program;
        int threads;
    } rows[] = {{"user_scope_archive", "user_archive", 1},
                {"user_scope_library", "user_library", 1},
                {"user_scope_archive_2", "user_archive", 2},
                {"user_scope_library_2", "user_library", 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bench_time times[RUNS];
        size_t done = 0;
        while (done < RUNS && run(rows[i].program, rows[i].threads, &times[done]))
            done++;
        qsort(times, done, sizeof *times, compare_ratios);
        if (done == RUNS)
            bench_tell((bench_figure){.name = rows[i].name,
                                      .value = times[RUNS / 2].ns,
                                      .unit = "ns",
                                      .floor = times[RUNS / 2].floor_ns});
        else
            bench_tell_missing(rows[i].name, "its program was not built, or fails");
    }
}
