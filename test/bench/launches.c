/* A trace of a simulator that keeps devices busy, built by hand so that its size can be chosen.
 * Each of four threads makes steps on a stream for kernels and one for copies; two threads share a
 * device. In a step six scopes launch kernels, those of the first too short to hide their launches;
 * then come a graph between an allocation and a free, and copies that the streams wait for with
 * events, and the thread with them. Every scope has an argument, every scope and call a stack. */
#include "launches.h"

#include "bench.h"

#include "base/containers.h"

#include <assert.h>

#define BEGIN_NS UINT64_C(5000000000)

/* What a thread adds in a step. */
#define ACTIVITIES_A_STEP (PHASES * KERNELS + NODES + TRANSFERS)
#define CALLS_A_STEP      (PHASES * KERNELS + 11)
#define SPANS_A_STEP      (SCOPES + CALLS_A_STEP)
#define WAITS_A_STEP      3
#define EVENTS_A_STEP     2

typedef struct thread {
    tkt_track *on;
    uint32_t number; /* of the track, too */
    uint32_t device; /* string */
    uint32_t scope;  /* the innermost open one */
    uint32_t stack;  /* of the next span */
    uint32_t call;   /* of the trace's: the last one */
    uint64_t step;
    uint64_t now_ns;
    uint64_t until_ns[STREAMS]; /* they are busy */
} thread;

/* ---- What a thread does ---------------------------------------------------------------------- */

/* Room is reserved, so that the trace is as large as it has to be. */
static uint32_t add_span(thread *t, uint32_t site)
{
    uint32_t span = (uint32_t)t->on->spans.count;
    *TKT_ARRAY_ADD(&t->on->spans) =
        (tkt_span){.begin_ns = t->now_ns, .site_flags = site << 8, .parent = t->scope};
    *TKT_ARRAY_ADD(&t->on->stacks) = (tkt_span_stack){span, t->stack++};
    return span;
}

static void begin_scope(launches_builder *b, thread *t, uint32_t scope)
{
    t->stack = scope * PLACES;
    t->scope = add_span(t, b->scope_sites[scope]);
    *TKT_ARRAY_ADD(&t->on->args) = (tkt_arg){
        .span = t->scope, .key = b->argument, .value.u = t->step % 16, .type = TKT_ARG_UINT};
    t->now_ns += 100;
}

static void end_scope(thread *t)
{
    tkt_span *span = &t->on->spans.items[t->scope];
    span->end_ns = t->now_ns;
    t->scope = span->parent;
    t->now_ns += 100;
}

static uint64_t random_of(const thread *t)
{
    return tkt_hash_u64((uint64_t)t->number << 32 | t->call);
}

/* Ids of calls count up, threads taking turns. Returns this one's. */
static uint32_t call(launches_builder *b, thread *t, uint32_t kind, uint64_t until_ns)
{
    uint32_t span = add_span(t, b->call_sites[kind]);
    uint32_t id = ++t->call * THREADS + t->number;
    *TKT_ARRAY_ADD(&b->trace->calls) = (tkt_call_info){t->number, span, id, 0};
    t->now_ns += 1500 + random_of(t) % 1000;
    if (t->now_ns < until_ns)
        t->now_ns = until_ns;
    t->on->spans.items[span].end_ns = t->now_ns;
    t->now_ns += 200;
    return id;
}

static uint32_t stream_of(const thread *t, uint32_t stream)
{
    return 7 + t->number * STREAMS + stream;
}

static void run(launches_builder *b, thread *t, uint32_t stream, uint32_t shape, uint32_t id,
                uint64_t duration_ns)
{
    const tkt_shape *what = &b->trace->shapes.items[shape];
    uint64_t *until_ns = &t->until_ns[stream];
    uint64_t begin_ns = t->now_ns + 2000 > *until_ns ? t->now_ns + 2000 : *until_ns + 700;
    *until_ns = begin_ns + duration_ns;
    *TKT_ARRAY_ADD(&b->trace->activities) = (tkt_activity){.begin_ns = begin_ns,
                                                           .end_ns = *until_ns,
                                                           .name = what->label,
                                                           .device = t->device,
                                                           .filter = what->filter,
                                                           .shape = shape,
                                                           .stream = stream_of(t, stream),
                                                           .context = 1 + t->number % DEVICES,
                                                           .correlation = id};
}

static void add_wait(launches_builder *b, thread *t, uint32_t kind, uint32_t stream,
                     uint64_t until_ns)
{
    uint64_t begin_ns = t->now_ns;
    uint32_t id = call(b, t, kind, until_ns);
    *TKT_ARRAY_ADD(&b->trace->waits) = (tkt_wait){.begin_ns = begin_ns,
                                                  .end_ns = t->now_ns - 200,
                                                  .correlation = id,
                                                  .context = 1 + t->number % DEVICES,
                                                  .stream = stream_of(t, stream),
                                                  .kind = kind == WAIT_EVENT ? 2 : 3};
}

/* `stream` goes on when the other one has come to here. */
static void wait_for_stream(launches_builder *b, thread *t, uint32_t stream)
{
    uint64_t other_ns = t->until_ns[stream == COMPUTE ? COPIES : COMPUTE];
    call(b, t, RECORD_EVENT, 0);
    add_wait(b, t, WAIT_EVENT, stream, 0);
    if (t->until_ns[stream] < other_ns)
        t->until_ns[stream] = other_ns;
}

static void launch_kernels(launches_builder *b, thread *t, uint32_t phase)
{
    begin_scope(b, t, phase);
    *TKT_ARRAY_ADD(&t->on->works) = (tkt_work){t->scope, 1e6, 1e5};
    for (uint32_t i = 0; i < KERNELS; i++) {
        uint32_t id = call(b, t, LAUNCH, 0);
        uint64_t random = random_of(t);
        uint64_t most_ns = phase == 0 ? 800 : 12000;
        run(b, t, COMPUTE, b->kernels[phase][i][random % GRIDS], id, 500 + random / 16 % most_ns);
    }
    end_scope(t);
}

static void allocate(launches_builder *b, thread *t, uint32_t kind, int64_t sign)
{
    call(b, t, kind, 0);
    *TKT_ARRAY_ADD(&b->trace->memory_events) =
        (tkt_memory_event){.time_ns = t->now_ns,
                           .address = (t->step * THREADS + t->number + 1) << 20,
                           .bytes = sign * (INT64_C(4096) << t->step % 8),
                           .track = t->number,
                           .span = t->scope,
                           .device = t->device,
                           .kind = TAKT_MEMORY_DEVICE};
}

static void solve(launches_builder *b, thread *t)
{
    begin_scope(b, t, SOLVE);
    allocate(b, t, ALLOCATE, 1);
    uint32_t id = call(b, t, LAUNCH_GRAPH, 0);
    for (uint32_t i = 0; i < NODES; i++)
        run(b, t, COMPUTE, b->nodes[i], id, 2000 + random_of(t) % 512 * i);
    allocate(b, t, FREE, -1);
    end_scope(t);
}

static void exchange(launches_builder *b, thread *t)
{
    begin_scope(b, t, EXCHANGE);
    wait_for_stream(b, t, COPIES);
    run(b, t, COPIES, b->transfers[TO_HOST], call(b, t, COPY, 0), 6000);
    run(b, t, COPIES, b->transfers[SET], call(b, t, FILL, 0), 1000);
    run(b, t, COPIES, b->transfers[TO_DEVICE], call(b, t, COPY, 0), 5000);
    wait_for_stream(b, t, COMPUTE);
    add_wait(b, t, SYNCHRONIZE, COMPUTE, t->until_ns[COMPUTE] + 1500);
    end_scope(t);
}

static void add_step(launches_builder *b, thread *t)
{
    uint64_t begin_ns = t->now_ns;
    begin_scope(b, t, STEP);
    for (uint32_t i = 0; i < PHASES; i++)
        launch_kernels(b, t, i);
    solve(b, t);
    exchange(b, t);
    end_scope(t);
    if (t->number != 0)
        return;
    tkt_all_steps *all = &b->trace->all_steps;
    *TKT_ARRAY_ADD(&b->trace->steps) = (tkt_step){t->step, begin_ns, t->now_ns};
    tkt_stats_add(&all->stats, t->now_ns - begin_ns);
    tkt_histogram_add(&all->histogram, 1, t->now_ns - begin_ns);
}

/* ---- The trace ------------------------------------------------------------------------------- */

static bool reserve(takt_trace *trace, uint64_t steps)
{
    bool is_reserved = TKT_ARRAY_RESERVE(&trace->steps, steps) &&
                       TKT_ARRAY_RESERVE(&trace->activities, steps * THREADS * ACTIVITIES_A_STEP) &&
                       TKT_ARRAY_RESERVE(&trace->calls, steps * THREADS * CALLS_A_STEP) &&
                       TKT_ARRAY_RESERVE(&trace->waits, steps * THREADS * WAITS_A_STEP) &&
                       TKT_ARRAY_RESERVE(&trace->memory_events, steps * THREADS * EVENTS_A_STEP);
    for (uint32_t i = 0; is_reserved && i < THREADS; i++) {
        tkt_track *track = &trace->tracks.items[i];
        is_reserved = TKT_ARRAY_RESERVE(&track->spans, steps * SPANS_A_STEP) &&
                      TKT_ARRAY_RESERVE(&track->stacks, steps * SPANS_A_STEP) &&
                      TKT_ARRAY_RESERVE(&track->args, steps * SCOPES) &&
                      TKT_ARRAY_RESERVE(&track->works, steps * PHASES);
    }
    return is_reserved;
}

static void fill(launches_builder *b, uint64_t steps)
{
    takt_facts *facts = &b->trace->facts;
    tkt_stats_init(&b->trace->all_steps.stats);
    facts->begin_ns = facts->end_ns = BEGIN_NS;
    for (uint32_t i = 0; i < THREADS; i++) {
        thread t = {.on = &b->trace->tracks.items[i],
                    .number = i,
                    .device = b->devices[i % DEVICES],
                    .scope = TKT_NO_SPAN,
                    .now_ns = BEGIN_NS + UINT64_C(700) * i};
        for (; t.step < steps; t.step++)
            add_step(b, &t);
        facts->end_ns = t.now_ns > facts->end_ns ? t.now_ns : facts->end_ns;
    }
    assert(b->trace->calls.count == b->trace->calls.capacity);
    assert(b->trace->activities.count == b->trace->activities.capacity);
}

takt_trace *bench_launches_trace(uint64_t activities)
{
    launches_builder b = {0};
    uint64_t steps = activities / (THREADS * ACTIVITIES_A_STEP) + 1;
    if (tkt_trace_create(&b.trace) != TAKT_OK)
        return NULL;
    bool is_built = bench_launches_prepare(&b) && reserve(b.trace, steps);
    if (is_built)
        fill(&b, steps);
    if (is_built && tkt_trace_link(b.trace) == TAKT_OK && tkt_trace_finish(b.trace) == TAKT_OK)
        return b.trace;
    takt_trace_release(b.trace);
    return NULL;
}
