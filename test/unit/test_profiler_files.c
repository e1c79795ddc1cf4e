/* The files and tables of a cycle, and what becomes of them when they cannot be written: the
 * program goes on, and one line says what is lost. */
#include "test_profiler.h"

#include "test_export_folder.h"
#include "support/test.h"
#include "support/skip.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

static test_traces traces;
static const char *folder;

static int set_up(void **state)
{
    (void)state;
    folder = make_folder();
    takt_set_log(keep_line, NULL);
    forget_lines();
    return folder ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    takt_set_log(NULL, NULL);
    release_traces(&traces);
    remove_folder(folder);
    return 0;
}

static takt_profiler_options options_into(const char *directory, const char *const *formats,
                                          size_t count)
{
    takt_profiler_options options = options_for(&traces, (takt_schedule){.active = 2, .repeat = 1});
    options.directory = directory;
    options.traces = formats;
    options.trace_count = count;
    return options;
}

/* Two steps of `spans` scopes each, whatever becomes of the files. Returns what stop says. */
static takt_status run_to_end(const takt_profiler_options *options, int spans)
{
    volatile double sum = 0;
    takt_profiler *profiler = started(options);
    for (int i = 0; i < 2; i++) {
        for (int s = 0; s < spans; s++) {
            TAKT_SCOPE("work");
            sum += s;
        }
        assert_int_equal(takt_profiler_step(profiler), TAKT_OK);
    }
    takt_status status = takt_profiler_stop(profiler);
    takt_profiler_destroy(profiler);
    assert_true(sum == (double)spans * (spans - 1));
    return status;
}

static void run(const takt_profiler_options *options, int spans)
{
    assert_int_equal(run_to_end(options, spans), TAKT_OK);
}

/* ---- What works ------------------------------------------------------------------------------ */

TEST(every_output_is_saved_and_told)
{
    static const char *const formats[] = {"perfetto", "chrome.gz", "folded"};
    static const char *const files[] = {"test.0.pftrace", "test.0.trace.json.gz", "test.0.folded"};
    char below[1000];
    snprintf(below, sizeof below, "%s/a/test", folder);
    takt_profiler_options options = options_into(in_folder(folder, "a/{name}"), formats, 3);
    run(&options, 10);
    for (size_t i = 0; i < 3; i++) {
        char line[2000];
        snprintf(line, sizeof line, "saved %s/%s", below, files[i]);
        assert_int_equal(count_lines(TAKT_LOG_INFO, line), 1);
        assert_true(exists(below, files[i]));
    }
    assert_int_equal(count_entries(below), 3);
    takt_trace *trace;
    assert_int_equal(takt_trace_open(in_folder(below, files[0]), &trace, NULL), TAKT_OK);
    assert_int_equal(count_spans(trace, "work"), 20);
    assert_int_equal(takt_trace_facts(trace)->step_count, 2);
    takt_trace_release(trace);
}

/* "tensorboard" contains "xplane". */
TEST(xplane_is_written_once)
{
    static const char *const formats[] = {"xplane", "tensorboard"};
    takt_profiler_options options = options_into(folder, formats, 2);
    run(&options, 10);
    assert_int_equal(count_entries(folder), 2);
    assert_int_equal(count_entries(in_folder(folder, "plugins/profile")), 1);
    assert_int_equal(count_entries(in_folder(folder, "plugins/profile/test.0")), 1);
}

TEST(a_second_run_of_a_profiler_overwrites_no_file)
{
    static const char *const formats[] = {"folded"};
    takt_profiler_options options = options_into(folder, formats, 1);
    takt_profiler *profiler = started(&options);
    for (int i = 0; i < 2; i++) {
        takt_profiler_step(profiler);
        takt_profiler_step(profiler);
        takt_profiler_stop(profiler);
        if (i == 0)
            assert_int_equal(takt_profiler_start(profiler), TAKT_OK);
    }
    takt_profiler_destroy(profiler);
    assert_int_equal(count_entries(folder), 2);
    assert_true(exists(folder, "test.0.folded"));
    assert_true(exists(folder, "test.1.folded"));
}

TEST(profilers_of_the_same_second_share_no_folder)
{
    static const char *const formats[] = {"folded"};
    takt_profiler_options options = options_into(in_folder(folder, "{name}/{time}"), formats, 1);
    for (int i = 0; i < 4; i++)
        run(&options, 1);
    assert_int_equal(count_entries(in_folder(folder, "test")), 4);
}

/* ---- The line about files -------------------------------------------------------------------- */

/* Runs in `folder` with a directory below it, as programs do. */
static void run_below(takt_profiler_options *options, const char *directory)
{
    char before[4096];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(folder), 0);
    options->directory = directory;
    run(options, 10);
    assert_int_equal(chdir(before), 0);
}

TEST(each_cycle_says_what_was_written_and_how_to_open_it)
{
    static const char *const formats[] = {"folded", "perfetto"};
    char line[300], path[300];
    takt_profiler_options options = options_into(NULL, formats, 2);
    options.announce = true;
    run_below(&options, "a b/c");
    snprintf(path, sizeof path, "%s", in_folder(folder, "a b/c/test.0.pftrace"));
    struct stat facts;
    assert_int_equal(stat(path, &facts), 0);
    assert_true(facts.st_size > 0 && facts.st_size < 1024);
    snprintf(line, sizeof line,
             "wrote a b/c/test.0.pftrace (%u B) and 1 more; open it: takt view "
             "'a b/c/test.0.pftrace'",
             (unsigned)facts.st_size);
    assert_int_equal(count_lines(TAKT_LOG_INFO, line), 1);
    assert_int_equal(count_lines(-1, "wrote "), 1);
}

TEST(what_the_browser_does_not_show_gets_another_command_or_none)
{
    takt_profiler_options options = options_into(NULL, (const char *const[]){"perfetto"}, 1);
    options.announce = true;
    options.mode = TAKT_MODE_SUMMARY;
    run_below(&options, ".");
    assert_int_equal(count_lines(TAKT_LOG_INFO, "; print it: takt report test.0.pftrace"), 1);
    options.traces = (const char *const[]){"folded"};
    run_below(&options, ".");
    assert_int_equal(count_lines(TAKT_LOG_INFO, "wrote test.0.folded ("), 1);
    assert_int_equal(count_lines(TAKT_LOG_INFO, "it: takt"), 1);
}

TEST(nothing_is_said_without_files_by_other_ranks_or_unasked)
{
    takt_profiler_options options = options_into(NULL, (const char *const[]){"folded"}, 1);
    run_below(&options, ".");
    options.announce = true;
    options.rank = 1;
    options.world_size = 2;
    run_below(&options, ".");
    options = options_into(NULL, NULL, 0);
    options.announce = true;
    run_below(&options, ".");
    assert_int_equal(count_lines(-1, "wrote "), 0);
}

/* ---- Reports --------------------------------------------------------------------------------- */

/* What a file of the folder has; static storage. */
static const char *text_in(const char *name)
{
    static char text[64 * 1024];
    FILE *file = fopen(in_folder(folder, name), "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *at = strstr(text, part); at; at = strstr(at + 1, part))
        count++;
    return count;
}

TEST(reports_go_into_one_file_that_nobody_had)
{
    takt_profiler_options options = options_into(folder, NULL, 0);
    options.schedule = (takt_schedule){.active = 1, .repeat = 2};
    options.reports = (const char *const[]){"scopes", "tree"};
    options.report_count = 2;
    options.report_file = "below/a.b/r.txt";
    options.rank = 3;
    options.world_size = 4;
    capture_stdout();
    run(&options, 10);
    run(&options, 10);
    assert_string_equal(captured_stdout(), "");
    for (int i = 0; i < 2; i++) {
        const char *text = text_in(i ? "below/a.b/r.rank3-2.txt" : "below/a.b/r.rank3.txt");
        assert_int_equal(count_of(text, "CPU time avg"), 2);
        assert_int_equal(count_of(text, "Scope  "), 2);
        assert_int_equal(count_of(text, "backend none; "), 2); /* once a cycle */
        assert_null(strstr(text, "\033"));
    }
}

TEST(reports_have_options)
{
    takt_profiler_options options = options_into(folder, NULL, 0);
    options.reports = (const char *const[]){"scopes width=60", "tree rows=1 sort=calls",
                                            "scopes sort=cuda_total_ns"};
    options.report_count = 3;
    options.width = 200;
    capture_stdout();
    assert_int_equal(run_to_end(&options, 10), TAKT_OK);
    const char *text = captured_stdout();
    size_t narrow = strcspn(text, "\n"), wide = strcspn(strstr(text, "\n\n") + 2, "\n");
    assert_true(narrow <= 60 && wide > 60);
    assert_int_equal(count_of(text, "CPU time avg"),
                     2); /* the last without devices, in its own order */
}

TEST(wrong_options_of_reports_are_refused)
{
    takt_profiler_options options = options_into(folder, NULL, 0);
    takt_profiler *profiler = NULL;
    static const char *const wrong[][2] = {
        {"scopes rows=0",
         "profiler: report scopes: rows: expected a number of rows from 1, or all, got '0'"},
        {"scopes sort=grid",
         "profiler: report scopes: sort: expected one of its columns, named as in the "
         "table or in JSON, got 'grid'"},
        {"kernels by_stack=3", "profiler: report kernels: by_stack is an option of scopes only"}};
    options.report_count = 1;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        options.reports = &wrong[i][0];
        assert_int_equal(takt_profiler_create(&options, &profiler), TAKT_BAD_ARGUMENT);
        assert_int_equal(count_lines(TAKT_LOG_ERROR, wrong[i][1]), 1);
    }
}

TEST(reports_go_to_standard_error)
{
    takt_profiler_options options = options_into(folder, NULL, 0);
    options.reports = (const char *const[]){"scopes"};
    options.report_count = 1;
    options.report_file = "stderr";
    fflush(stderr);
    int real = dup(STDERR_FILENO);
    FILE *file = fopen(in_folder(folder, "errors"), "w");
    assert_non_null(file);
    dup2(fileno(file), STDERR_FILENO);
    capture_stdout();
    run(&options, 10);
    dup2(real, STDERR_FILENO);
    close(real);
    fclose(file);
    assert_string_equal(captured_stdout(), "");
    assert_int_equal(count_of(text_in("errors"), "CPU time avg"), 1);
}

TEST(a_file_of_reports_that_cannot_be_created_is_told_once)
{
    takt_profiler_options options = options_into("/proc/takt", NULL, 0);
    options.schedule = (takt_schedule){.active = 1, .repeat = 2};
    options.reports = (const char *const[]){"scopes"};
    options.report_count = 1;
    options.report_file = "r.txt";
    assert_int_equal(run_to_end(&options, 5), TAKT_IO_ERROR);
    assert_int_equal(count_lines(TAKT_LOG_ERROR, "output.reports: "), 1);
    assert_int_equal(traces.count, 2);
}

static takt_status stop_with_reports_in(const char *place, int cycles)
{
    takt_profiler_options options = options_into(folder, NULL, 0);
    options.schedule = (takt_schedule){.active = 2, .repeat = (uint32_t)cycles};
    options.reports = (const char *const[]){"scopes"};
    options.report_count = 1;
    options.report_file = place;
    forget_lines();
    return run_to_end(&options, 5);
}

/* A device is written as it is: it gets neither a number nor a rank. */
TEST(reports_go_to_a_device)
{
    assert_int_equal(stop_with_reports_in("/dev/null", 1), TAKT_OK);
    assert_int_equal(stop_with_reports_in("/dev/full", 1), TAKT_IO_ERROR);
    assert_int_equal(count_lines(TAKT_LOG_WARNING, "cycle 0: no report 'scopes': cannot write "
                                                   "/dev/full: No space left on device"),
                     1);
    assert_false(exists("/dev", "null-2") || exists("/dev", "full-2"));
}

TEST(a_folder_is_no_file_of_reports)
{
    static const char *const places[] = {".", "tables/", "/"};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(stop_with_reports_in(places[i], 1), TAKT_IO_ERROR);
        assert_int_equal(count_lines(TAKT_LOG_ERROR, " is a folder: name a file in it"), 1);
    }
}

static void remove_reports(const takt_trace *trace, void *user)
{
    (void)user;
    if (takt_trace_facts(trace)->cycle == 1)
        assert_int_equal(remove(in_folder(folder, "r.txt")), 0);
}

TEST(a_file_of_reports_that_was_removed_is_made_again)
{
    takt_profiler_options options = options_into(folder, NULL, 0);
    options.schedule = (takt_schedule){.active = 1, .repeat = 2};
    options.reports = (const char *const[]){"scopes"};
    options.report_count = 1;
    options.report_file = "r.txt";
    options.on_trace = remove_reports;
    options.background = TAKT_OFF;
    run(&options, 10);
    assert_int_equal(count_of(text_in("r.txt"), "CPU time avg"), 1);
}

static void print_before(const takt_trace *trace, void *user)
{
    (void)user;
    printf("cycle %u\n", takt_trace_facts(trace)->cycle);
}

TEST(reports_are_printed_behind_on_trace)
{
    takt_profiler_options options = options_into(folder, NULL, 0);
    options.reports = (const char *const[]){"scopes", "activities"};
    options.report_count = 2;
    options.on_trace = print_before;
    capture_stdout();
    run(&options, 10);
    const char *text = captured_stdout();
    assert_memory_equal(text, "cycle 0\n", 8);
    const char *scopes = strstr(text, "# of Calls"), *activities = strstr(text, "No activity");
    assert_non_null(scopes);
    if (activities)
        assert_true(scopes < activities);
    assert_int_equal(count_entries(folder), 0);
}

/* A report that needs spans, of a summary. */
TEST(a_report_that_cannot_be_made_is_told)
{
    takt_profiler_options options = options_into(folder, (const char *const[]){"chrome"}, 1);
    options.mode = TAKT_MODE_SUMMARY;
    options.reports = (const char *const[]){"timeline"};
    options.report_count = 1;
    capture_stdout();
    assert_int_equal(run_to_end(&options, 10), TAKT_NO_SPANS);
    captured_stdout();
    assert_int_equal(count_lines(TAKT_LOG_WARNING, "cycle 0: no report 'timeline'"), 1);
    assert_int_equal(count_lines(TAKT_LOG_ERROR, "cycle 0: no chrome trace"), 1);
    assert_int_equal(traces.count, 1);
}

/* ---- What does not --------------------------------------------------------------------------- */

/* One error for each of two outputs; the trace itself is delivered. */
static void check_lost(const char *directory, const char *why, int spans)
{
    static const char *const formats[] = {"perfetto", "chrome"};
    for (int foreground = 0; foreground < 2; foreground++) {
        takt_profiler_options options = options_into(directory, formats, 2);
        options.background = foreground ? TAKT_OFF : TAKT_ON;
        forget_lines();
        assert_int_equal(run_to_end(&options, spans), TAKT_IO_ERROR);
        assert_int_equal(count_lines(TAKT_LOG_ERROR, ""), 2);
        assert_int_equal(count_lines(TAKT_LOG_ERROR, "cycle 0: no perfetto trace: "), 1);
        assert_int_equal(count_lines(TAKT_LOG_ERROR, "cycle 0: no chrome trace: "), 1);
        assert_int_equal(count_lines(TAKT_LOG_ERROR, why), 2);
        assert_int_equal(count_lines(TAKT_LOG_INFO, "saved"), 0);
        assert_int_equal(traces.count, 1);
        assert_int_equal(count_spans(traces.items[0], "work"), 2 * (size_t)spans);
        release_traces(&traces);
    }
}

TEST(a_file_in_the_place_of_the_directory_loses_the_files_only)
{
    FILE *file = fopen(in_folder(folder, "file"), "w");
    assert_non_null(file);
    fclose(file);
    check_lost(in_folder(folder, "file"), "cannot create folder", 5);
    check_lost(in_folder(folder, "file/below"), "cannot create folder", 5);
}

/* /proc lets nobody create anything, root included. */
TEST(an_unwritable_directory_loses_the_files_only)
{
    check_lost("/proc/takt", "/proc/takt", 5);
    if (geteuid() != 0) {
        assert_int_equal(chmod(folder, 0500), 0);
        check_lost(folder, "Permission denied", 5);
        assert_int_equal(chmod(folder, 0700), 0);
    }
}

TEST(a_stream_that_cannot_be_written_loses_itself_only)
{
    takt_profiler_options options = options_into("/proc/takt", NULL, 0);
    options.stream = true;
    assert_int_equal(run_to_end(&options, 5), TAKT_IO_ERROR);
    assert_true(count_lines(TAKT_LOG_ERROR, "") + count_lines(TAKT_LOG_WARNING, "") > 0);
    assert_int_equal(traces.count, 1);
    assert_int_equal(count_spans(traces.items[0], "work"), 10);
}

/* Makes the folder a file system of 64 KiB, in a mount namespace of this process: a test that is
 * killed leaves nothing mounted. */
static bool mount_small_disk(void)
{
    return unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("takt", folder, "tmpfs", 0, "size=64k") == 0;
}

TEST(a_full_disk_loses_the_files_and_leaves_no_halves)
{
    if (!mount_small_disk())
        SKIP_CASE("mounting a small file system is not allowed here");
    check_lost(folder, "No space left on device", 100000);
    size_t left = count_entries(folder);
    umount(folder);
    assert_int_equal(left, 0);
}

/* The line says why the crash-safe file cannot be made in this directory, and what helps. */
static void check_crash_safe(const char *directory, const char *line)
{
    takt_profiler *profiler;
    takt_profiler_options options = options_into(directory, NULL, 0);
    options.crash_safe = true;
    forget_lines();
    assert_int_equal(takt_profiler_create(&options, &profiler), TAKT_OK);
    assert_int_equal(takt_profiler_start(profiler), TAKT_IO_ERROR);
    takt_profiler_destroy(profiler);
    assert_int_equal(count_lines(TAKT_LOG_ERROR, line), 1);
}

TEST(a_crash_safe_file_that_cannot_be_made_says_what_helps)
{
    check_crash_safe("/proc/takt", "; set output.directory to a folder where it can be");
    if (!mount_small_disk())
        SKIP_CASE("mounting a small file system is not allowed here");
    check_crash_safe(folder, ": No space left on device; set output.directory to a disk with room, "
                             "or lower profiling.max_memory");
    size_t left = count_entries(folder);
    umount(folder);
    assert_int_equal(left, 0);
}

/* ---- A disk that is too slow ----------------------------------------------------------------- */

static pthread_mutex_t disk = TKT_MUTEX_INIT; /* held while no file can be saved */

static void wait_for_disk(takt_log_level level, const char *line, void *user)
{
    if (level == TAKT_LOG_ERROR)
        keep_line(level, line, user);
    if (strncmp(line, "saved ", 6) == 0) {
        pthread_mutex_lock(&disk);
        pthread_mutex_unlock(&disk);
    }
}

static void count_trace(const takt_trace *trace, void *count)
{
    (void)trace;
    ++*(uint32_t *)count;
}

/* Cycles that wait are bounded; those that follow are missed, which is said once. */
TEST(cycles_that_come_faster_than_they_are_saved_are_missed)
{
    static const char *const formats[] = {"folded"};
    takt_profiler_options options = options_into(folder, formats, 1);
    uint32_t count = 0;
    options.schedule = (takt_schedule){.active = 1, .repeat = 300};
    options.on_trace = count_trace;
    options.user = &count;
    takt_set_log(wait_for_disk, NULL);
    pthread_mutex_lock(&disk);
    takt_profiler *profiler = started(&options);
    for (int i = 0; i < 300; i++)
        takt_profiler_step(profiler);
    pthread_mutex_unlock(&disk);
    assert_int_equal(takt_profiler_stop(profiler), TAKT_NO_MEMORY);
    takt_profiler_destroy(profiler);
    assert_int_equal(count, 64);
    assert_int_equal(count_lines(TAKT_LOG_ERROR, "is not recorded"), 1);
    assert_int_equal(count_lines(TAKT_LOG_ERROR, "cycle 64 is not recorded: too many earlier ones "
                                                 "wait to be saved"),
                     1);
}

TEST_MAIN_EACH(set_up, tear_down)
