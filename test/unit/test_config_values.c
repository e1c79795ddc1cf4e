/* Values: what each type takes, and what it says about anything else. */
#include "test_config.h"
#include "support/test.h"

#include <takt/export.h>
#include <takt/report.h>

static takt_status set(const char *key, const char *value, takt_error *error)
{
    takt_config *config = config_of("");
    takt_status status = takt_config_set(config, key, value, error);
    takt_config_destroy(config);
    return status;
}

static void assert_refused(const char *key, const char *value, const char *message)
{
    takt_error error = {0};
    assert_int_equal(set(key, value, &error), TAKT_BAD_CONFIG);
    assert_string_equal(error.message, message);
    assert_int_equal(error.status, TAKT_BAD_CONFIG);
    assert_int_equal(error.line, 0);
}

static bool synchronize_of(const char *value)
{
    takt_config *config = config_of("");
    assert_int_equal(takt_config_set(config, "profiling.synchronize", value, NULL), TAKT_OK);
    bool is_on = options_of(config)->synchronize;
    takt_config_destroy(config);
    return is_on;
}

static uint64_t max_memory_of(const char *value)
{
    takt_config *config = config_of("");
    assert_int_equal(takt_config_set(config, "profiling.max_memory", value, NULL), TAKT_OK);
    uint64_t bytes = options_of(config)->max_memory_bytes;
    takt_config_destroy(config);
    return bytes;
}

TEST(switches_have_three_spellings)
{
    static const char *const on[] = {"true", "yes", "on", "True", "YES", "On"};
    static const char *const off[] = {"false", "no", "off", "False", "NO", "Off"};
    for (size_t i = 0; i < COUNT_OF(on); i++) {
        assert_true(synchronize_of(on[i]));
        assert_false(synchronize_of(off[i]));
    }
}

TEST(switches_refuse_anything_else)
{
    assert_refused("profiling.synchronize", "1",
                   "profiling.synchronize: expected true or false, got '1'; did you mean 'true'?");
    assert_refused("profiling.synchronize", "",
                   "profiling.synchronize: expected true or false, got ''");
    assert_refused("profiling.synchronize", "true ",
                   "profiling.synchronize: expected true or false, got 'true '; did you mean 'true'?");
}

TEST(counts_are_decimal_and_in_range)
{
    static const char *const bad[] = {"three",
                                      "-1",
                                      "+1",
                                      "1.0",
                                      "1e3",
                                      "0x10",
                                      "010",
                                      "1_000",
                                      "",
                                      " 1",
                                      "1 ",
                                      "4294967296",
                                      "18446744073709551616",
                                      "184467440737095516160",
                                      "00",
                                      "~",
                                      "１",
                                      "true",
                                      "3 steps"};
    takt_config *config = config_of("");
    assert_int_equal(takt_config_set(config, "profiling.wait", "4294967295", NULL), TAKT_OK);
    assert_int_equal(options_of(config)->schedule.wait, UINT32_MAX);
    assert_int_equal(takt_config_set(config, "profiling.wait", "0", NULL), TAKT_OK);
    assert_int_equal(options_of(config)->schedule.wait, 0);
    takt_config_destroy(config);
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_int_equal(set("profiling.wait", bad[i], NULL), TAKT_BAD_CONFIG);
    assert_refused("profiling.wait", "three",
                   "profiling.wait: expected a whole number from 0 to 4294967295, got 'three'");
    assert_refused("profiling.level", "0",
                   "profiling.level: expected a whole number from 1 to 4, got '0'");
    assert_refused("profiling.level", "5",
                   "profiling.level: expected a whole number from 1 to 4, got '5'");
}

TEST(sizes_have_units)
{
    assert_int_equal(max_memory_of("65536"), 65536);
    assert_int_equal(max_memory_of("65536 B"), 65536);
    assert_int_equal(max_memory_of("64KiB"), 65536);
    assert_int_equal(max_memory_of("64 kib"), 65536);
    assert_int_equal(max_memory_of("64K"), 65536);
    assert_int_equal(max_memory_of("256 MiB"), UINT64_C(256) << 20);
    assert_int_equal(max_memory_of("2G"), UINT64_C(2) << 30);
    assert_int_equal(max_memory_of("1 TiB"), UINT64_C(1) << 40);
    assert_int_equal(max_memory_of("1T"), UINT64_C(1) << 40);
    assert_int_equal(max_memory_of("100 KB"), 100000);
    assert_int_equal(max_memory_of("5 MB"), 5000000);
    assert_int_equal(max_memory_of("1 GB"), 1000000000);
    assert_int_equal(max_memory_of("1TB"), UINT64_C(1000000000000));
    assert_int_equal(max_memory_of("1.5 GiB"), UINT64_C(1536) << 20);
    assert_int_equal(max_memory_of("0.25 MiB"), UINT64_C(256) << 10);
    assert_int_equal(max_memory_of("2.000001 MB"), 2000001);
}

TEST(wrong_values_are_told_with_what_to_write)
{
    static const struct {
        const char *key, *value, *advice;
    } cases[] = {
        {"profiling.wait", "1,000", "'1,000'; write the number alone: 1000"},
        {"profiling.wait", "1_000", "'1_000'; write the number alone: 1000"},
        {"profiling.wait", "007", "'007'; write the number alone: 7"},
        {"profiling.wait", "3 steps", "'3 steps'; write the number alone: 3"},
        {"profiling.wait", "5,", "'5,'; leave out the comma"},
        {"profiling.wait", "3#three", "'3#three'; a comment needs a blank before '#'"},
        {"profiling.wait", "2.5", "'2.5'"},
        {"profiling.wait", "1e3", "'1e3'"},
        {"profiling.wait", "-1", "'-1'"},
        {"profiling.wait", "00", "'00'"},
        {"profiling.level", "7", "'7'"},
        {"profiling.device_wait_ms", "10s", "'10s'; write milliseconds: 10000"},
        {"profiling.device_wait_ms", "10 ms", "'10 ms'; write the number alone: 10"},
        {"profiling.max_memory", "256", "'256'; with a unit: '256 MiB'?"},
        {"profiling.peak_flops", "6 tera", "'6 tera'; units are k, M, G, T and P"},
        {"profiling.synchronize", "0", "'0'; did you mean 'false'?"},
        {"profiling.synchronize", "ture", "'ture'; did you mean 'true'?"},
        {"profiling.activities", "gpu", "'gpu'; did you mean 'cuda'?"},
        {"profiling.activities", "cpu cuda", "'cpu cuda'; commas separate words: [a, b]"},
        {"output.traces", "html folded", "'html folded'; commas separate items: [a, b]"},
        {"reports", "scopes kernels", "'kernels'; commas separate reports"},
        {"reports", "scopes - kernels", "'-'; begin each '- ' in the same column"},
        {"reports", "-scopes", "'-scopes'; an item needs a blank behind its '-'"},
        {"output.directory", "C:\\runs\new", "'; a '\\' needs single quotes"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        takt_error error = {0};
        assert_int_equal(set(cases[i].key, cases[i].value, &error), TAKT_BAD_CONFIG);
        size_t length = strlen(error.message);
        size_t expected = strlen(cases[i].advice);
        if (length < expected || strcmp(error.message + length - expected, cases[i].advice) != 0)
            fail_msg("%s", error.message);
        /* A number or a text without advice ends with what was got. */
        if (cases[i].advice[0] == '\'' && !strchr(cases[i].advice, ';'))
            assert_true(strncmp(error.message + length - expected - 4, "got ", 4) == 0);
    }
}

TEST(sizes_refuse_anything_else)
{
    static const char *const bad[] = {"0",       "65535",  "1025 GiB", "18014398509481984 KiB",
                                      "256 MiX", "MiB",    "1. GiB",   "-64 KiB",
                                      "64 KiB ", "64\tKB", "65536.5", "64 Kilo",  "16777216 TiB"};
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_int_equal(set("profiling.max_memory", bad[i], NULL), TAKT_BAD_CONFIG);
    assert_refused("profiling.max_memory", "256 MiX",
                   "profiling.max_memory: expected a size from 64 KiB to 1 TiB, such as "
                   "'256 MiB', got '256 MiX'; units are B, KiB, MiB, GiB, TiB, KB, MB, GB and TB");
}

static double peak_of(const char *value)
{
    takt_config *config = config_of("");
    assert_int_equal(takt_config_set(config, "profiling.peak_flops", value, NULL), TAKT_OK);
    double peak = options_of(config)->peak_flops;
    takt_config_destroy(config);
    return peak;
}

TEST(rates_have_prefixes)
{
    static const struct {
        const char *text;
        double value;
    } good[] = {
        {"0", 0},
        {"1", 1},
        {"67.5 T", 67.5e12},
        {"67.5T", 67.5e12},
        {"67500 G", 67.5e12},
        {"3.35 TB/s", 3.35e12},
        {"19.5 TFLOP/s", 19.5e12},
        {"1 PFLOPS", 1e15},
        {"2k", 2000},
        {"2 K", 2000},
        {"4.123456789 G", 4123456789.0},
        {"0.001 M", 1000},
        {"1.5", 1},
        {"1000 P", 1e18},
        {"12 B/s", 12},
    };
    static const char *const bad[] = {
        "",       "T",       "-1 T",  "1.",   ".5 T", "1e12", "1 t",           "1 TT",
        "1001 P", "67.5 TB", "1 GiB", "1 T ", "nan",  "inf",  "99999999999 P", "1.1234567890 T",
        "07 G"};
    for (size_t i = 0; i < COUNT_OF(good); i++)
        assert_true(peak_of(good[i].text) == good[i].value);
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_int_equal(set("profiling.peak_flops", bad[i], NULL), TAKT_BAD_CONFIG);
    assert_refused("profiling.host_peak_bandwidth", "fast",
                   "profiling.host_peak_bandwidth: expected an amount per second up to 1000 P, "
                   "such as '67.5 T', got 'fast'");
}

TEST(choices_are_words)
{
    assert_refused("profiling.mode", "traec",
                   "profiling.mode: expected trace, summary, both or flight, got 'traec'; "
                   "did you mean 'trace'?");
    assert_refused("profiling.repeat_mode", "Cycles",
                   "profiling.repeat_mode: expected cycles or additional, got 'Cycles'; did you "
                   "mean 'cycles'?");
    assert_refused("profiling.graph", "", "profiling.graph: expected node or launch, got ''");
    takt_config *config = config_of("");
    static const char *const modes[] = {"trace", "summary", "both", "flight"};
    for (size_t i = 0; i < COUNT_OF(modes); i++) {
        assert_int_equal(takt_config_set(config, "profiling.mode", modes[i], NULL), TAKT_OK);
        assert_int_equal(options_of(config)->mode, i);
    }
    takt_config_destroy(config);
}

TEST(lists_of_words_are_bits)
{
    takt_config *config = config_of("");
    assert_int_equal(options_of(config)->filter, TAKT_TIMING_ALL);
    assert_int_equal(takt_config_set(config, "profiling.filter", "memcpy ,  kernel", NULL),
                     TAKT_OK);
    assert_int_equal(options_of(config)->filter, TAKT_TIMING_MEMCPY | TAKT_TIMING_KERNEL);
    assert_int_equal(options_of(config)->activities, TAKT_ACTIVITIES_CPU | TAKT_ACTIVITIES_CUDA);
    assert_int_equal(takt_config_set(config, "profiling.activities", "cuda", NULL), TAKT_OK);
    assert_int_equal(options_of(config)->activities, TAKT_ACTIVITIES_CUDA);
    assert_int_equal(takt_config_set(config, "profiling.activities", "cpu", NULL), TAKT_OK);
    assert_int_equal(options_of(config)->activities, TAKT_ACTIVITIES_CPU);
    takt_config_destroy(config);
    assert_refused("profiling.filter", "kernel, memcopy",
                   "profiling.filter: expected kernel, builtin, memcpy, memset or graph, got "
                   "'memcopy'; did you mean 'memcpy'?");
    assert_refused("profiling.filter", "kernel,kernel", "profiling.filter: 'kernel' appears twice");
    assert_refused("profiling.filter", "",
                   "profiling.filter: expected a list of kernel, builtin, memcpy, memset or "
                   "graph, got an empty list");
    assert_refused("profiling.activities", "cpu,",
                   "profiling.activities: expected cpu or cuda, got ''");
}

TEST(lists_replace_and_may_be_empty)
{
    takt_config *config = config_of("reports: [tree]");
    assert_int_equal(options_of(config)->report_count, 1);
    assert_string_equal(options_of(config)->reports[0], "tree");
    assert_int_equal(takt_config_set(config, "reports", "steps, scopes", NULL), TAKT_OK);
    assert_int_equal(options_of(config)->report_count, 2);
    assert_string_equal(options_of(config)->reports[1], "scopes");
    assert_int_equal(takt_config_set(config, "reports", " ", NULL), TAKT_OK);
    assert_int_equal(options_of(config)->report_count, 0);
    takt_config_destroy(config);
    assert_refused("reports", "tree, tree", "reports: 'tree' appears twice");
}

TEST(patterns_are_regular_expressions)
{
    assert_int_equal(set("profiling.builtin", "^lib::(a|b), x.*y$", NULL), TAKT_OK);
    assert_refused("profiling.builtin", "^lib::(a",
                   "profiling.builtin: expected a regular expression, got '^lib::(a'");
}

TEST(lists_have_at_most_64_items)
{
    char list[512] = "p0";
    for (int i = 1; i < 64; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), ",p%d", i);
    assert_int_equal(set("profiling.builtin", list, NULL), TAKT_OK);
    strcat(list, ",one more");
    assert_refused("profiling.builtin", list, "profiling.builtin: expected at most 64 items");
}

TEST(items_have_at_most_255_bytes)
{
    char item[257];
    memset(item, 'i', 256);
    item[256] = '\0';
    assert_refused("profiling.builtin", item,
                   "profiling.builtin: expected at most 255 bytes, got 256");
    item[255] = '\0';
    assert_int_equal(set("profiling.builtin", item, NULL), TAKT_OK);
}

TEST(categories_are_switched)
{
    takt_config *config = config_of("");
    assert_int_equal(
        takt_config_set(config, "profiling.categories", "io:off, mpi : on,a:b:no", NULL), TAKT_OK);
    const takt_profiler_options *options = options_of(config);
    assert_int_equal(options->category_count, 3);
    assert_string_equal(options->categories[0].name, "io");
    assert_false(options->categories[0].is_on);
    assert_string_equal(options->categories[1].name, "mpi");
    assert_true(options->categories[1].is_on);
    assert_string_equal(options->categories[2].name, "a:b");
    assert_false(options->categories[2].is_on);
    takt_config_destroy(config);
    assert_refused("profiling.categories", "io",
                   "profiling.categories: expected names that are on or off, such as {io: off}, "
                   "got 'io'");
    assert_refused("profiling.categories", "io:maybe",
                   "profiling.categories: expected names that are on or off, such as {io: off}, "
                   "got 'maybe'");
    assert_refused("profiling.categories", "io:on,io:off",
                   "profiling.categories: 'io' appears twice");
    assert_refused("profiling.categories", ":on",
                   "profiling.categories: expected names that are on or off, such as {io: off}, "
                   "got ''");
}

TEST(names_of_runs_fit_into_file_names)
{
    char long_name[202];
    memset(long_name, 'n', 201);
    long_name[201] = '\0';
    assert_refused("profiling.name", "a/b",
                   "profiling.name: expected a name without '/', got 'a/b'");
    assert_refused("profiling.name", long_name,
                   "profiling.name: expected at most 200 bytes, got 201");
    long_name[200] = '\0';
    assert_int_equal(set("profiling.name", long_name, NULL), TAKT_OK);
    assert_int_equal(set("profiling.name", "two\nlines", NULL), TAKT_BAD_CONFIG);
    assert_int_equal(set("profiling.name", "\x1b[31mred", NULL), TAKT_BAD_CONFIG);
    assert_int_equal(set("profiling.name", "\xC2\x9B[31mred", NULL), TAKT_BAD_CONFIG);
    assert_int_equal(set("profiling.name", "bad \xff utf-8", NULL), TAKT_BAD_CONFIG);
    assert_int_equal(set("profiling.name", "Überströmung 流体", NULL), TAKT_OK);
}

TEST(folders_have_known_placeholders)
{
    assert_int_equal(set("output.directory", "/tmp/{host}/{pid}-{name}{time}/{", NULL), TAKT_OK);
    assert_int_equal(set("output.directory", "{}", NULL), TAKT_OK);
    assert_int_equal(set("output.directory", "", NULL), TAKT_BAD_CONFIG);
    assert_refused(
        "output.directory", "runs/{nmae}",
        "output.directory: expected a folder, in which {name} {time} {pid} {host} {rank} are "
        "replaced, got 'runs/{nmae}'; there is no {nmae}");
}

TEST(long_and_hostile_values_are_cut_in_messages)
{
    char *value = malloc(1000001);
    memset(value, 'x', 1000000);
    value[1000000] = '\0';
    assert_refused("profiling.wait", value,
                   "profiling.wait: expected a whole number from 0 to 4294967295, got "
                   "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...'");
    free(value);
    assert_refused("profiling.wait", "\x1b[2J\n",
                   "profiling.wait: expected a whole number from 0 to 4294967295, got '?[2J?'");
}

TEST(unknown_keys_get_a_suggestion)
{
    assert_refused("profiling.warmpu", "1",
                   "unknown key 'profiling.warmpu'; did you mean 'profiling.warmup'?");
    assert_refused("profiling.record-shapes", "1",
                   "unknown key 'profiling.record-shapes'; did you mean "
                   "'profiling.record_shapes'?");
    assert_refused("profiling.directory", "x",
                   "unknown key 'profiling.directory'; did you mean 'output.directory'?");
    assert_refused("wait", "1", "unknown key 'wait'; did you mean 'profiling.wait'?");
    assert_refused("profiling.xyzzy", "1", "unknown key 'profiling.xyzzy'");
    assert_refused("", "1", "unknown key ''");
    assert_refused("output", "1", "unknown key 'output'");
}

TEST(names_of_reports_and_traces_are_known)
{
    assert_refused("reports", "scops",
                   "reports: expected a report, got 'scops'; did you mean 'scopes'?");
    assert_refused("reports", "anything", "reports: expected a report, got 'anything'");
    assert_refused("output.traces", "json",
                   "output.traces: expected a trace format, got 'json'; the formats: perfetto "
                   "chrome folded folded-device stacks stacks-device speedscope xplane");
    assert_refused("output.traces", "chrom.gz",
                   "output.traces: expected a trace format, got 'chrom.gz'; did you mean "
                   "'chrome.gz'?");
    assert_refused(
        "output.traces", "html",
        "output.traces: html is no trace format: write perfetto, then run takt report --html");
    assert_int_equal(set("output.traces", "tensorboard, folded.gz, stacks-device", NULL), TAKT_OK);
}

/* What the configuration takes is what the library can do. */
TEST(every_report_and_format_can_be_asked_for)
{
    size_t reports = 0, formats = 0;
    for (; takt_report_name(reports); reports++)
        assert_string_equal(tkt_config_report_name(reports), takt_report_name(reports));
    assert_null(tkt_config_report_name(reports));
    for (; takt_export_name(formats); formats++)
        assert_true(tkt_config_is_trace(takt_export_name(formats)));
}

int main(void)
{
    begin_quietly();
    return run_all_tests(NULL, NULL);
}
