/* Launches by kernel or graph, and launches whose activity was lost. */
#include "summary/launches.h"

#include "summary/device.h"
#include "summary/gaps.h"
#include "trace/devices.h"

#include <string.h>

/* ======== Launches ======== */

/* Activities are in issue order, and those of one call are adjacent. One pass sees each launch as a
 * whole. The gaps tell which launches the devices waited for. */

static bool give_histograms(tkt_launches *launches, tkt_launch *launch)
{
    for (int i = 0; i < TKT_LAUNCH_TIMES; i++) {
        tkt_histogram *histogram = tkt_arena_alloc(&launches->histograms, sizeof *histogram);
        if (!histogram)
            return false;
        *histogram = (tkt_histogram){{0}};
        launch->times[i].histogram = histogram;
    }
    return true;
}

/* Returns the launches of a key, created if they are new. NULL without memory. */
static tkt_launch *find_launch(tkt_launches *launches, uint32_t name, uint64_t key)
{
    uint64_t *place = tkt_map_put(&launches->index, key);
    if (!place || *place)
        return place ? &launches->items[*place - 1] : NULL;
    tkt_launch *launch = TKT_ARRAY_ADD(launches);
    if (!launch)
        return NULL;
    /* Use the activity's name: graphs whose nodes were recorded one by one have no name here. */
    *launch = (tkt_launch){.name = name, .graph = (uint32_t)(key >> 32)};
    for (int i = 0; i < TKT_LAUNCH_TIMES; i++)
        tkt_stats_init(&launch->times[i].stats);
    if (launches->count <= TKT_LAUNCH_HISTOGRAMS && !give_histograms(launches, launch))
        return NULL;
    *place = launches->count;
    return launch;
}

static void add_time(tkt_launch *launch, tkt_launch_time time, uint64_t begin_ns, uint64_t end_ns)
{
    tkt_launch_stats *times = &launch->times[time];
    uint64_t ns = end_ns > begin_ns ? end_ns - begin_ns : 0; /* clocks are not exact */
    tkt_stats_add(&times->stats, ns);
    if (times->histogram)
        tkt_histogram_add(times->histogram, times->stats.count, ns);
}

/* The key that tkt_launch_key() returned for the launch. */
static uint64_t key_of(const tkt_launch *launch)
{
    return launch->graph ? (uint64_t)launch->graph << 32 : launch->name;
}

#define LATEST 64u /* a power of two */

/* Like find_launch(), but first looks in `latest`, a cache of indices by hash of the key. */
static tkt_launch *find_again(tkt_launches *launches, uint32_t *latest, uint32_t name, uint64_t key)
{
    uint32_t *place = &latest[(key ^ key >> 32) % LATEST];
    if (*place < launches->count && key_of(&launches->items[*place]) == key)
        return &launches->items[*place];
    tkt_launch *launch = find_launch(launches, name, key);
    if (launch)
        *place = (uint32_t)(launch - launches->items);
    return launch;
}

/* Adds one call's launch: `count` activities from `first` on. */
static bool add_launch(const takt_trace *trace, tkt_launches *launches, uint32_t *latest,
                       const tkt_activity *first, size_t count)
{
    tkt_launch *launch = find_again(launches, latest, first->name, tkt_launch_key(trace, first));
    if (!launch)
        return false;
    uint64_t begin_ns = first->begin_ns;
    uint64_t end_ns = first->end_ns;
    for (size_t i = 1; i < count; i++) {
        begin_ns = first[i].begin_ns < begin_ns ? first[i].begin_ns : begin_ns;
        end_ns = first[i].end_ns > end_ns ? first[i].end_ns : end_ns;
    }
    const tkt_span *call = tkt_call_span(trace, first->call);
    uint32_t call_name = tkt_span_name(trace, call);
    bool is_first = launch->times[TKT_LAUNCH_CALL].stats.count == 0;
    launch->call = is_first || launch->call == call_name ? call_name : 0;
    add_time(launch, TKT_LAUNCH_CALL, call->begin_ns, call->end_ns);
    if (begin_ns >= call->end_ns)
        add_time(launch, TKT_LAUNCH_QUEUE, call->end_ns, begin_ns);
    add_time(launch, TKT_LAUNCH_WORK, begin_ns, end_ns);
    add_time(launch, TKT_LAUNCH_TOTAL, call->begin_ns, end_ns);
    launches->launched++;
    return true;
}

static takt_status add_launches(const takt_trace *trace, tkt_launches *launches)
{
    const tkt_activity *items = trace->activities.items;
    size_t count = tkt_device_activity_count(trace);
    uint32_t latest[LATEST] = {0};
    bool is_added = true;
    for (size_t i = 0, next; i < count && is_added; i = next) {
        next = i + 1;
        if (items[i].call == TKT_NO_CALL) {
            launches->unattributed++;
            continue;
        }
        while (next < count && items[next].call == items[i].call)
            next++;
        is_added = add_launch(trace, launches, latest, &items[i], next - i);
    }
    return is_added ? TAKT_OK : TAKT_NO_MEMORY;
}

static void add_late(tkt_launches *launches, const tkt_gaps *gaps)
{
    for (size_t i = 0; i < launches->count; i++) {
        tkt_launch *launch = &launches->items[i];
        uint64_t key = key_of(launch);
        const uint64_t *late = tkt_map_get(&gaps->late, key);
        if (!late)
            continue;
        launch->late = *late;
        launch->waited_ns = *tkt_map_get(&gaps->waited, key);
        launches->late += launch->late;
        launches->waited_ns += launch->waited_ns;
    }
}

takt_status tkt_launches_of(const takt_trace *trace, tkt_launches *out)
{
    const tkt_gaps *gaps;
    takt_status status = tkt_trace_gaps(trace, &gaps);
    if (status == TAKT_OK)
        status = add_launches(trace, out);
    if (status == TAKT_OK)
        add_late(out, gaps);
    return status;
}

void tkt_launches_fini(tkt_launches *launches)
{
    TKT_ARRAY_FREE(launches);
    tkt_map_fini(&launches->index);
    tkt_arena_fini(&launches->histograms);
    *launches = (tkt_launches){0};
}

/* ======== Launches without an activity ======== */

/* There are few different paths, so one launch represents all launches of its path. The depth is
 * limited so that a malicious file cannot make this slow. */

#define MOST_NAMES 64
#define BETWEEN    " > "
#define FURTHER    "..."
#define OUTSIDE    "(outside of scopes)"

/* Strings: the call's name, then the names of the scopes around it, innermost first. */
typedef struct names {
    uint32_t items[MOST_NAMES];
    uint32_t count;
    bool is_cut; /* there are scopes around these */
} names;

static names names_of(const takt_trace *trace, uint32_t call)
{
    const tkt_call_info *info = &trace->calls.items[call];
    const tkt_span *spans = trace->tracks.items[info->track].spans.items;
    names found = {.count = 0};
    uint32_t span = (uint32_t)info->span;
    for (int i = 0; i < MOST_NAMES && span != TKT_NO_SPAN; i++) {
        if (i == 0 || !tkt_span_is_call(&spans[span]))
            found.items[found.count++] = trace->sites.items[tkt_span_site(&spans[span])].name;
        span = spans[span].parent;
    }
    found.is_cut = span != TKT_NO_SPAN;
    return found;
}

typedef struct wanted_names {
    const takt_trace *trace;
    names names;
} wanted_names;

static bool has_names(const void *item, const void *wanted)
{
    const tkt_missing *known = item;
    const wanted_names *w = wanted;
    const names of = names_of(w->trace, known->call);
    return of.count == w->names.count &&
           memcmp(of.items, w->names.items, of.count * sizeof *of.items) == 0;
}

static bool add_missing(const takt_trace *trace, tkt_missings *missings, uint32_t call)
{
    const wanted_names wanted = {trace, names_of(trace, call)};
    uint64_t hash =
        tkt_hash_bytes(wanted.names.items, wanted.names.count * sizeof *wanted.names.items);
    uint64_t *place = tkt_map_find(&missings->index, hash, missings->items, sizeof *missings->items,
                                   has_names, &wanted);
    if (place && *place) {
        missings->items[*place - 1].count++;
        return true;
    }
    tkt_missing *added = place ? TKT_ARRAY_ADD(missings) : NULL;
    if (!added)
        return false;
    *added = (tkt_missing){.call = call, .count = 1};
    *place = missings->count;
    return true;
}

takt_status tkt_missings_of(const takt_trace *trace, tkt_missings *out)
{
    for (uint32_t i = 0; i < trace->calls.count; i++) {
        if (tkt_span_flags(tkt_call_span(trace, i)) & TAKT_SPAN_NO_ACTIVITY &&
            !add_missing(trace, out, i))
            return TAKT_NO_MEMORY;
    }
    return TAKT_OK;
}

void tkt_missings_fini(tkt_missings *missings)
{
    TKT_ARRAY_FREE(missings);
    tkt_map_fini(&missings->index);
    *missings = (tkt_missings){0};
}

const char *tkt_missing_call(const takt_trace *trace, const tkt_missing *missing)
{
    return tkt_trace_text(trace, names_of(trace, missing->call).items[0]);
}

const char *tkt_missing_scopes(const takt_trace *trace, const tkt_missing *missing,
                               tkt_arena *texts)
{
    const names of = names_of(trace, missing->call);
    size_t size = sizeof FURTHER;
    if (of.count == 1)
        return OUTSIDE;
    for (uint32_t i = 1; i < of.count; i++)
        size += strlen(tkt_trace_text(trace, of.items[i])) + strlen(BETWEEN);
    char *text = tkt_arena_alloc(texts, size);
    char *end = text;
    if (text && of.is_cut)
        end = stpcpy(end, FURTHER);
    for (uint32_t i = of.count; text && --i > 0;) {
        end = stpcpy(end, end == text ? "" : BETWEEN);
        end = stpcpy(end, tkt_trace_text(trace, of.items[i]));
    }
    return text;
}
