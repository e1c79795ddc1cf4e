/* Broken files, as people break them: each error in words that say what to write, all of them, and
 * with the line of the file. */
#include "test_config.h"

#include "config/state.h"
#include "support/test.h"

/* Reads a file that is broken; the caller owns the errors. */
static void read_broken(const char *yaml, tkt_config_errors *errors)
{
    tkt_config_state *state = tkt_config_state_create(NULL);
    *errors = (tkt_config_errors){.count = 0};
    takt_status status = tkt_config_read_yaml(state, yaml, strlen(yaml), "p.yaml", errors);
    if (status != TAKT_BAD_CONFIG || errors->count == 0)
        fail_msg("accepted: %s", yaml);
    tkt_config_state_destroy(state);
}

/* The file has one error, which is this. */
static void expect_only(const char *yaml, const char *message)
{
    tkt_config_errors errors;
    read_broken(yaml, &errors);
    assert_string_equal(errors.items[0].error.message, message);
    assert_int_equal(errors.count, 1);
}

TEST(tabs_are_named)
{
    static const char why[] = "a tab: YAML is indented with blanks only; replace the tab by blanks";
    static const struct {
        const char *yaml, *place;
    } cases[] = {
        {"profiling:\n\twait: 3\n", "2:1"},
        {"profiling:\n  wait: 3\n\tactive: 3\n", "3:1"},
        {"profiling:\n  wait: 3\n  \tactive: 3\n", "3:3"},
        {"profiling:\n  wait: 3\n\t\n  active: 3\n", "3:1"},
        {"profiling:\r\n\twait: 3\r\n", "2:1"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char message[160];
        snprintf(message, sizeof message, "p.yaml:%s: %s", cases[i].place, why);
        expect_only(cases[i].yaml, message);
    }
    takt_config_destroy(config_of("profiling:\n  wait:\t3\n"));
}

TEST(missing_colons_and_blanks_are_named)
{
    static const struct {
        const char *yaml, *message;
    } cases[] = {
        {"profiling:\n  wait:5\n  active: 3\n",
         "p.yaml:2:8: the colon needs a blank behind it: write 'wait: 5'"},
        {"profiling:\n  active: 3\n  wait:5 # steps\n",
         "p.yaml:3:8: the colon needs a blank behind it: write 'wait: 5'"},
        {"profiling:\n  active: 3\n\n  # five\n  wait:5\n  warmup: 1\n",
         "p.yaml:5:8: the colon needs a blank behind it: write 'wait: 5'"},
        {"profiling:\n  wait:5\n",
         "p.yaml:2:3: profiling: write 'wait: 5', with a colon and a blank"},
        {"profiling:\n  wait = 5\n  active = 3\n",
         "p.yaml:2:3: profiling: write 'wait: 5', with a colon and a blank"},
        {"profiling:\n  active: 3\n  wait = 5\n", "p.yaml:3:8: expected a colon, got '=': write "
                                                  "'wait: 5'"},
        {"profiling\n  wait: 3\n",
         "p.yaml:1:10: the colon behind the key is missing: write 'profiling:'"},
        {"profiling:\n  wait 3\n  active: 3\n",
         "p.yaml:2:7: the colon behind the key is missing: write 'wait: 3'"},
        {"profiling:\r\n  active: 3\r\n  wait 3\r\n  warmup: 1\r\n",
         "p.yaml:3:7: the colon behind the key is missing: write 'wait: 3'"},
        {"profiling:\n  name: run: 3\n",
         "p.yaml:2:12: a second ': ' in the line: put a text that contains it in quotes"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        expect_only(cases[i].yaml, cases[i].message);
}

TEST(wrong_indentation_is_named)
{
    static const char advice[] = "begin keys of one section in the same column";
    static const struct {
        const char *yaml, *message;
    } cases[] = {
        {"profiling:\n  wait: 3\n    active: 3\n", "3:5: wrong indentation: this begins in column "
                                                   "5, line 2 in column 3"},
        {"profiling:\n    wait: 3\n  active: 3\n", "3:3: wrong indentation: this begins in column "
                                                   "3, line 2 in column 5"},
        {"\n  profiling:\n    wait: 3\nreports: [scopes]\n",
         "4:1: wrong indentation: this begins in column 1, line 2 in column 3"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char message[200];
        snprintf(message, sizeof message, "p.yaml:%s; %s", cases[i].message, advice);
        expect_only(cases[i].yaml, message);
    }
    expect_only("profiling:\n\xC2\xA0 wait: 3\n",
                "p.yaml:2:1: a no-break space, as web pages have it: replace it by a blank");
}

TEST(lists_in_wrong_places_are_named)
{
    expect_only("reports: - scopes\n", "p.yaml:1:10: a list with '- ' begins on the line below its "
                                       "key; in one line write [a, b]");
    expect_only("reports:\n  - scopes\n  kernels\n",
                "p.yaml:3:3: expected another item of the list: begin it with '- '");
    expect_only("profiling:\n  wait: 3\n  - active: 3\n",
                "p.yaml:3:3: expected a key, got '- ': leave out the '- '");
    expect_only("profiling:\n  - wait: 3\n",
                "p.yaml:2:3: profiling: expected keys with values below "
                "it, got a list: leave out '-' and '[ ]'");
    expect_only("[profiling]\nwait=3\n", "p.yaml:1:1: a section is written 'profiling:', and its "
                                         "keys indented below it");
}

TEST(open_quotes_and_brackets_are_named_where_they_open)
{
    static const struct {
        const char *yaml, *message;
    } cases[] = {
        {"profiling:\n  name: \"run\n  wait: 3\n",
         "2:9: this quote is not closed: write another \" behind the text"},
        {"profiling:\n  name: 'it''s\n",
         "2:9: this quote is not closed: write another ' behind the text"},
        {"reports: [scopes, kernels\nprofiling:\n  wait: 3\n",
         "1:10: '[' is not closed: write ']' behind the last item, or the comma that is missing "
         "before line 2"},
        {"profiling: {wait: 3, active: 3\noutput:\n  traces: [perfetto]\n",
         "1:12: '{' is not closed: write '}' behind the last item, or the comma that is missing "
         "before line 2"},
        {"profiling: {wait: 3 active: 4}\n", "1:27: a comma or '}' is missing before this"},
        {"reports: [scopes, kernels}\n", "1:26: '[' is closed by '}': write ']'"},
        {"reports: [scopes]]\n", "1:18: ']' closes nothing: leave it out"},
        {"output:\n  directory: {name}/runs\n",
         "2:14: text behind a closing quote or bracket: put the whole value in quotes"},
        {"profiling:\n  name: \"a\" b\n",
         "2:9: text behind a closing quote or bracket: put the whole value in quotes"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char message[200];
        snprintf(message, sizeof message, "p.yaml:%s", cases[i].message);
        expect_only(cases[i].yaml, message);
    }
}

TEST(signs_with_a_meaning_are_named)
{
    static const struct {
        const char *yaml, *message;
    } cases[] = {
        {"profiling:\n  name: @run\n", "2:9: a text that begins with '@' needs quotes"},
        {"profiling:\n  name: %run\n", "2:9: a text that begins with '%' needs quotes"},
        {"profiling:\n  name: * run\n", "2:9: a text that begins with '*' needs quotes"},
        {"profiling:\n  name: |run\n",
         "2:9: a text that begins with '|' needs quotes; YAML's block "
         "texts begin on the next line"},
        {"profiling:\n  name: \"C:\\Users\"\n",
         "2:12: '\\' has a meaning between double quotes: use "
         "single quotes, or write '\\\\'"},
        {"<<<<<<< HEAD\nprofiling:\n  wait: 3\n=======\n",
         "1:1: a conflict that git has marked: keep one version, and no marks"},
        {"profiling: {}\n...\nreports: [tree]\n",
         "3:1: nothing may follow here: the sections ended before"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char message[200];
        snprintf(message, sizeof message, "p.yaml:%s", cases[i].message);
        expect_only(cases[i].yaml, message);
    }
}

/* ---- All errors ------------------------------------------------------------------------------ */

static const char many[] = "profilng:\n"            /* 1:1 */
                           "  wiat: 3\n"            /* 2:3 */
                           "  [a, [b]]: {c: [d]}\n" /* 3:3 */
                           "  wait: {a: [1, 2]}\n"  /* 4:9 */
                           "  warmup: 1\n"          /* right */
                           "  categories: {[x]: {y: z}, io: maybe, mpi: [on], a: on, a: off}\n"
                           "  activities: [gpu, [x, [y]], cpu, cpu]\n"
                           "reports:\n"
                           "  - scopes: {rows: {deep: [1]}}\n" /* 9:20 */
                           "  - tree: {rows: 3}\n"             /* right */
                           "  - sumary\n"                      /* 11:5 */
                           "own: {profiling: [wrong, but, not, ours]}\n"
                           "output: [1]\n"          /* 13:9 */
                           "profiling.wait: 3\n"    /* 14:1 */
                           "profiling: {wait: x}\n" /* 15:1 and 15:13 and 15:19 */
                           "output.x: {wait: x}\n"; /* 16:1 */

TEST(all_errors_are_told_in_order)
{
    static const unsigned places[][2] = {
        {1, 1},  {2, 3},  {3, 3},  {4, 9},  {6, 16}, {6, 33}, {6, 45},  {6, 58},  {7, 16}, {7, 21},
        {7, 36}, {9, 20}, {11, 5}, {13, 9}, {14, 1}, {15, 1}, {15, 13}, {15, 19}, {16, 1}};
    tkt_config_errors errors;
    read_broken(many, &errors);
    for (size_t i = 0; i < COUNT_OF(places) && i < errors.count; i++) {
        if (errors.items[i].error.line != places[i][0] ||
            errors.items[i].error.column != places[i][1])
            fail_msg("%zu: %s", i, errors.items[i].error.message);
    }
    assert_int_equal(errors.count, COUNT_OF(places));
}

/* It is two letters from "reports", but its keys need not be. */
TEST(what_is_in_an_unknown_section_is_not_judged_by_a_guess)
{
    tkt_config_errors errors;
    read_broken("reports: [scopes]\nexports: {a: 1}\n", &errors);
    assert_int_equal(errors.count, 1);
    assert_non_null(strstr(errors.items[0].error.message, "unknown section 'exports'"));
}

TEST(a_syntax_error_comes_after_what_was_found_before)
{
    tkt_config_errors errors;
    read_broken("profiling:\n  wiat: 3\n  mode: trce\n  active 3\n  warmup: x\n", &errors);
    assert_int_equal(errors.count, 3);
    assert_string_equal(errors.items[0].error.message,
                        "p.yaml:2:3: unknown key 'profiling.wiat'; did you mean 'wait'?");
    assert_int_equal(errors.items[1].error.line, 3);
    assert_string_equal(errors.items[2].error.message, "p.yaml:4:9: the colon behind the key is "
                                                       "missing: write 'active: 3'");
}

TEST(at_most_twenty_errors_are_kept_and_all_are_counted)
{
    char yaml[1024] = "profiling:\n";
    tkt_config_errors errors;
    for (int i = 0; i < 33; i++)
        snprintf(yaml + strlen(yaml), sizeof yaml - strlen(yaml), "  key%02d: x\n", i);
    read_broken(yaml, &errors);
    assert_int_equal(errors.count, 33);
    assert_int_equal(tkt_config_errors_kept(&errors), 20);
    assert_int_equal(errors.items[19].error.line, 21);
}

/* ---- The line -------------------------------------------------------------------------------- */

static void expect_line(const char *yaml, const char *shown, unsigned caret)
{
    tkt_config_errors errors;
    read_broken(yaml, &errors);
    assert_string_equal(errors.items[0].shown, shown);
    assert_int_equal(errors.items[0].caret, caret);
}

TEST(the_line_is_kept_with_the_caret_below_the_error)
{
    expect_line("profiling:\n  wiat: 3 # steps\n", "  wiat: 3 # steps", 2);
    expect_line("profiling:\r\n  wait: x\r\n", "  wait: x", 8);
    expect_line("profiling:\n\twait: 3\n", " wait: 3", 0);
    expect_line("profiling: {name: 流体, wait: x}", "profiling: {name: 流体, wait: x}", 30);
    expect_line("\xEF\xBB\xBFprofilng: 1\n", "profilng: 1", 0); /* a byte order mark */
    expect_line("profiling: {wait: \"\x7f\"}", "profiling: {wait: \"?\"}", 19);
}

TEST(a_long_line_is_kept_around_the_error)
{
    char yaml[3000];
    tkt_config_errors errors;
    snprintf(yaml, sizeof yaml,
             "own: {a: %1000s}\nprofiling: {builtin: ['%s'], wait: oops}%900s#\n", "x",
             "流体流体流体流体流体流体流体流体流体流体流体流体流体流体流体流体流体流体", "");
    read_broken(yaml, &errors);
    assert_int_equal(errors.items[0].error.line, 2);
    assert_true(strlen(errors.items[0].shown) < TKT_CONFIG_SHOWN);
    /* 48 bytes before: "'], wait: " and the 12 characters of two columns that fit whole. */
    assert_int_equal(errors.items[0].caret, 10 + 2 * 12);
    assert_ptr_equal(strstr(errors.items[0].shown, "oops"), errors.items[0].shown + 10 + 3 * 12);
}

/* ---- Telling them ---------------------------------------------------------------------------- */

static char logged[4096];

static void keep_line(takt_log_level level, const char *line, void *user)
{
    (void)user;
    assert_int_equal(level, TAKT_LOG_ERROR);
    snprintf(logged + strlen(logged), sizeof logged - strlen(logged), "%s\n", line);
}

TEST(the_program_gets_the_first_error_and_the_log_the_others)
{
    static const char three[] = "profiling:\n  wiat: 3\n  mode: trce\n  level: 9\n";
    takt_config *config = NULL;
    takt_error error = {0};
    takt_set_log(keep_line, NULL);
    assert_int_equal(takt_config_parse(three, strlen(three), "p.yaml", &config, &error),
                     TAKT_BAD_CONFIG);
    assert_null(config);
    assert_string_equal(error.message,
                        "p.yaml:2:3: unknown key 'profiling.wiat'; did you mean 'wait'?");
    assert_string_equal(logged, "p.yaml:3:9: profiling.mode: expected trace, summary, both or "
                                "flight, got 'trce'; did you mean 'trace'?\n"
                                "p.yaml:4:10: profiling.level: expected a whole number from 1 to "
                                "4, got '9'\n");
    logged[0] = '\0';
    assert_int_equal(takt_config_parse("output: 1", 9, "p.yaml", &config, &error), TAKT_BAD_CONFIG);
    assert_string_equal(logged, "");
    takt_set_log(ignore_line, NULL);
}

TEST(all_errors_of_variable_and_arguments_are_told)
{
    char *argv[] = {"program", "--profiling.wait=x", "--profiling.active=2", "--output.trace", NULL};
    int argc = 4;
    takt_config *config = NULL;
    takt_error error = {0};
    takt_set_log(keep_line, NULL);

    setenv("TAKT_OPTIONS", "profiling.wiat=1 profiling.wait=2 profiling.mode=trce output.dir='x", 1);
    assert_int_equal(takt_config_create(&config, &error), TAKT_BAD_CONFIG);
    unsetenv("TAKT_OPTIONS");
    assert_string_equal(
        error.message, "TAKT_OPTIONS: unknown key 'profiling.wiat'; did you mean 'profiling.wait'?");
    assert_string_equal(logged, "TAKT_OPTIONS: profiling.mode: expected trace, summary, both or "
                                "flight, got 'trce'; did you mean 'trace'?\n"
                                "TAKT_OPTIONS: a quote is not closed in 'output.dir=x'\n");
    logged[0] = '\0';

    assert_int_equal(takt_config_create(&config, &error), TAKT_OK);
    assert_int_equal(takt_config_args(config, &argc, argv, &error), TAKT_BAD_CONFIG);
    assert_string_equal(error.message, "--profiling.wait: expected a whole number from 0 to "
                                       "4294967295, got 'x'");
    assert_string_equal(logged, "unknown option '--output.trace'; did you mean '--output.traces'?\n");
    assert_int_equal(argc, 4);
    takt_config_destroy(config);
    logged[0] = '\0';
    takt_set_log(ignore_line, NULL);
}

/* Nothing at the place itself stays, nor behind it. */
TEST(a_cut_takes_what_begins_there)
{
    tkt_config_errors errors = {.count = 3};
    errors.items[0].error = (takt_error){.line = 1, .column = 9};
    errors.items[1].error = (takt_error){.line = 2, .column = 5};
    errors.items[2].error = (takt_error){.line = 2, .column = 7};
    tkt_config_errors_cut(&errors, 2, 5);
    assert_int_equal(errors.count, 1);
}

int main(void)
{
    begin_quietly();
    return run_all_tests(NULL, NULL);
}
