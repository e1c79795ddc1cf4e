/* Advice about threads that work together: one of them has more to do, or for long only one works.
 *
 * A scope that several threads opened about as often is work that they share. Its outermost spans
 * are the parallel time; what a thread does while none of them runs, and no other thread is in a
 * scope, is serial. Waits are no work. Beside a device that does the work, serial time of the host
 * is usual: rules for devices say if it matters. Only scopes are known: a thread may work outside
 * of them, so serial time is what it is "in scopes". */
#include "summary/advice.h"
#include "summary/owners.h"
#include "summary/threads.h"

#include "base/alloc.h"

#define SERIAL_SHARE  0.25
#define UNEVEN_FACTOR 1.25
#define UNEVEN_SHARE  0.10

/* True if threads can be compared. */
static bool can_compare(const tkt_advising *a)
{
    return a->trace->facts.has_spans && !tkt_trace_lacks_spans(a->trace) && a->wall_ns > 0;
}

static bool is_shared(const tkt_scope_total *scope)
{
    return scope->threads > 1 && scope->thread_max_calls <= 2 * scope->thread_min_calls &&
           !scope->is_wait;
}

/* ======== Imbalance ======== */

bool tkt_advise_threads(tkt_advising *a, tkt_advice *out)
{
    for (size_t i = 0; can_compare(a) && i < a->known->scopes->count; i++) {
        const tkt_scope_total *scope = &a->known->scopes->items[i];
        uint64_t mean_ns = is_shared(scope) ? scope->thread_sum_ns / scope->threads : 0;
        if (mean_ns == 0 || scope->thread_max_ns - mean_ns <= out->at_stake_ns)
            continue;
        uint32_t slowest = a->trace->tracks.items[scope->track].name;
        *out = (tkt_advice){.kind = TKT_ADVICE_THREADS,
                            .name = scope->name,
                            .device = slowest ? tkt_trace_text(a->trace, slowest) : NULL,
                            .count = scope->threads,
                            .time_ns = scope->thread_max_ns,
                            .other = mean_ns,
                            .factor = (double)scope->thread_max_ns / (double)mean_ns,
                            .at_stake_ns = scope->thread_max_ns - mean_ns};
    }
    return out->factor >= UNEVEN_FACTOR && (double)out->at_stake_ns >= UNEVEN_SHARE * a->wall_ns;
}

/* ======== Serial time ======== */

static bool is_thread(const tkt_track *track)
{
    return track->kind == TAKT_TRACK_THREAD && track->spans.count > 0;
}

/* Scopes of a name. */
typedef struct serial_site {
    uint64_t ns;    /* of the thread in question; 0 between threads */
    bool is_shared; /* by threads */
    bool is_wait;   /* nobody works in it */
} serial_site;

typedef struct serial {
    const takt_trace *trace;
    const uint32_t *named;
    serial_site *sites;  /* by site as in `named` */
    tkt_track stretches; /* its spans are the times in which no thread has a parallel span */
    size_t *next;        /* by track: its next span */
    tkt_heap parts;      /* the next parallel span of each thread, by begin */
    uint32_t sharers; /* threads with parallel spans; those that follow each other count as one */
    const tkt_track *track; /* the thread in question */
    uint64_t sum_ns;        /* its own */
} serial;

/* Advances to the track's next span of a shared site; spans inside one are skipped by the union. */
static bool push_part(serial *s, uint32_t track)
{
    const tkt_spans *spans = &s->trace->tracks.items[track].spans;
    for (size_t *i = &s->next[track]; *i < spans->count; ++*i)
        if (s->sites[s->named[tkt_span_site(&spans->items[*i])]].is_shared)
            return tkt_heap_add(&s->parts, spans->items[*i].begin_ns, track);
    return true;
}

/* False if none is shared. */
static bool find_sites(serial *s, const tkt_scopes *scopes)
{
    bool is_any_shared = false;
    for (size_t i = 0; i < scopes->count; i++) {
        const tkt_scope_total *scope = &scopes->items[i];
        if (scope->site == TKT_SITE_OTHER)
            continue;
        s->sites[s->named[scope->site]] = (serial_site){0, is_shared(scope), scope->is_wait};
        is_any_shared |= is_shared(scope);
    }
    return is_any_shared;
}

static bool begin_parts(serial *s)
{
    bool has_memory = true;
    for (uint32_t i = 0; has_memory && i < s->trace->tracks.count; i++)
        if (is_thread(&s->trace->tracks.items[i]))
            has_memory = push_part(s, i);
    return has_memory;
}

/* True if the thread has a parallel span that was not taken yet. */
static bool has_part(const serial *s, uint32_t track)
{
    return track != TKT_NO_TRACK && s->next[track] < s->trace->tracks.items[track].spans.count;
}

/* Call it before the first part is taken. */
static bool count_sharers(serial *s)
{
    tkt_placed_threads workers = {0};
    uint32_t place = UINT32_MAX; /* the last that was counted */
    bool has_memory = tkt_place_threads(s->trace, &workers) == TAKT_OK;
    s->sharers = has_part(s, tkt_main_track(s->trace));
    for (size_t i = 0; i < workers.count; i++) {
        if (workers.items[i].place == place || !has_part(s, workers.items[i].track))
            continue;
        place = workers.items[i].place;
        s->sharers++;
    }
    TKT_ARRAY_FREE(&workers);
    return has_memory;
}

static bool add_stretch(serial *s, uint64_t begin_ns, uint64_t end_ns)
{
    tkt_span *added = end_ns > begin_ns ? TKT_ARRAY_ADD(&s->stretches.spans) : NULL;
    if (added)
        *added = (tkt_span){.begin_ns = begin_ns, .end_ns = end_ns};
    return added || end_ns <= begin_ns;
}

/* Where the walk over a thread's work is. */
typedef struct working {
    const tkt_track *track;
    size_t next;      /* span */
    uint64_t from_ns; /* of the outermost scope, what is behind its last wait */
    uint64_t until_ns;
} working;

/* Finds the next time that the thread works: in an outermost scope, and in no wait in it. Times
 * follow each other. False at the end. */
static bool next_work(const serial *s, working *w, uint64_t *begin_ns, uint64_t *end_ns)
{
    const tkt_spans *spans = &w->track->spans;
    for (; w->next < spans->count; w->next++) {
        const tkt_span *span = &spans->items[w->next];
        bool is_wait = s->sites[s->named[tkt_span_site(span)]].is_wait;
        bool is_outermost = span->parent == TKT_NO_SPAN;
        if (!is_outermost && !(is_wait && span->begin_ns >= w->from_ns))
            continue;
        *begin_ns = w->from_ns;
        *end_ns = is_outermost ? w->until_ns : span->begin_ns;
        bool is_idle = is_outermost && (is_wait || tkt_span_is_call(span));
        w->from_ns = is_idle || !is_outermost ? span->end_ns : span->begin_ns;
        w->until_ns = is_outermost ? span->end_ns : w->until_ns;
        if (*begin_ns < *end_ns) {
            w->next++;
            return true;
        }
    }
    *begin_ns = w->from_ns;
    *end_ns = w->until_ns;
    w->from_ns = w->until_ns;
    return *begin_ns < *end_ns;
}

/* A time in which two threads work. Times arrive by begin. */
static bool cut_stretches(tkt_spans *stretches, tkt_spans *kept, size_t *at, uint64_t begin_ns,
                          uint64_t end_ns)
{
    while (*at < stretches->count && stretches->items[*at].begin_ns < end_ns) {
        tkt_span *stretch = &stretches->items[*at];
        if (stretch->begin_ns < begin_ns) {
            tkt_span *added = TKT_ARRAY_ADD(kept);
            if (!added)
                return false;
            *added = *stretch;
            added->end_ns = stretch->end_ns < begin_ns ? stretch->end_ns : begin_ns;
        }
        if (stretch->end_ns > end_ns) {
            stretch->begin_ns = end_ns > stretch->begin_ns ? end_ns : stretch->begin_ns;
            break;
        }
        ++*at;
    }
    return true;
}

typedef TKT_ARRAY_OF(working) working_list;

static bool push_work(const serial *s, working_list *threads, tkt_heap *heap, uint64_t *ends,
                      uint32_t thread)
{
    uint64_t begin_ns;
    return !next_work(s, &threads->items[thread], &begin_ns, &ends[thread]) ||
           tkt_heap_add(heap, begin_ns, thread);
}

/* Leaves of the stretches those times in which one thread works. Of each time that begins, what
 * lies before the latest end of the others is shared with one of them. */
static bool keep_single(serial *s)
{
    working_list threads = {0};
    tkt_heap heap = {0};
    tkt_spans kept = {0};
    uint64_t *ends = tkt_alloc((s->trace->tracks.count + 1) * sizeof *ends), until_ns = 0;
    size_t at = 0;
    bool has_memory = ends != NULL;
    for (uint32_t i = 0; has_memory && i < s->trace->tracks.count; i++) {
        working *added = is_thread(&s->trace->tracks.items[i]) ? TKT_ARRAY_ADD(&threads) : NULL;
        if (!added)
            continue;
        *added = (working){.track = &s->trace->tracks.items[i]};
        has_memory = push_work(s, &threads, &heap, ends, (uint32_t)threads.count - 1);
    }
    while (has_memory && heap.count > 0) {
        tkt_heap_item item = tkt_heap_take(&heap);
        uint64_t end_ns = ends[item.value], both_ns = end_ns < until_ns ? end_ns : until_ns;
        if (item.key < both_ns)
            has_memory = cut_stretches(&s->stretches.spans, &kept, &at, item.key, both_ns);
        until_ns = end_ns > until_ns ? end_ns : until_ns;
        has_memory = has_memory && push_work(s, &threads, &heap, ends, item.value);
    }
    has_memory =
        has_memory && cut_stretches(&s->stretches.spans, &kept, &at, UINT64_MAX, UINT64_MAX);
    TKT_ARRAY_FREE(&s->stretches.spans);
    s->stretches.spans = kept;
    TKT_ARRAY_FREE(&threads);
    TKT_ARRAY_FREE(&heap);
    tkt_free(ends);
    return has_memory;
}

/* Finds the stretches between parallel spans. False without memory. */
static bool walk_parts(serial *s)
{
    uint64_t until_ns = s->trace->facts.begin_ns;
    bool has_memory = begin_parts(s) && count_sharers(s);
    while (has_memory && s->parts.count > 0) {
        tkt_heap_item part = tkt_heap_take(&s->parts);
        const tkt_span *span = &s->trace->tracks.items[part.value].spans.items[s->next[part.value]];
        has_memory = add_stretch(s, until_ns, span->begin_ns);
        until_ns = span->end_ns > until_ns ? span->end_ns : until_ns;
        s->next[part.value]++;
        has_memory = has_memory && push_part(s, part.value);
    }
    return has_memory && add_stretch(s, until_ns, s->trace->facts.end_ns) && keep_single(s);
}

static void add_serial(void *user, uint32_t span, uint64_t begin_ns, uint64_t end_ns)
{
    serial *s = user;
    uint32_t scope = tkt_scope_of(s->track, span);
    if (scope == TKT_NO_SPAN)
        return;
    serial_site *site = &s->sites[s->named[tkt_span_site(&s->track->spans.items[scope])]];
    uint64_t ns = site->is_wait ? 0 : end_ns - begin_ns;
    site->ns += ns;
    s->sum_ns += ns;
}

/* Adds up what the thread did in the stretches. */
static void add_stretches(serial *s)
{
    const tkt_spans *spans = &s->track->spans, *stretches = &s->stretches.spans;
    uint64_t end_ns = tkt_spans_end(spans);
    size_t i = tkt_spans_begun(&s->stretches, spans->items[0].begin_ns);
    for (i -= i > 0; i < stretches->count && stretches->items[i].begin_ns < end_ns; i++) {
        const tkt_span *at = &stretches->items[i];
        tkt_visit_stays(s->track, tkt_spans_begun(s->track, at->begin_ns), at->begin_ns, at->end_ns,
                        add_serial, s);
    }
}

/* Keeps what a thread did in the stretches if it is more than another's. Threads may be thousands,
 * so this visits a thread's own spans, not all sites. */
static void judge_thread(const tkt_advising *a, serial *s, const tkt_track *track, tkt_advice *out)
{
    bool shares = false;
    s->track = track;
    s->sum_ns = 0;
    add_stretches(s);
    bool is_most = s->sum_ns > out->time_ns;
    if (is_most)
        *out = (tkt_advice){.kind = TKT_ADVICE_SERIAL,
                            .time_ns = s->sum_ns,
                            .share = (double)s->sum_ns / a->wall_ns,
                            .at_stake_ns = s->sum_ns};
    for (size_t i = 0; i < track->spans.count; i++) {
        serial_site *site = &s->sites[s->named[tkt_span_site(&track->spans.items[i])]];
        shares |= site->is_shared;
        if (is_most && site->ns > out->other) {
            out->other = site->ns;
            out->name = tkt_trace_text(a->trace, tkt_span_name(a->trace, &track->spans.items[i]));
        }
        site->ns = 0;
    }
    if (is_most)
        out->count = s->sharers + !shares;
}

bool tkt_advise_serial(tkt_advising *a, tkt_advice *out)
{
    const takt_trace *trace = a->trace;
    serial s = {.trace = trace, .named = a->named};
    if (a->known->uses->count > 0 || !can_compare(a))
        return false;
    s.sites = tkt_alloc_zeroed(trace->sites.count * sizeof *s.sites);
    s.next = tkt_alloc_zeroed(trace->tracks.count * sizeof *s.next);
    bool is_any_shared = s.sites && find_sites(&s, a->known->scopes);
    bool has_memory = s.sites && s.next && (!is_any_shared || walk_parts(&s));
    a->is_short |= !has_memory;
    for (size_t i = 0; has_memory && s.sharers > 1 && i < trace->tracks.count; i++)
        if (is_thread(&trace->tracks.items[i]))
            judge_thread(a, &s, &trace->tracks.items[i], out);
    TKT_ARRAY_FREE(&s.parts);
    TKT_ARRAY_FREE(&s.stretches.spans);
    tkt_free(s.next);
    tkt_free(s.sites);
    return out->share >= SERIAL_SHARE;
}
