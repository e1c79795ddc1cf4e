/* takt config: explains a configuration, and lists the keys. Everything it prints comes from the
 * library's schema. */
#include "config/config.h"
#include "cli/cli.h"

#include <takt/config.h>
#include <inttypes.h>
#include <string.h>

/* ======== JSON ======== */

/* takt config check --json: the meaning of a configuration, with the keys' own names. Sizes are in
 * bytes. null stands for no limit and for an endless schedule. */

static void put_schedule(const takt_schedule *schedule)
{
    printf(",\n  \"schedule\": {\"wait\": %u, \"warmup\": %u, \"active\": %u, \"repeat\": %u, "
           "\"repeat_mode\": \"%s\", \"skip_first\": %u, \"skip_first_wait\": %u}",
           schedule->wait, schedule->warmup, schedule->active, schedule->repeat,
           schedule->repeat_mode == TAKT_REPEAT_CYCLES ? "cycles" : "additional",
           schedule->skip_first, schedule->skip_first_wait);
    uint64_t steps = takt_schedule_steps_needed(schedule);
    fputs(",\n  \"steps_needed\": ", stdout);
    if (steps)
        printf("%" PRIu64, steps);
    else
        fputs("null", stdout);
}

static void put_text(const char *key, const char *text)
{
    printf(",\n  \"%s\": ", key);
    cli_put_json_text(text);
}

static void put_truth(const char *key, bool is_true)
{
    printf(",\n  \"%s\": %s", key, is_true ? "true" : "false");
}

static void put_names(const char *key, const char *const *names, size_t count)
{
    printf(",\n  \"%s\": [", key);
    for (size_t i = 0; i < count; i++) {
        fputs(i ? ", " : "", stdout);
        cli_put_json_text(names[i]);
    }
    putchar(']');
}

static void put_meaning(const takt_config *config)
{
    static const char *const modes[] = {"trace", "summary", "both", "flight"};
    takt_profiler_options meant;
    takt_config_options(config, &meant);

    put_truth("enabled", takt_config_enabled(config));
    put_text("name", meant.name);
    put_text("mode", modes[meant.mode]);
    put_schedule(&meant.schedule);
    put_truth("cpu", meant.activities & TAKT_ACTIVITIES_CPU);
    put_truth("cuda", meant.activities & TAKT_ACTIVITIES_CUDA);
    put_text("graph", meant.graph == TAKT_GRAPH_LAUNCH ? "launch" : "node");
    put_names("reports", meant.reports, meant.report_count);
    put_names("traces", meant.traces, meant.trace_count);
    put_text("directory", meant.directory);
    put_truth("stream", meant.stream);
    printf(",\n  \"max_trace_size\": %" PRIu64 ",\n  \"max_memory\": %" PRIu64,
           meant.max_trace_bytes, meant.max_memory_bytes);
}

static void put_error(const takt_error *error)
{
    put_text("message", error->message);
    printf(",\n  \"line\": %u,\n  \"column\": %u", error->line, error->column);
}

/* Prints one object: the meaning of the configuration or, if it is NULL, the error. */
static void config_put_json(const char *path, const takt_config *config, const takt_error *error)
{
    fputs("{\n  \"file\": ", stdout);
    cli_put_json_text(path);
    put_truth("is_valid", config != NULL);
    if (config)
        put_meaning(config);
    else
        put_error(error);
    fputs("\n}", stdout);
}

/* ======== The verb ======== */

static const cli_option options[] = {
    {0, "json", NULL, "check and explain: as JSON; several files become one array"},
};

static const cli_syntax syntax = {
    .verb = "config",
    .usage = "check [--json] FILE... | explain [--json] | options",
    .text = "  check FILE...  tells what is wrong with a configuration, or what it means: the\n"
            "                 action of each step and the steps that a program must run;\n"
            "                 TAKT_OPTIONS counts as it does in the program\n"
            "  explain        prints every key with its type, default and meaning, as YAML\n"
            "  options        prints the same as options of a program's command line",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .words = "check explain options",
};

/* Checks that a profiler can be made from the configuration. The call also links the lists of
 * reports and formats, whose names the library checks only if the lists are linked. */
static takt_status try_profiler(const takt_config *config)
{
    takt_profiler *profiler = NULL;
    takt_profiler_options meant;
    takt_config_options(config, &meant);
    takt_status status = takt_profiler_create(&meant, &profiler);
    takt_profiler_destroy(profiler);
    return status;
}

/* Loads a file. Returns NULL and sets *error if no profiler can be made from it. */
static takt_config *load(const char *path, takt_error *error)
{
    takt_config *config = NULL;
    *error = (takt_error){.status = TAKT_OK};
    takt_status status = takt_config_load(path, &config, error);
    if (status == TAKT_OK)
        status = try_profiler(config);
    if (status == TAKT_OK)
        return config;
    if (!error->message[0])
        snprintf(error->message, sizeof error->message, "%s: %s", path, takt_status_text(status));
    takt_config_destroy(config);
    return NULL;
}

static int check_file(const char *path, bool is_json)
{
    takt_error error;
    takt_config *config = load(path, &error);
    takt_sink sink = cli_stdout_sink();
    if (is_json)
        config_put_json(path, config, &error);
    if (!config)
        return cli_error("%s", error.message);
    takt_status status = is_json ? TAKT_OK : takt_config_describe(config, &sink);
    takt_config_destroy(config);
    if (status != TAKT_OK && status != TAKT_IO_ERROR)
        return cli_error("%s: %s", path, takt_status_text(status));
    return CLI_OK;
}

static void print_head(const char *path, bool is_first)
{
    char clean[512];
    printf("%s==> %s <==\n", is_first ? "" : "\n", cli_clean(clean, sizeof clean, path));
}

static int check_files(char **files, int count, bool is_json)
{
    const char *variable = cli_variable("TAKT_OPTIONS");
    char clean[512];
    int result = CLI_OK;

    if (count == 0)
        return cli_usage_error(&syntax, "check: no file given: name a configuration");
    if (variable && !is_json)
        printf("With TAKT_OPTIONS=\"%s\"\n", cli_clean(clean, sizeof clean, variable));
    for (int i = 0; i < count; i++) {
        if (is_json)
            fputs(count == 1 ? "" : i ? ",\n" : "[\n", stdout);
        else if (count > 1)
            print_head(files[i], i == 0);
        if (check_file(files[i], is_json) != CLI_OK)
            result = CLI_FAILED;
    }
    if (is_json)
        fputs(count > 1 ? "]\n" : "\n", stdout);
    return result;
}

typedef struct schema_printer {
    const char *name;
    takt_status (*print)(const takt_sink *sink);
    takt_status (*print_json)(const takt_sink *sink); /* NULL: there is no JSON form */
} schema_printer;

/* The help omits "markdown", which only serves to make docs/config.md. */
static const schema_printer printers[] = {
    {"explain", tkt_config_explain, tkt_config_json},
    {"options", takt_config_help, NULL},
    {"markdown", tkt_config_markdown, NULL},
};

enum {
    PRINTER_COUNT = sizeof printers / sizeof *printers
};

static int unknown_action(const char *action)
{
    cli_nearest nearest = {.word = action};
    cli_nearest_try(&nearest, "check");
    for (size_t i = 0; i < PRINTER_COUNT; i++)
        cli_nearest_try(&nearest, printers[i].name);
    if (nearest.best)
        return cli_usage_error(&syntax, "unknown action %s; did you mean %s?", action,
                               nearest.best);
    return cli_usage_error(&syntax, "unknown action %s", action);
}

static int print_schema(const schema_printer *printer, int operand_count, bool is_json)
{
    if (operand_count > 0)
        return cli_usage_error(&syntax, "%s takes no file", printer->name);
    if (is_json && !printer->print_json)
        return cli_usage_error(&syntax, "%s is not printed as JSON", printer->name);
    takt_sink sink = cli_stdout_sink();
    takt_status status = is_json ? printer->print_json(&sink) : printer->print(&sink);
    if (status != TAKT_OK && status != TAKT_IO_ERROR)
        return cli_error("%s", takt_status_text(status));
    return CLI_OK;
}

static int act(char **operands, int count, bool is_json)
{
    if (count == 0)
        return cli_usage_error(&syntax, "no action given: check FILE, explain or options");
    if (strcmp(operands[0], "check") == 0)
        return check_files(operands + 1, count - 1, is_json);
    for (size_t i = 0; i < PRINTER_COUNT; i++)
        if (strcmp(operands[0], printers[i].name) == 0)
            return print_schema(&printers[i], count - 1, is_json);
    return unknown_action(operands[0]);
}

int cli_config(int argc, char **argv)
{
    cli_args args = cli_args_of(&syntax, argc, argv);
    const char *value = NULL;
    bool is_json = false;
    int item, count = 0;

    /* Moves operands to the front of argv, never beyond the argument that is read next. */
    while ((item = cli_args_next(&args, &value)) == CLI_OPERAND || item >= 0) {
        if (item == CLI_OPERAND)
            argv[1 + count++] = argv[args.next - 1];
        else
            is_json = true; /* --json is the only option */
    }
    if (item == CLI_HELP)
        return CLI_OK;
    if (item != CLI_NO_ITEM)
        return CLI_USAGE;
    return act(argv + 1, count, is_json);
}
