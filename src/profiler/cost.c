/* Every event is made of a few things that cost something: reading the clock, writing a record, and
 * finding an open span in a map under a lock. The clock and the map are measured once, apart from
 * the recording, since an event that only served to be measured would stand in somebody's trace.
 * How many of them a kind takes stands in tkt_cost_of(); the figures are held against measurements
 * by `make bench` (group "cost"). */
#include "profiler/cost.h"

#include "base/thread.h"

enum {
    ROUNDS = 256
};

/* All in readings of the clock, behind which much of the work hides. See docs/overhead.md. */
#define READING  1.08 /* one, with the record that it is for */
#define CALL     0.9  /* and the following: what they cost beside the readings */
#define MEMORY   1.4
#define ARGUMENT 0.25
#define TEXT     1.7 /* more than an argument that is a number */
#define SHELVES  4   /* ways over the shelf of a span on a track, and what is around them */

typedef struct prices {
    double clock; /* one reading */
    double shelf; /* into a map under a lock, or out of it */
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

/* What one of them costs, in ns; measured if *known is 0 yet. Racing threads store about the same.
 */
static double measure(double *known, void (*run)(void), const tkt_clock_fit *fit)
{
    double price;
    __atomic_load(known, &price, __ATOMIC_RELAXED);
    if (price > 0)
        return price;
    run(); /* what is cold now was not while the program ran */
    uint64_t begin = tkt_ticks();
    run();
    price = (double)(tkt_ticks() - begin) * tkt_clock_resolution_ns(fit) / ROUNDS;
    __atomic_store(known, &price, __ATOMIC_RELAXED);
    return price;
}

/* The counts of what is counted by tracks. */
typedef struct counts {
    double spans, phases, stacks, arguments, texts, calls, tasks;
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

/* A trace without spans has its folded form, which says what each site was. */
static void count_fold(counts *c, const takt_trace *trace)
{
    for (size_t i = 0; i < trace->fold.count; i++) {
        double count = (double)trace->fold.items[i].stats.count;
        c->spans += count;
        if (trace->sites.items[trace->fold.items[i].site].kind == TAKT_SITE_PHASE)
            c->phases += count;
    }
}

double tkt_cost_of(const takt_trace *trace, const tkt_clock_fit *fit)
{
    static prices known;
    counts c = {.calls = (double)trace->calls.count};
    for (size_t t = 0; t < trace->tracks.count; t++)
        count_track(&c, &trace->tracks.items[t]);
    if (!trace->facts.has_spans)
        count_fold(&c, trace);
    double memory = (double)trace->memory_events.count;
    double moments = (double)(trace->marks.count + trace->counters.count + trace->flows.count);
    double clock = measure(&known.clock, read_clock, fit);
    double shelf = c.tasks > 0 ? measure(&known.shelf, use_shelf, fit) : 0;
    double readings = 2 * c.spans - c.phases + moments + 2 * c.stacks + memory + 2 * c.tasks;
    double rest = CALL * c.calls + MEMORY * memory + ARGUMENT * c.arguments + TEXT * c.texts;
    return clock * (READING * readings + rest) + SHELVES * shelf * c.tasks;
}
