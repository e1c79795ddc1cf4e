/* takt info: describes a trace without printing its tables. It explains missing data, because a
 * table does not show what it lacks. */
#include "base/file.h"
#include "cli/cli.h"
#include "cli/info_lists.h"
#include "report/show.h"
#include "trace/model.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

enum {
    NUMBER = 32,
    NAME = 256
};

static const cli_option options[] = {
    {0, "json", NULL, "as JSON; several files, and a folder, become one array"}};

static const cli_syntax syntax = {
    .verb = "info",
    .usage = "[--json] FILE...",
    .text = "Tells what trace files are: name, time, steps, tracks, numbers of spans and\n"
            "activities, devices, clock, Takt's own cost, what was lost and why, and whether\n"
            "a file is cut. A folder stands for its traces, and gives one row for each.",
    .options = options,
    .option_count = 1,
};

static void print_key(const char *key)
{
    printf("  %-12s", key);
}

/* Prints such as "12,345 spans" or "1 span". */
static void print_count(uint64_t count, const char *one, const char *many)
{
    char number[NUMBER];
    printf("%s %s", cli_count_text(number, sizeof number, count), count == 1 ? one : many);
}

const char *cli_begin_text(char *out, size_t size, const takt_facts *facts)
{
    int64_t begin_ns = (int64_t)(facts->begin_ns + (uint64_t)facts->realtime_offset_ns);
    time_t seconds = (time_t)(begin_ns / 1000000000);
    struct tm parts;

    out[0] = '\0';
    if (facts->realtime_offset_ns && gmtime_r(&seconds, &parts))
        strftime(out, size, "%Y-%m-%d %H:%M:%S UTC", &parts);
    return out;
}

static void print_when(const takt_facts *facts)
{
    char date[64], length[NUMBER];

    print_key("recorded");
    printf("%s, for %s\n",
           cli_begin_text(date, sizeof date, facts)[0] ? date : "at an unknown time",
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
           facts->is_partial && facts->ending == TAKT_ENDING_WHOLE
               ? "; partial: the program stopped before the cycle was complete"
               : "");
}

/* Describes all steps of the run, if others than the recorded ones are known. */
static void print_all_steps(const takt_trace *trace, const takt_facts *facts)
{
    char line[TKT_RUN_LINE];

    if (trace->all_steps.stats.count <= facts->step_count)
        return;
    print_key("run so far");
    puts(tkt_run_line(line, trace));
}

const cli_content *cli_content_at(size_t index)
{
    static const cli_content contents[] = {
        {"counter sample", "counter samples", "counter_samples", TAKT_TRACE_COUNTERS},
        {"call into CUDA", "calls into CUDA", "calls", TAKT_TRACE_CALLS},
        {"mark", "marks", "marks", TAKT_TRACE_MARKS},
        {"memory event", "memory events", "memory_events", TAKT_TRACE_MEMORY},
        {"wait for a device", "waits for devices", "waits", TAKT_TRACE_WAITS},
        {"call stack", "call stacks", "stacks", TAKT_TRACE_STACKS},
    };
    return index < sizeof contents / sizeof *contents ? &contents[index] : NULL;
}

/* Prints counter samples always, other records only if there are any. */
static void print_more_contents(const takt_trace *trace)
{
    for (size_t i = 0; cli_content_at(i); i++) {
        uint64_t count = cli_content_count(trace, cli_content_at(i)->list);
        if (count == TKT_NO_VALUE || (i > 0 && count == 0))
            continue;
        printf(", ");
        print_count(count, cli_content_at(i)->one, cli_content_at(i)->many);
    }
    putchar('\n');
}

static void print_contents(const takt_trace *trace, const takt_facts *facts)
{
    print_key("contents");
    if (!facts->has_spans)
        printf("a summary only, of ");
    print_count(cli_span_count(trace), "span", "spans");
    printf(", ");
    print_count(cli_activity_count(trace), "activity", "activities");
    print_more_contents(trace);
}

/* False: no memory for all of them. */
static bool print_tracks(const takt_trace *trace)
{
    char name[NAME];
    cli_tracks tracks = {0};

    bool are_all = cli_tracks_read(trace, &tracks);
    for (size_t i = 0; i < tracks.count; i++) {
        const cli_track *track = &tracks.items[i];
        print_key(i == 0 ? "tracks" : "");
        printf("%s", cli_clean(name, sizeof name, track->name));
        if (track->is_thread && (track->thread_id || !name[0]))
            printf("%sthread %" PRIu32, name[0] ? ", " : "", track->thread_id);
        printf(": ");
        print_count(track->spans, "span", "spans");
        putchar('\n');
    }
    TKT_ARRAY_FREE(&tracks);
    return are_all;
}

/* Prints the backend, then all devices, including those without activities. */
static void print_devices(const takt_trace *trace, const takt_facts *facts)
{
    size_t count = takt_trace_count(trace, TAKT_TRACE_DEVICES);
    char text[NAME];
    takt_device_info device;

    print_key("devices");
    printf("measured by: %s\n", cli_clean(text, sizeof text, facts->backend));
    for (size_t i = 0; i < count; i++) {
        if (takt_trace_device(trace, i, &device) != TAKT_OK)
            continue;
        print_key("");
        printf("%s", cli_clean(text, sizeof text, device.device));
        if (cli_clean(text, sizeof text, device.name)[0])
            printf(" %s", text);
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

static void print_clock(const takt_trace *trace)
{
    const takt_facts *facts = &trace->facts;
    char resolution[NUMBER], uncertainty[NUMBER], cost[TKT_COST_SIZE], longest[TKT_COST_SIZE];

    print_key("clock");
    printf("resolution %s, uncertainty %s\n",
           cli_time_text(resolution, sizeof resolution, facts->clock_resolution_ns),
           cli_time_text(uncertainty, sizeof uncertainty, facts->clock_uncertainty_ns));
    if (facts->device_uncertainty_ns > 0) {
        print_key("");
        printf("devices: resolution %s, uncertainty %s",
               cli_time_text(resolution, sizeof resolution, facts->device_resolution_ns),
               facts->device_uncertainty_is_least ? "at least " : "");
        printf("%s", cli_time_text(uncertainty, sizeof uncertainty, facts->device_uncertainty_ns));
        if (facts->device_shift_ns != 0)
            printf(", times moved by %s",
                   cli_time_text(resolution, sizeof resolution, facts->device_shift_ns));
        putchar('\n');
    }
    print_key("cost");
    tkt_longest_text(longest, trace);
    printf("%s%s%s%s\n", tkt_cost_text(cost, trace), tkt_over_threads(trace), *longest ? "; " : "",
           longest);
}

static void print_open_scopes(const takt_facts *facts)
{
    if (!facts->begun_before && !facts->unfinished)
        return;
    print_key("open scopes");
    printf("%" PRIu64 " begun before the recording, %" PRIu64 " unfinished when it ended\n",
           facts->begun_before, facts->unfinished);
}

/* Names the report that shows the scopes of these launches. */
static const char *hint(const takt_facts *facts, int loss)
{
    bool is_told = loss == TAKT_LOSS_INCOMPLETE || loss == TAKT_LOSS_NO_ACTIVITY;
    return is_told && facts->has_spans ? "; by scope: takt report --launches FILE" : "";
}

static void print_losses(const takt_trace *trace, const takt_facts *facts)
{
    char number[NUMBER];
    bool has_none = true;

    for (int i = 0; i < TAKT_LOSS_COUNT; i++) {
        uint64_t lost = takt_trace_loss(trace, (takt_loss)i);
        if (lost == 0 || i == TAKT_LOSS_CUT)
            continue;
        print_key(has_none ? "losses" : "");
        printf("%s%s %s: %s%s\n", tkt_losses_are_least(facts) ? "at least " : "",
               cli_count_text(number, sizeof number, lost), takt_loss_name((takt_loss)i),
               takt_loss_text((takt_loss)i), hint(facts, i));
        has_none = false;
    }
    if (!has_none)
        return;
    print_key("losses");
    if (tkt_is_unknown(facts))
        puts("unknown");
    else if (tkt_is_broken_off(facts))
        puts("none until the end of what is known");
    else
        puts("none");
}

static void print_broken_off(const takt_trace *trace, const takt_facts *facts)
{
    char time[NUMBER], reason[TKT_FILE_REASON_BYTES];
    uint64_t known_ns =
        facts->known_until_ns > facts->begin_ns ? facts->known_until_ns - facts->begin_ns : 0;

    if (tkt_is_recovered(trace)) {
        printf(
            "the program was killed, or it still ran: recovered up to its last event, after %s\n",
            cli_time_text(time, sizeof time, (double)known_ns));
        return;
    }
    if (facts->ending == TAKT_ENDING_STOPPED)
        printf("writing stopped: %s", tkt_file_reason((int)trace->stopped_by, reason));
    else
        printf("the program was killed, or it still runs");
    printf(": whole for %s; of what came after, all or much is missing\n",
           cli_time_text(time, sizeof time, (double)known_ns));
}

static void print_cut(const takt_facts *facts)
{
    char number[NUMBER], of[NUMBER];

    puts("the file is cut");
    if (tkt_is_unknown(facts))
        return;
    print_key("");
    printf("%s of %s spans are missing",
           cli_count_text(number, sizeof number, facts->missing_spans),
           cli_count_text(of, sizeof of, facts->missing_spans + facts->span_count));
    printf(", %s of %s activities\n",
           cli_count_text(number, sizeof number, facts->missing_activities),
           cli_count_text(of, sizeof of, facts->missing_activities + facts->activity_count));
}

/* Describes the missing end of a trace. Prints nothing for a complete trace. */
static void print_ending(const takt_trace *trace, const takt_facts *facts)
{
    uint64_t cut_bytes = takt_trace_loss(trace, TAKT_LOSS_CUT);

    if (facts->ending == TAKT_ENDING_WHOLE)
        return;
    print_key("incomplete");
    if (tkt_is_broken_off(facts))
        print_broken_off(trace, facts);
    else
        print_cut(facts);
    if (cut_bytes == 0)
        return;
    print_key("");
    printf("its last ");
    print_count(cut_bytes, "byte", "bytes");
    puts(" could not be read");
}

static void print_run(const takt_facts *facts)
{
    char text[NAME];

    print_key("run");
    fputs(cli_clean(text, sizeof text, facts->name), stdout);
    if (facts->process_id)
        printf(", process %" PRIu32, facts->process_id);
    if (tkt_trace_rank_text(text, sizeof text, facts))
        printf(", %s", text);
    putchar('\n');
}

/* False: something is missing. */
static bool print_trace(const char *path, const takt_trace *trace)
{
    const takt_facts *facts = takt_trace_facts(trace);
    char text[NAME];

    printf("%s\n", cli_clean(text, sizeof text, path));
    print_run(facts);
    print_when(facts);
    print_steps(facts);
    print_all_steps(trace, facts);
    print_contents(trace, facts);
    bool is_whole = print_tracks(trace);
    print_devices(trace, facts);
    print_clock(trace);
    print_open_scopes(facts);
    print_losses(trace, facts);
    print_ending(trace, facts);
    return is_whole;
}

/* ======== The verb ======== */

/* As JSON, each of several files follows "[" or ",". */
static int print_files(const cli_files *files, bool is_json, bool is_array)
{
    int told = 0, result = CLI_OK;

    for (size_t i = 0; i < files->count; i++) {
        takt_trace *trace = cli_open_trace(files->paths[i]);
        if (!trace) {
            result = CLI_FAILED;
            continue;
        }
        if (is_json && is_array)
            fputs(told ? ",\n" : "[\n", stdout);
        else if (told)
            putchar('\n');
        bool is_whole = is_json ? cli_info_json(files->paths[i], trace)
                                : print_trace(files->paths[i], trace);
        if (!is_whole)
            result = CLI_FAILED;
        takt_trace_release(trace);
        told++;
    }
    if (is_json && is_array)
        fputs(told ? "]\n" : "[]\n", stdout);
    else if (is_json && told)
        putchar('\n');
    return result;
}

int cli_info(int argc, char **argv)
{
    cli_args args = cli_args_of(&syntax, argc, argv);
    cli_files files = {0};
    const char *path = NULL;
    bool is_json = false, has_folder = false;
    int item, count = 0, result = CLI_OK;

    /* Moves the paths to the front of argv, so that a wrong option is reported before any
     * output. */
    while ((item = cli_args_next(&args, &path)) == CLI_OPERAND || item >= 0) {
        if (item == CLI_OPERAND)
            argv[1 + count++] = argv[args.next - 1];
        else
            is_json = true; /* --json is the only option */
    }
    if (item == CLI_HELP)
        return CLI_OK;
    if (item != CLI_NO_ITEM)
        return CLI_USAGE;
    if (count == 0)
        return cli_usage_error(&syntax, "no file given: name one or more traces");
    for (int i = 1; i <= count && result == CLI_OK; i++) {
        has_folder |= tkt_folder_exists(argv[i]);
        result = cli_files_add(&files, argv[i]);
    }
    if (result == CLI_OK)
        result = has_folder && !is_json
                     ? cli_info_rows(&files)
                     : print_files(&files, is_json, has_folder || files.count > 1);
    cli_files_free(&files);
    return result;
}
