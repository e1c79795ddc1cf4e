/* takt info --json: the same facts for scripts. Keys are the same as in the reports' JSON. */
#include "cli/cli.h"
#include "cli/info_lists.h"
#include "report/show.h"
#include "trace/cost.h"

#include <inttypes.h>

static void put_key(const char *key)
{
    printf(",\n  \"%s\": ", key);
}

static void put_count(const char *key, uint64_t count)
{
    put_key(key);
    printf("%" PRIu64, count);
}

/* A summary does not know some numbers. */
static void put_known(const char *key, bool is_known, uint64_t count)
{
    put_key(key);
    if (is_known)
        printf("%" PRIu64, count);
    else
        fputs("null", stdout);
}

static void put_truth(const char *key, bool is_true)
{
    put_key(key);
    fputs(is_true ? "true" : "false", stdout);
}

static void put_real(const char *key, double number)
{
    put_key(key);
    cli_put_number(number, "null");
}

static void put_text(const char *key, const char *text)
{
    put_key(key);
    cli_put_json_text(text);
}

/* False: no memory for all of them. */
static bool put_tracks(const takt_trace *trace)
{
    cli_tracks tracks = {0};
    bool are_all = cli_tracks_read(trace, &tracks);
    put_key("tracks");
    putchar('[');
    for (size_t i = 0; i < tracks.count; i++) {
        const cli_track *track = &tracks.items[i];
        printf("%s\n    {\"name\": ", i ? "," : "");
        cli_put_json_text(track->name);
        printf(", \"kind\": \"%s\", \"thread_id\": %" PRIu32 ", \"spans\": %" PRIu64 "}",
               track->is_thread ? "thread" : "async", track->thread_id, track->spans);
    }
    putchar(']');
    TKT_ARRAY_FREE(&tracks);
    return are_all;
}

static void put_devices(const takt_trace *trace)
{
    takt_device_info device;
    put_key("devices");
    putchar('[');
    for (size_t i = 0; takt_trace_device(trace, i, &device) == TAKT_OK; i++) {
        printf("%s\n    {\"device\": ", i ? "," : "");
        cli_put_json_text(device.device);
        fputs(", \"name\": ", stdout);
        cli_put_json_text(device.name);
        printf(", \"compute_capability\": \"%" PRIu32 ".%" PRIu32
               "\", \"multiprocessors\": %" PRIu32 ", \"memory_bytes\": %" PRIu64 "}",
               device.compute_major, device.compute_minor, device.multiprocessors,
               device.memory_bytes);
    }
    putchar(']');
}

static void put_losses(const takt_trace *trace)
{
    put_key("losses");
    for (int i = 0; i < TAKT_LOSS_COUNT; i++) {
        printf("%s\"%s\": ", i ? ", " : "{", takt_loss_name((takt_loss)i));
        if (tkt_loss_is_known(trace, i))
            printf("%" PRIu64, takt_trace_loss(trace, (takt_loss)i));
        else
            fputs("null", stdout);
    }
    putchar('}');
}

static void put_run(const takt_facts *facts)
{
    char when[64];
    put_text("name", facts->name);
    put_count("process", facts->process_id);
    put_count("rank", facts->rank);
    put_count("world_size", facts->world_size);
    put_text("recorded", cli_begin_text(when, sizeof when, facts));
    put_count("begin_ns", facts->begin_ns);
    put_count("wall_ns", facts->end_ns - facts->begin_ns);
    put_count("cycle", facts->cycle);
    put_truth("partial", facts->is_partial);
    put_text("ending", tkt_ending_name(facts));
    put_count("known_until_ns", facts->known_until_ns);
    put_count("missing_spans", facts->missing_spans);
    put_count("missing_activities", facts->missing_activities);
    put_count("first_step", facts->first_step);
    put_count("steps", facts->step_count);
}

/* The same figures as the report of steps has. */
static void put_all_steps(const takt_trace *trace)
{
    bool is_known = trace->run && trace->run->slowest_count > 0;
    put_count("run_steps", trace->all_steps.stats.count);
    put_count("run_ns", trace->all_steps.stats.total_ns);
    put_known("slowest_step", is_known, is_known ? trace->run->slowest[0].number : 0);
    put_count("slowest_step_ns", trace->all_steps.stats.max_ns);
}

bool cli_info_json(const char *path, const takt_trace *trace)
{
    const takt_facts *facts = takt_trace_facts(trace);

    fputs("{\n  \"file\": ", stdout);
    cli_put_json_text(path);
    put_run(facts);
    put_all_steps(trace);
    put_truth("has_spans", facts->has_spans);
    put_count("spans", cli_span_count(trace));
    put_count("activities", cli_activity_count(trace));
    for (size_t i = 0; cli_content_at(i); i++) {
        uint64_t count = cli_content_count(trace, cli_content_at(i)->list);
        put_known(cli_content_at(i)->key, count != TKT_NO_VALUE, count);
    }
    bool is_whole = put_tracks(trace);
    put_text("backend", facts->backend);
    put_devices(trace);
    put_real("clock_resolution_ns", facts->clock_resolution_ns);
    put_real("clock_uncertainty_ns", facts->clock_uncertainty_ns);
    put_real("device_resolution_ns", facts->device_resolution_ns);
    put_real("device_uncertainty_ns", facts->device_uncertainty_ns);
    put_truth("device_uncertainty_is_least", facts->device_uncertainty_is_least);
    put_real("device_shift_ns", facts->device_shift_ns);
    const tkt_cost cost = tkt_trace_cost(trace);
    put_real("cost_ns", cost.estimate_ns);
    put_real("cost_most_ns", cost.most_ns);
    put_real("cost_longest_ns", cost.longest_ns);
    put_known("begun_before", tkt_trace_knows_cuts(trace), facts->begun_before);
    put_known("unfinished", tkt_trace_knows_cuts(trace), facts->unfinished);
    put_losses(trace);
    fputs("\n}", stdout);
    return is_whole;
}
