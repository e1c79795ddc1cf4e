/* From CUPTI's raw activity records to what the store holds. Records are walked with Takt's own
 * table of sizes, so that buffers of any CUPTI version, and recorded ones, can be read. */
#ifndef TKT_CUDA_DECODE_H
#define TKT_CUDA_DECODE_H

#include "cuda/abi.h"
#include "cuda/store.h"

/* Bytes of a record of each kind, as the library that wrote it lays it out; 0: kind not known. */
typedef struct tkt_record_sizes {
    uint16_t bytes[TKT_CUPTI_KINDS];
} tkt_record_sizes;

/* The record at *at, its kind, and *at moved behind it. NULL at the end of the buffer, or, with *at
 * before that, where a record is of no known kind or is cut. */
const uint8_t *tkt_record_next(const tkt_record_sizes *sizes, const uint8_t *buffer,
                               size_t valid_bytes, size_t *at, uint32_t *kind);

/* Decodes a buffer into the store, taking its lock. A record that cannot be stepped over ends the
 * buffer; the rest is counted as one unknown. Names that records point to are read here only. */
void tkt_decode(tkt_store *store, const tkt_record_sizes *sizes, const void *buffer,
                size_t valid_bytes);

#endif
