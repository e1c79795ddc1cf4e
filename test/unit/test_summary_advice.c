/* Advice: each rule speaks where its numbers say so, names them, and is silent otherwise. */
#include "test_advice.h"
#include "support/test.h"

TEST(an_even_and_complete_recording_gets_no_advice)
{
    takt_trace *trace = build_even(1000000);
    assert_int_equal(advise(trace).count, 0);
    takt_trace_release(trace);
}

TEST(an_empty_recording_gets_no_advice)
{
    takt_trace *trace = build_begin(2000000);
    assert_int_equal(advise(trace).count, 0);
    takt_trace_release(trace);
}

/* As a damaged file may say. */
TEST(a_recording_that_ends_before_it_begins_gets_no_advice)
{
    takt_trace *trace = build_begin(999999);
    build_activity(trace, "cuda:0", "kernel a", TAKT_TIMING_KERNEL, 1000000, 1000100, TKT_NO_TRACK,
                   TKT_NO_SPAN);
    trace->facts.cost_ns = 1e9;
    assert_int_equal(advise(trace).count, 0);
    takt_trace_release(trace);
}

TEST(a_recording_of_no_duration_gets_no_advice)
{
    takt_trace *trace = build_begin(1000000);
    build_track(trace, "main");
    build_span(trace, 0, build_site(trace, "step"), TKT_NO_SPAN, 1000000, 1000000);
    build_activity(trace, "cuda:0", "kernel a", TAKT_TIMING_KERNEL, 1000000, 1000000, 0, 0);
    assert_int_equal(advise(trace).count, 0);
    takt_trace_release(trace);
}

/* The first row of the table says the same, so it is no advice. */
TEST(the_hottest_scope_is_the_headline)
{
    takt_trace *trace = build_even(800000);
    build_span(trace, 0, build_site(trace, "hot"), TKT_NO_SPAN, 1800000, 1800000 + 200000);
    build_span(trace, 0, build_site(trace, "hot"), TKT_NO_SPAN, 2000000, 2000000 + 200000);
    assert_int_equal(advise(trace).count, 0);
    assert_headline(trace,
                    "The bottleneck is hot: 33.33% of the self CPU time, 400.000us in 2 calls.");
    takt_trace_release(trace);

    trace = build_even(1000000);
    build_end(trace);
    assert_headline(trace, "5 scopes share 100.00% of the self CPU time: a takes most, 20.00%.");
    takt_trace_release(trace);

    trace = build_begin(2000000);
    build_end(trace);
    json_t *json = report_json(trace, "summary", NULL);
    assert_null(json_object_get(json, "headline"));
    json_decref(json);
    takt_trace_release(trace);
}

/* Main works for half of the time, or a little less; a thread in the background sleeps in a scope.
 */
TEST(a_background_thread_is_not_the_headline_while_main_works)
{
    for (uint64_t less_ns = 0; less_ns <= 1000; less_ns += 1000) {
        takt_trace *trace = build_begin(2000000);
        uint32_t track = build_track(trace, "main"), writer = build_track(trace, "writer");
        trace->facts.process_id = trace->tracks.items[track].thread_id;
        build_span(trace, track, build_site(trace, "solve"), TKT_NO_SPAN, 1000000,
                   1400000 - less_ns);
        build_span(trace, track, build_site(trace, "move"), TKT_NO_SPAN, 1500000, 1600000);
        build_span(trace, writer, build_site(trace, "write later"), TKT_NO_SPAN, 1000000, 2000000);
        build_end(trace);
        assert_headline(trace, less_ns == 0 ? "The bottleneck is solve: 40.00% of the wall "
                                              "time, 400.000us in 1 call."
                                            : "The bottleneck is write later: 66.71% of the self "
                                              "CPU time, 1.000ms in 1 call.");
        takt_trace_release(trace);
    }
}

/* Main only joins: no name says that it waits. */
TEST(working_threads_are_the_headline_though_main_is_in_a_scope)
{
    takt_trace *trace = build_begin(2000000);
    uint32_t track = build_track(trace, "main");
    trace->facts.process_id = trace->tracks.items[track].thread_id;
    build_span(trace, track, build_site(trace, "step"), TKT_NO_SPAN, 1000000, 2000000);
    for (int i = 0; i < 4; i++)
        build_span(trace, build_track(trace, "worker"), build_site(trace, "forces"), TKT_NO_SPAN,
                   1000000, 1900000);
    build_end(trace);
    assert_headline(trace, "The bottleneck is forces: 78.26% of the self CPU time, 3.600ms in 4 "
                           "calls.");
    takt_trace_release(trace);
}

/* A flight recorder keeps another stretch of each thread. */
TEST(threads_of_which_scopes_are_missing_are_not_compared)
{
    for (uint32_t threads = 1; threads <= 2; threads++) {
        takt_trace *trace = build_begin(2000000);
        for (uint32_t i = 0; i < threads; i++)
            build_span(trace, build_track(trace, i ? "writer" : "main"),
                       build_site(trace, i ? "write later" : "solve"), TKT_NO_SPAN,
                       i ? 1000000 : 1900000, 2000000);
        build_end(trace);
        trace->losses[TAKT_LOSS_OVERWRITTEN] = 1000;
        json_t *json = report_json(trace, "summary", NULL);
        if (threads == 1)
            assert_text(json, "headline",
                        "The bottleneck is solve: 100.00% of the self CPU time, 100.000us in 1 "
                        "call.");
        else
            assert_null(json_object_get(json, "headline"));
        json_decref(json);
        char *scopes = report_of(trace, "scopes", NULL);
        assert_int_equal(strstr(scopes, "do not compare scopes of different threads") != NULL,
                         threads == 2);
        tkt_free(scopes);
        takt_trace_release(trace);
    }
}

/* Calls beyond the limit of paths are a loss of a summary, not small calls of one scope. */
TEST(other_paths_are_counted_and_no_scope)
{
    takt_trace *trace = build_begin(2000000);
    uint32_t site = build_site(trace, "a");
    trace->facts.has_spans = false;
    assert_int_equal(tkt_fold_init(&trace->fold), TAKT_OK);
    for (uint32_t parent = 0; trace->fold.count < TKT_FOLD_MAX_NODES;) {
        parent = tkt_fold_child(&trace->fold, parent, site);
        tkt_fold_add(&trace->fold, parent, 1);
    }
    uint32_t next = build_site(trace, "b");
    for (uint32_t i = 0; i < 80000; i++)
        tkt_fold_add(&trace->fold, tkt_fold_child(&trace->fold, 0, next), 10);
    tkt_fold_find_self(&trace->fold);
    tkt_fold_find_others(&trace->fold);
    build_end(trace);
    json_t *summary = report_json(trace, "summary", NULL);
    const json_t *advice = json_object_get(json_object_get(summary, "tables"), "advice");
    const json_t *small = row_at(advice, 0);
    assert_text(small, "kind", "small scope");
    assert_text(small, "scope", "a");
    json_decref(summary);
    assert_int_equal(takt_trace_loss(trace, TAKT_LOSS_TOO_MANY_PATHS), 80000);
    for (int i = 0; i < 2; i++) {
        json_t *json = report_json(trace, i ? "tree" : "scopes", NULL);
        const json_t *notes = json_object_get(json, "notes");
        assert_string_equal(json_string_value(json_array_get(notes, 1)),
                            "(other paths) stands for 80000 calls of paths beyond the first 65536: "
                            "use fewer names made at run time.");
        json_decref(json);
    }
    takt_trace_release(trace);
}

/* 56 bytes, and the character that they end in. */
TEST(long_names_are_cut_in_sentences)
{
    static const char fifty[] = "fifty letters that are the begin of a name of this";
    static const struct {
        const char *end, *shown;
    } cases[] = {{"123456", "123456"},
                 {"1234567", "123456..."},
                 {"12345\xC3\xA9", "12345\xC3\xA9"},
                 {"12345\xC3\xA9-", "12345\xC3\xA9..."},
                 {"123456\xC3\xA9", "123456..."}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[128], sentence[256];
        takt_trace *trace = build_begin(2000000);
        snprintf(name, sizeof name, "%s%s", fifty, cases[i].end);
        build_track(trace, "main");
        build_span(trace, 0, build_site(trace, name), TKT_NO_SPAN, 1000000, 2000000);
        build_end(trace);
        snprintf(sentence, sizeof sentence,
                 "The bottleneck is %s%s: 100.00%% of the self CPU time, 1.000ms in 1 call.", fifty,
                 cases[i].shown);
        assert_headline(trace, sentence);
        takt_trace_release(trace);
    }
}

TEST(uncovered_time_is_told)
{
    takt_trace *trace = build_even(700000);
    advised a = advise(trace);
    const tkt_advice *advice = find(&a, TKT_ADVICE_UNCOVERED);
    assert_non_null(advice);
    assert_int_equal(advice->time_ns, 300000);
    assert_near(advice->share, 0.3, 1e-12);
    assert_said(trace, a.count,
                "30.00% of the wall time, 300.000us, is outside of recorded scopes: add scopes, or record finer ones, to see what "
                "happens there. See takt report --tree.");
    takt_trace_release(trace);
    trace = build_even(800000); /* a fifth is told */
    assert_int_equal(advise(trace).count, 1);
    takt_trace_release(trace);
}

/* Where scopes are missing, nobody knows what was outside of all, nor which scope kept memory. */
TEST(lost_scopes_are_no_uncovered_time)
{
    static const takt_loss reasons[] = {TAKT_LOSS_BUFFER_FULL, TAKT_LOSS_OVERWRITTEN,
                                        TAKT_LOSS_NO_MEMORY, TAKT_LOSS_TOO_MANY_SITES};
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        takt_trace *trace = build_even(500000);
        build_memory_event(trace, NULL, 1000001, 8 << 20, 0, 0);
        trace->memory.current_bytes = 8 << 20;
        trace->losses[reasons[i]] = 7;
        advised a = advise(trace);
        assert_null(find(&a, TKT_ADVICE_UNCOVERED));
        assert_null(find(&a, TKT_ADVICE_GROWTH)->name);
        json_t *json = report_json(trace, "summary", NULL);
        assert_null(json_object_get(json_object_get(json, "facts"), "self_cpu_per_wall"));
        json_decref(json);
        takt_trace_release(trace);
    }
}

/* Nor where some of what came after the last whole part is there. */
TEST(the_rest_of_a_recording_that_was_broken_off_is_no_uncovered_time)
{
    for (int is_broken = 0; is_broken < 2; is_broken++) {
        takt_trace *trace = build_even(500000);
        trace->facts.ending = TAKT_ENDING_KILLED;
        trace->facts.known_until_ns = is_broken ? 1500000 : 2000000;
        advised a = advise(trace);
        assert_int_equal(find(&a, TKT_ADVICE_UNCOVERED) != NULL, !is_broken);
        takt_trace_release(trace);
    }
}

TEST(scopes_too_small_are_told)
{
    takt_trace *trace = build_even(1000000);
    uint32_t tiny = build_site(trace, "tiny");
    for (uint64_t i = 0; i < 10000; i++)
        build_span(trace, 0, tiny, 4, 1800000 + i * 20, 1800000 + i * 20 + 15);
    advised a = advise(trace);
    const tkt_advice *advice = find(&a, TKT_ADVICE_SMALL);
    assert_non_null(advice);
    assert_string_equal(advice->name, "tiny");
    assert_int_equal(advice->count, 10000);
    assert_int_equal(advice->time_ns, 15);
    assert_said(
        trace, a.count,
        "tiny was called 10000 times for 0.015us each: put the scope around the loop, or give "
        "it a finer level. See takt report --scopes.");
    trace->sites.items[tiny].level = TAKT_LEVEL_FINE;
    assert_said(
        trace, a.count,
        "tiny was called 10000 times for 0.015us each: put the scope around the loop, or lower "
        "profiling.level. See takt report --scopes.");
    takt_trace_release(trace);
}

/* What just does not reach the bounds: 15 % uncovered, 9999 small calls, 500 ns a call, 4 % cost.
 */
TEST(what_is_almost_worth_advice_is_not_told)
{
    takt_trace *trace = build_even(85000000);
    trace->facts.end_ns = 101000000;
    uint32_t tiny = build_site(trace, "tiny");
    uint32_t small = build_site(trace, "small");
    uint64_t last_ns = trace->tracks.items[0].spans.items[4].begin_ns;
    for (uint64_t i = 0; i < 9999; i++)
        build_span(trace, 0, tiny, 4, last_ns + i, last_ns + i + 1);
    for (uint64_t i = 0; i < 10000; i++)
        build_span(trace, 0, small, 4, last_ns + 10000 + i * 500, last_ns + 10000 + i * 500 + 500);
    trace->facts.cost_ns = 4000000;
    trace->memory.window_begin_bytes = 10 << 20;
    trace->memory.current_bytes = 10 << 20;
    assert_int_equal(advise(trace).count, 0);
    takt_trace_release(trace);
}

TEST(high_cost_is_told)
{
    takt_trace *trace = build_even(1000000);
    trace->facts.cost_ns = 60000;
    advised a = advise(trace);
    const tkt_advice *advice = find(&a, TKT_ADVICE_COST);
    assert_non_null(advice);
    assert_int_equal(advice->at_stake_ns, 60000);
    assert_said(trace, a.count,
                "Recording itself took up to 300.000us (30.00% of wall time): record fewer or "
                "coarser scopes. See takt report --scopes.");
    takt_trace_release(trace);
}

/* The sum may exceed the wall time, but not the time that both threads had. */
TEST(the_cost_of_several_threads_is_said_to_be_theirs)
{
    takt_trace *trace = build_even(1000000);
    build_span(trace, build_track(trace, "worker"), build_site(trace, "a"), TKT_NO_SPAN, 1000000,
               1200000);
    trace->facts.cost_ns = 1100000;
    advised a = advise(trace);
    assert_said(
        trace, a.count,
        "Recording itself took up to 2.000ms (200.00% of wall time), summed over threads: "
        "record fewer or coarser scopes. See takt report --scopes.");
    char *text = report_of(trace, "summary", NULL);
    assert_non_null(
        strstr(text, "Takt's cost up to 2.000ms (200.00% of wall time);"));
    tkt_free(text);
    takt_trace_release(trace);
}

/* 30 steps of 0.1 ms; those that `is_slow` tells take 0.5. */
static takt_trace *build_slow(bool (*is_slow)(uint64_t step))
{
    takt_trace *trace = build_begin(0);
    uint32_t track = build_track(trace, "main"), step = build_site(trace, "step");
    uint64_t now_ns = 1000000;
    for (uint64_t i = 0; i < 30; i++) {
        uint64_t ns = is_slow(i) ? 500000 : 100000;
        build_span(trace, track, step, TKT_NO_SPAN, now_ns, now_ns + ns);
        build_step(trace, 100 + i, now_ns, now_ns + ns);
        build_all_step(trace, ns);
        now_ns += ns;
    }
    trace->facts.end_ns = now_ns;
    return trace;
}

static bool each_tenth(uint64_t step)
{
    return step % 10 == 7;
}
static bool the_last(uint64_t step)
{
    return step == 29;
}
static bool none(uint64_t step)
{
    return step == 30;
}

/* Of 3.4 ms the device is busy for 1; 0.5 of the rest is the slow step, which has a line of its
 * own. */
TEST(idle_time_in_a_slow_step_is_told_apart)
{
    takt_trace *trace = build_slow(the_last);
    uint32_t call = build_call(trace, 0, "cudaLaunchKernel", 0, 1000000, 1010000);
    build_launched(trace, call, "cuda:0", "kernel a", TAKT_TIMING_KERNEL, 1010000, 2010000);
    advised a = advise(trace);
    const tkt_advice *advice = find(&a, TKT_ADVICE_IDLE);
    assert_non_null(find(&a, TKT_ADVICE_OUTLIER));
    assert_non_null(advice);
    assert_int_equal(advice->time_ns, 1900000);
    assert_int_equal(advice->idle_ns, 500000);
    char *text = report_of(trace, "summary", NULL);
    assert_non_null(strstr(text, "cuda:0 was idle for 55.88% of the wall time, 1.900ms, besides "
                                 "500.000us in slow steps"));
    tkt_free(text);
    takt_trace_release(trace);
}

TEST(slow_steps_are_told_together)
{
    takt_trace *trace = build_slow(each_tenth);
    advised a = advise(trace);
    const tkt_advice *advice = find(&a, TKT_ADVICE_SLOW_STEPS);
    assert_int_equal(a.count, 1);
    assert_non_null(advice);
    assert_int_equal(advice->count, 3);
    assert_int_equal(advice->step, 107); /* the first of equal ones */
    assert_int_equal(advice->time_ns, 1200000);
    assert_near(advice->share, 12.0 / 42, 1e-12);
    assert_said(
        trace, 1,
        "3 steps took three times the median or more, 28.57% of the wall time beyond it. The "
        "slowest, step 107, took 500.000us, 5.0 times the median: step grew by 372.414us. See "
        "takt report --steps.");
    takt_trace_release(trace);

    trace = build_slow(the_last);
    a = advise(trace);
    assert_int_equal(a.count, 1);
    assert_int_equal(a.items[0].kind, TKT_ADVICE_OUTLIER);
    assert_int_equal(a.items[0].step, 129);
    takt_trace_release(trace);

    trace = build_slow(none);
    assert_int_equal(advise(trace).count, 0);
    takt_trace_release(trace);
}

/* Steps of which only the distribution is known. */
TEST(uneven_steps_of_the_run_are_told)
{
    takt_trace *trace = build_even(1000000);
    for (int i = 0; i < 100; i++)
        build_all_step(trace, i < 96 ? 10 : 25);
    for (uint64_t i = 0; i < 40; i++)
        build_step(trace, i, 1000000 + 100 * i, 1000000 + 100 * i + 10);
    advised a = advise(trace);
    const tkt_advice *advice = find(&a, TKT_ADVICE_UNEVEN);
    assert_non_null(advice);
    assert_int_equal(advice->other, 10);
    assert_int_equal(advice->time_ns, 25);
    assert_int_equal(advice->at_stake_ns, 15 * 40 / 100);
    assert_said(trace, a.count,
                "One step of the run in a hundred takes 0.025us or more, 2.5 times the median of "
                "0.010us. See takt report --steps.");
    takt_trace_release(trace);
}

/* As a clock that stands still tells: no step is so many times longer than another. */
TEST(steps_without_duration_are_even)
{
    takt_trace *trace = build_even(1000000);
    for (int i = 0; i < 100; i++)
        build_all_step(trace, i < 96 ? 0 : 25);
    assert_int_equal(advise(trace).count, 0);
    takt_trace_release(trace);
}

TEST(growing_memory_is_told)
{
    takt_trace *trace = build_even(1000000);
    trace->memory.window_begin_bytes = 10 << 20;
    trace->memory.current_bytes = 13 << 20;
    advised a = advise(trace);
    const tkt_advice *advice = find(&a, TKT_ADVICE_GROWTH);
    assert_non_null(advice);
    assert_int_equal(advice->count, 3 << 20);
    assert_said(trace, a.count,
                "Host memory grew by 3.00 MiB during the recording. See takt report --memory.");
    takt_trace_release(trace);
    trace = build_even(1000000);
    trace->memory.current_bytes = 1 << 20; /* from nothing; as little as is told */
    assert_int_equal(advise(trace).count, 1);
    takt_trace_release(trace);
}

TEST(every_loss_is_told_with_its_count)
{
    takt_trace *trace = build_even(1000000);
    for (int i = 0; i < TAKT_LOSS_COUNT; i++)
        trace->losses[i] = 10 + (uint64_t)i;
    advised a = advise(trace);
    assert_int_equal(a.count, TAKT_LOSS_COUNT);
    for (size_t i = 0; i < a.count; i++) {
        assert_int_equal(a.items[i].kind, TKT_ADVICE_LOST);
        assert_int_equal(a.items[i].loss, i);
        assert_int_equal(a.items[i].count, 10 + i);
        char sentence[128];
        snprintf(sentence, sizeof sentence, "Lost %zu: %s.", 10 + i, takt_loss_text((takt_loss)i));
        assert_said(trace, a.count, sentence);
    }
    takt_trace_release(trace);
}

TEST(without_any_memory_there_is_no_advice)
{
    takt_trace *trace = build_even(700000);
    static const tkt_scopes scopes;
    static const tkt_device_uses uses;
    static const tkt_gaps gaps;
    static const tkt_named_list kernels;
    static const tkt_phases phases;
    const tkt_advice_basis basis = {&scopes, &uses, &gaps, &kernels, &phases};
    tkt_advice advice[TKT_MOST_ADVICE];
    size_t count = 1000;
    build_end(trace);
    tkt_alloc_fail(0, UINT64_MAX);
    takt_status status = tkt_advice_of(trace, &basis, advice, &count);
    tkt_alloc_fail(0, 0);
    assert_int_equal(status, TAKT_NO_MEMORY);
    assert_int_equal(count, 0);
    takt_trace_release(trace);
}

TEST_MAIN(NULL, NULL)
