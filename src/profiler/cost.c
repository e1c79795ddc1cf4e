/* Takt's own time in a recording.
 *
 * An event's cost has few parts: reading the clock, writing a record, and keeping an open span
 * under a lock, which is about as dear as a map's entry. The clock and a map are measured once,
 * outside the recording: events made for measuring would appear in a trace. tkt_cost_of() knows how
 * many of each a kind of event takes. `make bench` (group "cost") compares the result with
 * measurements. */

#include "profiler/cycle.h"

#include "base/clock.h"
#include "base/containers.h"
#include "base/lock.h"
#include "trace/model.h"

#include <stdlib.h>

enum {
    ROUNDS = 256,
    TIMES = 9
};

/* In readings of the clock, behind which much of the work hides. See docs/overhead.md. */
#define READING  1.08 /* one reading, with its record */
#define CALL     0.9  /* this and the next two: cost in addition to the readings */
#define MEMORY   1.4
#define ARGUMENT 0.25
#define TEXT     1.7 /* in addition to ARGUMENT */
#define MADE     15  /* for each name that was made at run time, or given to a function */
#define STRING   2.5 /* for each text, and the next one for each of its bytes */
#define BYTE     0.02
#define SHELVES  1.06 /* a span on a track, in such uses of a map; open spans need none themselves \
                       */

typedef struct prices {
    double clock; /* ns for one reading */
    double shelf; /* ns for one insertion into a map under a lock, or one removal */
} prices;

static void read_clock(void)
{
    for (int i = 0; i < ROUNDS; i++)
        tkt_ticks();
}

static void use_shelf(void)
{
    static tkt_mutex lock = TKT_MUTEX_INIT;
    static tkt_map map; /* with `lock`; empty again at the end */
    for (uint64_t i = 0; i < ROUNDS / 2; i++) {
        tkt_mutex_lock(&lock);
        tkt_map_put(&map, i % 16);
        tkt_mutex_unlock(&lock);
        tkt_mutex_lock(&lock);
        tkt_map_remove(&map, i % 16);
        tkt_mutex_unlock(&lock);
    }
}

static int compare_ticks(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Returns the cost of one operation in ns; measures it if *known is 0. The median of some times,
 * since others may take the processor or the lock meanwhile. Racing threads store about the same
 * value. */
static double measure(double *known, void (*run)(void), const tkt_clock_fit *fit)
{
    uint64_t ticks[TIMES];
    double price;
    __atomic_load(known, &price, __ATOMIC_RELAXED);
    if (price > 0)
        return price;
    for (int i = 0; i < TIMES; i++) {
        uint64_t begin = tkt_ticks();
        run();
        ticks[i] = tkt_ticks() - begin;
    }
    qsort(ticks, TIMES, sizeof *ticks, compare_ticks);
    price = (double)ticks[TIMES / 2] * tkt_clock_resolution_ns(fit) / ROUNDS;
    __atomic_store(known, &price, __ATOMIC_RELAXED);
    return price;
}

/* Events counted by track. */
typedef struct counts {
    double spans, phases, moments, stacks, arguments, texts, calls, tasks, memory;
} counts;

static void count_track(counts *c, const tkt_track *track)
{
    size_t spans = track->spans.count;
    if (track->kind == TAKT_TRACK_ASYNC) {
        c->tasks += (double)spans;
        return;
    }
    for (size_t i = 0; i < spans; i++)
        c->phases += (tkt_span_flags(&track->spans.items[i]) & TAKT_SPAN_PHASE) != 0;
    c->spans += (double)spans;
    c->stacks += (double)track->stacks.count;
    c->arguments += (double)track->args.count;
    for (size_t i = 0; i < track->args.count; i++)
        c->texts += track->args.items[i].type == TKT_ARG_STRING;
}

/* Counts a trace without spans by its folded form, which has the kind of each site. */
static void count_fold(counts *c, const takt_trace *trace)
{
    for (size_t i = 0; i < trace->fold.count; i++) {
        double count = (double)trace->fold.items[i].stats.count;
        c->spans += count;
        if (trace->sites.items[trace->fold.items[i].site].kind == TAKT_SITE_PHASE)
            c->phases += count;
    }
    for (size_t i = 0; i < trace->fold.counters.count; i++)
        c->moments += (double)trace->fold.counters.items[i].samples;
    for (size_t i = 0; i < trace->fold.tasks.count; i++)
        c->tasks += (double)trace->fold.tasks.items[i].stats.count;
    c->moments += (double)trace->fold.passed;
    c->memory = (double)(trace->memory.window_allocations + trace->memory.window_frees);
}

/* What names and texts cost that are new, in readings. */
static double cost_of_names(const counts *c, const takt_trace *trace)
{
    double made = 0;
    for (size_t i = 1; i < trace->sites.count; i++)
        made += trace->sites.items[i].line == 0;
    return MADE * made + (c->texts > 0 ? STRING * (double)trace->strings.count +
                                             BYTE * (double)trace->strings.bytes.total_bytes
                                       : 0);
}

double tkt_cost_of(const takt_trace *trace, const tkt_clock_fit *fit)
{
    static prices known;
    counts c = {.calls = (double)trace->calls.count,
                .moments =
                    (double)(trace->marks.count + trace->counters.count + trace->flows.count),
                .memory = (double)trace->memory_events.count};
    for (size_t t = 0; t < trace->tracks.count; t++)
        count_track(&c, &trace->tracks.items[t]);
    if (!trace->facts.has_spans)
        count_fold(&c, trace);
    double clock = measure(&known.clock, read_clock, fit);
    double shelf = c.tasks > 0 ? measure(&known.shelf, use_shelf, fit) : 0;
    double readings = 2 * c.spans - c.phases + c.moments + 2 * c.stacks + c.memory + 2 * c.tasks;
    double rest = CALL * c.calls + MEMORY * c.memory + ARGUMENT * c.arguments + TEXT * c.texts;
    return clock * (READING * readings + rest + cost_of_names(&c, trace)) +
           SHELVES * shelf * c.tasks + (double)trace->fold.cost_ns;
}
