/* From CUPTI's records to attributed activities: what a sealed window costs in all. Four threads
 * launch on a stream each of two devices, nine launches a scope: kernels of eight names, copies and
 * sets. The records come as the streams finish them, not as they were launched; they are decoded,
 * buffer after buffer, and then joined with the calls.
 *
 * Once in cycles, as profilers record them, and once in one window ten times as long, whose memory
 * the kernel has to find first. */
#include "bench.h"

#include "../support/cupti_records.h"
#include "trace/devices.h"

#define CYCLE    UINT64_C(200016) /* records: whole batches */
#define THREADS  4u
#define LAUNCHES 9u  /* in a scope */
#define BUFFERS  64u /* are decoded in a row, so that they come from memory and not from a cache */
#define BATCH    48u /* records that a stream finishes before the next one's are handed out */
#define PACE_NS  1000u
#define T0       UINT64_C(1700000000000000000)

_Static_assert(CYCLE % BATCH == 0, "only whole batches are known");

typedef struct cost {
    double decoding; /* seconds */
    double joining;
} cost;

/* The launch that the n-th record is of: of each batch those of one stream, then of the next. */
static uint64_t launch_of(uint64_t number)
{
    uint64_t batch = number / BATCH, place = number % BATCH, share = BATCH / THREADS;
    return batch * BATCH + place % share * THREADS + place / share;
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
static double decode(tkt_store *store, uint64_t count)
{
    static record_buffer buffers[BUFFERS];
    double seconds = 0;
    uint64_t number = 0;
    while (number < count) {
        for (uint32_t i = 0; i < BUFFERS; i++) {
            buffers[i].sizes = record_sizes_13();
            buffers[i].used = 0;
            while (number < count && buffers[i].used + 256 < sizeof buffers[i].bytes)
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
static bool add_calls(takt_trace *trace, uint64_t count)
{
    if (!TKT_ARRAY_RESERVE(&trace->calls, count))
        return false;
    for (uint32_t thread = 0; thread < THREADS; thread++) {
        uint32_t track = tkt_trace_add_track(trace, TAKT_TRACK_THREAD, 0, 1000 + thread);
        if (track == TKT_NO_TRACK)
            return false;
        tkt_spans *spans = &trace->tracks.items[track].spans;
        if (!TKT_ARRAY_RESERVE(spans, count / THREADS * (LAUNCHES + 1) / LAUNCHES + 2))
            return false;
        for (uint64_t launch = thread; launch < count; launch += THREADS)
            add_call(spans, trace, track, launch);
    }
    return true;
}

/* Each in the order of issue, with the scope that its launch is in. */
static bool is_attributed(const takt_trace *trace, uint64_t count)
{
    for (uint64_t i = 0; i < trace->activities.count; i++) {
        const tkt_activity *activity = &trace->activities.items[i];
        uint64_t nth = i / THREADS;
        if (activity->correlation != i + 1 || activity->track != i % THREADS ||
            activity->scope != nth / LAUNCHES * (LAUNCHES + 1) ||
            activity->begin_ns != PACE_NS * i + 300)
            return false;
    }
    return trace->activities.count == count;
}

/* Adds to `spent`; false when something went wrong. */
static bool do_window(tkt_store *store, uint64_t count, cost *spent)
{
    const tkt_join what = {.position = tkt_store_position(),
                           .last_correlation = UINT32_MAX,
                           .filter = TAKT_TIMING_ALL,
                           .end_ticks = PACE_NS * count,
                           .fit = {.ns_per_tick = UINT64_C(1) << 32}};
    tkt_joined joined;
    takt_trace *trace;
    if (tkt_trace_create(&trace) != TAKT_OK)
        return false;
    bool is_ok = add_calls(trace, count);
    spent->decoding += decode(store, count);
    double begin = bench_cpu_seconds();
    is_ok = is_ok && tkt_trace_join(trace, store, &what, &joined) == TAKT_OK;
    spent->joining += bench_cpu_seconds() - begin;
    is_ok = is_ok && joined.unattributed == 0 && is_attributed(trace, count);
    takt_trace_release(trace);
    tkt_store_release(tkt_store_position(), 0);
    return is_ok;
}

static bool do_windows(uint64_t count, int windows, cost *spent)
{
    static const tkt_clock_pair pair = {.ticks = 0, .cupti_ns = T0, .bracket_ticks = 100};
    tkt_store *store = tkt_store_get();
    bool is_ok = tkt_cuda_clock_add(&store->clock, &pair);
    store->max_bytes = UINT64_C(1) << 30;
    for (int i = 0; i < windows && is_ok; i++)
        is_ok = do_window(store, count, spent);
    tkt_store_fini(store);
    return tkt_store_init(store) == TAKT_OK && is_ok;
}

/* What an activity is made of: its record, what the store keeps of it, the call and its span, and
 * the activity itself. */
#define JOIN_BYTES                                                                                 \
    (sizeof(tkt_stored_activity) + sizeof(tkt_call_info) + sizeof(tkt_span) + sizeof(tkt_activity))
#define RECORD_BYTES 160u /* of most records; about */

static void tell(const char *name, uint64_t count, double seconds, double bytes, double max_ratio)
{
    bench_tell((bench_figure){.name = name,
                              .value = seconds * 1e9 / (double)count,
                              .unit = "ns/act",
                              .floor = bench_floor_ns(bytes, 0),
                              .max_ratio = max_ratio});
}

void bench_attribute(void)
{
    const double joined = JOIN_BYTES, decoded = RECORD_BYTES + joined;
    cost cycles = {0}, whole = {0};
    if (do_windows(CYCLE, 20, &cycles) && do_windows(10 * CYCLE, 1, &whole)) {
        tell("cuda_join", 20 * CYCLE, cycles.joining, joined, 6);
        tell("cuda_decode_join", 20 * CYCLE, cycles.decoding + cycles.joining, decoded, 3);
        tell("cuda_decode_join_fresh", 10 * CYCLE, whole.decoding + whole.joining, decoded, 0);
    } else {
        bench_tell_missing("cuda_decode_join", "not all activities were joined with their calls");
    }
}
