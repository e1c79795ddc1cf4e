/* What `takt diff` takes for two traces of ten million spans and ten million activities of a device
 * each, from files to table, reading included: the processor's time, since it waits for nothing but
 * the files, which the kernel has. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define MILLION    UINT64_C(1000000)
#define SPANS      (10 * MILLION)
#define ACTIVITIES (19 * MILLION) /* nine of them on the host, of the spans */

static bool write_trace(const char *path, uint64_t spans)
{
    takt_error error = {.message = "no memory for the trace"};
    takt_trace *trace = bench_trace(spans, ACTIVITIES);
    bool is_written = trace && takt_export_file(trace, "perfetto", path, NULL, &error) == TAKT_OK;
    takt_trace_release(trace);
    if (!is_written)
        bench_tell_missing("diff_10m", error.message);
    return is_written;
}

/* The processor's time of children that have ended. */
static double child_seconds(void)
{
    struct rusage used;
    getrusage(RUSAGE_CHILDREN, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

/* False where the command fails. */
static bool compare(const char *a, const char *b, double *seconds)
{
    const char *folder = getenv("TAKT_BIN");
    char takt[4096];
    int status;

    snprintf(takt, sizeof takt, "%s/takt", folder ? folder : "bin");
    double begin = child_seconds();
    fflush(stdout); /* the child has no part in it */
    pid_t child = fork();
    if (child == 0) {
        if (!freopen("/dev/null", "w", stdout))
            _exit(126);
        execl(takt, takt, "diff", a, b, (char *)NULL);
        _exit(127);
    }
    bool is_done = child > 0 && waitpid(child, &status, 0) == child && status == 0;
    *seconds = child_seconds() - begin;
    return is_done;
}

void bench_compare(void)
{
    const char *build = getenv("TAKT_BUILD");
    char a[4096], b[4096];
    double seconds;

    snprintf(a, sizeof a, "%s/bench-a.pftrace", build ? build : "build");
    snprintf(b, sizeof b, "%s/bench-b.pftrace", build ? build : "build");
    if (write_trace(a, SPANS) && write_trace(b, SPANS + 100)) {
        if (compare(a, b, &seconds))
            bench_tell(
                (bench_figure){.name = "diff_10m", .value = seconds, .unit = "s", .max_value = 10});
        else
            bench_tell_missing("diff_10m", "takt diff fails");
    }
    unlink(a);
    unlink(b);
}
