/* Records as CUPTI writes them, made by hand for tests. The places of their fields are written down
 * here once more, from the layouts of CUPTI 13.0 and not from src/cuda/abi.h: a slip in one of them
 * shows. */
#ifndef TEST_CUPTI_RECORDS_H
#define TEST_CUPTI_RECORDS_H

#include "cuda/cupti.h"

#include <string.h>

enum {
    RECORD_MEMCPY = 1,
    RECORD_MEMSET = 2,
    RECORD_RUNTIME = 5,
    RECORD_DEVICE = 8,
    RECORD_CONTEXT = 9,
    RECORD_KERNEL = 10,
    RECORD_OVERHEAD = 17,
    RECORD_MEMCPY_PEER = 22,
    RECORD_EVENT = 36,
    RECORD_SYNC = 38,
    RECORD_MEMORY = 49,
    RECORD_POOL = 50,
    RECORD_GRAPH = 51,
    RECORD_JIT = 52
};

/* What libraries of these versions write. */
static inline tkt_record_sizes record_sizes_13(void)
{
    return (tkt_record_sizes){.bytes = {[RECORD_MEMCPY] = 96,
                                        [RECORD_MEMSET] = 88,
                                        [3] = 216,
                                        [4] = 40,
                                        [RECORD_RUNTIME] = 40,
                                        [RECORD_DEVICE] = 184,
                                        [RECORD_CONTEXT] = 32,
                                        [RECORD_KERNEL] = 216,
                                        [RECORD_OVERHEAD] = 56,
                                        [RECORD_MEMCPY_PEER] = 96,
                                        [RECORD_EVENT] = 56,
                                        [RECORD_SYNC] = 56,
                                        [RECORD_MEMORY] = 128,
                                        [RECORD_POOL] = 80,
                                        [RECORD_GRAPH] = 56,
                                        [RECORD_JIT] = 72}};
}

static inline tkt_record_sizes record_sizes_11(void)
{
    return (tkt_record_sizes){.bytes = {[RECORD_MEMCPY] = 80,
                                        [RECORD_MEMSET] = 80,
                                        [RECORD_RUNTIME] = 40,
                                        [RECORD_DEVICE] = 176,
                                        [RECORD_CONTEXT] = 16,
                                        [RECORD_KERNEL] = 144,
                                        [RECORD_OVERHEAD] = 40,
                                        [RECORD_MEMCPY_PEER] = 88,
                                        [RECORD_EVENT] = 24,
                                        [RECORD_SYNC] = 40,
                                        [RECORD_MEMORY] = 120,
                                        [RECORD_POOL] = 72,
                                        [RECORD_GRAPH] = 48}};
}

/* A buffer that fills up with records. */
typedef struct record_buffer {
    tkt_record_sizes sizes;
    size_t used;
    uint8_t bytes[1 << 16];
} record_buffer;

/* A zeroed record behind the others. The buffer has to be large enough. */
static inline uint8_t *record_add(record_buffer *buffer, uint32_t kind)
{
    uint8_t *record = buffer->bytes + buffer->used;
    buffer->used += buffer->sizes.bytes[kind];
    memset(record, 0, buffer->sizes.bytes[kind]);
    memcpy(record, &kind, sizeof kind);
    return record;
}

static inline void put64(uint8_t *record, size_t offset, uint64_t value)
{
    memcpy(record + offset, &value, 8);
}

static inline void put32(uint8_t *record, size_t offset, uint32_t value)
{
    memcpy(record + offset, &value, 4);
}

static inline void put_text(uint8_t *record, size_t offset, const char *text)
{
    memcpy(record + offset, &text, sizeof text);
}

/* The fields that every version has. */
static inline uint8_t *record_kernel(record_buffer *buffer, const char *name, uint64_t begin,
                                     uint64_t end, uint32_t correlation)
{
    uint8_t *record = record_add(buffer, RECORD_KERNEL);
    record[6] = 32;          /* registers */
    put64(record, 16, begin);
    put64(record, 24, end);
    put32(record, 40, 0);    /* device */
    put32(record, 44, 1);    /* context */
    put32(record, 48, 7);    /* stream */
    put32(record, 52, 1000); /* grid */
    put32(record, 56, 2);
    put32(record, 60, 1);
    put32(record, 64, 256);  /* block */
    put32(record, 68, 1);
    put32(record, 72, 1);
    put32(record, 92, correlation);
    put_text(record, 104, name);
    return record;
}

static inline uint8_t *record_copy(record_buffer *buffer, uint8_t kind, uint64_t bytes,
                                   uint64_t begin, uint64_t end, uint32_t correlation)
{
    uint8_t *record = record_add(buffer, RECORD_MEMCPY);
    record[4] = kind;
    put64(record, 8, bytes);
    put64(record, 16, begin);
    put64(record, 24, end);
    put32(record, 36, 1);
    put32(record, 40, 7);
    put32(record, 44, correlation);
    return record;
}

static inline uint8_t *record_set(record_buffer *buffer, uint64_t bytes, uint64_t begin,
                                  uint64_t end, uint32_t correlation)
{
    uint8_t *record = record_add(buffer, RECORD_MEMSET);
    put64(record, 8, bytes);
    put64(record, 16, begin);
    put64(record, 24, end);
    put32(record, 36, 1);
    put32(record, 40, 7);
    put32(record, 44, correlation);
    record[50] = 3; /* of device memory */
    return record;
}

#endif
