/* What a crash-safe recording keeps when its process dies. Each recording is a child's, which ends
 * with _exit() in the midst of it. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/thread.h"
#include "record/mapping.h"
#include "support/test.h"
#include "support/counters.h"
#include "support/emulated.h"
#include "support/memory_sink.h"
#include "support/remove_file.h"
#include "support/skip.h"
#include "support/trace_build.h"
#include "trace/model.h"

#include <takt/takt.h>

#include <dlfcn.h>
#include <glob.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64];
static char found[256];

/* As if the process died here. */
_Noreturn static void die(void)
{
    write_counters();
    _exit(0);
}

static takt_profiler *start(takt_profiler_options options)
{
    takt_profiler *profiler = NULL;
    options.struct_size = sizeof options;
    options.name = "safe";
    options.directory = folder;
    options.crash_safe = true;
    if (options.max_memory_bytes == 0)
        options.max_memory_bytes = 1u << 20;
    if (takt_profiler_create(&options, &profiler) != TAKT_OK ||
        takt_profiler_start(profiler) != TAKT_OK)
        _exit(1);
    return profiler;
}

static void remove_files(void)
{
    glob_t files;
    char pattern[128];
    snprintf(pattern, sizeof pattern, "%s/*", folder);
    if (glob(pattern, 0, NULL, &files) == 0)
        for (size_t i = 0; i < files.gl_pathc; i++)
            remove_file(files.gl_pathv[i]);
    globfree(&files);
}

static pid_t in_child(void (*record)(void))
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        record();
        die();
    }
    int status;
    waitpid(pid, &status, 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return pid;
}

/* The file that a recording has left, whose name ends like this. */
static const char *find_file(const char *ending)
{
    glob_t files;
    char pattern[128];
    snprintf(pattern, sizeof pattern, "%s/safe.*%s", folder, ending);
    assert_int_equal(glob(pattern, 0, NULL, &files), 0);
    snprintf(found, sizeof found, "%s", files.gl_pathv[0]);
    globfree(&files);
    return found;
}

static void assert_no_file(const char *like)
{
    glob_t files;
    char pattern[128];
    snprintf(pattern, sizeof pattern, "%s/%s", folder, like);
    assert_int_equal(glob(pattern, 0, NULL, &files), GLOB_NOMATCH);
}

static takt_trace *recover(void)
{
    takt_trace *trace = NULL;
    takt_error error;
    if (takt_trace_recover(find_file(".crash"), &trace, &error) != TAKT_OK)
        fail_msg("%s", error.message);
    return trace;
}

static void done(takt_trace *trace)
{
    takt_trace_release(trace);
    remove_files();
}

/* Spans of that name on all tracks, with and without an end. */
static unsigned count(const takt_trace *trace, const char *name, bool open)
{
    unsigned spans = 0;
    for (size_t t = 0; t < trace->tracks.count; t++)
        for (size_t i = 0; i < trace->tracks.items[t].spans.count; i++) {
            const tkt_span *span = &trace->tracks.items[t].spans.items[i];
            const tkt_trace_site *site = &trace->sites.items[tkt_span_site(span)];
            bool is_open = tkt_span_flags(span) & TAKT_SPAN_UNFINISHED;
            spans += is_open == open && strcmp(tkt_trace_text(trace, site->name), name) == 0;
        }
    return spans;
}

/* ---- Open scopes ----------------------------------------------------------------------------- */

static void leave_scopes_open(void)
{
    start((takt_profiler_options){0});
    TAKT_SCOPE("outer");
    for (int i = 0; i < 3; i++) {
        TAKT_SCOPE("closed");
        TAKT_SCOPE("closed inside");
    }
    TAKT_SCOPE("middle");
    TAKT_PHASE("first");
    TAKT_PHASE("second");
    TAKT_SCOPE("inner");
    TAKT_ARG("key", "value");
    takt_span_begin(takt_track_named("track"), "task");
    takt_span_end(takt_span_begin(takt_track_named("track"), "ended task"));
    die();
}

TEST(open_scopes_are_marked_and_closed_ones_are_not)
{
    in_child(leave_scopes_open);
    takt_trace *trace = recover();
    static const char *const open[] = {"outer", "middle", "second", "inner", "task"};
    for (size_t i = 0; i < sizeof open / sizeof *open; i++) {
        assert_int_equal(count(trace, open[i], true), 1);
        assert_int_equal(count(trace, open[i], false), 0);
    }
    assert_int_equal(count(trace, "closed", false), 3);
    assert_int_equal(count(trace, "closed inside", false), 3);
    assert_int_equal(count(trace, "first", false), 1);
    assert_int_equal(count(trace, "ended task", false), 1);
    assert_int_equal(trace->facts.unfinished, 5);
    assert_int_equal(trace->facts.span_count, 13);
    done(trace);
}

static uint64_t test_ticks = 1000000;

static uint64_t read_test_ticks(void)
{
    return test_ticks;
}

/* One scope in another, within one tick of the counter. */
static void end_within_a_tick(void)
{
    TAKT_SCOPE("ended");
    TAKT_SCOPE("ended within");
}

static void leave_nothing_open_within(void)
{
    tkt_clock_fake(read_test_ticks);
    start((takt_profiler_options){0});
    TAKT_SCOPE("open");
    test_ticks += 100;
    end_within_a_tick();
    die();
}

static void leave_another_open_within(void)
{
    tkt_clock_fake(read_test_ticks);
    start((takt_profiler_options){0});
    TAKT_SCOPE("open");
    test_ticks += 100;
    end_within_a_tick();
    TAKT_SCOPE("open, too");
    die();
}

TEST(what_began_and_ended_in_a_tick_is_not_open)
{
    static void (*const ways[])(void) = {leave_nothing_open_within, leave_another_open_within};
    for (unsigned i = 0; i < 2; i++) {
        in_child(ways[i]);
        takt_trace *trace = recover();
        assert_int_equal(count(trace, "ended", false), 1);
        assert_int_equal(count(trace, "ended within", false), 1);
        assert_int_equal(count(trace, "open", true), 1);
        assert_int_equal(count(trace, "open, too", true), i);
        assert_int_equal(trace->facts.unfinished, 1 + i);
        done(trace);
    }
}

static __attribute__((noinline)) void open_within(void)
{
    TAKT_SCOPE("within");
    die();
}

static void leave_a_scope_with_a_stack_open(void)
{
    start((takt_profiler_options){.with_stack = true});
    open_within();
}

/* The child was this program, at the same addresses. */
TEST(call_stacks_are_there)
{
    Dl_info place;
    takt_frame_info frame;
    in_child(leave_a_scope_with_a_stack_open);
    takt_trace *trace = recover();
    assert_int_equal(count(trace, "within", true), 1);
    size_t stack = takt_trace_span_stack(trace, 0, 0);
    assert_true(stack != TAKT_NO_STACK);
    assert_true(takt_trace_frame_count(trace, stack) > 2);
    assert_int_equal(takt_trace_frame(trace, stack, 0, &frame), TAKT_OK);
    assert_true(dladdr((void *)(uintptr_t)open_within, &place));
    assert_non_null(strstr(frame.module, "/test_crash_safe"));
    uint64_t offset = (uintptr_t)open_within - (uintptr_t)place.dli_fbase;
    assert_in_range(frame.offset, offset, offset + 2000);
    done(trace);
}

static void (*volatile leave)(void);

static void exit_at_once(void)
{
    die();
}

/* Deeper than the fast path goes, and deeper than a slot's depth can say. */
static void dive(unsigned depth)
{
    TAKT_SCOPE("deep");
    if (depth > 1)
        dive(depth - 1);
    else
        leave();
}

static void leave_many_open(void)
{
    start((takt_profiler_options){0});
    leave = exit_at_once;
    dive(1000);
}

TEST(a_thousand_open_scopes_are_there)
{
    in_child(leave_many_open);
    takt_trace *trace = recover();
    assert_int_equal(count(trace, "deep", true), 1000);
    done(trace);
}

static void fill_up(void)
{
    start((takt_profiler_options){.max_memory_bytes = 64u << 10});
    TAKT_SCOPE("open");
    for (int i = 0; i < 100000; i++) {
        TAKT_SCOPE("work");
        TAKT_SCOPE("work inside");
    }
    TAKT_MARK("last");
    die();
}

/* What was dropped lies before the last few hundred events, as without the file. */
TEST(scopes_that_were_dropped_do_not_look_open)
{
    in_child(fill_up);
    takt_trace *trace = recover();
    assert_int_equal(count(trace, "open", true), 1);
    assert_int_equal(trace->facts.unfinished, 1);
    unsigned work = count(trace, "work", false) + count(trace, "work inside", false);
    assert_int_equal(trace->losses[TAKT_LOSS_BUFFER_FULL], 200000 - work);
    assert_in_range(work, 1000, 10000);
    assert_int_equal(trace->marks.count, 1);
    done(trace);
}

static void fill_up_and_stop(void)
{
    takt_profiler *profiler =
        start((takt_profiler_options){.mode = TAKT_MODE_BOTH, .max_memory_bytes = 64u << 10});
    for (int i = 0; i < 100000; i++) {
        TAKT_SCOPE("work");
    }
    takt_profiler_stop(profiler);
    const takt_trace *trace = takt_profiler_trace(profiler);
    const tkt_fold *fold = tkt_trace_fold(trace);
    bool is_whole = trace->losses[TAKT_LOSS_BUFFER_FULL] > 0 && fold && fold->count == 2 &&
                    fold->items[1].stats.count == 100000;
    if (!is_whole)
        _exit(1);
}

TEST(totals_survive_dropped_scopes)
{
    in_child(fill_up_and_stop);
    remove_files();
}

/* ---- Summaries ------------------------------------------------------------------------------- */

static void work(int count)
{
    for (int i = 0; i < count; i++) {
        TAKT_SCOPE("work");
    }
}

/* The fold goes to the file several times before that end, and after it. */
static void end_what_began_before(void)
{
    TAKT_BEGIN("outer");
    start((takt_profiler_options){.mode = TAKT_MODE_SUMMARY});
    work(40000);
    TAKT_END("outer");
    work(20000);
    die();
}

TEST(a_summary_goes_on_after_a_scope_that_began_before_it)
{
    in_child(end_what_began_before);
    takt_trace *trace = recover();
    const tkt_fold *fold = tkt_trace_fold(trace);
    assert_int_equal(fold->count, 2);
    assert_string_equal(tkt_trace_text(trace, trace->sites.items[fold->items[1].site].name),
                        "work");
    assert_int_equal(fold->items[1].stats.count, 60000);
    assert_int_equal(trace->losses[TAKT_LOSS_MISMATCH], 0);
    done(trace);
}

static void use_tasks(void)
{
    start((takt_profiler_options){.mode = TAKT_MODE_SUMMARY});
    takt_counter("level", 3);
    takt_span_end(takt_span_begin(takt_track_named("disk"), "read"));
    work(10);
    die();
}

/* So no table says that there were none. */
TEST(a_recovered_summary_knows_that_it_knows_no_tasks)
{
    static const char *const reports[] = {"counters", "tasks", "threads"};
    in_child(use_tasks);
    takt_trace *trace = recover();
    takt_trace *back = write_and_read(trace);
    for (size_t i = 0; i < 3; i++) {
        memory_sink memory = {0};
        takt_sink sink = memory_sink_of(&memory);
        assert_int_equal(takt_report(trace, reports[i], NULL, &sink), TAKT_NO_SPANS);
        assert_int_equal(takt_report(back, reports[i], NULL, &sink), TAKT_NO_SPANS);
    }
    takt_trace_release(back);
    done(trace);
}

/* ---- Who writes into it ---------------------------------------------------------------------- */

static void fork_within(void)
{
    start((takt_profiler_options){0});
    {
        TAKT_SCOPE("around the fork");
        pid_t pid = fork();
        for (int i = 0; i < 100 && pid == 0; i++) {
            TAKT_SCOPE("child's");
        }
        if (pid != 0)
            waitpid(pid, NULL, 0);
        for (int i = 0; i < 10 && pid != 0; i++) {
            TAKT_SCOPE("parent's");
        }
        if (pid == 0)
            exit(0); /* with what runs at exit: the file is not the child's to remove */
    }
    die();
}

TEST(a_forked_child_leaves_the_file_alone)
{
    in_child(fork_within);
    takt_trace *trace = recover();
    assert_int_equal(count(trace, "child's", false), 0);
    assert_int_equal(count(trace, "parent's", false), 10);
    assert_int_equal(count(trace, "around the fork", false), 1);
    assert_int_equal(trace->facts.span_count, 11);
    done(trace);
}

static uint64_t sum_of_file(void)
{
    char *data;
    size_t size;
    uint64_t sum = 0, word;
    if (tkt_file_read_regular(find_file(".crash"), &data, &size, NULL) != TAKT_OK)
        _exit(3);
    for (size_t i = 0; i + sizeof word <= size; i += sizeof word) {
        memcpy(&word, data + i, sizeof word);
        sum = (sum ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    }
    tkt_free(data);
    return sum;
}

/* True if the child has changed the file. */
static bool let_child_go_on(int go, pid_t pid)
{
    uint64_t before = sum_of_file();
    if (write(go, "x", 1) != 1 || waitpid(pid, NULL, 0) != pid)
        _exit(1);
    return sum_of_file() != before;
}

/* The child records, and ends a scope that its parent has begun, once the parent has gone on. */
static void fork_with_open_scopes(bool with_stack)
{
    int go[2];
    char byte = 0;
    pid_t pid;
    start((takt_profiler_options){.with_stack = with_stack});
    if (pipe(go) != 0)
        _exit(1);
    for (int i = 0; i < 1000; i++) { /* a young thread takes other paths */
        TAKT_SCOPE("before");
    }
    {
        TAKT_SCOPE("around the fork");
        pid = fork();
        if (pid == 0 && read(go[0], &byte, 1) != 1)
            _exit(1);
        for (int i = 0; i < 10; i++) {
            TAKT_SCOPE("inside");
        }
        if (pid != 0 && let_child_go_on(go[1], pid))
            _exit(2);
    }
    if (pid == 0)
        exit(0);
    die();
}

static void fork_with_scopes(void)
{
    fork_with_open_scopes(false);
}

static void fork_with_stacks(void)
{
    fork_with_open_scopes(true);
}

TEST(a_forked_child_ends_its_parents_scopes_elsewhere)
{
    void (*const cases[])(void) = {fork_with_scopes, fork_with_stacks};
    for (int i = 0; i < 2; i++) {
        in_child(cases[i]);
        takt_trace *trace = recover();
        assert_int_equal(count(trace, "around the fork", false), 1);
        assert_int_equal(count(trace, "inside", false), 10);
        done(trace);
    }
}

static void *record_many(void *name)
{
    for (int i = 0; i < 20000; i++) {
        takt_begin(name);
        takt_end();
    }
    return NULL;
}

static void record_on_a_thread(char *name)
{
    pthread_t thread;
    pthread_create(&thread, NULL, record_many, name);
    pthread_join(thread, NULL);
}

static void record_and_end(takt_profiler_options options, char *name)
{
    takt_profiler *profiler = start(options);
    record_on_a_thread(name);
    takt_profiler_stop(profiler);
    takt_profiler_destroy(profiler);
    while (!tkt_thread_is_only())
        tkt_thread_pause_ms(1);
}

/* The thread that forks has recorded nothing. Parent and child record at the same time. */
static void fork_between(void)
{
    int begun[2];
    char byte = 0;
    const takt_profiler_options roomy = {.max_memory_bytes = 4u << 20};
    record_and_end(roomy, "before");
    if (pipe(begun) != 0)
        _exit(1);
    pid_t pid = fork();
    if (pid == 0) {
        takt_profiler *profiler = NULL;
        takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
        takt_profiler_create(&options, &profiler);
        if (takt_profiler_start(profiler) != TAKT_OK || write(begun[1], "x", 1) != 1)
            _exit(2);
        record_on_a_thread("child's");
        takt_profiler_stop(profiler);
        _exit(count(takt_profiler_trace(profiler), "child's", false) == 20000 ? 0 : 3);
    }
    close(begun[1]);
    if (read(begun[0], &byte, 1) != 1)
        _exit(1);
    start(roomy);
    record_on_a_thread("parent's");
    int status;
    waitpid(pid, &status, 0);
    if (status != 0)
        _exit(1);
    die();
}

TEST(a_forked_child_that_records_leaves_the_file_alone)
{
#ifdef __SANITIZE_THREAD__
    SKIP_CASE("ThreadSanitizer runs a thread of its own");
#endif
    if (test_runner())
        SKIP_CASE("the emulator runs a thread of its own");
    in_child(fork_between);
    takt_trace *trace = recover();
    assert_int_equal(count(trace, "child's", false), 0);
    assert_int_equal(count(trace, "parent's", false), 20000);
    assert_int_equal(trace->facts.span_count, 20000);
    done(trace);
}

static void *record_beside(void *barrier)
{
    takt_thread_name("beside");
    pthread_barrier_wait(barrier);
    pthread_barrier_wait(barrier);
    for (int i = 0; i < 20; i++) {
        TAKT_SCOPE("beside");
    }
    TAKT_SCOPE("beside, open");
    pthread_barrier_wait(barrier);
    for (;;)
        pause();
    return NULL;
}

/* A thread that is known already goes over into the file. */
static void begin_late(void)
{
    pthread_barrier_t barrier;
    pthread_t thread;
    pthread_barrier_init(&barrier, NULL, 2);
    takt_thread_name("known");
    pthread_create(&thread, NULL, record_beside, &barrier);
    pthread_barrier_wait(&barrier);
    start((takt_profiler_options){0});
    pthread_barrier_wait(&barrier);
    {
        TAKT_SCOPE("here");
    }
    TAKT_SCOPE("here, open");
    pthread_barrier_wait(&barrier);
    die();
}

TEST(threads_that_were_named_before_are_in_it)
{
    in_child(begin_late);
    takt_trace *trace = recover();
    assert_int_equal(count(trace, "beside", false), 20);
    assert_int_equal(count(trace, "beside, open", true), 1);
    assert_int_equal(count(trace, "here", false), 1);
    assert_int_equal(count(trace, "here, open", true), 1);
    done(trace);
}

/* ---- Cycles ---------------------------------------------------------------------------------- */

static void end_cycles(void)
{
    takt_profiler *profiler =
        start((takt_profiler_options){.schedule = {.active = 2}, .background = TAKT_OFF});
    for (int i = 0; i < 5; i++) {
        TAKT_SCOPE("step");
        takt_profiler_step(profiler);
    }
    TAKT_SCOPE("unsaved");
    die();
}

TEST(only_what_was_not_saved_is_recovered)
{
    in_child(end_cycles);
    takt_trace *trace = recover();
    assert_int_equal(trace->facts.cycle, 2);
    assert_int_equal(trace->facts.step_count, 1);
    assert_int_equal(trace->steps.items[0].number, 4);
    assert_int_equal(count(trace, "unsaved", true), 1);
    assert_true(trace->facts.is_partial);
    done(trace);
}

static void stop_and_exit(void)
{
    takt_profiler *profiler = start((takt_profiler_options){0});
    takt_profiler_stop(profiler);
    takt_profiler_start(profiler);
    takt_profiler_stop(profiler);
    takt_profiler_destroy(profiler);
    exit(0);
}

/* ---- The whole run --------------------------------------------------------------------------- */

static void make_steps(takt_profiler *profiler, int count)
{
    for (int i = 0; i < count; i++) {
        test_ticks += 1000 + (uint64_t)(takt_profiler_step_number(profiler) == 3) * 50000;
        takt_profiler_step(profiler);
    }
}

static takt_profiler *start_to_step(takt_mode mode)
{
    tkt_clock_fake(read_test_ticks);
    return start((takt_profiler_options){
        .schedule = {.wait = 10, .warmup = 2, .active = 20}, .mode = mode, .background = TAKT_OFF});
}

static void die_in_third_cycle(void)
{
    make_steps(start_to_step(TAKT_MODE_TRACE), 2 * 32 + 17);
}

static void die_in_third_summary(void)
{
    takt_profiler *profiler = start_to_step(TAKT_MODE_SUMMARY);
    takt_profiler_step_time(profiler, 0.5);
    make_steps(profiler, 2 * 32 + 17);
}

static void die_in_second_run(void)
{
    takt_profiler *profiler = start_to_step(TAKT_MODE_SUMMARY);
    make_steps(profiler, 100);
    takt_profiler_stop(profiler);
    takt_profiler_start(profiler);
    make_steps(profiler, 17);
}

static void die_beside_another(void)
{
    takt_profiler *first = start_to_step(TAKT_MODE_SUMMARY);
    takt_profiler *second = start_to_step(TAKT_MODE_TRACE);
    make_steps(first, 17);
    make_steps(second, 17);
}

static void check_run(void (*record)(void), uint64_t steps, uint64_t windows)
{
    in_child(record);
    takt_trace *trace = recover();
    assert_int_equal(trace->all_steps.stats.count, steps);
    assert_int_equal(trace->all_steps.stats.total_ns, steps * 1000 + 50000);
    assert_non_null(trace->run);
    assert_int_equal(trace->run->step_count, steps);
    assert_int_equal(trace->run->slowest[0].number, 3);
    assert_int_equal(trace->run->slowest[0].duration_ns, 51000);
    assert_int_equal(trace->run->window_count, windows);
    for (uint64_t i = 0; i < windows; i++) {
        assert_int_equal(trace->run->windows[i].first, 32 * i + 12);
        assert_int_equal(trace->run->windows[i].last, i + 1 < windows ? 32 * i + 31 : steps - 1);
    }
    assert_int_equal(trace->steps.count, steps - 32 * (windows - 1) - 12);
    assert_int_equal(trace->facts.step_count, trace->steps.count);
    assert_true(trace->all_steps.simulated_seconds == (record == die_in_third_summary ? 0.5 : 0));
    done(trace);
}

TEST(the_whole_run_is_there)
{
    check_run(die_in_third_cycle, 81, 3);
    check_run(die_in_third_summary, 81, 3);
    check_run(die_in_second_run, 17, 1);
}

/* The process dies while it changes the first copy: the second one is whole. */
static void die_within_a_change(void)
{
    make_steps(start_to_step(TAKT_MODE_SUMMARY), 17);
    memset(tkt_mapping_run(0), 0xFF, 1000);
}

/* It dies after the step, before the run gets it. */
static void die_before_a_change(void)
{
    make_steps(start_to_step(TAKT_MODE_SUMMARY), 16);
    tkt_mapping_add_step(16, test_ticks, test_ticks + 1000);
}

TEST(the_run_is_whole_wherever_the_process_dies)
{
    check_run(die_within_a_change, 17, 1);
    check_run(die_before_a_change, 17, 1);
}

static void damage_the_run(void)
{
    make_steps(start_to_step(TAKT_MODE_SUMMARY), 17);
    for (uint32_t copy = 0; copy < 2; copy++)
        ((uint64_t *)tkt_mapping_run(copy))[1] = 16; /* the number of all steps */
}

TEST(a_damaged_run_is_left_out)
{
    in_child(damage_the_run);
    takt_trace *trace = recover();
    assert_null(trace->run);
    assert_int_equal(trace->all_steps.stats.count, 5);
    done(trace);
}

static void die_after_many_steps(void)
{
    tkt_clock_fake(read_test_ticks);
    make_steps(start((takt_profiler_options){.schedule = {.active = 1000000}}),
               TKT_MAPPING_STEPS + 10);
}

TEST(steps_that_later_ones_have_overwritten_are_counted)
{
    in_child(die_after_many_steps);
    takt_trace *trace = recover();
    assert_int_equal(trace->steps.count, TKT_MAPPING_STEPS);
    assert_int_equal(trace->steps.items[0].number, 10);
    assert_int_equal(trace->facts.first_step, 0);
    assert_int_equal(trace->facts.step_count, TKT_MAPPING_STEPS + 10);
    assert_int_equal(trace->losses[TAKT_LOSS_MORE_STEPS], 10);
    assert_int_equal(trace->all_steps.stats.count, TKT_MAPPING_STEPS + 10);
    done(trace);
}

/* Only the first profiler is in the file. */
TEST(another_profiler_at_the_same_time_is_not_in_it)
{
    check_run(die_beside_another, 17, 1);
}

TEST(a_clean_exit_removes_the_file)
{
    in_child(stop_and_exit);
    assert_no_file("*");
}

/* The disk is full when the cycle is to be saved, and the program ends as always. */
static void record_unsaved(takt_profiler *profiler, int spans)
{
    struct rlimit before, full = {256, RLIM_INFINITY};
    for (int i = 0; i < spans; i++) {
        TAKT_SCOPE("unsaved");
    }
    getrlimit(RLIMIT_FSIZE, &before);
    full.rlim_max = before.rlim_max;
    setrlimit(RLIMIT_FSIZE, &full);
    takt_status status = takt_profiler_stop(profiler);
    setrlimit(RLIMIT_FSIZE, &before);
    if (status != TAKT_IO_ERROR)
        _exit(2);
}

static takt_profiler *start_that_saves(void)
{
    static const char *const traces[] = {"perfetto", "chrome"};
    return start((takt_profiler_options){.traces = traces, .trace_count = 2});
}

static void fill_the_disk(void)
{
    takt_profiler *profiler = start_that_saves();
    record_unsaved(profiler, 1000);
    takt_profiler_destroy(profiler);
    for (int i = 0; i < 1000; i++) { /* nobody records any more */
        TAKT_SCOPE("later");
    }
    exit(0);
}

TEST(a_cycle_that_could_not_be_saved_stays)
{
    in_child(fill_the_disk);
    takt_trace *trace = recover();
    assert_int_equal(count(trace, "unsaved", false), 1000);
    assert_int_equal(count(trace, "later", false), 0);
    done(trace);
}

/* The first of two files has the summary, and the second one cannot. */
static void save_in_one_of_two(void)
{
    static const char *const traces[] = {"perfetto", "chrome"};
    takt_profiler *profiler = start((takt_profiler_options){
        .mode = TAKT_MODE_SUMMARY, .traces = traces, .trace_count = 2});
    takt_status status = takt_profiler_stop(profiler);
    takt_profiler_destroy(profiler);
    exit(status == TAKT_NO_SPANS ? 0 : 2);
}

TEST(a_cycle_that_one_file_has_does_not_stay)
{
    in_child(save_in_one_of_two);
    assert_no_file("*.crash");
    remove_files();
}

static void go_on_after_a_full_disk(void)
{
    takt_profiler *profiler = start_that_saves();
    record_unsaved(profiler, 1000);
    takt_profiler_start(profiler);
    for (int i = 0; i < 10; i++) {
        TAKT_SCOPE("saved");
    }
    exit(takt_profiler_stop(profiler) == TAKT_OK ? 0 : 3);
}

TEST(the_next_cycle_takes_its_place)
{
    in_child(go_on_after_a_full_disk);
    assert_no_file("*.crash");
    remove_files();
}

static pthread_barrier_t both_start;

static void *start_and_stop(void *unused)
{
    takt_profiler *profiler;
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    options.name = "safe";
    options.directory = folder;
    options.crash_safe = true;
    options.max_memory_bytes = 1u << 20;
    if (takt_profiler_create(&options, &profiler) != TAKT_OK)
        _exit(1);
    pthread_barrier_wait(&both_start);
    if (takt_profiler_start(profiler) != TAKT_OK)
        _exit(2);
    pthread_barrier_wait(&both_start); /* both are running */
    takt_profiler_destroy(profiler);
    return unused;
}

static void start_two_at_once(void)
{
    pthread_t other;
    pthread_barrier_init(&both_start, NULL, 2);
    for (int i = 0; i < 20; i++) {
        pthread_create(&other, NULL, start_and_stop, NULL);
        start_and_stop(NULL);
        pthread_join(other, NULL);
    }
    exit(0);
}

TEST(of_two_that_start_at_once_one_has_the_file)
{
    in_child(start_two_at_once);
    assert_no_file("*.crash");
}

static void begin_many_cycles(void)
{
    start((takt_profiler_options){0});
    const tkt_mapping_window window = {.begin_ticks = 1};
    for (uint32_t i = 0; i <= 64; i++) /* as many as may wait, and the open one */
        if (tkt_mapping_begin_window(&window) == UINT32_MAX)
            _exit(2);
}

TEST(each_cycle_that_waits_has_a_place)
{
    in_child(begin_many_cycles);
    remove_files();
}

static void stop_and_die(void)
{
    takt_profiler *profiler = start((takt_profiler_options){0});
    takt_profiler_stop(profiler);
    die();
}

TEST(nothing_unsaved_is_said)
{
    takt_trace *trace = NULL;
    takt_error error;
    in_child(stop_and_die);
    assert_int_equal(takt_trace_recover(find_file(".crash"), &trace, &error), TAKT_NOT_FOUND);
    assert_non_null(strstr(error.message, "nothing to recover"));
    remove_files();
}

static void record_over_another(void)
{
    char name[128];
    snprintf(name, sizeof name, "%s/safe.%u.crash", folder, (unsigned)getpid());
    FILE *file = fopen(name, "w");
    fputs("another's", file);
    fclose(file);
    start((takt_profiler_options){0});
    TAKT_SCOPE("mine");
    die();
}

TEST(the_file_of_another_run_is_left_alone)
{
    in_child(record_over_another);
    char text[16] = "";
    takt_trace *trace = NULL;
    assert_int_equal(takt_trace_recover(find_file("-2.crash"), &trace, NULL), TAKT_OK);
    assert_int_equal(count(trace, "mine", true), 1);
    strstr(found, "-2.crash")[0] = 0;
    strcat(found, ".crash");
    FILE *file = fopen(found, "r");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    assert_string_equal(text, "another's");
    done(trace);
}

/* ---- Damage ---------------------------------------------------------------------------------- */

static uint64_t random_state = 88172645463325252u;

static uint64_t random_below(uint64_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % limit;
}

/* A place that matters: of the head, a cycle, a name, a chunk, a frame. */
static uint64_t some_place(const tkt_mapping_head *head)
{
    const uint64_t places[] = {
        random_below(sizeof *head),
        head->windows.at + random_below(sizeof(tkt_mapping_window)),
        head->names.at + random_below(4096),
        head->chunks.at + random_below(2 * sizeof(tkt_chunk)),
        head->logs.at + 4080 + random_below(256),
        head->logs.at + random_below(300),
    };
    return places[random_below(sizeof places / sizeof *places)];
}

static void say_nothing(takt_log_level level, const char *line, void *user)
{
    (void)level, (void)line, (void)user;
}

TEST(damage_is_survived)
{
    tkt_mapping_head head;
    char path[sizeof found];
    in_child(leave_scopes_open);
    FILE *file = fopen(find_file(".crash"), "r+");
    assert_non_null(file);
    assert_int_equal(fread(&head, sizeof head, 1, file), 1);
    snprintf(path, sizeof path, "%s", found);
    takt_set_log(say_nothing, NULL);
    for (int i = 0; i < 100; i++) {
        uint64_t at = some_place(&head);
        takt_trace *trace = NULL;
        fseek(file, (long)at, SEEK_SET);
        int before = fgetc(file);
        fseek(file, (long)at, SEEK_SET);
        fputc((int)random_below(256), file);
        fflush(file);
        if (takt_trace_recover(path, &trace, NULL) == TAKT_OK)
            takt_trace_release(trace);
        if (i % 3 == 0) { /* the others add up */
            fseek(file, (long)at, SEEK_SET);
            fputc(before, file);
        }
    }
    fclose(file);
    remove_files();
}

/* The pages of memory that the process has and shares with files. */
static unsigned long shared_pages(void)
{
    unsigned long all = 0, resident = 0, shared = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%lu %lu %lu", &all, &resident, &shared) != 3)
        _exit(1);
    fclose(file);
    return shared;
}

static void start_locked(void)
{
    const uint64_t limit = 256u << 20;
    if (mlockall(MCL_FUTURE) != 0)
        _exit(1);
    unsigned long before = shared_pages();
    start((takt_profiler_options){.max_memory_bytes = limit});
    if ((shared_pages() - before) * (uint64_t)sysconf(_SC_PAGESIZE) > limit / 4)
        _exit(1);
}

static bool may_lock(size_t bytes)
{
    if (mlockall(MCL_FUTURE) != 0)
        return false;
    void *at = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munlockall();
    if (at == MAP_FAILED)
        return false;
    munmap(at, bytes);
    return true;
}

TEST(a_program_that_locks_its_memory_has_only_what_is_used)
{
    if (!may_lock((size_t)1 << 30))
        SKIP_CASE("this user may not lock that much memory");
    in_child(start_locked);
    remove_files();
}

int main(void)
{
    snprintf(folder, sizeof folder, "/tmp/takt_crash_safe.%u", (unsigned)getpid());
    if (tkt_folder_create(folder, NULL) != TAKT_OK)
        return 1;
    int failed = run_all_tests(NULL, NULL);
    rmdir(folder);
    return failed;
}
