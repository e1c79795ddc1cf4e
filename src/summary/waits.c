/* Scopes in which threads only wait for each other. They are known by name: a scope "waits" if its
 * name says so. A single thread that waits for something else, such as a disk, may well be the
 * bottleneck, so what the other threads did meanwhile decides. */
#include "summary/threads.h"

#include <ctype.h>
#include <string.h>

/* True if the name has the word by itself: "idle loop", but not "gridLevel". */
static bool has_word(const char *name, const char *word)
{
    size_t size = strlen(word);
    for (const char *at = strcasestr(name, word); at; at = strcasestr(at + 1, word))
        if ((at == name || !isalpha((unsigned char)at[-1])) && !isalpha((unsigned char)at[size]))
            return true;
    return false;
}

bool tkt_scope_waits(const char *name)
{
    return strcasestr(name, "wait") || strcasestr(name, "_barrier") || has_word(name, "idle") ||
           has_word(name, "sleep");
}

static const char *name_of(const takt_trace *trace, const tkt_span *span)
{
    return tkt_trace_text(trace, tkt_span_name(trace, span));
}

/* ---- Of a trace with spans ------------------------------------------------------------------- */

static bool has_scope(const takt_trace *trace, const tkt_track *track, const char *name)
{
    for (size_t i = 0; track->kind == TAKT_TRACK_THREAD && i < track->spans.count; i++)
        if (name_of(trace, &track->spans.items[i]) == name)
            return true;
    return false;
}

static bool is_work(const takt_trace *trace, const tkt_span *span)
{
    return span->parent == TKT_NO_SPAN && !tkt_span_is_call(span) &&
           !tkt_scope_waits(name_of(trace, span));
}

static uint64_t overlap_ns(const tkt_span *a, const tkt_span *b)
{
    uint64_t begin = a->begin_ns > b->begin_ns ? a->begin_ns : b->begin_ns;
    uint64_t end = a->end_ns < b->end_ns ? a->end_ns : b->end_ns;
    return end > begin ? end - begin : 0;
}

/* The time that `worker` worked while `waiter` was in the scope. */
static uint64_t worked_ns(const takt_trace *trace, const tkt_track *worker,
                          const tkt_track *waiter, const char *name)
{
    const tkt_spans *works = &worker->spans, *waits = &waiter->spans;
    uint64_t sum_ns = 0;
    size_t first = 0; /* waits before this one are over */
    for (size_t i = 0; i < works->count; i++) {
        const tkt_span *work = &works->items[i];
        if (!is_work(trace, work))
            continue;
        while (first < waits->count && (name_of(trace, &waits->items[first]) != name ||
                                        waits->items[first].end_ns <= work->begin_ns))
            first++;
        for (size_t k = first; k < waits->count && waits->items[k].begin_ns < work->end_ns; k++)
            if (name_of(trace, &waits->items[k]) == name)
                sum_ns += overlap_ns(work, &waits->items[k]);
    }
    return sum_ns;
}

static bool is_wait_among_spans(const takt_trace *trace, const tkt_scope_total *scope)
{
    const tkt_track *waiter = NULL;
    uint64_t sum_ns = 0;
    for (size_t i = 0; i < trace->tracks.count; i++) {
        const tkt_track *track = &trace->tracks.items[i];
        if (!has_scope(trace, track, scope->name))
            continue;
        if (waiter)
            return true;
        waiter = track;
    }
    for (size_t i = 0; waiter && i < trace->tracks.count; i++) {
        const tkt_track *track = &trace->tracks.items[i];
        if (track->kind == TAKT_TRACK_THREAD && track != waiter)
            sum_ns += worked_ns(trace, track, waiter, scope->name);
    }
    return sum_ns > 0 && sum_ns >= scope->total_ns / 2;
}

/* ---- Of a summary ---------------------------------------------------------------------------- */

/* The number of threads that were in the scope, and the id of one of them. */
static size_t count_waiters(const takt_trace *trace, const char *name, uint32_t *id)
{
    const tkt_fold *fold = &trace->fold;
    size_t count = 0, part = 0;
    for (size_t i = 0; i < fold->threads.count; i++) {
        bool is_in = false;
        for (; part < fold->threads.items[i].end; part++) {
            uint32_t site = fold->items[fold->parts.items[part].node].site;
            is_in |= tkt_trace_text(trace, trace->sites.items[site].name) == name;
        }
        count += is_in;
        *id = is_in ? fold->threads.items[i].thread_id : *id;
    }
    return count;
}

/* Nobody knows when threads worked, so all that they worked counts. */
static bool is_wait_in_summary(const takt_trace *trace, const tkt_scope_total *scope)
{
    tkt_threads threads = {0};
    uint32_t waiter = 0;
    uint64_t sum_ns = 0;
    size_t waiters = count_waiters(trace, scope->name, &waiter);
    takt_status status = waiters == 1 ? tkt_threads_of(trace, &threads) : TAKT_NO_SPANS;
    for (size_t i = 0; status == TAKT_OK && i < threads.count; i++)
        if (threads.items[i].thread_id != waiter)
            sum_ns += threads.items[i].scope_ns - threads.items[i].wait_ns;
    tkt_threads_fini(&threads);
    return waiters > 1 || (sum_ns > 0 && sum_ns >= scope->total_ns / 2);
}

bool tkt_scope_waits_for_threads(const takt_trace *trace, const tkt_scope_total *scope)
{
    return tkt_scope_waits(scope->name) &&
           (tkt_trace_prefers_lists(trace) ? is_wait_in_summary : is_wait_among_spans)(trace,
                                                                                       scope);
}
