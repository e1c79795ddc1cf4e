/* Reading other profilers' files. The floor of JSON, plain and packed, is to copy the unpacked
 * bytes; that of SQLite is in import_nsys.c. Files with four times the events, names or threads
 * show that an event costs the same in them. */
#include "import.h"

#include "import/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define EVENTS_SMALL UINT64_C(60000)
#define EVENTS_LARGE (10 * EVENTS_SMALL)

/* Budgets. Seconds for a gigabyte, what an event may take of memory, and how much more time an
 * event may take in four times as much of everything. */
#define MOST_SECONDS_JSON 5.0
#define MOST_SECONDS_NSYS 10.0
#define MOST_BYTES_EVENT  150.0
#define MOST_GROWTH       2.0

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
static text make_text(const import_plan *plan)
{
    text made = {malloc(plan->events * 500 + 1000), 0};
    char *at = made.bytes;
    if (!at)
        return made;
    at += sprintf(at, "{\n  \"schemaVersion\": 1,\n  \"traceEvents\": [\n");
    for (unsigned long long i = 0; i < plan->events / 3; i++) {
        unsigned long long us = 1000000 + 50 * i, ns = i % 1000, id = i + 1;
        int thread = 100 + (int)(i % plan->threads);
        char name[32];
        snprintf(name, sizeof name, "aten::op_%llu", (unsigned long long)(i % plan->names));
        at += sprintf(at, event_format, "cpu_op", name, 100, thread, us, ns, 40ull, id,
                      operator_args, 0ull);
        at += sprintf(at, event_format, "cuda_runtime", "cudaLaunchKernel", 100, thread, us + 10,
                      ns, 5ull, id, " \"cbid\": 211,", id);
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

static takt_status read_text(const void *file, takt_trace **out)
{
    const text *from = file;
    tkt_input input;
    bool is_takt = false;
    takt_status status =
        tkt_input_borrow(&input, (const uint8_t *)from->bytes, from->size, "bench", NULL);
    if (status != TAKT_OK)
        return status;
    status = imp_json_read(&input, &is_takt, out);
    tkt_input_close(&input);
    return status;
}

/* ---- Measuring ------------------------------------------------------------------------------- */

typedef takt_status (*reader)(const void *file, takt_trace **out);

/* Seconds of the processor; NaN after a failure. */
static double seconds_of(reader read, const void *file, uint64_t *peak)
{
    takt_trace *trace = NULL;
    uint64_t before = bench_memory_now();
    bench_memory_reset_peak();
    double begin = bench_cpu_seconds();
    takt_status status = read(file, &trace);
    double seconds = bench_cpu_seconds() - begin;
    *peak = bench_memory_peak() - before;
    if (status != TAKT_OK)
        return NAN;
    takt_trace_release(trace);
    return seconds;
}

static double median_of(reader read, const void *file, uint64_t *peak)
{
    double seconds[5];
    for (size_t i = 0; i < 5; i++)
        seconds[i] = seconds_of(read, file, peak);
    return bench_median(seconds, 5);
}

/* `floor` is in seconds. */
static void tell(const char *name, double seconds, double floor, double budget, double bytes)
{
    bench_tell((bench_figure){.name = name,
                              .value = seconds / bytes * 1e9,
                              .unit = "s/GB",
                              .floor = floor / bytes * 1e9,
                              .max_value = budget});
}

static void tell_memory(const char *name, uint64_t peak, uint64_t events)
{
    char full[64];
    snprintf(full, sizeof full, "%s_memory", name);
    bench_tell((bench_figure){.name = full,
                              .value = (double)peak / (double)events,
                              .unit = "B/event",
                              .max_value = MOST_BYTES_EVENT});
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void measure_text(const char *name, const text *file, const text *plain, uint64_t events)
{
    uint64_t peak = 0;
    double seconds = median_of(read_text, file, &peak), bytes = (double)plain->size;
    tell(name, seconds, bench_floor_ns(bytes, 0) / 1e9, MOST_SECONDS_JSON, bytes);
    tell_memory(name, peak, events);
}

static void measure_json(const char *name, const char *packed_name, uint64_t events)
{
    text plain = make_text(&(import_plan){events, 40, 1});
    text packed = plain.bytes ? pack(&plain) : (text){NULL, 0};
    if (packed.size) {
        measure_text(name, &plain, &plain, events);
        measure_text(packed_name, &packed, &plain, events);
    } else {
        bench_tell_missing(name, "no memory for the file");
    }
    free(plain.bytes);
    free(packed.bytes);
}

static double event_of_json(const import_plan *plan)
{
    uint64_t peak;
    text file = make_text(plan);
    double seconds = file.bytes ? median_of(read_text, &file, &peak) : NAN;
    free(file.bytes);
    return seconds / (double)plan->events;
}

/* ---- SQLite ---------------------------------------------------------------------------------- */

static void measure_nsys(const char *name, uint64_t events)
{
    import_nsys file;
    uint64_t peak = 0;
    if (!import_nsys_make(&(import_plan){events, 40, 1}, &file)) {
        bench_tell_missing(name, "no SQLite, or no memory for the file");
        return;
    }
    double seconds = median_of(import_nsys_read, &file, &peak), floors[5];
    for (size_t i = 0; i < 5; i++)
        floors[i] = import_nsys_floor(&file);
    tell(name, seconds, bench_median(floors, 5), MOST_SECONDS_NSYS, file.bytes);
    tell_memory(name, peak, events);
    import_nsys_free(&file);
}

static double event_of_nsys(const import_plan *plan)
{
    uint64_t peak;
    import_nsys file;
    if (!import_nsys_make(plan, &file))
        return NAN;
    double seconds = median_of(import_nsys_read, &file, &peak);
    import_nsys_free(&file);
    return seconds / (double)plan->events;
}

/* ---- All ------------------------------------------------------------------------------------- */

static void tell_growth(const char *format, double (*event_of)(const import_plan *))
{
    static const struct growth {
        const char *what;
        import_plan small, large;
    } growths[] = {{"events", {60000, 40, 1}, {240000, 40, 1}},
                   {"names", {60000, 20000, 1}, {240000, 80000, 1}},
                   {"threads", {60000, 40, 2000}, {240000, 40, 8000}}};
    for (size_t i = 0; i < sizeof growths / sizeof *growths; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s_%s", format, growths[i].what);
        double ratio = event_of(&growths[i].large) / event_of(&growths[i].small);
        if (isnan(ratio))
            bench_tell_missing(name, "not read");
        else
            bench_tell((bench_figure){
                .name = name, .value = ratio, .unit = "x at 4n", .max_value = MOST_GROWTH});
    }
}

void bench_import(void)
{
    measure_json("import_json_60k", "import_gzip_60k", EVENTS_SMALL);
    measure_json("import_json_600k", "import_gzip_600k", EVENTS_LARGE);
    measure_nsys("import_nsys_60k", EVENTS_SMALL);
    measure_nsys("import_nsys_600k", EVENTS_LARGE);
    tell_growth("import_json", event_of_json);
    tell_growth("import_nsys", event_of_nsys);
}
