/* CUPTI's clock against Takt's, both following a script: Takt's is a counter of nanoseconds,
 * CUPTI's is that plus an offset, a drift and steps. What the map says is compared with what the
 * script knows. */
#include "cuda/clock.h"

#include "support/test.h"

#define SECOND   UINT64_C(1000000000)
#define EPOCH    UINT64_C(1700000000000000000)
#define INTERVAL (SECOND * 15 / 100)

/* The script: what CUPTI's clock shows at a time of Takt's. */
typedef struct script {
    double ppm;
    uint64_t step_at; /* ns */
    int64_t step_ns;
    uint32_t bracket;
    uint64_t noise_ns; /* of readings, up and down */
} script;

static const tkt_clock_fit identity = {.ns_per_tick = UINT64_C(1) << 32};

static uint64_t cupti_at(const script *s, uint64_t ns)
{
    int64_t moved = (int64_t)((double)ns * s->ppm / 1e6);
    return EPOCH + ns + (uint64_t)(moved + (ns >= s->step_at ? s->step_ns : 0));
}

static uint64_t noise(const script *s, uint64_t number)
{
    return s->noise_ns ? (number * 7919) % (2 * s->noise_ns + 1) - s->noise_ns : 0;
}

/* The clock after so many seconds of sampling as the collector samples. */
static tkt_cuda_clock sampled(const script *s, uint64_t seconds)
{
    tkt_cuda_clock clock = {0};
    for (uint64_t ns = SECOND, i = 0; ns <= (seconds + 1) * SECOND; ns += INTERVAL, i++) {
        tkt_clock_pair pair = {
            .ticks = ns, .cupti_ns = cupti_at(s, ns) + noise(s, i), .bracket_ticks = s->bracket};
        assert_true(tkt_cuda_clock_add(&clock, &pair));
    }
    return clock;
}

static double error_at(const tkt_clock_map *map, const script *s, uint64_t ns)
{
    double error = (double)(int64_t)(tkt_clock_map_ns(map, cupti_at(s, ns)) - ns);
    return error < 0 ? -error : error;
}

static double worst_error(const tkt_clock_map *map, const script *s, uint64_t from_ns,
                          uint64_t to_ns)
{
    double worst = 0;
    for (uint64_t ns = from_ns; ns < to_ns; ns += 1234567) {
        double error = error_at(map, s, ns);
        worst = error > worst ? error : worst;
    }
    return worst;
}

static void make(const script *s, uint64_t seconds, tkt_cuda_clock *clock, tkt_clock_map *map)
{
    *clock = sampled(s, seconds);
    assert_int_equal(tkt_clock_map_make(clock, &identity, map), TAKT_OK);
}

static void fini(tkt_cuda_clock *clock, tkt_clock_map *map)
{
    TKT_ARRAY_FREE(&clock->pairs);
    tkt_clock_map_fini(map);
}

TEST(a_quiet_clock_is_one_segment)
{
    const script s = {.step_at = UINT64_MAX, .bracket = 60, .noise_ns = 30};
    tkt_cuda_clock clock;
    tkt_clock_map map;
    make(&s, 60, &clock, &map);
    assert_int_equal(map.segments.count, 1);
    assert_true(worst_error(&map, &s, SECOND, 60 * SECOND) <= 30);
    assert_true(map.uncertainty_ns >= 30 && map.uncertainty_ns <= 30 + 60);
    assert_in_range(clock.pairs.count, 50, 70); /* one a second, of almost seven */
    fini(&clock, &map);
}

TEST(a_drifting_clock_is_followed)
{
    static const double rates[] = {1, -1, 20, -20, 500, -500};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        const script s = {.ppm = rates[i], .step_at = UINT64_MAX, .bracket = 100};
        tkt_cuda_clock clock;
        tkt_clock_map map;
        make(&s, 20, &clock, &map);
        double worst = worst_error(&map, &s, SECOND, 20 * SECOND);
        assert_true(worst <= 1600);
        assert_true(worst <= map.uncertainty_ns);
        assert_false(map.was_set);
        assert_true(map.uncertainty_ns <= 2600);
        double moved_us = 20 * (rates[i] < 0 ? -rates[i] : rates[i]);
        assert_true((double)map.segments.count <= moved_us * 1.5 + 2);
        fini(&clock, &map);
    }
}

TEST(durations_within_a_segment_are_exact)
{
    const script s = {.ppm = 37, .step_at = UINT64_MAX, .bracket = 100, .noise_ns = 40};
    tkt_cuda_clock clock;
    tkt_clock_map map;
    make(&s, 20, &clock, &map);
    assert_true(map.segments.count > 10);
    for (size_t i = 1; i + 1 < map.segments.count; i++) {
        uint64_t from = map.segments.items[i].from_cupti_ns;
        uint64_t to = map.segments.items[i + 1].from_cupti_ns - 1;
        assert_true(from < to);
        assert_int_equal(tkt_clock_map_ns(&map, to) - tkt_clock_map_ns(&map, from), to - from);
    }
    fini(&clock, &map);
}

TEST(noise_below_the_bracket_opens_no_segment)
{
    const script s = {.step_at = UINT64_MAX, .bracket = 5000, .noise_ns = 2400};
    tkt_cuda_clock clock;
    tkt_clock_map map;
    make(&s, 20, &clock, &map);
    assert_int_equal(map.segments.count, 1);
    assert_true(map.uncertainty_ns >= 2500);
    fini(&clock, &map);
}

/* Steps of which a stamp can say on which side it is: away from them the map is as good as ever. */
TEST(a_clock_set_forward_is_followed)
{
    static const int64_t steps[] = {500000, 10000000, 3600 * (int64_t)SECOND};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        const script s = {.step_at = 10 * SECOND + 55555555, .step_ns = steps[i], .bracket = 60};
        tkt_cuda_clock clock;
        tkt_clock_map map;
        make(&s, 20, &clock, &map);
        assert_true(map.was_set);
        assert_int_equal(map.segments.count, 2);
        assert_true(worst_error(&map, &s, SECOND, s.step_at - INTERVAL) <= 30);
        assert_true(worst_error(&map, &s, s.step_at + INTERVAL, 20 * SECOND) <= 30);
        assert_true(map.uncertainty_ns >= (double)steps[i]);
        fini(&clock, &map);
    }
}

/* Slower than this NTP moves a clock evenly, and so small a step cannot be told from it. */
TEST(a_small_step_is_taken_for_drift)
{
    static const int64_t steps[] = {40000, -40000};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        const script s = {.step_at = 10 * SECOND + 55555555, .step_ns = steps[i], .bracket = 60};
        tkt_cuda_clock clock;
        tkt_clock_map map;
        make(&s, 20, &clock, &map);
        assert_true(worst_error(&map, &s, SECOND, s.step_at - INTERVAL) <= 30);
        assert_true(worst_error(&map, &s, SECOND, 20 * SECOND) <= 40000);
        assert_true(worst_error(&map, &s, s.step_at + INTERVAL, 20 * SECOND) <= 30);
        fini(&clock, &map);
    }
}

/* A large step leaves a gap between the stamps of before and after, so that none is ambiguous. */
TEST(a_leap_forward_leaves_no_doubt)
{
    const script s = {.step_at = 10 * SECOND + 55555555, .step_ns = SECOND, .bracket = 60};
    tkt_cuda_clock clock;
    tkt_clock_map map;
    make(&s, 20, &clock, &map);
    assert_true(worst_error(&map, &s, SECOND, 20 * SECOND) <= 30);
    fini(&clock, &map);
}

TEST(after_a_clock_was_set_back_the_later_time_counts)
{
    static const int64_t steps[] = {-600000, -50000000, -2 * (int64_t)SECOND};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        const script s = {.step_at = 10 * SECOND + 1, .step_ns = steps[i], .bracket = 60};
        tkt_cuda_clock clock;
        tkt_clock_map map;
        uint64_t back = (uint64_t)-steps[i];
        make(&s, 20, &clock, &map);
        assert_int_equal(map.segments.count, 2);
        assert_true(worst_error(&map, &s, SECOND, s.step_at - back - INTERVAL) <= 30);
        assert_true(worst_error(&map, &s, s.step_at + INTERVAL, 20 * SECOND) <= 30);
        assert_true(map.uncertainty_ns >= (double)back);
        fini(&clock, &map);
    }
}

TEST(a_clock_set_back_beyond_the_begin_is_one_segment)
{
    const script s = {.step_at = 5 * SECOND, .step_ns = -3600 * (int64_t)SECOND, .bracket = 60};
    tkt_cuda_clock clock;
    tkt_clock_map map;
    make(&s, 10, &clock, &map);
    assert_int_equal(map.segments.items[0].from_cupti_ns, 0);
    assert_true(worst_error(&map, &s, s.step_at + INTERVAL, 10 * SECOND) <= 30);
    fini(&clock, &map);
}

TEST(long_pauses_do_not_make_maps_grow)
{
    const script s = {.ppm = 900, .step_at = UINT64_MAX};
    tkt_cuda_clock clock = {0};
    tkt_clock_map map;
    for (uint64_t i = 0; i < 3; i++) {
        uint64_t ns = SECOND * (1 + i * 36000);
        tkt_clock_pair pair = {.ticks = ns, .cupti_ns = cupti_at(&s, ns)};
        assert_true(tkt_cuda_clock_add(&clock, &pair));
    }
    assert_int_equal(tkt_clock_map_make(&clock, &identity, &map), TAKT_OK);
    assert_in_range(map.segments.count, 8000, 8193);
    assert_true(error_at(&map, &s, SECOND * 18000) <= map.uncertainty_ns);
    assert_true(error_at(&map, &s, SECOND * 54000) <= map.uncertainty_ns);
    fini(&clock, &map);
}

/* Takt's own ticks need not be nanoseconds. */
TEST(ticks_are_mapped_by_the_fit)
{
    const tkt_clock_fit fit = {
        .base_ticks = 1000, .base_ns = 5000, .ns_per_tick = (UINT64_C(1) << 32) / 4};
    const tkt_clock_pair pair = {.ticks = 9000, .cupti_ns = EPOCH, .bracket_ticks = 80};
    tkt_cuda_clock clock = {0};
    tkt_clock_map map;
    assert_true(tkt_cuda_clock_add(&clock, &pair));
    assert_int_equal(tkt_clock_map_make(&clock, &fit, &map), TAKT_OK);
    assert_int_equal(tkt_clock_map_ns(&map, EPOCH), 7000);
    assert_int_equal(tkt_clock_map_ns(&map, EPOCH + 123), 7123);
    assert_true(map.uncertainty_ns == 10);
    fini(&clock, &map);
}

TEST(without_pairs_stamps_stay_as_they_are)
{
    const tkt_cuda_clock clock = {0};
    tkt_clock_map map;
    assert_int_equal(tkt_clock_map_make(&clock, &identity, &map), TAKT_OK);
    assert_int_equal(tkt_clock_map_ns(&map, EPOCH), EPOCH);
    tkt_clock_map_fini(&map);
}

TEST(without_memory_there_is_no_map)
{
    const script s = {.ppm = 20, .step_at = UINT64_MAX};
    tkt_clock_map map;
    tkt_cuda_clock clock = sampled(&s, 5);
    for (uint64_t failing = 0; failing < 4; failing++) {
        tkt_alloc_fail(failing, 1);
        assert_int_equal(tkt_clock_map_make(&clock, &identity, &map), TAKT_NO_MEMORY);
        tkt_alloc_fail(0, 0);
    }
    TKT_ARRAY_FREE(&clock.pairs);
}

/* Sampling: the narrowest of its brackets counts. */

static uint64_t now;
static unsigned reads;

static uint64_t read_takt(void)
{
    return now += 10;
}

/* The seventh reading takes 20 ns, all others 500. */
static uint64_t read_cupti(void)
{
    now += ++reads == 7 ? 20 : 500;
    return EPOCH + now;
}

TEST(the_narrowest_bracket_is_taken)
{
    now = 0;
    reads = 0;
    tkt_clock_fake(read_takt);
    tkt_clock_pair pair = tkt_clock_sample(read_cupti);
    tkt_clock_fake(NULL);
    /* Six brackets of 520 came before; the seventh begins 10 later. */
    assert_int_equal(reads, 16);
    assert_int_equal(pair.ticks, 6 * 520 + 10 + 15);
    assert_int_equal(pair.cupti_ns, EPOCH + 6 * 520 + 10 + 20);
    assert_int_equal(pair.bracket_ticks, 30);
}

TEST_MAIN(NULL, NULL)
