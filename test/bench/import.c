/* Reading other profilers' files: torch.profiler's JSON, plain and packed. The floor is to copy
 * the unpacked bytes. */
#include "bench.h"

#include "import/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define EVENTS_SMALL UINT64_C(60000)
#define EVENTS_LARGE (10 * EVENTS_SMALL)

/* Budgets. A gigabyte in 5 s, and what an event may take of memory. */
#define MOST_SECONDS_GB  5.0
#define MOST_BYTES_EVENT 150.0

typedef struct text {
    char *bytes;
    size_t size;
} text;

static const char event_format[] =
    "  {\n    \"ph\": \"X\", \"cat\": \"%s\", \"name\": \"%s\", \"pid\": %d, \"tid\": %d,\n"
    "    \"ts\": %llu.%03llu, \"dur\": %llu.250,\n    \"args\": {\n      \"External id\": %llu,%s"
    " \"correlation\": %llu\n    }\n  },\n";

static const char operator_args[] = "\"Record function id\": 0, \"Sequence number\": 12, "
                                    "\"Fwd thread id\": 0, \"Input Dims\": [[128, 64], [64, 32]],";
static const char kernel_args[] =
    "\"queued\": 0, \"device\": 0, \"context\": 1, \"stream\": 7, \"registers per thread\": 16, "
    "\"shared memory\": 0, \"blocks per SM\": 0.5, \"grid\": [128, 1, 1], \"block\": [128, 1, 1],";

/* As torch.profiler writes it: operators that launch a kernel each. */
static text make_text(uint64_t events)
{
    text made = {malloc(events * 500 + 1000), 0};
    char *at = made.bytes;
    if (!at)
        return made;
    at += sprintf(at, "{\n  \"schemaVersion\": 1,\n  \"traceEvents\": [\n");
    for (unsigned long long i = 0; i < events / 3; i++) {
        unsigned long long us = 1000000 + 50 * i, ns = i % 1000, id = i + 1;
        char name[32];
        snprintf(name, sizeof name, "aten::op_%llu", i % 40);
        at += sprintf(at, event_format, "cpu_op", name, 100, 100, us, ns, 40ull, id, operator_args,
                      0ull);
        at += sprintf(at, event_format, "cuda_runtime", "cudaLaunchKernel", 100, 100, us + 10, ns,
                      5ull, id, " \"cbid\": 211,", id);
        at += sprintf(at, event_format, "kernel",
                      "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor>"
                      "(int, at::native::AddFunctor)",
                      0, 7, us + 20, ns, 25ull, id, kernel_args, id);
    }
    at += sprintf(at, "  {\"ph\": \"M\"}\n  ]\n}\n");
    made.size = (size_t)(at - made.bytes);
    return made;
}

static text pack(const text *plain)
{
    text packed = {malloc(plain->size + 1000), 0};
    z_stream stream = {.next_in = (Bytef *)plain->bytes,
                       .avail_in = (uInt)plain->size,
                       .next_out = (Bytef *)packed.bytes,
                       .avail_out = (uInt)plain->size + 1000};
    if (!packed.bytes || deflateInit2(&stream, 1, Z_DEFLATED, 31, 8, 0) != Z_OK)
        return packed;
    if (deflate(&stream, Z_FINISH) == Z_STREAM_END)
        packed.size = stream.total_out;
    deflateEnd(&stream);
    return packed;
}

/* Seconds of the processor; NaN after a failure. */
static double seconds_of(const text *file, uint64_t *peak)
{
    tkt_input input;
    takt_trace *trace = NULL;
    uint64_t before = bench_memory_now();
    bench_memory_reset_peak();
    double begin = bench_cpu_seconds();
    takt_status status =
        tkt_input_borrow(&input, (const uint8_t *)file->bytes, file->size, "bench", NULL);
    if (status == TAKT_OK)
        status = imp_json_read(&input, &trace);
    double seconds = bench_cpu_seconds() - begin;
    tkt_input_close(&input);
    *peak = bench_memory_peak() - before;
    if (status != TAKT_OK)
        return NAN;
    takt_trace_release(trace);
    return seconds;
}

static void tell(const char *name, const text *file, const text *plain, uint64_t events)
{
    double seconds[5];
    uint64_t peak = 0;
    char full[64];
    for (size_t i = 0; i < 5; i++)
        seconds[i] = seconds_of(file, &peak);
    double per_gb = bench_median(seconds, 5) / (double)plain->size * 1e9;
    bench_tell((bench_figure){.name = name,
                              .value = per_gb,
                              .unit = "s/GB",
                              .floor = bench_floor_ns((double)plain->size, 0) / (double)plain->size,
                              .max_value = MOST_SECONDS_GB});
    snprintf(full, sizeof full, "%s_memory", name);
    bench_tell((bench_figure){.name = full,
                              .value = (double)peak / (double)events,
                              .unit = "B/event",
                              .max_value = MOST_BYTES_EVENT});
}

static void measure(const char *name, const char *packed_name, uint64_t events)
{
    text plain = make_text(events);
    text packed = plain.bytes ? pack(&plain) : (text){NULL, 0};
    if (packed.size) {
        tell(name, &plain, &plain, events);
        tell(packed_name, &packed, &plain, events);
    } else {
        bench_tell_missing(name, "no memory for the file");
    }
    free(plain.bytes);
    free(packed.bytes);
}

void bench_import(void)
{
    measure("import_json_60k", "import_gzip_60k", EVENTS_SMALL);
    measure("import_json_600k", "import_gzip_600k", EVENTS_LARGE);
}
