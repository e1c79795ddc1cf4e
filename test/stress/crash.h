/* A program that is killed, and what it says of itself until then. */
#ifndef TEST_CRASH_H
#define TEST_CRASH_H

#include <stdatomic.h>
#include <stdint.h>

#define WORKERS 2u
#define INNERS  8u
#define MOST    8000u /* outer scopes of a worker: no ring and no table of texts gets full */

/* What a worker has done for certain, each stored right behind it; `begun` right before. */
typedef struct crash_worker {
    _Atomic uint64_t begun;  /* outer scopes */
    _Atomic uint64_t opened; /* the same, behind */
    _Atomic uint64_t ended;
    _Atomic uint64_t inner_ended;
    _Atomic uint64_t counted; /* samples */
    _Atomic uint64_t tasks;   /* spans of the worker's track */
    uint64_t reserved[2];
} crash_worker;

/* In a mapping that the one who kills sees. */
typedef struct crash_book {
    crash_worker workers[WORKERS];
    _Atomic uint64_t steps;
    _Atomic uint64_t is_recording;
} crash_book;

#endif
