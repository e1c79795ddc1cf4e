/* LTTng-UST: a scope as two events that carry the number of their site. Without a session it is
 * measured here; with one in a second run of this program, which lttng-active.sh starts inside a
 * session of its own, since events are enabled for processes from outside. */
#include "peers.h"

#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef TKT_BENCH_LTTNG

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_provider.h"

static __attribute__((noinline)) void run_events(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        lttng_ust_tracepoint(takt_bench, begin, 1);
        BENCH_BARRIER();
        lttng_ust_tracepoint(takt_bench, end, 1);
    }
}

static const bench_loop events = {.run = run_events};

int bench_lttng_active(void)
{
    bench_time time = bench_measure(&events);
    printf("%.6f %.6f\n", time.ns, time.floor_ns);
    return 0;
}

/* What the second run says; false when no session could be had. */
static bool measure_active(bench_time *time)
{
    const char *root = getenv("TAKT_ROOT");
    char program[4096] = "";
    char command[9000];
    if (readlink("/proc/self/exe", program, sizeof program - 1) < 0)
        return false;
    snprintf(command, sizeof command, "'%s/test/bench/lttng-active.sh' '%s'", root ? root : ".",
             program);
    FILE *pipe = popen(command, "r");
    if (!pipe)
        return false;
    bool is_read = fscanf(pipe, "%lf %lf", &time->ns, &time->floor_ns) == 2;
    return pclose(pipe) == 0 && is_read;
}

void bench_lttng(void)
{
    bench_time off = bench_measure_above(&events, &bench_empty);
    bench_time on;
    bench_tell((bench_figure){
        .name = "peer_lttng_off", .value = off.ns, .unit = "ns", .floor = off.floor_ns});
    if (measure_active(&on))
        bench_tell((bench_figure){
            .name = "peer_lttng_trace", .value = on.ns, .unit = "ns", .floor = on.floor_ns});
    else
        bench_tell_missing("peer_lttng_trace", "no session daemon could be started");
}

#else

int bench_lttng_active(void)
{
    return 1;
}

void bench_lttng(void)
{
    bench_tell_missing("peer_lttng_off", "no LTTng-UST here (liblttng-ust-dev)");
}

#endif
