/* What `takt report --html` takes for a trace of a million spans of the host and a million
 * activities of a device, from file to file, reading included; and how long a trace of 250 MB takes
 * to open. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MILLION     UINT64_C(1000000)
#define LARGE_SPANS UINT64_C(9600000) /* of 26 bytes each, uncompressed */
#define ROUNDS      3

static char file[4096], page[4096];

static bool write_trace(uint64_t spans, uint64_t activities, bool plain, const char *figure)
{
    takt_export_options options = {.struct_size = sizeof options, .plain = plain};
    takt_error error = {.message = "no memory for the trace"};
    takt_trace *trace = bench_trace(spans, activities);
    bool is_written =
        trace && takt_export_file(trace, "perfetto", file, &options, &error) == TAKT_OK;
    takt_trace_release(trace);
    if (!is_written)
        bench_tell_missing(figure, error.message);
    return is_written;
}

/* False where the command fails. */
static bool make_page(const char *takt, double *seconds)
{
    int status;
    double begin = bench_seconds();
    fflush(stdout); /* the child has no part in it */
    pid_t child = fork();
    if (child == 0) {
        if (!freopen("/dev/null", "w", stdout))
            _exit(126);
        execl(takt, takt, "report", "--html", "-o", page, file, (char *)NULL);
        _exit(127);
    }
    bool is_done = child > 0 && waitpid(child, &status, 0) == child && status == 0;
    *seconds = bench_seconds() - begin;
    return is_done;
}

static void measure_page(void)
{
    const char *folder = getenv("TAKT_BIN");
    char takt[4096];
    double seconds[ROUNDS];
    struct stat facts;
    bool is_made = true;

    snprintf(takt, sizeof takt, "%s/takt", folder ? folder : "bin");
    for (size_t i = 0; i < ROUNDS && is_made; i++)
        is_made = make_page(takt, &seconds[i]);
    if (!is_made || stat(page, &facts) != 0) {
        bench_tell_missing("page_1m", "takt report --html fails");
        return;
    }
    bench_tell((bench_figure){
        .name = "page_1m", .value = bench_median(seconds, ROUNDS), .unit = "s", .max_value = 3});
    bench_tell(
        (bench_figure){.name = "page_1m_size", .value = (double)facts.st_size / 1e6, .unit = "MB"});
}

static void measure_open(void)
{
    double seconds[ROUNDS];
    takt_error error = {.message = ""};
    struct stat facts;

    for (size_t i = 0; i < ROUNDS; i++) {
        takt_trace *trace;
        double begin = bench_seconds();
        if (takt_trace_open(file, &trace, &error) != TAKT_OK) {
            bench_tell_missing("open_250mb", error.message);
            return;
        }
        seconds[i] = bench_seconds() - begin;
        takt_trace_release(trace);
    }
    if (stat(file, &facts) == 0)
        bench_tell((bench_figure){
            .name = "open_250mb_size", .value = (double)facts.st_size / 1e6, .unit = "MB"});
    bench_tell(
        (bench_figure){.name = "open_250mb", .value = bench_median(seconds, ROUNDS), .unit = "s"});
}

void bench_page(void)
{
    const char *build = getenv("TAKT_BUILD");

    snprintf(file, sizeof file, "%s/bench-page.pftrace", build ? build : "build");
    snprintf(page, sizeof page, "%s/bench-page.html", build ? build : "build");
    if (write_trace(MILLION, 2 * MILLION, false, "page_1m"))
        measure_page();
    if (write_trace(LARGE_SPANS, 0, true, "open_250mb"))
        measure_open();
    unlink(file);
    unlink(page);
}
