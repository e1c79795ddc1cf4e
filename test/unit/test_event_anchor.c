/* Anchors: where events lie in time, with a driver and clocks of the test's own. The device's clock
 * drifts and begins elsewhere; only distances of it are told, as floats. */
#include "base/clock.h"
#include "cuda/event.h"

#include "support/test.h"

#include <math.h>
#include <stdlib.h>

static uint64_t host_ns;
static double drift; /* of the device's clock: 1e-5 is ten parts in a million */
static uint64_t record_cost_ns, query_cost_ns;
static int queries_until_done;
static int queries_left;

/* An event is the device's time, in ns. There is room for all that the tests need at a time. */
typedef double event;
static event events[64];
static size_t event_count;

static uint64_t read_host(void)
{
    return host_ns;
}

static double device_ns(void)
{
    return 1e9 + (double)host_ns * (1.0 + drift);
}

static int event_create(void **out, unsigned flags)
{
    assert_int_equal(flags, 0);
    assert_true(event_count < 64);
    *out = &events[event_count++];
    return 0;
}

static int event_record(void *recorded, void *stream)
{
    assert_non_null(stream);
    host_ns += record_cost_ns / 2;
    *(event *)recorded = device_ns();
    host_ns += record_cost_ns / 2;
    queries_left = queries_until_done;
    return 0;
}

static int event_query(void *queried)
{
    (void)queried;
    host_ns += query_cost_ns;
    return queries_left-- > 0 ? 600 : 0;
}

static int event_elapsed(float *ms, void *begin, void *end)
{
    *ms = (float)((*(event *)end - *(event *)begin) * 1e-6);
    return 0;
}

static int stream_create(void **out, unsigned flags)
{
    static int stream;
    assert_int_equal(flags, 1);
    *out = &stream;
    return 0;
}

static int context_current(void **out)
{
    static int context;
    *out = &context;
    return 0;
}

static const tkt_driver driver = {
    .event_create = event_create,
    .event_record = event_record,
    .event_query = event_query,
    .event_elapsed = event_elapsed,
    .stream_create = stream_create,
    .context_current = context_current,
};

static int set_up(void **state)
{
    (void)state;
    host_ns = 1000000;
    drift = 0.0;
    record_cost_ns = 4000;
    query_cost_ns = 1000;
    queries_until_done = 0;
    tkt_clock_fake(read_host);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    tkt_clock_fake(NULL);
    return 0;
}

static bool renew(tkt_anchor *anchor, tkt_clock_pair *pair)
{
    tkt_event_context context = {NULL, 1};
    driver.context_current(&context.handle);
    tkt_clock_fit fit = tkt_clock_fit_now();
    return tkt_anchor_renew(&driver, &context, &fit, anchor, pair);
}

/* The host's time of the anchor, if the device's clock is undone exactly. */
static double true_ns(const tkt_anchor *anchor)
{
    return (*(event *)anchor->event - 1e9) / (1.0 + drift);
}

TEST(first_anchor_lies_in_the_middle_of_its_bracket)
{
    tkt_anchor anchor = {0};
    tkt_clock_pair pair;
    assert_true(renew(&anchor, &pair));
    assert_int_equal(pair.bracket_ticks, 5000);
    assert_int_equal(pair.ticks, pair.cupti_ns);
    assert_int_equal(anchor.ns, pair.ticks);
    assert_true(fabs((double)anchor.ns - true_ns(&anchor)) <= 2500.0);
}

TEST(an_anchor_is_due_each_second)
{
    tkt_anchor anchor = {0};
    tkt_clock_pair pair;
    tkt_clock_fit fit = tkt_clock_fit_now();
    host_ns = 5000000000;
    assert_true(tkt_anchor_is_due(&anchor, &fit));
    assert_true(renew(&anchor, &pair));
    assert_false(tkt_anchor_is_due(&anchor, &fit));
    host_ns += 990000000;
    assert_false(tkt_anchor_is_due(&anchor, &fit));
    host_ns += 10000000;
    assert_true(tkt_anchor_is_due(&anchor, &fit));
}

/* Within brackets the old anchor's word counts: no jump, although each bracket's middle is off. */
TEST(times_do_not_jump_where_clocks_agree)
{
    tkt_anchor anchor = {0};
    tkt_clock_pair pair;
    assert_true(renew(&anchor, &pair));
    double off = (double)anchor.ns - true_ns(&anchor);
    for (int second = 0; second < 100; second++) {
        host_ns += 1000000000;
        record_cost_ns = 4000 + (uint64_t)(second % 7) * 1000;
        assert_true(renew(&anchor, &pair));
        double now = (double)anchor.ns - true_ns(&anchor);
        assert_true(fabs(now - off) < 100.0); /* what a float of a second leaves out, in ns */
        off = now;
    }
}

/* Half an hour of a clock that runs ten millionths too fast would be 18 ms off. */
TEST(drift_does_not_add_up)
{
    tkt_anchor anchor = {0};
    tkt_clock_pair pair;
    drift = 1e-5;
    for (int second = 0; second < 1800; second++) {
        assert_true(renew(&anchor, &pair));
        assert_true(fabs((double)anchor.ns - true_ns(&anchor)) <= 5000.0);
        host_ns += 1000000000;
    }
}

/* A float of so many milliseconds has no microseconds: the bracket's middle is better. */
TEST(an_anchor_that_is_far_away_is_not_asked)
{
    tkt_anchor anchor = {0};
    tkt_clock_pair pair;
    assert_true(renew(&anchor, &pair));
    host_ns += UINT64_C(3600000000000);
    assert_true(renew(&anchor, &pair));
    assert_int_equal(anchor.ns, pair.ticks);
}

TEST(a_busy_device_leaves_the_old_anchor)
{
    tkt_anchor anchor = {0};
    tkt_clock_pair pair = {0};
    tkt_clock_fit fit = tkt_clock_fit_now();
    host_ns = 1000000000;
    assert_true(renew(&anchor, &pair));
    void *event_before = anchor.event;
    uint64_t before = anchor.ns;
    queries_until_done = 1000000;
    host_ns += 2000000000;
    uint64_t asked = host_ns;
    assert_false(renew(&anchor, &pair));
    assert_true(host_ns - asked < 3000000); /* it gave up after 2 ms */
    assert_ptr_equal(anchor.event, event_before);
    assert_int_equal(anchor.ns, before);
    assert_false(tkt_anchor_is_due(&anchor, &fit)); /* and does not try at once again */
}

TEST(distances_are_rounded_to_nanoseconds)
{
    event begin = 0.0, end = 1234567.0;
    int64_t ns;
    assert_int_equal(tkt_event_between(&driver, &begin, &end, &ns), 0);
    assert_true(llabs(ns - 1234567) <= 1);
    assert_int_equal(tkt_event_between(&driver, &end, &begin, &ns), 0);
    assert_true(llabs(ns + 1234567) <= 1);
}

TEST_MAIN_EACH(set_up, tear_down)
