/* What takt/compat/tracy.h makes of a program that is annotated for Tracy. */
#include <takt/compat/tracy.h>
#include <takt/takt.hpp>

#include <cstdio>
#include <mutex>
#include <string>
#include <vector>

extern "C" {
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
}

namespace
{

struct Span {
    std::string track, name, parent;
};

/* All spans of a recording of `work`. */
struct Recording {
    template <typename Work> explicit Recording(Work work) : profiler(nullptr)
    {
        takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
        assert_int_equal(takt_profiler_create(&options, &profiler), TAKT_OK);
        assert_int_equal(takt_profiler_start(profiler), TAKT_OK);
        work();
        assert_int_equal(takt_profiler_stop(profiler), TAKT_OK);
        trace = takt_profiler_trace(profiler);
        for (size_t t = 0; t < takt_trace_count(trace, TAKT_TRACE_TRACKS); t++)
            read_track(t);
    }
    ~Recording() { takt_profiler_destroy(profiler); }

    void read_track(size_t t)
    {
        takt_track_info track = takt_track_info();
        assert_int_equal(takt_trace_track(trace, t, &track), TAKT_OK);
        for (size_t i = 0; i < track.span_count; i++) {
            takt_span_info span = takt_span_info(), parent = takt_span_info();
            assert_int_equal(takt_trace_span(trace, t, i, &span), TAKT_OK);
            if (span.parent != TAKT_NO_PARENT)
                assert_int_equal(takt_trace_span(trace, t, span.parent, &parent), TAKT_OK);
            const char *of = track.kind == TAKT_TRACK_THREAD ? "" : track.name;
            spans.push_back(Span{of, span.name, parent.name ? parent.name : ""});
        }
    }

    size_t count(const char *track, const char *name, const char *parent = "") const
    {
        size_t found = 0;
        for (const Span &span : spans)
            found += span.track == track && span.name == name && span.parent == parent;
        return found;
    }

    takt_profiler *profiler;
    const takt_trace *trace;
    std::vector<Span> spans;
};

void zoned()
{
    ZoneScoped;
    ZoneText("hello and more", 5);
    {
        ZoneScopedNC("inner", 0xFF8800);
        ZoneNamedN(off, "switched off", false);
        ZoneTransientN(made, std::string("made").c_str(), true);
    }
}

void zones_are_scopes(void **)
{
    const Recording r(zoned);
    assert_int_equal(r.spans.size(), 3);
    assert_int_equal(r.count("", "zoned"), 1);
    assert_int_equal(r.count("", "inner", "zoned"), 1);
    takt_span_info inner = takt_span_info();
    assert_int_equal(takt_trace_span(r.trace, 0, 1, &inner), TAKT_OK);
    assert_string_equal(inner.name, "inner");
    assert_int_equal(inner.color, 0xFFFF8800);
    assert_int_equal(r.count("", "made", "inner"), 1);
    takt_arg_info arg = takt_arg_info();
    assert_int_equal(takt_trace_arg_count(r.trace, 0, 0), 1);
    assert_int_equal(takt_trace_arg(r.trace, 0, 0, 0, &arg), TAKT_OK);
    assert_string_equal(arg.key, "text");
    assert_string_equal(arg.text, "hello");
}

void use_c_zones()
{
    TracyCZoneN(outer, "outer", true);
    TracyCZoneN(off, "off", false);
    TracyCZoneNC(inner, "inner", 0xFF, true);
    TracyCZoneEnd(inner);
    TracyCZoneEnd(off);
    TracyCZoneEnd(outer);
}

void zones_of_c_end_by_their_context(void **)
{
    const Recording r(use_c_zones);
    assert_int_equal(r.spans.size(), 2);
    assert_int_equal(r.count("", "inner", "outer"), 1);
}

void use_events()
{
    for (int i = 0; i < 3; i++)
        FrameMark;
    TracyMessage("a message and more", 9);
    TracyPlot("bodies", 42);
    FrameMarkStart("physics");
    FrameMarkEnd("physics");
    TracyFiberEnter("a fiber");
    TracyFiberLeave;
}

void use_many_frames()
{
    static char names[17][16];
    for (int i = 0; i < 17; i++) {
        std::snprintf(names[i], sizeof names[i], "frame %d", i);
        FrameMarkStart(names[i]);
    }
    for (int i = 0; i < 17; i++)
        FrameMarkEnd(names[i]);
    TracyMessage(std::string(300, 'x').c_str(), 300);
}

void what_is_too_much_is_told(void **)
{
    const Recording r(use_many_frames);
    takt_mark_info mark = takt_mark_info();
    assert_int_equal(r.spans.size(), 16);
    assert_int_equal(takt_trace_loss(r.trace, TAKT_LOSS_TOO_DEEP), 1);
    assert_int_equal(takt_trace_mark(r.trace, 0, &mark), TAKT_OK);
    assert_string_equal(mark.name, (std::string(252, 'x') + "...").c_str());
}

void frames_messages_and_plots_are_there(void **)
{
    const Recording r(use_events);
    takt_mark_info mark = takt_mark_info();
    takt_counter_info counter = takt_counter_info();
    assert_int_equal(takt_trace_count(r.trace, TAKT_TRACE_MARKS), 1);
    assert_int_equal(takt_trace_mark(r.trace, 0, &mark), TAKT_OK);
    assert_string_equal(mark.name, "a message");
    assert_int_equal(takt_trace_counter(r.trace, 0, &counter), TAKT_OK);
    assert_string_equal(counter.name, "bodies");
    assert_true(counter.value == 42.0);
    assert_int_equal(r.spans.size(), 4);
    assert_int_equal(r.count("frame", "frame"), 2);
    assert_int_equal(r.count("frames", "physics"), 1);
    assert_int_equal(r.count("a fiber", "a fiber"), 1);
}

void use_lock()
{
    static TracyLockableN(std::mutex, queue, "queue");
    std::lock_guard<LockableBase(std::mutex)> guard(queue);
}

void a_lock_has_its_waits_and_holds(void **)
{
    const Recording r(use_lock);
    assert_int_equal(r.spans.size(), 2);
    assert_int_equal(r.count("", "wait for queue"), 1);
    assert_int_equal(r.count("queue", "held"), 1);
}

} // namespace

int main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zones_are_scopes),
        cmocka_unit_test(zones_of_c_end_by_their_context),
        cmocka_unit_test(frames_messages_and_plots_are_there),
        cmocka_unit_test(what_is_too_much_is_told),
        cmocka_unit_test(a_lock_has_its_waits_and_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
