/* The packet writer as a program uses it that streams while it records: sites and tracks appear as
 * it goes, begins are written before their ends, and the program may die at any packet. */
#include "support/test.h"
#include "support/trace_build.h"

#include "export/perfetto.h"
#include "profiler/stream.h"

typedef struct stream {
    takt_trace *trace; /* names, tracks and facts; no spans */
    memory_sink bytes;
    tkt_writer writer;
    tkt_perfetto file;
} stream;

static void start(stream *s)
{
    *s = (stream){.trace = make_trace()};
    s->trace->facts.end_ns = 0; /* not known yet */
    assert_int_equal(tkt_writer_init(&s->writer, memory_sink_of(&s->bytes), 0), TAKT_OK);
    tkt_perfetto_open(&s->file, &s->writer, s->trace);
}

/* What a reader sees of it when the program dies here. */
static takt_trace *die(stream *s)
{
    tkt_writer_flush(&s->writer);
    size_t size = s->bytes.size;
    assert_int_equal(tkt_perfetto_close(&s->file), TAKT_OK);
    tkt_writer_fini(&s->writer);
    takt_trace *back = read_bytes(s->bytes.data, size);
    tkt_free(s->bytes.data);
    takt_trace_release(s->trace);
    return back;
}

static takt_trace *end(stream *s)
{
    tkt_perfetto_facts(&s->file);
    assert_int_equal(tkt_perfetto_close(&s->file), TAKT_OK);
    assert_int_equal(tkt_writer_fini(&s->writer), TAKT_OK);
    takt_trace *back = read_bytes(s->bytes.data, s->bytes.size);
    tkt_free(s->bytes.data);
    takt_trace_release(s->trace);
    return back;
}

TEST(slices_that_never_end_are_unfinished)
{
    stream s;
    start(&s);
    uint32_t outer = make_site(s.trace, "outer", TAKT_SITE_SCOPE);
    uint32_t row = tkt_perfetto_track(&s.file, make_thread(s.trace, "main", 1));
    tkt_perfetto_begin(&s.file, row, outer, BEGIN_NS + 1);
    uint32_t inner = make_site(s.trace, "inner", TAKT_SITE_SCOPE);
    tkt_perfetto_begin(&s.file, row, inner, BEGIN_NS + 2);
    tkt_perfetto_mark(&s.file, row, make_site(s.trace, "here", TAKT_SITE_MARK), BEGIN_NS + 3);
    uint32_t other = tkt_perfetto_track(&s.file, make_thread(s.trace, "other", 2));
    tkt_perfetto_begin(&s.file, other, inner, BEGIN_NS + 5);
    tkt_perfetto_end(&s.file, other, BEGIN_NS + 900);

    takt_trace *back = die(&s);
    assert_true(back->facts.has_spans);
    assert_int_equal(back->losses[TAKT_LOSS_CUT], 0); /* the last packet is whole */
    assert_int_equal(back->facts.ending, TAKT_ENDING_CUT);
    assert_int_equal(back->facts.unfinished, 2);
    assert_int_equal(back->facts.end_ns, BEGIN_NS + 900); /* the last that was heard of it */
    const tkt_spans *spans = &back->tracks.items[0].spans;
    assert_int_equal(spans->count, 2);
    assert_int_equal(spans->items[0].end_ns, BEGIN_NS + 900);
    assert_int_equal(spans->items[1].end_ns, BEGIN_NS + 900);
    assert_int_equal(spans->items[1].parent, 0);
    assert_int_equal(tkt_span_flags(&spans->items[1]), TAKT_SPAN_UNFINISHED);
    assert_int_equal(tkt_span_flags(&back->tracks.items[1].spans.items[0]), 0);
    assert_int_equal(back->marks.count, 1);
    assert_string_equal(back->facts.name, "sph");
    takt_trace_release(back);
}

TEST(what_is_known_at_the_end_may_be_said_there)
{
    stream s;
    start(&s);
    uint32_t site = make_site(s.trace, "scope", TAKT_SITE_SCOPE);
    uint32_t row = tkt_perfetto_track(&s.file, make_thread(s.trace, "main", 1));
    tkt_arg late = {.key = text(s.trace, "late"), .value.i = -1, .type = TKT_ARG_INT};
    tkt_arg early = {.key = text(s.trace, "early"), .value.i = 1, .type = TKT_ARG_INT};
    tkt_work work = {.flops = 2, .bytes = 3};
    tkt_perfetto_work(&s.file, row, &work);
    tkt_perfetto_begin(&s.file, row, site, BEGIN_NS);
    tkt_perfetto_arg(&s.file, row, &early);
    tkt_perfetto_begin(&s.file, row, site, BEGIN_NS + 1);
    tkt_perfetto_end(&s.file, row, BEGIN_NS + 2);
    tkt_perfetto_arg(&s.file, row, &late);
    tkt_perfetto_work(&s.file, row, &work);
    tkt_perfetto_flags(&s.file, row, TAKT_SPAN_UNFINISHED);
    tkt_perfetto_end(&s.file, row, BEGIN_NS + 3);
    s.trace->facts.end_ns = BEGIN_NS + 100;
    s.trace->losses[TAKT_LOSS_BUFFER_FULL] = 5;
    s.trace->facts.cycle = 2;

    takt_trace *back = end(&s);
    const tkt_track *track = &back->tracks.items[0];
    assert_int_equal(track->args.count, 2);
    assert_int_equal(track->args.items[0].span, 0); /* in the order of spans */
    assert_int_equal(track->args.items[0].value.i, -1);
    assert_int_equal(track->args.items[1].span, 1);
    assert_int_equal(track->works.count, 1);
    assert_true(track->works.items[0].flops == 4 && track->works.items[0].bytes == 6);
    assert_int_equal(tkt_span_flags(&track->spans.items[0]), TAKT_SPAN_UNFINISHED);
    assert_int_equal(back->facts.end_ns, BEGIN_NS + 100);
    assert_int_equal(back->losses[TAKT_LOSS_BUFFER_FULL], 5);
    assert_int_equal(back->losses[TAKT_LOSS_CUT], 0);
    assert_int_equal(back->facts.cycle, 2);
    takt_trace_release(back);
}

/* Chunks of several threads, one after the other, and async spans as they end. */
TEST(rows_may_take_turns)
{
    stream s;
    start(&s);
    uint32_t site = make_site(s.trace, "scope", TAKT_SITE_SCOPE);
    uint32_t tasks = tkt_trace_add_track(s.trace, TAKT_TRACK_ASYNC, text(s.trace, "tasks"), 0);
    uint32_t rows[3];
    for (uint32_t i = 0; i < 3; i++)
        rows[i] = tkt_perfetto_track(&s.file, make_thread(s.trace, "", 10 + i));
    for (uint64_t chunk = 0; chunk < 50; chunk++) {
        uint64_t time_ns = BEGIN_NS + chunk * 1000;
        for (uint32_t i = 0; i < 3; i++) {
            char name[16];
            snprintf(name, sizeof name, "new %u", (unsigned)chunk);
            tkt_perfetto_begin(&s.file, rows[i], site, time_ns);
            tkt_perfetto_begin(&s.file, rows[i], make_site(s.trace, name, TAKT_SITE_SCOPE),
                               time_ns + i);
            tkt_perfetto_end(&s.file, rows[i], time_ns + 10);
            tkt_perfetto_end(&s.file, rows[i], time_ns + 20);
        }
        uint64_t begin_ns = time_ns - (chunk % 3) * 1500; /* ends in order, begins not */
        uint32_t lane = tkt_perfetto_lane_for(&s.file, tasks, begin_ns, time_ns + 500);
        tkt_perfetto_begin(&s.file, lane, site, begin_ns);
        tkt_perfetto_end(&s.file, lane, time_ns + 500);
    }
    takt_trace *back = end(&s);
    assert_int_equal(back->tracks.count, 4);
    assert_int_equal(back->tracks.items[0].spans.count, 50);
    for (size_t i = 1; i < 50; i++)
        assert_true(back->tracks.items[0].spans.items[i - 1].begin_ns <=
                    back->tracks.items[0].spans.items[i].begin_ns);
    for (uint32_t t = 1; t < 4; t++) {
        const tkt_spans *spans = &back->tracks.items[t].spans;
        assert_int_equal(spans->count, 100);
        for (uint32_t i = 0; i < 100; i++) {
            uint64_t time_ns = BEGIN_NS + i / 2 * 1000;
            assert_int_equal(spans->items[i].begin_ns, time_ns + (i % 2 ? t - 1 : 0));
            assert_int_equal(spans->items[i].end_ns, time_ns + (i % 2 ? 10 : 20));
            assert_int_equal(spans->items[i].parent, i % 2 ? i - 1 : TKT_NO_SPAN);
        }
    }
    takt_trace_release(back);
}

/* A stream writes slices of time: first the spans, then what happened in them, then the facts. */
TEST(late_events_find_their_span)
{
    stream s;
    start(&s);
    uint32_t site = make_site(s.trace, "scope", TAKT_SITE_SCOPE);
    uint32_t row = tkt_perfetto_track(&s.file, make_thread(s.trace, "main", 1));
    tkt_perfetto_begin(&s.file, row, site, BEGIN_NS + 10);
    tkt_perfetto_begin(&s.file, row, site, BEGIN_NS + 20);
    tkt_perfetto_end(&s.file, row, BEGIN_NS + 30);
    tkt_perfetto_end(&s.file, row, BEGIN_NS + 40);
    tkt_perfetto_begin(&s.file, row, site, BEGIN_NS + 50);
    static const uint64_t times[] = {5, 10, 25, 35, 45, 50, 90};
    static const uint32_t spans[] = {TKT_NO_SPAN, 0, 1, 0, TKT_NO_SPAN, 2, 2};
    for (uint32_t i = 0; i < 7; i++) {
        tkt_memory_event event = {.time_ns = BEGIN_NS + times[i], .bytes = 1};
        tkt_flow flow = {.time_ns = BEGIN_NS + times[i], .id = i};
        tkt_perfetto_memory(&s.file, row, &event, i);
        tkt_perfetto_flow(&s.file, row, &flow);
    }
    s.trace->facts.end_ns = BEGIN_NS + 100;
    tkt_perfetto_facts(&s.file);

    takt_trace *back = die(&s);
    assert_int_equal(back->facts.end_ns, BEGIN_NS + 100);
    assert_int_equal(back->tracks.items[0].spans.items[2].end_ns, BEGIN_NS + 100);
    assert_int_equal(back->memory_events.count, 7);
    for (size_t i = 0; i < 7; i++) {
        assert_int_equal(back->memory_events.items[i].span, spans[i]);
        assert_int_equal(back->flows.items[i].span, spans[i]);
    }
    takt_trace_release(back);
}

/* Facts are told after each slice of time, and the last of them may be cut. */
TEST(what_follows_the_last_facts_counts_too)
{
    stream s;
    start(&s);
    uint32_t site = make_site(s.trace, "scope", TAKT_SITE_SCOPE);
    uint32_t row = tkt_perfetto_track(&s.file, make_thread(s.trace, "main", 1));
    tkt_perfetto_begin(&s.file, row, site, BEGIN_NS + 10);
    s.trace->facts.end_ns = BEGIN_NS + 100;
    tkt_perfetto_facts(&s.file);
    tkt_perfetto_begin(&s.file, row, site, BEGIN_NS + 150);
    takt_trace *back = die(&s);
    assert_int_equal(back->facts.end_ns, BEGIN_NS + 150);
    assert_int_equal(back->tracks.items[0].spans.items[0].end_ns, BEGIN_NS + 150);
    takt_trace_release(back);
}

TEST(an_event_of_no_span_has_none)
{
    stream s;
    start(&s);
    uint32_t row = tkt_perfetto_track(&s.file, make_thread(s.trace, "main", 1));
    static const uint32_t owners[] = {TKT_NO_SPAN, 1000, 0};
    tkt_perfetto_begin(&s.file, row, make_site(s.trace, "scope", TAKT_SITE_SCOPE), BEGIN_NS);
    for (uint32_t i = 0; i < 3; i++) {
        tkt_flow flow = {.time_ns = BEGIN_NS + i, .id = i};
        tkt_perfetto_owner(&s.file, row, owners[i]);
        tkt_perfetto_flow(&s.file, row, &flow);
    }
    takt_trace *back = die(&s);
    assert_int_equal(back->flows.items[0].span, TKT_NO_SPAN);
    assert_int_equal(back->flows.items[1].span, TKT_NO_SPAN);
    assert_int_equal(back->flows.items[2].span, 0);
    takt_trace_release(back);
}

/* Writes an end before its begin, of a slice or of a step, and expects the reader's refusal. */
static void expect_backwards(bool of_step, const char *why)
{
    stream s;
    start(&s);
    tkt_step step = {1, BEGIN_NS + 100, BEGIN_NS + 50};
    uint32_t row = tkt_perfetto_track(&s.file, make_thread(s.trace, "main", 1));
    tkt_perfetto_begin(&s.file, row, make_site(s.trace, "scope", TAKT_SITE_SCOPE), BEGIN_NS + 100);
    if (of_step)
        tkt_perfetto_step(&s.file, &step);
    else
        tkt_perfetto_end(&s.file, row, BEGIN_NS + 50);
    tkt_writer_flush(&s.writer);
    takt_trace *back = NULL;
    takt_error error;
    assert_int_equal(tkt_trace_read((uint8_t *)s.bytes.data, s.bytes.size, "file", &back, &error),
                     TAKT_BAD_TRACE);
    assert_non_null(strstr(error.message, why));
    tkt_perfetto_close(&s.file);
    tkt_writer_fini(&s.writer);
    tkt_free(s.bytes.data);
    takt_trace_release(s.trace);
}

TEST(an_end_before_its_begin_is_refused)
{
    expect_backwards(false, "a span ends before it begins");
    expect_backwards(true, "a step ends before it begins");
}

TEST(an_end_that_nothing_began_is_counted)
{
    stream s;
    start(&s);
    uint32_t row = tkt_perfetto_track(&s.file, make_thread(s.trace, "main", 1));
    tkt_perfetto_end(&s.file, row, BEGIN_NS + 50);
    takt_trace *back = die(&s);
    assert_int_equal(back->losses[TAKT_LOSS_MISMATCH], 1);
    assert_int_equal(back->facts.span_count, 0);
    takt_trace_release(back);
}

TEST(a_step_that_has_begun_is_left_out)
{
    stream s;
    start(&s);
    tkt_step step = {41, BEGIN_NS, BEGIN_NS + 10};
    tkt_perfetto_step(&s.file, &step);
    tkt_writer_flush(&s.writer);
    size_t first = s.bytes.size;
    step.number++;
    tkt_perfetto_step(&s.file, &step);
    tkt_writer_flush(&s.writer);
    assert_true(s.bytes.size > first);
    s.bytes.size--; /* the end of step 42 is cut */
    takt_trace *back = die(&s);
    assert_int_equal(back->steps.count, 1);
    assert_int_equal(back->steps.items[0].number, 41);
    assert_int_equal(back->facts.first_step, 41);
    takt_trace_release(back);
}

/* A slice with a scope; end 0: it is still open. */
static void write_slice(tkt_stream_file *to, uint64_t begin_ns, uint64_t end_ns)
{
    takt_trace *slice = make_trace();
    uint32_t track = make_thread(slice, "main", 1);
    uint32_t site = make_site(slice, "scope", TAKT_SITE_SCOPE);
    uint32_t span = make_span(slice, track, site, TKT_NO_SPAN, begin_ns, end_ns ? end_ns : END_NS);
    if (end_ns == 0)
        slice->tracks.items[track].spans.items[span].site_flags |= TAKT_SPAN_UNFINISHED;
    tkt_stream_write_host(to, slice, false);
    takt_trace_release(slice);
}

static void assert_span(const tkt_span *span, uint64_t begin_ns, uint64_t end_ns, uint32_t flags)
{
    assert_int_equal(span->begin_ns, begin_ns);
    assert_int_equal(span->end_ns, end_ns);
    assert_int_equal(tkt_span_flags(span), flags);
}

/* The next one is open in two slices. */
TEST(a_scope_whose_end_was_dropped_does_not_become_the_next_one)
{
    static tkt_stream_file to;
    memory_sink bytes = {0};
    to.trace = make_trace();
    assert_int_equal(tkt_writer_init(&to.writer, memory_sink_of(&bytes), 0), TAKT_OK);
    tkt_perfetto_open(&to.perfetto, &to.writer, to.trace);
    write_slice(&to, BEGIN_NS + 10, 0);
    write_slice(&to, BEGIN_NS + 50, 0);
    write_slice(&to, BEGIN_NS + 50, BEGIN_NS + 60);
    tkt_perfetto_facts(&to.perfetto);
    assert_int_equal(tkt_perfetto_close(&to.perfetto), TAKT_OK);
    assert_int_equal(tkt_writer_fini(&to.writer), TAKT_OK);
    takt_trace *back = read_bytes(bytes.data, bytes.size);
    const tkt_spans *spans = &back->tracks.items[0].spans;
    assert_int_equal(spans->count, 2);
    assert_span(&spans->items[0], BEGIN_NS + 10, BEGIN_NS + 10, TAKT_SPAN_UNFINISHED);
    assert_span(&spans->items[1], BEGIN_NS + 50, BEGIN_NS + 60, 0);
    takt_trace_release(back);
    tkt_free(bytes.data);
    tkt_stream_file_fini(&to);
}

TEST(nothing_streamed_is_an_empty_trace)
{
    stream s;
    start(&s);
    takt_trace *back = die(&s);
    assert_int_equal(back->tracks.count, 0);
    assert_int_equal(back->facts.begin_ns, BEGIN_NS);
    assert_int_equal(back->facts.end_ns, BEGIN_NS);
    takt_trace_release(back);
}

TEST_MAIN(NULL, NULL)
