/* The stepping profiler: what is recorded, and when and where the program gets it. */
#include "test_profiler.h"
#include "support/test.h"

#include <sched.h>

#define STEP_NS 1000

static test_traces traces;

static int set_up(void **state)
{
    (void)state;
    tkt_clock_fake(read_test_clock);
    takt_set_log(keep_line, NULL);
    forget_lines();
    traces.inside = "";
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    release_traces(&traces);
    takt_set_log(NULL, NULL);
    tkt_clock_fake(NULL);
    return 0;
}

/* One step of the program: a scope "work" of STEP_NS. */
static void step(takt_profiler *profiler)
{
    {
        TAKT_SCOPE("work");
        pass_ns(STEP_NS);
    }
    traces.inside = "step";
    assert_int_equal(takt_profiler_step(profiler), TAKT_OK);
    traces.inside = "";
}

static void stop(takt_profiler *profiler)
{
    traces.inside = "stop";
    assert_int_equal(takt_profiler_stop(profiler), TAKT_OK);
    traces.inside = "";
}

static void run(takt_profiler *profiler, unsigned steps)
{
    for (unsigned i = 0; i < steps; i++)
        step(profiler);
}

static takt_profiler *started_in_foreground(takt_schedule schedule)
{
    takt_profiler_options options = options_for(&traces, schedule);
    options.background = TAKT_OFF;
    return started(&options);
}

/* ---- Delivery -------------------------------------------------------------------------------- */

TEST(in_the_foreground_a_trace_arrives_in_the_step_that_ends_its_cycle)
{
    takt_profiler *profiler =
        started_in_foreground((takt_schedule){.wait = 1, .warmup = 1, .active = 2, .repeat = 2});
    static const size_t expected[] = {0, 0, 0, 1, 1, 1, 1, 2, 2};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        assert_int_equal(takt_profiler_step_number(profiler), i);
        step(profiler);
        assert_int_equal(traces.count, expected[i]);
    }
    stop(profiler);
    assert_int_equal(traces.count, 2);
    for (uint32_t i = 0; i < 2; i++) {
        const takt_facts *facts = takt_trace_facts(traces.items[i]);
        assert_string_equal(traces.arrived_in[i], "step");
        assert_string_equal(facts->name, "test");
        assert_int_equal(facts->cycle, i);
        assert_int_equal(facts->first_step, 2 + 4 * i);
        assert_int_equal(facts->step_count, 2);
        assert_int_equal(facts->end_ns - facts->begin_ns, 2 * STEP_NS);
        assert_false(facts->is_partial);
        assert_int_equal(count_spans(traces.items[i], "work"), 2);
        assert_int_equal(facts->span_count, 2);
    }
    takt_profiler_destroy(profiler);
}

TEST(in_the_background_it_arrives_in_a_later_step_or_in_stop_on_this_thread)
{
    takt_profiler_options options =
        options_for(&traces, (takt_schedule){.active = 1, .repeat = 2, .wait = 1});
    takt_profiler *profiler = started(&options);
    run(profiler, 3);
    step(profiler);
    stop(profiler);
    assert_int_equal(traces.count, 2);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(takt_trace_facts(traces.items[i])->cycle, i);
        assert_int_equal(traces.threads[i], tkt_thread_id());
        assert_string_not_equal(traces.arrived_in[i], "");
    }
    takt_profiler_destroy(profiler);
}

/* Without an end the step after a cycle gets its trace sooner or later. */
TEST(steps_deliver_what_the_background_has_finished)
{
    takt_profiler_options options = options_for(
        &traces, (takt_schedule){.active = 1, .wait = UINT32_MAX, .skip_first_wait = 1});
    takt_profiler *profiler = started(&options);
    step(profiler);
    while (traces.count == 0) {
        tkt_thread_pause_ms(0);
        step(profiler);
    }
    assert_int_equal(traces.count, 1);
    assert_string_equal(traces.arrived_in[0], "step");
    stop(profiler);
    assert_int_equal(traces.count, 1);
    takt_profiler_destroy(profiler);
}

TEST(without_end_every_cycle_is_delivered)
{
    takt_profiler *profiler = started_in_foreground((takt_schedule){.wait = 1, .active = 1});
    run(profiler, 40);
    assert_int_equal(traces.count, 20);
    assert_int_equal(takt_trace_facts(traces.items[19])->first_step, 39);
    stop(profiler);
    assert_int_equal(traces.count, 20);
    assert_string_equal(lines_of(TAKT_LOG_WARNING), "");
    takt_profiler_destroy(profiler);
}

TEST(active_steps_in_a_row_lose_nothing_between_their_cycles)
{
    takt_profiler *profiler = started_in_foreground((takt_schedule){.active = 1, .repeat = 5});
    run(profiler, 5);
    stop(profiler);
    assert_int_equal(traces.count, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(count_spans(traces.items[i], "work"), 1);
        assert_int_equal(takt_trace_facts(traces.items[i])->first_step, i);
    }
    takt_profiler_destroy(profiler);
}

/* ---- The end --------------------------------------------------------------------------------- */

TEST(an_open_window_is_saved_at_stop_and_marked_partial)
{
    takt_profiler *profiler =
        started_in_foreground((takt_schedule){.warmup = 1, .active = 5, .repeat = 1});
    run(profiler, 3);
    stop(profiler);
    assert_int_equal(traces.count, 1);
    const takt_facts *facts = takt_trace_facts(traces.items[0]);
    assert_string_equal(traces.arrived_in[0], "stop");
    assert_true(facts->is_partial);
    assert_int_equal(facts->first_step, 1);
    assert_int_equal(facts->step_count, 2);
    assert_string_equal(lines_of(TAKT_LOG_WARNING), "0 of 1 cycle recorded; 3 more steps needed\n");
    takt_profiler_destroy(profiler);
}

/* Its last step has begun and not ended, so the cycle is not complete. */
TEST(a_cycle_that_stops_in_its_last_step_is_partial)
{
    takt_profiler *profiler =
        started_in_foreground((takt_schedule){.wait = 1, .active = 3, .repeat = 1});
    run(profiler, 3);
    assert_int_equal(takt_profiler_action(profiler), TAKT_ACTION_RECORD_AND_SAVE);
    stop(profiler);
    assert_int_equal(traces.count, 1);
    assert_true(takt_trace_facts(traces.items[0])->is_partial);
    assert_int_equal(takt_trace_facts(traces.items[0])->step_count, 2);
    assert_string_equal(lines_of(TAKT_LOG_WARNING), "0 of 1 cycle recorded; 1 more step needed\n");
    takt_profiler_destroy(profiler);
}

TEST(an_early_end_is_told_with_what_is_missing)
{
    takt_profiler *profiler =
        started_in_foreground((takt_schedule){.wait = 30, .warmup = 10, .active = 10, .repeat = 3});
    run(profiler, 110);
    stop(profiler);
    assert_int_equal(traces.count, 2);
    assert_string_equal(lines_of(TAKT_LOG_WARNING),
                        "2 of 3 cycles recorded; 40 more steps needed\n");
    takt_profiler_destroy(profiler);
}

TEST(a_program_that_never_steps_is_told_so)
{
    takt_profiler *profiler =
        started_in_foreground((takt_schedule){.wait = 3, .active = 2, .repeat = 1});
    stop(profiler);
    assert_int_equal(traces.count, 0);
    assert_string_equal(lines_of(TAKT_LOG_WARNING),
                        "0 of 1 cycle recorded; 5 more steps needed: takt_profiler_step() was "
                        "never called\n");
    takt_profiler_destroy(profiler);
}

TEST(a_warm_up_at_stop_is_forgotten)
{
    takt_profiler *profiler = started_in_foreground((takt_schedule){
        .warmup = 4, .active = 1, .repeat = 1, .repeat_mode = TAKT_REPEAT_ADDITIONAL});
    run(profiler, 8);
    stop(profiler);
    assert_int_equal(traces.count, 1);
    assert_string_equal(lines_of(TAKT_LOG_WARNING),
                        "1 of 2 cycles recorded; 2 more steps needed\n");
    assert_false(takt_is_on(~UINT64_C(0)));
    takt_profiler_destroy(profiler);
}

TEST(more_steps_than_needed_are_no_early_end)
{
    for (unsigned steps = 4; steps < 7; steps++) {
        takt_profiler *profiler =
            started_in_foreground((takt_schedule){.wait = 1, .active = 1, .repeat = 2});
        run(profiler, steps);
        stop(profiler);
        takt_profiler_destroy(profiler);
    }
    assert_string_equal(lines_of(TAKT_LOG_WARNING), "");
    assert_int_equal(traces.count, 6);
}

TEST(without_a_schedule_one_trace_holds_everything)
{
    takt_profiler *profiler = started_in_foreground((takt_schedule){0});
    assert_int_equal(takt_profiler_action(profiler), TAKT_ACTION_RECORD);
    run(profiler, 10);
    assert_int_equal(traces.count, 0);
    stop(profiler);
    assert_int_equal(traces.count, 1);
    const takt_facts *facts = takt_trace_facts(traces.items[0]);
    assert_false(facts->is_partial);
    assert_int_equal(facts->step_count, 10);
    assert_int_equal(facts->first_step, 0);
    assert_int_equal(facts->span_count, 10);
    assert_string_equal(lines_of(TAKT_LOG_WARNING), "");
    takt_profiler_destroy(profiler);
}

/* ---- States ---------------------------------------------------------------------------------- */

TEST(calls_in_the_wrong_state_are_refused_and_change_nothing)
{
    takt_profiler_options options = options_for(&traces, (takt_schedule){.active = 1});
    takt_profiler *profiler;
    assert_int_equal(takt_profiler_create(&options, &profiler), TAKT_OK);
    assert_int_equal(takt_profiler_step(profiler), TAKT_BAD_STATE);
    assert_int_equal(takt_profiler_step(profiler), TAKT_BAD_STATE);
    assert_int_equal(takt_profiler_stop(profiler), TAKT_BAD_STATE);
    assert_int_equal(takt_profiler_action(profiler), TAKT_ACTION_NONE);
    assert_null(takt_profiler_trace(profiler));
    assert_int_equal(takt_profiler_start(profiler), TAKT_OK);
    assert_int_equal(takt_profiler_start(profiler), TAKT_BAD_STATE);
    assert_int_equal(takt_profiler_stop(profiler), TAKT_OK);
    assert_int_equal(takt_profiler_step(profiler), TAKT_BAD_STATE);
    assert_int_equal(takt_profiler_stop(profiler), TAKT_BAD_STATE);
    takt_profiler_destroy(profiler);
    takt_profiler_destroy(NULL);
    assert_int_equal(count_lines(TAKT_LOG_WARNING, "step() was called before"), 1);
    assert_int_equal(count_lines(TAKT_LOG_WARNING, "while this profiler runs"), 1);
}

static void *step_twice(void *profiler)
{
    for (int i = 0; i < 2; i++)
        assert_int_equal(takt_profiler_step(profiler), TAKT_BAD_STATE);
    return NULL;
}

/* While the stepping thread is in here, it is in takt_profiler_step(). */
static void step_on_another_thread(const takt_trace *trace, void *user)
{
    (void)trace;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, step_twice, *(takt_profiler **)user), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

TEST(a_step_of_a_second_thread_is_refused_and_told_once)
{
    takt_profiler *profiler;
    takt_profiler_options options = options_for(&traces, (takt_schedule){.active = 1, .repeat = 1});
    options.background = TAKT_OFF;
    options.on_trace = step_on_another_thread;
    options.user = &profiler;
    assert_int_equal(takt_profiler_create(&options, &profiler), TAKT_OK);
    assert_int_equal(takt_profiler_start(profiler), TAKT_OK);
    assert_int_equal(takt_profiler_step(profiler), TAKT_OK);
    assert_int_equal(takt_profiler_step_number(profiler), 1);
    assert_string_equal(
        lines_of(TAKT_LOG_WARNING),
        "takt_profiler_step() was called while another thread was in this profiler: "
        "the step does not count; call it from one thread\n");
    takt_profiler_destroy(profiler);
}

TEST(no_profiler_does_nothing_and_is_no_error)
{
    assert_int_equal(takt_profiler_start(NULL), TAKT_OK);
    assert_int_equal(takt_profiler_step(NULL), TAKT_OK);
    assert_int_equal(takt_profiler_step_time(NULL, 0.1), TAKT_OK);
    assert_int_equal(takt_profiler_stop(NULL), TAKT_OK);
    assert_int_equal(takt_profiler_step_number(NULL), 0);
    assert_int_equal(takt_profiler_action(NULL), TAKT_ACTION_NONE);
    assert_null(takt_profiler_trace(NULL));
    assert_int_equal(test_line_count, 0);
}

TEST(a_stopped_profiler_starts_again_from_step_zero)
{
    takt_profiler *profiler =
        started_in_foreground((takt_schedule){.wait = 1, .active = 1, .repeat = 2});
    run(profiler, 4);
    stop(profiler);
    assert_int_equal(takt_profiler_start(profiler), TAKT_OK);
    assert_int_equal(takt_profiler_step_number(profiler), 0);
    assert_int_equal(takt_profiler_action(profiler), TAKT_ACTION_NONE);
    run(profiler, 3);
    stop(profiler);
    assert_int_equal(traces.count, 4);
    assert_int_equal(takt_trace_facts(traces.items[2])->first_step, 1);
    const takt_facts *begun = takt_trace_facts(traces.items[3]);
    assert_true(begun->is_partial);
    assert_int_equal(begun->first_step, 3);
    assert_int_equal(begun->step_count, 0);
    assert_string_equal(lines_of(TAKT_LOG_WARNING), "1 of 2 cycles recorded; 1 more step needed\n");
    takt_profiler_destroy(profiler);
}

TEST(the_last_trace_stays_until_destroy_and_longer_if_it_is_retained)
{
    takt_profiler *profiler = started_in_foreground((takt_schedule){.active = 2, .repeat = 3});
    run(profiler, 4);
    assert_ptr_equal(takt_profiler_trace(profiler), traces.items[1]);
    stop(profiler);
    const takt_trace *last = takt_trace_retain(takt_profiler_trace(profiler));
    assert_ptr_equal(last, traces.items[2]);
    takt_profiler_destroy(profiler);
    assert_int_equal(takt_trace_facts(last)->cycle, 2);
    takt_trace_release(last);
}

TEST(destroying_a_running_profiler_stops_it_first)
{
    takt_profiler_options options = options_for(&traces, (takt_schedule){.active = 9});
    takt_profiler *profiler = started(&options);
    run(profiler, 2);
    takt_profiler_destroy(profiler);
    assert_int_equal(traces.count, 1);
    assert_int_equal(count_spans(traces.items[0], "work"), 2);
    assert_false(takt_is_on(~UINT64_C(0)));
}

TEST(a_profiler_that_was_never_started_is_destroyed)
{
    takt_profiler_options options = options_for(&traces, (takt_schedule){.active = 9});
    takt_profiler *profiler;
    assert_int_equal(takt_profiler_create(&options, &profiler), TAKT_OK);
    takt_profiler_destroy(profiler);
    assert_int_equal(traces.count, 0);
}

static void stop_inside_on_trace(const takt_trace *trace, void *user)
{
    keep_trace(trace, &traces);
    takt_profiler *profiler = *(takt_profiler **)user;
    assert_ptr_equal(takt_profiler_trace(profiler), trace);
    assert_int_equal(takt_profiler_stop(profiler), TAKT_OK);
}

TEST(on_trace_may_stop_the_profiler)
{
    takt_profiler *profiler;
    takt_profiler_options options = options_for(&traces, (takt_schedule){.wait = 1, .active = 1});
    options.background = TAKT_OFF;
    options.on_trace = stop_inside_on_trace;
    options.user = &profiler;
    profiler = started(&options);
    run(profiler, 2);
    assert_int_equal(traces.count, 1);
    assert_int_equal(takt_profiler_step(profiler), TAKT_BAD_STATE);
    takt_profiler_destroy(profiler);
    assert_int_equal(traces.count, 1);
}

static void destroy_inside_on_trace(const takt_trace *trace, void *user)
{
    keep_trace(trace, &traces);
    takt_profiler_destroy(*(takt_profiler **)user);
}

TEST(on_trace_may_not_destroy_the_profiler)
{
    takt_profiler *profiler;
    takt_profiler_options options = options_for(&traces, (takt_schedule){.active = 1});
    options.background = TAKT_OFF;
    options.on_trace = destroy_inside_on_trace;
    options.user = &profiler;
    profiler = started(&options);
    run(profiler, 2);
    assert_int_equal(count_lines(TAKT_LOG_ERROR, "inside its on_trace: the profiler is not freed"),
                     2);
    takt_profiler_stop(profiler);
    takt_profiler_destroy(profiler);
    assert_int_equal(traces.count, 3);
}

static jmp_buf away;

static __attribute__((noinline)) void step_until_it_jumps(takt_profiler *profiler)
{
    if (setjmp(away) == 0)
        run(profiler, 1);
}

static void jump_out(const takt_trace *trace, void *user)
{
    keep_trace(trace, user);
    longjmp(away, 1);
}

TEST(a_profiler_whose_on_trace_has_jumped_out_can_be_destroyed)
{
    takt_profiler_options options = options_for(&traces, (takt_schedule){.active = 1});
    options.background = TAKT_OFF;
    options.on_trace = jump_out;
    takt_profiler *profiler = started(&options);
    step_until_it_jumps(profiler);
    assert_int_equal(traces.count, 1);
    if (setjmp(away) == 0) /* destroying it stops it, and hands on the rest */
        takt_profiler_destroy(profiler);
    else
        takt_profiler_destroy(profiler);
    assert_int_equal(count_lines(TAKT_LOG_ERROR, "the profiler is not freed"), 0);
}

static void *destroy_elsewhere(void *profiler)
{
    takt_profiler_destroy(profiler);
    return NULL;
}

static void destroy_on_another_thread(const takt_trace *trace, void *user)
{
    pthread_t thread;
    keep_trace(trace, &traces);
    assert_int_equal(pthread_create(&thread, NULL, destroy_elsewhere, *(void **)user), 0);
    pthread_join(thread, NULL);
}

TEST(a_profiler_that_another_thread_uses_is_not_destroyed_and_goes_on)
{
    takt_profiler *profiler;
    takt_profiler_options options = options_for(&traces, (takt_schedule){.active = 1});
    options.background = TAKT_OFF;
    options.on_trace = destroy_on_another_thread;
    options.user = &profiler;
    profiler = started(&options);
    run(profiler, 1);
    assert_int_equal(count_lines(TAKT_LOG_ERROR, "while another thread was in the profiler"), 1);
    assert_int_equal(takt_profiler_step(profiler), TAKT_OK);
    takt_profiler_destroy(profiler);
    assert_int_equal(traces.count, 3);
}

static void *stop_while_cancelled(void *profiler)
{
    pthread_cancel(pthread_self());
    takt_profiler_stop(profiler);
    pthread_testcancel();
    return NULL;
}

static void *time_while_cancelled(void *unused)
{
    pthread_cancel(pthread_self());
    {
        TAKT_TIMER("cancelled", .detailed = true); /* and here it ends */
    }
    return unused;
}

static void run_cancelled(void *(*act)(void *), void *argument)
{
    pthread_t thread;
    void *result;
    assert_int_equal(pthread_create(&thread, NULL, act, argument), 0);
    pthread_join(thread, &result);
    assert_ptr_equal(result, PTHREAD_CANCELED);
}

TEST(a_thread_is_not_cancelled_inside_takt)
{
    takt_profiler_options options = options_for(&traces, (takt_schedule){.active = 1});
    takt_profiler *profiler = started(&options);
    run(profiler, 2);
    run_cancelled(stop_while_cancelled, profiler);
    assert_int_equal(takt_profiler_start(profiler), TAKT_OK);
    takt_profiler_destroy(profiler);
    capture_stdout();
    run_cancelled(time_while_cancelled, NULL);
    bool is_free = ftrylockfile(stdout) == 0;
    if (is_free)
        funlockfile(stdout);
    assert_non_null(strstr(captured_stdout(), "cancelled took"));
    assert_true(is_free);
}

TEST_MAIN_EACH(set_up, tear_down)
