/* A program that traps floating-point exceptions, hands over values of every kind, and rounds
 * upwards: Takt raises nothing, and leaves flags and rounding mode as they were, in each mode,
 * report, table and file. A trap ends this program. */
#include "support/memory_sink.h"
#include "support/test.h"

#include <takt/takt.h>

#include <fenv.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static double of_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* A signalling NaN is passed on as bits alone: C may not convert it. */
static const uint64_t kinds[] = {
    0x7FF8000000000000, 0xFFF8000000000000,
    0x7FF0000000000000, 0xFFF0000000000000, /* NaN, inf */
    0x7FEFFFFFFFFFFFFF, 0xFFEFFFFFFFFFFFFF,
    0x7FE1CCF385EBC8A0, 0x0000000000000001, /* 1e308 */
    0x8000000000000001, 0x0010000000000000,
    0x8000000000000000, 0x7FF0000000000001, /* sNaN */
    0x3FF0000000000000, 0x0000000000000000,
    0x43F0000000000000, 0xC3E0000000000000, /* 2^64, -2^63 */
};
#define KINDS (sizeof kinds / sizeof kinds[0])

static unsigned traces;

static void use_all(const takt_trace *trace, void *user)
{
    (void)user;
    traces++;
    for (size_t i = 0; takt_report_name(i); i++)
        for (int format = TAKT_FORMAT_TEXT; format <= TAKT_FORMAT_MARKDOWN; format++) {
            takt_report_options options = TAKT_REPORT_OPTIONS_INIT;
            options.format = (takt_format)format;
            options.with_flops = options.color = options.all = true;
            options.by_arguments = format == TAKT_FORMAT_JSON;
            takt_sink sink = {discard, NULL};
            takt_status status = takt_report(trace, takt_report_name(i), &options, &sink);
            assert_true(status == TAKT_OK || status == TAKT_NO_SPANS);
        }
    for (size_t i = 0; takt_export_name(i); i++) {
        takt_sink sink = {discard, NULL};
        takt_status status = takt_export(trace, takt_export_name(i), &sink);
        assert_true(status == TAKT_OK || status == TAKT_NO_SPANS || status == TAKT_BAD_ARGUMENT);
    }
    for (size_t i = 0; i < takt_trace_count(trace, TAKT_TRACE_COUNTERS); i++) {
        takt_counter_info counter;
        assert_int_equal(takt_trace_counter(trace, i, &counter), TAKT_OK);
    }
}

/* One step of a program with values of every kind. */
static void step(takt_profiler *profiler, takt_track track)
{
    for (size_t i = 0; i < KINDS; i++) {
        double value = of_bits(kinds[i]);
        char name[32];
        snprintf(name, sizeof name, "counter %zu", i);
        TAKT_SCOPE("kinds");
        TAKT_ARG("value", value);
        TAKT_WORK(value, value);
        TAKT_COUNTER("mixed", value);
        takt_counter(name, value);
        takt_memory_allocated((void *)(uintptr_t)(0x1000 + i), kinds[i] >> 1);
        takt_memory_freed((void *)(uintptr_t)(0x1000 + i));
        takt_span_at(track, "at", kinds[i], kinds[(i + 1) % KINDS]);
        takt_span_at(track, "at", 0, UINT64_MAX);
        takt_profiler_step_time(profiler, value);
    }
    TAKT_SCOPE("empty");
    {
        TAKT_SCOPE("nothing in it");
    }
    assert_int_equal(takt_profiler_step(profiler), TAKT_OK);
}

static void profile(takt_mode mode, takt_choice background)
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    options.mode = mode;
    options.background = background;
    options.on_trace = use_all;
    options.with_flops = true;
    options.schedule = (takt_schedule){.wait = 1, .warmup = 1, .active = 2, .repeat = 2};
    options.max_memory_bytes = 8 << 20;
    takt_profiler *profiler;
    assert_int_equal(takt_profiler_create(&options, &profiler), TAKT_OK);
    takt_track track = takt_track_named("given times");
    unsigned before = traces;
    assert_int_equal(takt_profiler_start(profiler), TAKT_OK);
    for (int i = 0; i < 9; i++)
        step(profiler, track);
    assert_int_equal(takt_profiler_stop(profiler), TAKT_OK);
    takt_profiler_destroy(profiler);
    assert_int_equal(traces - before, 2);
}

/* All that computes without a profiler. */
static void measure(void)
{
    takt_samples samples = {0};
    takt_timer_options options = {.struct_size = sizeof options,
                                  .detailed = true,
                                  .filter = TAKT_TIMING_ALL,
                                  .samples = &samples};
    for (int i = 0; i < 2; i++) {
        takt_timer timer;
        takt_timer_begin(&timer, "timer", &options);
        takt_timer_end(&timer);
    }
    takt_samples_free(&samples);
    takt_timed timed;
    TAKT_TIMED(&timed, .repeat = 3) {
        for (size_t i = 0; i < KINDS; i++)
            TAKT_WORK(of_bits(kinds[i]), of_bits(kinds[KINDS - 1 - i]));
    }
    takt_timed_print(&timed);
}

static void configure(void)
{
    takt_config *config = NULL;
    takt_error error;
    static const char text[] = "profiling: {wait: 1e308, active: 1.7e999}\nsampling: .nan\n";
    takt_config_parse(text, sizeof text - 1, "text", &config, &error);
    takt_config_destroy(config);
    assert_int_equal(takt_config_create(&config, &error), TAKT_OK);
    takt_sink sink = {discard, NULL};
    assert_int_equal(takt_config_describe(config, &sink), TAKT_OK);
    takt_config_destroy(config);
}

static void use_takt(void)
{
    measure();
    configure();
    for (int mode = TAKT_MODE_TRACE; mode <= TAKT_MODE_FLIGHT; mode++) {
        profile((takt_mode)mode, TAKT_ON);
        profile((takt_mode)mode, TAKT_OFF);
    }
}

TEST(nothing_traps)
{
    feclearexcept(FE_ALL_EXCEPT);
    feenableexcept(FE_ALL_EXCEPT);
    use_takt();
    fedisableexcept(FE_ALL_EXCEPT);
}

TEST(flags_and_rounding_stay)
{
    feclearexcept(FE_ALL_EXCEPT);
    fesetround(FE_UPWARD);
    use_takt();
    int raised = fetestexcept(FE_ALL_EXCEPT), rounding = fegetround();
    fesetround(FE_TONEAREST);
    assert_int_equal(raised, 0);
    assert_int_equal(rounding, FE_UPWARD);

    feraiseexcept(FE_ALL_EXCEPT);
    use_takt();
    assert_int_equal(fetestexcept(FE_ALL_EXCEPT), FE_ALL_EXCEPT);
    feclearexcept(FE_ALL_EXCEPT);
}

#ifdef __x86_64__
/* Programs set the bits of SSE alone, for speed: FZ and DAZ. Or they trap what SSE computes. */
TEST(what_sse_alone_has_stays)
{
    enum {
        USUAL = 0x1F80, /* all masked */
        ODD = 0xDFE0,   /* FZ, rounds upwards, all masked, DAZ, inexact */
        TRAPS = 0x0000
    };
    static const unsigned states[] = {ODD, TRAPS};
    feclearexcept(FE_ALL_EXCEPT);
    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        __builtin_ia32_ldmxcsr(states[i]);
        use_takt();
        unsigned left = __builtin_ia32_stmxcsr();
        __builtin_ia32_ldmxcsr(USUAL);
        assert_int_equal(left, states[i]);
        assert_int_equal(fetestexcept(FE_ALL_EXCEPT), 0);
    }
}
#endif

TEST_MAIN(NULL, NULL)
