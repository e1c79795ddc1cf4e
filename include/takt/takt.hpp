/* takt/takt.hpp - Takt for C++11 and later: objects that end what they began, and lambdas. All of
 * it is a thin layer over takt/takt.h, and nothing here can do what C cannot.
 *
 *     void step()
 *     {
 *         TAKT_TIMER("step", takt::ScopedTimer::Options().synchronize().nvtx().color("yellow"));
 *         TAKT_SCOPE("forces");              // the macros of takt/scope.h, as in C
 *         ...
 *     }
 *
 * Nothing here throws: where there is no memory for a callback it is not called, and an object that
 * could not be made tells so, `if (!profiler) ... profiler.status()`. A callback must not throw
 * either, since it is called from C. Works with -fno-exceptions and -fno-rtti.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TAKT_TAKT_HPP
#define TAKT_TAKT_HPP

#ifndef __cplusplus
#error "takt/takt.hpp is for C++; C programs include takt/takt.h"
#endif

#include <takt/takt.h>

#include <new>
#include <type_traits>
#include <utility>

/* Classes contain structs that grow. So that parts of a program which were compiled with headers of
 * different releases keep their own, those of a release are in a namespace of its own:
 * takt::Profiler is takt::v0_1::Profiler. Include this header instead of declaring them. */
#define TAKT_RELEASE                                                                               \
    TAKT_JOIN(TAKT_JOIN(v, TAKT_VERSION_MAJOR), TAKT_JOIN(_, TAKT_VERSION_MINOR))

namespace takt {
inline namespace TAKT_RELEASE {

namespace detail {

/* Keeps a lambda behind one pointer, which is what C hands through as `user`. */
template <typename Result, typename... Arguments> class Callback {
public:
    Callback() noexcept : object_(nullptr) {}

    template <typename Function>
    explicit Callback(Function function) noexcept
        : object_(new (std::nothrow) Holder<Function>(std::move(function)))
    {
    }

    Callback(Callback &&other) noexcept : object_(other.object_) { other.object_ = nullptr; }

    Callback(const Callback &) = delete;
    Callback &operator=(const Callback &) = delete;

    ~Callback() { delete object_; }

    explicit operator bool() const noexcept { return object_ != nullptr; }

    Result operator()(Arguments... arguments) const { return object_->call(arguments...); }

private:
    struct Object {
        virtual ~Object() {}
        virtual Result call(Arguments... arguments) = 0;
    };

    template <typename Function> struct Holder : Object {
        explicit Holder(Function &&with) : function(std::move(with)) {}
        Result call(Arguments... arguments) override { return function(arguments...); }
        Function function;
    };

    Object *object_;
};

} // namespace detail

/* A scope whose name is known at run time only, from here to the end of the block. Names are
 * compared by content and copied. For names that are literals TAKT_SCOPE is several times
 * cheaper. */
class Scope {
public:
    explicit Scope(const char *name) noexcept { takt_begin(name); }
    ~Scope() { takt_end(); }

    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;
};

/* Times from its construction to its destruction, or to end(), and prints the time; see
 * takt_timer_options for what each option does. It stays on its thread. */
class ScopedTimer {
public:
    /* Options by name: ScopedTimer::Options().synchronize().filter(TAKT_TIMING_ALL). A plain value
     * that may be kept and used for many timers; what it points to must outlive them. */
    class Options {
    public:
        Options() noexcept : options_() { options_.struct_size = sizeof options_; }

        Options &inactive(bool on = true) noexcept
        {
            options_.inactive = on;
            return *this;
        }

        Options &silent(bool on = true) noexcept
        {
            options_.silent = on;
            return *this;
        }

        Options &detailed(bool on = true) noexcept
        {
            options_.detailed = on;
            return *this;
        }

        Options &synchronize(bool on = true) noexcept
        {
            options_.synchronize = on;
            return *this;
        }

        Options &nvtx(bool on = true) noexcept
        {
            options_.nvtx = on;
            return *this;
        }

        Options &filter(uint32_t bits) noexcept
        {
            options_.filter = bits;
            return *this;
        }

        Options &color(const char *name) noexcept
        {
            options_.color = name;
            return *this;
        }

        /* A plain function; a lambda is the third argument of the timer. */
        Options &report(takt_timing_report function, void *user = nullptr) noexcept
        {
            options_.report = function;
            options_.user = user;
            return *this;
        }

        Options &elapsed_ms(double *out) noexcept
        {
            options_.elapsed_ms = out;
            return *this;
        }

        Options &samples(takt_samples *list) noexcept
        {
            options_.samples = list;
            return *this;
        }

        Options &extra(const char *text) noexcept
        {
            options_.extra = text;
            return *this;
        }

        const takt_timer_options &get() const noexcept { return options_; }

    private:
        takt_timer_options options_;
    };

    /* `name` must stay valid until the end. */
    explicit ScopedTimer(const char *name, const Options &options = Options()) noexcept
        : running_(takt_timers_are_on() ? takt_timer_start(&timer_, name, options.get()) : nullptr),
          report_()
    {
    }

    /* `report` is called with (const takt_timing *results, const char *indent) in the place of the
     * tables; without a filter among the options it gets all activities. */
    template <typename Report>
    ScopedTimer(const char *name, const Options &options, Report report) noexcept
        : running_(nullptr), report_(std::move(report))
    {
        takt_timer_options with_report = options.get();
        if (report_) {
            with_report.report = call_report;
            with_report.user = this;
            if (!with_report.filter)
                with_report.filter = TAKT_TIMING_ALL;
        }
        if (takt_timers_are_on())
            running_ = takt_timer_start(&timer_, name, with_report);
    }

    ~ScopedTimer() { takt_timer_stop(running_); }

    /* Neither copied nor moved: the library knows its address. */
    ScopedTimer(const ScopedTimer &) = delete;
    ScopedTimer &operator=(const ScopedTimer &) = delete;

    /* Ends it now and returns the milliseconds; 0 if it has ended before or is inactive. */
    double end() noexcept
    {
        takt_timer *timer = running_;
        running_ = nullptr;
        return takt_timer_stop(timer);
    }

    /* Whether it still runs. */
    explicit operator bool() const noexcept { return running_ != nullptr; }

private:
    static void call_report(const takt_timing *results, const char *indent, void *user)
    {
        static_cast<ScopedTimer *>(user)->report_(results, indent);
    }

    takt_timer timer_;
    takt_timer *running_; /* timer_, or NULL */
    detail::Callback<void, const takt_timing *, const char *> report_;
};

/* A CUDA event, see takt/event.h; one that could not be made refuses everything.
 *
 *     takt::Event begin, end;
 *     begin.record(stream); step<<<...>>>(...); end.record(stream);
 *     double ms = end.elapsed_ms_since(begin); */
class Event {
public:
    explicit Event(bool is_timed = true) noexcept : event_()
    {
        status_ = takt_event_create(is_timed ? TAKT_EVENT_TIMED : TAKT_EVENT_UNTIMED, &event_);
    }

    ~Event() { takt_event_destroy(event_); }

    Event(const Event &) = delete;
    Event &operator=(const Event &) = delete;

    explicit operator bool() const noexcept { return event_ != nullptr; }
    takt_status status() const noexcept { return status_; }

    takt_status record(void *stream = nullptr) noexcept
    {
        return event_ ? takt_event_record(event_, stream) : status_;
    }
    takt_status query() noexcept { return event_ ? takt_event_query(event_) : status_; }
    takt_status synchronize() noexcept { return event_ ? takt_event_synchronize(event_) : status_; }

    /* Waits for both; a negative number where there is no such time. */
    double elapsed_ms_since(const Event &begin) const noexcept
    {
        double ms;
        return takt_event_elapsed_ms(begin.event_, event_, &ms) == TAKT_OK ? ms : -1.0;
    }

    takt_event *get() const noexcept { return event_; }

private:
    takt_event *event_;
    takt_status status_;
};

/* Runs block() `warmup + repeat` times and tells what the last `repeat` of them took. */
template <typename Block> takt_timed timed(uint32_t repeat, uint32_t warmup, Block &&block)
{
    struct Loop {
        takt_timed_loop loop;
        ~Loop() { takt_timed_end(&loop); } /* when block() throws, too */
    };
    takt_timed result = takt_timed();
    takt_timed_options options = takt_timed_options();
    options.struct_size = sizeof options;
    options.repeat = repeat;
    options.warmup = warmup;
    {
        Loop loop = {takt_timed_begin(&result, sizeof result, &options)};
        while (takt_timed_next(&loop.loop))
            block();
    }
    return result;
}

/* A sealed trace, kept as long as one of its copies lives; copying is cheap. */
class Trace {
public:
    Trace() noexcept : trace_(nullptr) {}

    /* Keeps a borrowed trace, such as the one that on_trace gets; NULL makes an empty one. */
    explicit Trace(const takt_trace *trace) noexcept
        : trace_(trace ? takt_trace_retain(trace) : nullptr)
    {
    }

    /* Reads a file. An empty one where that fails; `error` then says why. */
    static Trace open(const char *path, takt_error *error = nullptr) noexcept
    {
        Trace opened;
        takt_trace *trace = nullptr;
        if (takt_trace_open(path, &trace, error) == TAKT_OK)
            opened.trace_ = trace;
        return opened;
    }

    Trace(const Trace &other) noexcept : Trace(other.trace_) {}
    Trace(Trace &&other) noexcept : trace_(other.trace_) { other.trace_ = nullptr; }

    Trace &operator=(Trace other) noexcept
    {
        std::swap(trace_, other.trace_);
        return *this;
    }

    ~Trace()
    {
        if (trace_)
            takt_trace_release(trace_);
    }

    explicit operator bool() const noexcept { return trace_ != nullptr; }
    const takt_trace *get() const noexcept { return trace_; }

private:
    const takt_trace *trace_;
};

/* A configuration: a YAML file, the environment, the command line. See takt/config.h. */
class Config {
public:
    /* From the environment, TAKT_CONFIG and TAKT_OPTIONS. */
    Config() noexcept : config_(nullptr), error_() { takt_config_create(&config_, &error_); }

    /* From the file at `path`. */
    explicit Config(const char *path) noexcept : config_(nullptr), error_()
    {
        takt_config_load(path, &config_, &error_);
    }

    ~Config() { takt_config_destroy(config_); }

    Config(const Config &) = delete;
    Config &operator=(const Config &) = delete;

    /* False where it could not be read; error() says why. */
    explicit operator bool() const noexcept { return config_ != nullptr; }

    takt_status set(const char *key, const char *value) noexcept
    {
        return config_ ? takt_config_set(config_, key, value, &error_) : TAKT_BAD_STATE;
    }

    /* Takes Takt's arguments out of argc and argv. */
    takt_status args(int *argc, char **argv) noexcept
    {
        return config_ ? takt_config_args(config_, argc, argv, &error_) : TAKT_BAD_STATE;
    }

    /* Whether profiling is asked for; false where the configuration could not be read. */
    bool enabled() const noexcept { return config_ && takt_config_enabled(config_); }

    /* The options that it amounts to, or the defaults. */
    takt_profiler_options options() const noexcept
    {
        takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
        if (config_)
            takt_config_options(config_, &options);
        return options;
    }

    /* Of the last call that failed: error().message is one line. */
    const takt_error &error() const noexcept { return error_; }
    takt_config      *get() const noexcept { return config_; }

private:
    takt_config *config_;
    takt_error   error_;
};

/* The stepping profiler. Where it was not asked for, or could not be made, it is off: its calls do
 * nothing and return TAKT_OK, so that a program keeps them when it is not profiled. */
class Profiler {
public:
    /* The one that the environment asks for, see takt/profiler.h; off where it asks for none. */
    Profiler() noexcept : profiler_(nullptr), status_(TAKT_OK), is_off_(false), on_trace_() {}

    explicit Profiler(const takt_profiler_options &options) noexcept
        : profiler_(nullptr), status_(TAKT_OK), is_off_(false), on_trace_()
    {
        create(options);
    }

    /* `on_trace` is called with (const takt_trace *) on the thread that steps, when a cycle has
     * been saved; the trace is borrowed, a takt::Trace keeps it. It replaces options.on_trace. */
    template <typename OnTrace>
    Profiler(const takt_profiler_options &options, OnTrace on_trace) noexcept
        : profiler_(nullptr), status_(TAKT_OK), is_off_(false), on_trace_(std::move(on_trace))
    {
        create(options);
    }

    /* As `config` says; off where it does not ask for profiling. */
    explicit Profiler(const Config &config) noexcept
        : profiler_(nullptr), status_(TAKT_OK), is_off_(!config.enabled()), on_trace_()
    {
        if (!is_off_)
            create(config.options());
    }

    template <typename OnTrace>
    Profiler(const Config &config, OnTrace on_trace) noexcept
        : profiler_(nullptr), status_(TAKT_OK), is_off_(!config.enabled()),
          on_trace_(std::move(on_trace))
    {
        if (!is_off_)
            create(config.options());
    }

    /* Stops it if it runs; on_trace may be called once more. */
    ~Profiler() { takt_profiler_destroy(profiler_); }

    /* Neither copied nor moved: the library knows its address. */
    Profiler(const Profiler &) = delete;
    Profiler &operator=(const Profiler &) = delete;

    /* Whether a profiler was made, and why it could not be. */
    explicit operator bool() const noexcept { return profiler_ != nullptr; }
    takt_status status() const noexcept { return status_; }

    takt_status start() noexcept { return is_off_ ? TAKT_OK : takt_profiler_start(profiler_); }
    takt_status step() noexcept { return is_off_ ? TAKT_OK : takt_profiler_step(profiler_); }
    takt_status stop() noexcept { return is_off_ ? TAKT_OK : takt_profiler_stop(profiler_); }

    /* How much simulated time one step advances, in seconds. */
    takt_status step_time(double seconds) noexcept
    {
        return is_off_ ? TAKT_OK : takt_profiler_step_time(profiler_, seconds);
    }

    /* The number of the current step, and what it is. */
    uint64_t step_number() const noexcept { return takt_profiler_step_number(profiler_); }
    takt_action action() const noexcept { return takt_profiler_action(profiler_); }

    /* The last trace that was saved, or an empty one. */
    Trace trace() const noexcept { return Trace(takt_profiler_trace(profiler_)); }

    takt_profiler *get() const noexcept { return profiler_; }

private:
    static void call_on_trace(const takt_trace *trace, void *user)
    {
        static_cast<Profiler *>(user)->on_trace_(trace);
    }

    void create(const takt_profiler_options &options) noexcept
    {
        takt_profiler_options mine = options;
        if (on_trace_) {
            mine.on_trace = call_on_trace;
            mine.user = this;
        }
        status_ = takt_profiler_create(&mine, &profiler_);
        is_off_ = status_ != TAKT_OK;
    }

    takt_profiler                             *profiler_;
    takt_status                                status_;
    bool                                       is_off_;
    detail::Callback<void, const takt_trace *> on_trace_;
};

} // namespace TAKT_RELEASE
} // namespace takt

/* TAKT_TIMER of takt/timer.h for C++: the arguments are those of takt::ScopedTimer.
 *
 *     TAKT_TIMER("Demo");
 *     TAKT_TIMER("Demo", takt::ScopedTimer::Options().synchronize().color("yellow"));
 *     TAKT_TIMER_BEGIN(timer, "Demo"); ... double ms = TAKT_TIMER_END(timer); */
#ifndef TAKT_DISABLE
#define TAKT_TIMER(...)              takt::ScopedTimer TAKT_ID(takt_timer_)(__VA_ARGS__)
#define TAKT_TIMER_BEGIN(timer, ...) takt::ScopedTimer timer(__VA_ARGS__)
#define TAKT_TIMER_END(timer)        ((timer).end())
#else /* the arguments are compiled, and never run; a lambda may not stand inside sizeof */
#define TAKT_TIMER(...)                                                                            \
    do {                                                                                           \
        if (false)                                                                                 \
            takt::ScopedTimer(__VA_ARGS__).end();                                                  \
    } while (0)
#define TAKT_TIMER_BEGIN(timer, ...) TAKT_TIMER(__VA_ARGS__)
#define TAKT_TIMER_END(timer)        takt_checked(NULL) /* 0 */
#endif

#endif
