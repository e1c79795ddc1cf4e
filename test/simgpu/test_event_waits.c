/* Waits for events know the call that recorded the event: in the trace, after a round through a
 * file, and in Chrome JSON, where Holistic Trace Analysis follows them from stream to stream. */
#include "simgpu/cudart.h"
#include "simgpu/sim.h"
#include "simgpu/profiled.h"
#include "support/skip.h"
#include "support/test.h"

#include <takt/takt.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    ROUNDS = 3
};

static const char kernel_of_first, kernel_of_second;
static cudaStream_t streams[2];
static cudaEvent_t event;
static char folder[] = "/tmp/takt-event-waits-XXXXXX";

static void launch(const void *kernel, cudaStream_t stream)
{
    check(cudaLaunchKernel(kernel, (dim3){1, 1, 1}, (dim3){32, 1, 1}, NULL, 0, stream));
}

/* One event is recorded anew in each round; the first record is older than the recording. */
static void record_rounds(void)
{
    use_stand_in("kernel=20us");
    sim_register_kernel(&kernel_of_first, "first");
    sim_register_kernel(&kernel_of_second, "second");
    for (int i = 0; i < 2; i++)
        check(cudaStreamCreate(&streams[i]));
    check(cudaEventCreate(&event));
    check(cudaEventRecord(event, streams[0]));
    takt_profiler *profiler = start_profiler((takt_profiler_options){.background = TAKT_OFF});
    TAKT_BEGIN("solve");
    check(cudaStreamWaitEvent(streams[1], event, 0));
    for (int i = 0; i < ROUNDS; i++) {
        launch(&kernel_of_first, streams[0]);
        check(cudaEventRecord(event, streams[0]));
        check(cudaStreamWaitEvent(streams[1], event, 0));
        launch(&kernel_of_second, streams[1]);
    }
    check(cudaEventSynchronize(event));
    TAKT_END("solve");
    stop_profiler(profiler);
}

/* The n-th call of that name, counted from 0. */
static takt_call_info nth_call(const takt_trace *trace, const char *name, size_t n)
{
    takt_call_info call;
    takt_span_info span;
    for (size_t i = 0; takt_trace_call(trace, i, &call) == TAKT_OK; i++) {
        assert_int_equal(takt_trace_span(trace, call.track, call.span, &span), TAKT_OK);
        if (strcmp(span.name, name) == 0 && n-- == 0)
            return call;
    }
    fail_msg("too few calls %s", name);
    return call;
}

/* The n-th wait of that kind. */
static takt_wait_info nth_wait(const takt_trace *trace, takt_wait_kind kind, size_t n)
{
    takt_wait_info wait;
    for (size_t i = 0; takt_trace_wait(trace, i, &wait) == TAKT_OK; i++)
        if (wait.kind == kind && n-- == 0)
            return wait;
    fail_msg("too few waits");
    return wait;
}

static uint32_t stream_of(const takt_trace *trace, const char *kernel)
{
    takt_activity activity;
    for (size_t i = 0; takt_trace_activity(trace, i, &activity) == TAKT_OK; i++)
        if (strstr(activity.name, kernel))
            return activity.stream;
    fail_msg("no kernel %s", kernel);
    return 0;
}

static void check_wait(const takt_trace *trace, const takt_wait_info *wait, size_t record,
                       const char *waiting, size_t n)
{
    takt_call_info call = nth_call(trace, waiting, n);
    assert_int_equal(wait->correlation, call.correlation);
    assert_int_equal(wait->track, call.track);
    assert_int_equal(wait->span, call.span);
    assert_true(wait->event > 0);
    assert_int_equal(wait->record_correlation,
                     nth_call(trace, "cudaEventRecord", record).correlation);
    assert_int_equal(wait->record_stream, stream_of(trace, "first"));
}

static void check_waits(const takt_trace *trace)
{
    takt_wait_info before = nth_wait(trace, TAKT_WAIT_STREAM_EVENT, 0);
    assert_int_equal(before.record_correlation, 0);
    assert_int_equal(before.stream, stream_of(trace, "second"));
    for (size_t i = 0; i < ROUNDS; i++) {
        takt_wait_info wait = nth_wait(trace, TAKT_WAIT_STREAM_EVENT, i + 1);
        check_wait(trace, &wait, i, "cudaStreamWaitEvent", i + 1);
        assert_int_equal(wait.stream, before.stream);
    }
    takt_wait_info last = nth_wait(trace, TAKT_WAIT_EVENT, 0);
    check_wait(trace, &last, ROUNDS - 1, "cudaEventSynchronize", 0);
}

TEST(waits_know_the_call_that_recorded_their_event)
{
    record_rounds();
    check_waits(last_trace);
}

TEST(a_file_keeps_what_waits_know)
{
    char path[64];
    takt_error error;
    takt_trace *trace = NULL;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a.pftrace", folder);
    assert_int_equal(takt_export_file(last_trace, "perfetto", path, NULL, &error), TAKT_OK);
    assert_int_equal(takt_trace_open(path, &trace, &error), TAKT_OK);
    check_waits(trace);
    takt_trace_release(trace);
    unlink(path);
}

TEST(chrome_json_has_them_as_its_readers_want)
{
    char path[64], command[512];
    takt_error error;
    snprintf(path, sizeof path, "%s/a.json", folder);
    assert_int_equal(takt_export_file(last_trace, "chrome", path, NULL, &error), TAKT_OK);
    snprintf(
        command, sizeof command,
        "python3 '%s/test/support/check_chrome.py' %s && test `grep -c wait_on_stream %s` = %d",
        getenv("TAKT_ROOT"), path, path, ROUNDS + 2);
    if (can_run_scripts())
        assert_int_equal(system(command), 0);
    else
        puts("case left out: rules of Chrome's files: needs python3");
    unlink(path);
    rmdir(folder);
}

/* Takt hides its own calls, and these are the program's. Last, since it replaces the trace. */
TEST(waits_for_takts_events_are_there)
{
    takt_event *ours;
    takt_profiler *profiler = start_profiler((takt_profiler_options){.background = TAKT_OFF});
    assert_int_equal(takt_event_create(TAKT_EVENT_TIMED, &ours), TAKT_OK);
    assert_int_equal(takt_event_record(ours, NULL), TAKT_OK);
    assert_int_equal(takt_event_synchronize(ours), TAKT_OK);
    takt_event_destroy(ours);
    stop_profiler(profiler);
    nth_call(last_trace, "cuEventSynchronize", 0);
}

TEST_MAIN(NULL, NULL)
