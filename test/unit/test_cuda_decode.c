/* Records of CUPTI's, of several versions and broken ones, against what has to be in the store. */
#include "cuda/cupti.h"

#include "cuda/kinds.h"

#include <takt/trace.h>

#include "base/alloc.h"
#include "support/cupti_records.h"
#include "support/lost.h"
#include "trace/devices.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define T0 UINT64_C(1700000000000000000)

static tkt_store store;
static record_buffer buffer;

static int begin_13(void **state)
{
    (void)state;
    assert_int_equal(tkt_store_init(&store), TAKT_OK);
    buffer.sizes = record_sizes_13();
    buffer.used = 0;
    return 0;
}

static int begin_11(void **state)
{
    begin_13(state);
    buffer.sizes = record_sizes_11();
    return 0;
}

static int end(void **state)
{
    (void)state;
    tkt_store_fini(&store);
    return 0;
}

static void decode(void)
{
    tkt_decode(&store, &buffer.sizes, buffer.bytes, buffer.used);
    buffer.used = 0;
}

static const tkt_stored_activity *activity_at(size_t index)
{
    const tkt_store_chunk *chunk = store.first;
    for (; chunk && index >= chunk->count; chunk = chunk->next)
        index -= chunk->count;
    assert_non_null(chunk);
    return &chunk->items[index];
}

static const tkt_shape *shape_at(size_t index)
{
    uint32_t shape = activity_at(index)->shape;
    assert_true(shape < store.shapes.count);
    return &store.shapes.items[shape];
}

static const char *text_of(uint32_t string)
{
    return tkt_strtab_text(&store.strings, string);
}

static size_t activity_count(void)
{
    size_t count = 0;
    for (const tkt_store_chunk *chunk = store.first; chunk; chunk = chunk->next)
        count += chunk->count;
    return count;
}

static void assert_losses(uint64_t incomplete, uint64_t bad_time, uint64_t unknown)
{
    assert_int_equal(count_lost(&store, TAKT_LOSS_INCOMPLETE), incomplete);
    assert_int_equal(count_lost(&store, TAKT_LOSS_BAD_TIME) + store.losses.bad_time, bad_time);
    assert_int_equal(store.losses.unknown, unknown);
}

static void a_kernel_has_all_its_fields(void **state)
{
    (void)state;
    uint8_t *record = record_kernel(&buffer, "inc_loop", T0 + 10, T0 + 163850, 42);
    put32(record, 40, 1);       /* device */
    put32(record, 44, 5);       /* context */
    put32(record, 48, 13);      /* stream */
    put32(record, 76, 1024);    /* static shared */
    put32(record, 80, 2048);    /* dynamic */
    put32(record, 84, 96);      /* local */
    put64(record, 144, 777777); /* graph node */
    put32(record, 156, 9);      /* graph */
    put32(record, 176, 2);      /* cluster */
    put32(record, 180, 3);
    put32(record, 184, 4);
    decode();
    const tkt_stored_activity expected = {.begin = T0 + 10,
                                          .end = T0 + 163850,
                                          .correlation = 42,
                                          .device = 1,
                                          .context = 5,
                                          .stream = 13,
                                          .shape = 0,
                                          .graph = 9};
    const tkt_shape shape = {.graph_node = 777777,
                             .graph = 9,
                             .name = shape_at(0)->name,
                             .label = shape_at(0)->label,
                             .filter = TAKT_TIMING_KERNEL,
                             .grid = {1000, 2, 1},
                             .block = {256, 1, 1},
                             .cluster = {2, 3, 4},
                             .static_shared_bytes = 1024,
                             .dynamic_shared_bytes = 2048,
                             .local_bytes = 96,
                             .registers = 32};
    assert_memory_equal(activity_at(0), &expected, sizeof expected);
    assert_memory_equal(shape_at(0), &shape, sizeof shape);
    assert_string_equal(text_of(shape.name), "inc_loop");
    assert_string_equal(text_of(shape.label), "kernel inc_loop");
    assert_int_equal(store.devices.count, 2);
    assert_losses(0, 0, 0);
}

static void what_no_window_wants_is_not_kept(void **state)
{
    (void)state;
    store.has_no_window = true;
    record_kernel(&buffer, "between", T0, T0 + 5, 1);
    record_kernel(&buffer, "unfinished", 0, 0, 2);
    decode();
    store.has_no_window = false;
    assert_int_equal(activity_count(), 0);
    assert_int_equal(store.shapes.count, 0);
    assert_losses(0, 0, 0);
    store.left_out = TAKT_TIMING_KERNEL;
    record_kernel(&buffer, "unwanted", T0, T0 + 5, 3);
    decode();
    store.left_out = TAKT_TIMING_MEMCPY;
    record_kernel(&buffer, "wanted", T0, T0 + 5, 4);
    decode();
    assert_int_equal(activity_count(), 1);
    assert_int_equal(activity_at(0)->correlation, 4);
}

static void old_records_have_what_fits(void **state)
{
    (void)state;
    record_kernel(&buffer, "old", T0, T0 + 5, 1);
    record_kernel(&buffer, "older", T0 + 6, T0 + 8, 2); /* lies where the first would have more */
    decode();
    assert_int_equal(activity_count(), 2);
    assert_int_equal(shape_at(0)->graph_node, 0);
    assert_int_equal(shape_at(0)->graph, 0);
    assert_int_equal(shape_at(0)->cluster[0], 0);
    assert_int_equal(shape_at(0)->registers, 32);
    assert_string_equal(text_of(shape_at(1)->name), "older");
    assert_losses(0, 0, 0);
}

static void every_length_of_a_kernel_record_is_read_safely(void **state)
{
    (void)state;
    for (uint16_t size = 8; size <= 240; size += 8) { /* CUPTI's are multiples of 8 */
        buffer.sizes.bytes[RECORD_KERNEL] = 240;
        uint8_t *record = record_kernel(&buffer, "any", T0, T0 + 5, 1);
        memset(record + 144, 0x11, 240 - 144);
        buffer.sizes.bytes[RECORD_KERNEL] = size;
        uint8_t *exact = malloc(size); /* so that a sanitizer sees what lies behind */
        assert_non_null(exact);
        memcpy(exact, record, size);
        tkt_decode(&store, &buffer.sizes, exact, size);
        free(exact);
        buffer.used = 0;
        assert_int_equal(activity_count(), size < 144 ? 0 : (size - 144u) / 8 + 1);
        if (size < 144)
            continue;
        const tkt_shape *shape = shape_at(activity_count() - 1);
        assert_int_equal(shape->graph_node, size < 152 ? 0 : UINT64_C(0x1111111111111111));
        assert_int_equal(shape->graph, size < 160 ? 0 : 0x11111111);
        assert_int_equal(shape->cluster[2], size < 188 ? 0 : 0x11111111);
    }
    assert_losses(0, 0, 17); /* 8, 16, ... 136 */
}

static void the_same_launch_is_one_shape(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 30; i++) {
        uint8_t *record = record_kernel(&buffer, i % 3 ? "a" : "b", T0 + i, T0 + i + 1, i);
        put32(record, 52, i % 5 == 0 ? 64 : 32); /* grid */
    }
    decode();
    assert_int_equal(activity_count(), 30);
    assert_int_equal(store.shapes.count, 4);
    for (uint32_t i = 0; i < 30; i++) {
        assert_string_equal(text_of(shape_at(i)->name), i % 3 ? "a" : "b");
        assert_int_equal(shape_at(i)->grid[0], i % 5 == 0 ? 64 : 32);
    }
}

/* A module goes, another comes, and its kernel's name lies where the old one's was. */
static void an_address_with_another_name_is_another_kernel(void **state)
{
    char name[16] = "first";
    (void)state;
    record_kernel(&buffer, name, T0, T0 + 1, 1);
    decode();
    strcpy(name, "second");
    record_kernel(&buffer, name, T0 + 2, T0 + 3, 2);
    decode();
    strcpy(name, "first");
    record_kernel(&buffer, name, T0 + 4, T0 + 5, 3);
    decode();
    assert_string_equal(text_of(shape_at(0)->name), "first");
    assert_string_equal(text_of(shape_at(1)->name), "second");
    assert_int_equal(activity_at(2)->shape, activity_at(0)->shape);
    assert_int_equal(store.names.count, 2);
}

static void names_are_demangled_and_judged(void **state)
{
    (void)state;
    record_kernel(&buffer, "_ZN2ns3numILi4ELb1EEEvRAT__f", T0, T0 + 1, 1);
    record_kernel(&buffer, "ampere_sgemm_128x64_nn", T0, T0 + 1, 2);
    record_kernel(&buffer, "inc_loop_0a1b2c3d_cuda_kernel_forward", T0, T0 + 1, 3);
    record_kernel(&buffer, NULL, T0, T0 + 1, 4);
    record_kernel(&buffer, NULL, T0, T0 + 1, 5);
    decode();
    assert_string_equal(text_of(shape_at(0)->name), "void ns::num<4, true>(float (&) [4])");
    assert_string_equal(text_of(shape_at(0)->label), "kernel ns::num<...>");
    assert_int_equal(shape_at(1)->filter, TAKT_TIMING_BUILTIN);
    assert_string_equal(text_of(shape_at(1)->label), "builtin kernel ampere_sgemm_128x64_nn");
    assert_string_equal(text_of(shape_at(2)->label), "forward kernel inc_loop");
    assert_string_equal(text_of(shape_at(3)->label), "kernel (unnamed)");
    assert_int_equal(activity_at(4)->shape, activity_at(3)->shape);
}

static void occupancy_is_of_the_device_that_ran_it(void **state)
{
    (void)state;
    tkt_device *devices = tkt_store_device(&store, 1) - 1;
    for (uint32_t i = 0; i < 2; i++) {
        devices[i].major = 9;
        devices[i].warp_size = 32;
        devices[i].max_threads_per_block = 1024;
        devices[i].max_threads_per_multiprocessor = i ? 1024 : 2048;
        devices[i].max_blocks_per_multiprocessor = i ? 2 : 32;
        devices[i].registers_per_multiprocessor = 65536;
        devices[i].shared_per_multiprocessor = 233472;
    }
    for (uint32_t i = 0; i < 4; i++)
        put32(record_kernel(&buffer, "k", T0, T0 + 1, i), 40, i % 2);
    decode();
    assert_int_equal(shape_at(0)->occupancy, 10000);
    assert_int_equal(shape_at(0)->limiter, TAKT_LIMIT_WARPS);
    assert_int_equal(shape_at(1)->occupancy, 5000);
    assert_int_equal(shape_at(1)->limiter, TAKT_LIMIT_BLOCKS);
    assert_int_equal(activity_at(2)->shape, activity_at(0)->shape);
    assert_int_equal(activity_at(3)->shape, activity_at(1)->shape);
}

static void copies_have_direction_and_memory(void **state)
{
    static const char *const labels[] = {"memcpy",      "memcpy HtoD", "memcpy DtoH", "memcpy HtoA",
                                         "memcpy AtoH", "memcpy AtoA", "memcpy AtoD", "memcpy DtoA",
                                         "memcpy DtoD", "memcpy HtoH", "memcpy PtoP", "memcpy"};
    (void)state;
    for (uint8_t kind = 0; kind < 12; kind++) {
        uint8_t *record = record_copy(&buffer, kind, 4096, T0 + kind, T0 + kind + 1, kind);
        record[5] = 2; /* from pinned */
        record[6] = 3; /* to device memory */
        put64(record, 64, 88);
        put32(record, 72, 99);
    }
    decode();
    for (uint8_t kind = 0; kind < 12; kind++) {
        const tkt_shape expected = {.bytes = 4096,
                                    .graph_node = 88,
                                    .graph = 99,
                                    .name = 0,
                                    .label = shape_at(kind)->label,
                                    .filter = TAKT_TIMING_MEMCPY,
                                    .copy_kind = kind,
                                    .source = TAKT_MEMORY_PINNED,
                                    .target = TAKT_MEMORY_DEVICE};
        assert_memory_equal(shape_at(kind), &expected, sizeof expected);
        assert_string_equal(text_of(expected.label), labels[kind]);
        assert_int_equal(activity_at(kind)->correlation, kind);
    }
}

static void a_copy_between_devices_is_the_ones_that_did_it(void **state)
{
    (void)state;
    uint8_t *record = record_add(&buffer, RECORD_MEMCPY_PEER);
    record[4] = 10;
    record[5] = 3;
    record[6] = 3;
    put64(record, 8, 1 << 20);
    put64(record, 16, T0);
    put64(record, 24, T0 + 9);
    put32(record, 32, 1); /* device */
    put32(record, 36, 2); /* context */
    put32(record, 40, 8); /* stream */
    put32(record, 44, 1); /* source device, context, target's */
    put32(record, 48, 2);
    put32(record, 52, 3);
    put32(record, 56, 4);
    put32(record, 60, 55); /* correlation */
    put64(record, 72, 66);
    put32(record, 80, 77);
    decode();
    assert_string_equal(text_of(shape_at(0)->label), "memcpy PtoP");
    assert_int_equal(shape_at(0)->bytes, 1 << 20);
    assert_int_equal(shape_at(0)->graph_node, 66);
    assert_int_equal(shape_at(0)->graph, 77);
    assert_int_equal(activity_at(0)->correlation, 55);
    assert_int_equal(activity_at(0)->device, 1);
    assert_int_equal(activity_at(0)->context, 2);
    assert_int_equal(activity_at(0)->stream, 8);
}

/* Nodes of graphs without times: unfinished where a forced flush gave them up, otherwise lost by
 * CUPTI. */
static void nodes_without_times(void **state)
{
    (void)state;
    for (int forced = 0; forced < 2; forced++) {
        store.is_forced_flush = forced;
        uint8_t *node = record_kernel(&buffer, "k", 0, 0, 1);
        put32(node, 156, 9); /* graph */
        node = record_set(&buffer, 64, 0, 0, 1);
        put32(node, 72, 9);
        record_kernel(&buffer, "k", 0, 0, 2);
        decode();
        assert_int_equal(activity_count(), forced ? 6 : 3);
        if (forced)
            assert_losses(4, 2, 0);
        else
            assert_losses(1, 2, 0);
    }
    store.is_forced_flush = false;
}

static void sets_and_graphs(void **state)
{
    (void)state;
    uint8_t *record = record_set(&buffer, 40000000, T0, T0 + 21504, 3);
    put64(record, 64, 5);
    put32(record, 72, 6);
    record = record_add(&buffer, RECORD_GRAPH);
    put32(record, 4, 8);
    put64(record, 8, T0 + 1);
    put64(record, 16, T0 + 11);
    put32(record, 24, 0);
    put32(record, 28, 12); /* graph */
    put32(record, 32, 1);
    put32(record, 36, 7);
    decode();
    const tkt_shape set = {.bytes = 40000000,
                           .graph_node = 5,
                           .graph = 6,
                           .label = shape_at(0)->label,
                           .filter = TAKT_TIMING_MEMSET,
                           .target = TAKT_MEMORY_DEVICE};
    const tkt_shape graph = {.graph = 12, .label = shape_at(1)->label, .filter = TAKT_TIMING_GRAPH};
    assert_memory_equal(shape_at(0), &set, sizeof set);
    assert_string_equal(text_of(set.label), "memset");
    assert_memory_equal(shape_at(1), &graph, sizeof graph);
    assert_string_equal(text_of(graph.label), "graph 12");
    assert_int_equal(activity_at(1)->correlation, 8);
    assert_int_equal(activity_at(1)->end - activity_at(1)->begin, 10);
    assert_int_equal(activity_at(1)->stream, 7);
}

/* It has no device where it begins. */
static void a_graph_that_begins_on_the_host(void **state)
{
    (void)state;
    uint8_t *record = record_add(&buffer, RECORD_GRAPH);
    put64(record, 8, T0 + 21);
    put64(record, 16, T0 + 31);
    put32(record, 24, INT32_MAX);
    put32(record, 32, INT32_MAX);
    put32(record, 48, 3);
    put32(record, 52, 9);
    decode();
    assert_int_equal(activity_at(0)->device, 3);
    assert_int_equal(activity_at(0)->context, 9);
    assert_int_equal(store.losses.unknown, 0);
}

static uint8_t *add_memory(uint32_t operation, uint32_t kind, uint64_t address, uint64_t bytes,
                           uint64_t time)
{
    uint8_t *record = record_add(&buffer, RECORD_MEMORY);
    put32(record, 4, operation);
    put32(record, 8, kind);
    put32(record, 12, 21);
    put64(record, 16, address);
    put64(record, 24, bytes);
    put64(record, 32, time);
    return record;
}

static void put_pool(uint8_t *record, uint32_t type, uint64_t address, uint64_t size)
{
    put32(record, 80, type);
    put64(record, 88, address);
    put64(record, 104, size);
}

static void allocations_and_frees(void **state)
{
    (void)state;
    add_memory(1, TAKT_MEMORY_DEVICE, 0x1000, 4096, T0);
    add_memory(1, TAKT_MEMORY_PINNED, 0x2000, 100, T0 + 1);
    add_memory(2, TAKT_MEMORY_DEVICE, 0x1000, 4096, T0 + 2);
    add_memory(0, TAKT_MEMORY_DEVICE, 0x3000, 1, T0 + 3);          /* what operation? */
    add_memory(1, TAKT_MEMORY_DEVICE, 0x3000, UINT64_MAX, T0 + 3); /* as many bytes? */
    decode();
    assert_int_equal(store.memory.count, 3);
    const tkt_stored_memory expected = {.time = T0 + 2,
                                        .address = 0x1000,
                                        .bytes = -4096,
                                        .correlation = 21,
                                        .kind = TAKT_MEMORY_DEVICE,
                                        .sequence = 2};
    assert_memory_equal(&store.memory.items[2], &expected, sizeof expected);
    assert_int_equal(store.memory.items[1].kind, TAKT_MEMORY_PINNED);
    assert_losses(0, 0, 2);
}

/* Pools tell their size with each allocation: it counts when it changes. */
static void pools_grow_and_shrink(void **state)
{
    (void)state;
    put_pool(add_memory(1, TAKT_MEMORY_DEVICE, 0x1000, 10, T0), 1, 0xF00, 1000);
    put_pool(add_memory(1, TAKT_MEMORY_DEVICE, 0x2000, 20, T0 + 1), 1, 0xF00, 1000);
    put_pool(add_memory(1, TAKT_MEMORY_DEVICE, 0x3000, 30, T0 + 2), 2, 0xF00, 5); /* imported */
    uint8_t *trimmed = record_add(&buffer, RECORD_POOL);
    put32(trimmed, 4, 3);
    put32(trimmed, 8, 1);
    put32(trimmed, 12, 31);
    put64(trimmed, 32, 0xF00);
    put64(trimmed, 40, 600);
    put64(trimmed, 56, T0 + 3);
    uint8_t *destroyed = record_add(&buffer, RECORD_POOL);
    put32(destroyed, 4, 2);
    put32(destroyed, 8, 1);
    put64(destroyed, 32, 0xF00);
    put64(destroyed, 40, 600);
    put64(destroyed, 56, T0 + 4);
    decode();
    static const int64_t bytes[] = {10, 1000, 20, 30, -400, -600};
    static const uint32_t is_pool[] = {0, 1, 0, 0, 1, 1};
    assert_int_equal(store.memory.count, 6);
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(store.memory.items[i].bytes, bytes[i]);
        assert_int_equal(store.memory.items[i].is_pool, is_pool[i]);
    }
    assert_int_equal(store.memory.items[1].address, 0xF00);
    assert_int_equal(store.memory.items[4].correlation, 31);
    assert_int_equal(store.memory.items[4].time, T0 + 3);
    assert_int_equal(store.pools.count, 0);
}

/* A record that comes late is of an earlier size. */
static void the_latest_size_of_a_pool_counts(void **state)
{
    (void)state;
    put_pool(add_memory(1, TAKT_MEMORY_DEVICE, 0x3000, 10, T0 + 2), 1, 0xF00, 3000);
    put_pool(add_memory(1, TAKT_MEMORY_DEVICE, 0x2000, 10, T0 + 1), 1, 0xF00, 2000);
    put_pool(add_memory(1, TAKT_MEMORY_DEVICE, 0x1000, 10, T0), 1, 0xF00, 1000);
    decode();
    assert_int_equal(*tkt_map_get(&store.pools, 0xF00), 3000);
    assert_int_equal(store.memory.count, 4);
    assert_int_equal(store.memory.items[1].bytes, 3000);
}

/* cuEventQuery() and cuStreamQuery() of unfinished work. */
static void a_poll_is_no_wait(void **state)
{
    (void)state;
    for (uint32_t result = 0; result <= 719; result += result == 0 ? 600 : 119) {
        uint8_t *wait = record_add(&buffer, RECORD_SYNC);
        put32(wait, 4, 1);
        put64(wait, 8, T0);
        put64(wait, 16, T0 + 50);
        put32(wait, 24, 1 + result);
        put32(wait, 48, result);
    }
    decode();
    assert_int_equal(store.waits.count, 2);
    assert_int_equal(store.waits.items[0].correlation, 1);
    assert_int_equal(store.waits.items[1].correlation, 720);
}

static void waits_and_overheads(void **state)
{
    (void)state;
    uint8_t *wait = record_add(&buffer, RECORD_SYNC);
    put32(wait, 4, 4);
    put64(wait, 8, T0);
    put64(wait, 16, T0 + 50);
    put32(wait, 24, 6);
    put32(wait, 28, 1);
    put32(wait, 32, UINT32_MAX);
    for (uint32_t object = 1; object <= 2; object++) {
        uint8_t *overhead = record_add(&buffer, RECORD_OVERHEAD);
        put32(overhead, 4, 2u << 16);
        put32(overhead, 8, object); /* a process, a thread */
        put32(overhead, 12, 1000);
        put32(overhead, 16, 1001);
        put64(overhead, 24, T0 + 7);
        put64(overhead, 32, T0 + 9);
    }
    decode();
    const tkt_stored_wait expected = {.begin = T0,
                                      .end = T0 + 50,
                                      .correlation = 6,
                                      .context = 1,
                                      .stream = UINT32_MAX,
                                      .kind = 4};
    const tkt_stored_overhead of_thread = {
        .begin = T0 + 7, .end = T0 + 9, .kind = 2u << 16, .thread = 1001, .sequence = 2};
    /* Field by field where padding follows. */
    assert_memory_equal(&store.waits.items[0], &expected, offsetof(tkt_stored_wait, event));
    assert_int_equal(store.waits.items[0].event, 0);
    assert_int_equal(store.waits.items[0].sync_id, 0);
    assert_int_equal(store.waits.items[0].sequence, 0);
    assert_int_equal(store.overheads.items[0].thread, 0);
    assert_memory_equal(&store.overheads.items[1], &of_thread, sizeof of_thread);
}

/* The event is recorded twice before the wait and once after it; CUPTI from 12.8 on has sync ids,
 * which decide where threads record at once. Another context has an event of the same number. */
static void waits_find_the_record_of_their_event(void **state)
{
    (void)state;
    const uint32_t correlations[] = {3, 5, 9, 4};
    for (uint32_t i = 0; i < 4; i++) {
        uint8_t *event = record_add(&buffer, RECORD_EVENT);
        put32(event, 4, correlations[i]);
        put32(event, 8, i == 3 ? 2 : 1);
        put32(event, 12, 10 + i);
        put32(event, 16, 77);
    }
    uint8_t *wait = record_add(&buffer, RECORD_SYNC);
    put32(wait, 4, TAKT_WAIT_STREAM_EVENT);
    put64(wait, 8, T0);
    put64(wait, 16, T0);
    put32(wait, 24, 6);
    put32(wait, 28, 1);
    put32(wait, 32, 20);
    put32(wait, 36, 77);
    decode();
    tkt_records records;
    assert_int_equal(store.records.count, 4);
    assert_int_equal(tkt_records_init(&records, &store), TAKT_OK);
    assert_int_equal(tkt_records_find(&records, &store.waits.items[0])->correlation, 5);
    assert_int_equal(tkt_records_find(&records, &store.waits.items[0])->stream, 11);
    for (size_t i = 0; i < records.count; i++)
        records.items[i].sync_id = records.items[i].correlation;
    tkt_stored_wait late = store.waits.items[0];
    late.sync_id = 9;
    assert_int_equal(tkt_records_find(&records, &late)->stream, 12);
    late.sync_id = 1000;
    assert_null(tkt_records_find(&records, &late));
    late = (tkt_stored_wait){.context = 1, .correlation = 6, .event = 78};
    assert_null(tkt_records_find(&records, &late));
    tkt_records_fini(&records);
}

static uint8_t *add_device(uint32_t id)
{
    uint8_t *record = record_add(&buffer, RECORD_DEVICE);
    put64(record, 16, UINT64_C(80) << 30);
    put32(record, 32, 32);
    put32(record, 36, 1980000);
    put32(record, 44, 132);
    put32(record, 52, 64);
    put32(record, 56, 32);
    put32(record, 60, 233472);
    put32(record, 64, 65536);
    put32(record, 68, 65535);
    put32(record, 72, 49152);
    put32(record, 76, 1024);
    put32(record, 104, 9);
    put32(record, 108, 1);
    put32(record, 112, id);
    put_text(record, 136, "A device of this test");
    record[144] = 1;
    return record;
}

static void a_device_is_filled_where_it_is_not_known(void **state)
{
    (void)state;
    tkt_store_device(&store, 0)->multiprocessors = 7; /* the driver said so */
    add_device(0);
    put32(add_device(1), 104, 8);
    put32(add_device(2), 104, 7);
    add_device(3)[144] = 0; /* not the program's */
    decode();
    assert_int_equal(store.devices.count, 3);
    assert_int_equal(store.devices.items[1].reserved_shared_per_block, 1024); /* 8.1 */
    assert_int_equal(store.devices.items[2].reserved_shared_per_block, 0);    /* 7.1 */
    const tkt_device *device = &store.devices.items[0];
    const tkt_device expected = {.label = device->label,
                                 .name = device->name,
                                 .major = 9,
                                 .minor = 1,
                                 .multiprocessors = 7,
                                 .warp_size = 32,
                                 .max_threads_per_block = 1024,
                                 .max_threads_per_multiprocessor = 2048,
                                 .max_blocks_per_multiprocessor = 32,
                                 .registers_per_block = 65535,
                                 .registers_per_multiprocessor = 65536,
                                 .shared_per_block = 49152,
                                 .shared_per_multiprocessor = 233472,
                                 .reserved_shared_per_block = 1024,
                                 .clock_khz = 1980000,
                                 .memory_bytes = UINT64_C(80) << 30};
    assert_memory_equal(device, &expected, sizeof expected);
    assert_string_equal(text_of(device->name), "A device of this test");
}

/* CUPTI hands over buffers in any order, and its ids wrap around. */
static void the_earliest_launch_of_a_device_counts_in_any_order(void **state)
{
    (void)state;
    static const uint32_t ids[] = {0, 7, 9, 4294967290, 5};
    static const uint32_t first[] = {0, 7, 7, 4294967290, 4294967290};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        record_kernel(&buffer, "inc_loop", T0 + 10 * i, T0 + 10 * i + 5, ids[i]);
        decode();
        assert_int_equal(store.devices.items[0].first_correlation, first[i]);
    }
}

static void losses_are_counted_by_cause(void **state)
{
    const tkt_clock_pair pair = {.ticks = 1, .cupti_ns = T0};
    const uint64_t day = UINT64_C(86400000000000);
    (void)state;
    assert_true(tkt_cuda_clock_add(&store.clock, &pair));
    record_kernel(&buffer, "k", 0, 0, 1);                        /* incomplete */
    record_kernel(&buffer, "k", T0, 0, 2);                       /* incomplete */
    record_kernel(&buffer, "k", T0 + 1, T0, 3);                  /* bad time */
    record_kernel(&buffer, "k", 0, T0, 4);                       /* bad time */
    record_copy(&buffer, 1, 1, T0, T0 + 2 * day, 5);             /* bad time */
    record_set(&buffer, 1, T0 - 2 * day, T0, 6);                 /* bad time */
    put32(record_kernel(&buffer, "k", T0, T0 + 1, 7), 40, 5000); /* unknown device */
    add_memory(1, TAKT_MEMORY_DEVICE, 1, 1, 0);                  /* bad time */
    record_kernel(&buffer, "k", T0 - day / 2, T0 + day / 2, 8);  /* unlikely, but may be */
    record_kernel(&buffer, "k", T0, T0, 9);                      /* short, but may be */
    record_add(&buffer, RECORD_RUNTIME);                         /* of no use */
    decode();
    assert_int_equal(activity_count(), 8);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(activity_at(i)->correlation, i + 1);
    assert_int_equal(activity_at(6)->correlation, 8);
    assert_int_equal(tkt_stored_loss(activity_at(6)) + tkt_stored_loss(activity_at(7)), 0);
    assert_losses(2, 5, 1);
}

static void a_record_that_cannot_be_stepped_over_ends_the_buffer(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 4; round++) {
        record_kernel(&buffer, "k", T0, T0 + 1, 1);
        uint8_t *record = record_kernel(&buffer, "k", T0, T0 + 1, 2);
        record_kernel(&buffer, "k", T0, T0 + 1, 3);
        static const uint32_t kinds[] = {0, 60, TKT_CUPTI_KINDS, UINT32_MAX};
        put32(record, 0, kinds[round]);
        decode();
        assert_int_equal(activity_count(), round + 1);
        assert_losses(0, 0, round + 1);
    }
}

static void a_cut_buffer_is_read_up_to_the_cut(void **state)
{
    (void)state;
    record_kernel(&buffer, "k", T0, T0 + 1, 1);
    record_kernel(&buffer, "k", T0, T0 + 1, 2);
    for (size_t size = 0; size <= 2 * 216; size++) {
        uint64_t before = store.losses.unknown;
        size_t count = activity_count();
        uint8_t *exact = malloc(size ? size : 1);
        assert_non_null(exact);
        memcpy(exact, buffer.bytes, size);
        tkt_decode(&store, &buffer.sizes, exact, size);
        free(exact);
        assert_int_equal(activity_count() - count, size / 216);
        assert_int_equal(store.losses.unknown - before, size % 216 != 0);
    }
}

/* A quarter of the room is for them; then nodes are no longer told apart, and nothing is lost. */
static void graphs_without_end_do_not_fill_the_store(void **state)
{
    (void)state;
    store.max_bytes = 8192 * sizeof(tkt_stored_activity);
    size_t most = store.max_bytes / 4 / sizeof(tkt_shape);
    for (uint32_t i = 0; i < 3000; i++) {
        uint8_t *record = record_kernel(&buffer, "node", T0, T0 + 1, i);
        put64(record, 144, 1 + i);
        put32(record, 156, 1 + i / 100);
        if (i % 100 == 99)
            decode();
    }
    assert_int_equal(activity_count(), 3000);
    assert_int_equal(store.losses.store_full, 0);
    assert_true(most < 2500 && store.shapes.count <= most + 2);
    assert_int_equal(shape_at(500)->graph_node, 501);
    assert_int_equal(shape_at(500)->graph, 6);
    assert_int_equal(shape_at(2999)->graph_node, 0);
    assert_int_equal(shape_at(2999)->graph, 0);
}

/* Durations of 32 to 6400 ns in steps of 32. The store of the process collects them. */
static void durations_tell_the_step_of_the_devices_clock(void **state)
{
    (void)state;
    tkt_durations durations = {.count = 0};
    assert_true(isnan(tkt_store_step_ns(&store)));
    store.durations = &durations;
    for (uint32_t i = 1; i <= 200; i++) {
        record_kernel(&buffer, "k", T0, T0 + 32 * i, i);
        if (i % 50 == 0)
            decode();
    }
    assert_true(tkt_store_step_ns(&store) == 32);
    assert_non_null(tkt_store_get()->durations);
}

static void without_room_it_is_counted(void **state)
{
    (void)state;
    record_kernel(&buffer, "a kernel with a name", T0, T0 + 1, 1);
    record_copy(&buffer, 1, 1, T0, T0 + 1, 2);
    store.max_bytes = 0;
    tkt_decode(&store, &buffer.sizes, buffer.bytes, buffer.used);
    assert_int_equal(activity_count(), 0);
    assert_int_equal(store.losses.store_full, 2);
}

/* With the n-th allocation failing, nothing breaks, and each record is there or counted. */
static void without_memory_it_is_counted(void **state)
{
    for (uint64_t failing = 0; failing < 30; failing++) {
        end(state);
        begin_13(state);
        record_kernel(&buffer, "a", T0, T0 + 1, 1);
        record_kernel(&buffer, "b", T0, T0 + 1, 2);
        record_copy(&buffer, 1, 1, T0, T0 + 1, 3);
        record_set(&buffer, 1, T0, T0 + 1, 4);
        tkt_alloc_fail(failing, 1);
        decode();
        tkt_alloc_fail(0, 0);
        assert_int_equal(activity_count() + store.losses.store_full, 4);
        for (size_t i = 0; i < activity_count(); i++)
            assert_true(text_of(shape_at(i)->label)[0] != '\0');
    }
}

/* Of "PTX to CUBIN" and of "NVVM-IR to PTX": a compilation, a load from the cache. */
static void just_in_time_compilations(void **state)
{
    (void)state;
    for (uint32_t entry = 1; entry <= 2; entry++) {
        uint8_t *jit = record_add(&buffer, RECORD_JIT);
        put32(jit, 4, entry);
        put32(jit, 8, entry == 1 ? 1 : 3);
        put64(jit, 16, T0 + entry);
        put64(jit, 24, T0 + 9);
        put32(jit, 32, 77); /* correlation */
        put32(jit, 64, 1000);
        put32(jit, 68, 1001);
    }
    decode();
    const tkt_stored_overhead *loaded = &store.overheads.items[0];
    assert_int_equal(store.overheads.count, 2);
    assert_int_equal(loaded->begin, T0 + 1);
    assert_int_equal(loaded->end, T0 + 9);
    assert_int_equal(loaded->thread, 1001);
    assert_string_equal(tkt_overhead_name(loaded[0].kind), "JIT Cache Load");
    assert_string_equal(tkt_overhead_name(loaded[1].kind), "JIT Compilation of NVVM");
    assert_true(tkt_overhead_is_loading(loaded[1].kind));
    assert_true(tkt_overhead_is_loading(5u << 16));
    assert_false(tkt_overhead_is_loading(1u << 16));
    assert_int_equal(store.losses.unknown, 0);
}

#define ON_13(test) cmocka_unit_test_setup_teardown(test, begin_13, end)
#define ON_11(test) cmocka_unit_test_setup_teardown(test, begin_11, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_13(a_kernel_has_all_its_fields),
        ON_11(old_records_have_what_fits),
        ON_13(what_no_window_wants_is_not_kept),
        ON_13(every_length_of_a_kernel_record_is_read_safely),
        ON_13(the_same_launch_is_one_shape),
        ON_11(the_same_launch_is_one_shape),
        ON_13(an_address_with_another_name_is_another_kernel),
        ON_13(names_are_demangled_and_judged),
        ON_13(occupancy_is_of_the_device_that_ran_it),
        ON_13(copies_have_direction_and_memory),
        ON_11(copies_have_direction_and_memory),
        ON_13(a_copy_between_devices_is_the_ones_that_did_it),
        ON_11(a_copy_between_devices_is_the_ones_that_did_it),
        ON_13(nodes_without_times),
        ON_13(sets_and_graphs),
        ON_11(sets_and_graphs),
        ON_13(a_graph_that_begins_on_the_host),
        ON_13(allocations_and_frees),
        ON_13(pools_grow_and_shrink),
        ON_13(the_latest_size_of_a_pool_counts),
        ON_11(pools_grow_and_shrink),
        ON_13(waits_and_overheads),
        ON_13(a_poll_is_no_wait),
        ON_13(waits_find_the_record_of_their_event),
        ON_11(waits_and_overheads),
        ON_13(just_in_time_compilations),
        ON_13(a_device_is_filled_where_it_is_not_known),
        ON_13(the_earliest_launch_of_a_device_counts_in_any_order),
        ON_13(losses_are_counted_by_cause),
        ON_13(a_record_that_cannot_be_stepped_over_ends_the_buffer),
        ON_13(a_cut_buffer_is_read_up_to_the_cut),
        ON_13(durations_tell_the_step_of_the_devices_clock),
        ON_13(graphs_without_end_do_not_fill_the_store),
        ON_13(without_room_it_is_counted),
        ON_13(without_memory_it_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
