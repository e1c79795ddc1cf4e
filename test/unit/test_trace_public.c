/* What takt/trace.h tells of host activities, steps, memory and peaks. */
#include "support/test.h"
#include "support/trace_build.h"

#include <takt/trace.h>

TEST(a_host_activity_names_its_device_and_kind)
{
    takt_trace *trace = make_trace();
    uint32_t track = make_thread(trace, "main", 7);
    tkt_trace_site loop = {.name = text(trace, "loop"),
                           .device = text(trace, "cpu"),
                           .filter = TAKT_TIMING_BUILTIN,
                           .kind = TAKT_SITE_ACTIVITY};
    make_span(trace, track, make_site(trace, "step", TAKT_SITE_SCOPE), TKT_NO_SPAN, BEGIN_NS,
              END_NS);
    make_span(trace, track, tkt_trace_site_index(trace, &loop), 0, BEGIN_NS, BEGIN_NS + 5);
    assert_int_equal(tkt_trace_finish(trace), TAKT_OK);
    takt_span_info span;
    assert_int_equal(takt_trace_span(trace, track, 0, &span), TAKT_OK);
    assert_string_equal(span.device, "");
    assert_int_equal(span.filter, 0);
    assert_int_equal(takt_trace_span(trace, track, 1, &span), TAKT_OK);
    assert_string_equal(span.device, "cpu");
    assert_int_equal(span.filter, TAKT_TIMING_BUILTIN);
    takt_trace_release(trace);
}

TEST(an_argument_has_the_value_of_its_kind)
{
    takt_trace *trace = make_trace();
    uint32_t track = make_thread(trace, "main", 7);
    uint32_t site = make_site(trace, "solve", TAKT_SITE_SCOPE);
    uint32_t span = make_span(trace, track, site, TKT_NO_SPAN, BEGIN_NS, END_NS);
    make_arg(trace, track, span, "shift", TKT_ARG_INT, (uint64_t)-5);
    make_arg(trace, track, span, "cells", TKT_ARG_UINT, UINT64_MAX);
    make_arg(trace, track, span, "error", TKT_ARG_DOUBLE, bits_of(0.25));
    make_arg(trace, track, span, "is dense", TKT_ARG_BOOL, true);
    make_arg(trace, track, span, "method", TKT_ARG_STRING, text(trace, "leapfrog"));
    assert_int_equal(tkt_trace_finish(trace), TAKT_OK);
    takt_arg_info arg[5];
    assert_int_equal(takt_trace_arg_count(trace, track, span), 5);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(takt_trace_arg(trace, track, span, i, &arg[i]), TAKT_OK);
    assert_true(arg[0].kind == TAKT_ARG_INT && arg[0].i == -5);
    assert_true(arg[1].kind == TAKT_ARG_UINT && arg[1].u == UINT64_MAX);
    assert_true(arg[2].kind == TAKT_ARG_DOUBLE && arg[2].d == 0.25);
    assert_true(arg[3].kind == TAKT_ARG_BOOL && arg[3].i == 1);
    assert_true(arg[4].kind == TAKT_ARG_TEXT && strcmp(arg[4].text, "leapfrog") == 0);
    assert_string_equal(arg[2].key, "error");
    assert_int_equal(takt_trace_arg(trace, track, span, 5, &arg[0]), TAKT_BAD_ARGUMENT);
    assert_int_equal(takt_trace_arg_count(trace, track, span + 1), 0);
    assert_int_equal(takt_trace_arg_count(trace, track + 1, span), 0);
    takt_trace_release(trace);
}

TEST(an_allocation_stands_in_a_span_of_a_track)
{
    takt_trace *trace = make_trace();
    uint32_t track = make_thread(trace, "main", 7);
    uint32_t site = make_site(trace, "grow", TAKT_SITE_SCOPE);
    make_span(trace, track, site, TKT_NO_SPAN, BEGIN_NS, END_NS);
    make_span(trace, track, site, 0, BEGIN_NS, END_NS);
    ADD(&trace->memory_events, (tkt_memory_event){BEGIN_NS + 1, 64, 100, track, 1, 0, 0});
    ADD(&trace->memory_events,
        (tkt_memory_event){BEGIN_NS + 2, 64, -100, track, TKT_NO_SPAN, 0, 0});
    ADD(&trace->memory_events,
        (tkt_memory_event){BEGIN_NS + 3, 64, 100, TKT_NO_TRACK, TKT_NO_SPAN, 0, 0});
    assert_int_equal(tkt_trace_finish(trace), TAKT_OK);
    takt_memory_info memory;
    assert_int_equal(takt_trace_memory(trace, 0, &memory), TAKT_OK);
    assert_int_equal(memory.track, track);
    assert_int_equal(memory.span, 1);
    assert_int_equal(takt_trace_memory(trace, 1, &memory), TAKT_OK);
    assert_int_equal(memory.track, track);
    assert_int_equal(memory.span, SIZE_MAX);
    assert_int_equal(takt_trace_memory(trace, 2, &memory), TAKT_OK);
    assert_int_equal(memory.track, SIZE_MAX);
    takt_trace_release(trace);
}

TEST(all_steps_are_told_and_none_are_zeros)
{
    takt_trace *trace = make_trace();
    takt_all_steps steps;
    takt_trace_all_steps(trace, &steps);
    assert_int_equal(steps.count, 0);
    assert_int_equal(steps.min_ns, 0);
    tkt_stats_init(&trace->all_steps.stats);
    for (uint64_t ns = 1; ns <= 15; ns++) { /* so short that quantiles are exact */
        tkt_stats_add(&trace->all_steps.stats, ns);
        tkt_histogram_add(&trace->all_steps.histogram, 1, ns);
    }
    trace->all_steps.simulated_seconds = 0.25;
    takt_trace_all_steps(trace, &steps);
    assert_int_equal(steps.count, 15);
    assert_int_equal(steps.total_ns, 120);
    assert_int_equal(steps.min_ns, 1);
    assert_int_equal(steps.median_ns, 8);
    assert_int_equal(steps.p99_ns, 15);
    assert_int_equal(steps.max_ns, 15);
    assert_true(steps.simulated_seconds == 0.25);
    takt_trace_release(trace);
}

TEST(memory_is_that_of_the_host_and_then_of_devices)
{
    takt_trace *trace = make_trace();
    trace->memory = (tkt_memory_totals){1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 1};
    ADD(&trace->device_memory, (tkt_device_memory){.device = text(trace, "cuda:1"),
                                                   .totals = {.current_bytes = 12},
                                                   .free_bytes = 13,
                                                   .capacity_bytes = 14,
                                                   .pool_bytes = 15,
                                                   .pool_used_bytes = 16});
    takt_memory_totals totals;
    assert_int_equal(takt_trace_memory_totals(trace, 0, &totals), TAKT_OK);
    assert_string_equal(totals.device, "");
    assert_int_equal(totals.recording.begin_bytes, 1);
    assert_int_equal(totals.recording.peak_bytes, 2);
    assert_int_equal(totals.recording.peak_ns, 3);
    assert_int_equal(totals.recording.allocations, 4);
    assert_int_equal(totals.recording.frees, 5);
    assert_int_equal(totals.recording.unmatched_frees, 0);
    assert_int_equal(totals.current_bytes, 6);
    assert_int_equal(totals.since_start.begin_bytes, 0);
    assert_int_equal(totals.since_start.peak_bytes, 7);
    assert_int_equal(totals.since_start.peak_ns, 8);
    assert_int_equal(totals.since_start.allocations, 9);
    assert_int_equal(totals.since_start.frees, 10);
    assert_int_equal(totals.since_start.unmatched_frees, 11);
    assert_true(totals.is_of_recording);
    assert_int_equal(totals.capacity_bytes, 0);
    assert_int_equal(takt_trace_memory_totals(trace, 1, &totals), TAKT_OK);
    assert_string_equal(totals.device, "cuda:1");
    assert_int_equal(totals.current_bytes, 12);
    assert_int_equal(totals.free_bytes, 13);
    assert_int_equal(totals.capacity_bytes, 14);
    assert_int_equal(totals.pool_bytes, 15);
    assert_int_equal(totals.pool_used_bytes, 16);
    assert_int_equal(takt_trace_memory_totals(trace, 2, &totals), TAKT_BAD_ARGUMENT);
    takt_trace_release(trace);
}

/* 10 multiprocessors of compute capability 9.0 with 128 lanes each at 1 GHz, and 64 bits at 2 GHz.
 */
TEST(a_peak_is_what_was_said_or_what_attributes_tell)
{
    takt_trace *trace = make_trace();
    ADD(&trace->devices, (tkt_device){.label = text(trace, "cuda:0"),
                                      .major = 9,
                                      .multiprocessors = 10,
                                      .clock_khz = 1000000,
                                      .memory_clock_khz = 2000000,
                                      .memory_bus_bits = 64});
    takt_peak peak = takt_trace_peak(trace, "cuda:0");
    assert_true(peak.flops == 2.56e12);
    assert_true(peak.bandwidth == 3.2e10);
    peak = takt_trace_peak(trace, "cuda:1");
    assert_true(peak.flops == 0 && peak.bandwidth == 0);
    trace->device_peak.flops = 5e12;
    trace->host_peak = (takt_peak){3e9, 4e9};
    peak = takt_trace_peak(trace, "cuda:0");
    assert_true(peak.flops == 5e12);
    assert_true(peak.bandwidth == 3.2e10);
    peak = takt_trace_peak(trace, "cuda:1");
    assert_true(peak.flops == 5e12);
    peak = takt_trace_peak(trace, "cpu");
    assert_true(peak.flops == 3e9 && peak.bandwidth == 4e9);
    takt_trace_release(trace);
}

TEST_MAIN(NULL, NULL)
