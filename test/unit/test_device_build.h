/* The devices' part of test_trace_build.h, which includes it: by chance, one of everything, and
 * compared. */
#ifndef TEST_DEVICE_BUILD_H
#define TEST_DEVICE_BUILD_H

#include "trace/devices.h"

/* A call of `correlation` on a thread, below `parent`. */
MAYBE_UNUSED static uint32_t make_call(takt_trace *trace, uint32_t track, uint32_t parent,
                                       const char *name, uint32_t correlation, uint64_t begin_ns,
                                       uint64_t end_ns)
{
    tkt_trace_site site = {.name = text(trace, name),
                           .category = text(trace, "cuda_runtime"),
                           .kind = TAKT_SITE_CALL,
                           .level = TAKT_LEVEL_NORMAL};
    uint32_t span = make_span(trace, track, tkt_trace_site_index(trace, &site), parent, begin_ns,
                              end_ns);
    trace->tracks.items[track].spans.items[span].site_flags |= TAKT_SPAN_CALL;
    ADD(&trace->calls, (tkt_call_info){track, span, correlation, 0});
    return (uint32_t)trace->calls.count - 1;
}

MAYBE_UNUSED static uint32_t make_device(takt_trace *trace, uint32_t ordinal)
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

MAYBE_UNUSED static void make_work(takt_trace *trace, uint32_t device, uint32_t shape,
                                   uint32_t correlation, uint32_t stream, uint64_t begin_ns,
                                   uint64_t end_ns)
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

/* ---- By chance ------------------------------------------------------------------------------- */

MAYBE_UNUSED static tkt_shape random_shape(takt_trace *trace, chance *from)
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
MAYBE_UNUSED static void random_works(takt_trace *trace, chance *from, uint32_t correlation,
                                      uint64_t time_ns)
{
    for (uint64_t i = draw(from, 4); i > 0; i--) {
        uint32_t device = trace->devices.items[draw(from, trace->devices.count)].label;
        uint64_t begin_ns = time_ns + draw_pause(from) - draw(from, 2) * draw(from, 50);
        make_work(trace, device, (uint32_t)draw(from, trace->shapes.count), correlation,
                  (uint32_t)draw(from, 5), begin_ns, begin_ns + draw_pause(from));
    }
}

MAYBE_UNUSED static void random_memory(takt_trace *trace, chance *from, uint64_t time_ns)
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
MAYBE_UNUSED static void random_devices(takt_trace *trace, chance *from)
{
    for (uint32_t i = 0; i < 1 + draw(from, 2); i++)
        make_device(trace, i);
    for (uint64_t i = 0; i < 30; i++)
        ADD(&trace->shapes, random_shape(trace, from));
    ADD(&trace->device_memory, (tkt_device_memory){.device = trace->devices.items[0].label,
                                                   .totals = {11, 12, 13, 14, 15, 16, 17, 18, 19,
                                                              20, UINT64_MAX - 1, 0},
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
                (tkt_wait){begin_ns, begin_ns + draw_pause(from), call->correlation,
                           (uint32_t)draw(from, 3), UINT32_MAX - (uint32_t)draw(from, 2),
                           (uint32_t)draw(from, 5)});
        if (draw(from, 5) == 0)
            ADD(&trace->overheads,
                (tkt_overhead){begin_ns, begin_ns + draw_pause(from),
                               (uint32_t)draw(from, 9) << 16, (uint32_t)draw(from, 2) * 77});
    }
    assert_int_equal(tkt_trace_link(trace), TAKT_OK);
}

/* ---- Comparing ------------------------------------------------------------------------------- */

/* Structs whose strings are other numbers in the other trace. */
MAYBE_UNUSED static void same_fields(const takt_trace *a, const takt_trace *b,
                                     const tkt_pf_field *fields, const void *x, const void *y)
{
    for (; fields->size; fields++) {
        uint64_t p = 0, q = 0;
        memcpy(&p, (const char *)x + fields->offset, fields->size);
        memcpy(&q, (const char *)y + fields->offset, fields->size);
        if (fields->is_string)
            assert_string_equal(tkt_trace_text(a, (uint32_t)p), tkt_trace_text(b, (uint32_t)q));
        else
            assert_int_equal(p, q);
    }
}

MAYBE_UNUSED static void same_shape(const takt_trace *a, const takt_trace *b, size_t index)
{
    tkt_shape x = a->shapes.items[index], y = b->shapes.items[index];
    assert_string_equal(tkt_trace_text(a, x.name), tkt_trace_text(b, y.name));
    assert_string_equal(tkt_trace_text(a, x.label), tkt_trace_text(b, y.label));
    x.name = x.label = y.name = y.label = 0;
    assert_memory_equal(&x, &y, offsetof(tkt_shape, reserved)); /* whatever the tables say */
}

MAYBE_UNUSED static void same_device(const takt_trace *a, const takt_trace *b, size_t index)
{
    tkt_device x = a->devices.items[index], y = b->devices.items[index];
    assert_string_equal(tkt_trace_text(a, x.name), tkt_trace_text(b, y.name));
    assert_string_equal(tkt_trace_text(a, x.label), tkt_trace_text(b, y.label));
    x.name = x.label = y.name = y.label = 0;
    assert_memory_equal(&x, &y, sizeof x);
}

MAYBE_UNUSED static void same_node_activities(const takt_trace *a, const takt_trace *b)
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
            assert_memory_equal(x->histogram, y->histogram, sizeof *x->histogram);
        }
    }
    assert_int_equal(found, a->node_activities.count);
}

MAYBE_UNUSED static void same_devices(const takt_trace *a, const takt_trace *b)
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

#endif
