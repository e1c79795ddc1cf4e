/* One pass over the activities of devices in the order of their begins. Each stream, and each
 * device as a whole, is a row that knows until when it was busy; what begins later leaves a gap. */
#include "summary/gaps.h"

#include "summary/device.h"
#include "summary/gap_cause.h"
#include "summary/idle.h"

#define NONE UINT32_MAX

/* A stream, or a device. */
typedef struct row {
    tkt_idle idle;
    uint64_t until_ns; /* the latest end so far */
    uint32_t last;     /* the activity that has it, or NONE */
    uint32_t wait;     /* of the stream: tkt_wait_pass() */
    uint32_t next;     /* row of the same device, or NONE */
    uint32_t place;    /* in the result */
} row;

typedef struct device {
    uint32_t label; /* string */
    uint32_t row;
    uint32_t last_row; /* of its streams */
    tkt_map streams;   /* context << 32 | stream -> row */
    tkt_endings endings;
} device;

/* Where the rows of an activity are. Most are of a few streams. */
typedef struct place {
    bool is_known;
    uint32_t label; /* of the device */
    uint32_t context;
    uint32_t stream;
    uint32_t device; /* of the sweep's */
    uint32_t row;    /* of the stream */
} place;

#define PLACES 64u

typedef struct sweep {
    const takt_trace *trace;
    uint64_t begin_ns; /* of the recording */
    uint64_t end_ns;
    const tkt_gaps_wish *wish;
    tkt_wait_lists waits;
    TKT_ARRAY_OF(row) rows;
    TKT_ARRAY_OF(device) devices;
    tkt_map device_of;    /* string -> device + 1 */
    place places[PLACES]; /* by device and stream, the last one found */
    tkt_idle_scopes scopes;
    tkt_longest longest[2]; /* of streams, of devices */
    bool is_short;          /* of memory */
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

/* Whoever wants to know hears of a gap, of which the part up to host_ns is the host's. */
static void tell(sweep *s, const row *r, const tkt_gap *gap, uint64_t host_ns, bool is_late)
{
    bool is_device = r->idle.is_device;
    const tkt_activity *after = activity_of(s, gap->after);
    s->is_short |= !tkt_longest_add(&s->longest[is_device], gap);
    if (is_device && s->wish->scopes)
        tkt_idle_scopes_charge(&s->scopes, r->idle.device,
                               after ? after : activity_of(s, gap->before), gap->begin_ns, host_ns,
                               gap->end_ns);
    if (is_device && s->wish->late && is_late)
        s->wish->late(s->wish->user, after, host_ns - gap->begin_ns);
}

/* Idle from begin_ns to end_ns, behind the row's last activity and before `after`, if there are
 * such. */
static void close_gap(sweep *s, row *r, uint32_t after, const tkt_gap_parts *parts,
                      uint64_t begin_ns, uint64_t end_ns)
{
    tkt_gap gap = {.begin_ns = clip(s, begin_ns),
                   .end_ns = clip(s, end_ns),
                   .idle = (uint32_t)(r - s->rows.items),
                   .before = r->last,
                   .after = after};
    uint64_t host_ns = clip(s, parts->host_until_ns);
    host_ns = host_ns < gap.begin_ns ? gap.begin_ns : host_ns;
    bool is_host = host_ns - gap.begin_ns > gap.end_ns - host_ns;
    gap.cause = is_host ? TKT_IDLE_HOST : parts->rest;
    if (gap.begin_ns == gap.end_ns)
        return;
    r->idle.idle_ns += gap.end_ns - gap.begin_ns;
    r->idle.cause_ns[TKT_IDLE_HOST] += host_ns - gap.begin_ns;
    r->idle.cause_ns[parts->rest] += gap.end_ns - host_ns;
    r->idle.gaps += gap.before != NONE && after != NONE;
    r->idle.late += parts->is_late;
    tell(s, r, &gap, host_ns, parts->is_late);
}

static void close_edge(sweep *s, row *r, uint32_t after, uint64_t begin_ns, uint64_t end_ns)
{
    const tkt_gap_parts parts = {.host_until_ns = begin_ns, .rest = TKT_IDLE_EDGE};
    close_gap(s, r, after, &parts, begin_ns, end_ns);
}

static void add_activity(sweep *s, row *r, uint32_t number, bool waited)
{
    const tkt_activity *activity = activity_of(s, number);
    if (r->last == NONE) {
        close_edge(s, r, number, s->begin_ns, activity->begin_ns);
    } else if (activity->begin_ns > r->until_ns) {
        tkt_gap_parts parts =
            tkt_gap_parts_of(s->trace, activity_of(s, r->last), r->until_ns, activity, waited);
        close_gap(s, r, number, &parts, r->until_ns, activity->begin_ns);
    }
    uint64_t from_ns = activity->begin_ns > r->until_ns ? activity->begin_ns : r->until_ns;
    r->idle.count++;
    if (r->last != NONE && activity->end_ns <= r->until_ns)
        return;
    r->idle.busy_ns += clip(s, activity->end_ns) - clip(s, from_ns);
    r->until_ns = activity->end_ns;
    r->last = number;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static uint32_t add_row(sweep *s, const tkt_idle *idle)
{
    row *r = TKT_ARRAY_ADD(&s->rows);
    if (!r)
        return NONE;
    *r = (row){.idle = *idle, .last = NONE, .next = NONE};
    return (uint32_t)s->rows.count - 1;
}

/* NULL without memory. */
static device *find_device(sweep *s, uint32_t label)
{
    uint64_t *known = tkt_map_put(&s->device_of, label);
    if (!known || *known)
        return known ? &s->devices.items[*known - 1] : NULL;
    uint32_t number = add_row(s, &(tkt_idle){.device = label, .is_device = true});
    device *d = number == NONE ? NULL : TKT_ARRAY_ADD(&s->devices);
    if (!d)
        return NULL;
    *d = (device){.label = label, .row = number, .last_row = number};
    *known = s->devices.count;
    return d;
}

/* The stream's row; NONE without memory. */
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
    s->rows.items[number].wait = tkt_wait_first(&s->waits, activity->context, activity->stream);
    s->rows.items[d->last_row].next = number;
    d->last_row = number;
    *known = number;
    return number;
}

/* NULL without memory. */
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
    bool has_streams = !s->wish->devices_only;
    uint32_t number = has_streams ? find_stream(s, d, activity) : d->row;
    if (number == NONE)
        return NULL;
    *found = (place){.is_known = true,
                     .label = activity->device,
                     .context = activity->context,
                     .stream = activity->stream,
                     .device = (uint32_t)(d - s->devices.items),
                     .row = number};
    return found;
}

/* Whether it waited for something, as far as one knows. */
static bool add_to_stream(sweep *s, const place *at, uint32_t number)
{
    const tkt_activity *activity = activity_of(s, number);
    tkt_endings *endings = &s->devices.items[at->device].endings;
    row *stream = &s->rows.items[at->row];
    uint64_t begin_ns = activity->begin_ns;
    uint64_t recent_ns = begin_ns > TKT_SHORT_GAP_NS ? begin_ns - TKT_SHORT_GAP_NS : 0;
    bool ends_later = activity->end_ns > stream->until_ns; /* than all before it on its stream */
    tkt_endings_pass(endings, begin_ns);
    bool waited = tkt_wait_pass(&s->waits, &stream->wait, activity);
    waited = waited || tkt_endings_other(endings, at->row, recent_ns);
    add_activity(s, stream, number, waited);
    if (ends_later)
        s->is_short |= !tkt_endings_add(endings, activity->end_ns, at->row);
    return waited;
}

static void visit(void *user, const tkt_activity *activity)
{
    sweep *s = user;
    if (s->wish->each)
        s->wish->each(s->wish->user, activity);
    const place *at = find_place(s, activity);
    if (!at) {
        s->is_short = true;
        return;
    }
    uint32_t number = (uint32_t)(activity - s->trace->activities.items);
    bool waited = !s->wish->devices_only && add_to_stream(s, at, number);
    add_activity(s, &s->rows.items[s->devices.items[at->device].row], number, waited);
}

/* ---- The result ------------------------------------------------------------------------------ */

static void close_rows(sweep *s)
{
    for (size_t i = 0; i < s->rows.count; i++) {
        row *r = &s->rows.items[i];
        if (r->until_ns < s->end_ns)
            close_edge(s, r, NONE, r->until_ns, s->end_ns);
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
            s->rows.items[at].place = (uint32_t)out->idles.count - 1;
        }
    }
    return true;
}

static takt_status take_longest(sweep *s, tkt_longest *l, tkt_gap_list *out)
{
    tkt_longest_sort(l);
    *out = (tkt_gap_list){l->items, l->count, l->capacity};
    *l = (tkt_longest){0};
    for (size_t i = 0; i < out->count; i++)
        out->items[i].idle = s->rows.items[out->items[i].idle].place;
    return tkt_gaps_name(s->trace, out->items, out->count);
}

static takt_status take_all(sweep *s, tkt_gaps *out)
{
    close_rows(s);
    if (s->is_short || s->scopes.is_short || !take_rows(s, out))
        return TAKT_NO_MEMORY;
    tkt_idle_scopes_sort(&s->scopes, s->trace);
    out->scopes.items = s->scopes.items;
    out->scopes.count = s->scopes.count;
    s->scopes.items = NULL;
    takt_status status = take_longest(s, &s->longest[false], &out->stream_gaps);
    return status == TAKT_OK ? take_longest(s, &s->longest[true], &out->device_gaps) : status;
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
    sweep s = {.trace = trace, .wish = wish, .scopes = {.trace = trace}};
    s.begin_ns = trace->facts.begin_ns;
    s.end_ns = s.begin_ns + tkt_wall_ns(&trace->facts);
    s.longest[false].wanted = s.longest[true].wanted = wish->longest;
    tkt_gaps gaps = {0};
    takt_status status = tkt_wait_lists_init(&s.waits, trace);
    if (status == TAKT_OK)
        status = tkt_device_visit(trace, visit, &s);
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
    TKT_ARRAY_FREE(&gaps->scopes);
    TKT_ARRAY_FREE(&gaps->stream_gaps);
    TKT_ARRAY_FREE(&gaps->device_gaps);
    *gaps = (tkt_gaps){0};
}
