/* CUPTI, found and taken: which library, whether it can be used, and why not. */
#ifndef TKT_CUDA_CUPTI_H
#define TKT_CUDA_CUPTI_H

#include "cuda/abi.h"
#include "cuda/driver.h"
#include "cuda/store.h"

#include <takt/system.h>

/* ======== Where libcupti is ======== */

/* Where libcupti is looked for, and which one is taken. */

enum {
    TKT_MAX_PLACES = 64 /* places that a search looks into; further ones are left out */
};

/* A search and what it found, place by place. */
typedef struct tkt_cupti_search {
    takt_cuda_place places[TKT_MAX_PLACES];
    int             newer[TKT_MAX_PLACES]; /* its release, if too new and not tried; 0 */
    uint32_t        count;
    int             driver_release; /* of cuDriverGetVersion(): 12040 for 12.4 */
    void           *library;        /* NULL: none was found */
} tkt_cupti_search;

/* Looks for libcupti and loads it. No other is loaded, unless it turns out to be unusable. One that
 * is newer than the driver's release (0: not known) is taken only where no older one is found. */
void tkt_cupti_find(tkt_cupti_search *search, int driver_release);

/* ======== Its records ======== */

/* From CUPTI's raw activity records to what the store holds. Records are walked with Takt's own
 * table of sizes, so that buffers of any CUPTI version, and recorded ones, can be read. */

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

/* ======== The library ======== */

/* Versions of CUPTI (cuptiGetVersion) at which something changed. */
#define TKT_CUPTI_11_8   18u
#define TKT_CUPTI_12_9   27u /* buffers may be refused */
#define TKT_CUPTI_13_0   130000u
#define TKT_CUPTI_13_0_1 130001u
#define TKT_CUPTI_13_1_1 130101u
#define TKT_CUPTI_13_3   130300u /* several subscribers, with functions of their own */

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

/* Finds the library, its functions and the sizes of its records. False with the reason, a
 * sentence without full stop. */
bool tkt_cupti_load(tkt_cupti *cupti, const tkt_driver *driver, char reason[TKT_REASON_BYTES]);

/* Becomes the one subscriber. Returns a CUptiResult, with the reason if it is not success: then
 * nothing else of CUPTI's may be touched. */
int tkt_cupti_subscribe(tkt_cupti *cupti, tkt_cupti_callback callback,
                        char reason[TKT_REASON_BYTES]);

/* True once, from 13.3 on: then the next subscription is by cuptiSubscribe. For where the functions
 * without _v2 answer TKT_CUPTI_NOT_COMPATIBLE after cuptiSubscribe_v2. */
bool tkt_cupti_go_back(tkt_cupti *cupti);

/* What is wrong and what to do, for a CUptiResult. `other` is the subscriber that is there. */
void tkt_cupti_explain(char reason[TKT_REASON_BYTES], int result, const char *other);

/* The release of CUDA that a version of CUPTI is of: 12040 for 12.4; 0: older than 11.8. */
int tkt_cupti_release(uint32_t version);

/* "CUPTI 13.0 (130001)" */
void tkt_cupti_describe(char *out, size_t size, uint32_t version);

#endif
