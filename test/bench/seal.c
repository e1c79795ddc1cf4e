/* From the logs to a sealed trace: ten million scopes as a program records them. */
#include "bench.h"

#include "record/control.h"
#include "trace/seal.h"

#define SPANS        UINT64_C(10000000)
#define SPANS_A_STEP 61u
#define BYTES        (SPANS * (sizeof(takt_record) + sizeof(tkt_span)))

static __attribute__((noinline)) void kernels(void)
{
    for (int i = 0; i < 9; i++) {
        TAKT_SCOPE("kernel");
        BENCH_BARRIER();
    }
}

static void record_step(void)
{
    TAKT_SCOPE("step");
    TAKT_PHASE("neighbours");
    kernels();
    TAKT_PHASE("density");
    kernels();
    TAKT_PHASE("forces");
    kernels();
    TAKT_PHASE("integrate");
    kernels();
    TAKT_PHASE("collide");
    kernels();
    TAKT_PHASE("output");
    kernels();
}

void bench_seal(void)
{
    tkt_seal_window window = {.begin_ticks = takt_ticks(), .with_spans = true};
    takt_trace *trace = NULL;
    tkt_pool_limit(2 * SPANS * sizeof(takt_record));
    bench_record_begin(TKT_KEEP);
    for (uint64_t i = 0; i < SPANS; i += SPANS_A_STEP)
        record_step();
    window.end_ticks = takt_ticks();
    window.fit = tkt_clock_fit_now();
    double begin = bench_cpu_seconds();
    takt_status status = tkt_seal(&window, &trace);
    if (status == TAKT_OK) {
        trace->facts.has_spans = true;
        status = tkt_trace_finish(trace);
    }
    double seconds = bench_cpu_seconds() - begin;
    bench_record_end();
    if (status == TAKT_OK && takt_trace_facts(trace)->span_count >= SPANS)
        bench_tell((bench_figure){.name = "seal_10m",
                                  .value = seconds,
                                  .unit = "s",
                                  .floor = bench_floor_ns((double)BYTES, 0) * 1e-9});
    else
        bench_tell_missing("seal_10m", takt_status_text(status));
    takt_trace_release(trace);
}
