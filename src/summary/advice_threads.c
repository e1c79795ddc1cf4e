/* Advice about threads that work together: one of them has more to do, or for long only one works.
 *
 * A scope that several threads opened about as often is work that they share. Its outermost spans
 * are the parallel time; what a thread does while none of them runs is serial. Waits are no work.
 * Beside a device that does the work, serial time of the host is usual: rules for devices say if it
 * matters. */
#include "summary/advice.h"
#include "summary/owners.h"
#include "summary/threads.h"

#include "base/alloc.h"

#include <string.h>

#define SERIAL_SHARE  0.25
#define UNEVEN_FACTOR 1.25
#define UNEVEN_SHARE  0.10

/* The sites of a name, on all threads. */
struct tkt_advised_site {
    uint32_t threads;
    uint32_t slowest; /* track */
    uint64_t max_ns;
    uint64_t sum_ns;
    uint64_t least_calls;
    uint64_t most_calls;
    bool waits;        /* by its name: nobody works in it */
    uint64_t ns;       /* on the thread being added, as are the next two */
    uint64_t until_ns; /* when its latest outermost span ended */
    uint64_t calls;
};

static bool is_shared(const tkt_advised_site *site)
{
    return site->threads > 1 && site->most_calls <= 2 * site->least_calls && !site->waits;
}

static bool is_thread(const tkt_track *track)
{
    return track->kind == TAKT_TRACK_THREAD && track->spans.count > 0;
}

static bool has_threads(const tkt_advising *a)
{
    size_t threads = 0;
    for (size_t i = 0; i < a->trace->tracks.count; i++)
        threads += is_thread(&a->trace->tracks.items[i]);
    return threads > 1 && a->trace->facts.has_spans && !tkt_trace_lacks_spans(a->trace) &&
           a->wall_ns > 0;
}

static void add_site(tkt_advised_site *site, uint32_t track)
{
    if (site->ns > site->max_ns || site->threads == 0)
        site->slowest = track;
    site->max_ns = site->ns > site->max_ns ? site->ns : site->max_ns;
    site->sum_ns += site->ns;
    site->most_calls = site->calls > site->most_calls ? site->calls : site->most_calls;
    if (site->threads == 0 || site->calls < site->least_calls)
        site->least_calls = site->calls;
    site->threads++;
    site->ns = site->until_ns = site->calls = 0;
}

static void add_track(const tkt_advising *a, uint32_t number)
{
    const tkt_spans *spans = &a->trace->tracks.items[number].spans;
    for (size_t i = 0; i < spans->count; i++) {
        const tkt_span *span = &spans->items[i];
        tkt_advised_site *site = &a->sites[a->named[tkt_span_site(span)]];
        site->calls += !tkt_span_is_call(span);
        if (span->begin_ns < site->until_ns)
            continue;
        site->until_ns = span->end_ns;
        site->ns += span->end_ns - span->begin_ns;
    }
    for (size_t i = 0; i < spans->count; i++) { /* visiting all would cost threads times sites */
        tkt_advised_site *site = &a->sites[a->named[tkt_span_site(&spans->items[i])]];
        if (site != a->sites && site->calls > 0) /* the first one has no name */
            add_site(site, number);
    }
}

/* Computed once. NULL: with one thread only, or without memory. */
static const tkt_advised_site *sites_of(tkt_advising *a)
{
    const takt_trace *trace = a->trace;
    if (a->sites || !has_threads(a))
        return a->sites;
    a->sites = tkt_alloc_zeroed(trace->sites.count * sizeof *a->sites);
    a->is_short |= !a->sites;
    for (uint32_t i = 0; a->sites && i < trace->sites.count; i++)
        a->sites[i].waits = tkt_scope_waits(tkt_trace_text(trace, trace->sites.items[i].name));
    for (uint32_t i = 0; a->sites && i < trace->tracks.count; i++)
        if (is_thread(&trace->tracks.items[i]))
            add_track(a, i);
    return a->sites;
}

/* ======== Imbalance ======== */

static uint64_t waste_ns(const tkt_advised_site *site)
{
    return is_shared(site) ? site->max_ns - site->sum_ns / site->threads : 0;
}

bool tkt_advise_threads(tkt_advising *a, tkt_advice *out)
{
    const takt_trace *trace = a->trace;
    const tkt_advised_site *sites = sites_of(a);
    if (!sites)
        return false;
    uint32_t worst = 0;
    for (uint32_t i = 1; i < trace->sites.count; i++)
        worst = waste_ns(&sites[i]) > waste_ns(&sites[worst]) ? i : worst;
    const tkt_advised_site *site = &sites[worst];
    uint64_t mean_ns = site->threads ? site->sum_ns / site->threads : 0;
    uint32_t slowest = trace->tracks.items[site->slowest].name;
    *out = (tkt_advice){.kind = TKT_ADVICE_THREADS,
                        .name = tkt_trace_text(trace, trace->sites.items[worst].name),
                        .device = slowest ? tkt_trace_text(trace, slowest) : NULL,
                        .count = site->threads,
                        .time_ns = site->max_ns,
                        .other = mean_ns,
                        .factor = mean_ns ? (double)site->max_ns / (double)mean_ns : 0,
                        .at_stake_ns = waste_ns(site)};
    return out->factor >= UNEVEN_FACTOR && (double)out->at_stake_ns >= UNEVEN_SHARE * a->wall_ns;
}

/* ======== Serial time ======== */

/* A time in which no thread has a parallel span. */
typedef struct stretch {
    uint64_t begin_ns;
    uint64_t end_ns;
} stretch;

typedef struct serial {
    const takt_trace *trace;
    const uint32_t *named;
    const tkt_advised_site *sites;
    TKT_ARRAY_OF(stretch) stretches;
    size_t *next;   /* by track: its next span */
    tkt_heap parts; /* the next parallel span of each thread, by begin */
    uint32_t sharers;       /* threads with parallel spans */
    const tkt_track *track; /* the thread in question, as are the next two */
    uint64_t *by_site;
    uint64_t sum_ns;
} serial;

/* Advances to the track's next span of a shared site; spans inside one are skipped by the union. */
static bool push_part(serial *s, uint32_t track)
{
    const tkt_spans *spans = &s->trace->tracks.items[track].spans;
    for (size_t *i = &s->next[track]; *i < spans->count; ++*i)
        if (is_shared(&s->sites[s->named[tkt_span_site(&spans->items[*i])]]))
            return tkt_heap_add(&s->parts, spans->items[*i].begin_ns, track);
    return true;
}

static bool begin_parts(serial *s)
{
    bool has_memory = true;
    for (uint32_t i = 0; has_memory && i < s->trace->tracks.count; i++)
        if (is_thread(&s->trace->tracks.items[i]))
            has_memory = push_part(s, i);
    s->sharers = (uint32_t)s->parts.count;
    return has_memory;
}

static bool add_stretch(serial *s, uint64_t begin_ns, uint64_t end_ns)
{
    stretch *added = end_ns > begin_ns ? TKT_ARRAY_ADD(&s->stretches) : NULL;
    if (added)
        *added = (stretch){begin_ns, end_ns};
    return added || end_ns <= begin_ns;
}

/* Finds the stretches between parallel spans. False without memory. */
static bool walk_parts(serial *s)
{
    uint64_t until_ns = s->trace->facts.begin_ns;
    bool has_memory = begin_parts(s);
    while (has_memory && s->parts.count > 0) {
        tkt_heap_item part = tkt_heap_take(&s->parts);
        const tkt_span *span = &s->trace->tracks.items[part.value].spans.items[s->next[part.value]];
        has_memory = add_stretch(s, until_ns, span->begin_ns);
        until_ns = span->end_ns > until_ns ? span->end_ns : until_ns;
        s->next[part.value]++;
        has_memory = has_memory && push_part(s, part.value);
    }
    return has_memory && add_stretch(s, until_ns, s->trace->facts.end_ns);
}

static void add_serial(void *user, uint32_t span, uint64_t begin_ns, uint64_t end_ns)
{
    serial *s = user;
    uint32_t scope = tkt_scope_of(s->track, span);
    uint32_t site =
        scope == TKT_NO_SPAN ? 0 : s->named[tkt_span_site(&s->track->spans.items[scope])];
    if (scope == TKT_NO_SPAN || s->sites[site].waits)
        return;
    s->by_site[site] += end_ns - begin_ns;
    s->sum_ns += end_ns - begin_ns;
}

/* Adds up what a thread did in the stretches, and keeps that if it is more than another's. */
static void judge_thread(tkt_advising *a, serial *s, const tkt_track *track, tkt_advice *out)
{
    uint32_t top = 0, threads = s->sharers + 1;
    s->track = track;
    s->sum_ns = 0;
    memset(s->by_site, 0, a->trace->sites.count * sizeof *s->by_site);
    for (size_t i = 0; i < s->stretches.count; i++) {
        const stretch *at = &s->stretches.items[i];
        tkt_visit_stays(track, tkt_spans_begun(track, at->begin_ns), at->begin_ns, at->end_ns,
                        add_serial, s);
    }
    for (uint32_t i = 1; i < a->trace->sites.count; i++)
        top = s->by_site[i] > s->by_site[top] ? i : top;
    for (size_t i = 0; i < track->spans.count && threads > s->sharers; i++)
        threads -= is_shared(&s->sites[s->named[tkt_span_site(&track->spans.items[i])]]);
    if (s->sum_ns <= out->time_ns)
        return;
    *out = (tkt_advice){.kind = TKT_ADVICE_SERIAL,
                        .name = tkt_trace_text(a->trace, a->trace->sites.items[top].name),
                        .count = threads,
                        .time_ns = s->sum_ns,
                        .other = s->by_site[top],
                        .share = (double)s->sum_ns / a->wall_ns,
                        .at_stake_ns = s->sum_ns};
}

bool tkt_advise_serial(tkt_advising *a, tkt_advice *out)
{
    const takt_trace *trace = a->trace;
    bool has_devices = a->known->uses->count > 0;
    const tkt_advised_site *sites = has_devices ? NULL : sites_of(a);
    if (!sites)
        return false;
    serial s = {.trace = trace, .named = a->named, .sites = sites};
    s.by_site = tkt_alloc_zeroed(trace->sites.count * sizeof *s.by_site);
    s.next = tkt_alloc_zeroed(trace->tracks.count * sizeof *s.next);
    bool has_memory = s.by_site && s.next && walk_parts(&s);
    a->is_short |= !has_memory;
    for (size_t i = 0; has_memory && s.sharers > 1 && i < trace->tracks.count; i++)
        if (is_thread(&trace->tracks.items[i]))
            judge_thread(a, &s, &trace->tracks.items[i], out);
    TKT_ARRAY_FREE(&s.parts);
    TKT_ARRAY_FREE(&s.stretches);
    tkt_free(s.next);
    tkt_free(s.by_site);
    return out->share >= SERIAL_SHARE;
}
