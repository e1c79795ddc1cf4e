/* Prints every report of a recording in every format, beside the recording's own file; the scripts
 * same_text_*.sh compare them with what `takt report` prints from the file.
 *
 *     prog_same DIRECTORY trace|summary|both|flight
 *
 * writes DIRECTORY/REPORT,OPTIONS.txt, named by the options that the command needs for the same
 * text. What is recorded has something for every column and every footer: arguments, work, memory,
 * steps, losses, scopes without begin or end, odd names. */
#include <takt/takt.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- Something to record
 * -------------------------------------------------------------------------- */

static const char *const odd_names[] = {
    "plain",
    "with \"quotes\", commas; and | pipes",
    "a\ttab, a\nnewline and \033[31mred\033[0m",
    "\xff\xfe not UTF-8 \xc3",
    "Gr\xc3\xbc\xc3\x9f"
    "e \xe7\x8c\xab \xf0\x9f\x90\x88",
    "",
    "a name that is longer than any column of any table, a name that is longer than any column of "
    "any table, a name that is longer than any column of any table, a name that does not end",
};
enum {
    ODD_NAMES = sizeof odd_names / sizeof *odd_names
};

static void allocate_something(void)
{
    static char blocks[8];
    for (size_t i = 0; i < sizeof blocks; i++)
        takt_memory_allocated(&blocks[i], (i + 1) * 100000);
    for (size_t i = 0; i < sizeof blocks; i += 2)
        takt_memory_freed(&blocks[i]);
    takt_memory_freed(&odd_names);
}

static void describe_itself(int round)
{
    TAKT_FUNCTION();
    TAKT_ARG("int", -round % 3);
    TAKT_ARG("text", odd_names[round % ODD_NAMES]);
    TAKT_ARG("real", 0.1 * (round % 2));
    TAKT_ARG("yes", (bool)(round % 2));
    TAKT_ARG("large", UINT64_MAX);
    TAKT_WORK(1e6 + round, 12.5);
}

static void recurse(int depth)
{
    TAKT_SCOPE_IN("recursive", TAKT_LEVEL_COARSE, "recurse");
    if (depth > 0)
        recurse(depth - 1);
}

static void run_phases(void)
{
    TAKT_SCOPE("phases");
    TAKT_PHASE("first");
    recurse(3);
    TAKT_PHASE("second");
    TAKT_PHASE("third");
}

static void compute(int round)
{
    TAKT_ACTIVITY("cpu", TAKT_TIMING_KERNEL, "compute");
    TAKT_COUNTER("round", round);
    TAKT_MARK("here");
    TAKT_ACTIVITY("fpga", TAKT_TIMING_MEMSET, "clear");
}

static void run_tasks(int round)
{
    takt_track track = takt_track_named("tasks");
    takt_span first = takt_span_begin(track, "overlapping");
    takt_span second = takt_span_begin(track, odd_names[round % ODD_NAMES]);
    uint64_t now = takt_now_ns();
    takt_span_end(first);
    takt_span_end(second);
    takt_span_at(track, "given times", now - 1000, now);
    takt_span_at(track, "backwards", now, now - 1000);
    takt_flow_begin((uint64_t)round);
    takt_flow_end((uint64_t)round);
}

static void do_something(int round)
{
    const char *name = odd_names[round % ODD_NAMES];
    takt_begin(name);
    describe_itself(round);
    run_phases();
    compute(round);
    run_tasks(round);
    takt_end();
    TAKT_END("never begun");
    allocate_something();
}

typedef struct worker {
    pthread_barrier_t begun, ended;
} worker;

/* Has a scope open when the recording begins and another when it ends. */
static void *work_across(void *argument)
{
    worker *shared = argument;
    takt_thread_name(odd_names[2]);
    pthread_barrier_wait(&shared->begun);
    takt_begin("begun before, never finished");
    pthread_barrier_wait(&shared->begun); /* recording begins after this ... */
    pthread_barrier_wait(&shared->begun); /* ... and before this */
    takt_begin("unfinished");
    for (int round = 0; round < 500; round++)
        do_something(round);
    pthread_barrier_wait(&shared->ended); /* recording ends after this ... */
    pthread_barrier_wait(&shared->ended); /* ... and before this */
    takt_end();
    return NULL;
}

/* ---- Printing all of it
 * --------------------------------------------------------------------------- */

typedef struct variant {
    const char *options; /* of the command; blanks are commas in file names */
    takt_report_options given;
} variant;

static const variant variants[] = {
    {"--width 80", {.width = 80}},
    {"--width 100", {.width = 100}},
    {"--width 160", {.width = 160}},
    {"", {0}},
    {"--csv", {.format = TAKT_FORMAT_CSV}},
    {"--json", {.format = TAKT_FORMAT_JSON}},
    {"--markdown", {.format = TAKT_FORMAT_MARKDOWN}},
    {"--json --rows 2", {.format = TAKT_FORMAT_JSON, .rows = 2}},
    {"--csv --rows all", {.format = TAKT_FORMAT_CSV, .rows = -1}},
    {"--width 120 --color always", {.width = 120, .color = true}},
    {"--full-names --width 80", {.full_names = true, .width = 80}},
    {"--by-arguments --flops", {.by_arguments = true, .with_flops = true}},
    {"--by-arguments --json --flops",
     {.by_arguments = true, .with_flops = true, .format = TAKT_FORMAT_JSON}},
};

static int open_file(const char *directory, const char *report, const char *options)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s,%s.txt", directory, report, options);
    for (char *c = path + strlen(directory); *c != '\0'; c++)
        if (*c == ' ')
            *c = ',';
    return open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
}

static void print_everything(const takt_trace *trace, void *user)
{
    for (size_t i = 0; takt_report_name(i); i++)
        for (size_t v = 0; v < sizeof variants / sizeof *variants; v++) {
            int file = open_file(user, takt_report_name(i), variants[v].options);
            takt_sink sink = takt_sink_fd(file);
            takt_report_options given = variants[v].given;
            given.struct_size = sizeof given;
            given.width_key = "--width ";
            takt_status status = takt_report(trace, takt_report_name(i), &given, &sink);
            if (status != TAKT_OK)
                dprintf(file, "status: %s\n", takt_status_text(status));
            close(file);
        }
}

static takt_mode mode_named(const char *name)
{
    static const char *const names[] = {"trace", "summary", "both", "flight"};
    size_t mode = 0;
    while (mode < TAKT_MODE_FLIGHT && strcmp(name, names[mode]) != 0)
        mode++;
    return (takt_mode)mode;
}

/* Something records already, so that a scope can be open when the profiler begins to. */
static void record(takt_profiler *profiler, worker *shared)
{
    takt_timing *timing = NULL;
    takt_timing_begin(NULL, &timing);
    pthread_barrier_wait(&shared->begun);
    pthread_barrier_wait(&shared->begun);
    takt_profiler_start(profiler);
    takt_profiler_step_time(profiler, 0.001);
    for (int step = 0; step < 60; step++) {
        if (takt_profiler_action(profiler) == TAKT_ACTION_RECORD && timing) {
            takt_timing_free(timing);
            timing = NULL;
            pthread_barrier_wait(&shared->begun);
        }
        do_something(step);
        takt_profiler_step(profiler);
    }
    pthread_barrier_wait(&shared->ended);
    takt_profiler_stop(profiler); /* in the middle of the cycle, so that the window is partial */
    pthread_barrier_wait(&shared->ended);
}

int main(int argc, char **argv)
{
    static const char *const traces[] = {"perfetto", "perfetto.gz"};
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt_profiler *profiler = NULL;
    worker shared;
    pthread_t thread;
    if (argc != 3 || pthread_barrier_init(&shared.begun, NULL, 2) != 0 ||
        pthread_barrier_init(&shared.ended, NULL, 2) != 0)
        return 1;
    options.name = odd_names[4];
    options.mode = mode_named(argv[2]);
    options.max_memory_bytes = options.mode == TAKT_MODE_FLIGHT ? 64 << 10 : 0;
    options.schedule = (takt_schedule){.wait = 1, .warmup = 2, .active = 100};
    options.directory = argv[1];
    options.traces = traces;
    options.trace_count = sizeof traces / sizeof *traces;
    options.on_trace = print_everything;
    options.user = argv[1];

    if (takt_profiler_create(&options, &profiler) != TAKT_OK ||
        pthread_create(&thread, NULL, work_across, &shared) != 0)
        return 1;
    record(profiler, &shared);
    pthread_join(thread, NULL);
    takt_profiler_destroy(profiler);
    return 0;
}
