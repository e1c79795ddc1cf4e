/* A program that launches without pause, from many threads on two devices, while one window follows
 * the other: in each, launches = activities + counted losses, exactly, and Takt's memory stays
 * flat.
 *
 *     prog_busy [NAME=VALUE]...
 *
 *     seconds=3      how long it launches
 *     windows=10     recordings in that time, one behind the other
 *     threads=16     half of them on each device, a stream for each
 *     what=kernels   or graphs, of three to five nodes, or both
 *     pace=drain     each thread waits for its stream after some launches; or behind: a quarter of
 * the threads launch 1.5 ms of work each millisecond and wait for nothing ahead_ms=300   until as
 * much waits for the device: then they launch as fast as the device works wait_ms=0 device_wait_ms
 * of the windows how=cycles     of one profiler, sealed in the background while the next one
 * records; or profilers: one for each window, which begins before the previous one ends outer=0 1:
 * one more profiler around all of them losses=none    or some: there must be some, or any
 *
 * Prints a line for each window, and a summary. Ends with 1 if something is wrong. */
#include "simgpu/driver.h"
#include "simgpu/stand_in.h"
#include "support/counted_memory.h"

#include "trace/model.h"

#include <takt/takt.h>

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST_THREADS 64
#define MOST_WINDOWS 1000
#define GRAPH_SIZES  3 /* graphs have 3, 4 or 5 nodes */
#define LEAST_NODES  3
#define BATCH        8 /* launches between two waits for the stream */
#define SLOW_NS      INT64_C(1500000)
#define UNSURE_NS                                                                                  \
    UINT64_C(50000) /* how far the program's clock readings and the trace's may differ */
#define SOME 5      /* windows that are looked at together for their memory */

#define CHECK(call)                                                                                \
    do {                                                                                           \
        int status_ = (call);                                                                      \
        if (status_ != 0) {                                                                        \
            printf("%s: %d\n", #call, status_);                                                    \
            exit(2);                                                                               \
        }                                                                                          \
    } while (0)

static struct {
    const char *seconds, *windows, *threads, *what, *pace, *ahead_ms, *wait_ms, *how, *outer,
        *losses;
} option = {"3", "10", "16", "kernels", "drain", "300", "0", "cycles", "0", "none"};

static uint64_t faults;

static void fault(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    printf("WRONG: ");
    vprintf(format, arguments);
    printf("\n");
    va_end(arguments);
    faults++;
}

static uint64_t number(const char *text)
{
    return strtoull(text, NULL, 10);
}

static bool is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

static void pause_ns(int64_t ns)
{
    struct timespec time = {ns / 1000000000, ns % 1000000000};
    if (ns > 0)
        nanosleep(&time, NULL);
}

/* ---- The program ----------------------------------------------------------------------------- */

static CUcontext contexts[2];
static CUfunction quick, slow, nodes[GRAPH_SIZES];

static void set_up(void)
{
    CUmodule module;
    CHECK(takt_set_allocator(&counted_memory));
    use_stand_in("devices=2; kernel.quick=400us; kernel.slow=1500us; kernel.nodes=100us");
    CHECK(cuInit(0));
    for (int i = 0; i < 2; i++)
        CHECK(cuDevicePrimaryCtxRetain(&contexts[i], i));
    CHECK(cuCtxSetCurrent(contexts[0]));
    CHECK(cuModuleLoadData(&module, "none"));
    CHECK(cuModuleGetFunction(&quick, module, "quick"));
    CHECK(cuModuleGetFunction(&slow, module, "slow"));
    for (int i = 0; i < GRAPH_SIZES; i++) {
        char name[16];
        snprintf(name, sizeof name, "nodes%d", i + LEAST_NODES);
        CHECK(cuModuleGetFunction(&nodes[i], module, name));
    }
}

/* The program's own clock, before and after each launch. */
typedef struct launched {
    uint64_t before_ns;
    uint64_t after_ns;
} launched;

typedef struct launcher {
    pthread_t thread;
    int number;
    bool is_behind;
    CUstream stream;
    CUgraphExec exec; /* NULL: it launches kernels */
    launched *launches;
    size_t count;
    size_t capacity;
} launcher;

static launcher launchers[MOST_THREADS];
static atomic_bool is_over;
static atomic_int ready; /* launchers */

static void launch_kernel(CUfunction function, CUstream stream)
{
    CHECK(cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, stream, NULL, NULL));
}

static CUgraphExec make_graph(const launcher *l)
{
    CUgraph graph;
    CUgraphExec exec;
    CHECK(cuStreamBeginCapture_v2(l->stream, 2));
    for (int i = 0; i < LEAST_NODES + l->number % GRAPH_SIZES; i++)
        launch_kernel(nodes[l->number % GRAPH_SIZES], l->stream);
    CHECK(cuStreamEndCapture(l->stream, &graph));
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CHECK(cuGraphDestroy(graph));
    return exec;
}

static void launch(launcher *l)
{
    if (l->count == l->capacity) {
        l->capacity = l->capacity * 2 + 4096;
        l->launches = realloc(l->launches, l->capacity * sizeof *l->launches);
    }
    launched *mine = &l->launches[l->count++];
    mine->before_ns = takt_now_ns();
    if (l->exec)
        CHECK(cuGraphLaunch(l->exec, l->stream));
    else
        launch_kernel(l->is_behind ? slow : quick, l->stream);
    mine->after_ns = takt_now_ns();
}

/* Its queue grows by half a millisecond in each, and is never empty. */
static void stay_behind(launcher *l)
{
    int64_t ahead_ns = (int64_t)number(option.ahead_ms) * 1000000, until_ns = 0;
    int64_t work_ns = l->exec ? 100000 * (LEAST_NODES + l->number % GRAPH_SIZES) : SLOW_NS;
    while (!atomic_load(&is_over)) {
        int64_t now_ns = (int64_t)takt_now_ns();
        until_ns = (until_ns > now_ns ? until_ns : now_ns) + work_ns;
        launch(l);
        pause_ns(work_ns * 2 / 3);
        pause_ns(until_ns - ahead_ns - (int64_t)takt_now_ns());
    }
}

static void keep_pace(launcher *l)
{
    while (!atomic_load(&is_over)) {
        for (int i = 0; i < BATCH; i++)
            launch(l);
        CHECK(cuStreamSynchronize(l->stream));
    }
}

static void *launch_on_and_on(void *argument)
{
    launcher *l = argument;
    CHECK(cuCtxSetCurrent(contexts[l->number % 2]));
    CHECK(cuStreamCreate(&l->stream, 1));
    if (is(option.what, "graphs") || (is(option.what, "both") && l->number / 2 % 2))
        l->exec = make_graph(l);
    atomic_fetch_add(&ready, 1);
    l->is_behind = is(option.pace, "behind") && l->number / 2 % 4 == 0;
    if (l->is_behind)
        stay_behind(l);
    else
        keep_pace(l);
    return NULL;
}

/* Returns when all have their graphs: a launch that is captured has no activity. */
static void start_launchers(void)
{
    for (int i = 0; i < (int)number(option.threads); i++) {
        launchers[i].number = i;
        CHECK(pthread_create(&launchers[i].thread, NULL, launch_on_and_on, &launchers[i]));
    }
    while (atomic_load(&ready) < (int)number(option.threads))
        pause_ns(1000000);
}

static uint64_t stop_launchers(void)
{
    uint64_t launches = 0;
    atomic_store(&is_over, true);
    for (int i = 0; i < (int)number(option.threads); i++) {
        CHECK(pthread_join(launchers[i].thread, NULL));
        launches += launchers[i].count;
    }
    return launches;
}

/* ---- What a window holds --------------------------------------------------------------------- */

typedef struct window {
    uint64_t begin_ns;
    uint64_t end_ns;
    uint64_t launches;
    uint64_t activities;
    uint64_t losses;
    uint64_t peak_bytes; /* while it was recorded */
    size_t delivered;    /* windows before it that were sealed by its end */
} window;

static window windows[MOST_WINDOWS + 1]; /* the outer one, too */
static size_t window_count;

/* By call. */
static uint32_t *count_activities(const takt_trace *trace, uint64_t *unknown)
{
    uint32_t *counts = calloc(trace->calls.count + 1, sizeof *counts);
    for (size_t i = 0; i < trace->activities.count; i++) {
        uint32_t call = trace->activities.items[i].call;
        if (call == TKT_NO_CALL)
            ++*unknown;
        else
            counts[call]++;
    }
    return counts;
}

/* By call: how many activities it should have; a node's name says how many nodes its graph has.
 * 0: none has come. */
static uint32_t *find_nodes(const takt_trace *trace)
{
    uint32_t *sizes = calloc(trace->calls.count + 1, sizeof *sizes);
    for (size_t i = 0; i < trace->activities.count; i++) {
        const tkt_activity *activity = &trace->activities.items[i];
        const char *digit = strstr(tkt_trace_text(trace, activity->name), "nodes");
        if (activity->call != TKT_NO_CALL)
            sizes[activity->call] = digit ? (uint32_t)number(digit + strlen("nodes")) : 1;
    }
    return sizes;
}

static bool is_launch(const takt_trace *trace, const tkt_call_info *call)
{
    const tkt_span *span = &trace->tracks.items[call->track].spans.items[call->span];
    const char *name = tkt_trace_text(trace, trace->sites.items[tkt_span_site(span)].name);
    return strstr(name, "Launch") && !(tkt_span_flags(span) & TAKT_SPAN_BEGUN_BEFORE);
}

/* An activity for each kernel, and for each node of a graph. A graph launch of which nothing has
 * come is one loss. */
static uint64_t count_expected(const takt_trace *trace, window *w)
{
    uint64_t expected = 0, unknown = 0;
    uint32_t *counts = count_activities(trace, &unknown), *sizes = find_nodes(trace);
    for (size_t i = 0; i < trace->calls.count; i++) {
        bool launches = is_launch(trace, &trace->calls.items[i]);
        w->launches += launches;
        expected += launches ? (sizes[i] ? sizes[i] : 1) : 0;
        if (counts[i] > (launches ? sizes[i] : 0))
            fault("call %zu has %u activities instead of %u", i, counts[i], sizes[i]);
    }
    if (unknown)
        fault("%lu activities have no call", (unsigned long)unknown);
    free(counts);
    free(sizes);
    return expected;
}

static void print_losses(const takt_trace *trace, window *w)
{
    for (int i = 0; i < TAKT_LOSS_COUNT; i++) {
        w->losses += takt_trace_loss(trace, (takt_loss)i);
        if (takt_trace_loss(trace, (takt_loss)i))
            printf(", %s %lu", takt_loss_name((takt_loss)i),
                   (unsigned long)takt_trace_loss(trace, (takt_loss)i));
    }
    printf("\n");
}

static void look_at_trace(const takt_trace *trace, void *name)
{
    window *w = &windows[window_count++];
    const takt_facts *facts = takt_trace_facts(trace);
    w->begin_ns = facts->begin_ns;
    w->end_ns = facts->end_ns;
    w->activities = takt_trace_count(trace, TAKT_TRACE_ACTIVITIES);
    uint64_t expected = count_expected(trace, w);
    printf("%s %zu: %.3f s, %lu launches, %lu activities of %lu", (const char *)name, window_count,
           (double)(w->end_ns - w->begin_ns) / 1e9, (unsigned long)w->launches,
           (unsigned long)w->activities, (unsigned long)expected);
    print_losses(trace, w);
    if (takt_trace_loss(trace, TAKT_LOSS_UNATTRIBUTED))
        fault("activities are attributed to no call");
    if (expected != w->activities + w->losses)
        fault("%ld are neither there nor counted", (long)(expected - w->activities - w->losses));
    if (w->losses && is(option.losses, "none"))
        fault("there are losses");
}

/* The program's own book: what was certainly launched in the window, and what may have been. */
static void compare_with_program(const window *w)
{
    uint64_t least = 0, most = 0;
    for (int i = 0; i < (int)number(option.threads); i++) {
        for (size_t k = 0; k < launchers[i].count; k++) {
            const launched *l = &launchers[i].launches[k];
            least +=
                l->before_ns >= w->begin_ns + UNSURE_NS && l->after_ns + UNSURE_NS <= w->end_ns;
            most += l->after_ns + UNSURE_NS >= w->begin_ns && l->before_ns <= w->end_ns + UNSURE_NS;
        }
    }
    if (w->launches < least || w->launches > most)
        fault("window %d has %lu launches, the program made %lu to %lu", (int)(w - windows) + 1,
              (unsigned long)w->launches, (unsigned long)least, (unsigned long)most);
}

/* ---- Windows --------------------------------------------------------------------------------- */

static void record_for_a_window(size_t number_of_window, int64_t *until_ns)
{
    *until_ns += (int64_t)(number(option.seconds) * 1000000000 / number(option.windows));
    pause_ns(*until_ns - (int64_t)takt_now_ns());
    windows[number_of_window].delivered = window_count;
    windows[number_of_window].peak_bytes = atomic_exchange(&peak_bytes, atomic_load(&now_bytes));
}

static takt_profiler *make_profiler(takt_schedule schedule, char *name)
{
    takt_profiler *profiler;
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    options.schedule = schedule;
    options.on_trace = look_at_trace;
    options.user = name;
    options.device_wait_ms = (uint32_t)number(option.wait_ms);
    CHECK(takt_profiler_create(&options, &profiler));
    CHECK(takt_profiler_start(profiler));
    return profiler;
}

static void record_cycles(uint32_t count)
{
    int64_t until_ns = (int64_t)takt_now_ns();
    takt_profiler *profiler =
        make_profiler((takt_schedule){.active = 1, .repeat = count}, "window");
    for (uint32_t i = 0; i < count; i++) {
        record_for_a_window(i, &until_ns);
        CHECK(takt_profiler_step(profiler));
    }
    CHECK(takt_profiler_stop(profiler));
    takt_profiler_destroy(profiler);
}

static void record_with_profilers(uint32_t count)
{
    int64_t until_ns = (int64_t)takt_now_ns();
    takt_profiler *profiler = make_profiler((takt_schedule){0}, "window");
    for (uint32_t i = 0; i < count; i++) {
        record_for_a_window(i, &until_ns);
        takt_profiler *next = i + 1 < count ? make_profiler((takt_schedule){0}, "window") : NULL;
        CHECK(takt_profiler_stop(profiler));
        takt_profiler_destroy(profiler);
        profiler = next;
    }
}

/* ---- The summary ----------------------------------------------------------------------------- */

/* How much the program launched from the begin of the oldest window that waited to be sealed when
 * this one ended, up to that. */
static uint64_t launches_kept(const window *w)
{
    uint64_t sum = 0;
    for (int i = 0; i < (int)number(option.threads); i++)
        for (size_t k = 0; k < launchers[i].count; k++)
            sum += launchers[i].launches[k].after_ns >= windows[w->delivered].begin_ns &&
                   launchers[i].launches[k].before_ns <= w->end_ns;
    return sum;
}

static window most_of(size_t first, size_t end)
{
    window most = {0};
    for (size_t i = first; i < end; i++) {
        uint64_t launches = launches_kept(&windows[i]);
        most.peak_bytes =
            windows[i].peak_bytes > most.peak_bytes ? windows[i].peak_bytes : most.peak_bytes;
        most.launches = launches > most.launches ? launches : most.launches;
    }
    return most;
}

/* Launches need memory until their window is sealed, and how many these are varies with what else
 * the machine does: so the last windows may need as much more as there are more of them, a quarter
 * of scatter, and what two more of CUPTI's largest buffers need. Four bytes a launch that were
 * never freed would show after 30 windows. */
static void compare_memory(size_t count)
{
    if (count < 2 * SOME)
        return;
    window first = most_of(0, SOME), last = most_of(count - SOME, count);
    double more = (double)last.launches / (double)(first.launches + 1);
    double allowed = (double)first.peak_bytes * (more > 1 ? more : 1) * 1.25 + 4e6;
    printf(
        "memory: at most %.1f MB for %lu launches in the first %d windows, %.1f MB for %lu in the "
        "last %d\n",
        (double)first.peak_bytes / 1e6, (unsigned long)first.launches, SOME,
        (double)last.peak_bytes / 1e6, (unsigned long)last.launches, SOME);
    if (is(option.outer, "0") && (double)last.peak_bytes > allowed)
        fault("memory grows");
}

static void sum_up(uint64_t launched_in_all, size_t count)
{
    window all = {0};
    for (size_t i = 0; i < count; i++) {
        all.launches += windows[i].launches;
        all.activities += windows[i].activities;
        all.losses += windows[i].losses;
    }
    for (size_t i = 0; i < window_count; i++)
        compare_with_program(&windows[i]);
    compare_memory(count);
    if (!all.losses && is(option.losses, "some"))
        fault("there are no losses");
    printf("%zu windows: %lu launches of %lu that the program made, %lu activities, %lu losses\n",
           count, (unsigned long)all.launches, (unsigned long)launched_in_all,
           (unsigned long)all.activities, (unsigned long)all.losses);
}

static void read_option(const char *text)
{
    static const char *const names[] = {"seconds",  "windows", "threads", "what",  "pace",
                                        "ahead_ms", "wait_ms", "how",     "outer", "losses"};
    const char *value = strchr(text, '=');
    for (size_t i = 0; value && i < sizeof names / sizeof *names; i++) {
        if (strlen(names[i]) == (size_t)(value - text) &&
            strncmp(text, names[i], strlen(names[i])) == 0) {
            ((const char **)&option)[i] = value + 1;
            return;
        }
    }
    fprintf(stderr, "what is '%s'?\n", text);
    exit(2);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        read_option(argv[i]);
    uint32_t count = (uint32_t)number(option.windows);
    if (count == 0 || count > MOST_WINDOWS || number(option.threads) > MOST_THREADS)
        return 2;
    set_up();
    start_launchers();
    takt_profiler *outer =
        is(option.outer, "1") ? make_profiler((takt_schedule){0}, "outer window") : NULL;
    if (is(option.how, "profilers"))
        record_with_profilers(count);
    else
        record_cycles(count);
    if (outer)
        CHECK(takt_profiler_stop(outer));
    takt_profiler_destroy(outer);
    uint64_t launches = stop_launchers();
    if (window_count != count + (outer != NULL))
        fault("%zu windows have come", window_count);
    sum_up(launches, count);
    return faults != 0;
}
