/* How fast traces are written and read, and how large they are. Memory means a buffer that is there
 * already, and rates of it are by the processor's time; disk means a file of the build's folder,
 * which the kernel's page cache takes, and all the time that passes. */
#include "bench.h"

#include "base/writer.h"
#include "trace/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SPANS        UINT64_C(2000000)
#define ROUNDS       5
#define BLOCK_BYTES  ((size_t)256 << 10)
#define BUFFER_BYTES ((size_t)512 << 20)

static const takt_trace *trace;
static double span_count;
static char folder[4096];

/* To memory. */

typedef struct buffer {
    char *data;
    size_t used;
} buffer;

static takt_status append(void *user, const void *data, size_t size)
{
    buffer *into = user;
    if (BUFFER_BYTES - into->used < size)
        return TAKT_IO_ERROR;
    memcpy(into->data + into->used, data, size);
    into->used += size;
    return TAKT_OK;
}

/* Tells what a span takes, in ns and in bytes. It is read from the trace, and its bytes are
 * written. */
static void measure_memory(const char *format, double max_ratio, double max_bytes)
{
    char name[64];
    double ns[ROUNDS];
    buffer into = {.data = malloc(BUFFER_BYTES)};
    const takt_sink sink = {append, &into};
    snprintf(name, sizeof name, "export_%s_memory", format);
    takt_status status = into.data ? TAKT_OK : TAKT_NO_MEMORY;
    for (size_t i = 0; i <= ROUNDS && status == TAKT_OK;
         i++) { /* the first one touches the buffer */
        into.used = 0;
        double begin = bench_cpu_seconds();
        status = takt_export(trace, format, &sink);
        ns[i > 0 ? i - 1 : 0] = (bench_cpu_seconds() - begin) * 1e9 / span_count;
    }
    double bytes = (double)into.used / span_count;
    free(into.data);
    if (status != TAKT_OK) {
        bench_tell_missing(name, takt_status_text(status));
        return;
    }
    bench_tell((bench_figure){.name = name,
                              .value = bench_median(ns, ROUNDS),
                              .unit = "ns/span",
                              .floor = bench_floor_ns((double)sizeof(tkt_span) + bytes, 0),
                              .max_ratio = max_ratio});
    snprintf(name, sizeof name, "%s_bytes_per_span", format);
    bench_tell(
        (bench_figure){.name = name, .value = bytes, .unit = "bytes", .max_value = max_bytes});
}

/* To disk. */

static void path_of(const char *format, bool gzip, char *path, size_t size)
{
    snprintf(path, size, "%s/bench.%s%s", folder, format, gzip ? ".gz" : "");
}

static bool write_file(const char *format, const char *path, bool gzip, double *ns)
{
    const takt_export_options options = {
        .struct_size = sizeof options, .gzip = gzip, .plain = true};
    takt_error error = {.message = ""};
    unlink(path);
    sync(); /* what is still on its way to the disk would slow this one down */
    double begin = bench_seconds();
    takt_status status = takt_export_file(trace, format, path, &options, &error);
    *ns = (bench_seconds() - begin) * 1e9 / span_count;
    if (status != TAKT_OK)
        fprintf(stderr, "takt-bench: %s: %s\n", takt_status_text(status), error.message);
    return status == TAKT_OK;
}

/* The same bytes once more, from memory, ns a span; 0 where that fails. */
static double copy_file(const char *path)
{
    char copy[4300];
    double ns = 0;
    FILE *file = fopen(path, "rb");
    char *data = malloc(BUFFER_BYTES);
    size_t size = file && data ? fread(data, 1, BUFFER_BYTES, file) : 0;
    if (file)
        fclose(file);
    snprintf(copy, sizeof copy, "%s.copy", path);
    sync();
    double begin = bench_seconds();
    file = size ? fopen(copy, "wb") : NULL;
    if (file && fwrite(data, 1, size, file) == size && fclose(file) == 0)
        ns = (bench_seconds() - begin) * 1e9 / span_count;
    unlink(copy);
    free(data);
    return ns;
}

static void measure_disk(const char *format, double max_ratio)
{
    char name[64];
    char path[4200];
    double ns[ROUNDS], floor_ns[ROUNDS];
    bool is_written = true;
    snprintf(name, sizeof name, "export_%s_disk", format);
    path_of(format, false, path, sizeof path);
    for (size_t i = 0; i < ROUNDS && is_written; i++)
        is_written = write_file(format, path, false, &ns[i]) && (floor_ns[i] = copy_file(path)) > 0;
    if (is_written)
        bench_tell((bench_figure){.name = name,
                                  .value = bench_median(ns, ROUNDS),
                                  .unit = "ns/span",
                                  .floor = bench_median(floor_ns, ROUNDS),
                                  .max_ratio = max_ratio});
    else
        bench_tell_missing(name, "the file could not be written");
}

static void measure_gzip(const char *format, double max_bytes)
{
    char name[64];
    char path[4200];
    double ns;
    struct stat facts;
    path_of(format, true, path, sizeof path);
    snprintf(name, sizeof name, "%s_gz_bytes_per_span", format);
    if (!write_file(format, path, true, &ns) || stat(path, &facts) != 0) {
        bench_tell_missing(name, "the file could not be written");
        return;
    }
    unlink(path);
    bench_tell((bench_figure){.name = name,
                              .value = (double)facts.st_size / span_count,
                              .unit = "bytes",
                              .max_value = max_bytes});
    snprintf(name, sizeof name, "export_%s_gz_disk", format);
    bench_tell((bench_figure){.name = name, .value = ns, .unit = "ns/span"});
}

/* What is written by default, of programs that step. */

/* zlib alone, over the bytes of the plain file, in blocks as the writer has them: ns a span. */
static double zlib_ns(buffer *plain)
{
    const takt_sink sink = {append, plain};
    tkt_packer *packer;
    double ns[ROUNDS];
    plain->used = 0;
    if (takt_export(trace, "perfetto", &sink) != TAKT_OK || tkt_packer_create(&packer) != TAKT_OK)
        return 0;
    for (size_t i = 0; i < ROUNDS; i++) {
        double begin = bench_cpu_seconds();
        for (size_t at = 0, size; at < plain->used; at += size) {
            size_t packed;
            size = plain->used - at < BLOCK_BYTES ? plain->used - at : BLOCK_BYTES;
            tkt_packer_run(packer, plain->data + at, size, &packed);
        }
        ns[i] = (bench_cpu_seconds() - begin) * 1e9 / span_count;
    }
    tkt_packer_destroy(packer);
    return bench_median(ns, ROUNDS);
}

/* Writes to a file in the processor's time, which leaves out waiting for the disk. */
static bool write_default(const char *path, bool plain, double *median_ns)
{
    const takt_export_options options = {.struct_size = sizeof options, .plain = plain};
    double ns[ROUNDS];
    for (size_t i = 0; i < ROUNDS; i++) {
        double begin = bench_cpu_seconds();
        if (takt_export_file(trace, "perfetto", path, &options, NULL) != TAKT_OK)
            return false;
        ns[i] = (bench_cpu_seconds() - begin) * 1e9 / span_count;
    }
    *median_ns = bench_median(ns, ROUNDS);
    return true;
}

static void tell_stepping(const char *what, const char *path, double ns, double floor_ns,
                          double max_bytes)
{
    char name[64];
    struct stat facts = {.st_size = 0};
    stat(path, &facts);
    snprintf(name, sizeof name, "export_%s", what);
    bench_tell((bench_figure){.name = name,
                              .value = ns,
                              .unit = "ns/span",
                              .floor = floor_ns,
                              .max_ratio = floor_ns > 0 ? 1.7 : 0});
    snprintf(name, sizeof name, "%s_bytes_per_span", what);
    bench_tell((bench_figure){.name = name,
                              .value = (double)facts.st_size / span_count,
                              .unit = "bytes",
                              .max_value = max_bytes});
}

static void measure_stepping(const char *name, uint64_t tick_ns, double max_bytes)
{
    char path[4200], what[64];
    double ns, plain_ns;
    buffer plain = {.data = malloc(BUFFER_BYTES)};
    trace = bench_stepping(SPANS, tick_ns);
    path_of("stepping", false, path, sizeof path);
    span_count = trace ? (double)takt_trace_facts(trace)->span_count : 0;
    if (trace && plain.data && write_default(path, false, &ns)) {
        tell_stepping(name, path, ns, zlib_ns(&plain), max_bytes);
        snprintf(what, sizeof what, "%s_plain", name);
        if (write_default(path, true, &plain_ns))
            tell_stepping(what, path, plain_ns, 0, 0);
    } else {
        bench_tell_missing(name, "the file could not be written");
    }
    unlink(path);
    free(plain.data);
    takt_trace_release(trace);
}

/* Reading. */

/* The file that measure_disk() has left. */
static void measure_read(void)
{
    char path[4200];
    double ns[ROUNDS];
    struct stat facts = {.st_size = 0};
    takt_error error = {.message = ""};
    path_of("perfetto", false, path, sizeof path);
    for (size_t i = 0; i < ROUNDS; i++) {
        takt_trace *copy;
        double begin = bench_cpu_seconds();
        if (takt_trace_open(path, &copy, &error) != TAKT_OK) {
            bench_tell_missing("read_perfetto", error.message);
            return;
        }
        ns[i] = (bench_cpu_seconds() - begin) * 1e9 / span_count;
        takt_trace_release(copy);
    }
    stat(path, &facts);
    /* The file is copied out of the kernel, the trace is made in fresh memory. It has all that this
     * trace has: spans, and the activities among them. */
    double made = (double)sizeof(tkt_span) +
                  (double)(trace->activities.count * sizeof(tkt_activity)) / span_count;
    bench_tell((bench_figure){.name = "read_perfetto",
                              .value = bench_median(ns, ROUNDS),
                              .unit = "ns/span",
                              .floor = bench_floor_ns((double)facts.st_size / span_count, 0) +
                                       bench_fresh_floor_ns(made),
                              .max_ratio = 3});
}

static void remove_file(const char *format)
{
    char path[4200];
    path_of(format, false, path, sizeof path);
    unlink(path);
}

void bench_export(void)
{
    const char *build = getenv("TAKT_BUILD");
    snprintf(folder, sizeof folder, "%s", build ? build : "build");
    trace = bench_trace(SPANS, 0);
    if (!trace) {
        bench_tell_missing("export_perfetto_memory", "no memory for the trace");
        return;
    }
    span_count = (double)takt_trace_facts(trace)->span_count;
    measure_memory("perfetto", 4.5, 28);
    measure_disk("perfetto", 13);
    measure_read();
    remove_file("perfetto");
    measure_gzip("perfetto", 8);
    measure_memory("chrome", 2.5, 0);
    measure_disk("chrome", 7);
    remove_file("chrome");
    measure_gzip("chrome", 0);
    measure_memory("xplane", 0, 0);
    measure_disk("xplane", 0);
    remove_file("xplane");
    takt_trace_release(trace);
    measure_stepping("stepping", 10, 3);
    measure_stepping("stepping_fine", 1, 4);
}
