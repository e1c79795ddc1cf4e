/* The largest allocations, against a sort of all of them. */
#include "support/test.h"
#include "support/report_traces.h"

#include "summary/memory.h"

#define EVENTS 3000

static void add_event(takt_trace *trace, uint64_t time_ns, int64_t bytes, uint32_t track,
                      uint32_t span)
{
    tkt_memory_event *event = TKT_ARRAY_ADD(&trace->memory_events);
    assert_non_null(event);
    *event = (tkt_memory_event){time_ns, 64, bytes, track, span, 0, 0};
}

/* Events of few sizes in three scopes and in none, so that many are equal. */
static takt_trace *build_allocations(uint64_t seed)
{
    takt_trace *trace = build_begin(9000000);
    uint32_t track = build_track(trace, "main");
    for (uint32_t i = 0; i < 3; i++) {
        const char *names[] = {"grid", "particles", "io"};
        build_span(trace, track, build_site(trace, names[i]), TKT_NO_SPAN, 1000000 + i * 10,
                   1000005 + i * 10);
    }
    for (uint64_t i = 0; i < EVENTS; i++) {
        uint32_t span = build_random(&seed) % 4;
        int64_t bytes = (int64_t)(build_random(&seed) % 40) * 1000;
        if (build_random(&seed) % 3 == 0)
            bytes = -bytes;
        add_event(trace, 2000000 + i, bytes, span == 3 ? TKT_NO_TRACK : track,
                  span == 3 ? TKT_NO_SPAN : span);
    }
    build_end(trace);
    return trace;
}

static uint32_t site_of(const takt_trace *trace, const tkt_memory_event *event)
{
    if (event->span == TKT_NO_SPAN)
        return 0;
    return tkt_span_site(&trace->tracks.items[0].spans.items[event->span]);
}

/* How many allocations there are of that size in that scope, and when the first was. */
static uint64_t count_like(const takt_trace *trace, const tkt_memory_jump *jump, uint64_t *first_ns)
{
    uint64_t count = 0;
    for (size_t i = 0; i < trace->memory_events.count; i++) {
        const tkt_memory_event *event = &trace->memory_events.items[i];
        if (event->bytes != (int64_t)jump->bytes || site_of(trace, event) != jump->site)
            continue;
        if (count++ == 0)
            *first_ns = event->time_ns;
    }
    return count;
}

/* How many pairs of size and scope are larger than this size. */
static size_t larger_than(const takt_trace *trace, uint64_t bytes)
{
    bool seen[64][8] = {{false}};
    size_t count = 0;
    for (size_t i = 0; i < trace->memory_events.count; i++) {
        const tkt_memory_event *event = &trace->memory_events.items[i];
        if (event->bytes <= (int64_t)bytes)
            continue;
        bool *known = &seen[event->bytes / 1000][site_of(trace, event)];
        count += !*known;
        *known = true;
    }
    return count;
}

TEST(jumps_are_the_largest_and_counted_in_full)
{
    for (uint64_t seed = 0; seed < 10; seed++) {
        takt_trace *trace = build_allocations(seed);
        tkt_memory_jumps jumps;
        assert_int_equal(tkt_memory_jumps_of(trace, 10, &jumps), TAKT_OK);
        assert_int_equal(jumps.count, 10);
        for (size_t i = 0; i < jumps.count; i++) {
            uint64_t first_ns = 0;
            assert_int_equal(count_like(trace, &jumps.items[i], &first_ns), jumps.items[i].count);
            assert_int_equal(first_ns, jumps.items[i].first_ns);
            assert_true(larger_than(trace, jumps.items[i].bytes) <= i);
            assert_true(i == 0 || jumps.items[i].bytes <= jumps.items[i - 1].bytes);
        }
        TKT_ARRAY_FREE(&jumps);
        takt_trace_release(trace);
    }
}

TEST(jumps_name_their_scope_and_thread)
{
    takt_trace *trace = build_begin(9000000);
    uint32_t track = build_track(trace, "solver 3");
    build_span(trace, track, build_site(trace, "grid"), TKT_NO_SPAN, 1000000, 1000005);
    add_event(trace, 1000002, 4096, track, 0);
    add_event(trace, 1000003, 8192, TKT_NO_TRACK, TKT_NO_SPAN);
    add_event(trace, 1000004, -8192, track, 0);
    build_end(trace);
    tkt_memory_jumps jumps;
    assert_int_equal(tkt_memory_jumps_of(trace, 10, &jumps), TAKT_OK);
    assert_int_equal(jumps.count, 2);
    assert_int_equal(jumps.items[0].bytes, 8192);
    assert_string_equal(jumps.items[0].scope, "");
    assert_string_equal(jumps.items[0].thread, "");
    assert_string_equal(jumps.items[1].scope, "grid");
    assert_string_equal(jumps.items[1].thread, "solver 3");
    TKT_ARRAY_FREE(&jumps);
    takt_trace_release(trace);
}

/* cudaMalloc may allocate on the host, too. */
TEST(what_a_call_allocates_is_its_scopes)
{
    takt_trace *trace = build_begin(9000000);
    uint32_t track = build_track(trace, "main");
    uint32_t grid =
        build_span(trace, track, build_site(trace, "grid"), TKT_NO_SPAN, 1000000, 1000900);
    build_call(trace, track, "cudaMalloc", grid, 1000100, 1000200);
    build_call(trace, track, "cudaMalloc", TKT_NO_SPAN, 1001000, 1001100);
    add_event(trace, 1000150, 4096, track, grid + 1);
    add_event(trace, 1001050, 2048, track, grid + 2);
    build_end(trace);
    tkt_memory_jumps jumps;
    assert_int_equal(tkt_memory_jumps_of(trace, 10, &jumps), TAKT_OK);
    assert_int_equal(jumps.count, 2);
    assert_string_equal(jumps.items[0].scope, "grid");
    assert_string_equal(jumps.items[1].scope, "");
    TKT_ARRAY_FREE(&jumps);
    takt_trace_release(trace);
}

/* Where anything was allocated, or is from before the recording. */
TEST(the_summary_speaks_of_memory_that_there_is)
{
    for (uint64_t i = 0; i < 4; i++) {
        takt_trace *trace = build_begin(9000000);
        trace->memory.allocations = i & 1;
        trace->memory.peak_bytes = i & 2 ? 4096 : 0;
        trace->memory.window_peak_bytes = 4095;
        trace->memory.window_begin_bytes = 200;
        trace->memory.current_bytes = 150;
        build_end(trace);
        json_t *json = report_json(trace, "summary", NULL);
        const json_t *facts = json_object_get(json, "facts");
        assert_int_equal(json_object_get(facts, "memory_peak_bytes") != NULL, i > 0);
        if (i > 0) {
            assert_value(facts, "memory_peak_bytes", 4095);
            assert_value(facts, "memory_current_bytes", 150);
            assert_value(facts, "memory_change_bytes", -50);
        }
        json_decref(json);
        takt_trace_release(trace);
    }
}

TEST(folded_traces_have_no_jumps)
{
    takt_trace *trace = build_begin(9000000);
    trace->facts.has_spans = false;
    build_end(trace);
    tkt_memory_jumps jumps;
    assert_int_equal(tkt_memory_jumps_of(trace, 10, &jumps), TAKT_NO_SPANS);
    takt_trace_release(trace);
}

TEST(without_memory_it_says_so)
{
    takt_trace *trace = build_allocations(1);
    tkt_memory_jumps jumps;
    tkt_alloc_fail(0, UINT64_MAX);
    assert_int_equal(tkt_memory_jumps_of(trace, 10, &jumps), TAKT_NO_MEMORY);
    tkt_alloc_fail(0, 0);
    takt_trace_release(trace);
}

TEST_MAIN(NULL, NULL)
