/* Figures as lines and as JSON, and the machine that they are true of. */
#include "bench.h"

#include "base/clock.h"
#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define MAX_FIGURES 256

static bench_figure figures[MAX_FIGURES];
static char names[MAX_FIGURES][64]; /* theirs, copied: callers make some in passing */
static size_t figure_count;

static double ratio_of(const bench_figure *figure)
{
    return figure->floor > 0 ? figure->value / figure->floor : 0;
}

/* "budget <= 1.10 x  ok" */
static void print_budget(const bench_figure *figure)
{
    bool is_met = true;
    if (figure->max_ratio > 0) {
        is_met = ratio_of(figure) <= figure->max_ratio;
        printf("  budget <= %g x", figure->max_ratio);
    } else if (figure->max_value > 0) {
        is_met = figure->value <= figure->max_value;
        printf("  budget <= %g", figure->max_value);
    } else if (figure->min_value > 0) {
        is_met = figure->value >= figure->min_value;
        printf("  budget >= %g", figure->min_value);
    } else {
        return;
    }
    printf("  %s", is_met ? "ok" : "MISSED");
}

/* Enough digits for the size: 0.31, 17.42, 1234, 43150000. */
static int digits_of(double value)
{
    return value < 10 ? 3 : value < 1000 ? 2 : 0;
}

void bench_tell(bench_figure figure)
{
    printf("%-26s %12.*f %-8s", figure.name, digits_of(figure.value), figure.value, figure.unit);
    if (figure.floor > 0)
        printf(" %8.2f %7.3f", figure.floor, ratio_of(&figure));
    else
        printf(" %8s %7s", "-", "-");
    print_budget(&figure);
    putchar('\n');
    fflush(stdout);
    if (figure_count == MAX_FIGURES)
        return;
    snprintf(names[figure_count], sizeof *names, "%s", figure.name);
    figure.name = names[figure_count];
    figures[figure_count++] = figure;
}

void bench_tell_missing(const char *name, const char *why)
{
    printf("%-26s not measured: %s\n", name, why);
    fflush(stdout);
}

/* The machine. */

/* The text behind "KEY   : " in /proc/cpuinfo; "?" where there is none, as on some aarch64. */
static void processor_fact(const char *key, char *out, size_t size)
{
    char line[512];
    FILE *file = fopen("/proc/cpuinfo", "r");
    snprintf(out, size, "?");
    while (file && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (!colon || strncmp(line, key, strlen(key)) != 0)
            continue;
        snprintf(out, size, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
        break;
    }
    if (file)
        fclose(file);
}

static const char *clock_name(void)
{
    if (!tkt_clock_is_inline())
        return "CLOCK_MONOTONIC";
#if defined(__x86_64__)
    return "invariant TSC";
#else
    return "cntvct_el0";
#endif
}

void bench_tell_machine(void)
{
    char model[256];
    struct utsname system;
    double load = 0;
    processor_fact("model name", model, sizeof model);
    uname(&system);
    getloadavg(&load, 1);
    printf("Takt %s, %s %s %s\n", takt_version(), system.sysname, system.release, system.machine);
    printf("machine:  %s, %ld cores, %ld KiB first-level data cache, load %.2f\n", model,
           sysconf(_SC_NPROCESSORS_ONLN), sysconf(_SC_LEVEL1_DCACHE_SIZE) / 1024, load);
#if defined(__clang__)
    printf("compiler: %s\n", __VERSION__);
#else
    printf("compiler: gcc %s\n", __VERSION__);
#endif
    printf("clock:    %s, %.4f ns a tick; two reads %.2f ns\n\n", clock_name(), bench_ns_per_tick(),
           bench_round(&bench_floor));
    printf("%-26s %12s %-8s %8s %7s\n", "name", "value", "unit", "floor", "ratio");
}

/* JSON. */

static void write_figure(FILE *file, const bench_figure *figure, bool is_last)
{
    fprintf(file, "  {\"name\": \"%s\", \"value\": %.9g, \"unit\": \"%s\", ", figure->name,
            figure->value, figure->unit);
    if (figure->floor > 0)
        fprintf(file, "\"floor\": %.9g, \"ratio\": %.9g}", figure->floor, ratio_of(figure));
    else
        fprintf(file, "\"floor\": null, \"ratio\": null}");
    fprintf(file, "%s\n", is_last ? "" : ",");
}

bool bench_write_json(const char *path)
{
    FILE *file = fopen(path, "w");
    if (!file) {
        perror(path);
        return false;
    }
    fprintf(file, "[\n");
    for (size_t i = 0; i < figure_count; i++)
        write_figure(file, &figures[i], i + 1 == figure_count);
    fprintf(file, "]\n");
    bool is_written = !ferror(file);
    return fclose(file) == 0 && is_written;
}
