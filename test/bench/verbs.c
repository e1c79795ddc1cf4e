/* What verbs of the command take for traces of ten million spans, reading included: the processor's
 * time, since they wait for nothing but files, which the kernel has. Tables are of a program of
 * host scopes; `takt diff` compares two traces that have ten million activities of a device
 * besides. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define MILLION    UINT64_C(1000000)
#define SPANS      (10 * MILLION)
#define ACTIVITIES (19 * MILLION) /* nine of them on the host, of the spans */
#define TICK_NS    10             /* of the clock, as traces have it by default */

/* What a verb took. The kernel's part is mostly the making of fresh pages, which takes 0.2 s a
 * gigabyte on a machine and up to 4 s on a virtual one that gave its free memory to the host. */
typedef struct child_time {
    double seconds;        /* of the processor, the kernel's part with them */
    double kernel_seconds; /* a part of these */
} child_time;

static const char *in_build(char out[4096], const char *name)
{
    const char *build = getenv("TAKT_BUILD");
    snprintf(out, 4096, "%s/%s", build ? build : "build", name);
    return out;
}

/* Releases the trace. Tells that `figure` is missing where it fails. */
static bool write_trace(const char *figure, const char *path, takt_trace *trace)
{
    takt_error error = {.message = "no memory for the trace"};
    bool is_written = trace && takt_export_file(trace, "perfetto", path, NULL, &error) == TAKT_OK;
    takt_trace_release(trace);
    if (!is_written)
        bench_tell_missing(figure, error.message);
    return is_written;
}

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static child_time children_time(void)
{
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    double kernel = seconds_of(usage.ru_stime);
    return (child_time){seconds_of(usage.ru_utime) + kernel, kernel};
}

/* Runs the command with these arguments, of which the first is its own name; false where it fails.
 */
static bool run(char *const arguments[], child_time *took)
{
    const char *folder = getenv("TAKT_BIN");
    char takt[4096];
    int status;

    snprintf(takt, sizeof takt, "%s/takt", folder ? folder : "bin");
    child_time before = children_time();
    fflush(stdout); /* the child has no part in it */
    pid_t child = fork();
    if (child == 0) {
        if (!freopen("/dev/null", "w", stdout))
            _exit(126);
        execv(takt, arguments);
        _exit(127);
    }
    bool is_done = child > 0 && waitpid(child, &status, 0) == child && status == 0;
    child_time after = children_time();
    *took =
        (child_time){after.seconds - before.seconds, after.kernel_seconds - before.kernel_seconds};
    return is_done;
}

static void measure(const char *figure, double max_seconds, char *const arguments[])
{
    char in_kernel[64];
    child_time took;
    if (!run(arguments, &took)) {
        bench_tell_missing(figure, "the command fails");
        return;
    }
    snprintf(in_kernel, sizeof in_kernel, "%s_in_kernel", figure);
    bench_tell((bench_figure){
        .name = figure, .value = took.seconds, .unit = "s", .max_value = max_seconds});
    bench_tell((bench_figure){.name = in_kernel, .value = took.kernel_seconds, .unit = "s"});
}

void bench_compare(void)
{
    char a[4096], b[4096];
    in_build(a, "bench-a.pftrace");
    in_build(b, "bench-b.pftrace");
    if (write_trace("diff_10m", a, bench_trace(SPANS, ACTIVITIES)) &&
        write_trace("diff_10m", b, bench_trace(SPANS + 100, ACTIVITIES)))
        measure("diff_10m", 10, (char *[]){"takt", "diff", a, b, NULL});
    unlink(a);
    unlink(b);
}

static void remove_folder(const char *folder)
{
    char command[4200];
    snprintf(command, sizeof command, "rm -rf -- '%s'", folder);
    if (system(command) != 0)
        fprintf(stderr, "%s stays\n", folder);
}

void bench_tables(void)
{
    char trace[4096], folder[4096], database[4096];
    in_build(database, "bench.db");
    in_build(folder, "bench-tables");
    in_build(trace, "bench.pftrace");
    if (write_trace("sqlite_10m", trace, bench_stepping(SPANS, TICK_NS))) {
        char *const sqlite[] = {"takt", "export", "--sqlite", "-o", database, trace, NULL};
        char *const csv[] = {"takt", "export", "--csv", "-o", folder, trace, NULL};
        measure("sqlite_10m", 12, sqlite);
        measure("csv_10m", 4, csv);
        remove_folder(folder);
    }
    unlink(database);
    unlink(trace);
}
