/* Any bytes as a configuration: a YAML file, TAKT_OPTIONS, and a command line. A failure must say
 * why on one line and leave everything else as it was; a success must be fit for use. */
#include "config/state.h"

#include "base/alloc.h"
#include "support/memory_sink.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ARGUMENTS_MAX 64

static void check(bool is_true)
{
    if (!is_true)
        abort();
}

static void ignore_line(takt_log_level level, const char *line, void *user)
{
    (void)level;
    (void)line;
    (void)user;
}

static void check_error(takt_status status, const takt_error *error)
{
    check(status == TAKT_BAD_CONFIG && error->status == status);
    check(error->message[0] != '\0' && memchr(error->message, '\0', sizeof error->message));
    for (const char *c = error->message; *c; c++)
        check((unsigned char)*c >= 0x20 && *c != 0x7f);
}

static void use(takt_config *config)
{
    takt_sink sink = {.write = discard};
    takt_profiler_options options;
    check(takt_config_options(config, &options) == TAKT_OK);
    check(options.mode <= TAKT_MODE_FLIGHT && options.level >= 1 && options.level <= 4);
    check(options.max_memory_bytes >= 65536 && options.filter != 0);
    check(options.directory && options.directory[0] != '\0');
    for (size_t i = 0; i < options.report_count; i++)
        check(options.reports[i] != NULL);
    check(takt_config_describe(config, &sink) == TAKT_OK);
    check(takt_config_set(config, "profiling.wait", "2", NULL) == TAKT_OK);
    takt_config_destroy(config);
}

static void as_file(const char *text, size_t size)
{
    takt_config *config = NULL;
    takt_error error = {0};
    takt_status status = takt_config_parse(text, size, "fuzz", &config, &error);
    if (status == TAKT_OK) {
        use(config);
    } else {
        check_error(status, &error);
        check(!config);
    }
}

static void as_options(const char *text)
{
    tkt_config_errors errors = {0};
    tkt_config_state *state = tkt_config_state_create(NULL);
    takt_status status = tkt_config_read_options(state, text, &errors);
    check((status == TAKT_OK) == (errors.count == 0));
    for (size_t i = 0; i < tkt_config_errors_kept(&errors); i++)
        check_error(TAKT_BAD_CONFIG, &errors.items[i].error);
    tkt_config_state_destroy(state);
}

/* What the environment says. */
static void as_environment(const char *text)
{
    takt_config *config = NULL;
    takt_error error = {0};
    setenv("TAKT_OPTIONS", text, 1);
    takt_status status = takt_config_create(&config, &error);
    unsetenv("TAKT_OPTIONS");
    if (status != TAKT_OK) {
        check_error(status, &error);
        check(!config);
        return;
    }
    takt_config_enabled(config);
    use(config);
}

/* A key, and its value behind the first '='. */
static void as_key(char *text)
{
    takt_config *config = NULL;
    takt_error error = {0};
    char *equals = strchr(text, '=');
    check(takt_config_parse("", 0, "empty", &config, NULL) == TAKT_OK);
    if (equals)
        *equals = '\0';
    takt_status status = takt_config_set(config, text, equals ? equals + 1 : "", &error);
    if (equals)
        *equals = '=';
    if (status != TAKT_OK)
        check_error(status, &error);
    use(config);
}

/* One argument a line. */
static void as_arguments(char *text)
{
    char *argv[ARGUMENTS_MAX + 2] = {text};
    char *given[ARGUMENTS_MAX + 2];
    int argc = 1;
    takt_config *config = NULL;
    takt_error error = {0};
    for (char *end = strchr(text, '\n'); end && argc <= ARGUMENTS_MAX; end = strchr(end, '\n')) {
        *end++ = '\0';
        argv[argc++] = end;
    }
    int given_count = argc;
    memcpy(given, argv, sizeof given);
    check(takt_config_parse("", 0, "empty", &config, NULL) == TAKT_OK);
    takt_status status = takt_config_args(config, &argc, argv, &error);
    check(argc >= 1 && argc <= given_count && argv[argc] == NULL && argv[0] == text);
    if (status != TAKT_OK) {
        check_error(status, &error);
        check(argc == given_count && memcmp(given, argv, sizeof given) == 0);
    }
    use(config);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    takt_set_log(ignore_line, NULL);
    as_file((const char *)data, size);
    char *text = malloc(size + 1);
    check(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    as_options(text);
    as_environment(text);
    as_key(text);
    as_arguments(text);
    free(text);
    return 0;
}
