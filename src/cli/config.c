/* takt config: explains a configuration, and lists the keys. Everything it prints comes from the
 * library's schema. */
#include "config/config.h"
#include "config/state.h"
#include "base/error.h"
#include "base/file.h"
#include "cli/cli.h"
#include "report/request.h"
#include "trace/model.h"

#include <takt/config.h>
#include <takt/report.h>
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

/* The first error, then all of them. */
static void put_errors(const tkt_config_errors *errors)
{
    printf(",\n  \"message\": ");
    cli_put_json_text(errors->items[0].error.message);
    printf(",\n  \"line\": %u,\n  \"column\": %u,\n  \"error_count\": %zu,\n  \"errors\": [",
           errors->items[0].error.line, errors->items[0].error.column, errors->count);
    for (size_t i = 0; i < tkt_config_errors_kept(errors); i++) {
        const tkt_config_fault *fault = &errors->items[i];
        printf("%s\n    {\"message\": ", i ? "," : "");
        cli_put_json_text(fault->error.message);
        printf(", \"line\": %u, \"column\": %u, \"text\": ", fault->error.line,
               fault->error.column);
        cli_put_json_text(fault->shown);
        putchar('}');
    }
    fputs("\n  ]", stdout);
}

/* Prints one object: the meaning of the configuration or, if it is NULL, the errors. */
static void config_put_json(const char *path, const takt_config *config,
                            const tkt_config_errors *errors)
{
    fputs("{\n  \"file\": ", stdout);
    cli_put_json_text(path);
    put_truth("is_valid", config != NULL);
    if (config)
        put_meaning(config);
    else
        put_errors(errors);
    fputs("\n}", stdout);
}

/* ======== Doubts ======== */

/* What is valid, but most likely not what was meant. */

static void doubt_traces(const takt_profiler_options *meant)
{
    char clean[256];
    for (size_t i = 0; i < meant->trace_count && meant->mode == TAKT_MODE_SUMMARY; i++)
        if (strcmp(meant->traces[i], "perfetto") != 0 && strcmp(meant->traces[i], "folded") != 0)
            printf("careful: a summary has no spans, so no %s trace is written; use mode both\n",
                   cli_clean(clean, sizeof clean, meant->traces[i]));
    if (meant->mode == TAKT_MODE_FLIGHT && meant->stream)
        puts("careful: flight keeps the last spans only, and stream writes all of them; use one of "
             "both");
}

static takt_status drop_bytes(void *user, const void *data, size_t size)
{
    (void)user, (void)data, (void)size;
    return TAKT_OK;
}

/* An empty summary, as a recording makes it. NULL without memory. */
static takt_trace *make_summary(void)
{
    takt_trace *summary;
    if (tkt_trace_create(&summary) != TAKT_OK)
        return NULL;
    summary->facts.has_spans = false;
    if (tkt_trace_finish(summary) == TAKT_OK && tkt_trace_fold(summary)) {
        summary->fold.has_lists = true;
        return summary;
    }
    takt_trace_release(summary);
    return NULL;
}

/* Rows that are made by something that is not recorded. */
static void doubt_rows(const takt_profiler_options *meant, const tkt_report_request *request)
{
    bool is_scopes = strcmp(request->name, "scopes") == 0;
    if (is_scopes && request->options.by_arguments && meant->record_shapes == TAKT_OFF)
        puts("careful: by_arguments finds no arguments with record_shapes false");
    if (request->options.by_stack > 0 && !meant->with_stack)
        puts("careful: by_stack finds no stacks with with_stack false");
}

/* Reports that need spans refuse a summary. */
static void doubt_reports(const takt_profiler_options *meant)
{
    const takt_sink sink = {drop_bytes, NULL};
    char why[TKT_REQUEST_WHY];
    tkt_report_request request;
    takt_trace *summary = meant->mode == TAKT_MODE_SUMMARY ? make_summary() : NULL;
    for (size_t i = 0; i < meant->report_count; i++) {
        if (!tkt_report_request_read(&request, meant->reports[i], why))
            continue;
        if (summary && takt_report(summary, request.name, &request.options, &sink) == TAKT_NO_SPANS)
            printf("careful: a summary has no spans, so no %s report is printed; use mode both\n",
                   meant->reports[i]);
        else
            doubt_rows(meant, &request);
    }
    takt_trace_release(summary);
}

/* Without a schedule, keys of one have no effect. */
static void doubt_schedule(const tkt_config_state *state)
{
    static const tkt_config_id ids[] = {TKT_CONFIG_WAIT,       TKT_CONFIG_WARMUP,
                                        TKT_CONFIG_REPEAT,     TKT_CONFIG_REPEAT_MODE,
                                        TKT_CONFIG_SKIP_FIRST, TKT_CONFIG_SKIP_FIRST_WAIT};
    tkt_config_state *defaults = tkt_config_state_create(NULL);
    for (size_t i = 0; defaults && i < sizeof ids / sizeof *ids; i++) {
        const tkt_config_key *key = &tkt_config_keys[ids[i]];
        if (state->values[TKT_CONFIG_ACTIVE].number == 0 &&
            !tkt_config_value_equal(key, &state->values[ids[i]], &defaults->values[ids[i]]))
            printf("careful: %s has no effect with active 0\n", tkt_config_leaf(key));
    }
    tkt_config_state_destroy(defaults);
}

/* A file of keys without their section profiles nothing. */
static void doubt_sections(const tkt_config_state *state)
{
    char hint[TKT_CONFIG_HINT], clean[TKT_CONFIG_HINT];
    for (size_t i = 0; i < state->skipped_count && !state->is_asked; i++)
        if (tkt_config_hint(&state->skipped[i], hint))
            printf("careful: %s\n", cli_clean(clean, sizeof clean, hint));
}

/* ======== The verb ======== */

static const cli_option options[] = {
    {0, "json", NULL, "as JSON; several files become one array"},
};

static const cli_syntax syntax = {
    .verb = "config",
    .usage = "check [--json] FILE... | explain [--json] | options [--json]",
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

/* Loads a file. Returns NULL and fills *errors, which starts as {0}, if no profiler can be made
 * from it. */
static takt_config *load(const char *path, tkt_config_errors *errors)
{
    takt_config *config = NULL;
    if (tkt_config_load(path, &config, errors) != TAKT_OK)
        return NULL;
    takt_status status = try_profiler(config);
    if (status == TAKT_OK)
        return config;
    tkt_error_set(&errors->items[0].error, status, "%s: %s", path, takt_status_text(status));
    errors->count = 1;
    takt_config_destroy(config);
    return NULL;
}

/* Prints an error, then the line of the file with a mark below the place. */
static void print_fault(const tkt_config_fault *fault)
{
    cli_error("%s", fault->error.message);
    if (fault->error.line == 0 || fault->shown[0] == '\0')
        return;
    fprintf(stderr, "%6u | %s\n%6s | %*s^\n", fault->error.line, fault->shown, "",
            (int)fault->caret, "");
}

static void print_errors(const char *path, const tkt_config_errors *errors)
{
    size_t kept = tkt_config_errors_kept(errors);
    for (size_t i = 0; i < kept; i++)
        print_fault(&errors->items[i]);
    if (errors->count > kept)
        cli_error("%s: %zu errors; these were the first %zu", path, errors->count, kept);
    else if (kept > 1)
        cli_error("%s: %zu errors", path, kept);
}

static int check_file(const char *path, bool is_json)
{
    tkt_config_errors errors = {.count = 0};
    takt_config *config = load(path, &errors);
    takt_sink sink = cli_stdout_sink();
    if (is_json)
        config_put_json(path, config, &errors);
    if (!config) {
        print_errors(path, &errors);
        return CLI_FAILED;
    }
    takt_status status = is_json ? TAKT_OK : takt_config_describe(config, &sink);
    if (!is_json) {
        doubt_traces(&config->state->options);
        doubt_reports(&config->state->options);
        doubt_schedule(config->state);
        doubt_sections(config->state);
    }
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
    const char *variable = tkt_environment("TAKT_OPTIONS");
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
    {"options", takt_config_help, tkt_config_json},
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
