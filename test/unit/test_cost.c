/* Takt's own estimated cost has every kind of event in it: twice as many events cost twice as much.
 * How near the estimate comes to the truth tells `make bench`. */
#include "base/clock.h"
#include "support/test.h"

#include <takt/takt.h>

static void put_span(void)
{
    TAKT_SCOPE("span");
}

static void put_phase(void)
{
    TAKT_PHASE("phase"); /* in no scope: it ends where the next begins */
}

static void put_mark(void)
{
    TAKT_MARK("mark");
}

static void put_counter(void)
{
    TAKT_COUNTER("counter", 1);
}

static void put_flow(void)
{
    takt_flow_begin(1);
}

static void put_memory(void)
{
    static char block;
    takt_memory_allocated(&block, 1);
    takt_memory_freed(&block);
}

static void put_task(void)
{
    takt_span_end(takt_span_begin(takt_track_named("track"), "task"));
}

static takt_facts facts_in(takt_mode mode, void (*put)(void), int count)
{
    const takt_profiler_options options = {.struct_size = sizeof options, .mode = mode};
    takt_profiler *profiler = NULL;
    assert_int_equal(takt_profiler_create(&options, &profiler), TAKT_OK);
    assert_int_equal(takt_profiler_start(profiler), TAKT_OK);
    for (int i = 0; i < count; i++) {
        put();
        for (volatile int work = 0; work < 100;
             work++) /* so that the cost is not all that there is */
            ;
    }
    assert_int_equal(takt_profiler_stop(profiler), TAKT_OK);
    takt_facts facts = *takt_trace_facts(takt_profiler_trace(profiler));
    assert_true(facts.cost_ns <= (double)(facts.end_ns - facts.begin_ns));
    takt_profiler_destroy(profiler);
    return facts;
}

static double cost_in(takt_mode mode, void (*put)(void), int count)
{
    return facts_in(mode, put, count).cost_ns;
}

static double cost_of(void (*put)(void), int count)
{
    return cost_in(TAKT_MODE_TRACE, put, count);
}

static void assert_about(double value, double expected)
{
    assert_true(value > expected * (1 - 1e-9) && value < expected * (1 + 1e-9));
}

TEST(every_kind_has_its_price)
{
    void (*const kinds[])(void) = {put_span, put_phase,  put_mark, put_counter,
                                   put_flow, put_memory, put_task};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        double cost_ns = cost_of(kinds[i], 100);
        double more_ns = cost_of(kinds[i], 200) - cost_ns; /* without the first use of the name */
        assert_true(more_ns > 0);
        assert_about(cost_of(kinds[i], 300), cost_ns + 2 * more_ns);
    }
}

/* Beside a scope, which they belong to. */
static void put_argument(void)
{
    TAKT_SCOPE("span");
    TAKT_ARG("key", 1);
}

static void put_text(void)
{
    TAKT_SCOPE("span");
    TAKT_ARG("key", "text");
}

TEST(what_belongs_to_a_scope_costs_beside_it)
{
    double scope_ns = cost_of(put_span, 100);
    double argument_ns = cost_of(put_argument, 100) - scope_ns;
    double text_ns = cost_of(put_text, 100) - scope_ns;
    assert_true(argument_ns > 0 && text_ns > argument_ns);
    double first_ns = cost_of(put_argument, 200) - cost_of(put_span, 200);
    assert_about(cost_of(put_argument, 300) - cost_of(put_span, 300), 2 * first_ns - argument_ns);
}

/* Full chunks are folded by the thread, and that is measured. */
TEST(folding_costs_beside_the_scopes)
{
    double trace_ns = cost_of(put_span, 20000);
    assert_true(cost_in(TAKT_MODE_SUMMARY, put_span, 20000) > trace_ns);
    assert_true(cost_in(TAKT_MODE_BOTH, put_span, 20000) > trace_ns);
}

TEST(nothing_costs_nothing)
{
    assert_true(cost_of(put_span, 0) == 0);
}

/* A clock on which every reading takes a second, as if the thread lost the processor each time. The
 * times of this and the other clock may be those of a later recording with the real clock, so these
 * tests are the last. */
static uint64_t read_slow_clock(void)
{
    static uint64_t ns;
    return ns += 1000000000;
}

/* So fast that the events' prices are above all the time that there was. */
static uint64_t read_fast_clock(void)
{
    static uint64_t ns = UINT64_C(1) << 62;
    return ns++;
}

TEST(no_more_than_the_time_that_there_was_is_told)
{
    cost_of(put_span, 1); /* the prices, on the real clock */
    tkt_clock_fake(read_fast_clock);
    double cost_ns = cost_of(put_span, 20000);
    tkt_clock_fake(NULL);
    assert_true(cost_ns >= 40000 && cost_ns < 41000);
}

/* In readings of the clock, of which each takes a few. */
static uint64_t longest_in(takt_mode mode, int count)
{
    return (uint64_t)(facts_in(mode, put_span, count).cost_longest_ns / 1e9 + 0.5);
}

TEST(the_longest_moment_is_a_new_chunk_or_a_fold)
{
    tkt_clock_fake(read_slow_clock);
    assert_int_equal(longest_in(TAKT_MODE_TRACE, 0), 0);
    assert_in_range(longest_in(TAKT_MODE_TRACE, 20000), 2, 5);
    assert_in_range(longest_in(TAKT_MODE_SUMMARY, 20000), 4, 7);
    tkt_clock_fake(NULL);
}

TEST(a_thread_that_waits_while_it_folds_does_not_count_that)
{
    tkt_clock_fake(read_slow_clock);
    double each_ns = cost_of(put_span, 20000) / 20000;
    double folding_ns = cost_in(TAKT_MODE_SUMMARY, put_span, 20000) - 20000 * each_ns;
    tkt_clock_fake(NULL);
    assert_true(folding_ns > 0 && folding_ns < 20000 * 110);
}

TEST_MAIN(NULL, NULL)
