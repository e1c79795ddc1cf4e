/* Advice: each rule speaks where its numbers say so, names them, and is silent otherwise. */
#include "test_report_build.h"

#include "summary/advice.h"

typedef struct advised {
    tkt_advice items[TKT_MOST_ADVICE];
    size_t count;
} advised;

static advised advise(takt_trace *trace)
{
    advised a;
    tkt_scopes scopes;
    tkt_device_uses uses;
    tkt_copies copies;
    build_end(trace);
    assert_int_equal(tkt_scopes_by_name(trace, false, &scopes), TAKT_OK);
    assert_int_equal(tkt_device_uses_of(trace, &uses), TAKT_OK);
    assert_int_equal(tkt_copies_of(trace, &copies), TAKT_OK);
    a.count = tkt_advice_of(trace, &(tkt_advice_basis){&scopes, &uses, &copies}, a.items);
    assert_true(a.count <= TKT_MOST_ADVICE);
    TKT_ARRAY_FREE(&copies);
    TKT_ARRAY_FREE(&uses);
    tkt_scopes_fini(&scopes);
    return a;
}

static const tkt_advice *find(const advised *a, tkt_advice_kind kind)
{
    for (size_t i = 0; i < a->count; i++) {
        if (a->items[i].kind == kind)
            return &a->items[i];
    }
    return NULL;
}

/* 1 ms of wall time: `covered_ns` of it in five equal scopes. */
static takt_trace *build_even(uint64_t covered_ns)
{
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    takt_trace *trace = build_begin(2000000);
    uint32_t track = build_track(trace, "main");
    for (uint64_t i = 0; i < 5; i++)
        build_span(trace, track, build_site(trace, names[i]), TKT_NO_SPAN,
                   1000000 + i * covered_ns / 5, 1000000 + (i + 1) * covered_ns / 5);
    return trace;
}

static void an_even_and_complete_recording_gets_no_advice(void **state)
{
    (void)state;
    takt_trace *trace = build_even(1000000);
    assert_int_equal(advise(trace).count, 0);
    takt_trace_release(trace);
}

static void an_empty_recording_gets_no_advice(void **state)
{
    (void)state;
    takt_trace *trace = build_begin(2000000);
    assert_int_equal(advise(trace).count, 0);
    takt_trace_release(trace);
}

static void the_hottest_scope_is_named(void **state)
{
    (void)state;
    takt_trace *trace = build_even(800000);
    build_span(trace, 0, build_site(trace, "hot"), TKT_NO_SPAN, 1800000, 1800000 + 200000);
    build_span(trace, 0, build_site(trace, "hot"), TKT_NO_SPAN, 2000000, 2000000 + 200000);
    advised a = advise(trace);
    const tkt_advice *advice = find(&a, TKT_ADVICE_HOT);
    assert_non_null(advice);
    assert_string_equal(advice->name, "hot");
    assert_int_equal(advice->time_ns, 400000);
    assert_int_equal(advice->count, 2);
    assert_near(advice->share, 1.0 / 3, 1e-12);
    takt_trace_release(trace);
}

static void uncovered_time_is_told(void **state)
{
    (void)state;
    takt_trace *trace = build_even(700000);
    advised a = advise(trace);
    const tkt_advice *advice = find(&a, TKT_ADVICE_UNCOVERED);
    assert_non_null(advice);
    assert_int_equal(advice->time_ns, 300000);
    assert_near(advice->share, 0.3, 1e-12);
    takt_trace_release(trace);
}

static void scopes_too_small_are_told(void **state)
{
    (void)state;
    takt_trace *trace = build_even(1000000);
    uint32_t tiny = build_site(trace, "tiny");
    for (uint64_t i = 0; i < 10000; i++)
        build_span(trace, 0, tiny, 4, 1800000 + i * 20, 1800000 + i * 20 + 15);
    advised a = advise(trace);
    const tkt_advice *advice = find(&a, TKT_ADVICE_SMALL);
    assert_non_null(advice);
    assert_string_equal(advice->name, "tiny");
    assert_int_equal(advice->count, 10000);
    assert_int_equal(advice->time_ns, 15);
    takt_trace_release(trace);
}

/* What just does not reach the bounds: 15 % uncovered, 9999 small calls, 500 ns a call, 4 % cost.
 */
static void what_is_almost_worth_advice_is_not_told(void **state)
{
    (void)state;
    takt_trace *trace = build_even(85000000);
    trace->facts.end_ns = 101000000;
    uint32_t tiny = build_site(trace, "tiny");
    uint32_t small = build_site(trace, "small");
    uint64_t last_ns = trace->tracks.items[0].spans.items[4].begin_ns;
    for (uint64_t i = 0; i < 9999; i++)
        build_span(trace, 0, tiny, 4, last_ns + i, last_ns + i + 1);
    for (uint64_t i = 0; i < 10000; i++)
        build_span(trace, 0, small, 4, last_ns + 10000 + i * 500, last_ns + 10000 + i * 500 + 500);
    trace->facts.cost_ns = 4000000;
    trace->memory.window_begin_bytes = 10 << 20;
    trace->memory.current_bytes = 10 << 20;
    assert_int_equal(advise(trace).count, 0);
    takt_trace_release(trace);
}

static void high_cost_is_told(void **state)
{
    (void)state;
    takt_trace *trace = build_even(1000000);
    trace->facts.cost_ns = 60000;
    advised a = advise(trace);
    const tkt_advice *advice = find(&a, TKT_ADVICE_COST);
    assert_non_null(advice);
    assert_int_equal(advice->time_ns, 60000);
    assert_near(advice->share, 0.06, 1e-12);
    takt_trace_release(trace);
}

static void uneven_steps_are_told(void **state)
{
    (void)state;
    takt_trace *trace = build_even(1000000);
    for (int i = 0; i < 50; i++)
        build_all_step(trace, i < 48 ? 10 : 100);
    advised a = advise(trace);
    const tkt_advice *advice = find(&a, TKT_ADVICE_UNEVEN);
    assert_non_null(advice);
    assert_int_equal(advice->other, 10);
    assert_in_range(advice->time_ns, 97, 103);
    takt_trace_release(trace);
}

static void growing_memory_is_told(void **state)
{
    (void)state;
    takt_trace *trace = build_even(1000000);
    trace->memory.window_begin_bytes = 10 << 20;
    trace->memory.current_bytes = 13 << 20;
    advised a = advise(trace);
    const tkt_advice *advice = find(&a, TKT_ADVICE_GROWTH);
    assert_non_null(advice);
    assert_int_equal(advice->count, 3 << 20);
    takt_trace_release(trace);
}

static void add_work(takt_trace *trace, const char *device, uint64_t begin_ns, uint64_t end_ns)
{
    build_activity(trace, device, "kernel a", TAKT_TIMING_KERNEL, begin_ns, end_ns, TKT_NO_TRACK,
                   TKT_NO_SPAN);
}

/* Of 1 ms cuda:0 works for 0.7 ms, twice at a time, cuda:1 for 0.79 ms. */
static void the_idlest_device_is_told(void **state)
{
    (void)state;
    takt_trace *trace = build_even(1000000);
    add_work(trace, "cuda:0", 1000000, 1700000);
    add_work(trace, "cuda:0", 1000000, 1700000);
    add_work(trace, "cuda:1", 1210000, 2500000); /* on after the recording's end */
    advised a = advise(trace);
    const tkt_advice *advice = find(&a, TKT_ADVICE_IDLE);
    assert_non_null(advice);
    assert_string_equal(advice->name, "cuda:0");
    assert_int_equal(advice->time_ns, 300000);
    assert_near(advice->share, 0.3, 1e-12);
    takt_trace_release(trace);
}

static void busy_devices_are_not_told(void **state)
{
    (void)state;
    takt_trace *trace = build_even(1000000);
    add_work(trace, "cuda:0", 1000000, 1800001);
    assert_int_equal(advise(trace).count, 0);
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

static void pageable_copies_are_told(void **state)
{
    (void)state;
    takt_trace *trace = build_even(1000000);
    add_work(trace, "cuda:0", 1000000, 2000000);
    add_copy(trace, TAKT_MEMORY_PAGEABLE, TAKT_MEMORY_DEVICE, 3000000, 20000);
    add_copy(trace, TAKT_MEMORY_DEVICE, TAKT_MEMORY_PAGEABLE, 4000000, 30000);
    add_copy(trace, TAKT_MEMORY_PINNED, TAKT_MEMORY_DEVICE, 50000000, 950000);
    advised a = advise(trace);
    const tkt_advice *advice = find(&a, TKT_ADVICE_PAGEABLE);
    assert_non_null(advice);
    assert_int_equal(a.count, 1);
    assert_int_equal(advice->count, 2);
    assert_int_equal(advice->other, 7000000);
    assert_int_equal(advice->time_ns, 50000);
    assert_near(advice->share, 0.025, 1e-12);
    takt_trace_release(trace);

    trace = build_even(1000000);
    add_work(trace, "cuda:0", 1000000, 2000000);
    add_copy(trace, TAKT_MEMORY_PAGEABLE, TAKT_MEMORY_DEVICE, 3000000, 10000); /* 1 of 101 */
    assert_int_equal(advise(trace).count, 0);
    takt_trace_release(trace);

    trace = build_even(1000000);
    add_work(trace, "cuda:0", 1000000, 2000000);
    add_copy(trace, TAKT_MEMORY_PAGEABLE, TAKT_MEMORY_DEVICE, 1000000, 100000); /* below 1 MiB */
    assert_int_equal(advise(trace).count, 0);
    takt_trace_release(trace);
}

static void every_loss_is_told_with_its_count(void **state)
{
    (void)state;
    takt_trace *trace = build_even(1000000);
    for (int i = 0; i < TAKT_LOSS_COUNT; i++)
        trace->facts.losses[i] = 10 + (uint64_t)i;
    advised a = advise(trace);
    assert_int_equal(a.count, TAKT_LOSS_COUNT);
    for (size_t i = 0; i < a.count; i++) {
        assert_int_equal(a.items[i].kind, TKT_ADVICE_LOST);
        assert_int_equal(a.items[i].loss, i);
        assert_int_equal(a.items[i].count, 10 + i);
    }
    takt_trace_release(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_even_and_complete_recording_gets_no_advice),
        cmocka_unit_test(an_empty_recording_gets_no_advice),
        cmocka_unit_test(the_hottest_scope_is_named),
        cmocka_unit_test(uncovered_time_is_told),
        cmocka_unit_test(scopes_too_small_are_told),
        cmocka_unit_test(what_is_almost_worth_advice_is_not_told),
        cmocka_unit_test(high_cost_is_told),
        cmocka_unit_test(uneven_steps_are_told),
        cmocka_unit_test(growing_memory_is_told),
        cmocka_unit_test(the_idlest_device_is_told),
        cmocka_unit_test(busy_devices_are_not_told),
        cmocka_unit_test(pageable_copies_are_told),
        cmocka_unit_test(every_loss_is_told_with_its_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
