/* Memory: every allocation fails once, and from there on for ever; nothing is half done or lost.
 * libyaml allocates with malloc itself and is not reached by this. */
#include "test_config.h"

#include "config/state.h"
#include "config/config.h"

static const char yaml[] = "own: {section: [1, 2]}\n"
                           "profiling:\n"
                           "  name: sph\n"
                           "  builtin: [a, b, c]\n"
                           "  categories: {io: off, mpi: on}\n"
                           "reports: [tree, steps]\n"
                           "output: {directory: here, traces: [chrome]}\n";

static takt_status parse(takt_config **config, takt_error *error)
{
    return takt_config_parse(yaml, strlen(yaml), "p.yaml", config, error);
}

static void assert_whole(const takt_config *config)
{
    const takt_profiler_options *options = options_of(config);
    assert_string_equal(options->name, "sph");
    assert_int_equal(options->schedule.wait, 3);
    assert_int_equal(options->report_count, 2);
    assert_int_equal(options->category_count, 2);
    assert_string_equal(options->traces[0], "chrome");
}

static void parsing_survives_every_failure(void **state)
{
    const uint64_t *failures = *state;
    takt_status status = TAKT_NO_MEMORY;
    for (uint64_t after = 0; status != TAKT_OK; after++) {
        takt_config *config = NULL;
        takt_error error = {0};
        assert_true(after < 1000);
        tkt_alloc_fail(after, *failures);
        status = parse(&config, &error);
        tkt_alloc_fail(0, 0);
        if (status == TAKT_OK) {
            assert_whole(config);
            takt_config_destroy(config);
        } else {
            assert_int_equal(status, TAKT_NO_MEMORY);
            assert_int_equal(error.status, TAKT_NO_MEMORY);
            assert_string_equal(error.message, "out of memory");
            assert_null(config);
        }
    }
}

/* How many small pieces fit into the memory that a state has; it is full then. */
static size_t fill(tkt_config_state *state, size_t pieces)
{
    size_t count = 0;
    tkt_alloc_fail(0, UINT64_MAX);
    while (count < pieces && tkt_arena_alloc(&state->memory, 16))
        count++;
    tkt_alloc_fail(0, 0);
    return count;
}

static takt_status set_everything(tkt_config_state *state)
{
    tkt_config_errors errors = {.count = 0};
    takt_status status = tkt_config_read_yaml(state, yaml, strlen(yaml), "p.yaml", &errors);
    if (status == TAKT_OK)
        status = tkt_config_read_options(state, "profiling.name=x profiling.categories=a:on", NULL);
    if (status == TAKT_OK)
        status = tkt_config_build_options(state);
    return status;
}

/* Values share blocks of memory, so each gets its turn as the first that needs a new block. */
static void every_value_survives_full_memory(void **state)
{
    (void)state;
    tkt_config_state *values = tkt_config_state_create(NULL);
    size_t room = fill(values, SIZE_MAX);
    tkt_config_state_destroy(values);
    takt_status status = TAKT_NO_MEMORY;
    for (size_t left = 0; status != TAKT_OK; left++) {
        assert_true(left <= room);
        values = tkt_config_state_create(NULL);
        assert_int_equal(fill(values, room - left), room - left);
        tkt_alloc_fail(0, UINT64_MAX);
        status = set_everything(values);
        tkt_alloc_fail(0, 0);
        assert_true(status == TAKT_OK || status == TAKT_NO_MEMORY);
        if (status == TAKT_OK)
            assert_string_equal(values->options.builtin[0], "a");
        tkt_config_state_destroy(values);
    }
}

static void the_environment_survives_every_failure(void **state)
{
    const uint64_t *failures = *state;
    takt_status status = TAKT_NO_MEMORY;
    setenv("TAKT_OPTIONS", "profiling.name=env reports=ops,api", 1);
    for (uint64_t after = 0; status != TAKT_OK; after++) {
        takt_config *config = NULL;
        assert_true(after < 1000);
        tkt_alloc_fail(after, *failures);
        status = takt_config_create(&config, NULL);
        tkt_alloc_fail(0, 0);
        assert_true(status == TAKT_OK ? config != NULL : status == TAKT_NO_MEMORY && !config);
        takt_config_destroy(config);
    }
    unsetenv("TAKT_OPTIONS");
}

static void changes_survive_every_failure(void **state)
{
    const uint64_t *failures = *state;
    takt_config *config = NULL;
    takt_status status = TAKT_NO_MEMORY;
    assert_int_equal(parse(&config, NULL), TAKT_OK);
    for (uint64_t after = 0; status != TAKT_OK; after++) {
        assert_true(after < 1000);
        tkt_alloc_fail(after, *failures);
        status = takt_config_set(config, "reports", "gaps, api", NULL);
        tkt_alloc_fail(0, 0);
        assert_whole(config);
    }
    assert_string_equal(options_of(config)->reports[0], "gaps");
    takt_config_destroy(config);
}

/* A copy that needs several blocks of memory. */
static void copies_of_long_lists_survive_every_failure(void **state)
{
    const uint64_t *failures = *state;
    char list[64 * 256];
    char *end = list;
    for (int i = 0; i < 64; i++)
        end += sprintf(end, "%0254d,", i);
    end[-1] = '\0';
    takt_config *config = config_of(yaml);
    assert_int_equal(takt_config_set(config, "profiling.builtin", list, NULL), TAKT_OK);
    takt_status status = TAKT_NO_MEMORY;
    for (uint64_t after = 0; status != TAKT_OK; after++) {
        assert_true(after < 1000);
        assert_whole(config);
        tkt_alloc_fail(after, *failures);
        status = takt_config_set(config, "output.directory", "there", NULL);
        tkt_alloc_fail(0, 0);
    }
    assert_string_equal(options_of(config)->directory, "there");
    takt_config_destroy(config);
}

static void arguments_survive_every_failure(void **state)
{
    const uint64_t *failures = *state;
    takt_config *config = NULL;
    takt_status status = TAKT_NO_MEMORY;
    char *argv[] = {(char[]){"sim"},     (char[]){"--profiling.name"},   (char[]){"other"},
                    (char[]){"in.data"}, (char[]){"--reports=ops,gaps"}, NULL};
    int argc = 5;
    assert_int_equal(parse(&config, NULL), TAKT_OK);
    for (uint64_t after = 0; status != TAKT_OK; after++) {
        assert_true(after < 1000);
        assert_int_equal(argc, 5);
        assert_whole(config);
        tkt_alloc_fail(after, *failures);
        status = takt_config_args(config, &argc, argv, NULL);
        tkt_alloc_fail(0, 0);
    }
    assert_int_equal(argc, 2);
    assert_string_equal(argv[1], "in.data");
    assert_string_equal(options_of(config)->name, "other");
    takt_config_destroy(config);
}

static void texts_survive_every_failure(void **state)
{
    const uint64_t *failures = *state;
    takt_config *config = NULL;
    assert_int_equal(parse(&config, NULL), TAKT_OK);
    for (uint64_t after = 0; after < 4; after++) {
        takt_sink sink = takt_sink_fd(-1);
        tkt_alloc_fail(after, *failures);
        assert_int_not_equal(takt_config_describe(config, &sink), TAKT_OK);
        assert_int_not_equal(tkt_config_explain(&sink), TAKT_OK);
        tkt_alloc_fail(0, 0);
    }
    takt_config_destroy(config);
}

static uint64_t once = 1;
static uint64_t for_ever = UINT64_MAX;

#define ONCE_AND_FOR_EVER(name)                                                                    \
    {#name " (once)", name, NULL, NULL, &once},                                                    \
    {                                                                                              \
#name " (for ever)", name, NULL, NULL, &for_ever                                           \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        ONCE_AND_FOR_EVER(parsing_survives_every_failure),
        cmocka_unit_test(every_value_survives_full_memory),
        ONCE_AND_FOR_EVER(the_environment_survives_every_failure),
        ONCE_AND_FOR_EVER(changes_survive_every_failure),
        ONCE_AND_FOR_EVER(copies_of_long_lists_survive_every_failure),
        ONCE_AND_FOR_EVER(arguments_survive_every_failure),
        ONCE_AND_FOR_EVER(texts_survive_every_failure),
    };
    begin_quietly();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
