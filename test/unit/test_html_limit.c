/* What a page leaves out of a trace that is too large for it: cli/html/limit.c. */
#include "cli/html/limit.c"
#include "support/test.h"
#include "support/trace_build.h"

/* A trace with a span of each of these durations. */
static takt_trace *trace_of(const uint64_t *durations, size_t count)
{
    takt_trace *trace = make_trace();
    uint32_t site = make_site(trace, "work", TAKT_SITE_SCOPE);
    tkt_track track = {.kind = TAKT_TRACK_THREAD, .name = text(trace, "main")};
    for (size_t i = 0; i < count; i++)
        ADD(&track.spans, (tkt_span){.begin_ns = BEGIN_NS,
                                     .end_ns = BEGIN_NS + durations[i],
                                     .parent = TKT_NO_SPAN,
                                     .site_flags = site << 8});
    ADD(&trace->tracks, track);
    return trace;
}

static void add_activity(takt_trace *trace, uint64_t duration)
{
    ADD(&trace->activities, (tkt_activity){.begin_ns = BEGIN_NS,
                                           .end_ns = BEGIN_NS + duration,
                                           .track = TKT_NO_TRACK,
                                           .scope = TKT_NO_SPAN,
                                           .call = UINT32_MAX,
                                           .shape = TKT_NO_SHAPE,
                                           .correlation = 1});
}

/* How many of these the limit keeps; `is_kept` says which, if it is not NULL. */
static size_t count_kept(html_limit limit, const uint64_t *durations, size_t count, bool *is_kept)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        bool keeps = html_limit_keeps(&limit, durations[i]);
        kept += keeps;
        if (is_kept)
            is_kept[i] = keeps;
    }
    return kept;
}

TEST(what_fits_is_all_there)
{
    static const uint64_t durations[] = {0, 1, 5, 1000};
    takt_trace *trace = trace_of(durations, 4);
    html_limit limit = html_limit_of(trace, 4);
    assert_int_equal(limit.hidden, 0);
    assert_int_equal(count_kept(limit, durations, 4, NULL), 4);
    takt_trace_release(trace);
}

TEST(the_shortest_are_left_out)
{
    static const uint64_t durations[] = {7, 1000000, 9, 50000, 3, 2000};
    bool is_kept[6];
    takt_trace *trace = trace_of(durations, 6);
    html_limit limit = html_limit_of(trace, 3);
    assert_int_equal(limit.hidden, 3);
    assert_int_equal(count_kept(limit, durations, 6, is_kept), 3);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(is_kept[i], durations[i] >= 2000);
    takt_trace_release(trace);
}

TEST(equals_are_thinned_evenly)
{
    uint64_t durations[1000];
    bool is_kept[1000];
    for (size_t i = 0; i < 1000; i++)
        durations[i] = 640;
    takt_trace *trace = trace_of(durations, 1000);
    html_limit limit = html_limit_of(trace, 100);
    assert_int_equal(limit.hidden, 900);
    assert_true(limit.below_ns <= 640 && 640 < limit.upto_ns);
    assert_int_equal(count_kept(limit, durations, 1000, is_kept), 100);
    for (size_t i = 0; i < 1000; i += 10) {
        size_t kept = 0;
        for (size_t k = i; k < i + 10; k++)
            kept += is_kept[k];
        assert_int_equal(kept, 1);
    }
    takt_trace_release(trace);
}

TEST(activities_count_too)
{
    static const uint64_t durations[] = {10, 20, 30};
    takt_trace *trace = trace_of(durations, 3);
    add_activity(trace, 1000);
    add_activity(trace, 5);
    html_limit limit = html_limit_of(trace, 2);
    assert_int_equal(limit.hidden, 3);
    assert_true(html_limit_keeps(&limit, 1000));
    assert_true(html_limit_keeps(&limit, 30));
    assert_false(html_limit_keeps(&limit, 20));
    takt_trace_release(trace);
}

/* Of any durations, never more than fit are kept, those that are kept are no shorter than those
 * that are not by more than a bucket, and the number that is told is right. */
TEST(any_durations_fit)
{
    uint64_t durations[2000], number = 1;
    bool is_kept[2000];
    for (int round = 0; round < 64; round++) {
        for (size_t i = 0; i < 2000; i++) {
            number = number * UINT64_C(6364136223846793005) + 1442695040888963407;
            durations[i] = number >> 20 >> (number & 31) >> (round & 7);
        }
        takt_trace *trace = trace_of(durations, 2000);
        html_limit limit = html_limit_of(trace, 100);
        size_t kept = count_kept(limit, durations, 2000, is_kept);
        assert_in_range(kept, 50, 100);
        assert_int_equal(limit.hidden, 2000 - kept);
        for (size_t i = 0; i < 2000; i++)
            assert_true(is_kept[i] ? durations[i] >= limit.below_ns : durations[i] < limit.upto_ns);
        assert_true(limit.upto_ns - limit.below_ns <= limit.below_ns / 16 + 1);
        takt_trace_release(trace);
    }
}

TEST_MAIN(NULL, NULL)
