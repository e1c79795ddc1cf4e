/* The clocks. Nothing here depends on how fast the machine is: a reading is compared with two of
 * CLOCK_MONOTONIC around it. The source of ticks is chosen once in a process, by the environment;
 * the tests about that start this program anew with a question as its argument. */
#include "base/clock.h"
#include "support/emulated.h"
#include "support/skip.h"

#include <takt/base.h>
#include <takt/scope.h>

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* What the steering of CLOCK_MONOTONIC may bend a line of some milliseconds by. */
#define BEND_NS 2000

static uint64_t clock_ns(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t monotonic_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

/* Takes the place of the C library's. */
static int64_t slept_ns;
static int64_t reading_ns; /* how long a reading of CLOCK_MONOTONIC takes */

static int64_t read_ns(clockid_t id, struct timespec *now)
{
    syscall(SYS_clock_gettime, id, now);
    return now->tv_sec * 1000000000 + now->tv_nsec;
}

int clock_gettime(clockid_t id, struct timespec *now)
{
    struct timespec later;
    int64_t ns = read_ns(id, now);
    if (id != CLOCK_MONOTONIC)
        return 0;
    while (reading_ns && read_ns(id, &later) < ns + reading_ns)
        continue;
    ns -= slept_ns;
    *now = (struct timespec){ns / 1000000000, ns % 1000000000};
    return 0;
}

static uint64_t random_word(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    return *seed ^= *seed << 17;
}

static void now_lies_between_two_readings_of_clock_monotonic(void **state)
{
    (void)state;
    for (int i = 0; i < 1000; i++) {
        uint64_t before = monotonic_ns();
        uint64_t now = takt_now_ns();
        assert_in_range(now, before, monotonic_ns());
    }
}

static void a_fit_maps_ticks_to_clock_monotonic(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++) {
        uint64_t before = monotonic_ns();
        uint64_t ticks = tkt_ticks();
        uint64_t after = monotonic_ns();
        tkt_clock_fit fit = tkt_clock_fit_now();
        uint64_t slack = (uint64_t)fit.uncertainty_ns + BEND_NS;
        assert_in_range(tkt_clock_ns(&fit, ticks), before - slack, after + slack);
    }
}

static void a_fit_has_the_right_rate(void **state)
{
    (void)state;
    uint64_t before = monotonic_ns();
    uint64_t ticks = tkt_ticks();
    uint64_t after = monotonic_ns();
    while (monotonic_ns() < after + 5000000)
        continue;
    tkt_clock_fit fit = tkt_clock_fit_now();
    uint64_t slack = (uint64_t)fit.uncertainty_ns + BEND_NS;
    assert_in_range(tkt_clock_ns(&fit, ticks), before - slack, after + slack);
}

static void the_rate_for_durations_is_that_of_a_fit(void **state)
{
    (void)state;
    uint64_t rate = tkt_clock_rate(tkt_ticks());
    assert_true(tkt_clock_rate(tkt_ticks()) == rate || !tkt_clock_is_inline());
    uint64_t from = monotonic_ns();
    while (monotonic_ns() < from + 5000000)
        continue;
    tkt_clock_fit fit = tkt_clock_fit_now();
    double difference = (double)tkt_clock_rate(tkt_ticks()) / (double)fit.ns_per_tick - 1;
    assert_true(difference < 1e-3 && difference > -1e-3); /* BEND_NS of five milliseconds is less */
}

/* As far as the clocks show: the counter goes on, CLOCK_MONOTONIC does not. After the first fit and
 * rate that notice, others have a baseline again. */
static void a_machine_that_slept_does_not_bend_later_fits(void **state)
{
    (void)state;
    tkt_clock_fit before = tkt_clock_fit_now();
    if (!tkt_clock_is_inline())
        return; /* ticks are CLOCK_MONOTONIC then, which stands still, too */
    uint64_t from = monotonic_ns();
    while (monotonic_ns() < from + 50000000)
        continue;
    slept_ns += 50000000;
    for (int i = 0; i < 2; i++) {
        tkt_clock_fit fit = tkt_clock_fit_now();
        uint64_t slack = (uint64_t)fit.uncertainty_ns + BEND_NS, now = monotonic_ns();
        double change = (double)fit.ns_per_tick / (double)before.ns_per_tick - 1;
        double most = 2 * (double)slack / 2e6; /* of a baseline of 2 ms */
        assert_true(change < most && change > -most);
        uint64_t ticks = tkt_ticks();
        assert_in_range(tkt_clock_ns(&fit, ticks), now - slack, monotonic_ns() + slack);
    }
    double change = (double)tkt_clock_rate(tkt_ticks()) / (double)before.ns_per_tick - 1;
    assert_true(change < 0.05 && change > -0.05);
}

static void a_fit_knows_how_far_off_it_may_be(void **state)
{
    (void)state;
    tkt_clock_fit fit = tkt_clock_fit_now();
    double tick_ns = tkt_clock_is_inline() ? tkt_clock_resolution_ns(&fit) : 0;
    assert_true(fit.uncertainty_ns >= 1 + tick_ns);
    assert_true(fit.uncertainty_ns < 1e6);
    assert_true(tkt_clock_resolution_ns(&fit) > 0.01);
    assert_true(tkt_clock_resolution_ns(&fit) < 1000);
    if (!tkt_clock_is_inline())
        return; /* CLOCK_MONOTONIC is not off by itself */
    /* Through a good pair from before, and one that is half a reading off. */
    reading_ns = 20000;
    fit = tkt_clock_fit_now();
    reading_ns = 0;
    assert_true(fit.uncertainty_ns > 9900);
}

static void the_residual_is_the_distance_from_clock_monotonic(void **state)
{
    (void)state;
    const double shift_ns = 5e9;
    tkt_clock_fit fit = tkt_clock_fit_now();
    double residual = tkt_clock_residual_ns(&fit);
    assert_true(residual >= 0 && residual < 1e6);
    if (!tkt_clock_is_inline())
        return; /* ticks are CLOCK_MONOTONIC then, and nothing can be off */
    fit.base_ns += (uint64_t)shift_ns;
    residual = tkt_clock_residual_ns(&fit);
    assert_true(residual > shift_ns - 1e6 && residual < shift_ns + 1e6);
    fit.base_ns -= 2 * (uint64_t)shift_ns;
    residual = tkt_clock_residual_ns(&fit);
    assert_true(residual > shift_ns - 1e6 && residual < shift_ns + 1e6);
}

static void the_inline_clock_is_the_same_clock(void **state)
{
    (void)state;
    if (!tkt_clock_is_inline())
        SKIP_CASE("this machine's counter is not invariant");
    for (int i = 0; i < 1000; i++) {
        uint64_t before = tkt_ticks();
        uint64_t here = takt_ticks();
        assert_in_range(here, before, tkt_ticks());
    }
}

#ifdef __aarch64__
/* An emulator's counter may run at another rate than it says: TEST_COUNTER_HZ tells. */
static double counter_hz(void)
{
    const char *told = getenv("TEST_COUNTER_HZ");
    uint64_t hz;
    __asm__("mrs %0, cntfrq_el0" : "=r"(hz));
    return told ? strtod(told, NULL) : (double)hz;
}

static void the_counter_has_the_rate_that_it_says(void **state)
{
    (void)state;
    tkt_clock_fit fit = tkt_clock_fit_now();
    double ns_per_tick = 1e9 / counter_hz();
    assert_string_equal(tkt_clock_name(), "cntvct");
    assert_true(tkt_clock_resolution_ns(&fit) > 0.999 * ns_per_tick);
    assert_true(tkt_clock_resolution_ns(&fit) < 1.001 * ns_per_tick);
}
#endif

/* Some fits that could be: GHz TSCs, a 25 MHz and a 1 GHz generic timer, the identity. */
static const tkt_clock_fit fits[] = {
    {UINT64_C(1) << 40, UINT64_C(1) << 39, 1431655765, 0},
    {123456789, 987654321012345678, 858993459, 0},
    {UINT64_C(1) << 50, 1000000, UINT64_C(40) << 32, 0},
    {0, 0, UINT64_C(1) << 32, 0},
};
#define FITS (sizeof fits / sizeof *fits)

static void later_ticks_are_never_earlier_in_ns(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (size_t i = 0; i < FITS; i++) {
        for (int j = 0; j < 20000; j++) {
            uint64_t ticks = fits[i].base_ticks + (random_word(&seed) >> 20) - (UINT64_C(1) << 42);
            uint64_t ns = tkt_clock_ns(&fits[i], ticks);
            uint64_t step = random_word(&seed) % 3;
            assert_true((int64_t)(tkt_clock_ns(&fits[i], ticks + step) - ns) >= 0);
        }
    }
}

/* Compared with a quotient of 80-bit floating-point numbers. */
static void ns_are_rounded_to_nearest(void **state)
{
    (void)state;
    uint64_t seed = 2;
    for (size_t i = 0; i < FITS; i++) {
        for (int j = 0; j < 20000; j++) {
            int64_t since = (int64_t)(random_word(&seed) >> 32) - (INT64_C(1) << 31);
            long double exact = (long double)since * (long double)fits[i].ns_per_tick / 0x1p32L;
            uint64_t ns = tkt_clock_ns(&fits[i], fits[i].base_ticks + (uint64_t)since);
            long double error = (long double)(int64_t)(ns - fits[i].base_ns) - exact;
            assert_true(error <= 0.5L && error >= -0.5L);
            uint64_t ticks = (uint64_t)(since < 0 ? -since : since);
            ns = tkt_clock_duration_ns(fits[i].ns_per_tick, ticks);
            error = (long double)ns - (exact < 0 ? -exact : exact);
            assert_true(error <= 0.5L && error >= -0.5L);
        }
    }
}

static void the_realtime_offset_leads_from_monotonic_to_realtime(void **state)
{
    (void)state;
    uint64_t before = clock_ns(CLOCK_REALTIME);
    uint64_t now = monotonic_ns() + (uint64_t)tkt_clock_realtime_offset_ns();
    uint64_t after = clock_ns(CLOCK_REALTIME);
    assert_in_range(now, before - 1000000, after + 1000000);
}

static uint64_t fake_ticks;

static uint64_t read_fake(void)
{
    return fake_ticks++;
}

static void the_fake_clock_rules_everything(void **state)
{
    (void)state;
    bool was_inline = tkt_clock_is_inline();
    fake_ticks = 1000;
    tkt_clock_fake(read_fake);
    assert_false(tkt_clock_is_inline());
    assert_int_equal(tkt_ticks(), 1000);
    assert_int_equal(takt_now_ns(), 1001);
    tkt_clock_fit fit = tkt_clock_fit_now();
    assert_int_equal(fake_ticks, 1002);
    assert_int_equal(tkt_clock_ns(&fit, 1234567), 1234567);
    assert_true(fit.uncertainty_ns == 0);
    assert_true(tkt_clock_residual_ns(&fit) == 0);
    tkt_clock_fake(NULL);
    assert_int_equal(tkt_clock_is_inline(), was_inline);
    assert_true(tkt_ticks() > 1000000);
}

/* This program's answer to a question, in a process with TAKT_CLOCK set to `wish`. */
static int ask(const char *wish, const char *question)
{
    pid_t child = fork();
    if (child == 0) {
        setenv("TAKT_CLOCK", wish, 1);
        run_again(question);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static int answer_ticks_are_monotonic(void)
{
    uint64_t before = monotonic_ns();
    uint64_t ticks = tkt_ticks();
    uint64_t after = monotonic_ns();
    tkt_clock_fit fit = tkt_clock_fit_now();
    return before <= ticks && ticks <= after && tkt_clock_ns(&fit, ticks) == ticks &&
           tkt_clock_resolution_ns(&fit) == 1 && tkt_clock_residual_ns(&fit) == 0;
}

/* Taken right behind the library's own constructor, when nothing of the baseline has passed. */
static tkt_clock_fit first_fit;

__attribute__((constructor(102))) static void fit_at_load(void)
{
    first_fit = tkt_clock_fit_now();
}

/* Without a baseline its rate would be off by parts in a thousand: two readings, some ns uncertain,
 * a few microseconds apart. An emulator's readings are hundreds of ns uncertain. */
static int answer_first_rate_is_good(void)
{
    uint64_t begin = monotonic_ns();
    while (monotonic_ns() - begin < 30000000)
        ;
    double rate = (double)tkt_clock_fit_now().ns_per_tick;
    double off = ((double)first_fit.ns_per_tick - rate) / rate;
    double most = test_runner() ? 5e-4 : 5e-5;
    return off < most && off > -most;
}

static void takt_clock_monotonic_gives_clock_monotonics_ns(void **state)
{
    (void)state;
    assert_int_equal(ask("monotonic", "is_inline"), 0);
    assert_int_equal(ask("monotonic", "ticks_are_monotonic"), 1);
}

static void takt_clock_tsc_trusts_the_counter(void **state)
{
    (void)state;
    assert_int_equal(ask("tsc", "is_inline"), 1);
}

/* Only when the system stops the process in the middle of all readings is the rate off. */
static void the_first_fit_waits_for_its_baseline(void **state)
{
    (void)state;
    int is_good = 0;
    while (!is_good)
        is_good = ask("tsc", "first_rate_is_good");
    assert_int_equal(is_good, 1);
}

static int answer(const char *question)
{
    if (strcmp(question, "is_inline") == 0)
        return tkt_clock_is_inline();
    if (strcmp(question, "first_rate_is_good") == 0)
        return answer_first_rate_is_good();
    return answer_ticks_are_monotonic();
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return answer(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(now_lies_between_two_readings_of_clock_monotonic),
        cmocka_unit_test(a_fit_maps_ticks_to_clock_monotonic),
        cmocka_unit_test(a_fit_has_the_right_rate),
        cmocka_unit_test(the_rate_for_durations_is_that_of_a_fit),
        cmocka_unit_test(a_machine_that_slept_does_not_bend_later_fits),
        cmocka_unit_test(a_fit_knows_how_far_off_it_may_be),
        cmocka_unit_test(the_residual_is_the_distance_from_clock_monotonic),
        cmocka_unit_test(the_inline_clock_is_the_same_clock),
#ifdef __aarch64__
        cmocka_unit_test(the_counter_has_the_rate_that_it_says),
#endif
        cmocka_unit_test(later_ticks_are_never_earlier_in_ns),
        cmocka_unit_test(ns_are_rounded_to_nearest),
        cmocka_unit_test(the_realtime_offset_leads_from_monotonic_to_realtime),
        cmocka_unit_test(the_fake_clock_rules_everything),
        cmocka_unit_test(takt_clock_monotonic_gives_clock_monotonics_ns),
        cmocka_unit_test(takt_clock_tsc_trusts_the_counter),
        cmocka_unit_test(the_first_fit_waits_for_its_baseline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
