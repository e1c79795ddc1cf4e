/* Advice about devices and the waiting for them: spoken where the numbers say so, and not before.
 */
#include "support/trace_build.h"
#include "test_advice.h"
#include "support/test.h"

static void add_work(takt_trace *trace, const char *device, uint64_t begin_ns, uint64_t end_ns)
{
    build_activity(trace, device, "kernel a", TAKT_TIMING_KERNEL, begin_ns, end_ns, TKT_NO_TRACK,
                   TKT_NO_SPAN);
}

/* Of 1 ms cuda:0 works for 0.7 ms, twice at a time, cuda:1 for 0.79 ms. */
TEST(the_idlest_device_is_told)
{
    takt_trace *trace = build_even(1000000);
    add_work(trace, "cuda:0", 1000000, 1700000);
    add_work(trace, "cuda:0", 1000000, 1700000);
    add_work(trace, "cuda:1", 1210000, 2500000); /* on after the recording's end */
    advised a = advise(trace);
    const tkt_advice *advice = find(&a, TKT_ADVICE_IDLE);
    assert_non_null(advice);
    assert_string_equal(advice->device, "cuda:0");
    assert_int_equal(advice->time_ns, 300000);
    assert_near(advice->share, 0.3, 1e-12);
    assert_said(trace, a.count,
                "cuda:0 was idle for 30.00% of the wall time, 300.000us. See takt report --gaps.");
    takt_trace_release(trace);
}

TEST(busy_devices_are_not_told)
{
    takt_trace *trace = build_even(1000000);
    add_work(trace, "cuda:0", 1000000, 1800001);
    assert_int_equal(advise(trace).count, 0);
    takt_trace_release(trace);

    trace = build_even(1000000);
    add_work(trace, "cuda:0", 1000000, 1800000);
    assert_int_equal(advise(trace).count, 1); /* a fifth is told */
    takt_trace_release(trace);
}

/* The first of equal ones. */
TEST(one_idle_device_is_told)
{
    takt_trace *trace = build_even(1000000);
    add_work(trace, "cuda:1", 1000000, 1700000);
    add_work(trace, "cuda:0", 1000000, 1700000);
    advised a = advise(trace);
    assert_int_equal(a.count, 1);
    assert_string_equal(a.items[0].device, "cuda:1");
    takt_trace_release(trace);
}

static void add_copy(takt_trace *trace, takt_memory_kind source, takt_memory_kind target,
                     uint64_t bytes, uint64_t ns)
{
    tkt_shape shape = {.bytes = bytes, .source = (uint8_t)source, .target = (uint8_t)target};
    uint32_t number = build_shape(trace, &shape);
    build_activity(trace, "cuda:0", "memcpy", TAKT_TIMING_MEMCPY, 1000000, 1000000 + ns,
                   TKT_NO_TRACK, TKT_NO_SPAN);
    trace->activities.items[trace->activities.count - 1].shape = number;
}

TEST(pageable_copies_are_told)
{
    takt_trace *trace = build_even(1000000);
    add_work(trace, "cuda:0", 1000000, 2000000);
    add_copy(trace, TAKT_MEMORY_PAGEABLE, TAKT_MEMORY_DEVICE, 3000000, 40000);
    add_copy(trace, TAKT_MEMORY_DEVICE, TAKT_MEMORY_PAGEABLE, 4000000, 60000);
    add_copy(trace, TAKT_MEMORY_PINNED, TAKT_MEMORY_DEVICE, 50000000, 900000);
    advised a = advise(trace);
    const tkt_advice *advice = find(&a, TKT_ADVICE_PAGEABLE);
    assert_non_null(advice);
    assert_int_equal(a.count, 1);
    assert_int_equal(advice->count, 2);
    assert_int_equal(advice->other, 7000000);
    assert_int_equal(advice->time_ns, 100000);
    assert_int_equal(advice->at_stake_ns, 100000);
    assert_near(advice->share, 0.05, 1e-12);
    assert_said(
        trace, a.count,
        "2 copies from or to pageable memory, 6.68 MiB, took 100.000us, 5.00% of the CUDA "
        "time: pinned memory is faster and lets the host continue. See takt report --memory.");
    takt_trace_release(trace);

    trace = build_even(1000000);
    add_work(trace, "cuda:0", 1000000, 1950000);
    add_copy(trace, TAKT_MEMORY_PAGEABLE, TAKT_MEMORY_DEVICE, 1 << 20, 50000); /* 5 of 100 */
    a = advise(trace);
    assert_int_equal(a.count, 1);
    assert_said(
        trace, a.count,
        "1 copy from or to pageable memory, 1.00 MiB, took 50.000us, 5.00% of the CUDA "
        "time: pinned memory is faster and lets the host continue. See takt report --memory.");
    takt_trace_release(trace);

    trace = build_even(1000000);
    add_work(trace, "cuda:0", 1000000, 2000000);
    add_copy(trace, TAKT_MEMORY_PAGEABLE, TAKT_MEMORY_DEVICE, 3000000, 50000); /* 5 of 105 */
    assert_int_equal(advise(trace).count, 0);
    takt_trace_release(trace);

    trace = build_even(1000000);
    add_work(trace, "cuda:0", 1000000, 2000000);
    add_copy(trace, TAKT_MEMORY_PAGEABLE, TAKT_MEMORY_DEVICE, 1000000, 100000); /* below 1 MiB */
    assert_int_equal(advise(trace).count, 0);
    takt_trace_release(trace);
}

/* 1 ms in `step`, of which waiting_ns are spent in cudaDeviceSynchronize. */
static takt_trace *build_waiting(uint64_t waiting_ns)
{
    takt_trace *trace = build_begin(2000000);
    uint32_t track = build_track(trace, "main");
    uint32_t step =
        build_span(trace, track, build_site(trace, "step"), TKT_NO_SPAN, 1000000, 2000000);
    build_call(trace, track, "cudaLaunchKernel", step, 1000000, 1010000);
    build_call(trace, track, "cudaDeviceSynchronize", step, 1020000, 1020000 + waiting_ns);
    return trace;
}

/* A host that waits is no problem of its own: its device is busy, or idle for a reason. */
TEST(waiting_for_devices_is_no_work)
{
    takt_trace *trace = build_waiting(700000);
    assert_int_equal(advise(trace).count, 0);
    json_t *json = report_json(trace, "summary", NULL);
    assert_text(json, "headline",
                "The bottleneck is step: 30.00% of the self CPU time, 300.000us in 1 call.");
    json_decref(json);
    takt_trace_release(trace);
}

/* Two kernels of one thread; between them it is in `neighbours` until late_ns. */
static takt_trace *build_late(uint64_t late_ns)
{
    takt_trace *trace = build_begin(2000000);
    uint32_t track = build_track(trace, "main");
    uint32_t forces = build_site(trace, "forces");
    uint32_t neighbours = build_site(trace, "neighbours");
    uint32_t scope = build_span(trace, track, forces, TKT_NO_SPAN, 1000000, 1200000);
    uint32_t first = build_call(trace, track, "cudaLaunchKernel", scope, 1000000, 1010000);
    build_span(trace, track, neighbours, TKT_NO_SPAN, 1200000, late_ns);
    scope = build_span(trace, track, forces, TKT_NO_SPAN, late_ns, 2000000);
    uint32_t second = build_call(trace, track, "cudaLaunchKernel", scope, late_ns, late_ns + 10000);
    build_launched(trace, first, "cuda:0", "kernel a", TAKT_TIMING_KERNEL, 1010000, 1200000);
    build_launched(trace, second, "cuda:0", "kernel a", TAKT_TIMING_KERNEL, late_ns + 14000,
                   2000000);
    return trace;
}

/* Idle: 10 us before the first kernel, then 514 us until the second begins, 500 of them in
 * `neighbours`. It is one interval and told once, with the place of the gap. */
TEST(an_idle_device_and_what_the_host_did_are_told)
{
    takt_trace *trace = build_late(1700000);
    advised a = advise(trace);
    const tkt_advice *advice = find(&a, TKT_ADVICE_IDLE);
    assert_int_equal(a.count, 1);
    assert_non_null(advice);
    assert_string_equal(advice->device, "cuda:0");
    assert_string_equal(advice->name, "neighbours");
    assert_int_equal(advice->time_ns, 524000);
    assert_int_equal(advice->other, 500000);
    assert_int_equal(advice->begin_ns, 1200000);
    assert_int_equal(advice->end_ns, 1714000);
    assert_near(advice->share, 0.524, 1e-12);
    assert_said(
        trace, a.count,
        "cuda:0 was idle for 52.40% of the wall time, 524.000us; for 500.000us of it the host "
        "was in neighbours: launch kernels before that work, or move it to the device. See "
        "takt report --gaps.");
    takt_trace_release(trace);
}

/* The time outside of scopes is the time in which the device is idle: one piece of advice. */
TEST(idle_time_outside_of_scopes_is_told_once)
{
    takt_trace *trace = build_late(1700000);
    trace->tracks.items[0].spans.items[2].end_ns = 1200001;
    advised a = advise(trace);
    assert_int_equal(a.count, 1);
    assert_int_equal(a.items[0].kind, TKT_ADVICE_IDLE);
    assert_null(a.items[0].name);
    assert_said(
        trace, a.count,
        "cuda:0 was idle for 52.40% of the wall time, 524.000us; for 499.999us of it the host "
        "was outside of scopes: add scopes to see why. See takt report --gaps.");
    takt_trace_release(trace);
}

TEST(launches_hardly_late_are_not_told)
{
    takt_trace *trace = build_late(1230000); /* 44 us of 1 ms */
    advised a = advise(trace);
    assert_int_equal(a.count, 0);
    takt_trace_release(trace);
}

static advised advise_of_occupancy(takt_trace *trace, uint16_t occupancy)
{
    tkt_shape shape = {.filter = TAKT_TIMING_KERNEL,
                       .grid = {1, 1, 1},
                       .block = {32, 1, 1},
                       .occupancy = occupancy,
                       .limiter = TAKT_LIMIT_REGISTERS};
    uint32_t number = build_shape(trace, &shape);
    add_work(trace, "cuda:0", 1000000, 2000000);
    trace->activities.items[0].shape = number;
    return advise(trace);
}

TEST(low_occupancy_is_told)
{
    takt_trace *trace = build_even(1000000);
    advised a = advise_of_occupancy(trace, 1250);
    assert_int_equal(a.count, 1);
    assert_int_equal(a.items[0].kind, TKT_ADVICE_OCCUPANCY);
    assert_string_equal(a.items[0].name, "kernel a");
    assert_int_equal(a.items[0].time_ns, 1000000);
    assert_near(a.items[0].share, 1, 1e-12);
    assert_near(a.items[0].occupancy, 0.125, 1e-12);
    assert_said(
        trace, a.count,
        "kernel a, 100.00% of the time of kernels, keeps 12.50% of a multiprocessor's warps "
        "busy at most. See takt report --kernels.");
    takt_trace_release(trace);

    trace = build_even(1000000);
    assert_int_equal(advise_of_occupancy(trace, 2500).count, 0);
    takt_trace_release(trace);

    trace = build_even(1000000);
    assert_int_equal(advise_of_occupancy(trace, 0).count, 0); /* not known */
    takt_trace_release(trace);
}

/* cuda:0 has more work in all, but gamma on cuda:1 takes longest. */
TEST(the_headline_names_a_kernel_of_its_device)
{
    takt_trace *trace = build_even(1000000);
    static const struct {
        const char *device, *name;
        uint64_t begin_ns, end_ns;
    } works[] = {{"cuda:0", "kernel alpha", 1000000, 1300000},
                 {"cuda:0", "kernel beta", 1300000, 1700000},
                 {"cuda:0", "kernel alpha", 1700000, 1950000},
                 {"cuda:1", "kernel gamma", 1000000, 1900000}};
    for (size_t i = 0; i < sizeof works / sizeof *works; i++)
        build_activity(trace, works[i].device, works[i].name, TAKT_TIMING_KERNEL, works[i].begin_ns,
                       works[i].end_ns, TKT_NO_TRACK, TKT_NO_SPAN);
    build_end(trace);
    assert_headline(trace, "The bottleneck is cuda:0, busy for 95.00% of the wall time: kernel "
                           "alpha takes 57.89%.");
    takt_trace_release(trace);
}

TEST(what_has_most_at_stake_comes_first)
{
    takt_trace *trace = build_late(1700000);
    trace->losses[TAKT_LOSS_CLOCK] = 1;
    trace->facts.cost_ns = 510000;
    advised a = advise(trace);
    static const tkt_advice_kind order[] = {TKT_ADVICE_IDLE, TKT_ADVICE_COST, TKT_ADVICE_LOST};
    assert_int_equal(a.count, sizeof order / sizeof *order);
    for (size_t i = 0; i < a.count; i++)
        assert_int_equal(a.items[i].kind, order[i]);
    takt_trace_release(trace);
}

/* Two launches: block 1 takes 300 and 500 ns, the other one 100. */
TEST(uneven_phases_of_kernels_are_told)
{
    takt_trace *trace = build_even(1000000);
    for (uint32_t i = 0; i < 4; i++) {
        make_segment(trace, "solver", 1000000 + i, i % 2)->correlation = 1 + i / 2;
        make_phase(trace, "search", 0, i == 1 ? 600 : i == 3 ? 1000 : 200, 0);
        make_phase(trace, "step", 2000, 2000, 0);
    }
    advised a = advise(trace);
    const tkt_advice *advice = find(&a, TKT_ADVICE_IMBALANCE);
    assert_non_null(advice);
    assert_int_equal(advice->time_ns, 800);
    assert_int_equal(advice->other, 500);
    assert_int_equal(advice->at_stake_ns, 300);
    assert_near(advice->share, 2000.0 / 16000, 1e-12);
    assert_said(trace, a.count,
                "search, 12.50% of the blocks' time in solver, took 0.800us in the slowest block, "
                "1.6 times the mean: balance its work. See takt report --phases.");
    trace->phase_records.items[6].cycles = 400; /* (600 + 400) / (400 + 300): below 1.5 */
    assert_int_equal(advise(trace).count, 0);
    takt_trace_release(trace);
}

TEST_MAIN(NULL, NULL)
