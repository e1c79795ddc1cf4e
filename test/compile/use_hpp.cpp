/* Everything of takt/takt.hpp, with and without TAKT_DISABLE. Compiled, never run. */
#include <takt/takt.hpp>

#include <type_traits>

int use_hpp(int argc, char **argv);

namespace
{

void plain_report(const takt_timing *results, const char *indent, void *user)
{
    *static_cast<size_t *>(user) += takt_timing_count(results) + (indent != nullptr);
}

int use_timers()
{
    typedef takt::ScopedTimer::Options Options;
    double elapsed_ms = 0.0;
    size_t count = 0;
    takt_samples samples = takt_samples();
    const Options kept = Options().silent().elapsed_ms(&elapsed_ms).samples(&samples);

    TAKT_TIMER("plain");
    TAKT_TIMER("options", Options().synchronize().nvtx().color("yellow").extra("more").detailed());
    TAKT_TIMER("kept", kept);
    TAKT_TIMER("function", Options().filter(TAKT_TIMING_ALL).report(plain_report, &count));
    TAKT_TIMER("lambda", Options().inactive(false),
               [&count](const takt_timing *results, const char *) {
                   count += takt_timing_count(results);
               });
    TAKT_TIMER_BEGIN(pair, "pair", kept);
    double pair_ms = TAKT_TIMER_END(pair);
    takt::ScopedTimer by_hand("by hand");
    if (by_hand)
        pair_ms += by_hand.end();
    takt_samples_free(&samples);
    if (pair_ms > 0.0)
        TAKT_TIMER("as one statement");
    return static_cast<int>(count);
}

int use_profiler(int *argc, char **argv)
{
    takt::Config from_file("profile.yaml");
    takt::Config config;
    if (!config || config.args(argc, argv) != TAKT_OK ||
        config.set("profiling.wait", "3") != TAKT_OK)
        return config.error().message[0];

    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    options.schedule.active = 3;
    takt::Trace last;
    takt::Profiler none;
    takt::Profiler configured(config);
    takt::Profiler with_lambda(config, [](const takt_trace *) {});
    takt::Profiler silent(config.enabled() ? config.options() : options);
    takt::Profiler profiler(options,
                            [&last](const takt_trace *trace) { last = takt::Trace(trace); });
    if (!profiler)
        return static_cast<int>(profiler.status());
    profiler.start();
    profiler.step_time(0.01);
    while (profiler.action() != TAKT_ACTION_NONE)
        profiler.step();
    profiler.stop();
    none.step();
    takt::Trace copy = profiler.trace();
    takt::Trace opened = takt::Trace::open("run.pftrace");
    opened = std::move(copy);
    return opened && silent && configured && with_lambda ? static_cast<int>(profiler.step_number())
                                                         : 0;
}

double use_events(void *stream)
{
    takt::Event begin, end, waited(false);
    begin.record(stream);
    TAKT_LAUNCH(stream, TAKT_TIMING_KERNEL, "density") {
        waited.record(stream);
    }
    end.record();
    return waited.synchronize() == TAKT_OK && end ? end.elapsed_ms_since(begin) : 0.0;
}

} // namespace

int use_hpp(int argc, char **argv)
{
    takt::Scope scope(argc > 0 ? argv[0] : "no name");
    TAKT_SCOPE("literal");
    int rounds = 0;
    takt_timed result = takt::timed(100, 1, [&rounds] { rounds++; });
    use_events(nullptr);
    return use_timers() + use_profiler(&argc, argv) + rounds + static_cast<int>(result.count);
}

static_assert(std::is_nothrow_default_constructible<takt::Profiler>::value, "none throws");
static_assert(!std::is_copy_constructible<takt::ScopedTimer>::value, "it has an address");
static_assert(!std::is_convertible<takt::Profiler, bool>::value, "operator bool is explicit");
static_assert(std::is_nothrow_move_constructible<takt::Trace>::value, "so that vectors move them");
