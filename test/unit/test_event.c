/* takt/event.h in a program that does not use CUDA: everything is refused, nothing is marked, and
 * blocks run once. */
#include "cuda/event.h"

#include "support/test.h"

#include <takt/profiler.h>
#include <takt/trace.h>

TEST(there_are_no_events_without_cuda)
{
    takt_event *event = NULL;
    assert_int_equal(takt_event_create(TAKT_EVENT_TIMED, &event), TAKT_UNSUPPORTED);
    assert_int_equal(takt_event_create(TAKT_EVENT_UNTIMED, &event), TAKT_UNSUPPORTED);
    assert_null(event);
    takt_event_destroy(NULL);
}

static int launch(int *count)
{
    TAKT_STREAM_SCOPE(NULL, "outer");
    TAKT_LAUNCH(NULL, TAKT_TIMING_KERNEL, "launched") {
        (*count)++;
        if (*count > 3)
            return 1;
        if (*count > 2)
            break;
        (*count) += 10;
    }
    return 0;
}

TEST(blocks_run_once_and_may_be_left)
{
    int count = 0;
    assert_int_equal(launch(&count), 0);
    assert_int_equal(count, 11);
    assert_int_equal(launch(&count), 1);
    assert_int_equal(count, 12);
    count = 2;
    assert_int_equal(launch(&count), 0);
    assert_int_equal(count, 3);
}

/* Leaving a block in whatever way ends its scope, and one launch is one scope. */
TEST(marks_are_scopes_and_nothing_more)
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt_profiler *profiler = NULL;
    int counts[] = {0, 2, 3};
    assert_int_equal(takt_profiler_create(&options, &profiler), TAKT_OK);
    assert_int_equal(takt_profiler_start(profiler), TAKT_OK);
    for (int i = 0; i < 3; i++)
        launch(&counts[i]);
    assert_int_equal(takt_profiler_stop(profiler), TAKT_OK);
    const takt_trace *trace = takt_profiler_trace(profiler);
    assert_non_null(trace);
    assert_int_equal(takt_trace_facts(trace)->span_count, 6);
    assert_int_equal(takt_trace_loss(trace, TAKT_LOSS_MISMATCH), 0);
    assert_int_equal(takt_trace_count(trace, TAKT_TRACE_ACTIVITIES), 0);
    for (size_t i = 0; i < 6; i++) {
        takt_span_info span;
        assert_int_equal(takt_trace_span(trace, 0, i, &span), TAKT_OK);
        assert_string_equal(span.name, i % 2 ? "launched" : "outer");
        assert_int_equal(span.parent, i % 2 ? i - 1 : TAKT_NO_PARENT);
        assert_int_equal(span.flags, 0);
    }
    takt_profiler_destroy(profiler);
}

TEST_MAIN(NULL, NULL)
