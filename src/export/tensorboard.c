/* TensorBoard's two layouts. Both hold the same Chrome JSON, packed.
 *
 *     DIRECTORY/HOST_PID.TIME.pt.trace.json.gz               torch's plugin (torch-tb-profiler)
 *     DIRECTORY/plugins/profile/RUN/HOST.trace.json.gz       TensorFlow's and JAX' (profile, xprof)
 *
 * torch's plugin takes what matches ^(.*?)(\.\d+)?\.pt\.trace\.json(?:\.gz)?$ and calls the first
 * group the worker, the second the span; a file that goes on gets the next number, so that it is
 * one more span of the same worker. TIME is CLOCK_REALTIME in nanoseconds where the recording
 * began, RUN the same as date and time, in UTC. Where such a file is there already, HOST_PID or
 * HOST gets "-2" behind it. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "export/output.h"

#include <stdio.h>
#include <time.h>

/* Host names are letters, digits, '-' and '.', but a container's may be anything. */
static void plain_host_name(char *out, size_t size)
{
    snprintf(out, size, "%s", tkt_host_name());
    for (char *at = out; *at; at++) {
        bool is_plain = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
                        (*at >= '0' && *at <= '9') || *at == '-' || (*at == '.' && at > out);
        if (!is_plain)
            *at = '_';
    }
    if (!*out)
        snprintf(out, size, "localhost");
}

static uint64_t real_begin_ns(const takt_trace *trace)
{
    int64_t real = 0;
    bool is_absurd =
        __builtin_add_overflow(trace->facts.begin_ns, trace->facts.realtime_offset_ns, &real);
    return is_absurd || real <= 0 ? 1 : (uint64_t)real;
}

/* 2026_03_01_12_30_59_123, which sorts by time. */
static void format_run(char *out, size_t size, uint64_t real_ns)
{
    time_t seconds = (time_t)(real_ns / 1000000000);
    struct tm parts = {0};
    gmtime_r(&seconds, &parts);
    size_t used = strftime(out, size, "%Y_%m_%d_%H_%M_%S", &parts);
    snprintf(out + used, size - used, "_%03u", (unsigned)(real_ns / 1000000 % 1000));
}

static char *name_file(tkt_output_name *name, const char *folder, const char *host,
                       const char *suffix)
{
    name->path = tkt_output_join(folder, "%s%s", host, suffix);
    name->stem = name->base = name->path ? strlen(name->path) - strlen(suffix) : 0;
    return name->path;
}

takt_status tkt_tensorboard_names(const takt_trace *trace, const char *directory,
                                  tkt_output *output, takt_error *error)
{
    char host[256];
    char worker[256 + 16];
    char run[64];
    uint64_t begin_ns = real_begin_ns(trace);
    plain_host_name(host, sizeof host);
    snprintf(worker, sizeof worker, "%s_%u", host, trace->facts.process_id);
    format_run(run, sizeof run, begin_ns);

    char *folder = tkt_output_join(directory, "plugins/profile/%s", run);
    takt_status status = folder ? tkt_folder_create(folder, error) : TAKT_NO_MEMORY;
    if (status == TAKT_OK &&
        (!name_file(&output->names[0], directory, worker, ".pt.trace.json.gz") ||
         !name_file(&output->names[1], folder, host, ".trace.json.gz")))
        status = TAKT_NO_MEMORY;
    output->names[0].first_number = begin_ns;
    output->count = 2;
    tkt_free(folder);
    return status;
}
