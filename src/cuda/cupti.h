/* CUPTI: finding the library, subscribing to it, reading its records, and explaining why it cannot
 * be used. */
#ifndef TKT_CUDA_CUPTI_H
#define TKT_CUDA_CUPTI_H

#include "cuda/abi.h"
#include "cuda/driver.h"
#include "cuda/store.h"

#include <takt/system.h>

/* ======== Where libcupti is ======== */

enum {
    TKT_MAX_PLACES = 64 /* places that a search tries; further ones are ignored */
};

/* A search for libcupti and its result at each place. */
typedef struct tkt_cupti_search {
    takt_cuda_place places[TKT_MAX_PLACES];
    int             newer[TKT_MAX_PLACES]; /* the file's release if it was put aside as too new;
                                            * 0 */
    uint32_t        count;
    int             driver_release; /* from cuDriverGetVersion(): 12040 for 12.4 */
    void           *library;        /* NULL: none was found */
} tkt_cupti_search;

/* Looks for libcupti and loads it; an unusable file is skipped. A libcupti newer than the driver's
 * release (0: unknown) is loaded only if no older one is found. */
void tkt_cupti_find(tkt_cupti_search *search, int driver_release);

/* ======== Its records ======== */

/* From CUPTI's raw activity records to the store. Takt steps over records with its own table of
 * sizes, so it can read buffers of any CUPTI version, and recorded ones. */

/* The size of a record of each kind in the CUPTI that wrote it; 0: unknown kind. */
typedef struct tkt_record_sizes {
    uint16_t bytes[TKT_CUPTI_KINDS];
} tkt_record_sizes;

/* Returns the record at *at with its kind, and moves *at behind it. Returns NULL at the end of the
 * buffer. Also returns NULL, with *at before the end, at a truncated record or one of unknown
 * kind. */
const uint8_t *tkt_record_next(const tkt_record_sizes *sizes, const uint8_t *buffer,
                               size_t valid_bytes, size_t *at, uint32_t *kind);

/* Decodes a buffer into the store, taking its lock. A record of unknown kind ends the decoding, and
 * the rest counts as one unknown record. Names that records point to are not used after this
 * call. */
void tkt_decode(tkt_store *store, const tkt_record_sizes *sizes, const void *buffer,
                size_t valid_bytes);

/* ======== The library ======== */

/* Versions of CUPTI (cuptiGetVersion) that changed its behaviour. */
#define TKT_CUPTI_11_8   18u
#define TKT_CUPTI_12_9   27u /* CUPTI accepts that a request for a buffer is refused */
#define TKT_CUPTI_13_0   130000u
#define TKT_CUPTI_13_0_1 130001u
#define TKT_CUPTI_13_1_1 130101u
#define TKT_CUPTI_13_3   130300u /* several subscribers, which use functions of their own */

typedef struct tkt_cupti {
#define TKT_CUPTI_MEMBER(member, symbol, is_required, parameters) int(*member) parameters;
    TKT_CUPTI_FUNCTION_LIST(TKT_CUPTI_MEMBER)
#undef TKT_CUPTI_MEMBER
    uint32_t         version;
    void            *subscriber; /* NULL: not subscribed */
    tkt_record_sizes sizes;
    tkt_cupti_search search;
} tkt_cupti;

#define TKT_REASON_BYTES 256

/* Finds the library, its functions and the sizes of its records. False with the reason, a sentence
 * without full stop. */
bool tkt_cupti_load(tkt_cupti *cupti, const tkt_driver *driver, char reason[TKT_REASON_BYTES]);

/* True if the sizes of records are known, at least of those that every release has. */
static inline bool tkt_cupti_is_measured(const tkt_cupti *cupti)
{
    const uint16_t *bytes = cupti->sizes.bytes;
    return bytes[TKT_KIND_CONCURRENT_KERNEL] && bytes[TKT_KIND_MEMCPY] && bytes[TKT_KIND_MEMSET];
}

/* Measures the sizes of records. False if CUPTI's iterator fails, as it may before Takt has
 * subscribed while another tool has. */
bool tkt_cupti_measure(tkt_cupti *cupti);

/* Becomes CUPTI's one subscriber. Returns a CUptiResult; on failure also the reason, and the caller
 * must call nothing else of CUPTI. */
int tkt_cupti_subscribe(tkt_cupti *cupti, tkt_cupti_callback callback,
                        char reason[TKT_REASON_BYTES]);

/* Makes the next subscription use cuptiSubscribe instead of cuptiSubscribe_v2. Call it when
 * functions without _v2 return TKT_CUPTI_NOT_COMPATIBLE. True once, for CUPTI 13.3 and later;
 * otherwise it changes nothing. */
bool tkt_cupti_go_back(tkt_cupti *cupti);

/* Writes the problem behind a CUptiResult and its remedy. `other` names the tool that is
 * subscribed; NULL or "" if unknown. */
void tkt_cupti_explain(char reason[TKT_REASON_BYTES], int result, const char *other);

/* Returns the CUDA release of a CUPTI version: 12040 for 12.4; 0: older than 11.8. */
int tkt_cupti_release(uint32_t version);

/* Writes a version as people know it: "CUPTI 13.0 (130001)". */
void tkt_cupti_describe(char *out, size_t size, uint32_t version);

#endif
