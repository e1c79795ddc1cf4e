/* The figures of a summary's counters, and tables of random runs: those of a trace of the same
 * run. */
#include "test_profiler_lists.h"

#include "support/report_build.h"
#include "support/test.h"

#include <math.h>
#include <pthread.h>

/* ---- Means of counters ----------------------------------------------------------------------- */

static void push(double size)
{
    pass_ns(3);
    TAKT_COUNTER("size", size);
}

static void pop(double size)
{
    pass_ns(5);
    TAKT_COUNTER("size", size);
}

/* One thread samples at two places, by turns; values that are not finite; one that held no time. */
static void sample_at_two_places(void)
{
    for (int i = 0; i < 2000; i++) {
        push(i % 11);
        push(i % 7);
        pop(i % 5);
    }
    takt_counter("far", -INFINITY);
    pass_ns(4);
    takt_counter("far", 2);
    pass_ns(4);
    takt_counter("far", 6);
    pass_ns(8);
    takt_counter("far", INFINITY);
    pass_ns(8);
    takt_counter("never", NAN);
    pass_ns(1);
    takt_counter("at the end", 5);
}

TEST(places_of_one_thread_share_a_mean)
{
    const takt_trace *trace = record(TAKT_MODE_TRACE, sample_at_two_places);
    const takt_trace *summary = record(TAKT_MODE_SUMMARY, sample_at_two_places);
    assert_int_equal(rows_of(summary, "counters", "size,6000,0,"), 1);
    assert_int_equal(rows_of(summary, "counters", "far,4,"), 1);
    same_table(trace, summary, "counters");
    lacks_text(summary, "counters", "by turns");
    lacks_text(summary, "counters", "Change per step");
    has_text(trace, "counters", "Change per step");
    is_like_its_file(summary);
}

/* Values whose sum no double holds, and some that a sum in larger units would lose. All are
 * multiples of powers of two, so that no order of adding them up matters. */
static void sample_large_and_tiny(void)
{
    for (int i = 0; i < 300; i++) {
        push(i % 3 ? 0x1.8p1023 : 0x1p1000 * i);
        pop(0x1.Cp1023);
        takt_counter("both", i % 2 ? 0x1.Fp1023 : -0x1.Fp1023);
        pass_ns(1);
        takt_counter("tiny", 0x1p-1000 * (1 + i % 4));
        pass_ns(1);
        takt_counter("usual", i);
    }
}

TEST(means_of_large_and_tiny_values)
{
    const takt_trace *trace = record(TAKT_MODE_TRACE, sample_large_and_tiny);
    const takt_trace *summary = record(TAKT_MODE_SUMMARY, sample_large_and_tiny);
    lacks_text(summary, "counters", "inf");
    lacks_text(summary, "counters", ",0,"); /* the tiny ones' mean */
    same_table(trace, summary, "counters");
    is_like_its_file(summary);
}

enum {
    IN_A_ROW = 5
};

static pthread_mutex_t turn_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t next_turn = PTHREAD_COND_INITIALIZER;
static unsigned turn;   /* lock */
static unsigned rounds; /* each thread has as many turns */
static unsigned order[IN_A_ROW] = {3, 0, 4, 2,
                                   1}; /* of the threads, which appear as 0, 1, 2, ... */

static void take_turn(unsigned number, unsigned of, void (*then)(unsigned number))
{
    pthread_mutex_lock(&turn_lock);
    while (turn != of)
        pthread_cond_wait(&next_turn, &turn_lock);
    then(number);
    turn++;
    pthread_cond_broadcast(&next_turn);
    pthread_mutex_unlock(&turn_lock);
}

static void sample_ten(unsigned number)
{
    for (unsigned i = 0; i < 10; i++)
        push(number * 100 + i);
}

static void appear(unsigned number)
{
    (void)number;
    takt_mark("appears");
}

/* A thread gets its log when it appears; it samples when it is its turn. */
static void *sample_by_turns(void *argument)
{
    unsigned number = (unsigned)(uintptr_t)argument;
    take_turn(number, number, appear);
    for (unsigned round = 0; round < rounds; round++)
        take_turn(number, IN_A_ROW * (1 + round) + order[number], sample_ten);
    return NULL;
}

static void sample_on_threads(void)
{
    pthread_t threads[IN_A_ROW];
    turn = 0;
    for (uintptr_t i = 0; i < IN_A_ROW; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, sample_by_turns, (void *)i), 0);
    for (unsigned i = 0; i < IN_A_ROW; i++)
        pthread_join(threads[i], NULL);
}

TEST(threads_that_sample_one_after_another_share_a_mean)
{
    rounds = 1;
    const takt_trace *trace = record(TAKT_MODE_TRACE, sample_on_threads);
    const takt_trace *summary = record(TAKT_MODE_SUMMARY, sample_on_threads);
    assert_int_equal(rows_of(summary, "counters", "size,50,100,"), 1);
    same_table(trace, summary, "counters");
    lacks_text(summary, "counters", "by turns");
    is_like_its_file(summary);
}

TEST(a_mean_that_is_not_known_is_told)
{
    rounds = 2;
    const takt_trace *summary = record(TAKT_MODE_SUMMARY, sample_on_threads);
    assert_int_equal(rows_of(summary, "counters", "size,100,100,209,0,,409,"), 1);
    has_text(summary, "counters", "does not know the mean of what threads set by turns");
    is_like_its_file(summary);
}

/* ---- Random runs ----------------------------------------------------------------------------- */

static uint64_t seed;

static unsigned below(unsigned limit)
{
    return (unsigned)(build_random(&seed) % limit);
}

static double random_value(void)
{
    static const double values[] = {0, -1, 2.5, 1e9, 0.25, INFINITY, -INFINITY, NAN}; /* exact */
    return below(3) ? values[below(8)] : below(1000);
}

/* Scopes, samples, marks and tasks by turns; the last scopes and tasks are still open at the end.
 */
static void run_randomly(void)
{
    static const char *const names[] = {"a", "b", "wait", "d", "e"};
    takt_span open[3] = {0};
    unsigned depth = 0;
    for (unsigned i = 0; i < 3000; i++) {
        unsigned slot = below(3);
        pass_ns(1 + below(30));
        switch (below(6)) {
        case 0:
            if (depth < 9) {
                takt_begin(names[below(5)]);
                depth++;
            }
            break;
        case 1:
            if (depth > 0) {
                takt_end();
                depth--;
            }
            break;
        case 2:
        case 3:
            takt_counter(names[below(5)], random_value());
            break;
        case 4:
            takt_mark(names[below(5)]);
            break;
        default:
            if (open[slot])
                takt_span_end(open[slot]);
            open[slot] = takt_span_begin(takt_track_named(names[below(2)]), names[below(5)]);
        }
    }
    takt_profiler_step(profiler);
    for (; depth > 0; depth--)
        takt_end();
    for (int i = 0; i < 3; i++)
        takt_span_end(open[i]);
}

/* The same rows, sorted, without the last column: tasks at once, which a summary does not know. */
static void same_tasks(const takt_trace *trace, const takt_trace *summary)
{
    char *of_trace = csv_of(trace, "tasks"), *of_summary = csv_of(summary, "tasks");
    for (char *line = of_trace; *line; line = strchr(line, '\n') + 1) {
        char row[200];
        size_t size = strcspn(line, "\n");
        while (line[size - 1] != ',')
            size--;
        snprintf(row, sizeof row, "%.*s", (int)size, line);
        if (!strstr(of_summary, row))
            fail_msg("the summary lacks the task %s:\n%s", row, of_summary);
    }
    tkt_free(of_trace);
    tkt_free(of_summary);
}

TEST(random_runs_have_the_same_tables)
{
    for (uint64_t i = 1; i <= 10; i++) {
        seed = i;
        const takt_trace *trace = record(TAKT_MODE_TRACE, run_randomly);
        seed = i;
        const takt_trace *summary = record(TAKT_MODE_SUMMARY, run_randomly);
        same_table(trace, summary, "counters");
        same_table(trace, summary, "threads");
        same_table(trace, summary, "scopes");
        same_table(trace, summary, "api");
        same_tasks(trace, summary);
        is_like_its_file(summary);
        release_traces(&traces);
    }
}

TEST_MAIN_EACH(begin_test, tear_down)
