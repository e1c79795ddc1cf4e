#include "support/trace_build.h"
#include "support/all_durations.h"

uint32_t text(takt_trace *trace, const char *bytes)
{
    return tkt_trace_string_of(trace, bytes);
}

takt_trace *make_trace(void)
{
    takt_trace *trace = NULL;
    assert_int_equal(tkt_trace_create(&trace), TAKT_OK);
    trace->name = text(trace, "sph");
    trace->backend = text(trace, "none");
    trace->clock = text(trace, "tsc");
    trace->facts.has_spans = true;
    trace->facts.begin_ns = BEGIN_NS;
    trace->facts.end_ns = END_NS;
    trace->facts.process_id = 4711;
    return trace;
}

uint32_t make_site(takt_trace *trace, const char *name, takt_site_kind kind)
{
    tkt_trace_site site = {.name = text(trace, name), .kind = (uint8_t)kind, .level = 2};
    return tkt_trace_site_index(trace, &site);
}

uint32_t make_thread(takt_trace *trace, const char *name, uint32_t thread_id)
{
    return tkt_trace_add_track(trace, TAKT_TRACK_THREAD, text(trace, name), thread_id);
}

/* Adds a span and returns its number. */
uint32_t make_span(takt_trace *trace, uint32_t track, uint32_t site, uint32_t parent,
                   uint64_t begin_ns, uint64_t end_ns)
{
    tkt_spans *spans = &trace->tracks.items[track].spans;
    ADD(spans, (tkt_span){begin_ns, end_ns, site << 8, parent});
    return (uint32_t)spans->count - 1;
}

void make_arg(takt_trace *trace, uint32_t track, uint32_t span, const char *key, tkt_arg_type type,
              uint64_t bits)
{
    tkt_arg arg = {.span = span, .key = text(trace, key), .type = type};
    if (type == TKT_ARG_BOOL)
        arg.value.b = bits != 0;
    else if (type == TKT_ARG_STRING)
        arg.value.string = (uint32_t)bits;
    else
        arg.value.u = bits;
    ADD(&trace->tracks.items[track].args, arg);
}

uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

uint64_t draw(chance *from, uint64_t below)
{
    from->state ^= from->state << 13;
    from->state ^= from->state >> 7;
    from->state ^= from->state << 17;
    return (from->state >> 11) % below;
}

/* Often 0, so that events meet at one moment; sometimes long. */
static uint64_t draw_pause(chance *from)
{
    switch (draw(from, 8)) {
    case 0:
    case 1:
    case 2:
        return 0;
    case 3:
        return UINT64_C(1) << draw(from, 36);
    default:
        return draw(from, 300);
    }
}

/* ---- Devices ---- */

/* A call of `correlation` on a thread, below `parent`. */
uint32_t make_call(takt_trace *trace, uint32_t track, uint32_t parent, const char *name,
                   uint32_t correlation, uint64_t begin_ns, uint64_t end_ns)
{
    tkt_trace_site site = {.name = text(trace, name),
                           .category = text(trace, "cuda_runtime"),
                           .kind = TAKT_SITE_CALL,
                           .level = TAKT_LEVEL_NORMAL};
    uint32_t span =
        make_span(trace, track, tkt_trace_site_index(trace, &site), parent, begin_ns, end_ns);
    trace->tracks.items[track].spans.items[span].site_flags |= TAKT_SPAN_CALL;
    ADD(&trace->calls, (tkt_call_info){track, span, correlation, 0});
    return (uint32_t)trace->calls.count - 1;
}

uint32_t make_device(takt_trace *trace, uint32_t ordinal)
{
    char label[16];
    snprintf(label, sizeof label, "cuda:%u", (unsigned)ordinal);
    ADD(&trace->devices, (tkt_device){.ordinal = ordinal,
                                      .label = text(trace, label),
                                      .name = text(trace, "Imaginary 9000"),
                                      .major = 9,
                                      .multiprocessors = 132,
                                      .warp_size = 32,
                                      .max_threads_per_block = 1024,
                                      .max_threads_per_multiprocessor = 2048,
                                      .max_blocks_per_multiprocessor = 32,
                                      .registers_per_block = 65536,
                                      .registers_per_multiprocessor = 65537,
                                      .shared_per_block = 49152,
                                      .shared_per_block_optin = 232448,
                                      .shared_per_multiprocessor = 233472,
                                      .reserved_shared_per_block = 1024,
                                      .clock_khz = 1980000,
                                      .memory_clock_khz = 2619000,
                                      .memory_bus_bits = 5120,
                                      .memory_bytes = UINT64_C(85) << 30});
    return trace->devices.items[trace->devices.count - 1].label;
}

void make_work(takt_trace *trace, uint32_t device, uint32_t shape, uint32_t correlation,
               uint32_t stream, uint64_t begin_ns, uint64_t end_ns)
{
    ADD(&trace->activities, (tkt_activity){.begin_ns = begin_ns,
                                           .end_ns = end_ns,
                                           .name = trace->shapes.items[shape].label,
                                           .device = device,
                                           .filter = trace->shapes.items[shape].filter,
                                           .track = TKT_NO_TRACK,
                                           .span = TKT_NO_SPAN,
                                           .scope = TKT_NO_SPAN,
                                           .call = TKT_NO_CALL,
                                           .shape = shape,
                                           .stream = stream,
                                           .context = device + 1,
                                           .correlation = correlation});
}

tkt_shape random_shape(takt_trace *trace, chance *from)
{
    char label[32];
    snprintf(label, sizeof label, "kernel k%u", (unsigned)draw(from, 40));
    tkt_shape shape = {.label = text(trace, label), .filter = 1u << draw(from, 5)};
    if (draw(from, 2)) {
        shape.name = text(trace, "void k<float, \"\xFF\">(float *)");
        for (int i = 0; i < 3; i++) {
            shape.grid[i] = 1 + (uint32_t)draw(from, UINT32_MAX);
            shape.block[i] = 1 + (uint32_t)draw(from, 1024);
            shape.cluster[i] = (uint32_t)draw(from, 3);
        }
        shape.static_shared_bytes = (uint32_t)draw(from, 50000);
        shape.dynamic_shared_bytes = (uint32_t)draw(from, 3);
        shape.local_bytes = (uint32_t)draw(from, 300);
        shape.registers = (uint16_t)draw(from, 256);
        shape.occupancy = (uint16_t)draw(from, 10001);
        shape.limiter = (uint8_t)draw(from, 5);
    } else {
        shape.bytes = draw(from, UINT64_C(1) << 40);
        shape.copy_kind = (uint8_t)draw(from, 11);
        shape.source = (uint8_t)draw(from, 8);
        shape.target = (uint8_t)draw(from, 8);
    }
    if (draw(from, 4) == 0) {
        shape.graph = (uint32_t)draw(from, 9);
        shape.graph_node = draw(from, UINT64_C(1) << 48);
        shape.graph_node_count = (uint32_t)draw(from, 3);
    }
    return shape;
}

/* What a call of `correlation`, or one that nobody knows, made the devices do. */
static void random_works(takt_trace *trace, chance *from, uint32_t correlation, uint64_t time_ns)
{
    for (uint64_t i = draw(from, 4); i > 0; i--) {
        uint32_t device = trace->devices.items[draw(from, trace->devices.count)].label;
        uint64_t begin_ns = time_ns + draw_pause(from) - draw(from, 2) * draw(from, 50);
        make_work(trace, device, (uint32_t)draw(from, trace->shapes.count), correlation,
                  (uint32_t)draw(from, 5), begin_ns, begin_ns + draw_pause(from));
    }
}

static void random_memory(takt_trace *trace, chance *from, uint64_t time_ns)
{
    tkt_memory_event event = {.time_ns = time_ns,
                              .address = draw(from, UINT64_MAX >> 12),
                              .bytes = (int64_t)draw(from, 1000) - 500,
                              .track = TKT_NO_TRACK,
                              .span = TKT_NO_SPAN,
                              .device = trace->devices.items[0].label,
                              .kind = (uint32_t)draw(from, 8) | (draw(from, 5) ? 0 : 0x100u)};
    if (draw(from, 2) && trace->tracks.items[0].spans.count) {
        event.track = 0;
        event.span = (uint32_t)draw(from, trace->tracks.items[0].spans.count);
    }
    ADD(&trace->memory_events, event);
}

/* The calls are there. */
static void random_devices(takt_trace *trace, chance *from)
{
    for (uint32_t i = 0; i < 1 + draw(from, 2); i++)
        make_device(trace, i);
    for (uint64_t i = 0; i < 30; i++)
        ADD(&trace->shapes, random_shape(trace, from));
    ADD(&trace->device_memory,
        (tkt_device_memory){.device = trace->devices.items[0].label,
                            .totals = {11, 12, 13, 14, 15, 16, 17, 18, 19, 20, UINT64_MAX - 1, 0},
                            .free_bytes = 21,
                            .capacity_bytes = 22,
                            .pool_bytes = 23,
                            .pool_used_bytes = draw(from, 24)});
    for (uint32_t i = 0; i < trace->calls.count; i++) {
        const tkt_call_info *call = &trace->calls.items[i];
        uint64_t begin_ns = trace->tracks.items[call->track].spans.items[call->span].begin_ns;
        random_works(trace, from, call->correlation, begin_ns);
        random_works(trace, from, 1000000 + i, begin_ns);
        if (draw(from, 3) == 0)
            random_memory(trace, from, begin_ns);
        if (draw(from, 5) == 0)
            ADD(&trace->waits,
                ((tkt_wait){.begin_ns = begin_ns,
                            .end_ns = begin_ns + draw_pause(from),
                            .correlation = call->correlation,
                            .context = (uint32_t)draw(from, 3),
                            .stream = UINT32_MAX - (uint32_t)draw(from, 2),
                            .kind = (uint32_t)draw(from, 5),
                            .event = (uint32_t)draw(from, 4),
                            .record_correlation = (uint32_t)draw(from, 9),
                            .record_stream = (uint32_t)draw(from, 9)}));
        if (draw(from, 5) == 0)
            ADD(&trace->overheads,
                (tkt_overhead){begin_ns, begin_ns + draw_pause(from), (uint32_t)draw(from, 9) << 16,
                               (uint32_t)draw(from, 2) * 77});
    }
    assert_int_equal(tkt_trace_link(trace), TAKT_OK);
}

/* Structs whose strings are other numbers in the other trace. */
static void same_fields(const takt_trace *a, const takt_trace *b, const tkt_pf_field *fields,
                        const void *x, const void *y)
{
    for (; fields->size; fields++) {
        uint64_t p = 0, q = 0;
        memcpy(&p, (const char *)x + fields->offset, fields->size);
        memcpy(&q, (const char *)y + fields->offset, fields->size);
        if (fields->kind == TKT_PF_TEXT)
            assert_string_equal(tkt_trace_text(a, (uint32_t)p), tkt_trace_text(b, (uint32_t)q));
        else
            assert_int_equal(p, q);
    }
}

static void same_shape(const takt_trace *a, const takt_trace *b, size_t index)
{
    tkt_shape x = a->shapes.items[index], y = b->shapes.items[index];
    assert_string_equal(tkt_trace_text(a, x.name), tkt_trace_text(b, y.name));
    assert_string_equal(tkt_trace_text(a, x.label), tkt_trace_text(b, y.label));
    x.name = x.label = y.name = y.label = 0;
    assert_memory_equal(&x, &y, offsetof(tkt_shape, reserved)); /* whatever the tables say */
}

static void same_device(const takt_trace *a, const takt_trace *b, size_t index)
{
    tkt_device x = a->devices.items[index], y = b->devices.items[index];
    assert_string_equal(tkt_trace_text(a, x.name), tkt_trace_text(b, y.name));
    assert_string_equal(tkt_trace_text(a, x.label), tkt_trace_text(b, y.label));
    x.name = x.label = y.name = y.label = 0;
    assert_memory_equal(&x, &y, sizeof x);
}

void same_node_activities(const takt_trace *a, const takt_trace *b)
{
    assert_int_equal(a->node_activities.count, b->node_activities.count);
    size_t found = 0;
    for (size_t i = 0; i < a->node_activities.count; i++) {
        const tkt_node_activity *x = &a->node_activities.items[i];
        for (size_t k = 0; k < b->node_activities.count; k++) {
            const tkt_node_activity *y = &b->node_activities.items[k];
            if (x->node != y->node || x->filter != y->filter ||
                strcmp(tkt_trace_text(a, x->name), tkt_trace_text(b, y->name)) != 0 ||
                strcmp(tkt_trace_text(a, x->device), tkt_trace_text(b, y->device)) != 0)
                continue;
            found++;
            assert_int_equal(x->stats.count, y->stats.count);
            assert_int_equal(x->stats.total_ns, y->stats.total_ns);
            assert_int_equal(x->stats.min_ns, y->stats.min_ns);
            assert_int_equal(x->stats.max_ns, y->stats.max_ns);
            /* the order of summands may be another, in what is derived */
            double off = x->stats.sum_squares - y->stats.sum_squares;
            assert_true(off * off <= 1e-18 * x->stats.sum_squares * x->stats.sum_squares);
            const tkt_histogram durations_of_x = all_durations(&x->stats, x->histogram);
            const tkt_histogram durations_of_y = all_durations(&y->stats, y->histogram);
            assert_memory_equal(&durations_of_x, &durations_of_y, sizeof durations_of_x);
        }
    }
    assert_int_equal(found, a->node_activities.count);
}

static void same_devices(const takt_trace *a, const takt_trace *b)
{
    assert_int_equal(a->calls.count, b->calls.count);
    for (size_t i = 0; i < a->calls.count; i++)
        assert_memory_equal(&a->calls.items[i], &b->calls.items[i], sizeof *a->calls.items);
    assert_int_equal(a->shapes.count, b->shapes.count);
    for (size_t i = 0; i < a->shapes.count; i++)
        same_shape(a, b, i);
    assert_int_equal(a->devices.count, b->devices.count);
    for (size_t i = 0; i < a->devices.count; i++)
        same_device(a, b, i);
    assert_int_equal(a->waits.count, b->waits.count);
    if (a->waits.count)
        assert_memory_equal(a->waits.items, b->waits.items,
                            a->waits.count * sizeof *a->waits.items);
    assert_int_equal(a->overheads.count, b->overheads.count);
    if (a->overheads.count)
        assert_memory_equal(a->overheads.items, b->overheads.items,
                            a->overheads.count * sizeof *a->overheads.items);
    assert_int_equal(a->device_memory.count, b->device_memory.count);
    for (size_t i = 0; i < a->device_memory.count; i++)
        same_fields(a, b, tkt_pf_device_memory_fields, &a->device_memory.items[i],
                    &b->device_memory.items[i]);
}

/* ---- The host ---- */

static uint32_t random_site(takt_trace *trace, chance *from, takt_site_kind kind)
{
    char name[64];
    snprintf(name, sizeof name, "site %u", (unsigned)draw(from, RANDOM_SITES));
    tkt_trace_site site = {.name = text(trace, name), .kind = (uint8_t)kind};
    site.level = (uint8_t)(1 + draw(from, 4));
    if (draw(from, 2)) {
        site.file = text(trace, "fluid.c");
        site.function = draw(from, 2) ? text(trace, "step") : 0;
        site.line = (uint32_t)draw(from, 3000);
    }
    if (draw(from, 3) == 0)
        site.category = text(trace, draw(from, 2) ? "io" : "physics");
    if (kind == TAKT_SITE_ACTIVITY) {
        site.device = text(trace, "cpu");
        site.filter = 1u << draw(from, 5);
    }
    return tkt_trace_site_index(trace, &site);
}

static void random_arg(takt_trace *trace, chance *from, uint32_t track, uint32_t span)
{
    static const char *const keys[] = {"cells", "flops", "begun before", "takt.facts", ""};
    tkt_arg_type type = (tkt_arg_type)draw(from, 5);
    uint64_t bits = draw(from, 2) ? draw(from, 100) : (uint64_t)-1 - draw(from, 100);
    if (type == TKT_ARG_STRING)
        bits = text(trace, draw(from, 2) ? "dense" : "");
    if (type == TKT_ARG_DOUBLE)
        bits = bits_of(draw(from, 2) ? 0.1 : -0.0);
    make_arg(trace, track, span, keys[draw(from, 5)], type, bits);
}

/* What happens on a thread besides spans. */
static void random_event(takt_trace *trace, chance *from, uint32_t track, uint32_t span,
                         uint64_t time_ns)
{
    switch (draw(from, 4)) {
    case 0:
        ADD(&trace->marks, (tkt_mark){time_ns, track, random_site(trace, from, TAKT_SITE_MARK)});
        break;
    case 1:
        ADD(&trace->counters, (tkt_counter){time_ns, (double)draw(from, 1000) / 7,
                                            text(trace, draw(from, 2) ? "a" : "b"), track});
        break;
    case 2:
        ADD(&trace->flows, (tkt_flow){.time_ns = time_ns,
                                      .id = draw(from, 5) - 2,
                                      .track = track,
                                      .span = span,
                                      .is_end = draw(from, 2)});
        break;
    default:
        ADD(&trace->memory_events,
            (tkt_memory_event){time_ns, draw(from, UINT64_MAX >> 12),
                               (int64_t)draw(from, 1000) - 500, track, span, 0, 0});
    }
}

/* A thread's life: scopes begin and end, with everything else in between. */
static void random_thread(takt_trace *trace, chance *from, uint32_t track, size_t span_count)
{
    static const takt_site_kind kinds[] = {TAKT_SITE_SCOPE, TAKT_SITE_PHASE, TAKT_SITE_ACTIVITY};
    uint32_t open[40];
    size_t depth = 0;
    uint64_t time_ns = BEGIN_NS;
    tkt_spans *spans = &trace->tracks.items[track].spans;
    while (spans->count < span_count || depth) {
        uint32_t top = depth ? open[depth - 1] : TKT_NO_SPAN;
        uint64_t what = draw(from, 10);
        time_ns += draw_pause(from);
        if (what < 4 && depth < 40 && spans->count < span_count) {
            uint32_t site = random_site(trace, from, kinds[draw(from, 3)]);
            open[depth++] = make_span(trace, track, site, top, time_ns, 0);
            uint32_t span = open[depth - 1];
            spans->items[span].site_flags |= draw(from, 20) == 0 ? TAKT_SPAN_BEGUN_BEFORE : 0;
            spans->items[span].site_flags |= draw(from, 20) == 0 ? TAKT_SPAN_UNFINISHED : 0;
            for (uint64_t i = draw(from, 8); i < 3; i++)
                random_arg(trace, from, track, span);
            if (draw(from, 8) == 0)
                ADD(&trace->tracks.items[track].works, (tkt_work){span, 1e9, 0.25});
        } else if (what < 8 && depth) {
            spans->items[open[--depth]].end_ns = time_ns;
        } else if (what == 8 && spans->count < span_count) {
            uint64_t begin_ns = time_ns;
            time_ns += draw_pause(from);
            make_call(trace, track, top, draw(from, 2) ? "cudaLaunchKernel" : "cudaMemcpy",
                      3 * (uint32_t)trace->calls.count + 1, begin_ns, time_ns);
            trace->calls.items[trace->calls.count - 1].result = (int32_t)draw(from, 3) - 1;
            if (draw(from, 4) == 0)
                spans->items[spans->count - 1].site_flags |= TAKT_SPAN_NO_ACTIVITY;
        } else if (what >= 8) {
            random_event(trace, from, track, top, time_ns);
        }
    }
}

static void random_async(takt_trace *trace, chance *from, uint32_t track, size_t span_count)
{
    uint64_t time_ns = BEGIN_NS;
    for (size_t i = 0; i < span_count; i++) {
        uint64_t begin_ns = (time_ns += draw_pause(from)) + draw(from, 2) * draw(from, 100);
        uint32_t site = random_site(trace, from, TAKT_SITE_SCOPE);
        make_span(trace, track, site, TKT_NO_SPAN, begin_ns, begin_ns + draw_pause(from));
    }
}

void make_frame(takt_trace *trace, const char *module, uint64_t offset, const char *function,
                const char *file, uint32_t line)
{
    ADD(&trace->frames, (tkt_frame){.offset = offset,
                                    .module = text(trace, module),
                                    .function = text(trace, function),
                                    .file = text(trace, file),
                                    .line = line});
}

/* Frames are numbered as they were made; the innermost one first. */
uint32_t make_stack(takt_trace *trace, uint32_t count, const uint32_t *frames)
{
    ADD(&trace->stacks, (tkt_stack){(uint32_t)trace->stack_frames.count, count});
    for (uint32_t i = 0; i < count; i++)
        ADD(&trace->stack_frames, frames[i]);
    return (uint32_t)trace->stacks.count - 1;
}

static void random_stacks(takt_trace *trace, chance *from)
{
    uint32_t frames[40];
    for (uint64_t i = 0; i < 50; i++)
        make_frame(trace,
                   draw(from, 2) ? "/opt/sph"
                   : i % 3       ? "/lib/libc.so.6"
                                 : "",
                   i << i, draw(from, 3) ? "step" : "", draw(from, 2) ? "fluid.c" : "",
                   (uint32_t)draw(from, 1000));
    for (uint64_t i = 0; i < 20; i++) {
        uint32_t depth = (uint32_t)draw(from, 40);
        for (uint32_t k = 0; k < depth; k++)
            frames[k] = (uint32_t)draw(from, 50);
        make_stack(trace, depth, frames);
    }
    for (size_t t = 0; t < trace->tracks.count; t++)
        for (uint32_t i = 0; i < trace->tracks.items[t].spans.count; i++)
            if (draw(from, 4) == 0)
                ADD(&trace->tracks.items[t].stacks, (tkt_span_stack){i, (uint32_t)draw(from, 20)});
}

/* Steps 1 to `end` - 1 of the run, of which some were recorded. */
static void make_all_steps(takt_trace *trace, uint64_t end)
{
    tkt_free(trace->run);
    trace->run = tkt_alloc_zeroed(sizeof *trace->run);
    for (uint64_t i = 1; i < end; i++) {
        tkt_stats_add(&trace->all_steps.stats, i * i * 1000);
        tkt_histogram_add(&trace->all_steps.histogram, 1, i * i * 1000);
        tkt_run_add(trace->run, i * i * 1000);
    }
    tkt_run_add_window(trace->run, 0, 1);
    tkt_run_add_window(trace->run, end / 2, 17);
}

/* `threads` threads with `span_count` spans each, and two async tracks. Not finished. */
takt_trace *random_trace(uint64_t seed, uint32_t threads, size_t span_count)
{
    chance from = {seed * UINT64_C(0x9E3779B97F4A7C15) + 1};
    takt_trace *trace = make_trace();
    for (uint32_t i = 0; i < threads; i++)
        random_thread(trace, &from, make_thread(trace, i % 3 ? "worker" : "", 100 + i / 2),
                      span_count);
    for (uint32_t i = 0; i < 2; i++)
        random_async(trace, &from,
                     tkt_trace_add_track(trace, TAKT_TRACK_ASYNC, text(trace, "requests"), 0),
                     span_count);
    for (uint64_t i = 0; i < draw(&from, 4); i++)
        ADD(&trace->steps, (tkt_step){40 + i, BEGIN_NS + 1000 * i, BEGIN_NS + 1000 * i + 900});
    if (trace->calls.count && seed % 3)
        random_devices(trace, &from);
    if (seed % 2)
        random_stacks(trace, &from);
    if (seed % 3 == 1)
        random_phases(trace, &from, 20);
    if (seed % 4 == 1)
        make_all_steps(trace, 100 << draw(&from, 10));
    return trace;
}

void make_facts(takt_trace *trace)
{
    takt_facts *facts = &trace->facts;
    facts->realtime_offset_ns = INT64_C(-1767225600123456789);
    facts->cycle = 3;
    facts->is_partial = true;
    facts->clock_resolution_ns = 0.4166666;
    facts->clock_uncertainty_ns = 31.25;
    facts->cost_ns = 12345.5;
    facts->cost_longest_ns = 9876.5;
    for (int i = 0; i < TAKT_LOSS_COUNT; i++)
        trace->losses[i] = i == TAKT_LOSS_CUT ? 0 : (uint64_t)i * 1000000007;
    facts->device_uncertainty_ns = 250.5;
    facts->device_resolution_ns = 32;
    facts->device_uncertainty_is_least = true;
    facts->device_shift_ns = -5125;
    facts->rank = 3;
    facts->world_size = 8;
    facts->has_capture_range = true;
    trace->with_flops = true;
    trace->device_peak = (takt_peak){67.5e12, 3.35e12};
    trace->host_peak = (takt_peak){1e11, 0.5};
    trace->memory = (tkt_memory_totals){1, 2, 3, 4, 5, 6, 7, 8, 9, 10, UINT64_MAX, 1};
    make_all_steps(trace, 2000);
    trace->all_steps.simulated_seconds = 0.001;
}

static void make_spans(takt_trace *trace, uint32_t thread)
{
    uint32_t step = make_site(trace, "step", TAKT_SITE_SCOPE);
    uint32_t phase = make_site(trace, "forces", TAKT_SITE_PHASE);
    tkt_trace_site density = {.name = text(trace, "density"),
                              .category = text(trace, "physics"),
                              .file = text(trace, "fluid.c"),
                              .function = text(trace, "compute"),
                              .device = text(trace, "cpu"),
                              .line = 77,
                              .filter = TAKT_TIMING_KERNEL,
                              .kind = TAKT_SITE_ACTIVITY,
                              .level = 3};
    uint32_t outer = make_span(trace, thread, step, TKT_NO_SPAN, BEGIN_NS, BEGIN_NS + 5000);
    uint32_t inner = make_span(trace, thread, phase, outer, BEGIN_NS, BEGIN_NS + 4000);
    make_span(trace, thread, tkt_trace_site_index(trace, &density), inner, BEGIN_NS + 100,
              BEGIN_NS + 2000);
    make_span(trace, thread, phase, outer, BEGIN_NS + 4000, BEGIN_NS + 4000);
    uint32_t last = make_span(trace, thread, step, TKT_NO_SPAN, BEGIN_NS + 5000, END_NS);
    tkt_span *spans = trace->tracks.items[thread].spans.items;
    spans[outer].site_flags |= TAKT_SPAN_BEGUN_BEFORE;
    spans[last].site_flags |= TAKT_SPAN_UNFINISHED;

    make_arg(trace, thread, outer, "cells", TKT_ARG_INT, (uint64_t)-5);
    make_arg(trace, thread, outer, "cells", TKT_ARG_UINT, UINT64_MAX);
    make_arg(trace, thread, inner, "error", TKT_ARG_DOUBLE, bits_of(1e-300));
    make_arg(trace, thread, inner, "is dense", TKT_ARG_BOOL, true);
    make_arg(trace, thread, last, "method", TKT_ARG_STRING, text(trace, "leapfrog"));
    ADD(&trace->tracks.items[thread].works, (tkt_work){inner, 2.5e12, 1e9});
}

static void make_events(takt_trace *trace, uint32_t thread, uint32_t other)
{
    uint32_t contact = make_site(trace, "contact", TAKT_SITE_MARK);
    ADD(&trace->marks, (tkt_mark){BEGIN_NS + 50, thread, contact});
    ADD(&trace->marks, (tkt_mark){BEGIN_NS + 60, other, contact});
    ADD(&trace->counters, (tkt_counter){BEGIN_NS + 70, 0.1, text(trace, "energy"), thread});
    ADD(&trace->counters, (tkt_counter){BEGIN_NS + 80, -1e300, text(trace, "energy"), other});
    ADD(&trace->counters, (tkt_counter){BEGIN_NS + 80, 3, text(trace, "contacts"), other});
    ADD(&trace->flows, (tkt_flow){BEGIN_NS + 90, UINT64_MAX, thread, 1, false});
    ADD(&trace->flows, (tkt_flow){BEGIN_NS + 95, UINT64_MAX, other, TKT_NO_SPAN, true});
    ADD(&trace->memory_events,
        (tkt_memory_event){BEGIN_NS + 96, 0xdeadbeef, 1 << 20, thread, 1, 0, 0});
    ADD(&trace->memory_events,
        (tkt_memory_event){BEGIN_NS + 97, 0xdeadbeef, -(1 << 20), other, TKT_NO_SPAN, 0, 0});
}

/* Not finished. */
takt_trace *whole_trace(void)
{
    takt_trace *trace = make_trace();
    make_facts(trace);
    uint32_t thread = make_thread(trace, "main", 4711);
    uint32_t other = make_thread(trace, "", 4712);
    uint32_t tasks = tkt_trace_add_track(trace, TAKT_TRACK_ASYNC, text(trace, "tasks"), 0);
    make_spans(trace, thread);
    make_events(trace, thread, other);
    uint32_t task = make_site(trace, "task", TAKT_SITE_SCOPE);
    make_span(trace, tasks, task, TKT_NO_SPAN, BEGIN_NS + 10, BEGIN_NS + 500);
    make_span(trace, tasks, task, TKT_NO_SPAN, BEGIN_NS + 10, BEGIN_NS + 400);
    make_span(trace, tasks, task, TKT_NO_SPAN, BEGIN_NS + 20, BEGIN_NS + 600);
    make_span(trace, tasks, task, TKT_NO_SPAN, BEGIN_NS + 400, BEGIN_NS + 450);
    ADD(&trace->steps, (tkt_step){7, BEGIN_NS, BEGIN_NS + 5000});
    ADD(&trace->steps, (tkt_step){8, BEGIN_NS + 5000, END_NS});
    return trace;
}

memory_sink write_trace(const takt_trace *trace)
{
    memory_sink file = {0};
    tkt_writer writer;
    assert_int_equal(tkt_writer_init(&writer, memory_sink_of(&file), 64 << 10), TAKT_OK);
    assert_int_equal(tkt_perfetto_export(trace, &writer), TAKT_OK);
    assert_int_equal(tkt_writer_fini(&writer), TAKT_OK);
    return file;
}

takt_trace *read_bytes(const void *bytes, size_t size)
{
    takt_trace *trace = NULL;
    takt_error error = {0};
    takt_status status = tkt_trace_read(bytes, size, "test", &trace, &error);
    if (status != TAKT_OK)
        fail_msg("%s", error.message);
    return trace;
}

takt_trace *write_and_read(const takt_trace *trace)
{
    memory_sink file = write_trace(trace);
    takt_trace *back = read_bytes(file.data, file.size);
    tkt_free(file.data);
    return back;
}

void same_site(const takt_trace *a, const takt_trace *b, uint32_t of_a, uint32_t of_b)
{
    const tkt_trace_site *x = &a->sites.items[of_a];
    const tkt_trace_site *y = &b->sites.items[of_b];
    SAME_TEXT(x->name, y->name);
    SAME_TEXT(x->category, y->category);
    SAME_TEXT(x->file, y->file);
    SAME_TEXT(x->function, y->function);
    SAME_TEXT(x->device, y->device);
    SAME(x->line, y->line);
    SAME(x->filter, y->filter);
    SAME(x->kind, y->kind);
    SAME(x->level, y->level);
}

static void same_stats(const tkt_stats *x, const tkt_stats *y)
{
    SAME(x->count, y->count);
    SAME(x->total_ns, y->total_ns);
    SAME(x->self_ns, y->self_ns);
    SAME(x->min_ns, y->min_ns);
    SAME(x->max_ns, y->max_ns);
    SAME_BITS(x->sum_squares, y->sum_squares);
}

static void same_run(const tkt_run_steps *a, const tkt_run_steps *b)
{
    assert_true(!a == !b);
    if (!a)
        return;
    SAME(a->step_count, b->step_count);
    SAME(a->shift, b->shift);
    SAME(a->slowest_count, b->slowest_count);
    SAME(a->window_count, b->window_count);
    assert_memory_equal(a->slowest, b->slowest, a->slowest_count * sizeof *a->slowest);
    assert_memory_equal(a->windows, b->windows, a->window_count * sizeof *a->windows);
    for (size_t i = 0; i < tkt_run_part_count(a); i++) {
        const tkt_run_part x = tkt_run_part_at(a, i), y = tkt_run_part_at(b, i);
        assert_memory_equal(&x, &y, sizeof x);
    }
}

static void same_facts(const takt_trace *a, const takt_trace *b)
{
    const takt_facts *x = &a->facts;
    const takt_facts *y = &b->facts;
    assert_string_equal(x->name, y->name);
    assert_string_equal(x->backend, y->backend);
    SAME_TEXT(a->clock, b->clock);
    SAME(a->with_flops, b->with_flops);
    assert_memory_equal(&a->device_peak, &b->device_peak, sizeof a->device_peak);
    assert_memory_equal(&a->host_peak, &b->host_peak, sizeof a->host_peak);
    SAME(x->begin_ns, y->begin_ns);
    SAME(x->end_ns, y->end_ns);
    SAME(x->realtime_offset_ns, y->realtime_offset_ns);
    SAME(x->process_id, y->process_id);
    SAME(x->cycle, y->cycle);
    SAME(x->first_step, y->first_step);
    SAME(x->step_count, y->step_count);
    SAME(x->is_partial, y->is_partial);
    SAME(x->has_spans, y->has_spans);
    SAME(x->span_count, y->span_count);
    SAME(x->activity_count, y->activity_count);
    SAME_BITS(x->clock_resolution_ns, y->clock_resolution_ns);
    SAME_BITS(x->clock_uncertainty_ns, y->clock_uncertainty_ns);
    SAME_BITS(x->cost_ns, y->cost_ns);
    SAME_BITS(x->cost_longest_ns, y->cost_longest_ns);
    SAME_BITS(x->device_uncertainty_ns, y->device_uncertainty_ns);
    SAME_BITS(x->device_resolution_ns, y->device_resolution_ns);
    SAME(x->device_uncertainty_is_least, y->device_uncertainty_is_least);
    SAME_BITS(x->device_shift_ns, y->device_shift_ns);
    SAME(x->rank, y->rank);
    SAME(x->world_size, y->world_size);
    SAME(x->has_capture_range, y->has_capture_range);
    SAME(x->begun_before, y->begun_before);
    SAME(x->unfinished, y->unfinished);
    for (int i = 0; i < TAKT_LOSS_COUNT; i++)
        SAME(a->losses[i], b->losses[i]);
    assert_memory_equal(&a->memory, &b->memory, sizeof a->memory);
    same_stats(&a->all_steps.stats, &b->all_steps.stats);
    assert_memory_equal(&a->all_steps.histogram, &b->all_steps.histogram,
                        sizeof a->all_steps.histogram);
    SAME_BITS(a->all_steps.simulated_seconds, b->all_steps.simulated_seconds);
    same_run(a->run, b->run);
}

static void same_arg(const takt_trace *a, const takt_trace *b, const tkt_arg *x, const tkt_arg *y)
{
    SAME(x->span, y->span);
    SAME(x->type, y->type);
    SAME_TEXT(x->key, y->key);
    switch (x->type) {
    case TKT_ARG_STRING:
        SAME_TEXT(x->value.string, y->value.string);
        break;
    case TKT_ARG_BOOL:
        SAME(x->value.b, y->value.b);
        break;
    default:
        SAME(x->value.u, y->value.u);
    }
}

static void same_stack(const takt_trace *a, const takt_trace *b, size_t p, size_t q)
{
    takt_frame_info x, y;
    size_t count = takt_trace_frame_count(a, p);
    SAME(count, takt_trace_frame_count(b, q));
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(takt_trace_frame(a, p, i, &x), TAKT_OK);
        assert_int_equal(takt_trace_frame(b, q, i, &y), TAKT_OK);
        assert_string_equal(x.module, y.module);
        assert_string_equal(x.function, y.function);
        assert_string_equal(x.file, y.file);
        SAME(x.offset, y.offset);
        SAME(x.line, y.line);
        SAME(x.is_inline, y.is_inline);
    }
}

static void same_track(const takt_trace *a, const takt_trace *b, size_t number)
{
    const tkt_track *x = &a->tracks.items[number];
    const tkt_track *y = &b->tracks.items[number];
    SAME(x->kind, y->kind);
    SAME_TEXT(x->name, y->name);
    SAME(x->thread_id, y->thread_id);
    SAME(x->spans.count, y->spans.count);
    for (size_t i = 0; i < x->spans.count; i++) {
        const tkt_span *p = &x->spans.items[i];
        const tkt_span *q = &y->spans.items[i];
        SAME(p->begin_ns, q->begin_ns);
        SAME(p->end_ns, q->end_ns);
        SAME(p->parent, q->parent);
        SAME(tkt_span_flags(p), tkt_span_flags(q));
        same_site(a, b, tkt_span_site(p), tkt_span_site(q));
    }
    SAME(x->args.count, y->args.count);
    for (size_t i = 0; i < x->args.count; i++)
        same_arg(a, b, &x->args.items[i], &y->args.items[i]);
    SAME(x->works.count, y->works.count);
    for (size_t i = 0; i < x->works.count; i++) {
        SAME(x->works.items[i].span, y->works.items[i].span);
        SAME_BITS(x->works.items[i].flops, y->works.items[i].flops);
        SAME_BITS(x->works.items[i].bytes, y->works.items[i].bytes);
    }
    SAME(x->stacks.count, y->stacks.count);
    for (size_t i = 0; i < x->stacks.count; i++) {
        SAME(x->stacks.items[i].span, y->stacks.items[i].span);
        same_stack(a, b, x->stacks.items[i].stack, y->stacks.items[i].stack);
    }
}

static void same_events(const takt_trace *a, const takt_trace *b)
{
    SAME(a->marks.count, b->marks.count);
    for (size_t i = 0; i < a->marks.count; i++) {
        SAME(a->marks.items[i].time_ns, b->marks.items[i].time_ns);
        SAME(a->marks.items[i].track, b->marks.items[i].track);
        same_site(a, b, a->marks.items[i].site, b->marks.items[i].site);
    }
    SAME(a->counters.count, b->counters.count);
    for (size_t i = 0; i < a->counters.count; i++) {
        SAME(a->counters.items[i].time_ns, b->counters.items[i].time_ns);
        SAME(a->counters.items[i].track, b->counters.items[i].track);
        SAME_BITS(a->counters.items[i].value, b->counters.items[i].value);
        SAME_TEXT(a->counters.items[i].name, b->counters.items[i].name);
    }
    SAME(a->flows.count, b->flows.count);
    for (size_t i = 0; i < a->flows.count; i++) {
        SAME(a->flows.items[i].time_ns, b->flows.items[i].time_ns);
        SAME(a->flows.items[i].id, b->flows.items[i].id);
        SAME(a->flows.items[i].track, b->flows.items[i].track);
        SAME(a->flows.items[i].span, b->flows.items[i].span);
        SAME(a->flows.items[i].is_end, b->flows.items[i].is_end);
    }
    SAME(a->memory_events.count, b->memory_events.count);
    for (size_t i = 0; i < a->memory_events.count; i++) {
        SAME(a->memory_events.items[i].time_ns, b->memory_events.items[i].time_ns);
        SAME(a->memory_events.items[i].address, b->memory_events.items[i].address);
        SAME(a->memory_events.items[i].bytes, b->memory_events.items[i].bytes);
        SAME(a->memory_events.items[i].track, b->memory_events.items[i].track);
        SAME(a->memory_events.items[i].span, b->memory_events.items[i].span);
        SAME(a->memory_events.items[i].kind, b->memory_events.items[i].kind);
        SAME_TEXT(a->memory_events.items[i].device, b->memory_events.items[i].device);
    }
}

static void same_activities(const takt_trace *a, const takt_trace *b)
{
    SAME(a->activities.count, b->activities.count);
    for (size_t i = 0; i < a->activities.count; i++) {
        const tkt_activity *x = &a->activities.items[i];
        const tkt_activity *y = &b->activities.items[i];
        SAME(x->begin_ns, y->begin_ns);
        SAME(x->end_ns, y->end_ns);
        SAME_TEXT(x->name, y->name);
        SAME_TEXT(x->device, y->device);
        SAME(x->filter, y->filter);
        SAME(x->track, y->track);
        SAME(x->span, y->span);
        SAME(x->scope, y->scope);
        SAME(x->call, y->call);
        SAME(x->shape, y->shape);
        SAME(x->stream, y->stream);
        SAME(x->context, y->context);
        SAME(x->correlation, y->correlation);
        SAME(x->reserved, y->reserved);
    }
}

static void same_counters(const takt_trace *a, const takt_trace *b)
{
    SAME(a->fold.counters.count, b->fold.counters.count);
    for (size_t i = 0; i < a->fold.counters.count; i++) {
        const tkt_folded_counter *x = &a->fold.counters.items[i];
        const tkt_folded_counter *y = &b->fold.counters.items[i];
        SAME_TEXT(x->name, y->name);
        SAME(x->is_mixed, y->is_mixed);
        SAME(x->samples, y->samples);
        SAME(x->first_time, y->first_time);
        SAME(x->last_time, y->last_time);
        SAME_BITS(x->held.sum, y->held.sum);
        SAME_BITS(x->held.large, y->held.large);
        SAME_BITS(x->held.weight, y->held.weight);
        SAME_BITS(x->first, y->first);
        SAME_BITS(x->last, y->last);
        SAME_BITS(x->min, y->min);
        SAME_BITS(x->max, y->max);
    }
}

static void same_tasks(const takt_trace *a, const takt_trace *b)
{
    SAME(a->fold.tasks.count, b->fold.tasks.count);
    for (size_t i = 0; i < a->fold.tasks.count; i++) {
        const tkt_folded_task *x = &a->fold.tasks.items[i], *y = &b->fold.tasks.items[i];
        SAME_TEXT(x->name, y->name);
        SAME_TEXT(x->track, y->track);
        same_stats(&x->stats, &y->stats);
        assert_memory_equal(x->histogram, y->histogram, sizeof *x->histogram);
    }
}

static void same_threads(const takt_trace *a, const takt_trace *b)
{
    SAME(a->fold.threads.count, b->fold.threads.count);
    for (size_t i = 0; i < a->fold.threads.count; i++) {
        SAME_TEXT(a->fold.threads.items[i].name, b->fold.threads.items[i].name);
        SAME(a->fold.threads.items[i].thread_id, b->fold.threads.items[i].thread_id);
        SAME(a->fold.threads.items[i].end, b->fold.threads.items[i].end);
    }
    SAME(a->fold.parts.count, b->fold.parts.count);
    for (size_t i = 0; i < a->fold.parts.count; i++)
        assert_memory_equal(&a->fold.parts.items[i], &b->fold.parts.items[i],
                            sizeof a->fold.parts.items[i]);
}

void same_fold(const takt_trace *a, const takt_trace *b)
{
    same_threads(a, b);
    same_counters(a, b);
    same_tasks(a, b);
    const tkt_fold *x = tkt_trace_fold(a);
    const tkt_fold *y = tkt_trace_fold(b);
    SAME(x->count, y->count);
    SAME(x->other_count, y->other_count);
    for (size_t i = 0; i < x->count; i++) {
        const tkt_node *p = &x->items[i];
        const tkt_node *q = &y->items[i];
        same_stats(&p->stats, &q->stats);
        same_site(a, b, p->site, q->site);
        SAME(p->parent, q->parent);
        SAME(p->first_child, q->first_child);
        SAME(p->next_sibling, q->next_sibling);
        SAME_BITS(p->flops, q->flops);
        SAME_BITS(p->bytes, q->bytes);
        SAME(p->errors, q->errors);
        const tkt_histogram durations_of_p = all_durations(&p->stats, p->histogram);
        const tkt_histogram durations_of_q = all_durations(&q->stats, q->histogram);
        assert_memory_equal(&durations_of_p, &durations_of_q, sizeof durations_of_p);
    }
}

/* Everything that a report can see. */
void same_trace(const takt_trace *a, const takt_trace *b)
{
    same_facts(a, b);
    SAME(a->tracks.count, b->tracks.count);
    for (size_t i = 0; i < a->tracks.count; i++)
        same_track(a, b, i);
    same_events(a, b);
    same_activities(a, b);
    SAME(a->steps.count, b->steps.count);
    for (size_t i = 0; i < a->steps.count; i++)
        assert_memory_equal(&a->steps.items[i], &b->steps.items[i], sizeof a->steps.items[i]);
    same_fold(a, b);
    same_devices(a, b);
    same_node_activities(a, b);
    same_phases(a, b);
}
