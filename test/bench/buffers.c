/* The buffers that scopes are recorded into: how much of them a scope takes, and what it costs to
 * record where nothing has been recorded before. */
#include "bench.h"

#include "record/control.h"
#include "record/log.h"

static __attribute__((noinline)) void run_scope(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        TAKT_SCOPE("buffered");
        BENCH_BARRIER();
    }
}

/* Into memory that nothing has touched yet, as after a start without a warmup. */
static void measure_fresh(void)
{
    const uint64_t bytes = UINT64_C(64) << 20;
    tkt_pool_limit(4 * bytes);
    bench_record_begin(TKT_KEEP);
    while (tkt_pool_used_bytes() + TKT_CHUNK_BYTES < tkt_pool_total_bytes())
        run_scope(BENCH_BATCH);
    double floor = bench_round(&bench_floor);
    const uint64_t count = bytes / sizeof(takt_record);
    double begin = bench_cpu_seconds();
    run_scope(count);
    double ns = (bench_cpu_seconds() - begin) * 1e9 / (double)count;
    bench_record_end();
    bench_tell(
        (bench_figure){.name = "scope_trace_fresh", .value = ns, .unit = "ns", .floor = floor});
}

static uint64_t slots_in_log(void)
{
    tkt_log_view view;
    uint64_t slots = 0;
    if (tkt_log_view_open(takt_thread_hot_v1.log, 0, &view) != TAKT_OK)
        return 0;
    for (size_t i = 0; i < view.parts.count; i++)
        slots += view.parts.items[i].count;
    tkt_log_view_close(takt_thread_hot_v1.log, &view);
    return slots;
}

/* In the buffer; and what the pool gives for it, which counts the head of each chunk. */
static void measure_bytes(void)
{
    const uint64_t count = 1000 * BENCH_BATCH;
    bench_record_begin(TKT_KEEP);
    run_scope(1);
    uint64_t slots = slots_in_log();
    uint64_t bytes = tkt_pool_used_bytes();
    run_scope(count);
    slots = slots_in_log() - slots;
    bytes = tkt_pool_used_bytes() - bytes;
    bench_record_end();
    bench_tell((bench_figure){.name = "scope_bytes",
                              .value = (double)(slots * sizeof(takt_record)) / (double)count,
                              .unit = "bytes",
                              .max_value = 16});
    bench_tell((bench_figure){
        .name = "scope_bytes_in_pool", .value = (double)bytes / (double)count, .unit = "bytes"});
}

void bench_buffers(void)
{
    measure_fresh();
    measure_bytes();
}
