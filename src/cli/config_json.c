/* takt config check --json: what a configuration means, under the names that its keys have. Sizes
 * are bytes; what is not limited, or goes on for ever, is null. */
#include "cli/config.h"

#include <inttypes.h>

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
    takt_profiler_options options;
    takt_config_options(config, &options);

    put_truth("enabled", takt_config_enabled(config));
    put_text("name", options.name);
    put_text("mode", modes[options.mode]);
    put_schedule(&options.schedule);
    put_truth("cpu", options.activities & TAKT_ACTIVITIES_CPU);
    put_truth("cuda", options.activities & TAKT_ACTIVITIES_CUDA);
    put_text("graph", options.graph == TAKT_GRAPH_LAUNCH ? "launch" : "node");
    put_names("reports", options.reports, options.report_count);
    put_names("traces", options.traces, options.trace_count);
    put_text("directory", options.directory);
    put_truth("stream", options.stream);
    printf(",\n  \"max_trace_size\": %" PRIu64 ",\n  \"max_memory\": %" PRIu64,
           options.max_trace_bytes, options.max_memory_bytes);
}

static void put_error(const takt_error *error)
{
    put_text("message", error->message);
    printf(",\n  \"line\": %u,\n  \"column\": %u", error->line, error->column);
}

void config_put_json(const char *path, const takt_config *config, const takt_error *error)
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
