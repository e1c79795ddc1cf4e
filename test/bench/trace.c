/* A trace such as a simulator makes, built by hand so that its size can be chosen: steps of six
 * phases, in each nine kernels of its own. Kernels take from half a microsecond to 28, 7 on
 * average, and follow each other closely: the shape for which the budgets of exports were set. */
#include "bench.h"

#include "trace/model.h"

#include <stdio.h>

#define PHASES         6u
#define KERNELS        9u
#define SPANS_A_STEP   (1u + PHASES * (1u + KERNELS))
#define KERNELS_A_STEP ((uint64_t)PHASES * KERNELS)
#define BEGIN_NS       UINT64_C(5000000000)

typedef struct builder {
    takt_trace *trace;
    tkt_spans *spans;
    uint32_t step_site;
    uint32_t phase_sites[PHASES];
    uint32_t kernel_sites[PHASES][KERNELS];
    uint32_t kernel_shapes[PHASES][KERNELS];
    uint32_t device;
    uint64_t now_ns;
    uint64_t launched; /* activities of the device so far */
    uint32_t random;
} builder;

static uint32_t next_random(builder *b)
{
    b->random = b->random * 1664525u + 1013904223u;
    return b->random >> 8;
}

static uint32_t add_site(builder *b, const char *name, takt_site_kind kind)
{
    tkt_trace_site site = {.name = tkt_trace_string_of(b->trace, name),
                           .file = tkt_trace_string_of(b->trace, "fluid.c"),
                           .line = 100,
                           .kind = (uint8_t)kind,
                           .level = TAKT_LEVEL_NORMAL};
    if (kind == TAKT_SITE_ACTIVITY) {
        site.device = tkt_trace_string_of(b->trace, "cpu");
        site.filter = TAKT_TIMING_KERNEL;
    }
    return tkt_trace_site_index(b->trace, &site);
}

/* A file holds activities of a device by their shapes. */
static uint32_t add_shape(builder *b, const char *name)
{
    uint32_t text = tkt_trace_string_of(b->trace, name);
    tkt_shape *shape = TKT_ARRAY_ADD(&b->trace->shapes);
    if (shape)
        *shape = (tkt_shape){.label = text, .name = text, .filter = TAKT_TIMING_KERNEL};
    return shape ? (uint32_t)(b->trace->shapes.count - 1) : TKT_NO_SHAPE;
}

static void add_sites(builder *b)
{
    static const char *const phases[PHASES] = {"neighbours", "density", "forces",
                                               "integrate",  "collide", "output"};
    b->step_site = add_site(b, "step", TAKT_SITE_SCOPE);
    for (uint32_t i = 0; i < PHASES; i++) {
        b->phase_sites[i] = add_site(b, phases[i], TAKT_SITE_PHASE);
        for (uint32_t j = 0; j < KERNELS; j++) {
            char name[64];
            snprintf(name, sizeof name, "%s_kernel_%u", phases[i], j);
            b->kernel_sites[i][j] = add_site(b, name, TAKT_SITE_ACTIVITY);
            b->kernel_shapes[i][j] = add_shape(b, name);
        }
    }
    b->device = tkt_trace_string_of(b->trace, "cuda:0");
}

/* Room is reserved, so that the trace is as large as it has to be. */
static uint32_t add_span(builder *b, uint32_t site, uint32_t parent)
{
    tkt_span *span = TKT_ARRAY_ADD(b->spans);
    *span = (tkt_span){.begin_ns = b->now_ns, .site_flags = site << 8, .parent = parent};
    return (uint32_t)(b->spans->count - 1);
}

static void end_span(builder *b, uint32_t span)
{
    b->spans->items[span].end_ns = b->now_ns;
}

static uint64_t kernel_ns(builder *b)
{
    return 435 + next_random(b) % 435 * (next_random(b) % 64);
}

/* `scope` launches so many activities that `wanted` are there in all. */
static void launch(builder *b, uint32_t scope, const uint32_t shapes[KERNELS], uint64_t wanted)
{
    for (; b->launched < wanted; b->launched++) {
        tkt_activity *activity = TKT_ARRAY_ADD(&b->trace->activities);
        uint64_t begin_ns = b->now_ns + 3000;
        uint32_t shape = shapes[b->launched % KERNELS];
        *activity = (tkt_activity){.call = TKT_NO_CALL,
                                   .shape = shape,
                                   .begin_ns = begin_ns,
                                   .end_ns = begin_ns + kernel_ns(b),
                                   .name = b->trace->shapes.items[shape].label,
                                   .device = b->device,
                                   .filter = TAKT_TIMING_KERNEL,
                                   .span = TKT_NO_SPAN,
                                   .scope = scope};
    }
}

static void add_phase(builder *b, uint32_t step, uint32_t number, uint64_t wanted)
{
    uint32_t phase = add_span(b, b->phase_sites[number], step);
    launch(b, phase, b->kernel_shapes[number], wanted);
    b->now_ns += 87 + next_random(b) % 130;
    for (uint32_t i = 0; i < KERNELS; i++) {
        uint32_t kernel = add_span(b, b->kernel_sites[number][i], phase);
        b->now_ns += kernel_ns(b);
        end_span(b, kernel);
        b->now_ns += 22 + next_random(b) % 43;
    }
    end_span(b, phase);
    b->now_ns += 26 + next_random(b) % 26;
}

static void add_step(builder *b, uint64_t number, uint64_t wanted)
{
    tkt_step *step = TKT_ARRAY_ADD(&b->trace->steps);
    *step = (tkt_step){.number = number, .begin_ns = b->now_ns};
    uint32_t span = add_span(b, b->step_site, TKT_NO_SPAN);
    for (uint32_t i = 0; i < PHASES; i++)
        add_phase(b, span, i, wanted);
    end_span(b, span);
    b->now_ns += 130 + next_random(b) % 434;
    step->end_ns = b->now_ns;
    tkt_stats_add(&b->trace->all_steps.stats, step->end_ns - step->begin_ns);
    tkt_histogram_add(&b->trace->all_steps.histogram, 1, step->end_ns - step->begin_ns);
}

static bool reserve(builder *b, uint64_t steps, uint64_t activities)
{
    uint32_t track = tkt_trace_add_track(b->trace, TAKT_TRACK_THREAD,
                                         tkt_trace_string_of(b->trace, "main"), 1000);
    if (track == TKT_NO_TRACK)
        return false;
    b->spans = &b->trace->tracks.items[track].spans;
    return TKT_ARRAY_RESERVE(b->spans, steps * SPANS_A_STEP) &&
           TKT_ARRAY_RESERVE(&b->trace->steps, steps) &&
           TKT_ARRAY_RESERVE(&b->trace->activities, activities);
}

static void set_facts(builder *b)
{
    takt_trace *trace = b->trace;
    trace->name = tkt_trace_string_of(trace, "fluid");
    trace->backend = tkt_trace_string_of(trace, "none");
    trace->clock = tkt_trace_string_of(trace, "tsc");
    trace->facts.has_spans = true;
    trace->facts.process_id = 1000;
    trace->facts.clock_resolution_ns = 0.4;
    trace->facts.begin_ns = BEGIN_NS;
    trace->facts.end_ns = b->now_ns;
}

takt_trace *bench_trace(uint64_t spans, uint64_t activities)
{
    builder b = {.now_ns = BEGIN_NS, .random = 1};
    uint64_t steps = (spans + SPANS_A_STEP - 1) / SPANS_A_STEP;
    uint64_t kernels = steps * KERNELS_A_STEP;
    uint64_t wanted = activities > kernels ? activities - kernels : 0;
    if (tkt_trace_create(&b.trace) != TAKT_OK)
        return NULL;
    add_sites(&b);
    tkt_stats_init(&b.trace->all_steps.stats);
    bool is_built = reserve(&b, steps, kernels + wanted);
    for (uint64_t i = 0; is_built && i < steps; i++)
        add_step(&b, i, wanted * (i + 1) / steps);
    set_facts(&b);
    if (is_built && tkt_trace_finish(b.trace) == TAKT_OK)
        return b.trace;
    takt_trace_release(b.trace);
    return NULL;
}
