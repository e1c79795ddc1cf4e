/* Finds the launch that each lane of timers inside kernels belongs to.
 *
 * Views are meant for one launch each, and Takt knows the launch for which a view was made. Such a
 * lane is its view's *own*. A view may still serve several launches: that of a graph always does.
 * It shows when a block recorded twice, when a lane's launch was another call, or when the view's
 * lanes do not fit in one run of its kernel. These lanes are *shared*: only time tells their
 * launch. But lanes have the device's timer, and kernels the trace's time. The offset between them
 * is unknown.
 *
 * So the search finds all offsets that are possible. A lane runs within its kernel: a kernel from
 * 100 to 200 and a lane from 7 to 17 allow offsets from 93 to 183. An own lane has one such
 * interval. A shared lane has one for each launch that may be its own, and the offset lies in one
 * of them. Each lane keeps two bounds, and every lane narrows them to offsets with which it fits in
 * some launch. Lanes are visited in order of time, to and fro, since narrower bounds of one lane
 * may exclude launches of its neighbours. Both clocks drift: on the way to the next lane the bounds
 * widen with the time between the two.
 *
 * In the end, a shared lane whose bounds leave one launch belongs to it. If they leave several, its
 * launch is uncertain: a guess would put times where they do not belong.
 *
 * Shared lanes narrow bounds only if every launch that may be their own was recorded. Should the
 * bounds still contradict each other, something is missing: then only own lanes narrow them. */
#include "trace/lanes.h"

#include <stdlib.h>

/* The clocks drift by at most one part in so many: NTP slews the host's by up to 500 parts per
 * million, and the oscillators' own errors are far below that. */
#define DRIFT 2000

#define MOST_ROUNDS  32 /* to and fro; the bounds are right, if wider, after any number */
#define MOST_VISITED 64 /* kernels for one bound of one lane; a lane that needs more is uncertain  \
                         */

/* A kernel in a list that is sorted by begin. One list has all kernels, and each name has one.
 * Calls count from the recording's begin. */
typedef struct lane_place {
    uint64_t begin_ns;
    uint64_t end_ns;
    uint64_t latest_ns;    /* the latest end in the list up to here */
    uint32_t name;         /* of the list; 0: the list of all */
    uint32_t kernel;       /* index */
    int32_t latest_call;   /* in the list up to here */
    int32_t earliest_call; /* in the list from here on */
} lane_place;

typedef struct finding {
    tkt_lane_search *search;
    lane_place *places; /* list after list */
    size_t place_count;
    tkt_map launches; /* correlation -> kernel + 1 */
    tkt_lane **lanes; /* sorted */
    size_t count;
    tkt_lane_offsets *saved; /* by place in `lanes` */
    bool narrows_shared;
    bool has_changed;
    bool has_contradiction;
} finding;

/* ---- Lists of kernels ------------------------------------------------------------------------ */

static int by_list(const void *a, const void *b)
{
    const lane_place *x = a, *y = b;
    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    if (x->begin_ns != y->begin_ns)
        return x->begin_ns < y->begin_ns ? -1 : 1;
    return x->kernel < y->kernel ? -1 : x->kernel > y->kernel;
}

/* A call's number from the recording's begin. */
static int32_t call_number(const finding *f, uint64_t correlation)
{
    return (int32_t)((uint32_t)correlation - f->search->first_correlation);
}

static void sum_up_lists(finding *f)
{
    for (size_t i = 0; i < f->place_count; i++) {
        lane_place *place = &f->places[i];
        bool is_first = i == 0 || place[-1].name != place->name;
        if (!is_first && place[-1].latest_ns > place->latest_ns)
            place->latest_ns = place[-1].latest_ns;
        if (!is_first && place[-1].latest_call > place->latest_call)
            place->latest_call = place[-1].latest_call;
    }
    for (size_t i = f->place_count; i-- > 1;) {
        lane_place *place = &f->places[i];
        if (place[-1].name == place->name && place[-1].earliest_call > place->earliest_call)
            place[-1].earliest_call = place->earliest_call;
    }
}

static takt_status make_places(finding *f)
{
    size_t count = f->search->kernels.count;
    f->places = tkt_alloc((2 * count + 1) * sizeof *f->places);
    if (!f->places)
        return TAKT_NO_MEMORY;
    for (uint32_t i = 0; i < count; i++) {
        const tkt_lane_kernel *kernel = &f->search->kernels.items[i];
        int32_t call = call_number(f, kernel->correlation);
        lane_place place = {.begin_ns = kernel->begin_ns,
                            .end_ns = kernel->end_ns,
                            .latest_ns = kernel->end_ns,
                            .kernel = i,
                            .latest_call = kernel->correlation ? call : INT32_MAX,
                            .earliest_call = kernel->correlation ? call : INT32_MIN};
        f->places[f->place_count++] = place;
        place.name = kernel->name;
        if (place.name)
            f->places[f->place_count++] = place;
        uint64_t *launch = tkt_map_put(&f->launches, kernel->correlation);
        if (!launch)
            return TAKT_NO_MEMORY;
        *launch = *launch ? *launch : i + 1;
    }
    qsort(f->places, f->place_count, sizeof *f->places, by_list);
    sum_up_lists(f);
    return TAKT_OK;
}

/* A test is true for the first places of a range, and false for the rest. */
typedef bool place_test(const lane_place *place, const tkt_lane *lane, int64_t value);

/* The first place from `low` on, before `high`, for which the test is false; `high` if none is. */
static size_t first_not(const finding *f, size_t low, size_t high, place_test *test,
                        const tkt_lane *lane, int64_t value)
{
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (test(&f->places[middle], lane, value))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool has_lower_name(const lane_place *place, const tkt_lane *lane, int64_t name)
{
    (void)lane;
    return place->name < name;
}

static bool is_called_before(const lane_place *place, const tkt_lane *lane, int64_t call)
{
    (void)lane;
    return place->latest_call <= call;
}

static bool is_called_until(const lane_place *place, const tkt_lane *lane, int64_t call)
{
    (void)lane;
    return place->earliest_call <= call;
}

/* ---- One lane and the launches that may be its own ------------------------------------------- */

/* The offsets with which the lane runs between two times; `low` exceeds `high` if it lasted longer.
 * Times are unsigned, so that clocks may be any distance apart. */
static tkt_lane_offsets fit_between(const tkt_lane *lane, uint64_t begin_ns, uint64_t end_ns)
{
    return (tkt_lane_offsets){
        (int64_t)(begin_ns - TKT_LANE_TOLERANCE_NS - lane->global),
        (int64_t)(end_ns + TKT_LANE_TOLERANCE_NS - lane->least_ns - lane->global)};
}

/* True if the lane's launch may have been the call with this id. */
static bool is_in_time(const tkt_lane *lane, uint32_t correlation)
{
    return correlation == 0 ||
           ((lane->after == 0 || tkt_is_later_call(correlation, lane->after)) &&
            (lane->before == 0 || !tkt_is_later_call(correlation, lane->before)));
}

/* Sets the offsets with which the lane fits in this kernel. False if none is within the bounds. */
static bool fits_in(const finding *f, const tkt_lane *lane, const lane_place *place,
                    const tkt_lane_offsets *bounds, tkt_lane_offsets *fit)
{
    *fit = fit_between(lane, place->begin_ns, place->end_ns);
    return fit->low <= fit->high && fit->low <= bounds->high && fit->high >= bounds->low &&
           is_in_time(lane, f->search->kernels.items[place->kernel].correlation);
}

static bool ends_too_early(const lane_place *place, const tkt_lane *lane, int64_t offset)
{
    return fit_between(lane, 0, place->latest_ns).high < offset;
}

static bool begins_in_time(const lane_place *place, const tkt_lane *lane, int64_t offset)
{
    return fit_between(lane, place->begin_ns, 0).low <= offset;
}

/* The places from *first up to *end are those of kernels that the lane may have run in: all others
 * end too early for the lowest offset, or begin too late for the highest. */
static void find_reached(const finding *f, const tkt_lane *lane, const tkt_lane_offsets *bounds,
                         size_t *first, size_t *end)
{
    size_t last = (size_t)lane->first_place + lane->place_count;
    *first = first_not(f, lane->first_place, last, ends_too_early, lane, bounds->low);
    *end = first_not(f, *first, last, begins_in_time, lane, bounds->high);
}

/* Raises the lower bound to the first offset with which the lane fits in a kernel. False if there
 * is none within the bounds. The first kernel found has it, since the others begin later. */
static bool raise_low(const finding *f, const tkt_lane *lane, tkt_lane_offsets *bounds)
{
    tkt_lane_offsets fit;
    size_t first, end;
    find_reached(f, lane, bounds, &first, &end);
    for (size_t i = first; i < end; i++) {
        if (i - first >= MOST_VISITED)
            return true;
        if (!fits_in(f, lane, &f->places[i], bounds, &fit))
            continue;
        bounds->low = fit.low > bounds->low ? fit.low : bounds->low;
        return true;
    }
    return false;
}

/* Lowers the upper bound to the last such offset. A kernel that began earlier may end later. */
static bool lower_high(const finding *f, const tkt_lane *lane, tkt_lane_offsets *bounds)
{
    tkt_lane_offsets fit;
    int64_t best = 0;
    bool is_found = false;
    size_t first, end;
    find_reached(f, lane, bounds, &first, &end);
    for (size_t i = end; i-- > first;) {
        int64_t latest = fit_between(lane, 0, f->places[i].latest_ns).high;
        if (is_found && (best == bounds->high || latest <= best))
            break;
        if (end - i > MOST_VISITED)
            return true;
        if (!fits_in(f, lane, &f->places[i], bounds, &fit))
            continue;
        int64_t high = fit.high < bounds->high ? fit.high : bounds->high;
        best = is_found && best > high ? best : high;
        is_found = true;
    }
    if (is_found)
        bounds->high = best;
    return is_found;
}

/* Counts the kernels in which the lane fits. An uncertain lane keeps its kernel's name if all of
 * them have it. */
static void decide(const finding *f, tkt_lane *lane)
{
    tkt_lane_offsets fit;
    size_t first, end, found = 0;
    find_reached(f, lane, &lane->offsets, &first, &end);
    bool is_named = lane->kernel_name != 0;
    for (size_t i = first; i < end && (found < 2 || (!is_named && lane->kernel_name)); i++) {
        uint32_t kernel = f->places[i].kernel;
        uint32_t name = f->search->kernels.items[kernel].name;
        bool is_too_far = i - first >= MOST_VISITED;
        if (!is_too_far && !fits_in(f, lane, &f->places[i], &lane->offsets, &fit))
            continue;
        lane->kernel = kernel + 1;
        lane->kernel_name = is_named || found == 0 || name == lane->kernel_name ? name : 0;
        if (is_too_far && !is_named)
            lane->kernel_name = 0;
        found += is_too_far ? 2 : 1;
    }
    lane->launch = found == 0   ? TKT_LAUNCH_NONE
                   : found == 1 ? TKT_LAUNCH_KNOWN
                                : TKT_LAUNCH_UNCERTAIN;
    lane->kernel = found == 1 ? lane->kernel : 0;
}

/* ---- Own lanes and shared ones --------------------------------------------------------------- */

static int by_view(const void *a, const void *b)
{
    const tkt_lane *x = *(tkt_lane *const *)a, *y = *(tkt_lane *const *)b;
    if (x->view != y->view)
        return x->view < y->view ? -1 : 1;
    if (x->block != y->block)
        return x->block < y->block ? -1 : 1;
    return x->lane < y->lane ? -1 : x->lane > y->lane;
}

/* True if the lanes [first, end), all those of a view, cannot be of the one launch that the view
 * was made for. `kernel` is this launch's, or NULL. */
static bool is_view_shared(const finding *f, size_t first, size_t end,
                           const tkt_lane_kernel *kernel)
{
    uint64_t begin = UINT64_MAX, last = 0;
    for (size_t i = first; i < end; i++) {
        const tkt_lane *lane = f->lanes[i];
        bool is_repeated = i > first && lane->block == f->lanes[i - 1]->block &&
                           lane->lane == f->lanes[i - 1]->lane;
        if (is_repeated || lane->correlation == 0 || !is_in_time(lane, lane->correlation))
            return true;
        begin = lane->global < begin ? lane->global : begin;
        last = lane->global + lane->least_ns > last ? lane->global + lane->least_ns : last;
    }
    uint64_t most_ns = kernel ? kernel->end_ns - kernel->begin_ns + 2 * TKT_LANE_TOLERANCE_NS : 0;
    return kernel && last - begin > most_ns + most_ns / DRIFT;
}

/* True if the recording has every launch that may be the lane's. */
static bool is_complete(const finding *f, const tkt_lane *lane, bool has_own)
{
    const tkt_lane_search *search = f->search;
    bool has_lost =
        search->has_lost || (lane->correlation && !has_own && is_in_time(lane, lane->correlation));
    return !has_lost && lane->after && lane->before &&
           !tkt_is_later_call(search->first_correlation, lane->after) &&
           !tkt_is_later_call((uint32_t)lane->before, search->last_correlation);
}

/* Sets the places of the launches that may be the lane's, by name and call. */
static void set_places(const finding *f, tkt_lane *lane, uint32_t name)
{
    size_t first = first_not(f, 0, f->place_count, has_lower_name, lane, name);
    size_t end = first_not(f, first, f->place_count, has_lower_name, lane, (int64_t)name + 1);
    if (lane->after)
        first = first_not(f, first, end, is_called_before, lane, call_number(f, lane->after));
    if (lane->before)
        end = first_not(f, first, end, is_called_until, lane, call_number(f, lane->before));
    lane->first_place = (uint32_t)first;
    lane->place_count = (uint32_t)(end - first);
}

/* Shared lanes are of the same kernel as the launch that the view was made for, if it is known. */
static void prepare_lane(const finding *f, tkt_lane *lane, uint64_t own, bool is_shared)
{
    const tkt_lane_kernel *kernel = own ? &f->search->kernels.items[own - 1] : NULL;
    uint32_t name = kernel ? kernel->name : 0;
    lane->offsets = (tkt_lane_offsets){INT64_MIN, INT64_MAX};
    lane->launch = !is_shared                 ? TKT_LAUNCH_KNOWN
                   : f->search->kernels.count ? TKT_LAUNCH_UNCERTAIN
                                              : TKT_LAUNCH_NONE;
    lane->is_own = !is_shared;
    lane->kernel = is_shared ? 0 : (uint32_t)own;
    lane->kernel_name = name;
    lane->is_complete = is_shared && is_complete(f, lane, own != 0);
    set_places(f, lane, name);
    if (!is_shared && kernel)
        lane->offsets = fit_between(lane, kernel->begin_ns, kernel->end_ns);
}

static void prepare(finding *f)
{
    qsort(f->lanes, f->count, sizeof *f->lanes, by_view);
    for (size_t first = 0, end; first < f->count; first = end) {
        for (end = first + 1; end < f->count && f->lanes[end]->view == f->lanes[first]->view;)
            end++;
        uint32_t correlation = f->lanes[first]->correlation;
        const uint64_t *own = correlation ? tkt_map_get(&f->launches, correlation) : NULL;
        bool is_shared =
            is_view_shared(f, first, end, own ? &f->search->kernels.items[*own - 1] : NULL);
        for (size_t i = first; i < end; i++)
            prepare_lane(f, f->lanes[i], own ? *own : 0, is_shared);
    }
}

/* ---- Bounds of all lanes --------------------------------------------------------------------- */

static int by_global(const void *a, const void *b)
{
    const tkt_lane *x = *(tkt_lane *const *)a, *y = *(tkt_lane *const *)b;
    if (x->global != y->global)
        return x->global < y->global ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* Widens the bounds of one lane to those of a later one, or the other way round. Over many lanes
 * the quotients add up without an error of rounding. */
static void widen(tkt_lane_offsets *bounds, const tkt_lane *first, const tkt_lane *second)
{
    int64_t drift_ns = (int64_t)(second->global / DRIFT - first->global / DRIFT);
    bounds->low = bounds->low < INT64_MIN + drift_ns ? INT64_MIN : bounds->low - drift_ns;
    bounds->high = bounds->high > INT64_MAX - drift_ns ? INT64_MAX : bounds->high + drift_ns;
}

/* Narrows the lane's bounds by those that come from its neighbour. If both contradict each other, a
 * clock was set in between: an own lane then keeps its bounds, and others may be on either side. */
static void meet(finding *f, tkt_lane *lane, tkt_lane_offsets *bounds)
{
    tkt_lane_offsets *mine = &lane->offsets;
    int64_t low = bounds->low > mine->low ? bounds->low : mine->low;
    int64_t high = bounds->high < mine->high ? bounds->high : mine->high;
    if (low <= high) {
        *mine = *bounds = (tkt_lane_offsets){low, high};
        return;
    }
    f->has_contradiction = true;
    if (lane->is_own && lane->kernel)
        *bounds = *mine;
    else
        *mine = (tkt_lane_offsets){bounds->low < mine->low ? bounds->low : mine->low,
                                   bounds->high > mine->high ? bounds->high : mine->high};
}

static void visit_lane(finding *f, tkt_lane *lane, tkt_lane_offsets *bounds)
{
    tkt_lane_offsets old = lane->offsets;
    meet(f, lane, bounds);
    if (f->narrows_shared && lane->is_complete) {
        tkt_lane_offsets narrow = *bounds;
        if (raise_low(f, lane, &narrow) && lower_high(f, lane, &narrow))
            lane->offsets = *bounds = narrow;
        else
            f->has_contradiction = true;
    }
    f->has_changed |= old.low != lane->offsets.low || old.high != lane->offsets.high;
}

/* To and fro. */
static void sweep(finding *f)
{
    tkt_lane_offsets bounds = {INT64_MIN, INT64_MAX};
    for (size_t i = 0; i < f->count; i++) {
        widen(&bounds, f->lanes[i ? i - 1 : 0], f->lanes[i]);
        visit_lane(f, f->lanes[i], &bounds);
    }
    bounds = (tkt_lane_offsets){INT64_MIN, INT64_MAX};
    for (size_t i = f->count; i-- > 0;) {
        widen(&bounds, f->lanes[i], f->lanes[i + 1 < f->count ? i + 1 : i]);
        visit_lane(f, f->lanes[i], &bounds);
    }
}

static void narrow_all(finding *f)
{
    sweep(f); /* own lanes */
    for (size_t i = 0; i < f->count; i++)
        f->saved[i] = f->lanes[i]->offsets;
    f->has_contradiction = false;
    f->narrows_shared = true;
    int rounds = 0;
    do {
        f->has_changed = false;
        sweep(f);
    } while (f->has_changed && !f->has_contradiction && ++rounds < MOST_ROUNDS);
    for (size_t i = 0; i < f->count && f->has_contradiction; i++)
        f->lanes[i]->offsets = f->saved[i];
}

/* ---- The search ------------------------------------------------------------------------------ */

static takt_status find(finding *f)
{
    f->count = f->search->lanes.count;
    f->lanes = tkt_alloc((f->count + 1) * sizeof *f->lanes);
    f->saved = tkt_alloc((f->count + 1) * sizeof *f->saved);
    takt_status status = f->lanes && f->saved ? make_places(f) : TAKT_NO_MEMORY;
    if (status != TAKT_OK)
        return status;
    for (size_t i = 0; i < f->count; i++)
        f->lanes[i] = &f->search->lanes.items[i];
    prepare(f);
    qsort(f->lanes, f->count, sizeof *f->lanes, by_global);
    narrow_all(f);
    for (size_t i = 0; i < f->count; i++)
        if (f->lanes[i]->is_complete)
            decide(f, f->lanes[i]);
    return TAKT_OK;
}

takt_status tkt_lanes_find(tkt_lane_search *search)
{
    finding f = {.search = search};
    takt_status status = find(&f);
    tkt_map_fini(&f.launches);
    tkt_free(f.places);
    tkt_free(f.lanes);
    tkt_free(f.saved);
    return status;
}
