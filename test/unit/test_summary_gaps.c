/* Gaps of devices and streams: their causes, followed by hand; sums, against a naive count of every
 * nanosecond; what the host did meanwhile; the longest ones. Times are in us from the begin of the
 * recording where they are written as US(). */
#include "support/report_traces.h"

#include "summary/gap_cause.h"
#include "summary/gaps.h"
#include "summary/launches.h"

#define US(us) (UINT64_C(1000000) + (uint64_t)((us)*1000))

/* Work on a stream of cuda:0, launched by a call of the first track; durations may be anything. */
static tkt_activity *launch(takt_trace *trace, uint64_t call_begin, uint64_t call_end,
                            uint32_t stream, uint64_t begin_ns, uint64_t end_ns)
{
    uint32_t call = build_call(trace, 0, "cudaLaunchKernel", TKT_NO_SPAN, call_begin, call_end);
    trace->tracks.items[0].spans.items[trace->calls.items[call].span].site_flags |= TAKT_SPAN_CALL;
    tkt_activity *activity =
        build_launched(trace, call, "cuda:0", "kernel a", TAKT_TIMING_KERNEL, begin_ns, end_ns);
    activity->stream = stream;
    activity->context = 1;
    return activity;
}

static void stream_waits(takt_trace *trace, uint32_t stream, uint32_t kind, uint32_t correlation)
{
    tkt_wait *wait = TKT_ARRAY_ADD(&trace->waits);
    assert_non_null(wait);
    *wait = (tkt_wait){.begin_ns = US(1),
                       .end_ns = US(1),
                       .correlation = correlation,
                       .context = 1,
                       .stream = stream,
                       .kind = kind};
}

/* 1 ms of recording with one thread; the clocks are 1 us uncertain. */
static takt_trace *begin(void)
{
    takt_trace *trace = build_begin(US(1000));
    build_track(trace, "main");
    trace->facts.device_uncertainty_ns = 1000;
    return trace;
}

static tkt_gaps gaps_of(takt_trace *trace)
{
    tkt_gaps gaps = {0};
    build_end(trace);
    const tkt_gaps_wish wish = {.longest = 10};
    assert_int_equal(tkt_gaps_of(trace, &wish, &gaps), TAKT_OK);
    assert_int_equal(tkt_gaps_name(trace, gaps.stream_gaps.items, gaps.stream_gaps.count), TAKT_OK);
    assert_int_equal(tkt_gaps_name(trace, gaps.device_gaps.items, gaps.device_gaps.count), TAKT_OK);
    return gaps;
}

static void done(takt_trace *trace, tkt_gaps *gaps)
{
    tkt_gaps_fini(gaps);
    takt_trace_release(trace);
}

static void assert_causes(const tkt_idle *idle, double host, double wait, double shorts,
                          double graph, double edge, double other)
{
    const double expected[TKT_IDLE_CAUSES] = {
        [TKT_IDLE_HOST] = host,   [TKT_IDLE_WAIT] = wait, [TKT_IDLE_SHORT] = shorts,
        [TKT_IDLE_GRAPH] = graph, [TKT_IDLE_EDGE] = edge, [TKT_IDLE_OTHER] = other};
    uint64_t sum_ns = 0;
    for (int i = 0; i < TKT_IDLE_CAUSES; i++) {
        assert_int_equal(idle->cause_ns[i], (uint64_t)(expected[i] * 1000));
        sum_ns += idle->cause_ns[i];
    }
    assert_int_equal(idle->idle_ns, sum_ns);
}

/* ---- Causes ---------------------------------------------------------------------------------- */

/* A kernel until 100 us, and one that begins at `begin`, launched by a call of [from, to): how the
 * gap between them is split. */
static const struct {
    double from, to, begin;
    double host, shorts, other;
    bool is_late;
} splits[] = {
    {110, 120, 200, 20, 0, 80, true}, /* the host's until the call returned */
    {110, 195, 200, 95, 0, 5, true},  /* 5 us are no latency any more */
    {110, 196, 200, 100, 0, 0, true}, /* less are */
    {50, 60, 200, 0, 0, 100, false},  /* in time, for no known reason later */
    {50, 60, 105, 0, 0, 5, false},    /* just as long */
    {50, 60, 104, 0, 4, 0, false},    /* what follows closely is short */
    {90, 101, 200, 0, 0, 100, false}, /* late by no more than is uncertain */
    {90, 101.5, 200, 1.5, 0, 98.5, true},
    {150, 250, 200, 100, 0, 0, true},   /* a call that waits for the work: it began late, */
    {50, 250, 200, 0, 0, 100, false},   /* or in time */
    {150, 250, 104, 4, 0, 0, true},     /* it cannot begin before its call, says the host */
    {102, 103, 103.5, 3.5, 0, 0, true}, /* late, although the gap is short */
};

static void gaps_are_split_where_work_was_handed_over(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof splits / sizeof *splits; i++) {
        takt_trace *trace = begin();
        launch(trace, US(0), US(1), 7, US(10), US(100));
        launch(trace, US(splits[i].from), US(splits[i].to), 7, US(splits[i].begin), US(1000));
        tkt_gaps gaps = gaps_of(trace);
        assert_int_equal(gaps.idles.count, 2);
        for (size_t r = 0; r < 2; r++) {
            assert_causes(&gaps.idles.items[r], splits[i].host, 0, splits[i].shorts, 0, 10,
                          splits[i].other);
            assert_int_equal(gaps.idles.items[r].late, splits[i].is_late);
            assert_int_equal(gaps.idles.items[r].gaps, 1);
        }
        done(trace, &gaps);
    }
}

/* On stream 7 from 10 to 100 and from 200 us on, handed over in time; what is in between? */
static void assert_waits(takt_trace *trace, double wait, double device_wait)
{
    tkt_gaps gaps = gaps_of(trace);
    const tkt_idle *stream = &gaps.idles.items[1];
    assert_int_equal(stream->stream, 7);
    assert_int_equal(stream->cause_ns[TKT_IDLE_WAIT], (uint64_t)(wait * 1000));
    assert_int_equal(gaps.idles.items[0].cause_ns[TKT_IDLE_WAIT], (uint64_t)(device_wait * 1000));
    done(trace, &gaps);
}

/* As if 1002 came after the largest id. */
static uint32_t wrapped(uint32_t correlation)
{
    return correlation == 1002 ? 1 : correlation - 1001 + UINT32_MAX;
}

/* Correlation ids of calls count up from 1001. */
static void streams_wait_for_the_events_they_were_told_to(void **state)
{
    (void)state;
    static const struct {
        uint32_t stream, kind, correlation;
        double wait;
    } cases[] = {
        {7, 2, 1001, 100},
        {7, 2, 1002, 0}, /* told afterwards: by the launch's own id at the earliest */
        {7, 2, 1000, 0}, /* for the first kernel */
        {8, 2, 1001, 0}, /* another stream */
        {7, 3, 1001, 0}, /* the host waited */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        takt_trace *trace = begin();
        launch(trace, US(0), US(1), 7, US(10), US(100))->correlation = 1001;
        launch(trace, US(2), US(3), 7, US(200), US(1000))->correlation = 1002;
        stream_waits(trace, cases[i].stream, cases[i].kind, cases[i].correlation);
        assert_waits(trace, cases[i].wait, cases[i].wait);

        trace = begin();
        launch(trace, US(0), US(1), 7, US(10), US(100))->correlation = wrapped(1001);
        launch(trace, US(2), US(3), 7, US(200), US(1000))->correlation = wrapped(1002);
        stream_waits(trace, cases[i].stream, cases[i].kind, wrapped(cases[i].correlation));
        assert_waits(trace, cases[i].wait, cases[i].wait);
    }
}

/* Stream 8 runs until shortly before 200 us, so that the device has no gap there. */
static void streams_wait_for_the_work_of_others(void **state)
{
    (void)state;
    static const struct {
        double end, wait;
    } cases[] = {{200, 100}, {195.001, 100}, {195, 0}, {201, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        takt_trace *trace = begin();
        launch(trace, US(0), US(1), 7, US(10), US(100));
        launch(trace, US(2), US(3), 8, US(50), US(cases[i].end));
        launch(trace, US(4), US(5), 7, US(200), US(1000));
        assert_waits(trace, cases[i].wait, 0);
    }
}

/* Of three streams that end in some order before, the one that ends last counts, and its own work
 * does not. */
static void the_latest_end_of_another_stream_counts(void **state)
{
    (void)state;
    for (int order = 0; order < 3; order++) {
        takt_trace *trace = begin();
        for (int i = 0; i < 3; i++)
            launch(trace, US(i), US(i + 0.5), 8 + (uint32_t)((i + order) % 3), US(10 + i),
                   US((i + order) % 3 == 2 ? 198 : 60 + 10 * i));
        launch(trace, US(4), US(5), 7, US(20), US(100));
        launch(trace, US(6), US(7), 9, US(101), US(110));
        launch(trace, US(8), US(9), 7, US(200), US(1000));
        tkt_gaps gaps = gaps_of(trace);
        assert_int_equal(gaps.idles.items[4].stream, 7);
        assert_int_equal(gaps.idles.items[4].cause_ns[TKT_IDLE_WAIT], 100000);
        done(trace, &gaps);
    }
}

/* Of a few streams that begin work in order of time and end it at any. */
static void ends_of_others_are_found_as_by_looking_at_all(void **state)
{
    (void)state;
    enum {
        COUNT = 2000,
        STREAMS = 5
    };
    static tkt_heap_item all[COUNT];
    tkt_endings endings = {0};
    uint64_t random = 7;
    uint64_t now_ns = 10000;
    for (uint32_t i = 0; i < COUNT; i++) {
        now_ns += build_random(&random) % 40;
        all[i] = (tkt_heap_item){now_ns + build_random(&random) % 900,
                                 1 + build_random(&random) % STREAMS};
        tkt_endings_pass(&endings, now_ns);
        for (uint32_t stream = 1; stream <= STREAMS; stream++) {
            uint64_t latest_ns = 0;
            for (uint32_t k = 0; k < i; k++)
                if (all[k].value != stream && all[k].key <= now_ns && all[k].key > latest_ns)
                    latest_ns = all[k].key;
            assert_false(tkt_endings_other(&endings, stream, latest_ns));
            assert_int_equal(tkt_endings_other(&endings, stream, latest_ns - 1), latest_ns > 0);
        }
        assert_true(tkt_endings_add(&endings, all[i].key, all[i].value));
    }
    TKT_ARRAY_FREE(&endings.running);
}

/* Two nodes of a launch, 20 us apart; a kernel of another launch; work of nobody's. */
static void inside_a_launch_gaps_are_the_graphs(void **state)
{
    (void)state;
    takt_trace *trace = begin();
    uint32_t graph = build_call(trace, 0, "cudaGraphLaunch", TKT_NO_SPAN, US(0), US(90));
    for (int i = 0; i < 2; i++)
        build_launched(trace, graph, "cuda:0", "kernel node", TAKT_TIMING_KERNEL, US(20 + 30 * i),
                       US(30 + 30 * i))
            ->context = 1;
    launch(trace, US(91), US(100), 7, US(102), US(110));
    build_activity(trace, "cuda:0", "kernel lost", TAKT_TIMING_KERNEL, US(111), US(1000),
                   TKT_NO_TRACK, TKT_NO_SPAN);
    trace->activities.items[3].stream = 7;
    trace->activities.items[3].context = 1;
    tkt_gaps gaps = gaps_of(trace);
    for (size_t r = 0; r < 2; r++) {
        assert_causes(&gaps.idles.items[r], 42, 0, 0, 20, 20, 1); /* however short, if unknown */
        assert_int_equal(gaps.idles.items[r].gaps, 3);
        assert_int_equal(gaps.idles.items[r].late, 1);
        assert_int_equal(gaps.idles.items[r].count, 4);
    }
    done(trace, &gaps);
}

/* Without a known uncertainty a call that returns 1 ns after the end is late. */
static void an_unknown_uncertainty_is_none(void **state)
{
    (void)state;
    static const double unknown[] = {0, -1, 1e300, NAN};
    for (size_t i = 0; i < 4; i++) {
        takt_trace *trace = begin();
        trace->facts.device_uncertainty_ns = unknown[i];
        launch(trace, US(0), US(1), 7, US(10), US(100));
        launch(trace, US(2), US(100) + 1, 7, US(200), US(1000));
        tkt_gaps gaps = gaps_of(trace);
        assert_int_equal(gaps.idles.items[0].late, 1);
        assert_int_equal(gaps.idles.items[0].cause_ns[TKT_IDLE_HOST], 1);
        done(trace, &gaps);
    }
}

/* A loose bound of the clocks does not hide a host that is late. */
static void an_uncertainty_counts_for_20_us_at_most(void **state)
{
    (void)state;
    takt_trace *trace = begin();
    trace->facts.device_uncertainty_ns = 5e6;
    launch(trace, US(0), US(1), 7, US(10), US(100));
    launch(trace, US(2), US(120), 7, US(200), US(300));
    launch(trace, US(130), US(320) + 1, 7, US(400), US(1000));
    tkt_gaps gaps = gaps_of(trace);
    assert_int_equal(gaps.idles.items[0].late, 1);
    assert_int_equal(gaps.idles.items[0].cause_ns[TKT_IDLE_HOST], 20001);
    done(trace, &gaps);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* What lies outside of the recording is cut off; what overlaps, lies inside other work, or takes no
 * time at all, leaves no gap. The kernel without duration at 300 us parts one gap into two. */
static void rows_are_of_the_recording(void **state)
{
    (void)state;
    takt_trace *trace = begin();
    trace->facts.begin_ns = US(50);
    trace->facts.end_ns = US(500);
    launch(trace, US(0), US(1), 7, US(10), US(100));
    launch(trace, US(0), US(1), 7, US(60), US(90));
    launch(trace, US(0), US(1), 7, US(80), US(150));
    launch(trace, US(0), US(1), 7, US(150), US(200));
    launch(trace, US(0), US(1), 7, US(300), US(300));
    launch(trace, US(0), US(1), 7, US(400), US(420));
    launch(trace, US(0), US(1), 7, US(600), US(700));
    tkt_gaps gaps = gaps_of(trace);
    for (size_t r = 0; r < 2; r++) {
        const tkt_idle *idle = &gaps.idles.items[r];
        assert_int_equal(idle->busy_ns, 150000 + 20000);
        assert_int_equal(idle->idle_ns, 200000 + 80000);
        assert_int_equal(idle->gaps, 3);
        assert_int_equal(idle->count, 7);
        assert_causes(idle, 0, 0, 0, 0, 0, 280); /* after 420 us there was something to run */
    }
    done(trace, &gaps);
}

/* Streams of equal numbers belong to their contexts, and contexts to their devices. */
static void every_stream_has_a_row_behind_its_device(void **state)
{
    (void)state;
    static const struct {
        const char *device;
        uint32_t context, stream;
    } order[] = {{"cuda:1", 1, 7}, {"cuda:0", 2, 7}, {"cuda:1", 1, 8}, {"cuda:1", 3, 7}},
      rows[] = {{"cuda:1", 0, 0}, {"cuda:1", 1, 7}, {"cuda:1", 1, 8},
                {"cuda:1", 3, 7}, {"cuda:0", 0, 0}, {"cuda:0", 2, 7}};
    takt_trace *trace = begin();
    for (uint64_t i = 0; i < 8; i++) {
        tkt_activity *activity =
            launch(trace, US(i), US(i), order[i % 4].stream, US(100 * i), US(100 * i + 10));
        activity->device = build_string(trace, order[i % 4].device);
        activity->context = order[i % 4].context;
    }
    tkt_gaps gaps = gaps_of(trace);
    assert_int_equal(gaps.idles.count, 6);
    for (size_t i = 0; i < 6; i++) {
        const tkt_idle *idle = &gaps.idles.items[i];
        assert_string_equal(tkt_trace_text(trace, idle->device), rows[i].device);
        assert_int_equal(idle->context, rows[i].context);
        assert_int_equal(idle->stream, rows[i].stream);
        assert_int_equal(idle->is_device, rows[i].stream == 0);
        assert_int_equal(idle->count, i == 0 ? 6 : 2);
    }
    done(trace, &gaps);
}

static void without_activities_there_is_nothing(void **state)
{
    (void)state;
    takt_trace *trace = begin();
    build_span(trace, 0, build_site(trace, "step"), TKT_NO_SPAN, US(0), US(1000));
    tkt_gaps gaps = gaps_of(trace);
    assert_int_equal(gaps.idles.count, 0);
    assert_int_equal(gaps.device_gaps.count, 0);
    assert_int_equal(gaps.scopes.count, 0);
    done(trace, &gaps);
}

/* One activity has an edge on each side. Where the recording is empty, there is no time at all. */
static void one_activity_has_two_edges(void **state)
{
    (void)state;
    for (int is_empty = 0; is_empty < 2; is_empty++) {
        takt_trace *trace = begin();
        trace->facts.end_ns = is_empty ? US(-1) : US(1000);
        launch(trace, US(20), US(30), 7, US(40), US(100));
        tkt_gaps gaps = gaps_of(trace);
        assert_causes(&gaps.idles.items[0], 0, 0, 0, 0, is_empty ? 0 : 940, 0);
        assert_int_equal(gaps.idles.items[0].busy_ns, is_empty ? 0 : 60000);
        assert_int_equal(gaps.idles.items[0].gaps, 0);
        assert_int_equal(gaps.device_gaps.count, is_empty ? 0 : 2);
        done(trace, &gaps);
    }
}

/* Work from 70 to 120 and from 210 to 400 us, of a recording from 50 to 500. */
static void what_lacks_work_is_known_for_less_than_the_recording(void **state)
{
    (void)state;
    static const struct {
        int loss; /* or -1 */
        takt_ending ending;
        uint64_t whole_until_ns, missing;
        uint64_t known_us, busy_us, steps_busy_us, steps_unknown_us;
    } cases[] = {
        {-1, TAKT_ENDING_WHOLE, 0, 0, 450, 240, 125, 0},
        {-1, TAKT_ENDING_KILLED, US(300), 0, 250, 140, 75, 50},
        {-1, TAKT_ENDING_STOPPED, US(300), 0, 250, 140, 75, 50},
        {TAKT_LOSS_INCOMPLETE, TAKT_ENDING_KILLED, US(500), 0, 350, 240, 125, 0},
        {TAKT_LOSS_INCOMPLETE, TAKT_ENDING_WHOLE, 0, 0, 450, 240, 125, 0},
        {TAKT_LOSS_OVERWRITTEN, TAKT_ENDING_WHOLE, 0, 0, 430, 240, 125, 15},
        {TAKT_LOSS_DEVICE_DROPPED, TAKT_ENDING_WHOLE, 0, 0, 350, 240, 125, 0},
        {-1, TAKT_ENDING_CUT, US(500), 0, 450, 240, 125, 0},
        {-1, TAKT_ENDING_CUT, US(500), 1, 0, 240, 125, 0},
        {-1, TAKT_ENDING_CUT, 0, 0, 0, 240, 125, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        takt_trace *trace = begin();
        trace->facts.begin_ns = US(50);
        trace->facts.end_ns = US(500);
        trace->facts.ending = cases[i].ending;
        trace->facts.known_until_ns = cases[i].whole_until_ns;
        trace->facts.missing_activities = cases[i].missing;
        if (cases[i].loss >= 0)
            trace->losses[cases[i].loss] = 1;
        build_step(trace, 0, US(55), US(75));
        build_step(trace, 1, US(100), US(200));
        build_step(trace, 2, US(250), US(350));
        launch(trace, US(60), US(61), 7, US(70), US(120));
        for (int n = 0; n < 2; n++) /* one that is incomplete is a quarter then */
            launch(trace, US(62), US(63), 7, US(120), US(120));
        launch(trace, US(200), US(201), 7, US(210), US(400));
        tkt_gaps gaps = gaps_of(trace);
        const tkt_idle *idle = &gaps.idles.items[0];
        assert_int_equal(gaps.wall_ns, 450000);
        assert_int_equal(idle->known_ns, 1000 * cases[i].known_us);
        assert_int_equal(idle->busy_ns, 1000 * cases[i].busy_us);
        assert_int_equal(idle->step_busy_ns, 1000 * cases[i].steps_busy_us);
        assert_int_equal(idle->step_unknown_ns, 1000 * cases[i].steps_unknown_us);
        assert_int_equal(idle->idle_ns,
                         cases[i].known_us ? 1000 * (cases[i].known_us - cases[i].busy_us) : 0);
        done(trace, &gaps);
    }
}

static void summaries_have_no_gaps(void **state)
{
    (void)state;
    takt_trace *full = build_launches(1);
    takt_trace *folded = build_folded(full);
    tkt_gaps gaps = {0};
    assert_int_equal(tkt_gaps_of(folded, &(tkt_gaps_wish){0}, &gaps), TAKT_NO_SPANS);
    assert_null(gaps.idles.items);
    takt_trace_release(folded);
    takt_trace_release(full);
}

/* ---- What the host did ----------------------------------------------------------------------- */

static const tkt_idle_scope *scope_of(const takt_trace *trace, const tkt_gaps *gaps,
                                      const char *device, const char *name)
{
    for (size_t i = 0; i < gaps->scopes.count; i++) {
        const tkt_idle_scope *scope = &gaps->scopes.items[i];
        if (strcmp(tkt_trace_text(trace, scope->device), device) == 0 && !scope->is_unknown &&
            strcmp(scope->name ? tkt_trace_text(trace, scope->name) : "", name) == 0)
            return scope;
    }
    fail_msg("%s was never in %s", device, name);
    return NULL;
}

static void assert_scope(const takt_trace *trace, const tkt_gaps *gaps, const char *name,
                         double idle, double host, double call)
{
    const tkt_idle_scope *scope = scope_of(trace, gaps, "cuda:0", name);
    assert_int_equal(scope->idle_ns, (uint64_t)(idle * 1000));
    assert_int_equal(scope->host_ns, (uint64_t)(host * 1000));
    assert_int_equal(scope->call_ns, (uint64_t)(call * 1000));
}

/* step [0, 700): search [150, 400) around a copy into an array [200, 230); launch [450, 460).
 * Kernels [100, 150) and [500, 600). In the gap of 350 us the host was in search for 250, of which
 * 30 in the call, and in step for 100, of which 10 in the launch. The rest of it after 460 is not
 * the host's. The edges: step for 100 + 100, nothing for 300. */
static void idle_time_is_the_innermost_scopes(void **state)
{
    (void)state;
    takt_trace *trace = begin();
    uint32_t step = build_span(trace, 0, build_site(trace, "step"), TKT_NO_SPAN, US(0), US(700));
    uint32_t first = build_call(trace, 0, "cudaLaunchKernel", step, US(20), US(30));
    uint32_t search = build_span(trace, 0, build_site(trace, "search"), step, US(150), US(400));
    uint32_t malloc = build_call(trace, 0, "cudaMalloc", search, US(200), US(230));
    uint32_t second = build_call(trace, 0, "cudaLaunchKernel", step, US(450), US(460));
    const uint32_t calls[] = {first, malloc, second};
    for (size_t i = 0; i < 3; i++)
        trace->tracks.items[0].spans.items[trace->calls.items[calls[i]].span].site_flags |=
            TAKT_SPAN_CALL;
    build_launched(trace, first, "cuda:0", "kernel a", TAKT_TIMING_KERNEL, US(100), US(150));
    build_launched(trace, second, "cuda:0", "kernel b", TAKT_TIMING_KERNEL, US(500), US(600));
    tkt_gaps gaps = gaps_of(trace);
    assert_int_equal(gaps.scopes.count, 3);
    assert_scope(trace, &gaps, "step", 100 + 100 + 100, 60, 10 + 10);
    assert_scope(trace, &gaps, "", 300, 0, 0);
    assert_scope(trace, &gaps, "search", 250, 250, 30);
    assert_int_equal(gaps.device_gaps.count, 3);
    const tkt_gap *gap = &gaps.device_gaps.items[0]; /* the edge of 400 us */
    assert_int_equal(gap->cause, TKT_IDLE_EDGE);
    assert_int_equal(gap->name, 0); /* 300 outside, 100 in step */
    assert_int_equal(gap->before, 1);
    assert_int_equal(gap->after, UINT32_MAX);
    gap = &gaps.device_gaps.items[1];
    assert_int_equal(gap->begin_ns, US(150));
    assert_int_equal(gap->end_ns, US(500));
    assert_int_equal(gap->cause, TKT_IDLE_HOST); /* 310 us of 350 */
    assert_string_equal(tkt_trace_text(trace, gap->name), "search");
    assert_int_equal(gap->before, 0);
    assert_int_equal(gap->after, 1);
    assert_true(gaps.idles.items[gap->idle].is_device);
    assert_false(gaps.idles.items[gaps.stream_gaps.items[1].idle].is_device);
    done(trace, &gaps);
}

/* A gap of 100 us, half of it in each of two scopes. */
static void of_equally_long_stays_the_first_names_a_gap(void **state)
{
    (void)state;
    takt_trace *trace = begin();
    launch(trace, US(0), US(1), 7, US(0), US(100));
    build_span(trace, 0, build_site(trace, "search"), TKT_NO_SPAN, US(100), US(150));
    uint32_t step = build_span(trace, 0, build_site(trace, "step"), TKT_NO_SPAN, US(150), US(200));
    uint32_t call = build_call(trace, 0, "cudaLaunchKernel", step, US(200), US(200));
    build_launched(trace, call, "cuda:0", "kernel b", TAKT_TIMING_KERNEL, US(200), US(1000));
    tkt_gaps gaps = gaps_of(trace);
    assert_int_equal(gaps.device_gaps.count, 1);
    assert_string_equal(tkt_trace_text(trace, gaps.device_gaps.items[0].name), "search");
    done(trace, &gaps);
}

/* Idle for 100 us each, in scopes and on devices whose names have falling numbers. */
static void equal_times_stand_in_the_order_of_names(void **state)
{
    (void)state;
    takt_trace *trace = begin();
    trace->facts.end_ns = US(300);
    build_string(trace, "cuda:1");
    uint32_t last = build_site(trace, "z");
    uint32_t first = build_site(trace, "a");
    uint32_t span = build_span(trace, 0, last, TKT_NO_SPAN, US(0), US(100));
    uint32_t call = build_call(trace, 0, "cudaLaunchKernel", span, US(1), US(2));
    build_span(trace, 0, first, TKT_NO_SPAN, US(200), US(300));
    build_launched(trace, call, "cuda:1", "kernel a", TAKT_TIMING_KERNEL, US(100), US(200));
    build_launched(trace, call, "cuda:0", "kernel a", TAKT_TIMING_KERNEL, US(100), US(200));
    tkt_gaps gaps = gaps_of(trace);
    static const char *const expected[][2] = {
        {"cuda:0", "a"}, {"cuda:0", "z"}, {"cuda:1", "a"}, {"cuda:1", "z"}};
    assert_int_equal(gaps.scopes.count, 4);
    for (size_t i = 0; i < 4; i++) {
        const tkt_idle_scope *scope = &gaps.scopes.items[i];
        assert_int_equal(scope->idle_ns, 100000);
        assert_string_equal(tkt_trace_text(trace, scope->device), expected[i][0]);
        assert_string_equal(tkt_trace_text(trace, scope->name), expected[i][1]);
    }
    done(trace, &gaps);
}

/* ---- All of it, against a count of every nanosecond --------------------------------------------
 */

#define SPAN_NS (LAUNCHES_LAST - LAUNCHES_BEGIN)

static uint32_t inside[4][SPAN_NS]; /* by track: the innermost span + 1 */
static uint8_t busy[SPAN_NS];

static void mark_spans(const takt_trace *trace)
{
    memset(inside, 0, sizeof inside);
    for (size_t t = 0; t < 4; t++) {
        const tkt_spans *spans = &trace->tracks.items[t].spans;
        for (size_t i = 0; i < spans->count; i++) /* those inside overwrite those around */
            for (uint64_t ns = spans->items[i].begin_ns; ns < spans->items[i].end_ns; ns++)
                inside[t][ns - LAUNCHES_BEGIN] = (uint32_t)i + 1;
    }
}

static bool is_on(const tkt_activity *activity, const tkt_idle *idle)
{
    return activity->device == idle->device &&
           (idle->is_device ||
            (activity->stream == idle->stream && activity->context == idle->context));
}

static void mark_busy(const takt_trace *trace, const tkt_idle *idle)
{
    memset(busy, 0, sizeof busy);
    for (size_t i = 0; i < trace->activities.count; i++) {
        const tkt_activity *a = &trace->activities.items[i];
        for (uint64_t ns = a->begin_ns;
             a->span == TKT_NO_SPAN && is_on(a, idle) && ns < a->end_ns && ns < LAUNCHES_END; ns++)
            busy[ns - LAUNCHES_BEGIN] = 1;
    }
}

/* What begins first after `ns`, or, if nothing does, ends last. */
static const tkt_activity *activity_behind(const takt_trace *trace, const tkt_idle *idle,
                                           uint64_t ns)
{
    const tkt_activity *next = NULL;
    const tkt_activity *last = NULL;
    for (size_t i = 0; i < trace->activities.count; i++) {
        const tkt_activity *a = &trace->activities.items[i];
        if (a->span != TKT_NO_SPAN || !is_on(a, idle))
            continue;
        if (a->begin_ns > ns && (!next || a->begin_ns < next->begin_ns))
            next = a;
        if (!last || a->end_ns > last->end_ns ||
            (a->end_ns == last->end_ns && a->begin_ns < last->begin_ns))
            last = a;
    }
    return next ? next : last;
}

typedef struct expected {
    uint64_t idle_ns;
    uint64_t call_ns;
} expected;

/* By name, and behind all names what is of nobody's. */
static void count_idle(const takt_trace *trace, const tkt_idle *idle, expected *sums)
{
    const tkt_activity *activity = NULL;
    for (uint64_t i = 0; i < LAUNCHES_END - LAUNCHES_BEGIN; i++) {
        if (busy[i])
            continue;
        if (i == 0 || busy[i - 1] || !activity || activity->begin_ns <= LAUNCHES_BEGIN + i)
            activity = activity_behind(trace, idle, LAUNCHES_BEGIN + i);
        if (activity->track == TKT_NO_TRACK) {
            sums[trace->strings.count].idle_ns++;
            continue;
        }
        const tkt_span *spans = trace->tracks.items[activity->track].spans.items;
        uint32_t span = inside[activity->track][i] - 1;
        bool is_call = span != TKT_NO_SPAN && tkt_span_flags(&spans[span]) & TAKT_SPAN_CALL;
        span = is_call ? spans[span].parent : span;
        uint32_t name =
            span == TKT_NO_SPAN ? 0 : trace->sites.items[tkt_span_site(&spans[span])].name;
        sums[name].idle_ns++;
        sums[name].call_ns += is_call;
    }
}

static void assert_scopes(const takt_trace *trace, const tkt_gaps *gaps, const tkt_idle *idle)
{
    expected *sums = calloc(trace->strings.count + 1, sizeof *sums);
    uint64_t host_ns = 0;
    uint64_t idle_ns = 0;
    count_idle(trace, idle, sums);
    for (size_t i = 0; i < gaps->scopes.count; i++) {
        const tkt_idle_scope *scope = &gaps->scopes.items[i];
        if (scope->device != idle->device)
            continue;
        size_t at = scope->is_unknown ? trace->strings.count : scope->name;
        assert_int_equal(scope->idle_ns, sums[at].idle_ns);
        assert_int_equal(scope->call_ns, sums[at].call_ns);
        assert_true(scope->host_ns <= scope->idle_ns);
        idle_ns += scope->idle_ns;
        host_ns += scope->host_ns;
    }
    assert_int_equal(idle_ns, idle->idle_ns);
    assert_int_equal(host_ns, idle->cause_ns[TKT_IDLE_HOST]);
    free(sums);
}

/* Random launches, with work so short that there are gaps. */
static takt_trace *build_thin_launches(uint64_t seed)
{
    takt_trace *trace = build_launches(seed);
    for (size_t i = 0; i < trace->activities.count; i++) {
        tkt_activity *a = &trace->activities.items[i];
        if (a->span == TKT_NO_SPAN)
            a->end_ns = a->begin_ns + (a->end_ns - a->begin_ns) / 64;
    }
    for (size_t i = 0; i < trace->calls.count; i++)
        trace->tracks.items[trace->calls.items[i].track]
            .spans.items[trace->calls.items[i].span]
            .site_flags |= TAKT_SPAN_CALL;
    return trace;
}

static void sums_are_those_of_every_nanosecond(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 12; seed += 2) { /* with odd ones, some begin much later */
        takt_trace *trace = build_thin_launches(seed);
        tkt_gaps gaps = {0};
        const tkt_gaps_wish wish = {.longest = 1000};
        assert_int_equal(tkt_gaps_of(trace, &wish, &gaps), TAKT_OK);
        mark_spans(trace);
        for (size_t r = 0; r < gaps.idles.count; r++) {
            const tkt_idle *idle = &gaps.idles.items[r];
            uint64_t busy_ns = 0;
            mark_busy(trace, idle);
            for (uint64_t i = 0; i < SPAN_NS; i++)
                busy_ns += busy[i];
            assert_int_equal(idle->busy_ns, busy_ns);
            assert_int_equal(idle->busy_ns + idle->idle_ns, LAUNCHES_END - LAUNCHES_BEGIN);
            if (idle->is_device)
                assert_scopes(trace, &gaps, idle);
        }
        done(trace, &gaps);
    }
}

/* ---- The longest ones ------------------------------------------------------------------------ */

static uint64_t length_of(const tkt_gap *gap)
{
    return gap->end_ns - gap->begin_ns;
}

static void the_longest_are_the_first_of_all(void **state)
{
    (void)state;
    takt_trace *trace = build_thin_launches(2);
    tkt_gaps all = {0};
    assert_int_equal(tkt_gaps_of(trace, &(tkt_gaps_wish){.longest = 100000}, &all), TAKT_OK);
    assert_true(all.stream_gaps.count > 50);
    for (size_t longest = 0; longest < 50; longest++) {
        tkt_gaps some = {0};
        assert_int_equal(tkt_gaps_of(trace, &(tkt_gaps_wish){.longest = longest}, &some), TAKT_OK);
        const tkt_gap_list *lists[][2] = {{&all.stream_gaps, &some.stream_gaps},
                                          {&all.device_gaps, &some.device_gaps}};
        for (size_t l = 0; l < 2; l++) {
            size_t count = lists[l][0]->count < longest ? lists[l][0]->count : longest;
            assert_int_equal(lists[l][1]->count, count);
            for (size_t i = 0; i < count; i++) {
                const tkt_gap *gap = &lists[l][1]->items[i];
                const size_t size = offsetof(tkt_gap, name) + sizeof gap->name; /* not padding */
                assert_memory_equal(gap, &lists[l][0]->items[i], size);
                assert_true(i == 0 || length_of(gap) <= length_of(gap - 1));
            }
        }
        tkt_gaps_fini(&some);
    }
    done(trace, &all);
}

/* Streams 7 and 8 pause for 2 us, then from 20 us on for 40, twice; at 60 us stream 8 is the first
 * to go on. */
static void of_equal_gaps_the_first_in_time_and_among_rows_come_first(void **state)
{
    (void)state;
    static const struct {
        uint32_t stream;
        double begin, end;
    } works[] = {{7, 0, 10},  {8, 0, 10},  {7, 12, 20},   {8, 12, 20},
                 {8, 60, 70}, {7, 60, 70}, {8, 110, 120}, {7, 110, 120}};
    static const uint64_t begins[] = {US(20), US(20), US(70), US(70), US(10), US(10)};
    for (size_t longest = 1; longest <= 6; longest++) {
        takt_trace *trace = begin();
        trace->facts.end_ns = US(120);
        for (size_t i = 0; i < sizeof works / sizeof *works; i++)
            launch(trace, US(0), US(0), works[i].stream, US(works[i].begin), US(works[i].end));
        build_end(trace);
        tkt_gaps gaps = {0};
        assert_int_equal(tkt_gaps_of(trace, &(tkt_gaps_wish){.longest = longest}, &gaps), TAKT_OK);
        assert_int_equal(gaps.stream_gaps.count, longest);
        for (size_t i = 0; i < longest; i++) {
            const tkt_gap *gap = &gaps.stream_gaps.items[i];
            assert_int_equal(gap->begin_ns, begins[i]);
            assert_int_equal(gaps.idles.items[gap->idle].stream, 7 + i % 2);
        }
        done(trace, &gaps);
    }
}

static void late_launches_are_added_up(void **state)
{
    (void)state;
    takt_trace *trace = build_thin_launches(4);
    tkt_gaps gaps = {0};
    tkt_idle sum = {0};
    tkt_launches launches = {0};
    assert_int_equal(tkt_gaps_of(trace, &(tkt_gaps_wish){0}, &gaps), TAKT_OK);
    assert_int_equal(tkt_launches_of(trace, &launches), TAKT_OK);
    for (size_t i = 0; i < launches.count; i++) {
        sum.late += launches.items[i].late;
        sum.cause_ns[TKT_IDLE_HOST] += launches.items[i].waited_ns;
    }
    assert_true(sum.late > 1);
    tkt_launches_fini(&launches);
    for (size_t i = 0; i < gaps.idles.count; i++) {
        sum.late -= gaps.idles.items[i].is_device ? gaps.idles.items[i].late : 0;
        sum.cause_ns[TKT_IDLE_HOST] -=
            gaps.idles.items[i].is_device ? gaps.idles.items[i].cause_ns[TKT_IDLE_HOST] : 0;
    }
    assert_int_equal(sum.late, 0);
    assert_int_equal(sum.cause_ns[TKT_IDLE_HOST], 0);
    done(trace, &gaps);
}

/* What the caller's functions hear of. */
typedef struct heard {
    uint64_t idle_ns; /* of devices */
    uint64_t stays_ns;
    uint64_t all_ns;
} heard;

static void hear_idle(void *user, const tkt_idle_time *time)
{
    heard *h = user;
    uint64_t ns = time->gap->end_ns - time->gap->begin_ns;
    assert_int_equal(h->stays_ns, h->idle_ns); /* of the times before */
    assert_true(time->host_until_ns >= time->gap->begin_ns);
    assert_true(time->host_until_ns <= time->gap->end_ns);
    h->idle_ns += time->idle->is_device ? ns : 0;
    h->all_ns += ns;
}

static void hear_stay(void *user, const tkt_idle_scope *part)
{
    ((heard *)user)->stays_ns += part->idle_ns;
}

static void every_idle_time_is_told_of(void **state)
{
    (void)state;
    takt_trace *trace = build_thin_launches(4);
    tkt_gaps gaps = {0};
    heard h = {0};
    const tkt_gaps_wish wish = {.each = hear_idle, .stay = hear_stay, .user = &h};
    assert_int_equal(tkt_gaps_of(trace, &wish, &gaps), TAKT_OK);
    for (size_t i = 0; i < gaps.idles.count; i++) {
        h.all_ns -= gaps.idles.items[i].idle_ns;
        h.idle_ns -= gaps.idles.items[i].is_device ? gaps.idles.items[i].idle_ns : 0;
    }
    for (size_t i = 0; i < gaps.scopes.count; i++)
        h.stays_ns -= gaps.scopes.items[i].idle_ns;
    assert_int_equal(h.all_ns, 0);
    assert_int_equal(h.idle_ns, 0);
    assert_int_equal(h.stays_ns, 0);
    done(trace, &gaps);
}

static void without_memory_nothing_is_left_behind(void **state)
{
    (void)state;
    takt_trace *trace = build_launches_until(1, LAUNCHES_BEGIN + 3000);
    stream_waits(trace, 7, 2, 1001);
    takt_status status = TAKT_NO_MEMORY;
    for (uint64_t after = 0; status != TAKT_OK; after++) {
        tkt_gaps gaps = {0};
        tkt_alloc_fail(after, UINT64_MAX);
        status = tkt_gaps_of(trace, &(tkt_gaps_wish){.longest = 3}, &gaps);
        tkt_alloc_fail(0, 0);
        assert_true(status == TAKT_OK || (status == TAKT_NO_MEMORY && !gaps.idles.items));
        tkt_gaps_fini(&gaps);
    }
    takt_trace_release(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gaps_are_split_where_work_was_handed_over),
        cmocka_unit_test(streams_wait_for_the_events_they_were_told_to),
        cmocka_unit_test(streams_wait_for_the_work_of_others),
        cmocka_unit_test(the_latest_end_of_another_stream_counts),
        cmocka_unit_test(ends_of_others_are_found_as_by_looking_at_all),
        cmocka_unit_test(inside_a_launch_gaps_are_the_graphs),
        cmocka_unit_test(an_unknown_uncertainty_is_none),
        cmocka_unit_test(an_uncertainty_counts_for_20_us_at_most),
        cmocka_unit_test(rows_are_of_the_recording),
        cmocka_unit_test(every_stream_has_a_row_behind_its_device),
        cmocka_unit_test(without_activities_there_is_nothing),
        cmocka_unit_test(one_activity_has_two_edges),
        cmocka_unit_test(what_lacks_work_is_known_for_less_than_the_recording),
        cmocka_unit_test(summaries_have_no_gaps),
        cmocka_unit_test(idle_time_is_the_innermost_scopes),
        cmocka_unit_test(of_equally_long_stays_the_first_names_a_gap),
        cmocka_unit_test(equal_times_stand_in_the_order_of_names),
        cmocka_unit_test(sums_are_those_of_every_nanosecond),
        cmocka_unit_test(the_longest_are_the_first_of_all),
        cmocka_unit_test(of_equal_gaps_the_first_in_time_and_among_rows_come_first),
        cmocka_unit_test(late_launches_are_added_up),
        cmocka_unit_test(every_idle_time_is_told_of),
        cmocka_unit_test(without_memory_nothing_is_left_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
