/* From a sealed trace to all reports, with ten million spans and as many activities, and with a
 * tenth of them, to show that the cost is linear; and the most memory that it takes. Most of these
 * activities are of the host; ten million of a device come on top of a million spans. */
#include "bench.h"

#include "trace/model.h"

#include <stdio.h>

#define MILLION UINT64_C(1000000)

typedef struct cost {
    double seconds;
    double peak_ratio; /* the most memory in use, the trace included, to the trace's own */
} cost;

static takt_status discard(void *user, const void *data, size_t size)
{
    (void)user;
    (void)data;
    (void)size;
    return TAKT_OK;
}

/* Tells each report's share where `prefix` is not NULL. The first ones also pay for what the trace
 * then keeps, its call tree. */
static double make_reports(const takt_trace *trace, const char *prefix)
{
    const takt_sink sink = {discard, NULL};
    double total = 0;
    for (size_t i = 0; takt_report_name(i); i++) {
        double begin = bench_cpu_seconds();
        takt_status status = takt_report(trace, takt_report_name(i), NULL, &sink);
        double seconds = bench_cpu_seconds() - begin;
        char name[64];
        snprintf(name, sizeof name, "%s_%s", prefix ? prefix : "", takt_report_name(i));
        if (status != TAKT_OK)
            bench_tell_missing(name, takt_status_text(status));
        else if (prefix)
            bench_tell((bench_figure){.name = name, .value = seconds, .unit = "s"});
        total += seconds;
    }
    return total;
}

/* As if eight streams took turns and lagged behind each other: issue order is not that of begins.
 */
static void lag(takt_trace *trace)
{
    for (size_t i = 0; i < trace->activities.count; i++) {
        tkt_activity *activity = &trace->activities.items[i];
        uint64_t lag_ns = activity->span == TKT_NO_SPAN ? i % 8 * 20000 : 0;
        activity->begin_ns += lag_ns;
        activity->end_ns += lag_ns;
    }
}

static bool measure(uint64_t spans, uint64_t activities, const char *prefix, cost *out)
{
    uint64_t before = bench_memory_now();
    takt_trace *trace = bench_trace(spans, activities);
    if (!trace)
        return false;
    lag(trace);
    double trace_bytes = (double)(bench_memory_now() - before);
    bench_memory_reset_peak();
    out->seconds = make_reports(trace, prefix);
    out->peak_ratio = (double)(bench_memory_peak() - before) / trace_bytes;
    takt_trace_release(trace);
    return true;
}

void bench_reports(void)
{
    cost small, large, device;
    if (!measure(MILLION, MILLION, NULL, &small) ||
        !measure(10 * MILLION, 10 * MILLION, "reports_10m", &large) ||
        !measure(MILLION, 11 * MILLION, "reports_device", &device)) {
        bench_tell_missing("reports_10m", "no memory for the trace");
        return;
    }
    bench_tell((bench_figure){.name = "reports_1m", .value = small.seconds, .unit = "s"});
    bench_tell(
        (bench_figure){.name = "reports_10m", .value = large.seconds, .unit = "s", .max_value = 3});
    bench_tell((bench_figure){
        .name = "reports_10m_to_1m", .value = large.seconds / small.seconds, .unit = "x"});
    bench_tell((bench_figure){
        .name = "reports_10m_device", .value = device.seconds, .unit = "s", .max_value = 3});
    bench_tell((bench_figure){.name = "reports_device_peak_memory",
                              .value = device.peak_ratio,
                              .unit = "x trace",
                              .max_value = 2});
    bench_tell((bench_figure){.name = "reports_peak_memory",
                              .value = large.peak_ratio,
                              .unit = "x trace",
                              .max_value = 2});
}
