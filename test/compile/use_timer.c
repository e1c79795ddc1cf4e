/* The macros of takt/timer.h in C; in C++ timers are takt::ScopedTimer's. Compiled, never run. */
#include <takt/timer.h>

int use_timers(void);

#ifndef __cplusplus
int use_timers(void)
{
    double elapsed_ms = 0.0;
    int rounds = 0;
    takt_timed result = {0};

    TAKT_TIMER("plain");
    TAKT_TIMER("options", .synchronize = true, .nvtx = true, .color = "yellow",
               .elapsed_ms = &elapsed_ms);
    TAKT_TIMER_BEGIN(pair, "pair", .filter = TAKT_TIMING_ALL);
    TAKT_TIMED(&result, .repeat = 100, .warmup = 1) { rounds++; }
    TAKT_TIMED(&result) rounds++;
    TAKT_TIMER_END(pair);
    return rounds;
}
#endif
