#include "profiler/timing.h"

#include "base/error.h"
#include "profiler/print.h"
#include "profiler/session.h"
#include "report/warp.h"

#include <takt/trace.h>

struct takt_timing {
    takt_timing_options options;
    tkt_window *window; /* NULL when it has ended */
    takt_trace *trace;  /* what the activities point to */
    TKT_ARRAY_OF(takt_activity) activities;
};

takt_status takt_timing_begin(const takt_timing_options *options, takt_timing **out)
{
    if (!out)
        return TAKT_BAD_ARGUMENT;
    takt_timing *timing = tkt_alloc_zeroed(sizeof *timing);
    if (!timing)
        return TAKT_NO_MEMORY;
    takt_status status = tkt_options_read(&timing->options, sizeof timing->options, options,
                                          "TAKT_TIMING_OPTIONS_INIT");
    if (timing->options.filter == 0)
        timing->options.filter = TAKT_TIMING_ALL;
    const tkt_wish wish = {
        .modes = TKT_KEEP,
        .mask = TAKT_NORMAL_BIT,
        .devices = timing->options.filter,
        .no_synchronize = timing->options.no_synchronize,
    };
    if (status == TAKT_OK)
        status = tkt_window_open(&wish, &timing->window);
    if (status != TAKT_OK) {
        tkt_free(timing);
        return status;
    }
    *out = timing;
    return TAKT_OK;
}

/* Whether the activity was launched in the window, and is of a kind that is asked for. */
static bool is_wanted(const takt_timing *timing, const tkt_activity *activity)
{
    if (!(activity->filter & timing->options.filter))
        return false;
    if (activity->span == TKT_NO_SPAN)
        return true;
    const tkt_track *track = &timing->trace->tracks.items[activity->track];
    return !(tkt_span_flags(&track->spans.items[activity->span]) & TAKT_SPAN_BEGUN_BEFORE);
}

static takt_status take(takt_timing *timing, size_t index)
{
    if (!is_wanted(timing, &timing->trace->activities.items[index]))
        return TAKT_OK;
    takt_activity *activity = TKT_ARRAY_ADD(&timing->activities);
    if (!activity)
        return TAKT_NO_MEMORY;
    takt_trace_activity(timing->trace, index, activity);
    return TAKT_OK;
}

uint64_t tkt_activity_issue_ns(const takt_trace *trace, const tkt_activity *activity)
{
    if (activity->call == TKT_NO_CALL)
        return activity->begin_ns;
    const tkt_call_info *call = &trace->calls.items[activity->call];
    return trace->tracks.items[call->track].spans.items[call->span].begin_ns;
}

/* In a trace the activities of devices stand before those of the host, each in issue order. */
static takt_status take_activities(takt_timing *timing)
{
    const takt_trace *trace = timing->trace;
    const tkt_activity *all = trace->activities.items;
    size_t device = 0, count = trace->activities.count, host = 0;
    takt_status status = TAKT_OK;
    while (host < count && all[host].span == TKT_NO_SPAN)
        host++;
    size_t device_count = host;
    while (status == TAKT_OK && (device < device_count || host < count)) {
        bool is_device =
            host == count || (device < device_count &&
                              tkt_activity_issue_ns(trace, &all[device]) <= all[host].begin_ns);
        status = take(timing, is_device ? device++ : host++);
    }
    return status;
}

takt_status tkt_timing_end_at(takt_timing *timing, uint64_t ticks)
{
    if (!timing || !timing->window)
        return TAKT_BAD_STATE;
    tkt_window_end(timing->window, ticks);
    takt_status status = tkt_window_seal(timing->window, &timing->trace);
    tkt_window_close(timing->window);
    timing->window = NULL;
    if (status == TAKT_OK)
        status = tkt_trace_finish(timing->trace);
    if (status == TAKT_OK)
        status = take_activities(timing);
    return status;
}

takt_status takt_timing_end(takt_timing *timing)
{
    return tkt_timing_end_at(timing, tkt_ticks());
}

size_t takt_timing_count(const takt_timing *timing)
{
    return timing ? timing->activities.count : 0;
}

const takt_activity *takt_timing_at(const takt_timing *timing, size_t index)
{
    return index < takt_timing_count(timing) ? &timing->activities.items[index] : NULL;
}

void takt_timing_print(const takt_timing *timing, const char *indent)
{
    takt_sink sink = tkt_print_sink();
    if (timing)
        tkt_warp_print(timing->activities.items, timing->activities.count, indent, &sink);
}

void takt_timing_free(takt_timing *timing)
{
    if (!timing)
        return;
    tkt_window_close(timing->window);
    takt_trace_release(timing->trace);
    TKT_ARRAY_FREE(&timing->activities);
    tkt_free(timing);
}
