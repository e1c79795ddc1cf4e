/* The buffers that CUPTI fills: a bounded pool. CUPTI asks for one on the program's threads and
 * gives it back on any; the collector alone empties, zeroes and returns them, and makes the pool
 * grow. No locks. */
#ifndef TKT_CUDA_BUFFERS_H
#define TKT_CUDA_BUFFERS_H

#include "cuda/decode.h"

#define TKT_BUFFER_BYTES ((size_t)1 << 20)
#define TKT_MAX_BUFFERS  256u

/* Called by CUPTI: tkt_cupti_requested and tkt_cupti_completed. */
void tkt_buffers_request(uint8_t **buffer, size_t *bytes, size_t *max_records);
void tkt_buffers_complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
                          size_t valid_bytes);

/* By the collector, all of these. */

/* Before the first request: the sizes that records have, which stay the caller's, and whether CUPTI
 * can be refused a buffer. Where it cannot, there are a few small ones for when no other is left;
 * what they hold is thrown away. False without memory. */
bool tkt_buffers_setup(const tkt_record_sizes *sizes, bool may_refuse);

/* Keeps some buffers in reserve, up to `limit` in all. False when there is none. */
bool tkt_buffers_grow(size_t limit);

/* Gives each buffer that has come back to `use`, in the order in which they came. */
void tkt_buffers_drain(void (*use)(const void *buffer, size_t valid_bytes));

/* What went wrong since the last time. */
typedef struct tkt_buffer_losses {
    uint64_t records; /* thrown away */
    uint64_t foreign; /* buffers given back that were not handed out */
} tkt_buffer_losses;
tkt_buffer_losses tkt_buffers_take_losses(void);

/* Begins an era, before a flush; and whether CUPTI still has a buffer that it got before. */
void tkt_buffers_begin_era(void);
bool tkt_buffers_are_late(void);

#endif
