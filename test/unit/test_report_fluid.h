/* The recording that the golden files show: three steps of a fluid on two threads, with recursion,
 * phases, activities, arguments, declared work, memory, losses, spans cut off at both ends and
 * names that nobody should have chosen. */
#ifndef TEST_REPORT_FLUID_H
#define TEST_REPORT_FLUID_H

#include "test_report_build.h"

#define FLUID_TEMPLATE                                                                             \
    "void tree::build<float, 3>(Node *, std::vector<Particle, Aligned<64>> const &, unsigned)"
#define FLUID_HOSTILE "dump \"a,b\" | \x1B[31mred\x1B[0m\r\n\xFF end"

typedef struct fluid_sites {
    uint32_t step;
    uint32_t neighbours;
    uint32_t forces;
    uint32_t density;
    uint32_t pressure;
    uint32_t tree;
    uint32_t dump;
    uint32_t wait;
} fluid_sites;

UNUSED static void fluid_add_step(takt_trace *trace, const fluid_sites *s, uint64_t number,
                                  uint64_t begin_ns, uint64_t size)
{
    uint32_t step = build_span(trace, 0, s->step, TKT_NO_SPAN, begin_ns, begin_ns + size);
    uint64_t half = begin_ns + size / 2;
    uint32_t near = build_span(trace, 0, s->neighbours, step, begin_ns + 200, half);
    uint32_t first = build_span(trace, 0, s->tree, near, begin_ns + 400, half - 500);
    uint32_t second = build_span(trace, 0, s->tree, first, begin_ns + 900, half - 9000);
    build_span(trace, 0, s->tree, second, begin_ns + 1500, half - 30000);
    uint32_t forces = build_span(trace, 0, s->forces, step, half, begin_ns + size - 700);
    for (uint64_t i = 0; i < 3; i++) {
        uint64_t at = half + 1000 + i * size / 8;
        uint32_t span = build_span(trace, 0, i < 2 ? s->density : s->pressure, forces, at,
                                   at + size / 9 + 37 * i);
        build_int_arg(trace, 0, span, "particles", (int64_t)(4000 + 96 * (number % 2)));
        tkt_work *work = TKT_ARRAY_ADD(&trace->tracks.items[0].works);
        *work = (tkt_work){span, 1e6 * (double)(i + 1), 64e3};
    }
    build_step(trace, number, begin_ns, begin_ns + size);
}

UNUSED static void fluid_add_memory(takt_trace *trace)
{
    static const struct {
        uint64_t time_ns;
        int64_t bytes;
        uint32_t span;
    } events[] = {{1100000, 4 << 20, 0}, {1200000, 1000, 2},       {1300000, -(4 << 20), 0},
                  {4100000, 4 << 20, 0}, {4200000, 96 << 10, 5},   {4300000, 48, TKT_NO_SPAN},
                  {7100000, 4 << 20, 0}, {7200000, -(96 << 10), 5}};
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        tkt_memory_event *event = TKT_ARRAY_ADD(&trace->memory_events);
        *event = (tkt_memory_event){
            events[i].time_ns, 64 * i, events[i].bytes, 0, events[i].span, 0, 0};
    }
    trace->memory = (tkt_memory_totals){.window_begin_bytes = 20 << 20,
                                        .window_peak_bytes = (28 << 20) + 1000,
                                        .window_peak_ns = 7100000,
                                        .window_allocations = 6,
                                        .window_frees = 2,
                                        .current_bytes = (28 << 20) + 1048,
                                        .peak_bytes = 64 << 20,
                                        .peak_ns = 400000,
                                        .allocations = 1234,
                                        .frees = 1200,
                                        .unmatched_frees = 1};
}

UNUSED static void fluid_add_worker(takt_trace *trace, const fluid_sites *s)
{
    uint32_t track = build_track(trace, "worker");
    build_span(trace, track, s->wait, TKT_NO_SPAN, 1000000, 2500000);
    uint32_t dump = build_span(trace, track, s->dump, TKT_NO_SPAN, 3000000, 11000000);
    uint32_t density = build_span(trace, track, s->density, dump, 3000100, 3700100);
    build_span(trace, track, s->wait, TKT_NO_SPAN, 11000000, 13000000);
    tkt_span *spans = trace->tracks.items[track].spans.items;
    spans[0].site_flags |= TAKT_SPAN_BEGUN_BEFORE;
    spans[density + 1].site_flags |= TAKT_SPAN_UNFINISHED;
}

UNUSED static takt_trace *build_fluid(void)
{
    takt_trace *trace = build_begin(13000000);
    build_track(trace, "main");
    fluid_sites s = {
        .step = build_site(trace, "step"),
        .neighbours = build_site_of(trace, "neighbours", TAKT_SITE_PHASE, NULL),
        .forces = build_site_of(trace, "forces", TAKT_SITE_PHASE, NULL),
        .density = build_site_of(trace, "density", TAKT_SITE_ACTIVITY, "cpu"),
        .pressure = build_site_of(trace, "pressure", TAKT_SITE_ACTIVITY, "cpu"),
        .tree = build_site(trace, FLUID_TEMPLATE),
        .dump = build_site(trace, FLUID_HOSTILE),
        .wait = build_site(trace, "wait"),
    };
    for (uint64_t i = 0; i < 3; i++)
        fluid_add_step(trace, &s, 80 + i, 1000000 + i * 3000000, 2900000 + i * 12345);
    for (uint64_t i = 0; i < 100; i++)
        build_all_step(trace, 2900000 + i * i * 1000);
    trace->all_steps.simulated_seconds = 0.0005;
    fluid_add_worker(trace, &s);
    fluid_add_memory(trace);
    trace->losses[TAKT_LOSS_BUFFER_FULL] = 12;
    trace->losses[TAKT_LOSS_MISMATCH] = 3;
    trace->facts.is_partial = true;
    trace->facts.cycle = 2;
    build_end(trace);
    return trace;
}

#endif
