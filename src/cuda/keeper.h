/* Where the store's activities lie so that they survive the process; who makes a crash-safe recording
 * gives the store one. All is called with the store's lock held. */
#ifndef TKT_CUDA_KEEPER_H
#define TKT_CUDA_KEEPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tkt_store_chunk;

typedef enum tkt_keeper_note {
    TKT_KEEP_STRING, /* number: id; a text with its NUL */
    TKT_KEEP_SHAPE,  /* number: index; tkt_shape */
    TKT_KEEP_PAIR,   /* number: 1 if it is of CUPTI's clock; tkt_clock_pair */
    TKT_KEEP_ANEW    /* shapes are numbered anew from 0 */
} tkt_keeper_note;

typedef struct tkt_store_keeper {
    /* A chunk of count 0; NULL: there is none left. */
    struct tkt_store_chunk *(*take)(void);
    /* Takes a chunk back, whose count is 0; false if it is none of its own. */
    bool (*give)(struct tkt_store_chunk *chunk);
    /* Notes what activities refer to. */
    void (*note)(tkt_keeper_note kind, uint32_t number, const void *data, size_t size);
} tkt_store_keeper;

/* Gives the process' store a keeper, and notes what it holds; NULL takes it back. Takes the lock. */
void tkt_store_keep(const tkt_store_keeper *keeper);

#endif
