/* A trace written as a Perfetto file and read back is the same trace, in every field. */
#include "support/sanitized.h"
#include "support/test.h"
#include "support/trace_build.h"

#include "base/alloc.h"
#include "export/perfetto.h"
#include "trace/read.h"

/* Finishes the trace, sends it through a file, compares, frees. */
static void comes_back(takt_trace *trace)
{
    assert_int_equal(tkt_trace_finish(trace), TAKT_OK);
    takt_trace *back = write_and_read(trace);
    same_trace(trace, back);
    takt_trace_release(back);
    takt_trace_release(trace);
}

TEST(whole_trace_comes_back)
{
    comes_back(whole_trace());
}

TEST(empty_trace_comes_back)
{
    takt_trace *trace;
    assert_int_equal(tkt_trace_create(&trace), TAKT_OK);
    comes_back(trace);
}

TEST(random_traces_come_back)
{
    for (uint64_t seed = 1; seed <= FEWER(60, 200); seed++)
        comes_back(random_trace(seed, (uint32_t)(seed % 5), seed * 3));
}

TEST(a_file_of_a_file_is_the_same_file)
{
    takt_trace *trace = random_trace(7, 4, 300);
    make_facts(trace);
    assert_int_equal(tkt_trace_finish(trace), TAKT_OK);
    memory_sink first = write_trace(trace);
    takt_trace *back = read_bytes(first.data, first.size);
    memory_sink second = write_trace(back);
    assert_int_equal(first.size, second.size);
    assert_memory_equal(first.data, second.data, first.size);
    tkt_free(first.data);
    tkt_free(second.data);
    takt_trace_release(back);
    takt_trace_release(trace);
}

/* ---- Times and nesting ----------------------------------------------------------------------- */

/* All of them at one moment: only the order of packets says which is inside which. */
TEST(spans_without_duration_keep_their_nesting)
{
    takt_trace *trace = make_trace();
    uint32_t track = make_thread(trace, "main", 1);
    uint32_t site = make_site(trace, "same", TAKT_SITE_SCOPE);
    uint32_t first = make_span(trace, track, site, TKT_NO_SPAN, BEGIN_NS, BEGIN_NS);
    uint32_t inner = make_span(trace, track, site, first, BEGIN_NS, BEGIN_NS);
    make_span(trace, track, site, inner, BEGIN_NS, BEGIN_NS);
    make_span(trace, track, site, first, BEGIN_NS, BEGIN_NS);
    make_span(trace, track, site, TKT_NO_SPAN, BEGIN_NS, BEGIN_NS);
    comes_back(trace);
}

static takt_trace *border_trace(void)
{
    takt_trace *trace = make_trace();
    uint32_t track = make_thread(trace, "main", 1);
    uint32_t site = make_site(trace, "same", TAKT_SITE_SCOPE);
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t parent = i == 2 ? 1 : TKT_NO_SPAN;
        make_span(trace, track, site, parent, BEGIN_NS + 10, BEGIN_NS + 10);
    }
    for (uint32_t span = 4; span-- > 0;)
        ADD(&trace->flows, (tkt_flow){BEGIN_NS + 10, span, track, span, false});
    ADD(&trace->flows, (tkt_flow){BEGIN_NS + 10, 9, track, TKT_NO_SPAN, true});
    ADD(&trace->flows, (tkt_flow){BEGIN_NS, 10, track, 3, true}); /* before its span */
    ADD(&trace->flows, (tkt_flow){UINT64_MAX, 11, track, 0, true});
    return trace;
}

TEST(events_at_a_border_keep_their_span)
{
    comes_back(border_trace());
}

/* Clocks of rows start where the recording is said to begin. */
TEST(what_was_before_the_recording_comes_back)
{
    takt_trace *trace = border_trace();
    trace->facts.begin_ns = trace->facts.end_ns = 2 * END_NS;
    comes_back(trace);
}

TEST(long_and_extreme_times_come_back)
{
    takt_trace *trace = make_trace();
    trace->facts.end_ns = UINT64_MAX;
    uint32_t track = make_thread(trace, "main", 1);
    uint32_t site = make_site(trace, "days", TAKT_SITE_SCOPE);
    uint64_t day_ns = UINT64_C(86400000000000);
    make_span(trace, track, site, TKT_NO_SPAN, 0, 0); /* before the recording */
    make_span(trace, track, site, TKT_NO_SPAN, BEGIN_NS, BEGIN_NS + 400 * day_ns);
    make_span(trace, track, site, TKT_NO_SPAN, BEGIN_NS + 400 * day_ns, UINT64_MAX);
    make_span(trace, track, site, TKT_NO_SPAN, 5, 6); /* time goes back */
    comes_back(trace);
}

TEST(five_thousand_deep_comes_back)
{
    takt_trace *trace = make_trace();
    uint32_t track = make_thread(trace, "main", 1);
    uint32_t site = make_site(trace, "recursion", TAKT_SITE_SCOPE);
    uint32_t parent = TKT_NO_SPAN;
    for (uint32_t i = 0; i < 5000; i++)
        parent = make_span(trace, track, site, parent, BEGIN_NS + i, END_NS - i);
    comes_back(trace);
}

/* ---- Tracks ---------------------------------------------------------------------------------- */

TEST(many_tracks_come_back)
{
    takt_trace *trace = make_trace();
    uint32_t site = make_site(trace, "work", TAKT_SITE_SCOPE);
    for (uint32_t i = 0; i < 20000; i++) {
        uint32_t track = make_thread(trace, "worker", i % 5000); /* ids are used again */
        if (i % 7)
            make_span(trace, track, site, TKT_NO_SPAN, BEGIN_NS + i, BEGIN_NS + i + 10);
    }
    comes_back(trace);
}

TEST(unordered_async_spans_are_ordered_with_their_arguments)
{
    takt_trace *trace = make_trace();
    uint32_t track = tkt_trace_add_track(trace, TAKT_TRACK_ASYNC, text(trace, "tasks"), 0);
    uint32_t site = make_site(trace, "task", TAKT_SITE_SCOPE);
    for (uint32_t i = 0; i < 100; i++) {
        uint64_t begin_ns = BEGIN_NS + (i * 37) % 100;
        uint32_t span = make_span(trace, track, site, TKT_NO_SPAN, begin_ns, begin_ns + 20);
        make_arg(trace, track, span, "begin", TKT_ARG_UINT, begin_ns);
        ADD(&trace->tracks.items[track].works, (tkt_work){span, (double)begin_ns, 1});
    }
    assert_int_equal(tkt_trace_finish(trace), TAKT_OK);
    const tkt_track *tasks = &trace->tracks.items[track];
    for (uint32_t i = 0; i < 100; i++) {
        assert_int_equal(tasks->spans.items[i].begin_ns, BEGIN_NS + i);
        assert_int_equal(tasks->args.items[i].span, i);
        assert_int_equal(tasks->args.items[i].value.u, BEGIN_NS + i);
        assert_true(tasks->works.items[i].flops == (double)(BEGIN_NS + i));
    }
    takt_trace *back = write_and_read(trace);
    same_trace(trace, back);
    takt_trace_release(back);
    takt_trace_release(trace);
}

/* How many spans are open at most, by counting at each begin. */
static uint32_t most_at_once(const tkt_spans *spans)
{
    uint32_t most = 0;
    for (size_t i = 0; i < spans->count; i++) {
        uint32_t open = 0;
        for (size_t k = 0; k <= i; k++)
            open += k == i || spans->items[k].end_ns > spans->items[i].begin_ns;
        most = open > most ? open : most;
    }
    return most;
}

/* No lane shows two spans at once, and there are no more lanes than needed. */
static void check_lanes(uint64_t seed, uint64_t span_count)
{
    takt_trace *trace = make_trace();
    uint32_t track = tkt_trace_add_track(trace, TAKT_TRACK_ASYNC, text(trace, "tasks"), 0);
    chance from = {seed};
    for (uint64_t i = 0; i < span_count; i++)
        make_span(trace, track, 0, TKT_NO_SPAN, 10 * i, 10 * i + draw(&from, 400));
    const tkt_spans *spans = &trace->tracks.items[track].spans;

    uint64_t free_ns[64] = {0};
    uint32_t last_row = 0;
    memory_sink bytes = {0};
    tkt_writer writer;
    tkt_perfetto file;
    assert_int_equal(tkt_writer_init(&writer, memory_sink_of(&bytes), 0), TAKT_OK);
    tkt_perfetto_open(&file, &writer, trace);
    for (size_t i = 0; i < spans->count; i++) {
        const tkt_span *span = &spans->items[i];
        uint32_t row = tkt_perfetto_lane_for(&file, track, span->begin_ns, span->end_ns);
        assert_true(row > 0 && row < 64);
        assert_true(free_ns[row] <= span->begin_ns);
        free_ns[row] = span->end_ns;
        last_row = row > last_row ? row : last_row;
    }
    assert_int_equal(last_row, most_at_once(spans));
    assert_int_equal(tkt_perfetto_close(&file), TAKT_OK);
    tkt_writer_fini(&writer);
    tkt_free(bytes.data);
    takt_trace_release(trace);
}

TEST(overlapping_spans_get_lanes)
{
    check_lanes(5, 1000);
    for (uint64_t seed = 1; seed <= FEWER(60, 200); seed++)
        check_lanes(seed * 12345, 5 + seed % 20);
}

/* ---- Names ----------------------------------------------------------------------------------- */

TEST(hostile_names_come_back)
{
    static const char *const names[] = {
        "",
        "\"quoted\\\"",
        "line\nbreak\t\x01\x7F",
        "\xFF\xC0\x80\xED\xA0\x80 not UTF-8",
        "\xF0\x9F\x8C\x8A",
        "{ brace: 1 }",
        "%s%n",
    };
    takt_trace *trace = make_trace();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        uint32_t track = make_thread(trace, names[i], (uint32_t)i + 1);
        uint32_t name = text(trace, names[i]);
        tkt_trace_site site = {name, name, name, name, name, 1, 1, TAKT_SITE_ACTIVITY, 1, 0};
        uint32_t span = make_span(trace, track, tkt_trace_site_index(trace, &site), TKT_NO_SPAN,
                                  BEGIN_NS, END_NS);
        make_arg(trace, track, span, names[i], TKT_ARG_STRING, name);
        ADD(&trace->counters, (tkt_counter){BEGIN_NS, 1, name, track});
    }
    text(trace, NULL);
    comes_back(trace);
}

TEST(ten_megabytes_of_name_come_back)
{
    size_t size = 10 << 20;
    char *name = malloc(size + 1);
    for (size_t i = 0; i < size; i++)
        name[i] = (char)(i % 3 ? 'a' + i % 26 : 0x80 + i % 64); /* a third is not valid */
    name[size] = 0;
    takt_trace *trace = make_trace();
    uint32_t site = make_site(trace, name, TAKT_SITE_ACTIVITY);
    make_span(trace, make_thread(trace, "main", 1), site, TKT_NO_SPAN, BEGIN_NS, END_NS);
    comes_back(trace);
    free(name);
}

/* A site with all that events say, and a number of four bytes, fits what is copied. */
TEST(the_last_site_fits_its_event)
{
    takt_trace *trace = make_trace();
    uint32_t name = text(trace, "last");
    tkt_trace_site site = {.name = name, .category = name, .file = name, .line = 1};
    uint32_t index = tkt_trace_site_index(trace, &site);
    make_thread(trace, "main", 1);
    memory_sink bytes = {0};
    tkt_writer writer;
    tkt_perfetto file;
    assert_int_equal(tkt_writer_init(&writer, memory_sink_of(&bytes), 0), TAKT_OK);
    tkt_perfetto_open(&file, &writer, trace);
    uint32_t row = tkt_perfetto_track(&file, 0);
    file.site_count = (1 << 24) - 2;
    const tkt_perfetto_site *known = tkt_perfetto_site_on(&file, row, index);
    assert_non_null(known);
    assert_int_equal(known->iid, (1 << 24) - 1);
    assert_int_equal(known->size, 2 + 2 + 5 + 5 + 6);
    assert_true(known->size <= TKT_PERFETTO_EVENT_BYTES);
    assert_int_equal(tkt_perfetto_close(&file), TAKT_OK);
    tkt_writer_fini(&writer);
    tkt_free(bytes.data);
    takt_trace_release(trace);
}

/* ---- The folded form ------------------------------------------------------------------------- */

/* A tree with calls, an "other" node, and a scope of which only children have ended. */
static void make_fold(takt_trace *trace)
{
    assert_int_equal(tkt_fold_init(&trace->fold), TAKT_OK);
    uint32_t names[3] = {make_site(trace, "step", TAKT_SITE_SCOPE),
                         make_site(trace, "forces", TAKT_SITE_PHASE),
                         make_site(trace, "density", TAKT_SITE_ACTIVITY)};
    uint32_t step = tkt_fold_child(&trace->fold, 0, names[0]);
    uint32_t forces = tkt_fold_child(&trace->fold, step, names[1]);
    tkt_fold_find_child(&trace->fold, step, TKT_SITE_OTHER);
    tkt_fold_child(&trace->fold, 0, names[2]);
    for (uint64_t i = 1; i < 1000; i++)
        tkt_fold_add(&trace->fold, forces, i * i * i);
    trace->fold.items[forces].flops = 1e15;
    trace->fold.items[forces].bytes = 0.5;
    trace->fold.other_count = 77;
    const tkt_folded_counter counter = {.name = tkt_trace_string_of(trace, "load"),
                                        .is_mixed = 1,
                                        .held = {0.1, -1e300, 7},
                                        .samples = 3,
                                        .first_time = BEGIN_NS,
                                        .last_time = BEGIN_NS + 9,
                                        .first = -1,
                                        .last = 1e300,
                                        .min = -1,
                                        .max = 1e300};
    assert_true(tkt_fold_add_counter(&trace->fold, &counter));
    trace->fold.thread = (tkt_thread_mark){1, 77, tkt_trace_string_of(trace, "worker")};
    tkt_fold_end_thread(&trace->fold);
    for (uint64_t i = 0; i < 200; i++)
        tkt_fold_task(&trace->fold, tkt_trace_string_of(trace, i % 3 ? "" : "request"),
                      tkt_trace_string_of(trace, i % 2 ? "queue" : ""), i * i * i, i % 10 == 9);
}

TEST(folded_trace_comes_back)
{
    takt_trace *trace = make_trace();
    make_facts(trace);
    make_fold(trace);
    trace->facts.has_spans = false;
    trace->facts.span_count = 1234;
    trace->facts.activity_count = 12;
    trace->facts.begun_before = 3;
    trace->facts.unfinished = 2;
    assert_int_equal(tkt_trace_finish(trace), TAKT_OK);
    assert_int_equal(trace->facts.span_count, 1234);
    takt_trace *back = write_and_read(trace);
    assert_false(back->facts.has_spans);
    assert_true(tkt_trace_has_summary(back));
    same_trace(trace, back);
    assert_int_equal(tkt_trace_fold(back)->items[1].stats.count, 0);
    takt_trace_release(back);
    takt_trace_release(trace);
}

/* The root stands for no scope, so no thread ran it; and there are no nodes beyond the last. */
TEST(a_thread_that_ran_no_node_is_refused)
{
    for (int i = 0; i < 2; i++) {
        takt_trace *trace = make_trace(), *back = NULL;
        takt_error error;
        make_facts(trace);
        make_fold(trace);
        trace->fold.parts.items[0].node = i == 0 ? 0 : trace->fold.count;
        assert_int_equal(tkt_trace_finish(trace), TAKT_OK);
        memory_sink file = write_trace(trace);
        assert_int_equal(tkt_trace_read((uint8_t *)file.data, file.size, "file", &back, &error),
                         TAKT_BAD_TRACE);
        assert_non_null(strstr(error.message, "a thread's part of a node is malformed"));
        tkt_free(file.data);
        takt_trace_release(trace);
    }
}

/* What summary mode keeps of devices: made from a full trace here, then all else is left out. */
TEST(folded_activities_come_back)
{
    takt_trace *trace = random_trace(8, 3, 200);
    assert_int_equal(tkt_trace_finish(trace), TAKT_OK);
    assert_non_null(tkt_trace_fold(trace));
    assert_true(trace->node_activities.count > 20);
    trace->fold = trace->derived;
    trace->derived = (tkt_fold){0};
    trace->node_activities_are_derived = false;
    trace->facts.has_spans = false;
    trace->activities.count = trace->calls.count = trace->memory_events.count = 0;
    trace->marks.count = trace->counters.count = trace->flows.count = 0;
    for (size_t i = 0; i < trace->tracks.count; i++)
        trace->tracks.items[i].spans.count = trace->tracks.items[i].args.count =
            trace->tracks.items[i].works.count = 0;
    takt_trace *back = write_and_read(trace);
    assert_int_equal(back->activities.count, 0);
    same_fold(trace, back);
    same_node_activities(trace, back);
    takt_trace_release(back);
    takt_trace_release(trace);
}

TEST(the_largest_tree_comes_back)
{
    takt_trace *trace = make_trace();
    trace->facts.has_spans = false;
    assert_int_equal(tkt_fold_init(&trace->fold), TAKT_OK);
    chance from = {99};
    for (uint32_t i = 0; i < 3 * TKT_FOLD_MAX_NODES; i++) {
        char name[16];
        snprintf(name, sizeof name, "%u", (unsigned)draw(&from, 5000));
        uint32_t parent = (uint32_t)draw(&from, trace->fold.count);
        tkt_fold_child(&trace->fold, parent, make_site(trace, name, TAKT_SITE_SCOPE));
    }
    assert_true(trace->fold.count > TKT_FOLD_MAX_NODES);
    comes_back(trace);
}

/* Where the recorder folded online, that tree counts: spans may have been dropped. */
TEST(a_given_fold_is_kept_beside_spans)
{
    takt_trace *trace = whole_trace();
    make_fold(trace);
    comes_back(trace);
}

TEST(a_derived_fold_is_left_out)
{
    takt_trace *trace = whole_trace();
    assert_int_equal(tkt_trace_finish(trace), TAKT_OK);
    memory_sink before = write_trace(trace);
    assert_non_null(tkt_trace_fold(trace));
    memory_sink after = write_trace(trace);
    assert_int_equal(before.size, after.size);
    tkt_free(before.data);
    tkt_free(after.data);
    takt_trace_release(trace);
}

/* ---- Size ------------------------------------------------------------------------------------ */

/* Spans of a simulator: a kernel of 20 microseconds, 64 sites with sources. */
TEST(a_span_takes_at_most_28_bytes)
{
    takt_trace *trace = make_trace();
    uint32_t track = make_thread(trace, "main", 1);
    chance from = {1};
    uint64_t time_ns = BEGIN_NS;
    for (uint32_t i = 0; i < 100000; i++) {
        char name[32];
        snprintf(name, sizeof name, "phase %u", i % 64);
        tkt_trace_site site = {
            .name = text(trace, name), .file = text(trace, "a.c"), .line = i % 64};
        uint64_t end_ns = time_ns + 10000 + draw(&from, 20000);
        make_span(trace, track, tkt_trace_site_index(trace, &site), TKT_NO_SPAN, time_ns, end_ns);
        time_ns = end_ns + draw(&from, 200);
    }
    trace->facts.end_ns = time_ns;
    assert_int_equal(tkt_trace_finish(trace), TAKT_OK);
    memory_sink file = write_trace(trace);
    assert_true(file.size < 28 * 100000);
    tkt_free(file.data);
    takt_trace_release(trace);
}

/* ---- Failures -------------------------------------------------------------------------------- */

/* A file that is said to be complete is complete, whichever allocation failed. */
static void fail_each_allocation(uint64_t failures)
{
    takt_trace *trace = random_trace(5, 2, 30);
    make_fold(trace);
    assert_int_equal(tkt_trace_finish(trace), TAKT_OK);
    memory_sink whole = write_trace(trace);
    takt_status status = TAKT_NO_MEMORY;
    uint64_t tries = 0;
    for (; status != TAKT_OK && tries < 10000; tries++) {
        memory_sink file = {0};
        tkt_writer writer;
        assert_int_equal(tkt_writer_init(&writer, memory_sink_of(&file), 1 << 20), TAKT_OK);
        tkt_alloc_fail(tries, failures);
        status = tkt_perfetto_export(trace, &writer);
        tkt_alloc_fail(0, 0);
        takt_status written = tkt_writer_fini(&writer);
        status = status == TAKT_OK ? written : status; /* the sink needs memory, too */
        assert_true(status == TAKT_OK || status == TAKT_NO_MEMORY);
        assert_true(status == TAKT_NO_MEMORY || file.size == whole.size);
        tkt_free(file.data);
    }
    assert_true(tries > 20 && tries < 10000);
    tkt_free(whole.data);
    takt_trace_release(trace);
}

TEST(without_memory_the_status_says_so)
{
    fail_each_allocation(1);
    fail_each_allocation(UINT64_MAX);
}

typedef struct stubborn {
    size_t left;
} stubborn;

static takt_status take_some(void *user, const void *data, size_t size)
{
    stubborn *sink = user;
    (void)data;
    if (size > sink->left)
        return TAKT_IO_ERROR;
    sink->left -= size;
    return TAKT_OK;
}

TEST(a_failing_sink_is_reported)
{
    takt_trace *trace = random_trace(6, 1, 40);
    assert_int_equal(tkt_trace_finish(trace), TAKT_OK);
    memory_sink whole = write_trace(trace);
    for (size_t room = 0; room <= whole.size; room += 97) {
        stubborn sink = {room < whole.size ? room : whole.size - 1};
        tkt_writer writer;
        assert_int_equal(tkt_writer_init(&writer, (takt_sink){take_some, &sink}, 256), TAKT_OK);
        assert_int_equal(tkt_perfetto_export(trace, &writer), TAKT_OK);
        assert_int_equal(tkt_writer_fini(&writer), TAKT_IO_ERROR);
    }
    tkt_free(whole.data);
    takt_trace_release(trace);
}

TEST_MAIN(NULL, NULL)
