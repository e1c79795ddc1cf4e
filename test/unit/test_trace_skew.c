/* How far devices' times are off the host's, from calls, waits and activities at known times. */

#include "base/alloc.h"
#include "trace/devices.h"

#include "support/test.h"

#include <stdlib.h>

#define US(n) ((n)*UINT64_C(1000))
#define T0    US(1000000)
#define ALL   UINT32_MAX

/* ---- A trace --------------------------------------------------------------------------------- */

typedef struct world {
    takt_trace *trace;
    tkt_waits later;
    uint32_t devices[2]; /* their labels */
    int64_t errors[2];   /* what their activities' times are off */
    uint32_t correlation;
} world;

static world begin(int64_t first_error, int64_t second_error)
{
    world w = {.errors = {first_error, second_error}};
    assert_int_equal(tkt_trace_create(&w.trace), TAKT_OK);
    w.devices[0] = tkt_trace_string_of(w.trace, "cuda:0");
    w.devices[1] = tkt_trace_string_of(w.trace, "cuda:1");
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(tkt_trace_add_track(w.trace, TAKT_TRACK_THREAD, 0, i + 1), i);
    return w;
}

static void end(world *w)
{
    TKT_ARRAY_FREE(&w->later);
    takt_trace_release(w->trace);
}

/* A call on a track; returns its number. Times are us behind T0. */
static uint32_t call(world *w, uint32_t track, const char *name, uint64_t from, uint64_t to)
{
    tkt_trace_site site = {.name = tkt_trace_string_of(w->trace, name), .kind = TAKT_SITE_CALL};
    uint32_t number = tkt_trace_site_index(w->trace, &site);
    tkt_spans *spans = &w->trace->tracks.items[track].spans;
    tkt_span *span = TKT_ARRAY_ADD(spans);
    tkt_call_info *info = TKT_ARRAY_ADD(&w->trace->calls);
    assert_non_null(span);
    assert_non_null(info);
    *span = (tkt_span){T0 + US(from), T0 + US(to), number << 8 | TAKT_SPAN_CALL, TKT_NO_SPAN};
    *info = (tkt_call_info){track, (uint32_t)spans->count - 1, ++w->correlation, 0};
    return (uint32_t)w->trace->calls.count - 1;
}

static tkt_activity *activity(world *w, uint32_t device, uint32_t stream, uint32_t of,
                              uint64_t from, uint64_t to)
{
    tkt_activity *added = TKT_ARRAY_ADD(&w->trace->activities);
    assert_non_null(added);
    *added = (tkt_activity){.begin_ns = T0 + US(from) + (uint64_t)w->errors[device],
                            .end_ns = T0 + US(to) + (uint64_t)w->errors[device],
                            .device = w->devices[device],
                            .filter = TAKT_TIMING_KERNEL,
                            .shape = TKT_NO_SHAPE,
                            .stream = stream,
                            .context = device + 1,
                            .correlation = w->trace->calls.items[of].correlation};
    tkt_call_attribute(w->trace, of, added);
    return added;
}

/* A kernel that is launched at a time and runs at another. */
static void kernel(world *w, uint32_t device, uint32_t stream, uint64_t launched, uint64_t from,
                   uint64_t to)
{
    uint32_t number = call(w, 0, "cudaLaunchKernel", launched, launched + 2);
    activity(w, device, stream, number, from, to);
}

static void add_wait(tkt_waits *waits, const world *w, uint32_t device, uint32_t stream,
                     uint64_t from, uint64_t to, uint32_t kind)
{
    tkt_wait *wait = TKT_ARRAY_ADD(waits);
    assert_non_null(wait);
    *wait = (tkt_wait){.begin_ns = T0 + US(from),
                       .end_ns = T0 + US(to),
                       .correlation = w->correlation,
                       .context = device + 1,
                       .stream = stream,
                       .kind = kind};
}

static void wait_on(world *w, uint32_t track, uint32_t device, uint32_t stream, uint64_t from,
                    uint64_t to)
{
    call(w, track, "cudaStreamSynchronize", from, to);
    tkt_waits waits = {0};
    add_wait(&waits, w, device, stream, from, to, stream == ALL ? 4 : 3);
    tkt_wait *kept = TKT_ARRAY_ADD(&w->trace->waits);
    assert_non_null(kept);
    *kept = waits.items[0];
    TKT_ARRAY_FREE(&waits);
}

static tkt_skew correct(world *w)
{
    tkt_skew skew = {.host_ns = 100, .is_movable = true};
    tkt_call_index index;
    assert_int_equal(tkt_call_index_init(&index, w->trace), TAKT_OK);
    assert_int_equal(tkt_calls_order(w->trace, 0), TAKT_OK);
    assert_int_equal(tkt_skew_correct(w->trace, 0, &index, &w->later, &skew), TAKT_OK);
    tkt_call_index_fini(&index);
    return skew;
}

static void assert_skew(const tkt_skew *skew, int64_t shift_ns, double uncertainty_ns,
                        bool is_least)
{
    assert_int_equal(skew->shift_ns, shift_ns);
    assert_true(skew->uncertainty_ns == uncertainty_ns);
    assert_int_equal(skew->is_least, is_least);
}

/* ---- One device ------------------------------------------------------------------------------ */

/* 4 us from the call's begin to the kernel's, 6 us from its end to the wait's. */
static void launch_and_wait(world *w, uint32_t device, uint64_t at)
{
    kernel(w, device, 7, at, at + 4, at + 14);
    wait_on(w, 0, device, ALL, at + 5, at + 20);
}

TEST(a_launch_and_a_wait_bound_both_sides)
{
    world w = begin(0, 0);
    launch_and_wait(&w, 0, 0);
    tkt_skew skew = correct(&w);
    assert_skew(&skew, 0, 6000, false);
    end(&w);
}

TEST(a_skew_that_nothing_shows_is_covered)
{
    static const int64_t errors[] = {-3900, -2000, 2000, 5900};
    for (size_t i = 0; i < 4; i++) {
        world w = begin(errors[i], 0);
        launch_and_wait(&w, 0, 0);
        tkt_skew skew = correct(&w);
        assert_int_equal(skew.shift_ns, 0);
        assert_true(skew.uncertainty_ns >= (double)llabs(errors[i]));
        assert_true(skew.uncertainty_ns <= 10000);
        end(&w);
    }
}

TEST(kernels_before_their_launch_are_moved)
{
    world w = begin(-9000, 0);
    launch_and_wait(&w, 0, 0);
    launch_and_wait(&w, 0, 100);
    tkt_skew skew = correct(&w);
    assert_skew(&skew, 5000, 10000, false); /* 4 us remain of the error */
    for (size_t i = 0; i < 2; i++) {
        const tkt_activity *k = &w.trace->activities.items[i];
        assert_int_equal(k->begin_ns, tkt_call_span(w.trace, k->call)->begin_ns);
        assert_int_equal(k->end_ns - k->begin_ns, 10000);
    }
    end(&w);
}

TEST(kernels_behind_their_wait_are_moved)
{
    world w = begin(50000, 0);
    launch_and_wait(&w, 0, 0);
    tkt_skew skew = correct(&w);
    assert_skew(&skew, -44000, 10000, false);
    assert_int_equal(w.trace->activities.items[0].end_ns, T0 + US(20));
    end(&w);
}

TEST(where_a_clock_was_set_nothing_is_moved)
{
    world w = begin(50000, 0);
    launch_and_wait(&w, 0, 0);
    tkt_skew skew = {.host_ns = 100, .is_movable = false};
    tkt_call_index index;
    assert_int_equal(tkt_call_index_init(&index, w.trace), TAKT_OK);
    assert_int_equal(tkt_skew_correct(w.trace, 0, &index, &w.later, &skew), TAKT_OK);
    tkt_call_index_fini(&index);
    assert_skew(&skew, 0, 54000, false);
    end(&w);
}

TEST(it_is_never_less_than_the_host_clocks_own)
{
    world w = begin(0, 0);
    kernel(&w, 0, 7, 0, 0, 10);
    wait_on(&w, 0, 0, ALL, 5, 10);
    tkt_skew skew = correct(&w);
    assert_skew(&skew, 0, 100, false);
    end(&w);
}

/* The error goes from 0 to 50 us; no shift is right for all, and what is printed covers it. */
TEST(what_drifts_beyond_all_bounds_is_put_in_the_middle)
{
    world w = begin(0, 0);
    for (int i = 0; i <= 10; i++) {
        w.errors[0] = i * 5000;
        launch_and_wait(&w, 0, (uint64_t)i * 100);
    }
    tkt_skew skew = correct(&w);
    assert_int_equal(skew.shift_ns,
                     -24000); /* launches allow -4 us or more, waits -44 us or less */
    assert_true(skew.uncertainty_ns >= 26000 && skew.uncertainty_ns <= 36000);
    end(&w);
}

/* The bounds still agree, but only because the error changes. */
TEST(what_drifts_within_the_bounds_is_covered)
{
    world w = begin(0, 0);
    for (int i = 0; i <= 10; i++) {
        w.errors[0] = i * 900;
        launch_and_wait(&w, 0, (uint64_t)i * 100);
    }
    tkt_skew skew = correct(&w);
    assert_int_equal(skew.shift_ns, -3000);
    assert_true(skew.uncertainty_ns >= 6000 && skew.uncertainty_ns <= 10000);
    end(&w);
}

TEST(nobody_waited)
{
    world w = begin(-9000, 0);
    kernel(&w, 0, 7, 0, 4, 14);
    kernel(&w, 0, 7, 50, 55, 64);
    tkt_skew skew = correct(&w);
    assert_skew(&skew, 5000, 100, true);
    end(&w);
    w = begin(0, 0);
    kernel(&w, 0, 7, 0, 4, 14);
    skew = correct(&w);
    assert_skew(&skew, 0, 4000, true);
    end(&w);
    w = begin(0, 0);
    skew = correct(&w);
    assert_skew(&skew, 0, 100, true);
    end(&w);
}

/* 20 ms are no error of a clock: an id was wrong. */
TEST(what_no_clock_explains_moves_nothing)
{
    world w = begin(0, 0);
    launch_and_wait(&w, 0, 0);
    launch_and_wait(&w, 0, 100);
    kernel(&w, 0, 7, 30000, 10000, 10001);
    tkt_skew skew = correct(&w);
    assert_skew(&skew, 0, 20e6, false);
    end(&w);
}

/* ---- What a wait waits for ------------------------------------------------------------------- */

TEST(two_devices_are_bounded_on_their_own)
{
    world w = begin(-60000, 400000);
    for (uint64_t at = 0; at < 1000; at += 100) {
        launch_and_wait(&w, 0, at);
        launch_and_wait(&w, 1, at + 50);
    }
    tkt_skew skew = correct(&w);
    assert_skew(&skew, -394000, 10000, false);
    for (size_t i = 0; i < w.trace->activities.count; i++) {
        const tkt_activity *k = &w.trace->activities.items[i];
        bool is_first = k->device == w.devices[0];
        uint64_t call_ns = tkt_call_span(w.trace, k->call)->begin_ns;
        assert_int_equal(k->begin_ns - call_ns, is_first ? 0 : 10000);
    }
    end(&w);
}

TEST(a_wait_for_a_stream_bounds_that_stream)
{
    world w = begin(0, 0);
    kernel(&w, 0, 13, 0, 4, 14);
    kernel(&w, 0, 14, 3, 8, 900);
    wait_on(&w, 0, 0, 13, 6, 20);
    tkt_skew skew = correct(&w);
    assert_skew(&skew, 0, 6000, false);
    end(&w);
}

TEST(a_wait_bounds_no_launch_that_comes_with_it_or_after_it)
{
    world w = begin(0, 0);
    kernel(&w, 0, 7, 0, 4, 14);
    wait_on(&w, 1, 0, ALL, 5, 20);
    uint32_t during = call(&w, 0, "cudaLaunchKernel", 21, 40); /* returns after the wait begins */
    activity(&w, 0, 8, during, 30, 500);
    wait_on(&w, 1, 0, ALL, 22, 28);
    kernel(&w, 0, 7, 50, 54, 800);
    tkt_skew skew = correct(&w);
    assert_skew(&skew, 0, 6000, false);
    end(&w);
}

TEST(waits_for_events_and_failed_ones_bound_nothing)
{
    world w = begin(0, 0);
    kernel(&w, 0, 7, 0, 4, 900);
    wait_on(&w, 0, 0, 7, 10, 12);
    w.trace->waits.items[0].kind = 1;
    wait_on(&w, 0, 0, ALL, 20, 21);
    w.trace->calls.items[w.trace->calls.count - 1].result = 906;
    tkt_skew skew = correct(&w);
    assert_skew(&skew, 0, 4000, true);
    end(&w);
}

TEST(a_blocking_copy_to_the_host_is_a_wait)
{
    static const struct {
        const char *name;
        uint8_t kind;
        bool is_bounded;
    } copies[] = {{"cudaMemcpy", 2, true},
                  {"cuMemcpyDtoH", 2, true},
                  {"cudaMemcpyAsync", 2, false},
                  {"cudaMemcpy", 1, false}};
    for (size_t i = 0; i < 4; i++) {
        world w = begin(0, 0);
        tkt_shape *shape = TKT_ARRAY_ADD(&w.trace->shapes);
        *shape = (tkt_shape){.copy_kind = copies[i].kind, .filter = TAKT_TIMING_MEMCPY};
        kernel(&w, 0, 7, 0, 4, 14);
        tkt_activity *copy = activity(&w, 0, 7, call(&w, 0, copies[i].name, 5, 30), 15, 25);
        copy->filter = TAKT_TIMING_MEMCPY;
        copy->shape = 0;
        tkt_skew skew = correct(&w);
        assert_skew(&skew, 0, copies[i].is_bounded ? 5000 : 4000, !copies[i].is_bounded);
        end(&w);
    }
}

/* Takt's own wait at the end of a window: its times are CUPTI's, and off by as much as the host's
 * clocks. */
TEST(a_later_wait_bounds_too)
{
    world w = begin(0, 0);
    kernel(&w, 0, 7, 0, 4, 14);
    add_wait(&w.later, &w, 0, ALL, 15, 20, 4);
    tkt_skew skew = correct(&w);
    assert_skew(&skew, 0, 6101, false);
    end(&w);
    w = begin(0, 0);
    kernel(&w, 0, 7, 0, 4, 14); /* its call returns at 2 us: perhaps behind the wait's begin */
    add_wait(&w.later, &w, 0, ALL, 2, 20, 4);
    skew = correct(&w);
    assert_skew(&skew, 0, 4000, true);
    end(&w);
}

/* Streams that come and go, none of them waited for, under waits for another context. */
TEST(many_streams_are_not_walked_for_each_wait)
{
    world w = begin(0, 0);
    for (uint32_t i = 0; i < 30000; i++) {
        kernel(&w, 0, 100 + i, i * 10, i * 10 + 4, i * 10 + 5);
        wait_on(&w, 0, 1, ALL, i * 10 + 2, i * 10 + 9);
    }
    wait_on(&w, 0, 0, ALL, 300010, 300020);
    tkt_skew skew = correct(&w);
    assert_skew(&skew, 0, 25000, false);
    end(&w);
}

TEST(without_memory_it_fails)
{
    for (uint64_t failing = 0; failing < 7; failing++) {
        world w = begin(0, 0);
        launch_and_wait(&w, 0, 0);
        tkt_skew skew = {.host_ns = 100, .is_movable = true};
        tkt_call_index index;
        assert_int_equal(tkt_call_index_init(&index, w.trace), TAKT_OK);
        tkt_alloc_fail(failing, 1);
        takt_status status = tkt_skew_correct(w.trace, 0, &index, &w.later, &skew);
        tkt_alloc_fail(0, 0);
        assert_true(status == TAKT_NO_MEMORY || (status == TAKT_OK && failing >= 5));
        tkt_call_index_fini(&index);
        end(&w);
    }
}

TEST_MAIN(NULL, NULL)
