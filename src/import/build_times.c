/* Leaves out activities of devices whose times cannot be.
 *
 * A profiler that lost a time writes 0 for it. One that let a duration overflow makes a kernel that
 * goes on through all later ones of its stream, which a stream does not allow: it runs one after
 * the other. Two may overlap where the second one was launched early on purpose, and those that one
 * call launched may, as a graph's. */
#include "import/build.h"

#include "export/devices.h"
#include "trace/order.h"

#include <stdio.h>

#define HOUR_NS     (UINT64_C(3600) * 1000000000u)
#define LEAST_LATER 10u /* activities that begin inside another one of their stream */

/* The activity of a stream that lasts longest so far, and how many later ones begin inside it. */
typedef struct stream_state {
    uint32_t longest; /* index + 1; 0: none yet */
    uint32_t later;
} stream_state;

typedef struct judge {
    imp_build *build;
    bool *is_bad; /* by activity */
    tkt_streams streams;
    TKT_ARRAY_OF(stream_state) states; /* by stream */
} judge;

/* Times that count from the begin of the recording may be 0, but not with an end of 0; others are
 * of another clock than the host's. */
static bool lacks_time(const imp_build *build, const tkt_activity *activity)
{
    bool is_far = build->first_ns != UINT64_MAX && build->first_ns > HOUR_NS;
    return activity->begin_ns == 0 && (activity->end_ns == 0 || is_far);
}

static void end_longest(judge *j, stream_state *state)
{
    if (state->later < LEAST_LATER)
        return;
    const tkt_activity *activity = &j->build->trace->activities.items[state->longest - 1];
    j->is_bad[state->longest - 1] = true;
    imp_build_note(j->build,
                   "left out %.100s of %.3f s: %u later activities of its stream begin inside it",
                   tkt_trace_text(j->build->trace, activity->name),
                   (double)(activity->end_ns - activity->begin_ns) / 1e9, (unsigned)state->later);
}

/* Takes the next activity of a stream, by begin. */
static void visit(judge *j, stream_state *state, uint32_t index)
{
    const tkt_activity *items = j->build->trace->activities.items, *next = &items[index];
    const tkt_activity *longest = state->longest ? &items[state->longest - 1] : NULL;
    if (!longest || next->end_ns >= longest->end_ns) {
        end_longest(j, state);
        *state = (stream_state){.longest = index + 1};
        return;
    }
    bool is_of_same = next->correlation && next->correlation == longest->correlation;
    state->later += next->begin_ns > longest->begin_ns && !is_of_same;
}

/* NULL without memory, and where the stream is not known. */
static stream_state *state_of(judge *j, const tkt_activity *activity)
{
    if (activity->context == 0)
        return NULL;
    uint32_t number = tkt_stream_number(&j->streams, activity);
    stream_state *added =
        number == j->states.count && number != UINT32_MAX ? TKT_ARRAY_ADD(&j->states) : NULL;
    if (added)
        *added = (stream_state){0};
    j->build->is_short |= number >= j->states.count;
    return number < j->states.count ? &j->states.items[number] : NULL;
}

static void judge_all(judge *j, const uint32_t *places)
{
    const takt_trace *trace = j->build->trace;
    for (size_t i = 0; i < trace->activities.count; i++) {
        uint32_t index = places ? places[i] : (uint32_t)i;
        const tkt_activity *activity = &trace->activities.items[index];
        j->is_bad[index] = lacks_time(j->build, activity);
        stream_state *state = j->is_bad[index] ? NULL : state_of(j, activity);
        if (state)
            visit(j, state, index);
    }
    for (size_t i = 0; i < j->states.count; i++)
        end_longest(j, &j->states.items[i]);
}

static void leave_out(const judge *j)
{
    takt_trace *trace = j->build->trace;
    size_t kept = 0;
    for (size_t i = 0; i < trace->activities.count; i++)
        if (!j->is_bad[i])
            trace->activities.items[kept++] = trace->activities.items[i];
    trace->losses[TAKT_LOSS_BAD_TIME] += trace->activities.count - kept;
    trace->activities.count = kept;
}

takt_status imp_finish_times(imp_build *build)
{
    takt_trace *trace = build->trace;
    if (build->has_own_times)
        return TAKT_OK;
    judge j = {.build = build, .is_bad = tkt_alloc_zeroed(trace->activities.count + 1)};
    uint32_t *places = NULL;
    takt_status status = j.is_bad ? TAKT_OK : TAKT_NO_MEMORY;
    if (status == TAKT_OK)
        status = tkt_order_find(TKT_ORDER_ITEMS(&trace->activities, 0), &places);
    if (status == TAKT_OK) {
        judge_all(&j, places);
        leave_out(&j);
    }
    for (size_t i = 0; i < trace->activities.count; i++)
        imp_build_extend(build, trace->activities.items[i].begin_ns,
                         trace->activities.items[i].end_ns);
    tkt_free(places);
    tkt_free(j.is_bad);
    tkt_streams_fini(&j.streams);
    TKT_ARRAY_FREE(&j.states);
    return build->is_short ? TAKT_NO_MEMORY : status;
}
