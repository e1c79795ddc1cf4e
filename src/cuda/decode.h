/* What the files that decode CUPTI's records share: the decoder, and reading of fields. */
#ifndef TKT_CUDA_DECODE_H
#define TKT_CUDA_DECODE_H

#include "cuda/abi.h"
#include "cuda/store.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef struct tkt_decoder {
    tkt_store *store;
    uint64_t earliest; /* plausible times */
    uint64_t latest;
    bool has_zero_nodes;
} tkt_decoder;

/* A record of at least TKT_WHOLE_RECORD bytes; shorter ones are padded with zeroes. */
typedef const uint8_t *tkt_record;

/* No field of any kind lies beyond this. */
#define TKT_WHOLE_RECORD 192
_Static_assert(TKT_AT_KERNEL_CLUSTER_Z + 4 <= TKT_WHOLE_RECORD, "kernels have fields behind");
_Static_assert(TKT_AT_DEVICE_IS_VISIBLE + 1 <= TKT_WHOLE_RECORD, "devices have fields behind");

static inline uint64_t tkt_get64(tkt_record at, size_t offset)
{
    uint64_t value; /* both of Takt's architectures are little-endian, as CUDA is */
    memcpy(&value, at + offset, sizeof value);
    return value;
}

static inline uint32_t tkt_get32(tkt_record at, size_t offset)
{
    uint32_t value;
    memcpy(&value, at + offset, sizeof value);
    return value;
}

static inline uint16_t tkt_get16(tkt_record at, size_t offset)
{
    uint16_t value;
    memcpy(&value, at + offset, sizeof value);
    return value;
}

static inline const char *tkt_get_text(tkt_record at, size_t offset)
{
    const char *text;
    memcpy(&text, at + offset, sizeof text);
    return text;
}

/* True for plausible times. */
static inline bool tkt_is_period(const tkt_decoder *d, uint64_t begin, uint64_t end)
{
    return end >= begin && begin >= d->earliest && end <= d->latest;
}

/* The general case of the next one. */
bool tkt_decode_is_new_device(tkt_decoder *d, uint32_t ordinal);

/* True if the store knows this device, or has room for it; otherwise the record counts as lost. */
static inline bool tkt_decode_is_device(tkt_decoder *d, uint32_t ordinal)
{
    return ordinal < d->store->devices.count || tkt_decode_is_new_device(d, ordinal);
}

/* ---- decode_names.c: the name of a kernel, of a kind of copy, and of sets. NULL without room.
 * ---- */

tkt_stored_name *tkt_decode_kernel_name(tkt_store *store, const char *text); /* NULL: unnamed */
tkt_stored_name *tkt_decode_copy_name(tkt_store *store, uint8_t kind);
tkt_stored_name *tkt_decode_set_name(tkt_store *store);

/* ---- decode_other.c: a record of a kind that is no activity ---- */

void tkt_decode_memory(tkt_decoder *d, tkt_record at);
void tkt_decode_pool(tkt_decoder *d, tkt_record at);
void tkt_decode_wait(tkt_decoder *d, tkt_record at);
void tkt_decode_event(tkt_decoder *d, tkt_record at);
void tkt_decode_overhead(tkt_decoder *d, tkt_record at);
void tkt_decode_jit(tkt_decoder *d, tkt_record at);
void tkt_decode_device(tkt_decoder *d, tkt_record at);

#endif
