/* One allocation fails, anywhere in a recording with devices: then the trace has all that the
 * program did, or somebody is told. Each run is a child process, so that what Takt does once in a
 * process is tried, too. TAKT_SCARCE=N tries every N-th allocation, and not a sample of them. */
#include "simgpu/driver.h"
#include "simgpu/stand_in.h"

#include "base/alloc.h"
#include "record/log.h"
#include "trace/model.h"

#include "support/test.h"

#include <takt/memory.h>
#include <takt/takt.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    STEPS = 3,
    WORKS = 12, /* in a step: each with what belongs to it */
    LAUNCHES = STEPS * (WORKS + 1),
    SAMPLE = 5 /* runs */
};

/* ---- Allocations ----------------------------------------------------------------------------- */

static atomic_ulong allocations;
static unsigned long failing; /* counted from 1, with those that are mapped */

static void *resize(void *user, void *pointer, size_t size)
{
    (void)user;
    if (size == 0) {
        free(pointer);
        return NULL;
    }
    atomic_fetch_add(&allocations, 1);
    void *block = realloc(pointer, size);
    if (block && !pointer)
        memset(block, 0xa5, size); /* whoever uses what nobody has written does not go on */
    return block;
}

/* ---- What somebody is told ------------------------------------------------------------------- */

static atomic_ulong told;

static void hear(takt_log_level level, const char *line, void *user)
{
    (void)user;
    if (level >= TAKT_LOG_WARNING)
        atomic_fetch_add(&told, 1);
    if (getenv("TAKT_SCARCE_LOG"))
        fprintf(stderr, "  (%s)\n", line);
}

static bool must(takt_status status)
{
    if (status != TAKT_OK)
        atomic_fetch_add(&told, 1);
    return status == TAKT_OK;
}

/* ---- The program ----------------------------------------------------------------------------- */

static CUcontext context;
static CUfunction kernel;
static CUstream stream;
static CUgraphExec graph_exec;

static void check(CUresult result)
{
    if (result != 0)
        exit(3);
}

static void set_up_device(void)
{
    CUmodule module;
    CUgraph graph;
    use_stand_in("devices=1; kernel=2us; memset=1us");
    check(cuInit(0));
    check(cuDevicePrimaryCtxRetain(&context, 0));
    check(cuCtxSetCurrent(context));
    check(cuModuleLoadData(&module, "image"));
    check(cuModuleGetFunction(&kernel, module, "kernel"));
    check(cuStreamCreate(&stream, 1));
    check(cuStreamBeginCapture_v2(stream, 0));
    for (int i = 0; i < 2; i++)
        check(cuLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, stream, NULL, NULL));
    check(cuStreamEndCapture(stream, &graph));
    check(cuGraphInstantiateWithFlags(&graph_exec, graph, 0));
}

/* On each of two threads. */
static void work(uint64_t number)
{
    static _Thread_local char buffer[64];
    TAKT_SCOPE("work");
    TAKT_PHASE("host");
    TAKT_ARG("number", number);
    TAKT_ARG("text", "of the argument");
    TAKT_COUNTER("count", (double)number);
    TAKT_MARK("mark");
    TAKT_WORK(1, 2);
    takt_memory_allocated(buffer, sizeof buffer);
    takt_memory_freed(buffer);
    takt_span task = takt_span_begin(takt_track_named("tasks"), "task");
    takt_flow_begin(number);
    takt_span_end(task);
    TAKT_PHASE("device");
    takt_flow_end(number);
}

static void launch(void)
{
    CUdeviceptr memory;
    TAKT_SCOPE("launch");
    check(cuMemAlloc_v2(&memory, 4096));
    check(cuMemsetD8Async(memory, 0, 4096, stream));
    check(cuLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, stream, NULL, NULL));
    check(cuGraphLaunch(graph_exec, stream));
    check(cuStreamSynchronize(stream));
    check(cuMemFree_v2(memory));
}

static void *work_beside(void *argument)
{
    takt_thread_name("beside");
    check(cuCtxSetCurrent(context));
    for (uint64_t i = 0; i < WORKS; i++)
        work(*(uint64_t *)argument + i);
    launch();
    return NULL;
}

/* What is streamed is freed, so that nothing has to be dropped; unless the stream is broken. */
static void wait_for_stream(void)
{
    for (int i = 0; i < 300 && tkt_pool_used_bytes() > tkt_pool_limit_bytes() * 3 / 4; i++)
        usleep(1000);
}

static void step(uint64_t number)
{
    pthread_t thread;
    uint64_t first = 1000 * (number + 1), second = first + 500;
    if (pthread_create(&thread, NULL, work_beside, &second) != 0)
        exit(3);
    for (uint64_t i = 0; i < WORKS; i++) {
        work(first + i);
        launch();
    }
    pthread_join(thread, NULL);
    wait_for_stream();
}

/* ---- What the trace has ---------------------------------------------------------------------- */

static unsigned differences;

/* Once somebody is told that something is missing, it may be anything. */
static void expect(const char *what, uint64_t is, uint64_t should_be)
{
    if (is == should_be || atomic_load(&told))
        return;
    fprintf(stderr, "allocation %lu fails: %s are %lu and not %lu, and nobody is told\n", failing,
            what, (unsigned long)is, (unsigned long)should_be);
    differences++;
}

typedef struct counts {
    uint64_t works, hosts, devices, launches, tasks, args, declared, stacks;
} counts;

static void count_span(counts *c, const takt_trace *trace, const tkt_span *span)
{
    const char *name = tkt_trace_text(trace, trace->sites.items[tkt_span_site(span)].name);
    c->works += strcmp(name, "work") == 0;
    c->hosts += strcmp(name, "host") == 0;
    c->devices += strcmp(name, "device") == 0;
    c->launches += strcmp(name, "launch") == 0;
    c->tasks += strcmp(name, "task") == 0;
}

static counts count(const takt_trace *trace)
{
    counts c = {0};
    for (size_t t = 0; t < trace->tracks.count; t++) {
        const tkt_track *track = &trace->tracks.items[t];
        c.args += track->args.count;
        c.declared += track->works.count;
        c.stacks += track->stacks.count;
        for (size_t i = 0; i < track->spans.count; i++)
            count_span(&c, trace, &track->spans.items[i]);
    }
    return c;
}

static bool whole_graphs, with_stack;

static void check_devices(const takt_trace *trace, uint64_t launches)
{
    uint64_t in_scope = 0, memory = 0, per_launch = whole_graphs ? 3 : 4;
    for (size_t i = 0; i < trace->activities.count; i++)
        in_scope += trace->activities.items[i].scope != TKT_NO_SPAN;
    for (size_t i = 0; i < trace->memory_events.count; i++)
        memory += trace->memory_events.items[i].device != 0;
    expect("activities", trace->activities.count, per_launch * launches);
    expect("activities in a scope", in_scope, per_launch * launches);
    expect("events of device memory", memory, 2 * launches);
}

static void check_spans(const takt_trace *trace)
{
    uint64_t works = 2 * STEPS * WORKS, launches = LAUNCHES;
    counts c = count(trace);
    expect("scopes", c.works, works);
    expect("first phases", c.hosts, works);
    expect("second phases", c.devices, works);
    expect("launching scopes", c.launches, launches);
    expect("tasks", c.tasks, works);
    expect("arguments", c.args, 2 * works);
    expect("declared works", c.declared, works);
    expect("counters", trace->counters.count, works);
    expect("marks", trace->marks.count, works);
    expect("flows", trace->flows.count, 2 * works);
    expect("events of memory", trace->memory_events.count, 2 * works + 2 * launches);
    if (with_stack)
        expect("scopes with a stack", c.stacks >= works + launches, true);
    check_devices(trace, launches);
}

static void check_summary(const takt_trace *trace)
{
    uint64_t works = 0, launches = 0, activities = 0;
    const tkt_fold *fold = tkt_trace_fold(trace);
    if (!fold) {
        must(TAKT_NO_MEMORY);
        return;
    }
    for (size_t i = 0; i < fold->count; i++) {
        const char *name = tkt_trace_text(trace, trace->sites.items[fold->items[i].site].name);
        works += strcmp(name, "work") == 0 ? fold->items[i].stats.count : 0;
        launches += strcmp(name, "launch") == 0 ? fold->items[i].stats.count : 0;
    }
    for (size_t i = 0; i < trace->node_activities.count; i++)
        activities += trace->node_activities.items[i].stats.count;
    expect("scopes", works, 2 * STEPS * WORKS);
    expect("launching scopes", launches, LAUNCHES);
    expect("activities", activities, (whole_graphs ? 3 : 4) * LAUNCHES);
}

static bool was_given;

static void check_trace(const takt_trace *trace, void *user)
{
    (void)user;
    was_given = true;
    for (int i = 0; i < TAKT_LOSS_COUNT; i++)
        atomic_fetch_add(&told, trace->losses[i]);
    if (atomic_load(&told))
        return;
    if (trace->facts.has_spans)
        check_spans(trace);
    else
        check_summary(trace);
    expect("steps", trace->facts.step_count, STEPS);
    expect("kept steps", trace->steps.count, trace->facts.has_spans ? STEPS : trace->steps.count);
}

/* ---- Runs ------------------------------------------------------------------------------------ */

static char folder[] = "/tmp/takt-scarce-XXXXXX";

static void profile(takt_profiler_options options)
{
    takt_profiler *profiler = NULL;
    options.struct_size = sizeof options;
    options.directory = folder;
    options.on_trace = check_trace;
    whole_graphs = options.graph == TAKT_GRAPH_LAUNCH;
    with_stack = options.with_stack;
    if (must(takt_profiler_create(&options, &profiler)) && must(takt_profiler_start(profiler)))
        for (uint64_t i = 0; i < STEPS; i++) {
            step(i);
            takt_profiler_step(profiler);
        }
    if (profiler)
        must(takt_profiler_stop(profiler));
    takt_profiler_destroy(profiler);
    expect("traces", was_given, true);
}

/* One more than there were allocations that are not mapped; 0 when something was lost in silence.
 */
static unsigned long run_child(const takt_profiler_options *options, unsigned long number)
{
    int ends[2];
    unsigned long result = 0;
    if (pipe(ends) != 0)
        return 0;
    pid_t child = fork();
    if (child == 0) {
        static const takt_allocator allocator = {.resize = resize};
        failing = number;
        takt_set_allocator(&allocator);
        takt_set_log(hear, NULL);
        set_up_device();
        if (number)
            tkt_alloc_fail(number - 1, 1);
        profile(*options);
        result = differences ? 0 : 1 + atomic_load(&allocations);
        exit(write(ends[1], &result, sizeof result) == sizeof result ? 0 : 4);
    }
    int status = -1;
    close(ends[1]);
    if (read(ends[0], &result, sizeof result) != sizeof result)
        result = 0;
    close(ends[0]);
    waitpid(child, &status, 0);
    if (status != 0)
        fprintf(stderr, "allocation %lu fails: the program ends with %d\n", number, status);
    return status == 0 ? result : 0;
}

static void fail_each(takt_profiler_options options)
{
    unsigned long count = run_child(&options, 0), failures = 0;
    assert_int_not_equal(count, 0);
    const char *given = getenv("TAKT_SCARCE");
    unsigned long stride = given ? strtoul(given, NULL, 10) : count / SAMPLE + 1;
    for (unsigned long i = 1; i <= count; i += stride)
        failures += run_child(&options, i) == 0;
    if (given)
        fprintf(stderr, "%lu failures, %lu allocations\n", failures, count);
    assert_int_equal(failures, 0);
}

TEST(of_a_trace_nothing_is_lost_in_silence)
{
    fail_each((takt_profiler_options){.background = TAKT_OFF, .with_stack = true});
}

TEST(of_a_trace_with_graphs_as_a_whole_nothing_is_lost_in_silence)
{
    fail_each((takt_profiler_options){.graph = TAKT_GRAPH_LAUNCH, .mode = TAKT_MODE_BOTH});
}

TEST(of_a_summary_nothing_is_lost_in_silence)
{
    fail_each((takt_profiler_options){.mode = TAKT_MODE_SUMMARY});
}

TEST(of_a_stream_nothing_is_lost_in_silence)
{
    fail_each((takt_profiler_options){.stream = true, .with_stack = true});
}

TEST(of_a_stream_that_frees_what_is_written_nothing_is_lost_in_silence)
{
    fail_each((takt_profiler_options){.stream = true, .max_memory_bytes = 8 * TKT_CHUNK_BYTES});
}

TEST(of_a_streamed_summary_nothing_is_lost_in_silence)
{
    fail_each((takt_profiler_options){.stream = true, .mode = TAKT_MODE_SUMMARY});
}

TEST(of_a_crash_safe_trace_nothing_is_lost_in_silence)
{
    fail_each((takt_profiler_options){.crash_safe = true, .max_memory_bytes = 4 << 20});
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    char command[100];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

int main(void)
{
    cmocka_set_test_filter(getenv("CMOCKA_FILTER"));
    return run_all_tests(make_folder, remove_folder);
}
