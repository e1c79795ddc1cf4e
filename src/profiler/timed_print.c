/* Prints the result of a timed block. */
#include <takt/timer.h>

#include "base/error.h"
#include "base/own.h"
#include "profiler/cycle.h"

#include <math.h>

/* Prints a value in the largest unit that keeps it above 1, without an end of line. An empty unit
 * ends the list. */
static void print_scaled(const char *label, double value, double step, const char units[5][6])
{
    size_t unit = 0;
    for (; value >= step && units[unit + 1][0]; unit++)
        value /= step;
    tkt_print("  %-8s %10.*f %s", label, unit ? 3 : 0, value, units[unit]);
}

static void print_time(const char *label, double ns)
{
    static const char units[5][6] = {"ns", "us", "ms", "s"};
    print_scaled(label, ns, 1000, units);
    tkt_print("\n");
}

static void print_bytes(const char *label, double bytes)
{
    static const char units[5][6] = {"bytes", "KiB", "MiB", "GiB"};
    print_scaled(label, bytes, 1024, units);
}

static void print_memory(const char *label, uint64_t peak_bytes, uint64_t current_bytes)
{
    tkt_print("  %-8s %10.3f MiB at most, %.3f MiB now\n", label, (double)peak_bytes / 1048576,
              (double)current_bytes / 1048576);
}

static void print_rate(const takt_timed *result, const char *label, double rate, const char *unit)
{
    if (isnan(rate))
        tkt_print("  %-8s    unknown: Takt lost activities of devices\n", label);
    else if (rate > 0)
        tkt_print("  %-8s %10.3f %s%s\n", label, rate / 1e9, unit,
                  result->is_device_work ? " of device time" : "");
}

static void print_times(double mean, double median, double min, double max, double stddev)
{
    print_time("mean", mean);
    print_time("median", median);
    print_time("min", min);
    print_time("max", max);
    print_time("stddev", stddev);
}

static void print_device_memory(const takt_timed *result)
{
    if (result->device_peak_bytes > 0)
        print_memory("memory", result->device_peak_bytes, result->device_current_bytes);
    if (result->device_peak_bytes > 0 && result->device_peak_at_ns > 0)
        print_time("peak at", result->device_peak_at_ns);
    if (result->device_capacity_bytes > 0) {
        print_bytes("free", (double)result->device_free_bytes);
        tkt_print(" of %.3f GiB\n", (double)result->device_capacity_bytes / 1073741824);
    }
    if (result->device_reserved_bytes > 0) {
        print_bytes("reserved", (double)result->device_reserved_bytes);
        tkt_print(" by memory pools, %.1f%% unused\n", 100 * result->device_fragmentation);
    }
}

/* A utilisation above 1 is printed capped, with what was computed beside it. */
static void print_peak(const takt_timed *result)
{
    bool is_named = result->precision[0] != '\0';
    if (is_named && result->flops_per_second > 0 && result->peak_flops == 0)
        tkt_print("  %-8s    unknown: no peak in %.15s, set peak_flops\n", "used",
                  result->precision);
    if (!(result->utilization > 0))
        return;
    tkt_print("  %-8s %10.3f%% of %.3f TFLOP/s%s%.15s", "used", 100 * fmin(result->utilization, 1),
              result->peak_flops / 1e12, is_named ? " " : "", result->precision);
    if (result->utilization > 1)
        tkt_print(", uncapped %.3f%%", 100 * result->utilization);
    tkt_print("\n");
}

static void print_known(const takt_timed *result)
{
    tkt_print("%lu repetition%s\n", (unsigned long)result->count, result->count == 1 ? "" : "s");
    if (result->count > 0) {
        print_times(result->mean_ns, result->median_ns, result->min_ns, result->max_ns,
                    result->stddev_ns);
    }
    if (result->device_activities > 0) {
        tkt_print("  on devices, %.1f activities a repetition:\n",
                  (double)result->device_activities / (double)result->count);
        print_times(result->device_mean_ns, result->device_median_ns, result->device_min_ns,
                    result->device_max_ns, result->device_stddev_ns);
    }
    if (result->compile_ns > 0)
        print_time("compile", result->compile_ns);
    if (result->loading_ns > result->compile_ns)
        print_time("loading", result->loading_ns - result->compile_ns);
    print_device_memory(result);
    print_rate(result, "work", result->flops_per_second, "GFLOP/s");
    print_peak(result);
    print_rate(result, "moved", result->bytes_per_second, "GB/s");
    if (result->peak_bytes > 0)
        print_memory("memory", result->peak_bytes, result->current_bytes);
}

void takt_timed_print(const takt_timed *result)
{
    TKT_OWN_WORK;
    takt_timed all;
    if (!result || tkt_options_import(&all, sizeof all, result) != TAKT_OK)
        tkt_log(TAKT_LOG_ERROR, "takt_timed_print() was given a result that no block has filled: "
                                "its struct_size is not that of a takt_timed");
    else
        print_known(&all);
}
