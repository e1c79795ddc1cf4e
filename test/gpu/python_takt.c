/* Takt for a Python program: a library that ctypes loads, with three functions. python_loop.py uses
 * it to compare counts and totals of each kernel with those of the framework's own profiler. */
#include <takt/takt.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

int python_takt_begin(void);
int python_takt_step(void);
int python_takt_end(const char *path);

static takt_profiler *profiler;

typedef struct total {
    const char *name;
    size_t count;
    double ms;
} total;

/* Begins to record everything that the process does on its devices. 0, or a takt_status. */
EXPORT int python_takt_begin(void)
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    options.name = "python";
    options.max_memory_bytes = UINT64_C(1) << 30;
    takt_status status = takt_profiler_create(&options, &profiler);
    return (int)(status == TAKT_OK ? takt_profiler_start(profiler) : status);
}

EXPORT int python_takt_step(void)
{
    return (int)takt_profiler_step(profiler);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const total *)a)->name, ((const total *)b)->name);
}

static const char *name_of(const takt_activity *activity)
{
    return activity->full_name && activity->full_name[0] ? activity->full_name : activity->name;
}

/* One entry for each name; returns how many. */
static size_t add_up(const takt_trace *trace, total *totals)
{
    size_t used = 0, count = takt_trace_count(trace, TAKT_TRACE_ACTIVITIES), kept = 0;
    for (size_t i = 0; i < count; i++) {
        takt_activity activity;
        if (takt_trace_activity(trace, i, &activity) == TAKT_OK &&
            strncmp(activity.device, "cuda", 4) == 0)
            totals[used++] = (total){name_of(&activity), 1, activity.elapsed_ms};
    }
    qsort(totals, used, sizeof *totals, by_name);
    for (size_t i = 0; i < used; i++) {
        if (kept && strcmp(totals[kept - 1].name, totals[i].name) == 0) {
            totals[kept - 1].count++;
            totals[kept - 1].ms += totals[i].ms;
        } else {
            totals[kept++] = totals[i];
        }
    }
    return kept;
}

static void write_text(FILE *file, const char *text)
{
    fputc('"', file);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', file);
        if ((unsigned char)*text >= ' ')
            fputc(*text, file);
    }
    fputc('"', file);
}

static void write_json(FILE *file, const takt_trace *trace, const total *totals, size_t count)
{
    const takt_facts *facts = takt_trace_facts(trace);
    fputs("{\"backend\": ", file);
    write_text(file, facts->backend);
    fprintf(file, ", \"uncertainty_ns\": %.0f, \"losses\": {", facts->device_uncertainty_ns);
    for (int loss = 0; loss < TAKT_LOSS_COUNT; loss++)
        fprintf(file, "%s\"%s\": %llu", loss ? ", " : "", takt_loss_name((takt_loss)loss),
                (unsigned long long)takt_trace_loss(trace, loss));
    fputs("}, \"activities\": {", file);
    for (size_t i = 0; i < count; i++) {
        fputs(i ? ",\n" : "\n", file);
        write_text(file, totals[i].name);
        fprintf(file, ": [%zu, %.6f]", totals[i].count, totals[i].ms);
    }
    fputs("}}\n", file);
}

/* Stops and writes counts and milliseconds by name into `path`. 0, or 1 if there is nothing. */
EXPORT int python_takt_end(const char *path)
{
    takt_profiler_stop(profiler);
    const takt_trace *trace = takt_profiler_trace(profiler);
    FILE *file = trace ? fopen(path, "w") : NULL;
    total *totals =
        file ? calloc(takt_trace_count(trace, TAKT_TRACE_ACTIVITIES) + 1, sizeof *totals) : NULL;
    if (totals)
        write_json(file, trace, totals, add_up(trace, totals));
    int failed = !totals || fclose(file) != 0;
    free(totals);
    takt_profiler_destroy(profiler);
    profiler = NULL;
    return failed;
}
