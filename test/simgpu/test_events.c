/* CUDA events on the simulated device: takt/event.h, and the backend that times marks with them.
 * Work is queued behind a kernel, so that the device's times are the script's to the nanosecond. */
#include "cuda/collector.h"
#include "cuda/cuda.h"
#include "cuda/event.h"
#include "simgpu/driver.h"
#include "simgpu/sim.h"
#include "support/test.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static CUcontext context;
static CUstream stream;
static CUfunction spin;
static CUfunction ahead;

static int set_up_device(void **state)
{
    CUmodule module;
    (void)state;
    sim_script("kernel.spin=2ms; kernel.ahead=40ms");
    return cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context) ||
           cuStreamCreate(&stream, 1) || cuModuleLoadData(&module, "") ||
           cuModuleGetFunction(&spin, module, "spin") ||
           cuModuleGetFunction(&ahead, module, "ahead");
}

static void launch(CUfunction function, CUstream on)
{
    assert_int_equal(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, on, NULL, NULL), 0);
}

static double elapsed(takt_event *begin, takt_event *end)
{
    double ms = -1.0;
    assert_int_equal(takt_event_elapsed_ms(begin, end, &ms), TAKT_OK);
    return ms;
}

static takt_event *new_event(void)
{
    takt_event *event = NULL;
    assert_int_equal(takt_event_create(TAKT_EVENT_TIMED, &event), TAKT_OK);
    return event;
}

TEST(elapsed_is_the_devices_time)
{
    takt_event *begin = new_event(), *end = new_event();
    sim_hold(true);
    launch(ahead, stream);
    assert_int_equal(takt_event_record(begin, stream), TAKT_OK);
    launch(spin, stream);
    launch(spin, stream);
    assert_int_equal(takt_event_record(end, stream), TAKT_OK);
    sim_hold(false);
    assert_true(fabs(elapsed(begin, end) - 4.0) < 1e-6);
    assert_true(fabs(elapsed(end, begin) + 4.0) < 1e-6);
    takt_event_destroy(begin);
    takt_event_destroy(end);
    takt_event_destroy(NULL);
}

TEST(an_event_is_not_ready_before_its_work_is_done)
{
    takt_event *begin = new_event(), *end = new_event();
    double ms = -1.0;
    assert_int_equal(takt_event_query(end), TAKT_BAD_STATE);
    assert_int_equal(takt_event_synchronize(end), TAKT_BAD_STATE);
    sim_hold(true);
    assert_int_equal(takt_event_record(begin, stream), TAKT_OK);
    launch(spin, stream);
    assert_int_equal(takt_event_record(end, stream), TAKT_OK);
    assert_int_equal(takt_event_query(end), TAKT_NOT_READY);
    assert_int_equal(takt_event_elapsed_now_ms(begin, end, &ms), TAKT_NOT_READY);
    assert_true(ms == -1.0);
    sim_hold(false);
    assert_int_equal(takt_event_synchronize(end), TAKT_OK);
    assert_int_equal(takt_event_query(end), TAKT_OK);
    assert_int_equal(takt_event_elapsed_now_ms(begin, end, &ms), TAKT_OK);
    assert_true(ms >= 2.0);
    takt_event_destroy(begin);
    takt_event_destroy(end);
}

TEST(arguments_are_checked)
{
    takt_event *event = new_event();
    double ms;
    assert_int_equal(takt_event_create(TAKT_EVENT_TIMED, NULL), TAKT_BAD_ARGUMENT);
    assert_int_equal(takt_event_record(NULL, stream), TAKT_BAD_ARGUMENT);
    assert_int_equal(takt_event_query(NULL), TAKT_BAD_ARGUMENT);
    assert_int_equal(takt_event_elapsed_ms(event, NULL, &ms), TAKT_BAD_STATE);
    assert_int_equal(takt_event_elapsed_ms(event, event, NULL), TAKT_BAD_ARGUMENT);
    takt_event_destroy(event);
}

TEST(an_untimed_event_is_for_waiting)
{
    takt_event *event = NULL, *timed = new_event();
    double ms;
    assert_int_equal(takt_event_create(TAKT_EVENT_UNTIMED, &event), TAKT_OK);
    launch(spin, stream);
    assert_int_equal(takt_event_record(event, stream), TAKT_OK);
    assert_int_equal(takt_event_record(timed, stream), TAKT_OK);
    assert_int_equal(takt_event_synchronize(event), TAKT_OK);
    assert_int_equal(takt_event_elapsed_ms(event, timed, &ms), TAKT_BAD_STATE);
    takt_event_destroy(event);
    takt_event_destroy(timed);
}

/* What was given back serves again, even where CUDA has no more. */
TEST(events_come_from_a_pool)
{
    takt_event *events[8];
    for (int round = 0; round < 2; round++) {
        if (round == 1)
            sim_script("kernel.spin=2ms; kernel.ahead=40ms; fault=cuEventCreate=2");
        for (int i = 0; i < 8; i++) {
            events[i] = new_event();
            assert_int_equal(takt_event_record(events[i], stream), TAKT_OK);
        }
        for (int i = 0; i < 8; i++)
            takt_event_destroy(events[i]);
    }
    sim_script("kernel.spin=2ms; kernel.ahead=40ms");
}

TEST(a_refused_event_is_no_memory)
{
    takt_event *events[32];
    sim_script("fault=cuEventCreate=2");
    for (int i = 0; i < 32; i++) { /* the pool has some */
        assert_int_equal(takt_event_create(TAKT_EVENT_UNTIMED, &events[i]), TAKT_OK);
        takt_status status = takt_event_record(events[i], stream);
        assert_true(status == TAKT_NO_MEMORY || (status == TAKT_OK && i < 16));
    }
    sim_script("kernel.spin=2ms; kernel.ahead=40ms");
    assert_int_equal(takt_event_record(events[31], stream), TAKT_OK);
    for (int i = 0; i < 32; i++)
        takt_event_destroy(events[i]);
}

TEST(events_work_in_other_contexts_than_the_current_one)
{
    CUcontext other, popped;
    takt_event *begin = new_event(), *end = new_event();
    assert_int_equal(cuCtxCreate_v2(&other, 0, 0), 0); /* and makes it current */
    assert_int_equal(takt_event_record(begin, stream), TAKT_OK);
    assert_int_equal(takt_event_record(end, stream), TAKT_OK);
    assert_true(elapsed(begin, end) >= 0.0);
    assert_int_equal(takt_event_record(end, NULL), TAKT_BAD_STATE); /* the other one's stream */
    assert_int_equal(cuCtxPopCurrent_v2(&popped), 0);
    assert_int_equal(cuCtxDestroy_v2(other), 0);
    assert_int_equal(cuCtxSetCurrent(context), 0);
    takt_event_destroy(begin);
    takt_event_destroy(end);
}

static CUgraphExec captured(takt_event *begin, takt_event *end)
{
    CUgraph graph;
    CUgraphExec launchable;
    assert_int_equal(cuStreamBeginCapture_v2(stream, 0), 0);
    launch(ahead, stream);
    assert_int_equal(takt_event_record(begin, stream), TAKT_OK);
    launch(spin, stream);
    assert_int_equal(takt_event_record(end, stream), TAKT_OK);
    assert_int_equal(cuStreamEndCapture(stream, &graph), 0);
    assert_int_equal(cuGraphInstantiateWithFlags(&launchable, graph, 0), 0);
    assert_int_equal(cuGraphDestroy(graph), 0);
    return launchable;
}

TEST(events_in_a_graph_are_valid_after_every_launch)
{
    takt_event *begin = new_event(), *end = new_event();
    double ms;
    CUgraphExec launchable = captured(begin, end);
    assert_int_not_equal(takt_event_elapsed_now_ms(begin, end, &ms), TAKT_OK);
    for (int i = 1; i <= 3; i++) {
        char script[64];
        snprintf(script, sizeof script, "kernel.ahead=40ms; kernel.spin=%dms", i);
        sim_script(script);
        sim_hold(true);
        assert_int_equal(cuGraphLaunch(launchable, stream), 0);
        assert_int_equal(takt_event_query(end), TAKT_NOT_READY);
        sim_hold(false);
        assert_true(fabs(elapsed(begin, end) - (double)i) < 1e-6);
    }
    sim_script("kernel.spin=2ms; kernel.ahead=40ms");
    assert_int_equal(cuGraphExecDestroy(launchable), 0);
    takt_event_destroy(begin);
    takt_event_destroy(end);
}

/* Refused before the driver is asked, which would end the capture. */
TEST(the_default_stream_is_left_alone_while_another_is_captured)
{
    CUgraph graph;
    CUstream blocking;
    takt_event *event = new_event();
    assert_int_equal(cuStreamCreate(&blocking, 0), 0);
    assert_int_equal(cuStreamBeginCapture_v2(blocking, 0), 0);
    launch(spin, blocking);
    assert_int_equal(takt_event_record(event, NULL), TAKT_BAD_STATE);
    assert_int_equal(cuStreamEndCapture(blocking, &graph), 0);
    assert_int_equal(cuGraphDestroy(graph), 0);
    assert_int_equal(cuStreamDestroy_v2(blocking), 0);
    takt_event_destroy(event);
}

/* CUDA's own calls would end it, and so would those on other threads. */
TEST(asking_an_event_ends_no_capture)
{
    CUgraph graph;
    takt_event *begin = new_event(), *end = new_event();
    assert_int_equal(takt_event_record(begin, stream), TAKT_OK);
    launch(spin, stream);
    assert_int_equal(takt_event_record(end, stream), TAKT_OK);
    CUstream captured;
    assert_int_equal(cuStreamCreate(&captured, 1), 0);
    assert_int_equal(cuStreamBeginCapture_v2(captured, 0), 0);
    launch(spin, captured);
    assert_int_equal(takt_event_synchronize(end), TAKT_OK);
    assert_int_equal(takt_event_query(begin), TAKT_OK);
    assert_true(elapsed(begin, end) > 1.9);
    assert_int_equal(cuStreamEndCapture(captured, &graph), 0);
    assert_int_equal(cuGraphDestroy(graph), 0);
    assert_int_equal(cuStreamDestroy_v2(captured), 0);
    takt_event_destroy(begin);
    takt_event_destroy(end);
}

/* ---- Marks ---- */

static tkt_cuda_call calls[64];
static size_t call_count; /* atomic */

/* On the threads that call. */
static void note_call(const tkt_cuda_call *call)
{
    size_t place = __atomic_fetch_add(&call_count, 1, __ATOMIC_RELAXED);
    if (place < 64)
        calls[place] = *call;
}

static takt_site spin_site = {.tag = 7, .name = "spin"};
static takt_site step_site = {.tag = 8, .name = "step"};

/* Otherwise it is the note of a mark that was given up. With the store's lock. */
static bool has_kind(const tkt_stored_activity *activity)
{
    return tkt_store_get()->shapes.items[activity->shape].filter != 0;
}

/* The activities that arrived since `position`, oldest first. */
static size_t arrived(uint64_t position, tkt_stored_activity *out, size_t room)
{
    tkt_store *store = tkt_store_get();
    size_t count = 0;
    tkt_mutex_lock(&store->lock);
    for (const tkt_store_chunk *chunk = store->first; chunk; chunk = chunk->next)
        for (uint32_t i = 0; i < chunk->count; i++)
            if (chunk->first + i >= position && count < room && has_kind(&chunk->items[i]))
                out[count++] = chunk->items[i];
    tkt_mutex_unlock(&store->lock);
    return count;
}

static const char *label_of(const tkt_stored_activity *activity, uint32_t *filter)
{
    tkt_store *store = tkt_store_get();
    tkt_mutex_lock(&store->lock);
    const tkt_shape *shape = &store->shapes.items[activity->shape];
    const char *label = tkt_strtab_text(&store->strings, shape->label);
    *filter = shape->filter;
    tkt_mutex_unlock(&store->lock);
    return label;
}

static tkt_cuda_losses losses_now(void)
{
    tkt_store *store = tkt_store_get();
    tkt_mutex_lock(&store->lock);
    tkt_cuda_losses losses = store->losses;
    tkt_mutex_unlock(&store->lock);
    return losses;
}

static int switch_marks_on(void **state)
{
    (void)state;
    call_count = 0;
    sim_script("kernel.spin=2ms; kernel.ahead=40ms");
    tkt_cuda_on_call(note_call);
    return tkt_marks_switch(true) ? 0 : -1;
}

static int switch_marks_off(void **state)
{
    (void)state;
    tkt_marks_switch(false);
    tkt_cuda_on_call(NULL);
    return cuStreamSynchronize(stream) || tkt_marks_resolve();
}

/* By so much the anchors may be off: by more, the busier the machine. */
static uint64_t widest_bracket_ns(void)
{
    tkt_clock_fit fit = tkt_clock_fit_now();
    uint64_t widest = 0;
    tkt_mutex_lock(&tkt_store_get()->lock);
    const tkt_cuda_clock *clock = &tkt_store_get()->clock;
    for (size_t i = 0; i < clock->pairs.count; i++)
        if (clock->pairs.items[i].bracket_ticks > widest)
            widest = clock->pairs.items[i].bracket_ticks;
    tkt_mutex_unlock(&tkt_store_get()->lock);
    assert_true(widest > 0);
    return (uint64_t)((double)widest * tkt_clock_resolution_ns(&fit));
}

TEST_WITH(marks_become_activities, switch_marks_on, switch_marks_off)
{
    tkt_stored_activity found[4];
    uint32_t filter;
    sim_script("kernel.spin=2ms; kernel.ahead=40ms");
    uint64_t position = tkt_store_position(), begin_ns = takt_now_ns();
    sim_hold(true);
    launch(ahead, stream);
    for (int i = 0; i < 2; i++) {
        void *mark = takt_stream_begin_v1(stream, TAKT_TIMING_KERNEL, &spin_site);
        assert_non_null(mark);
        launch(spin, stream);
        takt_stream_end_v1(mark);
    }
    assert_int_equal(tkt_marks_resolve(), 2); /* not done */
    assert_int_equal(arrived(position, found, 4), 0);
    sim_hold(false);
    assert_int_equal(cuStreamSynchronize(stream), 0);
    uint64_t end_ns = takt_now_ns();
    assert_int_equal(tkt_marks_resolve(), 0);
    assert_int_equal(arrived(position, found, 4), 2);

    /* Exact on the device, and in their place among the host's times. */
    for (int i = 0; i < 2; i++) {
        assert_int_equal(found[i].end - found[i].begin, 2000000);
        assert_int_equal(found[i].correlation, calls[i].correlation);
        assert_int_equal(found[i].stream, found[0].stream);
        assert_string_equal(label_of(&found[i], &filter), "kernel spin");
        assert_int_equal(filter, TAKT_TIMING_KERNEL);
        assert_string_equal(calls[i].name, "TAKT_LAUNCH");
        assert_true(calls[i].begin_ticks <= calls[i].end_ticks);
    }
    assert_true(llabs((long long)(found[1].begin - found[0].end)) <= 2); /* floats of some ms */
    uint64_t slack_ns = widest_bracket_ns() + 10000;
    assert_true(found[0].begin + slack_ns >= begin_ns + 40000000);
    assert_true(found[1].end <= end_ns + slack_ns);
    assert_int_equal(call_count, 2);
    assert_int_equal(calls[1].correlation, calls[0].correlation + 1);
    assert_int_equal(tkt_cuda_last_correlation(), calls[1].correlation);
}

TEST_WITH(a_stream_scope_lasts_as_long_as_the_stream_works, switch_marks_on, switch_marks_off)
{
    tkt_stored_activity found[2];
    uint32_t filter;
    uint64_t position = tkt_store_position();
    sim_hold(true);
    launch(ahead, stream);
    void *mark = takt_stream_begin_v1(stream, 0, &step_site);
    launch(spin, stream);
    launch(ahead, stream);
    takt_stream_end_v1(mark);
    sim_hold(false);
    assert_int_equal(cuStreamSynchronize(stream), 0);
    assert_int_equal(tkt_marks_resolve(), 0);
    assert_int_equal(arrived(position, found, 2), 1);
    assert_int_equal(found[0].end - found[0].begin, 42000000);
    assert_string_equal(label_of(&found[0], &filter), "stream scope step");
    assert_string_equal(calls[0].name, "TAKT_STREAM_SCOPE");
}

/* Otherwise the inner one's time would be counted twice. */
TEST_WITH(of_marks_within_each_other_the_inner_ones_count, switch_marks_on, switch_marks_off)
{
    tkt_stored_activity found[4];
    CUstream other;
    uint32_t filter;
    uint64_t position = tkt_store_position();
    assert_int_equal(cuStreamCreate(&other, 1), 0);
    void *outer = takt_stream_begin_v1(stream, 0, &step_site);
    void *elsewhere = takt_stream_begin_v1(other, 0, &step_site);
    void *inner = takt_stream_begin_v1(stream, TAKT_TIMING_KERNEL, &spin_site);
    launch(spin, stream);
    takt_stream_end_v1(inner);
    takt_stream_end_v1(elsewhere);
    takt_stream_end_v1(outer);
    assert_int_equal(cuStreamSynchronize(stream), 0);
    assert_int_equal(cuStreamSynchronize(other), 0);
    assert_int_equal(tkt_marks_resolve(), 0);
    assert_int_equal(arrived(position, found, 4), 2);
    assert_string_equal(label_of(&found[0], &filter), "kernel spin");
    assert_string_equal(label_of(&found[1], &filter), "stream scope step");
    assert_int_not_equal(found[0].stream, found[1].stream);
    assert_int_equal(cuStreamDestroy_v2(other), 0);
}

TEST_WITH(what_is_captured_is_not_marked, switch_marks_on, switch_marks_off)
{
    tkt_stored_activity found[2];
    CUgraph graph;
    uint64_t position = tkt_store_position();
    tkt_cuda_losses before = losses_now();
    assert_int_equal(cuStreamBeginCapture_v2(stream, 0), 0);
    assert_null(takt_stream_begin_v1(stream, TAKT_TIMING_KERNEL, &spin_site));
    launch(spin, stream);
    assert_int_equal(cuStreamEndCapture(stream, &graph), 0);
    assert_int_equal(cuGraphDestroy(graph), 0);

    /* A capture that begins inside a mark makes its end impossible. */
    void *mark = takt_stream_begin_v1(stream, TAKT_TIMING_KERNEL, &spin_site);
    assert_non_null(mark);
    assert_int_equal(cuStreamBeginCapture_v2(stream, 0), 0);
    launch(spin, stream);
    takt_stream_end_v1(mark);
    assert_int_equal(cuStreamEndCapture(stream, &graph), 0);
    assert_int_equal(cuGraphDestroy(graph), 0);
    assert_int_equal(tkt_marks_resolve(), 0);
    assert_int_equal(arrived(position, found, 2), 0);
    assert_int_equal(losses_now().failed_marks, before.failed_marks + 1);
}

/* The collector may look at events at any time. */
TEST_WITH(resolving_does_not_end_a_capture, switch_marks_on, switch_marks_off)
{
    CUgraph graph;
    void *mark = takt_stream_begin_v1(stream, TAKT_TIMING_KERNEL, &spin_site);
    launch(spin, stream);
    takt_stream_end_v1(mark);
    CUstream captured_stream;
    assert_int_equal(cuStreamCreate(&captured_stream, 1), 0);
    assert_int_equal(cuStreamBeginCapture_v2(captured_stream, 0), 0);
    launch(spin, captured_stream);
    tkt_marks_resolve();
    assert_int_equal(cuStreamEndCapture(captured_stream, &graph), 0);
    assert_int_equal(cuGraphDestroy(graph), 0);
    assert_int_equal(cuStreamDestroy_v2(captured_stream), 0);
}

TEST_WITH(marks_are_bounded_and_losses_counted, switch_marks_on, switch_marks_off)
{
    static tkt_stored_activity found[TKT_MARKS + 1];
    uint64_t position = tkt_store_position();
    tkt_cuda_losses before = losses_now();
    launch(ahead, stream);
    for (unsigned i = 0; i < TKT_MARKS + 10; i++) {
        void *mark = takt_stream_begin_v1(stream, TAKT_TIMING_KERNEL, &spin_site);
        assert_int_equal(mark != NULL, i < TKT_MARKS);
        if (mark)
            takt_stream_end_v1(mark);
    }
    assert_int_equal(cuStreamSynchronize(stream), 0);
    assert_int_equal(tkt_marks_resolve(), 0);
    assert_int_equal(arrived(position, found, TKT_MARKS + 1), TKT_MARKS);
    assert_int_equal(losses_now().dropped, before.dropped + 10);
    assert_non_null(takt_stream_begin_v1(stream, TAKT_TIMING_KERNEL, &spin_site));
}

TEST_WITH(marks_cost_nothing_while_they_are_off, switch_marks_on, switch_marks_off)
{
    tkt_marks_switch(false);
    assert_null(takt_stream_begin_v1(stream, TAKT_TIMING_KERNEL, &spin_site));
    assert_int_equal(call_count, 0);
}

static void *mark_many(void *unused)
{
    CUstream mine;
    (void)unused;
    assert_int_equal(cuCtxSetCurrent(context), 0);
    assert_int_equal(cuStreamCreate(&mine, 1), 0);
    for (int i = 0; i < 200; i++) {
        void *mark = takt_stream_begin_v1(mine, TAKT_TIMING_KERNEL, &spin_site);
        takt_stream_end_v1(mark);
    }
    assert_int_equal(cuStreamSynchronize(mine), 0);
    return NULL;
}

TEST_WITH(threads_mark_at_once, switch_marks_on, switch_marks_off)
{
    static tkt_stored_activity found[801];
    pthread_t threads[4];
    uint64_t position = tkt_store_position();
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, mark_many, NULL), 0);
    while (arrived(position, found, 801) < 100)
        tkt_marks_resolve();
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(tkt_marks_resolve(), 0);
    assert_int_equal(arrived(position, found, 801), 800);
}

/* The last test: it takes the context away. */
TEST_WITH(after_a_reset_marks_are_incomplete, switch_marks_on, NULL)
{
    tkt_stored_activity found[1];
    uint64_t position = tkt_store_position();
    tkt_cuda_losses before = losses_now();
    launch(ahead, stream);
    void *done = takt_stream_begin_v1(stream, TAKT_TIMING_KERNEL, &spin_site);
    takt_stream_end_v1(done);
    void *open = takt_stream_begin_v1(stream, TAKT_TIMING_KERNEL, &spin_site);
    assert_int_equal(cuDevicePrimaryCtxReset_v2(0), 0);
    takt_stream_end_v1(open);
    assert_int_equal(tkt_marks_resolve(), 0);
    assert_int_equal(arrived(position, found, 1), 0);
    assert_int_equal(losses_now().failed_marks, before.failed_marks + 2);
}

TEST_MAIN(set_up_device, NULL)
