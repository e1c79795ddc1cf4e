/* From pairs to segments. A segment's offset holds until a pair shows a different one. The
 * difference must exceed the tolerance and the pair's own bracket, so noise opens no segment.
 * Between that pair and the one before, the offset may have moved in two ways:
 *
 *   - evenly, because the clocks run at different rates (by at most 500 parts per million where
 *     NTP slews): the segments then follow the line in steps of the tolerance;
 *   - at once, because somebody set the clock at an unknown moment: the segments then meet in the
 *     middle.
 *
 * After a clock was set back, stamps repeat. A stamp alone cannot say which of both times it means:
 * the map takes the later one, and the uncertainty covers the difference. */
#include "cuda/clock.h"

#include <string.h>

#define SAMPLES         16
#define TOLERANCE_NS    1000
#define STEEPEST        1000 /* a drift above one in so many means that the clock was set */
#define PAIR_SPACING_NS UINT64_C(1000000000)
#define MOST_PIECES     4096  /* between two pairs */
#define STRAIGHT_NS     200.0 /* a pair this close to the line between its neighbours is dropped */

tkt_clock_pair tkt_clock_sample(uint64_t (*read)(void))
{
    tkt_clock_pair best = {0};
    uint64_t best_width = UINT64_MAX;
    for (int i = 0; i < SAMPLES; i++) {
        uint64_t before = tkt_ticks();
        uint64_t cupti_ns = read();
        uint64_t width = tkt_ticks() - before;
        if (width >= best_width)
            continue;
        best_width = width;
        best = (tkt_clock_pair){.ticks = before + width / 2, .cupti_ns = cupti_ns};
    }
    best.bracket_ticks = best_width < UINT32_MAX ? (uint32_t)best_width : UINT32_MAX;
    return best;
}

/* True if `middle` may be dropped, because the line from `from` to `to` passes it closely. */
static bool is_straight(const tkt_clock_pair *from, const tkt_clock_pair *middle,
                        const tkt_clock_pair *to)
{
    double whole = (double)(to->ticks - from->ticks);
    double part = (double)(middle->ticks - from->ticks) / whole;
    double rise = (double)(int64_t)(to->cupti_ns - from->cupti_ns);
    double is = (double)(int64_t)(middle->cupti_ns - from->cupti_ns);
    double distance = is - rise * part;
    double allowed = STRAIGHT_NS + middle->bracket_ticks / 2.0 * rise / whole;
    return whole > 0 && distance <= allowed && distance >= -allowed;
}

bool tkt_cuda_clock_add(tkt_cuda_clock *clock, const tkt_clock_pair *pair)
{
    size_t count = clock->pairs.count;
    if (count >= 2) {
        tkt_clock_pair *last = &clock->pairs.items[count - 1];
        if (pair->cupti_ns - last[-1].cupti_ns < PAIR_SPACING_NS &&
            is_straight(last - 1, last, pair)) {
            *last = *pair;
            return true;
        }
    }
    tkt_clock_pair *added = TKT_ARRAY_ADD(&clock->pairs);
    if (added)
        *added = *pair;
    return added != NULL;
}

/* A pair on the time line of the fit. */
typedef struct point {
    uint64_t ns;
    uint64_t cupti_ns;
    int64_t offset_ns;
    double error_ns;
} point;

static point point_of(const tkt_clock_pair *pair, const tkt_clock_fit *fit)
{
    uint64_t ns = tkt_clock_ns(fit, pair->ticks);
    return (point){
        .ns = ns,
        .cupti_ns = pair->cupti_ns,
        .offset_ns = (int64_t)(ns - pair->cupti_ns),
        .error_ns = (double)tkt_clock_duration_ns(fit->ns_per_tick, pair->bracket_ticks) / 2,
    };
}

/* Adds a segment. Where segments overlap the later one wins; the first one also covers all earlier
 * times. */
static bool add_segment(tkt_clock_map *map, uint64_t from_cupti_ns, int64_t offset_ns)
{
    while (map->segments.count &&
           map->segments.items[map->segments.count - 1].from_cupti_ns >= from_cupti_ns)
        map->segments.count--;
    tkt_clock_segment *segment = TKT_ARRAY_ADD(&map->segments);
    if (!segment)
        return false;
    *segment = (tkt_clock_segment){map->segments.count == 1 ? 0 : from_cupti_ns, offset_ns};
    return true;
}

static bool add_step(tkt_clock_map *map, const point *from, const point *to)
{
    map->was_set = true;
    int64_t advance = (int64_t)(to->cupti_ns - from->cupti_ns);
    uint64_t boundary =
        advance > 0 ? from->cupti_ns + (uint64_t)advance / 2 : to->cupti_ns - (to->ns - from->ns);
    return add_segment(map, boundary, to->offset_ns);
}

static void widen(tkt_clock_map *map, double uncertainty_ns)
{
    if (uncertainty_ns > map->uncertainty_ns)
        map->uncertainty_ns = uncertainty_ns;
}

/* Without overflow, for offsets of any size. */
static int64_t difference(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

static double magnitude(int64_t value)
{
    return value < 0 ? -(double)value : (double)value;
}

/* The line begins at the current offset, not at the pair's, which was within tolerance. */
static bool add_drift(tkt_clock_map *map, const point *from, const point *to, int64_t offset_ns)
{
    int64_t move = difference(to->offset_ns, offset_ns);
    int64_t pieces = (int64_t)magnitude(move) / TOLERANCE_NS + 1;
    if (pieces > MOST_PIECES)
        pieces = MOST_PIECES;
    widen(map, to->error_ns + TOLERANCE_NS + magnitude(move) / (double)pieces);
    tkt_int128 advance = (int64_t)(to->cupti_ns - from->cupti_ns);
    for (int64_t i = 1; i <= pieces; i++) {
        uint64_t boundary = from->cupti_ns + (uint64_t)(advance * (2 * i - 1) / (2 * pieces));
        if (!add_segment(map, boundary, offset_ns + (int64_t)((tkt_int128)move * i / pieces)))
            return false;
    }
    return true;
}

static bool is_step(const point *from, const point *to)
{
    return magnitude(difference(to->offset_ns, from->offset_ns)) * STEEPEST >
           magnitude((int64_t)(to->ns - from->ns)) + STEEPEST * (from->error_ns + to->error_ns);
}

/* Extends the map to the next pair. `anchor` is the pair whose offset the last segment has. */
static bool extend(tkt_clock_map *map, point *anchor, const point *from, const point *to)
{
    int64_t offset_ns = anchor->offset_ns;
    double distance = magnitude(difference(to->offset_ns, offset_ns));
    bool has_moved = distance > TOLERANCE_NS + anchor->error_ns + to->error_ns;
    if (has_moved)
        *anchor = *to;
    if (has_moved && !is_step(from, to))
        return add_drift(map, from, to, offset_ns);
    widen(map, to->error_ns + distance);
    return !has_moved || add_step(map, from, to);
}

takt_status tkt_clock_map_make(const tkt_cuda_clock *clock, const tkt_clock_fit *fit,
                               tkt_clock_map *out)
{
    tkt_clock_map map = {.uncertainty_ns = 0};
    point last = {0};
    if (clock->pairs.count) {
        last = point_of(&clock->pairs.items[0], fit);
        widen(&map, last.error_ns);
    }
    point anchor = last;
    bool is_made = add_segment(&map, 0, last.offset_ns);
    for (size_t i = 1; is_made && i < clock->pairs.count; i++) {
        point next = point_of(&clock->pairs.items[i], fit);
        is_made = extend(&map, &anchor, &last, &next);
        last = next;
    }
    if (!is_made) {
        tkt_clock_map_fini(&map);
        return TAKT_NO_MEMORY;
    }
    *out = map;
    return TAKT_OK;
}

void tkt_clock_map_fini(tkt_clock_map *map)
{
    TKT_ARRAY_FREE(&map->segments);
}

uint64_t tkt_clock_map_ns(const tkt_clock_map *map, uint64_t cupti_ns)
{
    const tkt_clock_segment *segments = map->segments.items;
    size_t first = 0;
    size_t count = map->segments.count;
    while (count > 1) {
        size_t half = count / 2;
        if (segments[first + half].from_cupti_ns <= cupti_ns)
            first += half;
        count -= half;
    }
    return cupti_ns + (uint64_t)segments[first].offset_ns;
}
