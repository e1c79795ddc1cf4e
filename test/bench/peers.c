#include "peers.h"

#include "bench.h"

void bench_peers(void)
{
    bench_nvtx();
    bench_lttng();
}
