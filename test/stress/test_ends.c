/* Nothing of which a program can have too much ends in silence: with a hundred thousand of each,
 * and with millions of steps, what a trace has and what it counts as lost add up to what there was,
 * and memory stays flat. TEST_LONG=1 does ten million steps and four billion calls, which takes
 * minutes. */
#include "support/sanitized.h"
#include "support/skip.h"
#include "support/resident.h"
#include "support/test.h"

#include "base/clock.h"
#include "record/log.h"
#include "trace/model.h"

#include <takt/takt.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MIB    (UINT64_C(1) << 20)
#define LITTLE MIB         /* names end early */
#define PLENTY (256 * MIB) /* ids and paths end first */
#define MANY   FEWER(20000u, 100000u)

static const char *const modes[] = {"trace", "summary", "both", "flight"};

static bool is_long(void)
{
    return getenv("TEST_LONG") != NULL;
}

/* ---- Time ------------------------------------------------------------------------------------ */

/* Ticks are nanoseconds. */
static uint64_t now = 1000000;

static uint64_t read_now(void)
{
    return __atomic_load_n(&now, __ATOMIC_RELAXED);
}

static void pass_ns(uint64_t ns)
{
    __atomic_fetch_add(&now, ns, __ATOMIC_RELAXED);
}

static int use_fake_clock(void **state)
{
    (void)state;
    tkt_clock_fake(read_now);
    return 0;
}

/* ---- A recording ----------------------------------------------------------------------------- */

static takt_profiler *profiler;

static void start(takt_mode mode, uint64_t bytes)
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    options.mode = mode;
    options.max_memory_bytes = bytes;
    options.background = TAKT_OFF;
    pass_ns(1000);
    assert_int_equal(takt_profiler_create(&options, &profiler), TAKT_OK);
    assert_int_equal(takt_profiler_start(profiler), TAKT_OK);
}

/* The trace stays until the profiler is destroyed. */
static const takt_trace *stop(void)
{
    assert_int_equal(takt_profiler_stop(profiler), TAKT_OK);
    return takt_profiler_trace(profiler);
}

static uint64_t resident_kib(void)
{
    return resident_bytes() / 1024;
}

/* Events of the time line, without threads' names and the like. */
static uint64_t events_of(const takt_trace *trace)
{
    uint64_t count = trace->counters.count + trace->marks.count;
    for (size_t i = 0; i < trace->tracks.count; i++)
        count += trace->tracks.items[i].spans.count + trace->tracks.items[i].args.count;
    return count;
}

static uint64_t lost_events_of(const takt_trace *trace)
{
    return trace->losses[TAKT_LOSS_BUFFER_FULL] + trace->losses[TAKT_LOSS_OVERWRITTEN];
}

/* Calls that have a path of their own, and the others. */
static uint64_t calls_of(const takt_trace *trace)
{
    uint64_t count = trace->losses[TAKT_LOSS_TOO_MANY_PATHS];
    for (size_t i = 1; i < trace->fold.count; i++)
        if (trace->fold.items[i].site != TKT_SITE_OTHER)
            count += trace->fold.items[i].stats.count;
    return count;
}

static uint64_t samples_of(const takt_trace *trace)
{
    uint64_t count = 0;
    for (size_t i = 0; i < trace->fold.counters.count; i++)
        count += trace->fold.counters.items[i].samples;
    return count;
}

static uint64_t tasks_of(const takt_trace *trace)
{
    uint64_t count = 0;
    for (size_t i = 0; i < trace->fold.tasks.count; i++)
        count += trace->fold.tasks.items[i].stats.count;
    return count;
}

static uint64_t threads_of(const takt_trace *trace)
{
    return trace->fold.threads.count + trace->losses[TAKT_LOSS_MORE_THREADS];
}

/* ---- A hundred thousand of each -------------------------------------------------------------- */

static const char *text_of(const char *kind, uint64_t number)
{
    static _Thread_local char text[64];
    snprintf(text, sizeof text, "%s %llu", kind, (unsigned long long)number);
    return text;
}

static void use_scope(uint64_t number)
{
    takt_begin(text_of("scope", number));
    takt_end();
}

static void use_counter(uint64_t number)
{
    takt_counter(text_of("counter", number), (double)number);
}

static void use_task(uint64_t number)
{
    takt_span_end(takt_span_begin(takt_track_named("track"), text_of("task", number)));
}

static void use_track(uint64_t number)
{
    takt_span_end(takt_span_begin(takt_track_named(text_of("track", number)), "task"));
}

static void use_mark(uint64_t number)
{
    takt_mark(text_of("mark", number));
}

static void use_text(uint64_t number)
{
    TAKT_SCOPE("scope");
    TAKT_ARG("text", text_of("text", number));
}

/* A place in the source; the registry copies its texts. */
static takt_site site_of(takt_site_kind kind, const char *name, const char *category)
{
    return (takt_site){.tag = TAKT_SLOW,
                       .kind = (uint8_t)kind,
                       .level = TAKT_LEVEL_NORMAL,
                       .bits = UINT64_MAX,
                       .name = name,
                       .category = category};
}

static void use_category(uint64_t number)
{
    takt_site site = site_of(TAKT_SITE_SCOPE, "scope", text_of("category", number));
    takt_open open = takt_scope_begin_v1(&site);
    takt_scope_end_v1(open.frame, open.start);
}

static void use_argument(uint64_t number)
{
    TAKT_SCOPE("scope");
    takt_site key = site_of(TAKT_SITE_ARG, text_of("key", number), NULL);
    takt_arg_uint_v1(&key, number);
}

static void *run_thread(void *argument)
{
    TAKT_SCOPE("thread");
    return argument;
}

static void use_thread(uint64_t number)
{
    pthread_t thread;
    (void)number;
    assert_int_equal(pthread_create(&thread, NULL, run_thread, NULL), 0);
    pthread_join(thread, NULL);
}

typedef struct use {
    const char *what;
    void (*once)(uint64_t number);
    uint64_t events;                             /* of the time line */
    uint64_t (*folded)(const takt_trace *trace); /* what the summary tells of them; NULL: nothing */
    bool is_named;                               /* at run time */
} use;

static void use_many(const use *what, takt_mode mode, uint64_t bytes, uint64_t count)
{
    uint64_t before = resident_kib();
    start(mode, bytes);
    for (uint64_t number = 0; number < count; number++) {
        pass_ns(1);
        what->once(number);
    }
    const takt_trace *trace = stop();
    uint64_t kept = events_of(trace), lost = lost_events_of(trace);
    uint64_t names = trace->losses[TAKT_LOSS_MORE_NAMES];
    /* An argument has no time: in a flight the first one counts with what the last recording left.
     */
    uint64_t untimed = mode == TAKT_MODE_FLIGHT ? what->events - 1 : 0;
    if (mode != TAKT_MODE_SUMMARY)
        assert_in_range(kept + lost, what->events * count - untimed, what->events * count);
    if (what->folded && (mode == TAKT_MODE_SUMMARY || mode == TAKT_MODE_BOTH))
        assert_int_equal(what->folded(trace), count);
    if (what->is_named && bytes == LITTLE)
        assert_in_range(names, count / 2, 2 * what->events * count);
    uint64_t paths = trace->losses[TAKT_LOSS_TOO_MANY_PATHS];
    uint64_t threads = trace->losses[TAKT_LOSS_MORE_THREADS];
    takt_profiler_destroy(profiler);
    print_message("%-10s %-7s %3llu MiB: %llu events, lost %llu, paths %llu, names %llu, threads "
                  "%llu; memory %+lld KiB\n",
                  what->what, modes[mode], (unsigned long long)(bytes >> 20),
                  (unsigned long long)kept, (unsigned long long)lost, (unsigned long long)paths,
                  (unsigned long long)names, (unsigned long long)threads,
                  (long long)(resident_kib() - before));
}

TEST(what_is_told_and_what_is_lost_add_up)
{
    static const use uses[] = {
        {"scopes", use_scope, 1, calls_of, true},
        {"counters", use_counter, 1, samples_of, true},
        {"tasks", use_task, 1, tasks_of, true},
        {"tracks", use_track, 1, tasks_of, true},
        {"marks", use_mark, 1, NULL, true},
        {"texts", use_text, 2, calls_of, true},
        {"categories", use_category, 1, calls_of, false},
        {"arguments", use_argument, 2, calls_of, false},
    };
    uint64_t before = resident_kib(), grown = 0;
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        for (takt_mode mode = TAKT_MODE_TRACE; mode <= TAKT_MODE_FLIGHT; mode++)
            use_many(&uses[i], mode, LITTLE, MANY);
        for (takt_mode mode = TAKT_MODE_TRACE; mode <= TAKT_MODE_FLIGHT && is_long(); mode++)
            use_many(&uses[i], mode, PLENTY, MANY);
        if (uses[i].is_named && !is_long())
            grown = resident_kib() - before;
    }
    /* two lists of names, a tree of 65,536 paths, and 1 MiB of events; categories and arguments are
     * places in the source, for which there is no limit but their number */
    assert_in_range(grown, 0, (IS_SANITIZED ? 256 : 32) * 1024);
}

TEST(threads_add_up)
{
    static const use threads = {"threads", use_thread, 1, threads_of, false};
    uint64_t count = is_long() ? 20000 : FEWER(2000u, 9000u);
    use_many(&threads, TAKT_MODE_BOTH, LITTLE, count);
    use_many(&threads, TAKT_MODE_SUMMARY, LITTLE, count);
}

TEST(open_scopes_add_up)
{
    enum {
        DEPTH = 10000
    };
    start(TAKT_MODE_BOTH, LITTLE);
    for (int i = 0; i < DEPTH; i++)
        takt_begin("scope");
    for (int i = 0; i < DEPTH; i++)
        takt_end();
    const takt_trace *trace = stop();
    uint64_t deeper = trace->losses[TAKT_LOSS_TOO_DEEP];
    assert_int_equal(deeper, DEPTH - TKT_MAX_DEPTH);
    assert_int_equal(events_of(trace) + lost_events_of(trace), DEPTH - deeper);
    assert_int_equal(calls_of(trace), DEPTH - deeper);
    takt_profiler_destroy(profiler);
}

TEST(open_spans_of_tracks_add_up)
{
    enum {
        OPEN = (1 << 20) + 10
    };
    if (!is_long())
        SKIP_CASE("it takes 200 MiB: TEST_LONG=1");
    start(TAKT_MODE_TRACE, 128 << 20);
    static takt_span spans[OPEN];
    takt_track track = takt_track_named("track");
    for (int i = 0; i < OPEN; i++)
        spans[i] = takt_span_begin(track, "task");
    const takt_trace *trace = stop();
    assert_int_equal(trace->losses[TAKT_LOSS_OPEN_SPANS], 10);
    assert_int_equal(events_of(trace), OPEN - 10);
    takt_profiler_destroy(profiler);
    for (int i = 0; i < OPEN; i++)
        takt_span_end(spans[i]);
}

/* ---- Steps ----------------------------------------------------------------------------------- */

#define ENOUGH UINT64_C(1100000) /* by then a trace lists all that it can */

static uint64_t scope_ns(uint64_t number)
{
    return 100 + number % 7 * 10;
}

static void make_step(uint64_t number)
{
    takt_begin("move");
    pass_ns(scope_ns(number));
    takt_end();
    takt_counter("n", (double)number);
    pass_ns(5);
    assert_int_equal(takt_profiler_step(profiler), TAKT_OK);
}

static void check_steps(const takt_trace *trace, uint64_t count, uint64_t total_ns)
{
    const tkt_stats *all = &trace->all_steps.stats;
    uint64_t run_ns = 0;
    assert_int_equal(trace->facts.step_count, count);
    assert_int_equal(trace->steps.count + trace->losses[TAKT_LOSS_MORE_STEPS], count);
    assert_int_equal(all->count, count);
    assert_int_equal(all->total_ns, total_ns);
    assert_int_equal(all->min_ns, 105);
    assert_int_equal(all->max_ns, 165);
    for (size_t i = 0; i < tkt_run_part_count(trace->run); i++)
        run_ns += tkt_run_part_at(trace->run, i).total_ns;
    assert_int_equal(run_ns, total_ns);
}

static void check_summary(const takt_trace *trace, uint64_t count, uint64_t total_ns)
{
    assert_int_equal(trace->fold.count, 2);
    assert_int_equal(trace->fold.items[1].stats.count, count);
    assert_int_equal(trace->fold.items[1].stats.total_ns, total_ns);
    assert_int_equal(samples_of(trace), count);
    assert_true(trace->fold.counters.items[0].last == (double)(count - 1));
}

TEST(steps_add_up_in_flat_memory)
{
    uint64_t count = is_long() ? 10000000 : FEWER(ENOUGH + 10, ENOUGH + 100000);
    for (takt_mode mode = TAKT_MODE_TRACE; mode <= TAKT_MODE_FLIGHT; mode++) {
        uint64_t scopes_ns = 0, early_kib = 0;
        start(mode, LITTLE);
        for (uint64_t number = 0; number < count; number++) {
            make_step(number);
            scopes_ns += scope_ns(number);
            early_kib = number == ENOUGH ? resident_kib() : early_kib;
        }
        uint64_t late_kib = resident_kib();
        const takt_trace *trace = stop();
        check_steps(trace, count, scopes_ns + 5 * count);
        if (mode == TAKT_MODE_SUMMARY || mode == TAKT_MODE_BOTH)
            check_summary(trace, count, scopes_ns);
        if (mode != TAKT_MODE_SUMMARY)
            assert_int_equal(events_of(trace) + lost_events_of(trace), 2 * count);
        print_message(
            "%-7s %llu steps, of them listed %zu: %llu KiB after %llu, %llu KiB at the end\n",
            modes[mode], (unsigned long long)count, trace->steps.count,
            (unsigned long long)early_kib, (unsigned long long)ENOUGH,
            (unsigned long long)late_kib);
        assert_in_range(late_kib, 0, early_kib + 1024);
        takt_profiler_destroy(profiler);
    }
}

/* ---- Calls ----------------------------------------------------------------------------------- */

TEST(calls_add_up_beyond_32_bits)
{
    const uint64_t count = (UINT64_C(1) << 32) + 10;
    if (!is_long())
        SKIP_CASE("it takes minutes: TEST_LONG=1");
    tkt_clock_fake(NULL);
    start(TAKT_MODE_SUMMARY, LITTLE);
    for (uint64_t i = 0; i < count; i++) {
        TAKT_SCOPE("call");
    }
    const takt_trace *trace = stop();
    const tkt_node *node = &trace->fold.items[1];
    assert_int_equal(trace->fold.count, 2);
    assert_int_equal(node->stats.count, count);
    assert_in_range(node->stats.total_ns, 1, trace->facts.end_ns - trace->facts.begin_ns);
    assert_in_range(tkt_stats_median(&node->stats, node->histogram), node->stats.min_ns,
                    node->stats.max_ns);
    for (int i = 0; i < TAKT_LOSS_COUNT; i++)
        assert_int_equal(trace->losses[i], 0);
    takt_profiler_destroy(profiler);
    tkt_clock_fake(read_now);
}

TEST_MAIN(use_fake_clock, NULL)
