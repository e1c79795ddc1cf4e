/* Advice about how scopes are written: ends that are missing, steps inside of scopes, names that
 * differ in a number. */
#include "summary/advice.h"

#include "base/alloc.h"

#include <ctype.h>

#define LEAST_NUMBERED 10 /* names */
#define MOST_CALLS                                                                                 \
    2 /* of each, on average: names of a few parts of a model are called more often */
#define LOOKED_AT   100000 /* spans of a thread; enough to find what happens in each step */
#define LEAST_STEPS 3
#define SOON_NS     20000 /* a scope that ends so soon after a step had the call of it inside */

/* The first step from `step` on that ends after this time, or their number. */
static size_t step_from(const takt_trace *trace, size_t step, uint64_t time_ns)
{
    while (step < trace->steps.count && trace->steps.items[step].end_ns <= time_ns)
        step++;
    return step;
}

/* ======== Ends that are missing ======== */

/* How many steps have a call of the site that was not ended. One that was open for the whole
 * recording, or a recursion at its end, is of one step. */
static uint32_t open_steps(const takt_trace *trace, const tkt_track *track, uint32_t site)
{
    size_t step = 0, last = SIZE_MAX;
    uint32_t count = 0;
    for (size_t i = 0; i < track->spans.count; i++) {
        const tkt_span *span = &track->spans.items[i];
        if (!(tkt_span_flags(span) & TAKT_SPAN_UNFINISHED) || tkt_span_site(span) != site)
            continue;
        step = step_from(trace, step, span->begin_ns);
        count += step != last;
        last = step;
    }
    return count;
}

static uint64_t calls_of(const tkt_scopes *scopes, const char *name)
{
    for (size_t i = 0; i < scopes->count; i++)
        if (scopes->items[i].name == name) /* the trace has each text once */
            return scopes->items[i].calls;
    return 0;
}

bool tkt_advise_open(tkt_advising *a, tkt_advice *out)
{
    const tkt_most_unfinished most = a->trace->most_unfinished;
    uint32_t steps = 0;
    for (size_t i = 0; most.count > 1 && i < a->trace->tracks.count; i++) {
        const tkt_track *track = &a->trace->tracks.items[i];
        uint32_t count =
            track->kind == TAKT_TRACK_THREAD ? open_steps(a->trace, track, most.site) : 0;
        steps = count > steps ? count : steps;
    }
    if (steps < 2)
        return false;
    const char *name = tkt_trace_text(a->trace, a->trace->sites.items[most.site].name);
    *out = (tkt_advice){.kind = TKT_ADVICE_OPEN,
                        .name = name,
                        .site = most.site,
                        .count = most.count,
                        .other = calls_of(a->known->scopes, name),
                        .at_stake_ns = (uint64_t)a->wall_ns};
    return true;
}

/* ======== Steps inside of scopes ======== */

/* Adds to by_site[s] how many steps ended shortly before a scope of site s did. */
static void count_around_steps(const takt_trace *trace, const tkt_track *track, uint32_t *by_site)
{
    size_t step = 0;
    uint64_t step_end_ns = 0;
    for (size_t i = 0; i < track->spans.count && i < LOOKED_AT; i++) {
        const tkt_span *span = &track->spans.items[i];
        if (step_end_ns <= span->begin_ns) {
            step = step_from(trace, step, span->begin_ns);
            if (step == trace->steps.count)
                return;
            step_end_ns = trace->steps.items[step].end_ns;
        }
        if (span->end_ns > step_end_ns && span->end_ns - step_end_ns < SOON_NS)
            by_site[tkt_span_site(span)]++;
    }
}

bool tkt_advise_step_inside(tkt_advising *a, tkt_advice *out)
{
    const takt_trace *trace = a->trace;
    uint32_t *by_site = tkt_alloc_zeroed(trace->sites.count * sizeof *by_site), found = 0;
    a->is_short |= !by_site;
    for (size_t i = 0; by_site && i < trace->tracks.count; i++)
        if (trace->tracks.items[i].kind == TAKT_TRACK_THREAD)
            count_around_steps(trace, &trace->tracks.items[i], by_site);
    for (uint32_t i = 1; by_site && i < trace->sites.count; i++)
        if (trace->sites.items[i].kind == TAKT_SITE_SCOPE && by_site[i] > by_site[found])
            found = i;
    uint32_t count = found ? by_site[found] : 0;
    tkt_free(by_site);
    if (count < LEAST_STEPS || count < trace->steps.count / 2)
        return false;
    *out = (tkt_advice){.kind = TKT_ADVICE_STEP_INSIDE,
                        .name = tkt_trace_text(trace, trace->sites.items[found].name),
                        .site = found,
                        .count = count,
                        .other = trace->steps.count,
                        .at_stake_ns = (uint64_t)a->wall_ns};
    return true;
}

/* ======== Names with numbers ======== */

typedef struct numbered {
    uint64_t names;
    uint64_t calls;
    uint64_t total_ns;
    const char *last;
} numbered;

/* Of the name without its digits; 0: it has none. */
static uint64_t hash_without_digits(const char *name)
{
    uint64_t hash = 0;
    bool has_digits = false;
    for (; *name; name++) {
        bool is_digit = isdigit((unsigned char)*name) != 0;
        has_digits |= is_digit;
        if (!is_digit)
            hash = tkt_hash_u64(hash ^ (unsigned char)*name);
    }
    return has_digits ? hash | 1 : 0;
}

typedef struct numbering {
    tkt_map groups; /* hash -> group + 1 */
    TKT_ARRAY(numbered);
} numbering;

/* The group of the name, created if it is new. NULL: it has no digits, or without memory. */
static numbered *group_of(numbering *all, const char *name)
{
    uint64_t hash = hash_without_digits(name);
    uint64_t *place = hash ? tkt_map_put(&all->groups, hash) : NULL;
    if (!place)
        return NULL;
    if (*place == 0) {
        numbered *added = TKT_ARRAY_ADD(all);
        if (!added)
            return NULL;
        *added = (numbered){0};
        *place = all->count;
    }
    return &all->items[*place - 1];
}

bool tkt_advise_numbered(tkt_advising *a, tkt_advice *out)
{
    numbering all = {0};
    const numbered *found = NULL;
    const tkt_scopes *scopes = a->known->scopes;
    for (size_t i = 0; i < scopes->count; i++) {
        const tkt_scope_total *scope = &scopes->items[i];
        numbered *group = group_of(&all, scope->name);
        if (group)
            *group = (numbered){group->names + 1, group->calls + scope->calls,
                                group->total_ns + scope->total_ns, scope->name};
    }
    for (size_t i = 0; i < all.count; i++)
        if (all.items[i].names >= LEAST_NUMBERED &&
            all.items[i].calls <= MOST_CALLS * all.items[i].names &&
            (!found || all.items[i].names > found->names))
            found = &all.items[i];
    if (found)
        *out = (tkt_advice){.kind = TKT_ADVICE_NUMBERED,
                            .name = found->last,
                            .count = found->names,
                            .at_stake_ns = found->total_ns};
    bool is_found = found != NULL;
    TKT_ARRAY_FREE(&all);
    tkt_map_fini(&all.groups);
    return is_found;
}
