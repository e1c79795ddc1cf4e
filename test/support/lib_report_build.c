#include "support/report_build.h"

/* cmocka's own compares floats. */
void assert_near(double a, double b, double epsilon)
{
    assert_true(fabs(a - b) <= epsilon);
}

/* A trace with spans from 1,000,000 to `end_ns`, of a fixed clock and cost. */
takt_trace *build_begin(uint64_t end_ns)
{
    takt_trace *trace;
    assert_int_equal(tkt_trace_create(&trace), TAKT_OK);
    trace->name = tkt_strtab_intern_text(&trace->strings, "sph");
    trace->backend = tkt_strtab_intern_text(&trace->strings, "none");
    trace->clock = tkt_strtab_intern_text(&trace->strings, "tsc");
    trace->facts.has_spans = true;
    trace->facts.begin_ns = 1000000;
    trace->facts.end_ns = end_ns;
    trace->facts.clock_resolution_ns = 0.41666;
    trace->facts.clock_uncertainty_ns = 31.25;
    trace->facts.cost_ns = 12345;
    return trace;
}

uint32_t build_string(takt_trace *trace, const char *text)
{
    uint32_t string = tkt_strtab_intern_text(&trace->strings, text);
    assert_int_not_equal(string, TKT_STRTAB_FULL);
    return string;
}

uint32_t build_site_of(takt_trace *trace, const char *name, takt_site_kind kind, const char *device)
{
    tkt_trace_site site = {.name = build_string(trace, name),
                           .file = build_string(trace, "fluid.c"),
                           .line = 7,
                           .kind = (uint8_t)kind,
                           .level = TAKT_LEVEL_NORMAL};
    if (device) {
        site.device = build_string(trace, device);
        site.filter = TAKT_TIMING_KERNEL;
    }
    uint32_t number = tkt_trace_site_index(trace, &site);
    assert_int_not_equal(number, UINT32_MAX);
    return number;
}

uint32_t build_site(takt_trace *trace, const char *name)
{
    return build_site_of(trace, name, TAKT_SITE_SCOPE, NULL);
}

uint32_t build_track(takt_trace *trace, const char *name)
{
    uint32_t track =
        tkt_trace_add_track(trace, TAKT_TRACK_THREAD, name ? build_string(trace, name) : 0,
                            100 + (uint32_t)trace->tracks.count);
    assert_int_not_equal(track, TKT_NO_TRACK);
    return track;
}

uint32_t build_span(takt_trace *trace, uint32_t track, uint32_t site, uint32_t parent,
                    uint64_t begin_ns, uint64_t end_ns)
{
    tkt_spans *spans = &trace->tracks.items[track].spans;
    tkt_span *span = TKT_ARRAY_ADD(spans);
    assert_non_null(span);
    *span = (tkt_span){begin_ns, end_ns, site << 8, parent};
    return (uint32_t)(spans->count - 1);
}

/* What a device did before its first launch is known, unless it is in the trace already. */
static void watch(takt_trace *trace, uint32_t label)
{
    for (size_t i = 0; i < trace->devices.count; i++)
        if (trace->devices.items[i].label == label)
            return;
    tkt_device *device = TKT_ARRAY_ADD(&trace->devices);
    assert_non_null(device);
    *device = (tkt_device){.label = label, .earlier_until_ns = 1};
}

/* A work of a device, launched by `scope`. */
void build_activity(takt_trace *trace, const char *device, const char *name, uint32_t filter,
                    uint64_t begin_ns, uint64_t end_ns, uint32_t track, uint32_t scope)
{
    tkt_activity *activity = TKT_ARRAY_ADD(&trace->activities);
    assert_non_null(activity);
    *activity = (tkt_activity){.call = TKT_NO_CALL,
                               .shape = TKT_NO_SHAPE,
                               .begin_ns = begin_ns,
                               .end_ns = end_ns,
                               .name = build_string(trace, name),
                               .device = build_string(trace, device),
                               .filter = filter,
                               .track = track,
                               .span = TKT_NO_SPAN,
                               .scope = scope};
    watch(trace, activity->device);
}

/* A call into CUDA by the scope `parent`; its number in `calls`. They come in the order of the
 * tracks, then spans. */
uint32_t build_call(takt_trace *trace, uint32_t track, const char *name, uint32_t parent,
                    uint64_t begin_ns, uint64_t end_ns)
{
    tkt_call_info *call = TKT_ARRAY_ADD(&trace->calls);
    assert_non_null(call);
    uint32_t site = build_site_of(trace, name, TAKT_SITE_CALL, NULL);
    uint32_t span = build_span(trace, track, site, parent, begin_ns, end_ns);
    *call = (tkt_call_info){track, span, 1000 + (uint32_t)trace->calls.count, 0};
    return (uint32_t)(trace->calls.count - 1);
}

/* Work that a call launched, in the name of the scope that made the call; it may be changed. */
tkt_activity *build_launched(takt_trace *trace, uint32_t call, const char *device, const char *name,
                             uint32_t filter, uint64_t begin_ns, uint64_t end_ns)
{
    const tkt_call_info *by = &trace->calls.items[call];
    uint32_t scope = trace->tracks.items[by->track].spans.items[by->span].parent;
    build_activity(trace, device, name, filter, begin_ns, end_ns, by->track, scope);
    tkt_activity *activity = &trace->activities.items[trace->activities.count - 1];
    activity->call = call;
    activity->correlation = by->correlation;
    activity->stream = 7;
    return activity;
}

uint32_t build_shape(takt_trace *trace, const tkt_shape *shape)
{
    tkt_shape *place = TKT_ARRAY_ADD(&trace->shapes);
    assert_non_null(place);
    *place = *shape;
    return (uint32_t)(trace->shapes.count - 1);
}

void build_memory_event(takt_trace *trace, const char *device, uint64_t time_ns, int64_t bytes,
                        uint32_t track, uint32_t span)
{
    tkt_memory_event *event = TKT_ARRAY_ADD(&trace->memory_events);
    assert_non_null(event);
    *event = (tkt_memory_event){.time_ns = time_ns,
                                .bytes = bytes,
                                .track = track,
                                .span = span,
                                .device = device ? build_string(trace, device) : 0,
                                .kind = device ? TAKT_MEMORY_DEVICE : 0};
}

void build_counter(takt_trace *trace, const char *name, uint64_t time_ns, double value)
{
    tkt_counter *counter = TKT_ARRAY_ADD(&trace->counters);
    assert_non_null(counter);
    *counter = (tkt_counter){time_ns, value, build_string(trace, name), 0};
}

void build_int_arg(takt_trace *trace, uint32_t track, uint32_t span, const char *key, int64_t value)
{
    tkt_arg *arg = TKT_ARRAY_ADD(&trace->tracks.items[track].args);
    assert_non_null(arg);
    *arg = (tkt_arg){
        .span = span, .key = build_string(trace, key), .value.i = value, .type = TKT_ARG_INT};
}

void build_step(takt_trace *trace, uint64_t number, uint64_t begin_ns, uint64_t end_ns)
{
    tkt_step *step = TKT_ARRAY_ADD(&trace->steps);
    assert_non_null(step);
    *step = (tkt_step){number, begin_ns, end_ns};
}

void build_all_step(takt_trace *trace, uint64_t duration_ns)
{
    tkt_all_steps *all = &trace->all_steps;
    if (all->stats.count == 0)
        tkt_stats_init(&all->stats);
    tkt_stats_add(&all->stats, duration_ns);
    tkt_histogram_add(&all->histogram, 1, duration_ns);
    if (!trace->run)
        trace->run = tkt_alloc_zeroed(sizeof *trace->run);
    tkt_run_add(trace->run, duration_ns);
}

void build_end(takt_trace *trace)
{
    tkt_fold_find_self(&trace->fold);
    if (trace->run && trace->steps.count > 0)
        tkt_run_add_window(trace->run, trace->steps.items[0].number, trace->steps.count);
    assert_int_equal(tkt_trace_finish(trace), TAKT_OK);
}

/* A well-mixed number that depends on nothing but the state: the tests are the same every time. */
uint32_t build_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

/* Fills [begin, end) of a track with nested spans of random sites among `sites`. */
void build_nest(takt_trace *trace, uint32_t track, const uint32_t *sites, uint32_t site_count,
                uint32_t parent, uint64_t begin_ns, uint64_t end_ns, uint64_t *random)
{
    while (end_ns - begin_ns > 20) {
        uint64_t gap = build_random(random) % 5;
        uint64_t size = 1 + build_random(random) % (end_ns - begin_ns - gap);
        uint32_t site = sites[build_random(random) % site_count];
        uint32_t span =
            build_span(trace, track, site, parent, begin_ns + gap, begin_ns + gap + size);
        if (build_random(random) % 4)
            build_nest(trace, track, sites, site_count, span, begin_ns + gap, begin_ns + gap + size,
                       random);
        begin_ns += gap + size;
    }
}

/* Two threads, six names of which two are activities, thousands of spans, recursion. */
takt_trace *build_mixed(uint64_t seed)
{
    takt_trace *trace = build_begin(3000000);
    uint32_t sites[6] = {
        build_site(trace, "step"),
        build_site(trace, "forces"),
        build_site_of(trace, "neighbours", TAKT_SITE_PHASE, NULL),
        build_site_of(trace, "density", TAKT_SITE_ACTIVITY, "cpu"),
        build_site_of(trace, "pressure", TAKT_SITE_ACTIVITY, "cpu"),
        build_site(trace, "io"),
    };
    for (int i = 0; i < 2; i++) {
        uint32_t track = build_track(trace, i ? "worker" : "main");
        build_nest(trace, track, sites, 6, TKT_NO_SPAN, 1000000, 2900000, &seed);
    }
    build_end(trace);
    return trace;
}

/* What devices did, by node: histograms are left out. */
static void build_folded_devices(takt_trace *trace, const takt_trace *from)
{
    for (size_t i = 0; i < from->node_activities.count; i++) {
        tkt_node_activity *activity = TKT_ARRAY_ADD(&trace->node_activities);
        assert_non_null(activity);
        *activity = from->node_activities.items[i];
        activity->name = build_string(trace, tkt_trace_text(from, activity->name));
        activity->device = build_string(trace, tkt_trace_text(from, activity->device));
        activity->histogram = NULL;
    }
    for (size_t i = 0; i < from->device_memory.count; i++) {
        tkt_device_memory *memory = TKT_ARRAY_ADD(&trace->device_memory);
        assert_non_null(memory);
        *memory = from->device_memory.items[i];
        memory->device = build_string(trace, tkt_trace_text(from, memory->device));
    }
}

/* The same trace as summary mode would have left it: folded, without spans. */
takt_trace *build_folded(const takt_trace *from)
{
    takt_trace *trace = build_begin(from->facts.end_ns);
    uint32_t *sites = malloc(from->sites.count * sizeof *sites);
    assert_non_null(sites);
    for (size_t i = 0; i < from->sites.count; i++) {
        tkt_trace_site site = from->sites.items[i];
        site.name = build_string(trace, tkt_trace_text(from, site.name));
        site.file = build_string(trace, tkt_trace_text(from, site.file));
        site.device = build_string(trace, tkt_trace_text(from, site.device));
        sites[i] = tkt_trace_site_index(trace, &site);
    }
    assert_int_equal(tkt_fold_init(&trace->fold), TAKT_OK);
    assert_int_equal(merge_folds(&trace->fold, tkt_trace_fold(from), sites), TAKT_OK);
    free(sites);
    trace->facts = from->facts;
    memcpy(trace->losses, from->losses, sizeof trace->losses);
    trace->facts.has_spans = false;
    trace->all_steps = from->all_steps;
    trace->memory = from->memory;
    trace->with_flops = from->with_flops;
    trace->backend = build_string(trace, tkt_trace_text(from, from->backend));
    build_folded_devices(trace, from);
    for (size_t i = 0; i < from->steps.count; i++)
        build_step(trace, from->steps.items[i].number, from->steps.items[i].begin_ns,
                   from->steps.items[i].end_ns);
    build_end(trace);
    trace->run = from->run ? tkt_run_copy(from->run) : NULL;
    return trace;
}

/* Options as given, with their size if it is not, in *room. They may be NULL. */
const takt_report_options *sized(const takt_report_options *options, takt_report_options *room)
{
    if (!options || options->struct_size != 0)
        return options;
    *room = *options;
    room->struct_size = sizeof *room;
    return room;
}

/* A report as text that the caller frees with tkt_free(). */
char *report_of(const takt_trace *trace, const char *name, const takt_report_options *options)
{
    memory_sink memory = {0};
    takt_report_options room;
    takt_sink sink = memory_sink_of(&memory);
    assert_int_equal(takt_report(trace, name, sized(options, &room), &sink), TAKT_OK);
    assert_int_equal(sink.write(sink.user, "", 1), TAKT_OK);
    return memory.data;
}
