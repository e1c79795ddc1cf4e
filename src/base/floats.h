/* Floating point as C begins with it: to nearest, without traps, denormal numbers as they are. A host
 * may have set anything else, and values that it hands over are of any kind: NaN, 1e308. So what
 * computes with doubles does it between these two, and the host's traps, flags and rounding mode are
 * not touched: functions that programs call begin with TKT_OWN_FLOATS, and so does folding, which
 * runs in a program's scopes. Other code that runs in a program's threads handles doubles as bits. */
#ifndef TKT_BASE_FLOATS_H
#define TKT_BASE_FLOATS_H

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

/* Until the end of its block. Threads that are started in it have it for life. */
#define TKT_OWN_FLOATS                                                                             \
    __attribute__((cleanup(tkt_floats_restore), unused)) fenv_t hosts_floats = tkt_floats_take()
fenv_t tkt_floats_take(void);
void tkt_floats_restore(const fenv_t *hosts);

#endif
