/* takt/takt.hpp - Takt for C++11 and later: classes that end in their destructor what their
 * constructor began, and callbacks as lambdas. All of it is a thin layer over takt/takt.h.
 *
 *     void step()
 *     {
 *         TAKT_TIMER("step", takt::ScopedTimer::Options().synchronize().nvtx().color("yellow"));
 *         TAKT_SCOPE("forces");              // the macros of takt/scope.h, as in C
 *         ...
 *     }
 *
 * Nothing here throws. If memory for a callback is exhausted, the callback is not called. An object
 * that could not be made converts to false: `if (!profiler) ... profiler.status()`. A callback must
 * not throw, because C code calls it. Works with -fno-exceptions and -fno-rtti. Threads, ownership
 * and errors are as for the C functions.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TAKT_TAKT_HPP
#define TAKT_TAKT_HPP

#ifndef __cplusplus
#error "takt/takt.hpp is for C++; C programs include takt/takt.h"
#endif

#include <takt/takt.h>

#include <new>
#include <utility>

/* The classes contain structs that grow with releases. Each release therefore has its own inline
 * namespace: takt::Profiler is takt::v0_1::Profiler. Parts of one program may then be compiled with
 * headers of different releases. Include this header instead of declaring the classes yourself. */
#define TAKT_RELEASE TAKT_JOIN(TAKT_JOIN(v, TAKT_VERSION_MAJOR), TAKT_JOIN(_, TAKT_VERSION_MINOR))

namespace takt {
inline namespace TAKT_RELEASE {

namespace detail {

/* Owns a lambda behind one pointer, which C code passes on as `user`. */
template <typename Result, typename... Arguments> class Callback {
public:
    TAKT_INLINE Callback() noexcept : object_(nullptr) {}

    template <typename Function>
    TAKT_INLINE explicit Callback(Function function) noexcept : object_(nullptr)
    {
#ifndef __CUDA_ARCH__
        object_ = new (std::nothrow) Holder<Function>(std::move(function));
#endif
    }

    Callback(const Callback &) = delete;
    Callback &operator=(const Callback &) = delete;

    TAKT_INLINE ~Callback()
    {
        if (object_)
            object_->destroy(object_);
    }

    TAKT_INLINE explicit operator bool() const noexcept
    {
        return object_ != nullptr;
    }

    TAKT_INLINE Result operator()(Arguments... arguments) const
    {
        return object_->call(object_, arguments...);
    }

private:
    struct Object {
        Result (*call)(Object *, Arguments...);
        void (*destroy)(Object *);
    };

    template <typename Function> struct Holder : Object {
        TAKT_HOST_INLINE explicit Holder(Function &&with)
            : Object{run, remove}, function(std::move(with))
        {
        }
        TAKT_HOST_INLINE static Result run(Object *object, Arguments... arguments)
        {
            return static_cast<Holder *>(object)->function(arguments...);
        }
        TAKT_HOST_INLINE static void remove(Object *object)
        {
            delete static_cast<Holder *>(object);
        }
        Function function;
    };

    Object *object_;
};

/* Ends the loop of takt::timed(), also when its block throws. */
class TimedLoop {
public:
    TAKT_INLINE explicit TimedLoop(const takt_timed_loop &begun) noexcept : loop(begun) {}
    TAKT_INLINE ~TimedLoop() { takt_timed_end(&loop); }
    TimedLoop(const TimedLoop &) = delete;
    TimedLoop &operator=(const TimedLoop &) = delete;
    takt_timed_loop loop;
};

/* What a TAKT_TIMER declares while macros are off. */
class NoTimer {
public:
    TAKT_INLINE explicit NoTimer(double) noexcept {}
    TAKT_INLINE ~NoTimer() {}
    NoTimer(const NoTimer &) = delete;
    NoTimer &operator=(const NoTimer &) = delete;
    TAKT_INLINE double end() noexcept { return 0; }
    TAKT_INLINE explicit operator bool() const noexcept { return false; }
};

} // namespace detail

/* Opens a scope that ends with the block and whose name is made at run time; the text is copied.
 * For literal names TAKT_SCOPE is several times cheaper. */
class Scope {
public:
    TAKT_INLINE explicit Scope(const char *name) noexcept : open_(takt_scope_named_v1(name)) {}
#ifdef __CUDA_ARCH__
    TAKT_INLINE ~Scope()
    {
    }
#else
    TAKT_INLINE ~Scope()
    {
        takt_scope_close(open_);
    }
#endif

    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

private:
    takt_open open_;
};

/* Measures the time from its construction to its destruction, or to end(), and prints it.
 * takt_timer_options explains each option. Construct and destroy a timer on one thread. */
class ScopedTimer {
public:
    /* Options by name: ScopedTimer::Options().synchronize().filter(TAKT_TIMING_ALL). The value may
     * be kept and used for many timers. Everything it points to must outlive these timers. */
    class Options {
    public:
        TAKT_INLINE Options() noexcept : options_() { options_.struct_size = sizeof options_; }

        TAKT_INLINE Options &inactive(bool on = true) noexcept
        {
            options_.inactive = on;
            return *this;
        }

        TAKT_INLINE Options &silent(bool on = true) noexcept
        {
            options_.silent = on;
            return *this;
        }

        TAKT_INLINE Options &detailed(bool on = true) noexcept
        {
            options_.detailed = on;
            return *this;
        }

        TAKT_INLINE Options &synchronize(bool on = true) noexcept
        {
            options_.synchronize = on;
            return *this;
        }

        TAKT_INLINE Options &nvtx(bool on = true) noexcept
        {
            options_.nvtx = on;
            return *this;
        }

        TAKT_INLINE Options &filter(uint32_t bits) noexcept
        {
            options_.filter = bits;
            return *this;
        }

        TAKT_INLINE Options &graph(takt_graph as) noexcept
        {
            options_.graph = as;
            return *this;
        }

        TAKT_INLINE Options &color(const char *name) noexcept
        {
            options_.color = name;
            return *this;
        }

        /* Takes a plain function. Pass a lambda as third argument of the timer instead. */
        TAKT_INLINE Options &report(takt_timing_report function, void *user = nullptr) noexcept
        {
            options_.report = function;
            options_.user = user;
            return *this;
        }

        TAKT_INLINE Options &elapsed_ms(double *out) noexcept
        {
            options_.elapsed_ms = out;
            return *this;
        }

        TAKT_INLINE Options &samples(takt_samples *list) noexcept
        {
            options_.samples = list;
            return *this;
        }

        TAKT_INLINE Options &extra(const char *text) noexcept
        {
            options_.extra = text;
            return *this;
        }

        TAKT_INLINE Options &domain(const char *name) noexcept
        {
            options_.domain = name;
            return *this;
        }

        TAKT_INLINE Options &category(const char *name) noexcept
        {
            options_.category = name;
            return *this;
        }

        TAKT_INLINE Options &payload(int64_t value) noexcept
        {
            options_.payload = value;
            options_.has_payload = true;
            return *this;
        }

        TAKT_INLINE const takt_timer_options &get() const noexcept { return options_; }

    private:
        takt_timer_options options_;
    };

    /* `name` must stay valid until the timer ends. */
    TAKT_INLINE explicit ScopedTimer(const char *name, const Options &options = Options()) noexcept
        : running_(takt_timers_are_on() ? takt_timer_start(&timer_, name, options.get()) : nullptr),
          report_()
    {
    }

    /* Calls `report` with (const takt_timing *results, const char *indent) instead of printing
     * tables. Without a filter in the options, `results` has all activities. */
    template <typename Report>
    TAKT_INLINE ScopedTimer(const char *name, const Options &options, Report report) noexcept
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

    TAKT_INLINE ~ScopedTimer() { takt_timer_stop(running_); }

    /* Not copied or moved: the library stores the address. */
    ScopedTimer(const ScopedTimer &) = delete;
    ScopedTimer &operator=(const ScopedTimer &) = delete;

    /* Ends the timer now and returns the milliseconds; 0 if it has ended before or never ran. */
    TAKT_INLINE double end() noexcept
    {
        takt_timer *timer = running_;
        running_ = nullptr;
        return takt_timer_stop(timer);
    }

    /* True while the timer runs. */
    TAKT_INLINE explicit operator bool() const noexcept { return running_ != nullptr; }

private:
    TAKT_HOST_INLINE static void call_report(const takt_timing *results, const char *indent,
                                             void *user)
    {
        static_cast<ScopedTimer *>(user)->report_(results, indent);
    }

    takt_timer timer_;
    takt_timer *running_; /* &timer_, or NULL when not running */
    detail::Callback<void, const takt_timing *, const char *> report_;
};

/* A CUDA event, see takt/event.h. If it could not be made, record(), query() and synchronize()
 * return the reason.
 *
 *     takt::Event begin, end;
 *     begin.record(stream); step<<<...>>>(...); end.record(stream);
 *     double ms = end.elapsed_ms_since(begin); */
class Event {
public:
    TAKT_INLINE explicit Event(bool is_timed = true) noexcept : event_()
    {
        status_ = takt_event_create(is_timed ? TAKT_EVENT_TIMED : TAKT_EVENT_UNTIMED, &event_);
    }

    TAKT_INLINE ~Event() { takt_event_destroy(event_); }

    Event(const Event &) = delete;
    Event &operator=(const Event &) = delete;

    TAKT_INLINE explicit operator bool() const noexcept { return event_ != nullptr; }
    TAKT_INLINE takt_status status() const noexcept { return status_; }

    TAKT_INLINE takt_status record(void *stream = nullptr) noexcept
    {
        return event_ ? takt_event_record(event_, stream) : status_;
    }
    TAKT_INLINE takt_status query() noexcept { return event_ ? takt_event_query(event_) : status_; }
    TAKT_INLINE takt_status synchronize() noexcept
    {
        return event_ ? takt_event_synchronize(event_) : status_;
    }

    /* Waits for both events and returns the milliseconds; -1 if there is no such time. */
    TAKT_INLINE double elapsed_ms_since(const Event &begin) const noexcept
    {
        double ms;
        return takt_event_elapsed_ms(begin.event_, event_, &ms) == TAKT_OK ? ms : -1.0;
    }

    TAKT_INLINE takt_event *get() const noexcept { return event_; }

private:
    takt_event *event_;
    takt_status status_;
};

/* Runs block() `warmup + repeat` times and returns statistics of the last `repeat` runs. Sets the
 * options' struct_size. */
template <typename Block>
TAKT_HOST_INLINE takt_timed timed(takt_timed_options options, Block &&block)
{
    takt_timed result = takt_timed();
    options.struct_size = sizeof options;
    {
        detail::TimedLoop loop(takt_timed_begin(&result, sizeof result, &options));
        while (takt_timed_next(&loop.loop))
            block();
    }
    return result;
}

template <typename Block>
TAKT_HOST_INLINE takt_timed timed(uint32_t repeat, uint32_t warmup, Block &&block)
{
    takt_timed_options options = takt_timed_options();
    options.repeat = repeat;
    options.warmup = warmup;
    return timed(options, block);
}

/* A sealed trace. The last copy releases it; copying is cheap. */
class Trace {
public:
    TAKT_HOST_INLINE Trace() noexcept : trace_(nullptr) {}

    /* Keeps a borrowed trace, such as the argument of on_trace. NULL makes an empty object. */
    TAKT_HOST_INLINE explicit Trace(const takt_trace *trace) noexcept
        : trace_(trace ? takt_trace_retain(trace) : nullptr)
    {
    }

    /* Reads a trace file. On failure returns an empty object, and `error` has the reason. */
    TAKT_HOST_INLINE static Trace open(const char *path, takt_error *error = nullptr) noexcept
    {
        Trace opened;
        takt_trace *trace = nullptr;
        if (takt_trace_open(path, &trace, error) == TAKT_OK)
            opened.trace_ = trace;
        return opened;
    }

    TAKT_HOST_INLINE Trace(const Trace &other) noexcept : Trace(other.trace_) {}
    TAKT_HOST_INLINE Trace(Trace &&other) noexcept : trace_(other.trace_)
    {
        other.trace_ = nullptr;
    }

    TAKT_HOST_INLINE Trace &operator=(Trace other) noexcept
    {
        const takt_trace *mine = trace_; /* std::swap() would be exported by programs */
        trace_ = other.trace_;
        other.trace_ = mine;
        return *this;
    }

    TAKT_HOST_INLINE ~Trace()
    {
        if (trace_)
            takt_trace_release(trace_);
    }

    TAKT_HOST_INLINE explicit operator bool() const noexcept { return trace_ != nullptr; }
    TAKT_HOST_INLINE const takt_trace *get() const noexcept { return trace_; }

private:
    const takt_trace *trace_;
};

/* A configuration from a YAML file, the environment and the command line; see takt/config.h. */
class Config {
public:
    /* Reads the environment: TAKT_CONFIG and TAKT_OPTIONS. */
    TAKT_HOST_INLINE Config() noexcept : config_(nullptr), error_()
    {
        takt_config_create(&config_, &error_);
    }

    /* Reads the file at `path`, then TAKT_OPTIONS. */
    TAKT_HOST_INLINE explicit Config(const char *path) noexcept : config_(nullptr), error_()
    {
        takt_config_load(path, &config_, &error_);
    }

    TAKT_HOST_INLINE ~Config() { takt_config_destroy(config_); }

    Config(const Config &) = delete;
    Config &operator=(const Config &) = delete;

    /* False if the configuration could not be read; error() has the reason. */
    TAKT_HOST_INLINE explicit operator bool() const noexcept { return config_ != nullptr; }

    TAKT_HOST_INLINE takt_status set(const char *key, const char *value) noexcept
    {
        return config_ ? takt_config_set(config_, key, value, &error_) : TAKT_BAD_STATE;
    }

    /* Removes Takt's arguments from argc and argv, and applies them. */
    TAKT_HOST_INLINE takt_status args(int *argc, char **argv) noexcept
    {
        return config_ ? takt_config_args(config_, argc, argv, &error_) : TAKT_BAD_STATE;
    }

    /* True if profiling is requested; false if the configuration could not be read. */
    TAKT_HOST_INLINE bool enabled() const noexcept
    {
        return config_ && takt_config_enabled(config_);
    }

    /* Returns the profiler options of this configuration, or the defaults if it could not be
     * read. */
    TAKT_HOST_INLINE takt_profiler_options options() const noexcept
    {
        takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
        if (config_)
            takt_config_options(config_, &options);
        return options;
    }

    /* Returns the error of the last failed call; error().message is one line. */
    TAKT_HOST_INLINE const takt_error &error() const noexcept { return error_; }
    TAKT_HOST_INLINE takt_config *get() const noexcept { return config_; }

private:
    takt_config *config_;
    takt_error error_;
};

/* The stepping profiler. If it was not requested or could not be made, it is off: its calls do
 * nothing and return TAKT_OK. A program can therefore keep its calls when nobody profiles. */
class Profiler {
public:
    /* The environment's profiler, see takt/profiler.h; off if the environment asks for none. */
    TAKT_HOST_INLINE Profiler() noexcept
        : profiler_(nullptr), status_(TAKT_OK), is_off_(false), on_trace_()
    {
    }

    TAKT_HOST_INLINE explicit Profiler(const takt_profiler_options &options) noexcept
        : profiler_(nullptr), status_(TAKT_OK), is_off_(false), on_trace_()
    {
        create(options);
    }

    /* Calls `on_trace` with (const takt_trace *) on the thread that steps, after a cycle was saved.
     * The trace is borrowed; copy it into a takt::Trace to keep it. `on_trace` replaces
     * options.on_trace. */
    template <typename OnTrace>
    TAKT_HOST_INLINE Profiler(const takt_profiler_options &options, OnTrace on_trace) noexcept
        : profiler_(nullptr), status_(TAKT_OK), is_off_(false), on_trace_(std::move(on_trace))
    {
        create(options);
    }

    /* Uses the options of `config`; off if `config` does not request profiling. */
    TAKT_HOST_INLINE explicit Profiler(const Config &config) noexcept
        : profiler_(nullptr), status_(TAKT_OK), is_off_(!config.enabled()), on_trace_()
    {
        if (!is_off_)
            create(config.options());
    }

    template <typename OnTrace>
    TAKT_HOST_INLINE Profiler(const Config &config, OnTrace on_trace) noexcept
        : profiler_(nullptr), status_(TAKT_OK), is_off_(!config.enabled()),
          on_trace_(std::move(on_trace))
    {
        if (!is_off_)
            create(config.options());
    }

    /* Stops the profiler if it runs, which may call on_trace once more. */
    TAKT_HOST_INLINE ~Profiler() { takt_profiler_destroy(profiler_); }

    /* Not copied or moved: the library stores the address. */
    Profiler(const Profiler &) = delete;
    Profiler &operator=(const Profiler &) = delete;

    /* True if a profiler was made; otherwise status() has the reason. */
    TAKT_HOST_INLINE explicit operator bool() const noexcept { return profiler_ != nullptr; }
    TAKT_HOST_INLINE takt_status status() const noexcept { return status_; }

    TAKT_HOST_INLINE takt_status start() noexcept
    {
        return is_off_ ? TAKT_OK : takt_profiler_start(profiler_);
    }
    TAKT_HOST_INLINE takt_status step() noexcept
    {
        return is_off_ ? TAKT_OK : takt_profiler_step(profiler_);
    }
    TAKT_HOST_INLINE takt_status stop() noexcept
    {
        return is_off_ ? TAKT_OK : takt_profiler_stop(profiler_);
    }

    /* Declares the simulated time of one step, in seconds. */
    TAKT_HOST_INLINE takt_status step_time(double seconds) noexcept
    {
        return is_off_ ? TAKT_OK : takt_profiler_step_time(profiler_, seconds);
    }

    /* Return the number of the current step, and its action. */
    TAKT_HOST_INLINE uint64_t step_number() const noexcept
    {
        return takt_profiler_step_number(profiler_);
    }
    TAKT_HOST_INLINE takt_action action() const noexcept { return takt_profiler_action(profiler_); }

    /* Returns the last saved trace, or an empty object. */
    TAKT_HOST_INLINE Trace trace() const noexcept { return Trace(takt_profiler_trace(profiler_)); }

    TAKT_HOST_INLINE takt_profiler *get() const noexcept { return profiler_; }

private:
    TAKT_HOST_INLINE static void call_on_trace(const takt_trace *trace, void *user)
    {
        static_cast<Profiler *>(user)->on_trace_(trace);
    }

    TAKT_HOST_INLINE void create(const takt_profiler_options &options) noexcept
    {
        takt_profiler_options mine = options;
        if (on_trace_) {
            mine.on_trace = call_on_trace;
            mine.user = this;
        }
        status_ = takt_profiler_create(&mine, &profiler_);
        is_off_ = status_ != TAKT_OK;
    }

    takt_profiler *profiler_;
    takt_status status_;
    bool is_off_;
    detail::Callback<void, const takt_trace *> on_trace_;
};

} // namespace TAKT_RELEASE
} // namespace takt

/* TAKT_TIMER of takt/timer.h for C++, with the arguments of takt::ScopedTimer.
 *
 *     TAKT_TIMER("Demo");
 *     TAKT_TIMER("Demo", takt::ScopedTimer::Options().synchronize().color("yellow"));
 *     TAKT_TIMER_BEGIN(timer, "Demo"); ... double ms = TAKT_TIMER_END(timer); */
#define TAKT_TIMER(...)                                                                            \
    TAKT_QUIET_BEGIN                                                                               \
    TAKT_TIMER_BEGIN(TAKT_ID(takt_timer_), __VA_ARGS__)                                            \
    TAKT_QUIET_END
#define TAKT_TIMER_END(timer) ((timer).end())
#if TAKT_IS_OFF
#define TAKT_TIMER_BEGIN(timer, ...)                                                               \
    ::takt::detail::NoTimer timer(false ? ::takt::ScopedTimer(__VA_ARGS__).end() : 0.0)
#else
#define TAKT_TIMER_BEGIN(timer, ...) ::takt::ScopedTimer timer(__VA_ARGS__)
#endif

#endif
