/* The profiler's options: old and new structs, what is refused and copied, and where files go. */
#include "profiler/options.h"

#include "test_profiler.h"

#include "test_export_folder.h"
#include "support/test.h"

#include <math.h>

static int set_up(void **state)
{
    (void)state;
    takt_set_log(keep_line, NULL);
    forget_lines();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    takt_set_log(NULL, NULL);
    return 0;
}

/* Nothing is made, nothing runs, and one line says why. */
static void check_refused(const takt_profiler_options *options, const char *why)
{
    takt_profiler *profiler = NULL;
    forget_lines();
    assert_int_equal(takt_profiler_create(options, &profiler), TAKT_BAD_ARGUMENT);
    assert_null(profiler);
    assert_int_equal(test_line_count, 1);
    assert_int_equal(test_lines[0].level, TAKT_LOG_ERROR);
    assert_string_equal(test_lines[0].text, why);
    assert_false(takt_is_on(~UINT64_C(0)));
}

/* ---- Structs of other versions --------------------------------------------------------------- */

TEST(the_initialisers_agree)
{
    takt_profiler_options made;
    memset(&made, 0xEE, sizeof made);
    takt_options_init(&made, sizeof made);
    takt_profiler_options written = TAKT_PROFILER_OPTIONS_INIT;
    assert_memory_equal(&made, &written, sizeof made);
    assert_int_equal(made.struct_size, sizeof made);
}

TEST(an_older_struct_gets_defaults_for_what_it_lacks)
{
    takt_profiler_options options;
    memset(&options, 0xAB, sizeof options); /* behind its end is somebody else's memory */
    memset(&options, 0, offsetof(takt_profiler_options, mode));
    options.struct_size = offsetof(takt_profiler_options, mode);
    options.schedule.active = 3;
    tkt_saved_options saved;
    assert_int_equal(tkt_options_save(&saved, &options), TAKT_OK);
    assert_int_equal(saved.given.schedule.active, 3);
    assert_int_equal(saved.given.mode, TAKT_MODE_TRACE);
    assert_null(saved.given.on_trace);
    assert_int_equal(saved.given.max_memory_bytes, 256 << 20);
    assert_int_equal(saved.given.max_trace_bytes, 256 << 20);
    assert_int_equal(saved.given.level, TAKT_LEVEL_NORMAL);
    assert_int_equal(saved.given.filter, TAKT_TIMING_ALL);
    assert_string_equal(saved.given.name, "test_profiler_options");
    assert_string_equal(saved.directory, ".");
    tkt_options_fini(&saved);
}

/* A later version's struct. */
typedef struct newer_options {
    takt_profiler_options known;
    uint64_t unknown[2];
} newer_options;

TEST(a_newer_struct_is_taken_while_what_is_unknown_is_zero)
{
    newer_options options = {.known.struct_size = sizeof options, .known.schedule.active = 1};
    takt_profiler *profiler;
    assert_int_equal(takt_profiler_create(&options.known, &profiler), TAKT_OK);
    takt_profiler_destroy(profiler);
    options.unknown[1] = 1;
    check_refused(
        &options.known,
        "options from newer headers (TAKT_PROFILER_OPTIONS_INIT) set a field that libtakt "
        "0.1.0 does not have: leave the field out, or update libtakt");
}

TEST(a_struct_that_was_never_initialised_is_refused)
{
    takt_profiler_options options;
    memset(&options, 0xCC, sizeof options);
    check_refused(&options, "invalid options: struct_size is 14757395258967641292; initialise the "
                            "struct with TAKT_PROFILER_OPTIONS_INIT");
    options = (takt_profiler_options){.level = 1};
    check_refused(&options, "invalid options: struct_size is 0; initialise the struct with "
                            "TAKT_PROFILER_OPTIONS_INIT");
}

/* ---- What is not valid ----------------------------------------------------------------------- */

TEST(missing_pointers_are_refused)
{
    takt_profiler *profiler = NULL;
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    assert_int_equal(takt_profiler_create(NULL, &profiler), TAKT_BAD_ARGUMENT);
    assert_int_equal(takt_profiler_create(&options, NULL), TAKT_BAD_ARGUMENT);
    assert_null(profiler);
}

#define REPORTS                                                                                    \
    "; use one of summary, scopes, tree, threads, timeline, activities, devices, steps, tasks, "    \
    "counters, memory, kernels, phases, ops, api, launches, gaps, compile"
#define TRACES                                                                                     \
    "; use perfetto, chrome, folded, folded-device, stacks, stacks-device, speedscope, xplane, " \
    "all but xplane also with .gz, or tensorboard"

TEST(unknown_names_and_numbers_are_refused)
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    options.mode = (takt_mode)4;
    check_refused(&options, "profiler: invalid mode 4");
    options.mode = TAKT_MODE_TRACE;
    options.schedule.repeat_mode = (takt_repeat_mode)2;
    check_refused(&options, "profiler: invalid repeat_mode 2");
    options.schedule.repeat_mode = TAKT_REPEAT_CYCLES;
    options.level = 5;
    check_refused(&options, "profiler: invalid level 5");
    options.level = 0;
    options.max_memory_bytes = 65535;
    check_refused(&options, "profiler: invalid max_memory_bytes (64 KiB or more) 65535");
    options.max_memory_bytes = 0;
    options.host_peak_bandwidth = -1;
    check_refused(&options, "profiler: a peak rate is negative or not a number");
    options.host_peak_bandwidth = 0;
    options.peak_flops = NAN;
    check_refused(&options, "profiler: a peak rate is negative or not a number");
    options.peak_flops = 0;
    options.rank = options.world_size = 2;
    check_refused(&options, "profiler: invalid rank 2");
    options.world_size = 0;
    options.builtin = (const char *const[]){"gemm(", "sort"};
    options.builtin_count = 1;
    check_refused(&options, "profiler: invalid regular expression 'gemm('");
    options.builtin_count = 0;
    options.reports = (const char *const[]){"summary", "no such"};
    options.report_count = 2;
    check_refused(&options, "profiler: unknown report 'no such'" REPORTS);
    char many[300];
    snprintf(many, sizeof many, "kernels %*s", 280, "rows=20");
    options.reports = (const char *const[]){"summary", many};
    check_refused(&options,
                  "profiler: report 'kernels                                 ...' has more than "
                  "255 bytes");
    options.report_count = 1;
    options.traces = (const char *const[]){"perfetto", "chrome.gz", "chrome.zip"};
    options.trace_count = 3;
    check_refused(&options, "profiler: traces: unknown format \"chrome.zip\"" TRACES);
}

TEST(null_where_a_name_belongs_is_refused)
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    const char *const none[] = {NULL};
    options.reports = none;
    options.report_count = 1;
    check_refused(&options, "profiler: unknown report '(null)'" REPORTS);
    options.reports = NULL;
    check_refused(&options, "profiler: unknown report '(null)'" REPORTS);
    options.report_count = 0;
    options.traces = none;
    options.trace_count = 1;
    check_refused(&options, "profiler: traces: unknown format \"(null)\"" TRACES);
    options.traces = NULL;
    check_refused(&options, "profiler: traces: unknown format \"(null)\"" TRACES);
    options.trace_count = 0;
    options.category_count = 1;
    check_refused(&options, "profiler: invalid category '(null)'");
    options.categories = &(takt_category_switch){NULL, true};
    check_refused(&options, "profiler: invalid category '(null)'");
    options.category_count = 0;
    options.builtin_count = 1;
    check_refused(&options, "profiler: invalid pattern '(null)'");
    options.builtin = none;
    check_refused(&options, "profiler: invalid pattern '(null)'");
}

/* ---- Copies ---------------------------------------------------------------------------------- */

TEST(everything_that_is_pointed_to_is_copied)
{
    char name[] = "run", report[] = "scopes", trace[] = "folded", folder[] = "out", io[] = "io";
    const char *reports[] = {report}, *trace_names[] = {trace};
    takt_category_switch category = {io, true};
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    options.name = name;
    options.reports = reports;
    options.traces = trace_names;
    options.categories = &category;
    options.report_count = options.trace_count = options.category_count = 1;
    options.directory = folder;
    tkt_saved_options saved;
    assert_int_equal(tkt_options_save(&saved, &options), TAKT_OK);
    name[0] = report[0] = trace[0] = folder[0] = io[0] = 'X';
    reports[0] = trace_names[0] = category.name = NULL;
    assert_string_equal(saved.given.name, "run");
    assert_string_equal(saved.given.reports[0], "scopes");
    assert_string_equal(saved.given.traces[0], "folded");
    assert_string_equal(saved.given.categories[0].name, "io");
    assert_true(saved.given.categories[0].is_on);
    assert_string_equal(saved.given.directory, "out");
    tkt_options_fini(&saved);
}

/* ---- Folders --------------------------------------------------------------------------------- */

/* The folder for that pattern and name of the run. */
static void check_directory(const char *pattern, const char *name, const char *expected)
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    options.directory = pattern;
    options.name = name;
    tkt_saved_options saved;
    assert_int_equal(tkt_options_save(&saved, &options), TAKT_OK);
    assert_string_equal(saved.directory, expected);
    tkt_options_fini(&saved);
}

TEST(placeholders_are_replaced)
{
    char host[300], expected[400];
    gethostname(host, sizeof host);
    check_directory("runs/{name}", "sph", "runs/sph");
    check_directory("{name}/{name}-x", "a b", "a b/a b-x");
    snprintf(expected, sizeof expected, "%s.%ld", host, (long)getpid());
    check_directory("{host}.{pid}", "sph", expected);
    check_directory("{what} {name {} }", "sph", "{what} {name {} }");
    check_directory("", "sph", ".");
}

TEST(the_time_is_the_local_one_in_a_form_that_sorts)
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    options.directory = "{time}";
    tkt_saved_options saved;
    assert_int_equal(tkt_options_save(&saved, &options), TAKT_OK);
    int year, month, day, hour, minute, second, end = 0;
    sscanf(saved.directory, "%4d-%2d-%2d_%2d-%2d-%2d%n", &year, &month, &day, &hour, &minute,
           &second, &end);
    assert_int_equal(end, 19);
    assert_int_equal(strlen(saved.directory), 19);
    assert_true(year > 2000 && month >= 1 && month <= 12);
    tkt_options_fini(&saved);
}

/* As if another process had begun in the same second. */
TEST(a_folder_named_after_the_time_is_the_runs_own)
{
    const char *folder = make_folder();
    char pattern[600], first[600], expected[700];
    snprintf(pattern, sizeof pattern, "%s/runs/{time}/", folder);
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    options.directory = pattern;
    tkt_saved_options saved[3];
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(tkt_options_save(&saved[i], &options), TAKT_OK);
        if (i > 0)
            strcpy(saved[i].directory, saved[0].directory);
    }
    snprintf(first, sizeof first, "%.*s", (int)strlen(saved[0].directory) - 1, saved[0].directory);
    assert_int_equal(count_entries(folder), 0);
    for (size_t i = 0; i < 3; i++) {
        static const char *const suffixes[] = {"", "-2", "-3"};
        snprintf(expected, sizeof expected, "%s%s", first, suffixes[i]);
        tkt_options_claim_directory(&saved[i]);
        tkt_options_claim_directory(&saved[i]); /* again makes no other one */
        assert_string_equal(saved[i].directory, expected);
        assert_string_equal(saved[i].given.directory, expected);
        assert_int_equal(count_entries(in_folder(folder, "runs")), i + 1);
    }
    for (size_t i = 0; i < 3; i++)
        tkt_options_fini(&saved[i]);
    remove_folder(folder);
}

TEST(other_folders_are_shared)
{
    const char *folder = make_folder();
    char pattern[600];
    snprintf(pattern, sizeof pattern, "%s/{pid}", folder);
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    options.directory = pattern;
    tkt_saved_options saved;
    assert_int_equal(tkt_options_save(&saved, &options), TAKT_OK);
    assert_int_equal(mkdir(saved.directory, 0777), 0);
    tkt_options_claim_directory(&saved);
    assert_string_equal(saved.directory, saved.given.directory);
    assert_int_equal(count_entries(folder), 1);
    tkt_options_fini(&saved);
    remove_folder(folder);
}

TEST(a_hostile_name_does_not_leave_the_directory)
{
    check_directory("runs/{name}/x", "../../etc", "runs/.._.._etc/x");
    check_directory("runs/{name}/x", "..", "runs/__/x");
    check_directory("runs/{name}/x", ".", "runs/_/x");
    check_directory("runs/{name}", "/", "runs/_");
    check_directory("runs/{name}", "a\nb\033[1m\177", "runs/a_b_[1m_");
    check_directory("runs/{name}.d", "..", "runs/__.d");
}

TEST(a_directory_that_is_too_long_is_refused)
{
    static char name[5000];
    memset(name, 'x', sizeof name - 1);
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    options.name = name;
    options.directory = "{name}";
    check_refused(&options, "profiler: the path of the directory is too long");
}

TEST(file_names_hold_nothing_special)
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    options.name = "../my run:\"1\"";
    tkt_saved_options saved;
    assert_int_equal(tkt_options_save(&saved, &options), TAKT_OK);
    assert_string_equal(saved.file_name, "_._my_run__1_");
    tkt_options_fini(&saved);
}

TEST_MAIN_EACH(set_up, tear_down)
