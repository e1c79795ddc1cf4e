/* What a configuration is said to mean, and what is said about keys that are not served yet. */
#include "test_config.h"

#include "config/config.h"

#include "support/test.h"

static void assert_says(const char *yaml, const char *part)
{
    takt_config *config = config_of(yaml);
    char *text = description_of(config);
    if (!strstr(text, part))
        fail_msg("'%s' is not in:\n%s", part, text);
    tkt_free(text);
    takt_config_destroy(config);
}

static void assert_does_not_say(const char *yaml, const char *part)
{
    takt_config *config = config_of(yaml);
    char *text = description_of(config);
    if (strstr(text, part))
        fail_msg("'%s' is in:\n%s", part, text);
    tkt_free(text);
    takt_config_destroy(config);
}

TEST(a_whole_description)
{
    takt_config *config = config_of("training: {epochs: 11}\n"
                                    "profiling: {skip_first: 1, categories: {io: off, mpi: on}}\n"
                                    "reports: [tree]\n"
                                    "output: {traces: [chrome.gz], stream: true}\n"
                                    "\"a\\nb\": 1\n");
    char *text = description_of(config);
    assert_string_equal(text, "profiling: on\n"
                              "mode: trace\n"
                              "schedule: wait 3, warmup 1, active 3, repeat 1 (cycles)\n"
                              "  step 0           skipped\n"
                              "  steps 1-3        wait\n"
                              "  step 4           warmup\n"
                              "  steps 5-7        recorded, saved when step 7 ends\n"
                              "  from step 8      nothing\n"
                              "steps needed: 8; with repeat_mode additional: 12\n"
                              "activities: cpu, cuda, each node of a CUDA graph\n"
                              "categories: io off, mpi on\n"
                              "reports: tree\n"
                              "traces: chrome.gz, and perfetto while recording\n"
                              "  in runs/{name}/{time}, at most 256 MiB each\n"
                              "memory: at most 256 MiB of recorded events\n"
                              "sections skipped: 'training' (line 1), 'a?b' (line 5)\n");
    tkt_free(text);
    takt_config_destroy(config);
}

TEST(it_says_whether_and_why_profiling_is_off)
{
    assert_says("", "profiling: off (no profiling section, or an empty one)\n");
    assert_says("profiling: off", "profiling: off (profiling.enabled is false)\n");
    assert_says("profiling: on", "profiling: on\n");
}

TEST(it_says_what_is_observed)
{
    assert_says("profiling: {activities: [cuda], graph: launch}",
                "\nactivities: cuda, each launch of a CUDA graph\n");
    assert_says("profiling: {activities: [cpu]}", "\nactivities: cpu\n");
}

TEST(repeat_zero_is_explained_in_both_modes)
{
    static const char meaning[] = "  repeat 0 is for ever with repeat_mode cycles, and one round "
                                  "with repeat_mode additional\n";
    assert_says("profiling: {repeat: 0}", meaning);
    assert_says("profiling: {repeat: 0}", "  steps 18-20      recorded, saved when step 20 ends\n"
                                          "  and so on for ever, a cycle every 7 steps\n"
                                          "steps needed: none, it goes on for ever; with "
                                          "repeat_mode additional: 7\n");
    assert_says("profiling: {repeat: 0, repeat_mode: additional}", meaning);
    assert_says("profiling: {repeat: 0, repeat_mode: additional}",
                "  from step 7      nothing\n"
                "steps needed: 7; with repeat_mode cycles: none, it goes on for ever\n");
    assert_does_not_say("profiling: {repeat: 1}", "repeat 0");
}

/* Three are written out, and only what comes after them is summed up. */
TEST(three_cycles_are_all_of_three)
{
    assert_says("profiling: {repeat: 3}", "recorded, saved when step 20 ends\n"
                                          "  from step 21     nothing\n");
}

TEST(the_seed_needs_eleven_steps_when_repeats_are_additional)
{
    assert_says("profiling: {repeat_mode: additional}",
                "schedule: wait 3, warmup 1, active 3, repeat 1 (additional)\n"
                "  steps 0-2        wait\n"
                "  step 3           warmup\n"
                "  steps 4-6        recorded, saved when step 6 ends\n"
                "  step 7           warmup\n"
                "  steps 8-10       recorded, saved when step 10 ends\n"
                "  from step 11     nothing\n"
                "steps needed: 11; with repeat_mode cycles: 7\n");
}

TEST(many_cycles_are_summed_up)
{
    assert_says("profiling: {repeat: 4294967295, wait: 4294967295, warmup: 4294967295, "
                "active: 4294967295}",
                "  and so on, 4294967292 more cycles of 12884901885 steps\n");
    assert_says("profiling: {repeat: 4}", "  and so on, 1 more cycles of 7 steps\n");
}

TEST(no_schedule_is_one_trace)
{
    assert_says("profiling: {active: 0}", "schedule: none (active 0): every step from start to "
                                          "stop is recorded, as one trace\n");
}

TEST(what_is_empty_is_called_none)
{
    assert_says("reports: []", "reports: none\n");
    assert_says("output: {traces: []}", "traces: none\n");
    assert_does_not_say("profiling: {}", "categories");
    assert_does_not_say("profiling: {}", "skipped");
}

TEST(skipped_sections_are_not_listed_without_end)
{
    char yaml[4000] = "";
    for (int i = 0; i < 70; i++)
        snprintf(yaml + strlen(yaml), sizeof yaml - strlen(yaml), "section%d: 1\n", i);
    assert_says(yaml, ", 'section63' (line 64) and more\n");
}

/* Every step of the description's ranges must be what the schedule says it is. */
static takt_action described_action(const char *text, uint64_t step)
{
    for (const char *line = text; line; line = strchr(line, '\n')) {
        unsigned long long first;
        unsigned long long last;
        char what[16];
        line += *line == '\n';
        if (sscanf(line, "  step %llu %15[a-z]", &first, what) == 2)
            last = first;
        else if (sscanf(line, "  steps %llu-%llu %15[a-z]", &first, &last, what) != 3)
            continue;
        if (step < first || step > last)
            continue;
        if (strcmp(what, "recorded") == 0)
            return step == last ? TAKT_ACTION_RECORD_AND_SAVE : TAKT_ACTION_RECORD;
        return strcmp(what, "warmup") == 0 ? TAKT_ACTION_WARMUP : TAKT_ACTION_NONE;
    }
    return TAKT_ACTION_NONE;
}

static void assert_described(const char *yaml)
{
    takt_config *config = config_of(yaml);
    const takt_schedule *schedule = &options_of(config)->schedule;
    char *text = description_of(config);
    uint64_t needed = takt_schedule_steps_needed(schedule);
    for (uint64_t step = 0; step < (needed ? needed + 3 : 12); step++) {
        if (described_action(text, step) != takt_schedule_action(schedule, step))
            fail_msg("step %llu of %s is wrong in:\n%s", (unsigned long long)step, yaml, text);
    }
    tkt_free(text);
    takt_config_destroy(config);
}

TEST(described_steps_are_those_of_the_schedule)
{
    static const char *const modes[] = {"cycles", "additional"};
    char yaml[200];
    for (unsigned i = 0; i < 2 * 2 * 3 * 3 * 3 * 3 * 3; i++) {
        unsigned n = i;
        unsigned mode = n % 2, no_wait = (n /= 2) % 2, skip = (n /= 2) % 3, wait = (n /= 3) % 3;
        unsigned warmup = (n /= 3) % 3, active = (n /= 3) % 3 + 1, repeat = (n /= 3) % 3;
        snprintf(yaml, sizeof yaml,
                 "profiling: {repeat_mode: %s, skip_first_wait: %u, skip_first: %u, wait: %u, "
                 "warmup: %u, active: %u, repeat: %u}",
                 modes[mode], no_wait, skip, wait, warmup, active, repeat);
        if (repeat == 0 && mode == 0 && wait + warmup + active < 4)
            continue; /* three cycles are shown, which is less than is compared */
        assert_described(yaml);
    }
}

/* ---- Failures ---- */

static takt_status refuse(void *user, const void *data, size_t size)
{
    (void)user;
    (void)data;
    (void)size;
    return TAKT_IO_ERROR;
}

TEST(a_failing_sink_is_reported)
{
    takt_sink sink = {.write = refuse};
    takt_sink none = {0};
    takt_config *config = config_of("");
    assert_int_equal(takt_config_describe(config, &sink), TAKT_IO_ERROR);
    assert_int_equal(takt_config_help(&sink), TAKT_IO_ERROR);
    assert_int_equal(tkt_config_explain(&sink), TAKT_IO_ERROR);
    assert_int_equal(tkt_config_markdown(&sink), TAKT_IO_ERROR);
    assert_int_equal(tkt_config_json(&sink), TAKT_IO_ERROR);
    assert_int_equal(takt_config_describe(NULL, &sink), TAKT_BAD_ARGUMENT);
    assert_int_equal(takt_config_describe(config, NULL), TAKT_BAD_ARGUMENT);
    assert_int_equal(takt_config_describe(config, &none), TAKT_BAD_ARGUMENT);
    assert_int_equal(takt_config_help(NULL), TAKT_BAD_ARGUMENT);
    assert_int_equal(tkt_config_explain(NULL), TAKT_BAD_ARGUMENT);
    assert_int_equal(tkt_config_markdown(NULL), TAKT_BAD_ARGUMENT);
    assert_int_equal(tkt_config_json(NULL), TAKT_BAD_ARGUMENT);
    takt_config_destroy(config);
}

int main(void)
{
    begin_quietly();
    return run_all_tests(NULL, NULL);
}
