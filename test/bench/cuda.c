/* Decoding CUPTI's records: buffers such as CUPTI fills, made by hand, into the store. The records
 * are of three kinds of programs: one that launches a few kernels over and over, one that mixes
 * many kernels of long names with copies and sets, and one that launches a graph of a thousand
 * nodes. Then what was decoded is joined with the calls and scopes that launched it. */
#include "bench.h"

#include "../support/cupti_records.h"
#include "trace/devices.h"

#include <stdio.h>

#define RECORDS     300u /* in a buffer */
#define ROUNDS      20000u
#define NAMES       200u
#define GRAPH_NODES 1000u
#define LAUNCHES    9u /* in a scope */
#define JOINED      UINT64_C(2000000)
#define T0          UINT64_C(1700000000000000000)

typedef void (*filler)(record_buffer *buffer, uint32_t number);

static char names[NAMES][256];

static void fill_loop(record_buffer *buffer, uint32_t number)
{
    static const char *const loop[] = {"density", "forces", "integrate"};
    record_kernel(buffer, loop[number % 3], T0 + number, T0 + number + 500, number);
}

static void fill_mixed(record_buffer *buffer, uint32_t number)
{
    uint32_t random = number * 2654435761u >> 8;
    uint64_t begin = T0 + number;
    if (number % 10 == 0)
        record_copy(buffer, 1 + random % 2, 4096 << random % 4, begin, begin + 700, number);
    else if (number % 10 == 1)
        record_set(buffer, 4096 << random % 4, begin, begin + 300, number);
    else
        put32(record_kernel(buffer, names[random % NAMES], begin, begin + 500, number), 52,
              1 + (random >> 8) % 4);
}

static void fill_graph(record_buffer *buffer, uint32_t number)
{
    uint8_t *record = record_kernel(buffer, names[number % 8], T0 + number, T0 + number + 500,
                                    number / GRAPH_NODES);
    put64(record, 144, 1 + number % GRAPH_NODES);
    put32(record, 156, 5);
}

/* The buffers of a program, decoded one after another, ROUNDS in all. Returns records a second. */
static double decode(filler fill)
{
    static record_buffer buffers[10];
    tkt_store *store = tkt_store_get();
    store->max_bytes = UINT64_C(1) << 30;
    for (uint32_t i = 0; i < 10; i++) {
        buffers[i].sizes = record_sizes_13();
        buffers[i].used = 0;
        for (uint32_t j = 0; j < RECORDS; j++)
            fill(&buffers[i], i * RECORDS + j);
    }
    double begin = bench_cpu_seconds();
    for (uint32_t i = 0; i < ROUNDS; i++) {
        const record_buffer *buffer = &buffers[i % 10];
        tkt_decode(store, &buffer->sizes, buffer->bytes, buffer->used);
        if (i % 100 == 99) /* not all: shapes stay */
            tkt_store_release(tkt_store_position() - 1, 0);
    }
    double seconds = bench_cpu_seconds() - begin;
    uint64_t decoded = tkt_store_position();
    tkt_store_fini(store);
    bool is_whole = decoded == (uint64_t)RECORDS * ROUNDS && tkt_store_init(store) == TAKT_OK;
    return is_whole ? (double)decoded / seconds : 0;
}

static void tell(const char *name, filler fill)
{
    double rate = decode(fill);
    if (rate > 0)
        bench_tell(
            (bench_figure){.name = name, .value = rate / 1e6, .unit = "M/s", .min_value = 10});
    else
        bench_tell_missing(name, "not all records were decoded");
}

/* A trace of scopes, each with LAUNCHES calls that launch, one activity each, 1000 ns apart. */
static bool add_calls(takt_trace *trace, uint64_t count)
{
    uint32_t number = tkt_trace_add_track(trace, TAKT_TRACK_THREAD, 0, 1000);
    if (number == TKT_NO_TRACK)
        return false;
    tkt_spans *spans = &trace->tracks.items[number].spans;
    if (!TKT_ARRAY_RESERVE(spans, count + count / LAUNCHES + 1) ||
        !TKT_ARRAY_RESERVE(&trace->calls, count))
        return false;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t begin = 1000 * i;
        uint32_t scope = (uint32_t)(i / LAUNCHES * (LAUNCHES + 1));
        if (i % LAUNCHES == 0)
            spans->items[spans->count++] = (tkt_span){
                .begin_ns = begin, .end_ns = begin + 1000 * LAUNCHES - 1, .parent = TKT_NO_SPAN};
        trace->calls.items[trace->calls.count++] =
            (tkt_call_info){.span = (uint32_t)spans->count, .correlation = (uint32_t)i + 1};
        spans->items[spans->count++] = (tkt_span){.begin_ns = begin + 10,
                                                  .end_ns = begin + 500,
                                                  .site_flags = TAKT_SPAN_CALL,
                                                  .parent = scope};
    }
    return true;
}

static bool add_work(tkt_store *store, uint64_t count)
{
    static record_buffer buffer;
    static const tkt_clock_pair pair = {.ticks = 0, .cupti_ns = T0, .bracket_ticks = 100};
    static const char *const loop[] = {"density", "forces", "integrate"};
    buffer.sizes = record_sizes_13();
    store->max_bytes = UINT64_C(1) << 32;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t begin = T0 + 1000 * i + 300;
        record_kernel(&buffer, loop[i % 3], begin, begin + 900, (uint32_t)i + 1);
        if (i % RECORDS == RECORDS - 1 || i + 1 == count) {
            tkt_decode(store, &buffer.sizes, buffer.bytes, buffer.used);
            buffer.used = 0;
        }
    }
    return tkt_cuda_clock_add(&store->clock, &pair);
}

static void join(void)
{
    const tkt_join what = {.last_correlation = UINT32_MAX,
                           .filter = TAKT_TIMING_ALL,
                           .end_ticks = 1000 * JOINED,
                           .fit = {.ns_per_tick = UINT64_C(1) << 32}};
    tkt_joined joined = {0};
    tkt_store store;
    takt_trace *trace = NULL;
    double seconds = 0;
    if (tkt_store_init(&store) == TAKT_OK && add_work(&store, JOINED) &&
        tkt_trace_create(&trace) == TAKT_OK && add_calls(trace, JOINED)) {
        double begin = bench_cpu_seconds();
        if (tkt_trace_join(trace, &store, &what, &joined) == TAKT_OK)
            seconds = bench_cpu_seconds() - begin;
    }
    if (seconds > 0 && joined.activities == JOINED && joined.unattributed == 0)
        bench_tell((bench_figure){.name = "cuda_join",
                                  .value = (double)JOINED / seconds / 1e6,
                                  .unit = "M/s",
                                  .min_value = 10});
    else
        bench_tell_missing("cuda_join", "not all activities were joined with their calls");
    takt_trace_release(trace);
    tkt_store_fini(&store);
}

void bench_cuda(void)
{
    for (uint32_t i = 0; i < NAMES; i++)
        snprintf(
            names[i], sizeof names[i],
            "_ZN9simulator7kernels%ukernel_%04uINS_9particlesINS_6deviceEEENS_12smoothing_%04uE"
            "EvT_T0_PKfS6_Pfi",
            11u, i, i);
    tell("cuda_decode", fill_loop);
    tell("cuda_decode_mixed", fill_mixed);
    tell("cuda_decode_graph", fill_graph);
    join();
}
