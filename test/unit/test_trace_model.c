/* The trace model: strings, sites, what finishing derives, folding, the public view. */
#include "support/all_durations.h"
#include "support/test.h"
#include "support/trace_build.h"

#include "base/alloc.h"

#include <takt/report.h>

#include <pthread.h>

/* ---- Strings and sites ----------------------------------------------------------------------- */

TEST(strings_of_a_trace_are_utf8)
{
    takt_trace *trace = make_trace();
    assert_string_equal(tkt_trace_text(trace, text(trace, "a\xFF"
                                                          "b")),
                        "a\xEF\xBF\xBD"
                        "b");
    assert_int_equal(text(trace, "a\xFF"
                                 "b"),
                     text(trace, "a\xFE"
                                 "b"));
    assert_string_equal(tkt_trace_text(trace, text(trace, "\xC3\xA9")), "\xC3\xA9");
    assert_string_equal(tkt_trace_text(trace, text(trace, NULL)), "(null)");
    assert_int_equal(text(trace, ""), 0);
    takt_trace_release(trace);
}

TEST(equal_sites_share_an_index)
{
    takt_trace *trace = make_trace();
    tkt_trace_site site = {.name = text(trace, "a"), .line = 1};
    uint32_t index = tkt_trace_site_index(trace, &site);
    assert_int_equal(index, 1);
    assert_int_equal(tkt_trace_site_index(trace, &site), index);
    site.level = 3;
    assert_int_equal(tkt_trace_site_index(trace, &site), 2);
    assert_int_equal(tkt_trace_site_index(trace, &(tkt_trace_site){0}), 0);
    for (uint32_t i = 0; i < 100000; i++) {
        site.line = i + 2;
        assert_int_equal(tkt_trace_site_index(trace, &site), 3 + i);
    }
    for (uint32_t i = 0; i < 100000; i++) {
        site.line = i + 2;
        assert_int_equal(tkt_trace_site_index(trace, &site), 3 + i);
    }
    takt_trace_release(trace);
}

/* Only the count is made to look as if there were so many. */
TEST(sites_end_at_24_bits)
{
    takt_trace *trace = make_trace();
    size_t real = trace->sites.count;
    trace->sites.count = (1 << 24) - 2;
    tkt_trace_site site = {.line = 1};
    assert_int_equal(tkt_trace_site_index(trace, &site), (1 << 24) - 2);
    assert_int_equal(tkt_trace_site_index(trace, &site), (1 << 24) - 2);
    site.line = 2;
    assert_int_equal(tkt_trace_site_index(trace, &site), UINT32_MAX);
    trace->sites.count = real;
    takt_trace_release(trace);
}

TEST(labels_are_those_of_warp)
{
    char out[32];
    assert_string_equal(tkt_activity_label(out, 32, TAKT_TIMING_KERNEL, "x"), "kernel x");
    assert_string_equal(tkt_activity_label(out, 32, TAKT_TIMING_BUILTIN, "x"), "builtin kernel x");
    assert_string_equal(tkt_activity_label(out, 32, TAKT_TIMING_MEMCPY, "HtoD"), "memcpy HtoD");
    assert_string_equal(tkt_activity_label(out, 32, TAKT_TIMING_MEMSET, ""), "memset");
    assert_string_equal(tkt_activity_label(out, 32, TAKT_TIMING_GRAPH, "g"), "graph g");
    assert_string_equal(tkt_activity_label(out, 32, 0, "x"), "x");
    assert_string_equal(tkt_activity_label(out, 32, 0x11, "x"), "kernel x"); /* the lowest bit */
    assert_string_equal(tkt_activity_label(out, 8, TAKT_TIMING_KERNEL, "density"), "kern...");
}

/* ---- Finishing ------------------------------------------------------------------------------- */

TEST(events_are_ordered_by_time_then_track)
{
    takt_trace *trace = make_trace();
    make_thread(trace, "a", 1);
    make_thread(trace, "b", 2);
    chance from = {77};
    for (uint32_t i = 0; i < 1000; i++)
        ADD(&trace->counters,
            (tkt_counter){BEGIN_NS + draw(&from, 100), i, 0, (uint32_t)draw(&from, 2)});
    assert_int_equal(tkt_trace_finish(trace), TAKT_OK);
    for (size_t i = 1; i < 1000; i++) {
        const tkt_counter *a = &trace->counters.items[i - 1];
        const tkt_counter *b = &trace->counters.items[i];
        assert_true(a->time_ns <= b->time_ns);
        if (a->time_ns == b->time_ns)
            assert_true(a->track < b->track || (a->track == b->track && a->value < b->value));
    }
    takt_trace_release(trace);
}

TEST(host_activities_come_from_spans)
{
    takt_trace *trace = make_trace();
    uint32_t first = make_thread(trace, "a", 1);
    uint32_t second = make_thread(trace, "b", 2);
    uint32_t scope = make_site(trace, "step", TAKT_SITE_SCOPE);
    tkt_trace_site kernel = {.name = text(trace, "density"),
                             .device = text(trace, "cpu"),
                             .filter = TAKT_TIMING_KERNEL,
                             .kind = TAKT_SITE_ACTIVITY};
    uint32_t work = tkt_trace_site_index(trace, &kernel);
    uint32_t outer = make_span(trace, first, scope, TKT_NO_SPAN, BEGIN_NS, BEGIN_NS + 100);
    make_span(trace, first, work, outer, BEGIN_NS + 10, BEGIN_NS + 20);
    make_span(trace, first, work, outer, BEGIN_NS + 50, BEGIN_NS + 60);
    make_span(trace, second, work, TKT_NO_SPAN, BEGIN_NS + 30, BEGIN_NS + 80);
    ADD(&trace->activities, (tkt_activity){.call = TKT_NO_CALL,
                                           .shape = TKT_NO_SHAPE,
                                           .begin_ns = BEGIN_NS + 99,
                                           .end_ns = BEGIN_NS + 100,
                                           .track = TKT_NO_TRACK,
                                           .span = TKT_NO_SPAN,
                                           .scope = TKT_NO_SPAN});
    assert_int_equal(tkt_trace_finish(trace), TAKT_OK);

    static const uint64_t begins[] = {99, 10, 30, 50};
    assert_int_equal(trace->activities.count, 4);
    assert_int_equal(trace->facts.activity_count, 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(trace->activities.items[i].begin_ns, BEGIN_NS + begins[i]);
    takt_activity activity;
    assert_int_equal(takt_trace_activity(trace, 1, &activity), TAKT_OK);
    assert_string_equal(activity.name, "kernel density");
    assert_string_equal(activity.device, "cpu");
    assert_string_equal(activity.scope, "step");
    assert_int_equal(activity.thread, 1);
    assert_true(activity.elapsed_ms == 10 * 1e-6);
    assert_int_equal(takt_trace_activity(trace, 2, &activity), TAKT_OK);
    assert_null(activity.scope);
    assert_int_equal(activity.thread, 2);
    assert_int_equal(takt_trace_activity(trace, 4, &activity), TAKT_BAD_ARGUMENT);
    assert_true(trace->tracks.items[first].spans.items[1].site_flags & TAKT_SPAN_ACTIVITY);
    takt_trace_release(trace);
}

TEST(flags_follow_from_sites)
{
    takt_trace *trace = make_trace();
    uint32_t track = make_thread(trace, "a", 1);
    for (uint8_t kind = TAKT_SITE_SCOPE; kind <= TAKT_SITE_ACTIVITY; kind++)
        make_span(trace, track, make_site(trace, "x", (takt_site_kind)kind), TKT_NO_SPAN, BEGIN_NS,
                  END_NS);
    trace->tracks.items[track].spans.items[1].site_flags |= TAKT_SPAN_UNFINISHED;
    assert_int_equal(tkt_trace_finish(trace), TAKT_OK);
    const tkt_span *spans = trace->tracks.items[track].spans.items;
    assert_int_equal(tkt_span_flags(&spans[0]), 0);
    assert_int_equal(tkt_span_flags(&spans[1]), TAKT_SPAN_PHASE | TAKT_SPAN_UNFINISHED);
    assert_int_equal(tkt_span_flags(&spans[2]), TAKT_SPAN_ACTIVITY);
    takt_trace_release(trace);
}

TEST(works_of_a_span_add_up)
{
    takt_trace *trace = make_trace();
    uint32_t track = make_thread(trace, "a", 1);
    uint32_t site = make_site(trace, "x", TAKT_SITE_SCOPE);
    make_span(trace, track, site, TKT_NO_SPAN, BEGIN_NS, BEGIN_NS + 9);
    make_span(trace, track, site, 0, BEGIN_NS + 1, BEGIN_NS + 2);
    static const uint32_t spans[] = {1, 0, 1, 0};
    for (uint32_t i = 0; i < 4; i++) {
        ADD(&trace->tracks.items[track].works, (tkt_work){spans[i], i, 10});
        make_arg(trace, track, spans[i], "i", TKT_ARG_UINT, i);
    }
    assert_int_equal(tkt_trace_finish(trace), TAKT_OK);
    const tkt_track *t = &trace->tracks.items[track];
    assert_int_equal(t->works.count, 2);
    assert_true(t->works.items[0].span == 0 && t->works.items[0].flops == 4);
    assert_true(t->works.items[1].span == 1 && t->works.items[1].flops == 2);
    assert_true(t->works.items[1].bytes == 20);
    static const uint64_t order[] = {1, 3, 0, 2};
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(t->args.items[i].value.u, order[i]);
    takt_trace_release(trace);
}

TEST(a_summary_keeps_its_counts)
{
    takt_trace *trace = make_trace();
    trace->facts.has_spans = false;
    trace->facts.span_count = 9;
    trace->facts.unfinished = 1;
    trace->facts.activity_count = 4;
    assert_int_equal(tkt_trace_finish(trace), TAKT_OK);
    assert_int_equal(trace->facts.span_count, 9);
    assert_int_equal(trace->facts.unfinished, 1);
    assert_int_equal(trace->facts.activity_count, 4);
    assert_string_equal(takt_trace_facts(trace)->name, "sph");
    assert_string_equal(takt_trace_facts(trace)->backend, "none");
    takt_trace_release(trace);
}

/* ---- Folding --------------------------------------------------------------------------------- */

typedef struct path_total {
    uint64_t count;
    uint64_t whole; /* that no window has cut */
    uint64_t total_ns;
    uint64_t self_ns;
} path_total;

/* Whether a span's path of sites is that of a node. */
static bool has_path(const tkt_fold *fold, uint32_t node, const tkt_spans *spans, uint32_t span)
{
    while (node != 0 && span != TKT_NO_SPAN) {
        if (fold->items[node].site != tkt_span_site(&spans->items[span]))
            return false;
        node = fold->items[node].parent;
        span = spans->items[span].parent;
    }
    return node == 0 && span == TKT_NO_SPAN;
}

static uint64_t duration(const tkt_span *span)
{
    return span->end_ns - span->begin_ns;
}

/* The slow way: all spans for each node. */
static path_total add_up(const takt_trace *trace, const tkt_fold *fold, uint32_t node)
{
    path_total total = {0};
    for (size_t t = 0; t < trace->tracks.count; t++) {
        const tkt_spans *spans = &trace->tracks.items[t].spans;
        if (trace->tracks.items[t].kind == TAKT_TRACK_ASYNC) /* nobody's time */
            continue;
        for (uint32_t i = 0; i < spans->count; i++) {
            const tkt_span *span = &spans->items[i];
            if (has_path(fold, node, spans, i)) {
                total.count++;
                total.whole += !tkt_span_is_piece(span);
                total.total_ns += duration(span);
                total.self_ns += duration(span);
            }
            if (span->parent != TKT_NO_SPAN && has_path(fold, node, spans, span->parent))
                total.self_ns -= duration(span);
        }
    }
    return total;
}

TEST(folding_agrees_with_adding_up)
{
    takt_trace *trace = random_trace(21, 3, 60);
    assert_int_equal(tkt_trace_finish(trace), TAKT_OK);
    const tkt_fold *fold = tkt_trace_fold(trace);
    assert_non_null(fold);
    assert_ptr_equal(tkt_trace_fold(trace), fold);
    uint64_t count = 0;
    for (uint32_t node = 1; node < fold->count; node++) {
        path_total total = add_up(trace, fold, node);
        assert_int_equal(fold->items[node].stats.count, total.count);
        assert_int_equal(fold->items[node].stats.total_ns, total.total_ns);
        assert_int_equal(fold->items[node].stats.self_ns, total.self_ns);
        const tkt_histogram durations =
            all_durations(&fold->items[node].stats, fold->items[node].histogram);
        assert_int_equal(tkt_histogram_count(&durations), total.whole);
        count += total.count;
    }
    assert_int_equal(count, 3 * 60);
    double flops = 0;
    for (uint32_t node = 1; node < fold->count; node++)
        flops += fold->items[node].flops;
    size_t works = 0;
    for (size_t t = 0; t < trace->tracks.count; t++)
        works += trace->tracks.items[t].works.count;
    assert_true(works > 0 && flops == 1e9 * (double)works);
    takt_trace_release(trace);
}

static void *fold_too(void *trace)
{
    return (void *)(uintptr_t)tkt_trace_fold(trace);
}

TEST(threads_share_one_fold)
{
    takt_trace *trace = random_trace(22, 2, 2000);
    assert_int_equal(tkt_trace_finish(trace), TAKT_OK);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, fold_too, trace), 0);
    const tkt_fold *fold = tkt_trace_fold(trace);
    for (int i = 0; i < 4; i++) {
        void *result;
        pthread_join(threads[i], &result);
        assert_ptr_equal(result, fold);
    }
    takt_trace_release(trace);
}

static takt_status take(void *user, const void *data, size_t size)
{
    (void)user, (void)data, (void)size;
    return TAKT_OK;
}

static void *read_too(void *trace)
{
    takt_sink sink = {.write = take};
    for (size_t i = 0; takt_report_name(i); i++)
        takt_report(trace, takt_report_name(i), NULL, &sink);
    return NULL;
}

/* Reports read what the trace recorded without a lock, so the fold that they share is kept apart.
 */
TEST(threads_share_one_trace)
{
    takt_trace *trace = random_trace(23, 2, 200);
    assert_int_equal(tkt_trace_finish(trace), TAKT_OK);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_too, trace), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_non_null(trace->derived.items);
    assert_null(trace->fold.items);
    takt_trace_release(trace);
}

/* ---- The public view ------------------------------------------------------------------------- */

TEST(the_public_view_shows_the_trace)
{
    takt_trace *trace = whole_trace();
    assert_int_equal(tkt_trace_finish(trace), TAKT_OK);
    assert_int_equal(takt_trace_count(trace, TAKT_TRACE_TRACKS), 3);
    takt_track_info track;
    assert_int_equal(takt_trace_track(trace, 0, &track), TAKT_OK);
    assert_string_equal(track.name, "main");
    assert_int_equal(track.thread_id, 4711);
    assert_int_equal(track.span_count, 5);
    assert_int_equal(takt_trace_track(trace, 2, &track), TAKT_OK);
    assert_int_equal(track.kind, TAKT_TRACK_ASYNC);
    assert_int_equal(takt_trace_track(trace, 3, &track), TAKT_BAD_ARGUMENT);

    takt_span_info span;
    assert_int_equal(takt_trace_span(trace, 0, 2, &span), TAKT_OK);
    assert_string_equal(span.name, "density");
    assert_string_equal(span.category, "physics");
    assert_string_equal(span.file, "fluid.c");
    assert_int_equal(span.line, 77);
    assert_int_equal(span.flags, TAKT_SPAN_ACTIVITY);
    assert_int_equal(span.parent, 1);
    assert_int_equal(takt_trace_span(trace, 0, 0, &span), TAKT_OK);
    assert_int_equal(span.parent, TAKT_NO_PARENT);
    assert_int_equal(span.flags, TAKT_SPAN_BEGUN_BEFORE);
    assert_int_equal(takt_trace_span(trace, 0, 5, &span), TAKT_BAD_ARGUMENT);
    assert_int_equal(takt_trace_span(trace, 3, 0, &span), TAKT_BAD_ARGUMENT);

    takt_counter_info counter;
    assert_int_equal(takt_trace_count(trace, TAKT_TRACE_COUNTERS), 3);
    assert_int_equal(takt_trace_counter(trace, 0, &counter), TAKT_OK);
    assert_string_equal(counter.name, "energy");
    assert_true(counter.value == 0.1);
    assert_int_equal(takt_trace_counter(trace, 3, &counter), TAKT_BAD_ARGUMENT);

    const takt_facts *facts = takt_trace_facts(trace);
    assert_int_equal(facts->span_count, 9);
    assert_int_equal(facts->begun_before, 1);
    assert_int_equal(facts->unfinished, 1);
    assert_int_equal(facts->first_step, 7);
    assert_int_equal(facts->step_count, 2);
    takt_trace_release(trace);
    takt_trace_release(NULL);
    assert_null(takt_trace_retain(NULL));
}

TEST(losses_have_names)
{
    assert_string_equal(takt_loss_name(TAKT_LOSS_BUFFER_FULL), "dropped");
    assert_string_equal(takt_loss_name(TAKT_LOSS_CUT), "cut");
    assert_non_null(strstr(takt_loss_text(TAKT_LOSS_TOO_DEEP), "too many were open"));
    assert_null(takt_loss_name(TAKT_LOSS_COUNT));
    assert_null(takt_loss_text((takt_loss)-1));
}

/* ---- No memory ------------------------------------------------------------------------------- */

/* Whether all calls of all spans are in the tree. */
static void is_whole_fold(const tkt_fold *fold, uint64_t span_count)
{
    uint64_t calls = 0;
    for (size_t i = 1; i < fold->count; i++) {
        const tkt_node *node = &fold->items[i];
        const tkt_histogram durations = all_durations(&node->stats, node->histogram);
        assert_int_equal(tkt_histogram_count(&durations), tkt_stats_whole(&node->stats));
        calls += node->stats.count;
    }
    assert_int_equal(calls, span_count);
}

static bool make_and_finish(uint64_t after)
{
    takt_trace *trace = random_trace(9, 2, 40);
    tkt_alloc_fail(after, 1);
    takt_status status = tkt_trace_finish(trace);
    const tkt_fold *fold = status == TAKT_OK ? tkt_trace_fold(trace) : NULL;
    bool was_folded = fold != NULL;
    tkt_alloc_fail(0, 0);
    assert_true(status == TAKT_OK || status == TAKT_NO_MEMORY);
    if (status == TAKT_OK)
        is_whole_fold(tkt_trace_fold(trace), 2 * 40); /* one that failed can be made again */
    takt_trace_release(trace);
    return was_folded;
}

TEST(without_memory_finishing_says_so)
{
    uint64_t tries = 0;
    while (tries < 10000 && !make_and_finish(tries))
        tries++;
    assert_true(tries > 10 && tries < 10000);
}

TEST(without_memory_nothing_is_created)
{
    takt_trace *trace = NULL;
    for (uint64_t after = 0; !trace; after++) {
        assert_true(after < 100);
        tkt_alloc_fail(after, 1);
        takt_status status = tkt_trace_create(&trace);
        tkt_alloc_fail(0, 0);
        assert_int_equal(status, trace ? TAKT_OK : TAKT_NO_MEMORY);
    }
    tkt_alloc_fail(0, UINT64_MAX);
    assert_int_equal(tkt_trace_string(trace, "\xFF", 1), TKT_STRTAB_FULL);
    assert_int_equal(tkt_trace_add_track(trace, TAKT_TRACK_THREAD, 0, 1), TKT_NO_TRACK);
    tkt_alloc_fail(0, 0);
    takt_trace_release(trace);
}

TEST_MAIN(NULL, NULL)
