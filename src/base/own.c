#include "base/own.h"

#include <errno.h>

__thread tkt_own_work *tkt_own_work_now;

void tkt_own_work_begin(tkt_own_work *work)
{
    work->number = errno;
    fegetenv(&work->floats);
    fesetenv(FE_DFL_ENV);
    work->around = tkt_own_work_now;
    tkt_own_work_now = work;
}

void tkt_own_work_end(tkt_own_work *work)
{
    tkt_own_work_now = work->around;
    fesetenv(&work->floats);
    errno = work->number;
}

double tkt_own_ms(uint64_t ns)
{
#ifdef __SSE2__
    const uint32_t own = 0x1F80; /* as a thread begins: nothing traps */
    uint32_t programs;
    __asm__ volatile("stmxcsr %0\n\tldmxcsr %2" : "=m"(programs), "+r"(ns) : "m"(own));
    double ms = (double)ns / 1e6;
    __asm__ volatile("ldmxcsr %1" : "+x"(ms) : "m"(programs));
    return ms;
#else
    TKT_OWN_WORK;
    return (double)ns / 1e6;
#endif
}

/* Whose floating point is the program's. */
static tkt_own_work *outermost(tkt_own_work *work)
{
    while (work->around)
        work = work->around;
    return work;
}

tkt_own_work *tkt_programs_work_begin(void)
{
    tkt_own_work *interrupted = tkt_own_work_now;
    tkt_own_work_now = NULL;
    if (interrupted)
        fesetenv(&outermost(interrupted)->floats);
    return interrupted;
}

void tkt_programs_work_end(tkt_own_work **interrupted)
{
    if (!*interrupted)
        return;
    fegetenv(&outermost(*interrupted)->floats); /* with the flags that the program has raised */
    fesetenv(FE_DFL_ENV);
    tkt_own_work_now = *interrupted;
}
