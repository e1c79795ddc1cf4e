/* takt info: what a trace is, without its tables. What is missing from it is told with the reason,
 * since a table alone does not show what it cannot know. */
#include "cli/cli.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

enum {
    NUMBER = 32,
    NAME = 256
};

static const cli_syntax syntax = {
    .verb = "info",
    .usage = "FILE...",
    .text = "Tells what trace files are: name, time, steps, tracks, numbers of spans and\n"
            "activities, devices, clock, Takt's own cost, what was lost and why, and whether\n"
            "a file is cut.",
};

static void print_key(const char *key)
{
    printf("  %-12s", key);
}

/* "12,345 spans", "1 span". */
static void print_count(uint64_t count, const char *one, const char *many)
{
    char number[NUMBER];
    printf("%s %s", cli_count_text(number, sizeof number, count), count == 1 ? one : many);
}

/* The wall-clock time of the beginning, in UTC so that it means the same everywhere. */
static void print_when(const takt_facts *facts)
{
    char date[64] = "at an unknown time", length[NUMBER];
    int64_t begin_ns = (int64_t)facts->begin_ns + facts->realtime_offset_ns;
    time_t seconds = (time_t)(begin_ns / 1000000000);
    struct tm parts;

    if (facts->realtime_offset_ns && gmtime_r(&seconds, &parts))
        strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S UTC", &parts);
    print_key("recorded");
    printf("%s, for %s\n", date,
           cli_time_text(length, sizeof length, (double)(facts->end_ns - facts->begin_ns)));
}

static void print_steps(const takt_facts *facts)
{
    print_key("steps");
    if (facts->step_count == 0)
        printf("none were marked");
    else if (facts->step_count == 1)
        printf("1: step %" PRIu64, facts->first_step);
    else
        printf("%" PRIu64 ": steps %" PRIu64 " to %" PRIu64, facts->step_count, facts->first_step,
               facts->first_step + facts->step_count - 1);
    printf(", cycle %" PRIu32 "%s\n", facts->cycle,
           facts->is_partial ? "; partial: the program stopped before the cycle was complete" : "");
}

static void print_contents(const takt_trace *trace, const takt_facts *facts)
{
    print_key("contents");
    if (facts->has_spans)
        print_count(facts->span_count, "span", "spans");
    else
        printf("a summary only, no spans");
    printf(", ");
    print_count(facts->activity_count, "activity", "activities");
    printf(", ");
    print_count(takt_trace_counter_count(trace), "counter sample", "counter samples");
    putchar('\n');
}

static void print_tracks(const takt_trace *trace)
{
    size_t count = takt_trace_track_count(trace);
    char name[NAME];
    takt_track_info track;

    for (size_t i = 0; i < count; i++) {
        if (takt_trace_track(trace, i, &track) != TAKT_OK)
            continue;
        print_key(i == 0 ? "tracks" : "");
        printf("%s", cli_clean(name, sizeof name, track.name));
        if (track.kind == TAKT_TRACK_THREAD)
            printf("%sthread %" PRIu32, name[0] ? ", " : "", track.thread_id);
        printf(": ");
        print_count(track.span_count, "span", "spans");
        putchar('\n');
    }
}

/* What measured, then what was there: a device without an activity, too. */
static void print_devices(const takt_trace *trace, const takt_facts *facts)
{
    size_t count = takt_trace_device_count(trace);
    char text[NAME];
    takt_device_info device;

    print_key("devices");
    printf("measured by: %s\n", cli_clean(text, sizeof text, facts->backend));
    for (size_t i = 0; i < count; i++) {
        if (takt_trace_device(trace, i, &device) != TAKT_OK)
            continue;
        print_key("");
        printf("%s", cli_clean(text, sizeof text, device.device));
        printf(" %s", cli_clean(text, sizeof text, device.name));
        if (device.compute_major)
            printf(", compute capability %" PRIu32 ".%" PRIu32, device.compute_major,
                   device.compute_minor);
        if (device.multiprocessors)
            printf(", %" PRIu32 " multiprocessors", device.multiprocessors);
        if (device.memory_bytes)
            printf(", %.1f GiB", (double)device.memory_bytes / (1 << 30));
        putchar('\n');
    }
}

static void print_clock(const takt_facts *facts)
{
    char resolution[NUMBER], uncertainty[NUMBER], cost[NUMBER];
    double length_ns = (double)(facts->end_ns - facts->begin_ns);

    print_key("clock");
    printf("resolution %s, uncertainty %s\n",
           cli_time_text(resolution, sizeof resolution, facts->clock_resolution_ns),
           cli_time_text(uncertainty, sizeof uncertainty, facts->clock_uncertainty_ns));
    print_key("cost");
    printf("%s in the recording, as Takt estimates it",
           cli_time_text(cost, sizeof cost, facts->cost_ns));
    if (length_ns > 0)
        printf(" (%.2f %% of its length)", 100.0 * facts->cost_ns / length_ns);
    putchar('\n');
}

static void print_open_scopes(const takt_facts *facts)
{
    if (!facts->begun_before && !facts->unfinished)
        return;
    print_key("open scopes");
    printf("%" PRIu64 " begun before the recording, %" PRIu64 " unfinished when it ended\n",
           facts->begun_before, facts->unfinished);
}

static void print_losses(const takt_facts *facts)
{
    char number[NUMBER];
    bool has_none = true;

    for (int i = 0; i < TAKT_LOSS_COUNT; i++) {
        if (facts->losses[i] == 0 || i == TAKT_LOSS_CUT)
            continue;
        print_key(has_none ? "losses" : "");
        printf("%s %s: %s\n", cli_count_text(number, sizeof number, facts->losses[i]),
               takt_loss_name((takt_loss)i), takt_loss_text((takt_loss)i));
        has_none = false;
    }
    if (has_none) {
        print_key("losses");
        puts("none");
    }
    if (facts->losses[TAKT_LOSS_CUT]) {
        print_key("cut");
        printf("the file is cut off: its last ");
        print_count(facts->losses[TAKT_LOSS_CUT], "byte", "bytes");
        puts(" could not be read");
    }
}

static void print_trace(const char *path, const takt_trace *trace)
{
    const takt_facts *facts = takt_trace_facts(trace);
    char text[NAME];

    printf("%s\n", cli_clean(text, sizeof text, path));
    print_key("run");
    printf("%s, process %" PRIu32 "\n", cli_clean(text, sizeof text, facts->name),
           facts->process_id);
    print_when(facts);
    print_steps(facts);
    print_contents(trace, facts);
    print_tracks(trace);
    print_devices(trace, facts);
    print_clock(facts);
    print_open_scopes(facts);
    print_losses(facts);
}

static int print_file(const char *path, bool is_first)
{
    takt_trace *trace = cli_open_trace(path);
    if (!trace)
        return CLI_FAILED;
    if (!is_first)
        putchar('\n');
    print_trace(path, trace);
    takt_trace_release(trace);
    return CLI_OK;
}

int cli_info(int argc, char **argv)
{
    cli_args args = cli_args_of(&syntax, argc, argv);
    const char *path = NULL;
    int item, count = 0, result = CLI_OK;

    /* The paths move to the front of argv, so that a wrong option is told before any file is. */
    while ((item = cli_args_next(&args, &path)) == CLI_OPERAND)
        argv[1 + count++] = argv[args.next - 1];
    if (item == CLI_HELP)
        return CLI_OK;
    if (item != CLI_NO_ITEM)
        return CLI_USAGE;
    if (count == 0)
        return cli_usage_error(&syntax, "which file? name one or more traces");
    for (int i = 0; i < count; i++)
        if (print_file(argv[1 + i], i == 0) != CLI_OK)
            result = CLI_FAILED;
    return result;
}
