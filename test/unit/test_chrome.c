/* What Takt's things become in Chrome JSON. */
#include "test_chrome.h"
#include "support/test.h"

#include <math.h>

TEST(header_is_kinetos)
{
    json_t *json = chrome_json(make_trace());
    assert_int_equal(integer_of(json, "schemaVersion"), 1);
    assert_int_equal(json_array_size(json_object_get(json, "deviceProperties")), 0);
    assert_true(json_is_array(json_object_get(json, "deviceProperties")));
    assert_string_equal(string_of(json, "displayTimeUnit"), "ms");
    assert_int_equal(integer_of(json, "baseTimeNanoseconds"), BASE_NS);
    assert_string_equal(string_of(json, "traceName"), "sph.0");
    json_t *distributed = json_object_get(json, "distributedInfo");
    assert_int_equal(integer_of(distributed, "rank"), 0);
    assert_int_equal(integer_of(distributed, "world_size"), 1);
    json_decref(json);
}

TEST(rank_has_a_blank_behind_the_colon)
{
    takt_trace *trace = make_trace();
    memory_sink memory = {0};
    assert_int_equal(export_bytes(trace, "chrome", &memory), TAKT_OK);
    assert_non_null(strstr(memory.data, "\"rank\": 0"));
    tkt_free(memory.data);
    takt_trace_release(trace);
}

TEST(trace_without_spans_is_complete)
{
    json_t *json = chrome_json(make_trace());
    assert_int_equal(count_phase(json, "X"), 0);
    json_t *name = find_event(json, "M", "process_name");
    assert_string_equal(string_of(args_of(name), "name"), "sph");
    assert_int_equal(integer_of(name, "pid"), PID);
    assert_string_equal(string_of(args_of(find_event(json, "M", "process_labels")), "labels"),
                        "CPU");
    assert_int_equal(integer_of(args_of(find_event(json, "M", "process_sort_index")), "sort_index"),
                     PID);
    assert_int_equal(begin_of(find_event(json, "i", "Iteration Start: Takt")), 0);
    json_t *events = json_object_get(json, "traceEvents");
    json_t *last = json_array_get(events, json_array_size(events) - 1);
    assert_string_equal(string_of(last, "name"), "Record Window End");
    assert_int_equal(begin_of(last), END_NS - BEGIN_NS);
    json_decref(json);
}

TEST(span_keeps_its_nanoseconds)
{
    /* Around the digits where numbers get longer, and across a second. */
    static const uint64_t times[][2] = {{0, 0},
                                        {0, 1},
                                        {1, 9},
                                        {9, 10},
                                        {99, 199},
                                        {999, 1000},
                                        {1000, 1001},
                                        {1001, 10998},
                                        {9999, 19999},
                                        {100000, 199999},
                                        {999999, 1000000},
                                        {1, 9999999},
                                        {1, 10000000},
                                        {1, 10000001},
                                        {999999999, 1000000000},
                                        {10000000, 10000001},
                                        {990099000, 990099001},
                                        {5, 1000000004},
                                        {5, 7999999999},
                                        {3999999999, 4000000000}};
    takt_trace *trace = make_trace();
    uint32_t site = add_scope(trace, "a");
    size_t count = sizeof times / sizeof *times;
    for (size_t i = 0; i < count; i++)
        add_span(trace, add_thread(trace, "", (uint32_t)i + 1), site, times[i][0], times[i][1]);
    json_t *json = chrome_json(trace);
    for (size_t i = 0; i < count; i++) {
        json_t *event = find_nth(json, "X", "a", i);
        assert_int_equal(begin_of(event), times[i][0]);
        assert_int_equal(ns_of(event, "dur"), times[i][1] - times[i][0]);
        assert_int_equal(integer_of(event, "tid"), i + 1);
        assert_int_equal(integer_of(event, "pid"), PID);
        assert_string_equal(string_of(event, "cat"), "cpu_op");
    }
    json_decref(json);
}

TEST(durations_of_all_lengths_are_exact)
{
    takt_trace *trace = make_trace();
    uint32_t site = add_scope(trace, "a");
    uint64_t total = 0;
    uint64_t duration = 0;
    size_t count = 0;
    for (; duration < UINT64_C(8000000000); duration += duration / 7 + 1, count++) {
        add_span(trace, add_thread(trace, "", (uint32_t)count + 1), site, 0, duration);
        total += duration;
    }
    json_t *json = chrome_json(trace);
    for (size_t i = 0; i < count; i++)
        total -= (uint64_t)ns_of(find_nth(json, "X", "a", i), "dur");
    assert_int_equal(total, 0);
    json_decref(json);
}

/* Before its own clock's second 1 there are no cached digits. */
TEST(times_near_the_base_have_no_leading_zeros)
{
    takt_trace *trace = make_trace();
    trace->facts.realtime_offset_ns = -(int64_t)BEGIN_NS;
    uint32_t track = add_thread(trace, "", 1);
    uint32_t site = add_scope(trace, "a");
    add_span(trace, track, site, 0, 1);
    add_span(trace, track, site, 1005, 1006);
    add_span(trace, track, site, 1000000050, 1000000051);
    json_t *json = chrome_json(trace);
    assert_int_equal(integer_of(json, "baseTimeNanoseconds"), 0);
    assert_int_equal(ns_of(find_nth(json, "X", "a", 0), "ts"), 0);
    assert_int_equal(ns_of(find_nth(json, "X", "a", 1), "ts"), 1005);
    assert_int_equal(ns_of(find_nth(json, "X", "a", 2), "ts"), 1000000050);
    json_decref(json);
}

/* Perfetto drops what lies before zero, so the base is that of the earliest event. */
TEST(no_time_is_negative)
{
    takt_trace *trace = make_trace();
    trace->facts.realtime_offset_ns = BASE_NS - (int64_t)BEGIN_NS;
    uint32_t track = tkt_trace_add_track(trace, TAKT_TRACK_ASYNC, text(trace, "io"), 0);
    uint32_t site = add_scope(trace, "early");
    add_span(trace, track, site, 0, 10);
    trace->tracks.items[track].spans.items[0].begin_ns -= 5;
    json_t *json = chrome_json(trace);
    assert_int_equal(integer_of(json, "baseTimeNanoseconds"), BASE_NS - WEEK_NS);
    json_t *event = find_event(json, "X", "early");
    assert_int_equal(ns_of(event, "ts"), WEEK_NS - 5);
    json_decref(json);
}

/* Readers parse microseconds into doubles and multiply: in the last second of a week, and twelve
 * weeks into a quarter of a year, nothing is lost either. */
TEST(doubles_hold_each_nanosecond)
{
    takt_trace *trace = make_trace();
    int64_t last_second_ns = 12 * WEEK_NS - 1000000000;
    trace->facts.realtime_offset_ns = BASE_NS + last_second_ns - (int64_t)BEGIN_NS;
    uint32_t track = add_thread(trace, "", 1);
    uint32_t site = add_scope(trace, "late");
    for (uint64_t i = 0; i < 100; i++)
        add_span(trace, track, site, i * 9999999, i * 9999999 + 999);
    json_t *json = chrome_json(trace);
    int64_t offset_ns = BASE_NS + last_second_ns - integer_of(json, "baseTimeNanoseconds");
    for (size_t i = 0; i < 100; i++) {
        json_t *event = find_nth(json, "X", "late", i);
        assert_int_equal(ns_of(event, "ts") - offset_ns, i * 9999999);
        assert_int_equal(ns_of(event, "dur"), 999);
    }
    json_decref(json);
}

TEST(times_before_1970_have_their_base_too)
{
    takt_trace *trace = make_trace();
    trace->facts.realtime_offset_ns = -(int64_t)BEGIN_NS - 5;
    add_span(trace, add_thread(trace, "", 1), add_scope(trace, "a"), 0, 1);
    json_t *json = chrome_json(trace);
    assert_int_equal(integer_of(json, "baseTimeNanoseconds"), -WEEK_NS);
    assert_int_equal(ns_of(find_event(json, "X", "a"), "ts"), WEEK_NS - 5);
    json_decref(json);
}

TEST(absurd_times_are_still_json)
{
    static const int64_t offsets[] = {INT64_MIN, INT64_MAX, -1, 0, 1};
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        takt_trace *trace = make_trace();
        trace->facts.realtime_offset_ns = offsets[i];
        uint32_t track = tkt_trace_add_track(trace, TAKT_TRACK_ASYNC, 0, 0);
        add_span(trace, track, add_scope(trace, "a"), 0, 0);
        trace->tracks.items[track].spans.items[0].begin_ns = 0;
        trace->tracks.items[track].spans.items[0].end_ns = UINT64_MAX;
        json_decref(chrome_json(trace));
    }
}

TEST(threads_are_named_and_ordered)
{
    takt_trace *trace = make_trace();
    uint32_t site = add_scope(trace, "a");
    add_span(trace, add_thread(trace, "main", 20), site, 0, 1);
    add_span(trace, add_thread(trace, "", 10), site, 0, 1);
    json_t *json = chrome_json(trace);
    assert_string_equal(row_name(json, 20), "thread 20 (main)");
    assert_string_equal(row_name(json, 10), "thread 10");
    json_t *steps = find_nth(json, "M", "thread_sort_index", 0);
    json_t *first = find_nth(json, "M", "thread_sort_index", 1);
    json_t *second = find_nth(json, "M", "thread_sort_index", 2);
    assert_string_equal(row_name(json, integer_of(steps, "tid")), "steps");
    assert_int_equal(integer_of(first, "tid"), 20);
    assert_true(integer_of(args_of(steps), "sort_index") <
                integer_of(args_of(first), "sort_index"));
    assert_true(integer_of(args_of(first), "sort_index") <
                integer_of(args_of(second), "sort_index"));
    json_decref(json);
}

/* A thread's id is given to another one after its end. */
TEST(threads_of_one_id_have_rows_of_their_own)
{
    takt_trace *trace = make_trace();
    uint32_t site = add_scope(trace, "a");
    add_span(trace, add_thread(trace, "first", 7), site, 0, 10);
    add_span(trace, add_thread(trace, "second", 7), site, 5, 15);
    json_t *json = chrome_json(trace);
    int64_t one = integer_of(find_nth(json, "X", "a", 0), "tid");
    int64_t other = integer_of(find_nth(json, "X", "a", 1), "tid");
    assert_int_equal(one, 7);
    assert_int_not_equal(one, other);
    assert_string_equal(row_name(json, one), "thread 7 (first)");
    assert_string_equal(row_name(json, other), "thread 7 (second)");
    json_decref(json);
}

TEST(site_arguments_say_where_and_what)
{
    takt_trace *trace = make_trace();
    uint32_t track = add_thread(trace, "", 1);
    tkt_trace_site site = {.name = text(trace, "density"),
                           .file = text(trace, "/home/me/sph/density.c"),
                           .line = 80,
                           .category = text(trace, "physics"),
                           .device = text(trace, "cpu"),
                           .filter = TAKT_TIMING_KERNEL,
                           .kind = TAKT_SITE_ACTIVITY};
    add_span(trace, track, tkt_trace_site_index(trace, &site), 0, 1);
    json_t *json = chrome_json(trace);
    json_t *args = args_of(find_event(json, "X", "density"));
    assert_string_equal(string_of(args, "file"), "density.c:80");
    assert_string_equal(string_of(args, "category"), "physics");
    assert_string_equal(string_of(args, "device"), "cpu");
    assert_string_equal(string_of(args, "activity"), "kernel");
    assert_int_equal(json_object_size(args), 4);
    assert_int_equal(count_phase(json, "X"), 1);
    json_decref(json);
}

TEST(run_time_names_have_no_arguments)
{
    takt_trace *trace = make_trace();
    add_span(trace, add_thread(trace, "", 1), add_scope(trace, "a"), 0, 1);
    json_t *json = chrome_json(trace);
    assert_null(args_of(find_event(json, "X", "a")));
    json_decref(json);
}

TEST(arguments_keep_their_type)
{
    takt_trace *trace = make_trace();
    uint32_t track = add_thread(trace, "", 1);
    uint32_t site = add_site(trace, "a", "a.c", 1);
    add_span(trace, track, site, 0, 1);
    uint32_t span = add_span(trace, track, site, 2, 3);
    add_span(trace, track, site, 4, 5);
    const tkt_arg args[] = {
        {span, text(trace, "int"), {.i = INT64_MIN}, TKT_ARG_INT},
        {span, text(trace, "uint"), {.u = INT64_MAX}, TKT_ARG_UINT},
        {span, text(trace, "double"), {.d = 0.1}, TKT_ARG_DOUBLE},
        {span, text(trace, "whole"), {.d = 3}, TKT_ARG_DOUBLE},
        {span, text(trace, "nan"), {.d = NAN}, TKT_ARG_DOUBLE},
        {span, text(trace, "inf"), {.d = -INFINITY}, TKT_ARG_DOUBLE},
        {span, text(trace, "yes"), {.b = true}, TKT_ARG_BOOL},
        {span, text(trace, "text"), {.string = text(trace, "a\"b\\")}, TKT_ARG_STRING}};
    for (size_t i = 0; i < sizeof args / sizeof *args; i++)
        add_arg(trace, track, args[i]);
    json_t *json = chrome_json(trace);
    json_t *found = args_of(find_nth(json, "X", "a", 1));
    assert_int_equal(integer_of(found, "int"), INT64_MIN);
    assert_int_equal(integer_of(found, "uint"), INT64_MAX);
    assert_true(json_real_value(json_object_get(found, "double")) == 0.1);
    assert_true(json_is_real(json_object_get(found, "whole")));
    assert_string_equal(string_of(found, "nan"), "NaN");
    assert_string_equal(string_of(found, "inf"), "-Infinity");
    assert_true(json_is_true(json_object_get(found, "yes")));
    assert_string_equal(string_of(found, "text"), "a\"b\\");
    assert_string_equal(string_of(found, "file"), "a.c:1");
    assert_int_equal(json_object_size(found), 9);
    assert_int_equal(json_object_size(args_of(find_nth(json, "X", "a", 0))), 1);
    assert_int_equal(json_object_size(args_of(find_nth(json, "X", "a", 2))), 1);
    json_decref(json);
}

/* Readers keep one of equal keys, and Holistic Trace Analysis takes "stream" for a GPU's. */
TEST(argument_keys_do_not_collide)
{
    takt_trace *trace = make_trace();
    uint32_t track = add_thread(trace, "", 1);
    uint32_t site = add_site(trace, "a", "a.c", 1);
    for (uint32_t span = 0; span < 2; span++) {
        add_span(trace, track, site, span * 10, span * 10 + 5);
        add_arg(trace, track, (tkt_arg){span, text(trace, "i"), {.i = 1}, TKT_ARG_INT});
        add_arg(trace, track, (tkt_arg){span, text(trace, "i"), {.i = 2}, TKT_ARG_INT});
        add_arg(trace, track, (tkt_arg){span, text(trace, "stream"), {.i = 3}, TKT_ARG_INT});
        add_arg(trace, track, (tkt_arg){span, text(trace, "file"), {.i = 4}, TKT_ARG_INT});
    }
    json_t *json = chrome_json(trace);
    for (size_t n = 0; n < 2; n++) {
        json_t *args = args_of(find_nth(json, "X", "a", n));
        assert_int_equal(integer_of(args, "i"), 1);
        assert_int_equal(integer_of(args, "i#2"), 2);
        assert_int_equal(integer_of(args, "stream#2"), 3);
        assert_int_equal(integer_of(args, "file#2"), 4);
        assert_string_equal(string_of(args, "file"), "a.c:1");
    }
    json_decref(json);
}

TEST(work_and_marks_of_cut_spans_are_arguments)
{
    takt_trace *trace = make_trace();
    uint32_t track = add_thread(trace, "", 1);
    uint32_t site = add_scope(trace, "a");
    add_span(trace, track, site, 0, 1);
    trace->tracks.items[track].spans.items[0].site_flags |=
        TAKT_SPAN_BEGUN_BEFORE | TAKT_SPAN_UNFINISHED;
    uint32_t span = add_span(trace, track, site, 2, 3);
    tkt_work *work = TKT_ARRAY_ADD(&trace->tracks.items[track].works);
    *work = (tkt_work){span, 1e12, 0.5};
    json_t *json = chrome_json(trace);
    json_t *cut = args_of(find_nth(json, "X", "a", 0));
    assert_true(json_is_true(json_object_get(cut, "begun before")));
    assert_true(json_is_true(json_object_get(cut, "unfinished")));
    assert_int_equal(json_object_size(cut), 2);
    json_t *worked = args_of(find_nth(json, "X", "a", 1));
    assert_true(json_real_value(json_object_get(worked, "flops")) == 1e12);
    assert_true(json_real_value(json_object_get(worked, "bytes")) == 0.5);
    json_decref(json);
}

TEST(steps_are_kinetos_profiler_steps)
{
    takt_trace *trace = make_trace();
    for (uint64_t i = 0; i < 2; i++) {
        tkt_step *step = TKT_ARRAY_ADD(&trace->steps);
        *step = (tkt_step){83 + i, BEGIN_NS + i * 100, BEGIN_NS + i * 100 + 100};
    }
    json_t *json = chrome_json(trace);
    json_t *step = find_event(json, "X", "ProfilerStep#84");
    assert_string_equal(string_of(step, "cat"), "user_annotation");
    assert_int_equal(begin_of(step), 100);
    assert_int_equal(ns_of(step, "dur"), 100);
    assert_string_equal(row_name(json, integer_of(step, "tid")), "steps");
    find_event(json, "X", "ProfilerStep#83");
    json_decref(json);
}

TEST(marks_are_instants)
{
    takt_trace *trace = make_trace();
    uint32_t track = add_thread(trace, "main", 5);
    tkt_mark *mark = TKT_ARRAY_ADD(&trace->marks);
    *mark = (tkt_mark){BEGIN_NS + 42, track, add_site(trace, "contact", "src/contact.c", 9)};
    json_t *json = chrome_json(trace);
    json_t *event = find_event(json, "i", "contact");
    assert_string_equal(string_of(event, "s"), "t");
    assert_string_equal(string_of(event, "cat"), "cpu_instant_event");
    assert_int_equal(begin_of(event), 42);
    assert_int_equal(integer_of(event, "tid"), 5);
    assert_string_equal(string_of(args_of(event), "file"), "contact.c:9");
    assert_string_equal(row_name(json, 5), "thread 5 (main)");
    json_decref(json);
}

static void add_counter(takt_trace *trace, uint32_t track, double value)
{
    tkt_counter *counter = TKT_ARRAY_ADD(&trace->counters);
    *counter =
        (tkt_counter){BEGIN_NS + trace->counters.count, value, text(trace, "particles"), track};
}

TEST(counters_are_counters)
{
    takt_trace *trace = make_trace();
    uint32_t track = add_thread(trace, "", 5);
    add_counter(trace, track, 4096);
    add_counter(trace, track, -0.25);
    json_t *json = chrome_json(trace);
    json_t *event = find_nth(json, "C", "particles", 1);
    assert_int_equal(begin_of(event), 2);
    assert_true(json_real_value(json_object_get(args_of(event), "value")) == -0.25);
    assert_int_equal(count_phase(json, "C"), 2);
    json_decref(json);
}

TEST(counters_that_are_no_numbers_become_marks)
{
    takt_trace *trace = make_trace();
    uint32_t track = add_thread(trace, "", 5);
    add_counter(trace, track, NAN);
    add_counter(trace, track, INFINITY);
    json_t *json = chrome_json(trace);
    assert_int_equal(count_phase(json, "C"), 0);
    assert_string_equal(string_of(args_of(find_nth(json, "i", "particles", 0)), "value"), "NaN");
    assert_string_equal(string_of(args_of(find_nth(json, "i", "particles", 1)), "value"),
                        "Infinity");
    json_decref(json);
}

TEST(flows_are_arrows_between_spans)
{
    takt_trace *trace = make_trace();
    uint32_t from = add_thread(trace, "", 5);
    uint32_t to = add_thread(trace, "", 6);
    tkt_flow *flow = TKT_ARRAY_ADD(&trace->flows);
    *flow = (tkt_flow){BEGIN_NS + 1, UINT64_MAX, from, TKT_NO_SPAN, false};
    flow = TKT_ARRAY_ADD(&trace->flows);
    *flow = (tkt_flow){BEGIN_NS + 2, UINT64_MAX, to, TKT_NO_SPAN, true};
    json_t *json = chrome_json(trace);
    json_t *start = find_event(json, "s", "flow");
    json_t *finish = find_event(json, "f", "flow");
    assert_string_equal(string_of(start, "id"), "0xffffffffffffffff");
    assert_string_equal(string_of(finish, "id"), "0xffffffffffffffff");
    assert_string_equal(string_of(start, "cat"), string_of(finish, "cat"));
    assert_string_equal(string_of(finish, "bp"), "e");
    assert_int_equal(integer_of(start, "tid"), 5);
    assert_int_equal(integer_of(finish, "tid"), 6);
    json_decref(json);
}

TEST(memory_is_torchs_instant_and_a_counter)
{
    takt_trace *trace = make_trace();
    uint32_t track = add_thread(trace, "", 5);
    trace->memory.window_begin_bytes = 1000;
    static const int64_t bytes[] = {64, -64, -600};
    for (size_t i = 0; i < 3; i++) {
        tkt_memory_event *event = TKT_ARRAY_ADD(&trace->memory_events);
        *event =
            (tkt_memory_event){BEGIN_NS + i, 0x7f0000001000, bytes[i], track, TKT_NO_SPAN, 0, 0};
    }
    json_t *json = chrome_json(trace);
    json_t *args = args_of(find_nth(json, "i", "[memory]", 0));
    assert_int_equal(integer_of(args, "Addr"), 0x7f0000001000);
    assert_int_equal(integer_of(args, "Bytes"), 64);
    assert_int_equal(integer_of(args, "Total Allocated"), 1064);
    assert_int_equal(integer_of(args, "Total Reserved"), 0);
    assert_int_equal(integer_of(args, "Device Type"), 0);
    assert_int_equal(integer_of(args, "Device Id"), -1);
    json_t *counter = find_nth(json, "C", "host memory", 2);
    assert_int_equal(integer_of(args_of(counter), "bytes"), 400);
    json_decref(json);
}

/* Even a span inside another's time is not its child. */
TEST(async_spans_never_share_time_on_a_row)
{
    takt_trace *trace = make_trace();
    uint32_t track = tkt_trace_add_track(trace, TAKT_TRACK_ASYNC, text(trace, "io"), 0);
    uint32_t site = add_scope(trace, "request");
    add_span(trace, track, site, 0, 100);
    add_span(trace, track, site, 10, 50);
    add_span(trace, track, site, 20, 120);
    add_span(trace, track, site, 50, 60);   /* the second row is free again */
    add_span(trace, track, site, 200, 210); /* the first one is the uppermost */
    json_t *json = chrome_json(trace);
    static const char *const rows[] = {"io", "io (2)", "io (3)", "io (2)", "io"};
    for (size_t i = 0; i < 5; i++) {
        json_t *event = find_nth(json, "X", "request", i);
        assert_string_equal(row_name(json, integer_of(event, "tid")), rows[i]);
        assert_string_equal(string_of(event, "cat"), "user_annotation");
    }
    json_decref(json);
}

/* A name of run time is one site, wherever it is used. */
TEST(one_site_may_be_on_threads_and_async_tracks)
{
    takt_trace *trace = make_trace();
    uint32_t site = add_scope(trace, "a");
    add_span(trace, add_thread(trace, "", 1), site, 0, 1);
    add_span(trace, tkt_trace_add_track(trace, TAKT_TRACK_ASYNC, text(trace, "io"), 0), site, 0, 1);
    json_t *json = chrome_json(trace);
    assert_string_equal(string_of(find_nth(json, "X", "a", 0), "cat"), "cpu_op");
    assert_string_equal(string_of(find_nth(json, "X", "a", 1), "cat"), "user_annotation");
    json_decref(json);
}

/* Compared with the plain search for the uppermost row that is free. */
TEST(many_async_spans_take_the_uppermost_free_row)
{
    enum {
        COUNT = 2000,
        MOST = 64
    };
    takt_trace *trace = make_trace();
    uint32_t track = tkt_trace_add_track(trace, TAKT_TRACK_ASYNC, text(trace, "io"), 0);
    uint32_t site = add_scope(trace, "request");
    static uint32_t expected[COUNT];
    uint64_t ends[MOST] = {0};
    uint32_t random = 1;
    for (uint64_t i = 0, begin = 0; i < COUNT; i++) {
        random = random * 1664525 + 1013904223;
        begin += random >> 28;
        uint64_t end = begin + (random >> 16 & 0xFF);
        uint32_t row = 0;
        while (ends[row] > begin)
            assert_true(++row < MOST);
        ends[row] = end;
        expected[i] = row;
        add_span(trace, track, site, begin, end);
    }
    json_t *json = chrome_json(trace);
    int64_t first = integer_of(find_nth(json, "X", "request", 0), "tid");
    size_t index;
    json_t *event;
    size_t seen = 0;
    json_array_foreach(json_object_get(json, "traceEvents"), index, event)
    {
        if (strcmp(string_of(event, "ph"), "X") == 0)
            assert_int_equal(integer_of(event, "tid") - first, expected[seen++]);
    }
    assert_int_equal(seen, COUNT);
    json_decref(json);
}

TEST(activities_that_are_no_spans_have_rows_of_their_device)
{
    takt_trace *trace = make_trace();
    add_thread(trace, "", 1);
    static const struct {
        const char *device;
        uint32_t filter;
        uint64_t begin;
        uint64_t end;
    } works[] = {{"cuda:0", TAKT_TIMING_MEMSET, 30, 40}, /* issue order is not that of time */
                 {"cuda:0", TAKT_TIMING_KERNEL, 0, 20},
                 {"cuda:1", TAKT_TIMING_MEMCPY, 5, 15},
                 {"cuda:0", TAKT_TIMING_BUILTIN, 10, 30}};
    for (size_t i = 0; i < 4; i++) {
        tkt_activity *activity = TKT_ARRAY_ADD(&trace->activities);
        *activity = (tkt_activity){.call = TKT_NO_CALL,
                                   .shape = TKT_NO_SHAPE,
                                   .begin_ns = BEGIN_NS + works[i].begin,
                                   .end_ns = BEGIN_NS + works[i].end,
                                   .name = text(trace, works[i].device),
                                   .device = text(trace, works[i].device),
                                   .filter = works[i].filter,
                                   .track = 0,
                                   .span = TKT_NO_SPAN,
                                   .scope = TKT_NO_SPAN};
    }
    json_t *json = chrome_json(trace);
    json_t *kernel = find_nth(json, "X", "cuda:0", 0);
    json_t *builtin = find_nth(json, "X", "cuda:0", 1);
    json_t *memset = find_nth(json, "X", "cuda:0", 2);
    json_t *memcpy = find_event(json, "X", "cuda:1");
    assert_string_equal(string_of(kernel, "cat"), "kernel");
    assert_string_equal(string_of(builtin, "cat"), "kernel");
    assert_string_equal(string_of(memset, "cat"), "gpu_memset");
    assert_string_equal(string_of(memcpy, "cat"), "gpu_memcpy");
    assert_string_equal(row_name(json, integer_of(kernel, "tid")), "stream 7");
    assert_string_equal(row_name(json, integer_of(builtin, "tid")), "stream 7 (2)");
    assert_int_equal(integer_of(memset, "tid"), integer_of(kernel, "tid"));
    assert_int_equal(integer_of(memset, "pid"), 0);
    assert_int_equal(integer_of(memcpy, "pid"), 1);
    assert_int_equal(begin_of(memcpy), 5);
    assert_int_equal(integer_of(args_of(kernel), "device"), 0);
    json_decref(json);
}

TEST(losses_stand_in_label_and_header)
{
    takt_trace *trace = make_trace();
    trace->losses[TAKT_LOSS_BUFFER_FULL] = 12;
    trace->losses[TAKT_LOSS_MISMATCH] = 3;
    trace->facts.is_partial = true;
    trace->facts.cycle = 2;
    json_t *json = chrome_json(trace);
    assert_string_equal(string_of(args_of(find_event(json, "M", "process_labels")), "labels"),
                        "CPU; lost: dropped 12, mismatched 3");
    json_t *takt = json_object_get(json, "takt");
    json_t *losses = json_object_get(takt, "losses");
    assert_int_equal(integer_of(losses, "dropped"), 12);
    assert_int_equal(json_object_size(losses), TAKT_LOSS_COUNT);
    assert_true(json_is_true(json_object_get(takt, "partial")));
    assert_int_equal(integer_of(takt, "cycle"), 2);
    assert_string_equal(string_of(takt, "run"), "sph");
    assert_string_equal(string_of(takt, "backend"), "none");
    assert_string_equal(string_of(takt, "clock"), "tsc");
    assert_string_equal(string_of(json, "traceName"), "sph.2");
    json_decref(json);
}

TEST(summaries_have_no_timeline)
{
    takt_trace *trace = make_trace();
    trace->facts.has_spans = false;
    memory_sink memory = {0};
    assert_int_equal(export_bytes(trace, "chrome", &memory), TAKT_NO_SPANS);
    assert_int_equal(memory.size, 0);
    tkt_free(memory.data);
    takt_trace_release(trace);
}

TEST_MAIN(NULL, NULL)
