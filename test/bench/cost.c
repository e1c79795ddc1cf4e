/* How near Takt's own estimate of its cost, takt_facts.cost_ns, comes to what a recording costs: a
 * loop of events is recorded, and what it takes beyond an empty one is the truth. */
#include "bench.h"

#define NOINLINE __attribute__((noinline))

enum {
    EVENTS = 1 << 16,
    ROUNDS = 9
};

static NOINLINE void run_nothing(void)
{
    for (int i = 0; i < EVENTS; i++)
        BENCH_BARRIER();
}

static NOINLINE void run_spans(void)
{
    for (int i = 0; i < EVENTS; i++) {
        TAKT_SCOPE("span");
        BENCH_BARRIER();
    }
}

static NOINLINE void run_phases(void)
{
    TAKT_SCOPE("around");
    for (int i = 0; i < EVENTS; i++)
        TAKT_PHASE("phase");
}

static NOINLINE void run_pairs(void)
{
    for (int i = 0; i < EVENTS; i++) {
        TAKT_BEGIN("pair");
        TAKT_END("pair");
    }
}

static NOINLINE void run_marks(void)
{
    for (int i = 0; i < EVENTS; i++)
        TAKT_MARK("mark");
}

static NOINLINE void run_counters(void)
{
    for (int i = 0; i < EVENTS; i++)
        TAKT_COUNTER("counter", i);
}

static NOINLINE void run_arguments(void)
{
    for (int i = 0; i < EVENTS; i++) {
        TAKT_SCOPE("with an argument");
        TAKT_ARG("key", i);
    }
}

static NOINLINE void run_texts(void)
{
    for (int i = 0; i < EVENTS; i++) {
        TAKT_SCOPE("with a text");
        TAKT_ARG("key", "a text");
    }
}

static NOINLINE void run_works(void)
{
    for (int i = 0; i < EVENTS; i++) {
        TAKT_SCOPE("work");
        TAKT_WORK(i, i);
    }
}

/* As a program has them: some hundred are allocated at a time. */
static NOINLINE void run_memory(void)
{
    static char blocks[256];
    for (int i = 0; i < EVENTS; i++) {
        takt_memory_allocated(&blocks[i % 256], 64);
        takt_memory_freed(&blocks[(i + 128) % 256]);
    }
}

static NOINLINE void run_tracks(void)
{
    takt_track track = takt_track_named("track");
    for (int i = 0; i < EVENTS; i++)
        takt_span_end(takt_span_begin(track, "task"));
}

static NOINLINE void run_spans_at(void)
{
    takt_track track = takt_track_named("track");
    uint64_t now = takt_now_ns();
    for (int i = 0; i < EVENTS; i++)
        takt_span_at(track, "at", now, now + 1);
}

static NOINLINE void run_all(void)
{
    for (int i = 0; i < EVENTS / 8; i++) {
        TAKT_SCOPE("span");
        TAKT_PHASE("first");
        takt_memory_allocated(&i, 64);
        TAKT_ARG("key", i);
        TAKT_COUNTER("counter", i);
        TAKT_PHASE("second");
        TAKT_MARK("mark");
        takt_memory_freed(&i);
    }
}

static double seconds_of(void (*run)(void))
{
    double begin = bench_cpu_seconds();
    run();
    return bench_cpu_seconds() - begin;
}

double bench_cost_in_estimates(void (*run)(void), void (*without)(void))
{
    double ratios[ROUNDS];
    const takt_profiler_options options = {.struct_size = sizeof options,
                                           .activities = TAKT_ACTIVITIES_CPU};
    for (int i = 0; i < ROUNDS; i++) {
        takt_profiler *profiler;
        double without_s = seconds_of(without);
        if (takt_profiler_create(&options, &profiler) != TAKT_OK)
            return NAN;
        takt_profiler_start(profiler);
        double truth_ns = (seconds_of(run) - without_s) * 1e9;
        takt_profiler_stop(profiler);
        const takt_trace *trace = takt_profiler_trace(profiler);
        ratios[i] = trace ? truth_ns / takt_trace_facts(trace)->cost_ns : NAN;
        takt_profiler_destroy(profiler);
    }
    return bench_median(ratios, ROUNDS);
}

/* How far off the estimate is, as a share of the truth. */
static void tell(const char *name, void (*run)(void), double max_percent)
{
    double error = 1 / bench_cost_in_estimates(run, run_nothing) - 1;
    if (isnan(error))
        bench_tell_missing(name, "no memory");
    else
        bench_tell((bench_figure){
            .name = name, .value = 100 * fabs(error), .unit = "%", .max_value = max_percent});
}

void bench_cost(void)
{
    tell("cost_spans", run_spans, 25);
    tell("cost_phases", run_phases, 25);
    tell("cost_pairs", run_pairs, 25);
    tell("cost_marks", run_marks, 25);
    tell("cost_counters", run_counters, 25);
    tell("cost_arguments", run_arguments, 25);
    tell("cost_texts", run_texts, 25);
    tell("cost_works", run_works, 25);
    tell("cost_memory", run_memory, 25);
    tell("cost_tracks", run_tracks, 25);
    tell("cost_spans_at", run_spans_at, 0); /* a trace does not know them from other spans */
    tell("cost_all", run_all, 25);
    bench_cost_places();
}
