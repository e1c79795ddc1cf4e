/* Operations of traces made by hand: what is whose time, rates and peaks, each worked out here. */
#include "support/test.h"
#include "support/report_traces.h"

#include "summary/device.h"

static void build_work(takt_trace *trace, uint32_t span, double flops, double bytes)
{
    tkt_work *work = TKT_ARRAY_ADD(&trace->tracks.items[0].works);
    assert_non_null(work);
    *work = (tkt_work){span, flops, bytes};
}

static uint32_t build_copy(takt_trace *trace, uint32_t kind, uint64_t bytes)
{
    tkt_shape shape = {.filter = TAKT_TIMING_MEMCPY, .bytes = bytes, .copy_kind = (uint8_t)kind};
    return build_shape(trace, &shape);
}

/* 100 multiprocessors with 128 lanes at 1.5 GHz: 38.4 TFLOP/s; 512 bits at 2 GHz: 256 GB/s. */
static void build_device(takt_trace *trace, uint32_t ordinal, uint32_t clock_khz)
{
    char label[16];
    tkt_device *device = TKT_ARRAY_ADD(&trace->devices);
    assert_non_null(device);
    snprintf(label, sizeof label, "cuda:%u", ordinal);
    *device = (tkt_device){.ordinal = ordinal,
                           .label = build_string(trace, label),
                           .major = 9,
                           .multiprocessors = 100,
                           .clock_khz = clock_khz,
                           .memory_clock_khz = 2000000,
                           .memory_bus_bits = 512};
}

#define US UINT64_C(1000)

/* One step of 1000 us, on the thread:
 *
 *     forces   100 us, declares 3.84 GFLOP and 2.56 MB, launches density for 200 us
 *     pairs    inside of forces, declares nothing, launches pairs for 300 us and a copy for 50 us
 *     energy   100 us, declares 100 kFLOP and 1 MB
 *     sum      inside of energy, 40 us, declares 200 kFLOP
 *     output   copies 1 MB to the host in 100 us and within the device in 16 us, sets 512 KB in
 *              4 us, launches pack for 30 us
 *     io       a TAKT_ACTIVITY of 200 us
 *     fill     inside of io, 80 us, declares 8 MB
 */
static takt_trace *build_ops(void)
{
    takt_trace *trace = build_begin(1000 * US + 1000 * US);
    uint64_t t = 1000 * US;
    trace->backend = build_string(trace, "CUPTI 13.0 (130001)");
    build_track(trace, "main");
    build_device(trace, 0, 1500000);
    uint32_t step = build_span(trace, 0, build_site(trace, "step"), TKT_NO_SPAN, t, t + 1000 * US);
    uint32_t forces =
        build_span(trace, 0, build_site(trace, "forces"), step, t + 100 * US, t + 200 * US);
    uint32_t density = build_call(trace, 0, "cudaLaunchKernel", forces, t + 110 * US, t + 120 * US);
    uint32_t pairs =
        build_span(trace, 0, build_site(trace, "pairs"), forces, t + 130 * US, t + 190 * US);
    uint32_t pair = build_call(trace, 0, "cudaLaunchKernel", pairs, t + 140 * US, t + 150 * US);
    uint32_t inside = build_call(trace, 0, "cudaMemcpyAsync", pairs, t + 160 * US, t + 170 * US);
    uint32_t energy =
        build_span(trace, 0, build_site(trace, "energy"), step, t + 200 * US, t + 300 * US);
    build_call(trace, 0, "cudaMalloc", energy, t + 210 * US, t + 220 * US);
    uint32_t sum =
        build_span(trace, 0, build_site(trace, "sum"), energy, t + 230 * US, t + 270 * US);
    uint32_t output =
        build_span(trace, 0, build_site(trace, "output"), step, t + 400 * US, t + 500 * US);
    uint32_t calls[4];
    for (uint64_t i = 0; i < 4; i++)
        calls[i] = build_call(trace, 0, "cudaLaunchKernel", output, t + (410 + i * 10) * US,
                              t + (415 + i * 10) * US);
    uint32_t io = build_span(trace, 0, build_site_of(trace, "io", TAKT_SITE_ACTIVITY, "cpu"), step,
                             t + 600 * US, t + 800 * US);
    uint32_t fill = build_span(trace, 0, build_site(trace, "fill"), io, t + 700 * US, t + 780 * US);
    build_work(trace, forces, 3.84e9, 2.56e6);
    build_work(trace, energy, 1e5, 1e6);
    build_work(trace, sum, 2e5, 0);
    build_work(trace, fill, 0, 8e6);

    const struct {
        uint32_t call;
        const char *name;
        uint32_t filter;
        uint64_t us;
        uint32_t shape;
    } works[] = {
        {density, "kernel density", TAKT_TIMING_KERNEL, 200, TKT_NO_SHAPE},
        {pair, "kernel pairs", TAKT_TIMING_KERNEL, 300, TKT_NO_SHAPE},
        {inside, "memcpy HtoD", TAKT_TIMING_MEMCPY, 50, build_copy(trace, TAKT_COPY_HTOD, 500000)},
        {calls[0], "memcpy DtoH", TAKT_TIMING_MEMCPY, 100,
         build_copy(trace, TAKT_COPY_DTOH, 1000000)},
        {calls[1], "memcpy DtoD", TAKT_TIMING_MEMCPY, 16,
         build_copy(trace, TAKT_COPY_DTOD, 1024000)},
        {calls[2], "memset", TAKT_TIMING_MEMSET, 4, build_copy(trace, 0, 512000)},
        {calls[3], "kernel pack", TAKT_TIMING_KERNEL, 30, TKT_NO_SHAPE},
    };
    for (size_t i = 0; i < 7; i++)
        build_launched(trace, works[i].call, "cuda:0", works[i].name, works[i].filter, t + 300 * US,
                       t + (300 + works[i].us) * US)
            ->shape = works[i].shape;
    build_end(trace);
    return trace;
}

static void assert_op(const json_t *row, const char *type, const char *where, double count,
                      double self_us)
{
    assert_text(row, "type", type);
    assert_text(row, "where", where);
    assert_value(row, "count", count);
    assert_value(row, "self_time_ns", self_us * 1e3);
    assert_value(row, "avg_self_time_ns", self_us * 1e3 / count);
}

/* Kernels of forces and of pairs, which is inside and declares nothing; not the copy. */
TEST(a_scopes_work_is_over_its_kernels)
{
    takt_trace *trace = build_ops();
    json_t *json = report_json(trace, "ops", NULL);
    const json_t *row = row_of(json, "operation", "forces");
    assert_op(row, "scope", "device", 1, 500);
    assert_value(row, "device_percent", 100 * 500 / 700.0);
    assert_value(row, "host_percent", NAN);
    assert_value(row, "flops", 3.84e9);
    assert_value(row, "bytes", 2.56e6);
    assert_value(row, "flops_per_second", 3.84e9 / 500e-6);
    assert_value(row, "bytes_per_second", 2.56e6 / 500e-6);
    assert_value(row, "flops_peak_percent", 20); /* 7.68 of 38.4 TFLOP/s */
    assert_value(row, "flops_peak_uncapped_percent", 20);
    assert_value(row, "memory_peak_percent", 2); /* 5.12 of 256 GB/s */
    assert_text(row, "bound_by", "compute");
    json_decref(json);
    takt_trace_release(trace);
}

/* energy: 100 us less 40 us of sum, which declares work itself; the call is its own. */
TEST(without_kernels_it_is_over_the_threads_time)
{
    takt_trace *trace = build_ops();
    json_t *json = report_json(trace, "ops", NULL);
    const json_t *row = row_of(json, "operation", "energy");
    assert_op(row, "scope", "host", 1, 60);
    assert_value(row, "device_percent", NAN);
    assert_value(row, "host_percent", 100 * 60 / 1000.0);
    assert_value(row, "flops_per_second", 1e5 / 60e-6);
    assert_value(row, "bytes_per_second", 1e6 / 60e-6);
    assert_value(row, "flops_peak_percent", NAN); /* nobody has said what the host can do */
    assert_text(row, "bound_by", NULL);
    row = row_of(json, "operation", "sum");
    assert_op(row, "scope", "host", 1, 40);
    assert_value(row, "bytes", NAN);
    assert_value(row, "bytes_per_second", NAN);
    row = row_of(json, "operation", "io");
    assert_op(row, "kernel", "host", 1, 200 - 80);
    assert_value(row, "flops_per_second", NAN);
    row = row_of(json, "operation", "fill");
    assert_op(row, "scope", "host", 1, 80);
    assert_value(row, "bytes_per_second", 1e11);
    json_decref(json);
    takt_trace_release(trace);
}

TEST(copies_and_kernels_of_no_operation)
{
    takt_trace *trace = build_ops();
    json_t *json = report_json(trace, "ops", NULL);
    const json_t *row = row_of(json, "operation", "memcpy DtoH");
    assert_op(row, "memcpy", "device", 1, 100);
    assert_value(row, "bytes", 1000000);
    assert_value(row, "bytes_per_second", 1e10);
    assert_value(row, "memory_peak_percent", NAN); /* a link's, which is not known */
    assert_text(row, "bound_by", NULL);
    row = row_of(json, "operation", "memcpy DtoD");
    assert_value(row, "bytes_per_second", 64e9);
    assert_value(row, "memory_peak_percent", 50); /* reads and writes */
    assert_text(row, "bound_by", "memory");
    row = row_of(json, "operation", "memset");
    assert_op(row, "memset", "device", 1, 4);
    assert_value(row, "memory_peak_percent", 50);
    assert_op(row_of(json, "operation", "memcpy HtoD"), "memcpy", "device", 1, 50);
    row = row_of(json, "operation", "kernel pack");
    assert_op(row, "kernel", "device", 1, 30);
    assert_value(row, "flops", NAN);
    assert_text(row, "bound_by", NULL);
    assert_int_equal(row_count(json), 10);
    json_decref(json);
    takt_trace_release(trace);
}

/* Each activity once, and each moment of the thread that is an operation's. */
TEST(shares_add_up)
{
    takt_trace *trace = build_ops();
    json_t *json = report_json(trace, "ops", NULL);
    const json_t *rows = json_object_get(json, "rows");
    double device = 0, host = 0;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        device += json_number_value(json_object_get(row, "device_percent"));
        host += json_number_value(json_object_get(row, "host_percent"));
    }
    assert_near(device, 100, 1e-9);
    assert_near(host, 100 * (60 + 40 + 120 + 80) / 1000.0, 1e-9);
    const json_t *facts = json_object_get(json, "facts");
    assert_value(facts, "flops", 3.84e9 + 3e5);
    assert_value(facts, "device_flops", 3.84e9);
    assert_value(facts, "device_peak_percent", 10); /* of 38.4 TFLOP/s for 1 ms */
    json_decref(json);
    trace->losses[TAKT_LOSS_DEVICE_DROPPED] = 1000;
    json = report_json(trace, "ops", NULL);
    assert_value(json_object_get(json, "facts"), "device_peak_percent", NAN);
    json_decref(json);
    takt_trace_release(trace);
}

TEST(what_the_program_says_of_peaks_goes_first)
{
    takt_trace *trace = build_ops();
    trace->device_peak = (takt_peak){3.84e12, 5.12e6 / 500e-6};
    trace->host_peak = (takt_peak){1e10, 1e11};
    json_t *json = report_json(trace, "ops", NULL);
    const json_t *row = row_of(json, "operation", "forces");
    assert_value(row, "flops_peak_percent", 100);
    assert_value(row, "flops_peak_uncapped_percent", 200);
    assert_value(row, "memory_peak_percent", 50);
    assert_text(row, "bound_by", "compute");
    row = row_of(json, "operation", "energy"); /* 1.67 GFLOP/s of 10, 16.7 GB/s of 100 */
    assert_value(row, "flops_peak_percent", 100 * 1e5 / 60e-6 / 1e10);
    assert_text(row, "bound_by", "memory"); /* equal: memory is */
    assert_text(row_of(json, "operation", "sum"), "bound_by", "compute");
    assert_text(row_of(json, "operation", "fill"), "bound_by", "memory");
    assert_value(row_of(json, "operation", "fill"), "memory_peak_uncapped_percent", 100);
    json_decref(json);
    takt_trace_release(trace);
}

TEST(devices_that_differ_have_no_peak_in_common)
{
    takt_trace *trace = build_ops();
    build_device(trace, 1, 1000000);
    uint32_t other = trace->devices.items[1].label;
    trace->activities.items[1].device = other;
    json_t *json = report_json(trace, "ops", NULL);
    const json_t *row = row_of(json, "operation", "forces");
    assert_op(row, "scope", "device", 1, 500);
    assert_value(row, "flops_peak_percent", NAN);
    assert_text(row, "bound_by", NULL);
    json_decref(json);
    takt_trace_release(trace);
}

/* Three calls of a scope that declares work: two below step, one of its own; 10, 20 and 40 us. A
 * call of 100 us outside of all scopes is nobody's time, with what it calls itself. */
TEST(an_operation_may_have_several_paths)
{
    takt_trace *trace = build_begin(2000 * US);
    build_track(trace, "main");
    uint64_t t = 1000 * US;
    uint32_t sum = build_site(trace, "sum");
    uint32_t step = build_span(trace, 0, build_site(trace, "step"), TKT_NO_SPAN, t, t + 100 * US);
    uint32_t calls[3] = {build_span(trace, 0, sum, step, t, t + 10 * US),
                         build_span(trace, 0, sum, step, t + 20 * US, t + 40 * US)};
    uint32_t outside = build_call(trace, 0, "cudaMalloc", TKT_NO_SPAN, t + 200 * US, t + 300 * US);
    build_call(trace, 0, "cuMemAlloc", trace->calls.items[outside].span, t + 210 * US,
               t + 230 * US);
    calls[2] = build_span(trace, 0, sum, TKT_NO_SPAN, t + 400 * US, t + 440 * US);
    for (size_t i = 0; i < 3; i++)
        build_work(trace, calls[i], 1e6 * (double)(i + 1), 1e3);
    build_end(trace);
    json_t *json = report_json(trace, "ops", NULL);
    assert_int_equal(row_count(json), 1);
    const json_t *row = row_of(json, "operation", "sum");
    assert_text(row, "where", "host");
    assert_value(row, "count", 3);
    assert_value(row, "self_time_ns", (10 + 20 + 40) * 1000);
    assert_value(row, "host_percent", 100 * 70 / 140.0);
    assert_value(row, "flops", 6e6);
    assert_value(row, "bytes", 3e3);
    json_decref(json);
    takt_trace_release(trace);
}

/* 1 MB within the device in 16 us, and another 1 MB there in 34; of a third nobody knows the size.
 */
TEST(copies_add_up_while_their_sizes_are_known)
{
    for (int with_unknown = 0; with_unknown < 2; with_unknown++) {
        takt_trace *trace = build_begin(2000 * US);
        uint64_t t = 1000 * US;
        build_device(trace, 0, 1500000);
        uint32_t shapes[] = {build_copy(trace, TAKT_COPY_DTOD, 1000000),
                             build_copy(trace, TAKT_COPY_DTOD, 1000000), TKT_NO_SHAPE};
        static const uint64_t us[] = {16, 34, 50};
        for (size_t i = 0; i < (with_unknown ? 3 : 2); i++) {
            build_activity(trace, "cuda:0", "memcpy DtoD", TAKT_TIMING_MEMCPY, t, t + us[i] * US,
                           TKT_NO_TRACK, TKT_NO_SPAN);
            trace->activities.items[i].shape = shapes[i];
        }
        build_end(trace);
        json_t *json = report_json(trace, "ops", NULL);
        const json_t *row = row_of(json, "operation", "memcpy DtoD");
        assert_value(row, "count", with_unknown ? 3 : 2);
        assert_value(row, "bytes", with_unknown ? NAN : 2e6);
        assert_value(row, "bytes_per_second", with_unknown ? NAN : 2e6 / 50e-6);
        assert_value(row, "memory_peak_percent", with_unknown ? NAN : 100 * 80e9 / 256e9);
        json_decref(json);
        takt_trace_release(trace);
    }
}

TEST(what_all_devices_can_do_is_known_of_all_or_not)
{
    static const struct {
        uint32_t other_major;
        bool is_other_used;
        double percent;
    } cases[] = {{9, true, 5}, {42, true, NAN}, {9, false, 10}, {42, false, 10}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        takt_trace *trace = build_ops();
        build_device(trace, 1, 1500000);
        trace->devices.items[1].major = cases[i].other_major;
        if (cases[i].is_other_used)
            trace->activities.items[6].device = trace->devices.items[1].label;
        json_t *json = report_json(trace, "ops", NULL);
        const json_t *facts = json_object_get(json, "facts");
        assert_value(facts, "device_peak_percent", cases[i].percent);
        assert_value(facts, "device_peak_uncapped_percent", cases[i].percent);
        json_decref(json);
        takt_trace_release(trace);
    }
}

TEST(peaks_of_devices)
{
    takt_trace *trace = build_begin(2000000);
    build_device(trace, 0, 1500000);
    tkt_device *device = &trace->devices.items[0];
    /* H100 SXM, its data sheet: 67 TFLOP/s of FP32, 3.35 TB/s. */
    device->multiprocessors = 132;
    device->clock_khz = 1980000;
    device->memory_clock_khz = 2619000;
    device->memory_bus_bits = 5120;
    takt_peak peak = tkt_peak_of(trace, device->label);
    assert_near(peak.flops, 67e12, 0.1e12);
    assert_near(peak.bandwidth, 3.35e12, 0.005e12);
    /* A100 SXM: 19.5 TFLOP/s, 2039 GB/s (80 GB). */
    *device = (tkt_device){.label = device->label,
                           .major = 8,
                           .multiprocessors = 108,
                           .clock_khz = 1410000,
                           .memory_clock_khz = 1593000,
                           .memory_bus_bits = 5120};
    peak = tkt_peak_of(trace, device->label);
    assert_near(peak.flops, 19.5e12, 0.05e12);
    assert_near(peak.bandwidth, 2039e9, 1e9);
    device->major = 42; /* nobody knows */
    peak = tkt_peak_of(trace, device->label);
    assert_near(peak.flops, 0, 0);
    assert_near(peak.bandwidth, 2039e9, 1e9);
    peak = tkt_peak_of(trace, build_string(trace, "cuda:7"));
    assert_near(peak.flops + peak.bandwidth, 0, 0);
    takt_trace_release(trace);
}

/* All but the sizes of copies, which stand in single activities. */
TEST(summaries_know_all_but_sizes_of_copies)
{
    takt_trace *trace = build_ops();
    takt_trace *folded = build_folded(trace);
    build_device(folded, 0, 1500000);
    json_t *full = report_json(trace, "ops", NULL);
    json_t *json = report_json(folded, "ops", NULL);
    static const char *const same[] = {"forces", "energy", "sum", "io", "fill", "kernel pack"};
    for (size_t i = 0; i < 6; i++) {
        if (!json_equal((json_t *)row_of(json, "operation", same[i]),
                        (json_t *)row_of(full, "operation", same[i])))
            fail_msg("%s differs", same[i]);
    }
    const json_t *row = row_of(json, "operation", "memcpy DtoD");
    assert_op(row, "memcpy", "device", 1, 16);
    assert_value(row, "bytes", NAN);
    assert_value(row, "bytes_per_second", NAN);
    assert_text(row, "bound_by", NULL);
    json_decref(full);
    json_decref(json);
    takt_trace_release(folded);
    takt_trace_release(trace);
}

TEST(reports_equal_their_golden_files)
{
    takt_trace *trace = build_ops();
    takt_report_options options = {0};
    assert_golden(trace, "ops", "ops_work", &options);
    takt_trace_release(trace);
}

static uint32_t build_host_activity(takt_trace *trace, const char *name, uint32_t filter)
{
    uint32_t site = build_site_of(trace, name, TAKT_SITE_ACTIVITY, "cpu");
    trace->sites.items[site].filter = filter;
    return site;
}

/* loop 300 us, with a copy of 100 us; a copy of 50 us; solve 400 us, which declares work, with a
 * set of 30 us and a loop of 60 us. */
TEST(copies_of_the_host_are_operations_wherever_they_are)
{
    takt_trace *trace = build_begin(2000 * US);
    build_track(trace, "main");
    uint64_t t = 1000 * US;
    uint32_t loop = build_host_activity(trace, "loop", TAKT_TIMING_KERNEL);
    uint32_t copy = build_host_activity(trace, "copy", TAKT_TIMING_MEMCPY);
    uint32_t set = build_host_activity(trace, "set", TAKT_TIMING_MEMSET);
    uint32_t outer = build_span(trace, 0, loop, TKT_NO_SPAN, t, t + 300 * US);
    build_span(trace, 0, copy, outer, t + 100 * US, t + 200 * US);
    build_span(trace, 0, copy, TKT_NO_SPAN, t + 300 * US, t + 350 * US);
    uint32_t solve =
        build_span(trace, 0, build_site(trace, "solve"), TKT_NO_SPAN, t + 400 * US, t + 800 * US);
    build_span(trace, 0, set, solve, t + 400 * US, t + 430 * US);
    build_span(trace, 0, loop, solve, t + 500 * US, t + 560 * US);
    build_work(trace, solve, 1e6, 0);
    build_end(trace);
    json_t *json = report_json(trace, "ops", NULL);
    assert_int_equal(row_count(json), 4);
    assert_op(row_of(json, "operation", "loop"), "kernel", "host", 1, 200);
    assert_op(row_of(json, "operation", "copy"), "memcpy", "host", 2, 150);
    assert_op(row_of(json, "operation", "solve"), "scope", "host", 1, 370);
    assert_op(row_of(json, "operation", "set"), "memset", "host", 1, 30);
    json_decref(json);
    takt_trace_release(trace);
}

/* A tree may hold nodes that were made and never used. */
TEST(what_never_ran_has_no_row)
{
    takt_trace *trace = build_begin(2000000);
    trace->facts.has_spans = false;
    uint32_t io = build_site_of(trace, "io", TAKT_SITE_ACTIVITY, "cpu");
    assert_int_equal(tkt_fold_init(&trace->fold), TAKT_OK);
    tkt_fold_child(&trace->fold, 0, io);
    build_end(trace);
    json_t *json = report_json(trace, "ops", NULL);
    assert_int_equal(row_count(json), 0);
    assert_value(json, "row_count", 0);
    json_decref(json);
    takt_trace_release(trace);
}

/* A narrow table names the columns that do not fit by their titles. */
TEST(no_two_columns_have_one_title)
{
    takt_trace *trace = build_begin(2000 * US);
    build_end(trace);
    json_t *json = report_json(trace, "ops", NULL);
    const json_t *titles = json_object_get(json, "titles");
    assert_true(json_array_size(titles) > 10);
    for (size_t i = 0; i < json_array_size(titles); i++)
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(json_string_value(json_array_get(titles, i)),
                                    json_string_value(json_array_get(titles, k)));
    json_decref(json);
    takt_trace_release(trace);
}

TEST(text_shows_no_empty_columns)
{
    takt_trace *trace = build_begin(2000000);
    build_track(trace, "main");
    uint32_t span = build_span(trace, 0, build_site(trace, "move"), TKT_NO_SPAN, 1000000, 1001000);
    build_work(trace, span, 2000, 0);
    build_end(trace);
    char *text = report_of(trace, "ops", &(takt_report_options){.width = 400});
    assert_non_null(strstr(text, "GFLOP/s"));
    assert_non_null(strstr(text, "2.000")); /* in 1 us */
    assert_null(strstr(text, "Device %"));
    assert_null(strstr(text, "BW GB/s"));
    assert_null(strstr(text, "% peak BW"));
    assert_null(strstr(text, "Bound By"));
    assert_null(strstr(text, "Rates of few calls may be wrong"));
    tkt_free(text);
    trace->facts.unfinished = 1;
    text = report_of(trace, "ops", NULL);
    assert_non_null(strstr(text, "Rates of few calls may be wrong"));
    tkt_free(text);
    takt_trace_release(trace);
    trace = build_begin(2000000);
    build_end(trace);
    text = report_of(trace, "ops", NULL);
    assert_ptr_equal(strstr(text, "No operations\n"), text);
    tkt_free(text);
    json_t *json = report_json(trace, "ops", NULL);
    assert_int_equal(json_array_size(json_object_get(json, "notes")), 0);
    json_decref(json);
    takt_trace_release(trace);
}

TEST_MAIN(NULL, NULL)
