/* The buffers that CUPTI fills. CUPTI asks for one on the program's threads and gives it back on
 * any thread; the collector alone decodes, zeroes and returns them.
 *
 * Size decides how long a record waits. CUPTI gives a buffer back when all of its records are
 * complete and it is full or somebody flushes; a forced flush gives up what is unfinished. On a
 * device that is never idle the buffer that a thread writes to always holds an unfinished record,
 * so only full ones come back. Each thread therefore gets buffers that it fills in a few hundredths
 * of a second: of one record where it launches rarely, of some hundreds where it launches all the
 * time. */
#ifndef TKT_CUDA_BUFFERS_H
#define TKT_CUDA_BUFFERS_H

#include "cuda/decode.h"

#define TKT_BUFFER_LEAST_BYTES ((size_t)4 << 10)
#define TKT_BUFFER_MOST_BYTES  ((size_t)64 << 10)

/* Called by CUPTI: tkt_cupti_requested and tkt_cupti_completed. */
void tkt_buffers_request(uint8_t **buffer, size_t *bytes, size_t *max_records);
void tkt_buffers_complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
                          size_t valid_bytes);

/* The rest is called by the collector. */

/* Before the first request: the sizes that records have, which stay the caller's, and whether CUPTI
 * can be refused a buffer. Where it cannot, there are a few small ones for when no other is left;
 * what they hold is thrown away. False without memory. */
bool tkt_buffers_setup(const tkt_record_sizes *sizes, bool may_refuse);

/* Lets all buffers together take so many bytes. Requests are refused beyond that, and only then. */
void tkt_buffers_limit(uint64_t bytes);

/* Bytes of all buffers, whoever has them. */
uint64_t tkt_buffers_bytes(void);

/* Gives each buffer that has come back to `use`, in the order in which they came. */
void tkt_buffers_drain(void (*use)(const void *buffer, size_t valid_bytes));

/* Frees unused buffers beyond this many bytes. */
void tkt_buffers_trim(uint64_t idle_bytes);

/* What went wrong since the last time. */
typedef struct tkt_buffer_losses {
    uint64_t records; /* thrown away */
    uint64_t foreign; /* buffers given back that were not handed out */
    uint64_t refused; /* requests */
} tkt_buffer_losses;
tkt_buffer_losses tkt_buffers_take_losses(void);

/* How many buffers were handed out so far; and whether all that were handed out before there were
 * `count` have come back and been drained. */
uint64_t tkt_buffers_count(void);
bool tkt_buffers_are_back(uint64_t count);

/* In a forked child: the thread that held the lock does not exist there. */
void tkt_buffers_forget(void);

#endif
