/* Advice about threads, and waits for them: who counts, and for how long. */
#include "test_advice.h"
#include "support/test.h"

#define MS 1000000u

/* A worker walks a tree for 4 ms of 4: walk, visit, walk, visit, walk. Main walks for 1 ms. */
TEST(indirect_recursion_counts_once)
{
    takt_trace *trace = build_begin(5 * MS);
    uint32_t main = build_track(trace, "main"), worker = build_track(trace, "worker");
    uint32_t walk = build_site(trace, "walk"), visit = build_site(trace, "visit");
    uint32_t span = TKT_NO_SPAN;
    for (uint32_t i = 0; i < 5; i++)
        span = build_span(trace, worker, i % 2 ? visit : walk, span, 1 * MS + i, 5 * MS - i);
    for (uint32_t i = 0; i < 3; i++)
        build_span(trace, main, walk, TKT_NO_SPAN, (1 + i) * MS, (1 + i) * MS + MS / 3);
    advised a = advise(trace);
    const tkt_advice *advice = find(&a, TKT_ADVICE_THREADS);
    assert_non_null(advice);
    assert_string_equal(advice->name, "walk");
    assert_int_equal(advice->time_ns, 4 * MS);
    takt_trace_release(trace);
}

TEST_MAIN(NULL, NULL)
