/* What the objects of takt/takt.hpp do, beyond that they compile. */
// Events of the tests' own: without CUDA there are none.
#define takt_event_create     test_event_create
#define takt_event_destroy    test_event_destroy
#define takt_event_elapsed_ms test_event_elapsed_ms
#include <takt/takt.hpp>

#include <memory>
#include <string>

extern "C" {
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
}
#undef stop // a macro of cmocka 2

static char events[2];
static size_t event_count;

takt_status takt_event_create(takt_event_kind, takt_event **out)
{
    *out = reinterpret_cast<takt_event *>(&events[event_count++]);
    return TAKT_OK;
}

void takt_event_destroy(takt_event *) {}

takt_status takt_event_elapsed_ms(takt_event *begin, takt_event *end, double *ms)
{
    *ms = static_cast<double>(reinterpret_cast<char *>(end) - reinterpret_cast<char *>(begin));
    return TAKT_OK;
}

namespace
{

typedef takt::ScopedTimer::Options Options;

double busy()
{
    volatile double sum = 0.0;
    for (int i = 0; i < 1000; i++)
        sum = sum + i;
    return sum;
}

void a_timer_ends_with_its_block(void **)
{
    double ms = -1.0;
    {
        takt::ScopedTimer timer("block", Options().silent().elapsed_ms(&ms));
        busy();
        assert_true(static_cast<bool>(timer));
        assert_true(ms == -1.0);
    }
    assert_true(ms > 0.0);
}

void a_timer_ends_once(void **)
{
    takt_samples samples = takt_samples();
    {
        takt::ScopedTimer timer("once", Options().silent().samples(&samples));
        busy();
        double ms = timer.end();
        assert_true(ms > 0.0);
        assert_false(static_cast<bool>(timer));
        assert_true(timer.end() == 0.0);
        assert_int_equal(samples.count, 1);
        assert_true(samples.ms[0] == ms);
    }
    assert_int_equal(samples.count, 1);
    takt_samples_free(&samples);
}

void an_inactive_timer_does_nothing(void **)
{
    double ms = -1.0;
    takt::ScopedTimer timer("off", Options().inactive().elapsed_ms(&ms));
    assert_false(static_cast<bool>(timer));
    assert_true(timer.end() == 0.0);
    assert_true(ms == -1.0);
}

void options_can_be_kept_and_taken_back(void **)
{
    Options options;
    options.silent().detailed().synchronize().nvtx().filter(TAKT_TIMING_KERNEL).color("yellow");
    options.extra("more").detailed(false).domain("sph").category("io").payload(-3);
    const takt_timer_options &plain = options.get();
    assert_true(plain.silent && plain.synchronize && plain.nvtx);
    assert_false(plain.detailed || plain.inactive);
    assert_int_equal(plain.filter, TAKT_TIMING_KERNEL);
    assert_string_equal(plain.color, "yellow");
    assert_string_equal(plain.extra, "more");
    assert_string_equal(plain.domain, "sph");
    assert_string_equal(plain.category, "io");
    assert_true(plain.has_payload && plain.payload == -3);
    options.payload(0);
    assert_true(plain.has_payload && plain.payload == 0);
}

void a_lambda_gets_the_activities_and_is_freed(void **)
{
    std::shared_ptr<int> witness = std::make_shared<int>(0);
    std::string names;
    {
        auto report = [witness, &names](const takt_timing *results, const char *indent) {
            (*witness)++;
            names += indent;
            for (size_t i = 0; i < takt_timing_count(results); i++)
                names += std::string(takt_timing_at(results, i)->name) + ";";
        };
        takt::ScopedTimer timer("lambda", Options(), std::move(report));
        {
            TAKT_ACTIVITY("cpu", TAKT_TIMING_KERNEL, "first");
            busy();
        }
        {
            TAKT_ACTIVITY("cpu", TAKT_TIMING_KERNEL, "second");
            busy();
        }
    }
    assert_int_equal(*witness, 1);
    assert_int_equal(witness.use_count(), 1);
    assert_string_equal(names.c_str(), "kernel first;kernel second;");
}

void an_empty_profiler_does_nothing(void **)
{
    takt::Profiler profiler;
    assert_false(static_cast<bool>(profiler));
    assert_int_equal(profiler.status(), TAKT_OK);
    assert_int_equal(profiler.start(), TAKT_OK);
    assert_int_equal(profiler.step(), TAKT_OK);
    assert_int_equal(profiler.stop(), TAKT_OK);
    assert_int_equal(profiler.step_time(0.1), TAKT_OK);
    assert_int_equal(profiler.step_number(), 0);
    assert_int_equal(profiler.action(), TAKT_ACTION_NONE);
    assert_false(static_cast<bool>(profiler.trace()));
}

void a_profiler_hands_each_cycle_to_its_lambda(void **)
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    options.schedule.wait = 1;
    options.schedule.active = 2;
    options.schedule.repeat = 2;
    std::shared_ptr<int> witness = std::make_shared<int>(0);
    takt::Trace last;
    {
        takt::Profiler profiler(options, [witness, &last](const takt_trace *trace) {
            (*witness)++;
            last = takt::Trace(trace);
        });
        assert_true(static_cast<bool>(profiler));
        assert_int_equal(profiler.start(), TAKT_OK);
        for (int step = 0; step < 6; step++) {
            assert_int_equal(profiler.step_number(), step);
            takt::Scope scope(("step " + std::to_string(step)).c_str());
            assert_int_equal(profiler.step(), TAKT_OK);
        }
        assert_int_equal(profiler.stop(), TAKT_OK);
        assert_int_equal(*witness, 2);
        assert_true(profiler.trace().get() == last.get());
        assert_true(profiler.get() != nullptr);
    }
    assert_int_equal(witness.use_count(), 1);

    /* The trace outlives its profiler. */
    assert_int_equal(takt_trace_facts(last.get())->first_step, 4);
    assert_int_equal(takt_trace_facts(last.get())->step_count, 2);
}

void traces_are_kept_by_their_copies(void **)
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt::Trace kept;
    {
        takt::Profiler profiler(options);
        profiler.start();
        {
            TAKT_SCOPE("kept");
        }
        profiler.stop();
        takt::Trace first = profiler.trace();
        takt::Trace second = first;
        takt::Trace third = std::move(first);
        assert_false(static_cast<bool>(first));
        assert_true(second.get() == third.get());
        second = takt::Trace();
        kept = third;
        kept = *&kept;
    }
    assert_true(takt_trace_facts(kept.get())->span_count > 0);
    kept = takt::Trace();

    takt_error error = takt_error();
    takt::Trace none = takt::Trace::open("/nonexistent.pftrace", &error);
    assert_false(static_cast<bool>(none));
    assert_int_equal(error.status, TAKT_IO_ERROR);
}

void timed_counts_only_what_follows_the_warmup(void **)
{
    int rounds = 0;
    takt_timed result = takt::timed(5, 2, [&rounds] {
        rounds++;
        busy();
    });
    assert_int_equal(rounds, 7);
    assert_int_equal(result.count, 5);
    assert_true(0.0 < result.min_ns && result.min_ns <= result.median_ns &&
                result.median_ns <= result.max_ns);
    takt_timed_options options = takt_timed_options();
    options.repeat = 2;
    options.precision = "fp64";
    options.peak_flops = 1.0;
    result = takt::timed(options, [] { TAKT_WORK(1e6, 0); });
    assert_int_equal(result.count, 2);
    assert_string_equal(result.precision, "fp64");
    assert_true(result.flops == 1e6 && result.utilization > 1.0);
}

void a_configuration_tells_what_is_wrong(void **)
{
    takt::Config none("/nonexistent.yaml");
    assert_false(static_cast<bool>(none));
    assert_false(none.enabled());
    assert_int_equal(none.error().status, TAKT_IO_ERROR);
    assert_int_equal(none.set("profiling.wait", "3"), TAKT_BAD_STATE);

    char name[] = "program", key[] = "--profiling.wait", value[] = "5", rest[] = "mine";
    char *argv[] = {name, key, value, rest, nullptr};
    int argc = 4;
    takt::Config config;
    assert_true(static_cast<bool>(config));
    assert_false(config.enabled());
    assert_int_equal(config.args(&argc, argv), TAKT_OK);
    assert_int_equal(argc, 2);
    assert_true(config.enabled());
    assert_int_equal(config.options().schedule.wait, 5);
    takt::Profiler asked(config);
    assert_true(static_cast<bool>(asked));
    assert_int_equal(config.set("profiling.enabled", "false"), TAKT_OK);
    takt::Profiler off(config);
    assert_false(static_cast<bool>(off));
    assert_int_equal(off.start(), TAKT_OK);
    assert_int_equal(config.set("profiling.wiat", "3"), TAKT_BAD_CONFIG);
    assert_true(std::string(config.error().message).find("wait") != std::string::npos);
}

void an_event_is_so_long_after_another(void **)
{
    takt::Event begin, end;
    assert_true(end.elapsed_ms_since(begin) == 1.0);
    assert_true(begin.elapsed_ms_since(end) == -1.0);
}

enum Material {
    STEEL = 7
};
enum class Shift : short {
    BACK = -2
};

/* The arguments of the only span. */
struct Arguments {
    takt::Trace trace;
    size_t next;

    takt_arg_info take()
    {
        takt_arg_info info = takt_arg_info();
        assert_int_equal(takt_trace_arg(trace.get(), 0, 0, next++, &info), TAKT_OK);
        return info;
    }
    void is_text(const char *text)
    {
        takt_arg_info info = take();
        assert_int_equal(info.kind, TAKT_ARG_TEXT);
        assert_string_equal(info.text, text);
    }
    void is_double(double value)
    {
        takt_arg_info info = take();
        assert_int_equal(info.kind, TAKT_ARG_DOUBLE);
        assert_true(info.d == value);
    }
    void is_int(int64_t value)
    {
        takt_arg_info info = take();
        assert_int_equal(info.kind, TAKT_ARG_INT);
        assert_true(info.i == value);
    }
    void is_uint(uint64_t value)
    {
        takt_arg_info info = take();
        assert_int_equal(info.kind, TAKT_ARG_UINT);
        assert_true(info.u == value);
    }
};

void arguments_are_recorded_as_what_they_are(void **)
{
    takt::Profiler profiler(TAKT_PROFILER_OPTIONS_INIT);
    assert_int_equal(profiler.start(), TAKT_OK);
    {
        TAKT_SCOPE("values");
        char buffer[16] = "steel";
        char *pointer = buffer + 1;
        const char *constant = "constant";
        const volatile long changing = -5;
        struct {
            unsigned bits : 3;
        } narrow = {5};
        TAKT_ARG("buffer", buffer);
        TAKT_ARG("pointer", pointer);
        TAKT_ARG("constant", constant);
        TAKT_ARG("literal", "literal");
        TAKT_ARG("null", (char *)nullptr);
        TAKT_ARG("float", 0.25f);
        TAKT_ARG("double", 0.1);
        TAKT_ARG("long double", 0.1L);
        TAKT_ARG("small", 0.75L);
        TAKT_ARG("enum", STEEL);
        TAKT_ARG("enum class", Shift::BACK);
        TAKT_ARG("signed char", (signed char)-3);
        TAKT_ARG("volatile", changing);
        TAKT_ARG("unsigned char", (unsigned char)200);
        TAKT_ARG("bits", narrow.bits);
        TAKT_ARG("large", UINT64_MAX);
        TAKT_ARG("bool", narrow.bits == 5);
        buffer[0] = 'x'; /* it has been copied */
    }
    assert_int_equal(profiler.stop(), TAKT_OK);

    Arguments recorded = {profiler.trace(), 0};
    recorded.is_text("steel");
    recorded.is_text("teel");
    recorded.is_text("constant");
    recorded.is_text("literal");
    recorded.is_text("(null)");
    recorded.is_double(0.25);
    recorded.is_double(0.1);
    recorded.is_double(0.1);
    recorded.is_double(0.75);
    recorded.is_uint(7);
    recorded.is_int(-2);
    recorded.is_int(-3);
    recorded.is_int(-5);
    recorded.is_uint(200);
    recorded.is_uint(5);
    recorded.is_uint(UINT64_MAX);
    takt_arg_info flag = recorded.take();
    assert_int_equal(flag.kind, TAKT_ARG_BOOL);
    assert_int_equal(flag.i, 1);
    assert_int_equal(takt_trace_arg_count(recorded.trace.get(), 0, 0), recorded.next);
}

} // namespace

int main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_timer_ends_with_its_block),
        cmocka_unit_test(a_timer_ends_once),
        cmocka_unit_test(an_inactive_timer_does_nothing),
        cmocka_unit_test(options_can_be_kept_and_taken_back),
        cmocka_unit_test(a_lambda_gets_the_activities_and_is_freed),
        cmocka_unit_test(an_empty_profiler_does_nothing),
        cmocka_unit_test(a_profiler_hands_each_cycle_to_its_lambda),
        cmocka_unit_test(traces_are_kept_by_their_copies),
        cmocka_unit_test(timed_counts_only_what_follows_the_warmup),
        cmocka_unit_test(a_configuration_tells_what_is_wrong),
        cmocka_unit_test(an_event_is_so_long_after_another),
        cmocka_unit_test(arguments_are_recorded_as_what_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
