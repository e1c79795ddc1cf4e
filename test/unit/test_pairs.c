/* Begin and end in pairs among scopes of blocks: an end ends what a begin began, whatever is open
 * within. */
#include <takt/takt.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static takt_profiler *start(void)
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt_profiler *profiler = NULL;
    assert_int_equal(takt_profiler_create(&options, &profiler), TAKT_OK);
    assert_int_equal(takt_profiler_start(profiler), TAKT_OK);
    return profiler;
}

static takt_span_info span_at(const takt_trace *trace, size_t index)
{
    takt_span_info span = {.name = ""};
    assert_int_equal(takt_trace_span(trace, 0, index, &span), TAKT_OK);
    return span;
}

static void end_of_a_pair_closes_the_block_within(void **state)
{
    (void)state;
    takt_profiler *profiler = start();
    for (int i = 0; i < 100; i++) {
        takt_begin("pair");
        TAKT_SCOPE("block");
        TAKT_PHASE("phase");
        takt_end();
    }
    takt_profiler_stop(profiler);
    const takt_trace *trace = takt_profiler_trace(profiler);
    const takt_facts *facts = takt_trace_facts(trace);
    assert_int_equal(facts->span_count, 300);
    assert_int_equal(facts->unfinished, 0);
    assert_int_equal(facts->losses[TAKT_LOSS_MISMATCH], 100);
    for (size_t i = 0; i < 300; i += 3) {
        assert_string_equal(span_at(trace, i).name, "pair");
        assert_true(span_at(trace, i).parent == TAKT_NO_PARENT);
        assert_string_equal(span_at(trace, i + 1).name, "block");
        assert_string_equal(span_at(trace, i + 2).name, "phase");
    }
    takt_profiler_destroy(profiler);
}

static void end_leaves_a_block_alone(void **state)
{
    (void)state;
    takt_profiler *profiler = start();
    for (int i = 0; i < 100; i++) {
        TAKT_SCOPE("block");
        takt_end();
        TAKT_SCOPE("inner");
    }
    takt_profiler_stop(profiler);
    const takt_trace *trace = takt_profiler_trace(profiler);
    const takt_facts *facts = takt_trace_facts(trace);
    assert_int_equal(facts->span_count, 200);
    assert_int_equal(facts->losses[TAKT_LOSS_MISMATCH], 100);
    assert_true(span_at(trace, 1).parent == 0);
    takt_profiler_destroy(profiler);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(end_of_a_pair_closes_the_block_within),
        cmocka_unit_test(end_leaves_a_block_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
