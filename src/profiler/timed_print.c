/* Prints the result of a timed block. */
#include <takt/timer.h>

#include "base/error.h"
#include "base/own.h"
#include "profiler/cycle.h"
#include "report/table.h"

#include <math.h>
#include <string.h>

/* Prints "  LABEL  NUMBER UNIT" with a value as in tables, without an end of line. The numbers of
 * all lines end below each other. */
static void print_value(const char *label, tkt_cell_type type, tkt_cell cell)
{
    char text[TKT_VALUE_SIZE];
    tkt_value_text(text, type, cell);
    size_t size = strspn(text, "0123456789.e+-");
    const char *unit = text + size + strspn(text + size, " ");
    tkt_print("  %-8s %10.*s%s%s", label, (int)size, text, *unit ? " " : "", unit);
}

static void print_time(const char *label, double ns)
{
    print_value(label, TKT_CELL_LENGTH, (tkt_cell){.d = ns});
    tkt_print("\n");
}

static void print_bytes(const char *label, uint64_t bytes)
{
    print_value(label, TKT_CELL_BYTES, (tkt_cell){.u = bytes});
}

static const char *bytes_text(char out[TKT_VALUE_SIZE], uint64_t bytes)
{
    tkt_value_text(out, TKT_CELL_BYTES, (tkt_cell){.u = bytes});
    return out;
}

static const char *decimal_text(char out[TKT_VALUE_SIZE], double number)
{
    tkt_value_text(out, TKT_CELL_NUMBER, (tkt_cell){.d = number});
    return out;
}

static void print_memory(const char *label, uint64_t peak_bytes, uint64_t current_bytes)
{
    char now[TKT_VALUE_SIZE];
    print_bytes(label, peak_bytes);
    tkt_print(" at most, %s now\n", bytes_text(now, current_bytes));
}

static void print_rate(const takt_timed *result, const char *label, double rate, const char *unit)
{
    if (isnan(rate)) {
        tkt_print("  %-8s    unknown: Takt lost activities of devices\n", label);
    } else if (rate > 0) {
        print_value(label, TKT_CELL_NUMBER, (tkt_cell){.d = rate / 1e9});
        tkt_print(" %s%s\n", unit, result->is_device_work ? " of device time" : "");
    }
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
    char text[TKT_VALUE_SIZE];
    if (result->device_peak_bytes > 0)
        print_memory("memory", result->device_peak_bytes, result->device_current_bytes);
    if (result->device_peak_bytes > 0 && result->device_peak_at_ns > 0)
        print_time("peak at", result->device_peak_at_ns);
    if (result->device_capacity_bytes > 0) {
        print_bytes("free", result->device_free_bytes);
        tkt_print(" of %s\n", bytes_text(text, result->device_capacity_bytes));
    }
    if (result->device_reserved_bytes > 0) {
        print_bytes("reserved", result->device_reserved_bytes);
        tkt_value_text(text, TKT_CELL_SHARE, (tkt_cell){.d = result->device_fragmentation});
        tkt_print(" by memory pools, %s unused\n", text);
    }
}

/* A utilisation above 1 is printed capped, with what was computed beside it. */
static void print_peak(const takt_timed *result)
{
    char text[TKT_VALUE_SIZE];
    bool is_named = result->precision[0] != '\0';
    if (is_named && result->flops_per_second > 0 && result->peak_flops == 0)
        tkt_print("  %-8s    unknown: no peak in %.15s, set peak_flops\n", "used",
                  result->precision);
    if (!(result->utilization > 0))
        return;
    print_value("used", TKT_CELL_NUMBER, (tkt_cell){.d = 100 * fmin(result->utilization, 1)});
    tkt_print("%% of %s TFLOP/s%s%.15s", decimal_text(text, result->peak_flops / 1e12),
              is_named ? " " : "", result->precision);
    if (result->utilization > 1)
        tkt_print(", uncapped %s%%", decimal_text(text, 100 * result->utilization));
    tkt_print("\n");
}

static void print_known(const takt_timed *result)
{
    tkt_print("%.*s%s%lu repetition%s\n", (int)sizeof result->name - 1, result->name,
              result->name[0] ? ": " : "", (unsigned long)result->count,
              result->count == 1 ? "" : "s");
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
