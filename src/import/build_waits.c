/* What torch's files do not say: that backward() waits.
 *
 * With work for a device, the engine of torch.autograd runs on threads of its own, and the thread
 * that called backward() sleeps. Its file shows a scope or a Python function that takes all of that
 * time. So while an engine's function runs on another thread of a process, the main thread's
 * innermost scope gets a child that waits, unless that is an operator, which works itself. */
#include "import/build.h"

#include <stdlib.h>
#include <string.h>

#define ENGINE   "autograd::engine::"
#define OPERATOR "cpu_op"
#define WAITS    "wait for autograd"

typedef struct interval {
    uint64_t begin_ns, end_ns;
} interval;

typedef TKT_ARRAY_OF(interval) intervals;

/* A span of the main thread that has not ended at the present one's begin. */
typedef struct open_span {
    uint64_t end_ns;
    bool may_wait;
} open_span;

typedef struct sweep {
    imp_build *build;
    imp_row *main;
    imp_what what;    /* of waits */
    intervals engine; /* ascending; none touch */
    size_t next;      /* the first that has not ended */
    uint64_t at_ns;   /* what came before is done */
    TKT_ARRAY_OF(open_span) open;
} sweep;

/* ---- When the engine works ------------------------------------------------------------------- */

static bool is_engine(const takt_trace *trace, uint32_t site)
{
    const char *name = tkt_trace_text(trace, trace->sites.items[site].name);
    return strncmp(name, ENGINE, sizeof ENGINE - 1) == 0;
}

static int by_begin(const void *a, const void *b)
{
    const interval *x = a, *y = b;
    return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

/* Joins intervals that overlap or touch. */
static void join(intervals *list)
{
    size_t kept = 0;
    if (list->count > 1)
        qsort(list->items, list->count, sizeof *list->items, by_begin);
    for (size_t i = 0; i < list->count; i++) {
        interval *last = kept ? &list->items[kept - 1] : NULL;
        if (!last || list->items[i].begin_ns > last->end_ns)
            list->items[kept++] = list->items[i];
        else if (list->items[i].end_ns > last->end_ns)
            last->end_ns = list->items[i].end_ns;
    }
    list->count = kept;
}

/* Finds when threads other than the main one run the engine's functions. False without memory. */
static bool find_engine(sweep *s)
{
    const imp_build *build = s->build;
    for (size_t i = 0; i < build->rows.count; i++) {
        const imp_row *row = &build->rows.items[i];
        if (row == s->main || row->process != s->main->process || row->track == IMP_NOTHING)
            continue;
        const tkt_spans *spans = &build->trace->tracks.items[row->track].spans;
        for (size_t k = 0; k < spans->count; k++) {
            const tkt_span *span = &spans->items[k];
            if (!is_engine(build->trace, tkt_span_site(span)))
                continue;
            interval *added = TKT_ARRAY_ADD(&s->engine);
            if (!added)
                return false;
            *added = (interval){span->begin_ns, span->end_ns};
        }
    }
    join(&s->engine);
    return true;
}

/* ---- When the main thread is in a scope that may wait ---------------------------------------- */

static bool may_wait(const takt_trace *trace, const tkt_span *span)
{
    const tkt_trace_site *site = &trace->sites.items[tkt_span_site(span)];
    return site->kind == TAKT_SITE_SCOPE &&
           strcmp(tkt_trace_text(trace, site->category), OPERATOR) != 0;
}

/* The innermost scope is the main thread's last one until then. */
static void pass(sweep *s, uint64_t until_ns)
{
    bool waits = s->open.count > 0 && s->open.items[s->open.count - 1].may_wait;
    while (s->next < s->engine.count && s->engine.items[s->next].end_ns <= s->at_ns)
        s->next++;
    for (size_t i = s->next; waits && i < s->engine.count; i++) {
        interval part = s->engine.items[i];
        if (part.begin_ns >= until_ns)
            break;
        part.begin_ns = part.begin_ns > s->at_ns ? part.begin_ns : s->at_ns;
        part.end_ns = part.end_ns < until_ns ? part.end_ns : until_ns;
        if (part.end_ns > part.begin_ns)
            imp_build_span(s->build, s->main, &s->what, part.begin_ns, part.end_ns);
    }
    s->at_ns = until_ns > s->at_ns ? until_ns : s->at_ns;
}

static void close_until(sweep *s, uint64_t begin_ns)
{
    while (s->open.count && s->open.items[s->open.count - 1].end_ns <= begin_ns) {
        pass(s, s->open.items[s->open.count - 1].end_ns);
        s->open.count--;
    }
}

/* By begin, the longer first. */
static int as_nested(const void *a, const void *b)
{
    const tkt_span *x = a, *y = b;
    if (x->begin_ns != y->begin_ns)
        return x->begin_ns < y->begin_ns ? -1 : 1;
    if (x->end_ns != y->end_ns)
        return x->end_ns > y->end_ns ? -1 : 1;
    return x->parent < y->parent ? -1 : 1;
}

/* Goes through a copy of the main thread's spans, to which waits are added. False without memory.
 */
static bool add_waits(sweep *s)
{
    const tkt_spans *spans = &s->build->trace->tracks.items[s->main->track].spans;
    size_t count = spans->count;
    tkt_span *sorted = tkt_alloc((count + 1) * sizeof *sorted);
    bool is_good = sorted != NULL;
    if (is_good && count > 0) {
        memcpy(sorted, spans->items, count * sizeof *sorted);
        qsort(sorted, count, sizeof *sorted, as_nested);
    }
    for (size_t i = 0; i < count && is_good; i++) {
        uint64_t end_ns = sorted[i].end_ns;
        close_until(s, sorted[i].begin_ns);
        pass(s, sorted[i].begin_ns);
        if (s->open.count && end_ns > s->open.items[s->open.count - 1].end_ns)
            end_ns = s->open.items[s->open.count - 1].end_ns;
        open_span *added = TKT_ARRAY_ADD(&s->open);
        is_good = added != NULL;
        if (added)
            *added = (open_span){end_ns, may_wait(s->build->trace, &sorted[i])};
    }
    close_until(s, UINT64_MAX);
    tkt_free(sorted);
    return is_good;
}

/* ---- Each process ---------------------------------------------------------------------------- */

static bool add_waits_of(imp_build *build, imp_row *main)
{
    sweep s = {.build = build, .main = main};
    bool is_good = find_engine(&s);
    if (is_good && s.engine.count > 0) {
        s.what = (imp_what){.name = imp_build_string(build, WAITS, sizeof WAITS - 1),
                            .category = imp_build_string(build, "wait", 4),
                            .kind = TAKT_SITE_SCOPE};
        is_good = add_waits(&s);
    }
    TKT_ARRAY_FREE(&s.engine);
    TKT_ARRAY_FREE(&s.open);
    return is_good;
}

static bool has_engine(const takt_trace *trace)
{
    for (size_t i = 0; i < trace->sites.count; i++)
        if (is_engine(trace, (uint32_t)i))
            return true;
    return false;
}

takt_status imp_add_waits(imp_build *build)
{
    if (build->is_short || !has_engine(build->trace))
        return build->is_short ? TAKT_NO_MEMORY : TAKT_OK;
    for (size_t i = 0; i < build->rows.count; i++) {
        imp_row *row = &build->rows.items[i];
        if (row->is_main && row->track != IMP_NOTHING && !add_waits_of(build, row))
            return TAKT_NO_MEMORY;
    }
    return build->is_short ? TAKT_NO_MEMORY : TAKT_OK;
}
