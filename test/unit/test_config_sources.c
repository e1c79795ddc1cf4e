/* Sources: file, environment, options and arguments, and which of them wins. */
#include "test_config.h"
#include "support/test.h"

#include <unistd.h>

static char folder[] = "/tmp/takt-config-XXXXXX";
static char file[sizeof folder + 16];

static void write_file(const char *text)
{
    FILE *stream = fopen(file, "w");
    assert_non_null(stream);
    assert_true(fputs(text, stream) >= 0);
    assert_int_equal(fclose(stream), 0);
}

static int make_folder(void **state)
{
    (void)state;
    begin_quietly();
    if (!mkdtemp(folder))
        return -1;
    snprintf(file, sizeof file, "%s/profile.yaml", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(file);
    return rmdir(folder);
}

static int clear_environment(void **state)
{
    (void)state;
    begin_quietly();
    unlink(file);
    return unsetenv("TAKT_CONFIG") | unsetenv("TAKT_OPTIONS");
}

static takt_config *created(void)
{
    takt_config *config = NULL;
    takt_error error = {0};
    if (takt_config_create(&config, &error) != TAKT_OK)
        fail_msg("%s", error.message);
    return config;
}

static const takt_schedule *schedule_of(const takt_config *config)
{
    return &options_of(config)->schedule;
}

static void keep_line(takt_log_level level, const char *line, void *user)
{
    assert_int_equal(level, TAKT_LOG_WARNING);
    snprintf(user, 256, "%s", line);
}

/* ---- The environment ---- */

TEST_WITH(an_empty_environment_means_no_profiling, NULL, clear_environment)
{
    takt_config *config = created();
    assert_false(takt_config_enabled(config));
    assert_int_equal(schedule_of(config)->wait, 3);
    takt_config_destroy(config);
    setenv("TAKT_CONFIG", "", 1);
    setenv("TAKT_OPTIONS", " \n ", 1);
    config = created();
    assert_false(takt_config_enabled(config));
    takt_config_destroy(config);
}

TEST_WITH(takt_config_names_a_file, NULL, clear_environment)
{
    write_file("profiling: {wait: 7}\n");
    setenv("TAKT_CONFIG", file, 1);
    takt_config *config = created();
    assert_true(takt_config_enabled(config));
    assert_int_equal(schedule_of(config)->wait, 7);
    takt_config_destroy(config);
}

TEST_WITH(takt_config_without_a_profiling_section_is_told, NULL, clear_environment)
{
    char line[256] = "";
    char expected[256];
    takt_set_log(keep_line, line);
    write_file("training: {}\n");
    setenv("TAKT_CONFIG", file, 1);
    takt_config *config = created();
    assert_false(takt_config_enabled(config));
    takt_config_destroy(config);
    snprintf(expected, sizeof expected, "%s has no profiling section: nothing is profiled", file);
    assert_string_equal(line, expected);
}

/* Keeps all lines. */
static void append_line(takt_log_level level, const char *text, void *user)
{
    assert_int_equal(level, TAKT_LOG_WARNING);
    strcat(strcat(user, text), "\n");
}

TEST_WITH(keys_without_their_section_are_told, NULL, clear_environment)
{
    char lines[2048] = "", expected[2048];
    takt_set_log(append_line, lines);
    write_file("wait: 3\ntraining: {}\ndirectory: x\nprofile: {epochs: 1}\n");
    setenv("TAKT_CONFIG", file, 1);
    takt_config_destroy(created());
    snprintf(expected, sizeof expected,
             "%s has no profiling section: nothing is profiled\n"
             "%s:1: wait is a key of profiling: write \"profiling:\" above it, and indent it\n"
             "%s:3: directory is a key of output: write \"output:\" above it, and indent it\n"
             "%s:4: skipped the section 'profile'; did you mean 'profiling'?\n",
             file, file, file, file);
    assert_string_equal(lines, expected);
    lines[0] = '\0';
    takt_config *config; /* a program's own file */
    assert_int_equal(takt_config_load(file, &config, NULL), TAKT_OK);
    takt_config_destroy(config);
    assert_string_equal(lines, "");
    write_file("wait: 3\nprofiling: true\n");
    takt_config_destroy(created());
    assert_string_equal(lines, "");
}

TEST_WITH(a_missing_file_is_an_error, NULL, clear_environment)
{
    takt_config *config = NULL;
    takt_error error = {0};
    setenv("TAKT_CONFIG", file, 1);
    assert_int_equal(takt_config_create(&config, &error), TAKT_IO_ERROR);
    assert_int_equal(error.status, TAKT_IO_ERROR);
    assert_non_null(strstr(error.message, "profile.yaml"));
    assert_int_equal(takt_config_load(file, &config, NULL), TAKT_IO_ERROR);
    assert_int_equal(takt_config_load("/", &config, &error), TAKT_IO_ERROR);
    assert_int_equal(takt_config_load(NULL, &config, &error), TAKT_BAD_ARGUMENT);
    assert_int_equal(takt_config_load(file, NULL, &error), TAKT_BAD_ARGUMENT);
    assert_int_equal(takt_config_create(NULL, &error), TAKT_BAD_ARGUMENT);
    assert_null(config);
}

TEST_WITH(a_wrong_file_is_one_error, NULL, clear_environment)
{
    takt_config *config = NULL;
    takt_error error = {0};
    char expected[256];
    write_file("profiling:\n  wait: three\n");
    snprintf(expected, sizeof expected,
             "%s:2:9: profiling.wait: expected a whole number from 0 to 4294967295, got 'three'",
             file);
    assert_int_equal(takt_config_load(file, &config, &error), TAKT_BAD_CONFIG);
    assert_string_equal(error.message, expected);
    assert_int_equal(error.line, 2);
    assert_int_equal(error.column, 9);
    assert_null(config);
}

TEST_WITH(a_file_of_more_than_1_MiB_is_refused, NULL, clear_environment)
{
    takt_config *config = NULL;
    takt_error error = {0};
    char *text = malloc(1024 * 1024 + 2);
    memset(text, ' ', 1024 * 1024 + 1);
    text[1024 * 1024 + 1] = '\0';
    write_file(text);
    assert_int_equal(takt_config_load(file, &config, &error), TAKT_IO_ERROR);
    assert_non_null(strstr(error.message, "1048576 bytes"));
    text[1024 * 1024] = '\0';
    write_file(text);
    assert_int_equal(takt_config_load(file, &config, &error), TAKT_OK);
    takt_config_destroy(config);
    free(text);
}

/* ---- TAKT_OPTIONS ---- */

TEST_WITH(options_override_the_file, NULL, clear_environment)
{
    write_file("profiling: {wait: 7, warmup: 2, active: 5}\n");
    setenv("TAKT_CONFIG", file, 1);
    setenv("TAKT_OPTIONS", "profiling.wait=8\tprofiling.active=1  profiling.active=6\n", 1);
    takt_config *config = created();
    assert_int_equal(schedule_of(config)->wait, 8);
    assert_int_equal(schedule_of(config)->warmup, 2);
    assert_int_equal(schedule_of(config)->active, 6);
    assert_int_equal(schedule_of(config)->repeat, 1);
    takt_config_destroy(config);
}

TEST_WITH(options_alone_turn_profiling_on, NULL, clear_environment)
{
    setenv("TAKT_OPTIONS", "profiling.wait=8", 1);
    takt_config *config = created();
    assert_true(takt_config_enabled(config));
    takt_config_destroy(config);
    setenv("TAKT_OPTIONS", "profiling=on", 1);
    config = created();
    assert_true(takt_config_enabled(config));
    takt_config_destroy(config);
    setenv("TAKT_OPTIONS", "profiling.enabled=false", 1);
    config = created();
    assert_false(takt_config_enabled(config));
    takt_config_destroy(config);
}

TEST_WITH(options_may_be_quoted, NULL, clear_environment)
{
    setenv(
        "TAKT_OPTIONS",
        "output.directory='my \"own\" runs/{time}' profiling.name=a\" b \"c 'reports=tree, steps'",
        1);
    takt_config *config = created();
    assert_string_equal(options_of(config)->directory, "my \"own\" runs/{time}");
    assert_string_equal(options_of(config)->name, "a b c");
    assert_int_equal(options_of(config)->report_count, 2);
    takt_config_destroy(config);
}

TEST_WITH(wrong_options_are_errors, NULL, clear_environment)
{
    static const struct {
        const char *options;
        const char *message;
    } cases[] = {
        {"profiling.wait", "TAKT_OPTIONS: expected key=value without blanks, got 'profiling.wait'"},
        {"profiling.wait=1 =2", "TAKT_OPTIONS: expected key=value without blanks, got '=2'"},
        {"output.dir=x",
         "TAKT_OPTIONS: unknown key 'output.dir'; did you mean 'output.directory'?"},
        {"profiling.wiat=2",
         "TAKT_OPTIONS: unknown key 'profiling.wiat'; did you mean 'profiling.wait'?"},
        {"profiling.wait=",
         "TAKT_OPTIONS: profiling.wait: expected a whole number from 0 to 4294967295, got ''"},
        {"profiling.name='a b", "TAKT_OPTIONS: a quote is not closed in 'profiling.name=a b'"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        takt_config *config = NULL;
        takt_error error = {0};
        setenv("TAKT_OPTIONS", cases[i].options, 1);
        assert_int_equal(takt_config_create(&config, &error), TAKT_BAD_CONFIG);
        assert_string_equal(error.message, cases[i].message);
        assert_int_equal(error.line, 0);
        assert_null(config);
    }
}

TEST_WITH(load_takes_its_file_and_the_options, NULL, clear_environment)
{
    write_file("profiling: {wait: 7}\n");
    setenv("TAKT_CONFIG", "/does/not/exist.yaml", 1);
    setenv("TAKT_OPTIONS", "profiling.active=9", 1);
    takt_config *config = NULL;
    assert_int_equal(takt_config_load(file, &config, NULL), TAKT_OK);
    assert_int_equal(schedule_of(config)->wait, 7);
    assert_int_equal(schedule_of(config)->active, 9);
    takt_config_destroy(config);
}

TEST_WITH(parse_does_not_look_at_the_environment, NULL, clear_environment)
{
    setenv("TAKT_CONFIG", "/does/not/exist.yaml", 1);
    setenv("TAKT_OPTIONS", "profiling.active=9", 1);
    takt_config *config = config_of("");
    assert_false(takt_config_enabled(config));
    assert_int_equal(schedule_of(config)->active, 3);
    takt_config_destroy(config);
}

/* ---- Arguments ---- */

#define ARGUMENTS_MAX 16

/* Gives the words of `line` to takt_config_args(); `line` must then be `left`. */
static takt_status give_args(takt_config *config, const char *line, const char *left,
                             takt_error *error)
{
    char words[256];
    char *argv[ARGUMENTS_MAX + 1] = {0};
    char rest[256] = "";
    int argc = 0;
    char *save = NULL;
    snprintf(words, sizeof words, "%s", line);
    for (char *word = strtok_r(words, " ", &save); word; word = strtok_r(NULL, " ", &save))
        argv[argc++] = word;
    takt_status status = takt_config_args(config, &argc, argv, error);
    for (int i = 0; i < argc; i++)
        snprintf(rest + strlen(rest), sizeof rest - strlen(rest), "%s%s", i > 0 ? " " : "",
                 argv[i]);
    assert_string_equal(rest, left);
    assert_null(argv[argc]);
    return status;
}

static takt_config *with_args(const char *yaml, const char *line, const char *left)
{
    takt_config *config = config_of(yaml);
    takt_error error = {0};
    if (give_args(config, line, left, &error) != TAKT_OK)
        fail_msg("%s", error.message);
    return config;
}

TEST_WITH(arguments_are_taken_out, NULL, clear_environment)
{
    takt_config *config =
        with_args("", "sim --profiling.wait 9 in.dat --profiling.active=2 -n 3 --output out",
                  "sim in.dat -n 3 --output out");
    assert_int_equal(schedule_of(config)->wait, 9);
    assert_int_equal(schedule_of(config)->active, 2);
    assert_true(takt_config_enabled(config));
    takt_config_destroy(config);
}

TEST_WITH(switches_take_no_value, NULL, clear_environment)
{
    takt_config *config = with_args("profiling: {with_flops: true}",
                                    "sim --profiling.synchronize --profiling.no-record-shapes true "
                                    "--profiling.no-with-flops --output.stream=on",
                                    "sim true");
    assert_true(options_of(config)->synchronize);
    assert_int_equal(options_of(config)->record_shapes, TAKT_OFF);
    assert_false(options_of(config)->with_flops);
    assert_true(options_of(config)->stream);
    takt_config_destroy(config);
}

TEST_WITH(lists_are_separated_by_commas, NULL, clear_environment)
{
    takt_config *config = with_args("",
                                    "sim --reports tree,steps --output.traces=perfetto "
                                    "--profiling.categories io:off,mpi:on --output.directory X",
                                    "sim");
    const takt_profiler_options *options = options_of(config);
    assert_int_equal(options->report_count, 2);
    assert_string_equal(options->reports[1], "steps");
    assert_int_equal(options->trace_count, 1);
    assert_int_equal(options->category_count, 2);
    assert_string_equal(options->directory, "X");
    takt_config_destroy(config);
}

TEST_WITH(what_is_not_ours_stays, NULL, clear_environment)
{
    static const char line[] = "sim --wait 3 -profiling.wait 2 --profile --profilings --report x "
                               "--output=a --outputs.x --no-reports -- --profiling.wait 4";
    takt_config *config = with_args("", line, line);
    assert_false(takt_config_enabled(config));
    assert_int_equal(schedule_of(config)->wait, 3);
    takt_config_destroy(config);
    config = with_args("", "sim --profiling.wait 5 -- --profiling.wait 4 --reports",
                       "sim -- --profiling.wait 4 --reports");
    assert_int_equal(schedule_of(config)->wait, 5);
    takt_config_destroy(config);
}

TEST_WITH(an_argument_turns_profiling_on, NULL, clear_environment)
{
    static const struct {
        const char *yaml;
        const char *line;
        bool is_on;
    } cases[] = {
        {"", "sim", false},
        {"", "", false},
        {"", "sim --profiling", true},
        {"", "sim --profiling=off", false},
        {"", "sim --reports=tree", true},
        {"profiling: false", "sim", false},
        {"profiling: false", "sim --profiling.wait 2", true},
        {"profiling: {}", "sim --no-profiling", false},
        {"profiling: {}", "sim --no-profiling --profiling.wait 2", false},
        {"profiling: {}", "sim --profiling.wait 2 --no-profiling", false},
        {"profiling: {}", "sim --profiling.no-enabled", false},
        {"", "sim --no-profiling --profiling", true},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        takt_config *config = with_args(cases[i].yaml, cases[i].line, i == 1 ? "" : "sim");
        if (takt_config_enabled(config) != cases[i].is_on)
            fail_msg("'%s' with '%s' is wrong", cases[i].yaml, cases[i].line);
        takt_config_destroy(config);
    }
}

TEST_WITH(wrong_arguments_change_nothing, NULL, clear_environment)
{
    static const struct {
        const char *line;
        const char *message;
    } cases[] = {
        {"sim --profiling.wait 9 --profiling.warmpu 1",
         "unknown option '--profiling.warmpu'; did you mean '--profiling.warmup'?"},
        {"sim --profiling.wait 9 --profiling.record_shapse",
         "unknown option '--profiling.record-shapse'; did you mean '--profiling.record-shapes'?"},
        {"sim --profiling.wait 9 --output.xyzzy", "unknown option '--output.xyzzy'"},
        {"sim --profiling.wait 9 --profiling.", "unknown option '--profiling.'"},
        {"sim --profiling.wait three",
         "--profiling.wait: expected a whole number from 0 to 4294967295, got 'three'"},
        {"sim --profiling.wait",
         "--profiling.wait: expected a whole number from 0 to 4294967295, got nothing"},
        {"sim --profiling.wait --profiling.active 3",
         "--profiling.wait: expected a whole number from 0 to 4294967295, got nothing"},
        {"sim --profiling.wait= 3",
         "--profiling.wait: expected a whole number from 0 to 4294967295, got ''"},
        {"sim --profiling.no-wait 3",
         "--profiling.no-wait: 'no-' works only with keys that are true or false"},
        {"sim --profiling.wait -3",
         "--profiling.wait: expected a whole number from 0 to 4294967295, got '-3'"},
        {"sim --profiling.no-with-stack=true", "--profiling.no-with-stack: expected no value"},
        {"sim --no-profiling=1", "--no-profiling: expected no value"},
        {"sim --profiling.record-shapes=maybe",
         "--profiling.record-shapes: expected true or false, got 'maybe'"},
        {"sim --reports", "--reports: expected a list, each item a report, got nothing"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        takt_config *config = config_of("");
        takt_error error = {0};
        assert_int_equal(give_args(config, cases[i].line, cases[i].line, &error), TAKT_BAD_CONFIG);
        assert_string_equal(error.message, cases[i].message);
        assert_int_equal(schedule_of(config)->wait, 3);
        assert_false(takt_config_enabled(config));
        takt_config_destroy(config);
    }
}

TEST_WITH(arguments_without_a_name_or_an_end_are_survived, NULL, clear_environment)
{
    char long_argument[100000] = "--profiling.";
    char *argv[] = {NULL, long_argument, NULL};
    int argc = 0;
    takt_config *config = config_of("");
    assert_int_equal(takt_config_args(config, &argc, argv, NULL), TAKT_OK);
    argc = 2;
    memset(long_argument + 12, 'x', sizeof long_argument - 13);
    assert_int_equal(takt_config_args(config, &argc, argv, NULL), TAKT_BAD_CONFIG);
    assert_int_equal(takt_config_args(NULL, &argc, argv, NULL), TAKT_BAD_ARGUMENT);
    assert_int_equal(takt_config_args(config, NULL, argv, NULL), TAKT_BAD_ARGUMENT);
    assert_int_equal(takt_config_args(config, &argc, NULL, NULL), TAKT_BAD_ARGUMENT);
    assert_int_equal(argc, 2);
    takt_config_destroy(config);
}

/* ---- All of them ---- */

TEST_WITH(later_sources_win, NULL, clear_environment)
{
    write_file("profiling: {wait: 10, warmup: 10, active: 10}\n");
    setenv("TAKT_OPTIONS", "profiling.warmup=20 profiling.active=20", 1);
    takt_config *config = NULL;
    assert_int_equal(takt_config_load(file, &config, NULL), TAKT_OK);
    assert_int_equal(give_args(config, "sim --profiling.active 30", "sim", NULL), TAKT_OK);
    assert_int_equal(schedule_of(config)->repeat, 1);
    assert_int_equal(schedule_of(config)->wait, 10);
    assert_int_equal(schedule_of(config)->warmup, 20);
    assert_int_equal(schedule_of(config)->active, 30);
    takt_config_destroy(config);
}

TEST_WITH(set_changes_one_key_and_asks_for_nothing, NULL, clear_environment)
{
    takt_config *config = config_of("");
    takt_error error = {0};
    assert_int_equal(takt_config_set(config, "output.directory", "here", &error), TAKT_OK);
    assert_string_equal(options_of(config)->directory, "here");
    assert_false(takt_config_enabled(config));
    assert_int_equal(takt_config_set(config, "profiling.enabled", "true", &error), TAKT_OK);
    assert_true(takt_config_enabled(config));
    assert_int_equal(takt_config_set(config, "profiling.enabled", "no", &error), TAKT_OK);
    assert_false(takt_config_enabled(config));
    assert_string_equal(options_of(config)->directory, "here");
    assert_int_equal(takt_config_set(config, "output.directory", "", &error), TAKT_BAD_CONFIG);
    assert_string_equal(options_of(config)->directory, "here");
    assert_int_equal(takt_config_set(NULL, "a", "b", &error), TAKT_BAD_ARGUMENT);
    assert_int_equal(takt_config_set(config, NULL, "b", &error), TAKT_BAD_ARGUMENT);
    assert_int_equal(takt_config_set(config, "a", NULL, &error), TAKT_BAD_ARGUMENT);
    takt_config_destroy(config);
}

TEST_MAIN(make_folder, remove_folder)
