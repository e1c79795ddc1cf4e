/* Windows of the common log, for tests that open them without a profiler. */
#ifndef TEST_SUPPORT_WINDOWS_H
#define TEST_SUPPORT_WINDOWS_H

#include "support/test.h"

#include "base/clock.h"
#include "profiler/session.h"
#include "trace/model.h"

static inline tkt_window *window_with(const tkt_wish *wish)
{
    tkt_window *window;
    assert_int_equal(tkt_window_open(wish, &window), TAKT_OK);
    return window;
}

/* The trace of an ended window, which it closes. The caller releases the trace. */
static inline takt_trace *seal_window(tkt_window *window)
{
    takt_trace *trace;
    assert_int_equal(tkt_window_seal(window, &trace), TAKT_OK);
    tkt_window_close(window);
    assert_int_equal(tkt_trace_finish(trace), TAKT_OK);
    return trace;
}

/* The same for a window that is still open. */
static inline takt_trace *end_and_seal(tkt_window *window)
{
    tkt_window_end(window, tkt_ticks());
    return seal_window(window);
}

/* The work that its spans declare. */
static inline double flops_of_spans(const takt_trace *trace)
{
    double flops = 0;
    for (size_t t = 0; t < trace->tracks.count; t++)
        for (size_t i = 0; i < trace->tracks.items[t].works.count; i++)
            flops += trace->tracks.items[t].works.items[i].flops;
    return flops;
}

#endif
