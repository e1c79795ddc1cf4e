/* takt config: what a configuration means, and which keys there are. Everything printed comes from
 * the library's one schema. */
#include "cli/config.h"

#include "config/markdown.h"
#include "config/document.h"

#include <string.h>

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

/* A configuration is right when a profiler can be made from it. That the profiler is referred to
 * here also links the names of reports and formats, which the library checks only where it has
 * them. */
static takt_status try_profiler(const takt_config *config)
{
    takt_profiler *profiler = NULL;
    takt_profiler_options meant;
    takt_config_options(config, &meant);
    takt_status status = takt_profiler_create(&meant, &profiler);
    takt_profiler_destroy(profiler);
    return status;
}

/* The configuration of a file, if a profiler can be made from it; otherwise NULL and *error. */
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
        return cli_usage_error(&syntax, "check which file?");
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
    takt_status (*print_json)(const takt_sink *sink); /* NULL: there is no such form */
} schema_printer;

/* "markdown" makes docs/config.md and is of no use to anyone else, so the help leaves it out. */
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
        return cli_usage_error(&syntax, "what about the configuration? check FILE or explain");
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

    /* Operands move to the front; they never overtake the argument that is read next. */
    while ((item = cli_args_next(&args, &value)) == CLI_OPERAND || item >= 0) {
        if (item == CLI_OPERAND)
            argv[1 + count++] = argv[args.next - 1];
        else
            is_json = true; /* the only option */
    }
    if (item == CLI_HELP)
        return CLI_OK;
    if (item != CLI_NO_ITEM)
        return CLI_USAGE;
    return act(argv + 1, count, is_json);
}
