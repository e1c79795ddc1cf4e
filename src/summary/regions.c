/* Parallel regions: what other threads ran while the main thread was in a scope.
 *
 * A thread's outermost scope is a part of the innermost scope of the main thread around it, apart
 * from scopes in which the main thread waits: whether it waits yet is chance. The
 * main thread often works too, with scopes like those of the other threads: it may be in such a
 * scope while another thread runs a shorter one. Scopes with a name that other threads open
 * outermost are therefore never regions, nor are scopes inside them.
 *
 * Programs that make threads anew in each step have thousands, of which a few run at once. There,
 * threads of which one began after another had ended count as one. */
#include "summary/threads.h"

#include "summary/owners.h"
#include "trace/order.h"

#include <stddef.h>
#include <stdlib.h>

#define LEAST_SHARE 4u /* threads for each that runs at once, of programs that make them anew */

typedef struct partition {
    const takt_trace *trace;
    const tkt_track *main;
    tkt_threads *threads;
    bool *is_part;               /* by name: some other thread opens it outermost */
    bool *is_wait;               /* by site */
    uint64_t *main_ns;           /* by name: the main thread's time in it */
    uint64_t *until_ns;          /* by name: when the main thread's latest outermost one ended */
    tkt_map rows;                /* region << 32 | name -> index of the part + 1 */
    TKT_ARRAY_OF(uint64_t) sums; /* by part: time of the current thread; UINT64_MAX: none */
} partition;

static bool is_outermost_scope(const tkt_span *span)
{
    return span->parent == TKT_NO_SPAN && !tkt_span_is_call(span);
}

static void find_names(partition *p, const tkt_track *track)
{
    for (size_t i = 0; i < track->spans.count; i++) {
        const tkt_span *span = &track->spans.items[i];
        if (is_outermost_scope(span))
            p->is_part[tkt_span_name(p->trace, span)] = true;
    }
}

/* Returns the innermost scope from `span` outwards that neither is a part, nor a wait, nor lies in
 * one. */
static uint32_t region_from(const partition *p, uint32_t span)
{
    const tkt_span *spans = p->main->spans.items;
    uint32_t region = tkt_scope_of(p->main, span);
    for (; span != TKT_NO_SPAN; span = spans[span].parent) {
        uint32_t name = tkt_span_name(p->trace, &spans[span]);
        if (p->is_part[name] || p->is_wait[tkt_span_site(&spans[span])])
            region = tkt_scope_of(p->main, spans[span].parent);
    }
    return region;
}

/* Adds a call to the part of this region and name. Only a worker's call creates the part. */
static bool add_call(partition *p, uint32_t region_span, const tkt_span *span, bool is_of_main)
{
    uint32_t region = tkt_span_name(p->trace, &p->main->spans.items[region_span]);
    uint32_t name = tkt_span_name(p->trace, span);
    uint64_t key = (uint64_t)region << 32 | name;
    if (is_of_main && !tkt_map_get(&p->rows, key))
        return true;
    uint64_t *row = tkt_map_put(&p->rows, key);
    if (row && *row == 0) {
        tkt_thread_part *part = TKT_ARRAY_ADD(&p->threads->parts);
        uint64_t *sum = part ? TKT_ARRAY_ADD(&p->sums) : NULL;
        if (!sum)
            return false;
        *part = (tkt_thread_part){.region = region,
                                  .name = name,
                                  .min_ns = UINT64_MAX,
                                  .is_wait = p->is_wait[tkt_span_site(span)]};
        *sum = UINT64_MAX;
        *row = p->threads->parts.count;
    }
    if (!row)
        return false;
    uint64_t *sum = &p->sums.items[*row - 1];
    *sum = (*sum == UINT64_MAX ? 0 : *sum) + span->end_ns - span->begin_ns;
    p->threads->parts.items[*row - 1].calls++;
    return true;
}

/* Turns the current thread's sums into figures of the parts. */
static void end_thread(partition *p)
{
    for (size_t i = 0; i < p->sums.count; i++) {
        tkt_thread_part *part = &p->threads->parts.items[i];
        uint64_t sum = p->sums.items[i];
        p->sums.items[i] = UINT64_MAX;
        if (sum == UINT64_MAX)
            continue;
        part->threads++;
        part->total_ns += sum;
        part->min_ns = sum < part->min_ns ? sum : part->min_ns;
        part->max_ns = sum > part->max_ns ? sum : part->max_ns;
    }
}

static bool add_worker(partition *p, const tkt_track *track)
{
    const tkt_spans *main = &p->main->spans;
    size_t begun = 0;
    bool has_memory = true;
    for (size_t i = 0; i < track->spans.count && has_memory; i++) {
        const tkt_span *span = &track->spans.items[i];
        if (!is_outermost_scope(span))
            continue;
        while (begun < main->count && main->items[begun].begin_ns <= span->begin_ns)
            begun++;
        uint32_t around = begun > 0 ? (uint32_t)begun - 1 : TKT_NO_SPAN;
        while (around != TKT_NO_SPAN && main->items[around].end_ns < span->end_ns)
            around = main->items[around].parent;
        uint32_t region = region_from(p, around);
        if (region != TKT_NO_SPAN)
            has_memory = add_call(p, region, span, false);
    }
    return has_memory;
}

/* Adds the main thread's own parts, and its time in each region. */
static bool add_main(partition *p)
{
    const tkt_spans *spans = &p->main->spans;
    bool has_memory = true;
    for (size_t i = 0; i < spans->count && has_memory; i++) {
        const tkt_span *span = &spans->items[i];
        uint32_t name = tkt_span_name(p->trace, span);
        if (tkt_span_is_call(span) || span->begin_ns < p->until_ns[name])
            continue;
        p->until_ns[name] = span->end_ns;
        p->main_ns[name] += span->end_ns - span->begin_ns;
        uint32_t region = span->parent;
        if (p->is_part[name] && region != TKT_NO_SPAN && region_from(p, region) == region)
            has_memory = add_call(p, region, span, true);
    }
    end_thread(p);
    for (size_t i = 0; i < p->threads->parts.count; i++)
        p->threads->parts.items[i].region_ns = p->main_ns[p->threads->parts.items[i].region];
    return has_memory;
}

/* ---- Threads that follow each other ---------------------------------------------------------- */

uint64_t tkt_spans_end(const tkt_spans *spans)
{
    size_t last = spans->count - 1;
    while (spans->items[last].parent != TKT_NO_SPAN)
        last = spans->items[last].parent;
    return spans->items[last].end_ns;
}

static bool list_workers(const takt_trace *trace, tkt_placed_threads *out)
{
    uint32_t main = tkt_main_track(trace);
    for (uint32_t i = 0; i < trace->tracks.count; i++) {
        const tkt_track *track = &trace->tracks.items[i];
        if (track->kind != TAKT_TRACK_THREAD || i == main || track->spans.count == 0)
            continue;
        tkt_placed_thread *added = TKT_ARRAY_ADD(out);
        if (!added)
            return false;
        *added =
            (tkt_placed_thread){track->spans.items[0].begin_ns, tkt_spans_end(&track->spans), i, 0};
    }
    return tkt_order_by_time(TKT_ORDER_ITEMS(out, offsetof(tkt_placed_thread, end_ns))) == TAKT_OK;
}

/* Gives each worker the first free place: the first thread of each step then has the same. If that
 * makes them few times fewer, they are not made anew, and each has its own. */
static bool find_places(tkt_placed_threads *workers)
{
    tkt_heap busy = {0}, vacant = {0}; /* by end; by number */
    size_t places = 0;
    bool has_memory = true;
    for (size_t i = 0; i < workers->count && has_memory; i++) {
        tkt_placed_thread *w = &workers->items[i];
        while (has_memory && busy.count && busy.items[0].key <= w->begin_ns) {
            uint32_t place = tkt_heap_take(&busy).value;
            has_memory = tkt_heap_add(&vacant, place, place);
        }
        w->place = vacant.count ? tkt_heap_take(&vacant).value : (uint32_t)places++;
        has_memory = has_memory && tkt_heap_add(&busy, w->end_ns, w->place);
    }
    for (uint32_t i = 0; i < workers->count && workers->count < places * LEAST_SHARE; i++)
        workers->items[i].place = i;
    TKT_ARRAY_FREE(&busy);
    TKT_ARRAY_FREE(&vacant);
    return has_memory;
}

static int by_place(const void *a, const void *b)
{
    const tkt_placed_thread *x = a, *y = b;
    return (x->place > y->place) - (x->place < y->place);
}

takt_status tkt_place_threads(const takt_trace *trace, tkt_placed_threads *out)
{
    bool has_memory = list_workers(trace, out) && find_places(out);
    if (has_memory && out->count)
        qsort(out->items, out->count, sizeof *out->items, by_place);
    return has_memory ? TAKT_OK : TAKT_NO_MEMORY;
}

static bool add_workers(partition *p)
{
    tkt_placed_threads workers = {0};
    bool has_memory = tkt_place_threads(p->trace, &workers) == TAKT_OK;
    for (size_t i = 0; i < workers.count && has_memory; i++)
        find_names(p, &p->trace->tracks.items[workers.items[i].track]);
    for (size_t i = 0; i < workers.count && has_memory; i++) {
        has_memory = add_worker(p, &p->trace->tracks.items[workers.items[i].track]);
        if (i + 1 == workers.count || workers.items[i + 1].place != workers.items[i].place)
            end_thread(p);
    }
    TKT_ARRAY_FREE(&workers);
    return has_memory;
}

takt_status tkt_regions_of(const takt_trace *trace, uint32_t main, tkt_threads *out)
{
    if (main == TKT_NO_TRACK)
        return TAKT_OK;
    partition p = {.trace = trace,
                   .main = &trace->tracks.items[main],
                   .threads = out,
                   .is_part = tkt_alloc_zeroed(trace->strings.count * sizeof *p.is_part),
                   .is_wait = tkt_alloc(trace->sites.count * sizeof *p.is_wait),
                   .main_ns = tkt_alloc_zeroed(trace->strings.count * sizeof *p.main_ns),
                   .until_ns = tkt_alloc_zeroed(trace->strings.count * sizeof *p.until_ns)};
    bool has_memory = p.is_part && p.is_wait && p.main_ns && p.until_ns;
    for (uint32_t i = 0; has_memory && i < trace->sites.count; i++)
        p.is_wait[i] = tkt_site_waits(trace, i);
    has_memory = has_memory && add_workers(&p) && add_main(&p);
    tkt_free(p.is_part);
    tkt_free(p.is_wait);
    tkt_free(p.main_ns);
    tkt_free(p.until_ns);
    tkt_map_fini(&p.rows);
    TKT_ARRAY_FREE(&p.sums);
    return has_memory ? TAKT_OK : TAKT_NO_MEMORY;
}
