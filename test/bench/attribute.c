/* From CUPTI's records to attributed activities: what a sealed window costs in all. Four threads
 * launch on a stream each of two devices, nine launches a scope: kernels of eight names, copies and
 * sets. The records come as the streams finish them, not as they were launched; they are decoded,
 * buffer after buffer, and then joined with the calls. */
#include "bench.h"

#include "../support/cupti_records.h"
#include "trace/devices.h"

#define RECORDS  UINT64_C(2000000)
#define THREADS  4u
#define LAUNCHES 9u  /* in a scope */
#define BUFFERS  64u /* are decoded in a row, so that they come from memory and not from a cache */
#define BATCH    48u /* records that a stream finishes before the next one's are handed out */
#define PACE_NS  1000u
#define T0       UINT64_C(1700000000000000000)

/* The launch that the n-th record is of: of each batch those of one stream, then of the next. */
static uint64_t launch_of(uint64_t number)
{
    uint64_t batch = number / BATCH, place = number % BATCH, share = BATCH / THREADS;
    bool is_whole = (batch + 1) * BATCH <= RECORDS;
    return is_whole ? batch * BATCH + place % share * THREADS + place / share : number;
}

static void add_record(record_buffer *buffer, uint64_t number)
{
    static const char *const names[] = {"density",   "forces",  "integrate", "neighbours",
                                        "smoothing", "collide", "reduce",    "halo"};
    uint64_t launch = launch_of(number);
    uint32_t random = (uint32_t)launch * 2654435761u >> 8, correlation = (uint32_t)launch + 1;
    uint32_t stream = (uint32_t)(launch % THREADS), device = stream / 2;
    uint64_t begin = T0 + PACE_NS * launch + 300, end = begin + 600 + random % 512;
    uint8_t *record;
    switch (random % 10) {
    case 0:
        record = record_copy(buffer, 1 + (random >> 4) % 2, 4096 << (random >> 5) % 2, begin, end,
                             correlation);
        put32(record, 32, device);
        put32(record, 40, 7 + stream);
        break;
    case 1:
        record = record_set(buffer, 4096, begin, end, correlation);
        put32(record, 32, device);
        put32(record, 40, 7 + stream);
        break;
    default:
        record = record_kernel(buffer, names[(random >> 4) % 8], begin, end, correlation);
        put32(record, 40, device);
        put32(record, 48, 7 + stream);
    }
}

/* Decodes all records; the seconds of it, without those of making them. */
static double decode(tkt_store *store)
{
    static record_buffer buffers[BUFFERS];
    static const tkt_clock_pair pair = {.ticks = 0, .cupti_ns = T0, .bracket_ticks = 100};
    double seconds = 0;
    uint64_t number = 0;
    tkt_cuda_clock_add(&store->clock, &pair);
    while (number < RECORDS) {
        for (uint32_t i = 0; i < BUFFERS; i++) {
            buffers[i].sizes = record_sizes_13();
            buffers[i].used = 0;
            while (number < RECORDS && buffers[i].used + 256 < sizeof buffers[i].bytes)
                add_record(&buffers[i], number++);
        }
        double begin = bench_cpu_seconds();
        for (uint32_t i = 0; i < BUFFERS; i++)
            tkt_decode(store, &buffers[i].sizes, buffers[i].bytes, buffers[i].used);
        seconds += bench_cpu_seconds() - begin;
    }
    return seconds;
}

static void add_call(tkt_spans *spans, takt_trace *trace, uint32_t track, uint64_t launch)
{
    uint64_t nth = launch / THREADS, begin = PACE_NS * launch;
    uint32_t scope = (uint32_t)(nth / LAUNCHES * (LAUNCHES + 1));
    if (nth % LAUNCHES == 0)
        spans->items[spans->count++] =
            (tkt_span){.begin_ns = begin,
                       .end_ns = begin + PACE_NS * THREADS * LAUNCHES - 1,
                       .parent = TKT_NO_SPAN};
    trace->calls.items[trace->calls.count++] = (tkt_call_info){
        .track = track, .span = (uint32_t)spans->count, .correlation = (uint32_t)launch + 1};
    spans->items[spans->count++] = (tkt_span){.begin_ns = begin + 10,
                                              .end_ns = begin + 500,
                                              .site_flags = TAKT_SPAN_CALL,
                                              .parent = scope};
}

/* The scopes and calls, thread after thread, as sealing leaves them. */
static bool add_calls(takt_trace *trace)
{
    if (!TKT_ARRAY_RESERVE(&trace->calls, RECORDS))
        return false;
    for (uint32_t thread = 0; thread < THREADS; thread++) {
        uint32_t track = tkt_trace_add_track(trace, TAKT_TRACK_THREAD, 0, 1000 + thread);
        if (track == TKT_NO_TRACK)
            return false;
        tkt_spans *spans = &trace->tracks.items[track].spans;
        if (!TKT_ARRAY_RESERVE(spans, RECORDS / THREADS * (LAUNCHES + 1) / LAUNCHES + 2))
            return false;
        for (uint64_t launch = thread; launch < RECORDS; launch += THREADS)
            add_call(spans, trace, track, launch);
    }
    return true;
}

/* Each in the order of issue, with the scope that its launch is in. */
static bool is_attributed(const takt_trace *trace)
{
    for (uint64_t i = 0; i < trace->activities.count; i++) {
        const tkt_activity *activity = &trace->activities.items[i];
        uint64_t nth = i / THREADS;
        if (activity->correlation != i + 1 || activity->track != i % THREADS ||
            activity->scope != nth / LAUNCHES * (LAUNCHES + 1) ||
            activity->begin_ns != PACE_NS * i + 300)
            return false;
    }
    return trace->activities.count == RECORDS;
}

static void tell(const char *name, double seconds)
{
    bench_tell((bench_figure){
        .name = name, .value = RECORDS / seconds / 1e6, .unit = "M/s", .min_value = 10});
}

void bench_attribute(void)
{
    const tkt_join what = {.last_correlation = UINT32_MAX,
                           .filter = TAKT_TIMING_ALL,
                           .end_ticks = PACE_NS * RECORDS,
                           .fit = {.ns_per_tick = UINT64_C(1) << 32}};
    tkt_joined joined = {0};
    tkt_store store;
    takt_trace *trace = NULL;
    double decoding = 0, joining = 0;
    if (tkt_store_init(&store) == TAKT_OK && tkt_trace_create(&trace) == TAKT_OK &&
        add_calls(trace)) {
        store.max_bytes = UINT64_C(1) << 32;
        decoding = decode(&store);
        joining = -bench_cpu_seconds();
        if (tkt_trace_join(trace, &store, &what, &joined) == TAKT_OK)
            joining += bench_cpu_seconds();
    }
    if (joining > 0 && joined.unattributed == 0 && is_attributed(trace)) {
        tell("cuda_join", joining);
        tell("cuda_decode_join", decoding + joining);
    } else {
        bench_tell_missing("cuda_decode_join", "not all activities were joined with their calls");
    }
    takt_trace_release(trace);
    tkt_store_fini(&store);
}
