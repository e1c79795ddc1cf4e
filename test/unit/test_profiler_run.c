/* The steps of the whole run, in the trace of each cycle and in its file. */
#include "test_profiler_folder.h"
#include "profiler/blocks.h"
#include "profiler/stream.h"
#include "profiler/transitions.h"
#include "support/memory_sink.h"
#include "trace/model.h"

#include <takt/export.h>
#include <takt/report.h>

#include <sys/stat.h>

/* Step 417 is slow, and so is every hundredth a little. */
static uint64_t duration_of(uint64_t step)
{
    return step == 417 ? 88000000 : step % 100 == 99 ? 20000000 + step : 16000000;
}

static void make_steps(takt_profiler *profiler, uint64_t from, uint64_t count)
{
    for (uint64_t i = from; i < from + count; i++) {
        pass_ns(duration_of(i));
        assert_int_equal(takt_profiler_step(profiler), TAKT_OK);
    }
}

static void assert_run(const takt_trace *trace, uint64_t count)
{
    const tkt_run_steps *run = trace->run;
    uint64_t size = 1, total_ns = 0;
    assert_non_null(run);
    while (count > 4096 * size)
        size *= 2;
    assert_int_equal(run->step_count, count);
    assert_int_equal(trace->all_steps.stats.count, count);
    for (size_t i = 0; i < tkt_run_part_count(run); i++) {
        tkt_run_part part = tkt_run_part_at(run, i);
        uint64_t sum_ns = 0;
        for (uint64_t k = i * size; k < (i + 1) * size && k < count; k++)
            sum_ns += duration_of(k);
        assert_int_equal(part.first, i * size);
        assert_int_equal(part.total_ns, sum_ns);
        total_ns += sum_ns;
    }
    assert_int_equal(total_ns, trace->all_steps.stats.total_ns);
}

static void assert_window(const takt_trace *trace, size_t index, uint64_t first, uint64_t last)
{
    const tkt_run_window *window = &trace->run->windows[index];
    assert_true(index < trace->run->window_count);
    assert_int_equal(window->first, first);
    assert_int_equal(window->last, last);
    assert_int_equal(window->recorded, last - first + 1);
}

/* The caller frees it. */
static char *steps_report(const takt_trace *trace)
{
    memory_sink text = {0};
    takt_sink sink = memory_sink_of(&text);
    assert_int_equal(takt_report(trace, "steps", NULL, &sink), TAKT_OK);
    assert_int_equal(sink.write(sink.user, "", 1), TAKT_OK);
    return text.data;
}

static const takt_schedule few = {.wait = 400, .warmup = 5, .active = 15, .repeat = 2};

/* Waiting, warming up, recorded, between cycles and after the last one. */
TEST(each_cycle_has_all_steps_so_far_and_the_windows)
{
    takt_profiler_options options = options_for(&traces, few);
    takt_profiler *profiler = started(&options);
    make_steps(profiler, 0, 1000);
    takt_profiler_stop(profiler);
    assert_int_equal(traces.count, 2);
    const takt_trace *first = traces.items[0], *second = traces.items[1];
    assert_run(first, 420);
    assert_run(second, 840);
    assert_int_equal(first->run->window_count, 1);
    assert_int_equal(second->run->window_count, 2);
    assert_window(first, 0, 405, 419);
    assert_window(second, 0, 405, 419);
    assert_window(second, 1, 825, 839);
    assert_int_equal(second->run->slowest[0].number, 417);
    assert_int_equal(second->run->slowest[0].duration_ns, 88000000);
    assert_int_equal(second->run->slowest[1].number, 799);
    takt_profiler_destroy(profiler);
}

TEST(a_cycle_that_stop_cuts_off_has_its_window)
{
    takt_profiler_options options = options_for(&traces, few);
    takt_profiler *profiler = started(&options);
    make_steps(profiler, 0, 410);
    takt_profiler_stop(profiler);
    assert_int_equal(traces.count, 1);
    assert_run(traces.items[0], 410);
    assert_window(traces.items[0], 0, 405, 409);
    takt_profiler_destroy(profiler);
}

TEST(a_profiler_that_is_never_stepped_has_an_empty_run)
{
    takt_profiler_options options = options_for(&traces, (takt_schedule){.active = 3});
    takt_profiler *profiler = started(&options);
    takt_profiler_stop(profiler);
    assert_int_equal(traces.count, 1);
    assert_run(traces.items[0], 0);
    assert_int_equal(traces.items[0]->run->window_count, 0);
    char *text = steps_report(traces.items[0]);
    assert_memory_equal(text, "No steps\n", 9);
    tkt_free(text);
    takt_profiler_destroy(profiler);
}

TEST(a_second_start_begins_a_new_run)
{
    takt_profiler_options options = options_for(&traces, few);
    takt_profiler *profiler = started(&options);
    make_steps(profiler, 0, 500);
    takt_profiler_stop(profiler);
    assert_int_equal(takt_profiler_start(profiler), TAKT_OK);
    make_steps(profiler, 0, 420);
    takt_profiler_stop(profiler);
    assert_int_equal(traces.count, 2);
    assert_run(traces.items[1], 420);
    assert_int_equal(traces.items[1]->run->window_count, 1);
    takt_profiler_destroy(profiler);
}

TEST(each_profiler_counts_its_own_steps)
{
    takt_profiler_options options =
        options_for(&traces, (takt_schedule){.active = 30, .repeat = 1});
    takt_profiler *one = started(&options), *other = started(&options);
    for (uint64_t i = 0; i < 30; i++) {
        pass_ns(duration_of(i));
        assert_int_equal(takt_profiler_step(one), TAKT_OK);
    }
    takt_profiler_stop(one);
    takt_profiler_stop(other);
    assert_int_equal(traces.count, 2);
    assert_run(traces.items[0], 30);
    assert_int_equal(traces.items[1]->run->step_count, 0);
    takt_profiler_destroy(one);
    takt_profiler_destroy(other);
}

TEST(a_long_run_is_thinned_out)
{
    takt_profiler_options options =
        options_for(&traces, (takt_schedule){.wait = 299990, .active = 10, .repeat = 1});
    takt_profiler *profiler = started(&options);
    make_steps(profiler, 0, 300000);
    takt_profiler_stop(profiler);
    assert_int_equal(traces.count, 1);
    assert_run(traces.items[0], 300000);
    assert_int_equal(traces.items[0]->run->shift, 7);
    assert_window(traces.items[0], 0, 299990, 299999);
    assert_int_equal(traces.items[0]->run->slowest[0].number, 417);
    takt_profiler_destroy(profiler);
}

/* The thread that seals gets the run as a whole, and then the steps that are new. */
TEST(a_run_goes_on_after_a_long_cycle)
{
    takt_profiler_options options = options_for(&traces, (takt_schedule){.active = 5000});
    takt_profiler *profiler = started(&options);
    make_steps(profiler, 0, 4000);
    size_t most = profiler->new_steps.durations.bytes;
    make_steps(profiler, 4000, 1100);
    assert_int_equal(most, 4000 * sizeof(uint64_t));
    assert_int_equal(profiler->new_steps.durations.bytes, 100 * sizeof(uint64_t));
    takt_profiler_stop(profiler);
    assert_int_equal(traces.count, 2);
    assert_run(traces.items[0], 5000);
    assert_run(traces.items[1], 5100);
    assert_window(traces.items[0], 0, 0, 4999);
    assert_window(traces.items[1], 1, 5000, 5099);
    takt_profiler_destroy(profiler);
}

TEST(new_steps_take_little_memory_however_long_no_cycle_ends)
{
    takt_profiler_options options =
        options_for(&traces, (takt_schedule){.wait = 1000000, .active = 1});
    takt_profiler *profiler = started(&options);
    make_steps(profiler, 0, 4096);
    assert_int_equal(profiler->new_steps.durations.bytes, 4096 * sizeof(uint64_t));
    make_steps(profiler, 4096, 1);
    assert_int_equal(profiler->new_steps.durations.bytes, 0);
    takt_profiler_stop(profiler);
    takt_profiler_destroy(profiler);
}

/* ---- Files ----------------------------------------------------------------------------------- */

/* Opens the only file of the folder whose name ends so; NULL if it is not there, or has no head
 * yet: a kernel shows what is written page by page. */
static takt_trace *open_file(const char *ending)
{
    char path[1024] = "";
    takt_error error;
    takt_trace *trace;
    DIR *files = opendir(folder);
    assert_non_null(files);
    for (struct dirent *file; (file = readdir(files)) != NULL;) {
        size_t size = strlen(file->d_name), most = strlen(ending);
        if (size > most && strcmp(file->d_name + size - most, ending) == 0) {
            assert_string_equal(path, "");
            snprintf(path, sizeof path, "%s/%.255s", folder, file->d_name);
        }
    }
    closedir(files);
    if (tkt_file_bytes(path) == 0)
        return NULL;
    if (takt_trace_open(path, &trace, &error) == TAKT_OK)
        return trace;
    if (!strstr(error.message, "before the end of its head"))
        fail_msg("%s", error.message);
    return NULL;
}

static takt_profiler_options into_folder(takt_schedule schedule)
{
    static const char *const formats[] = {"perfetto"};
    takt_profiler_options options = options_for(&traces, schedule);
    options.directory = folder;
    options.traces = formats;
    options.trace_count = 1;
    return options;
}

TEST(the_file_has_the_run)
{
    takt_profiler_options options =
        into_folder((takt_schedule){.wait = 400, .active = 20, .repeat = 1});
    takt_profiler *profiler = started(&options);
    make_steps(profiler, 0, 420);
    takt_profiler_stop(profiler);
    takt_profiler_destroy(profiler);
    takt_trace *trace = open_file(".pftrace");
    assert_non_null(trace);
    assert_run(trace, 420);
    assert_window(trace, 0, 400, 419);
    char *text = steps_report(trace);
    /* 415 of 16 ms, four of 20 ms and 1 us, one of 88 ms */
    assert_memory_equal(text, "420 steps, 6.808s, median ", 26);
    assert_non_null(strstr(text, "ms, slowest 417 (88.000ms)\n"));
    tkt_free(text);
    takt_trace_release(trace);
}

/* The recorded steps, in the facts and one by one. */
static void assert_steps(const takt_trace *trace, uint64_t first, uint64_t count)
{
    assert_int_equal(trace->facts.first_step, first);
    assert_int_equal(trace->facts.step_count, count);
    assert_int_equal(trace->steps.count, count);
    for (size_t i = 0; i < count; i++) {
        const tkt_step *step = &trace->steps.items[i];
        assert_int_equal(step->number, first + i);
        assert_int_equal(step->end_ns - step->begin_ns, duration_of(first + i));
        assert_true(step->end_ns <= trace->facts.end_ns);
    }
}

/* What a program leaves that is killed while it records: the run before, and the steps since. */
static void assert_partial_run(takt_mode mode)
{
    takt_profiler_options options =
        into_folder((takt_schedule){.wait = 400, .active = 100, .repeat = 1});
    tkt_stream_pause_ms = 5;
    options.stream = true;
    options.mode = mode;
    takt_profiler *profiler = started(&options);
    make_steps(profiler, 0, 430);
    takt_trace *trace = NULL;
    for (bool is_whole = false; !is_whole;) { /* the stream writes in the background */
        takt_trace_release(trace);
        tkt_thread_pause_ms(10);
        trace = open_file(".partial.pftrace");
        is_whole = trace && trace->all_steps.stats.count == 430;
    }
    assert_run(trace, 430);
    assert_steps(trace, 400, 30);
    assert_int_equal(trace->run->window_count, 1);
    assert_window(trace, 0, 400, 429);
    assert_int_equal(trace->run->slowest[0].number, 417);
    takt_trace_release(trace);
    takt_profiler_stop(profiler);
    takt_profiler_destroy(profiler);
}

TEST(a_stream_continues_the_run_with_its_steps)
{
    assert_partial_run(TAKT_MODE_TRACE);
}

TEST(a_streamed_summary_has_the_run)
{
    assert_partial_run(TAKT_MODE_SUMMARY);
}

/* Each file that the stream leaves in passing agrees with itself: its steps, its run and its scopes
 * are those of one moment. */
static void assert_moments(takt_mode mode)
{
    takt_profiler_options options = into_folder((takt_schedule){.wait = 5, .active = 10000000});
    options.stream = true;
    options.mode = mode;
    takt_profiler *profiler = started(&options);
    uint64_t step = 0, seen = 0;
    for (int moments = 0; moments < 4; step += 10) {
        for (uint64_t i = step; i < step + 10; i++) {
            TAKT_SCOPE("work");
            pass_ns(duration_of(i));
            assert_int_equal(takt_profiler_step(profiler), TAKT_OK);
        }
        takt_trace *trace = open_file(".partial.pftrace");
        if (trace && trace->facts.step_count > seen) {
            seen = trace->facts.step_count;
            assert_steps(trace, 5, seen);
            assert_run(trace, 5 + seen);
            moments++;
        }
        takt_trace_release(trace);
        tkt_thread_pause_ms(1);
    }
    takt_profiler_stop(profiler);
    takt_profiler_destroy(profiler);
}

TEST(a_stream_agrees_with_itself_at_any_moment)
{
    assert_moments(TAKT_MODE_TRACE);
}

TEST(a_streamed_summary_agrees_with_itself_at_any_moment)
{
    assert_moments(TAKT_MODE_SUMMARY);
}

/* The steps that the file has up to `size` bytes; all of it must agree. */
static uint64_t assert_cut(const char *path, size_t size)
{
    takt_trace *trace;
    assert_int_equal(truncate(path, (off_t)size), 0);
    assert_int_equal(takt_trace_open(path, &trace, NULL), TAKT_OK);
    uint64_t count = trace->steps.count;
    if (trace->run) {
        assert_steps(trace, 5, count);
        assert_run(trace, 5 + count);
    }
    takt_trace_release(trace);
    return count;
}

TEST(a_stream_agrees_with_itself_wherever_it_is_cut)
{
    takt_profiler_options options = into_folder((takt_schedule){.wait = 5, .active = 10000000});
    options.stream = true;
    options.compress = TAKT_OFF;
    takt_profiler *profiler = started(&options);
    make_steps(profiler, 0, 2005);
    const char *path = in_folder(folder, "test.0.partial.pftrace");
    uint64_t seen = 0;
    while (seen < 2000) {
        tkt_thread_pause_ms(10);
        takt_trace *trace = open_file(".partial.pftrace");
        seen = trace ? trace->steps.count : 0;
        takt_trace_release(trace);
    }
    rename(path, in_folder(folder, "cut"));
    for (size_t size = tkt_file_bytes(in_folder(folder, "cut")); size > 1009; size -= 1009) {
        uint64_t count = assert_cut(in_folder(folder, "cut"), size);
        assert_true(count <= seen);
        seen = count;
    }
    assert_true(seen < 100);
    takt_profiler_stop(profiler);
    takt_profiler_destroy(profiler);
}

TEST(simulated_time_that_is_declared_late_is_streamed)
{
    for (int mode = TAKT_MODE_TRACE; mode <= TAKT_MODE_SUMMARY; mode++) {
        takt_profiler_options options = into_folder((takt_schedule){.active = 100, .repeat = 1});
        options.stream = true;
        options.mode = (takt_mode)mode;
        takt_profiler *profiler = started(&options);
        assert_int_equal(takt_profiler_step_time(profiler, 0.25), TAKT_OK);
        make_steps(profiler, 0, 3);
        for (bool is_there = false; !is_there;) {
            tkt_thread_pause_ms(10);
            takt_trace *trace = open_file(".partial.pftrace");
            is_there = trace && trace->all_steps.stats.count == 3;
            if (is_there)
                assert_true(trace->all_steps.simulated_seconds == 0.25);
            takt_trace_release(trace);
        }
        takt_profiler_destroy(profiler);
    }
}

/* ---- More steps than are kept one by one ----------------------------------------------------- */

/* Returns the trace of the file; traces.items[0] is the other. The caller releases it. */
static takt_trace *record_steps(takt_mode mode, takt_schedule schedule, uint64_t count)
{
    takt_profiler_options options = into_folder(schedule);
    options.mode = mode;
    takt_profiler *profiler = started(&options);
    make_steps(profiler, 0, count);
    takt_profiler_stop(profiler);
    takt_profiler_destroy(profiler);
    takt_trace *back = open_file(".pftrace");
    assert_non_null(back);
    return back;
}

TEST(more_steps_than_are_kept_are_counted)
{
    const uint64_t count = TKT_MOST_STEPS + 10;
    takt_trace *back = record_steps(TAKT_MODE_SUMMARY, (takt_schedule){.active = 10000000}, count);
    const takt_trace *both[] = {traces.items[0], back};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(both[i]->steps.count, TKT_MOST_STEPS);
        assert_int_equal(both[i]->facts.step_count, count);
        assert_int_equal(both[i]->all_steps.stats.count, count);
        assert_int_equal(both[i]->losses[TAKT_LOSS_MORE_STEPS], 10);
        assert_int_equal(both[i]->losses[TAKT_LOSS_NO_MEMORY], 0);
    }
    char *text = steps_report(back);
    assert_non_null(strstr(text, "Recorded steps are 0 to 1048575, of 1048586."));
    tkt_free(text);
    takt_trace_release(back);
}

TEST(a_flight_recorder_keeps_the_latest_steps)
{
    const uint64_t count = TKT_MOST_STEPS + 10, first = TKT_BLOCK_BYTES / sizeof(tkt_step);
    takt_trace *back = record_steps(TAKT_MODE_FLIGHT, (takt_schedule){0}, count);
    const takt_trace *both[] = {traces.items[0], back};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(both[i]->steps.count, count - first);
        assert_int_equal(both[i]->steps.items[0].number, first);
        assert_int_equal(both[i]->steps.items[count - first - 1].number, count - 1);
        assert_int_equal(both[i]->facts.first_step, 0);
        assert_int_equal(both[i]->losses[TAKT_LOSS_MORE_STEPS], first);
        assert_int_equal(both[i]->facts.step_count, count);
    }
    char *text = steps_report(back);
    assert_non_null(strstr(text, "Recorded steps are 338 to 1048585, of 1048586."));
    tkt_free(text);
    takt_trace_release(back);
}

TEST_MAIN_EACH(set_up, tear_down)
