#include "base/own.h"

#include <errno.h>

__thread tkt_own_work *tkt_own_work_now;

#ifdef __x86_64__

/* Loading the whole environment takes 60 ns. Takt computes with SSE, and the x87's part is usually
 * as a thread begins: all masked, and no flag raised. Then MXCSR alone is exchanged. */

#define OWN_MXCSR   0x1F80u /* as a thread begins: nothing traps */
#define OWN_CONTROL 0x037Fu
#define X87_FLAGS   0x3Fu

static uint32_t exchange_mxcsr(uint32_t new)
{
    uint32_t old;
    __asm__ volatile("stmxcsr %0\n\tldmxcsr %1" : "=m"(old) : "m"(new) : "memory");
    return old;
}

static bool has_x87_flags(void)
{
    uint16_t status;
    __asm__ volatile("fnstsw %0" : "=a"(status));
    return status & X87_FLAGS;
}

static bool take_usual_floats(tkt_own_work *work)
{
    uint16_t control;
    __asm__ volatile("fnstcw %0" : "=m"(control));
    work->is_usual = control == OWN_CONTROL && !has_x87_flags();
    if (work->is_usual)
        work->mxcsr = exchange_mxcsr(OWN_MXCSR);
    return work->is_usual;
}

static void give_usual_floats(const tkt_own_work *work)
{
    if (has_x87_flags()) /* by a long double */
        __asm__ volatile("fnclex");
    exchange_mxcsr(work->mxcsr);
}

#else

static bool take_usual_floats(tkt_own_work *work)
{
    return work->is_usual = false;
}

static void give_usual_floats(const tkt_own_work *work)
{
    (void)work;
}

#endif

static void take_floats(tkt_own_work *work)
{
    if (take_usual_floats(work))
        return;
    fegetenv(&work->floats);
    fesetenv(FE_DFL_ENV);
}

static void give_floats(const tkt_own_work *work)
{
    if (work->is_usual)
        give_usual_floats(work);
    else
        fesetenv(&work->floats);
}

void tkt_own_work_begin(tkt_own_work *work)
{
    work->number = errno;
    take_floats(work);
    work->around = tkt_own_work_now;
    tkt_own_work_now = work;
}

void tkt_own_work_end(tkt_own_work *work)
{
    tkt_own_work_now = work->around;
    give_floats(work);
    errno = work->number;
}

double tkt_own_ms(uint64_t ns)
{
#ifdef __x86_64__
    const uint32_t own = OWN_MXCSR;
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
        give_floats(outermost(interrupted));
    return interrupted;
}

void tkt_programs_work_end(tkt_own_work **interrupted)
{
    if (!*interrupted)
        return;
    take_floats(outermost(*interrupted)); /* with the flags that the program has raised */
    tkt_own_work_now = *interrupted;
}
