/* Recording without a profiler around it, so that a figure holds what a scope costs and nothing
 * else. */
#include "bench.h"

#include "base/clock.h"
#include "record/control.h"
#include "record/log.h"

#define ALL_SITES (~UINT64_C(0) >> 1)

void bench_record_begin(uint32_t modes)
{
    tkt_record_control.fold_ns_per_tick = tkt_clock_fit_now().ns_per_tick;
    if (modes & TKT_FOLD)
        for (tkt_thread_log *log = tkt_log_first(); log; log = tkt_log_next(log))
            tkt_log_fold_reset(log);
    tkt_record_set(modes, ALL_SITES);
}

void bench_record_end(void)
{
    tkt_record_set(0, 0);
    for (tkt_thread_log *log = tkt_log_first(); log; log = tkt_log_next(log))
        tkt_log_release(log, UINT64_MAX);
}

void bench_release(void)
{
    tkt_thread_log *log = takt_thread_hot_v1.log;
    if (log)
        tkt_log_release(log, UINT64_MAX);
}
