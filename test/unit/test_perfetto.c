/* A trace written as a Perfetto file and read back is the same trace, in every field. */
#include "test_trace_build.h"

static void whole_trace_comes_back(void **state)
{
    (void)state;
    takt_trace *trace = whole_trace();
    assert_int_equal(tkt_trace_finish(trace), TAKT_OK);
    takt_trace *back = write_and_read(trace);
    same_trace(trace, back);
    takt_trace_release(back);
    takt_trace_release(trace);
}

static void random_traces_come_back(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        takt_trace *trace = random_trace(seed, (uint32_t)(seed % 5), seed * 3);
        assert_int_equal(tkt_trace_finish(trace), TAKT_OK);
        takt_trace *back = write_and_read(trace);
        same_trace(trace, back);
        takt_trace_release(back);
        takt_trace_release(trace);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_trace_comes_back),
        cmocka_unit_test(random_traces_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
