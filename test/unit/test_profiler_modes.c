/* What a profiler records: modes, categories, levels and filters; several at once; step times. */
#include "profiler/transitions.h"
#include "test_profiler.h"

#include "summary/tasks.h"
#include "trace/model.h"

#include "support/test.h"
#include "support/trace_build.h"

#include <sched.h>

#define STEP_NS 1000

static test_traces traces;

static int tear_down(void **state)
{
    release_traces(&traces);
    return end_test(state);
}

/* A step with everything that can be left out. */
static void simulate(void)
{
    int block; /* stands for an allocation */
    TAKT_SCOPE("step");
    pass_ns(100);
    {
        TAKT_SCOPE_IN("io", TAKT_LEVEL_NORMAL, "write");
        pass_ns(200);
    }
    {
        TAKT_SCOPE_IN(NULL, TAKT_LEVEL_FINE, "fine");
        pass_ns(300);
    }
    {
        TAKT_ACTIVITY("cpu", TAKT_TIMING_KERNEL, "density");
        TAKT_ARG("cells", 42);
        pass_ns(350);
    }
    {
        TAKT_ACTIVITY("cpu", TAKT_TIMING_MEMCPY, "halo");
        pass_ns(50);
    }
    takt_memory_allocated(&block, 64);
    takt_memory_freed(&block);
}

static void run(takt_profiler *profiler, unsigned steps)
{
    for (unsigned i = 0; i < steps; i++) {
        simulate();
        assert_int_equal(takt_profiler_step(profiler), TAKT_OK);
    }
}

/* The trace of three steps with these options. */
static const takt_trace *record_three(takt_profiler_options options)
{
    options.background = TAKT_OFF;
    takt_profiler *profiler = started(&options);
    run(profiler, 3);
    assert_int_equal(takt_profiler_stop(profiler), TAKT_OK);
    takt_profiler_destroy(profiler);
    assert_true(traces.count > 0);
    return traces.items[traces.count - 1];
}

static takt_profiler_options three_steps(void)
{
    return options_for(&traces, (takt_schedule){.active = 3, .repeat = 1});
}

/* How often `name` was called and how long, as the folded form has it. */
static tkt_stats stats_of(const takt_trace *trace, const char *name)
{
    tkt_stats found = {0};
    const tkt_fold *fold = tkt_trace_fold(trace);
    for (size_t i = 1; i < fold->count; i++) {
        uint32_t site = fold->items[i].site;
        if (strcmp(tkt_trace_text(trace, trace->sites.items[site].name), name) == 0)
            found = fold->items[i].stats;
    }
    return found;
}

static size_t count_args(const takt_trace *trace)
{
    size_t count = 0;
    for (size_t i = 0; i < trace->tracks.count; i++)
        count += trace->tracks.items[i].args.count;
    return count;
}

/* ---- What is left out ------------------------------------------------------------------------ */

TEST(by_default_all_but_fine_scopes_is_recorded)
{
    const takt_trace *trace = record_three(three_steps());
    assert_int_equal(count_spans(trace, "step"), 3);
    assert_int_equal(count_spans(trace, "write"), 3);
    assert_int_equal(count_spans(trace, "fine"), 0);
    assert_int_equal(takt_trace_count(trace, TAKT_TRACE_ACTIVITIES), 6);
    assert_int_equal(count_args(trace), 3);
    assert_int_equal(trace->memory_events.count, 6);
    assert_int_equal(trace->memory.window_allocations, 3);
    takt_activity activity;
    assert_int_equal(takt_trace_activity(trace, 0, &activity), TAKT_OK);
    assert_string_equal(activity.name, "kernel density");
    assert_string_equal(activity.device, "cpu");
    assert_true(activity.elapsed_ms == 350e-6);
}

TEST(a_finer_level_records_finer_scopes)
{
    takt_profiler_options options = three_steps();
    options.level = TAKT_LEVEL_FINE;
    assert_int_equal(count_spans(record_three(options), "fine"), 3);
    options.level = TAKT_LEVEL_COARSE;
    const takt_trace *coarse = record_three(options);
    assert_int_equal(count_spans(coarse, "fine"), 0);
    assert_int_equal(count_spans(coarse, "step"), 0);
}

TEST(a_category_can_be_switched_off)
{
    takt_profiler_options options = three_steps();
    options.categories = (takt_category_switch[]){{"io", false}, {"no such category", false}};
    options.category_count = 2;
    const takt_trace *trace = record_three(options);
    assert_int_equal(count_spans(trace, "write"), 0);
    assert_int_equal(count_spans(trace, "step"), 3);
}

TEST(arguments_and_memory_events_can_be_left_out)
{
    takt_profiler_options options = three_steps();
    options.record_shapes = options.profile_memory = TAKT_OFF;
    const takt_trace *trace = record_three(options);
    assert_int_equal(count_args(trace), 0);
    assert_int_equal(trace->memory_events.count, 0);
    assert_int_equal(trace->memory.window_allocations, 3);
    assert_int_equal(count_spans(trace, "step"), 3);
}

TEST(without_host_only_steps_are_left)
{
    takt_profiler_options options = three_steps();
    options.activities = TAKT_ACTIVITIES_CUDA;
    const takt_trace *trace = record_three(options);
    assert_int_equal(takt_trace_facts(trace)->span_count, 0);
    assert_int_equal(takt_trace_facts(trace)->step_count, 3);
}

TEST(a_filter_drops_activities_and_keeps_their_spans)
{
    takt_profiler_options options = three_steps();
    options.filter = TAKT_TIMING_MEMCPY;
    const takt_trace *trace = record_three(options);
    assert_int_equal(takt_trace_count(trace, TAKT_TRACE_ACTIVITIES), 3);
    assert_int_equal(takt_trace_facts(trace)->activity_count, 3);
    assert_int_equal(count_spans(trace, "density"), 3);
    takt_activity activity;
    assert_int_equal(takt_trace_activity(trace, 2, &activity), TAKT_OK);
    assert_int_equal(activity.filter, TAKT_TIMING_MEMCPY);
}

static size_t count_activity_nodes(const takt_trace *trace)
{
    takt_node_info node;
    size_t count = 0;
    for (size_t i = 0; takt_trace_node(trace, i, &node) == TAKT_OK; i++)
        count += (node.flags & TAKT_SPAN_ACTIVITY) != 0;
    return count;
}

/* Where a filter keeps one of two activities, the program, its file and a summary agree. */
TEST(a_filter_is_the_same_in_a_file)
{
    for (int i = 0; i < 2; i++) {
        takt_profiler_options options = three_steps();
        options.filter = TAKT_TIMING_MEMCPY;
        options.mode = i ? TAKT_MODE_SUMMARY : TAKT_MODE_TRACE;
        const takt_trace *trace = record_three(options);
        takt_trace *file = write_and_read(trace);
        assert_int_equal(takt_trace_count(file, TAKT_TRACE_ACTIVITIES), i ? 0 : 3);
        assert_int_equal(takt_trace_facts(file)->activity_count, i ? 0 : 3);
        assert_int_equal(count_activity_nodes(trace), 1);
        assert_int_equal(count_activity_nodes(file), 1);
        takt_trace_release(file);
    }
}

static void render(uint64_t ns)
{
    TAKT_FRAME("render");
    pass_ns(ns);
}

/* Frames of 16 ns and 18 ns; what is begun before the recording, or goes on behind it, is none. */
TEST(frames_lie_between_their_marks)
{
    takt_profiler_options options = options_for(&traces, (takt_schedule){0});
    options.background = TAKT_OFF;
    for (int round = 0; round < 2; round++) {
        render(1000);
        takt_profiler *profiler = started(&options);
        render(16);
        render(18);
        render(20);
        assert_int_equal(takt_profiler_stop(profiler), TAKT_OK);
        takt_profiler_destroy(profiler);
        const takt_trace *trace = traces.items[traces.count - 1];
        takt_track_info track;
        assert_int_equal(count_spans(trace, "render"), 2);
        for (size_t t = 0; t < takt_trace_count(trace, TAKT_TRACE_TRACKS); t++) {
            assert_int_equal(takt_trace_track(trace, t, &track), TAKT_OK);
            if (track.kind != TAKT_TRACK_ASYNC)
                continue;
            takt_span_info span;
            assert_string_equal(track.name, "render");
            for (size_t i = 0; i < 2; i++) {
                assert_int_equal(takt_trace_span(trace, t, i, &span), TAKT_OK);
                assert_int_equal(span.end_ns - span.begin_ns, 16 + 2 * i);
            }
        }
    }
}

/* The frames of a recording of `active` steps, with a frame each, after a wait. */
static uint64_t count_frames(takt_mode mode, uint32_t warmup, uint32_t active)
{
    tkt_task_list tasks = {0};
    takt_profiler_options options = options_for(
        &traces, (takt_schedule){.wait = 3, .warmup = warmup, .active = active, .repeat = 1});
    options.mode = mode;
    options.background = TAKT_OFF;
    takt_profiler *profiler = started(&options);
    for (int step = 0; step < 10; step++) {
        pass_ns(STEP_NS);
        render(10);
        assert_int_equal(takt_profiler_step(profiler), TAKT_OK);
    }
    assert_int_equal(takt_profiler_stop(profiler), TAKT_OK);
    takt_profiler_destroy(profiler);
    assert_int_equal(tkt_tasks_of(traces.items[traces.count - 1], &tasks), TAKT_OK);
    assert_int_equal(tasks.times.count, 1);
    assert_int_equal(tasks.times.items[0].stats.total_ns, active * STEP_NS + (active - 1) * 10);
    uint64_t count = tasks.times.items[0].stats.count;
    tkt_tasks_fini(&tasks);
    return count;
}

TEST(a_frame_that_begins_in_the_wait_is_recorded)
{
    static const takt_mode modes[] = {TAKT_MODE_TRACE, TAKT_MODE_SUMMARY, TAKT_MODE_BOTH};
    for (size_t i = 0; i < 3; i++)
        for (uint32_t active = 1; active <= 3; active++)
            for (uint32_t warmup = 0; warmup <= 1; warmup++)
                assert_int_equal(count_frames(modes[i], warmup, active), active);
}

/* ---- Modes ----------------------------------------------------------------------------------- */

TEST(every_mode_has_the_form_it_promises)
{
    static const takt_mode modes[] = {TAKT_MODE_TRACE, TAKT_MODE_SUMMARY, TAKT_MODE_BOTH,
                                      TAKT_MODE_FLIGHT};
    for (size_t i = 0; i < 4; i++) {
        takt_profiler_options options = three_steps();
        options.mode = modes[i];
        const takt_trace *trace = record_three(options);
        bool has_spans = modes[i] != TAKT_MODE_SUMMARY;
        assert_int_equal(takt_trace_facts(trace)->has_spans, has_spans);
        assert_int_equal(count_spans(trace, "step"), has_spans ? 3 : 0);
        tkt_stats step = stats_of(trace, "step"), density = stats_of(trace, "density");
        assert_int_equal(step.count, 3);
        assert_int_equal(step.total_ns, 3 * STEP_NS);
        assert_int_equal(step.self_ns, 3 * 400); /* with "fine", which is not recorded */
        assert_int_equal(density.min_ns, 350);
    }
}

static void assert_node(const takt_trace *trace, const char *name, size_t parent, uint32_t flags,
                        uint64_t each_ns)
{
    takt_node_info node;
    size_t index = 0;
    do
        assert_int_equal(takt_trace_node(trace, index++, &node), TAKT_OK);
    while (strcmp(node.name, name) != 0);
    assert_string_equal(node.category, strcmp(name, "write") ? "" : "io");
    assert_string_equal(node.device, flags ? "cpu" : "");
    assert_string_equal(node.file, __FILE__);
    assert_int_equal(node.parent, parent);
    assert_int_equal(node.depth, parent == TAKT_NO_PARENT ? 0 : 1);
    assert_int_equal(node.flags, flags);
    assert_int_equal(node.durations.count, 3);
    assert_int_equal(node.durations.total_ns, 3 * each_ns);
    assert_int_equal(node.durations.min_ns, each_ns);
    assert_int_equal(node.durations.median_ns, each_ns);
    assert_int_equal(node.durations.p99_ns, each_ns);
    assert_int_equal(node.durations.max_ns, each_ns);
    assert_int_equal(node.self_ns, parent == TAKT_NO_PARENT ? 3 * 400 : 3 * each_ns);
}

TEST(every_mode_tells_a_callback_its_tree)
{
    static const takt_mode modes[] = {TAKT_MODE_TRACE, TAKT_MODE_SUMMARY, TAKT_MODE_BOTH,
                                      TAKT_MODE_FLIGHT};
    for (size_t i = 0; i < 4; i++) {
        takt_profiler_options options = three_steps();
        options.mode = modes[i];
        const takt_trace *trace = record_three(options);
        takt_node_info none;
        assert_int_equal(takt_trace_count(trace, TAKT_TRACE_NODES), 4);
        assert_node(trace, "step", TAKT_NO_PARENT, 0, STEP_NS);
        assert_node(trace, "write", 0, 0, 200);
        assert_node(trace, "density", 0, TAKT_SPAN_ACTIVITY, 350);
        assert_node(trace, "halo", 0, TAKT_SPAN_ACTIVITY, 50);
        assert_int_equal(takt_trace_node(trace, 4, &none), TAKT_BAD_ARGUMENT);
        assert_int_equal(takt_trace_count(trace, TAKT_TRACE_SUMS), 0);
    }
}

TEST(the_flight_recorder_keeps_the_end_of_a_long_run)
{
    takt_profiler_options options = options_for(&traces, (takt_schedule){0});
    options.mode = TAKT_MODE_FLIGHT;
    options.max_memory_bytes = 64 << 10;
    options.background = TAKT_OFF;
    takt_profiler *profiler = started(&options);
    run(profiler, 5000);
    assert_int_equal(takt_profiler_stop(profiler), TAKT_OK);
    takt_profiler_destroy(profiler);
    const takt_facts *facts = takt_trace_facts(traces.items[0]);
    size_t kept = count_spans(traces.items[0], "step");
    assert_in_range(kept, 100, 2000);
    assert_true(takt_trace_loss(traces.items[0], TAKT_LOSS_OVERWRITTEN) > 0);
    takt_track_info track;
    takt_span_info last;
    assert_int_equal(takt_trace_track(traces.items[0], 0, &track), TAKT_OK);
    assert_int_equal(takt_trace_span(traces.items[0], 0, track.span_count - 1, &last), TAKT_OK);
    assert_int_equal(facts->end_ns, last.end_ns);
}

/* Its log begins before the recording, and it records when others have used up the memory. */
static tkt_condition early_changed = TKT_CONDITION_INIT;
static tkt_mutex early_lock = TKT_MUTEX_INIT;
static int early_stage;

static void reach(int stage)
{
    tkt_mutex_lock(&early_lock);
    early_stage = stage;
    tkt_condition_wake_all(&early_changed);
    tkt_mutex_unlock(&early_lock);
}

static void wait_for_stage(int stage)
{
    tkt_mutex_lock(&early_lock);
    while (early_stage < stage)
        tkt_condition_wait(&early_changed, &early_lock);
    tkt_mutex_unlock(&early_lock);
}

#define EARLY_SCOPES 5000u

static void *record_early(void *unused)
{
    (void)unused;
    takt_thread_name("early");
    reach(1);
    wait_for_stage(2);
    for (unsigned i = 0; i < EARLY_SCOPES; i++) {
        TAKT_SCOPE("of early");
    }
    return NULL;
}

TEST(a_thread_from_before_the_recording_is_in_the_totals_when_memory_is_used_up)
{
    tkt_thread thread;
    takt_profiler_options options = options_for(&traces, (takt_schedule){0});
    options.background = TAKT_OFF;
    assert_int_equal(tkt_thread_start(&thread, "early", record_early, NULL), TAKT_OK);
    wait_for_stage(1);
    options.mode = TAKT_MODE_BOTH;
    options.max_memory_bytes = 64 << 10;
    takt_profiler *profiler = started(&options);
    run(profiler, 20000);
    reach(2);
    tkt_thread_join(thread);
    assert_int_equal(takt_profiler_stop(profiler), TAKT_OK);
    takt_profiler_destroy(profiler);
    const takt_trace *trace = traces.items[traces.count - 1];
    assert_true(takt_trace_loss(trace, TAKT_LOSS_BUFFER_FULL) > 0);
    assert_int_equal(stats_of(trace, "of early").count, EARLY_SCOPES);
}

static void make_scopes(int count)
{
    for (int i = 0; i < count; i++) {
        TAKT_SCOPE("one of many");
        pass_ns(1);
    }
}

/* Each timing must find what it recorded, so none of that is dropped while it is open. */
TEST(timings_in_every_step_do_not_end_the_recording_when_memory_is_used_up)
{
    takt_profiler_options options = options_for(&traces, (takt_schedule){0});
    options.max_memory_bytes = 1 << 20;
    takt_profiler *profiler = started(&options);
    make_scopes(100000);
    for (int step = 0; step < 50; step++) {
        takt_timing *timing;
        assert_int_equal(takt_timing_begin(NULL, &timing), TAKT_OK);
        make_scopes(20);
        assert_int_equal(takt_timing_end(timing), TAKT_OK);
        takt_timing_free(timing);
        make_scopes(1000);
    }
    {
        TAKT_SCOPE("last");
    }
    assert_int_equal(takt_profiler_stop(profiler), TAKT_OK);
    takt_profiler_destroy(profiler);
    assert_int_equal(count_spans(traces.items[0], "last"), 1);
    assert_true(takt_trace_loss(traces.items[0], TAKT_LOSS_BUFFER_FULL) > 80000);
}

/* A summary lacks nothing that a timing around it cannot keep; and no timing has lost what was
 * dropped from before it. */
TEST(each_window_has_its_own_losses_when_memory_is_used_up)
{
    takt_profiler_options options = options_for(&traces, (takt_schedule){.active = 1});
    takt_timing *around, *within;
    options.mode = TAKT_MODE_SUMMARY;
    options.max_memory_bytes = 1 << 20;
    options.background = TAKT_OFF; /* events would find no room while a thread reads the log */
    assert_int_equal(takt_timing_begin(NULL, &around), TAKT_OK);
    takt_profiler *profiler = started(&options);
    for (int step = 0; step < 20; step++) {
        make_scopes(10000);
        assert_int_equal(takt_profiler_step(profiler), TAKT_OK);
        assert_int_equal(takt_timing_begin(NULL, &within), TAKT_OK);
        make_scopes(20);
        assert_int_equal(takt_timing_end(within), TAKT_OK);
        assert_true(takt_timing_lost(within) <= 20);
        takt_timing_free(within);
    }
    assert_int_equal(takt_profiler_stop(profiler), TAKT_OK);
    takt_profiler_destroy(profiler);
    assert_int_equal(takt_timing_end(around), TAKT_OK);
    assert_true(takt_timing_lost(around) > 100000);
    takt_timing_free(around);
    assert_true(traces.count >= 20);
    for (size_t i = 0; i < 20; i++) {
        assert_int_equal(takt_trace_loss(traces.items[i], TAKT_LOSS_BUFFER_FULL), 0);
        assert_int_equal(stats_of(traces.items[i], "one of many").count, i ? 10020 : 10000);
    }
}

static size_t count_spares(const takt_profiler *profiler)
{
    size_t count = 0;
    for (const tkt_cycle *cycle = profiler->worker.spares; cycle; cycle = cycle->next)
        count++;
    return count;
}

TEST(a_profiler_that_starts_again_and_again_makes_its_memory_once)
{
    takt_profiler_options options = options_for(&traces, (takt_schedule){.active = 1});
    takt_profiler *profiler = started(&options);
    takt_profiler_stop(profiler);
    size_t first = count_spares(profiler);
    assert_true(first > 0);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(takt_profiler_start(profiler), TAKT_OK);
        takt_profiler_stop(profiler);
    }
    assert_int_equal(count_spares(profiler), first);
    takt_profiler_destroy(profiler);
}

/* ---- Several, and faster than the background ------------------------------------------------- */

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER; /* the program's */

/* Holds the background thread up where it has saved a file. */
static void wait_at_gate(takt_log_level level, const char *line, void *user)
{
    keep_line(level, line, user);
    if (strncmp(line, "saved", 5) == 0) {
        pthread_mutex_lock(&gate);
        pthread_mutex_unlock(&gate);
    }
}

/* Options for cycles that are saved into a folder of this process's, while the gate is open. */
static takt_profiler_options options_for_files(uint64_t cycles)
{
    static char directory[600];
    static const char *const formats[] = {"perfetto"};
    const char *parent = getenv("TMPDIR");
    snprintf(directory, sizeof directory, "%s/takt-test-{pid}", parent ? parent : "/tmp");
    takt_profiler_options options =
        options_for(&traces, (takt_schedule){.warmup = 1, .active = 1, .repeat = cycles});
    options.directory = directory;
    options.traces = formats;
    options.trace_count = 1;
    return options;
}

TEST(a_program_faster_than_exports_waits_for_nothing_and_gets_all)
{
    static const takt_mode modes[] = {TAKT_MODE_TRACE, TAKT_MODE_SUMMARY, TAKT_MODE_BOTH};
    for (size_t m = 0; m < 3; m++) {
        takt_profiler_options options = options_for_files(6);
        options.mode = modes[m];
        takt_set_log(wait_at_gate, NULL);
        pthread_mutex_lock(&gate);
        takt_profiler *profiler = started(&options);
        for (int i = 0; i < 12; i++) {
            pass_ns(1); /* what begins exactly where a cycle ends is in it */
            run(profiler, 1);
        }
        assert_int_equal(traces.count, 0);
        pthread_mutex_unlock(&gate);
        assert_int_equal(takt_profiler_stop(profiler), TAKT_OK);
        assert_int_equal(traces.count, 6);
        for (uint32_t i = 0; i < 6; i++) {
            assert_int_equal(takt_trace_facts(traces.items[i])->cycle, i);
            assert_int_equal(stats_of(traces.items[i], "step").count, 1);
            assert_int_equal(stats_of(traces.items[i], "step").total_ns, STEP_NS);
        }
        takt_profiler_destroy(profiler);
        release_traces(&traces);
    }
    assert_string_equal(lines_of(TAKT_LOG_ERROR), "");
}

TEST(a_program_faster_than_exports_is_told_how_many_cycles_it_lacks)
{
    takt_profiler_options options = options_for_files(80);
    takt_set_log(wait_at_gate, NULL);
    pthread_mutex_lock(&gate);
    takt_profiler *profiler = started(&options);
    run(profiler, 160); /* 64 cycles may wait */
    assert_string_equal(lines_of(TAKT_LOG_ERROR),
                        "cycle 64 is not recorded: too many earlier ones wait to be saved\n");
    forget_lines();
    pthread_mutex_unlock(&gate);
    assert_int_equal(takt_profiler_stop(profiler), TAKT_NO_MEMORY);
    assert_string_equal(lines_of(TAKT_LOG_ERROR), "16 of 80 cycles were not recorded\n");
    takt_profiler_destroy(profiler);
    release_traces(&traces);
}

TEST(two_profilers_record_at_the_same_time)
{
    test_traces others = {0};
    takt_profiler_options options = three_steps(), other_options = three_steps();
    options.background = other_options.background = TAKT_OFF;
    other_options.user = &others;
    other_options.schedule.wait = 2;
    takt_profiler *profiler = started(&options), *other = started(&other_options);
    for (int i = 0; i < 5; i++) {
        simulate();
        takt_profiler_step(other);
        if (i < 3)
            takt_profiler_step(profiler);
    }
    assert_int_equal(takt_profiler_stop(profiler), TAKT_OK);
    assert_int_equal(takt_profiler_stop(other), TAKT_OK);
    assert_int_equal(count_spans(traces.items[0], "step"), 3);
    assert_int_equal(count_spans(others.items[0], "step"), 3);
    assert_int_equal(takt_trace_facts(others.items[0])->first_step, 2);
    takt_profiler_destroy(profiler);
    takt_profiler_destroy(other);
    release_traces(&others);
}

TEST(the_second_of_two_summaries_is_refused_with_a_reason)
{
    takt_profiler_options options = three_steps();
    options.mode = TAKT_MODE_SUMMARY;
    takt_profiler *first = started(&options), *second = started(&options);
    assert_string_equal(lines_of(TAKT_LOG_ERROR),
                        "cycle 0 is not recorded: another profiler records a summary\n");
    for (int i = 0; i < 4; i++) {
        simulate();
        assert_int_equal(takt_profiler_step(first), TAKT_OK);
        assert_int_equal(takt_profiler_step(second), TAKT_OK);
    }
    takt_profiler_stop(second);
    assert_null(takt_profiler_trace(second));
    takt_profiler_stop(first);
    assert_int_equal(traces.count, 1);
    assert_int_equal(stats_of(traces.items[0], "step").count, 3);
    takt_profiler_destroy(second);
    takt_profiler_destroy(first);
}

/* ---- Lines and times ------------------------------------------------------------------------- */

TEST(stages_are_told)
{
    takt_profiler_options options =
        options_for(&traces, (takt_schedule){.wait = 1, .warmup = 1, .active = 3, .repeat = 1});
    options.background = TAKT_OFF;
    takt_profiler *profiler = started(&options);
    assert_string_equal(lines_of(TAKT_LOG_INFO), "");
    run(profiler, 1);
    assert_string_equal(lines_of(TAKT_LOG_INFO), "warmup\n");
    run(profiler, 1);
    assert_string_equal(lines_of(TAKT_LOG_INFO), "warmup\nrecording 3 steps\n");
    run(profiler, 4);
    takt_profiler_stop(profiler);
    takt_profiler_destroy(profiler);
    options.schedule = (takt_schedule){.active = 1, .repeat = 1};
    takt_profiler_destroy(started(&options));
    options.schedule = (takt_schedule){0};
    takt_profiler_destroy(started(&options));
    assert_string_equal(lines_of(TAKT_LOG_INFO),
                        "warmup\nrecording 3 steps\nrecording 1 step\nrecording until stop\n");
}

TEST(every_step_is_measured_and_recorded_ones_have_their_times)
{
    takt_profiler_options options =
        options_for(&traces, (takt_schedule){.wait = 2, .warmup = 1, .active = 2, .repeat = 1});
    options.background = TAKT_OFF;
    takt_profiler *profiler = started(&options);
    assert_int_equal(takt_profiler_step_time(profiler, 0.25), TAKT_OK);
    for (unsigned i = 0; i < 6; i++) {
        pass_ns(1000 * (i + 1));
        assert_int_equal(takt_profiler_step(profiler), TAKT_OK);
    }
    takt_profiler_stop(profiler);
    const takt_trace *trace = takt_profiler_trace(profiler);
    assert_int_equal(trace->steps.count, 2);
    for (size_t i = 0; i < 2; i++) {
        const tkt_step *step = &trace->steps.items[i];
        assert_int_equal(step->number, 3 + i);
        assert_int_equal(step->end_ns - step->begin_ns, 1000 * (4 + i));
    }
    assert_int_equal(trace->steps.items[0].end_ns, trace->steps.items[1].begin_ns);
    assert_int_equal(trace->all_steps.stats.count, 5);
    assert_int_equal(trace->all_steps.stats.total_ns, 15000);
    assert_int_equal(trace->all_steps.stats.max_ns, 5000);
    assert_true(trace->all_steps.simulated_seconds == 0.25);
    takt_profiler_destroy(profiler);
}

TEST(only_a_positive_finite_step_time_is_taken)
{
    takt_profiler_options options = three_steps();
    takt_profiler *profiler = started(&options);
    static const double wrong[] = {0, -1, 1.0 / 0.0, 0.0 / 0.0};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(takt_profiler_step_time(profiler, wrong[i]), TAKT_BAD_ARGUMENT);
    takt_profiler_stop(profiler);
    assert_true(takt_profiler_trace(profiler)->all_steps.simulated_seconds == 0);
    takt_profiler_destroy(profiler);
}

static void take_long(const takt_trace *trace, void *count)
{
    (void)trace;
    ++*(uint32_t *)count;
    pass_ns(1000000);
}

TEST(the_time_in_on_trace_belongs_to_no_step)
{
    takt_profiler_options options =
        options_for(&traces, (takt_schedule){.wait = 300, .active = 1, .skip_first_wait = 1});
    options.on_trace = take_long;
    for (int foreground = 0; foreground < 2; foreground++) {
        uint32_t delivered = 0;
        uint64_t steps = 0;
        options.background = foreground ? TAKT_OFF : TAKT_ON;
        options.user = &delivered;
        takt_profiler *profiler = started(&options);
        do { /* until the end of a cycle before which a step has delivered a trace */
            tkt_thread_pause_ms(0);
            run(profiler, 1);
            steps++;
        } while (steps == 1 || !delivered || steps % 301 != 1);
        takt_profiler_stop(profiler);
        assert_int_equal(takt_profiler_trace(profiler)->all_steps.stats.count, steps);
        assert_int_equal(takt_profiler_trace(profiler)->all_steps.stats.max_ns, STEP_NS);
        takt_profiler_destroy(profiler);
    }
}

TEST_MAIN_EACH(begin_test, tear_down)
