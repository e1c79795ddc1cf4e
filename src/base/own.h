/* What is Takt's own work on a program's threads, and what is the program's.
 *
 * A program may trap floating-point exceptions and round as it likes, and hands over values of any
 * kind: NaN, 1e308. And its malloc() may be one that reports to Takt, while the C library, zlib and
 * libyaml allocate for Takt. So functions that programs call begin with TKT_OWN_WORK if they
 * compute with doubles or may allocate, and so does folding, which runs in a program's scopes:
 * until the end of the block doubles are what C begins with, memory is not counted as the
 * program's, and afterwards the program's traps, flags, rounding mode and errno are as they were.
 * Other code that runs in a program's scopes handles doubles as bits. */
#ifndef TKT_BASE_OWN_H
#define TKT_BASE_OWN_H

#include <fenv.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* isfinite(), which gcc answers by the flags of its command line. */
static inline bool tkt_is_finite(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (bits >> 52 & 0x7FF) != 0x7FF;
}

typedef struct tkt_own_work {
    fenv_t floats;  /* of the program, as are the next two */
    uint32_t mxcsr; /* instead, if `is_usual` */
    int number;     /* errno */
    bool is_usual;  /* see own.c */
    struct tkt_own_work *around;
} tkt_own_work;

/* NULL: the program's code runs on this thread. */
extern __thread tkt_own_work *tkt_own_work_now;

/* Until the end of its block. Threads that are started in it have its floating point for life. */
#define TKT_OWN_WORK                                                                               \
    __attribute__((cleanup(tkt_own_work_end), unused)) tkt_own_work own_work;                      \
    tkt_own_work_begin(&own_work)
void tkt_own_work_begin(tkt_own_work *work);
void tkt_own_work_end(tkt_own_work *work);

/* ns / 1e6 as TKT_OWN_WORK would have it, in a tenth of its time. */
double tkt_own_ms(uint64_t ns);

/* Around calls of the program's functions, such as on_trace and sinks, until the end of the block.
 * If such a function throws or jumps out, the thread is the program's, as it should be. */
#define TKT_PROGRAMS_WORK                                                                          \
    __attribute__((cleanup(tkt_programs_work_end), unused)) tkt_own_work *interrupted =            \
        tkt_programs_work_begin()
tkt_own_work *tkt_programs_work_begin(void);
void tkt_programs_work_end(tkt_own_work **interrupted);

#endif
