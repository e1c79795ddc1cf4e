/* Advice about steps: those that stand out, and what they do besides computing. */
#include "summary/advice.h"
#include "summary/memory.h"
#include "summary/owners.h"
#include "summary/steps.h"

#include "base/alloc.h"
#include "trace/devices.h"

#include <string.h>

#define LEAST_STEPS      5   /* with fewer, no step is unusual */
#define LEAST_UNEVEN     100 /* with fewer, p99 is simply the slowest one */
#define SLOW_FACTOR      3
#define SLOW_SHARE       0.05
#define ONE_SHARE        0.5 /* of the time lost in slow steps: then it is about one of them */
#define GREW_SHARE       0.1
#define ALLOCATING_SHARE 0.05
#define ALLOCATED_BYTES  (1024 * 1024)

/* ======== What grew ======== */

/* Time of a site, in the slow step and in the others. */
typedef struct site_time {
    uint64_t slow_ns;
    uint64_t other_ns;
} site_time;

typedef struct growing {
    const takt_trace *trace;
    const tkt_track *track;
    const uint32_t *named;
    site_time *times; /* by site; 0: outside of scopes */
    bool is_slow;
} growing;

static void add_time(growing *g, uint32_t site, uint64_t ns)
{
    site_time *time = &g->times[g->named[site]];
    *(g->is_slow ? &time->slow_ns : &time->other_ns) += ns;
}

/* Time in a call counts for the call and for its scope. */
static void add_stay(void *user, uint32_t span, uint64_t begin_ns, uint64_t end_ns)
{
    growing *g = user;
    uint32_t scope = tkt_scope_of(g->track, span);
    add_time(g, scope == TKT_NO_SPAN ? 0 : tkt_span_site(&g->track->spans.items[scope]),
             end_ns - begin_ns);
    if (span != scope)
        add_time(g, tkt_span_site(&g->track->spans.items[span]), end_ns - begin_ns);
}

static void add_covered(void *user, uint32_t span, uint64_t begin_ns, uint64_t end_ns)
{
    uint64_t *covered_ns = user;
    *covered_ns += span == TKT_NO_SPAN ? 0 : end_ns - begin_ns;
}

/* The thread that steps: the main thread if it was in scopes for half of the step, otherwise the
 * one that was for the most time. A worker may be in a scope that waits all the time. NULL: none.
 */
static const tkt_track *stepping_track(const takt_trace *trace, const tkt_step *step)
{
    const tkt_track *busiest = NULL;
    uint64_t most_ns = 0;
    for (size_t i = 0; i < trace->tracks.count; i++) {
        const tkt_track *track = &trace->tracks.items[i];
        uint64_t covered_ns = 0;
        if (track->kind != TAKT_TRACK_THREAD)
            continue;
        tkt_visit_stays(track, tkt_spans_begun(track, step->begin_ns), step->begin_ns, step->end_ns,
                        add_covered, &covered_ns);
        if (track->thread_id == trace->facts.process_id && covered_ns >= tkt_step_ns(step) / 2)
            return track;
        if (covered_ns > most_ns) {
            busiest = track;
            most_ns = covered_ns;
        }
    }
    return busiest;
}

/* The site of calls, or of scopes and the time outside, whose time in the slow step exceeds its
 * mean in the others most. UINT32_MAX: none does. */
static uint32_t site_that_grew(const growing *g, bool is_call, uint64_t *grew_ns)
{
    uint32_t best = UINT32_MAX;
    *grew_ns = 0;
    for (uint32_t i = 0; i < g->trace->sites.count; i++) {
        uint64_t usual_ns = g->times[i].other_ns / (g->trace->steps.count - 1);
        if (tkt_site_is_call(g->trace, i) != is_call || g->times[i].slow_ns < usual_ns + 1 ||
            g->times[i].slow_ns - usual_ns <= *grew_ns)
            continue;
        best = i;
        *grew_ns = g->times[i].slow_ns - usual_ns;
    }
    return best;
}

static void name_growth(const growing *g, tkt_advice *out)
{
    uint64_t grew_ns, call_ns;
    uint32_t scope = site_that_grew(g, false, &grew_ns);
    uint32_t call = site_that_grew(g, true, &call_ns);
    if (scope == UINT32_MAX || (double)grew_ns < GREW_SHARE * (double)out->time_ns)
        return;
    out->grew_ns = grew_ns;
    if (scope != 0)
        out->name = tkt_trace_text(g->trace, g->trace->sites.items[scope].name);
    if (call != UINT32_MAX && call_ns >= grew_ns / 2)
        out->call = tkt_trace_text(g->trace, g->trace->sites.items[call].name);
}

static void find_growth(tkt_advising *a, const tkt_step *slow, tkt_advice *out)
{
    growing g = {.trace = a->trace, .named = a->named};
    if (!a->trace->facts.has_spans || !(g.track = stepping_track(a->trace, slow)))
        return;
    g.times = tkt_alloc_zeroed(a->trace->sites.count * sizeof *g.times);
    if (!g.times) {
        a->is_short = true;
        return;
    }
    for (size_t i = 0; i < a->trace->steps.count; i++) {
        const tkt_step *step = &a->trace->steps.items[i];
        g.is_slow = step == slow;
        tkt_visit_stays(g.track, tkt_spans_begun(g.track, step->begin_ns), step->begin_ns,
                        step->end_ns, add_stay, &g);
    }
    name_growth(&g, out);
    tkt_free(g.times);
}

/* ======== Slow steps ======== */

typedef struct slow_steps {
    const tkt_step *slowest;
    uint64_t count;
    uint64_t extra_ns; /* beyond the median */
} slow_steps;

static slow_steps find_slow(const takt_trace *trace, uint64_t median_ns)
{
    slow_steps slow = {0};
    for (size_t i = 0; i < trace->steps.count; i++) {
        const tkt_step *step = &trace->steps.items[i];
        if (tkt_step_ns(step) < SLOW_FACTOR * median_ns)
            continue;
        slow.count++;
        slow.extra_ns += tkt_step_ns(step) - median_ns;
        if (!slow.slowest || tkt_step_ns(step) > tkt_step_ns(slow.slowest))
            slow.slowest = step;
    }
    return slow;
}

/* Steps that were not recorded can be slow, too; of them only the distribution is known. At stake
 * is the extra time of the slowest 1 % of as many steps as were recorded. */
static bool advise_uneven(const tkt_advising *a, tkt_advice *out)
{
    uint64_t count = a->trace->all_steps.stats.count;
    if (count < LEAST_UNEVEN || count <= a->trace->steps.count)
        return false;
    tkt_step_figures steps = tkt_steps_all(a->trace);
    if (steps.median_ns == 0 || steps.p99_ns < 2 * steps.median_ns)
        return false;
    *out = (tkt_advice){.kind = TKT_ADVICE_UNEVEN,
                        .time_ns = steps.p99_ns,
                        .other = steps.median_ns,
                        .at_stake_ns =
                            (steps.p99_ns - steps.median_ns) * a->trace->facts.step_count / 100};
    return true;
}

bool tkt_advise_slow_steps(tkt_advising *a, tkt_advice *out)
{
    tkt_step_figures figures = tkt_steps_recorded(a->trace);
    if (figures.count < LEAST_STEPS || figures.median_ns == 0)
        return advise_uneven(a, out);
    slow_steps slow = find_slow(a->trace, figures.median_ns);
    if (!slow.slowest || (double)slow.extra_ns < SLOW_SHARE * a->wall_ns || a->wall_ns <= 0)
        return advise_uneven(a, out);
    uint64_t time_ns = tkt_step_ns(slow.slowest);
    uint64_t extra_ns = time_ns - figures.median_ns;
    bool is_one = (double)extra_ns >= ONE_SHARE * (double)slow.extra_ns;
    *out = (tkt_advice){.kind = !is_one                                 ? TKT_ADVICE_SLOW_STEPS
                                : slow.slowest == a->trace->steps.items ? TKT_ADVICE_FIRST
                                                                        : TKT_ADVICE_OUTLIER,
                        .count = slow.count,
                        .time_ns = is_one ? time_ns : slow.extra_ns,
                        .factor = (double)time_ns / (double)figures.median_ns,
                        .has_step = true,
                        .step = slow.slowest->number,
                        .begin_ns = slow.slowest->begin_ns,
                        .end_ns = slow.slowest->end_ns,
                        .at_stake_ns = is_one ? extra_ns : slow.extra_ns};
    out->share = (double)out->time_ns / a->wall_ns;
    find_growth(a, slow.slowest, out);
    if (is_one) {
        a->slow_begin_ns = out->begin_ns;
        a->slow_end_ns = out->end_ns;
    }
    return true;
}

bool tkt_advise_few_steps(tkt_advising *a, tkt_advice *out)
{
    *out = (tkt_advice){.kind = TKT_ADVICE_FEW, .count = a->trace->steps.count};
    return out->count > 0 && out->count < LEAST_STEPS && a->trace->facts.cycle == 0; /* once a run */
}

/* ======== Allocation in steps ======== */

typedef struct allocating {
    const takt_trace *trace;
    const uint32_t *named;
    uint64_t *by_site; /* time or bytes by scope, and time by call */
    uint64_t count;
    uint64_t sum;       /* of all scopes */
    uint64_t most_ns;   /* in calls, on the thread that spent most in them */
    uint64_t before_ns; /* in calls, on the threads before this one */
    uint32_t track;     /* the thread's */
} allocating;

/* Returns the recorded step that includes this time, or NULL. */
static const tkt_step *step_at(const takt_trace *trace, uint64_t time_ns)
{
    size_t first = 0, end = trace->steps.count;
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (trace->steps.items[middle].begin_ns <= time_ns)
            first = middle + 1;
        else
            end = middle;
    }
    bool is_inside = first > 0 && time_ns < trace->steps.items[first - 1].end_ns;
    return is_inside ? &trace->steps.items[first - 1] : NULL;
}

static void add_to_scope(allocating *g, uint32_t track, uint32_t span, uint64_t amount)
{
    g->count++;
    g->sum += amount;
    g->by_site[g->named[tkt_site_around(g->trace, track, span)]] += amount;
}

/* Calls are sorted by thread. */
static bool add_call(void *user, uint32_t number)
{
    allocating *g = user;
    const tkt_call_info *call = &g->trace->calls.items[number];
    const tkt_span *span = tkt_call_span(g->trace, number);
    if (!step_at(g->trace, span->begin_ns))
        return true;
    g->before_ns = call->track == g->track ? g->before_ns : g->sum;
    g->track = call->track;
    add_to_scope(g, call->track, call->span, span->end_ns - span->begin_ns);
    g->by_site[g->named[tkt_span_site(span)]] += span->end_ns - span->begin_ns;
    if (g->sum - g->before_ns > g->most_ns)
        g->most_ns = g->sum - g->before_ns;
    return true;
}

/* Adds what was allocated and freed again in the same step. */
static void add_host_memory(tkt_advising *a, allocating *g)
{
    tkt_map made = {0}; /* address -> its allocation's index + 1 */
    const tkt_memory_event *events = a->trace->memory_events.items;
    for (size_t i = 0; i < a->trace->memory_events.count; i++) {
        const tkt_step *step = events[i].device == 0 ? step_at(a->trace, events[i].time_ns) : NULL;
        uint64_t *at = step ? tkt_map_put(&made, events[i].address) : NULL;
        a->is_short |= step && !at;
        if (!at)
            continue;
        const tkt_memory_event *from = *at ? &events[*at - 1] : NULL;
        *at = events[i].bytes > 0 ? i + 1 : 0;
        if (from && *at == 0 && from->time_ns >= step->begin_ns)
            add_to_scope(g, from->track, from->span, (uint64_t)from->bytes);
    }
    tkt_map_fini(&made);
}

/* The name of the call, or of the scope, with the most. NULL: most was outside of scopes. */
static const char *top_site(const allocating *g, bool is_call)
{
    uint32_t top = 0;
    for (uint32_t i = 1; i < g->trace->sites.count; i++)
        if (tkt_site_is_call(g->trace, i) == is_call &&
            (g->by_site[i] > g->by_site[top] || (is_call && top == 0)))
            top = i;
    return top ? tkt_trace_text(g->trace, g->trace->sites.items[top].name) : NULL;
}

/* Calls cost the time that they take. Memory of the host that is large enough to come from the
 * system costs page faults, whose time is unknown: nothing is at stake as far as Takt knows. */
static bool judge_allocation(tkt_advising *a, allocating *g, tkt_advice *out)
{
    uint64_t steps = a->trace->steps.count, steps_ns = 0;
    for (size_t i = 0; i < steps; i++)
        steps_ns += tkt_step_ns(&a->trace->steps.items[i]);
    a->is_short |= tkt_calls_visit(a->trace, tkt_call_allocates, add_call, g) != TAKT_OK;
    if (g->count >= steps && g->most_ns > 0 &&
        (double)g->most_ns >= ALLOCATING_SHARE * (double)steps_ns) {
        *out = (tkt_advice){.kind = TKT_ADVICE_ALLOCATION,
                            .name = top_site(g, false),
                            .call = top_site(g, true),
                            .count = g->count,
                            .time_ns = g->most_ns,
                            .share = (double)g->most_ns / (double)steps_ns,
                            .at_stake_ns = g->most_ns};
        a->allocating_ns = g->most_ns;
        return true;
    }
    memset(g->by_site, 0, a->trace->sites.count * sizeof *g->by_site);
    g->count = g->sum = 0;
    add_host_memory(a, g);
    *out = (tkt_advice){.kind = TKT_ADVICE_ALLOCATION,
                        .name = top_site(g, false),
                        .count = g->count,
                        .other = g->sum};
    return g->count >= steps && g->sum / steps >= ALLOCATED_BYTES;
}

bool tkt_advise_allocation(tkt_advising *a, tkt_advice *out)
{
    allocating g = {.trace = a->trace, .named = a->named, .track = TKT_NO_TRACK};
    if (!a->trace->facts.has_spans || a->trace->steps.count == 0 ||
        (a->trace->calls.count == 0 && a->trace->memory_events.count == 0))
        return false;
    g.by_site = tkt_alloc_zeroed(a->trace->sites.count * sizeof *g.by_site);
    if (!g.by_site) {
        a->is_short = true;
        return false;
    }
    bool is_ill = judge_allocation(a, &g, out);
    tkt_free(g.by_site);
    return is_ill;
}
