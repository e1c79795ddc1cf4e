/* YAML: what a file may look like, and where an error in it is said to be. */
#include "test_config.h"
#include "support/test.h"

static const char whole_example[] =
    "profiling:                 # a whole section\n"
    "  enabled: true\n"
    "  wait: 30\n"
    "  warmup: 10\n"
    "  active: 31\n"
    "  repeat: 2                # repeat_mode: cycles or additional\n"
    "  repeat_mode: additional\n"
    "  skip_first: 5\n"
    "  skip_first_wait: 1\n"
    "  synchronize: true\n"
    "  record_shapes: false\n"
    "  profile_memory: false\n"
    "  with_stack: false\n"
    "  with_flops: true\n"
    "  activities: [cpu, cuda]\n"
    "  filter: [kernel, memset, graph]\n"
    "  graph: node\n"
    "  builtin: [\"^my_library::\"]\n"
    "  max_memory: 128 MiB\n"
    "  name: sph\n"
    "  mode: both\n"
    "  level: 4\n"
    "  background: false\n"
    "  categories: {io: off, physics: on}\n"
    "reports: [summary, scopes, kernels]\n"
    "output:\n"
    "  directory: out/{name}/{time}\n"
    "  traces: [perfetto, chrome.gz, tensorboard]\n"
    "  max_trace_size: 64 MiB\n"
    "  stream: yes\n"
    "  view: false\n";

TEST(every_key_reaches_the_options)
{
    takt_config *config = config_of(whole_example);
    const takt_profiler_options *options = options_of(config);
    assert_true(takt_config_enabled(config));
    assert_int_equal(options->struct_size, sizeof *options);
    assert_int_equal(options->schedule.wait, 30);
    assert_int_equal(options->schedule.warmup, 10);
    assert_int_equal(options->schedule.active, 31);
    assert_int_equal(options->schedule.repeat, 2);
    assert_int_equal(options->schedule.repeat_mode, TAKT_REPEAT_ADDITIONAL);
    assert_int_equal(options->schedule.skip_first, 5);
    assert_int_equal(options->schedule.skip_first_wait, 1);
    assert_true(options->synchronize);
    assert_int_equal(options->record_shapes, TAKT_OFF);
    assert_int_equal(options->profile_memory, TAKT_OFF);
    assert_int_equal(options->activities, TAKT_ACTIVITIES_CPU | TAKT_ACTIVITIES_CUDA);
    assert_int_equal(options->graph, TAKT_GRAPH_NODE);
    assert_int_equal(options->builtin_count, 1);
    assert_string_equal(options->builtin[0], "^my_library::");
    assert_true(options->with_flops);
    assert_int_equal(options->background, TAKT_OFF);
    assert_true(options->stream);
    assert_int_equal(options->filter, TAKT_TIMING_KERNEL | TAKT_TIMING_MEMSET | TAKT_TIMING_GRAPH);
    assert_int_equal(options->max_memory_bytes, UINT64_C(128) << 20);
    assert_int_equal(options->max_trace_bytes, UINT64_C(64) << 20);
    assert_string_equal(options->name, "sph");
    assert_int_equal(options->mode, TAKT_MODE_BOTH);
    assert_int_equal(options->level, 4);
    assert_int_equal(options->category_count, 2);
    assert_string_equal(options->categories[1].name, "physics");
    assert_true(options->categories[1].is_on);
    assert_int_equal(options->report_count, 3);
    assert_string_equal(options->reports[2], "kernels");
    assert_string_equal(options->directory, "out/{name}/{time}");
    assert_int_equal(options->trace_count, 3);
    assert_string_equal(options->traces[1], "chrome.gz");
    assert_null(options->on_trace);
    assert_null(options->user);
    takt_config_destroy(config);
}

TEST(an_empty_profiling_section_means_the_defaults)
{
    takt_config *config = config_of("profiling: {}");
    const takt_profiler_options *options = options_of(config);
    assert_true(takt_config_enabled(config));
    assert_int_equal(options->schedule.wait, 3);
    assert_int_equal(options->schedule.warmup, 1);
    assert_int_equal(options->schedule.active, 3);
    assert_int_equal(options->schedule.repeat, 1);
    assert_int_equal(options->schedule.repeat_mode, TAKT_REPEAT_CYCLES);
    assert_int_equal(options->schedule.skip_first, 0);
    assert_int_equal(options->schedule.skip_first_wait, 0);
    assert_int_equal(options->mode, TAKT_MODE_TRACE);
    assert_null(options->name);
    assert_int_equal(options->level, 2);
    assert_false(options->synchronize);
    assert_int_equal(options->background, TAKT_ON);
    assert_int_equal(options->record_shapes, TAKT_ON);
    assert_int_equal(options->profile_memory, TAKT_ON);
    assert_int_equal(options->activities, TAKT_ACTIVITIES_CPU | TAKT_ACTIVITIES_CUDA);
    assert_false(options->with_flops);
    assert_false(options->stream);
    assert_int_equal(options->filter, TAKT_TIMING_ALL);
    assert_int_equal(options->category_count, 0);
    assert_int_equal(options->max_memory_bytes, UINT64_C(256) << 20);
    assert_int_equal(options->max_trace_bytes, UINT64_C(256) << 20);
    assert_int_equal(options->report_count, 3);
    assert_string_equal(options->reports[0], "summary");
    assert_string_equal(options->reports[1], "scopes");
    assert_string_equal(options->directory, "runs/{name}/{time}");
    assert_int_equal(options->trace_count, 1);
    assert_string_equal(options->traces[0], "perfetto");
    assert_string_equal(options->report_file, "stdout");
    assert_true(options->announce);
    takt_config_destroy(config);
}

TEST(a_profiling_section_turns_profiling_on)
{
    static const struct {
        const char *yaml;
        bool is_on;
    } cases[] = {
        {"", false},
        {"\xEF\xBB\xBFprofiling: {}", true},
        {"# nothing\n", false},
        {"---\n", false},
        {"--- ~\n...\n", false},
        {"{}", false},
        {"training: {epochs: 11}", false},
        {"reports: [tree]", false},
        {"output: {}", false},
        {"output:", false},
        {"reports:\n", false},
        {"profiling:", false},
        {"profiling: null", false},
        {"profiling: ~", false},
        {"profiling: NULL\nreports: ~\noutput: Null\n", false},
        {"profiling: false", false},
        {"profiling: off", false},
        {"profiling: true", true},
        {"profiling: on", true},
        {"profiling: {}", true},
        {"profiling: {enabled: false, wait: 2}", false},
        {"profiling: {enabled: true}", true},
        {"profiling:\n  wait: 2", true},
        {"{profiling: {wait: 2}}", true},
        {"\"profiling\": {'wait': \"2\"}", true},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        takt_config *config = config_of(cases[i].yaml);
        if (takt_config_enabled(config) != cases[i].is_on)
            fail_msg("'%s' is wrong", cases[i].yaml);
        takt_config_destroy(config);
    }
}

TEST(other_sections_are_skipped_whatever_they_contain)
{
    takt_config *config = config_of("%TAG !e! tag:example.org,2000:\n"
                                    "---\n"
                                    "defaults: &defaults {dt: 1.0e-3, dt: 2}\n"
                                    "training: !!map\n"
                                    "  <<: *defaults\n"
                                    "  shape: !e!box [[1, 2], [3, {deep: [*defaults]}]]\n"
                                    "  text: |\n"
                                    "    profiling:\n"
                                    "      wait: three\n"
                                    "<<: *defaults\n"
                                    "? [a, complex, key]\n"
                                    ": {b: c}\n"
                                    "*defaults : x\n"
                                    "&anchored mesh: 2\n"
                                    "profiling: {wait: 2}\n"
                                    "\"with \\0 nul\": 1\n"
                                    "? |\n"
                                    "  block key\n"
                                    ": 1\n"
                                    "training: twice\n"
                                    "~: nothing\n");
    assert_true(takt_config_enabled(config));
    assert_int_equal(options_of(config)->schedule.wait, 2);
    takt_config_destroy(config);
}

TEST(the_root_may_be_tagged_and_anchored)
{
    takt_config *config = config_of("--- !mine &root\nprofiling: {wait: 2}\n");
    assert_int_equal(options_of(config)->schedule.wait, 2);
    takt_config_destroy(config);
}

TEST(a_list_may_be_one_text)
{
    takt_config *config = config_of("reports: scopes, tree\nprofiling: {categories: 'io:off'}");
    assert_int_equal(options_of(config)->report_count, 2);
    assert_string_equal(options_of(config)->reports[1], "tree");
    assert_int_equal(options_of(config)->category_count, 1);
    takt_config_destroy(config);
}

TEST(items_are_taken_as_they_are)
{
    takt_config *config = config_of("profiling: {categories: {\"a,b : c\": off}}");
    assert_string_equal(options_of(config)->categories[0].name, "a,b : c");
    takt_config_destroy(config);
}

TEST(sections_may_be_misspelled_by_two_letters)
{
    expect_error("profilng:\n  wait: 3\n",
                 "p.yaml:1:1: unknown section 'profilng'; did you mean 'profiling'?");
    expect_error("a: 1\nProfiling: {}\n",
                 "p.yaml:2:1: unknown section 'Profiling'; did you mean 'profiling'?");
    expect_error("{x: 1, report: []}",
                 "p.yaml:1:8: unknown section 'report'; did you mean 'reports'?");
    expect_error("outputs: {}", "p.yaml:1:1: unknown section 'outputs'; did you mean 'output'?");
    expect_error("&a outptu: *b", "p.yaml:1:1: unknown section 'outptu'; did you mean 'output'?");
    takt_config_destroy(config_of("profile: {}\ninput: {}\nreporting: 1\n"));
}

TEST(a_section_that_reads_like_profiling_is_told_if_there_is_no_other)
{
    expect_error("a: 1\nprofile:\n  wait: 3\n  mine: 2\n  active: 1\n",
                 "p.yaml:2:1: unknown section 'profile'; did you mean 'profiling'?");
    expect_error("{Profilers: {active: 3}}",
                 "p.yaml:1:2: unknown section 'Profilers'; did you mean 'profiling'?");
    expect_error("profiler: on\n",
                 "p.yaml:1:1: unknown section 'profiler'; did you mean 'profiling'?");
    expect_error("profile: {density: 3}\nPROFILING: {wait: 3}\n",
                 "p.yaml:2:1: unknown section 'PROFILING'; did you mean 'profiling'?");
    takt_config_destroy(config_of("profile: {wait: 3}\nprofiling: {}\n"));
    takt_config_destroy(config_of("profile:\n  name: parabolic\n  height: 3\n"));
    takt_config_destroy(config_of("profile: [wait, active]\nprofiler:\nprofiles: no idea\n"));
}

TEST(dotted_names_at_the_top_are_explained)
{
    expect_error("profiling.wait: 3\n", "p.yaml:1:1: unknown section 'profiling.wait'; write "
                                        "'profiling:' and the key below it");
}

TEST(unknown_keys_get_a_suggestion)
{
    expect_error("profiling:\n  wait: 3\n  warmpu: 1\n",
                 "p.yaml:3:3: unknown key 'profiling.warmpu'; did you mean 'warmup'?");
    expect_error("profiling:\n    record-shapes: true\n",
                 "p.yaml:2:5: unknown key 'profiling.record-shapes'; did you mean "
                 "'record_shapes'?");
    expect_error("profiling: {directory: x}",
                 "p.yaml:1:13: unknown key 'profiling.directory'; did you mean "
                 "'output.directory'?");
    expect_error("profiling: {reports: [tree]}",
                 "p.yaml:1:13: unknown key 'profiling.reports'; did you mean 'reports'?");
    expect_error("output:\n  xyzzy: 1", "p.yaml:2:3: unknown key 'output.xyzzy'");
    expect_error("output: {'': 1}", "p.yaml:1:10: unknown key 'output.'");
    expect_error("profiling: {<<: {wait: 1}}", "p.yaml:1:13: unknown key 'profiling.<<'");
}

TEST(columns_count_characters)
{
    expect_error("{Überströmung: 流体, profiling: {wait: x}}",
                 "p.yaml:1:38: profiling.wait: expected a whole number from 0 to 4294967295, got "
                 "'x'");
}

TEST(values_of_a_wrong_type_are_refused)
{
    expect_error("profiling:\n  active: three\n",
                 "p.yaml:2:11: profiling.active: expected a whole number from 0 to 4294967295, "
                 "got 'three'");
    expect_error("profiling:\n  wait:\n  warmup: 1\n",
                 "p.yaml:2:8: profiling.wait: expected a whole number from 0 to 4294967295, got "
                 "nothing");
    expect_error("profiling:\n  wait: [3]\n",
                 "p.yaml:2:9: profiling.wait: expected a whole number from 0 to 4294967295, got a "
                 "list");
    expect_error("profiling:\n  wait: {three: 3}\n",
                 "p.yaml:2:9: profiling.wait: expected a whole number from 0 to 4294967295, got "
                 "keys with values");
    expect_error("profiling:\n  synchronize: 1\n",
                 "p.yaml:2:16: profiling.synchronize: expected true or false, got '1'; did you mean 'true'?");
    expect_error("profiling: {mode: [trace]}",
                 "p.yaml:1:19: profiling.mode: expected trace, summary, both or flight, got a "
                 "list");
    expect_error("profiling: {filter: {kernel: on}}",
                 "p.yaml:1:21: profiling.filter: expected a list of kernel, builtin, memcpy, "
                 "memset or graph, got keys with values");
    expect_error("profiling: {categories: [io]}",
                 "p.yaml:1:25: profiling.categories: expected names that are on or off, such as "
                 "{io: off}, got a list");
    expect_error("profiling: {categories: {io: 3}}",
                 "p.yaml:1:30: profiling.categories: expected names that are on or off, such as "
                 "{io: off}, got '3'");
    expect_error("profiling: {categories: {[io]: on}}",
                 "p.yaml:1:26: profiling.categories: expected names that are on or off, such as "
                 "{io: off}, got a list");
    expect_error("profiling: {max_memory: lots}",
                 "p.yaml:1:25: profiling.max_memory: expected a size from 64 KiB to 1 TiB, such "
                 "as '256 MiB', got 'lots'");
    expect_error("profiling: {name: \"a\\0b\"}",
                 "p.yaml:1:19: profiling.name: expected a name without '/', got a text with a NUL "
                 "in it");
    expect_error(
        "profiling: [wait]",
        "p.yaml:1:12: profiling: expected keys with values below it, got a list: leave out "
        "'-' and '[ ]'");
    expect_error("profiling: maybe",
                 "p.yaml:1:12: profiling: expected keys with values below it, got 'maybe'");
    expect_error("output: true",
                 "p.yaml:1:9: output: expected keys with values below it, got 'true'");
    expect_error("reports: {tree: on}",
                 "p.yaml:1:10: reports: expected a list, each item a report, got keys with values");
    expect_error("profiling: {[wait]: 3}",
                 "p.yaml:1:13: profiling: expected the name of a key, got a list");
}

TEST(items_of_lists_are_placed)
{
    expect_error(
        "profiling:\n  activities:\n    - cpu\n    - gpu\n",
        "p.yaml:4:7: profiling.activities: expected cpu or cuda, got 'gpu'; did you mean 'cuda'?");
    expect_error("profiling: {activities: []}",
                 "p.yaml:1:25: profiling.activities: expected a list of cpu or cuda, got an empty "
                 "list");
    expect_error("reports: [tree, [scopes]]",
                 "p.yaml:1:17: reports: expected a list, each item a report, got a list");
    expect_error("reports: [tree, ~]",
                 "p.yaml:1:17: reports: expected a list, each item a report, got nothing");
    expect_error("reports: [tree, scopes, tree]", "p.yaml:1:25: reports: 'tree' appears twice");
    expect_error("profiling: {categories: {io: on, io: off}}",
                 "p.yaml:1:34: profiling.categories: 'io' appears twice");
}

TEST(duplicates_are_refused)
{
    expect_error("profiling:\n  wait: 3\n  warmup: 1\n  wait: 4\n",
                 "p.yaml:4:3: 'profiling.wait' appears twice, first on line 2: remove one");
    expect_error("profiling: {wait: 3}\nother: 1\nprofiling: {warmup: 3}\n",
                 "p.yaml:3:1: 'profiling' appears twice, first on line 1: remove one");
    expect_error("reports:\nreports: [tree]\n",
                 "p.yaml:2:1: 'reports' appears twice, first on line 1: remove one");
}

TEST(anchors_aliases_and_tags_are_refused)
{
    expect_error("a: &w 3\nprofiling: {wait: *w}\n",
                 "p.yaml:2:19: profiling.wait: expected a whole number from 0 to 4294967295, got "
                 "the alias 'w'; a text that begins with '*' needs quotes");
    expect_error("profiling: {wait: &w 3}\n",
                 "p.yaml:1:19: profiling.wait: expected a whole number from 0 to 4294967295, got "
                 "the anchor 'w'; a text that begins with '&' needs quotes");
    expect_error("profiling: {wait: !!int 3}\n",
                 "p.yaml:1:19: profiling.wait: expected a whole number from 0 to 4294967295, got "
                 "the tag 'tag:yaml.org,2002:int'; a text that begins with '!' needs quotes");
    expect_error(
        "a: &p {wait: 3}\nprofiling: *p\n",
        "p.yaml:2:12: profiling: expected keys with values below it, got the alias 'p'; a text "
        "that begins with '*' needs quotes");
    expect_error(
        "profiling: &p {wait: 3}\n",
        "p.yaml:1:12: profiling: expected keys with values below it, got the anchor 'p'; a text "
        "that begins with '&' needs quotes");
    expect_error(
        "profiling: !p {wait: 3}\n",
        "p.yaml:1:12: profiling: expected keys with values below it, got the tag '!p'; a text "
        "that begins with '!' needs quotes");
    expect_error("profiling: !!null ~\n",
                 "p.yaml:1:12: profiling: expected keys with values below it, got the tag "
                 "'tag:yaml.org,2002:null'; a text that begins with '!' needs quotes");
    expect_error(
        "&p profiling: {}\n",
        "p.yaml:1:1: profiling: expected a section's plain name, got the anchor 'p'; a text "
        "that begins with '&' needs quotes");
    expect_error(
        "profiling: {&w wait: 3}\n",
        "p.yaml:1:13: profiling: expected the name of a key, got the anchor 'w'; a text that "
        "begins with '&' needs quotes");
    expect_error(
        "a: &w wait\nprofiling: {*w : 3}\n",
        "p.yaml:2:13: profiling: expected the name of a key, got the alias 'w'; a text that "
        "begins with '*' needs quotes");
    expect_error("reports: &r [tree]\n", "p.yaml:1:10: reports: expected a list, each item a "
                                         "report, got the anchor 'r'; a text that "
                                         "begins with '&' needs quotes");
    expect_error(
        "a: &t tree\nreports: [*t]\n",
        "p.yaml:2:11: reports: expected a list, each item a report, got the alias 't'; a text that "
        "begins with '*' needs quotes");
    expect_error("profiling: {categories: {io: !!bool off}}",
                 "p.yaml:1:30: profiling.categories: expected names that are on or off, such as "
                 "{io: off}, got the tag 'tag:yaml.org,2002:bool'; a text that begins with '!' "
                 "needs quotes");
}

TEST(a_file_is_one_mapping)
{
    expect_error("- profiling\n",
                 "p.yaml:1:1: the file: expected sections such as 'profiling:', got a list");
    expect_error("profiling",
                 "p.yaml:1:1: the file: expected sections such as 'profiling:', got 'profiling'");
    expect_error("profiling: {}\n---\nprofiling: {}\n",
                 "p.yaml:2:1: expected one document, got a second one: remove this line");
}

TEST(what_is_not_yaml_is_placed)
{
    expect_error("profiling:\n\twait: 3\n",
                 "p.yaml:2:1: a tab: YAML is indented with blanks only; replace the tab by "
                 "blanks");
    expect_error("a: b: c\n", "p.yaml:1:5: a second ': ' in the line: put a text that contains it "
                              "in quotes");
    expect_error("name: Überströmung \xff\n",
                 "p.yaml:1:20: expected UTF-8 text: invalid leading UTF-8 octet");
    expect_error("a: 1\nname: \xff\xfe\n",
                 "p.yaml:2:7: expected UTF-8 text: invalid leading UTF-8 octet");
    expect_error("a: \x01\n",
                 "p.yaml:1:4: expected UTF-8 text: control characters are not allowed");
    expect_error_in("a: 1\0\n", 6,
                    "p.yaml:1:5: expected UTF-8 text: control characters are not allowed");
    expect_error_in("\xff\xfep\0:\0", 6,
                    "p.yaml:1:1: expected UTF-8 text: invalid leading UTF-8 octet");
}

/* Fills a text with `count` copies of `part` between two others; the caller frees it. */
static char *repeated(const char *before, const char *part, size_t count, const char *after)
{
    size_t length = strlen(part);
    char *text = malloc(strlen(before) + length * count + strlen(after) + 1);
    char *end = stpcpy(text, before);
    for (size_t i = 0; i < count; i++)
        end = mempcpy(end, part, length);
    strcpy(end, after);
    return text;
}

TEST(depth_is_limited)
{
    char *yaml = repeated("a: ", "[", 31, "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]");
    takt_config_destroy(config_of(yaml));
    free(yaml);
    static const struct {
        const char *part;
        const char *message;
    } cases[] = {
        {"[", "p.yaml:1:34: nested deeper than the limit of 32 levels"},
        {"{", "p.yaml:1:34: nested deeper than the limit of 32 levels"},
        {"- ", "p.yaml:1:65: nested deeper than the limit of 32 levels"},
        {"? ", "p.yaml:1:65: nested deeper than the limit of 32 levels"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        yaml = repeated("? ", cases[i].part, 1000000 / strlen(cases[i].part), "");
        expect_error(yaml, cases[i].message);
        free(yaml);
    }
}

TEST(the_number_of_events_is_limited)
{
    /* Stream, document, root, key and list are seven events. */
    char *yaml = repeated("a: [", "b,", 65536 - 9, "]");
    takt_config_destroy(config_of(yaml));
    free(yaml);
    yaml = repeated("a: [\n", "b,\n", 65536, "]");
    expect_error(yaml, "p.yaml:65533:1: more values and brackets than the limit of 65536");
    free(yaml);
}

TEST(the_size_is_limited)
{
    char *yaml = repeated("#", "x", 1024 * 1024, "");
    expect_error(yaml, "p.yaml: larger than the limit of 1 MiB (1048576 bytes)");
    yaml[1024 * 1024] = '\0';
    takt_config_destroy(config_of(yaml));
    free(yaml);
}

/* libyaml compares each tag directive with all before it: 1 MiB of them takes seconds. */
TEST(tag_directives_are_limited)
{
    char *yaml = repeated("", "%TAG !a! !\n", 60000, "--- {}\n");
    expect_error(yaml, "p.yaml: more tag directives (%TAG) than the limit of 32");
    free(yaml);
}

TEST(the_end_of_a_long_file_name_is_shown)
{
    char name[400];
    takt_config *config = NULL;
    takt_error error;
    memset(name, 'd', sizeof name);
    strcpy(name + sizeof name - 14, "/profile.yaml");
    assert_int_equal(takt_config_parse("output: 1", 9, name, &config, &error), TAKT_BAD_CONFIG);
    assert_string_equal(error.message,
                        "...ddddddddddddddddddddddddddddddddddddddddddddddddddd/profile.yaml:1:9: "
                        "output: expected keys with values below it, got '1'");
    strcpy(name, "流体流体流体流体流体流体流体流体流体流体流体流体.yaml");
    assert_int_equal(takt_config_parse("output: 1", 9, name, &config, &error), TAKT_BAD_CONFIG);
    assert_string_equal(error.message,
                        "...体流体流体流体流体流体流体流体流体流体.yaml:1:9: output: expected keys "
                        "with values below it, got '1'");
    assert_int_equal(takt_config_parse("output: 1", 9, NULL, &config, &error), TAKT_BAD_CONFIG);
    assert_string_equal(error.message, "text:1:9: output: expected keys with values below it, "
                                       "got '1'");
}

TEST(callers_mistakes_are_refused)
{
    takt_config *config = NULL;
    takt_error error = {0};
    assert_int_equal(takt_config_parse(NULL, 3, "x", &config, &error), TAKT_BAD_ARGUMENT);
    assert_int_equal(error.status, TAKT_BAD_ARGUMENT);
    assert_string_equal(error.message, "text is NULL");
    assert_int_equal(takt_config_parse("", 0, "x", NULL, &error), TAKT_BAD_ARGUMENT);
    assert_null(config);
    assert_int_equal(takt_config_parse(NULL, 0, "x", &config, &error), TAKT_OK);
    takt_config_destroy(config);
    takt_config_destroy(NULL);
    assert_false(takt_config_enabled(NULL));
    takt_profiler_options options;
    assert_int_equal(takt_config_options(NULL, &options), TAKT_BAD_ARGUMENT);
}

/* ---- Options of reports ---------------------------------------------------------------------- */

TEST(options_of_a_report_follow_its_name)
{
    static const char *const texts[] = {
        "reports:\n  - summary\n  - scopes:\n      rows: 20\n      sort: CPU total\n"
        "      all: yes\n  - kernels: {by_arguments: on, width: 120}\n  - tree:\n",
        "reports: [summary, scopes rows=20 sort=CPU_total all=yes, kernels by_arguments=on "
        "width=120, tree]",
        "reports: summary,scopes rows=20 sort=CPU_total all=yes,"
        "kernels by_arguments=on width=120,tree",
    };
    for (size_t i = 0; i < 3; i++) {
        takt_config *config = config_of(texts[i]);
        const takt_profiler_options *options = options_of(config);
        assert_int_equal(options->report_count, 4);
        assert_string_equal(options->reports[1], "scopes rows=20 sort=CPU_total all=yes");
        assert_string_equal(options->reports[2], "kernels by_arguments=on width=120");
        assert_string_equal(options->reports[3], "tree");
        takt_config_destroy(config);
    }
}

TEST(wrong_options_of_a_report_have_a_place)
{
    expect_error("reports:\n  - scopes: {row: 20}\n",
                 "p.yaml:2:5: reports: scopes: unknown option 'row'; did you mean 'rows'?");
    expect_error("reports: [scopes rows=many]",
                 "p.yaml:1:11: reports: scopes: rows: expected a number of rows from 1, or all, "
                 "got 'many'");
    expect_error("reports:\n  - scopes: {by_stack: 129}\n",
                 "p.yaml:2:5: reports: scopes: by_stack: expected a number of frames from 1 to "
                 "128, got '129'");
    expect_error("reports:\n  - scops: {rows: 20}\n",
                 "p.yaml:2:5: reports: expected a report, got 'scops rows=20'; did you mean "
                 "'scopes'?");
    expect_error("reports:\n  - scopes: {rows: 20}\n    tree: {rows: 3}\n",
                 "p.yaml:3:5: reports: expected one report in each item, got 'tree'");
    expect_error("reports:\n  - scopes: [rows]\n",
                 "p.yaml:2:13: reports: expected options of a report, such as {rows: 20}, got a "
                 "list");
}

int main(void)
{
    begin_quietly();
    return run_all_tests(NULL, NULL);
}
