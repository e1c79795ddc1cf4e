/* Decoding CUPTI's records: buffers such as CUPTI fills, made by hand, into the store. The records
 * are of three kinds of programs: one that launches a few kernels over and over, one that mixes
 * many kernels of long names with copies and sets, and one that launches a graph of a thousand
 * nodes. */
#include "bench.h"

#include "../support/cupti_records.h"
#include "cuda/cupti.h"

#include <stdio.h>

#define RECORDS     300u /* in a buffer */
#define ROUNDS      20000u
#define NAMES       200u
#define GRAPH_NODES 1000u
#define T0          UINT64_C(1700000000000000000)

typedef void (*filler)(record_buffer *buffer, uint32_t number);

static char names[NAMES][256];

static void fill_loop(record_buffer *buffer, uint32_t number)
{
    static const char *const loop[] = {"density", "forces", "integrate"};
    record_kernel(buffer, loop[number % 3], T0 + number, T0 + number + 500, number);
}

static void fill_mixed(record_buffer *buffer, uint32_t number)
{
    uint32_t random = number * 2654435761u >> 8;
    uint64_t begin = T0 + number;
    if (number % 10 == 0)
        record_copy(buffer, 1 + random % 2, 4096 << random % 4, begin, begin + 700, number);
    else if (number % 10 == 1)
        record_set(buffer, 4096 << random % 4, begin, begin + 300, number);
    else
        put32(record_kernel(buffer, names[random % NAMES], begin, begin + 500, number), 52,
              1 + (random >> 8) % 4);
}

static void fill_graph(record_buffer *buffer, uint32_t number)
{
    uint8_t *record = record_kernel(buffer, names[number % 8], T0 + number, T0 + number + 500,
                                    number / GRAPH_NODES);
    put64(record, 144, 1 + number % GRAPH_NODES);
    put32(record, 156, 5);
}

/* The buffers of a program, decoded one after another, ROUNDS in all. Returns ns a record, and how
 * many bytes one has; 0 where not all came through. */
static double decode(filler fill, double *bytes)
{
    static record_buffer buffers[10];
    tkt_store *store = tkt_store_get();
    store->max_bytes = UINT64_C(1) << 30;
    for (uint32_t i = 0; i < 10; i++) {
        buffers[i].sizes = record_sizes_13();
        buffers[i].used = 0;
        for (uint32_t j = 0; j < RECORDS; j++)
            fill(&buffers[i], i * RECORDS + j);
    }
    *bytes = (double)buffers[0].used / RECORDS;
    double begin = bench_cpu_seconds();
    for (uint32_t i = 0; i < ROUNDS; i++) {
        const record_buffer *buffer = &buffers[i % 10];
        tkt_decode(store, &buffer->sizes, buffer->bytes, buffer->used);
        if (i % 100 == 99) /* not all: shapes stay */
            tkt_store_release(tkt_store_position() - 1, 0);
    }
    double seconds = bench_cpu_seconds() - begin;
    uint64_t decoded = tkt_store_position();
    tkt_store_fini(store);
    bool is_whole = decoded == (uint64_t)RECORDS * ROUNDS && tkt_store_init(store) == TAKT_OK;
    return is_whole ? seconds * 1e9 / (double)decoded : 0;
}

static void tell(const char *name, filler fill, double max_ratio)
{
    double bytes;
    double ns = decode(fill, &bytes);
    if (ns > 0)
        bench_tell(
            (bench_figure){.name = name,
                           .value = ns,
                           .unit = "ns/act",
                           .floor = bench_floor_ns(bytes + (double)sizeof(tkt_stored_activity), 0),
                           .max_ratio = max_ratio});
    else
        bench_tell_missing(name, "not all records were decoded");
}

void bench_cuda(void)
{
    for (uint32_t i = 0; i < NAMES; i++)
        snprintf(
            names[i], sizeof names[i],
            "_ZN9simulator7kernels%ukernel_%04uINS_9particlesINS_6deviceEEENS_12smoothing_%04uE"
            "EvT_T0_PKfS6_Pfi",
            11u, i, i);
    tell("cuda_decode", fill_loop, 3);
    tell("cuda_decode_mixed", fill_mixed, 3);
    tell("cuda_decode_graph", fill_graph, 3);
}
