/* How many instructions each path of the interface takes. Under valgrind's callgrind each is
 * collected by itself: check_instructions.sh reads what it dumps. Each path runs twice before, so
 * that sites are known and fast paths are open. Prints "name times most" for each. */
#include <takt/takt.h>

#include "base/clock.h"
#include "record/control.h"
#include "record/log.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_ZERO_STATS
#define CALLGRIND_TOGGLE_COLLECT
#define CALLGRIND_DUMP_STATS_AT(name)
#endif

#define NOINLINE  __attribute__((noinline))
#define BARRIER() __asm__ volatile("" ::: "memory")
#define TIMES     4096u
#define ALL_SITES (~UINT64_C(0) >> 1)
#define NAMES     64u

static NOINLINE void run_scope(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        TAKT_SCOPE("scope");
        BARRIER();
    }
}

static NOINLINE void run_span(uint64_t count)
{
    static takt_track track;
    if (!track)
        track = takt_track_named("track");
    for (uint64_t i = 0; i < count; i++)
        takt_span_end(takt_span_begin(track, "a task"));
}

static NOINLINE void run_made_span(uint64_t count)
{
    static takt_track track;
    static takt_name name;
    if (!track) {
        track = takt_track_named("track");
        name = takt_name_make("a made task", 11);
    }
    for (uint64_t i = 0; i < count; i++)
        takt_span_end(takt_span_begin_name(track, name));
}

static NOINLINE void run_phase(uint64_t count)
{
    TAKT_SCOPE("phases");
    for (uint64_t i = 0; i < count; i++) {
        TAKT_PHASE("phase");
        BARRIER();
    }
}

static NOINLINE void run_one_phase(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        TAKT_SCOPE("one phase");
        TAKT_PHASE("a phase");
        BARRIER();
    }
}

static NOINLINE void run_three_phases(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        TAKT_SCOPE("three phases");
        TAKT_PHASE("first");
        BARRIER();
        TAKT_PHASE("second");
        BARRIER();
        TAKT_PHASE("third");
        BARRIER();
    }
}

static NOINLINE void run_begin_end(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        TAKT_BEGIN("begin and end");
        BARRIER();
        TAKT_END("begin and end");
    }
}

static NOINLINE void run_name(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        takt_begin("a name");
        BARRIER();
        takt_end();
    }
}

static takt_name made;

static NOINLINE void run_made_name(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        takt_begin_name(made);
        BARRIER();
        takt_end();
    }
}

static NOINLINE void run_made_mark(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        takt_mark_name(made);
        BARRIER();
    }
}

static NOINLINE void run_open_close(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        TAKT_OPEN(scope, "open and close");
        BARRIER();
        TAKT_CLOSE(scope);
    }
}

/* At an address of its own: how many names of a table lie well depends on where it is. */
#define NAMES_AT ((void *)0x100000000000)
static char (*names)[16];

static NOINLINE void run_64_names(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        takt_begin(names[i % NAMES]);
        BARRIER();
        takt_end();
    }
}

/* Building the name takes a few instructions, which count. */
static NOINLINE void run_built_names(uint64_t count)
{
    static _Alignas(4096) char built[] = "a name, built 00"; /* the cost depends on the address */
    for (uint64_t i = 0; i < count; i++) {
        built[sizeof built - 2] = (char)('0' + i % 8);
        BARRIER();
        takt_begin(built);
        BARRIER();
        takt_end();
    }
}

static NOINLINE void run_argument(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        TAKT_SCOPE("with an argument");
        TAKT_ARG("cells", i);
    }
}

static NOINLINE void run_text(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        TAKT_SCOPE("with a text");
        TAKT_ARG("solver", "sixteen letters.");
    }
}

static NOINLINE void run_work(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        TAKT_SCOPE("with work");
        TAKT_WORK(i, 8);
    }
}

static NOINLINE void run_counter(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        TAKT_COUNTER("counter", i);
}

static NOINLINE void run_mark(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        TAKT_MARK("mark");
}

/* Sixty-four scopes of their own each. */
#define ONE(number)                                                                                \
    case (number): {                                                                               \
        TAKT_SCOPE("scope " #number);                                                              \
        BARRIER();                                                                                 \
        break;                                                                                     \
    }
#define FOUR(a, b, c, d) ONE(a) ONE(b) ONE(c) ONE(d)
static NOINLINE void run_one_of_64(uint64_t which)
{
    switch (which) {
        FOUR(0, 1, 2, 3)
        FOUR(4, 5, 6, 7)
        FOUR(8, 9, 10, 11)
        FOUR(12, 13, 14, 15)
        FOUR(16, 17, 18, 19)
        FOUR(20, 21, 22, 23)
        FOUR(24, 25, 26, 27)
        FOUR(28, 29, 30, 31)
        FOUR(32, 33, 34, 35)
        FOUR(36, 37, 38, 39)
        FOUR(40, 41, 42, 43)
        FOUR(44, 45, 46, 47)
        FOUR(48, 49, 50, 51)
        FOUR(52, 53, 54, 55)
        FOUR(56, 57, 58, 59)
        FOUR(60, 61, 62, 63)
    }
}

static NOINLINE void run_64(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        run_one_of_64(i % 64);
}

static NOINLINE void run_64_at_random(uint64_t count)
{
    static uint64_t random = 1;
    for (uint64_t i = 0; i < count; i++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407; /* Knuth's MMIX */
        run_one_of_64(random >> 58);
    }
}

/* What the compiler cannot know; with a literal it leaves nothing of the timer. */
static volatile bool is_inactive = true;

static NOINLINE void run_inactive_timer(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        TAKT_TIMER("timer", .inactive = is_inactive);
        BARRIER();
    }
}

static NOINLINE void run_disabled_timer(uint64_t count)
{
    takt_timers_enable(false);
    for (uint64_t i = 0; i < count; i++) {
        TAKT_TIMER("timer", .synchronize = true, .nvtx = true);
        BARRIER();
    }
    takt_timers_enable(true);
}

static NOINLINE void run_silent_timer(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        TAKT_TIMER("timer", .silent = true);
        BARRIER();
    }
}

/* One allocation and one free; sixteen blocks are allocated at a time. */
static NOINLINE void run_memory(uint64_t count)
{
    static char blocks[16][64];
    for (uint64_t i = 0; i < count; i++) {
        takt_memory_freed(blocks[i % 16]);
        takt_memory_allocated(blocks[i % 16], sizeof *blocks);
    }
}

static NOINLINE void run_memory_without_totals(uint64_t count)
{
    takt_memory_keep_totals(false);
    run_memory(count);
    takt_memory_keep_totals(true);
}

#define TRACE  (TKT_KEEP | TKT_ARGUMENTS)
#define LOSING UINT32_MAX /* a trace whose memory is full */

/* `most` holds for gcc 12 with -O2: what the path may cost, see docs/overhead.md. */
static const struct path {
    const char *name;
    void (*run)(uint64_t count);
    uint32_t modes;
    uint32_t most;
} paths[] = {
    {"scope_off", run_scope, 0, 6},
    {"scope", run_scope, TRACE, 47},
    {"scope_lost", run_scope, LOSING, 60},
    {"phase", run_phase, TRACE, 36},
    {"scope_one_phase", run_one_phase, TRACE, 115},
    {"scope_three_phases", run_three_phases, TRACE, 181},
    {"begin_end", run_begin_end, TRACE, 66},
    {"open_close", run_open_close, TRACE, 47},
    {"name_made", run_made_name, TRACE, 60},
    {"mark_made", run_made_mark, TRACE, 60},
    {"name", run_name, TRACE, 120},
    {"name_of_64", run_64_names, TRACE, 134},
    {"name_built", run_built_names, TRACE, 241},
    {"span", run_span, TRACE, 721},
    {"span_made", run_made_span, TRACE, 647},
    {"scope_argument", run_argument, TRACE, 93},
    {"scope_text", run_text, TRACE, 210},
    {"scope_work", run_work, TRACE, 105},
    {"counter", run_counter, TRACE, 45},
    {"mark", run_mark, TRACE, 35},
    {"scope_summary", run_scope, TKT_FOLD, 145},
    {"scope_summary_64", run_64, TKT_FOLD, 178},
    {"scope_summary_64_random", run_64_at_random, TKT_FOLD, 178},
    {"timer_inactive", run_inactive_timer, 0, 9},
    {"timer_disabled", run_disabled_timer, 0, 6},
    {"timer_silent", run_silent_timer, 0, 241},
    {"memory_pair", run_memory, 0, 222},
    {"memory_pair_recorded", run_memory, TRACE | TKT_MEMORY, 583},
    {"memory_pair_off", run_memory_without_totals, 0, 15},
};

static void release(void)
{
    tkt_thread_log *log = takt_thread_hot_v1.log;
    if (log)
        tkt_log_release(log, UINT64_MAX);
}

static void begin(uint32_t modes)
{
    if (modes == LOSING) {
        tkt_pool_limit(0);
        modes = TRACE;
    }
    tkt_record_control.fold_ns_per_tick = tkt_clock_fit_now().ns_per_tick;
    if (modes & TKT_FOLD)
        for (tkt_thread_log *log = tkt_log_first(); log; log = tkt_log_next(log))
            tkt_log_fold_reset(log);
    if (modes)
        tkt_record_set(modes, ALL_SITES);
}

static void count_path(const struct path *path)
{
    begin(path->modes);
    path->run(2 * TIMES);
    if (path->modes != LOSING)
        release();
    else
        path->run(16 * TIMES); /* fills what there is */
    CALLGRIND_ZERO_STATS;
    CALLGRIND_TOGGLE_COLLECT;
    path->run(TIMES);
    CALLGRIND_TOGGLE_COLLECT;
    CALLGRIND_DUMP_STATS_AT(path->name);
    tkt_record_set(0, 0);
    tkt_pool_limit(UINT64_C(64) << 20);
    release();
    printf("%s %u %u\n", path->name, TIMES, path->most);
}

/* ---- A step from window to window ------------------------------------------------------------ */

#define CYCLES 32u

static atomic_bool may_end;

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

/* A thread of a pool, which has recorded something once. */
static void *stay(void *unused)
{
    (void)unused;
    run_scope(1);
    while (!may_end)
        pause_ms(10);
    return NULL;
}

/* Of the thread that steps alone. The worker is done with the cycles before. */
static void count_boundary(const char *name, unsigned threads, unsigned most)
{
    pthread_t others[32];
    takt_profiler *profiler;
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    options.activities = TAKT_ACTIVITIES_CPU;
    options.schedule.active = 1;
    if (takt_profiler_create(&options, &profiler) || takt_profiler_start(profiler))
        exit(1);
    may_end = false;
    for (unsigned i = 0; i < threads; i++)
        pthread_create(&others[i], NULL, stay, NULL);
    for (unsigned i = 0; i < 2 * CYCLES; i++) {
        pause_ms(20);
        if (i == CYCLES)
            CALLGRIND_ZERO_STATS;
        run_scope(10);
        CALLGRIND_TOGGLE_COLLECT;
        takt_profiler_step(profiler);
        CALLGRIND_TOGGLE_COLLECT;
    }
    CALLGRIND_DUMP_STATS_AT(name);
    may_end = true;
    for (unsigned i = 0; i < threads; i++)
        pthread_join(others[i], NULL);
    takt_profiler_destroy(profiler);
    printf("%s %u %u\n", name, CYCLES, most);
}

int main(void)
{
    made = takt_name_make("made once", 9);
    names = mmap(NAMES_AT, NAMES * sizeof *names, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (names == MAP_FAILED)
        return 1;
    for (unsigned i = 0; i < NAMES; i++)
        snprintf(names[i], sizeof names[i], "one of many %02u", i);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        count_path(&paths[i]);
    count_boundary("cycle_boundary", 0, 10600);
    count_boundary("cycle_boundary_32", 31, 10600);
    return 0;
}
