/* A trace of a stepping program without devices: eight scopes a step, whose times vary by two
 * percent, and now and then more. A clock that counts in tens of nanoseconds repeats itself far
 * more than one that counts in single ones. */
#include "bench.h"

#include "trace/model.h"

#define SCOPES   8u
#define BEGIN_NS UINT64_C(5000000000)

typedef struct shape {
    const char *name; /* NULL: the innermost open scope ends */
    uint32_t work_ns; /* in front of it */
} shape;

static const shape shapes[] = {{"step", 0},   {"neighbours", 0}, {"cells", 0},    {NULL, 2600},
                               {"sort", 0},   {NULL, 900},       {NULL, 0},       {"density", 0},
                               {NULL, 11000}, {"forces", 0},     {"pressure", 0}, {NULL, 820},
                               {NULL, 0},     {"integrate", 0},  {NULL, 4700},    {NULL, 0}};

#define SHAPE_COUNT (sizeof shapes / sizeof *shapes)

typedef struct builder {
    tkt_spans *spans;
    uint32_t sites[SHAPE_COUNT];
    uint64_t now_ns;
    uint64_t tick_ns;
    uint32_t random;
} builder;

static uint32_t draw(builder *b, uint32_t below)
{
    b->random = b->random * 1664525u + 1013904223u;
    return (b->random >> 8) % below;
}

static void pass(builder *b, uint32_t work_ns)
{
    uint32_t most = work_ns / 50 + 1;
    b->now_ns += work_ns - work_ns / 50 + draw(b, most) + draw(b, most);
    if (work_ns && draw(b, 500) == 0)
        b->now_ns += draw(b, 20000);
    b->now_ns += 10 + draw(b, 4) + draw(b, 4);
}

static void add_step(builder *b)
{
    uint32_t open = TKT_NO_SPAN;
    for (size_t i = 0; i < SHAPE_COUNT; i++) {
        pass(b, shapes[i].work_ns);
        uint64_t time_ns = b->now_ns / b->tick_ns * b->tick_ns;
        if (shapes[i].name) {
            tkt_span *span = TKT_ARRAY_ADD(b->spans);
            *span = (tkt_span){.begin_ns = time_ns, .site_flags = b->sites[i] << 8, .parent = open};
            open = (uint32_t)b->spans->count - 1;
        } else {
            tkt_span *span = &b->spans->items[open];
            span->end_ns = time_ns;
            open = span->parent;
        }
    }
}

static void add_sites(builder *b, takt_trace *trace)
{
    for (size_t i = 0; i < SHAPE_COUNT; i++)
        if (shapes[i].name)
            b->sites[i] = tkt_trace_site_index(
                trace, &(tkt_trace_site){.name = tkt_trace_string_of(trace, shapes[i].name),
                                         .file = tkt_trace_string_of(trace, "sim.c"),
                                         .line = 10 + (uint32_t)i,
                                         .kind = TAKT_SITE_SCOPE,
                                         .level = TAKT_LEVEL_NORMAL});
}

takt_trace *bench_stepping(uint64_t spans, uint64_t tick_ns)
{
    builder b = {.now_ns = BEGIN_NS, .tick_ns = tick_ns, .random = 1};
    takt_trace *trace;
    if (tkt_trace_create(&trace) != TAKT_OK)
        return NULL;
    add_sites(&b, trace);
    uint32_t track =
        tkt_trace_add_track(trace, TAKT_TRACK_THREAD, tkt_trace_string_of(trace, "main"), 1000);
    b.spans = &trace->tracks.items[track].spans;
    bool is_built = TKT_ARRAY_RESERVE(b.spans, spans + SCOPES);
    while (is_built && b.spans->count < spans)
        add_step(&b);
    trace->facts.has_spans = true;
    trace->facts.begin_ns = BEGIN_NS;
    trace->facts.end_ns = b.now_ns;
    if (is_built && tkt_trace_finish(trace) == TAKT_OK)
        return trace;
    takt_trace_release(trace);
    return NULL;
}
