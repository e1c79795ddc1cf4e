/* A random recording of a program that uses CUDA: four threads with nested scopes, host activities
 * and calls, of which each launches none to three activities on two devices and several streams,
 * so that they overlap; activities of unknown launch; memory on the host and on the devices. */
#ifndef TEST_REPORT_LAUNCHES_H
#define TEST_REPORT_LAUNCHES_H

#include "test_report_build.h"

#define LAUNCHES_BEGIN UINT64_C(1000000)
#define LAUNCHES_END   UINT64_C(1060000)
#define LAUNCHES_LAST  (LAUNCHES_END + 20000) /* activities may run on after the recording */

UNUSED static void launch_some(takt_trace *trace, uint32_t call, uint64_t at_ns, uint64_t *random)
{
    static const char *const devices[] = {"cuda:0", "cuda:1"};
    static const char *const names[] = {"kernel push", "kernel pull", "memcpy HtoD", "memset"};
    static const uint32_t filters[] = {TAKT_TIMING_KERNEL, TAKT_TIMING_KERNEL, TAKT_TIMING_MEMCPY,
                                       TAKT_TIMING_MEMSET};
    for (uint32_t count = build_random(random) % 4; count > 0; count--) {
        uint32_t kind = build_random(random) % 4;
        uint64_t begin_ns = at_ns + build_random(random) % 3000;
        tkt_activity *activity =
            build_launched(trace, call, devices[build_random(random) % 2], names[kind],
                           filters[kind], begin_ns, begin_ns + build_random(random) % 900);
        activity->stream = 7 + build_random(random) % 3;
    }
}

UNUSED static void fill_with_launches(takt_trace *trace, uint32_t track, const uint32_t *sites,
                                      uint32_t parent, uint64_t begin_ns, uint64_t end_ns,
                                      uint64_t *random)
{
    static const char *const calls[] = {"cudaLaunchKernel", "cudaMemcpyAsync"};
    while (end_ns - begin_ns > 20) {
        uint64_t from = begin_ns + build_random(random) % 5;
        uint64_t to = from + 1 + build_random(random) % (end_ns - from);
        if (build_random(random) % 3 == 0) {
            to = from + (to - from) / 9;
            uint32_t call =
                build_call(trace, track, calls[build_random(random) % 2], parent, from, to);
            launch_some(trace, call, from, random);
        } else {
            uint32_t site = sites[build_random(random) % 4];
            uint32_t span = build_span(trace, track, site, parent, from, to);
            fill_with_launches(trace, track, sites, span, from, to, random);
        }
        if (build_random(random) % 4 == 0)
            build_memory_event(trace, build_random(random) % 2 ? "cuda:0" : NULL, from,
                               (int64_t)(build_random(random) % 2000) - 900, track, parent);
        begin_ns = to;
    }
}

UNUSED static takt_trace *build_launches_until(uint64_t seed, uint64_t end_ns)
{
    takt_trace *trace = build_begin(end_ns);
    bool is_far = seed % 2; /* then all others begin at nearly the same time, seen from there */
    trace->backend = build_string(trace, "CUPTI 13.0 (130001)");
    uint32_t sites[4] = {build_site(trace, "step"), build_site(trace, "forces"),
                         build_site_of(trace, "neighbours", TAKT_SITE_PHASE, NULL),
                         build_site_of(trace, "density", TAKT_SITE_ACTIVITY, "cpu")};
    for (int i = 0; i < 4; i++) {
        uint32_t track = build_track(trace, i ? "worker" : "main");
        fill_with_launches(trace, track, sites, TKT_NO_SPAN, LAUNCHES_BEGIN, end_ns, &seed);
    }
    for (uint64_t i = 0; i < 5; i++) {
        uint64_t at_ns = LAUNCHES_BEGIN + i * (is_far ? UINT64_C(1000000000000) : 100);
        build_activity(trace, "cuda:1", "kernel lost", TAKT_TIMING_KERNEL, at_ns, at_ns + 150,
                       TKT_NO_TRACK, TKT_NO_SPAN);
    }
    for (uint64_t i = 0; i < 3; i++)
        build_step(trace, i, LAUNCHES_BEGIN + i * 20000, LAUNCHES_BEGIN + (i + 1) * 20000);
    build_end(trace);
    return trace;
}

UNUSED static takt_trace *build_launches(uint64_t seed)
{
    return build_launches_until(seed, LAUNCHES_END);
}

#endif
