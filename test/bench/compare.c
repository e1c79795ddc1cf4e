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

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

/* False where the command fails. *kernel_seconds are part of *seconds: mostly the making of fresh
 * pages, a gigabyte of them, which takes 0.2 s on a machine and up to 4 s on a virtual one that has
 * given its free memory back to the host. */
static bool compare(const char *a, const char *b, double *seconds, double *kernel_seconds)
{
    struct rusage before, after;
    const char *folder = getenv("TAKT_BIN");
    char takt[4096];
    int status;

    snprintf(takt, sizeof takt, "%s/takt", folder ? folder : "bin");
    getrusage(RUSAGE_CHILDREN, &before);
    fflush(stdout); /* the child has no part in it */
    pid_t child = fork();
    if (child == 0) {
        if (!freopen("/dev/null", "w", stdout))
            _exit(126);
        execl(takt, takt, "diff", a, b, (char *)NULL);
        _exit(127);
    }
    bool is_done = child > 0 && waitpid(child, &status, 0) == child && status == 0;
    getrusage(RUSAGE_CHILDREN, &after);
    *kernel_seconds = seconds_of(after.ru_stime) - seconds_of(before.ru_stime);
    *seconds = seconds_of(after.ru_utime) - seconds_of(before.ru_utime) + *kernel_seconds;
    return is_done;
}

void bench_compare(void)
{
    const char *build = getenv("TAKT_BUILD");
    char a[4096], b[4096];
    double seconds, kernel_seconds;

    snprintf(a, sizeof a, "%s/bench-a.pftrace", build ? build : "build");
    snprintf(b, sizeof b, "%s/bench-b.pftrace", build ? build : "build");
    if (write_trace(a, SPANS) && write_trace(b, SPANS + 100)) {
        bool is_done = compare(a, b, &seconds, &kernel_seconds);
        if (!is_done) {
            bench_tell_missing("diff_10m", "takt diff fails");
        } else {
            bench_tell(
                (bench_figure){.name = "diff_10m", .value = seconds, .unit = "s", .max_value = 10});
            bench_tell(
                (bench_figure){.name = "diff_10m_in_kernel", .value = kernel_seconds, .unit = "s"});
        }
    }
    unlink(a);
    unlink(b);
}
