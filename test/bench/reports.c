/* From a sealed trace to all reports, of ten million activities and of a tenth of them: what each
 * report takes for an activity, which must not grow with their number, and the most memory in use
 * meanwhile against the trace's own. Once for marked loops of the host, which are spans, and once
 * for devices, launched by as many calls. */
#include "bench.h"

#include "trace/model.h"

#include <stdio.h>

#define MILLION      UINT64_C(1000000)
#define MOST_WISHES  32
#define MOST_COPIES  18 /* of the trace: all reports take less time */

typedef struct wish {
    const char *report; /* NULL: the call tree that reports share, which the trace then keeps */
    const char *extra;  /* behind its name */
    takt_report_options options;
} wish;

/* Beside all reports as they are without options. */
static const wish with_options[] = {
    {"scopes", "_all", {.all = true}},
    {"scopes", "_by_arguments", {.by_arguments = true}},
    {"scopes", "_by_stack", {.by_stack = 3}},
    {"tree", "_all", {.all = true}},
    {"kernels", "_by_launch", {.by_arguments = true}},
};

#define OPTIONS_COUNT (sizeof with_options / sizeof *with_options)

typedef struct costs {
    double ns[MOST_WISHES]; /* per activity */
    double seconds;         /* of the call tree and of all reports without options */
    double floor_seconds;   /* copying the trace once */
    double peak_ratio;      /* the most memory in use, the trace included, to the trace's own */
} costs;

/* The call tree, then the reports, then those with options; false past the end. */
static bool get_wish(size_t index, wish *out)
{
    size_t reports = 0;
    while (takt_report_name(reports))
        reports++;
    if (index >= MOST_WISHES || index > reports + OPTIONS_COUNT)
        return false;
    if (index > reports)
        *out = with_options[index - reports - 1];
    else
        *out = (wish){.report = index ? takt_report_name(index - 1) : NULL, .extra = ""};
    return true;
}

static takt_status discard(void *user, const void *data, size_t size)
{
    (void)user;
    (void)data;
    (void)size;
    return TAKT_OK;
}

static double seconds_of(const takt_trace *trace, const wish *wanted)
{
    const takt_sink sink = {discard, NULL};
    takt_report_options options = wanted->options;
    options.struct_size = sizeof options;
    takt_status status = TAKT_OK;
    double begin = bench_cpu_seconds();
    if (wanted->report)
        status = takt_report(trace, wanted->report, &options, &sink);
    else if (!tkt_trace_fold(trace))
        status = TAKT_NO_MEMORY;
    double seconds = bench_cpu_seconds() - begin;
    return status == TAKT_OK ? seconds : NAN;
}

static void measure(const takt_trace *trace, uint64_t before, costs *out)
{
    double trace_bytes = (double)(bench_memory_now() - before);
    wish wanted;
    *out = (costs){0};
    bench_memory_reset_peak();
    for (size_t i = 0; get_wish(i, &wanted); i++) {
        double seconds = seconds_of(trace, &wanted);
        out->ns[i] = seconds * 1e9 / (double)trace->activities.count;
        out->seconds += wanted.extra[0] ? 0 : seconds;
    }
    out->floor_seconds = bench_floor_ns(trace_bytes, 0) * 1e-9;
    out->peak_ratio = (double)(bench_memory_peak() - before) / trace_bytes;
}

static void tell_contents(const char *prefix, const takt_trace *trace, uint64_t before)
{
    uint64_t args = 0;
    uint64_t stacks = 0;
    for (size_t i = 0; i < trace->tracks.count; i++) {
        args += trace->tracks.items[i].args.count;
        stacks += trace->tracks.items[i].stacks.count;
    }
    const struct {
        uint64_t count;
        const char *what;
    } contents[] = {
        {trace->activities.count, "activities"},
        {trace->facts.span_count, "spans"},
        {trace->calls.count, "of these calls"},
        {args, "arguments"},
        {stacks, "stacks"},
        {trace->waits.count, "waits"},
        {trace->steps.count, "steps"},
        {trace->memory_events.count, "memory events"},
    };
    const char *mark = ";";
    printf("%s: %zu threads, %zu devices, %.0f MB", prefix, trace->tracks.count,
           trace->devices.count, (double)(bench_memory_now() - before) / 1e6);
    for (size_t i = 0; i < sizeof contents / sizeof *contents; i++) {
        if (contents[i].count == 0)
            continue;
        printf("%s %.2f M %s", mark, (double)contents[i].count / 1e6, contents[i].what);
        mark = ",";
    }
    printf("\n");
}

static bool measure_new(const char *prefix, takt_trace *(*make)(uint64_t), uint64_t activities,
                        costs *out)
{
    uint64_t before = bench_memory_now();
    takt_trace *trace = make(activities);
    if (!trace) {
        bench_tell_missing(prefix, "no memory for the trace");
        return false;
    }
    tell_contents(prefix, trace, before);
    measure(trace, before, out);
    takt_trace_release(trace);
    return true;
}

/* The floor of a report is what the tenth takes for an activity: 1.0 is linear. */
static void tell(const char *prefix, const costs *small, const costs *large)
{
    char name[64];
    wish wanted;
    for (size_t i = 0; get_wish(i, &wanted); i++) {
        snprintf(name, sizeof name, "%s_%s%s", prefix, wanted.report ? wanted.report : "call_tree",
                 wanted.extra);
        bench_tell((bench_figure){
            .name = name, .value = large->ns[i], .unit = "ns/act", .floor = small->ns[i]});
    }
    snprintf(name, sizeof name, "%s_1m", prefix);
    bench_tell((bench_figure){
        .name = name, .value = small->seconds, .unit = "s", .floor = small->floor_seconds});
    snprintf(name, sizeof name, "%s_10m", prefix);
    bench_tell((bench_figure){.name = name,
                              .value = large->seconds,
                              .unit = "s",
                              .floor = large->floor_seconds,
                              .max_ratio = MOST_COPIES});
    snprintf(name, sizeof name, "%s_peak_memory", prefix);
    bench_tell((bench_figure){
        .name = name, .value = large->peak_ratio, .unit = "x trace", .max_value = 2});
}

static void measure_both(const char *prefix, takt_trace *(*make)(uint64_t))
{
    costs small, large;
    if (measure_new(prefix, make, MILLION, &small) &&
        measure_new(prefix, make, 10 * MILLION, &large))
        tell(prefix, &small, &large);
}

static takt_trace *make_host(uint64_t activities)
{
    return bench_trace(activities, 0);
}

void bench_reports(void)
{
    measure_both("host", make_host);
    measure_both("device", bench_launches_trace);
}
