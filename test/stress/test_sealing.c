/* One thread records while the other seals, again and again. What a sealed trace shows of the first
 * thread is whole: each round has all of its scopes, in order, with the number that it was given,
 * and no round is missing between two others. A record that could be read before it was written, or
 * a stack from another moment, would break the row. */
#include "profiler/session.h"
#include "support/test.h"
#include "support/windows.h"
#include "support/emulated.h"

#include <takt/takt.h>

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <time.h>

static const char *const row[] = {"round", "inner", "innermost", "first", "second"};
#define ROW (sizeof row / sizeof *row)

static bool is_over; /* atomic */

static void one_round(uint64_t number)
{
    TAKT_SCOPE("round");
    TAKT_ARG("number", number);
    {
        TAKT_SCOPE("inner");
        TAKT_SCOPE("innermost");
    }
    TAKT_PHASE("first");
    TAKT_PHASE("second");
}

static void *record(void *rounds)
{
    for (uint64_t i = 0; i < *(const uint64_t *)rounds; i++)
        one_round(i);
    __atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
    return NULL;
}

static tkt_window *open_window(void)
{
    const tkt_wish wish = {
        .modes = TKT_KEEP | TKT_ARGUMENTS, .mask = TAKT_NORMAL_BIT, .max_bytes = UINT64_C(1) << 30};
    return window_with(&wish);
}

static takt_trace *seal(tkt_window *window)
{
    takt_trace *trace = end_and_seal(window);
    for (int i = 0; i < TAKT_LOSS_COUNT; i++)
        assert_int_equal(trace->losses[i], 0);
    return trace;
}

static const char *name_of(const takt_trace *trace, const tkt_span *span)
{
    return tkt_trace_text(trace, trace->sites.items[tkt_span_site(span)].name);
}

/* Where the number of the round at that span is noted, as an index. A round that was cut at the
 * begin has it noted before the window. */
static const tkt_arg *number_of(const tkt_track *track, uint32_t span, size_t *from)
{
    while (*from < track->args.count && track->args.items[*from].span < span)
        (*from)++;
    bool is_there = *from < track->args.count && track->args.items[*from].span == span;
    return is_there ? &track->args.items[*from] : NULL;
}

/* The spans of one round, of which the first and the last in a window may be cut. Returns how many
 * spans they are. */
static uint32_t check_round(const takt_trace *trace, const tkt_track *track, uint32_t first)
{
    const tkt_span *spans = track->spans.items;
    bool is_cut = tkt_span_flags(&spans[first]) & (TAKT_SPAN_BEGUN_BEFORE | TAKT_SPAN_UNFINISHED);
    uint32_t count = 1;
    assert_string_equal(name_of(trace, &spans[first]), row[0]);
    assert_int_equal(spans[first].parent, TKT_NO_SPAN);
    for (size_t at = 1; at < ROW && first + count < track->spans.count; at++) {
        const tkt_span *span = &spans[first + count];
        if (is_cut && strcmp(name_of(trace, span), row[at]) != 0)
            continue;
        if (!is_cut)
            assert_string_equal(name_of(trace, span), row[at]);
        if (!is_cut)
            assert_int_equal(span->parent, first + (at == 2));
        count++;
    }
    if (!is_cut)
        assert_int_equal(count, ROW);
    return count;
}

/* Returns how many rounds the track has with their number. */
static uint64_t check_track(const takt_trace *trace, const tkt_track *track)
{
    uint64_t next = 0, rounds = 0;
    size_t arg = 0;
    for (uint32_t i = 0; i < track->spans.count;) {
        const tkt_arg *number = number_of(track, i, &arg);
        assert_true(number || i == 0 || i + ROW > track->spans.count);
        if (number && rounds > 0)
            assert_int_equal(number->value.u, next);
        if (number)
            next = number->value.u + 1;
        rounds += number != NULL;
        i += check_round(trace, track, i);
    }
    return rounds;
}

static uint64_t check(const takt_trace *trace)
{
    assert_true(trace->tracks.count <= 1);
    return trace->tracks.count ? check_track(trace, &trace->tracks.items[0]) : 0;
}

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){0, ms * 1000000}, NULL);
}

TEST(every_picture_is_whole)
{
    pthread_t thread;
    uint64_t rounds = test_runner() ? 100000 : 500000, seen = 0;
    unsigned pictures = 0;
    tkt_window *all = open_window();
    assert_int_equal(pthread_create(&thread, NULL, record, &rounds), 0);
    for (; !__atomic_load_n(&is_over, __ATOMIC_RELAXED); pictures++) {
        tkt_window *window = open_window();
        pause_ms(1);
        takt_trace *trace = seal(window);
        seen += check(trace);
        takt_trace_release(trace);
    }
    pthread_join(thread, NULL);
    takt_trace *trace = seal(all);
    assert_int_equal(check(trace), rounds);
    assert_int_equal(trace->facts.span_count, ROW * rounds);
    assert_int_equal(trace->facts.unfinished, 0);
    takt_trace_release(trace);
    print_message("%u pictures with %llu of %llu rounds\n", pictures, (unsigned long long)seen,
                  (unsigned long long)rounds);
}

static uint64_t solved; /* atomic: scopes with work that have ended */

static void *solve(void *unused)
{
    while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
        TAKT_SCOPE("solve");
        for (int i = 0; i < 50; i++) {
            TAKT_WORK(1, 0);
            for (volatile int k = 0; k < 1000; k++) {
            }
        }
        __atomic_fetch_add(&solved, 1, __ATOMIC_RELAXED);
    }
    return unused;
}

static double flops_of_tree(const takt_trace *trace)
{
    double flops = 0;
    for (size_t i = 0; i < trace->fold.count; i++)
        flops += trace->fold.items[i].flops;
    return flops;
}

/* Threads go on with their work while windows begin and end. */
TEST(spans_and_tree_have_the_same_work)
{
    const tkt_wish wish = {
        .modes = TKT_KEEP | TKT_FOLD, .mask = TAKT_NORMAL_BIT, .max_bytes = UINT64_C(1) << 30};
    pthread_t threads[3];
    __atomic_store_n(&is_over, false, __ATOMIC_RELAXED);
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, solve, NULL), 0);
    for (int i = 0; i < 300; i++) {
        tkt_window *window = window_with(&wish);
        uint64_t before = __atomic_load_n(&solved, __ATOMIC_RELAXED);
        while (__atomic_load_n(&solved, __ATOMIC_RELAXED) < before + 10)
            sched_yield();
        tkt_window_end_soon(window);
        takt_trace *trace = seal(window);
        assert_true(flops_of_spans(trace) > 0);
        assert_true(flops_of_spans(trace) == flops_of_tree(trace));
        takt_trace_release(trace);
    }
    __atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}

TEST_MAIN(NULL, NULL)
