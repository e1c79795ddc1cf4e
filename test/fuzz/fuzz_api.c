/* A program that uses Takt: each byte is a call, the bytes behind it its arguments. Right and wrong
 * calls in any order; what they return is what the states of the objects demand, and whatever is
 * saved is a trace that can be walked, reported and written, and read again.
 *
 * A program runs on a thread of its own, so that what it leaves open ends with it; some of its
 * calls are made on a further thread. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/writer.h"
#include "export/exporter.h"
#include "support/memory_sink.h"
#include "trace/read.h"

#include <takt/takt.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum {
    PROFILERS = 2,
    TIMINGS = 2,
    TIMERS = 2,
    SPANS = 4,
    MOST_CALLS = 400,
    DEEPEST = 30,
    LONG_RUN = 300 /* deeper than the short form of a span */
};

typedef struct program {
    const uint8_t *at;
    const uint8_t *end;
    int calls;
    takt_profiler *profilers[PROFILERS];
    bool is_running[PROFILERS];
    takt_timing *timings[TIMINGS];
    bool has_ended[TIMINGS];
    takt_timer timers[TIMERS];
    bool are_timing[TIMERS];
    takt_span spans[SPANS];
    char blocks[16];
} program;

static void check(bool is_true)
{
    if (!is_true)
        abort();
}

/* The next byte, below `limit`; 0 behind the end. */
static unsigned take(program *p, unsigned limit)
{
    return p->at < p->end ? *p->at++ % limit : 0;
}

static const char *take_name(program *p)
{
    static const char *const names[] = {"a", "b", "c", "", NULL, "\xff", "odd \n name", "d"};
    return names[take(p, 8)];
}

/* ---- What is saved --------------------------------------------------------------------------- */

static void check_track(const takt_trace *trace, size_t index)
{
    takt_track_info track;
    takt_span_info span, parent;
    check(takt_trace_track(trace, index, &track) == TAKT_OK);
    for (size_t i = 0; i < track.span_count; i++) {
        check(takt_trace_span(trace, index, i, &span) == TAKT_OK && span.end_ns >= span.begin_ns);
        if (span.parent == TAKT_NO_PARENT)
            continue;
        check(span.parent < i && takt_trace_span(trace, index, span.parent, &parent) == TAKT_OK);
        check(parent.begin_ns <= span.begin_ns && parent.end_ns >= span.end_ns);
    }
}

/* The file of it reads as a trace with as many spans. */
static void check_file(const takt_trace *trace)
{
    memory_sink file = {0};
    tkt_writer writer;
    takt_trace *back = NULL;
    check(tkt_writer_init(&writer, memory_sink_of(&file), 4096) == TAKT_OK);
    check(tkt_perfetto_export(trace, &writer) == TAKT_OK);
    check(tkt_writer_fini(&writer) == TAKT_OK);
    check(tkt_trace_read((uint8_t *)file.data, file.size, "file", &back, NULL) == TAKT_OK);
    check(takt_trace_facts(back)->span_count == takt_trace_facts(trace)->span_count);
    check(takt_trace_count(back, TAKT_TRACE_TRACKS) == takt_trace_count(trace, TAKT_TRACE_TRACKS));
    takt_trace_release(back);
    tkt_free(file.data);
}

static void check_trace(const takt_trace *trace, void *user)
{
    program *p = user;
    takt_sink sink = {discard, NULL};
    for (size_t i = 0; i < takt_trace_count(trace, TAKT_TRACE_TRACKS); i++)
        check_track(trace, i);
    check_file(trace);
    size_t count = 0;
    while (takt_report_name(count))
        count++;
    takt_status status = takt_report(trace, takt_report_name(take(p, 255) % count), NULL, &sink);
    check(status == TAKT_OK || status == TAKT_NO_SPANS);
}

/* ---- Profilers ------------------------------------------------------------------------------- */

static void create_profiler(program *p, unsigned which)
{
    static const char *const reports[] = {"scopes", "tree", "steps", "memory", "none such"};
    static const takt_category_switch categories[] = {{"io", false}, {"*", true}};
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    if (p->profilers[which])
        return;
    const char *report = reports[take(p, 5)];
    unsigned flags = take(p, 256);
    options.mode = (takt_mode)take(p, 5);
    options.schedule = (takt_schedule){.skip_first = take(p, 2),
                                       .wait = take(p, 2),
                                       .warmup = take(p, 2),
                                       .active = take(p, 4),
                                       .repeat = take(p, 3),
                                       .repeat_mode = (takt_repeat_mode)take(p, 2)};
    options.max_memory_bytes = take(p, 2) ? 1 << 20 : 65536;
    options.level = take(p, 5);
    options.background = TAKT_OFF;
    options.on_trace = check_trace;
    options.user = p;
    options.activities = TAKT_ACTIVITIES_CPU; /* looking for them takes longer than all the rest */
    options.record_shapes = flags & 1 ? TAKT_OFF : TAKT_DEFAULT;
    options.profile_memory = flags & 2 ? TAKT_OFF : TAKT_ON;
    options.with_stack = (flags & 48) == 48;
    options.with_flops = flags & 64;
    options.reports = &report;
    options.report_count = flags >> 7;
    options.categories = categories;
    options.category_count = take(p, 3);
    takt_status status = takt_profiler_create(&options, &p->profilers[which]);
    check(status == TAKT_OK || status == TAKT_BAD_ARGUMENT);
    check((status == TAKT_OK) == (p->profilers[which] != NULL));
}

/* One summary at a time is kept: a second one is refused. */
static void start_profiler(program *p, unsigned which)
{
    bool was_running = p->is_running[which];
    takt_status status = takt_profiler_start(p->profilers[which]);
    check(!p->profilers[which] || !was_running || status == TAKT_BAD_STATE);
    if (p->profilers[which] && status == TAKT_OK)
        p->is_running[which] = true;
}

static void use_profiler(program *p, unsigned which)
{
    takt_profiler *profiler = p->profilers[which];
    switch (take(p, 8)) {
    case 0:
        create_profiler(p, which);
        break;
    case 1:
        start_profiler(p, which);
        break;
    case 2:
        takt_profiler_stop(profiler);
        p->is_running[which] = false;
        check(!profiler || takt_profiler_action(profiler) == TAKT_ACTION_NONE);
        break;
    case 3:
        takt_profiler_destroy(profiler);
        p->profilers[which] = NULL;
        p->is_running[which] = false;
        break;
    case 4:
        if (profiler)
            takt_profiler_step_time(profiler, take(p, 3) - 1.0);
        break;
    default:
        if (profiler)
            check((takt_profiler_step(profiler) == TAKT_BAD_STATE) == !p->is_running[which]);
    }
}

/* ---- Timings and timers ---------------------------------------------------------------------- */

static void use_timing(program *p, unsigned which)
{
    takt_timing_options options = {.struct_size = sizeof options,
                                   .filter = take(p, 3) ? 0 : 1u << take(p, 8)};
    switch (take(p, 3)) {
    case 0:
        if (!p->timings[which])
            takt_timing_begin(&options, &p->timings[which]);
        break;
    case 1:
        if (p->timings[which]) {
            takt_status status = takt_timing_end(p->timings[which]);
            check((status == TAKT_BAD_STATE) == p->has_ended[which]);
            p->has_ended[which] = true;
            check(takt_timing_at(p->timings[which], takt_timing_count(p->timings[which])) == NULL);
        }
        break;
    default:
        takt_timing_free(p->timings[which]);
        p->timings[which] = NULL;
        p->has_ended[which] = false;
    }
}

static void use_timer(program *p, unsigned which)
{
    takt_timer *timer = &p->timers[which];
    unsigned flags = take(p, 16);
    takt_timer_options options = {.struct_size = sizeof options,
                                  .silent = flags & 1,
                                  .detailed = flags & 2,
                                  .inactive = flags & 4,
                                  .filter = flags & 8 ? TAKT_TIMING_ALL : 0};
    if (p->are_timing[which])
        check(takt_timer_end(timer) >= 0);
    p->are_timing[which] = !p->are_timing[which] && takt_timer_begin(timer, "timer", &options);
}

/* ---- Recording ------------------------------------------------------------------------------- */

static void begin_or_end(program *p)
{
    switch (take(p, 8)) {
    case 0:
        TAKT_BEGIN("a");
        break;
    case 1:
        TAKT_END("a");
        break;
    case 2:
        TAKT_BEGIN("b");
        break;
    case 3:
        TAKT_END("b");
        break;
    case 4:
    case 5:
        takt_begin(take_name(p));
        break;
    default:
        takt_end();
    }
}

static void add_event(program *p)
{
    switch (take(p, 12)) {
    case 0:
        TAKT_ARG("text", take_name(p));
        break;
    case 1:
        TAKT_ARG("number", (double)take(p, 4) / take(p, 3));
        break;
    case 2:
        TAKT_ARG("signed", -(int)take(p, 200));
        break;
    case 3:
        TAKT_ARG("unsigned", ~0ull >> take(p, 64));
        break;
    case 4:
        TAKT_ARG("bool", take(p, 2) == 1);
        break;
    case 5:
        TAKT_COUNTER("counter", (double)take(p, 4) / take(p, 3));
        break;
    case 6:
        TAKT_MARK("mark");
        break;
    case 7:
        TAKT_WORK(1e9 * (take(p, 4) - 1.0), take(p, 4));
        break;
    case 8:
        takt_flow_begin(take(p, 4));
        break;
    case 9:
        takt_flow_end(take(p, 4));
        break;
    case 10:
        takt_memory_allocated(&p->blocks[take(p, 16)], SIZE_MAX >> take(p, 64));
        break;
    default:
        takt_memory_freed(&p->blocks[take(p, 16)]);
    }
}

static void use_span(program *p, takt_span *span)
{
    takt_track track = take(p, 4) ? takt_track_named(take_name(p)) : take(p, 20);
    uint64_t now = takt_now_ns();
    switch (take(p, 4)) {
    case 0:
        *span = takt_span_begin(track, take_name(p));
        break;
    case 1:
        takt_span_at(track, take_name(p), now - 100 * take(p, 9), now - 100 * take(p, 9));
        break;
    default:
        takt_span_end(*span);
    }
}

static void make_calls(program *p, unsigned count, int depth);

/* Many scopes fill chunks, and go deeper than the short form of a span reaches. */
static void repeat(program *p)
{
    bool is_deep = take(p, 2);
    for (int i = 0; i < LONG_RUN; i++) {
        TAKT_SCOPE("short");
        if (is_deep)
            takt_begin("deep");
    }
    for (int i = 0; is_deep && i < LONG_RUN; i++)
        takt_end();
}

static void enter_block(program *p, int depth)
{
    TAKT_SCOPE("block");
    make_calls(p, take(p, 10), depth + 1);
}

static void enter_other_block(program *p, int depth)
{
    TAKT_SCOPE_IN("io", TAKT_LEVEL_FINE, "io");
    TAKT_PHASE("first");
    make_calls(p, take(p, 10), depth + 1);
    TAKT_PHASE("second");
    TAKT_ACTIVITY("cpu", TAKT_TIMING_KERNEL, "loop");
    make_calls(p, take(p, 4), depth + 1);
}

static void *make_calls_elsewhere(void *user)
{
    program *p = user;
    takt_thread_name(take_name(p));
    make_calls(p, take(p, 20), 1);
    return NULL;
}

static void on_other_thread(program *p, void *(*run)(void *))
{
    pthread_t thread;
    check(pthread_create(&thread, NULL, run, p) == 0);
    pthread_join(thread, NULL);
}

static void make_call(program *p, int depth)
{
    switch (take(p, 16)) {
    case 0:
    case 1:
        use_profiler(p, take(p, PROFILERS));
        break;
    case 2:
        use_timing(p, take(p, TIMINGS));
        break;
    case 3:
        if (depth == 0) /* a timer ends on its thread, and so do scopes around it */
            use_timer(p, take(p, TIMERS));
        break;
    case 4:
        use_span(p, &p->spans[take(p, SPANS)]);
        break;
    case 5:
        repeat(p);
        break;
    case 6:
        if (depth < DEEPEST)
            enter_block(p, depth);
        break;
    case 7:
        if (depth < DEEPEST)
            enter_other_block(p, depth);
        break;
    case 8:
        if (depth > 0 && depth < DEEPEST)
            on_other_thread(p, make_calls_elsewhere);
        break;
    case 9:
        TAKT_PHASE("phase");
        break;
    case 10:
        takt_timers_enable(take(p, 4) > 0);
        break;
    case 11:
    case 12:
        begin_or_end(p);
        break;
    default:
        add_event(p);
    }
}

static void make_calls(program *p, unsigned count, int depth)
{
    for (; count > 0 && p->at < p->end && p->calls < MOST_CALLS; count--) {
        p->calls++;
        make_call(p, depth);
    }
}

static void *run_program(void *user)
{
    program *p = user;
    make_calls(p, MOST_CALLS, 0);
    for (int i = 0; i < TIMERS; i++)
        if (p->are_timing[i])
            takt_timer_end(&p->timers[i]);
    for (int i = 0; i < TIMINGS; i++)
        takt_timing_free(p->timings[i]);
    for (int i = 0; i < PROFILERS; i++)
        takt_profiler_destroy(p->profilers[i]);
    for (int i = 0; i < SPANS; i++)
        takt_span_end(p->spans[i]);
    for (int i = 0; i < 16; i++)
        takt_memory_freed(&p->blocks[i]);
    takt_timers_enable(true);
    return NULL;
}

/* With a clock of its own an input does the same each time. Programs run one after the other, and a
 * program waits for the thread that it starts. */
static uint64_t next_tick(void)
{
    static uint64_t ticks;
    return ticks += 100;
}

static void ignore_line(takt_log_level level, const char *line, void *user)
{
    (void)level;
    (void)line;
    (void)user;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    takt_set_log(ignore_line, NULL);
    tkt_clock_fake(next_tick);
    return freopen("/dev/null", "w", stdout) ? 0 : 1; /* tables; libFuzzer uses stderr */
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    program p = {.at = bytes, .end = bytes + size};
    on_other_thread(&p, run_program);
    return 0;
}
