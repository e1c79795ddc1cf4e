/* Finds all gaps in one pass over the activities of devices, sorted by begin. Each stream, and each
 * device as a whole, is a row that remembers until when it was busy. An activity that begins later
 * leaves a gap. The pass also sums up late launches and busy times, so all reports about devices
 * share it. */
#include "summary/gaps.h"

#include "summary/device.h"
#include "summary/gap_cause.h"
#include "summary/idle.h"
#include "trace/devices.h"

#define NONE UINT32_MAX

/* A stream, or a device. */
typedef struct row {
    tkt_idle idle;
    uint64_t until_ns;    /* the latest end so far */
    uint64_t unknown_ns;  /* at the begin */
    uint32_t last;        /* the activity with that end, or NONE */
    uint32_t wait;        /* of a stream: the next wait, see tkt_wait_pass() */
    uint32_t next;        /* the next row of the same device, or NONE */
    uint32_t place;       /* of a device: index in sweep.devices; then of each row: in the result */
    bool is_watched;      /* what it did before its first activity is known */
    uint64_t launched_ns; /* of an unwatched device's stream: the least launch of the first activity
                           * of it and of the streams that begin after it */
    size_t step;          /* of a device: the first step that does not end before until_ns */
    uint64_t computing_until_ns; /* of a device: the latest end of anything but a copy */
} row;

typedef struct device {
    uint32_t label; /* string */
    uint32_t row;
    uint32_t last_row; /* the last row of its streams */
    uint32_t awaited;  /* the row of the stream that begins next, or NONE */
    tkt_map streams;   /* context << 32 | stream -> row */
    tkt_endings endings;
} device;

/* Cache of an activity's rows. Most activities belong to a few streams. */
typedef struct place {
    bool is_known;
    uint32_t label; /* of the device */
    uint32_t context;
    uint32_t stream;
    uint32_t device; /* index in sweep.devices */
    uint32_t device_row;
    uint32_t row; /* the stream's row */
} place;

#define PLACES 64u

typedef struct sweep {
    const takt_trace *trace;
    uint64_t begin_ns; /* of the time in which devices' work is known */
    uint64_t end_ns;
    bool is_known; /* what devices did between recorded activities */
    const tkt_gaps_wish *wish;
    tkt_wait_lists waits;
    TKT_ARRAY_OF(row) rows;
    TKT_ARRAY_OF(device) devices;
    tkt_map device_of;    /* string -> device + 1 */
    place places[PLACES]; /* cache by hash of device and stream; holds the entry used last */
    tkt_idle_scopes scopes;
    tkt_longest longest[2]; /* gaps of streams [false] and of devices [true] */
    tkt_gaps *result;       /* receives late launches during the pass */
    bool is_short;          /* memory ran out */
} sweep;

static const tkt_activity *activity_of(const sweep *s, uint32_t number)
{
    return number == NONE ? NULL : &s->trace->activities.items[number];
}

/* ---- Time of a row --------------------------------------------------------------------------- */

static uint64_t clip(const sweep *s, uint64_t ns)
{
    if (ns < s->begin_ns)
        return s->begin_ns;
    return ns < s->end_ns ? ns : s->end_ns;
}

/* Adds a late launch under the key of its call's first activity. */
static void add_late(sweep *s, uint32_t number, uint64_t waited_ns)
{
    const tkt_activity *activities = s->trace->activities.items;
    while (number > 0 && activities[number - 1].call == activities[number].call)
        number--;
    uint64_t key = tkt_launch_key(s->trace, &activities[number]);
    uint64_t *late = tkt_map_put(&s->result->late, key);
    uint64_t *waited = tkt_map_put(&s->result->waited, key);
    if (!late || !waited) {
        s->is_short = true;
        return;
    }
    *late += 1;
    *waited += waited_ns;
}

/* Keeps a gap if it is long enough, and reports it. Up to host_ns its cause is TKT_IDLE_HOST. */
static void keep_gap(sweep *s, const row *r, tkt_gap *gap, uint64_t host_ns,
                     const tkt_gap_parts *parts)
{
    bool is_host = host_ns - gap->begin_ns > gap->end_ns - host_ns;
    gap->cause = is_host ? TKT_IDLE_HOST : parts->rest;
    gap->idle = (uint32_t)(r - s->rows.items);
    s->is_short |= !tkt_longest_add(&s->longest[r->idle.is_device], gap);
    if (!s->wish->each)
        return;
    const tkt_idle_time time = {&r->idle, gap, host_ns, parts->rest, parts->is_late};
    s->wish->each(s->wish->user, &time);
}

/* How much of [from, to) lies in recorded steps. Calls for one device come in order of time. */
static uint64_t in_steps(const takt_trace *trace, row *r, uint64_t from, uint64_t to)
{
    const tkt_step *steps = trace->steps.items;
    size_t count = trace->steps.count;
    uint64_t sum_ns = 0;
    while (r->step < count && steps[r->step].end_ns <= from)
        r->step++;
    if (r->step < count && from >= steps[r->step].begin_ns && to <= steps[r->step].end_ns)
        return to - from;
    for (size_t i = r->step; i < count && steps[i].begin_ns < to; i++) {
        uint64_t begin_ns = steps[i].begin_ns > from ? steps[i].begin_ns : from;
        uint64_t end_ns = steps[i].end_ns < to ? steps[i].end_ns : to;
        sum_ns += end_ns > begin_ns ? end_ns - begin_ns : 0;
    }
    return sum_ns;
}

/* Until when a gap of a device is known to be one. Of a device that nobody watched before, a stream
 * is busy from the launch of its first activity on, with that launch or with work from before. */
static uint64_t seen_until(sweep *s, row *r, uint64_t begin_ns, uint64_t end_ns)
{
    uint32_t awaited = s->devices.items[r->place].awaited;
    if (awaited == NONE || s->rows.items[awaited].launched_ns >= end_ns)
        return end_ns;
    uint64_t launched_ns = s->rows.items[awaited].launched_ns;
    uint64_t until_ns = launched_ns > begin_ns ? launched_ns : begin_ns;
    r->idle.unseen_ns += end_ns - until_ns;
    tkt_unseen *unseen = TKT_ARRAY_ADD(&s->result->unseen);
    if (unseen)
        *unseen = (tkt_unseen){r->idle.device, until_ns, end_ns};
    s->is_short |= !unseen;
    r->idle.step_unknown_ns += in_steps(s->trace, r, until_ns, end_ns);
    return until_ns;
}

/* Adds the idle time from begin_ns to end_ns, between the row's last activity and `after`. Either
 * may be NONE. */
static void close_gap(sweep *s, row *r, uint32_t after, const tkt_gap_parts *parts,
                      uint64_t begin_ns, uint64_t end_ns)
{
    begin_ns = clip(s, begin_ns);
    end_ns = clip(s, end_ns);
    if (begin_ns < end_ns && r->idle.is_device)
        end_ns = seen_until(s, r, begin_ns, end_ns);
    if (begin_ns == end_ns || !s->is_known)
        return;
    uint64_t host_ns = parts->is_late ? clip(s, parts->host_until_ns) : begin_ns;
    host_ns = host_ns < begin_ns ? begin_ns : host_ns < end_ns ? host_ns : end_ns;
    r->idle.idle_ns += end_ns - begin_ns;
    r->idle.cause_ns[TKT_IDLE_HOST] += host_ns - begin_ns;
    r->idle.cause_ns[parts->rest] += end_ns - host_ns;
    r->idle.gaps += r->last != NONE && after != NONE;
    r->idle.late += parts->is_late;
    if (s->wish->each || end_ns - begin_ns >= s->longest[r->idle.is_device].least_ns)
        keep_gap(s, r, &(tkt_gap){begin_ns, end_ns, .before = r->last, .after = after}, host_ns,
                 parts);
    if (!r->idle.is_device)
        return;
    tkt_idle_scopes_add(&s->scopes, r->idle.device, activity_of(s, after != NONE ? after : r->last),
                        begin_ns, host_ns, end_ns);
    if (parts->is_late)
        add_late(s, after, host_ns - begin_ns);
}

static void close_edge(sweep *s, row *r, uint32_t after, uint64_t begin_ns, uint64_t end_ns)
{
    const tkt_gap_parts parts = {.host_until_ns = begin_ns, .rest = TKT_IDLE_EDGE};
    close_gap(s, r, after, &parts, begin_ns, end_ns);
}

__attribute__((always_inline)) static inline void add_busy(sweep *s, row *r, uint64_t from_ns,
                                                           uint64_t to_ns)
{
    from_ns = clip(s, from_ns);
    to_ns = clip(s, to_ns);
    r->idle.busy_ns += to_ns - from_ns;
    if (r->idle.is_device)
        r->idle.step_busy_ns += in_steps(s->trace, r, from_ns, to_ns);
}

/* A row's work from before its first activity. */
__attribute__((cold)) static void begin_busy(sweep *s, row *r, uint64_t from_ns, uint64_t until_ns)
{
    if (r->idle.is_device) {
        r->idle.computing_ns += until_ns - from_ns;
        r->computing_until_ns = until_ns;
    }
    add_busy(s, r, from_ns, until_ns);
    r->until_ns = r->idle.first_ns = until_ns;
}

/* The time before a row's first activity. */
__attribute__((cold, noinline)) static void begin_row(sweep *s, row *r, uint32_t number)
{
    const tkt_activity *activity = activity_of(s, number);
    uint64_t from_ns = clip(s, tkt_launched_ns(s->trace, activity));
    if (!r->is_watched || (!r->idle.is_device && from_ns < r->until_ns)) {
        /* From the launch on the row was busy, and before that it is unknown. */
        r->unknown_ns = from_ns - s->begin_ns;
        if (r->idle.is_device)
            r->idle.step_unknown_ns += in_steps(s->trace, r, s->begin_ns, from_ns);
        begin_busy(s, r, from_ns, clip(s, activity->begin_ns));
    } else if (activity->begin_ns > r->until_ns)
        close_edge(s, r, number, r->until_ns, activity->begin_ns);
}

static void add_activity(sweep *s, row *r, const tkt_activity *activity, bool waited)
{
    uint32_t number = (uint32_t)(activity - s->trace->activities.items);
    if (r->last == NONE) {
        begin_row(s, r, number);
        r->last = number; /* with earlier work there may be no edge */
    } else if (activity->begin_ns > r->until_ns) {
        tkt_gap_parts parts =
            tkt_gap_parts_of(s->trace, activity_of(s, r->last), r->until_ns, activity, waited);
        close_gap(s, r, number, &parts, r->until_ns, activity->begin_ns);
    }
    uint64_t from_ns = activity->begin_ns > r->until_ns ? activity->begin_ns : r->until_ns;
    r->idle.count++;
    if (activity->end_ns <= r->until_ns)
        return;
    add_busy(s, r, from_ns, activity->end_ns);
    r->until_ns = activity->end_ns;
    r->last = number;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static uint32_t add_row(sweep *s, const tkt_idle *idle)
{
    row *r = TKT_ARRAY_ADD(&s->rows);
    if (!r)
        return NONE;
    *r = (row){.idle = *idle, .last = NONE, .next = NONE, .until_ns = s->begin_ns};
    return (uint32_t)s->rows.count - 1;
}

/* Until when a device worked for launches before the recording. */
static uint64_t earlier_until_ns(const sweep *s, uint32_t label)
{
    uint64_t until_ns = 0;
    for (size_t i = 0; i < s->trace->devices.count; i++)
        if (s->trace->devices.items[i].label == label)
            until_ns = s->trace->devices.items[i].earlier_until_ns;
    return until_ns;
}

/* Work of earlier launches counts as busy time. */
static void begin_device(sweep *s, row *r)
{
    uint64_t earlier_ns = earlier_until_ns(s, r->idle.device), until_ns = clip(s, earlier_ns);
    r->is_watched = earlier_ns > 0;
    r->idle.step_unknown_ns = in_steps(s->trace, r, s->trace->facts.begin_ns, s->begin_ns);
    begin_busy(s, r, s->begin_ns, until_ns);
}

/* Returns a device, created if it is new. NULL without memory. */
static device *find_device(sweep *s, uint32_t label)
{
    uint64_t *known = tkt_map_put(&s->device_of, label);
    if (!known || *known)
        return known ? &s->devices.items[*known - 1] : NULL;
    uint32_t number = add_row(s, &(tkt_idle){.device = label, .is_device = true});
    device *d = number == NONE ? NULL : TKT_ARRAY_ADD(&s->devices);
    if (!d)
        return NULL;
    *d = (device){.label = label, .row = number, .last_row = number, .awaited = NONE};
    s->rows.items[number].place = (uint32_t)s->devices.count - 1;
    begin_device(s, &s->rows.items[number]);
    *known = s->devices.count;
    return d;
}

/* Returns the stream's row, created if it is new. NONE without memory. */
static uint32_t find_stream(sweep *s, device *d, const tkt_activity *activity)
{
    uint64_t *known =
        tkt_map_put(&d->streams, (uint64_t)activity->context << 32 | activity->stream);
    if (!known || *known)
        return known ? (uint32_t)*known : NONE;
    uint32_t number = add_row(s, &(tkt_idle){.device = activity->device,
                                             .context = activity->context,
                                             .stream = activity->stream});
    if (number == NONE)
        return NONE;
    const row *of_device = &s->rows.items[d->row]; /* busy for earlier launches on some stream */
    row *r = &s->rows.items[number];
    r->is_watched = of_device->is_watched;
    if (r->is_watched)
        r->until_ns = of_device->idle.first_ns;
    r->unknown_ns = r->until_ns - s->begin_ns;
    r->wait = tkt_wait_first(&s->waits, activity->context, activity->stream);
    s->rows.items[d->last_row].next = number;
    d->last_row = number;
    *known = number;
    return number;
}

/* Returns the rows of an activity, created if they are new. NULL without memory. */
static const place *find_place(sweep *s, const tkt_activity *activity)
{
    uint32_t hash = activity->device * 5 + activity->context * 3 + activity->stream;
    place *found = &s->places[hash % PLACES];
    if (found->is_known && found->label == activity->device &&
        found->context == activity->context && found->stream == activity->stream)
        return found;
    device *d = find_device(s, activity->device);
    if (!d)
        return NULL;
    uint32_t number = find_stream(s, d, activity);
    if (number == NONE)
        return NULL;
    *found = (place){.is_known = true,
                     .label = activity->device,
                     .context = activity->context,
                     .stream = activity->stream,
                     .device = (uint32_t)(d - s->devices.items),
                     .device_row = d->row,
                     .row = number};
    return found;
}

/* True if the activity probably waited for an event or for another stream. */
static bool add_to_stream(sweep *s, const place *at, const tkt_activity *activity)
{
    tkt_endings *endings = &s->devices.items[at->device].endings;
    row *stream = &s->rows.items[at->row];
    uint64_t begin_ns = activity->begin_ns;
    uint64_t recent_ns = begin_ns > TKT_SHORT_GAP_NS ? begin_ns - TKT_SHORT_GAP_NS : 0;
    bool ends_later = activity->end_ns > stream->until_ns; /* than all earlier ones of its stream */
    tkt_endings_pass(endings, begin_ns);
    bool waited = tkt_wait_pass(&s->waits, &stream->wait, activity);
    waited = waited || tkt_endings_other(endings, at->row, recent_ns);
    add_activity(s, stream, activity, waited);
    if (ends_later)
        s->is_short |= !tkt_endings_add(endings, activity->end_ns, at->row);
    return waited;
}

/* True if the activity was launched in a recorded step, or if its launch is unknown. */
static bool is_of_steps(const takt_trace *trace, const tkt_activity *activity)
{
    size_t count = trace->steps.count;
    if (count == 0)
        return false;
    if (activity->call == TKT_NO_CALL)
        return true;
    uint64_t launched_ns = tkt_call_span(trace, activity->call)->begin_ns;
    return launched_ns >= trace->steps.items[0].begin_ns &&
           launched_ns < trace->steps.items[count - 1].end_ns;
}

static void add_copy(sweep *s, tkt_idle *idle, const tkt_activity *activity)
{
    idle->copies++;
    if (activity->shape == TKT_NO_SHAPE)
        return;
    const tkt_shape *shape = &s->trace->shapes.items[activity->shape];
    uint64_t ns = activity->end_ns - activity->begin_ns;
    tkt_copying *copying = &s->result->copying;
    idle->copied_bytes += shape->bytes;
    copying->count++;
    copying->bytes += shape->bytes;
    copying->ns += ns;
    if (shape->source != TAKT_MEMORY_PAGEABLE && shape->target != TAKT_MEMORY_PAGEABLE)
        return;
    copying->pageable_count++;
    copying->pageable_bytes += shape->bytes;
    copying->pageable_ns += ns;
}

/* Adds what only rows of devices have. */
static void add_to_device(sweep *s, row *r, const tkt_activity *activity)
{
    uint64_t ns = activity->end_ns - activity->begin_ns;
    r->idle.total_ns += ns;
    if (is_of_steps(s->trace, activity))
        s->result->step_ns += ns;
    if (!(activity->filter & TAKT_TIMING_MEMCPY)) {
        r->idle.computing_ns += tkt_union_add(&r->computing_until_ns, clip(s, activity->begin_ns),
                                              clip(s, activity->end_ns));
        return;
    }
    add_copy(s, &r->idle, activity);
}

static void visit(void *user, const tkt_activity *activity)
{
    sweep *s = user;
    const place *at = find_place(s, activity);
    if (!at) {
        s->is_short = true;
        return;
    }
    const row *stream = &s->rows.items[at->row];
    device *d = &s->devices.items[at->device];
    bool waited = add_to_stream(s, at, activity);
    row *of_device = &s->rows.items[at->device_row];
    add_activity(s, of_device, activity, waited);
    add_to_device(s, of_device, activity);
    if (at->row == d->awaited)
        d->awaited = stream->next;
}

/* ---- Streams that have not begun ------------------------------------------------------------- */

static void note_launch(void *user, const tkt_activity *activity)
{
    sweep *s = user;
    const place *at = find_place(s, activity);
    if (!at)
        s->is_short = true;
    else if (!s->rows.items[at->row].launched_ns)
        s->rows.items[at->row].launched_ns = clip(s, tkt_launched_ns(s->trace, activity));
}

/* Finds the streams of devices that nobody watched, in the order in which they begin. */
static takt_status find_streams(sweep *s)
{
    bool is_watched = s->trace->devices.count > 0;
    for (size_t i = 0; i < s->trace->devices.count; i++)
        is_watched &= s->trace->devices.items[i].earlier_until_ns > 0;
    takt_status status = is_watched ? TAKT_OK : tkt_device_visit(s->trace, note_launch, s);
    for (size_t i = s->is_short ? 0 : s->rows.count; status == TAKT_OK && i-- > 0;) {
        row *r = &s->rows.items[i];
        device *d = find_device(s, r->idle.device);
        if (r->idle.is_device || s->rows.items[d->row].is_watched)
            continue;
        if (d->awaited != NONE && s->rows.items[d->awaited].launched_ns < r->launched_ns)
            r->launched_ns = s->rows.items[d->awaited].launched_ns;
        d->awaited = (uint32_t)i;
    }
    return status;
}

/* ---- The result ------------------------------------------------------------------------------ */

static void close_rows(sweep *s)
{
    for (size_t i = 0; i < s->rows.count; i++) {
        row *r = &s->rows.items[i];
        if (r->until_ns < s->end_ns)
            close_edge(s, r, NONE, r->until_ns, s->end_ns);
        if (r->idle.is_device)
            r->idle.step_unknown_ns +=
                in_steps(s->trace, r, s->end_ns, s->trace->facts.begin_ns + s->result->wall_ns);
    }
}

static bool take_rows(sweep *s, tkt_gaps *out)
{
    for (size_t i = 0; i < s->devices.count; i++) {
        for (uint32_t at = s->devices.items[i].row; at != NONE; at = s->rows.items[at].next) {
            tkt_idle *idle = TKT_ARRAY_ADD(&out->idles);
            if (!idle)
                return false;
            *idle = s->rows.items[at].idle;
            if (s->is_known)
                idle->known_ns =
                    s->end_ns - s->begin_ns - s->rows.items[at].unknown_ns - idle->unseen_ns;
            s->rows.items[at].place = (uint32_t)out->idles.count - 1;
        }
    }
    return true;
}

static void take_longest(sweep *s, tkt_longest *l, tkt_gap_list *out)
{
    tkt_longest_sort(l);
    *out = (tkt_gap_list){l->items, l->count, l->capacity};
    *l = (tkt_longest){0};
    for (size_t i = 0; i < out->count; i++)
        out->items[i].idle = s->rows.items[out->items[i].idle].place;
}

static takt_status take_all(sweep *s, tkt_gaps *out)
{
    if (!s->is_short)
        close_rows(s);
    if (s->is_short || s->scopes.is_short || !take_rows(s, out))
        return TAKT_NO_MEMORY;
    tkt_idle_scopes_sort(&s->scopes, s->trace);
    out->scopes.items = s->scopes.items;
    out->scopes.count = s->scopes.count;
    s->scopes.items = NULL;
    take_longest(s, &s->longest[false], &out->stream_gaps);
    take_longest(s, &s->longest[true], &out->device_gaps);
    return TAKT_OK;
}

static void fini(sweep *s)
{
    for (size_t i = 0; i < s->devices.count; i++) {
        tkt_map_fini(&s->devices.items[i].streams);
        TKT_ARRAY_FREE(&s->devices.items[i].endings.running);
    }
    TKT_ARRAY_FREE(&s->devices);
    TKT_ARRAY_FREE(&s->rows);
    TKT_ARRAY_FREE(&s->longest[false]);
    TKT_ARRAY_FREE(&s->longest[true]);
    tkt_map_fini(&s->device_of);
    tkt_wait_lists_fini(&s->waits);
    tkt_idle_scopes_fini(&s->scopes);
}

takt_status tkt_gaps_of(const takt_trace *trace, const tkt_gaps_wish *wish, tkt_gaps *out)
{
    if (!trace->facts.has_spans)
        return TAKT_NO_SPANS;
    sweep s = {.trace = trace,
               .is_known = tkt_device_idle_is_known(trace),
               .wish = wish,
               .scopes = {.trace = trace, .stay = wish->stay, .user = wish->user}};
    tkt_device_known(trace, &s.begin_ns, &s.end_ns);
    s.longest[false].wanted = s.longest[true].wanted = wish->longest;
    tkt_gaps gaps = {.wall_ns = tkt_wall_ns(&trace->facts)};
    s.result = &gaps;
    takt_status status = tkt_wait_lists_init(&s.waits, trace);
    if (status == TAKT_OK && s.is_known)
        status = find_streams(&s);
    if (status == TAKT_OK)
        status = tkt_device_visit(trace, visit, &s);
    for (size_t i = 0; status == TAKT_OK && i < trace->devices.count; i++)
        if (trace->devices.items[i].earlier_until_ns)
            s.is_short |= !find_device(&s, trace->devices.items[i].label);
    if (status == TAKT_OK)
        status = take_all(&s, &gaps);
    fini(&s);
    if (status == TAKT_OK)
        *out = gaps;
    else
        tkt_gaps_fini(&gaps);
    return status;
}

void tkt_gaps_fini(tkt_gaps *gaps)
{
    TKT_ARRAY_FREE(&gaps->idles);
    TKT_ARRAY_FREE(&gaps->unseen);
    TKT_ARRAY_FREE(&gaps->scopes);
    tkt_map_fini(&gaps->late);
    tkt_map_fini(&gaps->waited);
    TKT_ARRAY_FREE(&gaps->stream_gaps);
    TKT_ARRAY_FREE(&gaps->device_gaps);
    *gaps = (tkt_gaps){0};
}

const tkt_idle *tkt_idle_of(const tkt_gaps *gaps, uint32_t label)
{
    for (size_t i = 0; i < gaps->idles.count; i++)
        if (gaps->idles.items[i].is_device && gaps->idles.items[i].device == label)
            return &gaps->idles.items[i];
    return NULL;
}
