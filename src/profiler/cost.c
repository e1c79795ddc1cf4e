/* Every event is made of a few things that cost something: reading the clock, writing a record,
 * looking up a name, and finding an open span in a map under a lock. The clock, names and maps are
 * measured once, apart from the recording, since an event that only served to be measured would
 * stand in somebody's trace. How many of them a kind takes stands in tkt_cost_of(); the figures are
 * held against measurements by `make bench` (group "cost"). */
#include "profiler/cost.h"

#include "base/thread.h"
#include "record/site.h"

enum {
    ROUNDS = 256
};

/* A reading with the record that it is for; and an event of the library's beside the readings: both
 * in readings of the clock, which the rest of the work hides behind: finding the address of
 * reported memory, too. See docs/overhead.md. */
#define READING 1.2
#define ENTRY   0.9

typedef struct prices {
    double clock; /* one reading */
    double shelf; /* into a map under a lock, or out of it */
    double name;  /* a name of run time to its site */
} prices;

static void read_clock(const char *unused)
{
    (void)unused;
    for (int i = 0; i < ROUNDS; i++)
        tkt_ticks();
}

static void use_shelf(const char *unused)
{
    static tkt_mutex lock = TKT_MUTEX_INIT;
    static tkt_map map; /* with `lock`; empty again at the end */
    (void)unused;
    for (uint64_t i = 0; i < ROUNDS / 2; i++) {
        tkt_mutex_lock(&lock);
        tkt_map_put(&map, i % 16);
        tkt_mutex_unlock(&lock);
        tkt_mutex_lock(&lock);
        tkt_map_remove(&map, i % 16);
        tkt_mutex_unlock(&lock);
    }
}

static void find_name(const char *name)
{
    for (int i = 0; i < ROUNDS; i++)
        tkt_site_named(name, TAKT_SITE_SCOPE);
}

/* What one of them costs, in ns; measured if *known is 0 yet. Racing threads store about the same.
 */
static double measure(double *known, void (*run)(const char *name), const char *name,
                      const tkt_clock_fit *fit)
{
    double price;
    __atomic_load(known, &price, __ATOMIC_RELAXED);
    if (price > 0)
        return price;
    run(name); /* what is cold now was not while the program ran */
    uint64_t begin = tkt_ticks();
    run(name);
    price = (double)(tkt_ticks() - begin) * tkt_clock_resolution_ns(fit) / ROUNDS;
    __atomic_store(known, &price, __ATOMIC_RELAXED);
    return price;
}

/* The counts of what is counted by tracks. */
typedef struct counts {
    double spans, phases, stacks, arguments, texts, calls, tasks;
    const char *name; /* one of run time */
} counts;

static void count_track(counts *c, const takt_trace *trace, const tkt_track *track)
{
    size_t spans = track->spans.count;
    if (track->kind == TAKT_TRACK_ASYNC && spans > 0) {
        c->tasks += (double)spans;
        c->name = tkt_trace_text(trace, trace->sites.items[tkt_span_site(track->spans.items)].name);
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
    counts c = {.calls = (double)trace->calls.count, .name = ""};
    for (size_t t = 0; t < trace->tracks.count; t++)
        count_track(&c, trace, &trace->tracks.items[t]);
    if (!trace->facts.has_spans)
        count_fold(&c, trace);
    double memory = (double)trace->memory_events.count;
    double moments = (double)(trace->marks.count + trace->counters.count + trace->flows.count);
    double names = c.tasks + c.texts;
    double clock = measure(&known.clock, read_clock, NULL, fit);
    double shelf = c.tasks > 0 ? measure(&known.shelf, use_shelf, NULL, fit) : 0;
    double name = names > 0 ? measure(&known.name, find_name, c.name, fit) : 0;
    double readings = 2 * c.spans - c.phases + moments + 2 * c.stacks + memory + 2 * c.tasks;
    double entries = c.arguments + c.calls + memory + c.tasks;
    return clock * (READING * readings + ENTRY * entries) + 2 * shelf * c.tasks + name * names;
}
