/* Figures of counters. The trace has the samples of all counters in one list, sorted by time. They
 * are first sorted by counter, so that each counter's figures need only its own samples. */
#include "summary/counters.h"

#include "base/own.h"

#include <float.h>
#include <math.h>

/* The samples of one counter, sorted by time. */
typedef struct series {
    const tkt_counter **items;
    size_t count;
} series;

/* Rounding must not move a mean beyond the values that it is of. */
static double between(double mean, double min, double max)
{
    return isnan(mean) ? mean : fmax(min, fmin(mean, max));
}

static void add_values(const series *s, uint64_t end_ns, tkt_counter_figures *figures)
{
    tkt_weighted held = {0}, plain = {0};
    for (size_t i = 0; i < s->count; i++) {
        double value = s->items[i]->value;
        uint64_t from_ns = s->items[i]->time_ns;
        uint64_t until_ns = i + 1 < s->count ? s->items[i + 1]->time_ns : end_ns;
        double held_ns = until_ns > from_ns ? (double)(until_ns - from_ns) : 0;
        if (!tkt_is_finite(value))
            continue;
        figures->min = fmin(figures->min, value);
        figures->max = fmax(figures->max, value);
        tkt_weighted_add(&held, value, held_ns);
        tkt_weighted_add(&plain, value, 1);
    }
    /* Values that held no time are averaged plainly. */
    figures->mean =
        between(tkt_weighted_mean(held.weight > 0 ? &held : &plain), figures->min, figures->max);
}

/* Moves on to the first sample that is not before `until_ns`. Returns the value then: that of the
 * latest sample with a number, or `value` without one. */
static double value_at(const series *s, size_t *next, uint64_t until_ns, double value)
{
    for (; *next < s->count && s->items[*next]->time_ns < until_ns; ++*next)
        value = tkt_is_finite(s->items[*next]->value) ? s->items[*next]->value : value;
    return value;
}

/* A sample at a boundary belongs to the step that begins there. */
static void add_change(const takt_trace *trace, const series *s, tkt_counter_figures *figures)
{
    tkt_weighted halves = {0}; /* of changes, which may be too large for a double */
    double value = NAN;
    size_t next = 0;
    for (size_t i = 0; i < trace->steps.count; i++) {
        const tkt_step *step = &trace->steps.items[i];
        double before = value = value_at(s, &next, step->begin_ns, value);
        value = value_at(s, &next, step->end_ns, value);
        if (isnan(before))
            continue;
        tkt_weighted_add(&halves, value / 2 - before / 2, 1);
    }
    double half = tkt_weighted_mean(&halves);
    figures->change = islessequal(fabs(half), DBL_MAX / 2) ? 2 * half : NAN;
}

static bool add_counter(const takt_trace *trace, const series *s, tkt_counter_list *out)
{
    tkt_counter_figures *figures = TKT_ARRAY_ADD(out);
    if (!figures)
        return false;
    *figures = (tkt_counter_figures){.name = s->items[0]->name,
                                     .samples = s->count,
                                     .first = s->items[0]->value,
                                     .last = s->items[s->count - 1]->value,
                                     .min = NAN,
                                     .mean = NAN,
                                     .max = NAN,
                                     .change = NAN};
    add_values(s, trace->facts.end_ns, figures);
    add_change(trace, s, figures);
    if (tkt_trace_lacks_spans(trace)) /* samples may be missing, too */
        figures->mean = figures->change = NAN;
    return true;
}

/* Sets ends[n], for each name n, to the end of its samples in the sorted list, and lists the names
 * in order of first appearance. Returns the number of names. */
static size_t find_places(const takt_trace *trace, size_t *ends, uint32_t *names)
{
    size_t count = 0, end = 0;
    for (size_t i = 0; i < trace->counters.count; i++) {
        uint32_t name = trace->counters.items[i].name;
        if (ends[name]++ == 0)
            names[count++] = name;
    }
    for (size_t i = 0; i < count; i++) {
        size_t samples = ends[names[i]];
        ends[names[i]] = end;
        end += samples;
    }
    return count;
}

static bool add_counters(const takt_trace *trace, size_t *ends, uint32_t *names,
                         const tkt_counter **sorted, tkt_counter_list *out)
{
    size_t count = find_places(trace, ends, names), first = 0;
    for (size_t i = 0; i < trace->counters.count; i++) {
        const tkt_counter *sample = &trace->counters.items[i];
        sorted[ends[sample->name]++] = sample;
    }
    for (size_t i = 0; i < count; i++) {
        series s = {sorted + first, ends[names[i]] - first};
        if (!add_counter(trace, &s, out))
            return false;
        first = ends[names[i]];
    }
    return true;
}

/* The mean of values that held for some time, or of equal ones; otherwise NaN. */
static double folded_mean(const tkt_folded_counter *from, uint64_t end_ns)
{
    tkt_weighted held = from->held;
    if (tkt_is_finite(from->last) && end_ns > from->last_time)
        tkt_weighted_add(&held, from->last, (double)(end_ns - from->last_time));
    if (from->is_mixed)
        return NAN;
    if (held.weight > 0)
        return between(tkt_weighted_mean(&held), from->min, from->max);
    return from->min == from->max ? from->min : NAN;
}

/* A summary does not know what threads sampled by turns held in the mean, nor the values at the
 * begin of steps. */
static bool add_folded(const takt_trace *trace, const tkt_folded_counter *from,
                       tkt_counter_list *out)
{
    tkt_counter_figures *figures = TKT_ARRAY_ADD(out);
    if (!figures)
        return false;
    *figures = (tkt_counter_figures){.name = from->name,
                                     .samples = from->samples,
                                     .first = from->first,
                                     .last = from->last,
                                     .min = from->min,
                                     .mean = folded_mean(from, trace->facts.end_ns),
                                     .max = from->max,
                                     .is_mixed = from->is_mixed,
                                     .change = NAN};
    return true;
}

static takt_status add_all_folded(const takt_trace *trace, tkt_counter_list *out)
{
    if (!trace->fold.has_lists)
        return TAKT_NO_SPANS;
    for (size_t i = 0; i < trace->fold.counters.count; i++)
        if (!add_folded(trace, &trace->fold.counters.items[i], out))
            return TAKT_NO_MEMORY;
    return TAKT_OK;
}

takt_status tkt_counters_of(const takt_trace *trace, tkt_counter_list *out)
{
    if (tkt_trace_prefers_lists(trace))
        return add_all_folded(trace, out);
    size_t count = trace->counters.count + 1;
    size_t *ends = tkt_alloc_zeroed(trace->strings.count * sizeof *ends);
    uint32_t *names = tkt_alloc(count * sizeof *names);
    const tkt_counter **sorted = tkt_alloc(count * sizeof *sorted);
    bool has_memory = ends && names && sorted && add_counters(trace, ends, names, sorted, out);
    tkt_free(ends);
    tkt_free(names);
    tkt_free(sorted);
    return has_memory ? TAKT_OK : TAKT_NO_MEMORY;
}
